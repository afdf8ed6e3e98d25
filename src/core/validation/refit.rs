//! Refit of the few fitted constants on some rows: deterministic coordinate search.

use super::Run;
use crate::core::cost::{Constants, factors};

/// Rounds over all factors; each halves the step, so factors settle to about 0.1 %.
const ROUNDS: u32 = 8;
/// First relative step.
const FIRST_STEP: f64 = 0.12;
/// What each round makes of the step.
const SHRINK: f64 = 0.55;

/// Weight of each row: rows that differ only in GPU count or batch are near copies, so n of them together weigh sqrt(n).
pub fn weights(runs: &[Run]) -> Vec<f64> {
    let alike = |a: &Run, b: &Run| {
        a.system.id == b.system.id
            && (a.model.layers, a.model.hidden) == (b.model.layers, b.model.hidden)
            && (a.layout.precision, a.layout.recompute) == (b.layout.precision, b.layout.recompute)
    };
    runs.iter()
        .map(|a| 1.0 / (runs.iter().filter(|b| alike(a, b)).count().max(1) as f64).sqrt())
        .collect()
}

/// Root mean square of ln(predicted / published), weighted.
pub fn loss(runs: &[Run], weights: &[f64], constants: &Constants) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (run, weight) in runs.iter().zip(weights) {
        let Some(measured) = run.measured_s else {
            continue;
        };
        let error = libm::log(run.predict(constants).cost.step_s.get() / measured);
        sum += weight * error * error;
        total += weight;
    }
    if total > 0.0 {
        (sum / total).sqrt()
    } else {
        0.0
    }
}

/// Names of the factors that the rows say something about: a GPU's training factor only where that GPU and precision ran.
pub fn free_factors(runs: &[Run]) -> Vec<&'static str> {
    factors::factors()
        .iter()
        .filter(|factor| factor.fit.is_some())
        .map(|factor| factor.name.as_str())
        .filter(|name| runs.iter().any(|run| run.uses(name)))
        .collect()
}

/// A refit under way, one factor at a time, so that a page can do it in slices.
#[derive(Clone, Debug)]
pub struct Refit {
    runs: Vec<Run>,
    weights: Vec<f64>,
    free: Vec<(&'static str, (f64, f64))>,
    best: Constants,
    lowest: f64,
    step: f64,
    /// Factors tried so far, over all rounds.
    done: usize,
}

impl Refit {
    /// Starts from `start`. Fitted training factors that no row speaks of are forgotten, so they fall back to the mean of
    /// the others.
    pub fn new(runs: Vec<Run>, start: &Constants) -> Self {
        let named = free_factors(&runs);
        let mut best = *start;
        let mut free = Vec::new();
        for factor in factors::factors() {
            let Some(range) = factor.fit else { continue };
            if named.contains(&factor.name.as_str()) {
                free.push((factor.name.as_str(), range));
            } else {
                best.forget(&factor.name);
            }
        }
        let weights = weights(&runs);
        let lowest = loss(&runs, &weights, &best);
        Self {
            runs,
            weights,
            free,
            best,
            lowest,
            step: FIRST_STEP,
            done: 0,
        }
    }

    /// Tries one factor up and down; false when the fit has settled.
    pub fn advance(&mut self) -> bool {
        let count = self.free.len();
        if self.done >= count * ROUNDS as usize {
            return false;
        }
        if let Some((name, (low, high))) = self.free.get(self.done % count.max(1)).copied() {
            for scale in [1.0 + self.step, 1.0 / (1.0 + self.step)] {
                loop {
                    let mut next = self.best;
                    let Some(value) = next.slot(name) else { break };
                    let moved = (*value * scale).clamp(low, high);
                    if moved == *value {
                        break;
                    }
                    *value = moved;
                    let error = loss(&self.runs, &self.weights, &next);
                    if error >= self.lowest {
                        break;
                    }
                    (self.best, self.lowest) = (next, error);
                }
            }
        }
        self.done += 1;
        if self.done.is_multiple_of(count) {
            self.step *= SHRINK;
        }
        true
    }

    /// How much of the work is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let all = self.free.len() * ROUNDS as usize;
        if all == 0 {
            1.0
        } else {
            self.done as f64 / all as f64
        }
    }

    /// The best constants so far.
    pub const fn constants(&self) -> &Constants {
        &self.best
    }
}

/// Moves the free factors to the weighted least-squares optimum for these rows, from `start`.
pub fn fit(runs: &[Run], start: &Constants) -> Constants {
    let mut refit = Refit::new(runs.to_vec(), start);
    while refit.advance() {}
    *refit.constants()
}
