//! The static first paint in `index.html` is the opening scene as the model computes it today.

#![allow(clippy::expect_used, clippy::panic)] // a test may fail in its helpers too

use ntp_explorer::scene::first;
use std::{env, fs};

const OPEN: &str = "<!-- first paint -->\n";
const CLOSE: &str = "<!-- /first paint -->";

/// Run with `NTP_WRITE=1` to write what changed.
#[test]
fn index_html_holds_the_opening_scene() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/index.html");
    let page = fs::read_to_string(path).expect("index.html");
    let (before, rest) = page.split_once(OPEN).expect("the opening mark");
    let (held, after) = rest.split_once(CLOSE).expect("the closing mark");
    let now = first::paint().expect("a valid opening scene");
    if env::var_os("NTP_WRITE").is_some() {
        fs::write(path, format!("{before}{OPEN}{now}{CLOSE}{after}"))
            .expect("index.html to be written");
        return;
    }
    assert!(
        held == now,
        "index.html is older than the model: run `NTP_WRITE=1 cargo test --test first_paint`"
    );
}

#[test]
fn the_first_paint_is_small_and_whole() {
    let now = first::paint().expect("a valid opening scene");
    // Six racks of 72 for a desktop and one for a phone, in two blocks of four columns: a rank and a clock a tile.
    assert_eq!(now.matches("class=\"flat\" style=").count(), 7 * 2);
    assert_eq!(now.matches("all healthy").count(), 7);
    let texts = |tag: &str| -> usize {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let columns = now.split("class=\"flat\"").skip(1);
        columns
            .filter_map(|rest| rest.split("</div></div>").next())
            .flat_map(|flat| flat.split(open.as_str()).skip(1))
            .filter_map(|text| text.split(close.as_str()).next())
            .map(|text| text.lines().count())
            .sum()
    };
    assert_eq!((texts("b"), texts("i")), (7 * 72, 7 * 72));
    assert_eq!(
        now.matches("class=\"row").count() - now.matches("class=\"rows\"").count(),
        12
    );
    assert_eq!(now.matches("<div").count(), now.matches("</div>").count());
    assert!(now.len() < 20_000, "{} bytes", now.len());
}
