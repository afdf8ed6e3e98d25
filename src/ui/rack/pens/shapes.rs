//! Shapes of tiles, in device pixels; `ratio` is device px per CSS px.

use crate::scene::rect::Rect;
use std::f64::consts::SQRT_2;
use web_sys::CanvasRenderingContext2d;

/// The middle of a rectangle.
pub fn middle(rect: &Rect) -> (f64, f64) {
    (rect.x + rect.w / 2.0, rect.y + rect.h / 2.0)
}

/// The path of a rectangle with round corners.
pub fn rounded(pen: &CanvasRenderingContext2d, rect: &Rect, radius: f64) {
    pen.begin_path();
    // Fails only for a negative radius.
    let _ = pen.round_rect_with_f64(rect.x, rect.y, rect.w, rect.h, radius);
}

/// Bands at 45 degrees from the top left corner on, in CSS px across them: of every period, from one width to another.
pub fn slanted(
    pen: &CanvasRenderingContext2d,
    tile: &Rect,
    (period, from, to): (f64, f64, f64),
    ratio: f64,
) {
    let step = SQRT_2 * ratio;
    let far = tile.w + tile.h;
    let mut start = 0.0;
    pen.begin_path();
    while start * step < far {
        let (a, b) = (tile.x + (start + from) * step, tile.x + (start + to) * step);
        pen.move_to(a, tile.y);
        pen.line_to(b, tile.y);
        pen.line_to(b - tile.h, tile.bottom());
        pen.line_to(a - tile.h, tile.bottom());
        pen.close_path();
        start += period;
    }
    pen.fill();
}

/// Cuts of 1.5 px after every 2.5 px of a bar, slanted by 115 degrees.
pub fn cuts(pen: &CanvasRenderingContext2d, bar: &Rect, ratio: f64) {
    let (sin, cos) = (115.0_f64.to_radians().sin(), -115.0_f64.to_radians().cos());
    let back = bar.h * cos / sin;
    let mut start = 2.5 * ratio;
    pen.begin_path();
    while start / sin < bar.w {
        let (a, b) = (
            bar.x + start / sin,
            (bar.x + (start + 1.5 * ratio) / sin).min(bar.right()),
        );
        pen.move_to(a, bar.y);
        pen.line_to(b, bar.y);
        pen.line_to(b - back, bar.bottom());
        pen.line_to(a - back, bar.bottom());
        pen.close_path();
        start += 4.0 * ratio;
    }
    pen.fill();
}

/// Two strokes from corner to corner of a box in the middle of a tile, cut off at the box; `part` of each side they take.
pub fn cross(pen: &CanvasRenderingContext2d, tile: &Rect, size: f64, part: f64) {
    let (x, y) = middle(tile);
    let half = size / 2.0;
    pen.begin_path();
    for turn in [1.0, -1.0] {
        let at = |dx: f64, dy: f64| (x + dx * turn, y + dy);
        let corners = [
            at(-half, -half),
            at(part - half, -half),
            at(half, half - part),
            at(half, half),
            at(half - part, half),
            at(-half, part - half),
        ];
        for (index, (x, y)) in corners.into_iter().enumerate() {
            if index == 0 {
                pen.move_to(x, y);
            } else {
                pen.line_to(x, y);
            }
        }
        pen.close_path();
    }
    pen.fill();
}
