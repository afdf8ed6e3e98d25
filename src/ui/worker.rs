//! The page's side of its workers: start one when it is first needed, send orders, hand replies to whoever asked.
//!
//! Nothing of a worker is fetched before the first order. What goes wrong in one (it cannot be loaded, it dies) reaches
//! every order that waits for it as [`Body::Failed`], and the next order gets a new worker.

mod pool;

pub use pool::Pool;

use super::dom;
use crate::work::{Body, Order, Request};
use js_sys::{Array, Uint8Array};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Worker};

/// Hears what is said about an order, with the bytes that belong to it.
pub type Hear = Box<dyn FnMut(Body, Vec<u8>)>;

thread_local! {
    /// Numbers of orders, over all workers.
    static NEXT: Cell<u32> = const { Cell::new(1) };
}

/// One worker. Clones are the same one; it ends with the last of them.
#[derive(Clone, Default)]
pub struct Hand(Rc<RefCell<Inner>>);

#[derive(Default)]
struct Inner {
    worker: Option<Worker>,
    /// It has said that it hears.
    ready: bool,
    /// Messages from before that.
    waiting: Vec<Array>,
    open: BTreeMap<u32, Rc<RefCell<Hear>>>,
    /// Kept alive for the worker.
    heard: Option<Closure<dyn FnMut(MessageEvent)>>,
    broken: Option<Closure<dyn FnMut(web_sys::Event)>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(worker) = self.worker.take() {
            end(&worker);
        }
    }
}

/// Ends a worker. What it says from then on, such as that it was ended while it loaded, is heard by nobody.
fn end(worker: &Worker) {
    worker.set_onmessage(None);
    worker.set_onerror(None);
    worker.terminate();
}

impl Hand {
    /// Sends an order; `hear` is called for everything said about it, never during this call. Gives its number.
    pub fn ask(&self, request: Request, file: Option<&web_sys::File>, hear: Hear) -> u32 {
        let id = NEXT.with(|next| next.replace(next.get().wrapping_add(1)));
        self.0
            .borrow_mut()
            .open
            .insert(id, Rc::new(RefCell::new(hear)));
        self.send(&Order::Start { id, request }, file);
        id
    }

    /// Tells it to stop; nothing more is heard about the order.
    pub fn stop(&self, id: u32) {
        if self.0.borrow_mut().open.remove(&id).is_some() {
            self.send(&Order::Stop { id }, None);
        }
    }

    /// Ends the worker at once, whatever it does. Nothing more is heard; the next order starts a new one, which remembers
    /// nothing of the old one.
    pub fn kill(&self) {
        let mut inner = self.0.borrow_mut();
        if let Some(worker) = inner.worker.take() {
            end(&worker);
        }
        inner.ready = false;
        inner.waiting.clear();
        inner.open.clear();
    }

    /// Orders not done yet.
    pub fn open(&self) -> usize {
        self.0.borrow().open.len()
    }

    fn send(&self, order: &Order, file: Option<&web_sys::File>) {
        // Plain numbers and text always serialise.
        let text = serde_json::to_string(order).unwrap_or_default();
        let message = Array::of1(&JsValue::from_str(&text));
        if let Some(file) = file {
            message.push(file);
        }
        if self.0.borrow().worker.is_none() && !self.start() {
            return;
        }
        let mut inner = self.0.borrow_mut();
        if inner.ready {
            if let Some(worker) = &inner.worker {
                // Fails only on what cannot be copied.
                let _ = worker.post_message(&message);
            }
        } else {
            inner.waiting.push(message);
        }
    }

    fn start(&self) -> bool {
        let build = build();
        let address = if build.is_empty() {
            "./worker-start.js".to_owned()
        } else {
            ["./worker-start.js?", &build].concat()
        };
        let Ok(worker) = Worker::new(&address) else {
            // As in a page opened from a file.
            self.fail_later("worker: this browser does not let the page start one here");
            return false;
        };
        let weak = Rc::downgrade(&self.0);
        let heard = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(inner) = weak.upgrade() {
                Self(inner).hear(&Array::from(&event.data()));
            }
        });
        let weak = Rc::downgrade(&self.0);
        let broken = Closure::<dyn FnMut(web_sys::Event)>::new(move |event: web_sys::Event| {
            if let Some(inner) = weak.upgrade() {
                // A worker that could not be fetched gives an event without a message.
                let line = js_sys::Reflect::get(&event, &JsValue::from_str("message"));
                let line = line
                    .ok()
                    .and_then(|line| line.as_string())
                    .unwrap_or_default();
                let line = if line.is_empty() {
                    "worker: it could not be loaded; look whether the page is still online"
                        .to_owned()
                } else {
                    ["worker: it ended with an error. ", &line].concat()
                };
                Self(inner).fail(&line);
            }
        });
        worker.set_onmessage(Some(heard.as_ref().unchecked_ref()));
        worker.set_onerror(Some(broken.as_ref().unchecked_ref()));
        let mut inner = self.0.borrow_mut();
        inner.worker = Some(worker);
        inner.ready = false;
        // The ones before, if any, belong to a worker that has ended; one of them may be running right now.
        let old = (inner.heard.replace(heard), inner.broken.replace(broken));
        drop(inner);
        std::mem::forget(old);
        true
    }

    fn hear(self, message: &Array) {
        let Some(text) = message.get(0).as_string() else {
            let mut inner = self.0.borrow_mut();
            inner.ready = true;
            for message in std::mem::take(&mut inner.waiting) {
                if let Some(worker) = &inner.worker {
                    let _ = worker.post_message(&message);
                }
            }
            return;
        };
        match serde_json::from_str::<(u32, Body)>(&text) {
            Ok((id, body)) => {
                let bytes = message.get(1);
                let bytes = bytes
                    .dyn_ref::<Uint8Array>()
                    .map_or_else(Vec::new, Uint8Array::to_vec);
                let hear = if body.ends() {
                    self.0.borrow_mut().open.remove(&id)
                } else {
                    self.0.borrow().open.get(&id).cloned()
                };
                if let Some(hear) = hear {
                    (hear.borrow_mut())(body, bytes);
                }
            }
            // A worker of another build of the page.
            Err(_) => {
                self.fail("worker: it is of another version than the page; load the page anew");
            }
        }
    }

    /// The worker is gone: everyone who waits hears why.
    fn fail(self, line: &str) {
        let open = {
            let mut inner = self.0.borrow_mut();
            if let Some(worker) = inner.worker.take() {
                end(&worker);
            }
            inner.ready = false;
            inner.waiting.clear();
            std::mem::take(&mut inner.open)
        };
        for hear in open.into_values() {
            (hear.borrow_mut())(Body::Failed(line.to_owned()), Vec::new());
        }
    }

    fn fail_later(&self, line: &'static str) {
        let hand = self.clone();
        leptos::prelude::queue_microtask(move || hand.fail(line));
    }
}

/// Names the build of the page, from the hash in the name of its script; empty where there is none.
fn build() -> String {
    let link = dom::document()
        .and_then(|document| document.query_selector("link[rel=modulepreload]").ok()?)
        .and_then(|link| link.get_attribute("href"))
        .unwrap_or_default();
    let name = link.trim_end_matches(".js");
    name.rsplit_once('-')
        .map_or_else(String::new, |(_, hash)| hash.to_owned())
}

/// Cores of this machine, as far as the browser says; at least 1.
pub fn cores() -> usize {
    dom::window().map_or(1, |window| {
        (window.navigator().hardware_concurrency() as usize).max(1)
    })
}
