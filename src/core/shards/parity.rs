//! Megatron Core's parity rule: all reduced replicas share one degree, and the configuration text for it.

use crate::core::hardware::FieldError;
use crate::core::order;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Non-active local TP ranks of one TP group, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParitySlot {
    /// DP replica.
    pub dp: u32,
    /// Context-parallel rank.
    pub cp: u32,
    /// Pipeline stage.
    pub pp: u32,
    /// Local TP ranks that do not compute, ascending.
    pub non_active: Vec<u32>,
}

/// What parity makes of the failures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParityPlan {
    /// Ranks every reduced replica gives up: the worst count.
    pub tp_spares: u32,
    /// Per replica with failures: failed ranks and those idled, ascending.
    pub non_active: BTreeMap<u32, Vec<u32>>,
}

/// The common reduced degree: the worst replica's count, reached elsewhere by idling the highest healthy local ranks.
pub fn spares_with_parity(
    tp_base: u32,
    failed: &BTreeMap<u32, Vec<u32>>,
) -> Result<ParityPlan, FieldError> {
    let tp_spares = failed
        .values()
        .map(|ranks| ranks.len() as u32)
        .max()
        .unwrap_or(0);
    if tp_spares > 0 && tp_spares >= tp_base {
        return Err(FieldError::new(
            "failed",
            format!("{tp_spares} ranks of one replica"),
            format!("fewer than tp-base {tp_base}"),
        ));
    }
    let mut non_active = BTreeMap::new();
    for (replica, ranks) in failed.iter().filter(|(_, ranks)| !ranks.is_empty()) {
        if let Some(rank) = ranks.iter().find(|rank| **rank >= tp_base) {
            return Err(FieldError::new(
                format!("failed, replica {replica}"),
                rank,
                format!("0 to {}", tp_base - 1),
            ));
        }
        let mut idle = ranks.clone();
        for rank in (0..tp_base).rev() {
            if idle.len() as u32 >= tp_spares {
                break;
            }
            if !ranks.contains(&rank) {
                idle.push(rank);
            }
        }
        order::sort(&mut idle);
        non_active.insert(*replica, idle);
    }
    Ok(ParityPlan {
        tp_spares,
        non_active,
    })
}

/// Reads `0:2,5;1:1`: replica, colon, its failed local ranks.
pub fn parse_failed(text: &str) -> Result<BTreeMap<u32, Vec<u32>>, FieldError> {
    const FORM: &str = "REPLICA:RANK[,RANK..][;REPLICA:RANK..], such as 0:2,5;1:1";
    let bad = |value: &str| FieldError::new("failed", format!("{value:?}"), FORM);
    let mut failed = BTreeMap::new();
    for part in text.split(';') {
        let (replica, ranks) = part.split_once(':').ok_or_else(|| bad(part))?;
        let replica: u32 = replica.trim().parse().map_err(|_| bad(part))?;
        let mut list = Vec::new();
        for rank in ranks.split(',') {
            let rank: u32 = rank.trim().parse().map_err(|_| bad(part))?;
            if list.contains(&rank) {
                return Err(FieldError::new(
                    format!("failed, replica {replica}"),
                    rank,
                    "each rank once",
                ));
            }
            list.push(rank);
        }
        order::sort(&mut list);
        if failed.insert(replica, list).is_some() {
            return Err(FieldError::new(
                "failed",
                format!("replica {replica} twice"),
                "each replica once",
            ));
        }
    }
    Ok(failed)
}

/// Text to paste into a Megatron script; keys of `non_active_ranks_per_dp` are (dp, cp, pp).
pub fn config_text(tp_base: u32, tp_spares: u32, slots: &[ParitySlot]) -> String {
    let mut replicas: Vec<u32> = slots.iter().map(|slot| slot.dp).collect();
    order::sort(&mut replicas);
    replicas.dedup();
    let mut text = format!(
        "NonuniformTPConfig(tp_base={tp_base}, tp_spares={tp_spares}, num_reduced_tp_dp_ranks={}, non_active_ranks_per_dp={{",
        replicas.len()
    );
    for (index, slot) in slots.iter().enumerate() {
        let ranks: Vec<String> = slot.non_active.iter().map(u32::to_string).collect();
        let comma = if index == 0 { "" } else { ", " };
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{comma}({}, {}, {}): [{}]",
            slot.dp,
            slot.cp,
            slot.pp,
            ranks.join(", ")
        );
    }
    text.push_str("})");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(tp_base: u32, text: &str) -> ParityPlan {
        spares_with_parity(tp_base, &parse_failed(text).unwrap()).unwrap()
    }

    #[test]
    fn the_worst_replica_sets_the_degree() {
        let p = plan(8, "0:2,5;1:1");
        assert_eq!(p.tp_spares, 2);
        assert_eq!(
            p.non_active,
            BTreeMap::from([(0, vec![2, 5]), (1, vec![1, 7])])
        );
        let p = plan(72, "3:0;5:7,71;9:1,2,3");
        assert_eq!(
            p.non_active,
            BTreeMap::from([
                (3, vec![0, 70, 71]),
                (5, vec![7, 70, 71]),
                (9, vec![1, 2, 3])
            ])
        );
    }

    #[test]
    fn nothing_failed_nothing_idle() {
        assert_eq!(
            spares_with_parity(8, &BTreeMap::new()).unwrap(),
            ParityPlan {
                tp_spares: 0,
                non_active: BTreeMap::new()
            }
        );
    }

    #[test]
    fn text_without_failures_is_an_error() {
        for text in [
            "0:", "", "0", "0:x", "a:1", "0:1;0:2", "0:1,1", "0:-1", "0:1;",
        ] {
            assert!(
                parse_failed(text)
                    .unwrap_err()
                    .to_string()
                    .starts_with("failed"),
                "{text}"
            );
        }
        let failed = parse_failed("0:9").unwrap();
        assert!(
            spares_with_parity(8, &failed)
                .unwrap_err()
                .to_string()
                .contains('9')
        );
        let all = parse_failed("0:0,1").unwrap();
        assert!(spares_with_parity(2, &all).is_err());
    }

    #[test]
    fn config_text_uses_dp_cp_pp_keys() {
        let slots = [
            ParitySlot {
                dp: 0,
                cp: 0,
                pp: 0,
                non_active: vec![2, 5],
            },
            ParitySlot {
                dp: 0,
                cp: 0,
                pp: 1,
                non_active: vec![6, 7],
            },
        ];
        assert_eq!(
            config_text(8, 2, &slots),
            "NonuniformTPConfig(tp_base=8, tp_spares=2, num_reduced_tp_dp_ranks=1, \
             non_active_ranks_per_dp={(0, 0, 0): [2, 5], (0, 0, 1): [6, 7]})"
        );
    }
}
