//! The chart of a figure of the registry.

use super::{Chart, Line, Scale, Shape, Tint};
use crate::core::figures::{Axis, Figure, Mark, Series};
use crate::core::strategy::StrategyId;

/// Points of a line beyond which its markers would touch.
const MOST_MARKERS: usize = 40;

impl From<&Figure> for Chart {
    fn from(figure: &Figure) -> Self {
        let all = || figure.series.iter().flat_map(|series| &series.points);
        let mut neutrals = 0;
        let lines = figure
            .series
            .iter()
            .map(|series| line(series, &mut neutrals))
            .collect();
        Self {
            title: figure.title.clone(),
            x: scale(&figure.x, all().map(|point| point.0)),
            y: scale(&figure.y, all().map(|point| point.1)),
            bands: Vec::new(),
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
    let strategy = StrategyId::ALL
        .into_iter()
        .find(|id| series.strategy == Some(id.id()));
    let (shape, dash, tint) = if let Some(id) = strategy {
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
        points: series.points.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::figures::{Effort, entry};
    use crate::scene::plot::{Ink, svg};

    #[test]
    fn figures_become_charts_with_every_series_named() {
        for id in ["power", "table1"] {
            let figure = (entry(id).unwrap().build)(&Effort::default());
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
    fn strategies_keep_their_code_and_others_differ() {
        let mut neutrals = 0;
        let series = |strategy| Series {
            name: "x".into(),
            mark: Mark::Line,
            strategy,
            points: vec![(1.0, 1.0)],
        };
        let ntp = line(&series(Some("ntp")), &mut neutrals);
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
