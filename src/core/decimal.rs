//! Text to float, to the nearest as the standard library does it. That one is faster on long numbers by a table of 10 KB,
//! which the page would fetch for a handful of short ones.

use std::cmp::Ordering;
use std::iter::repeat_n;

/// Significant digits that can decide which float is the nearest; those after them only as whether there are any.
const MOST_DIGITS: usize = 770;
/// Mantissa of a float, with its leading one.
const BITS: i32 = 53;
/// Exponent of the smallest float.
const LOWEST: i32 = -1074;

/// A number in decimals, as `str::parse` takes it but for the words `inf` and `nan`.
pub fn float(text: &str) -> Option<f64> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, power(exponent)?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if !digits().all(|digit| digit.is_ascii_digit()) || digits().next().is_none() {
        return None;
    }
    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let significant = || digits().skip(zeros).map(|digit| u32::from(digit - b'0'));
    // As 0.ddd x 10^point; text is far shorter than what an exponent of 64 bits can shift.
    let point = exponent + whole.len() as i64 - zeros as i64;
    let count = significant().count();
    let size = if count == 0 || point < -330 {
        0.0
    } else if point > 310 {
        f64::INFINITY
    } else if count <= 15 && (count as i64 - 22..=count as i64 + 22).contains(&point) {
        // Both are exact, so that what is left is one rounding.
        let number = significant().fold(0_u64, |n, digit| n * 10 + u64::from(digit)) as f64;
        let by = point - count as i64;
        let power = repeat_n(10.0, by.unsigned_abs() as usize).product::<f64>();
        if by < 0 {
            number / power
        } else {
            number * power
        }
    } else {
        let mut number = Natural::default();
        significant()
            .take(MOST_DIGITS)
            .for_each(|digit| number.times(10, digit));
        let more = significant().skip(MOST_DIGITS).any(|digit| digit > 0);
        number.times(10, u32::from(more));
        nearest(number, point as i32 - 1 - count.min(MOST_DIGITS) as i32)
    };
    Some(if negative { -size } else { size })
}

/// An exponent, held to what makes any text zero or infinite.
fn power(text: &str) -> Option<i64> {
    const MOST: i64 = 1 << 40;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = digits
        .bytes()
        .fold(0, |n, digit| (n * 10 + i64::from(digit - b'0')).min(MOST));
    Some(if text.starts_with('-') { -size } else { size })
}

/// The float nearest to `number` x 10^`by`, the even one of two.
fn nearest(mut number: Natural, by: i32) -> f64 {
    let mut divisor = Natural::default();
    divisor.times(1, 1);
    let scaled = if by < 0 { &mut divisor } else { &mut number };
    scaled.raised(10, by.unsigned_abs());
    // Whether the quotient has so many bits or one fewer is seen when it is there.
    let bits = number.bits() - divisor.bits() + 1;
    let lowest = (bits - BITS - 1).max(LOWEST);
    let (mut unit, mut found) = (lowest, quotient(&number, &divisor, lowest));
    if found.0 >= 1 << BITS {
        unit += 1;
        found = quotient(&number, &divisor, unit);
    }
    let (mut whole, half) = found;
    whole += u64::from(half == Ordering::Greater || half == Ordering::Equal && whole % 2 == 1);
    // Exact: the result has no more bits than a float.
    whole as f64
        * f64::from_bits(if unit < LOWEST + BITS - 1 {
            1 << (unit - LOWEST)
        } else {
            ((unit + 1023) as u64) << (BITS - 1)
        })
}

/// How often 2^`unit` x `divisor` goes into `number`, and how what is left compares with half of that.
fn quotient(number: &Natural, divisor: &Natural, unit: i32) -> (u64, Ordering) {
    let (mut left, mut by) = (number.clone(), divisor.clone());
    by.raised(2, (BITS + unit.max(0)) as u32);
    left.raised(2, (-unit).max(0) as u32);
    let mut whole = 0;
    for _ in 0..=BITS {
        let fits = left.compare(&by) != Ordering::Less;
        if fits {
            left.subtract(&by);
        }
        whole = whole * 2 + u64::from(fits);
        left.times(2, 0);
    }
    (whole, left.compare(&by))
}

/// A natural number of any size: digits of 32 bits, the lowest first, the last one not zero.
#[derive(Clone, Default)]
struct Natural(Vec<u32>);

impl Natural {
    /// Multiplies and adds.
    fn times(&mut self, by: u32, plus: u32) {
        let mut carry = u64::from(plus);
        for digit in &mut self.0 {
            carry += u64::from(*digit) * u64::from(by);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }
    /// Multiplies by a power of 2 or 10, as many at a time as 32 bits hold.
    fn raised(&mut self, by: u32, mut times: u32) {
        while times > 0 {
            let now = times.min(if by == 2 { 31 } else { 9 });
            self.times(by.pow(now), 0);
            times -= now;
        }
    }
    fn bits(&self) -> i32 {
        let top = self.0.last().map_or(32, |digit| digit.leading_zeros());
        self.0.len() as i32 * 32 - top as i32
    }
    fn compare(&self, other: &Self) -> Ordering {
        let digits = self.0.iter().rev().cmp(other.0.iter().rev());
        self.0.len().cmp(&other.0.len()).then(digits)
    }
    /// Takes away one that is not larger.
    fn subtract(&mut self, other: &Self) {
        let mut borrow = false;
        for (digit, by) in self
            .0
            .iter_mut()
            .zip(other.0.iter().chain(std::iter::repeat(&0)))
        {
            let (less, under) = digit.overflowing_sub(*by);
            let (less, under_too) = less.overflowing_sub(u32::from(borrow));
            (*digit, borrow) = (less, under || under_too);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn same(text: &str) {
        let theirs = text.parse::<f64>().ok();
        let words = text.to_ascii_lowercase().contains(['n', 'f']);
        let theirs = theirs.filter(|_| !words);
        assert_eq!(
            float(text).map(f64::to_bits),
            theirs.map(f64::to_bits),
            "{text:?}"
        );
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        let texts = [
            "",
            "+",
            "-",
            ".",
            "-.",
            "e",
            "1e",
            "1e+",
            "e5",
            ".e5",
            "0",
            "-0",
            "+0",
            "0.0",
            "00",
            "007",
            "5.",
            ".5",
            "-.5e1",
            "+5E-1",
            "1 ",
            " 1",
            "1_0",
            "0x1",
            "--1",
            "+-1",
            "1.2.3",
            "1e5e5",
            "1e1.5",
            "inf",
            "nan",
            "-infinity",
            "é",
            "٣",
            "1e22",
            "1e23",
            "8.5e22",
            "123456789012345e22",
            "1234567890123456",
            "1e-22",
            "1e-23",
            "9007199254740993",
            "9007199254740992.9999999999999999999999999999",
            "1e308",
            "1e309",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "179769313486231580793e289",
            "5e-324",
            "3e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2e-324",
            "1e-400",
            "2.2250738585072011e-308",
            "2.2250738585072014e-308",
            "4.4501477170144023e-308",
            "1e99999999999999999999",
            "0e99999999999999999999",
            "1e-99999999999999999999",
            "0.1",
            "0.30000000000000004",
            "2.5e-5",
        ];
        texts.into_iter().for_each(same);
        // Long ones: zeros, nines, and what decides far behind the last digit kept.
        for long in [300, 400, 760, 770, 1200, 100_000] {
            let zeros = "0".repeat(long);
            for text in [
                format!("{zeros}1"),
                format!("1{zeros}"),
                format!("0.{zeros}1"),
                format!("1{zeros}e-{long}"),
                format!("0.{zeros}1e{long}"),
                format!("9007199254740993.{zeros}"),
                format!("9007199254740993.{zeros}1"),
                format!("0.{}", "9".repeat(long)),
            ] {
                same(&text);
            }
        }
    }

    /// A float and the middle between it and the next, written out in full.
    #[test]
    fn middles_go_to_the_even_one() {
        for bits in [
            1_u64,
            2,
            3,
            0xf_ffff_ffff_ffff,
            0x10_0000_0000_0000,
            0x3ff0_0000_0000_0001,
        ] {
            let [low, high] =
                [bits, bits + 1].map(|bits| format!("{:.1080}", f64::from_bits(bits)));
            let middle = middle(&low, &high);
            for text in [low, format!("{middle}1"), middle] {
                same(&text);
            }
        }
    }

    /// Half of the sum of two numbers below 10 with as many decimals.
    fn middle(a: &str, b: &str) -> String {
        let digits = |text: &str| -> Vec<u8> {
            let digits = text.bytes().filter(|c| *c != b'.');
            digits.map(|c| c - b'0').rev().collect()
        };
        let (mut carry, mut sum) = (0, Vec::new());
        for (a, b) in digits(a).into_iter().zip(digits(b)) {
            sum.push((a + b + carry) % 10);
            carry = (a + b + carry) / 10;
        }
        let mut half = String::new();
        for digit in sum.into_iter().rev() {
            let tens = carry * 10 + digit;
            half.push(char::from(b'0' + tens / 2));
            carry = tens % 2;
        }
        half.insert(1, '.');
        half.push(if carry == 1 { '5' } else { '0' });
        half
    }

    proptest! {
        #[test]
        fn any_text_is_read_alike(text in any::<String>(), close in "[-+.eE0-9]{0,10}") {
            same(&text);
            same(&close);
        }

        #[test]
        fn any_float_is_read_alike(bits in any::<u64>(), decimals in 0_usize..30) {
            let real = f64::from_bits(bits);
            if real.is_finite() {
                for text in [format!("{real}"), format!("{real:e}"), format!("{real:.decimals$e}")] {
                    same(&text);
                }
            }
        }

        #[test]
        fn any_digits_are_read_alike(text in "[-+]?[0-9]{0,40}\\.?[0-9]{0,40}([eE][-+]?[0-9]{1,3})?") {
            same(&text);
        }
    }
}
