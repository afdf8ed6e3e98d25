//! What a study has found so far, whatever the order it came in.

use super::points::Point;
use super::walk::{Facts, Found};
use crate::core::strategy::StrategyId;
use serde::{Deserialize, Serialize};

/// A mean over seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// Mean.
    pub mean: f64,
    /// Its standard error; 0 for a single run.
    pub standard_error: f64,
    /// Seeds.
    pub runs: u32,
}

impl Value {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let (mut runs, mut sum) = (0u32, 0.0);
        for value in values.clone() {
            runs += 1;
            sum += value;
        }
        if runs == 0 {
            return Self::default();
        }
        let n = f64::from(runs);
        let mean = sum / n;
        let square: f64 = values.map(|value| (value - mean) * (value - mean)).sum();
        let standard_error = if runs > 1 {
            (square / (n - 1.0) / n).sqrt()
        } else {
            0.0
        };
        Self {
            mean,
            standard_error,
            runs,
        }
    }
}

/// A point and a strategy.
pub type Spot = (usize, StrategyId);

/// Results of a study by point, strategy and seed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Board {
    points: Vec<(Point, Facts)>,
    /// Goodputs by point and run.
    found: Vec<Vec<Option<[f64; StrategyId::ALL.len()]>>>,
    taken: u64,
    shortest_days: Option<f64>,
}

impl Board {
    /// Nothing found yet.
    pub fn new(points: Vec<(Point, Facts)>) -> Self {
        let found = points.iter().map(|_| Vec::new()).collect();
        Self {
            points,
            found,
            taken: 0,
            shortest_days: None,
        }
    }
    /// Takes a run in; one that is known already changes nothing.
    pub fn take(&mut self, found: &Found) {
        let Some(runs) = self.found.get_mut(found.point as usize) else {
            return;
        };
        let at = found.run as usize;
        if runs.len() <= at {
            runs.resize(at + 1, None);
        }
        if let Some(slot) = runs.get_mut(at).filter(|slot| slot.is_none()) {
            *slot = Some(found.goodput);
            self.taken += 1;
            if let Some(days) = found.days {
                let shortest = self.shortest_days.unwrap_or(days);
                self.shortest_days = Some(shortest.min(days));
            }
        }
    }
    /// Takes several runs in.
    pub fn take_all(&mut self, found: &[Found]) {
        for run in found {
            self.take(run);
        }
    }
    /// Every point with its facts.
    pub fn points(&self) -> &[(Point, Facts)] {
        &self.points
    }
    /// A point.
    pub fn point(&self, at: usize) -> Option<&Point> {
        self.points.get(at).map(|(point, _)| point)
    }
    /// Its facts.
    pub fn facts(&self, at: usize) -> Option<&Facts> {
        self.points.get(at).map(|(_, facts)| facts)
    }
    /// Points of one row, in the order of the axis.
    pub fn row(&self, row: u32) -> impl Iterator<Item = usize> + Clone {
        let points = self.points.iter().enumerate();
        points.filter_map(move |(at, (point, _))| (point.row == row).then_some(at))
    }
    /// Rows, each with its name.
    pub fn rows(&self) -> Vec<(u32, &str)> {
        let mut rows: Vec<(u32, &str)> = Vec::new();
        for (point, _) in &self.points {
            if rows.last().is_none_or(|(row, _)| *row != point.row) {
                rows.push((point.row, &point.row_label));
            }
        }
        rows
    }
    /// Runs taken in, over all points.
    pub fn taken(&self) -> u64 {
        self.taken
    }
    /// Days of the shortest run that the limit on failures ended early.
    pub fn shortest_days(&self) -> Option<f64> {
        self.shortest_days
    }

    fn runs(&self, at: usize) -> &[Option<[f64; StrategyId::ALL.len()]>] {
        self.found.get(at).map_or(&[], Vec::as_slice)
    }

    /// Goodput at a point.
    pub fn goodput(&self, (at, strategy): Spot) -> Value {
        Value::of(
            self.runs(at)
                .iter()
                .flatten()
                .filter_map(move |run| run.get(strategy as usize).copied()),
        )
    }

    /// Tokens per second of the point's healthy job for each of its GPUs, relative to those of the point `base`.
    pub fn speed(&self, at: usize, base: usize) -> f64 {
        let rate = |at: usize| {
            self.facts(at)
                .map_or(0.0, |facts| facts.tokens_per_s_per_gpu)
        };
        let base = rate(base);
        if base > 0.0 { rate(at) / base } else { 0.0 }
    }

    /// Work per GPU-hour, relative to the healthy job of the point `base`: goodput times the speed of the point's own layout.
    pub fn work(&self, spot: Spot, base: usize) -> Value {
        let (goodput, speed) = (self.goodput(spot), self.speed(spot.0, base));
        Value {
            mean: goodput.mean * speed,
            standard_error: goodput.standard_error * speed,
            runs: goodput.runs,
        }
    }

    /// Work at one spot less that at another, over the seeds that both have: far sharper than either alone.
    pub fn difference(&self, one: Spot, other: Spot, base: usize) -> Value {
        let (fast, slow) = (self.speed(one.0, base), self.speed(other.0, base));
        let pairs = self.runs(one.0).iter().zip(self.runs(other.0));
        Value::of(pairs.filter_map(move |(a, b)| {
            let (a, b) = (a.as_ref()?, b.as_ref()?);
            Some(a.get(one.1 as usize)? * fast - b.get(other.1 as usize)? * slow)
        }))
    }

    /// How much one strategy's lead over another changes from one point to another, over the seeds that both have.
    pub fn lead_change(
        &self,
        at: usize,
        base: usize,
        ours: StrategyId,
        theirs: StrategyId,
    ) -> Value {
        let pairs = self.runs(at).iter().zip(self.runs(base));
        let lead = move |run: &[f64; StrategyId::ALL.len()]| {
            Some(run.get(ours as usize)? - run.get(theirs as usize)?)
        };
        Value::of(pairs.filter_map(move |(a, b)| Some(lead(a.as_ref()?)? - lead(b.as_ref()?)?)))
    }
}
