//! Sorting where it is not what takes the time: the standard library writes several kilobytes of code for every type and
//! order, and the page would carry sixty of them. Here all share one; results are the same. Work in the inner loops of
//! the simulators keeps the standard sorts.

use std::cmp::Ordering;

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
    for start in 0..values.len() {
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

/// Sorts by a key, equal keys in the order they came in.
pub fn sort_by_key<T, K: Ord>(values: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(values, |a, b| key(a).cmp(&key(b)));
}

/// Sorts from the least to the greatest.
pub fn sort<T: Ord>(values: &mut [T]) {
    sort_by(values, Ord::cmp);
}

/// Which value comes to each place.
fn permutation(len: usize, order: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
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
    }
}
