//! Assumptions of a sensitivity study: each is moved alone, everything else as the scenario has it.

use super::points::{Posed, posed};
use crate::core::faults::{Cause, CheckpointEvery, Faults, Repair, Start};
use crate::core::hardware::System;
use crate::core::scenario::{FailureKind, Scenario};

/// What one side of an assumption is called, and how it is made; none where that side is the scenario itself.
struct Side {
    label: String,
    scenario: Scenario,
    faults: Faults,
}

/// The scenario itself, then the low and the high side of each assumption.
pub(super) fn points(scenario: &Scenario, system: &System, faults: &Faults) -> Vec<Posed> {
    let name = "as it is";
    let mut all = vec![posed(name.into(), 0, name, 0.0, scenario.clone(), faults)];
    for (row, (name, low, high)) in (1u32..).zip(sides(scenario, system, faults)) {
        for (x, side) in [(-1.0, low), (1.0, high)] {
            if let Some(side) = side {
                all.push(posed(side.label, row, name, x, side.scenario, &side.faults));
            }
        }
    }
    all
}

type Sides = (&'static str, Option<Side>, Option<Side>);

fn sides(scenario: &Scenario, system: &System, faults: &Faults) -> Vec<Sides> {
    let fault = |label: String, change: &dyn Fn(&mut Faults)| {
        let mut with = faults.clone();
        change(&mut with);
        (with != *faults).then(|| Side {
            label,
            scenario: scenario.clone(),
            faults: with,
        })
    };
    let policy = |label: String, change: &dyn Fn(&mut Scenario)| {
        let mut with = scenario.clone();
        change(&mut with);
        (with != *scenario).then(|| Side {
            label,
            scenario: with,
            faults: faults.clone(),
        })
    };
    let twice = |name: &'static str, change: &dyn Fn(&mut Faults, f64)| -> Sides {
        (
            name,
            fault("× 1/2".into(), &|faults| change(faults, 0.5)),
            fault("× 2".into(), &|faults| change(faults, 2.0)),
        )
    };
    let repairs = |kind: FailureKind| {
        move |faults: &mut Faults, factor: f64| {
            of_kind(faults, kind).for_each(|cause| scale(&mut cause.repair, factor));
        }
    };
    let every = match faults.checkpoint.every_min {
        CheckpointEvery::Minutes(minutes) => Some(minutes),
        CheckpointEvery::Formula(_) => None,
    };
    let blast = scenario.policy.blast_radius;
    let (narrow, wide) = ((blast / 4).max(1), (blast * 4).min(system.domain_size));
    let cap = scenario.policy.boost_cap;
    let spares = scenario.policy.spare_domains;
    let more = spares.saturating_mul(2).max(1);
    let mut all: Vec<Sides> = vec![
        twice("failure rate", &|faults, factor| {
            faults.rate_multiplier *= factor;
        }),
        twice("hardware repair time", &repairs(FailureKind::Hardware)),
        twice("software repair time", &repairs(FailureKind::Software)),
        twice("detection time", &|faults, factor| {
            faults
                .causes
                .iter_mut()
                .for_each(|cause| cause.detect_min *= factor);
        }),
        twice("restart time", &|faults, factor| {
            faults.restart_min *= factor;
        }),
        twice("time a save takes", &|faults, factor| {
            faults.checkpoint.takes_min *= factor;
            faults.checkpoint.stall_min *= factor;
        }),
    ];
    if let Some(minutes) = every {
        all.push(twice("time between saves", &|faults, factor| {
            faults.checkpoint.every_min = CheckpointEvery::Minutes(minutes * factor);
        }));
    }
    all.extend([
        (
            "blast radius",
            policy(format!("{narrow} GPU"), &|with| {
                with.policy.blast_radius = narrow;
            }),
            policy(format!("{wide} GPUs"), &|with| {
                with.policy.blast_radius = wide;
            }),
        ),
        (
            "power cap of a boosted GPU",
            policy("x 1.0".into(), &|with| {
                with.policy.boost_cap = 1.0;
            }),
            policy("x 1.3".into(), &|with| {
                with.policy.boost_cap = cap.max(1.3);
            }),
        ),
        (
            "spare domains",
            policy(format!("{}", spares / 2), &|with| {
                with.policy.spare_domains = spares / 2;
            }),
            policy(format!("{more}"), &|with| {
                with.policy.spare_domains = more;
            }),
        ),
        (
            "spread of repair times",
            fault("all the same".into(), &|faults| {
                faults.causes.iter_mut().for_each(|cause| {
                    cause.repair = Repair::Fixed {
                        mean_h: cause.repair.mean_h(),
                    };
                });
            }),
            fault("heavy tail, same mean".into(), &|faults| {
                faults
                    .causes
                    .iter_mut()
                    .for_each(|cause| heavy(&mut cause.repair));
            }),
        ),
        (
            "state at the start",
            fault("all healthy".into(), &|faults| {
                faults.start = Start::Cold;
            }),
            fault("long in operation".into(), &|faults| {
                faults.start = Start::Steady;
            }),
        ),
    ]);
    all.retain(|(_, low, high)| low.is_some() || high.is_some());
    all
}

fn of_kind(faults: &mut Faults, kind: FailureKind) -> impl Iterator<Item = &mut Cause> {
    let causes = faults.causes.iter_mut();
    causes.filter(move |cause| cause.takes_out && cause.kind == kind)
}

fn scale(repair: &mut Repair, factor: f64) {
    match repair {
        Repair::Fixed { mean_h } | Repair::Exponential { mean_h } => *mean_h *= factor,
        Repair::Lognormal { mean_h, median_h } => {
            *mean_h *= factor;
            *median_h *= factor;
        }
        Repair::Empirical { hours } => hours.iter_mut().for_each(|hour| *hour *= factor),
    }
}

/// The mean-to-median ratio of the published 400-server record (132.8 h to 20.4 h).
fn heavy(repair: &mut Repair) {
    let mean_h = repair.mean_h();
    if mean_h > 1e-3 {
        *repair = Repair::Lognormal {
            mean_h,
            median_h: mean_h * 20.4 / 132.8,
        };
    }
}
