//! How the two programs of the page agree: each says the address of what it shows when that changes, and takes over what the
//! other says. An address that is already shown is not said again, so they never answer each other for ever.

use super::dom;
use super::link;
use super::state::App;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CustomEvent, CustomEventInit};

/// From the first program: what is shown now.
const STATE: &str = "ntp-state";
/// To the first program: what its pages want to be shown.
const WISH: &str = "ntp-wish";

fn say(name: &str, address: &str) {
    let init = CustomEventInit::new();
    init.set_detail(&JsValue::from_str(address));
    if let (Some(window), Ok(event)) = (
        dom::window(),
        CustomEvent::new_with_event_init_dict(name, &init),
    ) {
        // Fails only for an event that is being dispatched already, which a new one is not.
        let _ = window.dispatch_event(&event);
    }
}

fn hear(name: &str, mut heard: impl FnMut(String) + 'static) {
    let listener = Closure::<dyn FnMut(CustomEvent)>::new(move |event: CustomEvent| {
        if let Some(address) = event.detail().as_string() {
            heard(address);
        }
    });
    if let Some(window) = dom::window() {
        // Cannot fail for a function.
        let _ = window.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
    }
    // Both programs live as long as the page.
    listener.forget();
}

/// Takes an address over; one that this program cannot open leaves everything as it is.
fn take(app: App, address: &str, undoable: bool) {
    let Some(opened) = link::open(address) else {
        return;
    };
    if opened.wrong.is_some() {
        return;
    }
    app.route.set(opened.route);
    link::look(app, opened.view);
    if app
        .now
        .job
        .with_untracked(|job| job.scenario != opened.job.scenario)
    {
        if !undoable {
            app.show(opened.job);
        } else if let Err(error) = app.replace(opened.job.scenario) {
            app.notice.set(Some(error.to_string()));
        }
    }
}

/// In the first program: says once more what is shown, to pages that were still coming when it was said.
pub fn repeat(app: App) {
    say(STATE, &untrack(|| link::address(app, app.route.get())));
}

/// In the first program: says every change, and makes what the other pages wish an undoable step.
pub fn lead(app: App, shown: Memo<String>) {
    Effect::new(move |_| {
        app.theme.track();
        say(STATE, &shown.read());
    });
    hear(WISH, move |address| take(app, &address, true));
}

/// In the program of the other pages: takes over what is shown, starting from an address, and says what was changed here.
pub fn follow(app: App, address: String) {
    let agreed = StoredValue::new_local(address);
    let shown = link::shown(app);
    Effect::new(move |_| {
        let now = shown.get();
        if agreed.with_value(|agreed| *agreed != now) {
            agreed.set_value(now.clone());
            say(WISH, &now);
        }
    });
    hear(STATE, move |address| {
        app.theme.set(super::app::theme_now());
        if agreed.with_value(|agreed| *agreed != address) {
            agreed.set_value(address.clone());
            take(app, &address, false);
        }
    });
}
