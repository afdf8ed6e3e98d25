//! The map itself: Megatron's rule where it can be followed, our own balanced one where it cannot.

use crate::core::hardware::FieldError;

/// Most shards or ranks a map is built for; above it the matrices alone would fill memory.
const MAX_SHARDS: u32 = 4_000_000;
const MAX_RANKS: u32 = 1024;

/// Largest rank's shards over the even share: 1 when the degree divides the count.
pub fn imbalance(shards: u32, degree: u32) -> f64 {
    if shards == 0 || degree == 0 {
        return 1.0;
    }
    f64::from(shards.div_ceil(degree)) * f64::from(degree) / f64::from(shards)
}

/// Where every shard sits at both degrees.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardMap {
    /// Degree n1 of a healthy replica.
    pub tp_base: u32,
    /// Degree n2 of a reduced replica.
    pub tp_reduced: u32,
    /// Why Megatron's rule cannot make this map; then the map is the balanced one.
    pub reason: Option<String>,
    /// Shards of each rank of a healthy replica, n1 lists; those of extra ranks in the order they were taken.
    pub healthy: Vec<Vec<u32>>,
    /// Shards of each rank of a reduced replica, n2 contiguous lists.
    pub reduced: Vec<Vec<u32>>,
    /// `sends[i][j]`: shards that rank i of a healthy replica sends to rank j in pre-sync, n1 x n1.
    pub sends: Vec<Vec<u32>>,
}

/// A contiguous split at both degrees, for comparison: what every rank would exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NaiveResplit {
    /// Pairs of unlike ranks (of a healthy and a reduced replica) that hold common shards: each a message per DP sync.
    pub messages: u32,
    /// Shards in the smallest of them.
    pub smallest_shards: u32,
    /// Mean shards per message.
    pub mean_shards: f64,
}

impl ShardMap {
    /// Maps `shards` from degree `tp_base` to `tp_base - tp_spares`.
    pub fn new(tp_base: u32, tp_spares: u32, shards: u32) -> Result<Self, FieldError> {
        if !(1..=MAX_RANKS).contains(&tp_base) {
            return Err(FieldError::new(
                "tp-base",
                tp_base,
                format!("1 to {MAX_RANKS}"),
            ));
        }
        if tp_spares >= tp_base {
            return Err(FieldError::new(
                "tp-spares",
                tp_spares,
                format!("0 to {} (less than tp-base)", tp_base - 1),
            ));
        }
        if !(1..=MAX_SHARDS).contains(&shards) {
            return Err(FieldError::new(
                "shards",
                shards,
                format!("1 to {MAX_SHARDS}"),
            ));
        }
        let tp_reduced = tp_base - tp_spares;
        let (healthy, reduced, reason) = match megatron(tp_base, tp_reduced, shards) {
            Ok((healthy, reduced)) => (healthy, reduced, None),
            Err(reason) => {
                let (healthy, reduced) = balanced(tp_base, tp_reduced, shards);
                (healthy, reduced, Some(reason))
            }
        };
        let sends = sends(&healthy, &reduced);
        Ok(Self {
            tp_base,
            tp_reduced,
            reason,
            healthy,
            reduced,
            sends,
        })
    }

    /// Whether Megatron's rule makes this map.
    pub fn megatron_compatible(&self) -> bool {
        self.reason.is_none()
    }
    /// Messages inside one healthy replica's domain in pre-sync; post-sync has as many the other way.
    pub fn messages(&self) -> u32 {
        self.sends
            .iter()
            .flatten()
            .filter(|count| **count > 0)
            .count() as u32
    }
    /// Shards sent by all extra ranks together.
    pub fn moved(&self) -> u32 {
        self.sends.iter().flatten().sum()
    }
    /// Most shards any rank holds in a healthy replica.
    pub fn healthy_worst(&self) -> u32 {
        worst(&self.healthy)
    }
    /// Most shards any rank holds in a reduced replica.
    pub fn reduced_worst(&self) -> u32 {
        worst(&self.reduced)
    }
    /// Shards of all ranks.
    pub fn shards(&self) -> u32 {
        self.reduced.iter().map(|part| part.len() as u32).sum()
    }
    /// Worst rank of a reduced replica over the even share.
    pub fn imbalance(&self) -> f64 {
        f64::from(self.reduced_worst()) * f64::from(self.tp_reduced)
            / f64::from(self.shards().max(1))
    }
    /// The same shards split contiguously and evenly at both degrees, independently.
    pub fn naive(&self) -> NaiveResplit {
        let (a, b) = (
            even_bounds(self.shards(), self.tp_base),
            even_bounds(self.shards(), self.tp_reduced),
        );
        let (mut messages, mut smallest, mut total) = (0, u32::MAX, 0_u64);
        for (i, (from, to)) in a.iter().enumerate() {
            for (j, (low, high)) in b.iter().enumerate() {
                let common = (*to.min(high)).saturating_sub(*from.max(low));
                if common > 0 && i != j {
                    messages += 1;
                    smallest = smallest.min(common);
                    total += u64::from(common);
                }
            }
        }
        let mean_shards = if messages == 0 {
            0.0
        } else {
            total as f64 / f64::from(messages)
        };
        NaiveResplit {
            messages,
            smallest_shards: if messages == 0 { 0 } else { smallest },
            mean_shards,
        }
    }
}

fn worst(parts: &[Vec<u32>]) -> u32 {
    parts
        .iter()
        .map(|part| part.len() as u32)
        .max()
        .unwrap_or(0)
}

/// Bounds of `count` contiguous parts of `shards`, sizes differing by at most one, larger ones first.
fn even_bounds(shards: u32, count: u32) -> Vec<(u32, u32)> {
    let (base, extra) = (shards / count.max(1), shards % count.max(1));
    let mut start = 0;
    (0..count)
        .map(|part| {
            let end = start + base + u32::from(part < extra);
            (std::mem::replace(&mut start, end), end)
        })
        .collect()
}

type Parts = Vec<Vec<u32>>;

/// Megatron's rule: ceil-sized contiguous parts, extra ranks filled from the ends of the parts in round-robin order.
fn megatron(n1: u32, n2: u32, shards: u32) -> Result<(Parts, Parts), String> {
    let size = shards.div_ceil(n2);
    let parts = shards.div_ceil(size);
    if parts < n2 {
        return Err(format!(
            "parts of ceil({shards}/{n2}) = {size} shards make only {parts} of {n2} parts"
        ));
    }
    let reduced: Parts = (0..n2)
        .map(|part| (part * size..((part + 1) * size).min(shards)).collect())
        .collect();
    let mut healthy = reduced.clone();
    let share = shards / n1;
    let mut next = 0_usize;
    for extra in n2..n1 {
        let mut taken = Vec::with_capacity(share as usize);
        for _ in 0..share {
            let Some(shard) = healthy.get_mut(next).and_then(Vec::pop) else {
                return Err(format!(
                    "part {next} is empty before extra rank {extra} holds its {share} shards"
                ));
            };
            taken.push(shard);
            next = (next + 1) % n2 as usize;
        }
        healthy.push(taken);
    }
    Ok((healthy, reduced))
}

/// Ours: floor/ceil sizes at both degrees, contiguous parts, extra ranks filled round-robin from the ends of parts.
fn balanced(n1: u32, n2: u32, shards: u32) -> (Parts, Parts) {
    let reduced: Parts = even_bounds(shards, n2)
        .into_iter()
        .map(|(from, to)| (from..to).collect())
        .collect();
    let (base, mut larger) = (shards / n1, shards % n1);
    let mut healthy = reduced.clone();
    // The larger healthy shares go to the core ranks that have them at home, then to extra ranks.
    let keep: Vec<usize> = reduced
        .iter()
        .map(|part| {
            let plus = u32::from(larger > 0 && part.len() as u32 > base);
            larger -= plus;
            (base + plus) as usize
        })
        .collect();
    let mut next = 0_usize;
    for _ in n2..n1 {
        let plus = u32::from(larger > 0);
        larger -= plus;
        let share = (base + plus) as usize;
        let mut taken = Vec::with_capacity(share);
        let mut idle = 0;
        while taken.len() < share && idle < n2 as usize {
            match (healthy.get_mut(next), keep.get(next)) {
                (Some(part), Some(keep)) if part.len() > *keep => {
                    taken.extend(part.pop());
                    idle = 0;
                }
                _ => idle += 1,
            }
            next = (next + 1) % n2 as usize;
        }
        healthy.push(taken);
    }
    (healthy, reduced)
}

/// Counts what each extra rank must send to the core rank whose part the shard belongs to.
fn sends(healthy: &Parts, reduced: &Parts) -> Vec<Vec<u32>> {
    let n1 = healthy.len();
    let mut owner = vec![0_usize; reduced.iter().map(Vec::len).sum()];
    for (rank, part) in reduced.iter().enumerate() {
        for shard in part {
            if let Some(slot) = owner.get_mut(*shard as usize) {
                *slot = rank;
            }
        }
    }
    let mut sends = vec![vec![0; n1]; n1];
    for (rank, (part, row)) in healthy.iter().zip(&mut sends).enumerate() {
        for shard in part {
            let home = owner.get(*shard as usize).copied().unwrap_or(rank);
            if home != rank
                && let Some(count) = row.get_mut(home)
            {
                *count += 1;
            }
        }
    }
    sends
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn map(base: u32, spares: u32, shards: u32) -> ShardMap {
        ShardMap::new(base, spares, shards).unwrap()
    }

    #[test]
    fn eight_to_seven_by_hand() {
        // 128 heads: parts of 19, last 14; the extra rank takes 16 in turn: three from parts 0 and 1, two from the rest.
        let m = map(8, 1, 128);
        assert!(m.megatron_compatible());
        assert_eq!(m.sends[7], [3, 3, 2, 2, 2, 2, 2, 0]);
        assert_eq!(m.reduced_worst(), 19);
        assert!((m.imbalance() - 1.0390625).abs() < 1e-12);
        assert!(m.healthy[7].contains(&18) && m.healthy[7].contains(&17));
    }

    #[test]
    fn round_robin_continues_from_one_extra_rank_to_the_next() {
        let m = map(32, 2, 12000);
        assert!(
            m.sends[30][..15].iter().all(|n| *n == 13)
                && m.sends[30][15..30].iter().all(|n| *n == 12)
        );
        assert!(
            m.sends[31][..15].iter().all(|n| *n == 12)
                && m.sends[31][15..30].iter().all(|n| *n == 13)
        );
        assert_eq!((m.messages(), m.moved()), (60, 750));
    }

    #[test]
    fn seventy_two_to_seventy_has_no_megatron_map_for_128_heads() {
        let m = map(72, 2, 128);
        assert!(m.reason.as_deref().unwrap().contains("64 of 70 parts"));
        assert_eq!((m.healthy_worst(), m.reduced_worst()), (2, 2));
        assert!((m.imbalance() - 2.0 / (128.0 / 70.0)).abs() < 1e-12);
    }

    #[test]
    fn naive_resplit_sends_small_pieces() {
        let naive = map(32, 2, 12000).naive();
        // Borders every 375 and every 400 columns make 32 + 30 - gcd = 60 overlapping pairs; ranks 0 to 14 meet themselves.
        assert_eq!((naive.messages, naive.smallest_shards), (45, 25));
    }

    #[test]
    fn published_vectors_when_they_are_at_hand() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/vectors.json");
        let Ok(text) = std::fs::read_to_string(path) else {
            println!("notice: no shared vectors beside the repository; skipped");
            return;
        };
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        for case in all["ntp_map"].as_array().unwrap() {
            let field = |name: &str| case[name].as_u64().unwrap() as u32;
            let m = map(field("tp_base"), field("tp_spares"), field("num_shards"));
            assert_eq!(
                m.megatron_compatible(),
                case.get("error").is_none(),
                "{case}"
            );
            if let Some(rows) = case["send_splits"].as_array() {
                for (ours, theirs) in m.sends.iter().zip(rows) {
                    let ours: Vec<u64> = ours
                        .iter()
                        .map(|n| u64::from(n * field("units_per_shard")))
                        .collect();
                    let theirs: Vec<u64> = theirs
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|n| n.as_u64().unwrap())
                        .collect();
                    assert_eq!(ours, theirs);
                }
            }
        }
    }

    #[test]
    fn bad_input_names_the_field() {
        for (base, spares, shards, word) in [
            (8, 8, 24, "spares"),
            (0, 0, 24, "tp-base"),
            (8, 1, 0, "shards"),
        ] {
            assert!(
                ShardMap::new(base, spares, shards)
                    .unwrap_err()
                    .to_string()
                    .contains(word)
            );
        }
    }

    proptest! {
        #[test]
        fn every_shard_exactly_once_and_balanced(base in 1_u32..130, spares in 0_u32..130, shards in 1_u32..3000) {
            let spares = spares % base;
            let m = map(base, spares, shards);
            for parts in [&m.healthy, &m.reduced] {
                let mut all: Vec<u32> = parts.iter().flatten().copied().collect();
                all.sort_unstable();
                prop_assert_eq!(all, (0..shards).collect::<Vec<_>>());
            }
            prop_assert_eq!(m.healthy.len() as u32, base);
            prop_assert_eq!(m.reduced.len() as u32, base - spares);
            if !m.megatron_compatible() {
                for parts in [&m.healthy, &m.reduced] {
                    let least = parts.iter().map(Vec::len).min().unwrap() as u32;
                    prop_assert!(worst(parts) - least <= 1);
                }
            }
            // Core ranks never send; what extra ranks hold is what they send.
            for (rank, row) in m.sends.iter().enumerate() {
                let sent: u32 = row.iter().sum();
                let expected = if rank as u32 >= m.tp_reduced { m.healthy[rank].len() as u32 } else { 0 };
                prop_assert_eq!(sent, expected);
            }
        }
    }
}
