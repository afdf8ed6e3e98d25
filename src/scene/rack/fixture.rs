//! Domains for the tests of this module.

use crate::core::placement::Placement;
use crate::core::strategy::{DomainView, GpuState, GpuView};

/// A placement without spare domains.
pub fn placement(domain_size: u32, tp: u32, groups_per_replica: u32, replicas: u32) -> Placement {
    let slots_per_domain = domain_size / tp;
    Placement {
        domain_size,
        tp,
        slots_per_domain,
        left_over: domain_size - slots_per_domain * tp,
        groups_per_replica,
        replicas,
        domains: (groups_per_replica * replicas).div_ceil(slots_per_domain),
        spare_domains: 0,
    }
}

/// Domains without failures, those past the job's as spares.
pub fn healthy(placement: &Placement, domains: u32) -> Vec<DomainView> {
    (0..domains)
        .map(|index| {
            let slots: Vec<Option<(u32, u32)>> = (0..placement.slots_per_domain)
                .map(|slot| {
                    let slot = index * placement.slots_per_domain + slot;
                    (slot < placement.groups_per_replica * placement.replicas).then_some((
                        slot / placement.groups_per_replica,
                        slot % placement.groups_per_replica,
                    ))
                })
                .collect();
            let gpus = (0..placement.domain_size)
                .map(|gpu| {
                    let slot = slots.get((gpu / placement.tp) as usize).copied().flatten();
                    let state = match slot {
                        Some(_) => GpuState::Healthy,
                        None if index < placement.domains => GpuState::LeftOver,
                        None => GpuState::Spare,
                    };
                    let works = state == GpuState::Healthy;
                    GpuView {
                        state,
                        tp_rank: works.then_some(gpu % placement.tp),
                        load: if works { 1.0 } else { 0.0 },
                        perf: if works { 1.0 } else { 0.0 },
                        sends_gradients: false,
                    }
                })
                .collect();
            let degrees = slots
                .iter()
                .map(|slot| if slot.is_some() { placement.tp } else { 0 })
                .collect();
            DomainView {
                index,
                slots,
                gpus,
                degrees,
            }
        })
        .collect()
}
