//! The Fleet page: days of failures, played, on a map and as a race of the strategies.

// The page's state is a bundle of handles that components copy, as the whole page's is.
#![allow(clippy::large_types_passed_by_value)]

mod bar;
mod chart;
mod clock;
mod deck;
mod fork;
mod lens;
mod logs;
mod map;
mod paint;
mod race;
mod studies;
mod written;

use super::dom;
use super::state::use_app;
use bar::FleetBar;
use clock::Clock;
use deck::Deck;
use leptos::prelude::*;
use logs::Desk;
use map::FleetMap;
use race::Race;
use studies::Studies;

/// The page: settings, then the run or the studies.
#[component]
pub fn FleetPage() -> impl IntoView {
    let app = use_app();
    let deck = Deck::provide(app);
    // What a test or a reader of the document may want to know.
    let run = move || {
        deck.run
            .with(|run| run.as_ref().map(|run| run.head.run.to_string()))
    };
    let forked = move || {
        deck.run.with(|run| {
            let fork = run.as_ref()?.recording.forked_at?;
            Some(crate::scene::fleet::pace::days(fork))
        })
    };
    // The bar first, all else once it is painted: together they would hold the page up for too long.
    let later = RwSignal::new(false);
    dom::after_paint(move || {
        later.try_set(true);
    });
    let show = app.param("show");
    let studies = move || studies::ANY && show.with(|show| show.as_deref() == Some("studies"));
    let tab = move |name: &'static str, on: bool| {
        view! {
            <button
                role="tab"
                aria-selected=move || (studies() == on).to_string()
                on:click=move |_| app.set_param("show", on.then(|| "studies".to_owned()))
            >
                {name}
            </button>
        }
    };
    view! {
        <Show when=move || !app.embed.get()>
            <FleetBar />
        </Show>
        <Show when=|| studies::ANY>
            <div class="ftabs" role="tablist" aria-label="Fleet">
                {tab("Run", false)}
                {tab("Studies", true)}
            </div>
        </Show>
        {move || {
            if !later.get() {
                view! { <main class="fleet" id="main"></main> }.into_any()
            } else if studies() {
                view! { <Studies /> }.into_any()
            } else {
                view! {
                    <main
                        class="fleet"
                        id="main"
                        data-run=run
                        data-forked=forked
                        data-day=move || (deck.time.get().hours() / 24.0).to_string()
                        data-playing=move || deck.playing.get().to_string()
                    >
                        <Desk />
                        <div class="ftop">
                            <FleetMap />
                            <Race />
                        </div>
                        <Clock />
                    </main>
                }
                    .into_any()
            }
        }}
    }
}
