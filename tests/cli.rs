//! The command line from outside: output, exit codes, errors of one line, examples that work.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail in its helpers too

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_ntp-explorer");

fn run(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(BIN)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments never reads.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn good(args: &[&str], input: &str) -> String {
    let output = run(args, input);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && errors.is_empty(),
        "{args:?}: {errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The one line of a refusal.
fn refused(args: &[&str], input: &str) -> String {
    let output = run(args, input);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
    assert_eq!(line.trim_end().lines().count(), 1, "{args:?}: {line}");
    assert!(!line.contains("panicked"), "{line}");
    line.trim_end().to_string()
}

fn scenario(failures: Value) -> String {
    json!({
        "version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": {"tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768},
        "policy": {"parity": "one-degree", "hot_spare_domains": 2},
        "failures": failures,
    })
    .to_string()
}

#[test]
fn the_list_of_presets() {
    insta::assert_snapshot!(good(&["presets"], ""));
}

#[test]
fn a_shard_map_of_megatrons_and_one_of_ours() {
    let map = |base: &str, spares: &str, shards: &str, rows: &str| {
        good(
            &[
                "shard-map",
                "--tp-base",
                base,
                "--tp-spares",
                spares,
                "--shards",
                shards,
                "--rows-per-shard",
                rows,
            ],
            "",
        )
    };
    insta::assert_snapshot!(compact(&map("8", "2", "24", "16")));
    insta::assert_snapshot!(compact(&map("8", "2", "14", "128")));
}

#[test]
fn parity_and_expert_placement() {
    insta::assert_snapshot!(compact(&good(
        &["parity", "--tp-base", "8", "--failed", "0:2,5;1:1"],
        ""
    )));
    insta::assert_snapshot!(compact(&good(
        &["nep", "--experts", "24", "--ep", "4", "--min-ep", "3"],
        ""
    )));
    let uneven = good(
        &["nep", "--experts", "10", "--ep", "4", "--min-ep", "3"],
        "",
    );
    assert_eq!(
        serde_json::from_str::<Value>(&uneven).unwrap()["extension"],
        true
    );
}

/// One field a line, so that matrices stay readable.
fn compact(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap();
    let fields = value.as_object().unwrap().iter();
    fields
        .map(|(key, value)| format!("{key}: {value}\n"))
        .collect()
}

/// What strategies decide, without the times of a cost model that may be fitted anew.
fn decisions(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap();
    let mut lines = String::new();
    for (id, strategy) in value["strategies"].as_object().unwrap() {
        let first = &strategy["replicas"][0];
        lines += &format!(
            "{id}: {} | {} sequences, {} dropped, {} idle for parity, {} spare domains, {} GPUs | replica 0 on slots {} at {} with {}\n",
            strategy["summary"].as_str().unwrap(),
            strategy["minibatch"],
            strategy["dropped_replicas"],
            strategy["parity_idle_gpus"],
            strategy["spare_domains_used"],
            strategy["occupied_gpus"],
            first["slots"],
            first["degrees"],
            first["local_batch"],
        );
    }
    lines
}

#[test]
fn three_failed_gpus() {
    let failures =
        json!([{"domain": 0, "gpu": 17}, {"domain": 0, "gpu": 40}, {"domain": 1, "gpu": 29}]);
    let text = good(&["eval", "-"], &scenario(failures.clone()));
    insta::assert_snapshot!(decisions(&text));
    assert_eq!(
        good(&["eval", "-"], &scenario(failures)),
        text,
        "same input, same bytes"
    );
    let value: Value = serde_json::from_str(&text).unwrap();
    let healthy = &value["healthy"];
    let terms: f64 = healthy["terms"]
        .as_object()
        .unwrap()
        .values()
        .map(|term| term.as_f64().unwrap())
        .sum();
    assert!(
        (terms / healthy["step_s"].as_f64().unwrap() - 1.0).abs() < 1e-9,
        "terms add up"
    );
}

#[test]
fn a_whole_rack_and_a_straggler() {
    let failures = json!([{"domain": 3, "gpu": 0, "blast_radius": 72}, {"domain": 9, "gpu": 5, "kind": "slow", "speed": 0.5},
                          {"domain": 12, "gpu": 1, "kind": "software"}]);
    insta::assert_snapshot!(decisions(&good(&["eval", "-"], &scenario(failures))));
}

#[test]
fn bad_input_is_one_line_on_standard_error() {
    let with = |field: &str, value: Value| {
        let mut text: Value = serde_json::from_str(&scenario(json!([]))).unwrap();
        text[field] = value;
        text.to_string()
    };
    let mut lines = vec![
        refused(&[], ""),
        refused(&["evaluate"], ""),
        refused(&["eval"], ""),
        refused(&["eval", "/nonexistent.json"], ""),
        refused(&["shard-map", "--tp-base", "8"], ""),
        refused(
            &[
                "shard-map",
                "--tp-base",
                "8",
                "--tp-spares",
                "8",
                "--shards",
                "24",
                "--rows-per-shard",
                "1",
            ],
            "",
        ),
        refused(
            &[
                "shard-map",
                "--tp-base",
                "-8",
                "--tp-spares",
                "8",
                "--shards",
                "24",
                "--rows-per-shard",
                "1",
            ],
            "",
        ),
        refused(
            &[
                "shard-map",
                "--tp-base",
                "8",
                "--tp-spares",
                "1",
                "--shards",
                "24",
                "--rows-per-shard",
                "0",
            ],
            "",
        ),
        refused(&["parity", "--tp-base", "8", "--failed", "0:9"], ""),
        refused(&["parity", "--tp-base", "8", "--failed", "0:"], ""),
        refused(&["parity", "--tp-base", "0", "--failed", "0:1"], ""),
        refused(
            &["nep", "--experts", "10", "--ep", "4", "--min-ep", "6"],
            "",
        ),
        refused(
            &["nep", "--experts", "many", "--ep", "4", "--min-ep", "2"],
            "",
        ),
        refused(&["parity", "--tp-base", "8", "--failed", "-1:1"], ""),
        refused(&["fleet", "-", "--runs", "-1"], ""),
        refused(&["fleet", "-", "--seed", "-1"], ""),
        refused(&["trace", "-", "--stage", "-1"], ""),
        refused(&["trace", "-", "--bucket-gb", "-1"], &scenario(json!([]))),
        refused(
            &["study", "-", "--question", "interval", "--price", "cheap"],
            "",
        ),
        refused(
            &["sweep", "-", "--over", "faults.causes.7.weight=3"],
            &scenario(json!([])),
        ),
    ];
    for text in [
        String::new(),
        "{".into(),
        r#"{"version": 1, "system": "gb300-nvl72"}"#.into(),
        with("colour", json!(1)),
        with("layout", json!({"tp": -1})),
        with("layout", json!({"tp": 1e99})),
        with("layout", json!({"dp": 0})),
        with("layout", json!({"heads": 4})),
        with("failures", json!([{"domain": 99999, "gpu": 0}])),
        with("failures", json!([{"domain": 0, "gpu": "a\nb"}])),
        with("faults", json!({"colour": 1})),
        with(
            "faults",
            json!({"causes": [{"name": "x", "scope": "gpu", "repair": 3}]}),
        ),
        with("faults", json!({"checkpoint": [1, 2]})),
    ] {
        lines.push(refused(&["eval", "-"], &text));
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_layout_that_does_not_fit_is_refused_with_both_numbers() {
    let text = json!({"version": 1, "system": "h100-nvl8", "model": "llama3-405b", "layout": {"tp": 8, "pp": 1, "recompute": "none"}});
    let line = refused(&["eval", "-"], &text.to_string());
    assert!(
        line.contains("GiB per GPU is not allowed, expected at most 80.0 GiB (H100 SXM)"),
        "{line}"
    );
}

#[test]
fn fewer_heads_than_ranks_is_allowed() {
    let text = json!({"version": 1, "system": "gb300-nvl72", "model": "llama3-8b", "failures": [{"domain": 0, "gpu": 3}]});
    let value: Value = serde_json::from_str(&good(&["eval", "-"], &text.to_string())).unwrap();
    assert!(value["strategies"]["ntp"]["throughput"].as_f64().unwrap() > 0.0);
}

#[test]
fn presets_in_full_may_stand_in_a_scenario() {
    let full: Value = serde_json::from_str(&good(&["presets", "--full"], "")).unwrap();
    for preset in full["scenarios"].as_array().unwrap() {
        good(&["eval", "-"], &preset["scenario"].to_string());
    }
    let model = &full["models"][0];
    for system in full["systems"].as_array().unwrap() {
        good(
            &["eval", "-"],
            &json!({"version": 1, "system": system, "model": model}).to_string(),
        );
    }
}

#[test]
fn every_command_shows_an_example_that_works() {
    let help = good(&["--help"], "");
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.trim().is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 5, "{commands:?}");
    let folder = std::path::Path::new(BIN).parent().unwrap();
    let path = format!(
        "{}:{}",
        folder.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    // Examples that write a file write it here.
    let scratch = std::env::temp_dir().join(format!("ntp-examples-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    for command in commands {
        let help = Command::new(BIN)
            .args([command, "--help"])
            .env("COLUMNS", "400")
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        let example: Vec<&str> = help
            .lines()
            .skip_while(|line| !line.starts_with("Example: "))
            .take_while(|line| !line.trim().is_empty())
            .collect();
        let example = example.join(" ");
        let example = example
            .strip_prefix("Example: ")
            .unwrap_or_else(|| panic!("{command} --help shows no example"));
        let output = Command::new("sh")
            .current_dir(&scratch)
            .args(["-c", example])
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{example}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    std::fs::remove_dir_all(&scratch).unwrap();
}

#[test]
fn sizes_past_all_bounds_are_refused_in_one_line() {
    let most = "4000000000";
    let line = refused(
        &[
            "step",
            "--model",
            "llama3-405b",
            "--system",
            "gb300-nvl72",
            "--tp",
            most,
            "--pp",
            most,
            "--dp",
            most,
            "--cp",
            most,
        ],
        "",
    );
    assert!(line.contains("layout.tp"), "{line}");
    let days = refused(
        &["fleet", "-", "--days", "-1"],
        r#"{"version":1,"system":"gb300-nvl72","model":"llama3-405b"}"#,
    );
    assert!(days.contains("days") && days.contains("-1"), "{days}");
    let over = refused(
        &["sweep", "-", "--over", "dp="],
        r#"{"version":1,"system":"gb300-nvl72","model":"llama3-405b"}"#,
    );
    assert!(over.contains("dp="), "{over}");
}

#[test]
fn commands_of_the_readme_work_as_written() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let scratch = std::env::temp_dir().join(format!("ntp-explorer-readme-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).unwrap();
    let commands: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.trim().strip_prefix("cargo run --release -- "))
        .collect();
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        // What it reads is in the project, what it writes is not for there.
        let assets = format!("{}/assets/", root.display());
        let script = format!("'{BIN}' {}", command.replace("assets/", &assets));
        let shell = Command::new("sh")
            .args(["-c", &script])
            .current_dir(&scratch)
            .output();
        let output = shell.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {errors}");
        if let Some((_, file)) = command.split_once("--out ") {
            assert!(scratch.join(file).exists(), "{command}");
        } else {
            serde_json::from_slice::<Value>(&output.stdout).unwrap();
        }
    }
    std::fs::remove_dir_all(scratch).unwrap();
}
