//! The InfiniteHBD trace: a JSON array of start and end events per server, times in days.

use super::{Book, End, Line, MAX_HOURS, Outage, Place, WHOLE};
use crate::core::scenario::FailureKind;
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::VecDeque;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    node_id: std::borrow::Cow<'a, str>,
    event_time: f64,
    #[serde(borrow)]
    event_type: std::borrow::Cow<'a, str>,
    fault_type: Option<FaultType>,
}

#[derive(Deserialize)]
struct FaultType {
    #[serde(rename = "Level")]
    level: Option<String>,
    #[serde(rename = "Class")]
    class: Option<String>,
    #[serde(rename = "Desc")]
    description: Option<String>,
}

/// Outages that have started: per node, indices into the book's outages, oldest first.
#[derive(Debug, Default)]
pub struct Events {
    open: HashMap<u32, VecDeque<usize>>,
}

impl Events {
    pub fn object(&mut self, text: &str, book: &mut Book) -> Result<Line, String> {
        let event: Event<'_> = serde_json::from_str(text).map_err(|error| {
            // The position inside the object would only confuse beside the line of the log.
            error
                .to_string()
                .split(" at line")
                .next()
                .unwrap_or_default()
                .to_owned()
        })?;
        let days = event.event_time;
        if !(0.0..=MAX_HOURS / 24.0).contains(&days) {
            return Err(format!(
                "event_time: {days} is not allowed, expected 0 to {} days",
                MAX_HOURS / 24.0
            ));
        }
        let time = (days * 8.64e13).round() as i64;
        let ends = match &*event.event_type {
            "fault_start" => false,
            "fault_end" => true,
            other => return Ok(Line::Unknown(format!("event_type {other:?}"))),
        };
        let Some(node) = book.node(&event.node_id) else {
            return Ok(Line::Ignored);
        };
        if ends {
            let Some(outage) = self.open.get_mut(&node).and_then(VecDeque::pop_front) else {
                return Err(format!(
                    "event_type: \"fault_end\" of node {:?} is not allowed, no fault of it has started",
                    event.node_id
                ));
            };
            if let Some(outage) = book.outages.get_mut(outage) {
                if time < outage.start {
                    return Err(format!(
                        "event_time: {days} is not allowed, the fault started later"
                    ));
                }
                outage.end = End::At(time);
            }
            book.seen(time);
            return Ok(Line::Used);
        }
        let (kind, name) = match event.fault_type {
            Some(fault) => {
                let software = fault
                    .level
                    .as_deref()
                    .is_some_and(|level| level.starts_with("Software"));
                let kind = if software {
                    FailureKind::Software
                } else {
                    FailureKind::Hardware
                };
                let part = |text: Option<String>| text.unwrap_or_default();
                (
                    kind,
                    format!("{}: {}", part(fault.class), part(fault.description)),
                )
            }
            None => (FailureKind::Hardware, "unknown".to_owned()),
        };
        let cause = book.cause(&name);
        book.seen(time);
        self.open
            .entry(node)
            .or_default()
            .push_back(book.outages.len());
        book.add(Outage {
            start: time,
            end: End::Open,
            place: Place::Node { node, gpu: WHOLE },
            kind,
            cause,
            separate: false,
        });
        Ok(Line::Used)
    }
}
