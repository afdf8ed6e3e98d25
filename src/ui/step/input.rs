//! Mouse, wheel, fingers and keys of the timeline.

use super::model::StepPanel;
use crate::scene::gantt::{Spot, Target, Window, hit, neighbour, step_through};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, MouseEvent, WheelEvent};

/// How far a pointer may move and still click, px.
const CLICK: f64 = 5.0;

/// What the pointers are doing.
#[derive(Default)]
pub struct Hand {
    /// Pointers on the canvas: id, x, y.
    down: Vec<(i32, f64, f64)>,
    drag: Option<Drag>,
    start: (f64, f64),
    moved: bool,
}

enum Drag {
    /// The plot follows the pointer.
    Pan(Window),
    /// A range grows from a time.
    Select(f64),
    /// The frame of the strip follows the pointer, held at a share of its width.
    Strip(f64),
    /// Two fingers hold two times.
    Pinch(f64, f64),
}

/// Position of an event on the canvas, CSS px of the page.
fn at(event: &MouseEvent) -> Option<(f64, f64)> {
    let canvas: HtmlElement = event.current_target()?.dyn_into().ok()?;
    let (rect, wide) = (
        canvas.get_bounding_client_rect(),
        f64::from(canvas.offset_width()),
    );
    // The page may be scaled as a whole.
    let zoom = if wide > 0.0 && rect.width() > 0.0 {
        rect.width() / wide
    } else {
        1.0
    };
    Some((
        (f64::from(event.client_x()) - rect.left()) / zoom,
        (f64::from(event.client_y()) - rect.top()) / zoom,
    ))
}

fn target(panel: &StepPanel, at: (f64, f64)) -> Target {
    let (Some(shown), Some(layout)) = (panel.shown.get_untracked(), panel.layout.get_untracked())
    else {
        return Target::Nothing;
    };
    hit(
        &shown.view,
        &layout,
        &panel.window.get_untracked(),
        panel.hidden.get_untracked(),
        shown.step(),
        at,
    )
}

/// Left edge and width of the plot.
fn plot(panel: &StepPanel) -> (f64, f64) {
    panel
        .layout
        .read_untracked()
        .as_ref()
        .map_or((0.0, 1.0), |layout| (layout.plot.x, layout.plot.w))
}

fn time_at(panel: &StepPanel, x: f64) -> f64 {
    let (left, wide) = plot(panel);
    panel.window.get_untracked().time(x - left, wide)
}

/// Pointer events.
pub mod pointer {
    use super::{CLICK, Drag, Hand, at, plot, scroll, target, time_at};
    use crate::scene::gantt::{Target, Window};
    use crate::ui::step::model::StepPanel;
    use leptos::prelude::*;
    use wasm_bindgen::JsCast;
    use web_sys::{HtmlElement, MouseEvent, PointerEvent};

    /// A button or finger goes down.
    pub fn down(panel: &StepPanel, hand: StoredValue<Hand, LocalStorage>, event: &PointerEvent) {
        let Some((x, y)) = at(event) else { return };
        if event.button() > 0 {
            return;
        }
        if let Some(canvas) = event
            .current_target()
            .and_then(|t| t.dyn_into::<HtmlElement>().ok())
        {
            // Fails only when the pointer is gone already.
            let _ = canvas.set_pointer_capture(event.pointer_id());
            let _ = canvas.focus();
        }
        let window = panel.window.get_untracked();
        hand.update_value(|hand| {
            hand.down.retain(|pointer| pointer.0 != event.pointer_id());
            hand.down.push((event.pointer_id(), x, y));
            if let [a, b] = hand.down.as_slice() {
                hand.moved = true;
                hand.drag = Some(Drag::Pinch(time_at(panel, a.1), time_at(panel, b.1)));
                return;
            }
            (hand.start, hand.moved) = ((x, y), false);
            hand.drag = match target(panel, (x, y)) {
                Target::Strip(time) => {
                    let share = (time - window.start) / window.span();
                    // Outside the frame: it comes to the pointer.
                    Some(Drag::Strip(if (0.0..=1.0).contains(&share) {
                        share
                    } else {
                        0.5
                    }))
                }
                Target::Span(_) | Target::Plot(_) if event.shift_key() => {
                    Some(Drag::Select(time_at(panel, x)))
                }
                Target::Span(_) | Target::Plot(_) => Some(Drag::Pan(window)),
                Target::Group(_) | Target::Nothing => None,
            };
            if let Some(Drag::Strip(share)) = hand.drag {
                strip(panel, x, share);
            }
        });
    }

    fn strip(panel: &StepPanel, x: f64, share: f64) {
        let (left, wide) = plot(panel);
        let step = panel.step();
        let (window, time) = (
            panel.window.get_untracked(),
            Window::whole(step).time(x - left, wide),
        );
        let start = time - share * window.span();
        panel.look(
            Window {
                start,
                end: start + window.span(),
            }
            .held(step),
        );
    }

    /// A pointer moves.
    pub fn moved(panel: &StepPanel, hand: StoredValue<Hand, LocalStorage>, event: &PointerEvent) {
        let Some((x, y)) = at(event) else { return };
        let (left, wide) = plot(panel);
        let step = panel.step();
        hand.update_value(|hand| {
            let mut down_by = 0.0;
            if let Some(pointer) = hand
                .down
                .iter_mut()
                .find(|pointer| pointer.0 == event.pointer_id())
            {
                down_by = y - pointer.2;
                (pointer.1, pointer.2) = (x, y);
            }
            let far = (x - hand.start.0).hypot(y - hand.start.1) > CLICK;
            hand.moved |= far;
            match (&hand.drag, hand.down.as_slice()) {
                (Some(Drag::Pinch(a, b)), [p, q]) => {
                    // The window in which both fingers stand on their times.
                    let (x0, x1) = (p.1 - left, q.1 - left);
                    if (x1 - x0).abs() > 8.0 {
                        let scale = (b - a) / (x1 - x0);
                        if scale > 0.0 {
                            let start = a - x0 * scale;
                            panel.look(
                                Window {
                                    start,
                                    end: start + wide * scale,
                                }
                                .held(step),
                            );
                        }
                    }
                }
                (Some(Drag::Pan(from)), _) if hand.moved => {
                    let by = (x - hand.start.0) / wide * from.span();
                    panel.look(
                        Window {
                            start: from.start - by,
                            end: from.end - by,
                        }
                        .held(step),
                    );
                    scroll(panel, -down_by);
                }
                (Some(Drag::Select(from)), _) if hand.moved => {
                    panel.range.set(Some((*from, time_at(panel, x))));
                }
                (Some(Drag::Strip(share)), _) => strip(panel, x, *share),
                _ => {}
            }
            if hand.down.is_empty() || !hand.moved {
                let hover = match target(panel, (x, y)) {
                    Target::Span(spot) if event.pointer_type() != "touch" => Some((spot, x, y)),
                    _ => None,
                };
                if panel.hover.get_untracked().map(|h| h.0) != hover.map(|h| h.0) {
                    panel.hover.set(hover);
                }
            } else if panel.hover.get_untracked().is_some() {
                panel.hover.set(None);
            }
        });
    }

    /// A button or finger goes up: a click where it did not move.
    pub fn up(panel: &StepPanel, hand: StoredValue<Hand, LocalStorage>, event: &PointerEvent) {
        let Some((x, y)) = at(event) else { return };
        hand.update_value(|hand| {
            hand.down.retain(|pointer| pointer.0 != event.pointer_id());
            if !hand.moved {
                match target(panel, (x, y)) {
                    Target::Span(spot) => panel.select(Some(spot)),
                    Target::Plot(_) => {
                        panel.select(None);
                        panel.range.set(None);
                    }
                    _ => {}
                }
            }
            hand.drag = None;
        });
    }

    /// The system takes a finger away.
    pub fn cancel(hand: StoredValue<Hand, LocalStorage>, event: &PointerEvent) {
        hand.update_value(|hand| {
            hand.down.retain(|pointer| pointer.0 != event.pointer_id());
            hand.drag = None;
        });
    }

    /// A double click fits the span.
    pub fn double(panel: &StepPanel, event: &MouseEvent) {
        if let Some(Target::Span(spot)) = at(event).map(|at| target(panel, at)) {
            panel.select(Some(spot));
            panel.range.set(None);
            panel.fit();
        }
    }
}

/// Moves unpinned groups up by px; true when they moved.
fn scroll(panel: &StepPanel, by: f64) -> bool {
    let end = panel
        .layout
        .read_untracked()
        .as_ref()
        .map_or(0.0, |layout| layout.scroll_end());
    let now = panel.scroll.get_untracked();
    let then = (now + by).clamp(0.0, end);
    if then != now {
        panel.scroll.set(then);
    }
    then != now
}

/// Wheel: with Ctrl zooms at the pointer, sideways or with Shift pans; else the page or the groups scroll.
pub fn wheel(panel: &StepPanel, event: &WheelEvent) {
    // Lines and pages in pixels.
    let unit = match event.delta_mode() {
        1 => 16.0,
        2 => 240.0,
        _ => 1.0,
    };
    let (dx, dy) = (event.delta_x() * unit, event.delta_y() * unit);
    let (left, wide) = plot(panel);
    let (window, step) = (panel.window.get_untracked(), panel.step());
    if event.ctrl_key() || event.meta_key() {
        event.prevent_default();
        let at = at(event).map_or(0.5, |(x, _)| ((x - left) / wide).clamp(0.0, 1.0));
        panel.look(window.zoomed((dy * 0.002).exp(), at, step));
    } else if event.shift_key() || dx.abs() > dy.abs() {
        event.prevent_default();
        let by = if dx.abs() > dy.abs() { dx } else { dy };
        panel.look(window.panned(by / wide, step));
    } else if scroll(panel, dy) {
        event.prevent_default();
    }
}

/// Keys of the trace viewers.
pub fn key(panel: &StepPanel, event: &KeyboardEvent) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    let (window, step) = (panel.window.get_untracked(), panel.step());
    // Zoom stays at the pointer while it is over a span, else at the middle.
    let (left, wide) = plot(panel);
    let at = panel
        .hover
        .get_untracked()
        .map_or(0.5, |(_, x, _)| ((x - left) / wide).clamp(0.0, 1.0));
    let fast = if event.shift_key() { 3.0 } else { 1.0 };
    let key = event.key();
    match key.as_str() {
        "w" | "W" | "+" | "=" => panel.look(window.zoomed(0.8_f64.powf(fast), at, step)),
        "s" | "S" | "-" => panel.look(window.zoomed(1.25_f64.powf(fast), at, step)),
        "a" | "A" | "ArrowLeft" => panel.look(window.panned(-0.15 * fast, step)),
        "d" | "D" | "ArrowRight" => panel.look(window.panned(0.15 * fast, step)),
        "f" | "F" => panel.fit(),
        "0" | "Home" => panel.look(Window::whole(step)),
        "End" => panel.chosen.set(None),
        "." | ">" => next(panel, true),
        "," | "<" => next(panel, false),
        "ArrowDown" => other_lane(panel, 1),
        "ArrowUp" => other_lane(panel, -1),
        "[" | "]" => range_end(panel, key == "["),
        "/" => panel.searching.set(true),
        "?" => panel.help.update(|help| *help = !*help),
        "Escape" => escape(panel),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}

fn next(panel: &StepPanel, forward: bool) {
    let Some(shown) = panel.shown.get_untracked() else {
        return;
    };
    let from = panel.selected_now();
    let (hidden, time) = (
        panel.hidden.get_untracked(),
        panel.window.get_untracked().start,
    );
    let spot = panel.found.get_untracked().map_or_else(
        || neighbour(&shown.view, from, forward, hidden, time),
        |found| step_through(&found, from, forward),
    );
    if let Some(spot) = spot {
        panel.go(spot);
    }
}

/// The span of the row above or below at the same time.
fn other_lane(panel: &StepPanel, by: i64) {
    let (Some(shown), Some(layout)) = (panel.shown.get_untracked(), panel.layout.get_untracked())
    else {
        return;
    };
    let Some(spot) = panel.selected_now() else {
        return next(panel, true);
    };
    let Some((start, end)) = panel.ends(spot) else {
        return;
    };
    let window = panel.window.get_untracked();
    let holds =
        |row: &&crate::scene::gantt::Row| row.group == spot.group && row.holds(&shown.view, spot);
    let Some(here) = layout.rows.iter().position(|row| holds(&row)) else {
        return;
    };
    let time = f64::midpoint(start, end).clamp(window.start, window.end);
    let x = layout.plot.x + window.px(time, layout.plot.w);
    let mut row = here as i64 + by;
    while let Some(to) = usize::try_from(row)
        .ok()
        .and_then(|row| layout.rows.get(row))
    {
        let middle = to.area.y + to.area.h / 2.0;
        // A wide look: rows are not equally busy at one moment.
        for away in [0.0, 12.0, -12.0, 40.0, -40.0, 120.0, -120.0] {
            let at = (x + away, middle);
            if let Target::Span(found) = hit(
                &shown.view,
                &layout,
                &window,
                panel.hidden.get_untracked(),
                shown.step(),
                at,
            ) {
                return panel.go(Spot { ..found });
            }
        }
        row += by;
    }
}

/// Sets one end of the range to the selected span's.
fn range_end(panel: &StepPanel, first: bool) {
    let Some((start, end)) = panel.selected_now().and_then(|spot| panel.ends(spot)) else {
        return;
    };
    let (a, b) = panel.range.get_untracked().unwrap_or((start, end));
    panel.range.set(Some(if first {
        (start, b.max(start))
    } else {
        (a.min(end), end)
    }));
}

/// Closes one thing after another.
fn escape(panel: &StepPanel) {
    if panel.help.get_untracked() {
        panel.help.set(false);
    } else if !panel.query.read_untracked().is_empty() {
        panel.query.set(String::new());
        panel.searching.set(false);
    } else if panel.range.get_untracked().is_some() {
        panel.range.set(None);
    } else {
        panel.select(None);
    }
}
