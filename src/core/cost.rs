//! Step time and memory of one replica, by term.
//!
//! Two levels: [`terms`] gives the durations of the pieces (per layer and micro-batch), which the timeline simulator
//! schedules; [`step`] adds them up analytically, which everything else uses.

mod calibration;
pub mod factors;
mod kernels;
mod layer;
pub mod memory;
mod network;
mod pipeline;
mod shard;
pub mod solve;
pub mod why;

pub use calibration::{Constants, table_name};
pub use shard::RankShape;
pub use why::{Explanation, explain};

use kernels::Kernels;
use network::NvLink;

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
    /// Stages that hold one layer fewer: see [`Terms::layers_of`].
    pub short_stages: u32,
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
    /// Whether sends of an interleaved schedule block compute (no overlap).
    pub sends_block: bool,
    /// Gradient bytes each rank reduces over DP per step (the core rank's, n1/n2 larger, where it reshards).
    pub gradient_bytes: Bytes,
    /// Effective DP bandwidth per GPU, bus-bandwidth factor included: bytes / this = time.
    pub dp_bandwidth: BytesPerSecond,
    /// Start-up latency of one DP collective.
    pub dp_latency_s: Seconds,
    /// Parameter all-gather bytes per rank (0 without a distributed optimizer).
    pub parameter_bytes: Bytes,
    /// DP buckets the gradients are cut into by default.
    pub buckets: u32,
    /// Share of the gradients in one full bucket, at most 1: the part whose reduction nothing can hide.
    pub bucket_share: f64,
    /// Whether DP traffic overlaps with the last backward and the next forward pass.
    pub dp_overlap: bool,
    /// Slow-down of compute while scale-out traffic runs beside it: lost time / communication time.
    pub traffic_contention: f64,
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
    let constants = Constants::fitted();
    Parts::new(replica, constants).terms
}

/// Step time and memory of a replica. Never fails: a layout that does not fit is still timed.
pub fn step(replica: &Replica<'_>) -> StepCost {
    step_with(replica, Constants::fitted())
}

/// [`step`] with other constants than the fitted ones: for refits and sensitivity.
pub fn step_with(replica: &Replica<'_>, constants: &Constants) -> StepCost {
    let parts = Parts::new(replica, constants);
    let terms = &parts.terms;
    StepCost {
        memory: memory::full(
            replica,
            &parts.shape,
            &parts.kernels,
            terms.layers_per_stage,
            terms.microbatches,
        ),
        model_flops: replica
            .model
            .step_flops(f64::from(replica.local_batch), replica.layout.seq),
        ..terms.step()
    }
}

/// Terms with what they were made from.
struct Parts<'a> {
    shape: RankShape,
    kernels: Kernels<'a>,
    terms: Terms,
}

impl<'a> Parts<'a> {
    fn new(replica: &Replica<'a>, constants: &'a Constants) -> Self {
        let (model, layout, gpu) = (replica.model, replica.layout, &replica.system.gpu);
        let shape = RankShape::new(replica, replica.degree);
        let kernels = Kernels::new(gpu, layout.precision, replica.perf, constants);
        let nvlink = NvLink::new(gpu);
        let stages = layout.pp.max(1);
        let layers = model.layers.div_ceil(stages);
        let microbatches = replica
            .local_batch
            .div_ceil(layout.microbatch.max(1))
            .max(1);
        let (embedding, head_forward, head_backward) = layer::vocabulary(&shape, &kernels);

        // DP and resharding: the job synchronises at its lowest degree, so volumes follow that degree's shards.
        let peers = f64::from(layout.dp.max(1)) * f64::from(layout.cp.max(1));
        let vocabulary = if stages > 1 { 1.0 } else { 2.0 };
        let weights = |shape: &RankShape| {
            f64::from(layers) * shape.layer_parameters() + vocabulary * shape.vocab_parameters()
        };
        let own = weights(&shape);
        let synced = if layout.dp > 1 && replica.sync_degree < replica.degree {
            weights(&RankShape::new(replica, replica.sync_degree)).max(own)
        } else {
            own
        };
        let share = (peers - 1.0) / peers;
        let reshards = layout.dp > 1 && replica.sync_degree < replica.degree;
        let bucket = constants.bucket_parameters.max(1e6 * f64::from(layout.dp));
        let nodes = (layout.gpus() as f64 / f64::from(replica.system.domain_size.max(1))).max(1.0);
        let optimizer_bytes = own * 6.0 + own / peers * 30.0;
        let activations = 2.0 * shape.tokens * shape.hidden;
        Self {
            terms: Terms {
                microbatches,
                stages,
                // A chunk holds at least one layer.
                chunks: layout.vp.clamp(1, layers.max(1)),
                layers_per_stage: layers,
                short_stages: (layers * stages).saturating_sub(model.layers).min(stages),
                layer: layer::layer(replica, &shape, &kernels, &nvlink),
                embedding_s: Seconds(embedding),
                head_forward_s: Seconds(head_forward),
                head_backward_s: Seconds(head_backward),
                pp_send_s: if stages > 1 {
                    // Each rank sends its share, also without sequence parallelism (scatter and gather, SC21 Megatron-LM).
                    let bytes = activations / shape.degree;
                    Seconds(
                        bytes / network::pp_bandwidth(replica, constants)
                            + constants.send_latency_s,
                    )
                } else {
                    Seconds::ZERO
                },
                sends_block: !layout.overlap,
                gradient_bytes: Bytes(if peers > 1.0 {
                    synced * memory::GRADIENT_BYTES * share
                } else {
                    0.0
                }),
                dp_bandwidth: BytesPerSecond(network::dp_bandwidth(replica, constants)),
                dp_latency_s: Seconds(constants.scaleout_latency_s * (1.0 + libm::log2(nodes))),
                parameter_bytes: Bytes(if peers > 1.0 {
                    own * memory::WEIGHT_BYTES * share
                } else {
                    0.0
                }),
                buckets: (synced / bucket).ceil().clamp(1.0, 1e6) as u32,
                bucket_share: (bucket / synced.max(1.0)).clamp(1e-6, 1.0),
                dp_overlap: layout.overlap,
                traffic_contention: constants.traffic_contention,
                reshard_bytes: Bytes(if reshards {
                    own * memory::GRADIENT_BYTES
                } else {
                    0.0
                }),
                alltoall_bandwidth: BytesPerSecond(
                    gpu.nvlink().get() * constants.nvlink_dp_efficiency,
                ),
                alltoall_latency_s: Seconds(if reshards {
                    nvlink.time(network::Collective::AllToAll, f64::from(layout.tp), 512.0)
                } else {
                    0.0
                }),
                reshard_contention: constants.reshard_contention,
                optimizer_s: Seconds(
                    optimizer_bytes
                        / (gpu.hbm_bandwidth().get() * constants.optimizer_hbm_efficiency),
                ),
                other_s: Seconds(constants.step_host_s * (1.0 + libm::log2(nodes))),
            },
            shape,
            kernels,
        }
    }
}

#[cfg(test)]
mod tests;
