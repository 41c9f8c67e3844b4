"""Branches and jumps as the words that the requirement rows spell out, bit by bit."""
import re

import tables
from tile_case import Case
from tile_isa import Program, word

VALUES = (0, 1, 2, 31, 32, 0xFF, 0x8000, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF0000)
IN, OUT = 0x80010000, 0x80020000


def signed(x):
    return x - (x >> 31 << 32)


BRANCHES = {"BEQ": (lambda a, b: a == b, "TILE-089"), "BNE": (lambda a, b: a != b, "TILE-090"),
            "BLT": (lambda a, b: signed(a) < signed(b), "TILE-091"), "BGE": (lambda a, b: signed(a) >= signed(b), "TILE-092"),
            "BLTU": (lambda a, b: a < b, "TILE-093"), "BGEU": (lambda a, b: a >= b, "TILE-094")}


def conditions(suite):
    pairs = [(a, b) for a in VALUES for b in VALUES]
    for row in tables.rows("tile.requirements.tsv"):
        m = re.fullmatch(r"(\w+) is opcode ([01]{7}) with funct3 ([01]{3})\.", row["requirement"])
        if not m or m[1] not in BRANCHES:
            continue
        rule, meaning = BRANCHES[m[1]]
        p = Program()
        p.li(5, IN)
        p.li(6, OUT)
        p.li(7, len(pairs))
        start = p.at
        p.lf(17, 5, 0)
        p.lf(26, 5, 4)
        p("ADDI", rd=3, rs1=0, simm=1)
        # B-type, 8 bytes forward: imm[4:1] in bits 11:8
        p.raw(26 << 20 | 17 << 15 | int(m[3], 2) << 12 | 4 << 8 | int(m[2], 2), f"{m[1]} s17, s26, . + 8")
        p("ADDI", rd=3, rs1=0, simm=0)
        p.st(3, 6, 0)
        p("ADDI", rd=5, rs1=5, simm=8)
        p("ADDI", rd=6, rs1=6, simm=4)
        p("ADDI", rd=7, rs1=7, simm=-1)
        p("BNE", rs1=7, rs2=0, bimm=start - p.at)
        p("EXIT")
        c = Case(f"tile/scalar/{m[1].lower()}", [row["id"], meaning, "TILE-085", "TILE-050"], code=p.code(), text=p.source(),
                 title=f"{m[1]} by its bits")
        c.input(IN, b"".join(a.to_bytes(4, "little") + b.to_bytes(4, "little") for a, b in pairs))
        c.output(OUT, b"".join(int(rule(a, b)).to_bytes(4, "little") for a, b in pairs),
                 [f"{m[1]} of {a:#x} and {b:#x} is taken" for a, b in pairs])
        suite.add(c)


def distances(suite, name, rows, mnemonic, field, reach, **operands):
    """Jumps of many lengths, each from and to places of its own; a number at the target and the link are stored."""
    steps = [d for d in (8, 16, 64, 256, 1024, 2044, 2048, 4092, -64, -32, -128, -512, -2048, -4096, 65536, 524288, 1048572, -65536, -1048576)
             if -reach <= d < reach]
    room = 2 * reach + 0x3000
    site = [0x80100000 + room + room * k for k in range(len(steps))]
    c = Case(name, rows, title=f"{mnemonic}, lengths")
    out = []
    start = Program()
    start.li(6, OUT)
    start.li(9, site[0])
    start("JALR", rd=0, rs1=9, simm=0)
    c.code = start.code()
    for k, d in enumerate(steps):
        c.input(site[k], word(mnemonic, **operands, **{field: d}).to_bytes(4, "little"))
        p = Program(site[k] + d)
        p("ADDI", rd=3, rs1=0, simm=k + 1)
        p.st(3, 6, 0)
        p.st(operands.get("rd", 0), 6, 4)
        p("ADDI", rd=6, rs1=6, simm=8)
        if k + 1 < len(steps):
            p.li(9, site[k + 1])
            p("JALR", rd=0, rs1=9, simm=0)
        else:
            p("EXIT")
        c.input(p.base, p.code())
        out += [k + 1, site[k] + 4 if "rd" in operands else 0]
    c.output(OUT, b"".join(x.to_bytes(4, "little") for x in out),
             [text for d in steps for text in (f"{mnemonic} by {d} arrives", f"link of {mnemonic} by {d}")])
    suite.add(c)


def jumps(suite):
    distances(suite, "tile/scalar/branch-lengths", "TILE-088 TILE-014 TILE-085 TILE-021", "BEQ", "bimm", 4096, rs1=0, rs2=0)
    distances(suite, "tile/scalar/jal", "TILE-095 TILE-086 TILE-014 TILE-021", "JAL", "jimm", 1 << 20, rd=31)
    distances(suite, "tile/scalar/jal-s", "TILE-136", "JAL.S", "simm", 2048, rd=31)
    p = Program()
    p.li(6, OUT)
    out, offsets = [], ((0, 0), (4, 0), (-4, 1), (2047, 1), (-2048, 0), (1, 1), (-1, 0), (-3, 1))
    for k, (offset, odd) in enumerate(offsets):
        p("ADDI", rd=9, rs1=0, simm=0)
        p.li(17, p.at + 16 + odd - offset)  # over this, the jump, and one instruction that must not run
        p("JALR", rd=31, rs1=17, simm=offset)
        out += [p.at, 0]
        p("ADDI", rd=9, rs1=0, simm=1)
        p.st(31, 6, 8 * k)
        p.st(9, 6, 8 * k + 4)
    p("EXIT")
    c = Case("tile/scalar/jalr", "TILE-087 TILE-096 TILE-135 TILE-085", code=p.code(), text=p.source(), title="JALR")
    c.output(OUT, b"".join(x.to_bytes(4, "little") for x in out),
             [text for o, _ in offsets for text in (f"link of a jump with offset {o}", "what it jumps over has run")])
    suite.add(c)


def add(suite):
    conditions(suite)
    jumps(suite)
