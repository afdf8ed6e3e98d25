//! Long work off the main thread, as plain messages: what the page asks of a worker and what it hears back.
//!
//! A [`Session`] takes [`Order`]s and does them in small steps, so that one worker can show progress, refine results and
//! be told to stop between any two steps. Small things travel as JSON text, bulk data as bytes beside it. Nothing here
//! knows what a worker is: the binary `worker` moves the messages, native tests run a session directly.

pub mod figures;
pub mod fleet;
pub mod log;
mod session;
pub mod studies;

pub use session::{Session, Step, Store, Task};

use serde::{Deserialize, Serialize};

/// One message to a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Begin; everything said about it carries `id`.
    Start {
        /// Chosen by the sender, never used twice.
        id: u32,
        /// What to do.
        request: Request,
    },
    /// Stop; nothing more is said about it.
    Stop {
        /// That of the start.
        id: u32,
    },
}

/// What a worker can be asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Request {
    /// The digest of the fixed run of a seed: [`crate::core::fleet::golden`].
    Digest {
        /// One of [`crate::core::fleet::golden::DIGESTS`].
        seed: u64,
    },
    /// So many 28-day runs of [`crate::core::workout::fleet::study`], for `make bench` to time.
    Workout {
        /// Runs.
        runs: u32,
    },
    /// About fleet runs.
    Fleet(fleet::Ask),
    /// About failure logs.
    Log(log::Ask),
    /// A share of a study.
    Study(studies::Ask),
    /// A figure.
    Figure(figures::Ask),
}

/// What a worker says about an order, with bulk data in [`Reply::bytes`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// Share done, 0 to 1.
    Progress(f64),
    /// It cannot be done: one line. Nothing more follows.
    Failed(String),
    /// Nothing more follows.
    Done,
    /// Answer to [`Request::Digest`], as text: JSON numbers of a browser do not hold 64 bits.
    Digest(String),
    /// About a fleet run.
    Fleet(fleet::Answer),
    /// About a failure log.
    Log(Box<log::Report>),
    /// About a study.
    Study(studies::Answer),
    /// Answer to [`Request::Figure`].
    Figure(Box<crate::core::figures::Figure>),
}

impl Body {
    /// Whether nothing more follows.
    pub fn ends(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::Done)
    }
}

/// One message from a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Of the order it is about.
    pub id: u32,
    /// What it says.
    pub body: Body,
    /// Bulk data; what is in it follows from the body.
    pub bytes: Vec<u8>,
}

/// Digits in groups of three.
fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
