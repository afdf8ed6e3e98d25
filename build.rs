//! Asks the linker for what splitting the page's program into parts needs.

fn main() {
    let set = |name| std::env::var_os(name).is_some();
    if set("CARGO_FEATURE_SPLIT")
        && std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32")
    {
        println!("cargo::rustc-link-arg-bin=ntp-explorer=--emit-relocs");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
