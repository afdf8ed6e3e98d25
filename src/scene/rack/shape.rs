//! The drawn shape of a domain: rows of GPU tiles, switch trays between them, and the tile size that fits a width.

use crate::core::hardware::System;
use std::ops::Range;

/// Rows a rack has before its trays stand side by side (NVL72's 18 compute trays).
const ROWS: u32 = 18;
/// Narrowest and widest tile with every mark, CSS px.
pub const TILE: (f64, f64) = (45.0, 64.0);
/// Widest tile where more groups follow below: better wide than an empty column at the right.
const FILLING: f64 = 90.0;
/// Gap between tiles, CSS px.
pub const TILE_GAP: f64 = 2.0;
/// Padding and border of a cabinet on both sides together, CSS px.
const CABINET: f64 = 10.0;
/// Gap between the domains of a group, and between groups, CSS px.
const GAPS: (f64, f64) = (8.0, 14.0);

/// How a domain is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackShape {
    /// GPUs of the domain.
    pub gpus: u32,
    /// Tiles in a full row.
    pub per_row: u32,
    /// Switch trays drawn between the rows.
    pub switch_trays: u32,
    /// The row that the switch trays follow, counted from 1; 0 without switch trays.
    pub switch_after: u32,
}

impl RackShape {
    /// The shape of a system's domain: a tray is a row; a board is rows of four; past 18 rows trays stand side by side.
    pub fn of(system: &System) -> Self {
        let gpus = system.domain_size.max(1);
        let tray = system.tray_gpus.clamp(1, gpus);
        let base = if tray == gpus { 4 } else { tray.min(8) }.min(gpus);
        let per_row = (base * gpus.div_ceil(base).div_ceil(ROWS)).min(gpus);
        let rows = gpus.div_ceil(per_row);
        // NVL72 holds 10 compute trays above its switch trays and 8 below.
        let switch_after = if system.switch_trays > 0 {
            (rows * 10).div_ceil(ROWS).min(rows)
        } else {
            0
        };
        Self {
            gpus,
            per_row,
            switch_trays: system.switch_trays,
            switch_after,
        }
    }

    /// Rows of tiles.
    pub fn rows(&self) -> u32 {
        self.gpus.div_ceil(self.per_row.max(1))
    }

    /// Whether it is drawn as a board rather than a rack.
    pub fn is_board(&self) -> bool {
        self.switch_after == 0 && self.rows() <= 2
    }

    /// GPUs of a row.
    pub fn row(&self, row: u32) -> Range<u32> {
        let first = row.saturating_mul(self.per_row).min(self.gpus);
        first..first.saturating_add(self.per_row).min(self.gpus)
    }

    /// Row and column of a GPU.
    pub fn cell(&self, gpu: u32) -> (u32, u32) {
        let per_row = self.per_row.max(1);
        (gpu / per_row, gpu % per_row)
    }

    /// The GPU at a row and column.
    pub fn at(&self, row: u32, column: u32) -> Option<u32> {
        let gpu = row.checked_mul(self.per_row)?.checked_add(column)?;
        (column < self.per_row && gpu < self.gpus).then_some(gpu)
    }

    /// Width of a domain at a tile width, CSS px.
    pub fn width(&self, tile: f64) -> f64 {
        let columns = f64::from(self.per_row.max(1));
        columns * tile + (columns - 1.0) * TILE_GAP + CABINET
    }

    /// Widest tile at which as many domains stand side by side as at the narrowest full tile; narrower when not even one
    /// domain fits. `group` is the number of domains of a group, `groups` how many groups there are.
    pub fn tile_width(&self, available: f64, group: u32, groups: u32) -> f64 {
        let columns = f64::from(self.per_row.max(1));
        let fixed = (columns - 1.0) * TILE_GAP + CABINET;
        let (inner, outer) = GAPS;
        let group = f64::from(group.max(1));
        // Tile width at which `groups` groups of `domains` fill the row exactly.
        let filled = |groups: f64, domains: f64| {
            let gaps = (groups - 1.0) * outer + groups * (domains - 1.0) * inner;
            ((available - gaps) / (groups * domains) - fixed) / columns
        };
        let mut best: f64 = 0.0;
        let mut count = 1.0;
        while count <= f64::from(groups.max(1)) && filled(count, group) >= TILE.0 {
            best = filled(count, group);
            count += 1.0;
        }
        let mut domains = group;
        while best == 0.0 && domains > 1.0 {
            domains -= 1.0;
            if filled(1.0, domains) >= TILE.0 {
                best = filled(1.0, domains);
            }
        }
        if best == 0.0 {
            best = filled(1.0, 1.0);
        }
        let most = if count <= f64::from(groups) {
            FILLING
        } else {
            TILE.1
        };
        // A whole tenth of a pixel below, so that rounding never wraps the last one.
        (best.clamp(3.0, most) * 10.0).floor() / 10.0
    }

    /// The same domain for a narrow screen: rows of at most `most` tiles, as many as it takes.
    pub fn narrow(mut self, most: u32) -> Self {
        let most = most.max(1);
        if self.per_row > most {
            let above = self
                .switch_after
                .saturating_mul(self.per_row)
                .min(self.gpus);
            self.per_row = most;
            self.switch_after = above.div_ceil(most);
        }
        self
    }
}

/// What a tile has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TileClass {
    /// Colour and cross only, below 8 px.
    Dot,
    /// Colour, glyph and bar, below 24 px.
    Mark,
    /// Rank, no clock, below 40 px.
    Rank,
    /// Everything.
    Full,
}

impl TileClass {
    /// By tile width, CSS px.
    pub fn of(tile: f64) -> Self {
        match tile {
            w if w >= 40.0 => Self::Full,
            w if w >= 24.0 => Self::Rank,
            w if w >= 8.0 => Self::Mark,
            _ => Self::Dot,
        }
    }

    /// Value of `data-tile`.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Mark => "mark",
            Self::Rank => "rank",
            Self::Full => "full",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use proptest::prelude::*;

    fn shape(id: &str) -> RackShape {
        RackShape::of(system(id).unwrap())
    }

    #[test]
    fn nvl72_is_ten_trays_nine_switches_eight_trays() {
        let rack = shape("gb300-nvl72");
        assert_eq!(
            (
                rack.per_row,
                rack.rows(),
                rack.switch_after,
                rack.switch_trays
            ),
            (4, 18, 10, 9)
        );
        assert_eq!(rack.row(10), 40..44);
        assert_eq!(rack.cell(71), (17, 3));
    }

    #[test]
    fn nvl8_is_one_board_of_two_rows() {
        let rack = shape("h100-nvl8");
        assert_eq!((rack.per_row, rack.rows(), rack.switch_after), (4, 2, 0));
        assert_eq!(shape("paper-b200-nvl32").rows(), 8);
    }

    #[test]
    fn large_domains_stay_eighteen_rows_high() {
        let mut system = system("gb300-nvl72").unwrap().clone();
        system.domain_size = 576;
        let rack = RackShape::of(&system);
        assert_eq!((rack.per_row, rack.rows()), (32, 18));
    }

    #[test]
    fn a_phone_turns_long_rows_into_many() {
        let mut system = system("gb300-nvl72").unwrap().clone();
        system.domain_size = 1024;
        let rack = RackShape::of(&system).narrow(8);
        assert_eq!((rack.per_row, rack.rows(), rack.switch_after), (8, 128, 75));
        assert_eq!(shape("gb300-nvl72").narrow(8), shape("gb300-nvl72"));
    }

    #[test]
    fn a_1440_window_holds_two_replicas_of_two_racks() {
        let rack = shape("gb300-nvl72");
        let tile = rack.tile_width(830.0, 2, 8);
        assert_eq!(tile, 46.0);
        assert_eq!(rack.tile_width(1200.0, 2, 8), 69.1);
        assert_eq!(rack.tile_width(700.0, 2, 8), 82.5);
        assert_eq!(rack.tile_width(5000.0, 2, 1), 64.0);
    }

    proptest! {
        #[test]
        fn every_gpu_has_one_cell(gpus in 2u32..=1024, tray in 1u32..=72, switches in 0u32..=20) {
            let mut system = system("gb300-nvl72").unwrap().clone();
            (system.domain_size, system.tray_gpus, system.switch_trays) = (gpus, tray.min(gpus), switches);
            let rack = RackShape::of(&system);
            prop_assert!(rack.rows() <= 18 && rack.switch_after <= rack.rows());
            for gpu in 0..gpus {
                let (row, column) = rack.cell(gpu);
                prop_assert_eq!(rack.at(row, column), Some(gpu));
                prop_assert!(rack.row(row).contains(&gpu));
            }
            prop_assert_eq!((0..rack.rows()).map(|row| rack.row(row).len() as u32).sum::<u32>(), gpus);
        }

        #[test]
        fn the_row_never_overflows(width in 60.0f64..4000.0, group in 1u32..20, groups in 1u32..40) {
            let rack = shape("gb300-nvl72");
            let tile = rack.tile_width(width, group, groups);
            prop_assert!((3.0..=90.0).contains(&tile));
            prop_assert!(rack.width(tile) <= width + 0.5);
        }
    }
}
