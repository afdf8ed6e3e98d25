//! The numbers under the plots: errors by set, sizes, what TP8 costs over TP4, and every run.

use super::percent;
use crate::core::validation::{Report, Summary, memory_checks};
use crate::scene::agreement::Filter;
use crate::scene::side::number::{count, fixed};
use crate::ui::state::Shared;
use leptos::prelude::*;

fn share(value: f64) -> String {
    format!("{} %", fixed(value * 100.0, 1))
}

/// Whether it is within its tolerance, in a glyph and a word.
fn verdict(pass: bool) -> impl IntoView {
    let (class, word) = if pass {
        ("ok", "within")
    } else {
        ("off b", "past it")
    };
    view! { <span class=class>{word}</span> }
}

fn cells(summary: Option<&Summary>) -> impl IntoView + use<> {
    let text = |value: Option<String>| value.unwrap_or_else(|| "–".into());
    let mean = text(summary.map(|s| share(s.mean)));
    let median = text(summary.map(|s| share(s.median)));
    let worst = text(summary.map(|s| percent(s.worst)));
    let name = summary.map_or(String::new(), |s| s.worst_id.clone());
    view! {
        <td class="n">{mean}</td>
        <td class="n">{median}</td>
        <td class="n" title=name>
            {worst}
        </td>
    }
}

/// Errors by set, with the constants in use and without the set's source.
#[component]
pub fn Sets(report: RwSignal<Shared<Report>>) -> impl IntoView {
    view! {
        <div class="tablebox">
            <table class="figtable">
                <caption>"Error of the predicted step time, by set of runs"</caption>
                <thead>
                    <tr>
                        <th rowspan="2" scope="col">"Set"</th>
                        <th rowspan="2" scope="col" class="n">"Runs"</th>
                        <th colspan="3" scope="colgroup" class="c">"Fitted constants"</th>
                        <th colspan="3" scope="colgroup" class="c">"Fitted without its source"</th>
                        <th rowspan="2" scope="col">"Allowed: mean, worst"</th>
                    </tr>
                    <tr>
                        {["mean", "median", "worst", "mean", "median", "worst"]
                            .map(|head| view! { <th scope="col" class="n">{head}</th> })
                            .collect_view()}
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        report
                            .with(|report| {
                                report
                                    .sets
                                    .iter()
                                    .map(|set| {
                                        let allowed = format!(
                                            "{} %, {} %: ",
                                            fixed(set.mean_tolerance * 100.0, 0),
                                            fixed(set.worst_tolerance * 100.0, 0),
                                        );
                                        let fallback = (!set.fallback.is_empty())
                                            .then(|| view! { <div class="s m">{set.fallback.clone()}</div> });
                                        view! {
                                            <tr>
                                                <th scope="row">{set.name.clone()} {fallback}</th>
                                                <td class="n">{set.fitted.rows}</td>
                                                {cells(Some(&set.fitted))}
                                                {cells(set.left_out.as_ref())}
                                                <td>{allowed} {verdict(set.pass)}</td>
                                            </tr>
                                        }
                                    })
                                    .collect_view()
                            })
                    }}
                </tbody>
            </table>
        </div>
    }
}

/// Published sizes against ours.
#[component]
pub fn Memory() -> impl IntoView {
    view! {
        <div class="tablebox">
            <table class="figtable">
                <caption>"Memory per GPU, GiB"</caption>
                <thead>
                    <tr>
                        <th scope="col">"What"</th>
                        <th scope="col" class="n">"published"</th>
                        <th scope="col" class="n">"ours"</th>
                        <th scope="col" class="n">"difference"</th>
                        <th scope="col">"Allowed"</th>
                    </tr>
                </thead>
                <tbody>
                    {memory_checks()
                        .into_iter()
                        .map(|check| {
                            let error = check.error();
                            view! {
                                <tr title=check.source>
                                    <th scope="row">{check.what}</th>
                                    <td class="n">{fixed(check.published_gib, 2)}</td>
                                    <td class="n">{fixed(check.predicted_gib, 2)}</td>
                                    <td class="n">{percent(error)}</td>
                                    <td>{check.tolerance} ": " {verdict(check.pass)}</td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </div>
    }
}

/// What TP8 costs over TP4 on one board.
#[component]
pub fn Losses(report: RwSignal<Shared<Report>>) -> impl IntoView {
    view! {
        <div class="tablebox">
            <table class="figtable">
                <caption>"Throughput per GPU lost from TP4 to TP8 on B200"</caption>
                <thead>
                    <tr>
                        <th scope="col">"Runs"</th>
                        <th scope="col" class="n">"published"</th>
                        <th scope="col" class="n">"ours"</th>
                        <th scope="col" class="n">"difference"</th>
                        <th scope="col">"Allowed"</th>
                    </tr>
                </thead>
                <tbody>
                    {move || {
                        report
                            .with(|report| {
                                report
                                    .degree_losses
                                    .iter()
                                    .map(|loss| {
                                        let points = format!(
                                            "{} points",
                                            fixed((loss.predicted - loss.measured) * 100.0, 1),
                                        );
                                        let allowed = format!("{} points: ", fixed(loss.tolerance * 100.0, 0));
                                        view! {
                                            <tr>
                                                <th scope="row">{loss.name.clone()}</th>
                                                <td class="n">{share(loss.measured)}</td>
                                                <td class="n">{share(loss.predicted)}</td>
                                                <td class="n">{points}</td>
                                                <td>{allowed} {verdict(loss.pass)}</td>
                                            </tr>
                                        }
                                    })
                                    .collect_view()
                            })
                    }}
                </tbody>
            </table>
        </div>
    }
}

/// Every run that passes the filter, as text.
#[component]
pub fn Runs(report: RwSignal<Shared<Report>>, filter: RwSignal<Filter>) -> impl IntoView {
    let open = RwSignal::new(false);
    let shown = move || {
        report
            .with(|report| filter.with(|f| report.rows.iter().filter(|row| f.passes(row)).count()))
    };
    view! {
        <details class="runs" on:toggle=move |_| open.update(|open| *open = !*open)>
            <summary>{move || format!("Every run shown, as a table ({})", shown())}</summary>
            <div class="tablebox">
                <table class="figtable">
                    <caption>"Published and predicted step times"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Run"</th>
                            <th scope="col" class="n">"GPUs"</th>
                            <th scope="col" class="n">"published s"</th>
                            <th scope="col" class="n">"predicted s"</th>
                            <th scope="col" class="n">"error"</th>
                            <th scope="col" class="n">"without its source"</th>
                            <th scope="col">"Source"</th>
                        </tr>
                    </thead>
                    <tbody>
                        {move || {
                            // Hundreds of rows are built only when somebody looks.
                            let rows = if open.get() {
                                report.with(|report| filter.with(|f| {
                                    report.rows.iter().filter(|row| f.passes(row)).cloned().collect()
                                }))
                            } else {
                                Vec::new()
                            };
                            rows.into_iter()
                                .map(|row| {
                                    view! {
                                        <tr>
                                            <th scope="row">{row.id}</th>
                                            <td class="n">{count(row.gpus)}</td>
                                            <td class="n">{fixed(row.measured_s, 2)}</td>
                                            <td class="n">{fixed(row.predicted_s, 2)}</td>
                                            <td class="n">{percent(row.error)}</td>
                                            <td class="n">{row.left_out_error.map_or("–".into(), percent)}</td>
                                            <td class="src">{row.source}</td>
                                        </tr>
                                    }
                                })
                                .collect_view()
                        }}
                    </tbody>
                </table>
            </div>
        </details>
    }
}
