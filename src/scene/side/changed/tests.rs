use super::*;
use crate::core::scenario::{Failure, FailureKind, Scenario};
use crate::core::shards::summarize;
use crate::core::strategy::{domain_views, evaluate};

/// The default scene with failures at (domain, GPU).
fn job(failed: &[(u32, u32)]) -> Job {
    let mut scenario = Scenario::default_scene();
    scenario.failures = failed
        .iter()
        .map(|&(domain, gpu)| failure(domain, gpu, FailureKind::Hardware, 1.0))
        .collect();
    scenario.resolve().unwrap()
}

fn failure(domain: u32, gpu: u32, kind: FailureKind, speed: f64) -> Failure {
    Failure {
        domain,
        gpu,
        kind,
        speed,
        blast_radius: None,
    }
}

fn panel(job: &Job, id: StrategyId) -> Changed {
    let evaluation = evaluate(job);
    let outcome = evaluation.get(id).unwrap();
    let (full, lowest) = degrees(job, outcome);
    let layers = job.model.layers.div_ceil(job.scenario.layout.pp);
    let shards = summarize(&job.model, layers, full, lowest).unwrap();
    changed(
        job,
        &evaluation,
        id,
        &domain_views(job, outcome),
        Some(&shards),
    )
    .unwrap()
}

fn line(panel: &Changed, label: &str) -> Line {
    panel
        .main
        .iter()
        .chain(&panel.more)
        .find(|line| line.label == label)
        .unwrap()
        .clone()
}

/// `before → now`, note and flag of one line.
fn words(panel: &Changed, label: &str) -> String {
    let line = line(panel, label);
    let before = line
        .before
        .map(|before| format!("{before} → "))
        .unwrap_or_default();
    let rest: Vec<String> = [line.note, line.flag].into_iter().flatten().collect();
    format!("{before}{} {}", line.now, rest.join(" "))
        .trim()
        .to_owned()
}

const THREE: [(u32, u32); 3] = [(0, 17), (0, 41), (1, 29)];

#[test]
fn three_failures_in_two_racks_are_told_by_number() {
    let panel = panel(&job(&THREE), StrategyId::NtpPw);
    assert_eq!(panel.title, "What changed in replica 0");
    assert_eq!(words(&panel, "TP degree"), "72 → 70");
    assert_eq!(words(&panel, "FFN columns, worst"), "740 → 761 +2.8 %");
    assert_eq!(words(&panel, "Heads, worst rank"), "2 of 1.83 +9.4 %");
    assert_eq!(
        words(&panel, "Vocabulary rows, worst"),
        "1,782 → 1,833 +2.9 %"
    );
    assert_eq!(words(&panel, "Idle for parity"), "1 GPU");
    assert!(words(&panel, "Messages, FFN layer").starts_with("140 × "));
    let warning = &panel.warnings[0];
    assert_eq!(warning.short, "Megatron cannot map 128 heads to 70");
    assert!(warning.why.contains("only 64 of 70 parts"));
}

#[test]
fn a_dropped_replica_and_a_paused_job_say_so() {
    let dropped = panel(&job(&THREE), StrategyId::DpDrop);
    assert_eq!(words(&dropped, "TP degree"), "72 → none dropped");
    assert_eq!(words(&dropped, "Local batch"), "8 → 0");
    assert_eq!(words(&dropped, "Mini-batch"), "64 → 56");
    assert!(dropped.warnings.is_empty());
    let paused = panel(&job(&THREE), StrategyId::Wait);
    assert_eq!(paused.title, "Nothing runs");
    assert_eq!(words(&paused, "Mini-batch"), "64 → 0");
    assert_eq!(
        words(&paused, "Energy per token").split(" → ").nth(1),
        Some("none trained")
    );
}

#[test]
fn a_healthy_job_changed_nothing() {
    for id in StrategyId::ALL
        .into_iter()
        .filter(|id| *id != StrategyId::InDomainSpares)
    {
        let panel = panel(&job(&[]), id);
        assert_eq!(panel.title, "Nothing changed", "{}", id.id());
        for line in panel.main.iter().chain(&panel.more) {
            assert!(
                line.before.is_none()
                    || line.label.starts_with("Power")
                    || line.label.starts_with("Energy"),
                "{line:?}"
            );
        }
        let power = panel.power.unwrap();
        assert!(
            power.domain.is_none()
                && (power.boost.headroom_w.get() - 0.3 * 1400.0 * 72.0).abs() < 1e-6
        );
        assert!(panel.slow.is_empty() && panel.warnings.is_empty());
    }
}

#[test]
fn held_back_gpus_change_every_replica_and_reshard_nothing() {
    let panel = panel(&job(&[]), StrategyId::InDomainSpares);
    assert_eq!(words(&panel, "TP degree"), "72 → 64");
    assert_eq!(words(&panel, "Sent by an extra rank"), "nothing");
}

#[test]
fn spare_domains_that_took_over_are_named() {
    let panel = panel(&job(&THREE), StrategyId::HotSpares);
    assert_eq!(
        (panel.title.as_str(), panel.aside.as_str()),
        ("No replica changed", "2 spare domains took over")
    );
}

#[test]
fn a_straggler_is_kept_or_benched_with_both_numbers() {
    let said = |speed: f64| {
        let mut scenario = Scenario::default_scene();
        scenario.failures = vec![failure(0, 3, FailureKind::Slow, speed)];
        panel(&scenario.resolve().unwrap(), StrategyId::Ntp).slow[0].words()
    };
    let (bad, mild) = (said(0.5), said(0.9999));
    assert!(
        bad.starts_with("D0 holds a GPU at 0.50 of its speed: benched, throughput 0."),
        "{bad}"
    );
    assert!(
        mild.starts_with("D0 holds a GPU at 0.99 of its speed: kept, throughput 0.9"),
        "{mild}"
    );
    assert!(mild.contains("; benched it would be 0."), "{mild}");
}

#[test]
fn every_line_answers_why() {
    for id in StrategyId::ALL {
        let panel = panel(&job(&THREE), id);
        for line in panel.main.iter().chain(&panel.more) {
            let why = &line.why;
            assert!(
                !why.title.is_empty() && !why.formula.is_empty() && !why.source.is_empty(),
                "{line:?}"
            );
        }
    }
}

#[test]
fn a_layout_that_does_not_fit_names_both_sizes() {
    let mut scenario = Scenario::default_scene();
    scenario.layout.tp = 8;
    scenario.layout.pp = 1;
    let job = scenario.resolve().unwrap();
    let mut evaluation = evaluate(&job);
    evaluation.healthy.cost.memory.weights_bytes = crate::core::units::Bytes::from_gib(900.0);
    let panel = changed(&job, &evaluation, StrategyId::Ntp, &[], None).unwrap();
    assert!(
        panel.warnings[0].short.starts_with("Needs ")
            && panel.warnings[0].short.ends_with("has 288"),
        "{:?}",
        panel.warnings
    );
}
