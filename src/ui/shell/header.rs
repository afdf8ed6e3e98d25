//! Header: brand, pages, tools.

use super::Icon;
use super::share::{Export, Share};
use crate::ui::link;
use crate::ui::route::Route;
use crate::ui::state::{Theme, use_app};
use leptos::prelude::*;

/// Version of the model that the numbers on the page come from.
const MODEL: &str = concat!("model v", env!("CARGO_PKG_VERSION"));

/// Brand, pages, tools.
#[component]
pub fn Header() -> impl IntoView {
    let app = use_app();
    let flip = move |_| {
        app.theme.update(|theme| {
            *theme = match theme {
                Theme::Light => Theme::Dark,
                Theme::Dark => Theme::Light,
            }
        });
    };
    view! {
        <header class="top">
            <a class="skip" href="#main">
                "Skip to the racks"
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
                    title="What the model covers, its sources and its measured error"
                    on:click=move |event| {
                        event.prevent_default();
                        link::go(app, Route::About);
                    }
                >
                    <span class="why">{MODEL}</span>
                </a>
                <Share />
                <Export />
                <button class="tb" aria-label="Switch theme" on:click=flip>
                    <Icon name="i-theme" />
                </button>
                <button class="tb" aria-label="Keys and help" on:click=move |_| app.help.set(true)>
                    "?"
                </button>
            </div>
        </header>
    }
}
