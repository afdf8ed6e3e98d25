//! The Fleet page: days of failures and repairs.

use leptos::prelude::*;

/// The Fleet page.
#[component]
pub fn FleetPage() -> impl IntoView {
    view! { <main class="fleet" id="main"></main> }
}
