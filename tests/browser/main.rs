//! The release page in Chromium, driven as a user would: mouse, finger, keyboard, links and files.
//!
//! Run by `make test` or, once the page is built, `scripts/browser.sh [FILTER]`.

#![allow(clippy::expect_used, clippy::panic)] // a test may fail in its helpers too

mod about;
mod bench;
mod failing;
mod figures;
mod files;
mod fleet;
mod kinds;
mod links;
mod many;
mod rig;
mod scene;
mod screens;
mod side;
mod speedscope;
mod step;
