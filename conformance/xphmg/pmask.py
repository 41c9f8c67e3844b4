"""PMASK by a model of nine lines: P0, three banks of 64 bits, and VL."""
from hart import Case, MASK64

VALUES = (0, 1, 0xF0, 0x8000000180000001, 0x80000002_00000001, MASK64, 0x0123456789ABCDEF)
COMPARE = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}
ALGEBRA = {"pmand": (lambda a, b: a & b, "PM-045"), "pmor": (lambda a, b: a | b, "PM-046 PM-049"),
           "pmxor": (lambda a, b: a ^ b, "PM-047"), "pmandn": (lambda a, b: a & ~b, "PM-048")}


class Model:
    """The predicate state beside the program that makes it."""

    def __init__(self, case):
        self.c, self.p0, self.bank, self.vl = case, 0, [None, 0, 0, 0], 1

    def mask(self):
        return (1 << self.vl) - 1

    def value(self, bank):
        return self.bank[bank] if bank else self.mask()

    def set_vl(self, vl):
        self.c.asm(f"svsetvl x0, {vl}")
        self.vl = vl

    def put(self, bank, value):
        """Through the two halves, which leave P0 alone."""
        self.c.asm(f"li t0, {value:#x}\n pmlow.wr {bank}, t0\n srli t0, t0, 32\n pmhigh.wr {bank}, t0")
        if bank:
            self.bank[bank] = value

    def put_p0(self, value):
        self.c.asm(f"li t0, {int(value):#x}\n pmmov.to_p0 t0")
        self.p0 = int(value != 0)

    def look(self, what, banks=(1,)):
        for b in banks:
            self.c.asm(f"pmlow.rd {b}, a0\n pmhigh.rd {b}, a1")
            self.c.observe("a0", self.value(b) & 0xFFFFFFFF, f"bank {b}, bits 31:0, after {what}")
            self.c.observe("a1", self.value(b) >> 32, f"bank {b}, bits 63:32, after {what}")
        self.c.asm("pmmov.p0 a0")
        self.c.observe("a0", self.p0, f"P0 after {what}")


def case(suite, name, rows):
    c = Case("xphmg/pmask/" + name, rows)
    suite.add(c)
    return c, Model(c)


def add(suite):
    c, m = case(suite, "reset", "PM-087 PM-088")
    m.look("reset", (1, 2, 3))

    c, m = case(suite, "banks", "PM-013 PM-025 PM-037 PM-038 PM-039 PM-040 PM-012")
    for bank in (1, 2, 3):
        for value in VALUES:
            m.put(bank, value ^ bank)
        m.look("writes of both halves", (1, 2, 3))
    c.asm("pmlow.wr 1, x0")
    m.bank[1] &= ~0xFFFFFFFF
    m.look("pmlow.wr 1, x0", (1, 2, 3))
    c.asm("li t0, 5\n pmhigh.wr 2, t0")
    m.bank[2] = m.bank[2] & 0xFFFFFFFF | 5 << 32
    m.look("pmhigh.wr 2", (1, 2, 3))

    c, m = case(suite, "bank-0", "PM-020 PM-021 PM-022 PM-023 PM-024 PM-030 PM-033 PM-041 PM-042 PM-050")
    for vl in (8, 40, 64, 1):
        m.set_vl(vl)
        for text in ("pmclr 0", "pmset 0", "pmnot 0", "pmand 0, x0", "pmlow.wr 0, x0", "pmhigh.wr 0, x0",
                     "li t0, -1\n pmor 0, t0", "li t0, -1\n pmxor 0, t0", "li t0, -1\n pmandn 0, t0"):
            for p0 in (1, 0):
                m.put_p0(p0)
                c.asm(text)
                m.look(f"{text!r} with VL={vl}", (0,))
        c.asm("pmall 0, a0\n pmany 0, a1")
        c.observe("a0", 1, f"pmall 0, VL={vl}")
        c.observe("a1", 1, f"pmany 0, VL={vl}")

    c, m = case(suite, "pmclr", "PM-028 PM-029")
    for bank in (1, 2, 3):
        m.put(bank, MASK64)
        m.put_p0(1)
        c.asm(f"pmclr {bank}")
        m.bank[bank], m.p0 = 0, 0
        m.look(f"pmclr {bank}", (1, 2, 3))

    c, m = case(suite, "pmset", "PM-031 PM-032")
    for vl in (8, 40, 64, 1):
        m.set_vl(vl)
        for bank in (1, 2, 3):
            m.put(bank, 0xAAAAAAAAAAAAAAAA)
            m.put_p0(0)
            c.asm(f"pmset {bank}")
            m.bank[bank], m.p0 = m.mask(), 1
            m.look(f"pmset {bank} with VL={vl}", (1, 2, 3))

    c, m = case(suite, "to-p0", "PM-010 PM-034 PM-035 PM-036")
    for value in (0, 1, 2, 5, 1 << 63, MASK64, 1 << 32):
        m.put_p0(value)
        m.look(f"pmmov.to_p0 of {value:#x}", (1, 2, 3))

    c, m = case(suite, "pmnot", "PM-044 PM-043")
    for value in VALUES:
        m.put(1, value)
        m.put_p0(value & 1)
        c.asm("pmnot 1")
        m.bank[1] = ~value & MASK64
        m.p0 = m.bank[1] & 1
        m.look(f"pmnot of {value:#x}", (1, 2, 3))

    for op, (rule, rows) in ALGEBRA.items():
        c, m = case(suite, op, rows + " PM-043 PM-082")
        for a in VALUES:
            for b in (0, 0x0F, 1 << 63, MASK64, 0x123456789ABCDEF1):
                m.put(2, a)
                m.put_p0(~rule(a, b) & 1)
                c.asm(f"li t0, {b:#x}\n {op} 2, t0")
                m.bank[2] = rule(a, b) & MASK64
                m.p0 = m.bank[2] & 1
                m.look(f"{op} of {a:#x} and {b:#x}", (1, 2))

    rules = {"pmany": (lambda b, m: b != 0, "PM-051"), "pmnone": (lambda b, m: b == 0, "PM-052"),
             "pmall": (lambda b, m: b == m, "PM-053"), "pmpopcnt": (lambda b, m: bin(b).count("1"), "PM-054")}
    for op, (rule, rows) in rules.items():
        c, m = case(suite, op, rows + " PM-055")
        for vl in (4, 64, 1, 33):
            m.set_vl(vl)
            for value in (0, 0x10, 0x08, 0x0F, 0xFF, 0x07, MASK64, 1 << 63, 1 << 32):
                m.put(3, value)
                for p0 in (0, 1):
                    m.put_p0(p0)
                    c.asm(f"{op} 3, a2")
                    c.observe("a2", int(rule(value & m.mask(), m.mask())), f"{op} of {value:#x}, VL={vl}")
                    m.look(f"{op}", (3,))

    pairs = ((1, 2), (2, 1), (2, 2), (MASK64, 1), (1, MASK64), (1 << 63, (1 << 63) - 1), (0, 0))
    number = 56
    for op, rule in COMPARE.items():
        for sign in "us":
            c, m = case(suite, f"pcmp-{op}-{sign}", f"PM-{number:03d} PM-068")
            number += 1
            m.put(1, 0x5A)
            for a, b in pairs:
                x, y = (v - (v >> 63 << 64) if sign == "s" else v for v in (a, b))
                m.put_p0(not rule(x, y))
                c.asm(f"li a0, {a:#x}\n li a1, {b:#x}\n pcmp.{op}.{sign} a0, a1")
                m.p0 = int(rule(x, y))
                m.look(f"pcmp.{op}.{sign} of {a:#x} and {b:#x}", (1, 2, 3))

    c, m = case(suite, "ptestnz", "PM-069")
    for a, b in ((6, 1), (6, 2), (1 << 63, MASK64), (0, MASK64), (0xF0F0, 0x0F0F)):
        c.asm(f"li a0, {a:#x}\n li a1, {b:#x}\n ptestnz a0, a1")
        m.p0 = int(a & b != 0)
        m.look(f"ptestnz of {a:#x} and {b:#x}")

    c, m = case(suite, "psel", "PM-070")
    for p0 in (1, 0):
        m.put_p0(p0)
        c.asm("li a0, 111\n li a1, 222\n psel a2, a0, a1\n psel a0, a0, a1\n psel x0, a1, a1")
        c.observe("a2", 111 if p0 else 222, f"psel, P0={p0}")
        c.observe("a0", 111 if p0 else 222, f"psel with rd=rs1, P0={p0}")
        c.observe("x0", 0, "x0 after psel x0")

    c, m = case(suite, "branches", "PM-011 PM-071 PM-072")
    for p0 in (0, 5):
        for op, taken in (("bp.t", p0 != 0), ("bp.f", p0 == 0)):
            m.put_p0(p0)
            c.asm(f"li a0, 0\n {op} 1f\n addi a0, a0, 1\n1:  addi a0, a0, 2")
            c.observe("a0", 2 if taken else 3, f"{op} forward, P0={int(p0 != 0)}")
            c.asm(f"li a0, 0\n j 2f\n1:  addi a0, a0, 4\n j 3f\n2:  {op} 1b\n addi a0, a0, 1\n3:  nop")
            c.observe("a0", 4 if taken else 1, f"{op} backward, P0={int(p0 != 0)}")
        m.look("branches")

    c, m = case(suite, "bank-branches", "PM-075 PM-076 PM-077")
    for vl, value in ((4, 8), (4, 0x10), (64, 1 << 63), (63, 1 << 63), (1, 0), (1, 1)):
        m.set_vl(vl)
        m.put(2, value)
        for p0 in (0, 1):
            m.put_p0(p0)
            for op, taken in (("bp.any", value & m.mask() != 0), ("bp.none", value & m.mask() == 0)):
                c.asm(f"li a0, 0\n {op} 2, 1f\n addi a0, a0, 1\n1:  addi a0, a0, 2")
                c.observe("a0", 2 if taken else 3, f"{op}, bank {value:#x}, VL={vl}")
                m.look(op, (2,))

    c, _ = case(suite, "illegal", "PM-090 PM-089")
    for word in (0x0040007B, 0x0000107B | 0x50 << 25, 0x2800007B, 0x0000207B | 5 << 15, 0x1A00007B):
        c.trap(f".word {word:#x}", 2, f"the word {word:#010x}")

    c = Case("xphmg/pmask/min-banks", "PM-017 PM-018", config="min")
    suite.add(c)
    for text, cause in (("pmclr 1", None), ("pmclr 2", 2), ("pmany 3, t0", 2), ("pmany 0, t0", None)):
        c.trap(text, cause, text)
