//! How fast the playhead moves, and how moments are written.

use crate::core::units::Nanos;
use crate::scene::side::number::fixed;

/// Slowest and fastest play, days a second.
pub const SPEEDS: (f64, f64) = (1.0 / 48.0, 16.0);

/// Days a second at a place of the slider, 0 to 1.
pub fn speed(place: f64) -> f64 {
    let (low, high) = SPEEDS;
    low * (high / low).powf(place.clamp(0.0, 1.0))
}

/// Place of the slider for a speed.
pub fn place(speed: f64) -> f64 {
    let (low, high) = SPEEDS;
    ((speed / low).ln() / (high / low).ln()).clamp(0.0, 1.0)
}

/// `6 h/s`, `1 day/s`, `2.5 days/s`.
pub fn speed_words(speed: f64) -> String {
    let hours = speed * 24.0;
    if hours < 23.5 {
        let decimals = usize::from(hours < 1.95);
        return [fixed(hours, decimals).as_str(), " h/s"].concat();
    }
    let whole = (speed - speed.round()).abs() < 0.05 || speed >= 9.95;
    let text = fixed(speed, usize::from(!whole));
    let unit = if text == "1" { " day/s" } else { " days/s" };
    [text.as_str(), unit].concat()
}

/// A moment as days, two decimals.
pub fn days(time: Nanos) -> String {
    fixed(time.hours() / 24.0, 2)
}

/// A span of time in its largest sensible unit: `37 min`, `5.2 h`, `3.1 days`.
pub fn span(hours: f64) -> String {
    let minutes = hours * 60.0;
    let (value, unit) = match minutes {
        m if m < 1.0 => (m * 60.0, " s"),
        m if m < 99.5 => (m, " min"),
        m if m < 48.0 * 60.0 => (hours, " h"),
        _ => (hours / 24.0, " days"),
    };
    let decimals =
        usize::from(value < 9.95 && (value - value.round()).abs() > 0.05 && minutes >= 99.5);
    [fixed(value, decimals).as_str(), unit].concat()
}

/// Where the playhead is after `ms` of play.
pub fn after(time: Nanos, ms: f64, speed: f64, end: Nanos) -> Nanos {
    // A tab that slept does not jump.
    let ms = ms.clamp(0.0, 100.0);
    (time + Nanos::from_hours(ms / 1000.0 * speed * 24.0)).min(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slider_is_logarithmic_and_goes_back() {
        assert!((speed(0.0) - SPEEDS.0).abs() < 1e-12 && (speed(1.0) - SPEEDS.1).abs() < 1e-9);
        for at in [0.0, 0.2, 0.5, 0.9, 1.0] {
            assert!((place(speed(at)) - at).abs() < 1e-9);
        }
    }

    #[test]
    fn speeds_and_spans_have_words() {
        assert_eq!(speed_words(1.0 / 48.0), "0.5 h/s");
        assert_eq!(speed_words(0.25), "6 h/s");
        assert_eq!(speed_words(1.0), "1 day/s");
        assert_eq!(speed_words(2.5), "2.5 days/s");
        assert_eq!(span(37.0 / 60.0), "37 min");
        assert_eq!(span(5.2), "5.2 h");
        assert_eq!(span(31.0), "31 h");
        assert_eq!(span(74.0), "3.1 days");
        assert_eq!(days(Nanos::from_hours(202.0)), "8.42");
    }

    #[test]
    fn play_is_as_fast_as_it_says_and_ends_at_the_end() {
        let end = Nanos::from_hours(240.0);
        assert_eq!(after(Nanos::ZERO, 50.0, 2.0, end), Nanos::from_hours(2.4));
        assert_eq!(after(Nanos::from_hours(239.9), 90.0, 2.0, end), end);
        // A second asleep counts as a tenth.
        assert_eq!(after(Nanos::ZERO, 1000.0, 1.0, end), Nanos::from_hours(2.4));
    }
}
