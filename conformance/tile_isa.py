"""Instructions of the tile machine as words, from the columns of spec/tile.insn.tsv, and small programs of them."""
import re

import tables

ROWS = {row["mnemonic"]: row for row in tables.rows("tile.insn.tsv")}
FIELD = re.compile(r"(\w+)(?:\.(\d+)_(\d+))?\[(\d+):(\d+)\]")


def word(mnemonic, **operands):
    """The word of an instruction; operands by the names of its fields, numbers as they are written."""
    row = ROWS[mnemonic]
    value = int(row["match"], 0)
    used = set()
    for name, high, low, top, bottom in FIELD.findall(row["fields"]):
        number = operands.get(name, 0)
        used.add(name)
        if name == "simm7x4":
            number >>= 2
        if high:
            number >>= int(low)
        value |= (number & (1 << int(top) - int(bottom) + 1) - 1) << int(bottom)
    if set(operands) - used:
        raise ValueError(f"{mnemonic} has no operand {set(operands) - used}")
    return value


def text(mnemonic, **operands):
    """As it is written."""
    def one(m):
        name = m[0]
        number = operands.get(name, 0)
        kind = {"r": "s", "f": "f", "v": "v"}.get(name[0]) if re.fullmatch(r"[rfv](d|s\d)", name) else "c" if name == "cidx" else None
        if name == "ord":
            return ("rlx", "aq", "rl", "aqrl")[number]
        return f"{kind}{number}" if kind else f"{number:#x}" if name == "csr" else str(number)
    head, _, rest = ROWS[mnemonic]["syntax"].partition(" ")
    return (head + " " + re.sub(r"[a-z]\w*", one, rest)).strip()


CSR = {"status": 0, "fstatus": 1, "vstatus": 2, "config": 3, "vstride": 5, "int_mask": 8, "int_status": 9, "gerror": 10, "core_id": 0xC00,
       "tile_offset": 0xC01, "arg_base": 0xC02, "gfx_token": 0xC23}


class Program:
    """Code in the order it is written; `at` is the address of what comes next."""

    def __init__(self, base=0x80000000):
        self.base, self.words, self.lines = base, [], []

    @property
    def at(self):
        return self.base + 4 * len(self.words)

    def __call__(self, mnemonic, **operands):
        self.words.append(word(mnemonic, **operands))
        self.lines.append(text(mnemonic, **operands))
        return self.at - 4

    def raw(self, value, comment=""):
        self.words.append(value & 0xFFFFFFFF)
        self.lines.append(f".word {value & 0xFFFFFFFF:#010x}" + (f" # {comment}" if comment else ""))
        return self.at - 4

    def li(self, rd, value):
        value &= 0xFFFFFFFF
        low = (value & 0xFFF) - ((value & 0x800) << 1)
        self("LUI", rd=rd, uimm=(value - low >> 12) & 0xFFFFF)
        self("ADDI", rd=rd, rs1=rd, simm=low)

    def lf(self, rd, rs1, offset, mnemonic="LW"):
        """A load from rs1 + offset, in the form that reaches it."""
        wide = not 0 <= offset < 32
        key = "vd" if mnemonic[0] == "V" else "rd"
        self(mnemonic + ".L" * wide, **{key: rd, "rs1": rs1, "simm" if wide else "uimm": offset})

    def st(self, rs2, rs1, offset, mnemonic="SW"):
        wide = not 0 <= offset < 32
        key = "vs3" if mnemonic[0] == "V" else "rs2"
        self(mnemonic + ".L" * wide, **{key: rs2, "rs1": rs1, "simm" if wide else "uimm": offset})

    def csrr(self, rd, name):
        self("CSRRS", rd=rd, csr=CSR.get(name, name), rs1=0)

    def csrw(self, name, rs1):
        self("CSRRW", rd=0, csr=CSR.get(name, name), rs1=rs1)

    def patch(self, at, mnemonic, **operands):
        """A branch whose target is known now."""
        k = (at - self.base) // 4
        self.words[k], self.lines[k] = word(mnemonic, **operands), text(mnemonic, **operands)

    def code(self):
        return b"".join(w.to_bytes(4, "little") for w in self.words)

    def source(self):
        return "\n".join(self.lines) + "\n"
