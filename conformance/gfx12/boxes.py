"""Box nodes bit by bit. A plane is seen to its last bit by two rays: one whose extent is the distance to it, one an ulp shorter."""
import random
from fractions import Fraction

from gfx12_model import INF, INVALID, F
from gfx12_nodes import b, box, case, child, dual, named, pinned, ray

NAMES = ("gfx12/box", "gfx12/dual/two", "gfx12/types", "gfx12/sentinels", "gfx12/uncompressed", "gfx12/range")
ALL = ((0, 0, 0), (4095, 4095, 4095))
HALF = Fraction(1, 2)


def along(axis, back=False):
    """A ray along an axis through the middle of 0..1."""
    o, d = [HALF] * 3, [0] * 3
    o[axis], d[axis] = (3, -1) if back else (-2, 1)
    return b(*o), b(*d)


def planes(suite):
    rows = {("min", 0): "028", ("min", 1): "029", ("min", 2): "032", ("max", 0): "033", ("max", 1): "035", ("max", 2): "036"}
    for (side, axis), row in rows.items():
        vectors = []
        for value in [1 << n for n in range(12)] + [0, 4095, 0xABC, 0x555]:
            corner = [0, 0, 0] if side == "min" else [4095] * 3
            corner[axis] = value
            other = [4095] * 3 if side == "min" else [0] * 3
            c = child(corner, other) if side == "min" else child(other, corner)
            vectors += pinned(f"{side} {value:#x}", ray(box([c]), *along(axis, side == "max")))
        case(suite, f"box/{side}-{'xyz'[axis]}", f"G12-{row} G12-{'043' if side == 'min' else '044'} G12-040", vectors)
    vectors = []
    for n in range(8):
        lows = [(8 * (n + 1), 0, 0) if i == n else (4000, 0, 0) for i in range(8)]
        vectors += pinned(f"child {n}", ray(box([child(low, ALL[1]) for low in lows]), *along(0)))
    case(suite, "box/children", "G12-027 G12-047", vectors)


def grids(suite):
    for axis in range(3):
        vectors = []
        for value in (0, "0x3f800000", "0xbf800000", "0x3dcccccd", "0x42f6e979", "0xc47a2000", "0x00000001", "0x80000000", "0x7f7fffff",
                      "0x4b800001"):
            origin = [0, 0, 0]
            origin[axis] = int(str(value), 0)
            vectors += pinned(f"origin {value}", ray(box([child((100, 100, 100), (3000, 3000, 3000))], origin), *along(axis)))
            vectors += pinned(f"origin {value}, back", ray(box([child((100, 100, 100), (3000, 3000, 3000))], origin), *along(axis, True)))
        case(suite, f"box/origin-{'xyz'[axis]}", f"G12-{10 + 2 * axis:03d} G12-{11 + 2 * axis:03d}", vectors)
        vectors = []
        for e in [1 << n for n in range(8)] + [0, 12, 13, 126, 127, 129, 200, 254, 255, 140]:
            exponents = [140, 140, 140]
            exponents[axis] = e
            o, d = along(axis, True)
            o[axis] = 0x7F7FFFFF if e > 140 else 0x43800000
            for high in (0, 1, 2047, 4094, 4095):
                top = [4095] * 3
                top[axis] = high
                vectors += pinned(f"exponent {e}, plane {high + 1}", ray(box([child((0, 0, 0), top)], exponents=exponents), o, d))
        case(suite, f"box/exponent-{'xyz'[axis]}", f"G12-{16 + axis:03d} G12-019 G12-044", vectors)
    vectors = []
    for e in (0, 1, 5, 11, 12, 13, 14, 24, 30):  # offsets around 2^-126; the ray starts at the lower plane
        for high in (0, 1, 2, 3, 7, 2047, 4095):
            n = box([child((0, 0, 0), (high, 4095, 4095))], exponents=(e, 127, 127))
            for start in (1, 0x00800000, 0x00000800, 0x01000000):
                vectors.append(named(f"e {e}, plane {high + 1}, from {start:#x}", ray(n, [start, *b(HALF, HALF)], b(1, 0, 0))))
    case(suite, "box/tiny-steps", "G12-190 G12-019", vectors)
    vectors = []
    for origin, e in ((0x4B800000, 127), (0x4B800000, 139), (0x4B800001, 139), (0x3F800001, 104), (0xBF800000, 116), (0x4B7FFFFF, 138)):
        for q in (0, 1, 2, 3, 2047, 2048, 4094):
            n = box([child((q, 0, 0), (4095,) * 3)], origin=(origin, 0, 0), exponents=(e, 127, 127))
            vectors += pinned(f"origin {origin:#x}, plane {q}", ray(n, *along(0)))
    case(suite, "box/one-rounding", "G12-191", vectors)


def fields(suite):
    vectors = [named(f"{name} {1 << n:#x}", ray(box([child(*ALL), child(*ALL, kind=1)], **{name: 1 << n}), *along(0)))
               for name in ("internal", "primitive") for n in range(4, 32)]
    vectors += [named("both", ray(box([child(*ALL), child(*ALL, kind=0), child(*ALL)], internal=0x12345670, primitive=0x89ABCDE0), *along(0)))]
    case(suite, "box/offsets", "G12-004 G12-005 G12-006 G12-007 G12-047", vectors)
    plain = [child((100 * i, 0, 0), (4000, 4095, 4095), kind=(5, 0)[i % 2]) for i in range(6)]
    for name, row, values in (("parent", "008", (0, INVALID, 0x12345678, 5)), ("spare", "020", range(16))):
        case(suite, f"box/{name}", f"G12-{row}", [named(f"{v:#x}", ray(box(plain, **{name: v}), *along(0))) for v in values])
    case(suite, "box/child-unused", "G12-031", [named(f"{v:#x}", ray(box([child(*ALL, unused=v), child(*ALL, kind=0, unused=v)]), *along(0)))
                                              for v in range(16)])
    eight = [child((50 * i, 0, 0), (4095,) * 3) for i in range(8)]
    case(suite, "box/count", "G12-021 G12-022 G12-261", [named(f"count field {n}", ray(box(eight, count=n), *along(0))) for n in range(16)])
    vectors = []
    for kind in range(16):
        n = box([child(*ALL, kind=kind, size=1), child(*ALL, kind=5, size=2), child(*ALL, kind=kind, size=3), child(*ALL, kind=1)])
        for sort in (0, 1):
            vectors.append(named(f"type {kind}, sort {sort}", ray(n, *along(0), sort=sort)))
    case(suite, "box/node-type", "G12-037 G12-048", vectors)
    vectors = []
    for size in range(16):
        for kind in (5, 6, 0):
            n = box([child(*ALL, kind=kind, size=size), child(*ALL, kind=kind, size=15 - size), child(*ALL, kind=kind)], internal=0xFFFFFF80)
            vectors.append(named(f"size {size}, type {kind}", ray(n, *along(0), sort=0)))
    case(suite, "box/node-size", "G12-038 G12-039", vectors)
    rng, vectors = random.Random(4), []
    for n in range(24):
        c = [child(*ALL, kind=rng.choice((5, 5, 0, 6, 9)), size=rng.randrange(4)) for _ in range(8)]
        vectors.append(named(f"order {n}", ray(box(c), *along(0), sort=n % 2)))
    case(suite, "box/child-order", "G12-049 G12-050 G12-039 G12-200", vectors)


def culling(suite):
    nodes = [box([child((10 * i, 0, 0), (4095,) * 3, flags=8 * half + i) for i in range(8)]) for half in (0, 1)]
    forces, culls = (0, 1, 2, 3), (0, 0x40, 0x80, 0xC0, 0x100, 0x200, 0x3C0)
    vectors = [named(f"flags {f | c:#x}, node {k}", ray(n, *along(0), flags=f | c)) for k, n in enumerate(nodes) for f in forces for c in culls]
    case(suite, "box/cull-flags", "G12-030 G12-180 G12-181 G12-182 G12-183 G12-184 G12-157 G12-158 G12-163 G12-164 G12-165 G12-166", vectors)
    case(suite, "box/pointer-flags", "G12-176 G12-179", [
        named(f"flags {1 << f:#x}, node {k}", ray(n, *along(0), flags=1 << f, pointer_flags=0)) for k, n in enumerate(nodes) for f in range(10)])
    n = box([child((10 * i, 0, 0), (4095,) * 3, mask=1 << i) for i in range(8)])
    masks = [1 << i for i in range(8)] + [0, 0xFF, 0x5A, 0xF0, 0x100, 0xFFFFFF00, 0xFFFFFF01]
    case(suite, "box/cull-mask", "G12-034 G12-185", [named(f"mask {m:#x}", ray(n, *along(0), mask=m)) for m in masks])


def sorting(suite):
    rng = random.Random(12)
    settings = [dict(triangles_first=t, heuristic=h, wide=w, sort=s) for t in (1, 0) for h in range(4) for w in (1, 0) for s in (1, 0)]
    nodes = []
    for _ in range(6):
        c = []
        for _ in range(8):
            low = rng.randrange(4000)
            c.append(child((low, 0, 0), (rng.randrange(low, 4096), 4095, 4095), kind=rng.choice((5, 5, 6, 0, 1, 2, 8, 9)), size=1))
        nodes.append(box(c))
    equal = box([child((100, 0, 0), (4095,) * 3, kind=k) for k in (5, 0, 6, 1, 5, 9, 2, 5)])
    same = box([child((100, 0, 0), (4095,) * 3) for _ in range(8)])
    rows = "G12-169 G12-170 G12-172 G12-174 G12-202 G12-203 G12-204 G12-205 G12-206 G12-209"
    start = b(Fraction(1, 4), HALF, HALF), b(1, 0, 0)
    for profile, more in (("silicon", "G12-291"), ("gpurt", "G12-207")):
        vectors = [named(f"node {k}, {s}", ray(n, *start, extent=b(Fraction(7, 8))[0], profile=profile, **s)) for k, n in enumerate(nodes[:3])
                   for s in settings]
        case(suite, f"box/sort-{profile}", f"{rows} {more}", vectors)
    vectors = [named(f"node {k}, {s}", ray(n, *along(0, back=k % 2), **s)) for k, n in enumerate(nodes[3:]) for s in settings]
    case(suite, "box/sort-outside", rows, vectors)
    vectors = [named(f"equal {k}, {s}", ray(n, *along(0), **s)) for k, n in enumerate((equal, same)) for s in settings]
    case(suite, "box/sort-equal", "G12-208 G12-206", vectors)


def ends(suite):
    vectors = []
    for q in (1024, 3000):
        n = box([child((0, 0, q), (4095, 4095, 4095))])
        for grow in (0, 1, 2, 3, 6, 64, 128, 255):
            near = pinned("", ray(n, *along(2)))[0]["ray_extent"]
            for less in (0, 1, 2, 3, 8, 100, 127, 128, 129, 254, 255, 256):
                vectors.append(named(f"grow {grow}, {less} ulp short", ray(n, *along(2), extent=near - less, grow=grow)))
    case(suite, "box/grow", "G12-171 G12-198", vectors)
    n = box([child((64 * i, 0, 0), (64 * i + 63, 4095, 4095)) for i in range(8)])
    extents = [*b(0, 2, -1, Fraction(33, 16), 100), INF, INF | 1 << 31, 0x7FC00000, 1, 0x80000000]
    case(suite, "box/extent", "G12-199", [named(f"extent {e:#x}", ray(n, *along(0), extent=e)) for e in extents] +
         [named(f"extent {e:#x}, inside", ray(n, b(Fraction(1, 64), HALF, HALF), b(1, 0, 0), extent=e)) for e in extents])
    rng, vectors = random.Random(5), []
    for n in range(40):
        c = [child((0, 0, 0), (4095, rng.choice((4095, 1000)), 4095), kind=rng.choice((6, 6, 6, 5)), size=rng.choice((0, 0, 0, 1))) for _ in range(8)]
        vectors.append(named(f"node {n}", ray(box(c), *along(0), sort=n % 2)))
    case(suite, "box/reuse", "G12-200 G12-201", vectors)


def slabs(suite):
    rng = random.Random(195)

    def some():
        return rng.getrandbits(1) << 31 | rng.randrange(120, 132) << 23 | rng.getrandbits(23)
    vectors = []
    for n in range(120):
        low = [rng.randrange(3000) for _ in range(3)]
        c = [child(low, [rng.randrange(v + 1, 4096) for v in low]) for _ in range(3)]
        node = box(c, origin=[some() for _ in range(3)], exponents=[rng.randrange(127, 133) for _ in range(3)])
        target = [rng.randrange(0x3F000000, 0x40800000) for _ in range(3)]
        o = [some() for _ in range(3)]
        vectors += pinned(f"ray {n}", ray(node, o, [some() for _ in range(3)] if n % 3 else target))
    case(suite, "box/slab-arithmetic", "G12-195 G12-196 G12-198", vectors)
    vectors, special = [], [0, 0x80000000, INF, INF | 1 << 31, 0x7FC00000, 1, 0x80000001, 0x7F7FFFFF, 0x3F800000, 0xBF800000, 0x00400000]
    node = box([child((0, 0, 0), (2047, 2047, 2047)), child((2048, 1024, 1024), (4095, 3071, 3071), kind=0)])
    for n in range(220):
        o = [rng.choice(special + b(HALF, HALF)) for _ in range(3)]
        d = [rng.choice(special) for _ in range(3)]
        vectors.append(named(f"ray {n}", ray(node, o, d, extent=rng.choice((INF, *b(2, 0))), heuristic=rng.randrange(3))))
    for n in range(24):  # planes that are infinite or no number
        strange = box([child((0, 0, 0), (4095,) * 3), child((0,) * 3, (100,) * 3, kind=1)], origin=[rng.choice(special) for _ in range(3)],
                      exponents=[rng.choice((127, 255, 0)) for _ in range(3)])
        vectors.append(named(f"grid {n}", ray(strange, *along(n % 3), heuristic=n % 4)))
    case(suite, "box/nan-and-infinity", "G12-197 G12-196", vectors)


def oriented(suite):
    rng, vectors = random.Random(6), []
    for n in range(104):
        node = box([child((0, 0, 0), (4095,) * 3, kind=0)], origin=b(-1, -1, -1), exponents=(128,) * 3, obb=n)
        for _ in range(3):
            o = [rng.choice((0, 1 << 31)) | rng.randrange(0x40400000, 0x41000000) for _ in range(3)]
            aim = [rng.choice((0, 1 << 31)) | rng.randrange(0x3C000000, 0x3E800000) for _ in range(3)]
            vectors += pinned(f"matrix {n}", ray(node, o, [F.sub(a, p) for a, p in zip(aim, o)]))
    case(suite, "box/oriented", "G12-023 G12-024 G12-192 G12-026", vectors)
    o, d = b(-3, HALF, 0), b(1, 0, 0)
    node = [child((0, 1792, 0), (4095, 2303, 4095))]
    vectors = [named(f"index {i:#x}", ray(box(node, origin=b(-1, -1, -1), exponents=(128,) * 3, obb=i), o, d))
               for i in (*range(100, 128), 0x12, 0xABCD0012, 0xFFFFFF92, 0xFFFFFFFF, 0x80, 0x92)]
    case(suite, "box/oriented-none", "G12-025 G12-193 G12-194", vectors)


def addresses(suite):
    leaf = [box([child((64 * i, 0, 0), (4095,) * 3)], internal=16 * i << 4) for i in range(8)]
    memory = [w for n in leaf for w in n]
    vectors = [named(f"node {p:#x}", dual(memory, (p, INVALID), *along(0), compressed=1)) for p in
               [i << 4 | 5 for i in range(10)] + [0x15, 0x75, 0x85, 0x80000005]]
    case(suite, "box/fetch", "G12-152 G12-003 G12-258 G12-005", vectors)
    vectors = [named(f"{p:#x} and {q:#x}", dual(memory, (p, q), *along(0), compressed=1)) for p, q in
               ((5, 0x15), (5, 5), (INVALID, 5), (5, 0xFFFFFFFE), (0x25, 0x35), (INVALID, INVALID), (5, INVALID))]
    case(suite, "dual/two-compressed", "G12-259 G12-258", vectors)
    kinds = [named(f"type {t}", ray(leaf[1], *along(0), pointer=t)) for t in (4, 7, 12, 13, 14, 15)]
    case(suite, "types-without-node", "G12-155", kinds)
    case(suite, "sentinels", "G12-156", [named(f"{p:#x}", ray(leaf[1], *along(0), pointer=p)) for p in range(0xFFFFFFF8, 1 << 32)])
    case(suite, "types", "G12-154 G12-153", [named(f"type {t}", ray(leaf[1], *along(0), pointer=t)) for t in (0, 1, 2, 3, 5, 6, 8, 9, 10, 11)])
    case(suite, "uncompressed", "G12-173 G12-260", [named(f"compressed_format_en {c}, type {t}", ray(leaf[1], *along(0), pointer=t, compressed=c))
                                                   for c in (0, 1) for t in (5, 0, 6)])
    vectors = []
    for address, base, size in ((0, 0, 0), (0, 0, 1), (64, 0, 1), (64, 0, 0), (128, 0, 1), (128, 0, 2), (0x10000, 0x100, 0x3FF), (0x10000, 0x100, 0x400),
                                (0, 0x100, 0), (0xFFFFFFFFFFC0, 0, (1 << 42) - 1), (0x8000, 0xFFFFFFFFFF, (1 << 42) - 1), (1 << 47, 1 << 39, (1 << 41) - 1),
                                (1 << 47, 1 << 39, 1 << 41)):
        vectors.append(named(f"base {address:#x}, base_address {base:#x}, size {size:#x}",
                             ray(leaf[1], *along(0), address=address, base_address=base, size=size)))
    vectors += [named(f"size {s}, node {p:#x}", dual(memory, (p, INVALID), *along(0), compressed=1, size=s)) for s in (0, 1, 2, 3, 5, 13, 14) for p in (5, 0x15, 0x25, 0x75)]
    case(suite, "range", "G12-178", vectors)


def add(suite):
    for part in (planes, grids, fields, culling, sorting, ends, slabs, oriented, addresses):
        part(suite)
