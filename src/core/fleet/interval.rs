//! The best time between checkpoints, by formula.

/// Young's first-order optimum: sqrt(2 C M), compute time between saves, in the unit of the arguments.
///
/// `takes` is the time one save holds the job, `mtbi` the mean time between interruptions. Young, Comm. ACM 17(9), 1974.
pub fn young(takes: f64, mtbi: f64) -> f64 {
    libm::sqrt((2.0 * takes * mtbi).max(0.0))
}

/// Daly's higher-order optimum, compute time between saves; the mean time between interruptions once a save takes twice
/// as long. Daly, Future Generation Computer Systems 22(3), 2006, equation 37.
pub fn daly(takes: f64, mtbi: f64) -> f64 {
    if takes >= 2.0 * mtbi {
        return mtbi;
    }
    let x = takes / (2.0 * mtbi);
    young(takes, mtbi) * (1.0 + libm::sqrt(x) / 3.0 + x / 9.0) - takes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_minutes_and_14_78_hours_give_90_86_minutes() {
        // 1 / (128 / 3000 + 1 / 40) h.
        let mtbi_min = 60.0_f64 / (128.0 / 3000.0 + 1.0 / 40.0);
        assert!((mtbi_min / 60.0 - 14.778).abs() < 1e-3);
        assert!(
            (daly(5.0, mtbi_min) - 90.86).abs() < 0.005,
            "{}",
            daly(5.0, mtbi_min)
        );
        assert!(
            (young(5.0, mtbi_min) - 94.16).abs() < 0.01,
            "{}",
            young(5.0, mtbi_min)
        );
    }

    #[test]
    fn a_save_longer_than_the_time_between_failures_falls_back() {
        assert_eq!(daly(10.0, 5.0), 5.0);
        assert_eq!(young(0.0, 5.0), 0.0);
    }
}
