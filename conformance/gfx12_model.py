"""The four GFX12 instructions by gfx12-semantics.md, section by section, over the exact numbers of exact.py. A vector (spec/README.md,
"GFX12 vector files") goes in without its expectation; `answer` puts it there."""
from exact import FP32, NUM, QUIET, Arith, decode

INVALID, TERMINAL = 0xFFFFFFFF, 0xFFFFFFFE
INF, SIGN, ONE, NAN, INVALID_NAN = 0x7F800000, 0x80000000, 0x3F800000, 0x7FC00000, 0xFFC00000
(FORCE_OPAQUE, FORCE_NON_OPAQUE, DISABLE_CULL, FLIP, CULL_BACK, CULL_FRONT, CULL_OPAQUE, CULL_NON_OPAQUE, SKIP_TRIANGLES,
 SKIP_PROCEDURAL) = (1 << n for n in range(10))
MASK48 = (1 << 48) - 1


class Floats(Arith):
    """Section 1: binary32, and NaNs of two kinds."""

    def div(self, a, b):
        kinds = decode(FP32, a)[0], decode(FP32, b)[0]
        return INVALID_NAN if kinds[0] == kinds[1] and kinds[0] not in (NUM, QUIET, QUIET + 1) else super().div(a, b)

    def below(self, a, b):
        return not self.nan(a, b) and self.less(a, b)

    def at_most(self, a, b):
        return not self.nan(a, b) and not self.less(b, a)


F = Floats(FP32)


def bits_of(*values):
    """FP32 bits of numbers that it holds."""
    from fractions import Fraction
    out = []
    for v in values:
        x = Fraction(v)
        n, d = abs(x.numerator), x.denominator
        assert d & d - 1 == 0
        out.append(F.put(int(x < 0), n, 1 - d.bit_length()) if n else 0)
    return out


def cross(a, b):
    return [F.sub(F.mul(a[(k + 1) % 3], b[(k + 2) % 3]), F.mul(a[(k + 2) % 3], b[(k + 1) % 3])) for k in range(3)]


def dot(a, b):
    return F.add(F.add(F.mul(a[0], b[0]), F.mul(a[1], b[1])), F.mul(a[2], b[2]))


def field(word, hi, lo):
    return word >> lo & (1 << hi - lo + 1) - 1


class Resource:
    """Section 3."""

    def __init__(self, dwords):
        r = sum(w << 32 * i for i, w in enumerate(dwords))
        self.base_address, self.triangles_first = field(r, 39, 0), field(r, 52, 52)
        self.heuristic, self.grow, self.sort = field(r, 54, 53), field(r, 62, 55), field(r, 63, 63)
        self.size, self.compressed, self.wide = field(r, 105, 64), field(r, 115, 115), field(r, 117, 117)
        self.instances, self.pointer_flags = field(r, 118, 118), field(r, 119, 119)


def resource(base_address=0, triangles_first=1, heuristic=0, grow=0, sort=1, size=(1 << 42) - 1, compressed=1, wide=1, instances=1,
             pointer_flags=1):
    r = base_address | triangles_first << 52 | heuristic << 53 | grow << 55 | sort << 63 | size << 64 | compressed << 115 | \
        wide << 117 | instances << 118 | pointer_flags << 119 | 1 << 120 | 8 << 124
    return [r >> 32 * i & INVALID for i in range(4)]


def ten(**some):
    return [some.get(f"v{i}", INVALID) for i in range(10)]


def plane(p, e, origin):
    """5.2"""
    offset = 0
    if p:
        s = p.bit_length() - 1 - 12
        if s + e > 0:
            offset = (s + e << 23) & 0x7FFFFFFF | p << 11 - s & 0x7FFFFF
    return F.add(offset, origin)


def obb_matrix(n):
    """Section 6: the construction without trigonometry."""
    table = """3F6C835E 3EC3EF15 3F7641AF 3D1BE50C 3E8A8BD4 3F73023F 3E7C3A3A 3E484336
               3F3504F3 3F3504F3 3F5A827A 3E15F61A 3F000000 3F4E034D 3F01814F 3E9F0938
               3EC3EF15 3F6C835E 3F30FBC5 3E9E0875 3F273D75 3F16A507 3F3D3A87 3EA7BF1B
               00000000 3F800000 3F000000 3F000000 3F3504F3 3EAAAAAB 3F692290 3E79DF93""".split()
    axes = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 1), (0, -1, 1), (1, 0, 1), (1, 0, -1), (1, 1, 0), (-1, 1, 0), (1, 1, 1),
            (-1, 1, 1), (1, -1, 1), (-1, -1, 1)]
    g, a, sense = axes[n // 8], n // 2 % 4, -1 if n & 1 else 1
    c, s, h, k, q, d, u, w = (int(t, 16) for t in table[8 * a:8 * a + 8])
    z = sum(x != 0 for x in g)

    def signed(sign, value):
        return value | (SIGN if sign < 0 else 0) if value else 0

    def entry(r, col):
        if r == col:
            return {1: ONE if g[r] else c, 2: h if g[r] else c, 3: d}[z]
        b = sense * g[3 - r - col] * (-1 if (r, col) in ((0, 1), (1, 2), (2, 0)) else 1)
        p = g[r] * g[col]
        if z == 1:
            return signed(b, s) if b else 0
        if z == 2:
            return signed(p, k) if p else signed(b, q)
        return signed(b, u) if p == b else signed(b, w)
    return [[entry(r, col) for col in range(3)] + [0] for r in range(3)]


def transform(m, o, d):
    """9.6"""
    return ([F.fma(o[0], r[0], F.fma(o[1], r[1], F.fma(o[2], r[2], r[3]))) for r in m],
            [F.fma(d[0], r[0], F.fma(d[1], r[1], F.mul(d[2], r[2]))) for r in m])


class Slot:
    def __init__(self, ident, a, b, near, far):
        self.id, self.a, self.b, self.near, self.far = ident, a, b, near, far


class Unit:
    def __init__(self, v):
        self.r, self.gpurt, self.seed = Resource(v["resource"]), v.get("profile") == "gpurt", v.get("opaque_sense") == "seed"
        self.base = v.get("bvh_base", 0)
        self.memory, self.extent, self.mask = v["node"], v["ray_extent"], v["instance_mask"]
        self.o, self.d = list(v["origin"]), list(v["direction"])
        self.ray_flags = self.base >> 54
        self.flags = self.ray_flags if self.r.pointer_flags else 0

    def fetch(self, offset, dwords):
        relative = ((self.base & 0x1FFFFFFFFFFF) * 8 + offset) & MASK48
        if relative // 64 > self.r.size or offset // 4 + dwords > len(self.memory):
            return None
        return self.memory[offset // 4:offset // 4 + dwords]

    # ---- 9.1 ----

    def intersect8(self, node):
        kind = node & 15
        if not self.r.compressed or node >= 0xFFFFFFF8 or kind in (4, 7, 12, 13, 14, 15) or kind == 6 and not self.r.instances:
            return ten()
        n = self.fetch((node & ~15) * 8, 32)
        if n is None:
            return ten()
        return self.box(n) if kind == 5 else self.instance(n) if kind == 6 else self.primitive(n, node)

    # ---- 9.2 ----

    def culled(self, flags):
        oo = (flags & 1 or self.flags & FORCE_OPAQUE) and not self.flags & FORCE_NON_OPAQUE
        on = (flags & 2 or self.flags & FORCE_NON_OPAQUE) and not self.flags & FORCE_OPAQUE
        return bool(oo and self.flags & CULL_OPAQUE or on and self.flags & CULL_NON_OPAQUE or
                    flags & 4 and self.flags & SKIP_TRIANGLES or flags & 8 and self.flags & SKIP_PROCEDURAL)

    def children(self, words, count, grid, internal, primitive):
        """(id, low corner, high corner, cull flags, cull mask) of each child, 4 and 4.1"""
        origin, exponents = grid
        out = []
        for i in range(count):
            a, b, c = words[3 * i:3 * i + 3]
            low = [field(a, 11, 0), field(a, 23, 12), field(b, 11, 0)]
            high = [field(b, 23, 12), field(c, 11, 0), field(c, 23, 12)]
            kind, size = field(c, 27, 24), field(c, 31, 28)
            if kind == 5:
                ident, internal = internal | 5, internal + (size << 4) & INVALID
            else:
                ident, primitive = primitive | kind, primitive + (size << 4) & INVALID
            out.append((ident, [plane(q, e, p) for q, e, p in zip(low, exponents, origin)],
                        [plane(q + 1, e, p) for q, e, p in zip(high, exponents, origin)], field(a, 27, 24), field(b, 31, 24)))
        return out

    def slab(self, ident, low, high, o, d):
        inverse = [F.div(ONE, x) for x in d]
        near, far = [], []
        for k in range(3):
            a, b = (F.mul(F.sub(x[k], o[k]), inverse[k]) for x in (low, high))
            forward = F.at_most(0, inverse[k])
            near.append(a if forward else b)
            far.append(b if forward else a)
        a, b = F.max(F.max(near[0], near[1]), near[2]), F.min(F.min(far[0], far[1]), far[2])
        least, most = F.max(a, 0), F.min(b, self.extent)
        if F.nan(a) or F.nan(b):
            least, most = INF, INF | SIGN
        if F.nan(a):
            a = 0
        if F.nan(b):
            b = INF
        grow = F.add(ONE, F.mul(*bits_of(self.r.grow, 2 ** -24)) if self.r.grow else 0)
        return Slot(ident if F.at_most(least, F.mul(most, grow)) else INVALID, a, b, least, most)

    def empty(self):
        return Slot(INVALID, 0, INF, INF, INF | SIGN)

    def box(self, n):
        count = (n[6] >> 28 & 7) + 1
        grid = n[3:6], [n[6] >> 8 * k & 255 for k in range(3)]
        o, d = self.o, self.d
        if n[7] & 0x7F <= 103:
            o, d = transform(obb_matrix(n[7] & 0x7F), o, d)
        slots = []
        for ident, low, high, flags, mask in self.children(n[8:], count, grid, n[0], n[1]):
            if not mask & self.mask & 0xFF or self.culled(flags):
                ident = INVALID
            slots.append(self.slab(ident, low, high, o, d))
        slots = self.sort(self.once(slots + [self.empty()] * (8 - count)))
        return [s.id for s in slots] + [INVALID] * 2

    def once(self, slots):
        previous, out = slots[0].id, slots[:1]
        for s in slots[1:]:
            if s.id == previous:
                s = Slot(INVALID, s.a, s.b, s.near, s.far)
            else:
                previous = s.id
            out.append(s)
        return out

    # ---- 9.3 ----

    def order(self, s):
        first = 0
        if self.r.triangles_first:
            first = 2 * (s.id & 7 > 3) + (1 if self.gpurt and s.id & 7 != 1 else 0)
        key = {0: lambda: s.near, 1: lambda: F.sub(s.near, s.far), 2: lambda: F.add(s.a, s.b)}[self.r.heuristic]()
        return 4 * (s.id == INVALID) + first, key

    def sort(self, slots, stages=None):
        if not self.r.sort or self.r.heuristic == 3:
            return slots
        slots = list(slots)
        network = ("02 13 46 57", "01 23 45 67", "12 56", "04 15 26 37", "24 35", "12 34 56")
        for stage in network[:6 if (self.r.wide if stages is None else stages) else 3]:
            for i, j in ((int(p[0]), int(p[1])) for p in stage.split()):
                (ei, ki), (ej, kj) = self.order(slots[i]), self.order(slots[j])
                if ej < ei or ej == ei and F.below(kj, ki):
                    slots[i], slots[j] = slots[j], slots[i]
        return slots

    # ---- 9.4 ----

    def primitive(self, n, ident):
        whole = sum(w << 32 * i for i, w in enumerate(n))

        def read(at, count):
            """7.2: outside the node there are zeros."""
            if count == 0:
                return 0
            return (whole >> at if at >= 0 else whole << -at) & (1 << count) - 1
        bits = [read(5 * k, 5) + 1 for k in range(3)]
        zeros, pairs, middle = read(15, 5), read(28, 3) + 1, read(42, 10)
        gab, gpb, pab, ppb = 2 * read(20, 4), 2 * read(24, 4), read(32, 5), read(37, 5)
        prefix_bits = [max(0, 32 - zeros - b) for b in bits]
        at, prefix = 52, []
        for b in prefix_bits:
            prefix.append(read(at, b))
            at += b

        def vertex(i):
            place, out = at + i * sum(bits), []
            for k in range(3):
                payload = read(place, bits[k])
                place += bits[k]
                out.append(((prefix[k] << 32 - prefix_bits[k] if prefix_bits[k] else 0) | payload << zeros) & INVALID)
            return out

        def index(t, base, base_bits, value, value_bits):
            return base if t == 0 else value if value_bits >= base_bits else value | base >> value_bits << value_bits

        def geometry(t):
            return index(t, read(middle - gab, gab), gab, read(middle - gab - t * gpb, gpb), gpb)

        def primitive_index(t):
            return index(t, read(middle, pab), pab, read(middle + pab + (t - 1) * ppb, ppb), ppb)
        p = ident & 3 | (ident & 8) >> 1
        d = read(1024 - 29 * (p + 1), 29)
        nav = 3 if d & 1 else 1 if p == pairs - 1 else 0
        out = []
        for t, first in ((0, 15), (1, 1)):
            double, opaque = d >> first & 1, d >> first + 1 & 1
            v = [d >> first + 2 + 4 * k & 15 for k in range(3)]
            if t == 1 and v == [0, 0, 0] and self.gpurt:
                out += [INF, ONE, ONE, 0]
            else:
                corners = None if v[0] == v[1] == 15 else [vertex(i) for i in v]
                out += self.triangle(corners, primitive_index(2 * p + t), opaque, double)
        return out + [geometry(2 * p + t) << 2 & INVALID | nav for t in (0, 1)]

    def triangle(self, corners, prim, opaque, double):
        flags, procedural = self.flags, corners is None
        if not procedural:
            v0, v1, v2 = corners
            e1, e2, e3 = ([F.sub(x, y) for x, y in zip(p, q)] for p, q in ((v1, v0), (v2, v0), (self.o, v0)))
            s1, s2 = cross(self.d, e2), cross(e3, e1)
            tn, det, un, vn = dot(e2, s2), dot(s1, e1), dot(e3, s1), dot(self.d, s2)
            t, u, v = F.div(tn, det), F.div(un, det), F.div(vn, det)
            if self.gpurt:
                miss = F.below(u, 0) or F.below(ONE, u) or F.below(v, 0) or F.below(ONE, F.add(u, v)) or F.below(t, 0)
                if miss:
                    tn, det = INF, ONE
                    t, u, v = F.div(tn, det), un, vn
            else:
                miss = not (F.at_most(0, u) and F.at_most(u, ONE) and F.at_most(0, v) and F.at_most(F.add(u, v), ONE) and
                            F.at_most(0, t))
            front = F.at_most(0, det)
            if flags & FLIP:
                front, tn, det = not front, tn ^ SIGN, det ^ SIGN
            cull = flags & SKIP_TRIANGLES
            if not (flags & DISABLE_CULL or double):
                cull |= flags & (CULL_FRONT if front else CULL_BACK)
        else:
            cull = flags & SKIP_PROCEDURAL
        solid = flags & FORCE_OPAQUE or not flags & FORCE_NON_OPAQUE and opaque
        cull |= flags & (CULL_OPAQUE if solid else CULL_NON_OPAQUE)
        opacity = SIGN if bool(solid) == self.seed else 0
        merge = self.r.pointer_flags or self.gpurt
        prim = prim << 1 & INVALID
        if procedural:
            return [INF if cull else 0, ONE | SIGN, ONE | (opacity if merge else 0), prim]
        if cull:
            return [INF, 0, opacity if merge else 0, prim]
        w1, w2 = (u & ~SIGN, v & ~SIGN | opacity) if merge else (u, v)
        return [INF if miss else F.div(tn, det), w1, w2, prim | det >> 31]

    # ---- 9.6 ----

    def entered(self, pointer):
        """2.3"""
        inst = pointer >> 54
        keep = 0x3FC if self.ray_flags & 3 else 0x3FF
        return pointer & 0x003FFFFFFFFFFFF8 | (inst & keep | self.ray_flags) << 54

    def instance_culled(self, n):
        aabbs = n[13] >> 30 & 1
        return not n[15] >> 24 & self.mask & 0xFF or self.flags & (SKIP_PROCEDURAL if aabbs else SKIP_TRIANGLES)

    def instance(self, n):
        base = self.entered(n[12] | n[13] << 32)
        result = {"v2": base & INVALID, "v3": base >> 32, "v6": n[15] & 0xFFFFFF}
        if self.instance_culled(n):
            return ten(**result)
        self.o, self.d = transform([n[4 * r:4 * r + 4] for r in range(3)], self.o, self.d)
        count = (n[19] >> 28 & 3) + 1
        grid = n[16:19], [n[19] >> 8 * k & 255 for k in range(3)]
        slots = [self.slab(INVALID if self.culled(flags) and not self.gpurt else ident, low, high, self.o, self.d)
                 for ident, low, high, flags, _ in self.children(n[20:], count, grid, 0, 0)]
        slots = self.sort(self.once(slots + [self.empty()] * (8 - count)))
        return ten(**result, v7=sum((s.id & 0xFF) << 8 * i for i, s in enumerate(slots[:4])))

    # ---- section 10 ----

    def dual(self, node0, node1):
        if self.r.compressed:
            return self.intersect8(node0) if node1 == INVALID else ten()

        def kind(node):
            return -1 if node >= 0xFFFFFFF8 or node & 7 == 6 and not self.r.instances else node & 7
        if kind(node0) == 6:
            n = None if kind(node1) == 6 else self.fetch((node0 & ~7) * 8, 16)
            return ten() if n is None else self.dual_instance(n)
        out, slots, boxes = [INVALID] * 10, [self.empty()] * 8, []
        for at, node in enumerate((node0, node1)):
            k = kind(node)
            n = self.fetch((node & ~7) * 8, 32 if k == 5 else 16) if k in (0, 1, 4, 5) else None
            if n is None:
                continue
            if k < 2:
                out[4 * at:4 * at + 4] = self.dual_triangle(n, k)
                out[8 + at] = n[14]
            else:
                boxes.append(at)
                slots[4 * at:4 * at + 4] = self.dual_box(n, k)
        slots = self.sort(slots, len(boxes) == 2 and self.r.wide)
        for at in boxes:
            out[4 * at:4 * at + 4] = [s.id for s in slots[4 * at:4 * at + 4]]
        return out

    def dual_box(self, n, kind):
        slots = []
        for i in range(4):
            if kind == 5:
                low, high, flags = n[4 + 6 * i:7 + 6 * i], n[7 + 6 * i:10 + 6 * i], n[28] >> 8 * i & 255
            else:
                h = [widen_half(n[4 + 3 * i + k // 2] >> 16 * (k % 2) & 0xFFFF) for k in range(6)]
                low, high, flags = h[:3], h[3:], 0
            slots.append(self.slab(INVALID if self.culled(flags) else n[i], low, high, self.o, self.d))
        return slots

    def dual_triangle(self, n, which):
        ident = n[15] >> 8 * which & 255
        flags, solid = self.flags, None
        solid = flags & FORCE_OPAQUE or not flags & FORCE_NON_OPAQUE and ident >> 7
        opacity = (SIGN if bool(solid) == self.seed else 0) if self.r.pointer_flags or self.gpurt else 0
        cull = flags & (CULL_OPAQUE if solid else CULL_NON_OPAQUE)
        if ident >> 6 & 1:
            return [INF if cull or flags & SKIP_PROCEDURAL else 0, ONE, ONE | SIGN, ONE | opacity]
        v = [n[3 * i:3 * i + 3] for i in range(4)]
        v0, v1, v2 = (v[0], v[1], v[2]) if which == 0 else (v[1], v[3], v[2])
        e1, e2, e3 = ([F.sub(x, y) for x, y in zip(p, q)] for p, q in ((v1, v0), (v2, v0), (self.o, v0)))
        s1, s2 = cross(self.d, e2), cross(e3, e1)
        tn, det, un, vn = dot(e2, s2), dot(s1, e1), dot(e3, s1), dot(self.d, s2)
        t, u, w = F.div(tn, det), F.div(un, det), F.div(vn, det)
        if F.below(u, 0) or F.below(ONE, u) or F.below(w, 0) or F.below(ONE, F.add(u, w)) or F.below(t, 0):
            tn, det = INF, ONE
        sources = F.sub(F.sub(det, un), vn), un, vn, 0
        front = F.at_most(0, det)
        if flags & FLIP:
            front, tn, det = not front, tn ^ SIGN, det ^ SIGN
        cull |= flags & SKIP_TRIANGLES
        if not (flags & DISABLE_CULL or ident >> 4 & 1):
            cull |= flags & (CULL_FRONT if front else CULL_BACK)
        if cull:
            return [INF, ONE, 0, opacity]
        return [tn, det, sources[ident & 3] & ~SIGN, sources[ident >> 2 & 3] & ~SIGN | opacity]

    def dual_instance(self, n):
        base = self.entered(n[12] | n[13] << 32)
        result = {"v2": base & INVALID, "v3": base >> 32, "v6": n[15] & 0xFFFFFF}
        if self.instance_culled(n):
            return ten(**result)
        self.o, self.d = transform([n[4 * r:4 * r + 4] for r in range(3)], self.o, self.d)
        return ten(**result, v7=n[14])


def widen_half(bits):
    from exact import FP16
    kind, sign, m, e = decode(FP16, bits)
    if kind == NUM:
        return F.put(sign, m, e)
    return sign << 31 | {0: 0, 2: INF}.get(kind, INF | (bits & 0x3FF) << 13)


# ---- 11.3 and 11.5 ----

class Stack:
    def __init__(self, v):
        a = v["address"]
        self.blas, self.overflow, self.tlas = a >> 31 & 1, a >> 30 & 1, a >> 29 & 1
        self.base, self.idx, self.to, self.valid = a >> 15 & 0x3FFF, a >> 10 & 31, a >> 5 & 31, a & 31
        self.size, self.ranges = v["offset0"] & 31, v["offset1"] >> 1 & 1
        self.lds, self.last, self.data = list(v["lds"]), v["last"], v["data"]

    def address(self):
        return self.blas << 31 | self.overflow << 30 | self.tlas << 29 | self.base << 15 | self.idx << 10 | self.to << 5 | self.valid

    def place(self):
        return self.base + 32 * self.idx

    def push(self, x):
        if self.valid == self.size:
            self.overflow = 1
        if self.place() < len(self.lds):
            self.lds[self.place()] = x
        self.idx = 0 if self.idx == self.size - 1 else self.idx + 1
        if self.to == self.size:
            self.tlas = 0
        self.to, self.valid = min(self.to + 1, self.size), min(self.valid + 1, self.size)

    def top(self):
        at = self.base + 32 * (self.size - 1 if self.idx == 0 else self.idx - 1)
        return self.lds[at] if at < len(self.lds) else 0

    def drop(self):
        self.to, self.valid = max(self.to - 1, 0), self.valid - 1
        self.idx = self.size - 1 if self.idx == 0 else self.idx - 1

    def pop(self):
        self.blas = int(self.to == 0 and self.tlas)
        if self.blas:
            self.tlas = 0
        if self.valid == 0:
            self.blas = self.tlas = 0
            return INVALID if self.overflow else TERMINAL
        r = self.top()
        self.drop()
        if r & 7 == 6:
            if self.tlas:
                self.valid, self.overflow = self.to, 1
            self.tlas, self.to = 1, 0
        return r

    def push8(self, ranges):
        n, last = self.data, self.last

        def sent(x):
            return x >> 3 == 0x1FFFFFFF
        walk = not sent(last)
        update = ranges and not walk and not last & 4
        match = [x == last or ranges and x & 7 <= 3 for x in n]
        ok = not walk or any(match)
        if ranges:
            ok = (ok or last & 7 <= 3) and not (update and last & 2)
        s03 = s47 = False
        for i in range(7, -1, -1):
            if i >= 4:
                if not s47 and ok and sent(n[i]):
                    s03 = s03 or not n[i] & 2
                    s47 = s47 or not n[i] & 4
                if ranges and i == 6 and update:
                    s03 = s47 = True
            elif not s03 and ok and sent(n[i]) and not n[i] & 2:
                s03 = True
            if walk and match[i]:
                ok = False
            if ok and not sent(n[i]) and not (s47 if i >= 4 else s03):
                x = n[i]
                if ranges and i == 7 and update:
                    x = (x & ~15) + 0x10 & INVALID if last & 1 else x ^ 0xB if x & 15 == 3 else x + 1
                self.push(x)

    def pop1(self):
        self.push8(bool(self.ranges))
        return [self.pop()]

    def pop2(self):
        self.push8(False)
        second = self.pop()
        if second & 7 == 1:
            return [second & ~7, second]
        first = INVALID
        if not (self.to == 0 and self.tlas) and self.valid > 0 and self.top() & 7 != 6:
            first = self.top()
            self.drop()
        return [second, first] if first == INVALID else [first, second]


def answer(v):
    """The vector with what it must give."""
    if "address" in v:
        s = Stack(v)
        result = s.pop2() if v["instruction"].endswith("b64") else s.pop1()
        return v | {"expected": result, "expected_address": s.address(), "expected_lds": s.lds}
    unit = Unit(v)
    result = unit.dual(*v["node_pointers"]) if "node_pointers" in v else unit.intersect8(v["node_pointer"])
    return v | {"expected": result, "expected_origin": unit.o, "expected_direction": unit.d}
