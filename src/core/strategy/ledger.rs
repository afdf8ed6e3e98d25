//! Counts GPUs by what they do right now: the ledger and the watts.

use super::evaluator::{Evaluator, Timing};
use super::in_domain_spares::whole_slots;
use super::pattern::{Losses, Pattern};
use super::plan::Plan;
use super::{LedgerNow, StrategyId};

/// Power of a healthy GPU that does not compute, x TDP: an assumption, between the tenth of TDP that an idle board reads
/// and what one with its memory and links kept up draws.
pub const IDLE_POWER: f64 = 0.2;

/// GPUs by use; they add up to `occupied`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Totals {
    /// All GPUs the strategy occupies.
    pub occupied: u64,
    /// Compute.
    pub working: u64,
    /// Would compute, were the job not paused.
    pub paused: u64,
    /// Failed and restarting.
    pub failed: u64,
    /// Held or left over.
    pub spare: u64,
    /// Healthy, but of no use now.
    pub idle: u64,
    /// Those of the idle ones that running replicas bench for a degree.
    pub parity: u32,
    /// Power of all, in units of TDP.
    pub power: f64,
}

impl Totals {
    /// Counts a plan.
    pub fn new(
        evaluator: &Evaluator<'_>,
        id: StrategyId,
        pattern: &Pattern,
        plan: &Plan,
        losses: &Losses,
        paused: bool,
    ) -> Self {
        let placement = evaluator.placement();
        let size = u64::from(placement.domain_size);
        let held = u64::from(evaluator.held_spares(id));
        let occupied = placement.occupied_gpus() + held * size;

        let spares_down = pattern
            .spares
            .iter()
            .filter(|spare| u64::from(spare.spare) < held)
            .map(|spare| u64::from(spare.down));
        let spares_down: u64 = spares_down.sum();
        let failed = losses
            .domains
            .iter()
            .map(|domain| u64::from(domain.down))
            .sum::<u64>()
            + spares_down;

        let group = u64::from(placement.groups_per_replica);
        let mut working = u64::from(plan.healthy_replicas) * group * u64::from(plan.degree);
        let mut boost = 0.0;
        let mut parity = 0;
        for slot in plan.running().flat_map(|replica| &replica.slots) {
            working += u64::from(slot.degree);
            boost += (slot.power - 1.0) * f64::from(slot.degree);
            parity += slot.idle;
        }
        let extra = plan.extra.len() as u64 * group * u64::from(placement.tp);

        // Left-over and held GPUs of the job's domains.
        let outside = |domain: u32| {
            size.saturating_sub(u64::from(placement.slots_in(domain)) * u64::from(plan.degree))
        };
        let all = placement
            .occupied_gpus()
            .saturating_sub(u64::from(placement.slots()) * u64::from(plan.degree));
        let at_damaged: u64 = losses
            .domains
            .iter()
            .map(|domain| outside(domain.domain))
            .sum();
        let still: u64 = losses
            .domains
            .iter()
            .filter(|domain| !plan.replaced.has(domain.domain))
            .map(|domain| match id {
                StrategyId::InDomainSpares => {
                    let whole = whole_slots(placement, plan.degree, domain.domain, domain.unfit);
                    let left = size.saturating_sub(u64::from(domain.unfit));
                    if whole == placement.slots_in(domain.domain) {
                        left.saturating_sub(u64::from(whole) * u64::from(plan.degree))
                    } else {
                        0
                    }
                }
                _ => u64::from(domain.outside_free),
            })
            .sum();
        let mut spare = all.saturating_sub(at_damaged) + still;
        // Spare domains: what is neither down nor in use.
        let replacing: u64 = plan
            .replaced
            .iter()
            .map(|(domain, _)| u64::from(placement.slots_in(domain)))
            .sum();
        let used = replacing * u64::from(placement.tp) + extra;
        spare += (held * size)
            .saturating_sub(spares_down)
            .saturating_sub(used);
        working += extra;

        let alive = occupied.saturating_sub(failed);
        let mut totals = Self {
            occupied,
            failed,
            ..Self::default()
        };
        if paused {
            totals.spare = spare.min(alive);
            totals.paused = alive - totals.spare;
            boost = 0.0;
        } else {
            totals.working = working.min(alive);
            totals.spare = spare.min(alive - totals.working);
            totals.idle = alive - totals.working - totals.spare;
            totals.parity = parity;
        }
        let benched = totals.occupied - totals.failed - totals.working;
        totals.power = totals.working as f64 + boost + IDLE_POWER * benched as f64;
        totals
    }

    /// The ledger of these counts: what working GPUs do not deliver is resharding or a reduced batch, what they
    /// deliver beyond their number is won back.
    pub fn ledger(&self, timing: &Timing, goodput: f64) -> LedgerNow {
        let all = self.occupied.max(1) as f64;
        let share = |gpus: u64| gpus as f64 / all;
        let working = share(self.working);
        let reshard = if timing.step > 0.0 {
            working * (timing.reshard / timing.step)
        } else {
            0.0
        };
        let won_back = (goodput + reshard - working).max(0.0);
        let productive = goodput - won_back;
        LedgerNow {
            productive,
            degraded: (working - productive - reshard).max(0.0),
            idle_healthy: share(self.idle),
            spare: share(self.spare),
            failed: share(self.failed),
            reshard_exposed: reshard,
            paused: share(self.paused),
            won_back,
        }
    }
}
