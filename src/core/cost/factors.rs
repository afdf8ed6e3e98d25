//! The constants by name: their values, ranges, sources, and which of them a refit may move.

use super::calibration::{Constants, TABLE_NAMES};
use crate::core::hardware::Precision;
use serde::Deserialize;
use std::sync::OnceLock;

/// One constant of the model as its data file gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// Name, such as `hbm_efficiency` or `training_factor h100 fp8`.
    pub name: String,
    /// Value in use.
    pub value: f64,
    /// Unit, in words.
    pub unit: String,
    /// Smallest and largest value that makes sense.
    pub range: (f64, f64),
    /// Where it comes from.
    pub source: String,
    /// Bounds of a refit; none for constants that are published, counted or assumed.
    pub fit: Option<(f64, f64)>,
}

// The version stands apart: the page shows it and has no use for the texts.
include!(concat!(env!("OUT_DIR"), "/version.rs"));

const MODEL_JSON: &str = include_str!("../../../assets/data/step_model.json");

#[derive(Deserialize)]
struct File {
    training_factor: Group,
    attention_efficiency: Group,
    constants: Vec<Entry>,
}
#[derive(Deserialize)]
struct Group {
    unit: String,
    range: (f64, f64),
    values: Vec<Entry>,
}
#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    name: String,
    #[serde(default)]
    gpu: String,
    precision: Option<Precision>,
    value: f64,
    #[serde(default)]
    unit: String,
    range: Option<(f64, f64)>,
    source: String,
    fit: Option<(f64, f64)>,
}

/// Version of the constants, shown as "model v".
pub const fn version() -> u32 {
    VERSION
}

/// Month in which the constants were last set.
pub const fn date() -> &'static str {
    DATE
}

/// Every constant, in the order of the data file.
pub fn factors() -> &'static [Factor] {
    static CELL: OnceLock<Vec<Factor>> = OnceLock::new();
    CELL.get_or_init(|| {
        // The file was read when the crate was built, and a test reads it again.
        let Ok(file) = serde_json::from_str::<File>(MODEL_JSON) else {
            return Vec::new();
        };
        let mut factors = Vec::new();
        for (title, group) in [
            ("training_factor", file.training_factor),
            ("attention_efficiency", file.attention_efficiency),
        ] {
            for entry in group.values {
                let precision = match entry.precision {
                    Some(Precision::Bf16) => " bf16",
                    Some(Precision::Fp8) => " fp8",
                    None => "",
                };
                factors.push(Factor {
                    name: format!("{title} {}{precision}", entry.gpu),
                    value: entry.value,
                    unit: group.unit.clone(),
                    range: group.range,
                    source: entry.source,
                    fit: entry.fit,
                });
            }
        }
        factors.extend(file.constants.into_iter().map(|entry| Factor {
            name: entry.name,
            value: entry.value,
            unit: entry.unit,
            range: entry.range.unwrap_or((0.0, 0.0)),
            source: entry.source,
            fit: entry.fit,
        }));
        factors
    })
}

impl Constants {
    /// The constant of a [`Factor`] name, to read or change; none where it is unmeasured or unknown.
    pub fn slot(&mut self, name: &str) -> Option<&mut f64> {
        if let Some(rest) = name.strip_prefix("training_factor ") {
            let (gpu, precision) = rest.split_once(' ')?;
            let table = TABLE_NAMES.iter().position(|known| *known == gpu)?;
            let row = if precision == "fp8" {
                &mut self.fp8_factor
            } else {
                &mut self.bf16_factor
            };
            return row.get_mut(table)?.as_mut();
        }
        match name {
            "hbm_efficiency" => Some(&mut self.hbm_efficiency),
            "optimizer_hbm_efficiency" => Some(&mut self.optimizer_hbm_efficiency),
            "host_forward_s" => Some(&mut self.host_forward_s),
            "tp_overlap_exposed" => Some(&mut self.tp_overlap_exposed),
            "backward_async_exposed" => Some(&mut self.backward_async_exposed),
            "softmax_bytes" => Some(&mut self.softmax_bytes),
            "loss_bytes" => Some(&mut self.loss_bytes),
            "cast_bytes" => Some(&mut self.cast_bytes),
            "jitter_sigma" => Some(&mut self.jitter_sigma),
            "traffic_contention" => Some(&mut self.traffic_contention),
            "reshard_contention" => Some(&mut self.reshard_contention),
            "scaleout_efficiency" => Some(&mut self.scaleout_efficiency),
            "nvlink_dp_efficiency" => Some(&mut self.nvlink_dp_efficiency),
            "scaleout_latency_s" => Some(&mut self.scaleout_latency_s),
            "send_latency_s" => Some(&mut self.send_latency_s),
            "bucket_parameters" => Some(&mut self.bucket_parameters),
            "step_host_s" => Some(&mut self.step_host_s),
            _ => None,
        }
    }
    /// Forgets a GPU's training factor, so that it falls back to the mean of the others.
    pub fn forget(&mut self, name: &str) {
        let Some((gpu, precision)) = name
            .strip_prefix("training_factor ")
            .and_then(|rest| rest.split_once(' '))
        else {
            return;
        };
        let row = if precision == "fp8" {
            &mut self.fp8_factor
        } else {
            &mut self.bf16_factor
        };
        if let Some(value) = TABLE_NAMES
            .iter()
            .position(|known| *known == gpu)
            .and_then(|table| row.get_mut(table))
        {
            *value = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_has_a_unit_a_source_and_a_value_in_range() {
        assert!(version() >= 1 && date().starts_with("20"));
        let file: serde_json::Value = serde_json::from_str(MODEL_JSON).unwrap();
        assert_eq!(
            (&file["version"], &file["date"]),
            (&version().into(), &date().into())
        );
        assert_eq!(factors().len(), 4 + 4 + 17);
        for factor in factors() {
            let (low, high) = factor.range;
            assert!(
                low < high && (low..=high).contains(&factor.value),
                "{factor:?}"
            );
            assert!(
                !factor.unit.is_empty() && factor.source.len() > 10,
                "{factor:?}"
            );
            if let Some((from, to)) = factor.fit {
                assert!(
                    from >= low && to <= high && (from..=to).contains(&factor.value),
                    "{factor:?}"
                );
                assert!(factor.source.contains("fitted"), "{factor:?}");
            }
        }
    }

    #[test]
    fn every_constant_reaches_the_model() {
        let mut constants = *Constants::fitted();
        for factor in factors()
            .iter()
            .filter(|f| !f.name.starts_with("attention"))
        {
            let value = *constants.slot(&factor.name).unwrap();
            assert_eq!(value, factor.value, "{}", factor.name);
        }
        assert_eq!(constants.attention, [0.4, 0.5, 0.4, 0.4]);
        let unmeasured = |name: &str| factors().iter().all(|factor| factor.name != name);
        for (gpu, (bf16, fp8)) in TABLE_NAMES
            .iter()
            .zip(constants.bf16_factor.iter().zip(&constants.fp8_factor))
        {
            assert_eq!(
                bf16.is_none(),
                unmeasured(&format!("training_factor {gpu} bf16"))
            );
            assert_eq!(
                fp8.is_none(),
                unmeasured(&format!("training_factor {gpu} fp8"))
            );
        }
        assert!(constants.slot("no_such_constant").is_none());
    }

    #[test]
    fn an_unmeasured_gpu_has_the_mean_factor_of_the_others() {
        let mut constants = *Constants::fitted();
        let mean = constants.bf16_factor.iter().flatten().sum::<f64>() / 3.0;
        assert!((constants.factor(3, Precision::Bf16) - mean).abs() < 1e-12);
        constants.forget("training_factor b200 bf16");
        let two = constants.bf16_factor.iter().flatten().sum::<f64>() / 2.0;
        assert!((constants.factor(2, Precision::Bf16) - two).abs() < 1e-12);
    }
}
