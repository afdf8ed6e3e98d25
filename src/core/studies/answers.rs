//! What a board says: the best point, the best interval, the assumptions in the order of their weight.

use super::board::{Board, Value};
use crate::core::order;
use crate::core::strategy::StrategyId;
use serde::Serialize;

/// The best point of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Best {
    /// Index of the point with the highest mean.
    pub point: usize,
    /// Where it is on the axis.
    pub x: f64,
    /// Work per GPU-hour there.
    pub value: Value,
    /// Lowest and highest place of the points that are no worse as far as these seeds can tell (within two standard errors
    /// of the paired difference).
    pub range: (f64, f64),
    /// Top of the parabola through the best point and its neighbours over the logarithm of the axis; none at the ends.
    pub fitted_x: Option<f64>,
}

/// The point of a row where a strategy does most work per GPU-hour; none before any run. `base` is the point that work is
/// relative to.
pub fn best_point(board: &Board, row: u32, strategy: StrategyId, base: usize) -> Option<Best> {
    let work = |at: usize| board.work((at, strategy), base);
    let known = board.row(row).filter(|at| work(*at).runs > 0);
    let point = known
        .clone()
        .max_by(|a, b| work(*a).mean.total_cmp(&work(*b).mean))?;
    let x_of = |at: usize| board.point(at).map_or(0.0, |point| point.x);
    let x = x_of(point);
    let mut range = (x, x);
    for at in known {
        let gap = board.difference((point, strategy), (at, strategy), base);
        if gap.mean <= 2.0 * gap.standard_error {
            range = (range.0.min(x_of(at)), range.1.max(x_of(at)));
        }
    }
    Some(Best {
        point,
        x,
        value: work(point),
        range,
        fitted_x: None,
    })
}

/// The best time between saves of a row, with the top of a parabola through its neighbours.
pub fn best_interval(board: &Board, row: u32, strategy: StrategyId) -> Option<Best> {
    let mut best = best_point(board, row, strategy, 0)?;
    let spots: Vec<usize> = board.row(row).collect();
    let at = spots.iter().position(|at| *at == best.point)?;
    let three = [at.checked_sub(1), Some(at), at.checked_add(1)];
    let three = three.map(|at| {
        let point = *spots.get(at?)?;
        let value = board.goodput((point, strategy));
        let x = board.point(point)?.x;
        (value.runs > 0 && x > 0.0).then(|| (libm::log(x), value.mean))
    });
    if let [Some(low), Some(middle), Some(high)] = three {
        best.fitted_x = top([low, middle, high]).map(libm::exp);
    }
    Some(best)
}

/// Where the parabola through three points has its top; none where it has none between them.
fn top([a, b, c]: [(f64, f64); 3]) -> Option<f64> {
    let (left, right) = ((b.1 - a.1) / (b.0 - a.0), (c.1 - b.1) / (c.0 - b.0));
    let bend = right - left;
    if bend >= 0.0 || !bend.is_finite() {
        return None;
    }
    // The slope falls linearly from `left` in the middle of the first gap to `right` in the middle of the second.
    let (from, to) = (0.5 * (a.0 + b.0), 0.5 * (b.0 + c.0));
    let x = from - left * (to - from) / bend;
    (x > a.0 && x < c.0).then_some(x)
}

/// One assumption of a sensitivity study.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// The assumption.
    pub name: String,
    /// Its low side and how far the answer moves there.
    pub low: Option<(String, Value)>,
    /// Its high side.
    pub high: Option<(String, Value)>,
}

impl Bar {
    /// The larger move.
    pub fn reach(&self) -> f64 {
        let side = |side: &Option<(String, Value)>| {
            side.as_ref().map_or(0.0, |(_, value)| value.mean.abs())
        };
        side(&self.low).max(side(&self.high))
    }
    /// The larger move with its two standard errors: how much room it takes.
    pub fn room(&self) -> f64 {
        let sides = [&self.low, &self.high].into_iter().flatten();
        let room = sides.map(|(_, value)| value.mean.abs() + 2.0 * value.standard_error);
        room.fold(0.0, f64::max)
    }
}

/// How far each assumption moves a strategy's goodput (or its lead over another strategy), the heaviest first.
pub fn tornado(board: &Board, ours: StrategyId, over: Option<StrategyId>) -> Vec<Bar> {
    let moved = |at: usize| {
        if let Some(theirs) = over {
            board.lead_change(at, 0, ours, theirs)
        } else {
            // Goodput against its own layout's healthy job: no assumption changes the layout.
            board.difference((at, ours), (0, ours), 0)
        }
    };
    let mut bars: Vec<Bar> = Vec::new();
    for (row, name) in board.rows().into_iter().filter(|(row, _)| *row > 0) {
        let mut bar = Bar {
            name: name.to_owned(),
            low: None,
            high: None,
        };
        for at in board.row(row) {
            let Some(point) = board.point(at) else {
                continue;
            };
            let value = moved(at);
            let side = (value.runs > 0).then(|| (point.label.clone(), value));
            if point.x < 0.0 {
                bar.low = side;
            } else {
                bar.high = side;
            }
        }
        bars.push(bar);
    }
    order::sort_by(&mut bars, |a, b| b.reach().total_cmp(&a.reach()));
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_parabola_is_found_between_its_points() {
        // -(x - 2)^2 at 1, 1.5 and 4.
        let at = |x: f64| (x, -(x - 2.0) * (x - 2.0));
        assert!((top([at(1.0), at(1.5), at(4.0)]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(top([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(top([(0.0, 1.0), (1.0, 0.0), (2.0, 1.0)]), None);
    }
}
