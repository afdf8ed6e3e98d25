//! Figures in small steps, so that a page can make them between frames.

use super::fig2a::Points;
use super::pieces::Pieces;
use super::{Effort, Entry, Figure, fig3, fig4, fig6, fig7, fig10};
use crate::core::search::SearchRule;

/// A figure under way.
pub trait Work {
    /// Does a few milliseconds of work and returns the share done, or none at the end.
    fn advance(&mut self) -> Option<f64>;
    /// The figure as far as it is known.
    fn figure(&self) -> Figure;
}

/// A figure that is quick enough to make at once.
struct Whole {
    entry: Entry,
    effort: Effort,
    made: Option<Figure>,
}

impl Work for Whole {
    fn advance(&mut self) -> Option<f64> {
        if self.made.is_none() {
            self.made = Some(self.entry.build(&self.effort));
        }
        None
    }

    fn figure(&self) -> Figure {
        self.made
            .clone()
            .unwrap_or_else(|| Figure::empty(self.entry.id, self.entry.title))
    }
}

type Maker = fn(&Effort, &mut Pieces) -> Option<Figure>;

/// Figures that are made in pieces.
const IN_PIECES: [(&str, Maker); 7] = [
    ("3", fig3::make),
    ("4", fig4::make),
    (fig4::systems::ID, fig4::systems::make),
    ("6", fig6::make),
    ("7", fig7::make),
    (fig7::systems::ID, fig7::systems::make),
    ("10", fig10::make),
];

/// A figure whose maker runs again with one more piece each time.
struct Piecewise {
    entry: Entry,
    make: Maker,
    effort: Effort,
    pieces: Pieces,
    made: Option<Figure>,
}

impl Work for Piecewise {
    fn advance(&mut self) -> Option<f64> {
        if self.made.is_none() {
            self.pieces.pass(1);
            self.made = (self.make)(&self.effort, &mut self.pieces);
        }
        self.made.is_none().then(|| self.pieces.share())
    }

    fn figure(&self) -> Figure {
        self.made
            .clone()
            .unwrap_or_else(|| Figure::empty(self.entry.id, self.entry.title))
    }
}

/// The work that makes a figure of the registry, in steps where it is long.
pub fn work(entry: &Entry, effort: Effort) -> Box<dyn Work> {
    if entry.id == "2a"
        && let Some(points) = Points::new(&SearchRule::default())
    {
        return Box::new(points);
    }
    if let Some((_, make)) = IN_PIECES.iter().find(|(id, _)| *id == entry.id) {
        return Box::new(Piecewise {
            entry: *entry,
            make: *make,
            effort,
            pieces: Pieces::default(),
            made: None,
        });
    }
    Box::new(Whole {
        entry: *entry,
        effort,
        made: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::figures::all;

    #[test]
    fn steps_end_in_the_figure_that_is_built_at_once() {
        let effort = Effort { runs: 3, seed: 5 };
        for entry in all().iter().filter(|entry| entry.id != "validation") {
            let mut work = work(entry, effort);
            let mut last = 0.0;
            while let Some(share) = work.advance() {
                assert!(share >= last && share < 1.0, "{} {share}", entry.id);
                last = share;
            }
            assert_eq!(work.figure(), entry.build(&effort), "{}", entry.id);
        }
    }

    #[test]
    fn a_figure_not_made_yet_is_empty() {
        for entry in all().iter().filter(|entry| entry.id != "2a") {
            let figure = work(entry, Effort::default()).figure();
            assert!(figure.series.is_empty() && figure.id == entry.id);
        }
    }
}
