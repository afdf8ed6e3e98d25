use super::*;
use crate::core::faults::Faults;
use crate::core::fleet::FleetRun;
use crate::core::scenario::Scenario;
use proptest::prelude::*;

fn job() -> crate::core::scenario::Job {
    let mut scenario = Scenario::default_scene();
    scenario.policy.spare_domains = 2;
    scenario.resolve().unwrap()
}

fn run(seed: u64, rate_multiplier: f64) -> FleetRun {
    let faults = Faults {
        rate_multiplier,
        ..Faults::default()
    };
    let mut run = FleetRun::new(job(), faults, seed, 10.0);
    run.advance_to(run.end());
    run
}

#[test]
fn a_recording_agrees_with_the_run_at_every_change_and_at_its_end() {
    let mut run = run(3, 30.0);
    let recording = record(&run);
    assert!(recording.events.len() > 20);
    for strategy in StrategyId::ALL {
        let track = recording.track(strategy).unwrap();
        let times: Vec<Nanos> = track.times.iter().copied().step_by(5).collect();
        for time in times.into_iter().chain([run.end()]) {
            let after = Nanos(time.0 + 1).min(run.end());
            let ledger = run.ledger_at(strategy, after);
            let now = track.at(time);
            for (share, exact) in now.shares.iter().zip(ledger.fractions(after)) {
                assert!(
                    (share - exact).abs() < 1e-6 || time < Nanos::from_hours(0.1),
                    "{strategy:?} {share} {exact}"
                );
            }
            if time > Nanos::ZERO {
                assert!((now.goodput.unwrap() - ledger.goodput(after)).abs() < 1e-6);
                assert!((now.shares.iter().sum::<f64>() - 1.0).abs() < 1e-5);
            }
        }
        let last = track.at(run.end());
        assert_eq!(
            last.interruptions as u32,
            run.lane(strategy).unwrap().interruptions()
        );
    }
}

#[test]
fn why_adds_up_to_the_difference_in_goodput() {
    let run = run(1, 30.0);
    let recording = record(&run);
    let (end, pair) = (run.end(), (StrategyId::DpDrop, StrategyId::NtpPw));
    let (buckets, won_back) = recording.why(pair.0, pair.1, Nanos::ZERO, end);
    let goodput = |strategy| recording.track(strategy).unwrap().goodput(end).unwrap();
    let lost = goodput(pair.1) - goodput(pair.0);
    let productive = buckets
        .iter()
        .find(|(b, _)| *b == Bucket::Productive)
        .unwrap()
        .1;
    assert!(
        (lost - (won_back - productive)).abs() < 1e-5,
        "{lost} {won_back} {productive}"
    );
    assert!(buckets.iter().map(|(_, share)| share).sum::<f64>().abs() < 1e-4);
    assert!(
        buckets
            .windows(2)
            .all(|pair| pair[0].1.abs() >= pair[1].1.abs())
    );
}

#[test]
fn events_are_stepped_through_in_order() {
    let recording = record(&run(1, 30.0));
    let mut time = Nanos::ZERO;
    let mut count = 0;
    while let Some((next, event)) = recording.next_event(StrategyId::Ntp, time) {
        assert!(next > time || count == 0);
        assert!(event.time == next && usize::from(event.cause) < recording.causes.len());
        if count > 0 {
            let (before, _) = recording.event_before(StrategyId::Ntp, next).unwrap();
            assert_eq!(before, time);
        }
        (time, count) = (next, count + 1);
    }
    let distinct: std::collections::BTreeSet<_> = recording.events.iter().map(|e| e.time).collect();
    assert_eq!(count, distinct.len());
}

#[test]
fn a_film_shows_what_the_run_maps_at_any_moment() {
    let mut run = run(2, 60.0);
    for strategy in [
        StrategyId::NtpPw,
        StrategyId::DpDrop,
        StrategyId::InDomainSpares,
    ] {
        let mut maker = FilmMaker::new(strategy);
        let mut film = Film::default();
        // A new maker makes the same film whatever the length of its stretches.
        while maker.run_on(&mut run, 7) {
            film.append(&maker.chunk()).unwrap();
        }
        film.append(&maker.chunk()).unwrap();
        assert_eq!(&film, maker.film());
        assert_eq!(film.until, run.end());
        assert!(film.frames() > 10);
        let mut projector = Projector::default();
        // Forth and back.
        for hours in [0.0, 30.0, 200.0, 100.5, 31.0, 239.0] {
            let time = Nanos::from_hours(hours);
            projector.seek(&film, time, |_| {});
            run.seek(time);
            let map = run.map(strategy);
            assert_eq!(projector.looks().len(), map.cells.len());
            for (domain, id) in (0..).zip(projector.looks()) {
                assert_eq!(
                    film.looks[*id as usize],
                    look(&map, domain),
                    "{strategy:?} {hours} h D{domain}"
                );
            }
        }
    }
}

#[test]
fn a_look_counts_its_gpus() {
    use crate::core::strategy::GpuState;
    let look = Look {
        runs: vec![
            (GpuState::Boosted, 17),
            (GpuState::Failed, 1),
            (GpuState::Boosted, 54),
        ],
        ..Look::default()
    };
    assert_eq!(
        (look.gpu(16), look.gpu(17), look.gpu(18)),
        (GpuState::Boosted, GpuState::Failed, GpuState::Boosted)
    );
    assert_eq!(
        (look.count(GpuState::Boosted), look.most()),
        (71, GpuState::Boosted)
    );
    assert_eq!(look.gpu(500), GpuState::Healthy);
}

#[test]
#[allow(clippy::field_reassign_with_default)] // other fields are private
fn only_whole_changes_are_reported_to_the_map() {
    let mut film = Film::default();
    film.domains = 3;
    film.looks = vec![
        Look::default(),
        Look {
            down: 1,
            ..Look::default()
        },
    ];
    let turn = |domain, old, new| Turn { domain, old, new };
    film.add(Nanos(10), [turn(1, 0, 1)]);
    film.add(Nanos(20), [turn(1, 1, 0), turn(2, 0, 1)]);
    let (mut projector, mut seen) = (Projector::default(), Vec::new());
    projector.seek(&film, Nanos(5), |domain| seen.push(domain));
    assert_eq!(seen, [0, 1, 2]);
    seen.clear();
    projector.seek(&film, Nanos(25), |domain| seen.push(domain));
    assert_eq!(
        (seen.as_slice(), projector.looks()),
        (&[1, 1, 2][..], &[0, 0, 1][..])
    );
    projector.seek(&film, Nanos(10), |_| {});
    assert_eq!(projector.looks(), [0, 1, 0]);
}

#[test]
fn recordings_travel_as_bytes() {
    let recording = record(&run(5, 10.0));
    let bytes = recording.to_bytes();
    assert_eq!(Recording::from_bytes(&bytes), Ok(recording));
    assert_eq!(
        Recording::from_bytes(&bytes[..bytes.len() - 1]),
        Err(Broken)
    );
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Recording::from_bytes(&bytes);
        let _ = Film::default().append(&bytes);
    }
}
