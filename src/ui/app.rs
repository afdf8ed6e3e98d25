//! The root component: reads the link, builds the state, shows the page of the route.

use super::dom;
use super::files;
use super::later::{Later, Part, Programs};
use super::link;
use super::phone::{PhoneHeader, PhonePage};
use super::rack::{Dice, Racks};
use super::route::Route;
use super::shell::{Header, Keys, Live, Notice, ScenarioBar};
use super::side::SideColumn;
use super::state::{App, Form, Theme, use_app};
use super::why::{WhyDialog, WhyPort};
use leptos::prelude::*;

/// Mounts the app on the document's body, in place of the static first paint.
pub fn mount(programs: Programs) {
    console_error_panic_hook::set_once();
    mount_to_body(move || view! { <Root programs /> });
    dom::remove("first-paint");
    dom::set_root("data-ready", "true");
}

/// The width class that the page's script keeps on the root element, for the style sheets too.
fn form_now() -> Form {
    match dom::root().and_then(|root| root.get_attribute("data-form")) {
        Some(form) if form == "phone" => Form::Phone,
        Some(form) if form == "tablet" => Form::Tablet,
        _ => Form::Desktop,
    }
}

/// The theme as it is.
fn theme_now() -> Theme {
    let dark = dom::root()
        .and_then(|root| root.get_attribute("data-theme"))
        .is_some_and(|theme| theme == "dark");
    if dark { Theme::Dark } else { Theme::Light }
}

/// Keeps the width class of the window up to date.
fn follow_window(app: App) {
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        let form = form_now();
        if app.form.get_untracked() != form {
            app.form.set(form);
        }
    });
    on_cleanup(move || resized.remove());
}

#[component]
fn Root(programs: Programs) -> impl IntoView {
    let Some(opened) = link::open(&dom::hash()) else {
        return view! { <main class="broken">"The opening scene is not valid."</main> }.into_any();
    };
    let app = App::provide(opened.job, opened.route, theme_now(), form_now());
    link::look(app, opened.view);
    app.notice.set(opened.wrong);
    let shown = link::shown(app);
    link::keep(app, shown);
    files::accept_drops(app, programs.read_file);
    provide_context(Dice::new());
    provide_context(programs);
    follow_window(app);
    Effect::new(move |_| dom::set_root("data-theme", app.theme.get().id()));
    // A canvas that lost its pixels, as when the graphics process died, is drawn anew like all others in another theme.
    dom::on_canvas_restored(move || app.theme.notify());
    view! { <Page /> }.into_any()
}

#[component]
fn Page() -> impl IntoView {
    let app = use_app();
    let embed = app.embed;
    let show = app.param("show");
    let talk = app.param("talk");
    Effect::new(move |_| {
        // The page's script has done so for the link that the page opened with.
        if dom::mark_root("data-talk", talk.get().as_deref() == Some("1")) {
            dom::resized();
        }
    });
    // A page stays as it is when an address of the same page is taken over.
    let route = Memo::new(move |_| app.route.get());
    let racks = move || match app.form.get() {
        Form::Phone => view! { <PhonePage /> }.into_any(),
        Form::Tablet | Form::Desktop => view! { <RackPage /> }.into_any(),
    };
    // Here, so that numbers on every page find it.
    WhyPort::of_page();
    view! {
        <div
            id="app"
            class="app"
            class:embed=embed
            class:phone=move || app.form.get() == Form::Phone
            data-show=move || show.get().unwrap_or_default()
        >
            {move || match (embed.get(), app.form.get()) {
                (true, _) => ().into_any(),
                (false, Form::Phone) => view! { <PhoneHeader /> }.into_any(),
                (false, _) => view! { <Header /> }.into_any(),
            }}
            {move || match route.get() {
                Route::Rack => racks.into_any(),
                Route::Fleet => later_page(Part::Fleet),
                Route::Figures => later_page(Part::Figures),
                Route::About => later_page(Part::About),
            }}
            <Notice />
            <Keys />
            <WhyDialog />
            <Live />
        </div>
    }
}

fn later_page(part: Part) -> AnyView {
    let meanwhile = || {
        view! {
            <main class="coming" role="status">
                "Loading this page…"
            </main>
        }
    };
    view! { <Later part meanwhile /> }.into_any()
}

#[component]
fn RackPage() -> impl IntoView {
    let app = use_app();
    // The racks come first: building the step's panel takes a slow machine as long as all of them.
    let painted = RwSignal::new(false);
    dom::after_paint(move || {
        // The page may have been left by then.
        let _ = painted.try_set(true);
    });
    let place = || {
        view! {
            <section class="gantt">
                <p class="m soon">"Loading one step"</p>
            </section>
        }
    };
    view! {
        <Show when=move || !app.embed.get()>
            <ScenarioBar />
        </Show>
        <main class="main" id="main">
            <Racks />
            <SideColumn />
            <Show when=move || painted.get() fallback=place>
                <Later part=Part::Step meanwhile=place />
            </Show>
        </main>
    }
}
