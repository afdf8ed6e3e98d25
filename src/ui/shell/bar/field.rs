//! A box with one number.

use super::{Told, tell};
use crate::core::scenario::Scenario;
use crate::ui::dom;
use crate::ui::state::use_app;
use leptos::prelude::*;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ids of error texts, so that `aria-describedby` finds them.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A box with text that `set` takes or refuses. Enter or leaving the box sets it; arrows step it.
#[component]
pub fn Field(
    /// Word before the box.
    label: &'static str,
    /// Says more on hover.
    #[prop(optional)]
    title: &'static str,
    /// What is in force.
    #[prop(into)]
    value: Signal<String>,
    /// Takes what was typed, or says why not.
    set: Callback<String, Told>,
    /// Steps up or down.
    #[prop(optional)]
    step: Option<Callback<i32, Told>>,
    /// Wider than three digits.
    #[prop(optional)]
    wide: bool,
    /// What is wrong with the value by someone else's word, such as a worker's.
    #[prop(optional, into)]
    told: Option<Signal<Option<String>>>,
) -> impl IntoView {
    let typed = RwSignal::new(None::<String>);
    let error = RwSignal::new(None::<String>);
    let shown = move || error.get().or_else(|| told.and_then(|told| told.get()));
    // A change from elsewhere (undo, a preset) replaces what was typed in vain.
    Effect::new(move |before: Option<String>| {
        let now = value.get();
        if before.is_some_and(|before| before != now) {
            typed.set(None);
            error.set(None);
        }
        now
    });
    let settle = move |told: Told| match told {
        Ok(()) => {
            typed.set(None);
            error.set(None);
        }
        Err(why) => error.set(Some(why)),
    };
    let commit = move || {
        if let Some(text) = typed.get_untracked() {
            settle(set.run(text));
        }
    };
    let keys = move |event: web_sys::KeyboardEvent| match event.key().as_str() {
        "Enter" => commit(),
        "Escape" => {
            typed.set(None);
            error.set(None);
        }
        key @ ("ArrowUp" | "ArrowDown") => {
            if let Some(step) = step {
                event.prevent_default();
                typed.set(None);
                settle(step.run(if key == "ArrowUp" { 1 } else { -1 }));
            }
        }
        _ => {}
    };
    let id = format!("field-error-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let described = id.clone();
    let spin = step.map(|step| {
        let go = move |by: i32| {
            move |event: web_sys::MouseEvent| {
                event.prevent_default();
                typed.set(None);
                settle(step.run(by));
            }
        };
        view! {
            <span class="spin" aria-hidden="true">
                <button tabindex="-1" on:click=go(1)>
                    <svg viewBox="0 0 8 8">
                        <use href="#i-cv" />
                    </svg>
                </button>
                <button tabindex="-1" on:click=go(-1)>
                    <svg viewBox="0 0 8 8">
                        <use href="#i-cv" />
                    </svg>
                </button>
            </span>
        }
    });
    view! {
        <label class="fld" class:bad=move || shown().is_some() title=title>
            {label}
            <span class="box">
                <input
                    class="inp"
                    class:long=wide
                    inputmode="numeric"
                    autocomplete="off"
                    spellcheck="false"
                    aria-label=label
                    prop:value=move || typed.get().unwrap_or_else(|| value.get())
                    aria-invalid=move || shown().is_some().to_string()
                    aria-describedby=move || shown().is_some().then(|| described.clone())
                    on:input=move |event| typed.set(Some(event_target_value(&event)))
                    on:change=dom::while_here(move |_| commit())
                    on:keydown=keys
                />
                {spin}
            </span>
            <Show when=move || shown().is_some()>
                <span class="err" role="alert" id=id.clone()>
                    {shown}
                </span>
            </Show>
        </label>
    }
}

/// A number as people write it, without what groups its digits.
pub fn ungrouped(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, ',' | ' ' | '_'))
        .collect()
}

/// A whole number of the scenario.
#[component]
pub fn Whole(
    /// Word before the box.
    label: &'static str,
    /// Path of the field, as errors name it.
    field: &'static str,
    /// Says more on hover.
    #[prop(optional)]
    title: &'static str,
    /// Reads it.
    read: fn(&Scenario) -> u32,
    /// Writes it.
    write: fn(&mut Scenario, u32),
    /// How far an arrow steps; 1 by default.
    #[prop(optional)]
    step: Option<fn(&Scenario) -> u32>,
    /// The smallest value an arrow goes to.
    #[prop(default = 1)]
    least: u32,
    /// Wider than three digits.
    #[prop(optional)]
    wide: bool,
) -> impl IntoView {
    let app = use_app();
    let value = app.part(read);
    let change = move |scenario: &mut Scenario, number: u32| {
        write(scenario, number);
        scenario.fit();
    };
    let typed = move |text: String| match ungrouped(&text).parse::<u32>() {
        Ok(number) => tell(app.try_edit(|s| change(s, number)), field),
        Err(_) => Err(format!("{:?} is not a whole number", text.trim())),
    };
    let stepped = move |by: i32| {
        let size = step.map_or(1, |step| app.scenario(step)).max(1);
        let now = value.get_untracked();
        // The next multiple of the step, so that an odd value gets back in line.
        let next = if by > 0 {
            (now / size).saturating_add(1).saturating_mul(size)
        } else {
            now.saturating_sub(1) / size * size
        };
        // Held arrows undo together.
        let next = next.max(least);
        tell(app.try_edit_merged(field, |s| change(s, next)), field)
    };
    view! {
        <Field
            label
            title
            wide
            value=Signal::derive(move || value.get().to_string())
            set=Callback::new(typed)
            step=Callback::new(stepped)
        />
    }
}
