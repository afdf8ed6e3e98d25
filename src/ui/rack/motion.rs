//! What a change looks like once it is painted: what moves is drawn on the sheet over the racks, clocks count.

use super::sheet;
use super::stage::{Change, Moved, Stage};
use crate::core::hardware::Gpu;
use crate::core::strategy::GpuView;
use crate::scene::rack::words;
use leptos::prelude::*;
use std::time::Duration;
use web_sys::HtmlElement;

/// Shares of the way from the old clock to the new one, eased out, one every [`BEAT`].
const COUNT: [f64; 4] = [0.4, 0.75, 0.95, 1.0];
/// From one number to the next, ms: four of them take 300 ms.
const BEAT: u64 = 75;

/// Plays what a change moved in view. `still`: no movement, an outline instead.
pub fn play(
    scroller: &HtmlElement,
    stage: StoredValue<Stage, LocalStorage>,
    change: &Change,
    still: bool,
) {
    stage.try_with_value(|stage| {
        sheet::play(scroller, stage, change, still);
        if !still {
            count(stage, change);
        }
    });
}

/// A clock that counts.
struct Ticking {
    element: HtmlElement,
    moved: Moved,
    /// What was written last; other text belongs to a newer change.
    wrote: String,
}

/// Clocks that rise or fall together count together.
fn count(stage: &Stage, change: &Change) {
    let Some(plan) = &stage.plan else { return };
    let counts = |moved: &&Moved| {
        moved.new.tp_rank.is_some()
            && moved.old.tp_rank.is_some()
            && moved.old.perf != moved.new.perf
    };
    let ticking: Vec<Ticking> = change
        .moved
        .iter()
        .filter(counts)
        .filter_map(|moved| {
            Some(Ticking {
                element: stage.tile((moved.domain, moved.gpu))?.clock.clone(),
                moved: *moved,
                wrote: words::clock(&plan.gpu, &moved.new),
            })
        })
        .collect();
    if !ticking.is_empty() {
        tick(ticking, plan.gpu.clone(), 0);
    }
}

fn tick(mut ticking: Vec<Ticking>, gpu: Gpu, beat: usize) {
    let Some(part) = COUNT.get(beat) else { return };
    for one in &mut ticking {
        if one.element.text_content().as_deref() != Some(one.wrote.as_str()) {
            continue;
        }
        let Moved { old, new, .. } = one.moved;
        let perf = old.perf + (new.perf - old.perf) * part;
        let text = words::clock(&gpu, &GpuView { perf, ..new });
        if text != one.wrote {
            one.element.set_text_content(Some(&text));
            one.wrote = text;
        }
    }
    set_timeout(
        move || tick(ticking, gpu, beat + 1),
        Duration::from_millis(BEAT),
    );
}
