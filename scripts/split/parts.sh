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
for part in "$parts"/*.wasm; do
  name=$(basename "$part" .wasm)
  [ "$name" != ntp-explorer ] || continue
  # As `index.html` has it for the program.
  wasm-opt -Os --low-memory-unused --skip-pass=inlining-optimizing --skip-pass=local-cse "$part" -o "$page/${name#split_}-$hash.wasm" 2>/dev/null
  links+=(-e "s|\./$name\.wasm|./${name#split_}-$hash.wasm|")
done
sed "${links[@]}" "$parts/__wasm_split.js" >"$page/parts-$hash.js"

# Fetched beside the program that imports it, and not after it.
sed -i "s|from \"\./__wasm_split\.js\"|from \"./parts-$hash.js\"|" "$page/$program.js"
sed -i "s|<link rel=\"modulepreload\" href=\"\./$program\.js\"[^>]*>|&<link rel=\"modulepreload\" href=\"./parts-$hash.js\">|" "$page/index.html"
for file in "$page/$program.js" "$page/index.html"; do
  grep -q "parts-$hash\.js" "$file" || { echo "the page's parts are not linked in $(basename "$file")" >&2; exit 1; }
done
