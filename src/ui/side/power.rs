//! Power of the worst boosted domain: freed watts and rack headroom, told apart.

use crate::scene::side::changed::PowerPanel;
use crate::scene::side::number::power as power_words;
use crate::scene::side::power::power_bar;
use crate::ui::why::Why;
use leptos::prelude::*;

/// Width of the picture.
const ROOM: f64 = 222.0;

/// The two budgets, what of them is used, and which limits.
#[component]
pub fn PowerBars(
    /// The budgets; none before there is an outcome.
    power: Memo<Option<PowerPanel>>,
) -> impl IntoView {
    view! { <div class="power">{move || power.get().map(|panel| bars(&panel))}</div> }
}

fn bars(panel: &PowerPanel) -> impl IntoView + use<> {
    let bar = power_bar(&panel.boost, ROOM);
    let needed = power_words(panel.boost.needed_w.get());
    let [freed, headroom, cap] = [
        panel.freed_line(&bar),
        panel.headroom_line(&bar),
        panel.cap_line(),
    ];
    let label = format!(
        "{}: {needed} needed, {}{}, {}{}",
        panel.title(),
        freed.0,
        freed.1,
        headroom.0,
        headroom.1
    );
    let why = panel.why();
    let explain = Callback::new(move |()| why.clone());
    let used_x = bar.freed_used + bar.freed_rest;
    let mark = bar.mark();
    let line = |colour: &'static str, (number, rest): (String, String)| view! { <li style=format!("--c:{colour}")><b>{number}</b>{rest}</li> };
    view! {
        <div class="ph">
            <span>{panel.title()}</span>
            <span class="grow"></span>
            <Why class="b" text=needed explain />
        </div>
        <svg width=ROOM.to_string() height="23" role="img" aria-label=label>
            {piece(0.0, bar.freed_used, "var(--st-healthy)", true)}
            {piece(bar.freed_used, bar.freed_rest, "var(--st-healthy)", false)}
            {piece(used_x, bar.headroom_used, "var(--st-boosted)", true)}
            {piece(used_x + bar.headroom_used, bar.headroom_rest, "var(--st-boosted)", false)}
            <path d=format!("M{mark:.1} 0v23") stroke="var(--ink)" stroke-width="2" />
        </svg>
        <ul class="pl">
            {line("var(--st-healthy)", freed)} {line("var(--st-boosted)", headroom)} {line("transparent", cap)}
        </ul>
    }
}

/// A piece of the bar: filled where it is used, dashed where it is reserve.
fn piece(x: f64, width: f64, colour: &'static str, used: bool) -> impl IntoView + use<> {
    (width > 0.5).then(|| {
        if used {
            view! { <rect x=format!("{:.1}", x + 0.5) y="4" width=format!("{:.1}", (width - 1.0).max(1.0)) height="15" rx="1" fill=colour /> }
                .into_any()
        } else {
            view! {
                <rect
                    x=format!("{:.1}", x + 1.0)
                    y="4.5"
                    width=format!("{:.1}", (width - 2.0).max(1.0))
                    height="14"
                    fill="url(#p-idle)"
                    stroke=colour
                    stroke-dasharray="3 2"
                />
            }
                .into_any()
        }
    })
}
