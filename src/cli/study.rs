//! `study`: one question to the fleet simulator at many points on the same seeds.

use super::monte_carlo::{Progress, in_parallel};
use super::{CliError, print_json, read_scenario};
use crate::core::hardware::FieldError;
use crate::core::scenario::Scenario;
use crate::core::strategy::StrategyId;
use crate::core::studies::{
    Bar, Best, Bill, Board, Question, Rows, Setup, Shard, Step, Value, Walk, best_interval,
    best_point, tornado,
};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::num::NonZero;
use std::path::PathBuf;

/// One question at many points on the same failures: spares, checkpoint interval, blast radius, sensitivity.
///
/// Every point uses the same seeds, so differences between points are sharper than each value's standard error. Work per
/// GPU-hour is relative to the healthy job of the first point; GPU-hours and cost are those of one run.
#[derive(clap::Args)]
#[command(
    after_help = "Example: echo '{\"version\":1,\"system\":\"gb300-nvl72\",\"model\":\"llama3-405b\"}' | ntp-explorer study - --question in-domain-spares --most 8 --runs 4 --price 2.5"
)]
pub struct Args {
    /// Scenario file, - for standard input.
    file: PathBuf,
    /// What is asked.
    #[arg(long, value_enum)]
    question: Asked,
    /// Most spare domains, or most GPUs left over in a domain, for the two questions about spares.
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    most: u32,
    /// Rows of the interval question.
    #[arg(long, value_enum, default_value_t = RowsArg::SaveTime)]
    rows: RowsArg,
    /// Simulated days per run.
    #[arg(long, default_value_t = 15.0, allow_negative_numbers = true)]
    days: f64,
    /// Seeds per point.
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    runs: u32,
    /// First seed.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    seed: u64,
    /// Price of one GPU-hour, in any currency.
    #[arg(long, allow_negative_numbers = true)]
    price: Option<f64>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Asked {
    SpareDomains,
    InDomainSpares,
    Interval,
    BlastRadius,
    Sensitivity,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum RowsArg {
    SaveTime,
    FailureRate,
}

#[derive(Serialize)]
struct Output<'a> {
    study: &'a str,
    days: f64,
    runs: u32,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    price_per_gpu_h: Option<f64>,
    points: Vec<PointOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    best: Vec<BestOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<ByStrategy<Vec<BarOut>>>,
}

#[derive(Serialize)]
struct PointOut<'a> {
    label: &'a str,
    row: &'a str,
    x: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    does_not_fit: Option<&'a str>,
    every_min: f64,
    young_min: Option<f64>,
    daly_min: Option<f64>,
    mtbi_h: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strategies: Option<ByStrategy<StrategyOut>>,
}

#[derive(Serialize)]
struct StrategyOut {
    goodput: Value,
    work_per_gpu_h: Value,
    #[serde(flatten)]
    bill: BillOut,
}

#[derive(Serialize)]
struct BillOut {
    gpu_h: f64,
    lost_gpu_h: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lost_cost: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_per_useful_gpu_h: Option<f64>,
}

#[derive(Serialize)]
struct BestOut<'a> {
    row: &'a str,
    young_min: Option<f64>,
    daly_min: Option<f64>,
    strategies: ByStrategy<Option<Best>>,
}

#[derive(Serialize)]
struct BarOut {
    assumption: String,
    low: Option<(String, Value)>,
    high: Option<(String, Value)>,
}

impl From<Bar> for BarOut {
    fn from(bar: Bar) -> Self {
        Self {
            assumption: bar.name,
            low: bar.low,
            high: bar.high,
        }
    }
}

/// A value for each strategy, by id.
struct ByStrategy<T>(Vec<(StrategyId, T)>);

impl<T> ByStrategy<T> {
    fn of(value: impl Fn(StrategyId) -> T) -> Self {
        Self(StrategyId::ALL.map(|id| (id, value(id))).into())
    }
}

impl<T: Serialize> Serialize for ByStrategy<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (id, value) in &self.0 {
            map.serialize_entry(id.id(), value)?;
        }
        map.end()
    }
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), CliError> {
    if let Some(price) = args.price
        && !(0.0..=1e9).contains(&price)
    {
        return Err(FieldError::new("price", price, "0 to 1000000000").into());
    }
    let most = args.most;
    let question = match args.question {
        Asked::SpareDomains => Question::SpareDomains { most },
        Asked::InDomainSpares => Question::InDomainSpares { most },
        Asked::Interval => Question::Interval {
            rows: match args.rows {
                RowsArg::SaveTime => Rows::SaveTime,
                RowsArg::FailureRate => Rows::FailureRate,
            },
        },
        Asked::BlastRadius => Question::BlastRadius,
        Asked::Sensitivity => Question::Sensitivity,
    };
    let setup = Setup {
        question,
        days: args.days,
        runs: args.runs,
        seed: args.seed,
    };
    let scenario = read_scenario(&args.file)?;
    let (board, runs) = simulate(&scenario, &setup)?;
    print(&setup, &board, runs, args.price)
}

/// Every run of a study over all cores; also the seeds per point that the limits allow.
pub fn simulate(scenario: &Scenario, setup: &Setup) -> Result<(Board, u32), CliError> {
    let (first, points) = Walk::new(scenario, setup, Shard::WHOLE)?;
    let runs = first.runs();
    drop(first);
    let count = std::thread::available_parallelism().map_or(1, NonZero::get) as u32;
    let progress = Progress::new("parts of the study", count);
    let parts = in_parallel(
        count,
        &progress,
        || (),
        |(), index| {
            let mut found = Vec::new();
            let shard = Shard { index, count };
            if let Ok((mut walk, _)) = Walk::new(scenario, setup, shard) {
                while let Some(step) = walk.step() {
                    if let Step::Found(run) = step {
                        found.push(run);
                    }
                }
            }
            found
        },
    );
    let mut board = Board::new(points);
    for part in &parts {
        board.take_all(part);
    }
    Ok((board, runs))
}

fn print(setup: &Setup, board: &Board, runs: u32, price: Option<f64>) -> Result<(), CliError> {
    let partial = if runs < setup.runs {
        Some(format!(
            "{runs} of {} runs: the limit on failures over a whole study",
            setup.runs
        ))
    } else {
        board.shortest_days().map(|days| {
            format!("a run ended after {days:.3} days: the limit on failures in one run")
        })
    };
    // Relative to the first point of each row where rows are different systems.
    let base = |at: usize| match setup.question {
        Question::BlastRadius => board
            .point(at)
            .and_then(|point| board.row(point.row).next())
            .unwrap_or(0),
        _ => 0,
    };
    let days = board.shortest_days().unwrap_or(setup.days);
    let points = board
        .points()
        .iter()
        .enumerate()
        .map(|(at, (point, facts))| {
            let strategies = facts.error.is_none().then(|| {
                ByStrategy::of(|id| {
                    let goodput = board.goodput((at, id));
                    let gpus = facts.occupied_gpus.get(id as usize).copied().unwrap_or(0);
                    let bill = Bill::new(gpus, days, goodput.mean, price.unwrap_or(0.0));
                    StrategyOut {
                        goodput,
                        work_per_gpu_h: board.work((at, id), base(at)),
                        bill: BillOut {
                            gpu_h: bill.gpu_h,
                            lost_gpu_h: bill.lost_gpu_h,
                            lost_cost: price.map(|_| bill.lost_cost),
                            cost_per_useful_gpu_h: price.and(bill.cost_per_useful_gpu_h),
                        },
                    }
                })
            });
            PointOut {
                label: &point.label,
                row: &point.row_label,
                x: point.x,
                error: facts.error.as_deref(),
                does_not_fit: facts.does_not_fit.as_deref(),
                every_min: facts.every_min,
                young_min: facts.young_min,
                daly_min: facts.daly_min,
                mtbi_h: facts.mtbi_h,
                strategies,
            }
        });
    let best = match setup.question {
        Question::Sensitivity | Question::BlastRadius => Vec::new(),
        question => board
            .rows()
            .into_iter()
            .map(|(row, name)| {
                let facts = board.row(row).next().and_then(|at| board.facts(at));
                BestOut {
                    row: name,
                    young_min: facts.and_then(|facts| facts.young_min),
                    daly_min: facts.and_then(|facts| facts.daly_min),
                    strategies: ByStrategy::of(|id| match question {
                        Question::Interval { .. } => best_interval(board, row, id),
                        _ => best_point(board, row, id, 0),
                    }),
                }
            })
            .collect(),
    };
    let sensitivity = (setup.question == Question::Sensitivity).then(|| {
        ByStrategy::of(|id| {
            let bars = tornado(board, id, None).into_iter();
            bars.map(BarOut::from).collect()
        })
    });
    print_json(&Output {
        study: setup.question.id(),
        days: setup.days,
        runs,
        seed: setup.seed,
        partial,
        price_per_gpu_h: price,
        points: points.collect(),
        best,
        sensitivity,
    })
}
