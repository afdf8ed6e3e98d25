//! "What changed": the worst replica under one strategy against a healthy one, line by line, each with its "why?".

mod budget;
mod lines;
mod more;

pub use budget::{FirstLimit, PowerPanel};
pub use more::per_core;

use super::number::{count, fixed, score};
use super::text::Sentence;
use super::why::Explanation;
use crate::core::scenario::Job;
use crate::core::shards::ShardSummary;
use crate::core::strategy::{DomainView, Evaluation, Outcome, ReplicaPlan, SlowChoice, StrategyId};

/// One line: a quantity before and now.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is; also its key.
    pub label: &'static str,
    /// Value in a healthy replica, where it differs.
    pub before: Option<String>,
    /// Value now.
    pub now: String,
    /// What else to know, quietly.
    pub note: Option<String>,
    /// What to be warned of, such as an imbalance.
    pub flag: Option<String>,
    /// The answer to "why?".
    pub why: Explanation,
}

impl Line {
    /// A line that holds one value before and now.
    pub fn new(label: &'static str, before: String, now: String, why: Explanation) -> Self {
        Self {
            label,
            before: (before != now).then_some(before),
            now,
            note: None,
            flag: None,
            why,
        }
    }
    /// With a quiet note.
    pub fn note(mut self, note: Option<String>) -> Self {
        self.note = note;
        self
    }
    /// With a warning.
    pub fn flag(mut self, flag: Option<String>) -> Self {
        self.flag = flag;
        self
    }
}

/// Something that does not work, in a few words and in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Fits a chip.
    pub short: String,
    /// The reason.
    pub why: String,
}

/// All of the panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// Heading.
    pub title: String,
    /// Beside it.
    pub aside: String,
    /// The lines that are always seen.
    pub main: Vec<Line>,
    /// The further ones.
    pub more: Vec<Line>,
    /// What does not work.
    pub warnings: Vec<Warning>,
    /// Stragglers and what was decided, one sentence each.
    pub slow: Vec<Sentence>,
    /// Power of the worst boosted domain; absent only before there is an outcome.
    pub power: Option<PowerPanel>,
}

/// Highest and lowest TP degree that run under `outcome`: gradients are reduced at the lowest, so that replicas at the
/// highest reshard when the two differ.
pub fn degrees(job: &Job, outcome: &Outcome) -> (u32, u32) {
    let running = outcome
        .replicas
        .iter()
        .filter(|replica| replica.local_batch > 0 && !outcome.paused);
    let degrees = running
        .flat_map(|replica| &replica.degrees)
        .copied()
        .filter(|degree| *degree > 0);
    let full = job.placement.tp;
    (
        degrees.clone().max().unwrap_or(full),
        degrees.min().unwrap_or(full),
    )
}

/// What one strategy changes. `shards` compares the two [`degrees`]; it is an argument because it costs more than the rest.
pub fn changed(
    job: &Job,
    evaluation: &Evaluation,
    id: StrategyId,
    views: &[DomainView],
    shards: Option<&ShardSummary>,
) -> Option<Changed> {
    let outcome = evaluation.get(id)?;
    let worst = worst(job, outcome);
    let untouched = is_untouched(job, outcome, worst);
    let (title, aside) = heading(job, outcome, worst, untouched);
    let mut warnings = Vec::new();
    memory_warning(job, evaluation, &mut warnings);
    if let Some(shards) = shards.filter(|shards| shards.tp_reduced < shards.tp_base) {
        map_warnings(shards, &mut warnings);
    }
    Some(Changed {
        title,
        aside,
        main: lines::main(job, evaluation, outcome, worst),
        more: more::more(job, evaluation, outcome, worst, shards),
        warnings,
        slow: outcome
            .slow
            .iter()
            .map(|choice| slow(job, choice))
            .collect(),
        power: Some(budget::power(job, outcome, worst, views)),
    })
}

/// Heading of the panel and what stands beside it.
fn heading(
    job: &Job,
    outcome: &Outcome,
    worst: Option<&ReplicaPlan>,
    untouched: bool,
) -> (String, String) {
    let domains = outcome.spare_domains_used;
    if outcome.paused {
        ("Nothing runs".into(), "the job waits for repair".into())
    } else if !untouched {
        (
            format!(
                "What changed in replica {}",
                worst.map_or(0, |replica| replica.index)
            ),
            "click a number for why".into(),
        )
    } else if job.scenario.failures.is_empty() {
        ("Nothing changed".into(), "click a number for why".into())
    } else if domains > 0 {
        (
            "No replica changed".into(),
            format!(
                "{domains} spare {} took over",
                if domains == 1 { "domain" } else { "domains" }
            ),
        )
    } else if outcome.slow.iter().any(|choice| !choice.bench) {
        (
            "No replica changed".into(),
            "all keep the slow GPU's pace".into(),
        )
    } else {
        (
            "No replica changed".into(),
            "GPUs of the same domain took over".into(),
        )
    }
}

/// The replica that the panel is about: the first one that runs reduced; the first dropped one when none does.
fn worst<'a>(job: &Job, outcome: &'a Outcome) -> Option<&'a ReplicaPlan> {
    let tp = job.placement.tp;
    let reduced = |replica: &&ReplicaPlan| {
        replica.local_batch > 0 && replica.degrees.iter().any(|degree| *degree < tp)
    };
    outcome
        .replicas
        .iter()
        .find(reduced)
        .or_else(|| outcome.replicas.first())
}

fn is_untouched(job: &Job, outcome: &Outcome, worst: Option<&ReplicaPlan>) -> bool {
    let healthy_batch = job.scenario.layout.local_batch();
    !outcome.paused
        && outcome.dropped_replicas == 0
        && worst.is_none_or(|replica| {
            replica.local_batch >= healthy_batch
                && replica.boost_p <= 1.0
                && replica
                    .degrees
                    .iter()
                    .all(|degree| *degree >= job.placement.tp)
        })
}

fn memory_warning(job: &Job, evaluation: &Evaluation, warnings: &mut Vec<Warning>) {
    let (asked, there) = (evaluation.healthy.cost.memory.total(), job.system.gpu.hbm());
    if asked > there {
        warnings.push(Warning {
            short: format!("Needs {} GiB, has {}", fixed(asked.gib(), 0), fixed(there.gib(), 0)),
            why: format!(
                "This layout asks for {} GiB on the fullest GPU; a {} has {} GiB. Raise TP or PP, or recompute activations.",
                fixed(asked.gib(), 1),
                job.system.gpu.name,
                fixed(there.gib(), 1)
            ),
        });
    }
}

/// Where Megatron's mapping between the two degrees fails.
fn map_warnings(shards: &ShardSummary, warnings: &mut Vec<Warning>) {
    for tensor in shards.tensors.iter().filter(|tensor| !tensor.replicated) {
        if let Some(reason) = &tensor.reason {
            let what = format!("{} {}", count(u64::from(tensor.shards)), tensor.kind.name());
            warnings.push(Warning {
                short: format!("Megatron cannot map {what} to {}", shards.tp_reduced),
                why: format!(
                    "{reason}. Shown instead: a balanced map, contiguous, every shard once."
                ),
            });
        }
    }
}

fn slow(job: &Job, choice: &SlowChoice) -> Sentence {
    let domain = job.placement.domain_of(choice.slot);
    let (does, value, other, alternative) = if choice.bench {
        ("benched", choice.benched, "kept", choice.kept)
    } else {
        ("kept", choice.kept, "benched", choice.benched)
    };
    Sentence::new()
        .bold(format!("D{domain}"))
        .plain(format!(
            " holds a GPU at {} of its speed: ",
            score(choice.speed, 2)
        ))
        .bold(does)
        .plain(", throughput ")
        .bold(score(value, 3))
        .plain(format!("; {other} it would be {}", score(alternative, 3)))
}

#[cfg(test)]
mod tests;
