//! One step on a time axis: streams of a healthy, a reduced and a boosted GPU.
//!
//! The scenario and the panel's own controls give a simulated step; the window of time, the mouse and the legend only
//! choose what of it is painted, and never run the model again.

mod details;
mod export;
mod head;
mod input;
mod model;
mod paint;
mod perfetto;
mod plot;
mod table;
mod what_if;

use super::side::StepTerms;
use details::{Details, Help, Sums};
use head::Head;
use leptos::prelude::*;
use model::StepPanel;
use plot::Plot;
use table::SpanTable;

/// The Gantt panel of the Rack page.
#[component]
pub fn OneStep() -> impl IntoView {
    let panel = StepPanel::provide();
    view! {
        <section class="gantt" aria-label="One step">
            <Head />
            <div class="gbody">
                <Show
                    when=move || panel.terms.get()
                    fallback=|| {
                        view! {
                            <Plot />
                            <Details />
                            <Sums />
                        }
                    }
                >
                    <div class="gterms">
                        <StepTerms />
                    </div>
                </Show>
                <Help />
                <Show when=move || panel.error.read().is_some()>
                    <p class="gerr" role="alert">
                        {move || panel.error.get()}
                    </p>
                </Show>
            </div>
            <SpanTable />
        </section>
    }
}
