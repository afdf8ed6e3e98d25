//! What changed in the worst replica under the selected strategy.

use super::fan::ShardsFan;
use super::power::PowerBars;
use super::verdict::runs;
use crate::core::shards::{ShardSummary, summarize};
use crate::core::strategy::StrategyId;
use crate::scene::side::changed::{Changed, Line, changed, degrees};
use crate::scene::side::config::config;
use crate::ui::shell::Icon;
use crate::ui::state::{App, Shared, use_app};
use crate::ui::why::Why;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;

/// What changed, computed once for the parts of the column that show it.
#[derive(Clone, Copy)]
pub struct Changes {
    shards: Memo<Option<Shared<ShardSummary>>>,
    all: Memo<Option<Changed>>,
}

impl Changes {
    /// Follows scenario and selected strategy.
    pub fn follow(app: App) -> Self {
        let shards = shards(app);
        let all = Memo::new(move |_| {
            let shards = shards.read();
            changed(
                &app.job.read(),
                &app.evaluation.read(),
                app.selected.get(),
                &app.views.read(),
                shards.as_deref(),
            )
        });
        Self { shards, all }
    }

    /// A memo of one part.
    fn part<T: Default + Clone + PartialEq + Send + Sync + 'static>(
        self,
        read: fn(&Changed) -> T,
    ) -> Memo<T> {
        let all = self.all;
        Memo::new(move |_| all.read().as_ref().map(read).unwrap_or_default())
    }
}

/// Degree, batch, clock, power, shards: before and now, each number with its "why?".
#[component]
pub fn WhatChanged(
    /// What changed.
    changes: Changes,
) -> impl IntoView {
    let app = use_app();
    let written = RwSignal::new(None);
    // What was copied is about the failures of then.
    Effect::new(move |_| {
        app.job.track();
        written.set(None);
    });
    let main = changes.part(|all| all.main.clone());
    let power = changes.part(|all| all.power.clone());
    let warnings = changes.part(|all| all.warnings.clone());
    let slow = changes.part(|all| all.slow.clone());
    let title = changes.part(|all| all.title.clone());
    let aside = changes.part(|all| all.aside.clone());
    view! {
        <div class="sh">
            <h2>{title}</h2>
            <span class="m">{aside}</span>
            <span class="grow"></span>
            <ConfigButton text=written />
        </div>
        {move || {
            written
                .get()
                .map(|text: Result<String, String>| match text {
                    Ok(text) => view! { <pre class="cfg" tabindex="0">{text}</pre> }.into_any(),
                    Err(reason) => view! { <p class="cfg no">{reason}</p> }.into_any(),
                })
        }}
        <div class="chg">
            <Lines lines=main />
            <div class="chr">
                <PowerBars power />
                {move || {
                    let warnings = warnings.get().into_iter();
                    warnings
                        .map(|warning| view! { <WarnChip short=warning.short why=warning.why /> })
                        .collect_view()
                }}
            </div>
        </div>
        {move || {
            slow.read()
                .iter()
                .map(|sentence| view! { <p class="slowline">{runs(sentence)}</p> })
                .collect_view()
        }}
        <ShardsFan shards=changes.shards />
    }
}

/// The further lines: vocabulary, messages, step, memory, energy.
#[component]
pub fn MoreLines(
    /// What changed.
    changes: Changes,
) -> impl IntoView {
    let more = changes.part(|all| all.more.clone());
    view! { <Lines lines=more more=true /> }
}

/// Lines as a definition list; rebuilt per line only when that line changes.
#[component]
fn Lines(lines: Memo<Vec<Line>>, #[prop(optional)] more: bool) -> impl IntoView {
    let labels = Memo::new(move |_| {
        lines
            .read()
            .iter()
            .map(|line| line.label)
            .collect::<Vec<_>>()
    });
    view! {
        <dl class="kv" class:more=more>
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
    let now = Signal::derive(move || {
        line.read()
            .as_ref()
            .map(|line| line.now.clone())
            .unwrap_or_default()
    });
    let explain = Callback::new(move |()| {
        line.get_untracked()
            .map(|line| line.why)
            .unwrap_or_default()
    });
    // What has just changed is outlined for a second where nothing may move.
    let fresh = RwSignal::new(false);
    Effect::new(move |before: Option<String>| {
        let now = now.get();
        if before.is_some_and(|before| before != now) {
            fresh.set(true);
            set_timeout(
                move || {
                    let _ = fresh.try_set(false);
                },
                std::time::Duration::from_secs(1),
            );
        }
        now
    });
    view! {
        <div class="kvl" class:fresh=fresh>
            <dt>{label}</dt>
            <dd>
                {move || {
                    let before = line.read().as_ref().and_then(|line| line.before.clone());
                    before.map(|before| view! { <span>{before} " →"</span> })
                }}
                <Why class="b" text=now explain />
                {move || {
                    let note = line.read().as_ref().and_then(|line| line.note.clone());
                    note.map(|note| view! { <span class="m nt">{note}</span> })
                }}
                {move || {
                    let flag = line.read().as_ref().and_then(|line| line.flag.clone());
                    flag.map(|flag| view! { <span class="warn">{flag}</span> })
                }}
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

/// The shard maps between the highest and lowest running degree; made again only when model or degrees change.
fn shards(app: App) -> Memo<Option<Shared<ShardSummary>>> {
    let key = Memo::new(move |_| {
        let (job, evaluation) = (app.job.read(), app.evaluation.read());
        let outcome = evaluation.get(app.selected.get())?;
        let layers = job.model.layers.div_ceil(job.scenario.layout.pp.max(1));
        Some((job.model.clone(), layers, degrees(&job, outcome)))
    });
    Memo::new(move |_| {
        let key = key.read();
        let (model, layers, (full, lowest)) = key.as_ref()?;
        summarize(model, *layers, *full, *lowest)
            .ok()
            .map(Shared::new)
    })
}

/// Copies the `NonuniformTPConfig(...)` of what is shown, and shows it.
#[component]
fn ConfigButton(text: RwSignal<Option<Result<String, String>>>) -> impl IntoView {
    let app = use_app();
    let copied = RwSignal::new(false);
    let copy = move |_| {
        if text.with_untracked(Option::is_some) {
            text.set(None);
            return;
        }
        let evaluation = app.evaluation.get_untracked();
        // Other strategies reduce nothing: theirs is what nonuniform TP would do.
        let own = app.selected.get_untracked();
        let id = if own == StrategyId::Ntp {
            own
        } else {
            StrategyId::NtpPw
        };
        let written = evaluation.get(id).map_or_else(
            || Err("nothing to configure".into()),
            |outcome| config(&app.job.read_untracked(), outcome),
        );
        copied.set(false);
        if let Ok(written) = &written {
            copy_text(written, copied);
        }
        text.set(Some(written));
    };
    view! {
        <button
            type="button"
            class="tb line s cfgb"
            aria-expanded=move || text.read().is_some().to_string()
            title="Copy the configuration for Megatron Core"
            on:click=copy
        >
            <Icon name="i-copy" />
            {move || if text.read().is_some() && copied.get() { "Copied" } else { "NonuniformTPConfig" }}
        </button>
    }
}

/// Puts text on the clipboard; `copied` says whether that worked (a page in an iframe may not).
fn copy_text(text: &str, copied: RwSignal<bool>) {
    let promise = window().navigator().clipboard().write_text(text);
    // The page may have moved on by then.
    let done = Closure::once(move |_: JsValue| {
        let _ = copied.try_set(true);
    });
    let refused = Closure::once(|_: JsValue| {});
    let _ = promise.then2(&done, &refused);
    // A few bytes a click, freed with the page: only one of the two is ever called.
    done.forget();
    refused.forget();
}
