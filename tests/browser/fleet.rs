//! The Fleet page: played, scrubbed, forked, fed with logs.

use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use ntp_explorer::core::fleet::golden::DIGESTS;
use serde_json::json;

async fn digests_in_the_worker(page: &Page) {
    page.wait_run().await;
    for (seed, native) in DIGESTS {
        page.script(
            "window.digest = undefined; window.wasmBindings.golden_digest(arguments[0]).then(text => { window.digest = text; })",
            json!([seed]),
        )
        .await;
        page.until("a digest", "window.digest !== undefined").await;
        assert_eq!(
            page.value("window.digest").await,
            json!(native.to_string()),
            "seed {seed}"
        );
    }
}

journey!(
    a_seed_gives_the_same_events_in_the_browser,
    "#/fleet?days=1",
    digests_in_the_worker
);

async fn racks_need_no_worker(page: &Page) {
    let fetched = "performance.getEntriesByType('resource').filter(entry => /\\/(worker|pages)/.test(entry.name)).length";
    assert_eq!(page.value(fetched).await, json!(0));
}

journey!(the_first_load_is_the_racks_alone, "", racks_need_no_worker);

#[test]
fn a_page_may_be_left_while_a_number_is_typed() {
    for (link, field) in [
        ("#/fleet?days=1", ".fbar .inp[aria-label='PP']"),
        ("#/fleet?days=1", ".fbar .inp[aria-label='Seed']"),
        (
            "#/fleet?days=1&show=studies",
            ".stbar .inp[aria-label='Seeds']",
        ),
        ("#/rack", ".scn .inp[aria-label='PP']"),
    ] {
        browse("typing", View::DESKTOP, link, async |page| {
            page.until("the box", &format!("document.querySelector(\"{field}\")"))
                .await;
            page.click(field).await;
            page.press('4').await;
            page.follow("#/about").await;
            page.until("the other page", "document.querySelector('.about')")
                .await;
            page.follow("#/rack").await;
            page.until("the racks", "document.querySelector('[role=gridcell]')")
                .await;
            assert_eq!(
                page.attribute("[role=gridcell]", "data-state").await,
                "healthy"
            );
        });
    }
}

#[test]
fn keys_of_all_pages_work_on_this_one() {
    browse(
        "fleet keys",
        View::DESKTOP,
        "#/fleet?days=1",
        async |page| {
            page.wait_run().await;
            let gpus = "document.querySelector('.fbar .inp[aria-label=GPUs]').value";
            let before = page.value(gpus).await;
            page.script(
            "[...document.querySelectorAll('.fbar .seg button')].find(b => b.textContent === '8K').click()",
            json!([]),
        )
        .await;
            page.until("another size", &format!("{gpus} !== {before}"))
                .await;
            page.press_with(&[Key::Control], 'z').await;
            page.until("the size before", &format!("{gpus} === {before}"))
                .await;
            // The list keeps the focus, its keys do nothing behind it, and Escape closes it.
            page.press('?').await;
            page.until("the list", "document.querySelector('#keys')?.open")
                .await;
            page.press('.').await;
            page.press(Key::Tab).await;
            let inside = "document.activeElement === document.body || !!document.activeElement.closest('#keys')";
            assert_eq!(page.value(inside).await, json!(true));
            page.press(Key::Escape).await;
            page.until("the list to close", "!document.querySelector('#keys').open")
                .await;
            assert!(page.see_day().await < 1e-9, "a key acted behind the list");
        },
    );
}

#[test]
fn a_worker_that_cannot_be_fetched_is_told_and_fetched_again() {
    browse("no worker", View::DESKTOP, "", async |page| {
        page.script(
            "const Whole = Worker; window.gone = true; \
             window.Worker = class extends Whole { constructor(at) { super(window.gone ? 'gone.js' : at); } }",
            json!([]),
        )
        .await;
        page.follow("#/fleet?days=1").await;
        page.until(
            "a line that says so",
            "document.querySelector('.fwrong')?.textContent.includes('worker')",
        )
        .await;
        // The file that is not there is the one error.
        page.console().await;
        page.value("window.gone = false").await;
        page.follow("#/fleet?days=2").await;
        page.wait_run().await;
    });
}

/// Sixteen racks, thirty times the Llama 3 rates, six days.
const BUSY: &str = "#/fleet?days=6&seed=3&faults=%7B%22rate_multiplier%22%3A30%7D";

impl Page {
    /// Waits for a run and its map.
    async fn wait_run(&self) {
        self.until("a run", "document.querySelector('.fleet[data-run]')")
            .await;
        self.until("rows", "document.querySelector('.fr .num')?.textContent")
            .await;
    }

    /// The playhead, days.
    async fn see_day(&self) -> f64 {
        let day = self.attribute(".fleet", "data-day").await;
        day.parse().expect("a number of days")
    }

    /// Goodput by strategy, as the race shows it, in rank order.
    async fn see_race(&self) -> Vec<(String, f64)> {
        let rows = self
            .value(
                "[...document.querySelectorAll('.fr')].sort((a, b) => a.querySelector('.pl').textContent - b.querySelector('.pl').textContent) \
                 .map(row => [row.dataset.strategy, Number(row.dataset.goodput)])",
            )
            .await;
        serde_json::from_value(rows).expect("rows")
    }

    /// Presses the mouse on the chart at a share of the run.
    async fn scrub(&self, share: f64) {
        self.script(
            "const e = document.querySelector('.fchart'), b = e.getBoundingClientRect(), left = 137, right = b.width - 170; \
             const at = { bubbles: true, pointerId: 1, button: 0, clientX: b.x + left + (right - left) * arguments[0], clientY: b.y + 60 }; \
             e.setPointerCapture = () => {}; \
             for (const type of ['pointerdown', 'pointerup']) e.dispatchEvent(new PointerEvent(type, at));",
            json!([share]),
        )
        .await;
        self.settle().await;
    }

    /// Clicks the map at shares of its size.
    async fn click_map(&self, x: f64, y: f64) {
        self.script(
            "const e = document.querySelector('.fcanvas canvas'), b = e.getBoundingClientRect(); e.setPointerCapture = () => {}; \
             const at = { bubbles: true, pointerId: 1, button: 0, clientX: b.x + b.width * arguments[0], clientY: b.y + b.height * arguments[1] }; \
             for (const type of ['pointerdown', 'pointermove', 'pointerup']) e.dispatchEvent(new PointerEvent(type, at));",
            json!([x, y]),
        )
        .await;
        self.settle().await;
    }
}

async fn plays_and_steps(page: &Page) {
    page.wait_run().await;
    assert_eq!(page.see_day().await, 0.0);
    page.press(' ').await;
    page.until(
        "the playhead to move",
        "Number(document.querySelector('.fleet').dataset.day) > 0.4",
    )
    .await;
    page.press(' ').await;
    assert_eq!(page.attribute(".fleet", "data-playing").await, "false");
    let stopped = page.see_day().await;
    page.settle().await;
    assert_eq!(page.see_day().await, stopped);
    // Six rows, best first, each with a ledger that adds up.
    let race = page.see_race().await;
    assert_eq!(race.len(), 6);
    assert!(
        race.windows(2).all(|pair| pair[0].1 >= pair[1].1),
        "{race:?}"
    );
    let sum = page
        .value("[...document.querySelectorAll('.lgrid b')].reduce((sum, b) => sum + Number(b.textContent), 0)")
        .await;
    assert!((sum.as_f64().expect("a sum") - 100.0).abs() < 0.6, "{sum}");
    let mut before = stopped;
    for _ in 0..3 {
        page.press('.').await;
        let day = page.see_day().await;
        assert!(day > before, "{day} {before}");
        before = day;
    }
    // The link holds the playhead.
    page.until("the link to follow", "location.hash.includes('at=')")
        .await;
}

async fn scrubs(page: &Page) {
    page.wait_run().await;
    page.scrub(0.5).await;
    let half = page.see_day().await;
    assert!((half - 3.0).abs() < 0.1, "{half}");
    let race = page.see_race().await;
    page.scrub(0.9).await;
    assert!((page.see_day().await - 5.4).abs() < 0.1);
    page.scrub(0.5).await;
    assert_eq!(page.see_race().await, race);
    page.click("[data-strategy=wait] .hit").await;
    page.until(
        "the ledger of wait",
        "document.querySelector('.fof').textContent === 'wait'",
    )
    .await;
    page.click("[data-strategy=wait] .gap").await;
    page.until(
        "a reason",
        "document.querySelector('.fwhy')?.textContent.includes('wait')",
    )
    .await;
}

async fn forks(page: &Page) {
    page.wait_run().await;
    page.scrub(0.5).await;
    let before = page.see_race().await;
    // Sixteen racks are large enough for a tile per GPU.
    page.until(
        "tiles",
        "document.querySelector('.fmap p').textContent.includes('GPU to fail')",
    )
    .await;
    page.until("a map", "document.querySelector('.fcount b')")
        .await;
    page.click_map(0.03, 0.1).await;
    page.until("a fork", "document.querySelector('.fleet[data-forked]')")
        .await;
    let flag = page
        .value("document.querySelector('.fflag').textContent")
        .await;
    assert!(
        flag.as_str().is_some_and(|text| text.contains("fork: D")),
        "{flag}"
    );
    assert_eq!(page.see_race().await, before, "the past is shared");
    page.click(".fflag button").await;
    page.until(
        "the run as it was",
        "!document.querySelector('.fleet[data-forked]')",
    )
    .await;
    // A setting forks too, and undo goes back.
    page.scrub(0.5).await;
    page.script(
        "const i = [...document.querySelectorAll('.fbar .fld')].find(f => f.textContent.includes('Spare domains')).querySelector('input'); \
         i.focus(); i.value = '2'; i.dispatchEvent(new Event('input', { bubbles: true })); i.dispatchEvent(new Event('change', { bubbles: true }));",
        json!([]),
    )
    .await;
    page.until(
        "a fork",
        "document.querySelector('.fflag')?.textContent.includes('2 more spare domains')",
    )
    .await;
}

const LOG: &str = "time_h,domain,gpu,kind,duration_h\n5,2,3,hardware,20\n9,3,,hardware,12\n30,4,1,software,3\n70,1,0,hardware,10\n";

async fn replays_a_log(page: &Page) {
    page.wait_run().await;
    page.drop_file("outages.csv", LOG).await;
    page.until(
        "the report",
        "document.querySelector('.flog[data-used=\"4\"]')",
    )
    .await;
    page.until(
        "the log's run",
        "document.querySelector('.fday').textContent.includes('of 3.33')",
    )
    .await;
    // A broken line has a number and may be left out.
    let broken = format!("{LOG}x,1,2,hardware,3\n");
    page.drop_file("broken.csv", &broken).await;
    page.until(
        "the line",
        "document.querySelector('.fwrong')?.textContent.includes('log line 6')",
    )
    .await;
    page.click(".fwrong .tb.line").await;
    page.until(
        "the report",
        "document.querySelector('.flog h3').textContent.includes('broken.csv')",
    )
    .await;
    assert!(
        page.value("document.querySelector('.fproblems').textContent")
            .await
            .as_str()
            .is_some_and(|text| text.contains("line 6"))
    );
    // Larger than the cluster: offers to fit.
    page.drop_file(
        "large.csv",
        "time_h,domain,gpu,kind,duration_h\n1,40,3,hardware,5\n90,1,3,hardware,5\n",
    )
    .await;
    page.until("the offer", "document.querySelector('.ffit .pri')")
        .await;
    page.click(".ffit .pri").await;
    page.until("a larger cluster", "location.hash.includes('dp=21')")
        .await;
}

async fn stops_long_work(page: &Page) {
    page.until("work", "document.querySelector('#stop')").await;
    page.script("document.querySelector('#stop').click()", json!([]))
        .await;
    page.until("an end", "!document.querySelector('.fbusy')")
        .await;
    // The worker is free for the next order.
    page.follow("#/fleet?days=3&seed=2").await;
    page.wait_run().await;
}

async fn bad_input_is_told_at_its_control(page: &Page) {
    page.wait_run().await;
    page.script(
        "const i = [...document.querySelectorAll('.fbar .fld')].find(f => f.textContent.startsWith('×')).querySelector('input'); \
         i.focus(); i.value = '-1'; i.dispatchEvent(new Event('input', { bubbles: true })); i.dispatchEvent(new Event('change', { bubbles: true }));",
        json!([]),
    )
    .await;
    page.until("the refusal", "document.querySelector('.fbar .err')?.textContent.includes('-1 is not allowed, expected 0 to')").await;
}

journey!(play_and_step, BUSY, plays_and_steps);
journey!(scrub_and_ask_why, BUSY, scrubs);
journey!(fork_and_go_back, BUSY, forks);
journey!(drop_logs, "#/fleet", replays_a_log);
journey!(refuse_bad_input, BUSY, bad_input_is_told_at_its_control);

#[test]
fn stop_long_work() {
    browse(
        "stop long work",
        View::DESKTOP,
        "#/fleet?sys=h100-nvl8&model=llama3-405b&tp=8&pp=16&dp=780&gbs=780&days=3600&faults=%7B%22rate_multiplier%22%3A20%7D",
        stops_long_work,
    );
}

#[test]
fn stop_reading_a_log() {
    browse("stop a log", View::DESKTOP, "#/fleet", async |page| {
        page.wait_run().await;
        // 60 MB: long enough to be stopped, whatever the machine.
        page.script(
            "const rows = '5,2,3,hardware,20\\n'.repeat(100000), all = new DataTransfer(), input = document.querySelector('#log-picker'); \
             all.items.add(new File(['time_h,domain,gpu,kind,duration_h\\n', ...Array(34).fill(rows)], 'long.csv')); \
             input.files = all.files; input.dispatchEvent(new Event('change', { bubbles: true }));",
            json!([]),
        )
        .await;
        let share = "parseFloat(document.querySelector('.fbusy .n')?.textContent)";
        page.until("the progress to move", &format!("{share} >= 2"))
            .await;
        page.until("it to move on", &format!("{share} >= 6")).await;
        page.click("#stop").await;
        page.until("an end", "!document.querySelector('.fbusy')")
            .await;
        assert_eq!(
            page.value("document.querySelector('.flog')").await,
            json!(null)
        );
        // The worker has let go of the file and reads the next one.
        page.drop_file("outages.csv", LOG).await;
        page.until(
            "the next log",
            "document.querySelector('.flog[data-used=\"4\"]')",
        )
        .await;
    });
}

#[test]
fn ask_why_on_a_phone() {
    browse("why on a phone", View::PHONE, BUSY, async |page| {
        page.wait_run().await;
        page.script(
            "document.querySelector('.frace').scrollIntoView()",
            json!([]),
        )
        .await;
        page.press('.').await;
        page.press('.').await;
        page.until(
            "gaps large enough for a finger",
            "(() => { const gaps = [...document.querySelectorAll('.fr .gap')].filter(g => g.textContent); \
             return gaps.length > 4 && gaps.every(g => g.offsetWidth >= 60 && g.offsetHeight >= 34 && g.scrollWidth <= g.clientWidth \
             && document.elementFromPoint(g.getBoundingClientRect().right - 8, g.getBoundingClientRect().top + 30) === g) })()",
        )
        .await;
        page.click("[data-strategy=wait] .gap").await;
        page.until(
            "a reason that fits",
            "(() => { const why = document.querySelector('.fwhy'); return why?.textContent.includes('GPU-h') && why.scrollWidth <= why.clientWidth })()",
        )
        .await;
    });
}

/// Clicks the button with these words.
async fn press(page: &Page, css: &str, words: &str) {
    page.script(
        "[...document.querySelectorAll(arguments[0])].find(button => button.textContent.trim() === arguments[1]).click()",
        json!([css, words]),
    )
    .await;
    page.settle().await;
}

async fn studies_refine_and_stop(page: &Page) {
    page.wait_run().await;
    press(page, ".ftabs [role=tab]", "Studies").await;
    press(page, ".stbar .go", "Run").await;
    page.until(
        "a study",
        "document.querySelector('.studies')?.dataset.standing === 'done'",
    )
    .await;
    // 0 to 2 spare domains, two seeds each.
    assert_eq!(page.attribute(".studies", "data-runs").await, "6");
    let verdict = page
        .value("document.querySelector('.stverdict').textContent")
        .await
        .to_string();
    assert!(
        verdict.contains("does most work per GPU-hour with"),
        "{verdict}"
    );
    assert_eq!(
        page.value("document.querySelectorAll('.studies .figtable tbody tr').length")
            .await,
        json!(3)
    );
    for (study, shown) in [
        ("Checkpoint interval", ".stheat td.b"),
        ("Sensitivity", ".sttor .tr"),
        ("Blast radius", ".studies .figtable tbody tr"),
    ] {
        press(page, ".stbar [role=radio]", study).await;
        page.until("a stale study", "document.querySelector('.ststale')")
            .await;
        press(page, ".stbar .go", "Run again").await;
        page.until("another study", &format!("document.querySelector('.studies')?.dataset.standing === 'done' && document.querySelector('{shown}')")).await;
    }
}

journey!(
    studies_run_on_all_cores_and_refine,
    "#/fleet?days=2&runs=2&most=2&faults=%7B%22rate_multiplier%22%3A30%7D",
    studies_refine_and_stop
);
