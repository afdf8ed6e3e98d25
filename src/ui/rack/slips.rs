//! Shards on the move: in every visible healthy rack, blue slips leave the bars of the extra ranks, arc over the switch
//! trays and land on the bars of the core ranks; a repair plays it backwards.

use super::stage::{Change, Stage};
use crate::ui::dom;
use leptos::prelude::*;
use std::cell::Cell;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

/// Flight of one slip, ms.
const FLIGHT: f64 = 420.0;
/// From one rank to the next, ms.
const STAGGER: f64 = 4.0;
/// Most slips of one play.
const MOST: usize = 1200;

thread_local! {
    /// The play that may draw; an older one stops at its next frame.
    static PLAY: Cell<u32> = const { Cell::new(0) };
}

struct Slip {
    from: (f64, f64),
    to: (f64, f64),
    over: f64,
    delay: f64,
}

/// Plays the shards that a change moves.
pub fn play(
    scroller: &HtmlElement,
    stage: StoredValue<Stage, LocalStorage>,
    change: &Change,
    still: bool,
) {
    let starts = |old: bool, new: bool| {
        change
            .moved
            .iter()
            .any(|moved| (moved.old.sends_gradients, moved.new.sends_gradients) == (old, new))
    };
    let (forth, back) = (starts(false, true), starts(true, false));
    if still || !(forth || back) {
        return;
    }
    let slips = stage.with_value(|stage| slips(scroller, stage, change, forth));
    if slips.is_empty() {
        return;
    }
    let number = PLAY.get().wrapping_add(1);
    PLAY.set(number);
    let Some(canvas) = sheet(scroller) else {
        return;
    };
    let (wide, high) = (
        f64::from(scroller.client_width()),
        f64::from(scroller.client_height()),
    );
    dom::style(
        &canvas,
        "transform",
        &format!("translateY({}px)", scroller.scroll_top()),
    );
    let colour = dom::window()
        .and_then(|w| w.get_computed_style(&canvas).ok().flatten())
        .and_then(|style| style.get_property_value("--k-pre").ok())
        .unwrap_or_default();
    let Some(pen) = dom::canvas(&canvas, wide, high) else {
        return;
    };
    pen.set_fill_style_str(colour.trim());
    fly(canvas, pen, slips, (wide, high), !forth, number, None);
}

fn fly(
    canvas: HtmlCanvasElement,
    pen: CanvasRenderingContext2d,
    slips: Vec<Slip>,
    size: (f64, f64),
    backwards: bool,
    number: u32,
    start: Option<f64>,
) {
    request_animation_frame(move || {
        if PLAY.get() != number {
            return;
        }
        let now = js_sys::Date::now();
        let start = start.unwrap_or(now);
        pen.clear_rect(0.0, 0.0, size.0, size.1);
        let mut flying = false;
        for slip in &slips {
            let part = (now - start - slip.delay) / FLIGHT;
            flying |= part < 1.0;
            if !(0.0..1.0).contains(&part) {
                continue;
            }
            let eased = 1.0 - (1.0 - part).powi(3);
            let t = if backwards { 1.0 - eased } else { eased };
            // A quadratic curve whose middle hangs over the switch trays.
            let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
            let middle = (f64::midpoint(slip.from.0, slip.to.0), slip.over);
            let x = a * slip.from.0 + b * middle.0 + c * slip.to.0;
            let y = a * slip.from.1 + b * middle.1 + c * slip.to.1;
            pen.fill_rect(x - 2.5, y - 1.0, 5.0, 2.0);
        }
        if flying {
            fly(canvas, pen, slips, size, backwards, number, Some(start));
        } else {
            canvas.remove();
        }
    });
}

/// Where slips start and land, in the scrolling box, for every healthy rack in view.
fn slips(scroller: &HtmlElement, stage: &Stage, change: &Change, forth: bool) -> Vec<Slip> {
    let Some(plan) = &stage.plan else {
        return Vec::new();
    };
    let frame = scroller.get_bounding_client_rect();
    let zoom = match f64::from(scroller.offset_width()) {
        wide if wide > 0.0 => frame.width() / wide,
        _ => 1.0,
    };
    let mut all = Vec::new();
    for domain in &stage.domains {
        let rect = domain.cabinet.get_bounding_client_rect();
        if rect.bottom() < frame.top() || rect.top() > frame.bottom() {
            continue;
        }
        // Extra ranks now, or before a repair.
        let extra: Vec<u32> = change
            .moved
            .iter()
            .filter(|moved| moved.domain == domain.index)
            .filter(|moved| {
                if forth {
                    moved.new.sends_gradients
                } else {
                    moved.old.sends_gradients && !moved.new.sends_gradients
                }
            })
            .map(|moved| moved.gpu)
            .collect();
        if extra.is_empty() {
            continue;
        }
        let bar = |gpu: u32| {
            let tile = domain
                .tiles
                .get(gpu as usize)?
                .cell
                .get_bounding_client_rect();
            let (x, y) = (
                tile.left() + tile.width() / 2.0 - frame.left(),
                tile.bottom() - 3.0 - frame.top(),
            );
            Some((x / zoom, y / zoom))
        };
        let switches = domain
            .cabinet
            .query_selector(".sws")
            .ok()
            .flatten()
            .map(|e| e.get_bounding_client_rect());
        let over = switches.map_or(rect.top() + rect.height() / 2.0, |r| {
            r.top() + r.height() / 2.0
        });
        let over = (over - frame.top()) / zoom;
        let tp = plan.tp.max(1);
        for (order, gpu) in extra.iter().enumerate() {
            let Some(from) = bar(*gpu) else { continue };
            let slot = gpu / tp * tp;
            let core = (slot..(slot + tp).min(plan.shape.gpus)).filter(|to| !extra.contains(to));
            for (rank, to) in core.enumerate() {
                if let Some(to) = bar(to) {
                    let delay = (rank + order) as f64 * STAGGER;
                    all.push(Slip {
                        from,
                        to,
                        over,
                        delay,
                    });
                }
            }
        }
        if all.len() > MOST {
            break;
        }
    }
    all
}

/// The canvas over the racks, made when it is needed.
fn sheet(scroller: &HtmlElement) -> Option<HtmlCanvasElement> {
    if let Some(old) = scroller.query_selector(".slips").ok().flatten() {
        return old.dyn_into().ok();
    }
    let canvas: HtmlCanvasElement = dom::document()?
        .create_element("canvas")
        .ok()?
        .dyn_into()
        .ok()?;
    canvas.set_class_name("slips");
    let _ = canvas.set_attribute("aria-hidden", "true");
    scroller.append_child(&canvas).ok()?;
    Some(canvas)
}
