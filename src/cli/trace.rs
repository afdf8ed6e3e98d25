//! `trace`: one step as a Chrome trace.

use super::{CliError, print_text, read_scenario};
use crate::core::strategy::{Evaluator, StrategyId, evaluate};
use crate::core::timeline::{Settings, trace, view};
use crate::core::units::Bytes;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// One step's timeline as a Chrome trace, for Perfetto, chrome://tracing and speedscope.
///
/// Shows a healthy, a reduced and a boosted replica, as far as the scenario's failures make them.
#[derive(clap::Args)]
#[command(
    after_help = "Example: echo '{\"version\":1,\"system\":\"gb300-nvl72\",\"model\":\"llama3-405b\",\"failures\":[{\"domain\":0,\"gpu\":3}]}' | ntp-explorer trace - --out trace.json"
)]
pub struct Args {
    /// Scenario file, or - for standard input.
    file: PathBuf,
    /// Where to write; standard output when absent.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Largest gradient bucket per rank, GB.
    #[arg(long, default_value_t = 1.25, allow_negative_numbers = true)]
    bucket_gb: f64,
    /// Stage whose GPU is shown stream by stream.
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    stage: u32,
    /// Strategy whose replicas come first: ntp or ntp-pw.
    #[arg(long, default_value = "ntp-pw", value_parser = ["ntp", "ntp-pw"])]
    strategy: String,
}

/// Runs the command.
pub fn run(args: Args) -> Result<(), CliError> {
    let settings = Settings {
        bucket_bytes: Bytes::from_gb(args.bucket_gb),
        stage: args.stage,
        ..Settings::default()
    };
    let input = |error: &dyn std::fmt::Display| CliError::Input(error.to_string());
    let job = settings
        .apply(&read_scenario(&args.file)?.resolve()?)
        .map_err(|error| input(&error))?;
    Evaluator::new(&job).fits()?;
    let selected = if args.strategy == "ntp" {
        StrategyId::Ntp
    } else {
        StrategyId::NtpPw
    };
    let view = view(&job, &evaluate(&job), selected, &settings).map_err(|error| input(&error))?;
    let Some(path) = args.out else {
        return print_text(&trace::to_string(&view, &job.system.gpu));
    };
    let failed = |error: std::io::Error| {
        CliError::Input(format!(
            "out: {} cannot be written, {error}",
            path.display()
        ))
    };
    let mut file = BufWriter::new(File::create(&path).map_err(failed)?);
    trace::write(&view, &job.system.gpu, &mut file)
        .and_then(|()| file.flush())
        .map_err(failed)
}
