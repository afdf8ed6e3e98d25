//! The tiles as elements: built from one string, then patched where a new set of views differs from the one shown.

use super::plan::Plan;
use crate::core::strategy::{DomainView, GpuState, GpuView};
use crate::scene::rack::group::head;
use crate::scene::rack::html::{self, DomainHead};
use crate::scene::rack::shape::TileClass;
use crate::scene::rack::{pick, words};
use crate::ui::dom;
use crate::ui::state::Shared;
use std::ops::Range;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// One tile.
pub struct Tile {
    /// The cell.
    pub cell: HtmlElement,
    /// The text on the left.
    pub rank: HtmlElement,
    /// The text on the right.
    pub clock: HtmlElement,
}

/// One domain.
pub struct Domain {
    /// Physical index.
    pub index: u32,
    /// Its section.
    pub section: Element,
    /// The cabinet around its tiles.
    pub cabinet: Element,
    /// Tiles by GPU.
    pub tiles: Vec<Tile>,
    head: DomainHead,
    /// What its tiles show.
    shown: Vec<GpuView>,
    /// The tile that Tab reaches.
    stop: u32,
}

impl Domain {
    /// Has the tiles show what they do not show yet, and notes which.
    fn patch(&mut self, plan: &Plan, now: &[GpuView], moved: &mut Vec<Moved>) {
        let look = plan.look();
        for (((gpu, tile), was), now) in (0..).zip(&self.tiles).zip(&mut self.shown).zip(now) {
            if was != now {
                patch_tile(&look, self.index, gpu, tile, was, now);
                moved.push(Moved {
                    domain: self.index,
                    gpu,
                    old: *was,
                    new: *now,
                });
                *was = *now;
            }
        }
    }
}

/// Everything that stands in the document.
#[derive(Default)]
pub struct Stage {
    /// What it was built for.
    pub plan: Option<Plan>,
    /// Domains in the document, by index from [`Stage::first`].
    pub domains: Vec<Domain>,
    /// The views to show: in view they are shown, elsewhere from [`Stage::catch_up`] on.
    pub views: Option<Shared<Vec<DomainView>>>,
    groups: Vec<Element>,
    pointed: Vec<(u32, u32)>,
    marked: Vec<(u32, u32)>,
}

/// A tile that now looks otherwise.
#[derive(Clone, Copy)]
pub struct Moved {
    /// Domain.
    pub domain: u32,
    /// GPU.
    pub gpu: u32,
    /// Before.
    pub old: GpuView,
    /// Now.
    pub new: GpuView,
}

/// What one new set of views changed in view; empty after a rebuild, which animates nothing.
#[derive(Default)]
pub struct Change {
    /// Tiles that now look otherwise.
    pub moved: Vec<Moved>,
    /// Whether domains out of view are to catch up.
    pub behind: bool,
}

impl Stage {
    /// Shows views: patches the tiles of the domains `seen`, or builds all anew for another plan.
    pub fn show(
        &mut self,
        root: &Element,
        plan: &Plan,
        views: &Shared<Vec<DomainView>>,
        seen: (u32, u32),
    ) -> Change {
        if self.plan.as_ref() != Some(plan) {
            self.build(root, plan, views);
            return Change::default();
        }
        self.patch(plan, views, seen)
    }

    fn build(&mut self, root: &Element, plan: &Plan, views: &Shared<Vec<DomainView>>) {
        let mut markup = String::with_capacity(views.len() * 72 * 200);
        let look = plan.look();
        for group in plan.shown_groups() {
            html::group(
                &mut markup,
                &look,
                group,
                &head(group, views, plan.tp),
                views,
            );
        }
        root.set_inner_html(&markup);
        self.groups = children(root);
        self.domains.clear();
        let shown = plan
            .shown_groups()
            .iter()
            .flat_map(|group| group.domains.clone());
        for (index, section) in shown.zip(dom::all(root, ".dom")) {
            let Some(cabinet) = dom::find(&section, ".cab") else {
                continue;
            };
            let tiles = dom::all(&cabinet, ".g")
                .into_iter()
                .filter_map(tile)
                .collect();
            let view = views.get(index as usize);
            let head = view
                .map(|view| Self::domain_head(plan, view, views))
                .unwrap_or_default();
            let shown = view.map(|view| view.gpus.clone()).unwrap_or_default();
            self.domains.push(Domain {
                index,
                section,
                cabinet,
                tiles,
                head,
                shown,
                stop: 0,
            });
        }
        self.plan = Some(plan.clone());
        self.views = Some(views.clone());
        self.pointed.clear();
        self.marked.clear();
    }

    fn domain_head(plan: &Plan, view: &DomainView, views: &[DomainView]) -> DomainHead {
        let group = plan.groups.get(plan.group_of(view.index));
        let named = group
            .is_some_and(|group| !plan.phone && html::one_replica(&head(group, views, plan.tp)));
        DomainHead::new(view, plan.tp, named)
    }

    fn patch(
        &mut self,
        plan: &Plan,
        views: &Shared<Vec<DomainView>>,
        (first, last): (u32, u32),
    ) -> Change {
        let old = self.views.replace(views.clone());
        let mut change = Change::default();
        let Some(old) = old.filter(|old| old != views) else {
            return change;
        };
        let heads: Vec<_> = plan
            .shown_groups()
            .iter()
            .map(|group| head(group, views, plan.tp))
            .collect();
        for ((group, now), element) in plan.shown_groups().iter().zip(&heads).zip(&self.groups) {
            if *now != head(group, &old, plan.tp) {
                let _ = element.class_list().toggle_with_force("hit", now.hit);
                set_text(element, "h3", &now.title);
                set_text(element, ".nt", &now.note);
            }
        }
        let named = plan
            .shown_groups()
            .iter()
            .zip(&heads)
            .flat_map(|(group, head)| {
                let named = !plan.phone && html::one_replica(head);
                group.domains.clone().map(move |_| named)
            });
        for (domain, named) in self.domains.iter_mut().zip(named) {
            let Some(now) = views.get(domain.index as usize) else {
                continue;
            };
            let head = DomainHead::new(now, plan.tp, named);
            if head != domain.head {
                write_head(&domain.section, &domain.head, &head);
                domain.head = head;
            }
            if domain.shown == now.gpus {
                continue;
            }
            if (first..=last).contains(&domain.index) {
                domain.patch(plan, &now.gpus, &mut change.moved);
            } else {
                change.behind = true;
            }
        }
        self.ring_again();
        change
    }

    /// Shows the newest views in the domains that were out of view when they came.
    pub fn catch_up(&mut self) {
        let (Some(plan), Some(views)) = (&self.plan, &self.views) else {
            return;
        };
        let mut moved = Vec::new();
        for domain in &mut self.domains {
            if let Some(now) = views.get(domain.index as usize)
                && domain.shown != now.gpus
            {
                domain.patch(plan, &now.gpus, &mut moved);
            }
        }
        if !moved.is_empty() {
            self.ring_again();
        }
    }

    /// Puts the rings back on: class names were written anew.
    fn ring_again(&self) {
        self.ring(&self.pointed, "hov", true);
        self.ring(&self.marked, "sel", true);
    }

    /// The elements of a domain, if it is in the document.
    pub fn domain(&self, index: u32) -> Option<&Domain> {
        let first = self.domains.first()?.index;
        self.domains.get(index.checked_sub(first)? as usize)
    }

    /// The elements of a tile.
    pub fn tile(&self, (domain, gpu): (u32, u32)) -> Option<&Tile> {
        self.domain(domain)?.tiles.get(gpu as usize)
    }

    /// How a GPU looks now.
    pub fn gpu(&self, (domain, gpu): (u32, u32)) -> Option<GpuView> {
        self.views
            .as_ref()?
            .get(domain as usize)?
            .gpus
            .get(gpu as usize)
            .copied()
    }

    fn ring(&self, tiles: &[(u32, u32)], class: &str, on: bool) {
        for tile in tiles.iter().filter_map(|at| self.tile(*at)) {
            let _ = tile.cell.class_list().toggle_with_force(class, on);
        }
    }

    /// Rings the GPUs that a click at a tile would take.
    pub fn point(&mut self, at: Option<(u32, u32)>, radius: u32) {
        let Some(size) = self.plan.as_ref().map(|plan| plan.shape.gpus) else {
            return;
        };
        let now: Vec<(u32, u32)> = at.map_or_else(Vec::new, |(domain, gpu)| {
            // A GPU that is down is repaired alone or with its blast; ring what a click would fail only.
            let down = self
                .gpu((domain, gpu))
                .is_some_and(|gpu| is_down(gpu.state));
            let range = if down {
                gpu..gpu + 1
            } else {
                pick::blast(gpu, radius, size)
            };
            range.map(|gpu| (domain, gpu)).collect()
        });
        if now != self.pointed {
            self.ring(&self.pointed, "hov", false);
            self.ring(&now, "hov", true);
            self.pointed = now;
        }
    }

    /// Outlines the tiles marked with the keyboard.
    pub fn mark(&mut self, tiles: &[(u32, u32)]) {
        self.ring(&self.marked, "sel", false);
        self.ring(tiles, "sel", true);
        self.marked = tiles.to_vec();
    }

    /// Shows some domains on a phone, and no others.
    pub fn show_only(&self, domains: &Range<u32>) {
        for one in &self.domains {
            let _ = one
                .section
                .class_list()
                .toggle_with_force("on", domains.contains(&one.index));
        }
    }

    /// Makes a tile the one that Tab reaches in its rack, and focuses it.
    pub fn focus(&mut self, at: (u32, u32)) {
        if let Some(tile) = self.stop_at(at) {
            let _ = tile.focus();
        }
    }

    /// Makes a tile the one that Tab reaches in its rack.
    pub fn stop_at(&mut self, (index, gpu): (u32, u32)) -> Option<HtmlElement> {
        let first = self.domains.first()?.index;
        let domain = self.domains.get_mut(index.checked_sub(first)? as usize)?;
        if let Some(old) = domain.tiles.get(domain.stop as usize) {
            old.cell.set_tab_index(-1);
        }
        domain.stop = gpu;
        let tile = domain.tiles.get(gpu as usize)?;
        tile.cell.set_tab_index(0);
        Some(tile.cell.clone())
    }
}

/// Whether a click repairs rather than fails.
pub fn is_down(state: GpuState) -> bool {
    matches!(
        state,
        GpuState::Failed | GpuState::Restarting | GpuState::Slow
    )
}

/// Sets the tile size on the racks.
pub fn fit(root: &HtmlElement, tile: f64, phone: bool) {
    let _ = root.style().set_property("--tw", &format!("{tile}px"));
    // Letters are half as large again on a phone.
    let room = if phone { tile / 1.5 } else { tile };
    let _ = root.set_attribute("data-tile", TileClass::of(room).id());
}

fn patch_tile(
    look: &html::Look<'_>,
    domain: u32,
    gpu: u32,
    tile: &Tile,
    was: &GpuView,
    now: &GpuView,
) {
    if was.state != now.state || was.sends_gradients != now.sends_gradients {
        tile.cell.set_class_name(&html::class(look, gpu, now));
        let _ = tile.cell.set_attribute("data-state", now.state.id());
    }
    if was.state != now.state || was.tp_rank != now.tp_rank {
        let _ = tile
            .cell
            .set_attribute("aria-label", &words::label(domain, gpu, now));
        tile.rank.set_text_content(Some(&words::rank(now)));
    }
    if was.perf != now.perf || was.tp_rank.is_some() != now.tp_rank.is_some() {
        tile.clock
            .set_text_content(Some(&words::clock(look.gpu, now)));
    }
    if was.load != now.load || was.tp_rank.is_some() != now.tp_rank.is_some() {
        let style = html::style(now);
        // Neither fails for a valid name.
        if style.is_empty() {
            let _ = tile.cell.remove_attribute("style");
        } else {
            let _ = tile.cell.set_attribute("style", &style);
        }
    }
}

fn write_head(section: &Element, was: &DomainHead, now: &DomainHead) {
    if was.place != now.place {
        set_text(section, ".place", &now.place);
    }
    if was.degree != now.degree {
        set_text(section, ".deg b", &now.degree);
    }
    if was.of != now.of {
        set_text(section, ".deg .m", &now.of);
    }
    if was.condition != now.condition {
        set_text(section, ".cn", &now.condition);
    }
    if let (true, Some(line)) = (was.loud != now.loud, dom::find(section, ".cn")) {
        let _ = line.class_list().toggle_with_force("m", !now.loud);
    }
}

fn set_text(root: &Element, css: &str, text: &str) {
    if let Some(element) = dom::find(root, css) {
        element.set_text_content(Some(text));
    }
}

fn tile(cell: Element) -> Option<Tile> {
    Some(Tile {
        rank: cell.first_element_child()?.dyn_into().ok()?,
        clock: cell.last_element_child()?.dyn_into().ok()?,
        cell: cell.dyn_into().ok()?,
    })
}

fn children(root: &Element) -> Vec<Element> {
    let list = root.children();
    (0..list.length())
        .filter_map(|index| list.item(index))
        .collect()
}
