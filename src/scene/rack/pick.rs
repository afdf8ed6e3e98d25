//! Which GPUs a click, a blast, a rectangle or chance takes.

use super::shape::RackShape;
use crate::core::order;
use crate::core::scenario::{Failure, FailureKind, Policy};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::ops::Range;

/// The aligned GPUs that go down together with one, inside its domain.
pub fn blast(gpu: u32, radius: u32, domain_size: u32) -> Range<u32> {
    let radius = radius.max(1);
    let first = gpu / radius * radius;
    first.min(domain_size)..first.saturating_add(radius).min(domain_size)
}

/// The GPUs that a failure takes.
pub fn reach(failure: &Failure, policy: &Policy, domain_size: u32) -> Range<u32> {
    let radius = failure.blast_radius.unwrap_or(match failure.kind {
        FailureKind::Hardware => policy.blast_radius,
        FailureKind::Software | FailureKind::Slow => 1,
    });
    blast(failure.gpu, radius, domain_size)
}

/// Whether a failure takes this GPU.
pub fn covers(failure: &Failure, policy: &Policy, domain_size: u32, domain: u32, gpu: u32) -> bool {
    failure.domain == domain && reach(failure, policy, domain_size).contains(&gpu)
}

/// `count` different GPUs out of `candidates`, by a portable seeded generator: same seed, same GPUs, natively and in wasm.
pub fn random(mut candidates: Vec<(u32, u32)>, count: usize, seed: u64) -> Vec<(u32, u32)> {
    let mut generator = Pcg64::seed_from_u64(seed);
    let mut picked = Vec::new();
    while picked.len() < count && !candidates.is_empty() {
        let index = generator.random_range(0..candidates.len() as u64) as usize;
        picked.push(candidates.swap_remove(index));
    }
    picked
}

/// GPUs of the rectangle between two tiles, across racks that stand side by side as one wide grid.
pub fn rectangle(shape: &RackShape, from: (u32, u32), to: (u32, u32)) -> Vec<(u32, u32)> {
    let columns = shape.per_row.max(1);
    let wide = |(domain, gpu): (u32, u32)| {
        let (row, column) = shape.cell(gpu);
        (
            row,
            u64::from(domain) * u64::from(columns) + u64::from(column),
        )
    };
    let (a, b) = (wide(from), wide(to));
    let (rows, wides) = (a.0.min(b.0)..=a.0.max(b.0), a.1.min(b.1)..=a.1.max(b.1));
    let mut all = Vec::new();
    for wide in wides {
        let (domain, column) = (
            (wide / u64::from(columns)) as u32,
            (wide % u64::from(columns)) as u32,
        );
        all.extend(
            rows.clone()
                .filter_map(|row| shape.at(row, column))
                .map(|gpu| (domain, gpu)),
        );
    }
    order::sort(&mut all);
    all
}

/// The tile next to one by an arrow: columns run on into the next rack, rows stop at the edge.
pub fn step(
    shape: &RackShape,
    from: (u32, u32),
    (down, right): (i32, i32),
    domains: u32,
) -> Option<(u32, u32)> {
    let (row, column) = shape.cell(from.1);
    let columns = i64::from(shape.per_row.max(1));
    let wide = i64::from(from.0) * columns + i64::from(column) + i64::from(right);
    let row = u32::try_from(i64::from(row) + i64::from(down)).ok()?;
    let domain = u32::try_from(wide.div_euclid(columns))
        .ok()
        .filter(|domain| *domain < domains)?;
    shape
        .at(row, wide.rem_euclid(columns) as u32)
        .map(|gpu| (domain, gpu))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use proptest::prelude::*;

    fn shape() -> RackShape {
        RackShape::of(system("gb300-nvl72").unwrap())
    }

    #[test]
    fn a_blast_takes_the_aligned_tray_and_stays_in_the_domain() {
        assert_eq!(blast(17, 4, 72), 16..20);
        assert_eq!(blast(17, 1, 72), 17..18);
        assert_eq!(blast(71, 16, 72), 64..72);
        assert_eq!(blast(3, 0, 72), 3..4);
    }

    #[test]
    fn arrows_run_on_into_the_next_rack() {
        assert_eq!(step(&shape(), (0, 3), (0, 1), 16), Some((1, 0)));
        assert_eq!(step(&shape(), (0, 0), (0, -1), 16), None);
        assert_eq!(step(&shape(), (15, 3), (0, 1), 16), None);
        assert_eq!(step(&shape(), (0, 5), (1, 0), 16), Some((0, 9)));
        assert_eq!(step(&shape(), (0, 71), (1, 0), 16), None);
    }

    #[test]
    fn a_rectangle_spans_racks() {
        assert_eq!(
            rectangle(&shape(), (0, 3), (1, 4)),
            [(0, 3), (0, 7), (1, 0), (1, 4)]
        );
    }

    proptest! {
        #[test]
        fn chance_repeats_by_seed_and_never_twice_the_same(seed: u64, count in 0usize..100) {
            let all: Vec<(u32, u32)> = (0..8).flat_map(|d| (0..8).map(move |g| (d, g))).collect();
            let mut picked = random(all.clone(), count, seed);
            prop_assert_eq!(&picked, &random(all, count, seed));
            prop_assert_eq!(picked.len(), count.min(64));
            picked.sort_unstable();
            picked.dedup();
            prop_assert_eq!(picked.len(), count.min(64));
        }
    }
}
