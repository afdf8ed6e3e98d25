use super::draw::dashes;
use super::*;

fn line(name: &str, points: Vec<(f64, f64)>) -> Line {
    Line {
        name: name.into(),
        named: true,
        tint: Tint::Ink,
        dash: &[],
        width: 2,
        shape: Shape::Disc,
        hollow: false,
        points,
    }
}

fn chart(lines: Vec<Line>) -> Chart {
    let all: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.points.clone()).collect();
    Chart {
        title: "Loss & gain".into(),
        x: Scale::linear("failed GPUs, %", all.iter().map(|p| p.0), false),
        y: Scale::linear("throughput lost", all.iter().map(|p| p.1), true),
        bands: Vec::new(),
        lines,
        gutter: 0.0,
    }
}

#[test]
fn names_never_overlap_and_stay_inside() {
    let lines = (0..6).map(|i| {
        line(
            &format!("series {i}"),
            vec![(0.0, 0.0), (1.0, 0.1 + 0.001 * f64::from(i))],
        )
    });
    let chart = chart(lines.collect());
    let wide = frame(&chart, 640.0, 300.0);
    assert!(wide.beside && wide.names.len() == 6);
    for pair in wide.names.windows(2) {
        assert!(pair[1].2 - pair[0].2 > 13.0, "{pair:?}");
    }
    assert!(
        wide.names
            .iter()
            .all(|n| n.2 >= wide.top && n.2 <= wide.bottom && n.1 > wide.right)
    );
    let narrow = frame(&chart, 220.0, 300.0);
    assert!(
        !narrow.beside
            && narrow
                .names
                .iter()
                .all(|n| n.2 > narrow.bottom && n.2 < 300.0)
    );
    assert!(narrow.names.iter().all(|n| n.1 < 220.0 - 40.0));
}

#[test]
fn the_nearest_point_is_found_within_reach() {
    let chart = chart(vec![
        line("a", vec![(0.0, 0.0), (1.0, 0.1)]),
        line("b", vec![(0.5, 0.1)]),
    ]);
    let frame = frame(&chart, 500.0, 300.0);
    let spots = spots(&chart, &frame);
    assert_eq!(spots.len(), 3);
    assert_eq!((spots[0].x, spots[0].y), (frame.left, frame.bottom));
    let hit = nearest(&spots, spots[2].x + 3.0, spots[2].y, 12.0, |_| true).unwrap();
    assert_eq!((hit.line, hit.point), (1, 0));
    assert!(
        nearest(&spots, spots[2].x + 3.0, spots[2].y, 12.0, |spot| spot.line
            == 0)
        .is_none()
    );
    assert!(nearest(&spots, spots[2].x + 13.0, spots[2].y, 12.0, |_| true).is_none());
}

#[test]
fn dashes_cover_the_drawn_share() {
    let length = |piece: &Vec<(f64, f64)>| -> f64 {
        piece
            .windows(2)
            .map(|p| (p[1].0 - p[0].0).hypot(p[1].1 - p[0].1))
            .sum()
    };
    let path = [(0.0, 0.0), (30.0, 0.0), (30.0, 40.0)];
    let pieces = dashes(&path, &[7.0, 3.0]);
    assert_eq!(pieces.len(), 7);
    assert!((pieces.iter().map(length).sum::<f64>() - 49.0).abs() < 1e-9);
    assert_eq!(dashes(&path, &[]), vec![path.to_vec()]);
}

#[test]
fn a_file_holds_title_axes_names_and_no_nan() {
    let chart = chart(vec![line("ntp <small>", vec![(0.0, 0.0), (1.0, 0.1)])]);
    let text = svg(&chart, &Ink::LIGHT, 640, 360);
    for words in [
        "Loss &amp; gain",
        "failed GPUs, %",
        "throughput lost",
        "ntp &lt;small&gt;",
        "10.0 %",
        "</svg>",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(text.contains("polyline") && !text.contains("NaN"));
    let empty = Chart {
        lines: Vec::new(),
        ..chart
    };
    assert!(svg(&empty, &Ink::DARK, 10, 10).contains("</svg>"));
}
