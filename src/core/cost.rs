//! Step time and memory of one replica, by term.
//!
//! Two levels: [`terms`] gives the durations of the pieces (per layer and micro-batch), which the timeline simulator
//! schedules; [`step`] adds them up analytically, which everything else uses.

use super::hardware::System;
use super::scenario::{HeadSplit, Layout};
use super::units::{Bytes, BytesPerSecond, Flops, Seconds};
use super::workload::Model;
use serde::Serialize;

/// What one replica runs: everything the step time depends on.
#[derive(Clone, Copy, Debug)]
pub struct Replica<'a> {
    /// Hardware.
    pub system: &'a System,
    /// Transformer.
    pub model: &'a Model,
    /// The healthy layout: TP degree n1, PP, DP, CP, VP, sequence, precision, recompute, overlap.
    pub layout: &'a Layout,
    /// TP degree this replica computes at (n2 <= layout.tp; equal for a healthy one).
    pub degree: u32,
    /// Lowest TP degree any replica of the job runs at; below `degree`, this replica reshards its gradients.
    pub sync_degree: u32,
    /// Sequences this replica processes per step.
    pub local_batch: u32,
    /// Compute throughput relative to base clock, of the slowest rank (boost above 1, a slow GPU below).
    pub perf: f64,
    /// Whether heads may be split.
    pub heads: HeadSplit,
}

/// Durations of one transformer layer for one micro-batch on the slowest rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LayerTerms {
    /// Forward compute (GEMM, attention, memory-bound and host time).
    pub forward_s: Seconds,
    /// Backward compute, without recompute.
    pub backward_s: Seconds,
    /// Forward compute done again in the backward pass.
    pub recompute_s: Seconds,
    /// TP collectives of the forward pass not hidden by compute.
    pub forward_tp_s: Seconds,
    /// TP collectives of the backward pass not hidden, those of recompute included.
    pub backward_tp_s: Seconds,
    /// CP exchange of the forward pass not hidden.
    pub forward_cp_s: Seconds,
    /// CP exchange of the backward pass not hidden.
    pub backward_cp_s: Seconds,
}

/// The pieces of one replica's step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Terms {
    /// Micro-batches per step.
    pub microbatches: u32,
    /// Pipeline stages.
    pub stages: u32,
    /// Interleaved chunks per stage.
    pub chunks: u32,
    /// Layers of the fullest stage.
    pub layers_per_stage: u32,
    /// One layer, one micro-batch.
    pub layer: LayerTerms,
    /// Embedding, forward, first stage, per micro-batch.
    pub embedding_s: Seconds,
    /// Final norm, output matrix and loss, forward, last stage, per micro-batch.
    pub head_forward_s: Seconds,
    /// The same, backward.
    pub head_backward_s: Seconds,
    /// One stage-to-stage transfer of a micro-batch's activations.
    pub pp_send_s: Seconds,
    /// Gradient bytes each rank reduces over DP per step (the core rank's, n1/n2 larger, where it reshards).
    pub gradient_bytes: Bytes,
    /// Effective DP bandwidth per GPU, bus-bandwidth factor included: bytes / this = time.
    pub dp_bandwidth: BytesPerSecond,
    /// Start-up latency of one DP collective.
    pub dp_latency_s: Seconds,
    /// Parameter all-gather bytes per rank (0 without a distributed optimizer).
    pub parameter_bytes: Bytes,
    /// Bytes each extra rank sends in pre-sync, and receives in post-sync, per step (0 where no reshard).
    pub reshard_bytes: Bytes,
    /// Effective all-to-all bandwidth per GPU on NVLink.
    pub alltoall_bandwidth: BytesPerSecond,
    /// Start-up latency of one all-to-all.
    pub alltoall_latency_s: Seconds,
    /// Slow-down of compute while a reshard all-to-all runs beside it: lost time / communication time.
    pub reshard_contention: f64,
    /// Optimizer step.
    pub optimizer_s: Seconds,
    /// Time per step outside all of these (data, logging), host-bound.
    pub other_s: Seconds,
}

/// Memory of the fullest GPU, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Memory {
    /// Weights.
    pub weights_bytes: Bytes,
    /// Gradients.
    pub gradients_bytes: Bytes,
    /// Optimizer states and master weights.
    pub optimizer_bytes: Bytes,
    /// Activations kept for the backward pass.
    pub activations_bytes: Bytes,
    /// Gradients that core ranks of healthy replicas hold for the extra ranks.
    pub side_gradients_bytes: Bytes,
    /// Logits, communication buffers, workspace and fragmentation.
    pub buffers_bytes: Bytes,
}

impl Memory {
    /// All kinds together.
    pub fn total(&self) -> Bytes {
        self.weights_bytes
            + self.gradients_bytes
            + self.optimizer_bytes
            + self.activations_bytes
            + self.side_gradients_bytes
            + self.buffers_bytes
    }
}

/// Step time of one replica by term; the terms add up to `step_s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepCost {
    /// Whole step.
    pub step_s: Seconds,
    /// Compute of the stage that sets the pace, recompute and host time included.
    pub compute_s: Seconds,
    /// TP collectives not hidden.
    pub tp_comm_s: Seconds,
    /// Stage-to-stage transfers not hidden.
    pub pp_comm_s: Seconds,
    /// Pipeline bubble.
    pub bubble_s: Seconds,
    /// DP traffic not hidden.
    pub dp_exposed_s: Seconds,
    /// CP exchange not hidden.
    pub cp_comm_s: Seconds,
    /// Optimizer step.
    pub optimizer_s: Seconds,
    /// Gradient resharding: exposed wait plus contention with compute.
    pub reshard_exposed_s: Seconds,
    /// The rest (vocabulary imbalance, loss, host).
    pub other_s: Seconds,
    /// Memory of the fullest GPU.
    pub memory: Memory,
    /// Model FLOPs of the replica's step (publication's convention).
    pub model_flops: Flops,
}

/// The pieces of a replica's step.
pub fn terms(replica: &Replica<'_>) -> Terms {
    let layout = replica.layout;
    let gpu = &replica.system.gpu;
    let tokens = f64::from(layout.microbatch) * f64::from(layout.seq);
    let flops =
        Flops(2.0 * tokens * replica.model.layer_parameters() / f64::from(replica.degree.max(1)));
    let forward = flops / (gpu.peak(layout.precision) * (0.6 * replica.perf));
    Terms {
        microbatches: replica.local_batch.div_ceil(layout.microbatch.max(1)),
        stages: layout.pp,
        chunks: layout.vp,
        layers_per_stage: replica.model.layers.div_ceil(layout.pp.max(1)),
        layer: LayerTerms {
            forward_s: forward,
            backward_s: forward * 2.0,
            ..LayerTerms::default()
        },
        ..Terms::default()
    }
}

/// Step time and memory of a replica. Never fails: a layout that does not fit in memory is still timed.
pub fn step(replica: &Replica<'_>) -> StepCost {
    let t = terms(replica);
    let compute = (t.layer.forward_s + t.layer.backward_s)
        * (f64::from(t.layers_per_stage) * f64::from(t.microbatches));
    let bubble = compute
        * (f64::from(t.stages.saturating_sub(1)) / f64::from((t.microbatches * t.chunks).max(1)));
    StepCost {
        step_s: compute + bubble,
        compute_s: compute,
        bubble_s: bubble,
        model_flops: replica
            .model
            .step_flops(f64::from(replica.local_batch), replica.layout.seq),
        ..StepCost::default()
    }
}
