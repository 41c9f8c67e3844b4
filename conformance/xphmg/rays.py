"""RT.BBOX and RT.TRI by the exact steps of rt_model.py, over formats, rounding, policies and flags of the instruction."""
import rt_model
from effective import ELEMENTS, Eff, state
from exact import FP32, QUIET, Arith, decode
from hart import Case
from hart_numbers import CLEAR, LOOK, one, ordinary, seen_flags, seeded, some, special
from rt_model import Lane

NAMES = ("xphmg/rays",)
BOX, RANGE, CORNERS, SIZE = 128, 384, 400, 512  # a record: ray, tile, TriRange and its triangle


def tile(eff, child, box, kind=1):
    """A BVHNode4 with one child."""
    elements = [0] * 24
    elements[6 * child:6 * child + 6] = box
    data = eff.array(elements)
    size = 64 * ((len(data) + 16 + 63) // 64)
    return data + bytes(size - 4 - len(data)) + (kind << 2 * child).to_bytes(4, "little")


def shown(values):
    return " ".join(f"{v:x}" for v in values)


def bbox_sweep(c, eff, tests, flags, child=0):
    records, expected, labels = [], [], []
    for ray, box in tests:
        lane = Lane(eff)
        verdict, values = lane.bbox(ray, box, flags)
        pred = flags & rt_model.PRED_ONLY
        out = [] if pred else lane.results(verdict, values, False, flags & rt_model.PACK_HINT)
        out = out + [9, 9, 9][len(out):]
        data = bytearray(SIZE)
        data[:len(eff.array(ray))] = eff.array(ray)
        t = tile(eff, child, box)
        data[BOX:BOX + len(t)] = t
        records.append(bytes(data[:RANGE]))
        expected.append(out + [int(verdict == rt_model.HIT), *seen_flags(eff, lane.flags())])
        labels.append(f"ray {shown(ray)}, box {shown(box)}")
    c.asm(eff.setup())
    c.sweep(f"{CLEAR}\n addi t1, s0, {BOX + child}\n csrw 0x82a, t1\n li a0, 9\n li a1, 9\n li a2, 9\n rt.bbox a0, s0, flags={flags}\n pmmov.p0 a5\n {LOOK}",
            "a0 a1 a2 a5 a6 a7".split(), records, expected, labels)


def tri_sweep(c, eff, tests, flags, code=0):
    records, expected, labels = [], [], []
    for ray, corners in tests:
        lane = Lane(eff)
        verdict, values = lane.triangle(ray, corners, flags, code)
        out = [] if flags & rt_model.PRED_ONLY else lane.results(verdict, values, True, flags & rt_model.PACK_HINT)
        out = out + [9, 9, 9, 9][len(out):]
        data = bytearray(SIZE - BOX)
        data[:len(eff.array(ray))] = eff.array(ray)
        data[RANGE - BOX + 4] = 1
        t = eff.array(corners)
        data[CORNERS - BOX:CORNERS - BOX + len(t)] = t
        records.append(bytes(data))
        expected.append(out + [int(verdict == rt_model.HIT), *seen_flags(eff, lane.flags())])
        labels.append(f"ray {shown(ray)}, triangle {shown(corners)}")
    c.asm(eff.setup() + f"\n li t0, {code << 8 if not flags & 8 else 0:#x}\n csrw 0x820, t0\n li t0, {code if flags & 8 else 0:#x}\n csrw 0x827, t0")
    c.sweep(f"{CLEAR}\n addi t1, s0, {CORNERS - BOX}\n sd t1, {RANGE - BOX + 8}(s0)\n addi t1, s0, {RANGE - BOX}\n csrw 0x82b, t1\n li a0, 9\n li a1, 9\n li a2, 9\n li a3, 9\n "
            f"rt.tri a0, s0, flags={flags}\n pmmov.p0 a5\n {LOOK}", "a0 a1 a2 a3 a5 a6 a7".split(), records, expected, labels)


# ---- operands ----

def least(eff, values):
    """The values in order."""
    if eff.integer:
        return sorted(values, key=eff.code)
    f = Arith(eff.element)
    return sorted((v for v in values if decode(eff.element, v)[0] < QUIET), key=f.key) or [0]


def some_box(eff, rng, strange):
    low, high = [], []
    for _ in range(3):
        a, b = some(eff, rng, strange), some(eff, rng, strange)
        ordered = least(eff, [a, b])
        keep = rng.random() < 0.9 and len(ordered) == 2
        low.append(ordered[0] if keep else a)
        high.append(ordered[-1] if keep else b)
    return low + high


def bbox_tests(eff, rng, count, strange=0.15, guard=False):
    out = []
    for n in range(count):
        if n % 3 == 2 and not eff.integer:  # a direction of zeros, and an origin on a plane of the box
            box = some_box(eff, rng, 0)
            o = [rng.choice((box[k], box[3 + k], ordinary(eff, rng))) for k in range(3)]
            d = [rng.choice((0, eff.element.sign, 1, one(eff))) for _ in range(3)]
        else:
            box, o, d = some_box(eff, rng, strange), [some(eff, rng, strange) for _ in range(3)], [some(eff, rng, strange) for _ in range(3)]
        tmin, tmax = least(eff, [some(eff, rng, 0.3), some(eff, rng, 0.6)])[0], rng.choice((special(eff)[-1], some(eff, rng, 0.1), eff.element.largest if eff.element else some(eff, rng)))
        if n % 2 and not eff.integer:
            tmin, tmax = eff.element.largest | eff.element.sign, eff.element.largest if eff.element.inf is None else eff.element.inf
        elif n % 2:
            high, low = rt_model.limits(eff)
            tmin, tmax = low, high
        out.append((o + d + [tmin, tmax] + ([rng.choice((0, one(eff), special(eff)[1]))] if guard else []), box))
    return out


def tri_tests(eff, rng, count, strange=0.1):
    """Rays towards a point of the triangle, its edges and corners too."""
    out = []
    for n in range(count):
        if n % 4 == 3:
            corners, ray = [some(eff, rng, strange * 3) for _ in range(9)], [some(eff, rng, strange * 3) for _ in range(6)]
        elif eff.integer or n % 4 == 2:
            # a triangle across the z axis and a ray along it
            u = one(eff)

            def minus(x):
                return -x & (1 << eff.integer) - 1 if eff.integer else x ^ eff.element.sign
            z = [ordinary(eff, rng) for _ in range(3)]
            corners = [minus(u), minus(u), z[0], u, minus(u), z[1], rng.choice((0, u)), u, z[2]]
            ray = [rng.choice((0, 0, u)), rng.choice((0, 0, minus(u))), minus(ordinary(eff, rng)), 0, 0, rng.choice((u, minus(u)))]
        else:
            corners, ray = [ordinary(eff, rng) for _ in range(9)], [ordinary(eff, rng) for _ in range(3)]
            lane = Lane(eff.but(ftz=0))
            f = lane.f
            wide = [lane.eff.widen(x) for x in corners + ray]
            weights = rng.choice(((0x3EAAAAAB,) * 3, (0x3F000000, 0x3F000000, 0), (ONE, 0, 0), (0x3E800000, 0x3E000000, 0x3F200000)))
            target = [f.add(f.add(f.mul(wide[k], weights[0]), f.mul(wide[3 + k], weights[1])), f.mul(wide[6 + k], weights[2])) for k in range(3)]
            ray += [lane.eff.narrow(f.sub(target[k], wide[9 + k])) for k in range(3)]
        high, low = rt_model.limits(eff)
        interval = [low, high] if n % 3 else [0, some(eff, rng, 0.2)]
        out.append((ray + interval, corners))
    return out


ONE = rt_model.ONE
ROUNDING = [{"FP_RMODE": r & 3, "FP_RMODE2": r >> 2} for r in range(5)]
POLICIES = [{"DENORM_FTZ": 1}, {"NAN_POL": 1}, {"NAN_POL": 2}, {"SAT": 1}, {"SAT": 1, "SAT_MODE": 1}, {"ACCW": 2}, {"Q": 1, "SCALE_SH": 0xFD}, {"Q": 1, "UNS": 1, "ZP_EN": 1, "ZP": 3},
            {"SAT": 1, "NAN_POL": 1, "FP_RMODE": 2}]
NUMBERS = "RT-153 RT-169 RT-172 RT-173 RT-187 RT-219"


def add(suite):
    for name in ELEMENTS:
        rng = seeded("rays", name)
        c = Case(f"xphmg/rays/bbox-{name}", f"RT-091 RT-111 RT-147 RT-148 RT-149 RT-151 RT-146 RT-238 RT-214 RT-209 RT-206 {NUMBERS}")
        t = Case(f"xphmg/rays/tri-{name}", f"RT-104 RT-162 RT-163 RT-165 RT-166 RT-168 RT-240 RT-242 {NUMBERS}")
        for policy in [{}] + POLICIES:
            eff = state(name, **policy)
            bbox_sweep(c, eff, bbox_tests(eff, rng, 12), 0)
            tri_sweep(t, eff, tri_tests(eff, rng, 12), 0)
        suite.add(c)
        suite.add(t)
    for name in ("fp32", "fp16", "bf16", "e5m2", "int16"):
        rng = seeded("rounding", name)
        c = Case(f"xphmg/rays/rounding-{name}", "RT-174 RT-184 RT-013 RT-212 CAP-202 CAP-203 CAP-204 CAP-205 CAP-206 CAP-207")
        for policy in ROUNDING:
            eff = state(name, **policy)
            bbox_sweep(c, eff, bbox_tests(eff, rng, 12, 0.02), 0)
            tri_sweep(c, eff, tri_tests(eff, rng, 12, 0.02), 0)
        suite.add(c)
    extreme(suite)
    forms(suite)


def extreme(suite):
    """Overflow, underflow, subnormals, saturation: FP32 lanes near the ends of the range."""
    for name, rows, policy in (("kept", "RT-210 RT-211 RT-208 RT-213", {}), ("flushed", "RT-175 RT-079 RT-205 RT-211", {"DENORM_FTZ": 1}),
                               ("saturated", "RT-078 RT-186 RT-204", {"SAT": 1}), ("alt-saturated", "RT-186 RT-078", {"SAT": 1, "SAT_MODE": 1})):
        c, rng = Case(f"xphmg/rays/extreme-{name}", rows), seeded("extreme", name)
        for element in ("fp32", "bf16", "fp16", "e4m3"):
            eff = state(element, **policy)

            def wild():
                return rng.getrandbits(1) << eff.native - 1 | rng.choice((rng.getrandbits(eff.native - 1), rng.getrandbits(eff.element.p - 1) + 1,
                                                                        eff.element.largest - rng.getrandbits(2), one(eff)))
            ends = [eff.element.largest | eff.element.sign, eff.element.largest if eff.element.inf is None else eff.element.inf]
            boxes, triangles = [], []
            for _ in range(24):
                ray = [wild() for _ in range(6)] + ends
                pairs = [least(eff, [wild(), wild()]) for _ in range(3)]
                boxes.append((ray, [p[0] for p in pairs] + [p[-1] for p in pairs]))
                triangles.append((ray, [wild() for _ in range(9)]))
            bbox_sweep(c, eff, boxes, 0)
            tri_sweep(c, eff, triangles, 0)
        suite.add(c)


def forms(suite):
    """The flags of the instructions, epsilon codes, children, containers."""
    for flags in range(16):
        rows = "RT-147 RT-134" + "".join(r for bit, r in ((1, " RT-135 RT-136"), (2, " RT-137"), (4, " RT-138"), (8, " RT-139 RT-114 RT-109")) if flags & bit)
        c, rng = Case(f"xphmg/rays/bbox-flags-{flags}", rows), seeded("flags", flags)
        for name in ("fp32", "fp16", "int32", "int8", "bf16", "e4m3"):
            eff = state(name)
            bbox_sweep(c, eff, bbox_tests(eff, rng, 10, guard=bool(flags & 8)), flags)
        suite.add(c)
        rows = "RT-147 RT-154" + "".join(r for bit, r in ((1, " RT-155 RT-241"), (2, " RT-156 RT-160"), (4, " RT-157"), (8, " RT-158")) if flags & bit)
        c = Case(f"xphmg/rays/tri-flags-{flags}", rows.replace("RT-147 ", ""))
        for name in ("fp32", "fp16", "int32", "int8", "bf16", "e4m3"):
            eff = state(name)
            tri_sweep(c, eff, tri_tests(eff, rng, 12), flags, 110 if flags & 8 else 0)
        suite.add(c)
    for flags in (0, 8):
        c, rng = Case(f"xphmg/rays/epsilon-{flags}", f"RT-057 RT-183 {'RT-056 RT-158' if flags else 'RT-037 RT-284'}"), seeded("epsilon", flags)
        eff = state("fp32")
        tests = tri_tests(eff, rng, 12, 0.02)
        quarter = [0x3E800000, 0x3E800000, 0xBF800000, 0, 0, ONE, 0, 0x7F800000]
        tests.append((quarter, [0, 0, 0, ONE, 0, 0, 0, ONE, 0]))  # a determinant of 1, which is epsilon 127
        for code in (0, 1, 2, 64, 100, 120, 126, 127, 128, 130, 140, 254, 255):
            tri_sweep(c, eff, tests, flags, code)
        suite.add(c)
    c, rng = Case("xphmg/rays/children", "RT-090 RT-094 RT-095 RT-143"), seeded("children")
    for name in ("fp32", "fp16", "int8"):
        eff = state(name)
        for child in range(4):
            bbox_sweep(c, eff, bbox_tests(eff, rng, 6, 0.02), 0, child)
    suite.add(c)
    c, rng = Case("xphmg/rays/containers", "RT-088 RT-089 RT-113 RT-173 RT-110"), seeded("containers")
    for pet in range(6):
        for ew in range(4):
            for pack in range(3):
                eff = Eff({"PET": pet, "EW": ew, "PACK": pack})
                bbox_sweep(c, eff, bbox_tests(eff, rng, 3, 0.02), 0, (pet + ew + pack) % 4)
                tri_sweep(c, eff, tri_tests(eff, rng, 3, 0.02), 0)
    suite.add(c)
    watertight(suite)


def watertight(suite):
    """A fan of triangles around a point: rays to its edges and to the point hit at least one, in every rounding mode."""
    rng = seeded("fan")
    c = Case("xphmg/rays/watertight", "RT-164 RT-240")
    for policy in ROUNDING + [{"DENORM_FTZ": 1}]:
        eff = state("fp32", **policy)
        f, tests, hits = Arith(FP32), [], []
        for _ in range(6):
            centre = [ordinary(eff, rng), ordinary(eff, rng), 0]
            rim = [[f.add(centre[0], x), f.add(centre[1], y), f.mul(ordinary(eff, rng), 0x3C000000)] for x, y in ((ONE, 0), (0x3F000000, ONE), (0xBF000000, ONE), (0xBF800000, 0), (0xBF000000, 0xBF800000), (0x3F000000, 0xBF800000))]
            o = [ordinary(eff, rng) for _ in range(2)] + [0x42000000]
            for k in range(6):
                middle = [f.mul(f.add(a, b), 0x3F000000) for a, b in zip(centre, rim[k])]
                for target in (middle, centre):
                    ray = o + [f.sub(a, b) for a, b in zip(target, o)] + [0xFF800000, 0x7F800000]
                    both = [centre + rim[k] + rim[(k + 1) % 6], centre + rim[k - 1] + rim[k]]
                    tests += [(ray, t) for t in both]
                    hits.append(any(Lane(eff).triangle(ray, t, 0, 0)[0] == rt_model.HIT for t in both) or target is centre)
        assert all(hits)
        tri_sweep(c, eff, tests, 0)
    suite.add(c)
