//! Figure 6: throughput lost against the share of GPUs failed.

use super::draws::{COMPARED, Draws, losses, paper, side_by_side};
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::fleet::Summary;
use crate::core::scenario::{Degrees, HeadSplit, Job, Scenario};
use crate::core::strategy::StrategyId;
use std::rc::Rc;

/// Title.
pub const TITLE: &str = "Throughput lost against GPUs failed";

/// Largest share of failed GPUs.
const MOST: f64 = 4e-3;
/// Points of each curve.
const STEPS: u32 = 16;

/// Losses of each strategy at a share of failed GPUs, over many draws.
fn at(job: &Job, strategies: &[StrategyId], fraction: f64, effort: &Effort) -> Vec<Summary> {
    let gpus = job.placement.occupied_gpus() as f64;
    let mut draws = Draws::new(&job.placement, effort.seed, 6);
    let failed = (fraction * gpus).round() as u32;
    let sets: Vec<_> = (0..effort.runs.max(1))
        .map(|_| draws.failed(failed, 1))
        .collect();
    losses(job, strategies, &sets)
}

fn curves(
    job: &Job,
    strategies: &[StrategyId],
    suffix: &str,
    effort: &Effort,
    pieces: &mut Pieces,
) -> Option<Vec<Series>> {
    let fractions: Vec<f64> = (0..=STEPS)
        .map(|step| MOST * f64::from(step) / f64::from(STEPS))
        .collect();
    let points: Vec<Rc<Vec<Summary>>> = fractions
        .iter()
        .map(|f| pieces.piece(|| at(job, strategies, *f, effort)))
        .collect::<Option<_>>()?;
    let of = |index: usize, strategy: &StrategyId| Series {
        name: format!("{}{suffix}", strategy.id()),
        mark: Mark::Line,
        strategy: Some(*strategy),
        points: fractions
            .iter()
            .zip(&points)
            .filter_map(|(f, found)| Some((*f, found.get(index)?.mean)))
            .collect(),
        band: points
            .iter()
            .filter_map(|found| found.get(index).map(|s| (s.p10, s.p90)))
            .collect(),
    };
    let series = strategies.iter().enumerate();
    Some(
        series
            .map(|(index, strategy)| of(index, strategy))
            .collect(),
    )
}

/// Jobs of the table: the paper's with other rules, and what it did not show, NVL72 and NVL8 side by side.
fn others() -> Vec<(&'static str, Scenario)> {
    let with_heads = |degrees, heads| {
        let mut scenario = paper(degrees);
        scenario.policy.heads = heads;
        scenario
    };
    let list = || Degrees::List(vec![30, 28]);
    let mut jobs = vec![
        (
            "paper's job, degrees 30 and 28, heads even",
            with_heads(list(), HeadSplit::Even),
        ),
        (
            "the same, any degree",
            with_heads(Degrees::Any, HeadSplit::Even),
        ),
        (
            "the same, degrees 30 and 28, heads whole",
            with_heads(list(), HeadSplit::Whole),
        ),
        (
            "the same, any degree, heads whole",
            with_heads(Degrees::Any, HeadSplit::Whole),
        ),
    ];
    let others = side_by_side().into_iter();
    jobs.extend(others.map(|beside| (beside.words, beside.scenario)));
    jobs
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty("6", TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let listed = paper(Degrees::List(vec![30, 28]));
    let any = paper(Degrees::Any);
    let mut series = Vec::new();
    let jobs = others();
    pieces.expect(2 + 2 * (STEPS as usize + 1) + jobs.len());
    if let Some(job) = pieces.piece(|| listed.resolve().ok())?.as_ref() {
        series.extend(curves(job, &COMPARED, "", effort, pieces)?);
    }
    if let Some(job) = pieces.piece(|| any.resolve().ok())?.as_ref() {
        series.extend(curves(job, &COMPARED[1..], ", any degree", effort, pieces)?);
    }
    let last = |name: &str| {
        let series = series.iter().find(|series| series.name == name)?;
        series.points.last().map(|point| 100.0 * point.1)
    };
    let compared = [
        ("dp-drop", 12.0, "12"),
        ("ntp", 3.0, "at most 3"),
        ("ntp-pw", 1.0, "below 1"),
    ];
    let compared = compared.map(|(name, paper, words)| Compared {
        what: format!("{name}: loss with 0.4 % of GPUs failed"),
        unit: "%".into(),
        paper: Some(paper),
        paper_words: words.into(),
        ours: last(name),
    });
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (name, scenario) in jobs {
        let found = pieces.piece(|| {
            let job = scenario.resolve().ok()?;
            Some(at(&job, &COMPARED, MOST, effort))
        })?;
        let cells = found.iter().flatten();
        let cells =
            cells.map(|s| format!("{:.2} ± {:.2}", 100.0 * s.mean, 100.0 * s.standard_error));
        if found.is_some() {
            rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
        }
    }
    Some(Figure {
        id: "6".into(),
        title: TITLE.into(),
        x: Axis::percent("GPUs failed"),
        y: Axis::percent("throughput lost"),
        compared: compared.into(),
        table: Some(Table {
            columns: ["0.4 % failed: loss, %", "dp-drop", "ntp", "ntp-pw"]
                .map(String::from)
                .into(),
            rows,
        }),
        series,
        settings: vec![
            (
                "failed GPUs".into(),
                "distinct, anywhere as likely, one a failure".into(),
            ),
            (
                "degrees".into(),
                "30 and 28, or any where the curve says so".into(),
            ),
            (
                "heads".into(),
                "even (the paper's local batches and boosts imply it); whole in the table".into(),
            ),
            ("mini-batch".into(), "shrinks".into()),
            ("draws per point".into(), effort.runs.to_string()),
            ("seed".into(), effort.seed.to_string()),
        ],
        scenario: Some(listed),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_keep_their_order_and_the_papers_sizes() {
        let figure = build(&Effort { runs: 40, seed: 1 });
        let ours: Vec<f64> = figure.compared.iter().map(|c| c.ours.unwrap()).collect();
        assert!((ours[0] - 12.0).abs() < 1.0, "dp-drop {}", ours[0]);
        assert!(ours[1] < 3.3, "ntp {}", ours[1]);
        assert!(ours[2] < 1.0, "ntp-pw {}", ours[2]);
        assert!(ours[0] > ours[1] && ours[1] > ours[2]);
        for series in &figure.series {
            assert_eq!(
                series.points[0].1.abs(),
                0.0,
                "no failures, no loss: {}",
                series.name
            );
            assert_eq!(series.points.len(), series.band.len());
        }
    }
}
