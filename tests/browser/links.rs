//! Links: what is shown can be shared, and no link breaks the page.

use crate::rig::page::Page;
use crate::rig::view::View;
use crate::rig::{browse, journey};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::cell::RefCell;

#[test]
fn a_link_shows_the_same_in_a_clean_profile() {
    for view in [View::DESKTOP, View::RETINA] {
        let shared = RefCell::default();
        browse("share", view, "", async |page| {
            page.click_gpu(0, 3).await;
            page.wait_state(0, 3, "failed").await;
            page.click_gpu(1, 17).await;
            page.wait_state(1, 17, "failed").await;
            shared.replace((
                page.see_link().await,
                page.see_states().await,
                page.see_rows().await,
            ));
        });
        let (link, states, rows) = shared.into_inner();
        assert!(link.starts_with("#/rack?"), "{link}");
        browse("shared", view, &link, async |page| {
            assert_eq!(page.see_state(0, 3).await, "failed");
            assert_eq!(page.see_state(1, 17).await, "failed");
            assert_eq!(
                (page.see_states().await, page.see_rows().await),
                (states, rows),
                "{link}"
            );
            assert_eq!(page.see_link().await, link, "the link stays as it was");
        });
    }
}

journey!(
    a_readable_link_opens_its_scene,
    "#/rack?sys=gb300-nvl72&model=llama3-405b&fail=0.3,5.17",
    async |page: &Page| {
        assert_eq!(page.see_state(0, 3).await, "failed");
        assert_eq!(page.see_state(5, 17).await, "failed");
        assert!(
            page.see_notices().await.is_empty(),
            "{:?}",
            page.see_notices().await
        );
    }
);

#[test]
fn broken_links_open_the_default_scene_and_say_why() {
    for link in [
        "#/rack?sys=h900",
        "#/rack?fail=99999.1",
        "#/rack?fail=-1.x",
        "#/rack?nonsense=1",
        "#/no-such-page",
        "#/rack?v=999",
    ] {
        browse("broken", View::DESKTOP, link, async |page| {
            let notices = page.see_notices().await;
            assert!(!notices.is_empty(), "{link} opened without a word");
            let states = page.see_states().await;
            assert!(
                states.get("healthy").is_some_and(|&n| n >= 16 * 72),
                "{link}: {states:?}"
            );
        });
    }
}

#[test]
fn embedding_hides_all_but_the_scene() {
    browse("embed", View::DESKTOP, "#/rack?embed=1", async |page| {
        let visible = "[...document.querySelectorAll('header:not(main *), nav')].filter(e => e.offsetParent !== null && e.offsetHeight > 0).length";
        assert_eq!(
            page.value(visible).await,
            0,
            "header or navigation in an embedded scene"
        );
        page.click_gpu(0, 3).await;
        page.wait_state(0, 3, "failed").await;
    });
}

/// A link of pieces that are nearly right, with bytes that are not.
fn random_link(random: &mut Pcg64) -> String {
    const PIECES: [&str; 30] = [
        "#/",
        "#",
        "rack",
        "fleet",
        "figures",
        "?",
        "&",
        "=",
        "sys=",
        "model=",
        "fail=",
        "tp=",
        "pp=",
        "dp=",
        "v=",
        "embed=1",
        ",",
        ".",
        ":",
        "%",
        "%2",
        "%FF",
        "0.3",
        "-1",
        "1e99",
        "NaN",
        "gb300-nvl72",
        "h100-nvl8",
        "llama3-405b",
        "4294967296",
    ];
    let count = random.random_range(1..14_u32);
    (0..count)
        .map(|_| {
            if random.random_bool(0.2) {
                char::from_u32(random.random_range(0x20..0x3000_u32))
                    .unwrap_or('?')
                    .to_string()
            } else {
                PIECES[random.random_range(0..PIECES.len() as u32) as usize].to_owned()
            }
        })
        .collect()
}

#[test]
fn no_random_link_breaks_the_page() {
    browse("random links", View::DESKTOP, "", async |page| {
        let mut random = Pcg64::seed_from_u64(7);
        for _ in 0..300 {
            let link = random_link(&mut random);
            page.follow(&link).await;
            assert_eq!(
                page.value("document.documentElement.dataset.ready").await,
                "true",
                "{link}"
            );
            let errors = page.console().await;
            assert!(errors.is_empty(), "{link}\n{}", errors.join("\n"));
        }
        page.goto("").await;
        page.see_rows().await;
    });
}
