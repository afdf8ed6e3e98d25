//! Failure logs: handed to the worker, and what it made of them.

use super::{Deck, Log};
use crate::core::units::Nanos;
use crate::ui::state::Shared;
use crate::work::log::Ask;
use crate::work::{Body, Request};
use leptos::prelude::*;

impl Deck {
    /// Reads a dropped or picked log.
    pub fn read_log(&self, file: web_sys::File, lenient: bool) {
        let name = file.name();
        let ask = Ask::File {
            size: file.size() as u64,
            lenient,
            scenario: self.scenario_text(),
        };
        self.file.set_value(Some(file.clone()));
        self.hear_log(name, Request::Log(ask), Some(&file));
    }

    /// Reads the last file again and leaves broken lines out.
    pub fn read_leniently(&self) {
        if let Some(file) = self.file.get_value() {
            self.read_log(file, true);
        }
    }

    /// Whether there is a file to read again.
    pub fn has_file(&self) -> bool {
        self.file.with_value(Option::is_some)
    }

    /// Reads one of the logs that ship with the page.
    pub fn read_example(&self, index: usize, name: &str) {
        self.file.set_value(None);
        let scenario = self.scenario_text();
        let ask = Ask::Example { index, scenario };
        self.hear_log(name.to_owned(), Request::Log(ask), None);
    }

    /// Places the log on the cluster as it is now, and replays it.
    pub fn place_log(&self) {
        let name = self
            .log
            .with_untracked(|log| log.as_ref().map(|log| log.name.clone()))
            .unwrap_or_default();
        let scenario = self.scenario_text();
        self.hear_log(name, Request::Log(Ask::Place { scenario }), None);
    }

    fn hear_log(&self, name: String, request: Request, file: Option<&web_sys::File>) {
        self.stop();
        self.wrong.set(None);
        let what = ["Reading ", &name].concat();
        self.ask_with(request, file, Some(&what), move |deck, body, _| {
            if let Body::Log(report) = body {
                let fits = report.fit_dp.is_none();
                deck.log.set(Some(Shared::new(Log {
                    name: name.clone(),
                    report: *report,
                })));
                // A log too large is replayed once the user has chosen how.
                if fits {
                    deck.time.set(Nanos::ZERO);
                    deck.replay
                        .update(|replay| *replay = Some(replay.map_or(1, |n| n + 1)));
                }
            }
        });
    }
}
