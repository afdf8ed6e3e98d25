//! The verdict: what failed, and what the field's custom wastes against what nonuniform TP wastes, in GPUs.

use super::number::{count, gpu_word, gpus};
use super::text::{Sentence, width};
use crate::core::placement::health::{GpuHealth, health};
use crate::core::scenario::Job;
use crate::core::strategy::{Evaluation, Outcome, StrategyId};

/// GPUs of the job by what happened to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All GPUs of the job's domains.
    pub total: u64,
    /// Failed in hardware.
    pub failed: u64,
    /// Back after a restart.
    pub restarting: u64,
    /// Alive, slower.
    pub slow: u64,
}

/// Counts the failures of a job, each GPU once; a failed GPU is not counted as slow.
pub fn counts(job: &Job) -> Counts {
    let scenario = &job.scenario;
    let health = health(&scenario.failures, &scenario.policy, job.system.domain_size);
    let mut counts = Counts {
        total: job.placement.occupied_gpus(),
        failed: 0,
        restarting: 0,
        slow: 0,
    };
    for gpu in health.iter().flat_map(|(_, gpus)| gpus) {
        match gpu {
            GpuHealth::Healthy => {}
            GpuHealth::Failed => counts.failed += 1,
            GpuHealth::Restarting => counts.restarting += 1,
            GpuHealth::Slow(_) => counts.slow += 1,
        }
    }
    counts
}

/// GPU-equivalents a strategy loses of those it occupies.
pub fn lost_gpus(outcome: &Outcome) -> f64 {
    (1.0 - outcome.goodput).max(0.0) * outcome.occupied_gpus as f64
}

/// The two lines of the verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What is broken.
    pub what: Sentence,
    /// What that costs.
    pub cost: Sentence,
}

/// States the verdict; `short` is the phone's wording.
pub fn verdict(counts: Counts, evaluation: &Evaluation, short: bool) -> Verdict {
    let what = Sentence::new().bold(what_failed(counts));
    if counts.failed + counts.restarting + counts.slow == 0 {
        let what = Sentence::new().bold(format!(
            "All {} {} work.",
            count(counts.total),
            gpu_word(&count(counts.total))
        ));
        // One line either way, so that the first failure moves nothing below.
        let cost = Sentence::new().plain(if short {
            "Tap a GPU; six strategies answer below."
        } else {
            "Click a GPU in a rack to fail it; six strategies answer here."
        });
        return Verdict { what, cost };
    }
    let (Some(drop), Some(best)) = (evaluation.get(StrategyId::DpDrop), best(evaluation)) else {
        return Verdict {
            what,
            cost: Sentence::new(),
        };
    };
    Verdict {
        what,
        cost: cost(drop, best, short),
    }
}

fn what_failed(counts: Counts) -> String {
    let total = count(counts.total);
    let mut parts: Vec<(u64, &str, &str)> = Vec::new();
    for (number, one, many) in [
        (counts.failed, "failed", "failed"),
        (counts.restarting, "restarts", "restart"),
        (counts.slow, "is slow", "are slow"),
    ] {
        if number > 0 {
            parts.push((number, one, many));
        }
    }
    let mut text = String::new();
    for (index, (number, one, many)) in parts.iter().enumerate() {
        let verb = if *number == 1 { one } else { many };
        if index == 0 {
            text = format!("{} of {total} {} {verb}", count(*number), gpu_word(&total));
        } else {
            text = format!("{text}, {} {verb}", count(*number));
        }
    }
    text + "."
}

/// The better of the two nonuniform strategies; `ntp` when a boost gains nothing.
pub fn best(evaluation: &Evaluation) -> Option<&Outcome> {
    let (ntp, boosted) = (
        evaluation.get(StrategyId::Ntp)?,
        evaluation.get(StrategyId::NtpPw)?,
    );
    Some(if boosted.goodput > ntp.goodput + 1e-9 {
        boosted
    } else {
        ntp
    })
}

fn cost(drop: &Outcome, best: &Outcome, short: bool) -> Sentence {
    let (dropped, ours) = (gpus(lost_gpus(drop)), gpus(lost_gpus(best)));
    let name = best.strategy.id();
    if best.paused {
        return Sentence::new()
            .plain("Too little is left: even ")
            .bold(name)
            .plain(" waits for repair.");
    }
    if drop.paused {
        return Sentence::new()
            .plain("dp-drop pauses ")
            .bold("the whole job")
            .plain(format!("; {name} wastes "))
            .bold(format!("{ours} {}", gpu_word(&ours)))
            .plain(".");
    }
    if lost_gpus(drop) <= lost_gpus(best) + 0.05 {
        return if drop.dropped_replicas == 0 && drop.throughput > 1.0 - 1e-9 {
            Sentence::new()
                .plain("Left-over GPUs take over: ")
                .bold("no strategy loses speed")
                .plain(".")
        } else {
            Sentence::new()
                .plain("Every strategy wastes at least ")
                .bold(format!("{ours} {}", gpu_word(&ours)))
                .plain(" here.")
        };
    }
    let start = match (short, drop.dropped_replicas) {
        (true, _) | (_, 0) => "dp-drop wastes ".to_owned(),
        (_, 1) => "Dropping their replica wastes ".to_owned(),
        (_, many) => format!("Dropping their {} replicas wastes ", count(u64::from(many))),
    };
    let tell = |between: String| {
        let dropped = format!("{dropped} {}", gpu_word(&dropped));
        Sentence::new()
            .plain(&*start)
            .bold(dropped)
            .plain(between)
            .bold(&*ours)
            .plain(".")
    };
    if short {
        return tell(format!(", {name} "));
    }
    let full = tell(format!("; {name} wastes "));
    // One line of the side column: 492 px, of which the estimate asks 7 % more than letter spacing leaves.
    if width(&full.words(), 18.0, false) < 518.0 {
        full
    } else {
        tell(format!("; {name} "))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::core::cost::StepCost;
    use crate::core::strategy::{Healthy, LedgerNow};
    use crate::core::units::{Seconds, Watts};

    fn outcome(strategy: StrategyId, goodput: f64, dropped: u32) -> Outcome {
        Outcome {
            strategy,
            throughput: goodput,
            goodput,
            occupied_gpus: 1152,
            minibatch: 64,
            step_s: Seconds(1.0),
            paused: goodput == 0.0,
            replicas: Vec::new(),
            spare_domains_used: 0,
            dropped_replicas: dropped,
            parity_idle_gpus: 0,
            power_w: Watts::ZERO,
            energy_per_token_j: None,
            reshard_exposed_s: Seconds::ZERO,
            slow: Vec::new(),
            ledger: LedgerNow::default(),
            summary: String::new(),
        }
    }

    pub fn evaluation(drop: (f64, u32), ntp: f64, boosted: f64) -> Evaluation {
        Evaluation {
            healthy: Healthy {
                cost: StepCost::default(),
                tokens_per_s: 1.0,
                power_w: Watts::ZERO,
                energy_per_token_j: 0.0,
            },
            outcomes: vec![
                outcome(StrategyId::DpDrop, drop.0, drop.1),
                outcome(StrategyId::Ntp, ntp, 0),
                outcome(StrategyId::NtpPw, boosted, 0),
            ],
        }
    }

    fn words(counts: Counts, evaluation: &Evaluation, short: bool) -> String {
        let verdict = verdict(counts, evaluation, short);
        format!("{} {}", verdict.what.words(), verdict.cost.words())
    }

    const THREE: Counts = Counts {
        total: 1152,
        failed: 3,
        restarting: 0,
        slow: 0,
    };

    #[test]
    fn the_mocks_sentence() {
        let evaluation = evaluation((0.875, 1), 0.984, 0.9991);
        assert_eq!(
            words(THREE, &evaluation, false),
            "3 of 1,152 GPUs failed. Dropping their replica wastes 144 GPUs; ntp-pw wastes 1."
        );
        assert_eq!(
            words(THREE, &evaluation, true),
            "3 of 1,152 GPUs failed. dp-drop wastes 144 GPUs, ntp-pw 1."
        );
    }

    #[test]
    fn without_a_gain_from_boost_ntp_is_named() {
        let text = words(THREE, &evaluation((0.75, 2), 0.98, 0.98), false);
        assert_eq!(
            text,
            "3 of 1,152 GPUs failed. Dropping their 2 replicas wastes 288 GPUs; ntp wastes 23."
        );
    }

    #[test]
    fn a_long_sentence_is_cut_to_one_line() {
        let text = words(THREE, &evaluation((0.75, 12), 0.98, 0.9951), false);
        assert!(
            text.ends_with("Dropping their 12 replicas wastes 288 GPUs; ntp-pw 5.6."),
            "{text}"
        );
    }

    #[test]
    fn healthy_says_what_to_click() {
        let text = words(
            Counts {
                total: 1152,
                ..Counts::default()
            },
            &evaluation((1.0, 0), 1.0, 1.0),
            false,
        );
        assert_eq!(
            text,
            "All 1,152 GPUs work. Click a GPU in a rack to fail it; six strategies answer here."
        );
    }

    #[test]
    fn every_gpu_counts_once_and_with_its_blast() {
        let job = |link: &str| {
            let read = crate::core::scenario::url::decode(link).unwrap();
            read.scenario.resolve().unwrap()
        };
        let failed = |link| counts(&job(link)).failed;
        assert_eq!(failed("#/rack?fail=0.1,0.1"), 1);
        // The tray of GPU 5 holds 4 to 7, of which one is named again.
        assert_eq!(failed("#/rack?fail=0.5,0.6,1.9&blast=4"), 8);
    }

    #[test]
    fn kinds_of_failure_are_told_apart() {
        let counts = Counts {
            total: 1152,
            failed: 1,
            restarting: 2,
            slow: 1,
        };
        assert_eq!(
            what_failed(counts),
            "1 of 1,152 GPUs failed, 2 restart, 1 is slow."
        );
        assert_eq!(
            what_failed(Counts {
                total: 64,
                slow: 2,
                ..Counts::default()
            }),
            "2 of 64 GPUs are slow."
        );
    }

    #[test]
    fn a_paused_or_untouched_job_is_said_so() {
        let paused = words(THREE, &evaluation((0.0, 1), 0.98, 0.999), false);
        assert!(
            paused.ends_with("dp-drop pauses the whole job; ntp-pw wastes 1.2 GPUs."),
            "{paused}"
        );
        let untouched = words(THREE, &evaluation((1.0, 0), 1.0, 1.0), false);
        assert!(
            untouched.ends_with("Left-over GPUs take over: no strategy loses speed."),
            "{untouched}"
        );
    }
}
