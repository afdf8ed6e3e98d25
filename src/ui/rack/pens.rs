//! Pens for the marks of tiles. Everything is drawn in device pixels, with edges where the browser would round them to.

mod shapes;

use crate::core::order;
use crate::core::strategy::GpuView;
use crate::scene::rack::face::{Edge, Faces, Ink, Letters, Mark, Place, Sign};
use crate::scene::rack::tile::Sizes;
use crate::scene::rect::Rect;
use crate::ui::dom;
use shapes::{cuts, middle, rounded, slanted, stroke};
use std::f64::consts::TAU;
use web_sys::{CanvasRenderingContext2d, Path2d};

/// The turning arrow in a box of 10 x 10.
const TURN: &str = "M8.4 5.2A3.5 3.5 0 1 1 7 2.2M7.4.4v2.4H5";
/// Thickness of the strokes of a cross.
const CROSS: f64 = 2.0;
/// Thickness of a chevron's strokes, width of one half and of both, height, and room before the text at scale 1.
const CHEVRON: (f64, (f64, f64), f64, f64) = (1.2, (2.9, 5.6), 4.0, 6.5);
/// Pause bars: width of one, width of both, height, room before the text.
const PAUSE: (f64, f64, f64, f64) = (2.0, 6.0, 6.3, 10.0);
/// How faint rules are, and lines of idle tiles.
const FAINT: (f64, f64) = (0.22, 0.55);

/// One kind of letters, device px.
struct Font {
    css: String,
    up: f64,
    down: f64,
    /// Widths of the texts that stand beside a sign: a handful.
    widths: Vec<(String, f64)>,
}

/// Colours and letters of one theme at one scale.
pub struct Pens {
    /// Device px per CSS px.
    pub ratio: f64,
    tokens: dom::Tokens,
    /// Those used so far: a dozen.
    inks: Vec<(Ink, String)>,
    family: String,
    sizes: Sizes,
    /// In the order of [`Letters`].
    fonts: [Option<Font>; 4],
    turn: Option<Path2d>,
}

/// A text that waits until the shapes are drawn.
struct Waiting {
    letters: Letters,
    ink: Ink,
    text: String,
    place: Place,
    sign: Option<Sign>,
    tile: Rect,
}

impl Pens {
    /// As the style sheet and the window say now.
    pub fn new(sizes: Sizes) -> Self {
        let tokens = dom::Tokens::read();
        Self {
            ratio: dom::ratio(),
            family: tokens.get("--sans"),
            tokens,
            inks: Vec::new(),
            sizes,
            fonts: [const { None }; 4],
            turn: Path2d::new_with_path_string(TURN).ok(),
        }
    }

    /// Device pixels of all tiles together.
    pub fn size(&self, faces: &Faces) -> (f64, f64) {
        let (wide, high) = faces.grid.size();
        (self.device(wide).max(1.0), self.device(high).max(1.0))
    }

    /// Covers a whole canvas with the ground of the cabinet.
    pub fn clear(&mut self, pen: &CanvasRenderingContext2d, wide: f64, high: f64) {
        self.ink(pen, "--panel");
        pen.fill_rect(0.0, 0.0, wide, high);
    }

    fn device(&self, length: f64) -> f64 {
        (length * self.ratio).round()
    }

    /// A rectangle with its edges on device pixels.
    fn snapped(&self, rect: &Rect) -> Rect {
        let (x, y) = (self.device(rect.x), self.device(rect.y));
        Rect::new(
            x,
            y,
            self.device(rect.right()) - x,
            self.device(rect.bottom()) - y,
        )
    }

    fn colour(&mut self, ink: Ink) -> &str {
        let place = self.inks.iter().position(|(of, _)| *of == ink);
        let place = place.unwrap_or_else(|| {
            self.inks.push((ink, self.tokens.get(ink)));
            self.inks.len() - 1
        });
        self.inks.get(place).map_or("", |(_, colour)| colour)
    }

    fn ink(&mut self, pen: &CanvasRenderingContext2d, ink: Ink) {
        pen.set_fill_style_str(self.colour(ink));
    }

    /// As [`Pens::ink`], for strokes.
    fn line(&mut self, pen: &CanvasRenderingContext2d, ink: Ink) {
        pen.set_stroke_style_str(self.colour(ink));
    }

    /// Draws tiles anew: shapes first, then texts by their letters, so that a font is set once and not for every tile.
    pub fn draw(
        &mut self,
        pen: &CanvasRenderingContext2d,
        faces: &Faces,
        tiles: &mut dyn Iterator<Item = (u32, GpuView)>,
    ) {
        let mut texts = Vec::new();
        let mut clear = Vec::new();
        for (index, gpu) in tiles {
            let rect = faces.grid.rect(index);
            clear.push((rect, faces.marks(index, &gpu)));
        }
        self.ink(pen, "--panel");
        for (tile, _) in &clear {
            let tile = self.snapped(tile);
            pen.fill_rect(tile.x, tile.y, tile.w, tile.h);
        }
        for (tile, marks) in clear {
            for mark in marks {
                match mark {
                    Mark::Text {
                        text,
                        letters,
                        place,
                        ink,
                        sign,
                    } if !text.is_empty() => texts.push(Waiting {
                        letters,
                        ink,
                        text,
                        place,
                        sign,
                        tile,
                    }),
                    mark => self.shape(pen, &tile, &mark),
                }
            }
        }
        order::sort_by_key(&mut texts, |text| (text.letters, text.ink));
        // Measured beforehand: that sets the font.
        for text in &texts {
            self.font(pen, text.letters);
        }
        self.font(pen, Letters::Rank);
        let mut set = None;
        for text in &texts {
            if set != Some((text.letters, text.ink)) {
                set = Some((text.letters, text.ink));
                self.ink(pen, text.ink);
                let font = self.font(pen, text.letters);
                pen.set_font(&font.css);
            }
            self.text(pen, text);
        }
    }

    fn shape(&mut self, pen: &CanvasRenderingContext2d, tile: &Rect, mark: &Mark) {
        let ratio = self.ratio;
        let all = self.snapped(tile);
        match mark {
            Mark::Ground(ink) => {
                self.ink(pen, ink);
                rounded(pen, &all, self.sizes.radius * ratio);
                pen.fill();
            }
            Mark::Stripes(ink, from, to) => {
                self.ink(pen, ink);
                pen.save();
                rounded(pen, &all, self.sizes.radius * ratio);
                pen.clip();
                // Two colours of a pattern are drawn full, a line of one is faint.
                let (period, part) = if *from == 0.0 {
                    (to * 2.0, 1.0)
                } else {
                    (*to, FAINT.1)
                };
                pen.set_global_alpha(part);
                slanted(pen, &all, (period, *from, *to), ratio);
                pen.restore();
            }
            Mark::Rules(ink) => {
                self.ink(pen, ink);
                pen.set_global_alpha(FAINT.0);
                let mut y = all.bottom() - 4.0 * ratio;
                while y > all.y - ratio {
                    let top = y.round();
                    let high = (y + ratio).round() - top;
                    pen.fill_rect(all.x, top, all.w, high);
                    y -= 4.0 * ratio;
                }
                pen.set_global_alpha(1.0);
            }
            Mark::Block(rect, ink) => {
                self.ink(pen, ink);
                let block = self.within(tile, rect);
                pen.fill_rect(block.x, block.y, block.w, block.h);
            }
            Mark::Start(wide, ink) => {
                self.ink(pen, ink);
                pen.save();
                rounded(pen, &all, self.sizes.radius * ratio);
                pen.clip();
                pen.fill_rect(all.x, all.y, self.device(*wide), all.h);
                pen.restore();
            }
            Mark::Slanted(rect, ink) => {
                self.ink(pen, ink);
                let bar = self.within(tile, rect);
                pen.fill_rect(bar.x, bar.y, bar.w, bar.h);
                self.ink(pen, "--panel");
                cuts(pen, &bar, ratio);
            }
            Mark::Edge(edge, wide, ink) => {
                self.line(pen, ink);
                let wide = (wide * ratio).floor().max(1.0);
                self.edge(pen, &all, *edge, wide);
            }
            Mark::Cross(size, ink) => {
                self.ink(pen, ink);
                let (size, (x, y)) = (size * ratio, middle(&all));
                let place = Rect::new(x - size / 2.0, y - size / 2.0, size, size);
                stroke(pen, &place, CROSS * ratio, false);
                stroke(pen, &place, CROSS * ratio, true);
            }
            Mark::Turn(size, ink) => {
                self.line(pen, ink);
                self.arrow(pen, &all, size / 10.0 * ratio);
            }
            Mark::Ring(ink) => {
                self.ink(pen, ink);
                let (x, y) = middle(&all);
                pen.begin_path();
                let _ = pen.arc(x, y, 3.8 * ratio, 0.0, TAU);
                let _ = pen.arc_with_anticlockwise(x, y, 2.3 * ratio, 0.0, TAU, true);
                pen.fill();
            }
            Mark::Pause(ink) => {
                self.ink(pen, ink);
                let (x, y) = middle(&all);
                self.bars(pen, x - PAUSE.1 / 2.0 * ratio, y);
            }
            Mark::Text { .. } => {}
        }
    }

    /// A part of a tile, on device pixels.
    fn within(&self, tile: &Rect, part: &Rect) -> Rect {
        self.snapped(&Rect::new(tile.x + part.x, tile.y + part.y, part.w, part.h))
    }

    /// An edge inside the tile's border, stroked along its middle.
    fn edge(&mut self, pen: &CanvasRenderingContext2d, tile: &Rect, edge: Edge, wide: f64) {
        let half = wide / 2.0;
        let path = Rect::new(tile.x + half, tile.y + half, tile.w - wide, tile.h - wide);
        let dashes = js_sys::Array::new();
        let (dash, gap) = match edge {
            Edge::Solid => (0.0, 0.0),
            // As browsers do: thick dashes are shorter.
            Edge::Dashed if wide >= 3.0 => (2.0 * wide, wide),
            Edge::Dashed => (3.0 * wide, 2.0 * wide),
            Edge::Dotted => (wide, wide),
        };
        if dash > 0.0 {
            // A whole number of them around the tile.
            let length = 2.0 * (path.w + path.h);
            let count = (length / (dash + gap)).round().max(1.0);
            dashes.push(&dash.into());
            dashes.push(&(length / count - dash).max(0.5).into());
        }
        // Fails for no list of numbers.
        let _ = pen.set_line_dash(&dashes);
        pen.set_line_width(wide);
        rounded(pen, &path, (self.sizes.radius * self.ratio - half).max(0.0));
        pen.stroke();
        let _ = pen.set_line_dash(&js_sys::Array::new());
    }

    /// The turning arrow in the middle of a tile.
    fn arrow(&self, pen: &CanvasRenderingContext2d, tile: &Rect, scale: f64) {
        let Some(path) = &self.turn else { return };
        let (x, y) = middle(tile);
        pen.save();
        // Moving and scaling by finite numbers cannot fail.
        let _ = pen.translate(x - 5.0 * scale, y - 5.0 * scale);
        let _ = pen.scale(scale, scale);
        pen.set_line_width(1.8);
        pen.stroke_with_path(path);
        pen.restore();
    }

    /// Pause bars from a left edge, around a height.
    fn bars(&self, pen: &CanvasRenderingContext2d, x: f64, y: f64) {
        let (bar, both, high, _) = PAUSE;
        let (top, high) = (
            (y - high / 2.0 * self.ratio).round(),
            (high * self.ratio).round(),
        );
        for left in [0.0, both - bar] {
            let left = (x + left * self.ratio).round();
            pen.fill_rect(left, top, (bar * self.ratio).round(), high);
        }
    }

    fn font(&mut self, pen: &CanvasRenderingContext2d, letters: Letters) -> &mut Font {
        let [rank, word, clock, fast] = &mut self.fonts;
        let (font, weight, size) = match letters {
            Letters::Rank => (rank, 700, self.sizes.rank),
            Letters::Word => (word, 400, self.sizes.rank),
            Letters::Clock => (clock, 400, self.sizes.clock),
            Letters::Fast => (fast, 700, self.sizes.clock),
        };
        let (family, ratio) = (&self.family, self.ratio);
        font.get_or_insert_with(|| {
            let css = format!("{weight} {}px {family}", size * ratio);
            pen.set_font(&css);
            // A line of text is as high as its font's, in whole pixels.
            let (up, down) = pen.measure_text("0").map_or((size * ratio, 0.0), |box_| {
                (
                    box_.font_bounding_box_ascent().round(),
                    box_.font_bounding_box_descent().round(),
                )
            });
            Font {
                css,
                up,
                down,
                widths: Vec::new(),
            }
        })
    }

    /// From the top of a line to where its letters stand.
    fn drop(&mut self, pen: &CanvasRenderingContext2d, letters: Letters) -> f64 {
        let line = self.sizes.line * self.ratio;
        let font = self.font(pen, letters);
        // Browsers floor the half of what a line is higher than its letters.
        ((line - font.up - font.down) / 2.0).floor() + font.up
    }

    /// Draws a text; font and colour are set.
    fn text(&mut self, pen: &CanvasRenderingContext2d, waiting: &Waiting) {
        let ratio = self.ratio;
        let (x, y) = (waiting.tile.x * ratio, waiting.tile.y * ratio);
        let line = self.sizes.line * ratio;
        // Rank and clock stand on one line, which is the rank's.
        let base = y + self.sizes.pad.0 * ratio + self.drop(pen, Letters::Rank);
        let Waiting {
            letters,
            text,
            sign,
            ..
        } = waiting;
        let left = match waiting.place {
            Place::Left(left) => x + left * ratio,
            Place::Right(right) => x + right * ratio - self.width(pen, *letters, text),
            Place::Middle => {
                let room = sign.map_or(0.0, |_| PAUSE.3) * ratio;
                let wide = self.width(pen, *letters, text) + room;
                let left = x + (waiting.tile.w * ratio - wide) / 2.0;
                let middle = y + self.sizes.tall * ratio / 2.0;
                let base = middle - line / 2.0 + self.drop(pen, *letters);
                if sign.is_some() {
                    self.bars(pen, left, middle);
                }
                let _ = pen.fill_text(text, left + room, base);
                return;
            }
        };
        let _ = pen.fill_text(text, left, base);
        if let Some(sign) = sign {
            let scale = self.sizes.sign * ratio;
            let (thick, (half, wide), high, room) = CHEVRON;
            let top = base - self.drop(pen, *letters) + (line - high * scale) / 2.0;
            // Two halves that overlap a little at the tip.
            for (at, rising) in [(0.0, *sign == Sign::Up), (wide - half, *sign == Sign::Down)] {
                let place = Rect::new(left + (at - room) * scale, top, half * scale, high * scale);
                stroke(pen, &place, thick * ratio, rising);
            }
        }
    }

    fn width(&mut self, pen: &CanvasRenderingContext2d, letters: Letters, text: &str) -> f64 {
        let font = self.font(pen, letters);
        if let Some((_, width)) = font.widths.iter().find(|(of, _)| of == text) {
            return *width;
        }
        let width = pen.measure_text(text).map_or(0.0, |text| text.width());
        font.widths.push((text.to_owned(), width));
        width
    }
}
