//! Independent runs over all cores, with the results in the order of the runs.

use std::io::{IsTerminal, Write};
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// A counter on standard error, on a terminal only.
pub struct Progress {
    what: &'static str,
    total: u32,
    done: AtomicU32,
    shown: bool,
}

impl Progress {
    /// Counts up to `total` of `what`.
    pub fn new(what: &'static str, total: u32) -> Self {
        Self {
            what,
            total,
            done: AtomicU32::new(0),
            shown: std::io::stderr().is_terminal(),
        }
    }
    /// Counts nothing.
    pub fn hidden() -> Self {
        Self {
            what: "",
            total: 0,
            done: AtomicU32::new(0),
            shown: false,
        }
    }
    /// One more is done.
    pub fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let every = (self.total / 200).max(1);
        if self.shown && (done.is_multiple_of(every) || done == self.total) {
            let end = if done >= self.total { "\n" } else { "" };
            let _ = write!(
                std::io::stderr(),
                "\r{done} of {} {}{end}",
                self.total,
                self.what
            );
        }
    }
}

/// Runs `one` for 0..`count`, each thread on its own state. The results do not depend on the number of threads.
pub fn in_parallel<W, R: Send>(
    count: u32,
    progress: &Progress,
    state: impl Fn() -> W + Sync,
    one: impl Fn(&mut W, u32) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(count as usize)
        .max(1);
    let next = AtomicU32::new(0);
    let results: Mutex<Vec<(u32, R)>> = Mutex::new(Vec::with_capacity(count as usize));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut state = state();
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let result = one(&mut state, index);
                    progress.step();
                    if let Ok(mut results) = results.lock() {
                        results.push((index, result));
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_unstable_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        let found = in_parallel(
            100,
            &Progress::new("runs", 100),
            || 0,
            |_, index| index * index,
        );
        assert_eq!(found, (0..100).map(|i| i * i).collect::<Vec<_>>());
    }
}
