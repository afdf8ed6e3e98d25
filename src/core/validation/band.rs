//! How far a prediction is usually off, by class of layout: what the page prints beside a step time.
//!
//! The errors stand in a file and become constants when the crate is built, so that the page neither carries the published runs nor predicts them all when it opens.

use crate::core::cost::{factors, table_name};
use crate::core::hardware::{Precision, System};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Errors of published runs on one GPU at one precision.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// A band as `build.rs` writes it from `prediction_errors.json`: those of every class with published runs, and the one of
/// the sources that alone measured their GPU or precision, predicted without them.
struct Row {
    class: &'static str,
    rows: usize,
    mean: f64,
    worst: f64,
    measured: bool,
}

include!(concat!(env!("OUT_DIR"), "/bands.rs"));

impl Row {
    fn band(&self, class: &str) -> Band {
        Band {
            class: class.into(),
            rows: self.rows,
            mean: self.mean,
            worst: self.worst,
            measured: self.measured,
        }
    }
}

/// Bands of every class with published runs.
pub fn bands() -> &'static [Band] {
    static CELL: OnceLock<Vec<Band>> = OnceLock::new();
    CELL.get_or_init(|| KNOWN.iter().map(|row| row.band(row.class)).collect())
}

/// The band for a GPU and precision.
pub fn band(system: &System, precision: Precision) -> Band {
    let fp8 = precision == Precision::Fp8 && system.gpu.fp8_tflops.is_some();
    let class = format!(
        "{} {}",
        table_name(&system.gpu),
        if fp8 { "fp8" } else { "bf16" }
    );
    let known = KNOWN.iter().find(|row| row.class == class);
    known.unwrap_or(&UNSEEN).band(&class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::core::validation::report;

    const ERRORS_JSON: &str = include_str!("../../../assets/data/prediction_errors.json");

    #[test]
    fn bands_are_those_of_the_file() {
        let file: serde_json::Value = serde_json::from_str(ERRORS_JSON).unwrap();
        let read = |value: &serde_json::Value| Band::deserialize(value).unwrap();
        let known: Vec<Band> = file["bands"].as_array().unwrap().iter().map(read).collect();
        assert_eq!(bands(), known);
        assert_eq!(UNSEEN.band(UNSEEN.class), read(&file["unseen"]));
    }

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

    /// Run with `NTP_WRITE=1` to write what changed.
    #[test]
    fn the_file_holds_the_errors_of_this_model() {
        // Sources that alone measured their GPU or precision, predicted without them.
        let report = report(true);
        let alone = ["korthikanti", "b200-", "fp8"];
        let unseen: Vec<f64> = report
            .rows
            .iter()
            .filter(|row| alone.iter().any(|part| row.id.contains(part)))
            .filter_map(|row| Some(row.left_out_error?.abs()))
            .collect();
        let mut classes: Vec<(&str, Vec<f64>)> = Vec::new();
        for row in &report.rows {
            match classes.iter_mut().find(|(class, _)| *class == row.class) {
                Some((_, errors)) => errors.push(row.error.abs()),
                None => classes.push((&row.class, vec![row.error.abs()])),
            }
        }
        let line = |class: &str, errors: &[f64], measured: bool| {
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            let worst = errors.iter().copied().fold(0.0, f64::max);
            format!(
                "{{\"class\": \"{class}\", \"rows\": {}, \"mean\": {mean:.5}, \"worst\": {worst:.5}, \"measured\": {measured}}}",
                errors.len()
            )
        };
        let bands: Vec<String> = classes
            .iter()
            .map(|(class, errors)| format!("  {}", line(class, errors, true)))
            .collect();
        let now = format!(
            "{{\n \"what\": \"errors of predicted step times by GPU and precision, and of GPUs and precisions predicted without their own source\",\n \
             \"unit\": \"fraction of the published step time\",\n \
             \"source\": \"the runs of steps.csv and held_out.csv, predicted by this model; a test recomputes it\",\n \
             \"bands\": [\n{}\n ],\n \"unseen\": {}\n}}\n",
            bands.join(",\n"),
            line("", &unseen, false)
        );
        if std::env::var_os("NTP_WRITE").is_some() {
            let path = concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/assets/data/prediction_errors.json"
            );
            std::fs::write(path, now).unwrap();
            return;
        }
        assert_eq!(
            now, ERRORS_JSON,
            "run `NTP_WRITE=1 cargo test --lib the_file_holds`"
        );
    }
}
