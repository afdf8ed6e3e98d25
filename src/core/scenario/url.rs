//! Links: a whole scenario in a readable hash, such as `#/rack?v=1&sys=gb300-nvl72&model=llama3-405b&fail=0.3,5.17`.
//!
//! | parameter | holds |
//! |---|---|
//! | `v` | version of the format, 1 |
//! | `sys`, `model` | preset ids; `sys.domain_size=144`, `model.layers=80` change one field of the preset |
//! | `tp` `pp` `dp` `cp` `vp` `mbs` `gbs` `seq` `precision` `recompute` `sp` `overlap` | layout |
//! | `degrees` `parity` `cap` `headroom` `held` `spares` `hot` `fixed` `blast` `heads` | policy |
//! | `fail` | `DOMAIN.GPU` with commas between; `0.3-7` for a run; `:sw` for software, `:slow0.8` for a slow GPU, `x4` for its own blast radius |
//! | `faults` | failure processes, as JSON |
//! | `embed`, `theme`, `sel`, ... | what is looked at: handed through |
//!
//! What a link leaves out means what it means in a scenario file; a link without `sys` and `model` starts from the
//! opening scene. Reading goes through the same checks as a file.

mod failures;
mod fields;
mod view;

use super::{Scenario, ScenarioError, VERSION, text};
use crate::core::hardware::FieldError;
use failures::{read_failures, write_failures};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};
pub use view::view_keys;

/// Longest link that is read, bytes.
pub const MAX_LINK_BYTES: usize = 1_000_000;

/// The opening scene, every field of it: what a link that names no hardware leaves out.
const OPENING: &str = "tp=72&pp=2&dp=8&cp=1&vp=1&mbs=1&gbs=64&seq=32768&precision=bf16&recompute=none&sp=1&overlap=1\
    &degrees=any&parity=one-degree&cap=1.3&headroom=1.3&held=8&spares=0&hot=2&fixed=0&blast=1&heads=whole";

/// What stays as it is in a value.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b',')
    .remove(b':')
    .remove(b'_')
    .remove(b'~');

/// What a link holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The page, such as `rack`; empty where the link names none.
    pub page: String,
    /// The scenario, valid.
    pub scenario: Scenario,
    /// View parameters, in the order of the link.
    pub view: Vec<(String, String)>,
}

impl Link {
    /// A view parameter.
    pub fn view(&self, key: &str) -> Option<&str> {
        self.view
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.as_str())
    }
    /// Whether only the scene is to be shown.
    pub fn embed(&self) -> bool {
        self.view("embed") == Some("1")
    }
}

/// Writes a link: the hash with its `#`. Fields at their defaults are left out; the same link always has the same text.
pub fn encode(page: &str, scenario: &Scenario, view: &[(String, String)]) -> String {
    let mut query = vec![("v".to_string(), VERSION.to_string())];
    query.extend(fields::write(scenario));
    if !scenario.failures.is_empty() {
        query.push(("fail".into(), write_failures(&scenario.failures)));
    }
    if let Some(faults) = &scenario.faults {
        query.push(("faults".into(), text::written(faults)));
    }
    query.extend(view.iter().cloned());
    let parameters: Vec<String> = query
        .iter()
        .map(|(key, value)| {
            format!(
                "{}={}",
                utf8_percent_encode(key, KEPT),
                utf8_percent_encode(value, KEPT)
            )
        })
        .collect();
    format!(
        "#/{}?{}",
        utf8_percent_encode(page, KEPT),
        parameters.join("&")
    )
}

/// Reads a link, with or without its `#`.
///
/// # Errors
/// One line that names the parameter, its value and what is allowed.
pub fn decode(hash: &str) -> Result<Link, ScenarioError> {
    if hash.len() > MAX_LINK_BYTES {
        return Err(FieldError::new(
            "link",
            format!("{} bytes", hash.len()),
            format!("at most {MAX_LINK_BYTES}"),
        )
        .into());
    }
    let rest = hash.trim_start_matches('#').trim_start_matches('/');
    let (page, query) = rest.split_once('?').unwrap_or((rest, ""));
    let page = plain(page.trim_end_matches('/'))?;
    let parameters = parameters(query)?;
    let given = |name: &str| {
        parameters
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    };
    if let Some(version) = given("v").filter(|version| *version != VERSION.to_string()) {
        return Err(FieldError::new(
            "v",
            shown(version),
            format!("{VERSION} (this page is older than the link)"),
        )
        .into());
    }

    let names_hardware = |prefix: &str| {
        let dotted = format!("{prefix}.");
        parameters
            .iter()
            .any(|(key, _)| key == prefix || key.starts_with(&dotted))
    };
    let opening = Scenario::default_scene();
    let start = if names_hardware("sys") || names_hardware("model") {
        ""
    } else {
        OPENING
    };
    let start = self::parameters(start)?;
    let (mut layout, mut policy) = (Map::new(), Map::new());
    let mut view = Vec::new();
    let mut system = fields::Base::new("sys", &opening);
    let mut model = fields::Base::new("model", &opening);
    let mut top = Map::new();
    for (key, text) in start.iter().chain(&parameters) {
        match key.as_str() {
            "v" => {}
            "fail" => {
                top.insert("failures".into(), read_failures(text)?);
            }
            "faults" => {
                let faults = text::read(text)
                    .ok_or_else(|| FieldError::new("faults", shown(text), "JSON"))?;
                top.insert("faults".into(), faults);
            }
            key if view::takes(key, text)? => view.push((key.to_string(), text.clone())),
            key if system.take(key, text)? || model.take(key, text)? => {}
            key => {
                let (section, field, value) = fields::read(key, text)?;
                let section = if section == "layout" {
                    &mut layout
                } else {
                    &mut policy
                };
                section.insert(field.into(), value);
            }
        }
    }
    top.insert("version".into(), VERSION.into());
    top.insert("layout".into(), Value::Object(layout));
    top.insert("policy".into(), Value::Object(policy));
    top.insert("system".into(), system.finish()?);
    top.insert("model".into(), model.finish()?);
    Ok(Link {
        page,
        scenario: Scenario::from_value(&Value::Object(top))?,
        view,
    })
}

fn shown(text: &str) -> String {
    super::reader::quoted(text)
}

/// Undoes percent encoding.
fn plain(text: &str) -> Result<String, ScenarioError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded
        .map(Into::into)
        .map_err(|_| FieldError::new("link", shown(text), "percent-encoded UTF-8").into())
}

fn parameters(query: &str) -> Result<Vec<(String, String)>, ScenarioError> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (plain(key)?, plain(value)?);
        if !seen.insert(key.clone()) {
            return Err(FieldError::new(shown(&key), "given twice", "once").into());
        }
        parameters.push((key, value));
    }
    Ok(parameters)
}

#[cfg(test)]
mod tests;
