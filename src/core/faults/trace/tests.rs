use super::super::{Repair, Strike};
use super::*;
use proptest::prelude::*;

const SITE: Site = Site {
    domains: 128,
    spare_domains: 4,
    domain_size: 8,
    tray_gpus: 8,
    blast_radius: 1,
};

fn cause(scope: Scope, mtbf_h: f64) -> Cause {
    Cause {
        name: "test".into(),
        scope,
        mtbf_h,
        weight: 1.0,
        detect_min: 3.0,
        takes_out: scope != Scope::Job,
        kind: FailureKind::Hardware,
        repair: Repair::Fixed { mean_h: 24.0 },
        life: Life::Exponential,
    }
}

fn faults(causes: Vec<Cause>) -> Faults {
    Faults {
        causes,
        ..Faults::default()
    }
}

#[test]
fn counts_match_the_rates() {
    // 1024 GPUs / 10,000 h x 28 days x 24 h = 68.8 expected; node: 128 / 3000 h = 28.7; job: 16.8.
    let faults = faults(vec![
        cause(Scope::Gpu, 10_000.0),
        cause(Scope::Node, 3000.0),
        cause(Scope::Job, 40.0),
    ]);
    let mut found = [0.0_f64; 3];
    for seed in 0..400 {
        let trace = Trace::draw(&faults, &SITE, seed, 28.0);
        for event in trace
            .events
            .iter()
            .filter(|event| event.domain < 128 || event.domain == FaultEvent::JOB)
        {
            found[usize::from(event.cause)] += 1.0 / 400.0;
        }
    }
    for (count, expected) in found.iter().zip([68.81_f64, 28.67, 16.8]) {
        assert!((count / expected - 1.0).abs() < 0.04, "{found:?}");
    }
}

#[test]
fn weibull_of_shape_one_has_the_exponential_rate_and_small_shapes_fail_early() {
    let count = |shape: f64, start: Start, scale: f64| {
        let mut faults = faults(vec![Cause {
            life: Life::Weibull { shape },
            ..cause(Scope::Gpu, 10_000.0)
        }]);
        faults.start = start;
        faults.causes[0].repair = Repair::Fixed { mean_h: 0.0 };
        let total: usize = (0..200)
            .map(|seed| {
                Trace::draw(&faults, &SITE, seed, 28.0)
                    .events
                    .iter()
                    .filter(|e| e.domain < 128)
                    .count()
            })
            .sum();
        total as f64 / 200.0 / scale
    };
    assert!((count(1.0, Start::Cold, 68.81) - 1.0).abs() < 0.05);
    // New units with falling hazard: (672 h / scale)^0.5 with scale = 10,000 / Gamma(3) h, about 0.307 of 1024 and renewals.
    let early = count(0.5, Start::Cold, 1024.0);
    assert!(early > 0.30 && early < 0.45, "{early}");
    // In equilibrium every shape has rate 1 / mean.
    assert!((count(0.5, Start::Steady, 68.81) - 1.0).abs() < 0.05);
    assert!((count(3.0, Start::Steady, 68.81) - 1.0).abs() < 0.05);
    assert!(count(3.0, Start::Cold, 68.81) < 0.01);
}

#[test]
fn spares_and_other_causes_do_not_move_the_jobs_failures() {
    let few = faults(vec![cause(Scope::Gpu, 10_000.0)]);
    let more = faults(vec![
        cause(Scope::Gpu, 10_000.0),
        cause(Scope::Node, 3000.0),
    ]);
    let base: Vec<_> = Trace::draw(&few, &SITE, 5, 15.0).events;
    let other = Trace::draw(
        &more,
        &Site {
            spare_domains: 30,
            ..SITE
        },
        5,
        15.0,
    )
    .events;
    let same: Vec<_> = other
        .into_iter()
        .filter(|event| event.cause == 0 && event.domain < 132)
        .collect();
    assert_eq!(base, same);
}

#[test]
fn a_rate_multiplier_compresses_time() {
    let mut faults = faults(vec![cause(Scope::Gpu, 10_000.0)]);
    let slow = Trace::draw(&faults, &SITE, 5, 30.0).events;
    faults.rate_multiplier = 3.0;
    let fast = Trace::draw(&faults, &SITE, 5, 10.0).events;
    assert_eq!(slow.len(), fast.len());
    for (a, b) in slow.iter().zip(&fast) {
        assert_eq!((a.domain, a.first), (b.domain, b.first));
        assert!((a.time.hours() / b.time.hours() - 3.0).abs() < 1e-9);
    }
}

#[test]
fn a_steady_start_has_as_many_outages_as_littles_law_says() {
    let mut faults = faults(vec![cause(Scope::Gpu, 1000.0)]);
    faults.start = Start::Steady;
    let mean = (0..400)
        .map(|seed| Trace::draw(&faults, &SITE, seed, 1.0).initial.len())
        .sum::<usize>() as f64
        / 400.0;
    assert!(
        (mean / (1024.0 / 1000.0 * 24.0) - 1.0).abs() < 0.03,
        "{mean}"
    );
}

#[test]
fn trays_and_blast_radius_widen_inside_the_domain() {
    let site = Site {
        domain_size: 72,
        tray_gpus: 4,
        blast_radius: 16,
        ..SITE
    };
    assert_eq!(site.struck(Scope::Gpu, FailureKind::Hardware, 70), (64, 8));
    assert_eq!(site.struck(Scope::Gpu, FailureKind::Software, 70), (70, 1));
    assert_eq!(site.struck(Scope::Tray, FailureKind::Hardware, 3), (0, 16));
    assert_eq!(
        site.struck(Scope::Domain, FailureKind::Hardware, 0),
        (0, 72)
    );
    assert_eq!(
        Site {
            blast_radius: 1,
            ..site
        }
        .struck(Scope::Node, FailureKind::Hardware, 17),
        (68, 4)
    );
}

#[test]
fn too_many_failures_end_early_and_say_where() {
    let trace = Trace::draw(&faults(vec![cause(Scope::Gpu, 0.1)]), &SITE, 1, 28.0);
    let limit = trace.limit.unwrap();
    assert!(trace.events.len() <= MAX_EVENTS && trace.events.len() > MAX_EVENTS * 9 / 10);
    assert_eq!(trace.horizon, limit.at);
    assert!(limit.at < Nanos::from_hours(28.0 * 24.0));
    let weibull = Cause {
        life: Life::Weibull { shape: 0.2 },
        ..cause(Scope::Gpu, 0.01)
    };
    let trace = Trace::draw(&faults(vec![weibull]), &SITE, 1, 1.0);
    assert!(trace.events.len() <= MAX_EVENTS && trace.limit.is_some());
}

#[test]
fn overlapping_outages_of_one_gpu_count_once() {
    let event = |hour: f64, first, gpus, repair: f64| FaultEvent {
        time: Nanos::from_hours(hour),
        domain: 0,
        first,
        gpus,
        cause: 0,
        repair: Nanos::from_hours(repair),
    };
    let causes = [TraceCause {
        name: "x".into(),
        detect: Nanos::ZERO,
        takes_out: true,
        kind: FailureKind::Hardware,
    }];
    let trace = Trace {
        events: vec![
            event(1.0, 0, 4, 10.0),
            event(2.0, 3, 1, 20.0),
            event(30.0, 3, 1, 1.0),
        ],
        initial: Vec::new(),
        causes: causes.into(),
        while_running: false,
        horizon: Nanos::from_hours(40.0),
        limit: None,
    };
    let series: Vec<(f64, u64)> = trace
        .failed_series(&SITE)
        .into_iter()
        .map(|(t, n)| (t.hours(), n))
        .collect();
    assert_eq!(
        series,
        [
            (0.0, 0),
            (1.0, 4),
            (11.0, 1),
            (22.0, 0),
            (30.0, 1),
            (31.0, 0)
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_drawn_event_lies_inside_the_site(
        seed in any::<u64>(), domains in 1u32..40, spares in 0u32..20, size in 1u32..100, tray in 1u32..20, blast in 1u32..80,
        scope in 0usize..4, shape in 0.2f64..4.0, weibull in any::<bool>(), running in any::<bool>(),
    ) {
        let site = Site { domains, spare_domains: spares, domain_size: size, tray_gpus: tray.min(size), blast_radius: blast };
        let mut cause = cause([Scope::Gpu, Scope::Node, Scope::Tray, Scope::Domain][scope], 500.0);
        if weibull {
            cause.life = Life::Weibull { shape };
        }
        let mut faults = faults(vec![cause]);
        if running {
            faults.strike = Strike::WhileRunning;
        }
        let trace = Trace::draw(&faults, &site, seed, 5.0);
        prop_assert_eq!(&trace, &Trace::draw(&faults, &site, seed, 5.0));
        prop_assert!(trace.events.is_sorted());
        for event in &trace.events {
            prop_assert!(event.domain < domains + spares && event.gpus > 0);
            prop_assert!(u32::from(event.first) + u32::from(event.gpus) <= size);
            prop_assert!(event.time < trace.horizon);
        }
    }
}
