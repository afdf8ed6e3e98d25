//! Pointer and keyboard on the racks. One set of listeners on the scrolling box serves every tile.

use super::View;
use super::actions::{self, At};
use super::band::Band;
use super::head::Dice;
use super::map;
use super::menu::Open;
use crate::core::scenario::Job;
use crate::core::strategy::StrategyId;
use crate::scene::rack::pick;
use crate::ui::dom;
use crate::ui::state::{App, use_app};
use gloo::timers::callback::Timeout;
use leptos::ev;
use leptos::prelude::*;
use web_sys::{Element, KeyboardEvent, PointerEvent};

/// How long a finger rests before the menu opens, ms.
const HOLD: u32 = 480;
/// How far a finger goes sideways to turn to another domain, CSS px.
const SWIPE: f64 = 48.0;
/// How far a pointer may move and still click, CSS px.
const SLACK: f64 = 5.0;

/// What one pointer is doing between down and up.
#[derive(Default)]
struct Press {
    at: Option<At>,
    x: f64,
    y: f64,
    mouse: bool,
    moved: bool,
    hold: Option<Timeout>,
    /// The click that follows this press is not one.
    spent: bool,
}

/// The tile that an event happened on.
fn tile_of(event: &web_sys::Event) -> Option<At> {
    let tile = dom::target(event)?.closest(".cell").ok()??;
    at(&tile)
}

/// Domain and GPU of a tile.
pub fn at(tile: &Element) -> Option<At> {
    let number = |name: &str| tile.get_attribute(name)?.parse().ok();
    Some((number("data-domain")?, number("data-gpu")?))
}

/// Notes which domains are in view and has their tiles drawn; those next to them too if there is time for what is `near`.
pub fn see(view: View, near: bool) {
    let Some(Some(scroller)) = view.scroller.try_get_untracked() else {
        return;
    };
    let (top, high) = (
        f64::from(scroller.scroll_top()),
        f64::from(scroller.client_height()),
    );
    let seen = view
        .stage
        .try_update_value(|stage| stage.look_around(top, high, near));
    if let Some(Some(seen)) = seen
        && view.seen.get_untracked() != seen
    {
        view.seen.set(seen);
    }
}

/// As [`see`] for what is in view, and for the rest once that is painted.
pub fn see_first(view: View) {
    see(view, false);
    dom::after_paint(move || see(view, true));
}

/// The scrolling box with its listeners.
#[component]
pub fn Input(children: Children) -> impl IntoView {
    let app = use_app();
    let view = expect_context::<View>();
    let dice = expect_context::<Dice>();
    let press = StoredValue::new_local(Press::default());
    let band = Band::new();

    let down = move |event: PointerEvent| {
        let mouse = event.pointer_type() == "mouse";
        if !event.is_primary() || (mouse && event.button() != 0) {
            return;
        }
        let at = tile_of(&event);
        let hold = at.filter(|_| !mouse).map(|at| {
            Timeout::new(HOLD, move || {
                press.update_value(|press| press.spent = true);
                view.menu.set(Some(Open::on(vec![at])));
            })
        });
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        press.set_value(Press {
            at,
            x,
            y,
            mouse,
            hold,
            ..Press::default()
        });
    };
    let moved = move |event: PointerEvent| {
        let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
        let pressed = event.buttons() & 1 == 1;
        let drags = press
            .try_update_value(|press| {
                if pressed && !press.moved && (press.x - x).hypot(press.y - y) > SLACK {
                    press.moved = true;
                    press.hold = None;
                }
                pressed && press.moved && press.mouse
            })
            .unwrap_or(false);
        if drags {
            let start = press.with_value(|press| (press.x, press.y));
            if !band.active() {
                band.start(view, start);
                if let Some(scroller) = view.scroller.get_untracked() {
                    let _ = scroller.set_pointer_capture(event.pointer_id());
                }
                app.hover.set(None);
            }
            band.stretch((x, y));
        } else if event.pointer_type() == "mouse" {
            point(app, tile_of(&event));
        }
    };
    let up = move |event: PointerEvent| {
        let (dx, dy) = press.with_value(|press| {
            (
                f64::from(event.client_x()) - press.x,
                f64::from(event.client_y()) - press.y,
            )
        });
        let plan = view.plan.read_untracked();
        if plan.phone && dx.abs() > SWIPE && dx.abs() > 2.0 * dy.abs() {
            press.update_value(|press| press.spent = true);
            let (first, last) = view.seen.get_untracked();
            let to = if dx < 0.0 {
                last.saturating_add(1)
            } else {
                first.saturating_sub(1)
            };
            map::show(view, to.min(plan.domains.saturating_sub(1)), false);
        }
        drop(plan);
        press.update_value(|press| {
            press.hold = None;
            press.spent |= press.moved && press.mouse;
        });
        let inside = band.finish();
        if !inside.is_empty() {
            actions::toggle(app, &inside);
        }
    };
    let cancel = move |_: PointerEvent| {
        press.update_value(|press| press.hold = None);
        band.drop_it();
    };
    let click = move |event: web_sys::MouseEvent| {
        let spent = press
            .try_update_value(|press| std::mem::take(&mut press.spent))
            .unwrap_or(false);
        if let (false, Some(at)) = (spent, tile_of(&event)) {
            view.marked.set(Vec::new());
            actions::toggle(app, &[at]);
            dom::after_paint(move || {
                let _ = view.stage.try_update_value(|stage| stage.stop_at(at));
            });
        }
    };
    let context = move |event: web_sys::MouseEvent| {
        if let Some(at) = tile_of(&event) {
            event.prevent_default();
            press.update_value(|press| {
                press.hold = None;
                press.spent = press.at.is_some() && !press.mouse;
            });
            let marked = view.marked.get_untracked();
            let gpus = if marked.contains(&at) {
                marked
            } else {
                vec![at]
            };
            view.menu.set(Some(Open::on(gpus)));
        }
    };
    let focused = move |event: web_sys::FocusEvent| {
        if dom::target(&event).is_some_and(|tile| tile.matches(":focus-visible").unwrap_or(false)) {
            point(app, tile_of(&event));
        }
    };
    // Pressing on one tile takes the focus from another; the tile under the pointer stays pointed at.
    let unfocused = move |event: web_sys::FocusEvent| {
        if app.hover.get_untracked() == tile_of(&event) {
            point(app, None);
        }
    };
    let scrolled = StoredValue::new(false);
    let scroll = move |_| {
        // One look per frame, however many scroll events.
        if !scrolled.get_value() {
            scrolled.set_value(true);
            request_animation_frame(move || {
                scrolled.try_set_value(false);
                see(view, true);
            });
        }
    };
    let keys = window_event_listener(ev::keydown, move |event| page_key(app, dice, view, &event));
    on_cleanup(move || keys.remove());
    view! {
        <div
            class="view"
            id="racks"
            node_ref=view.scroller
            on:pointerdown=down
            on:pointermove=moved
            on:pointerup=up
            on:pointercancel=cancel
            on:pointerleave=move |_| point(app, None)
            on:click=click
            on:contextmenu=context
            on:focusin=focused
            on:focusout=unfocused
            on:scroll=scroll
            on:keydown=move |event| tile_key(app, view, &event)
        >
            {children()}
            <div class="band" node_ref=band.node></div>
        </div>
    }
}

fn point(app: App, at: Option<At>) {
    if app.hover.get_untracked() != at {
        app.hover.set(at);
    }
}

/// Keys on a tile.
fn tile_key(app: App, view: View, event: &KeyboardEvent) {
    let Some(here) = tile_of(event) else { return };
    // The menu of a GPU is on its way and takes the focus when it comes; Escape calls it off.
    if view.menu.read_untracked().is_some() {
        event.prevent_default();
        return;
    }
    let Some((shape, first, last)) = view.stage.with_value(|stage| {
        let shape = stage.plan.as_ref()?.shape;
        Some((
            shape,
            stage.domains.first()?.index,
            stage.domains.last()?.index,
        ))
    }) else {
        return;
    };
    let marked = view.marked.get_untracked();
    let target = |here: At| {
        if marked.contains(&here) {
            marked.clone()
        } else {
            vec![here]
        }
    };
    let arrow = match event.key().as_str() {
        "ArrowLeft" => Some((0, -1)),
        "ArrowRight" => Some((0, 1)),
        "ArrowUp" => Some((-1, 0)),
        "ArrowDown" => Some((1, 0)),
        _ => None,
    };
    let to = match event.key().as_str() {
        " " => {
            event.prevent_default();
            actions::toggle(app, &target(here));
            return;
        }
        "Enter" => {
            event.prevent_default();
            view.menu.set(Some(Open::on(target(here))));
            return;
        }
        "Escape" => {
            view.marked.set(Vec::new());
            return;
        }
        "Home" if event.ctrl_key() => Some((first, 0)),
        "End" if event.ctrl_key() => Some((last, shape.gpus.saturating_sub(1))),
        "Home" => Some((here.0, 0)),
        "End" => Some((here.0, shape.gpus.saturating_sub(1))),
        "PageUp" => here.0.checked_sub(1).map(|domain| (domain, here.1)),
        "PageDown" => Some((here.0.saturating_add(1), here.1)),
        _ => arrow.and_then(|by| pick::step(&shape, here, by, last.saturating_add(1))),
    };
    let Some(to) = to.filter(|(domain, _)| (first..=last).contains(domain)) else {
        if arrow.is_some() {
            event.prevent_default();
        }
        return;
    };
    event.prevent_default();
    if arrow.is_some() && event.shift_key() {
        // The rectangle between where Shift went down and here; the first marked tile remembers the corner.
        let corner = marked
            .first()
            .copied()
            .filter(|_| marked.contains(&here))
            .unwrap_or(here);
        let mut all = pick::rectangle(&shape, corner, to);
        all.retain(|at| *at != corner);
        all.insert(0, corner);
        app.said
            .set(format!("{} GPUs marked. Space fails them.", all.len()));
        view.marked.set(all);
    } else if !marked.is_empty() {
        view.marked.set(Vec::new());
    }
    view.stage.update_value(|stage| stage.focus(to));
    point(app, Some(to));
}

/// Keys anywhere on this page, except while typing.
fn page_key(app: App, dice: Dice, view: View, event: &KeyboardEvent) {
    let key = event.key();
    if key == "Escape" && view.menu.read_untracked().is_some() {
        view.menu.set(None);
        return;
    }
    if !dom::is_shortcut(event) || event.ctrl_key() || event.meta_key() {
        return;
    }
    match key.as_str() {
        "u" | "U" => actions::repair_all(app),
        "r" | "R" => dice.throw(app),
        digit if !event.shift_key() => {
            let index = digit.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
            if let Some(strategy) = index.and_then(|index| StrategyId::ALL.get(index)) {
                app.selected.set(*strategy);
            }
        }
        _ => {}
    }
}

/// The verb for a tile's tip: what a click does.
pub fn verb(job: &Job, at: At) -> &'static str {
    // Not by what the tile shows: a slow GPU that is benched looks idle.
    let (policy, size) = (&job.scenario.policy, job.system.domain_size);
    let mut failures = job.scenario.failures.iter();
    if failures.any(|failure| pick::covers(failure, policy, size, at.0, at.1)) {
        "Click to repair"
    } else {
        "Click to fail"
    }
}
