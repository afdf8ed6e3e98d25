//! Days of failures: the published 1,024-GPU study, and six strategies on the paper's cluster at three sizes.
#![allow(missing_docs)] // criterion's macros make public functions

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ntp_explorer::core::workout::fleet;
use std::hint::black_box;

/// One strategy, 28 days, a new seed every run.
fn study(c: &mut Criterion) {
    let Ok(mut runner) = fleet::study() else {
        return;
    };
    let mut seed = 0;
    let mut group = c.benchmark_group("fleet");
    group.throughput(Throughput::Elements(1));
    group.bench_function("28 days of 1,024 GPUs", |b| {
        b.iter(|| {
            seed += 1;
            fleet::study_runs(&mut runner, black_box(seed..seed + 1))
        });
    });
    group.finish();
}

/// Six strategies, 15 days, a new seed every run; `cold` costs every pattern of failures anew as well.
fn cluster(c: &mut Criterion) {
    let mut group = c.benchmark_group("fleet");
    for (name, replicas, rate) in [
        (
            "15 days of 1,024 GPUs, six strategies, 32 x the rate",
            4,
            32.0,
        ),
        ("15 days of 32,768 GPUs, six strategies", 128, 1.0),
        (
            "15 days of 999,936 GPUs, six strategies, 1/30.5 of the rate",
            3906,
            128.0 / 3906.0,
        ),
    ] {
        let Ok(job) = fleet::cluster(replicas, rate) else {
            continue;
        };
        let (mut runner, mut seed) = (fleet::all_strategies(&job), 0);
        group.bench_function(name, |b| {
            b.iter(|| {
                seed += 1;
                runner.run(black_box(seed)).0.len()
            });
        });
        let mut events = 0;
        for seed in 1..101 {
            let _ = runner.run(seed);
            events += runner.trace().events.len();
        }
        println!("failures a run there: {:.0}", events as f64 / 100.0);
    }
    let Ok(job) = fleet::cluster(128, 1.0) else {
        return;
    };
    let mut seed = 0;
    group.bench_function(
        "15 days of 32,768 GPUs, six strategies, nothing remembered",
        |b| {
            b.iter(|| {
                seed += 1;
                fleet::all_strategies(&job).run(black_box(seed)).0.len()
            });
        },
    );
    group.finish();
}

criterion_group!(benches, study, cluster);
criterion_main!(benches);
