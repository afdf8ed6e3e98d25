//! Kinds of failure by the menu, blast radius, a slow GPU and its group: the page's numbers stay the command line's.

use crate::failing::check_rows;
use crate::rig::eval::default_scene;
use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use serde_json::{Value, json};

/// The menu's button of a kind: the first is hardware, then software, then slow.
fn kind(place: u32) -> String {
    format!(".kinds .opts button:nth-child({place})")
}

/// The default scene with these failures.
fn scene(failures: Value) -> Value {
    let mut scenario = default_scene();
    scenario["failures"] = failures;
    scenario
}

/// The text of the first element that a selector finds.
async fn text(page: &Page, css: &str) -> String {
    let code = "return document.querySelector(arguments[0])?.textContent ?? ''";
    let value = page.script(code, json!([css])).await;
    value.as_str().unwrap_or_default().to_owned()
}

#[test]
fn keys_wait_for_a_menu_that_is_coming() {
    browse("late menu", View::DESKTOP, "", async |page| {
        // Coming near a menu fetches it already, so from the start.
        let slow = json!({ "offline": false, "latency": 4000, "downloadThroughput": 1e6, "uploadThroughput": 1e6 });
        page.devtools("Network.enable", json!({})).await;
        page.devtools("Network.emulateNetworkConditions", slow)
            .await;
        page.tab_to("document.activeElement.matches('[role=gridcell]')")
            .await;
        let here = page.see_focus().await;
        page.press(Key::Enter).await;
        page.press(Key::Down).await;
        page.press(' ').await;
        assert_eq!(page.see_focus().await, here, "an arrow moved the focus");
        page.until(
            "the menu to have the focus",
            "document.activeElement?.closest('.kinds')",
        )
        .await;
        assert_eq!(page.see_state(here.0, here.1).await, "healthy");
    });
}

const MENU_GONE: &str = "!document.querySelector('.kinds')";

journey!(
    software_comes_back_after_a_restart,
    "",
    async |page: &Page| {
        page.right_click_gpu(0, 3).await;
        page.click(&kind(2)).await;
        page.click(".kinds .pri").await;
        page.wait_state(0, 3, "restarting").await;
        assert_eq!(page.see_label(0, 3).await, "Domain 0 GPU 3: restarting");
        page.until("the menu to close", MENU_GONE).await;
        assert_eq!(
            page.see_focus().await,
            (0, 3),
            "the focus returns to the GPU"
        );
        check_rows(
            page,
            &scene(json!([{ "domain": 0, "gpu": 3, "kind": "software" }])),
        )
        .await;
        let link = page.see_link().await;
        assert!(link.contains("fail=0.3:sw"), "{link}");
        // The same menu repairs.
        page.right_click_gpu(0, 3).await;
        page.click(".kinds .acts .line").await;
        page.wait_state(0, 3, "healthy").await;
    }
);

journey!(
    a_slow_gpu_holds_its_group_at_its_speed,
    "#/rack?sel=ntp",
    async |page: &Page| {
        // By keyboard alone: Enter opens, arrows choose the kind, the slider takes the speed from 80 to 99 %.
        page.tab_to("document.activeElement.matches('[role=gridcell]')")
            .await;
        let (domain, gpu) = page.see_focus().await;
        page.press(Key::Enter).await;
        page.until(
            "the menu to have the focus",
            "document.activeElement?.closest('.kinds')",
        )
        .await;
        page.press(Key::Down).await;
        page.press(Key::Down).await;
        page.until(
            "slow to be chosen",
            "document.querySelector('.kinds .opts button:nth-child(3)').ariaChecked === 'true'",
        )
        .await;
        page.tab_to("document.activeElement.matches('.kinds input[type=range]')")
            .await;
        page.press(Key::End).await;
        page.tab_to("document.activeElement.matches('.kinds .pri')")
            .await;
        page.press(Key::Enter).await;
        page.wait_state(domain, gpu, "slow").await;
        let scenario =
            scene(json!([{ "domain": domain, "gpu": gpu, "kind": "slow", "speed": 0.99 }]));
        check_rows(page, &scenario).await;
        // The rack says what the group does, the side column says what the alternative would give.
        let head = text(page, ".dom .cn").await;
        assert!(head.contains("1 slow, group held to 99 %"), "{head}");
        let weighed = text(page, ".slowline").await;
        assert!(
            weighed.contains("0.99 of its speed: kept, throughput 0.")
                && weighed.contains("; benched it would be 0."),
            "{weighed}"
        );
    }
);

journey!(
    a_very_slow_gpu_is_benched,
    "#/rack?fail=0.3:slow0.5&sel=ntp",
    async |page: &Page| {
        // At half the speed one degree less is better: the GPU stands idle.
        assert_eq!(
            page.see_label(0, 3).await,
            "Domain 0 GPU 3: idle, benched at 50 %"
        );
        let weighed = text(page, ".slowline").await;
        assert!(weighed.contains("0.50 of its speed: benched"), "{weighed}");
        let degree = text(page, ".dom .deg").await;
        assert!(degree.contains("71"), "the group runs on: {degree}");
    }
);

journey!(a_tray_and_a_domain_go_together, "", async |page: &Page| {
    page.right_click_gpu(0, 5).await;
    page.click(".kinds .seg button:nth-child(2)").await;
    page.click(".kinds .pri").await;
    page.wait_state(0, 5, "failed").await;
    // The tray of GPU 5 holds 4 to 7.
    for gpu in 4..8 {
        assert_eq!(page.see_state(0, gpu).await, "failed", "GPU {gpu}");
    }
    assert_eq!(page.see_states().await["failed"], 4);
    check_rows(
        page,
        &scene(json!([{ "domain": 0, "gpu": 5, "blast_radius": 4 }])),
    )
    .await;
    // A click on any of them repairs all of them.
    page.click_gpu(0, 6).await;
    page.wait_state(0, 5, "healthy").await;
    page.right_click_gpu(1, 9).await;
    page.click(".kinds .seg button:nth-child(3)").await;
    page.click(".kinds .pri").await;
    page.wait_state(1, 0, "failed").await;
    assert_eq!(page.see_states().await["failed"], 72);
});

#[test]
fn a_finger_chooses_the_kind_on_a_phone() {
    browse("kinds phone", View::PHONE, "", async |page| {
        page.long_press_gpu(0, 9).await;
        page.until(
            "the sheet",
            "document.querySelector('.kinds')?.checkVisibility()",
        )
        .await;
        page.tap(&kind(3)).await;
        page.tap(".kinds .pri").await;
        // At 80 % its group does better without it.
        page.wait_state(0, 9, "idle").await;
        check_rows(
            page,
            &scene(json!([{ "domain": 0, "gpu": 9, "kind": "slow", "speed": 0.8 }])),
        )
        .await;
    });
}
