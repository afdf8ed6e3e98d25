//! Scenario files: opened by the picker and by dropping, refused in one line.

use crate::rig::eval::default_scene;
use crate::rig::page::Page;
use crate::rig::{browse, journey};
use serde_json::{Value, json};

/// The opening scene with one GPU failed, as a file holds it.
fn good() -> Value {
    let mut file = default_scene();
    file["failures"] = json!([{ "domain": 2, "gpu": 7 }]);
    file
}

/// The file with one field changed.
fn with(pointer: &str, value: Value) -> String {
    let mut file = good();
    let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
    file.pointer_mut(parent).expect("the field's parent")[field] = value;
    file.to_string()
}

/// Files that must be refused, each with a word that the line about it holds.
fn bad() -> Vec<(&'static str, String, &'static str)> {
    vec![
        ("no JSON", "{ half".into(), "JSON"),
        ("empty", String::new(), "JSON"),
        (
            "not a number",
            good().to_string().replace("\"seq\":32768", "\"seq\":NaN"),
            "JSON",
        ),
        ("unknown field", with("/polcy", json!({})), "polcy"),
        ("unknown system", with("/system", json!("h900")), "h900"),
        ("negative", with("/layout/tp", json!(-8)), "-8"),
        (
            "huge",
            with("/layout/dp", json!(4_000_000_000_u32)),
            "4000000000",
        ),
        ("no replicas", with("/layout/dp", json!(0)), "dp"),
        ("TP above the domain", with("/layout/tp", json!(73)), "73"),
        (
            "domain out of range",
            with("/failures", json!([{ "domain": 9999, "gpu": 0 }])),
            "9999",
        ),
        (
            "GPU out of range",
            with("/failures", json!([{ "domain": 0, "gpu": 72 }])),
            "72",
        ),
    ]
}

journey!(a_good_file_opens_by_dropping, "", async |page: &Page| {
    page.drop_file("scene.json", &good().to_string()).await;
    page.wait_state(2, 7, "failed").await;
    assert_eq!(
        page.see_notices().await,
        [""; 0],
        "a good file needs no notice"
    );
});

journey!(a_good_file_opens_by_the_picker, "", async |page: &Page| {
    page.pick_file("scene.json", &good().to_string()).await;
    page.wait_state(2, 7, "failed").await;
});

journey!(
    bad_files_are_refused_in_one_line,
    "#/rack?fail=0.3",
    async |page: &Page| {
        let before = (page.see_states().await, page.see_rows().await);
        for (what, text, word) in bad() {
            page.drop_file("bad.json", &text).await;
            page.until(
                &format!("a notice about {what}"),
                "document.querySelector('.notice.on')",
            )
            .await;
            let notices = page.see_notices().await;
            assert_eq!(notices.len(), 1, "{what}: {notices:?}");
            assert!(
                !notices[0].contains('\n'),
                "{what}: more than one line: {:?}",
                notices[0]
            );
            assert!(
                notices[0].contains(word),
                "{what}: {:?} does not name {word}",
                notices[0]
            );
            assert_eq!(
                (page.see_states().await, page.see_rows().await),
                before,
                "{what} changed the scene"
            );
            page.click(".notice button").await;
            page.until(
                "the notice to close",
                "!document.querySelector('.notice.on')",
            )
            .await;
        }
    }
);
