//! The page as a user sees it: helpers named after what a user does or reads.

mod input;
mod read;

use super::chrome::{devtools, take_log};
use super::server::SUB_PATH;
use fantoccini::Client;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub use read::{STRATEGIES, gpu};

/// Far beyond what anything takes; only a page that never gets there waits this long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at what is waited for.
const PAUSE: Duration = Duration::from_millis(30);

/// The page in one browser window.
pub struct Page {
    /// The browser window.
    pub client: Client,
    /// `http://127.0.0.1:PORT`
    origin: String,
}

impl Page {
    /// The page served at `origin`, not yet loaded.
    pub fn new(client: Client, origin: String) -> Self {
        Self { client, origin }
    }

    /// The page's address with a hash.
    pub fn address(&self, hash: &str) -> String {
        format!("{}{SUB_PATH}{hash}", self.origin)
    }

    /// Loads the page anew at a hash and waits for the engine.
    pub async fn goto(&self, hash: &str) {
        // Going from one hash to another alone would not load anything.
        self.client
            .goto("about:blank")
            .await
            .expect("an empty page");
        self.client
            .goto(&self.address(hash))
            .await
            .expect("the page to load");
        self.wait_ready().await;
    }

    /// Waits until the engine runs and what it shows is on the screen: tiles have their size only in the first frame.
    pub async fn wait_ready(&self) {
        self.until(
            "data-ready to be true",
            "document.documentElement.dataset.ready === 'true'",
        )
        .await;
        self.settle().await;
    }

    /// Follows a link to another hash without loading the page again.
    pub async fn follow(&self, hash: &str) {
        self.script("location.hash = arguments[0]", json!([hash]))
            .await;
        self.settle().await;
    }

    /// Runs JavaScript in the page.
    pub async fn script(&self, code: &str, args: Value) -> Value {
        let args = args.as_array().cloned().unwrap_or_default();
        self.client
            .execute(code, args)
            .await
            .unwrap_or_else(|e| panic!("{code}: {e}"))
    }

    /// The value of a JavaScript expression.
    pub async fn value(&self, expression: &str) -> Value {
        self.script(&format!("return {expression}"), json!([]))
            .await
    }

    /// Waits until a JavaScript expression is true.
    pub async fn until(&self, what: &str, expression: &str) {
        let start = Instant::now();
        while self.value(&format!("!!({expression})")).await != Value::Bool(true) {
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain for {what}\n{}",
                self.console().await.join("\n")
            );
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits for two painted frames, so that what was asked for is on the screen.
    pub async fn settle(&self) {
        let code = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        self.client
            .execute_async(code, vec![])
            .await
            .expect("two frames");
    }

    /// Runs a command of the DevTools protocol.
    pub async fn devtools(&self, command: &str, params: Value) -> Value {
        devtools(&self.client, command, params).await
    }

    /// Errors that the console got since the last look.
    pub async fn console(&self) -> Vec<String> {
        let log = take_log(&self.client, "browser").await;
        log.iter()
            .filter(|entry| entry["level"] == "SEVERE")
            .map(|entry| entry["message"].to_string())
            .collect()
    }

    /// Requests that left the page's origin since the last look.
    pub async fn strangers(&self) -> Vec<String> {
        let log = take_log(&self.client, "performance").await;
        let message =
            |entry: &Value| serde_json::from_str::<Value>(entry["message"].as_str()?).ok();
        let address = |message: Value| {
            let event = &message["message"];
            (event["method"] == "Network.requestWillBeSent").then(|| {
                event["params"]["request"]["url"]
                    .as_str()
                    .map(str::to_owned)
            })?
        };
        let own = |url: &String| {
            url.starts_with(&self.origin)
                || ["data:", "blob:", "about:"]
                    .iter()
                    .any(|scheme| url.starts_with(scheme))
        };
        log.iter()
            .filter_map(message)
            .filter_map(address)
            .filter(|url| !own(url))
            .collect()
    }

    /// Fails on any console error and on any request that left the origin.
    pub async fn check_quiet(&self) {
        let errors = self.console().await;
        assert!(
            errors.is_empty(),
            "errors in the console:\n{}",
            errors.join("\n")
        );
        let strangers = self.strangers().await;
        assert!(
            strangers.is_empty(),
            "requests left the origin:\n{}",
            strangers.join("\n")
        );
    }
}
