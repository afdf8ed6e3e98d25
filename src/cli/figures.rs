//! `figures`: the paper's figures as files, and a table of its values and ours.

use super::{CliError, print_json, print_text};
use crate::core::figures::{Compared, Effort, Entry, Figure, Table, all, entries};
use crate::core::hardware::FieldError;
use crate::core::scenario::url;
use crate::scene::plot::{Chart, Ink, svg};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// The paper's figures: a table of paper value, ours and difference; with --out also CSV, SVG and scenario files.
///
/// A figure that does not come out is shown with its own value next to the paper's.
#[derive(clap::Args)]
#[command(after_help = "Example: ntp-explorer figures --fig 2a --out figures")]
pub struct Args {
    /// One figure: 2a, 3, 4, 6, 7, 8, 10, power, table1, validation; without, all of them. What NVL72 and NVL8 make of
    /// 4 and 7 comes with them.
    #[arg(long)]
    fig: Option<String>,
    /// Folder for the files, made where it is missing.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Draws or runs per point, for figures that draw random numbers.
    #[arg(long, default_value_t = Effort::default().runs, allow_negative_numbers = true)]
    runs: u32,
    /// Seed of the first draw.
    #[arg(long, default_value_t = Effort::default().seed, allow_negative_numbers = true)]
    seed: u64,
    /// JSON with every point instead of tables.
    #[arg(long)]
    json: bool,
}

/// Width and height of the plot in an SVG file, px.
const SVG_SIZE: (u32, u32) = (720, 440);
/// Most draws per point.
const MAX_RUNS: u32 = 100_000;

/// Computes, writes and prints.
pub fn run(args: Args) -> Result<(), CliError> {
    let chosen: Vec<&Entry> = match &args.fig {
        Some(id) => entries(id).collect(),
        None => all().iter().collect(),
    };
    if let (true, Some(id)) = (chosen.is_empty(), &args.fig) {
        let ids: Vec<&str> = all().iter().map(|entry| entry.id).collect();
        return Err(FieldError::new("fig", id, ids.join(", ")).into());
    }
    if !(1..=MAX_RUNS).contains(&args.runs) {
        return Err(FieldError::new("runs", args.runs, format!("1 to {MAX_RUNS}")).into());
    }
    let effort = Effort {
        runs: args.runs,
        seed: args.seed,
    };
    let terminal = std::io::stderr().is_terminal();
    let figures: Vec<Figure> = chosen
        .into_iter()
        .map(|entry| {
            if terminal {
                let _ = writeln!(std::io::stderr(), "figure {}: {}", entry.id, entry.title);
            }
            entry.build(&effort)
        })
        .collect();
    if let Some(folder) = &args.out {
        write_files(folder, &figures)?;
    }
    if args.json {
        return print_json(&figures);
    }
    let mut text = String::new();
    for figure in &figures {
        text.push_str(&about(figure));
    }
    print_text(&text)
}

fn write_files(folder: &Path, figures: &[Figure]) -> Result<(), CliError> {
    let input = |what: &Path, error: std::io::Error| {
        CliError::Input(format!(
            "out: {} cannot be written, {error}",
            what.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| input(folder, error))?;
    let write = |name: String, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| input(&path, error))
    };
    for figure in figures {
        let name = format!("figure-{}", figure.id);
        write(format!("{name}.csv"), figure.csv())?;
        write(
            format!("{name}.svg"),
            svg(&Chart::from(figure), &Ink::LIGHT, SVG_SIZE.0, SVG_SIZE.1),
        )?;
        if let Some(table) = &figure.table {
            write(format!("{name}-table.csv"), csv(table)?)?;
        }
        if let Some(scenario) = &figure.scenario {
            write(format!("{name}-scenario.json"), scenario.to_json())?;
        }
    }
    write("compared.csv".into(), csv(&compared(figures))?)
}

fn csv(table: &Table) -> Result<String, CliError> {
    let failed = |error: String| CliError::Failed(format!("output: {error}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer
        .write_record(&table.columns)
        .map_err(|error| failed(error.to_string()))?;
    for row in &table.rows {
        writer
            .write_record(row)
            .map_err(|error| failed(error.to_string()))?;
    }
    let bytes = writer
        .into_inner()
        .map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| failed(error.to_string()))
}

/// Every compared value of every figure.
fn compared(figures: &[Figure]) -> Table {
    let columns = ["figure", "what", "unit", "paper", "ours", "difference"];
    let rows = figures
        .iter()
        .flat_map(|figure| figure.compared.iter().map(move |c| cells(&figure.id, c)));
    Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn cells(id: &str, c: &Compared) -> Vec<String> {
    let number = |value: f64| format!("{value:.3}");
    vec![
        id.to_owned(),
        c.what.clone(),
        c.unit.to_string(),
        c.paper_words.clone(),
        c.ours.map_or_else(|| "none".into(), number),
        c.difference()
            .map_or_else(|| "-".into(), |d| format!("{d:+.3}")),
    ]
}

/// A figure as text: title, settings, its values against the paper's, its table.
fn about(figure: &Figure) -> String {
    let mut lines = vec![format!("Figure {}: {}", figure.id, figure.title)];
    lines.extend(
        figure
            .settings
            .iter()
            .map(|(name, value)| format!("  {name}: {value}")),
    );
    if let Some(scenario) = &figure.scenario {
        let page = if scenario.faults.is_some() {
            "fleet"
        } else {
            "rack"
        };
        let link = url::encode(page, scenario, &[]);
        lines.push(format!("  scenario, to open on the page: {link}"));
    }
    lines.push(String::new());
    lines.extend(columns(&compared(std::slice::from_ref(figure)), 1));
    if let Some(table) = &figure.table {
        lines.push(String::new());
        lines.extend(columns(table, 0));
    }
    lines.push("\n".into());
    lines.join("\n")
}

/// A table in aligned columns, from column `from` on.
fn columns(table: &Table, from: usize) -> Vec<String> {
    let rows: Vec<&[String]> = std::iter::once(&table.columns)
        .chain(&table.rows)
        .map(|row| row.get(from..).unwrap_or_default())
        .collect();
    let widths: Vec<usize> = (0..table.columns.len().saturating_sub(from))
        .map(|at| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    rows.iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:<width$}"))
                .collect();
            format!("  {}", cells.join("  ").trim_end())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::figures::entry;
    use crate::core::scenario::Scenario;

    #[test]
    fn the_table_puts_the_papers_value_beside_ours() {
        let figure = entry("power").unwrap().build(&Effort::default());
        let text = about(&figure);
        assert!(text.contains("perf/W at 1.1 x TDP"), "{text}");
        let line = text
            .lines()
            .find(|line| line.contains("perf/W at 1.2"))
            .unwrap();
        assert!(line.contains("-6.5") && line.contains("-6.500"), "{line}");
        assert!(text.contains("energy per token"));
    }

    #[test]
    fn files_hold_every_point() {
        let folder =
            std::env::temp_dir().join(format!("ntp-explorer-figures-{}", std::process::id()));
        let figure = entry("power").unwrap().build(&Effort::default());
        write_files(&folder, std::slice::from_ref(&figure)).unwrap();
        let points: usize = figure.series.iter().map(|series| series.points.len()).sum();
        let text = std::fs::read_to_string(folder.join("figure-power.csv")).unwrap();
        assert_eq!(text.lines().count(), points + 1);
        let drawing = std::fs::read_to_string(folder.join("figure-power.svg")).unwrap();
        assert!(drawing.starts_with("<svg") && drawing.contains("Performance per watt"));
        assert!(
            std::fs::read_to_string(folder.join("compared.csv"))
                .unwrap()
                .starts_with("figure,what,unit,paper,ours,difference")
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn figures_on_failures_hand_out_their_scenario() {
        let folder =
            std::env::temp_dir().join(format!("ntp-explorer-scenarios-{}", std::process::id()));
        let effort = Effort { runs: 1, seed: 1 };
        for id in ["3", "4", "6", "7", "10"] {
            for figure in entries(id).map(|entry| entry.build(&effort)) {
                write_files(&folder, std::slice::from_ref(&figure)).unwrap();
                let path = folder.join(format!("figure-{}-scenario.json", figure.id));
                let text = std::fs::read_to_string(path).unwrap();
                let scenario = Scenario::from_json(&text).unwrap();
                assert_eq!(Some(&scenario), figure.scenario.as_ref());
                let said = about(&figure);
                let link = said.split_whitespace().find(|word| word.starts_with("#/"));
                assert_eq!(url::decode(link.unwrap()).unwrap().scenario, scenario);
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_unknown_figure_names_the_known_ones() {
        let args = Args {
            fig: Some("12".into()),
            out: None,
            runs: 1,
            seed: 1,
            json: false,
        };
        let error = run(args).unwrap_err().to_string();
        assert!(error.contains("fig: 12") && error.contains("2a"), "{error}");
    }
}
