//! Studies: one question to the fleet simulator, asked at many points on the same seeds.
//!
//! A [`Setup`] names the question, the simulated days and the seeds. [`points`] turns it into scenarios, in an order that
//! depends on nothing else, so that every worker makes the same list; a [`Walk`] runs its share of points x seeds in
//! steps of a few milliseconds, seeds outermost, so that all points refine together; a [`Board`] takes in what walks find, in
//! any order, and answers with means, standard errors and paired differences. All points see the same failures wherever the
//! failure processes are the same (common random numbers).

mod answers;
mod assumptions;
mod board;
mod money;
mod points;
mod question;
mod walk;

pub use answers::{Bar, Best, best_interval, best_point, tornado};
pub use board::{Board, Spot, Value};
pub use money::Bill;
pub use points::{Point, counterpart, points};
pub use question::{MAX_STUDY_RUNS, Question, Rows, Setup};
pub use walk::{Facts, Found, Shard, Step, Walk, facts};

#[cfg(test)]
mod tests;
