#!/usr/bin/env bash
# Makes everything that `make` needs be there: the wasm target, Trunk, wasm-bindgen, wasm-opt and, with --browser,
# Chromium with its driver. Says nothing and takes no time when it is all there already.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"

# One set-up at a time, however many makes run beside each other.
if have flock; then
  exec 9>"$TOOLS/.lock"
  flock 9
fi

have cargo || die "set-up: Rust is missing; install it with rustup, then run make again"

# rustup may be told not to fetch toolchains by itself (RUSTUP_AUTO_INSTALL=0).
if ! cargo --version >/dev/null 2>&1; then
  quietly "installing Rust $RUST_VERSION" rustup toolchain install "$RUST_VERSION" --profile minimal --component rustfmt --component clippy
fi
if [ ! -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown" ]; then
  have rustup || die "set-up: this Rust has no wasm32-unknown-unknown target and there is no rustup to add it"
  quietly "adding the wasm32-unknown-unknown target" rustup target add wasm32-unknown-unknown
fi

# Whether a tool of our folder is there in a version: it says so, or cargo's list does for those that do not tell.
installed() {
  local crate=$1 binary=$2 version=$3
  [ -x "$TOOLS/bin/$binary" ] || return 1
  grep -qs "^\"$crate $version " "$TOOLS/.crates.toml" || [ "$("$TOOLS/bin/$binary" --version 2>/dev/null | awk '{ print $2 }')" = "$version" ]
}

# cargo_tool CRATE BINARY VERSION LEVEL [cargo install options]: LEVEL is how much it is optimised.
cargo_tool() {
  local crate=$1 binary=$2 version=$3 level=$4
  shift 4
  installed "$crate" "$binary" "$version" && return 0
  if have cargo-binstall && [ "$level" = 0 ]; then
    say "set-up: fetching $crate $version"
    cargo binstall --no-confirm --locked --root "$TOOLS" "$crate@$version" >"$TOOLS/setup.log" 2>&1 || true
    installed "$crate" "$binary" "$version" && return 0
  fi
  # One folder, so that they share what they can.
  quietly "building $crate $version, once, some minutes" env \
    CARGO_TARGET_DIR="$TOOLS/build" CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=256 \
    CARGO_PROFILE_RELEASE_OPT_LEVEL="$level" CARGO_PROFILE_RELEASE_DEBUG=false RUSTFLAGS= \
    cargo install --locked --force --root "$TOOLS" --version "$version" "$@" "$crate"
  installed "$crate" "$binary" "$version" || die "set-up: $crate was installed, but is not version $version"
}
# Tools that run for seconds need not be optimised for minutes. Trunk works offline here: neither TLS nor its check for updates.
cargo_tool trunk trunk "$TRUNK_VERSION" 0 --no-default-features
cargo_tool wasm-bindgen-cli wasm-bindgen "$WASM_BINDGEN_VERSION" 0
cargo_tool wasm_split_cli_support wasm-split-cli "$WASM_SPLIT_VERSION" 1 --features build-binary
rm -rf "$TOOLS/build"

# npm_package PREFIX NAME VERSION: into a folder of its own, because npm removes what a second package did not ask for.
npm_package() {
  if ! have npm; then
    can_apt || die "set-up: npm is missing; install Node.js with npm (Debian: nodejs npm), then run make again"
    if have node; then apt_install npm; else apt_install nodejs npm; fi
  fi
  quietly "fetching $2 $3" \
    npm install --prefix "$TOOLS/$1" --no-save --no-package-lock --no-audit --no-fund "$2@$3"
}

# wasm-opt: Debian's is too old, so it comes from npm, with the version read from its package and not by starting it.
binaryen_version() {
  sed -n 's/^ *"version": *"\([0-9]*\)\..*/\1/p' "$TOOLS/npm/node_modules/binaryen/package.json" 2>/dev/null | head -n 1
}
if [ "$(binaryen_version)" = "" ] || [ "$(binaryen_version)" -lt "$BINARYEN_OLDEST" ]; then
  npm_package npm binaryen "$BINARYEN_VERSION"
fi
[ "$(binaryen_version)" -ge "$BINARYEN_OLDEST" ] || die "set-up: wasm-opt is older than version $BINARYEN_OLDEST"

if [ "${1:-}" = --browser ]; then
  if ! find_chrome >/dev/null || ! have "${CHROMEDRIVER:-chromedriver}"; then
    can_apt || die "set-up: Chromium is missing; install it with its driver (Debian: chromium chromium-driver), then run make again"
    apt_install chromium chromium-driver
  fi
  if ! grep -q "\"version\": \"$SPEEDSCOPE_VERSION\"" "$TOOLS/speedscope/node_modules/speedscope/package.json" 2>/dev/null; then
    npm_package speedscope speedscope "$SPEEDSCOPE_VERSION"
  fi
fi
