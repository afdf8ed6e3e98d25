//! "why?": numbers that open their formula, with the values filled in, the source and the measured error.
//!
//! Any component may place a [`Why`]; one [`WhyDialog`] near the root of the page shows what was asked.

use super::dom;
use super::state::use_app;
use crate::scene::side::why::Explanation;
use leptos::ev;
use leptos::html;
use leptos::portal::Portal;
use leptos::prelude::*;
use wasm_bindgen::JsCast as _;

/// What is open, and where it hangs.
#[derive(Clone, Debug, PartialEq)]
struct Opened {
    explanation: Explanation,
    /// Left, top and bottom of the number, CSS pixels of the viewport.
    left: f64,
    top: f64,
    bottom: f64,
}

/// Handle on the page's one dialog.
#[derive(Clone, Copy)]
pub struct WhyPort {
    opened: RwSignal<Option<Opened>>,
    /// The number that was asked: focus returns to it.
    asker: StoredValue<Option<web_sys::HtmlElement>, LocalStorage>,
}

impl WhyPort {
    /// The page's handle; makes and provides one where there is none yet.
    pub fn of_page() -> Self {
        use_context().unwrap_or_else(|| {
            let port = Self {
                opened: RwSignal::new(None),
                asker: StoredValue::new_local(None),
            };
            provide_context(port);
            port
        })
    }

    /// Opens an explanation beside `element`; asking the same number again closes it.
    pub fn ask(self, explanation: Explanation, element: web_sys::HtmlElement) {
        let same = self.opened.with_untracked(|opened| {
            opened
                .as_ref()
                .is_some_and(|opened| opened.explanation == explanation)
        });
        if same {
            self.close();
            return;
        }
        let rect = element.get_bounding_client_rect();
        self.asker.set_value(Some(element));
        self.opened.set(Some(Opened {
            explanation,
            left: rect.left(),
            top: rect.top(),
            bottom: rect.bottom(),
        }));
    }

    /// Closes, and gives the focus back to the number.
    pub fn close(self) {
        if self.opened.with_untracked(Option::is_some) {
            self.opened.set(None);
            if let Some(element) = self.asker.try_update_value(Option::take).flatten() {
                // The element may be gone by now; then there is nothing to focus.
                let _ = element.focus();
            }
        }
    }
}

/// A number with a dotted underline that answers "why?".
#[component]
pub fn Why(
    /// The number as written.
    #[prop(into)]
    text: Signal<String>,
    /// Builds the answer when asked.
    #[prop(into)]
    explain: Callback<(), Explanation>,
    /// Further classes.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    let port = WhyPort::of_page();
    let ask = move |event: ev::MouseEvent| {
        event.stop_propagation();
        if let Some(element) = event
            .current_target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok())
        {
            port.ask(explain.run(()), element);
        }
    };
    view! {
        <button type="button" class=format!("why {class}") aria-haspopup="dialog" title="Why?" on:click=ask>
            {text}
        </button>
    }
}

/// Widest the dialog gets, CSS pixels.
const WIDTH: f64 = 344.0;
/// Kept free at the edges of the viewport.
const MARGIN: f64 = 8.0;

/// The dialog; one near the root of the page.
#[component]
pub fn WhyDialog() -> impl IntoView {
    let port = WhyPort::of_page();
    let escape = window_event_listener(ev::keydown, move |event| {
        if event.key() == "Escape" && port.opened.with_untracked(Option::is_some) {
            event.prevent_default();
            event.stop_propagation();
            port.close();
        }
    });
    on_cleanup(move || escape.remove());
    let body = NodeRef::<html::Div>::new();
    let outside = window_event_listener(ev::pointerdown, move |event| {
        let Some(target) = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        else {
            return;
        };
        let inside = body
            .get_untracked()
            .is_some_and(|body| body.contains(Some(&target)));
        // The number itself toggles in its click handler.
        let asker = target.closest(".why").ok().flatten().is_some();
        if !inside && !asker && port.opened.with_untracked(Option::is_some) {
            port.opened.set(None);
        }
    });
    on_cleanup(move || outside.remove());
    Effect::new(move |_| {
        if port.opened.with(Option::is_some)
            && let Some(body) = body.get()
        {
            let _ = body.focus();
        }
    });
    // Values filled in for another scenario or strategy would be wrong beside the new number.
    let app = use_app();
    Effect::new(move |before: Option<()>| {
        app.job.track();
        app.selected.track();
        if before.is_some() {
            port.opened.set(None);
        }
    });
    view! {
        <Portal>
            {move || port.opened.get().map(|opened| view! { <Body opened port body /> })}
        </Portal>
    }
}

#[component]
fn Body(opened: Opened, port: WhyPort, body: NodeRef<html::Div>) -> impl IntoView {
    let Explanation {
        title,
        value,
        formula,
        filled,
        values,
        source,
        error,
    } = opened.explanation;
    let viewport =
        |read: fn(&web_sys::Window) -> Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue>,
         fallback: f64| {
            read(&window())
                .ok()
                .and_then(|value| value.as_f64())
                .unwrap_or(fallback)
        };
    let (wide, high) = (
        viewport(web_sys::Window::inner_width, 1440.0),
        viewport(web_sys::Window::inner_height, 900.0),
    );
    // The dialog is zoomed with the page, so its lengths are page pixels, while the number was measured on the screen.
    let zoom = dom::zoom();
    let (wide, high) = (wide / zoom, high / zoom);
    let opened = Opened {
        explanation: Explanation::default(),
        left: opened.left / zoom,
        top: opened.top / zoom,
        bottom: opened.bottom / zoom,
    };
    let left = opened.left.min(wide - WIDTH - MARGIN).max(MARGIN);
    // Below the number where there is more room there, else above it.
    let vertical = if high - opened.bottom >= opened.top {
        format!(
            "top:{:.0}px;max-height:{:.0}px",
            opened.bottom + 6.0,
            high - opened.bottom - 6.0 - MARGIN
        )
    } else {
        format!(
            "bottom:{:.0}px;max-height:{:.0}px",
            high - opened.top + 6.0,
            opened.top - 6.0 - MARGIN
        )
    };
    view! {
        <div
            node_ref=body
            class="whypop"
            role="dialog"
            aria-labelledby="why-title"
            tabindex="-1"
            style=format!("left:{left:.0}px;{vertical}")
        >
            <header>
                <h2 id="why-title">{title}</h2>
                <button type="button" class="x" aria-label="Close" on:click=move |_| port.close()>
                    <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M2 2l6 6M8 2 2 8" /></svg>
                </button>
            </header>
            <p class="val">{value}</p>
            <p class="formula">{formula}</p>
            {filled.map(|filled| view! { <p class="filled">{filled}</p> })}
            {(!values.is_empty())
                .then(|| {
                    view! {
                        <dl>
                            {values
                                .into_iter()
                                .map(|line| {
                                    view! {
                                        <dt>{line.symbol}</dt>
                                        <dd>
                                            <b>{line.value}</b>
                                            " "
                                            <span class="m">{line.meaning}</span>
                                        </dd>
                                    }
                                })
                                .collect_view()}
                        </dl>
                    }
                })}
            {(!source.is_empty()).then(|| view! { <p class="src"><span class="m">"Source "</span>{source}</p> })}
            {error.map(|error| view! { <p class="src"><span class="m">"Error "</span>{error}</p> })}
        </div>
    }
}
