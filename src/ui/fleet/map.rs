//! The map: every domain on a canvas, zoomed by wheel or pinch, dragged, pointed at; a click opens a domain, and in an
//! open one fails or repairs a GPU at the playhead.

mod input;

use super::deck::{Deck, Run, use_deck};
use super::lens;
use super::paint::{FONT, Inks, Scene, Stamp};
use crate::core::fleet::recording::{Look, Projector};
use crate::core::strategy::StrategyId;
use crate::core::units::Nanos;
use crate::scene::fleet::grid::{Eye, Grid, Tiles};
use crate::scene::fleet::{pace, words};
use crate::ui::dom;
use crate::ui::shell::Marker;
use crate::ui::state::{Form, Shared};
use crate::work::fleet::Detail;
use gloo::timers::callback::Timeout;
use leptos::html;
use leptos::prelude::*;
use web_sys::CanvasRenderingContext2d;

/// The count's turn while the run plays.
const TURN: u32 = 2;

/// What stands on the canvas.
#[derive(Default)]
struct Stage {
    pen: Option<CanvasRenderingContext2d>,
    inks: Option<Inks>,
    grid: Grid,
    eye: Eye,
    tiles: Option<Tiles>,
    projector: Projector,
    /// Film on the projector.
    of: Option<(u32, StrategyId)>,
    size: (f64, f64),
    /// Device pixels per CSS pixel.
    ratio: f64,
    stamp: Stamp,
    /// One repaint a frame, however often wheel and pointer move.
    frame: dom::Frame,
    rest: Option<Timeout>,
    /// Pointers that are down: id and place.
    down: Vec<(i32, f64, f64)>,
    moved: f64,
}

/// What is pointed at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Spot {
    domain: u32,
    gpu: Option<u32>,
}

/// Handles of the map's parts.
#[derive(Clone, Copy)]
struct Map {
    deck: Deck,
    stage: StoredValue<Stage, LocalStorage>,
    canvas: NodeRef<html::Canvas>,
    spot: RwSignal<Option<Spot>>,
    /// Counts repaints, so that what lies over the canvas follows it.
    drawn: RwSignal<u32>,
    near: RwSignal<bool>,
    hit: RwSignal<(u32, usize)>,
    /// How far the map is known, where that is not as far as the playhead.
    known: RwSignal<Option<Nanos>>,
    detail: RwSignal<Option<Shared<Detail>>>,
}

/// The map with its head, legend and tip.
#[component]
pub fn FleetMap() -> impl IntoView {
    let deck = use_deck();
    let map = Map {
        deck,
        stage: StoredValue::new_local(Stage::default()),
        canvas: NodeRef::new(),
        spot: RwSignal::new(None),
        drawn: RwSignal::new(0),
        near: RwSignal::new(false),
        hit: RwSignal::new((0, 0)),
        known: RwSignal::new(None),
        detail: RwSignal::new(None),
    };
    let holder = NodeRef::<html::Div>::new();
    let size = RwSignal::new((0.0_f64, 0.0_f64));
    dom::on_resize(holder, move |wide, high| size.set((wide, high)));
    // A new size or theme: everything anew.
    let fresh = StoredValue::new_local(dom::Turn::default());
    Effect::new(move |_| {
        let (wide, high) = size.get();
        let _ = deck.app.theme.get();
        if wide < 20.0 || high < 20.0 {
            return;
        }
        // After the theme is on the document.
        let paint = move || {
            // The page may have been left meanwhile.
            let Some(canvas) = map.canvas.try_get_untracked().flatten() else {
                return;
            };
            map.stage.update_value(|stage| {
                stage.size = (wide, high);
                stage.ratio = dom::ratio();
                let inks = Inks::read();
                stage.pen = dom::opaque(&canvas, wide, high, &inks.panel);
                stage.inks = Some(inks);
                if let Some(pen) = &stage.pen {
                    pen.set_font(FONT);
                }
                stage.of = None;
            });
            map.paint(true);
        };
        fresh.update_value(|turn| turn.request(paint));
    });
    // A new run, strategy, playhead or piece of film.
    Effect::new(move |_| {
        deck.run.track();
        deck.time.track();
        deck.filmed.track();
        deck.app.selected.track();
        // Once it stands still, the count is that of the last frame.
        deck.playing.track();
        untrack(|| map.paint(false));
    });
    // What is known about a domain pointed at.
    Effect::new(move |_| {
        let spot = map.spot.get();
        let playing = deck.playing.get();
        let domain = spot.map(|spot| spot.domain);
        let known = map
            .detail
            .with_untracked(|detail| detail.as_ref().map(|d| d.domain));
        if known.is_some() && (known != domain || !playing) {
            map.detail.set(None);
        }
        let (Some(domain), Some(run)) = (domain, deck.run.get()) else {
            return;
        };
        if playing && known == Some(domain) {
            return;
        }
        let run = untrack(|| deck.run_at(&run, deck.time.get_untracked()));
        untrack(|| {
            deck.detail(&run, domain, move |detail| {
                if map
                    .spot
                    .try_get_untracked()
                    .flatten()
                    .is_some_and(|s| s.domain == detail.domain)
                {
                    map.detail.set(Some(Shared::new(detail)));
                }
            });
        });
    });
    let head = move || {
        let (failed, hit) = map.hit.get();
        deck.run.with(|run| {
            run.as_ref().map(|run| {
                let sentence = words::down(failed, run.head.gpus, hit, run.head.domains);
                sentence
                    .0
                    .into_iter()
                    .map(|run| {
                        if run.bold {
                            view! { <b>{run.text}</b> }.into_any()
                        } else {
                            view! { <span class="m">{run.text}</span> }.into_any()
                        }
                    })
                    .collect_view()
            })
        })
    };
    let step = move |factor: f64| {
        map.stage.update_value(|stage| {
            let (x, y) = (stage.size.0 / 2.0, stage.size.1 / 2.0);
            let grid = stage.grid;
            stage.eye.zoom_at(&grid, factor, x, y);
        });
        map.repaint();
    };
    view! {
        <section class="fmap" aria-label="Map of all domains">
            <div class="fh">
                <div>
                    <h2 class="fcount">
                        {head} <span class="m">", under "</span> <Marker of=Signal::derive(move || deck.app.selected.get()) />
                        " " {move || deck.app.selected.get().id()}
                    </h2>
                    <p class="m">
                        {move || {
                            if let Some(known) = map.known.get() {
                                return ["The map is known until day ", &pace::days(known), "; the rest is on its way."].concat();
                            }
                            match (map.near.get(), deck.app.form.get() == Form::Phone) {
                                (true, false) => "Click a GPU to fail or repair it at the playhead. Drag to move.",
                                (false, false) => "Click a domain to open it. Scroll zooms to single GPUs.",
                                (true, true) => "Tap a GPU to fail or repair it at the playhead.",
                                (false, true) => "Tap a domain to open it. Pinch to zoom.",
                            }
                                .to_owned()
                        }}
                    </p>
                </div>
                <span class="grow"></span>
                <span class="fzoom">
                    <button class="tb line" aria-label="Zoom out" on:click=move |_| step(0.6)>
                        "−"
                    </button>
                    <button class="tb line" aria-label="Zoom in" on:click=move |_| step(1.7)>
                        "+"
                    </button>
                    <button class="tb line" on:click=move |_| map.whole()>
                        "Whole fleet"
                    </button>
                </span>
            </div>
            <div
                class="fcanvas"
                node_ref=holder
                tabindex="0"
                role="application"
                aria-label="Map of all domains. Arrows move, Enter opens a domain or fails a GPU, Escape shows the whole fleet."
                on:keydown=move |event| map.key(&event)
                on:blur=dom::while_here(move |_| map.spot.set(None))
            >
                <canvas
                    node_ref=map.canvas
                    on:pointerdown=move |event| map.press(&event)
                    on:pointermove=move |event| map.drag(&event)
                    on:pointerup=move |event| map.release(&event)
                    on:pointercancel=move |event| map.drop_pointer(&event)
                    on:pointerleave=move |event| {
                        if event.pointer_type() == "mouse" {
                            map.stage.update_value(|stage| stage.rest = None);
                            map.spot.set(None);
                        }
                    }
                    on:wheel=move |event| map.wheel(&event)
                ></canvas>
                <div class="fmarks" aria-hidden="true" inner_html=move || map.marks()></div>
                {move || map.tip()}
            </div>
            <div class="lgd flgd" inner_html=lens::LEGEND></div>
        </section>
    }
}

impl Map {
    /// Paints everything before the next frame.
    fn repaint(self) {
        self.stage
            .update_value(|stage| stage.frame.request(move || self.paint(true)));
    }

    /// Says nothing about what is under a pointer that moves the map.
    fn hide(self) {
        if self.spot.with_untracked(Option::is_some) {
            self.spot.set(None);
        }
    }

    /// Brings the canvas up to date; `whole`: also where nothing has changed.
    fn paint(self, whole: bool) {
        let deck = self.deck;
        let Some(run) = deck.run.get_untracked() else {
            return;
        };
        let time = deck.time.get_untracked();
        let run = deck.run_at(&run, time);
        let strategy = deck.app.selected.get_untracked();
        let counts = deck.is_turn(TURN);
        let mut seen = (0u32, 0usize);
        self.stage.update_value(|stage| {
            let known = deck.with_film(&run, strategy, |film| {
                let of = Some((run.head.run, strategy));
                let mut all = whole;
                if stage.of != of || stage.grid.domains != film.domains {
                    stage.of = of;
                    stage.projector = Projector::default();
                    let (wide, high) = stage.size;
                    let grid = Grid::fit(film.domains, wide, high);
                    if grid.columns != stage.grid.columns || grid.domains != stage.grid.domains {
                        stage.eye = Eye::default();
                    }
                    stage.grid = grid;
                    stage.tiles = Some(Tiles::of(run.head.domain_size));
                    all = true;
                }
                let mut changed: Vec<u32> = Vec::new();
                stage
                    .projector
                    .seek(film, time, |domain| changed.push(domain));
                changed.sort_unstable();
                changed.dedup();
                let (Some(pen), Some(inks), Some(tiles)) = (&stage.pen, &stage.inks, &stage.tiles)
                else {
                    return None;
                };
                let stamp = &mut stage.stamp;
                let scene = Scene {
                    grid: &stage.grid,
                    eye: &stage.eye,
                    tiles,
                    film,
                    looks: stage.projector.looks(),
                    inks,
                    ratio: stage.ratio,
                };
                if all || changed.len() * 3 > film.domains as usize {
                    pen.set_fill_style_str(&inks.panel);
                    pen.fill_rect(0.0, 0.0, stage.size.0, stage.size.1);
                    scene.paint(pen, stage.grid.visible(&stage.eye), true, stamp);
                } else if !changed.is_empty() {
                    let inside = |domain: &u32| {
                        let square = stage.grid.square(&stage.eye, *domain);
                        square.x + square.w >= 0.0
                            && square.y + square.h >= 0.0
                            && square.x <= stage.size.0
                            && square.y <= stage.size.1
                    };
                    scene.paint(pen, changed.into_iter().filter(inside), false, stamp);
                }
                let hit = stage
                    .projector
                    .looks()
                    .iter()
                    .filter_map(|id| film.looks.get(*id as usize));
                if counts {
                    seen.1 = hit.filter(|look| look.down > 0).count();
                }
                (film.until < time && film.until < run.recording.end).then_some(film.until)
            });
            let known = known.flatten();
            if self.known.get_untracked() != known {
                self.known.set(known);
            }
        });
        if counts {
            seen.0 = run
                .recording
                .track(strategy)
                .map_or(0, |track| track.at(time).failed);
            if self.hit.get_untracked() != seen {
                self.hit.set(seen);
            }
        }
        let near = self.near();
        if self.near.get_untracked() != near {
            self.near.set(near);
        }
        if self.spot.with_untracked(Option::is_some) && (whole || counts) {
            self.drawn.update(|count| *count = count.wrapping_add(1));
        }
    }

    /// Whether GPUs are tiles of their own.
    fn near(self) -> bool {
        self.stage.with_value(|stage| {
            let square = stage.grid.square(&stage.eye, 0);
            stage.tiles.is_some_and(|tiles| tiles.drawn(&square))
        })
    }

    fn whole(self) {
        self.stage.update_value(|stage| stage.eye = Eye::default());
        self.paint(true);
    }

    fn spot_at(self, x: f64, y: f64) -> Option<Spot> {
        self.stage.with_value(|stage| {
            let domain = stage.grid.at(&stage.eye, x, y)?;
            let square = stage.grid.square(&stage.eye, domain);
            let gpu = stage
                .tiles
                .filter(|tiles| tiles.drawn(&square))
                .and_then(|tiles| tiles.at(&square, x, y));
            Some(Spot { domain, gpu })
        })
    }

    fn look(self, domain: u32) -> Option<Look> {
        let run = self.deck.run.get_untracked()?;
        let run = self.deck.run_at(&run, self.deck.time.get_untracked());
        let strategy = self.deck.app.selected.get_untracked();
        self.stage.with_value(|stage| {
            let id = *stage.projector.looks().get(domain as usize)?;
            self.deck
                .with_film(&run, strategy, |film| film.looks.get(id as usize).cloned())
                .flatten()
        })
    }

    /// Rings over the canvas: what is pointed at, and the replica it belongs to.
    fn marks(self) -> String {
        self.drawn.track();
        let mut out = String::new();
        let Some(spot) = self.spot.get() else {
            return out;
        };
        self.stage.with_value(|stage| {
            let square = stage.grid.square(&stage.eye, spot.domain);
            let own = match (spot.gpu, stage.tiles) {
                (Some(gpu), Some(tiles)) => tiles.tile(&square, gpu),
                _ => square,
            };
            lens::ring(&mut out, "on", &own);
            if let Some(detail) = self.detail.get() {
                for peer in detail
                    .peers
                    .iter()
                    .filter(|peer| **peer != spot.domain)
                    .take(80)
                {
                    let square = stage.grid.square(&stage.eye, *peer);
                    if square.x < stage.size.0
                        && square.y < stage.size.1
                        && square.x + square.w > 0.0
                        && square.y + square.h > 0.0
                    {
                        lens::ring(&mut out, "peer", &square);
                    }
                }
            }
        });
        out
    }

    fn tip(self) -> Option<AnyView> {
        self.drawn.track();
        let spot = self.spot.get()?;
        self.deck.calm.track();
        let detail = self.detail.get();
        let run: Shared<Run> = self.deck.run.get()?;
        let look = self.look(spot.domain)?;
        let (square, size, tiles) = self.stage.with_value(|stage| {
            (
                stage.grid.square(&stage.eye, spot.domain),
                stage.size,
                stage.tiles,
            )
        });
        let tiles = tiles?;
        let anchor = spot.gpu.map_or(square, |gpu| tiles.tile(&square, gpu));
        let markup = match spot.gpu {
            Some(gpu) => lens::gpu(spot.domain, gpu, &look, detail.as_deref()),
            None => lens::domain(spot.domain, &run.head, &look, &tiles, detail.as_deref()),
        };
        let left = anchor.x + anchor.w / 2.0 > size.0 * 0.6;
        let x = if left {
            size.0 - anchor.x + 10.0
        } else {
            anchor.x + anchor.w + 10.0
        };
        let low = anchor.y > size.1 * 0.5;
        let y = if low {
            (size.1 - anchor.y - anchor.h - 4.0).max(-30.0)
        } else {
            anchor.y - 8.0
        };
        let style = [
            if left { "right:" } else { "left:" },
            &crate::scene::side::number::fixed(x, 0).replace('−', "-"),
            "px;",
            if low { "bottom:" } else { "top:" },
            &crate::scene::side::number::fixed(y, 0).replace('−', "-"),
            "px",
        ]
        .concat();
        let class = if spot.gpu.is_some() { "ftip" } else { "flens" };
        Some(view! { <div class=class style=style inner_html=markup></div> }.into_any())
    }
}
