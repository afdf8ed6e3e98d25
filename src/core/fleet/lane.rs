//! One strategy on one trace: the event loop.
//!
//! Rules. A failure of computing GPUs throws away the work since the last finished checkpoint, then is detected, then
//! ranks are assigned afresh and the job restarts, or waits until enough hardware is back. Failures of spare, left-over
//! and held-back GPUs do not happen; failures of benched GPUs take hardware out without stopping the job; those that
//! take nothing out strike only while the job computes or saves. A repair runs from detection on. Changes at the same moment
//! happen in the order: repairs, end of a phase, failures by sequence number.

mod members;

use super::domains::{Domains, Down, Strike};
use super::ledger::{Bucket, Ledger};
use super::plan::{Plan, Shape};
use super::progress::Progress;
use super::rates::{Rate, RateSource, Rates};
use crate::core::faults::{FaultEvent, TakeBack, Trace, TraceCause};
use crate::core::scenario::FailureKind;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use members::Members;

/// What the job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Computing and saving since `since`; a planned restart takes repaired hardware back at `planned`.
    Running {
        /// Start of computing after the last restart.
        since: Nanos,
        /// Planned restart.
        planned: Option<Nanos>,
    },
    /// Failed, not yet noticed.
    Detecting {
        /// When it is.
        until: Nanos,
    },
    /// Restarting and loading.
    Restarting {
        /// When it computes again.
        until: Nanos,
    },
    /// Waiting for hardware.
    Paused,
}

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Hardware came back.
    Repaired,
    /// Detection, a restart or a planned run came to its end.
    PhaseEnded,
    /// A failure of the trace hit the job's hardware: the one before [`Lane::next_event`].
    Struck {
        /// Whether it stopped the job, which computed until then.
        stopped: bool,
    },
}

/// What a failure did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hit {
    /// Nothing: idle or failed hardware, or a failure that takes nothing out while the job stood still.
    Missed,
    /// Took hardware out without stopping the job.
    Quiet,
    /// Stopped the job.
    Stopped,
}

/// State of one strategy's job and fleet at one moment.
#[derive(Clone, Debug)]
pub struct Lane {
    strategy: StrategyId,
    now: Nanos,
    phase: Phase,
    domains: Domains,
    members: Members,
    rate: Rate,
    ledger: Ledger,
    /// Progress of the running phase that is in the ledger already.
    booked: Progress,
    /// Time the job ran before the running phase: the clock of a while-running trace.
    ran: Nanos,
    next_event: usize,
    interruptions: u32,
    restarts: u32,
    peak_failed: u64,
    above: Nanos,
}

impl Lane {
    /// At time zero: the trace's initial outages are there, and the job computes if it can.
    pub fn new<S: RateSource>(
        strategy: StrategyId,
        plan: &Plan,
        trace: &Trace,
        rates: &mut Rates<S>,
    ) -> Self {
        let mut lane = Self {
            strategy,
            now: Nanos::ZERO,
            phase: Phase::Paused,
            domains: Domains::default(),
            members: Members::default(),
            rate: Rate::default(),
            ledger: Ledger::default(),
            booked: Progress::default(),
            ran: Nanos::ZERO,
            next_event: 0,
            interruptions: 0,
            restarts: 0,
            peak_failed: 0,
            above: Nanos::ZERO,
        };
        lane.reset(plan, trace, rates);
        lane
    }

    /// Back to time zero of `trace`, memory kept.
    pub fn reset<S: RateSource>(&mut self, plan: &Plan, trace: &Trace, rates: &mut Rates<S>) {
        let shape = plan.shape(self.strategy);
        self.now = Nanos::ZERO;
        self.domains.clear();
        for event in trace
            .initial
            .iter()
            .filter(|event| event.domain < shape.domains)
        {
            let software =
                cause_of(trace, event).is_some_and(|cause| cause.kind == FailureKind::Software);
            self.domains
                .fail(shape, rates, strike(event, software, event.repair));
        }
        self.ledger = Ledger::default();
        self.booked = Progress::default();
        self.ran = Nanos::ZERO;
        self.next_event = 0;
        self.interruptions = 0;
        self.restarts = 0;
        self.above = Nanos::ZERO;
        self.peak_failed = self.domains.failed();
        self.rate = rates.get(self.strategy, self.domains.counts());
        self.members
            .assign(self.strategy, shape, &self.domains, &self.rate);
        self.phase = if self.rate.paused {
            Phase::Paused
        } else {
            Phase::Running {
                since: Nanos::ZERO,
                planned: None,
            }
        };
    }

    /// Which strategy.
    pub fn strategy(&self) -> StrategyId {
        self.strategy
    }
    /// Simulated until here.
    pub fn now(&self) -> Nanos {
        self.now
    }
    /// What the job is doing.
    pub fn phase(&self) -> Phase {
        self.phase
    }
    /// What the job runs at, or ran at before it stopped.
    pub fn rate(&self) -> &Rate {
        &self.rate
    }
    /// GPUs out of service.
    pub fn domains(&self) -> &Domains {
        &self.domains
    }
    /// Times the job was stopped by a failure.
    pub fn interruptions(&self) -> u32 {
        self.interruptions
    }
    /// Restarts, planned ones included.
    pub fn restarts(&self) -> u32 {
        self.restarts
    }
    /// Most GPUs out of service at one time.
    pub fn peak_failed(&self) -> u64 {
        self.peak_failed
    }
    /// Time during which more than 0.1 % of the job's GPUs were out of service.
    pub fn time_above_0p1_percent(&self) -> Nanos {
        self.above
    }
    /// Where the time until [`Lane::now`] went; work not yet saved counts as productive until it is lost.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }
    /// Whether a domain computes for the job: its own ones unless replaced or benched, spare ones when brought in.
    pub fn computes(&self, domain: u32) -> bool {
        self.members.in_job(domain) && !self.members.benched(domain)
    }
    /// Failures of the trace seen so far.
    pub fn next_event(&self) -> usize {
        self.next_event
    }
    /// When the next thing happens to this lane, if anything ever does.
    pub fn next_change(&self, trace: &Trace) -> Option<Nanos> {
        let event = trace.events.get(self.next_event);
        let event = event.and_then(|event| self.wall_time(trace, event));
        [self.phase_end(), self.domains.next_repair(), event]
            .into_iter()
            .flatten()
            .min()
    }

    /// Simulates until `end`. A change at `end` itself is left for the next call.
    pub fn advance<S: RateSource>(
        &mut self,
        plan: &Plan,
        trace: &Trace,
        rates: &mut Rates<S>,
        end: Nanos,
    ) {
        self.watch(plan, trace, rates, end, &mut |_, _| {});
    }

    /// [`Lane::advance`], telling `seen` of every change once it has been made.
    pub fn watch<S: RateSource>(
        &mut self,
        plan: &Plan,
        trace: &Trace,
        rates: &mut Rates<S>,
        end: Nanos,
        seen: &mut impl FnMut(&Self, Change),
    ) {
        let shape = *plan.shape(self.strategy);
        loop {
            let repair = self.domains.next_repair().unwrap_or(NEVER);
            let phase = self.phase_end().unwrap_or(NEVER);
            let event = trace
                .events
                .get(self.next_event)
                .filter(|event| event.time < trace.horizon);
            let event_at = event
                .and_then(|event| self.wall_time(trace, event))
                .unwrap_or(NEVER);
            let next = repair.min(phase).min(event_at);
            if next >= end {
                self.book(plan, &shape, end);
                return;
            }
            self.book(plan, &shape, next);
            if repair == next {
                self.domains.repair(&shape, rates, next);
                self.on_repair(plan, &shape, rates);
                seen(self, Change::Repaired);
            } else if phase == next {
                self.on_phase_end(plan, &shape, rates);
                seen(self, Change::PhaseEnded);
            } else if let Some(event) = event {
                self.next_event += 1;
                let hit = self.on_event(&shape, trace, rates, event);
                if hit != Hit::Missed {
                    seen(
                        self,
                        Change::Struck {
                            stopped: hit == Hit::Stopped,
                        },
                    );
                }
            }
        }
    }

    fn phase_end(&self) -> Option<Nanos> {
        match self.phase {
            Phase::Running { planned, .. } => planned,
            Phase::Detecting { until } | Phase::Restarting { until } => Some(until),
            Phase::Paused => None,
        }
    }

    /// Wall-clock time of an event; none while a while-running clock stands still.
    fn wall_time(&self, trace: &Trace, event: &FaultEvent) -> Option<Nanos> {
        if !trace.while_running {
            // Failures that came while an earlier change was handled happen now.
            return Some(event.time.max(self.now));
        }
        match self.phase {
            Phase::Running { since, .. } => {
                Some((since + event.time.saturating_sub(self.ran)).max(self.now))
            }
            _ => None,
        }
    }

    /// Puts the time from [`Lane::now`] to `to` into the ledger.
    fn book(&mut self, plan: &Plan, shape: &Shape, to: Nanos) {
        let time = to.saturating_sub(self.now);
        if time == Nanos::ZERO {
            return;
        }
        let occupied = shape.occupied_gpus().max(1) as f64;
        let failed = self.domains.failed() as f64 / occupied;
        if self.domains.failed() * 1000 > shape.job_gpus() {
            self.above += time;
        }
        let now = &self.rate.ledger;
        match self.phase {
            Phase::Running { since, .. } => {
                let progress = plan.cycle.after(to.saturating_sub(since));
                let work = progress.work.saturating_sub(self.booked.work);
                let saving = time.saturating_sub(work);
                self.booked = progress;
                // Hardware that came back is idle until taken back; benched hardware that failed was idle before.
                let (mut idle, mut spare) = (now.idle_healthy + now.failed - failed, now.spare);
                if idle < 0.0 {
                    spare = (spare + idle).max(0.0);
                    idle = 0.0;
                }
                let busy = (1.0 - idle - spare - failed).max(0.0);
                let full = now.productive + now.degraded + now.reshard_exposed;
                let scale = if full > 0.0 { busy / full } else { 0.0 };
                self.ledger
                    .add(Bucket::Productive, now.productive * scale, work);
                self.ledger.add_won_back(
                    (self.rate.goodput - now.productive).max(0.0),
                    work.seconds().get(),
                );
                self.ledger
                    .add(Bucket::Degraded, now.degraded * scale, work);
                self.ledger
                    .add(Bucket::ReshardExposed, now.reshard_exposed * scale, work);
                self.ledger.add(
                    Bucket::CheckpointSave,
                    if full > 0.0 { busy } else { 0.0 },
                    saving,
                );
                self.ledger.add(
                    Bucket::IdleHealthy,
                    idle + if full > 0.0 { 0.0 } else { busy },
                    time,
                );
                self.ledger.add(Bucket::Spare, spare, time);
                self.ledger.add(Bucket::Failed, failed, time);
            }
            Phase::Detecting { .. } | Phase::Restarting { .. } | Phase::Paused => {
                let bucket = match self.phase {
                    Phase::Detecting { .. } => Bucket::Detection,
                    Phase::Restarting { .. } => Bucket::RestartAndLoad,
                    _ => Bucket::Paused,
                };
                let spare = now.spare.min(1.0 - failed);
                self.ledger.add(Bucket::Spare, spare, time);
                self.ledger.add(Bucket::Failed, failed, time);
                self.ledger.add(bucket, 1.0 - spare - failed, time);
            }
        }
        self.now = to;
    }

    /// Ends the running phase: its time is on the trace's clock for good.
    fn stop(&mut self, lost_to: Bucket) {
        if let Phase::Running { since, .. } = self.phase {
            let lost = self.booked.work.saturating_sub(self.booked.saved);
            let now = &self.rate.ledger;
            self.ledger
                .shift(Bucket::Productive, lost_to, now.productive, lost);
            self.ledger.add_won_back(
                -(self.rate.goodput - now.productive).max(0.0),
                lost.seconds().get(),
            );
            self.ran += self.now.saturating_sub(since);
            self.booked = Progress::default();
        }
    }

    fn on_repair<S: RateSource>(&mut self, plan: &Plan, shape: &Shape, rates: &mut Rates<S>) {
        match self.phase {
            Phase::Paused => self.place(plan, shape, rates),
            Phase::Running {
                since,
                planned: None,
            } => {
                let fresh = rates.get(self.strategy, self.domains.counts());
                if fresh.throughput <= self.rate.throughput + 1e-12 {
                    // Nothing to gain from a restart. Where the same GPUs go on as before, what came back is a spare.
                    let same = |a: f64, b: f64| (a - b).abs() < 1e-12;
                    if same(fresh.throughput, self.rate.throughput)
                        && same(fresh.ledger.productive, self.rate.ledger.productive)
                    {
                        self.rate.ledger = fresh.ledger;
                    }
                    return;
                }
                let pays = match plan.take_back {
                    TakeBack::NextRestart => false,
                    TakeBack::NextCheckpoint => true,
                    TakeBack::IfItPays => {
                        let (mtbi, restart) = (plan.mtbi.hours(), plan.restart.hours());
                        fresh.throughput * (mtbi - restart) > self.rate.throughput * mtbi
                    }
                };
                if pays {
                    let finish = since + plan.cycle.next_finish(self.now.saturating_sub(since));
                    self.phase = Phase::Running {
                        since,
                        planned: Some(finish),
                    };
                }
            }
            _ => {}
        }
    }

    fn on_phase_end<S: RateSource>(&mut self, plan: &Plan, shape: &Shape, rates: &mut Rates<S>) {
        match self.phase {
            Phase::Detecting { .. } => self.place(plan, shape, rates),
            Phase::Restarting { .. } => {
                self.phase = Phase::Running {
                    since: self.now,
                    planned: None,
                }
            }
            Phase::Running { .. } => {
                // Work past the snapshot of an asynchronous save is done again: part of what the planned stop costs.
                self.stop(Bucket::CheckpointSave);
                self.place(plan, shape, rates);
            }
            Phase::Paused => {}
        }
    }

    /// Assigns ranks afresh on the hardware that is there, and restarts or waits.
    fn place<S: RateSource>(&mut self, plan: &Plan, shape: &Shape, rates: &mut Rates<S>) {
        let before = self.members.spares();
        self.rate = rates.get(self.strategy, self.domains.counts());
        if self.rate.paused {
            self.phase = Phase::Paused;
            return;
        }
        self.members
            .assign(self.strategy, shape, &self.domains, &self.rate);
        let extra = if self.members.spares() > before {
            plan.spare_start
        } else {
            Nanos::ZERO
        };
        self.restarts += 1;
        self.phase = Phase::Restarting {
            until: self.now + plan.restart + extra,
        };
    }

    fn on_event<S: RateSource>(
        &mut self,
        shape: &Shape,
        trace: &Trace,
        rates: &mut Rates<S>,
        event: &FaultEvent,
    ) -> Hit {
        match cause_of(trace, event) {
            Some(cause) => self.suffer(shape, rates, event, cause),
            None => Hit::Missed,
        }
    }

    fn suffer<S: RateSource>(
        &mut self,
        shape: &Shape,
        rates: &mut Rates<S>,
        event: &FaultEvent,
        cause: &TraceCause,
    ) -> Hit {
        let detected = self.now + cause.detect;
        let of_job = event.domain == FaultEvent::JOB;
        if !of_job && !self.strikes(shape, event) {
            return Hit::Missed;
        }
        let benched = !of_job && self.members.benched(event.domain);
        let quiet = if cause.takes_out && !of_job {
            let software = cause.kind == FailureKind::Software;
            let out = strike(event, software, detected + event.repair);
            self.domains.fail(shape, rates, out);
            self.peak_failed = self.peak_failed.max(self.domains.failed());
            Hit::Quiet
        } else {
            Hit::Missed
        };
        if benched {
            return quiet;
        }
        match self.phase {
            Phase::Running { .. } => {
                self.interruptions += 1;
                self.stop(Bucket::RolledBack);
                self.phase = Phase::Detecting { until: detected };
                return Hit::Stopped;
            }
            Phase::Detecting { until } if cause.takes_out => {
                let until = until.max(detected);
                self.phase = Phase::Detecting { until };
            }
            Phase::Restarting { .. } if cause.takes_out => {
                self.phase = Phase::Detecting { until: detected };
            }
            _ => {}
        }
        quiet
    }

    /// A failure by hand, now: as one of the trace, but it strikes idle hardware too.
    pub fn fail_now<S: RateSource>(
        &mut self,
        plan: &Plan,
        rates: &mut Rates<S>,
        event: &FaultEvent,
        cause: &TraceCause,
    ) {
        let shape = *plan.shape(self.strategy);
        if event.domain >= shape.domains + shape.spare_domains {
            return;
        }
        if self.suffer(&shape, rates, event, cause) == Hit::Missed && cause.takes_out {
            let software = cause.kind == FailureKind::Software;
            let out = strike(event, software, self.now + cause.detect + event.repair);
            self.domains.fail(&shape, rates, out);
        }
    }

    /// A repair by hand, now.
    pub fn repair_now<S: RateSource>(
        &mut self,
        plan: &Plan,
        rates: &mut Rates<S>,
        domain: u32,
        first: u16,
        gpus: u16,
    ) {
        let shape = *plan.shape(self.strategy);
        self.domains.repair_now(&shape, rates, domain, first, gpus);
        self.on_repair(plan, &shape, rates);
    }

    /// Goes on under another plan, trace and cost model: hardware that is out stays out, the job reassigns its ranks at
    /// once. The ledger keeps its past.
    pub fn rebase<S: RateSource>(&mut self, plan: &Plan, trace: &Trace, rates: &mut Rates<S>) {
        let shape = *plan.shape(self.strategy);
        let mut domains = Domains::default();
        for (domain, _) in self
            .domains
            .iter()
            .filter(|(domain, _)| *domain < shape.domains)
        {
            let down = self.domains.down(domain).iter();
            for down in down.filter(|down| u32::from(down.gpu) < shape.domain_size) {
                let Down {
                    gpu,
                    software,
                    until,
                } = *down;
                let out = Strike {
                    domain,
                    first: gpu,
                    gpus: 1,
                    software,
                    until,
                };
                domains.fail(&shape, rates, out);
            }
        }
        self.domains = domains;
        // Progress since the last restart is booked; the running phase starts its cycle anew.
        if let Phase::Running { since, .. } = self.phase {
            self.ran += self.now.saturating_sub(since);
            self.booked = Progress::default();
        }
        self.rate = rates.get(self.strategy, self.domains.counts());
        self.members
            .assign(self.strategy, &shape, &self.domains, &self.rate);
        self.phase = match self.phase {
            _ if self.rate.paused => Phase::Paused,
            Phase::Running { .. } => Phase::Running {
                since: self.now,
                planned: None,
            },
            Phase::Paused => Phase::Restarting {
                until: self.now + plan.restart,
            },
            other => other,
        };
        let clock = if trace.while_running {
            self.ran
        } else {
            self.now
        };
        self.next_event = trace.events.partition_point(|event| event.time < clock);
    }

    /// Whether an event meets at least one healthy GPU that belongs to the job.
    fn strikes(&self, shape: &Shape, event: &FaultEvent) -> bool {
        if event.domain >= shape.domains + shape.spare_domains || !self.members.in_job(event.domain)
        {
            return false;
        }
        let down = self.domains.down(event.domain);
        let failed_workers = down
            .iter()
            .filter(|down| !shape.spare_when_healthy(event.domain, u32::from(down.gpu)))
            .count();
        (event.first..event.first.saturating_add(event.gpus)).any(|gpu| {
            if down.binary_search_by_key(&gpu, |down| down.gpu).is_ok() {
                return false;
            }
            if !shape.spare_when_healthy(event.domain, u32::from(gpu)) {
                return true;
            }
            // The first healthy spare GPUs of the domain stand in for its failed ones.
            let spares_before = (0..gpu).filter(|other| {
                shape.spare_when_healthy(event.domain, u32::from(*other))
                    && down.binary_search_by_key(other, |down| down.gpu).is_err()
            });
            failed_workers > 0 && spares_before.take(failed_workers).count() < failed_workers
        })
    }
}

fn cause_of<'a>(trace: &'a Trace, event: &FaultEvent) -> Option<&'a TraceCause> {
    trace.causes.get(usize::from(event.cause))
}

fn strike(event: &FaultEvent, software: bool, until: Nanos) -> Strike {
    Strike {
        domain: event.domain,
        first: event.first,
        gpus: event.gpus,
        software,
        until,
    }
}

/// Later than any end.
const NEVER: Nanos = Nanos(u64::MAX);
