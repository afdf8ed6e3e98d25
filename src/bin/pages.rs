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

    /// 28-day runs of the 1,024-GPU study a second in a worker, over `runs` of them once it is warm; 0 where it fails.
    #[wasm_bindgen]
    pub fn bench_fleets(runs: u32) -> Promise {
        Promise::new(&mut |answer, _| {
            let hand = Hand::default();
            let again = hand.clone();
            let warm = Box::new(move |body, _| {
                let (answer, alive, start) = (answer.clone(), again.clone(), now());
                let hear = Box::new(move |body, _| {
                    let passed = (now() - start) / 1000.0;
                    let rate = match body {
                        Body::Done if passed > 0.0 => f64::from(runs) / passed,
                        _ => 0.0,
                    };
                    // Calling a promise's own function cannot fail.
                    let _ = answer.call1(&JsValue::NULL, &JsValue::from_f64(rate));
                    alive.kill();
                });
                if matches!(body, Body::Done) {
                    again.ask(Request::Workout { runs }, None, hear);
                }
            });
            hand.ask(Request::Workout { runs: 500 }, None, warm);
        })
    }

    fn now() -> f64 {
        let clock = web_sys::window().and_then(|window| window.performance());
        clock.map_or(0.0, |clock| clock.now())
    }
}

fn main() {}
