//! Small helpers around the document.

use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, Window};

/// The window; absent only outside a page.
pub fn window() -> Option<Window> {
    web_sys::window()
}

/// The document.
pub fn document() -> Option<Document> {
    window()?.document()
}

/// The root element.
pub fn root() -> Option<HtmlElement> {
    document()?.document_element()?.dyn_into().ok()
}

/// Sets an attribute of the root element.
pub fn set_root(name: &str, value: &str) {
    if let Some(root) = root() {
        // Fails only on an invalid attribute name.
        let _ = root.set_attribute(name, value);
    }
}

/// Width of the window, CSS px.
pub fn window_width() -> f64 {
    window()
        .and_then(|w| w.inner_width().ok())
        .and_then(|v| v.as_f64())
        .unwrap_or(1440.0)
}

/// Scale of the whole page, as the style sheet sets it; 1 when it cannot be read.
pub fn zoom() -> f64 {
    let style = window()
        .zip(root())
        .and_then(|(w, r)| w.get_computed_style(&r).ok().flatten());
    let zoom = style
        .and_then(|s| s.get_property_value("--zoom").ok())
        .and_then(|z| z.trim().parse().ok());
    zoom.filter(|z: &f64| z.is_finite() && *z > 0.0)
        .unwrap_or(1.0)
}

/// Whether the user asks for little motion.
pub fn reduced_motion() -> bool {
    media("(prefers-reduced-motion: reduce)")
}

/// Whether a media query holds.
pub fn media(query: &str) -> bool {
    window()
        .and_then(|w| w.match_media(query).ok().flatten())
        .is_some_and(|m| m.matches())
}

/// Removes an element by id, if it is there.
pub fn remove(id: &str) {
    if let Some(element) = document().and_then(|d| d.get_element_by_id(id)) {
        element.remove();
    }
}

/// The target of an event as an element.
pub fn target(event: &web_sys::Event) -> Option<Element> {
    event.target()?.dyn_into().ok()
}

/// The location's hash, `#` included; empty when there is none.
pub fn hash() -> String {
    window()
        .and_then(|w| w.location().hash().ok())
        .unwrap_or_default()
}
