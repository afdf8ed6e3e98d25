#!/usr/bin/env bash
# Trunk's hook once the page is built: the parts that `wasm-bindgen` beside this took out, named like the program they
# belong to, as no part fits another build.
set -euo pipefail
[ -n "${NTP_SPLIT:-}" ] || exit 0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
parts=$here/../../target/parts
page=$TRUNK_STAGING_DIR

program=$(basename "$page"/ntp-explorer-*.js .js)
hash=${program#ntp-explorer-}
links=(-e "s|\./ntp-explorer\.js|./$program.js|")
# As `index.html` has it for the program.
options=$(sed -n '/data-bin="ntp-explorer"/s/.*data-wasm-opt="\([^"]*\)" data-wasm-opt-params="\([^"]*\)".*/-O\1 \2/p' "$here/../../index.html")
[ -n "$options" ] || { echo "index.html does not say how wasm-opt is to run" >&2; exit 1; }
# The parts that a chunk belongs to, joined by `-`: `chunk_3` is in the code below a line `/* more, step */`.
users() {
  awk -v chunk="$1" '/^\/\* .* \*\/$/ { gsub(/[\/* ]/, ""); gsub(/,/, "-"); users = $0 } $2 == "__" chunk { print users; exit }' "$parts/__wasm_split.js"
}
for part in "$parts"/*.wasm; do
  name=$(basename "$part" .wasm)
  case $name in
    ntp-explorer) continue ;;
    split_*) called=${name#split_} ;;
    *) called=shared-$(users "$name") ;;
  esac
  # shellcheck disable=SC2086 # one word an option
  wasm-opt $options "$part" -o "$page/$called-$hash.wasm" 2>/dev/null
  links+=(-e "s|\./$name\.wasm|./$called-$hash.wasm|")
done
sed "${links[@]}" "$parts/__wasm_split.js" >"$page/parts-$hash.js"

# Fetched beside the program that imports it, and not after it.
sed -i "s|from \"\./__wasm_split\.js\"|from \"./parts-$hash.js\"|" "$page/$program.js"
sed -i "s|<link rel=\"modulepreload\" href=\"\./$program\.js\"[^>]*>|&<link rel=\"modulepreload\" href=\"./parts-$hash.js\">|" "$page/index.html"
for file in "$page/$program.js" "$page/index.html"; do
  grep -q "parts-$hash\.js" "$file" || { echo "the page's parts are not linked in $(basename "$file")" >&2; exit 1; }
done
