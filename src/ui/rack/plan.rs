//! What stands in the document: the shape of a domain, and which groups of domains have tiles.

use crate::core::hardware::Gpu;
use crate::core::scenario::Job;
use crate::scene::rack::group::{Group, groups};
use crate::scene::rack::html::Look;
use crate::scene::rack::shape::RackShape;
use std::ops::Range;

/// Most GPUs with tiles of their own: 64 racks of 72. Beyond, the map shows the rest as blocks.
const TILES: u32 = 64 * 72;

/// Most tiles of a row on a phone, each still wide enough for a finger.
const PHONE_ROW: u32 = 8;

/// What stands in the document. Equal plans need no rebuild.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The drawn shape of every domain.
    pub shape: RackShape,
    /// GPUs per TP group.
    pub tp: u32,
    /// The accelerator, for its clock.
    pub gpu: Gpu,
    /// All groups.
    pub groups: Vec<Group>,
    /// The groups with tiles.
    pub shown: Range<usize>,
    /// Domains in all.
    pub domains: u32,
    /// One domain at a time.
    pub phone: bool,
}

impl Plan {
    /// The plan of a job whose strategy occupies `domains` domains, with the group of the domain `focus` in the document.
    pub fn new(job: &Job, domains: u32, focus: u32, phone: bool) -> Self {
        let mut shape = RackShape::of(&job.system);
        if phone {
            shape = shape.narrow(PHONE_ROW);
        }
        let groups = groups(&job.placement, domains);
        let whole = domains.saturating_mul(shape.gpus) <= TILES;
        let shown = if whole {
            0..groups.len()
        } else {
            window(
                &groups,
                position(&groups, focus),
                TILES / 4 / shape.gpus.max(1),
            )
        };
        Self {
            shape,
            tp: job.scenario.layout.tp,
            gpu: job.system.gpu.clone(),
            groups,
            shown,
            domains,
            phone,
        }
    }

    /// Whether every domain has tiles.
    pub fn whole(&self) -> bool {
        self.shown.len() == self.groups.len()
    }

    /// The groups with tiles.
    pub fn shown_groups(&self) -> &[Group] {
        self.groups.get(self.shown.clone()).unwrap_or_default()
    }

    /// What the markup needs.
    pub fn look(&self) -> Look<'_> {
        Look {
            shape: self.shape,
            tp: self.tp,
            gpu: &self.gpu,
            alone: self.phone,
        }
    }

    /// Width of a tile in a box of a width, CSS px.
    pub fn tile(&self, width: f64) -> f64 {
        if self.phone {
            let columns = f64::from(self.shape.per_row.max(1));
            return ((width - 10.0 - (columns - 1.0) * 3.0) / columns).max(3.0);
        }
        let largest = self
            .groups
            .iter()
            .map(|group| group.domains.len())
            .max()
            .unwrap_or(1);
        self.shape
            .tile_width(width, largest as u32, self.groups.len() as u32)
    }

    /// What a phone shows for a domain: its whole group where that is no higher than a rack (boards), else itself.
    pub fn beside(&self, domain: u32) -> Range<u32> {
        let group = self.groups.get(self.group_of(domain));
        let low = |group: &&Group| group.domains.len() as u32 * (self.shape.rows() + 2) <= 24;
        group
            .filter(low)
            .map_or(domain..domain.saturating_add(1), |group| {
                group.domains.clone()
            })
    }

    /// The group of a domain.
    pub fn group_of(&self, domain: u32) -> usize {
        position(&self.groups, domain)
    }
}

fn position(groups: &[Group], domain: u32) -> usize {
    let found = groups
        .iter()
        .position(|group| group.domains.contains(&domain));
    found.unwrap_or(0)
}

/// As many groups around one as hold at most `most` domains, at least that one.
fn window(groups: &[Group], focus: usize, most: u32) -> Range<usize> {
    let focus = focus.min(groups.len().saturating_sub(1));
    let (mut shown, mut domains) = (focus..focus, 0);
    while let Some(group) = groups.get(shown.end) {
        domains += group.domains.len() as u32;
        if domains > most.max(1) && !shown.is_empty() {
            break;
        }
        shown.end += 1;
    }
    shown
}
