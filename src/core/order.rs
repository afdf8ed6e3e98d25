//! Sorting: the standard library writes several kilobytes of code for every type and order, and the page would carry sixty
//! of them. Here all share one, of places; results are the same. The simulators' own loops, which are not part of the page,
//! keep the standard sorts.

use std::cmp::Ordering;

/// Up to so many values are sorted by insertion where that is asked for.
const FEW: usize = 20;

/// Sorts by an order, equal values in the order they came in.
pub fn sort_by<T>(values: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    let mut places = permutation(
        values.len(),
        &mut |a, b| match (values.get(a), values.get(b)) {
            (Some(a), Some(b)) => order(a, b),
            _ => Ordering::Equal,
        },
    );
    // Follow each cycle once: a place that is done holds its own number.
    for start in 0..places.len() {
        let mut at = start;
        while let Some(from) = places.get_mut(at) {
            let next = std::mem::replace(from, at);
            if next == start {
                break;
            }
            values.swap(at, next);
            at = next;
        }
    }
}

/// [`sort_by`] for inner loops where there are mostly few values: no memory of its own for those.
pub fn sort_few_by<T>(values: &mut [T], mut order: impl FnMut(&T, &T) -> Ordering) {
    if values.len() > FEW {
        sort_by(values, order);
        return;
    }
    for end in 1..values.len() {
        for at in (0..end).rev() {
            let Some([a, b]) = values.get_mut(at..at + 2) else {
                break;
            };
            if order(a, b).is_le() {
                break;
            }
            std::mem::swap(a, b);
        }
    }
}

/// Sorts by a key, equal keys in the order they came in.
pub fn sort_by_key<T, K: Ord>(values: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(values, |a, b| key(a).cmp(&key(b)));
}

/// Sorts from the least to the greatest.
pub fn sort<T: Ord>(values: &mut [T]) {
    sort_by(values, Ord::cmp);
}

/// Which value comes to each place; empty where all are in order.
fn permutation(len: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    if (1..len).all(|at| order(at - 1, at).is_le()) {
        return Vec::new();
    }
    let mut places: Vec<usize> = (0..len).collect();
    places.sort_by(|a, b| order(*a, *b));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_by_hand() {
        let mut none: [u8; 0] = [];
        sort(&mut none);
        let mut words = ["pear", "fig", "kiwi", "date", "plum"];
        sort_by_key(&mut words, |word| word.len());
        assert_eq!(words, ["fig", "pear", "kiwi", "date", "plum"]);
        let mut numbers = [2.5, -1.0, f64::INFINITY, 0.0];
        sort_by(&mut numbers, f64::total_cmp);
        assert_eq!(numbers, [-1.0, 0.0, 2.5, f64::INFINITY]);
    }

    proptest! {
        #[test]
        fn the_same_as_the_standard_sort(values in prop::collection::vec((0u8..9, any::<u16>()), 0..200)) {
            let mut ours = values.clone();
            sort_by_key(&mut ours, |(key, _)| *key);
            let mut theirs = values;
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn few_values_too(values in prop::collection::vec((0u8..9, any::<u16>()), 0..2 * FEW)) {
            let mut ours = values.clone();
            sort_few_by(&mut ours, |a, b| a.0.cmp(&b.0));
            let mut theirs = values;
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn blocks_of_equal_values_too(blocks in prop::collection::vec((0u8..5, 1usize..9), 0..30)) {
            let blocks = blocks.into_iter().flat_map(|(key, count)| std::iter::repeat_n(key, count));
            let mut ours: Vec<(u8, usize)> = blocks.zip(0..).collect();
            let mut theirs = ours.clone();
            sort_by_key(&mut ours, |(key, _)| *key);
            theirs.sort_by_key(|(key, _)| *key);
            prop_assert_eq!(ours, theirs);
        }
    }
}
