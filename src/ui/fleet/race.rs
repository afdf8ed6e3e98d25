//! The goodput race: verdict, one row per strategy in rank order, the ledger of the selected one, and why it lost.

use super::deck::{Deck, use_deck};
use crate::core::fleet::Bucket;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::words;
use crate::scene::markup::escaped;
use crate::scene::side::number::{fixed, gpu_word, gpus, score};
use crate::scene::side::text::Sentence;
use crate::ui::dom;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// Fill of a bucket: the strategy's own colour, or a pattern of the page.
pub fn fill(bucket: Bucket, strategy: StrategyId) -> String {
    let pattern = match bucket {
        Bucket::Productive => return ["var(--sg-", strategy.id(), ")"].concat(),
        Bucket::CheckpointSave => "ckpt",
        Bucket::Detection => "det",
        Bucket::RestartAndLoad => "restart",
        Bucket::RolledBack => "roll",
        Bucket::Paused => "paused",
        Bucket::Degraded => "degr",
        Bucket::IdleHealthy => "parity",
        Bucket::Spare => "spare",
        Bucket::Failed => "failed",
        Bucket::ReshardExposed => "exp",
    };
    ["url(#p-", pattern, ")"].concat()
}

/// Markup of the rows: made once, patched ever after.
fn rows_markup() -> String {
    let mut out = String::new();
    for id in StrategyId::ALL {
        let name = id.id();
        out.push_str("<div class='fr' data-strategy='");
        out.push_str(name);
        out.push_str("'><button class='hit' type='button' aria-pressed='false'></button><span class='pl m'></span>");
        out.push_str(&marker(id));
        out.push_str("<b class='nm'>");
        out.push_str(name);
        out.push_str("</b><svg class='bars' height='14' aria-hidden='true'><rect width='100%' height='14' rx='2' fill='var(--sunk)'/>");
        for bucket in Bucket::ALL {
            out.push_str("<rect height='14' fill='");
            out.push_str(&fill(bucket, id));
            out.push_str("'/>");
        }
        out.push_str("</svg><b class='num'></b><span class='cmp m' title='Against the run without the fork'></span><button class='gap m' type='button' title='Why did it lose here?'></button></div>");
    }
    out
}

fn marker(id: StrategyId) -> String {
    let name = id.id();
    [
        "<svg class='mk' style='color:var(--sg-",
        name,
        ")' viewBox='0 0 12 12' aria-hidden='true'><use href='#m-",
        name,
        "'/></svg>",
    ]
    .concat()
}

fn ledger_markup() -> String {
    let mut out = String::new();
    for bucket in Bucket::ALL {
        out.push_str("<span><svg width='16' height='10' aria-hidden='true'><rect width='16' height='10' rx='1' fill='");
        out.push_str(&fill(bucket, StrategyId::Ntp));
        out.push_str("'/></svg>");
        out.push_str(bucket.words());
        out.push_str("<b></b></span>");
    }
    out
}

/// The side of the race.
#[component]
pub fn Race() -> impl IntoView {
    let deck = use_deck();
    let root = NodeRef::<leptos::html::Section>::new();
    let why = RwSignal::new(None::<StrategyId>);
    Effect::new(move |_| {
        deck.calm.track();
        deck.run.track();
        deck.app.selected.track();
        untrack(|| {
            if let Some(root) = root.get_untracked() {
                update(deck, &root);
            }
        });
    });
    let click = move |event: web_sys::MouseEvent| {
        let Some(target) = dom::target(&event) else {
            return;
        };
        let row = target.closest("[data-strategy]").ok().flatten();
        let Some(id) = row.and_then(|row| strategy_of(&row)) else {
            return;
        };
        deck.app.selected.set(id);
        if target.closest(".gap").ok().flatten().is_some() {
            why.set(Some(id));
        }
    };
    let keys = move |event: web_sys::KeyboardEvent| {
        if event.key() == "Escape" {
            why.set(None);
        }
    };
    view! {
        <section class="frace" aria-label="Goodput race" node_ref=root on:click=click on:keydown=keys>
            <div class="verdict" role="status">
                <p></p>
            </div>
            <div class="sec">
                <div class="sh">
                    <h2>"Goodput race"</h2>
                    <span class="m fsame"></span>
                </div>
                <div class="frows" inner_html=rows_markup()></div>
            </div>
            <div class="sec">
                <div class="sh">
                    <h2>"Ledger of " <span class="fof"></span></h2>
                    <span class="m">"% of GPU-hours, sums to 100"</span>
                </div>
                <div class="lgrid" inner_html=ledger_markup()></div>
            </div>
            {move || why.get().map(|id| view! { <WhyPanel id close=Callback::new(move |()| why.set(None)) /> })}
        </section>
    }
}

fn strategy_of(row: &Element) -> Option<StrategyId> {
    let name = row.get_attribute("data-strategy")?;
    StrategyId::ALL.into_iter().find(|id| id.id() == name)
}

fn all(root: &Element, css: &str) -> Vec<Element> {
    let Ok(list) = root.query_selector_all(css) else {
        return Vec::new();
    };
    (0..list.length())
        .filter_map(|at| list.item(at)?.dyn_into().ok())
        .collect()
}

fn set(root: &Element, css: &str, text: &str) {
    if let Ok(Some(element)) = root.query_selector(css)
        && element.text_content().as_deref() != Some(text)
    {
        element.set_text_content(Some(text));
    }
}

/// A sentence as markup; its words are ours, names of causes are escaped.
pub fn markup(sentence: &Sentence) -> String {
    let mut out = String::new();
    for run in &sentence.0 {
        let text = escaped(&run.text);
        if run.bold {
            out.push_str(&["<b>", &text, "</b>"].concat());
        } else {
            out.push_str(&text);
        }
    }
    out
}

/// Brings rows and ledger up to the playhead.
fn update(deck: Deck, root: &Element) {
    let Some(run) = deck.run.get_untracked() else {
        return;
    };
    let time = deck.time.get_untracked();
    let recording = &run.recording;
    let ranking = recording.ranking(time);
    let selected = deck.app.selected.get_untracked();
    let goodput = |id: StrategyId| {
        recording
            .track(id)
            .and_then(|track| track.goodput(time))
            .unwrap_or(0.0)
    };
    let best = ranking.last().map_or(0.0, |id| goodput(*id));
    if let Ok(Some(verdict)) = root.query_selector(".verdict p") {
        let text = markup(&words::verdict(recording, time, run.head.gpus));
        if verdict.inner_html() != text {
            verdict.set_inner_html(&text);
        }
    }
    let stops = recording
        .track(selected)
        .map_or(0, |track| track.at(time).interruptions);
    let same = [
        "after ",
        &crate::scene::fleet::pace::days(time),
        " days, all on the same failures; ",
        selected.id(),
        " stopped ",
        &stops.to_string(),
        " times",
    ]
    .concat();
    set(root, ".fsame", &same);
    set(root, ".fof", selected.id());
    let original = deck
        .original(&run)
        .filter(|_| recording.forked_at.is_some_and(|fork| fork < time));
    if let Ok(Some(rows)) = root.query_selector(".frows") {
        let _ = rows
            .class_list()
            .toggle_with_force("forked", original.is_some());
    }
    for row in all(root, ".fr") {
        let Some(id) = strategy_of(&row) else {
            continue;
        };
        let place = ranking.iter().position(|one| *one == id).unwrap_or(0);
        let rank = StrategyId::ALL.len() - place;
        let now = recording.track(id).map(|track| track.at(time));
        let value = goodput(id);
        let number = score(value, 3);
        let lead = place + 1 == ranking.len();
        let gap = if time == Nanos::ZERO {
            String::new()
        } else if lead {
            "leads".to_owned()
        } else {
            words::points(value - best)
        };
        if let Some(row) = row.dyn_ref::<HtmlElement>() {
            dom::style(row, "--place", &place.to_string());
        }
        let _ = row.class_list().toggle_with_force("on", id == selected);
        set(&row, ".pl", &rank.to_string());
        set(
            &row,
            ".num",
            if time == Nanos::ZERO { "–" } else { &number },
        );
        set(&row, ".gap", &gap);
        let before = original
            .as_ref()
            .and_then(|run| run.recording.track(id)?.goodput(time));
        let cmp = before.map_or_else(String::new, |before| {
            let difference = fixed(value - before, 3);
            let sign = if value - before > 0.0005 { "+" } else { "" };
            ["fork ", sign, &difference].concat()
        });
        set(&row, ".cmp", &cmp);
        let _ = row.set_attribute("data-goodput", &number);
        let shares = now.map(|now| now.shares).unwrap_or_default();
        if let Ok(Some(hit)) = row.query_selector(".hit") {
            let label = [id.id(), ": rank ", &rank.to_string(), ", goodput ", &number].concat();
            let _ = hit.set_attribute("aria-label", &label);
            let _ = hit.set_attribute(
                "aria-pressed",
                if id == selected { "true" } else { "false" },
            );
        }
        let mut x = 0.0;
        for (rect, share) in all(&row, ".bars rect").iter().skip(1).zip(shares) {
            let _ = rect.set_attribute("x", &percent(x));
            let _ = rect.set_attribute("width", &percent(share));
            x += share;
        }
        if id == selected {
            let entries = all(root, ".lgrid span");
            for (entry, share) in entries.iter().zip(shares) {
                set(entry, "b", &words::share(share));
            }
            if let Some(Ok(Some(rect))) = entries.first().map(|entry| entry.query_selector("rect"))
            {
                let _ = rect.set_attribute("fill", &fill(Bucket::Productive, id));
            }
        }
    }
}

fn percent(share: f64) -> String {
    [&fixed(share.max(0.0) * 100.0, 2), "%"].concat()
}

/// Why a strategy is behind the leader, or the leader ahead of the next one: where its time went.
#[component]
fn WhyPanel(
    /// Whose loss.
    id: StrategyId,
    /// Closes the panel.
    close: Callback<()>,
) -> impl IntoView {
    let deck = use_deck();
    let content = move || {
        let run = deck.run.get()?;
        let time = deck.calm.get();
        let ranking = run.recording.ranking(time);
        let (last, second) = (*ranking.get(5)?, *ranking.get(4)?);
        let (loser, winner) = if id == last {
            (second, last)
        } else {
            (id, last)
        };
        let (differences, won_back) = run.recording.why(loser, winner, Nanos::ZERO, time);
        let lost: f64 = {
            let of = |id| {
                run.recording
                    .track(id)
                    .and_then(|track| track.goodput(time))
                    .unwrap_or(0.0)
            };
            of(winner) - of(loser)
        };
        let hours = time.hours() * run.head.gpus as f64;
        let text = gpus(lost * run.head.gpus as f64);
        let mut out = String::from("<p>");
        out.push_str(&marker(loser));
        out.push_str(
            &[
                " <b>",
                loser.id(),
                "</b> is ",
                &[&fixed(lost * 100.0, 2), " pts"].concat(),
                " behind ",
            ]
            .concat(),
        );
        out.push_str(&marker(winner));
        out.push_str(
            &[
                " <b>",
                winner.id(),
                "</b> after ",
                &crate::scene::fleet::pace::days(time),
                " days: as if ",
                &text,
                " ",
                gpu_word(&text),
                " had done nothing. Share of its GPU-hours that it spent otherwise:</p><table>",
            ]
            .concat(),
        );
        for (share, what) in words::why(&differences, won_back).into_iter().take(7) {
            let bar = (share.abs() / lost.abs().max(1e-6) * 60.0).clamp(1.0, 120.0);
            out.push_str(
                &[
                    "<tr><td class='n'>",
                    &words::points(share),
                    "</td><td>",
                    what,
                    "</td><td class='n m'>",
                    &fixed(share * hours, 0),
                    " GPU-h</td><td><i style='width:",
                    &fixed(bar, 0),
                    "px' class='",
                    if share > 0.0 { "more" } else { "less" },
                    "'></i></td></tr>",
                ]
                .concat(),
            );
        }
        out.push_str("</table><p class='m'>More than the winner: lost there. Less: saved there. The differences add up to the distance in productive time.</p>");
        Some(out)
    };
    view! {
        <div class="fwhy pop" role="dialog" aria-label="Why did it lose here?">
            <div class="fwh">
                <h3>"Why did " {id.id()} " lose here?"</h3>
                <button class="tb" on:click=move |event| {
                    event.stop_propagation();
                    close.run(());
                }>
                    "Close"
                </button>
            </div>
            <div inner_html=content></div>
        </div>
    }
}
