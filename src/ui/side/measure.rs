//! Width of an element, for pictures that are laid out in pixels.

use crate::ui::dom;
use leptos::html;
use leptos::prelude::*;

/// Room of the side column on a 1440 px wide page, used until the element has been measured.
const USUAL: f64 = 492.0;

/// The element's inner width in its own CSS pixels (page zoom taken out), followed as it changes.
pub fn use_width(element: NodeRef<html::Div>) -> Signal<f64> {
    let width = RwSignal::new(USUAL);
    // The first size is told too, once it is laid out and before it is painted.
    dom::on_resize(element, move |_, _| {
        let Some(Some(element)) = element.try_get_untracked() else {
            return;
        };
        // clientWidth is in the element's own pixels: the page's zoom does not enter.
        let now = f64::from(element.client_width());
        if now > 0.0 && (width.get_untracked() - now).abs() >= 1.0 {
            width.set(now);
        }
    });
    width.into()
}
