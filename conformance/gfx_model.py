"""GFX instructions of one lane by gfx-semantics.md 4 to 15, with exact rationals: coordinates and coefficients are Fractions, None for
NaN, accumulators those of effective.py."""
from fractions import Fraction

import exact
from effective import Zero, fraction
from exact import BF16, E4M3, E5M2, FP16, FP32, FTZ_HIT, INF, NV, QNAN, QUIET, SIGNALING, SNAN, decode, is_subnormal

INFINITE = float("inf")


def floor16(value):
    """floor(value * 65536) of a real number, of +-inf the ends of 48 bits"""
    low, high = -(1 << 47), (1 << 47) - 1
    if value in (INFINITE, -INFINITE):
        return high if value > 0 else low
    return max(low, min(high, (value * 65536).__floor__()))


# ---- 4.3 ----

def coefficient(a):
    """16.16, for integer accumulators"""
    if a is None:
        return Fraction(0)
    if a in (INFINITE, -INFINITE):
        return Fraction((1 << 31) - 1 if a > 0 else -(1 << 31), 65536)
    return Fraction(max(-(1 << 31), min((1 << 31) - 1, (a * 65536).__floor__())), 65536)


def nest(e, tree, weights, channel):
    """A nest of lerps over a list of 2^n values, the first weight innermost; None stands for a value of weight zero. Values are
    functions, called when they are needed."""
    if e.accw < 2:
        def walk(items, depth):
            if depth < 0:
                return items[0]()
            a, half = weights[depth], len(items) // 2
            if a == 0:
                return walk(items[:half], depth - 1)
            if a == 1:
                return walk(items[half:], depth - 1)
            p, q = walk(items[:half], depth - 1), walk(items[half:], depth - 1)
            return e.fma(e.cv(a), e.sub(q, p, channel), p, channel)
        return walk(tree, len(weights) - 1)
    computed = False

    def walk(items, depth):
        nonlocal computed
        if depth < 0:
            return Fraction(items[0]())
        a, half = weights[depth], len(items) // 2
        if a == 0:
            return walk(items[:half], depth - 1)
        if a == 1:
            return walk(items[half:], depth - 1)
        computed = True
        p, q = walk(items[:half], depth - 1), walk(items[half:], depth - 1)
        return p + coefficient(a) * (q - p)
    value = walk(tree, len(weights) - 1)
    return e.after(e.rational(value), channel) if computed else int(value)


def constants(values):
    return [lambda v=v: v for v in values]


# ---- 9, 10, 11 ----

def interp(e, taps, fu, fv, weights=None, alphas=None, bias=None):
    """taps: four lists of NCH elements; fu, fv elements; 1/w, alpha and bias as elements or None"""
    channels = len(taps[0])
    u, v = e.coordinate(fu), e.coordinate(fv)
    out = []
    for c in range(channels):
        t = [e.widen(tap[c], c) for tap in taps]
        if alphas is not None and c < 3:
            t = [e.mul(x, e.widen(tap[3] if channels == 4 else alphas[j], 3), c) for j, (x, tap) in enumerate(zip(t, taps))]
        if weights is not None:
            q = [e.widen(w, 0) for w in weights]
            t = [e.mul(x, y, c) for x, y in zip(t, q)]
            den = nest(e, constants(q), [u, v], c)
        res = nest(e, constants(t), [u, v], c)
        if weights is not None:
            res = e.div(res, den, c)
        if bias is not None:
            res = e.add(res, e.widen(bias[c], c), c)
        out.append(e.narrow(res, c))
    return out


def shade(e, a, b, op, light=None, normalize=False):
    """light: (normal, light), three elements each"""
    n = len(a)
    x, y = [e.widen(v, k) for k, v in enumerate(a)], [e.widen(v, k) for k, v in enumerate(b)]
    if light is not None:
        d = e.dot([e.widen(v) for v in light[0]], [e.widen(v) for v in light[1]])
        if not e.is_nan(d) and not positive(e, d):
            d = 0
        for k in range(min(n, 3)):
            y[k] = e.mul(y[k], d, k)
    if op == 3:
        values = [e.dot(x, y)]
    else:
        values = [(e.add, e.sub, e.mul)[op](p, q, k) for k, (p, q) in enumerate(zip(x, y))]
    if normalize:
        s = e.dot(values, values)
        if zero(e, s):
            values = [0] * len(values)
        else:
            k = e.div(e.cv(1), e.sqrt(s))
            values = [e.mul(v, k, c) for c, v in enumerate(values)]
    return [e.narrow(v, c) for c, v in enumerate(values)]


def positive(e, acc):
    if e.accw >= 2:
        return acc > 0
    kind, sign, _, _ = decode(e.wide, acc)
    return kind != exact.ZERO and not sign


def zero(e, acc):
    return acc == 0 if e.accw >= 2 else decode(e.wide, acc)[0] == exact.ZERO


def lut_index(e, element, channel, size, normalized):
    """A Fraction in 0..size-1, None for NaN"""
    x = e.widen(element, channel)
    if e.accw >= 2:
        value = Fraction((e.value(x) * (size - 1 if normalized else 1) * 65536).__floor__(), 65536)
    else:
        if normalized:
            x = e.mul(x, e.cv(size - 1), channel)
        kind, sign, m, g = decode(e.wide, x)
        if kind >= QUIET:
            return None
        value = INFINITE * (-1) ** sign if kind == INF else fraction(kind, sign, m, g)
    return Fraction(max(0, min(size - 1, value)))


def lut1d(e, inputs, curves, linear, normalized):
    out = []
    for c, (element, curve) in enumerate(zip(inputs, curves)):
        x = lut_index(e, element, c, len(curve), normalized)
        if x is None:
            out.append(e.narrow(e.wide.nan, c))
            continue
        if linear:
            i = x.__floor__()
            tree = [lambda i=i: e.widen(curve[i], c), lambda i=i: e.widen(curve[i + 1], c)]
            acc = nest(e, tree, [x - i], c)
        else:
            acc = e.widen(curve[(x + Fraction(1, 2)).__floor__()], c)
        out.append(e.narrow(acc, c))
    return out


def lut3d(e, inputs, sizes, entry, channels, linear, normalized):
    """entry(r, g, b): elements"""
    x = [lut_index(e, v, c, n, normalized) for c, (v, n) in enumerate(zip(inputs, sizes))]
    out = []
    for c in range(channels):
        if None in x:
            out.append(e.narrow(e.wide.nan, c))
            continue
        if not linear:
            acc = e.widen(entry(*((v + Fraction(1, 2)).__floor__() for v in x))[c], c)
        else:
            i = [v.__floor__() for v in x]
            tree = [lambda k=k: e.widen(entry(i[0] + (k & 1), i[1] + (k >> 1 & 1), i[2] + (k >> 2))[c], c) for k in range(8)]
            acc = nest(e, tree, [v - n for v, n in zip(x, i)], c)
        out.append(e.narrow(acc, c))
    return out


# ---- 6 ----

NORMS = {0: (8, False), 1: (8, True), 4: (16, False), 5: (16, True)}
INTEGERS = {2: (8, False), 3: (8, True), 6: (16, False), 7: (16, True), 11: (32, False), 12: (32, True)}
FLOATS = {8: FP16, 9: BF16, 10: FP32, 13: E4M3, 14: E5M2}
PACKED = {0x40: ((15, 11), (10, 5), (4, 0)), 0x41: ((15, 11), (10, 6), (5, 1), (0, 0)), 0x42: ((15, 12), (11, 8), (7, 4), (3, 0)),
          0x43: ((9, 0), (19, 10), (29, 20), (31, 30))}


def channel_bits(fmt):
    kind = fmt & 15
    return (NORMS.get(kind) or INTEGERS.get(kind) or (FLOATS[kind].bits if kind in FLOATS else None,))[0]


class Texture:
    """texels[y][x]: the codes of the channels"""

    def __init__(self, fmt, texels, swizzle=(0, 0, 0, 0), wrap=0, border=(0, 0, 0, 0), normalized=False):
        self.fmt, self.texels, self.swizzle, self.wrap, self.border, self.normalized = fmt, texels, swizzle, wrap, border, normalized
        self.h, self.w = len(texels), len(texels[0])

    def bytes(self):
        out = b""
        for row in self.texels:
            for texel in row:
                if self.fmt in PACKED:
                    word = sum(code << low for code, (_, low) in zip(texel, PACKED[self.fmt]))
                    out += word.to_bytes(4 if self.fmt == 0x43 else 2, "little")
                else:
                    out += b"".join(code.to_bytes(channel_bits(self.fmt) // 8, "little") for code in texel)
        return out

    def unorm(self):
        return self.fmt in PACKED or self.fmt & 15 in (0, 4)


def texel_value(e, fmt, code, channel):
    """The exact value of a channel; None is NaN. Flags of reading it."""
    if fmt in PACKED:
        high, low = PACKED[fmt][channel]
        return Fraction(code, (2 << high - low) - 1)
    kind = fmt & 15
    if kind in NORMS:
        bits, signed = NORMS[kind]
        if not signed:
            return Fraction(code, (1 << bits) - 1)
        return max(Fraction(code - (code >> bits - 1 << bits), (1 << bits - 1) - 1), Fraction(-1))
    if kind in INTEGERS:
        bits, signed = INTEGERS[kind]
        return Fraction(code - (code >> bits - 1 << bits) if signed else code)
    f = FLOATS[kind]
    k, s, m, g = decode(f, code)
    if is_subnormal(f, code) and e.ftz:
        e.flags |= FTZ_HIT
        return Zero(s)
    if k >= QUIET:
        e.flags |= SNAN | NV if k == SIGNALING else QNAN
        return None
    return INFINITE * (-1) ** s if k == INF else fraction(k, s, m, g)


def fetch(e, t, x, y):
    """Four accumulators of a texel or of the border."""
    place = []
    for i, d in ((x, t.w), (y, t.h)):
        if t.wrap == 0:
            i = max(0, min(d - 1, i))
        elif t.wrap == 1:
            i %= d
        elif t.wrap == 2:
            i %= 2 * d
            i = i if i < d else 2 * d - 1 - i
        elif not 0 <= i < d:
            return [e.widen(b, c) for c, b in enumerate(t.border)]
        place.append(i)
    codes, out = t.texels[place[1]][place[0]], []
    for c, swizzle in enumerate(t.swizzle):
        source = c if swizzle in (0, 7) else None if swizzle in (1, 2) else swizzle - 3
        if source is None:
            out.append(e.cv(Fraction(swizzle - 1)))
        elif source >= len(codes):
            out.append(e.cv(Fraction(int(source == 3))))
        else:
            out.append(e.cv(texel_value(e, t.fmt, codes[source], source)))
    return out


def filtered(e, t, fx, fy, bilinear):
    """6.5 at 16.16 positions"""
    if not bilinear:
        return fetch(e, t, fx >> 16, fy >> 16)
    tx, ty = fx - 32768, fy - 32768
    a, b = Fraction(tx & 65535, 65536), Fraction(ty & 65535, 65536)
    i, j = tx >> 16, ty >> 16
    taps = {(k & 1, k >> 1): fetch(e, t, i + (k & 1), j + (k >> 1)) for k in range(4) if (a or not k & 1) and (b or not k >> 1)}
    return [nest(e, [lambda k=k: taps[k & 1, k >> 1][c] for k in range(4)], [a, b], c) for c in range(4)]


def linear_light(e, acc):
    """6.6"""
    if e.is_nan(acc):
        return acc
    if e.accw < 2 and decode(e.wide, acc)[0] == INF:
        return 0 if acc >> e.wide.bits - 1 else e.cv(1)
    x = e.value(acc)
    if x <= 0:
        return 0
    if x >= 1:
        return e.cv(1)
    if x <= Fraction(4045, 100000):
        return e.cv(x / Fraction(1292, 100))
    # y^5 = r^12: 120 digits of the fifth root, and a last bit, since it never ends
    r = (200 * x + 11) / 211
    k = 200
    n = r.numerator ** 12 * 2 ** (5 * k) // r.denominator ** 12
    low, high = 0, 1 << n.bit_length() // 5 + 1
    while high - low > 1:
        middle = low + high >> 1
        low, high = (middle, high) if middle ** 5 <= n else (low, middle)
    return e.cv(Fraction(2 * low + 1, 2 ** (k + 1)))


def nowhere(e):
    """6.4 for a NaN coordinate"""
    return [e.cv(None) for _ in range(4)]


def position(t, c, d):
    return floor16(c if c in (INFINITE, -INFINITE) or not t.normalized else c * d)


def sample(e, t, u, v, bilinear, srgb):
    x, y = e.coordinate(u), e.coordinate(v)
    if x is None or y is None:
        acc = nowhere(e)
    else:
        acc = filtered(e, t, position(t, x, t.w), position(t, y, t.h), bilinear)
        if srgb and t.unorm():
            acc = [linear_light(e, a) for a in acc[:3]] + acc[3:]
    return [e.narrow(a, c) for c, a in enumerate(acc)]


def gather(e, t, u, v, table, weighted, signed, bilinear, srgb):
    """table: (du, dv, weight) elements"""
    x, y = e.coordinate(u), e.coordinate(v)

    def offset(element):
        if e.integer:
            code = element - (element >> e.integer - 1 << e.integer) if signed else element
            return Fraction(code, 1 << e.native // 2)
        value = e.coordinate(element)
        return value if value is None or signed else abs(value)
    if x is None or y is None:
        acc = nowhere(e)
    elif not table:
        acc = [0] * 4
    else:
        fx, fy = position(t, x, t.w), position(t, y, t.h)
        taps = []
        for du, dv, _ in table:
            a, b = offset(du), offset(dv)
            if a is None or b is None:
                taps.append(nowhere(e))
                continue
            ends = [floor16(q if q in (INFINITE, -INFINITE) else Fraction(p, 65536) + Fraction((q * 65536).__floor__(), 65536)) for p, q in ((fx, a), (fy, b))]
            taps.append(filtered(e, t, *ends, bilinear))
        weights = [e.coordinate(w) if not e.integer else Fraction(w - (w >> e.integer - 1 << e.integer), 1 << e.native // 2) for _, _, w in table] if weighted else None
        acc = [combine(e, [tap[c] for tap in taps], weights, c) for c in range(4)]
    if x is not None and y is not None and srgb and t.unorm():
        acc = [linear_light(e, a) for a in acc[:3]] + acc[3:]
    return [e.narrow(a, c) for c, a in enumerate(acc)]


def combine(e, taps, weights, c):
    n = len(taps)
    if weights is None:
        if e.accw >= 2:
            return e.after(e.rational(Fraction(sum(taps), n)), c)
        acc = taps[0]
        for x in taps[1:]:
            acc = e.add(acc, x, c)
        return e.div(acc, e.cv(n), c)
    if e.accw >= 2:
        return e.after(e.rational(sum((coefficient(w) * x for w, x in zip(weights, taps)), Fraction(0))), c)
    acc = e.mul(e.cv(weights[0]), taps[0], c)
    for w, x in zip(weights[1:], taps[1:]):
        acc = e.fma(e.cv(w), x, acc, c)
    return acc


# ---- 12 and 15 ----

def stored_key(e, element):
    """A number to compare stored elements by; None is NaN."""
    if e.integer:
        return Fraction(e.code(element))
    k, s, m, g = e.read(element)
    return None if k >= QUIET else INFINITE * (-1) ** s if k == INF else fraction(k, s, m, g)


def depth_passes(e, z, held, compare, reverse):
    a, b = stored_key(e, z), stored_key(e, held)
    if reverse:
        compare = {0: 2, 1: 3, 2: 0, 3: 1}.get(compare, compare)
    unordered = a is None or b is None
    if compare < 4 and unordered:
        e.flags |= NV
    if unordered:
        return compare in (5, 6)
    return (a < b, a <= b, a > b, a >= b, a == b, a != b, True, False)[compare]


def stored_depth(e, z):
    if e.integer:
        return z
    k, s, _, _ = e.read(z)
    if k >= QUIET:
        e.flags |= QNAN
        return {0: e.element.nan, 1: 0, 2: e.element.largest if e.element.inf is None else e.element.inf}[e.nan_pol]
    if is_subnormal(e.element, z) and (e.ftz or e.element.name == "BF16_LITE"):
        return s << e.element.bits - 1
    return z


def inside(e, plane, point, tt):
    d = e.dot([e.widen(p) for p in plane], [e.widen(x) for x in point])
    return (e.lt if tt & 1 else e.le)(*((d, 0) if tt < 2 else (0, d)))


def rejected(e, w, eps):
    """15.2: w as a real value against the binary32 eps"""
    if e.integer:
        value = (e.code(w) - e.zero_point(0)) * e.scale()
    else:
        k, s, m, g = e.read(w)
        if k >= INF:
            return True
        value = fraction(k, s, m, g + e.shift) if m else Fraction(0)
    kind, s, m, g = decode(FP32, eps)
    if kind >= QUIET:
        return False
    limit = INFINITE * (-1) ** s if kind == INF else fraction(kind, s, m, g)
    return value <= limit


def cull(e, planes, point, tt, keep_outside, guard, eps):
    if guard and rejected(e, point[3], eps):
        return 0
    results = [inside(e, p, point, tt) for p in planes]
    return int(all(results)) ^ keep_outside


def cull_box(e, planes, box, encoding, contain, keep_outside):
    """15.3 without a transform; box: six elements"""
    low, high = list(box[:3]), list(box[3:])
    if encoding:
        first, second = [e.widen(x) for x in box[:3]], [e.widen(x) for x in box[3:]]
        low = [e.narrow(e.sub(a, b)) for a, b in zip(first, second)] if encoding == 1 else low
        high = [e.narrow(e.add(a, b)) for a, b in zip(first, second)]
    unit, inside_of = e.cv(1), []
    for q in range(8):
        point = [e.widen((high if q >> k & 1 else low)[k]) for k in range(3)] + [unit]
        inside_of.append([bool(e.le(e.dot([e.widen(x) for x in plane], point), 0)) for plane in planes])
    found = all(all(c) for c in inside_of) if contain else all(any(c[p] for c in inside_of) for p in range(len(planes)))
    return int(found) ^ keep_outside
