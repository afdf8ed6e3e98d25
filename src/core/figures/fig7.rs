//! Figure 7: a fixed mini-batch, throughput per GPU against spare domains.

use super::draws::{COMPARED, paper, pattern};
use super::fig4::rates;
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::faults::{Site, Trace};
use crate::core::fleet::Summary;
use crate::core::scenario::{Degrees, Job, Scenario};
use crate::core::strategy::{Evaluator, Pattern, StrategyId};
use crate::core::units::Nanos;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Title.
pub const TITLE: &str = "Fixed mini-batch: throughput per GPU against spare domains";

const DAYS: f64 = 15.0;
/// Most spare domains.
const MOST: u32 = 128;

/// How long a strategy needed how many spare domains to keep its mini-batch, over one trace.
#[derive(Clone, Debug, Default, PartialEq)]
struct Needs {
    /// Spare domains needed, with the time and the throughput x time they were needed for; `MOST` + 1 where none suffice.
    time: BTreeMap<u32, (f64, f64)>,
}

impl Needs {
    /// Spare domains that never let the job pause.
    fn uninterrupted(&self) -> u32 {
        self.time.keys().next_back().copied().unwrap_or(0)
    }
    /// Throughput per GPU with `spares` spare domains: pauses when more are needed, spare GPUs held all the time.
    fn per_gpu(&self, spares: u32, domains: u32) -> f64 {
        let total: f64 = self.time.values().map(|(time, _)| time).sum();
        let done: f64 = self.time.range(..=spares).map(|(_, (_, done))| done).sum();
        if total > 0.0 {
            done / total * f64::from(domains) / f64::from(domains + spares)
        } else {
            0.0
        }
    }
}

/// The same job with every number of spare domains that makes a difference to `ntp`: whole replicas' worths.
fn jobs() -> Vec<Job> {
    (0..=MOST)
        .step_by(8)
        .filter_map(|spares| scenario(spares).resolve().ok())
        .collect()
}

/// Walks a trace's failures and repairs and asks at each change how many spares it takes to go on.
fn needs(evaluators: &[Evaluator<'_>], trace: &Trace) -> Vec<Needs> {
    let mut found = vec![Needs::default(); COMPARED.len()];
    let Some(placement) = evaluators.first().map(Evaluator::placement) else {
        return found;
    };
    let end = Nanos::from_hours(DAYS * 24.0);
    let mut changes: Vec<(Nanos, u32, i64)> = Vec::new();
    for event in &trace.events {
        let Some(cause) = trace.causes.get(usize::from(event.cause)) else {
            continue;
        };
        if cause.takes_out && event.domain < placement.domains {
            let (gpus, back) = (
                i64::from(event.gpus),
                event.time + cause.detect + event.repair,
            );
            changes.extend([
                (event.time, event.domain, gpus),
                (back, event.domain, -gpus),
            ]);
        }
    }
    changes.retain(|change| change.0 < end);
    changes.sort_unstable();
    let mut down: BTreeMap<u32, i64> = BTreeMap::new();
    let mut now = Nanos::ZERO;
    let mut account = |down: &BTreeMap<u32, i64>, span: Nanos| {
        let most = i64::from(placement.domain_size);
        let failed: Vec<(u32, u32)> = down
            .iter()
            .map(|(domain, count)| (*domain, (*count).clamp(0, most) as u32))
            .collect();
        let pattern = pattern(placement, &failed);
        for (needs, strategy) in found.iter_mut().zip(COMPARED) {
            let (spares, throughput) = fewest(evaluators, strategy, &pattern);
            let (time, done) = needs.time.entry(spares).or_default();
            *time += span.hours();
            *done += span.hours() * throughput;
        }
    };
    for (time, domain, change) in changes {
        account(&down, time.saturating_sub(now));
        now = time;
        let count = down.entry(domain).or_insert(0);
        *count += change;
        if *count <= 0 {
            down.remove(&domain);
        }
    }
    account(&down, end.saturating_sub(now));
    found
}

/// Fewest spare domains that keep the mini-batch, and the throughput with them.
fn fewest(evaluators: &[Evaluator<'_>], strategy: StrategyId, pattern: &Pattern) -> (u32, f64) {
    if strategy == StrategyId::DpDrop {
        // Spares replace damaged domains one by one, so those in use are those needed.
        let rate = evaluators.last().map(|all| all.rate(strategy, pattern));
        return match rate {
            Some(rate) if !rate.paused => (rate.spare_domains_used, rate.throughput),
            _ => (MOST + 1, 0.0),
        };
    }
    let enough = evaluators.partition_point(|evaluator| evaluator.rate(strategy, pattern).paused);
    evaluators.get(enough).map_or((MOST + 1, 0.0), |evaluator| {
        let spares = evaluator.policy().spare_domains;
        (spares, evaluator.rate(strategy, pattern).throughput)
    })
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
    let seeds = u64::from(effort.runs.clamp(1, 50));
    pieces.expect(1 + seeds as usize);
    let evaluators =
        pieces.piece(|| jobs().into_iter().map(Evaluator::owned).collect::<Vec<_>>())?;
    let mut runs: Vec<Rc<Vec<Needs>>> = Vec::new();
    if let Some(site) = evaluators.first().map(|first| Site::of(first.job())) {
        for i in 0..seeds {
            runs.push(pieces.piece(|| {
                let trace = Trace::draw(&faults, &site, effort.seed.wrapping_add(i), DAYS);
                needs(&evaluators, &trace)
            })?);
        }
    }
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
            strategy: Some(strategy.id()),
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
            unit: "domains",
            paper: Some(paper),
            paper_words: words.into(),
            ours: Some(enough(index).p50),
        })
        .collect();
    compared.push(Compared {
        what: "ntp-pw: loss without spare domains".into(),
        unit: "%",
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
        id: "7",
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
            ("traces".into(), effort.runs.clamp(1, 50).to_string()),
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

    #[test]
    fn needs_add_up_by_hand() {
        let needs = Needs {
            time: BTreeMap::from([(0, (10.0, 10.0)), (8, (20.0, 20.0)), (16, (10.0, 10.0))]),
        };
        assert_eq!(needs.uninterrupted(), 16);
        assert!((needs.per_gpu(8, 92) - 0.75 * 0.92).abs() < 1e-12);
    }
}
