//! One Chromium session with a profile of its own, behind a driver of its own.

use super::view::View;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder};
use http::Method;
use serde_json::{Value, json};
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use url::{ParseError, Url};

/// What keeps Chromium from looking anything up outside, and pictures the same everywhere.
const FLAGS: [&str; 16] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--disable-sync",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=OptimizationHints,MediaRouter,Translate",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--hide-scrollbars",
    "--lang=en-US",
];

/// The driver's process; ends with the value.
pub struct Driver {
    process: Child,
    address: String,
}

impl Driver {
    /// Starts a driver on a free port; panics with what to install when there is none.
    pub fn start() -> Self {
        // Another driver that starts at the same moment may take the port that this one found free.
        (0..4)
            .find_map(|_| Self::try_start())
            .expect("the driver to say its port")
    }

    fn try_start() -> Option<Self> {
        let program = env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let mut process = Command::new(&program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|e| panic!("cannot start {program} ({e}): install Chromium and its driver, or run `make test`"));
        let output = process.stdout.take().expect("a piped output");
        let port = BufReader::new(output)
            .lines()
            .map_while(Result::ok)
            .find_map(|line| {
                Some(
                    line.split_once("started successfully on port ")?
                        .1
                        .trim_end_matches('.')
                        .to_owned(),
                )
            });
        let Some(port) = port else {
            process.kill().ok();
            process.wait().ok();
            return None;
        };
        Some(Self {
            process,
            address: format!("http://127.0.0.1:{port}"),
        })
    }

    /// Opens a browser window with an empty profile.
    pub async fn open(&self, view: View) -> Client {
        let mut args: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        args.push(format!("--force-device-scale-factor={}", view.ratio));
        args.push(format!("--window-size={},{}", view.width, view.height));
        if view.unlimited {
            args.extend(["--disable-frame-rate-limit", "--disable-gpu-vsync"].map(str::to_owned));
        }
        let mut chrome = json!({ "args": args });
        if let Ok(binary) = env::var("NTP_CHROME") {
            chrome["binary"] = binary.into();
        }
        let capabilities: Capabilities = [
            ("goog:chromeOptions".to_owned(), chrome),
            (
                "timeouts".to_owned(),
                json!({ "pageLoad": 60_000, "script": 60_000 }),
            ),
            (
                "goog:loggingPrefs".to_owned(),
                json!({ "browser": "ALL", "performance": "ALL" }),
            ),
        ]
        .into_iter()
        .collect();
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&self.address)
            .await
            .unwrap_or_else(|e| panic!("cannot open Chromium: {e}"));
        view.apply(&client).await;
        client
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A command of Chromium's that the WebDriver standard does not have.
#[derive(Debug)]
struct Vendor {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Vendor {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!(
            "session/{}/{}",
            session.unwrap_or_default(),
            self.path
        ))
    }
    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

/// Runs a command of the DevTools protocol.
pub async fn devtools(client: &Client, command: &str, params: Value) -> Value {
    let body = json!({ "cmd": command, "params": params });
    let reply = client
        .issue_cmd(Vendor {
            path: "goog/cdp/execute",
            body,
        })
        .await;
    reply.unwrap_or_else(|e| panic!("{command}: {e}"))
}

/// Takes the entries that a log (`browser` or `performance`) got since the last time.
pub async fn take_log(client: &Client, kind: &str) -> Vec<Value> {
    let reply = client
        .issue_cmd(Vendor {
            path: "se/log",
            body: json!({ "type": kind }),
        })
        .await;
    let reply = reply.unwrap_or_else(|e| panic!("{kind} log: {e}"));
    reply.as_array().cloned().unwrap_or_default()
}
