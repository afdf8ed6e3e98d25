#!/usr/bin/env bash
# Pictures of the page in dist/, for people to look at: target/screens/*.png, light and dark, desktop to phone.
exec "$(dirname "${BASH_SOURCE[0]}")/browser.sh" --ignored screens "$@"
