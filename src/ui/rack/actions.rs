//! What the user does to GPUs, as edits of the scenario, and the sentence that says it.

use crate::core::order;
use crate::core::scenario::{Failure, FailureKind, Scenario};
use crate::core::strategy::Outcome;
use crate::scene::rack::pick;
use crate::scene::side::number::score;
use crate::ui::dom;
use crate::ui::state::App;
use leptos::prelude::*;
use std::fmt::Write;

/// A GPU by domain and index in it.
pub type At = (u32, u32);

/// How GPUs are to fail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// Kind of failure.
    pub kind: FailureKind,
    /// Speed of a slow GPU.
    pub speed: f64,
    /// GPUs that go together; absent: the policy's.
    pub radius: Option<u32>,
}

/// A plain hardware failure with the blast radius of the policy.
pub const HARDWARE: How = How {
    kind: FailureKind::Hardware,
    speed: 1.0,
    radius: None,
};

/// GPUs that some failure takes, in order.
fn down(scenario: &Scenario, size: u32) -> Vec<At> {
    let reach = |failure: &Failure| {
        let domain = failure.domain;
        pick::reach(failure, &scenario.policy, size).map(move |gpu| (domain, gpu))
    };
    let mut down: Vec<At> = scenario.failures.iter().flat_map(reach).collect();
    order::sort(&mut down);
    down
}

/// Fails those of these that are not down.
fn add(scenario: &mut Scenario, gpus: &[At], how: How, size: u32) {
    let mut taken = down(scenario, size);
    for &(domain, gpu) in gpus {
        if taken.binary_search(&(domain, gpu)).is_ok() {
            continue;
        }
        let failure = Failure {
            domain,
            gpu,
            kind: how.kind,
            speed: how.speed,
            blast_radius: how.radius,
        };
        for gpu in pick::reach(&failure, &scenario.policy, size) {
            if let Err(place) = taken.binary_search(&(domain, gpu)) {
                taken.insert(place, (domain, gpu));
            }
        }
        scenario.failures.push(failure);
    }
}

/// Whether some failure takes every one of these.
pub fn all_down(app: App, gpus: &[At]) -> bool {
    let job = app.now.job.read_untracked();
    let down = down(&job.scenario, job.system.domain_size);
    gpus.iter().all(|at| down.binary_search(at).is_ok())
}

/// Repairs these if all of them are down, else fails those that are not.
pub fn toggle(app: App, gpus: &[At]) {
    if all_down(app, gpus) {
        repair(app, gpus);
    } else {
        fail(app, gpus, HARDWARE);
    }
}

/// Fails GPUs that are not down yet.
pub fn fail(app: App, gpus: &[At], how: How) {
    let size = app.now.job.read_untracked().system.domain_size;
    edit(app, &words(gpus, "failed"), |scenario| {
        add(scenario, gpus, how, size);
    });
}

/// Gives GPUs this kind of failure, whatever they had before.
pub fn set(app: App, gpus: &[At], how: How) {
    let size = app.now.job.read_untracked().system.domain_size;
    let what = match how.kind {
        FailureKind::Hardware => "failed",
        FailureKind::Software => "restarting",
        FailureKind::Slow => "slow",
    };
    edit(app, &words(gpus, what), |scenario| {
        lift(scenario, gpus, size);
        add(scenario, gpus, how, size);
    });
}

/// Removes every failure that takes one of these.
pub fn repair(app: App, gpus: &[At]) {
    let size = app.now.job.read_untracked().system.domain_size;
    edit(app, &words(gpus, "repaired"), |scenario| {
        lift(scenario, gpus, size);
    });
}

fn lift(scenario: &mut Scenario, gpus: &[At], size: u32) {
    let policy = scenario.policy.clone();
    scenario.failures.retain(|failure| {
        !gpus
            .iter()
            .any(|(domain, gpu)| pick::covers(failure, &policy, size, *domain, *gpu))
    });
}

/// Repairs everything.
pub fn repair_all(app: App) {
    if app.now.job.read_untracked().scenario.failures.is_empty() {
        app.said.set("Nothing to repair.".into());
        return;
    }
    edit(app, "All GPUs repaired.", |scenario| {
        scenario.failures.clear();
    });
}

/// Fails `count` healthy GPUs of the job's domains; the seed names which.
pub fn fail_random(app: App, count: u32, seed: u64) {
    let healthy: Vec<At> = {
        let job = app.now.job.read_untracked();
        let down = down(&job.scenario, job.system.domain_size);
        let all = (0..job.placement.domains)
            .flat_map(|domain| (0..job.system.domain_size).map(move |gpu| (domain, gpu)));
        all.filter(|at| down.binary_search(at).is_err()).collect()
    };
    let picked = pick::random(healthy, count as usize, seed);
    if picked.is_empty() {
        app.said.set("No healthy GPU left to fail.".into());
        return;
    }
    fail(app, &picked, HARDWARE);
}

/// "D0 GPU 17 failed." or "12 GPUs failed."
fn words(gpus: &[At], what: &str) -> String {
    match gpus {
        [(domain, gpu)] => format!("D{domain} GPU {gpu} {what}."),
        many => format!("{} GPUs {what}.", many.len()),
    }
}

/// Edits, then says what came of it: "D0 GPU 17 failed. TP 72 to 71. ntp-pw 0.999."
fn edit(app: App, what: &str, change: impl FnOnce(&mut Scenario)) {
    let before = lowest_degree(&app.now.outcome.read_untracked());
    app.edit(change);
    if app.notice.read_untracked().is_some() {
        return;
    }
    let outcome = app.now.outcome.get_untracked();
    let after = lowest_degree(&outcome);
    let mut said = what.to_owned();
    if let (Some(before), Some(after)) = (before, after)
        && before != after
    {
        // Writing to a string cannot fail.
        let _ = write!(said, " TP {before} to {after}.");
    }
    let _ = write!(
        said,
        " {} {}.",
        outcome.strategy.id(),
        score(outcome.goodput, 3)
    );
    // Seen first, said then.
    dom::after_paint(move || drop(app.said.try_set(said)));
}

fn lowest_degree(outcome: &Outcome) -> Option<u32> {
    outcome
        .replicas
        .iter()
        .flat_map(|replica| replica.degrees.iter().copied())
        .filter(|degree| *degree > 0)
        .min()
}
