//! The goodput race: verdict, one row per strategy in rank order, the ledger of the selected one, and why it lost.

use super::deck::{EVERY, Run, use_deck};
use super::written::Written;
use crate::core::fleet::Bucket;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::words;
use crate::scene::markup::escaped;
use crate::scene::side::number::{fixed, gpu_word, gpus, score};
use crate::scene::side::text::Sentence;
use crate::ui::dom::{self, all, find};
use crate::ui::state::Shared;
use leptos::prelude::*;
use web_sys::Element;

/// Turns while the run plays; the rows have the first ones, one each.
const STOPS: u32 = 5;
const LEDGER: u32 = 6;
const VERDICT: u32 = 7;

/// What the rows show.
type Shown = (Option<Shared<Run>>, StrategyId);

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
    let board = StoredValue::new_local(None::<Board>);
    Effect::new(move |before: Option<Shown>| {
        let turn = deck.turn.get();
        let shown = (deck.run.get(), deck.app.selected.get());
        let same = before.as_ref() == Some(&shown);
        let (Some(root), Some(run)) = (root.get(), shown.0.as_ref()) else {
            return shown;
        };
        let time = deck.time.get_untracked();
        let fork = run.recording.forked_at;
        let at = Moment {
            run,
            time,
            selected: shown.1,
            ranking: run.recording.ranking(time),
            original: deck
                .original(run)
                .filter(|_| fork.is_some_and(|fork| fork < time)),
        };
        board.update_value(|board| {
            board
                .get_or_insert_with(|| Board::of(&root))
                .follow(&at, if same { turn } else { EVERY });
        });
        shown
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

/// One strategy's row.
struct Row {
    id: StrategyId,
    place: Written,
    on: Written,
    rank: Written,
    number: Written,
    gap: Written,
    compared: Written,
    goodput: Written,
    label: Written,
    pressed: Written,
    /// Left end and width of each bucket's bar.
    bars: Vec<(Written, Written)>,
}

impl Row {
    fn of(row: &Element) -> Option<Self> {
        let part = |css: &str| find(row, css);
        let attribute = |css: &str, name| Written::attribute(find(row, css), name);
        let bars = all(row, ".bars rect").into_iter().skip(1).map(|rect| {
            let x = Written::attribute(Some(rect.clone()), "x");
            (x, Written::attribute(Some(rect), "width"))
        });
        Some(Self {
            id: strategy_of(row)?,
            place: Written::style(Some(row.clone()), "--place"),
            on: Written::class(Some(row.clone()), "on"),
            rank: Written::text(part(".pl")),
            number: Written::text(part(".num")),
            gap: Written::text(part(".gap")),
            compared: Written::text(part(".cmp")),
            goodput: Written::attribute(Some(row.clone()), "data-goodput"),
            label: attribute(".hit", "aria-label"),
            pressed: attribute(".hit", "aria-pressed"),
            bars: bars.collect(),
        })
    }

    /// Its number, the distance to the leader, and its bars.
    fn follow(&mut self, at: &Moment<'_>) {
        let (id, time) = (self.id, at.time);
        let value = at.goodput(id);
        let number = score(value, 3);
        let rank = at.rank(id);
        let gap = if time == Nanos::ZERO {
            String::new()
        } else if rank == 1 {
            "leads".to_owned()
        } else {
            words::points(value - at.best())
        };
        self.number
            .set(if time == Nanos::ZERO { "–" } else { &number });
        self.gap.set(&gap);
        let before = at
            .original
            .as_ref()
            .and_then(|run| run.recording.track(id)?.goodput(time));
        let compared = before.map_or_else(String::new, |before| {
            let difference = fixed(value - before, 3);
            let sign = if value - before > 0.0005 { "+" } else { "" };
            ["fork ", sign, &difference].concat()
        });
        self.compared.set(&compared);
        self.goodput.set(&number);
        self.label
            .set(&[id.id(), ": rank ", &rank.to_string(), ", goodput ", &number].concat());
        let mut x = 0.0;
        for ((left, width), share) in self.bars.iter_mut().zip(at.shares(id)) {
            left.set(&percent(x));
            width.set(&percent(share));
            x += share;
        }
    }
}

/// Rows and ledger, found once.
struct Board {
    rows: Vec<Row>,
    forked: Written,
    verdict: Written,
    same: Written,
    of: Written,
    ledger: Vec<Written>,
    fill: Written,
}

impl Board {
    fn of(root: &Element) -> Self {
        let ledger = all(root, ".lgrid span");
        Self {
            rows: all(root, ".fr").iter().filter_map(Row::of).collect(),
            forked: Written::class(find(root, ".frows"), "forked"),
            verdict: Written::markup(find(root, ".verdict p")),
            same: Written::text(find(root, ".fsame")),
            of: Written::text(find(root, ".fof")),
            fill: Written::attribute(find(root, ".lgrid rect"), "fill"),
            ledger: ledger
                .iter()
                .map(|entry| Written::text(find(entry, "b")))
                .collect(),
        }
    }

    /// Brings up to the playhead what has its turn: the order always, then a row after another, the ledger, the verdict.
    fn follow(&mut self, at: &Moment<'_>, turn: u32) {
        self.forked.turn(at.original.is_some());
        self.of.set(at.selected.id());
        for (number, row) in (0..).zip(&mut self.rows) {
            let rank = at.rank(row.id);
            row.place.set(&(StrategyId::ALL.len() - rank).to_string());
            let rank = rank.to_string();
            row.rank
                .set(if at.time == Nanos::ZERO { "" } else { &rank });
            row.on.turn(row.id == at.selected);
            row.pressed.set(if row.id == at.selected {
                "true"
            } else {
                "false"
            });
            if turn == EVERY || turn == number {
                row.follow(at);
            }
        }
        let run = at.run;
        let turn_of = |part: u32| turn == EVERY || turn == part;
        if turn_of(VERDICT) {
            self.verdict.set(&markup(&words::verdict(
                &run.recording,
                at.time,
                run.head.gpus,
            )));
        }
        if turn_of(STOPS) {
            let stops = run
                .recording
                .track(at.selected)
                .map_or(0, |track| track.at(at.time).interruptions);
            let same = [
                "after ",
                &crate::scene::fleet::pace::days(at.time),
                " days, all on the same failures; ",
                at.selected.id(),
                " stopped ",
                &stops.to_string(),
                if stops == 1 { " time" } else { " times" },
            ];
            self.same.set(&same.concat());
        }
        if turn_of(LEDGER) {
            for (entry, share) in self.ledger.iter_mut().zip(at.shares(at.selected)) {
                let share = words::share(share);
                entry.set(if at.time == Nanos::ZERO {
                    "–"
                } else {
                    &share
                });
            }
            self.fill.set(&fill(Bucket::Productive, at.selected));
        }
    }
}

/// The run at the playhead.
struct Moment<'a> {
    run: &'a Run,
    time: Nanos,
    selected: StrategyId,
    /// Worst first.
    ranking: [StrategyId; StrategyId::ALL.len()],
    /// The run that was left, where the playhead is past the fork.
    original: Option<Shared<Run>>,
}

impl Moment<'_> {
    fn goodput(&self, id: StrategyId) -> f64 {
        let track = self.run.recording.track(id);
        track
            .and_then(|track| track.goodput(self.time))
            .unwrap_or(0.0)
    }
    fn best(&self) -> f64 {
        self.ranking.last().map_or(0.0, |id| self.goodput(*id))
    }
    /// From 1, the best.
    fn rank(&self, id: StrategyId) -> usize {
        let place = self.ranking.iter().position(|one| *one == id);
        StrategyId::ALL.len() - place.unwrap_or(0)
    }
    fn shares(&self, id: StrategyId) -> [f64; Bucket::ALL.len()] {
        let track = self.run.recording.track(id);
        track.map_or([0.0; Bucket::ALL.len()], |track| track.at(self.time).shares)
    }
}

fn percent(share: f64) -> String {
    // Finer than the pixels of a bar: more digits would only be written more often.
    [&fixed(share.max(0.0) * 100.0, 1), "%"].concat()
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
    // The leader loses nothing: then it is about the one behind it.
    let pair = move || {
        let ranking = deck.run.get()?.recording.ranking(deck.calm.get());
        let (last, second) = (*ranking.get(5)?, *ranking.get(4)?);
        Some(if id == last {
            (second, last)
        } else {
            (id, last)
        })
    };
    let loser = Memo::new(move |_| pair().map_or(id, |(loser, _)| loser).id());
    let content = move || {
        let run = deck.run.get()?;
        let time = deck.calm.get();
        let (loser, winner) = pair()?;
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
                <h3>"Why did " {loser} " lose here?"</h3>
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
