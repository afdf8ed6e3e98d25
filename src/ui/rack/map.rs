//! The map at the right edge: every domain, the part in view, and the scrollbar of the racks.

use super::View;
use super::input::see;
use crate::core::strategy::{DomainView, GpuState};
use crate::scene::rack::group::Group;
use crate::scene::rack::map::{Map as Cells, Rect, map};
use crate::ui::dom;
use crate::ui::state::{Form, Theme, use_app};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, HtmlElement};

/// Room around the cells for the frame of what is in view, CSS px.
const PAD: f64 = 3.0;

/// The map of every domain.
#[component]
pub fn Map() -> impl IntoView {
    let app = use_app();
    let view = expect_context::<View>();
    let canvas = NodeRef::<Canvas>::new();
    let holder = NodeRef::<Div>::new();
    let size = RwSignal::new((0.0, 0.0));
    dom::on_resize(holder, move |wide, high| size.set((wide, high)));
    let cells = Memo::new(move |_| {
        let (wide, high) = size.get();
        let plan = view.plan.read();
        if app.form.get() == Form::Phone {
            return strip(&plan.groups, high);
        }
        map(&plan.groups, wide - 2.0 * PAD, high - 2.0 * PAD)
    });
    let frame = StoredValue::new_local(dom::Frame::default());
    let inks = StoredValue::new_local(None::<(Theme, Rc<Inks>)>);
    let at_seen = StoredValue::new((0, 0));
    Effect::new(move |_| {
        let (canvas, cells, views) = (canvas.get(), cells.get(), app.views.get());
        let (seen, theme, size) = (view.seen.get(), app.theme.get(), size.get());
        let Some(canvas) = canvas else { return };
        // A strip wider than the phone follows what is shown.
        if let (Form::Phone, Some(holder), Some(here)) = (
            app.form.get_untracked(),
            holder.get_untracked(),
            cells.around(seen.0 as usize..=seen.1 as usize),
        ) && at_seen.get_value() != seen
        {
            at_seen.set_value(seen);
            holder.set_scroll_left((here.x + here.w / 2.0 - size.0 / 2.0) as i32);
        }
        frame.update_value(|frame| {
            frame.request(move || {
                let known = inks.with_value(|known| known.clone().filter(|known| known.0 == theme));
                // Colours are read once a theme: reading brings all styles up to date.
                let ink = known.map_or_else(|| Rc::new(Inks::read()), |known| known.1);
                inks.set_value(Some((theme, Rc::clone(&ink))));
                paint(&canvas, &cells, &views, seen, size, &ink);
            });
        });
    });
    let go = move |x: f64, y: f64, smooth: bool| {
        let Some(domain) = cells.with_untracked(|cells| cells.hit(x - PAD, y - PAD)) else {
            return;
        };
        show(view, domain as u32, smooth);
    };
    let at = move |event: &web_sys::MouseEvent| {
        let canvas: HtmlElement = event.current_target()?.dyn_into().ok()?;
        let (rect, wide) = (
            canvas.get_bounding_client_rect(),
            f64::from(canvas.offset_width()),
        );
        let zoom = if wide > 0.0 { rect.width() / wide } else { 1.0 };
        Some((
            (f64::from(event.client_x()) - rect.left()) / zoom,
            (f64::from(event.client_y()) - rect.top()) / zoom,
        ))
    };
    let down = move |event: web_sys::PointerEvent| {
        // On a phone a finger pushes the strip, and only a tap chooses.
        if app.form.get_untracked() == Form::Phone {
            return;
        }
        if let Some(target) = event
            .current_target()
            .and_then(|target| target.dyn_into::<HtmlElement>().ok())
        {
            let _ = target.set_pointer_capture(event.pointer_id());
        }
        if let Some((x, y)) = at(&event) {
            go(x, y, true);
        }
    };
    let drag = move |event: web_sys::PointerEvent| {
        if event.buttons() & 1 == 1
            && app.form.get_untracked() != Form::Phone
            && let Some((x, y)) = at(&event)
        {
            go(x, y, false);
        }
    };
    let tap = move |event: web_sys::MouseEvent| {
        if app.form.get_untracked() == Form::Phone
            && let Some((x, y)) = at(&event)
        {
            go(x, y, false);
        }
    };
    let keys = move |event: web_sys::KeyboardEvent| {
        let last = view.plan.read_untracked().domains.saturating_sub(1);
        let (first, end) = view.seen.get_untracked();
        let page = end.saturating_sub(first) + 1;
        let to = match event.key().as_str() {
            "ArrowDown" | "ArrowRight" | "PageDown" => end.saturating_add(1),
            "ArrowUp" | "ArrowLeft" | "PageUp" => first.saturating_sub(page),
            "Home" => 0,
            "End" => last,
            _ => return,
        };
        event.prevent_default();
        show(view, to.min(last), true);
    };
    let text = move || {
        let (first, last) = view.seen.get();
        format!("Domains {first} to {last} of {}", view.plan.read().domains)
    };
    view! {
        <div class="mm" class:wide=move || !view.plan.read().whole() node_ref=holder>
            <canvas
                node_ref=canvas
                tabindex="0"
                role="scrollbar"
                aria-controls="racks"
                aria-orientation="vertical"
                aria-label="All domains"
                aria-valuemin="0"
                aria-valuemax=move || view.plan.read().domains.saturating_sub(1).to_string()
                aria-valuenow=move || view.seen.get().0.to_string()
                aria-valuetext=text
                on:pointerdown=down
                on:pointermove=drag
                on:click=tap
                on:keydown=keys
            ></canvas>
        </div>
    }
}

/// Brings a domain into view: scrolls to its group, or puts its group into the document.
pub fn show(view: View, domain: u32, smooth: bool) {
    let plan = view.plan.get_untracked();
    let group = plan.group_of(domain);
    if plan.phone || !plan.shown.contains(&group) {
        view.focus.set(domain);
    }
    let Some(scroller) = view.scroller.get_untracked() else {
        return;
    };
    let section = view
        .stage
        .with_value(|stage| stage.domain(domain).map(|domain| domain.section.clone()));
    if let Some(rep) = section
        .and_then(|section| section.closest(".rep").ok().flatten())
        .and_then(|rep| rep.dyn_into::<HtmlElement>().ok())
    {
        let options = web_sys::ScrollToOptions::new();
        options.set_top(f64::from(rep.offset_top()));
        options.set_behavior(if smooth && !dom::reduced_motion() {
            web_sys::ScrollBehavior::Smooth
        } else {
            web_sys::ScrollBehavior::Instant
        });
        scroller.scroll_to_with_scroll_to_options(&options);
        if !smooth {
            see(view, true);
        }
    }
}

/// On a phone: one row of cells, groups apart, that the finger pushes sideways.
fn strip(groups: &[Group], high: f64) -> Cells {
    let (wide, gap, apart) = (16.0, 3.0, 9.0);
    let tall = (high - 2.0 * PAD - 17.0).clamp(8.0, 32.0);
    let mut out = Cells {
        height: high,
        ..Cells::default()
    };
    let mut x = 0.0;
    for group in groups {
        let start = x;
        for _ in group.domains.clone() {
            out.cells.push(Rect {
                x,
                y: 0.0,
                w: wide,
                h: tall,
            });
            x += wide + gap;
        }
        out.labels
            .push(((start + x - gap) / 2.0, tall + 13.0, group.domains.start));
        x += apart;
    }
    out
}

fn paint(
    canvas: &HtmlCanvasElement,
    cells: &Cells,
    views: &[DomainView],
    seen: (u32, u32),
    (wide, high): (f64, f64),
    ink: &Inks,
) {
    let widest = cells
        .cells
        .iter()
        .map(|cell| cell.x + cell.w)
        .fold(0.0, f64::max)
        + 2.0 * PAD;
    let (wide, high) = (
        wide.max(widest.min(4000.0)),
        high.min(cells.height + 2.0 * PAD),
    );
    let Some(pen) = dom::canvas(canvas, wide, high) else {
        return;
    };
    let _ = pen.translate(PAD, PAD);
    for (cell, view) in cells.cells.iter().zip(views) {
        domain(&pen, ink, cell, view);
    }
    pen.set_font(&format!("10.5px {}", ink.font));
    pen.set_text_align("center");
    pen.set_fill_style_str(&ink.faint);
    for &(x, y, group) in &cells.labels {
        let _ = pen.fill_text(&format!("D{group}"), x, y + 3.0);
    }
    let (first, last) = seen;
    if let Some(all) = cells.around(first as usize..=last as usize)
        && (last - first + 1) < views.len() as u32
    {
        pen.set_stroke_style_str(&ink.ink);
        pen.set_line_width(1.6);
        pen.begin_path();
        let _ = pen.round_rect_with_f64(all.x - 2.2, all.y - 2.2, all.w + 4.4, all.h + 4.4, 4.0);
        pen.stroke();
    }
}

struct Inks {
    ink: String,
    faint: String,
    line: String,
    healthy: String,
    boosted: String,
    boosted_tint: String,
    failed: String,
    slow: String,
    spare: String,
    spare_tint: String,
    sunk: String,
    font: String,
}

impl Inks {
    fn read() -> Self {
        let tokens = dom::Tokens::read();
        let of = |name: &str| tokens.get(name);
        Self {
            ink: of("--ink"),
            faint: of("--ink3"),
            line: of("--line2"),
            healthy: of("--st-healthy-bg"),
            boosted: of("--st-boosted"),
            boosted_tint: of("--st-boosted-bg"),
            failed: of("--st-failed"),
            slow: of("--st-slow"),
            spare: of("--st-spare"),
            spare_tint: of("--st-spare-bg"),
            sunk: of("--sunk"),
            font: of("--sans"),
        }
    }
}

fn domain(pen: &CanvasRenderingContext2d, ink: &Inks, cell: &Rect, view: &DomainView) {
    let has = |state: GpuState| view.gpus.iter().any(|gpu| gpu.state == state);
    let reduced = view.slots.iter().zip(&view.degrees).any(|(slot, degree)| {
        slot.is_some()
            && f64::from(*degree) < view.gpus.len() as f64 / view.slots.len().max(1) as f64
            && *degree > 0
    });
    let (fill, edge) = if has(GpuState::Boosted) {
        (&ink.boosted_tint, &ink.boosted)
    } else if has(GpuState::Spare) && !has(GpuState::Healthy) {
        (&ink.spare_tint, &ink.spare)
    } else if has(GpuState::Idle) && !has(GpuState::Healthy) {
        (&ink.sunk, &ink.line)
    } else if reduced {
        (&ink.healthy, &ink.boosted)
    } else {
        (&ink.healthy, &ink.line)
    };
    pen.set_fill_style_str(fill);
    pen.begin_path();
    let _ = pen.round_rect_with_f64(cell.x, cell.y, cell.w, cell.h, 2.0_f64.min(cell.w / 4.0));
    pen.fill();
    if cell.w >= 5.0 {
        pen.set_stroke_style_str(edge);
        pen.set_line_width(1.0);
        pen.stroke();
    }
    let gpus = view.gpus.len();
    // Rows and columns as in the rack: tall cells are racks of four columns, wide ones boards of two rows.
    let columns = if cell.h > cell.w {
        4
    } else {
        gpus.div_ceil(2).clamp(1, 8)
    };
    let rows = gpus.div_ceil(columns).max(1);
    let mark = (cell.w * 0.26).clamp(1.2, 3.6);
    for (index, gpu) in view.gpus.iter().enumerate() {
        let colour = match gpu.state {
            GpuState::Failed | GpuState::Restarting => &ink.failed,
            GpuState::Slow => &ink.slow,
            _ if gpu.benched() => &ink.slow,
            _ => continue,
        };
        let x = cell.x + 1.5 + (cell.w - 3.0) * ((index % columns) as f64 + 0.5) / columns as f64;
        let y = cell.y + 1.5 + (cell.h - 3.0) * ((index / columns) as f64 + 0.5) / rows as f64;
        if cell.w >= 14.0 && columns == 4 {
            // Room for the cross that a tile shows.
            pen.set_stroke_style_str(colour);
            pen.set_line_width(1.6);
            pen.begin_path();
            for (from, to) in [((-1.0, -1.0), (1.0, 1.0)), ((1.0, -1.0), (-1.0, 1.0))] {
                pen.move_to(x + 1.7 * from.0, y + 1.7 * from.1);
                pen.line_to(x + 1.7 * to.0, y + 1.7 * to.1);
            }
            pen.stroke();
        } else {
            pen.set_fill_style_str(colour);
            pen.fill_rect(x - mark / 2.0, y - mark / 2.0, mark, mark);
        }
    }
}
