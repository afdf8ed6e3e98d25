//! `shard-map`: which rank holds which shard at two TP degrees.

use super::{CliError, print_json};
use crate::core::hardware::FieldError;
use crate::core::shards::ShardMap;
use serde::Serialize;

/// Where every shard sits in a healthy and in a reduced replica, and what moves between their ranks.
///
/// Splits count rows. Messages count per tensor: `ntp_messages` inside one healthy replica's domain, `naive_messages` between
/// unlike ranks when both replicas split contiguously. `imbalance` is the largest reduced rank over the even share.
#[derive(clap::Args)]
#[command(
    after_help = "Example: ntp-explorer shard-map --tp-base 8 --tp-spares 2 --shards 24 --rows-per-shard 16"
)]
pub struct Args {
    /// TP degree of a healthy replica.
    #[arg(long, allow_negative_numbers = true)]
    tp_base: u32,
    /// Ranks that a reduced replica is short of.
    #[arg(long, allow_negative_numbers = true)]
    tp_spares: u32,
    /// Shards in all: FFN columns, heads or vocabulary rows.
    #[arg(long, allow_negative_numbers = true)]
    shards: u32,
    /// Rows of a tensor per shard.
    #[arg(long, allow_negative_numbers = true)]
    rows_per_shard: u32,
}

#[derive(Serialize)]
struct Output<'a> {
    tp_base: u32,
    tp_reduced: u32,
    megatron_compatible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    partitions: &'a [Vec<u32>],
    sync_partitions: &'a [Vec<u32>],
    send_splits: Vec<Vec<u64>>,
    recv_splits: Vec<Vec<u64>>,
    naive_messages: u32,
    naive_mean_rows: f64,
    ntp_messages: u32,
    ntp_mean_rows: f64,
    imbalance: f64,
}

/// Prints the map.
pub fn run(args: Args) -> Result<(), CliError> {
    if args.rows_per_shard == 0 {
        return Err(FieldError::new("rows-per-shard", 0, "1 or more").into());
    }
    let rows = u64::from(args.rows_per_shard);
    let map = ShardMap::new(args.tp_base, args.tp_spares, args.shards)?;
    let send_splits: Vec<Vec<u64>> = map
        .sends
        .iter()
        .map(|row| row.iter().map(|&count| u64::from(count) * rows).collect())
        .collect();
    let column = |j: usize| {
        send_splits
            .iter()
            .map(|row| row.get(j).copied().unwrap_or(0))
            .collect()
    };
    let recv_splits = (0..send_splits.len()).map(column).collect();
    let naive = map.naive();
    let messages = map.messages();
    print_json(&Output {
        tp_base: map.tp_base,
        tp_reduced: map.tp_reduced,
        megatron_compatible: map.megatron_compatible(),
        reason: map.reason.as_deref(),
        partitions: &map.healthy,
        sync_partitions: &map.reduced,
        send_splits,
        recv_splits,
        naive_messages: naive.messages,
        naive_mean_rows: naive.mean_shards * rows as f64,
        ntp_messages: messages,
        ntp_mean_rows: f64::from(map.moved()) * rows as f64 / f64::from(messages.max(1)),
        imbalance: map.imbalance(),
    })
}
