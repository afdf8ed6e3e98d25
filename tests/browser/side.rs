//! The side column: rows by keyboard, order on the screen, "why?", the configuration text, the further panels.

use crate::rig::page::Page;
use crate::rig::{browse, journey};
use fantoccini::key::Key;
use serde_json::{Value, json};

/// Three GPUs of the default scene's first two racks.
const THREE: [(u32, u32); 3] = [(0, 17), (0, 41), (1, 29)];

async fn fail_three(page: &Page) {
    for (domain, gpu) in THREE {
        page.click_gpu(domain, gpu).await;
        page.wait_state(domain, gpu, "failed").await;
    }
}

/// The text of the first element that a selector finds.
async fn text(page: &Page, css: &str) -> String {
    let code = "return document.querySelector(arguments[0])?.textContent ?? ''";
    let value = page.script(code, json!([css])).await;
    value.as_str().unwrap_or_default().to_owned()
}

journey!(the_verdict_counts_gpus, "", async |page: &Page| {
    assert!(
        text(page, ".verdict")
            .await
            .contains("All 1,152 GPUs work.")
    );
    fail_three(page).await;
    let said = text(page, ".verdict").await;
    assert!(said.contains("3 of 1,152 GPUs failed."), "{said}");
    assert!(
        said.contains("Dropping their replica wastes 144 GPUs"),
        "{said}"
    );
});

journey!(rows_stand_worst_to_best, "", async |page: &Page| {
    fail_three(page).await;
    let code = "return [...document.querySelectorAll('.row[data-strategy]')].map(r => \
                [r.style.getPropertyValue('--place') * 1, r.dataset.goodput * 1]).sort((a, b) => a[0] - b[0]).map(r => r[1])";
    let order: Vec<f64> =
        serde_json::from_value(page.script(code, json!([])).await).expect("a list of goodputs");
    assert_eq!(order.len(), 6);
    assert!(order.is_sorted(), "{order:?}");
    // Once they have slid there, the places are what the eye sees.
    let seen = "[...document.querySelectorAll('.row[data-strategy]')].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top) \
                .every((r, i) => r.style.getPropertyValue('--place') * 1 === i)";
    page.until("rows to be at their places", seen).await;
});

journey!(
    arrows_choose_a_row_and_recast_the_racks,
    "",
    async |page: &Page| {
        page.tab_to("document.activeElement.matches('.row.on .hit')")
            .await;
        let before = page
            .value("document.activeElement.closest('.row').dataset.strategy")
            .await;
        page.press(Key::Up).await;
        let after = page
            .value("document.activeElement.closest('.row').dataset.strategy")
            .await;
        assert_ne!(before, after);
        assert_eq!(
            page.value("document.querySelector('.row.on').dataset.strategy")
                .await,
            after
        );
        let racks = text(page, ".racks .rh").await;
        assert!(
            racks.contains(after.as_str().unwrap_or("?")),
            "the racks say {racks}"
        );
    }
);

journey!(
    why_opens_closes_and_gives_the_focus_back,
    "",
    async |page: &Page| {
        fail_three(page).await;
        page.click(".row[data-strategy=ntp] .num").await;
        page.until(
            "the dialog to have the focus",
            "document.activeElement?.matches('[role=dialog]')",
        )
        .await;
        let said = text(page, ".whypop").await;
        assert!(
            said.contains("goodput = ") && said.contains("Source"),
            "{said}"
        );
        page.press(Key::Escape).await;
        page.until(
            "the dialog to be gone",
            "!document.querySelector('.whypop')",
        )
        .await;
        assert_eq!(
            page.value("document.activeElement.matches('.row[data-strategy=ntp] .num')")
                .await,
            Value::Bool(true)
        );
        // It did not choose the row.
        assert_eq!(
            page.value("document.querySelector('.row.on').dataset.strategy")
                .await,
            "ntp-pw"
        );
        // Every line of "what changed" answers, the further ones too.
        page.click(".strip button:nth-child(1)").await;
        let code = "const out = []; for (const b of document.querySelectorAll('.side .kvl .why')) { b.click(); await new Promise(r => setTimeout(r, 30)); \
                out.push(document.querySelector('.whypop')?.textContent.length ?? 0); b.click(); } return out";
        let code = format!("const done = arguments[0]; (async () => {{ {code} }})().then(done)");
        let lengths = page
            .client
            .execute_async(&code, vec![])
            .await
            .expect("answers");
        let lengths: Vec<u64> = serde_json::from_value(lengths).expect("a list of lengths");
        assert!(
            lengths.len() >= 12 && lengths.iter().all(|length| *length > 60),
            "{lengths:?}"
        );
    }
);

journey!(the_configuration_is_megatrons, "", async |page: &Page| {
    page.click(".cfgb").await;
    assert!(text(page, ".cfg").await.contains("nothing to configure"));
    fail_three(page).await;
    page.click(".cfgb").await;
    let said = text(page, ".cfg").await;
    assert!(
        said.starts_with("NonuniformTPConfig(tp_base=72, tp_spares=2, num_reduced_tp_dp_ranks=1"),
        "{said}"
    );
    let warned = text(page, ".chr").await;
    assert!(
        warned.contains("Megatron cannot map 128 heads to 70"),
        "{warned}"
    );
});

journey!(
    further_panels_open_and_the_best_layout_can_be_used,
    "",
    async |page: &Page| {
        for panel in 1..=3 {
            page.click(&format!(".strip button:nth-child({panel})"))
                .await;
            assert!(
                text(page, ".panel").await.len() > 40,
                "panel {panel} is empty"
            );
        }
        let layout = "[...document.querySelectorAll('.scn input')].map(i => i.value).join()";
        let before = page.value(layout).await;
        page.click(".bl button").await;
        page.until(
            "a layout to be found",
            "document.querySelector('.choices li')",
        )
        .await;
        let other = "[...document.querySelectorAll('.choices .tb')].length";
        assert!(page.value(other).await.as_u64().is_some_and(|n| n > 0));
        page.script(
            "[...document.querySelectorAll('.choices .tb')].at(-1).click()",
            json!([]),
        )
        .await;
        page.settle().await;
        assert_ne!(
            page.value(layout).await,
            before,
            "{:?}",
            page.see_notices().await
        );
        page.press_with(&[Key::Control], 'z').await;
        assert_eq!(page.value(layout).await, before);
    }
);
