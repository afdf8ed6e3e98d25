//! A power factor between 1 and 1.3.

use super::tell;
use crate::core::scenario::Scenario;
use crate::ui::state::use_app;
use leptos::prelude::*;

/// A power factor between 1 and 1.3, in hundredths.
#[component]
pub fn Slider(
    /// Word before it.
    label: &'static str,
    /// Path of the field, as errors name it.
    field: &'static str,
    /// Says more on hover.
    #[prop(optional)]
    title: &'static str,
    /// Reads it.
    read: fn(&Scenario) -> f64,
    /// Writes it.
    write: fn(&mut Scenario, f64),
) -> impl IntoView {
    let app = use_app();
    let value = app.part(read);
    let error = RwSignal::new(None::<String>);
    let set = move |event: web_sys::Event| {
        if let Ok(hundredths) = event_target_value(&event).parse::<f64>() {
            let told = tell(
                app.try_edit_merged(field, |scenario| write(scenario, hundredths / 100.0)),
                field,
            );
            error.set(told.err());
        }
    };
    view! {
        <label class="fld" title=title>
            {label}
            <input
                type="range"
                class="short"
                min="100"
                max="130"
                step="1"
                aria-valuetext=move || format!("{:.2} x TDP", value.get())
                prop:value=move || format!("{:.0}", value.get() * 100.0)
                on:input=set
            />
            <b class="out">{move || format!("{:.2}", value.get())}</b>
            <Show when=move || error.read().is_some()>
                <span class="err" role="alert">
                    {move || error.get()}
                </span>
            </Show>
        </label>
    }
}
