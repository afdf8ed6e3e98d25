//! What to draw: layout and hit boxes, charts over any plotters backend. Pure, tested natively.

pub mod agreement;
pub mod plot;
pub mod rack;
pub mod side;
