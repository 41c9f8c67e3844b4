"""Loops that run for long: what an instruction does must not depend on how often it ran, in which registers its operands are or what
stands around it. Bodies are drawn at random and followed here, instruction by instruction, over the same bytes."""
import random

from tile.alu import IMMEDIATE, State, execute, joined, odd_floats, signed
from tile_case import Case
from tile_float import F32
from tile_isa import CSR, Program

DATA, OUT, TIMES = 0x80010000, 0x80040000, 160
POINTER, TARGET, LEFT, INDEX = 27, 28, 29, 30  # of the loop; a body reads them, but writes others only
FREE_S, FREE_V = range(0, 27), range(32)
LINE = 64  # bytes that a turn reads at POINTER, and writes at TARGET
MASK = 0xFFFFFFFF

WHOLE = "ADD SUB MUL AND OR XOR MIN MAX SHL LSR ASR MULH CMPU".split()
SHIFTS = "SHLI LSRI ASRI".split()
CONSTANT = "ADDI ANDI ORI XORI LUI MINI".split() + SHIFTS
FLOAT = "VADD.F32 VSUB.F32 VMUL.F32 VFMA.F32 VMIN.F32".split()
VECTOR = "VADD.I32 VSUB.I32 VAND VOR VXOR VSHUF VBCAST.I32 VADD.I16 VMAC.I8".split()
LOADS = {"LB": (1, True), "LBU": (1, False), "LH": (2, True), "LHU": (2, False), "LW": (4, False), "VLD.V": (16, False)}
SUMS = "VADD.I32 VSUB.I32 VXOR".split()  # the others wrap all the time
PRODUCTS = "VMUL.F32 VFMA.F32".split()
WIDE = {"VLD.V": LOADS["VLD.V"]}
STORES = {"SB": 1, "SH": 2, "SW": 4, "VST.V": 16}
BRANCHES = {"BEQ": lambda a, b: a == b, "BNE": lambda a, b: a != b, "BLT": lambda a, b: signed(a) < signed(b),
            "BGE": lambda a, b: signed(a) >= signed(b), "BLTU": lambda a, b: a < b, "BGEU": lambda a, b: a >= b}


class Core:
    """What a loop can reach: registers, sticky flags, memory."""

    def __init__(self, memory, vstride):
        self.s, self.v, self.memory, self.vstride = [0] * 32, [0] * 32, memory, vstride
        self.status = self.fstatus = self.vstatus = 0

    def put(self, register, value):
        if register:
            self.s[register] = value & MASK

    def put_vector(self, register, value):
        if register:
            self.v[register] = value

    def reach(self, address, size):
        """status.MISAL is all that a misaligned access leaves."""
        self.status |= (address % size != 0) << 4

    def load(self, address, size):
        self.reach(address, size)
        return sum(self.memory[address + k] << 8 * k for k in range(size))

    def store(self, address, size, value):
        self.reach(address, size)
        for k in range(size):
            self.memory[address + k] = value >> 8 * k & 255


class Loop:
    """Instructions put into a program, each with an act that does the same to a Core; a branch's act gives how many acts to leave out."""

    def __init__(self, program, rng, pool):
        self.p, self.random, self.pool, self.acts = program, rng, pool, []

    def emit(self, act, mnemonic, **operands):
        self.p(mnemonic, **operands)
        self.acts.append(act)

    def source(self):
        """A register to read: one that counts now and then."""
        return self.random.choice((POINTER, LEFT, INDEX)) if self.random.random() < .1 else self.random.choice(FREE_S)

    def compute(self, mnemonic):
        r, constants = self.random, {}
        if mnemonic == "VSHUF":
            constants["imm8"] = r.getrandbits(8)
        elif mnemonic in IMMEDIATE:
            field, low, high = ("uimm", 0, 0xFFFFF) if mnemonic == "LUI" else ("uimm", 0, 31) if mnemonic in SHIFTS else ("simm", -2048, 2047)
            constants[field] = r.choice((low, high, r.randint(low, high)))
        if mnemonic[0] == "V":
            a, b, d = (r.choice(FREE_V) for _ in range(3))
            d = r.choice((a, b, d, d, d))
            fields = {"vd": d, "vs1": a, "vs2": b}
        else:
            a, b, d = self.source(), self.source(), r.choice(FREE_S)
            d = r.choice((d, d, d, *(x for x in (a, b) if x in FREE_S)))
            fields = {"rd": d, "rs1": a, "rs2": b}
        if mnemonic == "VBCAST.I32":
            a = self.source()
            fields = {"vd": d, "rs1": a}
        elif mnemonic == "LUI":
            fields = {"rd": d}
        elif constants:
            fields.popitem()

        def act(core):
            t = State(0, core.s[a], core.s[b], 0, core.v[a], core.v[b], core.v[d])
            t.begin()
            scalar, vector = execute(t, mnemonic, constants)
            t.end(mnemonic[0] == "V")
            core.status = core.status & ~(0xF0000000 if mnemonic[:3] == "CMP" else 0) | t.status
            core.fstatus |= t.mode.flags
            core.vstatus |= t.vstatus
            if vector is None:
                core.put(d, scalar)
            else:
                core.put_vector(d, vector)
        self.emit(act, mnemonic, **fields, **constants)

    def memory(self, mnemonic):
        """A load at POINTER or a store at TARGET, in one of the forms."""
        r, loads, wide = self.random, mnemonic in LOADS, mnemonic[0] == "V"
        size, extends = LOADS.get(mnemonic, (STORES.get(mnemonic), False))
        form = r.choice(("", ".R", ".B", ".L", ".PL") if loads else ("", ".R", ".B", ".L"))
        base, register = POINTER if loads else TARGET, r.choice(FREE_V if wide else FREE_S)
        offset = {"": r.randrange(0, 32, size), ".L": r.randrange(-LINE, LINE, size if r.random() < .9 else 1)}.get(form, 0)
        fields = {"rs1": base} | ({"uimm": offset} if form == "" else {"simm": offset} if form == ".L" else {"rs2": INDEX} if form == ".R" else {})
        if form == ".PL":
            at = self.pool + r.randrange(0, LINE, size)
            fields = {"simm": at - self.p.at}
        data = ("vd" if wide else "rd") if loads else "vs3" if wide else "rs3" if form == ".R" else "rs2"

        def act(core):
            address = at if form == ".PL" else core.s[base] + offset + (core.s[INDEX] if form == ".R" else 0) + (core.vstride if wide and form in ("", ".L") else 0)
            if not loads:
                core.store(address, size, (core.v if wide else core.s)[register])
            elif wide:
                core.put_vector(register, core.load(address, 16))
            else:
                core.put(register, signed(core.load(address, size), 8 * size) if extends else core.load(address, size))
        self.emit(act, mnemonic + form, **{data: register}, **fields)

    def skip(self, count):
        """A branch over the next `count` instructions."""
        mnemonic, a, b = self.random.choice(sorted(BRANCHES)), self.source(), self.source()
        self.emit(lambda core: count if BRANCHES[mnemonic](core.s[a], core.s[b]) else 0, mnemonic, rs1=a, rs2=b, bimm=4 * count + 4)

    def flags(self, csr):
        """Reads the sticky flags of a turn and clears them."""
        d = self.random.choice(FREE_S[1:])

        def act(core):
            core.put(d, getattr(core, csr))
            setattr(core, csr, 0)
        self.emit(act, "CSRRW", rd=d, csr=CSR[csr], rs1=0)
        self.emit(lambda core: core.store(core.s[TARGET], 4, core.s[d]), "SW.B", rs2=d, rs1=TARGET)

    def body(self, length, kinds):
        barred = 0
        for _ in range(length):
            barred -= 1
            if barred < 0 and self.random.random() < .06:
                barred = self.random.randrange(1, 5)
                self.skip(barred)
                continue
            kind = self.random.choice(kinds)
            if kind in (WHOLE, CONSTANT, FLOAT, VECTOR, SUMS, PRODUCTS):
                self.compute(self.random.choice(kind))
            else:
                self.memory(self.random.choice(sorted(kind)))
        for _ in range(barred):
            self.compute("XOR")

    def step(self, core):
        k = 0
        while k < len(self.acts):
            k += 1 + (self.acts[k](core) or 0)


def table(rng, size, exponents):
    """Words that are numbers with such exponents, more often than not."""
    out = b""
    while len(out) < size:
        pick = rng.random()
        word = rng.getrandbits(32) if pick < .2 else rng.choice(odd_floats(F32)) if pick < .25 else \
            rng.getrandbits(1) << 31 | rng.randrange(*exponents) << 23 | rng.getrandbits(23)
        out += word.to_bytes(4, "little")
    return out


def loop(suite, name, kinds, tiles, vstride, length=36, flags=(), exponents=(120, 134)):
    rng = random.Random(name)
    p = Program()
    p("JAL", rd=0, jimm=16 + LINE)
    for _ in range(3):
        p.raw(0)
    pool, words = p.at, table(rng, LINE, exponents)
    for k in range(0, LINE, 4):
        p.raw(int.from_bytes(words[k:k + 4], "little"))
    size = LINE * (TIMES + 2)
    # s20 counts tiles in x; each has data of its own
    p.csrr(20, "tile_offset")
    p("ANDI", rd=20, rs1=20, simm=0xFF)
    p("SHLI", rd=20, rs1=20, uimm=14)
    for register, start in ((POINTER, DATA), (TARGET, OUT)):
        p.li(register, start + LINE)
        p("ADD", rd=register, rs1=register, rs2=20)
    p("ADDI", rd=LEFT, rs1=0, simm=TIMES)
    p("ADDI", rd=INDEX, rs1=0, simm=0)
    p("ADDI", rd=20, rs1=0, simm=vstride)
    p.csrw("vstride", 20)
    for register in FREE_S[1:]:
        p.lf(register, POINTER, 4 * (register % 16))
    for register in FREE_V:
        p("VLD.V.B", vd=register, rs1=POINTER)
    start = p.at
    turn = Loop(p, rng, pool)
    turn.body(length, kinds)
    for csr in flags:
        turn.flags(csr)
    for register, step in ((POINTER, LINE), (TARGET, LINE), (INDEX, 16), (LEFT, -1)):
        turn.emit(lambda core, register=register, step=step: core.put(register, core.s[register] + step), "ADDI", rd=register, rs1=register, simm=step)
    turn.emit(lambda core: core.put(INDEX, core.s[INDEX] & 48), "ANDI", rd=INDEX, rs1=INDEX, simm=48)
    p("BNE", rs1=LEFT, rs2=0, bimm=start - p.at)
    # all that is left goes behind the lines
    p("ADDI", rd=TARGET, rs1=TARGET, simm=LINE)
    p("CSRRW", rd=0, csr=5, rs1=0)
    for register in FREE_S:
        p.st(register, TARGET, 4 * register)
    for k, csr in enumerate(("status", "fstatus", "vstatus")):
        p.csrr(1, csr)
        p.st(1, TARGET, 4 * (27 + k))
    for register in FREE_V:
        p.st(register, TARGET, 128 + 16 * register, "VST.V")
    p("EXIT")
    c = Case(f"tile/loops/{name}", ROWS, code=p.code(), text=p.source(), title=f"{name}, {TIMES} times")
    c.grid, c.tile = (tiles, 1), (1, 1)
    for tile in range(tiles):
        data = table(rng, size, exponents)
        memory = dict(enumerate(data, DATA + 0x4000 * tile)) | dict(enumerate(words, pool)) | dict.fromkeys(range(OUT + 0x4000 * tile, OUT + 0x4000 * tile + size), 0)
        core = Core(memory, vstride)
        core.s[POINTER], core.s[TARGET], core.s[LEFT] = DATA + 0x4000 * tile + LINE, OUT + 0x4000 * tile + LINE, TIMES
        for register in FREE_S[1:]:
            core.s[register] = core.load(core.s[POINTER] + 4 * (register % 16), 4)
        core.s[20] = core.load(core.s[POINTER] + 4 * (20 % 16), 4)
        core.v = [0] + [core.load(core.s[POINTER], 16)] * 31
        for _ in range(TIMES):
            turn.step(core)
        c.input(DATA + 0x4000 * tile, data)
        lines = bytes(core.memory[OUT + 0x4000 * tile + k] for k in range(size))
        left = core.s[:27] + [core.status & MASK, core.fstatus, core.vstatus, None, None]
        c.output(OUT + 0x4000 * tile, lines, [f"tile {tile}, line {k // 16 - 1}, word {k % 16}" for k in range(size // 4)])
        at = core.s[TARGET] + LINE
        c.output(at, b"".join(x.to_bytes(4, "little") for x in left[:30]), [f"tile {tile}, s{k}" for k in range(27)] + ["status", "fstatus", "vstatus"])
        c.output(at + 128, joined(core.v, 128).to_bytes(512, "little"), [f"tile {tile}, v{k // 4}, word {k % 4}" for k in range(128)])
    suite.add(c)


ROWS = "TILE-055 TILE-056 TILE-057 TILE-058 TILE-064 TILE-068 TILE-090 TILE-173 TILE-178 TILE-252 TILE-253"


def add(suite):
    loop(suite, "whole-numbers", (WHOLE, WHOLE, CONSTANT), 1, 0)
    loop(suite, "loads-and-stores", (LOADS, STORES, WHOLE), 1, 16)
    loop(suite, "floats", (FLOAT, FLOAT, FLOAT, LOADS), 1, 0)
    loop(suite, "vectors", (VECTOR, VECTOR, LOADS), 1, 0, flags=("vstatus",))
    loop(suite, "vectors-and-flags", (VECTOR, VECTOR, FLOAT), 1, 0, 12, ("status", "fstatus"))
    loop(suite, "sums-and-flags", (SUMS, SUMS, WIDE), 1, 0, 5, ("status",))
    loop(suite, "tiny-products", (PRODUCTS, PRODUCTS, WIDE), 1, 0, 6, ("fstatus",), (58, 72))
    for k in range(4):
        loop(suite, f"mixed-{k}", (WHOLE, CONSTANT, FLOAT, VECTOR, LOADS, LOADS, STORES), 1 + 3 * (k & 1), 16 * (k >> 1), 24 + 9 * k)
