//! What fails, how often and for how long: failure processes, seeded traces and readers of real failure logs.
//!
//! [`Faults`] is the part of a scenario that says which causes strike and how the operator reacts; [`Trace`] is one
//! drawn (or read) sequence of failures, the same for every strategy and the same natively and in wasm. Times are
//! hours or minutes in files (the unit is in the field's name) and integer nanoseconds inside.

pub mod draw;
pub mod log;
mod presets;
mod spec;
mod trace;

pub use presets::{FaultPreset, default_faults, presets};
pub use spec::{
    Cause, Checkpoint, CheckpointEvery, Faults, Formula, Life, Repair, SaveMode, Scope, Start,
    Strike, TakeBack, read_file,
};
pub use trace::{FaultEvent, Limit, MAX_EVENTS, Site, Trace, TraceCause, expected_events};
