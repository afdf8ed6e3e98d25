//! All domains as squares on a grid, seen through an eye that zooms and pans; GPUs as tiles inside a square.

pub use crate::scene::rect::Rect;

/// Part of the pitch that a square fills.
const FILL: f64 = 0.83;
/// Left free around all squares, px.
const MARGIN: f64 = 3.0;
/// Largest pitch, px: a small fleet does not fill the page with giants.
const LARGEST: f64 = 160.0;
/// Pitch that the eye goes up to: tiles with room for words.
pub const CLOSEST: f64 = 460.0;
/// Least height of a tile that is drawn by itself, px.
const LEAST_TILE: f64 = 3.0;

/// Squares of equal size in rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Grid {
    /// Number of squares.
    pub domains: u32,
    /// Squares per row.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// From one square to the next, px, at zoom 1.
    pub pitch: f64,
    /// Size of the window.
    pub width: f64,
    /// Size of the window.
    pub height: f64,
    /// Left and top of the first square at zoom 1.
    origin: (f64, f64),
}

impl Grid {
    /// The largest squares that fit `width` by `height`.
    pub fn fit(domains: u32, width: f64, height: f64) -> Self {
        // Room for an edge around the outermost squares.
        let (whole, high) = (width.max(1.0), height.max(1.0));
        let (width, height) = (
            (whole - 2.0 * MARGIN).max(1.0),
            (high - 2.0 * MARGIN).max(1.0),
        );
        let count = f64::from(domains.max(1));
        // The pitch p holds floor(w / p) * floor(h / p) squares: try the pitches at which a row gains one.
        let mut best = (0.0, 1u32);
        let guess = (width * count / height).sqrt().ceil() as u32;
        for columns in guess.saturating_sub(3).max(1)..=guess + 3 {
            let rows = count / f64::from(columns);
            let pitch = (width / f64::from(columns)).min(height / rows.ceil());
            if pitch > best.0 {
                best = (pitch, columns);
            }
        }
        let (pitch, columns) = (best.0.min(LARGEST), best.1);
        let columns = columns
            .max((width / pitch).floor().min(count) as u32)
            .max(1);
        let rows = domains.max(1).div_ceil(columns);
        let left = ((width - f64::from(columns) * pitch) / 2.0).max(0.0);
        Self {
            domains,
            columns,
            rows,
            pitch,
            width: whole,
            height: high,
            origin: (MARGIN + left.min(8.0), MARGIN),
        }
    }

    /// The square of a domain as the eye sees it.
    pub fn square(&self, eye: &Eye, domain: u32) -> Rect {
        let (column, row) = (domain % self.columns.max(1), domain / self.columns.max(1));
        let pitch = self.pitch * eye.zoom;
        let side = pitch * FILL;
        Rect {
            x: self.origin.0 * eye.zoom + f64::from(column) * pitch - eye.x,
            y: self.origin.1 * eye.zoom + f64::from(row) * pitch - eye.y,
            w: side,
            h: side,
        }
    }

    /// Domains that the window shows at least in part: (first, last) columns and rows.
    pub fn visible(&self, eye: &Eye) -> impl Iterator<Item = u32> + use<> {
        let pitch = (self.pitch * eye.zoom).max(1e-6);
        let (left, top) = (
            eye.x - self.origin.0 * eye.zoom,
            eye.y - self.origin.1 * eye.zoom,
        );
        let first = |edge: f64| (edge / pitch).floor().max(0.0) as u32;
        let (c0, r0) = (first(left), first(top));
        let (c1, r1) = (first(left + self.width), first(top + self.height));
        let (columns, domains, rows) = (self.columns, self.domains, self.rows);
        (r0..=r1.min(rows.saturating_sub(1)))
            .flat_map(move |row| {
                (c0..=c1.min(columns.saturating_sub(1))).map(move |column| row * columns + column)
            })
            .filter(move |domain| *domain < domains)
    }

    /// The domain at a point of the window.
    pub fn at(&self, eye: &Eye, x: f64, y: f64) -> Option<u32> {
        let pitch = (self.pitch * eye.zoom).max(1e-6);
        let column = (x + eye.x - self.origin.0 * eye.zoom) / pitch;
        let row = (y + eye.y - self.origin.1 * eye.zoom) / pitch;
        if column < 0.0 || row < 0.0 || column >= f64::from(self.columns) {
            return None;
        }
        let domain = row as u32 * self.columns + column as u32;
        (domain < self.domains).then_some(domain)
    }
}

/// Where the eye is: window = page x zoom - (x, y).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// 1: the whole fleet.
    pub zoom: f64,
    /// Page px left of the window.
    pub x: f64,
    /// Page px above the window.
    pub y: f64,
}

impl Default for Eye {
    fn default() -> Self {
        Self {
            zoom: 1.0,
            x: 0.0,
            y: 0.0,
        }
    }
}

impl Eye {
    /// Zooms by a factor; what is under the point stays there.
    pub fn zoom_at(&mut self, grid: &Grid, factor: f64, x: f64, y: f64) {
        let most = (CLOSEST / grid.pitch.max(1e-6)).max(1.0);
        let zoom = (self.zoom * factor).clamp(1.0, most);
        let scale = zoom / self.zoom;
        self.x = (self.x + x) * scale - x;
        self.y = (self.y + y) * scale - y;
        self.zoom = zoom;
        self.keep_inside(grid);
    }

    /// Moves by window px.
    pub fn pan(&mut self, grid: &Grid, dx: f64, dy: f64) {
        self.x -= dx;
        self.y -= dy;
        self.keep_inside(grid);
    }

    /// Brings one domain to the middle, so large that its GPUs are tiles.
    pub fn open(&mut self, grid: &Grid, domain: u32) {
        let wanted = (grid.height.min(grid.width) * 0.9).clamp(grid.pitch, CLOSEST);
        self.zoom = wanted / grid.pitch.max(1e-6);
        (self.x, self.y) = (0.0, 0.0);
        let square = grid.square(self, domain);
        self.x = square.x + square.w / 2.0 - grid.width / 2.0;
        self.y = square.y + square.h / 2.0 - grid.height / 2.0;
        self.keep_inside(grid);
    }

    /// How far the window can move, px: nowhere along a side that the fleet fits into.
    fn room(&self, grid: &Grid) -> (f64, f64) {
        let pitch = grid.pitch * self.zoom;
        let wide = grid.origin.0 * 2.0 * self.zoom + f64::from(grid.columns) * pitch;
        let high = grid.origin.1 * 2.0 * self.zoom + f64::from(grid.rows) * pitch;
        ((wide - grid.width).max(0.0), (high - grid.height).max(0.0))
    }

    fn keep_inside(&mut self, grid: &Grid) {
        let (wide, high) = self.room(grid);
        self.x = self.x.clamp(0.0, wide);
        self.y = self.y.clamp(0.0, high);
    }
}

/// GPUs of one domain as tiles: four a row in a rack of trays, switch trays after ten of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// GPUs.
    pub gpus: u32,
    /// Tiles per row.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// Row before which the switch trays sit, if the domain is a rack.
    pub switch: Option<u32>,
}

impl Tiles {
    /// Of a domain.
    pub fn of(domain_size: u32) -> Self {
        let columns = if domain_size <= 2 {
            domain_size.max(1)
        } else {
            4
        };
        // Racks wider than they are high stay readable: 144 and more GPUs take eight a row.
        let columns = if domain_size >= 144 { 8 } else { columns };
        let rows = domain_size.div_ceil(columns).max(1);
        let switch = (domain_size >= 36).then_some((rows * 10).div_ceil(18).min(rows));
        Self {
            gpus: domain_size,
            columns,
            rows,
            switch,
        }
    }

    fn step(&self, square: &Rect) -> (f64, f64) {
        let rows = f64::from(self.rows) + if self.switch.is_some() { 1.2 } else { 0.0 };
        (square.w / f64::from(self.columns), square.h / rows)
    }

    /// Whether tiles of a square this large are drawn by themselves.
    pub fn drawn(&self, square: &Rect) -> bool {
        let (w, h) = self.step(square);
        h >= LEAST_TILE && w >= LEAST_TILE
    }

    /// The tile of a GPU, gap to the next one left out.
    pub fn tile(&self, square: &Rect, gpu: u32) -> Rect {
        let (w, h) = self.step(square);
        let (column, row) = (gpu % self.columns, gpu / self.columns);
        let past = self.switch.is_some_and(|switch| row >= switch);
        let gap = if h > 6.0 { 1.5 } else { 0.6 };
        Rect {
            x: square.x + f64::from(column) * w,
            y: square.y + f64::from(row) * h + if past { 1.2 * h } else { 0.0 },
            w: (w - gap).max(0.5),
            h: (h - gap).max(0.5),
        }
    }

    /// The GPU at a point of the window.
    pub fn at(&self, square: &Rect, x: f64, y: f64) -> Option<u32> {
        let (w, h) = self.step(square);
        let (column, mut row) = ((x - square.x) / w, (y - square.y) / h);
        if column < 0.0 || row < 0.0 || column >= f64::from(self.columns) {
            return None;
        }
        if let Some(switch) = self.switch.map(f64::from)
            && row >= switch
        {
            row -= 1.2;
            if row < switch {
                return None;
            }
        }
        let gpu = row as u32 * self.columns + column as u32;
        (gpu < self.gpus).then_some(gpu)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_mocks_fleet_comes_out_as_in_the_mock() {
        let grid = Grid::fit(455, 846.0, 318.0);
        assert_eq!((grid.columns, grid.rows), (35, 13));
        assert!((grid.pitch - 24.0).abs() < 0.2, "{}", grid.pitch);
    }

    #[test]
    fn a_rack_has_eighteen_rows_and_switches_after_ten() {
        let tiles = Tiles::of(72);
        assert_eq!((tiles.columns, tiles.rows, tiles.switch), (4, 18, Some(10)));
        assert_eq!(
            Tiles::of(8),
            Tiles {
                gpus: 8,
                columns: 4,
                rows: 2,
                switch: None
            }
        );
        let square = Rect {
            x: 0.0,
            y: 0.0,
            w: 80.0,
            h: 192.0,
        };
        assert_eq!(tiles.at(&square, 79.0, 1.0), Some(3));
        assert_eq!(tiles.at(&square, 1.0, 105.0), None);
        assert_eq!(tiles.at(&square, 1.0, 115.0), Some(40));
    }

    proptest! {
        #[test]
        fn every_square_is_inside_and_found_again(domains in 1u32..20_000, width in 200.0..2000.0f64, height in 100.0..1200.0f64, pick in 0.0..1.0f64) {
            let (grid, eye) = (Grid::fit(domains, width, height), Eye::default());
            let domain = (f64::from(domains - 1) * pick) as u32;
            let square = grid.square(&eye, domain);
            prop_assert!(square.x >= -1e-6 && square.x + square.w <= width + 1e-6);
            prop_assert!(square.y >= -1e-6 && square.y + square.h <= height + 1e-6, "{grid:?}");
            prop_assert_eq!(grid.at(&eye, square.x + square.w / 2.0, square.y + square.h / 2.0), Some(domain));
            prop_assert_eq!(grid.visible(&eye).count(), domains as usize);
        }

        #[test]
        fn zooming_keeps_what_is_under_the_pointer(domains in 50u32..5000, x in 100.0..700.0f64, y in 60.0..300.0f64, factor in 1.1..6.0f64) {
            let grid = Grid::fit(domains, 845.0, 404.0);
            let mut eye = Eye::default();
            if let Some(domain) = grid.at(&eye, x, y) {
                eye.zoom_at(&grid, factor, x, y);
                // Kept exactly, but where the window would leave the fleet: there it stops at the fleet's end.
                let wanted = (x * (eye.zoom - 1.0), y * (eye.zoom - 1.0));
                let room = eye.room(&grid);
                prop_assert!((eye.x - wanted.0.min(room.0)).abs() < 1e-9 && (eye.y - wanted.1.min(room.1)).abs() < 1e-9);
                if wanted.0 <= room.0 && wanted.1 <= room.1 {
                    prop_assert_eq!(grid.at(&eye, x, y), Some(domain));
                }
                eye.open(&grid, domain);
                let square = grid.square(&eye, domain);
                prop_assert!(square.x + square.w > 0.0 && square.x < grid.width);
                prop_assert!(grid.visible(&eye).any(|seen| seen == domain));
            }
        }

        #[test]
        fn every_tile_is_found_again(size in 1u32..600, gpu in 0u32..600) {
            let tiles = Tiles::of(size);
            let square = Rect { x: 5.0, y: 7.0, w: 400.0, h: 400.0 };
            if gpu < size {
                let tile = tiles.tile(&square, gpu);
                prop_assert!(tile.y + tile.h <= square.y + square.h + 1e-6);
                prop_assert_eq!(tiles.at(&square, tile.x + tile.w / 2.0, tile.y + tile.h / 2.0), Some(gpu));
            }
        }
    }
}
