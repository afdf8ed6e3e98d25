//! The map over time, as differences: which domain looks how from when on.

use super::bytes::{Broken, In, Out};
use crate::core::fleet::CellState;
use crate::core::strategy::GpuState;
use crate::core::units::Nanos;

/// Everything that a domain can be, in the order of its code.
const CELLS: [CellState; 8] = [
    CellState::Healthy,
    CellState::Reduced,
    CellState::Boosted,
    CellState::Healed,
    CellState::Idle,
    CellState::Paused,
    CellState::Spare,
    CellState::Down,
];

/// How a domain looks. Most domains of a fleet share a few looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Look {
    /// What it does.
    pub state: CellState,
    /// GPUs out of service.
    pub down: u16,
    /// Those of them that restart after a software failure.
    pub restarting: u16,
    /// Runs of GPUs in the same state, in order.
    pub runs: Vec<(GpuState, u16)>,
}

impl Look {
    /// State of one GPU; healthy past the end.
    pub fn gpu(&self, index: u32) -> GpuState {
        let mut left = index;
        for (state, count) in &self.runs {
            if left < u32::from(*count) {
                return *state;
            }
            left -= u32::from(*count);
        }
        GpuState::Healthy
    }

    /// GPUs in a state.
    pub fn count(&self, state: GpuState) -> u32 {
        let of_state = self.runs.iter().filter(|(own, _)| *own == state);
        of_state.map(|(_, count)| u32::from(*count)).sum()
    }

    /// The state that most GPUs are in.
    pub fn most(&self) -> GpuState {
        let states = self.runs.iter().map(|(state, _)| *state);
        states
            .max_by_key(|state| self.count(*state))
            .unwrap_or(GpuState::Healthy)
    }
}

/// One domain that changes its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Domain.
    pub domain: u32,
    /// Index of its look before.
    pub old: u32,
    /// Index of its look after.
    pub new: u32,
}

/// The map of one strategy over a run. Grows by chunks, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    /// Looks; domains start with the first one.
    pub looks: Vec<Look>,
    /// Domains of the strategy, spare ones included.
    pub domains: u32,
    /// When something changes, and where its turns begin.
    frames: Vec<(Nanos, u32)>,
    turns: Vec<Turn>,
    /// Known until here.
    pub until: Nanos,
}

impl Film {
    /// Frames so far.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }

    fn turns_of(&self, frame: usize) -> &[Turn] {
        let start = self.frames.get(frame).map_or(0, |(_, start)| *start);
        let end = self
            .frames
            .get(frame + 1)
            .map_or(self.turns.len(), |(_, start)| *start as usize);
        self.turns.get(start as usize..end).unwrap_or_default()
    }

    /// Adds a frame; a look that is not known yet is added first.
    pub fn add(&mut self, time: Nanos, turns: impl IntoIterator<Item = Turn>) {
        let start = self.turns.len();
        self.turns.extend(turns);
        if self.turns.len() > start {
            self.frames.push((time, start as u32));
        }
        self.until = self.until.max(time);
    }

    /// What was added since `(looks, frames)`, as bytes.
    pub fn chunk(&self, looks: usize, frames: usize) -> Vec<u8> {
        let mut out = Out::default();
        out.word(self.domains);
        out.long(self.until.0);
        let fresh = self.looks.get(looks..).unwrap_or_default();
        out.count(fresh.len());
        for look in fresh {
            out.byte(CELLS.iter().position(|c| *c == look.state).unwrap_or(0) as u8);
            out.short(look.down);
            out.short(look.restarting);
            out.count(look.runs.len());
            for (state, count) in &look.runs {
                out.byte(GpuState::ALL.iter().position(|s| s == state).unwrap_or(0) as u8);
                out.short(*count);
            }
        }
        out.count(self.frames.len().saturating_sub(frames));
        for (frame, (time, _)) in self.frames.iter().enumerate().skip(frames) {
            let turns = self.turns_of(frame);
            out.long(time.0);
            out.count(turns.len());
            for turn in turns {
                out.word(turn.domain);
                out.word(turn.old);
                out.word(turn.new);
            }
        }
        out.0
    }

    /// Adds a chunk; it must follow the ones added before.
    ///
    /// # Errors
    /// When the bytes are none of [`Film::chunk`]; what was added until then stays.
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), Broken> {
        let mut read = In(bytes);
        self.domains = read.word()?;
        let until = Nanos(read.long()?);
        for _ in 0..read.count(9)? {
            let state = *CELLS.get(usize::from(read.byte()?)).ok_or(Broken)?;
            let (down, restarting) = (read.short()?, read.short()?);
            let mut runs = Vec::new();
            for _ in 0..read.count(3)? {
                let state = *GpuState::ALL.get(usize::from(read.byte()?)).ok_or(Broken)?;
                runs.push((state, read.short()?));
            }
            self.looks.push(Look {
                state,
                down,
                restarting,
                runs,
            });
        }
        for _ in 0..read.count(12)? {
            let time = Nanos(read.long()?);
            let count = read.count(12)?;
            let mut turns = Vec::with_capacity(count);
            for _ in 0..count {
                turns.push(Turn {
                    domain: read.word()?,
                    old: read.word()?,
                    new: read.word()?,
                });
            }
            self.add(time, turns);
        }
        self.until = self.until.max(until);
        Ok(())
    }
}

/// Shows a film at any moment: keeps every domain's look and moves forth and back by differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projector {
    looks: Vec<u32>,
    /// Frames applied.
    applied: usize,
}

impl Projector {
    /// Index of every domain's look.
    pub fn looks(&self) -> &[u32] {
        &self.looks
    }

    /// Moves to a moment; calls `changed` for every domain that may look otherwise now.
    pub fn seek(&mut self, film: &Film, time: Nanos, mut changed: impl FnMut(u32)) {
        if self.looks.len() != film.domains as usize {
            self.looks = vec![0; film.domains as usize];
            self.applied = 0;
            (0..film.domains).for_each(&mut changed);
        }
        let wanted = film.frames.partition_point(|(at, _)| *at <= time);
        let mut set = |looks: &mut Vec<u32>, domain: u32, look: u32| {
            if let Some(cell) = looks.get_mut(domain as usize)
                && *cell != look
            {
                *cell = look;
                changed(domain);
            }
        };
        while self.applied < wanted {
            for turn in film.turns_of(self.applied) {
                set(&mut self.looks, turn.domain, turn.new);
            }
            self.applied += 1;
        }
        while self.applied > wanted {
            self.applied -= 1;
            for turn in film.turns_of(self.applied) {
                set(&mut self.looks, turn.domain, turn.old);
            }
        }
    }
}
