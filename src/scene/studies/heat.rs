//! The checkpoint map: goodput by interval and row, with Young's, Daly's and the simulated optimum.

use crate::core::order;
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

/// Where in a cell its marks are: letter, minutes, share of the cell's width.
pub type Marks = Vec<(&'static str, f64, f64)>;

/// Width of a mark and the gap beside it, as a share of the narrowest cell.
const MARK: f64 = 0.32;

impl Row {
    /// Marks of cell `at`, left to right: where they belong, but inside the cell and never over one another.
    pub fn marks(&self, at: usize) -> Marks {
        let last = self.cells.len().max(2) as f64 - 1.0;
        let all = [("Y", self.young), ("D", self.daly), ("S", self.simulated)];
        let mut marks: Marks = all
            .into_iter()
            .filter_map(|(mark, place)| {
                let (minutes, place) = place?;
                let along = place * last;
                (along.round() == at as f64).then_some((mark, minutes, along - at as f64 + 0.5))
            })
            .collect();
        order::sort_by(&mut marks, |a, b| a.2.total_cmp(&b.2));
        let mut least = MARK / 2.0;
        for mark in &mut marks {
            mark.2 = mark.2.max(least);
            least = mark.2 + MARK;
        }
        let mut most = 1.0 - MARK / 2.0;
        for mark in marks.iter_mut().rev() {
            mark.2 = mark.2.min(most);
            most = mark.2 - MARK;
        }
        marks
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_keep_their_order_and_never_cover_each_other() {
        let cell = Cell {
            minutes: 1.0,
            value: Value::default(),
            shade: 0.0,
            best: false,
            as_good: false,
        };
        // Thirteen cells: the middle of the n-th is at n / 12.
        let row = |young: f64, daly: f64, simulated: f64| Row {
            name: String::new(),
            cells: vec![cell.clone(); 13],
            young: Some((1.0, young)),
            daly: Some((2.0, daly)),
            simulated: Some((3.0, simulated)),
        };
        let letters = |marks: &Marks| marks.iter().map(|mark| mark.0).collect::<String>();
        for (young, daly, simulated, at) in [
            (0.5, 0.5, 0.5, 6),
            (0.0, 0.001, 0.0, 0),
            (1.0, 0.99, 1.0, 12),
            (0.46, 0.47, 0.54, 6),
        ] {
            let marks = row(young, daly, simulated).marks(at);
            assert_eq!(marks.len(), 3, "{young} {daly} {simulated}");
            assert!(marks[0].2 > 0.15 && marks[2].2 < 0.85, "{marks:?}");
            for pair in marks.windows(2) {
                assert!(pair[1].2 - pair[0].2 > MARK - 1e-9, "{marks:?}");
            }
        }
        assert_eq!(letters(&row(0.46, 0.47, 0.54).marks(6)), "YDS");
        assert_eq!(letters(&row(0.54, 0.5, 0.46).marks(6)), "SDY");
        // One that is alone stands where it belongs.
        let alone = row(0.5 + 0.2 / 12.0, 0.0, 1.0).marks(6);
        assert!((alone[0].2 - 0.7).abs() < 1e-9 && alone.len() == 1);
    }
}
