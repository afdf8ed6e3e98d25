//! The canvas: painted once a frame at most, with buttons for the groups over it.

use super::input::{Hand, key, pointer, wheel};
use super::model::{Shown, StepPanel};
use super::paint::{Brushes, paint};
use crate::scene::gantt::{GroupState, Layout, Look, Paint, Palette, moving, still};
use crate::ui::dom;
use crate::ui::state::{Shared, Theme};
use leptos::html::{Canvas, Div};
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// The picture.
#[component]
pub fn Plot() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let holder = NodeRef::<Div>::new();
    let canvas = NodeRef::<Canvas>::new();
    dom::on_resize(holder, move |wide, high| panel.size.set((wide, high)));
    let frame = StoredValue::new_local(dom::Frame::default());
    let sheet = StoredValue::new_local(Sheet::default());
    let hand = StoredValue::new_local(Hand::default());

    // One repaint before the next frame, whatever changed.
    Effect::new(move |_| {
        let Some(canvas) = canvas.get() else { return };
        panel.shown.track();
        panel.layout.track();
        panel.window.track();
        panel.hidden.track();
        panel.hover.track();
        panel.range.track();
        panel.found.track();
        panel.app.theme.track();
        let _ = panel.selected();
        frame.update_value(|frame| frame.request(move || show(&panel, &canvas, sheet)));
    });

    let label = move || {
        panel.shown.read().as_ref().map_or_else(String::new, |shown| {
            let view = &shown.view;
            let step = view.worlds.first().map_or(&view.healthy, |world| &world.timeline).step;
            let exposed = view.worlds.first().map_or(0, |world| world.exposed().0);
            format!(
                "Timeline of one training step, {:.1} ms, of which resharding exposes {:.1} ms. Period and comma go from span to span, \
                 question mark lists the keys. The same spans are in the table below.",
                step.0 as f64 / 1e6,
                exposed as f64 / 1e6
            )
        })
    };
    let seen = move || {
        let window = panel.window.get();
        format!("{} {}", window.start, window.end)
    };
    let exposed = move || {
        let shown = panel.shown.read();
        let world = shown.as_ref().and_then(|shown| shown.view.worlds.first());
        world
            .map_or(0.0, |world| world.exposed().0 as f64 / 1e6)
            .to_string()
    };
    let spans = move || {
        let (shown, layout) = (panel.shown.read(), panel.layout.read());
        let view = shown.as_ref().map(|shown| &shown.view);
        let groups = view
            .into_iter()
            .flat_map(|view| view.groups.iter().map(move |group| (view, group)));
        let count: usize = groups
            .flat_map(|(view, group)| {
                view.timeline(group)
                    .streams
                    .iter()
                    .filter(|lane| lane.replica == group.replica)
            })
            .map(|lane| lane.spans.len())
            .sum();
        layout.as_ref().map_or(0, |_| count).to_string()
    };
    view! {
        <div class="gplot" node_ref=holder data-window-ns=seen data-exposed-ms=exposed data-spans=spans>
            <canvas
                node_ref=canvas
                tabindex="0"
                role="application"
                aria-roledescription="timeline"
                aria-label=label
                aria-keyshortcuts="W S A D F . , / ?"
                class:grab=move || panel.hover.read().is_none()
                class:tall=move || panel.layout.read().as_ref().is_some_and(|layout| layout.scroll_end() > 0.0)
                on:pointerdown=move |event| pointer::down(&panel, hand, &event)
                on:pointermove=move |event| pointer::moved(&panel, hand, &event)
                on:pointerup=move |event| pointer::up(&panel, hand, &event)
                on:pointercancel=move |event| pointer::cancel(hand, &event)
                on:pointerleave=move |_| panel.hover.set(None)
                on:dblclick=move |event| pointer::double(&panel, &event)
                on:wheel=move |event| wheel(&panel, &event)
                on:keydown=move |event| key(&panel, &event)
            ></canvas>
            <Groups />
        </div>
    }
}

/// A button a group to collapse it and one to pin it, where its name stands.
#[component]
fn Groups() -> impl IntoView {
    let panel = expect_context::<StepPanel>();
    let places = Memo::new(move |_| {
        let layout = panel.layout.read();
        let (Some(layout), shown) = (layout.as_ref(), panel.shown.read()) else {
            return Vec::new();
        };
        let name = |group: usize| {
            shown
                .as_ref()
                .and_then(|s| s.words.get(group))
                .map_or_else(String::new, |w| w.name.clone())
        };
        let first = |group: usize| {
            layout
                .rows
                .iter()
                .find(|row| row.group == group)
                .map(|row| (row.area.y, row.area.h))
        };
        (0..layout.groups.len())
            .filter_map(|group| {
                let (y, h) = first(group)?;
                let inside = y >= layout.plot.y - 1.0 && y + h <= layout.plot.bottom() + 1.0;
                (inside && layout.wide).then(|| (group, name(group), y + h / 2.0))
            })
            .collect()
    });
    let change = move |group: usize, change: fn(&mut GroupState)| {
        panel.groups.update(|groups| {
            if groups.len() <= group {
                groups.resize(group + 1, GroupState::default());
            }
            if let Some(state) = groups.get_mut(group) {
                change(state);
            }
        });
    };
    let state = move |group: usize| panel.groups.read().get(group).copied().unwrap_or_default();
    view! {
        <For each=move || places.get() key=|place| (place.0, place.1.clone(), place.2.to_bits()) let:place>
            {
                let (group, name, y) = place;
                let (shown, pinned) = (name.clone(), name);
                view! {
                    <button
                        class="gfold"
                        style=format!("top:{:.1}px", y - 9.0)
                        aria-expanded=move || (!state(group).collapsed).to_string()
                        aria-label=format!("{shown}: all tracks")
                        title="Collapse or expand"
                        on:click=move |_| change(group, |state| state.collapsed = !state.collapsed)
                    >
                        <svg viewBox="0 0 8 8" aria-hidden="true" class:shut=move || state(group).collapsed>
                            <path d="M1 2.5 4 5.5 7 2.5" />
                        </svg>
                    </button>
                    <button
                        class="gpin"
                        style=format!("top:{:.1}px", y - 9.0)
                        aria-pressed=move || state(group).pinned.to_string()
                        aria-label=format!("{pinned}: keep at the top")
                        title="Keep at the top"
                        on:click=move |_| change(group, |state| state.pinned = !state.pinned)
                    >
                        <svg viewBox="0 0 10 10" aria-hidden="true">
                            <path d="M3 1h4M3.7 1v3.2L2 6h6L6.300 4.200V1M5 6v3.500" />
                        </svg>
                    </button>
                }
            }
        </For>
    }
}

/// Colours of a theme.
pub fn palette(theme: Theme) -> &'static Palette {
    match theme {
        Theme::Light => &Palette::LIGHT,
        Theme::Dark => &Palette::DARK,
    }
}

/// What is kept from one paint to the next.
#[derive(Default)]
struct Sheet {
    brushes: Brushes,
    /// The canvas's context, for a size in CSS px and device pixels per CSS pixel.
    pen: Option<(CanvasRenderingContext2d, Size)>,
    /// What stands still, and of what it is the picture.
    still: Option<(HtmlCanvasElement, Still)>,
}

type Size = (f64, f64, f64);

/// What stands still follows from these.
type Still = (Shared<Shown>, Shared<Layout>, Theme, Size);

fn show(panel: &StepPanel, canvas: &HtmlCanvasElement, sheet: StoredValue<Sheet, LocalStorage>) {
    let (Some(Some(shown)), Some(Some(layout))) = (
        panel.shown.try_get_untracked(),
        panel.layout.try_get_untracked(),
    ) else {
        return;
    };
    let theme = panel.app.theme.get_untracked();
    let found = panel.found.get_untracked();
    sheet.update_value(|sheet| {
        let palette = palette(theme);
        let scale = dom::ratio();
        let size = (layout.width, layout.height, scale);
        let ground = palette.fill(Paint::Panel).0;
        if sheet.pen.as_ref().is_none_or(|(_, known)| *known != size) {
            let pen = dom::opaque(canvas, layout.width, layout.height, ground);
            sheet.pen = pen.map(|pen| (pen, size));
        }
        let Some((pen, _)) = &sheet.pen else { return };
        let ratio = f64::from(canvas.width()) / layout.width.max(1.0);
        sheet.brushes.prepare(palette, theme == Theme::Dark, ratio);
        let look = Look {
            view: &shown.view,
            layout: &layout,
            window: panel.window.get_untracked(),
            words: &shown.words,
            hidden: panel.hidden.get_untracked(),
            ratio,
            hover: panel.hover.get_untracked().map(|hover| hover.0),
            selected: panel.selected_now(),
            range: panel.range.get_untracked(),
            found: found.as_deref(),
        };
        let of = (shown.clone(), layout.clone(), theme, size);
        if sheet.still.as_ref().is_none_or(|(_, known)| *known != of) {
            let aside = Aside::of(canvas, scale, ground);
            sheet.still = aside.map(|Aside(aside, pen)| {
                paint(&pen, &still(&look), palette, &sheet.brushes, dom::sans!());
                (aside, of)
            });
        }
        if let Some((aside, _)) = &sheet.still {
            let (wide, high) = (f64::from(aside.width()), f64::from(aside.height()));
            // Fails only for an empty canvas.
            let _ = pen.draw_image_with_html_canvas_element_and_dw_and_dh(
                aside,
                0.0,
                0.0,
                wide / scale,
                high / scale,
            );
        }
        paint(pen, &moving(&look), palette, &sheet.brushes, dom::sans!());
    });
}

/// A canvas that is not in the document, as large as another one, and its pen.
struct Aside(HtmlCanvasElement, CanvasRenderingContext2d);

impl Aside {
    fn of(canvas: &HtmlCanvasElement, scale: f64, ground: &str) -> Option<Self> {
        let aside = dom::document()?.create_element("canvas").ok()?;
        let aside: HtmlCanvasElement = aside.dyn_into().ok()?;
        aside.set_width(canvas.width());
        aside.set_height(canvas.height());
        let pen = dom::pen(&aside, false)?;
        pen.scale(scale, scale).ok()?;
        pen.set_fill_style_str(ground);
        let (wide, high) = (f64::from(aside.width()), f64::from(aside.height()));
        pen.fill_rect(0.0, 0.0, wide / scale, high / scale);
        Some(Self(aside, pen))
    }
}
