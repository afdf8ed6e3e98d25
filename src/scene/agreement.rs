//! Predicted against published step times as two charts above each other: the times, and the error stretched out.

use super::plot::{Band, Chart, Line, Scale, Shape, Tint};
use crate::core::validation::{Report, Row};

/// Half the height of the error band, fraction.
pub const BAND: f64 = 0.05;

/// Which runs are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// All of them.
    #[default]
    All,
    /// One set of the summary.
    Set(String),
    /// One publication.
    Source(String),
}

impl Filter {
    /// Whether a run passes.
    pub fn passes(&self, row: &Row) -> bool {
        match self {
            Self::All => true,
            Self::Set(set) => row.set == *set,
            Self::Source(source) => row.source == *source,
        }
    }
}

/// The two charts, and which run each point is.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Predicted against published, both logarithmic, with the identity and the band.
    pub times: Chart,
    /// Error against published time.
    pub errors: Chart,
    /// For every line of both charts, the row of each point; empty for what is no run.
    pub rows: Vec<Vec<usize>>,
    /// Runs that pass the filter.
    pub shown: usize,
}

/// Sets in order of appearance, with their marker.
pub fn sets(report: &Report) -> Vec<(String, Shape)> {
    const SHAPES: [Shape; 5] = [
        Shape::Disc,
        Shape::TriangleUp,
        Shape::Diamond,
        Shape::Square,
        Shape::Ring,
    ];
    let mut sets: Vec<(String, Shape)> = Vec::new();
    for row in &report.rows {
        if !sets.iter().any(|(name, _)| *name == row.set) {
            let shape = SHAPES.get(sets.len()).copied().unwrap_or(Shape::Plus);
            sets.push((row.set.clone(), shape));
        }
    }
    sets
}

/// Publications in order of appearance.
pub fn sources(report: &Report) -> Vec<String> {
    let mut sources: Vec<String> = Vec::new();
    for row in &report.rows {
        if !sources.contains(&row.source) {
            sources.push(row.source.clone());
        }
    }
    sources
}

/// Draws the report; runs that the filter leaves out stay as faint marks.
pub fn agreement(report: &Report, filter: &Filter) -> Agreement {
    let both = report
        .rows
        .iter()
        .flat_map(|row| [row.measured_s, row.predicted_s]);
    let x = Scale::log("published step time, s", both.clone());
    let y = Scale {
        title: "predicted step time, s".to_owned(),
        ..x.clone()
    };
    let worst = report
        .rows
        .iter()
        .map(|row| row.error.abs())
        .fold(BAND, f64::max);
    let reach = (worst / BAND).ceil() * BAND;
    let error = Scale::fixed(
        "predicted / published − 1",
        -reach,
        reach,
        if reach > 0.15 { 0.1 } else { BAND },
        true,
    );
    let error = centred(error);

    let mut rows: Vec<Vec<usize>> = Vec::new();
    let (mut times, mut errors) = (Vec::new(), Vec::new());
    // What is filtered out goes below what is shown.
    for passes in [false, true] {
        for (name, shape) in sets(report) {
            let held: Vec<(usize, &Row)> = report
                .rows
                .iter()
                .enumerate()
                .filter(|(_, row)| row.set == name && filter.passes(row) == passes)
                .collect();
            let line = |points: Vec<(f64, f64)>| Line {
                name: name.clone(),
                named: false,
                tint: if passes { Tint::Ink } else { Tint::Faint },
                dash: &[],
                width: 0,
                shape,
                hollow: false,
                points,
            };
            times.push(line(
                held.iter()
                    .map(|(_, row)| (row.measured_s, row.predicted_s))
                    .collect(),
            ));
            errors.push(line(
                held.iter()
                    .map(|(_, row)| (row.measured_s, row.error))
                    .collect(),
            ));
            rows.push(held.iter().map(|(index, _)| *index).collect());
        }
    }
    let guide = |points: Vec<(f64, f64)>| Line {
        name: "exact".to_owned(),
        named: false,
        tint: Tint::Ink3,
        dash: &[2.0, 3.0],
        width: 1,
        shape: Shape::None,
        hollow: false,
        points,
    };
    let ends = [x.low, x.high];
    times.push(guide(ends.iter().map(|t| (*t, *t)).collect()));
    errors.push(guide(ends.iter().map(|t| (*t, 0.0)).collect()));
    rows.push(Vec::new());
    let band = |low: &dyn Fn(f64) -> f64, high: &dyn Fn(f64) -> f64| Band {
        tint: Tint::Ink3,
        alpha: 0.16,
        low: ends.iter().map(|t| (*t, low(*t))).collect(),
        high: ends.iter().map(|t| (*t, high(*t))).collect(),
    };
    Agreement {
        times: Chart {
            title: "Step time: predicted against published".to_owned(),
            x: x.clone(),
            y,
            bands: vec![band(&|t| t * (1.0 - BAND), &|t| t * (1.0 + BAND))],
            lines: times,
            gutter: 46.0,
        },
        errors: Chart {
            title: "Step time: error of the prediction".to_owned(),
            x,
            y: error,
            bands: vec![band(&|_| -BAND, &|_| BAND)],
            lines: errors,
            gutter: 46.0,
        },
        rows,
        shown: report.rows.iter().filter(|row| filter.passes(row)).count(),
    }
}

/// Ticks counted from 0 outward, so that 0 is always one of them.
fn centred(scale: Scale) -> Scale {
    let step = match scale.ticks.as_slice() {
        [(a, _), (b, _), ..] => b - a,
        _ => BAND,
    };
    let count = (scale.high / step + 1e-9).floor();
    Scale {
        ticks: Scale::fixed("", -count * step, count * step, step, true).ticks,
        ..scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::validation::report;

    #[test]
    fn every_run_is_a_point_of_its_own() {
        let report = report(false);
        let drawn = agreement(&report, &Filter::All);
        let mut seen: Vec<usize> = drawn.rows.iter().flatten().copied().collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..report.rows.len()).collect::<Vec<_>>());
        assert_eq!(drawn.shown, 115);
        for (line, rows) in drawn.times.lines.iter().zip(&drawn.rows) {
            assert!(line.shape == Shape::None || line.points.len() == rows.len());
            for (point, row) in line.points.iter().zip(rows) {
                let row = &report.rows[*row];
                assert_eq!(*point, (row.measured_s, row.predicted_s));
            }
        }
        assert!(
            drawn
                .errors
                .y
                .ticks
                .iter()
                .any(|(value, text)| value.abs() < 1e-12 && text == "0 %")
        );
    }

    #[test]
    fn filters_fade_the_rest() {
        let report = report(false);
        for source in sources(&report) {
            let drawn = agreement(&report, &Filter::Source(source.clone()));
            let strong: usize = drawn
                .times
                .lines
                .iter()
                .filter(|l| l.tint == Tint::Ink)
                .map(|l| l.points.len())
                .sum();
            assert_eq!(
                strong,
                report
                    .rows
                    .iter()
                    .filter(|row| row.source == source)
                    .count()
            );
            assert_eq!(strong, drawn.shown);
        }
        let (set, _) = sets(&report).remove(0);
        assert!(agreement(&report, &Filter::Set(set)).shown < report.rows.len());
    }
}
