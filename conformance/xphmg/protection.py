"""Physical memory protection (R-CAP-69): entries of all kinds around a page, accesses about their borders in U mode (by MPRV) and in M mode,
fetches in U mode, locks, and what the registers keep."""
from hart import Case
from hart_numbers import seeded

NAMES = ("xphmg/protection",)
R, W, X, L = 1, 2, 4, 0x80
OFF, TOR, NA4, NAPOT = 0, 1, 2, 3
LOADS = {"lb": 1, "lhu": 2, "lw": 4, "ld": 8, "flw f1": 4, "fld f1": 8}
STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8, "fsw f1": 4, "fsd f1": 8}
ATOMS = {"amoadd.w": 4, "amoswap.d": 8, "sc.w": 4}
BELOW = -(1 << 60)  # address 0, seen from the page
ECALL = 0x00000073


class Entries:
    """pmpcfg and pmpaddr; addresses are bytes from the beginning of the page."""

    def __init__(self, count):
        self.kind, self.allowed, self.at, self.size = [OFF] * count, [0] * count, [0] * count, [4] * count

    def cfg(self, k):
        written = self.allowed[k] | self.kind[k] << 3
        return written & ~W if written & (R | W) == W else written

    def address(self, k):
        """What pmpaddr holds, in bytes."""
        return self.at[k] + (self.size[k] // 2 - 4 if self.kind[k] == NAPOT else 0)

    def range(self, k):
        """(first, behind the last)"""
        if self.kind[k] == TOR:
            return (self.address(k - 1) if k else BELOW), self.at[k]
        return self.at[k], self.at[k] + (4 if self.kind[k] == NA4 else self.size[k])

    def allows(self, at, size, access, machine):
        for k, kind in enumerate(self.kind):
            first, end = self.range(k)
            if kind != OFF and first < end and at < end and at + size > first:
                return at >= first and at + size <= end and (machine and not self.cfg(k) & L or bool(self.cfg(k) & access))
        return machine


def draw(rng, count, locks=False):
    e = Entries(count)
    for k in range(count):
        e.kind[k] = rng.choice((OFF, TOR, NA4, NAPOT, NAPOT, TOR))
        e.allowed[k] = rng.choice((R, R | W, X, R | X, R | W | X, 0, W, W | X)) | (L if locks and rng.random() < 0.6 else 0)
        if k == 0 and e.kind[k] == TOR:
            e.allowed[k] |= R | W | X  # all below the page, the program too
        e.size[k] = 8 << rng.choice((0, 0, 1, 2, 3, 4, 5, 9))
        e.at[k] = rng.randrange(0, 512, 4)
        if e.kind[k] == NAPOT:
            e.at[k] &= -e.size[k]
    return e


def write(c, e):
    """s1 is the beginning of the page."""
    for k in range(len(e.kind)):
        ones = (e.size[k] // 8 - 1) if e.kind[k] == NAPOT else 0
        c.asm(f"li t0, {e.at[k]}\n add t0, t0, s1\n srli t0, t0, 2\n ori t0, t0, {ones}\n csrw {0x3B0 + k:#x}, t0")
    for word in range(0, len(e.kind), 8):
        bits = sum((e.allowed[k] | e.kind[k] << 3) << 8 * (k - word) for k in range(word, min(word + 8, len(e.kind))))
        c.asm(f"li t0, {bits:#x}\n csrw {0x3A0 + word // 4:#x}, t0")


def begin(name, count):
    c = Case("xphmg/protection/" + name, "CAP-533", config=f"full,pmp={count}")
    c.table("page", b"".join(ECALL.to_bytes(4, "little") for _ in range(3072)))
    # t3: where to go on after a trap; s8, s9, s10: its cause, value and place
    c.asm("""la t0, caught
 csrw mtvec, t0
 la s1, page
 li t0, 4095
 add s1, s1, t0
 srli s1, s1, 12
 slli s1, s1, 12
 j ready
.balign 4
caught:
 csrr s8, mcause
 csrr s9, mtval
 csrr s10, mepc
 li t5, 0x20000
 csrc mstatus, t5
 li t5, 0x1800
 csrs mstatus, t5
 csrw mepc, t3
 mret
ready:
 fmv.d.x f1, x0""")
    return c


def access(c, e, rng, machine):
    name, size = rng.choice(list({**LOADS, **STORES, **ATOMS}.items()))
    borders = [edge for k in range(len(e.kind)) for edge in e.range(k) if 0 <= edge <= 520] or [0]
    at = max(0, rng.choice(borders) + rng.randrange(-size - 1, 5))
    if name in ATOMS:
        at &= -size
        text = f"{name} t1, x0, (t2)"
    else:
        text = f"{name}, 0(t2)" if " " in name else f"{name} {'t1' if name in LOADS else 'x0'}, 0(t2)"
    load = name in LOADS
    good = e.allows(at, size, R if load else W, machine)
    label = len(c.body)
    mode = "" if machine else "li t0, 0x1800\n csrc mstatus, t0\n li t0, 0x20000\n csrs mstatus, t0\n "
    reserve = f"li t2, {at}\n add t2, t2, s1\n " + ("lr.w t1, (t2)\n " if name == "sc.w" and e.allows(at, size, R, True) else "")
    c.asm(f"la t3, on_{label}\n li s8, -1\n mv s9, s1\n {reserve}{mode}{text}\non_{label}:\n li t0, 0x20000\n csrc mstatus, t0\n sub s9, s9, s1")
    what = f"{name} at {at} in {'M' if machine else 'U'} mode"
    if name == "sc.w" and not (e.allows(at, size, R, True) and good):
        return  # without a reservation it may fail without looking
    c.observe("s8", (1 << 64) - 1 if good else 5 if load else 7, f"cause of {what}")
    c.observe("s9", 0 if good else at, f"where {what} failed")


def fetch(c, e, rng):
    at = rng.randrange(0, 512, 4)
    good, label = e.allows(at, 4, X, False), len(c.body)
    c.asm(f"la t3, on_{label}\n li t0, {at}\n add t0, t0, s1\n csrw mepc, t0\n li t1, {ECALL}\n sw t1, 0(t0)\n fence.i\n li t0, 0x1800\n csrc mstatus, t0\n mret\non_{label}:\n sub s10, s10, s1")
    c.observe("s8", 8 if good else 1, f"a fetch at {at} in U mode")
    c.observe("s10", at, f"mepc of a fetch at {at}")


def add(suite):
    for n, count in enumerate((16, 8, 4, 1)):
        rng, c = seeded("protection", n), begin(f"entries-{count}", count)
        for _ in range(10):
            e = draw(rng, count)
            write(c, e)
            for _ in range(14):
                access(c, e, rng, rng.random() < 0.25)
            for _ in range(4):
                fetch(c, e, rng)
        suite.add(c)
    for n in range(4):
        rng, c = seeded("locks", n), begin(f"locks-{n}", 8)
        e = draw(rng, 8, True)
        write(c, e)
        for k in range(8):  # a locked entry keeps what it has; an address below a locked TOR too
            kept = e.cfg(k) & L or k < 7 and e.cfg(k + 1) & L and e.kind[k + 1] == TOR
            c.asm(f"csrr s4, {0x3B0 + k:#x}\n not t0, s4\n csrw {0x3B0 + k:#x}, t0\n csrr s5, {0x3B0 + k:#x}\n csrw {0x3B0 + k:#x}, s4\n xor s5, s5, s4")
            c.observe("s5", 0 if kept else (1 << 54) - 1, f"bits of pmpaddr{k} that changed")
        cfg = sum(e.cfg(k) << 8 * k for k in range(8))
        c.asm("csrr s4, 0x3a0\n csrw 0x3a0, x0\n csrr s5, 0x3a0\n csrw 0x3a0, s4")
        c.observe("s4", cfg, "pmpcfg0")
        c.observe("s5", sum(e.cfg(k) << 8 * k for k in range(8) if e.cfg(k) & L), "pmpcfg0 after 0 was written")
        for _ in range(40):
            access(c, e, rng, rng.random() < 0.6)
        suite.add(c)
    c = begin("registers", 8)
    c.asm("li t0, -1\n csrw 0x3a2, t0\n csrw 0x3b8, t0\n csrw 0x3bf, t0\n csrw 0x3b7, t0\n li t0, 0x62\n csrw 0x3a0, t0\n csrr s4, 0x3a2\n csrr s5, 0x3b8\n csrr s6, 0x3bf\n csrr s7, 0x3b7\n csrr s11, 0x3a0")
    for register, value, what in (("s4", 0, "pmpcfg2 of 8 entries"), ("s5", 0, "pmpaddr8"), ("s6", 0, "pmpaddr15"), ("s7", (1 << 54) - 1, "pmpaddr7"), ("s11", 0, "pmpcfg0: W without R, bits 5 and 6")):
        c.observe(register, value, what)
    suite.add(c)
