//! A row of choices, one of them on.

use crate::ui::radio::{Radio, arrows};
use leptos::prelude::*;

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
    view! {
        <span class="fld" title=title>
            {label}
            <span class="seg" role="radiogroup" aria-label=label on:keydown=arrows>
                {move || {
                    options
                        .get()
                        .into_iter()
                        .map(|(option, words)| {
                            let on = Signal::derive(move || value.get() == option);
                            let pick = move |()| pick.run(option);
                            view! {
                                <Radio on pick=Callback::new(pick)>
                                    {words}
                                </Radio>
                            }
                        })
                        .collect_view()
                }}
            </span>
        </span>
    }
}
