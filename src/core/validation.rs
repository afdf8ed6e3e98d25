//! Predicted against published: how far to trust the cost model.

pub mod refit;
pub mod row;

pub use row::{Prediction, Run};

const STEPS_CSV: &str = include_str!("../../assets/data/steps.csv");

/// The published runs that the constants were fitted on.
pub fn runs() -> Vec<Run> {
    read_runs(STEPS_CSV)
}

/// Reads every good row of a CSV table.
pub fn read_runs(text: &str) -> Vec<Run> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let Ok(headers) = reader.headers().cloned() else {
        return Vec::new();
    };
    reader
        .records()
        .filter_map(|record| {
            let record = record.ok()?;
            Run::read(|name| record.get(headers.iter().position(|header| header.trim() == name)?))
                .ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cost::Constants;

    #[test]
    fn published_runs_are_predicted_within_tolerance() {
        let runs = runs();
        assert_eq!(runs.len(), 50);
        let errors: Vec<f64> = runs
            .iter()
            .map(|run| {
                (run.predict(Constants::fitted()).cost.step_s.get() / run.measured_s.unwrap() - 1.0)
                    .abs()
            })
            .collect();
        assert!(errors.iter().sum::<f64>() / 50.0 < 0.05);
        assert!(errors.iter().all(|error| *error < 0.25));
    }
}
