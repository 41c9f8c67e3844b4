"""Integer instructions of the tile machine as the words that the requirement rows spell out, bit by bit, with results of
Python's integers."""
import re

import tables
from tile_case import Case

VALUES = (0, 1, 2, 31, 32, 0xFF, 0x8000, 0x12345678, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFF0000)
IN, OUT = 0x80010000, 0x80020000


def signed(x):
    return x - (x >> 31 << 32)


RULES = {
    "ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "AND": lambda a, b: a & b, "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b, "SHL": lambda a, b: a << (b & 31), "LSR": lambda a, b: a >> (b & 31),
    "ASR": lambda a, b: signed(a) >> (b & 31), "MIN": lambda a, b: min(signed(a), signed(b)),
    "MAX": lambda a, b: max(signed(a), signed(b)), "MUL": lambda a, b: a * b,
    "MULH": lambda a, b: signed(a) * signed(b) >> 32, "MULHU": lambda a, b: a * b >> 32,
    "CMP": lambda a, b: signed(a) < signed(b), "CMPU": lambda a, b: a < b, "CMPEQ": lambda a, b: a == b,
    "CLZ": lambda a, b: 32 - a.bit_length(), "CTZ": lambda a, b: (a & -a).bit_length() - 1 if a else 32,
}
BRANCHES = {"BEQ": lambda a, b: a == b, "BNE": lambda a, b: a != b, "BLT": lambda a, b: signed(a) < signed(b),
            "BGE": lambda a, b: signed(a) >= signed(b), "BLTU": lambda a, b: a < b, "BGEU": lambda a, b: a >= b}


def add(suite):
    ids, branches = {}, {}
    for row in tables.rows("tile.requirements.tsv"):
        m = re.fullmatch(r"(\w+) is encoded with opcode ([01]{7}), funct7 ([01]{7}), funct3 ([01]{3})\.", row["requirement"])
        if m and m[1] in RULES:
            ids[m[1]] = row["id"], int(m[2], 2), int(m[3], 2), int(m[4], 2)
        m = re.fullmatch(r"(\w+) is opcode ([01]{7}) with funct3 ([01]{3})\.", row["requirement"])
        if m and m[1] in BRANCHES:
            branches[m[1]] = row["id"], int(m[2], 2), int(m[3], 2)
    pairs = [(a, b) for a in VALUES for b in VALUES]
    for name, (row, opcode, funct7, funct3) in ids.items():
        one = name in ("CLZ", "CTZ")
        word = funct7 << 25 | (0 if one else 2 << 20) | 1 << 15 | funct3 << 12 | 3 << 7 | opcode
        text = f"""# {name} s3, s1{'' if one else ', s2'} as the word {word:#010x}, on {len(pairs)} pairs of values
LI s5, {IN:#x}
LI s6, {OUT:#x}
LI s7, {len(pairs)}
next: LW s1, 0(s5)
LW s2, 4(s5)
LI s3, 0x55555555
.word {word:#x}
SW s3, 0(s6)
ADDI s5, s5, 8
ADDI s6, s6, 4
ADDI s7, s7, -1
BNE s7, s0, next
EXIT
"""
        c = Case(f"tile/scalar/{name.lower()}", row, text=text, title=f"{name} by its bits")
        c.input(IN, b"".join(a.to_bytes(4, "little") + b.to_bytes(4, "little") for a, b in pairs))
        c.output(OUT, b"".join((int(RULES[name](a, b)) & 0xFFFFFFFF).to_bytes(4, "little") for a, b in pairs),
                 [f"{name} of {a:#x} and {b:#x}" for a, b in pairs])
        suite.add(c)
    for name, (row, opcode, funct3) in branches.items():
        # B-type, 8 bytes forward: imm[4:1] in bits 11:8
        word = 2 << 20 | 1 << 15 | funct3 << 12 | 4 << 8 | opcode
        text = f"""# {name} s1, s2, . + 8 as the word {word:#010x}
LI s5, {IN:#x}
LI s6, {OUT:#x}
LI s7, {len(pairs)}
next: LW s1, 0(s5)
LW s2, 4(s5)
LI s3, 1
.word {word:#x}
LI s3, 0
SW s3, 0(s6)
ADDI s5, s5, 8
ADDI s6, s6, 4
ADDI s7, s7, -1
BNE s7, s0, next
EXIT
""".replace("LI s3, 0\n", "ADDI s3, s0, 0\n")
        c = Case(f"tile/scalar/{name.lower()}", row, text=text, title=f"{name} by its bits")
        c.input(IN, b"".join(a.to_bytes(4, "little") + b.to_bytes(4, "little") for a, b in pairs))
        c.output(OUT, b"".join(int(BRANCHES[name](a, b)).to_bytes(4, "little") for a, b in pairs),
                 [f"{name} of {a:#x} and {b:#x} is taken" for a, b in pairs])
        suite.add(c)
