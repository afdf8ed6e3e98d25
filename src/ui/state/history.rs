//! Undo and redo over whole values: an edit makes a new value, so a step is free.

/// Steps kept; the oldest is forgotten beyond this.
const DEPTH: usize = 200;

/// Values before and after the present one.
#[derive(Clone)]
pub struct History<T> {
    past: Vec<T>,
    future: Vec<T>,
    tag: Option<&'static str>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self {
            past: Vec::new(),
            future: Vec::new(),
            tag: None,
        }
    }
}

impl<T> History<T> {
    /// Records the value that an edit replaces. An edit with the same tag as the one before joins its step.
    pub fn push(&mut self, old: T, tag: Option<&'static str>) {
        let joins =
            tag.is_some() && tag == self.tag && !self.past.is_empty() && self.future.is_empty();
        self.tag = tag;
        self.future.clear();
        if joins {
            return;
        }
        if self.past.len() >= DEPTH {
            self.past.remove(0);
        }
        self.past.push(old);
    }

    /// The value before `now`, which becomes the next to redo.
    pub fn undo(&mut self, now: T) -> Option<T> {
        let then = self.past.pop()?;
        self.future.push(now);
        self.tag = None;
        Some(then)
    }

    /// The value undone last, with `now` the next to undo.
    pub fn redo(&mut self, now: T) -> Option<T> {
        let then = self.future.pop()?;
        self.past.push(now);
        self.tag = None;
        Some(then)
    }

    /// Whether there is a step back.
    pub fn can_undo(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether there is a step forward.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }
}
