//! The page's worker: moves messages between the page and a [`Session`](ntp_explorer::work::Session).
//!
//! A message is `[JSON text, attachment]` in both directions: to here the attachment is a file to read, from here the
//! bytes that belong to the text. The first message sent is `[]`: the worker can hear.

#[cfg(target_arch = "wasm32")]
mod here {
    use js_sys::{Array, Date, Uint8Array};
    use ntp_explorer::work::{Body, Order, Reply, Session, Step};
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use wasm_bindgen::closure::Closure;
    use wasm_bindgen::{JsCast, JsValue};
    use web_sys::{
        DedicatedWorkerGlobalScope, File, FileReaderSync, MessageChannel, MessageEvent, MessagePort,
    };

    /// How long the worker does not listen, ms: as late as that a stop is heard.
    const SLICE_MS: f64 = 40.0;

    struct Room {
        scope: DedicatedWorkerGlobalScope,
        session: Session,
        files: BTreeMap<u32, File>,
        /// A message to oneself comes after those that wait already, and sooner than any timer.
        again: MessagePort,
        busy: bool,
    }

    thread_local! {
        static ROOM: RefCell<Option<Room>> = const { RefCell::new(None) };
    }

    fn in_room(act: impl FnOnce(&mut Room)) {
        ROOM.with(|room| {
            if let Ok(mut room) = room.try_borrow_mut()
                && let Some(room) = room.as_mut()
            {
                act(room);
            }
        });
    }

    /// Sets the worker up; it lives until the page ends it.
    pub fn start() {
        console_error_panic_hook::set_once();
        let global: JsValue = js_sys::global().into();
        let Ok(scope) = global.dyn_into::<DedicatedWorkerGlobalScope>() else {
            return;
        };
        let Ok(channel) = MessageChannel::new() else {
            return;
        };
        let pump = Closure::<dyn FnMut()>::new(|| in_room(Room::work));
        channel
            .port1()
            .set_onmessage(Some(pump.as_ref().unchecked_ref()));
        let hear = Closure::<dyn FnMut(MessageEvent)>::new(|event: MessageEvent| {
            in_room(|room| room.hear(&Array::from(&event.data())));
        });
        scope.set_onmessage(Some(hear.as_ref().unchecked_ref()));
        pump.forget();
        hear.forget();
        // Fails only on what cannot be copied.
        let _ = scope.post_message(&Array::new());
        ROOM.with(|room| {
            room.replace(Some(Room {
                scope,
                session: Session::new(),
                files: BTreeMap::new(),
                again: channel.port2(),
                busy: false,
            }))
        });
    }

    impl Room {
        fn hear(&mut self, message: &Array) {
            let text = message.get(0).as_string().unwrap_or_default();
            match serde_json::from_str::<Order>(&text) {
                Ok(order) => {
                    match (&order, message.get(1).dyn_into::<File>()) {
                        (Order::Start { id, .. }, Ok(file)) => {
                            self.files.insert(*id, file);
                        }
                        (Order::Stop { id }, _) => {
                            self.files.remove(id);
                        }
                        _ => {}
                    }
                    self.session.take(order);
                    if !self.busy {
                        self.busy = true;
                        self.next();
                    }
                }
                Err(error) => self.say(&Reply {
                    id: 0,
                    body: Body::Failed(format!("worker: {error}")),
                    bytes: Vec::new(),
                }),
            }
        }

        fn next(&self) {
            let _ = self.again.post_message(&JsValue::NULL);
        }

        fn work(&mut self) {
            let start = Date::now();
            loop {
                let step = self.session.step();
                if let Step::Read { from, most } = step {
                    self.read(from, most);
                }
                for reply in self.session.replies() {
                    if reply.body.ends() {
                        self.files.remove(&reply.id);
                    }
                    self.say(&reply);
                }
                if step == Step::Done {
                    self.busy = false;
                    return;
                }
                if Date::now() - start > SLICE_MS {
                    self.next();
                    return;
                }
            }
        }

        /// Reads on in the file of the order that asks for it.
        fn read(&mut self, from: u64, most: u32) {
            let file = self.session.reader().and_then(|id| self.files.get(&id));
            let bytes = file.and_then(|file| {
                let end = from as f64 + f64::from(most);
                let piece = file.slice_with_f64_and_f64(from as f64, end).ok()?;
                let buffer = FileReaderSync::new()
                    .ok()?
                    .read_as_array_buffer(&piece)
                    .ok()?;
                Some(Uint8Array::new(&buffer).to_vec())
            });
            match bytes {
                Some(bytes) => self.session.feed(&bytes),
                None => self.session.refuse(format!(
                    "log: the file cannot be read at byte {from}; it may have changed or gone"
                )),
            }
        }

        fn say(&self, reply: &Reply) {
            // Plain numbers and text always serialise.
            let text = serde_json::to_string(&(reply.id, &reply.body)).unwrap_or_default();
            let message = Array::of1(&JsValue::from_str(&text));
            let moved = Array::new();
            if !reply.bytes.is_empty() {
                let bytes = Uint8Array::from(reply.bytes.as_slice());
                moved.push(&bytes.buffer());
                message.push(&bytes);
            }
            let _ = self.scope.post_message_with_transfer(&message, &moved);
        }
    }
}

#[cfg(target_arch = "wasm32")]
fn main() {
    here::start();
}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    eprintln!("The page's worker; it runs only in a browser. The command line is `ntp-explorer`.");
}
