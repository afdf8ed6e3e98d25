//! Fleet runs in a worker: simulated once, handed over as a recording, looked at in detail on demand.

use super::{Body, Step, Store, Task};
use crate::core::faults::{Faults, Limit, Site, presets};
use crate::core::fleet::live::Edit;
use crate::core::fleet::recording::{FilmMaker, record};
use crate::core::fleet::{FleetRun, MAX_DAYS, interval};
use crate::core::hardware::FieldError;
use crate::core::scenario::{FailureKind, Scenario};
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use serde::{Deserialize, Serialize};

/// Runs kept for forks and questions; the oldest goes first.
const KEPT_RUNS: usize = 4;
/// Failures simulated in one step.
const EVENTS_A_STEP: usize = 400;
/// Frames filmed in one step.
const FRAMES_A_STEP: usize = 32;

/// What can be asked about fleet runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// The named failure processes.
    Presets,
    /// Whether failure processes are valid: [`Answer::Checked`] or a line that names the field.
    Check {
        /// As in a scenario file.
        faults: String,
    },
    /// A run from time zero.
    Start {
        /// Number of the run, chosen by the asker.
        run: u32,
        /// Scenario file.
        scenario: String,
        /// Seed of the failures.
        seed: u64,
        /// Days; of a log, all of it where it is 0.
        days: f64,
        /// On the log that was read last, instead of failures drawn.
        log: bool,
    },
    /// A run that leaves another one.
    Fork {
        /// The other one.
        of: u32,
        /// Number of the new run.
        run: u32,
        /// Where it leaves.
        at: Nanos,
        /// What is otherwise from there on.
        change: Change,
    },
    /// The map of a run over time.
    Film {
        /// Which run.
        run: u32,
        /// Under which strategy.
        strategy: StrategyId,
    },
    /// Everything about one domain at one moment.
    Detail {
        /// Which run.
        run: u32,
        /// Under which strategy.
        strategy: StrategyId,
        /// When.
        at: Nanos,
        /// Which domain.
        domain: u32,
    },
}

/// What a fork does otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// Another scenario: a scenario file.
    Scenario(String),
    /// A GPU fails, and with it what the blast radius takes.
    Fail {
        /// Domain.
        domain: u32,
        /// GPU.
        gpu: u16,
    },
    /// A whole domain fails.
    FailAll {
        /// Domain.
        domain: u32,
        /// Its GPUs.
        gpus: u16,
    },
    /// GPUs of a domain are back.
    Repair {
        /// Domain.
        domain: u32,
        /// First GPU.
        first: u16,
        /// Number of GPUs.
        gpus: u16,
    },
}

/// What is said about fleet runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// To [`Ask::Presets`].
    Presets(Vec<Preset>),
    /// To [`Ask::Check`].
    Checked,
    /// To [`Ask::Start`] and [`Ask::Fork`]; the bytes are a recording.
    Run(Box<Head>),
    /// To [`Ask::Film`], again and again: the bytes are the next chunk of a film.
    Film,
    /// To [`Ask::Detail`].
    Detail(Box<Detail>),
}

/// Named failure processes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Preset {
    /// Short name.
    pub id: String,
    /// Name shown to people.
    pub name: String,
    /// Where the numbers come from.
    pub source: String,
    /// As in a scenario file, every field given.
    pub faults: String,
}

/// What does not change during a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Number of the run.
    pub run: u32,
    /// GPUs of the job's domains.
    pub gpus: u64,
    /// Domains of the job.
    pub domains: u32,
    /// Spare domains, in the order of [`StrategyId::ALL`].
    pub spare_domains: Vec<u32>,
    /// GPUs per domain.
    pub domain_size: u32,
    /// GPUs per tray.
    pub tray_gpus: u32,
    /// GPUs of a TP group.
    pub tp: u32,
    /// GPUs that go down with one hardware failure.
    pub blast_radius: u32,
    /// Sequences per step of the healthy job.
    pub minibatch: u32,
    /// Where the run should have ended.
    pub wanted: Nanos,
    /// Why it ends before that.
    pub limit: Option<String>,
    /// Failure processes as in a scenario file, every field given.
    pub faults: String,
    /// Compute time between checkpoints, minutes.
    pub every_min: f64,
    /// Young's interval, minutes; none without failures.
    pub young_min: Option<f64>,
    /// Daly's interval, minutes; none without failures.
    pub daly_min: Option<f64>,
    /// Mean time between interruptions of the healthy job, hours; none without failures.
    pub mtbi_h: Option<f64>,
    /// On a log.
    pub log: bool,
}

/// One domain at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// Which.
    pub domain: u32,
    /// Its replica and stage, unless it stands by.
    pub place: Option<(u32, u32)>,
    /// Domains of the same replica, itself included.
    pub peers: Vec<u32>,
    /// TP degree of its first group; 0 where it does not run.
    pub degree: u32,
    /// Power of its boosted GPUs, x TDP; 1 without boost.
    pub boost_p: f64,
    /// Their clock, MHz, where the base clock is published.
    pub clock_mhz: Option<f64>,
    /// Sequences that its replica takes per step.
    pub local_batch: u32,
    /// GPUs out of service: which, hours until it is back, and whether it restarts after a software failure.
    pub back: Vec<(u16, f64, bool)>,
}

/// The task of a question.
pub fn begin(ask: Ask) -> Box<dyn Task> {
    match ask {
        Ask::Film { run, strategy } => Box::new(Filming {
            run,
            maker: FilmMaker::new(strategy),
        }),
        Ask::Start { .. } | Ask::Fork { .. } => Box::new(Running::Asked(ask)),
        ask => Box::new(Short(Some(ask))),
    }
}

fn say_answer(say: &mut dyn FnMut(Body, Vec<u8>), answer: Answer, bytes: Vec<u8>) {
    say(Body::Fleet(answer), bytes);
}

fn one_line(error: &impl ToString) -> String {
    error.to_string()
}

fn gone(run: u32) -> String {
    format!("run: {run} is not kept any more, expected one of the last {KEPT_RUNS}")
}

/// Questions answered in one step.
struct Short(Option<Ask>);

impl Task for Short {
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String> {
        let answer = match self.0.take() {
            Some(Ask::Presets) => Answer::Presets(
                presets()
                    .iter()
                    .map(|preset| Preset {
                        id: preset.id.to_owned(),
                        name: preset.name.clone(),
                        source: preset.source.clone(),
                        faults: text(&preset.faults),
                    })
                    .collect(),
            ),
            Some(Ask::Check { faults }) => {
                let value: serde_json::Value =
                    serde_json::from_str(&faults).map_err(|e| one_line(&e))?;
                Faults::read(Some(&value)).map_err(|e| one_line(&e))?;
                Answer::Checked
            }
            Some(Ask::Detail {
                run,
                strategy,
                at,
                domain,
            }) => {
                let run = store.run(run).ok_or_else(|| gone(run))?;
                Answer::Detail(Box::new(detail(run, strategy, at, domain)))
            }
            _ => return Ok(Step::Done),
        };
        say_answer(say, answer, Vec::new());
        Ok(Step::Done)
    }
}

fn text(faults: &Faults) -> String {
    // Plain numbers and words always serialise.
    serde_json::to_string(faults).unwrap_or_default()
}

fn detail(run: &mut FleetRun, strategy: StrategyId, at: Nanos, domain: u32) -> Detail {
    run.seek(at);
    let place = run.place(strategy, domain);
    let down = run
        .lane(strategy)
        .map(|lane| lane.domains().down(domain))
        .unwrap_or_default();
    let back = down.iter().map(|down| {
        (
            down.gpu,
            down.until.saturating_sub(at).hours(),
            down.software,
        )
    });
    Detail {
        domain,
        place: place.as_ref().map(|place| (place.replica, place.stage)),
        peers: place
            .as_ref()
            .map_or_else(Vec::new, |place| place.peers.clone()),
        degree: place.as_ref().map_or(0, |place| place.degree),
        boost_p: place.as_ref().map_or(1.0, |place| place.boost_p),
        clock_mhz: place.as_ref().and_then(|place| place.clock_mhz),
        local_batch: place.as_ref().map_or(0, |place| place.local_batch),
        back: back.collect(),
    }
}

/// A run being simulated.
enum Running {
    Asked(Ask),
    Going { id: u32, run: Box<FleetRun> },
    Over,
}

impl Task for Running {
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String> {
        match std::mem::replace(self, Self::Over) {
            Self::Asked(ask) => {
                let (id, run) = open(store, ask)?;
                *self = Self::Going {
                    id,
                    run: Box::new(run),
                };
                Ok(Step::More)
            }
            Self::Going { id, mut run } => {
                let from = run.simulated();
                let events = &run.trace().events;
                let next = events.partition_point(|event| event.time <= from);
                // A trace that runs only while the job does has no place in wall time; its run goes by days.
                let day = from + Nanos::from_hours(24.0);
                let to = if run.trace().while_running {
                    day
                } else {
                    events
                        .get(next + EVENTS_A_STEP)
                        .map_or(run.end(), |event| event.time.max(Nanos(from.0 + 1)))
                };
                run.advance_to(to);
                if run.simulated() < run.end() {
                    say(
                        Body::Progress(run.simulated().0 as f64 / run.end().0.max(1) as f64),
                        Vec::new(),
                    );
                    *self = Self::Going { id, run };
                    return Ok(Step::More);
                }
                let bytes = record(&run).to_bytes();
                let answer = Answer::Run(Box::new(head(id, &run)));
                store.keep(id, *run);
                say_answer(say, answer, bytes);
                Ok(Step::Done)
            }
            Self::Over => Ok(Step::Done),
        }
    }
}

fn open(store: &mut Store, ask: Ask) -> Result<(u32, FleetRun), String> {
    match ask {
        Ask::Start {
            run,
            scenario,
            seed,
            days,
            log,
        } => {
            let allowed = days > 0.0 && days <= MAX_DAYS || log && days == 0.0;
            if !allowed {
                let expected = format!("above 0, at most {MAX_DAYS:.0}");
                return Err(one_line(&FieldError::new("days", days, expected)));
            }
            let scenario = Scenario::from_json(&scenario).map_err(|e| one_line(&e))?;
            let faults = Faults::read(scenario.faults.as_ref()).map_err(|e| one_line(&e))?;
            let job = scenario.resolve().map_err(|e| one_line(&e))?;
            if !log {
                return Ok((run, FleetRun::new(job, faults, seed, days)));
            }
            let log = store
                .log()
                .ok_or("log: none has been read yet, expected one")?;
            let days = Some(days).filter(|days| *days > 0.0);
            let mapped = log.map(&Site::of(&job), &faults, seed, days);
            let length = mapped.trace.horizon.hours() / 24.0;
            if length <= 0.0 || length > MAX_DAYS {
                let expected = format!("a log of more than 0 and at most {MAX_DAYS:.0} days");
                return Err(one_line(&FieldError::new("days", length, expected)));
            }
            let mtbi_h = mapped.report.span_h / mapped.report.used_failures.max(1) as f64;
            Ok((
                run,
                FleetRun::on_trace(job, faults, mapped.trace, mtbi_h.max(1e-3)),
            ))
        }
        Ask::Fork {
            of,
            run,
            at,
            change,
        } => {
            let parent = store.run(of).ok_or_else(|| gone(of))?;
            let edit = edit(parent, change)?;
            Ok((run, parent.fork(at, edit)))
        }
        _ => Err(String::new()),
    }
}

fn edit(run: &FleetRun, change: Change) -> Result<Edit, String> {
    Ok(match change {
        Change::Scenario(text) => {
            let scenario = Scenario::from_json(&text).map_err(|e| one_line(&e))?;
            let faults = Faults::read(scenario.faults.as_ref()).map_err(|e| one_line(&e))?;
            let job = scenario.resolve().map_err(|e| one_line(&e))?;
            Edit::Scenario {
                job: Box::new(job),
                faults: Box::new(faults),
            }
        }
        Change::Fail { domain, gpu } => {
            let site = run.plan().site;
            let (first, gpus) = site.widen(u32::from(gpu), 1, site.blast_radius);
            Edit::Fail {
                domain,
                first,
                gpus,
                kind: FailureKind::Hardware,
                repair: Nanos::from_hours(run.faults().mean_repair_h()),
            }
        }
        Change::FailAll { domain, gpus } => Edit::Fail {
            domain,
            first: 0,
            gpus,
            kind: FailureKind::Hardware,
            repair: Nanos::from_hours(run.faults().mean_repair_h()),
        },
        Change::Repair {
            domain,
            first,
            gpus,
        } => Edit::Repair {
            domain,
            first,
            gpus,
        },
    })
}

fn head(id: u32, run: &FleetRun) -> Head {
    let (plan, job) = (run.plan(), run.job());
    let known = plan.mtbi < Nanos(u64::MAX);
    let (takes_min, mtbi_h) = (plan.cycle.takes.hours() * 60.0, plan.mtbi.hours());
    let limit = |limit: Limit| {
        format!(
            "{} failures are the most that one run holds",
            super::thousands(limit.events)
        )
    };
    Head {
        run: id,
        gpus: plan.site.job_gpus(),
        domains: plan.site.domains,
        spare_domains: plan
            .shapes
            .iter()
            .map(|shape| shape.spare_domains)
            .collect(),
        domain_size: plan.site.domain_size,
        tray_gpus: plan.site.tray_gpus,
        tp: job.placement.tp,
        blast_radius: plan.site.blast_radius,
        minibatch: job.scenario.layout.global_batch,
        wanted: Nanos::from_hours(run.days() * 24.0),
        // Of a log, the report says it.
        limit: run.limit().filter(|_| !run.is_log()).map(limit),
        faults: text(run.faults()),
        every_min: plan.cycle.every.hours() * 60.0,
        young_min: known.then(|| interval::young(takes_min, mtbi_h * 60.0)),
        daly_min: known.then(|| interval::daly(takes_min, mtbi_h * 60.0)),
        mtbi_h: known.then_some(mtbi_h),
        log: run.is_log(),
    }
}

/// A film being made.
struct Filming {
    run: u32,
    maker: FilmMaker,
}

impl Task for Filming {
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String> {
        // A run that newer ones have replaced: nobody looks at it any more.
        let Some(run) = store.run(self.run) else {
            return Ok(Step::Done);
        };
        let more = self.maker.run_on(run, FRAMES_A_STEP);
        say_answer(say, Answer::Film, self.maker.chunk());
        Ok(if more { Step::More } else { Step::Done })
    }
}

impl Store {
    /// A run, by number.
    pub fn run(&mut self, id: u32) -> Option<&mut FleetRun> {
        let found = self.runs.iter_mut().find(|(own, _)| *own == id);
        found.map(|(_, run)| run)
    }

    fn keep(&mut self, id: u32, run: FleetRun) {
        self.runs.retain(|(own, _)| *own != id);
        if self.runs.len() >= KEPT_RUNS {
            self.runs.remove(0);
        }
        self.runs.push((id, run));
    }
}

#[cfg(test)]
mod tests;
