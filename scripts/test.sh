#!/usr/bin/env bash
# Everything: the checks and native tests of check.sh, then the release page in Chromium.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh --browser

# Linking the page keeps one core busy for minutes, so it goes on beside the checks, in folders of its own in target/.
log=$TOOLS/build.log
scripts/build.sh >"$log" 2>&1 &
page=$!
trap 'kill "$page" 2>/dev/null || true' EXIT
scripts/check.sh
say "native tests passed; waiting for the page"
if ! wait "$page"; then
  cat "$log" >&2
  die "the page could not be built"
fi
trap - EXIT
cat "$log"
scripts/browser.sh
