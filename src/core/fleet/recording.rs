//! What a run leaves behind to be watched: played, scrubbed and compared without simulating again.
//!
//! A [`Recording`] holds, per strategy, the state and the ledger at every change; between changes the ledger moves along
//! straight lines, so any moment is a binary search away. A [`Film`] holds the map: which domain looks how from when on,
//! as differences. Both travel as bytes, so that a worker can simulate what a page plays.

mod bytes;
mod film;
mod take;

pub use bytes::{Broken, Reader};
pub use film::{Film, Look, Projector, Turn};
pub use take::{FilmMaker, look, record};

use super::ledger::Bucket;
use super::live::PhaseKind;
use crate::core::faults::FaultEvent;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;

/// Columns of the ledger at a moment: [`Bucket::ALL`], then what boosted GPUs won back.
pub const COLUMNS: usize = Bucket::ALL.len() + 1;

/// A cause of failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseName {
    /// Name shown to people.
    pub name: String,
    /// Software, not hardware.
    pub software: bool,
}

/// One strategy over the whole run, column by column; entry `i` holds from `times[i]` on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track {
    /// When, from zero on.
    pub times: Vec<Nanos>,
    /// What the job does from here on.
    pub phases: Vec<PhaseKind>,
    /// Sequences per step while it runs.
    pub minibatch: Vec<u32>,
    /// GPUs out of service.
    pub failed: Vec<u32>,
    /// Seconds of all occupied GPUs spent so far, by column.
    pub spent: Vec<[f32; COLUMNS]>,
    /// Failures that stopped the job: when, and the index of the event.
    pub stops: Vec<(Nanos, u32)>,
    /// GPUs that the strategy occupies.
    pub occupied_gpus: u64,
}

/// A run of all strategies.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Where it ends.
    pub end: Nanos,
    /// Where it left another run, if it did.
    pub forked_at: Option<Nanos>,
    /// Whether the clock of the events stands still while a job does not run.
    pub while_running: bool,
    /// What the events' `cause` points to.
    pub causes: Vec<CauseName>,
    /// All failures, in order.
    pub events: Vec<FaultEvent>,
    /// In the order of [`StrategyId::ALL`].
    pub tracks: Vec<Track>,
}

/// A strategy at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Now {
    /// What the job does.
    pub phase: PhaseKind,
    /// Sequences per step while it runs.
    pub minibatch: u32,
    /// GPUs out of service.
    pub failed: u32,
    /// Mean since time zero; none at time zero.
    pub goodput: Option<f64>,
    /// Fractions of the GPU-hours so far, in the order of [`Bucket::ALL`]; they add up to 1 after time zero.
    pub shares: [f64; Bucket::ALL.len()],
    /// Failures that have stopped the job.
    pub interruptions: usize,
}

impl Track {
    fn before(&self, time: Nanos) -> Option<usize> {
        self.times
            .partition_point(|moment| *moment <= time)
            .checked_sub(1)
    }

    /// Seconds spent by column at a moment, along straight lines between changes.
    pub fn spent_at(&self, time: Nanos) -> [f64; COLUMNS] {
        let mut spent = [0.0; COLUMNS];
        let Some(at) = self.before(time) else {
            return spent;
        };
        let (Some(start), Some(from)) = (self.times.get(at), self.spent.get(at)) else {
            return spent;
        };
        let next = self.times.get(at + 1).zip(self.spent.get(at + 1));
        let part = next.map_or(0.0, |(end, _)| {
            time.saturating_sub(*start).0 as f64 / end.saturating_sub(*start).0.max(1) as f64
        });
        let to = next.map_or(from, |(_, to)| to);
        for ((sum, from), to) in spent.iter_mut().zip(from).zip(to) {
            *sum = f64::from(*from) + (f64::from(*to) - f64::from(*from)) * part;
        }
        spent
    }

    /// Mean goodput from time zero on; none at time zero.
    pub fn goodput(&self, time: Nanos) -> Option<f64> {
        (time > Nanos::ZERO).then(|| {
            let spent = self.spent_at(time);
            let won_back = spent.last().copied().unwrap_or(0.0);
            let productive = spent.first().copied().unwrap_or(0.0);
            ((productive + won_back) / time.seconds().get()).clamp(0.0, 1.0)
        })
    }

    /// Everything about a moment.
    pub fn at(&self, time: Nanos) -> Now {
        let at = self.before(time).unwrap_or(0);
        let (spent, seconds) = (self.spent_at(time), time.seconds().get());
        let mut shares = [0.0; Bucket::ALL.len()];
        if seconds > 0.0 {
            for (share, spent) in shares.iter_mut().zip(spent) {
                *share = (spent / seconds).max(0.0);
            }
        }
        Now {
            phase: self.phases.get(at).copied().unwrap_or(PhaseKind::Paused),
            minibatch: self.minibatch.get(at).copied().unwrap_or(0),
            failed: self.failed.get(at).copied().unwrap_or(0),
            goodput: self.goodput(time),
            shares,
            interruptions: self.stops.partition_point(|(stop, _)| *stop <= time),
        }
    }

    /// Share of the time until `time` with more than a thousandth of `gpus` out of service.
    pub fn above_0p1_percent(&self, time: Nanos, gpus: u64) -> f64 {
        let ends = self.times.iter().skip(1).copied().chain([time]);
        let above: u64 = self
            .times
            .iter()
            .zip(ends)
            .zip(&self.failed)
            .filter(|(_, failed)| u64::from(**failed) * 1000 > gpus)
            .map(|((start, end), _)| end.min(time).saturating_sub(*start).0)
            .sum();
        above as f64 / time.0.max(1) as f64
    }
}

impl Recording {
    /// One strategy.
    pub fn track(&self, strategy: StrategyId) -> Option<&Track> {
        self.tracks.get(strategy as usize)
    }

    /// The first thing that strikes a strategy after `time`: when, and which event. On a wall clock every failure of the
    /// trace counts, otherwise those that stopped the job.
    pub fn next_event(&self, strategy: StrategyId, time: Nanos) -> Option<(Nanos, &FaultEvent)> {
        if self.while_running {
            let stops = &self.track(strategy)?.stops;
            let (stop, event) = stops.get(stops.partition_point(|(stop, _)| *stop <= time))?;
            return Some((*stop, self.events.get(*event as usize)?));
        }
        let at = self.events.partition_point(|event| event.time <= time);
        self.events
            .get(at)
            .filter(|event| event.time < self.end)
            .map(|event| (event.time, event))
    }

    /// As [`Recording::next_event`], the last one before `time`.
    pub fn event_before(&self, strategy: StrategyId, time: Nanos) -> Option<(Nanos, &FaultEvent)> {
        if self.while_running {
            let stops = &self.track(strategy)?.stops;
            let at = stops
                .partition_point(|(stop, _)| *stop < time)
                .checked_sub(1)?;
            let (stop, event) = stops.get(at)?;
            return Some((*stop, self.events.get(*event as usize)?));
        }
        let at = self
            .events
            .partition_point(|event| event.time < time)
            .checked_sub(1)?;
        self.events.get(at).map(|event| (event.time, event))
    }

    /// Software or hardware.
    pub fn is_software(&self, event: &FaultEvent) -> bool {
        self.causes
            .get(usize::from(event.cause))
            .is_some_and(|cause| cause.software)
    }

    /// Strategies from worst to best at a moment; of those within a ten-thousandth, the one listed first counts as worse.
    pub fn ranking(&self, time: Nanos) -> [StrategyId; StrategyId::ALL.len()] {
        let mut order = StrategyId::ALL;
        // Rounded, so that equals do not change places at every moment.
        let goodput = |strategy: &StrategyId| {
            let value = self.track(*strategy).and_then(|track| track.goodput(time));
            (value.unwrap_or(0.0) * 1e4).round() as u32
        };
        order.sort_by_key(goodput);
        order
    }

    /// What made one strategy better than another between two moments: per bucket, the share of time that `loser` spent
    /// more there than `winner`, largest difference first; and what boosted GPUs won back, with the sign of a loss.
    pub fn why(
        &self,
        loser: StrategyId,
        winner: StrategyId,
        from: Nanos,
        to: Nanos,
    ) -> (Vec<(Bucket, f64)>, f64) {
        let seconds = to.saturating_sub(from).seconds().get().max(1e-9);
        let mut difference = [0.0; COLUMNS];
        for (strategy, sign) in [(loser, 1.0), (winner, -1.0)] {
            let Some(track) = self.track(strategy) else {
                continue;
            };
            let (start, end) = (track.spent_at(from), track.spent_at(to));
            for ((sum, start), end) in difference.iter_mut().zip(start).zip(end) {
                *sum += sign * (end - start) / seconds;
            }
        }
        let won_back = -difference.last().copied().unwrap_or(0.0);
        let mut buckets: Vec<(Bucket, f64)> = Bucket::ALL.into_iter().zip(difference).collect();
        buckets.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        (buckets, won_back)
    }
}

#[cfg(test)]
mod tests;
