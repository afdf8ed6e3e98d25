//! The checkpoint map: goodput by interval and row, with Young's, Daly's and the simulated optimum.

use crate::core::strategy::StrategyId;
use crate::core::studies::{Board, Value, best_interval};

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Minutes between saves.
    pub minutes: f64,
    /// Goodput.
    pub value: Value,
    /// Place between the worst (0) and the best (1) goodput of the map, for its shade.
    pub shade: f64,
    /// Best of its row so far.
    pub best: bool,
    /// No worse than the best as far as these seeds can tell.
    pub as_good: bool,
}

/// One row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What is particular about it.
    pub name: String,
    /// Its cells, by interval.
    pub cells: Vec<Cell>,
    /// Young's interval, minutes, and where it is along the row: 0 the middle of the first cell, 1 that of the last.
    pub young: Option<(f64, f64)>,
    /// Daly's.
    pub daly: Option<(f64, f64)>,
    /// The simulated one: top of a parabola through the best cell and its neighbours, or the best cell.
    pub simulated: Option<(f64, f64)>,
}

/// The map of one strategy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    /// Rows, top to bottom.
    pub rows: Vec<Row>,
    /// Worst and best goodput.
    pub range: (f64, f64),
}

/// The map as far as it is known.
pub fn heat(board: &Board, strategy: StrategyId) -> Heat {
    let known = (0..board.points().len())
        .map(|at| board.goodput((at, strategy)))
        .filter(|value| value.runs > 0)
        .map(|value| value.mean);
    let range = known.fold((1.0_f64, 0.0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let rows = board.rows().into_iter().map(|(row, name)| {
        let best = best_interval(board, row, strategy);
        let cells: Vec<Cell> = board
            .row(row)
            .map(|at| {
                let value = board.goodput((at, strategy));
                let minutes = board.point(at).map_or(0.0, |point| point.x);
                let span = range.1 - range.0;
                let inside = |(low, high): (f64, f64)| minutes >= low && minutes <= high;
                Cell {
                    minutes,
                    value,
                    shade: if span > 0.0 {
                        ((value.mean - range.0) / span).clamp(0.0, 1.0)
                    } else {
                        1.0
                    },
                    best: best.as_ref().is_some_and(|best| best.point == at),
                    as_good: best.as_ref().is_some_and(|best| inside(best.range)),
                }
            })
            .collect();
        let place = |minutes: f64| {
            let (first, last) = (cells.first()?.minutes, cells.last()?.minutes);
            let share = libm::log(minutes / first) / libm::log(last / first);
            share.is_finite().then(|| (minutes, share.clamp(0.0, 1.0)))
        };
        let facts = board.row(row).next().and_then(|at| board.facts(at));
        Row {
            name: name.to_owned(),
            young: facts.and_then(|facts| place(facts.young_min?)),
            daly: facts.and_then(|facts| place(facts.daly_min?)),
            simulated: best.and_then(|best| place(best.fitted_x.unwrap_or(best.x))),
            cells,
        }
    });
    Heat {
        rows: rows.collect(),
        range,
    }
}
