//! Transformer shapes: parameters, FLOPs and shard counts.
//!
//! Model FLOPs are counted as in the publication's convention (full attention square); the cost model counts executed
//! FLOPs on its own.

use super::hardware::FieldError;
use super::units::Flops;
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// A decoder-only transformer, by dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Short name used on the command line and in links.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Transformer layers.
    pub layers: u32,
    /// Hidden size h.
    pub hidden: u32,
    /// FFN columns (intermediate size).
    pub ffn: u32,
    /// Attention heads.
    pub heads: u32,
    /// Key-value heads (groups); equal to `heads` without grouping.
    pub kv_heads: u32,
    /// Vocabulary rows.
    pub vocab: u32,
    /// Gated MLP (three matrices) instead of plain (two).
    pub gated: bool,
    /// Training sequence length, tokens, where a scenario gives none.
    pub seq: u32,
    /// Parameters as published, to check ours against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_parameters: Option<f64>,
    /// Where the dimensions come from.
    #[serde(default)]
    pub source: String,
}

impl Model {
    /// Width of one attention head.
    pub fn head_dim(&self) -> f64 {
        f64::from(self.hidden) / f64::from(self.heads.max(1))
    }
    /// Matrices of the MLP: 3 gated, 2 plain.
    pub fn mlp_matrices(&self) -> f64 {
        if self.gated { 3.0 } else { 2.0 }
    }
    /// Weights of one layer's attention: Q and output (h x h each), K and V (h x kv width each).
    pub fn attention_parameters(&self) -> f64 {
        let h = f64::from(self.hidden);
        2.0 * h * h + 2.0 * h * self.head_dim() * f64::from(self.kv_heads)
    }
    /// Weights of one layer's MLP.
    pub fn mlp_parameters(&self) -> f64 {
        self.mlp_matrices() * f64::from(self.hidden) * f64::from(self.ffn)
    }
    /// Weights of one layer, norms left out (below 1e-4 of it).
    pub fn layer_parameters(&self) -> f64 {
        self.attention_parameters() + self.mlp_parameters()
    }
    /// Weights of one vocabulary matrix.
    pub fn vocab_parameters(&self) -> f64 {
        f64::from(self.vocab) * f64::from(self.hidden)
    }
    /// All weights: layers, embedding and an untied output matrix.
    pub fn parameters(&self) -> f64 {
        f64::from(self.layers) * self.layer_parameters() + 2.0 * self.vocab_parameters()
    }
    /// Model FLOPs of one training step over `sequences` of `seq` tokens, forward and backward, attention counted on the
    /// full square: 6 x weights x tokens plus 12 x L x s x h per token, output matrix included, embedding look-up not.
    pub fn step_flops(&self, sequences: f64, seq: u32) -> Flops {
        let tokens = sequences * f64::from(seq);
        let dense = f64::from(self.layers) * self.layer_parameters() + self.vocab_parameters();
        let attention = 12.0 * f64::from(self.layers) * f64::from(self.hidden) * f64::from(seq);
        Flops(tokens * (6.0 * dense + attention))
    }
    /// Checks every dimension against its range.
    pub fn validate(&self) -> Result<(), FieldError> {
        let range = |field: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(FieldError::new(
                    format!("model.{field}"),
                    value,
                    format!("{low} to {high}"),
                ))
            }
        };
        range("layers", self.layers, 1, 10_000)?;
        range("hidden", self.hidden, 16, 1_000_000)?;
        range("ffn", self.ffn, 16, 4_000_000)?;
        range("heads", self.heads, 1, 100_000)?;
        range("kv_heads", self.kv_heads, 1, self.heads)?;
        range("vocab", self.vocab, 1, 10_000_000)?;
        range("seq", self.seq, 1, 100_000_000)
    }
}

/// Every preset model, in the order shown.
pub fn models() -> &'static [Model] {
    static MODELS: OnceLock<Vec<Model>> = OnceLock::new();
    MODELS.get_or_init(|| presets::ROWS.iter().map(presets::Row::model).collect())
}

/// The presets as `build.rs` writes them.
mod presets {
    use super::Model;

    pub(super) struct Row {
        id: &'static str,
        name: &'static str,
        source: &'static str,
        layers: u32,
        hidden: u32,
        ffn: u32,
        heads: u32,
        kv_heads: u32,
        vocab: u32,
        seq: u32,
        gated: bool,
        published_parameters: Option<f64>,
    }

    impl Row {
        pub(super) fn model(&self) -> Model {
            Model {
                id: self.id.into(),
                name: self.name.into(),
                layers: self.layers,
                hidden: self.hidden,
                ffn: self.ffn,
                heads: self.heads,
                kv_heads: self.kv_heads,
                vocab: self.vocab,
                gated: self.gated,
                seq: self.seq,
                published_parameters: self.published_parameters,
                source: self.source.into(),
            }
        }
    }

    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}

/// A preset by id.
pub fn model(id: &str) -> Option<&'static Model> {
    models().iter().find(|model| model.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_agree_with_the_published_counts() {
        assert_eq!(models().len(), 6);
        for model in models() {
            model.validate().unwrap();
            assert!(!model.source.is_empty());
            let published = model.published_parameters.unwrap();
            // The paper's "480B" is 503B by its own dimensions.
            let tolerance = if model.id == "paper-480b" { 0.06 } else { 0.01 };
            assert!(
                (model.parameters() / published - 1.0).abs() < tolerance,
                "{}: {}",
                model.id,
                model.parameters()
            );
        }
    }

    #[test]
    fn presets_are_those_of_the_file() {
        let text = include_str!("../../assets/data/models.json");
        let file: Vec<Model> = serde_json::from_str(text).unwrap();
        assert_eq!(models(), file);
    }

    #[test]
    fn step_flops_follow_the_published_formula() {
        // arXiv 2205.05198: 72 B L s h^2 (1 + s/6h + V/12hL), plain MLP, full heads.
        let gpt3 = model("gpt3-175b").unwrap();
        let (l, s, h, v) = (96.0, 2048.0, 12288.0, 51200.0);
        let published = 72.0 * 64.0 * l * s * h * h * (1.0 + s / (6.0 * h) + v / (12.0 * h * l));
        assert!((gpt3.step_flops(64.0, 2048).get() / published - 1.0).abs() < 1e-12);
    }
}
