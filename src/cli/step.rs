//! `step`: step time and memory of layouts, from a table or for one layout.

use super::{CliError, print_json};
use crate::core::cost::{Constants, Explanation, Replica, StepCost, explain};
use crate::core::hardware::{FieldError, Precision};
use crate::core::scenario::{HeadSplit, Named, PartialLayout, Recompute, Scenario, derive_layout};
use crate::core::validation::row::{MICROBATCHES, Prediction, REQUIRED, find_system, predict};
use crate::core::validation::{Run, band};
use crate::core::workload::{Model, model};
use csv::ByteRecord;
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// Step time and memory: one row in, one row out for a table of layouts, or JSON with the breakdown for one layout.
///
/// A layout that does not fit is still predicted, with `fits` false. Where no micro-batch is given, the fastest of 1, 2, 4
/// and 8 that fits is taken.
#[derive(clap::Args)]
#[command(
    after_help = "Example: ntp-explorer step --model llama3-405b --system gb300-nvl72 --tp 8 --pp 8 --dp 4"
)]
pub struct Args {
    /// Table of layouts, - for standard input; columns in any order: those of assets/data/steps.csv.
    #[arg(long, conflicts_with_all = ["model", "system"])]
    csv: Option<PathBuf>,
    /// Model preset.
    #[arg(long, required_unless_present = "csv")]
    model: Option<String>,
    /// System preset.
    #[arg(long, required_unless_present = "csv")]
    system: Option<String>,
    #[command(flatten)]
    layout: LayoutArgs,
}

/// One layout; what is not given follows from system and model as in a scenario.
#[derive(clap::Args)]
struct LayoutArgs {
    /// TP degree.
    #[arg(long, allow_negative_numbers = true)]
    tp: Option<u32>,
    /// Pipeline stages.
    #[arg(long, allow_negative_numbers = true)]
    pp: Option<u32>,
    /// Data-parallel replicas.
    #[arg(long, allow_negative_numbers = true)]
    dp: Option<u32>,
    /// Context-parallel degree.
    #[arg(long, allow_negative_numbers = true)]
    cp: Option<u32>,
    /// Interleaved chunks per stage.
    #[arg(long, allow_negative_numbers = true)]
    vp: Option<u32>,
    /// Sequences per micro-batch.
    #[arg(long, alias = "mbs", allow_negative_numbers = true)]
    microbatch: Option<u32>,
    /// Sequences per step over all replicas.
    #[arg(long, alias = "gbs", allow_negative_numbers = true)]
    global_batch: Option<u32>,
    /// Sequence length, tokens.
    #[arg(long, allow_negative_numbers = true)]
    seq: Option<u32>,
    /// bf16 or fp8.
    #[arg(long)]
    precision: Option<String>,
    /// none, selective or full.
    #[arg(long)]
    recompute: Option<String>,
    /// All-reduce instead of all-gather and reduce-scatter.
    #[arg(long)]
    no_sequence_parallel: bool,
    /// No overlap of communication with compute.
    #[arg(long)]
    no_overlap: bool,
    /// Survivors of each TP group, for a reduced replica.
    #[arg(long, allow_negative_numbers = true)]
    degree: Option<u32>,
    /// Lowest degree of any replica of the job.
    #[arg(long, allow_negative_numbers = true)]
    sync_degree: Option<u32>,
    /// Compute relative to the base clock, 0.05 to 2.
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    perf: f64,
    /// Split heads evenly, an idealisation; else the largest rank sets the pace.
    #[arg(long)]
    even_heads: bool,
    /// Explain every term: formula, values, source.
    #[arg(long)]
    explain: bool,
}

/// Prints the prediction.
pub fn run(args: Args) -> Result<(), CliError> {
    match &args.csv {
        Some(path) => table(path),
        None => one(&args),
    }
}

const COLUMNS: [&str; 15] = [
    "id",
    "step_s",
    "tflops_per_gpu",
    "mfu",
    "memory_gib",
    "fits",
    "compute_s",
    "tp_comm_s",
    "pp_comm_s",
    "bubble_s",
    "dp_exposed_s",
    "cp_comm_s",
    "optimizer_s",
    "other_s",
    "error",
];

fn table(path: &Path) -> Result<(), CliError> {
    let unreadable = |error: io::Error| {
        CliError::Input(format!("csv: {} cannot be read, {error}", path.display()))
    };
    let source: Box<dyn Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(unreadable)?)
    };
    predict_table(
        source,
        &path.display().to_string(),
        BufWriter::new(io::stdout().lock()),
    )
}

/// Streams a table: one row held at a time, a bad row answered with its error.
fn predict_table(source: impl Read, name: &str, out: impl Write) -> Result<(), CliError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(source);
    let header = reader
        .byte_headers()
        .map_err(|error| CliError::Input(format!("csv: {name} cannot be read, {error}")))?;
    let header: Vec<String> = header
        .iter()
        .map(|cell| {
            String::from_utf8_lossy(cell)
                .trim()
                .trim_start_matches('\u{feff}')
                .to_ascii_lowercase()
        })
        .collect();
    let at = |column: &str| header.iter().position(|known| known == column);
    let missing: Vec<&str> = REQUIRED
        .into_iter()
        .filter(|column| at(column).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(CliError::Input(format!(
            "csv: {name} has no header with the columns {}",
            missing.join(",")
        )));
    }
    let id_at = at("id");
    let cells: Vec<(&str, usize)> = header
        .iter()
        .enumerate()
        .map(|(i, column)| (column.as_str(), i))
        .collect();
    let mut writer = csv::Writer::from_writer(out);
    let closed = |error: csv::Error| match error.into_kind() {
        csv::ErrorKind::Io(io) if io.kind() == io::ErrorKind::BrokenPipe => CliError::Closed,
        kind => CliError::Failed(format!("output: {}", io_words(&kind))),
    };
    writer.write_record(COLUMNS).map_err(closed)?;
    let mut record = ByteRecord::new();
    let mut line = 0_u64;
    loop {
        line += 1;
        let more = match reader.read_byte_record(&mut record) {
            Ok(more) => more,
            Err(error) if error.is_io_error() => {
                return Err(CliError::Failed(format!(
                    "csv: {name}, row {line}: {error}"
                )));
            }
            Err(error) => {
                writer
                    .write_record(failed(&format!("row {line}"), &error.to_string()))
                    .map_err(closed)?;
                continue;
            }
        };
        if !more {
            break;
        }
        let get = |column: &str| {
            let (_, i) = cells.iter().find(|(known, _)| *known == column)?;
            // Anything that is not UTF-8 is no number and no name we know, and its row says so.
            record
                .get(*i)
                .map(|cell| std::str::from_utf8(cell).unwrap_or("(not UTF-8)"))
        };
        let id = id_at
            .and_then(|i| record.get(i))
            .map(|cell| String::from_utf8_lossy(cell).into_owned());
        let id = id
            .filter(|id| !id.is_empty())
            .unwrap_or_else(|| format!("row {line}"));
        let row = match Run::read(get) {
            Ok(run) => predicted(&id, &run, &run.predict(Constants::fitted())),
            Err(error) => failed(&id, &error.to_string()),
        };
        writer.write_record(row).map_err(closed)?;
    }
    writer.flush().map_err(|error| closed(error.into()))
}

fn io_words(kind: &csv::ErrorKind) -> String {
    match kind {
        csv::ErrorKind::Io(error) => error.to_string(),
        other => format!("{other:?}"),
    }
}

fn failed(id: &str, error: &str) -> Vec<String> {
    let mut row = vec![String::new(); COLUMNS.len()];
    if let [first, .., last] = row.as_mut_slice() {
        id.clone_into(first);
        error.clone_into(last);
    }
    row
}

/// Rates of a whole job in the publication's convention (full attention square).
fn rates(run: &Run, cost: &StepCost) -> (f64, f64) {
    let flops = run
        .model
        .step_flops(f64::from(run.layout.global_batch), run.layout.seq)
        .get();
    let per_gpu = flops / run.layout.gpus() as f64 / cost.step_s.get();
    (
        per_gpu / 1e12,
        per_gpu / run.system.gpu.peak(run.layout.precision).get(),
    )
}

fn predicted(id: &str, run: &Run, prediction: &Prediction) -> Vec<String> {
    let c = &prediction.cost;
    let (tflops, mfu) = rates(run, c);
    let number = |value: f64| format!("{value:.6}");
    vec![
        id.to_owned(),
        number(c.step_s.get()),
        format!("{tflops:.3}"),
        number(mfu),
        format!("{:.4}", c.memory.total().gib()),
        prediction.fits.to_string(),
        number(c.compute_s.get()),
        number(c.tp_comm_s.get()),
        number(c.pp_comm_s.get()),
        number(c.bubble_s.get()),
        number(c.dp_exposed_s.get()),
        number(c.cp_comm_s.get()),
        number(c.optimizer_s.get()),
        number(c.other_s.get()),
        String::new(),
    ]
}

#[derive(Serialize)]
struct Output<'a> {
    system: &'a str,
    model: &'a str,
    layout: &'a crate::core::scenario::Layout,
    degree: u32,
    sync_degree: u32,
    local_batch: u32,
    step_s: f64,
    tokens_per_s: f64,
    tflops_per_gpu: f64,
    mfu: f64,
    memory_gib: f64,
    hbm_gib: f64,
    fits: bool,
    breakdown: StepCost,
    error_band: crate::core::validation::Band,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<Explanation>,
}

fn one(args: &Args) -> Result<(), CliError> {
    let (system_id, model_id) = (
        args.system.as_deref().unwrap_or_default(),
        args.model.as_deref().unwrap_or_default(),
    );
    let preset = |field: &str, value: &str, known: Vec<&str>| {
        FieldError::new(field, value, format!("one of {}", known.join(", ")))
    };
    let system = find_system(system_id).ok_or_else(|| {
        preset(
            "system",
            system_id,
            crate::core::hardware::systems()
                .iter()
                .map(|s| s.id.as_str())
                .collect(),
        )
    })?;
    let model: &Model = model(model_id).ok_or_else(|| {
        preset(
            "model",
            model_id,
            crate::core::workload::models()
                .iter()
                .map(|m| m.id.as_str())
                .collect(),
        )
    })?;
    let given = &args.layout;
    let partial = PartialLayout {
        tp: given.tp,
        pp: given.pp,
        dp: given.dp,
        cp: given.cp,
        vp: given.vp,
        microbatch: given.microbatch,
        global_batch: given.global_batch,
        seq: given.seq,
        precision: given.precision.as_deref().map(precision).transpose()?,
        recompute: given.recompute.as_deref().map(recompute).transpose()?,
        sequence_parallel: Some(!given.no_sequence_parallel),
        overlap: Some(!given.no_overlap),
    };
    let layout = derive_layout(system, model, &partial);
    // The same checks as a scenario file's.
    let scenario = Scenario {
        system: Named::Preset(system.id.clone()),
        model: Named::Preset(model.id.clone()),
        layout: layout.clone(),
        policy: crate::core::scenario::derive_policy(system, layout.tp),
        ..Scenario::default_scene()
    };
    scenario.resolve()?;
    let degree = given.degree.unwrap_or(layout.tp);
    let within = |field: &str, value: u32, high: u32| {
        if (1..=high).contains(&value) {
            Ok(())
        } else {
            Err(FieldError::new(field, value, format!("1 to {high}")))
        }
    };
    within("degree", degree, layout.tp)?;
    let sync_degree = given.sync_degree.unwrap_or(degree);
    within("sync-degree", sync_degree, degree)?;
    if !(0.05..=2.0).contains(&given.perf) {
        return Err(FieldError::new("perf", given.perf, "0.05 to 2").into());
    }
    let replica = Replica {
        system,
        model,
        layout: &layout,
        degree,
        sync_degree,
        local_batch: layout.local_batch(),
        perf: given.perf,
        heads: if given.even_heads {
            HeadSplit::Even
        } else {
            HeadSplit::Whole
        },
    };
    let sizes: &[u32] = if given.microbatch.is_some() {
        &[]
    } else {
        &MICROBATCHES
    };
    let prediction = predict(&replica, sizes, Constants::fitted());
    let layout = crate::core::scenario::Layout {
        microbatch: prediction.microbatch,
        ..layout.clone()
    };
    let replica = Replica {
        layout: &layout,
        ..replica
    };
    let cost = prediction.cost;
    let tokens = f64::from(layout.global_batch) * f64::from(layout.seq);
    let per_gpu =
        cost.model_flops.get() * f64::from(layout.dp) / layout.gpus() as f64 / cost.step_s.get();
    print_json(&Output {
        system: &system.id,
        model: &model.id,
        layout: &layout,
        degree,
        sync_degree,
        local_batch: replica.local_batch,
        step_s: cost.step_s.get(),
        tokens_per_s: tokens / cost.step_s.get(),
        tflops_per_gpu: per_gpu / 1e12,
        mfu: per_gpu / system.gpu.peak(layout.precision).get(),
        memory_gib: cost.memory.total().gib(),
        hbm_gib: system.gpu.hbm().gib(),
        fits: prediction.fits,
        breakdown: cost,
        error_band: band(system, layout.precision),
        explanations: if given.explain {
            explain(&replica)
        } else {
            Vec::new()
        },
    })
}

fn precision(text: &str) -> Result<Precision, FieldError> {
    match text {
        "bf16" => Ok(Precision::Bf16),
        "fp8" => Ok(Precision::Fp8),
        other => Err(FieldError::new("precision", other, "bf16 or fp8")),
    }
}

fn recompute(text: &str) -> Result<Recompute, FieldError> {
    match text {
        "none" => Ok(Recompute::None),
        "selective" => Ok(Recompute::Selective),
        "full" => Ok(Recompute::Full),
        other => Err(FieldError::new(
            "recompute",
            other,
            "none, selective or full",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "b200,8,12,8192,28672,64,8,128256,4096,1,8,1,1,1,8,bf16";

    fn predict_text(text: &str) -> Result<Vec<csv::StringRecord>, String> {
        let mut out = Vec::new();
        predict_table(text.as_bytes(), "rows", &mut out).map_err(|error| error.to_string())?;
        Ok(csv::Reader::from_reader(out.as_slice())
            .records()
            .map(Result::unwrap)
            .collect())
    }

    fn head(extra: &str) -> String {
        format!("{}{extra}\n", REQUIRED.join(","))
    }

    #[test]
    fn columns_in_any_order_and_extra_ones_are_fine() {
        let plain = predict_text(&format!("{}{GOOD}\n", head(""))).unwrap();
        let mut columns: Vec<&str> = REQUIRED.to_vec();
        let mut cells: Vec<&str> = GOOD.split(',').collect();
        columns.reverse();
        cells.reverse();
        let shuffled = predict_text(&format!(
            "note,{}\nx,{}\n",
            columns.join(","),
            cells.join(",")
        ))
        .unwrap();
        assert_eq!(
            plain[0].iter().skip(1).collect::<Vec<_>>(),
            shuffled[0].iter().skip(1).collect::<Vec<_>>()
        );
        assert!(plain[0][1].parse::<f64>().unwrap() > 0.1);
    }

    #[test]
    fn a_bad_row_says_why_and_the_rest_goes_on() {
        let rows = [
            GOOD.to_owned(),
            GOOD.replacen("b200", "abacus", 1),
            GOOD.replacen("8192", "-1", 1),
            GOOD.replacen("8192", "1e99", 1),
            GOOD.replacen("8192", "", 1),
            GOOD.replacen("b200,8", "b200,9", 1),
            "too,short".to_owned(),
            GOOD.replacen("bf16", "fp3", 1),
            GOOD.to_owned(),
        ];
        let out = predict_text(&format!("{}{}\n", head(""), rows.join("\n"))).unwrap();
        assert_eq!(out.len(), rows.len());
        for (i, word) in [
            (1, "abacus"),
            (2, "hidden: \"-1\""),
            (3, "hidden"),
            (4, "hidden: \"\""),
            (5, "gpus: 9"),
            (6, "gpu"),
            (7, "fp3"),
        ] {
            assert!(out[i][14].contains(word), "{:?}", out[i]);
            assert!(
                out[i].iter().skip(1).take(13).all(str::is_empty),
                "{:?}",
                out[i]
            );
            assert_eq!(&out[i][0], format!("row {}", i + 1));
        }
        for i in [0, 8] {
            assert!(out[i][14].is_empty() && out[i][1].parse::<f64>().is_ok());
        }
    }

    #[test]
    fn a_file_without_a_header_says_so_in_one_line() {
        for text in ["", GOOD, "id,gpu\nx,y\n", "\u{0}\u{1}"] {
            let error = predict_text(text).unwrap_err();
            assert!(
                error.contains("header") && error.lines().count() == 1,
                "{error}"
            );
        }
    }

    #[test]
    fn bytes_that_are_no_text_fail_their_row_only() {
        let mut bytes = head(",id").into_bytes();
        bytes.extend_from_slice(b"b200,8,12,8192,28672,64,8,128256,4096,1,8,1,1,1,8,\xff\xfe,x\n");
        bytes.extend_from_slice(format!("{GOOD},y\n").as_bytes());
        let mut out = Vec::new();
        predict_table(bytes.as_slice(), "rows", &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("x,") && lines[1].contains("precision"));
        assert!(lines[2].starts_with("y,0."));
    }

    #[test]
    fn shards_that_do_not_divide_are_imbalance_not_an_error() {
        let row = GOOD
            .replace("b200,8,12", "b200,7,12")
            .replace(",1,8,1,1,1,8,bf16", ",1,7,1,1,1,8,bf16");
        let out = predict_text(&format!("{}{row}\n", head(""))).unwrap();
        assert!(out[0][14].is_empty(), "{:?}", out[0]);
    }
}
