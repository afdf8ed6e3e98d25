//! Power to performance: section "power" of the NTP paper (arXiv 2504.06095), two published points.

/// perf(p) = 1 + 0.774 x - 0.82 x^2 with x = p - 1 and p = power / TDP, on 1 <= p <= 1.3.
///
/// It reproduces the paper's perf/W of -2.8 % at 1.1 and -6.5 % at 1.2. It multiplies compute throughput only, never
/// communication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerCurve;

impl PowerCurve {
    /// Largest power the curve is defined for, as a multiple of TDP.
    pub const MAX_POWER: f64 = 1.3;
    const LINEAR: f64 = 0.774;
    const QUADRATIC: f64 = -0.82;

    /// Compute throughput relative to base, for power `p` x TDP; `p` is held to the range 1 to 1.3.
    pub fn perf(p: f64) -> f64 {
        let x = p.clamp(1.0, Self::MAX_POWER) - 1.0;
        1.0 + Self::LINEAR * x + Self::QUADRATIC * x * x
    }
}

/// The least power, x TDP, whose compute throughput is `perf`; `None` past `cap` (at most 1.3).
pub fn boost_for(perf: f64, cap: f64) -> Option<f64> {
    if perf <= 1.0 {
        return Some(1.0);
    }
    let cap = cap.min(PowerCurve::MAX_POWER);
    if !perf.is_finite() || perf > PowerCurve::perf(cap) {
        return None;
    }
    // The rising root of QUADRATIC x^2 + LINEAR x + (1 - perf) = 0.
    let (a, b) = (PowerCurve::QUADRATIC, PowerCurve::LINEAR);
    let root = (b * b - 4.0 * a * (1.0 - perf)).max(0.0).sqrt();
    Some((1.0 + (-b + root) / (2.0 * a)).clamp(1.0, cap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_two_points() {
        assert!((PowerCurve::perf(1.1) / 1.1 - (1.0 - 0.028)).abs() < 2e-3);
        assert!((PowerCurve::perf(1.2) / 1.2 - (1.0 - 0.065)).abs() < 2e-3);
    }

    #[test]
    fn evenly_split_compute_alone_needs_1_10_and_1_25() {
        assert!((boost_for(32.0 / 30.0, 1.3).unwrap() - 1.10).abs() < 0.005);
        assert!((boost_for(32.0 / 28.0, 1.3).unwrap() - 1.25).abs() < 0.005);
    }

    #[test]
    fn boost_inverts_perf_and_stops_at_the_cap() {
        for p in [1.0, 1.05, 1.17, 1.29] {
            assert!((boost_for(PowerCurve::perf(p), 1.3).unwrap() - p).abs() < 1e-9);
        }
        assert_eq!(boost_for(1.2, 1.3), None);
        assert_eq!(boost_for(f64::NAN, 1.3), None);
        assert_eq!(boost_for(0.9, 1.3), Some(1.0));
    }
}
