"""The lane loop of RSV: windows, steps, predicates, ZMODE and lifetimes, by a model of the x registers; and every prefix word."""
import re

import tables
from effective import APPLY
from hart import Case, MASK64
from hart_numbers import seeded

OPS = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "xor": lambda a, b: a ^ b, "sltu": lambda a, b: int(a < b), "mul": lambda a, b: a * b,
       "sra": lambda a, b: (a - (a >> 63 << 64)) >> (b & 63)}
FREE = [r for r in range(1, 30)]  # x30 and x31 belong to the frame


def sext8(x):
    return x - (x >> 7 << 8)


def window(programmed, field, step):
    """(base, increment); programmed is (base, stride) or None"""
    base = programmed[0] if programmed else field
    inc = step if step is not None else sext8(programmed[1]) if programmed else 1
    return base, inc


class Registers:
    def __init__(self, rng):
        self.x = [0] + [rng.getrandbits(64) for _ in range(29)] + [0, 0]

    def read(self, r):
        return self.x[r]

    def write(self, r, value):
        if r:
            self.x[r] = value & MASK64


def lanes(c, regs, op, fields, vl, mask, windows, steps, zmode):
    """The registers after the instruction; windows and masks that touch x30, x31 are not used."""
    rd, rs1, rs2 = fields

    def lane(field, programmed, step, i):
        if programmed is None and field == 0:
            return 0
        base, inc = window(programmed, field, step)
        return (base + i * inc) % 32
    s, d = steps if steps else (None, None)
    places = [[lane(f, w, st, i) for f, w, st in ((rs1, windows[0], s), (rs2, windows[1], s), (rd, windows[2], d))] for i in range(vl)]
    if any(r >= 30 for p in places for r in p):
        return None
    results = [OPS[op](regs.read(a), regs.read(b)) if mask >> i & 1 else None for i, (a, b, _) in enumerate(places)]
    for result, (_, _, to) in zip(results, places):
        if result is not None:
            regs.write(to, result)
        elif zmode:
            regs.write(to, 0)
    return regs


def show(c, regs, label):
    """All registers go to memory, then into the signature."""
    c.asm("la t5, data")
    for r in FREE:
        c.asm(f"sd x{r}, {8 * r}(t5)")
    c.asm("mv s2, t5")
    for r in FREE:
        c.asm(f"la t5, data\n ld t0, {8 * r}(t5)")
        c.observe("t0", regs.x[r], f"x{r} after {label}")


def load(c, regs):
    label = f"registers_{len(c.tables)}"
    c.table(label, b"".join(v.to_bytes(8, "little") for v in regs.x))
    c.asm(f"la t5, {label}")
    for r in FREE:
        c.asm(f"ld x{r}, {8 * r}(t5)")


def programmed(w):
    return 0 if w is None else 1 << 63 | (w[1] & 255) << 8 | w[0]


def windows(suite):
    for name, rows, how in (("windows", "RSV-103 RSV-060 RSV-102 RSV-011", "csr"), ("steps", "RSV-103 RSV-060", "step"), ("masks", "RSV-010 RSV-021 RSV-048", "mask"),
                            ("fields", "RSV-103 RSV-102", "none")):
        c, rng, made = Case(f"xphmg/lanes/{name}", rows), seeded("lanes", name), 0
        while made < 10:
            regs, op, vl = Registers(rng), rng.choice(sorted(OPS)), rng.randrange(1, 9)
            fields = [rng.choice((0, rng.randrange(30))) if how == "none" else rng.randrange(30) for _ in range(3)]
            w = [(rng.randrange(30), rng.choice((0, 1, 2, 3, 255, 254, 31, 32))) if how != "none" and rng.random() < 0.7 else None for _ in range(3)]
            steps = (rng.choice((0, 1, 2, 4)), rng.choice((0, 1, 2, 4))) if how == "step" else None
            bank, zmode = (rng.randrange(1, 4), rng.randrange(2)) if how == "mask" else (0, 0)
            mask = rng.getrandbits(64) if bank else MASK64
            before = list(regs.x)
            after = lanes(c, regs, op, fields, vl, mask, w, steps, zmode)
            if after is None:
                continue
            made += 1
            c.asm(f"li t0, {APPLY | 1 << 19 | zmode << 3:#x}\n csrw 0x7d0, t0")
            for csr, value in (("0x7f9", programmed(w[0])), ("0x7fa", programmed(w[1])), ("0x7fb", programmed(w[2]))):
                c.asm(f"li t0, {value:#x}\n csrw {csr}, t0")
            c.asm(f"li t0, {(vl - 1) | bank << 10:#x}\n csrw 0x7f8, t0")
            if bank:
                c.asm(f"li t0, {mask:#x}\n pmlow.wr {bank}, t0\n srli t0, t0, 32\n pmhigh.wr {bank}, t0")
            start = Registers(rng)
            start.x = before
            load(c, start)
            c.asm(f"svp.one.vlstep {vl}, {steps[0]}, {steps[1]}" if steps else "svon.one")
            c.asm(f"{op} x{fields[0]}, x{fields[1]}, x{fields[2]}")
            show(c, after, f"{op} x{fields[0]}, x{fields[1]}, x{fields[2]}, VL {vl}, windows {w}, steps {steps}, mask {mask & (1 << vl) - 1:#x}, ZMODE {zmode}")
            c.csrr("0x7f8", (vl - 1) | bank << 10 | (steps_code(steps) if steps else 0), "SVSTATE: the one-shot is spent")
        suite.add(c)


def steps_code(steps):
    code = {0: 0, 1: 1, 2: 2, 4: 3}
    return code[steps[0]] << 28 | code[steps[1]] << 31


def prefixes(suite):
    """Every kind of word of opcode 0x0B, funct3 0..5: those that match no row are illegal."""
    rows = []
    for row in tables.rows("rt-rsv.insn.tsv"):
        if not row["mnemonic"].startswith("rt."):
            wanted = [(int(m[1]), int(m[2] or m[1])) for m in re.finditer(r"\[(\d+):?(\d+)?\]!=0", row["fields"])]
            rows.append((int(row["mask"], 16), int(row["match"], 16), wanted))

    def legal(word):
        return any(word & mask == match and all(word >> lo & (1 << hi - lo + 1) - 1 for hi, lo in wanted) for mask, match, wanted in rows)
    for funct3 in range(6):
        c, rng = Case(f"xphmg/lanes/prefix-words-{funct3}", "RSV-095 RSV-146 RSV-147"), seeded("prefix", funct3)
        base = next((match for mask, match, _ in rows if match >> 12 & 7 == funct3), 0x0B | funct3 << 12)
        words = [base ^ 1 << bit for bit in range(7, 32) if not 12 <= bit < 15]
        words += [0x0B | funct3 << 12 | rng.getrandbits(5) << 7 | rng.getrandbits(17) << 15 for _ in range(24)]
        for word in words:
            c.trap(f".word {word:#x}", None if legal(word) else 2, f"the word {word:#010x}", tval=None if legal(word) else word)
            c.asm("li t0, 0\n csrw 0x7f8, t0")
        suite.add(c)


def lifetimes(suite):
    c = Case("xphmg/lanes/trap-and-return", "RSV-113 RSV-114")
    # lane 2 of a load faults; the handler repairs the address in its register and returns to the instruction
    c.asm("la t5, repair\n csrw mtvec, t5\n la a0, data\n addi a1, a0, 8\n addi a3, a0, 24\n li t0, 11\n sd t0, 0(a0)\n li t0, 22\n sd t0, 8(a0)\n li t0, 33\n sd t0, 16(a0)\n li t0, 44\n sd t0, 24(a0)\n "
          "li a2, 0x20000000\n li a4, 1\n li a5, 2\n li a6, 3\n li a7, 4\n li t0, 3\n csrw 0x7f8, t0\n li s4, 0\n svon.one\n svon.fpctl sae=1, z=1")
    c.asm("ld a4, 0(a0)")
    for r, value in (("a4", 11), ("a5", 22), ("a6", 33), ("a7", 44)):
        c.observe(r, value, "a lane after the instruction was run again")
    c.observe("s4", 3 | 1 << 9 | 1 << 25 | 1 << 26 | 1 << 34 | 1 << 35, "SVSTATE in the handler: PEN and PFPC are set, EN and FPC_V are not")
    c.observe("s5", 0x8000000000050002, "SVFAULTI: lane 2, cause 5")
    c.csrr("0x7f8", 3 | 1 << 25 | 1 << 26, "SVSTATE afterwards")
    c.asm("la t5, handler\n csrw mtvec, t5\n j after\n.balign 4\nrepair:\n csrr s4, 0x7f8\n csrr s5, 0x7ff\n la a2, data\n addi a2, a2, 16\n mret\nafter:")
    suite.add(c)
    c = Case("xphmg/lanes/block-counts", "RSV-046 RSV-067 RSV-068 RSV-086 RSV-087")
    for n in (0, 1, 5, 255, 256):
        c.asm(f"svon.blk {n}\n csrr a0, 0x7f8\n svend")
        c.observe("a0", 1 << 8 | (n % 256 or 256) << 12, f"SVSTATE after svon.blk {n}")
    suite.add(c)
    c = Case("xphmg/lanes/user-mode", "RSV-057")
    for csr in ("0x7f8", "0x7f9", "0x7fa", "0x7fb", "0x7ff", "0x7fe"):
        for text in (f"csrr t0, {csr}", f"csrw {csr}, x0"):
            c.asm("li t0, 0x1800\n csrc mstatus, t0")
            c.trap(f"la t0, 2f\n csrw mepc, t0\n mret\n2:  {text}", 2, f"{text} in U-mode")
    suite.add(c)
    c = Case("xphmg/lanes/absent", "RSV-003", config="full,feat0=0x4119")
    for text in ("svsetvl x0, 4", "svon.one", "svon.blk 3", "svend", "svp.one.vlstep 4, 1, 1", "svon.fpctl sae=1"):
        c.trap(text, 2, text)
    suite.add(c)


def add(suite):
    windows(suite)
    prefixes(suite)
    lifetimes(suite)
