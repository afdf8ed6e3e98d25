//! What the slowest rank of a TP group holds and multiplies.

use super::Replica;
use crate::core::scenario::HeadSplit;

/// Sizes on the slowest rank of a TP group at some degree, per micro-batch. All counts are f64: the idealised even split
/// and sequence shards need fractions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankShape {
    /// TP degree of the shape.
    pub degree: f64,
    /// Tokens of a micro-batch after context parallelism: mbs x seq / CP.
    pub tokens: f64,
    /// Tokens whose norms and residuals this rank computes: a TP share with sequence parallelism, else all.
    pub norm_tokens: f64,
    /// Hidden size.
    pub hidden: f64,
    /// Width of a head.
    pub head_dim: f64,
    /// Attention heads on the rank.
    pub heads: f64,
    /// KV heads computed on the rank (replicated where there are fewer than ranks).
    pub kv_heads: f64,
    /// FFN columns on the rank.
    pub ffn: f64,
    /// Vocabulary rows on the rank.
    pub vocab: f64,
    /// Input matrices of the MLP: 2 gated, 1 plain.
    pub mlp_inputs: f64,
}

impl RankShape {
    /// The slowest rank of `replica` at a TP degree.
    pub fn new(replica: &Replica<'_>, degree: u32) -> Self {
        let (model, layout) = (replica.model, replica.layout);
        let d = f64::from(degree.max(1));
        let hidden = f64::from(model.hidden);
        let group = (f64::from(model.heads) / f64::from(model.kv_heads.max(1))).max(1.0);
        let split = |count: u32| match replica.heads {
            HeadSplit::Whole => (f64::from(count) / d).ceil(),
            HeadSplit::Even => f64::from(count) / d,
        };
        let heads = split(model.heads);
        let kv_heads = match replica.heads {
            HeadSplit::Whole => (heads / group).ceil(),
            HeadSplit::Even => (heads / group).max(f64::from(model.kv_heads.min(1))),
        };
        let tokens =
            f64::from(layout.microbatch) * f64::from(layout.seq) / f64::from(layout.cp.max(1));
        Self {
            degree: d,
            tokens,
            norm_tokens: if layout.sequence_parallel {
                tokens / d
            } else {
                tokens
            },
            hidden,
            head_dim: model.head_dim(),
            heads,
            kv_heads,
            ffn: split(model.ffn),
            vocab: split(model.vocab),
            mlp_inputs: if model.gated { 2.0 } else { 1.0 },
        }
    }
    /// Columns of the fused QKV matrix on the rank.
    pub fn qkv(&self) -> f64 {
        (self.heads + 2.0 * self.kv_heads) * self.head_dim
    }
    /// Weights of one layer on the rank.
    pub fn layer_parameters(&self) -> f64 {
        self.hidden * (self.qkv() + self.heads * self.head_dim + (self.mlp_inputs + 1.0) * self.ffn)
    }
    /// Weights of one vocabulary matrix on the rank.
    pub fn vocab_parameters(&self) -> f64 {
        self.hidden * self.vocab
    }
}
