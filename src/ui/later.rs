//! Parts of the page that the racks do not need, built when they are first wanted: the step's panel, menus and forms, and the
//! other pages.
//!
//! Where their code comes from is the business of the program (`src/parts.rs`): see [`Programs`].

use super::about::AboutPage;
use super::bench::{self, Long, Work};
use super::dom;
use super::figures::FiguresPage;
use super::fleet::FleetPage;
use super::rack::{DiceFields, Kinds};
use super::shell::{DegreesField, FilesCard, MoreFields, PresetLists, ShareCard};
use super::side::{BestLayout, LostGpus};
use super::step::OneStep;
use crate::core::faults;
use crate::core::scenario::{Scenario, ScenarioError};
use js_sys::Promise;
use leptos::prelude::*;
use leptos::task::spawn_local;
use std::future::{Future, ready};
use std::pin::Pin;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, MouseEvent};

/// A part that comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The panel of one step.
    Step,
    /// Presets of models and systems.
    Presets,
    /// Supported TP degrees.
    Degrees,
    /// Settings that the bar has no room for.
    Settings,
    /// How many random failures, and their seed.
    Dice,
    /// Kinds of failure of a GPU.
    Kinds,
    /// The link to the scene.
    Share,
    /// Scenario files.
    Files,
    /// What each lost GPU costs.
    Lost,
    /// The search for the best layout.
    Best,
    /// The Fleet page.
    Fleet,
    /// The Figures page.
    Figures,
    /// The About page.
    About,
}

/// What parts come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// The panel of one step.
    Step,
    /// Menus and forms.
    More,
    /// The other pages.
    Pages,
}

impl Part {
    /// The program that it comes in.
    pub const fn program(self) -> Program {
        match self {
            Self::Step => Program::Step,
            Self::Fleet | Self::Figures | Self::About => Program::Pages,
            _ => Program::More,
        }
    }
}

/// Builds a part.
pub type Make = fn() -> AnyView;

/// What comes once its code is here; nothing where that could not be fetched.
pub type Coming<T> = Pin<Box<dyn Future<Output = Option<T>>>>;

/// What reads a scenario file's text.
pub type ReadFile = fn(String) -> Coming<Result<Scenario, ScenarioError>>;

/// Where parts come from.
#[derive(Clone, Copy)]
pub struct Programs {
    /// What builds a part.
    pub part: fn(Part) -> Coming<Make>,
    /// What `make bench` times.
    pub timed: fn(Work) -> Coming<f64>,
    /// What they ask of a worker.
    pub asked: fn(Long) -> Coming<Promise>,
    /// What reads scenario files.
    pub read_file: ReadFile,
}

impl Programs {
    /// Everything is linked in.
    pub const fn at_hand() -> Self {
        Self {
            part: |part| {
                let make = match part.program() {
                    Program::Step => step,
                    Program::Pages => pages,
                    Program::More => more,
                };
                Box::pin(ready(Some(make(part))))
            },
            timed: |work| Box::pin(ready(Some(bench::timed(work)))),
            asked: |long| Box::pin(ready(Some(bench::asked(long)))),
            read_file: |text| Box::pin(ready(Some(faults::read_file(&text)))),
        }
    }
}

/// The panel of one step.
pub fn step(_: Part) -> Make {
    || view! { <OneStep /> }.into_any()
}

/// Menus and forms.
pub fn more(part: Part) -> Make {
    match part {
        Part::Presets => || view! { <PresetLists /> }.into_any(),
        Part::Degrees => || view! { <DegreesField /> }.into_any(),
        Part::Settings => || view! { <MoreFields /> }.into_any(),
        Part::Dice => || view! { <DiceFields /> }.into_any(),
        Part::Kinds => || view! { <Kinds /> }.into_any(),
        Part::Share => || view! { <ShareCard /> }.into_any(),
        Part::Files => || view! { <FilesCard /> }.into_any(),
        Part::Lost => || view! { <LostGpus /> }.into_any(),
        Part::Best => || view! { <BestLayout /> }.into_any(),
        Part::Step | Part::Fleet | Part::Figures | Part::About => || ().into_any(),
    }
}

/// Style sheets of the pages that come later, which come with them.
const SHEETS: &str = concat!(
    include_str!("../../style/fleet.css"),
    include_str!("../../style/figures.css"),
    include_str!("../../style/about.css")
);

/// The other pages.
pub fn pages(part: Part) -> Make {
    match part {
        Part::Figures => || view! { <style inner_html=SHEETS /> <FiguresPage /> }.into_any(),
        Part::About => || view! { <style inner_html=SHEETS /> <AboutPage /> }.into_any(),
        _ => || view! { <style inner_html=SHEETS /> <FleetPage /> }.into_any(),
    }
}

/// How far a part is.
#[derive(Clone, Copy)]
enum Standing {
    Coming,
    Here(Make),
    Failed,
}

/// Has a part on its way, as when the pointer comes near what opens it.
pub fn expect(programs: Programs, part: Part) {
    // Who opens it asks again, and is told then.
    spawn_local(async move {
        let _ = (programs.part)(part).await;
    });
}

/// A part of the page.
#[component]
pub fn Later(
    /// Which.
    part: Part,
    /// Stands in its place until its program is here.
    #[prop(optional, into)]
    meanwhile: Option<ViewFn>,
    /// What to do where it could not be fetched; without, a line says so in its place.
    #[prop(optional)]
    lost: Option<Callback<()>>,
) -> impl IntoView {
    let programs = expect_context::<Programs>();
    let standing = RwSignal::new(Standing::Coming);
    let ask = move |around: Option<Element>| {
        spawn_local(async move {
            let made = (programs.part)(part).await;
            if let (None, Some(lost)) = (made, lost) {
                return lost.run(());
            }
            let came = made.is_some();
            // It may have been closed by then.
            let _ = standing.try_set(made.map_or(Standing::Failed, Standing::Here));
            if let Some(around) = around.filter(|_| came) {
                request_animation_frame(move || {
                    let first = dom::find(&around, "input, button, select");
                    if let Some(Ok(first)) = first.map(JsCast::dyn_into::<HtmlElement>) {
                        // Fails for no element.
                        let _ = first.focus();
                    }
                });
            }
        });
    };
    ask(None);
    // The button goes with its line, and the focus would with it: the first control of what came takes it.
    let again = move |event: MouseEvent| {
        ask(dom::target(&event)
            .and_then(|button| button.closest("[role=dialog], .panel, .ppanel").ok()?));
    };
    move || match standing.get() {
        Standing::Coming => match &meanwhile {
            Some(meanwhile) => meanwhile.run().into_any(),
            None => view! { <p class="m soon" role="status">"Loading"</p> }.into_any(),
        },
        Standing::Here(make) => make(),
        Standing::Failed => view! {
            <p class="coming" role="alert">
                "This part could not be loaded. "
                <button class="tb line" on:click=again>
                    "Try again"
                </button>
            </p>
        }
        .into_any(),
    }
}
