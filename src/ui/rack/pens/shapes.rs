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

/// A stroke from corner to corner of a box, cut off at the box: rising to the right or falling. `across` is how thick it is.
pub fn stroke(pen: &CanvasRenderingContext2d, box_: &Rect, across: f64, rising: bool) {
    let half = across / 2.0 * box_.w.hypot(box_.h);
    let (dx, dy) = (half / box_.h, half / box_.w);
    let (top, foot) = if rising {
        (box_.bottom(), box_.y)
    } else {
        (box_.y, box_.bottom())
    };
    let dy = if rising { -dy } else { dy };
    pen.begin_path();
    pen.move_to(box_.x, top);
    pen.line_to(box_.x + dx, top);
    pen.line_to(box_.right(), foot - dy);
    pen.line_to(box_.right(), foot);
    pen.line_to(box_.right() - dx, foot);
    pen.line_to(box_.x, top + dy);
    pen.fill();
}
