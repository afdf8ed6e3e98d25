//! `in-domain-spares`: every domain holds a few of its own GPUs back.

use super::evaluator::Evaluator;
use super::pattern::{DomainCounts, Losses};
use super::plan::{Plan, Strategy, dropped_replicas};
use crate::core::order;
use crate::core::placement::Placement;
use crate::core::scenario::Policy;
use std::collections::{BTreeMap, BTreeSet};

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
        // Slots that the domains' own spares do not save.
        let missing_of = |domain: &DomainCounts| {
            let whole = whole_slots(placement, degree, domain.domain, domain.unfit);
            placement.slots_in(domain.domain).saturating_sub(whole)
        };
        // Damaged slots by domain, the worst first in each; where one stands in the order of all.
        let mut damaged: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut order: BTreeMap<u32, usize> = BTreeMap::new();
        if losses.domains.iter().any(|domain| missing_of(domain) > 0) {
            for (index, slot) in losses.slots.iter().enumerate() {
                damaged.entry(slot.domain).or_default().push(slot.slot);
                order.insert(slot.slot, index);
            }
        }
        let mut lost = Vec::new();
        for domain in &losses.domains {
            let missing = missing_of(domain);
            if missing == 0 {
                continue;
            }
            // The slots with most failures are the ones given up, then the last healthy ones.
            let first = placement.first_slot(domain.domain);
            let last = first.saturating_add(placement.slots_in(domain.domain));
            let mut given_up = damaged.remove(&domain.domain).unwrap_or_default();
            if given_up.len() < missing as usize {
                let damaged: BTreeSet<u32> = given_up.iter().copied().collect();
                given_up.extend((first..last).rev().filter(|slot| !damaged.contains(slot)));
            }
            lost.extend(given_up.into_iter().take(missing as usize));
        }
        order::sort_by_key(&mut lost, |slot| {
            order.get(slot).copied().unwrap_or(usize::MAX)
        });
        let affected = dropped_replicas(placement.groups_per_replica, &lost);
        let gone: BTreeSet<u32> = lost.iter().copied().collect();
        let kept = losses
            .slots
            .iter()
            .filter(|slot| !gone.contains(&slot.slot))
            .map(|slot| slot.perf);
        Plan {
            healthy_replicas: placement.replicas.saturating_sub(affected.len() as u32),
            affected,
            degree,
            sync_degree: degree,
            pace: kept.fold(losses.pace(&BTreeMap::new()), f64::min),
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
