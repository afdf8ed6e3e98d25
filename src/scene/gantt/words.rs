//! Words beside the tracks, about a span, and about a selected range.

use super::Spot;
use crate::core::hardware::Gpu;
use crate::core::timeline::text::{describe, duration, gpu_name, thousands};
use crate::core::timeline::{Group, Kind, ReplicaKind, ReplicaSpec, StepView, Timeline, World};
use crate::core::units::Nanos;

/// Names and numbers of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupWords {
    /// "Healthy".
    pub name: String,
    /// Second and third line under it.
    pub lines: [String; 2],
    /// First line at the right, bold.
    pub number: String,
    /// Second line at the right.
    pub note: String,
    /// Third line at the right.
    pub pace: String,
    /// Whether the number is a loss.
    pub lost: bool,
    /// What is special about its compute: "at 2,061 MHz".
    pub at: String,
}

fn whole(value: f64) -> String {
    let text = thousands(value.round());
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

fn clock(replica: &ReplicaSpec, gpu: &Gpu, stage: u32) -> String {
    let perf = replica
        .stages
        .get(stage as usize)
        .map_or(1.0, |stage| stage.perf);
    gpu.clock(perf).map_or_else(
        || format!("{perf:.3} × base clock"),
        |mhz| format!("{} MHz", whole(mhz.get())),
    )
}

/// "1.7 ms", with more digits where it is small.
fn ms(time: Nanos) -> String {
    match time.0 {
        0 => "0 ms".into(),
        1..100_000 => duration(time),
        _ => format!("{} ms", thousands(time.0 as f64 / 1e6)),
    }
}

/// Words of every group, in the order of the view.
pub fn group_words(view: &StepView, gpu: &Gpu) -> Vec<GroupWords> {
    view.groups
        .iter()
        .map(|group| words(view, group, gpu).unwrap_or_else(blank))
        .collect()
}

fn blank() -> GroupWords {
    GroupWords {
        name: String::new(),
        lines: Default::default(),
        number: String::new(),
        note: String::new(),
        pace: String::new(),
        lost: false,
        at: String::new(),
    }
}

fn words(view: &StepView, group: &Group, gpu: &Gpu) -> Option<GroupWords> {
    let timeline = view.timeline(group);
    let stage = timeline.spec.shown_stage;
    let replica = timeline.spec.replicas.get(group.replica)?;
    let degree = replica.stages.get(stage as usize)?.degree;
    let world = view.worlds.get(group.world);
    let clock = clock(replica, gpu, stage);
    let like = if replica.count > 1 {
        format!(", one of {}", replica.count)
    } else {
        String::new()
    };
    let healthy = group.kind == ReplicaKind::Healthy;
    let place = gpu_name(timeline, group.replica);
    let (second, third) = match group.kind {
        ReplicaKind::Healthy => (format!("{place}{like}"), format!("TP {degree}, {clock}")),
        ReplicaKind::Reduced => (
            under(&place, world),
            format!("TP {degree}, {}", sequences(replica.local_batch)),
        ),
        ReplicaKind::Boosted => (under(&place, world), format!("TP {degree}, {clock}")),
    };
    let pace = timeline
        .pace
        .get(group.replica)
        .copied()
        .unwrap_or_default();
    let sets_pace = timeline.slowest() == Some(group.replica);
    let (number, note) = match (healthy, world) {
        (true, Some(world)) => {
            let share = 100.0 * world.exposed().0 as f64 / timeline.step.0.max(1) as f64;
            (
                format!("{} exposed", ms(world.exposed())),
                format!("{share:.2} % of the step"),
            )
        }
        (true, None) => ("0 ms exposed".into(), "nothing to reshard".into()),
        (false, world) => {
            let throughput = world.map_or_else(String::new, |w| {
                format!("{} throughput {}", w.strategy.id(), three(w.throughput))
            });
            (format!("{} waiting", ms(pace.waiting)), throughput)
        }
    };
    Some(GroupWords {
        name: group.kind.name().into(),
        lines: [second, third],
        lost: healthy && world.is_some_and(|w| w.exposed() > Nanos::ZERO),
        number,
        note,
        pace: if sets_pace {
            "sets the pace".into()
        } else {
            String::new()
        },
        at: if group.kind == ReplicaKind::Boosted {
            format!(", at {clock}")
        } else {
            String::new()
        },
    })
}

fn under(place: &str, world: Option<&World>) -> String {
    world.map_or_else(
        || place.to_owned(),
        |world| format!("{place}, {}", world.strategy.id()),
    )
}

fn sequences(count: u32) -> String {
    if count == 1 {
        "1 sequence".into()
    } else {
        format!("{count} sequences")
    }
}

/// Three decimals, never up to 1.000 when something was lost.
fn three(value: f64) -> String {
    format!(
        "{:.3}",
        if value < 1.0 {
            (value * 1000.0).floor() / 1000.0
        } else {
            value
        }
    )
}

/// Everything about a span, line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tip {
    /// What it is.
    pub title: String,
    /// Where it belongs.
    pub place: String,
    /// Name and value of each fact.
    pub facts: Vec<(&'static str, String)>,
    /// Spans that it waits for and that wait for it: relation, words, where.
    pub links: Vec<(&'static str, String, Spot)>,
}

/// What is known about a span.
pub fn tip(view: &StepView, spot: Spot) -> Option<Tip> {
    let group = view.groups.get(spot.group)?;
    let timeline = view.timeline(group);
    let span = timeline.spans.get(spot.span)?;
    let lane = timeline.lane_of(spot.span)?;
    let mut place = String::new();
    describe(&mut place, timeline, lane, span);
    let mut facts = vec![
        ("takes", duration(span.duration())),
        ("from", precise(span.start)),
        ("to", precise(span.end)),
    ];
    let detail = timeline.detail(lane, span);
    if let Some(bytes) = detail.bytes {
        facts.push(("moves", bytes_text(bytes.get())));
        if let Some(rate) = detail.bandwidth(span) {
            facts.push(("at", format!("{} GB/s per GPU", whole(rate.get() / 1e9))));
        }
    }
    if let Some(flops) = detail.flops {
        facts.push((
            "computes",
            format!("{} TFLOP", thousands(flops.get() / 1e12)),
        ));
        if let Some(rate) = timeline.rate(lane, span) {
            facts.push(("at", format!("{} TFLOP/s", whole(rate / 1e12))));
        }
    }
    Some(Tip {
        title: format!(
            "{}, {} {}",
            span.kind.name(),
            group.kind.name().to_lowercase(),
            lane.stream.name()
        ),
        place,
        facts,
        links: links(timeline, spot),
    })
}

fn precise(time: Nanos) -> String {
    format!(
        "{} ms",
        super::axis::label(time.0 as f64, if time.0 < 10_000_000 { 6 } else { 3 })
    )
}

fn bytes_text(bytes: f64) -> String {
    if bytes >= 1e9 {
        format!("{:.2} GB", bytes / 1e9)
    } else {
        format!("{:.2} MB", bytes / 1e6)
    }
}

fn links(timeline: &Timeline, spot: Spot) -> Vec<(&'static str, String, Spot)> {
    let mut found = Vec::new();
    let words = |index: usize| {
        let span = timeline.spans.get(index)?;
        let mut text = span.kind.name().to_owned();
        if let Some(bucket) = span.bucket() {
            text.push_str(&format!(" {}", bucket + 1));
        } else if let Some(layer) = span.layer() {
            text.push_str(&format!(" layer {}", layer + 1));
        }
        Some(text)
    };
    let mut push = |relation, index: usize| {
        if let Some(text) = words(index) {
            found.push((
                relation,
                text,
                Spot {
                    span: index,
                    ..spot
                },
            ));
        }
    };
    if let Some(lane) = timeline.lane_of(spot.span)
        && spot.span > lane.spans.start
    {
        push("follows", spot.span - 1);
    }
    for flow in timeline
        .flows
        .iter()
        .filter(|flow| flow.to == spot.span)
        .take(3)
    {
        push("waits for", flow.from);
    }
    for flow in timeline
        .flows
        .iter()
        .filter(|flow| flow.from == spot.span)
        .take(3)
    {
        push("lets start", flow.to);
    }
    found
}

/// Busy time by kind in a range, for each group: only kinds that occur.
pub fn sums(view: &StepView, start: f64, end: f64) -> Vec<(String, Vec<(Kind, Nanos)>)> {
    let (from, to) = (Nanos(start.max(0.0) as u64), Nanos(end.max(0.0) as u64));
    view.groups
        .iter()
        .map(|group| {
            let totals = view.timeline(group).totals(group.replica, from, to);
            let kinds = Kind::ALL
                .into_iter()
                .zip(totals)
                .filter(|(_, total)| total.0 > 0)
                .collect();
            (group.kind.name().to_owned(), kinds)
        })
        .collect()
}
