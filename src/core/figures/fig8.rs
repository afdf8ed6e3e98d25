//! Figure 8: how much resharding slows the backward pass, on two DGX A100.
//!
//! A TP8 replica syncs with a replica of TP7, 6, 5 or 4. In the last micro-batch's backward pass its extra ranks send
//! their gradients to the core ranks; the figure is the time that the pass takes longer, against bytes sent per
//! backward FLOP. Both come from the simulated step, with and without resharding. Traffic over the replicas is left out of
//! the measurement: it runs in either case.

use super::{Axis, Compared, Figure, Mark, Series, Table};
use crate::core::cost::{Replica, terms};
use crate::core::hardware::system;
use crate::core::scenario::{Degrees, Failure, HeadSplit, Layout, Recompute, Scenario};
use crate::core::strategy::{StrategyId, evaluate};
use crate::core::timeline::{
    Kind, ReplicaKind, ReplicaSpec, Settings, StageSpec, StepSpec, Stream, simulate, view,
};
use crate::core::units::Bytes;
use crate::core::workload::Model;

/// Title.
pub const TITLE: &str = "Backward slow-down by resharding, two DGX A100";

const HIDDEN: [u32; 2] = [6144, 12288];
const SEQUENCES: [u32; 3] = [4096, 8192, 16384];
const PEERS: [u32; 4] = [7, 6, 5, 4];
/// Layers simulated; the ratio of transfer to compute does not depend on them.
const LAYERS: u32 = 16;

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Hidden size.
    pub hidden: u32,
    /// Sequence length, tokens.
    pub seq: u32,
    /// TP degree of the reduced peer.
    pub peer: u32,
    /// Bytes that an extra rank sends in the backward pass.
    pub bytes: f64,
    /// Model FLOPs of the backward pass per GPU.
    pub flops: f64,
    /// Backward pass without resharding, s.
    pub backward_s: f64,
    /// All-to-alls alone over the backward pass.
    pub transfer_share: f64,
    /// How much longer the backward pass takes, as a fraction.
    pub slowdown: f64,
}

fn model(hidden: u32) -> Model {
    Model {
        id: format!("prototype-{hidden}"),
        name: format!("hidden {hidden}"),
        layers: LAYERS,
        hidden,
        ffn: 4 * hidden,
        heads: hidden / 128,
        kv_heads: hidden / 128,
        // Layers alone: the prototype's vocabulary is not published.
        vocab: 16,
        gated: false,
        seq: 4096,
        published_parameters: None,
        source: "arXiv 2504.06095, figure 8: hidden sizes; heads of 128 and FFN 4h assumed".into(),
    }
}

fn layout(seq: u32) -> Layout {
    Layout {
        tp: 8,
        pp: 1,
        dp: 2,
        cp: 1,
        vp: 1,
        microbatch: 1,
        global_batch: 2,
        seq,
        recompute: Recompute::None,
        sequence_parallel: true,
        overlap: true,
        ..Scenario::default_scene().layout
    }
}

fn replica(kind: ReplicaKind, stage: StageSpec) -> ReplicaSpec {
    ReplicaSpec {
        kind,
        index: 0,
        count: 1,
        local_batch: 1,
        microbatches: 1,
        boost_p: 1.0,
        stages: vec![stage],
    }
}

/// Length of the healthy replica's backward pass, s.
fn backward_s(spec: &StepSpec) -> Option<f64> {
    let timeline = simulate(spec).ok()?;
    let lane = timeline
        .pipeline
        .iter()
        .find(|lane| lane.replica == 0 && lane.stream == Stream::Compute)?;
    let pass = timeline
        .lane(lane)
        .iter()
        .find(|span| span.kind == Kind::Backward)?;
    Some(pass.duration().seconds().get())
}

fn point(hidden: u32, seq: u32, peer: u32) -> Option<Point> {
    let (model, layout, system) = (model(hidden), layout(seq), system("a100-80gb-nvl8")?);
    let stage = |degree: u32| {
        let replica = Replica {
            system,
            model: &model,
            layout: &layout,
            degree,
            sync_degree: peer,
            local_batch: 1,
            perf: 1.0,
            heads: HeadSplit::Whole,
        };
        let mut terms = terms(&replica);
        terms.traffic_contention = 0.0;
        StageSpec::new(terms, LAYERS)
    };
    let healthy = stage(8);
    let bytes = healthy.terms.reshard_bytes.get();
    let transfer = bytes / healthy.terms.alltoall_bandwidth.get();
    let spec = StepSpec {
        // One bucket a layer: small enough that all but the last are sent during the pass.
        bucket_bytes: Bytes(healthy.terms.gradient_bytes.get() / f64::from(LAYERS) * 1.001),
        replicas: vec![
            replica(ReplicaKind::Healthy, healthy),
            replica(ReplicaKind::Reduced, stage(peer)),
        ],
        chunks: 1,
        overlap: true,
        pp_on_nvlink: true,
        shown_stage: 0,
    };
    let (with, without) = (backward_s(&spec)?, backward_s(&spec.without_reshard())?);
    let tokens = f64::from(seq);
    let layer = tokens * (2.0 * model.layer_parameters() + 4.0 * tokens * f64::from(hidden)) / 8.0;
    Some(Point {
        hidden,
        seq,
        peer,
        bytes,
        flops: 2.0 * layer * f64::from(LAYERS),
        backward_s: without,
        transfer_share: transfer / without,
        slowdown: with / without - 1.0,
    })
}

/// Every measurement: hidden size, sequence length, peer.
pub fn points() -> Vec<Point> {
    let mut all = Vec::new();
    for hidden in HIDDEN {
        for seq in SEQUENCES {
            all.extend(PEERS.iter().filter_map(|peer| point(hidden, seq, *peer)));
        }
    }
    all
}

/// Exposed resharding over the step of the paper's 480B job with two GPUs of one domain lost.
pub fn exposed_at_scale() -> Option<f64> {
    let mut scenario = super::draws::paper(Degrees::Any);
    scenario.failures = [3, 17]
        .map(|gpu| Failure {
            blast_radius: Some(1),
            ..Failure::hardware(0, gpu)
        })
        .to_vec();
    let job = scenario.resolve().ok()?;
    let view = view(&job, &evaluate(&job), StrategyId::Ntp, &Settings::default()).ok()?;
    let world = view.worlds.first()?;
    Some(world.exposed().0 as f64 / world.timeline.step.0 as f64)
}

/// Slope through the origin, and the share of the variance that the line explains.
fn fit(points: &[(f64, f64)]) -> (f64, f64) {
    let (xx, xy) = points
        .iter()
        .fold((0.0, 0.0), |(xx, xy), (x, y)| (xx + x * x, xy + x * y));
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    let mean = points.iter().map(|(_, y)| y).sum::<f64>() / points.len().max(1) as f64;
    let (rest, all) = points.iter().fold((0.0, 0.0), |(rest, all), (x, y)| {
        (rest + (y - slope * x).powi(2), all + (y - mean).powi(2))
    });
    (slope, if all > 0.0 { 1.0 - rest / all } else { 1.0 })
}

/// The figure.
pub fn build() -> Figure {
    let points = points();
    let place = |p: &Point| (p.bytes / 1e6 / (p.flops / 1e12), p.slowdown);
    let all: Vec<(f64, f64)> = points.iter().map(place).collect();
    let (slope, explained) = fit(&all);
    let end = all.iter().map(|(x, _)| *x).fold(0.0, f64::max) * 1.05;
    let worst = all.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    let series = |name: String, mark, points| Series {
        name,
        mark,
        strategy: None,
        points,
        band: Vec::new(),
    };
    let mut shown = vec![series(
        "line through the origin".into(),
        Mark::Guide,
        vec![(0.0, 0.0), (end, slope * end)],
    )];
    for hidden in HIDDEN {
        let points = points
            .iter()
            .filter(|p| p.hidden == hidden)
            .map(place)
            .collect();
        shown.push(series(format!("hidden {hidden}"), Mark::Points, points));
    }
    let upper = |what: &str, paper: f64, words: &str, ours: Option<f64>| Compared {
        what: what.into(),
        unit: "%".into(),
        paper: Some(paper),
        paper_words: words.into(),
        ours: ours.map(|ours| 100.0 * ours),
    };
    let rows = points.iter().map(|p| {
        vec![
            p.hidden.to_string(),
            p.seq.to_string(),
            format!("TP{}", p.peer),
            format!("{:.1}", p.bytes / 1e6),
            format!("{:.1}", p.backward_s * 1e3),
            format!("{:.2}", 100.0 * p.transfer_share),
            format!("{:.2}", 100.0 * p.slowdown),
        ]
    });
    let columns = [
        "hidden",
        "sequence tokens",
        "peer",
        "sent MB per extra rank",
        "backward ms",
        "transfer / backward %",
        "slow-down %",
    ];
    Figure {
        id: "8".into(),
        title: TITLE.into(),
        x: Axis::linear("bytes sent per extra rank / backward FLOPs, MB per TFLOP"),
        y: Axis::percent("backward slow-down"),
        series: shown,
        compared: vec![
            upper("largest backward slow-down", 4.0, "at most 4", Some(worst)),
            upper("480B on NVL32: exposed over the step", 1.0, "< 1", exposed_at_scale()),
            Compared {
                what: "variance explained by a line through the origin".into(),
                unit: "%".into(),
                paper: None,
                paper_words: "linear".into(),
                ours: Some(100.0 * explained),
            },
        ],
        scenario: None,
        settings: vec![
            ("system".into(), "2 x DGX A100 (NVL8), TP8 with a peer of TP7, 6, 5 or 4, one sequence a replica, bf16".into()),
            (
                "model".into(),
                format!("{LAYERS} layers without vocabulary, heads of 128, FFN 4h; gradients in fp32, one bucket a layer"),
            ),
            (
                "contention".into(),
                "an all-to-all beside compute costs a fifth of its time, sharing of NVLink with TP collectives included; an \
                 extra rank sends its whole shard whatever the peer's degree, so the four peers of a point coincide"
                    .into(),
            ),
        ],
        table: Some(Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_down_is_linear_and_at_most_four_percent() {
        let points = points();
        assert_eq!(points.len(), 24);
        let all: Vec<(f64, f64)> = points
            .iter()
            .map(|p| (p.bytes / p.flops, p.slowdown))
            .collect();
        let (_, explained) = fit(&all);
        assert!(explained > 0.9, "{explained}");
        for point in &points {
            assert!(point.slowdown > 0.0 && point.slowdown <= 0.04, "{point:?}");
            // A fifth of the time of the transfers, less what the last bucket sends after the pass.
            let cost = point.slowdown / point.transfer_share;
            assert!((0.15..0.22).contains(&cost), "{cost}: {point:?}");
        }
    }

    #[test]
    fn at_scale_less_than_a_percent_shows() {
        let exposed = exposed_at_scale().unwrap();
        assert!(exposed > 0.0 && exposed < 0.01, "{exposed}");
    }
}
