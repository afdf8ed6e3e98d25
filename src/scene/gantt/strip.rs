//! The strip of the whole step: one thin line of blocks a group, and a frame around what is in view.

use super::columns::{Scale, by_paint, columns};
use super::commands::{Anchor, Draw, Ink, Paint, Rect};
use super::labels::SIZE;
use super::rows::Layout;
use super::window::Window;
use crate::core::timeline::{Kind, StepView, Stream};

/// Height of a line, and from one to the next.
const LINE: (f64, f64) = (4.5, 5.5);

/// Apart by more than this, the difference is shown in ink: overlap makes it, which the formula takes as a whole.
const AGREE_PERCENT: f64 = 2.0;

/// Draws the strip.
pub fn strip(view: &StepView, layout: &Layout, step: f64, ratio: f64, out: &mut Vec<Draw>) {
    let area = layout.strip;
    let whole = Scale::new(Window::whole(step), area.x, area.w, ratio);
    let (line, pitch) = match view.groups.len() {
        0..=3 => LINE,
        more => (16.0 / more as f64 - 1.0, 16.0 / more as f64),
    };
    let mut fills = Vec::new();
    for (index, group) in view.groups.iter().enumerate() {
        let timeline = view.timeline(group);
        let shown = timeline.spec.shown_stage;
        let lane = timeline.pipeline.iter().find(|lane| {
            (lane.replica, lane.stage, lane.stream) == (group.replica, shown, Stream::Compute)
        });
        let Some(lane) = lane else { continue };
        let mut boxes = Vec::new();
        let y = area.y + index as f64 * pitch;
        columns(
            timeline.lane(lane),
            &whole,
            y,
            line,
            |kind| kind != Kind::Host,
            &mut boxes,
        );
        for (look, mut area) in boxes {
            // A hair between blocks, as between the tiles of a rack.
            if area.w > 4.0 {
                area.w -= whole.pixel();
            }
            fills.push((look, area));
        }
    }
    by_paint(fills, out);
    if !layout.wide {
        return;
    }
    let mut beside = |x: f64, text: &str, bold: bool, ink: Ink, anchor: Anchor, room: Rect| {
        out.push(Draw::Words {
            x,
            y: 13.0,
            text: text.into(),
            size: SIZE,
            bold,
            ink,
            anchor,
            room,
        });
    };
    let room = Rect::new(area.x - 76.0, 0.0, 68.0, 18.0);
    beside(
        area.x - 8.0,
        "whole step",
        false,
        Ink::Ink2,
        Anchor::End,
        room,
    );
    // How far simulation and formula are apart on the job without failures, plainly where it is much.
    let apart = 100.0 * view.disagreement();
    let x = area.right() + 12.0;
    let room = Rect::new(x, 0.0, super::rows::RIGHT - 12.0, 18.0);
    if apart.abs() > AGREE_PERCENT {
        beside(
            x,
            &format!("formula: {:+.1} %", -apart),
            true,
            Ink::Ink,
            Anchor::Start,
            room,
        );
    } else {
        beside(
            x,
            &format!("formula within {:.1} %", apart.abs()),
            false,
            Ink::Ink3,
            Anchor::Start,
            room,
        );
    }
}

/// Draws the frame around what is in view, and the funnel from there to the plot.
pub fn funnel(layout: &Layout, window: &Window, step: f64, out: &mut Vec<Draw>) {
    let frame = frame(layout, window, step);
    out.push(Draw::Outline(Paint::Ink, 1.5, false, vec![frame]));
    out.push(Draw::Polygon(
        Paint::Sunk,
        vec![
            (frame.x, frame.bottom()),
            (layout.plot.x, layout.plot.y - 0.5),
            (layout.plot.right(), layout.plot.y - 0.5),
            (frame.right(), frame.bottom()),
        ],
    ));
}

/// The frame around what is in view, never thinner than can be seen and held.
pub fn frame(layout: &Layout, window: &Window, step: f64) -> Rect {
    let (area, whole) = (layout.strip, Window::whole(step));
    let x = |time: f64| area.x + whole.px(time.clamp(whole.start, whole.end), area.w);
    let (from, to) = (x(window.start), x(window.end));
    let wide = (to - from).max(6.0);
    let from =
        (f64::midpoint(from, to) - wide / 2.0).clamp(area.x, (area.right() - wide).max(area.x));
    Rect::new(from, area.y - 2.0, wide, 20.0)
}
