//! What changed in the worst replica under the selected strategy.

use super::fan::ShardsFan;
use super::power::PowerBars;
use super::verdict::runs;
use crate::scene::side::changed::{Changed, Line, changed};
use crate::ui::state::use_app;
use crate::ui::why::Why;
use leptos::prelude::*;

/// Degree, batch, clock, power, shards: before and now, each number with its "why?".
#[component]
pub fn WhatChanged() -> impl IntoView {
    let app = use_app();
    let all = Memo::new(move |_| changed(&app.job.read(), &app.evaluation.read(), app.selected.get(), &app.views.read()));
    let part = move |read: fn(&Changed) -> String| all.read().as_ref().map(read).unwrap_or_default();
    let main = Memo::new(move |_| all.read().as_ref().map(|all| all.main.clone()).unwrap_or_default());
    let more = Memo::new(move |_| all.read().as_ref().map(|all| all.more.clone()).unwrap_or_default());
    let power = Memo::new(move |_| all.read().as_ref().and_then(|all| all.power.clone()));
    view! {
        <div class="sh">
            <h2>{move || part(|all| all.title.clone())}</h2>
            <span class="m">{move || part(|all| all.aside.clone())}</span>
            <span class="grow"></span>
            <ConfigButton />
        </div>
        <div class="chg">
            <Lines lines=main />
            <div class="chr">
                <PowerBars power />
                {move || {
                    let all = all.read();
                    let warnings = all.as_ref().map(|all| all.warnings.as_slice()).unwrap_or_default();
                    warnings.iter().map(|warning| view! { <WarnChip short=warning.short.clone() why=warning.why.clone() /> }).collect_view()
                }}
            </div>
        </div>
        {move || {
            let all = all.read();
            let slow = all.as_ref().map(|all| all.slow.as_slice()).unwrap_or_default();
            slow.iter().map(|sentence| view! { <p class="slowline">{runs(sentence)}</p> }).collect_view()
        }}
        <ShardsFan />
        <Lines lines=more two=true />
    }
}

/// Lines as a definition list; rebuilt per line only when that line changes.
#[component]
fn Lines(lines: Memo<Vec<Line>>, #[prop(optional)] two: bool) -> impl IntoView {
    let labels = Memo::new(move |_| lines.read().iter().map(|line| line.label).collect::<Vec<_>>());
    view! {
        <dl class="kv" class:two=two>
            {move || {
                labels
                    .get()
                    .into_iter()
                    .map(|label| {
                        let line = Memo::new(move |_| lines.read().iter().find(|line| line.label == label).cloned());
                        view! { <OneLine label line /> }
                    })
                    .collect_view()
            }}
        </dl>
    }
}

#[component]
fn OneLine(label: &'static str, line: Memo<Option<Line>>) -> impl IntoView {
    let now = Signal::derive(move || line.read().as_ref().map(|line| line.now.clone()).unwrap_or_default());
    let explain = Callback::new(move |()| line.get_untracked().map(|line| line.why).unwrap_or_default());
    view! {
        <div class="kvl">
            <dt>{label}</dt>
            <dd>
                {move || line.read().as_ref().and_then(|line| line.before.clone()).map(|before| view! { <span>{before} " →"</span> })}
                <Why class="b" text=now explain />
                {move || line.read().as_ref().and_then(|line| line.note.clone()).map(|note| view! { <span class="m nt">{note}</span> })}
                {move || line.read().as_ref().and_then(|line| line.flag.clone()).map(|flag| view! { <span class="warn">{flag}</span> })}
            </dd>
        </div>
    }
}

/// A warning in a few words; its reason opens on click and on hover.
#[component]
pub fn WarnChip(short: String, why: String) -> impl IntoView {
    let open = RwSignal::new(false);
    view! {
        <div class="warnbox">
            <button
                type="button"
                class="warn"
                title=why.clone()
                aria-expanded=move || open.get().to_string()
                on:click=move |_| open.update(|open| *open = !*open)
            >
                <svg viewBox="0 0 12 12" width="11" height="11" aria-hidden="true">
                    <path d="M6 1 11.5 11H.5zM6 4.5v3M6 9v.6" fill="none" stroke="currentColor" stroke-width="1.3" stroke-linejoin="round" />
                </svg>
                {short}
            </button>
            <Show when=move || open.get()>
                <p class="s">{why.clone()}</p>
            </Show>
        </div>
    }
}

#[component]
fn ConfigButton() -> impl IntoView {}
