//! Icons of the sprite in `index.html`.

use crate::core::strategy::StrategyId;
use leptos::prelude::*;

/// A 16 px line icon of the chrome, by its name in the sprite (`i-share`, `i-theme`, ...).
#[component]
pub fn Icon(
    /// Id in the sprite.
    name: &'static str,
) -> impl IntoView {
    view! {
        <svg class="ic" viewBox="0 0 16 16" aria-hidden="true">
            <use href=format!("#{name}") />
        </svg>
    }
}

/// A strategy's marker in its colour.
#[component]
pub fn Marker(
    /// Whose marker.
    #[prop(into)]
    of: Signal<StrategyId>,
) -> impl IntoView {
    view! {
        <svg
            class="mk"
            style=move || format!("color:var(--sg-{})", of.get().id())
            viewBox="0 0 12 12"
            aria-hidden="true"
        >
            <use href=move || format!("#m-{}", of.get().id()) />
        </svg>
    }
}
