//! Which GPUs are out of service right now, by domain: only affected domains take memory.

use super::plan::Shape;
use super::rates::{RateSource, Rates, Signature};
use crate::core::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One GPU out of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Down {
    /// GPU inside its domain.
    pub gpu: u16,
    /// Restarting after a software failure, not broken.
    pub software: bool,
    /// When it is back.
    pub until: Nanos,
}

/// GPUs to be taken out of service together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// Their domain.
    pub domain: u32,
    /// First GPU.
    pub first: u16,
    /// Number of GPUs.
    pub gpus: u16,
    /// Software, not hardware.
    pub software: bool,
    /// When they are back.
    pub until: Nanos,
}

/// One affected domain.
#[derive(Clone, Debug, PartialEq)]
struct Affected {
    domain: u32,
    /// GPUs out of service, ascending.
    down: Vec<Down>,
    signature: u32,
}

/// All GPUs that are out of service.
#[derive(Clone, Debug, Default)]
pub struct Domains {
    affected: Vec<Affected>,
    repairs: BinaryHeap<Reverse<(Nanos, u32)>>,
    counts: Vec<u32>,
    failed: u64,
    scratch: Vec<u16>,
    freed: Vec<Vec<Down>>,
}

impl Domains {
    /// Everything healthy again, memory kept.
    pub fn clear(&mut self) {
        self.freed
            .extend(self.affected.drain(..).map(|mut affected| {
                affected.down.clear();
                affected.down
            }));
        self.repairs.clear();
        self.counts.clear();
        self.failed = 0;
    }
    /// GPUs out of service.
    pub fn failed(&self) -> u64 {
        self.failed
    }
    /// Domains per look, for [`Rates::get`].
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }
    /// Affected domains, ascending, each with its number of failed GPUs.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> {
        self.affected
            .iter()
            .map(|affected| (affected.domain, affected.down.len() as u32))
    }
    /// GPUs of a domain that are out of service, ascending.
    pub fn down(&self, domain: u32) -> &[Down] {
        self.find(domain)
            .ok()
            .and_then(|at| self.affected.get(at))
            .map_or(&[], |affected| affected.down.as_slice())
    }
    /// When the next GPU comes back.
    pub fn next_repair(&self) -> Option<Nanos> {
        self.repairs.peek().map(|Reverse((time, _))| *time)
    }

    fn find(&self, domain: u32) -> Result<usize, usize> {
        self.affected
            .binary_search_by_key(&domain, |affected| affected.domain)
    }

    /// Takes GPUs out of service; those already out stay out at least as long.
    pub fn fail<S: RateSource>(&mut self, shape: &Shape, rates: &mut Rates<S>, strike: Strike) {
        let Strike {
            domain,
            software,
            until,
            ..
        } = strike;
        let at = match self.find(domain) {
            Ok(at) => at,
            Err(at) => {
                let down = self.freed.pop().unwrap_or_default();
                self.affected.insert(
                    at,
                    Affected {
                        domain,
                        down,
                        signature: u32::MAX,
                    },
                );
                at
            }
        };
        let Some(affected) = self.affected.get_mut(at) else {
            return;
        };
        let before = affected.down.len();
        let end = strike.first.saturating_add(strike.gpus);
        let at_first = affected
            .down
            .partition_point(|down| down.gpu < strike.first);
        let new = |gpu: u16| Down {
            gpu,
            software,
            until,
        };
        let mut gpus = strike.first..end;
        if affected
            .down
            .get(at_first)
            .is_none_or(|down| down.gpu >= end)
        {
            // None of them is out yet: the usual case.
            let run = std::mem::take(&mut gpus).map(new);
            affected.down.splice(at_first..at_first, run);
        }
        for gpu in gpus {
            match affected.down.binary_search_by_key(&gpu, |down| down.gpu) {
                Ok(found) => {
                    if let Some(down) = affected.down.get_mut(found) {
                        down.until = down.until.max(until);
                        down.software &= software;
                    }
                }
                Err(slot) => affected.down.insert(slot, new(gpu)),
            }
        }
        self.failed += (affected.down.len() - before) as u64;
        self.repairs.push(Reverse((until, domain)));
        self.resign(shape, rates, at);
    }

    /// Brings back everything due by `now`.
    pub fn repair<S: RateSource>(&mut self, shape: &Shape, rates: &mut Rates<S>, now: Nanos) {
        while let Some(Reverse((time, domain))) = self.repairs.peek().copied() {
            if time > now {
                return;
            }
            self.repairs.pop();
            let Ok(at) = self.find(domain) else { continue };
            let Some(affected) = self.affected.get_mut(at) else {
                continue;
            };
            let before = affected.down.len();
            affected.down.retain(|down| down.until > now);
            self.failed -= (before - affected.down.len()) as u64;
            if before != affected.down.len() {
                self.resign(shape, rates, at);
            }
        }
    }

    /// Brings the GPUs of one run back at once, by hand.
    pub fn repair_now<S: RateSource>(
        &mut self,
        shape: &Shape,
        rates: &mut Rates<S>,
        domain: u32,
        first: u16,
        gpus: u16,
    ) {
        let Ok(at) = self.find(domain) else { return };
        let Some(affected) = self.affected.get_mut(at) else {
            return;
        };
        let (before, end) = (affected.down.len(), first.saturating_add(gpus));
        affected
            .down
            .retain(|down| down.gpu < first || down.gpu >= end);
        self.failed -= (before - affected.down.len()) as u64;
        self.resign(shape, rates, at);
    }

    /// Counts the look of the domain at `at` anew; drops the domain when nothing of it is out any more.
    fn resign<S: RateSource>(&mut self, shape: &Shape, rates: &mut Rates<S>, at: usize) {
        let Some(affected) = self.affected.get_mut(at) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(affected.signature as usize) {
            *count = count.saturating_sub(1);
        }
        if affected.down.is_empty() {
            self.freed.push(self.affected.remove(at).down);
            return;
        }
        let (in_slots, tp) = (shape.slots_of(affected.domain) * shape.tp, shape.tp.max(1));
        let mut slots = std::mem::take(&mut self.scratch);
        slots.clear();
        let (mut left_over, mut last) = (0, u32::MAX);
        if in_slots <= tp {
            // One slot: a count says it all.
            let inside = affected
                .down
                .partition_point(|down| u32::from(down.gpu) < in_slots);
            left_over = (affected.down.len() - inside) as u16;
            slots.extend((inside > 0).then_some(inside as u16));
        }
        for down in affected.down.iter().filter(|_| in_slots > tp) {
            let gpu = u32::from(down.gpu);
            if gpu >= in_slots {
                left_over += 1;
            } else if gpu / tp == last {
                if let Some(count) = slots.last_mut() {
                    *count += 1;
                }
            } else {
                last = gpu / tp;
                slots.push(1);
            }
        }
        slots.sort_unstable_by_key(|count| Reverse(*count));
        let look = Signature {
            spare: affected.domain >= shape.domains,
            slots,
            left_over,
        };
        affected.signature = rates.intern(&look);
        self.scratch = look.slots;
        let id = affected.signature as usize;
        if self.counts.len() <= id {
            self.counts.resize(id + 1, 0);
        }
        if let Some(count) = self.counts.get_mut(id) {
            *count += 1;
        }
    }
}
