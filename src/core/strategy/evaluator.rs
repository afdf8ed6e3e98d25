//! Rates strategies on failure patterns: the healthy job's cost once, every other cost at most once.

use super::ledger::{self, Totals};
use super::pattern::{Bench, Losses, Pattern};
use super::plan::{Plan, PlannedSlot, strategy};
use super::{Healthy, LedgerNow, StrategyId};
use crate::core::cost::{Replica, StepCost, step};
use crate::core::hardware::{FieldError, PowerCurve};
use crate::core::placement::Placement;
use crate::core::scenario::{Job, Policy};
use crate::core::units::{Seconds, Watts};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::borrow::Cow;
use std::cell::RefCell;

/// How far above the healthy step a step may be and still count as keeping up: floating-point noise only.
const TOLERANCE: f64 = 1e-9;
/// Rates remembered before the memory is emptied.
const MOST_RATES: usize = 100_000;

/// What a strategy delivers on a pattern, without words or physical slots.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Tokens per second relative to the healthy job of the given layout, 0 to 1.
    pub throughput: f64,
    /// Tokens per second relative to the healthy rate of all GPUs the strategy occupies, 0 to 1.
    pub goodput: f64,
    /// Sequences per step over all replicas; 0 when paused.
    pub minibatch: u32,
    /// Time of one step of the job; the healthy one when paused.
    pub step_s: Seconds,
    /// Whether the job does not run at all.
    pub paused: bool,
    /// Replicas that deliver nothing.
    pub dropped_replicas: u32,
    /// Spare domains in use.
    pub spare_domains_used: u32,
    /// GPUs the strategy occupies.
    pub occupied_gpus: u64,
    /// GPUs that compute.
    pub working_gpus: u64,
    /// Healthy GPUs of running replicas benched so that groups share a degree, or reach a supported one.
    pub parity_idle_gpus: u32,
    /// Power drawn by all occupied GPUs.
    pub power_w: Watts,
    /// Resharding that lengthens the step.
    pub reshard_exposed_s: Seconds,
    /// Where the GPU-time goes.
    pub ledger: LedgerNow,
}

#[derive(Default)]
struct Memo {
    costs: FxHashMap<(u32, u32, u32, u64), StepCost>,
    batches: FxHashMap<(u32, u32, u64, u64), u32>,
    powers: FxHashMap<(u32, u32, u32, u64, u64), Option<f64>>,
    rates: FxHashMap<(StrategyId, Vec<u64>), Rate>,
}

/// Rates strategies for one job. Not shared between threads: each worker makes its own.
pub struct Evaluator<'a> {
    job: Cow<'a, Job>,
    healthy: StepCost,
    memo: RefCell<Memo>,
}

/// The step of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timing {
    pub minibatch: u32,
    pub step: f64,
    pub reshard: f64,
    pub paused: bool,
    pub throughput: f64,
}

/// What a strategy makes of a pattern.
pub(super) struct Decision {
    pub plan: Plan,
    pub losses: Losses,
    /// Ways to bench slow GPUs and the throughput of each.
    pub tried: Vec<(Bench, f64)>,
    /// The one that is taken.
    pub at: usize,
}

impl Decision {
    /// The way that is taken, and its throughput.
    pub fn taken(&self) -> Option<&(Bench, f64)> {
        self.tried.get(self.at)
    }
}

fn keeps_up(cost: &StepCost, target: Seconds) -> bool {
    cost.step_s.get() <= target.get() * (1.0 + TOLERANCE)
}

impl Evaluator<'static> {
    /// An evaluator that keeps its job, for runs that outlive the caller.
    pub fn owned(job: Job) -> Self {
        Self::with(Cow::Owned(job))
    }
}

impl<'a> Evaluator<'a> {
    /// Costs the healthy job.
    pub fn new(job: &'a Job) -> Self {
        Self::with(Cow::Borrowed(job))
    }

    fn with(job: Cow<'a, Job>) -> Self {
        let mut evaluator = Self {
            job,
            healthy: StepCost::default(),
            memo: RefCell::default(),
        };
        let (tp, batch) = (evaluator.job.scenario.layout.tp, evaluator.local_batch());
        evaluator.healthy = evaluator.cost(tp, tp, batch, 1.0);
        evaluator
    }

    /// The job.
    pub fn job(&self) -> &Job {
        &self.job
    }
    /// Where its groups sit.
    pub fn placement(&self) -> &Placement {
        &self.job.placement
    }
    /// What its operator decided.
    pub fn policy(&self) -> &Policy {
        &self.job.scenario.policy
    }
    /// Sequences per healthy replica and step.
    pub fn local_batch(&self) -> u32 {
        self.job.scenario.layout.local_batch()
    }
    /// Sequences per step of the healthy job.
    pub fn minibatch(&self) -> u32 {
        self.local_batch()
            .saturating_mul(self.job.placement.replicas)
    }
    /// The healthy replica's step.
    pub fn healthy_cost(&self) -> &StepCost {
        &self.healthy
    }

    /// Whether the healthy replica fits in the memory of its GPUs.
    ///
    /// # Errors
    /// One line with the GiB it needs and the GiB there are.
    pub fn fits(&self) -> Result<(), FieldError> {
        let (needed, gpu) = (self.healthy.memory.total(), &self.job.system.gpu);
        if needed <= gpu.hbm() {
            return Ok(());
        }
        let there = format!("at most {:.1} GiB ({})", gpu.hbm().gib(), gpu.name);
        Err(FieldError::new(
            "layout",
            format!("{:.1} GiB per GPU", needed.gib()),
            there,
        ))
    }

    /// The healthy job as a whole.
    pub fn healthy(&self) -> Healthy {
        let placement = self.placement();
        let layout = &self.job.scenario.layout;
        let tokens = f64::from(self.minibatch()) * f64::from(layout.seq);
        let step = self.healthy.step_s.get();
        let idle = placement
            .occupied_gpus()
            .saturating_sub(placement.layout_gpus());
        let busy = placement.layout_gpus() as f64 + ledger::IDLE_POWER * idle as f64;
        let power = self.job.system.gpu.tdp() * busy;
        Healthy {
            cost: self.healthy,
            tokens_per_s: if step > 0.0 { tokens / step } else { 0.0 },
            power_w: power,
            energy_per_token_j: (power * self.healthy.step_s).get() / tokens.max(1.0),
        }
    }

    /// Step of a replica at `degree` with gradients reduced at `sync`, on `batch` sequences at compute factor `perf`.
    pub fn cost(&self, degree: u32, sync: u32, batch: u32, perf: f64) -> StepCost {
        let key = (degree, sync, batch, perf.to_bits());
        if let Some(cost) = self.memo.borrow().costs.get(&key) {
            return *cost;
        }
        let cost = step(&Replica {
            system: &self.job.system,
            model: &self.job.model,
            layout: &self.job.scenario.layout,
            degree,
            sync_degree: sync,
            local_batch: batch,
            perf,
            heads: self.policy().heads,
        });
        self.memo.borrow_mut().costs.insert(key, cost);
        cost
    }

    /// The step that a damaged replica must keep up with: that of the whole replicas beside it, their resharding and
    /// slow GPUs included, as they wait for one another anyway; the healthy job's where none is left.
    pub(super) fn target(&self, sync: u32, healthy_replicas: u32, pace: f64) -> Seconds {
        if healthy_replicas == 0 {
            return self.healthy.step_s;
        }
        self.cost(self.placement().tp, sync, self.local_batch(), pace)
            .step_s
            .max(self.healthy.step_s)
    }

    /// The most sequences, a multiple of the micro-batch and at most the healthy local batch, that a replica finishes
    /// within `target`; 0 when it finishes none.
    pub(super) fn largest_batch(&self, degree: u32, sync: u32, perf: f64, target: Seconds) -> u32 {
        let key = (degree, sync, perf.to_bits(), target.get().to_bits());
        if let Some(batch) = self.memo.borrow().batches.get(&key) {
            return *batch;
        }
        let unit = self.job.scenario.layout.microbatch.max(1);
        let fits = |microbatches: u32| {
            keeps_up(&self.cost(degree, sync, microbatches * unit, perf), target)
        };
        // Step time grows with the batch: the largest that fits, by bisection over (fits, does not fit].
        let (mut low, mut high) = (0, self.local_batch() / unit);
        if high > 0 && fits(high) {
            low = high;
        }
        while high > low + 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let batch = low * unit;
        self.memo.borrow_mut().batches.insert(key, batch);
        batch
    }

    /// The least power, x TDP and at most `most`, at which a reduced replica finishes `batch` sequences within `target`. A
    /// kept slow GPU (`slow` below 1) cannot be boosted, so it is 1 or nothing then.
    pub(super) fn least_power(
        &self,
        degree: u32,
        sync: u32,
        batch: u32,
        most: f64,
        slow: f64,
        target: Seconds,
    ) -> Option<f64> {
        if keeps_up(&self.cost(degree, sync, batch, slow), target) {
            return Some(1.0);
        }
        if slow < 1.0 {
            return None;
        }
        let key = (degree, sync, batch, most.to_bits(), target.get().to_bits());
        if let Some(power) = self.memo.borrow().powers.get(&key) {
            return *power;
        }
        // Uncached costs: the trial points of the search are asked for only here.
        let timed = |power: f64| {
            step(&Replica {
                system: &self.job.system,
                model: &self.job.model,
                layout: &self.job.scenario.layout,
                degree,
                sync_degree: sync,
                local_batch: batch,
                perf: PowerCurve::perf(power),
                heads: self.policy().heads,
            })
        };
        let power = keeps_up(&timed(most), target).then(|| {
            // Without the tolerance as far as that goes: the group shall not be what the others wait for.
            let (mut low, mut high) = (1.0, most);
            for _ in 0..40 {
                let middle = 0.5 * (low + high);
                if timed(middle).step_s <= target {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            high
        });
        self.memo.borrow_mut().powers.insert(key, power);
        power
    }

    /// Step of one TP group's replica.
    pub(super) fn slot_cost(&self, slot: &PlannedSlot, sync: u32, batch: u32) -> StepCost {
        let perf = if slot.slow < 1.0 {
            slot.slow
        } else {
            PowerCurve::perf(slot.power)
        };
        self.cost(slot.degree, sync, batch, perf)
    }

    /// Step of a replica made of these groups: the slowest sets the pace.
    pub(super) fn slowest(&self, slots: &[PlannedSlot], sync: u32, batch: u32) -> StepCost {
        let mut worst = StepCost::default();
        let mut last: Option<(u32, f64, f64)> = None;
        for slot in slots.iter().filter(|slot| slot.degree > 0) {
            // Groups of a kind stand side by side.
            let kind = (slot.degree, slot.slow, slot.power);
            if last == Some(kind) {
                continue;
            }
            last = Some(kind);
            let cost = self.slot_cost(slot, sync, batch);
            if cost.step_s > worst.step_s {
                worst = cost;
            }
        }
        worst
    }

    /// Sequences a plan processes per step, extra replicas included.
    pub(super) fn planned_minibatch(&self, plan: &Plan) -> u32 {
        let healthy = self.local_batch().saturating_mul(plan.healthy_replicas);
        let extra: u32 = plan.extra.iter().sum();
        let damaged: u32 = plan
            .affected
            .iter()
            .map(|replica| replica.local_batch)
            .sum();
        healthy.saturating_add(extra).saturating_add(damaged)
    }

    /// Step of the whole job under a plan: the slowest running replica sets it.
    pub(super) fn timing(&self, plan: &Plan) -> Timing {
        let mut step = 0.0_f64;
        let mut reshard = 0.0_f64;
        let mut take = |cost: StepCost| {
            step = step.max(cost.step_s.get());
            reshard = reshard.max(cost.reshard_exposed_s.get());
        };
        let sync = plan.sync_degree;
        if plan.healthy_replicas > 0 {
            take(self.cost(plan.degree, sync, self.local_batch(), plan.pace));
        }
        if let Some(&batch) = plan.extra.iter().max() {
            take(self.cost(self.placement().tp, sync, batch, 1.0));
        }
        for replica in plan.running() {
            take(self.slowest(&replica.slots, sync, replica.local_batch));
        }
        let healthy = self.healthy.step_s.get();
        let minibatch = self.planned_minibatch(plan);
        let full = self.minibatch();
        let paused =
            plan.paused || minibatch == 0 || (self.policy().fixed_minibatch && minibatch < full);
        if paused || step <= 0.0 {
            return Timing {
                minibatch: 0,
                step: healthy,
                reshard: 0.0,
                paused: true,
                throughput: 0.0,
            };
        }
        Timing {
            minibatch,
            step,
            reshard,
            paused,
            throughput: self.relative(minibatch, step),
        }
    }

    /// Throughput of so many sequences in a step of so many seconds, relative to the healthy job.
    fn relative(&self, minibatch: u32, step: f64) -> f64 {
        let (healthy, full) = (
            self.healthy.step_s.get(),
            f64::from(self.minibatch().max(1)),
        );
        ((f64::from(minibatch) / full) * (healthy / step)).clamp(0.0, 1.0)
    }

    /// Throughput of so many sequences a step, were the step that of the healthy replicas.
    pub(super) fn throughput_beside(&self, minibatch: u32, sync: u32, pace: f64) -> f64 {
        let step = self.cost(self.placement().tp, sync, self.local_batch(), pace);
        self.relative(minibatch, step.step_s.get())
    }

    /// Throughput of a plan.
    pub(super) fn throughput(&self, plan: &Plan) -> f64 {
        self.timing(plan).throughput
    }

    /// Losses of a pattern for a strategy that benches slow GPUs.
    pub(super) fn losses(&self, id: StrategyId, pattern: &Pattern, bench: &Bench) -> Losses {
        let held = self.held_spares(id);
        let broken = pattern
            .spares
            .iter()
            .filter(|spare| spare.spare < held && !spare.usable)
            .count() as u32;
        Losses::new(
            pattern,
            self.placement(),
            bench,
            held.saturating_sub(broken),
        )
    }

    /// Spare domains a strategy holds.
    pub(super) fn held_spares(&self, id: StrategyId) -> u32 {
        strategy(id)
            .held_spare_domains(self.policy())
            .min(self.placement().spare_domains)
    }

    /// The best plan of a strategy over all ways to bench slow GPUs. They are kept where benching is no better.
    pub(super) fn plan(&self, id: StrategyId, pattern: &Pattern) -> Decision {
        let weigh = |bench: &Bench| {
            let losses = self.losses(id, pattern, bench);
            let plan = strategy(id).plan(self, &losses);
            let rate = self.throughput(&plan);
            (plan, losses, rate)
        };
        let keep = Bench::default();
        let (plan, losses, rate) = weigh(&keep);
        let mut decision = Decision {
            plan,
            losses,
            tried: vec![(keep, rate)],
            at: 0,
        };
        for bench in pattern.benches() {
            let (plan, losses, rate) = weigh(&bench);
            let better = decision.taken().is_some_and(|(taken, most)| {
                rate > *most || (rate == *most && bench.keeps_more(taken))
            });
            if better {
                decision.at = decision.tried.len();
                (decision.plan, decision.losses) = (plan, losses);
            }
            decision.tried.push((bench, rate));
        }
        decision
    }

    /// What a strategy delivers on a pattern. Patterns that differ only in where their failures are share one answer.
    pub fn rate(&self, id: StrategyId, pattern: &Pattern) -> Rate {
        // With several TP groups a domain, which of them share a domain matters too, so nothing is remembered.
        let key = (self.placement().slots_per_domain == 1).then(|| (id, pattern.signature()));
        if let Some(rate) = key
            .as_ref()
            .and_then(|key| self.memo.borrow().rates.get(key).copied())
        {
            return rate;
        }
        let rate = self.fresh_rate(id, pattern);
        if let Some(key) = key {
            let rates = &mut self.memo.borrow_mut().rates;
            if rates.len() >= MOST_RATES {
                rates.clear();
            }
            rates.insert(key, rate);
        }
        rate
    }

    /// [`Evaluator::rate`] without its memory, for callers that have their own.
    pub fn fresh_rate(&self, id: StrategyId, pattern: &Pattern) -> Rate {
        let decision = self.plan(id, pattern);
        self.rate_of(id, pattern, &decision.plan, &decision.losses)
    }

    pub(super) fn rate_of(
        &self,
        id: StrategyId,
        pattern: &Pattern,
        plan: &Plan,
        losses: &Losses,
    ) -> Rate {
        let timing = self.timing(plan);
        let totals = Totals::new(self, id, pattern, plan, losses, timing.paused);
        let goodput = (timing.throughput * self.placement().layout_gpus() as f64
            / totals.occupied.max(1) as f64)
            .clamp(0.0, 1.0);
        Rate {
            throughput: timing.throughput,
            goodput,
            minibatch: timing.minibatch,
            step_s: Seconds(timing.step),
            paused: timing.paused,
            dropped_replicas: if timing.paused {
                self.placement().replicas
            } else {
                plan.dropped()
            },
            spare_domains_used: if timing.paused { 0 } else { plan.spares_used },
            occupied_gpus: totals.occupied,
            working_gpus: totals.working,
            parity_idle_gpus: totals.parity,
            power_w: self.job.system.gpu.tdp() * totals.power,
            reshard_exposed_s: Seconds(timing.reshard),
            ledger: totals.ledger(&timing, goodput),
        }
    }
}
