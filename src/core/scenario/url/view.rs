//! Parameters that say what is looked at: which there are, and which values they take.

use super::shown;
use crate::core::hardware::FieldError;
use crate::core::scenario::ScenarioError;
use crate::core::strategy::StrategyId;

/// What a view parameter takes.
enum Takes {
    /// Any text; whoever uses it says what it does not know.
    Any,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, with commas between them.
    Words(&'static [&'static str]),
    /// The id of a strategy.
    Strategy,
    /// A number between two others.
    Number(f64, f64),
    /// A whole number between two others.
    Whole(u64, u64),
}

const KEYS: [(&str, Takes); 16] = [
    ("embed", Takes::Word(&["0", "1"])),
    ("theme", Takes::Word(&["light", "dark"])),
    ("sel", Takes::Strategy),
    ("lang", Takes::Any),
    ("show", Takes::Words(&["racks", "rows", "gantt", "studies"])),
    ("talk", Takes::Word(&["0", "1"])),
    // Of a fleet, in days: the longest run.
    ("days", Takes::Number(0.01, 3650.0)),
    ("runs", Takes::Whole(1, 10_000)),
    ("seed", Takes::Whole(0, u64::MAX)),
    ("at", Takes::Number(0.0, 3650.0)),
    ("fig", Takes::Any),
    // GB; far beyond any gradient of a rank.
    ("bucket", Takes::Number(1e-6, 1e6)),
    (
        "study",
        Takes::Word(&[
            "spare-domains",
            "in-domain-spares",
            "interval",
            "blast-radius",
            "sensitivity",
        ]),
    ),
    ("most", Takes::Whole(1, 10_000)),
    ("rows", Takes::Word(&["save-time", "failure-rate"])),
    ("price", Takes::Number(0.0, 1e6)),
];

/// The names of all view parameters.
pub fn view_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(key, _)| *key)
}

/// Whether this is a view parameter.
///
/// # Errors
/// When it is one, with a value that it does not take.
pub(super) fn takes(key: &str, text: &str) -> Result<bool, ScenarioError> {
    let Some((_, takes)) = KEYS.iter().find(|(known, _)| *known == key) else {
        return Ok(false);
    };
    let allowed = match takes {
        Takes::Any => return Ok(true),
        Takes::Word(words) if words.contains(&text) => return Ok(true),
        Takes::Words(words) if text.split(',').all(|part| words.contains(&part)) => {
            return Ok(true);
        }
        Takes::Strategy if StrategyId::ALL.iter().any(|one| one.id() == text) => return Ok(true),
        Takes::Number(least, most)
            if text
                .parse()
                .is_ok_and(|number: f64| (*least..=*most).contains(&number)) =>
        {
            return Ok(true);
        }
        Takes::Whole(least, most)
            if text
                .parse()
                .is_ok_and(|number: u64| (*least..=*most).contains(&number)) =>
        {
            return Ok(true);
        }
        Takes::Word(words) => words.join(", "),
        Takes::Words(words) => format!("some of {} with commas", words.join(", ")),
        Takes::Strategy => StrategyId::ALL.map(StrategyId::id).join(", "),
        Takes::Number(least, most) => format!("a number, {least} to {most}"),
        Takes::Whole(least, u64::MAX) => format!("a whole number from {least} on"),
        Takes::Whole(least, most) => format!("a whole number, {least} to {most}"),
    };
    Err(FieldError::new(key, shown(text), allowed).into())
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use crate::core::studies::{MAX_STUDY_RUNS, Question, Rows};

    #[test]
    fn a_view_parameter_takes_what_its_users_do() {
        for good in [
            "sel=ntp-pw&theme=dark&embed=1&talk=1&show=racks,gantt",
            "days=0.5&seed=18446744073709551615&at=3.25&runs=20&price=2.5",
            "study=interval&rows=failure-rate&most=16&bucket=1.25&fig=7",
        ] {
            assert!(decode(&format!("#/fleet?{good}")).is_ok(), "{good}");
        }
        for (bad, says) in [
            (
                "theme=blue",
                "theme: \"blue\" is not allowed, expected light, dark",
            ),
            (
                "sel=best",
                "sel: \"best\" is not allowed, expected wait, dp-drop",
            ),
            (
                "days=-1",
                "days: \"-1\" is not allowed, expected a number, 0.01 to 3650",
            ),
            ("days=NaN", "days: \"NaN\" is not allowed"),
            (
                "seed=1.5",
                "seed: \"1.5\" is not allowed, expected a whole number from 0 on",
            ),
            (
                "runs=0",
                "runs: \"0\" is not allowed, expected a whole number, 1 to 10000",
            ),
            (
                "study=spares",
                "study: \"spares\" is not allowed, expected spare-domains",
            ),
            (
                "show=racks,all",
                "show: \"racks,all\" is not allowed, expected some of racks",
            ),
            ("bucket=", "bucket: \"\" is not allowed, expected a number"),
        ] {
            let error = decode(&format!("#/fleet?{bad}")).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }

    #[test]
    fn every_study_can_be_linked() {
        assert_eq!(MAX_STUDY_RUNS, 10_000);
        for question in [
            Question::SpareDomains { most: 1 },
            Question::InDomainSpares { most: 1 },
            Question::Interval {
                rows: Rows::SaveTime,
            },
            Question::BlastRadius,
            Question::Sensitivity,
        ] {
            assert!(decode(&format!("#/fleet?study={}", question.id())).is_ok());
        }
    }
}
