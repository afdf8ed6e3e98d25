//! The time chart's paint: twice the same lines, solid for the past and faint for the future; the playhead clips them.

use super::deck::Run;
use crate::core::fleet::recording::Recording;
use crate::core::strategy::StrategyId;
use crate::scene::fleet::frame::most_failed;
use crate::scene::fleet::{lines, words};
use crate::scene::side::number::{count, fixed};
use crate::ui::dom;
use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::CanvasRenderingContext2d;

pub use crate::scene::fleet::frame::Frame;

/// Dash of a strategy's line, as its marker the second code of its colour.
const fn dash(id: StrategyId) -> &'static [f64] {
    match id {
        StrategyId::Wait => &[2.0, 3.0],
        StrategyId::DpDrop => &[7.0, 3.0],
        StrategyId::HotSpares => &[10.0, 3.0, 2.0, 3.0],
        StrategyId::InDomainSpares => &[3.0, 2.0],
        StrategyId::Ntp | StrategyId::NtpPw => &[],
    }
}

struct Pen<'a> {
    pen: &'a CanvasRenderingContext2d,
    frame: &'a Frame,
    solid: bool,
    tokens: dom::Tokens,
}

impl Pen<'_> {
    fn dashes(&self, dash: &[f64]) {
        let list = Array::new();
        for length in dash {
            list.push(&JsValue::from_f64(*length));
        }
        // Fails only for what is no list.
        let _ = self.pen.set_line_dash(&list);
    }
    fn text(&self, text: &str, x: f64, y: f64, style: &str, bold: bool) {
        self.pen.set_fill_style_str(style);
        self.pen.set_font(if bold {
            dom::sans!("bold 12px")
        } else {
            dom::sans!("10.5px")
        });
        // Fails only where text cannot be drawn at all.
        let _ = self.pen.fill_text(text, x, y);
    }
    fn rule(&self, from: (f64, f64), to: (f64, f64), style: &str) {
        self.pen.set_stroke_style_str(style);
        self.pen.set_line_width(1.0);
        self.pen.begin_path();
        self.pen.move_to(from.0.round() + 0.5, from.1.round() + 0.5);
        self.pen.line_to(to.0.round() + 0.5, to.1.round() + 0.5);
        self.pen.stroke();
    }
    fn line(&self, points: &[(f64, f64)], y: &dyn Fn(f64) -> f64) {
        self.pen.begin_path();
        for (at, (x, value)) in points.iter().enumerate() {
            let (x, y) = (self.frame.left + x, y(*value));
            if at == 0 {
                self.pen.move_to(x, y);
            } else {
                self.pen.line_to(x, y);
            }
        }
    }
}

/// Paints the whole chart, without playhead. `solid`: as the past looks.
pub fn paint(
    pen: &CanvasRenderingContext2d,
    frame: &Frame,
    run: &Run,
    original: Option<&Run>,
    selected: StrategyId,
    solid: bool,
) {
    let pen = Pen {
        pen,
        frame,
        solid,
        tokens: dom::Tokens::read(),
    };
    axes(&pen, run);
    race(&pen, &run.recording, original, selected);
    failed(&pen, run, selected);
    batch(&pen, run);
    marks(&pen, &run.recording, selected);
}

fn axes(pen: &Pen<'_>, run: &Run) {
    let frame = pen.frame;
    let (line, ink, ink3) = (
        pen.tokens.get("--line"),
        pen.tokens.get("--ink"),
        pen.tokens.get("--ink3"),
    );
    let days = frame.end.hours() / 24.0;
    let wide = frame.right - frame.left;
    let step = lines::day_step(days, wide, if frame.phone { 44.0 } else { 60.0 });
    let mut at = 0.0;
    pen.pen.set_text_align("center");
    while at <= days + 1e-9 {
        let x = frame.left + wide * at / days.max(1e-9);
        pen.rule((x, frame.race.0 - 4.0), (x, frame.marks.1), &line);
        let decimals = if step < 0.1 {
            2
        } else {
            usize::from(step < 1.0)
        };
        let text = fixed(at, decimals);
        let text = if at == 0.0 { "day 0".to_owned() } else { text };
        pen.text(&text, x, frame.height - 6.0, &ink3, false);
        at += step;
    }
    pen.pen.set_text_align("right");
    for value in lines::race_ticks(frame.range) {
        let y = frame.race_y(value);
        pen.rule((frame.left, y), (frame.right, y), &line);
        let decimals = if frame.range.1 - frame.range.0 < 0.05 {
            3
        } else {
            2
        };
        pen.text(
            &fixed(value, decimals),
            frame.left - 6.0,
            y + 3.5,
            &ink3,
            false,
        );
    }
    for band in [frame.failed.1, frame.batch.1] {
        pen.rule(
            (frame.left, band),
            (frame.right, band),
            &pen.tokens.get("--line2"),
        );
    }
    if frame.phone {
        return;
    }
    pen.pen.set_text_align("left");
    let name = |title: &str, more: &[&str], y: f64| {
        pen.text(title, 12.0, y, &ink, true);
        for (at, text) in (1..).zip(more) {
            pen.text(text, 12.0, y + 14.0 * f64::from(at), &ink3, false);
        }
    };
    name("Goodput", &["mean since day 0"], frame.race.0 + 14.0);
    let of = |value: u64| ["of ", &count(value)].concat();
    // Under its name only where the band has room for both.
    let roomy = |band: (f64, f64)| band.1 - band.0 > 24.0;
    let (gpus, sequences) = (of(run.head.gpus), of(u64::from(run.head.minibatch)));
    let under = |band, text| if roomy(band) { vec![text] } else { Vec::new() };
    name(
        "Failed GPUs",
        &under(frame.failed, gpus.as_str()),
        frame.failed.0 + 14.0,
    );
    name(
        "Mini-batch",
        &under(frame.batch, sequences.as_str()),
        frame.batch.0 + 8.0,
    );
    name(
        "Interruptions",
        &[],
        f64::midpoint(frame.marks.0, frame.marks.1) + 4.0,
    );
}

fn race(pen: &Pen<'_>, recording: &Recording, original: Option<&Run>, selected: StrategyId) {
    let frame = pen.frame;
    let wide = frame.right - frame.left;
    let y = |value: f64| frame.race_y_open(value);
    pen.pen.save();
    pen.pen.begin_path();
    pen.pen.rect(
        frame.left,
        frame.race.0 - 6.0,
        wide,
        frame.race.1 - frame.race.0 + 7.0,
    );
    pen.pen.clip();
    if let Some(original) = original {
        // The run that was left: thinner, over its own length of time.
        let own = wide * original.recording.end.0 as f64 / frame.end.0.max(1) as f64;
        for id in StrategyId::ALL {
            if let Some(track) = original.recording.track(id) {
                let points = lines::goodput(track, original.recording.end, own);
                pen.pen.set_global_alpha(if pen.solid { 0.55 } else { 0.4 });
                pen.pen
                    .set_stroke_style_str(&pen.tokens.get(&["--sg-", id.id()].concat()));
                pen.pen.set_line_width(0.9);
                pen.dashes(&[]);
                pen.line(&points, &y);
                pen.pen.stroke();
            }
        }
    }
    for id in StrategyId::ALL {
        let Some(track) = recording.track(id) else {
            continue;
        };
        let colour = pen.tokens.get(&["--sg-", id.id()].concat());
        let points = lines::goodput(track, recording.end, wide);
        pen.pen.set_global_alpha(if pen.solid { 1.0 } else { 0.55 });
        pen.pen.set_stroke_style_str(&colour);
        let strong = if id == selected { 2.4 } else { 1.7 };
        pen.pen.set_line_width(if pen.solid { strong } else { 1.2 });
        pen.dashes(if pen.solid { dash(id) } else { &[1.5, 3.0] });
        pen.line(&points, &y);
        pen.pen.stroke();
    }
    pen.dashes(&[]);
    pen.pen.set_global_alpha(1.0);
    pen.pen.restore();
}

fn failed(pen: &Pen<'_>, run: &Run, selected: StrategyId) {
    let (frame, recording) = (pen.frame, &run.recording);
    let Some(track) = recording.track(selected) else {
        return;
    };
    let wide = frame.right - frame.left;
    let most = most_failed(recording);
    let y =
        |value: f64| frame.failed.1 - (frame.failed.1 - frame.failed.0) * (value / most).min(1.0);
    let points = lines::steps(&track.times, &track.failed, recording.end, wide);
    let colour = pen.tokens.get("--st-failed");
    pen.line(&points, &y);
    pen.pen.line_to(frame.right, frame.failed.1);
    pen.pen.line_to(frame.left, frame.failed.1);
    pen.pen.set_fill_style_str(&colour);
    pen.pen.set_global_alpha(if pen.solid { 0.2 } else { 0.06 });
    pen.pen.fill();
    pen.pen.set_global_alpha(if pen.solid { 1.0 } else { 0.6 });
    pen.pen.set_stroke_style_str(&colour);
    pen.pen.set_line_width(1.4);
    pen.dashes(if pen.solid { &[] } else { &[1.5, 3.0] });
    pen.line(&points, &y);
    pen.pen.stroke();
    pen.pen.set_global_alpha(1.0);
    let thousandth = run.head.gpus as f64 / 1000.0;
    let ink3 = pen.tokens.get("--ink3");
    if thousandth <= most {
        pen.dashes(&[5.0, 3.0]);
        pen.rule(
            (frame.left, y(thousandth)),
            (frame.right, y(thousandth)),
            &ink3,
        );
        pen.dashes(&[]);
        pen.pen.set_text_align("left");
        pen.text(
            "0.1 % of GPUs",
            frame.left + 4.0,
            y(thousandth) - 4.0,
            &ink3,
            false,
        );
    }
    pen.dashes(&[]);
    if !frame.phone {
        pen.pen.set_text_align("left");
        let above = track.above_0p1_percent(recording.end, run.head.gpus);
        let peak = track.failed.iter().max().copied().unwrap_or(0);
        let (x, top) = (frame.right + 12.0, frame.failed.0 + 12.0);
        let ink2 = pen.tokens.get("--ink2");
        pen.text(
            &[&words::above(above), " of the time above 0.1 %"].concat(),
            x,
            top,
            &ink2,
            false,
        );
        pen.text(
            &["peak ", &count(u64::from(peak))].concat(),
            x,
            top + 14.0,
            &ink2,
            false,
        );
    }
}

fn batch(pen: &Pen<'_>, run: &Run) {
    let (frame, recording) = (pen.frame, &run.recording);
    let wide = frame.right - frame.left;
    let top = f64::from(run.head.minibatch.max(1));
    let shown = [StrategyId::DpDrop, StrategyId::Ntp, StrategyId::NtpPw];
    let lowest = shown
        .iter()
        .filter_map(|id| recording.track(*id)?.minibatch.iter().min())
        .min()
        .map_or(0.0, |least| f64::from(*least));
    let low = (lowest - top * 0.02).max(0.0);
    let y = |value: f64| {
        let part = ((value - low) / (top - low).max(1e-9)).clamp(0.0, 1.0);
        frame.batch.1 - 2.0 - (frame.batch.1 - frame.batch.0 - 3.0) * part
    };
    for id in shown {
        let Some(track) = recording.track(id) else {
            continue;
        };
        let points = lines::steps(&track.times, &track.minibatch, recording.end, wide);
        pen.pen
            .set_stroke_style_str(&pen.tokens.get(&["--sg-", id.id()].concat()));
        pen.pen.set_global_alpha(if pen.solid { 1.0 } else { 0.35 });
        pen.pen.set_line_width(1.4);
        pen.dashes(if pen.solid { dash(id) } else { &[1.5, 3.0] });
        pen.line(&points, &y);
        pen.pen.stroke();
    }
    pen.dashes(&[]);
    pen.pen.set_global_alpha(1.0);
}

fn marks(pen: &Pen<'_>, recording: &Recording, selected: StrategyId) {
    let frame = pen.frame;
    let colour = pen.tokens.get("--st-failed");
    let (top, low) = frame.marks;
    let (middle, radius) = (
        f64::midpoint(top, low),
        ((low - top) / 2.0 - 1.0).clamp(1.5, 3.2),
    );
    pen.pen.set_stroke_style_str(&colour);
    pen.pen.set_global_alpha(if pen.solid { 1.0 } else { 0.4 });
    pen.pen.set_line_width(1.2);
    for (x, software) in lines::marks(recording, selected, frame.right - frame.left) {
        let x = frame.left + x;
        pen.pen.begin_path();
        if software {
            // Fails only for a negative radius.
            let _ = pen.pen.arc(x, middle, radius, 0.0, std::f64::consts::TAU);
        } else {
            pen.pen.move_to(x, top);
            pen.pen.line_to(x, low - 1.0);
        }
        pen.pen.stroke();
    }
    pen.pen.set_global_alpha(1.0);
    if !frame.phone {
        pen.pen.set_text_align("left");
        let (x, ink2) = (frame.right + 12.0, pen.tokens.get("--ink2"));
        pen.pen.set_stroke_style_str(&colour);
        pen.pen.begin_path();
        pen.pen.move_to(x, top);
        pen.pen.line_to(x, low - 1.0);
        pen.pen.stroke();
        pen.text("hardware", x + 6.0, middle + 3.5, &ink2, false);
        pen.pen.begin_path();
        let _ = pen
            .pen
            .arc(x + 66.0, middle, radius, 0.0, std::f64::consts::TAU);
        pen.pen.stroke();
        pen.text("software", x + 74.0, middle + 3.5, &ink2, false);
    }
}
