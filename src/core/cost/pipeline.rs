//! From the pieces of a step to the step: pipeline, data parallelism, resharding.

use super::{StepCost, Terms};
use crate::core::units::Seconds;

impl Terms {
    /// Whether a stage holds one layer fewer than the fullest: the last, then the first, then from the end inwards, so
    /// that vocabulary and embedding sit with the shorter stages.
    pub fn short_stage(&self, stage: u32) -> bool {
        let short = self.short_stages;
        match short {
            0 => false,
            1 => stage + 1 == self.stages,
            _ => stage == 0 || stage < self.stages && stage + short > self.stages,
        }
    }
    /// Layers of a stage.
    pub fn layers_of(&self, stage: u32) -> u32 {
        self.layers_per_stage
            .saturating_sub(u32::from(self.short_stage(stage)))
    }
    /// Busy time of a stage for one micro-batch: compute, TP and CP, vocabulary where it has it.
    pub fn stage_s(&self, stage: u32) -> Seconds {
        let mut time = self.layer_s() * f64::from(self.layers_of(stage));
        if stage == 0 {
            time += self.embedding_s;
        }
        if stage + 1 == self.stages {
            time += self.head_forward_s + self.head_backward_s;
        }
        time
    }
    /// One layer forward and backward, everything visible included.
    pub fn layer_s(&self) -> Seconds {
        let l = &self.layer;
        l.forward_s
            + l.backward_s
            + l.recompute_s
            + l.forward_tp_s
            + l.backward_tp_s
            + l.forward_cp_s
            + l.backward_cp_s
    }
    /// Compute part of [`Terms::layer_s`].
    pub fn layer_compute_s(&self) -> Seconds {
        self.layer.forward_s + self.layer.backward_s + self.layer.recompute_s
    }
    /// Busy times of the slowest stage and of all stages together, and which stage is slowest.
    fn stage_extremes(&self) -> (u32, Seconds, Seconds) {
        let stages = self.stages.max(1);
        let full = self.layer_s() * f64::from(self.layers_per_stage);
        let middle_short = u64::from(self.short_stages.saturating_sub(2));
        let middle = u64::from(stages.saturating_sub(2));
        let mut total = full * middle as f64 - self.layer_s() * middle_short as f64;
        let (first, last) = (self.stage_s(0), self.stage_s(stages - 1));
        total += first;
        if stages > 1 {
            total += last;
        }
        let mut slowest = (0, first);
        if stages > 1 && last.get() > slowest.1.get() {
            slowest = (stages - 1, last);
        }
        if middle > middle_short && full.get() > slowest.1.get() {
            slowest = (1, full);
        }
        (slowest.0, slowest.1, total)
    }
    /// Time beside which the gradient reduction can hide: the last micro-batch's backward pass on the fullest stage.
    ///
    /// An interleaved schedule finishes its first chunk earlier, but published interleaved runs grow with DP as if it did
    /// not: stages start their reductions together.
    pub fn dp_window_s(&self) -> Seconds {
        let l = &self.layer;
        (l.backward_s + l.recompute_s + l.backward_tp_s + l.backward_cp_s)
            * f64::from(self.layers_per_stage)
    }
    /// The same for the parameter all-gather: the first micro-batch's forward pass.
    pub fn gather_window_s(&self) -> Seconds {
        let l = &self.layer;
        (l.forward_s + l.forward_tp_s + l.forward_cp_s) * f64::from(self.layers_per_stage)
    }

    /// Adds the pieces up.
    ///
    /// Pipeline: n micro-batches on the slowest stage, plus the other stages once (divided by the chunks when
    /// interleaved): (p-1)/(v n) of the work for equal stages. Transfers: twice per stage border for fill and drain, and
    /// without interleaving once more per p micro-batches, because 1F1B holds at most p of them. An interleaved schedule
    /// hides the rest beside compute, which it slows; without overlap every send blocks.
    pub fn step(&self) -> StepCost {
        let n = f64::from(self.microbatches.max(1));
        let chunks = f64::from(self.chunks.max(1));
        let borders = f64::from(self.stages.saturating_sub(1));
        let (slowest, stage, total) = self.stage_extremes();
        let layers = f64::from(self.layers_of(slowest)) * n;
        let l = &self.layer;
        let ends = stage - self.layer_s() * f64::from(self.layers_of(slowest));
        let compute = self.layer_compute_s() * layers;
        let tp = (l.forward_tp_s + l.backward_tp_s) * layers;
        let cp = (l.forward_cp_s + l.backward_cp_s) * layers;
        let bubble = (total - stage) / chunks;
        let steady = match (self.chunks > 1, self.sends_block) {
            // Every p micro-batches the chain goes once through all stages and back. What the other stages have to spare
            // against the slowest hides it.
            (false, _) => {
                let rounds = (n / f64::from(self.stages.max(1)) - 1.0).max(0.0);
                let spare = stage * f64::from(self.stages) - total;
                (self.pp_send_s * (2.0 * borders) - spare).max(Seconds::ZERO) * rounds
            }
            (true, true) => self.pp_send_s * (2.0 * n * chunks),
            (true, false) => self.pp_send_s * (2.0 * n * chunks * self.traffic_contention),
        };
        let pp = if borders > 0.0 {
            self.pp_send_s * (2.0 * borders) + steady
        } else {
            Seconds::ZERO
        };
        let (dp, reshard) = self.exposed();
        let other = ends * n + self.other_s;
        let step = compute + tp + cp + bubble + pp + dp + reshard + self.optimizer_s + other;
        StepCost {
            step_s: step,
            compute_s: compute,
            tp_comm_s: tp,
            pp_comm_s: pp,
            bubble_s: bubble,
            dp_exposed_s: dp,
            cp_comm_s: cp,
            optimizer_s: self.optimizer_s,
            reshard_exposed_s: reshard,
            other_s: other,
            ..StepCost::default()
        }
    }

    /// What DP traffic and resharding add to the step.
    ///
    /// With overlap, buckets reduce as the last backward pass makes them ready: the last one always shows, the rest where
    /// it is longer than the window; hidden traffic slows compute by the contention factor. Pre-sync all-to-alls hide in
    /// the same window and behind what shows of the reductions they feed; each bucket's return waits for its reduction, so the last one shows and the others show where
    /// the last reduction is too short to cover them.
    fn exposed(&self) -> (Seconds, Seconds) {
        // Not the whole number of buckets: a larger last one must not hide more than a smaller one.
        let share = self.bucket_share.clamp(1e-6, 1.0);
        let buckets = 1.0 / share;
        let reduce =
            self.gradient_bytes / self.dp_bandwidth.at_least_one() + self.dp_latency_s * buckets;
        let gather = if self.parameter_bytes.get() > 0.0 {
            self.parameter_bytes / self.dp_bandwidth.at_least_one() + self.dp_latency_s * buckets
        } else {
            Seconds::ZERO
        };
        let (reduce, gather) = if self.gradient_bytes.get() > 0.0 {
            (reduce, gather)
        } else {
            (Seconds::ZERO, Seconds::ZERO)
        };
        let move_s = if self.reshard_bytes.get() > 0.0 {
            self.reshard_bytes / self.alltoall_bandwidth.at_least_one()
                + self.alltoall_latency_s * buckets
        } else {
            Seconds::ZERO
        };
        if !self.dp_overlap {
            return (reduce + gather, move_s * 2.0);
        }
        // Compute slowed by traffic that outlasts it costs nothing: the traffic sets the pace then.
        let slowed = share + (1.0 - share) * self.traffic_contention;
        let shown = |time: Seconds, window: Seconds| (time * slowed).max(time - window);
        let dp = shown(reduce, self.dp_window_s()) + shown(gather, self.gather_window_s());
        let shown_reduce = (reduce * share).max(reduce - self.dp_window_s());
        let last = reduce * share;
        let pre = (move_s - self.dp_window_s() - shown_reduce).max(Seconds::ZERO);
        let back = move_s * share + (move_s * (1.0 - share) - last).max(Seconds::ZERO);
        let contention = (move_s - pre).max(Seconds::ZERO) * self.reshard_contention;
        (
            dp,
            if move_s.get() > 0.0 {
                pre + back + contention
            } else {
                Seconds::ZERO
            },
        )
    }
}
