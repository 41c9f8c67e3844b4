#!/bin/sh
# `make demo`: a walk through what Facet does, with real commands. Outputs stay in out/.
set -eu

mkdir -p out
if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
else
    bold='' plain=''
fi

step()
{
    printf '\n%s%s%s\n' "$bold" "$1" "$plain"
}

show()
{
    printf '$ %s\n' "$*"
    "$@"
}

# The same, with only the first lines of a long output.
peek() # LINES COMMAND...
{
    lines=$1
    shift
    printf '$ %s\n' "$*"
    text=$("$@")
    printf '%s\n' "$text" | sed "${lines}q"
    if [ "$(printf '%s\n' "$text" | wc -l)" -gt "$lines" ]; then
        echo ...
    fi
}

step "A kernel of the tile GPU (examples/tile/fill.s): assemble, disassemble"
show facet as examples/tile/fill.s --isa tile -o out/fill.elf --listing out/fill.lst
show facet dis out/fill.elf

step "The same file again, from the disassembler's text"
show facet dis out/fill.elf -o out/fill-again.s
show facet as out/fill-again.s --isa tile -o out/fill-again.elf
show cmp out/fill.elf out/fill-again.elf

step "One ray against four boxes on the XPHMG hart (examples/xphmg/boxtest.s)"
show facet as examples/xphmg/boxtest.s --isa xphmg -o out/boxtest.elf --listing out/boxtest.lst
peek 28 facet dis out/boxtest.elf
printf '$ facet run out/boxtest.elf\n'
facet run out/boxtest.elf && hits=0 || hits=$?
printf 'boxes hit: %s\n' "$hits"
[ "$hits" = 2 ] || exit 1

step "A program on the XPHMG hart, and what its first instructions change"
show facet as examples/xphmg/hello.s --isa xphmg -o out/hello.elf
show facet run out/hello.elf --trace out/hello.jsonl --stats
peek 4 cat out/hello.jsonl

step "What the contract says about an instruction, a register, a decision"
show facet spec rt.bbox
peek 12 facet spec RTNODE
show facet spec R-TILE-04

step "A GFX12 acceleration structure: make a scene, build, validate"
show facet scene make knot --size 64 -o out/knot.glb
show facet bvh build out/knot.glb -o out/knot.gfx12
show facet bvh check out/knot.gfx12

step "A picture through the GFX12 intersect instructions, and what each ray cost"
show facet render assets/room.glb --size 960x540 --spp 8 -o out/room.png
show facet render assets/room.glb --size 960x540 --spp 1 --heatmap nodes -o out/room-nodes.png
printf 'The picture is %s/out/room.png, its heat map %s/out/room-nodes.png\n' "$PWD" "$PWD"

step "The same room on every machine, side by side"
show facet render assets/room.glb --machine all --size 320x180 --spp 1 --no-ao -o out/contact-sheet.png
printf 'The pictures are side by side in %s/out/contact-sheet.png\n' "$PWD"

step "A command list through the tile GPU's queue (examples/tile/triangle.json)"
show facet tile draw examples/tile/triangle.json -o out/triangle.png

step "GFX12 ray intersection against results recorded from a real card"
show facet gfx12 intersect --vectors spec/gfx12-silicon.json

step "Speed of the software arithmetic, beside the host's FPU"
show facet bench num --seconds 0.02 --quiet

if [ -d "$(dirname "$(command -v facet)")/test-results" ]; then
    step "How much of the contract a passing test names"
    show facet coverage
fi

step "Outputs"
for file in out/*; do
    printf '  %s\n' "$file"
done
