#!/usr/bin/env bash
# Builds the page, serves it and opens it; builds again when a source changes. With --dev: a faster, unoptimised build.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh
options=()
if [ "${1:-}" != --dev ]; then
  options+=(--release)
  split_page
fi
# A machine without a desktop has nothing to open a page with; the address is printed either way.
if [ "$(uname)" = Darwin ] || { [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && have xdg-open; }; then
  options+=(--open)
fi
port=${PORT:-8080}
say "The page will be at http://127.0.0.1:$port/ once it is built (the first time: a few minutes). Ctrl+C stops it."
exec trunk serve --locked --port "$port" ${options[@]+"${options[@]}"}
