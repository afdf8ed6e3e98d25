//! Where TP groups sit: slots of TP GPUs inside scale-up domains, left-over GPUs, spare domains.
//!
//! A *slot* is a run of TP consecutive GPUs of one domain, the place of one TP group. Slot `s` belongs to replica
//! `s / (pp * cp)` of the healthy job and to stage `(s / cp) % pp`.

pub mod health;
mod packing;

pub use packing::pack;

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
        self.groups_per_replica.saturating_mul(self.replicas)
    }
    /// GPUs of the domains the job occupies, left-over ones included, spare domains not.
    pub fn occupied_gpus(&self) -> u64 {
        u64::from(self.domains) * u64::from(self.domain_size)
    }
    /// Domain of a slot; spare domains' slots are numbered on after those of the job's domains.
    pub fn domain_of(&self, slot: u32) -> u32 {
        slot / self.slots_per_domain.max(1)
    }
    /// First slot number of a domain.
    pub fn first_slot(&self, domain: u32) -> u32 {
        domain.saturating_mul(self.slots_per_domain)
    }
    /// Slots of a domain that the job uses: fewer in its last domain, none in a spare one.
    pub fn slots_in(&self, domain: u32) -> u32 {
        self.slots()
            .saturating_sub(self.first_slot(domain))
            .min(self.slots_per_domain)
    }
    /// GPUs of a domain outside the job's slots, which heal those inside.
    pub fn outside(&self, domain: u32) -> u32 {
        self.domain_size
            .saturating_sub(self.slots_in(domain).saturating_mul(self.tp))
    }
    /// GPUs the layout itself uses.
    pub fn layout_gpus(&self) -> u64 {
        u64::from(self.slots()) * u64::from(self.tp)
    }
}
