//! One step on a time axis, without a page: where every track, span, arrow and word goes.
//!
//! [`layout`] stacks the tracks, [`Window`] is the stretch of time in view, [`draw`] turns both into a list of [`Draw`]
//! commands that a canvas or [`svg`] paints, and [`hit`] finds what lies under the pointer. Lengths are CSS pixels, x to the
//! right and y down; times are nanoseconds, as `f64` only here.

mod axis;
mod columns;
mod commands;
mod find;
mod hit;
mod labels;
mod lanes;
mod marks;
mod palette;
mod picture;
mod rows;
mod strip;
mod svg;
mod table;
mod window;
mod words;

pub use commands::{Anchor, Draw, Ink, Paint, Rect};
pub use find::{matches, neighbour, step_through};
pub use hit::{Target, hit, spot_box};
pub use palette::{Palette, Pattern};
pub use picture::{Look, draw, moving, still};
pub use rows::{GroupState, LABELS, Layout, Mode, RIGHT, Row, RowKind, STRIP, layout};
pub use svg::{head, svg};
pub use table::{TableRow, table};
pub use window::{Window, first_look};
pub use words::{GroupWords, Tip, group_words, sums, tip};

use crate::core::timeline::Kind;

/// A span of one of the groups shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Position in [`crate::core::timeline::StepView::groups`].
    pub group: usize,
    /// Position in that group's [`crate::core::timeline::Timeline::spans`].
    pub span: usize,
}

/// What the legend filters: the kinds of the look, of which some cover several of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chip {
    /// Forward, and forward again.
    Forward,
    /// Backward.
    Backward,
    /// TP and CP collectives.
    Tp,
    /// Gradients to core ranks.
    Pre,
    /// Reductions and parameter gathers.
    Dp,
    /// Gradients back to extra ranks.
    Post,
    /// Transfers between stages.
    Pp,
    /// Optimizer.
    Optimizer,
    /// The band of exposed time.
    Exposed,
    /// Idle and host time.
    Idle,
    /// The step without failures, behind the others.
    Ghost,
}

impl Chip {
    /// All, in the order of the legend.
    pub const ALL: [Self; 11] = [
        Self::Forward,
        Self::Backward,
        Self::Tp,
        Self::Pre,
        Self::Dp,
        Self::Post,
        Self::Pp,
        Self::Optimizer,
        Self::Exposed,
        Self::Idle,
        Self::Ghost,
    ];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Tp => "TP comm",
            Self::Pre => "pre-sync reshard",
            Self::Dp => "DP sync",
            Self::Post => "post-sync reshard",
            Self::Pp => "PP",
            Self::Optimizer => "optimizer",
            Self::Exposed => "exposed",
            Self::Idle => "idle",
            Self::Ghost => "no failure",
        }
    }

    /// The chip of a kind.
    pub const fn of(kind: Kind) -> Self {
        match kind {
            Kind::Forward | Kind::Recompute => Self::Forward,
            Kind::Backward => Self::Backward,
            Kind::TpComm | Kind::CpComm => Self::Tp,
            Kind::PreSync => Self::Pre,
            Kind::DpSync | Kind::ParamGather => Self::Dp,
            Kind::PostSync => Self::Post,
            Kind::PpSend => Self::Pp,
            Kind::Optimizer => Self::Optimizer,
            Kind::Host => Self::Idle,
        }
    }
}

/// A set of chips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chips(u16);

impl Chips {
    /// Whether it holds a chip.
    pub const fn has(self, chip: Chip) -> bool {
        self.0 & (1 << chip as u16) != 0
    }
    /// With a chip put in or taken out.
    #[must_use]
    pub const fn toggled(self, chip: Chip) -> Self {
        Self(self.0 ^ (1 << chip as u16))
    }
    /// Whether it holds the chip of a kind.
    pub const fn hides(self, kind: Kind) -> bool {
        self.has(Chip::of(kind))
    }
}

#[cfg(test)]
mod tests;
