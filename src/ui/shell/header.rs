//! Header: brand, pages, tools.

use super::Icon;
use super::share::{Export, Share};
use crate::core::cost::factors;
use crate::core::validation::band;
use crate::scene::side::number::fixed;
use crate::ui::dom;
use crate::ui::link;
use crate::ui::route::Route;
use crate::ui::state::{App, Theme, use_app};
use leptos::prelude::*;

/// Light to dark and back; the choice is kept for the next visit.
pub fn flip_theme(app: App) {
    let theme = match app.theme.get_untracked() {
        Theme::Light => Theme::Dark,
        Theme::Dark => Theme::Light,
    };
    app.theme.set(theme);
    // A link that names a theme keeps naming the one that is seen.
    if app.param("theme").get_untracked().is_some() {
        app.set_param("theme", Some(theme.id().to_owned()));
    }
    // Storage may be closed to a page in a frame; then the choice lasts as long as the page.
    let storage = dom::window().and_then(|window| window.local_storage().ok().flatten());
    if let Some(storage) = storage {
        let _ = storage.set_item("theme", theme.id());
    }
}

/// Brand, pages, tools.
#[component]
pub fn Header() -> impl IntoView {
    let app = use_app();
    let band = Memo::new(move |_| {
        let job = app.job.read();
        band(&job.system, job.scenario.layout.precision)
    });
    let note = move || {
        let band = band.read();
        let error = fixed(band.mean * 100.0, 0);
        let version = factors::version();
        if band.measured {
            format!("model v{version}, step time within {error} % on average")
        } else {
            format!("model v{version}, unseen GPU: step time within {error} % on average")
        }
    };
    view! {
        <header class="top">
            <a
                class="skip"
                href="#main"
                on:click=|event| {
                    // The hash is the scenario's: the focus moves, the address does not.
                    event.prevent_default();
                    dom::focus("main");
                }
            >
                "Skip to the content"
            </a>
            <div class="brand">
                <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
                    <use href="#i-brand" />
                </svg>
                "NTP Explorer"
            </div>
            <nav class="nav" aria-label="Pages">
                {Route::ALL
                    .map(|route| {
                        let here = move || app.route.get() == route;
                        view! {
                            <a
                                href=move || link::address(app, route)
                                class:on=here
                                aria-current=move || here().then_some("page")
                                on:click=move |event| {
                                    // With a modifier the browser opens the link itself.
                                    if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                                        event.prevent_default();
                                        link::go(app, route);
                                    }
                                }
                            >
                                {route.name()}
                            </a>
                        }
                    })
                    .collect_view()}
            </nav>
            <div class="grow"></div>
            <div class="tools">
                <a
                    class="tb m model"
                    href="#/about"
                    title=move || band.read().words()
                    on:click=move |event| {
                        event.prevent_default();
                        link::go(app, Route::About);
                    }
                >
                    <span class="why">{note}</span>
                </a>
                <Share />
                <Export />
                <button class="tb" aria-label="Switch theme" on:click=move |_| flip_theme(app)>
                    <Icon name="i-theme" />
                </button>
                <button class="tb" aria-label="Keys and help" on:click=move |_| app.help.set(true)>
                    "?"
                </button>
            </div>
        </header>
    }
}
