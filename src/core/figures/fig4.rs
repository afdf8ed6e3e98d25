//! Figure 4: failed GPUs over a 15-day trace from a cold start.

pub mod systems;

use super::draws::paper;
use super::pieces::{Pieces, whole};
use super::{Axis, Compared, Effort, Figure, Mark, Series};
use crate::core::faults::{Cause, Faults, Repair, Site, Trace, default_faults};
use crate::core::fleet::Summary;
use crate::core::order;
use crate::core::scenario::{Degrees, FailureKind};
use crate::core::units::Nanos;

/// Title.
pub const TITLE: &str = "Failed GPUs over 15 days from a cold start";

const DAYS: f64 = 15.0;
/// Points of each curve, every six hours.
const STEPS: u32 = 60;
/// Traces drawn in one piece of work.
const PIECE: u64 = 10;

/// Rate multiplier and repair time, h, of each case.
const CASES: [(&str, f64, f64); 4] = [
    ("5-day repair", 1.0, 120.0),
    ("3-day repair", 1.0, 72.0),
    ("3 x the rate, 5-day repair", 3.0, 120.0),
    ("3 x the rate, 3-day repair", 3.0, 72.0),
];

/// What one trace says.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    /// Failed share of the GPUs, every six hours.
    curve: Vec<f64>,
    /// Share of the GPUs in a TP group with a failure, every six hours.
    out: Vec<f64>,
    /// Share of time with more than 0.1 % failed.
    above: f64,
    /// Least share of GPUs whose TP group is whole.
    worst: f64,
}

/// The Llama 3 rates as the paper uses them: one GPU an interruption, by class only.
pub fn rates(multiplier: f64, repair_h: f64) -> Faults {
    let base = default_faults();
    let class = |name: &str, kind: FailureKind, repair_h: f64| {
        let of_kind = base.causes.iter().filter(|cause| cause.kind == kind);
        let first = of_kind.clone().next().cloned();
        let weight: f64 = of_kind.map(|cause| cause.weight).sum();
        first.map(|cause| Cause {
            name: name.to_owned(),
            weight,
            repair: Repair::Fixed { mean_h: repair_h },
            ..cause
        })
    };
    let causes = [
        class("hardware", FailureKind::Hardware, repair_h),
        class("software", FailureKind::Software, 3.0),
    ];
    Faults {
        causes: causes.into_iter().flatten().collect(),
        rate_multiplier: multiplier,
        ..base
    }
}

fn run(site: &Site, faults: &Faults, seed: u64) -> Run {
    let trace = Trace::draw(faults, site, seed, DAYS);
    let end = Nanos::from_hours(DAYS * 24.0);
    let gpus = site.job_gpus().max(1) as f64;
    let series = trace.failed_series(site);
    let mut above = 0u64;
    for (index, (start, failed)) in series.iter().enumerate() {
        let stop = series.get(index + 1).map_or(end, |next| next.0.min(end));
        if failed * 1000 > site.job_gpus() {
            above += stop.saturating_sub(*start).0;
        }
    }
    let domains = f64::from(site.domains.max(1));
    let hit = domains_hit(&trace);
    let most = hit
        .iter()
        .filter(|step| step.0 < end)
        .map(|step| step.1)
        .max();
    Run {
        curve: sampled(end, gpus, &series),
        out: sampled(end, domains, &hit),
        above: above as f64 / end.0 as f64,
        worst: 1.0 - most.unwrap_or(0) as f64 / domains,
    }
}

/// A step function of counts as shares of `all`, every six hours.
fn sampled(end: Nanos, all: f64, series: &[(Nanos, u64)]) -> Vec<f64> {
    let mut passed = 0usize;
    let at = |step: u32| {
        let time = Nanos(end.0 / u64::from(STEPS) * u64::from(step));
        while series.get(passed).is_some_and(|next| next.0 <= time) {
            passed += 1;
        }
        let now = passed.checked_sub(1).and_then(|last| series.get(last));
        now.map_or(0.0, |now| now.1 as f64 / all)
    };
    (0..=STEPS).map(at).collect()
}

/// Domains with a GPU out of service, from each time on.
fn domains_hit(trace: &Trace) -> Vec<(Nanos, u64)> {
    let mut spans: Vec<(u32, Nanos, Nanos)> = trace
        .events
        .iter()
        .filter_map(|event| {
            let cause = trace.causes.get(usize::from(event.cause))?;
            let until = event.time + cause.detect + event.repair;
            cause.takes_out.then_some((event.domain, event.time, until))
        })
        .collect();
    order::sort(&mut spans);
    let mut steps: Vec<(Nanos, i64)> = Vec::new();
    let mut open: Option<(u32, Nanos, Nanos)> = None;
    for span in spans {
        match &mut open {
            Some(last) if last.0 == span.0 && span.1 <= last.2 => last.2 = last.2.max(span.2),
            _ => {
                if let Some((_, start, stop)) = open.replace(span) {
                    steps.extend([(start, 1), (stop, -1)]);
                }
            }
        }
    }
    if let Some((_, start, stop)) = open {
        steps.extend([(start, 1), (stop, -1)]);
    }
    order::sort(&mut steps);
    let mut hit = 0;
    let count = |(time, change)| {
        hit += change;
        (time, u64::try_from(hit).unwrap_or(0))
    };
    steps.into_iter().map(count).collect()
}

/// The traces of every case, as many as the effort asks for, in pieces.
fn traces(site: &Site, effort: &Effort, pieces: &mut Pieces) -> Option<Vec<Vec<Run>>> {
    let seeds = u64::from(effort.runs.max(1));
    let mut all = Vec::new();
    for (_, multiplier, repair_h) in CASES {
        let faults = rates(multiplier, repair_h);
        let mut runs = Vec::new();
        for from in (0..seeds).step_by(PIECE as usize) {
            let some = pieces.piece(|| {
                (from..seeds.min(from + PIECE))
                    .map(|i| run(site, &faults, effort.seed.wrapping_add(i)))
                    .collect::<Vec<Run>>()
            })?;
            runs.extend(some.iter().cloned());
        }
        all.push(runs);
    }
    Some(all)
}

/// Pieces that [`traces`] asks for.
fn trace_pieces(effort: &Effort) -> usize {
    CASES.len() * u64::from(effort.runs.max(1)).div_ceil(PIECE) as usize
}

/// Days at a point of a curve.
fn days(step: usize) -> f64 {
    DAYS * step as f64 / f64::from(STEPS)
}

/// Mean and spread over traces of a curve.
fn series(name: String, mark: Mark, runs: &[Run], curve: fn(&Run) -> &Vec<f64>) -> Series {
    let at = |step: usize| Summary::of(runs.iter().filter_map(|run| curve(run).get(step).copied()));
    let steps: Vec<Summary> = (0..=STEPS as usize).map(at).collect();
    let points = steps.iter().enumerate();
    Series {
        name,
        mark,
        strategy: None,
        points: points.map(|(step, s)| (days(step), s.mean)).collect(),
        band: steps.iter().map(|s| (s.p10, s.p90)).collect(),
    }
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty("4", TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let scenario = paper(Degrees::List(vec![30, 28]));
    let site = match scenario.resolve() {
        Ok(job) => Site::of(&job),
        Err(_) => Site {
            domains: 1024,
            spare_domains: 0,
            domain_size: 32,
            tray_gpus: 4,
            blast_radius: 1,
        },
    };
    pieces.expect(trace_pieces(effort));
    // Every trace before the first summary: a pass that has to stop has then cost little.
    let traces = traces(&site, effort, pieces)?;
    let mut series = Vec::new();
    let mut found: Vec<(Summary, Summary)> = Vec::new();
    for ((name, multiplier, repair_h), runs) in CASES.into_iter().zip(&traces) {
        series.push(self::series(name.to_owned(), Mark::Line, runs, |run| {
            &run.curve
        }));
        if multiplier == 1.0 && repair_h == 120.0 {
            for (index, run) in runs.iter().take(3).enumerate() {
                let points = run.curve.iter().enumerate();
                series.push(Series {
                    name: format!("seed {}", effort.seed.wrapping_add(index as u64)),
                    mark: Mark::Guide,
                    strategy: None,
                    points: points.map(|(step, f)| (days(step), *f)).collect(),
                    band: Vec::new(),
                });
            }
        }
        found.push((
            Summary::of(runs.iter().map(|run| run.above)),
            Summary::of(runs.iter().map(|run| run.worst)),
        ));
    }
    series.push(Series {
        name: "0.1 %".into(),
        mark: Mark::Guide,
        strategy: None,
        points: vec![(0.0, 1e-3), (DAYS, 1e-3)],
        band: Vec::new(),
    });
    let percent = |case: usize, pick: fn(&(Summary, Summary)) -> f64| {
        found.get(case).map(|f| 100.0 * pick(f))
    };
    let ours = |what: &str, case, pick| Compared {
        what: what.into(),
        unit: "%".into(),
        paper: None,
        paper_words: "not printed".into(),
        ours: percent(case, pick),
    };
    Some(Figure {
        id: "4".into(),
        title: TITLE.into(),
        x: Axis::linear("days"),
        y: Axis::percent("GPUs failed"),
        series,
        compared: vec![
            Compared {
                paper: Some(81.0),
                paper_words: "81".into(),
                ..ours("time with more than 0.1 % failed, 5-day repair", 0, |f| {
                    f.0.mean
                })
            },
            ours("the same, 3-day repair", 1, |f| f.0.mean),
            Compared {
                paper: Some(80.0),
                paper_words: "about 80".into(),
                ..ours(
                    "least availability of TP32 at 3 x the rate, 5-day repair",
                    2,
                    |f| f.1.mean,
                )
            },
            ours(
                "least availability of TP32 at the plain rate, 5-day repair",
                0,
                |f| f.1.mean,
            ),
        ],
        settings: vec![
            ("GPUs".into(), site.job_gpus().to_string()),
            (
                "rates".into(),
                "Llama 3, one GPU an interruption, 78 % hardware, software 3 h".into(),
            ),
            ("traces per curve".into(), effort.runs.to_string()),
            ("seed of the first".into(), effort.seed.to_string()),
            (
                "band".into(),
                "10th to 90th percentile of the traces".into(),
            ),
        ],
        scenario: Some(crate::core::scenario::Scenario {
            faults: serde_json::to_value(rates(1.0, 120.0)).ok(),
            ..scenario
        }),
        table: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_81_and_80_percent_come_out() {
        let figure = build(&Effort { runs: 60, seed: 1 });
        let difference = |at: usize| figure.compared[at].difference().unwrap();
        assert!(difference(0).abs() < 2.0, "{}", difference(0));
        assert!(difference(2).abs() < 3.0, "{}", difference(2));
    }

    #[test]
    fn the_steady_level_is_rate_times_repair() {
        // 32,768 GPUs / 50,677 h x (0.78 x (120 + 0.05) h + 0.22 x (3 + 0.05) h) = 61.0 GPUs.
        let site = Site {
            domains: 1024,
            spare_domains: 0,
            domain_size: 32,
            tray_gpus: 4,
            blast_radius: 1,
        };
        let ends = (0..300)
            .map(|seed| run(&site, &rates(1.0, 120.0), seed).curve[STEPS as usize] * 32_768.0);
        let summary = Summary::of(ends);
        assert!(
            (summary.mean - 61.0).abs() < 4.0 * summary.standard_error,
            "{summary:?}"
        );
    }
}
