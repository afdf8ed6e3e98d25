//! The tiles of one domain: a canvas under its cells. Only domains near what is in view have one that holds pixels.

use super::pens::Pens;
use crate::core::strategy::GpuView;
use crate::scene::rack::face::Faces;
use crate::ui::dom;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// The tiles of one domain.
pub struct Picture {
    canvas: HtmlCanvasElement,
    /// Absent while the canvas shows nothing true.
    pen: Option<CanvasRenderingContext2d>,
}

impl Picture {
    /// On a canvas that holds nothing yet.
    pub const fn new(canvas: HtmlCanvasElement) -> Self {
        Self { canvas, pen: None }
    }

    /// Whether it shows what its domain's cells say.
    pub const fn drawn(&self) -> bool {
        self.pen.is_some()
    }

    /// Has it drawn anew when it is next near.
    pub fn spoil(&mut self) {
        self.pen = None;
    }

    /// Gives the pixels back.
    pub fn release(&mut self) {
        self.pen = None;
        if self.canvas.width() > 0 {
            self.canvas.set_width(0);
            self.canvas.set_height(0);
        }
    }

    /// Draws all tiles.
    pub fn fill(&mut self, pens: &mut Pens, faces: &Faces, gpus: &[GpuView]) {
        let (wide, high) = pens.size(faces);
        if (
            f64::from(self.canvas.width()),
            f64::from(self.canvas.height()),
        ) != (wide, high)
        {
            self.canvas.set_width(wide as u32);
            self.canvas.set_height(high as u32);
            dom::style(&self.canvas, "width", &format!("{}px", wide / pens.ratio));
            dom::style(&self.canvas, "height", &format!("{}px", high / pens.ratio));
        }
        self.pen = dom::pen(&self.canvas, false);
        if let Some(pen) = &self.pen {
            pens.clear(pen, wide, high);
            pens.draw(pen, faces, &mut (0..).zip(gpus.iter().copied()));
        }
    }

    /// Draws some tiles anew.
    pub fn touch(
        &self,
        pens: &mut Pens,
        faces: &Faces,
        mut gpus: impl Iterator<Item = (u32, GpuView)>,
    ) {
        if let Some(pen) = &self.pen {
            pens.draw(pen, faces, &mut gpus);
        }
    }
}
