//! Parts of the page that the racks do not need: programs of their own, fetched when they are first wanted.
//!
//! With the feature `split`, what is reachable from [`step`] or [`more`] alone is taken out of the page's program when it is
//! linked (`scripts/wasm-bindgen`). Without it the parts are at hand at once, behind the same functions.

use super::bench::{self, Work};
use super::rack::{DiceFields, Kinds};
use super::shell::{DegreesField, MoreFields, PresetLists, ShareCard};
use super::side::{BestLayout, LostGpus};
use super::step::OneStep;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::SplitLoaderError;

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
    /// What each lost GPU costs.
    Lost,
    /// The search for the best layout.
    Best,
}

/// Builds a part.
type Make = fn() -> AnyView;

/// A function that waits until its program is here.
macro_rules! later {
    ($program:ident, $(#[$doc:meta])* $vis:vis fn $name:ident($arg:ident: $from:ty) -> $to:ty = $body:expr) => {
        $(#[$doc])*
        #[cfg(feature = "split")]
        #[leptos::wasm_split::wasm_split($program, wasm_split_path = ::leptos::wasm_split, fallible)]
        $vis fn $name($arg: $from) -> Result<$to, SplitLoaderError> {
            Ok($body)
        }

        $(#[$doc])*
        #[cfg(not(feature = "split"))]
        $vis async fn $name($arg: $from) -> Result<$to, SplitLoaderError> {
            Ok($body)
        }
    };
}

later! { step, fn step(_part: Part) -> Make = || view! { <OneStep /> }.into_any() }

later! { step,
    /// What `make bench` asks for.
    pub fn timed(work: Work) -> f64 = bench::timed(work)
}

later! { more,
    fn more(part: Part) -> Make = match part {
        Part::Presets => || view! { <PresetLists /> }.into_any(),
        Part::Degrees => || view! { <DegreesField /> }.into_any(),
        Part::Settings => || view! { <MoreFields /> }.into_any(),
        Part::Dice => || view! { <DiceFields /> }.into_any(),
        Part::Kinds => || view! { <Kinds /> }.into_any(),
        Part::Share => || view! { <ShareCard /> }.into_any(),
        Part::Lost => || view! { <LostGpus /> }.into_any(),
        Part::Best => || view! { <BestLayout /> }.into_any(),
        Part::Step => || ().into_any(),
    }
}

async fn fetch(part: Part) -> Result<Make, SplitLoaderError> {
    match part {
        Part::Step => step(part).await,
        _ => more(part).await,
    }
}

/// Has a part on its way, as when the pointer comes near what opens it.
pub fn expect(part: Part) {
    // Who opens it asks again and is told then.
    spawn_local(async move { drop(fetch(part).await) });
}

/// How far a part is.
#[derive(Clone, Copy)]
enum Standing {
    Coming,
    Here(Make),
    Failed,
}

/// A part of the page; empty until its program is here.
#[component]
pub fn Later(
    /// Which.
    part: Part,
    /// Stands in its place meanwhile.
    #[prop(optional, into)]
    meanwhile: ViewFn,
) -> impl IntoView {
    let standing = RwSignal::new(Standing::Coming);
    let ask = move || {
        spawn_local(async move {
            let now = fetch(part).await.map_or(Standing::Failed, Standing::Here);
            // It may have been closed by then.
            let _ = standing.try_set(now);
        });
    };
    ask();
    move || match standing.get() {
        Standing::Coming => meanwhile.run().into_any(),
        Standing::Here(make) => make(),
        Standing::Failed => view! {
            <p class="coming" role="alert">
                "This part could not be loaded. "
                <button class="tb line" on:click=move |_| ask()>
                    "Try again"
                </button>
            </p>
        }
        .into_any(),
    }
}
