//! What tiles, racks and tips say.

use super::group::damage;
use crate::core::hardware::Gpu;
use crate::core::strategy::{DomainView, GpuState, GpuView};
use crate::scene::side::number::{self, percent};
use std::fmt::Write;
use std::ops::Range;

/// Clock of a tile: whole MHz where the base clock is published, else the compute factor; empty when it does not compute.
pub fn clock(gpu: &Gpu, view: &GpuView) -> String {
    if view.tp_rank.is_none() || view.perf <= 0.0 {
        return String::new();
    }
    let factor = || {
        // A boost of a few thousandths must not read as none.
        let short = format!("{:.2}", view.perf);
        if short == "1.00" && view.perf != 1.0 {
            format!("{:.3}", view.perf)
        } else {
            short
        }
    };
    gpu.clock(view.perf)
        .map_or_else(factor, |clock| format!("{:.0}", clock.get()))
}

/// The text on a tile's left: its rank, the word "idle" where that is the second code, "slow" where that is why, nothing
/// for the rest.
pub fn rank(view: &GpuView) -> String {
    match (view.state, view.tp_rank) {
        _ if view.benched() => "slow".into(),
        (GpuState::Parity | GpuState::Idle, _) => "idle".into(),
        (_, Some(rank)) => rank.to_string(),
        _ => String::new(),
    }
}

/// The `aria-label`: "Domain 0 GPU 3: healthy, TP rank 3".
pub fn label(domain: u32, gpu: u32, view: &GpuView) -> String {
    let mut words = format!("Domain {domain} GPU {gpu}: {}", view.state.words());
    if let Some(rank) = view.tp_rank {
        // Writing to a string cannot fail.
        let _ = write!(words, ", TP rank {rank}");
    }
    if view.benched() {
        let _ = write!(words, ", benched at {}", percent(view.perf, 0));
    }
    words
}

/// The degree of a domain: "TP 70", "TP 6 to 8", "stopped"; empty for a spare domain.
pub fn degree(view: &DomainView) -> String {
    let used: Vec<u32> = view
        .slots
        .iter()
        .zip(&view.degrees)
        .filter(|(slot, _)| slot.is_some())
        .map(|(_, d)| *d)
        .collect();
    match (used.iter().min(), used.iter().max()) {
        (Some(0), Some(0)) => "stopped".into(),
        (Some(low), Some(high)) if low == high => format!("TP {low}"),
        (Some(low), Some(high)) => format!("TP {low} to {high}"),
        _ => String::new(),
    }
}

/// Where a domain's groups belong: "stage 0", "R4 stage 1" when its racks are of several replicas, "9 TP groups", nowhere
/// when it stands by or another stands in for it.
pub fn place(view: &DomainView, replica_named: bool) -> String {
    let used: Vec<(u32, u32)> = view.slots.iter().flatten().copied().collect();
    match used.as_slice() {
        [] if damage(view) > 0 => "replaced".into(),
        [] => "spare".into(),
        [(_, stage)] if replica_named => format!("stage {stage}"),
        [(replica, stage)] => format!("R{replica} stage {stage}"),
        many => format!("{} TP groups", many.len()),
    }
}

/// How a domain is doing: "2 failed, 70 boosted", "all healthy, 70 and 71 reshard".
pub fn condition(view: &DomainView) -> String {
    let count = |state: GpuState| {
        let here = |gpu: &&GpuView| gpu.state == state && !gpu.benched();
        view.gpus.iter().filter(here).count()
    };
    let mut parts: Vec<String> = [
        GpuState::Failed,
        GpuState::Restarting,
        GpuState::Slow,
        GpuState::Boosted,
        GpuState::Parity,
        GpuState::Idle,
        GpuState::Spare,
        GpuState::LeftOver,
    ]
    .into_iter()
    .map(|state| (count(state), state))
    .filter(|(n, _)| *n > 0)
    .map(|(n, state)| match (state, pace(&view.gpus)) {
        // The whole TP group computes at the speed of its slowest GPU.
        (GpuState::Slow, Some(pace)) => format!("{n} slow, group held to {}", percent(pace, 0)),
        _ => format!("{} {}", number::count(n as u64), state.words()),
    })
    .collect();
    let benched = view.gpus.iter().filter(|gpu| gpu.benched()).count();
    if benched > 0 {
        parts.push(format!("{benched} slow benched"));
    }
    let healthy = count(GpuState::Healthy);
    if parts.is_empty() {
        let senders: Vec<u32> = (0..)
            .zip(&view.gpus)
            .filter(|(_, gpu)| gpu.sends_gradients)
            .map(|(index, _)| index)
            .collect();
        return match runs(&senders).as_slice() {
            [] => "all healthy".into(),
            [one] if one.len() == 1 => format!("all healthy, {} reshards", one.start),
            [one] if one.len() == 2 => {
                format!("all healthy, {} and {} reshard", one.start, one.start + 1)
            }
            [one] => format!("all healthy, {} to {} reshard", one.start, one.end - 1),
            _ => format!("all healthy, {} reshard", senders.len()),
        };
    }
    if healthy > 0 && parts.len() < 3 {
        parts.push(format!("{} healthy", number::count(healthy as u64)));
    }
    parts.join(", ")
}

/// Speed of the slowest working GPU, where one is slow.
pub fn pace(gpus: &[GpuView]) -> Option<f64> {
    let slow = gpus.iter().filter(|gpu| gpu.state == GpuState::Slow);
    slow.map(|gpu| gpu.perf).min_by(f64::total_cmp)
}

/// Runs of consecutive numbers.
fn runs(sorted: &[u32]) -> Vec<Range<u32>> {
    let mut all: Vec<Range<u32>> = Vec::new();
    for &n in sorted {
        match all.last_mut() {
            Some(run) if run.end == n => run.end = n + 1,
            _ => all.push(n..n + 1),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::scene::rack::fixture;

    #[test]
    fn labels_are_the_handles_that_tests_rely_on() {
        let mut view = fixture::healthy(&fixture::placement(8, 8, 1, 1), 1).remove(0);
        assert_eq!(
            label(0, 3, &view.gpus[3]),
            "Domain 0 GPU 3: healthy, TP rank 3"
        );
        view.gpus[3].state = GpuState::Parity;
        view.gpus[3].tp_rank = None;
        assert_eq!(
            label(0, 3, &view.gpus[3]),
            "Domain 0 GPU 3: idle for parity"
        );
    }

    #[test]
    fn a_clock_is_mhz_where_published_and_a_factor_elsewhere() {
        let view = GpuView {
            state: GpuState::Boosted,
            tp_rank: Some(0),
            load: 1.0,
            perf: 1.05,
            sends_gradients: false,
        };
        assert_eq!(clock(&system("b200-nvl8").unwrap().gpu, &view), "2063");
        assert_eq!(clock(&system("gb300-nvl72").unwrap().gpu, &view), "1.05");
        let little = GpuView {
            perf: 1.0031,
            ..view
        };
        assert_eq!(clock(&system("gb300-nvl72").unwrap().gpu, &little), "1.003");
        assert_eq!(
            clock(
                &system("gb300-nvl72").unwrap().gpu,
                &GpuView {
                    tp_rank: None,
                    ..view
                }
            ),
            ""
        );
    }

    #[test]
    fn conditions_count_what_is_not_healthy() {
        let mut view = fixture::healthy(&fixture::placement(72, 72, 2, 8), 1).remove(0);
        assert_eq!(condition(&view), "all healthy");
        view.gpus[70].sends_gradients = true;
        view.gpus[71].sends_gradients = true;
        assert_eq!(condition(&view), "all healthy, 70 and 71 reshard");
        for gpu in &mut view.gpus {
            gpu.state = GpuState::Boosted;
        }
        view.gpus[17].state = GpuState::Failed;
        assert_eq!(condition(&view), "1 failed, 71 boosted");
        view.gpus[18].state = GpuState::Slow;
        view.gpus[18].perf = 0.8;
        assert_eq!(
            condition(&view),
            "1 failed, 1 slow, group held to 80 %, 70 boosted"
        );
        let benched = &mut view.gpus[18];
        (benched.state, benched.tp_rank) = (GpuState::Idle, None);
        assert_eq!(
            (rank(benched), label(0, 18, benched)),
            (
                "slow".into(),
                "Domain 0 GPU 18: idle, benched at 80 %".into()
            )
        );
        assert_eq!(condition(&view), "1 failed, 70 boosted, 1 slow benched");
    }
}
