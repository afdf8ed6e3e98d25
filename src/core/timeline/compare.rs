//! Replica kinds side by side, and what resharding costs: every step simulated with and without it.

use super::spec::{ReplicaKind, StepSpec};
use super::{Settings, Timeline, TimelineError, simulate, step_time};
use crate::core::scenario::Job;
use crate::core::strategy::{Evaluation, StrategyId};
use crate::core::units::{Bytes, Nanos};

/// A replica of one of the simulated steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How it takes part.
    pub kind: ReplicaKind,
    /// Position in [`StepView::worlds`].
    pub world: usize,
    /// Position in that timeline's replicas.
    pub replica: usize,
}

/// One strategy's step.
#[derive(Clone, Debug, PartialEq)]
pub struct World {
    /// Which strategy.
    pub strategy: StrategyId,
    /// The step.
    pub timeline: Timeline,
    /// Its time were resharding free: [`World::exposed`] is the difference.
    pub without_reshard: Nanos,
    /// Its throughput relative to the healthy job, as the strategy reports it.
    pub throughput: f64,
}

impl World {
    fn has_healthy(&self) -> bool {
        self.timeline
            .spec
            .replicas
            .first()
            .is_some_and(|replica| replica.kind == ReplicaKind::Healthy)
    }
    /// Time by which resharding lengthens the step.
    pub fn exposed(&self) -> Nanos {
        self.timeline.step.saturating_sub(self.without_reshard)
    }
    /// Where it shows: it ends where the optimizer starts.
    pub fn exposed_band(&self) -> (Nanos, Nanos) {
        let end = self.timeline.optimizer_start;
        (end.saturating_sub(self.exposed()), end)
    }
}

/// Everything the step panel shows.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    /// The job without failures.
    pub healthy: Timeline,
    /// The steps under `ntp` and `ntp-pw`, the selected one first; empty without failures.
    pub worlds: Vec<World>,
    /// The replicas shown, top to bottom: a healthy one of the first world (of [`StepView::healthy`] without worlds), the
    /// one that lost most under `ntp`, the one that is boosted most under `ntp-pw`.
    pub groups: Vec<Group>,
    /// The step that the analytical model gives the healthy job, to compare with [`StepView::healthy`].
    pub analytical: Nanos,
}

impl StepView {
    /// The timeline of a group.
    pub fn timeline(&self, group: &Group) -> &Timeline {
        self.worlds
            .get(group.world)
            .map_or(&self.healthy, |world| &world.timeline)
    }

    /// Simulated over analytical step of the healthy job, less one.
    pub fn disagreement(&self) -> f64 {
        if self.analytical.0 == 0 {
            0.0
        } else {
            self.healthy.step.0 as f64 / self.analytical.0 as f64 - 1.0
        }
    }
}

/// Simulates what the panel shows of a job that was evaluated. `job` and `evaluation` are those of [`Settings::apply`].
pub fn view(
    job: &Job,
    evaluation: &Evaluation,
    selected: StrategyId,
    settings: &Settings,
) -> Result<StepView, TimelineError> {
    let healthy = simulate(&StepSpec::healthy(
        job,
        settings.bucket_bytes,
        settings.stage,
    )?)?;
    let mut order = [StrategyId::NtpPw, StrategyId::Ntp];
    if selected == StrategyId::Ntp {
        order.reverse();
    }
    let mut worlds = Vec::new();
    for strategy in order {
        let Some(outcome) = evaluation.get(strategy).filter(|outcome| !outcome.paused) else {
            continue;
        };
        let Ok(spec) = StepSpec::of_outcome(job, outcome, settings.bucket_bytes, settings.stage)
        else {
            continue;
        };
        if spec
            .replicas
            .iter()
            .all(|replica| replica.kind == ReplicaKind::Healthy)
        {
            continue;
        }
        let timeline = simulate(&spec)?;
        let without_reshard = step_time(&spec.without_reshard())?;
        worlds.push(World {
            strategy,
            timeline,
            without_reshard,
            throughput: outcome.throughput,
        });
    }
    let mut groups = vec![Group {
        kind: ReplicaKind::Healthy,
        world: 0,
        replica: 0,
    }];
    if worlds
        .first()
        .is_some_and(|world: &World| !world.has_healthy())
    {
        groups.clear();
    }
    for strategy in [StrategyId::Ntp, StrategyId::NtpPw] {
        let found = worlds.iter().position(|world| world.strategy == strategy);
        groups.extend(found.and_then(|world| {
            let spec = &worlds.get(world)?.timeline.spec;
            let replica = spec.worst()?;
            Some(Group {
                kind: spec.replicas.get(replica)?.kind,
                world,
                replica,
            })
        }));
    }
    Ok(StepView {
        analytical: Nanos::from_seconds(evaluation.healthy.cost.step_s),
        healthy,
        worlds,
        groups,
    })
}

/// Exposed resharding time at each bucket size.
pub fn exposed_by_bucket(
    spec: &StepSpec,
    sizes: &[Bytes],
) -> Result<Vec<(Bytes, Nanos)>, TimelineError> {
    sizes
        .iter()
        .map(|&bucket_bytes| {
            let spec = StepSpec {
                bucket_bytes,
                ..spec.clone()
            };
            Ok((
                bucket_bytes,
                step_time(&spec)?.saturating_sub(step_time(&spec.without_reshard())?),
            ))
        })
        .collect()
}
