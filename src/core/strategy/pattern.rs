//! Failures as the strategies see them: counts per TP group, no single GPUs.

use crate::core::order;
use crate::core::placement::Placement;
use crate::core::placement::health::{GpuHealth, HealthMap, health};
use crate::core::scenario::Job;
use crate::core::table::Table;

/// What failures left of one TP group's slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotLoss {
    /// Physical slot.
    pub slot: u32,
    /// GPUs failed or restarting.
    pub down: u32,
    /// Speeds of slow GPUs, slowest first.
    pub slow: Vec<f64>,
}

/// What failures left of one domain of the job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DomainLoss {
    /// Physical domain.
    pub domain: u32,
    /// GPUs outside the job's slots that cannot heal it: failed, restarting or slow.
    pub outside_unfit: u32,
    /// Those of them that are failed or restarting.
    pub outside_down: u32,
    /// Damaged slots, by slot number.
    pub slots: Vec<SlotLoss>,
}

/// What failures left of one spare domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpareLoss {
    /// Index among the spare domains.
    pub spare: u32,
    /// GPUs failed or restarting.
    pub down: u32,
    /// Whether every slot can still be filled with healthy GPUs of the domain.
    pub usable: bool,
}

/// All that a strategy's rate depends on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Damaged domains of the job, by index.
    pub domains: Vec<DomainLoss>,
    /// Damaged spare domains, by index.
    pub spares: Vec<SpareLoss>,
}

impl Pattern {
    /// The pattern of a job's own failures.
    pub fn of(job: &Job) -> Self {
        let scenario = &job.scenario;
        Self::from_health(
            &job.placement,
            &health(
                &scenario.failures,
                &scenario.policy,
                job.placement.domain_size,
            ),
        )
    }

    /// Counts GPUs by slot.
    pub fn from_health(placement: &Placement, map: &HealthMap) -> Self {
        let mut pattern = Self::default();
        let tp = placement.tp.max(1) as usize;
        for (domain, gpus) in map.iter() {
            let down = |gpus: &[GpuHealth]| gpus.iter().filter(|gpu| gpu.is_down()).count() as u32;
            let unfit = |gpus: &[GpuHealth]| {
                gpus.iter()
                    .filter(|gpu| **gpu != GpuHealth::Healthy)
                    .count() as u32
            };
            if domain >= placement.domains {
                let needed = placement.slots_per_domain.saturating_mul(placement.tp);
                pattern.spares.push(SpareLoss {
                    spare: domain - placement.domains,
                    down: down(gpus),
                    usable: placement.domain_size.saturating_sub(unfit(gpus)) >= needed,
                });
                continue;
            }
            let inside = placement.slots_in(domain) as usize * tp;
            let (inside, outside) = gpus.split_at(inside.min(gpus.len()));
            let mut loss = DomainLoss {
                domain,
                outside_unfit: unfit(outside),
                outside_down: down(outside),
                slots: Vec::new(),
            };
            for (slot, gpus) in (placement.first_slot(domain)..).zip(inside.chunks(tp)) {
                let mut slow: Vec<f64> = gpus
                    .iter()
                    .filter_map(|gpu| {
                        if let GpuHealth::Slow(speed) = gpu {
                            Some(*speed)
                        } else {
                            None
                        }
                    })
                    .collect();
                order::sort_by(&mut slow, f64::total_cmp);
                let down = down(gpus);
                if down > 0 || !slow.is_empty() {
                    loss.slots.push(SlotLoss { slot, down, slow });
                }
            }
            pattern.domains.push(loss);
        }
        pattern
    }

    /// From hard failures per domain where each domain holds one TP group: `down` GPUs of its slot, `outside` GPUs of the
    /// rest. Domains from the job's count on are spare ones.
    pub fn from_counts(
        placement: &Placement,
        counts: impl IntoIterator<Item = (u32, u32, u32)>,
    ) -> Self {
        let mut pattern = Self::default();
        for (domain, down, outside) in counts {
            if down == 0 && outside == 0 {
                continue;
            }
            if domain >= placement.domains {
                let all = down.saturating_add(outside);
                let usable = placement.domain_size.saturating_sub(all) >= placement.tp;
                pattern.spares.push(SpareLoss {
                    spare: domain - placement.domains,
                    down: all,
                    usable,
                });
            } else {
                let slot = SlotLoss {
                    slot: placement.first_slot(domain),
                    down,
                    slow: Vec::new(),
                };
                let slots = if down > 0 { vec![slot] } else { Vec::new() };
                pattern.domains.push(DomainLoss {
                    domain,
                    outside_unfit: outside,
                    outside_down: outside,
                    slots,
                });
            }
        }
        pattern
    }

    /// The ways to bench slow GPUs that every strategy compares with keeping all. Where there are too many, only
    /// those that bench up to one speed everywhere.
    pub(super) fn benches(&self) -> Vec<Bench> {
        const MOST: usize = 32;
        let slots = self.domains.iter().flat_map(|domain| &domain.slots);
        // The first keeps all.
        let mut ways = vec![Bench::default()];
        for slot in slots.filter(|slot| !slot.slow.is_empty()) {
            let mut speeds = slot.slow.clone();
            speeds.dedup();
            if ways.len() * (1 + speeds.len()) > MOST {
                let speeds = self.speeds();
                return speeds.into_iter().map(Bench::up_to).collect();
            }
            let before = ways.len();
            for speed in speeds {
                for at in 0..before {
                    let way = ways.get(at).map(|way| way.and(slot, speed));
                    ways.extend(way);
                }
            }
        }
        ways.remove(0);
        ways
    }

    /// Distinct speeds of slow GPUs in slots, slowest first; at most 16, spread over the range when there are more.
    fn speeds(&self) -> Vec<f64> {
        const MOST: usize = 16;
        let slots = self.domains.iter().flat_map(|domain| &domain.slots);
        let mut speeds: Vec<f64> = slots.flat_map(|slot| slot.slow.iter().copied()).collect();
        order::sort_by(&mut speeds, f64::total_cmp);
        speeds.dedup();
        if speeds.len() > MOST {
            let last = speeds.len() - 1;
            speeds = (0..MOST)
                .filter_map(|i| speeds.get(i * last / (MOST - 1)).copied())
                .collect();
        }
        speeds
    }

    /// Patterns with the same signature have the same rates, wherever their failures are. Only for layouts with one TP
    /// group a domain.
    pub(super) fn signature(&self) -> Vec<u64> {
        // Most domains look like another: looks in order, and how many have each.
        let mut looks: Vec<[u64; 2]> = Vec::new();
        let mut slow: Vec<Vec<u64>> = Vec::new();
        for domain in &self.domains {
            // Counts are at most the domain's 1,024 GPUs.
            let slot = domain.slots.first();
            let down = slot.map_or(0, |slot| slot.down);
            let counts = u64::from(down) << 32
                | u64::from(domain.outside_unfit) << 16
                | u64::from(domain.outside_down);
            match slot.map(|slot| slot.slow.as_slice()) {
                None | Some([]) => match looks.binary_search_by(|look| look[0].cmp(&counts)) {
                    Ok(at) => {
                        if let Some(look) = looks.get_mut(at) {
                            look[1] += 1;
                        }
                    }
                    Err(at) => looks.insert(at, [counts, 1]),
                },
                Some(speeds) => {
                    let mut words = vec![speeds.len() as u64, counts];
                    words.extend(speeds.iter().map(|speed| speed.to_bits()));
                    slow.push(words);
                }
            }
        }
        let mut signature = Vec::with_capacity(2 * looks.len() + self.spares.len() + 2);
        signature.extend(looks.iter().flatten());
        signature.push(u64::MAX);
        order::sort(&mut slow);
        signature.extend(slow.into_iter().flatten());
        signature.push(u64::MAX);
        for spare in &self.spares {
            signature.push(
                u64::from(spare.spare) << 32 | u64::from(spare.down) << 1 | u64::from(spare.usable),
            );
        }
        signature
    }
}

/// Which slow GPUs are benched as if failed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bench {
    /// Up to this speed in every slot; 0 keeps all.
    everywhere: f64,
    /// Up to these speeds in these slots instead.
    own: Vec<(u32, f64)>,
    /// How many GPUs that are.
    gpus: usize,
}

impl Bench {
    /// Those up to a speed, wherever they are.
    pub const fn up_to(speed: f64) -> Self {
        Self {
            everywhere: speed,
            own: Vec::new(),
            gpus: 0,
        }
    }

    /// And those of one more slot.
    fn and(&self, slot: &SlotLoss, speed: f64) -> Self {
        let mut way = self.clone();
        way.own.push((slot.slot, speed));
        way.gpus += slot.slow.iter().filter(|slow| **slow <= speed).count();
        way
    }

    /// Whether it is to be preferred where both deliver the same: it keeps more.
    pub fn keeps_more(&self, other: &Self) -> bool {
        self.gpus < other.gpus
    }

    /// Up to which speed those of a slot are.
    pub fn of(&self, slot: u32) -> f64 {
        let own = self.own.iter().find(|(own, _)| *own == slot);
        own.map_or(self.everywhere, |(_, speed)| *speed)
    }

    /// Whether it benches those of a slot up to this speed, and does elsewhere what another one does.
    pub fn differs_in(&self, other: &Self, slot: u32, speed: f64) -> bool {
        let rest = |bench: &Self| {
            let own = bench.own.iter().filter(|(own, _)| *own != slot);
            own.copied().collect::<Vec<_>>()
        };
        self.of(slot) == speed && self.everywhere == other.everywhere && rest(self) == rest(other)
    }
}

/// A damaged TP group once its domain's left-over GPUs have healed what they can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Loss {
    /// Physical slot.
    pub slot: u32,
    /// Physical domain.
    pub domain: u32,
    /// Failed GPUs of that domain.
    pub domain_down: u32,
    /// GPUs short of the TP degree.
    pub short: u32,
    /// Speed of the slowest GPU that is kept, 1 without slow ones.
    pub perf: f64,
}

/// A damaged domain in numbers, benched slow GPUs included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DomainCounts {
    /// Physical domain.
    pub domain: u32,
    /// GPUs failed or restarting.
    pub down: u32,
    /// GPUs that cannot be used: down, benched, or slow outside the slots.
    pub unfit: u32,
    /// Slots short of GPUs.
    pub short_slots: u32,
    /// GPUs short, over all its slots.
    pub short: u32,
    /// Healthy GPUs outside the slots that heal nothing.
    pub outside_free: u32,
}

/// Slots are distinct, so no two are equal.
pub(super) fn worst_first(slots: &mut [Loss]) {
    order::sort_few_by(slots, |a, b| {
        b.short
            .cmp(&a.short)
            .then(a.perf.total_cmp(&b.perf))
            .then_with(|| b.domain_down.cmp(&a.domain_down))
            .then(a.slot.cmp(&b.slot))
    });
}

/// A pattern under one decision about slow GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Losses {
    /// TP groups short of GPUs, worst first.
    pub slots: Vec<Loss>,
    /// Whole TP groups held up by a kept slow GPU.
    pub slowed: Vec<Loss>,
    /// Damaged domains, by index.
    pub domains: Vec<DomainCounts>,
    /// Spare domains that the strategy holds and that are whole.
    pub usable_spares: u32,
}

impl Losses {
    /// Benches slow GPUs, then lets left-over GPUs heal the slots of their domain, those
    /// with the fewest failures first, so that most slots become whole.
    pub fn new(
        pattern: &Pattern,
        placement: &Placement,
        bench: &Bench,
        usable_spares: u32,
    ) -> Self {
        let mut losses = Self {
            usable_spares,
            slots: Vec::with_capacity(pattern.domains.len()),
            domains: Vec::with_capacity(pattern.domains.len()),
            ..Self::default()
        };
        let mut slots: Vec<Loss> = Vec::new();
        for domain in &pattern.domains {
            let down = domain.outside_down + domain.slots.iter().map(|slot| slot.down).sum::<u32>();
            let mut free = placement
                .outside(domain.domain)
                .saturating_sub(domain.outside_unfit);
            slots.clear();
            slots.extend(domain.slots.iter().map(|slot| {
                let most = bench.of(slot.slot);
                let benched = slot.slow.iter().filter(|&&speed| speed <= most).count() as u32;
                let kept = slot.slow.iter().copied().find(|&speed| speed > most);
                Loss {
                    slot: slot.slot,
                    domain: domain.domain,
                    domain_down: down,
                    short: slot.down.saturating_add(benched),
                    perf: kept.unwrap_or(1.0),
                }
            }));
            let mut counts = DomainCounts {
                domain: domain.domain,
                down,
                unfit: domain.outside_unfit + slots.iter().map(|slot| slot.short).sum::<u32>(),
                short_slots: 0,
                short: 0,
                outside_free: 0,
            };
            order::sort_few_by(&mut slots, |a, b| (a.short, a.slot).cmp(&(b.short, b.slot)));
            for slot in &mut slots {
                let healed = slot.short.min(free);
                slot.short -= healed;
                free -= healed;
                counts.short += slot.short;
                if slot.short > 0 {
                    counts.short_slots += 1;
                    losses.slots.push(*slot);
                } else if slot.perf < 1.0 {
                    losses.slowed.push(*slot);
                }
            }
            counts.outside_free = free;
            losses.domains.push(counts);
        }
        worst_first(&mut losses.slots);
        losses
    }

    /// Slowest kept GPU of the whole TP groups outside `replaced` domains.
    pub fn pace(&self, replaced: &Table<u32>) -> f64 {
        let kept = self.slowed.iter().filter(|slot| !replaced.has(slot.domain));
        kept.map(|slot| slot.perf).fold(1.0, f64::min)
    }
}
