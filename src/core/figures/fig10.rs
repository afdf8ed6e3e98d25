//! Figure 10: throughput lost against the blast radius, at a fixed number of failures.

use super::draws::{COMPARED, Draws, losses, paper, side_by_side};
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::fleet::Summary;
use crate::core::scenario::{Degrees, Job};
use crate::core::strategy::StrategyId;
use std::rc::Rc;

/// Title.
pub const TITLE: &str = "Throughput lost against blast radius, at a fixed number of failures";

/// GPUs that go down with one failure.
const RADII: [u32; 5] = [1, 2, 4, 8, 16];
/// Failures at once in 32,768 GPUs: 0.2 % of the GPUs where each takes one.
const FAILURES: u32 = 66;

fn curve(
    job: &Job,
    strategies: &[StrategyId],
    effort: &Effort,
    pieces: &mut Pieces,
) -> Option<Vec<Rc<Vec<Summary>>>> {
    let failures =
        (f64::from(FAILURES) * job.placement.occupied_gpus() as f64 / 32_768.0).round() as u32;
    RADII
        .iter()
        .map(|radius| {
            pieces.piece(|| {
                // The same stream at every radius: only the size of the groups changes.
                let mut draws = Draws::new(&job.placement, effort.seed, 10);
                let sets: Vec<_> = (0..effort.runs.max(1))
                    .map(|_| draws.failed(failures, *radius))
                    .collect();
                losses(job, strategies, &sets)
            })
        })
        .collect()
}

fn series(
    job: &Job,
    strategies: &[StrategyId],
    suffix: &str,
    effort: &Effort,
    pieces: &mut Pieces,
) -> Option<Vec<Series>> {
    let found = curve(job, strategies, effort, pieces)?;
    let of = |index: usize, strategy: &StrategyId| Series {
        name: format!("{}{suffix}", strategy.id()),
        mark: if suffix.is_empty() {
            Mark::Line
        } else {
            Mark::Guide
        },
        strategy: Some(*strategy),
        points: RADII
            .iter()
            .zip(&found)
            .filter_map(|(radius, row)| Some((f64::from(*radius), row.get(index)?.mean)))
            .collect(),
        band: found
            .iter()
            .filter_map(|row| row.get(index).map(|s| (s.p10, s.p90)))
            .collect(),
    };
    let series = strategies.iter().enumerate();
    Some(
        series
            .map(|(index, strategy)| of(index, strategy))
            .collect(),
    )
}

/// What decides the large radii: fill and drain of the pipeline, which interleaving shortens.
fn interleaving(effort: &Effort, pieces: &mut Pieces) -> Option<Table> {
    let columns = ["paper's job: loss, % at blast radius".to_owned()];
    let columns = columns.into_iter().chain(RADII.map(|r| r.to_string()));
    let mut rows = Vec::new();
    for chunks in [1, 4] {
        let mut scenario = paper(Degrees::Any);
        scenario.layout.vp = chunks;
        let found = match scenario.resolve() {
            Ok(job) => curve(&job, &COMPARED[1..], effort, pieces)?,
            Err(_) => Vec::new(),
        };
        for (index, name) in [(0, "ntp"), (1, "ntp-pw")] {
            let head = format!("{name}, {chunks} chunks per stage");
            let cells = found.iter().filter_map(|row| row.get(index));
            let cells = cells.map(|summary| format!("{:.2}", 100.0 * summary.mean));
            rows.push(std::iter::once(head).chain(cells).collect::<Vec<_>>());
        }
    }
    Some(Table {
        columns: columns.collect(),
        rows,
    })
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty("10", TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    pieces.expect(5 * RADII.len());
    let scenario = paper(Degrees::Any);
    let mut all = Vec::new();
    if let Ok(job) = scenario.resolve() {
        all.extend(series(&job, &COMPARED, "", effort, pieces)?);
    }
    for beside in side_by_side() {
        let suffix = format!(", Llama 3 405B on {}", beside.name);
        if let Ok(job) = beside.scenario.resolve() {
            all.extend(series(&job, &COMPARED, &suffix, effort, pieces)?);
        }
    }
    let at = |name: &str, radius: u32| {
        let series = all.iter().find(|series| series.name == name)?;
        let point = series
            .points
            .iter()
            .find(|point| point.0 == f64::from(radius))?;
        Some(100.0 * point.1)
    };
    let compared = ["dp-drop", "ntp", "ntp-pw"].into_iter().flat_map(|name| {
        let words = if name == "dp-drop" {
            "flat and high"
        } else {
            "rises, stays far below dp-drop"
        };
        [1, 16].map(|radius| Compared {
            what: format!("{name}: loss at blast radius {radius}"),
            unit: "%".into(),
            paper: None,
            paper_words: words.into(),
            ours: at(name, radius),
        })
    });
    let table = interleaving(effort, pieces)?;
    Some(Figure {
        id: "10".into(),
        title: TITLE.into(),
        x: Axis::log("GPUs that go down with one failure"),
        y: Axis::percent("throughput lost"),
        compared: compared.collect(),
        series: all,
        settings: vec![
            (
                "failures at once".into(),
                format!("{FAILURES} in 32,768 GPUs, distinct aligned groups, anywhere as likely"),
            ),
            (
                "degrees, heads".into(),
                "any, even on the paper's job; any, whole on the others".into(),
            ),
            ("mini-batch".into(), "shrinks".into()),
            ("draws per point".into(), effort.runs.to_string()),
            ("seed".into(), effort.seed.to_string()),
        ],
        scenario: Some(scenario),
        table: Some(table),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dp_drop_is_flat_and_the_others_rise_below_it() {
        let figure = build(&Effort { runs: 30, seed: 1 });
        let loss = |name: &str| {
            let series = figure
                .series
                .iter()
                .find(|series| series.name == name)
                .unwrap();
            series
                .points
                .iter()
                .map(|point| point.1)
                .collect::<Vec<_>>()
        };
        let table = figure.table.as_ref().unwrap();
        assert!(
            table.rows.iter().all(|row| row.len() == RADII.len() + 1),
            "{table:?}"
        );
        let (drop, ntp, boosted) = (loss("dp-drop"), loss("ntp"), loss("ntp-pw"));
        assert!((drop[4] / drop[0] - 1.0).abs() < 0.1, "{drop:?}");
        for (losses, name) in [(&ntp, "ntp"), (&boosted, "ntp-pw")] {
            assert!(losses[4] > losses[0], "{name} {losses:?}");
            let far_below = losses.iter().zip(&drop).take(4);
            assert!(
                far_below.into_iter().all(|(own, drop)| *own < 0.7 * drop),
                "{name} {losses:?} {drop:?}"
            );
            // Half of a TP group gone: with 8 micro-batches the 8-stage pipeline's fill and drain leave ntp no batch at all.
            assert!(losses[4] <= drop[4] + 1e-12, "{name}");
        }
    }
}
