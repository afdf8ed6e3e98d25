//! What `make bench` and the tests ask of the page: the work of [`workout`](crate::core::workout), timed by the page's own clock,
//! and what its worker computes.

use super::dom;
use super::worker::Hand;
use crate::core::workout;
use crate::work::{Body, Request};
use js_sys::Promise;
use wasm_bindgen::JsValue;

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

/// Work for a worker.
#[derive(Clone, Copy, Debug)]
pub enum Long {
    /// 28-day runs of the 1,024-GPU study a second, over so many once it is warm; 0 where it fails.
    Fleets(u32),
    /// The digest of a fixed run of a seed, or the line that says why not.
    Digest(u32),
}

/// Has a worker do it; the answer is a number or a text.
pub fn asked(long: Long) -> Promise {
    Promise::new(&mut |answer, _| match long {
        Long::Fleets(runs) => fleets(runs, answer),
        Long::Digest(seed) => digest(seed, answer),
    })
}

/// Settles a promise.
pub fn tell(answer: &js_sys::Function, value: &JsValue) {
    // Calling a promise's own function cannot fail.
    let _ = answer.call1(&JsValue::NULL, value);
}

fn digest(seed: u32, answer: js_sys::Function) {
    let hand = Hand::default();
    // The worker must live until it has answered.
    let alive = hand.clone();
    let hear = Box::new(move |body, _| {
        let (Body::Digest(text) | Body::Failed(text)) = body else {
            return;
        };
        tell(&answer, &JsValue::from_str(&text));
        alive.kill();
    });
    let seed = u64::from(seed);
    hand.ask(Request::Digest { seed }, None, hear);
}

fn fleets(runs: u32, answer: js_sys::Function) {
    let hand = Hand::default();
    let again = hand.clone();
    let warm = Box::new(move |body, _| {
        let (answer, alive, start) = (answer.clone(), again.clone(), dom::now_ms());
        let hear = Box::new(move |body, _| {
            let passed = (dom::now_ms() - start) / 1000.0;
            let rate = match body {
                Body::Done if passed > 0.0 => f64::from(runs) / passed,
                _ => 0.0,
            };
            tell(&answer, &JsValue::from_f64(rate));
            alive.kill();
        });
        if matches!(body, Body::Done) {
            again.ask(Request::Workout { runs }, None, hear);
        }
    });
    hand.ask(Request::Workout { runs: 500 }, None, warm);
}
