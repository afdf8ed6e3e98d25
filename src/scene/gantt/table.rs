//! The spans in view as a table, for who cannot see them.

use super::columns::visible;
use super::rows::Layout;
use super::window::Window;
use super::{Chips, Spot};
use crate::core::timeline::StepView;
use crate::core::timeline::text::{describe, duration};

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The span.
    pub spot: Spot,
    /// Replica and track: "Healthy, NVLink".
    pub track: String,
    /// What it does and where it belongs.
    pub what: String,
    /// When it starts.
    pub start: String,
    /// How long it takes.
    pub takes: String,
}

/// At most `most` spans in view, track by track in order of time, and how many there are.
pub fn table(
    view: &StepView,
    layout: &Layout,
    window: &Window,
    hidden: Chips,
    most: usize,
) -> (Vec<TableRow>, usize) {
    let mut rows = Vec::new();
    let mut count = 0;
    for row in &layout.rows {
        let Some(group) = view.groups.get(row.group) else {
            continue;
        };
        let timeline = view.timeline(group);
        for lane in row
            .lanes
            .iter()
            .filter_map(|lane| row.lanes_of(timeline).get(*lane))
        {
            let spans = timeline.lane(lane);
            for index in visible(spans, window) {
                let Some(span) = spans.get(index).filter(|span| !hidden.hides(span.kind)) else {
                    continue;
                };
                count += 1;
                if rows.len() >= most {
                    continue;
                }
                let mut what = format!("{}, ", span.kind.name());
                describe(&mut what, timeline, lane, span);
                rows.push(TableRow {
                    spot: Spot {
                        group: row.group,
                        span: lane.spans.start + index,
                    },
                    track: format!("{}, {}", group.kind.name(), row.name()),
                    what,
                    start: format!("{} ms", super::axis::label(span.start.0 as f64, 3)),
                    takes: duration(span.duration()),
                });
            }
        }
    }
    (rows, count)
}
