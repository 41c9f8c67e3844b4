"""RT.BBOX and RT.TRI of one lane, step by step as rt-semantics.md 7 and 8 number them."""
from exact import DZ, FP32, QUIET, Arith, decode

ONE, INF, SIGN = 0x3F800000, 0x7F800000, 1 << 31
HIT, MISS, NANLANE = "hit", "miss", "nan"
T_CLAMP, PRED_ONLY, PACK_HINT, W_GUARD = 1, 2, 4, 8
CULL_BACK, EPS_CTL = 1, 8


class Lane:
    """A lane computes in FP32 whatever the accumulator is."""

    def __init__(self, eff):
        self.eff = eff.but(accw=0, mixed=1, flags=0)
        self.f = Arith(FP32, eff.rm, eff.ftz)

    def widen(self, values, channels):
        return [self.eff.widen(v, c) for v, c in zip(values, channels)]

    def interval(self, ray, limit):
        tmin, tmax = self.widen(ray[6:8], (3, 3))
        return tmin, tmax if limit is None else limit

    def nan(self, *values):
        return any(decode(FP32, v)[0] >= QUIET for v in values)

    def below(self, a, b):
        return self.f.less(a, b)

    def flags(self):
        return self.eff.flags | self.f.flags

    # ---- section 7 ----

    def bbox(self, ray, box, flags, limit=None):
        """(verdict, tnear, tfar); box is None for an empty child, limit an FP32 number in place of the ray's tmax"""
        f = self.f
        if box is None:
            return MISS, None
        if flags & W_GUARD:
            w = self.eff.widen(ray[8], 3)
            if w & ~SIGN == 0:
                return MISS, None
        o, d = self.widen(ray[:3], (0, 1, 2)), self.widen(ray[3:6], (0, 1, 2))
        tmin, tmax = self.interval(ray, limit)
        low, high = self.widen(box[:3], (0, 1, 2)), self.widen(box[3:], (0, 1, 2))
        if self.nan(*o, *d, tmin, tmax, *low, *high, *([w] if flags & W_GUARD else [])):
            return NANLANE, None
        if any(self.below(h, lo) for lo, h in zip(low, high)):
            return MISS, None
        tn, tf = [], []
        for a in range(3):
            inv = f.div(ONE, d[a])
            if inv & ~SIGN == INF:
                inside = not self.below(o[a], low[a]) and not self.below(high[a], o[a])
                tn.append(INF | SIGN if inside else INF)
                tf.append(INF if inside else INF | SIGN)
            else:
                near, far = (high[a], low[a]) if d[a] & SIGN else (low[a], high[a])
                tn.append(f.mul(f.sub(near, o[a]), inv))
                tf.append(f.mul(f.sub(far, o[a]), inv))
        if self.nan(*tn, *tf):
            return NANLANE, None
        near, far = f.max(f.max(tn[0], tn[1]), tn[2]), f.min(f.min(tf[0], tf[1]), tf[2])
        cn, cf = f.max(near, tmin), f.min(far, tmax)
        if self.below(cf, cn):
            return MISS, None
        return HIT, [cn, cf] if flags & T_CLAMP else [near, far]

    # ---- section 8 ----

    def triangle(self, ray, corners, flags, epsilon_code, limit=None):
        """corners: nine elements, or None beyond the count; `front` tells the sign of a determinant that was computed"""
        f = self.f
        if corners is None:
            return MISS, None
        o, d = self.widen(ray[:3], (0, 1, 2)), self.widen(ray[3:6], (0, 1, 2))
        tmin, tmax = self.interval(ray, limit)
        v = [self.widen(corners[3 * j:3 * j + 3], (0, 1, 2)) for j in range(3)]
        if self.nan(*o, *d, tmin, tmax, *v[0], *v[1], *v[2]):
            return NANLANE, None
        size = [x & ~SIGN for x in d]
        if not any(size):
            f.flags |= DZ
            return MISS, None
        kz = 0
        for a in (1, 2):
            if self.below(size[kz], size[a]):
                kz = a
        kx, ky = (kz + 1) % 3, (kz + 2) % 3
        if d[kz] & SIGN:
            kx, ky = ky, kx
        sx, sy, sz = f.div(d[kx], d[kz]), f.div(d[ky], d[kz]), f.div(ONE, d[kz])
        x, y, q = [], [], []
        for j in range(3):
            p = [f.sub(v[j][a], o[a]) for a in range(3)]
            x.append(f.fma(f.neg(sx), p[kz], p[kx]))
            y.append(f.fma(f.neg(sy), p[kz], p[ky]))
            q.append(p[kz])
        u, w, t = f.dp2(x[2], y[1], y[2], x[1]), f.dp2(x[0], y[2], y[0], x[2]), f.dp2(x[1], y[0], y[1], x[0])
        edges = (u, w, t)
        if self.nan(*edges):
            return NANLANE, None
        negative, positive = any(self.below(e, 0) for e in edges), any(self.below(0, e) for e in edges)
        if negative and (positive or flags & CULL_BACK):
            return MISS, None
        det = f.add(f.add(u, w), t)
        if self.nan(det):
            return NANLANE, None
        if not self.below(epsilon_code << 23, det & ~SIGN):
            return MISS, None
        self.front = not det & SIGN
        z = [f.mul(sz, v) for v in q]
        total = f.fma(u, z[0], f.fma(w, z[1], f.mul(t, z[2])))
        dist = f.div(total, det)
        if self.nan(dist):
            return NANLANE, None
        if dist & ~SIGN == 0:
            dist = 0
        if self.below(dist, tmin) or self.below(tmax, dist):
            return MISS, None
        if flags & PRED_ONLY:
            return HIT, None
        return HIT, [dist, f.div(w & ~SIGN, det & ~SIGN), f.div(t & ~SIGN, det & ~SIGN)]

    # ---- section 9 ----

    def results(self, verdict, values, triangle, packed):
        """The registers that the lane writes: hit and elements, or the packed one."""
        e = self.eff
        if packed:
            e16 = {"FP32": 0, "32": 4}.get(e.name())
            e = e if e16 is None else e.but(pet=e16, alt=0, flags=0)
        count = 3 if triangle else 2
        if verdict == MISS:
            high, low = limits(e)
            out = [high, 0, 0] if triangle else [high, low]
        else:
            out = [e.narrow(FP32.nan if verdict == NANLANE else v, 3) for v in (values or [0] * count)]
        self.eff.flags |= e.flags
        if not packed:
            return [int(verdict == HIT)] + [self.eff.register(x) for x in out]
        signed = e.integer and not (e.q and e.uns)
        slots = [(x - (x >> e.native - 1 << e.native) if signed else x) & 0xFFFF for x in out]
        return [int(verdict == HIT) << 63 | sum(x << 16 * k for k, x in enumerate(slots))]


def limits(e):
    if e.integer:
        return ((1 << e.integer) - 1, 0) if e.q and e.uns else ((1 << e.integer - 1) - 1, 1 << e.integer - 1)
    inf = e.element.largest if e.element.inf is None else e.element.inf
    return inf, inf | e.element.sign
