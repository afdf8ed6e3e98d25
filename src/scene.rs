//! What to draw: layout and hit boxes, charts over any plotters backend. Pure, tested natively.

pub mod rack;
pub mod side;
