//! Where things stand on the time chart.

use crate::core::fleet::recording::Recording;
use crate::core::units::Nanos;

/// Bands of the chart, CSS px: each (top, bottom).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Of the whole chart.
    pub width: f64,
    /// Of the whole chart.
    pub height: f64,
    /// Where day 0 is.
    pub left: f64,
    /// Where the run ends.
    pub right: f64,
    /// Goodput.
    pub race: (f64, f64),
    /// Failed GPUs.
    pub failed: (f64, f64),
    /// Mini-batch.
    pub batch: (f64, f64),
    /// Interruptions.
    pub marks: (f64, f64),
    /// Goodput at the bottom and top of its band.
    pub range: (f64, f64),
    /// End of the run.
    pub end: Nanos,
    /// Narrow: names stand inside the bands.
    pub phone: bool,
}

impl Frame {
    /// Divides a chart of a size.
    pub fn new(width: f64, height: f64, phone: bool, range: (f64, f64), end: Nanos) -> Self {
        let (left, right) = if phone {
            (34.0, (width - 8.0).max(60.0))
        } else {
            (137.0, (width - 170.0).max(200.0))
        };
        let low = (height - 20.0).max(120.0);
        let share = |part: f64| (low - 8.0) * part + 8.0;
        Self {
            width,
            height,
            left,
            right,
            race: (share(0.0), share(0.6)),
            failed: (share(0.645), share(0.815)),
            batch: (share(0.85), share(0.925)),
            marks: (share(0.948), low),
            range,
            end,
            phone,
        }
    }

    /// Place of a moment.
    pub fn x(&self, time: Nanos) -> f64 {
        let part = time.0 as f64 / self.end.0.max(1) as f64;
        self.left + (self.right - self.left) * part.min(1.0)
    }

    /// Moment of a place.
    pub fn time(&self, x: f64) -> Nanos {
        let part = (x - self.left) / (self.right - self.left).max(1.0);
        Nanos((self.end.0 as f64 * part.clamp(0.0, 1.0)) as u64)
    }

    /// Place of a goodput; out of the range at its edge.
    pub fn race_y(&self, value: f64) -> f64 {
        self.race_y_open(value).clamp(self.race.0, self.race.1)
    }

    /// Place of a goodput, also where that is outside the band: lines leave it and are clipped.
    pub fn race_y_open(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        let part = (value - low) / (high - low).max(1e-9);
        self.race.1 - (self.race.1 - self.race.0) * part
    }

    /// Place of a number of failed GPUs, on a scale that holds the most of any strategy.
    pub fn failed_y(&self, value: f64, recording: &Recording) -> f64 {
        let most = most_failed(recording);
        self.failed.1 - (self.failed.1 - self.failed.0) * (value / most).min(1.0)
    }
}

/// Most GPUs out of service at one time, of all strategies; at least 1.
pub fn most_failed(recording: &Recording) -> f64 {
    let tracks = recording.tracks.iter();
    let most = tracks.filter_map(|track| track.failed.iter().max()).max();
    f64::from(most.copied().unwrap_or(1).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_places_go_both_ways() {
        let frame = Frame::new(1400.0, 340.0, false, (0.7, 0.9), Nanos::from_hours(360.0));
        for hours in [0.0, 1.0, 200.0, 360.0] {
            let time = Nanos::from_hours(hours);
            assert!((frame.time(frame.x(time)).hours() - hours).abs() < 1e-6);
        }
        assert_eq!(
            (frame.time(0.0), frame.time(9999.0)),
            (Nanos::ZERO, frame.end)
        );
        assert!(frame.race_y_open(0.1) > frame.height);
        assert_eq!(
            (frame.race_y(0.9), frame.race_y(0.1)),
            (frame.race.0, frame.race.1)
        );
    }

    #[test]
    fn bands_follow_each_other() {
        for (phone, width, height) in [
            (false, 1440.0, 340.0),
            (true, 390.0, 300.0),
            (false, 2500.0, 900.0),
        ] {
            let f = Frame::new(width, height, phone, (0.0, 1.0), Nanos(1));
            let edges = [
                f.race.0, f.race.1, f.failed.0, f.failed.1, f.batch.0, f.batch.1, f.marks.0,
                f.marks.1, height,
            ];
            assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
            assert!(f.left < f.right && f.right < width);
        }
    }
}
