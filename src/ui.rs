//! The page.

use leptos::prelude::*;

/// Mounts the app on the document's body.
pub fn mount() {
    console_error_panic_hook::set_once();
    mount_to_body(|| view! { <main>"NTP Explorer"</main> });
}
