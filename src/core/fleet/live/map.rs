//! What every domain looks like at the playhead: one small cell each, so that 100,000 GPUs cost a few kilobytes.

use super::super::domains::Down;
use super::super::lane::Lane;
use super::super::plan::Shape;
use super::FleetRun;
use crate::core::hardware::PowerCurve;
use crate::core::strategy::{GpuState, SlotRun, StrategyId};
use std::collections::BTreeMap;

/// What one domain does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum CellState {
    /// Computes, whole, at base clock.
    #[default]
    Healthy,
    /// Computes at a reduced TP degree or beside a reduced stage.
    Reduced,
    /// Computes at a reduced TP degree with raised clocks.
    Boosted,
    /// Computes whole although GPUs of it failed: left-over or held-back ones stand in.
    Healed,
    /// Healthy or not, it computes nothing: its replica is dropped, or a spare domain replaces it.
    Idle,
    /// Waits for the job to run again.
    Paused,
    /// A spare domain that stands by.
    Spare,
    /// All of it is out of service.
    Down,
}

/// One domain of the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DomainCell {
    /// What it does.
    pub state: CellState,
    /// GPUs out of service.
    pub down: u16,
    /// Those of them that restart after a software failure.
    pub restarting: u16,
}

/// How one slot runs, where it is not whole at base clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SlotLook {
    degree: u32,
    boosted: bool,
}

/// All domains under one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct FleetMap {
    /// The job's domains, then the strategy's spare ones.
    pub cells: Vec<DomainCell>,
    shape: Shape,
    slots: BTreeMap<u32, SlotLook>,
    down: BTreeMap<u32, Vec<Down>>,
    /// Domains with an entry in one of the two.
    marked: Vec<bool>,
}

/// What one domain does in its replica.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Replica of its first group.
    pub replica: u32,
    /// Stage of that group.
    pub stage: u32,
    /// TP degree of that group; 0 where it does not run.
    pub degree: u32,
    /// Power of that group's GPUs, x TDP.
    pub boost_p: f64,
    /// Clock of that power, MHz, where the base clock is published.
    pub clock_mhz: Option<f64>,
    /// Sequences that the replica takes per step.
    pub local_batch: u32,
    /// Domains of the replica, ascending.
    pub peers: Vec<u32>,
}

impl FleetRun {
    /// What a domain does at the playhead; none for one that stands by.
    pub fn place(&self, strategy: StrategyId, domain: u32) -> Option<Place> {
        let shape = self.plan.shape(strategy);
        let per_domain = shape.slots_per_domain.max(1);
        let source = self.rates.source();
        let losses = source.physical_losses(self.lane(strategy)?.domains(), shape);
        let outcome = source.evaluator().outcome(strategy, &losses);
        let of_domain = |slot: &u32| slot / per_domain == domain;
        let replica = outcome
            .replicas
            .iter()
            .find(|replica| replica.slots.iter().any(of_domain))?;
        let stage = replica.slots.iter().position(of_domain)?;
        let power = replica.powers.get(stage).copied().unwrap_or(1.0);
        let mut peers: Vec<u32> = replica.slots.iter().map(|slot| slot / per_domain).collect();
        peers.sort_unstable();
        peers.dedup();
        Some(Place {
            replica: replica.index,
            stage: stage as u32,
            degree: replica.degrees.get(stage).copied().unwrap_or(0),
            boost_p: power,
            clock_mhz: self
                .job()
                .system
                .gpu
                .clock(PowerCurve::perf(power))
                .map(crate::core::units::Megahertz::get),
            local_batch: replica.local_batch,
            peers,
        })
    }

    /// The map of one strategy at the playhead: what it makes of the GPUs that are out of service now.
    pub fn map(&self, strategy: StrategyId) -> FleetMap {
        let lane = self.lane(strategy);
        lane.map_or_else(
            || FleetMap::standing_by(*self.plan.shape(strategy)),
            |lane| self.map_of(lane),
        )
    }

    /// The same of a lane of this run wherever it is.
    pub fn map_of(&self, lane: &Lane) -> FleetMap {
        let strategy = lane.strategy();
        let mut map = FleetMap::standing_by(*self.plan.shape(strategy));
        let source = self.rates.source();
        let losses = source.physical_losses(lane.domains(), &map.shape);
        let idle = map.shape.domains as usize;
        for cell in map.cells.iter_mut().take(idle) {
            cell.state = CellState::Idle;
        }
        source
            .evaluator()
            .slot_runs(strategy, &losses, &mut |run| map.run_slot(run));
        for (domain, down) in lane.domains().iter() {
            let gpus = lane.domains().down(domain);
            if let Some(cell) = map.cells.get_mut(domain as usize) {
                cell.down = down as u16;
                cell.restarting = gpus.iter().filter(|down| down.software).count() as u16;
                cell.state = match cell.state {
                    _ if down >= map.shape.domain_size => CellState::Down,
                    CellState::Healthy => CellState::Healed,
                    other => other,
                };
            }
            map.mark(domain);
            map.down.insert(domain, gpus.to_vec());
        }
        map
    }
}

impl FleetMap {
    /// Nothing has failed and nothing runs.
    fn standing_by(shape: Shape) -> Self {
        let spares = shape.domains..shape.domains + shape.spare_domains;
        let mut cells = vec![DomainCell::default(); spares.end as usize];
        for cell in cells.iter_mut().skip(spares.start as usize) {
            cell.state = CellState::Spare;
        }
        Self {
            marked: vec![false; cells.len()],
            cells,
            shape,
            slots: BTreeMap::new(),
            down: BTreeMap::new(),
        }
    }

    fn mark(&mut self, domain: u32) {
        if let Some(marked) = self.marked.get_mut(domain as usize) {
            *marked = true;
        }
    }

    fn run_slot(&mut self, run: SlotRun) {
        let own = self.shape.tp - self.shape.held.min(self.shape.tp);
        let domain = run.slot / self.shape.slots_per_domain.max(1);
        let boosted = run.boosted && run.degree.is_some_and(|degree| degree < own);
        if let Some(degree) = run.degree.filter(|degree| *degree < own) {
            self.slots.insert(run.slot, SlotLook { degree, boosted });
            self.mark(domain);
        }
        let state = match run.degree {
            None => CellState::Paused,
            Some(0) => CellState::Idle,
            Some(_) if boosted => CellState::Boosted,
            Some(degree) if degree < own => CellState::Reduced,
            Some(_) => CellState::Healthy,
        };
        if let Some(cell) = self.cells.get_mut(domain as usize) {
            // Of several groups in one domain the one that changed most gives the colour.
            cell.state = match (cell.state, state) {
                (CellState::Boosted | CellState::Reduced, CellState::Healthy | CellState::Idle) => {
                    cell.state
                }
                (CellState::Healthy, CellState::Idle) => CellState::Healthy,
                _ => state,
            };
        }
    }

    /// Whether the GPUs of a domain follow from its state alone: nothing of it failed, no group of it is reduced, and it
    /// has as many groups as most. Domains with the same answer look the same.
    pub fn plain(&self, domain: u32) -> Option<u8> {
        let plain = self.marked.get(domain as usize) == Some(&false)
            && self.shape.slots_of(domain) == self.shape.slots_per_domain;
        let cell = self.cells.get(domain as usize)?;
        plain.then_some(cell.state as u8)
    }

    /// Fingerprint of all that a domain's look follows from: FNV-1a over its state, its GPUs out of service, and how its
    /// slots run.
    pub fn print(&self, domain: u32) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        let mut add = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3);
        add(self
            .cells
            .get(domain as usize)
            .map_or(0, |cell| cell.state as u64));
        for down in self.down.get(&domain).into_iter().flatten() {
            add(u64::from(down.gpu) << 1 | u64::from(down.software) | 1 << 40);
        }
        let first = domain.saturating_mul(self.shape.slots_per_domain);
        let last = first.saturating_add(self.shape.slots_per_domain);
        for (slot, look) in self.slots.range(first..last) {
            add(u64::from(slot - first) | 1 << 41);
            add(u64::from(look.degree) << 1 | u64::from(look.boosted));
        }
        hash
    }

    /// State of every GPU of one domain, by index in the domain; empty past the last domain.
    pub fn gpus(&self, domain: u32) -> Vec<GpuState> {
        let Some(cell) = self.cells.get(domain as usize) else {
            return Vec::new();
        };
        let (shape, tp) = (&self.shape, self.shape.tp.max(1));
        let empty = Vec::new();
        let down = self.down.get(&domain).unwrap_or(&empty);
        let is_down = |gpu: u32| {
            down.binary_search_by_key(&gpu, |down| u32::from(down.gpu))
                .ok()
                .and_then(|at| down.get(at))
        };
        let in_slots = shape.slots_of(domain) * tp;
        let idle = match cell.state {
            CellState::Spare => Some(GpuState::Spare),
            CellState::Idle | CellState::Paused | CellState::Down => Some(GpuState::Idle),
            _ => None,
        };
        // Healthy GPUs outside the slots stand in for failed ones, the lowest first.
        let mut missing = (0..in_slots).filter(|gpu| is_down(*gpu).is_some()).count();
        let mut stand_ins = Vec::new();
        for gpu in (0..shape.domain_size).filter(|gpu| shape.spare_when_healthy(domain, *gpu)) {
            if missing > 0 && is_down(gpu).is_none() {
                stand_ins.push(gpu);
                missing -= 1;
            }
        }
        let mut left: BTreeMap<u32, u32> = BTreeMap::new();
        (0..shape.domain_size)
            .map(|gpu| {
                if let Some(down) = is_down(gpu) {
                    return if down.software {
                        GpuState::Restarting
                    } else {
                        GpuState::Failed
                    };
                }
                if let Some(state) = idle {
                    return state;
                }
                if stand_ins.contains(&gpu) {
                    return GpuState::Healthy;
                }
                if gpu >= in_slots {
                    return GpuState::LeftOver;
                }
                if shape.spare_when_healthy(domain, gpu) {
                    return GpuState::Spare;
                }
                let slot = domain * shape.slots_per_domain + gpu / tp;
                let Some(look) = self.slots.get(&slot) else {
                    return GpuState::Healthy;
                };
                // Ranks are dense over the healthy GPUs; those past the degree are idle, the highest first.
                let rank = left.entry(slot).or_insert(0);
                *rank += 1;
                match (*rank <= look.degree, look.boosted) {
                    (true, true) => GpuState::Boosted,
                    (true, false) => GpuState::Healthy,
                    (false, _) if look.degree == 0 => GpuState::Idle,
                    (false, _) => GpuState::Parity,
                }
            })
            .collect()
    }
}
