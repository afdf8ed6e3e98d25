//! Where the pages of the second program are shown; fetches it when one of them is opened first.

use super::bridge;
use super::dom;
use super::link;
use super::state::use_app;
use js_sys::Promise;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::HtmlElement;

#[wasm_bindgen]
extern "C" {
    /// Of `index.html`: fetches the second program and opens it inside an element.
    #[wasm_bindgen(js_name = ntpPages, catch)]
    fn ntp_pages(inside: &HtmlElement, address: &str) -> Result<Promise, JsValue>;
}

/// How far the second program is.
#[derive(Clone, PartialEq)]
enum Standing {
    Wanted,
    Coming,
    Here,
    Failed(String),
}

/// The element below the header that the second program draws in.
#[component]
pub fn LazyPages() -> impl IntoView {
    let app = use_app();
    let inside = NodeRef::<html::Div>::new();
    let standing = RwSignal::new(Standing::Wanted);
    Effect::new(move |_| {
        let wanted = app.route.get().is_lazy() && standing.get() == Standing::Wanted;
        let Some(element) = inside.get().filter(|_| wanted) else {
            return;
        };
        standing.set(Standing::Coming);
        let address = untrack(|| link::address(app, app.route.get()));
        let here = Closure::once_into_js(move |_: JsValue| {
            standing.set(Standing::Here);
            // It opened what was shown when it was sent for.
            bridge::repeat(app);
        });
        let failed = Closure::once_into_js(move |error: JsValue| {
            standing.set(Standing::Failed(dom::words_of(&error)));
        });
        match ntp_pages(&element, &address) {
            Ok(coming) => {
                let then: Result<js_sys::Function, _> =
                    js_sys::Reflect::get(&coming, &"then".into()).and_then(JsCast::dyn_into);
                if let Ok(then) = then {
                    // A promise's own `then` does not throw.
                    let _ = then.call2(&coming, &here, &failed);
                }
            }
            Err(error) => standing.set(Standing::Failed(dom::words_of(&error))),
        }
    });
    view! {
        <div class="lazy" node_ref=inside></div>
        {move || {
            (app.route.get().is_lazy())
                .then(|| match standing.get() {
                    Standing::Here | Standing::Wanted => ().into_any(),
                    Standing::Coming => view! { <main class="coming" role="status">"Loading this page…"</main> }.into_any(),
                    Standing::Failed(why) => {
                        view! {
                            <main class="coming" role="alert">
                                <p>{format!("This page could not be loaded: {why}.")}</p>
                                <button class="tb line" on:click=move |_| standing.set(Standing::Wanted)>
                                    "Try again"
                                </button>
                            </main>
                        }
                            .into_any()
                    }
                })
        }}
    }
}
