//! What lies under the pointer, and where a span lies.

use super::columns::Scale;
use super::commands::Rect;
use super::rows::{Layout, Row, RowKind};
use super::window::Window;
use super::{Chips, Spot};
use crate::core::timeline::{StepView, Stream};

/// How near the pointer must be to a span too thin to point at, px.
const NEAR: f64 = 3.0;

/// What is under the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// A span.
    Span(Spot),
    /// The strip of the whole step, at a time.
    Strip(f64),
    /// Names or numbers of a group.
    Group(usize),
    /// The plot, without a span, at a time.
    Plot(f64),
    /// Nothing.
    Nothing,
}

fn row_at(layout: &Layout, x: f64, y: f64) -> Option<&Row> {
    let inside = |row: &&Row| {
        let room = if row.pinned {
            y < layout.scroll_top
        } else {
            y >= layout.scroll_top
        };
        // Half of the gap belongs to each neighbour.
        room && Rect {
            y: row.area.y - 2.0,
            h: row.area.h + 4.0,
            ..row.area
        }
        .holds(x, y)
    };
    layout.rows.iter().filter(inside).min_by(|a, b| {
        let far = |row: &Row| (row.area.y + row.area.h / 2.0 - y).abs();
        far(a).total_cmp(&far(b))
    })
}

/// Finds it. Spans on top win; one too thin to point at is found from nearby.
pub fn hit(
    view: &StepView,
    layout: &Layout,
    window: &Window,
    hidden: Chips,
    step: f64,
    at: (f64, f64),
) -> Target {
    let (x, y) = at;
    let strip = Rect {
        y: 0.0,
        h: super::STRIP - 4.0,
        ..layout.strip
    };
    if strip.holds(x, y) {
        return Target::Strip(Window::whole(step).time(x - layout.strip.x, layout.strip.w));
    }
    if !layout.plot.holds(x, y) {
        let group = layout.groups.iter().position(|group| group.holds(x, y));
        return group.map_or(Target::Nothing, Target::Group);
    }
    let time = window.time(x - layout.plot.x, layout.plot.w);
    let near = NEAR / layout.plot.w * window.span();
    let Some(row) = row_at(layout, x, y) else {
        return Target::Plot(time);
    };
    span_at(view, row, time, near, hidden, y).map_or(Target::Plot(time), Target::Span)
}

fn span_at(
    view: &StepView,
    row: &Row,
    time: f64,
    near: f64,
    hidden: Chips,
    y: f64,
) -> Option<Spot> {
    let timeline = view.timeline(view.groups.get(row.group)?);
    let mut best: Option<(f64, Spot)> = None;
    for lane in row
        .lanes
        .iter()
        .rev()
        .filter_map(|lane| row.lanes_of(timeline).get(*lane))
    {
        // The thin line of DP sync at the bottom of a stage's row.
        if matches!(row.kind, RowKind::Stage(_))
            && (lane.stream == Stream::ScaleOut) != (y >= row.area.bottom() - 3.0)
        {
            continue;
        }
        let spans = timeline.lane(lane);
        let after = spans.partition_point(|span| (span.start.0 as f64) <= time);
        for index in [after.checked_sub(1), Some(after)].into_iter().flatten() {
            let Some(span) = spans.get(index).filter(|span| !hidden.hides(span.kind)) else {
                continue;
            };
            let (start, end) = (span.start.0 as f64, span.end.0 as f64);
            let far = (start - time).max(time - end).max(0.0);
            let closer = best.is_none_or(|(distance, _)| far < distance);
            if far <= near && closer {
                best = Some((
                    far,
                    Spot {
                        group: row.group,
                        span: lane.spans.start + index,
                    },
                ));
            }
        }
    }
    best.map(|(_, spot)| spot)
}

/// Where a span is drawn, at least 3 px wide; none when its row is not shown or it is out of view.
pub fn spot_box(view: &StepView, layout: &Layout, scale: &Scale, spot: Spot) -> Option<Rect> {
    let timeline = view.timeline(view.groups.get(spot.group)?);
    let span = timeline.spans.get(spot.span)?;
    let row = layout.rows.iter().find(|row| {
        row.group == spot.group
            && row
                .lanes
                .iter()
                .filter_map(|lane| row.lanes_of(timeline).get(*lane))
                .any(|lane| lane.spans.contains(&spot.span))
    })?;
    let (start, end) = (span.start.0 as f64, span.end.0 as f64);
    if end < scale.window().start || start > scale.window().end {
        return None;
    }
    let (from, to) = scale.ends(start, end);
    let wide = (to - from).max(3.0);
    let inside = row.area.y >= layout.scroll_top - 1.0 || row.pinned;
    inside.then_some(Rect::new(from, row.area.y, wide, row.area.h))
}
