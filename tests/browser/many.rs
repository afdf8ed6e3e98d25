//! Many GPUs at once: Shift and arrows, random failures by count and seed, reset, and what moves or does not.

use crate::failing::check_rows;
use crate::rig::eval::default_scene;
use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use serde_json::{Value, json};

/// Domain and number of every GPU in a state, in order.
async fn all(page: &Page, state: &str) -> Vec<(u32, u32)> {
    let code = "return [...document.querySelectorAll(`[role=gridcell][data-state=${arguments[0]}]`)] \
                .map(c => [Number(c.dataset.domain), Number(c.dataset.gpu)])";
    serde_json::from_value(page.script(code, json!([state])).await).expect("a list of GPUs")
}

/// The default scene with GPUs of it failed.
fn failed(gpus: &[(u32, u32)]) -> Value {
    let mut scenario = default_scene();
    scenario["failures"] = gpus
        .iter()
        .map(|(domain, gpu)| json!({ "domain": domain, "gpu": gpu }))
        .collect();
    scenario
}

journey!(shift_and_arrows_mark_many, "", async |page: &Page| {
    page.tab_to("document.activeElement.matches('[role=gridcell]')")
        .await;
    page.press(Key::Home).await;
    let (domain, first) = page.see_focus().await;
    assert_eq!(first, 0);
    page.press_with(&[Key::Shift], Key::Right).await;
    page.press_with(&[Key::Shift], Key::Down).await;
    let marked = "document.querySelectorAll('.cell.sel').length";
    assert_eq!(page.value(marked).await, 4, "a square of four is marked");
    assert!(
        all(page, "failed").await.is_empty(),
        "marking fails nothing yet"
    );
    page.press(' ').await;
    page.wait_state(domain, 5, "failed").await;
    let square = [(domain, 0), (domain, 1), (domain, 4), (domain, 5)];
    assert_eq!(all(page, "failed").await, square);
    check_rows(page, &failed(&square)).await;
    // One step of undo for all of them.
    page.press_with(&[Key::Control], 'z').await;
    page.wait_state(domain, 5, "healthy").await;
    assert!(all(page, "failed").await.is_empty());
    page.press(Key::Escape).await;
    assert_eq!(page.value(marked).await, 0, "Escape drops the marks");
});

/// Throws from the small menu with a count and a seed.
async fn throw(page: &Page, count: u32, seed: u32) {
    page.click(".duo .more").await;
    let code = "const [count, seed] = document.querySelectorAll('.dice input'); \
                for (const [input, value] of [[count, arguments[0]], [seed, arguments[1]]]) { \
                input.value = value; input.dispatchEvent(new Event('input', { bubbles: true })); }";
    page.script(code, json!([count, seed])).await;
    page.click(".duo .pri").await;
}

journey!(
    random_failures_follow_count_and_seed,
    "",
    async |page: &Page| {
        throw(page, 5, 42).await;
        page.until(
            "five failed GPUs",
            "document.querySelectorAll('[role=gridcell][data-state=failed]').length === 5",
        )
        .await;
        let first = all(page, "failed").await;
        check_rows(page, &failed(&first)).await;
        page.press('u').await;
        page.until(
            "all to be repaired",
            "!document.querySelector('[role=gridcell][data-state=failed]')",
        )
        .await;
        page.goto("").await;
        throw(page, 5, 42).await;
        assert_eq!(all(page, "failed").await, first, "same seed, same GPUs");
        page.press('u').await;
        page.goto("").await;
        throw(page, 5, 43).await;
        assert_ne!(all(page, "failed").await, first, "another seed, others");
    }
);

journey!(
    reset_gives_the_opening_scene,
    "#/rack?sys=h100-nvl8&model=llama3-70b&fail=0.3",
    async |page: &Page| {
        assert_eq!(page.see_state(0, 3).await, "failed");
        page.script(
            "[...document.querySelectorAll('.scn button')].find(b => b.textContent === 'Reset').click()",
            json!([]),
        )
        .await;
        page.wait_state(15, 71, "healthy").await;
        check_rows(page, &default_scene()).await;
        page.press_with(&[Key::Control], 'z').await;
        page.wait_state(0, 3, "failed").await;
        let gpus = "document.querySelectorAll('[role=grid]:first-of-type [role=gridcell][data-domain=\"0\"]').length";
        assert_eq!(page.value(gpus).await, 8, "undo gives the boards back");
    }
);

/// Notes everything that moves from now on.
const WATCH: &str = "window.moved = []; \
    new MutationObserver(all => { for (const m of all) for (const n of m.addedNodes) if (n.classList?.contains('moving')) window.moved.push(...n.dataset.plays.split(' ')); }) \
    .observe(document.body, { childList: true, subtree: true }); \
    new MutationObserver(all => { for (const m of all) if (m.target.matches('.kvl.fresh')) window.outlined = true; }) \
    .observe(document.querySelector('.side'), { attributes: true, attributeFilter: ['class'], subtree: true });";

#[test]
fn a_failure_moves_ranks_and_shards() {
    browse("motion", View::DESKTOP, "", async |page| {
        page.script(WATCH, json!([])).await;
        page.click_gpu(0, 3).await;
        page.wait_state(0, 3, "failed").await;
        page.until(
            "the × to draw in, ranks to fade, slips to fly",
            "['cross', 'fade', 'slips'].every(what => window.moved.includes(what))",
        )
        .await;
        page.until(
            "the slips to have landed",
            "!document.querySelector('.moving')",
        )
        .await;
    });
}

#[test]
fn reduced_motion_outlines_and_moves_nothing() {
    browse("still", View::DESKTOP.still(), "", async |page| {
        page.script(WATCH, json!([])).await;
        page.click_gpu(0, 3).await;
        page.wait_state(0, 3, "failed").await;
        page.until("the outline", "window.moved.length > 0").await;
        let moved: Vec<String> =
            serde_json::from_value(page.value("window.moved").await).expect("a list");
        assert_eq!(moved, ["outline"]);
        let running = "document.getAnimations().filter(a => a instanceof CSSTransition).map(a => a.transitionProperty)";
        assert_eq!(page.value(running).await, json!([]), "style transitions");
        page.until("the side column to outline what changed", "window.outlined")
            .await;
    });
}
