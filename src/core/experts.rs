//! Nonuniform expert parallelism: replicas with different expert-parallel (EP) sizes.
//!
//! With the smallest EP size M in the job, owners are ranks 0..M-1 with E/M contiguous experts each. In a replica of size L
//! owner o keeps the first E/L of its range; the rest go round-robin, in order, to follower ranks M..L-1.

use super::hardware::FieldError;
use std::collections::BTreeMap;

const MAX_EXPERTS: u32 = 100_000;

/// Where one gathered gradient comes from: local index on the follower, owner rank, slot on the owner.
pub type Gather = (u32, u32, u32);

/// Experts of every rank of a replica and what followers send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpertPlan {
    /// Experts of each rank, L lists.
    pub placement: Vec<Vec<u32>>,
    /// Per follower rank: where each of its experts' gradients goes.
    pub gather: BTreeMap<u32, Vec<Gather>>,
    /// The count is not divisible: owners hold ceil(E/M), which Megatron Core does not support.
    pub extension: bool,
}

impl ExpertPlan {
    /// Places `experts` on a replica of EP size `ep` in a job whose smallest EP size is `min_ep`.
    pub fn new(experts: u32, ep: u32, min_ep: u32) -> Result<Self, FieldError> {
        if !(1..=MAX_EXPERTS).contains(&experts) {
            return Err(FieldError::new(
                "experts",
                experts,
                format!("1 to {MAX_EXPERTS}"),
            ));
        }
        if !(1..=experts).contains(&ep) {
            return Err(FieldError::new(
                "ep",
                ep,
                format!("1 to {experts} (the experts)"),
            ));
        }
        if !(1..=ep).contains(&min_ep) {
            return Err(FieldError::new(
                "min-ep",
                min_ep,
                format!("1 to {ep} (the replica's ep)"),
            ));
        }
        let extension = !experts.is_multiple_of(ep) || !experts.is_multiple_of(min_ep);
        // Divisible counts make these the plain E/M and E/L; else the first ranks hold one more.
        let owned = shares(experts, min_ep);
        let kept = shares(experts, ep);
        let mut placement: Vec<Vec<u32>> = Vec::with_capacity(ep as usize);
        let mut rest = Vec::new();
        let mut start = 0;
        for (owner, (own, keep)) in (0..min_ep).zip(owned.into_iter().zip(&kept)) {
            let keep = own.min(*keep);
            placement.push((start..start + keep).collect());
            rest.extend((keep..own).map(|slot| (owner, slot, start + slot)));
            start += own;
        }
        let followers = (ep - min_ep) as usize;
        placement.resize(ep as usize, Vec::new());
        let mut gather: BTreeMap<u32, Vec<Gather>> = BTreeMap::new();
        for (turn, (owner, slot, expert)) in rest.into_iter().enumerate() {
            let rank = min_ep + (turn % followers.max(1)) as u32;
            let Some(list) = placement.get_mut(rank as usize) else {
                continue;
            };
            gather
                .entry(rank)
                .or_default()
                .push((list.len() as u32, owner, slot));
            list.push(expert);
        }
        Ok(Self {
            placement,
            gather,
            extension,
        })
    }

    /// Why Megatron Core refuses these sizes, where it does.
    pub fn reason(&self, experts: u32, ep: u32, min_ep: u32) -> Option<String> {
        self.extension.then(|| {
            format!("{experts} experts are not divisible by both EP sizes, {ep} and {min_ep}")
        })
    }
}

fn shares(total: u32, parts: u32) -> Vec<u32> {
    (0..parts)
        .map(|part| total / parts + u32::from(part < total % parts))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn eight_experts_ep4_with_ep2_by_hand() {
        let plan = ExpertPlan::new(8, 4, 2).unwrap();
        assert_eq!(
            plan.placement,
            [vec![0, 1], vec![4, 5], vec![2, 6], vec![3, 7]]
        );
        assert_eq!(
            plan.gather,
            BTreeMap::from([
                (2, vec![(0, 0, 2), (1, 1, 2)]),
                (3, vec![(0, 0, 3), (1, 1, 3)])
            ])
        );
        assert!(!plan.extension);
    }

    #[test]
    fn the_uneven_case_is_marked_and_owners_hold_five() {
        let plan = ExpertPlan::new(128, 32, 28).unwrap();
        assert!(plan.extension && plan.reason(128, 32, 28).is_some());
        assert!(plan.placement.iter().take(28).all(|list| list.len() == 4));
    }

    #[test]
    fn a_smallest_size_above_the_replicas_is_refused() {
        assert!(
            ExpertPlan::new(10, 4, 6)
                .unwrap_err()
                .to_string()
                .contains("min-ep")
        );
    }

    proptest! {
        #[test]
        fn every_expert_once(experts in 1_u32..400, ep in 1_u32..64, min_ep in 1_u32..64) {
            prop_assume!(ep <= experts && min_ep <= ep);
            let plan = ExpertPlan::new(experts, ep, min_ep).unwrap();
            let mut all: Vec<u32> = plan.placement.iter().flatten().copied().collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..experts).collect::<Vec<_>>());
        }
    }
}
