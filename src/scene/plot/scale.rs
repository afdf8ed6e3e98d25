//! Axes: range, ticks and where a value lies.

use crate::core::order;

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// Quantity with its unit.
    pub title: String,
    /// Logarithmic.
    pub log: bool,
    /// Value at the near end.
    pub low: f64,
    /// Value at the far end; above `low`.
    pub high: f64,
    /// Values with their words.
    pub ticks: Vec<(f64, String)>,
}

/// Most ticks on an axis where each has a value of its own.
const MOST_OWN: usize = 9;

impl Scale {
    /// A linear axis over the values, from 0 where they come near it, with round ticks. `percent` writes fractions as
    /// percent.
    pub fn linear(title: &str, values: impl IntoIterator<Item = f64>, percent: bool) -> Self {
        let (low, high) = range(values).unwrap_or((0.0, 1.0));
        let (low, high) = if low > 0.0 && low < 0.5 * high {
            (0.0, high)
        } else if high < 0.0 && high > 0.5 * low {
            (low, 0.0)
        } else if low >= high {
            let half = if low == 0.0 { 1.0 } else { 0.1 * low.abs() };
            (low - half, high + half)
        } else {
            (low, high)
        };
        let step = round_step((high - low) / 4.0);
        // A value that rounding put just past a tick does not earn another one.
        let first = (low / step + 1e-12).floor();
        let last = (high / step - 1e-12).ceil();
        let count = (last - first).clamp(1.0, 20.0) as u32;
        let ticks = (0..=count)
            .map(|i| {
                let value = (first + f64::from(i)) * step;
                (value, written(value, step, percent))
            })
            .collect();
        Self {
            title: title.to_owned(),
            log: false,
            low: first * step,
            high: last * step,
            ticks,
        }
    }

    /// A linear axis with given ends and ticks at every `step` from `low`.
    pub fn fixed(title: &str, low: f64, high: f64, step: f64, percent: bool) -> Self {
        let count = ((high - low) / step).round().clamp(1.0, 40.0) as u32;
        Self {
            title: title.to_owned(),
            log: false,
            low,
            high,
            ticks: (0..=count)
                .map(|i| {
                    let value = low + f64::from(i) * step;
                    (value, written(value, step, percent))
                })
                .collect(),
        }
    }

    /// A logarithmic axis over the positive values, with some air, ticked at 1, 2 and 5 or, where only a few values
    /// occur, at those.
    pub fn log(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let mut own: Vec<f64> = Vec::new();
        let mut bounds: Option<(f64, f64)> = None;
        for value in values.into_iter().filter(|v| v.is_finite() && *v > 0.0) {
            bounds = Some(bounds.map_or((value, value), |(l, h)| (value.min(l), value.max(h))));
            if own.len() <= MOST_OWN && !own.contains(&value) {
                own.push(value);
            }
        }
        let (low, high) = bounds.unwrap_or((1.0, 10.0));
        let air = (0.05 * (high / low).ln()).max(0.05).exp();
        let (from, to) = (low / air, high * air);
        let decades = (to / from).log10();
        let ticks: Vec<f64> = if (1..=MOST_OWN).contains(&own.len()) {
            order::sort_by(&mut own, f64::total_cmp);
            own
        } else {
            let parts: &[f64] = if decades > 3.0 {
                &[1.0]
            } else {
                &[1.0, 2.0, 5.0]
            };
            let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
            (first..=last)
                .flat_map(|d| parts.iter().map(move |part| part * 10_f64.powi(d)))
                .filter(|v| *v >= from && *v <= to)
                .collect()
        };
        Self {
            title: title.to_owned(),
            log: true,
            low: from,
            high: to,
            ticks: ticks
                .into_iter()
                .map(|v| (v, written(v, v, false)))
                .collect(),
        }
    }

    /// A value in the words of this axis, finer than its ticks.
    pub fn words(&self, value: f64) -> String {
        use crate::scene::side::number::fixed;
        let percent = self.ticks.iter().any(|(_, text)| text.ends_with('%'));
        let (value, unit) = if percent {
            (value * 100.0, " %")
        } else {
            (value, "")
        };
        let decimals = match value.abs() {
            v if v.fract() == 0.0 && !percent => 0,
            v if v >= 100.0 => 0,
            v if v >= 10.0 => 1,
            v if v >= 1.0 => 2,
            _ => 3,
        };
        format!("{}{unit}", fixed(value, decimals))
    }

    /// Where a value lies between the pixels `from` (low end) and `to`; values past an end lie at it.
    pub fn place(&self, value: f64, from: f64, to: f64) -> f64 {
        let share = if self.log {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        from + share * (to - from)
    }
}

fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|v| v.is_finite())
        .fold(None, |bounds: Option<(f64, f64)>, v| {
            Some(bounds.map_or((v, v), |(l, h)| (v.min(l), v.max(h))))
        })
}

/// The least of 1, 2, 2.5 and 5 times a power of ten that is at least `about`.
fn round_step(about: f64) -> f64 {
    let about = about.abs().max(1e-12);
    let power = 10_f64.powi(about.log10().floor() as i32);
    [1.0, 2.0, 2.5, 5.0]
        .into_iter()
        .map(|part| part * power)
        .find(|step| *step >= about * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A tick's words, with as many decimals as its step needs.
fn written(value: f64, step: f64, percent: bool) -> String {
    let scale = if percent { 100.0 } else { 1.0 };
    let (value, step) = (value * scale, (step * scale).abs());
    // Powers of two above a thousand are sizes: 32768 reads as 32K.
    if !percent && value >= 1024.0 && value % 1024.0 == 0.0 {
        return format!("{}K", value / 1024.0);
    }
    let mut decimals = 0;
    let mut left = step;
    while decimals < 6 && (left - left.round()).abs() > 1e-6 * left.max(1e-9) {
        decimals += 1;
        left *= 10.0;
    }
    let text = crate::scene::side::number::fixed(value, decimals);
    if percent { format!("{text} %") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn round_ticks() {
        let scale = Scale::linear("loss", [0.0, 0.118], true);
        assert_eq!(words(&scale), ["0 %", "5 %", "10 %", "15 %"]);
        let scale = Scale::linear("availability", [0.80, 0.99], true);
        assert_eq!(words(&scale), ["80 %", "85 %", "90 %", "95 %", "100 %"]);
        let scale = Scale::linear("power", [1.0, 1.3], false);
        assert_eq!((scale.low, words(&scale)[0]), (1.0, "1.0"));
        let flat = Scale::linear("flat", [2.0, 2.0], false);
        assert!(flat.low < 2.0 && flat.high > 2.0);
    }

    #[test]
    fn logarithmic_ticks() {
        let scale = Scale::log("s", (0..30).map(|i| 0.45 * 1.2_f64.powi(i)));
        assert_eq!(
            words(&scale),
            ["0.5", "1", "2", "5", "10", "20", "50", "100"]
        );
        let few = Scale::log("GPUs", [8.0, 72.0, 32_768.0]);
        assert_eq!(words(&few), ["8", "72", "32K"]);
        let middle = scale.place((scale.low * scale.high).sqrt(), 0.0, 100.0);
        assert!((middle - 50.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn every_value_lies_on_the_axis(values in prop::collection::vec(-1e6_f64..1e6, 1..20)) {
            for scale in [Scale::linear("a", values.clone(), false), Scale::log("b", values.clone())] {
                prop_assert!(scale.low < scale.high && !scale.ticks.is_empty());
                for value in &values {
                    let at = scale.place(*value, 300.0, 10.0);
                    prop_assert!((10.0..=300.0).contains(&at));
                    prop_assert!(scale.log || (*value >= scale.low - 1e-6 && *value <= scale.high + 1e-6));
                }
            }
        }
    }
}
