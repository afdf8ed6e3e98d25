//! Studies of the fleet: one question at many points on the same failures, over all cores, refining while it runs.

mod ask;
mod draw;
mod lab;

use super::deck::use_deck;
use crate::core::studies::Question;
use crate::scene::studies as scene;
use ask::Asking;
use draw::{HeatMap, Tornado};
use lab::Lab;
use leptos::prelude::*;

/// Whether there is anything in the tab yet.
pub const ANY: bool = true;

/// The tab's content.
#[component]
pub fn Studies() -> impl IntoView {
    let lab = Lab::new(use_deck());
    let question = move || {
        lab.setup
            .with(|setup| setup.as_ref().map(|asked| asked.question))
    };
    let verdict = move || {
        lab.tick.track();
        let strategy = lab.strategy();
        question().map_or_else(String::new, |question| {
            lab.board
                .with_value(|board| scene::verdict(board, question, strategy))
        })
    };
    view! {
        <main class="studies" id="main" data-standing=move || lab.standing() data-runs=move || lab.taken().to_string()>
            <Asking lab />
            <Show when=move || lab.wrong.get().is_some()>
                <p class="stwrong" role="alert">{move || lab.wrong.get()}</p>
            </Show>
            {move || {
                if question().is_none() {
                    view! {
                        <p class="stempty">
                            "Every point of a study sees the same failures, so differences are sharper than each value. Choose a question and press Run: results refine while it runs."
                        </p>
                    }
                        .into_any()
                } else {
                    ().into_any()
                }
            }}
            <p class="stverdict" role="status">{verdict}</p>
            {move || {
                match question() {
                    None => ().into_any(),
                    Some(Question::Interval { .. }) => view! { <HeatMap lab /> }.into_any(),
                    Some(Question::Sensitivity) => view! { <Tornado lab /> }.into_any(),
                    Some(question) => draw::curves(lab, question),
                }
            }}
            {move || question().map(|question| draw::numbers(lab, question))}
        </main>
    }
}
