//! The About page: limits of the model, sources, file format.

use leptos::prelude::*;

/// The About page.
#[component]
pub fn AboutPage() -> impl IntoView {
    view! { <main class="about" id="main"></main> }
}
