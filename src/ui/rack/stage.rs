//! The racks as they stand in the document: elements built from one string and pictures of their tiles, then patched where
//! a new set of views differs from the one shown.

use super::pens::Pens;
use super::picture::Picture;
use super::plan::Plan;
use crate::core::strategy::{DomainView, GpuState, GpuView};
use crate::scene::rack::face::Faces;
use crate::scene::rack::group::{Head, head};
use crate::scene::rack::html::{self, DomainHead};
use crate::scene::rack::tile::Grid;
use crate::scene::rack::{pick, words};
use crate::ui::dom;
use crate::ui::state::Shared;
use std::ops::Range;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// How far beyond what is in view tiles are drawn, and kept, in heights of the scrolling box.
const NEAR: (f64, f64) = (1.0, 2.0);

/// One domain.
pub struct Domain {
    /// Physical index.
    pub index: u32,
    /// Its section.
    pub section: HtmlElement,
    /// The cabinet around its tiles.
    pub cabinet: Element,
    /// Cells by GPU.
    pub cells: Vec<HtmlElement>,
    picture: Picture,
    head: DomainHead,
    /// What its picture shows, where it is drawn.
    painted: Vec<GpuView>,
    /// What its cells say.
    said: Vec<GpuView>,
    /// The cell that Tab reaches.
    stop: u32,
}

impl Domain {
    /// Draws the tiles that do not show what they should, and tells which.
    fn draw(&mut self, tools: Option<(&mut Pens, &Faces)>, now: &[GpuView]) -> Vec<Moved> {
        let mut moved = Vec::new();
        for ((gpu, was), now) in (0..).zip(&mut self.painted).zip(now) {
            if was != now {
                moved.push(Moved {
                    domain: self.index,
                    gpu,
                    old: *was,
                    new: *now,
                });
                *was = *now;
            }
        }
        if let (false, Some((pens, faces))) = (moved.is_empty(), tools) {
            let tiles = moved.iter().map(|moved| (moved.gpu, moved.new));
            self.picture.touch(pens, faces, tiles);
        }
        moved
    }

    /// Has the cells say what they do not say yet. No style follows these attributes, so that writing them is cheap.
    fn say(&mut self, now: &[GpuView]) {
        for (((gpu, cell), was), now) in (0..).zip(&self.cells).zip(&mut self.said).zip(now) {
            if was.state != now.state {
                let _ = cell.set_attribute("data-state", now.state.id());
            }
            if was.state != now.state || was.tp_rank != now.tp_rank {
                let _ = cell.set_attribute("aria-label", &words::label(self.index, gpu, now));
            }
            *was = *now;
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
    /// What tiles are drawn by, once their size is known.
    faces: Option<Faces>,
    pens: Option<Pens>,
    groups: Vec<(Element, Head)>,
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

impl Stage {
    /// Shows views: the tiles of the domains `seen` at once and the rest in [`Stage::catch_up`], or builds all anew for
    /// another plan. Tiles in view that now look otherwise; `None` after a rebuild, which animates nothing.
    pub fn show(
        &mut self,
        root: &Element,
        plan: &Plan,
        views: &Shared<Vec<DomainView>>,
        (first, last): (u32, u32),
    ) -> Option<Vec<Moved>> {
        if self.plan.as_ref() != Some(plan) {
            self.build(root, plan, views);
            return None;
        }
        let mut moved = Vec::new();
        self.views = Some(views.clone());
        let Self {
            domains,
            faces,
            pens,
            ..
        } = self;
        for domain in domains {
            if (first..=last).contains(&domain.index)
                && let Some(now) = views.get(domain.index as usize)
            {
                let tools = pens.as_mut().zip(faces.as_ref());
                moved.extend(domain.draw(tools, &now.gpus));
            }
        }
        Some(moved)
    }

    fn build(&mut self, root: &Element, plan: &Plan, views: &Shared<Vec<DomainView>>) {
        let mut markup = String::with_capacity(views.len() * 72 * 160);
        let look = plan.look();
        let heads: Vec<Head> = plan
            .shown_groups()
            .iter()
            .map(|group| head(group, views, plan.tp))
            .collect();
        for (group, head) in plan.shown_groups().iter().zip(&heads) {
            html::group(&mut markup, &look, group, head, views);
        }
        root.set_inner_html(&markup);
        self.domains.clear();
        let shown = plan
            .shown_groups()
            .iter()
            .zip(&heads)
            .flat_map(|(group, head)| {
                let named = named(plan, head);
                group.domains.clone().map(move |index| (index, named))
            });
        for ((index, named), section) in shown.zip(dom::all(root, ".dom")) {
            let (Some(cabinet), Some(view)) =
                (dom::find(&section, ".cab"), views.get(index as usize))
            else {
                continue;
            };
            let canvas = dom::find(&cabinet, ".tiles").and_then(|canvas| canvas.dyn_into().ok());
            let (Some(canvas), Ok(section)) = (canvas, section.dyn_into()) else {
                continue;
            };
            let cells = dom::all(&cabinet, ".cell");
            self.domains.push(Domain {
                index,
                section,
                cells: cells
                    .into_iter()
                    .filter_map(|e| e.dyn_into().ok())
                    .collect(),
                cabinet,
                picture: Picture::new(canvas),
                head: DomainHead::new(view, plan.tp, named),
                painted: view.gpus.clone(),
                said: view.gpus.clone(),
                stop: 0,
            });
        }
        self.groups = children(root).into_iter().zip(heads).collect();
        self.plan = Some(plan.clone());
        self.views = Some(views.clone());
        self.pointed.clear();
        self.marked.clear();
    }

    /// Sets the size of the tiles; they are drawn anew by the next [`Stage::look_around`].
    pub fn fit(&mut self, root: &HtmlElement, plan: &Plan, tile: f64) {
        let grid = Grid {
            shape: plan.shape,
            tile,
            phone: plan.phone,
        };
        dom::style(root, "--tw", &format!("{tile}px"));
        let _ = root.set_attribute("data-tile", grid.class().id());
        let faces = Faces {
            grid,
            tp: plan.tp,
            gpu: plan.gpu.clone(),
        };
        if self.faces.as_ref() != Some(&faces) {
            self.faces = Some(faces);
            self.spoil();
        }
    }

    /// Has all tiles drawn anew by the next [`Stage::look_around`], as in another theme.
    pub fn spoil(&mut self) {
        self.pens = None;
        for domain in &mut self.domains {
            domain.picture.spoil();
        }
    }

    /// Notes which domains are in view, draws those and, if `near`, what the next turn of the wheel may show; what is far
    /// away gives its pixels back. The first and last domain in view.
    pub fn look_around(&mut self, top: f64, high: f64, near: bool) -> Option<(u32, u32)> {
        if self
            .pens
            .as_ref()
            .is_some_and(|pens| pens.ratio != dom::ratio())
        {
            self.spoil();
        }
        let (ahead, kept) = (if near { NEAR.0 * high } else { 0.0 }, NEAR.1 * high);
        let bottom = top + high;
        let mut seen = None;
        for domain in &mut self.domains {
            let y = f64::from(domain.section.offset_top());
            let h = f64::from(domain.section.offset_height());
            // More than a third of it.
            if h > 0.0 && (y + h).min(bottom) - y.max(top) > h / 3.0 {
                let (first, _) = *seen.get_or_insert((domain.index, domain.index));
                seen = Some((first, domain.index));
            }
            let within = |room: f64| h > 0.0 && y + h > top - room && y < bottom + room;
            if !within(kept) {
                domain.picture.release();
            } else if within(ahead)
                && !domain.picture.drawn()
                && let Some(faces) = &self.faces
                && let Some(now) = self
                    .views
                    .as_ref()
                    .and_then(|views| views.get(domain.index as usize))
            {
                let pens = self
                    .pens
                    .get_or_insert_with(|| Pens::new(faces.grid.sizes()));
                domain.picture.fill(pens, faces, &now.gpus);
                domain.painted.clone_from(&now.gpus);
            }
        }
        seen
    }

    /// Draws tiles with other views than theirs, such as a clock on its way to the new one.
    pub fn pretend(&mut self, index: u32, tiles: &[(u32, GpuView)]) {
        let Some(at) = self.at(index) else { return };
        let (Some(domain), Some(pens), Some(faces)) =
            (self.domains.get(at), &mut self.pens, &self.faces)
        else {
            return;
        };
        domain.picture.touch(pens, faces, tiles.iter().copied());
    }

    /// Shows the newest views in what is not part of the first answer: words, and the domains out of view.
    pub fn catch_up(&mut self, views: &[DomainView]) {
        let (Some(plan), Some(newest)) = (&self.plan, &self.views) else {
            return;
        };
        let mut named_in = Vec::with_capacity(self.domains.len());
        for (group, (element, shown)) in plan.shown_groups().iter().zip(&mut self.groups) {
            let now = head(group, views, plan.tp);
            if *shown != now {
                let _ = element.class_list().toggle_with_force("hit", now.hit);
                set_text(element, "h3", &now.title);
                set_text(element, ".nt", &now.note);
            }
            named_in.extend(group.domains.clone().map(|_| named(plan, &now)));
            *shown = now;
        }
        for (domain, named) in self.domains.iter_mut().zip(named_in) {
            let Some(now) = views.get(domain.index as usize) else {
                continue;
            };
            let head = DomainHead::new(now, plan.tp, named);
            if head != domain.head {
                write_head(&domain.section, &domain.head, &head);
                domain.head = head;
            }
            if let Some(newest) = newest.get(domain.index as usize) {
                let tools = self.pens.as_mut().zip(self.faces.as_ref());
                domain.draw(tools, &newest.gpus);
            }
            if domain.said != now.gpus {
                domain.say(&now.gpus);
            }
        }
    }

    /// Where a domain is in [`Stage::domains`].
    fn at(&self, index: u32) -> Option<usize> {
        let first = self.domains.first()?.index;
        Some(index.checked_sub(first)? as usize)
    }

    /// A domain, if it is in the document.
    pub fn domain(&self, index: u32) -> Option<&Domain> {
        self.domains.get(self.at(index)?)
    }

    /// The cell of a GPU.
    pub fn cell(&self, (domain, gpu): (u32, u32)) -> Option<&HtmlElement> {
        self.domain(domain)?.cells.get(gpu as usize)
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
        for cell in tiles.iter().filter_map(|at| self.cell(*at)) {
            let _ = cell.class_list().toggle_with_force(class, on);
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
        if let Some(cell) = self.stop_at(at) {
            let _ = cell.focus();
        }
    }

    /// Makes a tile the one that Tab reaches in its rack.
    pub fn stop_at(&mut self, (index, gpu): (u32, u32)) -> Option<HtmlElement> {
        let at = self.at(index)?;
        let domain = self.domains.get_mut(at)?;
        let cell = domain.cells.get(gpu as usize)?;
        if domain.stop != gpu {
            if let Some(old) = domain.cells.get(domain.stop as usize) {
                old.set_tab_index(-1);
            }
            domain.stop = gpu;
            cell.set_tab_index(0);
        }
        Some(cell.clone())
    }
}

/// Whether a click repairs rather than fails.
pub fn is_down(state: GpuState) -> bool {
    matches!(
        state,
        GpuState::Failed | GpuState::Restarting | GpuState::Slow
    )
}

/// Whether the head over a domain names its replica already.
fn named(plan: &Plan, head: &Head) -> bool {
    !plan.phone && html::one_replica(head)
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

fn children(root: &Element) -> Vec<Element> {
    let list = root.children();
    (0..list.length())
        .filter_map(|index| list.item(index))
        .collect()
}
