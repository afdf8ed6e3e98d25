//! Scenario files: opened by a picker or by dropping one on the page, saved as a download.

use super::dom;
use super::later::{Programs, ReadFile};
use super::state::App;
use gloo::file::callbacks::{FileReader, read_as_text};
use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Blob, BlobPropertyBag, DragEvent, HtmlAnchorElement, HtmlInputElement};

/// Largest scenario file read, bytes: 100,000 failures take about 4 MB.
const MOST_BYTES: f64 = 16e6;

/// Takes a scenario file's text; on an error the scene stays and the notice says what was wrong.
async fn take(app: App, read_file: ReadFile, name: String, text: String) {
    let Some(scenario) = read_file(text).await else {
        let line = format!("{name}: what reads scenario files could not be loaded, try again");
        app.notice.set(Some(line));
        return;
    };
    match scenario.and_then(|scenario| app.replace(scenario)) {
        Ok(()) => app.said.set(format!("{name} opened.")),
        Err(error) => app.notice.set(Some(format!("{name}: {error}"))),
    }
}

/// Reads a file and takes it as the scenario.
fn read(
    app: App,
    read_file: ReadFile,
    file: web_sys::File,
    reader: StoredValue<Option<FileReader>, LocalStorage>,
) {
    let name = file.name();
    if file.size() > MOST_BYTES {
        app.notice.set(Some(format!(
            "{name}: {:.0} bytes is not allowed, expected at most {MOST_BYTES:.0}",
            file.size()
        )));
        return;
    }
    let file = gloo::file::File::from(file);
    let reading = read_as_text(&file, move |text| match text {
        Ok(text) => spawn_local(take(app, read_file, name, text)),
        Err(error) => app.notice.set(Some(format!("{name}: {error}"))),
    });
    reader.set_value(Some(reading));
}

/// Opens a scenario file that came another way.
pub fn open(app: App, read_file: ReadFile, file: web_sys::File) {
    read(app, read_file, file, StoredValue::new_local(None));
}

/// Takes files dropped anywhere, before [`accept_drops`] does; gives what ends that.
pub fn capture_drop(take: impl Fn(web_sys::File) + 'static) -> impl FnOnce() {
    let heard = Closure::<dyn FnMut(DragEvent)>::new(move |event: DragEvent| {
        let files = event.data_transfer().and_then(|data| data.files());
        if let Some(file) = files.and_then(|files| files.get(0)) {
            event.prevent_default();
            take(file);
        }
    });
    let window = dom::window();
    if let Some(window) = &window {
        // Capturing listeners of the window come first. Fails only for an invalid name.
        let _ = window.add_event_listener_with_callback_and_bool(
            "drop",
            heard.as_ref().unchecked_ref(),
            true,
        );
    }
    move || {
        if let Some(window) = &window {
            let _ = window.remove_event_listener_with_callback_and_bool(
                "drop",
                heard.as_ref().unchecked_ref(),
                true,
            );
        }
    }
}

/// Lets scenario files be dropped anywhere on the page. A page with drops of its own prevents the default first.
pub fn accept_drops(app: App, read_file: ReadFile) {
    let reader = StoredValue::new_local(None);
    let over = window_event_listener(ev::dragover, |event: DragEvent| event.prevent_default());
    let drop = window_event_listener(ev::drop, move |event: DragEvent| {
        if event.default_prevented() {
            return;
        }
        event.prevent_default();
        if let Some(file) = event
            .data_transfer()
            .and_then(|data| data.files())
            .and_then(|files| files.get(0))
        {
            read(app, read_file, file, reader);
        }
    });
    on_cleanup(move || {
        over.remove();
        drop.remove();
    });
}

/// A hidden file input; `click` it to open the picker.
#[component]
pub fn Picker(
    /// Its element.
    node: NodeRef<leptos::html::Input>,
) -> impl IntoView {
    let app = super::state::use_app();
    let read_file = expect_context::<Programs>().read_file;
    let reader = StoredValue::new_local(None);
    let chosen = move |event: web_sys::Event| {
        let input = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
        let Some(input) = input else { return };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            read(app, read_file, file, reader);
        }
        // So that the same file can be chosen again.
        input.set_value("");
    };
    view! { <input type="file" accept=".json,application/json" hidden node_ref=node on:change=chosen /> }
}

/// Saves text as a file.
pub fn save(name: &str, kind: &str, text: &str) {
    // Every step fails only where the page may not download, as in some sandboxed frames.
    let _ = try_save(name, kind, text);
}

fn try_save(name: &str, kind: &str, text: &str) -> Result<(), JsValue> {
    let options = BlobPropertyBag::new();
    options.set_type(kind);
    let parts = js_sys::Array::of1(&JsValue::from_str(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options)?;
    let address = web_sys::Url::create_object_url_with_blob(&blob)?;
    if let Some(document) = dom::document() {
        let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
        link.set_href(&address);
        link.set_download(name);
        link.click();
    }
    web_sys::Url::revoke_object_url(&address)
}
