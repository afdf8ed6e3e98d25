//! How far a running job has come since its last restart: work done, work saved, time lost to saving.
//!
//! The cycle of computing and saving is exact arithmetic, so that a week without a failure costs as much as an hour.

use crate::core::faults::SaveMode;
use crate::core::units::Nanos;

/// The checkpoint cycle, in simulation time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cycle {
    /// Compute time from the end of one save (or from the start) to the start of the next.
    pub every: Nanos,
    /// Start of a save until it is finished.
    pub takes: Nanos,
    /// How long the job stands still for it.
    pub stall: Nanos,
    /// Share of compute lost while an asynchronous save goes on.
    pub slowdown: f64,
}

/// Time since the last restart, split.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Computed.
    pub work: Nanos,
    /// Of that, covered by the last finished checkpoint.
    pub saved: Nanos,
    /// Stood still for saves, or lost to their slow-down.
    pub saving: Nanos,
}

impl Cycle {
    /// Asynchronous saves never overlap: the next one waits until the last is finished.
    pub fn new(mode: SaveMode, every: Nanos, takes: Nanos, stall: Nanos, slowdown: f64) -> Self {
        match mode {
            SaveMode::Blocking => Self {
                every,
                takes,
                stall: takes,
                slowdown: 0.0,
            },
            SaveMode::Async => {
                let stall = stall.min(takes);
                Self {
                    every: every.max(takes.saturating_sub(stall)),
                    takes,
                    stall,
                    slowdown: slowdown.clamp(0.0, 0.99),
                }
            }
        }
    }

    fn period(&self) -> u64 {
        (self.every + self.stall).0.max(1)
    }

    /// Work lost to the slow-down of one save, when `t` of its background part has passed.
    fn slowed(&self, t: Nanos) -> Nanos {
        Nanos((t.min(self.takes.saturating_sub(self.stall)).0 as f64 * self.slowdown) as u64)
    }

    /// The split after `elapsed`.
    pub fn after(&self, elapsed: Nanos) -> Progress {
        let (rounds, rest) = (elapsed.0 / self.period(), Nanos(elapsed.0 % self.period()));
        // A save starts `every` into each round; its background part reaches into the next round.
        let computing = rest.min(self.every);
        let stalled = rest.saturating_sub(self.every);
        let background = self.takes.saturating_sub(self.stall);
        if background == Nanos::ZERO {
            // Blocking: every save of a round before this one is finished, nothing is slowed.
            let saved = Nanos(self.every.0.saturating_mul(rounds));
            return Progress {
                work: saved + computing,
                saved,
                saving: Nanos(self.stall.0.saturating_mul(rounds)) + stalled,
            };
        }
        let full_slow = self.slowed(background);
        let slow_now = if rounds == 0 {
            Nanos::ZERO
        } else {
            self.slowed(computing)
        };
        let lost_to_slow = Nanos(full_slow.0.saturating_mul(rounds.saturating_sub(1))) + slow_now;
        let busy = Nanos(self.every.0.saturating_mul(rounds)) + computing;
        let work = busy.saturating_sub(lost_to_slow);
        let saving = Nanos(self.stall.0.saturating_mul(rounds)) + stalled + lost_to_slow;
        // Finished saves: the one of the round before counts once its background part is over.
        let finished = if computing >= background {
            rounds
        } else {
            rounds.saturating_sub(1)
        };
        let slow_before = Nanos(full_slow.0.saturating_mul(finished.saturating_sub(1)));
        let saved = Nanos(self.every.0.saturating_mul(finished)).saturating_sub(slow_before);
        Progress {
            work,
            saved,
            saving,
        }
    }

    /// The first moment at or after `elapsed` at which a save has just finished.
    pub fn next_finish(&self, elapsed: Nanos) -> Nanos {
        let first = self.every + self.takes;
        let behind = elapsed.saturating_sub(first).0;
        first + Nanos(behind.div_ceil(self.period()).saturating_mul(self.period()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const fn minutes(m: u64) -> Nanos {
        Nanos(m * 60_000_000_000)
    }

    fn check(cycle: Cycle, at: u64, work: u64, saved: u64, saving: u64) {
        let expected = Progress {
            work: minutes(work),
            saved: minutes(saved),
            saving: minutes(saving),
        };
        assert_eq!(cycle.after(minutes(at)), expected, "after {at} min");
    }

    #[test]
    fn blocking_saves_by_hand() {
        let cycle = Cycle::new(
            SaveMode::Blocking,
            minutes(30),
            minutes(5),
            Nanos::ZERO,
            0.0,
        );
        check(cycle, 0, 0, 0, 0);
        check(cycle, 29, 29, 0, 0);
        check(cycle, 33, 30, 0, 3);
        check(cycle, 35, 30, 30, 5);
        check(cycle, 80, 70, 60, 10);
        assert_eq!(cycle.next_finish(minutes(10)), minutes(35));
        assert_eq!(cycle.next_finish(minutes(35)), minutes(35));
        assert_eq!(cycle.next_finish(minutes(36)), minutes(70));
    }

    #[test]
    fn asynchronous_saves_by_hand() {
        // Snapshot stalls 1 of 6 minutes; during the other 5 a fifth of compute is lost, 1 minute a save.
        let cycle = Cycle::new(SaveMode::Async, minutes(30), minutes(6), minutes(1), 0.2);
        check(cycle, 31, 30, 0, 1);
        check(cycle, 36, 34, 30, 2);
        check(cycle, 61, 59, 30, 2);
        check(cycle, 62, 59, 30, 3);
        check(cycle, 67, 63, 59, 4);
        assert_eq!(cycle.next_finish(minutes(37)), minutes(67));
    }

    #[test]
    fn a_save_slower_than_the_interval_holds_the_next_one_back() {
        let cycle = Cycle::new(SaveMode::Async, minutes(3), minutes(10), minutes(2), 0.0);
        assert_eq!(cycle.every, minutes(8));
        check(cycle, 18, 16, 8, 2);
    }

    proptest! {
        #[test]
        fn time_splits_exactly_and_saved_never_passes_work(
            every in 1u64..10_000, takes in 0u64..5000, stall in 0u64..5000, slow in 0.0f64..0.99, asynchronous in any::<bool>(), at in 0u64..1_000_000,
        ) {
            let mode = if asynchronous { SaveMode::Async } else { SaveMode::Blocking };
            let cycle = Cycle::new(mode, Nanos(every), Nanos(takes), Nanos(stall.min(takes)), slow);
            let (now, next) = (cycle.after(Nanos(at)), cycle.after(Nanos(at + 1)));
            prop_assert_eq!(now.work + now.saving, Nanos(at));
            prop_assert!(now.saved <= now.work && now.saved <= next.saved);
            // Rounding of the slow-down may hold work back by a nanosecond, never more.
            prop_assert!(now.work.0 <= next.work.0 + 1);
            let finish = cycle.next_finish(Nanos(at));
            prop_assert!(finish >= Nanos(at));
            prop_assert!(cycle.after(finish).saved > now.saved || cycle.after(finish).saved == now.saved && cycle.after(Nanos(at)).saved > Nanos::ZERO);
        }
    }
}
