"""The base hart: loops of RV64 instructions that run for long, drawn at random and followed here, with integers and the exact numbers of
exact.py; what turns off while they run; and what the platform does: timer, software interrupts, choices of the configuration."""
import random

from exact import FP32, NX, UF, OF, DZ, NV, RNE, RTZ, RUP, Arith, Format, INF, QUIET, decode, round_integer, round_to
from hart import Case, MASK64

FP64 = Format("FP64", 64, 53, -1022, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000)
FLAGS = NX | UF | OF | DZ | NV  # the same bits in fcsr
LINE, TIMES = 64, 150
POINTER, TARGET, LEFT, INDEX = 26, 27, 28, 29  # x30 and x31 belong to the frame, x24 and x25 to calls
FREE = range(0, 24)


def signed(x, width=64):
    x &= (1 << width) - 1
    return x - (x >> width - 1 << width)


def quotient(a, b):
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a, b):
    return a if b == 0 else a - b * quotient(a, b)


WHOLE = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 63), "srl": lambda a, b: a >> (b & 63), "sra": lambda a, b: signed(a) >> (b & 63),
    "slt": lambda a, b: int(signed(a) < signed(b)), "sltu": lambda a, b: int(a < b),
    "addw": lambda a, b: signed(a + b, 32), "subw": lambda a, b: signed(a - b, 32), "sllw": lambda a, b: signed(a << (b & 31), 32),
    "srlw": lambda a, b: signed((a & 0xFFFFFFFF) >> (b & 31), 32), "sraw": lambda a, b: signed(a, 32) >> (b & 31),
    "mul": lambda a, b: a * b, "mulh": lambda a, b: signed(a) * signed(b) >> 64, "mulhu": lambda a, b: a * b >> 64,
    "mulhsu": lambda a, b: signed(a) * b >> 64, "mulw": lambda a, b: signed(a * b, 32),
    "div": lambda a, b: quotient(signed(a), signed(b)), "rem": lambda a, b: remainder(signed(a), signed(b)),
    "divu": lambda a, b: MASK64 if b == 0 else a // b, "remu": lambda a, b: a if b == 0 else a % b,
    "divw": lambda a, b: signed(quotient(signed(a, 32), signed(b, 32)), 32), "remw": lambda a, b: signed(remainder(signed(a, 32), signed(b, 32)), 32),
    "sh1add": lambda a, b: (a << 1) + b, "sh2add": lambda a, b: (a << 2) + b, "sh3add": lambda a, b: (a << 3) + b,
    "add.uw": lambda a, b: (a & 0xFFFFFFFF) + b, "sh2add.uw": lambda a, b: ((a & 0xFFFFFFFF) << 2) + b,
    "andn": lambda a, b: a & ~b, "orn": lambda a, b: a | ~b, "xnor": lambda a, b: ~(a ^ b), "min": lambda a, b: min(signed(a), signed(b)),
    "max": lambda a, b: max(signed(a), signed(b)), "minu": min, "maxu": max, "rol": lambda a, b: a << (b & 63) | a >> (-b & 63),
    "ror": lambda a, b: a >> (b & 63) | a << (-b & 63), "bset": lambda a, b: a | 1 << (b & 63), "bclr": lambda a, b: a & ~(1 << (b & 63)),
    "binv": lambda a, b: a ^ 1 << (b & 63), "bext": lambda a, b: a >> (b & 63) & 1}
CONSTANT = {
    "addi": lambda a, n: a + n, "andi": lambda a, n: a & n, "ori": lambda a, n: a | n, "xori": lambda a, n: a ^ n, "slti": lambda a, n: int(signed(a) < n),
    "sltiu": lambda a, n: int(a < n & MASK64), "addiw": lambda a, n: signed(a + n, 32)}
SHIFT = {
    "slli": lambda a, n: a << n, "srli": lambda a, n: a >> n, "srai": lambda a, n: signed(a) >> n, "rori": lambda a, n: a >> n | a << (-n & 63),
    "bseti": lambda a, n: a | 1 << n, "bexti": lambda a, n: a >> n & 1}
SINGLE = {
    "clz": lambda a: 64 - a.bit_length(), "ctz": lambda a: (a & -a).bit_length() - 1 if a else 64, "cpop": lambda a: bin(a).count("1"),
    "sext.b": lambda a: signed(a, 8), "sext.h": lambda a: signed(a, 16), "zext.h": lambda a: a & 0xFFFF, "rev8": lambda a: int.from_bytes(a.to_bytes(8, "big"), "little")}
LOADS = {"lb": (1, True), "lbu": (1, False), "lh": (2, True), "lhu": (2, False), "lw": (4, True), "lwu": (4, False), "ld": (8, False)}
STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8}
BRANCHES = {"beq": lambda a, b: a == b, "bne": lambda a, b: a != b, "blt": lambda a, b: signed(a) < signed(b), "bge": lambda a, b: signed(a) >= signed(b),
            "bltu": lambda a, b: a < b, "bgeu": lambda a, b: a >= b}
FORMATS = {"s": FP32, "d": FP64}
BOX = 0xFFFFFFFF << 32


class Hart:
    def __init__(self, memory):
        self.x, self.f, self.memory, self.flags = [0] * 32, [0] * 32, memory, 0

    def put(self, register, value):
        if register:
            self.x[register] = value & MASK64

    def load(self, address, size):
        return sum(self.memory[address + k] << 8 * k for k in range(size))

    def store(self, address, size, value):
        for k in range(size):
            self.memory[address + k] = value >> 8 * k & 255


class Loop:
    """Text of instructions, each with an act that does the same to a Hart; a branch's act gives how many acts to leave out."""

    def __init__(self, rng):
        self.random, self.lines, self.acts = rng, [], []

    def emit(self, act, text):
        self.lines.append(text)
        self.acts.append(act)

    def source(self):
        """A register to read; none that depends on where the program lies."""
        return self.random.choice((LEFT, INDEX)) if self.random.random() < .1 else self.random.choice(FREE)

    def whole(self):
        r = self.random
        kind = r.choice((WHOLE, WHOLE, WHOLE, CONSTANT, CONSTANT, SHIFT, SINGLE))
        name, a, b, d = r.choice(sorted(kind)), self.source(), self.source(), r.choice(FREE)
        if r.random() < .1:
            kind, name = WHOLE, r.choice(("slt", "sltu"))
        d = r.choice((d, d, d, *(x for x in (a, b) if x in FREE)))
        n = r.choice((-2048, -1, 0, 1, 2047, r.randint(-2048, 2047))) if kind is CONSTANT else r.randrange(64)
        rule = kind[name]
        if kind is SINGLE:
            self.emit(lambda h: h.put(d, rule(h.x[a])), f"{name} x{d}, x{a}")
        elif kind is WHOLE:
            self.emit(lambda h: h.put(d, rule(h.x[a], h.x[b])), f"{name} x{d}, x{a}, x{b}")
        else:
            self.emit(lambda h: h.put(d, rule(h.x[a], n)), f"{name} x{d}, x{a}, {n}")

    def memory(self):
        r = self.random
        name = r.choice(sorted(LOADS) + sorted(STORES))
        register, loads = r.choice(FREE), name in LOADS
        size, extends = LOADS[name] if loads else (STORES[name], False)
        base, offset = POINTER if loads else TARGET, r.randrange(-LINE, LINE - 8, size if r.random() < .9 else 1)

        def act(h):
            if loads:
                value = h.load(h.x[base] + offset, size)
                h.put(register, signed(value, 8 * size) if extends else value)
            else:
                h.store(h.x[base] + offset, size, h.x[register])
        self.emit(act, f"{name} x{register}, {offset}(x{base})")

    def float(self, pick=None):
        r = self.random
        kind, pick = r.choice("sd"), r.random() if pick is None else pick
        f, a, b, c, d = FORMATS[kind], *(r.randrange(32) for _ in range(4))
        mode, word = r.choice(((RNE, ""), (RNE, ""), (RNE, ", rne"), (RTZ, ", rtz"), (RUP, ", rup")))

        def read(h, register):
            value = h.f[register]
            return value if kind == "d" else value & 0xFFFFFFFF if value >> 32 == 0xFFFFFFFF else FP32.nan

        def write(h, value, how=kind):
            h.f[d] = value | (BOX if how == "s" else 0)

        def arith(name, *registers, post=lambda f, x: x):
            def act(h):
                unit = Arith(f, mode)
                write(h, getattr(unit, name)(*(post(k, read(h, x)) for k, x in enumerate(registers))))
                h.flags |= unit.flags & FLAGS
            return act
        if pick < .2:
            size, offset = f.bits // 8, r.randrange(0, LINE, f.bits // 8)
            if pick < .14:
                self.emit(lambda h: write(h, h.load(h.x[POINTER] + offset, size)), f"fl{'wd'[kind == 'd']} f{d}, {offset}(x{POINTER})")
            else:
                self.emit(lambda h: h.store(h.x[TARGET] + offset, size, h.f[d]), f"fs{'wd'[kind == 'd']} f{d}, {offset}(x{TARGET})")
        elif pick < .5:
            name = r.choice(("add", "sub", "mul", "div"))
            self.emit(arith(name, a, b), f"f{name}.{kind} f{d}, f{a}, f{b}{word}")
        elif pick < .6:
            name, signs = r.choice((("madd", (0, 0)), ("msub", (0, 1)), ("nmsub", (1, 0)), ("nmadd", (1, 1))))
            flip = {0: signs[0], 1: 0, 2: signs[1]}
            self.emit(arith("fma", a, b, c, post=lambda k, x: x ^ f.sign if flip[k] and decode(f, x)[0] < QUIET else x), f"f{name}.{kind} f{d}, f{a}, f{b}, f{c}{word}")
        elif pick < .7:
            name, x = r.choice(("eq", "lt", "le")), r.choice(FREE)

            def act(h):
                unit = Arith(f)
                h.put(x, int(getattr(unit, name)(read(h, a), read(h, b))))
                h.flags |= unit.flags & FLAGS
            self.emit(act, f"f{name}.{kind} x{x}, f{a}, f{b}")
        elif pick < .75:
            name = r.choice(("min", "max"))
            self.emit(arith(name, a, b), f"f{name}.{kind} f{d}, f{a}, f{b}")
        elif pick < .8:
            name, rule = r.choice((("sgnj", lambda s, t: t), ("sgnjn", lambda s, t: t ^ f.sign), ("sgnjx", lambda s, t: s ^ t)))
            self.emit(lambda h: write(h, read(h, a) & ~f.sign | rule(read(h, a), read(h, b)) & f.sign), f"f{name}.{kind} f{d}, f{a}, f{b}")
        elif pick < .92:
            width, low, x = r.choice((("w", -1 << 31, r.choice(FREE)), ("l", -1 << 63, r.choice(FREE))))

            def act(h):
                k, s, m, e = decode(f, read(h, a))
                value, inexact = (low if s and k == INF else -low - 1, False) if k >= INF else round_integer(s, m, e, mode)
                fits = k < INF and low <= value < -low
                h.put(x, value if fits else low if value < 0 else -low - 1)
                h.flags |= NX * inexact if fits else NV
            self.emit(act, f"fcvt.{width}.{kind} x{x}, f{a}{word}")
        else:
            width, x = r.choice((32, 64)), self.source()

            def act(h):
                value = signed(h.x[x], width)
                bits, flags = round_to(f, int(value < 0), abs(value), 0, mode) if value else (0, 0)
                write(h, bits)
                h.flags |= flags & FLAGS
            exact = kind == "d" and width == 32
            self.emit(act, f"fcvt.{kind}.{'wl'[width == 64]} f{d}, x{x}{'' if exact else word}")

    def skip(self, label, count):
        name, a, b = self.random.choice(sorted(BRANCHES)), self.source(), self.source()
        self.emit(lambda h: count if BRANCHES[name](h.x[a], h.x[b]) else 0, f"{name} x{a}, x{b}, {label}")

    def body(self, name, length, kinds):
        for k in range(length):
            if self.random.random() < .08:
                inside = self.random.randrange(1, 4)
                self.skip(f"{name}_{k}", inside)
                for _ in range(inside):
                    self.random.choice(kinds)()
                self.lines[-1] += f"\n{name}_{k}:"
            else:
                self.random.choice(kinds)()

    def step(self, h):
        k = 0
        while k < len(self.acts):
            k += 1 + (self.acts[k](h) or 0)


def numbers(rng, size):
    """Doubles and pairs of floats near 1, and any bits."""
    out = b""
    while len(out) < size:
        pick = rng.random()
        word = rng.getrandbits(64) >> rng.choice((0, 0, 20, 40, 58)) if pick < .3 else rng.getrandbits(1) << 63 | rng.randrange(1015, 1032) << 52 | rng.getrandbits(52)
        if pick > .6:
            word = sum((rng.getrandbits(1) << 31 | rng.randrange(120, 136) << 23 | rng.getrandbits(23)) << k for k in (0, 32))
        out += word.to_bytes(8, "little")
    return out


def loop(suite, name, floats, length, calls=False):
    rng, c = random.Random(name), Case(f"xphmg/base/{name}", ROWS)
    turn = Loop(rng)
    for _ in range(10 if floats else 0):
        turn.float(0)  # numbers that are no results, so that not all become infinite
    turn.body("skip", length, [turn.whole, turn.whole, turn.memory] + ([turn.float] * 4 if floats else []))
    data = numbers(rng, LINE * (TIMES + 2))
    c.table("loop_data", data)
    c.table("loop_out", bytes(LINE * (TIMES + 2)))
    c.table("loop_left", bytes(64 * 8))
    source, target = 1 << 32, 1 << 33  # addresses of the model
    h = Hart(dict(enumerate(data, source)) | dict.fromkeys(range(target, target + LINE * (TIMES + 2)), 0))
    c.asm(f"la x{POINTER}, loop_data\n addi x{POINTER}, x{POINTER}, {LINE}\n la x{TARGET}, loop_out\n addi x{TARGET}, x{TARGET}, {LINE}\n li x{LEFT}, {TIMES}\n li x{INDEX}, 5")
    h.x[POINTER], h.x[TARGET], h.x[LEFT], h.x[INDEX] = source + LINE, target + LINE, TIMES, 5
    for k in range(32):
        c.asm(f"fld f{k}, {8 * (k % 8)}(x{POINTER})")
        h.f[k] = h.load(source + LINE + 8 * (k % 8), 8)
    for k in FREE[1:]:
        c.asm(f"ld x{k}, {8 * (k % 8)}(x{POINTER})")
        h.x[k] = h.load(source + LINE + 8 * (k % 8), 8)
    c.asm("csrw fcsr, x0\n j turn\nodd:\n xor x23, x23, x22\n jr x25\neven:\n add x22, x22, x21\n ret\nturn:\n " + "\n ".join(turn.lines))
    if calls:
        c.asm(f"andi x24, x{LEFT}, 1\n beqz x24, 7f\n la x24, odd\n jalr x25, 0(x24)\n j 8f\n7:\n la x24, even\n mv x25, x1\n jalr x1, 0(x24)\n mv x1, x25\n8:")
    c.asm(f"addi x{POINTER}, x{POINTER}, {LINE}\n addi x{TARGET}, x{TARGET}, {LINE}\n addi x{INDEX}, x{INDEX}, 7\n addi x{LEFT}, x{LEFT}, -1\n bnez x{LEFT}, turn")
    for _ in range(TIMES):
        turn.step(h)
        if calls and h.x[LEFT] & 1:
            h.put(23, h.x[23] ^ h.x[22])
        elif calls:
            h.put(22, h.x[22] + h.x[21])
        for register, by in ((POINTER, LINE), (TARGET, LINE), (INDEX, 7), (LEFT, -1)):
            h.put(register, h.x[register] + by)
    c.asm("la t5, loop_left")
    for k in FREE[1:]:
        c.asm(f"sd x{k}, {8 * k}(t5)")
    for k in range(32):
        c.asm(f"fsd f{k}, {256 + 8 * k}(t5)")
    c.asm("mv s2, t5")
    for k in FREE[1:]:
        c.asm(f"ld t0, {8 * k}(s2)")
        c.observe("t0", h.x[k], f"x{k} after the loop")
    for k in range(32):
        c.asm(f"ld t0, {256 + 8 * k}(s2)")
        c.observe("t0", h.f[k], f"f{k} after the loop")
    c.asm("csrr t0, fcsr")
    c.observe("t0", h.flags, "fcsr after the loop")
    at, n = 8 * len(c.seen), LINE * (TIMES + 2) // 8
    c.asm(f"la t0, loop_out\n li t1, {at}\n add t1, t1, t6\n li t2, {n}\n9:\n ld t3, 0(t0)\n sd t3, 0(t1)\n addi t0, t0, 8\n addi t1, t1, 8\n addi t2, t2, -1\n bnez t2, 9b")
    c.seen += [(f"line {k // 8 - 1}, byte {8 * (k % 8)}", h.load(target + 8 * k, 8)) for k in range(n)]
    suite.add(c)


ROWS = "CAP-530"


# ---- what turns off while it runs ----

def floats_off(suite):
    """A loop of loads that has run often, when mstatus.FS goes Off in front of one; and what a load makes of Clean."""
    for kind in ("w", "d"):
        c = Case(f"xphmg/base/floats-off-{kind}", ROWS)
        c.store(0, 8, 0x3FF0000000000000)
        c.asm(f"j start\nloads:\n li s1, 200\n1:\n li s2, 0\n bne s1, s3, 2f\n li s2, 0x6000\n2:\n csrc mstatus, s2\n fl{kind} f1, 0(s0)\n addi s1, s1, -1\n bnez s1, 1b\n ret\n"
              "start:\n la s0, data\n li s3, 0\n call loads")
        c.asm("li t0, 0x6000\n csrc mstatus, t0\n li t0, 0x4000\n csrs mstatus, t0\n call loads\n csrr s4, mstatus\n srli s4, s4, 13\n andi s4, s4, 3")
        c.observe("s4", 3, "mstatus.FS after loads with FS Clean")
        c.asm("li s3, 5")
        c.trap("call loads", 2, f"fl{kind} in the loop, FS Off")
        c.observe("s1", 5, "the turn in which the load trapped")
        for insn in (f"fl{kind} f1, 0(s0)", f"fs{kind} f1, 8(s0)", f"fs{kind} f1, 1(s0)"):
            c.trap(insn, 2, f"{insn}, FS Off")
        suite.add(c)


# ---- choices of the configuration ----

def misaligned(suite):
    c = Case("xphmg/base/misaligned", "CAP-532", config="full,misaligned=trap")
    for name, size in [(n, s) for n, (s, _) in LOADS.items()] + list(STORES.items()):
        for offset in range(size + 1):
            cause = None if offset % size == 0 else 4 if name in LOADS else 6
            c.trap(f"la a0, data\n {name} a1, {offset}(a0)", cause, f"{name} at {offset}", tval=f"data + {offset}" if cause else None)
    for name, size, store in (("flw", 4, 0), ("fld", 8, 0), ("fsw", 4, 1), ("fsd", 8, 1)):
        for offset in (1, 2, size // 2, size):
            c.trap(f"la a0, data\n {name} f1, {offset}(a0)", None if offset % size == 0 else 4 + 2 * store, f"{name} at {offset}")
    suite.add(c)


def uncompressed(suite):
    c = Case("xphmg/base/without-c", "CAP-532", config="full,isa=rv64imafd_zicsr_zifencei_zfh")
    for offset, cause in ((0, None), (2, 0), (4, None), (6, 0)):
        c.asm("la a0, 2f\n li a1, 7")
        c.trap(f"jalr a1, {offset}(a0)\n2:  nop\n nop", cause, f"jalr to {offset}")
        if cause == 0:
            c.observe("a1", 7, "the link of a jump that trapped")
        c.asm("nop")
    for word, text in ((0x0020006F, "jal x0, . + 2"), (0x00000163, "beq x0, x0, . + 2")):
        c.trap(f".word {word:#x}", 0, text)
    c.trap("bne x0, x0, . + 4", None, "a branch that is not taken")
    c.trap(".word 0x00001163", None, "bne x0, x0, . + 2, not taken")
    suite.add(c)


# ---- interrupts ----

CLINT = 0x02000000
MSIP, MTIMECMP, MTIME = CLINT, CLINT + 0x4000, CLINT + 0xBFF8
HANDLER = """j past
.balign 4
taken:
 csrr s8, mcause
 csrr s9, mepc
 csrr s10, mstatus
 addi s11, s11, 1
 li t5, 0x80
 csrc mstatus, t5
 mret
.balign 256
vectors:
 j taken
 j wrong
 j wrong
 j software
 j wrong
 j wrong
 j wrong
 j timer
wrong:
 li s7, 99
 j taken
software:
 li s7, 3
 j taken
timer:
 li s7, 7
 j taken
past:
 la t0, taken
 csrw mtvec, t0
 li s2, MSIP
 li s3, MTIMECMP
 li t0, -1
 sd t0, 0(s3)
 sw x0, 0(s2)
 li s11, 0""".replace("MSIP", hex(MSIP)).replace("MTIMECMP", hex(MTIMECMP))


def platform(name, rows="CAP-531"):
    c = Case("xphmg/base/" + name, rows, config=f"full,clint={CLINT:#x}")
    c.asm(HANDLER)
    return c


def software(suite):
    c = platform("interrupt-software")
    for enabled, globally, pending in ((e, g, p) for e in (0, 1) for g in (0, 1) for p in (0, 1)):
        what = f"MSIE {enabled}, MIE {globally}, msip {pending}"
        c.asm(f"li t0, {8 * enabled}\n csrw mie, t0\n li s8, 0\n li s11, 0\n li t0, {pending | 0xFFFFFFFE if pending else 0:#x}\n sw t0, 0(s2)\n lw s4, 0(s2)\n csrr s5, mip\n csrsi mstatus, {8 * globally}")
        c.asm("nop\n nop\n csrci mstatus, 8\n sw x0, 0(s2)\n csrr s6, mip")
        taken = enabled and globally and pending
        c.observe("s11", int(taken), f"interrupts taken with {what}")
        c.observe("s8", 1 << 63 | 3 if taken else 0, f"mcause with {what}")
        c.observe("s4", pending, f"msip reads, written all ones or 0, with {what}")
        c.observe("s5", 8 * pending, f"mip with {what}")
        c.observe("s6", 0, f"mip after msip went low, {what}")
        if taken:
            c.asm("andi t0, s10, 0x88\n srli t1, s10, 11\n andi t1, t1, 3")
            c.observe("t0", 0x80, "MPIE and MIE in the handler")
            c.observe("t1", 3, "MPP in the handler")
    suite.add(c)


def priorities(suite):
    c = platform("interrupt-priority", "CAP-531")
    for vectored in (0, 1):
        for msip, timer, mie in ((1, 1, 0x88), (1, 1, 0x80), (1, 1, 0x08), (0, 1, 0x88), (1, 0, 0x88), (0, 0, 0x88), (1, 1, 0x800)):
            cause = 3 if msip and mie & 8 else 7 if timer and mie & 0x80 else None
            what = f"msip {msip}, timer {timer}, mie {mie:#x}, mtvec mode {vectored}"
            c.asm(f"la t0, {'vectors' if vectored else 'taken'}\n ori t0, t0, {vectored}\n csrw mtvec, t0\n li t0, {mie:#x}\n csrw mie, t0\n li t0, {msip}\n sw t0, 0(s2)\n "
                  f"li t0, {0 if timer else -1}\n sd t0, 0(s3)\n li s7, 0\n li s8, 0\n li s9, 0\n li s11, 0\n csrr s5, mip")
            n = len(c.body)
            c.asm(f"csrsi mstatus, 8\nplace_{n}:\n csrci mstatus, 8\n li t0, -1\n sd t0, 0(s3)\n sw x0, 0(s2)\n la t0, place_{n}\n sub s9, s9, t0")
            c.observe("s5", 8 * msip | 0x80 * timer, f"mip with {what}")
            c.observe("s8", 0 if cause is None else 1 << 63 | cause, f"mcause with {what}")
            c.observe("s7", cause if vectored and cause else 0, f"the vector with {what}")
            c.observe("s11", int(cause is not None), f"handlers run with {what}")
            if cause:
                c.observe("s9", 0, f"mepc, less the place behind the instruction that let interrupts in, {what}")
    c.asm("la t0, handler\n csrw mtvec, t0")
    c.trap("la t0, vectors\n ori t0, t0, 1\n csrw mtvec, t0\n la t0, handler\n csrw mtvec, t0\n ecall", 11, "an exception")
    suite.add(c)


def waiting(suite):
    c = platform("interrupt-wait")
    # WFI ends with MIE = 0, and no handler runs
    for line, mie in (("sw", 8), ("sd", 0x80)):
        c.asm(f"li t0, {mie}\n csrw mie, t0\n li s11, 0\n " + ("li t0, 1\n sw t0, 0(s2)" if line == "sw" else "sd x0, 0(s3)") + "\n wfi\n li s4, 5\n sw x0, 0(s2)\n li t0, -1\n sd t0, 0(s3)")
        c.observe("s4", 5, f"WFI went on, mie {mie:#x}")
        c.observe("s11", 0, f"handlers run, MIE = 0, mie {mie:#x}")
    # a timer in the future: WFI may end early, the handler runs once and not before its time
    c.asm(f"li s4, {MTIME:#x}\n li t0, 0x80\n csrw mie, t0\n li s11, 0\n ld s5, 0(s4)\n addi s5, s5, 2000\n sd s5, 0(s3)\n csrsi mstatus, 8\n1:\n wfi\n beqz s11, 1b\n "
          "ld s6, 0(s4)\n li t0, -1\n sd t0, 0(s3)\n csrci mstatus, 8\n sltu s7, s6, s5")
    c.observe("s7", 0, "mtime is below mtimecmp after the handler")
    c.observe("s8", 1 << 63 | 7, "mcause of the timer")
    # the same beside a loop: its sum is that of an undisturbed one
    c.asm("li s11, 0\n li s6, 0\n li s7, 0\n ld s5, 0(s4)\n addi s5, s5, 1500\n sd s5, 0(s3)\n csrsi mstatus, 8\n li t1, 200000\n1:\n addi s6, s6, 3\n xor s7, s7, s6\n addi t1, t1, -1\n "
          "bnez t1, 1b\n csrci mstatus, 8\n li t0, -1\n sd t0, 0(s3)")
    total, mixed = 0, 0
    for _ in range(200000):
        total += 3
        mixed ^= total
    c.observe("s6", total, "the sum of a loop that a timer interrupted")
    c.observe("s7", mixed, "its mixture")
    suite.add(c)
    c = platform("interrupt-timer-register")
    for value in (0, 1, 0x123456789ABCDEF0, 0xFFFFFFFF, 0x8000000000000000):
        c.asm(f"li t0, {value:#x}\n sd t0, 0(s3)\n ld s4, 0(s3)\n lw s5, 0(s3)\n lwu s6, 4(s3)\n csrr s7, mip")
        c.observe("s4", value, "mtimecmp")
        c.observe("s5", signed(value, 32), "its low half")
        c.observe("s6", value >> 32, "its high half")
        if value in (0, 0x8000000000000000):
            c.observe("s7", 0x80 if value == 0 else 0, f"mip, mtimecmp {value:#x}")
    c.asm("li t0, -1\n sd t0, 0(s3)\n sw x0, 4(s3)\n ld s4, 0(s3)\n sw x0, 0(s3)\n li t0, 0x55\n sw t0, 4(s3)\n ld s5, 0(s3)")
    c.observe("s4", 0xFFFFFFFF, "mtimecmp after a store to its high half")
    c.observe("s5", 0x55 << 32, "mtimecmp after stores to both halves")
    c.asm(f"li s4, {MTIME:#x}\n li t0, 0x7000000000\n sd t0, 0(s4)\n ld s5, 0(s4)\n csrr s6, time\n sltu s7, s6, s5\n sub s5, s5, t0\n li t0, 1000000000\n sltu s5, s5, t0")
    c.observe("s5", 1, "mtime follows what was written")
    c.observe("s7", 0, "time is mtime")
    c.asm("li t0, 0x6fffffffff\n sd t0, 0(s3)\n csrr s5, mip\n li t0, 0x7fffffffff\n sd t0, 0(s3)\n csrr s6, mip")
    c.observe("s5", 0x80, "mip with mtimecmp just below mtime")
    c.observe("s6", 0, "mip with mtimecmp far above mtime")
    suite.add(c)


def user(suite):
    """U-mode: interrupts come whatever MIE says; WFI with TW is illegal."""
    c = platform("interrupt-user")
    c.asm("li t0, 8\n csrw mie, t0\n li t0, 1\n sw t0, 0(s2)\n li t0, 0x1888\n csrc mstatus, t0\n la t0, in_user\n csrw mepc, t0\n la t0, from_user\n csrw mtvec, t0\n mret\n"
          "in_user:\n li s11, 5\n j in_user\n.balign 4\nfrom_user:\n csrr s8, mcause\n csrr s9, mepc\n csrr s10, mstatus\n sw x0, 0(s2)\n la t0, in_user\n sub s9, s9, t0\n srli s10, s10, 11\n andi s10, s10, 3")
    c.observe("s8", 1 << 63 | 3, "mcause of a software interrupt in U-mode, MIE = 0")
    c.observe("s9", 0, "mepc: the first instruction in U-mode")
    c.observe("s10", 0, "MPP: U-mode")
    c.observe("s11", 0, "nothing was executed in U-mode")
    c.asm("la t0, handler\n csrw mtvec, t0\n csrw mie, x0\n li t0, 0x200000\n csrs mstatus, t0\n li t0, 0x1800\n csrc mstatus, t0")
    c.trap("la t0, 3f\n csrw mepc, t0\n mret\n3:  wfi", 2, "WFI in U-mode with TW")
    suite.add(c)


def add(suite):
    for k in range(5):
        loop(suite, f"whole-{k}", False, 30 + 12 * k, k % 2)
    for k in range(5):
        loop(suite, f"floats-{k}", True, 24 + 12 * k, k % 2)
    for part in (floats_off, misaligned, uncompressed, software, priorities, waiting, user):
        part(suite)
