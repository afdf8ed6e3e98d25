//! What one step is made of: the replicas of one job, stage by stage.

use super::{MAX_OPERATIONS, Schedule, TimelineError};
use crate::core::cost::{Replica, Terms, terms};
use crate::core::hardware::FieldError;
use crate::core::order;
use crate::core::scenario::{FailureKind, Job};
use crate::core::strategy::{Outcome, ReplicaPlan};
use crate::core::units::{Bytes, Flops, Seconds};
use serde::Serialize;

/// Most sorts of replicas that are simulated together; the rest would look like one of them.
pub const DISTINCT_REPLICAS: usize = 8;

/// How a replica takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicaKind {
    /// Full TP degree; reshards its gradients when others cannot.
    Healthy,
    /// Reduced TP degree.
    Reduced,
    /// Reduced TP degree at a raised clock.
    Boosted,
}

impl ReplicaKind {
    /// Heading of its tracks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::Reduced => "Reduced",
            Self::Boosted => "Boosted",
        }
    }
}

/// One pipeline stage of one replica, seen from one of its GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSpec {
    /// Durations and volumes.
    pub terms: Terms,
    /// Layers of this stage.
    pub layers: u32,
    /// TP degree.
    pub degree: u32,
    /// Compute factor, 1 at base clock.
    pub perf: f64,
    /// Domain and GPU whose streams are shown.
    pub gpu: (u32, u32),
    /// Model FLOPs of one layer's forward pass, one micro-batch, on one rank.
    pub layer_flops: Flops,
    /// Tensor that one TP collective moves, one micro-batch.
    pub tp_bytes: Bytes,
    /// Activations that one rank sends to the next stage, one micro-batch.
    pub pp_bytes: Bytes,
}

impl StageSpec {
    /// A stage without a place or volumes of its own, for a given number of layers.
    pub fn new(terms: Terms, layers: u32) -> Self {
        Self {
            terms,
            layers,
            degree: 1,
            perf: 1.0,
            gpu: (0, 0),
            layer_flops: Flops::ZERO,
            tp_bytes: Bytes::ZERO,
            pp_bytes: Bytes::ZERO,
        }
    }

    /// Gradient bytes per rank of this stage; [`Terms`] holds those of the fullest.
    pub fn gradient_bytes(&self) -> Bytes {
        self.terms.gradient_bytes * self.share()
    }
    /// Parameter bytes gathered per rank of this stage.
    pub fn parameter_bytes(&self) -> Bytes {
        self.terms.parameter_bytes * self.share()
    }
    /// Bytes an extra rank of this stage sends in pre-sync.
    pub fn reshard_bytes(&self) -> Bytes {
        self.terms.reshard_bytes * self.share()
    }
    fn share(&self) -> f64 {
        f64::from(self.layers) / f64::from(self.terms.layers_per_stage.max(1))
    }
}

/// One replica, standing for all that are like it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplicaSpec {
    /// How it takes part.
    pub kind: ReplicaKind,
    /// Logical index of the first of them.
    pub index: u32,
    /// How many there are.
    pub count: u32,
    /// Sequences per step.
    pub local_batch: u32,
    /// Micro-batches per step.
    pub microbatches: u32,
    /// Highest power of its GPUs, x TDP.
    pub boost_p: f64,
    /// Its stages, first to last.
    pub stages: Vec<StageSpec>,
}

/// One job's step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSpec {
    /// One replica of each kind that takes part; all have the same number of stages.
    pub replicas: Vec<ReplicaSpec>,
    /// Interleaved chunks per stage.
    pub chunks: u32,
    /// Largest gradient bucket per rank; a stage's gradients are cut into equal buckets no larger.
    pub bucket_bytes: Bytes,
    /// Whether DP traffic and resharding run beside compute; if not, they follow it.
    pub overlap: bool,
    /// Whether neighbouring stages share an NVLink domain.
    pub pp_on_nvlink: bool,
    /// Stage whose GPU is shown stream by stream.
    pub shown_stage: u32,
}

impl StepSpec {
    /// Pipeline stages.
    pub fn stages(&self) -> u32 {
        self.replicas
            .first()
            .map_or(0, |replica| replica.stages.len() as u32)
    }

    /// The same step with resharding taking no time and disturbing nothing: what it is measured against.
    #[must_use]
    pub fn without_reshard(&self) -> Self {
        let mut spec = self.clone();
        for stage in spec
            .replicas
            .iter_mut()
            .flat_map(|replica| &mut replica.stages)
        {
            stage.terms.reshard_bytes = Bytes::ZERO;
        }
        spec
    }

    /// Buckets of a stage's gradients: the same in every replica, so that they can meet.
    pub fn buckets(&self, stage: u32) -> u32 {
        let largest = self
            .replicas
            .iter()
            .filter_map(|replica| replica.stages.get(stage as usize))
            .map(|stage| stage.gradient_bytes().get())
            .fold(0.0, f64::max);
        let count = (largest / self.bucket_bytes.get().max(1.0)).ceil();
        if largest > 0.0 {
            count.clamp(1.0, f64::from(u16::MAX)) as u32
        } else {
            0
        }
    }

    /// Checks every count and duration, and that the step stays below [`MAX_OPERATIONS`].
    pub fn validate(&self) -> Result<(), TimelineError> {
        let stages = self.stages();
        if stages == 0 {
            return Err(FieldError::new("layout.pp", stages, "at least 1").into());
        }
        if self.chunks == 0 {
            return Err(FieldError::new("layout.vp", self.chunks, "at least 1").into());
        }
        let bucket = self.bucket_bytes.get();
        if !(bucket.is_finite() && bucket >= 1.0) {
            return Err(FieldError::new("timeline.bucket_bytes", bucket, "at least 1 byte").into());
        }
        if self.shown_stage >= stages {
            let allowed = format!("0 to {}", stages - 1);
            return Err(FieldError::new("timeline.stage", self.shown_stage, allowed).into());
        }
        for replica in &self.replicas {
            if replica.stages.len() as u32 != stages {
                let allowed = format!("{stages}, as in every replica");
                return Err(FieldError::new("layout.pp", replica.stages.len(), allowed).into());
            }
            if replica.microbatches == 0 {
                return Err(FieldError::new("timeline.microbatches", 0, "at least 1").into());
            }
            for (index, stage) in replica.stages.iter().enumerate() {
                self.validate_stage(index as u32, stage)?;
            }
        }
        let needed = self.operations();
        if needed > MAX_OPERATIONS {
            Err(TimelineError::TooMany { needed })
        } else {
            Ok(())
        }
    }

    /// Operations that the step takes at most.
    pub fn operations(&self) -> u64 {
        let mut needed = 0_u64;
        for replica in &self.replicas {
            for (index, stage) in (0..).zip(&replica.stages) {
                let blocks = 2 * u64::from(replica.microbatches) * u64::from(self.chunks);
                // Blocks with their transfers, the two passes that are simulated layer by layer, buckets.
                let layers = 16 * u64::from(stage.layers);
                needed =
                    needed.saturating_add(2 * blocks + layers + 4 * u64::from(self.buckets(index)));
            }
        }
        needed
    }

    fn validate_stage(&self, index: u32, stage: &StageSpec) -> Result<(), TimelineError> {
        if stage.layers < self.chunks {
            let what = format!("{} on stage {index}", stage.layers);
            let allowed = format!(
                "at least {} (one per chunk; fewer stages or chunks help)",
                self.chunks
            );
            return Err(FieldError::new("model.layers", what, allowed).into());
        }
        if stage.layers > u32::from(u16::MAX) {
            return Err(
                FieldError::new("model.layers", stage.layers, "at most 65535 per stage").into(),
            );
        }
        let t = &stage.terms;
        let l = &t.layer;
        let durations = [
            ("forward_s", l.forward_s),
            ("backward_s", l.backward_s),
            ("recompute_s", l.recompute_s),
            ("forward_tp_s", l.forward_tp_s),
            ("backward_tp_s", l.backward_tp_s),
            ("forward_cp_s", l.forward_cp_s),
            ("backward_cp_s", l.backward_cp_s),
            ("embedding_s", t.embedding_s),
            ("head_forward_s", t.head_forward_s),
            ("head_backward_s", t.head_backward_s),
            ("pp_send_s", t.pp_send_s),
            ("dp_latency_s", t.dp_latency_s),
            ("alltoall_latency_s", t.alltoall_latency_s),
            ("optimizer_s", t.optimizer_s),
            ("other_s", t.other_s),
        ];
        for (name, value) in durations {
            if !(value.get().is_finite() && value.get() >= 0.0) {
                return Err(FieldError::new(name, value.get(), "0 or more seconds").into());
            }
        }
        let moves = [
            (
                "system.gpu.scaleout_gbit_s",
                t.gradient_bytes.max(t.parameter_bytes),
                t.dp_bandwidth,
            ),
            (
                "system.gpu.nvlink_gb_s_bidir",
                t.reshard_bytes,
                t.alltoall_bandwidth,
            ),
        ];
        for (name, bytes, bandwidth) in moves {
            let bad =
                !bytes.get().is_finite() || !bandwidth.get().is_finite() || bandwidth.get() <= 0.0;
            if bytes.get() != 0.0 && bad {
                return Err(FieldError::new(name, bandwidth.get(), "above 0").into());
            }
        }
        Ok(())
    }

    /// The step of the job without failures: one healthy replica that reshards nothing.
    pub fn healthy(
        job: &Job,
        bucket_bytes: Bytes,
        shown_stage: u32,
    ) -> Result<Self, TimelineError> {
        let layout = &job.scenario.layout;
        let plan = Plan {
            kind: ReplicaKind::Healthy,
            index: 0,
            degrees: vec![layout.tp; layout.pp as usize],
            perf: vec![1.0; layout.pp as usize],
            slots: (0..layout.groups_per_replica()).collect(),
            local_batch: layout.local_batch(),
            boost_p: 1.0,
            count: layout.dp,
        };
        Self::build(job, &[plan], bucket_bytes, shown_stage)
    }

    /// The step of the job under `ntp` or `ntp-pw`: one replica of each sort that takes part, at most
    /// [`DISTINCT_REPLICAS`], the healthy ones' first. Error where every replica is dropped or the job is paused.
    pub fn of_outcome(
        job: &Job,
        outcome: &Outcome,
        bucket_bytes: Bytes,
        shown_stage: u32,
    ) -> Result<Self, TimelineError> {
        let mut plans: Vec<Plan> = Vec::new();
        for replica in outcome
            .replicas
            .iter()
            .filter(|replica| replica.local_batch > 0)
        {
            let plan = Plan::of(job, outcome, replica);
            if let Some(same) = plans.iter_mut().find(|other| other.is_like(&plan)) {
                same.count += 1;
            } else {
                plans.push(plan);
            }
        }
        if plans.is_empty() {
            let allowed = "few enough for one replica to run";
            return Err(FieldError::new("failures", job.scenario.failures.len(), allowed).into());
        }
        // Healthy ones first, the most frequent of them leading; then as the strategy sorts them, worst first.
        order::sort_by_key(&mut plans, |plan| {
            (
                plan.kind != ReplicaKind::Healthy,
                if plan.kind == ReplicaKind::Healthy {
                    u32::MAX - plan.count
                } else {
                    plan.index
                },
            )
        });
        plans.truncate(DISTINCT_REPLICAS);
        Self::build(job, &plans, bucket_bytes, shown_stage)
    }

    /// The replica that shows best what the failures did: the most boosted one, then the smallest batch, then the lowest
    /// degree. None where all are healthy.
    pub fn worst(&self) -> Option<usize> {
        let degree = |replica: &ReplicaSpec| replica.stages.iter().map(|stage| stage.degree).min();
        let affected = self
            .replicas
            .iter()
            .enumerate()
            .filter(|(_, r)| r.kind != ReplicaKind::Healthy);
        affected
            .min_by(|(_, a), (_, b)| {
                b.boost_p
                    .total_cmp(&a.boost_p)
                    .then((a.local_batch, degree(a)).cmp(&(b.local_batch, degree(b))))
            })
            .map(|(position, _)| position)
    }

    fn build(
        job: &Job,
        plans: &[Plan],
        bucket_bytes: Bytes,
        shown_stage: u32,
    ) -> Result<Self, TimelineError> {
        let layout = &job.scenario.layout;
        for (field, value) in [
            ("model.layers", job.model.layers),
            ("layout.pp", layout.pp),
            ("layout.vp", layout.vp),
        ] {
            if value == 0 {
                return Err(FieldError::new(field, value, "at least 1").into());
            }
        }
        if layout.pp.saturating_mul(layout.vp) > job.model.layers {
            let allowed = format!(
                "1 to {} (every chunk of every stage holds a layer of {})",
                job.model.layers / layout.vp,
                job.model.layers
            );
            return Err(FieldError::new("layout.pp", layout.pp, allowed).into());
        }
        let mut replicas = Vec::with_capacity(plans.len());
        for plan in plans {
            let sync: Vec<u32> = (0..layout.pp as usize)
                .map(|stage| {
                    plans
                        .iter()
                        .filter_map(|other| other.degrees.get(stage))
                        .copied()
                        .min()
                        .unwrap_or(layout.tp)
                })
                .collect();
            replicas.push(plan.spec(job, &sync));
        }
        let spec = Self {
            replicas,
            chunks: layout.vp,
            bucket_bytes,
            overlap: layout.overlap,
            pp_on_nvlink: u64::from(layout.tp) * u64::from(layout.groups_per_replica())
                <= u64::from(job.system.domain_size),
            shown_stage,
        };
        spec.validate()?;
        // Also refuses more blocks than the cap before anything is allocated for them.
        for replica in &spec.replicas {
            Schedule::check(spec.stages(), replica.microbatches, spec.chunks)?;
        }
        Ok(spec)
    }
}

/// A replica by what the strategy decided for it.
#[derive(Clone, Debug)]
struct Plan {
    kind: ReplicaKind,
    index: u32,
    degrees: Vec<u32>,
    perf: Vec<f64>,
    slots: Vec<u32>,
    local_batch: u32,
    boost_p: f64,
    count: u32,
}

impl Plan {
    fn of(job: &Job, outcome: &Outcome, replica: &ReplicaPlan) -> Self {
        let layout = &job.scenario.layout;
        let cp = layout.cp.max(1) as usize;
        // A stage is as wide as the narrowest of its CP groups.
        let degrees: Vec<u32> = (0..layout.pp as usize)
            .map(|stage| {
                replica
                    .degrees
                    .iter()
                    .skip(stage * cp)
                    .take(cp)
                    .copied()
                    .min()
                    .unwrap_or(layout.tp)
            })
            .collect();
        let kept_slow = |stage: usize| {
            outcome
                .slow
                .iter()
                .filter(|choice| {
                    !choice.bench
                        && replica
                            .slots
                            .iter()
                            .skip(stage * cp)
                            .take(cp)
                            .any(|slot| *slot == choice.slot)
                })
                .map(|choice| choice.speed)
                .fold(1.0, f64::min)
        };
        let perf = degrees
            .iter()
            .enumerate()
            .map(|(stage, degree)| {
                kept_slow(stage)
                    * if *degree < layout.tp {
                        replica.perf
                    } else {
                        1.0
                    }
            })
            .collect();
        let whole = degrees.iter().all(|degree| *degree >= layout.tp);
        let kind = match (whole, replica.boost_p > 1.0) {
            (true, _) => ReplicaKind::Healthy,
            (false, false) => ReplicaKind::Reduced,
            (false, true) => ReplicaKind::Boosted,
        };
        Self {
            kind,
            index: replica.index,
            degrees,
            perf,
            slots: replica.slots.clone(),
            local_batch: replica.local_batch,
            boost_p: replica.boost_p,
            count: 1,
        }
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.degrees, &self.perf, self.local_batch)
            == (&other.degrees, &other.perf, other.local_batch)
            && self.boost_p == other.boost_p
    }

    fn spec(&self, job: &Job, sync: &[u32]) -> ReplicaSpec {
        let (layout, model) = (&job.scenario.layout, &job.model);
        let tokens =
            f64::from(layout.microbatch) * f64::from(layout.seq) / f64::from(layout.cp.max(1));
        let activations = Bytes(2.0 * tokens * f64::from(model.hidden));
        let layer = tokens
            * (2.0 * model.layer_parameters()
                + 4.0 * f64::from(layout.seq) * f64::from(model.hidden));
        let mut microbatches = 1;
        let stages = (0..layout.pp)
            .zip(self.degrees.iter().zip(&self.perf))
            .map(|(stage, (&degree, &perf))| {
                let terms = terms(&Replica {
                    system: &job.system,
                    model,
                    layout,
                    degree,
                    sync_degree: sync
                        .get(stage as usize)
                        .copied()
                        .unwrap_or(degree)
                        .min(degree),
                    local_batch: self.local_batch,
                    perf,
                    heads: job.scenario.policy.heads,
                });
                microbatches = terms.microbatches.max(1);
                let ranks = f64::from(degree.max(1));
                StageSpec {
                    layers: terms.layers_of(stage),
                    degree,
                    perf,
                    gpu: self.gpu(job, stage),
                    layer_flops: Flops(layer / ranks),
                    tp_bytes: activations,
                    pp_bytes: if layout.sequence_parallel {
                        activations / ranks
                    } else {
                        activations
                    },
                    terms,
                }
            })
            .collect();
        ReplicaSpec {
            kind: self.kind,
            index: self.index,
            local_batch: self.local_batch,
            microbatches,
            boost_p: self.boost_p,
            count: self.count,
            stages,
        }
    }

    /// The first GPU of the stage's first slot that works.
    fn gpu(&self, job: &Job, stage: u32) -> (u32, u32) {
        let layout = &job.scenario.layout;
        let slot = self
            .slots
            .get((stage * layout.cp.max(1)) as usize)
            .copied()
            .unwrap_or(0);
        let per_domain = job.placement.slots_per_domain.max(1);
        let (domain, first) = (slot / per_domain, (slot % per_domain) * job.placement.tp);
        let failed = |gpu: u32| {
            job.scenario.failures.iter().any(|failure| {
                let radius = failure.blast_radius.unwrap_or(1).max(1);
                let start = failure.gpu / radius * radius;
                failure.kind != FailureKind::Slow
                    && failure.domain == domain
                    && (start..start + radius).contains(&gpu)
            })
        };
        let gpu = (first..first + job.placement.tp)
            .find(|gpu| !failed(*gpu))
            .unwrap_or(first);
        (domain, gpu)
    }
}

/// Time of a transfer: latency and bytes over bandwidth.
pub(super) fn transfer(
    bytes: Bytes,
    bandwidth: crate::core::units::BytesPerSecond,
    latency: Seconds,
) -> Seconds {
    if bytes.get() > 0.0 {
        latency + bytes / bandwidth
    } else {
        Seconds::ZERO
    }
}
