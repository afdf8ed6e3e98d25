//! `parity`: Megatron Core's common reduced degree.

use super::{CliError, print_json};
use crate::core::hardware::FieldError;
use crate::core::shards::{ParitySlot, config_text, parse_failed, spares_with_parity};
use serde::Serialize;
use std::collections::BTreeMap;

/// The degree that all reduced replicas share, and the healthy ranks idled to reach it.
#[derive(clap::Args)]
#[command(after_help = "Example: ntp-explorer parity --tp-base 8 --failed '0:2,5;1:1'")]
pub struct Args {
    /// TP degree of a healthy replica.
    #[arg(long, allow_negative_numbers = true)]
    tp_base: u32,
    /// Failed local ranks by replica: REPLICA:RANK[,RANK..][;REPLICA:RANK..].
    #[arg(long, allow_hyphen_values = true)]
    failed: String,
}

#[derive(Serialize)]
struct Output {
    tp_spares: u32,
    non_active: BTreeMap<u32, Vec<u32>>,
    config: String,
}

/// Prints the plan.
pub fn run(args: Args) -> Result<(), CliError> {
    if !(1..=1024).contains(&args.tp_base) {
        return Err(FieldError::new("tp-base", args.tp_base, "1 to 1024").into());
    }
    let plan = spares_with_parity(args.tp_base, &parse_failed(&args.failed)?)?;
    let slots: Vec<ParitySlot> = plan
        .non_active
        .iter()
        .map(|(&dp, ranks)| ParitySlot {
            dp,
            cp: 0,
            pp: 0,
            non_active: ranks.clone(),
        })
        .collect();
    let config = config_text(args.tp_base, plan.tp_spares, &slots);
    print_json(&Output {
        tp_spares: plan.tp_spares,
        non_active: plan.non_active,
        config,
    })
}
