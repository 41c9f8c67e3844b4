"""Compares the base hart's table with GNU binutils, an independent reader of the same ISA manual.

Forwards: every row of rv64.insn.tsv with random operands is printed by us, assembled by
riscv64-unknown-elf-as, and must give the same word. Backwards: random and systematic words must be
legal here exactly when objdump knows them, with the same mnemonic and operands. The differences that
are right are listed below, each with its reason; any other one fails the test."""
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

WORDS = sys.argv.pop(1)  # the program isa_words
sys.path.insert(0, os.path.join(os.environ["FACET_SOURCE"], "tools"))
from harness import case, check, main, skip
from spec_tables import Spec

MARCH = "rv64imafdc_zicsr_zifencei_zfh_zba_zbb_zbs"
AS, LD, OBJCOPY, OBJDUMP = ("riscv64-unknown-elf-" + t for t in ("as", "ld", "objcopy", "objdump"))
LONG = os.environ.get("FACET_TEST_LONG") == "1"

spec = Spec(os.path.join(os.environ["FACET_SOURCE"], "spec"))
spec.read()
ROWS = [r for r in spec.insns["xphmg"] if r.path == "rv64.insn.tsv"]
CSR_NUMBER = {}
for csr in spec.csrs:
    if csr["isa"] == "xphmg" and csr["count"] == 1:
        CSR_NUMBER[csr["name"]] = csr["number"] if csr["number"] < 4096 else csr["alias"]


def need_binutils():
    if not all(shutil.which(t) for t in (AS, LD, OBJCOPY, OBJDUMP)):
        skip("binutils-riscv64-unknown-elf is not installed")


def ours(words, step=4):
    text = "".join("xphmg %x %x\n" % (step * i, w) for i, w in enumerate(words))
    out = subprocess.run([WORDS], input=text, capture_output=True, text=True, check=True).stdout
    return [line.split("\t") for line in out.splitlines()]


def random_word(row, rng):
    """A legal word of the row, hidden fields 0."""
    while True:
        word = row.match
        for o in row.operands:
            if not o.hidden:
                word |= o.place(rng.getrandbits(o.width())) if rng.random() < 0.9 else 0
        if all(word & mask != value for mask, value in row.conditions()):
            return word


# What GNU as does not take although it means something.
def refused_by_gnu(row, word, text):
    value = {o.name: sum(((word >> p.word_lo) & ((1 << p.width) - 1)) << p.value_lo for p in o.pieces)
             for o in row.operands}
    if row.mnemonic == "fence":
        # No spelling for an empty set, for a fence mode (only fence.tso), nor for the operand itself.
        return value["pred"] == 0 or value["succ"] == 0 or value["fm"] != 0
    if row.mnemonic in ("fcvt.d.s", "fcvt.d.w", "fcvt.d.wu", "fcvt.s.h", "fcvt.d.h"):
        return value["rm"] != 0  # exact conversions: no rounding operand
    if row.mnemonic in ("c.slli", "c.srli", "c.srai"):
        return value["shamt"] == 0  # hints
    return False


@case()
def every_row_assembles_alike():
    need_binutils()
    rng = random.Random(1)
    lines, words, rows = [], [], []
    for row in ROWS:
        for _ in range(100 if LONG else 30):
            rows.append(row)
            words.append(random_word(row, rng))
    for word, row, (_, mnemonic, _, text) in zip(words, rows, ours(words)):
        check(mnemonic == row.mnemonic, "0x%x decodes as %s, made from %s" % (word, mnemonic, row.mnemonic))
        if refused_by_gnu(row, word, text):
            continue
        for name, number in CSR_NUMBER.items():
            if row.mnemonic.startswith("csrr") and ", %s, " % name in text:
                text = text.replace(", %s, " % name, ", 0x%x, " % number)
        lines.append((word, row, text))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path + ".s", "w") as f:
            for word, row, text in lines:
                f.write(".option %s\n%s\n" % ("rvc" if row.length == 2 else "norvc", text))
        run = subprocess.run([AS, "-mno-relax", "-march=" + MARCH, path + ".s", "-o", path + ".o"],
                             capture_output=True, text=True)
        check(run.returncode == 0, "GNU as refuses: " + run.stderr[:2000])
        subprocess.run([OBJCOPY, "-O", "binary", "-j", ".text", path + ".o", path + ".bin"], check=True)
        with open(path + ".bin", "rb") as f:
            code = f.read()
    at = 0
    for word, row, text in lines:
        got = int.from_bytes(code[at:at + row.length], "little")
        check(got == word, "%s: GNU as gives 0x%x, the table 0x%x" % (text, got, word))
        at += row.length
    check(at == len(code), "GNU as wrote %d bytes, expected %d" % (len(code), at))


# Pseudo-instructions of alias.tsv that GNU as spells otherwise, needs another extension for, or makes
# another choice for; each is checked by its expansion elsewhere.
NOT_IN_GNU = {
    "li": "GNU chooses another sequence of the same value",
    "pause": "needs Zihintpause", "ntl.p1": "needs Zihintntl", "ntl.pall": "needs Zihintntl",
    "ntl.s1": "needs Zihintntl", "ntl.all": "needs Zihintntl", "c.ntl.p1": "needs Zihintntl",
    "c.ntl.pall": "needs Zihintntl", "c.ntl.s1": "needs Zihintntl", "c.ntl.all": "needs Zihintntl",
    "bep": "vendor", "xfence.wait": "vendor", "svsetvl": "vendor",
}
VALUES = {"rd": "x5", "rs1": "x6", "rs2": "x7", "rt": "x28", "imm": "-77", "uimm": "9", "shamt": "13", "csr": "mscratch",
          "label": "near", "symbol": "far", "fd": "f1", "fs1": "f2", "fs2": "f3"}


@case()
def pseudo_instructions_assemble_alike():
    """The same source through GNU as and ld, and through facet as: equal bytes at equal addresses."""
    need_binutils()
    lines = []
    for alias in spec.aliases["xphmg"]:
        if alias["mnemonic"] in NOT_IN_GNU or alias["operands"] == "rd, symbol" and alias["mnemonic"] == "call":
            continue  # GNU's call with another link register overwrites x6; the assembly manual's does not
        operands = re.sub(r"[a-z0-9]+", lambda m: VALUES[m.group(0)], alias["operands"])
        lines.append("%s %s" % (alias["mnemonic"], operands))
    check(len(lines) > 100, "only %d pseudo-instructions" % len(lines))
    source = "near:\n" + "\n".join(lines) + "\n.balign 4096\nfar:\n.word 0\n"
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path + ".s", "w") as f:
            f.write(".option norvc\n.option norelax\n.option nopic\n.text\n.globl _start\n_start:\n" + source)
        with open(path + "-facet.s", "w") as f:
            f.write(".text\n_start:\n" + source)
        for command in ([AS, "-march=" + MARCH, path + ".s", "-o", path + ".o"],
                        [LD, "--no-relax", "-Ttext=0x80000000", path + ".o", "-o", path + ".elf"],
                        [OBJCOPY, "-O", "binary", "-j", ".text", path + ".elf", path + ".bin"],
                        [os.environ["FACET"], "as", path + "-facet.s", "--isa", "xphmg", "--format", "bin", "-o",
                         path + ".facet"]):
            run = subprocess.run(command, capture_output=True, text=True)
            check(run.returncode == 0, "%s: %s" % (os.path.basename(command[0]), run.stderr[:1500]))
        gnu, mine = open(path + ".bin", "rb").read(), open(path + ".facet", "rb").read()
        dump = subprocess.run([OBJDUMP, "-d", path + ".elf"], capture_output=True, text=True).stdout
    for at in range(0, min(len(gnu), len(mine)), 4):
        if gnu[at:at + 4] != mine[at:at + 4]:
            place = next((l for l in dump.splitlines() if l.startswith("    %x:" % (0x80000000 + at))), "")
            check(False, "facet gives %s where GNU has %s" % (mine[at:at + 4][::-1].hex(), place.strip()))
    # GNU fills the section up to its alignment.
    check(len(mine) == 4100 <= len(gnu), "%d bytes, GNU %d" % (len(mine), len(gnu)))


def objdump(words):
    """{index: text} of what objdump makes of each word, each in its own 4 bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "a")
        with open(path + ".s", "w") as f:
            for w in words:
                f.write(".4byte 0x%x\n" % w)
        subprocess.run([AS, "-march=" + MARCH, path + ".s", "-o", path + ".o"], check=True)
        # Without symbols nothing says that this is data; the attributes still say which extensions.
        subprocess.run([OBJCOPY, "--strip-all", path + ".o"], check=True)
        out = subprocess.run([OBJDUMP, "-d", "-z", "-M", "no-aliases,numeric", path + ".o"],
                             capture_output=True, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        m = re.match(r"\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*\t(.*)$", line)
        if m and int(m.group(1), 16) % 4 == 0:
            found[int(m.group(1), 16) // 4] = m.group(3)
    return found


def number(token):
    try:
        return int(token, 0)
    except ValueError:
        return token


def normal_gnu(text, at):
    text = re.sub(r"\s*[#<].*$", "", text).strip()
    head, _, rest = text.partition("\t")
    return [head] + [number(t) if t[:1] in "-0123456789" else t for t in re.split(r"[,()\s]+", rest) if t]


def normal_ours(text, at):
    m = re.search(r"\. ([+-]) (\d+)$", text)
    if m:
        target = (at + int(m.group(1) + m.group(2))) & (2 ** 64 - 1)
        text = text[:m.start()] + "0x%x" % target
    head, _, rest = text.partition(" ")
    out = [head]
    for t in re.split(r"[,()\s]+", rest):
        if t:
            out.append(number(t) if t[:1] in "-0123456789" else t)
    return out


def explained(word, mnemonic, mine, gnu):
    """Why GNU's reading differs and ours is right; None when there is no good reason."""
    gnu_legal = not gnu.startswith((".word", ".short", ".half", ".2byte", ".4byte", ".insn"))
    if mnemonic == "-" and word & 0xFFFF == 0 and gnu == "c.unimp":
        return "the all-zero half is illegal by definition; c.unimp is a name for that"
    if mnemonic == "-" and gnu == "unimp":
        return "a name for an illegal word"
    if mnemonic == "-" and re.search(r",unknown$", gnu):
        return "rounding modes 5 and 6 are reserved"
    if mnemonic == "-" and word & 0x7F == 0x53 and (word >> 12) & 7 in (5, 6):
        return "rounding modes 5 and 6 are reserved"
    if mnemonic == "-" and word & 3 != 3 and gnu.split("\t")[0] in ("c.lui", "c.addiw", "c.addi16sp",
                                                                   "c.addi4spn", "c.lwsp", "c.ldsp"):
        return "reserved operand values"
    if mnemonic == "-" and gnu.split("\t")[0] in ("hret", "sret", "uret", "dret", "mnret", "sfence.vm",
                                                  "sfence.vma", "sfence.w.inval", "sfence.inval.ir"):
        return "instructions of modes and extensions that this hart lacks"
    if mnemonic in ("c.slli", "c.srli", "c.srai") and gnu.split("\t")[0] == mnemonic + "64":
        return "a shift by 0 is a hint; GNU prints the name that it has on RV128"
    if mnemonic == "fence":
        return "fence ignores rd and rs1, and any fm that it does not know counts as 0 (manual 2.7)"
    if mnemonic == "fence.i" and not gnu_legal:
        return "fence.i ignores rd, rs1 and imm (Zifencei)"
    if mnemonic in ("fcvt.d.s", "fcvt.d.w", "fcvt.d.wu", "fcvt.s.h", "fcvt.d.h") and (word >> 12) & 7 != 0:
        return "GNU knows exact conversions only with rm=rne; the manual encodes every rm"
    if mnemonic == "c.nop" and gnu.startswith("c.addi\tx0,"):
        return "another name for the same hint"
    if mnemonic.startswith("csrr") and re.match(r"csrr..?\t", gnu):
        # GNU knows CSR names of extensions that this hart does not have.
        a, b = normal_gnu(gnu, 0), normal_ours(mine, 0)
        a.pop(2), b.pop(2)
        return "CSR name" if a == b else None
    if mnemonic == "csrrw" and gnu == "unimp":
        return "csrrw x0, cycle, x0 has the second name unimp"
    return None


def compare(words):
    found = objdump(words)
    reasons = {}
    for i, (word, (length, mnemonic, path, text)) in enumerate(zip(words, ours(words))):
        gnu = found.get(i)
        check(gnu is not None, "no line of objdump for 0x%08x" % word)
        if path not in ("-", "rv64.insn.tsv"):
            continue  # vendor rows: GNU cannot know them
        gnu_legal = not gnu.startswith((".word", ".short", ".half", ".2byte", ".4byte", ".insn"))
        if mnemonic == "-" and not gnu_legal:
            continue
        if gnu_legal and mnemonic != "-" and normal_gnu(gnu, 4 * i) == normal_ours(text, 4 * i):
            continue
        why = explained(word, mnemonic, text, gnu)
        check(why is not None, "0x%08x: we say '%s', GNU '%s'" % (word, text, gnu))
        reasons[why] = reasons.get(why, 0) + 1
    return reasons


@case()
def every_16_bit_word_reads_alike():
    need_binutils()
    words = [h | 0x00010000 for h in range(65536) if h & 3 != 3]  # behind it stands c.nop
    for why, count in sorted(compare(words).items()):
        print("  %6d words: %s" % (count, why))


@case()
def random_32_bit_words_read_alike():
    need_binutils()
    rng = random.Random(2)
    words = []
    for row in ROWS:
        if row.length == 4:
            for _ in range(200 if LONG else 40):
                word = random_word(row, rng)
                words.append(word)
                words.append(word ^ (1 << rng.randrange(2, 32)))  # a neighbour
                words.append((word & 0xFE00707F) | rng.getrandbits(32) & ~0xFE00707F)
    for _ in range(400000 if LONG else 40000):
        words.append(rng.getrandbits(32) | 3)
    words = [w for w in words if w & 0x1F != 0x1F and w & 3 == 3]  # longer than 32 bits: both illegal
    for why, count in sorted(compare(words).items()):
        print("  %6d words: %s" % (count, why))


main("gnu_compare")
