//! The whole picture: what it shows, and what it never does, at any zoom.

use super::*;
use crate::core::scenario::{Failure, Job, Scenario, url};
use crate::core::strategy::{StrategyId, evaluate};
use crate::core::timeline::{Group, ReplicaKind, Settings, StepView, Stream, view};
use proptest::prelude::*;
use std::sync::OnceLock;

type Seen = (StepView, Vec<GroupWords>);

fn job(failures: &[(u32, u32)], pp: u32) -> Job {
    let mut scenario = Scenario::default_scene();
    scenario.layout.pp = pp;
    scenario.failures = failures
        .iter()
        .map(|&(domain, gpu)| Failure::hardware(domain, gpu))
        .collect();
    scenario.resolve().unwrap()
}

fn viewed(failures: &[(u32, u32)], pp: u32) -> Seen {
    let job = job(failures, pp);
    let view = view(
        &job,
        &evaluate(&job),
        StrategyId::NtpPw,
        &Settings::default(),
    )
    .unwrap();
    let words = group_words(&view, &job.system.gpu);
    (view, words)
}

fn failed() -> &'static Seen {
    static VIEW: OnceLock<Seen> = OnceLock::new();
    VIEW.get_or_init(|| viewed(&[(0, 17), (0, 41), (1, 28)], 2))
}

fn step(shown: &Seen) -> f64 {
    shown
        .0
        .worlds
        .first()
        .map_or(&shown.0.healthy, |world| &world.timeline)
        .step
        .0 as f64
}

const STREAMS: Mode = Mode {
    streams: true,
    pipeline: false,
};
const BOTH: Mode = Mode {
    streams: true,
    pipeline: true,
};

fn look<'a>(shown: &'a Seen, layout: &'a Layout, window: Window) -> Look<'a> {
    Look {
        view: &shown.0,
        layout,
        window,
        words: &shown.1,
        hidden: Chips::default(),
        ratio: 2.0,
        hover: None,
        selected: None,
        range: None,
        found: None,
    }
}

fn picture(shown: &Seen, window: Window, mode: Mode, size: (f64, f64)) -> (Layout, Vec<Draw>) {
    let layout = layout(&shown.0, mode, &[], size.0, size.1, 0.0);
    let draws = draw(&look(shown, &layout, window));
    (layout, draws)
}

fn words(draws: &[Draw]) -> Vec<(Rect, &str)> {
    fn one(draw: &Draw) -> Option<(Rect, &str)> {
        if let Draw::Words { room, text, .. } = draw {
            Some((*room, text.as_str()))
        } else {
            None
        }
    }
    draws.iter().filter_map(one).collect()
}

fn boxes(draws: &[Draw], paint: Paint) -> Vec<Rect> {
    let one = |draw: &Draw| {
        if let Draw::Fill(found, boxes) = draw {
            (*found == paint).then(|| boxes.clone())
        } else {
            None
        }
    };
    draws.iter().filter_map(one).flatten().collect()
}

#[test]
fn the_first_look_shows_what_is_hidden_and_what_is_exposed() {
    let shown = failed();
    let (_, draws) = picture(shown, first_look(&shown.0), STREAMS, (1408.0, 208.0));
    let said: Vec<&str> = words(&draws).iter().map(|(_, text)| *text).collect();
    let said = said.join(" | ");
    for wanted in [
        "Healthy",
        "compute",
        "NVLink",
        "scale-out",
        "whole step",
        "exposed",
        "DP sync",
        "no failure",
        "throughput",
    ] {
        assert!(said.contains(wanted), "{wanted} in {said}");
    }
    assert!(!boxes(&draws, Paint::ExposedBand).is_empty());
    assert!(draws.iter().any(|draw| matches!(draw, Draw::Heads(..))));
    assert!(draws.iter().any(|draw| matches!(draw, Draw::Dots(..))));
}

#[test]
fn a_healthy_job_shows_one_group_and_no_reshard() {
    let shown = viewed(&[], 2);
    let (layout, draws) = picture(&shown, first_look(&shown.0), BOTH, (1408.0, 208.0));
    assert_eq!(layout.groups.len(), 1);
    assert!(boxes(&draws, Paint::ExposedBand).is_empty());
    assert!(
        words(&draws)
            .iter()
            .all(|(_, text)| !text.contains("no failure"))
    );
}

#[test]
fn a_reduced_replica_above_the_lowest_degree_is_not_said_to_keep_its_shards() {
    let link = "#/rack?sys=gb300-nvl72&model=llama3-405b&fail=0.3,0.9,5.17";
    let job = url::decode(link).unwrap().scenario.resolve().unwrap();
    let evaluation = evaluate(&job);
    let view = view(&job, &evaluation, StrategyId::NtpPw, &Settings::default()).unwrap();
    let shown = (view.clone(), group_words(&view, &job.system.gpu));
    // A window without TP comm behind the words.
    let end = step(&shown);
    let window = Window {
        start: end * 0.99,
        end,
    };
    let (_, draws) = picture(&shown, window, STREAMS, (1408.0, 208.0));
    let reshards = |group: &&Group| {
        let timeline = shown.0.timeline(group);
        let lane = timeline.stream(group.replica, Stream::Reshard);
        lane.is_some_and(|lane| !timeline.lane(lane).is_empty())
    };
    let damaged = |group: &&Group| group.kind != ReplicaKind::Healthy;
    let groups = || shown.0.groups.iter().filter(damaged);
    let quiet = groups().filter(|group| !reshards(group));
    let said = words(&draws)
        .iter()
        .filter(|(_, text)| text.starts_with("nothing to reshard:"))
        .count();
    assert!(groups().any(|group| reshards(&group)));
    assert_eq!(said, quiet.count());
}

#[test]
fn the_picture_of_the_first_look_stays_as_it_is() {
    let shown = failed();
    let (_, draws) = picture(shown, first_look(&shown.0), STREAMS, (1408.0, 208.0));
    // Words and counts: coordinates follow the calibration.
    let outline: Vec<String> = draws
        .iter()
        .map(|draw| match draw {
            Draw::Fill(paint, _) => format!("fill {paint:?}"),
            Draw::Outline(paint, ..) => format!("outline {paint:?}"),
            Draw::Lines(paint, ..) => format!("lines {paint:?}"),
            Draw::Heads(..) => "heads".into(),
            Draw::Dots(..) => "dots".into(),
            Draw::Polygon(paint, _) => format!("polygon {paint:?}"),
            Draw::Words { ink, .. } => format!("words {ink:?}"),
            Draw::Clip(_) => "clip".into(),
            Draw::Unclip => "unclip".into(),
        })
        .collect();
    let mut kinds = outline.clone();
    kinds.dedup();
    let clips = outline.iter().filter(|line| *line == "clip").count();
    assert_eq!(
        clips,
        outline.iter().filter(|line| *line == "unclip").count()
    );
    assert_eq!(
        kinds.last().map(String::as_str),
        Some("words Ink3"),
        "the axis comes last"
    );
}

#[test]
fn rows_grow_with_the_panel_and_scroll_where_they_do_not_fit() {
    let shown = failed();
    let low = layout(&shown.0, BOTH, &[], 1408.0, 160.0, 0.0);
    assert!(low.scroll_end() > 0.0);
    let high = layout(&shown.0, BOTH, &[], 1408.0, 600.0, 0.0);
    assert_eq!(high.scroll_end(), 0.0);
    assert!(high.rows[0].area.h > low.rows[0].area.h);
    let scrolled = layout(&shown.0, BOTH, &[], 1408.0, 160.0, 20.0);
    assert_eq!(scrolled.rows[0].area.y, low.rows[0].area.y - 20.0);
}

#[test]
fn a_collapsed_group_keeps_one_row_and_a_pinned_one_stays() {
    let shown = failed();
    let count = shown.0.groups.len();
    assert!(count >= 2);
    let mut states = vec![GroupState::default(); count];
    states[1] = GroupState {
        collapsed: true,
        pinned: true,
    };
    let layout = layout(&shown.0, STREAMS, &states, 1408.0, 160.0, 30.0);
    assert_eq!(layout.rows.iter().filter(|row| row.group == 1).count(), 1);
    assert_eq!((layout.rows[0].group, layout.rows[0].pinned), (1, true));
    assert_eq!(layout.rows[0].area.y, layout.plot.y);
    assert_eq!(layout.rows[1].area.y, layout.scroll_top - 30.0);
}

#[test]
fn what_is_drawn_is_found_under_the_pointer() {
    let shown = failed();
    let window = first_look(&shown.0);
    let (layout, _) = picture(shown, window, STREAMS, (1408.0, 208.0));
    let found = matches(&shown.0, "dp sync bucket");
    assert!(!found.is_empty());
    let scale = |spot| {
        let timeline = shown.0.timeline(&shown.0.groups[0]);
        let span: &crate::core::timeline::Span = &timeline.spans[spot];
        f64::midpoint(span.start.0 as f64, span.end.0 as f64)
    };
    let spot = found
        .iter()
        .rfind(|spot| {
            spot.group == 0 && window.start < scale(spot.span) && scale(spot.span) < window.end
        })
        .unwrap();
    let row = layout
        .rows
        .iter()
        .find(|row| row.holds(&shown.0, *spot))
        .unwrap();
    let x = layout.plot.x + window.px(scale(spot.span), layout.plot.w);
    let target = hit(
        &shown.0,
        &layout,
        &window,
        Chips::default(),
        step(shown),
        (x, row.area.y + 3.0),
    );
    assert_eq!(target, Target::Span(*spot));
    let hidden = Chips::default().toggled(Chip::Dp);
    let target = hit(
        &shown.0,
        &layout,
        &window,
        hidden,
        step(shown),
        (x, row.area.y + 3.0),
    );
    assert!(!matches!(target, Target::Span(found) if found == *spot));
    assert!(matches!(
        hit(
            &shown.0,
            &layout,
            &window,
            hidden,
            step(shown),
            (400.0, 8.0)
        ),
        Target::Strip(_)
    ));
    assert_eq!(
        hit(
            &shown.0,
            &layout,
            &window,
            hidden,
            step(shown),
            (10.0, layout.groups[1].y + 4.0)
        ),
        Target::Group(1)
    );
}

#[test]
fn the_table_holds_what_is_in_view() {
    let shown = failed();
    let window = first_look(&shown.0);
    let (layout, _) = picture(shown, window, STREAMS, (1408.0, 208.0));
    let (rows, count) = table(&shown.0, &layout, &window, Chips::default(), 50);
    assert!(count > rows.len() && rows.len() == 50);
    assert!(rows[0].track.starts_with("Healthy"));
    let (all, same) = table(&shown.0, &layout, &window, Chips::default(), usize::MAX);
    assert_eq!((all.len(), same), (count, count));
    assert!(
        all.iter()
            .any(|row| row.what.starts_with("DP sync, bucket"))
    );
}

#[test]
fn a_tip_has_bytes_bandwidth_and_where_to_go_next() {
    let shown = failed();
    let spot = *matches(&shown.0, "pre-sync bucket 2").first().unwrap();
    let tip = tip(&shown.0, spot).unwrap();
    assert!(
        tip.title.starts_with("pre-sync reshard, healthy"),
        "{tip:?}"
    );
    let names: Vec<&str> = tip.facts.iter().map(|fact| fact.0).collect();
    assert_eq!(names, ["takes", "from", "to", "moves", "at"]);
    let relations: Vec<&str> = tip.links.iter().map(|link| link.0).collect();
    assert_eq!(relations, ["follows", "waits for", "lets start"]);
    assert!(tip.links[2].1.starts_with("DP sync 2"), "{tip:?}");
    let compute = *matches(&shown.0, "backward layer 3").first().unwrap();
    let tip = super::tip(&shown.0, compute).unwrap();
    assert!(
        tip.facts.iter().any(|fact| fact.1.ends_with("TFLOP/s")),
        "{tip:?}"
    );
}

#[test]
fn sums_of_the_whole_step_hold_every_kind_that_runs() {
    let shown = failed();
    let sums = sums(&shown.0, 0.0, step(shown));
    assert_eq!(sums.len(), shown.0.groups.len());
    let kinds: Vec<&str> = sums[0].1.iter().map(|(kind, _)| kind.name()).collect();
    for wanted in [
        "forward",
        "backward",
        "TP comm",
        "pre-sync reshard",
        "DP sync",
        "post-sync reshard",
        "optimizer",
    ] {
        assert!(kinds.contains(&wanted), "{wanted} in {kinds:?}");
    }
}

#[test]
fn an_svg_file_is_whole() {
    let shown = failed();
    let (_, draws) = picture(shown, first_look(&shown.0), BOTH, (1408.0, 308.0));
    for palette in [Palette::LIGHT, Palette::DARK] {
        let text = svg(&draws, &palette, 1408.0, 308.0, "a < b & c");
        assert!(text.starts_with("<svg ") && text.ends_with("</svg>\n"));
        assert!(text.contains("<title>a &lt; b &amp; c</title>"));
        assert_eq!(text.matches("<g ").count(), text.matches("</g>").count());
        assert!(!text.contains("NaN") && !text.contains("inf"));
        for pattern in Pattern::ALL {
            assert!(text.contains(&format!("id=\"{pattern:?}\"")));
        }
    }
}

fn any_window() -> impl Strategy<Value = Window> {
    (0.0_f64..1.0, -9.0_f64..0.0).prop_map(|(at, power)| {
        let step = step(failed());
        let span = step * 10_f64.powf(power);
        Window {
            start: at * step,
            end: at * step + span,
        }
        .held(step)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_never_overlap_and_everything_is_finite(window in any_window(), pipeline: bool, wide in 300.0_f64..2000.0, high in 120.0_f64..700.0) {
        let shown = failed();
        let (layout, draws) = picture(shown, window, Mode { streams: true, pipeline }, (wide, high));
        let words = words(&draws);
        let plot = Rect::new(layout.plot.x + 1.0, layout.plot.y, layout.plot.w - 2.0, layout.plot.h - 1.0);
        let inside: Vec<&(Rect, &str)> = words.iter().filter(|(room, _)| plot.holds(room.x + 2.5, room.y + room.h / 2.0)).collect();
        for (index, (a, text)) in inside.iter().enumerate() {
            prop_assert!(a.x.is_finite() && a.w.is_finite());
            for (b, other) in inside.iter().skip(index + 1) {
                prop_assert!(!a.meets(b), "{text} and {other}: {a:?} {b:?}");
            }
        }
        for draw in &draws {
            if let Draw::Fill(_, boxes) = draw {
                prop_assert!(boxes.iter().all(|b| b.x.is_finite() && b.w.is_finite() && b.w >= 0.0 && b.h >= 0.0), "{draw:?}");
            }
        }
    }

    #[test]
    fn a_picture_never_takes_more_rectangles_than_its_rows_have_pixels(window in any_window()) {
        let shown = failed();
        let (layout, draws) = picture(shown, window, BOTH, (1408.0, 400.0));
        let count: usize = draws.iter().map(|draw| if let Draw::Fill(_, boxes) = draw { boxes.len() } else { 0 }).sum();
        prop_assert!(count as f64 <= (layout.rows.len() as f64 * 3.0 + 8.0) * layout.plot.w * 2.0, "{count}");
    }
}
