//! The app on wasm32, the command line everywhere else.

#[cfg(target_arch = "wasm32")]
mod parts;

#[cfg(target_arch = "wasm32")]
fn main() {
    ntp_explorer::ui::mount(parts::PROGRAMS);
}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::process::ExitCode {
    ntp_explorer::cli::run()
}
