//! The picture as an SVG file.

use super::commands::{Anchor, Draw, Paint, Rect};
use super::palette::{Palette, Pattern};
use crate::scene::markup::escaped;
use std::fmt::Write as _;

/// A number with at most two decimals.
fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Fill attributes of a paint, without its pattern.
fn fill(palette: &Palette, paint: Paint) -> String {
    let (colour, opacity) = palette.fill(paint);
    if opacity < 1.0 {
        format!("fill=\"{colour}\" fill-opacity=\"{opacity}\"")
    } else {
        format!("fill=\"{colour}\"")
    }
}

fn stroke(palette: &Palette, paint: Paint) -> String {
    fill(palette, paint).replace("fill", "stroke")
}

fn path(boxes: &[Rect]) -> String {
    boxes
        .iter()
        .map(|b| format!("M{} {}h{}v{}h{}z", n(b.x), n(b.y), n(b.w), n(b.h), n(-b.w)))
        .collect()
}

/// Writes the commands as a file of its own, with its ground.
pub fn svg(draws: &[Draw], palette: &Palette, width: f64, height: f64, title: &str) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
         font-family=\"Helvetica Neue,Liberation Sans,Arial,sans-serif\" role=\"img\">\n<title>{2}</title>\n<defs>",
        n(width),
        n(height),
        escaped(title)
    );
    for pattern in Pattern::ALL {
        let (colour, opacity) = palette.pattern(pattern);
        let side = pattern.side();
        let _ = write!(
            out,
            "<pattern id=\"{pattern:?}\" width=\"{side}\" height=\"{side}\" patternUnits=\"userSpaceOnUse\">"
        );
        if pattern == Pattern::Dots {
            let (dots, radius) = Pattern::DOTS;
            for (x, y) in dots {
                let _ = write!(
                    out,
                    "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{colour}\"/>"
                );
            }
        } else {
            let (lines, wide) = pattern.path();
            let _ = write!(
                out,
                "<path d=\"{lines}\" stroke=\"{colour}\" stroke-width=\"{wide}\" stroke-opacity=\"{opacity}\" fill=\"none\"/>"
            );
        }
        out.push_str("</pattern>");
    }
    let mut clips = 0;
    for draw in draws {
        if let Draw::Clip(area) = draw {
            let _ = write!(
                out,
                "<clipPath id=\"c{clips}\"><path d=\"{}\"/></clipPath>",
                path(&[*area])
            );
            clips += 1;
        }
    }
    let _ = writeln!(
        out,
        "</defs>\n<rect width=\"{}\" height=\"{}\" {}/>",
        n(width),
        n(height),
        fill(palette, Paint::Panel)
    );
    clips = 0;
    for draw in draws {
        write_draw(&mut out, draw, palette, &mut clips);
    }
    out.push_str("</svg>\n");
    out
}

fn write_draw(out: &mut String, draw: &Draw, palette: &Palette, clips: &mut usize) {
    match draw {
        Draw::Fill(paint, boxes) => {
            let area = path(boxes);
            if !matches!(paint, Paint::Idle) {
                let _ = writeln!(out, "<path d=\"{area}\" {}/>", fill(palette, *paint));
            }
            if let Some(pattern) = paint.pattern() {
                let _ = writeln!(out, "<path d=\"{area}\" fill=\"url(#{pattern:?})\"/>");
            }
        }
        Draw::Outline(paint, wide, dashed, boxes) => {
            let dash = if *dashed {
                " stroke-dasharray=\"4 3\""
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" {} stroke-width=\"{}\"{dash}/>",
                path(boxes),
                stroke(palette, *paint),
                n(*wide)
            );
        }
        Draw::Lines(paint, wide, (dash, gap), lines) => {
            let mut d = String::new();
            for line in lines {
                for (i, (x, y)) in line.iter().enumerate() {
                    let _ = write!(d, "{}{} {}", if i == 0 { "M" } else { "L" }, n(*x), n(*y));
                }
            }
            let dash = if *dash > 0.0 {
                format!(" stroke-dasharray=\"{} {}\"", n(*dash), n(*gap))
            } else {
                String::new()
            };
            let _ = writeln!(
                out,
                "<path d=\"{d}\" fill=\"none\" {} stroke-width=\"{}\"{dash}/>",
                stroke(palette, *paint),
                n(*wide)
            );
        }
        Draw::Heads(paint, heads) => {
            let d: String = heads
                .iter()
                .map(|(tip, direction)| {
                    let [a, b, c] = head(*tip, *direction);
                    format!(
                        "M{} {}L{} {}L{} {}z",
                        n(a.0),
                        n(a.1),
                        n(b.0),
                        n(b.1),
                        n(c.0),
                        n(c.1)
                    )
                })
                .collect();
            let _ = writeln!(out, "<path d=\"{d}\" {}/>", fill(palette, *paint));
        }
        Draw::Dots(paint, radius, dots) => {
            for (x, y) in dots {
                let edge = stroke(palette, Paint::Panel);
                let _ = writeln!(
                    out,
                    "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {} {edge} stroke-width=\".8\"/>",
                    n(*x),
                    n(*y),
                    n(*radius),
                    fill(palette, *paint)
                );
            }
        }
        Draw::Polygon(paint, points) => {
            let points: Vec<String> = points
                .iter()
                .map(|(x, y)| format!("{},{}", n(*x), n(*y)))
                .collect();
            let _ = writeln!(
                out,
                "<polygon points=\"{}\" {}/>",
                points.join(" "),
                fill(palette, *paint)
            );
        }
        Draw::Words {
            x,
            y,
            text,
            size,
            bold,
            ink,
            anchor,
            ..
        } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if *bold { " font-weight=\"700\"" } else { "" };
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"{}\" text-anchor=\"{anchor}\"{weight} fill=\"{}\">{}</text>",
                n(*x),
                n(*y),
                n(*size),
                palette.ink(*ink),
                escaped(text)
            );
        }
        Draw::Clip(_) => {
            let _ = writeln!(out, "<g clip-path=\"url(#c{clips})\">");
            *clips += 1;
        }
        Draw::Unclip => out.push_str("</g>\n"),
    }
}

/// Corners of an arrow head, 6 px long.
pub fn head(tip: (f64, f64), direction: (f64, f64)) -> [(f64, f64); 3] {
    let length = direction.0.hypot(direction.1).max(1e-9);
    let (dx, dy) = (direction.0 / length, direction.1 / length);
    let (bx, by) = (tip.0 - 5.0 * dx, tip.1 - 5.0 * dy);
    [
        tip,
        (bx - 2.6 * dy, by + 2.6 * dx),
        (bx + 2.6 * dy, by - 2.6 * dx),
    ]
}
