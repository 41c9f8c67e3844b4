"""A second formulation of the assembler for the vendor rows, to check the first one with.

It reads spec/*.insn.tsv on its own (no generated table, no C code), writes random legal lines for
every row as spec/README.md "Assembly syntax" and tile-semantics.md 3.1/3.2 allow them (by position,
by name, mixed; any case; ABI names; symbols), computes the word from mask, match and fields, and
compares it with what `facet as --format hex` produces. Then `facet dis --hex` must print, for every
word, text that assembles to that word again.
"""
import os
import random
import re
import subprocess
import tempfile

from harness import add_case, check, check_eq, main

FACET = os.environ["FACET"]
SPEC = os.path.join(os.environ["FACET_SOURCE"], "spec")
LINES_PER_ROW = 40

ABI = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 "
       "t3 t4 t5 t6").split()
FABI = ("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 "
        "fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11").split()
RC = ["RNE", "RTZ", "RDN", "RUP", "RMM"]
SCOPE = ["THREAD", "WARP", "WG", "CLUSTER", "SYSTEM"]
ORD = ["rlx", "aq", "rl", "aqrl"]
FLAGS = {
    "rt.bbox": ["T_CLAMP", "PRED_ONLY", "PACK_HINT", "W_GUARD"],
    "rt.tri": ["CULL_BACK", "PRED_ONLY", "PACK_HINT", "EPS_CTL"],
    "xmem.ldg": ["L1_ONLY", "L2_ONLY", "LDS_PREF", "NONTEMP", "LOCK", "STREAM"],
    "xmem.stg": ["L1_ONLY", "L2_ONLY", "LDS_PREF", "NONTEMP", "LOCK", "STREAM"],
    "xmem.pref": ["L1", "L2", "STREAM"],
}
TILE_FILE = {"r": "s", "f": "f", "v": "v"}
FIELD = re.compile(r"([A-Za-z0-9_]+)(?:\.(\d+)_(\d+))?\[(\d+)(?::(\d+))?\](!=0)?$")


class Row:
    def __init__(self, isa, cells):
        self.isa, self.mnemonic = isa, cells[0]
        self.match = int(cells[2], 16)
        self.fields, self.nonzero = {}, set()
        for token in cells[4].split():
            if token == "-":
                continue
            name, vhi, vlo, hi, lo, cond = FIELD.match(token).groups()
            hi, lo = int(hi), int(lo or hi)
            vlo = int(vlo) if vlo is not None else 0
            self.fields.setdefault(name, []).append((vlo, lo, hi - lo + 1))
            if cond:
                self.nonzero.add(name)
        rest = cells[3][len(cells[0]):].strip()
        self.items = [i.strip() for i in rest.split(",")] if rest else []

    def width(self, name):
        return max(v + w for v, _, w in self.fields[name])

    def low(self, name):
        return min(v for v, _, _ in self.fields[name])

    def place(self, word, name, value):
        for vlo, lo, width in self.fields[name]:
            word |= ((value >> vlo) & ((1 << width) - 1)) << lo
        return word


def load(isa, files):
    rows = []
    for name in files:
        with open(os.path.join(SPEC, name), encoding="utf-8") as f:
            for line in f.read().split("\n")[1:]:
                if line:
                    rows.append(Row(isa, line.split("\t")))
    return rows


def any_case(rng, text):
    return rng.choice([text, text.upper(), text.lower(), "".join(rng.choice((c.upper(), c.lower())) for c in text)])


def number(rng, value):
    if value < 0:
        return rng.choice([str(value), "-0x%x" % -value])
    return rng.choice([str(value), "0x%x" % value, "0X%X" % value, "(%d)" % value if value else "0",
                       "%d+%d" % (value // 2, value - value // 2)])


def xphmg_value(rng, row, name, pc):
    """(text, field name, field value) of one operand."""
    window = row.mnemonic.startswith("GFX.")
    if name in ("rd", "rs1", "rs2"):
        n = rng.randrange(32)
        names = ["x%d" % n, ABI[n]] + (["fp"] if n == 8 else [])
        if window and name in ("rd", "rs1"):
            names += ["f%d" % n, FABI[n]]
        return any_case(rng, rng.choice(names)), name, n
    if name == "label":
        off = rng.randrange(-2048, 2048) * 2
        return rng.choice([". %s %d" % ("-" if off < 0 else "+", abs(off)), "0x%x" % ((pc + off) & (2**64 - 1))]), "imm", off
    if name == "vl":
        v = rng.randrange(1, 65)
        return number(rng, v), "vlm1", v - 1
    if name in ("sstep", "dstep"):
        c = rng.randrange(4)
        return number(rng, (0, 1, 2, 4)[c]), name, c
    if name == "imm8" and row.mnemonic == "svon.blk":
        v = rng.randrange(257)
        return number(rng, v), name, v & 255
    if name == "rc":
        v = rng.randrange(8)
        return (any_case(rng, RC[v]) if v < 5 and rng.random() < .7 else number(rng, v)), name, v
    if name == "scope":
        v = rng.randrange(1 << row.width(name))
        return (any_case(rng, SCOPE[v]) if v < 5 and rng.random() < .7 else number(rng, v)), name, v
    if name == "dom":
        if rng.random() < .6:
            sym, v = rng.choice([("RT", 2), ("MTX", 3), ("ALL", 15)])
            return any_case(rng, sym), name, v
        v = rng.randrange(32)
        return number(rng, v), name, v
    v = rng.randrange(1 << row.width(name))
    if name in row.nonzero and v == 0:
        v = 1
    family = ".".join(row.mnemonic.split(".")[:2])
    if name in ("flags", "hint") and family in FLAGS and rng.random() < .6:
        picked = [i for i in range(len(FLAGS[family])) if rng.random() < .4]
        if picked:
            text = " | ".join(any_case(rng, FLAGS[family][i]) for i in picked)
            return text, name, sum(1 << i for i in picked)
    return number(rng, v), name, v


def xphmg_line(rng, row, pc):
    word = row.match
    operands = []  # (row item, name, optional, text)
    for item in row.items:
        optional = "=" in item
        name = item.split("=")[0].strip("()")
        text, field, value = xphmg_value(rng, row, name, pc)
        operands.append((item, name, optional, text, field, value))
    # By position up to a random place, the rest by name in any order; trailing optional ones may be left out.
    split = rng.randrange(len(operands) + 1)
    words, named = [], []
    for i, (item, name, optional, text, field, value) in enumerate(operands):
        if i < split:
            if item.startswith("("):
                text = rng.choice(["(%s)", "0(%s)", "( %s )"]) % text
            words.append(text)
        elif optional and rng.random() < .4:
            default = item.split("=")[1]
            value = RC.index(default) if default in RC else int(default, 0)
        elif name == "label":
            named.append("label=" + text)
        else:
            key = name
            if name == "flags" and row.mnemonic in ("rt.bbox", "rt.tri") and rng.random() < .3:
                key = "imm"
            named.append("%s%s%s" % (any_case(rng, key), rng.choice(["=", " = "]), text))
        word = row.place(word, field, value)
    rng.shuffle(named)
    return "%s %s" % (any_case(rng, row.mnemonic), rng.choice([", ", ",", " , "]).join(words + named)), word


def tile_value(rng, row, name):
    width, low = row.width(name), row.low(name)
    if re.match(r"[rfv][ds]\d?$", name):
        n = rng.randrange(32)
        if name in row.nonzero and n == 0:
            n = 1
        return any_case(rng, TILE_FILE[name[0]] + str(n)), n
    if name == "cidx":
        n = rng.randrange(32)
        return any_case(rng, "c%d" % n), n
    if name == "ord":
        n = rng.randrange(4)
        return any_case(rng, ORD[n]), n
    if name in ("simm", "bimm", "jimm"):
        v = rng.randrange(-(1 << (width - 1)), 1 << (width - 1)) >> low << low
        return number(rng, v), v
    if name == "simm7x4":
        v = rng.randrange(-64, 64)
        return number(rng, v * 4), v
    v = rng.randrange(1 << width)
    return number(rng, v), v


def tile_line(rng, row):
    word, texts = row.match, []
    # The short rows keep 0..31; their 12-bit twins are reached by name, so every value is legal as it stands.
    for item in row.items:
        m = re.match(r"(\w*)\((\w+)\)$", item)
        names = [n for n in (m.groups() if m else (item,)) if n]
        if names == ["ord"] and rng.random() < .3:
            continue
        parts = []
        for name in names:
            text, value = tile_value(rng, row, name)
            word = row.place(word, name, value)
            parts.append(text)
        texts.append("%s(%s)" % (parts[0], parts[1]) if m and len(parts) == 2 else "(%s)" % parts[0] if m else parts[0])
    return "%s %s" % (any_case(rng, row.mnemonic), rng.choice([", ", ",", " ,"]).join(texts)), word


def assemble(isa, text, folder):
    path = os.path.join(folder, "in.s")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    run = subprocess.run([FACET, "as", path, "--isa", isa, "--format", "hex", "-o", "-"],
                         capture_output=True, text=True)
    check(run.returncode == 0, "assembler refused:\n" + run.stderr[:2000])
    return [int(w, 16) for w in run.stdout.split()]


def compare(isa, lines):
    with tempfile.TemporaryDirectory() as folder:
        words = assemble(isa, "".join(t + "\n" for t, _ in lines), folder)
        check_eq(len(words), len(lines), "number of words")
        for (text, expected), got in zip(lines, words):
            check(got == expected, "%s -> 0x%08x, expected 0x%08x" % (text, got, expected))
        run = subprocess.run([FACET, "dis", "--isa", isa, "--hex", "-"], capture_output=True,
                             text=True, input="".join("0x%08x\n" % w for w in words))
        check_eq(run.returncode, 0, "exit code of dis --hex")
        printed = run.stdout.splitlines()
        check_eq(len(printed), len(words), "lines that dis printed")
        # A pc-relative operand is printed relative to its own place: the listing is one file.
        again = assemble(isa, run.stdout, folder)
        for text, first, second in zip(printed, words, again):
            check(first == second, "0x%08x printed as %r gives 0x%08x" % (first, text, second))


def every_row(isa, files):
    rng = random.Random(isa)
    lines, pc = [], 0x80000000
    for row in load(isa, files):
        for _ in range(LINES_PER_ROW):
            lines.append(xphmg_line(rng, row, pc) if isa == "xphmg" else tile_line(rng, row))
            pc += 4
    compare(isa, lines)


for isa_name, table_files in (
        ("xphmg", ["pmask-xmem.insn.tsv", "rt-rsv.insn.tsv", "gfx-mtx.insn.tsv"]),
        ("tile", ["tile.insn.tsv"])):
    add_case("every_%s_row_encodes_as_its_fields_say" % isa_name,
             lambda isa=isa_name, files=table_files: every_row(isa, files))
main("second_encoder")
