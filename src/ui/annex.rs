//! The pages that are not needed at first, all but the racks: a program of their own, fetched when one of them is opened.
//!
//! It draws below the shell of the first program and has an [`App`] of its own. The two tell each other the address of what
//! is shown, which is the whole state: see [`super::bridge`].

use super::about::AboutPage;
use super::app::{follow_window, form_now, theme_now};
use super::bridge;
use super::figures::FiguresPage;
use super::fleet::FleetPage;
use super::later::{Make, Part, Programs, presets, read_file};
use super::link;
use super::route::Route;
use super::shell::{Live, Notice};
use super::state::App;
use super::why::{WhyDialog, WhyPort};
use leptos::prelude::*;
use std::future::ready;
use web_sys::HtmlElement;

/// The one part that these pages show is linked in, and what reads files.
const PROGRAMS: Programs = Programs {
    part: |part| Box::pin(ready((part == Part::Presets).then_some(presets as Make))),
    timed: |_| Box::pin(ready(None)),
    read_file,
};

/// Draws the page of an address inside an element, and follows the first program from then on.
pub fn open(inside: HtmlElement, address: String) {
    console_error_panic_hook::set_once();
    mount_to(inside, move || view! { <Annex address /> }).forget();
}

#[component]
fn Annex(address: String) -> impl IntoView {
    // The first program only shows addresses that it could open.
    let Some(opened) = link::open(&address) else {
        return ().into_any();
    };
    let app = App::provide(opened.job, opened.route, theme_now(), form_now());
    link::look(app, opened.view);
    provide_context(PROGRAMS);
    follow_window(app);
    bridge::follow(app, address);
    WhyPort::of_page();
    // A page stays as it is when an address of the same page is taken over.
    let route = Memo::new(move |_| app.route.get());
    view! {
        {move || match route.get() {
            Route::Fleet => view! { <FleetPage /> }.into_any(),
            Route::Figures => view! { <FiguresPage /> }.into_any(),
            Route::About => view! { <AboutPage /> }.into_any(),
            Route::Rack => ().into_any(),
        }}
        <Notice />
        <WhyDialog />
        <Live />
    }
    .into_any()
}
