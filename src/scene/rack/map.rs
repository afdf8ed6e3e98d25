//! The map beside the racks: every domain a cell, in the order of the racks, so that it is their scrollbar too.

use super::group::Group;

pub use crate::scene::rect::Rect;

/// The map's cells, one a domain, and the place of the group labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map {
    /// Cell of each domain.
    pub cells: Vec<Rect>,
    /// Baseline middle of each group's label, with the group's first domain; empty when there is no room.
    pub labels: Vec<(f64, f64, u32)>,
    /// Height used.
    pub height: f64,
}

/// Gap between cells.
const GAP: f64 = 3.0;
/// Height of a label's line.
const LABEL: f64 = 15.0;
/// Highest cell.
const TALL: f64 = 42.0;
/// Most cells of a group side by side while labels are shown.
const SIDE: u32 = 4;

/// Lays cells out in `width` x `height`: groups under each other with labels while they fit, then without labels, then
/// as one dense block with as many columns as it takes.
pub fn map(groups: &[Group], width: f64, height: f64) -> Map {
    let largest = groups
        .iter()
        .map(|group| group.domains.len() as u32)
        .max()
        .unwrap_or(0);
    if largest == 0 || width <= 0.0 || height <= 0.0 {
        return Map::default();
    }
    let total: u32 = groups.iter().map(|group| group.domains.len() as u32).sum();
    for labelled in [true, false] {
        for columns in [2, SIDE] {
            let lines: u32 = groups
                .iter()
                .map(|group| (group.domains.len() as u32).div_ceil(columns))
                .sum();
            let between = groups.len() as f64 * if labelled { LABEL } else { 4.0 };
            let pitch = (height - between) / f64::from(lines.max(1));
            if pitch >= if labelled { 13.0 } else { 8.0 } {
                return rows(groups, columns, width, (pitch - GAP).min(TALL), labelled);
            }
        }
    }
    dense(groups, total, width, height)
}

fn rows(groups: &[Group], columns: u32, width: f64, tall: f64, labelled: bool) -> Map {
    let wide = (width - f64::from(columns - 1) * GAP) / f64::from(columns);
    let mut out = Map::default();
    let mut y = 0.0;
    for group in groups {
        let many = group.domains.len() as u32;
        for cell in 0..many {
            let x = f64::from(cell % columns) * (wide + GAP);
            out.cells.push(Rect {
                x,
                y: y + f64::from(cell / columns) * (tall + GAP),
                w: wide,
                h: tall,
            });
        }
        y += f64::from(many.div_ceil(columns)) * (tall + GAP);
        if labelled {
            out.labels.push((width / 2.0, y + 7.0, group.domains.start));
            y += LABEL - GAP + 3.0;
        } else {
            y += 4.0;
        }
    }
    out.height = y;
    out
}

fn dense(groups: &[Group], total: u32, width: f64, height: f64) -> Map {
    // Square-ish cells: as many columns as make the pitch equal both ways.
    let pitch = (width * height / f64::from(total.max(1))).sqrt();
    let mut columns = (width / pitch).floor().max(1.0);
    while (f64::from(total) / columns).ceil() * (width / columns) > height {
        columns += 1.0;
    }
    let pitch = width / columns;
    let gap = (pitch * 0.18).min(GAP);
    let mut out = Map::default();
    let mut index = 0.0;
    for _ in groups.iter().flat_map(|group| group.domains.clone()) {
        let (row, column) = ((index / columns).floor(), index % columns);
        out.cells.push(Rect {
            x: column * pitch,
            y: row * pitch,
            w: pitch - gap,
            h: pitch - gap,
        });
        index += 1.0;
    }
    out.height = (index / columns).ceil() * pitch;
    out
}

impl Map {
    /// The domain at a point, or the nearest one in the gaps.
    pub fn hit(&self, x: f64, y: f64) -> Option<usize> {
        let distance = |rect: &Rect| {
            let dx = (rect.x - x).max(x - rect.x - rect.w).max(0.0);
            let dy = (rect.y - y).max(y - rect.y - rect.h).max(0.0);
            dx * dx + dy * dy
        };
        (0..self.cells.len()).min_by(|a, b| {
            let (a, b) = (
                self.cells.get(*a).map(distance),
                self.cells.get(*b).map(distance),
            );
            a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal)
        })
    }

    /// The rectangle around some domains.
    pub fn around(&self, domains: impl Iterator<Item = usize>) -> Option<Rect> {
        domains
            .filter_map(|domain| self.cells.get(domain).copied())
            .reduce(|all, one| all.around(&one))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::rack::{fixture::placement, group::groups};
    use proptest::prelude::*;

    #[test]
    fn sixteen_racks_stand_in_labelled_pairs() {
        let map = map(&groups(&placement(72, 72, 2, 8), 16), 33.0, 456.0);
        assert_eq!((map.cells.len(), map.labels.len()), (16, 8));
        assert_eq!(
            map.cells[0],
            Rect {
                x: 0.0,
                y: 0.0,
                w: 15.0,
                h: 39.0
            }
        );
        assert_eq!(map.cells[2].x, 0.0);
        assert_eq!(map.hit(20.0, 10.0), Some(1));
        assert_eq!(map.hit(20.0, 900.0), Some(15));
    }

    proptest! {
        #[test]
        fn cells_never_overlap_and_stay_inside(replicas in 1u32..200, stages in 1u32..17, height in 200.0f64..900.0) {
            let placement = placement(72, 72, stages, replicas);
            let map = map(&groups(&placement, placement.domains), 33.0, height);
            prop_assert_eq!(map.cells.len() as u32, placement.domains);
            prop_assert!(map.height <= height + 20.0, "{} in {}", map.height, height);
            for pair in map.cells.windows(2) {
                prop_assert!(pair[1].x >= pair[0].x + pair[0].w || pair[1].y >= pair[0].y + pair[0].h);
            }
            for cell in &map.cells {
                prop_assert!(cell.w > 0.0 && cell.h > 0.0 && cell.x + cell.w <= 33.001);
            }
            for index in [0, map.cells.len() / 2, map.cells.len() - 1] {
                let cell = map.cells[index];
                prop_assert_eq!(map.hit(cell.x + cell.w / 2.0, cell.y + cell.h / 2.0), Some(index));
            }
        }
    }
}
