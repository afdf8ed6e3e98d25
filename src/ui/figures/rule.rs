//! The search rule of Figure 2a, in the open: changing it computes the figure again.

use super::section::Maker;
use crate::core::search::SearchRule;
use crate::work::figures::Ask;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlSelectElement};

type Number = (
    &'static str,
    &'static [u32],
    fn(&mut SearchRule) -> &mut u32,
);
type Switch = (&'static str, fn(&mut SearchRule) -> &mut bool);

const NUMBERS: [Number; 4] = [
    ("CP up to", &[1, 2, 4, 8, 16, 32], |rule| &mut rule.max_cp),
    ("PP up to", &[1, 2, 4, 8, 16, 32, 64, 100], |rule| {
        &mut rule.max_pp
    }),
    ("Chunks up to", &[1, 2, 4, 8, 16], |rule| &mut rule.max_vp),
    ("Micro-batch up to", &[1, 2, 4, 8, 16], |rule| {
        &mut rule.max_microbatch
    }),
];
const SWITCHES: [Switch; 4] = [
    (
        "Interleaving needs micro-batches in multiples of PP",
        |rule| &mut rule.microbatches_multiple_of_pp,
    ),
    ("Stages may differ by one layer", |rule| {
        &mut rule.uneven_stages
    }),
    ("Full recompute where nothing else fits", |rule| {
        &mut rule.full_recompute
    }),
    ("Communication overlaps compute", |rule| &mut rule.overlap),
];

/// The rule's controls.
#[component]
pub fn RuleForm(maker: Maker) -> impl IntoView {
    let rule = RwSignal::new(SearchRule::default());
    let change = move |edit: &dyn Fn(&mut SearchRule)| {
        rule.update(|rule| edit(rule));
        maker.make(Ask::Search(rule.get_untracked()));
    };
    let numbers = NUMBERS
        .map(|(name, options, slot)| {
            let now = move || rule.with(|rule| *slot(&mut rule.clone()));
            let chosen = move |event: web_sys::Event| {
                let select = event.target().and_then(|t| t.dyn_into::<HtmlSelectElement>().ok());
                if let Some(value) = select.and_then(|select| select.value().parse().ok()) {
                    change(&|rule| *slot(rule) = value);
                }
            };
            view! {
                <label class="fld">
                    {name}
                    <select class="sel" on:change=chosen>
                        {options
                            .iter()
                            .map(|option| {
                                let option = *option;
                                view! {
                                    <option value=option.to_string() selected=move || now() == option>
                                        {option}
                                    </option>
                                }
                            })
                            .collect_view()}
                    </select>
                </label>
            }
        })
        .collect_view();
    let switches = SWITCHES
        .map(|(name, slot)| {
            let now = move || rule.with(|rule| *slot(&mut rule.clone()));
            let flipped = move |event: web_sys::Event| {
                let input = event
                    .target()
                    .and_then(|t| t.dyn_into::<HtmlInputElement>().ok());
                if let Some(value) = input.map(|input| input.checked()) {
                    change(&|rule| *slot(rule) = value);
                }
            };
            view! {
                <label class="fld">
                    <input type="checkbox" prop:checked=now on:change=flipped />
                    {name}
                </label>
            }
        })
        .collect_view();
    view! {
        <p class="figlead">{move || format!("Search rule: {}.", rule.with(SearchRule::words))}</p>
        <div class="figfilter rule" role="group" aria-label="Search rule">
            {numbers}
            {switches}
            <button class="tb line" on:click=move |_| change(&|rule| *rule = SearchRule::default())>
                "Restore"
            </button>
        </div>
    }
}
