//! Words for spans and tracks, shared by the page, its table and the trace.

use super::compare::{Group, StepView};
use super::result::{Lane, Span, Timeline};
use super::spec::ReplicaKind;
use super::{Kind, Stream};
use crate::core::units::Nanos;
use std::fmt::Write as _;

/// A duration with a unit that keeps it readable: "812 ns", "12.5 µs", "1.7 ms", "2.21 s".
pub fn duration(time: Nanos) -> String {
    match time.0 {
        0..1_000 => format!("{} ns", time.0),
        1_000..1_000_000 => format!("{:.1} µs", time.0 as f64 / 1e3),
        1_000_000..10_000_000_000 => format!("{} ms", thousands(time.0 as f64 / 1e6)),
        _ => format!("{:.2} s", time.0 as f64 / 1e9),
    }
}

/// One decimal, commas between thousands.
pub fn thousands(value: f64) -> String {
    let tenths = (value.abs() * 10.0).round() as u64;
    let (whole, rest) = (tenths / 10, tenths % 10);
    let digits = whole.to_string();
    let mut text = String::with_capacity(digits.len() + 6);
    if value < 0.0 && tenths > 0 {
        text.push('-');
    }
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    let _ = write!(text, ".{rest}");
    text
}

/// Where a span belongs: "micro-batch 8 of 8, layer 126 of 126", "bucket 3 of 10".
pub fn describe(text: &mut String, timeline: &Timeline, lane: &Lane, span: &Span) {
    let replica = timeline.spec.replicas.get(lane.replica);
    match span.kind {
        Kind::Optimizer => text.push_str("all layers of the stage"),
        Kind::Host => text.push_str("data, logging, launch"),
        Kind::PreSync | Kind::PostSync | Kind::DpSync | Kind::ParamGather => {
            let bucket = span.bucket().map_or(0, |bucket| bucket + 1);
            let _ = write!(
                text,
                "bucket {bucket} of {}",
                timeline.spec.buckets(lane.stage)
            );
        }
        _ => {
            let of = replica.map_or(0, |replica| replica.microbatches);
            let _ = write!(text, "micro-batch {} of {of}", span.microbatch + 1);
            if timeline.spec.chunks > 1 {
                let _ = write!(text, ", chunk {}", span.chunk + 1);
            }
            if let Some(layer) = span.layer() {
                let _ = write!(text, ", layer {}", layer + 1);
            }
        }
    }
}

/// Replica and GPU: "R1 D2 GPU 12".
pub fn gpu_name(timeline: &Timeline, replica: usize) -> String {
    let Some(spec) = timeline.spec.replicas.get(replica) else {
        return String::new();
    };
    let (domain, gpu) = spec
        .stages
        .get(timeline.spec.shown_stage as usize)
        .map_or((0, 0), |stage| stage.gpu);
    format!("R{} D{domain} GPU {gpu}", spec.index)
}

/// Name of the GPU's process in a trace: "Reduced R0 D0 GPU 0, TP 70 (ntp)".
pub fn gpu_title(view: &StepView, group: &Group) -> String {
    let timeline = view.timeline(group);
    let degree = timeline
        .spec
        .replicas
        .get(group.replica)
        .and_then(|replica| replica.stages.get(timeline.spec.shown_stage as usize))
        .map_or(0, |stage| stage.degree);
    let name = gpu_name(timeline, group.replica);
    format!(
        "{} {name}, TP {degree}{}",
        group.kind.name(),
        strategy(view, group)
    )
}

/// Name of the pipeline's process in a trace.
pub fn pipeline_title(view: &StepView, group: &Group) -> String {
    let index = view
        .timeline(group)
        .spec
        .replicas
        .get(group.replica)
        .map_or(0, |replica| replica.index);
    format!(
        "{} R{index} pipeline{}",
        group.kind.name(),
        strategy(view, group)
    )
}

fn strategy(view: &StepView, group: &Group) -> String {
    view.worlds
        .get(group.world)
        .map_or_else(String::new, |world| format!(" ({})", world.strategy.id()))
}

/// One sentence about a span, for a screen reader and the line of details.
pub fn sentence(timeline: &Timeline, lane: &Lane, span: &Span) -> String {
    let mut text = format!("{}, ", span.kind.name());
    describe(&mut text, timeline, lane, span);
    let _ = write!(
        text,
        ", {} long, starts at {}",
        duration(span.duration()),
        duration(span.start)
    );
    let detail = timeline.detail(lane, span);
    if let Some(bytes) = detail.bytes {
        let _ = write!(text, ", {:.3} GB", bytes.get() / 1e9);
        if let Some(bandwidth) = detail.bandwidth(span) {
            let _ = write!(text, " at {:.0} GB/s", bandwidth.get() / 1e9);
        }
    }
    if let Some(flops) = detail.flops {
        let _ = write!(text, ", {:.2} TFLOP", flops.get() / 1e12);
        if let Some(rate) = timeline.rate(lane, span) {
            let _ = write!(text, " at {:.0} TFLOP/s", rate / 1e12);
        }
    }
    text
}

/// Why a lane is empty, where that says something.
pub fn empty_lane(kind: ReplicaKind, stream: Stream) -> Option<&'static str> {
    match (kind, stream) {
        (ReplicaKind::Reduced | ReplicaKind::Boosted, Stream::Reshard) => {
            Some("nothing to reshard: each rank already holds its own shards")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_a_readable_unit() {
        assert_eq!(duration(Nanos(812)), "812 ns");
        assert_eq!(duration(Nanos(12_500)), "12.5 µs");
        assert_eq!(duration(Nanos(1_700_000)), "1.7 ms");
        assert_eq!(duration(Nanos(2_213_700_000)), "2,213.7 ms");
        assert_eq!(duration(Nanos(12_213_700_000)), "12.21 s");
        assert_eq!(thousands(-1_234_567.84), "-1,234,567.8");
        assert_eq!(thousands(-0.01), "0.0");
    }
}
