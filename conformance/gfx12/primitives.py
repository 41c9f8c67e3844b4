"""Primitive nodes: where each bit of header, vertices, indices and descriptors lies, and what a triangle gives."""
import random
from fractions import Fraction

from gfx12_model import INF, INVALID, F
from gfx12_nodes import b, case, descriptor, dual, named, primitive, ray

NAMES = ("gfx12/primitive",)
FLAGS = ("FORCE_OPAQUE FORCE_NON_OPAQUE DISABLE_TRIANGLE_CULL FLIP_FACEDNESS CULL_BACK_FACING CULL_FRONT_FACING CULL_OPAQUE "
         "CULL_NON_OPAQUE SKIP_TRIANGLES SKIP_PROCEDURAL").split()
TYPES = (0, 1, 2, 3, 8, 9, 10, 11)  # pair 0..7
DOWN = b(0, 0, -1)
SQUARE = [b(x, y, 0) for x in range(4) for y in range(4)]
QUARTER = Fraction(1, 4)


def flip(node, bit):
    node = list(node)
    node[bit // 32] ^= 1 << bit % 32
    return node


def down(x, y, z=4):
    return b(x, y, z), DOWN


def grid(pairs=8, **fields):
    """16 vertices of a 4 x 4 grid, pairs of neighbouring triangles in it."""
    d = [descriptor((p, p + 4, p + 1), (p + 4, p + 5, p + 1), stop=p % 3 == 1, opaque=(p & 1, p >> 1 & 1), double=(p >> 2 & 1, 0))
         for p in (0, 1, 2, 4, 5, 6, 8, 9)[:pairs]]
    return primitive(SQUARE, d, **{"bits": (12, 12, 1), "zeros": 20, "geometry": (4, 2, [9] + [t % 4 for t in range(1, 2 * pairs)]),
                                   "index": (10, 4, [0x2A5] + [(7 * t) % 16 for t in range(1, 2 * pairs)])} | fields)


def header(suite):
    two = [descriptor((0, 1, 2), (0, 2, 3), opaque=(1, 0)), descriptor((3, 4, 5), (5, 4, 1), stop=0, opaque=(0, 1))]
    vertices = [b(x, y, z) for x, y, z in ((1, 2, 3), (1.25, 2, 3), (1.5, 2.5, 3.25), (1.125, 2.25, 3), (1.75, 2.125, 3.5), (1, 2.75, 3.75))]
    # wide fields, so that every bit of header and midpoint matters
    node = primitive(vertices, two, bits=(24, 22, 20), zeros=8, geometry=(10, 6, [0x2B5, 0x2A, 0x15, 0x33]),
                     index=(21, 11, [0x15A5A5, 0x2D3, 0x5A5, 0x7FE]), middle=700)
    fields = (("x-bits", 0, 5, "056 G12-060"), ("y-bits", 5, 5, "057 G12-060"), ("z-bits", 10, 5, "058 G12-060"), ("zeros", 15, 5, "059 G12-075"),
              ("geometry-base-bits", 20, 4, "061 G12-062"), ("geometry-bits", 24, 4, "063 G12-064"), ("pairs", 28, 3, "065"),
              ("primitive-base-bits", 32, 5, "067"), ("primitive-bits", 37, 5, "068"), ("midpoint", 42, 10, "069 G12-070"))
    rays = [(down(Fraction(9, 8), Fraction(17, 8)), 0), (down(Fraction(3, 2), Fraction(5, 2)), 1)]
    for name, low, width, rows in fields:
        vectors = []
        for value in [1 << n for n in range(width)] + [0, (1 << width) - 1]:
            changed = list(node)
            changed[low // 32] = changed[low // 32] & ~((1 << width) - 1 << low % 32) | value << low % 32
            for (o, d), pointer in rays:
                for flags in (0, 1):
                    vectors.append(named(f"{name} {value:#x}, pair {pointer}", ray(changed, o, d, pointer, pointer_flags=flags)))
        case(suite, f"primitive/{name}", f"G12-{rows}", vectors)
    vectors = [named(f"bit {bit}", ray(flip(node, bit), *down(Fraction(9, 8), Fraction(17, 8)), 0, pointer_flags=0)) for bit in range(52)]
    case(suite, "primitive/header", "G12-051", vectors)


def vertices(suite):
    rng, vectors = random.Random(7), []
    for n in range(60):
        zeros = rng.choice((0, 0, 4, 8, 12, 16))
        bits = [rng.randrange(1, 33 - zeros) for _ in range(3)]
        prefix = [rng.getrandbits(32) & 0x407FFFFF | 0x3F000000 for _ in range(3)]
        v = [[(prefix[k] >> zeros + bits[k] << zeros + bits[k]) | rng.getrandbits(bits[k]) << zeros for k in range(3)] for _ in range(4)]
        node = primitive(v, [descriptor((0, 1, 2), (1, 3, 2))], bits=bits, zeros=zeros, index=(8, 3, [200, 5]))
        o = [rng.randrange(0x3F000000, 0x40400000) for _ in range(3)]
        vectors.append(named(f"widths {bits}, {zeros} zeros", ray(node, o, [rng.randrange(0x3F000000, 0x3F900000) | 1 << 31 for _ in range(3)], 0,
                                                                pointer_flags=n % 2)))
    case(suite, "primitive/vertices", "G12-052 G12-053 G12-071 G12-072 G12-073 G12-074 G12-075 G12-077 G12-211", vectors)
    raw = primitive([b(0, 0, 0), b(1, 0, 0), b(0, 1, 0), b(1, 1, 0)], [descriptor((0, 1, 2), (1, 3, 2))])
    vectors = [named("raw floats", ray(raw, *down(QUARTER, QUARTER), 0, pointer_flags=0))]
    vectors += [named(f"bit {bit}", ray(flip(raw, bit), *down(QUARTER, QUARTER), 0, pointer_flags=0)) for bit in range(52, 52 + 384, 5)]
    case(suite, "primitive/raw-vertices", "G12-076 G12-101", vectors)
    long = primitive(SQUARE, [descriptor((15, 3, 4), (4, 5, 15), stop=0), descriptor((15, 14, 15), (15, 15, 0))], bits=(12, 12, 1), zeros=20)
    vectors = [named(f"pair {p}, flags {f}", ray(long, *down(2, 2), p, pointer_flags=f)) for p in (0, 1) for f in (0, 1)]
    vectors += [named(f"pair {p} beside it", ray(long, *down(3, 3), p)) for p in (0, 1)]
    case(suite, "primitive/vertex-15", "G12-263 G12-102 G12-112", vectors)


def indices(suite):
    rng, vectors = random.Random(8), []
    for gab, gpb, pab, ppb in ((0, 0, 0, 0), (2, 2, 10, 3), (10, 2, 3, 3), (2, 10, 1, 4), (30, 30, 31, 31), (30, 0, 31, 0), (0, 30, 0, 31), (4, 6, 12, 12),
                               (6, 4, 13, 12), (8, 8, 12, 13), (28, 28, 28, 28)):
        pairs = 2 if gpb + ppb > 40 else 5
        geometry = [rng.getrandbits(gab) if gab else 0] + [rng.getrandbits(gpb) if gpb else 0 for _ in range(2 * pairs - 1)]
        index = [rng.getrandbits(pab) if pab else 0] + [rng.getrandbits(ppb) if ppb else 0 for _ in range(2 * pairs - 1)]
        d = [descriptor((0, 1, 2), (1, 2, 3), stop=0)] * pairs
        for shift in (0, 11):
            top = 1024 - 29 * pairs - (2 * pairs - 1) * ppb - pab - shift
            node = primitive([b(0, 0, 0), b(1, 0, 0), b(0, 1, 0), b(1, 1, 0)], d, bits=(8, 8, 1), zeros=23, geometry=(gab, gpb, geometry),
                             index=(pab, ppb, index), middle=top)
            vectors += [named(f"widths {gab} {gpb} {pab} {ppb}, pair {p}", ray(node, *down(QUARTER, QUARTER), TYPES[p])) for p in range(pairs)]
    case(suite, "primitive/indices", " ".join(f"G12-{n:03d}" for n in range(78, 90)) + " G12-061 G12-062 G12-063 G12-064 G12-067 G12-068 G12-069 G12-070 "
         "G12-109 G12-115 G12-116 G12-117", vectors)
    node = grid(2)
    vectors = [named(f"bit {bit}", ray(flip(node, bit), *down(QUARTER, QUARTER), TYPES[1])) for bit in range(900, 966)]
    case(suite, "primitive/index-bits", "G12-070 G12-078 G12-079 G12-083 G12-084", vectors)


def descriptors(suite):
    names = {0: ("stop", "090 G12-123"), 1: ("tri1-double-sided", "091"), 2: ("tri1-opaque", "092"), 3: ("tri1-v0", "093"), 7: ("tri1-v1", "094"),
             11: ("tri1-v2", "095"), 15: ("tri0-double-sided", "096"), 16: ("tri0-opaque", "097"), 17: ("tri0-v0", "098"), 21: ("tri0-v1", "099"), 25: ("tri0-v2", "100")}
    starts = sorted(names)
    node = grid(8)
    for low in starts:
        name, rows = names[low]
        width = ([s for s in starts if s > low] + [29])[0] - low
        vectors = []
        for p in range(8):
            at = 1024 - 29 * (p + 1) + low
            for n in range(width):
                cell = (0, 1, 2, 4, 5, 6, 8, 9)[p]
                x, y = cell // 4, cell % 4
                for corner in (QUARTER, 3 * QUARTER):
                    for flags in (0x20, 0x10) if "double" in name else (0,):
                        vectors.append(named(f"pair {p}, bit {low + n}", ray(flip(node, at + n), *down(x + corner, y + corner), TYPES[p], flags=flags)))
        case(suite, f"primitive/{name}", f"G12-{rows} G12-054 G12-055", vectors)
    cells = ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1))
    vectors = [named(f"pair {p} at {q}", ray(node, *down(cells[p][0] + q, cells[p][1] + q), TYPES[p])) for p in range(8) for q in (QUARTER, 3 * QUARTER)]
    case(suite, "primitive/eight-pairs", "G12-153 G12-054 G12-055 G12-101 G12-103 G12-104 G12-110", vectors)
    vectors = []
    for count in range(1, 9):
        for p in range(8):
            vectors.append(named(f"{count} pairs, pair {p}", ray(grid(count), *down(QUARTER, QUARTER), TYPES[p])))
    case(suite, "primitive/navigation", "G12-065 G12-121 G12-122 G12-123", vectors)
    memory = grid(8) + grid(5) + grid(2)
    vectors = [named(f"node {k << 4 | t:#x}", dual(memory, (k << 4 | t, INVALID), *down(QUARTER, QUARTER), compressed=1)) for k in range(4) for t in TYPES]
    case(suite, "primitive/fetch", "G12-152 G12-007 G12-003", vectors)


def pair(opaque=(1, 0), double=(0, 0), tri1=(1, 3, 2), stop=1):
    return primitive([b(0, 0, 0), b(1, 0, 0), b(0, 1, 0), b(1, 1, 0)], [descriptor((0, 1, 2), tri1, stop, opaque, double)], bits=(8, 8, 1), zeros=23,
                     geometry=(4, 2, [5, 2]), index=(4, 2, [9, 3]))


def results(suite):
    from_front, from_back = (b(QUARTER, QUARTER, 2), b(0, 0, -1)), (b(QUARTER, QUARTER, -2), b(0, 0, 1))
    second = (b(3 * QUARTER, 3 * QUARTER, 2), b(0, 0, -1))
    rays = {"front": from_front, "back": from_back, "second": second, "second from behind": (b(3 * QUARTER, 3 * QUARTER, -2), b(0, 0, 1)),
            "beside": (b(2, 2, 2), b(0, 0, -1)), "beside, u < 0": (b(-2, 2, 2), b(0, 0, -1)), "v < 0": (b(QUARTER, -1, 2), b(0, 0, -1)),
            "behind": (b(QUARTER, QUARTER, -1), b(0, 0, -1)), "parallel": (b(-1, QUARTER, 0), b(1, 0, 0)), "edge": (b(0, QUARTER, 2), b(0, 0, -1)),
            "corner": (b(0, 0, 2), b(0, 0, -1)), "diagonal": (b(Fraction(1, 2), Fraction(1, 2), 2), b(0, 0, -1)), "zero": (b(QUARTER, QUARTER, 0), b(0, 0, -1))}
    for profile, rows in (("silicon", "G12-213 G12-214 G12-226 G12-227"), ("gpurt", "G12-215 G12-226")):
        vectors = []
        for pf in (1, 0):
            for sense in ("hw", "seed"):
                vectors += [named(f"{name}, pointer_flags {pf}, {sense}", ray(pair(), *r, 0, pointer_flags=pf, profile=profile, opaque_sense=sense))
                            for name, r in rays.items()]
        case(suite, f"primitive/results-{profile}", rows + " G12-104 G12-105 G12-106 G12-107 G12-108 G12-109 G12-110 G12-111 G12-113 G12-114 G12-115 "
             "G12-211 G12-212 G12-220 G12-228 G12-235", vectors + [named("beyond the extent", ray(pair(), *from_front, 0, extent=b(1)[0], profile=profile))])
        absent = []
        for opaque in ((1, 0), (1, 1)):
            for pf in (1, 0):
                absent += [named(f"{name}, {opaque}, pointer_flags {pf}", ray(pair(opaque, tri1=(0, 0, 0)), *r, 0, pointer_flags=pf, profile=profile))
                           for name, r in rays.items()]
        absent += [named(f"{flag}", ray(pair(tri1=(0, 0, 0)), *from_front, 0, flags=1 << n, profile=profile)) for n, flag in enumerate(FLAGS)]
        case(suite, f"primitive/absent-{profile}", f"G12-{'217 G12-219 G12-227' if profile == 'silicon' else '218'}", absent)
    rows = {0: "157 G12-224", 1: "158 G12-224", 2: "159 G12-222", 3: "160 G12-220 G12-221", 4: "161 G12-221", 5: "162 G12-221", 6: "163 G12-225",
            7: "164 G12-225", 8: "165 G12-216", 9: "166"}
    for n, name in enumerate(FLAGS):
        vectors = []
        for others in (0, 0x30, 0x38, 0x34, 0xC0, 0xC1, 0xC2, 0xC3, 0x300):
            for opaque, double in (((1, 0), (0, 0)), ((0, 1), (1, 0)), ((1, 1), (0, 1))):
                for which in ("front", "back", "second", "beside"):
                    vectors.append(named(f"{name} with {others:#x}, {which}", ray(pair(opaque, double), *rays[which], 0, flags=others ^ 1 << n)))
        case(suite, f"primitive/flag-{name.lower().replace('_', '-')}", f"G12-{rows[n]} G12-223 G12-216", vectors)
    case(suite, "primitive/pointer-flags", "G12-176 G12-179 G12-228",
         [named(f"{f:#x}, {w}", ray(pair(), *rays[w], 0, flags=f, pointer_flags=0)) for f in [1 << n for n in range(10)] + [0x3FF] for w in ("front", "second")])


def procedural(suite):
    rows = "G12-102 G12-106 G12-112 G12-118 G12-119 G12-120 G12-236 G12-237"
    vectors = []
    for opaque in ((0, 0), (1, 1)):
        nodes = {"tri0": primitive([b(-1, -2, -3), b(1, 2, 3)], [descriptor((15, 15, 0), opaque=opaque)], geometry=(6, 0, [0x26]), index=(11, 0, [1234])),
                 "tri1": primitive(SQUARE, [descriptor((0, 4, 1), (15, 15, 3), stop=0, opaque=opaque)], bits=(12, 12, 1), zeros=20, geometry=(6, 4, [0x26, 9]),
                                   index=(11, 5, [1234, 21])),
                 "both": primitive([b(0, 0, 0)], [descriptor((15, 15, 15), (15, 15, 15), opaque=opaque)])}
        for name, node in nodes.items():
            for profile in ("silicon", "gpurt"):
                for flags in (0, 1, 2, 0x40, 0x80, 0x100, 0x200, 0x300, 0x81, 0x42, 0x3C):
                    vectors.append(named(f"{name}, flags {flags:#x}, {profile}", ray(node, *down(QUARTER, QUARTER), 0, flags=flags, profile=profile)))
                vectors += [named(f"{name}, pointer_flags 0, {profile}", ray(node, *down(QUARTER, QUARTER), 0, flags=0x200, pointer_flags=0, profile=profile)),
                            named(f"{name}, seed, {profile}", ray(node, *down(QUARTER, QUARTER), 0, opaque_sense="seed", profile=profile))]
    case(suite, "primitive/procedural", rows, vectors)


def arithmetic(suite):
    rng = random.Random(211)
    special = [0, 1 << 31, INF, INF | 1 << 31, 0x7FC00000, 1, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000]

    def near(scale=(125, 130)):
        return rng.getrandbits(1) << 31 | rng.randrange(*scale) << 23 | rng.getrandbits(23)
    vectors, strange = [], []
    for n in range(160):
        corners = [[near() for _ in range(3)] for _ in range(4)]
        o = [near() for _ in range(3)]
        middle = [F.mul(F.add(F.add(x, y), z), 0x3EAAAAAB) for x, y, z in zip(*corners[:3])]
        d = [F.sub(m, p) for m, p in zip(middle, o)]
        node = primitive(corners, [descriptor((0, 1, 2), (0, 2, 3))])
        vectors.append(named(f"triangle {n}", ray(node, o, d, 0, pointer_flags=n % 2)))
        some = rng.choice
        mixed = [[some((near(), some(special))) for _ in range(3)] for _ in range(4)]
        strange.append(named(f"triangle {n}", ray(primitive(mixed, [descriptor((0, 1, 2), (0, 2, 3))]), [some((near(), some(special))) for _ in range(3)],
                                                  [some((near(), some(special))) for _ in range(3)], 0, pointer_flags=n % 2,
                                                  profile=some(("silicon", "gpurt")))))
        if n % 4 == 0:  # far apart in size: products overflow and underflow
            wild = [[near((1, 254)) for _ in range(3)] for _ in range(4)]
            strange.append(named(f"wild {n}", ray(primitive(wild, [descriptor((0, 1, 2), (0, 2, 3))]), [near((1, 254)) for _ in range(3)],
                                                  [near((1, 254)) for _ in range(3)], 0, pointer_flags=1)))
    case(suite, "primitive/arithmetic", "G12-211 G12-212", vectors)
    case(suite, "primitive/nan-and-infinity", "G12-226 G12-227 G12-211", strange)


def add(suite):
    for part in (header, vertices, indices, descriptors, results, procedural, arithmetic):
        part(suite)
