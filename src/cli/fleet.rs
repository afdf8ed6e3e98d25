//! `fleet`: days of failures and repairs under every strategy.

use super::monte_carlo::{Progress, in_parallel};
use super::{CliError, print_json, read_scenario};
use crate::core::faults::log::{FailureLog, LogReader, MapReport, ReadReport};
use crate::core::faults::{Faults, Limit, Site, Trace, expected_events};
use crate::core::fleet::{
    Bucket, MAX_DAYS, MAX_RUNS, MAX_TOTAL_EVENTS, ModelRates, Outcome, Plan, Runner, Sample,
    Summary, interval,
};
use crate::core::hardware::FieldError;
use crate::core::scenario::{Job, Scenario};
use crate::core::strategy::{Evaluator, StrategyId};
use crate::core::units::Nanos;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Days of failures and repairs: goodput and where every GPU-hour went, for every strategy on the same failures.
///
/// Draws failures from the scenario's `faults` (without: the Llama 3 rates), or replays a real failure log. Run i uses seed
/// SEED + i. Buckets are fractions of all GPU-hours the strategy occupies and add up to 1 in every run.
#[derive(clap::Args)]
#[command(
    after_help = "Example: echo '{\"version\":1,\"system\":\"gb300-nvl72\",\"model\":\"llama3-405b\"}' | ntp-explorer fleet - --days 15 --runs 20 --seed 1"
)]
pub struct Args {
    /// Scenario file, - for standard input.
    file: PathBuf,
    /// Simulated days; with a log, all of it when not given, else 15.
    #[arg(long, allow_negative_numbers = true)]
    days: Option<f64>,
    /// Runs; with a log that gives every duration, one run says it all.
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    runs: u32,
    /// Seed of the first run.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Failure log to replay instead: own CSV, InfiniteHBD JSON or kernel log, also gzipped.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Leave broken lines of the log out, and report them, instead of stopping at the first.
    #[arg(long, requires = "log")]
    lenient: bool,
    /// Add replicas until the cluster holds every node of the log.
    #[arg(long, requires = "log")]
    fit_cluster: bool,
}

#[derive(Serialize)]
struct Output {
    days: f64,
    runs: u32,
    seed: u64,
    job_gpus: u64,
    fits: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<Partial>,
    checkpoint: CheckpointOut,
    trace: TraceOut,
    #[serde(skip_serializing_if = "Option::is_none")]
    log: Option<LogOut>,
    strategies: Strategies,
}

/// Why the numbers are of less than what was asked for.
#[derive(Serialize)]
struct Partial {
    limit: String,
    simulated_days: f64,
    runs: u32,
}

#[derive(Serialize)]
struct CheckpointOut {
    every_min: f64,
    young_min: Option<f64>,
    daly_min: Option<f64>,
    mtbi_h: Option<f64>,
}

/// The failures themselves, whatever a strategy does about them; spare GPUs left out.
#[derive(Serialize)]
struct TraceOut {
    failures: Summary,
    peak_failed_gpus: Summary,
    share_of_time_above_0p1_percent: Summary,
}

#[derive(Serialize)]
struct LogOut {
    read: ReadReport,
    map: MapReport,
    notes: Vec<String>,
}

/// Outcomes by strategy id.
pub struct Strategies(pub Vec<Outcome>);

impl Serialize for Strategies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for outcome in &self.0 {
            map.serialize_entry(outcome.strategy.id(), &StrategyOut(outcome))?;
        }
        map.end()
    }
}

/// One strategy's distributions, by field name.
struct StrategyOut<'a>(&'a Outcome);

impl Serialize for StrategyOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outcome = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("goodput", &outcome.goodput)?;
        for bucket in Bucket::ALL {
            map.serialize_entry(bucket.id(), &outcome.bucket(bucket))?;
        }
        map.serialize_entry("productive_share_of_job_time", &outcome.job_share)?;
        map.serialize_entry("interruptions", &outcome.interruptions)?;
        map.serialize_entry("peak_failed_gpus", &outcome.peak_failed_gpus)?;
        map.serialize_entry("share_of_time_above_0p1_percent", &outcome.above)?;
        map.end()
    }
}

/// What one run says about its failures.
struct TraceStats {
    failures: f64,
    peak: f64,
    above: f64,
    limit: Option<Limit>,
}

impl TraceStats {
    fn of(trace: &Trace, site: &Site, end: Nanos) -> Self {
        let (mut peak, mut above) = (0, 0u64);
        let series = trace.failed_series(site);
        let ends = series
            .iter()
            .skip(1)
            .map(|(time, _)| (*time).min(end))
            .chain([end]);
        for ((start, failed), stop) in series.iter().zip(ends) {
            if *start < end {
                peak = peak.max(*failed);
                above += if failed * 1000 > site.job_gpus() {
                    stop.saturating_sub(*start).0
                } else {
                    0
                };
            }
        }
        Self {
            failures: trace
                .events
                .iter()
                .take_while(|event| event.time < end)
                .count() as f64,
            peak: peak as f64,
            above: above as f64 / end.0.max(1) as f64,
            limit: trace.limit,
        }
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), CliError> {
    if let Some(days) = args.days {
        check(
            "days",
            days,
            days > 0.0 && days <= MAX_DAYS,
            &format!("above 0, at most {MAX_DAYS}"),
        )?;
    }
    check(
        "runs",
        args.runs,
        (1..=MAX_RUNS).contains(&args.runs),
        &format!("1 to {MAX_RUNS}"),
    )?;
    let mut scenario = read_scenario(&args.file)?;
    let faults = Faults::read(scenario.faults.as_ref())?;
    let mut job = scenario.resolve()?;
    let Some(path) = &args.log else {
        return drawn(&args, &job, &faults);
    };
    let log = read_log(path, args.lenient)?;
    if args.fit_cluster {
        job = fit(&mut scenario, job, &log, &faults)?;
    }
    replayed(&args, &job, &faults, &log)
}

/// One line when a value is not allowed.
pub fn check(
    field: &str,
    value: impl ToString,
    allowed: bool,
    expected: &str,
) -> Result<(), FieldError> {
    if allowed {
        Ok(())
    } else {
        Err(FieldError::new(field, value, expected))
    }
}

/// Runs that may be simulated before the study's limit on failures ends it.
pub fn allowed_runs(runs: u32, expected_per_run: f64) -> u32 {
    let most = MAX_TOTAL_EVENTS as f64 / expected_per_run.max(1.0);
    runs.min(most.max(1.0) as u32)
}

fn drawn(args: &Args, job: &Job, faults: &Faults) -> Result<(), CliError> {
    let days = args.days.unwrap_or(15.0);
    let plan = Plan::new(job, faults);
    let runs = allowed_runs(args.runs, expected_events(faults, &plan.site, days * 24.0));
    let end = Nanos::from_hours(days * 24.0);
    let results = in_parallel(
        runs,
        &Progress::new("runs", runs),
        || {
            Runner::new(
                plan.clone(),
                faults.clone(),
                &StrategyId::ALL,
                days,
                ModelRates::new(job.clone()),
            )
        },
        |runner, index| {
            let (samples, limit) = runner.run(args.seed.wrapping_add(u64::from(index)));
            let end = limit.map_or(end, |limit| limit.at);
            (
                samples,
                TraceStats::of(runner.trace(), &runner.plan().site, end),
            )
        },
    );
    print(args, job, &plan, days, args.runs, results, None)
}

fn replayed(args: &Args, job: &Job, faults: &Faults, log: &FailureLog) -> Result<(), CliError> {
    let site = Site::of(job);
    let first = log.map(&site, faults, args.seed, args.days);
    let days = first.trace.horizon.hours() / 24.0;
    check(
        "days",
        days,
        days > 0.0 && days <= MAX_DAYS,
        &format!("a log of more than 0 and at most {MAX_DAYS} days, or --days"),
    )?;
    // Without anything to draw, every run is the same.
    let wanted = if first.report.drawn_durations > 0 {
        args.runs
    } else {
        1
    };
    let runs = allowed_runs(wanted, first.trace.events.len() as f64);
    let mtbi_h = first.report.span_h / (first.report.used_failures.max(1) as f64);
    let plan = Plan::with_mtbi(
        site,
        Plan::new(job, faults).shapes,
        faults,
        mtbi_h.max(1e-3),
    );
    let results = in_parallel(
        runs,
        &Progress::new("runs", runs),
        || {
            Runner::new(
                plan.clone(),
                faults.clone(),
                &StrategyId::ALL,
                days,
                ModelRates::new(job.clone()),
            )
        },
        |runner, index| {
            let mapped = log.map(
                &site,
                faults,
                args.seed.wrapping_add(u64::from(index)),
                Some(days),
            );
            let samples = runner.run_trace(&mapped.trace);
            (
                samples,
                TraceStats::of(&mapped.trace, &site, mapped.trace.horizon),
            )
        },
    );
    let map = first.report;
    let mut notes = Vec::new();
    if map.domains_needed > site.domains {
        notes.push(format!(
            "the log needs {} domains, the scenario has {}: {} failures left out; --fit-cluster adds replicas until all fit",
            map.domains_needed, site.domains, map.unknown_failures
        ));
    }
    if map.slow_as_failed > 0 {
        notes.push(format!(
            "{} slow GPUs are taken as out of service",
            map.slow_as_failed
        ));
    }
    print(
        args,
        job,
        &plan,
        days,
        wanted,
        results,
        Some(LogOut {
            read: log.report.clone(),
            map,
            notes,
        }),
    )
}

fn print(
    args: &Args,
    job: &Job,
    plan: &Plan,
    days: f64,
    wanted: u32,
    results: Vec<(Vec<Sample>, TraceStats)>,
    log: Option<LogOut>,
) -> Result<(), CliError> {
    let runs = results.len() as u32;
    let limit = results
        .iter()
        .filter_map(|(_, stats)| stats.limit)
        .min_by_key(|limit| limit.at);
    let partial = match limit {
        Some(limit) => Some(Partial {
            limit: format!("{} failures in one run", limit.events),
            simulated_days: limit.at.hours() / 24.0,
            runs,
        }),
        None if runs < wanted => Some(Partial {
            limit: format!("{MAX_TOTAL_EVENTS} failures over all runs"),
            simulated_days: days,
            runs,
        }),
        None => None,
    };
    let over =
        |value: fn(&TraceStats) -> f64| Summary::of(results.iter().map(|(_, stats)| value(stats)));
    let outcomes = StrategyId::ALL
        .into_iter()
        .enumerate()
        .map(|(index, strategy)| {
            let samples: Vec<Sample> = results
                .iter()
                .filter_map(|(samples, _)| samples.get(index))
                .copied()
                .collect();
            Outcome::of(strategy, &samples)
        });
    let takes_min = plan.cycle.takes.hours() * 60.0;
    let mtbi_h = plan.mtbi.hours();
    let known = plan.mtbi < Nanos(u64::MAX);
    print_json(&Output {
        days,
        runs,
        seed: args.seed,
        job_gpus: plan.site.job_gpus(),
        fits: Evaluator::new(job).fits().is_ok(),
        partial,
        checkpoint: CheckpointOut {
            every_min: plan.cycle.every.hours() * 60.0,
            young_min: known.then(|| interval::young(takes_min, mtbi_h * 60.0)),
            daly_min: known.then(|| interval::daly(takes_min, mtbi_h * 60.0)),
            mtbi_h: known.then_some(mtbi_h),
        },
        trace: TraceOut {
            failures: over(|stats| stats.failures),
            peak_failed_gpus: over(|stats| stats.peak),
            share_of_time_above_0p1_percent: over(|stats| stats.above),
        },
        log,
        strategies: Strategies(outcomes.collect()),
    })
}

/// Adds replicas until the job's domains hold the log; the mini-batch grows with them.
fn fit(
    scenario: &mut Scenario,
    job: Job,
    log: &FailureLog,
    faults: &Faults,
) -> Result<Job, CliError> {
    let needed = log
        .map(&Site::of(&job), faults, 0, None)
        .report
        .domains_needed;
    if needed <= job.placement.domains {
        return Ok(job);
    }
    let local_batch = scenario.layout.local_batch();
    let slots = needed.saturating_mul(job.placement.slots_per_domain);
    scenario.layout.dp = slots.div_ceil(job.placement.groups_per_replica.max(1));
    scenario.layout.global_batch = local_batch.saturating_mul(scenario.layout.dp);
    Ok(scenario.resolve()?)
}

/// Streams a log through the reader; memory grows with its failures, not with its size.
fn read_log(path: &Path, lenient: bool) -> Result<FailureLog, CliError> {
    let unreadable = |error: std::io::Error| {
        CliError::Input(format!("log: {} cannot be read, {error}", path.display()))
    };
    let mut file = std::fs::File::open(path).map_err(unreadable)?;
    let size = file.metadata().map_or(0, |data| data.len() >> 20);
    let progress = Progress::new("MiB of the log", size as u32);
    let mut reader = LogReader::new(lenient);
    let mut buffer = vec![0; 1 << 20];
    loop {
        let length = file.read(&mut buffer).map_err(unreadable)?;
        if length == 0 {
            return reader
                .finish()
                .map_err(|error| CliError::Input(error.to_string()));
        }
        reader
            .push(buffer.get(..length).unwrap_or_default())
            .map_err(|error| CliError::Input(error.to_string()))?;
        progress.step();
    }
}
