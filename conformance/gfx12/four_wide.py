"""image_bvh_dual_intersect_ray on the four-wide nodes of section 10."""
import random
from fractions import Fraction

from exact import FP16, round_to
from gfx12_model import INF, INVALID
from gfx12_nodes import b, case, dual, named

NAMES = ("gfx12/dual",)
HALF = Fraction(1, 2)


def box32(children, flags=0):
    """children: (id, low, high)"""
    n = [c[0] for c in children]
    for _, low, high in children:
        n += [*b(*low), *b(*high)]
    return n + [flags, 0x11111111, 0x22222222, 0x33333333]


def box16(children):
    n = [c[0] for c in children]

    def half(x):
        x = Fraction(x)
        return round_to(FP16, int(x < 0), abs(x.numerator), 1 - x.denominator.bit_length())[0] if x else 0
    for _, low, high in children:
        h = [half(x) for x in (*low, *high)]
        n += [h[0] | h[1] << 16, h[2] | h[3] << 16, h[4] | h[5] << 16]
    return n


def triangles(corners, ids, prims=(20, 21), geometry=3):
    return [w for c in corners for w in c] + [*prims, geometry, ids[0] | ids[1] << 8]


def boxes(rng, first):
    out = []
    for i in range(4):
        x = Fraction(rng.randrange(-16, 32), 4)
        out.append((rng.choice((first + 8 * i | 5, first + 8 * i, first + 8 * i | 4, INVALID if i == 3 else first | 6)), (x, 0, 0),
                    (x + Fraction(rng.randrange(1, 16), 4), rng.choice((1, 1, HALF / 2)), 1)))
    return out


def settings():
    return [dict(triangles_first=t, heuristic=h, wide=w, sort=s) for t in (1, 0) for h in range(4) for w in (1, 0) for s in (1, 0)]


def add(suite):
    rng = random.Random(14)
    o, d = b(-5, HALF, HALF), b(1, 0, 0)
    vectors = []
    for n, s in enumerate(settings() * 2):
        for half in (False, True):
            # two 128-byte boxes at 0 and 128, or 64-byte ones at 0 and 64
            first, second = boxes(rng, 0x100), boxes(rng, 0x400)
            memory = box16(first) + box16(second) if half else box32(first) + box32(second)
            pointers = (4, 12) if half else (5, 0x15)
            vectors.append(named(f"boxes {n}, {s}", dual(memory, pointers, o, d, extent=b(8)[0], **s)))
    case(suite, "dual/two-boxes", "G12-246 G12-245", vectors)
    vectors = []
    for flags in (0, 0x40, 0x80, 0x41, 0x42, 0x81, 0x82, 0x100, 0x200, 0x3FF):
        for pf in (1, 0):
            four = [(0x100 + 8 * i | 5, (i, 0, 0), (i + 1, 1, 1)) for i in range(4)]
            for low in (0x03020100, 0x07060504, 0x0B0A0908, 0x0F0E0D0C):
                vectors.append(named(f"child flags {low:#x}, ray {flags:#x}", dual(box32(four, low), (5, INVALID), o, d, flags=flags, pointer_flags=pf, mask=0)))
    case(suite, "dual/box-flags", "G12-245 G12-184", vectors)
    vectors = []
    corners = [b(0, 0, 0), b(1, 0, 0), b(0, 1, 0), b(1, 1, 0)]
    rays = {"first": (b(HALF / 2, HALF / 2, 2), b(0, 0, -1)), "second": (b(HALF + HALF / 2, HALF + HALF / 4, 2), b(0, 0, -1)),
            "behind": (b(HALF / 2, HALF / 2, -2), b(0, 0, 1)), "beside": (b(3, 3, 2), b(0, 0, -1)), "parallel": (b(-1, HALF, 0), b(1, 0, 0))}
    for ids in range(16):
        for name, (p, q) in rays.items():
            node = triangles(corners, (ids | 0x80, ids ^ 0xF))
            vectors.append(named(f"sources {ids:#x}, {name}", dual(node, (0, 1), p, q)))
    case(suite, "dual/triangle-sources", "G12-245", vectors)
    vectors = []
    for ids in (0x09, 0x89, 0x99, 0x19, 0x29, 0xA9, 0x49, 0xC9, 0xD9):
        for flags in [1 << n for n in range(10)] + [0, 0x38, 0x34, 0x43, 0x82]:
            for name in ("first", "behind", "beside"):
                p, q = rays[name]
                vectors.append(named(f"byte {ids:#x}, flags {flags:#x}, {name}", dual(triangles(corners, (ids, ids)), (0, 1), p, q, flags=flags,
                                                                                    opaque_sense=("hw", "seed")[flags >> 3 & 1])))
    case(suite, "dual/triangle-flags", "G12-245", vectors)
    vectors, special = [], [0, 1 << 31, INF, 0x7FC00000, 1, 0x7F7FFFFF]
    for n in range(60):
        def near():
            return rng.choice(special) if n % 3 == 0 and rng.random() < 0.3 else rng.getrandbits(1) << 31 | rng.randrange(125, 130) << 23 | rng.getrandbits(23)
        c = [[near() for _ in range(3)] for _ in range(4)]
        vectors.append(named(f"triangles {n}", dual(triangles(c, (rng.randrange(16), rng.randrange(16)), (n, n + 1), n), (0, 1), [near() for _ in range(3)],
                                                    [near() for _ in range(3)], profile=("silicon", "gpurt")[n & 1])))
    case(suite, "dual/triangle-arithmetic", "G12-245", vectors)
    matrix = [b(2, 0, 0, 1), b(0, 4, 0, -1), b(0, HALF, 1, 3)]
    inst = [w for r in matrix for w in r] + [0x4000, 0x40000000, 0x00000205, 0xA500BEEF]
    node = inst + [0] * 16 + box32(boxes(rng, 0x100))
    vectors = []
    for pointers in ((6, INVALID), (6, 6), (6, 0x15), (0x15, 6), (6, 0x16), (INVALID, 6), (6, 2), (0x15, INVALID), (INVALID, INVALID), (0x15, 0x15)):
        for enabled in (1, 0):
            vectors.append(named(f"{pointers[0]:#x} {pointers[1]:#x}, instance_en {enabled}", dual(node, pointers, o, d, instances=enabled)))
    case(suite, "dual/instances", "G12-247 G12-175", vectors)
    vectors = []
    for word in (0x4000, 0x40000000 << 32 | 0x4000, 0x82000000 << 32 | 0x4000, 0x00C00000 << 32):
        inst[12:14] = [word & INVALID, word >> 32]
        for flags in [1 << n for n in range(10)] + [0, 3]:
            for mask in (0xFF, 0x5A, 0x100):
                vectors.append(named(f"pointer {word:#x}, flags {flags:#x}, mask {mask:#x}", dual(inst + [0] * 16, (6, INVALID), o, d, flags=flags, mask=mask)))
    case(suite, "dual/instance-flags", "G12-245 G12-167 G12-168", vectors)
    vectors = []
    memory = triangles(corners, (0x89, 0x89)) + [0] * 16 + box32([(0x100 + 8 * i | 5, (i, 0, 0), (i + 1, 1, 1)) for i in range(4)])
    for kind in range(8):
        vectors += [named(f"type {kind} first", dual(memory, (kind, 0x15), *rays["first"])), named(f"type {kind} second", dual(memory, (0x15, kind), *rays["first"]))]
    vectors += [named(f"{p:#x}", dual(memory, (p, 0x15), o, d)) for p in range(0xFFFFFFF8, 1 << 32)]
    vectors += [named(f"at {p:#x}", dual(memory, (p, 0), o, d, size=s)) for p in (5, 8, 0x15, 0x1D, 0x20, 0x25) for s in (0, 1, 2, 3, 1000)]
    case(suite, "dual/types", "G12-245 G12-002", vectors)
