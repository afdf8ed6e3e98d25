//! Failing and repairing GPUs with everything a user may have at hand.

use crate::rig::page::{Page, gpu};
use crate::rig::{browse, eval::eval, journey};
use fantoccini::key::Key;
use serde_json::{Value, json};

/// The default scene with GPUs of it failed, as `eval` reads it.
fn failed(gpus: &[(u32, u32)]) -> Value {
    let mut scenario = crate::rig::eval::default_scene();
    scenario["failures"] = gpus
        .iter()
        .map(|(domain, gpu)| json!({ "domain": domain, "gpu": gpu }))
        .collect();
    scenario
}

/// Whether a text shows a value, to the last digit it has. What is below one is never shown as one.
fn shows(text: &str, value: f64) -> bool {
    let digits = text.split_once('.').map_or(0, |(_, digits)| digits.len());
    let unit = 0.1_f64.powi(digits as i32);
    let Ok(shown) = text.parse::<f64>() else {
        return false;
    };
    let rounded_up_to_one = value < 1.0 && value > 1.0 - unit / 2.0;
    let expected = if rounded_up_to_one { 1.0 - unit } else { value };
    (shown - expected).abs() <= unit * 0.500_001
}

/// The page's numbers are the command line's.
pub async fn check_rows(page: &Page, scenario: &Value) {
    let report = eval(scenario);
    for (strategy, row) in page.see_rows().await {
        for (name, shown) in [
            ("throughput", &row.throughput),
            ("goodput_now", &row.goodput),
        ] {
            let value = report["strategies"][&strategy][name].as_f64();
            let value = value.unwrap_or_else(|| panic!("eval has no {name} of {strategy}"));
            assert!(
                shows(shown, value),
                "{strategy}: the page shows {name} {shown}, eval says {value}"
            );
        }
    }
}

#[test]
fn a_shown_number_is_the_value_to_its_last_digit() {
    assert!(
        shows("0.9471", 0.947_108)
            && shows("0.999", 0.999_97)
            && shows("1.000", 1.0)
            && shows("0.95", 0.945)
    );
    assert!(!shows("0.9472", 0.947_108) && !shows("1.000", 0.999_97) && !shows("wide", 1.0));
}

journey!(by_mouse, "", async |page: &Page| {
    let healthy = page.see_rows().await;
    page.click_gpu(0, 3).await;
    page.wait_state(0, 3, "failed").await;
    let rows = page.see_rows().await;
    let throughput = |strategy: &str| rows[strategy].throughput.parse::<f64>().expect("a number");
    assert!(throughput("dp-drop") < 1.0, "{rows:?}");
    assert!(throughput("ntp") >= throughput("dp-drop"), "{rows:?}");
    assert!(throughput("ntp-pw") >= throughput("ntp"), "{rows:?}");
    check_rows(page, &failed(&[(0, 3)])).await;
    // Drawn under the cell, and not beside it.
    let (red, ground) = (
        page.see_token("--st-failed").await,
        page.see_token("--panel").await,
    );
    page.wait_drawn(0, 3, (3.0, 3.0), red).await;
    page.wait_drawn(0, 3, (-3.0, -3.0), red).await;
    page.wait_drawn(0, 3, (3.0, 19.7), ground).await;
    page.click_gpu(0, 3).await;
    page.wait_state(0, 3, "healthy").await;
    let grey = page.see_token("--st-healthy-bg").await;
    page.wait_drawn(0, 3, (3.0, 3.0), grey).await;
    assert_eq!(
        page.see_rows().await,
        healthy,
        "repairing gives back the exact healthy numbers"
    );
});

journey!(
    racks_are_drawn_where_they_are_seen,
    "",
    async |page: &Page| {
        let grey = page.see_token("--st-healthy-bg").await;
        let near = (1.5, 3.0);
        page.wait_drawn(3, 71, near, grey).await;
        // Far away holds no pixels.
        page.wait_drawn(15, 71, near, None).await;
        let end = "return new Promise(done => { const box = document.querySelector('#racks'); box.scrollTo(0, box.scrollHeight); \
               requestAnimationFrame(() => requestAnimationFrame(done)) })";
        page.script(end, json!([])).await;
        // Drawn when it comes.
        page.wait_drawn(15, 71, near, grey).await;
        // Given back when it goes.
        page.wait_drawn(0, 0, near, None).await;
        // Another theme draws what is seen anew.
        page.click("[aria-label='Switch theme']").await;
        let dark = page.see_token("--st-healthy-bg").await;
        assert_ne!(dark, grey);
        page.wait_drawn(15, 71, near, dark).await;
        // As after the graphics process died.
        let lose = "const canvas = document.querySelector(arguments[0]).closest('[role=grid]').querySelector('canvas'); \
                    canvas.getContext('2d').clearRect(0, 0, canvas.width, canvas.height); \
                    canvas.dispatchEvent(new Event('contextrestored'))";
        page.script(lose, json!([gpu(15, 71)])).await;
        page.wait_drawn(15, 71, near, dark).await;
    }
);

journey!(by_keyboard, "", async |page: &Page| {
    page.tab_to("document.activeElement.matches('[role=gridcell]')")
        .await;
    page.press(Key::Home).await;
    let start = page.see_focus().await;
    page.press(Key::Right).await;
    let (domain, gpu) = page.see_focus().await;
    assert_ne!((domain, gpu), start, "an arrow moves the focus");
    page.press(' ').await;
    page.wait_state(domain, gpu, "failed").await;
    check_rows(page, &failed(&[(domain, gpu)])).await;
    page.press('u').await;
    page.wait_state(domain, gpu, "healthy").await;
});

journey!(by_touch, "", async |page: &Page| {
    page.tap_gpu(0, 3).await;
    page.wait_state(0, 3, "failed").await;
    check_rows(page, &failed(&[(0, 3)])).await;
});

journey!(several_by_dragging, "", async |page: &Page| {
    page.drag_over_gpus((0, 0), (0, 3)).await;
    for gpu in 0..4 {
        page.wait_state(0, gpu, "failed").await;
    }
    assert_eq!(page.see_states().await["failed"], 4);
});

journey!(undo_redo_and_repair_all, "", async |page: &Page| {
    let healthy = (page.see_states().await, page.see_rows().await);
    page.click_gpu(0, 3).await;
    page.wait_state(0, 3, "failed").await;
    page.click_gpu(1, 5).await;
    page.wait_state(1, 5, "failed").await;
    let both = (page.see_states().await, page.see_rows().await);
    page.press_with(&[Key::Control], 'z').await;
    page.wait_state(1, 5, "healthy").await;
    assert_eq!(
        page.see_state(0, 3).await,
        "failed",
        "undo takes back one step"
    );
    page.press_with(&[Key::Control, Key::Shift], 'z').await;
    page.wait_state(1, 5, "failed").await;
    assert_eq!(
        (page.see_states().await, page.see_rows().await),
        both,
        "redo gives the step back"
    );
    page.press('u').await;
    page.wait_state(0, 3, "healthy").await;
    assert_eq!(
        (page.see_states().await, page.see_rows().await),
        healthy,
        "repair all gives the exact healthy state"
    );
});

journey!(at_random, "", async |page: &Page| {
    page.press('r').await;
    page.until(
        "a failed GPU",
        "document.querySelector('[role=gridcell][data-state=failed]')",
    )
    .await;
});

/// Kind of failure and blast radius are chosen in a pop-up.
const MENU: &str = "document.querySelector('[role=menu], [role=dialog]')?.checkVisibility()";

journey!(a_menu_offers_the_kind, "", async |page: &Page| {
    page.right_click_gpu(0, 3).await;
    page.until("the menu of a right click", MENU).await;
    page.press(Key::Escape).await;
    page.until("the menu to close", &format!("!({MENU})")).await;
    page.long_press_gpu(0, 5).await;
    page.until("the menu of a long press", MENU).await;
    page.press(Key::Escape).await;
    page.until("the menu to close", &format!("!({MENU})")).await;
    assert_eq!(page.see_state(0, 3).await, "healthy");
    assert_eq!(
        page.see_state(0, 5).await,
        "healthy",
        "a long press is no tap"
    );
});
