//! The command line's numbers, to hold the page against.

use ntp_explorer::core::scenario::Scenario;
use serde_json::Value;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// What `ntp-explorer eval` prints for a scenario.
pub fn eval(scenario: &Value) -> Value {
    let path = std::env::temp_dir().join(format!(
        "ntp-scenario-{}-{:?}.json",
        std::process::id(),
        std::thread::current().id()
    ));
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(scenario.to_string().as_bytes()))
        .expect("a scenario file");
    let output = Command::new(env!("CARGO_BIN_EXE_ntp-explorer"))
        .arg("eval")
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .expect("the command line to start");
    std::fs::remove_file(&path).ok();
    assert!(
        output.status.success(),
        "eval: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("eval to print JSON")
}

/// The scene the page opens with, as `eval` reads it.
pub fn default_scene() -> Value {
    serde_json::from_str(&Scenario::default_scene().to_json()).expect("a scenario in JSON")
}
