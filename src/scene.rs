//! What to draw: layout and hit boxes, charts over any plotters backend. Pure, tested natively.

pub mod agreement;
pub mod first;
pub mod fleet;
pub mod gantt;
pub mod markup;
pub mod plot;
pub mod rack;
pub mod rect;
pub mod side;
pub mod studies;
