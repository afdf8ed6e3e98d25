//! "What does each lost GPU cost me?"

use crate::scene::side::lost::{LostRow, lost};
use crate::scene::side::why::Explanation;
use crate::ui::dom::columns;
use crate::ui::state::use_app;
use crate::ui::why::Why;
use leptos::prelude::*;

/// Batch without boost and power with it, by GPUs lost in a TP group.
#[component]
pub fn LostGpus() -> impl IntoView {
    let app = use_app();
    // The table does not depend on what has failed: follow the rest of the scenario only.
    let key = app.part(|scenario| {
        let mut bare = scenario.clone();
        bare.failures.clear();
        bare
    });
    let rows = Memo::new(move |_| {
        key.track();
        lost(&app.job.read_untracked())
    });
    let heading = move || {
        let job = app.job.read();
        format!(
            "One TP group of {}, {} on {}",
            job.placement.tp, job.model.name, job.system.name
        )
    };
    view! {
        <p class="ph2">
            <b>"What does each lost GPU cost? "</b>
            <span class="m">{heading}</span>
        </p>
        <table class="tt">
            <thead>
                <tr>
                    {columns(&[
                        "lost", "TP", "batch, no boost", "or power × TDP", "clock", "energy a token",
                    ])}
                </tr>
            </thead>
            <tbody>{move || rows.read().iter().map(row).collect_view()}</tbody>
        </table>
        <p class="s m">"Without a boost the local batch shrinks; with it, survivors draw the power shown at the full batch."</p>
    }
}

fn row(row: &LostRow) -> impl IntoView + use<> {
    let [batch, power, clock, energy] = row.why.clone();
    let cell = |text: &str, why: Explanation| {
        let text = text.to_owned();
        let explain = Callback::new(move |()| why.clone());
        view! { <td><Why text explain /></td> }
    };
    let title = (!row.supported).then_some("Not among the supported degrees of the scenario");
    view! {
        <tr class:off=!row.supported title=title>
            <th scope="row">{row.lost}</th>
            <td>{row.degree}</td>
            {cell(&row.batch, batch)}
            {cell(&row.power, power)}
            {cell(&row.clock, clock)}
            {cell(&row.energy, energy)}
        </tr>
    }
}
