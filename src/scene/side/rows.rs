//! The goodput rows: one a strategy, worst to best.

use super::ledger::Kind;
use super::number::{gpu_word, gpus, score};
use super::verdict::lost_gpus;
use crate::core::order;
use crate::core::strategy::{Evaluation, Outcome, StrategyId};

/// One row ready to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Whose it is.
    pub strategy: StrategyId,
    /// Place from the top, 0 the worst.
    pub place: usize,
    /// Goodput with three decimals, never 1.000 when something is lost.
    pub number: String,
    /// The same with four, as the `data-goodput` attribute holds it.
    pub goodput: String,
    /// Throughput at full precision, as the `data-throughput` attribute holds it.
    pub throughput: String,
    /// Goodput, 0 to 1: the length of the bar.
    pub share: f64,
    /// What most of the rest of the bar is; none when nothing is lost.
    pub rest: Option<Kind>,
    /// GPUs lost, as written.
    pub lost: String,
    /// What the strategy does here.
    pub summary: String,
}

impl Row {
    /// All of it in words, for screen readers.
    pub fn label(&self) -> String {
        let lost = if self.lost == "0" {
            "nothing lost".into()
        } else {
            format!("{} {} lost", self.lost, gpu_word(&self.lost))
        };
        let comma = if self.summary.is_empty() { "" } else { ", " };
        format!(
            "{}: goodput {}, {lost}{comma}{}",
            self.strategy.id(),
            self.number,
            self.summary
        )
    }
}

/// One row a strategy in the fixed order of [`StrategyId::ALL`]; `place` says where each belongs, worst to best. Equal ones
/// keep the fixed order.
pub fn rows(evaluation: &Evaluation) -> Vec<Row> {
    let outcomes: Vec<&Outcome> = StrategyId::ALL
        .into_iter()
        .filter_map(|id| evaluation.get(id))
        .collect();
    let mut rows: Vec<Row> = outcomes.iter().map(|outcome| row(outcome)).collect();
    // In whole billionths: differences nobody can see must not swap rows.
    let mut order: Vec<(i64, usize)> = outcomes
        .iter()
        .map(|outcome| (outcome.goodput * 1e9).round() as i64)
        .enumerate()
        .map(|(index, key)| (key, index))
        .collect();
    order::sort(&mut order);
    for (place, (_, index)) in order.into_iter().enumerate() {
        if let Some(row) = rows.get_mut(index) {
            row.place = place;
        }
    }
    rows
}

fn row(outcome: &Outcome) -> Row {
    let rest = Kind::ALL
        .into_iter()
        .filter(|kind| *kind != Kind::Productive)
        .map(|kind| (kind, kind.share(&outcome.ledger)))
        .filter(|(_, share)| *share > 1e-9)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(kind, _)| kind);
    Row {
        strategy: outcome.strategy,
        place: 0,
        number: score(outcome.goodput, 3),
        goodput: score(outcome.goodput, 4),
        throughput: outcome.throughput.to_string(),
        share: outcome.goodput.clamp(0.0, 1.0),
        rest,
        lost: gpus(lost_gpus(outcome)),
        summary: outcome.summary.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::verdict::tests::evaluation;
    use super::*;
    use crate::core::strategy::LedgerNow;

    #[test]
    fn worst_comes_first_and_equals_keep_their_order() {
        let drawn = rows(&evaluation((0.875, 1), 0.984, 0.9991));
        let places: Vec<(&str, usize)> = drawn
            .iter()
            .map(|row| (row.strategy.id(), row.place))
            .collect();
        assert_eq!(places, [("dp-drop", 0), ("ntp", 1), ("ntp-pw", 2)]);
        let drawn = rows(&evaluation((1.0, 0), 0.5, 0.5 + 1e-12));
        let places: Vec<usize> = drawn.iter().map(|row| row.place).collect();
        assert_eq!(places, [2, 0, 1]);
    }

    #[test]
    fn what_is_shown_says_what_was_lost() {
        let mut all = evaluation((0.875, 1), 0.984, 0.99999);
        for outcome in &mut all.outcomes {
            outcome.ledger = LedgerNow {
                productive: outcome.goodput,
                idle_healthy: 1.0 - outcome.goodput,
                ..LedgerNow::default()
            };
            outcome.summary = "does something".into();
        }
        let drawn = rows(&all);
        let best = drawn.last().unwrap();
        assert_eq!(
            (
                best.number.as_str(),
                best.goodput.as_str(),
                best.lost.as_str()
            ),
            ("0.999", "0.9999", "<0.1")
        );
        assert_eq!(best.rest, Some(Kind::Idle));
        assert_eq!(
            drawn[0].label(),
            "dp-drop: goodput 0.875, 144 GPUs lost, does something"
        );
    }
}
