//! Fleet runs to time: the published 1,024-GPU study, and the paper's cluster at three sizes.

use crate::core::faults::Faults;
use crate::core::fleet::{ModelRates, Plan, Runner};
use crate::core::scenario::{Job, Scenario, ScenarioError};
use crate::core::strategy::StrategyId;

/// The published study: 128 nodes and 4 spare ones, seven causes, repairs of 48 h (model.md's 80.2 %).
const STUDY: &str = include_str!("../../../assets/examples/study-1024-gpus.json");

/// Days of a run of the study.
pub const STUDY_DAYS: f64 = 28.0;
/// Days of a run of the paper's cluster.
pub const CLUSTER_DAYS: f64 = 15.0;
/// GPUs of one replica of the paper's cluster: TP32 x PP8.
pub const REPLICA_GPUS: u32 = 256;

/// A runner of the study under `hot-spares`.
///
/// # Errors
/// Never, unless the presets of the study are gone.
pub fn study() -> Result<Runner<ModelRates>, ScenarioError> {
    let scenario = Scenario::from_json(STUDY)?;
    let faults = Faults::read(scenario.faults.as_ref())?;
    let strategies = [StrategyId::HotSpares];
    Ok(runner(
        &scenario.resolve()?,
        &faults,
        &strategies,
        STUDY_DAYS,
    ))
}

/// The paper's job with `replicas` replicas, Llama 3 rates times `rate`.
///
/// # Errors
/// When the job has no or too many GPUs.
pub fn cluster(replicas: u32, rate: f64) -> Result<(Job, Faults), ScenarioError> {
    let text = format!(
        r#"{{"version": 1, "system": "paper-b200-nvl32", "model": "paper-480b",
        "layout": {{"tp": 32, "pp": 8, "dp": {replicas}, "global_batch": {}}}, "policy": {{"heads": "even"}}}}"#,
        replicas.saturating_mul(8)
    );
    let faults = Faults {
        rate_multiplier: rate,
        ..Faults::default()
    };
    Ok((Scenario::from_json(&text)?.resolve()?, faults))
}

/// A runner of all six strategies on that job, with nothing remembered yet.
pub fn all_strategies((job, faults): &(Job, Faults)) -> Runner<ModelRates> {
    runner(job, faults, &StrategyId::ALL, CLUSTER_DAYS)
}

fn runner(job: &Job, faults: &Faults, strategies: &[StrategyId], days: f64) -> Runner<ModelRates> {
    let plan = Plan::new(job, faults);
    Runner::new(
        plan,
        faults.clone(),
        strategies,
        days,
        ModelRates::new(job.clone()),
    )
}

/// Runs of the study in a row, each with a seed of its own; gives the sum of goodputs, so that no compiler leaves any out.
pub fn study_runs(runner: &mut Runner<ModelRates>, seeds: std::ops::Range<u64>) -> f64 {
    let mut sum = 0.0;
    for seed in seeds {
        let (samples, _) = runner.run(seed);
        sum += samples.iter().map(|sample| sample.goodput).sum::<f64>();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_study_is_the_published_one() {
        let mut runner = study().unwrap();
        let mean = study_runs(&mut runner, 1..201) / 200.0;
        // Goodput counts the 4 spare nodes of 132 as well: 80.2 % of the job's own.
        assert!((mean - 0.802 * 128.0 / 132.0).abs() < 0.006, "{mean}");
    }

    #[test]
    fn the_cluster_grows_and_its_failures_with_the_rate() {
        let small = cluster(4, 32.0).unwrap();
        let mut runner = all_strategies(&small);
        let (samples, limit) = runner.run(1);
        assert!(limit.is_none() && samples.len() == 6);
        assert_eq!(small.0.placement.layout_gpus(), 1024);
        // 419 interruptions in 54 days of 16,384 GPUs, 32 times on a sixteenth of them for 15 days: 233.
        let events = runner.trace().events.len();
        assert!((160..310).contains(&events), "{events}");
        assert_eq!(
            cluster(3906, 1.0).unwrap().0.placement.layout_gpus(),
            999_936
        );
    }
}
