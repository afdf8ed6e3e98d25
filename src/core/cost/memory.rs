//! Memory of the fullest GPU, by kind.
//!
//! [`layers_only`] is arXiv 2205.05198 (Korthikanti et al.) to the byte: 18 bytes a parameter (bf16 weight 2, fp32
//! gradient 4, fp32 master weight and two moments 12) and its activation formulas, transformer layers alone.
//! [`full`] adds embeddings, logits, buffers, gated MLPs and grouped KV heads, and shards optimizer states over DP x CP.

use super::kernels::Kernels;
use super::shard::RankShape;
use super::{Memory, Replica};
use crate::core::scenario::Recompute;
use crate::core::units::Bytes;

/// Bytes per parameter: bf16 weight.
pub const WEIGHT_BYTES: f64 = 2.0;
/// Bytes per parameter: fp32 gradient.
pub const GRADIENT_BYTES: f64 = 4.0;
/// Bytes per parameter: fp32 master weight and two Adam moments.
pub const OPTIMIZER_BYTES: f64 = 12.0;
/// fp32 and bf16 copies of the logits that live at once, bytes per logit: bf16 logits, fp32 logits, fp32 gradient.
const LOGIT_BYTES: f64 = 10.0;
/// CUDA context, NCCL channels, library workspaces and allocator slack.
const FIXED_BYTES: f64 = 1.5e9;

/// Micro-batches' worth of one stage's activations that the first stage holds: p for 1F1B, p (1 + (p-1)/(p v))
/// interleaved, never more than there are micro-batches.
pub fn in_flight(pp: u32, vp: u32, microbatches: u32) -> f64 {
    let (p, v) = (f64::from(pp.max(1)), f64::from(vp.max(1)));
    if pp <= 1 {
        return 1.0;
    }
    let held = if vp > 1 {
        p * (1.0 + (p - 1.0) / (p * v))
    } else {
        p
    };
    held.min(f64::from(microbatches.max(1)))
}

/// Parameters with optimizer, and activations, of transformer layers alone: arXiv 2205.05198's formulas, for a plain MLP
/// of width 4h and as many KV heads as heads, no DP sharding.
pub fn layers_only(replica: &Replica<'_>) -> (Bytes, Bytes) {
    let (model, layout) = (replica.model, replica.layout);
    let (l, h, t) = (
        f64::from(model.layers),
        f64::from(model.hidden),
        f64::from(layout.tp.max(1)),
    );
    let (p, s, b) = (
        f64::from(layout.pp.max(1)),
        f64::from(layout.seq),
        f64::from(layout.microbatch),
    );
    let parameters = 18.0 * 12.0 * l * h * h / (t * p);
    let scores = 5.0 * f64::from(model.heads) * s / h;
    let per_layer = match (layout.recompute, layout.sequence_parallel) {
        (Recompute::Full, _) => 2.0,
        (Recompute::Selective, true) => 34.0 / t,
        (Recompute::Selective, false) => 10.0 + 24.0 / t,
        (Recompute::None, true) => (34.0 + scores) / t,
        (Recompute::None, false) => 10.0 + (24.0 + scores) / t,
    };
    let held = if layout.vp > 1 {
        1.0 + (p - 1.0) / (p * f64::from(layout.vp))
    } else {
        1.0
    };
    (Bytes(parameters), Bytes(s * b * h * l * per_layer * held))
}

/// Bytes of activations one layer keeps for one micro-batch on the slowest rank, without recompute of whole layers.
fn layer_activations(replica: &Replica<'_>, shape: &RankShape, kernels: &Kernels<'_>) -> f64 {
    let (layout, model) = (replica.layout, replica.model);
    let h = shape.hidden;
    // Dropout masks, one byte an element: plain-MLP models of that generation train with dropout, gated ones without.
    let mask = if model.gated { 0.0 } else { 1.0 };
    // Two norm inputs (4h) and two dropout masks; inputs of QKV and of the MLP (4h), stored split only with SP.
    let split = shape.norm_tokens * h * (8.0 + 2.0 * mask);
    let heads = shape.heads * shape.head_dim;
    let attention = 2.0 * (shape.qkv() + heads);
    let mlp = 2.0 * (shape.mlp_inputs + 1.0) * shape.ffn;
    let scores = if kernels.unfused_attention() && layout.recompute == Recompute::None {
        5.0 * shape.heads * f64::from(layout.seq)
    } else {
        0.0
    };
    split + shape.tokens * (attention + mlp + scores)
}

/// Memory of the fullest GPU of a replica. `layers` and `microbatches` as in [`super::Terms`].
pub fn full(
    replica: &Replica<'_>,
    shape: &RankShape,
    kernels: &Kernels<'_>,
    layers: u32,
    microbatches: u32,
) -> Memory {
    let layout = replica.layout;
    let vocabulary = if layout.pp > 1 { 1.0 } else { 2.0 };
    let parameters =
        f64::from(layers) * shape.layer_parameters() + vocabulary * shape.vocab_parameters();
    let shards = f64::from(layout.dp.max(1)) * f64::from(layout.cp.max(1));
    let one = layer_activations(replica, shape, kernels);
    let held = f64::from(layers) * in_flight(layout.pp, layout.vp, microbatches);
    let activations = if layout.recompute == Recompute::Full {
        held * 2.0 * shape.norm_tokens * shape.hidden + one
    } else {
        held * one
    };
    let extra = if layout.dp > 1 && replica.sync_degree < replica.degree {
        let (d, sync) = (
            f64::from(replica.degree),
            f64::from(replica.sync_degree.max(1)),
        );
        parameters * (d - sync) / sync
    } else {
        0.0
    };
    let logits = shape.tokens * shape.vocab * LOGIT_BYTES;
    let gathered = 4.0 * shape.tokens * shape.hidden;
    Memory {
        weights_bytes: Bytes(parameters * WEIGHT_BYTES),
        gradients_bytes: Bytes(parameters * GRADIENT_BYTES),
        optimizer_bytes: Bytes(parameters * OPTIMIZER_BYTES / shards),
        activations_bytes: Bytes(activations),
        side_gradients_bytes: Bytes(extra * GRADIENT_BYTES),
        buffers_bytes: Bytes(logits + gathered + FIXED_BYTES),
    }
}
