//! Racks: shape, grouping, words, markup, tiles and map of the domains on the Rack page.

pub mod face;
pub mod group;
pub mod html;
pub mod map;
pub mod pick;
pub mod reach;
pub mod shape;
pub mod tile;
pub mod words;

#[cfg(test)]
pub(crate) mod fixture;
