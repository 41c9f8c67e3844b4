"""Loads, stores and atomics in every form, by their words: what they read, what they leave, status.MISAL, and their faults."""
import random
import re

import tables
from tile_case import Case
from tile_isa import ROWS, Program, word

DATA, OUT, SIZE = 0x80010000, 0x80020000, 0x1200
MIDDLE = DATA + 0x880


def signed(x, width=32):
    x &= (1 << width) - 1
    return x - (x >> width - 1 << width)


class Bench:
    """A kernel that is written first and followed afterwards over the bytes of its memory."""

    def __init__(self, name, rows, title):
        self.c = Case(name, rows, title=title)
        self.p = Program()
        self.random = random.Random(name)
        self.data = bytearray(self.random.getrandbits(8) for _ in range(SIZE))
        self.acts, self.out, self.labels = [], [], []
        self.p.li(30, OUT)

    def note(self, value, label):
        self.out.append(value & 0xFFFFFFFF)
        self.labels.append(label)

    # what the kernel does

    def store_word(self, register):
        self.p.st(register, 30, 0)
        self.p("ADDI", rd=30, rs1=30, simm=4)

    def misaligned(self, flag, label):
        self.p.csrr(29, "status")
        self.p("ANDI", rd=29, rs1=29, simm=16)
        self.store_word(29)
        self.p.csrw("status", 0)
        self.acts.append(lambda: self.note(16 if flag else 0, "status.MISAL after " + label))

    def vector(self, register, value):
        """Four words, by way of the scalar file."""
        for k in range(4):
            self.p.li(28, value >> 32 * k & 0xFFFFFFFF)
            self.p("VINS.I32", vd=register, rs1=28, lane=k)

    # memory of the model

    def get(self, address, size):
        image = self.image if address < DATA else self.data
        at = address - (self.p.base if address < DATA else DATA)
        assert 0 <= at and at + size <= len(image), hex(address)
        return int.from_bytes(image[at:at + size], "little")

    def set(self, address, value, size):
        image, base = (self.image, self.p.base) if address < DATA else (self.data, DATA)
        at = address - base
        assert 0 <= at and at + size <= len(image), hex(address)
        image[at:at + size] = (value & (1 << 8 * size) - 1).to_bytes(size, "little")

    def finish(self, suite, holes=()):
        self.p("EXIT")
        start = bytes(self.data)
        self.image = bytearray(self.p.code())
        for act in self.acts:
            act()
        self.c.code, self.c.asm = self.p.code(), self.p.source()
        self.c.input(DATA, start)
        self.c.output(OUT, b"".join(x.to_bytes(4, "little") for x in self.out), self.labels)
        self.c.output(DATA, self.data, [f"data + {k:#x}" for k in range(0, SIZE, 4)] if self.data != start else ["data"])
        for at in holes:
            self.c.output(at, self.image[at - self.p.base:at - self.p.base + 16], [f"code + {at - self.p.base + 4 * k:#x}" for k in range(4)])
        suite.add(self.c)


MODES = {"base+imm": "", "base+rs2": ".R", "pc+imm": ".P", "base": ".B"}
SIZES = {"B": 1, "H": 2, "W": 4}
MODE_ROWS = {"": (17, 166), ".R": (18, 167), ".P": (19, 168), ".B": (16, 169), ".L": (17,), ".PL": (19,)}
NAME_ROWS = {"LB": (171, 164, 162, 20), "LH": (172, 164, 162), "LW": (173, 164, 162), "LBU": (174, 165), "LHU": (175, 165), "SB": (176, 163, 164, 20),
             "SH": (177, 163, 164), "SW": (178, 163, 164)}
# funct7 and funct3 of the rows that do not spell them out
LHU_ROWS = {"LHU": (219,), "LBU": ()}


def encoding_rows():
    """Mnemonic: row, with the bits that it asks for compared with the word."""
    found = {}
    for row in tables.rows("tile.requirements.tsv"):
        m = re.fullmatch(r"(\w+) in mode (\S+) is opcode ([01]{7}), funct7 ([01]{7}), funct3 ([01]{3})\.", row["requirement"])
        if m:
            name = m[1] + MODES[m[2]]
            value = word(name)
            assert (value & 127, value >> 25, value >> 12 & 7) == (int(m[3], 2), int(m[4], 2), int(m[5], 2)), row["id"]
            found[name] = [row["id"]]
    return found


def rows(*numbers):
    return [f"TILE-{n:03}" for n in numbers]


def offsets(mode):
    return {"": (0, 1, 2, 3, 16, 31), ".R": (0, 4, -3, 0x7F0, -0x700, 2), ".B": (0, 1, 2, 3), ".L": (0, -4, 2047, -2047, 5, -2048, 32),
            ".P": (0, 4, 5, 6, 31), ".PL": (0, -4, 8, 33, -39, -126)}[mode]


def scalar_loads(suite, encoded):
    for name in ("LB", "LH", "LW", "LBU", "LHU"):
        for mode in MODE_ROWS:
            mnemonic = name + mode
            size = SIZES[name[1]]
            b = Bench(f"tile/memory/{mnemonic.lower()}", rows(*NAME_ROWS[name], *MODE_ROWS[mode], *(LHU_ROWS.get(name, ()) if not mode else ()),
                                                             179, 180) + encoded.get(mnemonic, []), mnemonic)
            if mode == ".PL":
                for _ in range(40):
                    b.p("XORI", rd=0, rs1=17, simm=b.random.randrange(-2048, 2048))
            for k, offset in enumerate(offsets(mode)):
                label = f"{mnemonic}, offset {offset}"
                fields = {"rd": 19}
                base = MIDDLE + (4 * k if mode != ".B" else offset)
                if mode in (".P", ".PL"):
                    fields["simm" if mode == ".PL" else "uimm"] = offset
                else:
                    b.p.li(17, base)
                    fields["rs1"] = 17
                    if mode == ".R":
                        b.p.li(26, offset)
                        fields["rs2"] = 26
                    elif mode != ".B":
                        fields["simm" if mode == ".L" else "uimm"] = offset
                at = b.p(mnemonic, **fields)
                if mode == ".P":  # the rs1 field does not matter
                    b.p.words[-1] |= 17 << 15
                    b.p.lines[-1] = f".word {b.p.words[-1]:#010x} # {mnemonic} with bits in the rs1 field"
                address = at + offset if mode in (".P", ".PL") else base + (offset if mode != ".B" else 0)
                b.store_word(19)

                def act(address=address, label=label):
                    value = b.get(address, size)
                    b.note(signed(value, 8 * size) if name[-1] != "U" else value, label)
                b.acts.append(act)
                b.misaligned(address % size, label)
            b.finish(suite)


def scalar_stores(suite, encoded):
    for name in ("SB", "SH", "SW"):
        for mode in MODE_ROWS:
            mnemonic = name + mode
            size = SIZES[name[1]]
            b = Bench(f"tile/memory/{mnemonic.lower()}", rows(*NAME_ROWS[name], *MODE_ROWS[mode], 179, 180) + encoded.get(mnemonic, []),
                      mnemonic)
            holes = []
            for k, offset in enumerate((8, 12, 17) if mode in (".P", ".PL") else offsets(mode)):
                label = f"{mnemonic}, offset {offset}"
                value = b.random.getrandbits(32)
                b.p.li(27, value)
                data = "rs3" if mode == ".R" else "rs2"
                fields = {data: 27}
                base = MIDDLE + 16 * k + (offset if mode == ".B" else 0)
                if mode in (".P", ".PL"):
                    fields["simm" if mode == ".PL" else "uimm"] = offset
                else:
                    b.p.li(17, base)
                    fields["rs1"] = 17
                    if mode == ".R":
                        b.p.li(26, offset)
                        fields["rs2"] = 26
                    elif mode != ".B":
                        fields["simm" if mode == ".L" else "uimm"] = offset
                at = b.p(mnemonic, **fields)
                address = at + offset if mode in (".P", ".PL") else base + (offset if mode != ".B" else 0)
                if mode in (".P", ".PL"):
                    b.p("JAL", rd=0, jimm=20)
                    holes.append(b.p.at)
                    for _ in range(4):
                        b.p.raw(0)
                b.acts.append(lambda address=address, value=value: b.set(address, value, size))
                b.misaligned(address % size, label)
            b.finish(suite, holes)


# ---- vectors ----

VECTOR_MODES = {"": (283, 546), ".R": (283, 548), ".P": (286,), ".B": (), ".L": (546,), ".PL": ()}
VECTOR_EXACT = {"VLD.V": (23, 276, 277, 282, 288, 547), "VLD.V.R": (289,), "VLD.V.P": (290,), "VLD.V.B": (291, 16), "VST.V": (24, 276, 277, 295, 572),
                "VST.V.R": (296,), "VST.V.P": (297,), "VST.V.B": (298, 16), "VLD.V.L": (547,), "VST.V.L": (572,)}


def unit_stride(suite):
    for load in (True, False):
        for mode, numbers in VECTOR_MODES.items():
            mnemonic = ("VLD.V" if load else "VST.V") + mode
            b = Bench(f"tile/memory/{mnemonic.lower()}", rows(*numbers, *VECTOR_EXACT.get(mnemonic, ()), 493, 494, 495), mnemonic)
            key = "vd" if load else "vs3"
            holes = []
            choices = ((0, 0), (16, 0), (4, 0), (1, 0), (31, 0)) if mode != ".L" else ((0, 0), (-16, 0), (2047, 0), (-2048, 0), (8, 0))
            if mode in ("", ".L", ".R", ".B"):
                choices += ((16, 0x100), (0, -0x40), (5, 3))  # with vstride
            if mode in (".P", ".PL"):
                choices = ((16, 0), (12, 0), (20, 7), (31, 0)) if load else ((16, 0), (20, 0), (24, 9))
            for k, (offset, stride) in enumerate(choices):
                label = f"{mnemonic}, offset {offset}, vstride {stride}"
                b.p.li(27, stride)
                b.p.csrw("vstride", 27)
                value = b.random.getrandbits(128)
                if not load:
                    b.vector(19, value)
                    b.p.csrw("status", 0)
                base = MIDDLE + 64 * (k % 4)
                fields = {key: 19}
                if mode in (".P", ".PL"):
                    fields["simm" if mode == ".PL" else "uimm"] = offset
                else:
                    b.p.li(17, base + (offset if mode == ".B" else 0))
                    fields["rs1"] = 17
                    if mode == ".R":
                        b.p.li(26, offset)
                        fields["rs2"] = 26
                    elif mode != ".B":
                        fields["simm" if mode == ".L" else "uimm"] = offset
                at = b.p(mnemonic, **fields)
                address = at + offset if mode in (".P", ".PL") else base + offset + (stride if mode in ("", ".L") else 0)
                if mode in (".P", ".PL") and not load:
                    while len(holes) <= k:
                        b.p("JAL", rd=0, jimm=52)
                        holes.append(b.p.at)
                        for _ in range(12):
                            b.p.raw(0)
                b.p.csrw("vstride", 0)
                if load:
                    for lane in range(4):
                        b.p("VEXTR.I32", rd=28, vs1=19, lane=lane)
                        b.store_word(28)
                        b.acts.append(lambda address=address + 4 * lane, lane=lane, label=label: b.note(b.get(address, 4), f"{label}, lane {lane}"))
                else:
                    b.acts.append(lambda address=address, value=value: b.set(address, value, 16))
                b.misaligned(address % 16, label)
            b.finish(suite, [h + 16 * k for h in holes for k in range(3)])


SPREAD = {"VLD.S": (4, 278, 284, 292, 549, 570), "VLD.S16": (2, 570, 284), "VLD.S8": (1, 570, 284), "VLDX": (4, 279, 285, 293), "VLDX16": (2, 570, 285),
          "VLDX8": (1, 570, 285), "VLDX.L": (4, 285, 550), "VST.S": (4, 278, 284, 299, 549), "VST.S16": (2, 284), "VST.S8": (1, 284),
          "VSTX": (4, 279, 285, 300), "VSTX16": (2, 285), "VSTX8": (1, 285), "VSTX.L": (4, 285, 550)}


def spread(suite):
    """Strided and indexed lanes."""
    for mnemonic, (size, *numbers) in SPREAD.items():
        load, indexed = mnemonic[1] == "L", "X" in mnemonic
        b = Bench(f"tile/memory/{mnemonic.lower()}", rows(*numbers, 287, 493), mnemonic)
        lanes = 16 // size
        for k in range(6):
            vstride = 0x40 if k == 4 else 0  # ignored
            b.p.li(27, vstride)
            b.p.csrw("vstride", 27)
            value = b.random.getrandbits(128)
            fields = {"vd" if load else "vs3": 19, "rs1": 17}
            offset = 0
            if indexed:
                small = [b.random.randrange(64 if size > 1 else 250) // (1 if k > 3 else size) * (1 if k > 3 else size) for _ in range(lanes)]
                if k == 1:
                    small = [small[0]] * lanes  # one place: the last lane wins
                if size == 4 and k == 2:
                    small = [-4, 8, -64, 0]
                index = sum((x & (1 << 8 * size) - 1) << 8 * size * n for n, x in enumerate(small))
                b.vector(26, index)
                fields["vs2"] = 26
                if mnemonic.endswith(".L"):
                    offset = (0, 4, -256, 252, -8, 100)[k]
                    fields["simm7x4"] = offset
                places = [MIDDLE + offset + x for x in small]
            else:
                stride = (size, 12 * size, -size, 0, 5, -7)[k]
                b.p.li(26, stride)
                fields["rs2"] = 26
                places = [MIDDLE + stride * n for n in range(lanes)]
            b.vector(19, value)
            b.p.li(17, MIDDLE)
            b.p.csrw("status", 0)
            b.p(mnemonic, **fields)
            b.p.csrw("vstride", 0)
            label = f"{mnemonic}, {k}"
            if load:
                for lane in range(4):
                    b.p("VEXTR.I32", rd=28, vs1=19, lane=lane)
                    b.store_word(28)

                def act(places=places, label=label):
                    got = sum(b.get(a, size) << 8 * size * n for n, a in enumerate(places))
                    for lane in range(4):
                        b.note(got >> 32 * lane, f"{label}, bits {32 * lane + 31}:{32 * lane}")
            else:
                def act(places=places, value=value):
                    for n, a in enumerate(places):
                        b.set(a, value >> 8 * size * n, size)
            b.acts.append(act)
            b.misaligned(any(a % size for a in places), label)
        b.finish(suite)


# ---- atomics ----

CHANGE = {"ADD": lambda m, x: m + x, "MIN": lambda m, x: min(signed(m), signed(x)), "MAX": lambda m, x: max(signed(m), signed(x)),
          "XCHG": lambda m, x: x, "CAS": lambda m, x: x, "AND": lambda m, x: m & x, "OR": lambda m, x: m | x, "XOR": lambda m, x: m ^ x}
ATOMIC_ROWS = {"ADD": (186, 302), "MIN": (187, 303), "MAX": (188, 304), "XCHG": (189, 305), "CAS": (190, 309), "AND": (191, 306), "OR": (192, 307),
               "XOR": (193, 308)}


def atomics(suite):
    values = (0, 1, 5, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x0F0F00FF)
    for op, (row, _) in ATOMIC_ROWS.items():
        for form, numbers in (("", (181, 182, 194, 197)), (".R", (185, 194)), (".L", (184, 194, 201))):
            mnemonic = f"A{op}{form}" if op != "CAS" or not form else "ACASI"
            if mnemonic not in ROWS or (op == "CAS" and form == ".R"):
                continue
            extra = (195, 204) if mnemonic == "ACAS" else (205,) if mnemonic == "ACASI" else ()
            b = Bench(f"tile/memory/{mnemonic.lower()}", rows(row, *numbers, *extra), mnemonic)
            for k in range(14):
                m = values[k % 7]
                x = values[(k * 3 + 1) % 7]
                old = b.random.getrandbits(32)
                offset = (0, 4, -8, 64, -2048, 2044, 12)[k % 7]
                address = MIDDLE - 0x200 + 8 * k
                expected = None
                fields = {"rd": 19, "rs1": 17}
                if mnemonic == "ACASI":
                    expected = (m & 0xFFF) if k % 2 else 0xABC
                    m = expected if k % 4 == 1 else m
                    fields["uimm"], operand = expected, old
                elif form == ".L":
                    address, fields["simm"], operand = MIDDLE + offset // 4 * 2, offset, old
                    address = MIDDLE + (offset if abs(offset) < 2000 else offset // 2 - offset % 8)
                    address -= address % 4
                elif form == ".R":
                    fields |= {"rs2": 26, "ord": k % 4}
                    operand = old
                else:
                    fields |= {"rs2": 26, "ord": k % 4}
                    operand = x
                if mnemonic == "ACAS":
                    expected, operand = (m if k % 2 else x), old
                b.p.li(28, address)
                b.p.li(27, m)
                b.p.st(27, 28, 0)
                b.p.li(17, address - (fields.get("simm", 0)) - (offset if form == ".R" else 0))
                b.p.li(26, offset if form == ".R" else expected if mnemonic == "ACAS" else x)
                b.p.li(19, old)
                b.p(mnemonic, **fields)
                b.store_word(19)

                def act(address=address, m=m, operand=operand, expected=expected, k=k):
                    b.note(m, f"{mnemonic}, {k}: the old value")
                    b.set(address, m if expected is not None and expected != m else CHANGE[op](m, operand), 4)
                b.acts.append(act)
            b.finish(suite)
    for op, (_, row) in ATOMIC_ROWS.items():
        for form in ("", ".S", ".X"):
            vector_atomic(suite, f"VATOM.{op}{form}", op, form, rows(row, 26, 301, 310, 311, 314, *((312, 316, 542) if form == ".X" and op in ("ADD", "MIN") else ())))
    vector_atomic(suite, "VCAS", "CAS", "cas", rows(26))
    b = Bench("tile/memory/vatom-v0", rows(315), "VATOM.ADD into v0")
    b.vector(19, 0x00000004000000030000000200000001)
    b.p.li(17, MIDDLE)
    b.p("VATOM.ADD", vd=0, vs3=19, rs1=17, uimm=0)
    b.p("VEXTR.I32", rd=28, vs1=0, lane=2)
    b.store_word(28)

    def act():
        b.note(0, "v0")
        for k in range(4):
            b.set(MIDDLE + 4 * k, b.get(MIDDLE + 4 * k, 4) + k + 1, 4)
    b.acts.append(act)
    b.finish(suite)


def vector_atomic(suite, mnemonic, op, form, names):
    b = Bench(f"tile/memory/{mnemonic.lower()}", names, mnemonic)
    for k in range(5):
        operand = b.random.choice((b.random.getrandbits(128), 0x80000000_7FFFFFFF_FFFFFFFF_00000001, 0))
        fields = {"vd": 20, "vs3": 31, "rs1": 17}
        base = MIDDLE + 0x80 * k
        expected = None
        if form == ".S":
            stride = (4, 20, -12, 0, 4)[k]
            b.p.li(26, stride)
            fields["rs2"] = 26
            places = [base + stride * n for n in range(4)]
        elif form == ".X":
            index = ((0, 4, 0, 8), (12, 12, 12, 12), (-4, 0, 16, -4), (4, 8, 12, 16), (0, 0, 4, 4))[k]
            b.vector(26, sum((x & 0xFFFFFFFF) << 32 * n for n, x in enumerate(index)))
            fields["vs2"] = 26
            places = [base + x for x in index]
        else:
            offset = (0, 4, 8, 16, 28)[k] if form == "" else 0
            if form == "":
                fields["uimm"] = offset
            places = [base + offset + 4 * n for n in range(4)]
        if form == "cas":
            at = base - DATA
            expected = int.from_bytes(b.data[at:at + 16], "little") ^ (0, 1, 1 << 64, 0, 5 << 100)[k]
            b.vector(26, expected)
            fields["vs2"] = 26
        b.vector(31, operand)
        b.p.li(17, base)
        b.p(mnemonic, **fields)
        for lane in range(4):
            b.p("VEXTR.I32", rd=28, vs1=20, lane=lane)
            b.store_word(28)

        def act(places=places, operand=operand, expected=expected, k=k):
            for n, a in enumerate(places):
                m, x = b.get(a, 4), operand >> 32 * n & 0xFFFFFFFF
                b.note(m, f"{mnemonic}, {k}: lane {n} before")
                b.set(a, m if expected is not None and m != expected >> 32 * n & 0xFFFFFFFF else CHANGE[op](m, x), 4)
        b.acts.append(act)
    b.finish(suite)


# ---- faults (12) ----

# An instruction that does not do its work at all does not fault either.
OWN_ROW = {"LW": (173,), "LH": (172,), "SB": (176,), "SW": (178,), "VLD.V": (277,), "VST.V": (277,), "VST.V.L": (277,), "VLD.S": (284,),
           "AADD": (186,), "AOR": (192,), "AXCHG": (189,), "VATOM.ADD.S": (302, 310), "VATOM.XOR": (308,), "JALR": (87,), "VLD.C": (280,)}


def faults(suite):
    end = 0x84000000
    cases = [
        # name, rows, registers, instruction, operands, cause, address, packet
        ("load-unmapped", (), {17: 0x20000000}, "LW", dict(rd=19, rs1=17), 4, 0x20000000),
        ("load-across-the-end", (), {17: end - 2}, "LW", dict(rd=19, rs1=17), 4, end),
        ("load-below", (), {17: 0x7FFFFFFF}, "LH", dict(rd=19, rs1=17), 4, 0x7FFFFFFF),
        ("store-unmapped", (), {17: 0x90000000}, "SB", dict(rs2=19, rs1=17), 5, 0x90000000),
        ("store-to-code-memory", (), {17: 0x30000000}, "SW", dict(rs2=19, rs1=17), 5, 0x30000000),
        ("vector-load", (), {17: end - 8}, "VLD.V", dict(vd=19, rs1=17), 4, end),
        ("vector-store", (), {17: end - 16}, "VST.V.L", dict(vs3=19, rs1=17, simm=4), 5, end),
        ("strided", (287,), {17: DATA, 26: 0x20000000}, "VLD.S", dict(vd=19, rs1=17, rs2=26), 4, 0xA0010000),
        ("misaligned-load", (180,), {17: DATA + 1}, "LH", dict(rd=19, rs1=17), 7, DATA + 1),
        ("misaligned-vector", (), {17: DATA + 8}, "VST.V", dict(vs3=19, rs1=17), 7, DATA + 8),
        ("misaligned-lane", (), {17: DATA, 26: 6}, "VLD.S", dict(vd=19, rs1=17, rs2=26), 7, DATA + 6),
        ("atomic-misaligned", (182, 183), {17: DATA + 2}, "AADD", dict(rd=19, rs2=26, rs1=17), 8, DATA + 2),
        ("atomic-unmapped", (202,), {17: 0x40000000}, "AOR", dict(rd=19, rs2=26, rs1=17), 5, 0x40000000),
        ("vector-atomic-misaligned", (), {17: DATA, 26: 6}, "VATOM.ADD.S", dict(vd=19, vs3=19, rs1=17, rs2=26), 8, DATA + 6),
        ("vector-atomic-unmapped", (), {17: end - 8}, "VATOM.XOR", dict(vd=19, vs3=19, rs1=17), 5, end),
        ("constant-store", (536,), {17: DATA + 0x80}, "SW", dict(rs2=19, rs1=17), 6, DATA + 0x80),
        ("constant-store-edge", (536,), {17: DATA + 0x3E}, "SW", dict(rs2=19, rs1=17), 6, DATA + 0x40),
        ("constant-atomic", (536,), {17: DATA + 0xBC}, "AXCHG", dict(rd=19, rs2=26, rs1=17), 6, DATA + 0xBC),
        ("constant-load-end", (580,), {17: 0x71}, "VLD.C", dict(vd=19, rs1=17, cidx=0), 4, DATA + 0xB1),
        ("constant-load-far", (580, 294, 280), {}, "VLD.C", dict(vd=19, rs1=0, cidx=8), 4, DATA + 0xC0),
        ("scratch-end", (533, 529), {17: 0x8000 + 4094}, "SW", dict(rs2=19, rs1=17), 5, 0x9000),
        ("jump-misaligned", (), {17: DATA + 2}, "JALR", dict(rd=19, rs1=17), 2, DATA + 2),
        ("jump-unmapped", (), {17: 0x50000000}, "JALR", dict(rd=19, rs1=17), 3, 0x50000000),
        ("sampler-window-half", (), {17: 0x10002000}, "LH", dict(rd=19, rs1=17), 4, 0x10002000),
        ("sampler-window-vector", (), {17: 0x10002004}, "VLD.V", dict(vd=19, rs1=17), 4, 0x10002004),
    ]
    for name, numbers, registers, mnemonic, operands, cause, address in cases:
        p = Program()
        p.li(30, OUT)
        p("ADDI", rd=29, rs1=0, simm=1)
        for r, value in registers.items():
            p.li(r, value)
        p.li(19, 0x55555555)
        p.st(19, 30, 0)
        if cause == 7:
            p.li(28, 1 << 9)
            p.csrw("config", 28)
        at = p(mnemonic, **operands)
        p.st(29, 30, 4)  # not reached
        p("EXIT")
        c = Case(f"tile/fault/{name}", rows(*numbers, *OWN_ROW.get(mnemonic, ())), code=p.code(), text=p.source(), title=f"{mnemonic}: cause {cause}")
        c.packet = {"const_address": f"{DATA + 0x40:#x}", "const_size": 0x80, "shared_size": 4096}
        c.input(DATA, bytes(range(256)))
        c.fault(0, cause, 0x50000000 if cause == 3 else at, address)
        c.output(OUT, (0x55555555).to_bytes(4, "little") + bytes(4), ["stored before", "stored behind: no"])
        c.output(DATA, bytes(range(256)), [f"data + {k:#x}" for k in range(0, 256, 4)])
        suite.add(c)
    illegal = {
        "zero": (0, (54,)), "ones": (0xFFFFFFFF, (22,)), "bytes": (0x7F345678, (11,)), "vector-bit-25": (word("VADD.I32", vd=1, vs1=2, vs2=3) & ~(1 << 25), (29, 232)),
        "vld-funct3-4": (0x00004011, (281,)), "vld-funct3-7": (0x00007011, (281,)), "vst-funct3-5": (0x00005012, (281,)),
        "tex-funct3-2": (0x02002013, (322,)), "tex-funct3-7": (0x02007013, (322,)), "lut-gather": (0x0E007010, (551,)),
        "system-5": (0x0000500F, (552,)), "system-6": (0x0000600F, (552,)), "vector-funct3-3": (0x0200302F, (571,)), "type-6": (0x0600602F, (238,)),
        "type-7": (0x0600702F, (238,)), "float-atomic": (0x0000A015 | 1 << 31 | 0x60 << 20, (568,)), "byte-atomic": (0x82000014, (183,)),
        "raster-funct3-7": (0x00007014, (398,)), "membar-rd": (0x0000008F, (98,)), "wfi-rd": (0x0000708F, (102,)), "barr-rd": (0x0000408F, (490,)),
        "dispatch": (0x0020700F, (492,)),
    }
    legal = [(int(r["mask"], 0), int(r["match"], 0)) for r in ROWS.values()]
    for name, (value, numbers) in illegal.items():
        if any(value & mask == match for mask, match in legal):
            continue
        p = Program()
        at = p.raw(value)
        p("EXIT")
        c = Case(f"tile/fault/illegal-{name}", rows(*numbers), code=p.code(), text=p.source(), title=f"illegal word {value:#x}")
        c.fault(0, 1, at, value)
        suite.add(c)


def add(suite):
    encoded = encoding_rows()
    scalar_loads(suite, encoded)
    scalar_stores(suite, encoded)
    unit_stride(suite)
    spread(suite)
    atomics(suite)
    faults(suite)
