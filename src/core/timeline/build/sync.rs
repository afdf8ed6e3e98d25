//! Gradient buckets and parameters: what the replicas exchange.

use super::{Built, StageOps, Tag, span};
use crate::core::timeline::engine::{OpId, StreamId};
use crate::core::timeline::result::Span;
use crate::core::timeline::schedule::Pass;
use crate::core::timeline::spec::{StageSpec, transfer};
use crate::core::timeline::{Kind, Stream};
use crate::core::units::{Nanos, Seconds};

impl Built<'_> {
    /// Buckets of every stage: gather, pre-sync, DP sync over all replicas, post-sync.
    pub(super) fn syncs(&mut self) {
        let stages = self.spec.stages();
        for stage in 0..stages {
            let members: Vec<usize> = (0..self.stages.len())
                .filter(|i| self.stages.get(*i).is_some_and(|s| s.stage == stage))
                .collect();
            let buckets = self.spec.buckets(stage);
            if buckets == 0 {
                continue;
            }
            let collective = self.graph.stream();
            for &member in &members {
                let Some(ops) = self.stages.get(member) else {
                    continue;
                };
                if !self.spec.pp_on_nvlink {
                    self.graph.link(&[collective, ops.pipeline]);
                }
                self.graph
                    .slow(ops.compute, collective, ops.spec.terms.traffic_contention);
            }
            self.gathers(&members, collective, buckets);
            self.reductions(&members, collective, buckets);
        }
    }

    /// Longest of the members' transfers of one bucket: a collective ends for all at once.
    fn collective_ns(&self, members: &[usize], time: impl Fn(&StageSpec) -> Seconds) -> u64 {
        let stages = members.iter().filter_map(|member| self.stages.get(*member));
        stages
            .map(|ops| Nanos::from_seconds(time(ops.spec)).0)
            .max()
            .unwrap_or(0)
    }

    fn gathers(&mut self, members: &[usize], collective: StreamId, buckets: u32) {
        let share = f64::from(buckets);
        let work = self.collective_ns(members, |s| {
            transfer(
                s.parameter_bytes() / share,
                s.terms.dp_bandwidth,
                s.terms.dp_latency_s,
            )
        });
        if work == 0 {
            return;
        }
        let gathers: Vec<OpId> = (0..buckets)
            .map(|bucket| {
                // Buckets are numbered in backward order; parameters are needed in forward order.
                let drawn = Span {
                    bucket: (buckets - 1 - bucket) as u16,
                    ..span(Kind::ParamGather)
                };
                self.push(
                    collective,
                    work,
                    Tag {
                        stream: Stream::ScaleOut,
                        span: drawn,
                    },
                )
            })
            .collect();
        for &member in members {
            let Some(ops) = self.stages.get_mut(member) else {
                continue;
            };
            if let (Some(host), Some(&first)) = (ops.host, gathers.first()) {
                self.graph.after(host, first);
            }
            ops.gather.clone_from(&gathers);
            let total = ops.spec.layers.max(1);
            let bucket_of = |layer: u32| {
                if self.spec.overlap {
                    layer * buckets / total
                } else {
                    buckets - 1
                }
            };
            let per_layer = ops.pieces.layer(Pass::Forward).len() as u32;
            let mut seen = 0;
            for block in ops
                .blocks
                .iter()
                .filter(|b| b.by_layer && b.block.pass == Pass::Forward)
            {
                let count = self.spec.chunk_layers(ops.spec, block.block.chunk);
                let before = ops.pieces.before(block.block, self.spec.chunks).count() as u32;
                for layer in seen..seen + count {
                    if layer > 0 && bucket_of(layer) == bucket_of(layer - 1) {
                        continue;
                    }
                    // The operations of a block are consecutive.
                    let op = block.first.0
                        + if layer == 0 {
                            0
                        } else {
                            before + (layer - seen) * per_layer
                        };
                    if let Some(&gather) = gathers.get(bucket_of(layer) as usize) {
                        self.graph.after(gather, OpId(op));
                    }
                }
                seen += count;
            }
        }
    }

    fn reductions(&mut self, members: &[usize], collective: StreamId, buckets: u32) {
        let share = f64::from(buckets);
        let reduce = self.collective_ns(members, |s| {
            transfer(
                s.gradient_bytes() / share,
                s.terms.dp_bandwidth,
                s.terms.dp_latency_s,
            )
        });
        let mut syncs = Vec::with_capacity(buckets as usize);
        for bucket in 0..buckets {
            let drawn = Span {
                bucket: bucket as u16,
                ..span(Kind::DpSync)
            };
            let sync = self.push(
                collective,
                reduce,
                Tag {
                    stream: Stream::ScaleOut,
                    span: drawn,
                },
            );
            syncs.push(sync);
        }
        for &member in members {
            let Some(ops) = self.stages.get(member) else {
                continue;
            };
            let launches = self.launches(ops, buckets);
            let time = transfer(
                ops.spec.reshard_bytes() / share,
                ops.spec.terms.alltoall_bandwidth,
                ops.spec.terms.alltoall_latency_s,
            );
            let (reshard, moves) = (ops.reshard, Nanos::from_seconds(time).0);
            let tag = |kind: Kind, bucket: usize| Tag {
                stream: Stream::Reshard,
                span: Span {
                    bucket: bucket as u16,
                    ..span(kind)
                },
            };
            let (mut pre, mut post) = (Vec::new(), Vec::new());
            for (bucket, (&ready, &sync)) in launches.iter().zip(&syncs).enumerate() {
                if moves == 0 {
                    self.graph.after(ready, sync);
                    continue;
                }
                let gather = self.push(reshard, moves, tag(Kind::PreSync, bucket));
                self.graph.after(ready, gather);
                self.graph.after(gather, sync);
                pre.push(gather);
            }
            for (bucket, &sync) in syncs.iter().enumerate().filter(|_| moves > 0) {
                let back = self.push(reshard, moves, tag(Kind::PostSync, bucket));
                self.graph.after(sync, back);
                post.push(back);
            }
            if let Some(ops) = self.stages.get_mut(member) {
                (ops.ready, ops.pre, ops.post) = (launches, pre, post);
                ops.sync.clone_from(&syncs);
            }
        }
    }

    /// The operation after which each bucket is sent: the last one of the layer that completes it, on the first stage.
    ///
    /// Other stages are done earlier, and their traffic would only slow the backward pass that the first stage still
    /// waits for. As Megatron Core does by default, stage `s` starts a chunk's buckets `s` backward blocks after that
    /// chunk's last one, which is about when the first stage does. No stage starts before its last pass through all of
    /// its chunks: see [`Terms::dp_window_s`](crate::core::cost::Terms::dp_window_s).
    fn launches(&self, ops: &StageOps<'_>, buckets: u32) -> Vec<OpId> {
        let backward: Vec<_> = ops
            .blocks
            .iter()
            .filter(|b| b.block.pass == Pass::Backward)
            .collect();
        let last = backward.len().saturating_sub(1);
        let earliest = last.saturating_sub(self.spec.chunks as usize);
        let mut launch = Vec::with_capacity(ops.ready.len());
        let mut own = ops.ready.iter().copied();
        for (position, block) in backward.iter().enumerate().filter(|(_, b)| b.by_layer) {
            let layers = self.spec.chunk_layers(ops.spec, block.block.chunk) as usize;
            let later = (position + ops.stage as usize).max(earliest).min(last);
            let after = backward.get(later).map(|b| b.last);
            let at_once = ops.stage == 0 && position + self.spec.chunks as usize > last;
            for op in own.by_ref().take(layers) {
                launch.push(if at_once { op } else { after.unwrap_or(op) });
            }
        }
        let layers = launch.len() as u32;
        (0..buckets)
            .filter_map(|bucket| {
                let layer = if self.spec.overlap {
                    ((bucket + 1) * layers).div_ceil(buckets)
                } else {
                    layers
                };
                launch.get(layer.saturating_sub(1) as usize).copied()
            })
            .collect()
    }
}
