//! Collectives and transfers: NVLink inside a scale-up domain, the scale-out network beyond it.

use super::Replica;
use super::calibration::{Constants, Curve, Tables, generation_index, tables};
use crate::core::hardware::{Generation, Gpu};

/// A collective operation, in the order of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// Every rank ends with the whole tensor.
    AllGather,
    /// Every rank ends with its share of the sum.
    ReduceScatter,
    /// Every rank ends with the whole sum.
    AllReduce,
    /// Every rank sends a different piece to every other.
    AllToAll,
}

/// Latency added per doubling of a group beyond the eight GPUs that were measured, s; assumed.
const LATENCY_PER_DOUBLING_S: f64 = 2e-6;
/// Latency of one ring hop inside a domain, s: slope of the measured small-message times over 2, 4 and 8 GPUs.
const RING_HOP_S: f64 = 1.2e-6;

/// NVLink collectives of one GPU type.
#[derive(Clone, Copy, Debug)]
pub struct NvLink<'a> {
    tables: &'a Tables,
    generation: usize,
    in_network: bool,
    /// Measured bandwidth over this GPU's.
    slower: f64,
}

impl NvLink<'_> {
    /// NVLink of `gpu`; the transfer part of measured times scales with its published bandwidth.
    pub fn new(gpu: &Gpu) -> Self {
        let tables = tables();
        let generation = generation_index(gpu.generation);
        let measured = tables.nccl_nvlink.get(generation).copied().unwrap_or(900.0);
        Self {
            tables,
            generation,
            in_network: gpu.generation != Generation::A100,
            slower: measured / gpu.nvlink_gb_s_bidir.max(1e-6),
        }
    }

    /// Seconds of a collective over `gpus` ranks on a tensor of `bytes` (whole tensor, as NCCL counts it).
    ///
    /// Up to 8 ranks the measured times are interpolated; they hold NCCL's own choice between ring and in-network
    /// reduction by size. Beyond 8, the same bus bandwidth with either the ring's or the switch's latency, whichever is
    /// faster.
    pub fn time(&self, op: Collective, gpus: f64, bytes: f64) -> f64 {
        if gpus <= 1.0 || bytes <= 0.0 {
            return 0.0;
        }
        let curves = self
            .tables
            .nccl
            .get(self.generation)
            .and_then(|by| by.get(op as usize));
        let Some([two, four, eight]) = curves else {
            return 0.0;
        };
        let x = libm::log(bytes);
        let at = |curve: &Curve| {
            let measured = libm::exp(curve.ln_at(x));
            if self.slower == 1.0 {
                return measured;
            }
            let start = curve.start();
            (measured - start).max(0.0) * self.slower + start.min(measured)
        };
        let between = |low: &Curve, high: &Curve, base: f64| {
            let share = libm::log2(gpus / base);
            if share <= 0.0 {
                return at(low);
            }
            if share >= 1.0 {
                return at(high);
            }
            libm::exp(libm::log(at(low)) * (1.0 - share) + libm::log(at(high)) * share)
        };
        if gpus <= 4.0 {
            return between(two, four, 2.0);
        }
        if gpus <= 8.0 {
            return between(four, eight, 4.0);
        }
        let time = at(eight);
        let start = eight.start().min(time);
        let transfer = (time - start) * ((gpus - 1.0) / gpus) * (8.0 / 7.0);
        let passes = if op == Collective::AllReduce {
            2.0
        } else {
            1.0
        };
        let ring = RING_HOP_S * passes * (gpus - 8.0);
        let switch = LATENCY_PER_DOUBLING_S * libm::log2(gpus / 8.0);
        start
            + transfer
            + if self.in_network {
                ring.min(switch)
            } else {
                ring
            }
    }

    /// The slowest time over every degree from `reduced` to `healthy`. A reduced group is never taken to talk faster than
    /// the group it came from: its rings keep the lost ranks' links unused.
    pub fn time_reduced(&self, op: Collective, reduced: u32, healthy: u32, bytes: f64) -> f64 {
        let mut time = self.time(op, f64::from(reduced), bytes);
        if reduced < healthy {
            time = time.max(self.time(op, f64::from(healthy), bytes));
            for knot in [2, 4, 8] {
                if knot > reduced && knot < healthy {
                    time = time.max(self.time(op, f64::from(knot), bytes));
                }
            }
        }
        time
    }
}

/// Bandwidth per GPU, bytes/s, of ring collectives among DP x CP peers of one rank.
///
/// Ranks are laid out as published runs are: TP, then CP, then DP, then PP. Peers in one domain share its adapters: with g
/// of them in a domain, a ring leaves it over g adapters.
pub fn dp_bandwidth(replica: &Replica<'_>, constants: &Constants) -> f64 {
    let (gpu, layout) = (&replica.system.gpu, replica.layout);
    let slots = u64::from((replica.system.domain_size / layout.tp.max(1)).max(1));
    let peers = u64::from(layout.cp) * u64::from(layout.dp);
    let nvlink = gpu.nvlink().get() * constants.nvlink_dp_efficiency;
    if peers <= slots && layout.tp <= replica.system.domain_size {
        return nvlink;
    }
    nvlink.min(peers.min(slots) as f64 * gpu.scaleout().get() * constants.scaleout_efficiency)
}

/// Bandwidth of a stage-to-stage transfer per rank, bytes/s: NVLink where the whole job shares a domain, because PP is
/// the outermost dimension.
pub fn pp_bandwidth(replica: &Replica<'_>, constants: &Constants) -> f64 {
    link(replica, replica.layout.gpus(), constants)
}

/// Bandwidth of a CP exchange per rank, bytes/s: NVLink where the CP group shares a domain.
pub fn cp_bandwidth(replica: &Replica<'_>, constants: &Constants) -> f64 {
    link(
        replica,
        u64::from(replica.layout.tp) * u64::from(replica.layout.cp),
        constants,
    )
}

fn link(replica: &Replica<'_>, gpus: u64, constants: &Constants) -> f64 {
    let gpu = &replica.system.gpu;
    if gpus <= u64::from(replica.system.domain_size) {
        gpu.nvlink().get() * constants.nvlink_dp_efficiency
    } else {
        gpu.scaleout().get() * constants.scaleout_efficiency
    }
}
