//! Side column: verdict, goodput rows, ledger, what changed.
//!
//! Each part is a component of its own, so that the phone's dock can place it elsewhere.

mod best;
mod changed;
mod fan;
mod ledger;
mod lost;
mod measure;
mod power;
mod rows;
mod strip;
mod terms;
mod verdict;

pub use best::BestLayout;
pub use changed::{Changes, WhatChanged};
pub use ledger::LedgerBar;
pub use lost::LostGpus;
pub use rows::GoodputRows;
pub use strip::Strip;
pub use terms::StepTerms;
pub use verdict::VerdictLine;

use super::state::use_app;
use leptos::prelude::*;

/// Verdict, goodput rows, ledger, what changed.
#[component]
pub fn SideColumn() -> impl IntoView {
    let changes = Changes::follow(use_app());
    view! {
        <aside class="side" aria-label="Goodput and what changed">
            <VerdictLine />
            <section class="sec">
                <GoodputRows />
                <LedgerBar />
            </section>
            <section class="sec">
                <WhatChanged changes />
            </section>
            <Strip changes />
        </aside>
    }
}
