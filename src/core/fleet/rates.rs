//! What a set of failures does to a strategy, remembered by pattern.
//!
//! Which domain has failed does not matter, only how many domains look how; so a pattern is a count per look
//! ([`Signature`]), and each pattern is evaluated once per strategy however often it comes back.

use crate::core::strategy::{LedgerNow, StrategyId};
use rustc_hash::FxHashMap;

/// Patterns remembered per strategy before the memory is emptied.
const MAX_PATTERNS: usize = 200_000;

/// How one affected domain looks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// A spare domain, not one of the job's.
    pub spare: bool,
    /// Failed GPUs of each slot that has any, most first.
    pub slots: Vec<u16>,
    /// Failed GPUs outside any slot.
    pub left_over: u16,
}

/// A set of failures: how many domains look like each signature. Domains not counted are healthy.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern<'a> {
    /// Domains per entry of `signatures`; shorter means none.
    pub counts: &'a [u32],
    /// The looks.
    pub signatures: &'a [Signature],
}

impl Pattern<'_> {
    /// Each look that occurs, with its number of domains.
    pub fn iter(&self) -> impl Iterator<Item = (&Signature, u32)> {
        self.signatures
            .iter()
            .zip(self.counts.iter().copied())
            .filter(|(_, count)| *count > 0)
    }
}

/// What a strategy makes of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Tokens per second relative to the healthy job of the layout.
    pub throughput: f64,
    /// Tokens per second relative to the healthy rate of all occupied GPUs.
    pub goodput: f64,
    /// Sequences per step.
    pub minibatch: u32,
    /// Whether the job cannot run.
    pub paused: bool,
    /// Where the GPU time goes while it runs; fractions of all occupied GPUs that add up to 1.
    pub ledger: LedgerNow,
    /// Domains of the job that compute nothing, worst first, then the lowest healthy ones.
    pub benched_domains: u32,
    /// Spare domains that compute.
    pub spare_domains_used: u32,
    /// Healthy GPUs idled so that all reduced replicas share a degree.
    pub parity_idle_gpus: u32,
}

/// Evaluates patterns. The answer may depend on nothing but the arguments.
pub trait RateSource {
    /// What `strategy` makes of `pattern`.
    fn rate(&mut self, strategy: StrategyId, pattern: &Pattern<'_>) -> Rate;
}

/// A rate source with memory, shared by all lanes of one job.
#[derive(Debug)]
pub struct Rates<S> {
    source: S,
    signatures: Vec<Signature>,
    index: FxHashMap<Signature, u32>,
    known: [FxHashMap<Box<[u32]>, Rate>; StrategyId::ALL.len()],
    evaluations: u64,
    most: usize,
}

impl<S: RateSource> Rates<S> {
    /// With nothing remembered yet.
    pub fn new(source: S) -> Self {
        Self::remembering(source, MAX_PATTERNS)
    }
    /// The same with at most `most` patterns per strategy in memory.
    pub fn remembering(source: S, most: usize) -> Self {
        Self {
            most,
            source,
            signatures: Vec::new(),
            index: FxHashMap::default(),
            known: Default::default(),
            evaluations: 0,
        }
    }
    /// A memory of its own for the same job: looks keep their numbers and known rates stay known.
    pub fn same_job(&self, source: S) -> Self {
        Self {
            source,
            signatures: self.signatures.clone(),
            index: self.index.clone(),
            known: self.known.clone(),
            evaluations: 0,
            most: self.most,
        }
    }
    /// Number of a look, the same for the life of this memory.
    pub fn intern(&mut self, signature: &Signature) -> u32 {
        if let Some(id) = self.index.get(signature) {
            return *id;
        }
        let id = self.signatures.len() as u32;
        self.signatures.push(signature.clone());
        self.index.insert(signature.clone(), id);
        id
    }
    /// What `strategy` makes of `counts` domains per look.
    pub fn get(&mut self, strategy: StrategyId, counts: &[u32]) -> Rate {
        let end = counts
            .iter()
            .rposition(|count| *count > 0)
            .map_or(0, |last| last + 1);
        let counts = counts.get(..end).unwrap_or_default();
        let Some(known) = self.known.get_mut(strategy as usize) else {
            return Rate::default();
        };
        if let Some(rate) = known.get(counts) {
            return *rate;
        }
        if known.len() >= self.most {
            known.clear();
        }
        self.evaluations += 1;
        let rate = self.source.rate(
            strategy,
            &Pattern {
                counts,
                signatures: &self.signatures,
            },
        );
        known.insert(counts.into(), rate);
        rate
    }
    /// Patterns evaluated so far.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
    /// The source.
    pub fn source(&self) -> &S {
        &self.source
    }
}
