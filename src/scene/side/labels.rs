//! Labels under a bar: as close to the middle of their piece as they fit without touching.

/// A label to place: where it wants its middle, and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wish {
    /// Wanted middle.
    pub middle: f64,
    /// Width of the text.
    pub width: f64,
}

/// Touching labels, placed together at the mean of their wishes (pool adjacent violators).
struct Cluster {
    members: usize,
    width: f64,
    wish_sum: f64,
}

impl Cluster {
    fn left(&self, room: f64) -> f64 {
        (self.wish_sum / self.members.max(1) as f64).clamp(0.0, (room - self.width).max(0.0))
    }
}

/// Left edges for labels in the given order (left to right) between 0 and `room`, at least `gap` apart, each as near its
/// wish as its neighbours allow. `None` when they do not fit on one line.
pub fn place(wishes: &[Wish], room: f64, gap: f64) -> Option<Vec<f64>> {
    let needed: f64 = wishes.iter().map(|wish| wish.width).sum::<f64>()
        + gap * wishes.len().saturating_sub(1) as f64;
    if needed > room {
        return None;
    }
    let mut clusters: Vec<Cluster> = Vec::with_capacity(wishes.len());
    for wish in wishes {
        clusters.push(Cluster {
            members: 1,
            width: wish.width,
            wish_sum: wish.middle - wish.width / 2.0,
        });
        while let [.., before, last] = clusters.as_mut_slice() {
            if before.left(room) + before.width + gap <= last.left(room) {
                break;
            }
            // A member at offset d inside the cluster wishes the cluster's left at its own wish less d.
            let offset = before.width + gap;
            before.wish_sum += last.wish_sum - offset * last.members as f64;
            before.width = offset + last.width;
            before.members += last.members;
            clusters.pop();
        }
    }
    let mut lefts = Vec::with_capacity(wishes.len());
    let mut widths = wishes.iter().map(|wish| wish.width);
    for cluster in &clusters {
        let mut left = cluster.left(room);
        for width in widths.by_ref().take(cluster.members) {
            lefts.push(left);
            left += width + gap;
        }
    }
    Some(lefts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wish(middle: f64, width: f64) -> Wish {
        Wish { middle, width }
    }

    #[test]
    fn free_labels_stay_under_their_piece() {
        assert_eq!(
            place(&[wish(50.0, 40.0), wish(200.0, 60.0)], 300.0, 8.0),
            Some(vec![30.0, 170.0])
        );
    }

    #[test]
    fn crowded_labels_share_the_shift_and_stay_inside() {
        assert_eq!(
            place(&[wish(100.0, 40.0), wish(100.0, 40.0)], 300.0, 10.0),
            Some(vec![55.0, 105.0])
        );
        assert_eq!(
            place(&[wish(0.0, 40.0), wish(299.0, 40.0)], 300.0, 10.0),
            Some(vec![0.0, 260.0])
        );
    }

    #[test]
    fn too_many_for_one_line_says_so() {
        assert_eq!(
            place(&[wish(0.0, 200.0), wish(0.0, 200.0)], 300.0, 8.0),
            None
        );
    }

    proptest! {
        #[test]
        fn labels_never_touch_or_leave(wishes in proptest::collection::vec((0.0..500.0f64, 5.0..60.0f64), 0..8)) {
            let wishes: Vec<Wish> = wishes.into_iter().map(|(middle, width)| wish(middle, width)).collect();
            if let Some(lefts) = place(&wishes, 492.0, 8.0) {
                let mut free_from = 0.0;
                for (left, wish) in lefts.iter().zip(&wishes) {
                    prop_assert!(*left >= free_from - 1e-6);
                    free_from = left + wish.width + 8.0;
                    prop_assert!(left + wish.width <= 492.0 + 1e-6);
                }
            }
        }
    }
}
