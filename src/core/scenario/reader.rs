//! Reads typed fields out of parsed JSON with errors that name path, value and what is allowed.

use super::{ScenarioError, text};
use crate::core::hardware::FieldError;
use serde_json::{Map, Value};

/// Longest value repeated in an error, characters.
const SHOWN_CHARS: usize = 60;

fn shortened(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS) {
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// A value as one short line.
pub(super) fn shown(value: &Value) -> String {
    shortened(match value {
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".into(),
        other => text::written(other),
    })
}

/// A word in quotes, as one short line.
pub(super) fn quoted(word: &str) -> String {
    shown(&Value::String(word.into()))
}

/// The fields of one JSON object.
pub(super) struct Fields<'a> {
    path: String,
    map: &'a Map<String, Value>,
}

impl<'a> Fields<'a> {
    /// The object at `path` (empty for the whole file), with only `known` fields.
    pub(super) fn new(path: &str, value: &'a Value, known: &[&str]) -> Result<Self, ScenarioError> {
        let Value::Object(map) = value else {
            let path = if path.is_empty() { "scenario" } else { path };
            return Err(FieldError::new(path, shown(value), "an object").into());
        };
        let fields = Self {
            path: path.into(),
            map,
        };
        match map.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                let key: String = shortened(key.escape_debug().to_string());
                Err(ScenarioError::Unknown {
                    field: fields.path(&key),
                    known: known.join(", "),
                })
            }
            None => Ok(fields),
        }
    }

    /// Full path of a field.
    pub(super) fn path(&self, name: &str) -> String {
        if self.path.is_empty() {
            name.into()
        } else {
            format!("{}.{name}", self.path)
        }
    }

    /// A field as it stands.
    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.map.get(name)
    }

    /// The error of a field that must be there.
    pub(super) fn missing(&self, name: &str, allowed: &str) -> ScenarioError {
        ScenarioError::Missing {
            field: self.path(name),
            allowed: allowed.into(),
        }
    }

    fn wrong(&self, name: &str, value: &Value, allowed: impl Into<String>) -> ScenarioError {
        FieldError::new(self.path(name), shown(value), allowed).into()
    }

    /// A whole number in a range.
    pub(super) fn whole(
        &self,
        name: &str,
        (low, high): (u32, u32),
    ) -> Result<Option<u32>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match whole_number(value) {
            Some(number) if (low..=high).contains(&number) => Ok(Some(number)),
            _ if low == high => Err(self.wrong(name, value, low.to_string())),
            _ => Err(self.wrong(name, value, format!("{low} to {high}"))),
        }
    }

    /// A number in a range.
    pub(super) fn real(
        &self,
        name: &str,
        (low, high): (f64, f64),
    ) -> Result<Option<f64>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_f64() {
            Some(number) if number >= low && number <= high => Ok(Some(number)),
            _ => Err(self.wrong(name, value, format!("{low} to {high}"))),
        }
    }

    /// Any finite number; its range is checked where the whole thing is.
    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, ScenarioError> {
        match self.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => value
                .as_f64()
                .map(Some)
                .ok_or_else(|| self.wrong(name, value, "a number")),
        }
    }

    /// Any whole number that fits; its range is checked where the whole thing is.
    pub(super) fn count(&self, name: &str) -> Result<Option<u32>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        whole_number(value)
            .map(Some)
            .ok_or_else(|| self.wrong(name, value, "a whole number from 0"))
    }

    /// True or false.
    pub(super) fn flag(&self, name: &str) -> Result<Option<bool>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value
            .as_bool()
            .map(Some)
            .ok_or_else(|| self.wrong(name, value, "true or false"))
    }

    /// Any text.
    pub(super) fn text(&self, name: &str) -> Result<Option<String>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        value
            .as_str()
            .map(|text| Some(text.into()))
            .ok_or_else(|| self.wrong(name, value, "text"))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(
        &self,
        name: &str,
        words: &[(&str, T)],
    ) -> Result<Option<T>, ScenarioError> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let found = value
            .as_str()
            .and_then(|text| words.iter().find(|(word, _)| *word == text));
        let allowed = || {
            words
                .iter()
                .map(|(word, _)| *word)
                .collect::<Vec<_>>()
                .join(", ")
        };
        found
            .map(|&(_, item)| Some(item))
            .ok_or_else(|| self.wrong(name, value, format!("one of {}", allowed())))
    }
}

/// A JSON number that is a whole one (8 and 8.0 alike).
pub(super) fn whole_number(value: &Value) -> Option<u32> {
    let number = value.as_f64()?;
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number))
        .then_some(number as u32)
}
