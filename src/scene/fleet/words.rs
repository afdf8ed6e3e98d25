//! Sentences of the Fleet page.

use super::pace;
use crate::core::faults::{CheckpointEvery, FaultEvent, Faults};
use crate::core::fleet::recording::{Look, Recording};
use crate::core::fleet::{Bucket, CellState, PhaseKind};
use crate::core::order;
use crate::core::scenario::Scenario;
use crate::core::strategy::{GpuState, StrategyId};
use crate::core::units::Nanos;
use crate::scene::side::number::{count, fixed, gpu_word, gpus, percent};
use crate::scene::side::text::Sentence;

/// What the best strategies are worth against the one that drops replicas, in GPUs.
pub fn verdict(recording: &Recording, time: Nanos, gpus_of_job: u64) -> Sentence {
    let goodput = |strategy| {
        recording
            .track(strategy)
            .and_then(|track| track.goodput(time))
    };
    let (Some(drop), Some(ntp), Some(boost)) = (
        goodput(StrategyId::DpDrop),
        goodput(StrategyId::Ntp),
        goodput(StrategyId::NtpPw),
    ) else {
        return Sentence::new()
            .bold("Press play")
            .plain(": every strategy meets the same failures.");
    };
    let worth = |gain: f64| {
        let text = gpus(gain.abs() * gpus_of_job as f64);
        let unit = gpu_word(&text);
        [text.as_str(), " ", unit].concat()
    };
    let (gain, more) = (ntp - drop, boost - ntp);
    let sentence = Sentence::new();
    let sentence = if gain.abs() * (gpus_of_job as f64) < 0.5 {
        sentence.bold("ntp and dp-drop are level").plain(" so far")
    } else if gain > 0.0 {
        sentence
            .bold(["ntp is worth ", &worth(gain)].concat())
            .plain(" over dp-drop so far")
    } else {
        sentence
            .bold(["ntp costs ", &worth(gain)].concat())
            .plain(" against dp-drop so far")
    };
    if more.abs() * (gpus_of_job as f64) < 0.5 {
        sentence.plain("; boost adds nothing.")
    } else if more > 0.0 {
        sentence.plain(["; boost adds ", &worth(more), " more."].concat())
    } else {
        sentence.plain(["; boost costs ", &worth(more), "."].concat())
    }
}

/// `59 of 32,760 GPUs down in 57 of 455 domains`.
pub fn down(failed: u32, gpus: u64, hit: usize, domains: u32) -> Sentence {
    Sentence::new()
        .bold(
            [
                &count(u64::from(failed)),
                " of ",
                &count(gpus),
                " GPUs down",
            ]
            .concat(),
        )
        .plain(
            [
                " in ",
                &count(hit as u64),
                " of ",
                &count(u64::from(domains)),
                " domains",
            ]
            .concat(),
        )
}

/// `D212 GPU 40`, `D212 GPUs 40 to 47`, `D212`, `the job`.
pub fn place(event: &FaultEvent, domain_size: u32) -> String {
    if event.domain == FaultEvent::JOB {
        return "the job".into();
    }
    let domain = ["D", &event.domain.to_string()].concat();
    let last = event.first + event.gpus.saturating_sub(1);
    match event.gpus {
        n if u32::from(n) >= domain_size => domain,
        1 => [&domain, " GPU ", &event.first.to_string()].concat(),
        _ => [
            &domain,
            " GPUs ",
            &event.first.to_string(),
            " to ",
            &last.to_string(),
        ]
        .concat(),
    }
}

/// What comes next: `next in 37 min: D212 GPU 40, GPU`.
pub fn next(
    recording: &Recording,
    strategy: StrategyId,
    time: Nanos,
    domain_size: u32,
) -> Sentence {
    let Some((at, event)) = recording.next_event(strategy, time) else {
        return Sentence::new().plain("no failure until the end");
    };
    let cause = recording
        .causes
        .get(usize::from(event.cause))
        .map_or("", |cause| cause.name.as_str());
    let wait = pace::span(at.saturating_sub(time).hours());
    Sentence::new()
        .plain(["next in ", &wait, ": "].concat())
        .bold(place(event, domain_size))
        .plain([", ", cause].concat())
}

/// What a job is doing, in the fewest words; nothing while it computes.
pub const fn phase(phase: PhaseKind) -> &'static str {
    match phase {
        PhaseKind::Running => "",
        PhaseKind::Detecting => "failed, not noticed yet",
        PhaseKind::Restarting => "restarting",
        PhaseKind::Paused => "waiting for hardware",
    }
}

/// What a domain does.
pub fn cell(look: &Look) -> &'static str {
    match look.state {
        CellState::Healthy => "healthy",
        CellState::Reduced => "reduced TP",
        CellState::Boosted => "reduced TP, boosted",
        CellState::Healed => "spare GPUs stand in",
        CellState::Idle => "idle, its replica is dropped",
        CellState::Paused => "waits for the job",
        CellState::Spare => "spare",
        CellState::Down => "all of it is down",
    }
}

/// Lines about the GPUs of a domain: `2 failed`, `70 boosted`, `8 left over`.
pub fn gpu_lines(look: &Look) -> Vec<String> {
    let order = [
        GpuState::Failed,
        GpuState::Restarting,
        GpuState::Boosted,
        GpuState::Parity,
        GpuState::Idle,
        GpuState::Spare,
        GpuState::LeftOver,
        GpuState::Healthy,
    ];
    order
        .into_iter()
        .filter_map(|state| {
            let count = look.count(state);
            (count > 0).then(|| [&count.to_string(), " ", state.words()].concat())
        })
        .collect()
}

/// Why one strategy was worse than another: the largest differences first, as (sign, share in percentage points, words).
pub fn why(differences: &[(Bucket, f64)], won_back: f64) -> Vec<(f64, &'static str)> {
    let mut lines: Vec<(f64, &'static str)> = differences
        .iter()
        .filter(|(bucket, share)| *bucket != Bucket::Productive && share.abs() >= 5e-5)
        .map(|(bucket, share)| (*share, bucket.words()))
        .collect();
    if won_back.abs() >= 5e-5 {
        lines.push((won_back, "won back by boost or smaller groups"));
        order::sort_by(&mut lines, |a, b| b.0.abs().total_cmp(&a.0.abs()));
    }
    lines
}

/// Percentage points with a sign: `+1.2 pts`.
pub fn points(share: f64) -> String {
    let sign = if share > 0.0 { "+" } else { "" };
    [sign, &fixed(share * 100.0, 2), " pts"].concat()
}

/// Percent with one decimal and no unit, for the ledger.
pub fn share(value: f64) -> String {
    fixed(value * 100.0, 1)
}

/// `74 % of the time above 0.1 %`.
pub fn above(fraction: f64) -> String {
    percent(fraction, 0)
}

/// What changed of the failure processes, in few words.
fn processes(old: &Scenario, new: &Scenario) -> String {
    let read = |scenario: &Scenario| Faults::read(scenario.faults.as_ref()).ok();
    let (Some(old), Some(new)) = (read(old), read(new)) else {
        return "other failures".to_owned();
    };
    if old.checkpoint.every_min != new.checkpoint.every_min {
        return match new.checkpoint.every_min {
            CheckpointEvery::Minutes(minutes) => {
                let minutes = fixed(minutes, 1);
                let minutes = minutes.strip_suffix(".0").unwrap_or(&minutes);
                ["checkpoint every ", minutes, " min"].concat()
            }
            CheckpointEvery::Formula(_) => "checkpoints by formula".to_owned(),
        };
    }
    if old.rate_multiplier != new.rate_multiplier {
        return [&fixed(new.rate_multiplier, 2), " × the failures"].concat();
    }
    if old.checkpoint != new.checkpoint {
        return "other checkpoints".to_owned();
    }
    "other failures".to_owned()
}

/// What an edit of the scenario does, in few words, for the flag of a fork.
pub fn edit(old: &Scenario, new: &Scenario) -> String {
    let (a, b) = (&old.policy, &new.policy);
    let change = |before: u32, after: u32, what: &str| {
        (before != after).then(|| {
            let more = if after > before { " more " } else { " fewer " };
            [&after.abs_diff(before).to_string(), more, what].concat()
        })
    };
    change(a.spare_domains, b.spare_domains, "spare domains")
        .or_else(|| {
            change(
                a.hot_spare_domains,
                b.hot_spare_domains,
                "hot spare domains",
            )
        })
        .or_else(|| change(a.in_domain_spares, b.in_domain_spares, "GPUs held back"))
        .or_else(|| {
            (a.blast_radius != b.blast_radius)
                .then(|| ["blast radius ", &b.blast_radius.to_string()].concat())
        })
        .or_else(|| {
            (a.boost_cap != b.boost_cap).then(|| ["boost cap ", &fixed(b.boost_cap, 2)].concat())
        })
        .or_else(|| (old.faults != new.faults).then(|| processes(old, new)))
        .unwrap_or_else(|| "another policy".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_have_names() {
        let old = Scenario::default_scene();
        let with = |faults: serde_json::Value| {
            let mut new = old.clone();
            new.faults = Some(faults);
            edit(&old, &new)
        };
        let json = |text: &str| serde_json::from_str(text).unwrap();
        assert_eq!(
            with(json(r#"{"checkpoint": {"every_min": 15}}"#)),
            "checkpoint every 15 min"
        );
        assert_eq!(
            with(json(r#"{"checkpoint": {"every_min": "daly"}}"#)),
            "checkpoints by formula"
        );
        assert_eq!(
            with(json(r#"{"rate_multiplier": 2}"#)),
            "2.00 × the failures"
        );
        assert_eq!(with(json(r#"{"restart_min": 3}"#)), "other failures");
        let mut new = old.clone();
        new.policy.spare_domains += 3;
        assert_eq!(edit(&old, &new), "3 more spare domains");
    }

    #[test]
    fn places_have_names() {
        let event = |domain, first, gpus| FaultEvent {
            time: Nanos::ZERO,
            domain,
            first,
            gpus,
            cause: 0,
            repair: Nanos::ZERO,
        };
        assert_eq!(place(&event(212, 40, 1), 72), "D212 GPU 40");
        assert_eq!(place(&event(3, 8, 4), 72), "D3 GPUs 8 to 11");
        assert_eq!(place(&event(3, 0, 72), 72), "D3");
        assert_eq!(place(&event(FaultEvent::JOB, 0, 0), 72), "the job");
        assert_eq!(
            down(59, 32760, 57, 455).words(),
            "59 of 32,760 GPUs down in 57 of 455 domains"
        );
    }

    #[test]
    fn reasons_leave_out_what_makes_no_difference() {
        let lines = why(
            &[
                (Bucket::Paused, 0.02),
                (Bucket::Productive, -0.03),
                (Bucket::Spare, -0.00001),
            ],
            -0.01,
        );
        assert_eq!(
            lines,
            [
                (0.02, "paused"),
                (-0.01, "won back by boost or smaller groups")
            ]
        );
        assert_eq!(points(0.0123), "+1.23 pts");
        assert_eq!(points(-0.1), "−10.00 pts");
    }

    #[test]
    fn a_fork_says_what_it_changes() {
        let old = Scenario::default_scene();
        let with = |change: fn(&mut Scenario)| {
            let mut new = old.clone();
            change(&mut new);
            edit(&old, &new)
        };
        assert_eq!(
            with(|s| s.policy.spare_domains = 24),
            "24 more spare domains"
        );
        assert_eq!(
            with(|s| s.policy.in_domain_spares = 4),
            "4 fewer GPUs held back"
        );
        assert_eq!(with(|s| s.policy.blast_radius = 4), "blast radius 4");
        assert_eq!(with(|s| s.policy.fixed_minibatch = true), "another policy");
    }

    #[test]
    fn gpus_of_a_look_are_counted_in_words() {
        let look = Look {
            runs: vec![(GpuState::Boosted, 70), (GpuState::Failed, 2)],
            ..Look::default()
        };
        assert_eq!(gpu_lines(&look), ["2 failed", "70 boosted"]);
    }
}
