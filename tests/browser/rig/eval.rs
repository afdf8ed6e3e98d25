//! The command line's numbers, to hold the page against.

use serde_json::{Value, json};
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
    json!({
        "version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": { "tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768 },
        "policy": { "parity": "one-degree", "hot_spare_domains": 2 },
    })
}
