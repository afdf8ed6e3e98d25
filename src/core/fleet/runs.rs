//! Many seeded runs and what they say: mean, percentiles, standard error.
//!
//! Run `i` of seed `s` uses seed `s + i` and sees the same failures under every strategy and every setting that leaves the
//! failure processes alone, so differences are far sharper than each mean.

use super::lane::Lane;
use super::ledger::Bucket;
use super::plan::Plan;
use super::rates::{RateSource, Rates};
use crate::core::faults::{Faults, Limit, Trace};
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use serde::Serialize;

/// Longest simulated time, days.
pub const MAX_DAYS: f64 = 3650.0;
/// Most runs of one study.
pub const MAX_RUNS: u32 = 1_000_000;
/// Most failures over all runs of one study; beyond it the study ends with fewer runs and says so.
pub const MAX_TOTAL_EVENTS: u64 = 20_000_000;

/// One run of one strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Useful work as a fraction of what the occupied GPUs would do without failures.
    pub goodput: f64,
    /// Ledger, in the order of [`Bucket::ALL`].
    pub buckets: [f64; Bucket::ALL.len()],
    /// Productive share of the time of GPUs neither spare nor failed.
    pub job_share: f64,
    /// Times a failure stopped the job.
    pub interruptions: f64,
    /// Most GPUs out of service at one time.
    pub peak_failed_gpus: f64,
    /// Share of time with more than 0.1 % of the job's GPUs out of service.
    pub above: f64,
}

impl Sample {
    /// What a lane has come to.
    pub fn of(lane: &Lane) -> Self {
        let now = lane.now();
        let above = lane.time_above_0p1_percent().0 as f64 / now.0.max(1) as f64;
        Self {
            goodput: lane.ledger().goodput(now),
            buckets: lane.ledger().fractions(now),
            job_share: lane.ledger().productive_share_of_job_time(now),
            interruptions: f64::from(lane.interruptions()),
            peak_failed_gpus: lane.peak_failed() as f64,
            above,
        }
    }
}

/// A distribution over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Standard error of the mean; 0 for a single run.
    pub standard_error: f64,
}

impl Summary {
    /// Of any values; percentiles interpolate linearly between order statistics. All zero without values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let n = values.len() as f64;
        if values.is_empty() {
            return Self::default();
        }
        let mean = values.iter().sum::<f64>() / n;
        let square: f64 = values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum();
        let standard_error = if n > 1.0 {
            (square / (n - 1.0) / n).sqrt()
        } else {
            0.0
        };
        let quantile = |q: f64| {
            let at = q * (n - 1.0);
            let low = at as usize;
            let value = |index: usize| values.get(index).or(values.last()).copied().unwrap_or(0.0);
            value(low) + (value(low + 1) - value(low)) * (at - low as f64)
        };
        Self {
            mean,
            p10: quantile(0.1),
            p50: quantile(0.5),
            p90: quantile(0.9),
            standard_error,
        }
    }
}

/// Runs strategies on drawn or given traces, memory kept between runs.
#[derive(Debug)]
pub struct Runner<S> {
    plan: Plan,
    faults: Faults,
    days: f64,
    trace: Trace,
    lanes: Vec<Lane>,
    rates: Rates<S>,
}

impl<S: RateSource> Runner<S> {
    /// For runs of `days` under `strategies`.
    pub fn new(
        plan: Plan,
        faults: Faults,
        strategies: &[StrategyId],
        days: f64,
        source: S,
    ) -> Self {
        let mut rates = Rates::new(source);
        let trace = Trace::draw(&faults, &plan.site, 0, 0.0);
        let lanes = strategies
            .iter()
            .map(|strategy| Lane::new(*strategy, &plan, &trace, &mut rates))
            .collect();
        Self {
            plan,
            faults,
            days,
            trace,
            lanes,
            rates,
        }
    }

    /// One run: a sample per strategy. A trace that ends early ends the run with it.
    pub fn run(&mut self, seed: u64) -> (Vec<Sample>, Option<Limit>) {
        self.trace
            .redraw(&self.faults, &self.plan.site, seed, self.days);
        (self.replay(), self.trace.limit)
    }

    /// One run on a given trace.
    pub fn run_trace(&mut self, trace: &Trace) -> Vec<Sample> {
        self.trace.clone_from(trace);
        self.replay()
    }

    fn replay(&mut self) -> Vec<Sample> {
        let end = self.trace.horizon.min(Nanos::from_hours(self.days * 24.0));
        let mut samples = Vec::with_capacity(self.lanes.len());
        for lane in &mut self.lanes {
            lane.reset(&self.plan, &self.trace, &mut self.rates);
            lane.advance(&self.plan, &self.trace, &mut self.rates, end);
            samples.push(Sample::of(lane));
        }
        samples
    }

    /// The trace of the last run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
    /// The lanes at the end of the last run.
    pub fn lanes(&self) -> &[Lane] {
        &self.lanes
    }
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// Patterns evaluated so far.
    pub fn evaluations(&self) -> u64 {
        self.rates.evaluations()
    }
}

/// One strategy over many runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Which.
    pub strategy: StrategyId,
    /// Useful work as a fraction of what the occupied GPUs would do without failures.
    pub goodput: Summary,
    /// Ledger, in the order of [`Bucket::ALL`].
    pub buckets: [Summary; Bucket::ALL.len()],
    /// Productive share of the time of GPUs neither spare nor failed.
    pub job_share: Summary,
    /// Times a failure stopped the job, per run.
    pub interruptions: Summary,
    /// Most GPUs out of service at one time.
    pub peak_failed_gpus: Summary,
    /// Share of time with more than 0.1 % of the job's GPUs out of service.
    pub above: Summary,
}

impl Outcome {
    /// Summarises the samples of one strategy.
    pub fn of(strategy: StrategyId, samples: &[Sample]) -> Self {
        let over = |value: &dyn Fn(&Sample) -> f64| Summary::of(samples.iter().map(value));
        Self {
            strategy,
            goodput: over(&|sample| sample.goodput),
            buckets: Bucket::ALL.map(|bucket| {
                over(&|sample| sample.buckets.get(bucket as usize).copied().unwrap_or(0.0))
            }),
            job_share: over(&|sample| sample.job_share),
            interruptions: over(&|sample| sample.interruptions),
            peak_failed_gpus: over(&|sample| sample.peak_failed_gpus),
            above: over(&|sample| sample.above),
        }
    }
    /// One bucket.
    pub fn bucket(&self, bucket: Bucket) -> Summary {
        self.buckets
            .get(bucket as usize)
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate_and_the_error_is_that_of_the_mean() {
        let summary = Summary::of([4.0, 1.0, 3.0, 2.0, 5.0]);
        assert_eq!((summary.mean, summary.p50), (3.0, 3.0));
        assert!((summary.p10 - 1.4).abs() < 1e-12 && (summary.p90 - 4.6).abs() < 1e-12);
        assert!((summary.standard_error - (2.5f64 / 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            Summary::of([7.0]),
            Summary {
                mean: 7.0,
                p10: 7.0,
                p50: 7.0,
                p90: 7.0,
                standard_error: 0.0
            }
        );
        assert_eq!(Summary::of([]), Summary::default());
    }
}
