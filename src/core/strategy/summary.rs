//! One sentence fragment for a strategy's row.

use super::StrategyId;
use super::evaluator::{Evaluator, Rate};
use super::plan::{Plan, PlannedSlot};

fn gpus(count: u32) -> String {
    format!("{count} {}", if count == 1 { "GPU" } else { "GPUs" })
}

/// `7`, or `6 to 7`.
fn span(values: impl Iterator<Item = u32> + Clone) -> String {
    match (values.clone().min(), values.max()) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        _ => "no".into(),
    }
}

/// What the strategy does, in a few words.
pub(super) fn summary(
    evaluator: &Evaluator<'_>,
    id: StrategyId,
    plan: &Plan,
    rate: &Rate,
) -> String {
    let placement = evaluator.placement();
    let all = placement.replicas;
    if rate.paused {
        let short = evaluator.planned_minibatch(plan);
        return match id {
            StrategyId::Wait => "paused until repair".into(),
            _ if short == 0 => "no replica left".into(),
            _ => format!(
                "paused: only {short} of {} sequences",
                evaluator.minibatch()
            ),
        };
    }
    let held = evaluator.held_spares(id);
    let mut parts = match id {
        StrategyId::InDomainSpares => {
            vec![format!(
                "{} of every {} GPUs held back",
                placement
                    .domain_size
                    .saturating_sub(plan.degree.saturating_mul(placement.slots_per_domain)),
                thousands(placement.domain_size)
            )]
        }
        StrategyId::HotSpares if held > 0 && plan.spares_used == 0 => {
            vec![format!(
                "{held} of {} domains stand by",
                placement.domains.saturating_add(held)
            )]
        }
        StrategyId::Ntp | StrategyId::NtpPw => reduced(evaluator, id, plan),
        _ => Vec::new(),
    };
    if plan.spares_used > 0 {
        parts.push(format!(
            "{} of {held} spare domains in use",
            plan.spares_used
        ));
    }
    if plan.dropped() > 0 {
        parts.push(format!("{} of {all} replicas dropped", plan.dropped()));
    }
    if plan.pace < 1.0 {
        parts.push(format!("held to {:.2} by a slow GPU", plan.pace));
    }
    if parts.is_empty() {
        parts.push(if all == 1 {
            "the replica runs whole".into()
        } else {
            format!("all {all} replicas run whole")
        });
    }
    parts.join(", ")
}

fn reduced(evaluator: &Evaluator<'_>, id: StrategyId, plan: &Plan) -> Vec<String> {
    let full = evaluator.local_batch();
    let short: Vec<(usize, u32)> = plan
        .affected
        .iter()
        .enumerate()
        .filter(|(_, replica)| replica.local_batch > 0 && replica.local_batch < full)
        .map(|(index, replica)| (index, replica.local_batch))
        .collect();
    let boosted: Vec<&PlannedSlot> = plan
        .running()
        .flat_map(|replica| &replica.slots)
        .filter(|slot| slot.slot.is_some())
        .collect();
    let power = boosted.iter().map(|slot| slot.power).fold(1.0, f64::max);
    let at = if power >= 1.005 {
        format!(" at {power:.2} × TDP")
    } else if power > 1.0 {
        // Never rounded to no boost at all.
        format!(" at {:.4} × TDP", power.max(1.0001))
    } else {
        String::new()
    };
    match short.as_slice() {
        [(index, batch)] => vec![format!(
            "replica {index} runs {batch} of {full} sequences{at}"
        )],
        [_, ..] => {
            let batches = span(short.iter().map(|(_, batch)| *batch));
            vec![format!(
                "{} replicas run {batches} of {full} sequences{at}",
                short.len()
            )]
        }
        [] if boosted.is_empty() => Vec::new(),
        [] => {
            let place = if evaluator.placement().slots_per_domain == 1 {
                "a rack"
            } else {
                "a TP group"
            };
            let survivors = span(boosted.iter().map(|slot| slot.degree));
            match id {
                StrategyId::NtpPw if power > 1.0 => {
                    vec![format!("{survivors} survivors {place}{at}")]
                }
                _ => {
                    let short = span(
                        boosted
                            .iter()
                            .map(|slot| evaluator.placement().tp.saturating_sub(slot.degree)),
                    );
                    let lost = if short == "1" {
                        gpus(1)
                    } else {
                        format!("{short} GPUs")
                    };
                    vec![format!("{lost} less {place}, full batch all the same")]
                }
            }
        }
    }
}

/// A number up to a million, with a comma.
fn thousands(number: u32) -> String {
    match number / 1000 {
        0 => number.to_string(),
        many => format!("{many},{:03}", number % 1000),
    }
}
