use super::*;
use crate::core::scenario::{Failure, FailureKind, Scenario};
use crate::core::strategy::{domain_views, evaluate};
use std::fmt::Write as _;

/// The default scene with failures at (domain, GPU).
fn job(failed: &[(u32, u32)]) -> Job {
    let mut scenario = Scenario::default_scene();
    scenario.failures = failed.iter().map(|&(domain, gpu)| failure(domain, gpu, FailureKind::Hardware, 1.0)).collect();
    scenario.resolve().unwrap()
}

fn failure(domain: u32, gpu: u32, kind: FailureKind, speed: f64) -> Failure {
    Failure { domain, gpu, kind, speed, blast_radius: None }
}

fn panel(job: &Job, id: StrategyId) -> Changed {
    let evaluation = evaluate(job);
    let views = domain_views(job, evaluation.get(id).unwrap());
    changed(job, &evaluation, id, &views).unwrap()
}

fn text(panel: &Changed) -> String {
    let mut out = format!("{} | {}\n", panel.title, panel.aside);
    for line in panel.main.iter().chain(&panel.more) {
        let before = line.before.as_ref().map(|before| format!("{before} → ")).unwrap_or_default();
        let _ = write!(out, "{}: {before}{}", line.label, line.now);
        for extra in [&line.note, &line.flag].into_iter().flatten() {
            let _ = write!(out, " | {extra}");
        }
        out.push('\n');
    }
    for warning in &panel.warnings {
        let _ = writeln!(out, "! {}: {}", warning.short, warning.why);
    }
    for sentence in &panel.slow {
        let _ = writeln!(out, "{}", sentence.words());
    }
    if let Some(power) = &panel.power {
        let _ = writeln!(out, "{power:?} {}", power.freed_by());
    }
    out
}

#[test]
fn print() {
    let three = job(&[(0, 17), (0, 41), (1, 29)]);
    for id in StrategyId::ALL {
        println!("== {}\n{}", id.id(), text(&panel(&three, id)));
        let e = evaluate(&three);
        let o = e.get(id).unwrap();
        println!("{:.4} {:.4} {:?} {}", o.goodput, o.throughput, o.ledger, o.summary);
    }
    println!("healthy\n{}", text(&panel(&job(&[]), StrategyId::NtpPw)));
    let mut scenario = Scenario::default_scene();
    scenario.failures = vec![failure(0, 3, FailureKind::Slow, 0.8), failure(1, 3, FailureKind::Slow, 0.99)];
    println!("slow\n{}", text(&panel(&scenario.resolve().unwrap(), StrategyId::Ntp)));
}
