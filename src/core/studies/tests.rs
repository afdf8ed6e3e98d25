use super::*;
use crate::core::faults::{CheckpointEvery, Faults};
use crate::core::scenario::Scenario;
use crate::core::strategy::StrategyId;

fn scenario(text: &str) -> Scenario {
    Scenario::from_json(text).unwrap()
}

/// 1,152 GPUs in 16 racks at thirty times the Llama 3 rates.
fn racks() -> Scenario {
    racks_at(30.0)
}

fn racks_at(rate_multiplier: f64) -> Scenario {
    let mut faults = Faults {
        rate_multiplier,
        ..Faults::default()
    };
    faults.checkpoint.every_min = CheckpointEvery::Minutes(30.0);
    let mut scenario = scenario(
        r#"{"version": 1, "system": "gb300-nvl72", "model": "llama3-405b",
        "layout": {"tp": 72, "pp": 2, "dp": 8, "global_batch": 64, "seq": 32768}}"#,
    );
    scenario.faults = serde_json::to_value(faults).ok();
    scenario
}

fn setup(question: Question, days: f64, runs: u32) -> Setup {
    Setup {
        question,
        days,
        runs,
        seed: 1,
    }
}

fn run(scenario: &Scenario, setup: &Setup, shards: u32) -> Board {
    let mut board = None;
    for index in 0..shards {
        let shard = Shard {
            index,
            count: shards,
        };
        let (mut walk, points) = Walk::new(scenario, setup, shard).unwrap();
        let board = board.get_or_insert_with(|| Board::new(points));
        let mut last = 0.0;
        while let Some(step) = walk.step() {
            assert!(walk.share() >= last && walk.share() <= 1.0);
            last = walk.share();
            if let Step::Found(found) = step {
                board.take(&found);
            }
        }
        assert!(
            walk.share() == 1.0 || walk.share() == 0.0,
            "{}",
            walk.share()
        );
    }
    board.unwrap()
}

#[test]
fn shards_find_what_the_whole_finds() {
    let question = Question::SpareDomains { most: 4 };
    let setup = setup(question, 4.0, 3);
    let whole = run(&racks(), &setup, 1);
    assert_eq!(whole.taken(), 15);
    for shards in [2, 4, 7] {
        assert_eq!(run(&racks(), &setup, shards), whole, "{shards} shards");
    }
}

#[test]
fn a_walk_agrees_with_single_runs() {
    use crate::core::fleet::{ModelRates, Plan, Runner};
    let question = Question::SpareDomains { most: 2 };
    let board = run(&racks(), &setup(question, 6.0, 2), 1);
    let mut with = racks();
    with.policy.spare_domains = 1;
    let faults = Faults::read(with.faults.as_ref()).unwrap();
    let job = with.resolve().unwrap();
    let plan = Plan::new(&job, &faults);
    let mut runner = Runner::new(plan, faults, &StrategyId::ALL, 6.0, ModelRates::new(job));
    let mut mean = [0.0; 6];
    for seed in 1..3 {
        for (sum, sample) in mean.iter_mut().zip(runner.run(seed).0) {
            *sum += sample.goodput / 2.0;
        }
    }
    for strategy in StrategyId::ALL {
        let found = board.goodput((1, strategy));
        assert!(
            (found.mean - mean[strategy as usize]).abs() < 1e-9,
            "{strategy:?}"
        );
    }
}

#[test]
fn spares_beyond_need_only_cost() {
    let mut scenario = racks();
    let faults = Faults {
        causes: Vec::new(),
        ..Faults::default()
    };
    scenario.faults = serde_json::to_value(faults).ok();
    let board = run(
        &scenario,
        &setup(Question::SpareDomains { most: 8 }, 5.0, 1),
        1,
    );
    // 16 racks of work, half a minute of every 30.5 spent saving, and the spare racks idle.
    for at in board.row(0) {
        let spares = board.point(at).unwrap().x;
        let expected = 30.0 / 30.5 * 16.0 / (16.0 + spares);
        let found = board.goodput((at, StrategyId::DpDrop)).mean;
        assert!(
            (found - expected).abs() < 1e-3,
            "{spares}: {found} {expected}"
        );
    }
    let best = best_point(&board, 0, StrategyId::Ntp, 0).unwrap();
    assert_eq!((best.x, best.range), (0.0, (0.0, 0.0)));
    assert_eq!(board.facts(0).unwrap().mtbi_h, None);
}

#[test]
fn a_job_that_pauses_without_spares_wants_some() {
    let mut scenario = racks_at(2.0);
    scenario.policy.fixed_minibatch = true;
    let board = run(
        &scenario,
        &setup(Question::SpareDomains { most: 8 }, 15.0, 4),
        1,
    );
    let work = |at, id| board.work((at, id), 0).mean;
    assert!(work(4, StrategyId::DpDrop) > 2.0 * work(0, StrategyId::DpDrop));
    let best = best_point(&board, 0, StrategyId::DpDrop, 0).unwrap();
    assert!(best.x > 0.0);
}

#[test]
fn gpus_left_over_heal_their_own_rack_first() {
    let board = run(
        &racks(),
        &setup(Question::InDomainSpares { most: 8 }, 6.0, 3),
        1,
    );
    let labels: Vec<&str> = board
        .points()
        .iter()
        .map(|(p, _)| p.label.as_str())
        .collect();
    assert_eq!((labels[0], labels[8]), ("TP72 + 0", "TP64 + 8"));
    // 72 of 128 heads leave 2 on the fullest rank, and so do 64: TP64 does more work per GPU that computes.
    assert!(board.speed(8, 0) > 1.0, "{}", board.speed(8, 0));
    assert_eq!(board.speed(0, 0), 1.0);
    // With eight GPUs to give, hardly any failure drops a replica: dp-drop keeps more of what its layout can do.
    let kept = |at: usize| {
        board.goodput((at, StrategyId::DpDrop)).mean * 72.0 / (72.0 - board.point(at).unwrap().x)
    };
    assert!(kept(8) > kept(0), "{} {}", kept(8), kept(0));
}

#[test]
fn the_best_interval_lies_near_dalys() {
    // The published study: a job of fixed size, exponential failures; rows: saves of 1.25, 2.5, 5, 10 and 20 minutes.
    let study = scenario(include_str!(
        "../../../assets/examples/study-1024-gpus.json"
    ));
    let question = Question::Interval {
        rows: Rows::SaveTime,
    };
    let board = run(&study, &setup(question, 28.0, 16), 1);
    assert_eq!(board.rows().len(), 5);
    let middle = board.row(2).next().unwrap();
    let facts = board.facts(middle).unwrap();
    assert!((facts.daly_min.unwrap() - 90.86).abs() < 0.01, "{facts:?}");
    for (row, _) in board.rows() {
        let best = best_interval(&board, row, StrategyId::HotSpares).unwrap();
        let daly = board.facts(best.point).unwrap().daly_min.unwrap();
        assert!(
            best.range.0 <= 1.5 * daly && best.range.1 >= daly / 1.5,
            "{row}: {best:?}, Daly {daly}"
        );
        let ends = board.row(row).next().zip(board.row(row).last()).unwrap();
        for end in [ends.0, ends.1] {
            let gap = board.difference(
                (best.point, StrategyId::HotSpares),
                (end, StrategyId::HotSpares),
                0,
            );
            assert!(gap.mean > 2.0 * gap.standard_error, "{row}: {gap:?}");
        }
    }
}

#[test]
fn a_wider_blast_costs_a_rack_of_72_no_less() {
    let board = run(&racks(), &setup(Question::BlastRadius, 5.0, 3), 1);
    let rows = board.rows();
    assert_eq!(rows.len(), 2);
    assert!(
        rows[0].1.contains("NVL72") && rows[1].1.contains("NVL8"),
        "{rows:?}"
    );
    for (row, _) in rows {
        let all: Vec<f64> = board
            .row(row)
            .map(|at| board.goodput((at, StrategyId::Ntp)).mean)
            .collect();
        assert!(all.first() > all.last(), "{all:?}");
        // As many GPUs, within a replica.
        let gpus = board
            .facts(board.row(row).next().unwrap())
            .unwrap()
            .occupied_gpus[0];
        assert_eq!(gpus, 1152);
    }
}

#[test]
fn sensitivity_moves_the_right_way_and_sorts_by_weight() {
    let board = run(&racks(), &setup(Question::Sensitivity, 6.0, 6), 1);
    let bars = tornado(&board, StrategyId::Ntp, None);
    assert!(bars.len() >= 8 && bars.windows(2).all(|two| two[0].reach() >= two[1].reach()));
    let bar = |name: &str| bars.iter().find(|bar| bar.name == name).unwrap();
    for worse in [
        "failure rate",
        "restart time",
        "detection time",
        "time a save takes",
    ] {
        let bar = bar(worse);
        let (low, high) = (bar.low.as_ref().unwrap().1, bar.high.as_ref().unwrap().1);
        assert!(
            low.mean > 0.0 && high.mean < 0.0,
            "{worse}: {low:?} {high:?}"
        );
    }
}

#[test]
fn where_failures_are_rare_quick_repairs_help_a_waiting_job_and_failures_help_ntp_to_its_lead() {
    // A failure in six days on average, as long as a repair takes.
    let board = run(&racks_at(0.3), &setup(Question::Sensitivity, 30.0, 6), 1);
    let bar = |bars: Vec<Bar>, name: &str| bars.into_iter().find(|bar| bar.name == name).unwrap();
    let repair = bar(
        tornado(&board, StrategyId::Wait, None),
        "hardware repair time",
    );
    assert!(repair.low.as_ref().unwrap().1.mean > 0.02, "{repair:?}");
    let lead = tornado(&board, StrategyId::Ntp, Some(StrategyId::DpDrop));
    let rate = bar(lead, "failure rate");
    assert!(rate.high.as_ref().unwrap().1.mean > 0.0, "{rate:?}");
    assert!(rate.low.as_ref().unwrap().1.mean < 0.0, "{rate:?}");
}

#[test]
fn paired_differences_are_sharper_than_means() {
    let board = run(&racks(), &setup(Question::Sensitivity, 6.0, 8), 1);
    let save = board
        .rows()
        .iter()
        .find(|(_, name)| *name == "time a save takes")
        .unwrap()
        .0;
    let at = board.row(save).next().unwrap();
    let paired = board.difference((at, StrategyId::Ntp), (0, StrategyId::Ntp), 0);
    assert!(paired.standard_error < 0.3 * board.goodput((0, StrategyId::Ntp)).standard_error);
    assert_eq!(paired.runs, 8);
}

#[test]
fn bad_setups_and_points_say_why() {
    let error = |question, days, runs| {
        let found = points(&racks(), &setup(question, days, runs));
        found.err().unwrap().to_string()
    };
    let spares = |most| Question::SpareDomains { most };
    assert_eq!(
        error(spares(4), 0.0, 1),
        "days: 0 is not allowed, expected above 0, at most 365"
    );
    assert_eq!(
        error(spares(4), 1.0, 0),
        "runs: 0 is not allowed, expected 1 to 10000"
    );
    assert_eq!(
        error(spares(0), 1.0, 1),
        "most: 0 is not allowed, expected 1 to 10000"
    );
    // A million GPUs and 5,000 spare racks are more than there may be: those points say so, the others run.
    let mut large = racks();
    (large.layout.dp, large.layout.global_batch) = (6_900, 55_200);
    let all = points(&large, &setup(spares(5000), 1.0, 1)).unwrap();
    let refused: Vec<&String> = all
        .iter()
        .filter_map(|(_, posed)| posed.as_ref().err())
        .collect();
    assert!(!refused.is_empty() && refused.len() < all.len());
    assert!(
        refused[0].starts_with("policy.spare_domains: "),
        "{}",
        refused[0]
    );
    let (_, known) = Walk::new(&large, &setup(spares(5000), 0.01, 1), Shard::WHOLE).unwrap();
    assert_eq!(
        known
            .iter()
            .filter(|(_, facts)| facts.error.is_some())
            .count(),
        refused.len()
    );
}

#[test]
fn too_many_failures_end_a_study_early_and_say_so() {
    let mut flood = racks();
    let faults = Faults {
        rate_multiplier: 100_000.0,
        ..Faults::default()
    };
    flood.faults = serde_json::to_value(faults).ok();
    let (walk, _) = Walk::new(
        &flood,
        &setup(Question::SpareDomains { most: 4 }, 365.0, 100),
        Shard::WHOLE,
    )
    .unwrap();
    assert!(walk.runs() < 100);
}

#[test]
fn a_bill_adds_up() {
    let bill = Bill::new(1000, 10.0, 0.9, 2.5);
    assert_eq!((bill.gpu_h, bill.cost), (240_000.0, 600_000.0));
    assert!((bill.lost_gpu_h - 24_000.0).abs() < 1e-6 && (bill.lost_cost - 60_000.0).abs() < 1e-6);
    assert!((bill.cost_per_useful_gpu_h.unwrap() - 2.5 / 0.9).abs() < 1e-12);
    assert_eq!(Bill::new(1, 1.0, 0.0, 2.5).cost_per_useful_gpu_h, None);
}
