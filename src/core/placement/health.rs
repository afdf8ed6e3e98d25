//! Which GPUs the failures of a scenario take down, blast radius included.

use crate::core::order;
use crate::core::scenario::{Failure, FailureKind, Policy};
use crate::core::table::Table;

/// What failures leave of one GPU. Where several strike the same GPU the worst holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum GpuHealth {
    /// Untouched.
    #[default]
    Healthy,
    /// Alive at this speed, relative to a healthy GPU.
    Slow(f64),
    /// Back after a restart.
    Restarting,
    /// Dead until repaired.
    Failed,
}

impl GpuHealth {
    /// Failed or restarting: cannot compute at all.
    pub const fn is_down(self) -> bool {
        matches!(self, Self::Failed | Self::Restarting)
    }
    fn worse_of(self, other: Self) -> Self {
        const fn rank(health: GpuHealth) -> u8 {
            match health {
                GpuHealth::Healthy => 0,
                GpuHealth::Slow(_) => 1,
                GpuHealth::Restarting => 2,
                GpuHealth::Failed => 3,
            }
        }
        match (self, other) {
            (Self::Slow(a), Self::Slow(b)) => Self::Slow(a.min(b)),
            _ if rank(other) > rank(self) => other,
            _ => self,
        }
    }
}

/// Health of every GPU of the domains that failures touch, by domain index; other domains are healthy.
pub type HealthMap = Table<Vec<GpuHealth>>;

/// Expands failures to the GPUs they take down. A failure takes the aligned block of its blast radius with it: 4 is the
/// tray in NVL72, the domain size is the whole domain.
pub fn health(failures: &[Failure], policy: &Policy, domain_size: u32) -> HealthMap {
    // Those of a domain one after another.
    let mut failures: Vec<&Failure> = failures.iter().collect();
    order::sort_by_key(&mut failures, |failure| failure.domain);
    let mut map: Vec<(u32, Vec<GpuHealth>)> = Vec::new();
    for failure in failures {
        let hit = match failure.kind {
            FailureKind::Hardware => GpuHealth::Failed,
            FailureKind::Software => GpuHealth::Restarting,
            FailureKind::Slow if failure.speed < 1.0 => GpuHealth::Slow(failure.speed),
            FailureKind::Slow => GpuHealth::Healthy,
        };
        let default = if failure.kind == FailureKind::Hardware {
            policy.blast_radius
        } else {
            1
        };
        let radius = failure.blast_radius.unwrap_or(default).max(1);
        let first = failure.gpu / radius * radius;
        let last = first.saturating_add(radius).min(domain_size);
        if map.last().is_none_or(|(last, _)| *last != failure.domain) {
            let healthy = vec![GpuHealth::Healthy; domain_size as usize];
            map.push((failure.domain, healthy));
        }
        let gpus = map.last_mut().into_iter().flat_map(|(_, gpus)| gpus);
        for gpu in gpus.take(last as usize).skip(first as usize) {
            *gpu = gpu.worse_of(hit);
        }
    }
    map.retain(|(_, gpus)| gpus.iter().any(|gpu| *gpu != GpuHealth::Healthy));
    Table::of(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::Scenario;

    fn failure(gpu: u32, kind: FailureKind, speed: f64, blast_radius: Option<u32>) -> Failure {
        Failure {
            domain: 3,
            gpu,
            kind,
            speed,
            blast_radius,
        }
    }

    #[test]
    fn a_tray_goes_down_together_and_the_worst_holds() {
        let mut policy = Scenario::default_scene().policy;
        policy.blast_radius = 4;
        let failures = [
            failure(6, FailureKind::Hardware, 1.0, None),
            failure(7, FailureKind::Software, 1.0, None),
            failure(8, FailureKind::Software, 1.0, None),
            failure(9, FailureKind::Slow, 0.9, None),
            failure(9, FailureKind::Slow, 0.8, None),
            failure(71, FailureKind::Hardware, 1.0, Some(50)),
        ];
        let map = health(&failures, &policy, 72);
        let gpus = map.get(3).unwrap();
        assert!(gpus[4..8].iter().all(|gpu| *gpu == GpuHealth::Failed));
        assert_eq!(
            (gpus[3], gpus[8], gpus[9]),
            (
                GpuHealth::Healthy,
                GpuHealth::Restarting,
                GpuHealth::Slow(0.8)
            )
        );
        assert_eq!(
            (gpus[49], gpus[50], gpus[71]),
            (GpuHealth::Healthy, GpuHealth::Failed, GpuHealth::Failed)
        );
    }

    #[test]
    fn full_speed_is_no_failure() {
        let policy = Scenario::default_scene().policy;
        assert!(health(&[failure(1, FailureKind::Slow, 1.0, None)], &policy, 72).is_empty());
    }
}
