//! The step as a Chrome trace: JSON that chrome://tracing, Perfetto and speedscope open.
//!
//! Times are microseconds in eighths, which is three decimals and exact in binary: viewers add `ts` and `dur` as floating
//! point, and a sum that is off by one bit makes neighbours overlap. A duration is the difference of the two rounded ends.
//! One process per GPU shown and one per replica's pipeline; one thread per stream, so that its slices never overlap.
//! Spans shorter than an eighth are left out, with the arrows that would hang on them. Micro-batches, layers and
//! buckets count from 1 in arguments, as on the page.

use super::compare::StepView;
use super::result::{Lane, Span, Timeline};
use super::text::{describe, gpu_title, pipeline_title};
use super::{Group, Kind, Stream};
use crate::core::hardware::Gpu;
use crate::core::order;
use crate::core::units::Nanos;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Bytes gathered before they are handed on.
const CHUNK: usize = 1 << 16;

/// Writes a trace. Memory stays bounded: events are handed on as they are made.
pub fn write(view: &StepView, gpu: &Gpu, out: impl Write) -> io::Result<()> {
    let mut trace = Trace {
        out,
        text: String::with_capacity(CHUNK + 4096),
        first: true,
        arrows: 0,
    };
    trace
        .text
        .push_str("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    let mut pid = 0;
    for group in &view.groups {
        pid += 2;
        trace.names(view, group, pid)?;
    }
    pid = 0;
    for group in &view.groups {
        pid += 2;
        trace.group(view, group, pid, gpu)?;
    }
    trace.text.push_str("\n]}\n");
    trace.flush()
}

/// The trace as one string, for the page.
pub fn to_string(view: &StepView, gpu: &Gpu) -> String {
    let mut bytes = Vec::new();
    // A vector takes every write.
    let _ = write(view, gpu, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Thread of a stream inside its GPU's process.
const fn tid(stream: Stream) -> u32 {
    stream as u32 + 1
}

/// Thread of a pipeline lane: stages in order, each stage's DP sync after its blocks.
fn pipeline_tid(lane: &Lane) -> u32 {
    2 * lane.stage + 1 + u32::from(lane.stream == Stream::ScaleOut)
}

struct Trace<W> {
    out: W,
    text: String,
    first: bool,
    arrows: u64,
}

/// A time in eighths of a microsecond, the unit of a trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Eighths(u64);

impl Eighths {
    /// The nearest eighth.
    fn round(time: Nanos) -> Self {
        Self(time.0.saturating_add(62) / 125)
    }

    /// Appends microseconds with as few decimals as it takes, at most three.
    fn write(self, text: &mut String) {
        const DECIMALS: [&str; 8] = ["", ".125", ".25", ".375", ".5", ".625", ".75", ".875"];
        let _ = write!(text, "{}", self.0 / 8);
        text.push_str(
            DECIMALS
                .get((self.0 % 8) as usize)
                .copied()
                .unwrap_or_default(),
        );
    }
}

impl<W: Write> Trace<W> {
    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        self.out.flush()
    }

    fn open(&mut self, phase: char, pid: u32, tid: u32) -> io::Result<()> {
        if self.text.len() >= CHUNK {
            self.out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        self.text.push_str(if self.first { "{" } else { ",\n{" });
        self.first = false;
        let _ = write!(self.text, "\"ph\":\"{phase}\",\"pid\":{pid},\"tid\":{tid}");
        Ok(())
    }

    fn meta(&mut self, pid: u32, tid: u32, what: &str, name: &str, order: u32) -> io::Result<()> {
        self.open('M', pid, tid)?;
        let quoted = serde_json::to_string(name).unwrap_or_default();
        let _ = write!(
            self.text,
            ",\"ts\":0,\"name\":\"{what}_name\",\"args\":{{\"name\":{quoted}}}}}"
        );
        self.open('M', pid, tid)?;
        let _ = write!(
            self.text,
            ",\"ts\":0,\"name\":\"{what}_sort_index\",\"args\":{{\"sort_index\":{order}}}}}"
        );
        Ok(())
    }

    /// Names and order of a group's processes and threads: its GPU at `pid - 1`, its pipeline at `pid`.
    fn names(&mut self, view: &StepView, group: &Group, pid: u32) -> io::Result<()> {
        let timeline = view.timeline(group);
        self.meta(pid - 1, 1, "process", &gpu_title(view, group), pid - 1)?;
        for lane in timeline
            .streams
            .iter()
            .filter(|lane| lane.replica == group.replica)
        {
            self.meta(
                pid - 1,
                tid(lane.stream),
                "thread",
                lane.stream.name(),
                tid(lane.stream),
            )?;
        }
        self.meta(pid, 1, "process", &pipeline_title(view, group), pid)?;
        for lane in timeline
            .pipeline
            .iter()
            .filter(|lane| lane.replica == group.replica)
        {
            let what = if lane.stream == Stream::ScaleOut {
                " DP sync"
            } else {
                ""
            };
            let name = format!("stage {}{what}", lane.stage);
            self.meta(pid, pipeline_tid(lane), "thread", &name, pipeline_tid(lane))?;
        }
        Ok(())
    }

    fn group(&mut self, view: &StepView, group: &Group, pid: u32, gpu: &Gpu) -> io::Result<()> {
        let timeline = view.timeline(group);
        for lane in timeline
            .streams
            .iter()
            .filter(|lane| lane.replica == group.replica)
        {
            self.lane(timeline, lane, pid - 1, tid(lane.stream))?;
        }
        for lane in timeline
            .pipeline
            .iter()
            .filter(|lane| lane.replica == group.replica)
        {
            self.lane(timeline, lane, pid, pipeline_tid(lane))?;
        }
        self.flows(timeline, group.replica, pid - 1)?;
        self.counters(timeline, group.replica, pid - 1, gpu)
    }

    fn lane(&mut self, timeline: &Timeline, lane: &Lane, pid: u32, tid: u32) -> io::Result<()> {
        for span in timeline.lane(lane) {
            let (start, end) = (Eighths::round(span.start), Eighths::round(span.end));
            if end <= start {
                continue;
            }
            self.open('X', pid, tid)?;
            self.text.push_str(",\"ts\":");
            start.write(&mut self.text);
            self.text.push_str(",\"dur\":");
            Eighths(end.0 - start.0).write(&mut self.text);
            let _ = write!(
                self.text,
                ",\"name\":\"{}\",\"cat\":\"{}\",\"args\":{{\"detail\":\"",
                span.kind.name(),
                category(span.kind)
            );
            // Made of our own words and numbers: nothing in it needs escaping.
            describe(&mut self.text, timeline, lane, span);
            self.text.push('"');
            self.args(timeline, lane, span);
            self.text.push_str("}}");
        }
        Ok(())
    }

    fn args(&mut self, timeline: &Timeline, lane: &Lane, span: &Span) {
        if matches!(
            span.kind,
            Kind::Forward
                | Kind::Backward
                | Kind::Recompute
                | Kind::TpComm
                | Kind::CpComm
                | Kind::PpSend
        ) {
            let _ = write!(self.text, ",\"microbatch\":{}", span.microbatch + 1);
            if timeline.spec.chunks > 1 {
                let _ = write!(self.text, ",\"chunk\":{}", span.chunk + 1);
            }
        }
        if let Some(layer) = span.layer() {
            let _ = write!(self.text, ",\"layer\":{}", layer + 1);
        }
        if let Some(bucket) = span.bucket() {
            let _ = write!(self.text, ",\"bucket\":{}", bucket + 1);
        }
        let detail = timeline.detail(lane, span);
        if let Some(bytes) = detail.bytes {
            let _ = write!(self.text, ",\"bytes\":{:.0}", bytes.get());
        }
        if let Some(flops) = detail.flops {
            let _ = write!(self.text, ",\"tflop\":{:.3}", flops.get() / 1e12);
        }
    }

    fn flows(&mut self, timeline: &Timeline, replica: usize, pid: u32) -> io::Result<()> {
        let lanes: Vec<&Lane> = timeline
            .streams
            .iter()
            .filter(|lane| lane.replica == replica)
            .collect();
        let place = |span: usize| {
            lanes
                .iter()
                .find(|lane| lane.spans.contains(&span))
                .map(|lane| tid(lane.stream))
        };
        for flow in &timeline.flows {
            let (Some(from), Some(to)) =
                (timeline.spans.get(flow.from), timeline.spans.get(flow.to))
            else {
                continue;
            };
            let (Some(from_tid), Some(to_tid)) = (place(flow.from), place(flow.to)) else {
                continue;
            };
            let (from_start, from_end) = (Eighths::round(from.start), Eighths::round(from.end));
            let (to_start, to_end) = (Eighths::round(to.start), Eighths::round(to.end));
            if from_end <= from_start || to_end <= to_start {
                continue;
            }
            self.arrows += 1;
            let (id, name) = (self.arrows, flow.kind.name());
            // Inside the slice: at its very end a viewer would take the next one.
            let leaves = Eighths(from_end.0 - 1);
            for (phase, tid, time, extra) in [
                ('s', from_tid, leaves, ""),
                ('f', to_tid, to_start, ",\"bp\":\"e\""),
            ] {
                self.open(phase, pid, tid)?;
                self.text.push_str(",\"ts\":");
                time.write(&mut self.text);
                let _ = write!(
                    self.text,
                    ",\"id\":{id},\"cat\":\"gradients\",\"name\":\"{name}\"{extra}}}"
                );
            }
        }
        Ok(())
    }

    /// Power, clock and link use of the shown GPU, one value per stretch between two block ends.
    ///
    /// Link use is the mean over the stretch. Power is the limit in force (TDP times the boost) over the share of the
    /// stretch in which any stream is busy: an upper bound, idle draw not counted.
    fn counters(
        &mut self,
        timeline: &Timeline,
        replica: usize,
        pid: u32,
        gpu: &Gpu,
    ) -> io::Result<()> {
        let Some(spec) = timeline.spec.replicas.get(replica) else {
            return Ok(());
        };
        let Some(stage) = spec.stages.get(timeline.spec.shown_stage as usize) else {
            return Ok(());
        };
        let shown =
            |lane: &&Lane| lane.replica == replica && lane.stage == timeline.spec.shown_stage;
        let mut times: Vec<Nanos> = vec![Nanos::ZERO, timeline.step];
        for lane in timeline.pipeline.iter().filter(shown) {
            times.extend(
                timeline
                    .lane(lane)
                    .iter()
                    .flat_map(|span| [span.start, span.end]),
            );
        }
        order::sort(&mut times);
        times.dedup();
        let busy = |streams: &[Stream]| {
            let spans: Vec<&[Span]> = streams
                .iter()
                .filter_map(|s| timeline.stream(replica, *s))
                .map(|l| timeline.lane(l))
                .collect();
            busy_shares(&times, &spans)
        };
        let nvlink = busy(&[Stream::NvLink, Stream::Reshard]);
        let scaleout = busy(&[Stream::ScaleOut]);
        let any = busy(&Stream::ALL);
        let limit = spec.boost_p.max(1.0) * gpu.tdp_w;
        for (index, time) in times.iter().enumerate() {
            let at = |shares: &[f64]| shares.get(index).copied().unwrap_or(0.0);
            self.counter(pid, *time, "power", "W", limit * at(&any))?;
            self.counter(pid, *time, "NVLink use", "percent", 100.0 * at(&nvlink))?;
            self.counter(
                pid,
                *time,
                "scale-out use",
                "percent",
                100.0 * at(&scaleout),
            )?;
        }
        let (unit, clock) = gpu
            .clock(stage.perf)
            .map_or(("x base", stage.perf), |mhz| ("MHz", mhz.get()));
        self.counter(pid, Nanos::ZERO, "clock", unit, clock)?;
        self.counter(pid, timeline.step, "clock", unit, clock)
    }

    fn counter(
        &mut self,
        pid: u32,
        time: Nanos,
        name: &str,
        unit: &str,
        value: f64,
    ) -> io::Result<()> {
        self.open('C', pid, 1)?;
        self.text.push_str(",\"ts\":");
        Eighths::round(time).write(&mut self.text);
        let _ = write!(
            self.text,
            ",\"name\":\"{name}\",\"args\":{{\"{unit}\":{value:.3}}}}}"
        );
        Ok(())
    }
}

/// Share of each stretch between consecutive times in which any of the lanes is busy; spans of a lane are in order.
fn busy_shares(times: &[Nanos], lanes: &[&[Span]]) -> Vec<f64> {
    let mut all: Vec<(Nanos, Nanos)> = lanes
        .iter()
        .flat_map(|lane| lane.iter().map(|span| (span.start, span.end)))
        .collect();
    order::sort(&mut all);
    let mut busy = vec![0_u64; times.len()];
    let mut until = Nanos::ZERO;
    let mut slot = 0;
    for (start, end) in all {
        let mut from = start.max(until);
        until = until.max(end);
        while from < end {
            while times.get(slot + 1).is_some_and(|next| *next <= from) {
                slot += 1;
            }
            let Some(next) = times.get(slot + 1) else {
                break;
            };
            let to = end.min(*next);
            if let Some(sum) = busy.get_mut(slot) {
                *sum += to.saturating_sub(from).0;
            }
            from = to;
        }
    }
    let widths = times.windows(2).map(|pair| match pair {
        [a, b] => b.saturating_sub(*a).0,
        _ => 0,
    });
    busy.iter()
        .zip(widths.chain([0]))
        .map(|(busy, width)| {
            if width > 0 {
                *busy as f64 / width as f64
            } else {
                0.0
            }
        })
        .collect()
}

const fn category(kind: Kind) -> &'static str {
    match kind {
        Kind::Forward | Kind::Backward | Kind::Recompute | Kind::Optimizer => "compute",
        Kind::TpComm | Kind::CpComm => "nvlink",
        Kind::PreSync | Kind::PostSync => "reshard",
        Kind::DpSync | Kind::ParamGather => "scale-out",
        Kind::PpSend => "pipeline",
        Kind::Host => "host",
    }
}

#[cfg(test)]
mod tests;
