//! The pure model: no browser, no clock, no global random numbers.

pub mod cost;
pub mod experts;
pub mod faults;
pub mod figures;
pub mod fleet;
pub mod hardware;
pub mod order;
pub mod placement;
pub mod scenario;
pub mod search;
pub mod shards;
pub mod strategy;
pub mod studies;
pub mod table;
pub mod timeline;
pub mod units;
pub mod validation;
pub mod workload;
pub mod workout;
