"""Makes the seeds of the assembler, disassembler and ELF fuzz targets (tests/fuzz/corpus): one text per
group of rows, the forms that the rows do not show, words of every row, and a few executables.

Usage: make_corpus.py FACET (the program); run it after a change of the tables."""
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
from spec_tables import Spec

facet = sys.argv[1]
spec = Spec(os.path.join(HERE, "..", "..", "spec"))
spec.read()
rng = random.Random(1)

FORMS = {
    "xphmg": """# forms
1: la a0, x; lw a1, x
 li a2, 0x123456789abcdef
 bnez a0, 1b
 beq a0, a1, 1f
 rt.bbox rd=a0, rs1=a1, imm=T_CLAMP|PACK_HINT
 amoadd.w.aqrl a0, a1, (a2)
 .macro m a, b=2
 .byte \\a, \\b, \\@
 .endm
 m 1
 .rept 2
 m 3, 4
 .endr
 .zero 1
 .if 1 << 3 > 2
 .word %lo(x), ~1 << 3
 .else
 nonsense
 .endif
 .data
y: .zero 3
x: .asciz "s\\n"
 .set q, x + 1
 .globl q
 .balign 8
 .dword q, .
1: .section .t, "ax"
 .address 0x90000000
 j .
 .entry x
""",
    "tile": """; forms
_start: MOVI s1, tab
 LW s2, 40(s1)
 LW.P s3, tab
 BNE s1, s2, _start
 AADD s1, s2, (s3), aq
 VLD.C v3, c5(s0)
 CSRR s1, sampler[3].width
 J . + 8
tab: .word 1, tab
 .float 1.5
""",
}


def texts(isa):
    rows = spec.insns[isa]
    for start in range(0, len(rows), 40):
        lines = []
        for row in rows[start:start + 40]:
            word = row.match
            for o in row.operands:
                word |= o.place(rng.getrandbits(o.width())) if not o.hidden else 0
            out = subprocess.run([facet, "dis", "--isa", isa, "--hex", "%x" % word],
                                 capture_output=True, text=True, check=True)
            lines.append(out.stdout)
        yield "".join(lines)
    yield FORMS[isa]


def put(folder, name, data):
    path = os.path.join(HERE, "corpus", folder)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, name), "wb") as f:
        f.write(data)


for which, isa in enumerate(("xphmg", "tile")):
    mark = bytes([which])
    for i, text in enumerate(texts(isa)):
        name = "%s%02d" % (isa, i)
        put("assemble", name, mark + text.encode())
        flat = subprocess.run([facet, "as", "-", "--isa", isa, "--format", "bin", "-o", "-"],
                              input=re.sub(r" \.address.*\n", "", text).encode(), capture_output=True)
        if flat.returncode != 0:
            sys.exit(flat.stderr.decode())
        put("disassemble", name, mark + flat.stdout[:400])
    elf = subprocess.run([facet, "as", "-", "--isa", isa, "-o", "-"], input=FORMS[isa].encode(),
                         capture_output=True, check=True)
    put("elf", isa, elf.stdout)
