//! The panel's head: views, legend, search, controls, files.

use super::export::{save_png, save_svg, save_trace};
use super::model::StepPanel;
use super::perfetto;
use super::what_if::{Bucket, WhatIf, moved};
use crate::scene::gantt::{Chip, Mode, step_through};
use crate::ui::shell::Pop;
use leptos::html::Input;
use leptos::prelude::*;

/// Title, views, legend and controls.
#[component]
pub fn Head() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let talk = StoredValue::new_local(None);
    view! {
        <div class="gh">
            <h2>"One step"</h2>
            <Views />
            <div class="gchips" role="group" aria-label="Kinds shown">
                {Chip::ALL.map(|chip| view! { <ChipButton chip /> }).collect_view()}
            </div>
            <Search />
            <span class="grow"></span>
            <Bucket />
            <Pop
                face=move || view! { <span class:dot=move || moved(&panel.settings.read())>"What if"</span> }
                class="tb line"
                name=Signal::stored("What if: bandwidth, micro-batches, GPUs lost".to_owned())
                panel="gwhat"
            >
                <WhatIf />
            </Pop>
            <Pop face=|| "Save" class="tb line" name=Signal::stored("Save the step as a file".to_owned()) panel="gsave">
                <button class="tb" on:click=move |_| save_trace(&panel)>"Trace (JSON)"</button>
                <button class="tb" on:click=move |_| save_svg(&panel)>"Picture (SVG)"</button>
                <button class="tb" on:click=move |_| save_png(&panel)>"Picture (PNG)"</button>
            </Pop>
            <button class="tb line" aria-label="Open in Perfetto" on:click=move |_| perfetto::open(&panel, talk)>
                <span class="glong">"Open in"</span>
                "Perfetto"
            </button>
            <button
                class="tb gq"
                aria-label="Keys of the timeline"
                aria-expanded=move || panel.help.get().to_string()
                on:click=move |_| panel.help.update(|help| *help = !*help)
            >
                "?"
            </button>
        </div>
    }
}

/// Streams of one GPU, pipelines, or both.
#[component]
fn Views() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let toggle = move |change: fn(Mode) -> Mode| {
        let now = untrack(|| panel.mode());
        let then = change(now);
        // One of them stays.
        if then.streams || then.pipeline {
            panel.mode.set(Some(then));
            panel.scroll.set(0.0);
        }
    };
    let over_time = move |shown: bool| (shown && !panel.terms.get()).to_string();
    let pick = move |change: fn(Mode) -> Mode| {
        if panel.terms.get_untracked() {
            panel.terms.set(false);
        } else {
            toggle(change);
        }
    };
    view! {
        <span class="seg gviews" role="group" aria-label="Views">
            <button
                aria-pressed=move || over_time(panel.mode().streams)
                title="Streams of one GPU of each replica"
                on:click=move |_| pick(|m| Mode { streams: !m.streams, ..m })
            >
                "streams"
            </button>
            <button
                aria-pressed=move || over_time(panel.mode().pipeline)
                title="Blocks of every stage of each replica"
                on:click=move |_| pick(|m| Mode { pipeline: !m.pipeline, ..m })
            >
                "pipeline"
            </button>
            <button
                aria-pressed=move || panel.terms.get().to_string()
                title="The step by term, every number with its why"
                on:click=move |_| panel.terms.update(|terms| *terms = !*terms)
            >
                "terms"
            </button>
        </span>
    }
}

/// Colour and pattern of a chip.
fn swatch(chip: Chip) -> (&'static str, &'static str) {
    match chip {
        Chip::Forward => ("var(--k-fwd)", "stroke:var(--k-fwd-edge);stroke-width:.8"),
        Chip::Backward => ("var(--k-bwd)", ""),
        Chip::Tp => ("var(--k-tp)", ""),
        Chip::Pre => ("url(#p-pre)", ""),
        Chip::Dp => ("url(#p-dp)", ""),
        Chip::Post => ("url(#p-post)", ""),
        Chip::Pp => ("url(#p-pp)", ""),
        Chip::Optimizer => ("url(#p-opt)", ""),
        Chip::Exposed => ("url(#p-exp)", ""),
        Chip::Idle => ("url(#p-idle)", "stroke:var(--line2);stroke-dasharray:3 2"),
        Chip::Ghost => ("var(--k-fwd-edge)", "opacity:.3"),
    }
}

/// One kind of the legend; a click hides or shows it.
#[component]
fn ChipButton(chip: Chip) -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let (fill, style) = swatch(chip);
    view! {
        <button
            class="gchip"
            aria-pressed=move || (!panel.hidden.read().has(chip)).to_string()
            title=format!("Hide or show {}", chip.name())
            on:click=move |_| panel.hidden.update(|hidden| *hidden = hidden.toggled(chip))
        >
            <svg viewBox="0 0 16 10" aria-hidden="true">
                <rect x=".4" y=".4" width="15.2" height="9.2" rx="1" fill=fill style=style />
            </svg>
            {chip.name().trim_end_matches(" reshard")}
            {chip.name().ends_with(" reshard").then(|| view! { <span class="glong">" reshard"</span> })}
        </button>
    }
}

/// The search line, open after `/`.
#[component]
fn Search() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let node = NodeRef::<Input>::new();
    Effect::new(move |_| {
        if panel.searching.get()
            && let Some(input) = node.get()
        {
            let _ = input.focus();
        }
    });
    let keys = move |event: web_sys::KeyboardEvent| {
        match event.key().as_str() {
            "Enter" => {
                let found = panel.found.get_untracked().unwrap_or_default();
                if let Some(spot) = step_through(&found, panel.selected_now(), !event.shift_key()) {
                    panel.go(spot);
                }
            }
            "Escape" => {
                panel.query.set(String::new());
                panel.searching.set(false);
            }
            _ => return,
        }
        event.prevent_default();
        event.stop_propagation();
    };
    let count = move || {
        panel
            .found
            .read()
            .as_ref()
            .map(|found| format!("{} found", found.len()))
    };
    view! {
        <Show when=move || panel.searching.get()>
            <label class="fld gsearch">
                <input
                    class="inp"
                    type="search"
                    node_ref=node
                    placeholder="dp sync bucket 3"
                    aria-label="Search spans"
                    prop:value=move || panel.query.get()
                    on:input=move |event| panel.query.set(event_target_value(&event))
                    on:keydown=keys
                />
                <span class="m" role="status">{count}</span>
            </label>
        </Show>
    }
}
