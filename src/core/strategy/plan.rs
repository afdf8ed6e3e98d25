//! What a strategy decides, in numbers; [`super::outcome`] turns it into words and physical slots.

use super::evaluator::Evaluator;
use super::pattern::Losses;
use super::{BoostLimit, StrategyId, dp_drop, hot_spares, in_domain_spares, ntp, ntp_pw, wait};
use crate::core::scenario::Policy;
use crate::core::table::Table;

/// One strategy: what it holds back and what it does about losses.
pub(super) trait Strategy: Sync {
    /// How many of the spare domains it holds (and is charged for).
    fn held_spare_domains(&self, policy: &Policy) -> u32;
    /// What it does. The evaluator adds what follows: mini-batch rules, rate, ledger.
    fn plan(&self, evaluator: &Evaluator<'_>, losses: &Losses) -> Plan;
}

/// The module of each strategy.
pub(super) fn strategy(id: StrategyId) -> &'static dyn Strategy {
    match id {
        StrategyId::Wait => &wait::Wait,
        StrategyId::DpDrop => &dp_drop::DpDrop,
        StrategyId::HotSpares => &hot_spares::HotSpares,
        StrategyId::InDomainSpares => &in_domain_spares::InDomainSpares,
        StrategyId::Ntp => &ntp::Ntp,
        StrategyId::NtpPw => &ntp_pw::NtpPw,
    }
}

/// One TP group of a damaged replica.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PlannedSlot {
    /// Physical slot; none for a healthy one that fills the replica up.
    pub slot: Option<u32>,
    /// TP degree it runs at, 0 when dropped.
    pub degree: u32,
    /// Healthy GPUs it benches to run at that degree.
    pub idle: u32,
    /// Speed of its slowest kept GPU.
    pub slow: f64,
    /// Power of its GPUs, x TDP.
    pub power: f64,
    /// What kept the boost from going higher.
    pub limit: BoostLimit,
}

impl PlannedSlot {
    /// A whole group at base clock.
    pub const fn whole(degree: u32) -> Self {
        Self {
            slot: None,
            degree,
            idle: 0,
            slow: 1.0,
            power: 1.0,
            limit: BoostLimit::None,
        }
    }
    /// A group that does not run.
    pub const fn dropped(slot: Option<u32>) -> Self {
        Self {
            slot,
            degree: 0,
            idle: 0,
            slow: 1.0,
            power: 1.0,
            limit: BoostLimit::None,
        }
    }
}

/// One damaged replica.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlannedReplica {
    /// Its TP groups, damaged ones first.
    pub slots: Vec<PlannedSlot>,
    /// Sequences per step, 0 when dropped.
    pub local_batch: u32,
}

/// Watts of a boosted domain, in units of TDP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DomainPower {
    /// Physical domain.
    pub domain: u32,
    /// GPUs of reduced groups, which may be boosted.
    pub survivors: u32,
    /// GPUs at TDP: those of whole groups.
    pub busy: u32,
    /// GPUs that draw nothing.
    pub dead: u32,
    /// The rest.
    pub idle: u32,
}

/// What a strategy does about the losses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Damaged replicas, worst first: logical replicas 0, 1, ...
    pub affected: Vec<PlannedReplica>,
    /// Replicas without damage.
    pub healthy_replicas: u32,
    /// TP degree of the latter.
    pub degree: u32,
    /// Lowest degree that runs.
    pub sync_degree: u32,
    /// Slowest kept GPU among whole groups.
    pub pace: f64,
    /// Local batches of extra replicas made of spare domains.
    pub extra: Vec<u32>,
    /// Damaged domains that spare domains replace, each with the place of its spare among those used.
    pub replaced: Table<u32>,
    /// Spare domains in use.
    pub spares_used: u32,
    /// Power budgets of the domains with reduced groups, by index; empty without boosts.
    pub power: Vec<DomainPower>,
    /// The job does not run.
    pub paused: bool,
}

impl Plan {
    /// All replicas run whole.
    pub fn whole(evaluator: &Evaluator<'_>, losses: &Losses) -> Self {
        let placement = evaluator.placement();
        Self {
            affected: Vec::new(),
            healthy_replicas: placement.replicas,
            degree: placement.tp,
            sync_degree: placement.tp,
            pace: losses.pace(&Table::none()),
            extra: Vec::new(),
            replaced: Table::none(),
            spares_used: 0,
            power: Vec::new(),
            paused: false,
        }
    }

    /// Damaged replicas that run.
    pub fn running(&self) -> impl Iterator<Item = &PlannedReplica> {
        self.affected
            .iter()
            .filter(|replica| replica.local_batch > 0)
    }

    /// Damaged replicas that do not.
    pub fn dropped(&self) -> u32 {
        self.affected
            .iter()
            .filter(|replica| replica.local_batch == 0)
            .count() as u32
    }
}

/// Damaged slots that cannot run, packed into as few replicas as possible, all dropped.
pub(super) fn dropped_replicas(group: u32, slots: &[u32]) -> Vec<PlannedReplica> {
    let group = group.max(1) as usize;
    slots
        .chunks(group)
        .map(|chunk| {
            let mut slots: Vec<PlannedSlot> = chunk
                .iter()
                .map(|&slot| PlannedSlot::dropped(Some(slot)))
                .collect();
            slots.resize(group, PlannedSlot::dropped(None));
            PlannedReplica {
                slots,
                local_batch: 0,
            }
        })
        .collect()
}
