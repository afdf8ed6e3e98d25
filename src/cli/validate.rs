//! `validate`: the published runs, predicted.

use super::{CliError, print_json, print_text};
use crate::core::cost::factors;
use crate::core::validation::{Report, Summary, report};

/// Every published run, predicted against published: per set and overall mean, median and worst error, with the constants
/// in use and with constants fitted without the run's own source.
///
/// Exit code 1 when a set is past the tolerance written beside it.
#[derive(clap::Args)]
#[command(after_help = "Example: ntp-explorer validate")]
pub struct Args {
    /// Only the summary, no rows.
    #[arg(long)]
    summary: bool,
    /// JSON instead of tables.
    #[arg(long)]
    json: bool,
}

/// Prints the tables.
pub fn run(args: Args) -> Result<(), CliError> {
    let report = report(true);
    if args.json {
        print_json(&report)?;
    } else {
        print_text(&text(&report, !args.summary))?;
    }
    if report.pass {
        Ok(())
    } else {
        Err(CliError::Failed(
            "validation: past a tolerance, see the summary".into(),
        ))
    }
}

fn percent(value: f64) -> String {
    format!("{:.1} %", 100.0 * value)
}

fn signed(value: f64) -> String {
    format!("{:+.1} %", 100.0 * value)
}

fn text(report: &Report, rows: bool) -> String {
    let mut lines = vec![format!(
        "model v{}, constants of {}",
        factors::version(),
        factors::date()
    )];
    if rows {
        lines.push(String::new());
        lines.push(format!(
            "{:<46} {:>9} {:>9} {:>9} {:>12}  {}",
            "run", "published", "predicted", "error", "unseen error", "source"
        ));
        for row in &report.rows {
            lines.push(format!(
                "{:<46} {:>7.3} s {:>7.3} s {:>9} {:>12}  {}",
                row.id,
                row.measured_s,
                row.predicted_s,
                signed(row.error),
                row.left_out_error.map_or_else(|| "-".into(), signed),
                row.source
            ));
        }
    }
    lines.push(String::new());
    lines.push(format!(
        "{:<26} {:>4} {:>8} {:>8} {:>8} {:>22}  {}",
        "set", "runs", "mean", "median", "worst", "tolerance mean, worst", "verdict"
    ));
    for set in &report.sets {
        let Summary {
            rows,
            mean,
            median,
            worst,
            worst_id,
        } = &set.fitted;
        let verdict = if set.pass { "pass" } else { "PAST TOLERANCE" };
        let tolerance = format!(
            "{}, {}",
            percent(set.mean_tolerance),
            percent(set.worst_tolerance)
        );
        let head = format!(
            "{:<26} {rows:>4} {:>8} {:>8} {:>8}",
            set.name,
            percent(*mean),
            percent(*median),
            signed(*worst)
        );
        lines.push(format!(
            "{head} {tolerance:>22}  {verdict}, worst {worst_id}"
        ));
    }
    lines.push(String::new());
    lines.push("each source predicted with constants fitted without it:".into());
    for set in &report.sets {
        let Some(unseen) = &set.left_out else {
            continue;
        };
        let fallback = if set.fallback.is_empty() {
            "others cover its constants".into()
        } else {
            set.fallback.clone()
        };
        lines.push(format!(
            "{:<26} {:>4} {:>8} {:>8} {:>8}  {}",
            set.name,
            unseen.rows,
            percent(unseen.mean),
            percent(unseen.median),
            signed(unseen.worst),
            if set.name.starts_with("all") {
                String::new()
            } else {
                fallback
            }
        ));
    }
    lines.push(String::new());
    lines.push("throughput per GPU lost from TP4 to TP8 on B200:".into());
    for loss in &report.degree_losses {
        lines.push(format!(
            "{:<26} published {:>7} predicted {:>7} tolerance {} points  {}",
            loss.name,
            percent(loss.measured),
            percent(loss.predicted),
            100.0 * loss.tolerance,
            if loss.pass { "pass" } else { "PAST TOLERANCE" }
        ));
    }
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_every_set_its_tolerance_and_the_fallbacks() {
        let report = report(true);
        let text = text(&report, true);
        for word in [
            "korthikanti-22B-full",
            "3.0 %, 25.0 %",
            "never fitted",
            "mean of the others",
            "TP4 to TP8",
            "pass",
        ] {
            assert!(text.contains(word), "{word}");
        }
        assert!(!text.contains("PAST"));
        assert!(text.lines().count() > 115);
    }
}
