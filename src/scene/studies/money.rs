//! The table beside a chart: values with their errors, GPU-hours, money.

use super::{base, shown, with_error};
use crate::core::strategy::StrategyId;
use crate::core::studies::{Bill, Board, Question};
use crate::scene::side::number::{count, fixed};

/// Head of a column, and whether its cells are numbers.
pub type Column = (String, bool);

/// Money without more digits than it deserves.
pub fn money(value: f64) -> String {
    if value.abs() >= 1000.0 {
        count(value.abs().round() as u64)
    } else {
        fixed(value, 2)
    }
}

/// A row for each point: work per GPU-hour of every strategy shown, then GPU-hours lost (and their cost) of `strategy`.
pub fn table(
    board: &Board,
    question: Question,
    strategy: StrategyId,
    days: f64,
    price: Option<f64>,
) -> (Vec<Column>, Vec<Vec<String>>) {
    let ids = shown(question);
    let mut columns: Vec<Column> = vec![("point".to_owned(), false)];
    columns.extend(ids.iter().map(|id| (id.id().to_owned(), true)));
    columns.push((format!("GPU-hours lost, {}", strategy.id()), true));
    if price.is_some() {
        columns.push(("cost of those".to_owned(), true));
        columns.push(("cost per useful GPU-hour".to_owned(), true));
    }
    let several = board.rows().len() > 1;
    let rows = board
        .points()
        .iter()
        .enumerate()
        .map(|(at, (point, facts))| {
            let name = if several {
                format!("{}: {}", point.row_label, point.label)
            } else {
                point.label.clone()
            };
            let unfit = if facts.does_not_fit.is_some() {
                ", does not fit in memory"
            } else {
                ""
            };
            let mut row = vec![[name.as_str(), unfit].concat()];
            if let Some(error) = &facts.error {
                row.push(error.clone());
                return row;
            }
            let base = base(board, question, at);
            row.extend(
                ids.iter()
                    .map(|id| with_error(&board.work((at, *id), base))),
            );
            let goodput = board.goodput((at, strategy));
            let gpus = facts.occupied_gpus.get(strategy as usize).copied();
            let bill = Bill::new(
                gpus.unwrap_or(0),
                days,
                goodput.mean,
                price.unwrap_or_default(),
            );
            let known = |text: String| {
                if goodput.runs > 0 {
                    text
                } else {
                    String::new()
                }
            };
            row.push(known(count(bill.lost_gpu_h.max(0.0).round() as u64)));
            if price.is_some() {
                row.push(known(money(bill.lost_cost)));
                let useful = bill
                    .cost_per_useful_gpu_h
                    .map_or_else(|| "no useful work".to_owned(), |cost| fixed(cost, 3));
                row.push(known(useful));
            }
            row
        });
    (columns, rows.collect())
}
