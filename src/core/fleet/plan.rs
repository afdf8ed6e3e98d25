//! What stays fixed during a run: the shape of each strategy's fleet and the operator's times.

use super::interval::{daly, young};
use super::progress::Cycle;
use crate::core::faults::{CheckpointEvery, Faults, Formula, Scope, Site, TakeBack};
use crate::core::scenario::Job;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;

/// The fleet of one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Domains of the job.
    pub domains: u32,
    /// Spare domains this strategy holds.
    pub spare_domains: u32,
    /// GPUs per domain.
    pub domain_size: u32,
    /// GPUs per slot.
    pub tp: u32,
    /// Slots per domain.
    pub slots_per_domain: u32,
    /// Slots of the whole job.
    pub slots: u32,
    /// GPUs of every slot held back, beyond those that the layout leaves over.
    pub held: u32,
}

impl Shape {
    /// The fleet that `strategy` holds for `job`.
    pub fn of(job: &Job, strategy: StrategyId) -> Self {
        let (placement, policy) = (&job.placement, &job.scenario.policy);
        let spare_domains = match strategy {
            StrategyId::Wait | StrategyId::InDomainSpares => 0,
            StrategyId::HotSpares => policy
                .spare_domains
                .saturating_add(policy.hot_spare_domains),
            _ => policy.spare_domains,
        };
        let held = if strategy == StrategyId::InDomainSpares {
            let free = placement
                .domain_size
                .saturating_sub(policy.in_domain_spares);
            placement.tp.saturating_sub(
                (free / placement.slots_per_domain.max(1)).clamp(1, placement.tp.max(1)),
            )
        } else {
            0
        };
        Self {
            domains: placement.domains,
            spare_domains,
            domain_size: placement.domain_size,
            tp: placement.tp,
            slots_per_domain: placement.slots_per_domain,
            slots: placement.slots(),
            held,
        }
    }
    /// GPUs of the job's domains.
    pub fn job_gpus(&self) -> u64 {
        u64::from(self.domains) * u64::from(self.domain_size)
    }
    /// GPUs that the strategy occupies, spare domains included.
    pub fn occupied_gpus(&self) -> u64 {
        self.job_gpus() + u64::from(self.spare_domains) * u64::from(self.domain_size)
    }
    /// Slots of one domain that hold a TP group.
    pub fn slots_of(&self, domain: u32) -> u32 {
        if domain < self.domains {
            self.slots_per_domain.min(
                self.slots
                    .saturating_sub(domain.saturating_mul(self.slots_per_domain)),
            )
        } else {
            self.slots_per_domain
        }
    }
    /// Whether a GPU of a domain without failures is a spare: left over or held back.
    pub fn spare_when_healthy(&self, domain: u32, gpu: u32) -> bool {
        gpu >= self.slots_of(domain) * self.tp
            || (self.held > 0 && gpu % self.tp.max(1) >= self.tp - self.held)
    }
    /// GPUs that compute in the healthy job.
    pub fn working_gpus(&self) -> u64 {
        u64::from(self.slots) * u64::from(self.tp - self.held.min(self.tp))
    }
}

/// Everything a lane needs to know beside the trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Where failures strike.
    pub site: Site,
    /// The strategies' fleets, in the order of [`StrategyId::ALL`].
    pub shapes: [Shape; StrategyId::ALL.len()],
    /// The checkpoint cycle.
    pub cycle: Cycle,
    /// From detection to computing again.
    pub restart: Nanos,
    /// Extra time when a restart brings new spare domains in.
    pub spare_start: Nanos,
    /// When repaired hardware is taken back.
    pub take_back: TakeBack,
    /// Mean time between interruptions of the healthy job.
    pub mtbi: Nanos,
}

impl Plan {
    /// From a job and its faults, with the analytic mean time between interruptions.
    pub fn new(job: &Job, faults: &Faults) -> Self {
        let shapes = StrategyId::ALL.map(|strategy| Shape::of(job, strategy));
        let site = Site::of(job);
        Self::with_mtbi(site, shapes, faults, mtbi_h(&site, &shapes[0], faults))
    }

    /// The same for a trace whose mean time between interruptions is known otherwise, hours.
    pub fn with_mtbi(
        site: Site,
        shapes: [Shape; StrategyId::ALL.len()],
        faults: &Faults,
        mtbi_h: f64,
    ) -> Self {
        let minutes = |value: f64| Nanos::from_hours(value / 60.0);
        let saved = &faults.checkpoint;
        let (takes, mtbi_min) = (saved.takes_min, mtbi_h * 60.0);
        let every = match saved.every_min {
            CheckpointEvery::Minutes(every) => every,
            // A save that costs nothing would be taken all the time: once a second then.
            CheckpointEvery::Formula(Formula::Young) => {
                young(takes, mtbi_min).clamp(1.0 / 60.0, 1e7)
            }
            CheckpointEvery::Formula(Formula::Daly) => daly(takes, mtbi_min).clamp(1.0 / 60.0, 1e7),
        };
        Self {
            site,
            shapes,
            cycle: Cycle::new(
                saved.mode,
                minutes(every),
                minutes(takes),
                minutes(saved.stall_min),
                saved.slowdown,
            ),
            restart: minutes(faults.restart_min),
            spare_start: minutes(faults.spare_start_min),
            take_back: faults.take_back,
            mtbi: Nanos::from_hours(mtbi_h),
        }
    }

    /// The fleet of one strategy.
    pub fn shape(&self, strategy: StrategyId) -> &Shape {
        let [first, ..] = &self.shapes;
        self.shapes.get(strategy as usize).unwrap_or(first)
    }
}

/// Mean hours between interruptions of the healthy job; infinite without failures.
pub fn mtbi_h(site: &Site, shape: &Shape, faults: &Faults) -> f64 {
    let rate: f64 = faults
        .causes
        .iter()
        .map(|cause| cause.unit_rate_per_h() * units_in_job(site, shape, cause.scope))
        .sum();
    let rate = rate * faults.rate_multiplier;
    if rate > 0.0 {
        1.0 / rate
    } else {
        f64::INFINITY
    }
}

/// Units of a scope that hold at least one computing GPU.
fn units_in_job(site: &Site, shape: &Shape, scope: Scope) -> f64 {
    match scope {
        Scope::Job => 1.0,
        Scope::Domain => f64::from(shape.domains),
        Scope::Gpu => shape.working_gpus() as f64,
        Scope::Node | Scope::Tray => {
            // Slots fill a domain from GPU 0 on, so the trays in use are the first ones.
            let trays = |domain: u32| {
                f64::from((shape.slots_of(domain) * shape.tp).div_ceil(site.tray_gpus.max(1)))
            };
            let last = shape.domains.saturating_sub(1);
            f64::from(last) * trays(0) + trays(last)
        }
    }
}
