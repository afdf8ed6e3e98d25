//! Rates from the strategies' own evaluator: the cost model behind a fleet run.

use super::domains::Domains;
use super::plan::Shape;
use super::rates::{Pattern, Rate, RateSource};
use crate::core::scenario::Job;
use crate::core::strategy::{
    DomainLoss, Evaluator, Pattern as Losses, SlotLoss, SpareLoss, StrategyId,
};

/// Evaluates patterns of one job; owns the job, so that a run can be kept and moved to a worker.
pub struct ModelRates {
    evaluator: Evaluator<'static>,
    /// The pattern asked for last.
    losses: Losses,
    /// Memory of domains that are whole again.
    unused: Vec<Vec<SlotLoss>>,
}

impl ModelRates {
    /// Costs the healthy job.
    pub fn new(job: Job) -> Self {
        Self {
            evaluator: Evaluator::owned(job),
            losses: Losses::default(),
            unused: Vec::new(),
        }
    }
    /// The job.
    pub fn job(&self) -> &Job {
        self.evaluator.job()
    }
    /// The evaluator, for what a rate does not say.
    pub fn evaluator(&self) -> &Evaluator<'static> {
        &self.evaluator
    }

    /// The pattern with its failures in the first domains: where they are makes no difference to a rate, except that the
    /// last domain of a job may have more left-over GPUs than the others. Filled into the memory of the pattern before.
    fn fill(&mut self, pattern: &Pattern<'_>) {
        let placement = self.evaluator.placement();
        let needed = placement.slots_per_domain.saturating_mul(placement.tp);
        let losses = &mut self.losses;
        losses.spares.clear();
        let (mut domain, mut spare) = (0u32, 0u32);
        for (look, count) in pattern.iter() {
            let in_slots: u32 = look.slots.iter().map(|down| u32::from(*down)).sum();
            let outside = u32::from(look.left_over);
            for _ in 0..count {
                if look.spare {
                    let down = in_slots + outside;
                    let usable = placement.domain_size.saturating_sub(down) >= needed;
                    losses.spares.push(SpareLoss {
                        spare,
                        down,
                        usable,
                    });
                    spare += 1;
                    continue;
                }
                let first = placement.first_slot(domain);
                if losses.domains.len() <= domain as usize {
                    losses.domains.push(DomainLoss {
                        slots: self.unused.pop().unwrap_or_default(),
                        ..DomainLoss::default()
                    });
                }
                if let Some(loss) = losses.domains.get_mut(domain as usize) {
                    loss.domain = domain;
                    loss.outside_unfit = outside;
                    loss.outside_down = outside;
                    loss.slots.clear();
                    let slots = look.slots.iter().zip(first..);
                    loss.slots.extend(slots.map(|(down, slot)| SlotLoss {
                        slot,
                        down: u32::from(*down),
                        slow: Vec::new(),
                    }));
                }
                domain += 1;
            }
        }
        while losses.domains.len() > domain as usize {
            self.unused
                .extend(losses.domains.pop().map(|loss| loss.slots));
        }
    }
}

impl ModelRates {
    /// The pattern of GPUs that are out of service, each in its own place.
    pub fn physical_losses(&self, domains: &Domains, shape: &Shape) -> Losses {
        let placement = self.evaluator.placement();
        let needed = placement.slots_per_domain.saturating_mul(placement.tp);
        let mut losses = Losses::default();
        for (domain, down) in domains.iter() {
            if domain >= shape.domains {
                losses.spares.push(SpareLoss {
                    spare: domain - shape.domains,
                    down,
                    usable: placement.domain_size.saturating_sub(down) >= needed,
                });
                continue;
            }
            let (first, in_slots) = (
                placement.first_slot(domain),
                placement.slots_in(domain).saturating_mul(placement.tp),
            );
            let mut slots: Vec<SlotLoss> = Vec::new();
            let mut outside = 0;
            for gpu in domains.down(domain).iter().map(|down| u32::from(down.gpu)) {
                let slot = first + gpu / placement.tp.max(1);
                match slots.last_mut() {
                    _ if gpu >= in_slots => outside += 1,
                    Some(last) if last.slot == slot => last.down += 1,
                    _ => slots.push(SlotLoss {
                        slot,
                        down: 1,
                        slow: Vec::new(),
                    }),
                }
            }
            losses.domains.push(DomainLoss {
                domain,
                outside_unfit: outside,
                outside_down: outside,
                slots,
            });
        }
        losses
    }
}

impl RateSource for ModelRates {
    fn rate(&mut self, strategy: StrategyId, pattern: &Pattern<'_>) -> Rate {
        self.fill(pattern);
        let placement = self.evaluator.placement();
        let (groups, per_domain) = (
            placement.groups_per_replica,
            placement.slots_per_domain.max(1),
        );
        let rate = self.evaluator.fresh_rate(strategy, &self.losses);
        let benched_domains = if rate.paused {
            0
        } else {
            rate.dropped_replicas.saturating_mul(groups) / per_domain
        };
        Rate {
            throughput: rate.throughput,
            goodput: rate.goodput,
            minibatch: rate.minibatch,
            paused: rate.paused,
            ledger: rate.ledger,
            benched_domains,
            spare_domains_used: rate.spare_domains_used,
            parity_idle_gpus: rate.parity_idle_gpus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::fleet::{Rates, Signature};
    use crate::core::scenario::{Failure, Scenario};
    use crate::core::strategy::evaluate;

    /// Failures given one by one and the same failures as counts must come to the same.
    #[test]
    fn a_pattern_rates_as_its_failures_do_one_by_one() {
        let mut scenario = Scenario::default_scene();
        scenario.policy.spare_domains = 2;
        let fail = |domain, gpu| Failure::hardware(domain, gpu);
        scenario.failures = vec![
            fail(3, 1),
            fail(3, 9),
            fail(7, 0),
            fail(12, 71),
            fail(16, 5),
        ];
        let job = scenario.resolve().unwrap();
        let expected = evaluate(&job);
        let mut rates = Rates::new(ModelRates::new(job.clone()));
        let look = |spare, down| Signature {
            spare,
            slots: vec![down],
            left_over: 0,
        };
        let mut counts = [0; 3];
        for (signature, count) in [(look(false, 1), 2), (look(false, 2), 1), (look(true, 1), 1)] {
            counts[rates.intern(&signature) as usize] = count;
        }
        for strategy in StrategyId::ALL {
            let shape = Shape::of(&job, strategy);
            // A strategy without spare domains never sees them fail.
            let seen = if shape.spare_domains > 0 { 3 } else { 2 };
            let rate = rates.get(strategy, &counts[..seen]);
            let outcome = expected.get(strategy).unwrap();
            assert!(
                (rate.throughput - outcome.throughput).abs() < 1e-12,
                "{strategy:?}"
            );
            assert!(
                (rate.goodput - outcome.goodput).abs() < 1e-12,
                "{strategy:?}"
            );
            assert_eq!(rate.minibatch, outcome.minibatch);
            assert_eq!(shape.occupied_gpus(), outcome.occupied_gpus, "{strategy:?}");
            let ledger = rate.ledger;
            let sum = ledger.productive
                + ledger.degraded
                + ledger.idle_healthy
                + ledger.spare
                + ledger.failed
                + ledger.reshard_exposed
                + ledger.paused;
            assert!((sum - 1.0).abs() < 1e-9, "{strategy:?} {sum}");
        }
    }
}
