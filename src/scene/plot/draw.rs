//! Draws a chart with plotters elements, in pixels.

use super::frame::{Frame, SWATCH, TEXT, frame};
use super::{Chart, Ink, Line, Rgb, Shape};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::{Circle, PathElement, Polygon};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoTextStyle, RGBColor, ShapeStyle, TextStyle};
use plotters_backend::DrawingBackend;

const FAMILY: &str =
    "-apple-system, 'Segoe UI', 'Helvetica Neue', 'Liberation Sans', Arial, sans-serif";
/// Half the size of a marker, px.
const MARKER: f64 = 4.0;

type Area<DB> = DrawingArea<DB, Shift>;
type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

const fn rgb(Rgb(r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

fn stroke(colour: Rgb, width: u32) -> ShapeStyle {
    ShapeStyle {
        color: rgb(colour).to_rgba(),
        filled: false,
        stroke_width: width,
    }
}

const fn whole(x: f64, y: f64) -> (i32, i32) {
    (x.round() as i32, y.round() as i32)
}

fn text<DB: DrawingBackend>(
    area: &Area<DB>,
    words: &str,
    at: (f64, f64),
    colour: Rgb,
    anchor: (HPos, VPos),
) -> Drawn<DB> {
    let style: TextStyle<'_> = (FAMILY, TEXT)
        .with_color(rgb(colour))
        .into_text_style(area)
        .pos(Pos::new(anchor.0, anchor.1));
    area.draw_text(words, &style, whole(at.0, at.1))
}

fn rule<DB: DrawingBackend>(
    area: &Area<DB>,
    from: (f64, f64),
    to: (f64, f64),
    colour: Rgb,
) -> Drawn<DB> {
    area.draw(&PathElement::new(
        vec![whole(from.0, from.1), whole(to.0, to.1)],
        stroke(colour, 1),
    ))
}

/// Draws a chart on the whole of an area.
///
/// # Errors
/// What the backend reports.
pub fn draw<DB: DrawingBackend>(area: &Area<DB>, chart: &Chart, ink: &Ink) -> Drawn<DB> {
    let (width, height) = area.dim_in_pixel();
    let frame = frame(chart, f64::from(width), f64::from(height));
    axes(area, chart, &frame, ink)?;
    let place = |(x, y): (f64, f64)| {
        (
            chart.x.place(x, frame.left, frame.right),
            chart.y.place(y, frame.bottom, frame.top),
        )
    };
    for band in &chart.bands {
        let edge: Vec<(i32, i32)> = band
            .low
            .iter()
            .chain(band.high.iter().rev())
            .map(|point| place(*point))
            .map(|(x, y)| whole(x, y))
            .collect();
        area.draw(&Polygon::new(
            edge,
            rgb(ink.of(band.tint)).mix(band.alpha).filled(),
        ))?;
    }
    for line in &chart.lines {
        let points: Vec<(f64, f64)> = line.points.iter().map(|point| place(*point)).collect();
        path(area, &points, line, ink)?;
        for point in points {
            marker(
                area,
                (line.shape, line.hollow),
                point,
                ink.of(line.tint),
                ink,
            )?;
        }
    }
    for (index, x, y) in &frame.names {
        let Some(line) = chart.lines.get(*index) else {
            continue;
        };
        let end = line.points.last().map(|point| place(*point));
        if let Some((last_x, last_y)) = end.filter(|_| frame.beside)
            && ((last_y - y).abs() > 3.0 || x - last_x > 16.0)
        {
            rule(
                area,
                (last_x + MARKER + 1.0, last_y),
                (x - 3.0, *y),
                ink.line2,
            )?;
        }
        path(area, &[(*x, *y), (x + SWATCH - 6.0, *y)], line, ink)?;
        marker(
            area,
            (line.shape, line.hollow),
            (x + (SWATCH - 6.0) / 2.0, *y),
            ink.of(line.tint),
            ink,
        )?;
        text(
            area,
            &line.name,
            (x + SWATCH, *y),
            ink.ink2,
            (HPos::Left, VPos::Center),
        )?;
    }
    Ok(())
}

fn axes<DB: DrawingBackend>(area: &Area<DB>, chart: &Chart, frame: &Frame, ink: &Ink) -> Drawn<DB> {
    let Frame {
        left,
        top,
        right,
        bottom,
        ..
    } = *frame;
    for (value, words) in &chart.y.ticks {
        let y = chart.y.place(*value, bottom, top);
        rule(area, (left, y), (right, y), ink.line)?;
        text(
            area,
            words,
            (left - 6.0, y),
            ink.ink3,
            (HPos::Right, VPos::Center),
        )?;
    }
    let mut free = f64::MIN;
    for (value, words) in &chart.x.ticks {
        let x = chart.x.place(*value, left, right);
        rule(area, (x, bottom), (x, bottom + 4.0), ink.line2)?;
        let half = words.chars().count() as f64 * 3.2;
        if x - half < free {
            continue;
        }
        free = x + half + 4.0;
        text(
            area,
            words,
            (x, bottom + 7.0),
            ink.ink3,
            (HPos::Center, VPos::Top),
        )?;
    }
    rule(area, (left, bottom), (right, bottom), ink.line2)?;
    text(
        area,
        &chart.y.title,
        (0.0, 2.0),
        ink.ink3,
        (HPos::Left, VPos::Top),
    )?;
    text(
        area,
        &chart.x.title,
        (right, bottom + 22.0),
        ink.ink3,
        (HPos::Right, VPos::Top),
    )
}

/// A line through points, cut into its dashes.
fn path<DB: DrawingBackend>(
    area: &Area<DB>,
    points: &[(f64, f64)],
    line: &Line,
    ink: &Ink,
) -> Drawn<DB> {
    if line.width == 0 || points.len() < 2 {
        return Ok(());
    }
    let style = stroke(ink.of(line.tint), line.width);
    for piece in dashes(points, line.dash) {
        let piece: Vec<(i32, i32)> = piece.into_iter().map(|(x, y)| whole(x, y)).collect();
        area.draw(&PathElement::new(piece, style))?;
    }
    Ok(())
}

/// Cuts a path into dashes; lengths alternate between drawn and not.
pub(super) fn dashes(points: &[(f64, f64)], lengths: &[f64]) -> Vec<Vec<(f64, f64)>> {
    if lengths.iter().sum::<f64>() < 0.5 {
        return vec![points.to_vec()];
    }
    let mut pieces = Vec::new();
    let mut piece: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
    let (mut index, mut drawn) = (0, true);
    let length = |index: usize| {
        lengths
            .get(index % lengths.len())
            .copied()
            .unwrap_or(1.0)
            .max(0.5)
    };
    let mut left = length(0);
    for pair in points.windows(2) {
        let [mut from, to] = *pair else { continue };
        loop {
            let far = (to.0 - from.0).hypot(to.1 - from.1);
            if far <= left {
                left -= far;
                if drawn {
                    piece.push(to);
                }
                break;
            }
            let share = left / far;
            from = (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            );
            if drawn {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            drawn = !drawn;
            index += 1;
            left = length(index);
        }
    }
    if drawn && piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}

fn marker<DB: DrawingBackend>(
    area: &Area<DB>,
    (shape, hollow): (Shape, bool),
    (x, y): (f64, f64),
    colour: Rgb,
    ink: &Ink,
) -> Drawn<DB> {
    let m = MARKER;
    let shape = match shape {
        Shape::Disc if hollow => Shape::Ring,
        _ => shape,
    };
    let solid = rgb(colour).filled();
    let corners: &[(f64, f64)] = match shape {
        Shape::None => return Ok(()),
        Shape::Disc => return area.draw(&Circle::new(whole(x, y), m as i32, solid)),
        Shape::Ring => {
            area.draw(&Circle::new(whole(x, y), m as i32, rgb(ink.panel).filled()))?;
            return area.draw(&Circle::new(whole(x, y), m as i32, stroke(colour, 1)));
        }
        Shape::Square => {
            let s = m - 0.5;
            let corners = [(-s, -s), (s, -s), (s, s), (-s, s), (-s, -s)]
                .map(|(dx, dy)| whole(x + dx, y + dy));
            area.draw(&Polygon::new(corners.to_vec(), rgb(ink.panel).filled()))?;
            return area.draw(&PathElement::new(corners.to_vec(), stroke(colour, 1)));
        }
        Shape::Plus => {
            area.draw(&PathElement::new(
                vec![whole(x - m, y), whole(x + m, y)],
                stroke(colour, if hollow { 1 } else { 2 }),
            ))?;
            return area.draw(&PathElement::new(
                vec![whole(x, y - m), whole(x, y + m)],
                stroke(colour, if hollow { 1 } else { 2 }),
            ));
        }
        Shape::TriangleUp => &[(0.0, -1.2), (1.1, 0.9), (-1.1, 0.9)],
        Shape::TriangleDown => &[(0.0, 1.2), (1.1, -0.9), (-1.1, -0.9)],
        Shape::Diamond => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
    };
    let corners = corners
        .iter()
        .map(|(dx, dy)| whole(x + dx * m, y + dy * m))
        .collect::<Vec<_>>();
    if hollow {
        area.draw(&Polygon::new(corners.clone(), rgb(ink.panel).filled()))?;
        let around = corners.iter().chain(corners.first()).copied();
        return area.draw(&PathElement::new(
            around.collect::<Vec<_>>(),
            stroke(colour, 1),
        ));
    }
    area.draw(&Polygon::new(corners, solid))
}

/// The chart as an SVG file with its title, on the theme's ground; empty when nothing can be drawn.
pub fn svg(chart: &Chart, ink: &Ink, width: u32, height: u32) -> String {
    const HEAD: u32 = 34;
    // Below this the margins alone would not fit; above it no viewer follows.
    let (width, height) = (width.clamp(160, 16_384), height.clamp(120, 16_384));
    let mut out = String::new();
    let drawn = {
        let area = plotters_svg::SVGBackend::with_string(&mut out, (width, height + HEAD))
            .into_drawing_area();
        let inner = area.margin(HEAD, 8, 12, 12);
        area.fill(&rgb(ink.panel))
            .and_then(|()| {
                let style = (FAMILY, 13.5)
                    .with_color(rgb(ink.ink))
                    .into_text_style(&area);
                area.draw_text(&chart.title, &style, (12, 10))
            })
            .and_then(|()| draw(&inner, chart, ink))
            .and_then(|()| area.present())
    };
    if drawn.is_err() {
        out.clear();
    }
    out
}
