//! The question: which, of how many seeds, at what price; run, stop, progress.

use super::lab::Lab;
use crate::core::strategy::StrategyId;
use crate::core::studies::{MAX_STUDY_RUNS, Question};
use crate::scene::side::number::count;
use crate::ui::shell::{Field, Seg, Told};
use leptos::prelude::*;

const QUESTIONS: [(&str, &str); 5] = [
    ("spare-domains", "Spare domains"),
    ("in-domain-spares", "Spares in a domain"),
    ("interval", "Checkpoint interval"),
    ("blast-radius", "Blast radius"),
    ("sensitivity", "Sensitivity"),
];

/// A number of the link; empty where `otherwise` is empty.
fn number(
    lab: Lab,
    label: &'static str,
    key: &'static str,
    title: &'static str,
    (least, most): (f64, f64),
    otherwise: &'static str,
) -> AnyView {
    let given = lab.deck.app.param(key);
    let set = move |text: String| -> Told {
        let text = text.trim().to_owned();
        let whole = key != "price";
        let keep = if text.is_empty() && otherwise.is_empty() {
            None
        } else {
            let number: f64 = text
                .parse()
                .map_err(|_| format!("{text:?} is not a number"))?;
            let fits = (least..=most).contains(&number) && (!whole || number.fract() == 0.0);
            if !fits {
                let kind = if whole { "a whole number, " } else { "" };
                return Err(format!(
                    "{text} is not allowed, expected {kind}{least} to {most}"
                ));
            }
            (text != otherwise).then_some(text)
        };
        lab.deck.app.set_param(key, keep);
        Ok(())
    };
    view! {
        <Field
            label
            title
            value=Signal::derive(move || given.get().unwrap_or_else(|| otherwise.to_owned()))
            set=Callback::new(set)
        />
    }
    .into_any()
}

/// The row of controls and the progress.
#[component]
pub fn Asking(lab: Lab) -> impl IntoView {
    let app = lab.deck.app;
    let (study, rows) = (app.param("study"), app.param("rows"));
    let which = move || {
        let id = study.get();
        let at = QUESTIONS
            .iter()
            .position(|(known, _)| Some(*known) == id.as_deref());
        at.unwrap_or(0) as u32
    };
    let questions: Vec<(u32, String)> = (0u32..)
        .zip(QUESTIONS)
        .map(|(at, (_, words))| (at, words.to_owned()))
        .collect();
    let pick = move |at: u32| {
        let id = QUESTIONS.get(at as usize).map(|(id, _)| (*id).to_owned());
        app.set_param("study", id.filter(|_| at > 0));
    };
    let strategies: Vec<(u32, String)> = StrategyId::ALL
        .iter()
        .map(|id| (*id as u32, id.id().to_owned()))
        .collect();
    let choose = move |at: u32| {
        if let Some(id) = StrategyId::ALL.get(at as usize) {
            app.selected.set(*id);
        }
    };
    let row_words = vec![
        (0u32, "save time".to_owned()),
        (1u32, "failure rate".to_owned()),
    ];
    let row_pick =
        move |at: u32| app.set_param("rows", (at == 1).then(|| "failure-rate".to_owned()));
    let running = move || lab.standing() == "running";
    let stale = move || {
        let same = app
            .job
            .with(|job| lab.scenario.with(|text| *text == job.scenario.to_json()));
        study.track();
        rows.track();
        let asked = lab
            .setup
            .with(|setup| setup.as_ref().map(|setup| setup.question));
        asked.is_some_and(|asked| !same || asked.id() != lab.chosen().id())
    };
    let progress = move || {
        let words = match lab.standing() {
            "idle" | "failed" => return String::new(),
            "stopped" => " runs, stopped",
            _ => " runs",
        };
        let (taken, all) = (count(lab.taken()), count(lab.all()));
        [taken.as_str(), " of ", &all, words].concat()
    };
    view! {
        <div class="scn stbar" role="group" aria-label="Study">
            <Seg label="" options=questions value=Signal::derive(which) pick=Callback::new(pick) />
            {move || {
                match which() {
                    0 => number(lab, "Up to", "most", "Most spare domains", (1.0, 10_000.0), "8"),
                    1 => number(lab, "Up to", "most", "Most GPUs left over in a domain", (1.0, 10_000.0), "8"),
                    2 => {
                        view! {
                            <Seg
                                label="Rows"
                                options=row_words.clone()
                                value=Signal::derive(move || u32::from(rows.get().is_some()))
                                pick=Callback::new(row_pick)
                            />
                        }
                            .into_any()
                    }
                    _ => ().into_any(),
                }
            }}
            {number(lab, "Seeds", "runs", "Seeds per point", (1.0, f64::from(MAX_STUDY_RUNS)), "20")}
            <Seg
                label="For"
                options=strategies
                value=Signal::derive(move || app.selected.get() as u32)
                pick=Callback::new(choose)
            />
            {number(lab, "Price per GPU-hour", "price", "In any currency; empty leaves money out", (0.0, 1e6), "")}
            <button
                class="tb line go"
                on:click=move |_| if running() { lab.stop() } else { lab.run() }
            >
                {move || if running() { "Stop" } else if lab.setup.with(Option::is_some) { "Run again" } else { "Run" }}
            </button>
            <span class="stprog">
                <Show when=running>
                    <progress
                        max="1"
                        value=move || (lab.taken() as f64 / lab.all().max(1) as f64).to_string()
                    ></progress>
                </Show>
                {progress}
            </span>
        </div>
        <Show when=stale>
            <p class="ststale">"These results are of another question or scenario than the one set now; run again."</p>
        </Show>
    }
}

/// Whether a question is about one strategy at a time.
pub const fn of_one(question: Question) -> bool {
    matches!(question, Question::Interval { .. } | Question::Sensitivity)
}
