use super::super::Bucket;
use super::*;
use crate::core::scenario::Scenario;
use crate::core::strategy::GpuState;

fn job() -> Job {
    let text = r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": {"tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768}, "policy": {"hot_spare_domains": 2}}"#;
    Scenario::from_json(text).unwrap().resolve().unwrap()
}

fn faults() -> Faults {
    Faults {
        rate_multiplier: 20.0,
        ..Faults::default()
    }
}

fn run() -> FleetRun {
    FleetRun::new(job(), faults(), 3, 15.0)
}

fn days(days: f64) -> Nanos {
    Nanos::from_hours(days * 24.0)
}

#[test]
fn small_steps_and_one_leap_come_to_the_same() {
    let (mut steps, mut leap) = (run(), run());
    for step in 1..=300 {
        steps.advance_to(Nanos(leap.end().0 / 300 * step));
    }
    steps.advance_to(leap.end());
    leap.advance_to(leap.end());
    for strategy in StrategyId::ALL {
        let (a, b) = (steps.lane(strategy).unwrap(), leap.lane(strategy).unwrap());
        assert_eq!(a.interruptions(), b.interruptions());
        assert!(a.interruptions() > 10 || strategy == StrategyId::Wait);
        for bucket in Bucket::ALL {
            let (a, b) = (
                a.ledger().fraction(bucket, leap.end()),
                b.ledger().fraction(bucket, leap.end()),
            );
            assert!((a - b).abs() < 1e-9, "{strategy:?} {bucket:?}");
        }
        assert_eq!(
            steps.history(strategy).unwrap().stops(),
            leap.history(strategy).unwrap().stops()
        );
    }
}

#[test]
fn seeking_back_gives_the_past_as_it_was() {
    let mut run = run();
    run.advance_to(days(4.3));
    let then: Vec<Ledger> = run.lanes().iter().map(|lane| *lane.ledger()).collect();
    run.advance_to(run.end());
    run.seek(days(4.3));
    assert_eq!((run.now(), run.simulated()), (days(4.3), run.end()));
    for (lane, then) in run.lanes().iter().zip(then) {
        for bucket in Bucket::ALL {
            let difference = lane.ledger().share_seconds(bucket) - then.share_seconds(bucket);
            assert!(difference.abs() < 1e-3, "{bucket:?} {difference}");
        }
        let moment = run.history(lane.strategy()).unwrap().at(run.now()).unwrap();
        assert_eq!(u64::from(moment.failed_gpus), lane.domains().failed());
        assert_eq!(moment.phase, lane.phase().into());
    }
}

#[test]
fn the_line_ends_at_the_goodput_of_the_ledger() {
    let mut run = run();
    run.advance_to(run.end());
    for strategy in StrategyId::ALL {
        let lane = run.lane(strategy).unwrap();
        let line = run
            .history(strategy)
            .unwrap()
            .line(Nanos::ZERO, run.end(), 100);
        assert_eq!(line.len(), 99, "time zero has no mean");
        let (hour, last) = *line.last().unwrap();
        assert!((hour - 360.0).abs() < 1e-9);
        // After the last moment the line stands still; it lacks at most what was done since.
        let goodput = lane.ledger().goodput(run.end());
        assert!(
            last <= goodput + 1e-9 && last > goodput - 0.1,
            "{strategy:?} {last} {goodput}"
        );
    }
}

#[test]
fn a_fork_shares_the_past_and_differs_afterwards() {
    let mut run = run();
    run.advance_to(run.end());
    let mut scenario = run.job().scenario.clone();
    scenario.policy.spare_domains = 4;
    let edit = Edit::Scenario {
        job: Box::new(scenario.resolve().unwrap()),
        faults: Box::new(faults()),
    };
    let mut fork = run.fork(days(5.0), edit);
    assert_eq!(fork.forked_at(), Some(days(5.0)));
    fork.advance_to(fork.end());
    let (ours, theirs) = (
        run.history(StrategyId::DpDrop).unwrap(),
        fork.history(StrategyId::DpDrop).unwrap(),
    );
    let past = |history: &History| {
        history
            .stops()
            .iter()
            .filter(|stop| stop.time < days(5.0))
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(past(ours), past(theirs));
    // Failures of the job's own domains are where they were: added spares draw on other streams.
    let of_job = |run: &FleetRun| {
        run.trace()
            .events
            .iter()
            .filter(|event| event.domain < 16)
            .copied()
            .collect::<Vec<_>>()
    };
    assert_eq!(of_job(&run), of_job(&fork));
    let goodput = |run: &FleetRun| {
        run.lane(StrategyId::DpDrop)
            .unwrap()
            .ledger()
            .share_seconds(Bucket::Productive)
    };
    assert!((goodput(&run) - goodput(&fork)).abs() > 1.0);
    // The past of a fork is the original's.
    fork.seek(days(1.0));
    assert_eq!(fork.now(), days(5.0));
}

#[test]
fn failing_and_repairing_by_hand_reaches_every_strategy() {
    let quiet = Faults {
        causes: Vec::new(),
        ..Faults::default()
    };
    let mut run = FleetRun::new(job(), quiet, 1, 10.0);
    run.advance_to(days(2.0));
    let fail = Edit::Fail {
        domain: 3,
        first: 8,
        gpus: 2,
        kind: FailureKind::Hardware,
        repair: Nanos::from_hours(48.0),
    };
    let mut failed = run.fork(days(1.0), fail);
    failed.advance_to(days(2.0));
    for lane in failed.lanes() {
        assert_eq!(
            (lane.interruptions(), lane.domains().failed()),
            (1, 2),
            "{:?}",
            lane.strategy()
        );
    }
    let map = failed.map(StrategyId::NtpPw);
    assert_eq!(
        map.cells[3],
        DomainCell {
            state: CellState::Boosted,
            down: 2,
            restarting: 0
        }
    );
    let gpus = map.gpus(3);
    assert_eq!(
        gpus.iter()
            .filter(|state| **state == GpuState::Failed)
            .count(),
        2
    );
    assert_eq!(
        gpus.iter()
            .filter(|state| **state == GpuState::Boosted)
            .count(),
        70
    );
    assert_eq!(
        failed.map(StrategyId::HotSpares).cells[3].state,
        CellState::Idle,
        "replaced by a spare domain"
    );
    assert_eq!(
        failed.map(StrategyId::HotSpares).cells[16].state,
        CellState::Healthy
    );
    assert_eq!(
        failed.map(StrategyId::HotSpares).cells[17].state,
        CellState::Spare
    );
    assert!(
        failed
            .map(StrategyId::Wait)
            .cells
            .iter()
            .all(|cell| cell.state == CellState::Paused)
    );
    let repair = Edit::Repair {
        domain: 3,
        first: 0,
        gpus: 72,
    };
    let mut repaired = failed.fork(days(1.5), repair);
    repaired.advance_to(days(2.0));
    assert!(
        repaired
            .lanes()
            .iter()
            .all(|lane| lane.domains().failed() == 0)
    );
    assert!(
        repaired
            .map(StrategyId::Wait)
            .cells
            .iter()
            .all(|cell| cell.state == CellState::Healthy)
    );
    let wait = |run: &FleetRun| {
        run.lane(StrategyId::Wait)
            .unwrap()
            .ledger()
            .goodput(days(2.0))
    };
    assert!(wait(&repaired) > wait(&failed));
}

#[test]
fn why_names_the_bucket_that_cost_most() {
    let mut run = run();
    run.advance_to(run.end());
    let end = run.end();
    let why = run.why(StrategyId::Wait, StrategyId::NtpPw, Nanos::ZERO, end);
    assert!(
        why.iter()
            .map(|(_, difference)| difference)
            .sum::<f64>()
            .abs()
            < 1e-9
    );
    assert!(
        why.iter()
            .any(|(bucket, less)| *bucket == Bucket::Productive && *less < -0.3)
    );
    assert_eq!(
        (why[0].0, why[0].1 > 0.3),
        (Bucket::Paused, true),
        "{why:?}"
    );
}
