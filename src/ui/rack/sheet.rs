//! The sheet over the racks: one canvas that everything which moves is drawn on, so that a change costs the browser one layer
//! and not one a tile.
//!
//! Failed tiles flash while their × draws in, changed tiles fade from what they showed, the outline of tiles idle for parity
//! slides on, and shards fly: blue slips leave the bars of the extra ranks, arc over the switch trays and land on the bars of
//! the core ranks; a repair plays that backwards. A new change starts a new play from what is shown.

use super::stage::{Domain, Moved, Stage};
use crate::core::strategy::GpuState;
use crate::scene::rack::face::ground;
use crate::scene::rect::Rect;
use crate::ui::dom;
use leptos::prelude::*;
use std::cell::Cell;
use std::time::Duration;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

/// The × draws in, ms.
const CROSS: f64 = 120.0;
/// Tiles fade from their old look, ms.
const FADE: f64 = 150.0;
/// The outline of a tile idle for parity slides on, ms, after a rest.
const SLIDE: (f64, f64) = (250.0, 150.0);
/// Flight of one slip, ms.
const FLIGHT: f64 = 420.0;
/// From one rank to the next, ms.
const STAGGER: f64 = 4.0;
/// Most slips of one play.
const MOST: usize = 1200;
/// How long what changed stays outlined where nothing may move.
const OUTLINE: Duration = Duration::from_secs(1);

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

/// What one change moves, in CSS px of the scrolling box.
#[derive(Default)]
struct Play {
    /// Tiles that fade from a colour.
    fades: Vec<(Rect, String)>,
    crosses: Vec<Rect>,
    slides: Vec<Rect>,
    slips: Vec<Slip>,
    backwards: bool,
    /// Colours of flash, sliding outline and slips.
    flash: String,
    parity: String,
    slip: String,
}

/// Where elements are in the scrolling box.
struct Frame {
    left: f64,
    top: f64,
    zoom: f64,
    wide: f64,
    high: f64,
}

impl Frame {
    fn of(scroller: &HtmlElement) -> Self {
        let rect = scroller.get_bounding_client_rect();
        let zoom = dom::zoom();
        Self {
            left: rect.left(),
            top: rect.top(),
            zoom,
            wide: rect.width() / zoom,
            high: rect.height() / zoom,
        }
    }

    fn place(&self, element: &web_sys::Element) -> Rect {
        let rect = element.get_bounding_client_rect();
        Rect {
            x: (rect.left() - self.left) / self.zoom,
            y: (rect.top() - self.top) / self.zoom,
            w: rect.width() / self.zoom,
            h: rect.height() / self.zoom,
        }
    }

    fn shows(&self, rect: &Rect) -> bool {
        rect.y + rect.h > 0.0 && rect.y < self.high
    }
}

/// Stops what plays where it is, so that the frame which answers a click draws nothing else; [`play`] goes on from there.
pub fn hold() {
    PLAY.set(PLAY.get().wrapping_add(1));
}

/// Plays what a change moved in view; `still`: outlines it for a second instead.
pub fn play(scroller: &HtmlElement, stage: &Stage, change: &[Moved], still: bool) {
    let frame = Frame::of(scroller);
    let moved: Vec<(&Moved, Rect)> = change
        .iter()
        .filter_map(|moved| Some((moved, stage.cell((moved.domain, moved.gpu))?)))
        .map(|(moved, cell)| (moved, frame.place(cell)))
        .filter(|(_, rect)| frame.shows(rect))
        .collect();
    hold();
    if moved.is_empty() {
        if let Some(old) = dom::find(scroller, ".moving") {
            old.remove();
        }
        return;
    }
    let number = PLAY.get();
    let Some((canvas, pen)) = sheet(scroller, &frame) else {
        return;
    };
    let ink = dom::Tokens::read();
    if still {
        pen.set_stroke_style_str(&ink.get("--ink"));
        pen.set_line_width(2.0);
        let states = moved
            .iter()
            .filter(|(moved, _)| moved.old.state != moved.new.state);
        for (_, rect) in states {
            pen.stroke_rect(rect.x - 2.0, rect.y - 2.0, rect.w + 4.0, rect.h + 4.0);
        }
        tell(&canvas, &["outline"]);
        set_timeout(
            move || {
                if PLAY.get() == number {
                    canvas.remove();
                }
            },
            OUTLINE,
        );
        return;
    }
    let mut play = Play {
        flash: ink.get("--st-failed-ink"),
        parity: ink.get("--st-parity"),
        slip: ink.get("--k-pre"),
        ..Play::default()
    };
    for (moved, rect) in moved {
        match moved.new.state {
            GpuState::Failed | GpuState::Restarting if moved.old.state != moved.new.state => {
                play.crosses.push(rect);
            }
            GpuState::Parity if moved.old.state != moved.new.state => play.slides.push(rect),
            _ => play.fades.push((rect, ink.get(ground(moved.old.state)))),
        }
    }
    let starts = |old: bool, new: bool| {
        let turned =
            |moved: &Moved| (moved.old.sends_gradients, moved.new.sends_gradients) == (old, new);
        change.iter().any(turned)
    };
    let (forth, back) = (starts(false, true), starts(true, false));
    if forth || back {
        play.slips = slips(&frame, stage, change, forth);
        play.backwards = !forth;
    }
    let parts = [
        ("fade", play.fades.is_empty()),
        ("cross", play.crosses.is_empty()),
        ("slide", play.slides.is_empty()),
        ("slips", play.slips.is_empty()),
    ];
    let names: Vec<&str> = parts
        .iter()
        .filter(|(_, none)| !none)
        .map(|(name, _)| *name)
        .collect();
    tell(&canvas, &names);
    run(
        canvas,
        pen,
        play,
        (frame.wide, frame.high),
        number,
        dom::now_ms(),
    );
}

/// Says on the sheet what it plays.
fn tell(canvas: &HtmlCanvasElement, names: &[&str]) {
    // Fails for no valid name.
    let _ = canvas.set_attribute("data-plays", &names.join(" "));
}

/// How far something is at a time after its start, eased out; none before it starts or once it is over.
fn part(time: f64, duration: f64) -> Option<f64> {
    let part = time / duration;
    (0.0..1.0)
        .contains(&part)
        .then(|| 1.0 - (1.0 - part).powi(3))
}

fn run(
    canvas: HtmlCanvasElement,
    pen: CanvasRenderingContext2d,
    play: Play,
    size: (f64, f64),
    number: u32,
    start: f64,
) {
    request_animation_frame(move || {
        if PLAY.get() != number {
            return;
        }
        let time = dom::now_ms() - start;
        pen.clear_rect(0.0, 0.0, size.0, size.1);
        if play.draw(&pen, time) {
            run(canvas, pen, play, size, number, start);
        } else {
            canvas.remove();
        }
    });
}

impl Play {
    /// Draws a moment; false once nothing moves any more.
    fn draw(&self, pen: &CanvasRenderingContext2d, time: f64) -> bool {
        let mut last = 0.0_f64;
        if !self.fades.is_empty() {
            last = last.max(FADE);
            if let Some(part) = part(time, FADE) {
                pen.set_global_alpha(0.85 * (1.0 - part));
                let mut set = "";
                for (rect, colour) in &self.fades {
                    if set != colour {
                        pen.set_fill_style_str(colour);
                        set = colour;
                    }
                    pen.fill_rect(rect.x, rect.y, rect.w, rect.h);
                }
                pen.set_global_alpha(1.0);
            }
        }
        if !self.crosses.is_empty() {
            last = last.max(CROSS);
            if let Some(part) = part(time, CROSS) {
                pen.set_fill_style_str(&self.flash);
                for rect in &self.crosses {
                    // Bright at first, then what covers the × shrinks away from its start.
                    pen.set_global_alpha(0.7 * (1.0 - part));
                    pen.fill_rect(
                        rect.x + rect.w * part,
                        rect.y,
                        rect.w * (1.0 - part),
                        rect.h,
                    );
                }
                pen.set_global_alpha(1.0);
            }
        }
        if !self.slides.is_empty() {
            last = last.max(SLIDE.0 + SLIDE.1);
            if let Some(part) = part((time - SLIDE.1).max(0.0), SLIDE.0) {
                pen.set_stroke_style_str(&self.parity);
                pen.set_line_width(1.5);
                pen.set_global_alpha(1.0 - 0.5 * part);
                for rect in &self.slides {
                    let away = 10.0 * (1.0 - part);
                    pen.stroke_rect(rect.x + away, rect.y, rect.w, rect.h);
                }
                pen.set_global_alpha(1.0);
            }
        }
        pen.set_fill_style_str(&self.slip);
        for slip in &self.slips {
            last = last.max(slip.delay + FLIGHT);
            let Some(part) = part(time - slip.delay, FLIGHT) else {
                continue;
            };
            let t = if self.backwards { 1.0 - part } else { part };
            // A quadratic curve whose middle hangs over the switch trays.
            let (a, b, c) = ((1.0 - t) * (1.0 - t), 2.0 * t * (1.0 - t), t * t);
            let middle = (f64::midpoint(slip.from.0, slip.to.0), slip.over);
            let x = a * slip.from.0 + b * middle.0 + c * slip.to.0;
            let y = a * slip.from.1 + b * middle.1 + c * slip.to.1;
            pen.fill_rect(x - 2.5, y - 1.0, 5.0, 2.0);
        }
        time < last
    }
}

/// Where slips start and land, for every healthy rack in view.
fn slips(frame: &Frame, stage: &Stage, change: &[Moved], forth: bool) -> Vec<Slip> {
    let Some(plan) = &stage.plan else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for domain in &stage.domains {
        // Extra ranks now, or before a repair.
        let sends = |moved: &&Moved| {
            moved.domain == domain.index
                && if forth {
                    moved.new.sends_gradients
                } else {
                    moved.old.sends_gradients && !moved.new.sends_gradients
                }
        };
        let extra: Vec<u32> = change.iter().filter(sends).map(|moved| moved.gpu).collect();
        if extra.is_empty() {
            continue;
        }
        let cabinet = frame.place(&domain.cabinet);
        if frame.shows(&cabinet) {
            fly(
                frame,
                domain,
                &cabinet,
                &extra,
                (plan.tp.max(1), plan.shape.gpus),
                &mut all,
            );
        }
        if all.len() > MOST {
            break;
        }
    }
    all
}

/// The slips of one rack: from every extra rank to every core rank of its TP group.
fn fly(
    frame: &Frame,
    domain: &Domain,
    cabinet: &Rect,
    extra: &[u32],
    (tp, gpus): (u32, u32),
    all: &mut Vec<Slip>,
) {
    let bars: Vec<(f64, f64)> = domain
        .cells
        .iter()
        .map(|cell| frame.place(cell))
        .map(|rect| (rect.x + rect.w / 2.0, rect.y + rect.h - 3.0))
        .collect();
    let bar = |gpu: u32| bars.get(gpu as usize).copied();
    let switches = dom::find(&domain.cabinet, ".sws");
    let over = switches.map_or(*cabinet, |switches| frame.place(&switches));
    let over = over.y + over.h / 2.0;
    for (order, gpu) in extra.iter().enumerate() {
        let Some(from) = bar(*gpu) else { continue };
        let slot = gpu / tp * tp;
        let core = (slot..(slot + tp).min(gpus)).filter(|to| !extra.contains(to));
        for (rank, to) in core.enumerate() {
            if let Some(to) = bar(to) {
                all.push(Slip {
                    from,
                    to,
                    over,
                    delay: (rank + order) as f64 * STAGGER,
                });
            }
        }
    }
}

/// The canvas over the racks, made when it is needed.
fn sheet(
    scroller: &HtmlElement,
    frame: &Frame,
) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let old = dom::find(scroller, ".moving");
    let canvas = match old {
        Some(old) => old.dyn_into().ok()?,
        None => hang(scroller)?,
    };
    dom::style(
        &canvas,
        "transform",
        &format!("translateY({}px)", scroller.scroll_top()),
    );
    let pen = dom::canvas(&canvas, frame.wide, frame.high)?;
    Some((canvas, pen))
}

fn hang(scroller: &HtmlElement) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = dom::document()?
        .create_element("canvas")
        .ok()?
        .dyn_into()
        .ok()?;
    canvas.set_class_name("moving");
    let _ = canvas.set_attribute("aria-hidden", "true");
    scroller.append_child(&canvas).ok()?;
    Some(canvas)
}
