//! The scene's commands on a canvas.

use crate::scene::gantt::{Anchor, Draw, Paint, Palette, Pattern, Rect, head};
use crate::ui::dom;
use std::f64::consts::TAU;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasPattern, CanvasRenderingContext2d, DomMatrix, HtmlCanvasElement, Path2d};

/// Patterns made for one theme and pixel ratio.
#[derive(Default)]
pub struct Brushes {
    dark: bool,
    ratio: f64,
    made: Vec<(Pattern, CanvasPattern)>,
}

impl Brushes {
    /// Makes them anew when theme or ratio changed.
    pub fn prepare(&mut self, palette: &Palette, dark: bool, ratio: f64) {
        if self.ratio == ratio && self.dark == dark && !self.made.is_empty() {
            return;
        }
        (self.dark, self.ratio) = (dark, ratio);
        self.made = Pattern::ALL
            .into_iter()
            .filter_map(|pattern| Some((pattern, tile(pattern, palette, ratio).ok()??)))
            .collect();
    }

    fn get(&self, pattern: Pattern) -> Option<&CanvasPattern> {
        self.made
            .iter()
            .find(|(made, _)| *made == pattern)
            .map(|(_, brush)| brush)
    }
}

/// One tile, in device pixels, so that its lines are as sharp as the screen.
fn tile(pattern: Pattern, palette: &Palette, ratio: f64) -> Result<Option<CanvasPattern>, JsValue> {
    let Some(document) = dom::document() else {
        return Ok(None);
    };
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    let side = (pattern.side() * ratio).round().max(1.0);
    canvas.set_width(side as u32);
    canvas.set_height(side as u32);
    let Some(pen) = canvas.get_context("2d")? else {
        return Ok(None);
    };
    let pen: CanvasRenderingContext2d = pen.dyn_into()?;
    let scale = side / pattern.side();
    pen.scale(scale, scale)?;
    let (colour, opacity) = palette.pattern(pattern);
    pen.set_global_alpha(opacity);
    if pattern == Pattern::Dots {
        pen.set_fill_style_str(colour);
        let (dots, radius) = Pattern::DOTS;
        for (x, y) in dots {
            pen.begin_path();
            pen.arc(x, y, radius, 0.0, TAU)?;
            pen.fill();
        }
    } else {
        let (lines, wide) = pattern.path();
        pen.set_stroke_style_str(colour);
        pen.set_line_width(wide);
        pen.stroke_with_path(&Path2d::new_with_path_string(lines)?);
    }
    let brush = pen.create_pattern_with_html_canvas_element(&canvas, "repeat")?;
    if let Some(brush) = &brush {
        // Tiles are in device pixels, the pen in CSS pixels.
        let matrix = DomMatrix::new()?;
        matrix.set_a(1.0 / scale);
        matrix.set_d(1.0 / scale);
        brush.set_transform(matrix.unchecked_ref());
    }
    Ok(brush)
}

/// Paints all commands.
pub fn paint(
    pen: &CanvasRenderingContext2d,
    draws: &[Draw],
    palette: &Palette,
    brushes: &Brushes,
    sans: &str,
) {
    let mut set = Set::default();
    let mut outside = Vec::new();
    for draw in draws {
        match draw {
            Draw::Clip(_) => outside.push(set),
            // The end of a clip gives back what was set before it.
            Draw::Unclip => set = outside.pop().unwrap_or_default(),
            _ => {}
        }
        // A command that the canvas refuses is left out.
        let _ = one(pen, draw, palette, brushes, sans, &mut set);
    }
    pen.set_global_alpha(1.0);
}

/// What the pen has set for words; nothing known at first. Setting it again would parse it again.
#[derive(Clone, Copy, Default)]
struct Set {
    font: Option<(f64, bool)>,
    anchor: Option<Anchor>,
}

fn fill_style(pen: &CanvasRenderingContext2d, palette: &Palette, paint: Paint) {
    let (colour, opacity) = palette.fill(paint);
    pen.set_fill_style_str(colour);
    pen.set_global_alpha(opacity);
}

fn stroke_style(pen: &CanvasRenderingContext2d, palette: &Palette, paint: Paint, wide: f64) {
    let (colour, opacity) = palette.fill(paint);
    pen.set_stroke_style_str(colour);
    pen.set_global_alpha(opacity);
    pen.set_line_width(wide);
}

fn dashes(pen: &CanvasRenderingContext2d, dash: f64, gap: f64) -> Result<(), JsValue> {
    let list = js_sys::Array::new();
    if dash > 0.0 {
        list.push(&dash.into());
        list.push(&gap.into());
    }
    pen.set_line_dash(&list)
}

fn rects(pen: &CanvasRenderingContext2d, boxes: &[Rect]) {
    for area in boxes {
        pen.fill_rect(area.x, area.y, area.w, area.h);
    }
}

fn one(
    pen: &CanvasRenderingContext2d,
    draw: &Draw,
    palette: &Palette,
    brushes: &Brushes,
    sans: &str,
    set: &mut Set,
) -> Result<(), JsValue> {
    match draw {
        Draw::Fill(paint, boxes) => {
            if !matches!(paint, Paint::Idle) {
                fill_style(pen, palette, *paint);
                rects(pen, boxes);
            }
            if let Some(brush) = paint.pattern().and_then(|pattern| brushes.get(pattern)) {
                pen.set_fill_style_canvas_pattern(brush);
                rects(pen, boxes);
            }
        }
        Draw::Outline(paint, wide, dashed, boxes) => {
            stroke_style(pen, palette, *paint, *wide);
            if *dashed {
                dashes(pen, 4.0, 3.0)?;
            }
            let half = wide / 2.0;
            for area in boxes {
                pen.stroke_rect(
                    area.x + half,
                    area.y + half,
                    (area.w - wide).max(0.0),
                    (area.h - wide).max(0.0),
                );
            }
            if *dashed {
                dashes(pen, 0.0, 0.0)?;
            }
        }
        Draw::Lines(paint, wide, (dash, gap), lines) => {
            stroke_style(pen, palette, *paint, *wide);
            if *dash > 0.0 {
                dashes(pen, *dash, *gap)?;
            }
            pen.begin_path();
            for line in lines {
                for (index, (x, y)) in line.iter().enumerate() {
                    if index == 0 {
                        pen.move_to(*x, *y);
                    } else {
                        pen.line_to(*x, *y);
                    }
                }
            }
            pen.stroke();
            if *dash > 0.0 {
                dashes(pen, 0.0, 0.0)?;
            }
        }
        Draw::Heads(paint, heads) => {
            fill_style(pen, palette, *paint);
            pen.begin_path();
            for (tip, direction) in heads {
                polygon(pen, &head(*tip, *direction));
            }
            pen.fill();
        }
        Draw::Dots(paint, radius, dots) => {
            fill_style(pen, palette, *paint);
            stroke_style(pen, palette, Paint::Panel, 0.8);
            for (x, y) in dots {
                pen.begin_path();
                pen.arc(*x, *y, *radius, 0.0, TAU)?;
                pen.fill();
                pen.stroke();
            }
        }
        Draw::Polygon(paint, points) => {
            fill_style(pen, palette, *paint);
            pen.begin_path();
            polygon(pen, points);
            pen.fill();
        }
        Draw::Words {
            x,
            y,
            text,
            size,
            bold,
            ink,
            anchor,
            room,
        } => {
            if set.font != Some((*size, *bold)) {
                set.font = Some((*size, *bold));
                pen.set_font(&format!(
                    "{} {size}px {sans}",
                    if *bold { "700" } else { "400" }
                ));
            }
            pen.set_fill_style_str(palette.ink(*ink));
            pen.set_global_alpha(1.0);
            if set.anchor != Some(*anchor) {
                set.anchor = Some(*anchor);
                pen.set_text_align(match anchor {
                    Anchor::Start => "left",
                    Anchor::Middle => "center",
                    Anchor::End => "right",
                });
            }
            // Never wider than its room, whatever font the machine has.
            pen.fill_text_with_max_width(text, *x, *y, room.w.max(1.0))?;
        }
        Draw::Clip(area) => {
            pen.save();
            pen.begin_path();
            pen.rect(area.x, area.y, area.w, area.h);
            pen.clip();
        }
        Draw::Unclip => pen.restore(),
    }
    Ok(())
}

fn polygon(pen: &CanvasRenderingContext2d, points: &[(f64, f64)]) {
    for (index, (x, y)) in points.iter().enumerate() {
        if index == 0 {
            pen.move_to(*x, *y);
        } else {
            pen.line_to(*x, *y);
        }
    }
    pen.close_path();
}
