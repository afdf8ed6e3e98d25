//! The map on its canvas: squares of domains, or their GPUs where the eye is near enough.

use crate::core::fleet::CellState;
use crate::core::fleet::recording::{Film, Look};
use crate::core::strategy::GpuState;
use crate::scene::fleet::grid::{Eye, Grid, Rect, Tiles};
use crate::ui::dom;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// Racks that look the same from which on one is drawn and copied.
const ALIKE: usize = 3;
/// Edge of a rack left of and above its square, px.
const EDGE: f64 = 2.0;

/// Side from which a square has an edge and its failed GPUs crosses, px.
const EDGED: f64 = 9.0;

/// Font of numbers on GPUs.
pub const FONT: &str = dom::sans!("10.5px");

/// Colours of the theme, read from the style sheet.
pub struct Inks {
    /// Ground of the map.
    pub panel: String,
    sunk: String,
    line2: String,
    ink2: String,
    ink3: String,
    /// Tints and edges of healthy, reduced, boosted, healed, idle, paused, spare, down squares.
    tints: [String; 8],
    edges: [String; 8],
    /// Of GPUs, by state.
    gpus: [String; 9],
    failed: String,
    failed_ink: String,
    boosted: String,
    spare: String,
    parity: String,
}

impl Inks {
    /// Of the theme in use.
    pub fn read() -> Self {
        let tokens = dom::Tokens::read();
        let token = |name: &str| tokens.get(name);
        let [healthy, boosted, parity, spare, failed] = [
            "--st-healthy-bg",
            "--st-boosted-bg",
            "--st-parity-bg",
            "--st-spare-bg",
            "--st-failed",
        ]
        .map(token);
        let (line2, sunk, panel) = (token("--line2"), token("--sunk"), token("--panel"));
        let (ink3, reshard) = (token("--ink3"), token("--k-pre"));
        let (boosted_edge, spare_edge) = (token("--st-boosted"), token("--st-spare"));
        Self {
            tints: [
                healthy.clone(),
                healthy.clone(),
                boosted.clone(),
                spare.clone(),
                sunk.clone(),
                sunk.clone(),
                panel.clone(),
                failed.clone(),
            ],
            edges: [
                line2.clone(),
                reshard,
                boosted_edge.clone(),
                spare_edge.clone(),
                ink3.clone(),
                line2.clone(),
                spare_edge.clone(),
                failed.clone(),
            ],
            gpus: [
                healthy,
                failed.clone(),
                token("--st-restart-bg"),
                token("--st-slow-bg"),
                boosted,
                parity,
                sunk.clone(),
                spare,
                panel.clone(),
            ],
            panel,
            sunk,
            line2,
            ink2: token("--ink2"),
            ink3,
            failed,
            failed_ink: token("--st-failed-ink"),
            boosted: boosted_edge,
            spare: spare_edge,
            parity: token("--st-parity"),
        }
    }
}

/// Sets a style only when it is another one: the call is the dear part.
struct Brush<'a> {
    pen: &'a CanvasRenderingContext2d,
    fill: *const String,
    stroke: *const String,
}

impl<'a> Brush<'a> {
    fn new(pen: &'a CanvasRenderingContext2d) -> Self {
        Self {
            pen,
            fill: std::ptr::null(),
            stroke: std::ptr::null(),
        }
    }
    fn fill(&mut self, style: &String, r: &Rect) {
        if !std::ptr::eq(self.fill, style) {
            self.fill = style;
            self.pen.set_fill_style_str(style);
        }
        self.pen.fill_rect(r.x, r.y, r.w, r.h);
    }
    fn line(&mut self, style: &String, width: f64, points: &[(f64, f64)]) {
        if !std::ptr::eq(self.stroke, style) {
            self.stroke = style;
            self.pen.set_stroke_style_str(style);
        }
        self.pen.set_line_width(width);
        self.pen.begin_path();
        for pair in points.chunks(2) {
            if let [from, to] = pair {
                self.pen.move_to(from.0, from.1);
                self.pen.line_to(to.0, to.1);
            }
        }
        self.pen.stroke();
    }
    fn ring(&mut self, style: &String, width: f64, x: f64, y: f64, radius: f64) {
        if !std::ptr::eq(self.stroke, style) {
            self.stroke = style;
            self.pen.set_stroke_style_str(style);
        }
        self.pen.set_line_width(width);
        self.pen.begin_path();
        // Fails only for a negative radius.
        let _ = self
            .pen
            .arc(x, y, radius.max(0.0), 0.0, std::f64::consts::TAU);
        self.pen.stroke();
    }
    fn cross(&mut self, style: &String, x: f64, y: f64, half: f64) {
        let ends = [
            (x - half, y - half),
            (x + half, y + half),
            (x + half, y - half),
            (x - half, y + half),
        ];
        self.line(style, (half * 0.55).clamp(1.0, 2.4), &ends);
    }
}

/// A rack drawn aside, to be copied to where others look the same.
#[derive(Default)]
pub struct Stamp {
    made: Option<(HtmlCanvasElement, CanvasRenderingContext2d)>,
}

impl Stamp {
    /// A cleared canvas of at least this many device pixels.
    fn clear(
        &mut self,
        wide: u32,
        high: u32,
        ratio: f64,
    ) -> Option<&(HtmlCanvasElement, CanvasRenderingContext2d)> {
        if self.made.is_none() {
            let canvas = dom::document()?.create_element("canvas").ok()?;
            let canvas: HtmlCanvasElement = canvas.dyn_into().ok()?;
            let pen = dom::pen(&canvas, true)?;
            self.made = Some((canvas, pen));
        }
        let (canvas, pen) = self.made.as_ref()?;
        if canvas.width() < wide || canvas.height() < high {
            canvas.set_width(wide);
            canvas.set_height(high);
            pen.set_font(FONT);
        }
        pen.reset_transform().ok()?;
        pen.clear_rect(0.0, 0.0, f64::from(wide), f64::from(high));
        pen.scale(ratio, ratio).ok()?;
        self.made.as_ref()
    }
}

/// What is drawn: the grid, the eye, and how every domain looks.
pub struct Scene<'a> {
    /// Squares.
    pub grid: &'a Grid,
    /// Where the eye is.
    pub eye: &'a Eye,
    /// Tiles of one domain.
    pub tiles: &'a Tiles,
    /// Looks.
    pub film: &'a Film,
    /// Index of the look, by domain.
    pub looks: &'a [u32],
    /// Colours.
    pub inks: &'a Inks,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
}

impl Scene<'_> {
    fn look(&self, domain: u32) -> Option<&Look> {
        let id = self.looks.get(domain as usize)?;
        self.film.looks.get(*id as usize)
    }

    /// Draws domains anew, over whatever was there.
    pub fn paint(
        &self,
        pen: &CanvasRenderingContext2d,
        domains: impl Iterator<Item = u32>,
        fresh: bool,
        stamp: &mut Stamp,
    ) {
        let mut brush = Brush::new(pen);
        let mut all: Vec<(Rect, &Look)> = domains
            .filter_map(|domain| Some((self.grid.square(self.eye, domain), self.look(domain)?)))
            .collect();
        let near = all
            .first()
            .is_some_and(|(square, _)| self.tiles.drawn(square));
        if !fresh {
            // Racks go to whole pixels below, and what an edge has of the next pixel must go too; squares stand closer.
            let room = if near { 2.0 } else { 1.0 };
            for (square, _) in &all {
                let room = Rect {
                    x: square.x - room,
                    y: square.y - room,
                    w: square.w + 2.0 * room,
                    h: square.h + 2.0 * room,
                };
                brush.fill(&self.inks.panel, &room);
            }
        }
        if near {
            // On whole device pixels, so that a copy is as sharp as what it is copied from.
            let whole = |at: f64| ((at - EDGE) * self.ratio).round() / self.ratio + EDGE;
            for (square, _) in &mut all {
                (square.x, square.y) = (whole(square.x), whole(square.y));
            }
            let common = self.stamped(pen, &all, stamp);
            for (square, look) in &all {
                if !common.is_some_and(|common| std::ptr::eq(common, *look)) {
                    self.rack(&mut brush, square, look);
                }
            }
            return;
        }
        self.squares(&mut brush, &all);
    }

    /// Draws one of the racks that share the commonest look, and copies it to the others' places; which look that was.
    fn stamped<'b>(
        &self,
        pen: &CanvasRenderingContext2d,
        all: &[(Rect, &'b Look)],
        stamp: &mut Stamp,
    ) -> Option<&'b Look> {
        let mut looks: Vec<(&Look, usize)> = Vec::new();
        for (_, look) in all {
            match looks
                .iter_mut()
                .find(|(seen, _)| std::ptr::eq(*seen, *look))
            {
                Some((_, count)) => *count += 1,
                None => looks.push((look, 1)),
            }
        }
        let (common, count) = looks.into_iter().max_by_key(|(_, count)| *count)?;
        if count < ALIKE {
            return None;
        }
        let (square, _) = all.first()?;
        // What `rack` covers: the square and its edge.
        let size = |side: f64| ((side + EDGE + 1.0) * self.ratio).ceil();
        let (wide, high) = (size(square.w), size(square.h));
        let (canvas, own) = stamp.clear(wide as u32, high as u32, self.ratio)?;
        let place = Rect {
            x: EDGE,
            y: EDGE,
            ..*square
        };
        self.rack(&mut Brush::new(own), &place, common);
        for (square, _) in all.iter().filter(|(_, look)| std::ptr::eq(*look, common)) {
            // Fails only for an empty canvas.
            let _ = pen
                .draw_image_with_html_canvas_element_and_sw_and_sh_and_dx_and_dy_and_dw_and_dh(
                    canvas,
                    0.0,
                    0.0,
                    wide,
                    high,
                    square.x - EDGE,
                    square.y - EDGE,
                    wide / self.ratio,
                    high / self.ratio,
                );
        }
        Some(common)
    }

    /// In passes of one kind of ink each, so that the colour seldom changes.
    fn squares(&self, brush: &mut Brush<'_>, all: &[(Rect, &Look)]) {
        let inks = self.inks;
        let edged = all.first().is_some_and(|(square, _)| square.w >= EDGED);
        for (square, look) in all {
            let style = inks.edges.get(look.state as usize).unwrap_or(&inks.line2);
            brush.fill(style, square);
        }
        if edged {
            for (square, look) in all {
                let inner = Rect {
                    x: square.x + 1.0,
                    y: square.y + 1.0,
                    w: square.w - 2.0,
                    h: square.h - 2.0,
                };
                if let Some(style) = inks.tints.get(look.state as usize) {
                    brush.fill(style, &inner);
                }
            }
        }
        // A thousand healthy ones at once are one path.
        let mut dashes = Vec::new();
        for (square, look) in all {
            let plain = look.state == CellState::Healthy && look.down == 0;
            if plain && edged && square.w >= 12.0 {
                let middle = square.y + square.h / 2.0 + 0.5;
                dashes.push((square.x + 2.0, middle));
                dashes.push((square.x + square.w - 2.0, middle));
            }
        }
        if !dashes.is_empty() {
            brush.line(&inks.line2, 1.0, &dashes);
        }
        for (square, look) in all {
            self.glyph(brush, square, look, edged);
        }
    }

    fn glyph(&self, brush: &mut Brush<'_>, square: &Rect, look: &Look, edged: bool) {
        let inks = self.inks;
        let (x, y, side) = (square.x, square.y, square.w);
        let (cx, cy) = (x + side / 2.0, y + side / 2.0);
        if edged {
            match look.state {
                CellState::Idle => brush.line(
                    &inks.ink3,
                    1.3,
                    &[
                        (cx - side * 0.1, cy - side * 0.18),
                        (cx - side * 0.1, cy + side * 0.18),
                        (cx + side * 0.1, cy - side * 0.18),
                        (cx + side * 0.1, cy + side * 0.18),
                    ],
                ),
                CellState::Paused => {
                    for step in [-0.2, 0.0, 0.2] {
                        let dot = Rect {
                            x: cx + side * step - 0.8,
                            y: cy - 0.8,
                            w: 1.6,
                            h: 1.6,
                        };
                        brush.fill(&inks.ink3, &dot);
                    }
                }
                CellState::Spare => brush.ring(&inks.spare, 1.2, cx, cy, side * 0.16),
                CellState::Boosted if look.down == 0 => {
                    let (a, b) = (side * 0.16, side * 0.09);
                    let ends = [
                        (cx - a, cy + b),
                        (cx, cy - b),
                        (cx, cy - b),
                        (cx + a, cy + b),
                    ];
                    brush.line(&inks.boosted, 1.4, &ends);
                }
                CellState::Down => brush.cross(&inks.failed_ink, cx, cy, side * 0.2),
                _ => {}
            }
        }
        if look.down == 0 || look.state == CellState::Down {
            return;
        }
        let mut first = 0u32;
        let mut drawn = 0;
        for (state, count) in &look.runs {
            let gpu = first + u32::from(*count) / 2;
            first += u32::from(*count);
            if !matches!(state, GpuState::Failed | GpuState::Restarting) || drawn > 5 {
                continue;
            }
            drawn += 1;
            let tile = self.tiles.tile(square, gpu);
            let half = (side * 0.13).clamp(1.2, 3.4);
            let inside = |value: f64, from: f64| {
                value.clamp(
                    from + half + 1.0,
                    (from + side - half - 1.0).max(from + half + 1.0),
                )
            };
            let (px, py) = (
                inside(tile.x + tile.w / 2.0, x),
                inside(tile.y + tile.h / 2.0, y),
            );
            if edged && *state == GpuState::Failed {
                brush.cross(&inks.failed, px, py, half);
            } else if edged {
                brush.ring(&inks.failed, 1.2, px, py, half);
            } else {
                let dot = Rect {
                    x: px - half,
                    y: py - half,
                    w: half * 2.0,
                    h: half * 2.0,
                };
                brush.fill(&inks.failed, &dot);
            }
        }
    }

    /// One domain with a tile per GPU.
    fn rack(&self, brush: &mut Brush<'_>, square: &Rect, look: &Look) {
        let inks = self.inks;
        let room = Rect {
            x: square.x - EDGE,
            y: square.y - EDGE,
            w: square.w + EDGE + 1.0,
            h: square.h + EDGE + 1.0,
        };
        let edge = inks.edges.get(look.state as usize).unwrap_or(&inks.line2);
        brush.fill(edge, &room);
        let inner = Rect {
            x: room.x + 1.0,
            y: room.y + 1.0,
            w: room.w - 2.0,
            h: room.h - 2.0,
        };
        brush.fill(&inks.panel, &inner);
        if let Some(row) = self.tiles.switch {
            let below = self.tiles.tile(square, row * self.tiles.columns);
            let strip = Rect {
                x: square.x,
                y: below.y - below.h * 1.05,
                w: square.w - 1.0,
                h: below.h * 0.8,
            };
            brush.fill(&inks.sunk, &strip);
        }
        let mut gpu = 0;
        for (state, count) in &look.runs {
            let style = inks.gpus.get(*state as usize).unwrap_or(&inks.sunk);
            for _ in 0..*count {
                brush.fill(style, &self.tiles.tile(square, gpu));
                gpu += 1;
            }
        }
        let tile = self.tiles.tile(square, 0);
        if tile.h >= 5.0 && tile.w >= 5.0 {
            self.tile_glyphs(brush, square, look);
        }
    }

    fn tile_glyphs(&self, brush: &mut Brush<'_>, square: &Rect, look: &Look) {
        let inks = self.inks;
        let words = {
            let tile = self.tiles.tile(square, 0);
            tile.h >= 10.0 && tile.w >= 26.0
        };
        let mut gpu = 0;
        for (state, count) in &look.runs {
            for _ in 0..*count {
                let tile = self.tiles.tile(square, gpu);
                let (cx, cy) = (tile.x + tile.w / 2.0, tile.y + tile.h / 2.0);
                let half = (tile.h.min(tile.w) * 0.26).min(5.0);
                match state {
                    GpuState::Failed => brush.cross(&inks.failed_ink, cx, cy, half),
                    GpuState::Restarting => brush.ring(&inks.failed, 1.4, cx, cy, half),
                    GpuState::Spare => brush.ring(&inks.spare, 1.2, cx, cy, half * 0.8),
                    GpuState::Parity | GpuState::Idle => {
                        let ends = [
                            (cx - half * 0.4, cy - half * 0.7),
                            (cx - half * 0.4, cy + half * 0.7),
                            (cx + half * 0.4, cy - half * 0.7),
                            (cx + half * 0.4, cy + half * 0.7),
                        ];
                        let style = if *state == GpuState::Parity {
                            &inks.parity
                        } else {
                            &inks.ink3
                        };
                        brush.line(style, 1.3, &ends);
                    }
                    GpuState::Boosted => {
                        let right = tile.x + tile.w - half * 1.6;
                        let ends = [
                            (right - half * 0.8, cy + half * 0.4),
                            (right, cy - half * 0.4),
                            (right, cy - half * 0.4),
                            (right + half * 0.8, cy + half * 0.4),
                        ];
                        brush.line(&inks.boosted, 1.4, &ends);
                    }
                    _ => {}
                }
                if words && matches!(state, GpuState::Healthy | GpuState::Boosted) {
                    brush.fill = std::ptr::null();
                    brush.pen.set_fill_style_str(&inks.ink2);
                    // Fails only where text cannot be drawn at all.
                    let _ = brush
                        .pen
                        .fill_text(&gpu.to_string(), tile.x + 4.0, cy + 3.6);
                }
                gpu += 1;
            }
        }
    }
}
