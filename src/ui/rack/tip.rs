//! The dark tip beside a tile: who, state, load, then the verb.

use super::View;
use super::input::verb;
use crate::core::scenario::{FailureKind, Job};
use crate::core::strategy::{GpuState, GpuView, Outcome};
use crate::scene::rack::{pick, words};
use crate::scene::side::number::{fixed, percent, score};
use crate::ui::dom;
use crate::ui::state::use_app;
use leptos::html::{Div, Section};
use leptos::prelude::*;
use std::ops::Range;

/// Room that the tip needs right of a tile, CSS px.
const WIDE: f64 = 330.0;

/// The tip of the GPU under the pointer or the focus.
#[component]
pub fn Tip(
    /// What it is placed in.
    within: NodeRef<Section>,
) -> impl IntoView {
    let app = use_app();
    let view = expect_context::<View>();
    let node = NodeRef::<Div>::new();
    let about = Memo::new(move |_| {
        let at = app.hover.get()?;
        let gpu = app
            .views
            .read()
            .get(at.0 as usize)?
            .gpus
            .get(at.1 as usize)
            .copied()?;
        let job = app.job.read();
        let radius = job.scenario.policy.blast_radius;
        let size = job.system.domain_size;
        let mut verb = verb(&job, at).to_owned();
        let takes = pick::blast(at.1, radius, size);
        if verb.ends_with("fail") && takes.len() > 1 {
            verb = format!(
                "Click to fail GPUs {} to {}",
                takes.start,
                takes.end.saturating_sub(1)
            );
        }
        let choice = app
            .evaluation
            .read()
            .get(app.selected.get())
            .and_then(|outcome| weighed(&job, at, outcome));
        let slot = slot_of(&job, at.1);
        let held = app
            .views
            .read()
            .get(at.0 as usize)
            .and_then(|view| view.gpus.get(slot))
            .and_then(words::pace)
            .filter(|_| gpu.tp_rank.is_some());
        let mut detail = detail(&job, at, &gpu);
        if let Some(pace) = held {
            detail = if gpu.state == GpuState::Slow {
                format!("{detail}; its TP group goes at its pace")
            } else {
                format!(
                    "{detail}; its TP group is held to {} by a slow GPU",
                    percent(pace, 0)
                )
            };
        }
        if let Some(choice) = choice {
            detail = format!("{detail}. {choice}");
        }
        Some((format!("D{} GPU {}", at.0, at.1), state(&gpu), detail, verb))
    });
    // The view that set the hover also patched the tiles, so the tile's place is final by the next tick.
    Effect::new(move |_| {
        let (Some(tip), Some(frame), at) = (node.get(), within.get(), app.hover.get()) else {
            return;
        };
        let open = view.menu.read().is_some();
        let tile = at
            .filter(|_| !open)
            .and_then(|at| view.stage.with_value(|stage| stage.cell(at).cloned()));
        let Some(tile) = tile else {
            dom::style(&tip, "display", "none");
            return;
        };
        let (outer, inner) = (
            frame.get_bounding_client_rect(),
            tile.get_bounding_client_rect(),
        );
        let zoom = if frame.offset_width() > 0 {
            outer.width() / f64::from(frame.offset_width())
        } else {
            1.0
        };
        let right = (inner.right() - outer.left()) / zoom + 12.0;
        let top = (inner.top() - outer.top()) / zoom - 12.0;
        let flip = right + WIDE > outer.width() / zoom;
        let style = if flip {
            let from = (outer.right() - inner.left()) / zoom + 12.0;
            format!("display:block;left:auto;right:{from:.1}px;top:{top:.1}px")
        } else {
            format!("display:block;right:auto;left:{right:.1}px;top:{top:.1}px")
        };
        let _ = tip.set_attribute("style", &style);
        let _ = tip.class_list().toggle_with_force("flip", flip);
    });
    let part = move |pick: fn(&(String, String, String, String)) -> &String| {
        move || {
            about
                .read()
                .as_ref()
                .map(|about| pick(about).clone())
                .unwrap_or_default()
        }
    };
    view! {
        <div class="tip" node_ref=node style="display:none" aria-hidden="true">
            <b>{part(|about| &about.0)}</b>
            " "
            {part(|about| &about.1)}
            <div class="q">{part(|about| &about.2)}</div>
            <b>{part(|about| &about.3)}</b>
        </div>
    }
}

/// GPUs of the slot that a GPU is in.
fn slot_of(job: &Job, gpu: u32) -> Range<usize> {
    let tp = job.placement.tp.max(1);
    let first = (gpu / tp).saturating_mul(tp) as usize;
    first
        ..first
            .saturating_add(tp as usize)
            .min(job.placement.domain_size as usize)
}

/// What keeping or benching the slow GPU of this slot would give.
fn weighed(job: &Job, (domain, gpu): (u32, u32), outcome: &Outcome) -> Option<String> {
    let placement = &job.placement;
    let slot = domain
        .saturating_mul(placement.slots_per_domain)
        .saturating_add(gpu / placement.tp.max(1));
    let slow = job.scenario.failures.iter().any(|failure| {
        failure.kind == FailureKind::Slow && (failure.domain, failure.gpu) == (domain, gpu)
    });
    let choice = outcome
        .slow
        .iter()
        .find(|choice| slow && choice.slot == slot)?;
    let (kept, benched) = (score(choice.kept, 3), score(choice.benched, 3));
    Some(if choice.bench {
        format!("Benched: {benched} of healthy throughput against {kept} with it")
    } else {
        format!("Kept: {kept} of healthy throughput against {benched} without it")
    })
}

fn state(gpu: &GpuView) -> String {
    match gpu.tp_rank {
        Some(rank) => format!("{}, TP rank {rank}", gpu.state.words()),
        None => gpu.state.words().to_owned(),
    }
}

fn detail(job: &Job, at: (u32, u32), gpu: &GpuView) -> String {
    let failure = job.scenario.failures.iter().find(|failure| {
        pick::covers(
            failure,
            &job.scenario.policy,
            job.system.domain_size,
            at.0,
            at.1,
        )
    });
    match gpu.state {
        GpuState::Failed => match failure
            .map(|failure| pick::reach(failure, &job.scenario.policy, job.system.domain_size))
        {
            Some(reach) if reach.len() > 1 => format!(
                "went down with GPUs {} to {}",
                reach.start,
                reach.end.saturating_sub(1)
            ),
            _ => "hardware, until repaired".into(),
        },
        GpuState::Restarting => "software, back after the restart".into(),
        GpuState::Parity => {
            "healthy, benched so that all reduced replicas share a TP degree".into()
        }
        GpuState::Idle => match failure {
            Some(failure) if failure.kind == FailureKind::Slow => {
                format!("runs at {} of full speed", percent(failure.speed, 0))
            }
            _ => "healthy, its replica does not run".into(),
        },
        GpuState::Spare => "stands by for a failed one".into(),
        GpuState::LeftOver => "outside the layout".into(),
        GpuState::Healthy | GpuState::Slow | GpuState::Boosted => {
            let clock = match job.system.gpu.clock(gpu.perf) {
                Some(clock) => format!("{} MHz", fixed(clock.get(), 0)),
                None => format!("{} × base clock", fixed(gpu.perf, 3)),
            };
            let load = match gpu.load {
                1.0 => "a healthy rank's share".into(),
                load => format!("{} × a healthy rank's share", fixed(load, 3)),
            };
            let sends = if gpu.sends_gradients {
                ", sends its gradients to the core ranks"
            } else {
                ""
            };
            format!("{load}, {clock}{sends}")
        }
    }
}
