//! Global ranks and process groups of a job whose replicas differ in TP degree.
//!
//! Ranks are packed: replica after replica, each as many as its degree. Peers across replicas are matched by *local TP
//! slot*, never by global rank, so a slot that only wider replicas have forms a DP group of those alone.

/// Groups of global ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessGroups {
    /// One a replica: its TP group.
    pub tp: Vec<Vec<u32>>,
    /// One a local TP slot: the ranks of all replicas that have it.
    pub dp: Vec<Vec<u32>>,
}

/// The groups for replicas of the given TP degrees, packed in order.
pub fn process_groups(degrees: &[u32]) -> ProcessGroups {
    let mut next = 0_u32;
    let tp: Vec<Vec<u32>> = degrees
        .iter()
        .map(|degree| {
            let first = next;
            next = next.saturating_add(*degree);
            (first..next).collect()
        })
        .collect();
    let slots = degrees.iter().copied().max().unwrap_or(0) as usize;
    let dp = (0..slots)
        .map(|slot| {
            tp.iter()
                .filter_map(|group| group.get(slot).copied())
                .collect()
        })
        .collect();
    ProcessGroups { tp, dp }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_tp2_and_tp4() {
        let groups = process_groups(&[2, 4]);
        assert_eq!(groups.tp, [vec![0, 1], vec![2, 3, 4, 5]]);
        assert_eq!(groups.dp, [vec![0, 2], vec![1, 3], vec![4], vec![5]]);
    }
}
