"""Instance nodes: transform, pointer and flags, culling, the four children."""
import random
from fractions import Fraction

from gfx12_model import INF, INVALID
from gfx12_nodes import b, box, case, child, instance, named, ray

NAMES = ("gfx12/instance",)
HALF = Fraction(1, 2)
IDENTITY = [b(1, 0, 0, 0), b(0, 1, 0, 0), b(0, 0, 1, 0)]
WHOLE = [child((0, 0, 0), (4095,) * 3)]
FRONT = b(-2, HALF, HALF), b(1, 0, 0)


def see(name, node, **options):
    o, d = options.pop("along", FRONT)
    return named(name, ray(node, o, d, 6, **options))


def transforms(suite):
    rng, vectors = random.Random(9), []

    def some():
        return rng.getrandbits(1) << 31 | rng.randrange(120, 134) << 23 | rng.getrandbits(23)
    for n in range(60):
        m = [[some() for _ in range(4)] for _ in range(3)]
        vectors.append(see(f"matrix {n}", instance(m, WHOLE), along=([some() for _ in range(3)], [some() for _ in range(3)])))
    for r in range(3):
        for c in range(4):
            m = [list(row) for row in IDENTITY]
            m[r][c] = b(Fraction(11, 8))[0]
            vectors.append(see(f"entry {r} {c}", instance(m, WHOLE), along=(b(3, 5, 7), b(1, 2, 4))))
    case(suite, "instance/transform", "G12-124 G12-239 G12-240", vectors)
    # products halfway between two floats, and sums that lie beside it by less than FP64 can tell
    vectors, half = [], b(1 + Fraction(1, 1 << 12))[0]
    for sign in (0, 1 << 31):
        for tiny in (0, 0x01000000, 0x1C800000, 0x21800000, 0x2C000000, 0x33000000):
            for other in (0, 1 << 31):
                for odd in (half, half + 2):
                    m = [[0, 0, odd, tiny | other], [0, half, 0, tiny | other], [half, 0, 0, tiny | other]]
                    beside = [[tiny | other, 0, odd, 0], [tiny | other, half, 0, 0], [half, tiny | other, 0, 0]]
                    o = [half | sign, odd | sign, half | sign]
                    vectors.append(see(f"halfway {o[0]:x} {odd:x}, beside {tiny | other:x}", instance(m, WHOLE), along=(o, o)))
                    vectors.append(see(f"halfway {o[0]:x} {odd:x}, beside {tiny | other:x} in a product", instance(beside, WHOLE), along=(o, o)))
    case(suite, "instance/halfway", "G12-124 G12-239 G12-240", vectors)


def pointers(suite):
    vectors = [see(f"bit {n}", instance(IDENTITY, WHOLE, pointer=1 << n)) for n in range(64)]
    vectors += [see("all", instance(IDENTITY, WHOLE, pointer=(1 << 64) - 1)), see("none", instance(IDENTITY, WHOLE, pointer=0))]
    case(suite, "instance/pointer", "G12-125 G12-126 G12-129 G12-144 G12-145", vectors)
    vectors = []
    for own in [1 << n for n in range(10)] + [0, 3, 0x3FF]:
        for flags in [1 << n for n in range(10)] + [0, 3, 0x11]:
            for pf in (1, 0):
                vectors.append(see(f"instance {own:#x}, ray {flags:#x}", instance(IDENTITY, WHOLE, pointer=own << 54 | 0x4000), flags=flags, pointer_flags=pf))
    case(suite, "instance/flags", "G12-127 G12-128 G12-129 G12-145 G12-167 G12-168 G12-241", vectors)
    vectors = [see(f"user data {1 << n:#x}", instance(IDENTITY, WHOLE, user=1 << n)) for n in range(24)]
    vectors += [see("mask beside it", instance(IDENTITY, WHOLE, user=0xFFFFFF, mask=m)) for m in (0xFF, 1, 0x80)]
    case(suite, "instance/user-data", "G12-131 G12-146 G12-151 G12-244", vectors)
    vectors = [see(f"mask {1 << n:#x} against {m:#x}", instance(IDENTITY, WHOLE, mask=1 << n), mask=m) for n in range(8) for m in (1 << n, 0xFF ^ 1 << n, 0, 0xFF, 0xFFFFFF00)]
    case(suite, "instance/cull-mask", "G12-132 G12-241", vectors)
    case(suite, "instance/unused", "G12-130", [see(f"dword 14 {v:#x}", instance(IDENTITY, WHOLE, parent=v)) for v in (0, INVALID, 0x12345678, 5)])
    case(suite, "instance/spare", "G12-140", [see(f"{v}", instance(IDENTITY, WHOLE, spare=v)) for v in range(16)])
    case(suite, "instance/instance-en", "G12-175 G12-154", [see(f"instance_en {e}", instance(IDENTITY, WHOLE), instances=e) for e in (0, 1)] +
         [named("type 5 is a box all the same", ray(box(WHOLE), *FRONT, 5, instances=0))])


def grids(suite):
    for axis in range(3):
        vectors = []
        for value in b(0, 1, -1, 100, Fraction(1, 8)) + [0x80000000]:
            origin = [0, 0, 0]
            origin[axis] = value
            d, o = [0, 0, 0], b(HALF, HALF, HALF)
            o[axis], d[axis] = b(-2, 1)
            node = instance(IDENTITY, [child((256,) * 3, (4000,) * 3)], origin=origin)
            vectors += [see(f"origin {value:#x}, extent {e:#x}", node, along=(o, d), extent=e) for e in [INF, *b(2, Fraction(33, 16), 3, Fraction(49, 16), 1, Fraction(17, 16), Fraction(35, 16))]]
        case(suite, f"instance/origin-{'xyz'[axis]}", f"G12-{133 + axis} G12-136", vectors)
        vectors = []
        for e in [1 << n for n in range(8)] + [0, 127, 129, 255]:
            exponents = [140] * 3
            exponents[axis] = e
            d, o = [0, 0, 0], b(HALF, HALF, HALF)
            o[axis], d[axis] = b(256, -1)
            node = instance(IDENTITY, [child((0,) * 3, (2047,) * 3)], exponents=exponents)
            vectors += [see(f"exponent {e}, extent {x:#x}", node, along=(o, d), extent=x) for x in [INF, *b(256, 255, 254, 250, 240, 200, 128, 0)]]
        case(suite, f"instance/exponent-{'xyz'[axis]}", f"G12-{137 + axis}", vectors)


def children(suite):
    four = [child((300 * i, 0, 0), (4095,) * 3, kind=k, size=s) for i, (k, s) in enumerate(((5, 1), (0, 1), (5, 2), (8, 1)))]
    case(suite, "instance/count", "G12-141 G12-143 G12-262", [see(f"count field {n}", instance(IDENTITY, four, count=n)) for n in range(16)])
    rng, vectors = random.Random(10), []
    for n in range(60):
        c = []
        for _ in range(rng.randrange(1, 5)):
            low = rng.randrange(3000)
            c.append(child((low, 0, 0), (rng.randrange(low, 4096), rng.choice((4095, 10)), 4095), kind=rng.choice((5, 0, 1, 8, 11)), size=rng.randrange(4),
                           mask=rng.choice((0, 0xFF)), flags=rng.randrange(16)))
        vectors.append(see(f"children {n}", instance(IDENTITY, c), heuristic=n % 4, triangles_first=n >> 2 & 1, flags=rng.choice((0, 0x40, 0x80, 0x100, 0x200))
                           if n % 3 == 0 else 0))
    case(suite, "instance/children", "G12-142 G12-147 G12-148 G12-149 G12-150 G12-242 G12-143", vectors)
    vectors = []
    for profile in ("silicon", "gpurt"):
        for half in range(4):
            node = instance(IDENTITY, [child((10 * i, 0, 0), (4095,) * 3, flags=4 * half + i, mask=i & 1) for i in range(4)], pointer=0x4000 | (1 << 62 if half & 1 else 0))
            vectors += [see(f"flags {4 * half}..., ray {f:#x}, {profile}", node, flags=f, profile=profile) for f in (0, 0x40, 0x80, 0x41, 0x42, 0x81, 0x82, 0xC3, 0x100, 0x200)]
    case(suite, "instance/child-flags", "G12-243", vectors)
    missed = [see("all missed", instance(IDENTITY, WHOLE), along=(b(-2, 5, 5), b(1, 0, 0))), see("missed by mask", instance(IDENTITY, WHOLE, mask=1), mask=2),
              see("missed behind", instance(IDENTITY, WHOLE), along=(b(9, HALF, HALF), b(1, 0, 0)))]
    turned = [b(0, 1, 0, 2), b(-1, 0, 0, 3), b(0, 0, 2, 5)]
    missed += [see("turned, missed", instance(turned, WHOLE)), see("turned, culled", instance(turned, WHOLE, mask=1), mask=2)]
    case(suite, "instance/missed", "G12-240 G12-241 G12-244 G12-147", missed)


def add(suite):
    for part in (transforms, pointers, grids, children):
        part(suite)
