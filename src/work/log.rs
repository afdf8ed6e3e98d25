//! Failure logs in a worker: read piece by piece, placed on a cluster, kept for a run to replay.

use super::{Body, Step, Store, Task};
use crate::core::faults::log::{FailureLog, LogReader, MapReport, ReadReport};
use crate::core::faults::{Faults, Site};
use crate::core::scenario::Scenario;
use serde::{Deserialize, Serialize};

/// Bytes of the file per step.
const PIECE: u32 = 256 * 1024;
/// Problems and placements handed over.
const SHOWN: usize = 40;

/// Logs that ship with the page: name and text.
pub const EXAMPLES: [(&str, &str); 3] = [
    (
        "failures.csv",
        include_str!("../../assets/examples/failures.csv"),
    ),
    (
        "failures-infinitehbd.json",
        include_str!("../../assets/examples/failures-infinitehbd.json"),
    ),
    (
        "failures-kernel.log",
        include_str!("../../assets/examples/failures-kernel.log"),
    ),
];

/// What can be asked about logs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// Read the file that comes with the order.
    File {
        /// Its length, bytes.
        size: u64,
        /// Leave broken lines out.
        lenient: bool,
        /// Scenario file of the cluster to place it on.
        scenario: String,
    },
    /// Read one of [`EXAMPLES`].
    Example {
        /// Its index.
        index: usize,
        /// Scenario file of the cluster to place it on.
        scenario: String,
    },
    /// Place the log read last on another cluster.
    Place {
        /// Scenario file.
        scenario: String,
    },
}

/// What a log holds and how it met the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was read, its first problems only.
    pub read: ReadReport,
    /// How it met the cluster, with the places of its first nodes only.
    pub map: MapReport,
    /// Domains of the cluster.
    pub domains: u32,
    /// Replicas that would hold every node, where the cluster is too small.
    pub fit_dp: Option<u32>,
    /// GPUs of a node.
    pub node_gpus: u32,
}

/// The task of a question.
pub fn begin(ask: Ask) -> Box<dyn Task> {
    match ask {
        Ask::File {
            size,
            lenient,
            scenario,
        } => Box::new(Reading {
            reader: Some(LogReader::new(lenient)),
            size,
            from: 0,
            fed: None,
            scenario,
        }),
        ask => Box::new(Placing(ask)),
    }
}

/// A file being read.
struct Reading {
    reader: Option<LogReader>,
    size: u64,
    from: u64,
    fed: Option<Vec<u8>>,
    scenario: String,
}

impl Task for Reading {
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String> {
        if let (Some(bytes), Some(reader)) = (self.fed.take(), &mut self.reader) {
            reader.push(&bytes).map_err(|error| error.to_string())?;
            self.from += bytes.len() as u64;
            if bytes.is_empty() {
                // Shorter than it was when it was dropped.
                self.from = self.size;
            }
            say(
                Body::Progress(self.from as f64 / self.size.max(1) as f64),
                Vec::new(),
            );
        }
        if self.from < self.size {
            return Ok(Step::Read {
                from: self.from,
                most: PIECE,
            });
        }
        if let Some(reader) = self.reader.take() {
            let log = reader.finish().map_err(|error| error.to_string())?;
            tell(store, log, &self.scenario, say)?;
        }
        Ok(Step::Done)
    }

    fn fed(&mut self, bytes: &[u8]) {
        self.fed = Some(bytes.to_vec());
    }
}

struct Placing(Ask);

impl Task for Placing {
    fn step(
        &mut self,
        store: &mut Store,
        say: &mut dyn FnMut(Body, Vec<u8>),
    ) -> Result<Step, String> {
        match &self.0 {
            Ask::Example { index, scenario } => {
                let (_, text) = EXAMPLES
                    .get(*index)
                    .ok_or_else(|| format!("example: {index} is not one of 0 to 2"))?;
                let mut reader = LogReader::new(false);
                let read = reader.push(text.as_bytes()).and_then(|()| reader.finish());
                let log = read.map_err(|error| error.to_string())?;
                tell(store, log, scenario, say)?;
            }
            Ask::Place { scenario } => {
                if let Some(log) = store.log.take() {
                    tell(store, log, scenario, say)?;
                }
            }
            Ask::File { .. } => {}
        }
        Ok(Step::Done)
    }
}

/// Keeps the log, places it and tells about it.
fn tell(
    store: &mut Store,
    log: FailureLog,
    scenario: &str,
    say: &mut dyn FnMut(Body, Vec<u8>),
) -> Result<(), String> {
    let report = report(&log, scenario);
    store.log = Some(log);
    say(Body::Log(Box::new(report?)), Vec::new());
    Ok(())
}

fn report(log: &FailureLog, scenario: &str) -> Result<Report, String> {
    let scenario = Scenario::from_json(scenario).map_err(|error| error.to_string())?;
    let faults = Faults::read(scenario.faults.as_ref()).map_err(|error| error.to_string())?;
    let job = scenario.resolve().map_err(|error| error.to_string())?;
    let site = Site::of(&job);
    let mut map = log.map(&site, &faults, 1, None).report;
    let placement = &job.placement;
    let fit_dp = (map.domains_needed > placement.domains).then(|| {
        let slots = map
            .domains_needed
            .saturating_mul(placement.slots_per_domain);
        slots.div_ceil(placement.groups_per_replica.max(1))
    });
    let mut read = log.report.clone();
    read.problems.truncate(SHOWN);
    map.placement.truncate(SHOWN);
    Ok(Report {
        read,
        map,
        domains: site.domains,
        fit_dp,
        node_gpus: site.tray_gpus,
    })
}

impl Store {
    /// The log read last.
    pub fn log(&self) -> Option<&FailureLog> {
        self.log.as_ref()
    }
}

#[cfg(test)]
mod tests;
