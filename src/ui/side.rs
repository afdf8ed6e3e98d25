//! Side column: verdict, goodput rows, ledger, what changed.

use leptos::prelude::*;

/// Verdict, goodput rows, ledger, what changed.
#[component]
pub fn SideColumn() -> impl IntoView {
    view! { <aside class="side" aria-label="Goodput and what changed"></aside> }
}
