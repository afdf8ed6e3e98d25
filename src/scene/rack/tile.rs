//! Where tiles stand in their cabinet and how large their parts are, CSS px. `style/rack.css` and `style/phone.css` give the
//! cells, which take the clicks, the same places.

use super::shape::{RackShape, TILE_GAP, TileClass};
use crate::scene::rect::Rect;

/// Height of one NVLink switch tray.
const SWITCH: f64 = 4.5;
/// Above and below the switch trays.
const SWITCH_GAPS: (f64, f64) = (3.0, 4.0);
/// Least gap between the rows of a board.
const BOARD_GAP: f64 = 4.0;

/// Sizes of a tile's parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Height of the tile.
    pub tall: f64,
    /// Radius of its corners.
    pub radius: f64,
    /// Gap to the next tile, sideways and down.
    pub gap: f64,
    /// Room above, right and left of the texts.
    pub pad: (f64, f64, f64),
    /// Height of a line of text.
    pub line: f64,
    /// Letters of the rank.
    pub rank: f64,
    /// Letters of the clock.
    pub clock: f64,
    /// Room left and right of the load bar, and under it.
    pub bar_room: (f64, f64, f64),
    /// Height of the load bar.
    pub bar: f64,
    /// Scale of cross and chevrons.
    pub sign: f64,
    /// Size of the turning arrow.
    pub turn: f64,
}

const DESKTOP: Sizes = Sizes {
    // Whole sixty-fourths, the browser's smallest length, so that rows add up alike there and here.
    tall: 18.6875,
    radius: 2.0,
    gap: TILE_GAP,
    pad: (1.0, 3.0, 4.0),
    line: 12.5,
    rank: 10.5,
    clock: 9.0,
    bar_room: (4.0, 3.0, 2.0),
    bar: 3.0,
    sign: 1.0,
    turn: 10.0,
};

/// Half as large again, for the thumb.
const PHONE: Sizes = Sizes {
    tall: 26.0,
    radius: 3.0,
    gap: 3.0,
    pad: (2.0, 6.0, 7.0),
    line: 16.0,
    rank: 13.5,
    clock: 12.0,
    bar_room: (7.0, 6.0, 3.0),
    bar: 4.0,
    sign: 1.4,
    turn: 14.0,
};

/// The tiles of a domain, from the top left corner of the first one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// The shape of the domain.
    pub shape: RackShape,
    /// Width of a tile.
    pub tile: f64,
    /// As a phone shows it.
    pub phone: bool,
}

impl Grid {
    /// What a tile has room for.
    pub fn class(&self) -> TileClass {
        // Letters are half as large again on a phone.
        TileClass::of(if self.phone {
            self.tile / 1.5
        } else {
            self.tile
        })
    }

    /// Sizes of a tile's parts.
    pub fn sizes(&self) -> Sizes {
        if self.phone {
            return PHONE;
        }
        match self.class() {
            TileClass::Mark => Sizes {
                bar_room: (2.0, 2.0, 2.0),
                ..DESKTOP
            },
            _ => DESKTOP,
        }
    }

    /// The place of a tile.
    pub fn rect(&self, gpu: u32) -> Rect {
        let sizes = self.sizes();
        let (row, column) = self.shape.cell(gpu);
        let gap = if self.shape.is_board() {
            sizes.gap.max(BOARD_GAP)
        } else {
            sizes.gap
        };
        let mut y = f64::from(row) * (sizes.tall + gap);
        if self.shape.switch_after > 0 && row >= self.shape.switch_after {
            let (above, below) = SWITCH_GAPS;
            y += f64::from(self.shape.switch_trays) * SWITCH + above.max(gap) + below - gap;
        }
        Rect::new(
            f64::from(column) * (self.tile + sizes.gap),
            y,
            self.tile,
            sizes.tall,
        )
    }

    /// Width and height of all tiles together.
    pub fn size(&self) -> (f64, f64) {
        let last = self.shape.gpus.saturating_sub(1);
        (
            self.rect(self.shape.per_row.saturating_sub(1).min(last))
                .right(),
            self.rect(last).bottom(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;

    fn grid(id: &str, tile: f64, phone: bool) -> Grid {
        Grid {
            shape: RackShape::of(system(id).unwrap()),
            tile,
            phone,
        }
    }

    #[test]
    fn switch_trays_part_the_rows_of_a_rack() {
        let rack = grid("gb300-nvl72", 46.0, false);
        assert_eq!(rack.rect(5), Rect::new(48.0, 20.6875, 46.0, 18.6875));
        // Ten rows, then 3 + 9 x 4.5 + 4 px instead of a gap of 2.
        assert_eq!(rack.rect(40).y, 10.0 * 20.6875 + 45.5);
        assert_eq!(rack.size(), (190.0, 17.0 * 20.6875 + 45.5 + 18.6875));
    }

    #[test]
    fn a_board_has_wider_gaps_between_its_rows() {
        let board = grid("h100-nvl8", 46.0, false);
        assert_eq!(board.rect(4), Rect::new(0.0, 22.6875, 46.0, 18.6875));
        assert_eq!(
            grid("h100-nvl8", 80.0, true).rect(5),
            Rect::new(83.0, 30.0, 80.0, 26.0)
        );
    }

    #[test]
    fn a_phone_needs_more_room_for_the_same_marks() {
        assert_eq!(
            grid("gb300-nvl72", 46.0, false).class(),
            grid("gb300-nvl72", 69.0, true).class()
        );
        assert_eq!(grid("gb300-nvl72", 46.0, true).class(), TileClass::Rank);
        assert_eq!(
            grid("gb300-nvl72", 12.0, false).sizes().bar_room,
            (2.0, 2.0, 2.0)
        );
    }
}
