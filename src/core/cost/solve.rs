//! What a reduced replica can still do in a healthy step's time: its largest batch, or the least clock that keeps up.

use super::{Replica, step};
use crate::core::units::Seconds;

/// Relative slack below which two step times count as equal: rounding, not performance.
const SLACK: f64 = 1e-9;

/// The largest local batch, at most `replica.local_batch`, whose step takes no longer than `limit`; 0 where none does.
pub fn largest_batch(replica: &Replica<'_>, limit: Seconds) -> u32 {
    let fits = |local_batch: u32| {
        step(&Replica {
            local_batch,
            ..*replica
        })
        .step_s
        .get()
            <= limit.get() * (1.0 + SLACK)
    };
    let (mut low, mut high) = (0, replica.local_batch);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The least compute factor from 1 to `most` whose step at full local batch takes no longer than `limit`; none where
/// even `most` does not keep up.
pub fn least_perf(replica: &Replica<'_>, limit: Seconds, most: f64) -> Option<f64> {
    let keeps_up =
        |perf: f64| step(&Replica { perf, ..*replica }).step_s.get() <= limit.get() * (1.0 + SLACK);
    if keeps_up(1.0) {
        return Some(1.0);
    }
    if !keeps_up(most) {
        return None;
    }
    let (mut low, mut high) = (1.0, most);
    // 40 halvings of a range below 1 leave 1e-12.
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if keeps_up(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
