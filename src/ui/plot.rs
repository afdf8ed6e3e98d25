//! Charts on a canvas: plotters' canvas backend in CSS pixels on a context scaled to device pixels.

use super::dom;
use super::state::{Theme, use_app};
use crate::scene::plot::{Chart, Ink, Spot, draw, frame, nearest, spots};
use leptos::html;
use leptos::prelude::*;
use plotters::drawing::IntoDrawingArea;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use plotters_canvas::CanvasBackend;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, PointerEvent};

/// plotters-canvas knows neither the pixel ratio nor how to measure text without touching the page's layout: this
/// reports the CSS size, measures on the canvas, and keeps straight lines sharp; the rest it passes on.
struct Pixels {
    inner: CanvasBackend,
    pen: CanvasRenderingContext2d,
    size: (u32, u32),
}

type Outcome = Result<(), DrawingErrorKind<<CanvasBackend as DrawingBackend>::ErrorType>>;

impl DrawingBackend for Pixels {
    type ErrorType = <CanvasBackend as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }
    fn ensure_prepared(&mut self) -> Outcome {
        self.inner.ensure_prepared()
    }
    fn present(&mut self) -> Outcome {
        self.inner.present()
    }
    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Outcome {
        self.inner.draw_pixel(point, color)
    }
    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Outcome {
        self.inner.draw_line(from, to, style)
    }
    fn draw_rect<S: BackendStyle>(
        &mut self,
        a: BackendCoord,
        b: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Outcome {
        self.inner.draw_rect(a, b, style, fill)
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome {
        let path: Vec<BackendCoord> = path.into_iter().collect();
        // Only the inner draw_line moves rules onto the pixel grid.
        match path.as_slice() {
            [from, to] if from.0 == to.0 || from.1 == to.1 => {
                self.inner.draw_line(*from, *to, style)
            }
            _ => self.inner.draw_path(path, style),
        }
    }
    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Outcome {
        self.inner.draw_circle(center, radius, style, fill)
    }
    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Outcome {
        self.inner.fill_polygon(path, style)
    }
    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        at: BackendCoord,
    ) -> Outcome {
        self.inner.draw_text(text, style, at)
    }
    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
        self.pen
            .set_font(&format!("{}px {}", style.size(), style.family().as_str()));
        let width = self
            .pen
            .measure_text(text)
            .map_or(0.0, |metrics| metrics.width());
        Ok((width.ceil() as u32, style.size().ceil() as u32))
    }
}

/// Paints a chart over a canvas of a given size, CSS px.
fn paint(canvas: &HtmlCanvasElement, chart: &Chart, ink: &Ink, width: f64, height: f64) {
    let Some(pen) = dom::canvas(canvas, width, height) else {
        return;
    };
    let Some(inner) = CanvasBackend::with_canvas_object(canvas.clone()) else {
        return;
    };
    let backend = Pixels {
        inner,
        pen,
        size: (width as u32, height as u32),
    };
    // A canvas that refuses to draw leaves the chart empty; the table beside it holds the same numbers.
    let _ = draw(&backend.into_drawing_area(), chart, ink);
}

/// Colours of the theme in use.
pub const fn ink(theme: Theme) -> Ink {
    match theme {
        Theme::Light => Ink::LIGHT,
        Theme::Dark => Ink::DARK,
    }
}

/// How near the pointer must come to a point, px.
const REACH: f64 = 14.0;

/// A chart that fills its parent's width, repaints on resize and theme, and says which point is under the pointer.
#[component]
pub fn ChartView(
    /// What to draw.
    #[prop(into)]
    chart: Signal<Chart>,
    /// Height, CSS px.
    height: f64,
    /// The point in focus; set by the pointer here, and by whatever else shows the same data.
    focus: RwSignal<Option<(usize, usize)>>,
    /// Which points answer the pointer.
    #[prop(into)]
    answers: Callback<(usize, usize), bool>,
    /// Words of a point for its tip.
    #[prop(into)]
    tip: Callback<(usize, usize), Vec<String>>,
    /// What the chart shows, for screen readers.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let app = use_app();
    let holder = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let width = RwSignal::new(0.0_f64);
    dom::on_resize(holder, move |wide, _| {
        if (width.get_untracked() - wide).abs() >= 1.0 {
            width.set(wide);
        }
    });
    let pending = StoredValue::new_local(dom::Turn::default());
    Effect::new(move |_| {
        let (wide, theme) = (width.get(), app.theme.get());
        chart.track();
        let Some(canvas) = canvas.get().filter(|_| wide > 40.0) else {
            return;
        };
        pending.update_value(|turn| {
            turn.request(move || {
                chart.with_untracked(|chart| paint(&canvas, chart, &ink(theme), wide, height));
            });
        });
    });
    let placed = Memo::new(move |_| {
        let wide = width.get();
        chart.with(|chart| {
            let frame = frame(chart, wide.floor(), height);
            Placed(spots(chart, &frame))
        })
    });
    let moved = move |event: PointerEvent| {
        let (x, y) = (f64::from(event.offset_x()), f64::from(event.offset_y()));
        let hit = placed.with_untracked(|placed| {
            nearest(&placed.0, x, y, REACH, |spot| {
                answers.run((spot.line, spot.point))
            })
        });
        let hit = hit.map(|spot| (spot.line, spot.point));
        if focus.get_untracked() != hit {
            focus.set(hit);
        }
    };
    let spot = move || {
        let (line, point) = focus.get()?;
        placed.with(|placed| {
            placed
                .0
                .iter()
                .find(|s| s.line == line && s.point == point)
                .copied()
        })
    };
    view! {
        <div class="chart" node_ref=holder style=format!("height:{height}px")>
            <canvas
                node_ref=canvas
                role="img"
                aria-label=move || label.get()
                on:pointermove=moved
                on:pointerdown=moved
                on:pointerleave=move |event| {
                    // A finger that lifts leaves too: its tip stays.
                    if event.pointer_type() == "mouse" {
                        focus.set(None);
                    }
                }
            ></canvas>
            {move || {
                spot()
                    .map(|spot| {
                        let lines = tip.run((spot.line, spot.point));
                        let side = if spot.x > width.get() / 2.0 { "tipbox left" } else { "tipbox" };
                        let ring = format!("left:{:.1}px;top:{:.1}px", spot.x, spot.y);
                        view! {
                            <span class="ringmark" style=ring.clone()></span>
                            <div class=side style=ring>
                                {lines.into_iter().map(|line| view! { <div>{line}</div> }).collect_view()}
                            </div>
                        }
                    })
            }}
        </div>
    }
}

#[derive(Clone, PartialEq)]
struct Placed(Vec<Spot>);
