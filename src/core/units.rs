//! Newtypes for the units of the field, with only the operators that make sense.
//!
//! Raw `f64` stays inside formulas; what crosses a module border carries its unit. Simulation time is the integer
//! [`Nanos`]: it never drifts and orders the same natively and in wasm.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0.0);
            /// The bare number, in the unit of the type.
            pub const fn get(self) -> f64 {
                self.0
            }
            /// The larger of the two.
            pub fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }
            /// The smaller of the two.
            pub fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }
        }
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }
        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, factor: f64) -> Self {
                Self(self.0 / factor)
            }
        }
        impl Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }
        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                Self(items.map(|item| item.0).sum())
            }
        }
    };
}

/// `$a / $b = $c`.
macro_rules! quotient {
    ($a:ident / $b:ident = $c:ident) => {
        impl Div<$b> for $a {
            type Output = $c;
            fn div(self, other: $b) -> $c {
                $c(self.0 / other.0)
            }
        }
    };
}

unit!(/// Wall-clock or busy time, seconds.
    Seconds);
unit!(/// Memory or traffic, bytes.
    Bytes);
unit!(/// Floating-point operations (a multiply-add counts two).
    Flops);
unit!(/// Compute rate, FLOP/s.
    FlopsPerSecond);
unit!(/// Bandwidth, bytes/s.
    BytesPerSecond);
unit!(/// Power, watts.
    Watts);
unit!(/// Energy, joules.
    Joules);
unit!(/// Clock, MHz.
    Megahertz);

quotient!(Bytes / BytesPerSecond = Seconds);
quotient!(Flops / FlopsPerSecond = Seconds);
quotient!(Bytes / Seconds = BytesPerSecond);
quotient!(Flops / Seconds = FlopsPerSecond);
quotient!(Joules / Seconds = Watts);

impl Mul<Seconds> for Watts {
    type Output = Joules;
    fn mul(self, time: Seconds) -> Joules {
        Joules(self.0 * time.0)
    }
}

impl Seconds {
    /// From milliseconds.
    pub const fn from_ms(ms: f64) -> Self {
        Self(ms * 1e-3)
    }
    /// From microseconds.
    pub const fn from_us(us: f64) -> Self {
        Self(us * 1e-6)
    }
    /// In milliseconds.
    pub fn ms(self) -> f64 {
        self.0 * 1e3
    }
}

impl BytesPerSecond {
    /// Never below 1 byte/s, so that a division is safe.
    pub fn at_least_one(self) -> Self {
        Self(self.0.max(1.0))
    }
}

impl Bytes {
    /// From binary gibibytes.
    pub const fn from_gib(gib: f64) -> Self {
        Self(gib * 1_073_741_824.0)
    }
    /// From decimal gigabytes.
    pub const fn from_gb(gb: f64) -> Self {
        Self(gb * 1e9)
    }
    /// In binary gibibytes.
    pub fn gib(self) -> f64 {
        self.0 / 1_073_741_824.0
    }
}

/// Simulation time or a duration, integer nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The start of a simulation.
    pub const ZERO: Self = Self(0);
    /// The nearest nanosecond; negative and NaN become zero, too large saturates.
    pub fn from_seconds(seconds: Seconds) -> Self {
        // As `round`, half away from zero, which is a call into the C library on plain x86-64.
        let nanos = seconds.0 * 1e9;
        let whole = nanos as u64;
        let up = nanos - whole as f64 >= 0.5;
        Self(whole.saturating_add(u64::from(up)))
    }
    /// From hours, with the rules of [`Nanos::from_seconds`].
    pub fn from_hours(hours: f64) -> Self {
        Self::from_seconds(Seconds(hours * 3600.0))
    }
    /// As floating-point seconds.
    pub fn seconds(self) -> Seconds {
        Seconds(self.0 as f64 * 1e-9)
    }
    /// As floating-point hours.
    pub fn hours(self) -> f64 {
        self.0 as f64 / 3.6e12
    }
    /// The later of the two less the earlier, or zero.
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_bandwidth_is_time() {
        assert_eq!(Bytes::from_gb(1.8) / BytesPerSecond(0.9e12), Seconds(0.002));
    }

    #[test]
    fn watts_times_seconds_over_seconds_is_watts() {
        assert_eq!((Watts(700.0) * Seconds(2.0)) / Seconds(2.0), Watts(700.0));
    }

    #[test]
    fn nanoseconds_saturate_and_ignore_nonsense() {
        assert_eq!(Nanos::from_seconds(Seconds(-1.0)), Nanos::ZERO);
        assert_eq!(Nanos::from_seconds(Seconds(f64::NAN)), Nanos::ZERO);
        assert_eq!(Nanos(u64::MAX) + Nanos(1), Nanos(u64::MAX));
        assert_eq!(Nanos::from_hours(1.0).hours(), 1.0);
    }

    #[test]
    fn the_nearest_nanosecond_is_that_of_round() {
        let mut x = 0.3_f64;
        let edges = [
            0.0,
            -0.0,
            0.5e-9,
            1.5e-9,
            2.5e-9,
            0.499_999_999_999e-9,
            4_503_599.627_370_5,
            9e9,
            1e30,
            -1e30,
            f64::INFINITY,
        ];
        let many = std::iter::repeat_with(|| {
            x = (x * 1.37).fract() * 1e7;
            x
        });
        for seconds in edges.into_iter().chain(many.take(2000)) {
            let found = Nanos::from_seconds(Seconds(seconds));
            assert_eq!(found, Nanos((seconds * 1e9).round() as u64), "{seconds}");
        }
    }
}
