"""`--check-order`: programs with one fault each, whose second access is at `bad` and whose first is at `mate`, and right ones.
Data that goes from one core, hart or tile to another is passed in every way that orders it, and in ways that do not."""
import json
import os
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory()
# What else a race may show: the order of the run decides which of these is seen.
RACES = {"race", "tile-race", "unpublished", "stale"}


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL)


def put(name, text):
    path = os.path.join(FOLDER.name, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def judge(done, rule, text):
    check(done.returncode == (0 if rule is None else 1), f"exit code {done.returncode}\n{text}\n{done.stderr}")
    found = json.loads(done.stdout)["lint"]
    if rule is None:
        check_eq(found, [], text)
        return
    rules = {f["rule"] for f in found}
    check(rules <= (RACES if rule in RACES else {rule}), f"{rules}\n{text}")
    places = [(f["rule"], f["symbol"], f.get("other", {}).get("symbol", "")) for f in found]
    check((rule, "bad", "mate" if "mate:" in text else "") in places, f"{rule} is not among {places}\n{text}")


# ---- the tile machine ----

def two(first, second):
    """Core 0 and core 1; s21 is data, s23 a flag."""
    return f""" CSRR s20, core_id
 LUI s21, 0x80100
 ADDI s23, s21, 64
 ADDI s9, s0, 1
 ADDI s10, s0, 2
 BNE s20, s0, second
 {first}
 EXIT
second: {second}
 EXIT"""


PUBLISH = ["MEMBAR\n SW s9, 0(s23)\n MEMBAR", "AXCHG s0, s9, (s23), rl", "MEMBAR\n AXCHG s0, s9, (s23), rlx",
           "AADD s0, s9, (s23), aqrl"]
NO_PUBLISH = ["AXCHG s0, s9, (s23), rlx", "AADD s0, s9, (s23), aq"]
WAIT = ["w: LW s1, 0(s23)\n MEMBAR\n BEQ s1, s0, w", "w: AOR s1, s0, (s23), aq\n BEQ s1, s0, w",
        "w: AOR s1, s0, (s23), rlx\n BEQ s1, s0, w\n MEMBAR", "w: AADD s1, s0, (s23), aqrl\n BEQ s1, s0, w"]
NO_WAIT = ["w: AOR s1, s0, (s23), rlx\n BEQ s1, s0, w", "w: AOR s1, s0, (s23), rl\n BEQ s1, s0, w"]
USE = ["LW s2, 0(s21)", "LB s2, 1(s21)", "SW s10, 0(s21)", "LH s2, 2(s21)"]
LOCKED = "t{0}: AXCHG s1, s9, (s23), aq\n BNE s1, s0, t{0}\n {1} LW s3, 0(s21)\n ADDI s3, s3, 1\n SW s3, 0(s21)\n AXCHG s0, s0, (s23), rl"
BASE = " CSRR s1, tile_offset\n LUI s2, 0x80100\n"
ONE, TWO = ("--grid", "1x1", "--cores", "1"), ("--grid", "2x1", "--cores", "3")
PIXEL = BASE + " SHLI s3, s1, 2\n ADD s2, s2, s3\n"  # the tile's first one, in a picture of 64 x 16
SHOWN = ("--cores", "1", "--out", "0x80100000,64x16=" + os.path.join(FOLDER.name, "shown.png"))
SCRATCH, MANY = ONE + ("--shared", "64"), ("--grid", "4x1", "--cores", "1")

# rule or None, kernel, options
TILE = [(None, two("SW s10, 0(s21)\n " + p, w + "\n " + USE[(i + j) % 4]), TWO)
        for i, p in enumerate(PUBLISH) for j, w in enumerate(WAIT)]
TILE += [("race", two("mate: SW s10, 0(s21)\n after: " + p, w + "\nbad: " + USE[(i + j) % 4]), TWO)
         for publish, wait in ((NO_PUBLISH, WAIT), (PUBLISH, NO_WAIT))
         for i, p in enumerate(publish) for j, w in enumerate(wait)]
TILE += [
    ("race", two("mate: SW s9, 0(s21)", "NOP\n NOP\nbad: SW s10, 0(s21)"), TWO),
    (None, two("SW s9, 0(s21)", "NOP\n NOP\n SW s10, 4(s21)"), TWO),
    (None, two("SB s9, 0(s21)", "NOP\n NOP\n SB s10, 1(s21)"), TWO),
    (None, two("LW s3, 0(s21)", "NOP\n LW s4, 0(s21)"), TWO),
    ("race", two("mate: LW s3, 0(s21)", "NOP\n NOP\nbad: SW s10, 0(s21)"), TWO),
    (None, two("AADD s3, s9, (s21), rlx", "AADD s4, s9, (s21), rlx"), TWO),
    # Vectors: a lane of one core meets a scalar of the other.
    ("race", two("VBCAST.I32 v1, s9\nmate: VST.V v1, 0(s21)", "NOP\n NOP\n NOP\nbad: LW s2, 12(s21)"), TWO),
    ("race", two("ADDI s2, s0, 16\n VBCAST.I32 v1, s9\nmate: VST.S v1, (s21), s2",
                 "NOP\n NOP\n NOP\n NOP\nbad: SW s9, 48(s21)"), TWO),
    (None, two("ADDI s2, s0, 16\n VBCAST.I32 v1, s9\n VST.S v1, (s21), s2", "NOP\n NOP\n NOP\n NOP\n SW s9, 52(s21)"), TWO),
    ("race", two("VBCAST.I32 v2, s23\n VXOR v2, v2, v2\n VBCAST.I32 v1, s9\nmate: VSTX v1, (s21), v2",
                 "NOP\n NOP\n NOP\n NOP\nbad: LB s9, 1(s21)"), TWO),
    # What the flag says is true, but too early: the word is stored once more.
    ("race", two("SW s9, 0(s21)\n AXCHG s0, s9, (s23), rl\nmate: SW s10, 0(s21)", WAIT[1] + "\nbad: LW s2, 0(s21)"), TWO),
    # A lock that is taken and given back without order.
    ("race", two(LOCKED.format(0, "").replace(", rl", ", rlx").replace(" SW s3", "mate: SW s3"),
                 LOCKED.format(1, "bad:").replace(", rl", ", rlx")), TWO),
    # Two locks for one word.
    ("race", two(LOCKED.format(0, "").replace(" SW s3", "mate: SW s3"), LOCKED.format(1, "NOP\n NOP\n NOP\nbad:").replace("s23", "s22").replace(
        "t1:", "ADDI s22, s21, 128\nt1:", 1)), TWO),
    # A release that another atomic carries on, and a ring with acknowledgement.
    (None, two("SW s10, 0(s21)\n AXCHG s0, s9, (s23), rl\n AADD s0, s9, (s23), rlx",
               "w: AOR s1, s0, (s23), aq\n BNE s1, s10, w\n LW s2, 0(s21)"), TWO),
    (None, two("SW s9, 0(s21)\n AXCHG s0, s9, (s23), rl\na: AOR s1, s0, (s23), aq\n BNE s1, s10, a\n SW s10, 0(s21)",
               WAIT[1] + "\n LW s2, 0(s21)\n AXCHG s0, s10, (s23), rl"), TWO),
    ("race", two("mate: SW s9, 0(s21)", "NOP\n NOP\nbad: AADD s4, s9, (s21), rlx"), TWO),
    (None, two(LOCKED.format(0, ""), LOCKED.format(1, "")), TWO),
    ("tile-race", BASE + "bad: LW s3, 0(s2)\nmate: SW s1, 0(s2)\n EXIT", MANY),
    (None, BASE + " LSRI s3, s1, 2\n ADD s2, s2, s3\n SW s1, 0(s2)\n EXIT", MANY),
    (None, BASE + " AADD s0, s1, (s2), rlx\n EXIT", MANY),
    (None, " LUI s21, 0x80100\n ADDI s23, s21, 64\n ADDI s9, s0, 1\n" + LOCKED.format(0, "") + "\n EXIT", MANY),
    ("barrier", two("NOP", "NOP\n NOP\n NOP\nbad: BARR.SYNC").replace(" EXIT", "mate: EXIT", 1), TWO),
    ("barrier", two("mate: BARR.SYNC", "NOP\n NOP\nbad: BARR.SYNC"), TWO),
    (None, two("J both", "both: BARR.SYNC\n BARR.SYNC"), TWO),
    ("register", "bad: ADD s1, s2, s0\n EXIT", ONE),
    ("register", "bad: FADD f1, f2, f2\n EXIT", ONE),
    ("register", "bad: VADD.I32 v1, v0, v2\n EXIT", ONE),
    (None, "ADDI s2, s0, 3\n ADD s1, s2, s0\n XOR s3, s4, s4\n VXOR v1, v2, v2\n VADD.I32 v3, v1, v0\n EXIT", ONE),
    ("out-of-tile", PIXEL + "bad: SW s1, 64(s2)\n EXIT", ("--grid", "4x1", *SHOWN)),
    ("out-of-tile", PIXEL + "bad: SB s1, -1(s2)\n EXIT", ("--grid", "4x1", *SHOWN)),
    ("out-of-tile", PIXEL + "VBCAST.I32 v1, s1\nbad: VST.V v1, 52(s2)\n EXIT", ("--grid", "4x1", *SHOWN)),
    ("out-of-tile", PIXEL + "ADDI s4, s2, 1024\nbad: SW s1, 1024(s4)\n EXIT", ("--grid", "4x2", "--tile", "16x8", *SHOWN)),
    (None, PIXEL + "SW s1, 0(s2)\n SW s1, 60(s2)\n EXIT", ("--grid", "4x1", *SHOWN)),
    (None, PIXEL + "AXCHG s0, s1, (s2), rlx\n ADDI s2, s2, 64\n AXCHG s0, s1, (s2), rlx\n EXIT", ("--grid", "4x1", *SHOWN)),
    (None, PIXEL + "SW s1, 64(s2)\n EXIT", ("--grid", "2x1", *SHOWN)),  # the tiles are no rectangles of it
    (None, PIXEL + "ADDI s2, s2, 2044\n ADDI s2, s2, 2044\n SW s1, 8(s2)\n EXIT", ("--grid", "4x1", *SHOWN)),  # behind it
    ("scratch", "CSRR s1, sm_base\nbad: LW s2, 0(s1)\n EXIT", SCRATCH),
    (None, "CSRR s1, sm_base\n SW s0, 0(s1)\n LW s2, 0(s1)\n EXIT", SCRATCH),
]

# ---- harts ----

def harts(first, second):
    """Hart 0, which then sleeps, and hart 1, which ends the run; s0 is data, s1 a flag."""
    return f"""
_start: la s0, data
 la s1, flag
 li t1, 1
 csrr t0, mhartid
 bnez t0, second
 {first}
9: wfi
 j 9b
second: nop
 {second}
 li t1, 0x5555
 li t0, 0x100000
 sw t1, 0(t0)
 j .
 .data
 .balign 64
data: .zero 64
flag: .zero 64
"""


SEND = ["fence rw, w\n sw t1, 0(s1)", "amoswap.w.rl zero, t1, (s1)", "fence\n amoswap.w zero, t1, (s1)"]
NO_SEND = ["amoswap.w zero, t1, (s1)", "fence r, r\n amoswap.w zero, t1, (s1)"]
AWAIT = ["1: lw t2, 0(s1)\n fence r, rw\n beqz t2, 1b", "1: amoor.w.aq t2, zero, (s1)\n beqz t2, 1b",
         "1: amoor.w t2, zero, (s1)\n beqz t2, 1b\n fence"]
NO_AWAIT = ["1: amoor.w t2, zero, (s1)\n beqz t2, 1b"]
IPI = "li t3, 0x2000004\n sw t1, 0(t3)"
HARTS = [(None, harts("sw t1, 0(s0)\n " + p, w + "\n lw a0, 0(s0)")) for p in SEND for w in AWAIT]
HARTS += [("race", harts("mate: sw t1, 0(s0)\n after: " + p, w + "\nbad: lw a0, 0(s0)"))
          for send, wait in ((NO_SEND, AWAIT), (SEND, NO_AWAIT)) for p in send for w in wait]
HARTS += [
    (None, harts("sw t1, 0(s0)\n " + IPI, "csrwi mie, 8\n wfi\n lw a0, 0(s0)")),
    (None, harts("sw t1, 0(s0)\n xfence.signal 1", "xfence.waiti 1\n lw a0, 0(s0)")),
    ("race", harts(IPI + "\nmate: sw t1, 0(s0)\n after: amoswap.w zero, t1, (s1)",
                   "csrwi mie, 8\n wfi\n" + NO_AWAIT[0] + "\nbad: lw a0, 0(s0)")),
    ("lr-sc", harts("nop", "bad: sc.w t2, t1, (s1)")),
    ("lr-sc", harts("nop", "mate: lr.w t2, (s0)\nbad: sc.w t2, t1, (s1)")),
    ("lr-sc", harts("nop", "lr.w t2, (s1)\nmate: ld t3, 8(s0)\nbad: sc.w t2, t1, (s1)")),
    ("lr-sc", harts("nop", "mate: lr.w t2, (s1)\nbad: sc.d t2, t1, (s1)")),
    (None, harts("nop", "1: lr.d t2, (s1)\n add t2, t2, t1\n sc.d t3, t2, (s1)\n bnez t3, 1b")),
    (None, harts("nop", "1: lr.w.aq t2, (s1)\n add t2, t2, t1\n sc.w.rl t3, t2, (s1)\n bnez t3, 1b")),
]


def on_tile(rule, text, options):
    return lambda: judge(facet("tile", "run", put("k.s", text + "\n"), "--check-order", "--json", *options), rule, text)


def on_harts(rule, text):
    def run():
        path = put("p.s", text)
        done = facet("as", "--isa", "xphmg", path, "-o", path[:-2] + ".elf")
        check_eq(done.returncode, 0, done.stderr)
        judge(facet("run", path[:-2] + ".elf", "--harts", "2", "--check-order", "--json"), rule, text)
    return run


for _i, (_rule, _text, _options) in enumerate(TILE):
    add_case(f"tile_{_i}_{_rule or 'right'}".replace("-", "_"), on_tile(_rule, _text, _options))
for _i, (_rule, _text) in enumerate(HARTS):
    add_case(f"harts_{_i}_{_rule or 'right'}".replace("-", "_"), on_harts(_rule, _text))


@case()
def the_corpus_is_large_enough_and_has_every_rule():
    rules = [row[0] for row in TILE + HARTS]
    check(len([r for r in rules if r]) >= 30, "faults")
    check(rules.count(None) >= 30, "right ones")
    check({"race", "tile-race", "lr-sc", "barrier", "register", "scratch"} <= set(rules), "rules")


@case()
def tiles_of_a_frame():
    """The frame of a command list, in pixels of two bytes."""
    for step, found in ((32, ["out-of-tile"]), (0, [])):
        code = ["CSRR s1, tile_offset", "LUI s2, 0x80000", "SHLI s3, s1, 1", "ADD s2, s2, s3", f"SH s1, {step}(s2)", "EXIT"]
        path = put("list.json", json.dumps({
            "buffers": {"f": {"size": 2048}, "k": {"code": code}},
            "frame": {"base": "f", "width": 64, "height": 16, "format": "RGB565"},
            "commands": [{"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [4, 1], "core_mask": 1}}]}))
        done = facet("tile", "draw", path, "-o", os.path.join(FOLDER.name, "frame.png"), "--check-order", "--json")
        check_eq((done.returncode, [f["rule"] for f in json.loads(done.stdout)["lint"]]), (len(found), found), done.stderr)


@case()
def results_stay():
    path = put("k.s", TILE[16][1] + "\n")
    plain, checked = ((os.path.join(FOLDER.name, name)) for name in ("plain", "checked"))
    for out, options in ((plain, ()), (checked, ("--check-order",))):
        facet("tile", "run", path, *TWO, "--out", f"0x80100000,128={out}", *options)
    with open(plain, "rb") as one, open(checked, "rb") as other:
        check_eq(one.read(), other.read())


main("order")
