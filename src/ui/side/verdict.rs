//! The verdict, said to screen readers when it changes.

use crate::scene::side::text::Sentence;
use crate::scene::side::verdict::{counts, verdict};
use crate::ui::state::{Form, use_app};
use leptos::prelude::*;

/// What failed and what it costs, in one sentence.
#[component]
pub fn VerdictLine() -> impl IntoView {
    let app = use_app();
    let said = Memo::new(move |_| {
        let counts = counts(&app.job.read());
        verdict(
            counts,
            &app.evaluation.read(),
            app.form.get() == Form::Phone,
        )
    });
    view! {
        <div class="verdict">
            <p>
                {move || runs(&said.read().what)} <br />
                {move || runs(&said.read().cost)}
            </p>
        </div>
    }
}

/// A sentence with its bold runs.
pub fn runs(sentence: &Sentence) -> impl IntoView + use<> {
    sentence
        .0
        .iter()
        .map(|run| {
            if run.bold {
                view! { <b>{run.text.clone()}</b> }.into_any()
            } else {
                view! { {run.text.clone()} }.into_any()
            }
        })
        .collect_view()
}
