//! Predicted against published: how far to trust the cost model.
//!
//! `assets/data/steps.csv` holds the runs that the constants were fitted on, `assets/data/held_out.csv` runs that no
//! constant was fitted on (they were looked at while choosing the model's form, so they are no blind test).

pub mod band;
pub mod memory;
pub mod refit;
pub mod report;
pub mod row;

pub use band::{Band, band, bands};
pub use memory::{MemoryCheck, memory_checks};
pub use report::{Assessment, Report, Row, Set, Summary, report};
pub use row::{Prediction, Run};

const STEPS_CSV: &str = include_str!("../../assets/data/steps.csv");
const HELD_OUT_CSV: &str = include_str!("../../assets/data/held_out.csv");

/// The published runs that the constants were fitted on.
pub fn runs() -> Vec<Run> {
    read_runs(STEPS_CSV)
}

/// Published runs that no constant was fitted on.
pub fn held_out() -> Vec<Run> {
    read_runs(HELD_OUT_CSV)
}

/// Reads every good row of a CSV table.
pub fn read_runs(text: &str) -> Vec<Run> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let Ok(headers) = reader.headers().cloned() else {
        return Vec::new();
    };
    let at = |name: &str| headers.iter().position(|header| header.trim() == name);
    reader
        .records()
        .filter_map(|record| {
            let record = record.ok()?;
            Run::read(|name| record.get(at(name)?)).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_data_files_is_good_and_has_a_source() {
        for (text, rows) in [(STEPS_CSV, 50), (HELD_OUT_CSV, 65)] {
            let runs = read_runs(text);
            assert_eq!(runs.len(), rows);
            for run in runs {
                assert!(
                    run.measured_s.is_some_and(|s| (0.1..1000.0).contains(&s)),
                    "{}",
                    run.id
                );
                assert!(run.source.len() > 10, "{}", run.id);
            }
        }
    }
}
