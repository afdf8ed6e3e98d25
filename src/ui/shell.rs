//! What frames every page: header, scenario bar, notice, key list, live region.

mod bar;
mod header;
mod icon;
mod share;

pub use share::{FilesCard, ShareCard};

pub use bar::{
    DegreesField, Field, History, LayoutFields, MoreFields, PolicyFields, Pop, PresetLists,
    Presets, ScenarioBar, Seg, Told, Whole, tell, ungrouped,
};
pub use header::{Header, flip_theme};
pub use icon::{Icon, Marker};

use super::dom;
use super::state::use_app;
use leptos::prelude::*;

/// One line above the page's foot, such as why a file was refused. Stays until dismissed or the next change.
#[component]
pub fn Notice() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="notice" class:on=move || app.notice.read().is_some()>
            <span role="alert">{move || app.notice.get().unwrap_or_default()}</span>
            <button class="tb" on:click=move |_| app.notice.set(None)>
                "Close"
            </button>
        </div>
    }
}

/// Says changes to a screen reader.
#[component]
pub fn Live() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="live" role="status" aria-live="polite">
            {move || app.said.get()}
        </div>
    }
}

const KEYS: [(&str, &str); 14] = [
    ("Click, Space", "Fail a GPU; again to repair it"),
    ("Drag", "Fail every GPU in the rectangle"),
    ("Arrows", "Move between GPUs"),
    ("Shift + arrows", "Stretch a selection; Space fails it"),
    ("Enter, right-click, hold", "Choose kind and blast radius"),
    ("R", "Fail a random GPU"),
    ("U", "Repair all"),
    ("1 to 6", "Show the racks under a strategy"),
    ("Ctrl Z", "Undo"),
    ("Ctrl Shift Z", "Redo"),
    ("Fleet: Space, Home", "Play or pause; back to day 0"),
    (
        "Fleet: full stop, comma",
        "Step to the next failure, or back",
    ),
    ("Esc", "Close; drop the selection"),
    ("?", "This list"),
];

/// The key list.
#[component]
pub fn Keys() -> impl IntoView {
    let app = use_app();
    Effect::new(move |_| {
        if app.help.get() {
            // Once it stands in the document.
            request_animation_frame(|| dom::focus("keys"));
        }
    });
    view! {
        <Show when=move || app.help.get()>
            <div class="veil" on:click=move |_| app.help.set(false)>
                <div
                    id="keys"
                    class="pop keys"
                    role="dialog"
                    aria-modal="true"
                    aria-label="Keys"
                    tabindex="-1"
                    on:click=|event| event.stop_propagation()
                >
                    <h2>"Keys"</h2>
                    <dl>
                        {KEYS
                            .map(|(keys, does)| {
                                view! {
                                    <dt>
                                        <kbd>{keys}</kbd>
                                    </dt>
                                    <dd>{does}</dd>
                                }
                            })
                            .collect_view()}
                    </dl>
                    <button class="tb line" on:click=move |_| app.help.set(false)>
                        "Close"
                    </button>
                </div>
            </div>
        </Show>
    }
}
