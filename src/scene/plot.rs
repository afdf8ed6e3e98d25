//! Charts over any plotters backend: axes, lines with markers and dashes, bands, and names beside the lines.
//!
//! A [`Chart`] holds data and neutral or strategy tints; [`draw()`] lays it out for a size and an [`Ink`]. The same drawing
//! goes to the canvas of the page and to [`svg`] files. Nothing measures text through plotters, whose wasm build asks the
//! document for it.

mod draw;
mod figure;
mod frame;
mod ink;
mod scale;

pub use draw::{draw, svg};
pub use figure::caption;
pub use frame::{Frame, Spot, frame, nearest, spots};
pub use ink::{Ink, Rgb};
pub use scale::Scale;

use crate::core::strategy::StrategyId;

/// Which colour of the [`Ink`] something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    /// Strongest neutral.
    Ink,
    /// Second neutral.
    Ink2,
    /// Third neutral, the weakest that text may have.
    Ink3,
    /// What is filtered out.
    Faint,
    /// A strategy's hue.
    Strategy(StrategyId),
}

/// Marker at the points of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// No marker.
    None,
    /// Filled circle.
    Disc,
    /// Hollow circle.
    Ring,
    /// Hollow square.
    Square,
    /// Filled triangle, point up.
    TriangleUp,
    /// Filled triangle, point down.
    TriangleDown,
    /// Filled diamond.
    Diamond,
    /// Plus sign.
    Plus,
}

/// A series.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Name; written beside its last point when `named`.
    pub name: String,
    /// Whether the name is written in the chart.
    pub named: bool,
    /// Colour.
    pub tint: Tint,
    /// Lengths of dashes and gaps, px; empty for a solid line.
    pub dash: &'static [f64],
    /// Width, px; 0 draws markers alone.
    pub width: u32,
    /// Marker.
    pub shape: Shape,
    /// Only the outline of the marker: the second line of a colour.
    pub hollow: bool,
    /// Points in axis units, in drawing order.
    pub points: Vec<(f64, f64)>,
}

/// An area between two lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Colour.
    pub tint: Tint,
    /// Opacity, 0 to 1.
    pub alpha: f64,
    /// Lower edge.
    pub low: Vec<(f64, f64)>,
    /// Upper edge.
    pub high: Vec<(f64, f64)>,
}

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Written at the top of files; the page has its own heading.
    pub title: String,
    /// Horizontal axis.
    pub x: Scale,
    /// Vertical axis.
    pub y: Scale,
    /// Areas, below everything else.
    pub bands: Vec<Band>,
    /// Series, in drawing order.
    pub lines: Vec<Line>,
    /// Least room left of the plot, px, so that charts above each other line up.
    pub gutter: f64,
}

impl Chart {
    /// Marker and dash of a strategy, as everywhere on the page.
    pub const fn code(id: StrategyId) -> (Shape, &'static [f64]) {
        match id {
            StrategyId::Wait => (Shape::Square, &[2.0, 3.0]),
            StrategyId::DpDrop => (Shape::TriangleDown, &[7.0, 3.0]),
            StrategyId::HotSpares => (Shape::Diamond, &[10.0, 3.0, 2.0, 3.0]),
            StrategyId::InDomainSpares => (Shape::Plus, &[3.0, 2.0]),
            StrategyId::Ntp => (Shape::Disc, &[]),
            StrategyId::NtpPw => (Shape::TriangleUp, &[]),
        }
    }

    /// Marker, dash and tint of the n-th series that is no strategy's: told apart by shape, not by hue.
    pub fn neutral(n: usize) -> (Shape, &'static [f64], Tint) {
        const CODES: [(Shape, &[f64], Tint); 6] = [
            (Shape::Disc, &[], Tint::Ink),
            (Shape::Square, &[7.0, 3.0], Tint::Ink2),
            (Shape::TriangleUp, &[2.0, 3.0], Tint::Ink3),
            (Shape::Diamond, &[10.0, 3.0, 2.0, 3.0], Tint::Ink),
            (Shape::Ring, &[3.0, 2.0], Tint::Ink2),
            (Shape::TriangleDown, &[12.0, 4.0], Tint::Ink3),
        ];
        CODES
            .get(n % CODES.len())
            .copied()
            .unwrap_or((Shape::Disc, &[], Tint::Ink))
    }
}

#[cfg(test)]
mod tests;
