#!/bin/bash
# Everything about the page: types, the C core as WebAssembly beside the native program, the site, the page in headless
# Chromium. Ends with `N passed, N failed`.
# Usage: web/test.sh BUILD [SUBSTRING...]: a build folder after `make web`; with substrings only browser cases that have one
set -u
build=$(realpath "$1") || exit 2
shift
cd "$(dirname "$0")/.." || exit 2
export FACET=$build/facet FACET_PAGE=$build/web/page.html FACET_SOURCE=$PWD FACET_BUILD=$build FACET_SHOTS=$PWD/out/web
export FACET_TEST_RESULTS=$build/web/test-results PYTHONPATH=tests
mkdir -p "$FACET_TEST_RESULTS"
log=$build/web/test.log
passed=0
failed=0

# Runs one check that either holds or does not.
check() # NAME COMMAND...
{
    if "${@:2}" >"$log" 2>&1; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        tail -n 40 "$log"
        failed=$((failed + 1))
    fi
}

# Runs a suite whose last line counts: `N passed, N failed`, or with a name before and skipped ones behind.
suite() # NAME COMMAND...
{
    local code line
    echo "== $1"
    "${@:2}" 2>&1 | tee "$log"
    code=${PIPESTATUS[0]}
    line=$(tail -n 1 "$log")
    if [[ $line =~ ([0-9]+)\ passed,\ ([0-9]+)\ failed ]]; then
        passed=$((passed + BASH_REMATCH[1]))
        failed=$((failed + BASH_REMATCH[2]))
        [[ $code == 0 || ${BASH_REMATCH[2]} != 0 ]] && return
    fi
    echo "FAIL $1: exit $code"
    failed=$((failed + 1))
}

types()
{
    (cd web && npx --no-install tsc --noEmit -p .)
}

if [[ $# == 0 ]]; then
    check "types" types
    for test in tests/wasm/*.test.mjs; do
        [[ -e $test ]] && suite "$test" node "$test"
    done
    for test in tests/web/*/test_*.py; do
        suite "$test" python3 "$test"
    done
fi
suite "the page in Chromium" node tests/web/run.mjs "$@"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
