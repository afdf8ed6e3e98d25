//! Table 1 for the paper's job or for the scenario in hand: what does each lost GPU cost?

use super::section::Maker;
use crate::core::figures::{Effort, Figure, Work, entry, survivors, work};
use crate::ui::state::use_app;
use leptos::prelude::*;

/// A figure that has been made already.
struct Made(Figure);

impl Work for Made {
    fn advance(&mut self) -> Option<f64> {
        None
    }
    fn figure(&self) -> Figure {
        self.0.clone()
    }
}

/// Whose table: the paper's job, or the scenario of the Rack page.
#[component]
pub fn JobChoice(maker: Maker) -> impl IntoView {
    let app = use_app();
    let own = RwSignal::new(false);
    let pick = move |mine: bool| {
        own.set(mine);
        if mine {
            let figure = app.job.with_untracked(|job| {
                let scenario = &job.scenario;
                survivors::build_for(
                    &job.system,
                    &job.model,
                    &scenario.layout,
                    scenario.policy.boost_cap,
                )
            });
            maker.make(Box::new(Made(figure)));
        } else if let Some(entry) = entry("table1") {
            maker.make(work(entry, Effort::default()));
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
