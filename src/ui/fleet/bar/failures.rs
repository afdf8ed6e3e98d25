//! Which failures strike: named processes, and their causes one by one.

use super::fields::{parse, plain};
use crate::ui::dom;
use crate::ui::fleet::deck::use_deck;
use crate::ui::radio::{Radio, arrows};
use crate::ui::shell::Pop;
use leptos::prelude::*;
use serde_json::Value;

/// Named failure processes, and the causes one by one.
#[component]
pub fn Failures() -> impl IntoView {
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
                <input class="inp" class:long=true inputmode="decimal" disabled=value.is_none() prop:value=value.map(plain) on:change=dom::while_here(set) />
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
