//! Boxes for numbers of the failure processes and of the link.

use crate::scene::side::number::fixed;
use crate::ui::fleet::deck::{Deck, use_deck};
use crate::ui::shell::{Field, ungrouped};
use leptos::prelude::*;
use serde_json::Value;

/// What was refused, where it is about a field.
fn refusal(deck: Deck, field: &'static str) -> Signal<Option<String>> {
    Signal::derive(move || {
        deck.refused.with(|line| {
            let rest = line.as_deref()?.strip_prefix(field)?;
            Some(rest.trim_start_matches(':').trim().to_owned())
        })
    })
}

pub fn parse(text: &str) -> Result<f64, String> {
    match ungrouped(text).parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err(format!("{:?} is not a number", text.trim())),
    }
}

/// As short as it is exact to a thousandth.
pub fn plain(value: f64) -> String {
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
pub fn Number(
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
pub fn RepairHours() -> impl IntoView {
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
pub fn Every() -> impl IntoView {
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
pub fn Param(
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

/// One of a few words of the failure processes.
#[component]
pub fn Choice(
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
