//! The Fleet page without pixels: where domains lie, what the lines are, what the words say.

pub mod frame;
pub mod grid;
pub mod lines;
pub mod pace;
pub mod words;
