//! Predicted against published step times, run by run.

use super::{Axis, Compared, Figure, Mark, Series, Table};
use crate::core::validation::{Report, report};

/// Title.
pub const TITLE: &str = "Step time: predicted against published";

/// The figure, with the fitted constants.
pub fn build() -> Figure {
    of(&report(false))
}

/// The figure of a report.
pub fn of(report: &Report) -> Figure {
    let mut names: Vec<&str> = Vec::new();
    for row in &report.rows {
        if !names.contains(&row.set.as_str()) {
            names.push(&row.set);
        }
    }
    let mut series: Vec<Series> = names
        .iter()
        .map(|name| Series {
            name: (*name).to_owned(),
            mark: Mark::Points,
            strategy: None,
            band: Vec::new(),
            points: report
                .rows
                .iter()
                .filter(|row| row.set == *name)
                .map(|row| (row.measured_s, row.predicted_s))
                .collect(),
        })
        .collect();
    let times = report.rows.iter().map(|row| row.measured_s);
    let (low, high) = times.fold((f64::MAX, 0.0_f64), |(low, high), t| {
        (low.min(t), high.max(t))
    });
    if high > 0.0 {
        series.push(Series {
            name: "exact".into(),
            mark: Mark::Guide,
            strategy: None,
            band: Vec::new(),
            points: vec![(low, low), (high, high)],
        });
    }
    let percent = |value: f64| 100.0 * value;
    let compared = report.sets.iter().map(|set| Compared {
        what: format!("{}: mean error of {} runs", set.name, set.fitted.rows),
        unit: "%".into(),
        paper: None,
        paper_words: format!("at most {:.0}", percent(set.mean_tolerance)),
        ours: Some(percent(set.fitted.mean)),
    });
    let columns = [
        "run",
        "set",
        "published s",
        "predicted s",
        "error %",
        "error % without its source",
    ];
    let rows = report.rows.iter().map(|row| {
        vec![
            row.id.clone(),
            row.set.clone(),
            format!("{}", row.measured_s),
            format!("{:.4}", row.predicted_s),
            format!("{:+.1}", percent(row.error)),
            row.left_out_error
                .map_or("-".into(), |error| format!("{:+.1}", percent(error))),
        ]
    });
    Figure {
        id: "validation".into(),
        title: TITLE.into(),
        x: Axis::log("published step time, s"),
        y: Axis::log("predicted step time, s"),
        compared: compared.collect(),
        scenario: None,
        settings: vec![(
            "constants".into(),
            "fitted once on the runs of assets/data/steps.csv; the set \"never fitted\" had no part in it".into(),
        )],
        table: Some(Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_a_point() {
        let figure = build();
        let points: usize = figure
            .series
            .iter()
            .filter(|s| s.mark == Mark::Points)
            .map(|s| s.points.len())
            .sum();
        assert_eq!(points, 115);
        assert_eq!(figure.table.unwrap().rows.len(), 115);
        assert_eq!(figure.series.last().unwrap().name, "exact");
    }
}
