//! Where every GPU-hour of a run went.

use crate::core::units::Nanos;
use serde::{Deserialize, Serialize};

/// One place where GPU time goes. The names follow public goodput loggers where one exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bucket {
    /// Computing work that was kept.
    Productive,
    /// Standing still for, or slowed by, a checkpoint save.
    CheckpointSave,
    /// Failed but not yet noticed.
    Detection,
    /// Restarting and loading the last checkpoint.
    RestartAndLoad,
    /// Computing work that a failure threw away.
    RolledBack,
    /// Standing still because too few GPUs are healthy.
    Paused,
    /// Running a reduced batch, or waiting for slower peers.
    Degraded,
    /// Healthy but dropped, benched or idle for parity.
    IdleHealthy,
    /// Spare and left-over GPUs.
    Spare,
    /// Failed and restarting GPUs.
    Failed,
    /// Resharding that shows.
    ReshardExposed,
}

impl Bucket {
    /// All of them, in the order shown.
    pub const ALL: [Self; 11] = [
        Self::Productive,
        Self::CheckpointSave,
        Self::Detection,
        Self::RestartAndLoad,
        Self::RolledBack,
        Self::Paused,
        Self::Degraded,
        Self::IdleHealthy,
        Self::Spare,
        Self::Failed,
        Self::ReshardExposed,
    ];
    /// Field name in output.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Productive => "productive",
            Self::CheckpointSave => "checkpoint_save",
            Self::Detection => "detection",
            Self::RestartAndLoad => "restart_and_load",
            Self::RolledBack => "rolled_back",
            Self::Paused => "paused",
            Self::Degraded => "degraded",
            Self::IdleHealthy => "idle_healthy",
            Self::Spare => "spare",
            Self::Failed => "failed",
            Self::ReshardExposed => "reshard_exposed",
        }
    }
    /// Words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Productive => "productive",
            Self::CheckpointSave => "checkpoint save",
            Self::Detection => "detection",
            Self::RestartAndLoad => "restart and load",
            Self::RolledBack => "rolled-back work",
            Self::Paused => "paused",
            Self::Degraded => "reduced batch",
            Self::IdleHealthy => "idle healthy",
            Self::Spare => "spare",
            Self::Failed => "failed",
            Self::ReshardExposed => "reshard exposed",
        }
    }
}

/// Sums of (share of the occupied GPUs) x (seconds), by bucket.
///
/// What boosted GPUs deliver beyond their number is kept beside the buckets as *won back*: it is part of goodput, while
/// the buckets alone add up to the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    sums: [f64; Bucket::ALL.len()],
    won_back: f64,
}

impl Ledger {
    /// Adds `share` of the GPUs for `time`.
    pub fn add(&mut self, bucket: Bucket, share: f64, time: Nanos) {
        if let Some(sum) = self.sums.get_mut(bucket as usize) {
            *sum += share * time.seconds().get();
        }
    }
    /// Moves `share` of the GPUs for `time` from one bucket to another.
    pub fn shift(&mut self, from: Bucket, to: Bucket, share: f64, time: Nanos) {
        self.add(from, -share, time);
        self.add(to, share, time);
    }
    /// GPU share x seconds of one bucket.
    pub fn share_seconds(&self, bucket: Bucket) -> f64 {
        self.sums.get(bucket as usize).copied().unwrap_or(0.0)
    }
    /// Fraction of `elapsed` that went into a bucket, 0 for no time at all.
    pub fn fraction(&self, bucket: Bucket, elapsed: Nanos) -> f64 {
        if elapsed == Nanos::ZERO {
            0.0
        } else {
            self.share_seconds(bucket) / elapsed.seconds().get()
        }
    }
    /// Adds what boosted GPUs deliver beyond their number; negative when a failure throws it away.
    pub fn add_won_back(&mut self, share: f64, seconds: f64) {
        self.won_back += share * seconds;
    }
    /// Goodput: useful work as a fraction of what the occupied GPUs would have done without failures.
    pub fn goodput(&self, elapsed: Nanos) -> f64 {
        let won_back = if elapsed == Nanos::ZERO {
            0.0
        } else {
            self.won_back / elapsed.seconds().get()
        };
        (self.fraction(Bucket::Productive, elapsed) + won_back).clamp(0.0, 1.0)
    }
    /// Work kept so far, in seconds of all occupied GPUs at their healthy rate.
    pub fn good_seconds(&self) -> f64 {
        self.share_seconds(Bucket::Productive) + self.won_back
    }
    /// All fractions, in the order of [`Bucket::ALL`]. They add up to 1.
    pub fn fractions(&self, elapsed: Nanos) -> [f64; Bucket::ALL.len()] {
        Bucket::ALL.map(|bucket| self.fraction(bucket, elapsed))
    }
    /// Productive share of the time of GPUs that were neither spare nor failed: what a logger inside the job would print.
    pub fn productive_share_of_job_time(&self, elapsed: Nanos) -> f64 {
        let job =
            1.0 - self.fraction(Bucket::Spare, elapsed) - self.fraction(Bucket::Failed, elapsed);
        if job > 1e-12 {
            self.fraction(Bucket::Productive, elapsed) / job
        } else {
            0.0
        }
    }
    /// GPU share x seconds of every bucket, in the order of [`Bucket::ALL`], then what boosted GPUs won back. Single
    /// precision: seven digits, enough to show.
    pub fn columns(&self) -> [f32; Bucket::ALL.len() + 1] {
        let mut columns = [self.won_back as f32; Bucket::ALL.len() + 1];
        for (column, sum) in columns.iter_mut().zip(self.sums) {
            *column = sum as f32;
        }
        columns
    }
    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut sums = self.sums;
        sums.iter_mut()
            .zip(earlier.sums)
            .for_each(|(sum, before)| *sum -= before);
        Self {
            sums,
            won_back: self.won_back - earlier.won_back,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_index_their_own_sum() {
        let mut ledger = Ledger::default();
        for (index, bucket) in Bucket::ALL.into_iter().enumerate() {
            assert_eq!(bucket as usize, index);
            ledger.add(bucket, index as f64, Nanos::from_hours(1.0));
            assert_eq!(serde_json::to_value(bucket).unwrap(), bucket.id());
        }
        assert_eq!(ledger.fraction(Bucket::Failed, Nanos::from_hours(1.0)), 9.0);
    }

    #[test]
    fn job_time_leaves_out_spare_and_failed() {
        let (mut ledger, hour) = (Ledger::default(), Nanos::from_hours(1.0));
        ledger.add(Bucket::Productive, 0.75, hour);
        ledger.add(Bucket::Spare, 0.15, hour);
        ledger.add(Bucket::Failed, 0.10, hour);
        assert!((ledger.productive_share_of_job_time(hour) - 1.0).abs() < 1e-12);
    }
}
