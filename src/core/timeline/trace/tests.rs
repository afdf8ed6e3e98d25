//! The rules that trace viewers rely on, each on the default scene with failed GPUs.

use super::*;
use crate::core::scenario::{Failure, Job, Scenario};
use crate::core::strategy::{StrategyId, evaluate};
use crate::core::timeline::{Settings, view};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn failed(vp: u32) -> Job {
    let mut scenario = Scenario::default_scene();
    scenario.layout.vp = vp;
    scenario.failures = [(0, 17), (0, 41), (1, 28)]
        .map(|(domain, gpu)| Failure::hardware(domain, gpu))
        .to_vec();
    scenario.resolve().unwrap()
}

fn trace(vp: u32) -> String {
    let job = failed(vp);
    let view = view(
        &job,
        &evaluate(&job),
        StrategyId::NtpPw,
        &Settings::default(),
    )
    .unwrap();
    to_string(&view, &job.system.gpu)
}

fn events(text: &str) -> Vec<Value> {
    let whole: Value = serde_json::from_str(text).unwrap();
    whole["traceEvents"].as_array().unwrap().clone()
}

fn of<'a>(events: &'a [Value], phase: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["ph"] == phase)
}

/// A time as written, in nanoseconds.
fn nanos(value: &Value) -> u64 {
    let text = value.to_string();
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    assert!(
        rest.len() <= 3
            && text
                .bytes()
                .all(|byte| byte == b'.' || byte.is_ascii_digit()),
        "{text}"
    );
    whole.parse::<u64>().unwrap() * 1000 + format!("{rest:0<3}").parse::<u64>().unwrap()
}

fn track(event: &Value) -> (u64, u64) {
    (
        event["pid"].as_u64().unwrap(),
        event["tid"].as_u64().unwrap(),
    )
}

#[test]
fn every_event_has_a_name_and_integer_ids_from_one() {
    for event in events(&trace(1)) {
        assert!(!event["name"].as_str().unwrap().is_empty());
        let (pid, tid) = track(&event);
        assert!(pid >= 1 && tid >= 1, "{event}");
        if let Some(id) = event.get("id") {
            assert!(id.as_u64().unwrap() >= 1);
        }
    }
}

#[test]
fn times_are_microseconds_of_three_decimals_and_never_negative() {
    let events = events(&trace(1));
    for event in &events {
        nanos(&event["ts"]);
    }
    assert!(of(&events, "X").all(|event| nanos(&event["dur"]) > 0));
}

#[test]
fn durations_are_the_difference_of_the_rounded_ends() {
    // Every span of every lane is found again, to the eighth of a microsecond.
    let job = failed(1);
    let view = view(
        &job,
        &evaluate(&job),
        StrategyId::NtpPw,
        &Settings::default(),
    )
    .unwrap();
    let text = to_string(&view, &job.system.gpu);
    let mut written: Vec<(u64, u64)> = of(&events(&text), "X")
        .map(|event| {
            (
                nanos(&event["ts"]),
                nanos(&event["ts"]) + nanos(&event["dur"]),
            )
        })
        .collect();
    let mut meant = Vec::new();
    for group in &view.groups {
        let timeline = view.timeline(group);
        for lane in timeline
            .streams
            .iter()
            .chain(&timeline.pipeline)
            .filter(|lane| lane.replica == group.replica)
        {
            let ends = timeline
                .lane(lane)
                .iter()
                .map(|span| [span.start, span.end].map(|time| (time.0 + 62) / 125 * 125));
            meant.extend(
                ends.filter(|[start, end]| end > start)
                    .map(|[start, end]| (start, end)),
            );
        }
    }
    written.sort_unstable();
    meant.sort_unstable();
    assert_eq!(written, meant);
}

#[test]
fn sums_of_start_and_duration_are_exact_in_floating_point() {
    // What a viewer adds must be what the next slice starts at.
    for event in of(&events(&trace(1)), "X") {
        let (start, length) = (
            event["ts"].as_f64().unwrap(),
            event["dur"].as_f64().unwrap(),
        );
        assert_eq!((start * 8.0).fract(), 0.0);
        assert_eq!(
            ((start + length) * 1000.0).round() as u64,
            nanos(&event["ts"]) + nanos(&event["dur"])
        );
        assert_eq!(start + length - start, length);
    }
}

#[test]
fn slices_of_a_thread_never_overlap() {
    for vp in [1, 3] {
        let mut tracks: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
        for event in of(&events(&trace(vp)), "X") {
            let start = nanos(&event["ts"]);
            tracks
                .entry(track(event))
                .or_default()
                .push((start, start + nanos(&event["dur"])));
        }
        for (track, mut spans) in tracks {
            spans.sort_unstable();
            for pair in spans.windows(2) {
                assert!(pair[0].1 <= pair[1].0, "{track:?}: {pair:?}");
            }
        }
    }
}

#[test]
fn names_and_order_of_tracks_come_first() {
    let events = events(&trace(1));
    let metas = of(&events, "M").count();
    assert!(events.iter().take(metas).all(|event| event["ph"] == "M"));
    let named = |what: &str| -> BTreeSet<(u64, u64)> {
        of(&events, "M")
            .filter(|event| event["name"] == what)
            .map(track)
            .collect()
    };
    let used: BTreeSet<(u64, u64)> = of(&events, "X").map(track).collect();
    for what in ["thread_name", "thread_sort_index"] {
        assert!(used.is_subset(&named(what)), "{what}");
    }
    for what in ["process_name", "process_sort_index"] {
        let processes: BTreeSet<u64> = named(what).into_iter().map(|(pid, _)| pid).collect();
        assert!(
            used.iter().all(|(pid, _)| processes.contains(pid)),
            "{what}"
        );
    }
    let titles: Vec<&str> = of(&events, "M")
        .filter(|event| event["name"] == "process_name")
        .filter_map(|event| event["args"]["name"].as_str())
        .collect();
    assert_eq!(titles.len(), 6, "{titles:?}");
    assert!(
        titles[0].starts_with("Healthy R") && titles[1].contains("pipeline"),
        "{titles:?}"
    );
}

#[test]
fn every_arrow_is_a_pair_inside_slices_with_an_id_of_its_own() {
    let events = events(&trace(1));
    let mut slices: BTreeMap<(u64, u64), Vec<(u64, u64)>> = BTreeMap::new();
    for event in of(&events, "X") {
        let start = nanos(&event["ts"]);
        slices
            .entry(track(event))
            .or_default()
            .push((start, start + nanos(&event["dur"])));
    }
    let inside = |event: &Value| {
        let time = nanos(&event["ts"]);
        slices[&track(event)]
            .iter()
            .any(|(start, end)| (*start..*end).contains(&time))
    };
    let starts: Vec<&Value> = of(&events, "s").collect();
    let mut ends: BTreeMap<u64, &Value> = BTreeMap::new();
    for end in of(&events, "f") {
        assert_eq!(end["bp"], "e");
        assert!(
            ends.insert(end["id"].as_u64().unwrap(), end).is_none(),
            "an id twice"
        );
    }
    assert!(starts.len() > 50 && starts.len() == ends.len());
    for start in starts {
        let end = ends[&start["id"].as_u64().unwrap()];
        assert_eq!((&start["cat"], &start["name"]), (&end["cat"], &end["name"]));
        assert!(inside(start) && inside(end), "{start} {end}");
        assert!(nanos(&start["ts"]) <= nanos(&end["ts"]));
    }
}

#[test]
fn slice_names_are_the_kinds_and_details_are_text() {
    let known: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    let events = events(&trace(1));
    let mut seen = BTreeSet::new();
    for event in of(&events, "X") {
        let name = event["name"].as_str().unwrap();
        assert!(known.contains(name), "{name}");
        assert!(!event["args"]["detail"].as_str().unwrap().is_empty());
        seen.insert(name.to_owned());
    }
    for name in [
        "forward",
        "backward",
        "TP comm",
        "pre-sync reshard",
        "DP sync",
        "post-sync reshard",
        "PP send",
        "optimizer",
    ] {
        assert!(seen.contains(name), "{name} in {seen:?}");
    }
}

#[test]
fn counters_hold_power_clock_and_link_use() {
    let events = events(&trace(1));
    let mut ranges: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for event in of(&events, "C") {
        let values = event["args"].as_object().unwrap();
        assert_eq!(values.len(), 1);
        let value = values.values().next().unwrap().as_f64().unwrap();
        let range = ranges
            .entry(event["name"].as_str().unwrap().to_owned())
            .or_insert((value, value));
        *range = (range.0.min(value), range.1.max(value));
    }
    let names: Vec<&str> = ranges.keys().map(String::as_str).collect();
    assert_eq!(names, ["NVLink use", "clock", "power", "scale-out use"]);
    for name in ["NVLink use", "scale-out use"] {
        let (low, high) = ranges[name];
        assert!(
            low >= 0.0 && high > 1.0 && high <= 100.0 + 1e-9,
            "{name}: {low} to {high}"
        );
    }
    // GB300: 1,400 W, boosted at most 1.3 times.
    let (low, high) = ranges["power"];
    assert!(
        low >= 0.0 && (1399.0..=1820.0).contains(&high),
        "{low} to {high}"
    );
}

#[test]
fn the_default_scene_stays_below_five_megabytes() {
    let size = trace(1).len();
    assert!((100_000..5_000_000).contains(&size), "{size} bytes");
}

#[test]
fn busy_shares_count_overlaps_once() {
    let span = |start: u64, end: u64| Span {
        start: Nanos(start),
        end: Nanos(end),
        kind: Kind::TpComm,
        microbatch: 0,
        chunk: 0,
        layer: 0,
        bucket: 0,
    };
    let times = [Nanos(0), Nanos(10), Nanos(20)];
    let (a, b) = ([span(2, 6), span(8, 12)], [span(4, 7)]);
    assert_eq!(busy_shares(&times, &[&a, &b]), [0.7, 0.2, 0.0]);
}
