//! Under the racks: what the tiles mean.

use leptos::prelude::*;

const STATES: [(&str, &str); 9] = [
    ("healthy", "healthy"),
    ("failed", "failed"),
    ("restarting", "restarting"),
    ("slow", "slow"),
    ("boosted", "boosted"),
    ("parity", "idle for parity"),
    ("idle", "idle"),
    ("spare", "spare"),
    ("leftover", "left over"),
];

/// Under the racks: what the tiles mean.
#[component]
pub fn Legend() -> impl IntoView {
    view! {
        <div class="lgd" role="group" aria-label="GPU states">
            {STATES
                .map(|(class, words)| {
                    view! {
                        <span>
                            <i class=format!("g {class}")></i>
                            {words}
                        </span>
                    }
                })
                .collect_view()} <span class="grow"></span> <span>
                <svg width="40" height="12" viewBox="0 0 40 12" aria-hidden="true">
                    <rect x="0" y="4" width="28" height="4" fill="var(--st-boosted)" />
                    <rect x="28" y="4" width="5" height="4" fill="var(--st-boosted-ink)" />
                    <rect x="33" y="4" width="7" height="4" fill="var(--track)" />
                </svg>
                "load + extra"
            </span> <span>
                <svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">
                    <rect x="0" y="4" width="26" height="4" fill="url(#p-pre)" />
                </svg>
                "sends gradients"
            </span>
        </div>
    }
}
