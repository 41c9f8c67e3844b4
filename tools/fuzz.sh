#!/bin/sh
# Runs the fuzz targets of a build folder for a number of seconds each, as many at once as there are
# processors. New inputs are kept in BUILD/corpus/NAME; a crashing input is kept in BUILD/crashes and
# ends the run with exit code 1. What libFuzzer says is in BUILD/fuzz-logs.
# Usage: fuzz.sh BUILD SECONDS [NAME...]   names without `fuzz_`; none: all targets
set -u

# Processor time of the children of this shell, in seconds. Through a file: behind a pipe, or in
# $(...), `times` speaks of another shell, which has no children.
cpu_seconds()
{
    awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/); printf "%.0f", 60 * (u[1] + s[1]) + u[2] + s[2] }' "$log.times"
}

stat()
{
    awk -v "name=stat::$1:" '$1 == name { value = $2 } END { print value == "" ? "?" : value }' "$log"
}

one() # BUILD SECONDS NAME
{
    name=fuzz_$3
    seeds=tests/fuzz/corpus/$3
    log=$1/fuzz-logs/$name
    mkdir -p "$1/corpus/$name"
    [ -d "$seeds" ] || seeds=
    # What is said about one target goes out in one write: others run beside it.
    # shellcheck disable=SC2086 # no folder of seeds: no argument
    if "$1/tests/$name" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="$1/crashes/$name-" "$1/corpus/$name" $seeds >"$log" 2>&1; then
        times >"$log.times"
        echo "$name: $(stat number_of_executed_units) inputs, $(stat average_exec_per_sec)/s," \
            "$(cpu_seconds) s of processor time"
    else
        report=$(tail -n 40 "$log")
        printf '%s\n%s: FAILED; the input is in %s/crashes\n' "$report" "$name" "$1"
        return 1
    fi
}

if [ "$1" = --one ]; then
    one "$2" "$3" "$4"
    exit
fi
build=$1
seconds=$2
shift 2
if [ $# = 0 ]; then
    for target in "$build"/tests/fuzz_*; do
        if [ -f "$target" ] && [ -x "$target" ]; then
            name=$(basename "$target")
            set -- "$@" "${name#fuzz_}"
        fi
    done
fi
if [ $# = 0 ]; then
    echo "no fuzz target in $build/tests" >&2
    exit 2
fi
for name in "$@"; do
    if [ ! -x "$build/tests/fuzz_$name" ]; then
        echo "no fuzz target $name in $build/tests" >&2
        exit 2
    fi
done
mkdir -p "$build/crashes" "$build/fuzz-logs" || exit 2
echo "$# targets, $seconds s each, $(nproc) at once"
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 "$0" --one "$build" "$seconds" || exit 1
