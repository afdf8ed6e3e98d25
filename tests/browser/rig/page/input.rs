//! What a user does, with the mouse, a finger and the keyboard.

use super::Page;
use super::read::gpu;
use fantoccini::Locator;
use fantoccini::actions::{
    InputSource, KeyAction, KeyActions, MouseActions, PointerAction, TouchActions,
};
use fantoccini::actions::{MOUSE_BUTTON_LEFT, MOUSE_BUTTON_RIGHT};
use fantoccini::key::Key;
use serde_json::json;
use std::time::Duration;

impl Page {
    /// The middle of an element, scrolled into view, in CSS px of the window.
    async fn middle_of(&self, css: &str) -> (f64, f64) {
        let code = "const e = document.querySelector(arguments[0]); if (!e) return null; \
                    e.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' }); \
                    const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]";
        let at = self.script(code, json!([css])).await;
        serde_json::from_value(at).unwrap_or_else(|_| panic!("no element {css}"))
    }

    /// Clicks an element with the mouse.
    pub async fn click(&self, css: &str) {
        let at = self.middle_of(css).await;
        self.press_mouse(&[at], MOUSE_BUTTON_LEFT).await;
    }

    /// Clicks a GPU.
    pub async fn click_gpu(&self, domain: u32, index: u32) {
        self.click(&gpu(domain, index)).await;
    }

    /// Opens a GPU's menu with the right button.
    pub async fn right_click_gpu(&self, domain: u32, index: u32) {
        let at = self.middle_of(&gpu(domain, index)).await;
        self.press_mouse(&[at], MOUSE_BUTTON_RIGHT).await;
    }

    /// Drags the mouse from one GPU to another.
    pub async fn drag_over_gpus(&self, from: (u32, u32), to: (u32, u32)) {
        let start = self.middle_of(&gpu(from.0, from.1)).await;
        let end = self.middle_of(&gpu(to.0, to.1)).await;
        let half = (f64::midpoint(start.0, end.0), f64::midpoint(start.1, end.1));
        self.press_mouse(&[start, half, end], MOUSE_BUTTON_LEFT)
            .await;
    }

    /// Presses a mouse button at the first point, moves along the others, releases it.
    async fn press_mouse(&self, path: &[(f64, f64)], button: u64) {
        let mut mouse = MouseActions::new("mouse".into());
        for (i, &(x, y)) in path.iter().enumerate() {
            let duration = Some(Duration::from_millis(20));
            mouse = mouse.then(PointerAction::MoveTo {
                duration,
                x: x.round(),
                y: y.round(),
            });
            if i == 0 {
                mouse = mouse.then(PointerAction::Down { button });
            }
        }
        self.client
            .perform_actions(mouse.then(PointerAction::Up { button }))
            .await
            .expect("the mouse to work");
        self.settle().await;
    }

    /// Taps an element with a finger.
    pub async fn tap(&self, css: &str) {
        self.touch(css, Duration::from_millis(40)).await;
    }

    /// Taps a GPU with a finger.
    pub async fn tap_gpu(&self, domain: u32, index: u32) {
        self.tap(&gpu(domain, index)).await;
    }

    /// Holds a finger on a GPU until its menu opens.
    pub async fn long_press_gpu(&self, domain: u32, index: u32) {
        self.touch(&gpu(domain, index), Duration::from_millis(900))
            .await;
    }

    async fn touch(&self, css: &str, hold: Duration) {
        let (x, y) = self.middle_of(css).await;
        let finger = TouchActions::new("finger".into())
            .then(PointerAction::MoveTo {
                duration: None,
                x: x.round(),
                y: y.round(),
            })
            .then(PointerAction::Down {
                button: MOUSE_BUTTON_LEFT,
            })
            .pause(hold)
            .then(PointerAction::Up {
                button: MOUSE_BUTTON_LEFT,
            });
        self.client
            .perform_actions(finger)
            .await
            .expect("the finger to work");
        self.settle().await;
    }

    /// Drops a file on the page.
    pub async fn drop_file(&self, name: &str, text: &str) {
        let code = "const data = new DataTransfer(); data.items.add(new File([arguments[1]], arguments[0])); \
                    for (const type of ['dragenter', 'dragover', 'drop']) document.body.dispatchEvent( \
                    new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))";
        self.script(code, json!([name, text])).await;
        self.settle().await;
    }

    /// Chooses a file in the page's picker.
    pub async fn pick_file(&self, name: &str, text: &str) {
        let path = super::super::folder("picked").join(name);
        std::fs::write(&path, text).expect("a file to pick");
        let input = self
            .client
            .find(Locator::Css("input[type=file][accept*=json]"))
            .await
            .expect("a file input");
        input
            .send_keys(&path.to_string_lossy())
            .await
            .expect("the picker to take a file");
        self.settle().await;
    }

    /// Presses a key.
    pub async fn press(&self, key: impl Into<char>) {
        self.press_with(&[], key).await;
    }

    /// Presses Tab until a JavaScript expression is true.
    pub async fn tab_to(&self, expression: &str) {
        for _ in 0..80 {
            if self.value(&format!("!!({expression})")).await == true {
                return;
            }
            self.press(Key::Tab).await;
        }
        panic!("80 times Tab never came to {expression}");
    }

    /// Domain and number of the GPU that has the focus.
    pub async fn see_focus(&self) -> (u32, u32) {
        let at = self.value("[Number(document.activeElement.dataset.domain), Number(document.activeElement.dataset.gpu)]").await;
        serde_json::from_value(at).expect("the focus on a GPU")
    }

    /// Presses a key while holding others.
    pub async fn press_with(&self, held: &[Key], key: impl Into<char>) {
        let value = key.into();
        let mut keyboard = KeyActions::new("keyboard".into());
        for key in held {
            keyboard = keyboard.then(KeyAction::Down {
                value: (*key).into(),
            });
        }
        keyboard = keyboard
            .then(KeyAction::Down { value })
            .then(KeyAction::Up { value });
        for key in held.iter().rev() {
            keyboard = keyboard.then(KeyAction::Up {
                value: (*key).into(),
            });
        }
        self.client
            .perform_actions(keyboard)
            .await
            .expect("the keyboard to work");
        self.settle().await;
    }
}
