"""Instruction words bit by bit, MTX banks and counters, RT structures and jobs, and where memory may lie."""
import tables
from effective import APPLY, state
from exact import FP32, Arith
from hart import Case

FP32_STATE = state("fp32").setup()
NOWHERE = 0x20000000
ONE, TWO, THREE, HALF, FOUR = 0x3F800000, 0x40000000, 0x40400000, 0x3F000000, 0x40800000


def words(suite):
    """Every single bit of GFX and MTX words flipped: a word that matches no row is illegal, whatever it looks like."""
    rows = [(r["mnemonic"], int(r["mask"], 16), int(r["match"], 16)) for r in tables.rows("gfx-mtx.insn.tsv")]
    ids = {"GFX.SAMPLE": "GFX-117", "GFX.SAMPLE.GATH": "GFX-135", "GFX.INTERP": "GFX-155", "GFX.SHADE": "GFX-164", "GFX.ZTEST": "GFX-175", "GFX.ZWRITE": "GFX-192", "GFX.FENCE": "GFX-215",
           "GFX.HZ.BUILD": "GFX-197", "GFX.CULL.AABB": "GFX-240", "GFX.CULL.PLANE": "GFX-232", "GFX.CULL.FRUSTUM": "GFX-238", "GFX.CULL.COMPOSE": "GFX-246", "GFX.CULL.COMPACT": "GFX-252",
           "GFX.LUT1D": "GFX-206", "GFX.LUT3D": "GFX-206"}
    for name, mask, match in rows:
        if name not in ids:
            continue
        # disabled GFX: what decodes is a no-op, what does not is illegal
        c = Case(f"xphmg/forms/{name.lower().replace('.', '-')}", f"{ids[name]} GFX-093 GFX-094 GFX-373")
        c.asm("csrw 0x800, x0")
        for word in [match] + [match ^ 1 << bit for bit in range(7, 32)]:
            legal = any(word & m == v for _, m, v in rows)
            c.trap(f".word {word:#x}", None if legal else 2, f"the word {word:#010x}", tval=None if legal else word)
        c.asm("li t0, 0x80\n csrw 0x800, t0")  # DIS_TRAP
        c.trap(f".word {match:#x}", 2, "the word with DIS_TRAP set", tval=match)
        suite.add(c)


def selector(suite):
    """imm[1] is alt: with ALT programmed and off, it alone makes the elements FP8."""
    c = Case("xphmg/forms/alt-bit", "GFX-114 GFX-109 GFX-112")
    c.asm(f"{FP32_STATE}\n li t0, {APPLY | 2 << 26 | 1 << 23:#x}\n csrw 0x7d1, t0\n li t0, 3\n csrw 0x800, t0")
    # one channel, add: 1.0 + 1.0 in FP32 and in E4M3 (0x38)
    for alt, x, y in ((0, ONE, TWO), (1, 0x38, 0x40)):
        c.asm(f"li x16, {x:#x}\n li x20, {x:#x}\n gfx.shade x16, x10, OO=0, nc=1, alt={alt}")
        c.observe("x16", y, f"1 + 1 with alt={alt}")
    suite.add(c)


def banks(suite):
    c = Case("xphmg/forms/mtx-transpose", "MTX-020 MTX-098 MTX-103 MTX-099")
    values = [ONE, TWO, THREE, FOUR]
    for i, v in enumerate(values + [ONE, 0]):
        c.store(4 * i, 4, v)
    c.asm(FP32_STATE + "\n la a0, data\n addi a1, a0, 16\n addi a2, a0, 64")
    for ld_transpose in (0, 1):
        for rowmajor in (0, 1):
            for default in (0, 1):
                for transpose in (0, 1):
                    stored = values if rowmajor else [values[0], values[2], values[1], values[3]]
                    if ld_transpose:
                        stored = [stored[0], stored[2], stored[1], stored[3]]
                    turned = default ^ transpose
                    want = (stored[0], stored[1]) if turned else (stored[0], stored[2])
                    c.asm(f"li t0, {default}\n csrw 0x830, t0\n mtx.ld a0, shape=5, transpose={ld_transpose}, rowmajor={rowmajor}\n mtx.mul a2, a1, shape=5, transpose={transpose}\n ld a3, 0(a2)")
                    c.observe("a3", want[0] | want[1] << 32, f"column 0: LD transpose {ld_transpose} rowmajor {rowmajor}, TRANSPOSE_DEF {default}, MUL transpose {transpose}")
    suite.add(c)
    c = Case("xphmg/forms/mtx-stat", "MTX-029 MTX-030 MTX-031 MTX-032 MTX-033")
    c.store(0, 4, 0x7B53 | 0 << 16)
    c.store(8, 4, 0x4000)
    c.store(16, 4, 0x00010001)
    c.asm(f"{state('fp16', SAT=1, DENORM_FTZ=1).setup()}\n la a0, data\n addi a1, a0, 8\n addi a2, a0, 64\n addi a3, a0, 16\n mtx.ld a0, shape=5, rowmajor=1")
    issued = saturated = flushed = 0
    for k, (vector, sat, ftz) in enumerate((("a1", 1, 0), ("a3", 0, 1), ("a1", 1, 0), ("a3", 0, 1), ("a3", 0, 1))):
        issued, saturated, flushed = issued + 1, saturated + sat, flushed + ftz
        c.asm(f"mtx.mul a2, {vector}, shape=5\n lhu a4, 0(a2)")
        c.observe("a4", 0x7BFF if sat else 0, "the product")
        c.csrr("0x836", issued | saturated << 16 | flushed << 32 | 0x22 << 48, f"MTXSTAT after {k + 1} operations")
    for shape, code in ((0x6, 0x23), (0x9, 0x32), (0xA, 0x33), (0x7, 0x24), (0xD, 0x42), (0xF, 0x44), (0x5, 0x22)):
        c.asm(f"mtx.ld a0, shape={shape}\n csrr t0, 0x836\n srli t0, t0, 48\n andi t0, t0, 255")
        c.observe("t0", code, f"LAST_SHAPE after shape {shape}")
    suite.add(c)
    c = Case("xphmg/forms/lds-operands", "MTX-010 CAP-521 CAP-062 RT-287 RT-288 GFX-282")
    # the same bytes in LDS, seen by ld, xmem.ldg, MTX, GFX.SAMPLE and RT.BBOX
    c.asm(FP32_STATE + f"\n li a0, 1024\n xlds.alloc s3, a0\n li t0, {ONE:#x}\n sw t0, 0(s3)\n sw x0, 4(s3)\n sw x0, 8(s3)\n li t0, {TWO:#x}\n sw t0, 12(s3)\n li t0, {THREE:#x}\n sw t0, 16(s3)\n sw t0, 20(s3)\n xlds.bar 3\n "
          "mtx.ld s3, shape=5, rowmajor=1\n addi a1, s3, 16\n addi a2, s3, 32\n mtx.mul a2, a1, shape=5\n xlds.bar 3\n ld a3, 32(s3)\n xmem.ldg.d a4, (a2)")
    product = THREE | 0x40C00000 << 32
    c.observe("a3", product, "what MTX.MUL wrote, by ld")
    c.observe("a4", product, "by xmem.ldg")
    c.asm("li t0, 3\n csrw 0x800, t0\n csrw 0x802, a2\n li t0, 8\n csrw 0x803, t0\n li t0, 0x100000002\n csrw 0x80a, t0\n li t0, 0x0a\n csrw 0x80b, t0\n li x10, 0x3fc00000\n li x11, 0\n gfx.sample x20, x10")
    c.observe("x20", 0x40C00000, "the second texel, by GFX.SAMPLE")
    # a ray record whose direction is in LDS: x from what MTX wrote
    c.asm(f"addi a5, s3, 64\n sw x0, 0(a5)\n sw x0, 4(a5)\n sw x0, 8(a5)\n lw t0, 0(a2)\n sw t0, 12(a5)\n sw x0, 16(a5)\n sw x0, 20(a5)\n sw x0, 24(a5)\n li t0, 0x7f800000\n sw t0, 28(a5)\n addi a6, s3, 128")
    for i, v in enumerate((THREE, 0xBF800000, 0xBF800000, 0x40C00000, ONE, ONE)):
        c.asm(f"li t0, {v:#x}\n sw t0, {4 * i}(a6)")
    c.asm("li t0, 1\n sw t0, 124(a6)\n csrw 0x82a, a6\n rt.bbox s4, a5")
    f = Arith(FP32)
    inverse = f.div(ONE, THREE)
    c.observe("s4", 1, "a hit, by RT.BBOX")
    c.observe("s5", f.mul(THREE, inverse), "tnear")
    c.observe("s6", f.mul(0x40C00000, inverse), "tfar")
    suite.add(c)


def domains(suite):
    """A Tier-0 region of another domain under STRICT_DOM: its accesses fault, whichever GFX table it is."""
    c = Case("xphmg/forms/strict-domain", "GFX-346 GFX-387 XM-019 XM-018 XM-020 GFX-371 GFX-372")
    c.asm(FP32_STATE + "\n li t0, 1\n csrw 0x7e6, t0\n li a0, 1024\n xlds.alloc s3, a0, flags=8\n li t0, 2\n xmem.cctl.setdom s3, t0\n li t0, 0x1000b\n csrw 0x800, t0")
    c.asm("li t0, 64\n csrw 0x803, t0\n csrw 0x810, t0\n li t0, 0x400000004\n csrw 0x80a, t0\n csrw 0x811, t0\n li t0, 0x0a\n csrw 0x80b, t0\n li t0, 0x8\n csrw 0x80e, t0\n li t0, 0x100\n csrw 0x812, t0")
    tests = [("0x802", "gfx.sample s5, s6", 5), ("0x815", "gfx.sample.gath s5, s6, n=1", 5), ("0x813", "gfx.lut1d s5, s6", 5), ("0x80f", "gfx.ztest s5, s6", 5), ("0x80f", "gfx.zwrite s6", 7)]
    for strict in (1, 0):
        for owner in (1, 2):
            c.csrw("0x7ed", 0)
            c.csrw("0x7e6", owner)
            for csr, text, cause in tests:
                c.csrw("0x7ed", 0)
                c.asm("la s6, data\n csrw 0x802, s6\n csrw 0x815, s6\n csrw 0x813, s6\n csrw 0x80f, s6\n csrw 0x814, x0")
                c.asm(f"csrw {csr}, s3")
                c.csrw("0x7ed", strict << 6)
                c.trap(text, cause if strict and owner != 2 else None, f"{text}, STRICT_DOM {strict}, domain {owner}")
            for text, cause in (("gfx.sample s5, s3, d=1", 5), ("gfx.hz.build s5, s3, hh=1", 7)):
                c.csrw("0x7ed", 0)
                c.asm("la s6, data\n csrw 0x80f, s6\n" + "\n ".join(f"sd x0, {8 * i}(s3)" for i in range(8)))
                c.csrw("0x7ed", strict << 6)
                c.trap(text, cause if strict and owner != 2 else None, f"{text}, STRICT_DOM {strict}, domain {owner}")
    suite.add(c)


# ---- RT ----

def put(c, at, values, size=4):
    for i, v in enumerate(values):
        c.store(at + size * i, size, v)


RAY = [HALF, HALF, 0xBF800000, 0, 0, ONE, 0, 0x7F800000]


def rt_forms(suite):
    c = Case("xphmg/forms/rt-alignment", "RT-086 RT-112 RT-263 RT-099")
    put(c, 0, RAY)
    put(c, 128, [0, 0, 0, ONE, ONE, ONE])
    c.store(128 + 124, 4, 1)
    c.asm(FP32_STATE + "\n la a0, data\n addi a1, a0, 128\n csrw 0x82a, a1\n rt.bbox a4, a0")
    c.observe("a4", 1, "a hit")
    c.csrw("0x7ee", 0xFF)
    c.trap("la a0, data + 2\n rt.bbox a4, a0", 4, "a ray record at 2 mod 4", tval="data + 2")
    c.csrr("0x7ee", 1, "EVENTS.INV_MISS")
    c.asm("la a0, data\n addi a1, a0, 36\n csrw 0x823, a1\n li t0, 0x10\n csrw 0x82a, t0")
    c.trap("rt.bbox a4, a0", 4, "a tile that is not a multiple of 64, by RTBASE", tval="data + 36")
    c.trap("la a1, data + 4\n xsubmit.rt a2, a1", 4, "a descriptor at 4 mod 8", tval="data + 4")
    suite.add(c)
    c = Case("xphmg/forms/rt-empty-children", "RT-097 RT-094 RT-095 RT-096 RT-043")
    put(c, 0, RAY)
    for child in range(4):
        put(c, 128 + 24 * child, [0, 0, 0, ONE, ONE, ONE])
    c.asm(FP32_STATE + "\n la a0, data\n addi a1, a0, 128")
    count = 0
    for kind in range(4):
        for child in range(4):
            hit = int(kind in (1, 2))
            count += hit
            c.asm(f"li t0, {kind << 2 * child:#x}\n sw t0, 124(a1)\n addi a2, a1, {child}\n csrw 0x82a, a2\n rt.bbox a4, a0\n csrr t1, 0x821\n srli t1, t1, 8\n slli t1, t1, 36\n srli t1, t1, 36")
            c.observe("a4", hit, f"child {child} of type {kind}")
            c.observe("t1", count, "BBOX_ISSUED")
    suite.add(c)
    c = Case("xphmg/forms/rt-impl-hint", "RT-059 RT-058")
    put(c, 0, RAY)
    put(c, 128, [0, 0, 0, ONE, ONE, ONE])
    c.store(128 + 124, 4, 1)
    c.asm(f"li t0, {APPLY | 1 << 21 | 2 << 19 | 1 << 3:#x}\n csrw 0x7d0, t0\n la a0, data\n addi a1, a0, 128\n csrw 0x82a, a1\n li t0, 0b01\n pmlow.wr 1, t0")
    for hint in range(4):
        c.asm(f"li t0, {hint << 8:#x}\n csrw 0x827, t0\n li a4, 7\n li a5, 7\n li t0, {1 << 10 | 1:#x}\n csrw 0x7f8, t0\n svp.one.vlstep 2, 0, 1\n rt.bbox a4, a0, flags=4\n pmlow.rd 1, s3")
        c.observe("a5", 0, f"a masked lane, IMPL_HINT {hint}")
        c.observe("s3", 1, "bank 1")
        c.csrr("0x827", 0, "RTCONF2")
    suite.add(c)


def rt_job(c, opts=0):
    """data: descriptor 0, queues 128 (rays), 160 (hits), 192 (misses), ray entries 256, hits 512, misses 1024, heap 2048."""
    c.asm("la s3, data")
    for at, target in ((0, 2048), (8, 128), (16, 160), (24, 192), (32, 3072), (128 + 16, 256), (160 + 16, 512), (192 + 16, 1024)):
        c.asm(f"li t0, {target}\n add t0, t0, s3\n sd t0, {at}(s3)")
    c.asm(f"li t0, {opts}\n sw t0, 40(s3)")


def rt_jobs(suite):
    f = Arith(FP32)
    triangle = [0, 0, 0, ONE, 0, 0, 0, ONE, 0]
    far = [0, 0, ONE, ONE, 0, ONE, 0, ONE, ONE]
    up = [0x3E800000, 0x3E800000, 0xBF800000, 0, 0, ONE, 0, 0x7F800000]

    def scene(c, node8=False):
        for at in (128, 160, 192):
            c.store(at + 8, 4, 4)  # cap
        c.store(128 + 4, 4, 1)  # one ray
        put(c, 256, up)
        c.store(256 + 56, 8, 0x1234567)
        # node 0: child 3 is a leaf with index 24 bits above its flags; node8: child 7 of the second tile
        tile = 2048 + (128 if node8 else 0)
        put(c, tile + 72, [0xBF800000] * 3 + [TWO] * 3)
        c.store(tile + 124, 4, 2 << 6 | 56 << 8)  # leaf 56: TriRange at 2048 + 56 * 16 = 2944
        put(c, 2944, [0, 2])
        put(c, 3072, far + triangle)

    hit = Case("xphmg/forms/rt-job", "RT-098 RT-100 RT-170 RT-260 RT-275 RT-292 RT-269")
    scene(hit)
    hit.asm(FP32_STATE + "\n pmclr 1\n pmclr 2\n pmclr 3")
    rt_job(hit)
    hit.asm("xsubmit.rt s5, s3\n xfence.wait s5")
    hit.observe("s5", 1 << 56 | 1, "ticket")
    t, u = ONE, f.div(0x3E800000, ONE)
    for at, value, label in ((512, 0x1234567, "tag"), (520, 1 | 56 << 32, "triangle 1 of leaf 56: the nearer one"), (528, t | u << 32, "t and u"), (536, u, "v")):
        hit.load(at, 8, value, label)
    hit.load(164, 4, 1, "tail of the hit queue")
    hit.load(128, 4, 1, "head of the ray queue")
    # the same ray and triangle inline
    hit.asm("la s3, data\n li t1, 2944\n add t1, t1, s3\n li t0, 3072\n add t0, t0, s3\n sd t0, 8(t1)\n addi t1, t1, 1\n csrw 0x82b, t1\n addi a0, s3, 256\n rt.tri a4, a0")
    for r, value in (("a4", 1), ("a5", t), ("a6", u), ("a7", u)):
        hit.observe(r, value, "the same triangle by RT.TRI")
    suite.add(hit)
    anyhit = Case("xphmg/forms/rt-job-any", "RT-276 RT-265")
    scene(anyhit)
    anyhit.asm(FP32_STATE)
    rt_job(anyhit, 1 << 4)
    anyhit.asm("xsubmit.rt s5, s3\n xfence.wait s5")
    anyhit.load(520, 8, 0 | 56 << 32, "ANY_HIT: triangle 0, the first in order")
    anyhit.load(528, 4, TWO, "its t")
    suite.add(anyhit)
    eight = Case("xphmg/forms/rt-job-node8", "RT-108 RT-107 RT-265 RT-106")
    scene(eight, True)
    eight.asm(FP32_STATE)
    rt_job(eight, 1 << 5)
    eight.asm("xsubmit.rt s5, s3\n xfence.wait s5")
    eight.load(520, 8, 1 | 56 << 32, "child 7 of a BVHNode8 leads to leaf 56")
    suite.add(eight)
    poll = Case("xphmg/forms/rt-job-poll", "XM-154 RT-040")
    scene(poll)
    poll.asm(FP32_STATE)
    rt_job(poll)
    poll.asm("xsubmit.rt s5, s3\n1: csrr t0, 0x821\n andi t0, t0, 1\n bnez t0, 1b\n xfence.wait s5")
    poll.load(528, 4, ONE, "t, after BUSY has become 0")
    suite.add(poll)


def examples(suite):
    c = Case("xphmg/forms/rt-first-example", "RT-279 RT-295 RT-138")
    half = {ONE: 0x3C00, 0: 0, HALF: 0x3800, 0xBF800000: 0xBC00, 0x7F800000: 0x7C00}
    put(c, 0, [half[v] for v in RAY], 2)
    put(c, 64, [0, 0, 0, 0x3C00, 0x3C00, 0x3C00], 2)
    c.store(64 + 60, 4, 1)
    c.asm("li t0, 0x8000000000080000\n csrw 0x7d0, t0\n la a0, data\n addi a1, a0, 64\n csrw 0x82a, a1")
    for moved in (0, 1):
        c.asm(f"{'li t0, 0x4400' if moved else 'li t0, 0x3800'}\n sh t0, 0(a0)\n li a5, 1\n rt.bbox a4, a0, flags=PACK_HINT\n bp.f 1f\n li a5, 2\n1: nop")
        c.observe("a5", 1 if moved else 2, "the branch is taken exactly on a miss")
        c.observe("a4", 0xFC007C00 if moved else 1 << 63 | 0x4000 << 16 | 0x3C00, "the packed result")
    suite.add(c)
    c = Case("xphmg/forms/rt-second-example", "RT-280 RT-155")
    put(c, 0, [0x3E800000, 0x3E800000, ONE, 0, 0, 0xBF800000, 0, 0x7F800000])
    put(c, 64, [0, 1])
    put(c, 128, [0, 0, 0, ONE, 0, 0, 0, ONE, 0])
    c.asm(FP32_STATE + "\n la a0, data\n addi a1, a0, 128\n sd a1, 72(a0)\n addi a1, a0, 64\n csrw 0x82b, a1")
    for turned in (0, 1):
        if turned:
            c.asm(f"li t0, 0xbf800000\n sw t0, 8(a0)\n li t0, {ONE:#x}\n sw t0, 20(a0)")
        for flags in (0, 1):
            c.asm(f"rt.tri a4, a0, flags={flags}")
            c.observe("a4", int(not (turned and flags)), f"{'back' if turned else 'front'} face, CULL_BACK {flags}")
    suite.add(c)


def add(suite):
    for part in (words, selector, banks, domains, rt_forms, rt_jobs, examples):
        part(suite)
