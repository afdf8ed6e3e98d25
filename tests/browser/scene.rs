//! The scene the page opens with: handles, numbers, themes and screens.

use crate::rig::page::{Page, STRATEGIES};
use crate::rig::view::View;
use crate::rig::{browse, journey};
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
