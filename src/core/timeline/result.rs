//! What a simulated step looks like: lanes of spans, arrows between them, and what they add up to.

use super::spec::{StageSpec, StepSpec};
use super::{Kind, Stream};
use crate::core::units::{Bytes, BytesPerSecond, Flops, Nanos, Seconds};
use serde::Serialize;
use std::ops::Range;

/// Field of a [`Span`] that does not apply to it.
pub const NOT: u16 = u16::MAX;

/// One thing that a stream does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First nanosecond.
    pub start: Nanos,
    /// First nanosecond after it.
    pub end: Nanos,
    /// What it does.
    pub kind: Kind,
    /// Micro-batch, from 0; 0 where none is meant.
    pub microbatch: u32,
    /// Chunk of its stage, from 0.
    pub chunk: u16,
    /// Layer of the model, from 0, or [`NOT`] for a whole block or what is no layer's.
    pub layer: u16,
    /// Gradient bucket in the order they close, from 0, or [`NOT`].
    pub bucket: u16,
}

impl Span {
    /// How long it takes.
    pub fn duration(&self) -> Nanos {
        self.end.saturating_sub(self.start)
    }
    /// Layer, where it is one layer's.
    pub fn layer(&self) -> Option<u32> {
        (self.layer != NOT).then_some(u32::from(self.layer))
    }
    /// Bucket, where it is one bucket's.
    pub fn bucket(&self) -> Option<u32> {
        (self.bucket != NOT).then_some(u32::from(self.bucket))
    }
}

/// One stream of one GPU of one replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Position in [`StepSpec::replicas`].
    pub replica: usize,
    /// Pipeline stage.
    pub stage: u32,
    /// Which stream.
    pub stream: Stream,
    /// Its spans in [`Timeline::spans`], in order of time, none overlapping another.
    pub spans: Range<usize>,
}

/// What an arrow says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// Gradients of a bucket are ready: to its pre-sync, or to its DP sync where nothing is resharded.
    Ready,
    /// Gathered on the core ranks: to the DP sync.
    Gathered,
    /// Reduced: to the post-sync.
    Reduced,
    /// Everything is back: to the optimizer.
    Done,
}

impl FlowKind {
    /// Words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ready => "gradients ready",
            Self::Gathered => "gathered on core ranks",
            Self::Reduced => "reduced",
            Self::Done => "gradients complete",
        }
    }
}

/// An arrow between two spans of the streams of one GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// What it says.
    pub kind: FlowKind,
    /// Span it leaves at its end, in [`Timeline::spans`].
    pub from: usize,
    /// Span it enters at its start.
    pub to: usize,
}

/// How one replica fared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// When its last bucket of the shown stage could be reduced.
    pub ready: Nanos,
    /// How long that bucket then waited for the other replicas.
    pub waiting: Nanos,
}

/// One simulated step.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// What was simulated.
    pub spec: StepSpec,
    /// Spans of all lanes, lane by lane.
    pub spans: Vec<Span>,
    /// Streams of one GPU of the shown stage, replica by replica, layer by layer where there is room.
    pub streams: Vec<Lane>,
    /// Blocks of every stage and, below them, its DP sync, replica by replica.
    pub pipeline: Vec<Lane>,
    /// Arrows between spans of [`Timeline::streams`].
    pub flows: Vec<Flow>,
    /// End of the last operation: the time of the step.
    pub step: Nanos,
    /// When all gradients of the whole job are complete and the optimizer starts.
    pub optimizer_start: Nanos,
    /// When the DP sync of the shown stage's last bucket ends; the optimizer's start where there is none.
    pub last_sync_end: Nanos,
    /// One a replica.
    pub pace: Vec<Pace>,
    /// Operations simulated.
    pub operations: usize,
    /// Whether every block is drawn layer by layer; if not, only the first forward and the last backward pass are.
    pub every_layer: bool,
}

/// What is known about one span beyond its place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Detail {
    /// Bytes one GPU sends.
    pub bytes: Option<Bytes>,
    /// Model FLOPs done by one GPU.
    pub flops: Option<Flops>,
}

impl Detail {
    /// Bytes over the time they took.
    pub fn bandwidth(&self, span: &Span) -> Option<BytesPerSecond> {
        let time = span.duration().seconds();
        self.bytes
            .filter(|_| time.get() > 0.0)
            .map(|bytes| bytes / time)
    }
}

impl Timeline {
    /// Spans of a lane.
    pub fn lane(&self, lane: &Lane) -> &[Span] {
        self.spans.get(lane.spans.clone()).unwrap_or(&[])
    }

    /// The lane of a stream of the shown GPU of a replica.
    pub fn stream(&self, replica: usize, stream: Stream) -> Option<&Lane> {
        self.streams
            .iter()
            .find(|lane| lane.replica == replica && lane.stream == stream)
    }

    /// The lane that holds a span.
    pub fn lane_of(&self, span: usize) -> Option<&Lane> {
        self.streams
            .iter()
            .chain(&self.pipeline)
            .find(|lane| lane.spans.contains(&span))
    }

    /// Busy time by kind over the shown streams of a replica, cut to a range; in the order of [`Kind::ALL`].
    pub fn totals(&self, replica: usize, from: Nanos, to: Nanos) -> [Nanos; Kind::ALL.len()] {
        let mut totals = [Nanos::ZERO; Kind::ALL.len()];
        for lane in self.streams.iter().filter(|lane| lane.replica == replica) {
            for span in self.lane(lane) {
                if let Some(total) = totals.get_mut(span.kind.index()) {
                    *total += span.end.min(to).saturating_sub(span.start.max(from));
                }
            }
        }
        totals
    }

    /// The replica whose gradients come last, where there is more than one and they differ.
    pub fn slowest(&self) -> Option<usize> {
        let last = self.pace.iter().map(|pace| pace.ready).max()?;
        let differ = self.pace.iter().any(|pace| pace.ready != last);
        self.pace
            .iter()
            .position(|pace| pace.ready == last)
            .filter(|_| differ)
    }

    /// Bytes and FLOPs of a span of a lane.
    pub fn detail(&self, lane: &Lane, span: &Span) -> Detail {
        let Some(stage) = self
            .spec
            .replicas
            .get(lane.replica)
            .and_then(|r| r.stages.get(lane.stage as usize))
        else {
            return Detail::default();
        };
        let buckets = f64::from(self.spec.buckets(lane.stage).max(1));
        let bytes = |bytes: Bytes| Detail {
            bytes: Some(bytes),
            flops: None,
        };
        match span.kind {
            Kind::PreSync | Kind::PostSync => bytes(stage.reshard_bytes() / buckets),
            Kind::DpSync => bytes(stage.gradient_bytes() / buckets),
            Kind::ParamGather => bytes(stage.parameter_bytes() / buckets),
            Kind::PpSend => bytes(stage.pp_bytes),
            Kind::TpComm => bytes(stage.tp_bytes),
            Kind::Forward | Kind::Backward | Kind::Recompute => self.flops(stage, span),
            Kind::CpComm | Kind::Optimizer | Kind::Host => Detail::default(),
        }
    }

    fn flops(&self, stage: &StageSpec, span: &Span) -> Detail {
        let passes = if span.kind == Kind::Backward {
            2.0
        } else {
            1.0
        };
        let layers = if span.layer == NOT {
            f64::from(self.spec.chunk_layers(stage, u32::from(span.chunk)))
        } else {
            // A layer is drawn as its attention and its MLP half.
            0.5
        };
        let flops = stage.layer_flops * (passes * layers);
        Detail {
            bytes: None,
            flops: (flops.get() > 0.0).then_some(flops),
        }
    }

    /// Mean FLOP/s of a span's compute.
    pub fn rate(&self, lane: &Lane, span: &Span) -> Option<f64> {
        let seconds: Seconds = span.duration().seconds();
        let flops = self.detail(lane, span).flops?;
        (seconds.get() > 0.0).then(|| flops.get() / seconds.get())
    }
}
