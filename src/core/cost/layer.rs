//! One layer and the vocabulary ends, for one micro-batch on the slowest rank.

use super::calibration::Constants;
use super::kernels::Kernels;
use super::network::{Collective, NvLink, cp_bandwidth};
use super::shard::RankShape;
use super::{LayerTerms, Replica};
use crate::core::scenario::Recompute;
use crate::core::units::Seconds;

/// Start-up latency of one step of the CP ring, s; assumed.
const CP_STEP_LATENCY_S: f64 = 15e-6;

/// Times of one layer, one micro-batch.
pub fn layer(
    replica: &Replica<'_>,
    shape: &RankShape,
    kernels: &Kernels<'_>,
    nvlink: &NvLink<'_>,
) -> LayerTerms {
    let layout = replica.layout;
    let constants = kernels.constants();
    let gemms = kernels.layer_gemms(shape);
    let bytes = Kernels::layer_bytes(shape);
    let (cast_forward, cast_backward) = kernels.cast_elements(shape);
    let element = kernels.elementwise(bytes);
    let cast = |elements: f64| kernels.elementwise(elements * constants.cast_bytes);
    let (attention, attention_backward) = kernels.attention(shape, f64::from(layout.seq));
    let forward = gemms + element + cast(cast_forward) + attention;
    let backward = 2.0 * gemms + 2.0 * element + cast(cast_backward) + attention_backward;
    let recompute = match layout.recompute {
        Recompute::None => 0.0,
        Recompute::Selective => attention,
        Recompute::Full => forward,
    };
    let (tp_forward, tp_backward) = tensor_parallel(replica, shape, kernels, nvlink);
    let tp_backward = if layout.recompute == Recompute::Full {
        tp_backward + tp_forward
    } else {
        tp_backward
    };
    let (cp_forward, cp_backward) =
        context_parallel(replica, shape, kernels, attention, attention_backward);

    // The slowest of N ranks sets the pace of a synchronous step: sqrt(2 ln N) spreads late (extreme value of N normals).
    let ranks = layout.gpus().max(1) as f64;
    let jitter = 1.0 + constants.jitter_sigma * (2.0 * libm::log(ranks)).sqrt();
    let (forward, backward, recompute) = (forward * jitter, backward * jitter, recompute * jitter);
    // The host launches a layer's kernels no faster than this; a GPU that is done earlier waits.
    let host = constants.host_forward_s;
    let host_backward = if layout.recompute == Recompute::Full {
        3.0 * host
    } else {
        2.0 * host
    };
    let wait = |floor: f64, busy: f64| (floor - busy).max(0.0);
    LayerTerms {
        forward_s: Seconds(forward + wait(host, forward + tp_forward + cp_forward)),
        backward_s: Seconds(
            backward
                + wait(
                    host_backward,
                    backward + recompute + tp_backward + cp_backward,
                ),
        ),
        recompute_s: Seconds(recompute),
        forward_tp_s: Seconds(tp_forward),
        backward_tp_s: Seconds(tp_backward),
        forward_cp_s: Seconds(cp_forward),
        backward_cp_s: Seconds(cp_backward),
    }
}

/// Visible TP collectives of one layer: forward, backward (without recompute).
///
/// With sequence parallelism the forward pass has two all-gathers and two reduce-scatters. The backward pass has the
/// same; those around the weight-gradient multiplication (two gathers of the inputs, and as many gathers and scatters of
/// activations' gradients) run beside it. Without, two all-reduces each way, the backward ones beside it.
fn tensor_parallel(
    replica: &Replica<'_>,
    shape: &RankShape,
    kernels: &Kernels<'_>,
    nvlink: &NvLink<'_>,
) -> (f64, f64) {
    let (layout, constants) = (replica.layout, kernels.constants());
    if layout.tp <= 1 {
        return (0.0, 0.0);
    }
    let bytes = 2.0 * shape.tokens * shape.hidden;
    let time = |op: Collective| {
        let domain = replica.system.domain_size;
        let inside =
            nvlink.time_reduced(op, replica.degree.min(domain), layout.tp.min(domain), bytes);
        inside.max(scaleout_time(replica, op, bytes, constants))
    };
    let visible = if layout.overlap {
        constants.tp_overlap_exposed
    } else {
        1.0
    };
    let beside = constants.backward_async_exposed.min(visible);
    if layout.sequence_parallel {
        let (gather, scatter) = (time(Collective::AllGather), time(Collective::ReduceScatter));
        (
            2.0 * (gather + scatter) * visible,
            2.0 * gather * visible + 2.0 * (gather + scatter) * beside,
        )
    } else {
        let reduce = time(Collective::AllReduce);
        (2.0 * reduce * visible, 2.0 * reduce * beside)
    }
}

/// Seconds a TP collective spends on the scale-out network: nothing inside a domain; beyond it, a ring that leaves each
/// domain over all its adapters.
fn scaleout_time(replica: &Replica<'_>, op: Collective, bytes: f64, constants: &Constants) -> f64 {
    let (tp, domain) = (
        f64::from(replica.layout.tp),
        f64::from(replica.system.domain_size.max(1)),
    );
    if tp <= domain {
        return 0.0;
    }
    let passes = if op == Collective::AllReduce {
        2.0
    } else {
        1.0
    };
    let rate = domain * replica.system.gpu.scaleout().get() * constants.scaleout_efficiency;
    let latency = constants.scaleout_latency_s * (1.0 + libm::log2(tp / domain));
    passes * bytes * (tp - 1.0) / tp / rate.max(1.0) + latency
}

/// Visible CP exchange of one layer: the ring passes K and V (and their gradients back) beside the attention core.
fn context_parallel(
    replica: &Replica<'_>,
    shape: &RankShape,
    kernels: &Kernels<'_>,
    attention: f64,
    backward: f64,
) -> (f64, f64) {
    let cp = f64::from(replica.layout.cp);
    if cp <= 1.0 {
        return (0.0, 0.0);
    }
    let bytes = 2.0 * 2.0 * shape.kv_heads * shape.head_dim * shape.tokens * (cp - 1.0);
    let transfer = bytes / cp_bandwidth(replica, kernels.constants());
    let latency = CP_STEP_LATENCY_S * (cp - 1.0);
    // The first of cp pieces of attention has its K and V at hand; the others wait for theirs.
    let hidden = (cp - 1.0) / cp;
    (
        (transfer - attention * hidden).max(0.0) + latency,
        (2.0 * transfer - backward * hidden).max(0.0) + 2.0 * latency,
    )
}

/// Embedding forward; output matrix and loss forward; the same backward; per micro-batch, seconds.
pub fn vocabulary(shape: &RankShape, kernels: &Kernels<'_>) -> (f64, f64, f64) {
    let embedding = kernels.elementwise(8.0 * shape.norm_tokens * shape.hidden);
    let gemm = kernels.gemm_bf16(shape.tokens, shape.vocab, shape.hidden);
    let loss = kernels.elementwise(shape.tokens * shape.vocab * kernels.constants().loss_bytes);
    (embedding, gemm + 0.5 * loss, 2.0 * gemm + 0.5 * loss)
}
