//! Files of the step: trace, SVG, PNG.

use super::model::StepPanel;
use super::paint::{Brushes, paint};
use super::plot::palette;
use crate::core::timeline::trace;
use crate::scene::gantt::{Draw, Layout, Look, draw, svg};
use crate::ui::dom;
use crate::ui::files;
use crate::ui::state::{Shared, Theme};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CanvasRenderingContext2d, HtmlAnchorElement, HtmlCanvasElement};

/// Name of a saved trace.
pub const TRACE: &str = "step-trace.json";

/// The trace of what is shown.
pub fn trace_text(panel: &StepPanel) -> Option<String> {
    let shown = panel.shown.get_untracked()?;
    Some(trace::to_string(&shown.view, &shown.job.system.gpu))
}

/// Saves the trace.
pub fn save_trace(panel: &StepPanel) {
    if let Some(text) = trace_text(panel) {
        files::save(TRACE, "application/json", &text);
    }
}

/// The picture in view, without what the pointer does to it.
fn picture(panel: &StepPanel) -> Option<(Vec<Draw>, Shared<Layout>)> {
    let (shown, layout) = (panel.shown.get_untracked()?, panel.layout.get_untracked()?);
    let draws = draw(&Look {
        view: &shown.view,
        layout: &layout,
        window: panel.window.get_untracked(),
        words: &shown.words,
        hidden: panel.hidden.get_untracked(),
        ratio: 2.0,
        hover: None,
        selected: panel.selected_now(),
        range: panel.range.get_untracked(),
        found: None,
    });
    Some((draws, layout))
}

/// Saves the picture in view as SVG.
pub fn save_svg(panel: &StepPanel) {
    if let Some((draws, layout)) = picture(panel) {
        let theme = panel.app.theme.get_untracked();
        let text = svg(
            &draws,
            palette(theme),
            layout.width,
            layout.height,
            "One training step",
        );
        files::save("step.svg", "image/svg+xml", &text);
    }
}

/// Saves the picture in view as PNG, two pixels a pixel.
pub fn save_png(panel: &StepPanel) {
    if let Some((draws, layout)) = picture(panel) {
        // Fails only where the page may not read its own canvas.
        let _ = png(panel, &draws, &layout);
    }
}

fn png(panel: &StepPanel, draws: &[Draw], layout: &Layout) -> Result<(), JsValue> {
    const RATIO: f64 = 2.0;
    let Some(document) = dom::document() else {
        return Ok(());
    };
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width((layout.width * RATIO).ceil() as u32);
    canvas.set_height((layout.height * RATIO).ceil() as u32);
    let Some(pen) = canvas.get_context("2d")? else {
        return Ok(());
    };
    let pen: CanvasRenderingContext2d = pen.dyn_into()?;
    pen.scale(RATIO, RATIO)?;
    let theme = panel.app.theme.get_untracked();
    let mut brushes = Brushes::default();
    brushes.prepare(palette(theme), theme == Theme::Dark, RATIO);
    let ground = [Draw::Fill(
        crate::scene::gantt::Paint::Panel,
        vec![crate::scene::gantt::Rect::new(
            0.0,
            0.0,
            layout.width,
            layout.height,
        )],
    )];
    paint(&pen, &ground, palette(theme), &brushes, dom::sans!());
    paint(&pen, draws, palette(theme), &brushes, dom::sans!());
    let link: HtmlAnchorElement = document.create_element("a")?.dyn_into()?;
    link.set_href(&canvas.to_data_url_with_type("image/png")?);
    link.set_download("step.png");
    link.click();
    Ok(())
}
