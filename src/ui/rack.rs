//! Racks: one per domain, every GPU a tile.

use leptos::prelude::*;

/// The racks of the Rack page.
#[component]
pub fn Racks() -> impl IntoView {
    view! { <section class="racks" aria-label="Racks"></section> }
}
