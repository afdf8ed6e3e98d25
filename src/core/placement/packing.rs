//! Packing: which physical slots make up which replica once the damaged ones are gathered in as few replicas as possible.

use super::Placement;
use crate::core::order;

/// The slots of every replica, in stage order. `affected` are the damaged slots, worst first, without repeats; they fill
/// replicas 0, 1, ... in that order. Healthy slots stay with their neighbours where they can: the last damaged replica
/// is completed from the homes of its damaged slots, untouched replicas keep their slots, the rest close ranks. Whole slots that a
/// `slow` GPU holds up complete none where another one can.
pub fn pack(placement: &Placement, affected: &[u32], slow: &[u32]) -> Vec<Vec<u32>> {
    let group = placement.groups_per_replica.max(1);
    let home = |slot: u32| slot / group;
    let slots = placement.slots();
    let affected: Vec<u32> = affected
        .iter()
        .copied()
        .filter(|&slot| slot < slots)
        .collect();
    let mut replicas: Vec<Vec<u32>> = affected
        .chunks(group as usize)
        .map(<[u32]>::to_vec)
        .collect();
    let mut taken = vec![false; slots as usize];
    for &slot in &affected {
        mark(&mut taken, slot);
    }

    // Healthy slots of broken replicas, those of the last damaged replica's homes first.
    let mut homes: Vec<u32> = replicas
        .last()
        .into_iter()
        .flatten()
        .map(|&slot| home(slot))
        .collect();
    homes.extend(affected.iter().map(|&slot| home(slot)));
    let mut broken = vec![false; placement.replicas as usize];
    homes.retain(|&replica| mark(&mut broken, replica));
    let range = |replica: u32| replica * group..(replica + 1) * group;
    let missing = replicas
        .last()
        .map_or(0, |last| (group as usize).saturating_sub(last.len()));
    let mut held_up = taken.clone();
    for &slot in slow {
        mark(&mut held_up, slot);
    }
    let own = homes.iter().flat_map(|&replica| range(replica));
    let mut fillers: Vec<u32> = own
        .filter(|&slot| !marked(&held_up, slot))
        .take(missing)
        .collect();
    // A slow GPU holds up a whole replica less than a damaged one, so groups of whole replicas come before groups with one.
    let others = (0..placement.replicas).filter(|&replica| !marked(&broken, replica));
    let others: Vec<u32> = others
        .flat_map(range)
        .filter(|&slot| !marked(&held_up, slot))
        .take(missing - fillers.len())
        .collect();
    for &slot in &others {
        if mark(&mut broken, home(slot)) {
            homes.push(home(slot));
        }
    }
    fillers.extend(others);
    for &slot in &fillers {
        mark(&mut taken, slot);
    }
    let own = homes.iter().flat_map(|&replica| range(replica));
    let mut loose: Vec<u32> = own.filter(|&slot| !marked(&taken, slot)).collect();
    // Where there is no other.
    let rest = missing - fillers.len();
    fillers.extend(loose.drain(..rest.min(loose.len())));
    if let Some(last) = replicas.last_mut() {
        last.extend(fillers);
    }
    order::sort(&mut loose);

    for replica in &mut replicas {
        in_stage_order(replica, group);
    }
    // Whole replicas stay, the healthy rest of broken ones is regrouped in order; both keep the order of their first slot.
    let mut regrouped = loose.chunks(group as usize).peekable();
    let in_order = |chunk: &[u32]| {
        let mut slots = chunk.to_vec();
        in_stage_order(&mut slots, group);
        slots
    };
    for replica in (0..placement.replicas).filter(|&replica| !marked(&broken, replica)) {
        let whole = replica * group..(replica + 1) * group;
        while let Some(chunk) =
            regrouped.next_if(|chunk| chunk.first().is_some_and(|slot| *slot < whole.start))
        {
            replicas.push(in_order(chunk));
        }
        replicas.push(whole.collect());
    }
    replicas.extend(regrouped.map(in_order));
    replicas
}

/// Marks a number; whether it was not marked before.
fn mark(marks: &mut [bool], number: u32) -> bool {
    marks
        .get_mut(number as usize)
        .is_some_and(|mark| !std::mem::replace(mark, true))
}

fn marked(marks: &[bool], number: u32) -> bool {
    marks.get(number as usize).copied().unwrap_or(false)
}

/// Slots take their own stage where it is free, the rest fill the gaps in order.
fn in_stage_order(slots: &mut Vec<u32>, group: u32) {
    let mut placed: Vec<Option<u32>> = vec![None; slots.len()];
    let mut rest = Vec::new();
    for &slot in slots.iter() {
        match placed.get_mut((slot % group) as usize) {
            Some(place @ None) => *place = Some(slot),
            _ => rest.push(slot),
        }
    }
    let mut rest = rest.into_iter();
    *slots = placed
        .into_iter()
        .filter_map(|place| place.or_else(|| rest.next()))
        .collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn placement(groups_per_replica: u32, replicas: u32) -> Placement {
        Placement {
            domain_size: 8,
            tp: 8,
            slots_per_domain: 1,
            left_over: 0,
            groups_per_replica,
            replicas,
            domains: groups_per_replica * replicas,
            spare_domains: 0,
        }
    }

    #[test]
    fn one_damaged_domain_takes_its_own_replica_along() {
        let packed = pack(&placement(2, 4), &[5], &[]);
        assert_eq!(packed, [[4, 5], [0, 1], [2, 3], [6, 7]]);
    }

    #[test]
    fn two_damaged_replicas_become_one() {
        // Domains 1 and 6: both fit one replica; their healthy neighbours 0 and 7 close ranks.
        assert_eq!(
            pack(&placement(2, 4), &[6, 1], &[]),
            [[6, 1], [0, 7], [2, 3], [4, 5]]
        );
    }

    #[test]
    fn slow_groups_complete_a_damaged_replica_last() {
        let packed = |slow: &[u32]| pack(&placement(2, 3), &[5], slow);
        assert_eq!(packed(&[4]), [[0, 5], [4, 1], [2, 3]]);
        assert_eq!(packed(&[0, 1, 2, 3, 4]), [[4, 5], [0, 1], [2, 3]]);
    }

    #[test]
    fn no_damage_no_change() {
        assert_eq!(pack(&placement(3, 2), &[], &[]), [[0, 1, 2], [3, 4, 5]]);
    }

    proptest! {
        #[test]
        fn every_slot_is_placed_once(group in 1u32..6, replicas in 1u32..8, seed in proptest::collection::vec(0u32..48, 0..20), slow in proptest::collection::vec(0u32..48, 0..20)) {
            let placement = placement(group, replicas);
            let mut seen = std::collections::BTreeSet::new();
            let affected: Vec<u32> = seed.into_iter().filter(|&s| s < placement.slots() && seen.insert(s)).collect();
            let packed = pack(&placement, &affected, &slow);
            prop_assert_eq!(packed.len() as u32, replicas);
            prop_assert!(packed.iter().all(|replica| replica.len() as u32 == group));
            let mut all: Vec<u32> = packed.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..placement.slots()).collect::<Vec<_>>());
            let damaged = affected.len().div_ceil(group as usize);
            for (index, replica) in packed.iter().enumerate() {
                prop_assert_eq!(replica.iter().any(|slot| affected.contains(slot)), index < damaged);
            }
            let held_up = |slot: &&u32| slow.contains(slot) && !affected.contains(slot);
            let whole = (0..placement.slots()).filter(|slot| !affected.contains(slot) && !slow.contains(slot)).count();
            let missing = damaged * group as usize - affected.len();
            let used: usize = packed.iter().take(damaged).map(|replica| replica.iter().filter(held_up).count()).sum();
            prop_assert_eq!(used, missing.saturating_sub(whole));
        }
    }
}
