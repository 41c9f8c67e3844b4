"""`facet run --profile-out` and `facet profile show` against a second count: the JSONL trace of the same run. Then the views, and files that are
wrong."""
import collections
import json
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.mkdtemp()

# A hot loop that becomes host code, calls, a trap with a handler, code that rewrites itself, and accesses of every class.
PROGRAM = """
_start: la   t0, handler
        csrw mtvec, t0
        csrr s1, mhartid
        li   s0, 3000
        addi s0, s0, 1
        la   a1, data
loop:   call work
        addi s0, s0, -1
        bnez s0, loop
        ebreak
        la   t0, patch
        la   t1, other
        lw   t1, 0(t1)
        sw   t1, 0(t0)
        fence.i
patch:  addi a0, a0, 1
        li   t0, 1
        amoadd.w zero, t0, (a1)
        li   t0, 0x5555
        li   t1, 0x100000
        sw   t0, 0(t1)
end:    j    end
other:  addi a0, a0, 2
work:   ld   t0, 8(a1)
        andi t1, s0, 7
        bnez t1, 1f
        sb   t0, 16(a1)
1:      c.addi t0, 1
        sd   t0, 8(a1)
        ret
        .balign 4
handler: csrr t0, mepc
        addi t0, t0, 4
        csrw mepc, t0
        mret
        .balign 8
data:   .dword 0, 0, 0
"""


def facet(*words, code=0):
    done = subprocess.run([FACET, *words], capture_output=True, text=True, cwd=FOLDER, stdin=subprocess.DEVNULL)
    check_eq(done.returncode, code, done.stderr)
    return done.stdout


def profile(*options):
    facet("run", "program.elf", "--profile-out", "out.json", *options)
    with open(os.path.join(FOLDER, "out.json"), encoding="utf-8") as file:
        return json.load(file)


def traced(*options):
    """How often each (core, pc, word) retired."""
    facet("run", "program.elf", "--trace", "out.jsonl", "--plain", *options)
    counts = collections.Counter()
    with open(os.path.join(FOLDER, "out.jsonl"), encoding="utf-8") as file:
        for line in file.readlines()[1:]:
            event = json.loads(line)
            if "trap" not in event:
                counts[event["core"], int(event["pc"], 0), int(event["word"], 0)] += 1
    return counts


def rows(found):
    return {(row["core"], int(row["pc"], 0), int(row["word"], 0)): row["count"] for row in found["instructions"]}


@case()
def counts_are_those_of_a_trace():
    with open(os.path.join(FOLDER, "program.s"), "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    facet("as", "--isa", "xphmg", "-g", "program.s", "-o", "program.elf")
    for harts in ("1", "3"):
        expected = traced("--harts", harts)
        for options in ((), ("--plain",), ("--trace", "second.jsonl")):
            found = profile("--harts", harts, *options)
            check_eq(rows(found), dict(expected), (harts, options))
            check_eq(found["retired"], sum(expected.values()))


@case()
def views_add_the_counts_up():
    found = profile()
    shown = json.loads(facet("profile", "show", "out.json", "--json", "--top", "1000000"))
    sums = {key: collections.Counter() for key in ("symbol", "line")}
    for row in found["instructions"]:
        for key, names in sums.items():
            names[row[key]] += row["count"]
    check_eq({row["name"]: row["count"] for row in shown["symbols"]}, dict(sums["symbol"]))
    check_eq({row["name"]: row["count"] for row in shown["lines"]}, dict(sums["line"]))
    check_eq(sum(block["count"] for block in shown["blocks"]), found["retired"])
    check(all(block["count"] == block["times"] * len(block["instructions"]) for block in shown["blocks"]), "blocks")
    folded = [line.rsplit(" ", 1) for line in facet("profile", "show", "out.json", "--folded").splitlines()]
    check_eq(sum(int(count) for _, count in folded), found["retired"])
    check_eq(sums["line"]["program.s:" + str(PROGRAM.splitlines().index("work:   ld   t0, 8(a1)") + 1)], 3001)
    # 3001 turns, one in eight of them with an sb; lw, sw to the code and the finisher, amoadd.
    check_eq(found["memory"], {"load": {"4": 1, "8": 3001}, "store": {"1": 375, "4": 2, "8": 3001}, "atomic": {"4": 1}})
    check("<work+0x0>: 3001 times" in facet("profile", "show", "out.json"), "text")


@case()
def wrong_files_and_paths_are_refused():
    good = profile()
    first = good["instructions"][0]
    for change, word in (({"facet_profile": 2}, "facet_profile"), ({"machine": "abacus"}, "machine"),
                         ({"memory": {"load": 3}}, "memory"), ({"instructions": {}}, "instructions"),
                         ({"instructions": [{**first, "count": -1}]}, "instructions[0].count"),
                         ({"instructions": [first, {**first, "pc": "here"}]}, "instructions[1].pc"),
                         ({"instructions": [{**first, "count": 2**63 - 1}] * 2}, "instructions[1].count"),
                         ({"instructions": [{**first, "line": 3}]}, "instructions[0].symbol and line"),
                         ({"instructions": [7]}, "instructions[0].core")):
        with open(os.path.join(FOLDER, "wrong.json"), "w", encoding="utf-8") as file:
            json.dump({**good, **change}, file)
        done = subprocess.run([FACET, "profile", "show", "wrong.json"], capture_output=True, text=True, cwd=FOLDER)
        check_eq(done.returncode, 2, word)
        check("wrong.json: " + word in done.stderr, done.stderr)
    for words in (("run", "program.elf", "--profile-out", "-"), ("run", "program.elf", "--profile-out", "program.elf"),
                  ("run", "program.elf", "--profile-out", "x.json", "--cover", "x.json"),
                  ("profile", "show", "out.json", "--folded", "--top", "3")):
        facet(*words, code=2)


@case()
def the_other_profile_leads_here():
    for words in (("run", "p.elf"), ("render", "x.glb", "-o", "x.png")):
        done = subprocess.run([FACET, *words, "--profile", "out.json"], capture_output=True, text=True, cwd=FOLDER)
        check(done.returncode == 2 and done.stderr.endswith("; did you mean --profile-out?\n"), done.stderr)
    done = subprocess.run([FACET, "run", "p.elf", "--profile", "64"], capture_output=True, text=True, cwd=FOLDER)
    check(done.returncode == 2 and "did you mean" not in done.stderr, done.stderr)


try:
    main("profile")
finally:
    shutil.rmtree(FOLDER)
