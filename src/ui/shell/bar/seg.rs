//! A row of choices, one of them on.

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// A row of choices: one tab stop, arrows choose.
#[component]
pub fn Seg<T>(
    /// Word before it.
    label: &'static str,
    /// Says more on hover.
    #[prop(optional)]
    title: &'static str,
    /// Values and their words.
    #[prop(into)]
    options: Signal<Vec<(T, String)>>,
    /// The value in force.
    #[prop(into)]
    value: Signal<T>,
    /// Takes a choice.
    pick: Callback<T>,
) -> impl IntoView
where
    T: Copy + PartialEq + Send + Sync + 'static,
{
    let keys = move |event: web_sys::KeyboardEvent| {
        let by = match event.key().as_str() {
            "ArrowRight" | "ArrowDown" => 1,
            "ArrowLeft" | "ArrowUp" => -1,
            _ => return,
        };
        event.prevent_default();
        let options = options.get_untracked();
        let now = value.get_untracked();
        let here = options
            .iter()
            .position(|(option, _)| *option == now)
            .unwrap_or(0) as i64;
        let to = (here + by).rem_euclid(options.len().max(1) as i64) as usize;
        if let Some((option, _)) = options.get(to) {
            pick.run(*option);
        }
        let row = event
            .current_target()
            .and_then(|row| row.dyn_into::<HtmlElement>().ok());
        let button = row.and_then(|row| row.children().item(to as u32));
        if let Some(button) = button.and_then(|button| button.dyn_into::<HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    view! {
        <span class="fld" title=title>
            {label}
            <span class="seg" role="radiogroup" aria-label=label on:keydown=keys>
                {move || {
                    options
                        .get()
                        .into_iter()
                        .map(|(option, words)| {
                            let on = move || value.get() == option;
                            view! {
                                <button
                                    role="radio"
                                    aria-checked=move || on().to_string()
                                    tabindex=move || if on() { "0" } else { "-1" }
                                    on:click=move |_| pick.run(option)
                                >
                                    {words}
                                </button>
                            }
                        })
                        .collect_view()
                }}
            </span>
        </span>
    }
}
