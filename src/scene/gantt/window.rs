//! The stretch of time in view: zoom, pan, fit.

use crate::core::timeline::{Kind, StepView};

/// Narrowest window, ns.
const NARROWEST: f64 = 1.0;
/// How far the window may reach past both ends of the step, as a share of it.
const MARGIN: f64 = 0.02;

/// A stretch of time, ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Left edge.
    pub start: f64,
    /// Right edge, after `start`.
    pub end: f64,
}

impl Window {
    /// The whole of a step, with a little room.
    pub fn whole(step: f64) -> Self {
        let room = step.max(NARROWEST) * MARGIN;
        Self {
            start: -room / 4.0,
            end: step.max(NARROWEST) + room,
        }
    }

    /// How much time it holds.
    pub fn span(&self) -> f64 {
        self.end - self.start
    }

    /// Pixels from the left edge, of `width` px in all.
    pub fn px(&self, time: f64, width: f64) -> f64 {
        (time - self.start) / self.span() * width
    }

    /// Time at a number of pixels from the left edge.
    pub fn time(&self, px: f64, width: f64) -> f64 {
        self.start + px / width.max(1.0) * self.span()
    }

    /// Held inside a step: never narrower than 1 ns nor wider than the step with its margin, and never off it.
    #[must_use]
    pub fn held(self, step: f64) -> Self {
        let whole = Self::whole(step);
        if !(self.start.is_finite() && self.end.is_finite()) {
            return whole;
        }
        let span = self.span().clamp(NARROWEST.min(whole.span()), whole.span());
        let middle = f64::midpoint(self.start, self.end);
        let last = (whole.end - span).max(whole.start);
        let start = (middle - span / 2.0).clamp(whole.start, last);
        Self {
            start,
            end: start + span,
        }
    }

    /// Zoomed by a factor (below 1: closer) around a point that stays where it is; `at` is 0 at the left edge, 1 at the right.
    #[must_use]
    pub fn zoomed(self, factor: f64, at: f64, step: f64) -> Self {
        let narrowest = NARROWEST.min(Self::whole(step).span());
        let span =
            (self.span() * factor.clamp(1e-6, 1e6)).clamp(narrowest, Self::whole(step).span());
        let fixed = self.start + at * self.span();
        Self {
            start: fixed - at * span,
            end: fixed + (1.0 - at) * span,
        }
        .held(step)
    }

    /// Moved by a share of its width.
    #[must_use]
    pub fn panned(self, share: f64, step: f64) -> Self {
        let by = share * self.span();
        Self {
            start: self.start + by,
            end: self.end + by,
        }
        .held(step)
    }

    /// Around a stretch of time, which then fills most of it.
    #[must_use]
    pub fn around(start: f64, end: f64, step: f64) -> Self {
        let room = ((end - start) * 0.1).max(NARROWEST / 4.0);
        Self {
            start: start - room,
            end: end + room,
        }
        .held(step)
    }
}

/// What the panel opens with: the end of the step, from the reductions that the last backward pass still covers to the
/// optimizer, so that what is hidden and what is not are both in sight.
pub fn first_look(view: &StepView) -> Window {
    let timeline = view
        .worlds
        .first()
        .map_or(&view.healthy, |world| &world.timeline);
    let step = timeline.step.0 as f64;
    let end = timeline.optimizer_start.0 as f64;
    let exposed = view
        .worlds
        .first()
        .map_or(0.0, |world| world.exposed().0 as f64);
    let syncs: Vec<f64> = timeline
        .streams
        .iter()
        .flat_map(|lane| timeline.lane(lane))
        .filter(|span| span.kind == Kind::DpSync)
        .map(|span| span.start.0 as f64)
        .collect();
    // From just before the third reduction that was launched before the exposed stretch begins.
    let hidden: Vec<f64> = syncs
        .iter()
        .copied()
        .filter(|start| *start < end - exposed)
        .collect();
    let from = hidden
        .iter()
        .rev()
        .nth(2)
        .or(hidden.first())
        .copied()
        .unwrap_or(end - 0.05 * step);
    let tail = (step - end).max(0.0);
    let span = (end - from)
        .max(4.0 * exposed)
        .max(3.0 * tail)
        .max(step * 1e-4);
    Window {
        start: end - span * 1.08,
        end: step + span * 0.06,
    }
    .held(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zooming_in_to_a_nanosecond_and_out_again_keeps_the_point() {
        let step = 5.3e9;
        let mut window = Window::whole(step);
        let point = window.time(700.0, 1000.0);
        for _ in 0..400 {
            window = window.zoomed(0.8, 0.7, step);
        }
        assert!((window.span() - 1.0).abs() < 1e-6, "{window:?}");
        assert!((window.time(700.0, 1000.0) - point).abs() < 1e-3);
        for _ in 0..400 {
            window = window.zoomed(1.25, 0.7, step);
        }
        assert_eq!(window, Window::whole(step).held(step));
    }

    #[test]
    fn panning_stops_at_both_ends() {
        let step = 1000.0;
        let window = Window {
            start: 100.0,
            end: 200.0,
        };
        let whole = Window::whole(step);
        assert_eq!(window.panned(-50.0, step).start, whole.start);
        assert_eq!(window.panned(50.0, step).end, whole.end);
        assert_eq!(
            window.panned(0.5, step),
            Window {
                start: 150.0,
                end: 250.0
            }
        );
    }

    proptest! {
        #[test]
        fn a_held_window_is_a_window(start in -1e12_f64..1e12, span in -1e12_f64..1e12, step in 0.0_f64..1e12) {
            let window = Window { start, end: start + span }.held(step);
            prop_assert!(window.span() > 0.0);
            prop_assert!(window.start >= Window::whole(step).start - 1e-3);
            prop_assert!(window.end <= Window::whole(step).end + 1e-3);
        }
    }
}
