//! Markup of the racks, as one string: the first paint in `index.html` and the live page build the same elements, so nothing
//! jumps when the engine takes over; tiles alone are elements there and drawn as [`super::face`] says here. All text comes
//! from numbers and fixed words; nothing needs escaping.

use super::group::{Group, Head};
use super::shape::RackShape;
use super::words;
use crate::core::hardware::Gpu;
use crate::core::strategy::{DomainView, GpuState, GpuView};
use std::fmt::Write;

/// What the markup of every domain needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// The drawn shape.
    pub shape: RackShape,
    /// GPUs per slot (TP degree of the layout).
    pub tp: u32,
    /// The accelerator, for its clock.
    pub gpu: &'a Gpu,
    /// Domains are seen one at a time, without the head of their group.
    pub alone: bool,
}

/// A cell has no look of its own: a canvas under it shows the GPU, so that a change costs no style and no layout.
fn cell(out: &mut String, domain: u32, index: u32, gpu: &GpuView) {
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<div class=\"cell\" role=\"gridcell\" tabindex=\"{}\" data-domain=\"{domain}\" data-gpu=\"{index}\" data-state=\"{}\" \
         aria-label=\"{}\"></div>",
        // One tab stop a rack; arrows move it.
        if index == 0 { 0 } else { -1 },
        gpu.state.id(),
        words::label(domain, index, gpu),
    );
}

fn cabinet(out: &mut String, look: &Look<'_>, view: &DomainView) {
    let shape = &look.shape;
    let board = if shape.is_board() { " board" } else { "" };
    let _ = write!(
        out,
        "<div class=\"cab{board}\" role=\"grid\" aria-label=\"Domain {}\">\
         <canvas class=\"tiles\" width=\"0\" height=\"0\" aria-hidden=\"true\"></canvas>",
        view.index
    );
    for row in 0..shape.rows() {
        out.push_str("<div class=\"tray\" role=\"row\">");
        for index in shape.row(row) {
            if let Some(gpu) = view.gpus.get(index as usize) {
                cell(out, view.index, index, gpu);
            }
        }
        out.push_str("</div>");
        if row + 1 == shape.switch_after {
            let trays = shape.switch_trays;
            let _ = write!(
                out,
                "<div class=\"sws\" style=\"--n:{trays}\" aria-hidden=\"true\"><span>{trays} NVLink switch tray{}</span></div>",
                if trays == 1 { "" } else { "s" }
            );
        }
    }
    out.push_str("</div>");
}

/// The two lines over a domain: name and place, degree, condition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainHead {
    /// "stage 0".
    pub place: String,
    /// "TP 70".
    pub degree: String,
    /// " of 72", empty for a spare domain.
    pub of: String,
    /// "2 failed, 70 boosted".
    pub condition: String,
    /// Whether the condition deserves ink.
    pub loud: bool,
}

impl DomainHead {
    /// The head of a domain; `replica_named` when the group above already names its only replica.
    pub fn new(view: &DomainView, tp: u32, replica_named: bool) -> Self {
        let degree = words::degree(view);
        let of = if degree.starts_with("TP") {
            format!(" of {tp}")
        } else {
            String::new()
        };
        let loud = view.gpus.iter().any(|gpu| {
            !matches!(
                gpu.state,
                GpuState::Healthy | GpuState::Spare | GpuState::LeftOver | GpuState::Idle
            )
        });
        Self {
            place: words::place(view, replica_named),
            degree,
            of,
            condition: words::condition(view),
            loud,
        }
    }
}

/// One domain: head and cabinet.
pub fn domain(out: &mut String, look: &Look<'_>, view: &DomainView, replica_named: bool) {
    let head = DomainHead::new(view, look.tp, replica_named);
    let _ = write!(
        out,
        "<section class=\"dom\" data-dom=\"{0}\" aria-label=\"Domain {0}\"><header><div class=\"l1\"><h3>D{0}</h3>\
         <span class=\"m place\">{1}</span><span class=\"deg\"><b>{2}</b><span class=\"m\">{3}</span></span></div>\
         <div class=\"s cn{4}\">{5}</div></header>",
        view.index,
        head.place,
        head.degree,
        head.of,
        if head.loud { "" } else { " m" },
        head.condition
    );
    cabinet(out, look, view);
    out.push_str("</section>");
}

/// Whether the head of a group names one replica, so that its racks need not.
pub fn one_replica(head: &Head) -> bool {
    head.title.starts_with("Replica ")
}

/// One group: head and domains.
pub fn group(out: &mut String, look: &Look<'_>, group: &Group, head: &Head, views: &[DomainView]) {
    let hit = if head.hit { " hit" } else { "" };
    let _ = write!(
        out,
        "<div class=\"rep{hit}\" data-first=\"{}\"><header><h3>{}</h3><span class=\"m nt\">{}</span></header><div class=\"doms\">",
        group.domains.start, head.title, head.note
    );
    for view in views
        .get(group.domains.start as usize..group.domains.end as usize)
        .unwrap_or_default()
    {
        domain(out, look, view, one_replica(head) && !look.alone);
    }
    out.push_str("</div></div>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::hardware::system;
    use crate::scene::rack::{fixture, group::groups, group::head};

    #[test]
    fn every_gpu_is_a_gridcell_with_its_handles() {
        let system = system("h100-nvl8").unwrap();
        let placement = fixture::placement(8, 8, 1, 2);
        let mut views = fixture::healthy(&placement, 2);
        views[1].gpus[5].state = GpuState::Failed;
        views[1].gpus[5].tp_rank = None;
        let look = Look {
            shape: RackShape::of(system),
            tp: 8,
            gpu: &system.gpu,
            alone: false,
        };
        let mut out = String::new();
        for one in groups(&placement, 2) {
            group(&mut out, &look, &one, &head(&one, &views, 8), &views);
        }
        assert_eq!(out.matches("role=\"gridcell\"").count(), 16);
        assert!(out.contains(
            "<div class=\"cell\" role=\"gridcell\" tabindex=\"-1\" data-domain=\"1\" data-gpu=\"5\" data-state=\"failed\" \
             aria-label=\"Domain 1 GPU 5: failed\"></div>"
        ));
        assert_eq!(out.matches("<canvas").count(), 2);
        assert!(out.contains("class=\"cab board\""));
    }

    #[test]
    fn slots_inside_a_domain_are_counted() {
        let system = system("gb300-nvl72").unwrap();
        let look = Look {
            shape: RackShape::of(system),
            tp: 8,
            gpu: &system.gpu,
            alone: false,
        };
        let view = fixture::healthy(&fixture::placement(72, 8, 1, 9), 1).remove(0);
        let mut out = String::new();
        domain(&mut out, &look, &view, false);
        assert!(out.contains("9 TP groups") && out.contains("9 NVLink switch trays"));
    }
}
