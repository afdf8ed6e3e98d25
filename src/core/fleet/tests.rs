mod ideal;
mod replay;

use super::*;
use crate::core::faults::{
    Cause, Checkpoint, CheckpointEvery, FaultEvent, Faults, Life, Repair, Scope, Site, Start,
    Strike, TakeBack, Trace, TraceCause,
};
use crate::core::scenario::FailureKind;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use ideal::Ideal;
use proptest::prelude::*;

fn shapes(domains: u32, size: u32, tp: u32, spares: u32, held: u32) -> [Shape; 6] {
    StrategyId::ALL.map(|strategy| Shape {
        domains,
        spare_domains: if matches!(strategy, StrategyId::Wait | StrategyId::InDomainSpares) {
            0
        } else {
            spares
        },
        domain_size: size,
        tp,
        slots_per_domain: 1,
        slots: domains,
        held: if strategy == StrategyId::InDomainSpares {
            held
        } else {
            0
        },
    })
}

struct World {
    site: Site,
    shapes: [Shape; 6],
    faults: Faults,
    fixed: bool,
}

impl World {
    fn study(spares: u32) -> Self {
        let cause = |name: &str, scope, mtbf_h, weight, detect_min, takes_out| Cause {
            name: name.into(),
            scope,
            mtbf_h,
            weight,
            detect_min,
            takes_out,
            kind: FailureKind::Hardware,
            repair: Repair::Exponential { mean_h: 48.0 },
            life: Life::Exponential,
        };
        let faults = Faults {
            causes: vec![
                cause("xid79", Scope::Node, 3000.0, 0.25, 3.0, true),
                cause("memory", Scope::Node, 3000.0, 0.20, 3.0, true),
                cause("link", Scope::Node, 3000.0, 0.15, 30.0, true),
                cause("host", Scope::Node, 3000.0, 0.10, 5.0, true),
                cause("hang", Scope::Node, 3000.0, 0.30, 30.0, false),
                cause("crash", Scope::Job, 40.0, 0.6, 1.0, false),
                cause("storage", Scope::Job, 40.0, 0.4, 30.0, false),
            ],
            checkpoint: Checkpoint {
                takes_min: 5.0,
                ..Checkpoint::default()
            },
            restart_min: 20.0,
            strike: Strike::WhileRunning,
            ..Faults::default()
        };
        let site = Site {
            domains: 128,
            spare_domains: spares,
            domain_size: 8,
            tray_gpus: 8,
            blast_radius: 8,
        };
        Self {
            site,
            shapes: shapes(128, 8, 8, spares, 0),
            faults,
            fixed: true,
        }
    }
    fn plan(&self) -> Plan {
        Plan::with_mtbi(
            self.site,
            self.shapes,
            &self.faults,
            plan::mtbi_h(&self.site, &self.shapes[0], &self.faults),
        )
    }
    fn rates(&self) -> Rates<Ideal> {
        Rates::new(Ideal {
            shapes: self.shapes,
            group: 1,
            fixed_minibatch: self.fixed,
        })
    }
    fn run(&self, strategy: StrategyId, trace: &Trace, days: f64) -> Lane {
        let (plan, mut rates) = (self.plan(), self.rates());
        let mut lane = Lane::new(strategy, &plan, trace, &mut rates);
        lane.advance(&plan, trace, &mut rates, Nanos::from_hours(days * 24.0));
        lane
    }
    fn mean_goodput(&self, runs: u64) -> f64 {
        let (plan, mut rates) = (self.plan(), self.rates());
        let end = Nanos::from_hours(28.0 * 24.0);
        let mut trace = Trace::draw(&self.faults, &self.site, 1, 28.0);
        let mut lane = Lane::new(StrategyId::HotSpares, &plan, &trace, &mut rates);
        let mut sum = 0.0;
        for seed in 1..=runs {
            trace.redraw(&self.faults, &self.site, seed, 28.0);
            lane.reset(&plan, &trace, &mut rates);
            lane.advance(&plan, &trace, &mut rates, end);
            sum += lane.ledger().productive_share_of_job_time(end);
        }
        sum / runs as f64
    }
}

#[test]
fn the_published_1024_gpu_study_comes_out() {
    assert!(
        (World::study(4).mean_goodput(400) - 0.802).abs() < 0.006,
        "{}",
        World::study(4).mean_goodput(400)
    );
    assert!(
        (World::study(0).mean_goodput(400) - 0.347).abs() < 0.025,
        "{}",
        World::study(0).mean_goodput(400)
    );
}

/// Other settings of the study, against an independent simulation of its rules over 3000 seeds.
#[test]
fn the_study_comes_out_at_other_settings() {
    let close = |world: World, expected: f64, tolerance: f64| {
        let found = world.mean_goodput(300);
        assert!(
            (found - expected).abs() < tolerance,
            "{found} against {expected}"
        );
    };
    let mut daly = World::study(4);
    daly.faults.checkpoint.every_min = CheckpointEvery::Formula(crate::core::faults::Formula::Daly);
    close(daly, 0.8576, 0.005);
    let mut half = World::study(4);
    half.faults.checkpoint.takes_min = 0.5;
    close(half, 0.9236, 0.005);
    let mut quick = World::study(4);
    quick
        .faults
        .causes
        .iter_mut()
        .for_each(|cause| cause.detect_min = cause.detect_min.min(5.0));
    close(quick, 0.8119, 0.005);
    close(World::study(8), 0.8091, 0.003);
    close(World::study(1), 0.5963, 0.02);
}

fn one_event(time_h: f64, gpus: u16, repair_h: f64, takes_out: bool) -> Trace {
    let causes = [TraceCause {
        name: "test".into(),
        detect: Nanos::from_hours(0.1),
        takes_out,
        kind: FailureKind::Hardware,
    }];
    let event = FaultEvent {
        time: Nanos::from_hours(time_h),
        domain: 2,
        first: 0,
        gpus,
        cause: 0,
        repair: Nanos::from_hours(repair_h),
    };
    Trace {
        events: vec![event],
        initial: Vec::new(),
        causes: causes.into(),
        while_running: false,
        horizon: Nanos(u64::MAX),
        limit: None,
    }
}

fn small(strategy_spares: u32) -> World {
    let faults = Faults {
        causes: Vec::new(),
        checkpoint: Checkpoint {
            every_min: CheckpointEvery::Minutes(54.0),
            takes_min: 6.0,
            ..Checkpoint::default()
        },
        restart_min: 30.0,
        ..Faults::default()
    };
    let site = Site {
        domains: 10,
        spare_domains: strategy_spares,
        domain_size: 8,
        tray_gpus: 8,
        blast_radius: 1,
    };
    World {
        site,
        shapes: shapes(10, 8, 8, strategy_spares, 1),
        faults,
        fixed: false,
    }
}

fn hours(lane: &Lane, bucket: Bucket) -> f64 {
    lane.ledger().share_seconds(bucket) / 3600.0
}

fn assert_hours(lane: &Lane, expected: &[(Bucket, f64)]) {
    for bucket in Bucket::ALL {
        let want = expected
            .iter()
            .find(|(named, _)| *named == bucket)
            .map_or(0.0, |(_, h)| *h);
        assert!(
            (hours(lane, bucket) - want).abs() < 1e-9,
            "{bucket:?}: {} against {want}",
            hours(lane, bucket)
        );
    }
}

#[test]
fn no_failures_cost_only_checkpoints() {
    let mut trace = one_event(1.0, 1, 1.0, true);
    trace.events.clear();
    for strategy in StrategyId::ALL {
        let lane = small(0).run(strategy, &trace, 10.0);
        let idle = if strategy == StrategyId::InDomainSpares {
            1.0 / 8.0
        } else {
            0.0
        };
        let want = [
            (Bucket::Productive, 216.0 * (1.0 - idle)),
            (Bucket::CheckpointSave, 24.0 * (1.0 - idle)),
            (Bucket::Spare, 240.0 * idle),
        ];
        assert_hours(&lane, &want);
        assert_eq!(lane.interruptions(), 0);
    }
}

#[test]
fn wait_by_hand() {
    // Runs 0 to 2.5 h: saves at 0.9-1.0 and 1.9-2.0, so 0.5 h is lost. Detected at 2.6, back at 6.6, computes from 7.1,
    // saves at 8.0-8.1, ends at 9.0. One GPU of 80 is failed for 4.1 h.
    let lane = small(0).run(StrategyId::Wait, &one_event(2.5, 1, 4.0, true), 9.0 / 24.0);
    let failed = 1.0 / 80.0;
    assert_hours(
        &lane,
        &[
            (Bucket::Productive, 1.8 + 1.8),
            (Bucket::CheckpointSave, 0.2 + 0.1),
            (Bucket::RolledBack, 0.5),
            (Bucket::Detection, 0.1 * (1.0 - failed)),
            (Bucket::Paused, 4.0 * (1.0 - failed)),
            (Bucket::Failed, 4.1 * failed),
            (Bucket::RestartAndLoad, 0.5),
        ],
    );
    assert_eq!(
        (lane.interruptions(), lane.restarts(), lane.peak_failed()),
        (1, 1, 1)
    );
    assert!((lane.time_above_0p1_percent().hours() - 4.1).abs() < 1e-9);
}

#[test]
fn dp_drop_by_hand_takes_the_repaired_domain_back_when_it_pays() {
    // Runs on 9 of 10 replicas from 3.1 h on; the GPU is back at 6.6 h; the next save ends at 7.1 h, then restart to 7.6 h.
    let mut world = small(0);
    world.faults.take_back = TakeBack::NextCheckpoint;
    let trace = one_event(2.5, 1, 4.0, true);
    let lane = world.run(StrategyId::DpDrop, &trace, 9.0 / 24.0);
    let failed = 1.0 / 80.0;
    assert_hours(
        &lane,
        &[
            (Bucket::Productive, 1.8 + 0.9 * 3.6 + 1.3),
            (Bucket::CheckpointSave, 0.2 + 0.9 * 0.4 + 0.1),
            (Bucket::RolledBack, 0.5),
            (Bucket::Detection, 0.1 * (1.0 - failed)),
            (Bucket::Failed, 4.1 * failed),
            (Bucket::IdleHealthy, 4.0 * 0.1 - 3.5 * failed),
            (Bucket::RestartAndLoad, 0.5 * (1.0 - failed) + 0.5),
        ],
    );
    // Without further failures the gain lasts for ever, so it pays; never when told to wait for the next restart.
    world.faults.take_back = TakeBack::IfItPays;
    assert_eq!(
        world.run(StrategyId::DpDrop, &trace, 9.0 / 24.0).restarts(),
        2
    );
    world.faults.take_back = TakeBack::NextRestart;
    assert_eq!(
        world.run(StrategyId::DpDrop, &trace, 9.0 / 24.0).restarts(),
        1
    );
}

#[test]
fn a_spare_domain_replaces_a_failed_one_after_its_start_delay() {
    let mut world = small(2);
    world.faults.spare_start_min = 30.0;
    let lane = world.run(
        StrategyId::HotSpares,
        &one_event(2.5, 8, 4.0, true),
        9.0 / 24.0,
    );
    assert!(
        (hours(&lane, Bucket::Productive) + hours(&lane, Bucket::CheckpointSave)
            - (2.0 + 9.0 - 3.6) * 10.0 / 12.0)
            .abs()
            < 1e-9
    );
    assert!((hours(&lane, Bucket::Failed) - 4.1 / 12.0).abs() < 1e-9);
    // The repaired domain is a spare again, the replacement works on.
    assert!(
        (hours(&lane, Bucket::Spare) - (2.6 * 2.0 + 4.0 + 2.4 * 2.0) / 12.0).abs() < 1e-9,
        "{}",
        hours(&lane, Bucket::Spare)
    );
    assert!(!lane.computes(2) && lane.computes(10) && !lane.computes(11));
}

#[test]
fn failures_of_idle_hardware_do_not_happen_and_those_of_benched_hardware_do_not_stop_the_job() {
    let world = small(2);
    let mut trace = one_event(2.5, 8, 400.0, true);
    let first = trace.events[0];
    let second = |time_h: f64, domain: u32, gpus: u16| FaultEvent {
        time: Nanos::from_hours(time_h),
        domain,
        gpus,
        ..first
    };
    // Spare domain 11 idle, GPU 7 of domain 2 failed already, held-back GPU 7 of domain 4.
    let (idle, again) = (second(3.0, 11, 1), second(4.0, 2, 3));
    let held = FaultEvent {
        first: 7,
        ..second(5.0, 4, 1)
    };
    trace.events.extend([idle, again, held]);
    assert_eq!(
        world
            .run(StrategyId::HotSpares, &trace, 1.0)
            .interruptions(),
        2
    );
    assert_eq!(
        world
            .run(StrategyId::InDomainSpares, &trace, 1.0)
            .interruptions(),
        1
    );
    // Without spares domain 2 is benched: its second failure stops nothing.
    let partly = FaultEvent { gpus: 1, ..first };
    let other = FaultEvent {
        first: 5,
        ..second(4.0, 2, 1)
    };
    let trace = Trace {
        events: vec![partly, other],
        ..trace
    };
    let lane = small(0).run(StrategyId::DpDrop, &trace, 1.0);
    assert_eq!((lane.interruptions(), lane.domains().failed()), (1, 2));
    let lane = small(0).run(StrategyId::Ntp, &trace, 1.0);
    assert_eq!((lane.interruptions(), lane.domains().failed()), (2, 2));
}

#[test]
fn a_failure_during_the_restart_starts_it_again() {
    let world = small(0);
    let mut trace = one_event(2.5, 1, 400.0, true);
    trace.events.push(FaultEvent {
        time: Nanos::from_hours(2.9),
        domain: 5,
        ..trace.events[0]
    });
    let lane = world.run(StrategyId::Ntp, &trace, 1.0);
    // Detection 0.1 + restart 0.3 until the second failure, detection 0.1 + restart 0.5.
    let (one, two) = (1.0 - 1.0 / 80.0, 1.0 - 2.0 / 80.0);
    assert!((hours(&lane, Bucket::Detection) - 0.1 * (one + two)).abs() < 1e-9);
    assert!((hours(&lane, Bucket::RestartAndLoad) - (0.3 * one + 0.5 * two)).abs() < 1e-9);
    assert_eq!(lane.interruptions(), 1);
}

#[test]
fn strategies_keep_their_order_on_equal_traces() {
    let mut world = small(0);
    world.faults.causes = vec![Cause {
        name: "gpu".into(),
        scope: Scope::Gpu,
        mtbf_h: 4000.0,
        weight: 1.0,
        detect_min: 3.0,
        takes_out: true,
        kind: FailureKind::Hardware,
        repair: Repair::Fixed { mean_h: 72.0 },
        life: Life::Exponential,
    }];
    let mut sums = [0.0; 6];
    for seed in 0..50 {
        let trace = Trace::draw(&world.faults, &world.site, seed, 15.0);
        for (sum, strategy) in sums.iter_mut().zip(StrategyId::ALL) {
            *sum += world
                .run(strategy, &trace, 15.0)
                .ledger()
                .goodput(Nanos::from_hours(360.0))
                / 50.0;
        }
    }
    let [wait, dp_drop, hot, _, ntp, ntp_pw] = sums;
    assert!(wait < dp_drop && dp_drop < ntp && ntp < ntp_pw, "{sums:?}");
    assert!((hot - dp_drop).abs() < 1e-12, "no spares: the same rule");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn the_ledger_adds_up_and_time_can_be_cut_anywhere(
        seed in any::<u64>(), domains in 1u32..30, spares in 0u32..4, size in 2u32..20, left_over in 0u32..3, held in 0u32..3,
        mtbf in 50.0f64..5000.0, repair in 0.0f64..400.0, scope in 0usize..5, takes_out in any::<bool>(), fixed in any::<bool>(),
        running in any::<bool>(), steady in any::<bool>(), every in 1.0f64..300.0, takes in 0.0f64..30.0, restart in 0.0f64..100.0,
        blast in 1u32..20, back in 0usize..3, asynchronous in any::<bool>(), cut in 0.0f64..10.0,
    ) {
        let scope = [Scope::Gpu, Scope::Node, Scope::Tray, Scope::Domain, Scope::Job][scope];
        let tp = (size - left_over.min(size - 1)).max(1);
        let faults = Faults {
            causes: vec![Cause {
                name: "test".into(), scope, mtbf_h: mtbf, weight: 1.0, detect_min: 5.0, takes_out: takes_out && scope != Scope::Job,
                kind: FailureKind::Hardware, repair: Repair::Lognormal { mean_h: repair + 2.0, median_h: 1.0 }, life: Life::Exponential,
            }],
            checkpoint: Checkpoint {
                every_min: CheckpointEvery::Minutes(every), takes_min: takes,
                mode: if asynchronous { crate::core::faults::SaveMode::Async } else { crate::core::faults::SaveMode::Blocking },
                stall_min: takes / 3.0, slowdown: 0.25,
            },
            restart_min: restart,
            strike: if running { Strike::WhileRunning } else { Strike::Always },
            start: if steady { Start::Steady } else { Start::Cold },
            take_back: [TakeBack::IfItPays, TakeBack::NextRestart, TakeBack::NextCheckpoint][back],
            ..Faults::default()
        };
        let site = Site { domains, spare_domains: spares, domain_size: size, tray_gpus: 4.min(size), blast_radius: blast };
        let world = World { site, shapes: shapes(domains, size, tp, spares, held.min(tp - 1)), faults, fixed };
        let trace = Trace::draw(&world.faults, &world.site, seed, 10.0);
        let (plan, end) = (world.plan(), Nanos::from_hours(240.0));
        for strategy in StrategyId::ALL {
            let lane = world.run(strategy, &trace, 10.0);
            let sum: f64 = lane.ledger().fractions(end).iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{:?} {}", strategy, sum);
            for bucket in Bucket::ALL {
                let share = lane.ledger().fraction(bucket, end);
                prop_assert!((-1e-9..=1.0 + 1e-9).contains(&share), "{:?} {:?} {}", strategy, bucket, share);
            }
            prop_assert!((0.0..=1.0).contains(&lane.ledger().goodput(end)));
            // Stopping on the way changes nothing but rounding of the sums.
            let mut rates = world.rates();
            let mut pieces = Lane::new(strategy, &plan, &trace, &mut rates);
            pieces.advance(&plan, &trace, &mut rates, Nanos::from_hours(cut * 24.0));
            let mut copy = pieces.clone();
            for lane_in_pieces in [&mut pieces, &mut copy] {
                lane_in_pieces.advance(&plan, &trace, &mut rates, end);
                prop_assert_eq!(lane_in_pieces.interruptions(), lane.interruptions());
                for bucket in Bucket::ALL {
                    let (a, b) = (lane_in_pieces.ledger().fraction(bucket, end), lane.ledger().fraction(bucket, end));
                    prop_assert!((a - b).abs() < 1e-9, "{:?} {:?} {} {}", strategy, bucket, a, b);
                }
            }
        }
    }
}
