//! One step by term: bars of a healthy, a reduced and a boosted replica, and their numbers.

use super::measure::use_width;
use crate::core::units::Seconds;
use crate::scene::side::number::fixed;
use crate::scene::side::stack::{Slice, Term, stack};
use crate::scene::side::terms::{Bar, bars};
use crate::ui::state::use_app;
use crate::ui::why::Why;
use leptos::html;
use leptos::prelude::*;

/// Stacked bars on one scale, and a table whose numbers answer "why?".
#[component]
pub fn StepTerms() -> impl IntoView {
    let app = use_app();
    let all = Memo::new(move |_| bars(&app.job.read(), &app.evaluation.read()));
    let element = NodeRef::<html::Div>::new();
    let width = use_width(element);
    view! {
        <div class="terms" node_ref=element>
            {move || all.read().iter().map(|bar| stacked(bar, &all.read(), width.get())).collect_view()}
            {move || table(&all.read())}
        </div>
    }
}

fn stacked(bar: &Bar, all: &[Bar], width: f64) -> impl IntoView + use<> {
    let full = all
        .iter()
        .map(|bar| bar.cost.step_s)
        .fold(Seconds::ZERO, Seconds::max);
    let slices = stack(&bar.cost, full, width);
    let label = format!(
        "{}: {}",
        bar.name,
        slices
            .iter()
            .map(|slice| format!("{} {} ms", slice.term.word(), fixed(slice.time.ms(), 1)))
            .collect::<Vec<_>>()
            .join(", ")
    );
    view! {
        <p class="th">
            <b>{bar.name}</b>
            <span class="m s">{bar.who.clone()}</span>
        </p>
        <svg width="100%" height="14" role="img" aria-label=label>
            {slices.iter().map(slice).collect_view()}
        </svg>
    }
}

fn slice(slice: &Slice) -> impl IntoView + use<> {
    let edge = (slice.term == Term::Other).then_some("var(--k-fwd-edge)");
    view! {
        <rect
            x=format!("{:.1}", slice.x)
            width=format!("{:.1}", (slice.width - 0.5).max(0.5))
            height="14"
            fill=slice.term.fill()
            stroke=edge
        >
            <title>{format!("{} {} ms", slice.term.word(), fixed(slice.time.ms(), 1))}</title>
        </rect>
    }
}

fn table(all: &[Bar]) -> impl IntoView + use<> {
    let terms = Term::ALL
        .into_iter()
        .filter(|term| all.iter().any(|bar| term.of(&bar.cost).get() > 1e-9));
    view! {
        <table class="tt">
            <thead>
                <tr>
                    <th scope="col">"ms"</th>
                    {all.iter().map(|bar| view! { <th scope="col">{bar.name}</th> }).collect_view()}
                </tr>
            </thead>
            <tbody>
                {terms
                    .map(|term| {
                        view! {
                            <tr>
                                <th scope="row">
                                    <svg width="12" height="9" aria-hidden="true">
                                        <rect width="12" height="9" rx="1" fill=term.fill() stroke=(term == Term::Other).then_some("var(--k-fwd-edge)") />
                                    </svg>
                                    {term.word()}
                                </th>
                                {all.iter().map(|bar| view! { <td><Cell bar=bar.clone() term=Some(term) /></td> }).collect_view()}
                            </tr>
                        }
                    })
                    .collect_view()}
            </tbody>
            <tfoot>
                <tr>
                    <th scope="row">"step"</th>
                    {all.iter().map(|bar| view! { <td><Cell bar=bar.clone() term=None /></td> }).collect_view()}
                </tr>
            </tfoot>
        </table>
    }
}

#[component]
fn Cell(bar: Bar, term: Option<Term>) -> impl IntoView {
    let app = use_app();
    let time = term.map_or(bar.cost.step_s, |term| term.of(&bar.cost));
    let explain = Callback::new(move |()| bar.why(&app.job.read_untracked(), term));
    view! { <Why text=fixed(time.ms(), 1) explain /> }
}
