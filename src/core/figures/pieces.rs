//! Long figures in pieces: a figure's maker runs again and again, each time with the pieces it has already computed and
//! leave to compute one more, until it gets to its end.
//!
//! So a maker stays straight code from top to bottom, and the same code serves the command line, which computes every
//! piece at once, and the page, which computes one between frames.

use std::any::Any;
use std::rc::Rc;

/// The pieces of one figure.
#[derive(Default)]
pub struct Pieces {
    kept: Vec<Rc<dyn Any>>,
    /// Pieces asked for in this pass.
    at: usize,
    /// Pieces that this pass may still compute.
    left: usize,
    expected: usize,
}

impl Pieces {
    /// Starts a pass that may compute `most` new pieces.
    pub fn pass(&mut self, most: usize) {
        (self.at, self.left) = (0, most);
    }

    /// Says how many pieces there will be, for the progress.
    pub const fn expect(&mut self, pieces: usize) {
        self.expected = pieces;
    }

    /// The next piece: kept from an earlier pass, or computed now; none where this pass has to stop. A maker must ask for
    /// the same pieces in the same order in every pass.
    pub fn piece<T: 'static>(&mut self, make: impl FnOnce() -> T) -> Option<Rc<T>> {
        if let Some(kept) = self.kept.get(self.at) {
            self.at += 1;
            return Rc::clone(kept).downcast().ok();
        }
        self.left = self.left.checked_sub(1)?;
        let made = Rc::new(make());
        self.kept.push(Rc::clone(&made) as Rc<dyn Any>);
        self.at += 1;
        Some(made)
    }

    /// Share of the pieces that is there, below 1.
    pub fn share(&self) -> f64 {
        let all = self.expected.max(self.kept.len() + 1);
        self.kept.len() as f64 / all as f64
    }
}

/// Runs a maker with leave to compute everything.
pub fn whole<T>(make: impl FnOnce(&mut Pieces) -> Option<T>) -> Option<T> {
    let mut pieces = Pieces::default();
    pieces.pass(usize::MAX);
    make(&mut pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn every_piece_is_computed_once_and_the_end_is_the_same() {
        let computed = Cell::new(0);
        let make = |pieces: &mut Pieces| -> Option<u64> {
            pieces.expect(5);
            let first = pieces.piece(|| "two".len())?;
            let mut sum = *first as u64;
            for i in 0..4_u64 {
                sum += *pieces.piece(|| {
                    computed.set(computed.get() + 1);
                    i
                })?;
            }
            Some(sum)
        };
        let mut pieces = Pieces::default();
        let (mut passes, mut last) = (0, -1.0);
        let found = loop {
            pieces.pass(1);
            passes += 1;
            if let Some(found) = make(&mut pieces) {
                break found;
            }
            assert!(pieces.share() > last && pieces.share() < 1.0);
            last = pieces.share();
        };
        assert_eq!((found, computed.get(), passes), (9, 4, 5));
        assert_eq!(whole(make), Some(9));
    }
}
