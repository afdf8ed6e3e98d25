//! What a user reads off the page, through the handles that tests and embedders rely on.

use super::{PATIENCE, PAUSE, Page};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// The six strategies, by id.
pub const STRATEGIES: [&str; 6] = [
    "wait",
    "dp-drop",
    "hot-spares",
    "in-domain-spares",
    "ntp",
    "ntp-pw",
];

/// One strategy's row.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `data-goodput`: the number shown.
    pub goodput: String,
    /// `data-throughput`: relative to the healthy job on all its GPUs.
    pub throughput: String,
}

/// The selector of one GPU's cell.
pub fn gpu(domain: u32, gpu: u32) -> String {
    format!("[role=grid] [role=gridcell][data-domain='{domain}'][data-gpu='{gpu}']")
}

impl Page {
    /// `data-state` of a GPU.
    pub async fn see_state(&self, domain: u32, index: u32) -> String {
        self.attribute(&gpu(domain, index), "data-state").await
    }

    /// `aria-label` of a GPU.
    pub async fn see_label(&self, domain: u32, index: u32) -> String {
        self.attribute(&gpu(domain, index), "aria-label").await
    }

    /// An attribute of the first element that a selector finds.
    pub async fn attribute(&self, css: &str, name: &str) -> String {
        let code =
            "return document.querySelector(arguments[0])?.getAttribute(arguments[1]) ?? null";
        let value = self.script(code, json!([css, name])).await;
        value
            .as_str()
            .unwrap_or_else(|| panic!("{css} has no {name}"))
            .to_owned()
    }

    /// Waits until a GPU is in a state.
    pub async fn wait_state(&self, domain: u32, index: u32, state: &str) {
        let cell = gpu(domain, index);
        let test = format!("document.querySelector(\"{cell}\")?.dataset.state === '{state}'");
        self.until(
            &format!("GPU {index} of domain {domain} to be {state}"),
            &test,
        )
        .await;
    }

    /// Waits until a colour is drawn for a GPU at a place in its cell, CSS px from its left and top edge or, if negative, from its
    /// right and bottom edge; places outside are the gaps. Nothing: until its rack holds no pixels.
    pub async fn wait_drawn(
        &self,
        domain: u32,
        index: u32,
        place: (f64, f64),
        colour: Option<[u8; 3]>,
    ) {
        let start = Instant::now();
        loop {
            // Tiles are drawn in frames of their own, and those come when the machine has time for them.
            let drawn = self.see_drawn(domain, index, place).await;
            if drawn == colour {
                return;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "GPU {index} of domain {domain} at {place:?}: drawn {drawn:?}, not {colour:?}"
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The colour drawn now, as [`Page::wait_drawn`] has it.
    async fn see_drawn(&self, domain: u32, index: u32, (x, y): (f64, f64)) -> Option<[u8; 3]> {
        let code = "const [css, x, y] = arguments, cell = document.querySelector(css), \
                    canvas = cell.closest('[role=grid]').querySelector('canvas'); if (!canvas.width) return null; \
                    const a = cell.getBoundingClientRect(), b = canvas.getBoundingClientRect(), k = canvas.width / b.width; \
                    const at = (v, from, to, start) => ((v < 0 ? to : from) + v - start) * k; \
                    return [...canvas.getContext('2d').getImageData(at(x, a.left, a.right, b.left), at(y, a.top, a.bottom, b.top), 1, 1).data].slice(0, 3)";
        let value = self.script(code, json!([gpu(domain, index), x, y])).await;
        serde_json::from_value(value).expect("a colour or nothing")
    }

    /// A colour of the theme in use.
    pub async fn see_token(&self, name: &str) -> Option<[u8; 3]> {
        let code = "const hex = getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim(); \
                    return [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16))";
        serde_json::from_value(self.script(code, json!([name])).await).expect("a colour")
    }

    /// How many GPUs are in each state.
    pub async fn see_states(&self) -> BTreeMap<String, u64> {
        let code = "const n = {}; for (const c of document.querySelectorAll('[role=grid] [role=gridcell]')) \
                    n[c.dataset.state] = (n[c.dataset.state] ?? 0) + 1; return n";
        serde_json::from_value(self.script(code, json!([])).await).expect("counts by state")
    }

    /// The six rows by strategy; panics when one is missing or holds no number.
    pub async fn see_rows(&self) -> BTreeMap<String, Row> {
        let code = "return [...document.querySelectorAll('[data-strategy][data-goodput]')] \
                    .map(r => [r.dataset.strategy, r.dataset.goodput, r.dataset.throughput])";
        let rows: Vec<(String, String, String)> =
            serde_json::from_value(self.script(code, json!([])).await)
                .expect("rows with goodput and throughput");
        let mut read = BTreeMap::new();
        for (strategy, goodput, throughput) in rows {
            for text in [&goodput, &throughput] {
                let fraction = text
                    .parse::<f64>()
                    .is_ok_and(|value| (0.0..=1.0).contains(&value));
                assert!(fraction, "{strategy}: {text:?} is no fraction");
            }
            assert!(
                read.insert(
                    strategy.clone(),
                    Row {
                        goodput,
                        throughput
                    }
                )
                .is_none(),
                "two rows for {strategy}"
            );
        }
        for strategy in STRATEGIES {
            assert!(read.contains_key(strategy), "no row for {strategy}");
        }
        read
    }

    /// The hash of the address, once edits have settled into it.
    pub async fn see_link(&self) -> String {
        let mut last = self.value("location.hash").await;
        loop {
            tokio::time::sleep(Duration::from_millis(400)).await;
            let now = self.value("location.hash").await;
            if now == last {
                return now.as_str().unwrap_or_default().to_owned();
            }
            last = now;
        }
    }

    /// What the page tells the user about something that went wrong.
    pub async fn see_notices(&self) -> Vec<String> {
        // Its buttons' words are no part of what an alert says.
        let code = "return [...document.querySelectorAll('[role=alert]')].filter(e => e.checkVisibility()).map(e => { \
                    const said = e.cloneNode(true); said.querySelectorAll('button').forEach(b => b.remove()); \
                    return said.textContent.trim(); }).filter(t => t)";
        serde_json::from_value(self.script(code, json!([])).await).expect("a list of texts")
    }

    /// How many CSS px the page is wider than its window.
    pub async fn overflow(&self) -> i64 {
        let wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        self.value(wide).await.as_i64().unwrap_or_default()
    }
}
