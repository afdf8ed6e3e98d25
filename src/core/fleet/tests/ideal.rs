//! A rate source by counting alone: what the strategies do, without a cost model.

use crate::core::fleet::{Pattern, Rate, RateSource, Shape};
use crate::core::strategy::{LedgerNow, StrategyId};

/// One TP group a domain; a replica is `group` domains.
#[derive(Clone, Debug)]
pub struct Ideal {
    pub shapes: [Shape; 6],
    pub group: u32,
    pub fixed_minibatch: bool,
}

impl RateSource for Ideal {
    fn rate(&mut self, strategy: StrategyId, pattern: &Pattern<'_>) -> Rate {
        let shape = &self.shapes[strategy as usize];
        let outside = shape.domain_size - shape.tp + shape.held;
        let (mut broken, mut short, mut failed, mut broken_spares) = (0u32, 0u32, 0u32, 0u32);
        for (look, count) in pattern.iter() {
            let down: u32 =
                look.slots.iter().map(|n| u32::from(*n)).sum::<u32>() + u32::from(look.left_over);
            failed += down * count;
            if look.spare {
                broken_spares += count;
            } else {
                let missing = down.saturating_sub(outside);
                short += missing * count;
                broken += if missing > 0 { count } else { 0 };
            }
        }
        let usable = shape.spare_domains - broken_spares.min(shape.spare_domains);
        let replicas = shape.domains / self.group;
        let (dropped, used, lost) = match strategy {
            StrategyId::Wait => (if broken > 0 { replicas } else { 0 }, 0, 0.0),
            StrategyId::DpDrop | StrategyId::HotSpares => {
                let used = broken.min(usable);
                ((broken - used).div_ceil(self.group), used, 0.0)
            }
            StrategyId::InDomainSpares => (broken.div_ceil(self.group), 0, 0.0),
            StrategyId::Ntp => (0, 0, f64::from(short) / f64::from(shape.domains * shape.tp)),
            StrategyId::NtpPw => (
                0,
                0,
                0.1 * f64::from(short) / f64::from(shape.domains * shape.tp),
            ),
        };
        let share = f64::from(replicas - dropped) / f64::from(replicas) - lost;
        let paused = share <= 0.0 || (self.fixed_minibatch && share < 1.0);
        let degree = f64::from(shape.tp - shape.held);
        let throughput = if paused {
            0.0
        } else {
            share * degree / f64::from(shape.tp)
        };
        let occupied = shape.occupied_gpus() as f64;
        let spare = (f64::from(shape.domains * (shape.domain_size - shape.tp + shape.held))
            + f64::from((usable - used) * shape.domain_size))
            / occupied;
        let failed = f64::from(failed) / occupied;
        let spare = spare.min(1.0 - failed);
        let goodput = throughput * f64::from(shape.domains * shape.tp) / occupied;
        let productive = goodput.min(1.0 - failed - spare);
        let rest = 1.0 - failed - spare - productive;
        Rate {
            throughput,
            goodput,
            minibatch: (f64::from(replicas) * share) as u32,
            paused,
            ledger: LedgerNow {
                productive,
                idle_healthy: if paused { 0.0 } else { rest },
                paused: if paused { rest } else { 0.0 },
                spare,
                failed,
                ..LedgerNow::default()
            },
            benched_domains: dropped * self.group,
            spare_domains_used: used,
            parity_idle_gpus: 0,
        }
    }
}
