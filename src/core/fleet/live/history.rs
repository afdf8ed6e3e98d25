//! What happened to one strategy, moment by moment: the lines of the goodput race and the strips under it.

use super::super::lane::{Lane, Phase};
use super::super::ledger::Bucket;
use crate::core::units::Nanos;

/// Most moments and stops kept of one strategy; beyond it every second one is dropped.
const MOST: usize = 100_000;

/// What the job was doing, without when that ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhaseKind {
    /// Computing and saving.
    Running,
    /// Failed, not yet noticed.
    Detecting,
    /// Restarting and loading.
    Restarting,
    /// Waiting for hardware.
    Paused,
}

impl From<Phase> for PhaseKind {
    fn from(phase: Phase) -> Self {
        match phase {
            Phase::Running { .. } => Self::Running,
            Phase::Detecting { .. } => Self::Detecting,
            Phase::Restarting { .. } => Self::Restarting,
            Phase::Paused => Self::Paused,
        }
    }
}

/// State of a strategy right after a change; it holds until the next moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// When.
    pub time: Nanos,
    /// What the job does from here on.
    pub phase: PhaseKind,
    /// Sequences per step while it runs.
    pub minibatch: u32,
    /// GPUs out of service.
    pub failed_gpus: u32,
    /// Work kept so far, in seconds of all occupied GPUs at their healthy rate.
    pub good_seconds: f64,
    /// Where the GPU time went so far: [`crate::core::fleet::Ledger::columns`].
    pub spent: [f32; Bucket::ALL.len() + 1],
}

/// A failure that stopped the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// When.
    pub time: Nanos,
    /// Index of the failure in the trace.
    pub event: u32,
}

/// All moments of one strategy, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    moments: Vec<Moment>,
    stops: Vec<Stop>,
}

impl History {
    pub(super) fn new(lane: &Lane) -> Self {
        let mut history = Self {
            moments: Vec::new(),
            stops: Vec::new(),
        };
        history.note(lane);
        history
    }

    /// Adds the lane's state now; of several changes at once the last counts.
    pub(super) fn note(&mut self, lane: &Lane) {
        let moment = Moment {
            time: lane.now(),
            phase: lane.phase().into(),
            minibatch: lane.rate().minibatch,
            failed_gpus: u32::try_from(lane.domains().failed()).unwrap_or(u32::MAX),
            good_seconds: lane.ledger().good_seconds(),
            spent: lane.ledger().columns(),
        };
        match self.moments.last_mut() {
            Some(last) if last.time == moment.time => *last = moment,
            _ => self.moments.push(moment),
        }
        if self.moments.len() > MOST {
            thin(&mut self.moments);
        }
    }

    pub(super) fn stop(&mut self, lane: &Lane) {
        let event = lane.next_event().saturating_sub(1) as u32;
        let time = lane.now();
        self.stops.push(Stop { time, event });
        if self.stops.len() > MOST {
            thin(&mut self.stops);
        }
    }

    /// Moments, from time zero on.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }
    /// Failures that stopped the job.
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }
    /// The moment that holds at a time.
    pub fn at(&self, time: Nanos) -> Option<&Moment> {
        let after = self.moments.partition_point(|moment| moment.time <= time);
        after.checked_sub(1).and_then(|at| self.moments.get(at))
    }

    /// Mean goodput from time zero to `time`, between moments along straight lines. None before anything is known.
    pub fn goodput(&self, time: Nanos) -> Option<f64> {
        let after = self.moments.partition_point(|moment| moment.time <= time);
        let before = after.checked_sub(1).and_then(|at| self.moments.get(at))?;
        let good = match self.moments.get(after) {
            Some(next) => {
                let part =
                    (time.0 - before.time.0) as f64 / (next.time.0 - before.time.0).max(1) as f64;
                // A stop takes unsaved work back at once, at its own moment.
                before.good_seconds + (next.good_seconds - before.good_seconds) * part
            }
            None => before.good_seconds,
        };
        (time > Nanos::ZERO).then(|| (good / time.seconds().get()).clamp(0.0, 1.0))
    }

    /// Points (hours, mean goodput since time zero) for a line over `from` to `to`, at most `most` of them.
    pub fn line(&self, from: Nanos, to: Nanos, most: usize) -> Vec<(f64, f64)> {
        let steps = most.max(2) as u64 - 1;
        let span = to.saturating_sub(from).0;
        (0..=steps)
            .filter_map(|step| {
                let time = Nanos(
                    from.0 + (u128::from(span) * u128::from(step) / u128::from(steps)) as u64,
                );
                Some((time.hours(), self.goodput(time)?))
            })
            .collect()
    }

    pub(super) fn until(&self, time: Nanos) -> Self {
        let moments = self.moments.partition_point(|moment| moment.time <= time);
        let stops = self.stops.partition_point(|stop| stop.time <= time);
        Self {
            moments: self.moments.get(..moments).unwrap_or_default().to_vec(),
            stops: self.stops.get(..stops).unwrap_or_default().to_vec(),
        }
    }
}

fn thin<T>(items: &mut Vec<T>) {
    let mut index = 0usize;
    items.retain(|_| {
        index += 1;
        index % 2 == 1
    });
}
