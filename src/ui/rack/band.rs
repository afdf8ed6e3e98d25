//! The ink rectangle that a mouse drags over tiles.

use super::View;
use super::actions::At;
use super::input::at;
use crate::ui::dom;
use leptos::html::Div;
use leptos::prelude::*;
use web_sys::{DomRect, Element, HtmlElement};

struct Dragging {
    start: (f64, f64),
    /// The box that scrolls, and how much wider it is drawn than laid out (page zoom by CSS).
    frame: DomRect,
    zoom: f64,
    scroll: f64,
    tiles: Vec<(Element, DomRect)>,
    inside: Vec<usize>,
}

/// The rectangle; idle most of the time.
#[derive(Clone, Copy)]
pub struct Band {
    /// Its element.
    pub node: NodeRef<Div>,
    dragging: StoredValue<Option<Dragging>, LocalStorage>,
}

impl Band {
    /// No drag yet.
    pub fn new() -> Self {
        Self {
            node: NodeRef::new(),
            dragging: StoredValue::new_local(None),
        }
    }

    /// Whether a drag is going on.
    pub fn active(self) -> bool {
        self.dragging.with_value(Option::is_some)
    }

    /// Starts at a point of the window, remembering where every tile in view is.
    pub fn start(self, view: View, start: (f64, f64)) {
        let Some(scroller) = view.scroller.get_untracked() else {
            return;
        };
        let frame = scroller.get_bounding_client_rect();
        let zoom = match f64::from(scroller.offset_width()) {
            wide if wide > 0.0 => frame.width() / wide,
            _ => 1.0,
        };
        let tiles = view.stage.with_value(|stage| {
            let near = |element: &Element| {
                let rect = element.get_bounding_client_rect();
                rect.bottom() > frame.top() && rect.top() < frame.bottom()
            };
            let domains = stage.domains.iter().filter(|domain| near(&domain.cabinet));
            domains
                .flat_map(|domain| &domain.cells)
                .map(|cell| (Element::from(cell.clone()), cell.get_bounding_client_rect()))
                .collect()
        });
        let scroll = f64::from(scroller.scroll_top());
        self.dragging.set_value(Some(Dragging {
            start,
            frame,
            zoom,
            scroll,
            tiles,
            inside: Vec::new(),
        }));
    }

    /// Stretches to a point of the window and outlines the tiles inside.
    pub fn stretch(self, (x, y): (f64, f64)) {
        let node: Option<HtmlElement> = self
            .node
            .get_untracked()
            .map(wasm_bindgen::JsCast::unchecked_into);
        self.dragging.update_value(|dragging| {
            let Some(drag) = dragging else { return };
            let (left, right) = (drag.start.0.min(x), drag.start.0.max(x));
            let (top, bottom) = (drag.start.1.min(y), drag.start.1.max(y));
            let now: Vec<usize> = (0..)
                .zip(&drag.tiles)
                .filter(|(_, (_, r))| {
                    r.left() < right && r.right() > left && r.top() < bottom && r.bottom() > top
                })
                .map(|(index, _)| index)
                .collect();
            let class = |index: &usize, on: bool| {
                if let Some((tile, _)) = drag.tiles.get(*index) {
                    let _ = tile.class_list().toggle_with_force("hov", on);
                }
            };
            drag.inside
                .iter()
                .filter(|index| !now.contains(index))
                .for_each(|index| class(index, false));
            now.iter()
                .filter(|index| !drag.inside.contains(index))
                .for_each(|index| class(index, true));
            drag.inside = now;
            if let Some(node) = node {
                let px = |value: f64| format!("{:.1}px", value / drag.zoom);
                for (name, value) in [
                    ("left", px(left - drag.frame.left())),
                    (
                        "top",
                        format!(
                            "{:.1}px",
                            (top - drag.frame.top()) / drag.zoom + drag.scroll
                        ),
                    ),
                    ("width", px(right - left)),
                    ("height", px(bottom - top)),
                    ("display", "block".into()),
                ] {
                    dom::style(&node, name, &value);
                }
                let _ = node.set_attribute("data-count", &drag.inside.len().to_string());
            }
        });
    }

    /// Ends the drag; the GPUs inside.
    pub fn finish(self) -> Vec<At> {
        let Some(drag) = self.dragging.try_update_value(Option::take).flatten() else {
            return Vec::new();
        };
        self.hide();
        let inside: Vec<&Element> = drag
            .inside
            .iter()
            .filter_map(|index| drag.tiles.get(*index))
            .map(|(tile, _)| tile)
            .collect();
        for tile in &inside {
            let _ = tile.class_list().remove_1("hov");
        }
        inside.into_iter().filter_map(at).collect()
    }

    /// Ends the drag without effect.
    pub fn drop_it(self) {
        self.finish();
    }

    fn hide(self) {
        if let Some(node) = self.node.get_untracked() {
            dom::style(&node, "display", "none");
        }
    }
}
