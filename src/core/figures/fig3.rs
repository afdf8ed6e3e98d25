//! Figure 3: availability when a failed GPU takes its TP group out.

use super::draws::{Draws, on_preset};
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series};
use crate::core::fleet::Summary;
use crate::core::hardware::{System, system};
use crate::core::scenario::{Failure, Named, Parity, PartialLayout, Scenario};
use std::rc::Rc;

/// Title.
pub const TITLE: &str = "Availability when a failed GPU takes its TP group out";

/// GPUs of the cluster.
const GPUS: u32 = 32_768;
/// 0.1 % of them, 32.8, as a whole number.
const THOUSANDTH: u32 = (GPUS + 500) / 1000;
/// TP degree of the paper's value.
const PRINTED: u32 = 64;
/// TP degrees, from NVL8 to NVL72.
const DEGREES: [u32; 6] = [8, 16, 32, 64, 72, 144];

/// The draws of a TP degree.
fn draws(tp: u32, effort: &Effort) -> Draws {
    Draws::on(GPUS / tp, tp, effort.seed, u64::from(tp))
}

/// Share of GPUs whose TP group has no failure, over many sets of `failed` GPUs.
fn availability(tp: u32, failed: u32, effort: &Effort) -> Summary {
    let groups = GPUS / tp;
    let mut draws = draws(tp, effort);
    Summary::of((0..effort.runs.max(1)).map(|_| {
        let hit = draws.failed(failed, 1).len();
        1.0 - hit as f64 / f64::from(groups)
    }))
}

/// The first draw of the paper's value as a job to open: every TP group is a replica, so that the throughput of `dp-drop` is
/// the availability, and the other rows are what they make of the same failures.
fn scenario(effort: &Effort) -> Option<Scenario> {
    let layout = PartialLayout {
        tp: Some(PRINTED),
        pp: Some(1),
        dp: Some(GPUS / PRINTED),
        global_batch: Some(8 * GPUS / PRINTED),
        ..PartialLayout::default()
    };
    let paper = "paper-b200-nvl32";
    let mut scenario = on_preset(paper, "llama3-405b", &layout).ok()?;
    scenario.system = Named::Custom(Box::new(System {
        id: "paper-b200-nvl64".into(),
        name: format!("Paper B200, domains of {PRINTED}"),
        domain_size: PRINTED,
        ..system(paper)?.clone()
    }));
    scenario.policy.parity = Parity::PerReplica;
    let failed = draws(PRINTED, effort).failed(THOUSANDTH, 1);
    scenario.failures = failed
        .into_iter()
        .flat_map(|(domain, down)| (0..down).map(move |gpu| Failure::hardware(domain, gpu)))
        .collect();
    Some(scenario)
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty("3", TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let failed: Vec<u32> = (0..=16).map(|step| step * GPUS / 4096).collect();
    let fraction = |failed: u32| f64::from(failed) / f64::from(GPUS);
    pieces.expect(DEGREES.len() * failed.len() + 3);
    let mut series: Vec<Series> = Vec::new();
    for tp in DEGREES {
        let points: Vec<Rc<Summary>> = failed
            .iter()
            .map(|failed| pieces.piece(|| availability(tp, *failed, effort)))
            .collect::<Option<_>>()?;
        series.push(Series {
            name: format!("TP{tp}"),
            mark: Mark::Line,
            strategy: None,
            points: failed
                .iter()
                .zip(&points)
                .map(|(n, s)| (fraction(*n), s.mean))
                .collect(),
            band: points.iter().map(|s| (s.p10, s.p90)).collect(),
        });
        series.push(Series {
            name: format!("(1 - f)^{tp}"),
            mark: Mark::Guide,
            strategy: None,
            points: failed
                .iter()
                .map(|n| (fraction(*n), libm::pow(1.0 - fraction(*n), f64::from(tp))))
                .collect(),
            band: Vec::new(),
        });
    }
    let mut at = |tp| {
        let found = pieces.piece(|| availability(tp, THOUSANDTH, effort))?;
        Some(100.0 * found.mean)
    };
    let (tp64, tp8, tp72) = (at(PRINTED)?, at(8)?, at(72)?);
    Some(Figure {
        id: "3".into(),
        title: TITLE.into(),
        x: Axis::percent("GPUs failed"),
        y: Axis::percent("GPUs available"),
        series,
        compared: vec![
            Compared::new(
                "availability of TP64 with 0.1 % of GPUs failed",
                "%",
                94.0,
                tp64,
            ),
            Compared {
                what: "the same of TP8 (NVL8)".into(),
                unit: "%".into(),
                paper: None,
                paper_words: "not printed".into(),
                ours: Some(tp8),
            },
            Compared {
                what: "the same of TP72 (NVL72)".into(),
                unit: "%".into(),
                paper: None,
                paper_words: "not printed".into(),
                ours: Some(tp72),
            },
        ],
        settings: vec![
            ("GPUs".into(), GPUS.to_string()),
            ("failed GPUs".into(), "distinct, anywhere as likely".into()),
            (
                "0.1 % failed".into(),
                format!("{THOUSANDTH} GPUs, the nearest whole number to 32.8"),
            ),
            ("draws per point".into(), effort.runs.to_string()),
            ("seed".into(), effort.seed.to_string()),
        ],
        scenario: scenario(effort),
        table: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::strategy::{Evaluator, StrategyId, evaluate};

    #[test]
    fn draws_follow_the_closed_form() {
        let effort = Effort { runs: 400, seed: 1 };
        for tp in DEGREES {
            let groups = GPUS / tp;
            let used = f64::from(groups * tp);
            let summary = availability(tp, 131, &effort);
            let expected = (1.0 - 131.0 / used).powi(tp as i32);
            let slack = 4.0 * summary.standard_error + 1e-4;
            assert!(
                (summary.mean - expected).abs() < slack,
                "TP{tp}: {} {expected}",
                summary.mean
            );
        }
    }

    #[test]
    fn tp64_at_a_thousandth_is_the_papers_94_percent() {
        let figure = build(&Effort { runs: 100, seed: 1 });
        assert!(figure.compared[0].difference().unwrap().abs() < 0.5);
        // 0.1 % of 32,768 is nearer to 33 than to 32; the first draw of seed 1 is what the scenario shows.
        let scenario = figure.scenario.as_ref().unwrap();
        assert_eq!(scenario.failures.len(), 33);
        assert!(figure.series.iter().all(|series| series.points[0].1 == 1.0));
    }

    #[test]
    fn the_job_to_open_shows_the_availability_of_its_draw() {
        for seed in [1, 2] {
            let effort = Effort { runs: 1, seed };
            let scenario = scenario(&effort).unwrap();
            let again = Scenario::from_json(&scenario.to_json()).unwrap();
            assert_eq!(again, scenario, "it is a file as any other");
            let job = scenario.resolve().unwrap();
            assert_eq!(job.placement.occupied_gpus(), u64::from(GPUS));
            Evaluator::new(&job).fits().unwrap();
            let available = availability(PRINTED, THOUSANDTH, &effort).mean;
            let found = evaluate(&job);
            let of = |id| found.get(id).unwrap().throughput;
            assert!((of(StrategyId::DpDrop) - available).abs() < 1e-9);
            assert!(of(StrategyId::Ntp) > available);
        }
    }
}
