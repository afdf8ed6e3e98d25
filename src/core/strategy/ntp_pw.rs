//! `ntp-pw`: nonuniform tensor parallelism with a power boost.

use super::BoostLimit;
use super::evaluator::Evaluator;
use super::ledger::IDLE_POWER;
use super::nonuniform::{Reduction, at_most, best, filled, slot_degree};
use super::ntp;
use super::pattern::{Loss, Losses};
use super::plan::{DomainPower, Plan, PlannedReplica, PlannedSlot, Strategy};
use crate::core::hardware::PowerCurve;
use crate::core::scenario::Policy;

/// Only the damaged TP groups run reduced; their clocks rise until they keep up on the full local batch.
pub(super) struct NtpPw;

impl Strategy for NtpPw {
    fn held_spare_domains(&self, policy: &Policy) -> u32 {
        policy.spare_domains
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        let losses = &filled(evaluator, losses);
        let boosted = best(evaluator, losses, boost, |evaluator, _, _| {
            evaluator.local_batch()
        });
        let rate = evaluator.throughput(&boosted);
        if at_most(evaluator, losses, ntp::most) <= rate {
            return boosted;
        }
        let plain = best(evaluator, losses, ntp::reduce, ntp::most);
        if evaluator.throughput(&plain) > rate {
            plain
        } else {
            boosted
        }
    }
}

/// One replica: each damaged group boosted on its own.
fn boost(evaluator: &Evaluator<'_>, slots: &[Loss], reduction: &Reduction<'_>) -> PlannedReplica {
    let placement = evaluator.placement();
    let group = placement.groups_per_replica.max(1) as usize;
    let sync = reduction.sync_degree;
    let full = evaluator.local_batch();
    let mut local_batch = full;
    let mut planned = Vec::with_capacity(group);
    // Groups of a kind stand side by side: what the one before could do, the next one can.
    let mut last = None;
    for slot in slots {
        let Some(degree) = reduction
            .common
            .or_else(|| slot_degree(evaluator, slot.short))
        else {
            local_batch = 0;
            break;
        };
        let (most, limit) = highest_power(evaluator, slot.domain, reduction.power);
        // A kept slow GPU sets the pace of its group whatever the others' clocks.
        let perf = |power: f64| {
            if slot.perf < 1.0 {
                slot.perf
            } else {
                PowerCurve::perf(power)
            }
        };
        let kind = (degree, most, slot.perf);
        if last == Some(kind) {
            planned.push((slot, degree, most, limit));
            continue;
        }
        last = Some(kind);
        if evaluator
            .least_power(degree, sync, full, most, slot.perf, reduction.target)
            .is_none()
        {
            local_batch = local_batch.min(evaluator.largest_batch(
                degree,
                sync,
                perf(most),
                reduction.target,
            ));
        }
        planned.push((slot, degree, most, limit));
    }
    if local_batch == 0 {
        let mut dropped: Vec<PlannedSlot> = slots
            .iter()
            .map(|slot| PlannedSlot::dropped(Some(slot.slot)))
            .collect();
        dropped.resize(group, PlannedSlot::dropped(None));
        return PlannedReplica {
            slots: dropped,
            local_batch,
        };
    }
    let mut last = None;
    let mut all: Vec<PlannedSlot> = planned
        .into_iter()
        .map(|(slot, degree, most, limit)| {
            let kind = (degree, most, slot.perf);
            let (needed, reached) = match last {
                Some((before, found)) if before == kind => found,
                _ => {
                    let least = |batch: u32| {
                        evaluator.least_power(
                            degree,
                            sync,
                            batch,
                            most,
                            slot.perf,
                            reduction.target,
                        )
                    };
                    (least(local_batch), least(full).is_some())
                }
            };
            last = Some((kind, (needed, reached)));
            PlannedSlot {
                slot: Some(slot.slot),
                degree,
                idle: placement
                    .tp
                    .saturating_sub(slot.short)
                    .saturating_sub(degree),
                slow: slot.perf,
                power: needed.unwrap_or(1.0),
                limit: if reached || slot.perf < 1.0 {
                    BoostLimit::None
                } else {
                    limit
                },
            }
        })
        .collect();
    all.resize(group, PlannedSlot::whole(placement.tp));
    PlannedReplica {
        slots: all,
        local_batch,
    }
}

/// Highest power of the reduced groups of a domain, x TDP, and what sets it: the policy's cap, or what the rack can
/// deliver once its dead and idle GPUs have freed theirs.
fn highest_power(
    evaluator: &Evaluator<'_>,
    domain: u32,
    power: &[DomainPower],
) -> (f64, BoostLimit) {
    let policy = evaluator.policy();
    let cap = policy.boost_cap.clamp(1.0, PowerCurve::MAX_POWER);
    let found = power
        .binary_search_by_key(&domain, |domain| domain.domain)
        .ok()
        .and_then(|index| power.get(index));
    let Some(domain) = found.filter(|domain| domain.survivors > 0) else {
        return (cap, BoostLimit::Cap);
    };
    let budget = policy.rack_headroom * f64::from(evaluator.placement().domain_size);
    let others = f64::from(domain.busy) + IDLE_POWER * f64::from(domain.idle);
    let rack = ((budget - others) / f64::from(domain.survivors)).max(1.0);
    if rack < cap {
        (rack, BoostLimit::RackHeadroom)
    } else {
        (cap, BoostLimit::Cap)
    }
}
