//! What a number answers when asked "why?": its formula, the values filled in, where it comes from, and how far off it may
//! be.

use super::number::{count, fixed, score, time};
use super::verdict::lost_gpus;
use crate::core::strategy::Outcome;

/// One value of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The symbol in the formula.
    pub symbol: String,
    /// Its value with unit.
    pub value: String,
    /// What it is.
    pub meaning: String,
}

/// The answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// What is explained.
    pub title: String,
    /// The number, with its unit.
    pub value: String,
    /// The formula, in plain text.
    pub formula: String,
    /// The formula with its values filled in, as one text.
    pub filled: Option<String>,
    /// What stands behind its symbols.
    pub values: Vec<Value>,
    /// Where rule and data come from.
    pub source: String,
    /// The error measured on published data, where there is one.
    pub error: Option<String>,
}

impl Explanation {
    /// Starts with what is explained, its value and its formula.
    pub fn new(
        title: impl Into<String>,
        value: impl Into<String>,
        formula: impl Into<String>,
    ) -> Self {
        Self {
            title: title.into(),
            value: value.into(),
            formula: formula.into(),
            ..Self::default()
        }
    }
    /// Adds a value.
    pub fn with(
        mut self,
        symbol: impl Into<String>,
        value: impl Into<String>,
        meaning: impl Into<String>,
    ) -> Self {
        self.values.push(Value {
            symbol: symbol.into(),
            value: value.into(),
            meaning: meaning.into(),
        });
        self
    }
    /// Sets the formula with its values.
    pub fn filled(mut self, text: impl Into<String>) -> Self {
        self.filled = Some(text.into());
        self
    }
    /// Sets the source.
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }
    /// Sets the measured error.
    pub fn error(mut self, error: Option<String>) -> Self {
        self.error = error;
        self
    }
}

/// Goodput of one strategy right now.
pub fn goodput(outcome: &Outcome) -> Explanation {
    let lost = lost_gpus(outcome);
    Explanation::new(
        format!("Goodput of {}", outcome.strategy.id()),
        format!("{} of the healthy job; {} GPUs lost", score(outcome.goodput, 4), fixed(lost, 1)),
        "goodput = tokens/s delivered / (healthy tokens/s per GPU × GPUs occupied)",
    )
    .with("throughput", score(outcome.throughput, 4), "tokens/s against the healthy job")
    .with("mini-batch", count(u64::from(outcome.minibatch)), "sequences per step, over all replicas")
    .with("step", time(outcome.step_s.get()), "one step of the job")
    .with("occupied", count(outcome.occupied_gpus), "GPUs of the job's domains, left-over and spare ones included")
    .with("lost", fixed(lost, 1), "GPUs: (1 − goodput) × occupied")
    .source("Definition of goodput right now: useful work over what the same GPUs would do without a failure")
}
