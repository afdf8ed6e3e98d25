//! `nep`: expert placement of replicas with different expert-parallel sizes.

use super::{CliError, print_json};
use crate::core::experts::{ExpertPlan, Gather};
use serde::Serialize;
use std::collections::BTreeMap;

/// Which rank holds which expert, and where followers send their gradients: [local index, owner rank, owner slot].
///
/// Sizes that do not divide the experts are an extension of Megatron Core's rule, marked as such.
#[derive(clap::Args)]
#[command(after_help = "Example: ntp-explorer nep --experts 96 --ep 16 --min-ep 12")]
pub struct Args {
    /// Experts of a layer.
    #[arg(long, allow_negative_numbers = true)]
    experts: u32,
    /// Expert-parallel size of the replica.
    #[arg(long, allow_negative_numbers = true)]
    ep: u32,
    /// Smallest expert-parallel size in the job.
    #[arg(long, allow_negative_numbers = true)]
    min_ep: u32,
}

#[derive(Serialize)]
struct Output<'a> {
    placement: &'a [Vec<u32>],
    gather: &'a BTreeMap<u32, Vec<Gather>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    extension: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Prints the placement.
pub fn run(args: Args) -> Result<(), CliError> {
    let plan = ExpertPlan::new(args.experts, args.ep, args.min_ep)?;
    print_json(&Output {
        placement: &plan.placement,
        gather: &plan.gather,
        extension: plan.extension,
        reason: plan.reason(args.experts, args.ep, args.min_ep),
    })
}
