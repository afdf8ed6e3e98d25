//! What `make bench` asks of the page: the work of [`workout`](crate::core::workout), timed by the page's own clock.

use super::dom;
use crate::core::workout;

/// Work that can be timed.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Step evaluations a second, measured over about so many seconds.
    Steps(f64),
    /// Milliseconds that the step panel's simulation of the default scene with three failed GPUs takes, the mean of so many.
    Timelines(u32),
}

/// Does the work; 0 where it cannot be timed.
pub fn timed(work: Work) -> f64 {
    match work {
        Work::Steps(seconds) => steps(seconds),
        Work::Timelines(runs) => timelines(runs),
    }
}

fn steps(seconds: f64) -> f64 {
    let layouts = workout::layouts();
    let mut sum = workout::steps(&layouts);
    let start = dom::now_ms();
    let mut done = 0.0;
    loop {
        sum += workout::steps(&layouts);
        done += layouts.len() as f64;
        let passed = (dom::now_ms() - start) / 1000.0;
        // The sum is a part of the answer only so that it has to be computed.
        if passed >= seconds && passed > 0.0 {
            return if sum.is_finite() { done / passed } else { 0.0 };
        }
    }
}

fn timelines(runs: u32) -> f64 {
    let Some(job) = workout::failed(64) else {
        return 0.0;
    };
    let mut spans = workout::timeline(&job);
    let start = dom::now_ms();
    for _ in 0..runs {
        spans += workout::timeline(&job);
    }
    let passed = dom::now_ms() - start;
    if spans > 0 {
        passed / f64::from(runs.max(1))
    } else {
        0.0
    }
}
