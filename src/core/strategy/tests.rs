use super::*;
use crate::core::scenario::{Degrees, Failure, FailureKind, HeadSplit, Named, Parity, Scenario};
use proptest::prelude::*;

fn fail(domain: u32, gpu: u32) -> Failure {
    Failure::hardware(domain, gpu)
}

fn slow(domain: u32, gpu: u32, speed: f64) -> Failure {
    Failure {
        kind: FailureKind::Slow,
        speed,
        ..fail(domain, gpu)
    }
}

fn scene(failures: Vec<Failure>) -> Scenario {
    Scenario {
        failures,
        ..Scenario::default_scene()
    }
}

fn run(scenario: &Scenario) -> Evaluation {
    evaluate(&scenario.resolve().unwrap())
}

fn get(evaluation: &Evaluation, id: StrategyId) -> &Outcome {
    evaluation.get(id).unwrap()
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// The paper's 480B job: TP32 x PP8 x DP128 on NVL32, local batch 8.
fn paper() -> Scenario {
    let mut scenario = Scenario::from_json(
        r#"{"version": 1, "system": "paper-b200-nvl32", "model": "paper-480b",
            "layout": {"tp": 32, "pp": 8, "dp": 128, "global_batch": 1024}, "policy": {"degrees": [30, 28]}}"#,
    )
    .unwrap();
    scenario.policy.heads = HeadSplit::Even;
    scenario
}

#[test]
fn nothing_failed_nothing_lost() {
    let evaluation = run(&scene(Vec::new()));
    let healthy = &evaluation.healthy;
    assert!(healthy.cost.step_s.get() > 0.0);
    for outcome in &evaluation.outcomes {
        if outcome.strategy != StrategyId::InDomainSpares {
            assert_eq!(
                (outcome.throughput, outcome.minibatch, outcome.step_s),
                (1.0, 64, healthy.cost.step_s)
            );
            assert_eq!(
                (
                    outcome.dropped_replicas,
                    outcome.parity_idle_gpus,
                    outcome.spare_domains_used
                ),
                (0, 0, 0)
            );
            let slots: Vec<u32> = outcome
                .replicas
                .iter()
                .flat_map(|replica| replica.slots.clone())
                .collect();
            assert_eq!(slots, (0..16).collect::<Vec<_>>());
        }
    }
    assert_eq!(get(&evaluation, StrategyId::Ntp).goodput, 1.0);
    // Two spare domains of 72 stand by: 1152 of 1296 GPUs deliver.
    assert_eq!(
        get(&evaluation, StrategyId::HotSpares).goodput,
        1152.0 / 1296.0
    );
    assert_eq!(
        get(&evaluation, StrategyId::HotSpares).summary,
        "2 of 18 domains stand by"
    );
}

#[test]
fn three_failures_in_two_racks_of_the_default_scene() {
    let evaluation = run(&scene(vec![fail(0, 17), fail(0, 40), fail(1, 29)]));
    let wait = get(&evaluation, StrategyId::Wait);
    assert!(wait.paused && wait.throughput == 0.0 && wait.minibatch == 0);
    assert_eq!(wait.summary, "paused until repair");

    let drop = get(&evaluation, StrategyId::DpDrop);
    assert_eq!(
        (
            drop.throughput,
            drop.goodput,
            drop.minibatch,
            drop.dropped_replicas
        ),
        (0.875, 0.875, 56, 1)
    );
    assert_eq!(drop.summary, "1 of 8 replicas dropped");
    assert_eq!(drop.replicas[0].slots, [0, 1]);
    assert_eq!(drop.replicas[0].degrees, [0, 0]);

    let hot = get(&evaluation, StrategyId::HotSpares);
    assert_eq!(
        (hot.throughput, hot.goodput, hot.spare_domains_used),
        (1.0, 1152.0 / 1296.0, 2)
    );
    assert_eq!(hot.replicas[0].slots, [16, 17]);
    assert_eq!(hot.summary, "2 of 2 spare domains in use");

    let held = get(&evaluation, StrategyId::InDomainSpares);
    assert!(
        held.replicas
            .iter()
            .all(|replica| replica.degrees == [64, 64] && replica.local_batch == 8)
    );
    assert!(
        held.throughput > 0.85 && held.throughput < 1.0,
        "{}",
        held.throughput
    );
    assert_eq!(held.summary, "8 of every 72 GPUs held back");

    // Two of 72 lost: 70 of 72 ranks carry at most 7/8 of the work in time.
    let ntp = get(&evaluation, StrategyId::Ntp);
    assert_eq!(
        (
            ntp.replicas[0].degrees.as_slice(),
            ntp.replicas[0].local_batch,
            ntp.minibatch
        ),
        ([70, 70].as_slice(), 7, 63)
    );
    assert_eq!(ntp.parity_idle_gpus, 1);
    assert!(
        ntp.throughput <= 63.0 / 64.0 && ntp.throughput > 0.97,
        "{}",
        ntp.throughput
    );
    assert_eq!(ntp.summary, "replica 0 runs 7 of 8 sequences");

    let boosted = get(&evaluation, StrategyId::NtpPw);
    let replica = &boosted.replicas[0];
    assert_eq!(
        (
            replica.degrees.as_slice(),
            replica.local_batch,
            boosted.minibatch
        ),
        ([70, 70].as_slice(), 8, 64)
    );
    assert!(
        replica.boost_p > 1.0 && replica.boost_p < 1.3,
        "{}",
        replica.boost_p
    );
    assert_eq!(boosted.parity_idle_gpus, 1);
    assert!(
        boosted.throughput > 0.99 && boosted.throughput < 1.0,
        "{}",
        boosted.throughput
    );
    // It keeps up with its whole peers, which reshard.
    assert!(near(
        replica.cost.step_s.get(),
        boosted.replicas[1].cost.step_s.get(),
        1e-6
    ));
    assert!(boosted.replicas[1].cost.reshard_exposed_s.get() > 0.0);
    let power = replica.boost.unwrap();
    assert_eq!(power.limit, BoostLimit::None);
    // Both damaged racks need the same boost; D0 has two dead GPUs of 1,400 W.
    assert!(
        near(power.freed_w.get(), 2800.0, 1e-9)
            || near(power.freed_w.get(), 1400.0 + 0.8 * 1400.0, 1e-9)
    );
    assert!(near(power.headroom_w.get(), 0.3 * 72.0 * 1400.0, 1e-6));
    assert!(near(
        power.needed_w.get(),
        70.0 * 1400.0 * (power.p - 1.0),
        1e-6
    ));
    assert!(
        boosted.summary.starts_with("70 survivors a rack at 1.0"),
        "{}",
        boosted.summary
    );
}

#[test]
fn a_replica_keeps_its_neighbours() {
    let evaluation = run(&scene(vec![fail(5, 3)]));
    let ntp = get(&evaluation, StrategyId::Ntp);
    let slots: Vec<&[u32]> = ntp
        .replicas
        .iter()
        .map(|replica| replica.slots.as_slice())
        .collect();
    assert_eq!(
        slots,
        [
            [4, 5],
            [0, 1],
            [2, 3],
            [6, 7],
            [8, 9],
            [10, 11],
            [12, 13],
            [14, 15]
        ]
    );
    let boosted = get(&evaluation, StrategyId::NtpPw);
    assert_eq!(boosted.replicas[0].degrees, [72, 71]);
    assert_eq!(boosted.replicas[0].powers[0], 1.0);
}

#[test]
fn the_papers_degrees_batches_and_boosts() {
    let mut scenario = paper();
    scenario.failures = vec![fail(3, 0)];
    let one = run(&scenario);
    let ntp = get(&one, StrategyId::Ntp);
    assert_eq!(
        (
            ntp.replicas[0].degrees.as_slice(),
            ntp.replicas[0].local_batch
        ),
        ([30; 8].as_slice(), 7)
    );
    assert_eq!(ntp.parity_idle_gpus, 1 + 7 * 2);
    let boosted = get(&one, StrategyId::NtpPw);
    assert_eq!(
        (boosted.replicas[0].local_batch, boosted.parity_idle_gpus),
        (8, 1)
    );
    // 1.10 for evenly split compute alone; communication asks for a little more, resharding peers grant a little time.
    assert!(
        boosted.replicas[0].boost_p > 1.07 && boosted.replicas[0].boost_p < 1.17,
        "{}",
        boosted.replicas[0].boost_p
    );

    scenario.failures = vec![fail(3, 0), fail(3, 1), fail(3, 2)];
    let three = run(&scenario);
    let ntp = get(&three, StrategyId::Ntp);
    assert_eq!(
        (
            ntp.replicas[0].degrees.as_slice(),
            ntp.replicas[0].local_batch
        ),
        ([28; 8].as_slice(), 6)
    );

    // Five failures: no supported degree, the replica goes.
    scenario.failures = (0..5).map(|gpu| fail(3, gpu)).collect();
    let five = run(&scenario);
    let ntp = get(&five, StrategyId::Ntp);
    assert_eq!((ntp.dropped_replicas, ntp.minibatch), (1, 1016));
}

#[test]
fn parity_idles_healthy_gpus_elsewhere() {
    let mut scenario = scene(vec![fail(0, 2), fail(0, 5), fail(2, 1)]);
    scenario.layout.pp = 1;
    scenario.layout.dp = 16;
    scenario.layout.global_batch = 128;
    let common = run(&scenario);
    let ntp = get(&common, StrategyId::Ntp);
    assert_eq!(
        (
            ntp.replicas[0].degrees[0],
            ntp.replicas[1].degrees[0],
            ntp.parity_idle_gpus
        ),
        (70, 70, 1)
    );
    let views = domain_views(&scenario.resolve().unwrap(), ntp);
    assert_eq!(views[2].gpus[71].state, GpuState::Parity);
    scenario.policy.parity = Parity::PerReplica;
    let own = run(&scenario);
    let ntp = get(&own, StrategyId::Ntp);
    assert_eq!(
        (
            ntp.replicas[0].degrees[0],
            ntp.replicas[1].degrees[0],
            ntp.parity_idle_gpus
        ),
        (70, 71, 0)
    );
}

#[test]
fn left_over_gpus_heal_their_own_domain_in_every_strategy() {
    let mut scenario = scene((0..8).map(|gpu| fail(0, gpu)).collect());
    scenario.layout.tp = 64;
    scenario.policy.hot_spare_domains = 0;
    for outcome in &run(&scenario).outcomes {
        assert_eq!(
            (outcome.throughput, outcome.goodput),
            (1.0, 64.0 / 72.0),
            "{:?}",
            outcome.strategy
        );
        assert!(near(outcome.ledger.failed, 8.0 / 1152.0, 1e-12));
        let views = domain_views(&scenario.resolve().unwrap(), outcome);
        let ranks: Vec<u32> = views[0].gpus.iter().filter_map(|gpu| gpu.tp_rank).collect();
        assert_eq!(ranks, (0..64).collect::<Vec<_>>());
    }
    scenario.failures.push(fail(0, 30));
    let nine = run(&scenario);
    assert_eq!(get(&nine, StrategyId::Ntp).replicas[0].degrees, [63, 63]);
    assert_eq!(get(&nine, StrategyId::DpDrop).throughput, 0.875);
}

#[test]
fn spare_domains_refill_the_mini_batch() {
    let mut scenario = scene(vec![fail(0, 0), fail(0, 1)]);
    scenario.policy.hot_spare_domains = 0;
    scenario.policy.spare_domains = 2;
    scenario.policy.fixed_minibatch = true;
    let evaluation = run(&scenario);
    let ntp = get(&evaluation, StrategyId::Ntp);
    // A whole extra replica without any resharding beats a reduced one, which is dropped then.
    assert_eq!(
        (
            ntp.minibatch,
            ntp.spare_domains_used,
            ntp.replicas.len(),
            ntp.dropped_replicas
        ),
        (64, 2, 9, 1)
    );
    assert_eq!(
        (
            ntp.replicas[8].slots.as_slice(),
            ntp.replicas[8].local_batch
        ),
        ([16, 17].as_slice(), 8)
    );
    assert_eq!(get(&evaluation, StrategyId::DpDrop).spare_domains_used, 1);
    scenario.policy.spare_domains = 1;
    let evaluation = run(&scenario);
    // One domain is not a replica's worth at PP2, so the full mini-batch is out of reach.
    assert!(get(&evaluation, StrategyId::Ntp).paused);
    assert!(!get(&evaluation, StrategyId::NtpPw).paused);
    assert_eq!(get(&evaluation, StrategyId::DpDrop).throughput, 1.0);
    // A spare that is broken itself replaces nothing.
    scenario.failures.push(fail(16, 9));
    assert!(get(&run(&scenario), StrategyId::DpDrop).paused);
}

#[test]
fn a_straggler_is_kept_or_benched_whichever_is_better() {
    let nearly = run(&scene(vec![slow(0, 7, 0.999)]));
    let crawling = run(&scene(vec![slow(0, 7, 0.3)]));
    for id in [StrategyId::DpDrop, StrategyId::Ntp, StrategyId::NtpPw] {
        let (keep, bench) = (get(&nearly, id), get(&crawling, id));
        assert!(!keep.slow[0].bench && keep.slow[0].kept > 0.99, "{id:?}");
        assert!(bench.slow[0].bench && bench.slow[0].kept < 0.6, "{id:?}");
        assert_eq!(keep.throughput, keep.slow[0].kept);
        assert_eq!(bench.throughput, bench.slow[0].benched);
    }
    // `wait` cannot bench: it would wait for ever.
    let wait = get(&crawling, StrategyId::Wait);
    assert!(!wait.slow[0].bench && wait.slow[0].benched == 0.0 && wait.throughput > 0.0);
    let job = scene(vec![slow(0, 7, 0.3)]).resolve().unwrap();
    assert_eq!(domain_views(&job, wait)[0].gpus[7].state, GpuState::Slow);
    let benched = domain_views(&job, get(&crawling, StrategyId::Ntp))[0].gpus[7];
    assert!(benched.benched() && benched.perf == 0.3 && benched.tp_rank.is_none());
}

#[test]
fn stragglers_are_benched_one_by_one() {
    let scenario = |failures: &str| {
        let text = format!(
            r#"{{"version": 1, "system": "b200-nvl8", "model": "llama3-70b",
            "layout": {{"tp": 8, "pp": 2, "dp": 4, "global_batch": 64, "microbatch": 1, "seq": 8192}},
            "failures": [{{"domain": 4, "gpu": 0}}, {{"domain": 4, "gpu": 6}}, {{"domain": 4, "gpu": 3}}, {failures}]}}"#
        );
        run(&Scenario::from_json(&text).unwrap())
    };
    let (held_up, lost) = (
        r#"{"domain": 2, "gpu": 5, "kind": "slow", "speed": 0.8}"#,
        r#"{"domain": 2, "gpu": 5}"#,
    );
    let other = r#"{"domain": 4, "gpu": 1, "kind": "slow", "speed": 0.8}"#;
    let both = scenario(&format!("{held_up}, {other}"));
    // As good as were the one that holds an otherwise whole group up dead, with the other kept.
    let one = scenario(&format!("{lost}, {other}"));
    for id in [StrategyId::DpDrop, StrategyId::Ntp, StrategyId::NtpPw] {
        assert!(
            get(&both, id).throughput >= get(&one, id).throughput,
            "{id:?}"
        );
    }
    let ntp = get(&both, StrategyId::Ntp);
    let choice = |slot: u32| ntp.slow.iter().find(|choice| choice.slot == slot).unwrap();
    assert!(choice(2).bench && !choice(4).bench, "{:?}", ntp.slow);
    assert_eq!(ntp.throughput, choice(2).benched);
    assert_eq!(ntp.throughput, choice(4).kept);
}

#[test]
fn the_limit_told_is_that_of_the_group_that_falls_short() {
    let failures: Vec<Failure> = [(31, 6), (38, 6), (29, 2)]
        .iter()
        .flat_map(|&(domain, gpus)| (0..gpus).map(move |gpu| fail(domain, gpu)))
        .collect();
    let mut scenario = Scenario::from_json(
        r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-8b",
            "layout": {"tp": 72, "pp": 4, "cp": 2, "dp": 6, "global_batch": 192, "microbatch": 1, "seq": 4096},
            "policy": {"boost_cap": 1.2, "rack_headroom": 1.0}}"#,
    )
    .unwrap();
    scenario.failures = failures;
    let evaluation = run(&scenario);
    let boosted = get(&evaluation, StrategyId::NtpPw);
    let short = boosted
        .replicas
        .iter()
        .find(|replica| (1..32).contains(&replica.local_batch))
        .unwrap();
    let boost = short.boost.unwrap();
    assert_eq!(boost.limit, BoostLimit::RackHeadroom);
    // Two GPUs of the rack are dead, none more.
    assert!(near(boost.freed_w.get(), 2.0 * 1400.0, 1e-6), "{boost:?}");
}

#[test]
fn as_many_gpus_are_held_back_as_the_degree_leaves() {
    let scenario = Scenario::from_json(
        r#"{"version": 1, "system": "h100-nvl8", "model": "llama3-8b",
            "layout": {"tp": 4, "pp": 1, "dp": 4, "global_batch": 32},
            "policy": {"in_domain_spares": 1}}"#,
    )
    .unwrap();
    let evaluation = run(&scenario);
    let held = get(&evaluation, StrategyId::InDomainSpares);
    assert!(held.replicas.iter().all(|replica| replica.degrees == [3]));
    assert_eq!(held.summary, "2 of every 8 GPUs held back");
}

#[test]
fn a_boosted_group_is_not_what_the_others_wait_for() {
    let mut scenario = Scenario::from_json(
        r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
            "layout": {"tp": 72, "pp": 2, "dp": 3, "global_batch": 48, "microbatch": 1, "seq": 8192},
            "policy": {"parity": "per-replica"}}"#,
    )
    .unwrap();
    scenario.failures = vec![fail(1, 6), fail(4, 18), fail(4, 39)];
    let evaluation = run(&scenario);
    let boosted = get(&evaluation, StrategyId::NtpPw);
    assert_eq!(
        boosted.step_s,
        evaluation.healthy.cost.step_s.max(boosted.step_s)
    );
    assert_eq!(boosted.replicas[0].degrees, [70, 71]);
}

#[test]
fn the_rack_limits_a_boost_before_the_cap_does() {
    let mut scenario = paper();
    scenario.policy.degrees = Degrees::Any;
    scenario.failures = (0..3).map(|gpu| fail(0, gpu)).collect();
    scenario.policy.rack_headroom = 1.0;
    let evaluation = run(&scenario);
    let replica = &get(&evaluation, StrategyId::NtpPw).replicas[0];
    let power = replica.boost.unwrap();
    assert_eq!(
        (power.limit, power.headroom_w.get()),
        (BoostLimit::RackHeadroom, 0.0)
    );
    // Only the watts of three dead GPUs: 32/29 per survivor at most.
    assert!(replica.local_batch < 8 && power.p <= 32.0 / 29.0 + 1e-12);
    assert!(power.needed_w.get() <= power.freed_w.get() + 1e-6);
    scenario.policy.rack_headroom = 1.3;
    scenario.policy.boost_cap = 1.05;
    let evaluation = run(&scenario);
    let capped = get(&evaluation, StrategyId::NtpPw).replicas[0]
        .boost
        .unwrap();
    assert_eq!(capped.limit, BoostLimit::Cap);
}

#[test]
fn several_groups_share_a_domain() {
    let mut scenario = Scenario::from_json(
        r#"{"version": 1, "system": "h100-nvl8", "model": "llama3-8b", "layout": {"tp": 2, "pp": 2, "dp": 4}}"#,
    )
    .unwrap();
    assert_eq!(scenario.policy.in_domain_spares, 1);
    scenario.failures = vec![fail(0, 5), fail(1, 0)];
    let job = scenario.resolve().unwrap();
    assert_eq!(
        (job.placement.domains, job.placement.slots_per_domain),
        (2, 4)
    );
    let evaluation = evaluate(&job);
    let drop = get(&evaluation, StrategyId::DpDrop);
    assert_eq!((drop.dropped_replicas, drop.throughput), (1, 0.75));
    // Slot 2 is a first stage, so is slot 4, which takes the free place beside it.
    assert_eq!(drop.replicas[0].slots, [2, 4]);
    let ntp = get(&evaluation, StrategyId::Ntp);
    assert!(ntp.throughput >= drop.throughput);
    // Seven GPUs left hold four groups of one.
    let held = get(&evaluation, StrategyId::InDomainSpares);
    assert_eq!(
        (held.dropped_replicas, held.replicas[0].degrees.as_slice()),
        (0, [1, 1].as_slice())
    );
}

#[test]
fn views_count_what_the_outcome_counts() {
    let scenario = scene(vec![fail(0, 17), fail(0, 40), fail(1, 29), slow(9, 3, 0.5)]);
    let job = scenario.resolve().unwrap();
    for outcome in &evaluate(&job).outcomes {
        check_views(&job, outcome);
    }
    let evaluation = evaluate(&job);
    let views = domain_views(&job, get(&evaluation, StrategyId::NtpPw));
    assert_eq!(
        (views[0].gpus[17].state, views[0].gpus[18].state),
        (GpuState::Failed, GpuState::Boosted)
    );
    assert_eq!(views[0].gpus[18].tp_rank, Some(17));
    // Ranks 70 and 71 of whole groups send their gradients to the others.
    let senders: Vec<usize> = views[2]
        .gpus
        .iter()
        .enumerate()
        .filter(|(_, gpu)| gpu.sends_gradients)
        .map(|(gpu, _)| gpu)
        .collect();
    assert_eq!(senders, [70, 71]);
}

/// The GPU-level picture adds up to the pattern-level counts.
fn check_views(job: &crate::core::scenario::Job, outcome: &Outcome) {
    let views = domain_views(job, outcome);
    let placement = &job.placement;
    assert_eq!(
        views.len() as u32,
        placement.domains + placement.spare_domains
    );
    let count = |state: GpuState| {
        views
            .iter()
            .flat_map(|view| &view.gpus)
            .filter(|gpu| gpu.state == state)
            .count() as u32
    };
    let working = views
        .iter()
        .flat_map(|view| &view.gpus)
        .filter(|gpu| gpu.tp_rank.is_some())
        .count() as u64;
    let degrees: u64 = outcome
        .replicas
        .iter()
        .flat_map(|replica| &replica.degrees)
        .map(|&degree| u64::from(degree))
        .sum();
    assert_eq!(working, degrees, "{:?}", outcome.strategy);
    let rate = Evaluator::new(job).rate(outcome.strategy, &Pattern::of(job));
    assert_eq!(rate.working_gpus, working, "{:?}", outcome.strategy);
    assert_eq!(
        count(GpuState::Parity),
        outcome.parity_idle_gpus,
        "{:?}",
        outcome.strategy
    );
    for view in &views {
        let ranks: usize = view.gpus.iter().filter(|gpu| gpu.tp_rank.is_some()).count();
        assert_eq!(
            ranks as u64,
            view.degrees
                .iter()
                .map(|&degree| u64::from(degree))
                .sum::<u64>()
        );
    }
}

/// Scenarios small enough to check by the thousand: several groups a domain, left-over GPUs, spares, parity, stragglers.
fn any_scenario() -> impl Strategy<Value = Scenario> {
    let shape = (2u32..=12, 1u32..=3, 1u32..=4, 1u32..=4, 0u32..=2, 0u32..=2);
    let policy = (
        any::<bool>(),
        any::<bool>(),
        1.0f64..1.3,
        1.0f64..1.3,
        0u32..=3,
        prop::option::of(prop::collection::vec(1u32..=8, 1..3)),
    );
    let hits = prop::collection::vec(
        (
            0u32..64,
            0u32..12,
            0u32..6,
            0.05f64..1.0,
            prop::option::of(1u32..=4),
        ),
        0..10,
    );
    (shape, policy, hits).prop_map(|((domain, pp, dp, slots, spare, hot), policy, hits)| {
        let mut scenario = Scenario::default_scene();
        let mut system = scenario.system.resolve().unwrap();
        system.domain_size = domain;
        system.tray_gpus = 1;
        scenario.system = Named::Custom(Box::new(system));
        scenario.model = Named::Preset("llama3-8b".into());
        scenario.layout.tp = (domain / slots).max(1);
        scenario.layout.pp = pp;
        scenario.layout.dp = dp;
        scenario.layout.global_batch = 8 * dp;
        let (one_degree, even, cap, headroom, held, degrees) = policy;
        scenario.policy.parity = if one_degree {
            Parity::OneDegree
        } else {
            Parity::PerReplica
        };
        scenario.policy.heads = if even {
            HeadSplit::Even
        } else {
            HeadSplit::Whole
        };
        scenario.policy.boost_cap = cap;
        scenario.policy.rack_headroom = headroom;
        let real_slots = domain / scenario.layout.tp;
        scenario.policy.in_domain_spares = held.min(domain - real_slots);
        scenario.policy.spare_domains = spare;
        scenario.policy.hot_spare_domains = hot;
        if let Some(mut degrees) = degrees {
            degrees.retain(|&degree| degree <= scenario.layout.tp);
            if !degrees.is_empty() {
                scenario.policy.degrees = Degrees::List(degrees);
            }
        }
        let placement = scenario.resolve().unwrap().placement;
        let domains = placement.domains + placement.spare_domains;
        scenario.failures = hits
            .into_iter()
            .map(|(d, gpu, kind, speed, blast)| {
                let kind = match kind {
                    0..=2 => FailureKind::Hardware,
                    3 => FailureKind::Software,
                    _ => FailureKind::Slow,
                };
                let speed = if kind == FailureKind::Slow {
                    speed
                } else {
                    1.0
                };
                Failure {
                    domain: d % domains,
                    gpu: gpu % domain,
                    kind,
                    speed,
                    blast_radius: blast.map(|b| b.min(domain)),
                }
            })
            .collect();
        scenario
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_outcome_adds_up(scenario in any_scenario()) {
        let job = scenario.resolve().unwrap();
        let evaluation = evaluate(&job);
        for outcome in &evaluation.outcomes {
            prop_assert!((0.0..=1.0).contains(&outcome.throughput) && (0.0..=1.0).contains(&outcome.goodput));
            let l = &outcome.ledger;
            let parts = [l.productive, l.degraded, l.idle_healthy, l.spare, l.failed, l.reshard_exposed, l.paused];
            prop_assert!(parts.iter().all(|part| *part >= -1e-12), "{:?} {:?}", outcome.strategy, l);
            prop_assert!(near(parts.iter().sum::<f64>(), 1.0, 1e-9), "{:?} {:?}", outcome.strategy, l);
            prop_assert!(near(l.productive + l.won_back, outcome.goodput, 1e-12));
            prop_assert_eq!(outcome.minibatch, outcome.replicas.iter().map(|replica| replica.local_batch).sum::<u32>());
            prop_assert_eq!(outcome.paused, outcome.minibatch == 0);
            prop_assert!(outcome.minibatch <= job.scenario.layout.global_batch);
            for choice in &outcome.slow {
                prop_assert_eq!(choice.bench, choice.benched > choice.kept);
            }
            let running = outcome.replicas.iter().filter(|replica| replica.local_batch > 0);
            let slowest = running.map(|replica| replica.cost.step_s.get()).fold(0.0, f64::max);
            prop_assert!(outcome.paused || slowest == outcome.step_s.get(), "{:?}: {slowest} of {:?}", outcome.strategy, outcome.step_s);
            let mut used: Vec<u32> = outcome.replicas.iter().flat_map(|replica| replica.slots.clone()).collect();
            let all = used.len();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), all, "a slot serves twice");
            check_views(&job, outcome);
            let mut runs = Vec::new();
            Evaluator::new(&job).slot_runs(outcome.strategy, &Pattern::of(&job), &mut |run| runs.push(run));
            let expected: Vec<SlotRun> = outcome.replicas.iter().flat_map(|replica| {
                replica.slots.iter().zip(&replica.degrees).map(|(slot, degree)| SlotRun {
                    slot: *slot,
                    degree: (!outcome.paused).then_some(*degree),
                    boosted: replica.boost_p > 1.0,
                })
            }).collect();
            prop_assert_eq!(runs, expected);
            let rate = Evaluator::new(&job).rate(outcome.strategy, &Pattern::of(&job));
            prop_assert_eq!(rate.throughput, outcome.throughput);
            prop_assert_eq!(rate.ledger, outcome.ledger);
        }
    }

    #[test]
    fn boosting_beats_reducing_beats_dropping(mut scenario in any_scenario()) {
        scenario.policy.spare_domains = 0;
        scenario.policy.hot_spare_domains = 0;
        let domains = scenario.resolve().unwrap_or_else(|_| {
            let mut healthy = scenario.clone();
            healthy.failures.clear();
            healthy.resolve().unwrap()
        }).placement.domains;
        scenario.failures.retain(|failure| failure.domain < domains);
        let evaluation = run(&scenario);
        let rate = |id| get(&evaluation, id).throughput;
        prop_assert!(rate(StrategyId::Ntp) >= rate(StrategyId::DpDrop));
        prop_assert!(rate(StrategyId::NtpPw) >= rate(StrategyId::Ntp));
        prop_assert!(rate(StrategyId::DpDrop) >= rate(StrategyId::Wait));
    }

    #[test]
    fn repairing_everything_is_the_healthy_state(scenario in any_scenario()) {
        let repaired = Scenario { failures: Vec::new(), ..scenario.clone() };
        let fresh = run(&repaired);
        let _ = run(&scenario);
        prop_assert_eq!(&run(&repaired), &fresh);
        let twice = (serde_json::to_string(&run(&scenario)).unwrap(), serde_json::to_string(&run(&scenario)).unwrap());
        prop_assert_eq!(twice.0, twice.1);
    }
}
