//! The grid of a sweep: which fields of the scenario take which values.

use crate::core::hardware::FieldError;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

/// Most points of a grid.
pub const MAX_POINTS: usize = 1_000_000;

const LAYOUT: [&str; 12] = [
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
const POLICY: [&str; 10] = [
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
const FAULTS: [&str; 6] = [
    "restart_min",
    "strike",
    "rate_multiplier",
    "start",
    "spare_start_min",
    "take_back",
];
const CHECKPOINT: [&str; 5] = ["every_min", "takes_min", "mode", "stall_min", "slowdown"];

/// One key of the grid.
#[derive(Clone, Debug, PartialEq)]
struct Axis {
    name: String,
    path: Vec<String>,
    values: Vec<Value>,
}

/// All keys; the last one varies fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid(Vec<Axis>);

/// One value per key.
#[derive(Clone, Debug, PartialEq)]
pub struct Point(Vec<(String, Vec<String>, Value)>);

impl Grid {
    /// From `dp=16,32;blast_radius=1,4`. Commas inside brackets belong to the value.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let mut axes: Vec<Axis> = Vec::new();
        for part in text
            .split(';')
            .map(str::trim)
            .filter(|part| !part.is_empty())
        {
            let (name, values) = part
                .split_once('=')
                .ok_or_else(|| FieldError::new("over", part, "key=value,value;key=value,..."))?;
            let name = name.trim();
            let path = path(name).ok_or_else(|| {
                FieldError::new("over", name, "a field of layout, policy or faults, or a path such as faults.checkpoint.every_min")
            })?;
            if axes.iter().any(|axis| axis.path == path) {
                return Err(FieldError::new("over", name, "each key once"));
            }
            if values.trim().is_empty() {
                return Err(FieldError::new("over", part, "at least one value a key"));
            }
            let values: Vec<Value> = split(values).into_iter().map(value).collect();
            axes.push(Axis {
                name: name.to_owned(),
                path,
                values,
            });
        }
        if axes.is_empty() {
            return Err(FieldError::new(
                "over",
                format!("{text:?}"),
                "at least one key=value",
            ));
        }
        let points = axes
            .iter()
            .try_fold(1usize, |points, axis| points.checked_mul(axis.values.len()));
        match points {
            Some(1..=MAX_POINTS) => Ok(Self(axes)),
            _ => Err(FieldError::new(
                "over",
                text,
                format!("1 to {MAX_POINTS} points"),
            )),
        }
    }
    /// Points.
    pub fn len(&self) -> usize {
        self.0.iter().map(|axis| axis.values.len()).product()
    }
    /// Point by index.
    pub fn point(&self, index: usize) -> Point {
        let mut rest = index;
        let mut values: Vec<(String, Vec<String>, Value)> = self
            .0
            .iter()
            .rev()
            .map(|axis| {
                let count = axis.values.len().max(1);
                let value = axis.values.get(rest % count).cloned().unwrap_or_default();
                rest /= count;
                (axis.name.clone(), axis.path.clone(), value)
            })
            .collect();
        values.reverse();
        Point(values)
    }
}

impl Point {
    /// The scenario with the point's values in it.
    ///
    /// # Errors
    /// Where a path counts in a list that is too short, or in none.
    pub fn apply(&self, base: &Value) -> Result<Value, FieldError> {
        let mut scenario = base.clone();
        for (name, path, value) in &self.0 {
            set(&mut scenario, path, value)
                .map_err(|allowed| FieldError::new("over", name, allowed))?;
        }
        Ok(scenario)
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, _, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn path(name: &str) -> Option<Vec<String>> {
    let parts = |parts: &[&str]| Some(parts.iter().map(|part| (*part).to_owned()).collect());
    if LAYOUT.contains(&name) {
        parts(&["layout", name])
    } else if POLICY.contains(&name) {
        parts(&["policy", name])
    } else if FAULTS.contains(&name) {
        parts(&["faults", name])
    } else if CHECKPOINT.contains(&name) {
        parts(&["faults", "checkpoint", name])
    } else {
        let path: Vec<&str> = name.split('.').collect();
        let known = ["system", "model", "layout", "policy", "faults"];
        (path.iter().all(|part| !part.is_empty())
            && path.first().is_some_and(|first| known.contains(first)))
        .then(|| path.into_iter().map(str::to_owned).collect())
    }
}

/// Cuts at commas outside brackets.
fn split(values: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0i32, 0, Vec::new());
    for (at, c) in values.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(values.get(start..at).unwrap_or_default().trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(values.get(start..).unwrap_or_default().trim());
    found
}

/// JSON where it is JSON, else a word.
fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Puts a value at a path; the error says what is allowed.
fn set(target: &mut Value, path: &[String], value: &Value) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        *target = value.clone();
        return Ok(());
    };
    let index = first.parse::<usize>().ok();
    if let Value::Array(items) = target {
        let count = items.len();
        let item = index.and_then(|index| items.get_mut(index));
        return match item {
            Some(item) => set(item, rest, value),
            None => Err(format!("an entry of that list, which has {count}")),
        };
    }
    if index.is_some() {
        return Err(format!(
            "a list that the scenario holds, to count {first} in"
        ));
    }
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    match target {
        Value::Object(fields) => set(
            fields.entry(first.clone()).or_insert(Value::Null),
            rest,
            value,
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_key_is_fastest_and_values_land_at_their_path() {
        let grid =
            Grid::parse("dp=16,32; degrees=[30,28],any;every_min=10,daly;faults.causes.0.weight=1")
                .unwrap();
        assert_eq!(grid.len(), 8);
        let base = json!({"layout": {"tp": 8}, "faults": {"causes": [{"weight": 0.5}]}});
        assert_eq!(
            grid.point(6).apply(&base).unwrap(),
            json!({"layout": {"tp": 8, "dp": 32}, "policy": {"degrees": "any"},
                "faults": {"causes": [{"weight": 1}], "checkpoint": {"every_min": 10}}})
        );
        assert_eq!(
            serde_json::to_string(&grid.point(1)).unwrap(),
            r#"{"dp":16,"degrees":[30,28],"every_min":"daly","faults.causes.0.weight":1}"#
        );
    }

    #[test]
    fn entries_that_are_not_there_are_named() {
        let base = json!({"faults": {"causes": [{"weight": 0.5}]}});
        let said = |text: &str| {
            let point = Grid::parse(text).unwrap().point(0);
            point.apply(&base).unwrap_err().to_string()
        };
        insta::assert_snapshot!(
            [
                said("faults.causes.1.weight=1"),
                said("faults.causes.x.weight=1"),
                said("policy.degrees.0=1")
            ]
            .join("\n")
        );
    }

    #[test]
    fn wrong_grids_are_named() {
        let said: Vec<String> = ["", "dp", "colour=1", "dp=1;dp=2", ".=1"]
            .iter()
            .map(|text| Grid::parse(text).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(said.join("\n"));
        let many = (0..1001)
            .map(|n| n.to_string())
            .collect::<Vec<_>>()
            .join(",");
        assert!(Grid::parse(&format!("dp={many};pp={many}")).is_err());
    }
}
