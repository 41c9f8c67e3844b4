"""Random valid RV64 programs for fuzz_hart.py: I M A F D C, Zfh, Zba, Zbb, Zbs, and Zicsr on fcsr.

A program is a list of items; an item is one instruction or a few that belong together (an address and
the atomic that uses it, LR and SC, AUIPC and JALR). Jumps and branches go forward to the start of an
item, so every program ends. Three registers hold pointers and are never written: x2 and x8 into the
data that the program may change, x9 into operands that it only reads. Every instruction row of
spec/rv64.insn.tsv that can occur in such a program does; the encodings come from the rows."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spec_tables import Spec

KEPT = (2, 8, 9)
WRITABLE = [r for r in range(32) if r not in KEPT]
ANY_RM = (0, 1, 2, 3, 4, 7, 7)
SLOT_BYTES, DATA, POOL = 4096, 1024, 3072
POINTERS = {2: DATA + 512, 8: DATA + 1024, 9: POOL + 512}  # offsets in the slot
# Bytes that an offset from the pointer may reach: first and one past the last.
REACH = {2: (0, 512), 8: (-1024, 1024), 9: (-512, 512)}
SIZES = {"b": 1, "h": 2, "w": 4, "d": 8}

# Rows that never occur: they trap, leave M mode, or wait.
NEVER = {"ecall", "ebreak", "c.ebreak", "mret", "wfi"}
FFLAGS, FRM, FCSR = 1, 2, 3


class Row:
    def __init__(self, row):
        self.name, self.match, self.length = row.mnemonic, row.match, row.length
        self.operands = [o for o in row.operands if not o.hidden]
        self.by_name = {o.name: o for o in self.operands}
        self.base = None
        for _, base in row.items:
            if base >= 0:
                self.base = row.operands[base].name
        self.jumps = any(o.kind == "pcrel" for o in self.operands)

    def word(self, values):
        word = self.match
        for name, value in values.items():
            word |= self.by_name[name].place(value)
        return word


def load_rows(folder):
    spec = Spec(folder)
    if not spec.read():
        raise SystemExit("\n".join(spec.findings))
    return {r.mnemonic: Row(r) for r in spec.insns["xphmg"]
            if r.path == "rv64.insn.tsv" and r.mnemonic not in NEVER}


class Item:
    """Bytes, or a jump: a function of the distance to its target that gives the bytes."""

    def __init__(self, length, encode, skip=0):
        self.length, self.encode, self.skip = length, encode, skip


def pack(row, word):
    return word.to_bytes(row.length, "little")


class Maker:
    def __init__(self, rows, rng):
        self.rows, self.rng = rows, rng
        self.kinds = self.sort_rows()

    def sort_rows(self):
        kinds = {k: [] for k in ("int", "fp", "load", "store", "amo", "branch")}
        for row in self.rows.values():
            name = row.name
            if row.jumps:
                kinds["branch"].append(row)
            elif name in ("jalr", "c.jr", "c.jalr", "auipc", "c.addi16sp", "ctzw") or name.startswith(
                    ("lr.", "sc.", "csrr", "fence")):
                continue  # made by items of their own
            elif name.startswith("amo"):
                kinds["amo"].append(row)
            elif row.base is not None:
                kinds["store" if "rs2" in name or self.stores(row) else "load"].append(row)
            elif name[0] == "f":
                kinds["fp"].append(row)
            else:
                kinds["int"].append(row)
        return kinds

    @staticmethod
    def stores(row):
        return not any(n in row.by_name for n in ("rd", "rdc", "fd", "fdc"))

    # -- operands ----------------------------------------------------------------------------------

    def value(self, o, row):
        """A random value of an operand that is neither a pointer nor a jump target."""
        rng, kind, name = self.rng, o.kind, o.name
        if kind == "sp":
            return None
        if kind == "xreg":
            while True:
                v = rng.choice(WRITABLE) if name == "rd" else rng.randrange(32)
                if v not in o.forbidden:
                    return v
        if kind == "xreg_c":
            return rng.randrange(2, 8) if name == "rdc" else rng.randrange(8)
        if kind in ("freg", "freg_c"):
            return rng.randrange(1 << o.width())
        if name == "rm":
            return rng.choice(ANY_RM)
        if name == "order":
            return rng.randrange(4)
        width, align = o.width(), o.align()
        while True:
            v = rng.getrandbits(width)
            if rng.random() < 0.2:
                v = rng.choice((0, 1, (1 << width) - 1, 1 << (width - 1)))
            v = v >> align << align
            if v not in o.forbidden:
                return v

    def plain(self, row):
        values = {}
        for o in row.operands:
            v = self.value(o, row)
            if v is not None:
                values[o.name] = v
        return pack(row, row.word(values))

    def access(self, row):
        """A load or store through one of the pointers, aligned or not."""
        rng, values = self.rng, {}
        size = self.size_of(row.name)
        store = self.stores(row)
        for o in row.operands:
            if o.name == row.base:
                continue
            if o.name in ("imm", "uimm"):
                offset = o
                continue
            values[o.name] = self.value(o, row)
        base = row.by_name[row.base]
        if base.kind == "sp":
            pointer = 2
        else:
            pointer = 8 if store or rng.random() < 0.4 else 9
            if base.kind == "xreg" and rng.random() < 0.1:
                pointer = 2
            values[row.base] = pointer - 8 if base.kind == "xreg_c" else pointer
        low, high = REACH[pointer]
        if offset.kind == "uimm":
            low, high = 0, min(high, 1 << offset.width())
        at = rng.randrange(low, high - size + 1)
        align = max(1 << offset.align(), size if rng.random() < 0.75 else 1)
        at = at // align * align
        values[offset.name] = max(at, low) & ((1 << offset.width()) - 1)
        return pack(row, row.word(values))

    @staticmethod
    def size_of(name):
        name = name[2:] if name.startswith("c.") else name
        name = name.replace("sp", "").replace("u", "")
        return SIZES[name[-1]]

    # -- items -------------------------------------------------------------------------------------

    def fixed(self, data):
        return Item(len(data), lambda distance: data)

    def encode(self, name, **values):
        row = self.rows[name]
        values = {k: v & ((1 << row.by_name[k].width()) - 1) for k, v in values.items()}
        return pack(row, row.word(values))

    def address(self, size):
        """Code that puts an aligned address into a register, and the register."""
        rng = self.rng
        if rng.random() < 0.3:
            return b"", 8
        register = rng.choice(WRITABLE[1:])
        at = rng.randrange(-1024, 1024 - 8) // size * size
        return self.encode("addi", rd=register, rs1=8, imm=at), register

    def amo(self, row):
        code, register = self.address(4 if row.name.endswith("w") else 8)
        values = {"rs1": register}
        for o in row.operands:
            if o.name != "rs1":
                values[o.name] = self.value(o, row)
        return self.fixed(code + pack(row, row.word(values)))

    def reservation(self):
        """LR, at times something between, SC: succeeds. Or an SC alone: fails."""
        rng = self.rng
        kind = rng.choice("wd")
        code, register = self.address(4 if kind == "w" else 8)
        if rng.random() < 0.7:
            target = rng.choice([r for r in WRITABLE if r != register])
            code += self.encode("lr." + kind, rd=target, rs1=register, order=rng.randrange(4))
            for _ in range(rng.randrange(3)):
                code += self.encode("addi", rd=target, rs1=rng.randrange(32), imm=rng.getrandbits(12))
        code += self.encode("sc." + kind, rd=rng.choice(WRITABLE), rs1=register, rs2=rng.randrange(32),
                            order=rng.randrange(4))
        return self.fixed(code)

    def csr(self):
        rng = self.rng
        rd = rng.choice(WRITABLE)
        kind = rng.randrange(6)
        if kind == 0:
            return self.fixed(self.encode("csrrwi", rd=rd, csr=FRM, uimm=rng.randrange(5)))
        if kind == 1:
            return self.fixed(self.encode(rng.choice(("csrrw", "csrrs", "csrrc")), rd=rd, csr=FFLAGS,
                                          rs1=rng.randrange(32)))
        if kind == 2:
            return self.fixed(self.encode(rng.choice(("csrrwi", "csrrsi", "csrrci")), rd=rd, csr=FFLAGS,
                                          uimm=rng.randrange(32)))
        if kind == 3:
            return self.fixed(self.encode(rng.choice(("csrrs", "csrrc")), rd=rd, rs1=0,
                                          csr=rng.choice((FFLAGS, FRM, FCSR))))
        if kind == 4:
            return self.fixed(self.encode("csrrci", rd=rd, csr=rng.choice((FRM, FCSR)), uimm=rng.randrange(32)))
        return self.fixed(self.encode("csrrwi", rd=rd, csr=FCSR, uimm=rng.randrange(32)))

    def branch(self):
        rng = self.rng
        row = rng.choice(self.kinds["branch"])
        values = {o.name: self.value(o, row) for o in row.operands if o.kind != "pcrel"}
        label = next(o for o in row.operands if o.kind == "pcrel")

        def encode(distance):
            return pack(row, row.word(dict(values, **{label.name: distance & ((1 << label.width()) - 1)})))
        return Item(row.length, encode, 1 + rng.randrange(6))

    def indirect(self):
        """AUIPC and a jump through the register."""
        rng = self.rng
        register = rng.choice(WRITABLE[1:])
        head = self.encode("auipc", rd=register, uimm=0)
        kind = rng.choice(("jalr", "c.jr", "c.jalr"))
        if kind == "jalr":
            rd = rng.choice(WRITABLE)
            return Item(8, lambda d: head + self.encode("jalr", rd=rd, rs1=register, imm=d), 1 + rng.randrange(4))
        tail = self.encode(kind, rs1=register)
        return Item(10, lambda d: head + self.encode("addi", rd=register, rs1=register, imm=d) + tail,
                    1 + rng.randrange(4))

    def stack(self):
        """C.ADDI16SP there and back, with an access between."""
        by = self.rng.choice((16, 32, 240, -16, -64, -256))
        middle = self.encode("c.sdsp", rs2=self.rng.randrange(32), uimm=8 * self.rng.randrange(16))
        return self.fixed(self.encode("c.addi16sp", imm=by) + middle + self.encode("c.addi16sp", imm=-by))

    def auipc(self):
        return self.fixed(self.encode("auipc", rd=self.rng.choice(WRITABLE), uimm=self.rng.getrandbits(20)))

    def ctzw(self):
        """With a source whose upper half is zero: qemu 7.2 counts into the upper half when the lower one
        is zero, where the manual (Zbb, ctzw) says 32."""
        register = self.rng.choice(WRITABLE[1:])
        return self.fixed(self.encode("add.uw", rd=register, rs1=self.rng.randrange(32), rs2=0)
                          + self.encode("ctzw", rd=self.rng.choice(WRITABLE), rs1=register))

    def fence(self):
        return self.fixed(self.encode("fence.i") if self.rng.random() < 0.2 else
                          self.encode("fence", pred=self.rng.randrange(16), succ=self.rng.randrange(16), fm=0))

    def item(self):
        rng = self.rng
        dice = rng.random()
        if dice < 0.30:
            return self.fixed(self.plain(rng.choice(self.kinds["int"])))
        if dice < 0.64:
            return self.fixed(self.plain(rng.choice(self.kinds["fp"])))
        if dice < 0.77:
            return self.fixed(self.access(rng.choice(self.kinds["load"])))
        if dice < 0.84:
            return self.fixed(self.access(rng.choice(self.kinds["store"])))
        if dice < 0.88:
            return self.amo(rng.choice(self.kinds["amo"]))
        if dice < 0.94:
            return self.branch()
        if dice < 0.97:
            return self.csr()
        return rng.choice((self.reservation, self.indirect, self.stack, self.auipc, self.ctzw, self.fence))()

    def program(self, items):
        return [self.item() for _ in range(items)]


def assemble(items, rows):
    """The bytes of the program, its ECALL included, and the offset of each item."""
    starts, at = [], 0
    for item in items:
        starts.append(at)
        at += item.length
    starts.append(at)
    out = bytearray()
    for i, item in enumerate(items):
        target = starts[min(i + 1 + item.skip, len(items))]
        # The distance is from the item's first instruction, which is the jump or its AUIPC.
        out += item.encode(target - starts[i])
    out += (0x73).to_bytes(4, "little")
    return bytes(out), starts


# -- operands ------------------------------------------------------------------------------------------

FORMATS = {"h": (5, 10), "s": (8, 23), "d": (11, 52)}


def special(rng, kind):
    """A bit pattern of the format: the corners, neighbours of powers of two, and anything."""
    e, m = FORMATS[kind]
    top, sign = (1 << e) - 1, rng.getrandbits(1) << (e + m)
    bias = top >> 1
    dice = rng.randrange(12)
    if dice == 0:
        body = rng.choice((0, 1, (1 << m) - 1, 1 << m))
    elif dice == 1:
        body = top << m
    elif dice == 2:
        body = top << m | 1 << (m - 1) | (rng.getrandbits(m - 1) if rng.random() < 0.5 else 0)
    elif dice == 3:
        body = top << m | 1 + rng.getrandbits(m - 1) % ((1 << (m - 1)) - 1)
    elif dice == 4:
        body = (top << m) - 1
    elif dice == 5:
        body = rng.getrandbits(m)
    elif dice <= 8:  # around small powers of two: conversions, cancellation
        exponent = min(top - 1, bias + rng.randrange(-2, 66))
        body = exponent << m | rng.choice((0, 1, (1 << m) - 1, rng.getrandbits(m)))
    elif dice == 9:
        body = rng.choice((bias, bias - 1, bias + 1, 1, 2, top - 1)) << m | rng.choice((0, 1, rng.getrandbits(m)))
    else:
        body = rng.getrandbits(e + m)
    return sign | body


def fp_register(rng):
    """64 bits of an f register: boxed halves and singles, doubles, and boxes that are broken."""
    kind = rng.choice("hsd")
    value = special(rng, kind)
    if kind == "h":
        value |= 0xFFFFFFFFFFFF0000
    elif kind == "s":
        value |= 0xFFFFFFFF00000000
    if rng.random() < 0.08:
        value ^= 1 << rng.randrange(16, 64)
    return value


def integer(rng):
    dice = rng.randrange(4)
    if dice == 0:
        return rng.choice((0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF))
    if dice == 1:
        return rng.getrandbits(64) >> rng.randrange(64)
    if dice == 2:
        return -(rng.getrandbits(63) >> rng.randrange(63)) & ((1 << 64) - 1)
    return rng.getrandbits(64)


def slot(rng, address, program, passes):
    """A fresh slot: see fuzz_hart.S."""
    x = [integer(rng) for _ in range(32)]
    x[0] = 0
    for register, offset in POINTERS.items():
        x[register] = address + offset
    f = [fp_register(rng) for _ in range(32)]
    fcsr = rng.randrange(5) << 5 | rng.getrandbits(5)
    state = struct.pack("<70Q", *x, *f, fcsr, 0, 0, 0, passes, program)
    data = b"".join(struct.pack("<Q", rng.choice((integer, fp_register))(rng)) for _ in range(256))
    pool = b"".join(struct.pack("<Q", fp_register(rng)) for _ in range(128))
    return state.ljust(DATA, b"\0") + data + pool
