//! `ntp`: nonuniform tensor parallelism with a smaller local batch.

use super::evaluator::Evaluator;
use super::nonuniform::{self, Reduction, best, filled};
use super::pattern::{Loss, Losses};
use super::plan::{Plan, PlannedReplica, PlannedSlot, Strategy};
use crate::core::scenario::Policy;

/// Every affected replica runs at a reduced degree in all its stages, on the largest local batch that keeps up with the
/// whole replicas.
pub(super) struct Ntp;

impl Strategy for Ntp {
    fn held_spare_domains(&self, policy: &Policy) -> u32 {
        policy.spare_domains
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        best(evaluator, &filled(evaluator, losses), reduce, most)
    }
}

/// Degree and largest batch of a replica.
fn fitted(
    evaluator: &Evaluator<'_>,
    slots: &[Loss],
    reduction: &Reduction<'_>,
) -> (Option<u32>, u32) {
    let degree = nonuniform::replica_degree(evaluator, slots, reduction);
    let slow = slots.iter().map(|slot| slot.perf).fold(1.0, f64::min);
    let batch = degree.map_or(0, |degree| {
        evaluator.largest_batch(degree, reduction.sync_degree, slow, reduction.target)
    });
    (degree, batch)
}

/// Sequences of [`reduce`].
pub(super) fn most(evaluator: &Evaluator<'_>, slots: &[Loss], reduction: &Reduction<'_>) -> u32 {
    fitted(evaluator, slots, reduction).1
}

/// One replica: all its groups at the degree of its worst one.
pub(super) fn reduce(
    evaluator: &Evaluator<'_>,
    slots: &[Loss],
    reduction: &Reduction<'_>,
) -> PlannedReplica {
    let placement = evaluator.placement();
    let group = placement.groups_per_replica.max(1) as usize;
    let (degree, local_batch) = fitted(evaluator, slots, reduction);
    let degree = if local_batch == 0 {
        0
    } else {
        degree.unwrap_or(0)
    };
    let mut planned: Vec<PlannedSlot> = slots
        .iter()
        .map(|slot| match degree {
            0 => PlannedSlot::dropped(Some(slot.slot)),
            _ => PlannedSlot {
                slot: Some(slot.slot),
                idle: placement
                    .tp
                    .saturating_sub(slot.short)
                    .saturating_sub(degree),
                slow: slot.perf,
                ..PlannedSlot::whole(degree)
            },
        })
        .collect();
    let filler = match degree {
        0 => PlannedSlot::dropped(None),
        _ => PlannedSlot {
            idle: placement.tp.saturating_sub(degree),
            ..PlannedSlot::whole(degree)
        },
    };
    planned.resize(group, filler);
    PlannedReplica {
        slots: planned,
        local_batch,
    }
}
