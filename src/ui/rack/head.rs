//! Above the racks: under which strategy, what a click does, the two main actions.

use super::actions;
use crate::core::strategy::StrategyId;
use crate::ui::later::{Later, Part};
use crate::ui::shell::{Icon, Marker, Pop};
use crate::ui::state::use_app;
use leptos::prelude::*;

/// How many GPUs the random button fails, and the seed that says which.
#[derive(Clone, Copy)]
pub struct Dice {
    /// GPUs.
    pub count: RwSignal<u32>,
    /// Seed of the next throw; each throw adds one.
    pub seed: RwSignal<u64>,
}

impl Dice {
    /// One GPU, seed 1.
    pub fn new() -> Self {
        Self {
            count: RwSignal::new(1),
            seed: RwSignal::new(1),
        }
    }

    /// Throws once.
    pub fn throw(self, app: crate::ui::state::App) {
        actions::fail_random(app, self.count.get_untracked(), self.seed.get_untracked());
        self.seed.update(|seed| *seed = seed.wrapping_add(1));
    }
}

/// Above the racks: under which strategy, what a click does, the two main actions.
#[component]
pub fn Head() -> impl IntoView {
    let app = use_app();
    let dice = expect_context::<Dice>();
    let count = dice.count;
    let face = || {
        view! {
            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                <use href="#i-cv" />
            </svg>
        }
    };
    let label = move || match count.get() {
        1 => "Fail a random GPU".to_owned(),
        n => format!("Fail {n} random GPUs"),
    };
    view! {
        <div class="rh">
            <div>
                <h2>
                    "Racks " <span class="m">"under"</span> " " <Marker of=app.selected /> " "
                    {move || StrategyId::id(app.selected.get())}
                </h2>
                <div class="hint">
                    <b>"Click any GPU to fail it,"</b>
                    " click again to repair. "
                    <span class="m">"Drag for many, right-click for kinds."</span>
                </div>
            </div>
            <span class="grow"></span>
            <div class="duo">
                <button class="tb pri" on:click=move |_| dice.throw(app)>
                    <Icon name="i-dice" />
                    <span>{label}</span>
                    " "
                    <kbd>"R"</kbd>
                </button>
                <Pop face class="tb pri more" name="How many, and the seed" panel="dice" part=Part::Dice>
                    <Later part=Part::Dice />
                    <p class="m s">"Same seed, same GPUs. Each throw adds one to it."</p>
                </Pop>
            </div>
            <button class="tb line" on:click=move |_| actions::repair_all(app)>
                "Repair all "
                <kbd>"U"</kbd>
            </button>
        </div>
    }
}

/// How many GPUs the random button fails, and the seed.
#[component]
pub fn DiceFields() -> impl IntoView {
    let dice = expect_context::<Dice>();
    let count = Signal::derive(move || u64::from(dice.count.get()));
    let set_count = Callback::new(move |n: u64| dice.count.set(n.clamp(1, 1000) as u32));
    let set_seed = Callback::new(move |n| dice.seed.set(n));
    view! {
        <NumberBox label="GPUs" min="1" max="1000" value=count set=set_count />
        <NumberBox label="Seed" min="0" max="" value=dice.seed set=set_seed />
    }
}

/// A box that takes every whole number as it is typed.
#[component]
fn NumberBox(
    label: &'static str,
    min: &'static str,
    /// Empty: none.
    max: &'static str,
    #[prop(into)] value: Signal<u64>,
    set: Callback<u64>,
) -> impl IntoView {
    view! {
        <label class="fld">
            {label}
            <input
                class="inp"
                type="number"
                min=min
                max=(!max.is_empty()).then_some(max)
                prop:value=move || value.get().to_string()
                on:input=move |event| {
                    if let Ok(n) = event_target_value(&event).trim().parse() {
                        set.run(n);
                    }
                }
            />
        </label>
    }
}
