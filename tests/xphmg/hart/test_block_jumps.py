"""Operations of blocks end in jumps (src/xphmg/hart/block_exec.c): a build that says so (facet_block_jumps) lets
host code use every register and runs 32,768 instructions between two returns, which calls would not survive.

The machine code itself is read: an operation never comes back, so it has jumps and no return. (VENDOR has one, for a
trap that ends the block; ENTER calls host code and waits for it.)"""
import re
import shutil
import subprocess
import sys

PROGRAM = sys.argv.pop(1)
from harness import case, check, main, skip


def tool(*words):
    if shutil.which(words[0]) is None:
        skip("%s is not installed" % words[0])
    return subprocess.run([*words, PROGRAM], capture_output=True, text=True, check=True).stdout


def promises_jumps():
    """The value of the constant, from the section that holds it."""
    match = re.search(r"^([0-9a-f]+) R facet_block_jumps$", tool("nm"), re.M)
    if match is None:
        skip("the program has no symbols")
    at = int(match.group(1), 16)
    shown = tool("objdump", "-s", "--start-address=%d" % at, "--stop-address=%d" % (at + 1))
    return re.search(r"^ [0-9a-f]+ ([0-9a-f]{2})", shown, re.M).group(1) == "01"


def operations():
    """Name and instructions of each function that runs an operation."""
    text = tool("objdump", "-d", "--no-show-raw-insn")
    for name, body in re.findall(r"^[0-9a-f]+ <run_([A-Z0-9_]+)>:\n((?:.+\n)*)", text, re.M):
        if name not in ("ENTER", "VENDOR"):
            yield name, [line.split("\t", 1)[1] for line in body.splitlines() if "\t" in line]


@case()
def operations_end_in_jumps():
    if "x86-64" not in tool("objdump", "-f"):
        skip("not a program for x86-64")
    if not promises_jumps():
        skip("this build makes no such promise: no optimisation, or checks of its own")
    count = 0
    for name, lines in operations():
        check(not any(re.match(r"(repz |bnd )?ret", line) for line in lines), "run_%s returns" % name)
        check(any(re.match(r"(notrack |bnd )?jmp\s", line) for line in lines), "run_%s goes nowhere" % name)
        count += 1
    check(count > 1000, "only %d operations were found" % count)


main("block_jumps")
