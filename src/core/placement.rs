//! Where TP groups sit: slots of TP GPUs inside scale-up domains, left-over GPUs, spare domains.
//!
//! A *slot* is a run of TP consecutive GPUs of one domain, the place of one TP group. Slot `s` belongs to replica
//! `s / (pp * cp)` of the healthy job and to stage `(s / cp) % pp`.

use super::hardware::{FieldError, System};
use super::scenario::{Layout, Policy};

/// The healthy job on its domains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// GPUs per domain.
    pub domain_size: u32,
    /// GPUs per slot.
    pub tp: u32,
    /// Slots per domain.
    pub slots_per_domain: u32,
    /// GPUs of a full domain outside any slot.
    pub left_over: u32,
    /// TP groups per replica.
    pub groups_per_replica: u32,
    /// Replicas.
    pub replicas: u32,
    /// Domains the job occupies.
    pub domains: u32,
    /// Spare domains beyond the job's (the policy's `spare_domains` plus `hot_spare_domains`).
    pub spare_domains: u32,
}

impl Placement {
    /// Places a layout on a system.
    pub fn new(layout: &Layout, policy: &Policy, system: &System) -> Result<Self, FieldError> {
        if layout.tp == 0 || layout.tp > system.domain_size {
            return Err(FieldError::new(
                "layout.tp",
                layout.tp,
                format!("1 to {} (the scale-up domain)", system.domain_size),
            ));
        }
        let slots_per_domain = system.domain_size / layout.tp;
        let groups = layout.groups_per_replica().saturating_mul(layout.dp);
        Ok(Self {
            domain_size: system.domain_size,
            tp: layout.tp,
            slots_per_domain,
            left_over: system.domain_size - slots_per_domain * layout.tp,
            groups_per_replica: layout.groups_per_replica(),
            replicas: layout.dp,
            domains: groups.div_ceil(slots_per_domain),
            spare_domains: policy
                .spare_domains
                .saturating_add(policy.hot_spare_domains),
        })
    }
    /// TP groups of the job.
    pub fn slots(&self) -> u32 {
        self.groups_per_replica * self.replicas
    }
    /// GPUs of the domains the job occupies, left-over ones included, spare domains not.
    pub fn occupied_gpus(&self) -> u64 {
        u64::from(self.domains) * u64::from(self.domain_size)
    }
}
