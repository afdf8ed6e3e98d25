//! The address bar: read once at the start and when the user changes it, kept in step with the scenario after that.
//!
//! An edit replaces the entry of the browser's history; going to another page adds one. Back and forward between our own
//! entries change the page and keep the scenario, which has undo of its own; an address typed or pasted is taken whole.

use super::dom;
use super::route::Route;
use super::state::App;
use crate::core::scenario::url::{self, Link};
use crate::core::scenario::{Job, Scenario};
use crate::core::strategy::{Evaluator, StrategyId};
use gloo::timers::callback::Timeout;
use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

/// Rest after the last change before the address follows, ms: browsers allow about a hundred changes in 30 s.
const REST: u32 = 220;
/// View parameters that have a signal of their own.
const OWN: [&str; 2] = ["embed", "sel"];

/// What an address means.
pub struct Opened {
    /// The page.
    pub route: Route,
    /// The scenario, resolved.
    pub job: Job,
    /// View parameters.
    pub view: Vec<(String, String)>,
    /// What was wrong with the address; the scene is the default one then.
    pub wrong: Option<String>,
}

/// Reads an address. `None` only if the default scene itself does not resolve.
pub fn open(hash: &str) -> Option<Opened> {
    let read = url::decode(hash)
        .map_err(|error| error.to_string())
        .and_then(|link| {
            let route = page(&link)?;
            let job = link.scenario.resolve().map_err(|error| error.to_string())?;
            Evaluator::new(&job)
                .fits()
                .map_err(|error| error.to_string())?;
            Ok(Opened {
                route,
                job,
                view: link.view,
                wrong: None,
            })
        });
    match read {
        Ok(opened) => Some(opened),
        Err(wrong) => {
            let job = Scenario::default_scene().resolve().ok()?;
            let wrong = Some(format!(
                "This link could not be opened. {wrong}. Here is the opening scene."
            ));
            Some(Opened {
                route: Route::parse(hash).0.unwrap_or_default(),
                job,
                view: Vec::new(),
                wrong,
            })
        }
    }
}

fn page(link: &Link) -> Result<Route, String> {
    if link.page.is_empty() {
        return Ok(Route::Rack);
    }
    Route::ALL
        .into_iter()
        .find(|route| route.id() == link.page)
        .ok_or_else(|| {
            let known: Vec<&str> = Route::ALL.iter().map(|route| route.id()).collect();
            format!("page: {:?} is not one of {}", link.page, known.join(", "))
        })
}

/// The address of what is shown, on a page.
pub fn address(app: App, route: Route) -> String {
    let mut view = Vec::new();
    let selected = app.selected.get();
    if selected != StrategyId::NtpPw {
        view.push(("sel".to_owned(), selected.id().to_owned()));
    }
    if app.embed.get() {
        view.push(("embed".to_owned(), "1".to_owned()));
    }
    view.extend(app.params.get());
    url::encode(route.id(), &app.job.read().scenario, &view)
}

/// The address of what is shown, spelled out once however many follow it.
pub fn shown(app: App) -> Memo<String> {
    Memo::new(move |_| address(app, app.route.get()))
}

/// The whole address, to share.
pub fn whole(app: App) -> String {
    let here = dom::window()
        .and_then(|window| window.location().href().ok())
        .unwrap_or_default();
    let base = here.split('#').next().unwrap_or_default();
    format!("{base}{}", address(app, app.route.get()))
}

/// Takes view parameters over.
pub fn look(app: App, view: Vec<(String, String)>) {
    let given = |name: &str| {
        view.iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.clone())
    };
    app.embed.set(given("embed").as_deref() == Some("1"));
    let selected =
        given("sel").and_then(|id| StrategyId::ALL.into_iter().find(|one| one.id() == id));
    app.selected.set(selected.unwrap_or(StrategyId::NtpPw));
    match given("theme").as_deref() {
        Some("dark") => app.theme.set(super::state::Theme::Dark),
        Some("light") => app.theme.set(super::state::Theme::Light),
        _ => {}
    }
    app.params.set(
        view.into_iter()
            .filter(|(key, _)| !OWN.contains(&key.as_str()))
            .collect(),
    );
}

/// Goes to a page, as a new entry of the history.
pub fn go(app: App, route: Route) {
    if app.route.get_untracked() == route {
        return;
    }
    write(&untrack(|| address(app, route)), true);
    app.route.set(route);
    app.notice.set(None);
}

/// A history entry of ours, told from an address that the user typed.
fn mark() -> JsValue {
    JsValue::from_str("ntp-explorer")
}

fn write(address: &str, new: bool) {
    let Some(history) = dom::window().and_then(|window| window.history().ok()) else {
        return;
    };
    // Fails where the document may not touch its history, as in some sandboxed frames; the page works without.
    let _ = if new {
        history.push_state_with_url(&mark(), "", Some(address))
    } else {
        history.replace_state_with_url(&mark(), "", Some(address))
    };
}

/// Keeps address and state in step from now on.
pub fn keep(app: App, shown: Memo<String>) {
    let pending = StoredValue::new_local(None::<Timeout>);
    Effect::new(move |before: Option<String>| {
        let now = shown.get();
        // The first run only notes what is there: an address that was not touched stays as it was typed.
        if before.is_some_and(|before| before != now) {
            let text = now.clone();
            pending.set_value(Some(Timeout::new(REST, move || write(&text, false))));
        }
        now
    });
    let moved = window_event_listener(ev::popstate, move |event| {
        let state =
            js_sys::Reflect::get(&event, &JsValue::from_str("state")).unwrap_or(JsValue::NULL);
        let hash = dom::hash();
        if state == mark() || !hash.contains('?') {
            // Our own entry, or a bare page: the scenario stays.
            match Route::parse(&hash) {
                (Some(route), _) => app.route.set(route),
                (None, _) => app.notice.set(open(&hash).and_then(|opened| opened.wrong)),
            }
            return;
        }
        pending.set_value(None);
        let Some(opened) = open(&hash) else { return };
        app.route.set(opened.route);
        look(app, opened.view);
        let taken = app.replace(opened.job.scenario);
        app.notice.set(
            opened
                .wrong
                .or_else(|| taken.err().map(|error| error.to_string())),
        );
    });
    on_cleanup(move || moved.remove());
}
