//! Days of operation: failures strike, the job detects, rolls back, restarts and goes on with what is left.
//!
//! A [`Lane`] is one strategy on one trace. It jumps from change to change, so that the work grows with the number of
//! failures and repairs, not with time, GPUs or checkpoints; what a set of failures does to step time and batch comes
//! from a [`RateSource`], asked once per pattern. Where every GPU-hour went is kept in a [`Ledger`].

mod domains;
pub mod golden;
pub mod interval;
mod lane;
mod ledger;
pub mod live;
mod model;
mod plan;
mod progress;
mod rates;
pub mod recording;
mod runs;

pub use domains::{Domains, Down, Strike};
pub use lane::{Change, Lane, Phase};
pub use ledger::{Bucket, Ledger};
pub use live::{CellState, FleetRun, PhaseKind};
pub use model::ModelRates;
pub use plan::{Plan, Shape};
pub use rates::{Pattern, Rate, RateSource, Rates, Signature};
pub use runs::{MAX_DAYS, MAX_RUNS, MAX_TOTAL_EVENTS, Outcome, Runner, Sample, Summary};

#[cfg(test)]
mod tests;
