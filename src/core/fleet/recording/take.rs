//! From a simulated run to its recording and its film.

use super::film::Turn;
use super::{CauseName, Film, Look, Recording, Track};
use crate::core::fleet::live::{FleetMap, FleetRun, History, Moment};
use crate::core::fleet::{Lane, PhaseKind};
use crate::core::scenario::FailureKind;
use crate::core::strategy::{GpuState, StrategyId};
use crate::core::units::Nanos;
use std::collections::BTreeMap;

/// Most moments kept of one strategy; of a run with more, every second, fourth ... one.
const MOST_MOMENTS: usize = 30_000;
/// Most failures kept, of a run with more the first ones.
const MOST_EVENTS: usize = 200_000;
/// Most frames of a film; of a run with more changes, some are left out.
pub const MOST_FRAMES: u64 = 12_000;

/// The recording of a run, as far as it has been simulated.
pub fn record(run: &FleetRun) -> Recording {
    let trace = run.trace();
    let end = run.simulated();
    let events = trace.events.iter().take(MOST_EVENTS);
    Recording {
        end,
        forked_at: run.forked_at(),
        while_running: trace.while_running,
        causes: trace
            .causes
            .iter()
            .map(|cause| CauseName {
                name: cause.name.clone(),
                software: cause.kind == FailureKind::Software,
            })
            .collect(),
        events: events.copied().collect(),
        tracks: StrategyId::ALL
            .into_iter()
            .map(|strategy| {
                let track = run.history(strategy).zip(run.head(strategy));
                let mut track = track.map(|(history, lane)| track_of(history, lane, end));
                if let Some(track) = &mut track {
                    track.occupied_gpus = run.plan().shape(strategy).occupied_gpus();
                }
                track.unwrap_or_default()
            })
            .collect(),
    }
}

fn track_of(history: &History, lane: &Lane, end: Nanos) -> Track {
    let every = history.moments().len().div_ceil(MOST_MOMENTS).max(1);
    let mut track = Track::default();
    let mut add = |moment: &Moment| {
        track.times.push(moment.time);
        track.phases.push(moment.phase);
        track.minibatch.push(moment.minibatch);
        track.failed.push(moment.failed_gpus);
        track.spent.push(moment.spent);
    };
    history.moments().iter().step_by(every).for_each(&mut add);
    // The last stretch has no change at its end.
    if history.moments().last().is_none_or(|last| last.time < end) {
        add(&Moment {
            time: end,
            phase: PhaseKind::from(lane.phase()),
            minibatch: lane.rate().minibatch,
            failed_gpus: u32::try_from(lane.domains().failed()).unwrap_or(u32::MAX),
            good_seconds: lane.ledger().good_seconds(),
            spent: lane.ledger().columns(),
        });
    }
    let stops = history.stops().iter();
    track.stops = stops.map(|stop| (stop.time, stop.event)).collect();
    track
}

/// Makes the film of one strategy, a stretch at a time.
pub struct FilmMaker {
    strategy: StrategyId,
    film: Film,
    index: BTreeMap<Look, u32>,
    /// Walks through the run.
    lane: Option<Lane>,
    shown: Vec<u32>,
    /// Fingerprint of what each domain's look follows from, where that is more than its state.
    prints: Vec<Option<u64>>,
    /// Fingerprint of the GPUs out of service at the last frame.
    last: Option<u64>,
    next: usize,
    after: Nanos,
    sent: (usize, usize),
}

impl FilmMaker {
    /// Nothing made yet.
    pub fn new(strategy: StrategyId) -> Self {
        Self {
            strategy,
            film: Film::default(),
            index: BTreeMap::new(),
            lane: None,
            shown: Vec::new(),
            prints: Vec::new(),
            last: None,
            next: 0,
            after: Nanos::ZERO,
            sent: (0, 0),
        }
    }

    /// The film so far.
    pub fn film(&self) -> &Film {
        &self.film
    }

    /// Films on over at most `frames` changes of the run, always the same one. False at the end of what is simulated.
    pub fn run_on(&mut self, run: &mut FleetRun, frames: usize) -> bool {
        let gap = Nanos(run.end().0 / MOST_FRAMES);
        let mut made = 0;
        let Some(mut lane) = self.lane.take().or_else(|| run.first(self.strategy)) else {
            return false;
        };
        let more = loop {
            if made == frames {
                break true;
            }
            let moments = run.history(self.strategy).map_or(&[][..], History::moments);
            let Some(time) = moments.get(self.next).map(|moment| moment.time) else {
                self.film.until = run.simulated();
                break false;
            };
            self.next += 1;
            // What happens within a gap is shown at its end, by the last change in it.
            let following = moments.get(self.next).map(|moment| moment.time);
            if time < self.after && following.is_some_and(|following| following < self.after) {
                continue;
            }
            // The past of a fork belongs to the run it left.
            if run.forked_at().is_some_and(|fork| time < fork) {
                continue;
            }
            // A change at a moment is made when the moment has passed.
            run.walk(&mut lane, Nanos(time.0.saturating_add(1)));
            let print = Some(fingerprint(&lane));
            if self.last == print {
                continue;
            }
            self.last = print;
            self.after = time + gap;
            made += 1;
            self.frame(time, &run.map_of(&lane));
        };
        self.lane = Some(lane);
        more
    }

    fn frame(&mut self, time: Nanos, map: &FleetMap) {
        if self.shown.len() != map.cells.len() {
            self.film.domains = map.cells.len() as u32;
            self.shown = vec![0; map.cells.len()];
            self.prints = vec![None; map.cells.len()];
        }
        let mut plain: BTreeMap<u8, u32> = BTreeMap::new();
        let mut turns = Vec::new();
        for domain in 0..map.cells.len() as u32 {
            let code = map.plain(domain);
            let print = code.is_none().then(|| map.print(domain));
            if let Some(last) = self.prints.get_mut(domain as usize) {
                // Few of the domains that look special change from one frame to the next.
                if print.is_some() && *last == print {
                    continue;
                }
                *last = print;
            }
            // Domains without anything special look as every other of their state.
            let new = match code {
                Some(code) => *plain
                    .entry(code)
                    .or_insert_with(|| intern(&mut self.index, &mut self.film, look(map, domain))),
                None => intern(&mut self.index, &mut self.film, look(map, domain)),
            };
            if let Some(shown) = self.shown.get_mut(domain as usize)
                && *shown != new
            {
                turns.push(Turn {
                    domain,
                    old: *shown,
                    new,
                });
                *shown = new;
            }
        }
        self.film.add(time, turns);
    }

    /// What was filmed since the last call, as bytes.
    pub fn chunk(&mut self) -> Vec<u8> {
        let bytes = self.film.chunk(self.sent.0, self.sent.1);
        self.sent = (self.film.looks.len(), self.film.frames());
        bytes
    }
}

fn intern(index: &mut BTreeMap<Look, u32>, film: &mut Film, look: Look) -> u32 {
    if let Some(known) = index.get(&look) {
        return *known;
    }
    let id = film.looks.len() as u32;
    film.looks.push(look.clone());
    index.insert(look, id);
    id
}

/// How a domain of a map looks.
pub fn look(map: &FleetMap, domain: u32) -> Look {
    let cell = map.cells.get(domain as usize).copied().unwrap_or_default();
    let mut runs: Vec<(GpuState, u16)> = Vec::new();
    for state in map.gpus(domain) {
        match runs.last_mut() {
            Some((last, count)) if *last == state => *count += 1,
            _ => runs.push((state, 1)),
        }
    }
    Look {
        state: cell.state,
        down: cell.down,
        restarting: cell.restarting,
        runs,
    }
}

/// FNV-1a over the GPUs out of service.
fn fingerprint(lane: &Lane) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
    for (domain, _) in lane.domains().iter() {
        add(u64::from(domain) | 1 << 40);
        for down in lane.domains().down(domain) {
            add(u64::from(down.gpu) << 1 | u64::from(down.software));
        }
    }
    hash
}
