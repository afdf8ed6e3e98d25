//! `presets`: what scenarios may name.

use super::{CliError, print_json};
use crate::core::hardware::{System, systems};
use crate::core::scenario::{Scenario, presets};
use crate::core::workload::{Model, models};
use serde::Serialize;

/// Systems, models and scenarios to name or to start from.
#[derive(clap::Args)]
#[command(after_help = "Example: ntp-explorer presets --full")]
pub struct Args {
    /// Every field; each system and model may stand in a scenario as printed.
    #[arg(long)]
    full: bool,
}

#[derive(Serialize)]
struct Full<'a> {
    systems: &'a [System],
    models: &'a [Model],
    scenarios: Vec<FullScenario<'a>>,
}

#[derive(Serialize)]
struct FullScenario<'a> {
    id: &'a str,
    name: &'a str,
    scenario: &'a Scenario,
}

#[derive(Serialize)]
struct Short<'a> {
    systems: Vec<ShortSystem<'a>>,
    models: Vec<ShortModel<'a>>,
    scenarios: Vec<ShortScenario<'a>>,
}

#[derive(Serialize)]
struct ShortSystem<'a> {
    id: &'a str,
    name: &'a str,
    domain_size_gpus: u32,
}

#[derive(Serialize)]
struct ShortModel<'a> {
    id: &'a str,
    name: &'a str,
    parameters: f64,
}

#[derive(Serialize)]
struct ShortScenario<'a> {
    id: &'a str,
    name: &'a str,
}

/// Prints the presets.
pub fn run(args: Args) -> Result<(), CliError> {
    let scenarios = presets().iter();
    if args.full {
        return print_json(&Full {
            systems: systems(),
            models: models(),
            scenarios: scenarios
                .map(|p| FullScenario {
                    id: &p.id,
                    name: &p.name,
                    scenario: &p.scenario,
                })
                .collect(),
        });
    }
    print_json(&Short {
        systems: systems()
            .iter()
            .map(|system| ShortSystem {
                id: &system.id,
                name: &system.name,
                domain_size_gpus: system.domain_size,
            })
            .collect(),
        models: models()
            .iter()
            .map(|model| ShortModel {
                id: &model.id,
                name: &model.name,
                parameters: model.parameters(),
            })
            .collect(),
        scenarios: scenarios
            .map(|p| ShortScenario {
                id: &p.id,
                name: &p.name,
            })
            .collect(),
    })
}
