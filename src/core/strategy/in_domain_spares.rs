//! `in-domain-spares`: every domain holds a few of its own GPUs back.

use super::evaluator::Evaluator;
use super::pattern::Losses;
use super::plan::{Plan, Strategy, dropped_replicas};
use crate::core::placement::Placement;
use crate::core::scenario::Policy;

/// Runs at a lower degree everywhere, so that a failed GPU has a stand-in inside its domain. Knows no parity and no list
/// of degrees: the whole job has one degree.
pub(super) struct InDomainSpares;

impl Strategy for InDomainSpares {
    fn held_spare_domains(&self, _: &Policy) -> u32 {
        0
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        let placement = evaluator.placement();
        let degree = held_degree(placement, evaluator.policy().in_domain_spares);
        let mut lost = Vec::new();
        for domain in &losses.domains {
            let whole = whole_slots(placement, degree, domain.domain, domain.unfit);
            let missing = placement.slots_in(domain.domain).saturating_sub(whole);
            // The slots with most failures are the ones given up.
            let damaged = losses
                .slots
                .iter()
                .filter(|slot| slot.domain == domain.domain)
                .map(|slot| slot.slot);
            let first = placement.first_slot(domain.domain);
            let all = damaged
                .chain((first..first.saturating_add(placement.slots_in(domain.domain))).rev());
            let mut given_up: Vec<u32> = Vec::new();
            for slot in all {
                if given_up.len() < missing as usize && !given_up.contains(&slot) {
                    given_up.push(slot);
                }
            }
            lost.extend(given_up);
        }
        lost.sort_by_key(|slot| losses.slots.iter().position(|loss| loss.slot == *slot));
        let affected = dropped_replicas(placement.groups_per_replica, &lost);
        let kept = losses
            .slots
            .iter()
            .filter(|slot| !lost.contains(&slot.slot))
            .map(|slot| slot.perf);
        Plan {
            healthy_replicas: placement.replicas.saturating_sub(affected.len() as u32),
            affected,
            degree,
            sync_degree: degree,
            pace: kept.fold(losses.pace(&[]), f64::min),
            ..Plan::whole(evaluator, losses)
        }
    }
}

/// The degree that leaves `held` GPUs of every domain free; GPUs that the layout leaves over count.
pub(super) fn held_degree(placement: &Placement, held: u32) -> u32 {
    (placement.domain_size.saturating_sub(held) / placement.slots_per_domain.max(1))
        .clamp(1, placement.tp.max(1))
}

/// TP groups of a domain that still run once `unfit` of its GPUs are gone.
pub(super) fn whole_slots(placement: &Placement, degree: u32, domain: u32, unfit: u32) -> u32 {
    (placement.domain_size.saturating_sub(unfit) / degree.max(1)).min(placement.slots_in(domain))
}
