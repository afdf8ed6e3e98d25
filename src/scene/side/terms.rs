//! The step of a healthy, a reduced and a boosted replica, term by term, each with its "why?".

use super::changed::degrees;
use super::number::{count, fixed, time};
use super::stack::Term;
use super::why::Explanation;
use crate::core::cost::{Replica, StepCost, explain, step};
use crate::core::hardware::PowerCurve;
use crate::core::scenario::Job;
use crate::core::strategy::{Evaluation, Outcome, ReplicaPlan, StrategyId};
use crate::core::validation::band;

/// One replica's step.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// `Healthy`, `Reduced` or `Boosted`.
    pub name: &'static str,
    /// Who that is: `R1, TP 72, 8 sequences`.
    pub who: String,
    /// Its step.
    pub cost: StepCost,
    degree: u32,
    sync_degree: u32,
    local_batch: u32,
    perf: f64,
}

impl Bar {
    fn replica<'a>(&self, job: &'a Job) -> Replica<'a> {
        Replica {
            system: &job.system,
            model: &job.model,
            layout: &job.scenario.layout,
            degree: self.degree,
            sync_degree: self.sync_degree,
            local_batch: self.local_batch,
            perf: self.perf,
            heads: job.scenario.policy.heads,
        }
    }

    /// Why a term takes what it takes; `None` for the whole step.
    pub fn why(&self, job: &Job, term: Option<Term>) -> Explanation {
        let error = Some(band(&job.system, job.scenario.layout.precision).words());
        let of = format!("{} replica ({})", self.name, self.who);
        let Some(term) = term else {
            let mut why = Explanation::new(
                format!("Step of the {of}"),
                time(self.cost.step_s.get()),
                "step = sum of its terms",
            );
            for term in Term::ALL {
                if term.of(&self.cost).get() > 0.0 {
                    why = why.with(term.word(), time(term.of(&self.cost).get()), "");
                }
            }
            return why
                .source("Step model, constants fitted on published runs")
                .error(error);
        };
        let found = explain(&self.replica(job))
            .into_iter()
            .find(|entry| entry.term == term.field());
        found.map_or_else(Explanation::default, |entry| {
            Explanation::new(
                format!("{}: {of}", entry.title),
                time(term.of(&self.cost).get()),
                entry.formula,
            )
            .filled(entry.values)
            .source(entry.source)
            .error(error)
        })
    }
}

/// The replicas to compare: a whole one; the worst reduced one under `ntp`; the worst boosted one under `ntp-pw`.
pub fn bars(job: &Job, evaluation: &Evaluation) -> Vec<Bar> {
    let layout = &job.scenario.layout;
    let sequences = |batch: u32| {
        format!(
            "{} {}",
            count(u64::from(batch)),
            if batch == 1 { "sequence" } else { "sequences" }
        )
    };
    let ntp = evaluation.get(StrategyId::Ntp);
    let whole = ntp.and_then(|outcome| {
        let (full, lowest) = degrees(job, outcome);
        let untouched = |replica: &&ReplicaPlan| {
            replica.local_batch > 0
                && replica
                    .degrees
                    .iter()
                    .all(|degree| *degree == job.placement.tp)
        };
        let replica = outcome
            .replicas
            .iter()
            .find(untouched)
            .filter(|_| full == job.placement.tp)?;
        Some((format!("R{}, ", replica.index), replica.cost, lowest))
    });
    let (who, cost, sync_degree) =
        whole.unwrap_or((String::new(), evaluation.healthy.cost, layout.tp));
    let mut bars = vec![Bar {
        name: "Healthy",
        who: format!("{who}TP {}, {}", layout.tp, sequences(layout.local_batch())),
        cost,
        degree: layout.tp,
        sync_degree,
        local_batch: layout.local_batch(),
        perf: 1.0,
    }];
    if let Some(outcome) = ntp {
        bars.extend(damaged(job, outcome, "Reduced", &sequences, |replica| {
            replica.boost_p <= 1.0
        }));
    }
    if let Some(outcome) = evaluation.get(StrategyId::NtpPw) {
        bars.extend(damaged(job, outcome, "Boosted", &sequences, |replica| {
            replica.boost_p > 1.0
        }));
    }
    bars
}

fn damaged(
    job: &Job,
    outcome: &Outcome,
    name: &'static str,
    sequences: &impl Fn(u32) -> String,
    wanted: impl Fn(&ReplicaPlan) -> bool,
) -> Option<Bar> {
    let (_, sync_degree) = degrees(job, outcome);
    let reduced = |replica: &&ReplicaPlan| {
        replica.local_batch > 0
            && replica
                .degrees
                .iter()
                .any(|degree| *degree < job.placement.tp)
            && wanted(replica)
    };
    let replica = outcome
        .replicas
        .iter()
        .filter(reduced)
        .max_by(|a, b| a.cost.step_s.get().total_cmp(&b.cost.step_s.get()))?;
    let mut bar = Bar {
        name,
        who: String::new(),
        cost: replica.cost,
        degree: 1,
        sync_degree,
        local_batch: replica.local_batch,
        perf: 1.0,
    };
    // The TP group whose step the replica's is: the one that comes out the same.
    let mut nearest = f64::INFINITY;
    for (&degree, &power) in replica.degrees.iter().zip(&replica.powers) {
        let candidate = Bar {
            degree,
            perf: PowerCurve::perf(power),
            ..bar.clone()
        };
        let off = (step(&candidate.replica(job)).step_s.get() - replica.cost.step_s.get()).abs();
        if off < nearest {
            nearest = off;
            bar = candidate;
        }
    }
    let clock = if bar.perf > 1.0 {
        format!(", clock × {}", fixed(bar.perf, 3))
    } else {
        String::new()
    };
    bar.who = format!(
        "R{}, TP {}, {}{clock}",
        replica.index,
        bar.degree,
        sequences(replica.local_batch)
    );
    Some(bar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::scenario::{Failure, Scenario};
    use crate::core::strategy::evaluate;

    fn job(failed: &[(u32, u32)]) -> Job {
        let mut scenario = Scenario::default_scene();
        scenario.failures = failed
            .iter()
            .map(|&(domain, gpu)| Failure::hardware(domain, gpu))
            .collect();
        scenario.resolve().unwrap()
    }

    #[test]
    fn three_kinds_of_replica_and_each_term_explained() {
        let job = job(&[(0, 17), (0, 41), (1, 29)]);
        let all = bars(&job, &evaluate(&job));
        let names: Vec<&str> = all.iter().map(|bar| bar.name).collect();
        assert_eq!(names, ["Healthy", "Reduced", "Boosted"]);
        assert!(
            all[0].who.starts_with("R1, TP 72, 8 sequences"),
            "{}",
            all[0].who
        );
        assert!(all[1].who.starts_with("R0, TP 70, "), "{}", all[1].who);
        for bar in &all {
            // What is explained is what is shown: the same step comes out of the reconstructed replica.
            let again = step(&bar.replica(&job)).step_s.get();
            assert!(
                (again / bar.cost.step_s.get() - 1.0).abs() < 1e-9,
                "{}: {again}",
                bar.name
            );
            let sum: f64 = Term::ALL
                .into_iter()
                .map(|term| term.of(&bar.cost).get())
                .sum();
            assert!(
                (sum / bar.cost.step_s.get() - 1.0).abs() < 1e-9,
                "{}: terms {sum}",
                bar.name
            );
            for term in Term::ALL {
                let why = bar.why(&job, Some(term));
                assert!(
                    why.filled.is_some_and(|text| !text.is_empty()) && why.error.is_some(),
                    "{term:?}"
                );
            }
            assert!(!bar.why(&job, None).values.is_empty());
        }
    }

    #[test]
    fn a_healthy_job_has_one_bar() {
        let job = job(&[]);
        let all = bars(&job, &evaluate(&job));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].cost.reshard_exposed_s.get(), 0.0);
    }
}
