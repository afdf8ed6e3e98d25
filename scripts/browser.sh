#!/usr/bin/env bash
# Browser tests on the page in dist/; arguments go to the test binary, e.g. `scripts/browser.sh links`.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh --browser
NTP_DIST=${NTP_DIST:-$ROOT/dist}
[ -f "$NTP_DIST/index.html" ] || die "no page in $NTP_DIST: run \`make build\` first"
NTP_CHROME=$(find_chrome)
NTP_SPEEDSCOPE=$TOOLS/speedscope/node_modules/speedscope/dist/release
export NTP_DIST NTP_CHROME NTP_SPEEDSCOPE
cargo test --locked --quiet --test browser -- "$@"
