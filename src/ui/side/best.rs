//! "Find the best layout": the winner, why it wins, the runners-up.

use crate::core::search::SearchRule;
use crate::scene::side::best::{Best, Choice, adopt, best};
use crate::ui::state::use_app;
use leptos::prelude::*;
use std::time::Duration;

/// A search under a rule that can be changed, and its result.
#[component]
pub fn BestLayout() -> impl IntoView {
    let app = use_app();
    let rule = RwSignal::new(SearchRule::default());
    let found = RwSignal::new(None::<Result<Best, String>>);
    let busy = RwSignal::new(false);
    let go = move || {
        busy.set(true);
        // After a frame, so that the button says what goes on.
        set_timeout(
            move || {
                let result = best(&app.job.read_untracked(), &rule.read_untracked())
                    .map_err(|error| error.to_string());
                let _ = found.try_set(Some(result));
                let _ = busy.try_set(false);
            },
            Duration::from_millis(30),
        );
    };
    // A result is about the model, batch and GPUs of then.
    let key = app.part(|scenario| {
        (
            scenario.system.clone(),
            scenario.model.clone(),
            scenario.layout.clone(),
        )
    });
    Effect::new(move |before: Option<()>| {
        key.track();
        if before.is_some() {
            found.set(None);
        }
    });
    let gpus = move || crate::scene::side::number::count(app.job.read().scenario.layout.gpus());
    let check = move |label: &'static str,
                      read: fn(&SearchRule) -> bool,
                      write: fn(&mut SearchRule, bool)| {
        view! {
            <label class="ck">
                <input
                    type="checkbox"
                    prop:checked=move || read(&rule.read())
                    on:change=move |event| {
                        rule.update(|rule| write(rule, event_target_checked(&event)));
                        if found.with_untracked(Option::is_some) {
                            go();
                        }
                    }
                />
                {label}
            </label>
        }
    };
    let end = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        if found.with(Option::is_some)
            && let Some(end) = end.get()
        {
            end.scroll_into_view_with_bool(false);
        }
    });
    view! {
        <div class="bl">
            <button type="button" class="tb line" disabled=busy on:click=move |_| go()>
                {move || if busy.get() { "Searching" } else { "Find the best layout" }}
            </button>
            <span class="m">{move || format!("for {} GPUs, same batch and sequence", gpus())}</span>
        </div>
        <div class="cks">
            {check("context parallelism", |rule| rule.max_cp > 1, |rule, on| rule.max_cp = if on { SearchRule::default().max_cp } else { 1 })}
            {check("interleaving", |rule| rule.max_vp > 1, |rule, on| rule.max_vp = if on { SearchRule::default().max_vp } else { 1 })}
            {check("micro-batches a multiple of PP", |rule| rule.microbatches_multiple_of_pp, |rule, on| rule.microbatches_multiple_of_pp = on)}
            {check("uneven stages", |rule| rule.uneven_stages, |rule, on| rule.uneven_stages = on)}
        </div>
        {move || {
            found
                .get()
                .map(|found| match found {
                    Ok(best) => result(&best).into_any(),
                    Err(error) => view! { <p class="cfg no">{error}</p> }.into_any(),
                })
        }}
        <div node_ref=end></div>
    }
}

fn result(best: &Best) -> impl IntoView + use<> {
    let choices = best
        .choices
        .iter()
        .enumerate()
        .map(|(index, one)| view! { <OneChoice first=index == 0 one=one.clone() /> })
        .collect_view();
    view! {
        {best.nothing_fits.clone().map(|text| view! { <p class="cfg no">{text}</p> })}
        <ol class="choices">{choices}</ol>
        <p class="s m">{best.counts.clone()} ". Rule: " {best.rule.clone()} "."</p>
    }
}

#[component]
fn OneChoice(first: bool, one: Choice) -> impl IntoView {
    let app = use_app();
    let layout = one.layout.clone();
    let take = move |_| {
        let layout = layout.clone();
        let system = app.job.read_untracked().system.clone();
        app.edit(move |scenario| adopt(scenario, &system, layout));
    };
    view! {
        <li class:first=first>
            <div class="c1">
                <b>{one.name}</b>
                <span class="grow"></span>
                <b>{one.step}</b>
                <span class="m">{one.against}</span>
                {if one.present {
                    view! { <span class="m">"in use"</span> }.into_any()
                } else {
                    view! { <button type="button" class="tb line s" on:click=take>"Use it"</button> }.into_any()
                }}
            </div>
            <p class="s m">{one.why} "; " {one.memory}</p>
        </li>
    }
}
