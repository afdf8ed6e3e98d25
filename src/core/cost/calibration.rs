//! Measured efficiencies and fitted constants of `assets/data`, which `build.rs` turns into constants of the program.
//!
//! Everything the step model does not derive from published hardware numbers is here, as data: kernel efficiencies by
//! width (`gemm_efficiency.json`), NCCL times by size (`nccl_time.json`) and the few constants (`step_model.json`).

use crate::core::hardware::{Generation, Gpu, Precision};
use std::sync::OnceLock;

/// The fitted and assumed constants of the model. One value each for every row that the model predicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// Training factor on the kernel table, bf16, by GPU of [`TABLES`]; `None` where nothing was measured.
    pub bf16_factor: [Option<f64>; TABLES],
    /// The same, fp8.
    pub fp8_factor: [Option<f64>; TABLES],
    /// Attention efficiency by generation.
    pub attention: [f64; GENERATIONS],
    /// Element-wise kernels: share of peak memory bandwidth.
    pub hbm_efficiency: f64,
    /// Optimizer kernels: share of peak memory bandwidth.
    pub optimizer_hbm_efficiency: f64,
    /// Floor under one layer's forward pass, s.
    pub host_forward_s: f64,
    /// Visible share of TP collectives that overlap with compute.
    pub tp_overlap_exposed: f64,
    /// Visible share of the backward collectives that always run beside compute.
    pub backward_async_exposed: f64,
    /// Unfused attention: bytes moved per score in the forward pass.
    pub softmax_bytes: f64,
    /// Cross-entropy: bytes moved per logit, forward and backward.
    pub loss_bytes: f64,
    /// fp8: bytes moved per element that is cast.
    pub cast_bytes: f64,
    /// Spread of one rank's compute time.
    pub jitter_sigma: f64,
    /// Lost compute time per second of hidden scale-out traffic.
    pub traffic_contention: f64,
    /// Lost compute time per second of hidden reshard all-to-all.
    pub reshard_contention: f64,
    /// Share of line rate on the scale-out network.
    pub scaleout_efficiency: f64,
    /// Share of one-way NVLink bandwidth that large DP collectives reach inside a domain.
    pub nvlink_dp_efficiency: f64,
    /// Latency of a scale-out collective per doubling of nodes, s.
    pub scaleout_latency_s: f64,
    /// Latency of a stage-to-stage transfer, s.
    pub send_latency_s: f64,
    /// Parameters per DP bucket.
    pub bucket_parameters: f64,
    /// Time per step outside the other terms, s, times 1 + doublings of domains.
    pub step_host_s: f64,
}

/// GPUs with a kernel table of their own.
pub const TABLES: usize = 6;
/// Members of [`Generation`].
pub const GENERATIONS: usize = 4;
pub(super) const TABLE_NAMES: [&str; TABLES] = ["a100", "h100", "b200", "gb200", "b300", "gb300"];

/// Position of a generation in per-generation arrays.
pub const fn generation_index(generation: Generation) -> usize {
    match generation {
        Generation::A100 => 0,
        Generation::H100 => 1,
        Generation::B200 => 2,
        Generation::B300 => 3,
    }
}

/// Which kernel table applies: of the generation's two (board and superchip), the one with the nearer peak.
pub fn table_index(gpu: &Gpu) -> usize {
    let superchip = gpu.bf16_tflops >= 2375.0;
    match gpu.generation {
        Generation::A100 => 0,
        Generation::H100 => 1,
        Generation::B200 => 2 + usize::from(superchip),
        Generation::B300 => 4 + usize::from(superchip),
    }
}

/// Name of the kernel table that applies to a GPU, as in the data files.
pub fn table_name(gpu: &Gpu) -> &'static str {
    TABLE_NAMES
        .get(table_index(gpu))
        .copied()
        .unwrap_or_default()
}

impl Constants {
    /// The values in `step_model.json`.
    pub fn fitted() -> &'static Self {
        &tables().constants
    }

    /// Training factor of a GPU's table at a precision; where it is not measured, the mean of the others of that precision,
    /// or of all where there is none.
    pub fn factor(&self, table: usize, precision: Precision) -> f64 {
        let factors = match precision {
            Precision::Bf16 => &self.bf16_factor,
            Precision::Fp8 => &self.fp8_factor,
        };
        let mean = |all: &mut dyn Iterator<Item = f64>| {
            let (sum, count) = all.fold((0.0, 0.0), |(s, n), f| (s + f, n + 1.0));
            (count > 0.0).then(|| sum / count)
        };
        let own = factors.get(table).copied().flatten();
        own.or_else(|| mean(&mut factors.iter().flatten().copied()))
            .or_else(|| {
                mean(
                    &mut self
                        .bf16_factor
                        .iter()
                        .chain(&self.fp8_factor)
                        .flatten()
                        .copied(),
                )
            })
            .unwrap_or(1.0)
    }
}

/// Log-log interpolation over increasing points; the first segment's slope below, flat or linear above.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    ln_x: Vec<f64>,
    ln_y: Vec<f64>,
    slope_above: f64,
    start: f64,
}

impl Curve {
    fn new(points: impl Iterator<Item = (f64, f64)>, slope_above: f64) -> Self {
        let (ln_x, ln_y): (Vec<f64>, Vec<f64>) =
            points.map(|(x, y)| (libm::log(x), libm::log(y))).unzip();
        let start = ln_y.first().map_or(0.0, |y| libm::exp(*y));
        Self {
            ln_x,
            ln_y,
            slope_above,
            start,
        }
    }
    /// y at the first point.
    pub fn start(&self) -> f64 {
        self.start
    }
    /// ln y at ln x.
    pub fn ln_at(&self, ln_x: f64) -> f64 {
        let above = self.ln_x.iter().position(|x| *x > ln_x);
        let high = match above {
            Some(0) => 1,
            Some(i) => i,
            None => {
                let (Some(x), Some(y)) = (self.ln_x.last(), self.ln_y.last()) else {
                    return 0.0;
                };
                return y + self.slope_above * (ln_x - x);
            }
        };
        match (
            self.ln_x.get(high - 1..=high),
            self.ln_y.get(high - 1..=high),
        ) {
            (Some(&[x0, x1]), Some(&[y0, y1])) if x1 > x0 => {
                y0 + (y1 - y0) * (ln_x - x0) / (x1 - x0)
            }
            _ => self.ln_y.first().copied().unwrap_or(0.0),
        }
    }
}

/// Everything read from `assets/data`, ready for look-up.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Constants as fitted.
    pub constants: Constants,
    /// Share of peak by narrowest dimension, `[table][precision]`.
    pub gemm: [[Curve; 2]; TABLES],
    /// NCCL time in seconds by bytes, `[generation][collective][2, 4, 8 GPUs]`.
    pub nccl: [[[Curve; 3]; 4]; GENERATIONS],
    /// NVLink bandwidth at which `nccl` was measured, GB/s both directions, by generation.
    pub nccl_nvlink: [f64; GENERATIONS],
}

include!(concat!(env!("OUT_DIR"), "/calibration.rs"));

/// The tables, made at first use.
pub fn tables() -> &'static Tables {
    static CELL: OnceLock<Tables> = OnceLock::new();
    CELL.get_or_init(|| Tables {
        constants: CONSTANTS,
        gemm: THOUSANDTHS.map(|by| {
            by.map(|shares| {
                let shares = shares.iter().map(|share| f64::from(*share) / 1000.0);
                Curve::new(WIDTHS.into_iter().map(f64::from).zip(shares), 0.0)
            })
        }),
        nccl: TIMES.map(|by| {
            by.map(|by| {
                by.map(|times| {
                    // Measured times of tiny messages wobble; a larger message is never taken to be faster.
                    let mut floor = 0.0_f64;
                    let rising = times.into_iter().map(|time| {
                        floor = floor.max(f64::from(time) / 100_000.0 * 1e-3);
                        floor
                    });
                    Curve::new(SIZES.into_iter().map(f64::from).zip(rising), 1.0)
                })
            })
        }),
        nccl_nvlink: NCCL_NVLINK,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEMM_JSON: &str = include_str!("../../../assets/data/gemm_efficiency.json");
    const NCCL_JSON: &str = include_str!("../../../assets/data/nccl_time.json");

    fn position(names: &[&str], name: &serde_json::Value) -> usize {
        names.iter().position(|known| name == known).unwrap()
    }

    fn reals(list: &serde_json::Value) -> Vec<f64> {
        let list = list.as_array().unwrap().iter();
        list.map(|number| number.as_f64().unwrap()).collect()
    }

    #[test]
    fn tables_are_those_of_the_files_to_the_bit() {
        let file: serde_json::Value = serde_json::from_str(GEMM_JSON).unwrap();
        let tables = file["tables"].as_array().unwrap();
        assert_eq!(
            tables.len(),
            THOUSANDTHS
                .iter()
                .flatten()
                .filter(|by| !by.is_empty())
                .count()
        );
        for table in tables {
            let fp8 = position(&["bf16", "fp8"], &table["precision"]);
            let ours = THOUSANDTHS[position(&TABLE_NAMES, &table["gpu"])][fp8];
            let ours: Vec<f64> = ours
                .iter()
                .map(|share| f64::from(*share) / 1000.0)
                .collect();
            assert_eq!(ours, reals(&table["fraction_of_peak"]));
            assert_eq!(WIDTHS.map(f64::from), *reals(&table["width"]));
        }
        let file: serde_json::Value = serde_json::from_str(NCCL_JSON).unwrap();
        let tables = file["tables"].as_array().unwrap();
        assert_eq!(tables.len(), TIMES.iter().flatten().flatten().count());
        for table in tables {
            let generation = position(&["a100", "h100", "b200", "b300"], &table["generation"]);
            let kinds = ["all-gather", "reduce-scatter", "all-reduce", "all-to-all"];
            let ranks = table["gpus"].as_u64().unwrap().ilog2() as usize - 1;
            let ours = TIMES[generation][position(&kinds, &table["collective"])][ranks];
            let ours = ours.map(|time| f64::from(time) / 100_000.0);
            assert_eq!(ours, *reals(&table["time_ms"]));
            assert_eq!(SIZES.map(f64::from), *reals(&table["bytes"]));
            assert_eq!(table["nvlink_gb_s_bidir"], NCCL_NVLINK[generation]);
        }
    }

    #[test]
    fn tables_are_complete_and_in_range() {
        let tables = tables();
        for (name, by) in TABLE_NAMES.iter().zip(&tables.gemm) {
            let precisions = if *name == "a100" { 1 } else { 2 };
            for curve in by.iter().take(precisions) {
                assert_eq!(curve.ln_x.len(), 6, "{name}");
                assert!(
                    curve
                        .ln_y
                        .iter()
                        .all(|y| (0.05..1.0).contains(&libm::exp(*y))),
                    "{name}"
                );
            }
        }
        for curve in tables.nccl.iter().flatten().flatten() {
            assert_eq!(curve.ln_x.len(), 9);
            assert!(
                curve.ln_y.windows(2).all(|pair| pair[0] <= pair[1]),
                "a larger message is not faster"
            );
            assert!(
                curve
                    .ln_y
                    .iter()
                    .all(|y| (4e-6..0.1).contains(&libm::exp(*y)))
            );
        }
    }

    #[test]
    fn data_files_name_their_source_unit_and_date() {
        for text in [GEMM_JSON, NCCL_JSON] {
            let file: serde_json::Value = serde_json::from_str(text).unwrap();
            for key in ["what", "unit", "source", "date"] {
                assert!(
                    file[key].as_str().is_some_and(|text| !text.is_empty()),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn a_wider_multiplication_never_takes_less_time() {
        // n / efficiency(n) rises: the curve's slope in log-log stays below 1.
        for curve in tables().gemm.iter().flatten() {
            for (x, y) in curve.ln_x.windows(2).zip(curve.ln_y.windows(2)) {
                assert!((y[1] - y[0]) / (x[1] - x[0]) < 1.0);
            }
        }
    }
}
