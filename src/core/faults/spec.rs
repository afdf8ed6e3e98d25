//! The `faults` part of a scenario: serde types and their ranges.

use crate::core::hardware::FieldError;
use crate::core::scenario::{FailureKind, Scenario, ScenarioError};
use serde::{Deserialize, Serialize};

/// Most causes in one scenario.
pub const MAX_CAUSES: usize = 64;
/// Most values of an empirical repair distribution.
pub const MAX_EMPIRICAL: usize = 100_000;

/// Which unit a cause strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One GPU.
    Gpu,
    /// One server: the 8-GPU board of NVL8, one compute tray of NVL72.
    Node,
    /// One serviced tray; the same unit as a node on the systems known so far.
    Tray,
    /// One whole scale-up domain.
    Domain,
    /// The job as such; no hardware is lost.
    Job,
}

/// Distribution of a unit's time to failure; its mean is `mtbf_h / weight`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "an object with kind exponential or weibull"
)]
pub enum Life {
    /// Constant hazard.
    #[default]
    Exponential,
    /// Hazard that falls (`shape` < 1, infant mortality) or rises (> 1, wear) with age.
    Weibull {
        /// Shape k, 0.2 to 10.
        shape: f64,
    },
}

/// Distribution of the time from detection until the hardware is back, hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "kebab-case",
    deny_unknown_fields,
    expecting = "an object with kind fixed, exponential, lognormal or empirical"
)]
pub enum Repair {
    /// Always the same.
    Fixed {
        /// Hours.
        mean_h: f64,
    },
    /// Memoryless.
    Exponential {
        /// Mean, hours.
        mean_h: f64,
    },
    /// Heavy-tailed.
    Lognormal {
        /// Mean, hours; at least the median.
        mean_h: f64,
        /// Median, hours.
        median_h: f64,
    },
    /// One of the listed durations, each as likely.
    Empirical {
        /// Hours.
        hours: Vec<f64>,
    },
}

/// One failure process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Cause {
    /// Name shown to people.
    pub name: String,
    /// Unit that it strikes.
    pub scope: Scope,
    /// Mean time between failures of one unit, hours, before `weight`.
    pub mtbf_h: f64,
    /// Share of that rate which is this cause's.
    #[serde(default = "one")]
    pub weight: f64,
    /// Minutes from the failure until it is noticed.
    #[serde(default)]
    pub detect_min: f64,
    /// Whether the struck unit is out until repaired; otherwise a restart is enough.
    #[serde(default = "yes")]
    pub takes_out: bool,
    /// Hardware, to which the blast radius applies, or software.
    #[serde(default)]
    pub kind: FailureKind,
    /// Time until the unit is back.
    #[serde(default = "five_days")]
    pub repair: Repair,
    /// Distribution of the time to failure.
    #[serde(default)]
    pub life: Life,
}

/// When checkpoints are taken: compute time from the end of one save to the start of the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected minutes, \"young\" or \"daly\"")]
pub enum CheckpointEvery {
    /// Minutes.
    Minutes(f64),
    /// By a formula, from the save time and the job's mean time between interruptions.
    Formula(Formula),
}

/// Formulas for the checkpoint interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Formula {
    /// Young's first order.
    Young,
    /// Daly's higher order.
    Daly,
}

/// Whether the job stands still while a checkpoint is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SaveMode {
    /// The job waits for the whole save.
    #[default]
    Blocking,
    /// The job waits for `stall_min`, then the save goes on beside compute.
    Async,
}

/// How checkpoints are saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Checkpoint {
    /// Compute time between saves.
    #[serde(default = "half_an_hour")]
    pub every_min: CheckpointEvery,
    /// Time until a save is finished, minutes.
    #[serde(default = "half")]
    pub takes_min: f64,
    /// Blocking or asynchronous.
    #[serde(default)]
    pub mode: SaveMode,
    /// Asynchronous: how long the job stands still for the snapshot, minutes, part of `takes_min`.
    #[serde(default)]
    pub stall_min: f64,
    /// Asynchronous: share of compute lost while the save goes on, 0 to 1.
    #[serde(default)]
    pub slowdown: f64,
}

/// Which clock the failure processes run on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strike {
    /// Wall clock.
    #[default]
    Always,
    /// Only while the job computes or saves.
    WhileRunning,
}

/// State of the hardware at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// All new and healthy.
    #[default]
    Cold,
    /// As after a long time of operation: outages under way, ages mixed.
    Steady,
}

/// When a running job takes repaired hardware back, which needs a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakeBack {
    /// After the next finished checkpoint when the throughput gained until the next expected interruption outweighs
    /// the restart; otherwise at the next restart.
    #[default]
    IfItPays,
    /// Only at the next restart that a failure causes.
    NextRestart,
    /// After the next finished checkpoint, always.
    NextCheckpoint,
}

/// Failure processes and how the operator reacts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Faults {
    /// What strikes.
    #[serde(default = "super::presets::default_causes")]
    pub causes: Vec<Cause>,
    /// How checkpoints are saved.
    #[serde(default)]
    pub checkpoint: Checkpoint,
    /// From detection (or from the moment enough hardware is there) until the job computes again, minutes.
    #[serde(default = "ten")]
    pub restart_min: f64,
    /// Clock of the failure processes.
    #[serde(default)]
    pub strike: Strike,
    /// Factor on every rate.
    #[serde(default = "one")]
    pub rate_multiplier: f64,
    /// State at the start.
    #[serde(default)]
    pub start: Start,
    /// Extra time of a restart that brings new spare domains in, minutes: 0 for hot ones, boot and health checks for cold ones.
    #[serde(default)]
    pub spare_start_min: f64,
    /// When repaired hardware is taken back.
    #[serde(default)]
    pub take_back: TakeBack,
}

fn one() -> f64 {
    1.0
}
fn half() -> f64 {
    0.5
}
fn ten() -> f64 {
    10.0
}
fn yes() -> bool {
    true
}
fn five_days() -> Repair {
    Repair::Fixed { mean_h: 120.0 }
}
fn half_an_hour() -> CheckpointEvery {
    CheckpointEvery::Minutes(30.0)
}

impl Default for Checkpoint {
    fn default() -> Self {
        Self {
            every_min: half_an_hour(),
            takes_min: half(),
            mode: SaveMode::Blocking,
            stall_min: 0.0,
            slowdown: 0.0,
        }
    }
}

impl Default for Faults {
    fn default() -> Self {
        super::presets::default_faults()
    }
}

impl Repair {
    /// Mean, hours.
    pub fn mean_h(&self) -> f64 {
        match self {
            Self::Fixed { mean_h }
            | Self::Exponential { mean_h }
            | Self::Lognormal { mean_h, .. } => *mean_h,
            Self::Empirical { hours } => hours.iter().sum::<f64>() / hours.len().max(1) as f64,
        }
    }
    fn validate(&self, path: &str) -> Result<(), FieldError> {
        match self {
            Self::Fixed { mean_h } => range(path, "mean_h", *mean_h, 0.0, 1e6),
            Self::Exponential { mean_h } => range(path, "mean_h", *mean_h, 1e-6, 1e6),
            Self::Lognormal { mean_h, median_h } => {
                range(path, "median_h", *median_h, 1e-6, 1e6)?;
                range(path, "mean_h", *mean_h, *median_h, 1e6)
            }
            Self::Empirical { hours } => {
                if hours.is_empty() || hours.len() > MAX_EMPIRICAL {
                    return Err(FieldError::new(
                        format!("{path}.hours"),
                        format!("{} values", hours.len()),
                        format!("1 to {MAX_EMPIRICAL} values"),
                    ));
                }
                hours
                    .iter()
                    .enumerate()
                    .try_for_each(|(i, hour)| range(path, &format!("hours[{i}]"), *hour, 0.0, 1e6))
            }
        }
    }
}

impl Cause {
    /// Failures per hour of one unit.
    pub fn unit_rate_per_h(&self) -> f64 {
        self.weight / self.mtbf_h
    }
    fn validate(&self, index: usize) -> Result<(), FieldError> {
        let path = format!("faults.causes[{index}]");
        if self.name.is_empty() || self.name.chars().count() > 80 {
            return Err(FieldError::new(
                format!("{path}.name"),
                format!("{:?}", self.name),
                "1 to 80 characters",
            ));
        }
        range(&path, "mtbf_h", self.mtbf_h, 1e-3, 1e12)?;
        range(&path, "weight", self.weight, 0.0, 1e6)?;
        range(&path, "detect_min", self.detect_min, 0.0, 1e5)?;
        if self.scope == Scope::Job && self.takes_out {
            return Err(FieldError::new(
                format!("{path}.takes_out"),
                true,
                "false where scope is job: no unit is struck",
            ));
        }
        if self.kind == FailureKind::Slow {
            return Err(FieldError::new(
                format!("{path}.kind"),
                "slow",
                "hardware or software",
            ));
        }
        if let Life::Weibull { shape } = self.life {
            range(&path, "life.shape", shape, 0.2, 10.0)?;
        }
        self.repair.validate(&format!("{path}.repair"))
    }
}

impl Checkpoint {
    fn validate(&self) -> Result<(), FieldError> {
        let path = "faults.checkpoint";
        if let CheckpointEvery::Minutes(minutes) = self.every_min {
            range(path, "every_min", minutes, 0.01, 1e7)?;
        }
        range(path, "takes_min", self.takes_min, 0.0, 1e5)?;
        range(path, "stall_min", self.stall_min, 0.0, self.takes_min)?;
        range(path, "slowdown", self.slowdown, 0.0, 0.99)
    }
}

/// A scenario file's text, its failure processes checked too.
///
/// # Errors
/// One line that names the field, the value and what is allowed.
pub fn read_file(text: &str) -> Result<Scenario, ScenarioError> {
    let scenario = Scenario::from_json(text)?;
    Faults::read(scenario.faults.as_ref())?;
    Ok(scenario)
}

/// The first part that is a list where fields by name are wanted: serde would take them by their order.
fn listed(faults: &serde_json::Value) -> Option<String> {
    let causes = faults.get("causes").and_then(serde_json::Value::as_array);
    let cause = causes
        .into_iter()
        .flatten()
        .enumerate()
        .find_map(|(index, cause)| {
            let path = format!("faults.causes[{index}]");
            let inner = ["life", "repair"]
                .into_iter()
                .find(|name| cause.get(name).is_some_and(serde_json::Value::is_array));
            match inner {
                _ if cause.is_array() => Some(path),
                inner => inner.map(|name| format!("{path}.{name}")),
            }
        });
    let checkpoint = faults.get("checkpoint").filter(|part| part.is_array());
    cause.or_else(|| checkpoint.map(|_| "faults.checkpoint".to_owned()))
}

impl Faults {
    /// From a scenario's `faults` value; absent: the Llama 3 rates.
    ///
    /// # Errors
    /// One line with the field's path when a field is unknown, of the wrong type or out of range.
    pub fn read(value: Option<&serde_json::Value>) -> Result<Self, ScenarioError> {
        let faults: Self = match value {
            None | Some(serde_json::Value::Null) => Self::default(),
            Some(value) if !value.is_object() => {
                return Err(FieldError::new("faults", value, "an object").into());
            }
            Some(value) => {
                if let Some(path) = listed(value) {
                    return Err(FieldError::new(path, "a list", "an object").into());
                }
                serde_path_to_error::deserialize(value).map_err(|error| {
                    let path = error.path().to_string();
                    let field = if path == "." {
                        "faults".to_owned()
                    } else {
                        format!("faults.{path}")
                    };
                    let said = error.inner().to_string();
                    let said = said
                        .replace("expected f64", "expected a number")
                        .replace("expected a sequence", "expected a list");
                    ScenarioError::Form(format!("{field}: {said}"))
                })?
            }
        };
        faults.validate()?;
        Ok(faults)
    }

    /// Mean detection time of failures that take hardware out, by rate, minutes; 3 without any.
    pub fn mean_detect_min(&self) -> f64 {
        let causes = self.causes.iter().filter(|cause| cause.takes_out);
        let (sum, rate) = causes.fold((0.0, 0.0), |(sum, rate), cause| {
            let own = cause.unit_rate_per_h();
            (sum + cause.detect_min * own, rate + own)
        });
        if rate > 0.0 { sum / rate } else { 3.0 }
    }

    /// Mean repair time of failures that take hardware out, by rate, hours; five days without any.
    pub fn mean_repair_h(&self) -> f64 {
        let causes = self.causes.iter();
        let hardware =
            causes.filter(|cause| cause.takes_out && cause.kind == FailureKind::Hardware);
        let (sum, rate) = hardware.fold((0.0, 0.0), |(sum, rate), cause| {
            let own = cause.unit_rate_per_h();
            (sum + cause.repair.mean_h() * own, rate + own)
        });
        if rate > 0.0 { sum / rate } else { 120.0 }
    }

    /// Checks every number against its range.
    pub fn validate(&self) -> Result<(), FieldError> {
        if self.causes.len() > MAX_CAUSES {
            return Err(FieldError::new(
                "faults.causes",
                format!("{} causes", self.causes.len()),
                format!("0 to {MAX_CAUSES} causes"),
            ));
        }
        self.causes
            .iter()
            .enumerate()
            .try_for_each(|(index, cause)| cause.validate(index))?;
        self.checkpoint.validate()?;
        range("faults", "restart_min", self.restart_min, 0.0, 1e5)?;
        range("faults", "rate_multiplier", self.rate_multiplier, 0.0, 1e6)?;
        range("faults", "spare_start_min", self.spare_start_min, 0.0, 1e5)
    }
}

fn range(path: &str, field: &str, value: f64, low: f64, high: f64) -> Result<(), FieldError> {
    if value.is_finite() && value >= low && value <= high {
        Ok(())
    } else {
        Err(FieldError::new(
            format!("{path}.{field}"),
            value,
            format!("{low} to {high}"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(value: &serde_json::Value) -> String {
        Faults::read(Some(value)).unwrap_err().to_string()
    }

    #[test]
    fn the_contract_example_reads_and_writes_back() {
        let value = json!({"causes": [{"name": "gpu", "scope": "gpu", "mtbf_h": 50700, "weight": 0.78, "detect_min": 3,
            "takes_out": true, "repair": {"kind": "fixed", "mean_h": 120}}],
            "checkpoint": {"every_min": 30, "takes_min": 0.5}, "restart_min": 10, "strike": "always"});
        let faults = Faults::read(Some(&value)).unwrap();
        assert_eq!(faults.causes[0].repair.mean_h(), 120.0);
        assert_eq!(faults.checkpoint, Checkpoint::default());
        let written = serde_json::to_value(&faults).unwrap();
        assert_eq!(Faults::read(Some(&written)).unwrap(), faults);
    }

    #[test]
    fn errors_are_one_line_with_the_path_and_what_is_allowed() {
        let cause = json!({"name": "x", "scope": "gpu", "mtbf_h": 0});
        insta::assert_snapshot!([
            error(&json!({"causes": [cause]})),
            error(&json!({"causes": [{"name": "x", "scope": "rack", "mtbf_h": 1}]})),
            error(&json!({"causes": [{"name": "x", "scope": "gpu", "mtbf_h": "often"}]})),
            error(&json!({"causes": [{"name": "x", "scope": "job", "mtbf_h": 40}]})),
            error(&json!({"causes": [{"name": "x", "scope": "gpu", "mtbf_h": 40, "repair": {"kind": "empirical", "hours": []}}]})),
            error(&json!({"causes": [{"name": "x", "scope": "gpu", "mtbf_h": 40, "repair": {"kind": "lognormal", "mean_h": 1, "median_h": 2}}]})),
            error(&json!({"causes": [{"name": "x", "scope": "gpu", "mtbf_h": 40, "colour": 1}]})),
            error(&json!({"restart_min": -1})),
            error(&json!({"checkpoint": {"every_min": 0}})),
            error(&json!({"checkpoint": {"every_min": "often"}})),
            error(&json!({"strike": "sometimes"})),
            error(&json!([])),
        ].join("\n"));
    }

    #[test]
    fn nothing_given_means_the_llama_3_rates() {
        assert_eq!(Faults::read(None).unwrap(), Faults::default());
        assert_eq!(Faults::read(Some(&json!({}))).unwrap(), Faults::default());
    }
}
