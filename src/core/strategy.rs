//! The six strategies: what each does about a set of failures, and what that costs.
//!
//! [`evaluate`] is the whole answer for one scenario. Underneath, an [`Evaluator`] works on a [`Pattern`] (failure counts
//! per TP group), so that a fleet simulator can ask for the [`Rate`] of millions of patterns without touching GPUs.

mod dp_drop;
mod evaluator;
mod hot_spares;
mod in_domain_spares;
mod ledger;
mod nonuniform;
mod ntp;
mod ntp_pw;
mod outcome;
mod pattern;
mod plan;
mod summary;
mod views;
mod wait;

pub use evaluator::{Evaluator, Rate};
pub use ledger::IDLE_POWER;
pub use pattern::{DomainLoss, Pattern, SlotLoss, SpareLoss};
pub use views::domain_views;

use super::cost::StepCost;
use super::scenario::Job;
use super::units::{Seconds, Watts};
use serde::{Deserialize, Serialize};

/// A strategy, by the id that the command line, files and page share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrategyId {
    /// Pause until repaired.
    Wait,
    /// Drop affected replicas.
    DpDrop,
    /// Replace failed domains by spare domains.
    HotSpares,
    /// Hold GPUs of every domain back.
    InDomainSpares,
    /// Nonuniform TP: reduced degree, smaller local batch.
    Ntp,
    /// Nonuniform TP with power boost.
    NtpPw,
}

impl StrategyId {
    /// All six, worst expected first.
    pub const ALL: [Self; 6] = [
        Self::Wait,
        Self::DpDrop,
        Self::HotSpares,
        Self::InDomainSpares,
        Self::Ntp,
        Self::NtpPw,
    ];

    /// The id as written in files.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::DpDrop => "dp-drop",
            Self::HotSpares => "hot-spares",
            Self::InDomainSpares => "in-domain-spares",
            Self::Ntp => "ntp",
            Self::NtpPw => "ntp-pw",
        }
    }
}

/// What keeps a boost from going higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoostLimit {
    /// Nothing: the needed boost is reached.
    None,
    /// The per-GPU cap of the policy.
    Cap,
    /// The rack's electrical and thermal headroom.
    RackHeadroom,
}

/// Power of one boosted domain: the two budgets, apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BoostPower {
    /// Power of each survivor, x TDP.
    pub p: f64,
    /// Compute factor that gives.
    pub perf: f64,
    /// Extra watts all survivors of the domain need.
    pub needed_w: Watts,
    /// Watts freed by dead and idle GPUs of the domain.
    pub freed_w: Watts,
    /// Watts the rack can deliver and cool beyond TDP of all its GPUs.
    pub headroom_w: Watts,
    /// Which of the limits holds the boost back.
    pub limit: BoostLimit,
}

/// What stragglers of one speed did to a TP group.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SlowChoice {
    /// Slot of the TP group.
    pub slot: u32,
    /// Speed of the slow GPU.
    pub speed: f64,
    /// Throughput of the job when it is kept.
    pub kept: f64,
    /// Throughput when it is benched as if failed.
    pub benched: f64,
    /// What the strategy does.
    pub bench: bool,
}

/// One data-parallel replica under a strategy. Replica 0 holds the worst domains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplicaPlan {
    /// Logical index; extra replicas made of spare domains come last.
    pub index: u32,
    /// Physical slots of its TP groups, in stage order.
    pub slots: Vec<u32>,
    /// TP degree per TP group.
    pub degrees: Vec<u32>,
    /// Sequences per step; 0 when dropped.
    pub local_batch: u32,
    /// Power of each TP group's GPUs, x TDP.
    pub powers: Vec<f64>,
    /// Highest power of its GPUs, x TDP.
    pub boost_p: f64,
    /// Compute factor at that power, 1 without boost.
    pub perf: f64,
    /// Clock of its boosted GPUs, MHz, where the base clock is published.
    pub clock_mhz: Option<f64>,
    /// The power budgets of its worst boosted domain.
    pub boost: Option<BoostPower>,
    /// Its own step, were it alone.
    pub cost: StepCost,
}

/// How one TP group's slot runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRun {
    /// Physical slot.
    pub slot: u32,
    /// TP degree it runs at, 0 when its replica is dropped; none while the whole job is paused.
    pub degree: Option<u32>,
    /// Whether a group of its replica runs at raised clocks.
    pub boosted: bool,
}

/// Where GPU-time goes right now, as fractions of all occupied GPUs; all but `won_back` add up to 1.
///
/// `productive + won_back` equals goodput: raised clocks (or work that does not shrink with the degree) make survivors
/// deliver more than their share of GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LedgerNow {
    /// Delivers at the healthy rate.
    pub productive: f64,
    /// Replicas that run a reduced batch or wait for slower peers.
    pub degraded: f64,
    /// Healthy but dropped, benched, or idle for parity.
    pub idle_healthy: f64,
    /// Spare and left-over GPUs.
    pub spare: f64,
    /// Failed and restarting GPUs.
    pub failed: f64,
    /// Resharding that shows.
    pub reshard_exposed: f64,
    /// The whole job is paused.
    pub paused: f64,
    /// Beyond the sum: delivered by survivors in the place of GPUs that are lost.
    pub won_back: f64,
}

/// What one strategy makes of the failures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Which strategy.
    pub strategy: StrategyId,
    /// Tokens per second relative to the healthy job of the given layout, 0 to 1.
    pub throughput: f64,
    /// Tokens per second relative to the healthy rate of all GPUs the strategy occupies, 0 to 1.
    pub goodput: f64,
    /// GPUs the strategy occupies: job domains, left-over GPUs, spare domains.
    pub occupied_gpus: u64,
    /// Sequences per step over all replicas.
    pub minibatch: u32,
    /// Time of one step of the job.
    pub step_s: Seconds,
    /// Whether the job does not run at all.
    pub paused: bool,
    /// Replicas, worst first.
    pub replicas: Vec<ReplicaPlan>,
    /// Spare domains in use.
    pub spare_domains_used: u32,
    /// Replicas that deliver nothing.
    pub dropped_replicas: u32,
    /// Healthy GPUs of running replicas idled so that TP groups share a degree, or reach a supported one.
    pub parity_idle_gpus: u32,
    /// Power drawn by all occupied GPUs.
    pub power_w: Watts,
    /// Energy per token trained on; none while the job delivers nothing.
    pub energy_per_token_j: Option<f64>,
    /// Resharding that lengthens the step.
    pub reshard_exposed_s: Seconds,
    /// Stragglers, and what was decided.
    pub slow: Vec<SlowChoice>,
    /// Where the GPU-time goes.
    pub ledger: LedgerNow,
    /// One sentence fragment for the row, such as "1 of 8 replicas dropped".
    pub summary: String,
}

/// State of one GPU under a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GpuState {
    /// Works at base clock.
    Healthy,
    /// Dead until repaired.
    Failed,
    /// Back after a restart.
    Restarting,
    /// Works, slower than its peers.
    Slow,
    /// Works at a raised clock.
    Boosted,
    /// Healthy, benched so that all reduced replicas share a degree.
    Parity,
    /// Healthy, benched for another reason (its replica is dropped, the job is paused, a straggler is benched).
    Idle,
    /// Held to replace a failed one.
    Spare,
    /// Outside the layout.
    LeftOver,
}

impl GpuState {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Healthy,
        Self::Failed,
        Self::Restarting,
        Self::Slow,
        Self::Boosted,
        Self::Parity,
        Self::Idle,
        Self::Spare,
        Self::LeftOver,
    ];
    /// The word of the `data-state` attribute.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failed => "failed",
            Self::Restarting => "restarting",
            Self::Slow => "slow",
            Self::Boosted => "boosted",
            Self::Parity => "parity",
            Self::Idle => "idle",
            Self::Spare => "spare",
            Self::LeftOver => "leftover",
        }
    }
    /// The words of the `aria-label`.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Parity => "idle for parity",
            Self::LeftOver => "left over",
            other => other.id(),
        }
    }
}

/// One GPU as the rack shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GpuView {
    /// State.
    pub state: GpuState,
    /// Rank inside its TP group; none when it does not compute.
    pub tp_rank: Option<u32>,
    /// Work of this rank relative to a healthy rank's (1 = healthy share), 0 when it does not compute.
    pub load: f64,
    /// Compute factor (clock relative to base, speed of a slow GPU, benched ones included), 0 when it cannot compute.
    pub perf: f64,
    /// An extra rank of a healthy replica: sends its gradients to core ranks.
    pub sends_gradients: bool,
}

impl GpuView {
    /// Whether it is idle because its group does better without a GPU this slow.
    pub fn benched(&self) -> bool {
        self.state == GpuState::Idle && self.perf > 0.0
    }
}

/// One domain as the rack shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DomainView {
    /// Physical index.
    pub index: u32,
    /// Logical replica and stage of each of its slots; none for spare domains.
    pub slots: Vec<Option<(u32, u32)>>,
    /// GPUs, by index in the domain.
    pub gpus: Vec<GpuView>,
    /// TP degree of each slot, 0 when dropped.
    pub degrees: Vec<u32>,
}

/// The job without failures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Healthy {
    /// Step of one replica, by term.
    pub cost: StepCost,
    /// Tokens per second of the whole job.
    pub tokens_per_s: f64,
    /// Power of all GPUs the job occupies.
    pub power_w: Watts,
    /// Energy per token trained on.
    pub energy_per_token_j: f64,
}

/// All strategies on the same failures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// The job without failures.
    pub healthy: Healthy,
    /// One outcome a strategy, in the order of [`StrategyId::ALL`].
    pub outcomes: Vec<Outcome>,
}

impl Evaluation {
    /// The outcome of a strategy.
    pub fn get(&self, id: StrategyId) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.strategy == id)
    }
}

/// Every strategy on the job's failures.
pub fn evaluate(job: &Job) -> Evaluation {
    let evaluator = Evaluator::new(job);
    let pattern = Pattern::of(job);
    let outcomes = StrategyId::ALL
        .into_iter()
        .map(|id| evaluator.outcome(id, &pattern))
        .collect();
    Evaluation {
        healthy: evaluator.healthy(),
        outcomes,
    }
}

#[cfg(test)]
mod tests;
