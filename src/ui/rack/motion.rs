//! What a change looks like once it is painted: what moves is drawn on the sheet over the racks, clocks count.

use super::sheet;
pub use super::sheet::hold;
use super::stage::{Moved, Stage};
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

/// The racks, as later moments find them.
type Kept = StoredValue<Stage, LocalStorage>;

/// Plays what a change moved in view. `still`: no movement, an outline instead.
pub fn play(scroller: &HtmlElement, stage: Kept, change: &[Moved], still: bool) {
    let gpu = stage.try_with_value(|stage| {
        sheet::play(scroller, stage, change, still);
        stage.plan.as_ref().map(|plan| plan.gpu.clone())
    });
    if let (false, Some(Some(gpu))) = (still, gpu) {
        count(stage, &gpu, change);
    }
}

/// Clocks that rise or fall together count together.
fn count(stage: Kept, gpu: &Gpu, change: &[Moved]) {
    let counts = |moved: &&Moved| {
        moved.new.tp_rank.is_some()
            && moved.old.tp_rank.is_some()
            && words::clock(gpu, &moved.old) != words::clock(gpu, &moved.new)
    };
    let ticking: Vec<Moved> = change.iter().filter(counts).copied().collect();
    if !ticking.is_empty() {
        tick(stage, ticking, 0);
    }
}

fn tick(stage: Kept, mut ticking: Vec<Moved>, beat: usize) {
    let Some(part) = COUNT.get(beat) else { return };
    let shown = stage.try_update_value(|stage| {
        // What changed again belongs to a newer change.
        ticking.retain(|moved| stage.gpu((moved.domain, moved.gpu)) == Some(moved.new));
        for domain in ticking.chunk_by(|a, b| a.domain == b.domain) {
            let tiles: Vec<(u32, GpuView)> = domain
                .iter()
                .map(|moved| {
                    let (old, new) = (moved.old.perf, moved.new.perf);
                    let perf = old + (new - old) * part;
                    (moved.gpu, GpuView { perf, ..moved.new })
                })
                .collect();
            if let Some(first) = domain.first() {
                stage.pretend(first.domain, &tiles);
            }
        }
    });
    if shown.is_some() && !ticking.is_empty() {
        set_timeout(
            move || tick(stage, ticking, beat + 1),
            Duration::from_millis(BEAT),
        );
    }
}
