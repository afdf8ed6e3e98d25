//! Orders under way, done step by step.

use super::{Body, Order, Reply, Request, figures, fleet, log, studies};
use crate::core::faults::log::FailureLog;
use crate::core::fleet::{FleetRun, ModelRates, Runner, golden};
use crate::core::workout::fleet as workout;

/// What a step leaves to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// More; call again.
    More,
    /// Bytes of the order's file from this offset on, at most this many, before it can go on.
    Read {
        /// Byte in the file.
        from: u64,
        /// Length of the piece.
        most: u32,
    },
    /// Nothing.
    Done,
}

/// What one order keeps between steps. A step takes a few milliseconds.
pub trait Task {
    /// Does a little; says what it has found through `say`.
    ///
    /// # Errors
    /// One line; the order is over.
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String>;

    /// Bytes asked for by [`Step::Read`], fewer at the end of the file.
    fn fed(&mut self, _bytes: &[u8]) {}
}

/// What outlives an order: later ones build on it.
#[derive(Default)]
pub struct Store {
    /// Runs by number, the newest last.
    pub(super) runs: Vec<(u32, FleetRun)>,
    /// The log read last.
    pub(super) log: Option<FailureLog>,
}

struct Open {
    id: u32,
    task: Box<dyn Task>,
}

/// The orders of one worker. The newest is done first: it is what the user waits for.
#[derive(Default)]
pub struct Session {
    store: Store,
    open: Vec<Open>,
    ready: Vec<Reply>,
    reading: bool,
}

impl Session {
    /// With nothing to do.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a message.
    pub fn take(&mut self, order: Order) {
        match order {
            Order::Start { id, request } => {
                let task = begin(request);
                self.open.push(Open { id, task });
                self.reading = false;
            }
            Order::Stop { id } => {
                self.open.retain(|open| open.id != id);
                self.ready.retain(|reply| reply.id != id);
                self.reading = false;
            }
        }
    }

    /// Does one step of the newest order. [`Step::Done`]: nothing is left to do at all.
    pub fn step(&mut self) -> Step {
        let Some(open) = self.open.last_mut() else {
            return Step::Done;
        };
        let (id, ready) = (open.id, &mut self.ready);
        let step = open.task.step(&mut self.store, &mut |body, bytes| {
            ready.push(Reply { id, body, bytes });
        });
        self.reading = matches!(step, Ok(Step::Read { .. }));
        let end = match step {
            Ok(step @ (Step::More | Step::Read { .. })) => return step,
            Ok(Step::Done) => Body::Done,
            Err(line) => Body::Failed(line),
        };
        self.open.pop();
        self.ready.push(Reply {
            id,
            body: end,
            bytes: Vec::new(),
        });
        if self.open.is_empty() {
            Step::Done
        } else {
            Step::More
        }
    }

    /// The order that the last [`Step::Read`] is about.
    pub fn reader(&self) -> Option<u32> {
        self.open
            .last()
            .filter(|_| self.reading)
            .map(|open| open.id)
    }

    /// Gives the newest order the bytes it asked for.
    pub fn feed(&mut self, bytes: &[u8]) {
        if let Some(open) = self.open.last_mut() {
            open.task.fed(bytes);
        }
    }

    /// The newest order cannot have its bytes: one line.
    pub fn refuse(&mut self, line: String) {
        if let Some(open) = self.open.pop() {
            self.ready.push(Reply {
                id: open.id,
                body: Body::Failed(line),
                bytes: Vec::new(),
            });
        }
    }

    /// What there is to say since the last call.
    pub fn replies(&mut self) -> Vec<Reply> {
        std::mem::take(&mut self.ready)
    }
}

/// The task of a request.
fn begin(request: Request) -> Box<dyn Task> {
    match request {
        Request::Digest { seed } => Box::new(Digest(seed)),
        Request::Workout { runs } => Box::new(Workout {
            runner: None,
            next: 0,
            end: u64::from(runs),
        }),
        Request::Fleet(ask) => fleet::begin(ask),
        Request::Log(ask) => log::begin(ask),
        Request::Study(ask) => studies::begin(ask),
        Request::Figure(ask) => figures::begin(ask),
    }
}

struct Digest(u64);

impl Task for Digest {
    fn step(&mut self, _: &mut Store, say: &mut dyn FnMut(Body, Vec<u8>)) -> Result<Step, String> {
        let digest = golden::digest(self.0).map_err(|error| error.to_string())?;
        say(Body::Digest(digest.to_string()), Vec::new());
        Ok(Step::Done)
    }
}

/// Runs of a workout in one step.
const RUNS_A_STEP: u64 = 50;

struct Workout {
    runner: Option<Runner<ModelRates>>,
    next: u64,
    end: u64,
}

impl Task for Workout {
    fn step(&mut self, _: &mut Store, _: &mut dyn FnMut(Body, Vec<u8>)) -> Result<Step, String> {
        let runner = match &mut self.runner {
            Some(runner) => runner,
            none => none.insert(workout::study().map_err(|error| error.to_string())?),
        };
        let until = self.end.min(self.next + RUNS_A_STEP);
        // The sum is looked at only so that it has to be computed.
        if workout::study_runs(runner, self.next..until).is_nan() {
            return Err("goodput: not a number".into());
        }
        self.next = until;
        Ok(if until < self.end {
            Step::More
        } else {
            Step::Done
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(session: &mut Session) -> Vec<(u32, Body)> {
        let replies = session.replies();
        replies.into_iter().map(|r| (r.id, r.body)).collect()
    }

    #[test]
    fn the_newest_order_comes_first_and_a_stopped_one_never_speaks() {
        let mut session = Session::new();
        for (id, seed) in [(1, 1), (2, 2), (3, 3)] {
            let request = Request::Digest { seed };
            session.take(Order::Start { id, request });
        }
        session.take(Order::Stop { id: 2 });
        while session.step() != Step::Done {}
        let digest = |at: usize| Body::Digest(golden::DIGESTS[at].1.to_string());
        assert_eq!(
            bodies(&mut session),
            [
                (3, digest(2)),
                (3, Body::Done),
                (1, digest(0)),
                (1, Body::Done)
            ]
        );
        assert_eq!(session.step(), Step::Done);
    }

    #[test]
    fn messages_survive_the_journey_as_text() {
        let order = Order::Start {
            id: 7,
            request: Request::Digest { seed: 1 },
        };
        let text = serde_json::to_string(&order).unwrap();
        assert_eq!(
            text,
            r#"{"Start":{"id":7,"request":{"Digest":{"seed":1}}}}"#
        );
        assert_eq!(serde_json::from_str::<Order>(&text).unwrap(), order);
        assert!(Body::Done.ends() && Body::Failed(String::new()).ends());
        assert!(!Body::Progress(0.5).ends());
    }
}
