//! Work in slices between frames: it never holds the main thread for long, shows how far it is, and can be stopped.

use crate::ui::dom;
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;

/// Length of a slice, ms: a frame at 60 Hz still fits beside it.
const SLICE_MS: f64 = 10.0;

/// How a piece of work stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Not begun.
    Waiting,
    /// Under way, this share done.
    Running(f64),
    /// Ended.
    Done,
    /// Stopped by the user.
    Stopped,
}

/// Handle on one piece of work.
#[derive(Clone, Copy)]
pub struct Slices {
    /// How it stands.
    pub standing: RwSignal<Standing>,
    timer: StoredValue<Option<Timeout>, LocalStorage>,
}

impl Slices {
    /// A handle with nothing to do; leaving the page stops it.
    pub fn new() -> Self {
        let slices = Self {
            standing: RwSignal::new(Standing::Waiting),
            timer: StoredValue::new_local(None),
        };
        on_cleanup(move || {
            slices.timer.try_update_value(Option::take);
        });
        slices
    }

    /// Starts: `step` does a few milliseconds of work and returns the share done, or none at the end.
    pub fn start(self, step: impl FnMut() -> Option<f64> + 'static) {
        self.standing.set(Standing::Running(0.0));
        self.next(Rc::new(RefCell::new(step)));
    }

    /// Stops; what has been found so far stays.
    pub fn stop(self) {
        self.timer.update_value(|timer| *timer = None);
        self.standing.set(Standing::Stopped);
    }

    fn next(self, step: Rc<RefCell<dyn FnMut() -> Option<f64>>>) {
        let timer = Timeout::new(0, move || {
            let started = dom::now_ms();
            let mut share = Some(0.0);
            while share.is_some() && dom::now_ms() - started < SLICE_MS {
                share = (step.borrow_mut())();
            }
            match share {
                Some(share) => {
                    self.standing.set(Standing::Running(share));
                    self.next(step);
                }
                None => {
                    let _ = self.standing.try_set(Standing::Done);
                }
            }
        });
        // The page may have been left meanwhile; then the timer is dropped, which cancels it.
        self.timer.try_update_value(|slot| *slot = Some(timer));
    }
}
