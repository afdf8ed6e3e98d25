#!/usr/bin/env bash
# Measures natively and in Chromium, and prints what came out beside the budgets. Nothing else should run meanwhile.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh --browser
scripts/build.sh
rm -rf target/criterion target/bench
cargo bench --locked --quiet --bench '*' -- --noplot --warm-up-time 1 --measurement-time 4
scripts/browser.sh --ignored bench_ --test-threads=1
node scripts/bench-table.mjs
