//! An exported step in speedscope, which complains in its console when slices do not nest or never end.

use crate::rig::chrome::{Driver, take_log};
use crate::rig::folder;
use crate::rig::server::{SUB_PATH, serve};
use crate::rig::view::View;
use fantoccini::Client;
use ntp_explorer::core::scenario::{Failure, Scenario};
use ntp_explorer::core::strategy::{StrategyId, evaluate};
use ntp_explorer::core::timeline::{Settings, trace, view};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

/// What speedscope says of a trace whose slices it cannot nest.
const COMPLAINTS: [&str; 2] = ["Tried to end", "still open at end of profile"];

/// The viewer's files beside the traces, so that both come from one origin.
fn site(traces: &[(&str, String)]) -> PathBuf {
    let viewer = env::var("NTP_SPEEDSCOPE").expect("NTP_SPEEDSCOPE: run scripts/browser.sh");
    let site = folder("speedscope");
    for entry in fs::read_dir(Path::new(&viewer)).expect("speedscope's files") {
        let path = entry.expect("a readable entry").path();
        fs::copy(&path, site.join(path.file_name().expect("a file name"))).expect("a copy");
    }
    for (name, text) in traces {
        fs::write(site.join(name), text).expect("a trace written");
    }
    site
}

fn exported(pp: u32, vp: u32, failures: &[(u32, u32)]) -> String {
    let mut scenario = Scenario::default_scene();
    (scenario.layout.pp, scenario.layout.vp) = (pp, vp);
    scenario.failures = failures
        .iter()
        .map(|&(domain, gpu)| Failure::hardware(domain, gpu))
        .collect();
    let job = scenario.resolve().expect("a valid scenario");
    let view = view(
        &job,
        &evaluate(&job),
        StrategyId::NtpPw,
        &Settings::default(),
    )
    .expect("a timeline");
    trace::to_string(&view, &job.system.gpu)
}

/// Opens a trace and gives what the console said until the profile was there.
async fn open(client: &Client, origin: &str, name: &str) -> Vec<String> {
    client.goto("about:blank").await.expect("an empty page");
    take_log(client, "browser").await;
    client
        .goto(&format!("{origin}{SUB_PATH}index.html#profileURL={name}"))
        .await
        .expect("speedscope");
    let start = Instant::now();
    // The title takes the profile's name once it is imported.
    while client
        .execute("return document.title.length > 'speedscope'.length", vec![])
        .await
        .expect("a title")
        != Value::Bool(true)
    {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "{name} never opened: {:?}",
            take_log(client, "browser").await
        );
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let log = take_log(client, "browser").await;
    log.iter()
        .filter_map(|entry| entry["message"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn speedscope_opens_the_exported_step_without_a_complaint() {
    let broken = r#"{"traceEvents":[{"ph":"B","pid":1,"tid":1,"ts":0,"name":"open"},{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"},
        {"ph":"X","pid":1,"tid":1,"ts":2,"dur":5,"name":"b"}]}"#;
    let traces = [
        ("broken.json", broken.to_owned()),
        ("healthy.json", exported(2, 1, &[])),
        ("failed.json", exported(2, 1, &[(0, 17), (0, 41), (1, 28)])),
        ("interleaved.json", exported(2, 3, &[(0, 17)])),
        ("deep.json", exported(14, 1, &[(3, 5)])),
    ];
    let origin = serve(site(&traces));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let driver = Driver::start();
    let client = runtime.block_on(driver.open(View::DESKTOP));
    let said: Vec<(&str, Vec<String>)> = traces
        .iter()
        .map(|(name, _)| (*name, runtime.block_on(open(&client, &origin, name))))
        .collect();
    runtime.block_on(client.close()).ok();
    for (name, lines) in said {
        let complaints: Vec<&String> = lines
            .iter()
            .filter(|line| COMPLAINTS.iter().any(|c| line.contains(c)))
            .collect();
        // A trace that does not nest shows that complaints are seen.
        assert_eq!(
            complaints.is_empty(),
            name != "broken.json",
            "{name}: {lines:?}"
        );
    }
}
