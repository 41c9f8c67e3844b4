#!/bin/bash
# Installs what the page is built with: Debian's packages, node and npm where there are none, and the npm packages that
# package-lock.json pins.
set -eu
cd "$(dirname "$0")"
../tools/install_packages.sh packages.txt
if ! command -v npm >/dev/null || ! node -e 'process.exit(process.versions.node.split(".")[0] >= 18 ? 0 : 1)' 2>/dev/null; then
    missing=$(mktemp)
    trap 'rm -f "$missing"' EXIT
    printf 'nodejs\nnpm\n' >"$missing"
    ../tools/install_packages.sh "$missing"
fi
# Again only after the pins have changed.
if ! cmp -s package-lock.json node_modules/.facet-lock; then
    npm ci --no-fund --no-audit --loglevel=error
    cp package-lock.json node_modules/.facet-lock
fi
