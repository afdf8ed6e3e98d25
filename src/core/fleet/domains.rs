//! Which GPUs are out of service right now, by domain: only affected domains take memory.

use super::plan::Shape;
use super::rates::{RateSource, Rates, Signature};
use crate::core::units::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One affected domain.
#[derive(Clone, Debug, PartialEq)]
struct Affected {
    domain: u32,
    /// GPUs out of service, ascending, with the moment each is back.
    down: Vec<(u16, Nanos)>,
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
    freed: Vec<Vec<(u16, Nanos)>>,
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
    /// GPUs of a domain that are out of service, ascending, with the moment each is back.
    pub fn down(&self, domain: u32) -> &[(u16, Nanos)] {
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

    /// Takes `gpus` GPUs from `first` on out of service until `until`; those already out stay out at least that long.
    pub fn fail<S: RateSource>(
        &mut self,
        shape: &Shape,
        rates: &mut Rates<S>,
        domain: u32,
        first: u16,
        gpus: u16,
        until: Nanos,
    ) {
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
        for gpu in first..first.saturating_add(gpus) {
            match affected.down.binary_search_by_key(&gpu, |down| down.0) {
                Ok(found) => {
                    if let Some(down) = affected.down.get_mut(found) {
                        down.1 = down.1.max(until);
                    }
                }
                Err(slot) => affected.down.insert(slot, (gpu, until)),
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
            affected.down.retain(|down| down.1 > now);
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
        affected.down.retain(|down| down.0 < first || down.0 >= end);
        self.failed -= (before - affected.down.len()) as u64;
        self.resign(shape, rates, at);
    }

    /// Counts the look of the domain at `at` anew; drops the domain when nothing of it is out any more.
    fn resign<S: RateSource>(&mut self, shape: &Shape, rates: &mut Rates<S>, at: usize) {
        let Some(affected) = self.affected.get_mut(at) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(affected.signature as usize) {
            *count -= 1;
        }
        if affected.down.is_empty() {
            self.freed.push(self.affected.remove(at).down);
            return;
        }
        let (in_slots, tp) = (shape.slots_of(affected.domain) * shape.tp, shape.tp.max(1));
        let mut slots = std::mem::take(&mut self.scratch);
        slots.clear();
        let (mut left_over, mut last) = (0, u32::MAX);
        for (gpu, _) in &affected.down {
            let gpu = u32::from(*gpu);
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
