//! The goodput rows: click, or arrows and Enter, to see a strategy's racks.

use super::measure::use_width;
use crate::core::order;
use crate::core::strategy::StrategyId;
use crate::scene::side::number::gpu_word;
use crate::scene::side::rows::{Row, rows};
use crate::ui::dom;
use crate::ui::shell::Marker;
use crate::ui::state::use_app;
use crate::ui::why::Why;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;

/// All six rows, worst to best.
///
/// The elements keep their place in the document, so that focus survives a re-sort; a transform moves them, and `aria-owns`
/// tells screen readers the order that is seen.
#[component]
pub fn GoodputRows() -> impl IntoView {
    let app = use_app();
    let all = Memo::new(move |_| rows(&app.evaluation.read()));
    let by_place = move || {
        let mut ids: Vec<(usize, StrategyId)> = all
            .read()
            .iter()
            .map(|row| (row.place, row.strategy))
            .collect();
        order::sort(&mut ids);
        ids.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
    };
    let owns = move || {
        by_place()
            .into_iter()
            .map(|id| format!("row-{}", id.id()))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let list = NodeRef::<html::Div>::new();
    let step = move |event: ev::KeyboardEvent| {
        let order = by_place();
        let here = order
            .iter()
            .position(|id| *id == app.selected.get_untracked());
        let last = order.len().saturating_sub(1);
        let to = match (event.key().as_str(), here) {
            ("ArrowUp", Some(here)) => here.saturating_sub(1),
            ("ArrowDown", Some(here)) => (here + 1).min(last),
            ("Home", _) | ("ArrowDown" | "ArrowUp", None) => 0,
            ("End", _) => last,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        if let Some(id) = order.get(to) {
            app.selected.set(*id);
            let row = list
                .get_untracked()
                .and_then(|list| dom::find(&list, &format!("#row-{} .hit", id.id())));
            if let Some(hit) =
                row.and_then(|row| wasm_bindgen::JsCast::dyn_into::<web_sys::HtmlElement>(row).ok())
            {
                let _ = hit.focus();
            }
        }
    };
    view! {
        <div class="sh">
            <h2>"Goodput"</h2>
            <span class="m wide">"of the healthy job; click a row to see its racks"</span>
            <span class="grow"></span>
            <span class="s m">"lost, in GPUs"</span>
        </div>
        <div class="rows" role="group" aria-label="Goodput by strategy, worst to best" aria-owns=owns node_ref=list on:keydown=step>
            {StrategyId::ALL
                .into_iter()
                .map(|id| {
                    let row = Memo::new(move |_| all.read().iter().find(|row| row.strategy == id).cloned());
                    view! { <StrategyRow id row /> }
                })
                .collect_view()}
        </div>
    }
}

#[component]
fn StrategyRow(id: StrategyId, row: Memo<Option<Row>>) -> impl IntoView {
    let app = use_app();
    let on = Memo::new(move |_| app.selected.get() == id);
    let part = move |read: fn(&Row) -> String| row.read().as_ref().map(read).unwrap_or_default();
    let place = move || row.read().as_ref().map_or(0, |row| row.place);
    let track = NodeRef::<html::Div>::new();
    let width = use_width(track);
    // A share, not a length: a bar grows when its strategy does, and not when its track is measured.
    let share = Memo::new(move |_| row.read().as_ref().map_or(0.0, |row| row.share));
    // What is lost stays visible, however little; the gap tells the two apart.
    let rest = Memo::new(move |_| {
        let kind = row.read().as_ref().and_then(|row| row.rest)?;
        let width = width.get();
        let bar = share.get() * width;
        let left = if width - bar > 3.0 {
            if bar > 0.0 { bar + 1.0 } else { 0.0 }
        } else {
            (width - 1.5).max(0.0)
        };
        Some((left, (width - left).max(0.0), kind.pattern()?))
    });
    let explain = Callback::new(move |()| {
        let evaluation = app.evaluation.read_untracked();
        evaluation
            .get(id)
            .map(crate::scene::side::why::goodput)
            .unwrap_or_default()
    });
    view! {
        <div
            id=format!("row-{}", id.id())
            class="row"
            class:on=on
            style=move || format!("--place:{}", place())
            data-strategy=id.id()
            data-goodput=move || part(|row| row.goodput.clone())
            data-throughput=move || part(|row| row.throughput.clone())
            on:click=move |_| app.selected.set(id)
        >
            <button
                type="button"
                class="hit"
                aria-pressed=move || on.get().to_string()
                aria-label=move || part(Row::label)
                tabindex=move || if on.get() { "0" } else { "-1" }
            ></button>
            <Marker of=id />
            <div class="nm">
                <div class="tx">
                    <b>{id.id()}</b>
                    <span class="m">{move || part(|row| row.summary.clone())}</span>
                </div>
                <div class="track" node_ref=track>
                    <svg width="100%" height="8" aria-hidden="true">
                        <rect width="100%" height="8" rx="2" fill="var(--sunk)" />
                        <rect
                            class="bar"
                            height="8"
                            rx="2"
                            style=move || format!("width:{:.2}%;fill:var(--sg-{})", share.get() * 100.0, id.id())
                        />
                        {move || {
                            rest.get()
                                .map(|(left, wide, pattern)| {
                                    view! {
                                        <rect
                                            class="rest"
                                            height="8"
                                            rx="1"
                                            x=format!("{left:.1}")
                                            width=format!("{wide:.1}")
                                            fill=format!("url(#{pattern})")
                                        />
                                    }
                                })
                        }}
                    </svg>
                </div>
            </div>
            <Why class="num" text=Signal::derive(move || part(|row| row.number.clone())) explain />
            <span class="ls">
                {move || part(|row| row.lost.clone())}
                <span class="m">{move || format!(" {}", gpu_word(&part(|row| row.lost.clone())))}</span>
            </span>
        </div>
    }
}
