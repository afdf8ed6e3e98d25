//! What a scenario means where it says nothing: defaults that follow from the system and the model.

use super::limits::check_layout;
use super::{Degrees, HeadSplit, Layout, Parity, Policy, Recompute};
use crate::core::cost::{Replica, step};
use crate::core::hardware::{PowerCurve, Precision, System};
use crate::core::workload::Model;

/// Replicas of a default layout.
const DEFAULT_DP: u32 = 8;
/// Sequences per replica and step of a default layout.
const DEFAULT_LOCAL_BATCH: u32 = 8;
/// Weights, gradients and Adam states per parameter without a distributed optimizer, bytes: 2 + 4 + 4 + 4 + 4.
const STATE_BYTES_PER_PARAMETER: f64 = 18.0;
/// Share of HBM that weights, gradients and optimizer states may take in a default layout; the rest is activations.
const STATE_SHARE_OF_HBM: f64 = 0.6;
/// Largest domain that a default layout takes as one TP group; wider ones hold several groups of TP72.
const LARGEST_DEFAULT_TP: u32 = 128;

/// The layout fields that a file or link gives.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the same fields as `Layout`
pub struct PartialLayout {
    pub tp: Option<u32>,
    pub pp: Option<u32>,
    pub dp: Option<u32>,
    pub cp: Option<u32>,
    pub vp: Option<u32>,
    pub microbatch: Option<u32>,
    pub global_batch: Option<u32>,
    pub seq: Option<u32>,
    pub precision: Option<Precision>,
    pub recompute: Option<Recompute>,
    pub sequence_parallel: Option<bool>,
    pub overlap: Option<bool>,
}

/// Fills a layout in. Fields follow from the ones before them only, in the order tp, cp, pp, vp, dp, microbatch,
/// global_batch: the domain as one TP group, the fewest pipeline stages whose weights, gradients and optimizer states
/// take 60 % of HBM (a divisor of the layers when one is near), 8 replicas, 8 sequences each, the model's own sequence, and as
/// little recompute as fits in memory.
pub fn derive_layout(system: &System, model: &Model, given: &PartialLayout) -> Layout {
    let whole = system.domain_size;
    let tp = given.tp.unwrap_or(if whole <= LARGEST_DEFAULT_TP {
        whole
    } else {
        72
    });
    let pp = given.pp.unwrap_or_else(|| fewest_stages(system, model, tp));
    let dp = given.dp.unwrap_or(DEFAULT_DP);
    let microbatch = given.microbatch.unwrap_or(1);
    let local = DEFAULT_LOCAL_BATCH
        .div_ceil(microbatch.max(1))
        .saturating_mul(microbatch);
    let mut layout = Layout {
        tp,
        pp,
        dp,
        cp: given.cp.unwrap_or(1),
        vp: given.vp.unwrap_or(1),
        microbatch,
        global_batch: given.global_batch.unwrap_or(dp.saturating_mul(local)),
        seq: given.seq.unwrap_or(model.seq),
        precision: given.precision.unwrap_or_default(),
        recompute: given.recompute.unwrap_or_default(),
        sequence_parallel: given.sequence_parallel.unwrap_or(true),
        overlap: given.overlap.unwrap_or(true),
    };
    // A layout out of bounds is refused by whoever asked; no step is computed of it.
    if given.recompute.is_none() && check_layout(&layout, system, model).is_ok() {
        let choices = [Recompute::None, Recompute::Selective, Recompute::Full];
        layout.recompute = choices
            .into_iter()
            .find(|&recompute| {
                fits(
                    system,
                    model,
                    &Layout {
                        recompute,
                        ..layout.clone()
                    },
                )
            })
            .unwrap_or_default();
    }
    layout
}

fn fits(system: &System, model: &Model, layout: &Layout) -> bool {
    let replica = Replica {
        system,
        model,
        layout,
        degree: layout.tp,
        sync_degree: layout.tp,
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: HeadSplit::Whole,
    };
    step(&replica).memory.total() <= system.gpu.hbm()
}

fn fewest_stages(system: &System, model: &Model, tp: u32) -> u32 {
    let per_stage = f64::from(tp.max(1)) * system.gpu.hbm().get() * STATE_SHARE_OF_HBM;
    let needed = (STATE_BYTES_PER_PARAMETER * model.parameters() / per_stage).ceil();
    let needed = (needed.max(1.0) as u32).min(model.layers.max(1));
    // Uneven stages waste more than a few extra even ones.
    let even = (needed..=needed.saturating_add(needed / 2))
        .find(|&stages| model.layers.is_multiple_of(stages));
    even.unwrap_or(needed)
}

/// The policy of a scenario that gives none; `tp` is the layout's.
pub fn derive_policy(system: &System, tp: u32) -> Policy {
    let slots = system.domain_size / tp.max(1);
    Policy {
        degrees: Degrees::Any,
        parity: Parity::PerReplica,
        boost_cap: PowerCurve::MAX_POWER,
        rack_headroom: PowerCurve::MAX_POWER,
        in_domain_spares: (system.domain_size / 9)
            .max(1)
            .min(system.domain_size.saturating_sub(slots)),
        spare_domains: 0,
        hot_spare_domains: 0,
        fixed_minibatch: false,
        blast_radius: 1,
        heads: HeadSplit::Whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{hardware::system, workload::model};

    #[test]
    fn stages_hold_the_model() {
        let (gb300, h100) = (system("gb300-nvl72").unwrap(), system("h100-nvl8").unwrap());
        let (big, small) = (model("llama3-405b").unwrap(), model("llama3-8b").unwrap());
        // 18 x 405.8e9 bytes over 72 x 185.5e9 fits one stage; over 8 x 51.54e9 it takes 17.7, and 126 layers split in 18.
        assert_eq!(derive_layout(gb300, big, &PartialLayout::default()).pp, 1);
        assert_eq!(derive_layout(h100, big, &PartialLayout::default()).pp, 18);
        assert_eq!(derive_layout(h100, small, &PartialLayout::default()).pp, 1);
    }

    #[test]
    fn batch_follows_replicas_and_microbatch() {
        let given = PartialLayout {
            dp: Some(3),
            microbatch: Some(3),
            ..PartialLayout::default()
        };
        let layout = derive_layout(
            system("h100-nvl8").unwrap(),
            model("llama3-8b").unwrap(),
            &given,
        );
        assert_eq!((layout.global_batch, layout.local_batch()), (27, 9));
    }
}
