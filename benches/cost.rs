//! Step evaluations per second on one core, every one a different layout.
#![allow(missing_docs)] // criterion's macros make public functions

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ntp_explorer::core::cost::{Replica, step};
use ntp_explorer::core::hardware::{Precision, system};
use ntp_explorer::core::scenario::{HeadSplit, Layout, Recompute};
use ntp_explorer::core::workload::model;
use std::hint::black_box;

/// 4,096 layouts that differ in degree, pipeline, batch, sequence and precision.
fn layouts() -> Vec<Layout> {
    (0..4096_u32)
        .map(|i| Layout {
            tp: 8 + i % 65,
            pp: 1 + i % 16,
            dp: 1 + i % 37,
            cp: 1 + i % 3,
            vp: 1 + i % 4,
            microbatch: 1 + i % 2,
            global_batch: 64 * (1 + i % 37),
            seq: 4096 + 8 * (i % 1024),
            precision: if i % 2 == 0 {
                Precision::Bf16
            } else {
                Precision::Fp8
            },
            recompute: Recompute::None,
            sequence_parallel: true,
            overlap: i % 5 != 0,
        })
        .collect()
}

fn steps(c: &mut Criterion) {
    let (Some(system), Some(model)) = (system("gb300-nvl72"), model("llama3-405b")) else {
        return;
    };
    let layouts = layouts();
    let mut group = c.benchmark_group("cost");
    group.throughput(Throughput::Elements(layouts.len() as u64));
    group.bench_function("step, 4096 layouts", |b| {
        b.iter(|| {
            layouts
                .iter()
                .map(|layout| {
                    let replica = Replica {
                        system,
                        model,
                        layout,
                        degree: layout.tp,
                        sync_degree: layout.tp - 2,
                        local_batch: layout.local_batch(),
                        perf: 1.0,
                        heads: HeadSplit::Whole,
                    };
                    black_box(step(black_box(&replica))).step_s.get()
                })
                .sum::<f64>()
        });
    });
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
