//! How numbers are written: fixed decimals, commas, units after a space, and no loss rounded away.

use crate::core::order;

/// Digits before the point in groups of three: `1234567` becomes `1,234,567`.
fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `value` with `decimals` digits after the point and commas before it; `-0` is written `0`, what is not finite as a dash.
pub fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let nothing = text.chars().all(|digit| digit == '0' || digit == '.');
    let sign = if value < 0.0 && !nothing { "−" } else { "" };
    let point = if rest.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{rest}", grouped(whole))
}

/// A whole number with commas.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A score between 0 and 1: below 1 it is never written as 1, above 0 never as 0.
pub fn score(value: f64, decimals: usize) -> String {
    let step = 10_f64.powi(-(decimals as i32));
    let clamped = if value.is_nan() {
        0.0
    } else {
        value.clamp(0.0, 1.0)
    };
    // Sums of many terms come back one ulp short of 1; that is no loss.
    let shown = if clamped < 1.0 - 1e-9 {
        clamped.min(1.0 - step)
    } else {
        1.0
    };
    let shown = if clamped > 1e-9 { shown.max(step) } else { 0.0 };
    format!("{shown:.decimals$}")
}

/// A number of GPUs that may be a fraction of one: whole from 10 on, one decimal below, never 0 when some is lost.
pub fn gpus(value: f64) -> String {
    if value.is_nan() || value < 1e-6 {
        "0".into()
    } else if value < 0.1 {
        "<0.1".into()
    } else if value < 9.95 && (value - value.round()).abs() >= 0.05 {
        fixed(value, 1)
    } else {
        fixed(value, 0)
    }
}

/// `GPU` or `GPUs`, as the written number asks for.
pub fn gpu_word(written: &str) -> &'static str {
    if written == "1" { "GPU" } else { "GPUs" }
}

/// A fraction as percent: two decimals below 1 %, one below 10 %, whole from there unless `decimals` says more.
pub fn percent(fraction: f64, decimals: usize) -> String {
    format!("{} %", fixed(fraction * 100.0, decimals))
}

/// A change in percent, with its sign: `+2.8 %`.
pub fn change(fraction: f64) -> String {
    let text = fixed(fraction * 100.0, 1);
    if text == "0.0" {
        "±0 %".into()
    } else if fraction > 0.0 {
        format!("+{text} %")
    } else {
        format!("{text} %")
    }
}

/// Watts as W below 1 kW, kW with one decimal below 1 MW, MW above.
pub fn power(watts: f64) -> String {
    match watts.abs() {
        w if w < 1e3 => format!("{} W", fixed(watts, 0)),
        w if w < 999_950.0 => format!("{} kW", fixed(watts / 1e3, 1)),
        _ => format!("{} MW", fixed(watts / 1e6, 2)),
    }
}

/// Seconds as ms with one decimal (µs below 0.1 ms, s from 100 s on).
pub fn time(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 ms".into(),
        s if s < 1e-4 => format!("{} µs", fixed(seconds * 1e6, 1)),
        s if s < 100.0 => format!("{} ms", fixed(seconds * 1e3, 1)),
        _ => format!("{} s", fixed(seconds, 1)),
    }
}

/// Bytes in decimal units, three significant digits: `11.4 MB`.
pub fn bytes(bytes: f64) -> String {
    let (value, unit) = match bytes.abs() {
        b if b < 999.5 => return format!("{} B", fixed(bytes, 0)),
        b if b < 999.5e3 => (bytes / 1e3, "kB"),
        b if b < 999.5e6 => (bytes / 1e6, "MB"),
        b if b < 999.5e9 => (bytes / 1e9, "GB"),
        _ => (bytes / 1e12, "TB"),
    };
    format!("{} {unit}", significant(value))
}

/// Three significant digits, commas from 1,000 on.
pub fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    fixed(value, decimals)
}

/// Joules per token with three significant digits, in mJ below 1 J.
pub fn energy(joules: f64) -> String {
    if joules.abs() < 0.9995 {
        format!("{} mJ", significant(joules * 1e3))
    } else {
        format!("{} J", significant(joules))
    }
}

/// Parts of a whole in hundredths of a percent that add up to the whole exactly (largest remainder), so that a printed
/// ledger sums to 100 %. A part above zero never comes out as the whole.
pub fn hundredths(parts: &[f64]) -> Vec<u32> {
    const WHOLE: u32 = 10_000;
    let total: f64 = parts
        .iter()
        .filter(|part| part.is_finite())
        .map(|part| part.max(0.0))
        .sum();
    if total <= 0.0 {
        return vec![0; parts.len()];
    }
    let exact: Vec<f64> = parts
        .iter()
        .map(|part| {
            if part.is_finite() {
                part.max(0.0) / total * f64::from(WHOLE)
            } else {
                0.0
            }
        })
        .collect();
    let mut shares: Vec<u32> = exact.iter().map(|share| share.floor() as u32).collect();
    let mut order: Vec<(usize, f64)> = exact
        .iter()
        .map(|share| share - share.floor())
        .enumerate()
        .collect();
    order::sort_by(&mut order, |a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let missing = WHOLE.saturating_sub(shares.iter().sum());
    for (index, _) in order.iter().take(missing as usize) {
        if let Some(share) = shares.get_mut(*index) {
            *share += 1;
        }
    }
    // A loss too small for two decimals still keeps the rest below 100.00.
    if let Some(full) = shares.iter().position(|share| *share == WHOLE)
        && let Some((loss, _)) = exact
            .iter()
            .enumerate()
            .filter(|(index, share)| *index != full && **share > 1e-5)
            .max_by(|a, b| a.1.total_cmp(b.1))
    {
        if let Some(share) = shares.get_mut(full) {
            *share -= 1;
        }
        if let Some(share) = shares.get_mut(loss) {
            *share += 1;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_loss_is_never_rounded_away() {
        assert_eq!(score(0.99996, 3), "0.999");
        assert_eq!(score(0.9861, 4), "0.9861");
        assert_eq!(score(0.99999, 4), "0.9999");
        assert_eq!(score(1.0, 3), "1.000");
        assert_eq!(score(1.0 - 1e-13, 3), "1.000");
        assert_eq!(score(0.0, 3), "0.000");
        assert_eq!(score(0.0001, 3), "0.001");
        assert_eq!(score(f64::NAN, 3), "0.000");
    }

    #[test]
    fn commas_signs_and_units() {
        assert_eq!(count(1152), "1,152");
        assert_eq!(count(32768), "32,768");
        assert_eq!(fixed(1_234_567.891, 2), "1,234,567.89");
        assert_eq!(fixed(-1234.0, 0), "−1,234");
        assert_eq!(fixed(-0.001, 1), "0.0");
        assert_eq!(fixed(f64::INFINITY, 1), "–");
        assert_eq!(percent(0.0035, 2), "0.35 %");
        assert_eq!(change(0.028), "+2.8 %");
        assert_eq!(change(-0.031), "−3.1 %");
        assert_eq!(change(0.0), "±0 %");
        assert_eq!(power(950.0), "950 W");
        assert_eq!(power(6_720.0), "6.7 kW");
        assert_eq!(power(1_612_800.0), "1.61 MW");
        assert_eq!(time(2.2137), "2,213.7 ms");
        assert_eq!(time(0.000_05), "50.0 µs");
        assert_eq!(bytes(11_400_000.0), "11.4 MB");
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(energy(0.0123), "12.3 mJ");
    }

    #[test]
    fn lost_gpus_are_whole_when_many_and_never_zero_when_some() {
        for (value, text) in [
            (0.0, "0"),
            (0.02, "<0.1"),
            (0.44, "0.4"),
            (1.02, "1"),
            (2.3, "2.3"),
            (19.4, "19"),
            (1152.0, "1,152"),
        ] {
            assert_eq!(gpus(value), text);
        }
        assert_eq!(gpu_word("1"), "GPU");
        assert_eq!(gpu_word("0.4"), "GPUs");
    }

    #[test]
    fn a_tiny_loss_keeps_the_ledger_below_a_hundred() {
        assert_eq!(hundredths(&[0.999_999, 0.000_001]), [9_999, 1]);
        assert_eq!(hundredths(&[1.0, 0.0]), [10_000, 0]);
        assert_eq!(hundredths(&[1.0, 1.0, 1.0]), [3_334, 3_333, 3_333]);
        assert_eq!(hundredths(&[0.0, 0.0]), [0, 0]);
    }

    proptest! {
        #[test]
        fn printed_shares_add_up(parts in proptest::collection::vec(0.0..1.0f64, 1..9)) {
            let shares = hundredths(&parts);
            let total: u32 = shares.iter().sum();
            let sum: f64 = parts.iter().sum();
            prop_assert_eq!(total, if sum > 0.0 { 10_000 } else { 0 });
            for (part, share) in parts.iter().zip(&shares) {
                prop_assert!((part / sum * 1e4 - f64::from(*share)).abs() <= 1.0 + 1e-6);
            }
        }

        #[test]
        fn scores_parse_back_close(value in 0.0..=1.0f64) {
            let shown: f64 = score(value, 4).parse().unwrap();
            prop_assert!((shown - value).abs() <= 1e-4);
            prop_assert!(value >= 1.0 - 1e-9 || shown < 1.0);
        }
    }
}
