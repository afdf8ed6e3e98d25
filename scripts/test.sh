#!/usr/bin/env bash
# Everything: the checks and native tests of check.sh, then the release page in Chromium.
source "$(dirname "${BASH_SOURCE[0]}")/env.sh"
scripts/setup.sh --browser
scripts/check.sh
scripts/build.sh
scripts/browser.sh
