//! From a plan's numbers to the whole outcome: physical slots, clocks, watts, stragglers, words.

use super::evaluator::{Decision, Evaluator};
use super::ledger::IDLE_POWER;
use super::pattern::{Bench, Losses, Pattern};
use super::plan::{Plan, PlannedSlot};
use super::summary::summary;
use super::{BoostLimit, BoostPower, Outcome, ReplicaPlan, SlotRun, SlowChoice, StrategyId};
use crate::core::cost::StepCost;
use crate::core::hardware::PowerCurve;
use crate::core::placement::{Placement, pack};
use crate::core::table::Table;
use crate::core::units::Watts;

/// Takes the slots of a replica, what each of them does, and the sequences of the replica.
type Visit<'a> = dyn FnMut(Vec<u32>, &[PlannedSlot], u32) + 'a;

impl Evaluator<'_> {
    /// The whole outcome of a strategy on a pattern.
    pub fn outcome(&self, id: StrategyId, pattern: &Pattern) -> Outcome {
        let decision = self.plan(id, pattern);
        let slow = slow_choices(pattern, &decision);
        let Decision { plan, losses, .. } = decision;
        let rate = self.rate_of(id, pattern, &plan, &losses);
        let tokens = f64::from(rate.minibatch) * f64::from(self.job().scenario.layout.seq);
        Outcome {
            strategy: id,
            throughput: rate.throughput,
            goodput: rate.goodput,
            occupied_gpus: rate.occupied_gpus,
            minibatch: rate.minibatch,
            step_s: rate.step_s,
            paused: rate.paused,
            replicas: self.replicas(id, pattern, &plan, &losses, rate.paused),
            spare_domains_used: rate.spare_domains_used,
            dropped_replicas: rate.dropped_replicas,
            parity_idle_gpus: rate.parity_idle_gpus,
            power_w: rate.power_w,
            energy_per_token_j: (tokens > 0.0).then(|| (rate.power_w * rate.step_s).get() / tokens),
            reshard_exposed_s: rate.reshard_exposed_s,
            slow,
            ledger: rate.ledger,
            summary: summary(self, id, &plan, &rate),
        }
    }

    /// How every slot in use runs, in the order of [`Outcome::replicas`], without what else an outcome costs: a map of many
    /// domains asks at every change.
    pub fn slot_runs(&self, id: StrategyId, pattern: &Pattern, visit: &mut dyn FnMut(SlotRun)) {
        let Decision { plan, losses, .. } = self.plan(id, pattern);
        let paused = self.timing(&plan).paused;
        self.arrange(id, pattern, &plan, &losses, &mut |slots, planned, batch| {
            let runs = batch > 0 && !paused;
            let boosted = runs && planned.iter().any(|slot| slot.power > 1.0);
            for (slot, planned) in slots.into_iter().zip(planned) {
                let degree = if runs { planned.degree } else { 0 };
                visit(SlotRun {
                    slot,
                    degree: (!paused).then_some(degree),
                    boosted,
                });
            }
        });
    }

    fn replicas(
        &self,
        id: StrategyId,
        pattern: &Pattern,
        plan: &Plan,
        losses: &Losses,
        paused: bool,
    ) -> Vec<ReplicaPlan> {
        let boosts = if id == StrategyId::NtpPw {
            self.boosts(plan)
        } else {
            Table::none()
        };
        let most = self.placement().replicas as usize + plan.extra.len();
        let mut replicas = Vec::with_capacity(most);
        self.arrange(id, pattern, plan, losses, &mut |slots, planned, batch| {
            let batch = if paused { 0 } else { batch };
            let boost = self.worst_boost(&boosts, planned, batch);
            replicas.push(self.replica_plan(
                replicas.len(),
                slots,
                planned,
                batch,
                plan.sync_degree,
                boost,
            ));
        });
        replicas
    }

    /// Puts a plan on physical slots: visits every replica, with its sequences were the job not paused.
    fn arrange(
        &self,
        id: StrategyId,
        pattern: &Pattern,
        plan: &Plan,
        losses: &Losses,
        visit: &mut Visit<'_>,
    ) {
        let placement = self.placement();
        let damaged: Vec<u32> = plan
            .affected
            .iter()
            .flat_map(|replica| &replica.slots)
            .filter_map(|slot| slot.slot)
            .collect();
        // By slot: the speed of those held up by a slow GPU, the plan of damaged ones.
        let mut slowed = vec![1.0; placement.slots() as usize];
        for slot in losses.slowed.iter().chain(&losses.slots) {
            if let Some(speed) = slowed.get_mut(slot.slot as usize) {
                *speed = slot.perf;
            }
        }
        let mut own: Vec<Option<&PlannedSlot>> = vec![None; placement.slots() as usize];
        for planned in plan.affected.iter().flat_map(|replica| &replica.slots) {
            if let Some(own) = planned.slot.and_then(|slot| own.get_mut(slot as usize)) {
                *own = Some(planned);
            }
        }
        let spares = SpareSlots::new(placement, self.held_spares(id), pattern, plan);
        let whole = PlannedSlot::whole(plan.degree);
        let mut planned: Vec<PlannedSlot> = Vec::new();
        let slow: Vec<u32> = losses.slowed.iter().map(|slot| slot.slot).collect();
        for (index, slots) in pack(placement, &damaged, &slow).into_iter().enumerate() {
            let affected = plan.affected.get(index);
            let filler =
                affected.and_then(|replica| replica.slots.iter().find(|slot| slot.slot.is_none()));
            planned.clear();
            planned.extend(slots.iter().map(|&slot| {
                let own = if affected.is_some() {
                    own.get(slot as usize).copied().flatten()
                } else {
                    None
                };
                let mut planned = *own.or(filler).unwrap_or(&whole);
                if own.is_none() && !plan.replaced.has(placement.domain_of(slot)) {
                    planned.slow = slowed.get(slot as usize).copied().unwrap_or(1.0);
                }
                planned
            }));
            let batch = affected.map_or(self.local_batch(), |replica| replica.local_batch);
            let slots = slots.into_iter().map(|slot| spares.replace(slot)).collect();
            visit(slots, &planned, batch);
        }
        let group = placement.groups_per_replica.max(1) as usize;
        for (slots, &batch) in spares.free.chunks(group).zip(&plan.extra) {
            planned.clear();
            planned.resize(slots.len(), whole);
            visit(slots.to_vec(), &planned, batch);
        }
    }

    fn replica_plan(
        &self,
        index: usize,
        slots: Vec<u32>,
        planned: &[PlannedSlot],
        local_batch: u32,
        sync: u32,
        boost: Option<BoostPower>,
    ) -> ReplicaPlan {
        let runs = local_batch > 0;
        let cost = if runs {
            self.slowest(planned, sync, local_batch)
        } else {
            StepCost::default()
        };
        let boost_p = planned
            .iter()
            .filter(|_| runs)
            .map(|slot| slot.power)
            .fold(1.0, f64::max);
        let perf = PowerCurve::perf(boost_p);
        ReplicaPlan {
            index: index as u32,
            slots,
            degrees: planned
                .iter()
                .map(|slot| if runs { slot.degree } else { 0 })
                .collect(),
            local_batch,
            powers: planned
                .iter()
                .map(|slot| if runs { slot.power } else { 1.0 })
                .collect(),
            boost_p,
            perf,
            clock_mhz: self
                .job()
                .system
                .gpu
                .clock(perf)
                .map(crate::core::units::Megahertz::get),
            boost,
            cost,
        }
    }

    /// The two budgets of every boosted domain, but for `p` and `limit`, which are a TP group's own.
    fn boosts(&self, plan: &Plan) -> Table<BoostPower> {
        let placement = self.placement();
        let tdp = self.job().system.gpu.tdp();
        let headroom = (self.policy().rack_headroom - 1.0) * f64::from(placement.domain_size);
        let mut boosts = Table::of(plan.power.iter().map(|power| {
            let freed = f64::from(power.dead) + (1.0 - IDLE_POWER) * f64::from(power.idle);
            let boost = BoostPower {
                p: 1.0,
                perf: 1.0,
                needed_w: Watts::ZERO,
                freed_w: tdp * freed,
                headroom_w: tdp * headroom,
                limit: BoostLimit::None,
            };
            (power.domain, boost)
        }));
        for slot in plan.running().flat_map(|replica| &replica.slots) {
            let domain = slot.slot.map(|slot| placement.domain_of(slot));
            if let Some(boost) = domain.and_then(|domain| boosts.get_mut(domain)) {
                boost.needed_w += tdp * ((slot.power - 1.0) * f64::from(slot.degree));
            }
        }
        boosts
    }

    /// The budgets of a replica's worst boosted domain: one that a limit holds back, or else the one at the highest power.
    fn worst_boost(
        &self,
        boosts: &Table<BoostPower>,
        planned: &[PlannedSlot],
        batch: u32,
    ) -> Option<BoostPower> {
        let reduced = planned
            .iter()
            .filter(|slot| batch > 0 && slot.slot.is_some() && slot.degree > 0);
        let held = |slot: &PlannedSlot| slot.limit != BoostLimit::None;
        let worst = reduced
            .max_by(|a, b| (held(a).cmp(&held(b))).then_with(|| a.power.total_cmp(&b.power)))?;
        let boost = boosts.get(self.placement().domain_of(worst.slot?))?;
        Some(BoostPower {
            p: worst.power,
            perf: PowerCurve::perf(worst.power),
            limit: worst.limit,
            ..*boost
        })
    }
}

/// Keeping against benching, for every slow GPU's speed in every TP group: what the job does with all else as it was decided. Those
/// of the same or a lower speed in the group go with it. Where not every way was tried, against the best that was.
fn slow_choices(pattern: &Pattern, decision: &Decision) -> Vec<SlowChoice> {
    let tried = &decision.tried;
    let Some((taken, rate)) = decision.taken().filter(|_| tried.len() > 1) else {
        return Vec::new();
    };
    let best = |wanted: &dyn Fn(&Bench) -> bool| {
        let rates = tried.iter().filter(|(bench, _)| wanted(bench));
        rates.map(|(_, rate)| *rate).reduce(f64::max)
    };
    let mut choices = Vec::new();
    for slot in pattern.domains.iter().flat_map(|domain| &domain.slots) {
        let mut speeds = slot.slow.clone();
        speeds.dedup();
        let mut below = 0.0;
        for speed in speeds {
            let bench = taken.of(slot.slot) >= speed;
            let other = if bench { below } else { speed };
            let other = best(&|way| way.differs_in(taken, slot.slot, other))
                .or_else(|| best(&|way| (way.of(slot.slot) >= speed) != bench))
                .unwrap_or_default();
            let (kept, benched) = if bench {
                (other, *rate)
            } else {
                (*rate, other)
            };
            choices.push(SlowChoice {
                slot: slot.slot,
                speed,
                kept,
                benched,
                bench,
            });
            below = speed;
        }
    }
    choices
}

/// Physical slots of the spare domains a plan uses.
struct SpareSlots {
    replaced: Table<u32>,
    free: Vec<u32>,
    slots_per_domain: u32,
}

impl SpareSlots {
    fn new(placement: &Placement, held: u32, pattern: &Pattern, plan: &Plan) -> Self {
        let usable: Vec<u32> = if plan.spares_used == 0 {
            Vec::new()
        } else {
            (0..held)
                .filter(|index| {
                    let found = pattern
                        .spares
                        .binary_search_by_key(index, |spare| spare.spare);
                    found
                        .ok()
                        .and_then(|at| pattern.spares.get(at))
                        .is_none_or(|spare| spare.usable)
                })
                .map(|index| placement.domains.saturating_add(index))
                .take(plan.spares_used as usize)
                .collect()
        };
        let replaced = Table::of(
            plan.replaced
                .iter()
                .filter_map(|(domain, &place)| Some((domain, *usable.get(place as usize)?))),
        );
        let free = if plan.extra.is_empty() {
            Vec::new()
        } else {
            let slots = |&domain: &u32| {
                let first = placement.first_slot(domain);
                first..first.saturating_add(placement.slots_per_domain)
            };
            usable.iter().flat_map(slots).collect()
        };
        Self {
            replaced,
            free,
            slots_per_domain: placement.slots_per_domain.max(1),
        }
    }

    fn replace(&self, slot: u32) -> u32 {
        let (domain, local) = (slot / self.slots_per_domain, slot % self.slots_per_domain);
        self.replaced.get(domain).map_or(slot, |spare| {
            spare
                .saturating_mul(self.slots_per_domain)
                .saturating_add(local)
        })
    }
}
