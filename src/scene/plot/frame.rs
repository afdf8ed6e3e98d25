//! Where things lie in a chart of a given size: plot rectangle, points, and the names beside the lines.

use super::Chart;
use crate::core::order;

/// Height of axis text and names, px.
pub const TEXT: f64 = 10.5;
/// Usual width of a character of that size, px: names only need room that is surely enough.
const CHARACTER: f64 = 5.6;
/// Distance of two names, px.
const NAME_STEP: f64 = 14.0;
/// Swatch before a name, with its gap, px.
pub const SWATCH: f64 = 24.0;
/// From the plot to the names.
const NAME_GAP: f64 = 10.0;
/// Largest share of the width that names beside the lines may take; else they go below.
const NAME_SHARE: f64 = 0.34;

/// Layout of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Left edge of the plot.
    pub left: f64,
    /// Top edge of the plot.
    pub top: f64,
    /// Right edge of the plot.
    pub right: f64,
    /// Bottom edge of the plot.
    pub bottom: f64,
    /// Line and middle left of its name.
    pub names: Vec<(usize, f64, f64)>,
    /// Whether names hang beside the lines' ends (else below the plot).
    pub beside: bool,
}

/// A point of a line, px.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Which line.
    pub line: usize,
    /// Which of its points.
    pub point: usize,
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

fn wide(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER
}

/// Lays a chart out.
pub fn frame(chart: &Chart, width: f64, height: f64) -> Frame {
    let ticks = chart
        .y
        .ticks
        .iter()
        .map(|(_, text)| wide(text))
        .fold(0.0, f64::max);
    let left = (ticks + 10.0).max(chart.gutter);
    let named: Vec<usize> = (0..chart.lines.len())
        .filter(|i| chart.lines.get(*i).is_some_and(|line| line.named))
        .collect();
    let name = |i: &usize| chart.lines.get(*i).map_or(0.0, |line| wide(&line.name));
    let longest = named.iter().map(name).fold(0.0, f64::max);
    let room = NAME_GAP + SWATCH + longest + 4.0;
    let beside = named.is_empty() || room <= NAME_SHARE * width;
    // Half of the last tick's words stand past the end of the axis.
    let last = chart
        .x
        .ticks
        .last()
        .map_or(0.0, |(_, text)| wide(text) / 2.0)
        + 2.0;
    let right = width
        - if beside && !named.is_empty() {
            room
        } else {
            last.max(12.0)
        };
    let mut frame = Frame {
        left,
        top: 24.0,
        right: right.max(left + 20.0),
        bottom: height - 36.0,
        names: Vec::new(),
        beside,
    };
    if beside {
        frame.bottom = frame.bottom.max(frame.top + 20.0);
        frame.names = names_beside(chart, &frame, &named);
    } else {
        names_below(chart, &mut frame, &named, width, height);
    }
    frame
}

/// Names at the height of the lines' last points, pushed apart, kept inside.
fn names_beside(chart: &Chart, frame: &Frame, named: &[usize]) -> Vec<(usize, f64, f64)> {
    let mut names: Vec<(usize, f64, f64)> = named
        .iter()
        .filter_map(|i| {
            let (_, y) = *chart.lines.get(*i)?.points.last()?;
            let y = chart.y.place(y, frame.bottom, frame.top);
            Some((*i, frame.right + NAME_GAP, y))
        })
        .collect();
    order::sort_by(&mut names, |a, b| a.2.total_cmp(&b.2));
    let mut least = frame.top;
    for name in &mut names {
        name.2 = name.2.max(least);
        least = name.2 + NAME_STEP;
    }
    let mut most = frame.bottom;
    for name in names.iter_mut().rev() {
        name.2 = name.2.min(most);
        most = name.2 - NAME_STEP;
    }
    names
}

/// Names in rows under the axis.
fn names_below(chart: &Chart, frame: &mut Frame, named: &[usize], width: f64, height: f64) {
    let (mut x, mut row) = (frame.left, 0.0);
    for i in named {
        let room = SWATCH + chart.lines.get(*i).map_or(0.0, |line| wide(&line.name)) + 14.0;
        if x + room > width && x > frame.left {
            (x, row) = (frame.left, row + 1.0);
        }
        frame.names.push((*i, x, row));
        x += room;
    }
    let rows = row + 1.0;
    frame.bottom = (height - 40.0 - rows * 16.0).max(frame.top + 20.0);
    for name in &mut frame.names {
        name.2 = frame.bottom + 46.0 + name.2 * 16.0;
    }
}

/// Every point of the chart, px.
pub fn spots(chart: &Chart, frame: &Frame) -> Vec<Spot> {
    let mut spots = Vec::new();
    for (line, series) in chart.lines.iter().enumerate() {
        for (point, (x, y)) in series.points.iter().enumerate() {
            spots.push(Spot {
                line,
                point,
                x: chart.x.place(*x, frame.left, frame.right),
                y: chart.y.place(*y, frame.bottom, frame.top),
            });
        }
    }
    spots
}

/// The spot nearest to a place, within `reach` px, among those that `counts`.
pub fn nearest(
    spots: &[Spot],
    x: f64,
    y: f64,
    reach: f64,
    counts: impl Fn(&Spot) -> bool,
) -> Option<Spot> {
    let far = |spot: &Spot| (spot.x - x).hypot(spot.y - y);
    spots
        .iter()
        .filter(|spot| counts(spot) && far(spot) <= reach)
        .min_by(|a, b| far(a).total_cmp(&far(b)))
        .copied()
}
