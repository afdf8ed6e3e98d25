//! Work that waits until a frame is painted.

use leptos::prelude::request_animation_frame;
use std::cell::RefCell;
use std::collections::VecDeque;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageChannel, MessageEvent, MessagePort};

type Task = Box<dyn FnOnce()>;

thread_local! {
    /// Tasks that wait for the next frame to begin.
    static WAITING: RefCell<Vec<Task>> = const { RefCell::new(Vec::new()) };
    /// Tasks whose frame has begun, each for a task of the browser of its own.
    static DUE: RefCell<VecDeque<Task>> = const { RefCell::new(VecDeque::new()) };
    /// A message to it runs the next task that is due. A message, as timers may overtake the frame that they are to follow.
    static BELL: Option<MessagePort> = bell();
}

/// Runs once the next frame is painted, so that it does not hold the frame up. Boxes can be read cheaply then.
pub fn after_paint(then: impl FnOnce() + 'static) {
    let first = WAITING.with_borrow_mut(|waiting| {
        waiting.push(Box::new(then));
        waiting.len() == 1
    });
    if first {
        request_animation_frame(|| {
            let begun = WAITING.take();
            let idle = DUE.with_borrow_mut(|due| {
                let idle = due.is_empty();
                due.extend(begun);
                idle
            });
            if idle {
                ring();
            }
        });
    }
}

fn bell() -> Option<MessagePort> {
    let channel = MessageChannel::new().ok()?;
    let heard = Closure::<dyn FnMut(MessageEvent)>::new(|_| next());
    channel
        .port1()
        .set_onmessage(Some(heard.as_ref().unchecked_ref()));
    // For as long as the page lives.
    heard.forget();
    Some(channel.port2())
}

fn ring() {
    // Fails for nothing that can be copied.
    let rung = BELL.with(|bell| {
        let bell = bell.as_ref()?;
        bell.post_message(&JsValue::NULL).ok()
    });
    if rung.is_none() {
        next();
    }
}

fn next() {
    let (task, more) = DUE.with_borrow_mut(|due| (due.pop_front(), !due.is_empty()));
    if more {
        ring();
    }
    if let Some(task) = task {
        task();
    }
}
