//! Refit of the few fitted constants on some rows: deterministic coordinate search.

use super::Run;
use crate::core::cost::{Constants, factors};

/// Rounds over all factors; each halves the step, so factors settle to about 0.1 %.
const ROUNDS: u32 = 8;
/// First relative step.
const FIRST_STEP: f64 = 0.12;

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

/// Moves the free factors to the weighted least-squares optimum for these rows, from `start`. Fitted training factors
/// that no row speaks of are forgotten, so they fall back to the mean of the others.
pub fn fit(runs: &[Run], start: &Constants) -> Constants {
    let weights = weights(runs);
    let free = free_factors(runs);
    let mut best = *start;
    for factor in factors::factors()
        .iter()
        .filter(|factor| factor.fit.is_some())
    {
        if !free.contains(&factor.name.as_str()) {
            best.forget(&factor.name);
        }
    }
    let mut lowest = loss(runs, &weights, &best);
    let mut step = FIRST_STEP;
    for _ in 0..ROUNDS {
        for factor in factors::factors()
            .iter()
            .filter(|factor| free.contains(&factor.name.as_str()))
        {
            let Some((low, high)) = factor.fit else {
                continue;
            };
            for scale in [1.0 + step, 1.0 / (1.0 + step)] {
                loop {
                    let mut next = best;
                    let Some(value) = next.slot(&factor.name) else {
                        break;
                    };
                    let moved = (*value * scale).clamp(low, high);
                    if moved == *value {
                        break;
                    }
                    *value = moved;
                    let error = loss(runs, &weights, &next);
                    if error >= lowest {
                        break;
                    }
                    (best, lowest) = (next, error);
                }
            }
        }
        step *= 0.55;
    }
    best
}
