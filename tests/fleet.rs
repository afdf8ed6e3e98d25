//! Weeks of failures from outside: real logs, limits, sweeps over many processes.

#![allow(clippy::unwrap_used, clippy::panic)] // a test may fail in its helpers too

use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const BIN: &str = env!("CARGO_BIN_EXE_ntp-explorer");
const BUCKETS: [&str; 11] = [
    "productive",
    "checkpoint_save",
    "detection",
    "restart_and_load",
    "rolled_back",
    "paused",
    "degraded",
    "idle_healthy",
    "spare",
    "failed",
    "reshard_exposed",
];
const STRATEGIES: [&str; 6] = [
    "wait",
    "dp-drop",
    "hot-spares",
    "in-domain-spares",
    "ntp",
    "ntp-pw",
];

/// A folder of this test's own, gone when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ntp-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn run(args: &[&str]) -> Output {
    Command::new(BIN).args(args).output().unwrap()
}

fn good(args: &[&str]) -> String {
    let output = run(args);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && errors.is_empty(),
        "{args:?}: {errors}"
    );
    String::from_utf8(output.stdout).unwrap()
}

fn value(args: &[&str]) -> Value {
    serde_json::from_str(&good(args)).unwrap()
}

fn refused(args: &[&str]) -> String {
    let output = run(args);
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {line}");
    assert!(output.stdout.is_empty(), "{args:?} printed something");
    assert_eq!(line.trim_end().lines().count(), 1, "{args:?}: {line}");
    assert!(!line.contains("panicked"), "{line}");
    line.trim_end().to_owned()
}

/// 16 racks of 72 GPUs; `faults` is left out where null.
fn racks(faults: &Value) -> String {
    let mut scenario = json!({
        "version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": {"tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768},
        "policy": {"spare_domains": 1},
    });
    if !faults.is_null() {
        scenario["faults"] = faults.clone();
    }
    scenario.to_string()
}

fn mean(value: &Value, strategy: &str, field: &str) -> f64 {
    value["strategies"][strategy][field]["mean"]
        .as_f64()
        .unwrap()
}

fn example(name: &str) -> String {
    format!("{}/assets/examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_strategy_has_goodput_and_a_ledger_that_adds_up() {
    let scratch = Scratch::new("ledger");
    let file = scratch.file("job.json", racks(&json!({"rate_multiplier": 20})));
    let args = ["fleet", &file, "--days", "15", "--runs", "4", "--seed", "7"];
    let found = value(&args);
    assert_eq!(
        (&found["runs"], &found["seed"], &found["job_gpus"]),
        (&json!(4), &json!(7), &json!(1152))
    );
    for strategy in STRATEGIES {
        let sum: f64 = BUCKETS
            .iter()
            .map(|bucket| mean(&found, strategy, bucket))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9, "{strategy}: {sum}");
        let goodput = &found["strategies"][strategy]["goodput"];
        let [low, middle, high] =
            ["p10", "p50", "p90"].map(|field| goodput[field].as_f64().unwrap());
        assert!(
            0.0 <= low && low <= middle && middle <= high && high <= 1.0,
            "{strategy}: {goodput}"
        );
        assert!(goodput["standard_error"].as_f64().unwrap() > 0.0);
    }
    let goodput = |strategy| mean(&found, strategy, "goodput");
    assert!(goodput("wait") < goodput("dp-drop") && goodput("dp-drop") < goodput("ntp"));
    assert!(found["trace"]["failures"]["mean"].as_f64().unwrap() > 50.0);
    assert_eq!(good(&args), good(&args), "same input and seed, same bytes");
    assert_ne!(
        found,
        value(&["fleet", &file, "--days", "15", "--runs", "4", "--seed", "8"])
    );
}

#[test]
fn without_failures_only_checkpoints_cost() {
    let scratch = Scratch::new("healthy");
    let faults = json!({"causes": [], "checkpoint": {"every_min": 54, "takes_min": 6}});
    let file = scratch.file("job.json", racks(&faults));
    let found = value(&["fleet", &file, "--days", "10", "--runs", "2"]);
    // A tenth goes into saves, and one rack of 17 is spare.
    let productive = mean(&found, "wait", "productive");
    assert!((productive - 0.9).abs() < 1e-9, "{productive}");
    let productive = mean(&found, "ntp", "productive");
    assert!(
        (productive - 0.9 * 16.0 / 17.0).abs() < 1e-9,
        "{productive}"
    );
    assert_eq!(found["checkpoint"]["daly_min"], Value::Null);
    for strategy in STRATEGIES {
        assert_eq!(mean(&found, strategy, "interruptions"), 0.0);
        assert!((mean(&found, strategy, "productive_share_of_job_time") - 0.9).abs() < 1e-9);
    }
}

#[test]
fn the_examples_of_each_log_format_replay() {
    let scratch = Scratch::new("examples");
    let file = scratch.file("job.json", racks(&Value::Null));
    for (name, format) in [
        ("failures.csv", "csv"),
        ("failures-infinitehbd.json", "infinite-hbd"),
        ("failures-kernel.log", "kernel"),
    ] {
        let log = example(name);
        let found = value(&["fleet", &file, "--log", &log, "--runs", "3"]);
        assert_eq!(found["log"]["read"]["format"], format);
        assert!(
            found["log"]["map"]["used_failures"].as_u64().unwrap() > 0,
            "{name}"
        );
        assert!(mean(&found, "ntp", "interruptions") > 0.0, "{name}");
        assert!(
            mean(&found, "wait", "goodput") < mean(&found, "ntp-pw", "goodput"),
            "{name}"
        );
    }
}

#[test]
fn a_log_larger_than_the_cluster_says_so_and_the_cluster_can_be_fitted() {
    let scratch = Scratch::new("fit");
    let file = scratch.file("job.json", racks(&Value::Null));
    let rows: String = (0..40)
        .map(|domain| format!("{domain},{domain},0,hardware,24\n"))
        .collect();
    let log = scratch.file(
        "log.csv",
        format!("time_h,domain,gpu,kind,duration_h\n{rows}"),
    );
    let found = value(&["fleet", &file, "--log", &log]);
    let map = &found["log"]["map"];
    assert_eq!(
        (&map["domains_needed"], &map["unknown_failures"]),
        (&json!(40), &json!(23))
    );
    let note = found["log"]["notes"][0].as_str().unwrap();
    assert!(
        note.contains("needs 40 domains") && note.contains("--fit-cluster"),
        "{note}"
    );
    let fitted = value(&["fleet", &file, "--log", &log, "--fit-cluster"]);
    assert_eq!(
        (
            &fitted["log"]["map"]["unknown_failures"],
            &fitted["job_gpus"]
        ),
        (&json!(0), &json!(2880))
    );
    assert_eq!(fitted["log"]["notes"], json!([]));
}

#[test]
fn broken_logs_are_refused_with_the_line_and_read_when_lenient() {
    let scratch = Scratch::new("broken");
    let file = scratch.file("job.json", racks(&Value::Null));
    let head = "time_h,domain,gpu,kind,duration_h\n1,0,0,hardware,5\n";
    for (name, line, bytes) in [
        (
            "negative",
            3,
            format!("{head}2,1,1,hardware,-5\n3,2,2,hardware,5\n").into_bytes(),
        ),
        (
            "word",
            3,
            format!("{head}soon,1,1,hardware,5\n3,2,2,hardware,5\n").into_bytes(),
        ),
        (
            "latin",
            3,
            [head.as_bytes(), b"2,1,1,hardw\xe4re,5\n3,2,2,hardware,5\n"].concat(),
        ),
    ] {
        let log = scratch.file(name, bytes);
        let error = refused(&["fleet", &file, "--log", &log]);
        assert!(
            error.contains(&format!("log line {line}: ")),
            "{name}: {error}"
        );
        let found = value(&["fleet", &file, "--log", &log, "--lenient"]);
        let read = &found["log"]["read"];
        assert_eq!(
            (&read["used"], &read["skipped"]),
            (&json!(3), &json!(1)),
            "{name}"
        );
        assert_eq!(read["problems"][0]["line"], line, "{name}");
    }
    // Order and overlap are no errors: counted, sorted and merged.
    let log = scratch.file(
        "mixed",
        format!("{head}4,2,2,hardware,5\n3,0,0,hardware,5\n"),
    );
    let found = value(&["fleet", &file, "--log", &log]);
    assert_eq!(found["log"]["read"]["out_of_order"], 1);
    assert_eq!(found["log"]["map"]["merged_failures"], 1);
    for (name, bytes, words) in [
        ("empty", &b""[..], "empty"),
        ("utf16", &b"\xff\xfet\0i\0m\0e\0"[..], "UTF-16"),
        ("zip", &b"\x1f\x8b\x08\0\0\0\0\0"[..], "gzip"),
        ("poem", &b"no\nformat\n"[..], "three formats"),
    ] {
        let log = scratch.file(name, bytes);
        for lenient in [None, Some("--lenient")] {
            let args: Vec<&str> = ["fleet", &file, "--log", &log]
                .into_iter()
                .chain(lenient)
                .collect();
            assert!(refused(&args).contains(words), "{name}");
        }
    }
    assert!(refused(&["fleet", &file, "--log", "/nonexistent.csv"]).contains("/nonexistent.csv"));
}

#[test]
fn a_gzipped_log_reads_as_the_plain_one() {
    let gzip = Command::new("gzip")
        .arg("-c")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut gzip) = gzip else {
        println!("notice: no gzip here, the test of a packed log is left out");
        return;
    };
    let plain = example("failures.csv");
    gzip.stdin
        .take()
        .unwrap()
        .write_all(&fs::read(&plain).unwrap())
        .unwrap();
    let packed = gzip.wait_with_output().unwrap().stdout;
    let scratch = Scratch::new("gzip");
    let file = scratch.file("job.json", racks(&Value::Null));
    let log = scratch.file("failures.csv.gz", packed);
    assert_eq!(
        good(&["fleet", &file, "--log", &log]),
        good(&["fleet", &file, "--log", &plain])
    );
}

#[test]
fn numbers_out_of_range_name_their_field() {
    let scratch = Scratch::new("range");
    let cause = |field: &str, value: Value| {
        let mut cause = json!({"name": "gpu", "scope": "gpu", "mtbf_h": 50000});
        cause[field] = value;
        json!({"causes": [cause]})
    };
    for (faults, words) in [
        (
            cause("mtbf_h", json!(0)),
            "faults.causes[0].mtbf_h: 0 is not allowed",
        ),
        (
            cause("repair", json!({"kind": "fixed", "mean_h": -1})),
            "faults.causes[0].repair.mean_h",
        ),
        (
            json!({"checkpoint": {"every_min": 0}}),
            "faults.checkpoint.every_min",
        ),
        (json!({"speed": 1}), "speed"),
    ] {
        let file = scratch.file("job.json", racks(&faults));
        let line = refused(&["fleet", &file]);
        assert!(line.contains(words), "{line}");
    }
    let file = scratch.file("job.json", racks(&Value::Null));
    for (option, amount) in [
        ("--days", "0"),
        ("--days", "inf"),
        ("--runs", "0"),
        ("--seed", "-1"),
        ("--days", "4000"),
    ] {
        let given = format!("{option}={amount}");
        let line = refused(&["fleet", &file, &given]);
        assert!(line.contains(option.trim_start_matches('-')), "{line}");
    }
}

#[test]
fn repairs_of_a_century_leave_a_job_that_waits_with_nothing() {
    let scratch = Scratch::new("century");
    let cause = json!({"name": "gpu", "scope": "gpu", "mtbf_h": 50000, "repair": {"kind": "fixed", "mean_h": 876_000}});
    let file = scratch.file("job.json", racks(&json!({"causes": [cause]})));
    let found = value(&["fleet", &file, "--days", "365", "--runs", "2"]);
    assert!(mean(&found, "wait", "paused") > 0.7);
    assert!(mean(&found, "ntp", "goodput") > mean(&found, "wait", "goodput"));
    assert!(found.get("partial").is_none());
}

#[test]
fn ten_million_failures_meet_a_named_limit_and_a_partial_result() {
    let scratch = Scratch::new("flood");
    // A job-level cause: 10 million failures in ten days are one every 0.09 s.
    let cause = json!({"name": "storm", "scope": "job", "mtbf_h": 0.001, "weight": 41.7, "takes_out": false});
    let file = scratch.file("job.json", racks(&json!({"causes": [cause]})));
    let found = value(&["fleet", &file, "--days", "10", "--runs", "1"]);
    let partial = &found["partial"];
    assert!(
        partial["limit"]
            .as_str()
            .unwrap()
            .contains("1000000 failures"),
        "{partial}"
    );
    let days = partial["simulated_days"].as_f64().unwrap();
    assert!(days > 0.5 && days < 2.0, "{partial}");
    for strategy in STRATEGIES {
        let sum: f64 = BUCKETS
            .iter()
            .map(|bucket| mean(&found, strategy, bucket))
            .sum();
        assert!((sum - 1.0).abs() < 1e-9, "{strategy}: {sum}");
    }
}

const GRID: &str = "dp=4,6,8,10;spare_domains=0,1;every_min=15,30,60";

fn sweep_args<'a>(file: &'a str, shard: Option<&'a str>) -> Vec<&'a str> {
    let mut args = vec!["sweep", file, "--over", GRID, "--runs", "2", "--days", "3"];
    if let Some(shard) = shard {
        args.extend(["--shard", shard]);
    }
    args
}

#[test]
fn sixteen_shards_under_gnu_parallel_are_the_whole() {
    let known = Command::new("parallel")
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    let gnu =
        known.is_ok_and(|known| String::from_utf8_lossy(&known.stdout).contains("GNU parallel"));
    if !gnu {
        println!("notice: GNU parallel is not here, its test of sweep shards is left out");
        return;
    }
    let scratch = Scratch::new("parallel");
    let file = scratch.file("job.json", racks(&json!({"rate_multiplier": 10})));
    let whole = good(&sweep_args(&file, None));
    assert_eq!(whole.lines().count(), 24);
    let quoted = format!("'{GRID}'");
    let shards = (1..=16).map(|shard| shard.to_string());
    let output = Command::new("parallel")
        .args([
            "-k", "-j4", BIN, "sweep", &file, "--over", &quoted, "--runs", "2", "--days", "3",
            "--shard", "{}/16", ":::",
        ])
        .args(shards)
        .env("PARALLEL_HOME", &scratch.0)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap(), whole);
}

#[test]
fn a_sweep_goes_on_where_it_was_stopped() {
    let scratch = Scratch::new("resume");
    let file = scratch.file("job.json", racks(&json!({"rate_multiplier": 10})));
    let whole = good(&sweep_args(&file, Some("1/4")));
    // Three whole lines and half of the next: what a killed task leaves.
    let kept: String = whole
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    let half = &whole[kept.len()..kept.len() + 40];
    let out = scratch.file("part.jsonl", format!("{kept}{half}"));
    let mut args = sweep_args(&file, Some("1/4"));
    args.extend(["--out", &out]);
    good(&args);
    assert_eq!(fs::read_to_string(&out).unwrap(), whole);
    let mut other = args.clone();
    other[3] = "dp=4,6";
    assert!(refused(&other).contains("out"), "a file of another sweep");
    for (option, amount) in [
        ("--shard", "0/4"),
        ("--shard", "5/4"),
        ("--shard", "x"),
        ("--over", "colour=1"),
        ("--over", "dp"),
    ] {
        refused(&["sweep", &file, "--over", "dp=4", option, amount]);
    }
}

#[test]
fn a_point_that_cannot_be_computed_does_not_stop_the_sweep() {
    let scratch = Scratch::new("points");
    let file = scratch.file("job.json", racks(&Value::Null));
    let text = good(&[
        "sweep", &file, "--over", "tp=64,73", "--runs", "1", "--days", "1",
    ]);
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(
        lines[0]["strategies"]["ntp"]["goodput"]["mean"]
            .as_f64()
            .unwrap()
            > 0.5
    );
    assert!(
        lines[1]["error"]
            .as_str()
            .unwrap()
            .contains("layout.tp: 73"),
        "{}",
        lines[1]
    );
}

/// Peak resident memory of a process, MB, as long as it lives.
#[cfg(target_os = "linux")]
fn peak_mb(process: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024.0 / 1e6)
}

/// Writes `block` after `head` until 100 MB are through.
#[cfg(target_os = "linux")]
fn peak_of_a_large_log(
    scenario: &str,
    head: &[u8],
    block: &dyn Fn(u64) -> Vec<u8>,
) -> (f64, Value) {
    let args = [
        "fleet",
        scenario,
        "--days",
        "5",
        "--runs",
        "1",
        "--log",
        "/dev/stdin",
    ];
    let mut child = Command::new(BIN)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .unwrap();
    let process = child.id();
    let watch = std::thread::spawn(move || {
        let mut peak = 0.0f64;
        while let Some(now) = peak_mb(process) {
            peak = peak.max(now);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        peak
    });
    let mut input = child.stdin.take().unwrap();
    input.write_all(head).unwrap();
    let (mut written, mut index) = (0, 0);
    while written < 100_000_000 {
        let bytes = block(index);
        input.write_all(&bytes).unwrap();
        written += bytes.len();
        index += 1;
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    (
        watch.join().unwrap(),
        serde_json::from_slice(&output.stdout).unwrap(),
    )
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_of_100_mb_takes_less_than_200_mb() {
    let scratch = Scratch::new("large");
    let file = scratch.file("job.json", racks(&Value::Null));
    // A kernel log of other messages with an Xid here and there.
    let noise = "Mar  1 00:00:01 node7 kernel: usb 1-1: new high-speed device, which is of no interest here at all\n".repeat(600);
    let block = |index: u64| {
        let (hour, minute) = (index / 60 % 24, index % 60);
        let xid = format!(
            "Mar {:2} {hour:02}:{minute:02}:00 node{} kernel: NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n",
            1 + index / 1440,
            index % 100
        );
        [xid.as_bytes(), noise.as_bytes()].concat()
    };
    let (peak, found) = peak_of_a_large_log(&file, b"", &block);
    println!("kernel log: {peak:.1} MB at most");
    assert!(peak > 1.0 && peak < 200.0, "{peak} MB");
    let read = &found["log"]["read"];
    assert!(
        read["lines"].as_u64().unwrap() > 900_000 && read["used"].as_u64().unwrap() > 1500,
        "{read}"
    );
    // Nothing but outages: more than are kept, which the report says.
    let rows = |index: u64| {
        let row = |i: u64| {
            format!(
                "{}.{:04},{},{},hardware,0.5\n",
                i / 20_000,
                i % 20_000 / 2,
                i % 16,
                i % 64
            )
        };
        (index * 2000..(index + 1) * 2000)
            .map(row)
            .collect::<String>()
            .into_bytes()
    };
    let (peak, found) = peak_of_a_large_log(&file, b"time_h,domain,gpu,kind,duration_h\n", &rows);
    println!("CSV of outages: {peak:.1} MB at most");
    assert!(peak > 1.0 && peak < 200.0, "{peak} MB");
    let read = &found["log"]["read"];
    assert!(read["used"].as_u64().unwrap() > 1_000_000, "{read}");
    assert!(
        read["limit"].as_str().unwrap().contains("1000000 outages"),
        "{read}"
    );
    // 20,000 an hour: what is kept ends after 50 hours, and so does the replay.
    let span = found["log"]["map"]["span_h"].as_f64().unwrap();
    assert!((span - 50.0).abs() < 0.01, "{span} h");
    assert!(
        found["partial"]["limit"].is_string(),
        "{}",
        found["partial"]
    );
}

#[test]
fn the_published_trace_replays() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/traces/infinitehbd_fault_trace.json");
    let nearer =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/traces/infinitehbd_fault_trace.json");
    let Some(path) = [path, nearer].into_iter().find(|path| path.exists()) else {
        println!(
            "notice: ../shared/traces/infinitehbd_fault_trace.json is not here, its replay is left out"
        );
        return;
    };
    let scratch = Scratch::new("trace");
    let scenario = json!({"version": 1, "system": "h100-nvl8", "model": "llama3-70b", "layout": {"tp": 8, "pp": 4, "dp": 100, "global_batch": 800}});
    let file = scratch.file("job.json", scenario.to_string());
    let found = value(&["fleet", &file, "--log", path.to_str().unwrap()]);
    let map = &found["log"]["map"];
    assert!(
        (map["mean_units_down"].as_f64().unwrap() - 9.26).abs() < 0.005
            && map["max_units_down"] == 35,
        "{map}"
    );
    assert_eq!(
        (
            &map["unknown_failures"],
            &map["nodes"].as_u64().is_some_and(|nodes| nodes <= 400)
        ),
        (&json!(0), &true)
    );
    assert!((found["days"].as_f64().unwrap() - 348.98).abs() < 0.01);
    assert!(mean(&found, "ntp", "goodput") >= mean(&found, "dp-drop", "goodput"));
}

#[test]
fn a_study_answers_with_errors_and_money() {
    let scratch = Scratch::new("study");
    let file = scratch.file("job.json", racks(&json!({"rate_multiplier": 5})));
    let base = ["study", &file, "--days", "4", "--runs", "3", "--question"];
    let ask = |more: &[&str]| {
        let args: Vec<&str> = base.iter().chain(more).copied().collect();
        good(&args)
    };
    let text = ask(&["spare-domains", "--most", "2", "--price", "3"]);
    assert_eq!(
        text,
        ask(&["spare-domains", "--most", "2", "--price", "3"]),
        "same bytes"
    );
    let found: Value = serde_json::from_str(&text).unwrap();
    let ntp = &found["points"][1]["strategies"]["ntp"];
    let goodput = ntp["goodput"]["mean"].as_f64().unwrap();
    let hours = 17.0 * 72.0 * 96.0;
    assert_eq!(ntp["gpu_h"], json!(hours));
    assert!((ntp["lost_cost"].as_f64().unwrap() - 3.0 * hours * (1.0 - goodput)).abs() < 1e-6);
    assert!((ntp["cost_per_useful_gpu_h"].as_f64().unwrap() - 3.0 / goodput).abs() < 1e-9);
    assert_eq!(ntp["goodput"]["runs"], 3);
    let held: Value = serde_json::from_str(&ask(&["in-domain-spares", "--most", "2"])).unwrap();
    let labels: Vec<&str> = held["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["TP72 + 0", "TP71 + 1", "TP70 + 2"]);
    assert!(
        held["points"][0]["strategies"]["ntp"]
            .get("lost_cost")
            .is_none()
    );
    let sensitivity: Value = serde_json::from_str(&ask(&["sensitivity"])).unwrap();
    assert!(sensitivity["sensitivity"]["ntp"].as_array().unwrap().len() >= 8);
    for (option, amount, word) in [
        ("--price", "-1", "price"),
        ("--price", "NaN", "price"),
        ("--most", "0", "most"),
        ("--days", "0", "days"),
        ("--runs", "0", "runs"),
    ] {
        let mut args: Vec<&str> = base.to_vec();
        let given = format!("{option}={amount}");
        args.extend(["spare-domains", &given]);
        let line = refused(&args);
        assert!(line.contains(word), "{line}");
    }
}
