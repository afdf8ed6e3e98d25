//! NTP Explorer: fail GPUs in NVL8 and NVL72 racks and see what nonuniform tensor parallelism does about it.
//!
//! One direction: [`core`] (pure model and simulators) <- [`scene`] (pure geometry and charts) and [`work`] (long work as
//! messages) <- `ui` (the page, wasm32 only); `cli` (native only) stands beside them. `ARCHITECTURE.md` is the map.

pub mod core;
pub mod scene;
pub mod work;

#[cfg(not(target_arch = "wasm32"))]
pub mod cli;
#[cfg(target_arch = "wasm32")]
pub mod ui;
