//! The time axis.

use super::window::Window;
use crate::core::timeline::text::thousands;

/// Least room of a label, px.
const ROOM: f64 = 74.0;

/// Times of the ticks in a window of `width` px, and how many decimals of a millisecond tell them apart.
pub fn ticks(window: &Window, width: f64) -> (Vec<f64>, usize) {
    let wanted = (width / ROOM).floor().max(1.0);
    let rough = window.span() / wanted;
    let power = 10_f64.powf(rough.max(0.1).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|m| m * power)
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * power);
    let first = (window.start.max(0.0) / step).ceil();
    let last = (window.end / step).floor();
    let count = (last - first + 1.0).clamp(0.0, 400.0) as usize;
    let decimals = (6.0 - step.log10().floor()).clamp(0.0, 7.0) as usize;
    (
        (0..count).map(|i| (first + i as f64) * step).collect(),
        decimals,
    )
}

/// Milliseconds with a fixed number of decimals and commas between thousands.
pub fn label(time: f64, decimals: usize) -> String {
    let ms = time / 1e6;
    if decimals == 0 {
        let text = thousands(ms.round());
        return text.strip_suffix(".0").unwrap_or(&text).to_owned();
    }
    let text = format!("{ms:.decimals$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let whole = thousands(whole.parse().unwrap_or(0.0));
    format!("{}.{rest}", whole.strip_suffix(".0").unwrap_or(&whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        let (times, decimals) = ticks(
            &Window {
                start: 2.12e9,
                end: 2.22e9,
            },
            1084.0,
        );
        let labels: Vec<String> = times.iter().map(|t| label(*t, decimals)).collect();
        assert_eq!(labels.first().map(String::as_str), Some("2,120"));
        assert_eq!(labels.last().map(String::as_str), Some("2,220"));
        assert_eq!(labels.len(), 11);
    }

    #[test]
    fn a_window_of_a_nanosecond_still_has_labels_that_differ() {
        let (times, decimals) = ticks(
            &Window {
                start: 2_213_700_123.0,
                end: 2_213_700_124.0,
            },
            400.0,
        );
        let mut labels: Vec<String> = times.iter().map(|t| label(*t, decimals)).collect();
        assert!(labels.len() >= 2, "{labels:?}");
        assert!(labels[0].starts_with("2,213.700123"), "{labels:?}");
        labels.dedup();
        assert_eq!(labels.len(), times.len());
    }
}
