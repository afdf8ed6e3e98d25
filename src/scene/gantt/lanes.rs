//! Spans of the rows in view, with the words inside them.

use super::columns::{Filled, Scale, by_paint, columns, visible};
use super::commands::{Draw, Ink, Paint, Rect};
use super::labels::{Look, Places};
use super::rows::{Row, RowKind};
use super::{Chips, GroupWords};
use crate::core::timeline::{Group, Kind, Lane, ReplicaKind, Span, StepView, Stream, Timeline};

/// Width from which a layer of a block gets a hairline, px.
const HAIRLINE: f64 = 5.0;
/// How far TP comm is inset, px: it stays apart from resharding on the same link.
const INSET: f64 = 2.0;

/// What a row's spans need to be drawn.
pub struct Drawing<'a> {
    pub view: &'a StepView,
    pub scale: Scale,
    pub hidden: Chips,
    pub words: &'a [GroupWords],
    pub fills: Vec<Filled>,
    /// Filled after the others: TP comm on top of resharding.
    pub top: Vec<Filled>,
    pub edges: Vec<Rect>,
    pub hairlines: Vec<Rect>,
    pub idle: Vec<Rect>,
    pub ghosts: Vec<Rect>,
    pub places: Places,
}

/// One block of compute: forward or backward of one micro-batch.
struct Run {
    kind: Kind,
    from: f64,
    to: f64,
    span: Span,
    layers: Vec<f64>,
}

impl<'a> Drawing<'a> {
    fn shows(&self, kind: Kind) -> bool {
        !self.hidden.hides(kind)
    }

    fn timeline(&self, group: usize) -> Option<(&'a Group, &'a Timeline)> {
        let view = self.view;
        let group = view.groups.get(group)?;
        Some((group, view.timeline(group)))
    }

    /// One row, inside the plot.
    pub fn row(&mut self, row: &Row) {
        let Some((group, timeline)) = self.timeline(row.group) else {
            return;
        };
        match row.kind {
            RowKind::Stream(Stream::Compute) => {
                for lane in Self::lanes(row, timeline) {
                    self.compute(row, timeline.lane(lane), timeline, group);
                }
                self.waiting(row, timeline, group);
            }
            RowKind::Stream(_) => self.communication(row, timeline, group),
            RowKind::Stage(_) => self.stage(row, timeline),
        }
    }

    fn lanes<'t>(row: &Row, timeline: &'t Timeline) -> Vec<&'t Lane> {
        row.lanes
            .iter()
            .filter_map(|lane| row.lanes_of(timeline).get(*lane))
            .collect()
    }

    /// Compute, block by block: neighbouring layers of one micro-batch make one bar, with one label.
    fn compute(&mut self, row: &Row, spans: &[Span], timeline: &Timeline, group: &Group) {
        let pixel = self.scale.pixel();
        let runs = self.runs(spans, pixel * 1.5);
        let same = |a: &Run, b: &Run| {
            a.kind == b.kind
                && (a.span.microbatch, a.span.chunk) == (b.span.microbatch, b.span.chunk)
        };
        for block in runs.chunk_by(same) {
            for run in block {
                let area = Rect::new(run.from, row.area.y, run.to - run.from, row.area.h);
                if run.kind == Kind::Host {
                    self.idle.push(area);
                } else {
                    self.fills.push(((run.kind, 4), area));
                    if run.kind == Kind::Forward && area.w >= 3.0 {
                        self.edges.push(area);
                    }
                }
                self.hairlines.extend(
                    run.layers
                        .iter()
                        .map(|x| Rect::new(*x, row.area.y, pixel, row.area.h)),
                );
            }
            self.block_words(row, block, timeline, group);
        }
        // What is thinner than a pixel.
        let hidden = self.hidden;
        if self.dense(spans) {
            let mut thin = Vec::new();
            columns(
                spans,
                &self.scale,
                row.area.y,
                row.area.h,
                |kind| !hidden.hides(kind) && kind != Kind::Host,
                &mut thin,
            );
            self.fills.extend(thin);
        }
    }

    /// Whether blocks are so thin that they are drawn pixel by pixel.
    fn dense(&self, spans: &[Span]) -> bool {
        let seen = visible(spans, self.scale.window());
        let Some((first, last)) = spans
            .get(seen.clone())
            .and_then(|s| Some((s.first()?, s.last()?)))
        else {
            return false;
        };
        let blocks = f64::from(last.microbatch.abs_diff(first.microbatch) + 1);
        let (from, to) = self.scale.ends(first.start.0 as f64, last.end.0 as f64);
        (to - from) / (2.0 * blocks) < 2.0
    }

    /// Runs of one kind and micro-batch; gaps up to `joined` px do not part them.
    fn runs(&self, spans: &[Span], joined: f64) -> Vec<Run> {
        if self.dense(spans) {
            return Vec::new();
        }
        let mut runs: Vec<Run> = Vec::new();
        let mut last_layer = u16::MAX;
        for span in spans
            .get(visible(spans, self.scale.window()))
            .unwrap_or(&[])
        {
            if !self.shows(span.kind) {
                continue;
            }
            let (from, to) = self.scale.ends(span.start.0 as f64, span.end.0 as f64);
            match runs.last_mut() {
                Some(run)
                    if run.kind == span.kind
                        && (run.span.microbatch, run.span.chunk)
                            == (span.microbatch, span.chunk)
                        && from - run.to <= joined =>
                {
                    if span.layer != last_layer
                        && from - run.layers.last().copied().unwrap_or(run.from) >= HAIRLINE
                    {
                        run.layers.push(from);
                    }
                    run.to = run.to.max(to);
                }
                _ => runs.push(Run {
                    kind: span.kind,
                    from,
                    to,
                    span: *span,
                    layers: Vec::new(),
                }),
            }
            last_layer = span.layer;
        }
        runs.retain(|run| run.to > run.from);
        runs
    }

    /// One label for a block, over the gaps in which it waits for collectives; each layer's own where there is room.
    fn block_words(&mut self, row: &Row, block: &[Run], timeline: &Timeline, group: &Group) {
        let (Some(first), Some(last)) = (block.first(), block.last()) else {
            return;
        };
        let of = timeline
            .spec
            .replicas
            .get(group.replica)
            .map_or(0, |replica| replica.microbatches);
        let (kind, name) = (first.kind, first.kind.name());
        let look = Look::on(Ink::On(kind), Paint::Plain(kind));
        let x = first.from + 6.0;
        let room = last.to - first.from - 8.0;
        match kind {
            Kind::Forward | Kind::Backward | Kind::Recompute => {
                let number = first.span.microbatch + 1;
                let at = self
                    .words
                    .get(row.group)
                    .map_or("", |words| words.at.as_str());
                let whole = format!("{name}, micro-batch {number} of {of}");
                self.places.put_first(
                    &[
                        &format!("{whole}{at}"),
                        &whole,
                        &format!("{name} {number}"),
                        &number.to_string(),
                    ],
                    x,
                    &row.area,
                    room,
                    look,
                );
                // One layer after another fills the view: say which.
                for run in block
                    .iter()
                    .filter(|run| run.to - run.from > 90.0 && run.layers.is_empty())
                {
                    if let Some(layer) = run.span.layer() {
                        self.places.put(
                            &format!("layer {}", layer + 1),
                            run.from + 6.0,
                            &row.area,
                            run.to - run.from - 8.0,
                            look,
                        );
                    }
                }
            }
            Kind::Host => {
                self.places.put_first(
                    &["host: data, logging", "host"],
                    x,
                    &row.area,
                    room,
                    Look::on(Ink::Ink2, Paint::Panel),
                );
            }
            _ => {
                self.places.put(name, x, &row.area, room, look);
            }
        }
    }

    /// The gap between a replica's own work and the optimizer, with the reason.
    fn waiting(&mut self, row: &Row, timeline: &Timeline, group: &Group) {
        if self.hidden.has(super::Chip::Idle) {
            return;
        }
        let Some(lane) = timeline.stream(group.replica, Stream::Compute) else {
            return;
        };
        let spans = timeline.lane(lane);
        let Some(last) = spans.iter().rev().find(|span| span.kind != Kind::Optimizer) else {
            return;
        };
        let (start, end) = (last.end.0 as f64, timeline.optimizer_start.0 as f64);
        let (from, to) = self.scale.ends(start, end);
        if to - from < 3.0 || end <= self.scale.window().start || start >= self.scale.window().end {
            return;
        }
        self.idle
            .push(Rect::new(from, row.area.y, to - from, row.area.h));
        let pace = timeline
            .pace
            .get(group.replica)
            .copied()
            .unwrap_or_default();
        let replica = timeline.spec.replicas.get(group.replica);
        let ended = super::axis::label(start, 0);
        let waits = super::axis::label(pace.waiting.0 as f64, 1);
        let (number, of) = (
            last.microbatch + 1,
            replica.map_or(0, |replica| replica.microbatches),
        );
        let texts = if group.kind == ReplicaKind::Healthy || pace.waiting.0 == 0 {
            [
                "idle: waits for its gradients to be complete".to_owned(),
                "idle: gradients".to_owned(),
                "idle".to_owned(),
            ]
        } else {
            [
                format!(
                    "idle: micro-batch {number} of {of} ended at {ended} ms, waits {waits} ms for its peers"
                ),
                format!("idle: waits {waits} ms for its peers"),
                "idle".to_owned(),
            ]
        };
        let texts = texts.each_ref().map(String::as_str);
        self.places.put_first(
            &texts,
            from + 6.0,
            &row.area,
            to - from - 8.0,
            Look::on(Ink::Ink2, Paint::Panel),
        );
    }

    /// A link's row: every lane on it, TP comm inset and on top.
    fn communication(&mut self, row: &Row, timeline: &Timeline, group: &Group) {
        let hidden = self.hidden;
        let (mut busy, mut reshards) = (false, false);
        for lane in Self::lanes(row, timeline) {
            let spans = timeline.lane(lane);
            busy |= !spans.is_empty();
            // Above the lowest degree of the job a reduced replica reshards too.
            reshards |= lane.stream == Stream::Reshard && !spans.is_empty();
            if lane.stream == Stream::NvLink {
                let (top, height) = (row.area.y + INSET, (row.area.h - 2.0 * INSET).max(2.0));
                columns(
                    spans,
                    &self.scale,
                    top,
                    height,
                    |kind| !hidden.hides(kind),
                    &mut self.top,
                );
                continue;
            }
            columns(
                spans,
                &self.scale,
                row.area.y,
                row.area.h,
                |kind| !hidden.hides(kind),
                &mut self.fills,
            );
            self.span_words(row, spans, timeline, lane);
        }
        let none = crate::core::timeline::text::empty_lane(group.kind, Stream::Reshard);
        if row.kind == RowKind::Stream(Stream::NvLink)
            && !reshards
            && let Some(text) = none
        {
            self.note(row, timeline, group, text, busy);
        }
    }

    /// Why a lane has nothing of its own: only where no TP comm runs behind the words.
    fn note(&mut self, row: &Row, timeline: &Timeline, group: &Group, text: &str, busy: bool) {
        let window = *self.scale.window();
        let lane = timeline
            .stream(group.replica, Stream::NvLink)
            .map(|lane| timeline.lane(lane));
        let quiet = !busy || lane.is_none_or(|spans| visible(spans, &window).is_empty());
        if quiet {
            let x = row.area.x + 6.0;
            self.places.put(
                text,
                x,
                &row.area,
                row.area.w - 12.0,
                Look::plain(Ink::Ink3),
            );
        }
    }

    /// Words inside wide spans of a lane.
    fn span_words(&mut self, row: &Row, spans: &[Span], timeline: &Timeline, lane: &Lane) {
        let last_backward = timeline
            .stream(lane.replica, Stream::Compute)
            .and_then(|compute| {
                timeline
                    .lane(compute)
                    .iter()
                    .rev()
                    .find(|span| span.kind == Kind::Backward)
            })
            .map_or(0.0, |span| span.end.0 as f64);
        let seen = spans
            .get(visible(spans, self.scale.window()))
            .unwrap_or(&[]);
        // Too many to hold words.
        if seen.len() > 400 {
            return;
        }
        let mut noted = false;
        for (index, span) in seen
            .iter()
            .enumerate()
            .filter(|(_, span)| !self.hidden.hides(span.kind))
        {
            let (from, to) = self.scale.ends(span.start.0 as f64, span.end.0 as f64);
            let name = span.kind.name();
            let number = span.bucket().map_or(span.microbatch, |bucket| bucket) + 1;
            let look = Look::on(Ink::On(span.kind), Paint::Plain(span.kind));
            let texts = if span.bucket().is_some() {
                [
                    format!("{name} bucket {number}"),
                    format!("bucket {number}"),
                    number.to_string(),
                ]
            } else {
                [
                    format!("{name} {number}"),
                    number.to_string(),
                    String::new(),
                ]
            };
            let texts = texts.each_ref().map(String::as_str);
            self.places
                .put_first(&texts, from + 5.0, &row.area, to - from - 7.0, look);
            let next = seen.get(index + 1).map_or(row.area.right(), |next| {
                self.scale.ends(next.start.0 as f64, next.end.0 as f64).0
            });
            if span.kind == Kind::DpSync && !noted && (span.end.0 as f64) < last_backward {
                let text = "hidden behind the backward pass";
                noted = self
                    .places
                    .put(
                        text,
                        to + 8.0,
                        &row.area,
                        next - to - 12.0,
                        Look::plain(Ink::Ink3),
                    )
                    .is_some();
            }
        }
    }

    /// A stage of the pipeline: blocks, and its DP sync as a thin line below.
    fn stage(&mut self, row: &Row, timeline: &Timeline) {
        let hidden = self.hidden;
        for lane in Self::lanes(row, timeline) {
            let spans = timeline.lane(lane);
            let sync = lane.stream == Stream::ScaleOut;
            let high = (row.area.h * 0.25).clamp(1.5, 3.0);
            let (top, height) = if sync {
                (row.area.bottom() - high, high)
            } else {
                (row.area.y, row.area.h - high - 0.5)
            };
            let from = self.fills.len();
            columns(
                spans,
                &self.scale,
                top,
                height,
                |kind| !hidden.hides(kind) && kind != Kind::Host,
                &mut self.fills,
            );
            if !sync && row.area.h >= 12.0 {
                self.numbers(row, spans);
            }
            if !sync {
                let edged = self.fills.get(from..).unwrap_or(&[]).iter();
                self.edges.extend(
                    edged
                        .filter(|((kind, q), a)| *kind == Kind::Forward && *q == 4 && a.w >= 3.0)
                        .map(|(_, a)| *a),
                );
            }
        }
    }

    /// Micro-batch numbers in the blocks of a stage.
    fn numbers(&mut self, row: &Row, spans: &[Span]) {
        let seen = spans
            .get(visible(spans, self.scale.window()))
            .unwrap_or(&[]);
        if seen.len() > 400 {
            return;
        }
        for span in seen.iter().filter(|span| {
            matches!(span.kind, Kind::Forward | Kind::Backward) && !self.hidden.hides(span.kind)
        }) {
            let (from, to) = self.scale.ends(span.start.0 as f64, span.end.0 as f64);
            let number = (span.microbatch + 1).to_string();
            let lane = Rect {
                h: row.area.h - 3.0,
                ..row.area
            };
            self.places.put(
                &number,
                from + 3.0,
                &lane,
                to - from - 3.0,
                Look::plain(Ink::On(span.kind)),
            );
        }
    }

    /// The same stream of the job without failures, a little taller, behind everything.
    pub fn ghost(&mut self, row: &Row) {
        let RowKind::Stream(Stream::Compute) = row.kind else {
            return;
        };
        if self.hidden.has(super::Chip::Ghost) || self.view.worlds.is_empty() {
            return;
        }
        let healthy = &self.view.healthy;
        let shown = healthy
            .pipeline
            .iter()
            .find(|l| l.stage == healthy.spec.shown_stage && l.stream == Stream::Compute);
        let Some(lane) = shown else { return };
        let mut fills = Vec::new();
        columns(
            healthy.lane(lane),
            &self.scale,
            row.area.y - 2.0,
            row.area.h + 4.0,
            |kind| kind != Kind::Host,
            &mut fills,
        );
        self.ghosts.extend(fills.into_iter().map(|(_, area)| area));
    }

    /// Everything gathered so far as commands, one a paint; words come apart.
    pub fn draws(&mut self, out: &mut Vec<Draw>) {
        let ghosts = std::mem::take(&mut self.ghosts);
        out.push(Draw::Fill(Paint::Ghost, ghosts));
        for fills in [
            std::mem::take(&mut self.fills),
            std::mem::take(&mut self.top),
        ] {
            by_paint(fills, out);
        }
        out.push(Draw::Outline(
            Paint::ForwardEdge,
            0.8,
            false,
            std::mem::take(&mut self.edges),
        ));
        out.push(Draw::Fill(
            Paint::Hairline,
            std::mem::take(&mut self.hairlines),
        ));
        let idle = std::mem::take(&mut self.idle);
        out.push(Draw::Fill(Paint::Idle, idle.clone()));
        out.push(Draw::Outline(Paint::Line2, 1.0, true, idle));
    }
}
