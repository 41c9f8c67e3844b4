#!/bin/sh
# Runs every fuzz target of a build folder for a number of seconds each. New inputs are kept in
# BUILD/corpus/NAME; a crashing input is kept in BUILD/crashes and ends the run with exit code 1.
# Usage: fuzz.sh BUILD SECONDS
set -u

build=$1
seconds=$2
found=0
status=0
mkdir -p "$build/crashes"
for target in "$build"/tests/fuzz_*; do
    if [ ! -f "$target" ] || [ ! -x "$target" ]; then
        continue
    fi
    found=1
    name=$(basename "$target")
    seeds=tests/fuzz/corpus/${name#fuzz_}
    mkdir -p "$build/corpus/$name"
    [ -d "$seeds" ] || seeds=
    echo "$name: $seconds s"
    # shellcheck disable=SC2086 # no folder of seeds: no argument
    if ! "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="$build/crashes/$name-" "$build/corpus/$name" $seeds; then
        echo "$name: FAILED; the input is in $build/crashes"
        status=1
    fi
done
if [ $found = 0 ]; then
    echo "no fuzz target in $build/tests" >&2
    exit 2
fi
exit $status
