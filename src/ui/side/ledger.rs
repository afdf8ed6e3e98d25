//! The ledger of the selected strategy, with its small end enlarged.

use super::measure::use_width;
use crate::core::strategy::StrategyId;
use crate::scene::side::ledger::{Kind, Ledger, Piece, ledger, span_words};
use crate::ui::state::use_app;
use leptos::html;
use leptos::prelude::*;

/// Where the GPU-time of the selected strategy goes.
#[component]
pub fn LedgerBar() -> impl IntoView {
    let app = use_app();
    let element = NodeRef::<html::Div>::new();
    let width = use_width(element);
    let drawn = Memo::new(move |_| {
        let now = app
            .evaluation
            .read()
            .get(app.selected.get())
            .map(|outcome| outcome.ledger)
            .unwrap_or_default();
        ledger(&now, width.get())
    });
    let scale = move || {
        drawn.read().zoom.as_ref().map_or_else(
            || "100 % of GPU-time".to_owned(),
            |(span, _)| {
                // Beside the words on what was won back there is no room for all.
                let whole = if drawn.read().won_back.is_some() {
                    ""
                } else {
                    "100 % of GPU-time; "
                };
                format!("{whole}last {} enlarged", span_words(*span))
            },
        )
    };
    // Goodput is productive + won back: what survivors deliver beyond their number of GPUs.
    let won = move || {
        let selected = app.selected.get();
        let boosted = || {
            let evaluation = app.evaluation.read();
            let outcome = evaluation.get(selected);
            outcome.is_some_and(|outcome| outcome.replicas.iter().any(|one| one.boost_p > 1.0))
        };
        let by = match selected {
            StrategyId::NtpPw if boosted() => "higher clocks",
            StrategyId::InDomainSpares => "smaller TP groups",
            _ => "shorter steps",
        };
        drawn
            .read()
            .won_back
            .as_ref()
            .map(|share| format!("{by} win back {share}"))
    };
    view! {
        <div class="ledger" node_ref=element>
            <div class="lh">
                <h3>"Ledger of " {move || app.selected.get().id()}</h3>
                <span class="s m">{won}</span>
                <span class="grow"></span>
                <span class="s m">{scale}</span>
            </div>
            {move || picture(&drawn.read(), app.selected.get().id(), width.get())}
            {move || labels(&drawn.read())}
        </div>
    }
}

fn fill(kind: Kind, strategy: &str) -> String {
    kind.pattern().map_or_else(
        || format!("var(--sg-{strategy})"),
        |pattern| format!("url(#{pattern})"),
    )
}

fn bar(pieces: &[Piece], strategy: &str, y: f64, height: f64) -> impl IntoView + use<> {
    pieces
        .iter()
        .map(|piece| {
            view! {
                <rect
                    x=format!("{:.1}", piece.x)
                    y=y.to_string()
                    width=format!("{:.1}", piece.width)
                    height=height.to_string()
                    rx="1"
                    fill=fill(piece.kind, strategy)
                >
                    <title>{piece.kind.meaning()}</title>
                </rect>
            }
        })
        .collect_view()
}

fn picture(drawn: &Ledger, strategy: &str, width: f64) -> impl IntoView + use<> {
    let words: Vec<String> = drawn
        .labels
        .iter()
        .map(|label| format!("{} {} %", label.kind.word(), label.number))
        .collect();
    let body = if let Some((_, enlarged)) = &drawn.zoom {
        view! {
            <path d=format!("M{:.1} 6 0 15V31H{width:.1}V6z", drawn.zoom_from_x) fill="var(--sunk)" />
            {bar(&drawn.whole, strategy, 0.0, 6.0)}
            {bar(enlarged, strategy, 16.0, 14.0)}
        }
        .into_any()
    } else {
        view! { {bar(&drawn.whole, strategy, 8.0, 22.0)} }.into_any()
    };
    view! {
        <svg width="100%" height="31" role="img" aria-label=format!("Ledger of {strategy}: {}", words.join(", "))>
            {body}
        </svg>
    }
}

/// The numbers, each under its piece; in a run of text when they do not fit there.
fn labels(drawn: &Ledger) -> impl IntoView + use<> {
    let flow = drawn.labels.iter().any(|label| label.x.is_none());
    let last = drawn.labels.len().saturating_sub(1);
    let texts = drawn
        .labels
        .iter()
        .enumerate()
        .map(|(index, label)| {
            let style = label.x.map(|x| format!("left:{x:.1}px"));
            let unit = if index == last { " %" } else { "" };
            let number = view! { <b>{label.number.clone()}</b> };
            let words = if label.kind == Kind::Productive {
                view! { {number} {unit} " " {label.kind.word()} }.into_any()
            } else {
                view! { {label.kind.word()} " " {number} {unit} }.into_any()
            };
            view! { <span style=style title=label.kind.meaning()>{words}</span> }
        })
        .collect_view();
    view! { <div class="ll" class:flow=flow aria-hidden="true">{texts}</div> }
}
