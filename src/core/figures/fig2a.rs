//! Figure 2a: how much of a GPU a large job uses, by scale-up domain size.

use super::{Axis, Compared, Figure, Mark, Series, Table, Work};
use crate::core::hardware::{Precision, System, system};
use crate::core::search::{Candidate, Query, Search, SearchRule};
use crate::core::workload::{Model, model};

/// Title.
pub const TITLE: &str = "Utilisation against scale-up domain size, best layout searched";

/// Domain sizes drawn, GPUs. 72 is not in the paper.
pub const DOMAINS: [u32; 6] = [8, 16, 32, 64, 72, 144];
/// Job sizes drawn, GPUs.
pub const JOBS: [u32; 3] = [2048, 8192, 32_768];
/// Tokens per step.
const TOKENS: u32 = 1 << 24;
/// Sequence length, tokens.
const SEQ: u32 = 8192;

/// One point: a domain size at a job size, with the layout that wins there.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// GPUs of the job.
    pub gpus: u32,
    /// GPUs per domain.
    pub domain: u32,
    /// Its best layout; none where nothing fits.
    pub best: Option<Candidate>,
    /// Model FLOPs over peak; 0 where nothing fits.
    pub mfu: f64,
}

/// The points under way: the searches behind them, a few milliseconds at a time.
#[derive(Clone, Debug)]
pub struct Points {
    base: &'static System,
    model: &'static Model,
    rule: SearchRule,
    search: Option<Search>,
    points: Vec<Point>,
}

impl Points {
    /// Starts the paper's system and model with a rule; none where the presets lack them.
    pub fn new(rule: &SearchRule) -> Option<Self> {
        Some(Self {
            base: system("paper-b200-nvl32")?,
            model: model("paper-480b")?,
            rule: rule.clone(),
            search: None,
            points: Vec::new(),
        })
    }

    /// The job and domain size of the next point.
    fn next(&self) -> Option<(u32, u32)> {
        let at = self.points.len();
        let gpus = *JOBS.get(at / DOMAINS.len())?;
        Some((gpus, *DOMAINS.get(at % DOMAINS.len())?))
    }
}

impl Work for Points {
    fn advance(&mut self) -> Option<f64> {
        let (gpus, domain) = self.next()?;
        let mut best = None;
        let mut searched = true;
        if let Some(search) = &mut self.search {
            if search.advance() {
                searched = false;
            } else {
                best = self
                    .search
                    .take()
                    .and_then(|search| search.finish().ok())
                    .and_then(|found| found.winner);
            }
        } else {
            let system = System {
                domain_size: domain,
                ..self.base.clone()
            };
            let query = Query {
                system: &system,
                model: self.model,
                gpus,
                global_batch: TOKENS / SEQ,
                seq: SEQ,
                precision: Precision::Bf16,
            };
            self.search = Search::new(&query, &self.rule).ok();
            searched = self.search.is_none();
        }
        if searched {
            let peak = self.base.gpu.peak(Precision::Bf16).get();
            let flops = self.model.step_flops(f64::from(TOKENS / SEQ), SEQ).get() / f64::from(gpus);
            let mfu = best
                .as_ref()
                .map_or(0.0, |b: &Candidate| flops / b.cost.step_s.get() / peak);
            self.points.push(Point {
                gpus,
                domain,
                best,
                mfu,
            });
        }
        let all = JOBS.len() * DOMAINS.len();
        (self.points.len() < all).then(|| self.points.len() as f64 / all as f64)
    }

    fn figure(&self) -> Figure {
        figure_of(self.base, self.model, &self.rule, &self.points)
    }
}

/// The figure with the default rule.
pub fn build() -> Figure {
    build_with(&SearchRule::default())
}

/// The figure with a rule.
///
/// Utilisation is relative to the best point of the smallest job, where no limit binds: the paper's percentages are
/// of a machine without communication limits, model FLOPs utilisation is not. The ratio between domain sizes does not
/// depend on that choice.
pub fn build_with(rule: &SearchRule) -> Figure {
    let Some(mut points) = Points::new(rule) else {
        return empty();
    };
    while points.advance().is_some() {}
    points.figure()
}

fn figure_of(base: &System, model: &Model, rule: &SearchRule, points: &[Point]) -> Figure {
    let unlimited = points.iter().map(|p| p.mfu).fold(0.0, f64::max).max(1e-9);
    let at = |gpus: u32, domain: u32| {
        points
            .iter()
            .find(|p| p.gpus == gpus && p.domain == domain)
            .map_or(0.0, |p| p.mfu / unlimited)
    };
    let series = JOBS.iter().map(|gpus| Series {
        name: format!("{gpus} GPUs"),
        mark: Mark::Line,
        strategy: None,
        band: Vec::new(),
        points: DOMAINS
            .iter()
            .filter(|d| at(*gpus, **d) > 0.0)
            .map(|d| (f64::from(*d), at(*gpus, *d)))
            .collect(),
    });
    let large = 32_768;
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let compared = vec![
        Compared::new(
            "NVL32 utilisation at 32K GPUs",
            "%",
            87.0,
            100.0 * at(large, 32),
        ),
        Compared::new(
            "NVL8 utilisation at 32K GPUs",
            "%",
            68.0,
            100.0 * at(large, 8),
        ),
        Compared::new(
            "NVL32 / NVL8 at 32K GPUs",
            "ratio",
            1.28,
            ratio(at(large, 32), at(large, 8)),
        ),
        Compared::new(
            "NVL32 / NVL8 at 8K GPUs",
            "ratio",
            1.0,
            ratio(at(8192, 32), at(8192, 8)),
        ),
        Compared {
            what: "NVL72 / NVL8 at 32K GPUs".into(),
            unit: "ratio".into(),
            paper: None,
            paper_words: "not shown".into(),
            ours: Some(ratio(at(large, 72), at(large, 8))),
        },
    ];
    Figure {
        id: "2a".into(),
        title: TITLE.into(),
        x: Axis::log("scale-up domain, GPUs"),
        y: Axis::percent("utilisation, best layout of the smallest job = 100 %"),
        series: series.collect(),
        compared,
        scenario: None,
        settings: settings(base, model, rule),
        table: Some(table(points)),
    }
}

fn settings(base: &System, model: &Model, rule: &SearchRule) -> Vec<(String, String)> {
    vec![
        (
            "system".into(),
            format!("{}, domain size varied", base.name),
        ),
        (
            "model".into(),
            format!(
                "{}, sequences of {SEQ} tokens, {TOKENS} tokens a step, bf16",
                model.name
            ),
        ),
        ("search rule".into(), rule.words()),
    ]
}

fn table(points: &[Point]) -> Table {
    let columns = [
        "GPUs",
        "domain",
        "TP",
        "PP",
        "CP",
        "DP",
        "micro-batch",
        "chunks",
        "recompute",
        "step s",
        "MFU %",
        "compute %",
        "memory GiB",
    ];
    let rows = points.iter().filter_map(|p| {
        let best = p.best.as_ref()?;
        let (l, c) = (&best.layout, &best.cost);
        let recompute = serde_json::to_value(l.recompute)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default();
        Some(vec![
            p.gpus.to_string(),
            p.domain.to_string(),
            l.tp.to_string(),
            l.pp.to_string(),
            l.cp.to_string(),
            l.dp.to_string(),
            l.microbatch.to_string(),
            l.vp.to_string(),
            recompute,
            format!("{:.3}", c.step_s.get()),
            format!("{:.1}", 100.0 * p.mfu),
            format!("{:.1}", 100.0 * c.compute_s.get() / c.step_s.get()),
            format!("{:.1}", c.memory.total().gib()),
        ])
    });
    Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn empty() -> Figure {
    Figure {
        id: "2a".into(),
        title: TITLE.into(),
        x: Axis::log("scale-up domain, GPUs"),
        y: Axis::percent("utilisation"),
        series: Vec::new(),
        compared: Vec::new(),
        scenario: None,
        settings: Vec::new(),
        table: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_domains_win_at_32k_and_hardly_at_8k() {
        let figure = build();
        let value = |what: &str| {
            figure
                .compared
                .iter()
                .find(|c| c.what == what)
                .unwrap()
                .ours
                .unwrap()
        };
        let large = value("NVL32 / NVL8 at 32K GPUs");
        assert!((1.15..1.45).contains(&large), "{large} {:#?}", figure.table);
        assert!(value("NVL32 / NVL8 at 8K GPUs") < 0.5 * (1.0 + large));
        assert!(value("NVL72 / NVL8 at 32K GPUs") >= large * 0.98);
    }

    #[test]
    fn the_rule_decides_the_figure() {
        let free = SearchRule {
            microbatches_multiple_of_pp: false,
            ..SearchRule::default()
        };
        let strict = SearchRule {
            max_cp: 1,
            ..SearchRule::default()
        };
        let ratio = |rule: &SearchRule| build_with(rule).compared[2].ours.unwrap();
        assert!(
            ratio(&strict) > ratio(&free),
            "{} {}",
            ratio(&strict),
            ratio(&free)
        );
    }
}
