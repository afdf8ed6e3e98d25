//! State of the Fleet page: which run is shown, where its playhead is, and what the worker is asked for.

mod log;

use crate::core::fleet::recording::{Film, Reader, Recording};
use crate::core::scenario::Job;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::words;
use crate::ui::dom;
use crate::ui::state::{App, Shared};
use crate::ui::worker::Hand;
use crate::work::fleet::{Answer, Ask, Change, Detail, Head, Preset};
use crate::work::log::Report;
use crate::work::{Body, Request};
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use serde_json::Value;

/// Days of a run when the link names none.
const DAYS: f64 = 15.0;
/// Least time between two changes of words while playing, ms.
const CALM_MS: f64 = 110.0;
/// Turns that the parts of the page take to follow in that time, so that no frame has to write them all.
const TURNS: u32 = 8;
/// Every part's turn: the playhead was set.
pub const EVERY: u32 = TURNS;
/// Time that a slice of reading may take, ms.
const SLICE_MS: f64 = 10.0;
/// Rest of the playhead before the link follows, ms.
const REST_MS: u32 = 250;
/// Runs whose recording the page keeps, so that a fork finds the one it left.
const KEPT: usize = 4;

/// One run as the page holds it.
pub struct Run {
    /// What does not change.
    pub head: Head,
    /// What happened.
    pub recording: Recording,
    /// What it was made from.
    pub job: Shared<Job>,
    /// The run it left, and in words why.
    pub left: Option<(u32, String)>,
}

/// What the worker is busy with.
#[derive(Clone, PartialEq)]
pub struct Busy {
    /// In words.
    pub what: String,
    /// Share done.
    pub share: f64,
    /// Its order, to stop it.
    order: u32,
}

/// A log that was read.
pub struct Log {
    /// File name.
    pub name: String,
    /// What it holds.
    pub report: Report,
}

/// What a run follows from.
#[derive(Clone, PartialEq)]
struct Key {
    job: Shared<Job>,
    seed: u64,
    days: f64,
    replay: Option<u32>,
}

type FilmSlot = (u32, StrategyId, Film);

/// Handles to the state of the page.
#[derive(Clone, Copy)]
pub struct Deck {
    /// The whole page's state.
    pub app: App,
    /// The run that is shown.
    pub run: RwSignal<Option<Shared<Run>>>,
    /// Playhead.
    pub time: RwSignal<Nanos>,
    /// Playhead for words: follows several times a second while it plays, faster nobody reads.
    pub calm: RwSignal<Nanos>,
    /// Whose turn it is to follow: 0 is that of `calm`, or [`EVERY`].
    pub turn: RwSignal<u32>,
    /// Whether it moves by itself.
    pub playing: RwSignal<bool>,
    /// How fast, days a second.
    pub speed: RwSignal<f64>,
    /// What the worker is busy with, as far as the user waits for it.
    pub busy: RwSignal<Option<Busy>>,
    /// Why the last order failed: one line.
    pub wrong: RwSignal<Option<String>>,
    /// Why the last setting was refused: one line that starts with the field's path.
    pub refused: RwSignal<Option<String>>,
    /// Counts what arrived of films.
    pub filmed: RwSignal<u32>,
    /// The log read last.
    pub log: RwSignal<Option<Shared<Log>>>,
    /// Whether the run replays it: counts the logs.
    pub replay: RwSignal<Option<u32>>,
    /// Named failure processes.
    pub presets: RwSignal<Vec<Preset>>,
    hand: StoredValue<Hand, LocalStorage>,
    films: StoredValue<Vec<FilmSlot>, LocalStorage>,
    runs: StoredValue<Vec<Shared<Run>>, LocalStorage>,
    next: StoredValue<u32>,
    /// The next slice of a recording that has arrived.
    reading: StoredValue<Option<Timeout>, LocalStorage>,
    /// A file being read: kept to read it again leniently.
    file: StoredValue<Option<web_sys::File>, LocalStorage>,
}

impl Deck {
    /// Builds the state and asks for the first run.
    pub fn provide(app: App) -> Self {
        let deck = Self {
            app,
            run: RwSignal::new(None),
            time: RwSignal::new(Nanos::ZERO),
            calm: RwSignal::new(Nanos::ZERO),
            turn: RwSignal::new(EVERY),
            playing: RwSignal::new(false),
            speed: RwSignal::new(1.0),
            busy: RwSignal::new(None),
            wrong: RwSignal::new(None),
            refused: RwSignal::new(None),
            filmed: RwSignal::new(0),
            log: RwSignal::new(None),
            replay: RwSignal::new(None),
            presets: RwSignal::new(Vec::new()),
            hand: StoredValue::new_local(Hand::default()),
            films: StoredValue::new_local(Vec::new()),
            runs: StoredValue::new_local(Vec::new()),
            next: StoredValue::new(1),
            reading: StoredValue::new_local(None),
            file: StoredValue::new_local(None),
        };
        provide_context(deck);
        let (seed, days) = (app.param("seed"), app.param("days"));
        Effect::new(move |before: Option<Key>| {
            let key = Key {
                job: app.job.get(),
                seed: seed.with(|text| read(text.as_deref(), 1)),
                days: days.with(|text| read(text.as_deref(), DAYS)),
                replay: deck.replay.get(),
            };
            if before.as_ref() != Some(&key) {
                untrack(|| deck.follow(before.as_ref(), &key));
                let bad = seed
                    .with(|text| refuse("seed", text.as_deref(), 1u64, "a whole number from 0 on"))
                    .or_else(|| {
                        days.with(|text| refuse("days", text.as_deref(), DAYS, "a number of days"))
                    });
                if bad.is_some() {
                    deck.wrong.set(bad);
                }
            }
            key
        });
        deck.ask(Ask::Presets, None, move |deck, body, _| {
            if let Body::Fleet(Answer::Presets(presets)) = body {
                deck.presets.set(presets);
            }
        });
        let last = StoredValue::new(0.0_f64);
        Effect::new(move |_| {
            let (time, playing) = (deck.time.get(), deck.playing.get());
            let now = dom::now_ms();
            let turn = if !playing {
                EVERY
            } else if now - last.get_value() > CALM_MS / f64::from(TURNS) {
                (deck.turn.get_untracked() + 1) % TURNS
            } else {
                return;
            };
            last.set_value(now);
            if turn == 0 || turn == EVERY {
                deck.calm.set(time);
            }
            deck.turn.set(turn);
        });
        // The link's playhead follows when it rests.
        let rest = StoredValue::new_local(None::<Timeout>);
        Effect::new(move |_| {
            let (time, playing) = (deck.time.get(), deck.playing.get());
            let known = deck.run.with(Option::is_some);
            let later = (!playing && known).then(|| {
                Timeout::new(REST_MS, move || {
                    let at = (time > Nanos::ZERO).then(|| crate::scene::fleet::pace::days(time));
                    app.set_param("at", at);
                })
            });
            rest.set_value(later);
        });
        deck
    }

    /// Whether a part's words follow now.
    pub fn is_turn(&self, part: u32) -> bool {
        let turn = self.turn.get_untracked();
        turn == part || turn == EVERY || !self.playing.get_untracked()
    }

    /// The playhead for a part's words, which follow on its turn.
    pub fn calm_of(&self, part: u32) -> Memo<Nanos> {
        let deck = *self;
        Memo::new(move |before: Option<&Nanos>| {
            deck.turn.track();
            match before {
                Some(before) if !deck.is_turn(part) => *before,
                _ => deck.time.get_untracked(),
            }
        })
    }

    /// A view parameter of the link as it is now.
    pub fn given(&self, key: &str) -> Option<String> {
        self.app.params.with_untracked(|params| {
            let found = params.iter().find(|(name, _)| name == key);
            found.map(|(_, value)| value.clone())
        })
    }

    fn scenario_text(&self) -> String {
        self.app.job.with_untracked(|job| job.scenario.to_json())
    }

    /// What an edit means for the run: a fork at the playhead where only policy or failures changed, else a new run.
    fn follow(&self, before: Option<&Key>, key: &Key) {
        let shown = self.run.get_untracked();
        let time = self.time.get_untracked();
        let (Some(before), Some(shown)) = (before, shown) else {
            let at = self.given("at").and_then(|text| text.parse::<f64>().ok());
            self.start(key, at.filter(|days| days.is_finite()));
            return;
        };
        let (old, new) = (&before.job.scenario, &key.job.scenario);
        let same_fleet = (&old.system, &old.model, &old.layout)
            == (&new.system, &new.model, &new.layout)
            && (before.seed, before.days, before.replay) == (key.seed, key.days, key.replay);
        if !same_fleet || time == Nanos::ZERO {
            self.start(key, None);
            return;
        }
        if (&old.policy, &old.faults) == (&new.policy, &new.faults) {
            return;
        }
        // The run shown is that of the new settings already.
        if shown.job.scenario == *new {
            return;
        }
        // Undone: back to the run that was left.
        if let Some(original) = self.original(&shown)
            && original.job.scenario == *new
        {
            self.show(original);
            return;
        }
        let label = words::edit(old, new);
        self.fork(Change::Scenario(new.to_json()), label);
    }

    /// The run that another one left.
    pub fn original(&self, run: &Run) -> Option<Shared<Run>> {
        let (id, _) = run.left.as_ref()?;
        self.runs
            .with_value(|runs| runs.iter().find(|run| run.head.run == *id).cloned())
    }

    /// The run to look at for a moment: before a fork, the one it left.
    pub fn run_at(&self, run: &Shared<Run>, time: Nanos) -> Shared<Run> {
        let mut run = run.clone();
        while run.recording.forked_at.is_some_and(|fork| time < fork) {
            let Some(original) = self.original(&run) else {
                break;
            };
            run = original;
        }
        run
    }

    fn number(&self) -> u32 {
        self.next.update_value(|next| *next += 1);
        self.next.get_value()
    }

    fn start(&self, key: &Key, at: Option<f64>) {
        let run = self.number();
        let ask = Ask::Start {
            run,
            scenario: key.job.scenario.to_json(),
            seed: key.seed,
            days: if key.replay.is_some() { 0.0 } else { key.days },
            log: key.replay.is_some(),
        };
        self.playing.set(false);
        self.ask_run(ask, key.job.clone(), None, at);
    }

    /// Leaves the run shown at the playhead.
    pub fn fork(&self, change: Change, label: String) {
        let Some(shown) = self.run.get_untracked() else {
            return;
        };
        let at = self.time.get_untracked();
        let from = self.run_at(&shown, at);
        let ask = Ask::Fork {
            of: from.head.run,
            run: self.number(),
            at,
            change,
        };
        let left = Some((from.head.run, label));
        self.ask_run(ask, self.app.job.get_untracked(), left, None);
    }

    fn ask_run(&self, ask: Ask, job: Shared<Job>, left: Option<(u32, String)>, at: Option<f64>) {
        self.stop();
        let what = if left.is_some() {
            "Forking"
        } else {
            "Simulating"
        };
        let hear = move |deck: Self, body: Body, bytes: Vec<u8>| {
            let Body::Fleet(Answer::Run(head)) = body else {
                return;
            };
            let (job, left) = (job.clone(), left.clone());
            let shown = move |recording: Recording| {
                let anew = left.is_none();
                let run = Shared::new(Run {
                    head: *head,
                    recording,
                    job,
                    left,
                });
                deck.runs.update_value(|runs| {
                    if runs.len() >= KEPT {
                        runs.remove(0);
                    }
                    runs.push(run.clone());
                });
                if anew {
                    let at = at.map_or(Nanos::ZERO, |days| Nanos::from_hours(days * 24.0));
                    deck.time.set(at.min(run.recording.end));
                }
                deck.show(run);
            };
            match Reader::new(bytes) {
                Ok(reader) => deck.read(reader, shown),
                Err(error) => deck.wrong.set(Some(error.to_string())),
            }
        };
        self.wrong.set(None);
        self.ask(Request::Fleet(ask), Some(what), hear);
    }

    /// Reads a recording in slices between frames. One that ends in the first is there at once.
    fn read(&self, mut reader: Reader, then: impl FnOnce(Recording) + 'static) {
        let (deck, started) = (*self, dom::now_ms());
        let more = loop {
            match reader.read_on() {
                Ok(true) if dom::now_ms() - started < SLICE_MS => {}
                other => break other,
            }
        };
        match more {
            Ok(true) => {
                let later = Timeout::new(0, move || deck.read(reader, then));
                // The page may have been left meanwhile; then the timer is dropped, which cancels it.
                deck.reading.try_update_value(|slot| *slot = Some(later));
            }
            Ok(false) => then(reader.recording()),
            Err(error) => deck.wrong.set(Some(error.to_string())),
        }
    }

    /// Shows a run that is at hand.
    pub fn show(&self, run: Shared<Run>) {
        let end = run.recording.end;
        if self.time.get_untracked() > end {
            self.time.set(end);
        }
        self.run.set(Some(run));
    }

    /// Back to the run that was left, its settings with it.
    pub fn back_to(&self, original: &Shared<Run>) {
        self.show(original.clone());
        let scenario = original.job.scenario.clone();
        if self.app.job.with_untracked(|job| job.scenario != scenario)
            && let Err(error) = self.app.replace(scenario)
        {
            self.wrong.set(Some(error.to_string()));
        }
    }

    /// Stops what the user waits for.
    pub fn stop(&self) {
        self.reading.set_value(None);
        if let Some(busy) = self.busy.get_untracked() {
            self.hand.with_value(|hand| hand.stop(busy.order));
            self.busy.set(None);
        }
    }

    /// Sends an order; with words for it, the user sees how far it is and may stop it.
    fn ask(
        &self,
        request: impl Into<Request>,
        what: Option<&str>,
        hear: impl Fn(Self, Body, Vec<u8>) + 'static,
    ) {
        self.ask_with(request.into(), None, what, hear);
    }

    fn ask_with(
        &self,
        request: Request,
        file: Option<&web_sys::File>,
        what: Option<&str>,
        hear: impl Fn(Self, Body, Vec<u8>) + 'static,
    ) {
        let deck = *self;
        let shown = what.is_some();
        let order = self.hand.with_value(|hand| {
            hand.ask(
                request,
                file,
                Box::new(move |body, bytes| {
                    // The page may have been left meanwhile.
                    if deck.run.try_get_untracked().is_none() {
                        return;
                    }
                    match &body {
                        Body::Progress(share) if shown => deck.busy.update(|busy| {
                            if let Some(busy) = busy {
                                busy.share = *share;
                            }
                        }),
                        Body::Done if shown => deck.busy.set(None),
                        Body::Failed(line) => {
                            if shown {
                                deck.busy.set(None);
                            }
                            deck.wrong.set(Some(line.clone()));
                        }
                        _ => {}
                    }
                    hear(deck, body, bytes);
                }),
            )
        });
        if let Some(what) = what {
            self.busy.set(Some(Busy {
                what: what.to_owned(),
                share: 0.0,
                order,
            }));
        }
    }

    /// Looks at the film of a run under a strategy; asks for it where it is not there yet.
    pub fn with_film<T>(
        &self,
        run: &Run,
        strategy: StrategyId,
        look: impl FnOnce(&Film) -> T,
    ) -> Option<T> {
        let id = run.head.run;
        let here = |slot: &FilmSlot| slot.0 == id && slot.1 == strategy;
        let mut look = Some(look);
        let seen = self.films.with_value(|films| {
            let slot = films.iter().find(|slot| here(slot))?;
            look.take().map(|look| look(&slot.2))
        });
        if seen.is_none() {
            self.films.update_value(|films| {
                if films.len() >= 12 {
                    films.remove(0);
                }
                films.push((id, strategy, Film::default()));
            });
            let ask = Ask::Film { run: id, strategy };
            self.ask(ask, None, move |deck, body, bytes| {
                if body != Body::Fleet(Answer::Film) {
                    return;
                }
                deck.films.update_value(|films| {
                    let slot = films
                        .iter_mut()
                        .find(|slot| slot.0 == id && slot.1 == strategy);
                    if let Some(slot) = slot
                        && let Err(error) = slot.2.append(&bytes)
                    {
                        deck.wrong.set(Some(error.to_string()));
                    }
                });
                deck.filmed.update(|count| *count = count.wrapping_add(1));
            });
        }
        seen
    }

    /// Asks for everything about one domain at the playhead.
    pub fn detail(&self, run: &Run, domain: u32, hear: impl Fn(Detail) + 'static) {
        let ask = Ask::Detail {
            run: run.head.run,
            strategy: self.app.selected.get_untracked(),
            at: self.time.get_untracked(),
            domain,
        };
        self.ask(ask, None, move |_, body, _| {
            if let Body::Fleet(Answer::Detail(detail)) = body {
                hear(*detail);
            }
        });
    }

    /// Failure processes in force, every field given.
    pub fn faults(&self) -> Value {
        let text = self
            .run
            .with(|run| run.as_ref().map(|run| run.head.faults.clone()));
        text.and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    /// Puts other failure processes in force, once the worker has found them valid.
    pub fn set_faults(&self, faults: Value) {
        self.refused.set(None);
        let deck = *self;
        let text = faults.to_string();
        self.hand.with_value(|hand| {
            hand.ask(
                Request::Fleet(Ask::Check { faults: text }),
                None,
                Box::new(move |body, _| match body {
                    Body::Fleet(Answer::Checked) => {
                        let faults = faults.clone();
                        deck.app
                            .edit(move |scenario| scenario.faults = Some(faults));
                    }
                    Body::Failed(line) => {
                        deck.refused.try_set(Some(line));
                    }
                    _ => {}
                }),
            );
        });
    }
}

impl From<Ask> for Request {
    fn from(ask: Ask) -> Self {
        Self::Fleet(ask)
    }
}

/// What is wrong with a value of the link, if anything.
fn refuse<T: std::str::FromStr + std::fmt::Display>(
    key: &str,
    text: Option<&str>,
    instead: T,
    expected: &str,
) -> Option<String> {
    let text = text.filter(|text| text.parse::<T>().is_err())?;
    Some(format!(
        "{key}: {text:?} is not allowed, expected {expected}; {instead} is used"
    ))
}

fn read<T: std::str::FromStr>(text: Option<&str>, otherwise: T) -> T {
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The state of the page. Call it in a component's body, not in a callback.
pub fn use_deck() -> Deck {
    expect_context::<Deck>()
}
