//! How many spare domains a fixed mini-batch needs, over traces.

use crate::core::faults::{Faults, Site, Trace};
use crate::core::figures::draws::{COMPARED, pattern};
use crate::core::figures::pieces::Pieces;
use crate::core::order;
use crate::core::scenario::Scenario;
use crate::core::strategy::{Evaluator, Pattern, StrategyId};
use crate::core::units::Nanos;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Length of a trace, days.
const DAYS: f64 = 15.0;

/// How long a strategy needed how many spare domains to keep its mini-batch, over one trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// Spare domains needed, with the time and the throughput x time they were needed for; one more than the ladder has
    /// where none suffice.
    time: BTreeMap<u32, (f64, f64)>,
}

impl Needs {
    /// Spare domains that never let the job pause.
    pub fn uninterrupted(&self) -> u32 {
        self.time.keys().next_back().copied().unwrap_or(0)
    }
    /// Throughput per GPU with `spares` spare domains: pauses when more are needed, spare GPUs held all the time.
    pub fn per_gpu(&self, spares: u32, domains: u32) -> f64 {
        let total: f64 = self.time.values().map(|(time, _)| time).sum();
        let done: f64 = self.time.range(..=spares).map(|(_, (_, done))| done).sum();
        if total > 0.0 {
            done / total * f64::from(domains) / f64::from(domains + spares)
        } else {
            0.0
        }
    }
}

/// Traces to walk, and the spare domains tried on them.
pub struct Over<'a> {
    /// Most spare domains.
    pub most: u32,
    /// Spare domains that make a difference to `ntp`: a replica's worth.
    pub by: u32,
    /// Rates and repair times.
    pub faults: &'a Faults,
    /// How many.
    pub traces: u32,
    /// Seed of the first.
    pub seed: u64,
}

/// The same job with 0, a replica's worth, two replicas' worth of spare domains and so on.
pub struct Ladder {
    steps: Vec<Rc<Option<Evaluator<'static>>>>,
    most: u32,
}

impl Ladder {
    /// Pieces that [`Ladder::over`] asks for.
    pub const fn pieces(most: u32, by: u32, traces: u32) -> usize {
        (most / by + 1 + traces) as usize
    }

    /// What each strategy of [`COMPARED`] needs on each trace.
    pub fn over(
        scenario: impl Fn(u32) -> Scenario,
        over: &Over<'_>,
        pieces: &mut Pieces,
    ) -> Option<Vec<Rc<Vec<Needs>>>> {
        let steps = (0..=over.most)
            .step_by(over.by as usize)
            .map(|spares| pieces.piece(|| scenario(spares).resolve().ok().map(Evaluator::owned)));
        let ladder = Self {
            steps: steps.collect::<Option<_>>()?,
            most: over.most,
        };
        let Some(site) = ladder.steps().next().map(|first| Site::of(first.job())) else {
            return Some(Vec::new());
        };
        (0..u64::from(over.traces))
            .map(|i| {
                pieces.piece(|| {
                    let seed = over.seed.wrapping_add(i);
                    ladder.needs(&Trace::draw(over.faults, &site, seed, DAYS))
                })
            })
            .collect()
    }

    fn steps(&self) -> impl DoubleEndedIterator<Item = &Evaluator<'static>> {
        self.steps.iter().filter_map(|step| step.as_ref().as_ref())
    }

    /// Walks a trace's failures and repairs and asks at each change how many spares it takes to go on.
    fn needs(&self, trace: &Trace) -> Vec<Needs> {
        let mut found = vec![Needs::default(); COMPARED.len()];
        let Some(placement) = self.steps().next().map(Evaluator::placement) else {
            return found;
        };
        let end = Nanos::from_hours(DAYS * 24.0);
        let mut changes: Vec<(Nanos, u32, i64)> = Vec::new();
        for event in &trace.events {
            let Some(cause) = trace.causes.get(usize::from(event.cause)) else {
                continue;
            };
            if cause.takes_out && event.domain < placement.domains {
                let (gpus, back) = (
                    i64::from(event.gpus),
                    event.time + cause.detect + event.repair,
                );
                changes.extend([
                    (event.time, event.domain, gpus),
                    (back, event.domain, -gpus),
                ]);
            }
        }
        changes.retain(|change| change.0 < end);
        order::sort(&mut changes);
        let mut down: BTreeMap<u32, i64> = BTreeMap::new();
        let mut now = Nanos::ZERO;
        let mut account = |down: &BTreeMap<u32, i64>, span: Nanos| {
            let most = i64::from(placement.domain_size);
            let failed: Vec<(u32, u32)> = down
                .iter()
                .map(|(domain, count)| (*domain, (*count).clamp(0, most) as u32))
                .collect();
            let pattern = pattern(placement, &failed);
            for (needs, strategy) in found.iter_mut().zip(COMPARED) {
                let (spares, throughput) = self.fewest(strategy, &pattern);
                let (time, done) = needs.time.entry(spares).or_default();
                *time += span.hours();
                *done += span.hours() * throughput;
            }
        };
        for (time, domain, change) in changes {
            account(&down, time.saturating_sub(now));
            now = time;
            let count = down.entry(domain).or_insert(0);
            *count += change;
            if *count <= 0 {
                down.remove(&domain);
            }
        }
        account(&down, end.saturating_sub(now));
        found
    }

    /// Fewest spare domains that keep the mini-batch, and the throughput with them.
    fn fewest(&self, strategy: StrategyId, pattern: &Pattern) -> (u32, f64) {
        let none = (self.most + 1, 0.0);
        if strategy == StrategyId::DpDrop {
            // Spares replace damaged domains one by one, so those in use are those needed.
            let rate = self
                .steps()
                .next_back()
                .map(|all| all.rate(strategy, pattern));
            return match rate {
                Some(rate) if !rate.paused => (rate.spare_domains_used, rate.throughput),
                _ => none,
            };
        }
        let enough = self.steps.partition_point(|step| {
            step.as_ref()
                .as_ref()
                .is_some_and(|evaluator| evaluator.rate(strategy, pattern).paused)
        });
        let evaluator = self
            .steps
            .get(enough)
            .and_then(|step| step.as_ref().as_ref());
        evaluator.map_or(none, |evaluator| {
            let spares = evaluator.policy().spare_domains;
            (spares, evaluator.rate(strategy, pattern).throughput)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_add_up_by_hand() {
        let needs = Needs {
            time: BTreeMap::from([(0, (10.0, 10.0)), (8, (20.0, 20.0)), (16, (10.0, 10.0))]),
        };
        assert_eq!(needs.uninterrupted(), 16);
        assert!((needs.per_gpu(8, 92) - 0.75 * 0.92).abs() < 1e-12);
    }
}
