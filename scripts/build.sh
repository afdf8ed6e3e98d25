#!/usr/bin/env bash
# The release page in dist/ (or the folder of the first argument), which works from any folder of a static host.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh
split_page
dist=${1:-dist}
trunk --quiet build --release --locked --dist "$dist"
if grep -rlF "$CRATES" "$dist" >&2; then
  die "these files of the page hold paths of this machine"
fi
node scripts/bytes.mjs "$dist"
