//! Shard maps between TP degrees: which rank holds which shard, and what moves when replicas differ in degree.
//!
//! A *shard* is the unit that cannot be split: an FFN column, an attention head (with its KV group), a vocabulary row.
//! A healthy replica runs at degree n1, a reduced one at n2 = n1 - spares. [`ShardMap`] places every shard once at each
//! degree so that core rank j of a healthy replica and rank j of a reduced one hold the same shards, but for those that
//! the healthy replica's extra ranks (n2..n1) compute and send to core ranks before the DP sync.

mod map;
mod parity;
mod ranks;
mod summary;

pub use map::{NaiveResplit, ShardMap, imbalance};
pub use parity::{ParityPlan, ParitySlot, config_text, parse_failed, spares_with_parity};
pub use ranks::{ProcessGroups, process_groups};
pub use summary::{ShardSummary, TensorKind, TensorSummary, summarize};
