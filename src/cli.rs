//! The command line: one core, the same numbers as the page.
//!
//! Each command is a module with its arguments and a `run`. JSON goes to standard output; bad input is one line on
//! standard error and exit code 2, with nothing on standard output.

mod eval;
mod figures;
mod fleet;
mod monte_carlo;
mod nep;
mod parity;
mod presets;
mod shard_map;
mod step;
mod study;
mod sweep;
mod trace;
mod validate;

use crate::core::faults::read_file;
use crate::core::hardware::FieldError;
use crate::core::scenario::{Scenario, ScenarioError};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use serde::Serialize;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// Fail GPUs in NVL8 and NVL72 racks and see what nonuniform tensor parallelism does about it.
#[derive(Parser)]
#[command(
    name = "ntp-explorer",
    version,
    after_help = "Example: ntp-explorer presets"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Presets(presets::Args),
    ShardMap(shard_map::Args),
    Parity(parity::Args),
    Nep(nep::Args),
    Eval(eval::Args),
    Fleet(fleet::Args),
    Step(step::Args),
    Trace(trace::Args),
    Validate(validate::Args),
    Figures(figures::Args),
    Sweep(sweep::Args),
    Study(study::Args),
}

impl Command {
    fn run(self) -> Result<(), CliError> {
        match self {
            Self::Presets(args) => presets::run(args),
            Self::ShardMap(args) => shard_map::run(args),
            Self::Parity(args) => parity::run(args),
            Self::Nep(args) => nep::run(args),
            Self::Eval(args) => eval::run(args),
            Self::Fleet(args) => fleet::run(args),
            Self::Step(args) => step::run(args),
            Self::Trace(args) => trace::run(args),
            Self::Validate(args) => validate::run(args),
            Self::Figures(args) => figures::run(args),
            Self::Sweep(args) => sweep::run(args),
            Self::Study(args) => study::run(args),
        }
    }
}

/// Why a command stopped; printed as one line.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// Input that is not allowed: exit code 2.
    #[error("{0}")]
    Input(String),
    /// The input is fine, what was asked for does not hold: exit code 1.
    #[error("{0}")]
    Failed(String),
    /// Nobody reads the output any more: no message, exit code 0.
    #[error("output closed")]
    Closed,
}

impl From<FieldError> for CliError {
    fn from(error: FieldError) -> Self {
        Self::Input(error.to_string())
    }
}
impl From<ScenarioError> for CliError {
    fn from(error: ScenarioError) -> Self {
        Self::Input(error.to_string())
    }
}

/// Runs the command line: exit code 2 on bad input, with one line on standard error.
pub fn run() -> ExitCode {
    let result = match Cli::try_parse() {
        Ok(cli) => cli.command.run(),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
            ) =>
        {
            // Help that nobody reads is no failure.
            let _ = error.print();
            Ok(())
        }
        Err(error) => Err(CliError::Input(one_line(&error))),
    };
    let (message, code) = match result {
        Ok(()) | Err(CliError::Closed) => return ExitCode::SUCCESS,
        Err(CliError::Input(message)) => (message, 2),
        Err(CliError::Failed(message)) => (message, 1),
    };
    let message: String = message
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let _ = writeln!(io::stderr(), "{message}");
    ExitCode::from(code)
}

/// What clap says, without usage and colours.
fn one_line(error: &clap::Error) -> String {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return "command: missing, see ntp-explorer --help".into();
    }
    let text = error.render().to_string();
    let said = text.lines().take_while(|line| {
        !line.starts_with("Usage:") && !line.starts_with("For more information")
    });
    let words: Vec<&str> = said.flat_map(str::split_whitespace).collect();
    // What the standard parsers say names no allowed values.
    let line = words
        .join(" ")
        .replace("invalid float literal", "expected a number")
        .replace(
            "invalid digit found in string",
            "expected a whole number, 0 or more",
        )
        .replace(
            "number too large to fit in target type",
            "expected at most 18446744073709551615",
        );
    line.strip_prefix("error: ")
        .map_or_else(|| line.clone(), Into::into)
}

/// Prints a value as indented JSON.
pub fn print_json<T: Serialize>(value: &T) -> Result<(), CliError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| CliError::Failed(format!("output: {error}")))?;
    text.push('\n');
    print_text(&text)
}

/// Prints text as it is.
pub fn print_text(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::Closed,
            _ => CliError::Failed(format!("output: {error}")),
        })
}

/// Reads a text file, `-` for standard input.
pub fn read_text(path: &Path) -> Result<String, CliError> {
    let text = if path.as_os_str() == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    text.map_err(|error| {
        CliError::Input(format!("file: {} cannot be read, {error}", path.display()))
    })
}

/// Reads a scenario file, `-` for standard input.
pub fn read_scenario(path: &Path) -> Result<Scenario, CliError> {
    Ok(read_file(&read_text(path)?)?)
}
