//! Time of kernels on one GPU: matrix multiplications, attention, element-wise work.

use super::calibration::{Constants, Tables, generation_index, table_index, tables};
use super::shard::RankShape;
use crate::core::hardware::{Generation, Gpu, Precision};

/// One GPU at a compute factor, with everything looked up that stays the same through a step.
#[derive(Clone, Copy, Debug)]
pub struct Kernels<'a> {
    tables: &'a Tables,
    table: usize,
    precision: Precision,
    constants: &'a Constants,
    /// Seconds per FLOP at the table's full efficiency, bf16 and at the job's precision.
    per_flop: [f64; 2],
    attention_per_flop: f64,
    unfused: bool,
    /// Seconds per byte of element-wise traffic.
    per_byte: f64,
}

impl<'a> Kernels<'a> {
    /// Kernels of `gpu`, its compute scaled by `perf` (memory bandwidth is not).
    pub fn new(gpu: &Gpu, precision: Precision, perf: f64, constants: &'a Constants) -> Self {
        let table = table_index(gpu);
        let fp8 = precision == Precision::Fp8 && gpu.fp8_tflops.is_some();
        let precision = if fp8 { Precision::Fp8 } else { Precision::Bf16 };
        let perf = perf.max(1e-6);
        let per_flop = |p: Precision| 1.0 / (gpu.peak(p).get() * constants.factor(table, p) * perf);
        let attention = constants
            .attention
            .get(generation_index(gpu.generation))
            .copied()
            .unwrap_or(0.5);
        Self {
            tables: tables(),
            table,
            precision,
            constants,
            per_flop: [per_flop(Precision::Bf16), per_flop(precision)],
            attention_per_flop: 1.0 / (gpu.peak(Precision::Bf16).get() * attention * perf),
            unfused: gpu.generation == Generation::A100,
            per_byte: 1.0 / (gpu.hbm_bandwidth().get() * constants.hbm_efficiency),
        }
    }
    /// Whether attention runs unfused: stacks of the A100's years stored the score matrix.
    pub fn unfused_attention(&self) -> bool {
        self.unfused
    }
    /// Whether matrix multiplications run in fp8.
    pub fn fp8(&self) -> bool {
        self.precision == Precision::Fp8
    }
    /// Seconds for an (m x k) by (k x n) multiplication: FLOPs over peak, times the measured share of peak at the
    /// narrowest of m, n and k.
    pub fn gemm(&self, m: f64, n: f64, k: f64) -> f64 {
        self.gemm_at(m, n, k, usize::from(self.fp8()))
    }
    /// The same in bf16, whatever the job's precision: the output matrix stays in bf16.
    pub fn gemm_bf16(&self, m: f64, n: f64, k: f64) -> f64 {
        self.gemm_at(m, n, k, 0)
    }
    fn gemm_at(&self, m: f64, n: f64, k: f64, precision: usize) -> f64 {
        let (Some(curve), Some(per_flop)) = (
            self.tables
                .gemm
                .get(self.table)
                .and_then(|by| by.get(precision)),
            self.per_flop.get(precision),
        ) else {
            return 0.0;
        };
        let narrowest = m.min(n).min(k).max(1.0);
        2.0 * m * n * k * per_flop * libm::exp(-curve.ln_at(libm::log(narrowest)))
    }
    /// Seconds to move bytes through memory with element-wise kernels.
    pub fn elementwise(&self, bytes: f64) -> f64 {
        bytes * self.per_byte
    }
    /// Attention core of one layer and micro-batch, forward and backward seconds. Causal: the fused kernels execute half
    /// the square; unfused ones the full square, plus the passes over the score matrix. Context parallelism leaves each
    /// rank an equal share of the square.
    pub fn attention(&self, shape: &RankShape, seq: f64) -> (f64, f64) {
        let pairs = shape.tokens * seq;
        let width = shape.head_dim * shape.heads;
        if self.unfused {
            let math = 4.0 * pairs * width * self.attention_per_flop;
            let scores = self.elementwise(pairs * shape.heads * self.constants.softmax_bytes);
            (math + scores, 2.0 * math + 1.2 * scores)
        } else {
            // Two multiplications forward, five backward.
            let forward = 2.0 * pairs * width * self.attention_per_flop;
            (forward, 2.5 * forward)
        }
    }
    /// Matrix multiplications of one layer's forward pass.
    pub fn layer_gemms(&self, shape: &RankShape) -> f64 {
        let (m, h) = (shape.tokens, shape.hidden);
        self.gemm(m, shape.qkv(), h)
            + self.gemm(m, h, shape.heads * shape.head_dim)
            + self.gemm(m, shape.mlp_inputs * shape.ffn, h)
            + self.gemm(m, h, shape.ffn)
    }
    /// Bytes that one layer's element-wise kernels move in the forward pass (bf16): two norms and two residual additions
    /// with dropout on `norm_tokens`, activation on the FFN shard, rotary embedding or bias on QKV.
    pub fn layer_bytes(shape: &RankShape) -> f64 {
        let norms = 20.0 * shape.hidden * shape.norm_tokens;
        let activation = (2.0 + 2.0 * shape.mlp_inputs) * shape.ffn * shape.tokens;
        norms + activation + 4.0 * shape.qkv() * shape.tokens
    }
    /// Elements that fp8 casts per layer and micro-batch: inputs of the four multiplications forward, gradients of their
    /// outputs backward. Inputs that sequence parallelism splits are cast before they are gathered.
    pub fn cast_elements(&self, shape: &RankShape) -> (f64, f64) {
        if !self.fp8() {
            return (0.0, 0.0);
        }
        let split = 2.0 * shape.hidden * shape.norm_tokens;
        let heads = shape.heads * shape.head_dim;
        (
            split + (heads + shape.ffn) * shape.tokens,
            split + (shape.qkv() + shape.mlp_inputs * shape.ffn) * shape.tokens,
        )
    }
    /// The constants in use.
    pub fn constants(&self) -> &Constants {
        self.constants
    }
}
