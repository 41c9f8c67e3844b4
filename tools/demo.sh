#!/bin/sh
# `make demo`: a walk through what Facet does, with real commands. Outputs stay in out/.
set -eu

mkdir -p out
step()
{
    printf '\n\033[1m%s\033[0m\n' "$1"
}
show()
{
    printf '$ %s\n' "$*"
    "$@"
}
# The same, with only the first lines of a long output.
peek()
{
    lines=$1
    shift
    printf '$ %s\n' "$*"
    "$@" >out/.peek
    head -n "$lines" out/.peek
    if [ "$(wc -l <out/.peek)" -gt "$lines" ]; then
        echo "..."
    fi
    rm -f out/.peek
}

step "A tile GPU kernel: assemble, then disassemble"
show facet as examples/tile/fill.s --isa tile -o out/fill.elf
show facet dis out/fill.elf

step "A ray against four boxes on the XPHMG hart"
show facet as examples/xphmg/boxtest.s --isa xphmg -o out/boxtest.elf
show facet dis out/boxtest.elf

step "The contract, one instruction and one register at a time"
show facet spec insn rt.bbox
show facet spec csr RTNODE

step "A reference card of the whole instruction set"
facet spec card tile >out/tile-card.md
facet spec card xphmg >out/xphmg-card.md
peek 12 facet spec card tile

step "How much of the contract the tests prove (run make test first)"
show facet coverage

step "Outputs"
ls -l out
