//! Systems and GPUs: published numbers with unit and source, and the power-to-performance curve.
//!
//! The numbers live in `assets/data/systems.json` and become constants when the crate is built; a [`System`] may also come whole from a scenario file. Field names
//! carry the unit that the sources print; the methods give typed quantities.

mod power;

pub use power::{PowerCurve, boost_for};

use super::units::{Bytes, BytesPerSecond, FlopsPerSecond, Megahertz, Watts};
use serde::{Deserialize, Serialize};
use std::sync::OnceLock;

/// Smallest and largest scale-up domain that the product takes, GPUs.
pub const DOMAIN_SIZE_RANGE: (u32, u32) = (2, 1024);

/// Which measured efficiencies apply to a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// A100 (Ampere).
    A100,
    /// H100 and H200 (Hopper).
    H100,
    /// B200 and GB200 (Blackwell).
    B200,
    /// B300 and GB300 (Blackwell Ultra).
    B300,
}

/// Numeric format of the matrix multiplications.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// bfloat16 throughout.
    #[default]
    Bf16,
    /// fp8 matrix multiplications, bf16 elsewhere.
    Fp8,
}

/// One accelerator, as published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    /// Product name.
    pub name: String,
    /// Which measured efficiencies apply.
    pub generation: Generation,
    /// Dense bf16 peak, TFLOP/s.
    pub bf16_tflops: f64,
    /// Dense fp8 peak, TFLOP/s; absent where the GPU has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fp8_tflops: Option<f64>,
    /// Memory, decimal GB.
    pub hbm_gb: f64,
    /// Memory bandwidth, TB/s.
    pub hbm_tb_s: f64,
    /// NVLink bandwidth, both directions together, GB/s.
    pub nvlink_gb_s_bidir: f64,
    /// Scale-out network per GPU, one direction, Gbit/s.
    pub scaleout_gbit_s: f64,
    /// Board power limit, W.
    pub tdp_w: f64,
    /// Highest published SM clock, MHz; absent where it is not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_clock_mhz: Option<f64>,
}

impl Gpu {
    /// Dense peak at a precision; bf16's where the GPU has no fp8.
    pub fn peak(&self, precision: Precision) -> FlopsPerSecond {
        let tflops = match precision {
            Precision::Bf16 => self.bf16_tflops,
            Precision::Fp8 => self.fp8_tflops.unwrap_or(self.bf16_tflops),
        };
        FlopsPerSecond(tflops * 1e12)
    }
    /// Memory capacity. Sheets say GB and mean GiB: a card sold with 80 GB reports 81,920 MiB (A100) or 81,559 MiB (H100).
    pub fn hbm(&self) -> Bytes {
        Bytes::from_gib(self.hbm_gb)
    }
    /// Memory bandwidth.
    pub fn hbm_bandwidth(&self) -> BytesPerSecond {
        BytesPerSecond(self.hbm_tb_s * 1e12)
    }
    /// NVLink bandwidth, one direction.
    pub fn nvlink(&self) -> BytesPerSecond {
        BytesPerSecond(self.nvlink_gb_s_bidir * 0.5e9)
    }
    /// Scale-out bandwidth, one direction.
    pub fn scaleout(&self) -> BytesPerSecond {
        BytesPerSecond(self.scaleout_gbit_s * 1e9 / 8.0)
    }
    /// Board power limit.
    pub fn tdp(&self) -> Watts {
        Watts(self.tdp_w)
    }
    /// Clock at a compute factor (1 = base), where the base clock is published.
    pub fn clock(&self, perf: f64) -> Option<Megahertz> {
        self.base_clock_mhz.map(|mhz| Megahertz(mhz * perf))
    }
}

/// A scale-up system: a GPU and how many of them one NVLink hop joins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Short name used on the command line and in links.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// The accelerator.
    pub gpu: Gpu,
    /// GPUs per scale-up domain.
    pub domain_size: u32,
    /// GPUs per serviced tray (the whole board in NVL8).
    pub tray_gpus: u32,
    /// NVLink switch trays drawn in the rack.
    #[serde(default)]
    pub switch_trays: u32,
    /// Where the numbers come from.
    #[serde(default)]
    pub source: String,
}

impl System {
    /// Compute trays per domain.
    pub fn trays(&self) -> u32 {
        self.domain_size.div_ceil(self.tray_gpus.max(1))
    }
    /// Checks every number against its range.
    pub fn validate(&self) -> Result<(), FieldError> {
        let range = |field: &str, value: f64, low: f64, high: f64| {
            if value.is_finite() && value >= low && value <= high {
                Ok(())
            } else {
                Err(FieldError::new(field, value, format!("{low} to {high}")))
            }
        };
        let gpu = &self.gpu;
        range("system.gpu.bf16_tflops", gpu.bf16_tflops, 1.0, 1e6)?;
        if let Some(fp8) = gpu.fp8_tflops {
            range("system.gpu.fp8_tflops", fp8, 1.0, 1e6)?;
        }
        range("system.gpu.hbm_gb", gpu.hbm_gb, 1.0, 1e5)?;
        range("system.gpu.hbm_tb_s", gpu.hbm_tb_s, 0.01, 1e4)?;
        range(
            "system.gpu.nvlink_gb_s_bidir",
            gpu.nvlink_gb_s_bidir,
            1.0,
            1e6,
        )?;
        range("system.gpu.scaleout_gbit_s", gpu.scaleout_gbit_s, 1.0, 1e6)?;
        range("system.gpu.tdp_w", gpu.tdp_w, 1.0, 1e5)?;
        if let Some(mhz) = gpu.base_clock_mhz {
            range("system.gpu.base_clock_mhz", mhz, 100.0, 1e4)?;
        }
        let (low, high) = DOMAIN_SIZE_RANGE;
        range(
            "system.domain_size",
            f64::from(self.domain_size),
            f64::from(low),
            f64::from(high),
        )?;
        range(
            "system.tray_gpus",
            f64::from(self.tray_gpus),
            1.0,
            f64::from(self.domain_size),
        )?;
        range(
            "system.switch_trays",
            f64::from(self.switch_trays),
            0.0,
            64.0,
        )
    }
}

/// A value that is not allowed: one line that names the field, the value and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {value} is not allowed, expected {allowed}")]
pub struct FieldError {
    /// Path of the field, as in the file.
    pub field: String,
    /// The value found.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl FieldError {
    /// From anything printable.
    pub fn new(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            value: value.to_string(),
            allowed: allowed.into(),
        }
    }
}

/// Every preset system, in the order shown.
pub fn systems() -> &'static [System] {
    static SYSTEMS: OnceLock<Vec<System>> = OnceLock::new();
    SYSTEMS.get_or_init(|| presets::ROWS.iter().map(presets::Row::system).collect())
}

/// The presets as `build.rs` writes them.
mod presets {
    use super::{Generation, Gpu, System};

    pub(super) struct Row {
        id: &'static str,
        name: &'static str,
        source: &'static str,
        domain_size: u32,
        tray_gpus: u32,
        switch_trays: u32,
        gpu: &'static str,
        generation: Generation,
        bf16_tflops: f64,
        fp8_tflops: Option<f64>,
        hbm_gb: f64,
        hbm_tb_s: f64,
        nvlink_gb_s_bidir: f64,
        scaleout_gbit_s: f64,
        tdp_w: f64,
        base_clock_mhz: Option<f64>,
    }

    impl Row {
        pub(super) fn system(&self) -> System {
            System {
                id: self.id.into(),
                name: self.name.into(),
                gpu: Gpu {
                    name: self.gpu.into(),
                    generation: self.generation,
                    bf16_tflops: self.bf16_tflops,
                    fp8_tflops: self.fp8_tflops,
                    hbm_gb: self.hbm_gb,
                    hbm_tb_s: self.hbm_tb_s,
                    nvlink_gb_s_bidir: self.nvlink_gb_s_bidir,
                    scaleout_gbit_s: self.scaleout_gbit_s,
                    tdp_w: self.tdp_w,
                    base_clock_mhz: self.base_clock_mhz,
                },
                domain_size: self.domain_size,
                tray_gpus: self.tray_gpus,
                switch_trays: self.switch_trays,
                source: self.source.into(),
            }
        }
    }

    include!(concat!(env!("OUT_DIR"), "/systems.rs"));
}

/// A preset by id.
pub fn system(id: &str) -> Option<&'static System> {
    systems().iter().find(|system| system.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_has_a_source() {
        assert_eq!(systems().len(), 8);
        for system in systems() {
            system.validate().unwrap();
            assert!(!system.source.is_empty(), "{} has no source", system.id);
        }
    }

    #[test]
    fn presets_are_those_of_the_file() {
        let text = include_str!("../../assets/data/systems.json");
        let file: Vec<System> = serde_json::from_str(text).unwrap();
        assert_eq!(systems(), file);
    }

    #[test]
    fn published_units_become_typed_quantities() {
        let gpu = &system("gb300-nvl72").unwrap().gpu;
        assert_eq!(gpu.nvlink(), BytesPerSecond(0.9e12));
        assert_eq!(gpu.scaleout(), BytesPerSecond(100e9));
        assert_eq!(gpu.clock(1.05), None);
        assert_eq!(
            system("h100-nvl8").unwrap().gpu.clock(1.1),
            Some(Megahertz(2178.0))
        );
    }
}
