//! How far a prediction is usually off, by class of layout: what the page prints beside a step time.

use super::report::class_of;
use super::{held_out, runs};
use crate::core::cost::{Constants, factors, table_name};
use crate::core::hardware::{Precision, System};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Errors of published runs on one GPU at one precision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// GPU of the kernel table and precision, such as `h100 bf16`.
    pub class: String,
    /// Published runs behind it.
    pub rows: usize,
    /// Mean of |predicted / published - 1|.
    pub mean: f64,
    /// Its largest value.
    pub worst: f64,
    /// Whether runs of this very class exist; otherwise the errors are those of sources predicted without their GPU's
    /// training factor, which is what a GPU nobody has published for gets.
    pub measured: bool,
}

impl Band {
    /// One line for the page.
    pub fn words(&self) -> String {
        let (mean, worst) = (self.mean * 100.0, self.worst * 100.0);
        let version = factors::version();
        if self.measured {
            format!(
                "model v{version}: {} published {} runs, {mean:.1} % off on average, {worst:.0} % at worst",
                self.rows, self.class
            )
        } else {
            format!(
                "model v{version}: no published {} run; GPUs predicted unseen are {mean:.0} % off on average, {worst:.0} % at worst",
                self.class
            )
        }
    }
}

const UNSEEN_JSON: &str = include_str!("../../../assets/data/unseen_gpu_error.json");

#[derive(Deserialize)]
struct Unseen {
    rows: usize,
    mean: f64,
    worst: f64,
}

/// Bands of every class with published runs.
pub fn bands() -> &'static [Band] {
    static CELL: OnceLock<Vec<Band>> = OnceLock::new();
    CELL.get_or_init(|| {
        let mut bands: Vec<Band> = Vec::new();
        for run in runs().iter().chain(&held_out()) {
            let Some(measured) = run.measured_s else {
                continue;
            };
            let error = (run.predict(Constants::fitted()).cost.step_s.get() / measured - 1.0).abs();
            let class = class_of(run);
            if !bands.iter().any(|band| band.class == class) {
                bands.push(Band {
                    class: class.clone(),
                    rows: 0,
                    mean: 0.0,
                    worst: 0.0,
                    measured: true,
                });
            }
            if let Some(band) = bands.iter_mut().find(|band| band.class == class) {
                band.mean += (error - band.mean) / (band.rows + 1) as f64;
                band.rows += 1;
                band.worst = band.worst.max(error);
            }
        }
        bands
    })
}

/// The band for a GPU and precision.
pub fn band(system: &System, precision: Precision) -> Band {
    let fp8 = precision == Precision::Fp8 && system.gpu.fp8_tflops.is_some();
    let class = format!(
        "{} {}",
        table_name(&system.gpu),
        if fp8 { "fp8" } else { "bf16" }
    );
    bands()
        .iter()
        .find(|band| band.class == class)
        .cloned()
        .unwrap_or_else(|| {
            let unseen: Unseen = serde_json::from_str(UNSEEN_JSON).unwrap_or(Unseen {
                rows: 0,
                mean: 0.0,
                worst: 0.0,
            });
            Band {
                class,
                rows: unseen.rows,
                mean: unseen.mean,
                worst: unseen.worst,
                measured: false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::core::validation::report;

    #[test]
    fn bands_cover_the_published_gpus() {
        let h100 = band(system("h100-nvl8").unwrap(), Precision::Bf16);
        assert!(
            h100.measured && h100.rows > 40 && h100.mean < 0.05,
            "{h100:?}"
        );
        assert!(h100.words().contains("published h100 bf16 runs"));
        let gb300 = band(system("gb300-nvl72").unwrap(), Precision::Bf16);
        assert!(!gb300.measured && gb300.mean > h100.mean, "{gb300:?}");
        assert!(gb300.words().contains("no published gb300 bf16 run"));
    }

    #[test]
    fn the_unseen_band_is_what_leaving_a_gpu_out_gives() {
        // Sources that alone measured their GPU or precision, predicted without them.
        let report = report(true);
        let alone = ["korthikanti", "b200-", "fp8"];
        let errors: Vec<f64> = report
            .rows
            .iter()
            .filter(|row| alone.iter().any(|part| row.id.contains(part)))
            .filter_map(|row| Some(row.left_out_error?.abs()))
            .collect();
        let unseen: Unseen = serde_json::from_str(UNSEEN_JSON).unwrap();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        let text = format!("{} rows, mean {mean:.3}, worst {worst:.3}", errors.len());
        assert_eq!(errors.len(), unseen.rows, "{text}");
        assert!(
            (mean - unseen.mean).abs() < 0.01 && (worst - unseen.worst).abs() < 0.02,
            "{text}"
        );
    }
}
