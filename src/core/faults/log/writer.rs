//! Writes a trace in our own CSV, so that a drawn run can be replayed, shared and edited.

use super::super::trace::{FaultEvent, Site, Trace};
use crate::core::scenario::FailureKind;
use crate::core::units::Nanos;
use std::collections::HashMap;
use std::fmt::Write;

impl Trace {
    /// The trace as CSV with all seven columns. Failures that strike only GPUs that are out already are left out: nothing
    /// could happen to them. Meaningful on a wall-clock trace.
    pub fn to_csv(&self, site: &Site) -> String {
        let mut text = String::from("time_h,domain,gpu,kind,duration_h,gpus,cause\n");
        let mut out: HashMap<(u32, u16), Nanos> = HashMap::new();
        let initial = self.initial.iter().map(|event| (event, true));
        for (event, under_way) in initial.chain(self.events.iter().map(|event| (event, false))) {
            let Some(cause) = self.causes.get(usize::from(event.cause)) else {
                continue;
            };
            let detect = if under_way { Nanos::ZERO } else { cause.detect };
            let until = event.time + detect + event.repair;
            if cause.takes_out {
                let mut fresh = false;
                for gpu in event.first..event.first.saturating_add(event.gpus) {
                    let known = out.entry((event.domain, gpu)).or_insert(Nanos::ZERO);
                    fresh |= *known <= event.time;
                    *known = (*known).max(until);
                }
                if !fresh {
                    continue;
                }
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
                FaultEvent::JOB => writeln!(text, "{time_h},,,{kind},0,,{name}"),
                _ if u32::from(event.gpus) == site.domain_size => {
                    writeln!(text, "{time_h},{domain},,{kind},{duration_h},,{name}")
                }
                _ => writeln!(
                    text,
                    "{time_h},{domain},{first},{kind},{duration_h},{},{name}",
                    event.gpus
                ),
            };
        }
        text
    }
}
