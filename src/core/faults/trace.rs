//! A trace: one sequence of failures, drawn once (or read from a log) and shared by all strategies.
//!
//! Each cause runs on its own random streams, one over the job's domains and one for every block of eight spare domains,
//! so that adding a spare or editing one cause leaves all other failures where they were. Failures are drawn from the
//! summed rate of a whole segment: the work grows with the number of failures, not with the number of GPUs.

mod weibull;

use super::draw::{LifeLaw, Stream};
use super::spec::{Cause, Faults, Life, Scope, Start};
use crate::core::scenario::{FailureKind, Job};
use crate::core::units::Nanos;
use std::sync::Arc;

/// Most failures in one trace; beyond it the trace ends early and says so in [`Trace::limit`].
pub const MAX_EVENTS: usize = 1_000_000;

/// Spare domains per random stream.
const SPARE_BLOCK: u32 = 8;

/// Where failures can strike: the job's domains first, spare domains after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Domains of the job.
    pub domains: u32,
    /// Spare domains of the strategy that has most.
    pub spare_domains: u32,
    /// GPUs per domain.
    pub domain_size: u32,
    /// GPUs per serviced tray.
    pub tray_gpus: u32,
    /// Aligned GPUs that go down with one hardware failure.
    pub blast_radius: u32,
}

impl Site {
    /// The site of a job.
    pub fn of(job: &Job) -> Self {
        Self {
            domains: job.placement.domains,
            spare_domains: job.placement.spare_domains,
            domain_size: job.placement.domain_size,
            tray_gpus: job.system.tray_gpus,
            blast_radius: job.scenario.policy.blast_radius,
        }
    }
    /// GPUs of the job's domains.
    pub fn job_gpus(&self) -> u64 {
        u64::from(self.domains) * u64::from(self.domain_size)
    }
    /// Units of a scope in one domain (none for the job itself).
    fn units_per_domain(&self, scope: Scope) -> u32 {
        match scope {
            Scope::Gpu => self.domain_size,
            Scope::Node | Scope::Tray => self.domain_size.div_ceil(self.tray_gpus.max(1)),
            Scope::Domain => 1,
            Scope::Job => 0,
        }
    }
    /// First GPU and number of GPUs that go down with a unit.
    fn struck(&self, scope: Scope, kind: FailureKind, unit: u32) -> (u16, u16) {
        let (first, count) = match scope {
            Scope::Gpu => (unit, 1),
            Scope::Node | Scope::Tray => (unit * self.tray_gpus, self.tray_gpus),
            Scope::Domain | Scope::Job => (0, self.domain_size),
        };
        self.widen(
            first,
            count,
            if kind == FailureKind::Hardware {
                self.blast_radius
            } else {
                1
            },
        )
    }
    /// Widens a run of GPUs to whole aligned groups of `blast` GPUs, inside the domain.
    pub fn widen(&self, first: u32, count: u32, blast: u32) -> (u16, u16) {
        let blast = blast.max(1);
        let low = first / blast * blast;
        let high = first
            .saturating_add(count)
            .div_ceil(blast)
            .saturating_mul(blast)
            .min(self.domain_size);
        (low as u16, high.saturating_sub(low) as u16)
    }
}

/// What a trace knows about one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceCause {
    /// Name shown to people.
    pub name: String,
    /// From the failure until it is noticed.
    pub detect: Nanos,
    /// Whether the struck GPUs are out until repaired.
    pub takes_out: bool,
    /// Hardware or software.
    pub kind: FailureKind,
}

/// One failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultEvent {
    /// When, on the clock of the trace.
    pub time: Nanos,
    /// Domain, [`FaultEvent::JOB`] for a failure of the job as such.
    pub domain: u32,
    /// First GPU struck.
    pub first: u16,
    /// GPUs struck, from `first` on.
    pub gpus: u16,
    /// Index into [`Trace::causes`].
    pub cause: u16,
    /// From detection until the hardware is back.
    pub repair: Nanos,
}

impl FaultEvent {
    /// The domain of failures that strike the job as such.
    pub const JOB: u32 = u32::MAX;
}

/// A trace that had to end early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Most failures allowed.
    pub events: u64,
    /// Where the trace ends instead.
    pub at: Nanos,
}

/// One sequence of failures.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// In order of (time, domain, GPU, cause); the index is the event's sequence number.
    pub events: Vec<FaultEvent>,
    /// Outages under way at the start: `repair` counts from time zero.
    pub initial: Vec<FaultEvent>,
    /// What the events' `cause` points to.
    pub causes: Arc<[TraceCause]>,
    /// Whether the clock of the events stands still while the job does not run.
    pub while_running: bool,
    /// End of the drawn time.
    pub horizon: Nanos,
    /// Set when the number of failures passed [`MAX_EVENTS`].
    pub limit: Option<Limit>,
}

impl Trace {
    /// Draws `days` of failures. The same arguments give the same trace on every platform.
    pub fn draw(faults: &Faults, site: &Site, seed: u64, days: f64) -> Self {
        let causes = faults.causes.iter().map(|cause| TraceCause {
            name: cause.name.clone(),
            detect: Nanos::from_hours(cause.detect_min / 60.0),
            takes_out: cause.takes_out,
            kind: cause.kind,
        });
        let mut trace = Self {
            events: Vec::new(),
            initial: Vec::new(),
            causes: causes.collect(),
            while_running: faults.strike == super::Strike::WhileRunning,
            horizon: Nanos::ZERO,
            limit: None,
        };
        trace.redraw(faults, site, seed, days);
        trace
    }

    /// Draws again into the same memory, for Monte Carlo loops. `faults` must be those of [`Trace::draw`].
    pub fn redraw(&mut self, faults: &Faults, site: &Site, seed: u64, days: f64) {
        self.events.clear();
        self.initial.clear();
        self.horizon = Nanos::from_hours(days * 24.0);
        self.limit = None;
        let full_h = days.max(0.0) * 24.0;
        let mut hours = full_h;
        // Fewer hours rather than more memory: about as many as hold the largest number of events.
        while hours > 0.0 && expected_events(faults, site, hours) > 0.97 * MAX_EVENTS as f64 {
            hours *= 0.95;
        }
        if hours < full_h {
            self.limit = Some(Limit {
                events: MAX_EVENTS as u64,
                at: Nanos::from_hours(hours),
            });
        }
        for (index, cause) in faults.causes.iter().enumerate() {
            self.draw_cause(faults, cause, index, site, seed, hours);
        }
        // Times are nearly always different, so they alone decide.
        self.events.sort_unstable_by_key(|event| event.time.0);
        let equal = |two: &[FaultEvent]| matches!(two, [a, b] if a.time == b.time);
        if self.events.windows(2).any(equal) {
            self.events.sort_unstable();
        }
        if self.events.len() > MAX_EVENTS {
            let at = self
                .events
                .get(MAX_EVENTS)
                .map_or(self.horizon, |event| event.time);
            self.events.truncate(MAX_EVENTS);
            self.limit = Some(Limit {
                events: MAX_EVENTS as u64,
                at,
            });
        }
        if let Some(limit) = self.limit {
            self.horizon = limit.at;
        }
    }

    fn draw_cause(
        &mut self,
        faults: &Faults,
        cause: &Cause,
        index: usize,
        site: &Site,
        seed: u64,
        hours: f64,
    ) {
        let segment_stream = |segment: u64| Stream::new(seed, ((index as u64) << 32) | segment);
        if cause.scope == Scope::Job {
            let rate = cause.unit_rate_per_h() * faults.rate_multiplier;
            let mut segment = Segment {
                site,
                cause,
                index: index as u16,
                first_domain: FaultEvent::JOB,
                domains: 0,
                kept: 0,
                rate,
                hours,
            };
            segment.draw(segment_stream(0), &mut self.events);
            return;
        }
        let mut run = |first_domain: u32, domains: u32, kept: u32, stream: u64| {
            let units = f64::from(site.units_per_domain(cause.scope)) * f64::from(domains);
            let rate = units * cause.unit_rate_per_h() * faults.rate_multiplier;
            let mut segment = Segment {
                site,
                cause,
                index: index as u16,
                first_domain,
                domains,
                kept,
                rate,
                hours,
            };
            match cause.life {
                Life::Exponential => segment.draw(segment_stream(stream), &mut self.events),
                Life::Weibull { .. } => {
                    let mean_h = 1.0 / (cause.unit_rate_per_h() * faults.rate_multiplier);
                    if mean_h.is_finite() {
                        let law = LifeLaw::new(cause.life, mean_h);
                        weibull::draw(
                            &segment,
                            &law,
                            faults.start,
                            segment_stream(stream),
                            &mut self.events,
                        );
                    }
                }
            }
            if faults.start == Start::Steady && first_domain == 0 && cause.takes_out {
                segment.draw_initial(segment_stream(u64::from(u32::MAX)), &mut self.initial);
            }
        };
        run(0, site.domains, site.domains, 0);
        for block in 0..site.spare_domains.div_ceil(SPARE_BLOCK) {
            let before = block * SPARE_BLOCK;
            run(
                site.domains + before,
                SPARE_BLOCK,
                SPARE_BLOCK.min(site.spare_domains - before),
                1 + u64::from(block),
            );
        }
    }

    /// GPUs out of service over time when nothing is replaced: (time, GPUs) at every change, from time zero on.
    ///
    /// Failures of one GPU that overlap count once. Meaningful on a wall-clock trace.
    pub fn failed_series(&self, site: &Site) -> Vec<(Nanos, u64)> {
        let mut outages: Vec<(u32, u16, Nanos, Nanos)> = Vec::new();
        let mut add = |event: &FaultEvent, start: Nanos, end: Nanos| {
            outages.extend(
                (0..event.gpus).map(|offset| (event.domain, event.first + offset, start, end)),
            );
        };
        self.initial
            .iter()
            .for_each(|event| add(event, Nanos::ZERO, event.repair));
        for event in self
            .events
            .iter()
            .filter(|event| event.domain < site.domains)
        {
            if let Some(cause) = self
                .causes
                .get(usize::from(event.cause))
                .filter(|cause| cause.takes_out)
            {
                add(event, event.time, event.time + cause.detect + event.repair);
            }
        }
        outages.sort_unstable();
        let mut steps: Vec<(Nanos, i64)> = Vec::with_capacity(outages.len() * 2);
        let mut current: Option<(u32, u16, Nanos, Nanos)> = None;
        let mut close = |outage: Option<(u32, u16, Nanos, Nanos)>| {
            if let Some((_, _, start, end)) = outage {
                steps.push((start, 1));
                steps.push((end, -1));
            }
        };
        for outage in outages {
            match &mut current {
                Some(open) if (open.0, open.1) == (outage.0, outage.1) && outage.2 <= open.3 => {
                    open.3 = open.3.max(outage.3);
                }
                _ => close(current.replace(outage)),
            }
        }
        close(current);
        steps.sort_unstable();
        let mut series = vec![(Nanos::ZERO, 0)];
        let mut failed = 0i64;
        for (time, change) in steps {
            failed += change;
            let value = failed.max(0) as u64;
            match series.last_mut() {
                Some(last) if last.0 == time => last.1 = value,
                _ => series.push((time, value)),
            }
        }
        series
    }
}

/// Failures expected in `hours`, with room for the early failures of new Weibull units and for blocks of spare domains.
pub fn expected_events(faults: &Faults, site: &Site, hours: f64) -> f64 {
    let domains =
        f64::from(site.domains) + f64::from(site.spare_domains.div_ceil(SPARE_BLOCK) * SPARE_BLOCK);
    let events = faults.causes.iter().map(|cause| {
        let units = if cause.scope == Scope::Job {
            1.0
        } else {
            domains * f64::from(site.units_per_domain(cause.scope))
        };
        let rate = cause.unit_rate_per_h() * faults.rate_multiplier;
        let extra = match cause.life {
            Life::Weibull { .. } if rate > 0.0 => {
                LifeLaw::new(cause.life, 1.0 / rate).failed_by(hours)
            }
            _ => 0.0,
        };
        units * (rate * hours + extra)
    });
    events.sum()
}

/// One cause over one run of domains.
struct Segment<'a> {
    site: &'a Site,
    cause: &'a Cause,
    index: u16,
    first_domain: u32,
    /// Domains drawn for; those from `kept` on are dropped.
    domains: u32,
    kept: u32,
    /// Failures per hour of the whole segment.
    rate: f64,
    hours: f64,
}

impl Segment<'_> {
    fn units(&self) -> u64 {
        u64::from(self.domains) * u64::from(self.site.units_per_domain(self.cause.scope))
    }

    /// The failure of unit `unit` of the segment, none for units beyond the kept domains.
    fn event(&self, time: Nanos, unit: u64, repair_h: f64) -> Option<FaultEvent> {
        let repair = if self.cause.takes_out {
            Nanos::from_hours(repair_h)
        } else {
            Nanos::ZERO
        };
        if self.cause.scope == Scope::Job {
            return Some(FaultEvent {
                time,
                domain: FaultEvent::JOB,
                first: 0,
                gpus: 0,
                cause: self.index,
                repair,
            });
        }
        let per_domain = u64::from(self.site.units_per_domain(self.cause.scope)).max(1);
        let domain = (unit / per_domain) as u32;
        if domain >= self.kept {
            return None;
        }
        let (first, gpus) = self.site.struck(
            self.cause.scope,
            self.cause.kind,
            (unit % per_domain) as u32,
        );
        Some(FaultEvent {
            time,
            domain: self.first_domain + domain,
            first,
            gpus,
            cause: self.index,
            repair,
        })
    }

    /// Constant hazard: exponential gaps of the summed rate. Three words a failure: gap, unit, repair.
    fn draw(&mut self, mut stream: Stream, events: &mut Vec<FaultEvent>) {
        if self.rate <= 0.0 {
            return;
        }
        let units = self.units();
        let mut t_h = 0.0;
        for _ in 0..=MAX_EVENTS {
            t_h += stream.exponential() / self.rate;
            if t_h >= self.hours {
                return;
            }
            let unit = stream.below(units);
            let repair_h = if self.cause.takes_out {
                self.cause.repair.draw_h(&mut stream)
            } else {
                // The word is taken all the same: the next failures stay where they are.
                stream.word();
                0.0
            };
            events.extend(self.event(Nanos::from_hours(t_h), unit, repair_h));
        }
    }

    /// Outages under way at time zero: a Poisson number with mean rate x mean repair, each with what is left of it.
    fn draw_initial(&mut self, mut stream: Stream, initial: &mut Vec<FaultEvent>) {
        let mean = self.rate * self.cause.repair.mean_h();
        let mut sum = stream.exponential();
        while sum < mean && initial.len() < MAX_EVENTS {
            let unit = stream.below(self.units());
            let left_h = self.cause.repair.draw_residual_h(&mut stream);
            initial.extend(self.event(Nanos::ZERO, unit, left_h));
            sum += stream.exponential();
        }
    }
}

#[cfg(test)]
mod tests;
