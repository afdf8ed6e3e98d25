//! Choices of which one is on: one tab stop, arrows choose.

use super::dom;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent};

/// One choice. What holds the choices is a `radiogroup` that hears [`arrows`].
#[component]
pub fn Radio(
    /// Whether it is on.
    #[prop(into)]
    on: Signal<bool>,
    /// Whether Tab reaches it, where that is not the one that is on.
    #[prop(optional, into)]
    stop: Option<Signal<bool>>,
    /// Says more on hover.
    #[prop(optional)]
    title: Option<String>,
    /// Chooses it.
    pick: Callback<()>,
    children: Children,
) -> impl IntoView {
    let stop = stop.unwrap_or(on);
    view! {
        <button
            role="radio"
            aria-checked=move || on.get().to_string()
            tabindex=move || if stop.get() { "0" } else { "-1" }
            title=title
            on:click=move |_| pick.run(())
        >
            {children()}
        </button>
    }
}

/// Chooses the next or the one before by an arrow, around the ends.
pub fn arrows(event: KeyboardEvent) {
    let by = match event.key().as_str() {
        "ArrowRight" | "ArrowDown" => 1,
        "ArrowLeft" | "ArrowUp" => -1,
        _ => return,
    };
    let group = event
        .current_target()
        .and_then(|group| group.dyn_into::<Element>().ok());
    let (Some(group), Some(here)) = (group, dom::target(&event)) else {
        return;
    };
    let choices = dom::all(&group, "[role=radio]");
    let Some(at) = choices
        .iter()
        .position(|choice| choice.contains(Some(&here)))
    else {
        return;
    };
    event.prevent_default();
    let to = (at as i64 + by).rem_euclid(choices.len() as i64) as usize;
    if let Some(next) = choices
        .get(to)
        .and_then(|next| next.dyn_ref::<HtmlElement>())
    {
        next.click();
        // Fails for no element.
        let _ = next.focus();
    }
}
