use super::*;
use crate::core::hardware::system;
use crate::scene::rack::shape::RackShape;

fn faces(tile: f64, phone: bool, tp: u32) -> Faces {
    let system = system("gb300-nvl72").unwrap();
    Faces {
        grid: Grid {
            shape: RackShape::of(system),
            tile,
            phone,
        },
        tp,
        gpu: system.gpu.clone(),
    }
}

fn works(state: GpuState, load: f64) -> GpuView {
    GpuView {
        state,
        tp_rank: Some(16),
        load,
        perf: if state == GpuState::Boosted {
            1.05
        } else {
            1.0
        },
        sends_gradients: false,
    }
}

fn stands(state: GpuState) -> GpuView {
    GpuView {
        tp_rank: None,
        perf: 0.0,
        ..works(state, 0.0)
    }
}

fn texts(marks: &[Mark]) -> Vec<(String, Ink, Option<Sign>)> {
    let text = |mark: &Mark| match mark {
        Mark::Text {
            text, ink, sign, ..
        } => Some((text.clone(), *ink, *sign)),
        _ => None,
    };
    marks.iter().filter_map(text).collect()
}

/// The pieces of the load bar from left to right: colour, start and end as shares of its width.
fn pieces(marks: &[Mark], room: f64, wide: f64) -> Vec<(Ink, f64, f64)> {
    let piece = |mark: &Mark| match mark {
        Mark::Block(rect, ink) | Mark::Slanted(rect, ink) => {
            let share = |x: f64| ((x - room) / wide * 1e4).round() / 1e4;
            Some((*ink, share(rect.x), share(rect.right())))
        }
        _ => None,
    };
    marks.iter().filter_map(piece).collect()
}

#[test]
fn a_healthy_tile_has_rank_clock_and_a_bar_to_the_healthy_share() {
    let marks = faces(47.0, false, 72).marks(16, &works(GpuState::Healthy, 1.0));
    assert_eq!(marks.first(), Some(&Mark::Ground("--st-healthy-bg")));
    assert_eq!(
        texts(&marks),
        [
            ("16".into(), "--ink", None),
            ("1.00".into(), "--ink3", None)
        ]
    );
    assert_eq!(
        pieces(&marks, 4.0, 40.0),
        [("--st-healthy", 0.0, 0.8), ("--track", 0.8, 1.0)]
    );
    let on_phone = faces(80.0, true, 72).marks(16, &works(GpuState::Healthy, 1.0));
    assert_eq!(
        pieces(&on_phone, 7.0, 67.0),
        [("--st-healthy", 0.0, 0.8), ("--track", 0.8, 1.0)]
    );
}

#[test]
fn more_than_the_healthy_share_is_an_end_piece_never_too_small_to_see() {
    let of = |load: f64| {
        let marks = faces(47.0, false, 72).marks(16, &works(GpuState::Boosted, load));
        pieces(&marks, 4.0, 40.0)
    };
    assert_eq!(of(1.125)[1], ("--st-boosted-ink", 0.8, 0.9));
    assert_eq!(of(1.001)[1], ("--st-boosted-ink", 0.8, 0.84));
    assert_eq!(of(0.5), [("--st-boosted", 0.0, 0.4), ("--track", 0.4, 1.0)]);
    // Off the scale: to the end, and not beyond.
    assert_eq!(of(9.0).last(), Some(&("--st-boosted-ink", 0.8, 1.0)));
}

#[test]
fn every_state_has_a_second_code() {
    let faces = faces(47.0, false, 72);
    let marks = |gpu: &GpuView| faces.marks(3, gpu);
    let has = |gpu: GpuView, mark: Mark| assert!(marks(&gpu).contains(&mark), "{gpu:?}: {mark:?}");
    has(
        stands(GpuState::Failed),
        Mark::Cross(7.5, "--st-failed-ink"),
    );
    has(
        stands(GpuState::Restarting),
        Mark::Stripes("--st-restart-bg", 0.0, 4.0),
    );
    has(
        stands(GpuState::Restarting),
        Mark::Turn(10.0, "--st-failed"),
    );
    has(works(GpuState::Slow, 1.0), Mark::Rules("--st-slow"));
    has(stands(GpuState::Spare), Mark::Ring("--st-spare"));
    has(
        stands(GpuState::Parity),
        Mark::Edge(Edge::Dashed, 1.5, "--st-parity"),
    );
    has(
        stands(GpuState::LeftOver),
        Mark::Edge(Edge::Dotted, 1.5, "--st-left"),
    );
    let signs = |gpu: GpuView| texts(&marks(&gpu)).last().cloned();
    assert_eq!(
        signs(works(GpuState::Boosted, 1.0)),
        Some(("1.05".into(), "--st-boosted-ink", Some(Sign::Up)))
    );
    assert_eq!(
        signs(works(GpuState::Slow, 1.0)),
        Some(("1.00".into(), "--st-slow-ink", Some(Sign::Down)))
    );
    assert_eq!(
        signs(stands(GpuState::Parity)),
        Some(("idle".into(), "--st-parity", Some(Sign::Pause)))
    );
    // A long clock leaves the chevron out where it would touch the rank.
    let barely = GpuView {
        perf: 1.003,
        ..works(GpuState::Boosted, 1.0)
    };
    let sign = |tile: f64| {
        let marks = self::faces(tile, false, 72).marks(0, &barely);
        texts(&marks).last().cloned()
    };
    let long = |sign| Some(("1.003".to_owned(), "--st-boosted-ink", sign));
    assert_eq!((sign(46.0), sign(60.0)), (long(None), long(Some(Sign::Up))));
    // Numbers only where a GPU works.
    for state in [
        GpuState::Failed,
        GpuState::Restarting,
        GpuState::Spare,
        GpuState::LeftOver,
    ] {
        assert!(texts(&marks(&stands(state))).is_empty(), "{state:?}");
    }
}

#[test]
fn less_room_means_fewer_marks() {
    let boosted = works(GpuState::Boosted, 1.1);
    let count = |tile: f64| {
        let marks = faces(tile, false, 72).marks(3, &boosted);
        (texts(&marks).len(), marks.len() - texts(&marks).len())
    };
    assert_eq!(count(46.0), (2, 4));
    assert_eq!(count(30.0), (1, 4), "no clock");
    assert_eq!(count(12.0), (0, 4), "no rank");
    assert_eq!(count(5.0), (0, 1), "no bar");
    let small = |tile: f64, state: GpuState| faces(tile, false, 72).marks(3, &stands(state));
    assert!(small(12.0, GpuState::Idle).contains(&Mark::Pause("--ink3")));
    assert!(small(5.0, GpuState::Failed).contains(&Mark::Cross(7.5, "--st-failed-ink")));
    assert_eq!(
        small(5.0, GpuState::Spare),
        [
            Mark::Ground("--st-spare-bg"),
            Mark::Edge(Edge::Solid, 1.0, "--st-spare")
        ]
    );
}

#[test]
fn senders_and_first_gpus_of_a_slot_are_marked() {
    let sends = GpuView {
        sends_gradients: true,
        ..works(GpuState::Healthy, 1.1)
    };
    let marks = faces(47.0, false, 8).marks(16, &sends);
    assert_eq!(
        pieces(&marks[..3], 4.0, 40.0),
        [("--k-pre", 0.0, 0.8), ("--track", 0.8, 1.0)]
    );
    let slot = Mark::Start(2.0, "--ink3");
    assert!(marks.contains(&slot));
    assert!(!faces(47.0, false, 8).marks(17, &sends).contains(&slot));
    assert!(!faces(47.0, false, 8).marks(0, &sends).contains(&slot));
    assert!(!faces(47.0, false, 72).marks(16, &sends).contains(&slot));
}
