//! "Find the best layout": what the search found, in words.

use super::number::{change, count, fixed, time};
use crate::core::hardware::{FieldError, System};
use crate::core::placement::Placement;
use crate::core::scenario::{Degrees, Job, Layout, Recompute, Scenario};
use crate::core::search::{Candidate, Found, Query, SearchRule, search};
use std::fmt::Write as _;

/// One layout found.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The layout.
    pub layout: Layout,
    /// In words: `TP 72 × PP 2 × DP 8, micro-batch 4`.
    pub name: String,
    /// Its step.
    pub step: String,
    /// Against the present layout, `-4.1 %` is faster; none where the present one does not fit.
    pub against: Option<String>,
    /// Memory of its fullest GPU.
    pub memory: String,
    /// Why it wins, or by what it loses.
    pub why: String,
    /// Whether it is the present layout.
    pub present: bool,
}

/// What the search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// The rule of the search.
    pub rule: String,
    /// How many layouts were compared and refused.
    pub counts: String,
    /// The winner first; empty when nothing fits.
    pub choices: Vec<Choice>,
    /// What needs least memory, when nothing fits.
    pub nothing_fits: Option<String>,
}

/// Searches layouts for the scenario's model, batch and sequence on as many GPUs as its layout uses.
///
/// # Errors
/// Names the field that leaves nothing to try.
pub fn best(job: &Job, rule: &SearchRule) -> Result<Best, FieldError> {
    let layout = &job.scenario.layout;
    let query = Query {
        system: &job.system,
        model: &job.model,
        gpus: u32::try_from(layout.gpus()).unwrap_or(u32::MAX),
        global_batch: layout.global_batch,
        seq: layout.seq,
        precision: layout.precision,
    };
    Ok(told(job, &search(&query, rule)?))
}

fn told(job: &Job, found: &Found) -> Best {
    let there = job.system.gpu.hbm();
    let present = crate::core::cost::step(&crate::core::cost::Replica {
        system: &job.system,
        model: &job.model,
        layout: &job.scenario.layout,
        degree: job.scenario.layout.tp,
        sync_degree: job.scenario.layout.tp,
        local_batch: job.scenario.layout.local_batch(),
        perf: 1.0,
        heads: job.scenario.policy.heads,
    });
    let fits = present.memory.total() <= there && present.step_s.get() > 0.0;
    let choice = |candidate: &Candidate| Choice {
        layout: candidate.layout.clone(),
        name: name(&candidate.layout),
        step: time(candidate.cost.step_s.get()),
        against: fits.then(|| change(candidate.cost.step_s / present.step_s - 1.0)),
        memory: format!(
            "{} of {} GiB",
            fixed(candidate.cost.memory.total().gib(), 0),
            fixed(there.gib(), 0)
        ),
        why: candidate.why.clone(),
        present: candidate.layout == job.scenario.layout,
    };
    Best {
        rule: found.rule.clone(),
        counts: format!(
            "{} layouts compared, {} of them refused for memory",
            count(found.tried),
            count(found.refused)
        ),
        choices: found
            .winner
            .iter()
            .chain(&found.runners_up)
            .map(choice)
            .collect(),
        nothing_fits: found.closest.as_ref().map(|closest| {
            format!(
                "Nothing fits: {} needs least memory, {} GiB on the fullest GPU of {} GiB.",
                name(&closest.layout),
                fixed(closest.cost.memory.total().gib(), 0),
                fixed(there.gib(), 0)
            )
        }),
    }
}

/// Puts a layout into a scenario, with what the rest of it must give up to stay valid: reduced degrees above the new TP,
/// held-back GPUs that leave no group a GPU, failures of domains that are gone.
pub fn adopt(scenario: &mut Scenario, system: &System, layout: Layout) {
    let tp = layout.tp.max(1);
    scenario.layout = layout;
    let policy = &mut scenario.policy;
    if let Degrees::List(list) = &mut policy.degrees {
        list.retain(|degree| *degree <= tp);
        if list.is_empty() {
            policy.degrees = Degrees::Any;
        }
    }
    let most = system.domain_size.saturating_sub(system.domain_size / tp);
    policy.in_domain_spares = policy.in_domain_spares.min(most);
    if let Ok(placement) = Placement::new(&scenario.layout, &scenario.policy, system) {
        let domains = placement.domains.saturating_add(placement.spare_domains);
        scenario.failures.retain(|failure| failure.domain < domains);
    }
}

/// A layout in words.
pub fn name(layout: &Layout) -> String {
    let mut text = format!("TP {} × PP {} × DP {}", layout.tp, layout.pp, layout.dp);
    // Writing to a String cannot fail.
    if layout.cp > 1 {
        let _ = write!(text, " × CP {}", layout.cp);
    }
    let _ = write!(text, ", micro-batch {}", layout.microbatch);
    if layout.vp > 1 {
        let _ = write!(text, ", {} chunks", layout.vp);
    }
    text += match layout.recompute {
        Recompute::None => "",
        Recompute::Selective => ", attention recomputed",
        Recompute::Full => ", layers recomputed",
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::Failure;

    #[test]
    fn the_winner_comes_first_with_its_reason() {
        let job = Scenario::default_scene().resolve().unwrap();
        let best = best(&job, &SearchRule::default()).unwrap();
        let winner = &best.choices[0];
        assert_eq!(winner.layout.gpus(), 1152);
        assert!(
            winner.why.starts_with("fastest: the next, "),
            "{}",
            winner.why
        );
        assert!(
            best.choices.len() > 1
                && best.choices[1..]
                    .iter()
                    .all(|choice| choice.why.contains("% slower"))
        );
        assert!(best.nothing_fits.is_none() && best.counts.contains("layouts compared"));
        assert!(
            winner
                .against
                .as_ref()
                .is_some_and(|text| text.ends_with('%'))
        );
    }

    #[test]
    fn every_choice_can_be_adopted() {
        let mut scenario = Scenario::default_scene();
        scenario.policy.degrees = Degrees::List(vec![70]);
        scenario.policy.in_domain_spares = 70;
        let last = Failure::hardware(15, 71);
        scenario.failures = vec![last];
        let job = scenario.resolve().unwrap();
        for choice in best(&job, &SearchRule::default()).unwrap().choices {
            let mut next = scenario.clone();
            adopt(&mut next, &job.system, choice.layout);
            assert!(
                next.resolve().is_ok(),
                "{}: {:?}",
                choice.name,
                next.resolve().err()
            );
        }
        // A job of two domains has no domain 15.
        let mut next = scenario.clone();
        adopt(
            &mut next,
            &job.system,
            Layout {
                tp: 8,
                pp: 1,
                dp: 16,
                global_batch: 64,
                ..scenario.layout.clone()
            },
        );
        assert!(
            next.failures.is_empty()
                && next.policy.degrees == Degrees::Any
                && next.policy.in_domain_spares == 63
        );
        next.resolve().unwrap();
    }

    #[test]
    fn what_cannot_fit_says_how_much_it_asks() {
        let mut scenario = Scenario::default_scene();
        scenario.layout.tp = 1;
        scenario.layout.pp = 1;
        scenario.layout.dp = 1;
        scenario.layout.global_batch = 1;
        scenario.policy.in_domain_spares = 0;
        let job = scenario.resolve().unwrap();
        let best = best(&job, &SearchRule::default()).unwrap();
        assert!(best.choices.is_empty());
        let text = best.nothing_fits.unwrap();
        assert!(
            text.starts_with("Nothing fits: TP 1 × PP 1 × DP 1") && text.ends_with("of 288 GiB."),
            "{text}"
        );
    }
}
