//! The page: Leptos components over memos of the core. Holds no rules of the model.

mod about;
mod app;
pub mod bench;
mod dom;
mod figures;
mod files;
mod fleet;
pub mod later;
mod link;
mod phone;
mod plot;
mod rack;
mod radio;
mod route;
mod shell;
mod side;
mod state;
mod step;
pub mod why;
pub mod worker;

pub use app::mount;
