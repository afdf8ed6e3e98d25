//! Figure 7: a fixed mini-batch, throughput per GPU against spare domains.

mod needs;
pub mod systems;

use super::draws::{COMPARED, paper};
use super::fig4::rates;
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::fleet::Summary;
use crate::core::scenario::{Degrees, Scenario};
use crate::core::strategy::StrategyId;
use needs::{Ladder, Over};

/// Title.
pub const TITLE: &str = "Fixed mini-batch: throughput per GPU against spare domains";

/// Most spare domains.
const MOST: u32 = 128;

/// Traces of 15 days; each is walked change by change, so fewer do.
fn traces(effort: &Effort) -> u32 {
    effort.runs.clamp(1, 50)
}

fn scenario(spares: u32) -> Scenario {
    let mut scenario = paper(Degrees::List(vec![30, 28]));
    scenario.policy.fixed_minibatch = true;
    scenario.policy.spare_domains = spares;
    scenario
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty("7", TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let faults = rates(1.0, 120.0);
    let traces = traces(effort);
    pieces.expect(Ladder::pieces(MOST, 8, traces));
    let runs = Ladder::over(
        scenario,
        &Over {
            most: MOST,
            by: 8,
            faults: &faults,
            traces,
            seed: effort.seed,
        },
        pieces,
    )?;
    let of = |index: usize| runs.iter().filter_map(move |run| run.get(index));
    let spares: Vec<u32> = (0..=MOST).step_by(4).collect();
    let series = COMPARED.iter().enumerate().map(|(index, strategy)| {
        let points: Vec<Summary> = spares
            .iter()
            .map(|n| Summary::of(of(index).map(|needs| needs.per_gpu(*n, 1024))))
            .collect();
        Series {
            name: strategy.id().into(),
            mark: Mark::Line,
            strategy: Some(*strategy),
            points: spares
                .iter()
                .zip(&points)
                .map(|(n, s)| (f64::from(*n), s.mean))
                .collect(),
            band: points.iter().map(|s| (s.p10, s.p90)).collect(),
        }
    });
    let enough =
        |index: usize| Summary::of(of(index).map(|needs| f64::from(needs.uninterrupted())));
    let loss = Summary::of(of(2).map(|needs| 100.0 * (1.0 - needs.per_gpu(0, 1024))));
    let paper = [(90.0, "90 (one trace)"), (16.0, "16"), (0.0, "0")];
    let mut compared: Vec<Compared> = COMPARED
        .iter()
        .zip(paper)
        .enumerate()
        .map(|(index, (strategy, (paper, words)))| Compared {
            what: format!(
                "{}: spare domains for no interruption, median trace",
                strategy.id()
            ),
            unit: "domains".into(),
            paper: Some(paper),
            paper_words: words.into(),
            ours: Some(enough(index).p50),
        })
        .collect();
    compared.push(Compared {
        what: "ntp-pw: loss without spare domains".into(),
        unit: "%".into(),
        paper: Some(1.0),
        paper_words: "below 1".into(),
        ours: Some(loss.mean),
    });
    let row = |index: usize, strategy: &StrategyId| {
        let s = enough(index);
        vec![
            strategy.id().to_owned(),
            format!("{:.0}", s.p10),
            format!("{:.0}", s.p50),
            format!("{:.0}", s.p90),
        ]
    };
    Some(Figure {
        id: "7".into(),
        title: TITLE.into(),
        x: Axis::linear("spare domains of 32 GPUs"),
        y: Axis::linear("throughput per GPU, healthy job without spares = 1"),
        series: series.collect(),
        compared,
        table: Some(Table {
            columns: ["spare domains for no interruption", "p10", "median", "p90"].map(String::from).into(),
            rows: COMPARED.iter().enumerate().map(|(index, strategy)| row(index, strategy)).collect(),
        }),
        settings: vec![
            ("trace".into(), "15 days, Llama 3 rates, 5-day repair, cold start".into()),
            ("pauses".into(), "whenever the full mini-batch needs more spares than there are; restarts and checkpoints left out, as in the paper".into()),
            ("degrees, heads".into(), "30 and 28, even".into()),
            ("traces".into(), traces.to_string()),
            ("seed of the first".into(), effort.seed.to_string()),
        ],
        scenario: Some(Scenario {
            faults: serde_json::to_value(&faults).ok(),
            ..scenario(16)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spares_that_suffice_come_near_the_papers() {
        let figure = build(&Effort { runs: 5, seed: 1 });
        let ours: Vec<f64> = figure.compared.iter().map(|c| c.ours.unwrap()).collect();
        assert!((60.0..=95.0).contains(&ours[0]), "dp-drop {}", ours[0]);
        assert!((8.0..=24.0).contains(&ours[1]), "ntp {}", ours[1]);
        assert_eq!(ours[2], 0.0, "ntp-pw");
        assert!(ours[3] < 1.0, "ntp-pw loses {} %", ours[3]);
        // Spares that are never needed only cost.
        let ntp = &figure.series[1].points;
        assert!(ntp.last().unwrap().1 < ntp.iter().map(|p| p.1).fold(0.0, f64::max));
    }
}
