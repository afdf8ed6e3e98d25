//! Settings of the fleet: what runs, what fails, what the operator does about it. Bad input is told at its control.

use super::deck::{Deck, use_deck};
use super::logs::DropLog;
use crate::core::scenario::Job;
use crate::scene::side::number::{count, fixed};
use crate::ui::radio::{Radio, arrows};
use crate::ui::shell::{Field, History, Pop, Presets, Told, Whole, ungrouped};
use leptos::prelude::*;
use serde_json::Value;

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

/// What was refused, where it is about a field.
fn refusal(deck: Deck, field: &'static str) -> Signal<Option<String>> {
    Signal::derive(move || {
        deck.refused.with(|line| {
            let rest = line.as_deref()?.strip_prefix(field)?;
            Some(rest.trim_start_matches(':').trim().to_owned())
        })
    })
}

fn parse(text: &str) -> Result<f64, String> {
    match ungrouped(text).parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("{:?} is not a number", text.trim())),
    }
}

/// As short as it is exact to a thousandth.
fn plain(value: f64) -> String {
    let text = fixed(value, 3);
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    text.to_owned()
}

/// A number of the failure processes.
#[component]
fn Number(
    /// Word before the box.
    label: &'static str,
    /// Says more on hover.
    title: &'static str,
    /// Where it is in the JSON.
    pointer: &'static str,
    /// Its path, as errors name it.
    field: &'static str,
) -> impl IntoView {
    let deck = use_deck();
    let value = Memo::new(move |_| deck.faults().pointer(pointer).and_then(Value::as_f64));
    let set = move |text: String| {
        let number = parse(&text)?;
        let mut faults = deck.faults();
        if let Some(slot) = faults.pointer_mut(pointer) {
            *slot = number.into();
            deck.set_faults(faults);
        }
        Ok(())
    };
    view! {
        <Field
            label
            title
            value=Signal::derive(move || value.get().map_or_else(|| "…".to_owned(), plain))
            set=Callback::new(set)
            told=refusal(deck, field)
        />
    }
}

/// Mean repair time of hardware, over all its causes.
#[component]
fn RepairHours() -> impl IntoView {
    let deck = use_deck();
    let value = Memo::new(move |_| {
        let faults = deck.faults();
        let mut means =
            hardware(&faults).filter_map(|cause| cause.pointer("/repair/mean_h")?.as_f64());
        let first = means.next();
        let same = means.all(|mean| Some(mean) == first);
        match first {
            Some(first) if same => plain(first),
            Some(_) => "mixed".to_owned(),
            None => "–".to_owned(),
        }
    });
    let set = move |text: String| {
        let hours = parse(&text)?;
        let mut faults = deck.faults();
        for cause in causes_mut(&mut faults).filter(|cause| is_hardware(cause)) {
            let Some(repair) = cause.get_mut("repair") else {
                continue;
            };
            let old = repair.get("mean_h").and_then(Value::as_f64);
            let median = repair.get("median_h").and_then(Value::as_f64);
            if let (Some(old), Some(median)) = (old, median) {
                // The same shape, longer or shorter.
                repair["median_h"] = (median * hours / old.max(1e-9)).into();
            }
            if old.is_some() {
                repair["mean_h"] = hours.into();
            } else {
                *repair = serde_json::json!({"kind": "fixed", "mean_h": hours});
            }
        }
        deck.set_faults(faults);
        Ok(())
    };
    let told = Signal::derive(move || {
        deck.refused.with(|line| {
            let line = line.as_deref()?;
            let at = line.find(".repair.")?;
            Some(line.get(at + 1..)?.to_owned())
        })
    });
    view! {
        <Field
            label="Repair h"
            title="Mean time until failed hardware is back, hours"
            value=Signal::derive(move || value.get())
            set=Callback::new(set)
            told
        />
    }
}

fn hardware(faults: &Value) -> impl Iterator<Item = &Value> {
    let causes = faults.get("causes").and_then(Value::as_array);
    causes
        .into_iter()
        .flatten()
        .filter(|cause| is_hardware(cause))
}

fn is_hardware(cause: &Value) -> bool {
    let word = |name: &str| cause.get(name).and_then(Value::as_str) == Some("hardware");
    word("kind") && cause.get("takes_out").and_then(Value::as_bool) == Some(true)
}

fn causes_mut(faults: &mut Value) -> impl Iterator<Item = &mut Value> {
    let causes = faults.get_mut("causes").and_then(Value::as_array_mut);
    causes.into_iter().flatten()
}

/// The checkpoint interval: minutes, `young` or `daly`.
#[component]
fn Every() -> impl IntoView {
    let deck = use_deck();
    let value = Memo::new(
        move |_| match deck.faults().pointer("/checkpoint/every_min") {
            Some(Value::String(formula)) => formula.clone(),
            Some(minutes) => minutes.as_f64().map_or_else(String::new, plain),
            None => "…".to_owned(),
        },
    );
    let set = move |text: String| {
        let text = text.trim().to_lowercase();
        let every: Value = match text.as_str() {
            "young" | "daly" => text.into(),
            _ => parse(&text)
                .map_err(|_| format!("{text:?} is not allowed, expected minutes, young or daly"))?
                .into(),
        };
        let mut faults = deck.faults();
        if let Some(slot) = faults.pointer_mut("/checkpoint/every_min") {
            *slot = every;
            deck.set_faults(faults);
        }
        Ok(())
    };
    let note = move || {
        deck.run.with(|run| {
            let head = &run.as_ref()?.head;
            Some(
                [
                    "Young ",
                    &plain(head.young_min?.round()),
                    ", Daly ",
                    &plain(head.daly_min?.round()),
                    " min",
                ]
                .concat(),
            )
        })
    };
    view! {
        <span class="fevery" title=move || ["Compute time between checkpoints: minutes, young or daly. ", &note().unwrap_or_default()].concat()>
            <Field
                label="Checkpoint min"
                value=Signal::derive(move || value.get())
                set=Callback::new(set)
                told=refusal(deck, "faults.checkpoint.every_min")
            />
        </span>
    }
}

/// A number of the link.
#[component]
fn Param(
    /// Word before the box.
    label: &'static str,
    /// Key in the link.
    key: &'static str,
    /// Says more on hover.
    title: &'static str,
    /// Above this.
    least: f64,
    /// At most this.
    most: f64,
    /// Whole numbers only, from `least` on.
    whole: bool,
    /// What a link without it means.
    otherwise: &'static str,
) -> impl IntoView {
    let deck = use_deck();
    let given = deck.app.param(key);
    let set = move |text: String| {
        let number = parse(&text)?;
        let fits = number <= most
            && if whole {
                number >= least && number.fract() == 0.0
            } else {
                number > least
            };
        if !fits {
            let expected = if whole {
                "a whole number from 0 on".to_owned()
            } else {
                format!("above {least}, at most {most}")
            };
            return Err(format!(
                "{} is not allowed, expected {expected}",
                text.trim()
            ));
        }
        let text = number.to_string();
        deck.app.set_param(key, (text != otherwise).then_some(text));
        Ok(())
    };
    let step = move |by: i32| {
        let now: f64 = deck
            .given(key)
            .and_then(|text| text.parse().ok())
            .or_else(|| otherwise.parse().ok())
            .unwrap_or(1.0);
        set((now + f64::from(by)).to_string())
    };
    view! {
        <Field
            label
            title
            value=Signal::derive(move || given.get().unwrap_or_else(|| otherwise.to_owned()))
            set=Callback::new(set)
            step=Callback::new(step)
        />
    }
}

/// Named failure processes, and the causes one by one.
#[component]
fn Failures() -> impl IntoView {
    let deck = use_deck();
    // The preset whose causes are in force.
    let current = Memo::new(move |_| {
        let causes = deck.faults().get("causes").cloned();
        deck.presets.with(|presets| {
            let same = presets.iter().find(|preset| {
                let own: Option<Value> = serde_json::from_str(&preset.faults).ok();
                own.and_then(|own| own.get("causes").cloned()) == causes
            });
            same.map(|preset| (preset.id.clone(), preset.name.clone()))
        })
    });
    let name = move || {
        if deck.replay.get().is_some() {
            return deck
                .log
                .with(|log| log.as_ref().map(|log| log.name.clone()))
                .unwrap_or_default();
        }
        current
            .get()
            .map_or_else(|| "own causes".to_owned(), |(_, name)| name)
    };
    let face = move || {
        view! {
            <span class="cut">{name}</span>
            <svg class="cv" viewBox="0 0 8 8" aria-hidden="true">
                <use href="#i-cv" />
            </svg>
        }
    };
    let pick = move |faults: String| {
        let Ok(preset) = serde_json::from_str::<Value>(&faults) else {
            return;
        };
        let mut faults = deck.faults();
        if let (Some(slot), Some(causes)) = (faults.get_mut("causes"), preset.get("causes")) {
            *slot = causes.clone();
        }
        deck.replay.set(None);
        deck.set_faults(faults);
    };
    view! {
        <span class="fld">
            "Failures"
            <Pop face name=Signal::derive(move || ["Failures: ", &name()].concat()) panel="ffail-pop">
                <div class="opts" role="radiogroup" aria-label="Failure processes" on:keydown=arrows>
                    {move || {
                        deck.presets
                            .get()
                            .into_iter()
                            .enumerate()
                            .map(|(index, preset)| {
                                let first = index == 0;
                                let (id, faults) = (preset.id.clone(), preset.faults.clone());
                                let on = Signal::derive(move || current.with(|current| current.as_ref().is_some_and(|(own, _)| *own == id)));
                                // None is on where the numbers were changed.
                                let stop = Signal::derive(move || on.get() || (first && current.with(Option::is_none)));
                                view! {
                                    <Radio on stop title=preset.source pick=Callback::new(move |()| pick(faults.clone()))>
                                        {preset.name}
                                    </Radio>
                                }
                            })
                            .collect_view()
                    }}
                </div>
                <Causes />
            </Pop>
        </span>
    }
}

/// Every cause with the numbers that matter most.
#[component]
fn Causes() -> impl IntoView {
    let deck = use_deck();
    let number = move |index: usize, pointer: &'static str| {
        let value = deck
            .faults()
            .get("causes")
            .and_then(|causes| causes.get(index)?.pointer(pointer)?.as_f64());
        let set = move |event: web_sys::Event| {
            let text = event_target_value(&event);
            match parse(&text) {
                Ok(number) => {
                    let mut faults = deck.faults();
                    let slot = faults
                        .get_mut("causes")
                        .and_then(|causes| causes.get_mut(index)?.pointer_mut(pointer));
                    if let Some(slot) = slot {
                        *slot = number.into();
                        deck.set_faults(faults);
                    }
                }
                Err(line) => deck.refused.set(Some(line)),
            }
        };
        view! {
            <td>
                <input class="inp" class:long=true inputmode="decimal" disabled=value.is_none() prop:value=value.map(plain) on:change=set />
            </td>
        }
    };
    let rows = move || {
        let faults = deck.faults();
        let causes = faults
            .get("causes")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        causes
            .into_iter()
            .take(24)
            .enumerate()
            .map(|(index, cause)| {
                let word = |name: &str| {
                    cause
                        .get(name)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .to_owned()
                };
                view! {
                    <tr>
                        <th scope="row" title=word("name")>{word("name")}</th>
                        <td>{word("scope")}</td>
                        {number(index, "/mtbf_h")}
                        {number(index, "/weight")}
                        {number(index, "/detect_min")}
                        {number(index, "/repair/mean_h")}
                    </tr>
                }
            })
            .collect_view()
    };
    view! {
        <div class="fcauses">
            <table>
                <thead>
                    <tr>
                        <th>"Cause"</th>
                        <th>"strikes a"</th>
                        <th>"MTBF, h"</th>
                        <th>"weight"</th>
                        <th>"detection, min"</th>
                        <th>"repair, h"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
        {move || deck.refused.get().map(|line| view! { <p class="err here" role="alert">{line}</p> })}
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

/// One of a few words of the failure processes.
#[component]
fn Choice(
    /// Word before it.
    label: &'static str,
    /// Where it is in the JSON.
    pointer: &'static str,
    /// Values and their words.
    options: &'static [(&'static str, &'static str)],
) -> impl IntoView {
    let deck = use_deck();
    let value = Memo::new(move |_| {
        deck.faults()
            .pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    });
    view! {
        <label class="fld">
            {label}
            <select
                class="sel"
                on:change=move |event| {
                    let mut faults = deck.faults();
                    if let Some(slot) = faults.pointer_mut(pointer) {
                        *slot = event_target_value(&event).into();
                        deck.set_faults(faults);
                    }
                }
            >
                {options
                    .iter()
                    .map(|(id, words)| {
                        view! {
                            <option value=*id selected=move || value.with(|value| value.as_deref() == Some(*id))>
                                {*words}
                            </option>
                        }
                    })
                    .collect_view()}
            </select>
        </label>
    }
}
