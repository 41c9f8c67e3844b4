"""GFX instructions over many lanes of RSV at once, with windows in memory: whole waves of ordinary numbers, some with a lane that is none,
with and without predicates. Each runs twice, with clear sticky flags and with those of the first time. What a lane does is gfx_model.py's."""
import gfx_model as gfx
from effective import ELEMENTS, Eff, state
from hart import Case
from hart_numbers import CLEAR, LOOK, one, ordinary, seen_flags, seeded, some
from xphmg.graphics import AMEM, BMEM, DMEM, EN, FILTER, HISEL, NORM, SRGB, bind, fraction_of, index_of, place, texture

NAMES = ("xphmg/waves",)
WINDOWS = EN | 2 | AMEM | BMEM | DMEM
SIZES = (8, 16, 24, 40, 64, 7, 33)


class Wave:
    """A case of many waves: arrays A, B and R of each lie in a table; R twice, for both runs."""

    def __init__(self, name, rows):
        self.c, self.random = Case("xphmg/waves/" + name, rows), seeded("waves", name)

    def numbers(self, eff, slots, lanes, odd):
        """An array of slots by lanes; `odd`: one lane in eight may hold anything."""
        return [[some(eff, self.random, 0.5) if odd and lane % 8 == odd else ordinary(eff, self.random) for lane in range(lanes)] for _ in range(slots)]

    def dump(self, label, size, what):
        """Bytes of a table into the signature."""
        at, n = 8 * len(self.c.seen), size // 8
        self.c.asm(f"la t0, {label}\n li t1, {at}\n add t1, t1, t6\n li t2, {n}\nwave_{at}:\n ld t3, 0(t0)\n sd t3, 0(t1)\n addi t0, t0, 8\n addi t1, t1, 8\n addi t2, t2, -1\n bnez t2, wave_{at}")
        self.c.seen += [(f"{what}, byte {8 * k}", int.from_bytes(self.data[8 * k:8 * k + 8], "little")) for k in range(n)]

    def run(self, eff, config, text, lanes, mask, a, b, r, lane, what, survivors=False, before=""):
        """`lane(e, i)`: what lane i leaves, {slot of R: element} or a bit; `text` reads a0, a1 and writes s3."""
        c, e = self.c, eff.but(flags=0)
        arrays = [[row[i] for row in rows for i in range(lanes)] for rows in (a, b, r)]
        after, bits = [list(row) for row in r], 0
        for i in range(lanes):
            if mask >> i & 1:
                found = lane(e, i)
                if survivors:
                    bits |= found << i
                else:
                    for slot, element in found.items():
                        after[slot][i] = element
        names = [f"wave_{len(c.tables)}_{k}" for k in "abrs"]
        for name, array in zip(names, arrays + arrays[2:]):
            c.table(name, eff.array(array) or bytes(8))
        self.data = eff.array([x for row in after for x in row]) if after else b""
        self.data += bytes(-len(self.data) % 8)
        bank = 1 if mask != (1 << lanes) - 1 else 0
        c.asm(f"{eff.setup()}\n li t0, {config:#x}\n csrw 0x800, t0\n li t0, {1 << 63 | 11:#x}\n csrw 0x7fa, t0\n li t0, {lanes - 1 | bank << 10:#x}\n csrw 0x7f8, t0")
        c.asm(f"li t0, {mask:#x}\n pmlow.wr 1, t0\n srli t0, t0, 32\n pmhigh.wr 1, t0\n {before}")
        for turn, result in enumerate(names[2:]):
            how = f"{what}, {lanes} lanes, mask {mask:x}, {('first', 'second')[turn]} time"
            c.asm(f"{'' if turn else CLEAR}\n la a0, {names[0]}\n la a1, {names[1]}\n {'li s3, 0' if survivors else f'la s3, {result}'}\n pmclr 2\n svon.one\n {text}\n {LOOK}\n mv a5, s3")
            if survivors:
                c.observe("a5", bits, f"survivors of {how}")
            for register, value in zip(("a6", "a7"), seen_flags(eff, e.flags)):
                c.observe(register, value, f"{register} after {how}")
            if self.data and not survivors:
                self.dump(result, len(self.data), how)

    def mask(self, lanes, k):
        return (1 << lanes) - 1 if k % 3 else self.random.getrandbits(lanes)


def column(rows, i):
    return [row[i] for row in rows]


def states(name):
    """The usual state first, then some that take other ways."""
    return [state(name)] * 3 + [state(name, ACCW=1), state(name, FP_RMODE=2), state(name, DENORM_FTZ=1), state(name, Q=1, SCALE_SH=0xFE)]


def interpolation(suite):
    w = Wave("interp", "GFX-155 GFX-156 GFX-157 GFX-158 GFX-159 GFX-160 GFX-161 GFX-162 GFX-163")
    forms = [(m, p, b, nc) for nc in (3, 2, 0) for m in (0, 1) for p in (0, 1) for b in (0, 1)]
    for n, (m, p, b, nc) in enumerate(forms + forms):
        eff, lanes, channels, odd = (states("fp32") + [state("fp16")])[n % 8], SIZES[n % len(SIZES)], nc + 1, (n % 4 == 3) * 5
        if n >= len(forms):  # and each in the usual state, over whole groups of lanes
            eff, lanes, odd = state("fp32"), SIZES[n % 5], 0
        a, bias, taps = (w.numbers(eff, count, lanes, odd) for count in (12, 4, 4 * channels))
        for slot in (2, 3):
            a[slot] = [fraction_of(eff, w.random) if odd else w.random.choice((0, one(eff), one(eff) - w.random.randrange(1, 1 << 9))) for _ in range(lanes)]

        def lane(e, i):
            t, q = column(taps, i), column(a, i)
            out = gfx.interp(e, [t[j * channels:(j + 1) * channels] for j in range(4)], q[2], q[3], q[4:8] if m else None, q[8:12] if p else None,
                             column(bias, i) if b else None)
            return {4 * channels + k: x for k, x in enumerate(out)}
        w.run(eff, WINDOWS, f"gfx.interp s3, a0, M={m}, P={p}, B={b}, nc={nc}", lanes, w.mask(lanes, n), a, bias, taps + w.numbers(eff, channels, lanes, 0), lane,
              f"M {m} P {p} B {b}, {channels} channels")
    suite.add(w.c)


def shading(suite):
    w = Wave("shade", "GFX-164 GFX-165 GFX-166 GFX-167 GFX-168 GFX-169 GFX-170 GFX-171 GFX-172 GFX-173 GFX-174")
    forms = [(op, light, norm) for op in range(4) for light in (0, 1) for norm in (0, 1)]
    for n, (op, light, norm) in enumerate(forms + forms):
        eff, lanes, nc, odd = states("fp32")[n % 7], SIZES[n % len(SIZES)], (0, 3, 2)[n % 3], (n % 5 == 4) * 2
        if n >= len(forms):
            eff, lanes, odd = state("fp32"), SIZES[n % 5], 0
        normal, light_of, r = (w.numbers(eff, count, lanes, odd) for count in (4, 4, 8))

        def lane(e, i):
            x = column(r, i)
            out = gfx.shade(e, x[:nc or 4], x[4:4 + (nc or 4)], op, (column(normal, i)[:3], column(light_of, i)[:3]) if light else None, norm)
            return dict(enumerate(out))
        w.run(eff, WINDOWS, f"gfx.shade s3, a0, OO={op}, L={light}, N={norm}, nc={nc}", lanes, w.mask(lanes, n), normal, light_of, r, lane, f"OO {op} L {light} N {norm}, nc {nc}")
    suite.add(w.c)


# ---- culling ----

def set_planes(c, eff, planes):
    for k, p in enumerate(planes):
        bits = sum(x << i * eff.native for i, x in enumerate(p))
        c.asm(f"csrw 0x800, x0\n li t0, {bits & (1 << 64) - 1:#x}\n csrw {0x804 + k:#x}, t0\n li t0, {HISEL:#x}\n csrw 0x800, t0\n li t0, {bits >> 64:#x}\n csrw {0x804 + k:#x}, t0")


def points(suite):
    w = Wave("cull-points", "GFX-031 GFX-036 GFX-037 GFX-232 GFX-234 GFX-235 GFX-236 GFX-237 GFX-238 GFX-239 GFX-378")
    for n in range(14):
        eff, lanes, tt, keep, index = states("fp32")[n % 7], SIZES[n % len(SIZES)], n % 4, n >> 1 & 1, n % 6
        planes = [column(w.numbers(eff, 4, 1, 0), 0) for _ in range(6)]
        if n % 2:
            planes = [[ordinary(eff, w.random, 1) & eff.element.sign - 1 for _ in range(3)] + [ordinary(eff, w.random)] for _ in range(6)]
        set_planes(w.c, eff, planes)
        at, own = w.numbers(eff, 4, lanes, (n % 5 == 4) * 3), w.numbers(eff, 4, lanes, 0)
        for text, which in (("frustum", planes), (f"plane s3, a0, s=0, idx={index}", planes[index:index + 1]), ("plane s3, a0, s=1", None)):
            text = f"gfx.cull.{text}{' s3, a0' if text == 'frustum' else ''}, tt={tt}, k={keep}, pd=2"
            w.run(eff, WINDOWS, text, lanes, w.mask(lanes, n), at, own, [[0] * lanes], lambda e, i: gfx.cull(e, which or [column(own, i)], column(at, i), tt, keep, 0, 0), text, survivors=True)
    suite.add(w.c)


def boxes(suite):
    w = Wave("cull-boxes", "GFX-241 GFX-243 GFX-244 GFX-245")
    for n in range(28):
        eff, lanes, ee, keep, contain = states("fp32")[n % 7] if n < 16 else state("fp32"), SIZES[n % len(SIZES)], n % 3, n >> 1 & 1, n >> 2 & 1
        planes = [[ordinary(eff, w.random) for _ in range(4)] for _ in range(6)]
        if n % 3:  # boxes on one side of most planes
            planes = [[x | eff.element.sign if k < 3 or p < 5 else x for k, x in enumerate(plane)] for p, plane in enumerate(planes)]
        set_planes(w.c, eff, planes)
        at = w.numbers(eff, 6, lanes, (n % 5 == 4) * 6)
        text = f"gfx.cull.aabb s3, a0, ee={ee}, f=0, k={keep}, x={contain}, pd=2"
        w.run(eff, WINDOWS, text, lanes, w.mask(lanes, n), at, [], [[0] * lanes], lambda e, i: gfx.cull_box(e, planes, column(at, i), ee, contain, keep), text, survivors=True)
    suite.add(w.c)


# ---- textures and tables ----

def sampling(suite):
    for kind, formats in (("rgba8", (0x30,)), ("others", (0x38, 0x31, 0x34, 0x41, 0x3a, 0x00, 0x20))):
        w = Wave(f"sample-{kind}", "GFX-117 GFX-119 GFX-120 GFX-125 GFX-130 GFX-123 GFX-131")
        for n in range(16):
            eff = state(("fp32", "fp32", "fp16", "fp32")[n // 4]) if n % 6 else state("fp32", FP_RMODE=1)
            lanes, wrap, bilinear = SIZES[n % len(SIZES)], n % 4, int(n % 5 != 0)
            t = texture(w.random, formats[n % len(formats)], w.random.randrange(2, 9), w.random.randrange(2, 7), wrap=wrap, border=[ordinary(eff, w.random) for _ in range(4)],
                        normalized=bool(n >> 1 & 1))
            bind(w.c, t, eff)
            a = [[place(eff, w.random, size, t.normalized) for _ in range(lanes)] for size in (t.w, t.h)]
            if n % 3 == 2:
                a[n % 2][lanes - 1] = eff.element.inf
            config, srgb = WINDOWS | (NORM if t.normalized else 0) | wrap << 4, n & 1
            lane = lambda e, i: dict(enumerate(gfx.sample(e, t, a[0][i], a[1][i], bilinear, srgb)))  # noqa: E731
            w.run(eff, config | (SRGB if srgb else 0), f"gfx.sample s3, a0, m={bilinear}, f={srgb}", lanes, w.mask(lanes, n), a, [], [[0] * lanes] * 4, lane,
                  f"format {t.fmt:#x}, {t.w} x {t.h}, wrap {wrap}, m {bilinear}")
        suite.add(w.c)


def gathering(suite):
    for part, formats in (("rgba8", (0x30,)), ("others", (0x38, 0x31, 0x41, 0x3a, 0x00, 0x43))):
        w = Wave(f"gather-{part}", "GFX-135 GFX-139 GFX-142 GFX-143 GFX-144 GFX-152")
        for n in range(18):
            eff = state("fp32" if n % 6 != 5 else "fp16") if n % 9 else state("fp32", FP_RMODE=2)
            lanes, wrap, taps, p, s = SIZES[n % len(SIZES)], n % 4, (4, 1, 9, 15, 2, 16)[n % 6], n >> 1 & 1, n >> 2 & 1
            if n % 9 == 4:
                taps = 0
            t = texture(w.random, formats[n % len(formats)], w.random.randrange(2, 9), w.random.randrange(2, 7), wrap=wrap, border=[ordinary(eff, w.random) for _ in range(4)],
                        normalized=bool(n >> 1 & 1))
            bind(w.c, t, eff)
            # offsets of some texels, weights about 1/taps, now and then any number
            table = [[some(eff, w.random, 0.5) if n % 5 == 4 and k == 2 else place(eff, w.random, 2, False) for _ in range(2)] + [fraction_of(eff, w.random)] for k in range(16)]
            if n % 5 != 4:
                table = [[0 if eff.element.inf <= x & eff.element.sign - 1 else x for x in row] for row in table]
            w.c.table(f"offsets_{n}", eff.array([x for row in table for x in row]))
            a = [[place(eff, w.random, size, t.normalized) for _ in range(lanes)] for size in (t.w, t.h)]
            if n % 3:  # no lane that is none
                a = [[0 if eff.element.inf <= x & eff.element.sign - 1 else x for x in row] for row in a]
            srgb, bilinear = n % 3 == 1, n % 4 > 1
            config = WINDOWS | (NORM if t.normalized else 0) | wrap << 4 | (FILTER if bilinear else 0) | (SRGB if srgb else 0)
            number = min(taps, 15)
            w.run(eff, config, f"gfx.sample.gath s3, a0, n={number}, p={p}, s={s}", lanes, w.mask(lanes, n), a, [], [[0] * lanes] * 4,
                  lambda e, i: dict(enumerate(gfx.gather(e, t, a[0][i], a[1][i], table[:number], p, s, bilinear, srgb))),
                  f"format {t.fmt:#x}, {number} taps, p {p} s {s}, wrap {wrap}", before=f"la t0, offsets_{n}\n csrw 0x815, t0")
        suite.add(w.c)


def no_texture(suite):
    """Width or height 0: nothing is fetched, and every channel is 0 where the coordinates are numbers."""
    w = Wave("no-texture", "GFX-117 GFX-135")
    for n in range(8):
        eff, lanes = state(("fp32", "fp16")[n & 1]), SIZES[n % 7]
        t = texture(w.random, 0x30, 3, 3)
        bind(w.c, t, eff)
        w.c.table(f"none_{n}", eff.array([one(eff)] * 48))
        w.c.asm(f"li t0, {0 if n & 2 else 3 << 32:#x}\n csrw 0x80a, t0\n la t0, none_{n}\n csrw 0x815, t0")
        a = w.numbers(eff, 2, lanes, 3)

        def lane(e, i):
            x, y = e.coordinate(a[0][i]), e.coordinate(a[1][i])
            acc = gfx.nowhere(e) if x is None or y is None else [0] * 4
            return {c: e.narrow(v, c) for c, v in enumerate(acc)}
        text = "gfx.sample s3, a0, m=1, f=0" if n & 4 else "gfx.sample.gath s3, a0, n=3, p=1, s=0"
        w.run(eff, WINDOWS, text, lanes, w.mask(lanes, n), a, [], [[0] * lanes] * 4, lane, f"no texture, {text[:15]}")
    suite.add(w.c)


def again(suite):
    """The same instruction with other windows, and with another state, between repetitions."""
    w = Wave("sample-again", "GFX-117 GFX-125 GFX-130 RSV-103")
    eff, lanes, c = state("fp32"), 16, w.c
    t = texture(w.random, 0x30, 5, 4)
    bind(c, t, eff)
    c.asm(f"{eff.setup()}\n li t0, {WINDOWS:#x}\n csrw 0x800, t0\n li t0, {lanes - 1:#x}\n csrw 0x7f8, t0")
    inputs, outputs = [], 3
    for k in range(2):
        a = [[place(eff, w.random, size, False) for _ in range(lanes)] for size in (t.w, t.h)]
        inputs.append(a)
        c.table(f"again_in_{k}", eff.array([x for row in a for x in row]))
    for k in range(outputs):
        c.table(f"again_out_{k}", bytes(16 * lanes))
    plan = [(0, 0), (0, 0), (0, 1), (0, 1), (1, 1), (1, 2), (0, 2), (1, 0)]
    c.asm("la s4, again_in_0\n la s5, again_in_1\n la s6, again_out_0\n la s7, again_out_1\n la s8, again_out_2")
    for n, (source, target) in enumerate(plan):
        c.asm(f"li t0, {1 << 63 | 20 + source:#x}\n csrw 0x7f9, t0\n li t0, {1 << 63 | 22 + target:#x}\n csrw 0x7fb, t0\n svon.one\n gfx.sample s3, a0, m=1, f=0")
        for other in range(outputs):
            last = [s for s, o in plan[:n + 1] if o == other]
            rows = [gfx.sample(eff.but(flags=0), t, inputs[last[-1]][0][i], inputs[last[-1]][1][i], 1, 0) for i in range(lanes)] if last else [[0] * 4] * lanes
            w.data = eff.array([rows[i][k] for k in range(4) for i in range(lanes)])
            w.dump(f"again_out_{other}", len(w.data), f"result {other} after {n + 1} samples")
    suite.add(c)


def zero_points(suite):
    """A zero point for each channel, from the table of the machine."""
    for name in ("int8", "int16"):
        w = Wave(f"zero-points-{name}", "GFX-155 GFX-164")
        zptab = [w.random.getrandbits(8) for _ in range(256)]
        for n in range(32):
            w.c.asm(f"li t0, {0x7D80 + n:#x}\n csrw 0x840, t0\n li t0, {sum(b << 8 * k for k, b in enumerate(zptab[8 * n:8 * n + 8])):#x}\n csrw 0x841, t0")
        for accw in (0, 2):
            m, alt = ELEMENTS[name]
            eff, lanes = Eff(m | {"Q": 1, "ZP_EN": 2, "ZP": w.random.getrandbits(8), "ACCW": accw, "SAT": 1}, dict(alt), zptab), 8
            r = w.numbers(eff, 8, lanes, 0)
            w.run(eff, WINDOWS, "gfx.shade s3, a0, OO=0, L=0, N=0, nc=0", lanes, 255, [[0] * lanes] * 4, [], r, lambda e, i: dict(enumerate(gfx.shade(e, column(r, i)[:4], column(r, i)[4:], 0))), f"sum, ACCW {accw}")
        suite.add(w.c)


def tables(suite):
    w = Wave("lut1d", "GFX-208 GFX-209 GFX-210 GFX-211 GFX-212 GFX-213 GFX-214")
    for n in range(12):
        eff = (state("int16", ACCW=2, Q=1, SCALE_SH=0xEC, UNS=1), state("int32", ACCW=2, Q=1, SCALE_SH=0xE8), state("fp32"), state("int16", ACCW=2))[n % 4]
        lanes, linear, normalized, logs = (8, 16, 5)[n % 3], n & 1, n >> 1 & 1, 2
        curves = [[some(eff, w.random, 0.1) for _ in range(1 << logs)] for _ in range(4)]
        w.c.table(f"curves_{n}", eff.array([x for curve in curves for x in curve]))
        a = [[index_of(eff, w.random, 1 << logs, normalized) if n % 4 > 1 else w.random.getrandbits(eff.native - 1) for _ in range(lanes)] for _ in range(4)]
        before = f"la t0, curves_{n}\n csrw 0x813, t0\n li t0, {normalized << 2 | logs << 4 | logs << 8 | logs << 12:#x}\n csrw 0x814, t0"
        w.run(eff, WINDOWS, f"gfx.lut1d s3, a0, i={linear}, c=1", lanes, w.mask(lanes, n), a, [], [[0] * lanes] * 4,
              lambda e, i: dict(enumerate(gfx.lut1d(e, column(a, i), curves, linear, normalized))), f"i {linear}, normalized {normalized}", before=before)
    suite.add(w.c)


def add(suite):
    for part in (interpolation, shading, points, boxes, sampling, gathering, no_texture, again, zero_points, tables):
        part(suite)
