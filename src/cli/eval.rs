//! `eval`: every strategy on a scenario's failures.

use super::{CliError, print_json, read_scenario};
use crate::core::cost::StepCost;
use crate::core::scenario::Job;
use crate::core::strategy::{
    BoostPower, Evaluation, Evaluator, LedgerNow, Outcome, ReplicaPlan, SlowChoice, evaluate,
};
use serde::{Serialize, Serializer};
use std::path::PathBuf;

/// What every strategy makes of a scenario's failures, against the healthy job.
///
/// Reads a scenario file, or standard input for `-`. Refuses a layout that does not fit in GPU memory.
#[derive(clap::Args)]
#[command(
    after_help = "Example: echo '{\"version\":1,\"system\":\"gb300-nvl72\",\"model\":\"llama3-405b\",\"failures\":[{\"domain\":0,\"gpu\":3}]}' | ntp-explorer eval -"
)]
pub struct Args {
    /// Scenario file.
    file: PathBuf,
}

#[derive(Serialize)]
struct Output<'a> {
    healthy: HealthyOut,
    strategies: Strategies<'a>,
}

#[derive(Serialize)]
struct HealthyOut {
    step_s: f64,
    tokens_per_s: f64,
    minibatch: u32,
    local_batch: u32,
    layout_gpus: u64,
    occupied_gpus: u64,
    power_w: f64,
    energy_per_token_j: f64,
    tflops_per_gpu: f64,
    mfu: f64,
    memory_gib: f64,
    terms: Terms,
}

/// The terms of a step; they add up to its time.
#[derive(Serialize)]
struct Terms {
    compute_s: f64,
    tp_comm_s: f64,
    pp_comm_s: f64,
    bubble_s: f64,
    dp_exposed_s: f64,
    cp_comm_s: f64,
    optimizer_s: f64,
    reshard_exposed_s: f64,
    other_s: f64,
}

impl From<&StepCost> for Terms {
    fn from(cost: &StepCost) -> Self {
        Self {
            compute_s: cost.compute_s.get(),
            tp_comm_s: cost.tp_comm_s.get(),
            pp_comm_s: cost.pp_comm_s.get(),
            bubble_s: cost.bubble_s.get(),
            dp_exposed_s: cost.dp_exposed_s.get(),
            cp_comm_s: cost.cp_comm_s.get(),
            optimizer_s: cost.optimizer_s.get(),
            reshard_exposed_s: cost.reshard_exposed_s.get(),
            other_s: cost.other_s.get(),
        }
    }
}

/// Strategies by id, in the order of the command line.
struct Strategies<'a>(&'a [Outcome]);

impl Serialize for Strategies<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            self.0
                .iter()
                .map(|outcome| (outcome.strategy.id(), StrategyOut::new(outcome))),
        )
    }
}

#[derive(Serialize)]
struct StrategyOut<'a> {
    throughput: f64,
    goodput_now: f64,
    minibatch: u32,
    step_s: f64,
    paused: bool,
    summary: &'a str,
    occupied_gpus: u64,
    dropped_replicas: u32,
    spare_domains_used: u32,
    parity_idle_gpus: u32,
    power_w: f64,
    energy_per_token_j: Option<f64>,
    reshard_exposed_s: f64,
    ledger: &'a LedgerNow,
    slow: &'a [SlowChoice],
    replicas: Vec<ReplicaOut<'a>>,
}

impl<'a> StrategyOut<'a> {
    fn new(outcome: &'a Outcome) -> Self {
        Self {
            throughput: outcome.throughput,
            goodput_now: outcome.goodput,
            minibatch: outcome.minibatch,
            step_s: outcome.step_s.get(),
            paused: outcome.paused,
            summary: &outcome.summary,
            occupied_gpus: outcome.occupied_gpus,
            dropped_replicas: outcome.dropped_replicas,
            spare_domains_used: outcome.spare_domains_used,
            parity_idle_gpus: outcome.parity_idle_gpus,
            power_w: outcome.power_w.get(),
            energy_per_token_j: outcome.energy_per_token_j,
            reshard_exposed_s: outcome.reshard_exposed_s.get(),
            ledger: &outcome.ledger,
            slow: &outcome.slow,
            replicas: outcome.replicas.iter().map(ReplicaOut::new).collect(),
        }
    }
}

#[derive(Serialize)]
struct ReplicaOut<'a> {
    index: u32,
    slots: &'a [u32],
    degrees: &'a [u32],
    local_batch: u32,
    step_s: f64,
    boost_p: f64,
    clock_factor: f64,
    clock_mhz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    boost: Option<&'a BoostPower>,
}

impl<'a> ReplicaOut<'a> {
    fn new(replica: &'a ReplicaPlan) -> Self {
        Self {
            index: replica.index,
            slots: &replica.slots,
            degrees: &replica.degrees,
            local_batch: replica.local_batch,
            step_s: replica.cost.step_s.get(),
            boost_p: replica.boost_p,
            clock_factor: replica.perf,
            clock_mhz: replica.clock_mhz,
            boost: replica.boost.as_ref(),
        }
    }
}

fn output<'a>(job: &Job, evaluation: &'a Evaluation) -> Output<'a> {
    let healthy = &evaluation.healthy;
    let cost = &healthy.cost;
    let layout = &job.scenario.layout;
    let gpus = f64::from(layout.tp) * f64::from(layout.groups_per_replica());
    let flops_per_gpu = if cost.step_s.get() > 0.0 {
        (cost.model_flops / cost.step_s).get() / gpus.max(1.0)
    } else {
        0.0
    };
    Output {
        healthy: HealthyOut {
            step_s: cost.step_s.get(),
            tokens_per_s: healthy.tokens_per_s,
            minibatch: layout.global_batch,
            local_batch: layout.local_batch(),
            layout_gpus: job.placement.layout_gpus(),
            occupied_gpus: job.placement.occupied_gpus(),
            power_w: healthy.power_w.get(),
            energy_per_token_j: healthy.energy_per_token_j,
            tflops_per_gpu: flops_per_gpu / 1e12,
            mfu: flops_per_gpu / job.system.gpu.peak(layout.precision).get(),
            memory_gib: cost.memory.total().gib(),
            terms: Terms::from(cost),
        },
        strategies: Strategies(&evaluation.outcomes),
    }
}

/// Prints the evaluation.
pub fn run(args: Args) -> Result<(), CliError> {
    let job = read_scenario(&args.file)?.resolve()?;
    Evaluator::new(&job).fits()?;
    print_json(&output(&job, &evaluate(&job)))
}
