//! Figure 4 beyond the paper: what the same failures take out on NVL72 and on NVL8.

use super::{CASES, Run, rates, series, trace_pieces, traces};
use crate::core::faults::Site;
use crate::core::figures::draws::{Beside, side_by_side};
use crate::core::figures::pieces::{Pieces, whole};
use crate::core::figures::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::fleet::Summary;
use crate::core::scenario::Scenario;

/// Id on the command line.
pub const ID: &str = "4-nvl";
/// Title.
pub const TITLE: &str = "GPUs out with their TP group over 15 days, NVL72 beside NVL8";

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty(ID, TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let jobs = side_by_side();
    pieces.expect(jobs.len() * trace_pieces(effort));
    let mut all: Vec<(&Beside, Vec<Vec<Run>>)> = Vec::new();
    for beside in &jobs {
        if let Ok(job) = beside.scenario.resolve() {
            all.push((beside, traces(&Site::of(&job), effort, pieces)?));
        }
    }
    let curve = |case: usize, words: &str| -> Vec<Series> {
        let of = all
            .iter()
            .filter_map(|(beside, cases)| Some((beside.name, cases.get(case)?)));
        of.map(|(name, runs)| series(format!("{name}{words}"), Mark::Line, runs, |run| &run.out))
            .collect()
    };
    let mut lines = curve(0, "");
    lines.extend(curve(2, ", 3 x the rate"));
    // Alike on both: one GPU a failure, the same rate a GPU.
    if let Some(runs) = all.first().and_then(|(_, cases)| cases.first()) {
        lines.push(Series {
            band: Vec::new(),
            ..series("failed alone".into(), Mark::Guide, runs, |run| &run.curve)
        });
    }
    let worst = |runs: &[Run]| 100.0 * (1.0 - Summary::of(runs.iter().map(|run| run.worst)).mean);
    let compared = [(0, "the plain rate"), (2, "3 x the rate")]
        .into_iter()
        .flat_map(|(case, words)| {
            let of = all
                .iter()
                .filter_map(move |(beside, cases)| Some((beside.name, cases.get(case)?)));
            of.map(move |(name, runs)| Compared {
                what: format!("{name}: most GPUs out at once, {words}, 5-day repair"),
                unit: "%".into(),
                paper: None,
                paper_words: "not printed".into(),
                ours: Some(worst(runs)),
            })
        });
    let percent = |share: f64| format!("{:.2}", 100.0 * share);
    let rows = all.iter().flat_map(|(beside, cases)| {
        CASES.iter().zip(cases).map(move |((name, ..), runs)| {
            let mean = |value: fn(&Run) -> f64| Summary::of(runs.iter().map(value)).mean;
            vec![
                format!("{}, {name}", beside.name),
                percent(mean(|run| run.above)),
                percent(mean(|run| run.curve.last().copied().unwrap_or(0.0))),
                percent(mean(|run| run.out.last().copied().unwrap_or(0.0))),
                percent(mean(|run| 1.0 - run.worst)),
            ]
        })
    });
    let columns = [
        "system, case",
        "time above 0.1 % failed, %",
        "failed on day 15, %",
        "out with their TP group on day 15, %",
        "most out at once, %",
    ];
    Some(Figure {
        id: ID.into(),
        title: TITLE.into(),
        x: Axis::linear("days"),
        y: Axis::percent("GPUs in a TP group with a failure"),
        compared: compared.collect(),
        table: Some(Table {
            columns: columns.map(String::from).into(),
            rows: rows.collect(),
        }),
        settings: jobs
            .iter()
            .map(Beside::setting)
            .chain([
                (
                    "rates".into(),
                    "as in Figure 4: Llama 3, one GPU an interruption, 5-day repair where no other is named".into(),
                ),
                ("traces per curve".into(), effort.runs.to_string()),
                ("seed of the first".into(), effort.seed.to_string()),
            ])
            .collect(),
        scenario: jobs.first().map(|beside| Scenario {
            faults: serde_json::to_value(rates(1.0, 120.0)).ok(),
            ..beside.scenario.clone()
        }),
        series: lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_out_follows_the_closed_form_of_both_domains() {
        let figure = build(&Effort { runs: 60, seed: 1 });
        let end = |name: &str| {
            let series = figure.series.iter().find(|s| s.name == name).unwrap();
            series.points.last().unwrap().1
        };
        // Failures fall anywhere: of a domain of n GPUs, 1 - (1 - f)^n are in one with a failure.
        let failed = end("failed alone");
        for (name, size) in [("NVL72", 72), ("NVL8", 8)] {
            let expected = 1.0 - (1.0 - failed).powi(size);
            let found = end(name);
            assert!(
                (found / expected - 1.0).abs() < 0.08,
                "{name}: {found} {expected}"
            );
            assert!(end(&format!("{name}, 3 x the rate")) > 2.0 * found);
        }
        assert_eq!(figure.table.as_ref().unwrap().rows.len(), 8);
    }
}
