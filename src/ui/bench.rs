//! What `make bench` asks of the page: the work of [`workout`](crate::core::workout), timed by the page's own clock.

use super::dom;
use crate::core::workout;
use wasm_bindgen::prelude::wasm_bindgen;

/// Step evaluations a second in this browser, measured over about `seconds`.
#[wasm_bindgen]
pub fn bench_steps(seconds: f64) -> f64 {
    let Some(clock) = dom::window().and_then(|window| window.performance()) else {
        return 0.0;
    };
    let layouts = workout::layouts();
    let mut sum = workout::steps(&layouts);
    let start = clock.now();
    let mut done = 0.0;
    loop {
        sum += workout::steps(&layouts);
        done += layouts.len() as f64;
        let passed = (clock.now() - start) / 1000.0;
        // The sum is a part of the answer only so that it has to be computed.
        if passed >= seconds && passed > 0.0 {
            return if sum.is_finite() { done / passed } else { 0.0 };
        }
    }
}

/// Milliseconds that the step panel's simulation of the default scene with three failed GPUs takes in this browser, the
/// mean of `runs`.
#[wasm_bindgen]
pub fn bench_timeline(runs: u32) -> f64 {
    let clock = dom::window().and_then(|window| window.performance());
    let (Some(clock), Some(job)) = (clock, workout::failed(64)) else {
        return 0.0;
    };
    let mut spans = workout::timeline(&job);
    let start = clock.now();
    for _ in 0..runs {
        spans += workout::timeline(&job);
    }
    let passed = clock.now() - start;
    if spans > 0 {
        passed / f64::from(runs.max(1))
    } else {
        0.0
    }
}
