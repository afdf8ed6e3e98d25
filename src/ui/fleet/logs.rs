//! Failure logs: dropped or picked, read in the worker, shown as a panel that says how the log met the cluster.

use super::deck::{Deck, Log, use_deck};
use crate::scene::fleet::pace;
use crate::scene::side::number::{count, fixed};
use crate::ui::files;
use crate::ui::later::{Programs, ReadFile};
use crate::ui::shell::{Icon, Pop};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{DragEvent, HtmlInputElement};

/// Names of the logs that ship with the page, as the worker counts them.
const EXAMPLES: [(&str, &str); 3] = [
    ("failures.csv", "own CSV"),
    ("failures-infinitehbd.json", "InfiniteHBD events"),
    ("failures-kernel.log", "kernel log with Xid lines"),
];

/// Takes a file: a scenario where it is one, else a log.
fn take(deck: Deck, read_file: ReadFile, file: web_sys::File) {
    let Ok(head) = file.slice_with_f64_and_f64(0.0, 64.0) else {
        return;
    };
    let head = gloo::file::Blob::from(head);
    let reading = gloo::file::callbacks::read_as_bytes(&head, move |bytes| {
        let first = bytes
            .unwrap_or_default()
            .into_iter()
            .find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0xef | 0xbb | 0xbf));
        // The page may have been left meanwhile.
        if deck.run.try_get_untracked().is_none() {
            return;
        }
        if first == Some(b'{') {
            files::open(deck.app, read_file, file.clone());
        } else {
            deck.read_log(file.clone(), false);
        }
    });
    // It must live until it has been heard; then it is a few bytes.
    std::mem::forget(reading);
}

/// A button that opens a picker, and the examples; the whole page takes drops.
#[component]
pub fn DropLog() -> impl IntoView {
    let deck = use_deck();
    let read_file = expect_context::<Programs>().read_file;
    let picker = NodeRef::<html::Input>::new();
    let over = RwSignal::new(false);
    let listen = [
        window_event_listener(ev::dragover, move |event: DragEvent| {
            event.prevent_default();
            if !over.get_untracked() {
                over.set(true);
            }
        }),
        window_event_listener(ev::dragleave, move |event: DragEvent| {
            // Only when the pointer leaves the window.
            if event.related_target().is_none() {
                over.set(false);
            }
        }),
    ];
    // Before the page's own drop, which takes scenarios.
    let drop = StoredValue::new_local(Some(files::capture_drop(move |file| {
        over.set(false);
        take(deck, read_file, file);
    })));
    on_cleanup(move || {
        listen
            .into_iter()
            .for_each(leptos::prelude::WindowListenerHandle::remove);
        if let Some(Some(end)) = drop.try_update_value(Option::take) {
            end();
        }
    });
    let chosen = move |event: web_sys::Event| {
        let Some(input) = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlInputElement>().ok())
        else {
            return;
        };
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            take(deck, read_file, file);
        }
        input.set_value("");
    };
    let open = RwSignal::new(false);
    let face = || {
        view! {
            <Icon name="i-open" />
            "Drop a failure log"
        }
    };
    view! {
        <Pop face name="Failure log" class="tb fdrop" panel="flogs" open>
            <p>"Drop a log anywhere on this page, or"</p>
            <button
                class="tb line"
                on:click=move |_| {
                    if let Some(input) = picker.get_untracked() {
                        input.click();
                    }
                    open.set(false);
                }
            >
                "Choose a file"
            </button>
            <p class="m">"Own CSV, InfiniteHBD JSON or kernel log, gzipped or not. It is read on this machine and stays here. Examples:"</p>
            {EXAMPLES
                .into_iter()
                .enumerate()
                .map(|(index, (name, what))| {
                    view! {
                        <button
                            class="tb"
                            on:click=move |_| {
                                open.set(false);
                                deck.read_example(index, name);
                            }
                        >
                            <b>{name}</b>
                            <span class="m">{what}</span>
                        </button>
                    }
                })
                .collect_view()}
        </Pop>
        <input type="file" id="log-picker" hidden node_ref=picker on:change=chosen />
        <Show when=move || over.get()>
            <div class="fover" aria-hidden="true">
                "Drop a failure log, or a scenario file"
            </div>
        </Show>
    }
}

/// Progress, errors, and the report of a log.
#[component]
pub fn Desk() -> impl IntoView {
    let deck = use_deck();
    let working = move || {
        deck.busy.get().map(|busy| {
            let share = fixed(busy.share * 100.0, 0);
            view! {
                <div class="fbusy" role="status">
                    <span>{busy.what}</span>
                    <span class="bar">
                        <i style=["width:", &share, "%"].concat()></i>
                    </span>
                    <span class="n">{share.clone()} " %"</span>
                    <button class="tb line" id="stop" on:click=move |_| deck.stop()>
                        "Stop"
                    </button>
                </div>
            }
        })
    };
    let wrong = move || {
        deck.wrong.get().map(|line| {
            let broken = line.starts_with("log line") && deck.has_file();
            view! {
                <div class="fwrong" role="alert">
                    <Icon name="i-warn" />
                    <span>{line}</span>
                    <Show when=move || broken>
                        <button class="tb line" on:click=move |_| deck.read_leniently()>
                            "Leave broken lines out"
                        </button>
                    </Show>
                    <button class="tb" on:click=move |_| deck.wrong.set(None)>
                        "Close"
                    </button>
                </div>
            }
        })
    };
    let limit = move || {
        deck.run.with(|run| {
            let run = run.as_ref()?;
            let limit = run.head.limit.clone()?;
            let (end, wanted) = (pace::days(run.recording.end), pace::days(run.head.wanted));
            Some(view! {
                <div class="fwrong" role="status">
                    <Icon name="i-warn" />
                    <span>
                        {[&limit, ": the run ends at day ", &end, " of ", &wanted, ", and what is shown is of that part."].concat()}
                    </span>
                </div>
            })
        })
    };
    view! {
        <div class="fdesk">
            {working} {wrong} {limit} {move || deck.log.get().map(|log| view! { <Report log=log.clone() /> })}
        </div>
    }
}

#[component]
fn Report(
    /// The log.
    log: crate::ui::state::Shared<Log>,
) -> impl IntoView {
    let deck = use_deck();
    let report = &log.report;
    let facts: Vec<(String, &'static str)> = [
        (report.read.lines, "lines"),
        (report.read.used, "used"),
        (report.read.skipped, "broken, left out"),
        (report.read.ignored, "of no interest"),
        (report.read.unknown, "of unknown type"),
        (report.read.out_of_order, "out of order, sorted in"),
        (report.map.used_failures, "failures replayed"),
        (
            report.map.unknown_failures,
            "failures of nodes the cluster does not have",
        ),
        (
            report.map.merged_failures,
            "failures of what was out already, merged",
        ),
        (
            report.map.drawn_durations,
            "with a repair time drawn from the settings",
        ),
        (report.map.unfinished, "outages not over at the end"),
        (report.map.slow_as_failed, "slow, taken as failed"),
    ]
    .into_iter()
    .enumerate()
    .filter(|(at, (value, _))| *value > 0 || *at < 2)
    .map(|(_, (value, words))| (count(value), words))
    .collect();
    let span = [
        &pace::span(report.map.span_h),
        ", ",
        &count(u64::from(report.map.nodes)),
        " nodes; on average ",
        &fixed(report.map.mean_units_down, 2),
        " units down, at most ",
        &count(u64::from(report.map.max_units_down)),
    ]
    .concat();
    let fit = report.fit_dp.map(|dp| {
        let needed = count(u64::from(report.map.domains_needed));
        let have = count(u64::from(report.domains));
        let out = count(report.map.unknown_failures);
        view! {
            <div class="ffit">
                <span>
                    {["The log needs ", &needed, " domains, this cluster has ", &have, ": ", &out, " failures would be left out."].concat()}
                </span>
                <button
                    class="tb pri"
                    on:click=move |_| {
                        let fitted = deck
                            .app
                            .try_edit(|s| {
                                let local = s.layout.local_batch();
                                s.layout.dp = dp;
                                s.layout.global_batch = local.saturating_mul(dp);
                            });
                        match fitted {
                            Ok(()) => deck.place_log(),
                            Err(error) => deck.wrong.set(Some(error.to_string())),
                        }
                    }
                >
                    {["Fit the cluster: DP ", &count(u64::from(dp))].concat()}
                </button>
                <button class="tb line" on:click=move |_| deck.replay.update(|n| *n = Some(n.map_or(1, |n| n + 1)))>
                    "Replay what fits"
                </button>
            </div>
        }
    });
    let places = (!report.map.placement.is_empty()).then(|| {
        let rows: Vec<String> = report
            .map.placement
            .iter()
            .map(|place| {
                let (node, domain, first) = (place.node, place.domain, place.first_gpu);
                let last = first + report.node_gpus.saturating_sub(1);
                ["node ", &node.to_string(), " → D", &domain.to_string(), " GPU ", &first.to_string(), " to ", &last.to_string()].concat()
            })
            .collect();
        view! {
            <details>
                <summary>"How nodes became domains: in order of appearance, a tray each"</summary>
                <div class="fplaces">{rows.into_iter().map(|row| view! { <span>{row}</span> }).collect_view()}</div>
            </details>
        }
    });
    let problems = (!report.read.problems.is_empty()).then(|| {
        let rows = report.read.problems.iter().map(|problem| {
            view! {
                <li>
                    <b>{["line ", &count(problem.line)].concat()}</b>
                    " "
                    {problem.message.clone()}
                </li>
            }
        });
        view! {
            <details open>
                <summary>"Lines that were not used, the first ones"</summary>
                <ul class="fproblems">{rows.collect_view()}</ul>
            </details>
        }
    });
    let over = report.read.limit.clone().map(|limit| {
        let (most, what) = limit.split_once(' ').unwrap_or((&limit, ""));
        let most = most.parse().map_or_else(|_| most.to_owned(), count);
        let part = if what == "nodes" {
            "what happened on the others is left out.".to_owned()
        } else {
            [
                "only its first ",
                &pace::span(report.map.span_h),
                " are replayed.",
            ]
            .concat()
        };
        let line = [
            "The log holds more than is kept, ",
            &most,
            " ",
            what,
            ": ",
            &part,
        ]
        .concat();
        view! { <p class="m flimit">{line}</p> }
    });
    let close = move |_| {
        deck.log.set(None);
        if deck.replay.get_untracked().is_some() {
            deck.replay.set(None);
        }
    };
    view! {
        <div class="flog" data-used=report.map.used_failures.to_string()>
            <div class="fwh">
                <h3>{log.name.clone()} <span class="m">" " {report.read.format.name()} ", " {span}</span></h3>
                <span class="grow"></span>
                <button class="tb" title="Back to failures drawn from the settings" on:click=close>
                    "Close the log"
                </button>
            </div>
            <div class="ffacts">
                {facts
                    .into_iter()
                    .map(|(value, words)| {
                        view! {
                            <span>
                                <b>{value}</b>
                                " "
                                {words}
                            </span>
                        }
                    })
                    .collect_view()}
            </div>
            {fit} {over} {problems} {places}
        </div>
    }
}
