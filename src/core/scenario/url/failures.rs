//! The `fail` parameter.

use super::shown;
use crate::core::hardware::{DOMAIN_SIZE_RANGE, FieldError};
use crate::core::scenario::{Failure, FailureKind, MAX_FAILURES, ScenarioError};
use serde_json::Value;
use std::fmt::Write as _;

const FORM: &str =
    "DOMAIN.GPU, with -GPU for a run, :sw or :slow0.8 for the kind, x4 for the blast radius";

/// What follows the place of a failure.
fn suffix(failure: &Failure) -> String {
    let mut text = match failure.kind {
        FailureKind::Hardware => String::new(),
        FailureKind::Software => ":sw".into(),
        FailureKind::Slow => format!(":slow{}", failure.speed),
    };
    if let Some(radius) = failure.blast_radius {
        // Writing to a String cannot fail.
        let _ = write!(text, "x{radius}");
    }
    text
}

/// Failures in order; runs of neighbours are joined.
pub(super) fn write_failures(failures: &[Failure]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = failures;
    while let Some((first, mut after)) = rest.split_first() {
        let end = suffix(first);
        let mut last = first.gpu;
        while let Some((next, tail)) = after.split_first() {
            if next.domain != first.domain
                || last.checked_add(1) != Some(next.gpu)
                || suffix(next) != end
            {
                break;
            }
            last = next.gpu;
            after = tail;
        }
        let run = if last > first.gpu {
            format!("-{last}")
        } else {
            String::new()
        };
        parts.push(format!("{}.{}{run}{end}", first.domain, first.gpu));
        rest = after;
    }
    parts.join(",")
}

/// The failures as JSON of the scenario format.
pub(super) fn read_failures(text: &str) -> Result<Value, ScenarioError> {
    let mut failures = Vec::new();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let read = read_part(part).ok_or_else(|| FieldError::new("fail", shown(part), FORM))?;
        for gpu in read.first..=read.last {
            let fields = [
                ("domain", Some(read.domain.into())),
                ("gpu", Some(gpu.into())),
                ("kind", Some(read.kind.into())),
                ("speed", read.speed.map(Value::from)),
                ("blast_radius", read.radius.map(Value::from)),
            ];
            let given = fields
                .into_iter()
                .filter_map(|(name, value)| Some((name.to_owned(), value?)));
            failures.push(Value::Object(given.collect()));
        }
        if failures.len() > MAX_FAILURES {
            return Err(FieldError::new(
                "fail",
                "more failures",
                format!("at most {MAX_FAILURES}"),
            )
            .into());
        }
    }
    Ok(Value::Array(failures))
}

struct Part {
    domain: u32,
    first: u32,
    last: u32,
    kind: &'static str,
    speed: Option<f64>,
    radius: Option<u32>,
}

/// A whole number in digits alone.
fn number(text: &str) -> Option<u32> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}

fn read_part(part: &str) -> Option<Part> {
    let (part, radius) = match part.split_once('x') {
        Some((part, radius)) => (part, Some(number(radius)?)),
        None => (part, None),
    };
    let (place, kind) = part
        .split_once(':')
        .map_or((part, ""), |(place, kind)| (place, kind));
    let (kind, speed) = match kind {
        "" if part.contains(':') => return None,
        "" => ("hardware", None),
        "sw" => ("software", None),
        _ => (
            "slow",
            Some(
                kind.strip_prefix("slow")?
                    .parse::<f64>()
                    .ok()
                    .filter(|speed| speed.is_finite())?,
            ),
        ),
    };
    let (domain, gpus) = place.split_once('.')?;
    let (first, last) = match gpus.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(gpus)?, number(gpus)?),
    };
    // No domain holds more, so a longer run is a slip, and expanding it would only cost time.
    let run = first <= last && last - first < DOMAIN_SIZE_RANGE.1;
    run.then_some(Part {
        domain: number(domain)?,
        first,
        last,
        kind,
        speed,
        radius,
    })
}
