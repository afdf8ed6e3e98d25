//! Turns the numbers of `assets/data` into constants, so that the page carries no reader for them, and asks the linker
//! for what splitting the page's program into parts needs.

#[path = "build/calibration.rs"]
mod calibration;
#[path = "build/node.rs"]
mod node;
#[path = "build/presets.rs"]
mod presets;

use node::{Wrong, read};
use std::path::Path;

/// Writes `NAME.rs` for the module that includes it.
fn write(name: &str, code: &str) -> Result<(), Wrong> {
    let folder = std::env::var_os("OUT_DIR").ok_or_else(|| Wrong("OUT_DIR: missing".into()))?;
    let path = Path::new(&folder).join(name);
    std::fs::write(&path, code).map_err(|error| Wrong(format!("{}: {error}", path.display())))
}

fn data() -> Result<(), Wrong> {
    write(
        "systems.rs",
        &presets::systems(read("systems.json")?.root())?,
    )?;
    write("models.rs", &presets::models(read("models.json")?.root())?)?;
    write(
        "bands.rs",
        &presets::bands(read("prediction_errors.json")?.root())?,
    )?;
    let model = read("step_model.json")?;
    write("version.rs", &calibration::version(model.root())?)?;
    let code = [
        calibration::constants(model.root())?,
        calibration::gemm(read("gemm_efficiency.json")?.root())?,
        calibration::nccl(read("nccl_time.json")?.root())?,
    ];
    write("calibration.rs", &code.concat())
}

fn main() {
    let set = |name| std::env::var_os(name).is_some();
    if set("CARGO_FEATURE_SPLIT")
        && std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32")
    {
        println!("cargo::rustc-link-arg-bin=ntp-explorer=--emit-relocs");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    if let Err(Wrong(line)) = data() {
        println!("cargo::error={line}");
    }
}
