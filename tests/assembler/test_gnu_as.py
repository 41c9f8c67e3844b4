"""The assembler beside GNU binutils: the same text must give the same bytes, readelf and objdump must
understand our files, and our disassembler theirs."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["FACET_SOURCE"], "tools"))
from harness import case, check, check_eq, main, skip
from spec_tables import Spec

FACET = os.environ["FACET"]
MARCH = "rv64imafdc_zicsr_zifencei_zfh_zba_zbb_zbs"
AS, LD, OBJCOPY, OBJDUMP = ("riscv64-unknown-elf-" + t for t in ("as", "ld", "objcopy", "objdump"))
LONG = os.environ.get("FACET_TEST_LONG") == "1"

spec = Spec(os.path.join(os.environ["FACET_SOURCE"], "spec"))
spec.read()
ROWS = [r for r in spec.insns["xphmg"] if r.path == "rv64.insn.tsv"]
X = ("zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 "
     "t3 t4 t5 t6").split()
F = ("ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 fs2 fs3 fs4 fs5 fs6 "
     "fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11").split()


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            skip(tool + " is not installed")


def run(*words, **kw):
    return subprocess.run(words, capture_output=True, **kw)


def facet_bin(text, folder, *options):
    path = os.path.join(folder, "f.s")
    with open(path, "w") as f:
        f.write(text)
    out = os.path.join(folder, "f.bin")
    done = run(FACET, "as", path, "--isa", "xphmg", "--format", "bin", "-o", out, *options)
    check_eq(done.returncode, 0, "facet as: " + done.stderr.decode()[:500])
    with open(out, "rb") as f:
        return f.read()


def gnu_bin(text, folder):
    """Assembled and linked at our base, so that every reference is resolved."""
    path = os.path.join(folder, "g.s")
    with open(path, "w") as f:
        f.write("\t.option norvc\n\t.option norelax\n" + text)
    obj, elf, out = (os.path.join(folder, "g." + e) for e in ("o", "elf", "bin"))
    done = run(AS, "-march=" + MARCH, "-mno-arch-attr", path, "-o", obj)
    check_eq(done.returncode, 0, "GNU as: " + done.stderr.decode()[:500])
    done = run(LD, "-N", "--no-relax", "-e", "0", "-Ttext=0x80000000", obj, "-o", elf)
    check_eq(done.returncode, 0, "GNU ld: " + done.stderr.decode()[:500])
    run(OBJCOPY, "-O", "binary", elf, out)
    with open(out, "rb") as f:
        return f.read()


def operand(name, o, row, rng, label):
    """Text of a random value, by the operand's name only."""
    if name in ("rd", "rs1", "rs2"):
        return rng.choice([rng.choice(X), "x%d" % rng.randrange(32)])
    if name in ("fd", "fs1", "fs2", "fs3"):
        return rng.choice([rng.choice(F), "f%d" % rng.randrange(32)])
    if name in ("rdc", "rs1c", "rs2c"):
        return "x%d" % rng.randrange(8, 16)
    if name in ("fdc", "fs2c"):
        return "f%d" % rng.randrange(8, 16)
    if name == "sp":
        return "sp"
    if name == "label":
        return label
    if name == "csr":
        return rng.choice(["0x%x" % rng.randrange(4096), "mstatus", "fcsr", "cycle", "mepc"])
    if name in ("pred", "succ"):
        return rng.choice(["i", "o", "r", "w", "rw", "iorw", "io", "ow"])
    if name == "rm":
        return rng.choice(["rne", "rtz", "rdn", "rup", "rmm", "dyn"])
    width = o.width()
    low = min(p.value_lo for p in o.pieces)
    top = max(p.value_lo + p.width for p in o.pieces)
    value = rng.getrandbits(top) >> low << low
    if name == "imm" and row.mnemonic != "c.lui":
        value -= (value >> (top - 1) & 1) << top
    if row.mnemonic == "c.lui":
        value = rng.randrange(1, 32)
    return rng.choice([str(value), hex(value), "(%d + 3)" % (value - 3)])


def line_of(row, rng, label):
    by_name = {o.name: o for o in row.operands}
    mnemonic, _, rest = row.syntax.partition(" ")
    mnemonic = mnemonic.replace("[order]", rng.choice(["", ".aq", ".rl", ".aqrl"]))
    rest = re.sub(r",? *\[(\w+)=[^\]]*\]", lambda m: rng.choice([", " + m.group(1), ""])
                  if m.group(1) == "rm" else "", rest)
    if row.mnemonic in ("fcvt.d.w", "fcvt.d.wu", "fcvt.d.s", "fcvt.s.h", "fcvt.d.h"):
        rest = rest.replace(", rm", "")  # older assemblers take no mode where rounding cannot happen
    text = re.sub(r"[a-z]\w*", lambda m: operand(m.group(0), by_name.get(m.group(0)), row, rng, label), rest)
    return mnemonic + " " + text


@case()
def every_base_row_assembles_as_gnu_does():
    need(AS, LD, OBJCOPY)
    rng = random.Random(7)
    lines = []
    for row in ROWS:
        for _ in range(60 if LONG else 12):
            label = ". + %d" % (2 * rng.randrange(8, 100)) if row.mnemonic.startswith("c.") else \
                    rng.choice(["1b", "1f", "target", ". - 8", ". + 16"])
            lines.append((row, line_of(row, rng, label)))
    with tempfile.TemporaryDirectory() as folder:
        # Values that a row's conditions forbid are refused by both; find and drop them with ours.
        dropped = 0
        while True:
            path = os.path.join(folder, "x.s")
            with open(path, "w") as f:
                # distances differ when lines are dropped: keep blocks short
                out = []
                for i, (row, line) in enumerate(lines):
                    if i % 100 == 0:
                        out.append("\t.balign 4\n1:\n" if i else "target:\n1:\n")
                    out.append("\t.option %s\n" % ("rvc" if row.mnemonic.startswith("c.") else "norvc"))
                    out.append("\t%s\n" % line.replace("target", "1b"))
                out.append("1:\n")
                f.write("".join(out))
            done = run(FACET, "as", path, "--isa", "xphmg", "--json", "-o", os.path.join(folder, "x.elf"))
            if done.returncode == 0:
                break
            bad = {e["source"].strip() for e in json.loads(done.stdout)["errors"]}
            check(all("cannot be" in e["message"] for e in json.loads(done.stdout)["errors"]),
                  "refused for another reason: " + done.stdout.decode()[:600])
            before = len(lines)
            lines = [l for l in lines if l[1].replace("target", "1b").strip() not in bad]
            dropped += before - len(lines)
            check(before != len(lines), "cannot make progress")
        check(dropped < len(ROWS), "%d lines were dropped" % dropped)
        with open(path) as f:
            text = f.read()
        text += "\t.balign 4\n"  # GNU fills its sections up
        ours, theirs = facet_bin(text, folder), gnu_bin(text, folder)
        check_eq(len(ours), len(theirs), "length")
        if ours != theirs:
            at = next(i for i in range(min(len(ours), len(theirs))) if ours[i] != theirs[i])
            raise AssertionError("bytes differ at 0x%x: %s / %s" % (at, ours[at & ~3:][:8].hex(),
                                                                   theirs[at & ~3:][:8].hex()))


@case()
def li_expands_as_gnu_does():
    need(AS, LD, OBJCOPY)
    rng = random.Random(3)
    values = [0, 1, -1, 2047, 2048, -2048, -2049, 0x7fffffff, 0x80000000, -0x80000000, 1 << 63, (1 << 64) - 1,
              0x7ffff800, 0xfffff800, 0xfffffffffffff800]
    for _ in range(2000):
        v = rng.getrandbits(64) >> rng.randrange(64) << rng.randrange(0, 64)
        values.append(v & ((1 << 64) - 1))
    text = "".join("\tli %s, %s\n" % (rng.choice(X[1:]), hex(v)) for v in values)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = facet_bin(text, folder), gnu_bin(text, folder)
    check_eq(ours == theirs, True, "li of %d constants gives GNU's bytes" % len(values))


PROGRAM = """
        .globl  _start
        .type   _start, @function
_start: la      a0, message
        lla     a1, table
        li      a2, 0x123456789
        call    function
        lw      t0, counter
        sw      t0, counter, t1
        fld     fa0, number, t2
        beqz    a0, done
        bgtu    a0, a1, 1f
        j       _start
1:      tail    function
done:   ret
        .size   _start, . - _start
function:
        csrr    t0, mstatus
        csrwi   mscratch, 5
        fmv.d   fa1, fa0
        neg     t1, t0
        zext.b  t1, t1
        sext.w  t2, t1
        seqz    t3, t2
        fence
        jr      t1
        jalr    8(t1)
        .balign 16
table:  .dword  function, done, table + 8
        .word   done - _start, 1 << 4 | 3, ~0 & 0xff, -7 / 2, 'a'
message: .string "hello\\n"
        .balign 8
number: .double 3.25
        .float  0.1
counter: .half  1, 2
        .byte   1, 2, 3, 4
        .fill   4, 2, 0x55
        .p2align 2
        nop
"""


@case()
def a_program_assembles_as_gnu_does():
    need(AS, LD, OBJCOPY)
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = facet_bin(PROGRAM, folder), gnu_bin(PROGRAM, folder)
    check_eq(ours.hex(), theirs[:len(ours)].hex())
    check(len(theirs) - len(ours) < 16, "more than GNU's fill at the end of its section")


@case()
def readelf_and_objdump_read_our_files():
    need("readelf", OBJDUMP)
    with tempfile.TemporaryDirectory() as folder:
        source, elf = os.path.join(folder, "p.s"), os.path.join(folder, "p.elf")
        with open(source, "w") as f:
            f.write(PROGRAM + ".data\nd: .word 1\n.bss\nb: .zero 64\n")
        check_eq(run(FACET, "as", source, "--isa", "xphmg", "-o", elf).returncode, 0)
        out = run("readelf", "-a", "-W", elf)
        text = out.stdout.decode()
        check_eq(out.stderr.decode(), "", "what readelf complains about")
        for piece in ("ELF64", "RISC-V", "RVC, double-float ABI", "0x80000000", ".text", ".bss",
                      "FUNC    GLOBAL DEFAULT    1 _start", "NOBITS"):
            check(piece in text, "readelf does not show " + piece)
        out = run(OBJDUMP, "-d", elf)
        check_eq(out.stderr.decode(), "", "what objdump complains about")
        check("<_start>:" in out.stdout.decode() and "ret" in out.stdout.decode(), "objdump shows the code")
        tile = os.path.join(folder, "t.elf")
        done = run(FACET, "as", "-", "--isa", "tile", "-o", tile, input=b"x: EXIT\n.data\n.word 1\n")
        check_eq(done.returncode, 0)
        out = run("readelf", "-a", "-W", tile)
        check_eq(out.stderr.decode(), "", "what readelf complains about")
        check("ELF32" in out.stdout.decode() and "0x5447" in out.stdout.decode(), "the tile header")


@case()
def files_of_gnu_disassemble_and_assemble_again():
    need(AS, LD, OBJCOPY)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "g.s")
        obj, elf, dis, ours, a, b = (os.path.join(folder, n) for n in ("g.o", "g.elf", "d.s", "d.elf", "a", "b"))
        with open(source, "w") as f:
            f.write(PROGRAM + ".data\nd: .word 1\n.bss\nbb: .zero 64\n")
        check_eq(run(AS, "-march=" + MARCH, source, "-o", obj).returncode, 0)  # compressed
        check_eq(run(LD, "-Ttext=0x80000000", obj, "-o", elf).returncode, 0)
        done = run(FACET, "dis", elf, "-o", dis)
        check_eq(done.returncode, 0, done.stderr.decode())
        done = run(FACET, "as", dis, "--isa", "xphmg", "-o", ours)
        check_eq(done.returncode, 0, done.stderr.decode()[:500])
        for path, out in ((elf, a), (ours, b)):
            run(OBJCOPY, "-O", "binary", path, out)
        with open(a, "rb") as x, open(b, "rb") as y:
            check_eq(x.read() == y.read(), True, "the same bytes")
        symbols = [sorted(l.split()[0::2] for l in run("riscv64-unknown-elf-nm", p).stdout.decode().splitlines()
                          if "$x" not in l) for p in (elf, ours)]
        check_eq(symbols[1], symbols[0], "symbols")


main("gnu_as")
