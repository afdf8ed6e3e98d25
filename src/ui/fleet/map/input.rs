//! Pointers, wheel and keys on the map.

use super::{Map, Spot};
use crate::core::strategy::GpuState;
use crate::scene::fleet::words;
use crate::ui::dom;
use crate::work::fleet::Change;
use gloo::timers::callback::Timeout;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{HtmlCanvasElement, KeyboardEvent, PointerEvent, WheelEvent};

/// How far the pointer moves before a press is a drag, px.
const SLACK: f64 = 5.0;
/// Rest of the wheel before the map says again what is under the pointer, ms.
const REST_MS: u32 = 150;

impl Map {
    pub(super) fn press(self, event: &PointerEvent) {
        let (x, y) = dom::place_in(event);
        if let Some(canvas) = canvas_of(event) {
            // Fails only for a pointer that is gone already.
            let _ = canvas.set_pointer_capture(event.pointer_id());
        }
        self.stage.update_value(|stage| {
            if stage.down.is_empty() {
                stage.moved = 0.0;
            }
            stage.down.push((event.pointer_id(), x, y));
        });
    }

    pub(super) fn drag(self, event: &PointerEvent) {
        let (x, y) = dom::place_in(event);
        let mut painted = false;
        self.stage.update_value(|stage| {
            let others = stage.down.len();
            let other = stage
                .down
                .iter()
                .find(|(id, ..)| *id != event.pointer_id())
                .copied();
            let Some(own) = stage
                .down
                .iter_mut()
                .find(|(id, ..)| *id == event.pointer_id())
            else {
                return;
            };
            let (dx, dy) = (x - own.1, y - own.2);
            let before = (own.1, own.2);
            stage.moved += dx.abs() + dy.abs();
            if stage.moved < SLACK {
                return;
            }
            (own.1, own.2) = (x, y);
            let grid = stage.grid;
            if let (2, Some(other)) = (others, other) {
                let gap = |from: (f64, f64)| (from.0 - other.1).hypot(from.1 - other.2).max(1.0);
                let factor = gap((x, y)) / gap(before);
                let middle = (f64::midpoint(x, other.1), f64::midpoint(y, other.2));
                stage.eye.zoom_at(&grid, factor, middle.0, middle.1);
            } else {
                stage.eye.pan(&grid, dx, dy);
            }
            painted = true;
        });
        if painted {
            self.hide();
            self.repaint();
            return;
        }
        let spot = self.spot_at(x, y);
        if self.spot.get_untracked() != spot {
            self.spot.set(spot);
        }
    }

    pub(super) fn drop_pointer(self, event: &PointerEvent) {
        self.stage
            .update_value(|stage| stage.down.retain(|(id, ..)| *id != event.pointer_id()));
    }

    pub(super) fn release(self, event: &PointerEvent) {
        let clicked = self
            .stage
            .with_value(|stage| stage.moved < SLACK && stage.down.len() == 1);
        self.drop_pointer(event);
        let (x, y) = dom::place_in(event);
        if clicked
            && event.button() == 0
            && let Some(spot) = self.spot_at(x, y)
        {
            self.act(spot);
        }
    }

    /// Opens a domain, or fails or repairs the GPU.
    fn act(self, spot: Spot) {
        let Some(gpu) = spot.gpu else {
            if !self.near() {
                self.stage.update_value(|stage| {
                    let grid = stage.grid;
                    stage.eye.open(&grid, spot.domain);
                });
                self.spot.set(None);
                self.paint(true);
            }
            return;
        };
        let Some(look) = self.look(spot.domain) else {
            return;
        };
        let name = ["D", &spot.domain.to_string(), " GPU ", &gpu.to_string()].concat();
        let (change, verb) = if matches!(look.gpu(gpu), GpuState::Failed | GpuState::Restarting) {
            let change = Change::Repair {
                domain: spot.domain,
                first: gpu as u16,
                gpus: 1,
            };
            (change, " is repaired")
        } else {
            let change = Change::Fail {
                domain: spot.domain,
                gpu: gpu as u16,
            };
            (change, " fails")
        };
        self.deck.playing.set(false);
        self.deck.fork(change, [&name, verb].concat());
        self.deck.app.said.set([&name, verb, "."].concat());
    }

    pub(super) fn wheel(self, event: &WheelEvent) {
        event.prevent_default();
        let factor = (-event.delta_y() * if event.delta_mode() == 0 { 0.002 } else { 0.06 }).exp();
        let (x, y) = dom::place_in(event);
        self.stage.update_value(|stage| {
            let grid = stage.grid;
            stage.eye.zoom_at(&grid, factor, x, y);
            // The tip would be made anew for every turn of the wheel.
            stage.rest = Some(Timeout::new(REST_MS, move || {
                self.spot.try_set(self.spot_at(x, y));
            }));
        });
        self.hide();
        self.repaint();
    }

    pub(super) fn key(self, event: &KeyboardEvent) {
        let (columns, domains, tiles) = self.stage.with_value(|stage| {
            (
                stage.grid.columns as i64,
                i64::from(stage.grid.domains),
                stage.tiles,
            )
        });
        let spot = self.spot.get_untracked();
        let by = match event.key().as_str() {
            "ArrowLeft" => (-1, 0),
            "ArrowRight" => (1, 0),
            "ArrowUp" => (0, -1),
            "ArrowDown" => (0, 1),
            "Enter" => {
                event.prevent_default();
                if let Some(spot) = spot {
                    self.act(spot);
                }
                return;
            }
            "Escape" => {
                self.whole();
                return;
            }
            _ => return,
        };
        event.prevent_default();
        let step = |at: u32, row: i64, count: i64| {
            let to = i64::from(at) + by.0 + by.1 * row;
            if (0..count).contains(&to) {
                to as u32
            } else {
                at
            }
        };
        let next = match (spot, tiles) {
            (None, _) => Spot {
                domain: 0,
                gpu: None,
            },
            (
                Some(Spot {
                    domain,
                    gpu: Some(gpu),
                }),
                Some(tiles),
            ) => Spot {
                domain,
                gpu: Some(step(gpu, i64::from(tiles.columns), i64::from(tiles.gpus))),
            },
            (Some(Spot { domain, .. }), _) => Spot {
                domain: step(domain, columns, domains),
                gpu: self.near().then_some(0),
            },
        };
        self.spot.set(Some(next));
        if let Some(look) = self.look(next.domain) {
            let name = match next.gpu {
                Some(gpu) => ["GPU ", &gpu.to_string(), ", ", look.gpu(gpu).words()].concat(),
                None => ["D", &next.domain.to_string(), ", ", words::cell(&look)].concat(),
            };
            self.deck.app.said.set(name);
        }
    }
}

fn canvas_of(event: &PointerEvent) -> Option<HtmlCanvasElement> {
    event.current_target()?.dyn_into().ok()
}
