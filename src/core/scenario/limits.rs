//! What every field may hold. The JSON reader and [`super::Scenario::resolve`] share these ranges.

use super::{Degrees, Failure, FailureKind, Layout, Policy, Scenario};
use crate::core::hardware::{FieldError, PowerCurve, Precision, System};
use crate::core::placement::Placement;
use crate::core::workload::Model;

/// Most GPUs of a scenario, spare domains included.
pub const MAX_GPUS: u64 = 1_000_000;
/// Most failures of a scenario.
pub const MAX_FAILURES: usize = 100_000;
/// Speed of a slow GPU relative to a healthy one.
pub const SLOW_SPEED_RANGE: (f64, f64) = (0.05, 1.0);

/// Inclusive range of a whole number.
pub(super) type Whole = (u32, u32);
/// Inclusive range of a number.
pub(super) type Real = (f64, f64);

pub(super) const CP: Whole = (1, 1024);
pub(super) const VP: Whole = (1, 64);
pub(super) const MICROBATCH: Whole = (1, 1024);
pub(super) const BATCH: Whole = (1, 1_000_000);
pub(super) const DP: Whole = (1, 16_384);
pub(super) const SEQ: Whole = (1, 100_000_000);
pub(super) const POWER: Real = (1.0, PowerCurve::MAX_POWER);
pub(super) const SPARE_DOMAINS: Whole = (0, 100_000);

pub(super) fn tp(system: &System) -> Whole {
    (1, system.domain_size)
}
pub(super) fn pp(model: &Model) -> Whole {
    (1, model.layers)
}
pub(super) fn blast(system: &System) -> Whole {
    (1, system.domain_size)
}
/// At least one GPU of every TP group must be left.
pub(super) fn in_domain_spares(system: &System, tp: u32) -> Whole {
    (
        0,
        system
            .domain_size
            .saturating_sub(system.domain_size / tp.max(1)),
    )
}

fn whole(field: &str, value: u32, (low, high): Whole) -> Result<(), FieldError> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(FieldError::new(field, value, format!("{low} to {high}")))
    }
}

fn real(field: &str, value: f64, (low, high): Real) -> Result<(), FieldError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(FieldError::new(field, value, format!("{low} to {high}")))
    }
}

/// Checks a scenario against its system and model, both valid already.
pub(super) fn check(scenario: &Scenario, system: &System, model: &Model) -> Result<(), FieldError> {
    check_layout(&scenario.layout, system, model)?;
    check_policy(&scenario.policy, &scenario.layout, system)?;
    let placement = Placement::new(&scenario.layout, &scenario.policy, system)?;
    let domains = u64::from(placement.domains);
    let all = (domains + u64::from(placement.spare_domains)) * u64::from(placement.domain_size);
    if all > MAX_GPUS {
        let most = (MAX_GPUS / u64::from(placement.domain_size)).saturating_sub(domains);
        let value = scenario
            .policy
            .spare_domains
            .max(scenario.policy.hot_spare_domains);
        return Err(FieldError::new(
            "policy.spare_domains",
            value,
            format!("0 to {most} ({MAX_GPUS} GPUs in all)"),
        ));
    }
    if scenario.failures.len() > MAX_FAILURES {
        return Err(FieldError::new(
            "failures",
            format!("{} entries", scenario.failures.len()),
            format!("at most {MAX_FAILURES}"),
        ));
    }
    let last = placement
        .domains
        .saturating_add(placement.spare_domains)
        .saturating_sub(1);
    for (index, failure) in scenario.failures.iter().enumerate() {
        check_failure(&format!("failures[{index}]"), failure, last, system)?;
    }
    match &scenario.faults {
        Some(faults) if !faults.is_object() => Err(FieldError::new(
            "faults",
            super::reader::shown(faults),
            "an object with causes, checkpoint, restart_min or strike",
        )),
        _ => Ok(()),
    }
}

pub(super) fn check_layout(
    layout: &Layout,
    system: &System,
    model: &Model,
) -> Result<(), FieldError> {
    whole("layout.tp", layout.tp, tp(system))?;
    whole("layout.pp", layout.pp, pp(model))?;
    whole("layout.cp", layout.cp, CP)?;
    whole("layout.vp", layout.vp, VP)?;
    whole("layout.seq", layout.seq, SEQ)?;
    if layout.cp > layout.seq {
        return Err(FieldError::new(
            "layout.cp",
            layout.cp,
            format!("at most layout.seq {}", layout.seq),
        ));
    }
    let chunks = model.layers / layout.pp.max(1);
    if layout.vp > chunks {
        return Err(FieldError::new(
            "layout.vp",
            layout.vp,
            format!("1 to {chunks} (layers / pp)"),
        ));
    }
    whole("layout.microbatch", layout.microbatch, MICROBATCH)?;
    whole("layout.dp", layout.dp, DP)?;
    let slots_per_domain = u64::from(system.domain_size / layout.tp.max(1));
    let groups = u64::from(layout.pp) * u64::from(layout.cp);
    let most_groups = MAX_GPUS / u64::from(system.domain_size) * slots_per_domain;
    if groups > most_groups {
        let most = most_groups / u64::from(layout.cp);
        return Err(FieldError::new(
            "layout.pp",
            layout.pp,
            format!("1 to {most} ({MAX_GPUS} GPUs in all)"),
        ));
    }
    if groups * u64::from(layout.dp) > most_groups {
        let most = most_groups / groups.max(1);
        return Err(FieldError::new(
            "layout.dp",
            layout.dp,
            format!("1 to {most} ({MAX_GPUS} GPUs in all)"),
        ));
    }
    whole("layout.global_batch", layout.global_batch, BATCH)?;
    let unit = layout.dp.saturating_mul(layout.microbatch);
    if !layout.global_batch.is_multiple_of(unit) {
        return Err(FieldError::new(
            "layout.global_batch",
            layout.global_batch,
            format!("a multiple of {unit} (dp x microbatch)"),
        ));
    }
    if layout.precision == Precision::Fp8 && system.gpu.fp8_tflops.is_none() {
        return Err(FieldError::new(
            "layout.precision",
            "fp8",
            format!("bf16 ({} has no fp8)", system.gpu.name),
        ));
    }
    Ok(())
}

fn check_policy(policy: &Policy, layout: &Layout, system: &System) -> Result<(), FieldError> {
    real("policy.boost_cap", policy.boost_cap, POWER)?;
    real("policy.rack_headroom", policy.rack_headroom, POWER)?;
    whole(
        "policy.in_domain_spares",
        policy.in_domain_spares,
        in_domain_spares(system, layout.tp),
    )?;
    whole("policy.spare_domains", policy.spare_domains, SPARE_DOMAINS)?;
    whole(
        "policy.hot_spare_domains",
        policy.hot_spare_domains,
        SPARE_DOMAINS,
    )?;
    whole("policy.blast_radius", policy.blast_radius, blast(system))?;
    if let Degrees::List(list) = &policy.degrees {
        if list.is_empty() || list.len() > system.domain_size as usize {
            let allowed = format!("\"any\" or a list of 1 to {} degrees", system.domain_size);
            return Err(FieldError::new(
                "policy.degrees",
                format!("a list of {}", list.len()),
                allowed,
            ));
        }
        for (index, &degree) in list.iter().enumerate() {
            whole(&format!("policy.degrees[{index}]"), degree, (1, layout.tp))?;
        }
    }
    Ok(())
}

fn check_failure(
    path: &str,
    failure: &Failure,
    last_domain: u32,
    system: &System,
) -> Result<(), FieldError> {
    whole(&format!("{path}.domain"), failure.domain, (0, last_domain))?;
    whole(
        &format!("{path}.gpu"),
        failure.gpu,
        (0, system.domain_size.saturating_sub(1)),
    )?;
    let speed = format!("{path}.speed");
    if failure.kind == FailureKind::Slow {
        real(&speed, failure.speed, SLOW_SPEED_RANGE)?;
    } else if failure.speed != 1.0 {
        return Err(FieldError::new(speed, failure.speed, "1, or kind slow"));
    }
    failure.blast_radius.map_or(Ok(()), |radius| {
        whole(&format!("{path}.blast_radius"), radius, blast(system))
    })
}
