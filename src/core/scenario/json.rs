//! Scenario files: JSON in and out.

use super::reader::{Fields, shown, whole_number};
use super::{
    Degrees, Failure, FailureKind, HeadSplit, Layout, Named, Parity, PartialLayout, Policy,
    Recompute, Scenario, ScenarioError, VERSION, derive_layout, derive_policy, limits,
};
use crate::core::hardware::{DOMAIN_SIZE_RANGE, FieldError, Generation, Gpu, Precision, System};
use crate::core::workload::Model;
use serde::Serialize;
use serde_json::Value;

/// Speed of a slow GPU whose scenario gives none.
const DEFAULT_SLOW_SPEED: f64 = 0.8;

/// The words of [`Precision`] in files and links.
pub(super) const PRECISIONS: [(&str, Precision); 2] =
    [("bf16", Precision::Bf16), ("fp8", Precision::Fp8)];
/// The words of [`Recompute`].
pub(super) const RECOMPUTES: [(&str, Recompute); 3] = [
    ("none", Recompute::None),
    ("selective", Recompute::Selective),
    ("full", Recompute::Full),
];
/// The words of [`FailureKind`].
pub(super) const KINDS: [(&str, FailureKind); 3] = [
    ("hardware", FailureKind::Hardware),
    ("software", FailureKind::Software),
    ("slow", FailureKind::Slow),
];
/// The words of [`Parity`].
pub(super) const PARITIES: [(&str, Parity); 2] = [
    ("per-replica", Parity::PerReplica),
    ("one-degree", Parity::OneDegree),
];
/// The words of [`HeadSplit`].
pub(super) const HEADS: [(&str, HeadSplit); 2] =
    [("whole", HeadSplit::Whole), ("even", HeadSplit::Even)];
const GENERATIONS: [(&str, Generation); 4] = [
    ("a100", Generation::A100),
    ("h100", Generation::H100),
    ("b200", Generation::B200),
    ("b300", Generation::B300),
];

const SCENARIO_FIELDS: [&str; 7] = [
    "version", "system", "model", "layout", "failures", "policy", "faults",
];
const LAYOUT_FIELDS: [&str; 12] = [
    "tp",
    "pp",
    "dp",
    "cp",
    "vp",
    "microbatch",
    "global_batch",
    "seq",
    "precision",
    "recompute",
    "sequence_parallel",
    "overlap",
];
const FAILURE_FIELDS: [&str; 5] = ["domain", "gpu", "kind", "speed", "blast_radius"];
const POLICY_FIELDS: [&str; 10] = [
    "degrees",
    "parity",
    "boost_cap",
    "rack_headroom",
    "in_domain_spares",
    "spare_domains",
    "hot_spare_domains",
    "fixed_minibatch",
    "blast_radius",
    "heads",
];
const SYSTEM_FIELDS: [&str; 7] = [
    "id",
    "name",
    "gpu",
    "domain_size",
    "tray_gpus",
    "switch_trays",
    "source",
];
const GPU_FIELDS: [&str; 10] = [
    "name",
    "generation",
    "bf16_tflops",
    "fp8_tflops",
    "hbm_gb",
    "hbm_tb_s",
    "nvlink_gb_s_bidir",
    "scaleout_gbit_s",
    "tdp_w",
    "base_clock_mhz",
];
const MODEL_FIELDS: [&str; 12] = [
    "id",
    "name",
    "layers",
    "hidden",
    "ffn",
    "heads",
    "kv_heads",
    "vocab",
    "gated",
    "seq",
    "published_parameters",
    "source",
];

impl Scenario {
    /// Reads a scenario file. Every field but `version`, `system` and `model` is optional; what it means when absent follows
    /// from the system and the model ([`derive_layout`], [`derive_policy`]).
    ///
    /// # Errors
    /// One line that names the field, the value and what is allowed.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| ScenarioError::from_json_error(&error))?;
        Self::from_value(&value)
    }

    /// Reads a scenario from parsed JSON, with the rules of [`Scenario::from_json`].
    pub fn from_value(value: &Value) -> Result<Self, ScenarioError> {
        let fields = Fields::new("", value, &SCENARIO_FIELDS)?;
        if fields.whole("version", (VERSION, VERSION))?.is_none() {
            return Err(fields.missing("version", &VERSION.to_string()));
        }
        let named = "a preset id or an object";
        let system = match fields.get("system") {
            None => return Err(fields.missing("system", named)),
            Some(Value::String(id)) => Named::Preset(id.clone()),
            Some(object) => Named::Custom(Box::new(read_system(object)?)),
        };
        let model = match fields.get("model") {
            None => return Err(fields.missing("model", named)),
            Some(Value::String(id)) => Named::Preset(id.clone()),
            Some(object) => Named::Custom(Box::new(read_model(object)?)),
        };
        let (hardware, transformer) = (system.resolve()?, model.resolve()?);
        let empty = Value::Object(serde_json::Map::new());
        let layout = read_layout(
            fields.get("layout").unwrap_or(&empty),
            &hardware,
            &transformer,
        )?;
        let policy = read_policy(fields.get("policy").unwrap_or(&empty), &hardware, layout.tp)?;
        let failures = match fields.get("failures") {
            None => Vec::new(),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| read_failure(index, item, &hardware))
                .collect::<Result<_, _>>()?,
            Some(other) => return Err(FieldError::new("failures", shown(other), "a list").into()),
        };
        let scenario = Self {
            system,
            model,
            layout,
            failures,
            policy,
            faults: fields.get("faults").cloned(),
        };
        limits::check(&scenario, &hardware, &transformer)?;
        Ok(scenario)
    }

    /// The scenario as a file: every field written out, same scenario same bytes, one newline at the end.
    pub fn to_json(&self) -> String {
        // Serialising plain numbers, words and lists cannot fail.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl Serialize for Scenario {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct File<'a> {
            version: u32,
            system: &'a Named<System>,
            model: &'a Named<Model>,
            layout: &'a Layout,
            failures: &'a [Failure],
            policy: &'a Policy,
            #[serde(skip_serializing_if = "Option::is_none")]
            faults: &'a Option<Value>,
        }
        File {
            version: VERSION,
            system: &self.system,
            model: &self.model,
            layout: &self.layout,
            failures: &self.failures,
            policy: &self.policy,
            faults: &self.faults,
        }
        .serialize(serializer)
    }
}

fn read_layout(value: &Value, system: &System, model: &Model) -> Result<Layout, ScenarioError> {
    let fields = Fields::new("layout", value, &LAYOUT_FIELDS)?;
    let given = PartialLayout {
        tp: fields.whole("tp", limits::tp(system))?,
        pp: fields.whole("pp", limits::pp(model))?,
        dp: fields.whole("dp", limits::DP)?,
        cp: fields.whole("cp", limits::CP)?,
        vp: fields.whole("vp", limits::VP)?,
        microbatch: fields.whole("microbatch", limits::MICROBATCH)?,
        global_batch: fields.whole("global_batch", limits::BATCH)?,
        seq: fields.whole("seq", limits::SEQ)?,
        precision: fields.word("precision", &PRECISIONS)?,
        recompute: fields.word("recompute", &RECOMPUTES)?,
        sequence_parallel: fields.flag("sequence_parallel")?,
        overlap: fields.flag("overlap")?,
    };
    Ok(derive_layout(system, model, &given))
}

fn read_policy(value: &Value, system: &System, tp: u32) -> Result<Policy, ScenarioError> {
    let fields = Fields::new("policy", value, &POLICY_FIELDS)?;
    let default = derive_policy(system, tp);
    let degrees = match fields.get("degrees") {
        None => default.degrees,
        Some(Value::String(word)) if word == "any" => Degrees::Any,
        Some(Value::Array(items)) => {
            let read = |(index, item): (usize, &Value)| {
                let allowed = format!("1 to {tp}");
                whole_number(item).ok_or_else(|| {
                    FieldError::new(format!("policy.degrees[{index}]"), shown(item), allowed)
                })
            };
            Degrees::List(
                items
                    .iter()
                    .enumerate()
                    .map(read)
                    .collect::<Result<_, _>>()?,
            )
        }
        Some(other) => {
            return Err(FieldError::new(
                "policy.degrees",
                shown(other),
                "\"any\" or a list of degrees",
            )
            .into());
        }
    };
    Ok(Policy {
        degrees,
        parity: fields.word("parity", &PARITIES)?.unwrap_or(default.parity),
        boost_cap: fields
            .real("boost_cap", limits::POWER)?
            .unwrap_or(default.boost_cap),
        rack_headroom: fields
            .real("rack_headroom", limits::POWER)?
            .unwrap_or(default.rack_headroom),
        in_domain_spares: fields
            .whole("in_domain_spares", limits::in_domain_spares(system, tp))?
            .unwrap_or(default.in_domain_spares),
        spare_domains: fields
            .whole("spare_domains", limits::SPARE_DOMAINS)?
            .unwrap_or(default.spare_domains),
        hot_spare_domains: fields
            .whole("hot_spare_domains", limits::SPARE_DOMAINS)?
            .unwrap_or(default.hot_spare_domains),
        fixed_minibatch: fields
            .flag("fixed_minibatch")?
            .unwrap_or(default.fixed_minibatch),
        blast_radius: fields
            .whole("blast_radius", limits::blast(system))?
            .unwrap_or(default.blast_radius),
        heads: fields.word("heads", &HEADS)?.unwrap_or(default.heads),
    })
}

fn read_failure(index: usize, value: &Value, system: &System) -> Result<Failure, ScenarioError> {
    let fields = Fields::new(&format!("failures[{index}]"), value, &FAILURE_FIELDS)?;
    let kind = fields.word("kind", &KINDS)?.unwrap_or_default();
    let speed = if kind == FailureKind::Slow {
        DEFAULT_SLOW_SPEED
    } else {
        1.0
    };
    let last_gpu = system.domain_size.saturating_sub(1);
    Ok(Failure {
        // How many domains there are follows from the layout and is checked with it.
        domain: fields
            .count("domain")?
            .ok_or_else(|| fields.missing("domain", "a domain from 0"))?,
        gpu: fields
            .whole("gpu", (0, last_gpu))?
            .ok_or_else(|| fields.missing("gpu", &format!("0 to {last_gpu}")))?,
        kind,
        speed: fields
            .real("speed", limits::SLOW_SPEED_RANGE)?
            .unwrap_or(speed),
        blast_radius: fields.whole("blast_radius", limits::blast(system))?,
    })
}

fn read_system(value: &Value) -> Result<System, ScenarioError> {
    let fields = Fields::new("system", value, &SYSTEM_FIELDS)?;
    let gpu = read_gpu(
        fields
            .get("gpu")
            .ok_or_else(|| fields.missing("gpu", "an object"))?,
    )?;
    let (low, high) = DOMAIN_SIZE_RANGE;
    let size = fields.whole("domain_size", DOMAIN_SIZE_RANGE)?;
    let domain_size =
        size.ok_or_else(|| fields.missing("domain_size", &format!("{low} to {high}")))?;
    let id = fields.text("id")?.unwrap_or_else(|| "custom".into());
    Ok(System {
        name: fields.text("name")?.unwrap_or_else(|| id.clone()),
        id,
        gpu,
        domain_size,
        tray_gpus: fields
            .whole("tray_gpus", (1, domain_size))?
            .unwrap_or(domain_size.min(4)),
        switch_trays: fields.whole("switch_trays", (0, 64))?.unwrap_or(0),
        source: fields.text("source")?.unwrap_or_default(),
    })
}

fn read_gpu(value: &Value) -> Result<Gpu, ScenarioError> {
    let fields = Fields::new("system.gpu", value, &GPU_FIELDS)?;
    let needed = |name: &str| {
        fields
            .number(name)?
            .ok_or_else(|| fields.missing(name, "a number"))
    };
    let generation = fields.word("generation", &GENERATIONS)?;
    Ok(Gpu {
        name: fields.text("name")?.unwrap_or_else(|| "custom".into()),
        generation: generation
            .ok_or_else(|| fields.missing("generation", "one of a100, h100, b200, b300"))?,
        bf16_tflops: needed("bf16_tflops")?,
        fp8_tflops: fields.number("fp8_tflops")?,
        hbm_gb: needed("hbm_gb")?,
        hbm_tb_s: needed("hbm_tb_s")?,
        nvlink_gb_s_bidir: needed("nvlink_gb_s_bidir")?,
        scaleout_gbit_s: needed("scaleout_gbit_s")?,
        tdp_w: needed("tdp_w")?,
        base_clock_mhz: fields.number("base_clock_mhz")?,
    })
}

fn read_model(value: &Value) -> Result<Model, ScenarioError> {
    let fields = Fields::new("model", value, &MODEL_FIELDS)?;
    let needed = |name: &str| {
        fields
            .count(name)?
            .ok_or_else(|| fields.missing(name, "a whole number"))
    };
    let heads = needed("heads")?;
    let id = fields.text("id")?.unwrap_or_else(|| "custom".into());
    let published_parameters = fields.number("published_parameters")?;
    Ok(Model {
        name: fields.text("name")?.unwrap_or_else(|| id.clone()),
        id,
        layers: needed("layers")?,
        hidden: needed("hidden")?,
        ffn: needed("ffn")?,
        heads,
        kv_heads: fields.count("kv_heads")?.unwrap_or(heads),
        vocab: needed("vocab")?,
        gated: fields.flag("gated")?.unwrap_or(false),
        seq: needed("seq")?,
        published_parameters,
        source: fields.text("source")?.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests;
