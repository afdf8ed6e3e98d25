//! Studies in a worker: one share of points x seeds, results as they are found.

use super::{Body, Step, Store, Task};
use crate::core::scenario::Scenario;
use crate::core::studies::{Facts, Found, Point, Setup, Shard, Step as Walked, Walk};
use serde::{Deserialize, Serialize};

/// Steps of a walk in one step of the task.
const STEPS: usize = 4;
/// Runs told in one message.
const RUNS_A_MESSAGE: usize = 24;

/// A share of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// Scenario file.
    pub scenario: String,
    /// Question and effort.
    pub setup: Setup,
    /// Which share.
    pub shard: Shard,
}

/// What is said about a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// First of all: every point of the study, and the seeds per point that the limits allow.
    Points {
        /// Points and what is known of them without a run.
        points: Vec<(Point, Facts)>,
        /// Seeds per point.
        runs: u32,
    },
    /// Runs of this share, as they come.
    Found(Vec<Found>),
}

struct Study {
    ask: Ask,
    walk: Option<Walk>,
    found: Vec<Found>,
}

/// The task of a share.
pub fn begin(ask: Ask) -> Box<dyn Task> {
    Box::new(Study {
        ask,
        walk: None,
        found: Vec::new(),
    })
}

impl Study {
    fn tell(&mut self, say: &mut dyn FnMut(Body, Vec<u8>)) {
        if !self.found.is_empty() {
            let found = std::mem::take(&mut self.found);
            say(Body::Study(Answer::Found(found)), Vec::new());
        }
    }
}

impl Task for Study {
    fn step(&mut self, _: &mut Store, say: &mut dyn FnMut(Body, Vec<u8>)) -> Result<Step, String> {
        let Some(walk) = &mut self.walk else {
            let ask = &self.ask;
            let scenario = Scenario::from_json(&ask.scenario).map_err(|error| error.to_string())?;
            let (walk, points) =
                Walk::new(&scenario, &ask.setup, ask.shard).map_err(|error| error.to_string())?;
            let runs = walk.runs();
            self.walk = Some(walk);
            say(Body::Study(Answer::Points { points, runs }), Vec::new());
            return Ok(Step::More);
        };
        for _ in 0..STEPS {
            match walk.step() {
                Some(Walked::Found(found)) => self.found.push(found),
                Some(Walked::Working) => {}
                None => {
                    self.tell(say);
                    return Ok(Step::Done);
                }
            }
        }
        if self.found.len() >= RUNS_A_MESSAGE {
            self.tell(say);
        }
        Ok(Step::More)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Order, Request, Session};
    use super::*;
    use crate::core::studies::{Board, Question};

    fn ask(index: u32, count: u32) -> Request {
        let scenario = r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
            "layout": {"tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768}, "faults": {"rate_multiplier": 20}}"#;
        Request::Study(Ask {
            scenario: scenario.to_owned(),
            setup: Setup {
                question: Question::SpareDomains { most: 3 },
                days: 3.0,
                runs: 4,
                seed: 1,
            },
            shard: Shard { index, count },
        })
    }

    fn board(shards: u32) -> Board {
        let mut session = Session::new();
        for index in 0..shards {
            let request = ask(index, shards);
            session.take(Order::Start { id: index, request });
        }
        let mut board = Board::default();
        while session.step() != Step::Done {
            for reply in session.replies() {
                match reply.body {
                    Body::Study(Answer::Points { points, .. }) if board.points().is_empty() => {
                        board = Board::new(points);
                    }
                    Body::Study(Answer::Found(found)) => board.take_all(&found),
                    _ => {}
                }
            }
        }
        for reply in session.replies() {
            if let Body::Study(Answer::Found(found)) = reply.body {
                board.take_all(&found);
            }
        }
        board
    }

    #[test]
    fn shares_of_a_study_make_the_whole() {
        let whole = board(1);
        assert_eq!(whole.taken(), 16);
        assert_eq!(board(3), whole);
    }

    #[test]
    fn a_study_of_no_days_is_refused_in_one_line() {
        let mut session = Session::new();
        let Request::Study(mut study) = ask(0, 1) else {
            return;
        };
        study.setup.days = -1.0;
        let request = Request::Study(study);
        session.take(Order::Start { id: 1, request });
        while session.step() != Step::Done {}
        let said: Vec<Body> = session
            .replies()
            .into_iter()
            .map(|reply| reply.body)
            .collect();
        let line = "days: -1 is not allowed, expected above 0, at most 365".to_owned();
        assert_eq!(said, [Body::Failed(line)]);
    }
}
