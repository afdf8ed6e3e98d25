//! Cards over the timeline: the span under the pointer, the selected one, sums of a range, the keys.

use super::model::{StepPanel, on_phone};
use crate::core::timeline::text::duration;
use crate::scene::gantt::{Spot, sums, tip};
use leptos::prelude::*;

/// Where a card stands: beside the pointer, inside the panel.
fn place(panel: &StepPanel, x: f64, y: f64) -> String {
    let (wide, high) = panel.size.get();
    let left = if x > wide - 260.0 {
        format!("right:{:.0}px", (wide - x + 14.0).max(4.0))
    } else {
        format!("left:{:.0}px", x + 14.0)
    };
    let top = if y > high / 2.0 {
        format!("bottom:{:.0}px", (high - y + 10.0).max(2.0))
    } else {
        format!("top:{:.0}px", y + 10.0)
    };
    format!("{left};{top}")
}

/// The dark tip of the span under the pointer, and the card of the selected one.
#[component]
pub fn Details() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let hovered = move || {
        let (spot, x, y) = panel.hover.get()?;
        let shown = panel.shown.read();
        let tip = tip(&shown.as_ref()?.view, spot)?;
        let takes = tip
            .facts
            .first()
            .map(|fact| fact.1.clone())
            .unwrap_or_default();
        Some(view! {
            <div class="gtip" style=place(&panel, x, y) role="presentation">
                <b>{tip.title}</b>
                <span>{tip.place}</span>
                <span>{takes}", click for details"</span>
            </div>
        })
    };
    view! {
        {hovered}
        <Card />
    }
}

/// Facts of the selected span, with its neighbours to go to.
#[component]
fn Card() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let card = move || {
        let spot = panel.selected()?;
        let shown = panel.shown.read();
        let tip = tip(&shown.as_ref()?.view, spot)?;
        let facts = tip
            .facts
            .into_iter()
            .map(|(name, value)| view! { <dt>{name}</dt><dd>{value}</dd> })
            .collect_view();
        let links = tip
            .links
            .into_iter()
            .map(|(relation, words, to): (_, _, Spot)| {
                view! {
                    <li>
                        <span class="m">{relation}</span>
                        " "
                        <button class="why" on:click=move |_| panel.go(to)>
                            {words}
                        </button>
                    </li>
                }
            })
            .collect_view();
        Some(view! {
            <aside class="gcard" aria-label="Selected span">
                <div class="gch">
                    <b>{tip.title}</b>
                    <button class="gx" aria-label="Close" on:click=move |_| panel.select(None)>
                        <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M2 2l6 6M8 2 2 8" /></svg>
                    </button>
                </div>
                <p class="m">{tip.place}</p>
                <dl>{facts}</dl>
                <ul>{links}</ul>
                <div class="gca">
                    <button class="tb line" on:click=move |_| { panel.range.set(None); panel.fit(); }>
                        "Fit" <kbd>"F"</kbd>
                    </button>
                </div>
            </aside>
        })
    };
    view! { {card} }
}

/// Busy time by kind in the selected range.
#[component]
pub fn Sums() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let card = move || {
        let (a, b) = panel.range.get()?;
        let (start, end) = (a.min(b), a.max(b));
        let shown = panel.shown.read();
        let groups = sums(&shown.as_ref()?.view, start, end)
            .into_iter()
            .map(|(name, kinds)| {
                let rows = kinds
                    .into_iter()
                    .map(|(kind, total)| view! { <dt>{kind.name()}</dt><dd>{duration(total)}</dd> })
                    .collect_view();
                view! {
                    <div>
                        <b>{name}</b>
                        <dl>{rows}</dl>
                    </div>
                }
            })
            .collect_view();
        let length = duration(crate::core::units::Nanos((end - start).max(0.0) as u64));
        Some(view! {
            <aside class="gcard gsums" aria-label="Sums of the selected range">
                <div class="gch">
                    <b>"Busy in "{length}</b>
                    <button class="gx" aria-label="Close" on:click=move |_| panel.range.set(None)>
                        <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M2 2l6 6M8 2 2 8" /></svg>
                    </button>
                </div>
                <div class="gcols">{groups}</div>
            </aside>
        })
    };
    view! { {card} }
}

const KEYS: [(&str, &str); 12] = [
    ("W S", "zoom in, out"),
    ("A D", "pan left, right"),
    ("Ctrl wheel", "zoom at the pointer"),
    ("drag", "pan"),
    ("Shift drag", "select a range: sums by kind"),
    ("click", "details of a span"),
    (". ,", "next and previous span, or match"),
    ("up down", "span in the row above, below"),
    ("[ ]", "range from, to the selected span"),
    ("F", "fit the selection, else the whole step"),
    ("0 End", "whole step; first look"),
    ("/", "search: dp sync bucket 3, layer 12"),
];

/// The keys.
#[component]
pub fn Help() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    view! {
        <Show when=move || panel.help.get()>
            <aside class="gcard ghelp" role="dialog" aria-label="Keys of the timeline">
                <div class="gch">
                    <b>{move || if on_phone(panel.app) { "Drag to pan, pinch to zoom, tap a span" } else { "Keys of the timeline" }}</b>
                    <button class="gx" aria-label="Close" on:click=move |_| panel.help.set(false)>
                        <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M2 2l6 6M8 2 2 8" /></svg>
                    </button>
                </div>
                <dl class="gkeys">
                    {KEYS.map(|(keys, does)| view! { <dt>{keys.split(' ').map(|k| view! { <kbd>{k.to_owned()}</kbd>" " }).collect_view()}</dt><dd>{does}</dd> }).collect_view()}
                </dl>
            </aside>
        </Show>
    }
}
