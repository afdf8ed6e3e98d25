//! The time chart: one axis for the race, failed GPUs, mini-batch and interruptions.

use crate::core::fleet::recording::{Recording, Track};
use crate::core::order;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;

/// Steps that people count days by.
const STEPS: [f64; 16] = [
    1.0 / 24.0,
    0.125,
    0.25,
    0.5,
    1.0,
    2.0,
    5.0,
    7.0,
    14.0,
    30.0,
    60.0,
    90.0,
    180.0,
    365.0,
    730.0,
    1825.0,
];

/// Distance between labels of the time axis, days: about one in `least` px, in steps that people count by.
pub fn day_step(days: f64, width: f64, least: f64) -> f64 {
    let wanted = days * least / width.max(1.0);
    STEPS
        .into_iter()
        .find(|step| *step >= wanted)
        .unwrap_or(3650.0)
}

/// A line of a chart: x in px, y as a value.
pub type Points = Vec<(f64, f64)>;

/// The goodput line of a strategy: the mean since day 0, every other pixel.
pub fn goodput(track: &Track, end: Nanos, width: f64) -> Points {
    let steps = (width / 2.0).clamp(2.0, 4000.0) as u64;
    (1..=steps)
        .filter_map(|step| {
            let time = Nanos((u128::from(end.0) * u128::from(step) / u128::from(steps)) as u64);
            let x = width * step as f64 / steps as f64;
            track.goodput(time).map(|value| (x, value))
        })
        .collect()
}

/// The range of the race's axis: all lines that come near the best one, from a twentieth of the run on, with a margin,
/// on whole hundredths. A line far below, such as a job that waits most of the time, would flatten the others.
pub fn race_range(recording: &Recording) -> (f64, f64) {
    let from = recording.end.0 / 20;
    let mut spans: Vec<(f64, f64)> = Vec::new();
    for track in &recording.tracks {
        let (mut low, mut high) = (1.0f64, 0.0f64);
        for step in 0..=100u64 {
            let time = Nanos(from + (recording.end.0 - from) / 100 * step);
            if let Some(value) = track.goodput(time) {
                low = low.min(value);
                high = high.max(value);
            }
        }
        spans.push((low, high));
    }
    let best = spans.iter().map(|span| span.1).fold(0.0, f64::max);
    let near = |span: &&(f64, f64)| span.1 >= best - 0.35;
    let low = spans
        .iter()
        .filter(near)
        .map(|span| span.0.max(best - 0.45));
    let low = low.fold(best, f64::min);
    let margin = ((best - low) * 0.12).max(0.005);
    let (low, high) = ((low - margin).max(0.0), (best + margin).min(1.0));
    (
        (low * 100.0).floor() / 100.0,
        ((high * 100.0).ceil() / 100.0).min(1.0),
    )
}

/// Grid lines of the race's axis: three to six round values.
pub fn race_ticks((low, high): (f64, f64)) -> Vec<f64> {
    let span = (high - low).max(1e-6);
    let step = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25]
        .into_iter()
        .find(|step| span / step <= 5.0)
        .unwrap_or(0.5);
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

/// A step line of whole numbers: corners at every change, x in px; of several changes on one pixel the extremes.
pub fn steps(times: &[Nanos], values: &[u32], end: Nanos, width: f64) -> Points {
    let x = |time: Nanos| width * time.0 as f64 / end.0.max(1) as f64;
    let mut points: Points = Vec::new();
    let mut last = None;
    for (time, value) in times.iter().zip(values) {
        let (at, value) = (x(*time), f64::from(*value));
        if let Some(before) = last {
            if before == value {
                continue;
            }
            points.push((at, before));
        }
        points.push((at, value));
        last = Some(value);
    }
    if let Some(value) = last {
        points.push((width, value));
    }
    thin(points)
}

/// Keeps at most four points a pixel: first, lowest, highest, last.
fn thin(points: Points) -> Points {
    let mut kept: Points = Vec::with_capacity(points.len().min(8192));
    let mut rest = points.as_slice();
    while let Some(((x, _), _)) = rest.split_first() {
        let pixel = x.floor();
        let count = rest.iter().take_while(|(x, _)| x.floor() == pixel).count();
        let (here, after) = rest.split_at(count.max(1));
        rest = after;
        if here.len() <= 4 {
            kept.extend_from_slice(here);
            continue;
        }
        let by = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
        let four = [
            here.first(),
            here.iter().min_by(by),
            here.iter().max_by(by),
            here.last(),
        ];
        let mut four: Points = four.into_iter().flatten().copied().collect();
        order::sort_by(&mut four, |a, b| a.0.total_cmp(&b.0));
        kept.extend(four);
    }
    kept
}

/// Interruptions of a strategy as marks: x in px and whether a software failure; at most one of each kind a pixel.
pub fn marks(recording: &Recording, strategy: StrategyId, width: f64) -> Vec<(f64, bool)> {
    let mut marks: Vec<(f64, bool)> = Vec::new();
    let mut last = [f64::MIN; 2];
    let stops = recording
        .track(strategy)
        .map_or(&[][..], |track| track.stops.as_slice());
    for (time, event) in stops {
        let x = width * time.0 as f64 / recording.end.0.max(1) as f64;
        let software = recording
            .events
            .get(*event as usize)
            .is_some_and(|event| recording.is_software(event));
        let Some(last) = last.get_mut(usize::from(software)) else {
            continue;
        };
        if x - *last >= 1.0 {
            *last = x;
            marks.push((x, software));
        }
    }
    marks
}

/// Places labels of height `gap` near their wishes between `low` and `high` without overlap: (index, y), by y.
pub fn spread(wishes: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    let wish = |index: &usize| wishes.get(*index).copied().unwrap_or(low);
    order::sort_by(&mut order, |a, b| wish(a).total_cmp(&wish(b)));
    let mut placed = vec![0.0; wishes.len()];
    let mut floor = low;
    for (rank, index) in order.iter().enumerate() {
        let room = high - gap * (order.len() - 1 - rank) as f64;
        let y = wish(index).max(floor).min(room.max(low));
        if let Some(slot) = placed.get_mut(*index) {
            *slot = y;
        }
        floor = y + gap;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_counts_as_people_do() {
        assert_eq!(day_step(15.0, 1050.0, 60.0), 1.0);
        assert_eq!(day_step(15.0, 300.0, 60.0), 5.0);
        assert_eq!(day_step(348.0, 1050.0, 60.0), 30.0);
        assert_eq!(
            race_ticks((0.76, 0.91)),
            [0.8, 0.85, 0.9].map(|v: f64| (v / 0.05).round() * 0.05)
        );
    }

    #[test]
    fn steps_have_corners_and_stay_few() {
        let times: Vec<Nanos> = [0, 10, 20, 30].map(Nanos).to_vec();
        let line = steps(&times, &[5, 5, 7, 6], Nanos(40), 400.0);
        assert_eq!(
            line,
            [
                (0.0, 5.0),
                (200.0, 5.0),
                (200.0, 7.0),
                (300.0, 7.0),
                (300.0, 6.0),
                (400.0, 6.0)
            ]
        );
        let times: Vec<Nanos> = (0..100_000).map(Nanos).collect();
        let values: Vec<u32> = (0..100_000).map(|i| i % 97).collect();
        let line = steps(&times, &values, Nanos(100_000), 500.0);
        assert!(line.len() <= 2004 && line.iter().any(|point| point.1 == 96.0));
    }

    #[test]
    fn labels_keep_apart_and_inside() {
        let y = spread(&[10.0, 11.0, 100.0, 99.0], 14.0, 0.0, 110.0);
        assert_eq!(y, [10.0, 24.0, 110.0, 96.0].map(|v: f64| v.min(110.0)));
        let crowded = spread(&[50.0; 4], 14.0, 0.0, 60.0);
        assert!(
            crowded
                .windows(2)
                .all(|pair| pair[1] - pair[0] >= 14.0 - 1e-9)
        );
        assert!(crowded.iter().all(|y| *y <= 60.0));
    }
}
