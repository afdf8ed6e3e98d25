//! Under the racks: what the tiles mean.

use crate::core::strategy::GpuState;
use crate::ui::state::use_app;
use leptos::prelude::*;

/// Every state but the two below, which are rare enough to be listed only where they are seen.
const STATES: [GpuState; 7] = [
    GpuState::Healthy,
    GpuState::Failed,
    GpuState::Restarting,
    GpuState::Slow,
    GpuState::Boosted,
    GpuState::Parity,
    GpuState::Spare,
];

/// Under the racks: what the tiles mean.
#[component]
pub fn Legend() -> impl IntoView {
    let app = use_app();
    let seen = Memo::new(move |_| {
        let views = app.views.read();
        let has = |state: GpuState| {
            views
                .iter()
                .any(|view| view.gpus.iter().any(|gpu| gpu.state == state))
        };
        // Idle replicas make the legend's last place theirs; else it explains GPUs outside the layout.
        if has(GpuState::Idle) {
            GpuState::Idle
        } else {
            GpuState::LeftOver
        }
    });
    let item = |state: GpuState| {
        view! {
            <span>
                <i class=format!("g {}", state.id())></i>
                {state.words()}
            </span>
        }
    };
    view! {
        <div class="lgd" role="group" aria-label="GPU states">
            {STATES.map(item).collect_view()}
            {move || item(seen.get())}
            <span class="grow"></span>
            <span>
                <svg width="40" height="12" viewBox="0 0 40 12" aria-hidden="true">
                    <rect x="0" y="4" width="28" height="4" fill="var(--st-boosted)" />
                    <rect x="28" y="4" width="5" height="4" fill="var(--st-boosted-ink)" />
                    <rect x="33" y="4" width="7" height="4" fill="var(--track)" />
                </svg>
                "load + extra"
            </span>
            <span>
                <svg width="26" height="12" viewBox="0 0 26 12" aria-hidden="true">
                    <rect x="0" y="4" width="26" height="4" fill="url(#p-pre)" />
                </svg>
                "sends gradients"
            </span>
        </div>
    }
}
