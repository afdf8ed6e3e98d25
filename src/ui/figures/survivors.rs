//! Table 1 for the paper's job or for the scenario in hand: what does each lost GPU cost?

use super::section::{Maker, registry};
use crate::core::figures::entry;
use crate::ui::state::use_app;
use crate::work::figures::Ask;
use leptos::prelude::*;

/// Whose table: the paper's job, or the scenario of the Rack page.
#[component]
pub fn JobChoice(maker: Maker) -> impl IntoView {
    let app = use_app();
    let own = RwSignal::new(false);
    let pick = move |mine: bool| {
        own.set(mine);
        if mine {
            let file = app.job.with_untracked(|job| job.scenario.to_json());
            maker.make(Ask::Survivors(file));
        } else if let Some(entry) = entry("table1") {
            maker.make(registry(entry));
        }
    };
    let mine = move || {
        app.job.with(|job| {
            format!(
                "{} at TP{} on {}",
                job.model.name, job.scenario.layout.tp, job.system.name
            )
        })
    };
    view! {
        <div class="figfilter" role="group" aria-label="Job">
            <button class="chip" aria-pressed=move || (!own.get()).to_string() on:click=move |_| pick(false)>
                "The paper's job"
            </button>
            <button class="chip" aria-pressed=move || own.get().to_string() on:click=move |_| pick(true)>
                {move || format!("The Rack page's: {}", mine())}
            </button>
        </div>
    }
}
