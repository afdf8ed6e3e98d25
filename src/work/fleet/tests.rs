use super::*;
use crate::core::fleet::recording::{Film, Recording};
use crate::work::{Order, Reply, Request, Session, log};

fn do_all(session: &mut Session, id: u32, request: Request) -> Vec<Reply> {
    session.take(Order::Start { id, request });
    while session.step() != Step::Done {}
    session.replies()
}

fn start(run: u32, scenario: &str, days: f64) -> Request {
    Request::Fleet(Ask::Start {
        run,
        scenario: scenario.to_owned(),
        seed: 1,
        days,
        log: false,
    })
}

fn scene(rate_multiplier: f64) -> String {
    let mut scenario = Scenario::default_scene();
    scenario.faults = Some(serde_json::json!({ "rate_multiplier": rate_multiplier }));
    scenario.to_json()
}

fn run_of(replies: &[Reply]) -> (Head, Recording) {
    let found = replies.iter().find_map(|reply| match &reply.body {
        Body::Fleet(Answer::Run(head)) => Some(((**head).clone(), &reply.bytes)),
        _ => None,
    });
    let (head, bytes) = found.unwrap();
    (head, Recording::from_bytes(bytes).unwrap())
}

#[test]
fn a_run_comes_whole_and_its_film_in_chunks() {
    let mut session = Session::new();
    let replies = do_all(&mut session, 1, start(1, &scene(20.0), 10.0));
    let (head, recording) = run_of(&replies);
    assert_eq!((head.gpus, head.domains, head.minibatch), (1152, 16, 64));
    assert_eq!(recording.end, head.wanted);
    assert_eq!(
        (head.limit, replies.last().unwrap().body.clone()),
        (None, Body::Done)
    );
    let request = Request::Fleet(Ask::Film {
        run: 1,
        strategy: StrategyId::Ntp,
    });
    let mut film = Film::default();
    let replies = do_all(&mut session, 2, request);
    for reply in replies.iter().filter(|reply| !reply.body.ends()) {
        film.append(&reply.bytes).unwrap();
    }
    assert!(film.frames() > 10 && film.until == recording.end);
}

#[test]
fn a_fork_shares_the_past_and_goes_its_own_way() {
    let mut session = Session::new();
    let (_, whole) = run_of(&do_all(&mut session, 1, start(1, &scene(20.0), 10.0)));
    let at = Nanos::from_hours(100.0);
    let fork = |change| {
        Request::Fleet(Ask::Fork {
            of: 1,
            run: 2,
            at,
            change,
        })
    };
    let failed = do_all(&mut session, 2, fork(Change::Fail { domain: 3, gpu: 9 }));
    let (_, failed) = run_of(&failed);
    assert_eq!(failed.forked_at, Some(at));
    let track = |recording: &Recording| recording.track(StrategyId::NtpPw).unwrap().clone();
    let before = Nanos::from_hours(99.0);
    assert_eq!(
        track(&failed).at(before).failed,
        track(&whole).at(before).failed
    );
    assert_eq!(
        track(&failed).at(at).failed,
        track(&whole).at(at).failed + 1
    );
    let ask = Ask::Detail {
        run: 2,
        strategy: StrategyId::NtpPw,
        at,
        domain: 3,
    };
    let replies = do_all(&mut session, 3, Request::Fleet(ask));
    let Body::Fleet(Answer::Detail(detail)) = &replies[0].body else {
        panic!("{replies:?}")
    };
    assert!(
        detail
            .back
            .iter()
            .any(|(gpu, hours, software)| *gpu == 9 && *hours > 100.0 && !software)
    );
    assert_eq!(detail.peers.len(), 2);
}

#[test]
fn bad_input_is_one_line() {
    let mut session = Session::new();
    let mut failed = |request| match do_all(&mut session, 1, request).pop().unwrap().body {
        Body::Failed(line) => line,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        failed(start(1, &scene(1.0), 0.0)),
        "days: 0 is not allowed, expected above 0, at most 3650"
    );
    assert_eq!(
        failed(Request::Fleet(Ask::Check {
            faults: r#"{"restart_min": -1}"#.into()
        })),
        "faults.restart_min: -1 is not allowed, expected 0 to 100000"
    );
    assert!(
        failed(Request::Fleet(Ask::Detail {
            run: 9,
            strategy: StrategyId::Ntp,
            at: Nanos::ZERO,
            domain: 0
        }))
        .starts_with("run: 9")
    );
    assert!(
        failed(Request::Log(log::Ask::Example {
            index: 7,
            scenario: scene(1.0)
        }))
        .starts_with("example: 7")
    );
    let no_log = Ask::Start {
        run: 1,
        scenario: scene(1.0),
        seed: 1,
        days: 0.0,
        log: true,
    };
    assert!(failed(Request::Fleet(no_log)).starts_with("log: none"));
}

#[test]
fn a_million_failures_end_a_run_early_and_it_says_so() {
    let mut session = Session::new();
    let mut scenario = Scenario::default_scene();
    // Without a failure that stops anything, so that the test is quick: only the trace is long.
    scenario.faults = Some(
        serde_json::json!({"causes": [{"name": "x", "scope": "gpu", "mtbf_h": 0.001, "takes_out": false}],
        "rate_multiplier": 1000.0, "strike": "always"}),
    );
    let (head, recording) = run_of(&do_all(
        &mut session,
        1,
        start(1, &scenario.to_json(), 15.0),
    ));
    assert!(head.limit.unwrap().starts_with("1,000,000 failures"));
    assert!(recording.end < head.wanted);
}

#[test]
fn a_stopped_run_says_nothing() {
    let mut session = Session::new();
    session.take(Order::Start {
        id: 1,
        request: start(1, &scene(100.0), 300.0),
    });
    for _ in 0..3 {
        assert_eq!(session.step(), Step::More);
    }
    session.take(Order::Stop { id: 1 });
    assert_eq!(
        (session.step(), session.replies()),
        (Step::Done, Vec::new())
    );
}
