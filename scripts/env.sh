# Sourced by the other scripts: where the project and its tools are, and which versions it asks for.
# NTP_TOOLS moves the tools' folder; NTP_CHROME and CHROMEDRIVER name a browser that is not on PATH.
set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
TOOLS=${NTP_TOOLS:-$ROOT/.tools}
mkdir -p "$TOOLS"
TOOLS=$(cd "$TOOLS" && pwd)
export PATH="$ROOT/scripts/split:$TOOLS/bin:$TOOLS/npm/node_modules/.bin:$PATH"

TRUNK_VERSION=0.21.14
BINARYEN_VERSION=132.0.0
# Takes what comes later out of the page's program; goes with the macros in Cargo.lock.
WASM_SPLIT_VERSION=0.2.4
# Opens exported traces in the browser tests.
SPEEDSCOPE_VERSION=1.25.0
# Older ones corrupt the table of references without a word.
BINARYEN_OLDEST=123
# The command-line half of wasm-bindgen must be the very version of the crate.
WASM_BINDGEN_VERSION=$(awk '$1 == "name" && $3 == "\"wasm-bindgen\"" { found = 1 } found && $1 == "version" { gsub(/"/, "", $3); print $3; exit }' Cargo.lock)
RUST_VERSION=$(awk -F'"' '$1 ~ /^channel/ { print $2 }' rust-toolchain.toml)

have() { command -v "$1" >/dev/null 2>&1; }
say() { printf '%s\n' "$*" >&2; }
die() {
  say "$*"
  exit 1
}

# Runs a command quietly, with its output in a log that is shown only when it fails.
quietly() {
  local what=$1 log=$TOOLS/setup.log
  shift
  say "set-up: $what"
  if ! "$@" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    die "set-up failed: $what (all of it: $log)"
  fi
}

# Where cargo keeps the sources of crates.
CRATES=${CARGO_HOME:-$HOME/.cargo}/registry/src

# From here on Trunk builds the page in parts: what the racks do not need is fetched when it is first wanted. Its panic messages
# name files as crates do, not where they are on this machine.
split_page() {
  export NTP_SPLIT=1 TRUNK_BUILD_FEATURES=split
  export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="--remap-path-prefix=$CRATES=crates"
}

# Debian packages, where they can be installed without asking anybody.
can_apt() { [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && have apt-get; }
apt_install() {
  quietly "installing $* with apt-get" bash -c '
    export DEBIAN_FRONTEND=noninteractive
    apt-get install -y -q --no-install-recommends "$@" || { apt-get update -q && apt-get install -y -q --no-install-recommends "$@"; }' -- "$@"
}

find_chrome() {
  local name
  for name in "${NTP_CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable; do
    if [ -n "$name" ] && have "$name"; then
      command -v "$name"
      return 0
    fi
  done
  return 1
}
