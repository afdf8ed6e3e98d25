//! Level of detail: spans of one lane as rectangles, never more than the lane has pixels.
//!
//! A span at least a pixel wide is drawn as it is; thinner ones are gathered pixel by pixel, and each pixel takes the kind
//! that fills most of it, fainter the less of it is filled.

use super::commands::{Draw, Paint, Rect};
use super::window::Window;
use crate::core::timeline::{Kind, Span};
use std::ops::Range;

/// Rectangles of one kind and opacity.
pub type Filled = ((Kind, u8), Rect);

/// Spans that touch a window, by position; spans are in order and do not overlap.
pub fn visible(spans: &[Span], window: &Window) -> Range<usize> {
    let first = spans.partition_point(|span| (span.end.0 as f64) <= window.start);
    let last = spans.partition_point(|span| (span.start.0 as f64) < window.end);
    first..last.max(first)
}

/// Where times of a window fall on a track, on whole device pixels.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    window: Window,
    left: f64,
    width: f64,
    ratio: f64,
}

impl Scale {
    /// A window on a track of `width` px that starts at `left`, at `ratio` device pixels a pixel.
    pub fn new(window: Window, left: f64, width: f64, ratio: f64) -> Self {
        Self {
            window,
            left,
            width,
            ratio: ratio.max(0.1),
        }
    }
    /// A time's x, on the nearest device pixel.
    pub fn x(&self, time: f64) -> f64 {
        ((self.left + self.window.px(time, self.width)) * self.ratio).round() / self.ratio
    }
    /// Length of a stretch of time inside the window, px.
    pub fn length(&self, start: f64, end: f64) -> f64 {
        let cut = end.min(self.window.end) - start.max(self.window.start);
        cut / self.window.span() * self.width
    }
    /// Number of the device pixel that a time falls in, held to the track.
    fn column(&self, time: f64) -> i64 {
        let px = self
            .window
            .px(time.max(self.window.start), self.width)
            .min(self.width - self.pixel());
        ((self.left + px) * self.ratio + 1e-6).floor() as i64
    }
    /// One device pixel.
    pub fn pixel(&self) -> f64 {
        1.0 / self.ratio
    }
    /// The window.
    pub fn window(&self) -> &Window {
        &self.window
    }
    /// Both ends of a span, cut to the track.
    pub fn ends(&self, start: f64, end: f64) -> (f64, f64) {
        (
            self.x(start.max(self.window.start)),
            self.x(end.min(self.window.end)),
        )
    }
}

/// Gathers what is thinner than a pixel.
struct Column {
    at: i64,
    filled: [f64; Kind::ALL.len()],
}

impl Column {
    const fn empty() -> Self {
        Self {
            at: i64::MIN,
            filled: [0.0; Kind::ALL.len()],
        }
    }

    /// The kind that fills most, and how much of the pixel is filled, in quarters of 1 to 4.
    fn look(&self) -> Option<(Kind, u8)> {
        let total: f64 = self.filled.iter().sum();
        let (most, share) = self
            .filled
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))?;
        let kind = *Kind::ALL.get(most)?;
        (*share > 0.0).then(|| (kind, (total * 4.0).ceil().clamp(1.0, 4.0) as u8))
    }
}

/// Rectangles of a lane's spans in a window, `top` and `height` given; kinds for which `shown` is false are left out.
pub fn columns(
    spans: &[Span],
    scale: &Scale,
    top: f64,
    height: f64,
    shown: impl Fn(Kind) -> bool,
    out: &mut Vec<Filled>,
) {
    let pixel = scale.pixel();
    let mut column = Column::empty();
    // Nothing is drawn left of what stands already.
    let mut edge = f64::NEG_INFINITY;
    let flush = |column: &mut Column, edge: &mut f64, out: &mut Vec<Filled>| {
        let x = column.at as f64 * pixel;
        if let Some(look) = column.look().filter(|_| x >= *edge - pixel / 2.0) {
            match out.last_mut() {
                // The same look right beside it: one wider rectangle.
                Some((last, area))
                    if *last == look && (area.right() - x).abs() < pixel / 2.0 && area.y == top =>
                {
                    area.w += pixel;
                }
                _ => out.push((look, Rect::new(x, top, pixel, height))),
            }
            *edge = x + pixel;
        }
        *column = Column::empty();
    };
    for span in spans.get(visible(spans, scale.window())).unwrap_or(&[]) {
        if !shown(span.kind) {
            continue;
        }
        let (start, end) = (span.start.0 as f64, span.end.0 as f64);
        let (from, to) = scale.ends(start, end);
        let exact = scale.length(start, end) / pixel;
        if exact >= 1.0 {
            flush(&mut column, &mut edge, out);
            let from = from.max(edge);
            if to > from {
                out.push(((span.kind, 4), Rect::new(from, top, to - from, height)));
                edge = to;
            }
            continue;
        }
        let at = scale.column(start);
        if at != column.at {
            flush(&mut column, &mut edge, out);
            column.at = at;
        }
        if let Some(filled) = column.filled.get_mut(span.kind.index()) {
            *filled += exact;
        }
    }
    flush(&mut column, &mut edge, out);
}

/// Rectangles as commands, one a paint, in the same order every time.
pub fn by_paint(fills: Vec<Filled>, out: &mut Vec<Draw>) {
    let mut paints: Vec<((Kind, u8), Vec<Rect>)> = Vec::new();
    for (look, area) in fills {
        match paints.binary_search_by(|(of, _)| of.cmp(&look)) {
            Ok(at) => {
                if let Some((_, areas)) = paints.get_mut(at) {
                    areas.push(area);
                }
            }
            Err(at) => paints.insert(at, (look, vec![area])),
        }
    }
    out.extend(
        paints
            .into_iter()
            .map(|((kind, quarters), areas)| Draw::Fill(Paint::Kind(kind, quarters), areas)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::units::Nanos;
    use proptest::prelude::*;

    fn span(start: u64, end: u64, kind: Kind) -> Span {
        Span {
            start: Nanos(start),
            end: Nanos(end),
            kind,
            microbatch: 0,
            chunk: 0,
            layer: 0,
            bucket: 0,
        }
    }

    fn rects(spans: &[Span], window: Window, width: f64, ratio: f64) -> Vec<Filled> {
        let mut out = Vec::new();
        columns(
            spans,
            &Scale::new(window, 0.0, width, ratio),
            0.0,
            10.0,
            |_| true,
            &mut out,
        );
        out
    }

    #[test]
    fn wide_spans_are_drawn_as_they_are() {
        let spans = [span(10, 20, Kind::Forward), span(25, 40, Kind::Backward)];
        let out = rects(
            &spans,
            Window {
                start: 0.0,
                end: 100.0,
            },
            100.0,
            1.0,
        );
        assert_eq!(
            out,
            [
                ((Kind::Forward, 4), Rect::new(10.0, 0.0, 10.0, 10.0)),
                ((Kind::Backward, 4), Rect::new(25.0, 0.0, 15.0, 10.0))
            ]
        );
    }

    #[test]
    fn thin_spans_become_pixels_of_the_kind_that_fills_most() {
        // A pixel holds 100 ns: 30 of TP comm and 10 of reshard in each.
        let spans: Vec<Span> = (0..50)
            .flat_map(|i| {
                [
                    span(100 * i, 100 * i + 30, Kind::TpComm),
                    span(100 * i + 40, 100 * i + 50, Kind::PreSync),
                ]
            })
            .collect();
        let out = rects(
            &spans,
            Window {
                start: 0.0,
                end: 5000.0,
            },
            50.0,
            1.0,
        );
        let area: f64 = out.iter().map(|(_, area)| area.w).sum();
        assert!(
            out.iter()
                .all(|((kind, quarters), _)| *kind == Kind::TpComm && *quarters <= 3),
            "{out:?}"
        );
        assert!((45.0..=51.0).contains(&area), "{area}");
    }

    proptest! {
        #[test]
        fn never_more_rectangles_than_pixels_and_none_overlap(
            lengths in prop::collection::vec((0_u64..40, 1_u64..60), 1..400), start in 0.0_f64..5000.0, width in 1.0_f64..20_000.0
        ) {
            let mut at = 0;
            let spans: Vec<Span> = lengths.iter().enumerate().map(|(i, (gap, length))| {
                at += gap + length;
                span(at - length, at, Kind::ALL[i % Kind::ALL.len()])
            }).collect();
            let out = rects(&spans, Window { start, end: start + width }, 100.0, 2.0);
            prop_assert!(out.len() <= 201, "{}", out.len());
            for pair in out.windows(2) {
                prop_assert!(pair[0].1.right() <= pair[1].1.x + 1e-9, "{:?}", pair);
            }
            for (_, area) in &out {
                prop_assert!(area.x >= -0.51 && area.right() <= 100.51 && area.w > 0.0);
            }
        }
    }
}
