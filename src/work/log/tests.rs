use super::*;
use crate::work::{Order, Request, Session, fleet};

fn scene() -> String {
    Scenario::default_scene().to_json()
}

/// Reads a text as a file and gives the last thing said about it before the end.
fn read(session: &mut Session, text: &str, lenient: bool) -> Body {
    let size = text.len() as u64;
    let request = Request::Log(Ask::File {
        size,
        lenient,
        scenario: scene(),
    });
    session.take(Order::Start { id: 1, request });
    loop {
        match session.step() {
            Step::Read { from, most } => {
                assert_eq!(session.reader(), Some(1));
                let end = (from + u64::from(most.min(11))).min(size);
                session.feed(&text.as_bytes()[from as usize..end as usize]);
            }
            Step::More => {}
            Step::Done => break,
        }
    }
    let mut replies = session.replies();
    replies.retain(|reply| reply.body != Body::Done);
    replies.pop().unwrap().body
}

#[test]
fn a_file_is_read_piece_by_piece_and_replayed() {
    let mut session = Session::new();
    let Body::Log(report) = read(&mut session, EXAMPLES[0].1, false) else {
        panic!()
    };
    assert_eq!(
        (
            report.read.format.name(),
            report.read.skipped,
            report.fit_dp
        ),
        ("CSV", 0, None)
    );
    assert!(report.map.used_failures > 5 && report.domains == 16);
    let ask = fleet::Ask::Start {
        run: 1,
        scenario: scene(),
        seed: 1,
        days: 0.0,
        log: true,
    };
    session.take(Order::Start {
        id: 2,
        request: Request::Fleet(ask),
    });
    while session.step() != Step::Done {}
    let replies = session.replies();
    let Some(Body::Fleet(fleet::Answer::Run(head))) =
        replies.iter().map(|r| r.body.clone()).rev().nth(1)
    else {
        panic!("{replies:?}")
    };
    assert!(head.log && head.wanted.hours() > 24.0);
}

#[test]
fn broken_lines_have_numbers_and_may_be_left_out() {
    let mut session = Session::new();
    let text = format!("{}x,1,2,hardware,3\n", EXAMPLES[0].1);
    let last = text.lines().count();
    let Body::Failed(line) = read(&mut session, &text, false) else {
        panic!()
    };
    assert!(line.starts_with(&format!("log line {last}: ")), "{line}");
    let Body::Log(report) = read(&mut session, &text, true) else {
        panic!()
    };
    assert_eq!(
        (report.read.skipped, report.read.problems[0].line),
        (1, last as u64)
    );
}

#[test]
fn a_log_larger_than_the_cluster_says_how_large_it_should_be() {
    let mut session = Session::new();
    let text = "time_h,domain,gpu,kind,duration_h\n1,40,3,hardware,5\n2,1,3,hardware,5\n";
    let Body::Log(report) = read(&mut session, text, false) else {
        panic!()
    };
    assert_eq!(
        (
            report.map.domains_needed,
            report.map.unknown_failures,
            report.map.used_failures
        ),
        (41, 1, 1)
    );
    // Two domains a replica.
    assert_eq!(report.fit_dp, Some(21));
}

#[test]
fn every_example_reads() {
    for index in 0..EXAMPLES.len() {
        let mut session = Session::new();
        let request = Request::Log(Ask::Example {
            index,
            scenario: scene(),
        });
        session.take(Order::Start { id: 1, request });
        while session.step() != Step::Done {}
        assert!(matches!(session.replies()[0].body, Body::Log(_)), "{index}");
    }
}

#[test]
fn a_file_that_cannot_be_read_says_so() {
    let mut session = Session::new();
    let request = Request::Log(Ask::File {
        size: 10,
        lenient: false,
        scenario: scene(),
    });
    session.take(Order::Start { id: 4, request });
    assert!(matches!(session.step(), Step::Read { from: 0, .. }));
    session.refuse("gone".into());
    assert_eq!(session.replies()[0].body, Body::Failed("gone".into()));
    assert_eq!(session.step(), Step::Done);
}
