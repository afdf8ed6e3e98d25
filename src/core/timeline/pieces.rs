//! How one layer's and one block's time is cut into operations.

use super::Kind;
use super::schedule::{Block, Pass};
use crate::core::cost::Terms;
use crate::core::units::{Nanos, Seconds};

/// A stretch of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it does.
    pub kind: Kind,
    /// How long, undisturbed.
    pub ns: u64,
}

impl Piece {
    /// Whether it runs on NVLink while compute waits.
    pub fn on_nvlink(&self) -> bool {
        matches!(self.kind, Kind::TpComm | Kind::CpComm)
    }
}

/// The pieces of a stage.
#[derive(Clone, Debug)]
pub struct Pieces {
    forward: Vec<Piece>,
    backward: Vec<Piece>,
    forward_ns: u64,
    backward_ns: u64,
    embedding_ns: u64,
    head_ns: (u64, u64),
}

fn ns(seconds: Seconds) -> u64 {
    Nanos::from_seconds(seconds).0
}

/// A layer as its two halves, attention and MLP, each followed by its TP collective; the CP exchange belongs to the first
/// half of the forward and the second of the backward pass.
fn layer(compute: (Kind, u64), tp: u64, cp: u64, cp_last: bool) -> Vec<Piece> {
    let (kind, work) = compute;
    let half = |kind, ns: u64| {
        [
            Piece { kind, ns: ns / 2 },
            Piece {
                kind,
                ns: ns - ns / 2,
            },
        ]
    };
    let [first, second] = half(kind, work);
    let [first_tp, second_tp] = half(Kind::TpComm, tp);
    let cp = Piece {
        kind: Kind::CpComm,
        ns: cp,
    };
    let mut pieces = vec![first, first_tp, second, second_tp];
    pieces.insert(if cp_last { 3 } else { 1 }, cp);
    pieces
}

impl Pieces {
    /// Of a stage, which may hold the embedding or the output matrix.
    pub fn of(terms: &Terms, first: bool, last: bool) -> Self {
        let l = &terms.layer;
        let mut forward = layer(
            (Kind::Forward, ns(l.forward_s)),
            ns(l.forward_tp_s),
            ns(l.forward_cp_s),
            false,
        );
        let mut backward = layer(
            (Kind::Backward, ns(l.backward_s)),
            ns(l.backward_tp_s),
            ns(l.backward_cp_s),
            true,
        );
        backward.insert(
            0,
            Piece {
                kind: Kind::Recompute,
                ns: ns(l.recompute_s),
            },
        );
        for pieces in [&mut forward, &mut backward] {
            let all: u64 = pieces.iter().map(|piece| piece.ns).sum();
            // Keep one, so that every layer has an operation even when it takes no time.
            pieces.retain(|piece| {
                piece.ns > 0 || all == 0 && matches!(piece.kind, Kind::Forward | Kind::Backward)
            });
        }
        let sum = |pieces: &[Piece]| pieces.iter().map(|piece| piece.ns).sum();
        Self {
            forward_ns: sum(&forward),
            backward_ns: sum(&backward),
            forward,
            backward,
            embedding_ns: if first { ns(terms.embedding_s) } else { 0 },
            head_ns: if last {
                (ns(terms.head_forward_s), ns(terms.head_backward_s))
            } else {
                (0, 0)
            },
        }
    }

    /// Pieces of one layer.
    pub fn layer(&self, pass: Pass) -> &[Piece] {
        match pass {
            Pass::Forward => &self.forward,
            Pass::Backward => &self.backward,
        }
    }

    /// What comes before a block's layers: the embedding, or the output matrix's backward.
    pub fn before(&self, block: Block, chunks: u32) -> impl Iterator<Item = Piece> + use<> {
        let (kind, ns) = match block.pass {
            Pass::Forward if block.chunk == 0 => (Kind::Forward, self.embedding_ns),
            Pass::Backward if block.chunk + 1 == chunks => (Kind::Backward, self.head_ns.1),
            _ => (Kind::Forward, 0),
        };
        Some(Piece { kind, ns })
            .into_iter()
            .filter(|piece| piece.ns > 0)
    }

    /// What comes after them: the output matrix and loss.
    pub fn after(&self, block: Block, chunks: u32) -> impl Iterator<Item = Piece> + use<> {
        let last = block.pass == Pass::Forward && block.chunk + 1 == chunks;
        let ns = if last { self.head_ns.0 } else { 0 };
        Some(Piece {
            kind: Kind::Forward,
            ns,
        })
        .into_iter()
        .filter(|piece| piece.ns > 0)
    }

    /// Undisturbed time of a block of `layers` layers.
    pub fn block_ns(&self, block: Block, chunks: u32, layers: u32) -> u64 {
        let layer = match block.pass {
            Pass::Forward => self.forward_ns,
            Pass::Backward => self.backward_ns,
        };
        let ends = self
            .before(block, chunks)
            .chain(self.after(block, chunks))
            .map(|piece| piece.ns)
            .sum::<u64>();
        layer.saturating_mul(u64::from(layers)).saturating_add(ends)
    }
}

/// Fraction of its rate that compute loses while a reshard all-to-all runs.
///
/// [`Terms::reshard_contention`] is all the time that the backward pass loses per second of all-to-all. Part of it comes
/// from TP collectives that share the link, which the engine simulates; this is the rest. With compute `c` and visible TP
/// time `t` per layer, a loss of rate `k` stretches a layer by `c k / (1 - k) + t` while the all-to-all does
/// `c / (1 - k) + t` of its own work; setting their ratio to the factor gives `k = (f - q) / (1 - q)`, `q = (1 - f) t / c`.
pub fn compute_loss(terms: &Terms) -> f64 {
    let l = &terms.layer;
    let compute = (l.backward_s + l.recompute_s).get();
    let factor = terms.reshard_contention.clamp(0.0, 0.95);
    let share = if compute > 0.0 {
        (1.0 - factor) * l.backward_tp_s.get() / compute
    } else {
        0.0
    };
    if share < factor {
        (factor - share) / (1.0 - share)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::cost::LayerTerms;

    #[test]
    fn a_layer_keeps_its_time_and_alternates_streams() {
        let terms = Terms {
            layer: LayerTerms {
                forward_s: Seconds(1001e-9),
                forward_tp_s: Seconds(31e-9),
                backward_s: Seconds(2000e-9),
                recompute_s: Seconds(400e-9),
                backward_tp_s: Seconds(60e-9),
                backward_cp_s: Seconds(5e-9),
                ..LayerTerms::default()
            },
            ..Terms::default()
        };
        let pieces = Pieces::of(&terms, false, false);
        let forward: Vec<(Kind, u64)> = pieces
            .layer(Pass::Forward)
            .iter()
            .map(|p| (p.kind, p.ns))
            .collect();
        assert_eq!(
            forward,
            [
                (Kind::Forward, 500),
                (Kind::TpComm, 15),
                (Kind::Forward, 501),
                (Kind::TpComm, 16)
            ]
        );
        let backward: Vec<Kind> = pieces
            .layer(Pass::Backward)
            .iter()
            .map(|p| p.kind)
            .collect();
        assert_eq!(
            backward,
            [
                Kind::Recompute,
                Kind::Backward,
                Kind::TpComm,
                Kind::Backward,
                Kind::CpComm,
                Kind::TpComm
            ]
        );
        let block = Block {
            pass: Pass::Backward,
            chunk: 0,
            microbatch: 0,
        };
        assert_eq!(pieces.block_ns(block, 1, 3), 3 * 2465);
    }

    #[test]
    fn compute_loses_what_link_sharing_leaves_of_the_factor() {
        let mut terms = Terms {
            reshard_contention: 0.25,
            ..Terms::default()
        };
        terms.layer.backward_s = Seconds(1.0);
        assert_eq!(compute_loss(&terms), 0.25);
        terms.layer.backward_tp_s = Seconds(0.1);
        let k = compute_loss(&terms);
        let lost = k / (1.0 - k) + 0.1;
        assert!((lost / (1.0 / (1.0 - k) + 0.1) - 0.25).abs() < 1e-12);
        terms.layer.backward_tp_s = Seconds(0.5);
        assert_eq!(compute_loss(&terms), 0.0);
    }
}
