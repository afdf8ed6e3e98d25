//! Writes a trace in our own CSV, so that a drawn run can be replayed, shared and edited.

use super::super::trace::{FaultEvent, Site, Trace};
use crate::core::scenario::FailureKind;
use crate::core::units::Nanos;
use std::collections::HashMap;
use std::fmt::Write;

impl Trace {
    /// The trace as CSV with all eight columns; read back, it gives the same events. A failure that overlaps an outage of the
    /// same GPUs is marked as `separate`: whether it strikes depends on what the strategies do meanwhile. Outages under way at the
    /// start become failures at time zero. Meaningful on a wall-clock trace.
    pub fn to_csv(&self, site: &Site) -> String {
        let mut text = String::from("time_h,domain,gpu,kind,duration_h,gpus,cause,separate\n");
        let mut out: HashMap<(u32, u16, u16), Nanos> = HashMap::new();
        let initial = self.initial.iter().map(|event| (event, true));
        for (event, under_way) in initial.chain(self.events.iter().map(|event| (event, false))) {
            let Some(cause) = self.causes.get(usize::from(event.cause)) else {
                continue;
            };
            let detect = if under_way { Nanos::ZERO } else { cause.detect };
            let until = event.time + detect + event.repair;
            let mut separate = "";
            if cause.takes_out {
                let place = (event.domain, event.first, event.gpus);
                let known = out.entry(place).or_insert(Nanos::ZERO);
                if *known >= event.time && *known > Nanos::ZERO {
                    separate = "1";
                }
                *known = (*known).max(until);
            }
            let kind = if cause.kind == FailureKind::Software {
                "software"
            } else {
                "hardware"
            };
            let duration_h = if cause.takes_out {
                until.saturating_sub(event.time).hours()
            } else {
                0.0
            };
            let name: String = cause
                .name
                .chars()
                .map(|c| {
                    if matches!(c, ',' | '"' | '\n' | '\r') {
                        ' '
                    } else {
                        c
                    }
                })
                .collect();
            let (time_h, domain, first) = (event.time.hours(), event.domain, event.first);
            // Writing to a string cannot fail.
            let _ = match event.domain {
                FaultEvent::JOB => writeln!(text, "{time_h},,,{kind},0,,{name},"),
                _ if u32::from(event.gpus) == site.domain_size => {
                    writeln!(
                        text,
                        "{time_h},{domain},,{kind},{duration_h},,{name},{separate}"
                    )
                }
                _ => writeln!(
                    text,
                    "{time_h},{domain},{first},{kind},{duration_h},{},{name},{separate}",
                    event.gpus
                ),
            };
        }
        text
    }
}
