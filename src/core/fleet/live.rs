//! A run to be watched: played, scrubbed, forked, asked why.
//!
//! All strategies run side by side on one trace. What has been simulated once is kept as a history of moments and as marks
//! (copies of all lanes) at regular times, so that any past moment is a short walk from the nearest mark. An edit in the
//! past makes a new run that shares the past.

mod history;
mod map;

pub use history::{History, Moment, PhaseKind, Stop};
pub use map::{CellState, DomainCell, FleetMap, Place};

use super::lane::{Change, Lane};
use super::ledger::{Bucket, Ledger};
use super::model::ModelRates;
use super::plan::Plan;
use super::rates::Rates;
use crate::core::faults::{FaultEvent, Faults, Limit, Site, Trace, TraceCause};
use crate::core::scenario::{FailureKind, Job};
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use std::sync::Arc;

/// Marks over a whole run.
const MARKS: u64 = 64;

/// All lanes at one moment.
#[derive(Clone, Debug)]
struct Mark {
    time: Nanos,
    lanes: Vec<Lane>,
}

/// An edit at the playhead.
#[derive(Clone, Debug)]
pub enum Edit {
    /// Another scenario from here on. The failures to come are drawn anew with the same seed; those of a log stay.
    Scenario {
        /// The job.
        job: Box<Job>,
        /// Its failure processes.
        faults: Box<Faults>,
    },
    /// GPUs fail now.
    Fail {
        /// Domain.
        domain: u32,
        /// First GPU.
        first: u16,
        /// Number of GPUs.
        gpus: u16,
        /// Hardware or software.
        kind: FailureKind,
        /// Until they are back, from detection on.
        repair: Nanos,
    },
    /// GPUs are back now.
    Repair {
        /// Domain.
        domain: u32,
        /// First GPU.
        first: u16,
        /// Number of GPUs.
        gpus: u16,
    },
}

/// A fleet run of all strategies.
pub struct FleetRun {
    plan: Plan,
    faults: Faults,
    seed: u64,
    days: f64,
    trace: Arc<Trace>,
    rates: Rates<ModelRates>,
    /// As far as it has been simulated.
    head: Vec<Lane>,
    /// At the playhead.
    view: Vec<Lane>,
    marks: Vec<Mark>,
    history: Vec<History>,
    forked_at: Option<Nanos>,
    /// Its failures are a log's: they stay whatever is edited.
    log: bool,
}

impl FleetRun {
    /// At time zero, on failures drawn from `faults`.
    pub fn new(job: Job, faults: Faults, seed: u64, days: f64) -> Self {
        let plan = Plan::new(&job, &faults);
        let trace = Trace::draw(&faults, &plan.site, seed, days);
        Self::start(job, plan, faults, seed, days, trace)
    }

    /// At time zero, on a log's failures.
    pub fn on_trace(job: Job, faults: Faults, trace: Trace, mtbi_h: f64) -> Self {
        let shapes = Plan::new(&job, &faults).shapes;
        let plan = Plan::with_mtbi(Site::of(&job), shapes, &faults, mtbi_h);
        let days = trace.horizon.hours() / 24.0;
        let mut run = Self::start(job, plan, faults, 0, days, trace);
        run.log = true;
        run
    }

    fn start(job: Job, plan: Plan, faults: Faults, seed: u64, days: f64, trace: Trace) -> Self {
        let mut rates = Rates::new(ModelRates::new(job));
        let lanes: Vec<Lane> = StrategyId::ALL
            .into_iter()
            .map(|strategy| Lane::new(strategy, &plan, &trace, &mut rates))
            .collect();
        Self {
            plan,
            faults,
            seed,
            days,
            trace: Arc::new(trace),
            rates,
            head: lanes.clone(),
            view: lanes.clone(),
            marks: vec![Mark {
                time: Nanos::ZERO,
                lanes: lanes.clone(),
            }],
            history: lanes.iter().map(History::new).collect(),
            forked_at: None,
            log: false,
        }
    }

    /// The job.
    pub fn job(&self) -> &Job {
        self.rates.source().job()
    }
    /// Its failure processes.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }
    /// The fixed part of the run.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }
    /// Days asked for.
    pub fn days(&self) -> f64 {
        self.days
    }
    /// Whether the failures are a log's.
    pub fn is_log(&self) -> bool {
        self.log
    }
    /// The failures.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
    /// End of the run: what was asked for, or where the trace had to end.
    pub fn end(&self) -> Nanos {
        self.trace.horizon
    }
    /// Set when the run ends early, and why.
    pub fn limit(&self) -> Option<Limit> {
        self.trace.limit
    }
    /// Playhead.
    pub fn now(&self) -> Nanos {
        self.view.first().map_or(Nanos::ZERO, Lane::now)
    }
    /// As far as it has been simulated.
    pub fn simulated(&self) -> Nanos {
        self.head.first().map_or(Nanos::ZERO, Lane::now)
    }
    /// Where this run left another one, if it did.
    pub fn forked_at(&self) -> Option<Nanos> {
        self.forked_at
    }
    /// The lanes at the playhead, in the order of [`StrategyId::ALL`].
    pub fn lanes(&self) -> &[Lane] {
        &self.view
    }
    /// One lane at the playhead.
    pub fn lane(&self, strategy: StrategyId) -> Option<&Lane> {
        self.view.get(strategy as usize)
    }
    /// One lane as far as it has been simulated.
    pub fn head(&self, strategy: StrategyId) -> Option<&Lane> {
        self.head.get(strategy as usize)
    }
    /// What happened to a strategy so far.
    pub fn history(&self, strategy: StrategyId) -> Option<&History> {
        self.history.get(strategy as usize)
    }

    /// Simulates on to `time` and puts the playhead there. Cheap to call with small steps.
    pub fn advance_to(&mut self, time: Nanos) {
        let end = time.min(self.end());
        while self.simulated() < end {
            let gap = Nanos((self.end().0 / MARKS).max(1));
            let next_mark = self.marks.last().map_or(Nanos::ZERO, |mark| mark.time) + gap;
            let stop = end.min(next_mark);
            let (plan, trace, rates) = (&self.plan, &*self.trace, &mut self.rates);
            for (lane, history) in self.head.iter_mut().zip(&mut self.history) {
                lane.watch(plan, trace, rates, stop, &mut |lane, change| {
                    history.note(lane);
                    if change == (Change::Struck { stopped: true }) {
                        history.stop(lane);
                    }
                });
            }
            if stop == next_mark {
                self.marks.push(Mark {
                    time: stop,
                    lanes: self.head.clone(),
                });
            }
        }
        self.seek(end);
    }

    /// Puts the playhead at a moment, at the earliest where the run was forked; simulates on when the moment lies beyond
    /// what has been simulated.
    pub fn seek(&mut self, time: Nanos) {
        let time = time.min(self.end()).max(self.forked_at.unwrap_or_default());
        if time > self.simulated() {
            self.advance_to(time);
            return;
        }
        if time == self.simulated() {
            self.view.clone_from(&self.head);
            return;
        }
        let forward = time >= self.now() && time.0 - self.now().0 < self.end().0 / MARKS;
        if !forward {
            self.view.clone_from(&self.lanes_from_mark(time));
        }
        for lane in &mut self.view {
            lane.advance(&self.plan, &self.trace, &mut self.rates, time);
        }
    }

    fn lanes_from_mark(&self, time: Nanos) -> Vec<Lane> {
        let after = self.marks.partition_point(|mark| mark.time <= time);
        let mark = after.checked_sub(1).and_then(|at| self.marks.get(at));
        mark.map_or_else(|| self.view.clone(), |mark| mark.lanes.clone())
    }

    /// A lane at the start of what this run has of its strategy: time zero, or where it left another run.
    pub fn first(&self, strategy: StrategyId) -> Option<Lane> {
        self.marks.first()?.lanes.get(strategy as usize).cloned()
    }

    /// Moves such a lane on to a simulated moment, alone: the playhead stays.
    pub fn walk(&mut self, lane: &mut Lane, time: Nanos) {
        let time = time.min(self.simulated());
        lane.advance(&self.plan, &self.trace, &mut self.rates, time);
    }

    /// The ledger of one strategy at any simulated moment; the playhead stays.
    pub fn ledger_at(&mut self, strategy: StrategyId, time: Nanos) -> Ledger {
        let time = time
            .min(self.simulated())
            .max(self.forked_at.unwrap_or_default());
        let mut lanes = self.lanes_from_mark(time);
        lanes
            .get_mut(strategy as usize)
            .map_or_else(Ledger::default, |lane| {
                lane.advance(&self.plan, &self.trace, &mut self.rates, time);
                *lane.ledger()
            })
    }

    /// Time of the first failure after the playhead, for "step to next event".
    pub fn next_failure(&self) -> Option<(Nanos, &FaultEvent)> {
        let now = self.now();
        if self.trace.while_running {
            let lane = self.view.first()?;
            return Some((
                lane.next_change(&self.trace)?,
                self.trace.events.get(lane.next_event())?,
            ));
        }
        let at = self.trace.events.partition_point(|event| event.time <= now);
        self.trace.events.get(at).map(|event| (event.time, event))
    }

    /// What made one strategy better than another between two moments: per bucket, the share of time that `loser` spent
    /// more there than `winner`, largest difference first.
    pub fn why(
        &mut self,
        loser: StrategyId,
        winner: StrategyId,
        from: Nanos,
        to: Nanos,
    ) -> Vec<(Bucket, f64)> {
        let mut spent = |strategy| {
            let (start, end) = (self.ledger_at(strategy, from), self.ledger_at(strategy, to));
            end.since(&start).fractions(to.saturating_sub(from))
        };
        let (lost, won) = (spent(loser), spent(winner));
        let mut differences: Vec<(Bucket, f64)> = Bucket::ALL
            .into_iter()
            .zip(lost.into_iter().zip(won))
            .map(|(bucket, (lost, won))| (bucket, lost - won))
            .collect();
        differences.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        differences
    }

    /// A run that is this one until `time` and goes its own way from there.
    pub fn fork(&mut self, time: Nanos, edit: Edit) -> Self {
        let time = time.min(self.end());
        self.seek(time);
        let mut lanes = self.view.clone();
        let (plan, faults, trace, mut rates) = if let Edit::Scenario { job, faults } = &edit {
            let mut plan = Plan::new(job, faults);
            if self.log {
                // The log's own pace, not the scenario's.
                plan = Plan::with_mtbi(plan.site, plan.shapes, faults, self.plan.mtbi.hours());
            }
            let same = self.log || plan.site == self.plan.site && **faults == self.faults;
            let trace = if same {
                Arc::clone(&self.trace)
            } else {
                Arc::new(Trace::draw(faults, &plan.site, self.seed, self.days))
            };
            let rates = Rates::new(ModelRates::new((**job).clone()));
            (plan, (**faults).clone(), trace, rates)
        } else {
            let model = ModelRates::new(self.job().clone());
            let trace = Arc::clone(&self.trace);
            let rates = self.rates.same_job(model);
            (self.plan.clone(), self.faults.clone(), trace, rates)
        };
        let by_hand = |kind| TraceCause {
            name: "by hand".into(),
            detect: Nanos::from_hours(self.faults.mean_detect_min() / 60.0),
            takes_out: true,
            kind,
        };
        for lane in &mut lanes {
            match &edit {
                Edit::Scenario { .. } => lane.rebase(&plan, &trace, &mut rates),
                Edit::Fail {
                    domain,
                    first,
                    gpus,
                    kind,
                    repair,
                } => {
                    let event = FaultEvent {
                        time,
                        domain: *domain,
                        first: *first,
                        gpus: *gpus,
                        cause: 0,
                        repair: *repair,
                    };
                    lane.fail_now(&plan, &mut rates, &event, &by_hand(*kind));
                }
                Edit::Repair {
                    domain,
                    first,
                    gpus,
                } => lane.repair_now(&plan, &mut rates, *domain, *first, *gpus),
            }
        }
        let mut history: Vec<History> = self.history.iter().map(|past| past.until(time)).collect();
        for (lane, history) in lanes.iter().zip(&mut history) {
            history.note(lane);
        }
        Self {
            plan,
            faults,
            seed: self.seed,
            days: self.days,
            trace,
            rates,
            head: lanes.clone(),
            view: lanes.clone(),
            marks: vec![Mark { time, lanes }],
            history,
            forked_at: Some(time),
            log: self.log,
        }
    }
}

#[cfg(test)]
mod tests;
