//! Figure 7 beyond the paper: spare domains of NVL72 and of NVL8 for the same job.

use super::needs::{Ladder, Needs, Over};
use super::traces;
use crate::core::figures::draws::{Beside, COMPARED, side_by_side};
use crate::core::figures::fig4::rates;
use crate::core::figures::pieces::{Pieces, whole};
use crate::core::figures::{Axis, Compared, Effort, Figure, Mark, Series, Table};
use crate::core::fleet::Summary;
use crate::core::scenario::Scenario;
use std::rc::Rc;

/// Id on the command line.
pub const ID: &str = "7-nvl";
/// Title.
pub const TITLE: &str =
    "Fixed mini-batch: throughput per GPU against spare GPUs, NVL72 beside NVL8";

/// Replicas' worths of spare domains that are tried.
const REPLICAS: u32 = 16;
/// Most GPUs in spare domains that are drawn, and the step of the curves: two domains of 72, eighteen of 8.
const GPUS: (u32, u32) = (6912, 144);

/// One system's job and what it needs on each trace.
struct Side<'a> {
    beside: &'a Beside,
    domain: u32,
    domains: u32,
    runs: Vec<Rc<Vec<Needs>>>,
}

impl Side<'_> {
    fn summary(&self, strategy: usize, of: impl Fn(&Needs) -> f64) -> Summary {
        let needs = self.runs.iter().filter_map(|run| run.get(strategy));
        Summary::of(needs.map(of))
    }

    fn enough(&self, strategy: usize) -> Summary {
        let gpus = |needs: &Needs| f64::from(needs.uninterrupted() * self.domain);
        self.summary(strategy, gpus)
    }

    fn series(&self, strategy: usize) -> Option<Series> {
        let id = *COMPARED.get(strategy)?;
        let at: Vec<(u32, Summary)> = (0..=GPUS.0)
            .step_by(GPUS.1 as usize)
            .map(|gpus| {
                let spares = gpus / self.domain;
                let per_gpu = |needs: &Needs| needs.per_gpu(spares, self.domains);
                (gpus, self.summary(strategy, per_gpu))
            })
            .collect();
        let first = self.beside.name == "NVL72";
        Some(Series {
            name: format!("{}, {}", id.id(), self.beside.name),
            mark: if first { Mark::Line } else { Mark::Guide },
            strategy: Some(id),
            points: at.iter().map(|(n, s)| (f64::from(*n), s.mean)).collect(),
            band: if first {
                at.iter().map(|(_, s)| (s.p10, s.p90)).collect()
            } else {
                Vec::new()
            },
        })
    }
}

fn with(beside: &Beside, spares: u32) -> Scenario {
    let mut scenario = beside.scenario.clone();
    scenario.policy.fixed_minibatch = true;
    scenario.policy.spare_domains = spares;
    scenario
}

/// The figure.
pub fn build(effort: &Effort) -> Figure {
    whole(|pieces| make(effort, pieces)).unwrap_or_else(|| Figure::empty(ID, TITLE))
}

/// The figure in pieces; see [`Pieces`].
pub fn make(effort: &Effort, pieces: &mut Pieces) -> Option<Figure> {
    let (faults, traces) = (rates(1.0, 120.0), traces(effort));
    let jobs = side_by_side();
    let worth = |beside: &Beside| beside.scenario.layout.groups_per_replica();
    pieces.expect(
        jobs.iter()
            .map(|beside| Ladder::pieces(REPLICAS * worth(beside), worth(beside), traces))
            .sum(),
    );
    let mut sides = Vec::new();
    for beside in &jobs {
        let layout = &beside.scenario.layout;
        let over = Over {
            most: REPLICAS * worth(beside),
            by: worth(beside),
            faults: &faults,
            traces,
            seed: effort.seed,
        };
        sides.push(Side {
            beside,
            domain: layout.tp,
            domains: worth(beside) * layout.dp,
            runs: Ladder::over(|spares| with(beside, spares), &over, pieces)?,
        });
    }
    let all = || {
        let strategies = 0..COMPARED.len();
        sides
            .iter()
            .flat_map(move |side| strategies.clone().map(move |strategy| (side, strategy)))
    };
    let name = |side: &Side<'_>, strategy: usize| {
        let id = COMPARED.get(strategy).map_or("", |id| id.id());
        format!("{}, {id}", side.beside.name)
    };
    let compared = all().map(|(side, strategy)| Compared {
        what: format!(
            "{}: spare GPUs for no interruption, median trace",
            name(side, strategy)
        ),
        unit: "GPUs".into(),
        paper: None,
        paper_words: "not printed".into(),
        ours: Some(side.enough(strategy).p50),
    });
    let rows = all().map(|(side, strategy)| {
        let s = side.enough(strategy);
        let domains = s.p50 / f64::from(side.domain.max(1));
        vec![
            name(side, strategy),
            format!("{:.0}", s.p10),
            format!("{:.0}", s.p50),
            format!("{:.0}", s.p90),
            format!("{domains:.0} domains of {}", side.domain),
        ]
    });
    let columns = [
        "spare GPUs for no interruption",
        "p10",
        "median",
        "p90",
        "median in domains",
    ];
    Some(Figure {
        id: ID.into(),
        title: TITLE.into(),
        x: Axis::linear("GPUs in spare domains"),
        y: Axis::linear("throughput per GPU, healthy job without spares = 1"),
        series: all()
            .filter_map(|(side, strategy)| side.series(strategy))
            .collect(),
        compared: compared.collect(),
        table: Some(Table {
            columns: columns.map(String::from).into(),
            rows: rows.collect(),
        }),
        settings: jobs
            .iter()
            .map(Beside::setting)
            .chain([
                (
                    "trace".into(),
                    "as in Figure 7: 15 days, Llama 3 rates, 5-day repair, cold start".into(),
                ),
                ("degrees, heads".into(), "any, whole".into()),
                ("traces".into(), traces.to_string()),
                ("seed of the first".into(), effort.seed.to_string()),
            ])
            .collect(),
        scenario: jobs.first().map(|beside| Scenario {
            faults: serde_json::to_value(&faults).ok(),
            ..with(beside, worth(beside))
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_domains_need_fewer_spare_gpus_to_be_dropped_one_by_one() {
        let figure = build(&Effort { runs: 3, seed: 1 });
        let ours = |name: &str| {
            let row = figure.compared.iter().find(|c| c.what.starts_with(name));
            row.unwrap().ours.unwrap()
        };
        for other in ["ntp:", "ntp-pw:"] {
            for system in ["NVL72", "NVL8"] {
                let (drop, ntp) = (
                    ours(&format!("{system}, dp-drop:")),
                    ours(&format!("{system}, {other}")),
                );
                assert!(ntp <= drop, "{system} {other} {ntp} {drop}");
            }
        }
        assert!(ours("NVL8, dp-drop:") < 0.5 * ours("NVL72, dp-drop:"));
        // Every trace found enough spares in the range.
        for c in &figure.compared {
            assert!(c.ours.unwrap() <= f64::from(GPUS.0), "{c:?}");
        }
        assert_eq!(figure.series.len(), 6);
    }
}
