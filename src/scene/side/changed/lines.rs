//! The lines that are always seen: degree, batch, clock, power, and the worst rank's shards.

use super::Line;
use crate::core::cost::{RankShape, Replica};
use crate::core::hardware::PowerCurve;
use crate::core::scenario::{Degrees, HeadSplit, Job, Parity};
use crate::core::strategy::{Evaluation, Outcome, ReplicaPlan, StrategyId};
use crate::scene::side::number::{change, count, fixed, time};
use crate::scene::side::why::Explanation;

/// Where the strategy rules come from.
const NTP: &str = "NTP, arXiv 2504.06095";

/// The lines, top to bottom.
pub fn main(
    job: &Job,
    evaluation: &Evaluation,
    outcome: &Outcome,
    replica: Option<&ReplicaPlan>,
) -> Vec<Line> {
    let degree = replica.map_or(job.placement.tp, |replica| {
        replica.degrees.iter().copied().min().unwrap_or(0)
    });
    let runs = !outcome.paused && replica.is_none_or(|replica| replica.local_batch > 0);
    let mut lines = vec![
        tp_degree(job, outcome, replica, if runs { degree } else { 0 }),
        local_batch(job, evaluation, outcome, replica),
        clock(job, outcome, replica),
        power(job, replica),
    ];
    let at = if runs && degree > 0 {
        degree
    } else {
        job.placement.tp
    };
    lines.extend(shards(job, at));
    lines
}

fn tp_degree(job: &Job, outcome: &Outcome, replica: Option<&ReplicaPlan>, degree: u32) -> Line {
    let policy = &job.scenario.policy;
    let full = job.placement.tp;
    let supported = match &policy.degrees {
        Degrees::Any => format!("any from {} to {full}", full.div_ceil(2)),
        Degrees::List(list) => list
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    };
    let parity = match policy.parity {
        Parity::OneDegree => "one common reduced degree, as Megatron Core asks for",
        Parity::PerReplica => "each replica its own degree, as in the paper",
    };
    let now = if degree == 0 {
        "none".to_owned()
    } else {
        degree.to_string()
    };
    let why = Explanation::new(
        "TP degree of the most reduced TP group",
        format!("{full} → {now}"),
        "degree = largest supported degree ≤ GPUs left in the worst TP group",
    )
    .with(
        "full degree",
        full.to_string(),
        "ranks of a healthy TP group",
    )
    .with("supported", supported, "reduced degrees, from the scenario")
    .with("parity", parity, "")
    .source(format!("{NTP}; Megatron Core README_NONUNIFORM_TP"));
    let degrees = replica
        .map(|replica| replica.degrees.as_slice())
        .unwrap_or_default();
    let reduced = degrees.iter().filter(|other| **other == degree).count();
    let note = if outcome.paused {
        Some("paused".to_owned())
    } else if degree == 0 {
        Some("dropped".to_owned())
    } else {
        (degree < full && reduced < degrees.len())
            .then(|| format!("in {reduced} of {}", degrees.len()))
    };
    Line::new("TP degree", full.to_string(), now, why).note(note)
}

fn local_batch(
    job: &Job,
    evaluation: &Evaluation,
    outcome: &Outcome,
    replica: Option<&ReplicaPlan>,
) -> Line {
    let full = job.scenario.layout.local_batch();
    let now = if outcome.paused {
        0
    } else {
        replica.map_or(full, |replica| replica.local_batch)
    };
    let healthy = evaluation.healthy.cost.step_s.get();
    let step = replica.map_or(healthy, |replica| replica.cost.step_s.get());
    let mut why = Explanation::new(
        "Sequences this replica trains on per step",
        format!("{full} → {now}"),
        if outcome.strategy == StrategyId::NtpPw {
            "raise clocks by the least power for which step(local batch) ≤ healthy step; past the cap, the largest batch that fits"
        } else {
            "local batch = largest b with step(b, reduced degree) ≤ healthy step"
        },
    )
    .with("healthy step", time(healthy), "a whole replica with the full local batch");
    if now > 0 {
        why = why.with(
            "its own step",
            time(step),
            "this replica with this batch, degree and clock",
        );
    }
    let why = why.source(format!("{NTP}, and the step model"));
    // What the boost is worth: the batch without it.
    let without = (outcome.strategy == StrategyId::NtpPw)
        .then(|| {
            evaluation
                .get(StrategyId::Ntp)?
                .replicas
                .iter()
                .find(|other| Some(other.index) == replica.map(|replica| replica.index))
        })
        .flatten()
        .filter(|other| other.local_batch != now)
        .map(|other| format!("ntp: {}", other.local_batch));
    Line::new("Local batch", full.to_string(), now.to_string(), why).note(without)
}

fn clock(job: &Job, outcome: &Outcome, replica: Option<&ReplicaPlan>) -> Line {
    let perf = if outcome.paused {
        1.0
    } else {
        replica.map_or(1.0, |replica| replica.perf)
    };
    let p = replica.map_or(1.0, |replica| replica.boost_p);
    let gpu = &job.system.gpu;
    let (before, now, unit) = match gpu.base_clock_mhz {
        Some(base) => (
            fixed(base, 0),
            format!("{} MHz", fixed(base * perf, 0)),
            "MHz",
        ),
        None => (
            "1.000".to_owned(),
            format!("{} × base", fixed(perf, 3)),
            "× base",
        ),
    };
    let published = gpu
        .base_clock_mhz
        .map_or("not published".to_owned(), |base| {
            format!("{} MHz", fixed(base, 0))
        });
    let why = Explanation::new(
        "Clock of the boosted GPUs",
        now.clone(),
        "clock = base × perf,  perf = 1 + 0.774 x − 0.82 x²,  x = p − 1",
    )
    .with("p", format!("{} × TDP", fixed(p, 3)), "power per GPU")
    .with(
        "perf",
        fixed(perf, 4),
        "compute rate; communication does not speed up",
    )
    .with("base", published, &*gpu.name)
    .source(format!(
        "{NTP}: perf/W −2.8 % at 1.1 and −6.5 % at 1.2 × TDP"
    ));
    let mut line = Line::new("Clock", format!("{before} {unit}"), now, why);
    line.before = (perf > 1.0).then_some(before);
    line
}

fn power(job: &Job, replica: Option<&ReplicaPlan>) -> Line {
    let tdp = job.system.gpu.tdp_w;
    let p = replica.map_or(1.0, |replica| replica.boost_p);
    let policy = &job.scenario.policy;
    let why = Explanation::new(
        "Power per boosted GPU",
        format!("{} W", fixed(tdp * p, 0)),
        "power = p × TDP",
    )
    .with(
        "p",
        fixed(p, 3),
        "least power whose compute rate brings the step back to the healthy one",
    )
    .with("TDP", format!("{} W", fixed(tdp, 0)), &*job.system.gpu.name)
    .with(
        "cap",
        format!("{} × TDP", fixed(policy.boost_cap, 2)),
        "per GPU, from the scenario",
    )
    .with(
        "rack",
        format!("{} × TDP", fixed(policy.rack_headroom, 2)),
        "of all its GPUs: what it can deliver and cool",
    )
    .with(
        "curve",
        format!("1 to {} × TDP", fixed(PowerCurve::MAX_POWER, 1)),
        "range in which it was measured",
    )
    .source(NTP);
    let mut line = Line::new(
        "Power per GPU",
        fixed(tdp, 0),
        format!("{} W", fixed(tdp * p, 0)),
        why,
    );
    line.before = (p > 1.0).then(|| fixed(tdp, 0));
    line
}

/// FFN columns and heads on the slowest rank.
fn shards(job: &Job, degree: u32) -> [Line; 2] {
    let (before, now) = (shape(job, job.placement.tp), shape(job, degree));
    let model = &job.model;
    [
        shard_line(
            job,
            "FFN columns, worst",
            "FFN columns",
            model.ffn,
            (before.ffn, now.ffn),
            degree,
        ),
        shard_line(
            job,
            "Heads, worst rank",
            "attention heads",
            model.heads,
            (before.heads, now.heads),
            degree,
        ),
    ]
}

/// The shape of the slowest rank at a degree.
pub fn shape(job: &Job, degree: u32) -> RankShape {
    let layout = &job.scenario.layout;
    let replica = Replica {
        system: &job.system,
        model: &job.model,
        layout,
        degree,
        sync_degree: degree,
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: job.scenario.policy.heads,
    };
    RankShape::new(&replica, degree)
}

/// A line on how many shards of one kind the slowest rank holds, flagged when that is over 1 % more than an even share.
pub fn shard_line(
    job: &Job,
    label: &'static str,
    kind: &str,
    total: u32,
    (before, now): (f64, f64),
    degree: u32,
) -> Line {
    let even = f64::from(total) / f64::from(degree.max(1));
    let imbalance = if even > 0.0 { now / even - 1.0 } else { 0.0 };
    let written = |value: f64| {
        if value.fract() == 0.0 {
            count(value as u64)
        } else {
            fixed(value, 2)
        }
    };
    let (rule, formula) = match job.scenario.policy.heads {
        HeadSplit::Whole => (
            "whole",
            "worst rank = ⌈shards / degree⌉,  imbalance = worst / (shards / degree) − 1",
        ),
        HeadSplit::Even => (
            "even",
            "worst rank = shards / degree (idealised even split)",
        ),
    };
    let why = Explanation::new(
        format!("{kind} on the rank that sets the pace"),
        written(now),
        formula,
    )
    .with(
        "shards",
        count(u64::from(total)),
        format!("{kind} of one layer of {}", job.model.name),
    )
    .with("degree", degree.to_string(), "TP ranks that share them")
    .with("even share", fixed(even, 2), "shards / degree")
    .with(
        "imbalance",
        change(imbalance),
        format!("enters the step time; heads: {rule}"),
    )
    .with(
        "work",
        change(if before > 0.0 {
            now / before - 1.0
        } else {
            0.0
        }),
        "against a healthy rank",
    )
    .source("Model section 3: the largest rank sets the pace");
    let flagged = imbalance > 0.01;
    let line = Line::new(label, written(before), written(now), why);
    let grown = (now > before && before > 0.0).then(|| change(now / before - 1.0));
    if flagged {
        let mut line = line
            .note(Some(format!("of {}", fixed(even, 2))))
            .flag(Some(change(imbalance)));
        line.before = None;
        line
    } else {
        line.note(grown)
    }
}
