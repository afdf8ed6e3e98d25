//! Pictures of the page for people to look at: `make screens`.

use crate::rig::view::View;
use crate::rig::{browse, folder};
use std::fs;

/// Scenes worth a look: a name and a hash.
const SCENES: [(&str, &str); 2] = [("healthy", ""), ("failed", "#/rack?fail=0.3,0.40,5.17")];
/// Screens by name.
const VIEWS: [(&str, View); 3] = [
    ("desktop", View::DESKTOP),
    ("large", View::LARGE),
    ("phone", View::PHONE),
];

#[test]
#[ignore = "writes pictures instead of testing: make screens"]
fn screens() {
    for (scene, hash) in SCENES {
        for (size, view) in VIEWS {
            for (theme, view) in [("light", view), ("dark", view.dark())] {
                browse("screens", view.still(), hash, async |page| {
                    tokio::time::sleep(std::time::Duration::from_millis(1200)).await;
                    let png = page.client.screenshot().await.expect("a picture");
                    let path = folder("screens").join(format!("{scene}-{size}-{theme}.png"));
                    fs::write(&path, png).expect("a file for the picture");
                    println!("{}", path.display());
                });
            }
        }
    }
}
