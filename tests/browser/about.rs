//! The About page: fetched when it is opened, and the scene is kept meanwhile.

use crate::rig::page::Page;
use crate::rig::{browse, journey};
use serde_json::json;

const SHOWN: &str = "document.querySelector('.about h1')?.checkVisibility()";

journey!(
    about_says_limits_and_sources,
    "#/about",
    async |page: &Page| {
        page.until("the About page", SHOWN).await;
        let text = page
            .value("document.querySelector('.about').textContent")
            .await;
        let text = text.as_str().unwrap_or_default();
        for said in [
            "How far the numbers go",
            "Predicted against published step time",
            "gb300-nvl72",
            "llama3-405b",
            "failures[].speed",
        ] {
            assert!(text.contains(said), "nothing about {said}");
        }
        // Every system and every model has a line with its source.
        let sources = "document.querySelectorAll('.about tr.src').length";
        assert_eq!(page.value(sources).await, 8 + 6);
    }
);

journey!(
    the_scene_is_kept_while_others_are_read,
    "",
    async |page: &Page| {
        page.click_gpu(0, 3).await;
        page.wait_state(0, 3, "failed").await;
        page.click(".nav a[href^='#/about']").await;
        page.until("the About page", SHOWN).await;
        page.click(".nav a[href^='#/rack']").await;
        page.wait_state(0, 3, "failed").await;
        assert_eq!(
            page.script(
                "return document.querySelectorAll('.about').length",
                json!([])
            )
            .await,
            0,
            "the other page is gone"
        );
    }
);
