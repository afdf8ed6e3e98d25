//! Layout, policy and hardware parameters.

use super::shown;
use crate::core::hardware::{FieldError, systems};
use crate::core::order;
use crate::core::scenario::json::{HEADS, PARITIES, PRECISIONS, RECOMPUTES};
use crate::core::scenario::text::{read as read_text, written};
use crate::core::scenario::{
    Degrees, Named, PartialLayout, Scenario, ScenarioError, derive_layout, derive_policy,
};
use crate::core::workload::models;
use serde::Serialize;
use serde_json::{Map, Value};

/// Link parameter, section and field of the scenario, and whether it is a switch.
const FIELDS: [(&str, &str, &str, bool); 22] = [
    ("tp", "layout", "tp", false),
    ("pp", "layout", "pp", false),
    ("dp", "layout", "dp", false),
    ("cp", "layout", "cp", false),
    ("vp", "layout", "vp", false),
    ("mbs", "layout", "microbatch", false),
    ("gbs", "layout", "global_batch", false),
    ("seq", "layout", "seq", false),
    ("precision", "layout", "precision", false),
    ("recompute", "layout", "recompute", false),
    ("sp", "layout", "sequence_parallel", true),
    ("overlap", "layout", "overlap", true),
    ("degrees", "policy", "degrees", false),
    ("parity", "policy", "parity", false),
    ("cap", "policy", "boost_cap", false),
    ("headroom", "policy", "rack_headroom", false),
    ("held", "policy", "in_domain_spares", false),
    ("spares", "policy", "spare_domains", false),
    ("hot", "policy", "hot_spare_domains", false),
    ("fixed", "policy", "fixed_minibatch", true),
    ("blast", "policy", "blast_radius", false),
    ("heads", "policy", "heads", false),
];

/// Where a parameter goes, and its value as JSON; the scenario reader checks the range.
pub(super) fn read(
    key: &str,
    text: &str,
) -> Result<(&'static str, &'static str, Value), ScenarioError> {
    let Some((_, section, field, switch)) = FIELDS.iter().find(|(name, ..)| *name == key) else {
        let known: Vec<&str> = FIELDS.iter().map(|(name, ..)| *name).collect();
        let known = format!(
            "v, sys, model, {}, fail, faults, {}",
            known.join(", "),
            super::view_keys().collect::<Vec<_>>().join(", ")
        );
        return Err(ScenarioError::Unknown {
            field: shown(key),
            known,
        });
    };
    let value = match (switch, text) {
        (true, "0") => Value::Bool(false),
        (true, "1") => Value::Bool(true),
        (true, _) => return Err(FieldError::new(key, shown(text), "0 or 1").into()),
        (false, "any") if *field == "degrees" => Value::String("any".into()),
        (false, _) if *field == "degrees" => Value::Array(text.split(',').map(loose).collect()),
        (false, _) => loose(text),
    };
    Ok((section, field, value))
}

/// A number where it is one, else text: what is wrong is said where the field is read.
fn loose(text: &str) -> Value {
    match read_text(text) {
        Some(number @ Value::Number(_)) => number,
        _ => Value::String(text.into()),
    }
}

fn word<T: PartialEq>(words: &[(&'static str, T)], value: &T) -> String {
    words
        .iter()
        .find(|(_, item)| item == value)
        .map_or("", |(word, _)| word)
        .into()
}

fn switch(on: bool) -> String {
    if on { "1" } else { "0" }.into()
}

/// Parameters of hardware, model, layout and policy; those at their defaults are left out.
pub(super) fn write(scenario: &Scenario) -> Vec<(String, String)> {
    let mut out = Vec::new();
    named(
        "sys",
        &scenario.system,
        systems(),
        |system| &system.id,
        &mut out,
    );
    named(
        "model",
        &scenario.model,
        models(),
        |model| &model.id,
        &mut out,
    );
    let (Ok(system), Ok(model)) = (scenario.system.resolve(), scenario.model.resolve()) else {
        return out;
    };

    // Each default follows from the fields before it, so what was written so far is given.
    let layout = &scenario.layout;
    let mut given = PartialLayout::default();
    macro_rules! field {
        ($name:literal, $field:ident, $text:expr) => {
            if derive_layout(&system, &model, &given).$field != layout.$field {
                given.$field = Some(layout.$field);
                out.push(($name.into(), $text));
            }
        };
    }
    field!("tp", tp, layout.tp.to_string());
    field!("pp", pp, layout.pp.to_string());
    field!("dp", dp, layout.dp.to_string());
    field!("cp", cp, layout.cp.to_string());
    field!("vp", vp, layout.vp.to_string());
    field!("mbs", microbatch, layout.microbatch.to_string());
    field!("gbs", global_batch, layout.global_batch.to_string());
    field!("seq", seq, layout.seq.to_string());
    field!("precision", precision, word(&PRECISIONS, &layout.precision));
    field!("sp", sequence_parallel, switch(layout.sequence_parallel));
    field!("overlap", overlap, switch(layout.overlap));

    let (policy, default) = (&scenario.policy, derive_policy(&system, layout.tp));
    let degrees = match &policy.degrees {
        Degrees::Any => "any".into(),
        Degrees::List(list) => list
            .iter()
            .map(u32::to_string)
            .collect::<Vec<_>>()
            .join(","),
    };
    let mut push = |name: &str, differs: bool, text: String| {
        if differs {
            out.push((name.into(), text));
        }
    };
    let recompute = derive_layout(&system, &model, &given).recompute;
    push(
        "recompute",
        recompute != layout.recompute,
        word(&RECOMPUTES, &layout.recompute),
    );
    push("degrees", policy.degrees != default.degrees, degrees);
    push(
        "parity",
        policy.parity != default.parity,
        word(&PARITIES, &policy.parity),
    );
    push(
        "cap",
        policy.boost_cap != default.boost_cap,
        policy.boost_cap.to_string(),
    );
    push(
        "headroom",
        policy.rack_headroom != default.rack_headroom,
        policy.rack_headroom.to_string(),
    );
    push(
        "held",
        policy.in_domain_spares != default.in_domain_spares,
        policy.in_domain_spares.to_string(),
    );
    push(
        "spares",
        policy.spare_domains != default.spare_domains,
        policy.spare_domains.to_string(),
    );
    push(
        "hot",
        policy.hot_spare_domains != default.hot_spare_domains,
        policy.hot_spare_domains.to_string(),
    );
    push(
        "fixed",
        policy.fixed_minibatch != default.fixed_minibatch,
        switch(policy.fixed_minibatch),
    );
    push(
        "blast",
        policy.blast_radius != default.blast_radius,
        policy.blast_radius.to_string(),
    );
    push(
        "heads",
        policy.heads != default.heads,
        word(&HEADS, &policy.heads),
    );
    out
}

/// Fields of a system or model by dotted path.
fn leaves(prefix: &str, value: &Value, out: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                leaves(&format!("{prefix}.{key}"), value, out);
            }
        }
        other => out.push((prefix.into(), other.clone())),
    }
}

fn flat<T: Serialize>(prefix: &str, item: &T) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    // Serialising plain numbers and words cannot fail.
    leaves(
        prefix,
        &serde_json::to_value(item).unwrap_or_default(),
        &mut out,
    );
    out
}

/// A field's text, `none` for one that is not there.
fn text(value: Option<&Value>) -> String {
    match value {
        None => "none".into(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => written(other),
    }
}

/// A preset by id; anything else as the nearest preset and the fields that differ.
fn named<T: Serialize + Clone>(
    prefix: &str,
    item: &Named<T>,
    presets: &[T],
    id: impl Fn(&T) -> &String,
    out: &mut Vec<(String, String)>,
) {
    let custom = match item {
        Named::Preset(id) => {
            out.push((prefix.into(), id.clone()));
            return;
        }
        Named::Custom(custom) => flat(prefix, &**custom),
    };
    let differing = |preset: &T| -> Vec<(String, String)> {
        let base = flat(prefix, preset);
        let find = |fields: &[(String, Value)], key: &str| {
            fields
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, v)| v.clone())
        };
        let mut keys: Vec<&String> = custom.iter().chain(&base).map(|(key, _)| key).collect();
        order::sort(&mut keys);
        keys.dedup();
        keys.into_iter()
            .filter(|key| find(&custom, key) != find(&base, key))
            .map(|key| (key.clone(), text(find(&custom, key).as_ref())))
            .collect()
    };
    let nearest = presets
        .iter()
        .map(|preset| (preset, differing(preset)))
        .min_by_key(|(_, fields)| fields.len());
    if let Some((preset, mut fields)) = nearest {
        out.push((prefix.into(), id(preset).clone()));
        if fields.is_empty() {
            // Even one that changes nothing is the user's own.
            fields.push((format!("{prefix}.id"), id(preset).clone()));
        }
        out.extend(fields);
    }
}

/// Collects `sys`, `sys.domain_size`, ... into what the scenario file would hold.
pub(super) struct Base {
    prefix: &'static str,
    id: String,
    changes: Vec<(String, String)>,
}

impl Base {
    pub(super) fn new(prefix: &'static str, opening: &Scenario) -> Self {
        let id = match (prefix, &opening.system, &opening.model) {
            ("sys", Named::Preset(id), _) | ("model", _, Named::Preset(id)) => id.clone(),
            _ => String::new(),
        };
        Self {
            prefix,
            id,
            changes: Vec::new(),
        }
    }

    /// Takes a parameter if it is one of these.
    pub(super) fn take(&mut self, key: &str, text: &str) -> Result<bool, ScenarioError> {
        if key == self.prefix {
            self.id = text.into();
            return Ok(true);
        }
        let Some(path) = key
            .strip_prefix(self.prefix)
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            return Ok(false);
        };
        if path.is_empty() || path.len() > 60 || path.matches('.').count() > 1 {
            return Err(FieldError::new(
                shown(key),
                shown(text),
                "a field such as sys.domain_size or sys.gpu.tdp_w",
            )
            .into());
        }
        self.changes.push((path.into(), text.into()));
        Ok(true)
    }

    /// The id, or the whole object when a field was changed.
    pub(super) fn finish(self) -> Result<Value, ScenarioError> {
        if self.changes.is_empty() {
            return Ok(Value::String(self.id));
        }
        let preset = if self.prefix == "sys" {
            serde_json::to_value(Named::<crate::core::hardware::System>::Preset(self.id).resolve()?)
        } else {
            serde_json::to_value(Named::<crate::core::workload::Model>::Preset(self.id).resolve()?)
        };
        // Serialising plain numbers and words cannot fail.
        let mut value = preset.unwrap_or_default();
        for (path, text) in self.changes {
            let (outer, inner) = path
                .split_once('.')
                .map_or((None, path.as_str()), |(outer, inner)| (Some(outer), inner));
            let target = match outer {
                None => Some(&mut value),
                Some(outer) => value.get_mut(outer),
            };
            let Some(Value::Object(fields)) = target else {
                return Err(FieldError::new(
                    format!("{}.{path}", self.prefix),
                    shown(&text),
                    "a field that there is",
                )
                .into());
            };
            set(fields, inner, &text);
        }
        Ok(value)
    }
}

/// Sets a field from its text: words where the field is one, numbers and switches otherwise.
fn set(fields: &mut Map<String, Value>, name: &str, text: &str) {
    const WORDS: [&str; 4] = ["id", "name", "source", "generation"];
    let value = match text {
        "none" if !WORDS.contains(&name) => {
            fields.remove(name);
            return;
        }
        _ if WORDS.contains(&name) => Value::String(text.into()),
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => loose(text),
    };
    fields.insert(name.into(), value);
}
