//! The study under way: its orders to the workers and what they have found.

use crate::core::strategy::StrategyId;
use crate::core::studies::{Board, Question, Rows, Setup, Shard};
use crate::ui::dom;
use crate::ui::fleet::deck::Deck;
use crate::ui::worker::{Pool, cores};
use crate::work::{Body, Request, studies};
use leptos::prelude::*;

/// Least time between two looks at new results, ms: drawing them must not hold the page.
const REST: f64 = 150.0;

/// Handles on a study; copies are the same one.
#[derive(Clone, Copy)]
pub struct Lab {
    /// Scenario and days.
    pub deck: Deck,
    /// What has been found. Not a signal: [`Lab::tick`] says when to look.
    pub board: StoredValue<Board>,
    /// Counts looks at the board.
    pub tick: RwSignal<u32>,
    /// What is asked.
    pub setup: RwSignal<Option<Setup>>,
    /// One line when it cannot be answered.
    pub wrong: RwSignal<Option<String>>,
    /// Workers that are not done.
    pub open: RwSignal<usize>,
    /// Stopped by the user.
    pub stopped: RwSignal<bool>,
    /// Seeds per point that the limits allow.
    pub runs: RwSignal<u32>,
    /// Scenario that the results are of.
    pub scenario: RwSignal<String>,
    pool: StoredValue<Pool, LocalStorage>,
    drawn: StoredValue<f64>,
}

impl Lab {
    /// With nothing asked. Its workers end with the tab.
    pub fn new(deck: Deck) -> Self {
        Self {
            deck,
            board: StoredValue::new(Board::default()),
            tick: RwSignal::new(0),
            setup: RwSignal::new(None),
            wrong: RwSignal::new(None),
            open: RwSignal::new(0),
            stopped: RwSignal::new(false),
            runs: RwSignal::new(0),
            scenario: RwSignal::new(String::new()),
            pool: StoredValue::new_local(Pool::default()),
            drawn: StoredValue::new(0.0),
        }
    }

    fn number<T: std::str::FromStr>(self, key: &str, otherwise: T) -> T {
        let given = self.deck.given(key);
        given
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    }

    /// The question chosen in the link.
    pub fn chosen(self) -> Question {
        let most = self.number("most", 8);
        match self.deck.given("study").as_deref() {
            Some("in-domain-spares") => Question::InDomainSpares { most },
            Some("interval") => Question::Interval {
                rows: match self.deck.given("rows").as_deref() {
                    Some("failure-rate") => Rows::FailureRate,
                    _ => Rows::SaveTime,
                },
            },
            Some("blast-radius") => Question::BlastRadius,
            Some("sensitivity") => Question::Sensitivity,
            _ => Question::SpareDomains { most },
        }
    }

    /// The strategy that verdict, map and tornado are about: the one selected on the page.
    pub fn strategy(self) -> StrategyId {
        self.deck.app.selected.get()
    }

    /// Price of a GPU-hour, as the user gave it.
    pub fn price(self) -> Option<f64> {
        self.deck.app.param("price").get()?.parse().ok()
    }

    /// Runs found so far.
    pub fn taken(self) -> u64 {
        self.tick.track();
        self.board.with_value(Board::taken)
    }

    /// Runs in all, as far as known.
    pub fn all(self) -> u64 {
        self.tick.track();
        let points = self.board.with_value(|board| {
            let all = board.points().iter();
            all.filter(|(_, facts)| facts.error.is_none()).count()
        });
        points as u64 * u64::from(self.runs.get())
    }

    /// How it stands, in a word.
    pub fn standing(self) -> &'static str {
        if self.setup.with(Option::is_none) {
            "idle"
        } else if self.wrong.with(Option::is_some) {
            "failed"
        } else if self.stopped.get() {
            "stopped"
        } else if self.open.get() > 0 {
            "running"
        } else {
            "done"
        }
    }

    /// Asks the chosen question anew, over all cores.
    pub fn run(self) {
        self.pool.update_value(Pool::kill);
        let setup = Setup {
            question: self.chosen(),
            days: self.number("days", 15.0),
            runs: self.number("runs", 20),
            seed: self.number("seed", 1),
        };
        let scenario = self
            .deck
            .app
            .job
            .with_untracked(|job| job.scenario.to_json());
        self.board.set_value(Board::default());
        self.wrong.set(None);
        self.stopped.set(false);
        self.runs.set(0);
        self.scenario.set(scenario.clone());
        self.setup.set(Some(setup));
        let count = cores() as u32;
        self.open.set(count as usize);
        for index in 0..count {
            let request = Request::Study(studies::Ask {
                scenario: scenario.clone(),
                setup,
                shard: Shard { index, count },
            });
            self.pool.update_value(|pool| {
                pool.ask(request, Box::new(move |body, _| self.hear(body)));
            });
        }
        self.look(true);
    }

    /// Ends it; what has been found stays.
    pub fn stop(self) {
        self.pool.update_value(Pool::kill);
        self.open.set(0);
        self.stopped.set(true);
        self.look(true);
    }

    fn hear(self, body: Body) {
        match body {
            // Every share says the points; the first one counts.
            Body::Study(studies::Answer::Points { points, runs })
                if self.board.with_value(|board| board.points().is_empty()) =>
            {
                self.board.set_value(Board::new(points));
                self.runs.set(runs);
                self.look(true);
            }
            Body::Study(studies::Answer::Found(found)) => {
                self.board.update_value(|board| board.take_all(&found));
                self.look(false);
            }
            Body::Failed(line) => {
                self.pool.update_value(Pool::kill);
                self.open.set(0);
                self.wrong.set(Some(line));
            }
            Body::Done => {
                self.open.update(|open| *open = open.saturating_sub(1));
                self.look(self.open.get_untracked() == 0);
            }
            _ => {}
        }
    }

    /// Shows what is new, now or when the last look is long enough ago.
    fn look(self, now: bool) {
        let time = dom::now_ms();
        if now || time - self.drawn.get_value() > REST {
            self.drawn.set_value(time);
            self.tick.update(|tick| *tick = tick.wrapping_add(1));
        }
    }
}
