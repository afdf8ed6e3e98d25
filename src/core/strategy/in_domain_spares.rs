//! `in-domain-spares`: every domain holds a few of its own GPUs back.

use super::evaluator::Evaluator;
use super::pattern::{DomainCounts, Losses};
use super::plan::{Plan, Strategy, dropped_replicas};
use crate::core::order;
use crate::core::placement::Placement;
use crate::core::scenario::Policy;
use crate::core::table::Table;

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
        // Damaged slots by domain, the worst first in each, with their places in the order of all.
        let mut damaged: Vec<(u32, usize, u32)> = Vec::new();
        if losses.domains.iter().any(|domain| missing_of(domain) > 0) {
            let slots = losses.slots.iter().enumerate();
            damaged.extend(slots.map(|(place, slot)| (slot.domain, place, slot.slot)));
            order::sort_by_key(&mut damaged, |(domain, ..)| *domain);
        }
        let mut lost: Vec<(usize, u32)> = Vec::new();
        for domain in &losses.domains {
            let missing = missing_of(domain) as usize;
            if missing == 0 {
                continue;
            }
            // The slots with most failures are the ones given up, then the last healthy ones.
            let from = damaged.partition_point(|(of, ..)| *of < domain.domain);
            let own = damaged.iter().skip(from);
            let own = own.take_while(|(of, ..)| *of == domain.domain);
            let start = lost.len();
            lost.extend(own.take(missing).map(|&(_, place, slot)| (place, slot)));
            let healthy = missing - (lost.len() - start);
            if healthy > 0 {
                let first = placement.first_slot(domain.domain);
                let mut whole = vec![true; placement.slots_in(domain.domain) as usize];
                for (_, slot) in lost.iter().skip(start) {
                    if let Some(whole) = whole.get_mut(slot.saturating_sub(first) as usize) {
                        *whole = false;
                    }
                }
                let whole = whole.iter().enumerate().rev().filter(|(_, whole)| **whole);
                let last = whole.take(healthy).map(|(local, _)| local as u32);
                lost.extend(last.map(|local| (usize::MAX, first.saturating_add(local))));
            }
        }
        order::sort_by_key(&mut lost, |(place, _)| *place);
        let mut gone = vec![false; losses.slots.len()];
        for (place, _) in &lost {
            if let Some(gone) = gone.get_mut(*place) {
                *gone = true;
            }
        }
        let kept = losses.slots.iter().zip(gone);
        let kept = kept.filter(|(_, gone)| !gone).map(|(slot, _)| slot.perf);
        let lost: Vec<u32> = lost.into_iter().map(|(_, slot)| slot).collect();
        let affected = dropped_replicas(placement.groups_per_replica, &lost);
        Plan {
            healthy_replicas: placement.replicas.saturating_sub(affected.len() as u32),
            affected,
            degree,
            sync_degree: degree,
            pace: kept.fold(losses.pace(&Table::none()), f64::min),
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
