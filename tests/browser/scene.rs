//! The scene the page opens with: handles, numbers, themes and screens.

use crate::rig::page::{Page, STRATEGIES};
use crate::rig::view::View;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use serde_json::json;

journey!(the_engine_runs_and_says_so, "", async |page: &Page| {
    assert_eq!(
        page.value("document.documentElement.dataset.ready").await,
        "true"
    );
});

journey!(
    every_gpu_is_a_named_cell_of_a_grid,
    "",
    async |page: &Page| {
        // TP72 x PP2 x DP8 on NVL72: 16 domains in the job.
        let states = page.see_states().await;
        assert!(
            states.get("healthy").is_some_and(|&n| n >= 16 * 72),
            "{states:?}"
        );
        assert_eq!(
            page.see_label(0, 3).await,
            "Domain 0 GPU 3: healthy, TP rank 3"
        );
    }
);

journey!(
    six_rows_hold_the_healthy_job_at_one,
    "",
    async |page: &Page| {
        let rows = page.see_rows().await;
        assert_eq!(rows.len(), STRATEGIES.len());
        for strategy in ["wait", "dp-drop", "ntp", "ntp-pw"] {
            assert_eq!(
                rows[strategy].goodput.parse(),
                Ok(1.0),
                "{strategy} with nothing failed"
            );
        }
    }
);

/// Where the parts that the first paint has are, to half a pixel: name, then x, y, width and height.
const PLACES: &str = "const root = [...document.querySelectorAll('.app')].find(e => e.getClientRects().length); \
    return ['.brand', '.nav a', '.nav a:last-child', '.scn', '.psc', '.racks', '.rep', '.dom', '.cab', '.sws', '.verdict p', '.rows', '.row.on', '.row.on .num', '.side', '.gantt', '.pdock'] \
    .flatMap(css => { const e = root.querySelector(css); if (!e) return []; const b = e.getBoundingClientRect(); \
    return [[css, ...[b.x, b.y, b.width, b.height].map(v => Math.round(v * 2) / 2)]]; })";

#[test]
fn nothing_jumps_when_the_engine_arrives() {
    for view in [View::DESKTOP, View::LARGE, View::PHONE] {
        browse("first paint", view, "", async |page| {
            let never = "WebAssembly.instantiateStreaming = WebAssembly.instantiate = () => new Promise(() => {})";
            let held = page
                .devtools(
                    "Page.addScriptToEvaluateOnNewDocument",
                    json!({ "source": never }),
                )
                .await;
            page.client
                .goto("about:blank")
                .await
                .expect("an empty page");
            page.client
                .goto(&page.address(""))
                .await
                .expect("the page before its engine");
            // A page of another process gets the window's size a moment after its own.
            page.settle().await;
            let first = page.script(PLACES, json!([])).await;
            assert_eq!(
                page.value("document.documentElement.dataset.ready ?? null")
                    .await,
                json!(null)
            );
            page.devtools(
                "Page.removeScriptToEvaluateOnNewDocument",
                json!({ "identifier": held["identifier"] }),
            )
            .await;
            page.goto("").await;
            page.settle().await;
            let live = page.script(PLACES, json!([])).await;
            assert_eq!(first, live, "at {} px", view.width);
        });
    }
}

#[test]
fn parts_of_the_page_come_when_they_are_wanted() {
    browse("parts", View::DESKTOP, "", async |page| {
        page.until(
            "the panel of one step",
            "document.querySelector('.gplot canvas')",
        )
        .await;
        let fetched = page
            .value("performance.getEntriesByType('resource').map(e => e.name.split('/').pop())")
            .await;
        let fetched: Vec<String> = serde_json::from_value(fetched).expect("names of files");
        let came = |part: &str| fetched.iter().any(|name| name.starts_with(part));
        assert!(came("step-"), "{fetched:?}");
        for part in ["more-", "pages", "worker"] {
            assert!(!came(part), "{part} came unasked: {fetched:?}");
        }

        page.devtools("Network.enable", json!({})).await;
        // What is opened says that its program was not let through, and comes when asked for again.
        let lost = async |program: &str, opens: &str, alert: &str, came: &str| {
            let block = async |urls: serde_json::Value| {
                page.devtools("Network.setBlockedURLs", json!({ "urls": urls }))
                    .await;
            };
            block(json!([program])).await;
            page.script(&format!("{opens}.click()"), json!([])).await;
            page.until(
                "a line that says so",
                &format!(
                    "document.querySelector('{alert}')?.textContent.includes('could not be loaded')"
                ),
            )
            .await;
            // The part that was not let through is the one error.
            page.console().await;
            block(json!([])).await;
            page.script(
                &format!("document.querySelector('{alert} button').click()"),
                json!([]),
            )
            .await;
            page.until(came, &format!("document.querySelector('{came}')"))
                .await;
        };
        lost(
            "*/more-*.wasm",
            "document.querySelector('[aria-label=\"More settings\"]')",
            ".moreset [role=alert]",
            ".moreset input",
        )
        .await;
        // A whole page, too.
        lost(
            "*/pages-*.wasm",
            "[...document.querySelectorAll('.nav a')].find(a => a.textContent === 'Fleet')",
            "#app > [role=alert]",
            ".fleet[data-run]",
        )
        .await;
    });
}

#[test]
fn one_of_a_group_of_choices_is_a_tab_stop() {
    let alone = "[...document.querySelectorAll('[role=radiogroup]')].map(group => group.querySelectorAll('[role=radio][tabindex=\"0\"]').length)";
    for (link, opens) in [
        ("", ".sel[aria-label^='Scenario']"),
        ("#/fleet?days=1", "[aria-label^='Failures']"),
    ] {
        browse("choices", View::DESKTOP, link, async |page| {
            page.until(
                "its button",
                &format!("document.querySelector(\"{opens}\")"),
            )
            .await;
            page.click(opens).await;
            page.until(
                "its choices",
                "document.querySelector('.pop.under [role=radio]')",
            )
            .await;
            let stops = page.value(alone).await;
            let stops = stops.as_array().expect("a list");
            assert!(!stops.is_empty(), "{link}: no choices");
            assert!(stops.iter().all(|stops| *stops == 1), "{link}: {stops:?}");
            // Arrows choose, around the ends.
            let group = "document.querySelector('.pop.under [role=radiogroup]')";
            let chosen = format!(
                "[...{group}.querySelectorAll('[role=radio]')].findIndex(e => e.ariaChecked === 'true')"
            );
            let before = page.value(&chosen).await;
            page.value(&format!(
                "{group}.querySelector('[tabindex=\"0\"]').focus()"
            ))
            .await;
            page.press(Key::Up).await;
            page.until("another choice", &format!("{chosen} !== {before}"))
                .await;
            page.press(Key::Down).await;
            page.until("the first choice", &format!("{chosen} === {before}"))
                .await;
        });
    }
}

#[test]
fn panels_cut_nothing_off() {
    // The panels under buttons that are on the screen, how far each goes beyond its own width or the window's edges.
    let panels = "const over = {}, done = arguments[0], wait = ms => new Promise(then => setTimeout(then, ms)); \
                  (async () => { for (const button of document.querySelectorAll('.popwrap > button')) { \
                      if (!button.checkVisibility()) continue; \
                      button.click(); \
                      while (!button.parentElement.querySelector('.under :is(button, input, a)')) await wait(30); \
                      await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame); \
                      const panel = button.parentElement.querySelector('.under'), at = panel.getBoundingClientRect(); \
                      over[button.ariaLabel] = Math.max(panel.scrollWidth - panel.clientWidth, at.right - innerWidth, -at.left, at.bottom - innerHeight, -at.top); \
                      button.click(); } done(over); })()";
    for view in [View::DESKTOP, View::LARGE, View::PHONE] {
        for link in ["#/rack?fail=0.3", "#/fleet?days=3"] {
            browse("panels", view, link, async |page| {
                page.until(
                    "the page",
                    "document.querySelector('.gplot canvas, .fleet[data-run], .psc')",
                )
                .await;
                let over = page
                    .client
                    .execute_async(panels, vec![])
                    .await
                    .expect("panels");
                let over = over.as_object().expect("panels by name");
                assert!(view.mobile || over.len() > 5, "{over:?}");
                for (name, over) in over {
                    let over = over.as_f64().expect("a length");
                    assert!(over <= 1.0, "{view:?} {link}: {name} is cut by {over} px");
                }
            });
        }
    }
}

#[test]
fn escape_closes_the_scenario_of_a_phone() {
    browse("phone sheet", View::PHONE, "", async |page| {
        page.tap(".psc").await;
        page.until("the sheet", "document.querySelector('.psheet')")
            .await;
        page.value("document.querySelector('.psc').focus()").await;
        page.press(Key::Escape).await;
        page.until("the sheet to close", "!document.querySelector('.psheet')")
            .await;
        let focus = "document.activeElement === document.querySelector('.psc')";
        assert_eq!(page.value(focus).await, json!(true));
    });
}

#[test]
fn a_page_whose_program_is_lost_says_so() {
    browse("lost", View::DESKTOP, "", async |page| {
        page.devtools("Network.enable", json!({})).await;
        for part in ["*_bg.wasm", "*/parts-*.js"] {
            let block = json!({ "urls": [part] });
            page.devtools("Network.setBlockedURLs", block).await;
            page.client
                .goto("about:blank")
                .await
                .expect("an empty page");
            page.client
                .goto(&page.address(""))
                .await
                .expect("the page's document");
            page.until(
                "a line that says so",
                "document.querySelector('[role=alert]')?.textContent.includes('could not be loaded')",
            )
            .await;
            // The file that was not let through is the one error.
            page.console().await;
        }
        page.devtools("Network.setBlockedURLs", json!({ "urls": [] }))
            .await;
        page.click("[role=alert] a").await;
        page.wait_ready().await;
        page.see_rows().await;
    });
}

#[test]
fn the_page_asked_for_last_is_shown() {
    browse("late pages", View::DESKTOP, "", async |page| {
        let slow = json!({ "offline": false, "latency": 100, "downloadThroughput": 2e6, "uploadThroughput": 2e6 });
        page.devtools("Network.enable", json!({})).await;
        page.devtools("Network.emulateNetworkConditions", slow)
            .await;
        for name in ["Fleet", "Figures"] {
            let click = format!(
                "[...document.querySelectorAll('.nav a')].find(a => a.textContent === '{name}').click()"
            );
            page.script(&click, json!([])).await;
            tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        }
        page.until("the figures", "document.querySelector('#app .figures')")
            .await;
        assert_eq!(
            page.value("document.querySelectorAll('#app .fleet').length")
                .await,
            json!(0)
        );
    });
}

#[test]
fn a_phone_shows_the_page_without_sideways_scrolling() {
    browse("phone", View::PHONE, "", async |page| {
        assert_eq!(page.overflow().await, 0, "the page is wider than the phone");
        page.see_rows().await;
        page.tap_gpu(0, 3).await;
        page.wait_state(0, 3, "failed").await;
        assert_eq!(
            page.overflow().await,
            0,
            "the page is wider than the phone after a failure"
        );
    });
}

#[test]
fn a_phone_shows_boards_together_and_turns_long_rows() {
    // Four stages on NVL8: the four boards of a replica fit a phone.
    let boards = "#/rack?sys=h100-nvl8&model=llama3-70b&tp=8&pp=4";
    // A domain of 1,024, of which a phone's rows hold eight each.
    let large = "#/rack?sys=gb300-nvl72&sys.domain_size=1024&model=llama3-405b&tp=64&pp=1";
    for (link, shown) in [(boards, 4 * 8), (large, 1024)] {
        browse("phone domains", View::PHONE, link, async |page| {
            let seen = "[...document.querySelectorAll('[role=gridcell]')].filter(e => e.checkVisibility()).length";
            assert_eq!(page.value(seen).await, shown, "{link}");
            let outside = "[...document.querySelectorAll('.dom.on .cell')].filter(e => \
                           e.getBoundingClientRect().right > e.closest('.cab').getBoundingClientRect().right).length";
            assert_eq!(page.value(outside).await, 0, "{link}");
            assert_eq!(page.overflow().await, 0, "{link}");
        });
    }
}

#[test]
fn low_windows_and_talks_show_whole_racks() {
    let size = |width, height| View {
        width,
        height,
        ..View::DESKTOP
    };
    for (view, link) in [
        (size(1366, 657), ""),
        (size(1920, 950), ""),
        (size(1440, 900), "#/rack?talk=1"),
        (size(1920, 1080), "#/rack?talk=1"),
        (View::LARGE, "#/rack?talk=1"),
    ] {
        browse("low", view, link, async |page| {
            let clipped = "document.querySelector('.dom').getBoundingClientRect().bottom - document.querySelector('.view').getBoundingClientRect().bottom";
            let clipped = page.value(clipped).await.as_f64().expect("a length");
            assert!(clipped <= 0.5, "{view:?} cuts {clipped} px off a rack");
            assert_eq!(page.overflow().await, 0, "{view:?} scrolls sideways");
            let buttons = "[...document.querySelectorAll('.rh button')].every(b => \
                           b.getBoundingClientRect().right <= document.querySelector('.racks').getBoundingClientRect().right)";
            assert_eq!(
                page.value(buttons).await,
                true,
                "{view:?} cuts a button off"
            );
        });
    }
}

#[test]
fn talks_fit_a_small_projector_and_frames_show_the_step() {
    let small = View {
        width: 1024,
        height: 768,
        ..View::DESKTOP
    };
    for page in ["rack", "fleet", "figures", "about"] {
        browse("talk", small, &format!("#/{page}?talk=1"), async |shown| {
            shown
                .until("the page", "document.querySelector('#main')")
                .await;
            assert_eq!(shown.overflow().await, 0, "{page} scrolls sideways");
        });
    }
    let step = "#/rack?fail=0.3&embed=1&show=gantt";
    browse("frame", small, step, async |page| {
        page.until(
            "the step",
            "document.querySelector('.gplot canvas')?.getBoundingClientRect().height > 200",
        )
        .await;
    });
}

#[test]
fn the_system_theme_is_followed() {
    for (view, dark) in [(View::DESKTOP, false), (View::DESKTOP.dark(), true)] {
        browse("theme", view, "", async |page| {
            let code = "const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number); return c[0] + c[1] + c[2]";
            let lightness = page
                .script(code, json!([]))
                .await
                .as_f64()
                .expect("a background colour");
            assert_eq!(
                lightness < 3.0 * 128.0,
                dark,
                "background of brightness {lightness} of 765"
            );
        });
    }
}
