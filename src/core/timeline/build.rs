//! From a [`StepSpec`] to operations, and from their times to a [`Timeline`].

mod sync;

use super::engine::{Graph, OpId, StreamId};
use super::pieces::{Piece, Pieces, compute_loss};
use super::result::{NOT, Span, Timeline};
use super::schedule::{Block, Pass, Schedule};
use super::spec::{ReplicaSpec, StageSpec, StepSpec};
use super::{Kind, MAX_OPERATIONS, Stream, TimelineError, draw};
use crate::core::units::Nanos;

/// A block's operations: first and last, and whether they are layer by layer.
#[derive(Clone, Copy)]
pub(super) struct BlockOps {
    pub block: Block,
    pub first: OpId,
    pub last: OpId,
    pub by_layer: bool,
}

/// One stage of one replica in the graph.
pub(super) struct StageOps<'a> {
    pub replica: usize,
    pub stage: u32,
    pub spec: &'a StageSpec,
    pub pieces: Pieces,
    compute: StreamId,
    nvlink: StreamId,
    reshard: StreamId,
    pipeline: StreamId,
    pub blocks: Vec<BlockOps>,
    /// Last operation of each layer's last backward pass; then, of each bucket, the operation after which it is sent.
    pub ready: Vec<OpId>,
    pub pre: Vec<OpId>,
    pub sync: Vec<OpId>,
    pub post: Vec<OpId>,
    pub gather: Vec<OpId>,
    /// Transfers to neighbouring stages.
    pub sends: Vec<OpId>,
    pub optimizer: OpId,
    pub host: Option<OpId>,
}

/// What an operation is drawn as; the span's times come later.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub stream: Stream,
    pub span: Span,
}

pub(super) struct Built<'a> {
    pub spec: &'a StepSpec,
    pub graph: Graph,
    pub tags: Vec<Tag>,
    pub stages: Vec<StageOps<'a>>,
    pub norm: OpId,
}

fn span(kind: Kind) -> Span {
    Span {
        start: Nanos::ZERO,
        end: Nanos::ZERO,
        kind,
        microbatch: 0,
        chunk: 0,
        layer: NOT,
        bucket: NOT,
    }
}

impl StepSpec {
    /// Layers of a chunk of a stage: near equal, the first chunks one more.
    pub(super) fn chunk_layers(&self, stage: &StageSpec, chunk: u32) -> u32 {
        let chunks = self.chunks.max(1);
        stage.layers / chunks + u32::from(chunk < stage.layers % chunks)
    }

    /// First layer of the model in a chunk of a stage, by what the replica's stages hold.
    pub(super) fn first_layer(&self, replica: usize, stage: u32, chunk: u32) -> u32 {
        let stages = self
            .replicas
            .get(replica)
            .map_or(&[][..], |replica| &replica.stages);
        let held = |chunk, count: usize| {
            stages
                .iter()
                .take(count)
                .map(|s| self.chunk_layers(s, chunk))
                .sum::<u32>()
        };
        (0..chunk)
            .map(|earlier| held(earlier, stages.len()))
            .sum::<u32>()
            + held(chunk, stage as usize)
    }
}

/// Runs a step that was validated.
pub(super) fn run(spec: &StepSpec) -> Result<Timeline, TimelineError> {
    let built = Built::whole(spec)?;
    let times = built.graph.run()?;
    Ok(draw::timeline(&built, &times))
}

/// Only how long it takes, of a step that was validated.
pub(super) fn step(spec: &StepSpec) -> Result<Nanos, TimelineError> {
    Ok(draw::step(&Built::whole(spec)?.graph.run()?))
}

impl<'a> Built<'a> {
    fn whole(spec: &'a StepSpec) -> Result<Self, TimelineError> {
        let mut built = Self::new(spec)?;
        built.syncs();
        built.finish();
        Ok(built)
    }

    fn new(spec: &'a StepSpec) -> Result<Self, TimelineError> {
        let room = spec.operations().min(MAX_OPERATIONS) as usize;
        let mut built = Self {
            spec,
            graph: Graph::with_capacity(room),
            tags: Vec::with_capacity(room),
            stages: Vec::new(),
            norm: OpId(0),
        };
        for (index, replica) in spec.replicas.iter().enumerate() {
            built.replica(index, replica)?;
        }
        Ok(built)
    }

    fn push(&mut self, stream: StreamId, work_ns: u64, tag: Tag) -> OpId {
        self.tags.push(tag);
        self.graph.push(stream, work_ns)
    }

    fn replica(&mut self, index: usize, replica: &'a ReplicaSpec) -> Result<(), TimelineError> {
        let schedule =
            Schedule::one_f_one_b(self.spec.stages(), replica.microbatches, self.spec.chunks)?;
        // By block number: the operation its input comes from, and its own first operation.
        let mut sources = vec![OpId(0); schedule.len()];
        let mut firsts = vec![OpId(0); schedule.len()];
        for (stage, spec) in (0..).zip(&replica.stages) {
            self.stage(
                index,
                replica,
                stage,
                spec,
                &schedule,
                &mut sources,
                &mut firsts,
            );
        }
        for stage in 0..schedule.stages {
            for &block in schedule.stage(stage) {
                let Some((from, input)) = schedule.input(stage, block) else {
                    continue;
                };
                let before = sources.get(schedule.index(from, input));
                let after = firsts.get(schedule.index(stage, block));
                if let (Some(&before), Some(&after)) = (before, after) {
                    self.graph.after(before, after);
                }
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)] // one caller, all of it its loop state
    fn stage(
        &mut self,
        index: usize,
        replica: &'a ReplicaSpec,
        stage: u32,
        spec: &'a StageSpec,
        schedule: &Schedule,
        sources: &mut [OpId],
        firsts: &mut [OpId],
    ) {
        let graph = &mut self.graph;
        let mut ops = StageOps {
            replica: index,
            stage,
            spec,
            pieces: Pieces::of(&spec.terms, stage == 0, stage + 1 == schedule.stages),
            compute: graph.stream(),
            nvlink: graph.stream(),
            reshard: graph.stream(),
            pipeline: graph.stream(),
            blocks: Vec::with_capacity(schedule.stage(stage).len()),
            ready: Vec::new(),
            pre: Vec::new(),
            sync: Vec::new(),
            post: Vec::new(),
            gather: Vec::new(),
            sends: Vec::new(),
            optimizer: OpId(0),
            host: None,
        };
        if self.spec.pp_on_nvlink {
            graph.link(&[ops.nvlink, ops.reshard, ops.pipeline]);
        } else {
            graph.link(&[ops.nvlink, ops.reshard]);
        }
        graph.slow(ops.compute, ops.reshard, compute_loss(&spec.terms));
        if schedule.chunks > 1 && !spec.terms.sends_block {
            // 1F1B waits for its transfers; an interleaved schedule computes beside them.
            graph.slow(ops.compute, ops.pipeline, spec.terms.traffic_contention);
        }
        let gathers = spec.parameter_bytes().get() > 0.0;
        let syncs = spec.gradient_bytes().get() > 0.0;
        let send_ns = Nanos::from_seconds(spec.terms.pp_send_s).0;
        let host_ns = Nanos::from_seconds(spec.terms.other_s).0;
        if host_ns > 0 {
            let tag = Tag {
                stream: Stream::Compute,
                span: span(Kind::Host),
            };
            ops.host = Some(self.push(ops.compute, host_ns, tag));
        }
        let mut blocking = None;
        for &block in schedule.stage(stage) {
            let by_layer = match block.pass {
                Pass::Forward => gathers && block.microbatch == 0,
                Pass::Backward => syncs && block.microbatch + 1 == replica.microbatches,
            };
            let (first, last) = if by_layer {
                self.layers(&mut ops, block)
            } else {
                let layers = self.spec.chunk_layers(spec, block.chunk);
                let work = ops.pieces.block_ns(block, self.spec.chunks, layers);
                let kind = if block.pass == Pass::Forward {
                    Kind::Forward
                } else {
                    Kind::Backward
                };
                let drawn = Span {
                    microbatch: block.microbatch,
                    chunk: block.chunk as u16,
                    ..span(kind)
                };
                let op = self.push(
                    ops.compute,
                    work,
                    Tag {
                        stream: Stream::Compute,
                        span: drawn,
                    },
                );
                (op, op)
            };
            if let Some(previous) = ops.blocks.last() {
                // A block may end with a collective, which its own stream does not order before the next block.
                self.graph.after(previous.last, first);
            }
            if let (true, Some(host)) = (ops.blocks.is_empty(), ops.host) {
                self.graph.after(host, first);
            }
            if let Some(send) = blocking {
                self.graph.after(send, first);
            }
            ops.blocks.push(BlockOps {
                block,
                first,
                last,
                by_layer,
            });
            let ends = match block.pass {
                Pass::Forward => stage + 1 == schedule.stages && block.chunk + 1 == schedule.chunks,
                Pass::Backward => stage == 0 && block.chunk == 0,
            };
            let mut source = last;
            if send_ns > 0 && schedule.stages > 1 && !ends {
                let drawn = Span {
                    microbatch: block.microbatch,
                    chunk: block.chunk as u16,
                    ..span(Kind::PpSend)
                };
                source = self.push(
                    ops.pipeline,
                    send_ns,
                    Tag {
                        stream: Stream::Pipeline,
                        span: drawn,
                    },
                );
                self.graph.after(last, source);
                ops.sends.push(source);
            }
            // Without overlap the interleaved schedule waits for each transfer; 1F1B has nothing to run meanwhile.
            blocking =
                (spec.terms.sends_block && schedule.chunks > 1 && source != last).then_some(source);
            let number = schedule.index(stage, block);
            if let (Some(from), Some(to)) = (sources.get_mut(number), firsts.get_mut(number)) {
                (*from, *to) = (source, first);
            }
        }
        self.stages.push(ops);
    }

    /// One block layer by layer; TP and CP collectives on NVLink, compute waiting for each. First and last operation.
    fn layers(&mut self, ops: &mut StageOps<'a>, block: Block) -> (OpId, OpId) {
        let count = self.spec.chunk_layers(ops.spec, block.chunk);
        let base = self.spec.first_layer(ops.replica, ops.stage, block.chunk);
        let mut first = None;
        let mut last = OpId(0);
        // Compute follows compute on its own stream; only a change of stream needs an edge.
        let mut on_nvlink = false;
        let mut emit = |this: &mut Self, piece: &Piece, layer: u16| {
            let stream = if piece.on_nvlink() {
                ops.nvlink
            } else {
                ops.compute
            };
            let lane = if piece.on_nvlink() {
                Stream::NvLink
            } else {
                Stream::Compute
            };
            let drawn = Span {
                microbatch: block.microbatch,
                chunk: block.chunk as u16,
                layer,
                ..span(piece.kind)
            };
            let op = this.push(
                stream,
                piece.ns,
                Tag {
                    stream: lane,
                    span: drawn,
                },
            );
            if first.is_none() {
                first = Some(op);
            } else if on_nvlink || piece.on_nvlink() {
                this.graph.after(last, op);
            }
            on_nvlink = piece.on_nvlink();
            last = op;
            op
        };
        for piece in ops.pieces.before(block, self.spec.chunks) {
            emit(self, &piece, NOT);
        }
        for step in 0..count {
            let layer = match block.pass {
                Pass::Forward => step,
                Pass::Backward => count - 1 - step,
            };
            let number = (base + layer).min(u32::from(NOT) - 1) as u16;
            let mut end = OpId(0);
            for piece in ops.pieces.layer(block.pass) {
                end = emit(self, piece, number);
            }
            if block.pass == Pass::Backward {
                ops.ready.push(end);
            }
        }
        for piece in ops.pieces.after(block, self.spec.chunks) {
            emit(self, &piece, NOT);
        }
        (first.unwrap_or(last), last)
    }

    /// Gradient norm of the whole job, then the optimizer everywhere, then what is left of the step.
    fn finish(&mut self) {
        let global = self.graph.stream();
        let silent = Tag {
            stream: Stream::Compute,
            span: span(Kind::Host),
        };
        self.norm = self.push(global, 0, silent);
        for index in 0..self.stages.len() {
            let Some(ops) = self.stages.get(index) else {
                continue;
            };
            let ends = [
                ops.blocks.last().map(|b| b.last),
                ops.sync.last().copied(),
                ops.post.last().copied(),
            ];
            let compute = ops.compute;
            let optimizer_ns = Nanos::from_seconds(ops.spec.terms.optimizer_s).0;
            for end in ends.into_iter().flatten() {
                self.graph.after(end, self.norm);
            }
            let tag = |kind: Kind| Tag {
                stream: Stream::Compute,
                span: span(kind),
            };
            let optimizer = self.push(compute, optimizer_ns, tag(Kind::Optimizer));
            self.graph.after(self.norm, optimizer);
            if let Some(ops) = self.stages.get_mut(index) {
                ops.optimizer = optimizer;
            }
        }
    }
}
