//! One row of a table of training runs: a layout on some GPUs, and the published step time where there is one.

use crate::core::cost::{Constants, Replica, StepCost, step_with, table_name};
use crate::core::hardware::{FieldError, Precision, System, system};
use crate::core::scenario::{HeadSplit, Layout, Recompute};
use crate::core::workload::Model;

/// Micro-batch sizes tried where a row gives none.
pub const MICROBATCHES: [u32; 4] = [1, 2, 4, 8];

/// Columns that every table must have, in any order. `id`, `mbs`, `vp`, `recompute`, `sequence_parallel`, `overlap` and
/// `measured_step_s` may be missing, as their cells may be empty.
pub const REQUIRED: [&str; 16] = [
    "gpu",
    "gpus",
    "layers",
    "hidden",
    "ffn",
    "heads",
    "kv_heads",
    "vocab",
    "seq",
    "gated",
    "tp",
    "pp",
    "dp",
    "cp",
    "gbs",
    "precision",
];

/// A run to predict.
#[derive(Clone, Debug)]
pub struct Run {
    /// Name of the row.
    pub id: String,
    /// Hardware.
    pub system: &'static System,
    /// Transformer.
    pub model: Model,
    /// Layout; its micro-batch is 1 where the row leaves it open.
    pub layout: Layout,
    /// Whether the micro-batch is to be chosen among [`MICROBATCHES`].
    pub choose_microbatch: bool,
    /// Published step time, s.
    pub measured_s: Option<f64>,
    /// Where the row comes from.
    pub source: String,
}

/// A predicted run.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    /// Micro-batch used.
    pub microbatch: u32,
    /// The step.
    pub cost: StepCost,
    /// Whether the fullest GPU holds it.
    pub fits: bool,
}

impl Run {
    /// Reads a row; `get` gives the cell of a column, or none where the table lacks it.
    pub fn read<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, FieldError> {
        let cell = |name: &str| get(name).map(str::trim).unwrap_or_default();
        let count = |name: &str, high: u32| -> Result<u32, FieldError> {
            let text = cell(name);
            let value = text
                .parse::<f64>()
                .ok()
                .filter(|v| v.fract() == 0.0 && *v >= 1.0 && *v <= f64::from(high));
            value.map(|v| v as u32).ok_or_else(|| {
                FieldError::new(
                    name,
                    quoted(text),
                    format!("a whole number from 1 to {high}"),
                )
            })
        };
        let optional = |name: &str, high: u32| {
            if cell(name).is_empty() {
                Ok(None)
            } else {
                count(name, high).map(Some)
            }
        };
        let flag = |name: &str, default: Option<bool>| match (
            cell(name).to_ascii_lowercase().as_str(),
            default,
        ) {
            ("1" | "true" | "yes", _) => Ok(true),
            ("0" | "false" | "no", _) => Ok(false),
            ("", Some(value)) => Ok(value),
            (other, _) => Err(FieldError::new(name, quoted(other), "0 or 1")),
        };
        let gpu = cell("gpu");
        let system = find_system(gpu).ok_or_else(|| {
            FieldError::new("gpu", quoted(gpu), "a preset id or a short GPU name")
        })?;
        let model = Model {
            id: String::new(),
            name: String::new(),
            layers: count("layers", 10_000)?,
            hidden: count("hidden", 1_000_000)?,
            ffn: count("ffn", 4_000_000)?,
            heads: count("heads", 100_000)?,
            kv_heads: count("kv_heads", 100_000)?,
            vocab: count("vocab", 10_000_000)?,
            gated: flag("gated", None)?,
            seq: count("seq", 100_000_000)?,
            published_parameters: None,
            source: String::new(),
        };
        if model.kv_heads > model.heads {
            return Err(FieldError::new(
                "kv_heads",
                model.kv_heads,
                format!("1 to {} (heads)", model.heads),
            ));
        }
        let microbatch = optional("mbs", 1_000_000)?;
        let layout = Layout {
            tp: count("tp", 100_000)?,
            pp: count("pp", 10_000)?,
            dp: count("dp", 10_000_000)?,
            cp: count("cp", 100_000)?,
            vp: optional("vp", 10_000)?.unwrap_or(1),
            microbatch: microbatch.unwrap_or(1),
            global_batch: count("gbs", 100_000_000)?,
            seq: model.seq,
            precision: match cell("precision").to_ascii_lowercase().as_str() {
                "bf16" => Precision::Bf16,
                "fp8" => Precision::Fp8,
                other => return Err(FieldError::new("precision", quoted(other), "bf16 or fp8")),
            },
            recompute: match cell("recompute").to_ascii_lowercase().as_str() {
                "" | "none" => Recompute::None,
                "selective" => Recompute::Selective,
                "full" => Recompute::Full,
                other => {
                    return Err(FieldError::new(
                        "recompute",
                        quoted(other),
                        "none, selective or full",
                    ));
                }
            },
            sequence_parallel: flag("sequence_parallel", Some(true))?,
            overlap: flag("overlap", Some(true))?,
        };
        if layout.global_batch < layout.dp {
            return Err(FieldError::new(
                "gbs",
                layout.global_batch,
                format!("at least dp = {}", layout.dp),
            ));
        }
        let local = layout.global_batch.div_ceil(layout.dp);
        if layout.microbatch > local {
            return Err(FieldError::new(
                "mbs",
                layout.microbatch,
                format!("1 to {local} (gbs / dp)"),
            ));
        }
        let gpus = count("gpus", 100_000_000)?;
        if layout.gpus() != u64::from(gpus) {
            return Err(FieldError::new(
                "gpus",
                gpus,
                format!("tp x pp x dp x cp = {}", layout.gpus()),
            ));
        }
        if layout.pp > model.layers {
            return Err(FieldError::new(
                "pp",
                layout.pp,
                format!("1 to {} (layers)", model.layers),
            ));
        }
        if layout.precision == Precision::Fp8 && system.gpu.fp8_tflops.is_none() {
            return Err(FieldError::new(
                "precision",
                "fp8",
                format!("bf16 ({} has no fp8)", system.gpu.name),
            ));
        }
        let measured = cell("measured_step_s");
        let measured_s = match measured.parse::<f64>() {
            _ if measured.is_empty() => None,
            Ok(value) if value.is_finite() && value > 0.0 => Some(value),
            _ => {
                return Err(FieldError::new(
                    "measured_step_s",
                    quoted(measured),
                    "seconds above 0, or empty",
                ));
            }
        };
        Ok(Self {
            id: cell("id").to_owned(),
            system,
            model,
            layout,
            choose_microbatch: microbatch.is_none(),
            measured_s,
            source: cell("source").to_owned(),
        })
    }

    /// Predicts the step with given constants; an open micro-batch is chosen by [`predict`].
    pub fn predict(&self, constants: &Constants) -> Prediction {
        let layout = &self.layout;
        let replica = Replica {
            system: self.system,
            model: &self.model,
            layout,
            degree: layout.tp,
            sync_degree: layout.tp,
            local_batch: layout.global_batch.div_ceil(layout.dp),
            perf: 1.0,
            heads: HeadSplit::Whole,
        };
        predict(
            &replica,
            if self.choose_microbatch {
                &MICROBATCHES
            } else {
                &[]
            },
            constants,
        )
    }

    /// Whether a fitted factor (by its name) plays a part in this run.
    pub fn uses(&self, factor: &str) -> bool {
        let Some((gpu, precision)) = factor
            .strip_prefix("training_factor ")
            .and_then(|rest| rest.split_once(' '))
        else {
            return factor != "cast_bytes" || self.layout.precision == Precision::Fp8;
        };
        let bf16 = precision == "bf16";
        table_name(&self.system.gpu) == gpu && (bf16 || self.layout.precision == Precision::Fp8)
    }
}

/// Predicts a replica. Of the micro-batches offered, the fastest that fits and divides the local batch; where none fits,
/// the one that needs least memory; the layout's own where none is offered.
pub fn predict(replica: &Replica<'_>, microbatches: &[u32], constants: &Constants) -> Prediction {
    let with = |layout: &Layout| {
        let cost = step_with(&Replica { layout, ..*replica }, constants);
        let fits = cost.memory.total().get() <= replica.system.gpu.hbm().get();
        Prediction {
            microbatch: layout.microbatch,
            cost,
            fits,
        }
    };
    let mut best: Option<Prediction> = None;
    let mut layout = replica.layout.clone();
    for microbatch in microbatches
        .iter()
        .filter(|m| replica.local_batch.is_multiple_of(**m))
    {
        layout.microbatch = *microbatch;
        let next = with(&layout);
        let better = best.is_none_or(|b| match (next.fits, b.fits) {
            (true, true) => next.cost.step_s.get() < b.cost.step_s.get(),
            (false, false) => next.cost.memory.total().get() < b.cost.memory.total().get(),
            (fits, _) => fits,
        });
        if better {
            best = Some(next);
        }
    }
    best.unwrap_or_else(|| with(replica.layout))
}

fn quoted(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    format!("\"{short}\"")
}

/// A preset by its id or by the short GPU name that tables of runs use.
pub fn find_system(name: &str) -> Option<&'static System> {
    let name = name.to_ascii_lowercase();
    let id = match name.as_str() {
        "a100" | "a100-sxm" | "a100-80gb" | "a100-80gb-sxm" => "a100-80gb-nvl8",
        "h100" | "h100-sxm" | "h100-80gb" => "h100-nvl8",
        "h200" | "h200-sxm" => "h200-nvl8",
        "b200" | "b200-sxm" | "b200-hgx" => "b200-nvl8",
        "b300" | "b300-sxm" | "b300-hgx" => "b300-nvl8",
        "gb200" => "gb200-nvl72",
        "gb300" => "gb300-nvl72",
        other => other,
    };
    system(id)
}
