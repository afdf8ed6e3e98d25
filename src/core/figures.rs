//! The paper's figures, computed: data with the settings it was made with, and the paper's values beside ours.
//!
//! [`all`] is the registry; each figure is a module with a `build`. Drawing is [`crate::scene::charts`]'s.

pub mod draws;
pub mod fig10;
pub mod fig2a;
pub mod fig3;
pub mod fig4;
pub mod fig6;
pub mod fig7;
pub mod fig8;
pub mod pieces;
pub mod power;
pub mod survivors;
pub mod validation;
mod work;

pub use work::{Work, work};

use super::scenario::Scenario;
use super::strategy::StrategyId;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// How much work to put into figures that draw random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Draws or runs per point, where a figure has them.
    pub runs: u32,
    /// Seed of every draw.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { runs: 200, seed: 1 }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// A line through the points, with a mark at each.
    Line,
    /// Marks alone.
    Points,
    /// A reference line without marks.
    Guide,
}

/// One axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Quantity with its unit.
    pub label: String,
    /// Logarithmic scale.
    pub log: bool,
    /// Fractions shown as percent.
    pub percent: bool,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self {
            label: label.into(),
            log: false,
            percent: false,
        }
    }
    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self {
            log: true,
            ..Self::linear(label)
        }
    }
    /// A linear axis of fractions, labelled in percent.
    pub fn percent(label: &str) -> Self {
        Self {
            percent: true,
            ..Self::linear(label)
        }
    }
}

/// One series of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name at its end or in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Whose the series is, where it is a strategy's, for its colour and marker.
    pub strategy: Option<StrategyId>,
    /// Points, in axis units.
    pub points: Vec<(f64, f64)>,
    /// Low and high end of the spread at each point (10th and 90th percentile); empty without draws.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub band: Vec<(f64, f64)>,
}

/// A value of the paper beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// What is compared.
    pub what: String,
    /// Unit of both values.
    pub unit: Cow<'static, str>,
    /// The paper's value; none where it prints none.
    pub paper: Option<f64>,
    /// The paper's words, such as "< 1" or "about 80".
    pub paper_words: String,
    /// Our value; none where the model has no answer, such as a boost past the cap.
    pub ours: Option<f64>,
}

impl Compared {
    /// A value the paper prints.
    pub fn new(what: impl Into<String>, unit: &'static str, paper: f64, ours: f64) -> Self {
        Self {
            what: what.into(),
            unit: unit.into(),
            paper: Some(paper),
            paper_words: format!("{paper}"),
            ours: Some(ours),
        }
    }
    /// Ours - paper, where both are known.
    pub fn difference(&self) -> Option<f64> {
        Some(self.ours? - self.paper?)
    }
}

/// A table shown under a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Column heads with units.
    pub columns: Vec<String>,
    /// Cells, as shown.
    pub rows: Vec<Vec<String>>,
}

/// A figure with everything needed to draw, export and check it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Id on the command line: `2a`, `6`, `power`.
    pub id: Cow<'static, str>,
    /// Title.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Series.
    pub series: Vec<Series>,
    /// The paper's values and ours.
    pub compared: Vec<Compared>,
    /// What the figure was computed with, name and value.
    pub settings: Vec<(String, String)>,
    /// The scenario behind it, to open and edit; none where no single one is.
    #[serde(
        default,
        deserialize_with = "scenario",
        skip_serializing_if = "Option::is_none"
    )]
    pub scenario: Option<Scenario>,
    /// A table that goes with it.
    pub table: Option<Table>,
}

impl Figure {
    /// A figure of which nothing is known.
    pub fn empty(id: &'static str, title: &str) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: Vec::new(),
            compared: Vec::new(),
            settings: Vec::new(),
            scenario: None,
            table: None,
        }
    }

    /// Series as CSV: one row a point; `low` and `high` columns where any series has a band.
    pub fn csv(&self) -> String {
        let banded = self.series.iter().any(|series| !series.band.is_empty());
        let more = if banded { ",low,high" } else { "" };
        let head = format!(
            "series,{},{}{more}\n",
            field(&self.x.label),
            field(&self.y.label)
        );
        let rows = self.series.iter().flat_map(|series| {
            let name = field(&series.name);
            series.points.iter().enumerate().map(move |(at, (x, y))| {
                let band = match series.band.get(at) {
                    Some((low, high)) => format!(",{low},{high}"),
                    None if banded => ",,".to_owned(),
                    None => String::new(),
                };
                format!("{name},{x},{y}{band}\n")
            })
        });
        std::iter::once(head).chain(rows).collect()
    }
}

/// As in files, with every default filled in.
fn scenario<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Scenario>, D::Error> {
    let value: Option<serde_json::Value> = Option::deserialize(from)?;
    let read = value.map(|value| Scenario::from_value(&value));
    read.transpose().map_err(serde::de::Error::custom)
}

fn field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// A figure of the registry. Not how it is made: whoever only lists figures should not carry that.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Id on the command line.
    pub id: &'static str,
    /// What it shows, one line.
    pub title: &'static str,
}

impl Entry {
    /// Makes it.
    pub fn build(&self, effort: &Effort) -> Figure {
        match self.id {
            "2a" => fig2a::build(),
            "3" => fig3::build(effort),
            "4" => fig4::build(effort),
            fig4::systems::ID => fig4::systems::build(effort),
            "6" => fig6::build(effort),
            "7" => fig7::build(effort),
            fig7::systems::ID => fig7::systems::build(effort),
            "8" => fig8::build(),
            "10" => fig10::build(effort),
            "power" => power::build(),
            "table1" => survivors::build(),
            "validation" => validation::build(),
            _ => Figure::empty(self.id, self.title),
        }
    }
}

/// Every figure, in the paper's order, ours after them.
pub fn all() -> &'static [Entry] {
    const fn entry(id: &'static str, title: &'static str) -> Entry {
        Entry { id, title }
    }
    const {
        &[
            entry("2a", fig2a::TITLE),
            entry("3", fig3::TITLE),
            entry("4", fig4::TITLE),
            entry(fig4::systems::ID, fig4::systems::TITLE),
            entry("6", fig6::TITLE),
            entry("7", fig7::TITLE),
            entry(fig7::systems::ID, fig7::systems::TITLE),
            entry("8", fig8::TITLE),
            entry("10", fig10::TITLE),
            entry("power", power::TITLE),
            entry("table1", survivors::TITLE),
            entry("validation", validation::TITLE),
        ]
    }
}

/// What goes under an id on the command line: the figure, and what it shows beyond the paper.
pub fn entries(id: &str) -> impl Iterator<Item = &'static Entry> {
    let under = move |entry: &&Entry| {
        let rest = entry.id.strip_prefix(id);
        !id.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    all().iter().filter(under)
}

/// A figure's entry by id.
pub fn entry(id: &str) -> Option<&'static Entry> {
    all().iter().find(|entry| entry.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_found() {
        for (i, entry) in all().iter().enumerate() {
            assert!(all().iter().skip(i + 1).all(|other| other.id != entry.id));
            assert_eq!(super::entry(entry.id).unwrap().title, entry.title);
        }
        assert!(super::entry("99").is_none());
        let ids = |id| entries(id).map(|entry| entry.id).collect::<Vec<_>>();
        assert_eq!(ids("4"), ["4", "4-nvl"]);
        assert_eq!(ids("7-nvl"), ["7-nvl"]);
        assert!(ids("1").is_empty() && ids("").is_empty());
    }

    #[test]
    fn every_figure_of_the_registry_can_be_made_and_told() {
        let effort = Effort { runs: 2, seed: 1 };
        for entry in all() {
            let figure = entry.build(&effort);
            assert_eq!(
                (figure.id.as_ref(), figure.title.as_str()),
                (entry.id, entry.title)
            );
            assert!(!figure.series.is_empty(), "{}", entry.id);
            let text = serde_json::to_string(&figure).unwrap();
            let told: Figure = serde_json::from_str(&text).unwrap();
            assert_eq!(told, figure, "{}", entry.id);
        }
    }

    #[test]
    fn csv_quotes_what_needs_it() {
        let figure = Figure {
            id: "x".into(),
            title: String::new(),
            x: Axis::linear("power, x TDP"),
            y: Axis::linear("perf"),
            series: vec![Series {
                name: "a \"b\"".into(),
                mark: Mark::Line,
                strategy: None,
                points: vec![(1.0, 2.5)],
                band: Vec::new(),
            }],
            compared: Vec::new(),
            settings: Vec::new(),
            scenario: None,
            table: None,
        };
        assert_eq!(
            figure.csv(),
            "series,\"power, x TDP\",perf\n\"a \"\"b\"\"\",1,2.5\n"
        );
    }
}
