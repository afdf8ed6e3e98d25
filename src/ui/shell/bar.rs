//! Scenario bar: presets, layout, policy, history. Every control shows its error at itself and keeps what was typed.

mod degrees;
mod field;
mod more;
mod pop;
mod presets;
mod seg;
mod slider;

pub use field::{Field, Whole, ungrouped};
pub use pop::Pop;
pub use seg::Seg;

use super::Icon;
use crate::core::scenario::{Parity, ScenarioError};
use crate::scene::rack::reach::radii;
use crate::ui::state::use_app;
use degrees::DegreesControl;
pub use degrees::DegreesField;
use leptos::prelude::*;
use more::More;
pub use more::MoreFields;
pub use presets::PresetLists;
pub use presets::Presets;
use slider::Slider;

/// What an edit did: nothing to say, or why it was refused.
pub type Told = Result<(), String>;

/// An error at its own control needs no path, only the value and what is allowed.
pub fn tell(result: Result<(), ScenarioError>, own: &str) -> Told {
    result.map_err(|error| match error {
        ScenarioError::Field(field) if field.field == own => {
            format!("{} is not allowed, expected {}", field.value, field.allowed)
        }
        other => other.to_string(),
    })
}

/// Presets, layout, policy, history.
#[component]
pub fn ScenarioBar() -> impl IntoView {
    view! {
        <div class="scn" role="group" aria-label="Scenario">
            <Presets />
            <LayoutFields />
            <span class="sep"></span>
            <PolicyFields />
            <More />
            <span class="grow"></span>
            <History />
        </div>
    }
}

/// Undo, redo, reset.
#[component]
pub fn History() -> impl IntoView {
    let app = use_app();
    view! {
        <span class="tools">
            <button
                class="tb"
                aria-label="Undo"
                title="Undo (Ctrl Z)"
                disabled=move || !app.can_travel().0
                on:click=move |_| {
                    app.undo();
                }
            >
                <Icon name="i-undo" />
            </button>
            <button
                class="tb"
                aria-label="Redo"
                title="Redo (Ctrl Shift Z)"
                disabled=move || !app.can_travel().1
                on:click=move |_| {
                    app.redo();
                }
            >
                <Icon name="i-redo" />
            </button>
            <button
                class="tb"
                title="Back to the scene the page opens with"
                on:click=move |_| app.reset()
            >
                "Reset"
            </button>
        </span>
    }
}

/// Blast radius, boost cap, parity, degrees.
#[component]
pub fn PolicyFields() -> impl IntoView {
    view! {
        <BlastRadius />
        <Slider
            label="Boost cap"
            field="policy.boost_cap"
            title="Highest power of a boosted GPU, x TDP"
            read=|s| s.policy.boost_cap
            write=|s, value| s.policy.boost_cap = value
        />
        <ParityControl />
        <DegreesControl />
    }
}

/// TP, PP, DP, batch.
#[component]
pub fn LayoutFields() -> impl IntoView {
    view! {
        <Whole
            label="TP"
            field="layout.tp"
            title="Tensor-parallel degree of a healthy TP group"
            read=|s| s.layout.tp
            write=|s, value| s.layout.tp = value
        />
        <Whole
            label="PP"
            field="layout.pp"
            title="Pipeline stages"
            read=|s| s.layout.pp
            write=|s, value| s.layout.pp = value
        />
        <Whole
            label="DP"
            field="layout.dp"
            title="Data-parallel replicas; each keeps its local batch"
            read=|s| s.layout.dp
            write=|s, value| {
                let local = s.layout.local_batch();
                s.layout.dp = value;
                s.layout.global_batch = local.saturating_mul(value);
            }
        />
        <Whole
            label="batch"
            field="layout.global_batch"
            title="Sequences per step over all replicas (the mini-batch)"
            read=|s| s.layout.global_batch
            write=|s, value| s.layout.global_batch = value
            step=|s| s.layout.dp.saturating_mul(s.layout.microbatch)
        />
    }
}

#[component]
fn BlastRadius() -> impl IntoView {
    let app = use_app();
    let options = Memo::new(move |_| {
        let job = app.job.read();
        radii(
            job.system.tray_gpus,
            job.system.domain_size,
            job.scenario.policy.blast_radius,
        )
    });
    let value = app.part(|s| s.policy.blast_radius);
    view! {
        <Seg
            label="Blast radius"
            title="GPUs that go down with one hardware failure"
            options
            value
            pick=Callback::new(move |radius| app.edit(|s| s.policy.blast_radius = radius))
        />
    }
}

#[component]
fn ParityControl() -> impl IntoView {
    let app = use_app();
    let value = app.part(|s| s.policy.parity);
    let options = Signal::stored(vec![
        (Parity::OneDegree, "one degree".to_owned()),
        (Parity::PerReplica, "per replica".to_owned()),
    ]);
    view! {
        <Seg
            label="Parity"
            title="All reduced replicas share one TP degree (Megatron Core), or each has its own (the paper)"
            options
            value
            pick=Callback::new(move |parity| app.edit(|s| s.policy.parity = parity))
        />
    }
}
