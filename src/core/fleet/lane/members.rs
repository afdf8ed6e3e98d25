//! Which domains belong to the running job: fixed at every restart, when ranks are assigned afresh.

use super::super::domains::Domains;
use super::super::plan::Shape;
use super::super::rates::Rate;
use crate::core::strategy::StrategyId;

/// Membership of the job since its last restart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Members {
    domains: u32,
    /// Job domains that a spare one replaces, ascending.
    replaced: Vec<u32>,
    /// Spare domains brought in, ascending.
    spares: Vec<u32>,
    /// Affected domains that are benched, ascending.
    benched: Vec<u32>,
    /// All domains affected at the restart, ascending.
    affected: Vec<u32>,
    /// Healthy job domains benched with them: the first this many.
    fill: u32,
    /// Affected job domains with their failed GPUs, worst first; only used while assigning.
    worst: Vec<(u32, u32)>,
}

impl Members {
    /// Assigns after a restart on `domains` at `rate`.
    pub fn assign(&mut self, strategy: StrategyId, shape: &Shape, domains: &Domains, rate: &Rate) {
        self.domains = shape.domains;
        self.replaced.clear();
        self.spares.clear();
        self.benched.clear();
        self.affected.clear();
        self.affected
            .extend(domains.iter().map(|(domain, _)| domain));
        self.fill = 0;
        let mut wanted = rate.spare_domains_used;
        let mut spare = shape.domains;
        while wanted > 0 && spare < shape.domains + shape.spare_domains {
            if self.affected.binary_search(&spare).is_err() {
                self.spares.push(spare);
                wanted -= 1;
            }
            spare += 1;
        }
        let replaces = matches!(strategy, StrategyId::HotSpares | StrategyId::DpDrop);
        let replaced = if replaces { self.spares.len() } else { 0 };
        if replaced == 0 && rate.benched_domains == 0 {
            return;
        }
        self.worst.clear();
        self.worst
            .extend(domains.iter().filter(|(domain, _)| *domain < shape.domains));
        let worst = &mut self.worst;
        // The order inside of each part is that of the domains in the end: parting them is enough.
        let key = |(domain, failed): &(u32, u32)| (std::cmp::Reverse(*failed), *domain);
        let taken = replaced.saturating_add(rate.benched_domains as usize);
        if taken < worst.len() {
            worst.select_nth_unstable_by_key(taken, key);
            worst.truncate(taken);
        }
        if replaced < worst.len() {
            worst.select_nth_unstable_by_key(replaced, key);
        }
        self.replaced
            .extend(worst.iter().take(replaced).map(|(domain, _)| *domain));
        let benched = worst
            .iter()
            .skip(replaced)
            .take(rate.benched_domains as usize);
        self.benched.extend(benched.map(|(domain, _)| *domain));
        self.replaced.sort_unstable();
        self.benched.sort_unstable();
        self.fill = rate
            .benched_domains
            .saturating_sub(self.benched.len() as u32);
    }

    /// Whether a domain belongs to the job.
    pub fn in_job(&self, domain: u32) -> bool {
        if domain < self.domains {
            self.replaced.binary_search(&domain).is_err()
        } else {
            self.spares.binary_search(&domain).is_ok()
        }
    }

    /// Whether a domain of the job computes nothing.
    pub fn benched(&self, domain: u32) -> bool {
        if domain >= self.domains {
            return false;
        }
        match self.affected.binary_search(&domain) {
            Ok(_) => self.benched.binary_search(&domain).is_ok(),
            Err(before) => self.fill > 0 && domain - (before as u32) < self.fill,
        }
    }

    /// Spare domains in the job.
    pub fn spares(&self) -> usize {
        self.spares.len()
    }
}
