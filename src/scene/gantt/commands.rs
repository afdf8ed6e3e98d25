//! What a canvas or an SVG file has to do, in order.

use super::palette::Pattern;
use crate::core::timeline::Kind;
pub use crate::scene::rect::Rect;

/// What an area is filled or a line drawn with: a meaning, which the palette turns into colour and pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Paint {
    /// Ground of the panel.
    Panel,
    /// Ground of a track.
    Track,
    /// Ground of the funnel below the strip.
    Sunk,
    /// Separator.
    Line,
    /// Stronger separator, outline of what is idle.
    Line2,
    /// Main ink.
    Ink,
    /// Faint ink.
    Ink3,
    /// A kind of work in its colour and pattern; the second number is opacity in quarters, 4 for full.
    Kind(Kind, u8),
    /// A kind in its plain colour, under words.
    Plain(Kind),
    /// Edge of a forward block.
    ForwardEdge,
    /// Hairline between layers.
    Hairline,
    /// Waiting.
    Idle,
    /// The band of exposed time.
    ExposedBand,
    /// Its edges and its word.
    Exposed,
    /// The step without failures, behind the others.
    Ghost,
    /// Veil over what a search did not find.
    Veil,
    /// Selected range.
    Range,
}

impl Paint {
    /// The pattern on top of its colour.
    pub const fn pattern(self) -> Option<Pattern> {
        match self {
            Self::Kind(kind, _) => Pattern::of(kind),
            Self::Idle => Some(Pattern::Idle),
            _ => None,
        }
    }
}

/// Colour of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// Values and names.
    Ink,
    /// Labels.
    Ink2,
    /// Notes and axes.
    Ink3,
    /// On a span of this kind.
    On(Kind),
    /// On the panel's inverse.
    Panel,
    /// What is lost.
    Exposed,
}

/// Which point of the words `x` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Their left end.
    Start,
    /// Their middle.
    Middle,
    /// Their right end.
    End,
}

/// One command.
#[derive(Clone, Debug, PartialEq)]
pub enum Draw {
    /// Filled rectangles of one paint.
    Fill(Paint, Vec<Rect>),
    /// Outlined rectangles; line width and whether dashed.
    Outline(Paint, f64, bool, Vec<Rect>),
    /// Open lines of one paint; line width, dash and gap (zero: solid).
    Lines(Paint, f64, (f64, f64), Vec<Vec<(f64, f64)>>),
    /// Arrow heads, tip and direction.
    Heads(Paint, Vec<((f64, f64), (f64, f64))>),
    /// Filled discs with a thin edge of the panel's colour: centre; radius.
    Dots(Paint, f64, Vec<(f64, f64)>),
    /// A filled polygon.
    Polygon(Paint, Vec<(f64, f64)>),
    /// Words on one line: position of the baseline, size in px, and the room they are clipped to.
    Words {
        /// Anchor's x.
        x: f64,
        /// Baseline.
        y: f64,
        /// What they say.
        text: String,
        /// Size.
        size: f64,
        /// Weight 700.
        bold: bool,
        /// Colour.
        ink: Ink,
        /// Which point `x` is.
        anchor: Anchor,
        /// Box that holds them.
        room: Rect,
    },
    /// Everything until [`Draw::Unclip`] stays inside.
    Clip(Rect),
    /// Ends a clip.
    Unclip,
}
