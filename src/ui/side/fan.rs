//! The shards fan: which ranks of a healthy replica send gradients to which.

use super::measure::use_width;
use crate::core::shards::{ShardMap, ShardSummary, TensorKind};
use crate::scene::side::changed::per_core;
use crate::scene::side::fan::{Fan, ROW, fan, rank_box};
use crate::ui::state::{Shared, use_app};
use leptos::html;
use leptos::prelude::*;

const HEIGHT: f64 = 41.0;

/// Extra ranks over core ranks; plays when the degree changes.
#[component]
pub fn ShardsFan(
    /// The maps between the highest and the lowest running degree.
    shards: Memo<Option<Shared<ShardSummary>>>,
) -> impl IntoView {
    let app = use_app();
    let element = NodeRef::<html::Div>::new();
    let width = use_width(element);
    let said = Memo::new(move |_| shards.read().as_deref().map(words).unwrap_or_default());
    // The map of FFN columns: the tensor kind with most shards, so the one that shows every pair of ranks.
    let map = Memo::new(move |_| {
        let shards = shards.read();
        let shards = shards.as_deref()?;
        let columns = shards.get(TensorKind::FfnColumns)?.shards;
        ShardMap::new(
            shards.tp_base,
            shards.tp_base.saturating_sub(shards.tp_reduced),
            columns,
        )
        .ok()
    });
    let drawn = Memo::new(move |_| {
        let map = map.read();
        map.as_ref().map_or_else(
            || {
                let tp = app.job.read().placement.tp;
                fan(tp, tp, width.get(), HEIGHT, |_, _| false)
            },
            |map| {
                fan(
                    map.tp_base,
                    map.tp_reduced,
                    width.get(),
                    HEIGHT,
                    |extra, core| {
                        let row = map.sends.get((map.tp_reduced + extra) as usize);
                        row.and_then(|row| row.get(core as usize))
                            .is_some_and(|count| *count > 0)
                    },
                )
            },
        )
    });
    // The GPU under the pointer, where it stands in the fan: on top in a replica that reshards, below in a reduced one.
    let pointed = Memo::new(move |_| {
        let (domain, gpu) = app.hover.get()?;
        let (views, shards) = (app.views.read(), shards.read());
        let (view, shards) = (
            views.iter().find(|view| view.index == domain)?,
            shards.as_deref()?,
        );
        let rank = view.gpus.get(gpu as usize)?.tp_rank?;
        let slot = gpu.checked_div(app.job.read().placement.tp).unwrap_or(0);
        let degree = view
            .degrees
            .get(slot as usize)
            .or(view.degrees.last())
            .copied()?;
        let (left, wide) = rank_box(shards.tp_base, rank, width.get());
        Some((
            left,
            wide,
            if degree < shards.tp_base {
                HEIGHT - ROW
            } else {
                0.0
            },
        ))
    });
    view! {
        <div class="fan" node_ref=element>
            <p class="fanh" title=said>
                <b>"Shards "</b>
                <span class="m">{said}</span>
            </p>
            <div class="fp">
                {move || picture(&drawn.read(), said.get())}
                {move || {
                    pointed
                        .get()
                        .map(|(left, wide, top)| {
                            view! { <i class="at" style=format!("left:{left:.1}px;width:{wide:.1}px;top:{top}px;height:{ROW}px")></i> }
                        })
                }}
            </div>
        </div>
    }
}

fn words(shards: &ShardSummary) -> String {
    let (full, lowest) = (shards.tp_base, shards.tp_reduced);
    let each = shards
        .get(TensorKind::FfnColumns)
        .map(|ffn| per_core(ffn.sent_per_core))
        .unwrap_or_default();
    match full.saturating_sub(lowest) {
        0 => format!("all {full} ranks of every replica keep their own"),
        1 => {
            format!("in healthy replicas, rank {lowest} sends {each} FFN columns to each core rank")
        }
        2 => format!(
            "in healthy replicas, ranks {lowest} and {} send {each} FFN columns to each core rank",
            full - 1
        ),
        _ => format!(
            "in healthy replicas, ranks {lowest} to {} send {each} FFN columns to each core rank",
            full - 1
        ),
    }
}

fn picture(fan: &Fan, label: String) -> impl IntoView + use<> {
    // One path and one wipe over it: a curve of its own for every pair of ranks would be restyled in every frame of the play.
    let curves: String = fan.curves.iter().map(|curve| curve.path.as_str()).collect();
    view! {
        <svg width="100%" height=HEIGHT.to_string() role="img" aria-label=label>
            <path d=fan.core_top.clone() fill="var(--st-healthy)" />
            <path d=fan.extra_top.clone() fill="url(#p-pre)" />
            <path class="curves" d=curves />
            <path d=fan.core_bottom.clone() fill="var(--st-healthy)" />
        </svg>
        <i class="wipe" style=format!("top:{ROW}px;height:{}px", HEIGHT - 2.0 * ROW)></i>
    }
}
