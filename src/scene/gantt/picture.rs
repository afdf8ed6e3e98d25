//! The whole picture, in the order it is painted.

use super::columns::Scale;
use super::commands::{Anchor, Draw, Ink, Paint, Rect};
use super::hit::spot_box;
use super::labels::{Places, SIZE};
use super::lanes::Drawing;
use super::marks::{beside, separators};
use super::rows::Layout;
use super::strip::{funnel, strip};
use super::window::Window;
use super::{Chips, GroupWords, Spot, axis};
use crate::core::timeline::StepView;

/// Everything that decides how the picture looks.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    /// What is shown.
    pub view: &'a StepView,
    /// Where its rows stand.
    pub layout: &'a Layout,
    /// Time in view.
    pub window: Window,
    /// Names and numbers of the groups.
    pub words: &'a [GroupWords],
    /// Kinds that are hidden.
    pub hidden: Chips,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
    /// Span under the pointer.
    pub hover: Option<Spot>,
    /// Span that is selected.
    pub selected: Option<Spot>,
    /// Range of time that is selected, ns.
    pub range: Option<(f64, f64)>,
    /// Spans that a search found; none while nothing is searched.
    pub found: Option<&'a [Spot]>,
}

impl Look<'_> {
    /// Time of the longest step shown, ns.
    pub fn step(&self) -> f64 {
        let steps = self
            .view
            .worlds
            .iter()
            .map(|world| world.timeline.step.0)
            .chain([self.view.healthy.step.0]);
        steps.max().unwrap_or(0) as f64
    }
}

/// Paints a step.
pub fn draw(look: &Look<'_>) -> Vec<Draw> {
    let mut out = still(look);
    out.append(&mut moving(look));
    out
}

/// What stays the same whatever time is in view: the whole step in its strip, and the words beside the rows.
pub fn still(look: &Look<'_>) -> Vec<Draw> {
    let (layout, plot) = (look.layout, look.layout.plot);
    let mut out = Vec::with_capacity(64);
    strip(look.view, layout, look.step(), look.ratio, &mut out);
    out.push(Draw::Clip(Rect::new(
        0.0,
        plot.y - 4.0,
        layout.width,
        plot.h + 4.0,
    )));
    beside(look.view, layout, look.words, &mut out);
    out.push(Draw::Unclip);
    retain(&mut out);
    out
}

/// Everything else, over it.
pub fn moving(look: &Look<'_>) -> Vec<Draw> {
    let (layout, window) = (look.layout, look.window);
    let plot = layout.plot;
    let mut out = Vec::with_capacity(64);
    funnel(layout, &window, look.step(), &mut out);
    let scale = Scale::new(window, plot.x, plot.w, look.ratio);
    grid(layout, &window, &scale, &mut out);
    let mut drawing = Drawing {
        view: look.view,
        scale,
        hidden: look.hidden,
        words: look.words,
        fills: Vec::new(),
        top: Vec::new(),
        edges: Vec::new(),
        hairlines: Vec::new(),
        idle: Vec::new(),
        ghosts: Vec::new(),
        places: Places::default(),
    };
    let rows = |pinned: bool| layout.rows.iter().filter(move |row| row.pinned == pinned);
    let seen = |area: &Rect, clip: &Rect| area.bottom() > clip.y && area.y < clip.bottom();
    let scrolled = Rect::new(0.0, layout.scroll_top, layout.width, layout.room());
    let fixed = Rect::new(
        0.0,
        plot.y,
        layout.width,
        (layout.scroll_top - plot.y).max(0.0),
    );
    for (pinned, clip) in [(false, scrolled), (true, fixed)] {
        if rows(pinned).next().is_none() {
            continue;
        }
        // Arrows and bands reach a little above the first row.
        let band = Rect::new(plot.x, clip.y - 4.0, plot.w, clip.h + 4.0);
        out.push(Draw::Clip(band));
        let tracks = rows(pinned)
            .filter(|row| seen(&row.area, &clip))
            .map(|row| row.area)
            .collect();
        out.push(Draw::Fill(Paint::Track, tracks));
        for row in rows(pinned).filter(|row| seen(&row.area, &clip)) {
            drawing.ghost(row);
            drawing.row(row);
        }
        drawing.draws(&mut out);
        out.push(Draw::Unclip);
    }
    out.push(Draw::Clip(Rect::new(
        0.0,
        plot.y - 4.0,
        layout.width,
        plot.h + 8.0,
    )));
    separators(layout, &mut out);
    out.push(Draw::Unclip);
    out.push(Draw::Clip(Rect::new(
        plot.x,
        plot.y - 4.0,
        plot.w + super::RIGHT,
        plot.h + 8.0,
    )));
    search(look, &scale, &mut out);
    let mut marks = Vec::new();
    drawing.exposed(layout, &mut marks);
    drawing.finish_lines(layout, &mut marks);
    out.append(&mut marks);
    let arrows = drawing.arrows(layout, look.selected);
    out.extend(std::mem::take(&mut drawing.places).draws());
    out.push(Draw::Unclip);
    out.push(Draw::Clip(Rect::new(
        plot.x - 3.0,
        plot.y - 4.0,
        plot.w + 6.0,
        plot.h + 8.0,
    )));
    arrows.draws(&mut out);
    chosen(look, &scale, &mut out);
    out.push(Draw::Unclip);
    times(layout, &window, &mut out);
    retain(&mut out);
    out
}

/// Leaves out what draws nothing.
fn retain(out: &mut Vec<Draw>) {
    out.retain(|draw| match draw {
        Draw::Fill(_, boxes) | Draw::Outline(_, _, _, boxes) => !boxes.is_empty(),
        Draw::Lines(.., lines) => !lines.is_empty(),
        Draw::Heads(_, heads) => !heads.is_empty(),
        Draw::Dots(.., dots) => !dots.is_empty(),
        _ => true,
    });
}

/// Vertical lines at the ticks.
fn grid(layout: &Layout, window: &Window, scale: &Scale, out: &mut Vec<Draw>) {
    let (ticks, _) = axis::ticks(window, layout.plot.w);
    let (top, bottom) = (layout.plot.y, layout.plot.bottom());
    let lines = ticks
        .iter()
        .map(|time| vec![(scale.x(*time), top), (scale.x(*time), bottom)])
        .collect();
    out.push(Draw::Lines(Paint::Line, 1.0, (0.0, 0.0), lines));
}

/// Words of the axis; the last one has the unit.
fn times(layout: &Layout, window: &Window, out: &mut Vec<Draw>) {
    let (ticks, decimals) = axis::ticks(window, layout.plot.w);
    let y = layout.plot.bottom() + 11.0;
    let last = ticks.len().saturating_sub(1);
    for (index, time) in ticks.iter().enumerate() {
        let mut text = axis::label(*time, decimals);
        if index == last {
            text.push_str(" ms");
        }
        let x = layout.plot.x + window.px(*time, layout.plot.w);
        let half = crate::scene::side::text::width(&text, SIZE, false) / 2.0 + 1.0;
        let x = x.clamp(layout.plot.x + half - 20.0, (layout.width - half).max(half));
        out.push(Draw::Words {
            x,
            y,
            text,
            size: SIZE,
            bold: false,
            ink: Ink::Ink3,
            anchor: Anchor::Middle,
            room: Rect::new(x - half, y - SIZE, 2.0 * half, SIZE + 3.0),
        });
    }
}

/// A veil over everything but what was found.
fn search(look: &Look<'_>, scale: &Scale, out: &mut Vec<Draw>) {
    let Some(found) = look.found else { return };
    let plot = look.layout.plot;
    let boxes: Vec<Rect> = found
        .iter()
        .filter_map(|spot| spot_box(look.view, look.layout, scale, *spot))
        .take(2000)
        .collect();
    out.push(Draw::Outline(Paint::Ink, 1.5, false, boxes));
    if found.is_empty() {
        out.push(Draw::Fill(Paint::Veil, vec![plot]));
    }
}

/// Selected range, selected span, span under the pointer.
fn chosen(look: &Look<'_>, scale: &Scale, out: &mut Vec<Draw>) {
    let plot = look.layout.plot;
    if let Some((start, end)) = look.range {
        let (from, to) = scale.ends(start.min(end), start.max(end));
        out.push(Draw::Fill(
            Paint::Range,
            vec![Rect::new(from, plot.y, (to - from).max(1.0), plot.h)],
        ));
        out.push(Draw::Lines(
            Paint::Ink,
            1.0,
            (0.0, 0.0),
            vec![
                vec![(from, plot.y), (from, plot.bottom())],
                vec![(to, plot.y), (to, plot.bottom())],
            ],
        ));
    }
    for (spot, wide) in [(look.hover, 1.0), (look.selected, 2.0)] {
        if let Some(area) = spot.and_then(|spot| spot_box(look.view, look.layout, scale, spot)) {
            out.push(Draw::Outline(Paint::Ink, wide, false, vec![area]));
        }
    }
}
