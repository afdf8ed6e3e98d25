//! The step simulator: a pure 1F1B schedule, the default scene with failed GPUs, and a large trace.
#![allow(missing_docs)] // criterion's macros make public functions

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ntp_explorer::core::strategy::StrategyId;
use ntp_explorer::core::timeline::{Schedule, Settings, trace, view};
use ntp_explorer::core::units::Nanos;
use ntp_explorer::core::workout;
use std::hint::black_box;

/// 16 stages x 512 micro-batches x 2 passes = 16,384 operations, schedule made and run.
fn schedule(c: &mut Criterion) {
    let mut group = c.benchmark_group("timeline");
    group.throughput(Throughput::Elements(16_384));
    group.bench_function("1f1b of 16,384 operations", |b| {
        b.iter(|| {
            let schedule = Schedule::one_f_one_b(black_box(16), black_box(512), 1)?;
            schedule.simulate(Nanos(1000), Nanos(2000))
        });
    });
    group.finish();
}

/// What the page does on every change: all steps of the panel, failures already evaluated.
fn scene(c: &mut Criterion) {
    let Some(job) = workout::failed(64) else {
        return;
    };
    c.bench_function("timeline/default scene, three failed GPUs", |b| {
        b.iter(|| workout::timeline(black_box(&job)));
    });
}

/// A trace of about 144,000 slices, written to memory.
fn export(c: &mut Criterion) {
    let Some((job, evaluation)) = workout::failed(576) else {
        return;
    };
    let Ok(view) = view(&job, &evaluation, StrategyId::NtpPw, &Settings::default()) else {
        return;
    };
    let events = trace::to_string(&view, &job.system.gpu)
        .matches("\"ph\":\"X\"")
        .count();
    let mut group = c.benchmark_group("timeline");
    group.throughput(Throughput::Elements(events as u64));
    group.bench_function("trace of 144,000 slices", |b| {
        b.iter(|| trace::to_string(black_box(&view), &job.system.gpu).len());
    });
    group.finish();
    println!("slices in that trace: {events}");
}

criterion_group!(benches, schedule, scene, export);
criterion_main!(benches);
