//! "Open in Perfetto": a new tab from the click, then the trace by window messages.
//!
//! The viewer answers `PONG` to `PING` once it can take a trace. Where no answer comes (offline, pop-ups blocked) the trace
//! is saved as a file, and a line says how to open it.

use super::export::{TRACE, save_trace, trace_text};
use super::model::StepPanel;
use crate::ui::dom;
use gloo::timers::callback::Interval;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen::closure::Closure;
use web_sys::{MessageEvent, Window};

/// The viewer, and the only origin that is listened to.
const VIEWER: &str = "https://ui.perfetto.dev";
/// Between two questions, ms.
const ASK_EVERY: u32 = 50;
/// Questions until the file is saved instead: 15 s.
const ASK_MOST: u32 = 300;

/// A conversation with a viewer's tab; ends when it is dropped.
pub struct Talk {
    _ask: Interval,
    _listen: Listener,
}

struct Listener {
    window: Window,
    heard: Closure<dyn FnMut(MessageEvent)>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Fails only for a wrong type of event.
        let _ = self
            .window
            .remove_event_listener_with_callback("message", self.heard.as_ref().unchecked_ref());
    }
}

fn fall_back(panel: &StepPanel, why: &str) {
    save_trace(panel);
    panel.app.notice.set(Some(format!(
        "{why} The trace is saved as {TRACE}: open it with \u{201c}Open trace file\u{201d} in Perfetto, or drop it on chrome://tracing or speedscope."
    )));
}

/// Opens the viewer. Call it from a click, so that the browser lets the tab open.
pub fn open(panel: &StepPanel, talk: StoredValue<Option<Talk>, LocalStorage>) {
    let panel = *panel;
    let Some(window) = dom::window() else { return };
    if !window.navigator().on_line() {
        fall_back(&panel, "There is no network.");
        return;
    }
    let Ok(Some(tab)) = window.open_with_url(VIEWER) else {
        fall_back(&panel, "The browser did not let a new tab open.");
        return;
    };
    let done = StoredValue::new_local(false);
    let viewer = tab.clone();
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let ours = event.origin() == VIEWER && event.data().as_string().as_deref() == Some("PONG");
        if ours && done.try_get_value() == Some(false) {
            done.set_value(true);
            if let Some(text) = trace_text(&panel) {
                // A tab that was closed in the meantime takes nothing.
                let _ = send(&viewer, &text);
            }
        }
    });
    let listening = window
        .add_event_listener_with_callback("message", heard.as_ref().unchecked_ref())
        .is_ok();
    let mut asked = 0;
    let ask = Interval::new(ASK_EVERY, move || {
        if done.try_get_value() != Some(false) {
            return;
        }
        asked += 1;
        if asked > ASK_MOST || !listening || tab.closed().unwrap_or(true) {
            done.set_value(true);
            fall_back(&panel, "Perfetto did not answer.");
            return;
        }
        let _ = tab.post_message(&JsValue::from_str("PING"), VIEWER);
    });
    talk.set_value(Some(Talk {
        _ask: ask,
        _listen: Listener { window, heard },
    }));
}

/// Hands the trace over: `{perfetto: {buffer, title, fileName}}`.
fn send(viewer: &Window, text: &str) -> Result<(), JsValue> {
    let bytes = js_sys::Uint8Array::from(text.as_bytes());
    let inner = js_sys::Object::new();
    js_sys::Reflect::set(&inner, &"buffer".into(), &bytes.buffer())?;
    js_sys::Reflect::set(
        &inner,
        &"title".into(),
        &"NTP Explorer: one training step".into(),
    )?;
    js_sys::Reflect::set(&inner, &"fileName".into(), &TRACE.into())?;
    let message = js_sys::Object::new();
    js_sys::Reflect::set(&message, &"perfetto".into(), &inner)?;
    viewer.post_message(&message, VIEWER)
}
