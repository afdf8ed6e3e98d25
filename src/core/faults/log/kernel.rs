//! Kernel logs: `NVRM: Xid (PCI:0000:3b:00): 79, ...` under a syslog, ISO or `dmesg -T` time stamp.
//!
//! Hosts become nodes and PCI ids become GPUs of their node, each in order of appearance. A log says when a GPU failed, never
//! when it was back: repairs are drawn from the scenario, resets end with the job's restart.

use super::stamp::Stamps;
use super::xid::{self, XidClass};
use super::{Book, End, Line, Outage, Place, WHOLE};
use crate::core::scenario::FailureKind;
use std::collections::HashMap;

/// Messages of one GPU this close together are one incident.
const BURST_NS: i64 = 180_000_000_000;

#[derive(Debug)]
pub struct KernelLines {
    stamps: Stamps,
    gpus: HashMap<(u32, String), u16>,
    per_node: HashMap<u32, u16>,
    /// Last message of each GPU, with the class it had.
    recent: HashMap<(u32, u16), (i64, XidClass)>,
    started: bool,
}

impl KernelLines {
    pub fn new() -> Self {
        Self {
            stamps: Stamps::new(),
            gpus: HashMap::new(),
            per_node: HashMap::new(),
            recent: HashMap::new(),
            started: false,
        }
    }

    pub fn line(&mut self, line: &str, book: &mut Book) -> Result<Line, String> {
        let Some((_, message)) = line.split_once("NVRM: Xid (") else {
            if !self.started {
                // The first stamp is the log's time zero, whatever the line says.
                if let Some(stamp) = self.stamps.read(line) {
                    self.started = true;
                    book.seen(stamp.nanos);
                }
            }
            return Ok(Line::Ignored);
        };
        let stamp = self.stamps.read(line).ok_or_else(|| {
            let shown: String = line.chars().take(32).collect();
            format!("time stamp: {shown:?} is not allowed, expected ISO 8601, syslog or dmesg -T")
        })?;
        let (pci, code) = message
            .split_once(')')
            .ok_or("Xid: no PCI id, expected (PCI:0000:3b:00)")?;
        let digits: String = code
            .trim_start_matches([':', ' '])
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let number: u32 = digits
            .parse()
            .map_err(|_| "Xid: no number, expected one after the PCI id".to_owned())?;
        self.started = true;
        book.seen(stamp.nanos);
        let Some(entry) = xid::find(number) else {
            return Ok(Line::Unknown(format!("Xid {number}")));
        };
        if entry.class == XidClass::Application {
            return Ok(Line::Ignored);
        }
        let host = if stamp.host_follows {
            stamp
                .rest
                .split_ascii_whitespace()
                .next()
                .unwrap_or("localhost")
        } else {
            "localhost"
        };
        let Some(node) = book.node(host) else {
            return Ok(Line::Ignored);
        };
        let gpu = self.gpu(node, pci.trim_start_matches("PCI:"));
        let last = self.recent.insert((node, gpu), (stamp.nanos, entry.class));
        if let Some((time, class)) = last {
            let same_incident = (stamp.nanos - time).abs() <= BURST_NS;
            if same_incident && class >= entry.class {
                // A reset that turns into a repair within the burst still counts; anything else is the same incident.
                self.recent.insert((node, gpu), (stamp.nanos, class));
                return Ok(Line::Used);
            }
        }
        let (end, kind) = match entry.class {
            XidClass::Repair => (End::Drawn, FailureKind::Hardware),
            XidClass::Reset | XidClass::Application => (End::Restart, FailureKind::Software),
        };
        let cause = book.cause(&format!("Xid {number}: {}", entry.name));
        book.add(Outage {
            start: stamp.nanos,
            end,
            place: Place::Node { node, gpu },
            kind,
            cause,
            separate: false,
        });
        Ok(Line::Used)
    }

    fn gpu(&mut self, node: u32, pci: &str) -> u16 {
        let next = self.per_node.entry(node).or_insert(0);
        *self.gpus.entry((node, pci.to_owned())).or_insert_with(|| {
            let gpu = *next;
            *next = next.saturating_add(1).min(WHOLE - 1);
            gpu
        })
    }
}
