"""CAP policies that programs see: stickies and how they are cleared, enables and traps, sequences of the document, profiles."""
from effective import APPLY, state
from hart import Case

MODE, ALT, STAT, EN, ST = "0x7d0", "0x7d1", "0x7d2", "0x7d3", "0x7d4"
# FP32 products a * b that raise exactly these flags of EXC.ST, by MTX.MUL of diag(a, 0) and (b, 0)
RAISES = {0x01: (0x3F800001, 0x3F800001), 0x05: (0x7F000000, 0x7F000000), 0x03: (0x00800001, 0x3F000001), 0x30: (0x7F800000, 0), 0x20: (0x7FC00000, 0x3F800000),
          0x70: (0x7F800001, 0x3F800000)}


def raising(c):
    """A routine: a0, a1 are multiplied; a2 is where it is done."""
    c.asm("j over\nmultiply:\n la a2, data\n sw a0, 0(a2)\n sw x0, 4(a2)\n sw x0, 8(a2)\n sw x0, 12(a2)\n sw a1, 16(a2)\n sw x0, 20(a2)\n mtx.ld a2, shape=5, rowmajor=1\n "
          "addi a3, a2, 16\n addi a2, a2, 24\n.balign 4\nraise:\n mtx.mul a2, a3, shape=5\n ret\nover:")
    c.asm(state("fp32").setup())


def do(c, flags):
    a, b = RAISES[flags]
    c.asm(f"li a0, {a:#x}\n li a1, {b:#x}\n call multiply")


def stickies(suite):
    c = Case("xphmg/policies/exc-st-w1c", "CAP-103 CAP-104 CAP-181 CAP-187 CAP-302 CAP-101")
    raising(c)
    for bit in range(8):
        value = 0
        for flags in RAISES:
            do(c, flags)
            value |= flags
        c.csrr(ST, value, "EXC.ST with all that a product raises")
        c.csrw(ST, 0)
        c.csrr(ST, value, "EXC.ST after a write of 0")
        c.csrw(ST, 1 << bit)
        c.csrr(ST, value & ~(1 << bit), f"EXC.ST after bit {bit} is written as 1")
        c.csrw(ST, 0xFFFFFFFFFFFFFF00)
        c.csrr(ST, value & ~(1 << bit), "EXC.ST after ones above its bits")
        c.csrw(ST, 0x7F)
        c.csrr(ST, 0, "EXC.ST after all are cleared")
    suite.add(c)
    c = Case("xphmg/policies/sticky-until-apply", "CAP-297 CAP-298 CAP-288 CAP-289 CAP-287")
    raising(c)
    for hit, register in ((1 << 13, MODE), (1 << 12, ALT), (1 << 13, ALT), (1 << 12, MODE)):
        c.asm(state("fp32", **({"SAT": 1} if hit == 1 << 13 else {"DENORM_FTZ": 1})).setup())
        c.csrr(STAT, state("fp32", **({"SAT": 1} if hit == 1 << 13 else {})).stat(0), "STAT before")
        do(c, 0x05 if hit == 1 << 13 else 0x03)
        c.asm("csrr s3, 0x7d2\n srli s3, s3, 12\n andi s3, s3, 3")
        c.observe("s3", hit >> 12, "SAT_HIT and FTZ_HIT: a product that is clamped, or one that is flushed")
        for _ in range(3):
            c.asm("la a2, data\n addi a3, a2, 32\n addi a2, a2, 40\n mtx.mul a2, a3, shape=5")
        c.asm("csrr s3, 0x7d2\n srli s3, s3, 12\n andi s3, s3, 3")
        c.observe("s3", hit >> 12, "SAT_HIT and FTZ_HIT after clean instructions")
        c.asm(f"li t0, {APPLY:#x}\n csrs {register}, t0\n csrr s3, 0x7d2\n srli s3, s3, 12\n andi s3, s3, 7")
        c.observe("s3", 0, "SAT_HIT, FTZ_HIT and DOWNCAST_TAKEN after an APPLY")
    suite.add(c)
    c = Case("xphmg/policies/unsup-fmt", "CAP-296 CAP-464 CAP-463")
    for mode in (7 << 21 | 2 << 19, 6 << 21 | 2 << 19, 5 << 24 | 1 << 19, 3 << 17 | 1 << 19, 1 << 21 | 1 << 19):
        c.csrw(MODE, mode | APPLY)
        for _ in range(3):
            c.asm("nop\n csrr s3, 0x7d2\n srli s3, s3, 15\n andi s3, s3, 1")
            c.observe("s3", 1, f"UNSUP_FMT after MODE {mode:#x}")
        c.asm("csrr s3, 0x7d0\n srli s3, s3, 21\n andi s3, s3, 7")
        c.observe("s3", mode >> 21 & 7 if mode >> 21 & 7 < 6 else 0, "PET")
        c.csrw(MODE, 1 << 19 | APPLY)
        c.csrr(STAT, 0x04000000, "STAT after a state that is supported")
    suite.add(c)
    c = Case("xphmg/policies/events-w1c", "CAP-349")
    c.asm("li a0, 0x1234\n xlds.free a0\n li a0, -1\n xlds.alloc a1, a0")
    c.csrr("0x7ee", 5, "EVENTS after an unknown base is freed and too much is asked for")
    for written, left in ((0, 5), (0xFA, 5), (1, 4), (4, 0)):
        c.csrw("0x7ee", written)
        c.csrr("0x7ee", left, f"EVENTS after {written:#x}")
    suite.add(c)


def traps(suite):
    c = Case("xphmg/policies/enables", "CAP-494 CAP-293 CAP-300 RT-217")
    raising(c)
    for enabled in (0x14, 0, 0x01, 0x02, 0x04, 0x10, 0x1F, 0x08):
        for flags, (a, b) in RAISES.items():
            c.csrw(ST, 0x7F)
            c.csrw(EN, enabled)
            hit = flags & enabled & 0x1F
            c.asm(f"li a0, {a:#x}\n li a1, {b:#x}")
            c.trap("call multiply", 24 if hit else None, f"a product with flags {flags:#x}, enabled {enabled:#x}", tval=hit if hit else None)
            c.csrr(ST, flags, "EXC.ST all the same")
            c.csrw(EN, 0)
    suite.add(c)
    c = Case("xphmg/policies/sae", "RSV-083 RSV-115 RSV-118 CAP-291 CAP-269 CAP-311")
    raising(c)
    for default in (0, 1):
        c.asm(state("fp32", SAE_DEF=default).setup())
        for prefix in (None, 0, 1):
            c.csrw(EN, 0)
            c.asm("li a0, 0x3f800001\n li a1, 0x3f800001\n call multiply")
            c.csrw(ST, 0x7F)
            c.csrw(EN, 0x1F)
            quiet = default if prefix is None else prefix
            text = "" if prefix is None else f"svon.fpctl sae={prefix}\n "
            c.trap(f"{text}mtx.mul a2, a3, shape=5", None if quiet else 24, f"an inexact product, SAE_DEF {default}, svon.fpctl sae={prefix}")
            c.csrr(ST, 1, "NX is there in any case")
            c.csrw("0x7f8", 0)
    suite.add(c)
    c = Case("xphmg/policies/no-traps-after-reset", "CAP-522 CAP-488 CAP-479")
    c.csrw(MODE, 0x8000000000080000)
    c.csrr(STAT, 0x04000000, "STAT after the base sequence")
    c.asm("csrr s3, 0x7d0\n srli s4, s3, 3\n andi s4, s4, 1\n srli s5, s3, 29\n andi s5, s5, 1\n srli s6, s3, 34\n andi s6, s6, 3")
    for r in ("s4", "s5", "s6"):
        c.observe(r, 0, "ZMODE, SAE_DEF, NAN_POL")
    raising(c)
    for flags in RAISES:
        a, b = RAISES[flags]
        c.asm(f"li a0, {a:#x}\n li a1, {b:#x}")
        c.trap("call multiply", None, f"a product with flags {flags:#x}")
    c.csrr(ST, 0x77, "EXC.ST")
    suite.add(c)


def sequences(suite):
    c = Case("xphmg/policies/alt-sequence", "CAP-490 CAP-489")
    c.csrw(ALT, 0x8000000049C00000)
    c.csrr(STAT, 0x81C00000, "STAT")
    suite.add(c)
    c = Case("xphmg/policies/alt-absent", "CAP-492 CAP-023", config="min")
    c.csrw(MODE, 0x8000000000080000)
    c.csrw(ALT, 0x8000000049C00000)
    c.csrr(STAT, 0x04008000, "STAT of a machine without ALT formats")
    suite.add(c)
    c = Case("xphmg/policies/glossary-positions", "CAP-502")
    c.csrw(MODE, 0x8000000000080F00)
    c.asm("csrr s3, 0x7d2\n srli s3, s3, 8\n andi s3, s3, 15\n csrr s4, 0x7d0\n srli s4, s4, 6\n andi s4, s4, 255")
    c.observe("s3", 0, "EFF_NAN_POL, EFF_SAE, EFF_ZMODE")
    c.observe("s4", 0x3C, "MODE.ZP")
    suite.add(c)
    c = Case("xphmg/policies/any-order", "CAP-471")
    writes = [(EN, 0x15), (ALT, APPLY | 1 << 30 | 2 << 26), (MODE, APPLY | 1 << 21 | 2 << 19), ("0x7f2", 0x3A), ("0x7f0", 0x123456789), ("0x7f4", 0x73)]
    want = {EN: 0x15, ALT: 1 << 30 | 2 << 26, MODE: 1 << 21 | 2 << 19, "0x7f2": 0x3A, "0x7f0": 0x123456789, "0x7f4": 0x73}
    for order in (writes, writes[::-1], writes[3:] + writes[:3]):
        for csr, value in order:
            c.csrw(csr, 0 if csr not in (MODE, ALT) else APPLY)
            c.csrw(csr, value)
        for csr, value in want.items():
            c.csrr(csr, value, f"{csr} after the last write")
    suite.add(c)
    c = Case("xphmg/policies/window", "CAP-089 CAP-021 CAP-124")
    inside = [n for n in range(0x7C0, 0x800) if n not in (0x7FC, 0x7FD)]
    for k, n in enumerate(inside):
        c.asm(f"csrr t0, {n:#x}\n la t5, data\n sd t0, {8 * k}(t5)")
    for n in (0x801, 0x802, 0x803, 0x80A, 0x80F, 0x813, 0x820, 0x823, 0x824, 0x829, 0x82A, 0x82B, 0x830, 0x831, 0x340, 0x305, 0x001, 0x002):
        c.asm(f"csrr s3, {n:#x}\n li t0, 0x155\n csrw {n:#x}, t0\n csrw {n:#x}, s3")
    c.asm("li s3, 20000\n1: addi s3, s3, -1\n mul s4, s3, s3\n bnez s3, 1b")
    for k, n in enumerate(inside):
        c.asm(f"csrr t0, {n:#x}\n la t5, data\n ld t1, {8 * k}(t5)\n sub t0, t0, t1")
        c.observe("t0", 0, f"what has changed in {n:#x}")
    suite.add(c)
    c = Case("xphmg/policies/profiles", "CAP-027", config="prof")
    c.csrr("0x7c4", 7, "profiles that there are")
    c.csrr("0x7c3", 0, "the one in force")
    suite.add(c)


def add(suite):
    for part in (stickies, traps, sequences):
        part(suite)
