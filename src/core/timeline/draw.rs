//! From operation times to lanes of spans.
//!
//! Operations that were simulated layer by layer are spans as they are. Blocks that were one operation are cut into the
//! layers they consist of here, which costs nothing in the simulation, as long as [`DETAIL_SPANS`] is not passed.

use super::build::{BlockOps, Built, StageOps};
use super::engine::{OpId, Time};
use super::pieces::Piece;
use super::result::{Flow, FlowKind, Lane, NOT, Pace, Span, Timeline};
use super::schedule::Pass;
use super::{Kind, Stream};
use crate::core::units::Nanos;

/// Most spans that cutting blocks into layers may make, all replicas together.
pub const DETAIL_SPANS: u64 = 250_000;

struct Draw<'a> {
    built: &'a Built<'a>,
    times: &'a [Time],
    spans: Vec<Span>,
    streams: Vec<Lane>,
    pipeline: Vec<Lane>,
    flows: Vec<Flow>,
    every_layer: bool,
}

/// End of the last operation.
pub fn step(times: &[Time]) -> Nanos {
    let ends = times.iter().map(|time| time.end);
    ends.max().unwrap_or(Nanos::ZERO)
}

/// Builds the result of a run.
pub fn timeline(built: &Built<'_>, times: &[Time]) -> Timeline {
    let shown = built.spec.shown_stage;
    let wanted: u64 = built
        .stages
        .iter()
        .filter(|s| s.stage == shown)
        .map(|s| detail_spans(built, s, |_| true))
        .sum();
    let mut draw = Draw {
        built,
        times,
        spans: Vec::with_capacity(wanted.min(DETAIL_SPANS) as usize + times.len()),
        streams: Vec::new(),
        pipeline: Vec::new(),
        flows: Vec::new(),
        every_layer: wanted <= DETAIL_SPANS,
    };
    for stage in built.stages.iter().filter(|s| s.stage == shown) {
        draw.gpu(stage);
    }
    for stage in &built.stages {
        draw.blocks(stage);
    }
    let optimizer_start = draw.time(built.norm).end;
    let last_sync_end = built
        .stages
        .iter()
        .filter(|s| s.stage == shown)
        .filter_map(|s| s.sync.last())
        .map(|op| draw.time(*op).end)
        .max()
        .unwrap_or(optimizer_start);
    Timeline {
        pace: (0..built.spec.replicas.len())
            .map(|replica| draw.pace(replica))
            .collect(),
        step: step(times),
        optimizer_start,
        last_sync_end,
        operations: times.len(),
        every_layer: draw.every_layer,
        spec: built.spec.clone(),
        spans: draw.spans,
        streams: draw.streams,
        pipeline: draw.pipeline,
        flows: draw.flows,
    }
}

/// Pieces of a stage's layers that are of a sort.
fn detail_spans(built: &Built<'_>, stage: &StageOps<'_>, of: impl Fn(&Piece) -> bool) -> u64 {
    let count = |pass| {
        let pieces = stage.pieces.layer(pass).iter();
        pieces.filter(|piece| of(piece)).count() as u64
    };
    let (forward, backward) = (count(Pass::Forward), count(Pass::Backward));
    let per_pass = |pass| match pass {
        Pass::Forward => forward,
        Pass::Backward => backward,
    };
    stage
        .blocks
        .iter()
        .map(|b| {
            per_pass(b.block.pass) * u64::from(built.spec.chunk_layers(stage.spec, b.block.chunk))
        })
        .sum()
}

impl Draw<'_> {
    fn time(&self, op: OpId) -> Time {
        self.times.get(op.0 as usize).copied().unwrap_or_default()
    }

    fn op_span(&self, op: OpId) -> Option<(Stream, Span)> {
        let tag = self.built.tags.get(op.0 as usize)?;
        let time = self.time(op);
        Some((
            tag.stream,
            Span {
                start: time.start,
                end: time.end,
                ..tag.span
            },
        ))
    }

    /// The streams of one GPU, and the arrows between them.
    fn gpu(&mut self, stage: &StageOps<'_>) {
        let mut lanes: [Vec<Span>; Stream::ALL.len()] = Default::default();
        for (stream, on_nvlink) in [(Stream::Compute, false), (Stream::NvLink, true)] {
            let wanted = if self.every_layer {
                detail_spans(self.built, stage, |piece| piece.on_nvlink() == on_nvlink)
            } else {
                stage.blocks.len() as u64
            };
            // Beside the layers: embedding, output matrix, host, optimizer.
            lanes[stream as usize].reserve(wanted as usize + 8);
        }
        let mut put = |stream: Stream, span: Span| {
            if let Some(lane) = lanes.get_mut(stream as usize) {
                lane.push(span);
            }
        };
        // Where each closing layer's last span lands on its own lane, to hang arrows on.
        let mut ready_at = vec![None; stage.ready.len()];
        let mut counts = [0_usize; Stream::ALL.len()];
        let mut next_ready = 0;
        // Notes the lane position just filled for every bucket that is sent after `op`.
        let mut note = |op: OpId, at: (Stream, usize)| {
            while stage.ready.get(next_ready) == Some(&op) {
                if let Some(slot) = ready_at.get_mut(next_ready) {
                    *slot = Some(at);
                }
                next_ready += 1;
            }
        };
        if let Some((stream, span)) = stage.host.and_then(|op| self.op_span(op)) {
            counts[stream as usize] += 1;
            put(stream, span);
        }
        for block in &stage.blocks {
            if block.by_layer {
                for op in (block.first.0..=block.last.0).map(OpId) {
                    let Some((stream, span)) = self.op_span(op) else {
                        continue;
                    };
                    if matches!(stream, Stream::Compute | Stream::NvLink) {
                        note(op, (stream, counts[stream as usize]));
                        counts[stream as usize] += 1;
                        put(stream, span);
                    }
                }
            } else {
                let mut at = (Stream::Compute, 0);
                self.cut(stage, block, &mut |stream, span| {
                    at = (stream, counts[stream as usize]);
                    counts[stream as usize] += 1;
                    put(stream, span);
                });
                note(block.last, at);
            }
        }
        let optimizer_at = counts[Stream::Compute as usize];
        let comm = stage
            .pre
            .iter()
            .chain(&stage.post)
            .chain(&stage.gather)
            .chain(&stage.sync);
        for &op in comm.chain([&stage.optimizer]) {
            if let Some((stream, span)) = self.op_span(op) {
                put(stream, span);
            }
        }
        for send in self.sends(stage) {
            put(Stream::Pipeline, send);
        }
        let mut starts = [0_usize; Stream::ALL.len()];
        for (stream, lane) in Stream::ALL.into_iter().zip(lanes) {
            let from = self.spans.len();
            starts[stream as usize] = from;
            // Only transfers may come out of order with buckets: every other lane was filled in stream order.
            self.spans.extend(lane);
            let spans = from..self.spans.len();
            if !spans.is_empty() || !matches!(stream, Stream::Reshard | Stream::Pipeline) {
                self.streams.push(Lane {
                    replica: stage.replica,
                    stage: stage.stage,
                    stream,
                    spans,
                });
            }
        }
        let place = |(stream, position): (Stream, usize)| starts[stream as usize] + position;
        let sync_at = starts[Stream::ScaleOut as usize] + stage.gather.len();
        let (pre_at, post_at) = (
            starts[Stream::Reshard as usize],
            starts[Stream::Reshard as usize] + stage.pre.len(),
        );
        let optimizer = starts[Stream::Compute as usize] + optimizer_at;
        for (bucket, ready) in ready_at.iter().enumerate() {
            let Some(from) = ready.map(place) else {
                continue;
            };
            let sync = sync_at + bucket;
            if bucket < stage.pre.len() {
                let (pre, post) = (pre_at + bucket, post_at + bucket);
                self.flows.push(Flow {
                    kind: FlowKind::Ready,
                    from,
                    to: pre,
                });
                self.flows.push(Flow {
                    kind: FlowKind::Gathered,
                    from: pre,
                    to: sync,
                });
                self.flows.push(Flow {
                    kind: FlowKind::Reduced,
                    from: sync,
                    to: post,
                });
                self.flows.push(Flow {
                    kind: FlowKind::Done,
                    from: post,
                    to: optimizer,
                });
            } else {
                self.flows.push(Flow {
                    kind: FlowKind::Ready,
                    from,
                    to: sync,
                });
                self.flows.push(Flow {
                    kind: FlowKind::Done,
                    from: sync,
                    to: optimizer,
                });
            }
        }
    }

    /// Transfers that a stage sends.
    fn sends(&self, stage: &StageOps<'_>) -> Vec<Span> {
        stage
            .sends
            .iter()
            .filter_map(|op| Some(self.op_span(*op)?.1))
            .collect()
    }

    /// One block that was a single operation, cut into its layers.
    fn cut(&self, stage: &StageOps<'_>, block: &BlockOps, put: &mut impl FnMut(Stream, Span)) {
        let Some((_, whole)) = self.op_span(block.first) else {
            return;
        };
        if !self.every_layer {
            put(Stream::Compute, whole);
            return;
        }
        let layers = self.built.spec.chunk_layers(stage.spec, block.block.chunk);
        let nominal = stage
            .pieces
            .block_ns(block.block, self.built.spec.chunks, layers);
        let actual = whole.duration().0;
        // A block that was slowed is stretched evenly.
        let stretch = |at: u64| {
            if actual == nominal || nominal == 0 {
                at
            } else {
                (u128::from(at) * u128::from(actual) / u128::from(nominal)) as u64
            }
        };
        let mut at = 0;
        let mut start = whole.start;
        let mut emit = |piece: &Piece, layer: u16| {
            at += piece.ns;
            let end = whole.start + Nanos(stretch(at));
            let stream = if piece.on_nvlink() {
                Stream::NvLink
            } else {
                Stream::Compute
            };
            put(
                stream,
                Span {
                    start,
                    end,
                    kind: piece.kind,
                    layer,
                    ..whole
                },
            );
            start = end;
        };
        for piece in stage.pieces.before(block.block, self.built.spec.chunks) {
            emit(&piece, NOT);
        }
        let base = self
            .built
            .spec
            .first_layer(stage.replica, stage.stage, block.block.chunk);
        for step in 0..layers {
            let layer = if block.block.pass == Pass::Forward {
                step
            } else {
                layers - 1 - step
            };
            for piece in stage.pieces.layer(block.block.pass) {
                emit(piece, (base + layer).min(u32::from(NOT) - 1) as u16);
            }
        }
        for piece in stage.pieces.after(block.block, self.built.spec.chunks) {
            emit(&piece, NOT);
        }
    }

    /// Whole blocks of one stage, and its reductions in a lane of their own.
    fn blocks(&mut self, stage: &StageOps<'_>) {
        let from = self.spans.len();
        self.spans
            .extend(stage.host.and_then(|op| Some(self.op_span(op)?.1)));
        for block in &stage.blocks {
            let (start, end) = (self.time(block.first).start, self.time(block.last).end);
            let kind = if block.block.pass == Pass::Forward {
                Kind::Forward
            } else {
                Kind::Backward
            };
            let (microbatch, chunk) = (block.block.microbatch, block.block.chunk as u16);
            self.spans.push(Span {
                start,
                end,
                kind,
                microbatch,
                chunk,
                layer: NOT,
                bucket: NOT,
            });
        }
        if let Some((_, span)) = self.op_span(stage.optimizer) {
            self.spans.push(span);
        }
        let (replica, number) = (stage.replica, stage.stage);
        self.pipeline.push(Lane {
            replica,
            stage: number,
            stream: Stream::Compute,
            spans: from..self.spans.len(),
        });
        let from = self.spans.len();
        for &op in stage.gather.iter().chain(&stage.sync) {
            if let Some((_, span)) = self.op_span(op) {
                self.spans.push(span);
            }
        }
        if from < self.spans.len() {
            self.pipeline.push(Lane {
                replica,
                stage: number,
                stream: Stream::ScaleOut,
                spans: from..self.spans.len(),
            });
        }
    }

    fn pace(&self, replica: usize) -> Pace {
        let shown = self.built.spec.shown_stage;
        let Some(stage) = self
            .built
            .stages
            .iter()
            .find(|s| s.replica == replica && s.stage == shown)
        else {
            return Pace::default();
        };
        let last_block = stage
            .blocks
            .last()
            .map(|b| self.time(b.last).end)
            .unwrap_or_default();
        let ready = stage
            .pre
            .last()
            .or(stage.ready.last())
            .map_or(last_block, |op| self.time(*op).end);
        // The last bucket may also queue behind its predecessor, which is no waiting for others.
        let free = stage
            .sync
            .iter()
            .rev()
            .nth(1)
            .map_or(Nanos::ZERO, |op| self.time(*op).end)
            .max(ready);
        let waiting = stage
            .sync
            .last()
            .map_or(Nanos::ZERO, |op| self.time(*op).start.saturating_sub(free));
        Pace { ready, waiting }
    }
}
