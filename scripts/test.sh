#!/usr/bin/env bash
# Everything: the checks and native tests of check.sh, then the release page in Chromium.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh --rust

# Building the tools and linking the page keep one core busy for minutes at a time, so they go on beside the checks, in
# folders of their own; they come first, because the page is linked on one core and the checks can fill the others.
log=$TOOLS/build.log
say "tools and page are built beside the checks; their words are in $log"
{ scripts/setup.sh --browser && scripts/build.sh; } >"$log" 2>&1 &
page=$!
trap 'kill "$page" 2>/dev/null || true' EXIT
nice -n 10 scripts/check.sh
say "native tests passed; waiting for the page"
if ! wait "$page"; then
  cat "$log" >&2
  die "the page could not be built"
fi
trap - EXIT
cat "$log"
scripts/browser.sh
