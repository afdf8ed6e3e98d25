//! What `ntp` and `ntp-pw` share: packing, degrees, parity, how many of the worst replicas to give up, extra replicas.

use super::evaluator::Evaluator;
use super::pattern::{Loss, Losses};
use super::plan::{DomainPower, Plan, PlannedReplica, dropped_replicas};
use crate::core::scenario::Parity;
use crate::core::units::Seconds;
use std::collections::BTreeMap;

/// What every reduced replica of a candidate plan agrees on.
pub(super) struct Reduction<'a> {
    /// Lowest degree of the job, at which gradients are reduced.
    pub sync_degree: u32,
    /// The common degree of all reduced groups, where parity asks for one.
    pub common: Option<u32>,
    /// Step that it must keep up with.
    pub target: Seconds,
    /// Power of the domains with reduced groups.
    pub power: &'a [DomainPower],
}

/// How a strategy runs one damaged replica.
pub(super) type Reduce = fn(&Evaluator<'_>, &[Loss], &Reduction<'_>) -> PlannedReplica;

/// The degree of a whole replica under `ntp`; none when no supported degree is low enough.
pub(super) fn replica_degree(
    evaluator: &Evaluator<'_>,
    slots: &[Loss],
    reduction: &Reduction<'_>,
) -> Option<u32> {
    reduction.common.or_else(|| supported(evaluator, slots))
}

/// The degree that the worst of these groups can run at.
fn supported(evaluator: &Evaluator<'_>, slots: &[Loss]) -> Option<u32> {
    let worst = slots.iter().map(|slot| slot.short).max().unwrap_or(0);
    slot_degree(evaluator, worst)
}

/// The degree that a group short of `short` GPUs can run at.
pub(super) fn slot_degree(evaluator: &Evaluator<'_>, short: u32) -> Option<u32> {
    let tp = evaluator.placement().tp;
    evaluator
        .policy()
        .degrees
        .largest(tp, tp.saturating_sub(short))
}

/// Runs the damaged replicas reduced, or gives up the worst of them where that delivers more (no supported degree, a
/// lower common degree for all): the best of all sensible cuts, the one that drops least among equals. Dropping every damaged
/// replica is one of them, so the result never falls behind `dp-drop`.
pub(super) fn best(evaluator: &Evaluator<'_>, losses: &Losses, reduce: Reduce) -> Plan {
    if losses.slots.is_empty() {
        return Plan::whole(evaluator, losses);
    }
    let group = evaluator.placement().groups_per_replica.max(1) as usize;
    let degrees: Vec<Option<u32>> = losses
        .slots
        .chunks(group)
        .map(|slots| supported(evaluator, slots))
        .collect();
    // Worst first, so replicas that cannot run are at the front; cuts inside a run of equal degrees cannot help.
    let mut cuts: Vec<usize> = vec![degrees.len()];
    for (index, degree) in degrees.iter().enumerate().rev() {
        let same = index.checked_sub(1).and_then(|before| degrees.get(before)) == Some(degree);
        if degree.is_some() && !same {
            cuts.push(index);
        }
    }
    let mut winner: Option<(f64, Plan)> = None;
    for cut in cuts {
        let plan = cut_plan(evaluator, losses, cut, reduce);
        let rate = evaluator.throughput(&plan);
        if winner.as_ref().is_none_or(|(best, _)| rate >= *best) {
            winner = Some((rate, plan));
        }
    }
    winner.map_or_else(|| Plan::whole(evaluator, losses), |(_, plan)| plan)
}

/// The plan that drops the first `cut` damaged replicas and reduces the others.
fn cut_plan(evaluator: &Evaluator<'_>, losses: &Losses, cut: usize, reduce: Reduce) -> Plan {
    let placement = evaluator.placement();
    let group = placement.groups_per_replica.max(1) as usize;
    let split = (cut * group).min(losses.slots.len());
    let (given_up, kept) = losses.slots.split_at(split);
    let lowest = supported(evaluator, kept);
    let sync_degree = lowest.unwrap_or(placement.tp).min(placement.tp);
    let common = if evaluator.policy().parity == Parity::OneDegree {
        lowest
    } else {
        None
    };
    let power = domain_power(evaluator, losses, kept, common);
    let damaged = losses.slots.len().div_ceil(group) as u32;
    let healthy_replicas = placement.replicas.saturating_sub(damaged);
    let target = evaluator.target(sync_degree, healthy_replicas, losses.pace(&BTreeMap::new()));
    let reduction = Reduction {
        sync_degree,
        common,
        target,
        power: &power,
    };

    let slots: Vec<u32> = given_up.iter().map(|slot| slot.slot).collect();
    let mut affected = dropped_replicas(placement.groups_per_replica, &slots);
    affected.extend(
        kept.chunks(group)
            .map(|slots| reduce(evaluator, slots, &reduction)),
    );
    let mut plan = Plan {
        affected,
        healthy_replicas,
        sync_degree,
        power,
        ..Plan::whole(evaluator, losses)
    };
    refill(evaluator, losses.usable_spares, &mut plan);
    plan
}

/// Extra replicas out of spare domains, until the mini-batch is the healthy one again.
fn refill(evaluator: &Evaluator<'_>, usable_spares: u32, plan: &mut Plan) {
    let placement = evaluator.placement();
    let per_domain = u64::from(placement.slots_per_domain.max(1));
    let group = u64::from(placement.groups_per_replica.max(1));
    let most = u64::from(usable_spares) * per_domain / group;
    let local = evaluator.local_batch();
    let mut missing = evaluator
        .minibatch()
        .saturating_sub(evaluator.planned_minibatch(plan));
    while missing > 0 && local > 0 && (plan.extra.len() as u64) < most {
        let batch = local.min(missing);
        plan.extra.push(batch);
        missing -= batch;
    }
    plan.spares_used = (plan.extra.len() as u64 * group).div_ceil(per_domain) as u32;
}

/// Where the watts of the domains with reduced groups go before any boost. Whole groups of such a domain are taken to run,
/// also where one fills up a dropped replica, which can only understate the room for a boost.
fn domain_power(
    evaluator: &Evaluator<'_>,
    losses: &Losses,
    kept: &[Loss],
    common: Option<u32>,
) -> Vec<DomainPower> {
    let placement = evaluator.placement();
    let mut power: Vec<DomainPower> = losses
        .domains
        .iter()
        .filter(|domain| domain.short_slots > 0)
        .map(|domain| {
            let whole = placement
                .slots_in(domain.domain)
                .saturating_sub(domain.short_slots);
            DomainPower {
                domain: domain.domain,
                survivors: 0,
                busy: whole.saturating_mul(placement.tp),
                dead: domain.down,
                idle: 0,
            }
        })
        .collect();
    for slot in kept {
        let degree = common
            .or_else(|| slot_degree(evaluator, slot.short))
            .unwrap_or(0);
        if let Ok(index) = power.binary_search_by_key(&slot.domain, |domain| domain.domain)
            && let Some(domain) = power.get_mut(index)
        {
            domain.survivors += degree;
        }
    }
    for domain in &mut power {
        domain.idle = placement
            .domain_size
            .saturating_sub(domain.survivors)
            .saturating_sub(domain.busy)
            .saturating_sub(domain.dead);
    }
    power
}
