//! Figures in a worker: some take half a second, and the page is to answer meanwhile.

use super::{Body, Step, Store, Task};
use crate::core::figures::fig2a::Points;
use crate::core::figures::{Effort, Work, entry, survivors, work};
use crate::core::scenario::Scenario;
use crate::core::search::SearchRule;
use serde::{Deserialize, Serialize};

/// Which figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// One of the registry.
    Registry {
        /// Its id.
        id: String,
        /// Draws and seed.
        effort: Effort,
    },
    /// Figure 2a by a search rule.
    Search(SearchRule),
    /// Table 1 of a scenario file's job.
    Survivors(String),
}

/// The task of a figure.
pub fn begin(ask: Ask) -> Box<dyn Task> {
    Box::new(Making {
        ask,
        work: None,
        told: 0.0,
    })
}

struct Making {
    ask: Ask,
    work: Option<Box<dyn Work>>,
    /// Share told last.
    told: f64,
}

impl Task for Making {
    fn step(&mut self, _: &mut Store, say: &mut dyn FnMut(Body, Vec<u8>)) -> Result<Step, String> {
        let work = match &mut self.work {
            Some(work) => work,
            none => match &self.ask {
                Ask::Registry { id, effort } => {
                    let entry = entry(id).ok_or_else(|| format!("figure: {id} is not known"))?;
                    none.insert(work(entry, *effort))
                }
                Ask::Search(rule) => {
                    let points = Points::new(rule).ok_or("figure: 2a has lost its presets")?;
                    none.insert(Box::new(points))
                }
                Ask::Survivors(scenario) => {
                    let job = Scenario::from_json(scenario)
                        .and_then(|scenario| scenario.resolve())
                        .map_err(|error| error.to_string())?;
                    let (layout, cap) = (&job.scenario.layout, job.scenario.policy.boost_cap);
                    let figure = survivors::build_for(&job.system, &job.model, layout, cap);
                    say(Body::Figure(Box::new(figure)), Vec::new());
                    return Ok(Step::Done);
                }
            },
        };
        let Some(share) = work.advance() else {
            say(Body::Figure(Box::new(work.figure())), Vec::new());
            return Ok(Step::Done);
        };
        // Nobody sees less than a percent.
        if share >= self.told + 0.01 {
            self.told = share;
            say(Body::Progress(share), Vec::new());
        }
        Ok(Step::More)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Order, Request, Session};
    use super::*;

    fn said(ask: Ask) -> Vec<Body> {
        let mut session = Session::new();
        let request = Request::Figure(ask);
        session.take(Order::Start { id: 1, request });
        while session.step() != Step::Done {}
        let replies = session.replies().into_iter();
        // As the page hears them.
        let text = |body: Body| serde_json::to_string(&body).unwrap();
        replies
            .map(|reply| serde_json::from_str(&text(reply.body)).unwrap())
            .collect()
    }

    #[test]
    fn a_figure_comes_with_progress_and_as_it_is_built_at_once() {
        let effort = Effort { runs: 2, seed: 3 };
        for id in ["3", "7", "8"] {
            let mut said = said(Ask::Registry {
                id: id.into(),
                effort,
            });
            assert_eq!(said.pop(), Some(Body::Done));
            let figure = entry(id).unwrap().build(&effort);
            assert_eq!(said.pop(), Some(Body::Figure(Box::new(figure))));
            assert!(said.iter().all(|body| matches!(body, Body::Progress(_))));
            assert_eq!(said.is_empty(), id == "8", "figure 8 is made at once");
        }
    }

    #[test]
    fn table_1_is_of_the_job_that_is_sent() {
        let scenario = Scenario::default_scene();
        let said = said(Ask::Survivors(scenario.to_json()));
        let Some(Body::Figure(figure)) = said.first() else {
            panic!("{said:?}");
        };
        assert!(figure.settings[0].1.contains("TP72"), "{figure:?}");
    }

    #[test]
    fn what_cannot_be_made_is_one_line() {
        let effort = Effort::default();
        let unknown = said(Ask::Registry {
            id: "99".into(),
            effort,
        });
        assert_eq!(unknown, [Body::Failed("figure: 99 is not known".into())]);
        let broken = said(Ask::Survivors(
            r#"{"version": 1, "system": "abacus", "model": "llama3-405b", "layout": {}}"#.into(),
        ));
        let [Body::Failed(line)] = broken.as_slice() else {
            panic!("{broken:?}");
        };
        assert!(line.contains("abacus") && !line.contains('\n'), "{line}");
    }
}
