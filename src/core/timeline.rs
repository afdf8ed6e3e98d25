//! One training step as a timeline: streams, spans, dependencies, exposed time.
//!
//! A [`StepSpec`] names the replicas that take part in one job's step (a healthy one, and one that lost GPUs); [`simulate`]
//! runs them as discrete events in integer nanoseconds and gives a [`Timeline`]. Durations come from
//! [`crate::core::cost::terms`]; this module decides only what waits for what:
//!
//! - each stage runs forward and backward blocks in the order of its [`Schedule`]; transfers to the next stage run on
//!   their own stream;
//! - gradients of a bucket are ready when the last micro-batch's backward pass has gone through its layers; a healthy
//!   replica then gathers them on its core ranks (pre-sync), all replicas reduce them together (DP sync, at the pace of
//!   the slowest), and the core ranks return the extra ranks' share (post-sync), in bucket order on one stream, so that no
//!   return starts before every pre-sync is launched;
//! - a step opens with what the host does outside the model (data, logging) and ends with the optimizer, which starts
//!   everywhere at once, after the gradient norm of the whole job is known;
//! - with a distributed optimizer, the parameters that the previous step updated are gathered bucket by bucket under the
//!   first forward pass.

mod build;
mod compare;
mod draw;
mod engine;
mod pieces;
mod result;
mod schedule;
mod settings;
mod spec;
pub mod text;
pub mod trace;

pub use compare::{Group, StepView, World, exposed_by_bucket, view};
pub use draw::DETAIL_SPANS;
pub use engine::{MAX_OPERATION_NS, Time};
pub use result::{Detail, Flow, FlowKind, Lane, NOT, Pace, Span, Timeline};
pub use schedule::{Block, Pass, Schedule};
pub use settings::{BUCKET_RANGE_BYTES, FACTOR_RANGE, Settings};
pub use spec::{DISTINCT_REPLICAS, ReplicaKind, ReplicaSpec, StageSpec, StepSpec};

use crate::core::hardware::FieldError;
use crate::core::units::Nanos;
use serde::Serialize;

/// Most operations that are simulated, and most spans that are drawn or exported.
pub const MAX_OPERATIONS: u64 = 1_000_000;

/// What a span does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Forward compute.
    Forward,
    /// Backward compute.
    Backward,
    /// Forward compute done again in the backward pass.
    Recompute,
    /// Tensor-parallel collective that compute waits for.
    TpComm,
    /// Context-parallel exchange that compute waits for.
    CpComm,
    /// Gradients from extra to core ranks.
    PreSync,
    /// Gradient reduction over the replicas.
    DpSync,
    /// Gradients back from core to extra ranks.
    PostSync,
    /// Activations or their gradients between stages.
    PpSend,
    /// Updated parameters gathered over the replicas.
    ParamGather,
    /// Optimizer step.
    Optimizer,
    /// Host-bound time outside the model: data, logging.
    Host,
}

impl Kind {
    /// All kinds, in the order of the legend.
    pub const ALL: [Self; 12] = [
        Self::Forward,
        Self::Backward,
        Self::Recompute,
        Self::TpComm,
        Self::CpComm,
        Self::PreSync,
        Self::DpSync,
        Self::PostSync,
        Self::PpSend,
        Self::ParamGather,
        Self::Optimizer,
        Self::Host,
    ];

    /// Name of its slices, the same for all of them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Recompute => "recompute",
            Self::TpComm => "TP comm",
            Self::CpComm => "CP comm",
            Self::PreSync => "pre-sync reshard",
            Self::DpSync => "DP sync",
            Self::PostSync => "post-sync reshard",
            Self::PpSend => "PP send",
            Self::ParamGather => "parameter gather",
            Self::Optimizer => "optimizer",
            Self::Host => "host",
        }
    }

    /// Position in [`Kind::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A stream of one GPU. Streams of one link may run together; each runs one operation at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Kernels.
    Compute,
    /// TP and CP collectives, on NVLink.
    NvLink,
    /// Gradient resharding, on NVLink.
    Reshard,
    /// Reduction and parameter gather over the replicas, on the scale-out network.
    ScaleOut,
    /// Transfers to neighbouring stages, on NVLink where they share a domain, else on the scale-out network.
    Pipeline,
}

impl Stream {
    /// All streams of a GPU, top to bottom.
    pub const ALL: [Self; 5] = [
        Self::Compute,
        Self::NvLink,
        Self::Reshard,
        Self::ScaleOut,
        Self::Pipeline,
    ];

    /// Name of its track.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::NvLink => "NVLink",
            Self::Reshard => "NVLink reshard",
            Self::ScaleOut => "scale-out",
            Self::Pipeline => "PP send",
        }
    }
}

/// Why there is no timeline: always one line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimelineError {
    /// A value that is not allowed. Fatal until it is changed.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// More operations than are simulated. Fewer micro-batches, chunks, layers or a larger bucket help.
    #[error(
        "timeline: {needed} operations are not allowed, expected at most {MAX_OPERATIONS}; fewer micro-batches, stages or chunks, or larger buckets, need fewer"
    )]
    TooMany {
        /// Operations the step would take.
        needed: u64,
    },
    /// One operation is longer than the clock can hold beside the others.
    #[error("timeline: an operation of {seconds:.0} s is not allowed, expected at most {} s", MAX_OPERATION_NS / 1_000_000_000)]
    TooLong {
        /// Its length.
        seconds: f64,
    },
    /// Operations wait for one another in a circle: a defect of the schedule.
    #[error("timeline: the schedule locks up after {done} of {of} operations")]
    Stuck {
        /// Operations that ran.
        done: usize,
        /// All of them.
        of: usize,
    },
}

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod tests;

/// Runs one step.
pub fn simulate(spec: &StepSpec) -> Result<Timeline, TimelineError> {
    spec.validate()?;
    build::run(spec)
}

/// How long one step takes: [`Timeline::step`] without the rest of it.
pub fn step_time(spec: &StepSpec) -> Result<Nanos, TimelineError> {
    spec.validate()?;
    build::step(spec)
}
