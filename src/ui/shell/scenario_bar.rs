//! Scenario bar: presets, layout, policy, history.

use super::Icon;
use crate::ui::state::use_app;
use leptos::prelude::*;

/// Presets, layout, policy, history.
#[component]
pub fn ScenarioBar() -> impl IntoView {
    let app = use_app();
    view! {
        <div class="scn" role="toolbar" aria-label="Scenario">
            <span class="sel">{move || format!("{} on {}", app.job.read().model.name, app.job.read().system.name)}</span>
            <span class="grow"></span>
            <span class="tools">
                <button
                    class="tb"
                    aria-label="Undo"
                    disabled=move || !app.can_travel().0
                    on:click=move |_| {
                        app.undo();
                    }
                >
                    <Icon name="i-undo" />
                </button>
                <button
                    class="tb"
                    aria-label="Redo"
                    disabled=move || !app.can_travel().1
                    on:click=move |_| {
                        app.redo();
                    }
                >
                    <Icon name="i-redo" />
                </button>
                <button class="tb" on:click=move |_| app.reset()>
                    "Reset"
                </button>
            </span>
        </div>
    }
}
