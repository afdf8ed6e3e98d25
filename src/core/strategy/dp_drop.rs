//! `dp-drop`: drop the replicas that failures touch.

use super::evaluator::Evaluator;
use super::pattern::Losses;
use super::plan::{Plan, Strategy, dropped_replicas};
use crate::core::order;
use crate::core::scenario::Policy;
use crate::core::table::Table;
use std::cmp::Reverse;

/// Drops as few replicas as hold all damaged TP groups; spare domains replace damaged ones first.
pub(super) struct DpDrop;

impl Strategy for DpDrop {
    fn held_spare_domains(&self, policy: &Policy) -> u32 {
        policy.spare_domains
    }
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
        replace_then_drop(evaluator, losses)
    }
}

/// Spare domains replace damaged ones one by one, those with most damaged TP groups first; what is left is packed and
/// dropped.
pub(super) fn replace_then_drop(evaluator: &Evaluator<'_>, losses: &Losses) -> Plan {
    let placement = evaluator.placement();
    let mut damaged: Vec<_> = losses
        .domains
        .iter()
        .filter(|domain| domain.short_slots > 0)
        .collect();
    order::sort_by_key(&mut damaged, |domain| {
        (
            Reverse(domain.short_slots),
            Reverse(domain.short),
            Reverse(domain.down),
            domain.domain,
        )
    });
    let replaced = Table::of(
        damaged
            .iter()
            .zip(0..losses.usable_spares)
            .map(|(domain, spare)| (domain.domain, spare)),
    );
    let rest: Vec<u32> = losses
        .slots
        .iter()
        .filter(|slot| !replaced.has(slot.domain))
        .map(|slot| slot.slot)
        .collect();
    let affected = dropped_replicas(placement.groups_per_replica, &rest);
    Plan {
        healthy_replicas: placement.replicas.saturating_sub(affected.len() as u32),
        affected,
        pace: losses.pace(&replaced),
        spares_used: replaced.len() as u32,
        replaced,
        ..Plan::whole(evaluator, losses)
    }
}
