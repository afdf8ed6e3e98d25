//! The chart of a figure of the registry.

use super::{Band, Chart, Line, Scale, Shape, Tint};
use crate::core::figures::{Axis, Figure, Mark, Series};

/// Points of a line beyond which its markers would touch.
const MOST_MARKERS: usize = 40;

/// Reference lines that are named in the chart; more would bury the names of the results.
const MOST_GUIDES: usize = 2;

fn is_guide(series: &Series) -> bool {
    series.mark == Mark::Guide && series.strategy.is_none()
}

fn guides(figure: &Figure) -> impl Iterator<Item = &Series> {
    figure.series.iter().filter(|series| is_guide(series))
}

/// What stands under a chart: names of reference lines too many to be named in it, and what a band is.
pub fn caption(figure: &Figure) -> String {
    let mut parts = Vec::new();
    if guides(figure).count() > MOST_GUIDES {
        let names: Vec<&str> = guides(figure).map(|series| series.name.as_str()).collect();
        parts.push(format!("Dotted: {}.", names.join(", ")));
    }
    if figure.series.iter().any(|series| !series.band.is_empty()) {
        parts.push("Bands: 10th to 90th percentile of the draws.".to_owned());
    }
    parts.join(" ")
}

impl From<&Figure> for Chart {
    fn from(figure: &Figure) -> Self {
        let all = || figure.series.iter().flat_map(|series| &series.points);
        let edges = || figure.series.iter().flat_map(|series| &series.band);
        let mut neutrals = 0;
        let mut lines: Vec<Line> = figure
            .series
            .iter()
            .map(|series| line(series, &mut neutrals))
            .collect();
        // The second line of a strategy is thin and hollow of mark.
        for (at, series) in figure.series.iter().enumerate() {
            let before = figure.series.iter().take(at);
            let twin = series.strategy.is_some()
                && before
                    .filter(|one| one.strategy == series.strategy)
                    .any(|one| one.mark == series.mark);
            if let Some(line) = lines.get_mut(at).filter(|_| twin) {
                (line.hollow, line.width) = (true, line.width.min(1));
            }
        }
        for (line, series) in lines.iter_mut().zip(&figure.series) {
            line.named = !(is_guide(series) && guides(figure).count() > MOST_GUIDES);
        }
        let bands = figure
            .series
            .iter()
            .zip(&lines)
            .filter(|(series, _)| !series.band.is_empty())
            .map(|(series, line)| {
                let edge = |end: fn(&(f64, f64)) -> f64| {
                    let places = series.points.iter().map(|point| point.0);
                    places.zip(series.band.iter().map(end)).collect()
                };
                Band {
                    tint: line.tint,
                    alpha: 0.14,
                    low: edge(|band| band.0),
                    high: edge(|band| band.1),
                }
            })
            .collect();
        Self {
            title: figure.title.clone(),
            x: scale(&figure.x, all().map(|point| point.0)),
            y: scale(
                &figure.y,
                all()
                    .map(|point| point.1)
                    .chain(edges().flat_map(|(low, high)| [*low, *high])),
            ),
            bands,
            lines,
            gutter: 0.0,
        }
    }
}

fn scale(axis: &Axis, values: impl Iterator<Item = f64>) -> Scale {
    if axis.log {
        Scale::log(&axis.label, values)
    } else {
        Scale::linear(&axis.label, values, axis.percent)
    }
}

fn line(series: &Series, neutrals: &mut usize) -> Line {
    let (shape, dash, tint) = if let Some(id) = series.strategy {
        let (shape, dash) = Chart::code(id);
        (shape, dash, Tint::Strategy(id))
    } else if series.mark == Mark::Guide {
        (Shape::None, &[2.0, 3.0][..], Tint::Ink3)
    } else {
        let code = Chart::neutral(*neutrals);
        *neutrals += 1;
        code
    };
    let many = series.points.len() > MOST_MARKERS;
    Line {
        name: series.name.clone(),
        named: true,
        tint,
        dash,
        width: match series.mark {
            Mark::Line => 2,
            Mark::Points => 0,
            Mark::Guide => 1,
        },
        shape: if many && series.mark == Mark::Line {
            Shape::None
        } else {
            shape
        },
        hollow: false,
        points: series.points.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::figures::{Effort, entry};
    use crate::core::strategy::StrategyId;
    use crate::scene::plot::{Ink, svg};

    #[test]
    fn figures_become_charts_with_every_series_named() {
        for id in ["power", "table1"] {
            let figure = entry(id).unwrap().build(&Effort::default());
            let chart = Chart::from(&figure);
            assert_eq!(chart.lines.len(), figure.series.len());
            let text = svg(&chart, &Ink::LIGHT, 720, 420);
            for series in &figure.series {
                assert!(
                    text.contains(&series.name.replace('<', "&lt;")),
                    "{}",
                    series.name
                );
            }
            assert!(!text.contains("NaN"));
        }
    }

    #[test]
    fn spreads_become_bands_on_the_axis() {
        let mut figure = Figure::empty("x", "spread");
        figure.series = vec![Series {
            name: "ntp".into(),
            mark: Mark::Line,
            strategy: Some(StrategyId::Ntp),
            points: vec![(1.0, 0.5), (2.0, 0.6)],
            band: vec![(0.1, 0.7), (0.2, 0.9)],
        }];
        let chart = Chart::from(&figure);
        assert_eq!(chart.bands.len(), 1);
        assert_eq!(chart.bands[0].high, [(1.0, 0.7), (2.0, 0.9)]);
        assert!(chart.y.low <= 0.1 && chart.y.high >= 0.9);
    }

    #[test]
    fn many_reference_lines_are_named_below() {
        let mut figure = Figure::empty("x", "guides");
        let guide = |name: &str| Series {
            name: name.into(),
            mark: Mark::Guide,
            strategy: None,
            points: vec![(1.0, 0.5)],
            band: Vec::new(),
        };
        figure.series = vec![guide("a"), guide("b")];
        assert!(Chart::from(&figure).lines.iter().all(|line| line.named));
        assert_eq!(caption(&figure), "");
        figure.series.push(guide("c"));
        assert!(Chart::from(&figure).lines.iter().all(|line| !line.named));
        assert_eq!(caption(&figure), "Dotted: a, b, c.");
    }

    #[test]
    fn the_second_line_of_a_strategy_is_told_apart() {
        let mut figure = entry("power").unwrap().build(&Effort::default());
        let of = |strategy| Series {
            name: "x".into(),
            mark: Mark::Line,
            strategy,
            points: vec![(1.0, 1.0)],
            band: Vec::new(),
        };
        figure.series = [
            Some(StrategyId::Ntp),
            Some(StrategyId::NtpPw),
            None,
            None,
            Some(StrategyId::Ntp),
        ]
        .map(of)
        .to_vec();
        let lines = Chart::from(&figure).lines;
        let hollow: Vec<bool> = lines.iter().map(|line| line.hollow).collect();
        assert_eq!(hollow, [false, false, false, false, true]);
        assert!(lines[4].width < lines[0].width && lines[4].shape == lines[0].shape);
    }

    #[test]
    fn strategies_keep_their_code_and_others_differ() {
        let mut neutrals = 0;
        let series = |strategy| Series {
            name: "x".into(),
            mark: Mark::Line,
            strategy,
            points: vec![(1.0, 1.0)],
            band: Vec::new(),
        };
        let ntp = line(&series(Some(StrategyId::Ntp)), &mut neutrals);
        assert_eq!(
            (ntp.tint, ntp.shape),
            (Tint::Strategy(StrategyId::Ntp), Shape::Disc)
        );
        let (a, b) = (
            line(&series(None), &mut neutrals),
            line(&series(None), &mut neutrals),
        );
        assert!(a.shape != b.shape && a.dash != b.dash && neutrals == 2);
    }
}
