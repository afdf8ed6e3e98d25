//! Power of the worst boosted domain: freed watts and rack headroom, told apart.

use crate::core::strategy::BoostLimit;
use crate::scene::side::changed::{FirstLimit, PowerPanel};
use crate::scene::side::number::{change, fixed, power};
use crate::scene::side::power::power_bar;
use crate::scene::side::why::Explanation;
use crate::ui::why::Why;
use leptos::prelude::*;

/// Width of the picture.
const ROOM: f64 = 222.0;

/// The two budgets, what of them is used, and which limits.
#[component]
pub fn PowerBars(power: Memo<Option<PowerPanel>>) -> impl IntoView {
    view! { <div class="power">{move || power.get().map_or_else(|| quiet().into_any(), |panel| bars(&panel).into_any())}</div> }
}

fn quiet() -> impl IntoView {
    view! { <p class="s m none">"No clock is raised."</p> }
}

fn bars(panel: &PowerPanel) -> impl IntoView + use<> {
    let bar = power_bar(&panel.boost, ROOM);
    let boost = panel.boost;
    let kilo = |watts: f64| fixed(watts / 1e3, 1);
    let limits = |yes: bool, reached: bool| match (yes, reached) {
        (true, true) => ", which limits",
        (true, false) => ", which limits first",
        _ => "",
    };
    let reached = boost.limit != BoostLimit::None;
    let headroom_limits = if reached {
        boost.limit == BoostLimit::RackHeadroom
    } else {
        panel.first_limit == FirstLimit::Headroom
    };
    let cap_limits = if reached {
        boost.limit == BoostLimit::Cap
    } else {
        panel.first_limit == FirstLimit::Cap
    };
    let title = if boost.perf > 1.0 {
        format!(
            "Power for {} clock, D{}",
            change(boost.perf - 1.0),
            panel.domain
        )
    } else {
        format!("Power, D{}: no boost", panel.domain)
    };
    let needed = power(boost.needed_w.get());
    let why = explain(panel);
    let explain = Callback::new(move |()| why.clone());
    let label = format!(
        "Power in D{}: {needed} needed, {} kW freed by {}, {} of {} kW rack headroom",
        panel.domain,
        kilo(boost.freed_w.get()),
        panel.freed_by(),
        kilo(bar.headroom_used_w),
        kilo(boost.headroom_w.get())
    );
    let freed_x = bar.freed_used;
    let used_x = bar.freed_used + bar.freed_rest;
    let rest_x = used_x + bar.headroom_used;
    let mark = bar.mark();
    view! {
        <div class="ph">
            <span>{title}</span>
            <span class="grow"></span>
            <Why class="b" text=needed explain />
        </div>
        <svg width=ROOM.to_string() height="23" role="img" aria-label=label>
            <rect y="4" width=format!("{:.1}", bar.freed_used) height="15" rx="1" fill="var(--st-healthy)" />
            <rect
                x=format!("{:.1}", freed_x + 0.5)
                y="4.5"
                width=format!("{:.1}", (bar.freed_rest - 1.0).max(0.0))
                height="14"
                fill="url(#p-idle)"
                stroke="var(--st-healthy)"
                stroke-dasharray="3 2"
            />
            <rect x=format!("{:.1}", used_x + 1.0) y="4" width=format!("{:.1}", (bar.headroom_used - 1.0).max(0.0)) height="15" rx="1" fill="var(--st-boosted)" />
            <rect
                x=format!("{:.1}", rest_x + 1.5)
                y="4.5"
                width=format!("{:.1}", (bar.headroom_rest - 2.0).max(0.0))
                height="14"
                fill="url(#p-idle)"
                stroke="var(--st-boosted)"
                stroke-dasharray="3 2"
            />
            <path d=format!("M{mark:.1} 0v23") stroke="var(--ink)" stroke-width="2" />
        </svg>
        <ul class="pl">
            <li style="--c:var(--st-healthy)">
                <b>{kilo(bar.freed_used_w)}</b>
                {format!(" of {} kW freed by {}", kilo(boost.freed_w.get()), panel.freed_by())}
            </li>
            <li style="--c:var(--st-boosted)">
                <b>{kilo(bar.headroom_used_w)}</b>
                {format!(" of {} kW rack headroom{}", kilo(boost.headroom_w.get()), limits(headroom_limits, reached))}
            </li>
            <li style="--c:transparent">
                <b>{fixed(boost.p, 2)}</b>
                {format!(" × TDP of at most {}{}", fixed(panel.cap, 2), limits(cap_limits, reached))}
            </li>
        </ul>
    }
}

fn explain(panel: &PowerPanel) -> Explanation {
    let boost = panel.boost;
    Explanation::new(
        format!("Extra power of the survivors of D{}", panel.domain),
        power(boost.needed_w.get()),
        "needed = survivors × (p − 1) × TDP ≤ freed + headroom",
    )
    .with(
        "p",
        format!("{} × TDP", fixed(boost.p, 3)),
        "least power that brings the step back to the healthy one",
    )
    .with(
        "clock",
        format!("{} × base", fixed(boost.perf, 3)),
        "compute rate at that power",
    )
    .with(
        "freed",
        power(boost.freed_w.get()),
        format!("by {}: budget one", panel.freed_by()),
    )
    .with(
        "headroom",
        power(boost.headroom_w.get()),
        "what the rack can deliver and cool beyond TDP of all its GPUs: budget two",
    )
    .with("cap", format!("{} × TDP", fixed(panel.cap, 2)), "per GPU")
    .source("NTP, arXiv 2504.06095, section on power boosting")
}
