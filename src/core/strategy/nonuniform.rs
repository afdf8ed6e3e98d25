//! What `ntp` and `ntp-pw` share: packing, degrees, parity, how many of the worst replicas to give up, extra replicas.

use super::evaluator::Evaluator;
use super::pattern::{Loss, Losses, worst_first};
use super::plan::{DomainPower, Plan, PlannedReplica, dropped_replicas};
use crate::core::scenario::Parity;
use crate::core::table::Table;
use crate::core::units::Seconds;
use std::borrow::Cow;

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

/// The most sequences that it then takes: fewer than a healthy one's where that is known without planning it.
pub(super) type Most = fn(&Evaluator<'_>, &[Loss], &Reduction<'_>) -> u32;

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

/// Losses with those whole groups among the damaged ones that a slow GPU holds up and that have to fill a damaged replica up, as
/// the replicas without damage hold no more of them: the fastest.
pub(super) fn filled<'a>(evaluator: &Evaluator<'_>, losses: &'a Losses) -> Cow<'a, Losses> {
    let placement = evaluator.placement();
    let group = placement.groups_per_replica.max(1) as usize;
    let damaged = losses.slots.len().div_ceil(group);
    let room = (placement.replicas as usize).saturating_sub(damaged) * group;
    if damaged == 0 || losses.slowed.len() <= room {
        return Cow::Borrowed(losses);
    }
    let mut losses = losses.clone();
    worst_first(&mut losses.slowed);
    let fastest = losses.slowed.split_off(room);
    losses.slots.extend(fastest);
    Cow::Owned(losses)
}

/// Runs the damaged replicas reduced, or gives up the worst of them where that delivers more (no supported degree, a
/// lower common degree for all): the best of all sensible cuts, the one that drops least among equals. Dropping every damaged
/// replica is one of them, so the result never falls behind `dp-drop`.
pub(super) fn best(evaluator: &Evaluator<'_>, losses: &Losses, reduce: Reduce, most: Most) -> Plan {
    let mut winner: Option<(f64, Plan)> = None;
    for cut in cuts(evaluator, losses) {
        let cut = Cut::new(evaluator, losses, cut);
        if let Some((best, _)) = &winner
            && cut.at_most(evaluator, losses, most) <= *best
        {
            continue;
        }
        let plan = cut.plan(evaluator, losses, reduce);
        let rate = evaluator.throughput(&plan);
        if winner.as_ref().is_none_or(|(best, _)| rate > *best) {
            winner = Some((rate, plan));
        }
    }
    winner.map_or_else(|| Plan::whole(evaluator, losses), |(_, plan)| plan)
}

/// No plan of [`best`] delivers more.
pub(super) fn at_most(evaluator: &Evaluator<'_>, losses: &Losses, most: Most) -> f64 {
    if losses.slots.is_empty() {
        return 1.0;
    }
    cuts(evaluator, losses)
        .into_iter()
        .map(|cut| Cut::new(evaluator, losses, cut).at_most(evaluator, losses, most))
        .fold(0.0, f64::max)
}

/// How many of the damaged replicas, worst first, a plan may sensibly drop; ascending, empty without damage.
fn cuts(evaluator: &Evaluator<'_>, losses: &Losses) -> Vec<usize> {
    let group = evaluator.placement().groups_per_replica.max(1) as usize;
    let mut cuts = Vec::new();
    let mut before = None;
    let mut damaged = 0;
    // Replicas that cannot run are at the front; cuts inside a run of equal degrees cannot help.
    for (index, slots) in losses.slots.chunks(group).enumerate() {
        let degree = supported(evaluator, slots);
        if degree.is_some() && before != Some(degree) {
            cuts.push(index);
        }
        before = Some(degree);
        damaged = index + 1;
    }
    if damaged > 0 {
        cuts.push(damaged);
    }
    cuts
}

/// A choice of damaged replicas to drop, and what follows for the others.
struct Cut<'a> {
    given_up: &'a [Loss],
    kept: &'a [Loss],
    sync_degree: u32,
    common: Option<u32>,
    healthy_replicas: u32,
    pace: f64,
    target: Seconds,
}

impl<'a> Cut<'a> {
    /// Drops the first `cut` damaged replicas.
    fn new(evaluator: &Evaluator<'_>, losses: &'a Losses, cut: usize) -> Self {
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
        let damaged = losses.slots.len().div_ceil(group) as u32;
        let healthy_replicas = placement.replicas.saturating_sub(damaged);
        let pace = losses.pace(&Table::none());
        Self {
            given_up,
            kept,
            sync_degree,
            common,
            healthy_replicas,
            pace,
            target: evaluator.target(sync_degree, healthy_replicas, pace),
        }
    }

    fn reduction<'b>(&self, power: &'b [DomainPower]) -> Reduction<'b> {
        Reduction {
            sync_degree: self.sync_degree,
            common: self.common,
            target: self.target,
            power,
        }
    }

    /// Its plan delivers no more: the step is at least that of the healthy replicas.
    fn at_most(&self, evaluator: &Evaluator<'_>, losses: &Losses, most: Most) -> f64 {
        // Spare domains may make up for what is missing.
        if self.healthy_replicas == 0 || losses.usable_spares > 0 {
            return 1.0;
        }
        let group = evaluator.placement().groups_per_replica.max(1) as usize;
        let reduction = self.reduction(&[]);
        let replicas = self.kept.chunks(group);
        let damaged: u32 = replicas
            .map(|slots| most(evaluator, slots, &reduction))
            .sum();
        let healthy = evaluator
            .local_batch()
            .saturating_mul(self.healthy_replicas);
        evaluator.throughput_beside(healthy.saturating_add(damaged), self.sync_degree, self.pace)
    }

    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses, reduce: Reduce) -> Plan {
        let group = evaluator.placement().groups_per_replica;
        let power = domain_power(evaluator, losses, self.kept, self.common);
        let reduction = self.reduction(&power);
        let slots: Vec<u32> = self.given_up.iter().map(|slot| slot.slot).collect();
        let mut affected = dropped_replicas(group, &slots);
        affected.extend(
            self.kept
                .chunks(group.max(1) as usize)
                .map(|slots| reduce(evaluator, slots, &reduction)),
        );
        let mut plan = Plan {
            affected,
            healthy_replicas: self.healthy_replicas,
            sync_degree: self.sync_degree,
            power,
            ..Plan::whole(evaluator, losses)
        };
        refill(evaluator, losses.usable_spares, &mut plan);
        plan
    }
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
        // A whole group is among the busy ones.
        if slot.short > 0
            && let Ok(index) = power.binary_search_by_key(&slot.domain, |domain| domain.domain)
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
