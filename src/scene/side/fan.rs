//! The shards fan: extra ranks of a healthy replica (top row, right end) send gradients to its core ranks (bottom row).

use std::fmt::Write as _;

/// The fan ready to draw: SVG path data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fan {
    /// Ranks that keep their place, top row.
    pub core_top: String,
    /// Ranks that send, top row.
    pub extra_top: String,
    /// Core ranks, bottom row.
    pub core_bottom: String,
    /// One curve for each message drawn.
    pub curves: Vec<Curve>,
    /// Messages there are; more than `curves` when only an even sample is drawn.
    pub messages: u64,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// SVG path data.
    pub path: String,
    /// Sending rank, counted from the first extra one.
    pub extra: u32,
    /// Receiving core rank.
    pub core: u32,
}

/// Curves drawn at most: more are a solid wash, and cost frames.
const MOST_CURVES: u64 = 360;
/// Height of a row of ranks.
pub const ROW: f64 = 11.0;

/// Lays out `healthy` ranks over `reduced` core ranks in `room` x `height` pixels.
///
/// `sends(extra, core)` tells whether that extra rank sends anything to that core rank.
pub fn fan(
    healthy: u32,
    reduced: u32,
    room: f64,
    height: f64,
    sends: impl Fn(u32, u32) -> bool,
) -> Fan {
    if healthy == 0 || reduced > healthy {
        return Fan::default();
    }
    let pitch = room / f64::from(healthy);
    let gap = if pitch >= 4.0 { 1.25 } else { 0.0 };
    let bottom = height - ROW;
    let row = |from: u32, to: u32, y: f64| {
        let mut path = String::new();
        if gap == 0.0 && to > from {
            let (left, right) = (f64::from(from) * pitch, f64::from(to) * pitch);
            let _ = write!(
                path,
                "M{left:.1} {y:.1}H{right:.1}V{:.1}H{left:.1}z",
                y + ROW
            );
            return path;
        }
        for rank in from..to {
            let left = f64::from(rank) * pitch;
            let _ = write!(
                path,
                "M{left:.1} {y:.1}h{:.1}v{ROW:.1}h-{:.1}z",
                pitch - gap,
                pitch - gap
            );
        }
        path
    };
    let extras = healthy - reduced;
    let messages: u64 = (0..extras)
        .map(|extra| (0..reduced).filter(|core| sends(extra, *core)).count() as u64)
        .sum();
    let stride = messages.div_ceil(MOST_CURVES).max(1);
    let middle = |rank: u32| (f64::from(rank) + 0.5) * pitch - gap / 2.0;
    let (from_y, to_y) = (ROW + 1.0, bottom - 1.0);
    let mut curves = Vec::new();
    let mut seen = 0_u64;
    for extra in 0..extras {
        for core in (0..reduced).filter(|core| sends(extra, *core)) {
            if seen.is_multiple_of(stride) {
                let (x0, x1) = (middle(reduced + extra), middle(core));
                let bend = (to_y - from_y) * 0.55;
                let path = format!(
                    "M{x0:.1} {from_y:.1}C{x0:.1} {:.1} {x1:.1} {:.1} {x1:.1} {to_y:.1}",
                    from_y + bend,
                    to_y - bend * 1.3
                );
                curves.push(Curve { path, extra, core });
            }
            seen += 1;
        }
    }
    Fan {
        core_top: row(0, reduced, 0.0),
        extra_top: row(reduced, healthy, 0.0),
        core_bottom: row(0, reduced, bottom),
        curves,
        messages,
    }
}

/// Left edge and width of a rank's box, for `healthy` ranks in `room` pixels.
pub fn rank_box(healthy: u32, rank: u32, room: f64) -> (f64, f64) {
    let pitch = room / f64::from(healthy.max(1));
    let gap = if pitch >= 4.0 { 1.25 } else { 0.0 };
    (f64::from(rank) * pitch, pitch - gap)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_two_to_seventy() {
        let fan = fan(72, 70, 492.0, 48.0, |_, _| true);
        assert_eq!(fan.messages, 140);
        assert_eq!(fan.curves.len(), 140);
        assert_eq!(fan.core_top.matches('M').count(), 70);
        assert_eq!(fan.extra_top.matches('M').count(), 2);
        assert_eq!(fan.core_bottom.matches('M').count(), 70);
        let first = fan.curves.first().unwrap();
        assert_eq!((first.extra, first.core), (0, 0));
        // Rank 70 of 72 over 492 px: middle at 70.5 x 6.8333 less half the gap.
        assert!(first.path.starts_with("M481.1 12.0C"), "{}", first.path);
    }

    #[test]
    fn a_rank_is_found_where_it_is_drawn() {
        let (left, width) = rank_box(72, 70, 492.0);
        assert!(
            fan(72, 70, 492.0, 48.0, |_, _| true)
                .extra_top
                .starts_with(&format!("M{left:.1} 0.0h{width:.1}"))
        );
    }

    #[test]
    fn only_real_messages_are_drawn() {
        let fan = fan(8, 6, 492.0, 48.0, |extra, core| core % 2 == extra);
        assert_eq!(fan.messages, 6);
        assert!(fan.curves.iter().all(|curve| curve.core % 2 == curve.extra));
    }

    #[test]
    fn a_huge_domain_is_a_sample_and_two_bands() {
        let fan = fan(1024, 512, 492.0, 48.0, |_, _| true);
        assert_eq!(fan.messages, 262_144);
        assert!(fan.curves.len() as u64 <= MOST_CURVES);
        assert_eq!(fan.core_top.matches('M').count(), 1);
    }

    #[test]
    fn nothing_moves_without_extra_ranks() {
        assert!(fan(72, 72, 492.0, 48.0, |_, _| true).curves.is_empty());
        assert_eq!(fan(0, 0, 492.0, 48.0, |_, _| true), Fan::default());
        assert_eq!(fan(4, 8, 492.0, 48.0, |_, _| true), Fan::default());
    }
}
