//! The side column, without a page: how its numbers are written, its verdict, and the geometry of its bars and fan.
//!
//! Lengths are CSS pixels, x to the right and y down. Fractions of GPU-time are 0 to 1.

pub mod best;
pub mod changed;
pub mod config;
pub mod fan;
pub mod labels;
pub mod ledger;
pub mod lost;
pub mod number;
pub mod power;
pub mod rows;
pub mod stack;
pub mod terms;
pub mod text;
pub mod verdict;
pub mod why;
