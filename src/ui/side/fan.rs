//! The shards fan: which ranks of a healthy replica send gradients to which.

use super::measure::use_width;
use crate::scene::side::fan::{Fan, fan};
use crate::ui::state::use_app;
use leptos::html;
use leptos::prelude::*;

const HEIGHT: f64 = 48.0;

/// Extra ranks over core ranks; plays when the degree changes.
#[component]
pub fn ShardsFan() -> impl IntoView {
    let app = use_app();
    let element = NodeRef::<html::Div>::new();
    let width = use_width(element);
    // Degree of a healthy replica, and the lowest one that it must sync with.
    let degrees = Memo::new(move |_| {
        let healthy = app.job.read().placement.tp;
        let evaluation = app.evaluation.read();
        let lowest = evaluation
            .get(app.selected.get())
            .filter(|outcome| !outcome.paused)
            .and_then(|outcome| {
                let running = outcome.replicas.iter().filter(|replica| replica.local_batch > 0);
                running.flat_map(|replica| &replica.degrees).copied().filter(|degree| *degree > 0).min()
            });
        (healthy, lowest.unwrap_or(healthy).min(healthy))
    });
    let drawn = Memo::new(move |_| {
        let (healthy, lowest) = degrees.get();
        fan(healthy, lowest, width.get(), HEIGHT, |_, _| true)
    });
    view! {
        <div class="fan" node_ref=element>
            <p class="fh">
                <b>"Shards "</b>
                <span class="m">{move || words(degrees.get())}</span>
            </p>
            {move || picture(&drawn.read(), degrees.get())}
        </div>
    }
}

fn words((healthy, lowest): (u32, u32)) -> String {
    match healthy.saturating_sub(lowest) {
        0 => format!("all {healthy} ranks of every replica keep their own"),
        1 => format!("in healthy replicas, rank {lowest} sends its gradients to {lowest} core ranks"),
        _ => format!("in healthy replicas, ranks {lowest} to {} send their gradients to {lowest} core ranks", healthy - 1),
    }
}

fn picture(fan: &Fan, degrees: (u32, u32)) -> impl IntoView + use<> {
    let curves = fan
        .curves
        .iter()
        .map(|curve| view! { <path d=curve.path.clone() pathLength="100" style=format!("--i:{}", curve.core) /> })
        .collect_view();
    view! {
        <svg width="100%" height=HEIGHT.to_string() role="img" aria-label=words(degrees)>
            <path d=fan.core_top.clone() fill="var(--st-healthy)" />
            <path d=fan.extra_top.clone() fill="url(#p-pre)" />
            <g class="curves">{curves}</g>
            <path d=fan.core_bottom.clone() fill="var(--st-healthy)" />
        </svg>
    }
}
