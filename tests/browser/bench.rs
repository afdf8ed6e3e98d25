//! Times the page as `make bench` prints them: measured, never asserted.

use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, folder};
use serde_json::json;
use std::fs;
use std::time::Duration;

/// NVL72 x 8 domains: one TP group and one replica a domain.
const EIGHT_DOMAINS: &str = "#/rack?sys=gb300-nvl72&model=llama3-70b&tp=72&pp=1&dp=8";
/// A step of 576 sequences: more than 100,000 spans on the streams of three GPUs.
const MANY_SPANS: &str = "#/rack?v=1&sys=gb300-nvl72&model=llama3-405b&fail=0.17,0.42,1.29&pp=2&gbs=576&seq=32768&parity=one-degree&hot=2";
const CLICKS: usize = 120;
const LOADS: usize = 7;

/// Notes when the engine said it runs, counted from the navigation's start.
const WATCH_READY: &str = "new MutationObserver((_, watch) => { if (document.documentElement?.dataset.ready === 'true') { \
    window.readyAt = performance.now(); watch.disconnect(); } }).observe(document, { attributes: true, subtree: true, childList: true })";

/// Notes, for every click, the time from the event to the end of the frame that shows it.
const WATCH_CLICKS: &str = "addEventListener('pointerup', event => requestAnimationFrame(() => { \
    const done = new MessageChannel(); done.port1.onmessage = () => painted.push(performance.now() - event.timeStamp); \
    done.port2.postMessage(0); }), { capture: true })";

/// The value that a share of the sorted samples stays under.
fn quantile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let at = (samples.len() as f64 * share).ceil() as usize;
    samples[at.clamp(1, samples.len()) - 1]
}

/// Pans and zooms the timeline by one event a frame, from the whole step to a block's layers and back, and gives for every
/// frame the time from the event to the end of the frame that shows it.
const PAN_AND_ZOOM: &str = "const canvas = document.querySelector('.gplot canvas'); \
    const box = canvas.getBoundingClientRect(); const painted = []; let n = 0; \
    const wheel = (x, more) => canvas.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true, \
    clientX: box.left + x * box.width, clientY: box.top + 60, ...more })); \
    canvas.focus(); canvas.dispatchEvent(new KeyboardEvent('keydown', { key: '0', bubbles: true })); \
    const frame = () => { const start = performance.now(); const part = n % 80; \
    if (part < 20) wheel(0.6, { deltaY: -120, ctrlKey: true }); else if (part < 40) wheel(0.5, { deltaX: 60 }); \
    else if (part < 60) wheel(0.5, { deltaX: -60 }); else wheel(0.4, { deltaY: 120, ctrlKey: true }); \
    requestAnimationFrame(() => { const done = new MessageChannel(); done.port1.onmessage = () => { \
    painted.push(performance.now() - start); if (++n < 240) frame(); else window.ganttFrames = painted; }; done.port2.postMessage(0); }); }; \
    setTimeout(frame, 300)";

/// A page of nothing but 72 tiles on one canvas that a click draws anew: what the browser itself takes, its wait for the
/// display above all.
const BARE_PAGE: &str = "document.body.innerHTML = '<canvas width=190 height=420 style=\"position:absolute;left:40px;top:40px\"></canvas>'; \
    document.body.setAttribute('role', 'grid'); \
    const pen = document.querySelector('canvas').getContext('2d'), at = i => [i % 4 * 46, (i >> 2) * 22]; let clicks = 0; \
    for (let i = 0; i < 72; i++) { const cell = document.createElement('i'), [x, y] = at(i); \
    Object.assign(cell.dataset, { domain: 0, gpu: i }); cell.setAttribute('role', 'gridcell'); \
    cell.style = `position:absolute;left:${40 + x}px;top:${40 + y}px;width:44px;height:18px`; document.body.append(cell); } \
    addEventListener('click', () => { clicks++; for (let i = 0; i < 72; i++) { const [x, y] = at(i); \
    pen.fillStyle = clicks % 2 ? '#fa0' : '#ccd'; pen.fillRect(x, y, 44, 18); pen.fillStyle = '#000'; pen.fillText(i, x + 2, y + 12); } })";

/// Clicks one GPU after the other: once the last click's motion is over, or `hasty` in the midst of it.
async fn time_clicks(page: &Page, hasty: bool) -> f64 {
    page.script("window.painted = []", json!([])).await;
    for i in 0..CLICKS as u32 {
        page.click_gpu(0, i % 72).await;
        if !hasty {
            page.settle().await;
            page.until("racks at rest", "!document.querySelector('.moving')")
                .await;
            // Not always at the same time after a frame of the display.
            tokio::time::sleep(Duration::from_millis(u64::from(i * 7 % 17))).await;
        }
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
    // At the display's 60 frames a second, as for a user: without that limit frames queue up before the click's own.
    browse("bench clicks", View::DESKTOP, EIGHT_DOMAINS, async |page| {
        page.script(WATCH_CLICKS, json!([])).await;
        note("click_to_painted_p95_ms", time_clicks(page, false).await);
        note(
            "hasty_click_to_painted_p95_ms",
            time_clicks(page, true).await,
        );
        let blank = page.client.goto("about:blank").await;
        blank.expect("an empty page");
        page.script(BARE_PAGE, json!([])).await;
        page.script(WATCH_CLICKS, json!([])).await;
        note(
            "bare_click_to_painted_p95_ms",
            time_clicks(page, false).await,
        );
    });
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

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_gantt() {
    browse(
        "bench gantt",
        View::DESKTOP.unlimited(),
        MANY_SPANS,
        async |page| {
            page.until(
                "100,000 spans",
                "Number(document.querySelector('.gplot')?.dataset.spans) >= 100000",
            )
            .await;
            page.script(PAN_AND_ZOOM, json!([])).await;
            page.until("240 frames", "window.ganttFrames").await;
            let frames = page.value("window.ganttFrames").await;
            let mut samples: Vec<f64> = serde_json::from_value(frames).expect("times in ms");
            note("gantt_frame_p95_ms", quantile(&mut samples, 0.95));
            let whole = page.value("window.wasmBindings.bench_timeline(50)").await;
            note("timeline_ms", whole.as_f64().expect("a number"));
        },
    );
}

#[test]
#[ignore = "measures instead of testing: make bench"]
fn bench_fleets() {
    browse(
        "bench fleets",
        View::DESKTOP,
        "#/fleet?days=1",
        async |page| {
            page.script(
            "window.rate = undefined; window.wasmBindings.bench_fleets(40000).then(rate => { window.rate = rate; })",
            json!([]),
        )
        .await;
            page.until("a rate", "window.rate !== undefined").await;
            note(
                "fleet_runs_per_s",
                page.value("window.rate").await.as_f64().expect("a number"),
            );
        },
    );
}
