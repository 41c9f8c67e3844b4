#!/bin/bash
# Builds the testbenches with Verilator, runs them beside libfacet, plants every fault and sees it found, and lets
# yosys read the designs as a synthesizer does. Ends with `N passed, N failed`.
# Usage: rtl/check.sh BUILD FOLDER: Facet's build folder, and where the models go
set -u
facet=$(realpath "$1")
out=$(realpath -m "$2")
cd "$(dirname "$0")" || exit 2
passed=0
failed=0

check() # NAME COMMAND...: one that has to succeed
{
    if "${@:2}" >"$out/log" 2>&1; then
        echo "ok   $1"
        passed=$((passed + 1))
    else
        echo "FAIL $1"
        sed 's/^/     /' "$out/log" | tail -n 20
        failed=$((failed + 1))
    fi
}

verilated() # NAME TOP FOLDER SOURCES...
{
    verilator --cc --exe --build -j 2 -O3 --trace -Wall -Wno-DECLFILENAME -Wno-UNUSED -Wno-WIDTH --top-module "$2" "-I$3" \
        --Mdir "$out/$1" -o "$1" "${@:4}" "$PWD/$3/bench.cpp" \
        -CFLAGS "-std=c++17 -O1 -I$PWD/../include -I$facet/include" \
        -LDFLAGS "$facet/src/libfacet.a -lpthread -lm"
}

# The fault is found, and the waves around it are there.
found() # BENCH OPTIONS...
{
    rm -f "$out/fault.vcd"
    "$@" --vcd "$out/fault.vcd"
    [[ $? == 1 ]] && grep -q '^\$enddefinitions' "$out/fault.vcd"
}

synthesizable() # TOP FOLDER SOURCES...
{
    yosys -q -p "read_verilog -sv -I$2 ${*:3}; synth -top $1 -run :fine; check -assert"
}

mkdir -p "$out" || exit 2
rt=(rt/rt_unit.sv rt/rt_bbox.sv rt/rt_tri.sv rt/fp32_round.sv rt/fp32_dp2.sv rt/fp32_div.sv)
tile=(tile/tile_core.sv)

check "rt: build" verilated rt_bench rt_unit rt "${rt[@]}"
check "rt: 200,000 tests as libfacet" "$out/rt_bench/rt_bench" --tests 200000
for bug in 1 2 3 4 5 6; do
    check "rt: fault $bug of RT.BBOX is found" found "$out/rt_bench/rt_bench" --box-bug $bug
done
for bug in 1 2 3 4 5 6 7 8; do
    check "rt: fault $bug of RT.TRI is found" found "$out/rt_bench/rt_bench" --triangle-bug $bug
done
check "rt: yosys" synthesizable rt_unit rt "${rt[@]}"

check "tile: build" verilated tile_bench tile_core tile "${tile[@]}"
check "tile: 2,000 kernels as libfacet" "$out/tile_bench/tile_bench" --kernels 2000
for bug in 1 2 3 4 5 6 7 8 9 10; do
    check "tile: fault $bug is found" found "$out/tile_bench/tile_bench" --kernels 1000 --bug $bug
done
check "tile: yosys" synthesizable tile_core tile "${tile[@]}"

rm -f "$out/log"
echo "$passed passed, $failed failed"
[[ $failed == 0 ]]
