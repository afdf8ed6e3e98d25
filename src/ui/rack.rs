//! Racks: one per domain, every GPU a tile that a click fails or repairs.
//!
//! Cells are built once per shape from [`crate::scene::rack::html`]; what they show is drawn on a canvas under them, tile by
//! tile, so that a click costs what changed and not what is shown.

mod actions;
mod band;
mod head;
mod input;
mod legend;
mod map;
mod menu;
mod motion;
mod pens;
mod picture;
mod plan;
mod sheet;
mod stage;
mod tip;

use super::dom;
use super::state::{Form, use_app};
use crate::core::strategy::{DomainView, GpuState};
pub use actions::repair_all;
use head::Head;
pub use head::{Dice, DiceFields};
use input::Input;
use legend::Legend;
use leptos::html::Div;
use leptos::prelude::*;
use map::Map;
pub use menu::Kinds;
use menu::Menu;
use plan::Plan;
use stage::Stage;
use tip::Tip;

/// What the parts of the racks share. `Copy`, like everything reactive.
#[derive(Clone, Copy)]
pub struct View {
    /// The scrolling box.
    pub scroller: NodeRef<Div>,
    /// What stands in the document.
    pub plan: Memo<Plan>,
    /// The elements of the tiles.
    pub stage: StoredValue<Stage, LocalStorage>,
    /// First and last domain in view.
    pub seen: RwSignal<(u32, u32)>,
    /// The domain looked at: its group is in the document where not all fit; the only one seen on a phone.
    pub focus: RwSignal<u32>,
    /// The tile whose menu is open.
    pub menu: RwSignal<Option<menu::Open>>,
    /// Tiles marked with the keyboard.
    pub marked: RwSignal<Vec<(u32, u32)>>,
}

/// The racks of the Rack page.
#[component]
pub fn Racks() -> impl IntoView {
    let app = use_app();
    let focus = RwSignal::new(0);
    let plan = Memo::new(move |_| {
        let (views, job) = (app.now.views.read(), app.now.job.read());
        // Spare domains that this strategy does not hold are not its racks.
        let held = |view: &DomainView| view.gpus.iter().any(|gpu| gpu.state != GpuState::LeftOver);
        let job_domains = job.placement.domains as usize;
        let spare = views.get(job_domains..).unwrap_or_default();
        let spare = spare.iter().rposition(held).map_or(0, |last| last + 1);
        let domains = views.len().min(job_domains + spare) as u32;
        Plan::new(&job, domains, focus.get(), app.form.get() == Form::Phone)
    });
    let view = View {
        scroller: NodeRef::new(),
        plan,
        stage: StoredValue::new_local(Stage::default()),
        seen: RwSignal::new((0, 0)),
        focus,
        menu: RwSignal::new(None),
        marked: RwSignal::new(Vec::new()),
    };
    provide_context(view);
    let groups = NodeRef::<Div>::new();
    let width = RwSignal::new(0.0);
    let section = NodeRef::<leptos::html::Section>::new();

    // Build or draw, then animate what moved.
    Effect::new(move |_| {
        let (Some(root), plan, views) = (groups.get(), plan.get(), app.now.views.get()) else {
            return;
        };
        let seen = view.seen.get_untracked();
        let moved = view
            .stage
            .try_update_value(|stage| stage.show(&root, &plan, &views, seen));
        let Some(Some(moved)) = moved else {
            fit(view, &root, &plan, width.get_untracked());
            return;
        };
        if moved.is_empty() {
            return;
        }
        // The answer to a click is painted first; what moves comes after it.
        motion::hold();
        dom::after_paint(move || {
            if let Some(Some(scroller)) = view.scroller.try_get_untracked() {
                motion::play(&scroller, view.stage, &moved, dom::reduced_motion());
            }
        });
    });
    // Words follow with everything else, so that who reads a cell's state finds the whole page in it.
    Effect::new(move |_| {
        let views = app.views.get();
        view.stage.update_value(|stage| stage.catch_up(&views));
    });

    // Tile size follows the width.
    Effect::new(move |_| {
        let (Some(root), plan, width) = (groups.get(), plan.get(), width.get()) else {
            return;
        };
        fit(view, &root, &plan, width);
    });
    Effect::new(move |before: Option<()>| {
        app.theme.track();
        // Nothing is drawn yet when the page opens, and looking would lay it out twice.
        if before.is_some() {
            view.stage.update_value(Stage::spoil);
            input::see_first(view);
        }
    });
    // Once all that follows the window has followed it: the scale of the page does too.
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        request_animation_frame(move || input::see(view, true));
    });
    on_cleanup(move || resized.remove());
    dom::on_resize(view.scroller, move |wide, _| width.set(wide));

    Effect::new(move |_| {
        let hover = app.hover.get();
        let radius = app.scenario(|scenario| scenario.policy.blast_radius);
        view.stage.update_value(|stage| stage.point(hover, radius));
    });
    // A phone shows one rack at a time, or the boards of a replica.
    Effect::new(move |_| {
        let (plan, focus) = (plan.get(), focus.get());
        if plan.phone {
            let shown = plan.beside(focus);
            view.stage.update_value(|stage| stage.show_only(&shown));
            input::see_first(view);
            view.seen.set((shown.start, shown.end.saturating_sub(1)));
        }
    });
    Effect::new(move |_| {
        let marked = view.marked.get();
        view.stage.update_value(|stage| stage.mark(&marked));
    });

    view! {
        <section class="racks" aria-label="Racks" node_ref=section>
            <Head />
            <div class="stand">
                <Input>
                    <div class="groups" node_ref=groups></div>
                </Input>
                <Map />
            </div>
            <Legend />
            <Tip within=section />
            <Menu />
        </section>
    }
}

/// Sizes the tiles for a width of the scrolling box and draws what is in view.
fn fit(view: View, root: &web_sys::HtmlElement, plan: &Plan, width: f64) {
    if width > 0.0 {
        let tile = plan.tile(width);
        view.stage.update_value(|stage| stage.fit(root, plan, tile));
        input::see_first(view);
    }
}
