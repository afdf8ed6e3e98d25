//! What a study says, in sentences.

use super::base;
use crate::core::strategy::StrategyId;
use crate::core::studies::{Board, Question, Value, best_interval, best_point, tornado};
use crate::scene::side::number::{fixed, percent};

/// Percentage points with sign and two standard errors.
pub fn points(value: &Value) -> String {
    let sign = if value.mean < 0.0 { "−" } else { "+" };
    let mean = fixed(100.0 * value.mean.abs(), 2);
    let mut text = [sign, &mean].concat();
    if value.runs > 1 {
        text.push_str(" ± ");
        text.push_str(&fixed(200.0 * value.standard_error, 2));
    }
    text.push_str(" points");
    text
}

/// Whether a difference is more than chance, in words.
fn sure(value: &Value) -> &'static str {
    if value.runs < 2 {
        "one seed, so this may be chance"
    } else if value.mean.abs() > 2.0 * value.standard_error {
        "more than chance"
    } else {
        "not more than chance so far"
    }
}

/// One or two sentences; empty before the first runs.
pub fn verdict(board: &Board, question: Question, strategy: StrategyId) -> String {
    let name = strategy.id();
    match question {
        Question::SpareDomains { .. } | Question::InDomainSpares { .. } => {
            let Some(best) = best_point(board, 0, strategy, 0) else {
                return String::new();
            };
            let label = board.point(best.point).map_or("", |point| &point.label);
            let mut text = format!("{name} does most work per GPU-hour with {label}");
            if best.point != 0 {
                let gain = board.difference((best.point, strategy), (0, strategy), 0);
                let first = board.point(0).map_or("", |point| &point.label);
                text.push_str(&format!(
                    ": {} against {first}, {}",
                    points(&gain),
                    sure(&gain)
                ));
            }
            if best.range.0 < best.range.1 {
                let (low, high) = (fixed(best.range.0, 0), fixed(best.range.1, 0));
                text.push_str(&format!(
                    ". From {low} to {high} these seeds see no difference"
                ));
            }
            text.push('.');
            // The question of the issue itself, where both are on the axis.
            let eight = board.row(0).find(|at| {
                board
                    .point(*at)
                    .is_some_and(|point| point.label == "TP64 + 8")
            });
            if let Some(eight) = eight.filter(|at| *at != best.point) {
                let gap = board.difference((eight, strategy), (0, strategy), 0);
                let first = board.point(0).map_or("", |point| &point.label);
                text.push_str(&format!(
                    " TP64 + 8 against {first}: {}, {}.",
                    points(&gap),
                    sure(&gap)
                ));
            }
            text
        }
        Question::Interval { .. } => {
            // The scenario's own row is the middle one.
            let Some(row) = board
                .rows()
                .get(board.rows().len() / 2)
                .map(|(row, _)| *row)
            else {
                return String::new();
            };
            let Some(best) = best_interval(board, row, strategy) else {
                return String::new();
            };
            let minutes =
                |value: f64| format!("{} min", fixed(value, u8::from(value < 100.0).into()));
            let found = minutes(best.fitted_x.unwrap_or(best.x));
            let facts = board.facts(best.point);
            let formula = |value: Option<f64>| value.map_or_else(|| "none".to_owned(), minutes);
            let young = formula(facts.and_then(|facts| facts.young_min));
            let daly = formula(facts.and_then(|facts| facts.daly_min));
            format!(
                "As the scenario is, {name} does best with a save every {found} (anything from {} to {} is as good on these seeds). Young's formula says {young}, Daly's {daly}.",
                minutes(best.range.0),
                minutes(best.range.1)
            )
        }
        Question::BlastRadius => {
            let parts: Vec<String> = board
                .rows()
                .into_iter()
                .filter_map(|(row, system)| {
                    let (first, last) = (board.row(row).next()?, board.row(row).last()?);
                    let lost = |at: usize| {
                        let value = board.work((at, strategy), base(board, question, at));
                        (value.runs > 0).then(|| percent(1.0 - value.mean, 1))
                    };
                    let radius = board.point(last)?.x;
                    Some(format!(
                        "on {system} {name} loses {} when a failure takes one GPU and {} when it takes all {} of the domain",
                        lost(first)?,
                        lost(last)?,
                        fixed(radius, 0)
                    ))
                })
                .collect();
            let mut text = parts.join("; ");
            if let Some(first) = text.get(..1).map(str::to_uppercase) {
                text.replace_range(..1, &first);
                text.push('.');
            }
            text
        }
        Question::Sensitivity => {
            let bars = tornado(board, strategy, None);
            let Some(top) = bars.first().filter(|bar| bar.reach() > 0.0) else {
                return String::new();
            };
            let side = |side: &Option<(String, Value)>| {
                side.as_ref()
                    .map(|(label, value)| format!("{label}: {}", points(value)))
            };
            let sides: Vec<String> = [side(&top.low), side(&top.high)]
                .into_iter()
                .flatten()
                .collect();
            format!(
                "What moves {name} most: {} ({}).",
                top.name,
                sides.join("; ")
            )
        }
    }
}
