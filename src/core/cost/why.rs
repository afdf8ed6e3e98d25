//! Where each number of a step comes from: formula, values filled in, source.

use super::{Constants, Parts, Replica, Terms, memory, network};
use crate::core::hardware::Precision;
use crate::core::scenario::Recompute;
use crate::core::units::Seconds;
use serde::Serialize;

/// Why a term has the value it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// Field of [`super::StepCost`], such as `compute_s`, or `memory`.
    pub term: &'static str,
    /// Name shown to people.
    pub title: &'static str,
    /// Formula in words and symbols.
    pub formula: String,
    /// The formula with this replica's values.
    pub values: String,
    /// Where formula and values come from.
    pub source: String,
}

fn ms(time: Seconds) -> String {
    let value = time.ms();
    if value >= 100.0 {
        format!("{value:.0} ms")
    } else {
        format!("{value:.3} ms")
    }
}

fn gb(bytes: f64) -> String {
    if bytes >= 1e9 {
        format!("{:.2} GB", bytes / 1e9)
    } else {
        format!("{:.1} MB", bytes / 1e6)
    }
}

/// One explanation for each term of the step and for memory, in the order of [`super::StepCost`].
pub fn explain(replica: &Replica<'_>) -> Vec<Explanation> {
    let constants = Constants::fitted();
    let parts = Parts::new(replica, constants);
    let cost = super::step(replica);
    let t = &parts.terms;
    let mut all = vec![
        compute(replica, &parts, constants),
        tensor(replica, &parts, constants),
    ];
    all.push(pipeline_sends(replica, t, constants));
    all.push(bubble(t, cost.bubble_s));
    all.push(data_parallel(replica, t, cost.dp_exposed_s));
    all.push(context(replica, &parts, constants));
    all.push(Explanation {
        term: "optimizer_s",
        title: "Optimizer",
        formula: "(30 B x parameters / (DP x CP) + 6 B x parameters) / (HBM bandwidth x efficiency)".into(),
        values: format!(
            "{:.3} G parameters on this GPU, DP x CP = {}, {:.2} TB/s x {:.2}: {}",
            own_parameters(&parts, replica) / 1e9,
            replica.layout.dp * replica.layout.cp,
            replica.system.gpu.hbm_tb_s,
            constants.optimizer_hbm_efficiency,
            ms(cost.optimizer_s)
        ),
        source: "distributed Adam: fp32 master weight and two moments read and written, gradient read, bf16 weight written".into(),
    });
    all.push(reshard(replica, t, cost.reshard_exposed_s));
    all.push(other(&parts, cost.other_s, constants));
    all.push(kept(replica, &parts, &cost.memory));
    all
}

fn own_parameters(parts: &Parts<'_>, replica: &Replica<'_>) -> f64 {
    let vocabulary = if replica.layout.pp > 1 { 1.0 } else { 2.0 };
    f64::from(parts.terms.layers_per_stage) * parts.shape.layer_parameters()
        + vocabulary * parts.shape.vocab_parameters()
}

fn compute(replica: &Replica<'_>, parts: &Parts<'_>, constants: &Constants) -> Explanation {
    let (t, gpu, shape) = (&parts.terms, &replica.system.gpu, &parts.shape);
    let table = super::calibration::table_index(gpu);
    let precision = replica.layout.precision;
    let gemms = Seconds(parts.kernels.layer_gemms(shape));
    let recompute = match replica.layout.recompute {
        Recompute::None => String::new(),
        Recompute::Selective | Recompute::Full => {
            format!(" + recompute {}", ms(t.layer.recompute_s))
        }
    };
    Explanation {
        term: "compute_s",
        title: "Compute",
        formula: "micro-batches x layers of the slowest stage x (forward + backward + recompute); a matrix multiplication takes \
                  FLOPs / (peak x share of peak at its narrowest side x training factor x clock), attention the causal half \
                  square, element-wise kernels bytes / HBM bandwidth; no pass of a layer is shorter than the host's launches"
            .into(),
        values: format!(
            "{} x {} layers x (forward {} + backward {}{recompute}); the four multiplications take {} forward at {} x {:.0} TFLOP/s x {:.3} \
             x clock {:.3}; the host needs {} forward{}; slowest rank: {} heads, {} FFN columns, {} tokens",
            t.microbatches,
            t.layers_per_stage,
            ms(t.layer.forward_s),
            ms(t.layer.backward_s),
            ms(gemms),
            super::table_name(gpu),
            gpu.peak(precision).get() / 1e12,
            constants.factor(table, precision),
            replica.perf,
            ms(Seconds(constants.host_forward_s)),
            if t.layer.forward_s.get() + t.layer.forward_tp_s.get() + t.layer.forward_cp_s.get()
                <= constants.host_forward_s * 1.000_001
            {
                ", and that decides"
            } else {
                ""
            },
            shape.heads,
            shape.ffn,
            shape.tokens
        ),
        source: "share of peak: measured GEMM tables (aiconfigurator); training factor: fitted on published runs; peaks: vendor data sheets"
            .into(),
    }
}

fn tensor(replica: &Replica<'_>, parts: &Parts<'_>, constants: &Constants) -> Explanation {
    let (t, layout) = (&parts.terms, replica.layout);
    let bytes = 2.0 * parts.shape.tokens * parts.shape.hidden;
    let formula = if layout.sequence_parallel {
        "micro-batches x layers x visible share of (4 all-gathers + 2 reduce-scatters forward and backward, 2 of each beside the \
         weight-gradient multiplication)"
    } else {
        "micro-batches x layers x visible share of (2 all-reduces forward, 2 backward beside the weight-gradient multiplication)"
    };
    Explanation {
        term: "tp_comm_s",
        title: "TP communication",
        formula: formula.into(),
        values: format!(
            "{} x {} layers x ({} forward + {} backward); {} a collective over {} GPUs; {:.0} % visible{}",
            t.microbatches,
            t.layers_per_stage,
            ms(t.layer.forward_tp_s),
            ms(t.layer.backward_tp_s),
            gb(bytes),
            replica.degree,
            100.0 * if layout.overlap { constants.tp_overlap_exposed } else { 1.0 },
            if layout.overlap { " (overlap on)" } else { "" }
        ),
        source: "measured NCCL times by size and group (aiconfigurator, 2 to 8 GPUs; beyond 8 the same bus bandwidth with the switch's latency)"
            .into(),
    }
}

fn pipeline_sends(replica: &Replica<'_>, t: &Terms, constants: &Constants) -> Explanation {
    Explanation {
        term: "pp_comm_s",
        title: "PP transfers",
        formula: "2 x (PP - 1) x micro-batches / PP (1F1B, at least once) transfers; interleaved: 2 x (PP - 1) and the slow-down by the hidden ones"
            .into(),
        values: format!(
            "PP{}, {} chunks, {} micro-batches; one transfer {} at {:.0} GB/s",
            t.stages,
            t.chunks,
            t.microbatches,
            ms(t.pp_send_s),
            network::pp_bandwidth(replica, constants) / 1e9
        ),
        source: "1F1B holds at most PP micro-batches, so a round trip shows once per PP of them (arXiv 2104.04473)".into(),
    }
}

fn bubble(t: &Terms, bubble: Seconds) -> Explanation {
    Explanation {
        term: "bubble_s",
        title: "Pipeline bubble",
        formula: "(time of the other stages for one micro-batch) / chunks: (PP - 1) / (v x micro-batches) of the work for equal stages".into(),
        values: format!(
            "({} - 1) / ({} x {}) = {:.4} of the work: {}",
            t.stages,
            t.chunks,
            t.microbatches,
            f64::from(t.stages.saturating_sub(1)) / (f64::from(t.chunks.max(1)) * f64::from(t.microbatches.max(1))),
            ms(bubble)
        ),
        source: "arXiv 2104.04473, 1F1B and interleaved schedules".into(),
    }
}

fn data_parallel(replica: &Replica<'_>, t: &Terms, shown: Seconds) -> Explanation {
    let ratio = if replica.sync_degree < replica.degree {
        format!(
            ", {} / {} larger than in a uniform job",
            replica.layout.tp, replica.sync_degree
        )
    } else {
        String::new()
    };
    Explanation {
        term: "dp_exposed_s",
        title: "DP traffic that shows",
        formula: if t.dp_overlap {
            "max(last bucket, reduce-scatter - last backward) + max(first bucket, all-gather - first forward) + contention x hidden rest"
        } else {
            "reduce-scatter of gradients + all-gather of parameters, nothing overlapped"
        }
        .into(),
        values: format!(
            "gradients {}{ratio}, parameters {}, at {:.0} GB/s per GPU; window {} backward, {} forward; {} buckets: {} shows",
            gb(t.gradient_bytes.get()),
            gb(t.parameter_bytes.get()),
            t.dp_bandwidth.get() / 1e9,
            ms(t.dp_window_s()),
            ms(t.gather_window_s()),
            t.buckets,
            ms(shown)
        ),
        source: "Megatron Core distributed optimizer: fp32 gradients reduced, bf16 parameters gathered; adapters shared by the peers of a domain"
            .into(),
    }
}

fn context(replica: &Replica<'_>, parts: &Parts<'_>, constants: &Constants) -> Explanation {
    let (t, shape) = (&parts.terms, &parts.shape);
    let cp = replica.layout.cp;
    Explanation {
        term: "cp_comm_s",
        title: "CP exchange",
        formula: "K and V pass around the CP ring beside attention: max(0, transfer - attention of the later pieces) + latency per step".into(),
        values: format!(
            "CP{cp}: {} forward per layer at {:.0} GB/s; visible {} forward, {} backward",
            gb(4.0 * shape.kv_heads * shape.head_dim * shape.tokens * f64::from(cp.saturating_sub(1))),
            network::cp_bandwidth(replica, constants) / 1e9,
            ms(t.layer.forward_cp_s),
            ms(t.layer.backward_cp_s)
        ),
        source: "ring attention as in Transformer Engine; 15 us a step assumed".into(),
    }
}

fn reshard(replica: &Replica<'_>, t: &Terms, shown: Seconds) -> Explanation {
    Explanation {
        term: "reshard_exposed_s",
        title: "Gradient resharding that shows",
        formula: "pre-sync longer than the window + last bucket's return + returns the last reduction does not cover + contention x hidden all-to-all".into(),
        values: if t.reshard_bytes.get() > 0.0 {
            format!(
                "TP{} syncs at TP{}: {} per extra rank each way at {:.0} GB/s, contention {:.2}: {}",
                replica.degree,
                replica.sync_degree,
                gb(t.reshard_bytes.get()),
                t.alltoall_bandwidth.get() / 1e9,
                t.reshard_contention,
                ms(shown)
            )
        } else {
            "no replica of the job runs at a lower degree: nothing to reshard".into()
        },
        source: "arXiv 2504.06095, sections on resharding and its overlap".into(),
    }
}

fn other(parts: &Parts<'_>, other: Seconds, constants: &Constants) -> Explanation {
    let t = &parts.terms;
    Explanation {
        term: "other_s",
        title: "Vocabulary, loss, host",
        formula: "micro-batches x (embedding or output matrix and loss of the slowest stage) + host time x (1 + doublings of domains)".into(),
        values: format!(
            "{} micro-batches; output and loss {} forward, {} backward; embedding {}; host {} ({} s a doubling): {} together",
            t.microbatches,
            ms(t.head_forward_s),
            ms(t.head_backward_s),
            ms(t.embedding_s),
            ms(t.other_s),
            constants.step_host_s,
            ms(other)
        ),
        source: "output matrix in bf16; fp32 cross-entropy passes counted; host time fitted on published runs".into(),
    }
}

fn kept(replica: &Replica<'_>, parts: &Parts<'_>, m: &super::Memory) -> Explanation {
    let layout = replica.layout;
    let bytes = if layout.precision == Precision::Fp8 {
        "bf16 master copy kept"
    } else {
        "bf16 weights"
    };
    Explanation {
        term: "memory",
        title: "Memory of the fullest GPU",
        formula: "2 B + 4 B per parameter, 12 B / (DP x CP); activations x layers x micro-batches in flight; side gradients 4 B x extra shards / sync \
                  degree; logits and buffers"
            .into(),
        values: format!(
            "{bytes}: weights {:.1}, gradients {:.1}, optimizer {:.1}, activations {:.1} ({:.2} micro-batches in flight), side gradients {:.1}, buffers \
             {:.1} GiB; {:.1} of {:.1} GiB",
            m.weights_bytes.gib(),
            m.gradients_bytes.gib(),
            m.optimizer_bytes.gib(),
            m.activations_bytes.gib(),
            memory::in_flight(layout.pp, layout.vp, parts.terms.microbatches),
            m.side_gradients_bytes.gib(),
            m.buffers_bytes.gib(),
            m.total().gib(),
            replica.system.gpu.hbm().gib()
        ),
        source: "arXiv 2205.05198 formulas; embeddings, logits and buffers checked against measured peaks on B200".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::core::scenario::{HeadSplit, Scenario};
    use crate::core::workload::model;

    #[test]
    fn every_term_is_explained_with_its_values() {
        let scene = Scenario::default_scene();
        let system = system("gb300-nvl72").unwrap();
        let model = model("llama3-405b").unwrap();
        let replica = Replica {
            system,
            model,
            layout: &scene.layout,
            degree: scene.layout.tp,
            sync_degree: scene.layout.tp - 2,
            local_batch: 8,
            perf: 1.0,
            heads: HeadSplit::Whole,
        };
        let all = explain(&replica);
        let json = serde_json::to_value(super::super::step(&replica)).unwrap();
        // Every field of the step but the total and the FLOPs, which are no term.
        let mut fields: Vec<&str> = json
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        fields.retain(|field| !["step_s", "model_flops"].contains(field));
        let mut terms: Vec<&str> = all.iter().map(|e| e.term).collect();
        terms.sort_unstable();
        fields.sort_unstable();
        assert_eq!(terms, fields);
        for e in &all {
            assert!(
                !e.formula.is_empty()
                    && e.values.chars().any(|c| c.is_ascii_digit())
                    && e.source.len() > 10,
                "{e:?}"
            );
        }
        assert!(all.iter().any(|e| e.values.contains("TP72 syncs at TP70")));
    }
}
