//! The ledger of one strategy as a bar: all of it, and under it its small end enlarged.

use super::labels::{Wish, place};
use super::number::hundredths;
use super::text::width;
use crate::core::strategy::LedgerNow;

/// Where GPU-time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Delivered.
    Productive,
    /// Resharding that shows.
    Exposed,
    /// Healthy GPUs that do nothing.
    Idle,
    /// Replicas on a reduced batch, or waiting for slower peers.
    Degraded,
    /// Spare and left-over GPUs.
    Spare,
    /// The whole job waits.
    Paused,
    /// Failed and restarting GPUs.
    Failed,
}

impl Kind {
    /// All kinds, left to right.
    pub const ALL: [Self; 7] = [
        Self::Productive,
        Self::Exposed,
        Self::Idle,
        Self::Degraded,
        Self::Spare,
        Self::Paused,
        Self::Failed,
    ];

    /// The word under the bar.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Productive => "productive",
            Self::Exposed => "exposed",
            Self::Idle => "idle",
            Self::Degraded => "reduced batch",
            Self::Spare => "spare",
            Self::Paused => "paused",
            Self::Failed => "failed",
        }
    }
    /// One line on what it holds.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Productive => "useful work delivered; equals the goodput above",
            Self::Exposed => "gradient resharding that lengthens the step",
            Self::Idle => "healthy GPUs that do nothing: dropped, benched, or idle for parity",
            Self::Degraded => "replicas that run fewer sequences, or wait for a slower peer",
            Self::Spare => {
                "GPUs held back to replace failed ones, and those the layout leaves over"
            }
            Self::Paused => "healthy GPUs of a job that waits for repair",
            Self::Failed => "failed and restarting GPUs",
        }
    }
    /// Id of the SVG pattern that fills it; none for the strategy's own colour.
    pub const fn pattern(self) -> Option<&'static str> {
        match self {
            Self::Productive => None,
            Self::Exposed => Some("p-exp"),
            Self::Idle => Some("p-parity"),
            Self::Degraded => Some("p-degr"),
            Self::Spare => Some("p-spare"),
            Self::Paused => Some("p-paused"),
            Self::Failed => Some("p-failed"),
        }
    }
    /// Its share of the ledger.
    pub const fn share(self, ledger: &LedgerNow) -> f64 {
        match self {
            Self::Productive => ledger.productive,
            Self::Exposed => ledger.reshard_exposed,
            Self::Idle => ledger.idle_healthy,
            Self::Degraded => ledger.degraded,
            Self::Spare => ledger.spare,
            Self::Paused => ledger.paused,
            Self::Failed => ledger.failed,
        }
    }
}

/// One piece of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// What it stands for.
    pub kind: Kind,
    /// Left edge.
    pub x: f64,
    /// Width.
    pub width: f64,
}

/// A label: `word` and `number`, the number first for the productive share.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// What it names.
    pub kind: Kind,
    /// Percent of the whole, two decimals, as shown.
    pub number: String,
    /// Left edge, when the labels fit on one line.
    pub x: Option<f64>,
}

/// A ledger ready to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Ledger {
    /// All GPU-time.
    pub whole: Vec<Piece>,
    /// The end that is enlarged, as a share of all, and its pieces; absent when nothing is lost or too much to enlarge.
    pub zoom: Option<(f64, Vec<Piece>)>,
    /// Left edge, in the whole bar, of what is enlarged.
    pub zoom_from_x: f64,
    /// One label a kind that is there.
    pub labels: Vec<Label>,
    /// Percent delivered beyond the sum, two decimals; none when nothing is won back.
    pub won_back: Option<String>,
}

/// Losses above this share are seen well enough without enlarging.
const ENLARGE_BELOW: f64 = 0.2;
/// The least a piece is drawn at.
const LEAST: f64 = 2.0;
const GAP: f64 = 1.0;

/// Lays out a ledger in `room` pixels.
pub fn ledger(now: &LedgerNow, room: f64) -> Ledger {
    let shares: Vec<(Kind, f64)> = Kind::ALL
        .into_iter()
        .map(|kind| (kind, finite(kind.share(now))))
        .collect();
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let lost = if total > 0.0 {
        1.0 - now.productive / total
    } else {
        0.0
    };
    let whole = pieces(&shares, room);
    let zoom = (lost > 1e-9 && lost < ENLARGE_BELOW).then(|| {
        let span = zoom_span(lost).min(1.0);
        let inside: Vec<(Kind, f64)> = shares
            .iter()
            .map(|(kind, share)| {
                (
                    *kind,
                    if *kind == Kind::Productive {
                        (span - lost) * total
                    } else {
                        *share
                    },
                )
            })
            .collect();
        (span, pieces(&inside, room))
    });
    let zoom_from_x = zoom.as_ref().map_or(room, |(span, _)| room * (1.0 - span));
    let numbers = hundredths(&shares.iter().map(|(_, share)| *share).collect::<Vec<_>>());
    let under = zoom.as_ref().map_or(&whole, |(_, pieces)| pieces);
    let mut labels: Vec<Label> = Vec::new();
    let mut wishes = Vec::new();
    for piece in under {
        let number = shares
            .iter()
            .zip(&numbers)
            .find(|((kind, _), _)| *kind == piece.kind)
            .map_or(0, |(_, number)| *number);
        let written = written(number);
        let text = format!("{} {written} %", piece.kind.word());
        wishes.push(Wish {
            middle: piece.x + piece.width / 2.0,
            width: width(&text, 10.5, false) + 3.0,
        });
        labels.push(Label {
            kind: piece.kind,
            number: written,
            x: None,
        });
    }
    if let Some(lefts) = place(&wishes, room, 8.0) {
        for (label, left) in labels.iter_mut().zip(lefts) {
            label.x = Some(left);
        }
    }
    Ledger {
        whole,
        zoom,
        zoom_from_x,
        labels,
        won_back: (now.won_back > 5e-5)
            .then(|| format!("{} %", super::number::fixed(now.won_back * 100.0, 2))),
    }
}

/// The pieces that are there, in order, scaled to `room`, none thinner than can be seen.
fn pieces(shares: &[(Kind, f64)], room: f64) -> Vec<Piece> {
    let there: Vec<(Kind, f64)> = shares
        .iter()
        .copied()
        .filter(|(_, share)| *share > 1e-9)
        .collect();
    let total: f64 = there.iter().map(|(_, share)| share).sum();
    let free = (room - GAP * there.len().saturating_sub(1) as f64).max(0.0);
    let widths = widths(
        &there
            .iter()
            .map(|(_, share)| share / total)
            .collect::<Vec<_>>(),
        free,
        LEAST,
    );
    let mut x = 0.0;
    there
        .into_iter()
        .zip(widths)
        .map(|((kind, _), width)| {
            let piece = Piece { kind, x, width };
            x += width + GAP;
            piece
        })
        .collect()
}

/// Widths for `shares` of `room`, each at least `least`, adding up to `room`: what thin pieces gain, wide ones give in
/// proportion.
pub fn widths(shares: &[f64], room: f64, least: f64) -> Vec<f64> {
    let least = least.min(room / shares.len().max(1) as f64);
    let mut fixed = vec![false; shares.len()];
    loop {
        let pinned = fixed.iter().filter(|pin| **pin).count();
        let left = room - least * pinned as f64;
        let open: f64 = shares
            .iter()
            .zip(&fixed)
            .filter(|(_, pin)| !**pin)
            .map(|(share, _)| share)
            .sum();
        let scale = if open > 0.0 { left / open } else { 0.0 };
        let mut changed = false;
        for (share, pin) in shares.iter().zip(&mut fixed) {
            if !*pin && share * scale < least {
                *pin = true;
                changed = true;
            }
        }
        if !changed {
            return shares
                .iter()
                .zip(&fixed)
                .map(|(share, pin)| if *pin { least } else { share * scale })
                .collect();
        }
    }
}

/// A round share, a little over 1.3 times what is lost, so that some of the productive share shows in the enlarged strip.
fn zoom_span(lost: f64) -> f64 {
    let wanted = lost * 1.3;
    let decade = 10_f64.powf(wanted.log10().floor());
    let step = [1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
        .into_iter()
        .find(|step| step * decade >= wanted * (1.0 - 1e-12));
    step.unwrap_or(10.0) * decade
}

/// The enlarged share in words: `0.6 %`.
pub fn span_words(span: f64) -> String {
    let percent = span * 100.0;
    let decimals = if percent >= 1.0 {
        usize::from(percent.fract() > 1e-6)
    } else {
        (1.0 - percent.log10().floor()) as usize
    };
    let text = super::number::fixed(percent, decimals.min(6));
    let text = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        &text
    };
    format!("{text} %")
}

fn written(hundredths: u32) -> String {
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

fn finite(value: f64) -> f64 {
    if value.is_finite() {
        value.max(0.0)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mock() -> LedgerNow {
        LedgerNow {
            productive: 0.9957,
            reshard_exposed: 0.0008,
            idle_healthy: 0.0009,
            failed: 0.0026,
            ..LedgerNow::default()
        }
    }

    #[test]
    fn a_small_loss_is_enlarged_to_a_round_share() {
        let drawn = ledger(&mock(), 492.0);
        let (span, pieces) = drawn.zoom.clone().unwrap();
        assert!((span - 0.006).abs() < 1e-12);
        assert_eq!(span_words(span), "0.6 %");
        let kinds: Vec<Kind> = pieces.iter().map(|piece| piece.kind).collect();
        assert_eq!(
            kinds,
            [Kind::Productive, Kind::Exposed, Kind::Idle, Kind::Failed]
        );
        // 0.26 of 0.6 %, of 492 px less three gaps.
        assert!((pieces.last().unwrap().width - 489.0 * 0.26 / 0.6).abs() < 0.1);
        assert!((drawn.zoom_from_x - 492.0 * 0.994).abs() < 1e-9);
    }

    #[test]
    fn numbers_add_up_and_labels_have_a_place() {
        let drawn = ledger(&mock(), 492.0);
        let total: f64 = drawn
            .labels
            .iter()
            .map(|label| label.number.parse::<f64>().unwrap())
            .sum();
        assert!((total - 100.0).abs() < 1e-9);
        assert!(drawn.labels.iter().all(|label| label.x.is_some()));
        assert!(
            ledger(&mock(), 120.0)
                .labels
                .iter()
                .all(|label| label.x.is_none())
        );
    }

    #[test]
    fn healthy_and_paused_jobs_are_not_enlarged() {
        let healthy = ledger(
            &LedgerNow {
                productive: 1.0,
                ..LedgerNow::default()
            },
            492.0,
        );
        assert_eq!((healthy.zoom, healthy.whole.len()), (None, 1));
        assert_eq!(healthy.labels[0].number, "100.00");
        let paused = ledger(
            &LedgerNow {
                paused: 0.9974,
                failed: 0.0026,
                ..LedgerNow::default()
            },
            492.0,
        );
        assert_eq!(paused.zoom, None);
        assert!((paused.whole[1].width - 2.0).abs() < 1e-9);
    }

    #[test]
    fn enlarged_shares_in_words() {
        for (span, words) in [
            (0.15, "15 %"),
            (0.015, "1.5 %"),
            (0.002, "0.2 %"),
            (0.0003, "0.03 %"),
            (0.000_15, "0.015 %"),
        ] {
            assert_eq!(span_words(span), words);
        }
    }

    proptest! {
        #[test]
        fn bars_fill_their_room(parts in proptest::collection::vec(0.0..1.0f64, 7), room in 100.0..900.0f64) {
            let mut it = parts.iter().copied();
            let mut next = || it.next().unwrap();
            let now = LedgerNow { productive: next() * 50.0, degraded: next(), idle_healthy: next(), spare: next(), failed: next(),
                                  reshard_exposed: next(), paused: next(), ..LedgerNow::default() };
            let drawn = ledger(&now, room);
            for bar in [Some(&drawn.whole), drawn.zoom.as_ref().map(|(_, pieces)| pieces)].into_iter().flatten() {
                if let Some(last) = bar.last() {
                    prop_assert!((last.x + last.width - room).abs() < 1e-6);
                    prop_assert!(bar.iter().all(|piece| piece.width > 1.99));
                }
            }
        }
    }
}
