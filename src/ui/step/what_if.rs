//! Controls that change the simulated step and nothing else on the page.

use super::model::StepPanel;
use crate::core::timeline::{BUCKET_RANGE_BYTES, FACTOR_RANGE, Settings};
use crate::core::units::Bytes;
use crate::ui::dom;
use leptos::prelude::*;

/// "1.25 GB", "40 MB".
pub fn bucket_text(bytes: Bytes) -> String {
    let gb = bytes.get() / 1e9;
    match gb {
        0.1..10.0 => format!("{gb:.2} GB"),
        10.0.. => format!("{gb:.1} GB"),
        _ => format!("{:.0} MB", gb * 1e3),
    }
}

/// Steps of the bucket slider: twenty a decade, from 10 MB to 100 GB, with 1.25 GB among them.
fn bucket_at(step: f64) -> Bytes {
    let gb = 1.25 * 10_f64.powf(step / 20.0);
    // Three digits, so that the number shown is the number used.
    let digits = 10_f64.powf(2.0 - gb.log10().floor());
    Bytes::from_gb((gb * digits).round() / digits)
}

fn step_of(bytes: Bytes) -> f64 {
    (20.0 * (bytes.get() / 1.25e9).max(1e-9).log10()).round()
}

/// The bucket slider of the head.
#[component]
pub fn Bucket() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let bytes = Memo::new(move |_| panel.settings.read().bucket_bytes);
    let set = move |event: web_sys::Event| {
        if let Ok(step) = event_target_value(&event).parse::<f64>() {
            panel.set(|settings| settings.bucket_bytes = bucket_at(step));
        }
    };
    view! {
        <label class="fld gbucket" title="Largest gradient bucket per rank: exposed time falls with it, then rises when the last bucket cannot hide">
            "Bucket"
            <input
                type="range"
                min="-42"
                max="38"
                step="1"
                aria-valuetext=move || bucket_text(bytes.get())
                prop:value=move || step_of(bytes.get()).to_string()
                on:input=set
            />
            <b class="out">{move || bucket_text(bytes.get())}</b>
        </label>
    }
}

/// One number with a slider and a box; an error of its field stands under it.
#[component]
fn Number(
    label: &'static str,
    /// Name of the field in errors.
    field: &'static str,
    unit: &'static str,
    #[prop(into)] low: Signal<f64>,
    #[prop(into)] high: Signal<f64>,
    /// Slider in powers of ten of the value.
    #[prop(optional)]
    logarithmic: bool,
    #[prop(into)] value: Signal<f64>,
    set: Callback<f64>,
) -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let forth = move |value: f64| {
        if logarithmic {
            value.max(1e-9).log10()
        } else {
            value
        }
    };
    let back = move |at: f64| {
        if logarithmic {
            (10_f64.powf(at) * 100.0).round() / 100.0
        } else {
            at
        }
    };
    let take = move |event: web_sys::Event, slider: bool| {
        if let Ok(number) = event_target_value(&event).parse::<f64>() {
            set.run(if slider { back(number) } else { number });
        }
    };
    let wrong = move || panel.error.get().filter(|error| error.starts_with(field));
    view! {
        <label class="fld">
            <span>{label}</span>
            <input
                type="range"
                min=move || forth(low.get()).to_string()
                max=move || forth(high.get()).to_string()
                step=if logarithmic { "0.05" } else { "1" }
                aria-label=format!("{label}, slider")
                prop:value=move || forth(value.get()).to_string()
                on:input=move |event| take(event, true)
            />
            <input
                class="inp"
                type="number"
                step="any"
                aria-label=label
                aria-invalid=move || wrong().is_some().to_string()
                prop:value=move || value.get().to_string()
                on:change=dom::while_here(move |event| take(event, false))
            />
            <span class="m">{unit}</span>
        </label>
        <Show when=move || wrong().is_some()>
            <p class="err here" role="alert">{wrong}</p>
        </Show>
    }
}

/// What is at its end: possible, but not what the control is for.
fn notes(panel: &StepPanel) -> String {
    let shown = panel.shown.read();
    let Some(view) = shown.as_ref().map(|shown| &shown.view) else {
        return String::new();
    };
    let spec = &view
        .worlds
        .first()
        .map_or(&view.healthy, |world| &world.timeline)
        .spec;
    let batches = spec.replicas.iter().map(|replica| replica.microbatches);
    let notes = [
        (
            spec.buckets(spec.shown_stage) == 1,
            "The bucket holds all gradients of a rank, so none is sent before the last is ready. ",
        ),
        (
            batches.max() == Some(1),
            "One micro-batch: stages never work at the same time. ",
        ),
        (spec.stages() == 1, "One stage: no pipeline and no bubble. "),
    ];
    notes
        .iter()
        .filter(|note| note.0)
        .map(|note| note.1)
        .collect()
}

/// All the other controls.
#[component]
pub fn WhatIf() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let settings = panel.settings;
    let job = panel.app.job;
    let batch = Memo::new(move |_| {
        let job = job.read();
        let layout = &job.scenario.layout;
        f64::from(
            layout
                .local_batch()
                .div_ceil(layout.microbatch.max(1))
                .max(1),
        )
    });
    let lost = Memo::new(move |_| {
        let shown = panel.shown.read();
        let replicas = shown
            .as_ref()
            .map(|shown| &shown.view)
            .into_iter()
            .flat_map(|view| &view.worlds);
        let lowest = replicas
            .flat_map(|world| &world.timeline.spec.replicas)
            .flat_map(|replica| &replica.stages)
            .map(|stage| stage.degree)
            .min();
        let tp = job.read().scenario.layout.tp;
        f64::from(tp - lowest.unwrap_or(tp).min(tp))
    });
    let tp = Memo::new(move |_| f64::from(job.read().scenario.layout.tp));
    let stages = Memo::new(move |_| f64::from(job.read().scenario.layout.pp.max(1)));
    let (low, high) = FACTOR_RANGE;
    let whole = |value: f64| value.round().clamp(0.0, f64::from(u32::MAX)) as u32;
    view! {
        <p class="m s">"What if? The scenario stays as it is."</p>
        <Number
            label="NVLink"
            field="timeline.nvlink_factor"
            unit="× bandwidth"
            low=Signal::stored(low.max(0.1))
            high=Signal::stored(high.min(10.0))
            logarithmic=true
            value=Signal::derive(move || settings.read().nvlink_factor)
            set=Callback::new(move |value| panel.set(|s| s.nvlink_factor = value))
        />
        <Number
            label="Scale-out"
            field="timeline.scaleout_factor"
            unit="× bandwidth"
            low=Signal::stored(low.max(0.1))
            high=Signal::stored(high.min(10.0))
            logarithmic=true
            value=Signal::derive(move || settings.read().scaleout_factor)
            set=Callback::new(move |value| panel.set(|s| s.scaleout_factor = value))
        />
        <Number
            label="Micro-batches"
            field="timeline.microbatches"
            unit="per step"
            low=Signal::stored(1.0)
            high=Signal::derive(move || (4.0 * batch.get()).min(4096.0))
            value=Signal::derive(move || settings.read().microbatches.map_or_else(|| batch.get(), f64::from))
            set=Callback::new(move |value: f64| panel.set(|s| s.microbatches = Some(whole(value))))
        />
        <Number
            label="GPUs lost"
            field="timeline.spares"
            unit="of the first TP group"
            low=Signal::stored(0.0)
            high=Signal::derive(move || (tp.get() - 1.0).clamp(1.0, 16.0))
            value=Signal::derive(move || settings.read().spares.map_or_else(|| lost.get(), f64::from))
            set=Callback::new(move |value: f64| panel.set(|s| s.spares = Some(whole(value))))
        />
        <Number
            label="Stage shown"
            field="timeline.stage"
            unit="from 0"
            low=Signal::stored(0.0)
            high=Signal::derive(move || (stages.get() - 1.0).max(0.0))
            value=Signal::derive(move || f64::from(settings.read().stage))
            set=Callback::new(move |value: f64| panel.set(|s| s.stage = whole(value)))
        />
        <Number
            label="Bucket"
            field="timeline.bucket_bytes"
            unit="GB"
            low=Signal::stored(BUCKET_RANGE_BYTES.0 / 1e8)
            high=Signal::stored(100.0)
            logarithmic=true
            value=Signal::derive(move || settings.read().bucket_bytes.get() / 1e9)
            set=Callback::new(move |value| panel.set(|s| s.bucket_bytes = Bytes::from_gb(value)))
        />
        <p class="m s" role="status">{move || notes(&panel)}</p>
        <button class="tb line" on:click=move |_| panel.set(|s| *s = Settings::default())>
            "As in the scenario"
        </button>
    }
}

/// Whether any control is moved.
pub fn moved(settings: &Settings) -> bool {
    !settings.keeps_job() || settings.stage != 0
}
