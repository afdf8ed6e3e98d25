//! The power bar of a boosted domain: watts freed by dead and idle GPUs, then the rack's headroom, and what of both is used.

use super::ledger::widths;
use crate::core::strategy::BoostPower;

/// The bar ready to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerBar {
    /// Width of the freed watts in use, from the left.
    pub freed_used: f64,
    /// Width of the freed watts not needed.
    pub freed_rest: f64,
    /// Width of the headroom in use.
    pub headroom_used: f64,
    /// Width of the headroom left.
    pub headroom_rest: f64,
    /// Watts of headroom in use.
    pub headroom_used_w: f64,
    /// Watts freed and in use.
    pub freed_used_w: f64,
}

impl PowerBar {
    /// Where use ends and reserve begins, when the freed watts do not suffice.
    pub fn mark(&self) -> f64 {
        if self.headroom_used > 0.0 {
            self.freed_used + self.freed_rest + self.headroom_used
        } else {
            self.freed_used
        }
    }
}

/// Lays out the two budgets in `room` pixels. The freed watts are used first.
pub fn power_bar(boost: &BoostPower, room: f64) -> PowerBar {
    let positive = |watts: f64| {
        if watts.is_finite() {
            watts.max(0.0)
        } else {
            0.0
        }
    };
    let (needed, freed, headroom) = (
        positive(boost.needed_w.get()),
        positive(boost.freed_w.get()),
        positive(boost.headroom_w.get()),
    );
    let freed_used_w = needed.min(freed);
    let headroom_used_w = (needed - freed_used_w).min(headroom);
    let parts = [
        freed_used_w,
        freed - freed_used_w,
        headroom_used_w,
        headroom - headroom_used_w,
    ];
    let total: f64 = parts.iter().sum();
    let there: Vec<f64> = parts
        .iter()
        .filter(|part| **part > 1e-9)
        .map(|part| part / total)
        .collect();
    let mut drawn = widths(&there, room, 2.0).into_iter();
    let mut next = |part: f64| {
        if part > 1e-9 {
            drawn.next().unwrap_or(0.0)
        } else {
            0.0
        }
    };
    let [a, b, c, d] = parts.map(&mut next);
    PowerBar {
        freed_used: a,
        freed_rest: b,
        headroom_used: c,
        headroom_rest: d,
        headroom_used_w,
        freed_used_w,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::strategy::BoostLimit;
    use crate::core::units::Watts;

    fn boost(needed: f64, freed: f64, headroom: f64) -> BoostPower {
        BoostPower {
            p: 1.07,
            perf: 1.05,
            needed_w: Watts(needed),
            freed_w: Watts(freed),
            headroom_w: Watts(headroom),
            limit: BoostLimit::None,
        }
    }

    #[test]
    fn freed_watts_are_used_before_headroom() {
        let bar = power_bar(&boost(6_700.0, 2_800.0, 8_000.0), 216.0);
        assert!((bar.freed_used - 56.0).abs() < 1e-9);
        assert_eq!(bar.freed_rest, 0.0);
        assert!((bar.headroom_used - 78.0).abs() < 1e-9);
        assert!((bar.headroom_used_w - 3_900.0).abs() < 1e-9);
        assert!((bar.mark() - 134.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_freed_may_suffice() {
        let bar = power_bar(&boost(1_000.0, 4_000.0, 4_000.0), 200.0);
        assert!((bar.freed_used - 25.0).abs() < 1e-9 && (bar.freed_rest - 75.0).abs() < 1e-9);
        assert_eq!(bar.headroom_used, 0.0);
        assert!((bar.mark() - 25.0).abs() < 1e-9);
    }

    #[test]
    fn no_budget_is_no_bar() {
        let bar = power_bar(&boost(f64::NAN, 0.0, 0.0), 200.0);
        assert_eq!(bar.mark(), 0.0);
    }
}
