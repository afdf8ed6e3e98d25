//! The work that `make bench` times, natively and in the browser: the same layouts, the same calls.

pub mod fleet;

use super::cost::{Replica, step};
use super::hardware::{Precision, system};
use super::scenario::{Failure, HeadSplit, Job, Layout, Recompute, Scenario};
use super::strategy::{Evaluation, StrategyId, evaluate};
use super::timeline::{Settings, view};
use super::workload::model;

/// Layouts of [`steps`]: all different, so that nothing can be cached.
pub const LAYOUTS: u32 = 4096;

/// Layouts that differ in degree, pipeline, batch, sequence and precision.
pub fn layouts() -> Vec<Layout> {
    (0..LAYOUTS)
        .map(|i| Layout {
            tp: 8 + i % 65,
            pp: 1 + i % 16,
            dp: 1 + i % 37,
            cp: 1 + i % 3,
            vp: 1 + i % 4,
            microbatch: 1 + i % 2,
            global_batch: 64 * (1 + i % 37),
            seq: 4096 + 8 * (i % 1024),
            precision: if i % 2 == 0 {
                Precision::Bf16
            } else {
                Precision::Fp8
            },
            recompute: Recompute::None,
            sequence_parallel: true,
            overlap: i % 5 != 0,
        })
        .collect()
}

/// Evaluates the step of every layout for Llama 3 405B on GB300 NVL72, two ranks short; gives the sum of step times, in
/// seconds, so that no compiler leaves any of it out.
pub fn steps(layouts: &[Layout]) -> f64 {
    let (Some(system), Some(model)) = (system("gb300-nvl72"), model("llama3-405b")) else {
        return 0.0;
    };
    let replica = |layout| Replica {
        system,
        model,
        layout,
        degree: layout.tp,
        sync_degree: layout.tp.saturating_sub(2),
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: HeadSplit::Whole,
    };
    layouts
        .iter()
        .map(|layout| step(&replica(layout)).step_s.get())
        .sum()
}

/// The default scene with `global_batch` sequences a step and three failed GPUs, evaluated; none where it is no job.
pub fn failed(global_batch: u32) -> Option<(Job, Evaluation)> {
    let mut scenario = Scenario::default_scene();
    scenario.layout.global_batch = global_batch;
    scenario.failures = [(0, 17), (0, 41), (1, 28)]
        .map(|(domain, gpu)| Failure::hardware(domain, gpu))
        .to_vec();
    let job = scenario.resolve().ok()?;
    let evaluation = evaluate(&job);
    Some((job, evaluation))
}

/// What the step panel does on every change: simulates all steps that it shows. Gives how many spans there are.
pub fn timeline((job, evaluation): &(Job, Evaluation)) -> usize {
    let shown = view(job, evaluation, StrategyId::NtpPw, &Settings::default());
    shown.map_or(0, |shown| {
        let worlds = shown.worlds.iter().map(|world| world.timeline.spans.len());
        worlds.sum::<usize>() + shown.healthy.spans.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_timed_step_has_three_failures_and_thousands_of_spans() {
        let job = failed(64).unwrap();
        assert_eq!(job.0.scenario.failures.len(), 3);
        assert!(timeline(&job) > 5_000, "{}", timeline(&job));
    }

    #[test]
    fn every_layout_is_another_one() {
        let different: BTreeSet<String> = layouts()
            .iter()
            .map(|layout| format!("{layout:?}"))
            .collect();
        assert_eq!(different.len(), LAYOUTS as usize);
    }

    #[test]
    fn every_layout_takes_a_finite_time() {
        let layouts = layouts();
        assert!(
            layouts
                .iter()
                .all(|layout| steps(std::slice::from_ref(layout)) > 0.0)
        );
        assert!(steps(&layouts).is_finite());
    }
}
