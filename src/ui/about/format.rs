//! The scenario's file and link format.

use crate::core::scenario::{MAX_FAILURES, MAX_GPUS, SLOW_SPEED_RANGE, Scenario};
use crate::scene::side::number::count;
use crate::ui::dom::columns;
use leptos::prelude::*;

/// Field, what it holds, what is allowed.
const FIELDS: [(&str, &str, &str); 32] = [
    ("version", "version of the format", "1"),
    (
        "system",
        "preset id, or an object with the fields of a system",
        "see Hardware",
    ),
    (
        "model",
        "preset id, or an object with the fields of a model",
        "see Models",
    ),
    (
        "layout.tp",
        "tensor-parallel degree",
        "1 to the domain's GPUs",
    ),
    ("layout.pp", "pipeline stages", "1 to the model's layers"),
    ("layout.dp", "data-parallel replicas", "1 to 16,384"),
    ("layout.cp", "context-parallel degree", "1 to 1,024"),
    (
        "layout.vp",
        "interleaved chunks per stage",
        "1 to layers / pp",
    ),
    (
        "layout.microbatch",
        "sequences per micro-batch",
        "1 to 1,024",
    ),
    (
        "layout.global_batch",
        "sequences per step over all replicas",
        "a multiple of dp x microbatch",
    ),
    ("layout.seq", "sequence length, tokens", "1 to 100,000,000"),
    (
        "layout.precision",
        "format of the matrix multiplications",
        "bf16, fp8",
    ),
    (
        "layout.recompute",
        "what the backward pass computes again",
        "none, selective, full",
    ),
    (
        "layout.sequence_parallel",
        "all-gather and reduce-scatter instead of all-reduce",
        "true, false",
    ),
    (
        "layout.overlap",
        "TP and DP communication beside compute",
        "true, false",
    ),
    (
        "failures[].domain",
        "scale-up domain, spare ones after the job's",
        "from 0",
    ),
    ("failures[].gpu", "GPU in the domain", "from 0"),
    (
        "failures[].kind",
        "hardware stays down, software restarts, slow holds its group back",
        "hardware, software, slow",
    ),
    (
        "failures[].speed",
        "speed of a slow GPU, relative to a healthy one",
        "",
    ),
    (
        "failures[].blast_radius",
        "aligned GPUs that go down together",
        "1 to the domain's GPUs",
    ),
    (
        "policy.degrees",
        "reduced TP degrees that are supported",
        "any, or a list",
    ),
    (
        "policy.parity",
        "one degree for all reduced replicas, or one each",
        "one-degree, per-replica",
    ),
    (
        "policy.boost_cap",
        "highest power of a boosted GPU, x TDP",
        "1 to 1.3",
    ),
    (
        "policy.rack_headroom",
        "power a rack can deliver and cool, x TDP of its GPUs",
        "1 to 1.3",
    ),
    (
        "policy.in_domain_spares",
        "GPUs of every domain that in-domain-spares holds back",
        "from 0",
    ),
    (
        "policy.spare_domains",
        "spare domains of every strategy that can use them",
        "from 0",
    ),
    (
        "policy.hot_spare_domains",
        "further spare domains of hot-spares alone",
        "from 0",
    ),
    (
        "policy.fixed_minibatch",
        "pause rather than train on a smaller mini-batch",
        "true, false",
    ),
    (
        "policy.blast_radius",
        "aligned GPUs that go down with one hardware failure",
        "1 to the domain's GPUs",
    ),
    (
        "policy.heads",
        "whether an attention head may be split",
        "whole, even",
    ),
    (
        "faults.causes[]",
        "failure processes over time, for Fleet",
        "absent: the Llama 3 rates",
    ),
    (
        "faults.checkpoint, restart_min, strike",
        "what an interruption costs",
        "",
    ),
];

/// The fields of a scenario file, and the opening scene as one.
#[component]
pub fn ScenarioFormat() -> impl IntoView {
    let (low, high) = SLOW_SPEED_RANGE;
    let allowed = move |name: &str, text: &'static str| match name {
        "failures[].speed" => format!("{low} to {high}"),
        _ => text.to_owned(),
    };
    view! {
        <p>
            "JSON. Every field but version, system and model may be left out; what it means then follows from the system and the model. An unknown field is an error that names it. The command line reads the same files. At most "
            {count(MAX_GPUS)} " GPUs and " {count(MAX_FAILURES as u64)} " failures."
        </p>
        <div class="wide">
            <table>
                <thead>
                    <tr>{columns(&["field", "holds", "allowed"])}</tr>
                </thead>
                <tbody class="words">
                    {FIELDS
                        .map(|(name, holds, text)| {
                            view! {
                                <tr>
                                    <th scope="row">
                                        <code>{name}</code>
                                    </th>
                                    <td>{holds}</td>
                                    <td>{allowed(name, text)}</td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
        <details>
            <summary>"The opening scene as a file"</summary>
            <pre>{Scenario::default_scene().to_json()}</pre>
        </details>
    }
}

/// How links are written.
#[component]
pub fn LinkFormat() -> impl IntoView {
    view! {
        <p>
            "The address holds the whole scene, readable and editable by hand: "
            <code>"#/rack?sys=gb300-nvl72&model=llama3-405b&fail=0.3,5.17"</code>
            ". Failures are "<code>"DOMAIN.GPU"</code>" with commas between; "<code>"0.3-7"</code>" is a run, "
            <code>":sw"</code>" marks software, "<code>":slow0.8"</code>" a slow GPU, "<code>"x4"</code>
            " its own blast radius. "<code>"sys.domain_size=144"</code>" changes one field of a preset. "
            <code>"sel=ntp"</code>" chooses the strategy, "<code>"theme=dark"</code>" the theme, "<code>"talk=1"</code>
            " enlarges everything, "<code>"embed=1"</code>" shows the scene alone, with "
            <code>"show=racks,rows,gantt"</code>" the parts that you name."
        </p>
    }
}
