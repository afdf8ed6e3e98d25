//! The `NonuniformTPConfig(...)` of what the racks show, to paste into a Megatron script.

use crate::core::order;
use crate::core::scenario::Job;
use crate::core::shards::{ParitySlot, config_text};
use crate::core::strategy::{DomainView, Outcome, StrategyId, domain_views};

/// The configuration text for the reduced TP groups of `outcome`.
///
/// # Errors
/// One line on why there is none: nothing is reduced, the strategy does not reduce, or the groups have several degrees.
pub fn config(job: &Job, outcome: &Outcome) -> Result<String, String> {
    if !matches!(outcome.strategy, StrategyId::Ntp | StrategyId::NtpPw) {
        return Err(format!(
            "{} reduces no TP group; choose ntp or ntp-pw",
            outcome.strategy.id()
        ));
    }
    let views = domain_views(job, outcome);
    let mut slots: Vec<ParitySlot> = views.iter().flat_map(|view| reduced(job, view)).collect();
    order::sort(&mut slots);
    let mut counts: Vec<usize> = slots.iter().map(|slot| slot.non_active.len()).collect();
    order::sort(&mut counts);
    counts.dedup();
    match counts.as_slice() {
        [] => Err("no TP group is reduced: nothing to configure".into()),
        [spares] => Ok(config_text(job.placement.tp, *spares as u32, &slots)),
        _ => Err("Megatron Core takes one reduced degree: set parity to one degree".into()),
    }
}

/// Reduced groups of one domain, with the local ranks that do not compute.
fn reduced<'a>(job: &'a Job, view: &'a DomainView) -> impl Iterator<Item = ParitySlot> + 'a {
    let tp = job.placement.tp;
    let cp = job.scenario.layout.cp.max(1);
    let parts = view.gpus.chunks(tp.max(1) as usize);
    view.slots
        .iter()
        .zip(&view.degrees)
        .zip(parts)
        .filter_map(move |((slot, &degree), gpus)| {
            let (dp, position) = (*slot)?;
            if degree == 0 || degree >= tp {
                return None;
            }
            let off: Vec<u32> = (0..)
                .zip(gpus)
                .filter(|(_, gpu)| gpu.tp_rank.is_none())
                .map(|(rank, _)| rank)
                .collect();
            // Left-over GPUs of the domain stand in for the first ones.
            let stand_in = off.len().saturating_sub((tp - degree) as usize);
            let non_active = off.into_iter().skip(stand_in).collect();
            Some(ParitySlot {
                dp,
                cp: position % cp,
                pp: position / cp,
                non_active,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::{Failure, Parity, Scenario};
    use crate::core::strategy::evaluate;

    fn text(failed: &[(u32, u32)], parity: Parity, id: StrategyId) -> Result<String, String> {
        let mut scenario = Scenario::default_scene();
        scenario.policy.parity = parity;
        scenario.failures = failed
            .iter()
            .map(|&(domain, gpu)| Failure::hardware(domain, gpu))
            .collect();
        let job = scenario.resolve().unwrap();
        config(&job, evaluate(&job).get(id).unwrap())
    }

    #[test]
    fn both_stages_of_the_worst_replica_share_a_degree() {
        assert_eq!(
            text(
                &[(0, 17), (0, 41), (1, 29)],
                Parity::OneDegree,
                StrategyId::Ntp
            )
            .unwrap(),
            "NonuniformTPConfig(tp_base=72, tp_spares=2, num_reduced_tp_dp_ranks=1, \
             non_active_ranks_per_dp={(0, 0, 0): [17, 41], (0, 0, 1): [29, 71]})"
        );
    }

    #[test]
    fn why_there_is_no_text() {
        assert!(
            text(&[], Parity::OneDegree, StrategyId::Ntp)
                .unwrap_err()
                .contains("no TP group is reduced")
        );
        assert!(
            text(&[(0, 1)], Parity::OneDegree, StrategyId::DpDrop)
                .unwrap_err()
                .contains("choose ntp")
        );
        let several = [(0, 1), (0, 2), (1, 3), (2, 4)];
        let error = text(&several, Parity::PerReplica, StrategyId::NtpPw).unwrap_err();
        assert!(error.contains("one degree"), "{error}");
    }
}
