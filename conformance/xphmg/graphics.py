"""GFX.INTERP, SHADE, LUT1D, LUT3D, SAMPLE, SAMPLE.GATH, ZTEST, ZWRITE and CULL by gfx_model.py. Operands lie in memory windows (GFXCFG
AMEM, BMEM, DMEM), so that every format fits."""
from fractions import Fraction

import gfx_model as gfx
from effective import ELEMENTS, state
from hart import Case
from hart_numbers import CLEAR, LOOK, one, seen_flags, seeded, some, special

NAMES = ("xphmg/graphics",)
EN, CONVERT, FILTER, SRGB, NORM, AMEM, BMEM, DMEM, HISEL = 1, 2, 4, 8, 0x40, 1 << 16, 1 << 17, 1 << 18, 1 << 19
WINDOWS = EN | CONVERT | AMEM | BMEM | DMEM
A, B, R, SIZE = 0, 128, 192, 384
ROUNDS = [{"FP_RMODE": r & 3, "FP_RMODE2": r >> 2} for r in (1, 2, 3, 4)]
POLICIES = [{}, {"ACCW": 1}, {"ACCW": 2}, {"ACCW": 3}, {"SAT": 1}, {"DENORM_FTZ": 1, "NAN_POL": 1}, {"NAN_POL": 2, "SAT": 1, "SAT_MODE": 1}, {"Q": 1, "SCALE_SH": 0xFC},
            {"Q": 1, "UNS": 1, "ZP_EN": 1, "ZP": 5, "ACCW": 2, "SCALE_SH": 0xFA}] + ROUNDS
READ = "s4 s5 s6 s7 s9 s10".split()


def image(*pieces, size=SIZE):
    data = bytearray(size)
    for at, piece in pieces:
        data[at:at + len(piece)] = piece
    return bytes(data)


def window_sweep(c, eff, config, text, tests, rows_of_a, more=()):
    """tests: (label, A elements, B elements, R elements before, R elements after, flags). The destination is s3, A is a0; B is where it
    follows A. `text` has the instruction; `more`: registers with expected values per test."""
    records, expected, labels = [], [], []
    for label, a, b, before, after, flags, *extra in tests:
        records.append(image((A, eff.array(a)), (B, eff.array(b)), (R, eff.array(before))))
        end = image((0, eff.array(before)), (0, eff.array(after)), size=SIZE - R)
        changed = len(eff.array(after))
        first = max(0, (changed - 40) // 8 * 8)
        expected.append([int.from_bytes(end[first + 8 * k:first + 8 * k + 8], "little") for k in range(len(READ))] + list(extra) + seen_flags(eff, flags))
        labels.append(label)
    follow = 10 + -(-rows_of_a // (1 << eff.pack))
    c.asm(f"{eff.setup()}\n li t0, {config:#x}\n csrw 0x800, t0")
    loads = "\n ".join(f"ld {r}, {R + first + 8 * k}(s0)" for k, r in enumerate(READ))
    c.sweep(f"{CLEAR}\n mv a0, s0\n addi x{follow}, s0, {B}\n addi s3, s0, {R}\n {text}\n {LOOK}\n {loads}", READ + list(more) + ["a6", "a7"], records, expected, labels)


def named(values):
    return " ".join(f"{v:x}" for v in values)


def fraction_of(eff, rng):
    """A coordinate fraction, with the ends among them."""
    roll = rng.random()
    if eff.integer:
        half = 1 << eff.native // 2
        return rng.choice((0, half & (1 << eff.native) - 1, rng.getrandbits(eff.native // 2), rng.getrandbits(eff.native)))
    f = eff.element
    if roll < 0.3:
        return rng.choice((0, one(eff), f.sign))
    if roll < 0.4:
        return some(eff, rng)
    return one(eff) - rng.randrange(1, 3 << (7 if f.name == "BF16_LITE" else f.p - 1))


# ---- interpolation and shading ----

def interpolation(suite):
    forms = [(m, p, b, nc) for m in (0, 1) for p in (0, 1) for b in (0, 1) for nc in range(4)]
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/interp-{name}", "GFX-155 GFX-156 GFX-157 GFX-158 GFX-159 GFX-160 GFX-161 GFX-162 GFX-163 GFX-266"), seeded("interp", name)
        for n, policy in enumerate(POLICIES):
            for m, p, b, nc in forms[n % 8::8] if n else forms:
                eff, tests = state(name, **policy), []
                for _ in range(3):
                    channels, e = nc + 1, eff.but(flags=0)
                    a = [some(eff, rng, 0.15) for _ in range(12)]
                    a[2], a[3] = fraction_of(eff, rng), fraction_of(eff, rng)
                    taps, bias = [[some(eff, rng, 0.15) for _ in range(channels)] for _ in range(4)], [some(eff, rng, 0.15) for _ in range(4)]
                    out = gfx.interp(e, taps, a[2], a[3], a[4:8] if m else None, a[8:12] if p else None, bias if b else None)
                    before = [x for t in taps for x in t]
                    tests.append((f"M {m} P {p} B {b}, {channels} channels, taps {named(before)}, A {named(a)}", a, bias, before, before + out, e.flags))
                window_sweep(c, eff, WINDOWS, f"gfx.interp s3, a0, M={m}, P={p}, B={b}, nc={nc}", tests, 12)
        suite.add(c)


def shading(suite):
    forms = [(op, light, norm, nc) for op in range(4) for light in (0, 1) for norm in (0, 1) for nc in range(4)]
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/shade-{name}", "GFX-164 GFX-165 GFX-166 GFX-167 GFX-168 GFX-169 GFX-170 GFX-171 GFX-172 GFX-173 GFX-174 GFX-391"), seeded("shade", name)
        for n, policy in enumerate(POLICIES):
            for op, light, norm, nc in forms[n % 16::16] if n else forms[::2]:
                eff, tests = state(name, **policy), []
                for k in range(3):
                    channels, e = nc or 4, eff.but(flags=0)
                    r, normal, l = ([some(eff, rng, 0.15) for _ in range(count)] for count in (8, 4, 4))
                    if k == 2 and op == 1:
                        r[4:4 + channels] = r[:channels]  # a difference of zeros
                    out = gfx.shade(e, r[:channels], r[4:4 + channels], op, (normal[:3], l[:3]) if light else None, norm)
                    tests.append((f"OO {op} L {light} N {norm}, {channels} channels, R {named(r)}", normal, l, r, out + r[len(out):], e.flags))
                window_sweep(c, eff, WINDOWS, f"gfx.shade s3, a0, OO={op}, L={light}, N={norm}, nc={nc}", tests, 4)
        suite.add(c)


# ---- tables ----

def tables(suite):
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/lut1d-{name}", "GFX-208 GFX-209 GFX-210 GFX-211 GFX-212 GFX-213 GFX-214 GFX-088 GFX-089 GFX-090 GFX-091"), seeded("lut1d", name)
        d = Case(f"xphmg/graphics/lut3d-{name}", "GFX-087 GFX-207 GFX-208 GFX-209 GFX-210 GFX-211 GFX-214")
        for n, policy in enumerate(POLICIES):
            eff = state(name, **policy)
            logs, plus = (rng.randrange(1, 4), rng.randrange(4), rng.randrange(1, 3)), rng.randrange(2)
            sizes = [(1 << g) + plus for g in logs]
            for linear, alpha, normalized in ((0, 0, 0), (1, 1, 0), (1, 0, 1), (0, 1, 1)):
                lut = 1 << 2 if normalized else 0
                fmt = lut | plus << 3 | logs[0] << 4 | logs[1] << 8 | logs[2] << 12
                curves = [[some(eff, rng, 0.1) for _ in range(s)] for s in sizes + [sizes[0]]][:4 if alpha else 3]
                cube = {(r, g, b): [some(eff, rng, 0.1) for _ in range(4 if alpha else 3)] for b in range(sizes[2]) for g in range(sizes[1]) for r in range(sizes[0])}
                flat = [x for b in range(sizes[2]) for g in range(sizes[1]) for r in range(sizes[0]) for x in cube[r, g, b]]
                for case, dim, data, word in ((c, 0, [x for curve in curves for x in curve], "gfx.lut1d"), (d, 1, flat, "gfx.lut3d")):
                    tests = []
                    for _ in range(4):
                        e, a, before = eff.but(flags=0), [index_of(eff, rng, max(sizes), normalized) for _ in range(4)], [some(eff, rng) for _ in range(4)]
                        out = gfx.lut1d(e, a, curves, linear, normalized) if dim == 0 else \
                            gfx.lut3d(e, a, sizes, lambda *k: cube[k], 4 if alpha else 3, linear, normalized)
                        tests.append((f"i {linear} c {alpha} norm {normalized}, sizes {sizes}, A {named(a)}", a, [], before, out + before[len(out):], e.flags))
                    label = f"table_{len(case.tables)}"
                    case.table(label, eff.array(data))
                    case.asm(f"la t0, {label}\n csrw 0x813, t0\n li t0, {fmt | dim:#x}\n csrw 0x814, t0")
                    window_sweep(case, eff, WINDOWS, f"{word} s3, a0, i={linear}, c={alpha}", tests, 4)
        suite.add(c)
        suite.add(d)


def index_of(eff, rng, size, normalized):
    if eff.integer:
        return rng.choice((rng.randrange(size + 1), some(eff, rng))) & (1 << eff.native) - 1
    roll = rng.random()
    if roll < 0.25:
        return some(eff, rng, 0.8)
    if normalized:
        return fraction_of(eff, rng)
    e = eff.but(accw=0, q=0, shift=0, flags=0, sat=1, mixed=1)
    return e.narrow(e.cv(Fraction(rng.randrange(-4, 8 * size), 8)))


# ---- textures ----

def texture(rng, fmt, w, h, **options):
    def code():
        if fmt in gfx.PACKED:
            return [rng.getrandbits(high - low + 1) for high, low in gfx.PACKED[fmt]]
        bits, kind = gfx.channel_bits(fmt), fmt & 15
        if kind in gfx.FLOATS and rng.random() < 0.8:
            f = gfx.FLOATS[kind]
            value = ONES[f.name] + rng.randrange(-2 << f.p - 1, 1 << f.p - 1)
            return [value ^ (f.sign if rng.random() < 0.3 else 0) for _ in range((fmt >> 4) + 1)]
        return [rng.choice((rng.getrandbits(bits), 0, (1 << bits) - 1, 1 << bits - 1)) for _ in range((fmt >> 4) + 1)]
    return gfx.Texture(fmt, [[code() for _ in range(w)] for _ in range(h)], **options)


def bind(c, t, eff):
    """The CSRs of a texture; t0 is used. Rows are packed without a gap."""
    label = f"texture_{len(c.tables)}"
    data = t.bytes()
    c.table(label, data)
    swizzle = sum(s << 8 + 3 * k for k, s in enumerate(t.swizzle))
    border = sum(b << k * eff.native for k, b in enumerate(t.border))
    c.asm(f"la t0, {label}\n csrw 0x802, t0\n li t0, {len(data) // t.h:#x}\n csrw 0x803, t0\n li t0, {t.w | t.h << 32:#x}\n csrw 0x80a, t0\n "
          f"li t0, {t.fmt | swizzle:#x}\n csrw 0x80b, t0\n li t0, {t.wrap}\n csrw 0x801, t0\n li t0, {EN | HISEL:#x}\n csrw 0x800, t0\n "
          f"li t0, {border >> 64 & (1 << 64) - 1:#x}\n csrw 0x80c, t0\n csrw 0x800, x0\n li t0, {border & (1 << 64) - 1:#x}\n csrw 0x80c, t0")


def place(eff, rng, size, normalized):
    """A coordinate around 0..size or 0..1."""
    scale = 1 if normalized else size
    value = Fraction(rng.randrange(-64, 192), 128) * scale
    if eff.integer:
        return (value * (1 << eff.native // 2)).__floor__() & (1 << eff.native) - 1
    if rng.random() < 0.15:
        return rng.choice(special(eff))
    e = eff.but(accw=0, q=0, shift=0, flags=0, sat=1, mixed=1)
    return e.narrow(e.cv(value))


ONES = {"FP32": 0x3F800000, "FP16": 0x3C00, "BF16": 0x3F80, "FP8_E4M3": 0x38, "FP8_E5M2": 0x3C}
FORMATS = [kind | n << 4 for kind, n in ((0, 3), (1, 3), (2, 3), (3, 3), (4, 1), (5, 3), (6, 0), (7, 2), (8, 3), (9, 3), (10, 3), (11, 1), (12, 3), (13, 3), (14, 1), (0, 0), (10, 0))] + \
    [0x40, 0x41, 0x42, 0x43]


def sampling(suite):
    base = "GFX-117 GFX-119 GFX-120 GFX-125 GFX-126 GFX-130 GFX-283 GFX-285 GFX-286 GFX-388 GFX-389"
    for fmt in FORMATS:
        c, rng = Case(f"xphmg/graphics/texture-{fmt:02x}", base + " GFX-041 GFX-046" + {0x30: " GFX-042", 0x33: " GFX-045", 0x38: " GFX-043", 0x39: " GFX-044"}.get(fmt, "")), seeded("texture", fmt)
        for n, policy in enumerate([{}, {"ACCW": 1}, {"ACCW": 2, "Q": 1, "SCALE_SH": 0xF8}, {"DENORM_FTZ": 1, "FP_RMODE": 1}, {"NAN_POL": 1, "FP_RMODE": 3}]):
            for name in ("fp32", "fp16", "int16"):
                eff = state(name, **policy)
                t = texture(rng, fmt, rng.randrange(1, 5), rng.randrange(1, 5), swizzle=[rng.choice((0, 0, 1, 2, 3, 4, 5, 6, 7)) for _ in range(4)], wrap=rng.randrange(4),
                            border=[some(eff, rng) for _ in range(4)], normalized=bool(n & 1))
                bind(c, t, eff)
                for m in (0, 1):
                    for f in (0, 1):
                        sample_sweep(c, eff, t, rng, m, f)
        suite.add(c)
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/sample-{name}", base + " GFX-095 GFX-097 GFX-098 GFX-099 GFX-100 GFX-266 GFX-128 GFX-129"), seeded("sample", name)
        for n, policy in enumerate(POLICIES):
            eff = state(name, **policy)
            t = texture(rng, (0x30, 0x38, 0x31, 0x40)[n % 4], 4, 3, wrap=n % 4, border=[some(eff, rng) for _ in range(4)], normalized=bool(n & 2))
            bind(c, t, eff)
            for m in (0, 1):
                sample_sweep(c, eff, t, rng, m, n & 1, 4)
        suite.add(c)
    for wrap, (word, row) in enumerate((("clamp", "023"), ("repeat", "024"), ("mirror", "025"), ("border", "026"))):
        c, rng = Case(f"xphmg/graphics/wrap-{word}", f"GFX-{row} GFX-123 GFX-131 GFX-287" + (" GFX-132 GFX-048 GFX-047" if wrap == 3 else "")), seeded("wrap", wrap)
        for name in ("fp32", "fp16", "int16", "bf16"):
            for normalized in (False, True):
                eff = state(name)
                t = texture(rng, 0x32, 4, 3, wrap=wrap, border=[some(eff, rng, 0) for _ in range(4)], normalized=normalized)
                bind(c, t, eff)
                for m in (0, 1):
                    sample_sweep(c, eff, t, rng, m, 0, 10)
        suite.add(c)
    c, rng = Case("xphmg/graphics/srgb", "GFX-018 GFX-122 GFX-133 GFX-134 GFX-360"), seeded("srgb")
    for name, policy in [("fp32", r) for r in [{}] + ROUNDS] + [("fp16", {"ACCW": 1, **r}) for r in [{}] + ROUNDS] + [("fp32", {"DENORM_FTZ": 1}), ("int16", {"ACCW": 2, "Q": 1, "SCALE_SH": 0xF4})]:
        eff = state(name, **policy)
        t = gfx.Texture(0x30, [[[(17 * x + 60 * y + 5 * k * k) & 255 for k in range(4)] for x in range(4)] for y in range(4)])
        bind(c, t, eff)
        for m in (0, 1):
            sample_sweep(c, eff, t, rng, m, 1, 12)
            sample_sweep(c, eff, t, rng, m, 1, 2, False)
    suite.add(c)


def sample_sweep(c, eff, t, rng, m, f, count=3, srgb=True):
    tests = []
    for _ in range(count):
        e, u, v = eff.but(flags=0), place(eff, rng, t.w, t.normalized), place(eff, rng, t.h, t.normalized)
        out = gfx.sample(e, t, u, v, m, f and srgb)
        before = [some(eff, rng) for _ in range(4)]
        tests.append((f"format {t.fmt:#x}, m {m} f {f}, u v {u:x} {v:x}", [u, v], [], before, out, e.flags))
    window_sweep(c, eff, WINDOWS | (SRGB if srgb else 0) | (NORM if t.normalized else 0) | t.wrap << 4, f"gfx.sample s3, a0, m={m}, f={f}", tests, 1)


def gathering(suite):
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/gather-{name}", "GFX-135 GFX-137 GFX-139 GFX-140 GFX-141 GFX-142 GFX-143 GFX-144 GFX-145 GFX-146 GFX-147 GFX-148 GFX-149 GFX-152" +
                      (" GFX-150" if name.startswith("int") else " GFX-151")), seeded("gather", name)
        for n, policy in enumerate(POLICIES):
            eff = state(name, **policy)
            t = texture(rng, (0x38, 0x30, 0x32)[n % 3], 4, 4, wrap=n % 4, border=[some(eff, rng) for _ in range(4)], normalized=False)
            bind(c, t, eff)
            for taps in (1, 3, 8, 15):
                p, s = rng.randrange(2), rng.randrange(2)
                table = [[place(eff, rng, 2, False), place(eff, rng, 2, False), fraction_of(eff, rng)] for _ in range(16)]
                label = f"offsets_{len(c.tables)}"
                c.table(label, eff.array([x for row in table for x in row]))
                tests = []
                for _ in range(2):
                    e, u, v = eff.but(flags=0), place(eff, rng, 4, False), place(eff, rng, 4, False)
                    out = gfx.gather(e, t, u, v, table[:taps], p, s, n & 1, n & 2)
                    tests.append((f"{taps} taps, p {p} s {s}, u v {u:x} {v:x}", [u, v], [], [some(eff, rng) for _ in range(4)], out, e.flags))
                c.asm(f"la t0, {label}\n csrw 0x815, t0")
                window_sweep(c, eff, WINDOWS | (FILTER if n & 1 else 0) | (SRGB if n & 2 else 0) | t.wrap << 4, f"gfx.sample.gath s3, a0, n={taps}, p={p}, s={s}", tests, 1)
        suite.add(c)


# ---- depth ----

def depth(suite):
    names = ("less", "lequal", "greater", "gequal", "equal", "nequal", "always", "never")
    for compare, word in enumerate(names):
        c, rng = Case(f"xphmg/graphics/depth-{word}", f"GFX-{70 + compare:03d} GFX-175 GFX-183 GFX-187 GFX-188 GFX-184 GFX-080 GFX-078 GFX-115 GFX-116"), seeded("depth", compare)
        for name in ELEMENTS:
            if name in ("int4", "int2"):
                continue
            for policy in ({}, {"DENORM_FTZ": 1, "NAN_POL": 1}, {"NAN_POL": 2, "Q": 1, "UNS": 1}):
                for reverse, write, enable in ((0, 1, 1), (1, 1, 1), (0, 0, 1), (1, 1, 0)):
                    depth_sweep(c, state(name, **policy), rng, compare, reverse, write, enable)
        suite.add(c)


def depth_sweep(c, eff, rng, compare, reverse, write, enable):
    """Pixels of a 4 x 2 buffer, 32 bytes a row, and one beside it."""
    records, expected, labels = [], [], []
    for k in range(5):
        held = [[some(eff, rng) for _ in range(4)] for _ in range(2)]
        x, y = rng.randrange(4 + (k == 4)), rng.randrange(2)
        e, z = eff.but(flags=0), some(eff, rng)
        if k == 1 and x < 4:
            z = held[y][x]
        passes = x < 4 and gfx.depth_passes(e, z, held[y][x], compare, reverse)
        data = image((0, eff.array([z])), (8, (x | y << 16).to_bytes(8, "little")), (64, eff.array(held[0])), (96, eff.array(held[1])), size=128)
        after = bytearray(data)
        if passes and write and enable:
            row = list(held[y])
            row[x] = gfx.stored_depth(e, z)
            after[64 + 32 * y:64 + 32 * y + len(eff.array(row))] = eff.array(row)
        records.append(data)
        expected.append([int(passes), int(passes)] + [int.from_bytes(after[i:i + 8], "little") for i in (64, 72, 96, 104)] + seen_flags(eff, e.flags))
        labels.append(f"z {z:x} against {held[y][x] if x < 4 else 0:x} at {x} {y}, reverse {reverse}, w {write}, WRITE_EN {enable}")
    c.asm(f"{eff.setup()}\n li t0, {EN | AMEM:#x}\n csrw 0x800, t0\n li t0, {compare | enable << 3 | 1 << 4 | reverse << 5:#x}\n csrw 0x80e, t0\n "
          f"li t0, 32\n csrw 0x810, t0\n li t0, {4 | 2 << 32:#x}\n csrw 0x811, t0")
    c.sweep(f"{CLEAR}\n addi t1, s0, 64\n csrw 0x80f, t1\n pmclr 1\n gfx.ztest s3, s0, w={write}, pd=1\n pmlow.rd 1, a5\n {LOOK}\n ld s4, 64(s0)\n ld s5, 72(s0)\n ld s6, 96(s0)\n ld s7, 104(s0)",
            "s3 a5 s4 s5 s6 s7 a6 a7".split(), records, expected, labels)


# ---- culling ----

def culling(suite):
    for name in ELEMENTS:
        c, rng = Case(f"xphmg/graphics/cull-{name}", "GFX-031 GFX-036 GFX-037 GFX-038 GFX-232 GFX-233 GFX-234 GFX-235 GFX-236 GFX-237 GFX-238 GFX-239 GFX-261 GFX-262 GFX-378 GFX-379 GFX-380 GFX-050"), seeded("cull", name)
        for n, policy in enumerate(POLICIES):
            eff = state(name, **policy)
            planes = [[some(eff, rng, 0.1) for _ in range(4)] for _ in range(6)]
            for k, p in enumerate(planes):
                bits = sum(x << i * eff.native for i, x in enumerate(p))
                c.asm(f"csrw 0x800, x0\n li t0, {bits & (1 << 64) - 1:#x}\n csrw {0x804 + k:#x}, t0\n li t0, {HISEL:#x}\n csrw 0x800, t0\n li t0, {bits >> 64:#x}\n csrw {0x804 + k:#x}, t0")
            eps = rng.choice((0, 0x3F800000, 0xBF800000, 0x7FC00000, 0x3E000000, 0x7F800000))
            c.asm(f"li t0, {eps:#x}\n csrw 0x80d, t0")
            for tt in range(4):
                keep, guard, index, own = rng.randrange(2), rng.randrange(2), rng.randrange(6), rng.randrange(2)
                for text, used in ((f"gfx.cull.frustum s3, a0, tt={tt}, k={keep}, z={guard}, pd=2", None), (f"gfx.cull.plane s3, a0, tt={tt}, s={own}, k={keep}, z={guard}, idx={index}, pd=2", index)):
                    tests = []
                    for _ in range(4):
                        e, point, b = eff.but(flags=0), [some(eff, rng, 0.15) for _ in range(4)], [some(eff, rng, 0.1) for _ in range(4)]
                        which = planes if used is None else [b if own else planes[index]]
                        s = gfx.cull(e, which, point, tt, keep, guard, eps)
                        tests.append((f"{text}, point {named(point)}", point, b, [0], [0], e.flags, s, s))
                    window_sweep(c, eff, WINDOWS, f"pmclr 2\n {text}\n pmlow.rd 2, a5", tests, 4, ("s3", "a5"))
        suite.add(c)


def add(suite):
    for part in (interpolation, shading, tables, sampling, gathering, depth, culling):
        part(suite)
