//! The power figure: performance per watt against boost.

use super::{Axis, Compared, Figure, Mark, Series, Table};
use crate::core::cost::{Replica, step};
use crate::core::hardware::{PowerCurve, system};
use crate::core::scenario::HeadSplit;
use crate::core::workload::model;

/// Title.
pub const TITLE: &str = "Performance per watt against power boost";

/// Points drawn between 1 and 1.3 x TDP.
const STEPS: u32 = 30;

/// The figure: the curve (compute alone) and a whole training step of a replica at TP30 of 32.
pub fn build() -> Figure {
    let powers: Vec<f64> = (0..=STEPS)
        .map(|i| 1.0 + (PowerCurve::MAX_POWER - 1.0) * f64::from(i) / f64::from(STEPS))
        .collect();
    let compute = |p: f64| PowerCurve::perf(p) / p - 1.0;
    let whole = whole_step();
    let relative = |p: f64| whole(PowerCurve::perf(p)) / p - 1.0;
    let line = |name: &str, f: &dyn Fn(f64) -> f64| Series {
        name: name.into(),
        mark: Mark::Line,
        strategy: None,
        band: Vec::new(),
        points: powers.iter().map(|p| (*p, f(*p))).collect(),
    };
    let paper = Series {
        name: "paper".into(),
        mark: Mark::Points,
        strategy: None,
        band: Vec::new(),
        points: vec![(1.1, -0.028), (1.2, -0.065)],
    };
    let base = system("paper-b200-nvl32");
    let rows = [1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3].into_iter().map(|p| {
        let perf = PowerCurve::perf(p);
        let clock = base
            .and_then(|s| s.gpu.clock(perf))
            .map_or("not published".into(), |mhz| format!("{:.0}", mhz.get()));
        let watts = base.map_or(0.0, |s| s.gpu.tdp_w) * p;
        vec![
            format!("{p:.2}"),
            format!("{watts:.0}"),
            format!("{perf:.4}"),
            clock,
            format!("{:.4}", whole(perf)),
            format!("{:+.1}", 100.0 * compute(p)),
            format!("{:+.1}", 100.0 * relative(p)),
            format!("{:.4}", p / whole(perf)),
        ]
    });
    let columns = [
        "power x TDP",
        "W per GPU",
        "compute factor",
        "clock MHz",
        "step speed-up",
        "perf/W compute %",
        "perf/W step %",
        "energy per token",
    ];
    Figure {
        id: "power".into(),
        title: TITLE.into(),
        x: Axis::linear("power, x TDP"),
        y: Axis::percent("performance per watt, change"),
        series: vec![line("compute alone", &compute), line("whole step at TP30 of 32", &relative), paper],
        compared: vec![
            Compared::new("perf/W at 1.1 x TDP", "%", -2.8, 100.0 * compute(1.1)),
            Compared::new("perf/W at 1.2 x TDP", "%", -6.5, 100.0 * compute(1.2)),
        ],
        scenario: None,
        settings: vec![
            ("curve".into(), "perf = 1 + 0.774 x - 0.82 x^2, x = power / TDP - 1, on 1 to 1.3".into()),
            (
                "step".into(),
                "480B of the paper on B200 NVL32, TP30 of 32, PP8, DP128, 8 sequences of 16,384 tokens a replica, heads even; \
                 communication and memory-bound work do not speed up"
                    .into(),
            ),
        ],
        table: Some(Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }),
    }
}

/// Step speed of the paper's replica at TP30 for a compute factor, relative to factor 1.
fn whole_step() -> impl Fn(f64) -> f64 {
    let layout = super::survivors::paper_layout();
    let time = move |perf: f64| {
        let (system, model) = (system("paper-b200-nvl32")?, model("paper-480b")?);
        let replica = Replica {
            system,
            model,
            layout: &layout,
            degree: 30,
            sync_degree: 30,
            local_batch: layout.local_batch(),
            perf,
            heads: HeadSplit::Even,
        };
        Some(step(&replica).step_s.get())
    };
    let base = time(1.0).unwrap_or(1.0);
    move |perf| time(perf).map_or(perf, |t| base / t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_points_lie_on_the_curve() {
        let figure = build();
        for compared in &figure.compared {
            assert!(compared.difference().unwrap().abs() < 0.2, "{compared:?}");
        }
        // A whole step gains less than its compute does.
        let at = |series: usize| figure.series[series].points.last().unwrap().1;
        assert!(at(1) < at(0));
        assert_eq!(figure.series[0].points[0], (1.0, 0.0));
    }
}
