//! The further lines: vocabulary, idle GPUs, step, mini-batch, memory, energy.

use super::Line;
use super::lines::{shape, shard_line};
use crate::core::scenario::Job;
use crate::core::shards::{ShardSummary, TensorKind};
use crate::core::strategy::{Evaluation, Outcome, ReplicaPlan};
use crate::scene::side::number::{bytes, change, count, energy, fixed, gpu_word, power, time};
use crate::scene::side::why::Explanation;

/// The lines, top to bottom.
pub fn more(
    job: &Job,
    evaluation: &Evaluation,
    outcome: &Outcome,
    replica: Option<&ReplicaPlan>,
    shards: Option<&ShardSummary>,
) -> Vec<Line> {
    let runs = |replica: &&ReplicaPlan| replica.local_batch > 0 && !outcome.paused;
    let degree = replica
        .filter(runs)
        .and_then(|replica| replica.degrees.iter().copied().min())
        .unwrap_or(job.placement.tp)
        .max(1);
    let (before, now) = (shape(job, job.placement.tp), shape(job, degree));
    let mut lines = vec![
        shard_line(
            job,
            "Vocabulary rows, worst",
            "vocabulary rows",
            job.model.vocab,
            (before.vocab, now.vocab),
            degree,
        ),
        idle(outcome),
        minibatch(job, outcome),
        step(evaluation, outcome),
        memory(job, evaluation, outcome, replica),
        energy_line(job, evaluation, outcome),
        power_line(evaluation, outcome),
        reshard(outcome),
    ];
    lines.extend(
        shards
            .and_then(|shards| messages(job, shards))
            .into_iter()
            .flatten(),
    );
    lines
}

/// Messages and bytes of the pre-sync inside one healthy replica, against a contiguous re-split.
fn messages(job: &Job, shards: &ShardSummary) -> Option<[Line; 2]> {
    let ffn = shards.get(TensorKind::FfnColumns)?;
    let sent: f64 = shards
        .tensors
        .iter()
        .filter(|tensor| !tensor.replicated)
        .map(|tensor| tensor.sent_bytes.get())
        .sum();
    let each = |number: u32, size: f64| {
        if number == 0 {
            "none".to_owned()
        } else {
            format!("{} × {}", count(u64::from(number)), bytes(size))
        }
    };
    let ours = each(ffn.ntp_messages, ffn.ntp_message_bytes.get());
    let naive = each(ffn.naive_messages, ffn.naive_message_bytes.get());
    let why = Explanation::new(
        "Messages that move one layer's FFN gradients",
        ours.clone(),
        "extra rank i sends its shards to core ranks j: one message a pair",
    )
    .with(
        "degrees",
        format!("{} → {}", shards.tp_base, shards.tp_reduced),
        "of healthy and most reduced replicas",
    )
    .with(
        "NTP",
        ours.clone(),
        "inside the scale-up domain; replicas then match one to one",
    )
    .with(
        "contiguous",
        naive.clone(),
        "a naive re-split: pairs of unlike ranks over the scale-out network",
    )
    .with(
        "columns",
        per_core(ffn.sent_per_core),
        "from an extra rank to each core rank",
    )
    .source("Megatron's shard mapping where it works, a balanced one else; NTP, arXiv 2504.06095");
    let first = Line::new("Messages, FFN layer", String::new(), ours, why)
        .note(Some(format!("naive {naive}")));
    let mut volume = Explanation::new(
        "Gradient bytes the busiest extra rank sends per step",
        bytes(sent),
        "bytes = shards moved × weights per shard × 4 B, over the layers of its stage",
    );
    for tensor in shards.tensors.iter().filter(|tensor| !tensor.replicated) {
        volume = volume.with(tensor.kind.name(), bytes(tensor.sent_bytes.get()), "");
    }
    let volume = volume
        .with(
            "layers",
            job.model
                .layers
                .div_ceil(job.scenario.layout.pp.max(1))
                .to_string(),
            "of the fullest stage",
        )
        .source("fp32 main gradients, Megatron's default; the same comes back after the DP sync");
    let second = Line::new(
        "Sent by an extra rank",
        String::new(),
        if sent > 0.0 {
            bytes(sent)
        } else {
            "nothing".into()
        },
        volume,
    );
    Some([first, second].map(|mut line| {
        line.before = None;
        line
    }))
}

/// `10`, or `10 or 11`.
pub fn per_core((least, most): (u32, u32)) -> String {
    if least == most {
        count(u64::from(most))
    } else if most == least + 1 {
        format!("{least} or {most}")
    } else {
        format!("{least} to {most}")
    }
}

fn idle(outcome: &Outcome) -> Line {
    let number = count(u64::from(outcome.parity_idle_gpus));
    let now = format!("{number} {}", gpu_word(&number));
    let why = Explanation::new("Healthy GPUs idled", now.clone(), "idle = GPUs left − degree, summed over the reduced TP groups")
        .source("Megatron Core README_NONUNIFORM_TP: every reduced replica runs at the worst one's degree, highest local rank idles first");
    let mut line = Line::new("Idle for parity", String::new(), now, why);
    line.before = None;
    line
}

fn minibatch(job: &Job, outcome: &Outcome) -> Line {
    let full = job.scenario.layout.global_batch;
    let now = if outcome.paused { 0 } else { outcome.minibatch };
    let why = Explanation::new(
        "Sequences of one step",
        format!("{full} → {now}"),
        "mini-batch = sum of the local batches of all replicas",
    )
    .with("asked", full.to_string(), "from the scenario")
    .with(
        "dropped",
        outcome.dropped_replicas.to_string(),
        "replicas that deliver nothing",
    )
    .source("Model section 1");
    Line::new(
        "Mini-batch",
        count(u64::from(full)),
        count(u64::from(now)),
        why,
    )
}

fn step(evaluation: &Evaluation, outcome: &Outcome) -> Line {
    let (before, now) = (evaluation.healthy.cost.step_s.get(), outcome.step_s.get());
    let why = Explanation::new(
        "One step of the job",
        time(now),
        "step = the slowest replica's step, resharding included",
    )
    .with("healthy", time(before), "without failures")
    .with(
        "reshard",
        time(outcome.reshard_exposed_s.get()),
        "gradient resharding that lengthens the step",
    )
    .source("Step model, calibrated on published runs");
    let grown = (before > 0.0 && now > 0.0 && (now / before - 1.0).abs() >= 0.000_5)
        .then(|| change(now / before - 1.0));
    if outcome.paused {
        let mut line = Line::new("Step", time(before), "none".into(), why);
        line.note = Some("paused".into());
        return line;
    }
    Line::new("Step", time(before), time(now), why).note(grown)
}

fn reshard(outcome: &Outcome) -> Line {
    let exposed = outcome.reshard_exposed_s.get();
    let step = outcome.step_s.get();
    let share = if step > 0.0 { exposed / step } else { 0.0 };
    let why = Explanation::new(
        "Gradient resharding that shows",
        time(exposed),
        "exposed = contention with compute + what waits for the last bucket",
    )
    .with(
        "share",
        format!("{} %", fixed(share * 100.0, 2)),
        "of the step",
    )
    .source("Model section 4; at most 4 % of backward in the paper's prototype");
    let mut line = Line::new("Reshard exposed", String::new(), time(exposed), why);
    line.before = None;
    line.note(Some(format!("{} % of the step", fixed(share * 100.0, 2))))
}

fn memory(
    job: &Job,
    evaluation: &Evaluation,
    outcome: &Outcome,
    replica: Option<&ReplicaPlan>,
) -> Line {
    let before = evaluation.healthy.cost.memory;
    let running = replica.filter(|replica| replica.local_batch > 0 && !outcome.paused);
    let now = running.map_or(before, |replica| replica.cost.memory);
    let there = job.system.gpu.hbm().gib();
    let gib = |bytes: crate::core::units::Bytes| format!("{} GiB", fixed(bytes.gib(), 1));
    let why = Explanation::new(
        "Memory of the fullest GPU",
        gib(now.total()),
        "sum of all kinds, on the rank and stage that hold most",
    )
    .with("weights", gib(now.weights_bytes), "")
    .with("gradients", gib(now.gradients_bytes), "")
    .with(
        "optimizer",
        gib(now.optimizer_bytes),
        "states and master weights",
    )
    .with(
        "activations",
        gib(now.activations_bytes),
        "kept for the backward pass",
    )
    .with(
        "side gradients",
        gib(now.side_gradients_bytes),
        "held for the extra ranks of healthy replicas",
    )
    .with(
        "buffers",
        gib(now.buffers_bytes),
        "logits, communication, workspace",
    )
    .source("Korthikanti, arXiv 2205.05198, with embeddings, logits and buffers added");
    let mut line = Line::new(
        "Memory, fullest GPU",
        fixed(before.total().gib(), 1),
        fixed(now.total().gib(), 1),
        why,
    );
    line = line.note(Some(format!("of {} GiB", fixed(there, 0))));
    if now.total().gib() > there {
        line = line.flag(Some("does not fit".into()));
    }
    line
}

fn energy_line(job: &Job, evaluation: &Evaluation, outcome: &Outcome) -> Line {
    let before = evaluation.healthy.energy_per_token_j;
    let tokens = f64::from(job.scenario.layout.seq);
    let written = outcome
        .energy_per_token_j
        .map_or_else(|| "none trained".to_owned(), energy);
    let why = Explanation::new(
        "Energy per token trained on",
        written.clone(),
        "energy = power of all occupied GPUs × step / tokens of the step",
    )
    .with(
        "power",
        power(outcome.power_w.get()),
        "boosted, idle and spare GPUs included",
    )
    .with("step", time(outcome.step_s.get()), "one step of the job")
    .with(
        "tokens",
        count((f64::from(outcome.minibatch) * tokens) as u64),
        "mini-batch × sequence length",
    )
    .source("GPU board power only: no cooling, no network");
    let grown = outcome
        .energy_per_token_j
        .filter(|now| before > 0.0 && (now / before - 1.0).abs() >= 0.000_5)
        .map(|now| change(now / before - 1.0));
    Line::new("Energy per token", energy(before), written, why).note(grown)
}

fn power_line(evaluation: &Evaluation, outcome: &Outcome) -> Line {
    let now = power(outcome.power_w.get());
    let why = Explanation::new(
        "Power of all occupied GPUs",
        now.clone(),
        "power = Σ working × p × TDP + Σ benched × idle power",
    )
    .with(
        "healthy",
        power(evaluation.healthy.power_w.get()),
        "the same job without failures",
    )
    .source(
        "Board power of each GPU; benched ones at the idle share of TDP that the model documents",
    );
    Line::new(
        "Power, all GPUs",
        power(evaluation.healthy.power_w.get()),
        now,
        why,
    )
}
