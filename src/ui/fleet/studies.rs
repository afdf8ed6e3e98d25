//! Where studies of the fleet stand: the tab beside the run.

use leptos::prelude::*;

/// Whether there is anything in the tab yet.
pub const ANY: bool = false;

/// The tab's content. Workers come from [`crate::ui::worker::Pool`], orders from [`crate::work::Request`].
#[component]
pub fn Studies() -> impl IntoView {
    view! { <main class="studies" id="main"></main> }
}
