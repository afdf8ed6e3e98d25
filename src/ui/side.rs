//! Side column: verdict, goodput rows, ledger, what changed.
//!
//! Each part is a component of its own, so that the phone's dock can place it elsewhere.

mod changed;
mod fan;
mod ledger;
mod measure;
mod power;
mod rows;
mod verdict;

pub use changed::WhatChanged;
pub use ledger::LedgerBar;
pub use rows::GoodputRows;
pub use verdict::VerdictLine;

use leptos::prelude::*;

/// Verdict, goodput rows, ledger, what changed.
#[component]
pub fn SideColumn() -> impl IntoView {
    view! {
        <aside class="side" aria-label="Goodput and what changed">
            <VerdictLine />
            <section class="sec">
                <GoodputRows />
                <LedgerBar />
            </section>
            <section class="sec">
                <WhatChanged />
            </section>
        </aside>
    }
}
