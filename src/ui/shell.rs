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
use super::state::{App, use_app};
use leptos::prelude::*;
use web_sys::KeyboardEvent;

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

/// Keys that every page knows: undo, redo, the key list.
fn page_key(app: App, event: &KeyboardEvent) {
    if !dom::is_shortcut(event) {
        return;
    }
    let command = event.ctrl_key() || event.meta_key();
    match (event.key().as_str(), command, event.shift_key()) {
        ("z" | "Z", true, false) => {
            event.prevent_default();
            app.said.set(if app.undo() {
                "Undone.".into()
            } else {
                "Nothing to undo.".into()
            });
        }
        ("z" | "Z", true, true) | ("y", true, false) => {
            event.prevent_default();
            app.said.set(if app.redo() {
                "Done again.".into()
            } else {
                "Nothing to do again.".into()
            });
        }
        ("?", false, _) => app.help.set(true),
        _ => {}
    }
}

/// The keys of every page, and the list of all keys.
#[component]
pub fn Keys() -> impl IntoView {
    let app = use_app();
    let pressed = window_event_listener(leptos::ev::keydown, move |event| page_key(app, &event));
    on_cleanup(move || pressed.remove());
    // The browser's own dialog: it keeps the focus inside, closes by Escape and gives the focus back.
    let list = NodeRef::<leptos::html::Dialog>::new();
    Effect::new(move |_| {
        let (open, Some(list)) = (app.help.get(), list.get()) else {
            return;
        };
        if open && !list.open() {
            // Fails only for one that is not in the document.
            let _ = list.show_modal();
        } else if !open && list.open() {
            list.close();
        }
    });
    Effect::new(move |_| {
        app.route.track();
        app.help.set(false);
    });
    view! {
        <dialog
            id="keys"
            class="pop keys"
            aria-label="Keys"
            node_ref=list
            on:close=move |_| app.help.set(false)
            on:click=move |event| {
                // Beside the list is the dialog itself.
                if dom::target(&event).is_some_and(|target| target.id() == "keys") {
                    app.help.set(false);
                }
            }
        >
            <Show when=move || app.help.get()>
                <div>
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
            </Show>
        </dialog>
    }
}
