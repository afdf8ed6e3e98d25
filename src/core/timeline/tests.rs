//! Hand-worked steps and properties of whole timelines.

use super::*;
use crate::core::cost::{LayerTerms, Terms};
use crate::core::units::{Bytes, BytesPerSecond, Nanos, Seconds};
use proptest::prelude::*;

const fn ms(ms: f64) -> Seconds {
    Seconds::from_ms(ms)
}

/// One stage; forward 1 ms and backward 2 ms a layer, nothing else.
fn plain(layers: u32) -> Terms {
    Terms {
        microbatches: 1,
        stages: 1,
        chunks: 1,
        layers_per_stage: layers,
        layer: LayerTerms {
            forward_s: ms(1.0),
            backward_s: ms(2.0),
            ..LayerTerms::default()
        },
        dp_bandwidth: BytesPerSecond(1e9),
        alltoall_bandwidth: BytesPerSecond(1e9),
        ..Terms::default()
    }
}

fn replica(kind: ReplicaKind, microbatches: u32, stages: Vec<StageSpec>) -> ReplicaSpec {
    ReplicaSpec {
        kind,
        index: 0,
        count: 1,
        local_batch: microbatches,
        microbatches,
        boost_p: 1.0,
        stages,
    }
}

fn step(replicas: Vec<ReplicaSpec>, bucket_bytes: f64) -> StepSpec {
    StepSpec {
        replicas,
        chunks: 1,
        bucket_bytes: Bytes(bucket_bytes),
        overlap: true,
        pp_on_nvlink: false,
        shown_stage: 0,
    }
}

/// Two layers, 2 ms of DP sync and 1 ms of all-to-all each way in all, with a peer that resharded nothing.
fn pair(peer_layer_ms: f64) -> StepSpec {
    let mut healthy = plain(2);
    healthy.gradient_bytes = Bytes(2e6);
    healthy.reshard_bytes = Bytes(1e6);
    let mut peer = Terms {
        reshard_bytes: Bytes::ZERO,
        ..healthy
    };
    peer.layer.forward_s = ms(peer_layer_ms);
    peer.layer.backward_s = ms(2.0 * peer_layer_ms);
    step(
        vec![
            replica(ReplicaKind::Healthy, 1, vec![StageSpec::new(healthy, 2)]),
            replica(ReplicaKind::Reduced, 1, vec![StageSpec::new(peer, 2)]),
        ],
        1e6,
    )
}

fn millis(time: Nanos) -> f64 {
    time.0 as f64 / 1e6
}

fn exposed(spec: &StepSpec) -> f64 {
    millis(simulate(spec).unwrap().step) - millis(simulate(&spec.without_reshard()).unwrap().step)
}

fn spans_of(timeline: &Timeline, replica: usize, kind: Kind) -> Vec<(f64, f64)> {
    timeline
        .streams
        .iter()
        .filter(|lane| lane.replica == replica)
        .flat_map(|lane| timeline.lane(lane))
        .filter(|span| span.kind == kind)
        .map(|span| (millis(span.start), millis(span.end)))
        .collect()
}

#[test]
fn one_stage_takes_the_sum_of_its_terms() {
    let mut terms = plain(2);
    terms.layer.forward_tp_s = ms(0.1);
    terms.layer.backward_tp_s = ms(0.2);
    terms.layer.recompute_s = ms(0.5);
    terms.embedding_s = ms(0.3);
    terms.head_forward_s = ms(0.4);
    terms.head_backward_s = ms(0.6);
    terms.optimizer_s = ms(1.0);
    terms.other_s = ms(5.0);
    let timeline = simulate(&step(
        vec![replica(
            ReplicaKind::Healthy,
            3,
            vec![StageSpec::new(terms, 2)],
        )],
        1e6,
    ))
    .unwrap();
    // Two layers of 3.8 ms, 1.3 ms of embedding and vocabulary, three times; 5 ms before, 1 ms after.
    assert_eq!(millis(timeline.optimizer_start), 31.7);
    assert_eq!(millis(timeline.step), 32.7);
    assert_eq!(spans_of(&timeline, 0, Kind::TpComm).len(), 3 * 2 * 4);
}

#[test]
fn two_layers_in_two_buckets_expose_the_last_transfer_each_way() {
    let timeline = simulate(&pair(1.0)).unwrap();
    // Backward starts at 2; layer 1 is ready at 4, layer 0 at 6.
    assert_eq!(
        spans_of(&timeline, 0, Kind::PreSync),
        [(4.0, 4.5), (6.0, 6.5)]
    );
    assert_eq!(
        spans_of(&timeline, 0, Kind::DpSync),
        [(4.5, 5.5), (6.5, 7.5)]
    );
    // The first return was ready at 5.5 but waits until every pre-sync is launched, then hides behind the last sync.
    assert_eq!(
        spans_of(&timeline, 0, Kind::PostSync),
        [(6.5, 7.0), (7.5, 8.0)]
    );
    assert_eq!(
        spans_of(&timeline, 1, Kind::DpSync),
        [(4.5, 5.5), (6.5, 7.5)]
    );
    assert!(spans_of(&timeline, 1, Kind::PreSync).is_empty());
    assert_eq!(millis(timeline.step), 8.0);
    assert_eq!(exposed(&pair(1.0)), 1.0);
    // The healthy replica sets the pace: its peer waits half a millisecond for the pre-sync.
    assert_eq!(timeline.slowest(), Some(0));
    assert_eq!(millis(timeline.pace[1].waiting), 0.5);
}

#[test]
fn two_layers_in_one_bucket_hide_nothing() {
    let spec = StepSpec {
        bucket_bytes: Bytes(1e9),
        ..pair(1.0)
    };
    assert_eq!(exposed(&spec), 2.0);
}

#[test]
fn a_slower_peer_hides_the_pre_sync() {
    // Its gradients come at 6.6, after the last pre-sync: only the last return shows.
    let spec = pair(1.1);
    let timeline = simulate(&spec).unwrap();
    assert!((exposed(&spec) - 0.5).abs() < 1e-9);
    assert_eq!(timeline.slowest(), Some(1));
    assert!((millis(timeline.pace[0].waiting) - 0.1).abs() < 1e-9);
}

#[test]
fn an_all_to_all_beside_compute_costs_its_share() {
    let mut spec = pair(1.0);
    spec.replicas[0].stages[0].terms.reshard_contention = 0.25;
    // The first pre-sync (0.5 ms) runs beside layer 0's backward, which loses a quarter of that time.
    assert!((exposed(&spec) - 1.125).abs() < 1e-6, "{}", exposed(&spec));
    // With TP collectives on the same link, the total stays a quarter.
    spec.replicas[0].stages[0].terms.layer.backward_tp_s = ms(0.02);
    let cost = exposed(&spec) - 1.0;
    assert!((cost - 0.125).abs() < 0.02, "{cost}");
}

#[test]
fn without_overlap_everything_follows_the_backward_pass() {
    let spec = StepSpec {
        overlap: false,
        ..pair(1.0)
    };
    let timeline = simulate(&spec).unwrap();
    assert_eq!(
        spans_of(&timeline, 0, Kind::PreSync),
        [(6.0, 6.5), (6.5, 7.0)]
    );
    // Both reductions after it, back to back; the returns behind them.
    assert_eq!(millis(timeline.step), 9.0);
}

#[test]
fn parameters_are_gathered_under_the_first_forward_pass() {
    let mut spec = pair(1.0);
    for replica in &mut spec.replicas {
        replica.stages[0].terms.parameter_bytes = Bytes(1e6);
    }
    let timeline = simulate(&spec).unwrap();
    // Two buckets of 0.5 ms: the first opens layer 0, the second is there before layer 1 asks.
    assert_eq!(
        spans_of(&timeline, 0, Kind::ParamGather),
        [(0.0, 0.5), (0.5, 1.0)]
    );
    assert_eq!(spans_of(&timeline, 0, Kind::Forward)[0], (0.5, 1.0));
    assert_eq!(millis(timeline.step), 8.5);
}

#[test]
fn exposed_time_falls_with_the_bucket_then_flattens_then_rises() {
    let mut spec = pair(1.0);
    for replica in &mut spec.replicas {
        let stage = &mut replica.stages[0];
        stage.layers = 64;
        let terms = &mut stage.terms;
        terms.layers_per_stage = 64;
        terms.gradient_bytes = Bytes(64e6);
        terms.reshard_bytes = if terms.reshard_bytes.get() > 0.0 {
            Bytes(8e6)
        } else {
            Bytes::ZERO
        };
        terms.dp_latency_s = ms(0.02);
        terms.alltoall_latency_s = ms(0.05);
        terms.reshard_contention = 0.25;
    }
    let sizes: Vec<Bytes> = [0.0625, 0.25, 1.0, 8.0, 11.0, 32.0, 64.0]
        .iter()
        .map(|mb| Bytes(mb * 1e6))
        .collect();
    let curve: Vec<f64> = exposed_by_bucket(&spec, &sizes)
        .unwrap()
        .iter()
        .map(|(_, time)| millis(*time))
        .collect();
    // Latencies of many small transfers, then the last bucket's own transfers, which nothing hides.
    assert!(
        curve[0] > 2.0 * curve[1] && curve[1] > 1.5 * curve[2] && curve[2] > 2.0 * curve[3],
        "falls: {curve:?}"
    );
    assert!((curve[4] / curve[3] - 1.0).abs() < 0.25, "flat: {curve:?}");
    assert!(
        curve[5] > 1.5 * curve[4] && curve[6] > 1.5 * curve[5],
        "rises: {curve:?}"
    );
}

#[test]
fn stages_send_and_wait_for_each_other() {
    let mut terms = plain(1);
    terms.stages = 2;
    terms.pp_send_s = ms(0.5);
    let stages = vec![StageSpec::new(terms, 1), StageSpec::new(terms, 1)];
    let timeline = simulate(&step(vec![replica(ReplicaKind::Healthy, 1, stages)], 1e6)).unwrap();
    assert_eq!(millis(timeline.step), 1.0 + 0.5 + 1.0 + 2.0 + 0.5 + 2.0);
    assert_eq!(spans_of(&timeline, 0, Kind::PpSend), [(1.0, 1.5)]);
    assert_eq!(timeline.pipeline.len(), 2);
}

#[test]
fn bad_values_name_the_control() {
    let message = |change: &dyn Fn(&mut StepSpec)| {
        let mut spec = pair(1.0);
        change(&mut spec);
        simulate(&spec).unwrap_err().to_string()
    };
    assert_eq!(
        message(&|s| s.replicas.clear()),
        "layout.pp: 0 is not allowed, expected at least 1"
    );
    assert_eq!(
        message(&|s| s.replicas[0].microbatches = 0),
        "timeline.microbatches: 0 is not allowed, expected at least 1"
    );
    assert_eq!(
        message(&|s| s.bucket_bytes = Bytes(f64::NAN)),
        "timeline.bucket_bytes: NaN is not allowed, expected at least 1 byte"
    );
    assert_eq!(
        message(&|s| s.shown_stage = 1),
        "timeline.stage: 1 is not allowed, expected 0 to 0"
    );
    assert!(
        message(&|s| s.replicas[0].stages[0].layers = 0)
            .starts_with("model.layers: 0 on stage 0 is not allowed")
    );
    assert!(
        message(&|s| s.replicas[0].stages[0].terms.dp_bandwidth = BytesPerSecond(0.0))
            .starts_with("system.gpu.scaleout")
    );
    assert!(
        message(&|s| s.replicas[0].stages[0].terms.layer.forward_s = Seconds(-1.0))
            .starts_with("forward_s: -1")
    );
    assert!(message(&|s| s.replicas[0].microbatches = u32::MAX).contains("at most 1000000"));
    assert!(
        message(&|s| s.replicas[0].stages[0].terms.optimizer_s = Seconds(1e6))
            .starts_with("timeline: an operation of")
    );
}

#[test]
fn odd_but_possible_steps_run() {
    // One stage, one micro-batch, one layer, a bucket larger than the model.
    let mut terms = plain(1);
    terms.gradient_bytes = Bytes(5.0);
    let spec = step(
        vec![replica(
            ReplicaKind::Healthy,
            1,
            vec![StageSpec::new(terms, 1)],
        )],
        1e12,
    );
    assert_eq!(spec.buckets(0), 1);
    assert_eq!(millis(simulate(&spec).unwrap().step), 3.000005);
    // Nothing takes any time.
    let nothing = Terms {
        layers_per_stage: 1,
        ..Terms::default()
    };
    let spec = step(
        vec![replica(
            ReplicaKind::Healthy,
            1,
            vec![StageSpec::new(nothing, 1)],
        )],
        1e6,
    );
    assert_eq!(simulate(&spec).unwrap().step, Nanos::ZERO);
}

fn random_step() -> impl Strategy<Value = StepSpec> {
    let durations = prop::array::uniform8(0_u32..3000);
    let volumes = (0_u32..5000, 0_u32..3000, 0_u32..2000);
    let shape = (
        1_usize..5,
        1_u32..7,
        1_u32..9,
        1_u32..4,
        any::<bool>(),
        any::<bool>(),
    );
    (durations, volumes, shape, 1_u32..3000).prop_map(
        |(d, (grad, param, reshard), (pp, layers, mb, chunks, overlap, nvlink), bucket)| {
            let us = |value: u32| Seconds::from_us(f64::from(value));
            let terms = Terms {
                layer: LayerTerms {
                    forward_s: us(d[0]),
                    backward_s: us(d[1]),
                    recompute_s: us(d[2] / 8),
                    forward_tp_s: us(d[3] / 8),
                    backward_tp_s: us(d[4] / 8),
                    forward_cp_s: us(d[5] / 16),
                    backward_cp_s: us(d[5] / 16),
                },
                embedding_s: us(d[6] / 8),
                head_forward_s: us(d[6] / 2),
                pp_send_s: us(d[7] / 10),
                gradient_bytes: Bytes(f64::from(grad) * 1e3),
                parameter_bytes: Bytes(f64::from(param) * 1e3),
                reshard_bytes: Bytes(f64::from(reshard) * 1e3),
                reshard_contention: 0.25,
                layers_per_stage: layers * chunks,
                optimizer_s: us(d[7]),
                ..plain(layers * chunks)
            };
            let stage = |terms| StageSpec::new(terms, layers * chunks);
            let mut peer = Terms {
                reshard_bytes: Bytes::ZERO,
                ..terms
            };
            peer.layer.forward_s = us(d[0] + d[2] / 4);
            let mut spec = step(
                vec![
                    replica(ReplicaKind::Healthy, mb, vec![stage(terms); pp]),
                    replica(ReplicaKind::Reduced, (mb / 2).max(1), vec![stage(peer); pp]),
                ],
                f64::from(bucket) * 1e3,
            );
            (spec.chunks, spec.overlap, spec.pp_on_nvlink) = (chunks, overlap, nvlink);
            spec
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn lanes_are_in_order_and_arrows_point_forward(spec in random_step()) {
        let timeline = simulate(&spec).unwrap();
        for lane in timeline.streams.iter().chain(&timeline.pipeline) {
            let mut last = Nanos::ZERO;
            for span in timeline.lane(lane) {
                prop_assert!(last <= span.start && span.start <= span.end && span.end <= timeline.step, "{lane:?} {span:?}");
                last = span.end;
            }
        }
        for flow in &timeline.flows {
            let (from, to) = (&timeline.spans[flow.from], &timeline.spans[flow.to]);
            prop_assert!(from.end <= to.start, "{flow:?} {from:?} {to:?}");
        }
        // Each replica's compute fits into the step, and the step is the last end.
        let last = timeline.spans.iter().map(|span| span.end).max().unwrap_or_default();
        prop_assert_eq!(last, timeline.step);
    }

    #[test]
    fn the_same_step_twice_is_the_same(spec in random_step()) {
        prop_assert_eq!(simulate(&spec).unwrap(), simulate(&spec).unwrap());
    }

    #[test]
    fn every_bucket_closes_once_and_arrives_at_the_optimizer(spec in random_step()) {
        let timeline = simulate(&spec).unwrap();
        let buckets = spec.buckets(0) as usize;
        let done = timeline.flows.iter().filter(|flow| flow.kind == FlowKind::Done).count();
        prop_assert_eq!(done, buckets * 2);
    }

    #[test]
    fn free_resharding_is_never_slower(spec in random_step()) {
        // Where transfers between stages share the network, delaying a reduction may free them; elsewhere it never helps,
        // up to the nanosecond that rounding may add to an operation on a shared link.
        let mut spec = spec;
        for stage in spec.replicas.iter_mut().flat_map(|replica| &mut replica.stages) {
            stage.terms.pp_send_s = Seconds::ZERO;
        }
        let with = simulate(&spec).unwrap();
        let without = simulate(&spec.without_reshard()).unwrap();
        prop_assert!(with.step.0 + with.operations as u64 >= without.step.0);
    }
}
