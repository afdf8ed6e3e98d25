//! Times the page as `make bench` prints them: measured, never asserted.

use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, folder};
use serde_json::json;
use std::fs;

/// NVL72 x 8 domains: one TP group and one replica a domain.
const EIGHT_DOMAINS: &str = "#/rack?sys=gb300-nvl72&model=llama3-70b&tp=72&pp=1&dp=8";
const CLICKS: usize = 60;
const LOADS: usize = 7;

/// Notes when the engine said it runs, counted from the navigation's start.
const WATCH_READY: &str = "new MutationObserver((_, watch) => { if (document.documentElement?.dataset.ready === 'true') { \
    window.readyAt = performance.now(); watch.disconnect(); } }).observe(document, { attributes: true, subtree: true, childList: true })";

/// Notes, for every click, the time from the event to the end of the frame that shows it.
const WATCH_CLICKS: &str = "window.painted = []; addEventListener('pointerup', event => requestAnimationFrame(() => { \
    const done = new MessageChannel(); done.port1.onmessage = () => painted.push(performance.now() - event.timeStamp); \
    done.port2.postMessage(0); }), { capture: true })";

/// The value that a share of the sorted samples stays under.
fn quantile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = (samples.len() as f64 * share).ceil() as usize;
    samples[at.clamp(1, samples.len()) - 1]
}

async fn time_clicks(page: &Page) -> f64 {
    page.script(WATCH_CLICKS, json!([])).await;
    for i in 0..CLICKS as u32 {
        page.click_gpu(0, i % 72).await;
    }
    let mut samples: Vec<f64> =
        serde_json::from_value(page.value("painted").await).expect("times in ms");
    assert_eq!(samples.len(), CLICKS);
    quantile(&mut samples, 0.95)
}

/// NVL72, 100,000 GPUs in 1,390 racks, 15 days.
const LARGE_FLEET: &str =
    "#/fleet?sys=gb300-nvl72&model=llama3-405b&tp=72&pp=5&dp=278&gbs=2224&days=15";

/// Notes the time from one frame to the next while the run plays.
const WATCH_FRAMES: &str = "window.frames_ms = []; let before = 0; const watch = now => { if (before) frames_ms.push(now - before); before = now; \
    if (frames_ms.length < 400) requestAnimationFrame(watch); else window.watched = true; }; requestAnimationFrame(watch)";

/// Notes how long a turn of the wheel over the map takes until its frame is painted.
const WATCH_WHEEL: &str = "window.wheels_ms = []; const map = document.querySelector('.fcanvas canvas'), box = map.getBoundingClientRect(); let turns = 0; \
    const turn = () => { const start = performance.now(); \
    map.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true, deltaY: turns < 60 ? -60 : 60, clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 })); \
    requestAnimationFrame(() => { const done = new MessageChannel(); done.port1.onmessage = () => { wheels_ms.push(performance.now() - start); \
    if (++turns < 120) turn(); else window.turned = true; }; done.port2.postMessage(0); }); }; turn()";

async fn time_fleet(page: &Page) -> (f64, f64) {
    page.until("a run", "document.querySelector('.fleet[data-run]')")
        .await;
    page.until("a map", "document.querySelector('.fcount b')")
        .await;
    // The film is made in the worker meanwhile, as when a user reads the page first.
    page.script("document.querySelector('#play').click()", json!([]))
        .await;
    page.script(WATCH_FRAMES, json!([])).await;
    page.until("frames", "window.watched").await;
    let mut frames: Vec<f64> =
        serde_json::from_value(page.value("frames_ms").await).expect("times in ms");
    page.script("document.querySelector('#play').click()", json!([]))
        .await;
    page.script(WATCH_WHEEL, json!([])).await;
    page.until("turns", "window.turned").await;
    let mut turns: Vec<f64> =
        serde_json::from_value(page.value("wheels_ms").await).expect("times in ms");
    (quantile(&mut frames, 0.95), quantile(&mut turns, 0.95))
}

async fn time_ready(page: &Page) -> f64 {
    page.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": WATCH_READY }),
    )
    .await;
    page.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 4 }))
        .await;
    let mut samples = Vec::new();
    for _ in 0..LOADS {
        page.goto("").await;
        samples.push(
            page.value("window.readyAt")
                .await
                .as_f64()
                .expect("a time in ms"),
        );
    }
    page.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 1 }))
        .await;
    quantile(&mut samples, 0.5)
}

/// Leaves a measured value in `target/bench/` for the table of `make bench`.
fn note(name: &str, value: f64) {
    println!("{name} {value:.3}");
    fs::write(folder("bench").join(name), value.to_string()).expect("a file for a measured value");
}

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_clicks() {
    browse(
        "bench clicks",
        View::DESKTOP.unlimited(),
        EIGHT_DOMAINS,
        async |page| {
            note("click_to_painted_p95_ms", time_clicks(page).await);
        },
    );
}

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_ready() {
    browse("bench ready", View::DESKTOP, "", async |page| {
        note("engine_ready_4x_ms", time_ready(page).await);
    });
}

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_fleet() {
    browse(
        "bench fleet",
        View::DESKTOP.unlimited(),
        LARGE_FLEET,
        async |page| {
            let (play, zoom) = time_fleet(page).await;
            note("fleet_play_p95_ms", play);
            note("fleet_frame_p95_ms", zoom);
        },
    );
}

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_engine() {
    // The page's own stopwatch over the work that the native benchmarks do.
    browse("bench engine", View::DESKTOP, "", async |page| {
        let rate = page.value("window.wasmBindings.bench_steps(2)").await;
        note("steps_per_s", rate.as_f64().expect("a number"));
    });
}
