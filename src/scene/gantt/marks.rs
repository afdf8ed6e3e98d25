//! Lines and arrows over the rows: gradients ready, exposed time, the ends of the steps, what is selected.

use super::commands::{Anchor, Draw, Ink, Paint, Rect};
use super::labels::{Look, SIZE};
use super::lanes::Drawing;
use super::rows::{Layout, Row, RowKind};
use super::{Chip, Spot};
use crate::core::timeline::text::{duration, thousands};
use crate::core::timeline::{Flow, FlowKind, StepView, Stream, Timeline};
use crate::scene::side::text::width;

/// Least distance between arrows that are drawn, px.
const APART: f64 = 9.0;

/// Where a flow's ends are: stream rows of one group.
struct Rows<'a> {
    compute: Option<&'a Row>,
    nvlink: Option<&'a Row>,
    scaleout: Option<&'a Row>,
}

impl<'a> Rows<'a> {
    fn of(layout: &'a Layout, group: usize) -> Self {
        let find = |stream| {
            layout
                .rows
                .iter()
                .find(|row| row.group == group && row.kind == RowKind::Stream(stream))
        };
        Self {
            compute: find(Stream::Compute),
            nvlink: find(Stream::NvLink),
            scaleout: find(Stream::ScaleOut),
        }
    }

    fn row(&self, stream: Stream) -> Option<&'a Row> {
        match stream {
            Stream::Compute => self.compute,
            Stream::NvLink | Stream::Reshard => self.nvlink,
            Stream::ScaleOut | Stream::Pipeline => self.scaleout,
        }
    }
}

/// Arrows being gathered.
#[derive(Default)]
pub struct Arrows {
    lines: Vec<Vec<(f64, f64)>>,
    heads: Vec<((f64, f64), (f64, f64))>,
    dots: Vec<(f64, f64)>,
}

impl Arrows {
    /// From the end of one span to the start of another, along the gap between their rows.
    fn add(&mut self, from: (f64, &Row), to: (f64, &Row)) {
        let ((x0, above), (x1, below)) = (from, to);
        let down = below.area.y > above.area.y;
        let (y0, y1) = if down {
            (above.area.bottom() - 1.0, below.area.y + 1.5)
        } else {
            (above.area.y + 1.0, below.area.bottom() - 1.5)
        };
        let gap = if down {
            below.area.y - 2.5
        } else {
            below.area.bottom() + 2.5
        };
        if (x1 - x0).abs() <= 14.0 {
            self.lines.push(vec![(x0, y0), (x1, y1)]);
            self.heads.push(((x1, y1), (x1 - x0, y1 - y0)));
        } else {
            // Along the gap, so that no line crosses a word.
            self.lines
                .push(vec![(x0, y0), (x0, gap), (x1, gap), (x1, y1)]);
            self.heads.push(((x1, y1), (0.0, y1 - gap)));
        }
    }

    /// As commands.
    pub fn draws(self, out: &mut Vec<Draw>) {
        out.push(Draw::Lines(Paint::Ink, 1.3, (0.0, 0.0), self.lines));
        out.push(Draw::Heads(Paint::Ink, self.heads));
        out.push(Draw::Dots(Paint::Ink, 2.6, self.dots));
    }
}

fn end(timeline: &Timeline, span: usize) -> Option<(f64, f64)> {
    timeline
        .spans
        .get(span)
        .map(|span| (span.start.0 as f64, span.end.0 as f64))
}

impl Drawing<'_> {
    /// Arrows of every group's buckets; all of a selected span's, the others only where they do not crowd.
    pub fn arrows(&self, layout: &Layout, selected: Option<Spot>) -> Arrows {
        let mut arrows = Arrows::default();
        let plate = self.places.plate(Paint::Exposed);
        for (index, group) in self.view.groups.iter().enumerate() {
            let timeline = self.view.timeline(group);
            let rows = Rows::of(layout, index);
            let mut last = [f64::NEG_INFINITY; 5];
            let buckets = timeline
                .flows
                .iter()
                .filter(|flow| flow.kind == FlowKind::Done)
                .count();
            let mut done = 0;
            for flow in &timeline.flows {
                let Some((from, to)) = Self::ends_of(timeline, group.replica, flow) else {
                    continue;
                };
                done += usize::from(flow.kind == FlowKind::Done);
                let (Some(from_row), Some(to_row)) = (rows.row(from), rows.row(to)) else {
                    continue;
                };
                let (Some((_, leaves)), Some((enters, _))) =
                    (end(timeline, flow.from), end(timeline, flow.to))
                else {
                    continue;
                };
                let window = self.scale.window();
                if leaves > window.end || enters < window.start {
                    continue;
                }
                let chosen = selected.is_some_and(|spot| {
                    spot.group == index && (spot.span == flow.from || spot.span == flow.to)
                });
                let (x0, x1) = (self.scale.x(leaves), self.scale.x(enters));
                // Nothing runs over the word of what is exposed.
                let covered = plate.is_some_and(|plate| {
                    let meets = |row: &Row, x: f64| {
                        row.area.meets(&plate) && x > plate.x - 4.0 && x < plate.right() + 4.0
                    };
                    meets(from_row, x0) || meets(to_row, x1)
                });
                let crowded = last
                    .get(flow.kind as usize)
                    .is_some_and(|last| x0 - last < APART);
                // Only the last bucket lets the optimizer start.
                let idle = flow.kind == FlowKind::Done && done < buckets;
                if !chosen && (crowded || covered || idle || self.hides(timeline, flow)) {
                    continue;
                }
                if let Some(last) = last.get_mut(flow.kind as usize) {
                    *last = x0;
                }
                if flow.kind == FlowKind::Ready && leaves >= window.start {
                    arrows.dots.push((x0, from_row.area.bottom() - 2.0));
                }
                let neighbours = layout.rows.iter().filter(|row| {
                    row.group == index
                        && row.area.y > from_row.area.y.min(to_row.area.y)
                        && row.area.y < from_row.area.y.max(to_row.area.y)
                });
                // An arrow across another row would run over its spans.
                if chosen || neighbours.count() == 0 {
                    arrows.add((x0, from_row), (x1, to_row));
                }
            }
        }
        arrows
    }

    fn hides(&self, timeline: &Timeline, flow: &Flow) -> bool {
        [flow.from, flow.to].iter().any(|span| {
            timeline
                .spans
                .get(*span)
                .is_some_and(|span| self.hidden.hides(span.kind))
        })
    }

    fn ends_of(timeline: &Timeline, replica: usize, flow: &Flow) -> Option<(Stream, Stream)> {
        let stream = |span: usize| {
            timeline
                .streams
                .iter()
                .find(|lane| lane.replica == replica && lane.spans.contains(&span))
                .map(|lane| lane.stream)
        };
        Some((stream(flow.from)?, stream(flow.to)?))
    }

    /// The band of exposed time over each group, and its word.
    pub fn exposed(&mut self, layout: &Layout, out: &mut Vec<Draw>) {
        if self.hidden.has(Chip::Exposed) {
            return;
        }
        let (mut bands, mut edges, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for (index, group) in self.view.groups.iter().enumerate() {
            let (Some(world), Some(area)) =
                (self.view.worlds.get(group.world), layout.groups.get(index))
            else {
                continue;
            };
            let (start, stop) = world.exposed_band();
            if stop <= start || area.h <= 0.0 {
                continue;
            }
            let (from, to) = self.scale.ends(start.0 as f64, stop.0 as f64);
            if to < layout.plot.x
                || from > layout.plot.right()
                || (stop.0 as f64) < self.scale.window().start
            {
                continue;
            }
            let to = to.max(from + self.scale.pixel());
            bands.push(Rect::new(from, area.y - 2.0, to - from, area.h + 1.0));
            edges.push(vec![(from, area.y - 2.0), (from, area.bottom() - 1.0)]);
            edges.push(vec![(to, area.y - 2.0), (to, area.bottom() - 1.0)]);
            if index == 0
                && let Some(row) = layout
                    .rows
                    .iter()
                    .find(|row| row.group == 0 && row.kind == RowKind::Stream(Stream::NvLink))
            {
                let text = format!("exposed {}", short(world.exposed().0));
                words.push((text, from, to, row.area));
            }
        }
        out.push(Draw::Fill(Paint::ExposedBand, bands));
        out.push(Draw::Lines(Paint::Exposed, 1.2, (0.0, 0.0), edges));
        for (text, from, to, lane) in words {
            let look = Look::on(Ink::Panel, Paint::Exposed).bold();
            let wide = width(&text, SIZE, true) + 10.0;
            let right = (to + 24.0, layout.plot.right() - to - 24.0);
            let left = (from - 24.0 - wide, from - 24.0 - layout.plot.x);
            for (x, room) in [right, left] {
                if room > wide && self.places.put(&text, x + 4.0, &lane, room, look).is_some() {
                    let middle = lane.y + lane.h / 2.0;
                    let (a, b) = if x > to { (to, x) } else { (x + wide, from) };
                    out.push(Draw::Lines(
                        Paint::Exposed,
                        1.5,
                        (0.0, 0.0),
                        vec![vec![(a, middle), (b, middle)]],
                    ));
                    break;
                }
            }
        }
    }

    /// The ends of the step and of the step without failures, with their times, and the slowest replica's marker.
    pub fn finish_lines(&mut self, layout: &Layout, out: &mut Vec<Draw>) {
        let Some(last) = layout.rows.last() else {
            return;
        };
        let bottom = last.area.bottom().min(layout.plot.bottom()) + 5.0;
        let step = self
            .view
            .worlds
            .first()
            .map_or(&self.view.healthy, |world| &world.timeline)
            .step
            .0 as f64;
        let healthy = self.view.healthy.step.0 as f64;
        let top = layout.plot.y - 2.0;
        let lane = layout
            .rows
            .iter()
            .find(|row| row.kind == RowKind::Stream(Stream::ScaleOut))
            .unwrap_or(last)
            .area;
        let mut line = |time: f64, paint, wide, dash| {
            let x = self.scale.x(time);
            let inside = x >= layout.plot.x && x <= layout.plot.right();
            if inside {
                out.push(Draw::Lines(
                    paint,
                    wide,
                    dash,
                    vec![vec![(x, top), (x, bottom)]],
                ));
            }
            inside.then_some(x)
        };
        let at_step = line(step, Paint::Ink, 1.6, (0.0, 0.0));
        let failed = !self.view.worlds.is_empty() && !self.hidden.has(Chip::Ghost);
        let at_healthy = if failed {
            line(healthy, Paint::Ink3, 1.2, (3.0, 3.0))
        } else {
            None
        };
        if let Some(x) = at_step {
            let text = thousands(step / 1e6);
            let wide = width(&text, SIZE, true);
            let bold = Look::plain(Ink::Ink).bold();
            if self
                .places
                .put(&text, x + 5.0, &lane, layout.plot.right() - x - 5.0, bold)
                .is_none()
            {
                self.places.put(
                    &text,
                    x - wide - 6.0,
                    &lane,
                    wide + 8.0,
                    Look::on(Ink::Ink, Paint::Panel).bold(),
                );
            }
        }
        if let Some(x) = at_healthy {
            let text = format!("no failure {}", thousands(healthy / 1e6));
            let wide = width(&text, SIZE, false);
            let look = Look::on(Ink::Ink3, Paint::Panel);
            if x - wide - 8.0 > layout.plot.x {
                self.places
                    .put(&text, x - wide - 6.0, &lane, wide + 8.0, look);
            }
        }
        self.slowest(layout, out);
    }

    fn slowest(&self, layout: &Layout, out: &mut Vec<Draw>) {
        for (index, group) in self.view.groups.iter().enumerate() {
            let timeline = self.view.timeline(group);
            if timeline.slowest() != Some(group.replica) {
                continue;
            }
            let row = layout
                .rows
                .iter()
                .find(|row| row.group == index && row.kind == RowKind::Stream(Stream::Compute));
            let (Some(row), Some(pace)) = (row, timeline.pace.get(group.replica)) else {
                continue;
            };
            let x = self.scale.x(pace.ready.0 as f64);
            if x >= layout.plot.x && x <= layout.plot.right() {
                let y = row.area.y;
                out.push(Draw::Polygon(
                    Paint::Ink,
                    vec![(x - 4.0, y - 4.0), (x + 4.0, y - 4.0), (x, y + 1.5)],
                ));
            }
        }
    }
}

fn short(nanos: u64) -> String {
    if nanos < 100_000 {
        duration(crate::core::units::Nanos(nanos))
    } else {
        format!("{} ms", thousands(nanos as f64 / 1e6))
    }
}

/// Names at the left and numbers at the right of every group, and names of the rows.
pub fn beside(view: &StepView, layout: &Layout, words: &[super::GroupWords], out: &mut Vec<Draw>) {
    let room = |x: f64, y: f64, w: f64| Rect::new(x, y - SIZE, w, SIZE + 3.0);
    let text = |x: f64,
                y: f64,
                text: &str,
                size: f64,
                bold: bool,
                ink: Ink,
                anchor: Anchor,
                room: Rect| Draw::Words {
        x,
        y,
        text: text.into(),
        size,
        bold,
        ink,
        anchor,
        room,
    };
    for (index, words) in words.iter().enumerate().take(view.groups.len()) {
        let rows: Vec<&Row> = layout
            .rows
            .iter()
            .filter(|row| row.group == index)
            .collect();
        let Some(first) = rows.first() else { continue };
        let base = |row: &Row| row.area.y + row.area.h / 2.0 + SIZE * 0.355;
        if !layout.wide {
            out.push(text(
                0.0,
                base(first),
                &words.name,
                SIZE,
                true,
                Ink::Ink,
                Anchor::Start,
                room(0.0, base(first), layout.plot.x - 4.0),
            ));
            continue;
        }
        out.push(text(
            14.0,
            base(first),
            &words.name,
            12.0,
            true,
            Ink::Ink,
            Anchor::Start,
            room(14.0, base(first), 110.0),
        ));
        // Not beside the thin rows of a pipeline.
        let tall = |row: &&&Row| matches!(row.kind, RowKind::Stream(_)) || row.area.h >= 12.0;
        for (line, row) in words.lines.iter().zip(rows.iter().skip(1).filter(tall)) {
            out.push(text(
                0.0,
                base(row),
                line,
                SIZE,
                false,
                Ink::Ink2,
                Anchor::Start,
                room(0.0, base(row), 132.0),
            ));
        }
        let x = layout.plot.right() + 12.0;
        let ink = if words.lost { Ink::Exposed } else { Ink::Ink };
        let wide = super::rows::RIGHT - 12.0;
        out.push(text(
            x,
            base(first),
            &words.number,
            12.0,
            true,
            ink,
            Anchor::Start,
            room(x, base(first), wide),
        ));
        for (line, row) in [&words.note, &words.pace]
            .into_iter()
            .zip(rows.iter().skip(1).filter(tall))
        {
            if !line.is_empty() {
                out.push(text(
                    x,
                    base(row),
                    line,
                    SIZE,
                    false,
                    Ink::Ink2,
                    Anchor::Start,
                    room(x, base(row), wide),
                ));
            }
        }
    }
    if !layout.wide {
        return;
    }
    let x = layout.plot.x - 8.0;
    let mut free = f64::NEG_INFINITY;
    for row in &layout.rows {
        let y = row.area.y + row.area.h / 2.0 + SIZE * 0.355;
        if y - SIZE < free {
            continue;
        }
        out.push(text(
            x,
            y,
            &row.name(),
            SIZE,
            false,
            Ink::Ink2,
            Anchor::End,
            room(x - 62.0, y, 62.0),
        ));
        free = y;
    }
}

/// Lines under the last row of each group but the last.
pub fn separators(layout: &Layout, out: &mut Vec<Draw>) {
    let last = layout.groups.iter().map(Rect::bottom).fold(0.0, f64::max);
    let lines = layout
        .groups
        .iter()
        .filter(|group| group.h > 0.0 && group.bottom() < last - 1.0)
        .map(|group| {
            vec![
                (0.0, group.bottom() + 3.0),
                (layout.width, group.bottom() + 3.0),
            ]
        })
        .collect();
    out.push(Draw::Lines(Paint::Line, 1.0, (0.0, 0.0), lines));
}
