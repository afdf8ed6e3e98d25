//! The Rack page below 640 px: one domain at a time, a dock with scores and tabs under the thumb.

use super::later::{Later, Part};
use super::link;
use super::rack::{Dice, Racks, repair_all};
use super::route::Route;
use super::shell::{History, Icon, LayoutFields, PolicyFields, flip_theme};
use super::side::{Changes, GoodputRows, LedgerBar, Strip, VerdictLine, WhatChanged};
use super::state::use_app;
use leptos::prelude::*;

/// What the dock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tab {
    Goodput,
    Changed,
    Step,
    Share,
}

const TABS: [(Tab, &str); 4] = [
    (Tab::Goodput, "Goodput"),
    (Tab::Changed, "Changed"),
    (Tab::Step, "One step"),
    (Tab::Share, "Share"),
];

/// Brand, theme, and a menu with the pages.
#[component]
pub fn PhoneHeader() -> impl IntoView {
    let app = use_app();
    let menu = RwSignal::new(false);
    view! {
        <header class="ptop">
            <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
                <use href="#i-brand" />
            </svg>
            <b>"NTP Explorer"</b>
            <span class="grow"></span>
            <button class="tb" aria-label="Switch theme" on:click=move |_| flip_theme(app)>
                <Icon name="i-theme" />
            </button>
            <button
                class="tb"
                aria-label="Menu"
                aria-expanded=move || menu.get().to_string()
                on:click=move |_| menu.update(|menu| *menu = !*menu)
            >
                <Icon name="i-menu" />
            </button>
            <Show when=move || menu.get()>
                <nav class="pop pmenu" aria-label="Pages">
                    {Route::ALL
                        .map(|route| {
                            let here = move || app.route.get() == route;
                            view! {
                                <a
                                    href=move || link::address(app, route)
                                    aria-current=move || here().then_some("page")
                                    on:click=move |event| {
                                        event.prevent_default();
                                        menu.set(false);
                                        link::go(app, route);
                                    }
                                >
                                    {route.name()}
                                </a>
                            }
                        })
                        .collect_view()}
                </nav>
            </Show>
        </header>
    }
}

/// The Rack page of a phone.
#[component]
pub fn PhonePage() -> impl IntoView {
    let app = use_app();
    let dice = expect_context::<Dice>();
    let sheet = RwSignal::new(false);
    let tab = RwSignal::new(Tab::Goodput);
    let changes = Changes::follow(app);
    let healthy = app.part(|s| s.failures.is_empty());
    // From the scenario's bar or from inside its sheet; what is open on it closes first.
    let bar = NodeRef::<leptos::html::Button>::new();
    let escape = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" && sheet.get_untracked() {
            sheet.set(false);
            if let Some(bar) = bar.get_untracked() {
                let _ = bar.focus();
            }
        }
    };
    let layout = move || {
        app.scenario(|s| format!("TP {}, PP {}, DP {}", s.layout.tp, s.layout.pp, s.layout.dp))
    };
    view! {
        <main class="pbody" id="main" on:keydown=escape>
            <Show when=move || !app.embed.get()>
                <button
                    class="psc"
                    node_ref=bar
                    aria-expanded=move || sheet.get().to_string()
                    on:click=move |_| sheet.update(|sheet| *sheet = !*sheet)
                >
                    <b class="cut">{move || format!("{} on {}", app.job.read().model.name, app.job.read().system.name)}</b>
                    <span class="m">
                        {layout} " "
                        <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                            <use href="#i-cv" />
                        </svg>
                    </span>
                </button>
                <Show when=move || sheet.get()>
                    <div class="psheet">
                        <Later part=Part::Presets />
                        <div class="dims">
                            <LayoutFields />
                        </div>
                        <div class="moreset">
                            <PolicyFields />
                            <Later part=Part::Settings />
                        </div>
                        <h3>"Random failures"</h3>
                        <div class="cols">
                            <Later part=Part::Dice />
                        </div>
                        <History />
                    </div>
                </Show>
            </Show>
            <VerdictLine />
            <Racks />
        </main>
        <div class="pdock">
            <div class="pact">
                {move || {
                    if healthy.get() {
                        view! { <b>"Tap a GPU to fail it. "</b> }.into_any()
                    } else {
                        view! {
                            <button class="tb line" on:click=move |_| repair_all(app)>
                                "Repair all"
                            </button>
                        }
                            .into_any()
                    }
                }}
                <span class="m grow">"Hold for kinds."</span>
                <button class="tb pri" on:click=move |_| dice.throw(app)>
                    <Icon name="i-dice" />
                    {move || match dice.count.get() {
                        1 => "Random".to_owned(),
                        n => format!("Random {n}"),
                    }}
                </button>
            </div>
            <div class="pscores" class:off=move || tab.get() != Tab::Goodput>
                <GoodputRows />
            </div>
            {move || match tab.get() {
                Tab::Goodput => ().into_any(),
                Tab::Changed => {
                    view! {
                        <div class="ppanel">
                            <LedgerBar />
                            <WhatChanged changes />
                            <Strip changes />
                        </div>
                    }
                        .into_any()
                }
                Tab::Step => {
                    view! {
                        <div class="ppanel">
                            <Later part=Part::Step />
                        </div>
                    }
                        .into_any()
                }
                Tab::Share => {
                    view! {
                        <div class="ppanel">
                            <Later part=Part::Share />
                        </div>
                    }
                        .into_any()
                }
            }}
            <div class="ptabs" role="tablist" aria-label="Panels">
                {TABS
                    .map(|(value, name)| {
                        let on = move || tab.get() == value;
                        view! {
                            <button
                                role="tab"
                                aria-selected=move || on().to_string()
                                on:click=move |_| tab.set(value)
                            >
                                {name}
                            </button>
                        }
                    })
                    .collect_view()}
            </div>
        </div>
    }
}
