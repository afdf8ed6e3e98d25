//! Random variates from named portable generators: the same bits natively and in wasm.
//!
//! Every variate takes exactly one 64-bit word and inverts a distribution function, so a change of one parameter moves
//! the values but never the sequence (common random numbers). Logarithms and exponentials come from `libm` on both
//! targets, because the platforms' own differ in the last bit.

use super::spec::{Life, Repair};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// One independent stream of random words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream(Pcg64);

impl Stream {
    /// The stream `index` of `seed`. Streams of one seed are independent of each other.
    pub fn new(seed: u64, index: u64) -> Self {
        // Two SplitMix64 finalisers part neighbouring seeds and indices before the generator's own seeding.
        Self(Pcg64::seed_from_u64(mix(
            mix(seed) ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15)
        )))
    }
    /// The next word.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// Uniform in (0, 1].
    pub fn unit(&mut self) -> f64 {
        unit(self.word())
    }
    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }
    /// Uniform integer below `bound` (0 when the bound is 0). The bias is below `bound` / 2^64.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.word()) * u128::from(bound)) >> 64) as u64
    }
}

const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A word as a fraction in (0, 1], on a grid of 2^-53.
fn unit(word: u64) -> f64 {
    ((word >> 11) + 1) as f64 * (1.0 / 9_007_199_254_740_992.0)
}

impl Repair {
    /// One duration, hours.
    pub fn draw_h(&self, stream: &mut Stream) -> f64 {
        let word = stream.word();
        match self {
            Self::Fixed { mean_h } => *mean_h,
            Self::Exponential { mean_h } => -mean_h * libm::log(unit(word)),
            Self::Lognormal { mean_h, median_h } => {
                let sigma = lognormal_sigma(*mean_h, *median_h);
                median_h * libm::exp(sigma * normal_quantile(unit(word) - HALF_STEP))
            }
            Self::Empirical { hours } => pick(hours, unit(word)),
        }
    }

    /// What is left of a repair found under way at a random moment, hours: length-biased duration times a uniform part.
    pub fn draw_residual_h(&self, stream: &mut Stream) -> f64 {
        let (word, part) = (stream.word(), stream.unit());
        match self {
            Self::Fixed { mean_h } => mean_h * part,
            Self::Exponential { mean_h } => -mean_h * libm::log(unit(word)),
            Self::Lognormal { mean_h, median_h } => {
                let sigma = lognormal_sigma(*mean_h, *median_h);
                part * median_h
                    * libm::exp(sigma * sigma + sigma * normal_quantile(unit(word) - HALF_STEP))
            }
            Self::Empirical { hours } => {
                let target = unit(word) * hours.iter().sum::<f64>();
                let mut sum = 0.0;
                let found = hours.iter().find(|hour| {
                    sum += **hour;
                    sum >= target
                });
                part * found.or(hours.last()).copied().unwrap_or(0.0)
            }
        }
    }
}

const HALF_STEP: f64 = 0.5 / 9_007_199_254_740_992.0;

fn pick(hours: &[f64], unit: f64) -> f64 {
    let index = ((unit - HALF_STEP) * hours.len() as f64) as usize;
    hours.get(index).or(hours.last()).copied().unwrap_or(0.0)
}

fn lognormal_sigma(mean_h: f64, median_h: f64) -> f64 {
    libm::sqrt(2.0 * libm::log(mean_h / median_h).max(0.0))
}

/// The life distribution of one unit with mean `mean_h`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeLaw {
    shape: f64,
    scale_h: f64,
    mean_h: f64,
}

impl LifeLaw {
    /// From a cause's life and the mean of one unit, hours.
    pub fn new(life: Life, mean_h: f64) -> Self {
        let shape = match life {
            Life::Exponential => 1.0,
            Life::Weibull { shape } => shape,
        };
        Self {
            shape,
            scale_h: mean_h / libm::tgamma(1.0 + 1.0 / shape),
            mean_h,
        }
    }
    /// Probability that a new unit fails before `t_h`.
    pub fn failed_by(&self, t_h: f64) -> f64 {
        -libm::expm1(-libm::pow(t_h.max(0.0) / self.scale_h, self.shape))
    }
    /// Age at which a share `p` of new units has failed, hours.
    pub fn quantile_h(&self, p: f64) -> f64 {
        self.scale_h * libm::pow(-libm::log1p(-p), 1.0 / self.shape)
    }
    /// Probability that a unit found at a random age fails within `t_h` (the equilibrium distribution).
    pub fn residual_failed_by(&self, t_h: f64) -> f64 {
        gamma_p(
            1.0 / self.shape,
            libm::pow(t_h.max(0.0) / self.scale_h, self.shape),
        )
    }
    /// Time within which a share `p` of units found at random ages fails, hours, by bisection below `limit_h`.
    pub fn residual_quantile_h(&self, p: f64, limit_h: f64) -> f64 {
        let (mut low, mut high) = (0.0, limit_h);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.residual_failed_by(middle) < p {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }
    /// Mean, hours.
    pub fn mean_h(&self) -> f64 {
        self.mean_h
    }
}

/// Quantile of the standard normal distribution: Acklam's rational approximation, then one Halley step.
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const B: [f64; 5] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
    ];
    const C: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 4] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
    ];
    let poly = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p <= 0.0 || p >= 1.0 {
        return if p <= 0.0 { -38.0 } else { 38.0 };
    }
    let tail = |p: f64| {
        let q = libm::sqrt(-2.0 * libm::log(p));
        poly(&C, q) / (poly(&D, q) * q + 1.0)
    };
    let x = if p < 0.02425 {
        tail(p)
    } else if p > 1.0 - 0.02425 {
        -tail(1.0 - p)
    } else {
        let q = p - 0.5;
        let r = q * q;
        poly(&A, r) * q / (poly(&B, r) * r + 1.0)
    };
    let error = 0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2) - p;
    let step = error * libm::sqrt(2.0 * std::f64::consts::PI) * libm::exp(0.5 * x * x);
    x - step / (1.0 + 0.5 * x * step)
}

/// Regularised lower incomplete gamma function P(a, x): series below a + 1, continued fraction above.
fn gamma_p(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let front = libm::exp(a * libm::log(x) - x - libm::lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        for _ in 0..500 {
            n += 1.0;
            term *= x / n;
            sum += term;
            if term < sum * 1e-16 {
                break;
            }
        }
        return (front * sum).min(1.0);
    }
    // Lentz's method on the continued fraction of the upper function.
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..500 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = an * d + b;
        d = 1.0 / if d.abs() < 1e-300 { 1e-300 } else { d };
        c = b + an / c;
        c = if c.abs() < 1e-300 { 1e-300 } else { c };
        let delta = d * c;
        h *= delta;
        if (delta - 1.0).abs() < 1e-16 {
            break;
        }
    }
    (1.0 - front * h).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(count: u32, mut draw: impl FnMut() -> f64) -> f64 {
        (0..count).map(|_| draw()).sum::<f64>() / f64::from(count)
    }

    #[test]
    fn a_stream_is_fixed_for_good() {
        // Changing these words changes every published run.
        let mut stream = Stream::new(1, 0);
        let words: Vec<u64> = (0..3).map(|_| stream.word()).collect();
        insta::assert_debug_snapshot!(words);
    }

    #[test]
    fn normal_quantile_inverts_the_distribution_function() {
        for p in [
            1e-12,
            1e-4,
            0.02425,
            0.1,
            0.5,
            0.8413447460685429,
            0.999,
            1.0 - 1e-9,
        ] {
            let back = 0.5 * libm::erfc(-normal_quantile(p) / std::f64::consts::SQRT_2);
            assert!((back / p - 1.0).abs() < 1e-9, "{p}: {back}");
        }
        assert!((normal_quantile(0.8413447460685429) - 1.0).abs() < 1e-9);
        assert!(normal_quantile(0.0).is_finite() && normal_quantile(1.0).is_finite());
    }

    #[test]
    fn incomplete_gamma_known_values() {
        assert!((gamma_p(1.0, 2.0) - (1.0 - (-2f64).exp())).abs() < 1e-14);
        assert!((gamma_p(0.5, 0.25) - libm::erf(0.5)).abs() < 1e-14);
        assert!((gamma_p(0.5, 9.0) - libm::erf(3.0)).abs() < 1e-14);
    }

    #[test]
    fn drawn_means_match_the_parameters() {
        let mut stream = Stream::new(7, 3);
        let repairs = [
            (Repair::Exponential { mean_h: 48.0 }, 48.0, 0.02),
            (
                Repair::Lognormal {
                    mean_h: 132.8,
                    median_h: 20.4,
                },
                132.8,
                0.15,
            ),
            (
                Repair::Empirical {
                    hours: vec![1.0, 2.0, 9.0],
                },
                4.0,
                0.02,
            ),
            (Repair::Fixed { mean_h: 72.0 }, 72.0, 1e-12),
        ];
        for (repair, expected, tolerance) in repairs {
            let found = mean(200_000, || repair.draw_h(&mut stream));
            assert!(
                (found / expected - 1.0).abs() < tolerance,
                "{repair:?}: {found}"
            );
        }
    }

    #[test]
    fn residuals_have_the_length_biased_mean() {
        // Renewal theory: the mean residual is E[R^2] / (2 E[R]).
        let mut stream = Stream::new(7, 4);
        let cases = [
            (Repair::Fixed { mean_h: 72.0 }, 36.0),
            (Repair::Exponential { mean_h: 48.0 }, 48.0),
            (
                Repair::Empirical {
                    hours: vec![1.0, 2.0, 9.0],
                },
                (1.0 + 4.0 + 81.0) / 24.0,
            ),
            (
                Repair::Lognormal {
                    mean_h: 24.0,
                    median_h: 20.0,
                },
                24.0 * (24.0f64 / 20.0).powi(2) / 2.0,
            ),
        ];
        for (repair, expected) in cases {
            let found = mean(200_000, || repair.draw_residual_h(&mut stream));
            assert!(
                (found / expected - 1.0).abs() < 0.02,
                "{repair:?}: {found} against {expected}"
            );
        }
    }

    #[test]
    fn weibull_quantiles_invert_and_shape_one_is_exponential() {
        let law = LifeLaw::new(Life::Weibull { shape: 0.7 }, 1000.0);
        for p in [0.001, 0.3, 0.9] {
            assert!((law.failed_by(law.quantile_h(p)) - p).abs() < 1e-12);
            assert!((law.residual_failed_by(law.residual_quantile_h(p, 1e6)) - p).abs() < 1e-9);
        }
        let plain = LifeLaw::new(Life::Exponential, 1000.0);
        assert!((plain.failed_by(500.0) - plain.residual_failed_by(500.0)).abs() < 1e-14);
    }
}
