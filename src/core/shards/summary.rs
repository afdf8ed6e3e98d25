//! What a reduced degree does to every tensor kind: loads, imbalance, messages and bytes.

use super::map::ShardMap;
use crate::core::hardware::FieldError;
use crate::core::units::Bytes;
use crate::core::workload::Model;

/// Bytes of one gradient element in the DP sync (fp32 main gradients, Megatron's default).
const GRADIENT_BYTES: f64 = 4.0;

/// What a transformer's tensors are split by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorKind {
    /// MLP, by FFN column.
    FfnColumns,
    /// Attention, by query head.
    Heads,
    /// Key and value, by group; replicated where there are fewer groups than ranks.
    KvGroups,
    /// Embedding and output, by vocabulary row.
    VocabularyRows,
}

impl TensorKind {
    /// All kinds, in the order shown.
    pub const ALL: [Self; 4] = [
        Self::FfnColumns,
        Self::Heads,
        Self::KvGroups,
        Self::VocabularyRows,
    ];

    /// Name shown to people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FfnColumns => "FFN columns",
            Self::Heads => "heads",
            Self::KvGroups => "KV groups",
            Self::VocabularyRows => "vocabulary rows",
        }
    }
    /// How many a model has.
    pub fn count(self, model: &Model) -> u32 {
        match self {
            Self::FfnColumns => model.ffn,
            Self::Heads => model.heads,
            Self::KvGroups => model.kv_heads,
            Self::VocabularyRows => model.vocab,
        }
    }
    /// Weights per shard in one layer (in the whole model for vocabulary rows, which have no layer).
    pub fn weights(self, model: &Model) -> f64 {
        let h = f64::from(model.hidden);
        match self {
            Self::FfnColumns => model.mlp_matrices() * h,
            Self::Heads | Self::KvGroups => 2.0 * h * model.head_dim(),
            Self::VocabularyRows => 2.0 * h,
        }
    }
    /// How often the tensor stands in one pipeline stage with `layers` layers.
    fn per_stage(self, layers: u32) -> f64 {
        if self == Self::VocabularyRows {
            1.0
        } else {
            f64::from(layers)
        }
    }
}

/// One tensor kind at both degrees.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSummary {
    /// Which.
    pub kind: TensorKind,
    /// Shards in all.
    pub shards: u32,
    /// Every rank holds a copy of a group because there are fewer groups than ranks: nothing is moved by shard.
    pub replicated: bool,
    /// Most shards of a rank at the healthy degree.
    pub healthy_worst: u32,
    /// Most shards of a rank at the reduced degree.
    pub reduced_worst: u32,
    /// Even share at the reduced degree.
    pub reduced_share: f64,
    /// Worst over even share, healthy degree.
    pub healthy_imbalance: f64,
    /// Worst over even share, reduced degree.
    pub reduced_imbalance: f64,
    /// Why Megatron's rule cannot make this map.
    pub reason: Option<String>,
    /// Messages of one pre-sync under NTP, per tensor.
    pub ntp_messages: u32,
    /// Messages a contiguous re-split would exchange between unlike ranks, per tensor.
    pub naive_messages: u32,
    /// Gradient bytes of the mean NTP message, one layer.
    pub ntp_message_bytes: Bytes,
    /// Gradient bytes of the mean contiguous message, one layer.
    pub naive_message_bytes: Bytes,
    /// Gradient bytes the busiest extra rank sends, one pipeline stage.
    pub sent_bytes: Bytes,
    /// Least and most shards an extra rank sends to one core rank.
    pub sent_per_core: (u32, u32),
}

/// Every tensor kind at both degrees.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardSummary {
    /// Healthy degree n1.
    pub tp_base: u32,
    /// Reduced degree n2.
    pub tp_reduced: u32,
    /// In the order of [`TensorKind::ALL`].
    pub tensors: Vec<TensorSummary>,
}

impl ShardSummary {
    /// One tensor kind.
    pub fn get(&self, kind: TensorKind) -> Option<&TensorSummary> {
        self.tensors.iter().find(|tensor| tensor.kind == kind)
    }
}

/// Summarises degrees `tp_base` to `tp_reduced` for a model whose fullest pipeline stage has `layers_per_stage` layers.
pub fn summarize(
    model: &Model,
    layers_per_stage: u32,
    tp_base: u32,
    tp_reduced: u32,
) -> Result<ShardSummary, FieldError> {
    let spares = tp_base
        .checked_sub(tp_reduced)
        .ok_or_else(|| FieldError::new("tp_reduced", tp_reduced, format!("1 to {tp_base}")))?;
    let tensors = TensorKind::ALL
        .into_iter()
        .map(|kind| {
            let shards = kind.count(model);
            let map = ShardMap::new(tp_base, spares, shards)?;
            let naive = map.naive();
            let bytes = kind.weights(model) * GRADIENT_BYTES;
            let replicated = kind == TensorKind::KvGroups && shards < tp_base;
            let sent: Vec<u32> = map.sends.iter().map(|row| row.iter().sum()).collect();
            let per_core = map
                .sends
                .iter()
                .flatten()
                .copied()
                .filter(|count| *count > 0);
            let messages = map.messages();
            Ok(TensorSummary {
                kind,
                shards,
                replicated,
                healthy_worst: map.healthy_worst(),
                reduced_worst: map.reduced_worst(),
                reduced_share: f64::from(shards) / f64::from(tp_reduced),
                healthy_imbalance: f64::from(map.healthy_worst()) * f64::from(tp_base)
                    / f64::from(shards),
                reduced_imbalance: map.imbalance(),
                ntp_messages: messages,
                naive_messages: naive.messages,
                ntp_message_bytes: Bytes(
                    f64::from(map.moved()) / f64::from(messages.max(1)) * bytes,
                ),
                naive_message_bytes: Bytes(naive.mean_shards * bytes),
                sent_bytes: Bytes(
                    f64::from(sent.iter().copied().max().unwrap_or(0))
                        * bytes
                        * kind.per_stage(layers_per_stage),
                ),
                sent_per_core: (
                    per_core.clone().min().unwrap_or(0),
                    per_core.max().unwrap_or(0),
                ),
                reason: map.reason,
            })
        })
        .collect::<Result<_, FieldError>>()?;
    Ok(ShardSummary {
        tp_base,
        tp_reduced,
        tensors,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::workload::model;

    #[test]
    fn llama_405b_from_72_to_70() {
        let summary = summarize(model("llama3-405b").unwrap(), 63, 72, 70).unwrap();
        let ffn = summary.get(TensorKind::FfnColumns).unwrap();
        assert_eq!(
            (ffn.healthy_worst, ffn.reduced_worst, ffn.sent_per_core),
            (740, 761, (10, 11))
        );
        let heads = summary.get(TensorKind::Heads).unwrap();
        assert!(heads.reason.is_some());
        assert!((heads.reduced_imbalance - 1.09375).abs() < 1e-12);
        assert!(summary.get(TensorKind::KvGroups).unwrap().replicated);
    }

    #[test]
    fn bytes_by_hand() {
        // 12 heads on TP4 -> 3: the extra rank sends its 3 heads of 2 x 64 x 16 weights, fp32, in each of 2 layers.
        let tiny = Model {
            id: "tiny".into(),
            name: "tiny".into(),
            layers: 2,
            hidden: 64,
            ffn: 256,
            heads: 4,
            kv_heads: 4,
            vocab: 1000,
            gated: false,
            seq: 128,
            published_parameters: None,
            source: String::new(),
        };
        let summary = summarize(
            &Model {
                heads: 12,
                hidden: 192,
                ..tiny
            },
            2,
            4,
            3,
        )
        .unwrap();
        let heads = summary.get(TensorKind::Heads).unwrap();
        assert_eq!(
            heads.sent_bytes,
            Bytes(3.0 * 2.0 * 192.0 * 16.0 * 4.0 * 2.0)
        );
        assert_eq!(heads.ntp_messages, 3);
    }

    #[test]
    fn a_wider_reduced_degree_is_refused() {
        assert!(summarize(model("llama3-8b").unwrap(), 1, 4, 5).is_err());
    }
}
