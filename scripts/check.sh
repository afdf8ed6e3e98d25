#!/usr/bin/env bash
# The fast loop: format, lints with warnings denied for both targets, native tests.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh
cargo fmt --check
cargo clippy --locked --quiet --all-targets -- -D warnings
cargo clippy --locked --quiet --target wasm32-unknown-unknown --features split -- -D warnings
cargo test --locked --quiet
