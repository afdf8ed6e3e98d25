//! Memory of a GPU: published formulas and measured peaks against the model's.

use super::row::find_system;
use crate::core::cost::{Replica, memory, step};
use crate::core::hardware::Precision;
use crate::core::scenario::{HeadSplit, Layout, Recompute};
use crate::core::workload::{Model, model};
use serde::{Deserialize, Serialize};

const MEMORY_CSV: &str = include_str!("../../../assets/data/memory.csv");

/// One published size and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MemoryCheck {
    /// What is compared.
    pub what: String,
    /// Published, GiB per GPU.
    pub published_gib: f64,
    /// Ours, GiB per GPU.
    pub predicted_gib: f64,
    /// What passes, in words.
    pub tolerance: String,
    /// Whether it passes.
    pub pass: bool,
    /// Where it was published.
    pub source: String,
}

impl MemoryCheck {
    /// Ours / published - 1.
    pub fn error(&self) -> f64 {
        if self.published_gib > 0.0 {
            self.predicted_gib / self.published_gib - 1.0
        } else {
            0.0
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Parameters, gradients and optimizer of transformer layers alone.
    Parameters,
    /// Activations of transformer layers alone.
    Activations,
    /// Everything on the fullest GPU.
    Peak,
}

#[derive(Deserialize)]
struct Record {
    kind: Kind,
    what: String,
    gpu: String,
    base: String,
    layers: u32,
    hidden: Option<u32>,
    heads: Option<u32>,
    tp: u32,
    pp: u32,
    dp: u32,
    vp: u32,
    mbs: u32,
    gbs: u32,
    seq: u32,
    published_gib: f64,
    tolerance: f64,
    tolerance_kind: String,
    source: String,
}

/// Every published size, with the model's.
pub fn memory_checks() -> Vec<MemoryCheck> {
    csv::Reader::from_reader(MEMORY_CSV.as_bytes())
        .deserialize()
        .filter_map(|record| check(record.ok()?))
        .collect()
}

fn check(record: Record) -> Option<MemoryCheck> {
    let base = model(&record.base)?;
    let shape = match (record.hidden, record.heads) {
        (Some(hidden), Some(heads)) => Model {
            layers: record.layers,
            hidden,
            heads,
            kv_heads: heads,
            ffn: 4 * hidden,
            ..base.clone()
        },
        _ => Model {
            layers: record.layers,
            ..base.clone()
        },
    };
    let recompute = match record.kind {
        Kind::Peak => Recompute::None,
        Kind::Parameters | Kind::Activations => Recompute::Selective,
    };
    let layout = Layout {
        tp: record.tp,
        pp: record.pp,
        dp: record.dp,
        cp: 1,
        vp: record.vp,
        microbatch: record.mbs,
        global_batch: record.gbs,
        seq: record.seq,
        precision: Precision::Bf16,
        recompute,
        sequence_parallel: true,
        overlap: true,
    };
    let replica = Replica {
        system: find_system(&record.gpu)?,
        model: &shape,
        layout: &layout,
        degree: layout.tp,
        sync_degree: layout.tp,
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: HeadSplit::Whole,
    };
    let predicted_gib = match record.kind {
        Kind::Parameters => memory::layers_only(&replica).0.gib(),
        Kind::Activations => memory::layers_only(&replica).1.gib(),
        Kind::Peak => step(&replica).memory.total().gib(),
    };
    let off = (predicted_gib - record.published_gib).abs();
    let (limit, tolerance) = if record.tolerance_kind == "GiB" {
        (record.tolerance, "rounding".to_owned())
    } else {
        (
            record.tolerance * record.published_gib,
            format!("{:.0} %", record.tolerance * 100.0),
        )
    };
    Some(MemoryCheck {
        what: record.what,
        published_gib: record.published_gib,
        predicted_gib,
        tolerance,
        pass: off <= limit,
        source: record.source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_size_is_read_and_met() {
        let checks = memory_checks();
        assert_eq!(checks.len(), MEMORY_CSV.lines().count() - 1);
        for check in &checks {
            assert!(check.pass, "{check:?}");
            assert!(check.source.len() > 10 && (1.0..300.0).contains(&check.published_gib));
        }
    }

    #[test]
    fn a_wrong_size_is_seen() {
        let line =
            "peak,x,b200,llama3-70b,12,,,8,1,1,1,1,8,4096,40.0,0.1,fraction,somewhere in print";
        let head = MEMORY_CSV.lines().next().unwrap();
        let text = format!("{head}\n{line}\n");
        let record = csv::Reader::from_reader(text.as_bytes())
            .deserialize()
            .next()
            .unwrap()
            .unwrap();
        let check = check(record).unwrap();
        assert!(!check.pass && check.error() < -0.1, "{check:?}");
    }
}
