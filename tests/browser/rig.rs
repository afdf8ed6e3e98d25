//! What every browser test stands on: a server for the built page, a browser, and the page as a user sees it.

pub mod chrome;
pub mod eval;
pub mod page;
pub mod server;
pub mod view;

use chrome::Driver;
use page::Page;
use std::env;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use view::View;

/// Opens the page in a fresh browser at `hash` (such as `#/rack?fail=0.3`, or empty), walks through `journey`, and
/// checks that the console stayed clean and that no request left the origin. A failed journey leaves a picture.
pub fn browse(name: &str, view: View, hash: &str, journey: impl AsyncFnOnce(&Page)) {
    let origin = server::serve(dist());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let driver = Driver::start();
    let client = runtime.block_on(driver.open(view));
    let page = Page::new(client.clone(), origin);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            page.goto(hash).await;
            journey(&page).await;
            page.check_quiet().await;
        });
    }));
    if outcome.is_err() {
        let path = folder("screens").join(format!("failed-{name}-{}x.png", view.ratio));
        let shot = runtime.block_on(client.screenshot());
        if shot.is_ok_and(|png| fs::write(&path, png).is_ok()) {
            eprintln!("{name}: picture of the failure in {}", path.display());
        }
    }
    // The window must close before the driver goes, or Chromium would outlive the test.
    runtime.block_on(client.close()).ok();
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// A journey walked at one and at two device pixels per CSS pixel.
macro_rules! journey {
    ($name:ident, $hash:expr, $journey:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn at_1x() {
                browse(
                    stringify!($name),
                    $crate::rig::view::View::DESKTOP,
                    $hash,
                    $journey,
                );
            }
            #[test]
            fn at_2x() {
                browse(
                    stringify!($name),
                    $crate::rig::view::View::RETINA,
                    $hash,
                    $journey,
                );
            }
        }
    };
}
pub(crate) use journey;

/// The built page.
fn dist() -> PathBuf {
    let dist = env::var_os("NTP_DIST").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("dist"),
        PathBuf::from,
    );
    assert!(
        dist.join("index.html").is_file(),
        "no built page in {}: run `make test`, or `make build` first",
        dist.display()
    );
    dist
}

/// A folder for what is looked at or read later, `target/NAME`.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("target")
        .join(name);
    fs::create_dir_all(&folder).expect("a folder in target");
    folder
}
