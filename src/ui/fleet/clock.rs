//! The transport and the time chart: race, failed GPUs, mini-batch and interruptions over one axis with one playhead.

use super::chart::{self, Frame};
use super::deck::{Deck, use_deck};
use super::race::markup;
use super::written::Written;
use crate::core::fleet::recording::Recording;
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::{lines, pace, words};
use crate::scene::side::number::{count, score};
use crate::ui::dom::{self, all, find};
use crate::ui::state::Form;
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent, PointerEvent};

/// The labels' turns while the run plays.
const TURNS: [u32; 2] = [3, 7];
/// The mini-batches' turn.
const BATCHES: u32 = 1;
/// Turn of what comes next.
const NEXT: u32 = 4;

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
    // Sliders take these keys too, and a button takes Space.
    let taken = dom::target(event).is_some_and(|target| {
        let tag = target.tag_name();
        tag == "INPUT" || (tag == "BUTTON" && event.key() == " ")
    });
    if taken || !dom::is_shortcut(event) || event.ctrl_key() || event.meta_key() {
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
    let calm = deck.calm_of(NEXT);
    let next = move || {
        let selected = deck.app.selected.get();
        let time = calm.get();
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
                    <b>"Day " {move || pace::days(deck.calm.get())}</b>
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
    let pending = StoredValue::new_local([dom::Turn::default(), dom::Turn::default()]);
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
        pending.update_value(|pending| {
            let parts = [(past, true), (future, false)];
            for (turn, (canvas, solid)) in pending.iter_mut().zip(parts) {
                let (run, original) = (run.clone(), original.clone());
                turn.request(move || {
                    let ground = dom::Tokens::read().get("--panel");
                    dom::picture(&canvas, frame.width, frame.height, &ground, |pen| {
                        chart::paint(pen, &frame, &run, original.as_deref(), selected, solid);
                    });
                });
            }
        });
    });
    // The playhead and what rides on it.
    let rider = StoredValue::new_local(None::<Rider>);
    let with = move |holder: &Element, act: &dyn Fn(&mut Rider)| {
        rider.update_value(|rider| act(rider.get_or_insert_with(|| Rider::of(holder))));
    };
    Effect::new(move |before: Option<StrategyId>| {
        let (time, selected) = (deck.time.get(), deck.app.selected.get());
        deck.playing.track();
        let (Some(frame), Some(run), Some(holder)) = (frame.get(), deck.run.get(), holder.get())
        else {
            return selected;
        };
        let at = Riding {
            frame: &frame,
            recording: &run.recording,
            time,
            selected,
            ratio: dom::ratio(),
        };
        let labels = TURNS.iter().any(|turn| deck.is_turn(*turn)) || before != Some(selected);
        with(&holder, &|rider| rider.ride(&at, labels));
        selected
    });
    // The mini-batches at the playhead.
    let calm = deck.calm_of(BATCHES);
    Effect::new(move |_| {
        let time = calm.get();
        let (Some(frame), Some(run), Some(holder)) = (frame.get(), deck.run.get(), holder.get())
        else {
            return;
        };
        with(&holder, &|rider| {
            rider.batches(&frame, &run.recording, time);
        });
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
            <div class="fpast">
                <canvas node_ref=past></canvas>
            </div>
            <div class="fride" inner_html=rider_markup()></div>
            <div class="fmini"></div>
            <super::fork::Flag place=Signal::derive(move || {
                let frame = frame.get()?;
                let fork = deck.run.with(|run| run.as_ref().and_then(|run| run.recording.forked_at))?;
                let x = frame.x(fork);
                Some((x, x > frame.width / 2.0))
            }) />
        </div>
    }
}

/// One decimal, never below 0.
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
    out
}

/// A label beside the playhead.
struct Label {
    text: Written,
    place: Written,
    left: Written,
    on: Written,
    shown: Written,
}

impl Label {
    fn of(element: &Element, text: Option<Element>) -> Self {
        let own = || Some(element.clone());
        Self {
            text: Written::text(text),
            place: Written::style(own(), "transform"),
            left: Written::class(own(), "left"),
            on: Written::class(own(), "on"),
            shown: Written::style(own(), "display"),
        }
    }
}

/// What moves with the playhead, found once. In a frame only whole layers move, so that nothing is laid out or painted.
struct Rider {
    /// Playhead and labels.
    whole: Written,
    /// A window on the past, and the past in it, which stays where it is.
    window: Written,
    past: Written,
    failed: Option<Label>,
    labels: Vec<(StrategyId, Label)>,
    batches: Written,
    batches_at: [Written; 3],
}

impl Rider {
    fn of(holder: &Element) -> Self {
        let labels = all(holder, ".flabel").into_iter();
        let mini = find(holder, ".fmini");
        Self {
            whole: Written::style(find(holder, ".fride"), "transform"),
            window: Written::style(find(holder, ".fpast"), "transform"),
            past: Written::style(find(holder, ".fpast canvas"), "transform"),
            failed: find(holder, ".ffail").map(|own| Label::of(&own, Some(own.clone()))),
            labels: StrategyId::ALL
                .into_iter()
                .zip(labels.map(|own| Label::of(&own, find(&own, ":scope > span"))))
                .collect(),
            batches_at: ["top", "left", "display"].map(|name| Written::style(mini.clone(), name)),
            batches: Written::markup(mini),
        }
    }

    /// Moves to the playhead; `labels`: up or down too, with what they say.
    fn ride(&mut self, at: &Riding<'_>, labels: bool) {
        let (frame, recording, time) = (at.frame, at.recording, at.time);
        // On whole device pixels: nothing is drawn between two of them.
        let x = (frame.x(time) * at.ratio).round() / at.ratio;
        self.whole.set(&shift(x));
        self.window.set(&shift(x - frame.width));
        self.past.set(&shift(frame.width - x));
        if !labels {
            return;
        }
        if let Some(label) = &mut self.failed {
            let failed = recording
                .track(at.selected)
                .map_or(0, |track| track.at(time).failed);
            label.text.set(&count(u64::from(failed)));
            let y = frame
                .failed_y(f64::from(failed), recording)
                .clamp(frame.failed.0 - 8.0, frame.failed.1 - 16.0);
            // At the end it would stand on what the band's end says.
            let right = x + 50.0 < frame.right;
            label.left.turn(!right);
            label.place.set(&place(if right { 8.0 } else { -58.0 }, y));
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
        let shown = time != Nanos::ZERO && !frame.phone;
        for (((id, label), value), y) in self.labels.iter_mut().zip(values).zip(y) {
            label.shown.set(if shown { "" } else { "none" });
            if !shown {
                continue;
            }
            let mut text = score(value, 3);
            if value < frame.range.0 {
                text.push_str(" ↓");
            }
            label.text.set(&text);
            label.left.turn(!right);
            label.on.turn(*id == at.selected);
            label
                .place
                .set(&place(if right { 10.0 } else { (-160.0_f64).max(-x) }, y));
        }
    }

    /// Writes the mini-batches of a moment beside their band.
    fn batches(&mut self, frame: &Frame, recording: &Recording, time: Nanos) {
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
        self.batches.set(&out);
        let [top, left, shown] = &mut self.batches_at;
        top.set(&px(f64::midpoint(frame.batch.0, frame.batch.1) - 7.0));
        left.set(&px(frame.right + 10.0));
        shown.set(if frame.phone { "none" } else { "" });
    }
}

/// Where the playhead is, and over what.
struct Riding<'a> {
    frame: &'a Frame,
    recording: &'a Recording,
    time: Nanos,
    selected: StrategyId,
    /// Device pixels per CSS pixel.
    ratio: f64,
}

fn shift(x: f64) -> String {
    ["translateX(", &x.to_string(), "px)"].concat()
}

/// On whole pixels, so that what hardly moves is not painted anew.
fn place(x: f64, y: f64) -> String {
    let [x, y] = [x, y].map(|at| (at.round() as i32).to_string());
    ["translate(", &x, "px,", &y, "px)"].concat()
}
