//! Fixed runs whose events must never change by accident, natively and in the browser.

use super::live::{FleetRun, PhaseKind};
use crate::core::faults::{Faults, TakeBack};
use crate::core::scenario::{Scenario, ScenarioError};
use crate::core::strategy::StrategyId;

/// The scenario of the fixed runs: 1,152 GPUs in 16 domains, two of them spare, thirty times the Llama 3 rates.
const SCENARIO: &str = r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
    "layout": {"tp": 64, "pp": 2, "dp": 7, "global_batch": 448, "seq": 8192}, "policy": {"spare_domains": 2, "blast_radius": 4}}"#;

/// Seeds of the fixed runs and the digests of their events.
pub const DIGESTS: [(u64, u64); 3] = [
    (1, 8968324893104937683),
    (2, 1093495905960508129),
    (3, 4206898804922840217),
];

/// The digest of one fixed run: its failures, and when each strategy's job changed what it did, over 15 days.
///
/// Step times stay out of it, so that a better cost model changes no digest.
///
/// # Errors
/// Never, unless the presets of the fixed scenario are gone.
pub fn digest(seed: u64) -> Result<u64, ScenarioError> {
    let job = Scenario::from_json(SCENARIO)?.resolve()?;
    let faults = Faults {
        rate_multiplier: 30.0,
        take_back: TakeBack::NextRestart,
        ..Faults::default()
    };
    let mut run = FleetRun::new(job, faults, seed, 15.0);
    run.advance_to(run.end());
    Ok(event_digest(&run))
}

/// 64-bit FNV-1a over the integers of a run: failures, then the moments of each strategy.
pub fn event_digest(run: &FleetRun) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |word: u64| {
        for byte in word.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for event in &run.trace().events {
        add(event.time.0);
        add(event.repair.0);
        add(u64::from(event.domain) << 32 | u64::from(event.first) << 16 | u64::from(event.gpus));
        add(u64::from(event.cause));
    }
    for history in StrategyId::ALL
        .into_iter()
        .filter_map(|strategy| run.history(strategy))
    {
        for moment in history.moments() {
            add(moment.time.0);
            add(u64::from(moment.failed_gpus) << 8 | phase_code(moment.phase));
        }
    }
    hash
}

const fn phase_code(phase: PhaseKind) -> u64 {
    match phase {
        PhaseKind::Running => 0,
        PhaseKind::Detecting => 1,
        PhaseKind::Restarting => 2,
        PhaseKind::Paused => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_seeds_keep_their_events() {
        let found = DIGESTS.map(|(seed, _)| (seed, digest(seed).unwrap()));
        assert_eq!(found, DIGESTS);
    }
}
