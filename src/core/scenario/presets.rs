//! Scenarios to start from.

use super::{Scenario, ScenarioError};
use serde_json::Value;
use std::sync::OnceLock;

/// A scenario to start from; the first is the one the page opens with.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioPreset {
    /// Short name used in lists.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// The scenario.
    pub scenario: Scenario,
}

fn read(text: &str) -> Result<Vec<ScenarioPreset>, ScenarioError> {
    let all: Vec<Value> =
        serde_json::from_str(text).map_err(|error| ScenarioError::from_json_error(&error))?;
    let word = |entry: &Value, name: &str| {
        entry
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    all.iter()
        .map(|entry| {
            let scenario = Scenario::from_value(entry.get("scenario").unwrap_or(&Value::Null))?;
            Ok(ScenarioPreset {
                id: word(entry, "id"),
                name: word(entry, "name"),
                scenario,
            })
        })
        .collect()
}

/// Every preset scenario, in the order shown.
pub fn presets() -> &'static [ScenarioPreset] {
    static PRESETS: OnceLock<Vec<ScenarioPreset>> = OnceLock::new();
    PRESETS.get_or_init(|| {
        read(include_str!("../../../assets/data/scenarios.json")).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::strategy::Evaluator;

    #[test]
    fn every_preset_is_valid_and_fits_in_memory() {
        assert_eq!(presets().len(), 5);
        for preset in presets() {
            let job = preset.scenario.resolve().unwrap();
            assert!(!preset.id.is_empty() && !preset.name.is_empty());
            assert_eq!(Evaluator::new(&job).fits(), Ok(()), "{}", preset.id);
        }
    }

    #[test]
    fn the_first_is_the_opening_scene() {
        assert_eq!(presets()[0].scenario, Scenario::default_scene());
    }
}
