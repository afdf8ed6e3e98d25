//! "What does each lost GPU cost me?": batch without boost and power with it, for every number of survivors shown.

use super::number::{change, fixed};
use super::why::Explanation;
use crate::core::figures::survivors::{Survivors, survivors};
use crate::core::scenario::Job;

/// GPUs lost at most in the table.
const MOST_LOST: u32 = 8;

/// One row: a TP group that lost some GPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct LostRow {
    /// GPUs lost.
    pub lost: u32,
    /// TP degree left.
    pub degree: u32,
    /// Whether the scenario supports this degree.
    pub supported: bool,
    /// Largest local batch that keeps up at base clock, of the full one.
    pub batch: String,
    /// Power per survivor that keeps up at the full batch, x TDP; `past cap` where none does.
    pub power: String,
    /// Clock of that power.
    pub clock: String,
    /// Energy per token against healthy.
    pub energy: String,
    /// Answers to "why?", for batch, power, clock and energy.
    pub why: [Explanation; 4],
}

/// The table for the scenario's model, system and degree, down to half of TP at most.
pub fn lost(job: &Job) -> Vec<LostRow> {
    let policy = &job.scenario.policy;
    let tp = job.placement.tp;
    let lowest = tp.saturating_sub(MOST_LOST).max(tp.div_ceil(2)).max(1);
    survivors(
        &job.system,
        &job.model,
        &job.scenario.layout,
        policy.heads,
        policy.boost_cap,
        lowest,
    )
    .iter()
    .map(|row| line(job, row))
    .collect()
}

fn line(job: &Job, row: &Survivors) -> LostRow {
    let (layout, policy, gpu) = (&job.scenario.layout, &job.scenario.policy, &job.system.gpu);
    let (full, tp) = (layout.local_batch(), layout.tp);
    let batch = format!("{} of {full}", row.batch);
    let power = row.boost_p.map_or_else(
        || format!("past {}", fixed(policy.boost_cap, 2)),
        |p| fixed(p, 2),
    );
    let clock = match (row.perf, row.clock_mhz) {
        (Some(_), Some(clock)) => format!("{} MHz", fixed(clock.get(), 0)),
        (Some(perf), None) => format!("× {}", fixed(perf, 3)),
        (None, _) => "–".into(),
    };
    let energy = row
        .energy_per_token
        .map_or_else(|| "–".to_owned(), |energy| change(energy - 1.0));
    let group = format!("{} of {tp} survivors", row.degree);
    let slower = change(row.slowdown - 1.0);
    let why_batch = Explanation::new(format!("Local batch without boost, {group}"), batch.clone(), "largest b with step(b, survivors) ≤ healthy step")
        .with("full batch", slower.clone(), "longer step if the batch were kept")
        .with("heads", change(row.imbalance.0 - 1.0), "worst rank over an even share")
        .with("FFN", change(row.imbalance.1 - 1.0), "worst rank over an even share")
        .source("NTP, arXiv 2504.06095, Table 1, answered by the step model; gradients reduced at this degree, no healthy peer to wait for");
    let why_power = Explanation::new(
        format!("Least power with boost, {group}"),
        row.boost_p.map_or_else(
            || format!("more than {} × TDP", fixed(policy.boost_cap, 2)),
            |p| format!("{} × TDP, {} W", fixed(p, 3), fixed(p * gpu.tdp_w, 0)),
        ),
        "least p with step(full batch, survivors, perf(p)) ≤ healthy step",
    )
    .with(
        "to win back",
        slower,
        "of the step; only compute speeds up with the clock",
    )
    .with(
        "freed",
        format!("{} × TDP", fixed(row.freed_p, 3)),
        "per survivor, by the dead GPUs of the group alone",
    )
    .with(
        "cap",
        format!("{} × TDP", fixed(policy.boost_cap, 2)),
        "per GPU, from the scenario",
    )
    .source("NTP, arXiv 2504.06095: power curve and Table 1");
    let why_clock = Explanation::new(
        format!("Clock at that power, {group}"),
        clock.clone(),
        "perf = 1 + 0.774 x − 0.82 x²,  x = p − 1",
    )
    .with(
        "perf",
        row.perf
            .map_or_else(|| "–".to_owned(), |perf| fixed(perf, 4)),
        "compute rate against the base clock",
    )
    .with(
        "base",
        gpu.base_clock_mhz.map_or_else(
            || "not published".to_owned(),
            |base| format!("{} MHz", fixed(base, 0)),
        ),
        &*gpu.name,
    )
    .source("NTP, arXiv 2504.06095, two published points");
    let why_energy = Explanation::new(
        format!("Energy per token of the replica, {group}"),
        energy.clone(),
        "with boost: survivors / TP × p;  without: survivors / TP × full batch / batch",
    )
    .with(
        "survivors / TP",
        fixed(f64::from(row.degree) / f64::from(tp.max(1)), 3),
        "share of GPUs that draw power",
    )
    .source("Board power only; dead GPUs draw nothing");
    LostRow {
        lost: row.lost,
        degree: row.degree,
        supported: policy.degrees.largest(tp, row.degree) == Some(row.degree),
        batch,
        power,
        clock,
        energy,
        why: [why_batch, why_power, why_clock, why_energy],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::{Degrees, Scenario};

    #[test]
    fn rows_go_from_whole_to_eight_lost() {
        let job = Scenario::default_scene().resolve().unwrap();
        let rows = lost(&job);
        assert_eq!(
            rows.iter().map(|row| row.lost).collect::<Vec<_>>(),
            (0..=8).collect::<Vec<_>>()
        );
        let whole = &rows[0];
        assert_eq!(
            (whole.degree, whole.batch.as_str(), whole.power.as_str()),
            (72, "8 of 8", "1.00")
        );
        assert!(
            rows.iter()
                .all(|row| row.supported && row.why.iter().all(|why| !why.source.is_empty()))
        );
        // No published base clock: a factor.
        assert!(whole.clock.starts_with("× 1.000"), "{}", whole.clock);
    }

    #[test]
    fn a_board_of_eight_stops_at_half_and_marks_what_is_not_supported() {
        let mut scenario = Scenario::default_scene();
        scenario.system = crate::core::scenario::Named::Preset("h100-nvl8".into());
        scenario.layout.tp = 8;
        scenario.layout.pp = 18;
        scenario.policy.in_domain_spares = 1;
        scenario.policy.degrees = Degrees::List(vec![7, 4]);
        let rows = lost(&scenario.resolve().unwrap());
        let supported: Vec<(u32, bool)> =
            rows.iter().map(|row| (row.degree, row.supported)).collect();
        assert_eq!(
            supported,
            [(8, true), (7, true), (6, false), (5, false), (4, true)]
        );
        assert!(
            rows[1].clock.ends_with(" MHz") || rows[1].clock == "–",
            "{}",
            rows[1].clock
        );
    }
}
