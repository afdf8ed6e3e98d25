//! Validation: predicted against published step times and sizes, and what changes when a source is left out.

mod tables;

use super::slices::{Slices, Standing};
use crate::core::validation::{Assessment, Report, Row};
use crate::scene::agreement::{Agreement, Filter, agreement, sets, sources};
use crate::scene::plot::{Ink, Shape, svg};
use crate::scene::side::number::{count, fixed};
use crate::ui::files::save;
use crate::ui::plot::ChartView;
use crate::ui::state::Shared;
use leptos::prelude::*;
use tables::{Losses, Memory, Runs, Sets};
use wasm_bindgen::JsCast;
use web_sys::HtmlSelectElement;

/// A signed percentage of an error.
pub(super) fn percent(error: f64) -> String {
    let text = fixed(error * 100.0, 1);
    if error > 0.0005 {
        format!("+{text} %")
    } else {
        format!("{text} %")
    }
}

/// What the tip says of a run.
fn tip(row: &Row) -> Vec<String> {
    let mut lines = vec![
        row.id.clone(),
        format!("{} GPUs, {}", count(row.gpus), row.class),
        format!(
            "published {} s, predicted {} s",
            fixed(row.measured_s, 2),
            fixed(row.predicted_s, 2)
        ),
        format!("error {}", percent(row.error)),
    ];
    if let Some(error) = row.left_out_error {
        lines.push(format!("error {} without its source", percent(error)));
    }
    lines.push(row.source.clone());
    lines
}

/// The section.
#[component]
pub fn Validation() -> impl IntoView {
    let assessment = StoredValue::new_local(Assessment::new());
    let report = RwSignal::new(Shared::new(assessment.with_value(Assessment::report)));
    let filter = RwSignal::new(Filter::All);
    let slices = Slices::new();
    let start = move || {
        slices.start(move || {
            assessment
                .try_update_value(|work| {
                    let more = work.advance();
                    if !more {
                        report.set(Shared::new(work.report()));
                    }
                    more.then(|| work.progress())
                })
                .flatten()
        });
    };
    // Only when asked: nobody's phone should refit constants for a plot.
    let drawn = Memo::new(move |_| {
        report.with(|report| Shared::new(filter.with(|filter| agreement(report, filter))))
    });
    let focus = RwSignal::new(None::<(usize, usize)>);
    let row_of = move |at: (usize, usize)| -> Option<usize> {
        drawn.with(|drawn| drawn.rows.get(at.0)?.get(at.1).copied())
    };
    let answers = move |at: (usize, usize)| {
        row_of(at).is_some_and(|index| {
            report.with_untracked(|report| {
                report
                    .rows
                    .get(index)
                    .is_some_and(|row| filter.with_untracked(|filter| filter.passes(row)))
            })
        })
    };
    let words = move |at: (usize, usize)| {
        row_of(at)
            .and_then(|index| report.with_untracked(|report| report.rows.get(index).map(tip)))
            .unwrap_or_default()
    };
    let all = move || report.with(|report| summary_words(report));
    view! {
        <section class="figsec" id="fig-validation" aria-labelledby="h-validation">
            <header class="fighead">
                <h2 id="h-validation">"Validation: step time against published runs"</h2>
                <span class="grow"></span>
                <button
                    class="tb line"
                    on:click=move |_| {
                        drawn.with_untracked(|drawn: &Shared<Agreement>| {
                            save("validation.svg", "image/svg+xml", &svg(&drawn.times, &Ink::LIGHT, 720, 440));
                        });
                    }
                >
                    "Save SVG"
                </button>
                <button
                    class="tb line"
                    on:click=move |_| {
                        report.with_untracked(|report| save("validation.csv", "text/csv", &csv(report)));
                    }
                >
                    "Save CSV"
                </button>
            </header>
            <p class="figlead">{all}</p>
            <Filters report filter />
            <div class="twoplots">
                <ChartView
                    chart=Signal::derive(move || drawn.with(|drawn| drawn.times.clone()))
                    height=380.0
                    focus
                    answers
                    tip=words
                    label=Signal::derive(move || format!("Predicted against published step time, {} runs; the table below lists them.", drawn.with(|d| d.shown)))
                />
                <ChartView
                    chart=Signal::derive(move || drawn.with(|drawn| drawn.errors.clone()))
                    height=380.0
                    focus
                    answers
                    tip=words
                    label="Error of the same runs, with a band of 5 % either way"
                />
            </div>
            <p class="fignote">
                "Dotted: exact. Grey band: within 5 % of the published time. The second plot stretches the first one's distance from the dotted line."
            </p>
            <Sets report />
            <div class="runbar">
                {move || match slices.standing.get() {
                    Standing::Waiting => {
                        view! {
                            <button class="tb line" on:click=move |_| start()>
                                "Leave each source out"
                            </button>
                            <span class="m">"Refits the constants without a publication, then predicts it."</span>
                        }
                            .into_any()
                    }
                    Standing::Running(share) => {
                        view! {
                            <progress max="1" value=share.to_string() aria-label="Refits done"></progress>
                            <span>{format!("{} % of the refits done", fixed(share * 100.0, 0))}</span>
                            <button class="tb line" on:click=move |_| slices.stop()>
                                "Stop"
                            </button>
                        }
                            .into_any()
                    }
                    Standing::Stopped => {
                        view! {
                            <button class="tb line" on:click=move |_| start()>
                                "Go on"
                            </button>
                            <span class="m">"Stopped; sources refitted so far are kept."</span>
                        }
                            .into_any()
                    }
                    Standing::Done => {
                        view! {
                            <span class="m">"Every source has been left out once; its column is in the table and in the tips."</span>
                        }
                            .into_any()
                    }
                }}
            </div>
            <div class="twotables">
                <Memory />
                <Losses report />
            </div>
            <Runs report filter />
        </section>
    }
}

/// Chips of the sets, each with its marker, and the choice of one publication.
#[component]
fn Filters(report: RwSignal<Shared<Report>>, filter: RwSignal<Filter>) -> impl IntoView {
    let (names, published) = report.with_untracked(|report| (sets(report), sources(report)));
    let chosen = move |event: web_sys::Event| {
        let select = event
            .target()
            .and_then(|t| t.dyn_into::<HtmlSelectElement>().ok());
        let Some(select) = select else { return };
        let value = select.value();
        filter.set(if value.is_empty() {
            Filter::All
        } else {
            Filter::Source(value)
        });
    };
    view! {
        <div class="figfilter" role="group" aria-label="Runs shown">
            <button
                class="chip"
                aria-pressed=move || (filter.get() == Filter::All).to_string()
                on:click=move |_| filter.set(Filter::All)
            >
                "All"
            </button>
            {names
                .into_iter()
                .map(|(name, shape)| {
                    let of = Filter::Set(name.clone());
                    let same = of.clone();
                    view! {
                        <button
                            class="chip"
                            aria-pressed=move || filter.with(|now| *now == same).to_string()
                            on:click=move |_| {
                                filter.update(|now| *now = if *now == of { Filter::All } else { of.clone() });
                            }
                        >
                            <Mark shape />
                            {name}
                        </button>
                    }
                })
                .collect_view()}
            <label class="fld">
                "Publication"
                <select
                    class="sel"
                    on:change=chosen
                    prop:value=move || match filter.get() {
                        Filter::Source(source) => source,
                        _ => String::new(),
                    }
                >
                    <option value="">"all"</option>
                    {published
                        .into_iter()
                        .map(|source| view! { <option value=source.clone()>{source.clone()}</option> })
                        .collect_view()}
                </select>
            </label>
        </div>
    }
}

/// The marker of a set, as in the plot.
#[component]
fn Mark(shape: Shape) -> impl IntoView {
    let path = match shape {
        Shape::Disc => "M2 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        Shape::TriangleUp => "M6 1.2 10.4 9.6H1.6z",
        Shape::Diamond => "M6 .8 11.2 6 6 11.2.8 6z",
        Shape::Square => "M2.5 2.5h7v7h-7z",
        _ => "M2.5 6a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0z",
    };
    let hollow = matches!(shape, Shape::Square | Shape::Ring);
    view! {
        <svg class="setmark" class:hollow=hollow viewBox="0 0 12 12" aria-hidden="true">
            <path d=path />
        </svg>
    }
}

fn summary_words(report: &Report) -> String {
    let of = |name: &str| report.sets.iter().find(|set| set.name.contains(name));
    let part = |name: &str, words: &str| {
        of(name).map_or(String::new(), |set| {
            format!(
                "{} {words}: {} % off on average, {} % at worst. ",
                set.fitted.rows,
                fixed(set.fitted.mean * 100.0, 1),
                fixed(set.fitted.worst.abs() * 100.0, 0)
            )
        })
    };
    part("all fitted", "runs that the constants were fitted on")
        + &part("never", "runs that they never saw")
}

fn csv(report: &Report) -> String {
    let mut text =
        String::from("id,set,source,gpus,published_s,predicted_s,error,error_without_source\n");
    for row in &report.rows {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let left = row
            .left_out_error
            .map_or(String::new(), |error| error.to_string());
        text += &format!(
            "{},{},{},{},{},{},{},{left}\n",
            quoted(&row.id),
            quoted(&row.set),
            quoted(&row.source),
            row.gpus,
            row.measured_s,
            row.predicted_s,
            row.error
        );
    }
    text
}
