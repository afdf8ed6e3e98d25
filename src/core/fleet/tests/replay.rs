//! A drawn trace, written as our own CSV and read back, must come to the same ledger.

use super::*;
use crate::core::faults::log;

fn causes(rate: f64) -> Vec<Cause> {
    let cause = |name: &str, scope, weight, takes_out, kind, repair| Cause {
        name: name.into(),
        scope,
        mtbf_h: 3000.0 / rate,
        weight,
        detect_min: 3.0,
        takes_out,
        kind,
        repair,
        life: Life::Exponential,
    };
    let long = Repair::Lognormal {
        mean_h: 60.0,
        median_h: 20.0,
    };
    vec![
        cause("gpu", Scope::Gpu, 0.3, true, FailureKind::Hardware, long),
        cause(
            "node",
            Scope::Node,
            0.5,
            true,
            FailureKind::Hardware,
            Repair::Exponential { mean_h: 48.0 },
        ),
        cause(
            "driver",
            Scope::Node,
            0.5,
            true,
            FailureKind::Software,
            Repair::Fixed { mean_h: 3.0 },
        ),
        cause(
            "crash",
            Scope::Job,
            10.0,
            false,
            FailureKind::Software,
            Repair::Fixed { mean_h: 0.0 },
        ),
    ]
}

fn replayed(world: &World, trace: &Trace, days: f64) -> Trace {
    let csv = trace.to_csv(&world.site);
    let log = log::read(csv.as_bytes(), false).unwrap();
    let mapped = log.map(&world.site, &world.faults, 99, Some(days));
    assert_eq!(
        (
            mapped.report.drawn_durations,
            mapped.report.unknown_failures
        ),
        (0, 0)
    );
    mapped.trace
}

fn check(world: &World, seed: u64) -> Result<usize, TestCaseError> {
    let (days, end) = (12.0, Nanos::from_hours(288.0));
    let trace = Trace::draw(&world.faults, &world.site, seed, days);
    let back = replayed(world, &trace, days);
    for strategy in StrategyId::ALL {
        let (drawn, read) = (
            world.run(strategy, &trace, days),
            world.run(strategy, &back, days),
        );
        prop_assert_eq!(
            drawn.interruptions(),
            read.interruptions(),
            "{:?}",
            strategy
        );
        prop_assert_eq!(drawn.restarts(), read.restarts(), "{:?}", strategy);
        for bucket in Bucket::ALL {
            let (a, b) = (
                drawn.ledger().fraction(bucket, end),
                read.ledger().fraction(bucket, end),
            );
            prop_assert!(
                (a - b).abs() < 1e-12,
                "{:?} {:?}: {} {}",
                strategy,
                bucket,
                a,
                b
            );
        }
    }
    Ok(trace.events.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_drawn_trace_replays_from_its_own_csv_to_the_same_ledger(
        seed in any::<u64>(), spares in 0u32..4, held in 0u32..3, rate in 0.1f64..20.0, blast in 1u32..9,
    ) {
        let mut world = small(spares);
        world.site.blast_radius = blast;
        world.shapes = shapes(10, 8, 8, spares, held);
        world.faults.causes = causes(rate);
        check(&world, seed)?;
    }
}
