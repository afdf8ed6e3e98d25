//! The Figures page: the paper's figures, its values and ours.

use leptos::prelude::*;

/// The Figures page.
#[component]
pub fn FiguresPage() -> impl IntoView {
    view! { <main class="figures" id="main"></main> }
}
