//! `sweep`: a fleet study at every point of a grid, cut into shards for many machines.
//!
//! Points are in the order of the grid, the last key fastest, and every point uses the same seeds, so that shard files put
//! one after another are the bytes of the whole sweep.

mod grid;
mod resume;

use super::fleet::{Strategies, allowed_runs, check};
use super::monte_carlo::{Progress, in_parallel};
use super::{CliError, read_text};
use crate::core::faults::{Faults, expected_events, read_file};
use crate::core::fleet::{MAX_DAYS, MAX_RUNS, ModelRates, Outcome, Plan, Runner, Sample};
use crate::core::hardware::FieldError;
use crate::core::scenario::Scenario;
use crate::core::strategy::StrategyId;
use grid::{Grid, Point};
use resume::Sink;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// A fleet study at every point of a grid: JSON lines, one a point.
///
/// Keys are fields of the scenario's layout, policy or faults by name, or a path such as faults.checkpoint.every_min or
/// faults.causes.0.mtbf_h. A shard holds a run of neighbouring points: shards put one after another give the unsharded bytes.
/// A point that cannot be computed has an `error` instead of strategies.
#[derive(clap::Args)]
#[command(
    after_help = "Example: echo '{\"version\":1,\"system\":\"gb300-nvl72\",\"model\":\"llama3-405b\"}' | ntp-explorer sweep - --over 'dp=4,8;blast_radius=1,4' --runs 10 --shard 1/2"
)]
pub struct Args {
    /// Scenario file, - for standard input.
    file: PathBuf,
    /// Grid: key=value,value;key=value,...
    #[arg(long)]
    over: String,
    /// Runs per point.
    #[arg(long, default_value_t = 100, allow_negative_numbers = true)]
    runs: u32,
    /// Simulated days per run.
    #[arg(long, default_value_t = 15.0, allow_negative_numbers = true)]
    days: f64,
    /// Seed of the first run of every point.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// This shard of so many, from 1: 3/16.
    #[arg(long, default_value = "1/1")]
    shard: String,
    /// Strategies to run, comma-separated; all without.
    #[arg(long, value_delimiter = ',')]
    strategies: Vec<String>,
    /// Write to this file instead; points that it holds already are not run again.
    #[arg(long)]
    out: Option<PathBuf>,
}

#[derive(Serialize)]
struct LineOut<'a> {
    index: usize,
    /// Of the scenario and all settings: lines of different sweeps never mix.
    sweep: &'a str,
    point: &'a Point,
    #[serde(flatten)]
    result: ResultOut,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResultOut {
    Done {
        days: f64,
        runs: u32,
        seed: u64,
        /// A limit on failures ended runs early, or their number.
        partial: bool,
        strategies: Strategies,
    },
    Error {
        error: String,
    },
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), CliError> {
    check(
        "runs",
        args.runs,
        (1..=MAX_RUNS).contains(&args.runs),
        &format!("1 to {MAX_RUNS}"),
    )?;
    check(
        "days",
        args.days,
        args.days > 0.0 && args.days <= MAX_DAYS,
        &format!("above 0, at most {MAX_DAYS}"),
    )?;
    let text = read_text(&args.file)?;
    // The scenario itself has to be sound; a point of the grid may fail on its own.
    read_file(&text)?;
    let base: Value = serde_json::from_str(&text)
        .map_err(|error| CliError::Input(format!("scenario: {error}")))?;
    let grid = Grid::parse(&args.over)?;
    // Every point has the same places.
    grid.point(0).apply(&base)?;
    let strategies = strategies(&args.strategies)?;
    let (shard, shards) = shard(&args.shard)?;
    let (first, end) = (
        (shard - 1) * grid.len() / shards,
        shard * grid.len() / shards,
    );
    let sweep = resume::fingerprint(&format!(
        "{base} {} {} {} {} {strategies:?}",
        args.over, args.runs, args.days, args.seed
    ));
    let mut sink = Sink::open(args.out.as_deref(), &sweep, first..end)?;
    let progress = Progress::new("points", (end - first) as u32);
    for index in first..end {
        if index >= sink.next() {
            let point = grid.point(index);
            let result = study(&args, &base, &point, &strategies)
                .unwrap_or_else(|error| ResultOut::Error { error });
            let line = LineOut {
                index,
                sweep: &sweep,
                point: &point,
                result,
            };
            let line = serde_json::to_string(&line)
                .map_err(|error| CliError::Failed(format!("output: {error}")))?;
            sink.write(&line)?;
        }
        progress.step();
    }
    Ok(())
}

fn study(
    args: &Args,
    base: &Value,
    point: &Point,
    strategies: &[StrategyId],
) -> Result<ResultOut, String> {
    let scenario = point.apply(base).map_err(|error| error.to_string())?;
    let scenario = Scenario::from_value(&scenario).map_err(|error| error.to_string())?;
    let faults = Faults::read(scenario.faults.as_ref()).map_err(|error| error.to_string())?;
    let job = scenario.resolve().map_err(|error| error.to_string())?;
    let plan = Plan::new(&job, &faults);
    let runs = allowed_runs(
        args.runs,
        expected_events(&faults, &plan.site, args.days * 24.0),
    );
    let results = in_parallel(
        runs,
        &Progress::hidden(),
        || {
            Runner::new(
                plan.clone(),
                faults.clone(),
                strategies,
                args.days,
                ModelRates::new(job.clone()),
            )
        },
        |runner, run| runner.run(args.seed.wrapping_add(u64::from(run))),
    );
    let partial = runs < args.runs || results.iter().any(|(_, limit)| limit.is_some());
    let outcomes = strategies.iter().enumerate().map(|(column, strategy)| {
        let of_strategy = results
            .iter()
            .filter_map(|(samples, _)| samples.get(column));
        Outcome::of(*strategy, &of_strategy.copied().collect::<Vec<Sample>>())
    });
    Ok(ResultOut::Done {
        days: args.days,
        runs,
        seed: args.seed,
        partial,
        strategies: Strategies(outcomes.collect()),
    })
}

fn strategies(names: &[String]) -> Result<Vec<StrategyId>, FieldError> {
    if names.is_empty() {
        return Ok(StrategyId::ALL.to_vec());
    }
    let find = |name: &String| StrategyId::ALL.into_iter().find(|id| id.id() == name);
    let allowed = StrategyId::ALL.map(StrategyId::id).join(", ");
    names
        .iter()
        .map(|name| find(name).ok_or_else(|| FieldError::new("strategies", name, &allowed)))
        .collect()
}

/// `3/16` as (3, 16).
fn shard(text: &str) -> Result<(usize, usize), FieldError> {
    let wrong = || FieldError::new("shard", text, "i/n with i from 1 to n, n at most 1000000");
    let (index, count) = text.split_once('/').ok_or_else(wrong)?;
    let (index, count): (usize, usize) = (
        index.parse().map_err(|_| wrong())?,
        count.parse().map_err(|_| wrong())?,
    );
    if index >= 1 && index <= count && count <= 1_000_000 {
        Ok((index, count))
    } else {
        Err(wrong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_count_from_one() {
        assert_eq!(shard("3/16").unwrap(), (3, 16));
        for wrong in ["", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/4"] {
            let said = shard(wrong).unwrap_err().to_string();
            assert!(said.starts_with("shard: "), "{said}");
        }
    }

    #[test]
    fn strategies_by_id() {
        let names = ["ntp".to_owned(), "wait".to_owned()];
        assert_eq!(
            strategies(&names).unwrap(),
            [StrategyId::Ntp, StrategyId::Wait]
        );
        assert!(strategies(&["nope".to_owned()]).is_err());
    }
}
