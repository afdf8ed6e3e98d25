//! What a tile shows, as marks for a canvas. The legend and the first paint show the same by `.g` of `style/rack.css`.

use super::shape::TileClass;
use super::tile::{Grid, Sizes};
use super::words;
use crate::core::hardware::Gpu;
use crate::core::strategy::{GpuState, GpuView};
use crate::scene::rect::Rect;

/// Share of a load bar's width that is the healthy share.
const HEALTHY: f64 = 0.8;
/// Least width of the piece beyond the healthy share: about 2 px on the smallest tile that has a bar.
const LEAST: f64 = 0.04;
/// Narrowest tile with room for a clock of five characters and its chevron beside a rank of two digits, CSS px.
const LONG_CLOCK: f64 = 54.0;
/// Edges of tiles that have one, CSS px; thin where there is no room.
const EDGES: (f64, f64) = (1.5, 1.0);

/// A colour, by its token in `style/tokens.css`.
pub type Ink = &'static str;

/// What a tile in a state stands on.
pub const fn ground(state: GpuState) -> Ink {
    match state {
        GpuState::Healthy => "--st-healthy-bg",
        GpuState::Failed => "--st-failed",
        GpuState::Restarting => "--st-restart-bg",
        GpuState::Slow => "--st-slow-bg",
        GpuState::Boosted => "--st-boosted-bg",
        GpuState::Parity => "--st-parity-bg",
        GpuState::Spare => "--st-spare-bg",
        GpuState::Idle | GpuState::LeftOver => "--sunk",
    }
}

/// How an edge is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Spare, restarting.
    Solid,
    /// Idle for parity.
    Dashed,
    /// Left over.
    Dotted,
}

/// Letters of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Letters {
    /// Bold, as large as the rank.
    Rank,
    /// Plain, as large as the rank.
    Word,
    /// Plain and small.
    Clock,
    /// Bold and small.
    Fast,
}

/// Where a text stands in its tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Starts there.
    Left(f64),
    /// Ends there.
    Right(f64),
    /// In the middle, both ways.
    Middle,
}

/// What stands before a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Chevron of a boosted clock.
    Up,
    /// Chevron of a slow clock.
    Down,
    /// Bars of an idle GPU.
    Pause,
}

/// One mark, CSS px from the tile's corner, in the order they are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// The whole tile, with its corners.
    Ground(Ink),
    /// The whole tile in stripes at 45 degrees: the first colour, then the second one from a width on, up to the other.
    Stripes(Ink, f64, f64),
    /// Rules every 4 px over the whole tile, faint.
    Rules(Ink),
    /// A rectangle.
    Block(Rect, Ink),
    /// The left side, this wide, of the first GPU of a slot.
    Start(f64, Ink),
    /// The bar of a GPU that sends gradients: a colour with slanted cuts of the panel.
    Slanted(Rect, Ink),
    /// Along the whole edge, this wide.
    Edge(Edge, f64, Ink),
    /// The × of a size.
    Cross(f64, Ink),
    /// The turning arrow of a size.
    Turn(f64, Ink),
    /// The ring of a spare.
    Ring(Ink),
    /// Pause bars in the middle.
    Pause(Ink),
    /// Words.
    Text {
        /// What it says.
        text: String,
        /// Letters.
        letters: Letters,
        /// Where.
        place: Place,
        /// Colour, of the sign too.
        ink: Ink,
        /// Before it.
        sign: Option<Sign>,
    },
}

/// What the tiles of a domain are drawn by.
#[derive(Clone, Debug, PartialEq)]
pub struct Faces {
    /// Where they stand.
    pub grid: Grid,
    /// GPUs per slot (TP degree of the layout).
    pub tp: u32,
    /// The accelerator, for its clock.
    pub gpu: Gpu,
}

impl Faces {
    /// The marks of a tile.
    pub fn marks(&self, index: u32, gpu: &GpuView) -> Vec<Mark> {
        let (class, sizes) = (self.grid.class(), self.grid.sizes());
        let mut marks = Vec::with_capacity(8);
        let roomy = class != TileClass::Dot;
        let edge = if roomy { EDGES.0 } else { EDGES.1 };
        let small = class >= TileClass::Rank;
        match gpu.state {
            GpuState::Healthy | GpuState::Boosted | GpuState::Slow => {
                marks.push(Mark::Ground(ground(gpu.state)));
                if roomy {
                    if gpu.state == GpuState::Slow {
                        marks.push(Mark::Rules("--st-slow"));
                    }
                    bar(&mut marks, &sizes, self.grid.tile, gpu);
                }
            }
            GpuState::Failed => {
                marks.push(Mark::Ground(ground(gpu.state)));
                marks.push(Mark::Cross(7.5 * sizes.sign, "--st-failed-ink"));
            }
            GpuState::Restarting => {
                if roomy {
                    marks.push(Mark::Ground("--panel"));
                    marks.push(Mark::Stripes(ground(gpu.state), 0.0, 4.0));
                } else {
                    marks.push(Mark::Ground(ground(gpu.state)));
                }
                marks.push(Mark::Edge(Edge::Solid, edge, "--st-failed"));
                if roomy {
                    marks.push(Mark::Turn(sizes.turn, "--st-failed"));
                }
            }
            GpuState::Parity => {
                marks.push(Mark::Ground(ground(gpu.state)));
                marks.push(Mark::Edge(Edge::Dashed, edge, "--st-parity"));
            }
            GpuState::Idle => {
                marks.push(Mark::Ground(ground(gpu.state)));
                if small {
                    marks.push(Mark::Stripes("--line2", 5.0, 6.0));
                }
            }
            GpuState::Spare => {
                marks.push(Mark::Ground(ground(gpu.state)));
                marks.push(Mark::Edge(Edge::Solid, edge, "--st-spare"));
                if roomy {
                    marks.push(Mark::Ring("--st-spare"));
                }
            }
            GpuState::LeftOver => marks.push(Mark::Edge(Edge::Dotted, edge, "--st-left")),
        }
        if self.tp < self.grid.shape.gpus && index > 0 && index.is_multiple_of(self.tp.max(1)) {
            marks.push(Mark::Start(2.0, "--ink3"));
        }
        if class == TileClass::Mark && matches!(gpu.state, GpuState::Parity | GpuState::Idle) {
            marks.push(Mark::Pause(word(gpu.state)));
        }
        if small {
            self.texts(&mut marks, &sizes, class, gpu);
        }
        marks
    }

    fn texts(&self, marks: &mut Vec<Mark>, sizes: &Sizes, class: TileClass, gpu: &GpuView) {
        let (_, right, left) = sizes.pad;
        let (ink, sign) = match gpu.state {
            GpuState::Healthy => ("--ink3", None),
            GpuState::Boosted => ("--st-boosted-ink", Some(Sign::Up)),
            GpuState::Slow => ("--st-slow-ink", Some(Sign::Down)),
            GpuState::Parity | GpuState::Idle => {
                let plain = gpu.state == GpuState::Idle;
                marks.push(Mark::Text {
                    text: words::rank(gpu),
                    letters: if plain { Letters::Word } else { Letters::Rank },
                    place: Place::Middle,
                    ink: word(gpu.state),
                    sign: Some(Sign::Pause),
                });
                return;
            }
            _ => return,
        };
        marks.push(Mark::Text {
            text: words::rank(gpu),
            letters: Letters::Rank,
            place: Place::Left(left),
            ink: "--ink",
            sign: None,
        });
        if class == TileClass::Full {
            let text = words::clock(&self.gpu, gpu);
            // A boost of a few thousandths takes a digit more; the chevron would touch the rank.
            let sign = sign.filter(|_| text.len() <= 4 || self.grid.tile >= LONG_CLOCK);
            marks.push(Mark::Text {
                text,
                letters: if gpu.state == GpuState::Healthy {
                    Letters::Clock
                } else {
                    Letters::Fast
                },
                place: Place::Right(self.grid.tile - right),
                ink,
                sign,
            });
        }
    }
}

/// Colour of the word "idle" and of pause bars.
const fn word(state: GpuState) -> Ink {
    match state {
        GpuState::Parity => "--st-parity",
        _ => "--ink3",
    }
}

/// The load bar: what is carried, up to the healthy share; the piece beyond it; the rest of the track.
fn bar(marks: &mut Vec<Mark>, sizes: &Sizes, tile: f64, gpu: &GpuView) {
    let (left, right, under) = sizes.bar_room;
    let (wide, y) = (tile - left - right, sizes.tall - under - sizes.bar);
    let (core_ink, extra_ink) = match gpu.state {
        GpuState::Boosted => ("--st-boosted", "--st-boosted-ink"),
        GpuState::Slow => ("--st-slow", "--st-slow-ink"),
        _ => ("--st-healthy", "--st-healthy-ink"),
    };
    let slow = gpu.state == GpuState::Slow;
    let sends = gpu.sends_gradients && !slow;
    let (core, end) = if sends || gpu.tp_rank.is_none() {
        (HEALTHY, HEALTHY)
    } else {
        let core = HEALTHY * gpu.load.min(1.0);
        let end = if gpu.load > 1.0 {
            (HEALTHY * gpu.load).max(core + LEAST)
        } else {
            core
        };
        (core, end.min(1.0))
    };
    let part = |from: f64, to: f64| Rect::new(left + wide * from, y, wide * (to - from), sizes.bar);
    if sends {
        marks.push(Mark::Slanted(part(0.0, core), "--k-pre"));
    } else {
        marks.push(Mark::Block(part(0.0, core), core_ink));
    }
    if end > core {
        marks.push(Mark::Block(part(core, end), extra_ink));
    }
    if end < 1.0 {
        marks.push(Mark::Block(part(end, 1.0), "--track"));
    }
}

#[cfg(test)]
mod tests;
