//! The transport and the time chart: race, failed GPUs, mini-batch and interruptions over one axis with one playhead.

use super::chart::{self, Frame};
use super::deck::{Deck, use_deck};
use super::race::markup;
use crate::core::fleet::recording::Recording;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::{lines, pace, words};
use crate::scene::side::number::{count, score};
use crate::ui::dom;
use crate::ui::state::Form;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, KeyboardEvent, PointerEvent};

/// Starts or stops play; from the end it starts over.
pub fn toggle(deck: Deck) {
    let Some(end) = deck
        .run
        .with_untracked(|run| run.as_ref().map(|run| run.recording.end))
    else {
        return;
    };
    if deck.playing.get_untracked() {
        deck.playing.set(false);
        return;
    }
    if deck.time.get_untracked() >= end {
        deck.time.set(Nanos::ZERO);
    }
    deck.playing.set(true);
    tick(deck, dom::now_ms());
}

fn tick(deck: Deck, before: f64) {
    request_animation_frame(move || {
        if deck.playing.try_get_untracked() != Some(true) {
            return;
        }
        let Some(end) = deck
            .run
            .with_untracked(|run| run.as_ref().map(|run| run.recording.end))
        else {
            return;
        };
        let time = dom::now_ms();
        let at = pace::after(
            deck.time.get_untracked(),
            time - before,
            deck.speed.get_untracked(),
            end,
        );
        deck.time.set(at);
        if at >= end {
            deck.playing.set(false);
        } else {
            tick(deck, time);
        }
    });
}

/// To the next thing that strikes the selected strategy, or the last one before.
pub fn step(deck: Deck, forward: bool) {
    deck.playing.set(false);
    let selected = deck.app.selected.get_untracked();
    let time = deck.time.get_untracked();
    let to = deck.run.with_untracked(|run| {
        let run = run.as_ref()?;
        let found = if forward {
            run.recording.next_event(selected, time)
        } else {
            run.recording.event_before(selected, time)
        };
        let edge = if forward {
            run.recording.end
        } else {
            Nanos::ZERO
        };
        Some(found.map_or(edge, |(at, _)| at))
    });
    if let Some(to) = to {
        deck.time.set(to);
    }
}

/// Space, full stop, comma and Home, wherever nothing else takes them.
fn keys(deck: Deck, event: &KeyboardEvent) {
    let busy = dom::target(event).is_some_and(|target| {
        let tag = target.tag_name();
        let types = matches!(tag.as_str(), "INPUT" | "TEXTAREA" | "SELECT");
        types || (tag == "BUTTON" && event.key() == " ")
    });
    if busy || event.ctrl_key() || event.meta_key() || event.alt_key() {
        return;
    }
    match event.key().as_str() {
        " " => toggle(deck),
        "." => step(deck, true),
        "," => step(deck, false),
        "Home" => deck.time.set(Nanos::ZERO),
        _ => return,
    }
    event.prevent_default();
}

/// Transport and chart.
#[component]
pub fn Clock() -> impl IntoView {
    let deck = use_deck();
    let pressed = window_event_listener(ev::keydown, move |event| keys(deck, &event));
    on_cleanup(move || {
        pressed.remove();
        let _ = deck.playing.try_set(false);
    });
    let end = move || {
        deck.run
            .with(|run| run.as_ref().map(|run| run.recording.end))
    };
    let next = move || {
        let selected = deck.app.selected.get();
        let time = deck.calm.get();
        deck.run.with(|run| {
            run.as_ref()
                .map(|run| {
                    markup(&words::next(
                        &run.recording,
                        selected,
                        time,
                        run.head.domain_size,
                    ))
                })
                .unwrap_or_default()
        })
    };
    view! {
        <section class="ftime" aria-label="Time">
            <div class="tp">
                <button class="tb pri" id="play" on:click=move |_| toggle(deck)>
                    <svg viewBox="0 0 16 16" aria-hidden="true">
                        <path d=move || if deck.playing.get() { "M4 2.5h3v11H4zM9 2.5h3v11H9z" } else { "M4 2l9 6-9 6z" } fill="currentColor" />
                    </svg>
                    {move || if deck.playing.get() { "Pause" } else { "Play" }}
                    <kbd>"Space"</kbd>
                </button>
                <button class="tb line" aria-label="Step back to the failure before" title="Step back (,)" on:click=move |_| step(deck, false)>
                    <svg viewBox="0 0 16 16" aria-hidden="true">
                        <path d="M12 3 6 8l6 5zM4 3h1.5v10H4z" fill="currentColor" />
                    </svg>
                </button>
                <button class="tb line" id="step" aria-label="Step to the next failure" title="Step to the next failure (.)" on:click=move |_| step(deck, true)>
                    <svg viewBox="0 0 16 16" aria-hidden="true">
                        <path d="M4 3l6 5-6 5zM10.500 3H12v10h-1.500z" fill="currentColor" />
                    </svg>
                </button>
                <label class="fspeed">
                    <span class="m">"Speed"</span>
                    <input
                        type="range"
                        min="0"
                        max="1000"
                        aria-label="Speed"
                        aria-valuetext=move || pace::speed_words(deck.speed.get())
                        prop:value=move || (pace::place(deck.speed.get()) * 1000.0).round().to_string()
                        on:input=move |event| {
                            if let Ok(place) = event_target_value(&event).parse::<f64>() {
                                deck.speed.set(pace::speed(place / 1000.0));
                            }
                        }
                    />
                    <b>{move || pace::speed_words(deck.speed.get())}</b>
                </label>
                <span class="fday">
                    <b>"Day " {move || pace::days(deck.time.get())}</b>
                    <span class="m">
                        " of "
                        {move || end().map(|end| crate::scene::side::number::fixed(end.hours() / 24.0, if end.0 % 86_400_000_000_000 == 0 { 0 } else { 2 }))}
                    </span>
                </span>
                <span class="grow"></span>
                <span class="fnext m" inner_html=next></span>
                <super::fork::ForkHere />
            </div>
            <Chart />
        </section>
    }
}

#[component]
fn Chart() -> impl IntoView {
    let deck = use_deck();
    let holder = NodeRef::<html::Div>::new();
    let (future, past) = (
        NodeRef::<html::Canvas>::new(),
        NodeRef::<html::Canvas>::new(),
    );
    let size = RwSignal::new((0.0_f64, 0.0_f64));
    dom::on_resize(holder, move |wide, high| size.set((wide, high)));
    let frame = Memo::new(move |_| {
        let (wide, high) = size.get();
        let phone = deck.app.form.get() == Form::Phone;
        deck.run.with(|run| {
            let run = run.as_ref()?;
            Some(Frame::new(
                wide,
                high,
                phone,
                lines::race_range(&run.recording),
                run.recording.end,
            ))
        })
    });
    Effect::new(move |_| {
        let (Some(frame), Some(run)) = (frame.get(), deck.run.get()) else {
            return;
        };
        let selected = deck.app.selected.get();
        deck.app.theme.track();
        let (Some(future), Some(past)) = (future.get(), past.get()) else {
            return;
        };
        if frame.width < 60.0 {
            return;
        }
        let original = deck.original(&run);
        request_animation_frame(move || {
            for (canvas, solid) in [(&future, false), (&past, true)] {
                if let Some(pen) = dom::canvas(canvas, frame.width, frame.height) {
                    chart::paint(&pen, &frame, &run, original.as_deref(), selected, solid);
                }
            }
        });
    });
    // The playhead and what rides on it.
    Effect::new(move |_| {
        let time = deck.time.get();
        let (Some(frame), Some(run), Some(holder)) = (frame.get(), deck.run.get(), holder.get())
        else {
            return;
        };
        let selected = deck.app.selected.get();
        let x = frame.x(time);
        if let Some(past) = past.get() {
            let clip = ["inset(0 ", &px(frame.width - x), " 0 0)"].concat();
            dom::style(&past, "clip-path", &clip);
        }
        if let Some(future) = future.get() {
            let clip = ["inset(0 0 0 ", &px(x), ")"].concat();
            dom::style(&future, "clip-path", &clip);
        }
        ride(&holder, &frame, &run.recording, time, selected, x);
    });
    // The mini-batches at the playhead.
    Effect::new(move |_| {
        let time = deck.calm.get();
        let (Some(frame), Some(run), Some(holder)) = (frame.get(), deck.run.get(), holder.get())
        else {
            return;
        };
        batches(&holder, &frame, &run.recording, time);
    });
    let scrub = move |event: &PointerEvent| {
        if let Some(frame) = frame.get_untracked() {
            deck.playing.set(false);
            deck.time.set(frame.time(dom::place_in(event).0));
        }
    };
    let dragging = StoredValue::new(false);
    let keys = move |event: KeyboardEvent| {
        let Some(end) = deck
            .run
            .with_untracked(|run| run.as_ref().map(|run| run.recording.end))
        else {
            return;
        };
        let (time, small) = (deck.time.get_untracked(), Nanos(end.0 / 200));
        let to = match event.key().as_str() {
            "ArrowLeft" => time.saturating_sub(small),
            "ArrowRight" => (time + small).min(end),
            "End" => end,
            _ => return,
        };
        event.prevent_default();
        deck.time.set(to);
    };
    view! {
        <div
            class="fchart"
            node_ref=holder
            tabindex="0"
            role="slider"
            aria-label="Playhead"
            aria-valuemin="0"
            aria-valuemax=move || deck.run.with(|run| run.as_ref().map_or(0.0, |run| run.recording.end.hours() / 24.0)).to_string()
            aria-valuenow=move || pace::days(deck.calm.get())
            aria-valuetext=move || ["day ", &pace::days(deck.calm.get())].concat()
            on:keydown=keys
            on:pointerdown=move |event| {
                if event.button() != 0 {
                    return;
                }
                // Labels and flags have clicks of their own.
                let flag = dom::target(&event).and_then(|target| target.closest(".fflag").ok().flatten());
                if flag.is_some() {
                    return;
                }
                if let Some(element) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) {
                    let _ = element.set_pointer_capture(event.pointer_id());
                }
                dragging.set_value(true);
                scrub(&event);
            }
            on:pointermove=move |event| {
                if dragging.get_value() {
                    scrub(&event);
                }
            }
            on:pointerup=move |_| dragging.set_value(false)
            on:pointercancel=move |_| dragging.set_value(false)
        >
            <canvas class="ffuture" node_ref=future></canvas>
            <canvas class="fpast" node_ref=past></canvas>
            <div class="fride" inner_html=rider_markup()></div>
            <super::fork::Flag x=Signal::derive(move || {
                let frame = frame.get()?;
                let fork = deck.run.with(|run| run.as_ref().and_then(|run| run.recording.forked_at))?;
                Some(frame.x(fork))
            }) />
        </div>
    }
}

fn px(value: f64) -> String {
    [
        &crate::scene::side::number::fixed(value.max(0.0), 1).replace(',', ""),
        "px",
    ]
    .concat()
}

/// The playhead, a label per strategy, the number of failed GPUs.
fn rider_markup() -> String {
    let mut out = String::from("<i class='fhead'></i><b class='ffail'></b>");
    for id in StrategyId::ALL {
        let name = id.id();
        out.push_str(
            &[
                "<span class='flabel' data-strategy='",
                name,
                "'><svg class='mk' style='color:var(--sg-",
                name,
                ")' viewBox='0 0 12 12'><use href='#m-",
                name,
                "'/></svg><b>",
                name,
                "</b> <span></span></span>",
            ]
            .concat(),
        );
    }
    out.push_str("<div class='fmini'></div>");
    out
}

/// Moves what rides at the playhead.
fn ride(
    holder: &Element,
    frame: &Frame,
    recording: &Recording,
    time: Nanos,
    selected: StrategyId,
    x: f64,
) {
    let find = |css: &str| {
        holder
            .query_selector(css)
            .ok()
            .flatten()
            .and_then(|element| element.dyn_into::<HtmlElement>().ok())
    };
    let go = |element: &HtmlElement, x: f64, y: f64| {
        let to = ["translate(", &px(x), ",", &px(y), ")"].concat();
        dom::style(element, "transform", &to);
    };
    if let Some(head) = find(".fhead") {
        go(&head, x, 0.0);
    }
    let failed = recording
        .track(selected)
        .map_or(0, |track| track.at(time).failed);
    if let Some(label) = find(".ffail") {
        label.set_text_content(Some(&count(u64::from(failed))));
        let right = x + 50.0 < frame.width;
        go(
            &label,
            if right { x + 8.0 } else { x - 44.0 },
            frame
                .failed_y(f64::from(failed), recording)
                .clamp(frame.failed.0 - 8.0, frame.failed.1 - 16.0),
        );
    }
    let values = StrategyId::ALL.map(|id| {
        recording
            .track(id)
            .and_then(|track| track.goodput(time))
            .unwrap_or(0.0)
    });
    let wishes = values.map(|value| frame.race_y(value) - 8.0);
    let y = lines::spread(&wishes, 15.0, frame.race.0 - 4.0, frame.race.1 - 12.0);
    let right = x + 160.0 < frame.width;
    let Ok(list) = holder.query_selector_all(".flabel") else {
        return;
    };
    for (at, ((id, value), y)) in (0..).zip(StrategyId::ALL.into_iter().zip(values).zip(y)) {
        let Some(label) = list
            .item(at)
            .and_then(|label| label.dyn_into::<HtmlElement>().ok())
        else {
            continue;
        };
        let below = value < frame.range.0;
        let mut text = score(value, 3);
        if below {
            text.push_str(" ↓");
        }
        if let Some(Ok(Some(number))) = Some(label.query_selector(":scope > span")) {
            number.set_text_content(Some(&text));
        }
        let _ = label.class_list().toggle_with_force("left", !right);
        let _ = label.class_list().toggle_with_force("on", id == selected);
        dom::style(
            &label,
            "display",
            if time == Nanos::ZERO || frame.phone {
                "none"
            } else {
                ""
            },
        );
        go(
            &label,
            if right {
                x + 10.0
            } else {
                (x - 160.0).max(0.0)
            },
            y,
        );
    }
}

/// Writes the mini-batches of a moment beside their band.
fn batches(holder: &Element, frame: &Frame, recording: &Recording, time: Nanos) {
    let found = holder.query_selector(".fmini").ok().flatten();
    let Some(mini) = found.and_then(|element| element.dyn_into::<HtmlElement>().ok()) else {
        return;
    };
    let mut out = String::new();
    for id in [StrategyId::NtpPw, StrategyId::Ntp, StrategyId::DpDrop] {
        let name = id.id();
        let batch = recording
            .track(id)
            .map_or(0, |track| track.at(time).minibatch);
        let parts = [
            "<span><svg class='mk' style='color:var(--sg-",
            name,
            ")' viewBox='0 0 12 12'><use href='#m-",
            name,
            "'/></svg>",
            &count(u64::from(batch)),
            "</span>",
        ];
        out.push_str(&parts.concat());
    }
    mini.set_inner_html(&out);
    dom::style(
        &mini,
        "top",
        &px(f64::midpoint(frame.batch.0, frame.batch.1) - 7.0),
    );
    dom::style(&mini, "left", &px(frame.right + 10.0));
    dom::style(&mini, "display", if frame.phone { "none" } else { "" });
}
