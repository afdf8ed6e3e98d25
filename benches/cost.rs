//! Step evaluations per second on one core, every one a different layout.
#![allow(missing_docs)] // criterion's macros make public functions

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ntp_explorer::core::workout;
use std::hint::black_box;

fn steps(c: &mut Criterion) {
    let layouts = workout::layouts();
    let mut group = c.benchmark_group("cost");
    group.throughput(Throughput::Elements(layouts.len() as u64));
    group.bench_function("steps", |b| b.iter(|| workout::steps(black_box(&layouts))));
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
