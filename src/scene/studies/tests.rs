use super::*;
use crate::core::studies::{Facts, Found, Point, Rows};

fn board(points: &[(&str, u32, &str, f64)], goodputs: &[[f64; 2]]) -> Board {
    let facts = Facts {
        tokens_per_s_per_gpu: 1.0,
        occupied_gpus: [1000; 6],
        young_min: Some(20.0),
        daly_min: Some(19.0),
        ..Facts::default()
    };
    let points = points.iter().map(|(label, row, name, x)| {
        let point = Point {
            label: (*label).to_owned(),
            row: *row,
            row_label: (*name).to_owned(),
            x: *x,
        };
        (point, facts.clone())
    });
    let mut board = Board::new(points.collect());
    for (point, runs) in (0u32..).zip(goodputs) {
        for (run, goodput) in (0u32..).zip(runs) {
            board.take(&Found {
                point,
                run,
                goodput: [*goodput; 6],
                days: None,
            });
        }
    }
    board
}

const SPARES: Question = Question::SpareDomains { most: 2 };

fn spares() -> Board {
    let name = "spare domains";
    board(
        &[
            ("0 spare domains", 0, name, 0.0),
            ("1 spare domain", 0, name, 1.0),
            ("2 spare domains", 0, name, 2.0),
        ],
        &[[0.80, 0.82], [0.90, 0.92], [0.88, 0.90]],
    )
}

#[test]
fn a_frontier_is_lines_with_bands_and_a_best_point() {
    let chart = chart(&spares(), SPARES);
    assert_eq!(chart.lines.len(), 3);
    assert_eq!(chart.lines[1].name, "ntp");
    assert!((chart.lines[1].points[1].1 - 0.91).abs() < 1e-12);
    // Standard error of 0.90 and 0.92: 0.01; the band is two of them.
    assert!((chart.bands[1].high[1].1 - 0.93).abs() < 1e-12);
    let text = verdict(&spares(), SPARES, StrategyId::Ntp);
    assert_eq!(
        text,
        "ntp does most work per GPU-hour with 1 spare domain: +10.00 ± 0.00 points against 0 spare domains, more than chance."
    );
    let svg = crate::scene::plot::svg(&chart, &crate::scene::plot::Ink::LIGHT, 720, 400);
    assert!(svg.contains("spare domains") && !svg.contains("NaN"));
}

#[test]
fn nothing_known_yet_is_no_chart_and_no_words() {
    let empty = board(&[("0 spare domains", 0, "spare domains", 0.0)], &[]);
    assert!(chart(&empty, SPARES).lines.is_empty());
    for question in [
        SPARES,
        Question::BlastRadius,
        Question::Sensitivity,
        Question::Interval {
            rows: Rows::SaveTime,
        },
    ] {
        assert_eq!(verdict(&empty, question, StrategyId::Ntp), "");
        assert_eq!(verdict(&Board::default(), question, StrategyId::Ntp), "");
        assert!(chart(&Board::default(), question).lines.is_empty());
    }
    let (_, rows) = table(&empty, SPARES, StrategyId::Ntp, 10.0, Some(2.0));
    assert_eq!(
        rows[0],
        [
            "0 spare domains",
            "not run yet",
            "not run yet",
            "not run yet",
            "",
            "",
            ""
        ]
    );
}

#[test]
fn the_table_has_errors_hours_and_money() {
    let (columns, rows) = table(&spares(), SPARES, StrategyId::Ntp, 10.0, Some(2.0));
    assert_eq!(columns.len(), 7);
    // 1,000 GPUs over 10 days are 240,000 GPU-hours; 9 % of them are lost.
    assert_eq!(
        rows[1],
        [
            "1 spare domain",
            "91.00 ± 2.00 %",
            "91.00 ± 2.00 %",
            "91.00 ± 2.00 %",
            "21,600",
            "43,200",
            "2.198"
        ]
    );
    let (columns, rows) = table(&spares(), SPARES, StrategyId::Ntp, 10.0, None);
    assert_eq!((columns.len(), rows[1].len()), (5, 5));
}

#[test]
fn the_map_marks_formulas_and_the_simulated_best() {
    let row = "save takes 1 min";
    let at = |x| ("a save", 0, row, x);
    let board = board(
        &[at(10.0), at(20.0), at(40.0)],
        &[[0.7, 0.7], [0.9, 0.9], [0.8, 0.8]],
    );
    let heat = heat(&board, StrategyId::Ntp);
    let found = &heat.rows[0];
    assert_eq!(heat.range, (0.7, 0.9));
    assert!(found.cells[1].best && found.cells[1].as_good && !found.cells[0].as_good);
    assert_eq!((found.cells[0].shade, found.cells[1].shade), (0.0, 1.0));
    let (minutes, place) = found.young.unwrap();
    assert!(minutes == 20.0 && (place - 0.5).abs() < 1e-12);
    // Between 20 and 40, as 40 is better than 10.
    let (minutes, place) = found.simulated.unwrap();
    assert!(minutes > 20.0 && minutes < 40.0 && place > 0.5, "{minutes}");
    let text = verdict(
        &board,
        Question::Interval {
            rows: Rows::SaveTime,
        },
        StrategyId::Ntp,
    );
    assert!(
        text.contains("Young's formula says 20.0 min, Daly's 19.0 min."),
        "{text}"
    );
}

#[test]
fn systems_stand_side_by_side() {
    let points = [
        ("1", 0, "NVL72", 1.0),
        ("72", 0, "NVL72", 72.0),
        ("1", 1, "NVL8", 1.0),
        ("8", 1, "NVL8", 8.0),
    ];
    let board = board(
        &points,
        &[[0.95, 0.95], [0.75, 0.75], [0.9, 0.9], [0.8, 0.8]],
    );
    let chart = chart(&board, Question::BlastRadius);
    assert_eq!(chart.lines.len(), 6);
    assert_eq!(chart.lines[3].name, "dp-drop, NVL8");
    assert!((chart.lines[0].points[1].1 - 0.25).abs() < 1e-12);
    let text = verdict(&board, Question::BlastRadius, StrategyId::Ntp);
    assert!(
        text.starts_with("On NVL72 ntp loses 5.0") && text.contains("; on NVL8 ntp loses 10.0"),
        "{text}"
    );
}

#[test]
fn the_heaviest_assumption_is_named() {
    let points = [
        ("as it is", 0, "as it is", 0.0),
        ("× 1/2", 1, "failure rate", -1.0),
        ("× 2", 1, "failure rate", 1.0),
        ("× 2", 2, "restart time", 1.0),
    ];
    let board = board(
        &points,
        &[[0.9, 0.9], [0.95, 0.95], [0.8, 0.8], [0.88, 0.88]],
    );
    assert_eq!(
        verdict(&board, Question::Sensitivity, StrategyId::Ntp),
        "What moves ntp most: failure rate (× 1/2: +5.00 ± 0.00 points; × 2: −10.00 ± 0.00 points)."
    );
}
