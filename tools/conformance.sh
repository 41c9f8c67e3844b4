#!/bin/sh
# tools/conformance.sh BUILD: records the suites that become portable cases, then writes BUILD/conformance.
set -eu
build=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")/.." && pwd)
record=$(mktemp -d)
trap 'rm -rf "$record"' EXIT
export FACET_TEST_RECORD="$record" PYTHONDONTWRITEBYTECODE=1
cd "$build"
python3 "$here/conformance/generate.py" --list-recorded |
    xargs -P "$(nproc)" -I NAME sh -c 'tests/test_NAME > "$FACET_TEST_RECORD/NAME.txt" || { cat "$FACET_TEST_RECORD/NAME.txt"; exit 255; }'
python3 "$here/conformance/generate.py" --facet "$build/facet" --recorded "$record" --out "$build/conformance"
