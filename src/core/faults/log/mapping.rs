//! From a log's own nodes to the domains of a cluster.
//!
//! Nodes fill domains in order of appearance, a tray's worth of GPUs each. What lies beyond the job's domains (or its spare
//! ones, for a log that names domains) is counted, not lost without a word: [`MapReport::domains_needed`] says how large a
//! cluster would hold it all.

use super::super::draw::Stream;
use super::super::spec::Faults;
use super::super::trace::{FaultEvent, Limit, Site, Trace, TraceCause};
use super::{End, FailureLog, Outage, Place, WHOLE};
use crate::core::order;
use crate::core::scenario::FailureKind;
use crate::core::units::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a log met a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MapReport {
    /// Distinct nodes or domains of the log with a failure.
    pub nodes: u32,
    /// Failures on the cluster.
    pub used_failures: u64,
    /// Failures of nodes, domains or GPUs that the cluster does not have.
    pub unknown_failures: u64,
    /// Failures while the same unit was out already; their outages are merged.
    pub merged_failures: u64,
    /// Durations that the log does not give, drawn from the scenario.
    pub drawn_durations: u64,
    /// Outages not over when the log ends; they run to the end.
    pub unfinished: u64,
    /// Slow GPUs, taken as out of service.
    pub slow_as_failed: u64,
    /// Domains that would hold every node of the log.
    pub domains_needed: u32,
    /// From the first to the last moment of the log, hours.
    pub span_h: f64,
    /// Mean units out of service over the log.
    pub mean_units_down: f64,
    /// Most units out of service at one time.
    pub max_units_down: u32,
    /// How nodes became domains: (first node, last node, domain, first GPU) of the first domains, for people to check.
    pub placement: Vec<NodePlace>,
}

/// Where one node of the log went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePlace {
    /// Node, by order of appearance.
    pub node: u32,
    /// Its domain.
    pub domain: u32,
    /// Its first GPU there.
    pub first_gpu: u32,
}

/// A log on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapped {
    /// Its failures, as a wall-clock trace.
    pub trace: Trace,
    /// How it met the cluster.
    pub report: MapReport,
}

/// Most entries of [`MapReport::placement`].
const SHOWN_PLACES: u32 = 64;

impl FailureLog {
    /// Places the log on a cluster. `faults` gives detection times and the repair times that the log leaves out, drawn
    /// from `seed`; `days` ends the trace early where given.
    pub fn map(&self, site: &Site, faults: &Faults, seed: u64, days: Option<f64>) -> Mapped {
        let origin = self.origin();
        let end = self.last.saturating_sub(origin).max(0) as u64;
        let horizon = days.map_or(Nanos(end), |days| Nanos::from_hours(days * 24.0));
        let causes = Causes::new(self, faults);
        let mut report = MapReport {
            nodes: self.nodes,
            used_failures: 0,
            unknown_failures: 0,
            merged_failures: 0,
            drawn_durations: 0,
            unfinished: 0,
            slow_as_failed: 0,
            domains_needed: 0,
            span_h: Nanos(end).hours(),
            mean_units_down: 0.0,
            max_units_down: 0,
            placement: Vec::new(),
        };
        let mut stream = Stream::new(seed, u64::from(u32::MAX) << 32);
        let mut outages = self.outages.clone();
        order::sort_by_key(&mut outages, |outage| outage.start);
        let mut merged: BTreeMap<Place, Open> = BTreeMap::new();
        let mut events: Vec<FaultEvent> = Vec::new();
        let mut spans: Vec<(u64, u64)> = Vec::new();
        for outage in &outages {
            let start = outage.start.saturating_sub(origin).max(0) as u64;
            let cause = causes.of(outage);
            let detect = causes.detect(cause);
            let repair = match outage.end {
                End::Restart => Nanos::ZERO,
                End::At(end) => {
                    Nanos((end.saturating_sub(outage.start).max(0) as u64).saturating_sub(detect.0))
                }
                End::Open => {
                    report.unfinished += 1;
                    Nanos(end.saturating_sub(start).saturating_sub(detect.0))
                }
                End::Drawn => {
                    report.drawn_durations += 1;
                    draw_repair(faults, outage.kind, &mut stream)
                }
            };
            report.slow_as_failed += u64::from(outage.kind == FailureKind::Slow);
            let out = Nanos(start) + detect + repair;
            let open = merged.get_mut(&outage.place).filter(|open| {
                start <= open.until && outage.end != End::Restart && !outage.separate
            });
            if let Some(open) = open {
                report.merged_failures += 1;
                open.until = open.until.max(out.0);
                if let Some(span) = spans.get_mut(open.span) {
                    span.1 = open.until;
                }
                for event in events.get_mut(open.events.clone()).into_iter().flatten() {
                    let detect = causes.detect(event.cause);
                    event.repair = Nanos(open.until)
                        .saturating_sub(event.time + detect)
                        .max(event.repair);
                }
                continue;
            }
            let before = events.len();
            place(
                outage,
                site,
                Nanos(start),
                cause,
                repair,
                &mut report,
                &mut events,
            );
            if outage.end != End::Restart {
                merged.insert(
                    outage.place,
                    Open {
                        span: spans.len(),
                        until: out.0,
                        events: before..events.len(),
                    },
                );
                spans.push((start, out.0));
            }
            if events.len() > before || outage.place == Place::Job {
                report.used_failures += 1;
            } else {
                report.unknown_failures += 1;
            }
        }
        (report.mean_units_down, report.max_units_down) = units_down(&spans, end);
        report.placement = self.places(site);
        order::sort(&mut events);
        let whole = self.report.limit.is_none();
        let limit = (!whole).then_some(Limit {
            events: events.len() as u64,
            at: horizon,
        });
        let trace = Trace {
            events,
            initial: Vec::new(),
            causes: causes.list.into(),
            while_running: false,
            horizon,
            limit,
        };
        Mapped { trace, report }
    }

    /// Time zero: the first moment of the log, except where it has a clock of its own that starts at zero.
    fn origin(&self) -> i64 {
        match self.report.format {
            super::Format::Kernel => self.first,
            _ => 0,
        }
    }

    fn places(&self, site: &Site) -> Vec<NodePlace> {
        let nodes = self.nodes.min(SHOWN_PLACES);
        let places = (0..nodes).map(|node| {
            let linear = u64::from(node) * u64::from(site.tray_gpus);
            let size = u64::from(site.domain_size.max(1));
            NodePlace {
                node,
                domain: (linear / size) as u32,
                first_gpu: (linear % size) as u32,
            }
        });
        if self
            .outages
            .iter()
            .any(|outage| matches!(outage.place, Place::Node { .. }))
        {
            places.collect()
        } else {
            Vec::new()
        }
    }
}

/// The last outage of a place.
struct Open {
    span: usize,
    until: u64,
    /// Its events.
    events: std::ops::Range<usize>,
}

/// Turns an outage into events; adds nothing when the cluster does not have the place.
fn place(
    outage: &Outage,
    site: &Site,
    time: Nanos,
    cause: u16,
    repair: Nanos,
    report: &mut MapReport,
    events: &mut Vec<FaultEvent>,
) {
    let blast = if outage.kind == FailureKind::Hardware {
        site.blast_radius
    } else {
        1
    };
    let size = site.domain_size.max(1);
    match outage.place {
        Place::Job => events.push(FaultEvent {
            time,
            domain: FaultEvent::JOB,
            first: 0,
            gpus: 0,
            cause,
            repair,
        }),
        Place::Domain {
            domain,
            first,
            gpus,
        } => {
            report.domains_needed = report.domains_needed.max(domain.saturating_add(1));
            let (first, gpus) = if gpus == WHOLE {
                (0, size)
            } else {
                (u32::from(first), u32::from(gpus))
            };
            if domain < site.domains.saturating_add(site.spare_domains) && first < size {
                let (first, gpus) = site.widen(first, gpus, blast);
                events.push(FaultEvent {
                    time,
                    domain,
                    first,
                    gpus,
                    cause,
                    repair,
                });
            }
        }
        Place::Node { node, gpu } => {
            let tray = u64::from(site.tray_gpus.max(1));
            let (start, count) = match gpu {
                WHOLE => (u64::from(node) * tray, tray),
                gpu if u64::from(gpu) < tray => (u64::from(node) * tray + u64::from(gpu), 1),
                _ => return,
            };
            let end = start + count;
            report.domains_needed = report
                .domains_needed
                .max(end.div_ceil(u64::from(size)) as u32);
            // A server larger than a domain spans several.
            let mut at = start;
            while at < end {
                let (domain, first) =
                    ((at / u64::from(size)) as u32, (at % u64::from(size)) as u32);
                let here = (end - at).min(u64::from(size - first));
                if domain < site.domains {
                    let (first, gpus) = site.widen(first, here as u32, blast);
                    events.push(FaultEvent {
                        time,
                        domain,
                        first,
                        gpus,
                        cause,
                        repair,
                    });
                }
                at += here;
            }
        }
    }
}

/// Mean and most units down over `end` nanoseconds.
fn units_down(spans: &[(u64, u64)], end: u64) -> (f64, u32) {
    let mut steps: Vec<(u64, i32)> = spans
        .iter()
        .flat_map(|(start, out)| [(*start, 1), ((*out).min(end), -1)])
        .collect();
    order::sort(&mut steps);
    let (mut down, mut most) = (0i32, 0i32);
    for (_, change) in &steps {
        down += change;
        most = most.max(down);
    }
    let total: f64 = spans
        .iter()
        .map(|(start, out)| (*out).min(end).saturating_sub(*start) as f64)
        .sum();
    (
        if end > 0 { total / end as f64 } else { 0.0 },
        most.max(0) as u32,
    )
}

/// The trace's causes: the log's names, each with the detection time of the scenario.
struct Causes {
    list: Vec<TraceCause>,
    /// Number of names in the log; entry `name + names` is the same cause without hardware being lost.
    names: u16,
}

impl Causes {
    fn new(log: &FailureLog, faults: &Faults) -> Self {
        let mean = |kind: FailureKind| {
            let of_kind = faults
                .causes
                .iter()
                .filter(|cause| cause.kind == kind && cause.takes_out);
            let (sum, weight) = of_kind.fold((0.0, 0.0), |(sum, weight), cause| {
                (
                    sum + cause.detect_min * cause.unit_rate_per_h(),
                    weight + cause.unit_rate_per_h(),
                )
            });
            if weight > 0.0 { sum / weight } else { 3.0 }
        };
        let (hardware, software) = (mean(FailureKind::Hardware), mean(FailureKind::Software));
        let mut kinds = vec![FailureKind::Hardware; log.causes.len()];
        for outage in &log.outages {
            if let Some(kind) = kinds.get_mut(usize::from(outage.cause)) {
                *kind = outage.kind;
            }
        }
        let entry = |takes_out: bool| {
            let kinds = kinds.iter().copied();
            log.causes.iter().zip(kinds).map(move |(name, kind)| {
                let known = faults.causes.iter().find(|cause| cause.name == *name);
                let otherwise = if kind == FailureKind::Software {
                    software
                } else {
                    hardware
                };
                let detect_min = known.map_or(otherwise, |cause| cause.detect_min);
                TraceCause {
                    name: name.clone(),
                    detect: Nanos::from_hours(detect_min / 60.0),
                    takes_out,
                    kind,
                }
            })
        };
        Self {
            list: entry(true).chain(entry(false)).collect(),
            names: log.causes.len() as u16,
        }
    }
    fn of(&self, outage: &Outage) -> u16 {
        if outage.end == End::Restart {
            outage.cause.saturating_add(self.names)
        } else {
            outage.cause
        }
    }
    fn detect(&self, cause: u16) -> Nanos {
        self.list
            .get(usize::from(cause))
            .map_or(Nanos::ZERO, |cause| cause.detect)
    }
}

/// A repair time of the scenario: of one of its causes of that kind, by rate; five days or three hours without any.
fn draw_repair(faults: &Faults, kind: FailureKind, stream: &mut Stream) -> Nanos {
    let software = kind == FailureKind::Software;
    let fits = |cause: &&super::super::Cause| {
        cause.takes_out && (cause.kind == FailureKind::Software) == software
    };
    let total: f64 = faults
        .causes
        .iter()
        .filter(fits)
        .map(super::super::Cause::unit_rate_per_h)
        .sum();
    let mut left = stream.unit() * total;
    let picked = faults.causes.iter().filter(fits).find(|cause| {
        left -= cause.unit_rate_per_h();
        left <= 0.0
    });
    match picked.or_else(|| faults.causes.iter().rfind(fits)) {
        Some(cause) => Nanos::from_hours(cause.repair.draw_h(stream)),
        None => Nanos::from_hours(if software { 3.0 } else { 120.0 }),
    }
}
