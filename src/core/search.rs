//! The best layout for a model on a number of GPUs, under memory and batch limits, with the rule in the open.
//!
//! The rule decides as much as the hardware: with or without context parallelism, or with any number of micro-batches,
//! the same comparison of domain sizes gives ratios from 1.1 to 2.5. So the rule is data, shown and changeable.

mod explain;

use super::cost::{Replica, StepCost, step};
use super::hardware::{FieldError, Precision, System};
use super::scenario::{HeadSplit, Layout, Recompute};
use super::workload::Model;
use serde::{Deserialize, Serialize};

/// What the search may choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchRule {
    /// Largest context-parallel degree; 1 forbids it.
    pub max_cp: u32,
    /// Largest number of pipeline stages.
    pub max_pp: u32,
    /// Largest number of interleaved chunks; 1 forbids interleaving.
    pub max_vp: u32,
    /// Largest micro-batch, sequences (powers of two up to it).
    pub max_microbatch: u32,
    /// Whether an interleaved schedule needs micro-batches in multiples of PP, as Megatron's does.
    pub microbatches_multiple_of_pp: bool,
    /// Whether stages may differ by one layer.
    pub uneven_stages: bool,
    /// Whether whole layers may be computed again where nothing else fits.
    pub full_recompute: bool,
    /// Overlap of communication with compute.
    pub overlap: bool,
    /// Runners-up to keep, each with another TP, PP or CP.
    pub runners_up: usize,
}

impl Default for SearchRule {
    fn default() -> Self {
        Self {
            max_cp: 16,
            max_pp: 64,
            max_vp: 16,
            max_microbatch: 8,
            microbatches_multiple_of_pp: true,
            uneven_stages: true,
            full_recompute: true,
            overlap: true,
            runners_up: 5,
        }
    }
}

impl SearchRule {
    /// The rule in words, for the page and the figures.
    pub fn words(&self) -> String {
        let cp = if self.max_cp > 1 {
            format!("CP up to {}", self.max_cp)
        } else {
            "no CP".into()
        };
        let vp = if self.max_vp > 1 {
            let multiple = if self.microbatches_multiple_of_pp {
                " (micro-batches then a multiple of PP)"
            } else {
                ""
            };
            format!("up to {} interleaved chunks{multiple}", self.max_vp)
        } else {
            "no interleaving".into()
        };
        format!(
            "fastest step among TP within the domain, PP up to {}, {cp}, micro-batch up to {}, {vp}; stages {}; {}; must fit in memory",
            self.max_pp,
            self.max_microbatch,
            if self.uneven_stages {
                "may differ by a layer"
            } else {
                "equal"
            },
            if self.full_recompute {
                "whole layers computed again only where nothing else fits"
            } else {
                "no recompute"
            }
        )
    }
}

/// What is searched.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// Hardware; TP stays inside its domain.
    pub system: &'a System,
    /// Transformer.
    pub model: &'a Model,
    /// GPUs to use, all of them.
    pub gpus: u32,
    /// Sequences per step.
    pub global_batch: u32,
    /// Sequence length, tokens.
    pub seq: u32,
    /// Format of the matrix multiplications.
    pub precision: Precision,
}

/// A layout with its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The layout.
    pub layout: Layout,
    /// Its step.
    pub cost: StepCost,
    /// Tokens per second and GPU.
    pub tokens_per_s_per_gpu: f64,
    /// What it gains and loses against the winner, term by term; for the winner, why it wins.
    pub why: String,
}

/// What a search found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Found {
    /// The rule, in words.
    pub rule: String,
    /// Layouts that keep the batch and schedule limits.
    pub tried: u64,
    /// Of them, refused for memory.
    pub refused: u64,
    /// The fastest, where any fits.
    pub winner: Option<Candidate>,
    /// The fastest with another TP, PP or CP, best first.
    pub runners_up: Vec<Candidate>,
    /// Where nothing fits: the layout that needs least memory.
    pub closest: Option<Candidate>,
}

/// Searches every layout that the rule allows.
///
/// # Errors
/// Names the field when GPU count, batch or sequence leave nothing to try.
pub fn search(query: &Query<'_>, rule: &SearchRule) -> Result<Found, FieldError> {
    let mut search = Search::new(query, rule)?;
    while search.advance() {}
    search.finish()
}

/// In which order recompute is tried.
const RECOMPUTES: [Recompute; 3] = [Recompute::None, Recompute::Selective, Recompute::Full];

/// A search under way, one TP degree at a time, so that a page can do it in slices.
#[derive(Clone, Debug)]
pub struct Search {
    system: System,
    model: Model,
    gpus: u32,
    global_batch: u32,
    seq: u32,
    precision: Precision,
    rule: SearchRule,
    degrees: Vec<u32>,
    /// TP degrees tried, over all kinds of recompute.
    done: usize,
    best: Vec<Candidate>,
    found: Found,
}

impl Search {
    /// Starts a search.
    ///
    /// # Errors
    /// Names the field that is out of range.
    pub fn new(query: &Query<'_>, rule: &SearchRule) -> Result<Self, FieldError> {
        let range = |field: &str, value: u32, high: u32| {
            if (1..=high).contains(&value) {
                Ok(())
            } else {
                Err(FieldError::new(field, value, format!("1 to {high}")))
            }
        };
        range("gpus", query.gpus, 1_000_000)?;
        range("global_batch", query.global_batch, 100_000_000)?;
        range("seq", query.seq, 100_000_000)?;
        Ok(Self {
            system: query.system.clone(),
            model: query.model.clone(),
            gpus: query.gpus,
            global_batch: query.global_batch,
            seq: query.seq,
            precision: query.precision,
            rule: rule.clone(),
            degrees: degrees(query.system.domain_size)
                .filter(|tp| query.gpus.is_multiple_of(*tp))
                .collect(),
            done: 0,
            best: Vec::new(),
            found: Found {
                rule: rule.words(),
                tried: 0,
                refused: 0,
                winner: None,
                runners_up: Vec::new(),
                closest: None,
            },
        })
    }

    /// Tries every layout at the next TP degree; false when there is nothing left to try.
    pub fn advance(&mut self) -> bool {
        let count = self.degrees.len().max(1);
        let Some(recompute) = RECOMPUTES.get(self.done / count).copied() else {
            return false;
        };
        let at = self.done % count;
        // Recompute only buys memory: try it where nothing fits without.
        let enough =
            !self.best.is_empty() || (recompute != Recompute::None && !self.rule.full_recompute);
        if at == 0 && enough {
            return false;
        }
        self.done += 1;
        let Some(tp) = self.degrees.get(at).copied() else {
            return true;
        };
        let query = Query {
            system: &self.system,
            model: &self.model,
            gpus: self.gpus,
            global_batch: self.global_batch,
            seq: self.seq,
            precision: self.precision,
        };
        let capacity = query.system.gpu.hbm().get();
        let (best, found, rule) = (&mut self.best, &mut self.found, &self.rule);
        each_layout_at(&query, rule, recompute, tp, &mut |layout| {
            let cost = cost_of(&query, layout);
            found.tried += 1;
            if cost.memory.total().get() > capacity {
                found.refused += 1;
                let least = |c: &Candidate| cost.memory.total().get() < c.cost.memory.total().get();
                if found.closest.as_ref().is_none_or(least) {
                    found.closest = Some(candidate(&query, layout, cost));
                }
                return;
            }
            keep(best, &query, layout, cost, rule.runners_up + 1);
        });
        true
    }

    /// What has been found.
    ///
    /// # Errors
    /// Names the GPU count when no layout keeps the rule.
    pub fn finish(self) -> Result<Found, FieldError> {
        let Self {
            mut best,
            mut found,
            ..
        } = self;
        if found.tried == 0 {
            let units = format!(
                "a count that TP x PP x CP x DP reaches with DP a divisor of the {} sequences",
                self.global_batch
            );
            return Err(FieldError::new("gpus", self.gpus, units));
        }
        if !best.is_empty() {
            found.closest = None;
        }
        explain::fill(&mut best);
        let mut ranked = best.into_iter();
        found.winner = ranked.next();
        found.runners_up = ranked.collect();
        Ok(found)
    }
}

fn cost_of(query: &Query<'_>, layout: &Layout) -> StepCost {
    step(&Replica {
        system: query.system,
        model: query.model,
        layout,
        degree: layout.tp,
        sync_degree: layout.tp,
        local_batch: layout.local_batch(),
        perf: 1.0,
        heads: HeadSplit::Whole,
    })
}

fn candidate(query: &Query<'_>, layout: &Layout, cost: StepCost) -> Candidate {
    let tokens = f64::from(query.global_batch) * f64::from(query.seq);
    let tokens_per_s_per_gpu = tokens / cost.step_s.get() / f64::from(query.gpus);
    Candidate {
        layout: layout.clone(),
        cost,
        tokens_per_s_per_gpu,
        why: String::new(),
    }
}

/// Keeps the fastest layout of each (TP, PP, CP), the best `most` of them, fastest first; ties go to the first tried.
fn keep(
    best: &mut Vec<Candidate>,
    query: &Query<'_>,
    layout: &Layout,
    cost: StepCost,
    most: usize,
) {
    let shape = |l: &Layout| (l.tp, l.pp, l.cp);
    if let Some(at) = best.iter().position(|c| shape(&c.layout) == shape(layout)) {
        if best
            .get(at)
            .is_some_and(|old| old.cost.step_s.get() <= cost.step_s.get())
        {
            return;
        }
        best.remove(at);
    }
    let at = best.partition_point(|c| c.cost.step_s.get() <= cost.step_s.get());
    if at < most {
        best.insert(at, candidate(query, layout, cost));
        best.truncate(most);
    }
}

/// TP degrees worth trying: powers of two and divisors of the domain.
fn degrees(domain: u32) -> impl Iterator<Item = u32> {
    (1..=domain).filter(move |tp| tp.is_power_of_two() || domain.is_multiple_of(*tp))
}

fn powers(most: u32) -> impl Iterator<Item = u32> {
    (0..32)
        .map(|bit| 1_u32 << bit)
        .take_while(move |value| *value <= most)
}

fn each_layout_at(
    query: &Query<'_>,
    rule: &SearchRule,
    recompute: Recompute,
    tp: u32,
    visit: &mut dyn FnMut(&Layout),
) {
    let layers = query.model.layers;
    let mut layout = Layout {
        tp,
        pp: 1,
        dp: 1,
        cp: 1,
        vp: 1,
        microbatch: 1,
        global_batch: query.global_batch,
        seq: query.seq,
        precision: query.precision,
        recompute,
        sequence_parallel: true,
        overlap: rule.overlap,
    };
    let groups = query.gpus / tp.max(1);
    for cp in powers(rule.max_cp.min(query.seq)).filter(|cp| groups.is_multiple_of(*cp)) {
        let rest = groups / cp;
        for pp in (1..=rule.max_pp.min(layers)).filter(|pp| rest.is_multiple_of(*pp)) {
            let dp = rest / pp;
            if !query.global_batch.is_multiple_of(dp)
                || (!rule.uneven_stages && !layers.is_multiple_of(pp))
            {
                continue;
            }
            let local = query.global_batch / dp;
            (layout.cp, layout.pp, layout.dp) = (cp, pp, dp);
            for microbatch in powers(rule.max_microbatch).filter(|m| local.is_multiple_of(*m)) {
                layout.microbatch = microbatch;
                for vp in chunks(layers, pp, local / microbatch, rule) {
                    layout.vp = vp;
                    visit(&layout);
                }
            }
        }
    }
}

/// Chunk counts that split a stage's layers evenly (the fuller or the shorter stage's) and keep the schedule's rule.
fn chunks(layers: u32, pp: u32, microbatches: u32, rule: &SearchRule) -> impl Iterator<Item = u32> {
    let (full, short) = (layers.div_ceil(pp), layers / pp);
    let interleaves =
        pp > 1 && (!rule.microbatches_multiple_of_pp || microbatches.is_multiple_of(pp));
    let most = if interleaves { rule.max_vp } else { 1 };
    (1..=most.min(short.max(1)))
        .filter(move |vp| full.is_multiple_of(*vp) || short.is_multiple_of(*vp))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::core::workload::model;
    use proptest::prelude::*;

    fn query<'a>(system: &'a System, model: &'a Model, gpus: u32, batch: u32) -> Query<'a> {
        Query {
            system,
            model,
            gpus,
            global_batch: batch,
            seq: 8192,
            precision: Precision::Bf16,
        }
    }

    #[test]
    fn the_winner_keeps_every_limit_and_beats_the_runners_up() {
        let (system, model) = (system("h100-nvl8").unwrap(), model("llama3-70b").unwrap());
        let found = search(&query(system, model, 512, 256), &SearchRule::default()).unwrap();
        let winner = found.winner.unwrap();
        assert_eq!(winner.layout.gpus(), 512);
        assert!(winner.cost.memory.total().get() <= system.gpu.hbm().get());
        assert!(winner.layout.tp <= 8 && 256_u32.is_multiple_of(winner.layout.dp));
        assert_eq!(found.runners_up.len(), 5);
        let mut last = winner.cost.step_s.get();
        for other in &found.runners_up {
            assert!(other.cost.step_s.get() >= last);
            assert!(other.why.contains("slower"), "{}", other.why);
            last = other.cost.step_s.get();
        }
        assert!(winner.why.contains("next"), "{}", winner.why);
        assert!(found.refused > 0 && found.tried > found.refused);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_number() {
        let (system, model) = (system("h100-nvl8").unwrap(), model("llama3-405b").unwrap());
        let found = search(&query(system, model, 8, 8), &SearchRule::default()).unwrap();
        assert!(found.winner.is_none() && found.tried == found.refused);
        let closest = found.closest.unwrap();
        assert!(closest.cost.memory.total().get() > system.gpu.hbm().get());
    }

    #[test]
    fn impossible_counts_are_an_error_that_names_the_field() {
        let (system, model) = (system("h100-nvl8").unwrap(), model("llama3-8b").unwrap());
        let error = search(&query(system, model, 0, 8), &SearchRule::default()).unwrap_err();
        assert_eq!(error.field, "gpus");
        // 7 x 64 GPUs: DP would have to hold a 7 that neither TP nor the 64 sequences have.
        let error = search(
            &query(system, model, 448 * 11, 64),
            &SearchRule {
                max_pp: 4,
                ..SearchRule::default()
            },
        )
        .unwrap_err();
        assert_eq!(error.field, "gpus");
    }

    #[test]
    fn the_rule_is_obeyed() {
        let (system, model) = (
            system("paper-b200-nvl32").unwrap(),
            model("llama3-70b").unwrap(),
        );
        let rule = SearchRule {
            max_cp: 1,
            max_vp: 1,
            max_pp: 4,
            max_microbatch: 2,
            uneven_stages: false,
            ..SearchRule::default()
        };
        for tp in degrees(system.domain_size) {
            each_layout_at(
                &query(system, model, 1024, 512),
                &rule,
                Recompute::None,
                tp,
                &mut |layout| {
                    assert!(
                        layout.cp == 1
                            && layout.vp == 1
                            && layout.pp <= 4
                            && layout.microbatch <= 2
                    );
                    assert_eq!(layout.gpus(), 1024);
                },
            );
        }
        assert!(rule.words().contains("no CP") && rule.words().contains("no interleaving"));
    }

    #[test]
    fn interleaving_waits_for_a_multiple_of_pp() {
        let rule = SearchRule::default();
        assert_eq!(chunks(80, 8, 16, &rule).collect::<Vec<_>>(), [1, 2, 5, 10]);
        assert_eq!(chunks(80, 8, 12, &rule).collect::<Vec<_>>(), [1]);
        let free = SearchRule {
            microbatches_multiple_of_pp: false,
            ..rule
        };
        assert_eq!(chunks(80, 8, 12, &free).collect::<Vec<_>>(), [1, 2, 5, 10]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_wider_choice_is_never_slower(gpus in 3_u32..9, batch in 4_u32..9) {
            let (system, model) = (system("h100-nvl8").unwrap(), model("llama3-8b").unwrap());
            let query = query(system, model, 1 << gpus, 1 << batch);
            let narrow = search(&query, &SearchRule { max_cp: 1, max_vp: 1, ..SearchRule::default() });
            let wide = search(&query, &SearchRule::default());
            let time = |found: Result<Found, FieldError>| found.ok().and_then(|f| f.winner).map(|w| w.cost.step_s.get());
            if let (Some(narrow), Some(wide)) = (time(narrow), time(wide)) {
                prop_assert!(wide <= narrow);
            }
        }
    }
}
