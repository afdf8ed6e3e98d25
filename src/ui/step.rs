//! One step on a time axis: streams of a healthy, a reduced and a boosted GPU.

use leptos::prelude::*;

/// The Gantt panel of the Rack page.
#[component]
pub fn OneStep() -> impl IntoView {
    view! { <section class="gantt" aria-label="One step"></section> }
}
