//! The menu of a GPU: kind of failure, speed of a slow one, blast radius, repair.

use super::View;
use super::actions::{self, At, How};
use crate::core::scenario::{Failure, FailureKind};
use crate::scene::rack::pick;
use crate::scene::rack::reach::radii;
use crate::ui::dom;
use crate::ui::later::{Later, Part};
use crate::ui::radio::{Radio, arrows};
use crate::ui::state::use_app;
use leptos::html::Div;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

/// For which GPUs the menu is open. The first is where it stands and where the focus returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// GPUs.
    pub gpus: Vec<At>,
}

impl Open {
    /// Open for some GPUs.
    pub fn on(gpus: Vec<At>) -> Self {
        Self { gpus }
    }
}

const KINDS: [(FailureKind, &str, &str); 3] = [
    (FailureKind::Hardware, "Hardware", "out until repaired"),
    (FailureKind::Software, "Software", "back after a restart"),
    (FailureKind::Slow, "Slow", "its TP group goes at its pace"),
];

/// The menu, when it is open.
#[component]
pub fn Menu() -> impl IntoView {
    let app = use_app();
    let view = expect_context::<View>();
    let lost = Callback::new(move |()| {
        let _ = view.menu.try_set(None);
        let why =
            "The menu of a GPU could not be loaded. Open it again once the page's host answers.";
        let _ = app.notice.try_set(Some(why.into()));
    });
    move || {
        let open = view.menu.read();
        let open = open.as_ref().is_some_and(|open| !open.gpus.is_empty());
        open.then(|| view! { <Later part=Part::Kinds meanwhile=|| () lost /> })
    }
}

/// What the menu holds, for the GPUs that it is open for.
#[component]
pub fn Kinds() -> impl IntoView {
    let view = expect_context::<View>();
    // For other GPUs, who shows it builds it anew.
    let open = view.menu.get_untracked();
    open.map(|open| view! { <Card open /> })
}

#[component]
fn Card(open: Open) -> impl IntoView {
    let app = use_app();
    let view = expect_context::<View>();
    let first = open.gpus.first().copied().unwrap_or_default();
    let job = app.now.job.get_untracked();
    let size = job.system.domain_size;
    let current: Option<Failure> = job
        .scenario
        .failures
        .iter()
        .find(|f| pick::covers(f, &job.scenario.policy, size, first.0, first.1))
        .cloned();
    let was_down = current.is_some();
    let kind = RwSignal::new(
        current
            .as_ref()
            .map_or(FailureKind::Hardware, |failure| failure.kind),
    );
    let speed = RwSignal::new(
        current
            .as_ref()
            .filter(|f| f.kind == FailureKind::Slow)
            .map_or(0.8, |failure| failure.speed),
    );
    let own = current.as_ref().and_then(|failure| failure.blast_radius);
    let radius = RwSignal::new(own.unwrap_or(job.scenario.policy.blast_radius));
    let title = match open.gpus.as_slice() {
        [(domain, gpu)] => format!("D{domain} GPU {gpu}"),
        many => format!("{} GPUs", many.len()),
    };
    let radii = radii(
        job.system.tray_gpus,
        size,
        own.unwrap_or(job.scenario.policy.blast_radius),
    );
    let node = NodeRef::<Div>::new();
    Effect::new(move |_| {
        let Some(card) = node.get() else {
            return;
        };
        let frame = card.closest(".racks").ok().flatten();
        let frame = frame.and_then(|frame| frame.dyn_into::<HtmlElement>().ok());
        if let Some(style) = frame.and_then(|frame| place(view, first, &frame, &card)) {
            let _ = card.set_attribute("style", &style);
        }
        let chosen = dom::find(&card, "[aria-checked=true]");
        if let Some(chosen) = chosen.and_then(|chosen| chosen.dyn_into::<HtmlElement>().ok()) {
            let _ = chosen.focus();
        }
    });
    let close = move || {
        view.menu.set(None);
        view.stage.update_value(|stage| stage.focus(first));
    };
    let gpus = StoredValue::new(open.gpus);
    let policy_radius = job.scenario.policy.blast_radius;
    let apply = move || {
        let radius = Some(radius.get_untracked()).filter(|r| *r != policy_radius || own.is_some());
        let radius = if kind.get_untracked() == FailureKind::Slow {
            None
        } else {
            radius
        };
        let speed = if kind.get_untracked() == FailureKind::Slow {
            speed.get_untracked()
        } else {
            1.0
        };
        actions::set(
            app,
            &gpus.get_value(),
            How {
                kind: kind.get_untracked(),
                speed,
                radius,
            },
        );
        view.marked.set(Vec::new());
        close();
    };
    let mend = move |_| {
        actions::repair(app, &gpus.get_value());
        view.marked.set(Vec::new());
        close();
    };
    let keys = move |event: web_sys::KeyboardEvent| match event.key().as_str() {
        "Escape" => {
            event.stop_propagation();
            close();
        }
        "Tab" => keep_focus(&event, node),
        _ => event.stop_propagation(),
    };
    let verb = move || match (was_down, kind.get()) {
        (true, _) => "Change",
        (false, FailureKind::Hardware) => "Fail",
        (false, FailureKind::Software) => "Restart",
        (false, FailureKind::Slow) => "Slow down",
    };
    view! {
        <div class="cover" on:pointerdown=move |_| close() on:contextmenu=move |event| event.prevent_default()></div>
        <div
            class="pop kinds"
            role="dialog"
            aria-modal="true"
            aria-label=format!("Failure of {}", title.clone())
            node_ref=node
            on:keydown=keys
        >
            <h3>{title.clone()}</h3>
            <div class="opts" role="radiogroup" aria-label="Kind of failure" on:keydown=arrows>
                {KINDS
                    .map(|(value, name, note)| {
                        let on = Signal::derive(move || kind.get() == value);
                        view! {
                            <Radio on pick=Callback::new(move |()| kind.set(value))>
                                <i class="dot"></i>
                                <span>
                                    <b>{name}</b>
                                    " "
                                    <span class="m">{note}</span>
                                </span>
                            </Radio>
                        }
                    })
                    .collect_view()}
            </div>
            <Show when=move || kind.get() == FailureKind::Slow>
                <label class="fld wide">
                    "Speed"
                    <input
                        type="range"
                        min="5"
                        max="99"
                        step="1"
                        prop:value=move || (speed.get() * 100.0).round().to_string()
                        on:input=move |event| {
                            if let Ok(percent) = event_target_value(&event).parse::<f64>() {
                                speed.set((percent / 100.0).clamp(0.05, 0.99));
                            }
                        }
                    />
                    <b class="out">{move || format!("{:.0} %", speed.get() * 100.0)}</b>
                </label>
            </Show>
            <Show when=move || kind.get() != FailureKind::Slow>
                <div class="fld wide">
                    "Takes"
                    <span class="seg" role="radiogroup" aria-label="Blast radius" on:keydown=arrows>
                        {radii
                            .clone()
                            .into_iter()
                            .map(|(value, name)| {
                                let on = Signal::derive(move || radius.get() == value);
                                view! {
                                    <Radio on pick=Callback::new(move |()| radius.set(value))>
                                        {name}
                                    </Radio>
                                }
                            })
                            .collect_view()}
                    </span>
                </div>
            </Show>
            <div class="acts">
                <button class="tb pri" on:click=move |_| apply()>
                    {verb}
                </button>
                <Show when=move || was_down>
                    <button class="tb line" on:click=mend>
                        "Repair"
                    </button>
                </Show>
            </div>
        </div>
    }
}

/// Beside the tile and inside the frame; nothing on a phone, where the style sheet makes it a sheet.
fn place(view: View, at: At, frame: &HtmlElement, card: &HtmlElement) -> Option<String> {
    let tile = view
        .stage
        .with_value(|stage| stage.cell(at).map(|cell| cell.get_bounding_client_rect()))?;
    let outer = frame.get_bounding_client_rect();
    let (wide, high) = (
        f64::from(frame.offset_width()),
        f64::from(frame.offset_height()),
    );
    let zoom = if wide > 0.0 {
        outer.width() / wide
    } else {
        1.0
    };
    let (w, h) = (
        f64::from(card.offset_width()),
        f64::from(card.offset_height()),
    );
    let right = (tile.right() - outer.left()) / zoom + 8.0;
    let left = if right + w > wide - 8.0 {
        (tile.left() - outer.left()) / zoom - w - 8.0
    } else {
        right
    };
    let top = ((tile.top() - outer.top()) / zoom - 14.0)
        .min(high - h - 8.0)
        .max(8.0);
    Some(format!("left:{:.1}px;top:{top:.1}px", left.max(8.0)))
}

/// Tab goes around inside the menu.
fn keep_focus(event: &web_sys::KeyboardEvent, node: NodeRef<Div>) {
    let Some(card) = node.get_untracked() else {
        return;
    };
    let Ok(list) = card.query_selector_all("button:not([tabindex='-1']), input") else {
        return;
    };
    let edge = if event.shift_key() {
        0
    } else {
        list.length().saturating_sub(1)
    };
    let other = if event.shift_key() {
        list.length().saturating_sub(1)
    } else {
        0
    };
    let active = dom::document().and_then(|document| document.active_element());
    let at_edge = list
        .item(edge)
        .zip(active)
        .is_some_and(|(last, active)| last.is_same_node(Some(&active)));
    if at_edge
        && let Some(first) = list
            .item(other)
            .and_then(|node| node.dyn_into::<HtmlElement>().ok())
    {
        event.prevent_default();
        let _ = first.focus();
    }
}
