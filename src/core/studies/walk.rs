//! Runs of a study in small steps: one worker's share of points x seeds.

use super::points::{Point, points};
use super::question::Setup;
use crate::core::faults::{Faults, Site, Trace, expected_events};
use crate::core::fleet::{Lane, MAX_TOTAL_EVENTS, ModelRates, Plan, Rates, Shape, interval};
use crate::core::scenario::{Job, Scenario, ScenarioError};
use crate::core::strategy::{Evaluator, StrategyId};
use crate::core::units::Nanos;
use serde::{Deserialize, Serialize};

/// Strategies of every study.
const STRATEGIES: usize = StrategyId::ALL.len();
/// Failures of a trace that one step gets through: a few milliseconds where every pattern of failures is new.
const EVENTS_A_STEP: usize = 128;
/// Patterns of failures remembered for each job and strategy: a study has many jobs, so fewer than a single run keeps.
const PATTERNS: usize = 20_000;

/// Which part of a study a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 0.
    pub index: u32,
    /// Number of parts.
    pub count: u32,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// What is known of a point without running it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Why the point has no answer, one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Why the layout does not fit, one line; it is simulated all the same.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub does_not_fit: Option<String>,
    /// Time between saves, minutes.
    pub every_min: f64,
    /// Young's best time between saves, minutes; none without failures.
    pub young_min: Option<f64>,
    /// Daly's, minutes.
    pub daly_min: Option<f64>,
    /// Mean time between interruptions of the healthy job, hours.
    pub mtbi_h: Option<f64>,
    /// GPUs that each strategy occupies, in the order of [`StrategyId::ALL`].
    pub occupied_gpus: [u64; STRATEGIES],
    /// Tokens per second of the healthy job for each GPU of its layout.
    pub tokens_per_s_per_gpu: f64,
}

/// The facts of a point's scenario.
pub fn facts(scenario: &Result<(Scenario, Faults), String>) -> Facts {
    let refused = |error: String| Facts {
        error: Some(error),
        ..Facts::default()
    };
    let (job, faults) = match scenario {
        Ok((scenario, faults)) => match scenario.resolve() {
            Ok(job) => (job, faults),
            Err(error) => return refused(error.to_string()),
        },
        Err(error) => return refused(error.clone()),
    };
    let plan = Plan::new(&job, faults);
    let evaluator = Evaluator::new(&job);
    let (takes, mtbi_h) = (plan.cycle.takes.hours() * 60.0, plan.mtbi.hours());
    let known = plan.mtbi < Nanos(u64::MAX);
    let gpus = job.placement.layout_gpus().max(1) as f64;
    Facts {
        error: None,
        does_not_fit: evaluator.fits().err().map(|error| error.to_string()),
        every_min: plan.cycle.every.hours() * 60.0,
        young_min: known.then(|| interval::young(takes, mtbi_h * 60.0)),
        daly_min: known.then(|| interval::daly(takes, mtbi_h * 60.0)),
        mtbi_h: known.then_some(mtbi_h),
        occupied_gpus: StrategyId::ALL.map(|id| Shape::of(&job, id).occupied_gpus()),
        tokens_per_s_per_gpu: evaluator.healthy().tokens_per_s / gpus,
    }
}

/// One run of one point: goodput of every strategy, in the order of [`StrategyId::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// Index of the point.
    pub point: u32,
    /// Run, from 0.
    pub run: u32,
    /// Goodput.
    pub goodput: [f64; STRATEGIES],
    /// Days simulated, where the limit on failures ended the run early.
    pub days: Option<f64>,
}

/// A point ready to run.
struct Ready {
    point: u32,
    plan: Plan,
    faults: Faults,
    /// Which memory of rates: points that differ only in their failures share one.
    job: usize,
    /// The first point that draws the same failures.
    trace: usize,
}

/// The run under way.
struct Running {
    lane: Lane,
    strategy: usize,
    /// Slices of the time done, and of how many.
    slice: u64,
    slices: u64,
    goodput: [f64; STRATEGIES],
}

/// One worker's share of a study.
pub struct Walk {
    ready: Vec<Ready>,
    rates: Vec<Rates<ModelRates>>,
    setup: Setup,
    shard: Shard,
    runs: u32,
    /// Seed and trace key of `trace`.
    drawn: Option<(u64, usize)>,
    trace: Option<Trace>,
    run: u32,
    at: usize,
    running: Option<Running>,
    done: u64,
    total: u64,
}

/// What one step came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// More of the same run is left.
    Working,
    /// A run is finished.
    Found(Found),
}

impl Walk {
    /// Makes every point of the study; runs those of the shard.
    ///
    /// # Errors
    /// When the setup or the scenario is not allowed.
    pub fn new(
        scenario: &Scenario,
        setup: &Setup,
        shard: Shard,
    ) -> Result<(Self, Vec<(Point, Facts)>), ScenarioError> {
        let posed = points(scenario, setup)?;
        let mut ready: Vec<Ready> = Vec::new();
        let mut jobs: Vec<Scenario> = Vec::new();
        let mut rates = Vec::new();
        let mut known = Vec::new();
        let mut events = 0.0;
        for (index, (point, posed)) in (0u32..).zip(posed) {
            let facts = facts(&posed);
            known.push((point, facts));
            let Ok((scenario, faults)) = posed else {
                continue;
            };
            let Ok(job) = scenario.resolve() else {
                continue;
            };
            let plan = Plan::new(&job, &faults);
            events += expected_events(&faults, &plan.site, setup.days * 24.0).max(1.0);
            let job = memory_of(&mut jobs, &mut rates, scenario, job);
            let same = |other: &Ready| same_failures(other, &faults, &plan.site);
            let trace = ready.iter().position(same).unwrap_or(ready.len());
            ready.push(Ready {
                point: index,
                plan,
                faults,
                job,
                trace,
            });
        }
        let most = (MAX_TOTAL_EVENTS as f64 / events.max(1.0)).max(1.0);
        let runs = if f64::from(setup.runs) > most {
            most as u32
        } else {
            setup.runs
        };
        let mut walk = Self {
            ready,
            rates,
            setup: *setup,
            shard: Shard {
                index: shard.index,
                count: shard.count.max(1),
            },
            runs,
            drawn: None,
            trace: None,
            run: 0,
            at: 0,
            running: None,
            done: 0,
            total: 0,
        };
        walk.total = walk.count();
        Ok((walk, known))
    }

    /// Seeds per point: those asked for, or fewer where the limit on failures over a whole study ends it early.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Share of this worker's runs that is done.
    pub fn share(&self) -> f64 {
        self.done as f64 / self.total.max(1) as f64
    }

    fn count(&self) -> u64 {
        let runs = u64::from(self.runs);
        let points = self.ready.len() as u64;
        let (index, count) = (u64::from(self.shard.index), u64::from(self.shard.count));
        let share = |tasks: u64| (tasks + count).saturating_sub(index + 1) / count;
        if points >= count {
            share(points) * runs
        } else {
            share(points * runs)
        }
    }

    /// Whether this worker does a run. Whole points where there are enough of them: what it has learnt of a job serves all
    /// its seeds.
    fn mine(&self, at: usize, run: u32) -> bool {
        let (points, count) = (self.ready.len() as u64, u64::from(self.shard.count));
        let task = if points >= count {
            at as u64
        } else {
            u64::from(run) * points + at as u64
        };
        task % count == u64::from(self.shard.index)
    }

    /// Does a few milliseconds of work; none at the end.
    pub fn step(&mut self) -> Option<Step> {
        while self.running.is_none() && self.run < self.runs && !self.mine(self.at, self.run) {
            self.next();
        }
        let ready = self.ready.get(self.at).filter(|_| self.run < self.runs)?;
        let rates = self.rates.get_mut(ready.job)?;
        let seed = self.setup.seed.wrapping_add(u64::from(self.run));
        if self.drawn != Some((seed, ready.trace)) {
            let site = &ready.plan.site;
            self.trace = Some(Trace::draw(&ready.faults, site, seed, self.setup.days));
            self.drawn = Some((seed, ready.trace));
            return Some(Step::Working);
        }
        let trace = self.trace.as_ref()?;
        let running = match &mut self.running {
            Some(running) => running,
            free => free.insert(Running {
                lane: Lane::new(StrategyId::ALL[0], &ready.plan, trace, rates),
                strategy: 0,
                slice: 0,
                slices: (trace.events.len() / EVENTS_A_STEP) as u64 + 1,
                goodput: [0.0; STRATEGIES],
            }),
        };
        running.slice += 1;
        let whole = u128::from(trace.horizon.0);
        let part = whole * u128::from(running.slice) / u128::from(running.slices);
        running
            .lane
            .advance(&ready.plan, trace, rates, Nanos(part as u64));
        if running.slice < running.slices {
            return Some(Step::Working);
        }
        let lane = &running.lane;
        if let Some(goodput) = running.goodput.get_mut(running.strategy) {
            *goodput = lane.ledger().goodput(lane.now());
        }
        running.strategy += 1;
        running.slice = 0;
        if let Some(strategy) = StrategyId::ALL.get(running.strategy) {
            running.lane = Lane::new(*strategy, &ready.plan, trace, rates);
            return Some(Step::Working);
        }
        let found = Found {
            point: ready.point,
            run: self.run,
            goodput: running.goodput,
            days: trace.limit.map(|limit| limit.at.hours() / 24.0),
        };
        self.running = None;
        self.done += 1;
        self.next();
        Some(Step::Found(found))
    }

    fn next(&mut self) {
        self.at += 1;
        if self.at >= self.ready.len() {
            self.at = 0;
            self.run += 1;
        }
    }
}

/// The memory of a job's rates: one for all points whose scenarios differ only in their failures.
fn memory_of(
    jobs: &mut Vec<Scenario>,
    rates: &mut Vec<Rates<ModelRates>>,
    mut scenario: Scenario,
    job: Job,
) -> usize {
    scenario.faults = None;
    // The blast radius only says which GPUs fail, not what failed ones cost.
    scenario.policy.blast_radius = 1;
    if let Some(at) = jobs.iter().position(|known| *known == scenario) {
        return at;
    }
    jobs.push(scenario);
    rates.push(Rates::remembering(ModelRates::new(job), PATTERNS));
    jobs.len() - 1
}

fn same_failures(other: &Ready, faults: &Faults, site: &Site) -> bool {
    let drawn = |faults: &Faults| (faults.strike, faults.rate_multiplier, faults.start);
    other.plan.site == *site
        && drawn(&other.faults) == drawn(faults)
        && other.faults.causes == faults.causes
}
