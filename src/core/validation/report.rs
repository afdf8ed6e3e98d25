//! The validation table: every published run, predicted with the fitted constants and with constants that have not seen
//! its source.

use super::refit::{self, Refit};
use super::{Run, held_out, runs};
use crate::core::cost::{Constants, table_name};
use crate::core::hardware::Precision;
use crate::core::order;
use serde::Serialize;

/// One run against its prediction. Errors are predicted / published - 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Name of the run.
    pub id: String,
    /// Where it was published.
    pub source: String,
    /// Set of the summary it belongs to.
    pub set: String,
    /// Class of its error band: GPU table and precision.
    pub class: String,
    /// GPUs of the run.
    pub gpus: u64,
    /// Micro-batch, chosen where the publication gives none.
    pub microbatch: u32,
    /// Published step time.
    pub measured_s: f64,
    /// Predicted step time.
    pub predicted_s: f64,
    /// Its error.
    pub error: f64,
    /// Error with constants fitted without the row's source; none for rows that were never fitted on.
    pub left_out_error: Option<f64>,
    /// Whether the constants were fitted on this row.
    pub fitted: bool,
}

/// Errors of some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Rows.
    pub rows: usize,
    /// Mean of |error|.
    pub mean: f64,
    /// Median of |error|.
    pub median: f64,
    /// Error of the largest size, with its sign.
    pub worst: f64,
    /// Which row has it.
    pub worst_id: String,
}

impl Summary {
    fn of<'a>(errors: impl Iterator<Item = (&'a str, f64)>) -> Self {
        let mut all: Vec<(&str, f64)> = errors.collect();
        order::sort_by(&mut all, |a, b| a.1.abs().total_cmp(&b.1.abs()));
        let rows = all.len();
        let Some(&(worst_id, worst)) = all.last() else {
            return Self::default();
        };
        let middle = |i: usize| all.get(i).map_or(0.0, |entry| entry.1.abs());
        let median = if rows % 2 == 1 {
            middle(rows / 2)
        } else {
            0.5 * (middle(rows / 2 - 1) + middle(rows / 2))
        };
        let mean = all.iter().map(|entry| entry.1.abs()).sum::<f64>() / rows as f64;
        Self {
            rows,
            mean,
            median,
            worst,
            worst_id: worst_id.to_owned(),
        }
    }
}

/// One line of the summary, with what it must hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Set {
    /// Name of the set.
    pub name: String,
    /// With the constants in use.
    pub fitted: Summary,
    /// With constants fitted without the row's source; none for rows never fitted on.
    pub left_out: Option<Summary>,
    /// What the constants fall back to when the source is left out, in words; empty when other sources cover it.
    pub fallback: String,
    /// Largest mean that passes.
    pub mean_tolerance: f64,
    /// Largest single error that passes.
    pub worst_tolerance: f64,
    /// Whether the fitted errors pass.
    pub pass: bool,
}

/// Throughput per GPU lost from TP4 to TP8 on one board: what NTP trades on.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DegreeLoss {
    /// Which pair of rows.
    pub name: String,
    /// Published loss, fraction.
    pub measured: f64,
    /// Predicted loss.
    pub predicted: f64,
    /// Largest difference that passes.
    pub tolerance: f64,
    /// Whether it passes.
    pub pass: bool,
}

/// The whole validation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Every run.
    pub rows: Vec<Row>,
    /// Per publication, then all fitted rows, then the rows never fitted on.
    pub sets: Vec<Set>,
    /// TP4 to TP8 on B200.
    pub degree_losses: Vec<DegreeLoss>,
    /// Whether everything is within tolerance.
    pub pass: bool,
}

/// Tolerances of a set: mean and worst |error|.
const TOLERANCES: [(&str, f64, f64); 6] = [
    ("Megatron-LM table, H100", 0.06, 0.25),
    ("Korthikanti, A100", 0.03, 0.25),
    ("SimuMax, B200", 0.06, 0.25),
    ("DGX Cloud, H100", 0.06, 0.25),
    (ALL, 0.05, 0.25),
    (HELD_OUT, 0.08, 0.25),
];
const ALL: &str = "all fitted rows";
const HELD_OUT: &str = "never fitted";

/// Set of the summary a source belongs to.
fn set_of(source: &str) -> &'static str {
    match source {
        s if s.contains("Megatron-LM") => "Megatron-LM table, H100",
        s if s.contains("Korthikanti") => "Korthikanti, A100",
        s if s.contains("SimuMax") => "SimuMax, B200",
        _ => "DGX Cloud, H100",
    }
}

/// Class of a run's error band: GPU of the kernel table and precision.
pub fn class_of(run: &Run) -> String {
    let precision = match run.layout.precision {
        Precision::Bf16 => "bf16",
        Precision::Fp8 => "fp8",
    };
    format!("{} {precision}", table_name(&run.system.gpu))
}

/// Predicts every run; with `leave_out`, also refits once a source without it.
pub fn report(leave_out: bool) -> Report {
    let mut assessment = Assessment::new();
    while leave_out && assessment.advance() {}
    assessment.report()
}

/// The validation under way: predictions at once, then the refits without each source in small steps.
#[derive(Clone, Debug)]
pub struct Assessment {
    fitted: Vec<Run>,
    /// Fitted rows first, in the order of `fitted`.
    rows: Vec<Row>,
    sources: Vec<String>,
    /// Sources left out so far.
    done: usize,
    refit: Option<(Refit, String)>,
    fallbacks: Vec<(&'static str, String)>,
}

impl Default for Assessment {
    fn default() -> Self {
        Self::new()
    }
}

impl Assessment {
    /// Predicts every run with the constants in use.
    pub fn new() -> Self {
        let constants = Constants::fitted();
        let fitted: Vec<Run> = runs()
            .into_iter()
            .filter(|run| run.measured_s.is_some())
            .collect();
        let mut rows: Vec<Row> = fitted
            .iter()
            .filter_map(|run| row(run, constants, true))
            .collect();
        rows.extend(
            held_out()
                .iter()
                .filter_map(|run| row(run, constants, false)),
        );
        let sources = sources(&fitted).into_iter().map(str::to_owned).collect();
        Self {
            fitted,
            rows,
            sources,
            done: 0,
            refit: None,
            fallbacks: Vec::new(),
        }
    }

    /// Does a small part of leaving each source out; false when there is nothing left to do.
    pub fn advance(&mut self) -> bool {
        let Some(source) = self.sources.get(self.done) else {
            return false;
        };
        let Some((refit, forgotten)) = &mut self.refit else {
            self.refit = Some(refit_without(&self.fitted, source));
            return true;
        };
        if refit.advance() {
            return true;
        }
        for (run, row) in self
            .fitted
            .iter()
            .zip(&mut self.rows)
            .filter(|(run, _)| run.source == *source)
        {
            let predicted = run.predict(refit.constants()).cost.step_s.get();
            row.left_out_error = run.measured_s.map(|measured| predicted / measured - 1.0);
        }
        if !forgotten.is_empty() {
            self.fallbacks
                .push((set_of(source), std::mem::take(forgotten)));
        }
        self.refit = None;
        self.done += 1;
        true
    }

    /// How much of the refits is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let part = self
            .refit
            .as_ref()
            .map_or(0.0, |(refit, _)| refit.progress());
        (self.done as f64 + part) / (self.sources.len().max(1)) as f64
    }

    /// The report as far as it is known.
    pub fn report(&self) -> Report {
        summarise(self.rows.clone(), &self.fallbacks)
    }
}

fn summarise(rows: Vec<Row>, fallbacks: &[(&'static str, String)]) -> Report {
    let sets: Vec<Set> = TOLERANCES
        .into_iter()
        .map(|(name, mean_tolerance, worst_tolerance)| {
            let within = |row: &&Row| match name {
                ALL => row.fitted,
                HELD_OUT => !row.fitted,
                _ => row.fitted && row.set == name,
            };
            let summary = Summary::of(
                rows.iter()
                    .filter(within)
                    .map(|row| (row.id.as_str(), row.error)),
            );
            let left: Vec<(&str, f64)> = rows
                .iter()
                .filter(within)
                .filter_map(|row| Some((row.id.as_str(), row.left_out_error?)))
                .collect();
            let fallback: Vec<&str> = fallbacks
                .iter()
                .filter(|(set, _)| *set == name)
                .map(|(_, text)| text.as_str())
                .collect();
            Set {
                name: name.to_owned(),
                pass: summary.mean <= mean_tolerance && summary.worst.abs() <= worst_tolerance,
                left_out: (!left.is_empty()).then(|| Summary::of(left.into_iter())),
                fallback: fallback.join("; "),
                fitted: summary,
                mean_tolerance,
                worst_tolerance,
            }
        })
        .collect();
    let degree_losses = degree_losses(&rows);
    let pass = sets.iter().all(|set| set.pass) && degree_losses.iter().all(|loss| loss.pass);
    Report {
        rows,
        sets,
        degree_losses,
        pass,
    }
}

/// Sources in order of appearance.
fn sources(runs: &[Run]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for run in runs {
        if !names.contains(&run.source.as_str()) {
            names.push(&run.source);
        }
    }
    names
}

/// A refit without a source, and which training factors nobody else measured.
fn refit_without(runs: &[Run], source: &str) -> (Refit, String) {
    let rest: Vec<Run> = runs
        .iter()
        .filter(|run| run.source != source)
        .cloned()
        .collect();
    let (before, after) = (refit::free_factors(runs), refit::free_factors(&rest));
    let lost: Vec<&str> = before
        .into_iter()
        .filter(|name| !after.contains(name))
        .collect();
    let words = lost
        .iter()
        .map(|name| format!("{name} = mean of the others"));
    let words = words.collect::<Vec<_>>().join(", ");
    (Refit::new(rest, Constants::fitted()), words)
}

fn row(run: &Run, constants: &Constants, fitted: bool) -> Option<Row> {
    let measured_s = run.measured_s?;
    let prediction = run.predict(constants);
    let predicted_s = prediction.cost.step_s.get();
    Some(Row {
        id: run.id.clone(),
        source: run.source.clone(),
        set: if fitted {
            set_of(&run.source)
        } else {
            HELD_OUT
        }
        .to_owned(),
        class: class_of(run),
        gpus: run.layout.gpus(),
        microbatch: prediction.microbatch,
        measured_s,
        predicted_s,
        error: predicted_s / measured_s - 1.0,
        left_out_error: None,
        fitted,
    })
}

/// Both batch sizes of both models: one replica takes the same sequences at TP4 and TP8, so the loss per GPU is
/// 1 - t4 / (2 t8).
fn degree_losses(rows: &[Row]) -> Vec<DegreeLoss> {
    let time = |id: &str| {
        rows.iter()
            .find(|row| row.id == id)
            .map(|row| (row.measured_s, row.predicted_s))
    };
    let pairs = [("405b_l4", 0.03), ("70b_l12", 0.08)];
    let mut losses = Vec::new();
    for (model, tolerance) in pairs {
        for batch in ["mbc8", "mbc32"] {
            let four = time(&format!("b200-llama3_{model}_tp4_pp1_dp2_{batch}_cef"));
            let eight = time(&format!("b200-llama3_{model}_tp8_pp1_dp1_{batch}_cef"));
            let (Some(four), Some(eight)) = (four, eight) else {
                continue;
            };
            let loss = |t4: f64, t8: f64| 1.0 - t4 / (2.0 * t8);
            let (measured, predicted) = (loss(four.0, eight.0), loss(four.1, eight.1));
            losses.push(DegreeLoss {
                name: format!("{model} {batch} TP4 to TP8"),
                measured,
                predicted,
                tolerance,
                pass: (measured - predicted).abs() <= tolerance,
            });
        }
    }
    losses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_within_tolerance() {
        let report = report(false);
        assert_eq!(report.rows.iter().filter(|row| row.fitted).count(), 50);
        for set in &report.sets {
            assert!(set.pass, "{set:?}");
            assert!(set.fitted.rows > 0);
        }
        assert_eq!(report.degree_losses.len(), 4);
        for loss in &report.degree_losses {
            assert!(loss.pass, "{loss:?}");
        }
        assert!(report.pass);
    }

    #[test]
    fn summary_of_hand_worked_errors() {
        let errors = [("a", 0.02), ("b", -0.10), ("c", 0.03), ("d", 0.01)];
        let summary = Summary::of(errors.into_iter());
        assert!((summary.mean - 0.04).abs() < 1e-12 && (summary.median - 0.025).abs() < 1e-12);
        assert_eq!((summary.worst, summary.worst_id.as_str()), (-0.10, "b"));
        assert_eq!(Summary::of(std::iter::empty()), Summary::default());
    }

    #[test]
    fn the_constants_are_where_a_refit_puts_them() {
        let mut refitted = refit::fit(&runs(), Constants::fitted());
        for factor in crate::core::cost::factors::factors()
            .iter()
            .filter(|factor| factor.fit.is_some())
        {
            let value = *refitted.slot(&factor.name).unwrap();
            assert!(
                (value / factor.value - 1.0).abs() < 0.05,
                "{}: {} against {}",
                factor.name,
                value,
                factor.value
            );
        }
    }

    #[test]
    fn leaving_a_source_out_says_what_falls_back() {
        let report = report(true);
        let set = |name: &str| {
            report
                .sets
                .iter()
                .find(|set| set.name.contains(name))
                .unwrap()
        };
        assert!(
            set("Korthikanti")
                .fallback
                .contains("training_factor a100 bf16 = mean of the others")
        );
        assert!(
            set("SimuMax")
                .fallback
                .contains("training_factor b200 bf16")
        );
        assert!(
            set("DGX Cloud")
                .fallback
                .contains("training_factor h100 fp8")
        );
        assert!(set("Megatron-LM").fallback.is_empty());
        // Without its own rows a set is predicted no better than with them, and still within a factor.
        for set in report
            .sets
            .iter()
            .filter_map(|set| Some((set, set.left_out.as_ref()?)))
        {
            assert!(
                set.1.rows == set.0.fitted.rows && set.1.worst.abs() < 0.6,
                "{set:?}"
            );
        }
    }
}
