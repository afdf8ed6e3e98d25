//! Every domain and GPU as the rack shows it under one strategy.

use super::{DomainView, GpuState, GpuView, Outcome, StrategyId};
use crate::core::cost::RankShape;
use crate::core::hardware::PowerCurve;
use crate::core::order;
use crate::core::placement::health::{GpuHealth, health};
use crate::core::scenario::Job;

/// What a slot does: logical replica, position in it, degree, power.
#[derive(Clone, Copy)]
struct Role {
    replica: u32,
    position: u32,
    degree: u32,
    power: f64,
}

/// Every domain, job's then spare ones, as it looks under one strategy's outcome.
pub fn domain_views(job: &Job, outcome: &Outcome) -> Vec<DomainView> {
    let placement = &job.placement;
    let scenario = &job.scenario;
    let map = health(&scenario.failures, &scenario.policy, placement.domain_size);
    let domains = placement.domains.saturating_add(placement.spare_domains);
    let mut roles: Vec<Option<Role>> = vec![None; placement.first_slot(domains) as usize];
    // The lowest degree at each position of a replica: peers there reduce their gradients at it.
    let mut sync = vec![u32::MAX; placement.groups_per_replica as usize];
    for plan in &outcome.replicas {
        let parts = plan.slots.iter().zip(&plan.degrees).zip(&plan.powers);
        for ((position, ((&slot, &degree), &power)), lowest) in (0..).zip(parts).zip(&mut sync) {
            if let Some(role) = roles.get_mut(slot as usize) {
                *role = Some(Role {
                    replica: plan.index,
                    position,
                    degree,
                    power,
                });
            }
            if degree > 0 {
                *lowest = (*lowest).min(degree);
            }
        }
    }
    let loads = Loads::new(job, outcome);
    let mut benched: Vec<(u32, u64)> = outcome
        .slow
        .iter()
        .filter(|choice| choice.bench)
        .map(|choice| (choice.slot, choice.speed.to_bits()))
        .collect();
    order::sort(&mut benched);
    let held = match outcome.strategy {
        StrategyId::Wait | StrategyId::InDomainSpares => 0,
        StrategyId::HotSpares => placement.spare_domains,
        StrategyId::DpDrop | StrategyId::Ntp | StrategyId::NtpPw => scenario.policy.spare_domains,
    };
    let healthy = vec![GpuHealth::Healthy; placement.domain_size as usize];
    (0..domains)
        .map(|domain| {
            let first = placement.first_slot(domain);
            let slots: Vec<Option<Role>> = (first
                ..first.saturating_add(placement.slots_per_domain))
                .map(|slot| roles.get(slot as usize).copied().flatten())
                .collect();
            let view = Domain {
                job,
                outcome,
                domain,
                gpus: map.get(domain).unwrap_or(&healthy),
                slots: &slots,
                is_spare: domain >= placement.domains,
                is_held: domain < placement.domains.saturating_add(held),
                sync: &sync,
                loads: &loads,
                benched: &benched,
            };
            view.build()
        })
        .collect()
}

/// Load of a rank at every degree in use, relative to the healthy degree's.
struct Loads(Vec<Option<f64>>);

impl Loads {
    fn new(job: &Job, outcome: &Outcome) -> Self {
        let layout = &job.scenario.layout;
        let work = |degree: u32| {
            let replica = crate::core::cost::Replica {
                system: &job.system,
                model: &job.model,
                layout,
                degree,
                sync_degree: degree,
                local_batch: layout.local_batch(),
                perf: 1.0,
                heads: job.scenario.policy.heads,
            };
            RankShape::new(&replica, degree).layer_parameters()
        };
        let healthy = work(layout.tp);
        let replicas = outcome.replicas.iter();
        let degrees = replicas.flat_map(|replica| replica.degrees.iter().copied());
        let most = degrees.clone().max().unwrap_or(0);
        let mut loads = vec![None; most as usize + 1];
        for degree in degrees.filter(|&degree| degree > 0) {
            if let Some(load @ None) = loads.get_mut(degree as usize) {
                *load = Some(if degree == layout.tp || healthy <= 0.0 {
                    1.0
                } else {
                    work(degree) / healthy
                });
            }
        }
        Self(loads)
    }
    fn of(&self, degree: u32) -> f64 {
        self.0
            .get(degree as usize)
            .copied()
            .flatten()
            .unwrap_or(0.0)
    }
}

/// One domain being looked at.
struct Domain<'a> {
    job: &'a Job,
    outcome: &'a Outcome,
    domain: u32,
    gpus: &'a [GpuHealth],
    slots: &'a [Option<Role>],
    is_spare: bool,
    is_held: bool,
    sync: &'a [u32],
    loads: &'a Loads,
    benched: &'a [(u32, u64)],
}

impl Domain<'_> {
    fn build(&self) -> DomainView {
        let placement = &self.job.placement;
        let members = self.members();
        let mut views: Vec<GpuView> = self
            .gpus
            .iter()
            .enumerate()
            .map(|(gpu, health)| resting(*health, self.resting_state(gpu as u32)))
            .collect();
        for (slot, gpus) in members.iter().enumerate() {
            let Some(Some(role)) = self.slots.get(slot) else {
                continue;
            };
            let lowest = self
                .sync
                .get(role.position as usize)
                .copied()
                .unwrap_or(role.degree);
            for (rank, &gpu) in (0u32..).zip(gpus) {
                let Some(view) = views.get_mut(gpu as usize) else {
                    continue;
                };
                if role.degree == 0 {
                    *view = resting(GpuHealth::Healthy, GpuState::Idle);
                } else if rank >= role.degree {
                    let state = if self.holds_back() {
                        GpuState::Spare
                    } else {
                        GpuState::Parity
                    };
                    *view = resting(GpuHealth::Healthy, state);
                } else {
                    *view = self.working(gpu, rank, role, lowest);
                }
            }
        }
        DomainView {
            index: self.domain,
            slots: self
                .slots
                .iter()
                .map(|role| {
                    role.map(|role| {
                        (
                            role.replica,
                            role.position / self.job.scenario.layout.cp.max(1),
                        )
                    })
                })
                .collect(),
            degrees: self
                .slots
                .iter()
                .map(|role| role.map_or(0, |role| role.degree))
                .collect(),
            gpus: views,
        }
        .fit(placement.slots_per_domain)
    }

    fn working(&self, gpu: u32, rank: u32, role: &Role, lowest: u32) -> GpuView {
        let slow = match self.gpus.get(gpu as usize) {
            Some(GpuHealth::Slow(speed)) => Some(*speed),
            _ => None,
        };
        let (state, perf) = match slow {
            Some(speed) => (GpuState::Slow, speed),
            None if role.power > 1.0 => (GpuState::Boosted, PowerCurve::perf(role.power)),
            None => (GpuState::Healthy, 1.0),
        };
        GpuView {
            state,
            tp_rank: Some(rank),
            load: self.loads.of(role.degree),
            perf,
            sends_gradients: role.degree > lowest && rank >= lowest,
        }
    }

    fn holds_back(&self) -> bool {
        self.outcome.strategy == StrategyId::InDomainSpares
    }

    /// State of a healthy GPU that no TP group uses.
    fn resting_state(&self, gpu: u32) -> GpuState {
        let placement = &self.job.placement;
        if self.is_spare {
            return if self.is_held {
                GpuState::Spare
            } else {
                GpuState::LeftOver
            };
        }
        let inside = gpu < placement.slots_in(self.domain).saturating_mul(placement.tp);
        let slow = matches!(self.gpus.get(gpu as usize), Some(GpuHealth::Slow(_)));
        let given_up = self.slots.iter().flatten().any(|role| role.degree == 0);
        match (inside, self.holds_back()) {
            (false, false) => GpuState::LeftOver,
            (_, true) if !slow && !given_up => GpuState::Spare,
            _ => GpuState::Idle,
        }
    }

    fn benched(&self, slot: u32, speed: f64) -> bool {
        self.benched.binary_search(&(slot, speed.to_bits())).is_ok()
    }

    /// GPUs of each slot that can compute, in GPU order; left-over (or held) ones take the place of those that cannot.
    fn members(&self) -> Vec<Vec<u32>> {
        let placement = &self.job.placement;
        let tp = placement.tp.max(1);
        let first = placement.first_slot(self.domain);
        let used = self.slots.iter().filter(|role| role.is_some()).count() as u32;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.slots.len()];
        let mut pool: Vec<u32> = Vec::new();
        for (gpu, health) in (0u32..).zip(self.gpus) {
            let slot = gpu / tp;
            let inside = self.slots.get(slot as usize).is_some_and(Option::is_some);
            match health {
                GpuHealth::Healthy if inside => {
                    if let Some(members) = members.get_mut(slot as usize) {
                        members.push(gpu);
                    }
                }
                GpuHealth::Healthy => pool.push(gpu),
                GpuHealth::Slow(speed)
                    if inside
                        && !self.is_spare
                        && !self.benched(first.saturating_add(slot), *speed) =>
                {
                    if let Some(members) = members.get_mut(slot as usize) {
                        members.push(gpu);
                    }
                }
                _ => {}
            }
        }
        if used == 0 {
            return Vec::new();
        }
        let wanted = |slot: usize| match self.slots.get(slot) {
            Some(Some(role)) if self.holds_back() => role.degree,
            Some(Some(_)) => tp,
            _ => 0,
        };
        if self.holds_back() {
            // Held GPUs stand in: surplus of every slot, and all of the slots that were given up.
            for (slot, gpus) in members.iter_mut().enumerate() {
                let keep = wanted(slot) as usize;
                if gpus.len() > keep {
                    pool.extend(gpus.split_off(keep));
                }
            }
            order::sort(&mut pool);
        }
        let mut order: Vec<usize> = (0..members.len())
            .filter(|&slot| wanted(slot) > 0)
            .collect();
        let missing = |slot: usize, members: &[Vec<u32>]| {
            (wanted(slot) as usize).saturating_sub(members.get(slot).map_or(0, Vec::len))
        };
        order::sort_by_key(&mut order, |&slot| (missing(slot, &members), slot));
        let mut pool = pool.into_iter();
        for slot in order {
            let missing = missing(slot, &members);
            if let Some(gpus) = members.get_mut(slot) {
                gpus.extend(pool.by_ref().take(missing));
                order::sort(gpus);
            }
        }
        members
    }
}

impl DomainView {
    /// Slots beyond the job's in its last domain stay empty.
    fn fit(mut self, slots: u32) -> Self {
        self.slots.resize(slots as usize, None);
        self.degrees.resize(slots as usize, 0);
        self
    }
}

/// A GPU that does not compute.
fn resting(health: GpuHealth, state: GpuState) -> GpuView {
    let (state, perf) = match health {
        GpuHealth::Failed => (GpuState::Failed, 0.0),
        GpuHealth::Restarting => (GpuState::Restarting, 0.0),
        GpuHealth::Healthy => (state, 0.0),
        GpuHealth::Slow(speed) => (state, speed),
    };
    GpuView {
        state,
        tp_rank: None,
        load: 0.0,
        perf,
        sends_gradients: false,
    }
}
