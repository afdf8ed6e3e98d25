//! Width of an element, for pictures that are laid out in pixels.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::Closure;

/// Room of the side column on a 1440 px wide page, used until the element has been measured.
const USUAL: f64 = 492.0;

/// The element's inner width in its own CSS pixels (page zoom taken out), followed as it changes.
pub fn use_width(element: NodeRef<html::Div>) -> Signal<f64> {
    let width = RwSignal::new(USUAL);
    let observed = StoredValue::new_local(None::<(web_sys::ResizeObserver, Closure<dyn FnMut()>)>);
    Effect::new(move |_| {
        let Some(element) = element.get() else { return };
        let watched = element.clone();
        let measure = move || {
            // clientWidth is in the element's own pixels: the page's zoom does not enter.
            let now = f64::from(element.client_width());
            if now > 0.0 && (width.get_untracked() - now).abs() >= 1.0 {
                width.set(now);
            }
        };
        // The observer tells the first size too, once it is laid out and before it is painted.
        let changed = Closure::<dyn FnMut()>::new(measure);
        let Ok(observer) = web_sys::ResizeObserver::new(changed.as_ref().unchecked_ref()) else {
            return;
        };
        observer.observe(&watched);
        observed.set_value(Some((observer, changed)));
    });
    on_cleanup(move || {
        if let Some((observer, _)) = observed.try_update_value(Option::take).flatten() {
            observer.disconnect();
        }
    });
    width.into()
}
