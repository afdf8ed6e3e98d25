//! What is asked, and of how many seeds.

use crate::core::hardware::FieldError;
use serde::{Deserialize, Serialize};

/// Most seeds of one study.
pub const MAX_STUDY_RUNS: u32 = 10_000;
/// Longest simulated time of a study, days.
const MAX_DAYS: f64 = 365.0;
/// Most spare domains or in-domain spares of a frontier.
const MAX_SPARES: u32 = 10_000;

/// What changes from row to row of the checkpoint map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rows {
    /// Time that a save takes.
    #[default]
    SaveTime,
    /// Rate of failures.
    FailureRate,
}

/// The question of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// Work per GPU-hour against the number of spare domains, from 0 to `most`.
    SpareDomains {
        /// Most spare domains; the axis has at most 13 points.
        most: u32,
    },
    /// Work per GPU-hour against GPUs of every domain that the layout leaves over, from 0 to `most`: is TP64 with 8 to
    /// replace failed ones better than TP72?
    InDomainSpares {
        /// Most GPUs left over in a domain.
        most: u32,
    },
    /// Goodput against the time between checkpoints, at several save times or failure rates.
    Interval {
        /// What the rows are.
        rows: Rows,
    },
    /// Goodput lost against GPUs that go down with one failure, on this system and on its NVL8 or NVL72 counterpart.
    BlastRadius,
    /// How far the goodput moves when one assumption at a time is halved or doubled.
    Sensitivity,
}

impl Question {
    /// Name on the command line and in messages.
    pub const fn id(self) -> &'static str {
        match self {
            Self::SpareDomains { .. } => "spare-domains",
            Self::InDomainSpares { .. } => "in-domain-spares",
            Self::Interval { .. } => "interval",
            Self::BlastRadius => "blast-radius",
            Self::Sensitivity => "sensitivity",
        }
    }
}

/// A question with its effort.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// What is asked.
    pub question: Question,
    /// Simulated days of each run.
    pub days: f64,
    /// Seeds per point.
    pub runs: u32,
    /// First seed; run i uses `seed` + i.
    pub seed: u64,
}

impl Setup {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// One line with field, value and what is allowed.
    pub fn check(&self) -> Result<(), FieldError> {
        let days_allowed = self.days > 0.0 && self.days <= MAX_DAYS;
        if !days_allowed {
            return Err(FieldError::new(
                "days",
                self.days,
                format!("above 0, at most {MAX_DAYS}"),
            ));
        }
        if !(1..=MAX_STUDY_RUNS).contains(&self.runs) {
            return Err(FieldError::new(
                "runs",
                self.runs,
                format!("1 to {MAX_STUDY_RUNS}"),
            ));
        }
        match self.question {
            Question::SpareDomains { most } | Question::InDomainSpares { most }
                if !(1..=MAX_SPARES).contains(&most) =>
            {
                Err(FieldError::new("most", most, format!("1 to {MAX_SPARES}")))
            }
            _ => Ok(()),
        }
    }
}
