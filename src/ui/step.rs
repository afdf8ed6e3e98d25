//! One step of the job: a bar a replica kind, split by term.

use super::side::StepTerms;
use leptos::prelude::*;

/// The step panel of the Rack page: healthy, reduced and boosted replica side by side, every number with its "why?".
#[component]
pub fn OneStep() -> impl IntoView {
    view! {
        <section class="gantt" aria-labelledby="one-step">
            <div class="gh">
                <h2 id="one-step">"One step"</h2>
                <span class="m">"of a replica of each kind, by term; click a number for why"</span>
            </div>
            <StepTerms />
        </section>
    }
}
