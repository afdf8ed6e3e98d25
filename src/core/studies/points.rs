//! The scenarios behind a study's points.

use super::assumptions;
use super::question::{Question, Rows, Setup};
use crate::core::faults::{CheckpointEvery, Faults};
use crate::core::fleet::{Plan, interval};
use crate::core::hardware::{System, systems};
use crate::core::scenario::{
    Degrees, Named, PartialLayout, Scenario, ScenarioError, derive_layout, derive_policy,
};
use serde::{Deserialize, Serialize};

/// Points of the interval axis: this many factors of the square root of two to either side of Daly's interval.
const INTERVAL_STEPS: i32 = 6;
/// Factors of the rows of a checkpoint map.
const ROW_FACTORS: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Most points of a spares axis.
const SPARE_POINTS: u32 = 12;
/// GPUs that go down together.
const RADII: [u32; 7] = [1, 2, 4, 8, 16, 32, 72];

/// One point of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// What is particular about it, in words: `8 spare domains`, `restart time x 2`.
    pub label: String,
    /// Which curve or row it belongs to; in a sensitivity study the assumption, from 1 (0 is the scenario itself).
    pub row: u32,
    /// Name of that curve, row or assumption.
    pub row_label: String,
    /// Where it is on the axis: spares, minutes, GPUs, or -1 and 1 for the low and the high side of an assumption.
    pub x: f64,
}

/// A point with the scenario that answers for it.
pub type Posed = (Point, Result<(Scenario, Faults), String>);

/// Every point of a study, in a fixed order. A point that cannot be built carries the reason in its place.
///
/// # Errors
/// When the setup or the scenario itself is not allowed.
pub fn points(scenario: &Scenario, setup: &Setup) -> Result<Vec<Posed>, ScenarioError> {
    setup.check()?;
    let faults = Faults::read(scenario.faults.as_ref())?;
    let job = scenario.resolve()?;
    Ok(match setup.question {
        Question::SpareDomains { most } => spare_axis(most)
            .into_iter()
            .map(|spares| {
                let mut with = scenario.clone();
                with.policy.spare_domains = spares;
                with.policy.hot_spare_domains = 0;
                let label = match spares {
                    1 => "1 spare domain".to_owned(),
                    _ => format!("{spares} spare domains"),
                };
                posed(label, 0, "spare domains", f64::from(spares), with, &faults)
            })
            .collect(),
        Question::InDomainSpares { most } => in_domain(scenario, &job.system, &faults, most),
        Question::Interval { rows } => {
            let plan = Plan::new(&job, &faults);
            intervals(scenario, &faults, &plan, rows)
        }
        Question::BlastRadius => blast(scenario, &job.system, &faults),
        Question::Sensitivity => assumptions::points(scenario, &job.system, &faults),
    })
}

/// A point and its scenario, if that one resolves.
pub(super) fn posed(
    label: String,
    row: u32,
    row_label: &str,
    x: f64,
    scenario: Scenario,
    faults: &Faults,
) -> Posed {
    let point = Point {
        label,
        row,
        row_label: row_label.to_owned(),
        x,
    };
    let valid = faults
        .validate()
        .map_err(ScenarioError::from)
        .and_then(|()| scenario.resolve());
    match valid {
        Ok(_) => (point, Ok((scenario, faults.clone()))),
        Err(error) => (point, Err(error.to_string())),
    }
}

/// 0, then about equal ratios up to `most`, each a new whole number.
fn spare_axis(most: u32) -> Vec<u32> {
    if most <= SPARE_POINTS {
        return (0..=most).collect();
    }
    let ratio = libm::pow(f64::from(most), 1.0 / f64::from(SPARE_POINTS - 1));
    let mut axis = vec![0];
    for step in 0..SPARE_POINTS {
        let ideal = libm::round(libm::pow(ratio, f64::from(step))) as u32;
        let next = axis.last().map_or(0, |last| last + 1);
        axis.push(ideal.clamp(next, most.max(next)));
    }
    axis.dedup();
    axis.retain(|spares| *spares <= most);
    axis
}

/// The same racks with fewer GPUs in each TP group: what a domain has left over replaces failed ones under every strategy.
fn in_domain(scenario: &Scenario, system: &System, faults: &Faults, most: u32) -> Vec<Posed> {
    let slots = (system.domain_size / scenario.layout.tp.max(1)).max(1);
    let most = most.min(system.domain_size.saturating_sub(slots));
    let axis = spare_axis(most / slots)
        .into_iter()
        .map(|per_slot| per_slot * slots);
    axis.map(|spares| {
        let mut with = scenario.clone();
        let tp = (system.domain_size - spares) / slots;
        with.layout.tp = tp;
        with.policy.in_domain_spares = spares;
        if let Degrees::List(list) = &mut with.policy.degrees {
            list.retain(|degree| *degree < tp);
            if list.is_empty() {
                with.policy.degrees = Degrees::Any;
            }
        }
        let label = if slots == 1 {
            format!("TP{tp} + {spares}")
        } else {
            format!("{slots} x TP{tp} + {spares}")
        };
        let row = "GPUs left over in a domain";
        posed(label, 0, row, f64::from(spares), with, faults)
    })
    .collect()
}

/// Intervals around Daly's for each row, the scenario's own row in the middle.
fn intervals(scenario: &Scenario, faults: &Faults, plan: &Plan, rows: Rows) -> Vec<Posed> {
    let takes = faults.checkpoint.takes_min.max(1.0 / 60.0);
    let mtbi_min = plan.mtbi.hours() * 60.0;
    let known = mtbi_min < 1e7 && mtbi_min > 0.0;
    let centre = if known {
        interval::daly(takes, mtbi_min)
    } else {
        plan.cycle.every.hours() * 60.0
    };
    let centre = centre.clamp(0.1, 1e5);
    let mut all = Vec::new();
    for (row, factor) in (0u32..).zip(ROW_FACTORS) {
        let mut with = faults.clone();
        let (name, row_centre) = match rows {
            Rows::SaveTime => {
                with.checkpoint.takes_min = takes * factor;
                with.checkpoint.stall_min *= factor;
                (format!("save takes {} min", short(takes * factor)), centre)
            }
            Rows::FailureRate => {
                with.rate_multiplier *= factor;
                (format!("{} x the failures", short(factor)), centre)
            }
        };
        for step in -INTERVAL_STEPS..=INTERVAL_STEPS {
            let minutes = row_centre * libm::exp2(f64::from(step) / 2.0);
            with.checkpoint.every_min = CheckpointEvery::Minutes(minutes);
            let label = format!("a save every {} min", short(minutes));
            all.push(posed(label, row, &name, minutes, scenario.clone(), &with));
        }
    }
    all
}

/// At most three digits that matter.
pub(super) fn short(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else if value >= 10.0 {
        format!("{value:.1}")
    } else {
        let text = format!("{value:.3}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

fn blast(scenario: &Scenario, system: &System, faults: &Faults) -> Vec<Posed> {
    let mut all = Vec::new();
    let jobs = [
        Some((scenario.clone(), system.clone())),
        counterpart(scenario, system),
    ];
    for (row, (job, system)) in (0u32..).zip(jobs.into_iter().flatten()) {
        let mut radii: Vec<u32> = RADII
            .into_iter()
            .filter(|radius| *radius < system.domain_size)
            .collect();
        radii.push(system.domain_size);
        for radius in radii {
            let mut with = job.clone();
            with.policy.blast_radius = radius;
            let label = match radius {
                1 => "1 GPU a failure".to_owned(),
                _ => format!("{radius} GPUs a failure"),
            };
            all.push(posed(
                label,
                row,
                &system.name,
                f64::from(radius),
                with,
                faults,
            ));
        }
    }
    all
}

/// The same model, batch and about the same GPUs on the system of the other kind with the likest GPU: NVL8 for a rack-scale
/// system, NVL72 for boards of eight. None where the model does not resolve.
pub fn counterpart(scenario: &Scenario, system: &System) -> Option<(Scenario, System)> {
    let wanted = if system.domain_size > 8 { 8 } else { 72 };
    let apart = |a: f64, b: f64| libm::log(a / b).abs();
    let unlike = |other: &System| {
        apart(other.gpu.bf16_tflops, system.gpu.bf16_tflops)
            + apart(other.gpu.hbm_gb, system.gpu.hbm_gb)
    };
    let other = systems()
        .iter()
        .filter(|other| other.domain_size == wanted)
        .min_by(|a, b| unlike(a).total_cmp(&unlike(b)))?;
    let layout = &scenario.layout;
    let per_replica = u64::from(layout.tp) * u64::from(layout.pp);
    let model = scenario.model.resolve().ok()?;
    let pp = (per_replica / u64::from(wanted)).clamp(1, u64::from(model.layers)) as u32;
    let per_replica = u64::from(wanted) * u64::from(pp) * u64::from(layout.cp);
    let dp = (layout.gpus() / per_replica.max(1)).clamp(1, u64::from(u32::MAX)) as u32;
    let unit = layout.microbatch.max(1);
    let local = (layout.global_batch / dp / unit).max(1) * unit;
    let given = PartialLayout {
        tp: Some(wanted),
        pp: Some(pp),
        dp: Some(dp),
        cp: Some(layout.cp),
        microbatch: Some(layout.microbatch),
        global_batch: Some(local.saturating_mul(dp)),
        seq: Some(layout.seq),
        precision: Some(layout.precision),
        ..PartialLayout::default()
    };
    let mut with = Scenario {
        system: Named::Preset(other.id.clone()),
        layout: derive_layout(other, &model, &given),
        policy: derive_policy(other, wanted),
        failures: Vec::new(),
        ..scenario.clone()
    };
    let share = u64::from(scenario.policy.spare_domains) * u64::from(system.domain_size);
    with.policy.spare_domains = (share / u64::from(wanted)) as u32;
    with.policy.fixed_minibatch = scenario.policy.fixed_minibatch;
    with.policy.boost_cap = scenario.policy.boost_cap;
    with.policy.rack_headroom = scenario.policy.rack_headroom;
    with.policy.heads = scenario.policy.heads;
    with.policy.parity = scenario.policy.parity;
    Some((with, other.clone()))
}
