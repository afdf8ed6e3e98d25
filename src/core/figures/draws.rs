//! What the figures on failures share: the paper's job, random sets of failed GPUs, and their rates.

use crate::core::faults::draw::Stream;
use crate::core::fleet::Summary;
use crate::core::hardware::FieldError;
use crate::core::placement::Placement;
use crate::core::scenario::{
    Degrees, HeadSplit, Job, Named, Parity, PartialLayout, Policy, Scenario, ScenarioError,
    derive_layout, derive_policy,
};
use crate::core::strategy::{Evaluator, Pattern, StrategyId};
use std::collections::BTreeSet;

/// The strategies that the paper compares.
pub const COMPARED: [StrategyId; 3] = [StrategyId::DpDrop, StrategyId::Ntp, StrategyId::NtpPw];

/// The paper's job: 480B on 32,768 B200 in NVL32, TP32 x PP8 x DP128, 8 sequences of 16,384 tokens a replica, heads split
/// evenly as its local batches and boosts imply.
pub fn paper(degrees: Degrees) -> Scenario {
    let mut scenario = Scenario {
        layout: super::survivors::paper_layout(),
        ..on_preset("paper-b200-nvl32", "paper-480b", &PartialLayout::default())
            .unwrap_or_else(|_| Scenario::default_scene())
    };
    scenario.policy = Policy {
        degrees,
        parity: Parity::PerReplica,
        heads: HeadSplit::Even,
        ..scenario.policy
    };
    scenario
}

/// A scenario on presets, with everything else derived.
pub fn on_preset(
    system: &str,
    model: &str,
    layout: &PartialLayout,
) -> Result<Scenario, ScenarioError> {
    let missing = |field, id: &str| FieldError::new(field, id, "a preset id");
    let hardware =
        crate::core::hardware::system(system).ok_or_else(|| missing("system", system))?;
    let transformer = crate::core::workload::model(model).ok_or_else(|| missing("model", model))?;
    let layout = derive_layout(hardware, transformer, layout);
    Ok(Scenario {
        system: Named::Preset(system.to_owned()),
        model: Named::Preset(model.to_owned()),
        policy: derive_policy(hardware, layout.tp),
        layout,
        failures: Vec::new(),
        faults: None,
    })
}

/// A job of the two systems that the paper did not show, to put side by side.
pub struct Beside {
    /// `NVL72` or `NVL8`.
    pub name: &'static str,
    /// Model, system and layout.
    pub words: &'static str,
    /// The job.
    pub scenario: Scenario,
}

impl Beside {
    /// The job among a figure's settings.
    pub fn setting(&self) -> (String, String) {
        (self.name.to_owned(), self.words.to_owned())
    }
}

/// The same model on 32,256 GPUs in racks of 72 and on boards of 8, each TP group a whole domain, 8 sequences a replica.
pub fn side_by_side() -> Vec<Beside> {
    let jobs = [
        (
            "NVL72",
            "Llama 3 405B, GB300 NVL72, TP72 x PP8 x DP56",
            ("gb300-nvl72", 72, 8, 56),
        ),
        (
            "NVL8",
            "Llama 3 405B, B300 NVL8, TP8 x PP16 x DP252",
            ("b300-nvl8", 8, 16, 252),
        ),
    ];
    let job = |(name, words, (system, tp, pp, dp))| {
        let layout = PartialLayout {
            tp: Some(tp),
            pp: Some(pp),
            dp: Some(dp),
            global_batch: Some(dp * 8),
            ..PartialLayout::default()
        };
        // Presets always resolve; a test says so.
        let scenario = on_preset(system, "llama3-405b", &layout).ok()?;
        Some(Beside {
            name,
            words,
            scenario,
        })
    };
    jobs.into_iter().filter_map(job).collect()
}

/// Draws sets of failures on a job's domains.
pub struct Draws {
    stream: Stream,
    domains: u32,
    size: u32,
}

impl Draws {
    /// For the domains of a placement; `index` parts the streams of one seed.
    pub fn new(placement: &Placement, seed: u64, index: u64) -> Self {
        Self::on(placement.domains, placement.domain_size, seed, index)
    }
    /// For `domains` domains of `size` GPUs.
    pub fn on(domains: u32, size: u32, seed: u64, index: u64) -> Self {
        Self {
            stream: Stream::new(seed, index),
            domains,
            size,
        }
    }

    /// Failed GPUs per affected domain, by domain: `events` distinct aligned groups of `blast` GPUs, all as likely.
    pub fn failed(&mut self, events: u32, blast: u32) -> Vec<(u32, u32)> {
        let blast = blast.clamp(1, self.size.max(1));
        let groups = self.size.div_ceil(blast);
        let all = u64::from(groups) * u64::from(self.domains);
        let mut struck: BTreeSet<u64> = BTreeSet::new();
        while (struck.len() as u64) < u64::from(events).min(all) {
            struck.insert(self.stream.below(all));
        }
        let mut failed: Vec<(u32, u32)> = Vec::new();
        for group in struck {
            let (domain, place) = (
                (group / u64::from(groups)) as u32,
                (group % u64::from(groups)) as u32,
            );
            let down = blast.min(self.size - place * blast);
            match failed.last_mut() {
                Some(last) if last.0 == domain => last.1 += down,
                _ => failed.push((domain, down)),
            }
        }
        failed
    }
}

/// Failures that strike the slots of domains with one TP group each: what lies beyond the slot is left over.
pub fn pattern(placement: &Placement, failed: &[(u32, u32)]) -> Pattern {
    let counts = failed.iter().map(|(domain, down)| {
        let inside = (*down).min(placement.tp);
        (*domain, inside, down - inside)
    });
    Pattern::from_counts(placement, counts)
}

/// Throughput lost, over many sets of failures, for each strategy.
pub fn losses(job: &Job, strategies: &[StrategyId], sets: &[Vec<(u32, u32)>]) -> Vec<Summary> {
    let evaluator = Evaluator::new(job);
    let patterns: Vec<Pattern> = sets
        .iter()
        .map(|failed| pattern(&job.placement, failed))
        .collect();
    let lost = |strategy: StrategyId| {
        patterns
            .iter()
            .map(|pattern| 1.0 - evaluator.rate(strategy, pattern).throughput)
            .collect::<Vec<_>>()
    };
    strategies
        .iter()
        .map(|strategy| Summary::of(lost(*strategy)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_distinct_groups_inside_domains() {
        let mut draws = Draws::on(10, 72, 1, 0);
        for events in [0, 1, 50, 45] {
            let failed = draws.failed(events, 16);
            // 72 is four groups of 16 and one of 8.
            let groups: u32 = failed.iter().map(|(_, down)| down.div_ceil(16)).sum();
            assert_eq!(groups, events);
            assert!(
                failed
                    .iter()
                    .all(|(domain, down)| *domain < 10 && *down <= 72)
            );
        }
        assert_eq!(draws.failed(1000, 72).len(), 10);
    }

    #[test]
    fn both_systems_have_a_job_of_the_same_size() {
        let jobs = side_by_side();
        assert_eq!(jobs.len(), 2);
        for beside in jobs {
            let job = beside.scenario.resolve().unwrap();
            assert_eq!(job.placement.occupied_gpus(), 32_256, "{}", beside.name);
            assert_eq!(job.placement.tp, job.placement.domain_size);
            Evaluator::new(&job).fits().unwrap();
        }
    }

    #[test]
    fn the_papers_job_is_32768_gpus() {
        let job = paper(Degrees::List(vec![30, 28])).resolve().unwrap();
        assert_eq!(job.placement.occupied_gpus(), 32_768);
        assert_eq!(job.scenario.layout.local_batch(), 8);
    }
}
