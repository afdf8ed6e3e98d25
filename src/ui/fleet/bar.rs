//! Settings of the fleet: what runs, what fails, what the operator does about it. Bad input is told at its control.

mod failures;
mod fields;

use super::deck::{Deck, use_deck};
use super::logs::DropLog;
use crate::core::scenario::Job;
use crate::scene::side::number::count;
use crate::ui::shell::{Field, History, Pop, Presets, Told, Whole, ungrouped};
use failures::Failures;
use fields::{Choice, Every, Number, Param, RepairHours};
use leptos::prelude::*;

/// Sizes offered beside the box.
const SIZES: [(u64, &str); 4] = [
    (1_024, "1K"),
    (8_192, "8K"),
    (32_768, "32K"),
    (100_000, "100K"),
];

/// The settings, in one row that wraps.
#[component]
pub fn FleetBar() -> impl IntoView {
    view! {
        <div class="scn fbar" role="group" aria-label="Fleet settings">
            <Presets />
            <Size />
            <Whole label="TP" field="layout.tp" title="Tensor-parallel degree of a healthy TP group" read=|s| s.layout.tp write=|s, value| s.layout.tp = value />
            <Whole label="PP" field="layout.pp" title="Pipeline stages" read=|s| s.layout.pp write=|s, value| s.layout.pp = value />
            <span class="sep"></span>
            <Failures />
            <Number
                label="×"
                title="Factor on every failure rate"
                pointer="/rate_multiplier"
                field="faults.rate_multiplier"
            />
            <RepairHours />
            <Whole
                label="Spare domains"
                field="policy.spare_domains"
                title="Spare domains that every strategy which can use them holds"
                read=|s| s.policy.spare_domains
                write=|s, value| s.policy.spare_domains = value
                least=0
            />
            <Whole
                label="Held back"
                field="policy.in_domain_spares"
                title="GPUs of every domain that in-domain-spares holds back"
                read=|s| s.policy.in_domain_spares
                write=|s, value| s.policy.in_domain_spares = value
                least=0
            />
            <Every />
            <Param label="Days" key="days" title="Length of the run, days" least=0.0 most=3650.0 whole=false otherwise="15" />
            <Param label="Seed" key="seed" title="Another seed, another draw of failures" least=0.0 most=9e15 whole=true otherwise="1" />
            <More />
            <span class="grow"></span>
            <History />
            <DropLog />
        </div>
    }
}

/// GPUs of one replica, whole domains counted.
fn replica_gpus(job: &Job) -> u64 {
    let placement = &job.placement;
    let (groups, per_domain) = (
        u64::from(placement.groups_per_replica),
        u64::from(placement.slots_per_domain.max(1)),
    );
    (groups * u64::from(placement.domain_size))
        .div_ceil(per_domain)
        .max(1)
}

fn resize(deck: Deck, gpus: u64) -> Told {
    let one = deck.app.job.with_untracked(|job| replica_gpus(job));
    let replicas = (gpus / one).max(1).min(u64::from(u32::MAX)) as u32;
    crate::ui::shell::tell(
        deck.app.try_edit(|s| {
            let local = s.layout.local_batch();
            s.layout.dp = replicas;
            s.layout.global_batch = local.saturating_mul(replicas);
        }),
        "layout.dp",
    )
}

#[component]
fn Size() -> impl IntoView {
    let deck = use_deck();
    let gpus = Memo::new(move |_| {
        let job = deck.app.job.read();
        u64::from(job.placement.domains) * u64::from(job.placement.domain_size)
    });
    let error = RwSignal::new(None::<String>);
    let set = move |text: String| match ungrouped(&text).parse::<u64>() {
        Ok(wanted) if wanted > 0 => resize(deck, wanted),
        _ => Err(format!("{:?} is not a whole number above 0", text.trim())),
    };
    let step = move |by: i32| {
        let one = deck.app.job.with_untracked(|job| replica_gpus(job));
        let now = gpus.get_untracked();
        resize(
            deck,
            if by > 0 {
                now + one
            } else {
                now.saturating_sub(one).max(one)
            },
        )
    };
    view! {
        <Field
            label="GPUs"
            title="GPUs of the job: as many replicas as fit (DP)"
            wide=true
            value=Signal::derive(move || count(gpus.get()))
            set=Callback::new(set)
            step=Callback::new(step)
            told=Signal::derive(move || error.get())
        />
        <span class="seg fsizes" role="group" aria-label="Fleet size">
            {SIZES
                .map(|(size, name)| {
                    let on = move || {
                        let one = deck.app.job.with(|job| replica_gpus(job));
                        gpus.get() == (size / one).max(1) * one
                    };
                    view! {
                        <button
                            aria-pressed=move || on().to_string()
                            on:click=move |_| error.set(resize(deck, size).err())
                        >
                            {name}
                        </button>
                    }
                })
                .collect_view()}
        </span>
    }
}

/// What is changed less often.
#[component]
fn More() -> impl IntoView {
    let deck = use_deck();
    let face = || view! { "More" };
    view! {
        <Pop face name="More fleet settings" class="tb" panel="stack fmore">
            <Number label="Save takes, min" title="Time until a checkpoint is finished" pointer="/checkpoint/takes_min" field="faults.checkpoint.takes_min" />
            <Choice label="Save" pointer="/checkpoint/mode" options=&[("blocking", "blocking"), ("async", "asynchronous")] />
            <Number label="Stall, min" title="Asynchronous: how long the job stands still for the snapshot" pointer="/checkpoint/stall_min" field="faults.checkpoint.stall_min" />
            <Number label="Restart, min" title="From detection until the job computes again" pointer="/restart_min" field="faults.restart_min" />
            <Number label="Cold spares, min" title="Extra time when a restart brings new spare domains in" pointer="/spare_start_min" field="faults.spare_start_min" />
            <Choice label="Start" pointer="/start" options=&[("cold", "all new"), ("steady", "steady state")] />
            <Choice label="Strikes" pointer="/strike" options=&[("always", "always"), ("while-running", "while running")] />
            <Choice
                label="Take back"
                pointer="/take_back"
                options=&[("if-it-pays", "if it pays"), ("next-restart", "next restart"), ("next-checkpoint", "next save")]
            />
            <Whole label="Hot spares" field="policy.hot_spare_domains" title="Spare domains that hot-spares alone holds" read=|s| s.policy.hot_spare_domains write=|s, value| s.policy.hot_spare_domains = value least=0 />
            <Whole label="Blast radius" field="policy.blast_radius" title="GPUs that go down with one hardware failure" read=|s| s.policy.blast_radius write=|s, value| s.policy.blast_radius = value />
            <label class="fld">
                "Fixed mini-batch: pause rather than shrink it"
                <input
                    type="checkbox"
                    prop:checked=move || deck.app.scenario(|s| s.policy.fixed_minibatch)
                    on:change=move |event| {
                        let on = event_target_checked(&event);
                        deck.app.edit(move |s| s.policy.fixed_minibatch = on);
                    }
                />
            </label>
        </Pop>
    }
}
