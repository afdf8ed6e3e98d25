//! The pages that are fetched when they are first opened; see `ui::annex`. Nothing outside a browser.

#[cfg(target_arch = "wasm32")]
mod page {
    use js_sys::Promise;
    use ntp_explorer::ui::worker::Hand;
    use ntp_explorer::work::{Body, Request};
    use wasm_bindgen::JsValue;
    use wasm_bindgen::prelude::wasm_bindgen;

    /// Draws the page of an address inside an element. Here and not in the library, so that no other program carries it.
    #[wasm_bindgen]
    pub fn open(inside: web_sys::HtmlElement, address: String) {
        ntp_explorer::ui::annex::open(inside, address);
    }

    /// The digest of a fixed run as the worker computes it, or the line that says why not: the tests compare it with the
    /// native one.
    #[wasm_bindgen]
    pub fn golden_digest(seed: u32) -> Promise {
        Promise::new(&mut |answer, _| {
            let hand = Hand::default();
            // The worker must live until it has answered.
            let alive = hand.clone();
            let hear = Box::new(move |body, _| {
                let (Body::Digest(text) | Body::Failed(text)) = body else {
                    return;
                };
                // Calling a promise's own function cannot fail.
                let _ = answer.call1(&JsValue::NULL, &JsValue::from_str(&text));
                alive.kill();
            });
            let seed = u64::from(seed);
            hand.ask(Request::Digest { seed }, None, hear);
        })
    }
}

fn main() {}
