//! What a change looks like while it happens: tiles flash, ranks cross-fade, clocks count.
//!
//! Every piece is an animation of the browser's on one element, so a new change simply starts from what is shown.

use super::stage::{Change, Moved, Stage, Tile};
use crate::core::strategy::GpuState;
use crate::scene::rack::words;
use js_sys::{Array, Object, Reflect};
use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsValue;
use web_sys::HtmlElement;

/// How long clocks count, ms.
const COUNT: f64 = 300.0;
/// The one curve of the page.
const EASE: &str = "cubic-bezier(.2,.7,.2,1)";

/// Animates what a change moved. `still`: no movement, an outline instead.
pub fn play(stage: &Stage, change: &Change, still: bool) {
    let tile = |moved: &Moved| stage.tile((moved.domain, moved.gpu));
    for moved in &change.moved {
        let Some(tile) = tile(moved) else { continue };
        if still {
            if moved.old.state != moved.new.state {
                let ring = "2px solid var(--ink)";
                animate(
                    &tile.cell,
                    &[("outline", &[ring, ring, "2px solid transparent"])],
                    1000.0,
                    0.0,
                );
            }
            continue;
        }
        if moved.old.state != moved.new.state {
            match moved.new.state {
                GpuState::Failed | GpuState::Restarting => {
                    animate(
                        &tile.cell,
                        &[
                            ("filter", &["brightness(1.7)", "none"]),
                            ("scale", &[".9", "1"]),
                        ],
                        120.0,
                        0.0,
                    );
                }
                GpuState::Parity => {
                    animate(
                        &tile.cell,
                        &[("translate", &["10px 0", "0 0"]), ("opacity", &["0", "1"])],
                        250.0,
                        150.0,
                    );
                }
                _ => {}
            }
        }
        if moved.old.tp_rank != moved.new.tp_rank && moved.new.tp_rank.is_some() {
            animate(&tile.rank, &[("opacity", &["0", "1"])], 150.0, 0.0);
        }
    }
    if !still {
        count(stage, change);
    }
}

/// Clocks that rise or fall together count together.
fn count(stage: &Stage, change: &Change) {
    let Some(plan) = &stage.plan else { return };
    let ticking: Vec<(HtmlElement, Moved)> = change
        .moved
        .iter()
        .filter(|moved| {
            moved.new.tp_rank.is_some()
                && moved.old.tp_rank.is_some()
                && moved.old.perf != moved.new.perf
        })
        .filter_map(|moved| {
            Some((
                stage
                    .tile((moved.domain, moved.gpu))
                    .map(|tile: &Tile| tile.clock.clone())?,
                *moved,
            ))
        })
        .collect();
    if ticking.is_empty() {
        return;
    }
    // The text that the patch wrote; an element whose text is no longer what we wrote last belongs to a newer change.
    let gpu = plan.gpu.clone();
    let wrote: Vec<String> = ticking
        .iter()
        .map(|(_, moved)| words::clock(&gpu, &moved.new))
        .collect();
    tick(ticking, gpu, wrote, None);
}

fn tick(
    ticking: Vec<(HtmlElement, Moved)>,
    gpu: crate::core::hardware::Gpu,
    mut wrote: Vec<String>,
    start: Option<f64>,
) {
    request_animation_frame(move || {
        let now = js_sys::Date::now();
        let start = start.unwrap_or(now);
        let part = ((now - start) / COUNT).clamp(0.0, 1.0);
        // Ease out, as everything else.
        let eased = 1.0 - (1.0 - part).powi(3);
        for ((element, moved), wrote) in ticking.iter().zip(&mut wrote) {
            if element.text_content().as_deref() != Some(wrote.as_str()) {
                continue;
            }
            let perf = moved.old.perf + (moved.new.perf - moved.old.perf) * eased;
            let text = words::clock(&gpu, &crate::core::strategy::GpuView { perf, ..moved.new });
            if text != *wrote {
                element.set_text_content(Some(&text));
                *wrote = text;
            }
        }
        if part < 1.0 {
            tick(ticking, gpu, wrote, Some(start));
        }
    });
}

/// Starts an animation of some properties, each from its first to its last value.
pub fn animate(element: &HtmlElement, properties: &[(&str, &[&str])], duration: f64, delay: f64) {
    let frames = Object::new();
    for (name, values) in properties {
        let list: Array = values
            .iter()
            .map(|value| JsValue::from_str(value))
            .collect();
        // Setting a property of a plain object cannot fail.
        let _ = Reflect::set(&frames, &JsValue::from_str(name), &list);
    }
    let timing = Object::new();
    for (name, value) in [
        ("duration", JsValue::from_f64(duration)),
        ("delay", JsValue::from_f64(delay)),
        ("easing", JsValue::from_str(EASE)),
        ("fill", JsValue::from_str("backwards")),
    ] {
        let _ = Reflect::set(&timing, &JsValue::from_str(name), &value);
    }
    // web-sys knows the options of animate() only as a number, so the method is called by name.
    let Ok(method) = Reflect::get(element, &JsValue::from_str("animate")) else {
        return;
    };
    if let Ok(method) = wasm_bindgen::JsCast::dyn_into::<js_sys::Function>(method) {
        let _ = method.call2(element, &frames, &timing);
    }
}
