//! Studies as charts, heat map, tornado, table and verdict: what to show of a [`Board`], however far it has got.

mod heat;
mod money;
mod verdict;

pub use heat::{Cell, Heat, Row, heat};
pub use money::{Column, table};
pub use verdict::{points, verdict};

use super::plot::{Band, Chart, Line, Scale, Tint};
use super::side::number::{fixed, percent};
use crate::core::strategy::StrategyId;
use crate::core::studies::{Board, Question, Value};

/// Strategies that a question is about, the page's order.
pub const fn shown(question: Question) -> &'static [StrategyId] {
    use StrategyId::{DpDrop, HotSpares, InDomainSpares, Ntp, NtpPw, Wait};
    match question {
        Question::InDomainSpares { .. } => &[Wait, DpDrop, Ntp, NtpPw],
        Question::SpareDomains { .. } | Question::BlastRadius => &[DpDrop, Ntp, NtpPw],
        Question::Interval { .. } | Question::Sensitivity => {
            &[Wait, DpDrop, HotSpares, InDomainSpares, Ntp, NtpPw]
        }
    }
}

/// What the horizontal axis is.
const fn axis(question: Question) -> &'static str {
    match question {
        Question::SpareDomains { .. } => "spare domains",
        Question::InDomainSpares { .. } => "GPUs left over in each domain",
        Question::Interval { .. } => "minutes between saves",
        Question::BlastRadius => "GPUs that go down with one failure",
        Question::Sensitivity => "change of goodput",
    }
}

/// The first point of a point's row where rows are different systems, else the first of all: what work is relative to.
pub fn base(board: &Board, question: Question, at: usize) -> usize {
    if question != Question::BlastRadius {
        return 0;
    }
    let row = board.point(at).map(|point| point.row);
    row.and_then(|row| board.row(row).next()).unwrap_or(0)
}

/// A line for each strategy (and row) with a band of two standard errors.
pub fn chart(board: &Board, question: Question) -> Chart {
    let (mut lines, mut bands) = (Vec::new(), Vec::new());
    let lost = question == Question::BlastRadius;
    for (row, name) in board.rows() {
        for id in shown(question) {
            let spots = board.row(row).filter_map(|at| {
                let point = board.point(at)?;
                let value = board.work((at, *id), base(board, question, at));
                (value.runs > 0).then_some((point.x, value))
            });
            let y = |value: Value| if lost { 1.0 - value.mean } else { value.mean };
            let spots: Vec<(f64, Value)> = spots.collect();
            if spots.is_empty() {
                continue;
            }
            let (shape, dash) = Chart::code(*id);
            let tint = Tint::Strategy(*id);
            // The second system: thin and hollow of mark.
            let second = row > 0;
            lines.push(Line {
                name: if board.rows().len() > 1 {
                    format!("{}, {name}", id.id())
                } else {
                    id.id().to_owned()
                },
                named: true,
                tint,
                dash,
                width: if second { 1 } else { 2 },
                shape,
                hollow: second,
                points: spots.iter().map(|(x, value)| (*x, y(*value))).collect(),
            });
            let edge = |sign: f64| {
                spots
                    .iter()
                    .map(|(x, value)| (*x, y(*value) + sign * 2.0 * value.standard_error))
                    .collect()
            };
            bands.push(Band {
                tint,
                alpha: 0.14,
                low: edge(-1.0),
                high: edge(1.0),
            });
        }
    }
    let xs = board.points().iter().map(|(point, _)| point.x);
    let ys: Vec<f64> = bands
        .iter()
        .flat_map(|band: &Band| band.low.iter().chain(&band.high))
        .map(|point| point.1)
        .collect();
    let title = axis(question);
    let quantity = match question {
        Question::BlastRadius => "goodput lost",
        Question::InDomainSpares { .. } => "work per GPU-hour, healthy job without spares = 100 %",
        _ => "work per GPU-hour, healthy job = 100 %",
    };
    Chart {
        title: title.to_owned(),
        x: if lost {
            Scale::log(title, xs)
        } else {
            Scale::linear(title, xs, false)
        },
        y: Scale::linear(quantity, ys, true),
        bands,
        lines,
        gutter: 0.0,
    }
}

/// A share with its standard error, in percent: `93.41 ± 0.05 %`.
pub fn with_error(value: &Value) -> String {
    if value.runs == 0 {
        return "not run yet".to_owned();
    }
    let text = percent(value.mean, 2);
    if value.runs < 2 {
        return text;
    }
    let number = text.trim_end_matches([' ', '%', '\u{a0}']).to_owned();
    [
        number,
        " ± ".to_owned(),
        fixed(200.0 * value.standard_error, 2),
        " %".to_owned(),
    ]
    .concat()
}

#[cfg(test)]
mod tests;
