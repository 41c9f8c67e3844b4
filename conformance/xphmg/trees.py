"""Jobs of rays through hierarchies: what each ray finds, in which entry, and how many boxes and triangles it tests on its way,
by rt_job_model.py. The counts show the order of a traversal, and ANY_HIT shows it too.

A machine may keep what it has read of a hierarchy, may go another way once NX is up, and may trace many rays at once: so jobs follow
each other, with NX up and with it down, over the same hierarchy, a changed one and another one, with few rays and with many.
"""
import rt_job_model as model
from effective import state
from exact import FP32, NX, Arith, decode
from hart import Case
from hart_numbers import CLEAR, FLAGS, one, ordinary, seeded
from rt_job_model import ANY_HIT, CULL_BACK, EMPTY, EPS_CTL, LEAF, NODE, NODE8, PACKED, W_GUARD, Job, Scene

NAMES = ("xphmg/trees",)
F = Arith(FP32)
INF, SIGN, ONE = 0x7F800000, 1 << 31, 0x3F800000
NAN = 0x7FC00000
FILL = 0xA5
ROWS = "RT-005 RT-095 RT-096 RT-098 RT-099 RT-100 RT-103 RT-125 RT-170 RT-260 RT-273 RT-275"


# ---- numbers ----

def floats(*values):
    """FP32 bits of small dyadic numbers, for coordinates."""
    return [F.put(int(v < 0), abs(v), -4) if v else 0 for v in (round(v * 16) for v in values)]


def least(values):
    return min(values, key=F.key)


def most(values):
    return max(values, key=F.key)


def bounds(eff, triangles):
    """The box of triangles, in elements."""
    order = (lambda v: eff.code(v)) if eff.integer else Arith(eff.element).key
    axes = [[t[3 * j + a] for t in triangles for j in range(3)] for a in range(3)]
    return [min(a, key=order) for a in axes] + [max(a, key=order) for a in axes]


def around(eff, rng, size=4):
    """A triangle somewhere in a cube, in elements."""
    if eff.element is FP32:
        centre = [rng.uniform(-size, size) for _ in range(3)]
        return [x for _ in range(3) for x in (F.add(floats(c)[0], F.mul(ordinary(eff, rng, 1), 0x3F000000)) for c in centre)]
    return [ordinary(eff, rng) for _ in range(9)]


# ---- hierarchies ----

def leaf(scene, first, count, rng):
    """A leaf, now and then with another buffer, which has the triangles at other places."""
    base = rng.choice(("others", "triangles")) if scene.eff.element is FP32 and rng.random() < 0.15 else None
    return scene.new_leaf(first, count, base)


def grow(scene, first, count, rng, node=None):
    """A hierarchy over the triangles from `first` on, which lie in order of no axis: children overlap."""
    node = scene.new_node() if node is None else node
    width = 8 if scene.node8 else 4
    places = rng.sample(range(width), rng.randint(2, width))
    at, triangles = first, scene.buffers["triangles"]
    for n, place in enumerate(places):
        rest = first + count - at
        share = rest if n == len(places) - 1 else min(rest, rng.randint(1, max(1, 2 * rest // (len(places) - n))))
        if share == 0:
            break
        box = bounds(scene.eff, triangles[at:at + share])
        if share > 5 or share > 2 and rng.random() < 0.4:
            child = scene.new_node()
            scene.put_child(node, place, NODE, child, box)
            grow(scene, at, share, rng, child)
        else:
            scene.put_child(node, place, LEAF, leaf(scene, at, share, rng), box)
        at += share
    for place in set(range(width)) - set(places):
        if rng.random() < 0.5:  # empty, whatever the box says
            scene.put_child(node, place, rng.choice((EMPTY, 3)), rng.getrandbits(20), [rng.getrandbits(scene.eff.native) for _ in range(6)])
    return node


def forest(eff, rng, count, node8=False):
    scene = Scene(eff, node8)
    triangles = [around(eff, rng) for _ in range(count)]
    for n in range(1, count):
        roll = rng.random()
        if roll < 0.1:  # twice: ties of t, decided by the number of the triangle or of the leaf
            triangles[n] = list(triangles[n - 1])
        elif roll < 0.2:  # a neighbour over an edge
            triangles[n] = triangles[n - 1][3:9] + around(eff, rng)[:3]
        elif roll < 0.25:  # no area
            triangles[n] = triangles[n][:6] + triangles[n][3:6]
    scene.buffers["triangles"] = triangles
    scene.buffers["others"] = [list(t) for t in triangles]
    grow(scene, 0, count, rng)
    return scene


# ---- rays ----

def towards(scene, rng):
    """A ray to a point of a triangle: inside, on an edge, a corner; from far, near, or in an axis."""
    t = rng.choice(scene.buffers["triangles"])
    weights = rng.choice(((0.25, 0.25, 0.5), (0.5, 0.5, 0), (1, 0, 0), (0.375, 0.5, 0.125)))
    target = [F.add(F.add(F.mul(t[a], floats(weights[0])[0]), F.mul(t[3 + a], floats(weights[1])[0])), F.mul(t[6 + a], floats(weights[2])[0]))
              for a in range(3)]
    if rng.random() < 0.3:
        axis, way = rng.randrange(3), rng.choice((0, SIGN))
        d = [rng.choice((0, SIGN)) for _ in range(3)]
        d[axis] = ONE | way
        if rng.random() < 0.5:
            d[(axis + 1) % 3] = rng.choice((ONE, 0x3F000000)) | rng.choice((0, SIGN))
        far = floats(rng.choice((2, 16)))[0]
        o = [F.sub(target[a], F.mul(d[a], far)) for a in range(3)]
    else:
        o = floats(*(rng.uniform(-12, 12) for _ in range(3)))
        d = [F.sub(target[a], o[a]) for a in range(3)]
    return o + d


def interval(rng):
    return rng.choice(([0, INF], [0, INF], [SIGN, INF], [INF | SIGN, INF], floats(0, 1), floats(0.5, 30), floats(1, 1), floats(2, 1), floats(-3, 8)))


def some_rays(scene, rng, count, strange=0.1, guard=False):
    """(elements, tag)"""
    rays = []
    for n in range(count):
        if scene.eff.element is FP32:
            e = towards(scene, rng) + interval(rng)
            if rng.random() < strange:
                e[rng.randrange(8)] = rng.choice((NAN, INF, INF | SIGN, 0, SIGN, 1, 0x7F7FFFFF, 0x00800000, 0x7F800001))
        else:
            eff = scene.eff
            t = rng.choice(scene.buffers["triangles"])
            o = [ordinary(eff, rng) for _ in range(3)]
            e = o + [minus(eff, t[a], o[a]) for a in range(3)] + list(limits(eff))
        rays.append((e + ([rng.choice((0, one(scene.eff), one(scene.eff)))] if guard else []), rng.getrandbits(64)))
    return rays


def minus(eff, a, b):
    if eff.integer:
        return a - b & (1 << eff.integer) - 1
    return Arith(eff.element).sub(a, b)


def limits(eff):
    if eff.integer:
        return 0, (1 << eff.integer - 1) - 1
    return 0, eff.element.largest


# ---- programs ----

class Program:
    """Jobs one after the other in one program. A scene is laid down once; `change` alters it for the machine and for the model."""

    def __init__(self, name, rows, eff):
        self.c, self.eff = Case(name, rows), eff
        self.boxes = self.tests = self.error = self.jobs = 0
        self.scenes, self.primer = [], False
        self.c.asm(eff.setup())

    def name_of(self, scene):
        """Lays the scene down and returns the beginning of its labels."""
        name = f"scene{next((n for n, s in enumerate(self.scenes) if s is scene), len(self.scenes))}"
        if not any(s is scene for s in self.scenes):
            self.scenes.append(scene)
            self.c.table(f"{name}_heap", scene.heap())
            for buffer in scene.buffers:
                self.c.table(f"{name}_{buffer}", scene.buffer(buffer))
            for index, (_, _, base) in scene.ranges.items():
                if base is not None:
                    self.pointer(f"{name}_heap", 16 * index + 8, f"{name}_{base}")
        return name

    def pointer(self, label, at, target, shift=0):
        if shift:
            target += f"\n li t2, {shift}\n add t1, t1, t2"
        self.c.asm(f"la t0, {label}\n la t1, {target}\n li t2, {at}\n add t0, t0, t2\n sd t1, 0(t0)")

    def put(self, label, at, data):
        for i in range(0, len(data), 4):
            self.c.asm(f"la t0, {label}\n li t1, {int.from_bytes(data[i:i + 4], 'little'):#x}\n li t2, {at + i}\n add t0, t0, t2\n sw t1, 0(t0)")

    def change_tile(self, scene, index):
        self.put(f"{self.name_of(scene)}_heap", index * scene.tile_bytes, scene.tile(index))

    def change_range(self, scene, index):
        self.put(f"{self.name_of(scene)}_heap", index * 16, scene.range(index)[:8])

    def change_triangle(self, scene, k):
        at = 36 * k  # FP32 alone
        self.put(f"{self.name_of(scene)}_triangles", at, self.eff.array(scene.buffers["triangles"][k]))

    def ready(self, inexact):
        """All stickies down, or NX alone up, by a box whose planes lie at thirds."""
        self.c.asm(CLEAR)
        if inexact:
            ray, box = [0, 0, 0, 0x40400000, 0x40400000, 0x40400000, 0, INF], [ONE] * 3 + [0x40000000] * 3
            lane = model.Lane(self.eff)
            lane.bbox(ray, box, 0)
            assert lane.flags() & FLAGS == NX
            if not self.primer:
                self.primer = True
                self.c.table("prime", self.eff.array(ray) + bytes(96) + self.eff.array(box) + bytes(100) + (1).to_bytes(4, "little"))
            self.c.asm("la a0, prime\n addi a1, a0, 128\n csrw 0x82a, a1\n rt.bbox x0, a0")
            self.boxes += 1

    def job(self, scene, rays, opts=0, code=0, inexact=True, hit_room=None, miss_room=None, turn=0, hitless=False, missless=False, enabled=0):
        """One submission, and all that it changes. Queues begin at slot `turn`, and have room for all entries unless told otherwise;
        returns the model's job."""
        n, eff, c = self.jobs, self.eff, self.c
        self.jobs += 1
        name, width = self.name_of(scene), eff.container() // 8
        ray_size, hit_size = (32, 32, 64, 128)[eff.ew], 64 if width == 8 else 32
        hit_room, miss_room = (len(rays) if r is None else r for r in (hit_room, miss_room))
        self.ready(inexact)
        job = Job(scene, opts | (NODE8 if scene.node8 else 0), code)
        job.run(rays, None if hitless else hit_room, None if missless else miss_room, enabled)
        queues = b""
        slots = ((len(rays) + 1, len(rays), False), (hit_room + 1, 0, hitless), (miss_room + 1, 0, missless))
        for cap, count, _ in slots:
            at = turn % cap
            queues += b"".join(x.to_bytes(4, "little") for x in (at, (at + count) % cap, cap, 0xDEADBEEF)) + bytes(8)
        c.table(f"queues{n}", queues)
        cap = len(rays) + 1
        entries = [bytes(ray_size)] * cap
        for k, (elements, tag) in enumerate(rays):
            data = eff.array(elements)
            entries[(turn + k) % cap] = data + bytes([FILL] * (ray_size - 8 - len(data))) + tag.to_bytes(8, "little")
        c.table(f"rays{n}", b"".join(entries))
        c.table(f"hits{n}", bytes([FILL]) * (hit_size * slots[1][0]))
        c.table(f"misses{n}", bytes([FILL]) * (16 * slots[2][0]))
        c.table(f"desc{n}", bytes(40) + job.opts.to_bytes(4, "little") + bytes(28))
        self.pointer(f"desc{n}", 0, f"{name}_heap", scene.shift)
        self.pointer(f"desc{n}", 32, f"{name}_triangles")
        for k, (kind, (_, _, absent)) in enumerate(zip(("rays", "hits", "misses"), slots)):
            self.pointer(f"queues{n}", 24 * k + 16, f"{kind}{n}")
            if not absent:
                c.asm(f"la t0, desc{n}\n la t1, queues{n} + {24 * k}\n sd t1, {8 + 8 * k}(t0)")
        if enabled:
            c.asm(f"li t0, {enabled:#x}\n csrw 0x7d3, t0")
        c.asm(f"li t0, {(code & 255) << 8 if not opts & EPS_CTL else 0x4000:#x}\n csrw 0x820, t0\n li t0, {code if opts & EPS_CTL else 0x7f:#x}\n csrw 0x827, t0")
        c.asm(f"la s3, desc{n}\n xsubmit.rt s5, s3\n xfence.wait s5")
        if enabled:
            c.asm("csrw 0x7d3, x0")
        self.boxes, self.tests = self.boxes + job.boxes, self.tests + job.tests
        self.error = job.error or self.error
        title = f"job {n}"
        c.csrr("0x821", self.boxes << 8 | self.tests << 36 | self.error << 2 | (2 if self.error else 0), f"RTSTAT after {title}")
        c.csrr("0x7d4", job.flags & FLAGS | (NX if inexact else 0), f"EXC.ST after {title}")
        heads = (job.done, 0, 0)
        tails = (len(rays), len(job.hits), len(job.misses))
        for k, (kind, (cap, _, absent)) in enumerate(zip(("rays", "hits", "misses"), slots)):
            words = (turn + heads[k]) % cap | (turn + tails[k]) % cap << 32
            if absent:
                words = (turn % cap) | (turn % cap) << 32
            c.asm(f"la t1, queues{n}\n ld t0, {24 * k}(t1)")
            c.observe("t0", words, f"head and tail of the {kind} of {title}")
        for kind, size, found, (cap, _, _) in (("hits", hit_size, job.hits, slots[1]), ("misses", 16, job.misses, slots[2])):
            image = [bytes([FILL]) * size] * cap
            for k, entry in enumerate(found):
                image[(turn + k) % cap] = entry
            self.show(f"{kind}{n}", b"".join(image), f"the {kind} of {title}")
        return job

    def show(self, label, data, title):
        """The bytes of a table go into the signature."""
        c, words = self.c, [int.from_bytes(data[i:i + 8], "little") for i in range(0, len(data), 8)]
        at, loop = 8 * len(c.seen), f"show_{label}"
        c.asm(f"la t0, {label}\n li t1, {at}\n add t1, t1, t6\n li t2, {len(words)}\n{loop}:\n ld t3, 0(t0)\n sd t3, 0(t1)\n addi t0, t0, 8\n addi t1, t1, 8\n addi t2, t2, -1\n bnez t2, {loop}")
        c.seen += [(f"{title}, byte {8 * i}", w) for i, w in enumerate(words)]


# ---- cases ----

OPTIONS = ((0, 0), (ANY_HIT, 0), (CULL_BACK, 0), (CULL_BACK | ANY_HIT, 110), (EPS_CTL, 126), (PACKED, 0), (0, 120))


def mixed(suite):
    """Hierarchies of 12 to 60 triangles."""
    for node8 in (False, True):
        for size in (12, 30, 60):
            rng, eff = seeded("trees", node8, size), state("fp32")
            p = Program(f"xphmg/trees/node{8 if node8 else 4}-{size}", f"{ROWS} RT-276 RT-097 {'RT-106 RT-107 RT-108 RT-265' if node8 else 'RT-090 RT-093'}", eff)
            scene = forest(eff, rng, size, node8)
            for n, (opts, code) in enumerate(OPTIONS):
                p.job(scene, some_rays(scene, rng, 14), opts, code, inexact=n % 4 != 3, turn=n % 3 * 5)
            suite.add(p.c)


def alone(suite):
    """Jobs of one ray, each with NX up: nothing that another ray does hides what happens to it."""
    rng, eff = seeded("alone"), state("fp32")
    p = Program("xphmg/trees/alone", ROWS, eff)
    scene = forest(eff, rng, 20)
    wild = (INF, INF | SIGN, 0, SIGN, 1, 0x7F7FFFFF, 0x00800000, NAN, 0x7F800001, 0x21000000, 0x5E000000, 0x7E800000, 0x01000000)
    for n, value in enumerate(wild):
        e, tag = some_rays(scene, rng, 1, 0)[0]
        e[3 + n % 3] = value
        p.job(scene, [(e, tag)])
        e, tag = some_rays(scene, rng, 1, 0)[0]
        e[n % 3] = value
        p.job(scene, [(e, tag)])
    for lo, hi in ((NAN, INF), (0, NAN), (INF, INF), (0, 0), (SIGN, 0), (INF | SIGN, INF | SIGN), (ONE, ONE)):
        e, tag = some_rays(scene, rng, 1, 0)[0]
        p.job(scene, [(e[:6] + [lo, hi], tag)])
    e, tag = some_rays(scene, rng, 1, 0)[0]
    p.job(scene, [(e[:3] + [0, SIGN, 0] + e[6:], tag)])
    suite.add(p.c)


def tiny(suite):
    """Triangles so small, or seen so flat, that their edge values are subnormal or vanish; and so large that they overflow."""
    rng, eff = seeded("tiny"), state("fp32")
    for name, exponents in (("tiny", (-70, -66, -63, -62, -61, -58)), ("huge", (40, 60, 62, 63))):
        p = Program(f"xphmg/trees/{name}", f"{ROWS} RT-210 RT-211 RT-208", eff)
        for exponent in exponents:
            scene = Scene(eff)
            for _ in range(6):
                corners = [F.put(rng.getrandbits(1), rng.getrandbits(5), exponent + rng.randrange(-6, 1)) if k % 3 < 2 else floats(rng.choice((1, 2, 3)))[0] for k in range(9)]
                scene.buffers["triangles"].append(corners)
            root = scene.new_node()
            big = [0xFF000000, 0xFF000000, 0, 0x7F000000, 0x7F000000, floats(8)[0]]
            scene.put_child(root, 0, LEAF, scene.new_leaf(0, 4), big)
            scene.put_child(root, 2, LEAF, scene.new_leaf(4, 2), big)
            rays = [([F.put(rng.getrandbits(1), rng.getrandbits(4), exponent - 2) for _ in range(2)] + [0, rng.choice((0, SIGN)), 0, ONE, 0, INF], n) for n in range(4)]
            for n, ray in enumerate(rays):
                p.job(scene, [ray], inexact=n % 4 != 3)
            p.job(scene, rays)
        suite.add(p.c)


def changed(suite):
    """The program changes the hierarchy between two jobs: a triangle, a box, an index, a count, a type; then another hierarchy; then
    the first one again."""
    for node8 in (False, True):
        rng, eff = seeded("changed", node8), state("fp32")
        p = Program(f"xphmg/trees/changed-{8 if node8 else 4}", f"{ROWS} RT-094 RT-101 RT-102 RT-229", eff)
        scene, other = forest(eff, rng, 24, node8), forest(eff, rng, 16, node8)
        rays = some_rays(scene, rng, 12, 0)
        p.job(scene, rays)
        for k in rng.sample(range(24), 3):
            scene.buffers["triangles"][k] = scene.buffers["triangles"][(k + 7) % 24][:]
            p.change_triangle(scene, k)
            p.job(scene, rays)
        tiles = [i for i in scene.tiles if any(kind in (NODE, LEAF) for kind, _, _ in scene.tiles[i])]
        for what in ("box", "type", "count", "box", "count"):
            index = rng.choice(tiles)
            place = rng.choice([c for c in range(4) if scene.tiles[index][c][0] in (NODE, LEAF)] or [0])
            kind, at, box = scene.tiles[index][place]
            if what == "box" and box:
                scene.tiles[index][place] = (kind, at, box[:3] + [x & ~(SIGN >> 8) for x in box[3:]])
                p.change_tile(scene, index)
            elif what == "type":
                scene.tiles[index][place] = (EMPTY, at, box)
                p.change_tile(scene, index)
            else:
                leaf_at = rng.choice([r for r in scene.ranges if scene.ranges[r][2] is None])
                first, count, base = scene.ranges[leaf_at]
                scene.ranges[leaf_at] = (first, count - 1 if count > 1 else 3, base)
                p.change_range(scene, leaf_at)
            p.job(scene, rays)
            p.job(other, rays)
        suite.add(p.c)


def shapes(suite):
    """Leaves of any size, boxes that touch, boxes that are no boxes, hierarchies as deep as the stack."""
    rng, eff = seeded("shapes"), state("fp32")
    p = Program("xphmg/trees/leaves", f"{ROWS} RT-102 RT-293", eff)
    for count in (0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 70):
        for base in (None, "others"):
            scene = Scene(eff)
            scene.buffers["triangles"] = [around(eff, rng, 1) for _ in range(max(count, 1) + 3)]
            scene.buffers["others"] = scene.buffers["triangles"][::-1]
            root = scene.new_node()
            box = floats(-4, -4, -4, 4, 4, 4)
            scene.new_leaf(1, 1)  # of no node: what lies in front of a range is not its buffer
            scene.put_child(root, 2, LEAF, scene.new_leaf(2, count, base), box)
            scene.new_leaf(1, 1)
            scene.put_child(root, 1, LEAF, scene.new_leaf(0, 1), box)
            p.job(scene, some_rays(scene, rng, 2 if count > 9 else 4, 0), rng.choice((0, ANY_HIT, CULL_BACK)))
    suite.add(p.c)
    touching(suite)
    odd_boxes(suite)
    deep(suite)
    emptied(suite)
    long(suite)
    misplaced(suite)


def touching(suite):
    """Children that a ray enters at the same place are taken in their order, those in front first: the first hit that counts
    shows it. Here all children have a triangle that the ray meets, and their boxes lie in each order."""
    rng, eff = seeded("touching"), state("fp32")
    p = Program("xphmg/trees/order", f"{ROWS} RT-276", eff)
    for node8 in (False, True):
        for n in range(8 if node8 else 12):
            scene = Scene(eff, node8)
            root, width = scene.new_node(), 8 if node8 else 4
            used = rng.sample(range(width), rng.randint(2, width))
            for k, child in enumerate(used):
                near = rng.choice((1, 2, 2, 3, k + 1))
                z = near + rng.choice((0, 0.5))
                scene.buffers["triangles"].append(floats(-4, -4, z, 8, -4, z, -4, 8, z))
                box = floats(-4, -4, near, 8, 8, near + 1)
                if rng.random() < 0.3:
                    inner = scene.new_node()
                    scene.put_child(inner, rng.randrange(width), LEAF, scene.new_leaf(k, 1), box)
                    scene.put_child(root, child, NODE, inner, box)
                else:
                    scene.put_child(root, child, LEAF, scene.new_leaf(k, 1), box)
            o = [0x3DCCCCCD, 0x3E4CCCCD, 0]
            rays = [(o + floats(0, 0.125, 1) + [0, INF], 1), (o[:2] + floats(9) + [0x3C000000, 0, 0xBF800000, 0, INF], 2),
                    (o[:2] + floats(1.5, 0, 0, 1) + [INF | SIGN, INF], 3), (o + floats(0.0625, 0.125, 1, 2, 8), 4)]
            p.job(scene, rays, ANY_HIT)
            p.job(scene, rays, 0)
    suite.add(p.c)


def odd_boxes(suite):
    rng, eff = seeded("odd"), state("fp32")
    p = Program("xphmg/trees/boxes", f"{ROWS} RT-151 RT-206", eff)
    whole = floats(-8, -8, -8, 8, 8, 8)
    for node8 in (False, True):
        for axis in range(3):
            scene = forest(eff, rng, 9, node8)
            node = scene.new_node()
            scene.tiles[node][:], scene.tiles[0][:] = scene.tiles[0][:], scene.tiles[node][:]
            if node8:
                scene.tiles[node + 1][:], scene.tiles[1][:] = scene.tiles[1][:], scene.tiles[node + 1][:]
            strange = [whole[:], whole[:], whole[:], whole[:]]
            strange[0][axis], strange[0][3 + axis] = strange[0][3 + axis], strange[0][axis]  # turned round
            strange[1][rng.choice((axis, 3 + axis))] = NAN
            strange[2][axis] = strange[2][3 + axis] = 0  # flat
            strange[3][axis], strange[3][3 + axis] = INF | SIGN, INF
            extra = scene.new_leaf(0, 2)
            for k, box in enumerate(strange):
                scene.put_child(0, k, *((NODE, node) if k == 3 else (LEAF, extra)), box)
            rays = some_rays(scene, rng, 6, 0)
            e, tag = rays[0]
            e[axis], e[3 + axis] = 0, rng.choice((0, SIGN))  # in the plane of the flat box
            p.job(scene, rays)
            scene.put_child(0, 1, LEAF, extra, whole)
            p.change_tile(scene, 0)
            p.job(scene, rays, rng.choice((0, ANY_HIT)))
    suite.add(p.c)


def deep(suite):
    """A chain whose nodes leave three entries each on the stack: with 85 of them it is full, one more is an error."""
    eff = state("fp32")
    p = Program("xphmg/trees/deep", f"{ROWS} RT-128 RT-083 RT-277", eff)
    box, far = floats(-1, -1, 1, 1, 1, 2), floats(-1, -1, 1.5, 1, 1, 2)
    for nodes, last in ((84, 4), (85, 3), (85, 4), (86, 2), (86, 1)):
        scene = Scene(eff)
        scene.buffers["triangles"] = [floats(-1, -1, 1.5, 3, -1, 1.5, -1, 3, 1.5)]
        chain = [scene.new_node() for _ in range(nodes)]
        leaf_at = scene.new_leaf(0, 1)
        for n, node in enumerate(chain):
            inner = n + 1 < nodes
            scene.put_child(node, 0, NODE if inner else LEAF, chain[n + 1] if inner else leaf_at, box)
            for c in range(1, 4 if inner else last):
                scene.put_child(node, c, LEAF, leaf_at, far)
        away = (floats(9, 9, 0, 0.125, 0, 1) + [0, INF], 0x77)
        for slope in (0, 0x3DCCCCCD):  # in a plane with an axis, and in none
            p.job(scene, [away, (floats(-0.5, -0.5, 0) + [0x3DCCCCCD, slope, ONE, 0, INF], 0x55), away])
    suite.add(p.c)


def emptied(suite):
    """A child of a node that had eight, of which each is hit, becomes empty: nothing behind it is tested any more."""
    eff = state("fp32")
    p = Program("xphmg/trees/emptied", f"{ROWS} RT-106 RT-265 RT-090", eff)
    box = floats(-1, -1, 1, 1, 1, 2)
    for slot in range(8):
        scene = Scene(eff, True)
        scene.buffers["triangles"] = [floats(-1, -1, 1.5, 3, -1, 1.5, -1, 3, 1.5)]
        chain = [scene.new_node() for _ in range(3)]
        for n, node in enumerate(chain):
            for c in range(8):
                below = n < 2 and c == (slot if n == 1 else 0)
                scene.put_child(node, c, *((NODE, chain[n + 1]) if below else (LEAF, scene.new_leaf(0, 1))), box)
        rays = [(floats(-0.5, -0.5, 0) + [0x3DCCCCCD, 0x3DCCCCCD, ONE, 0, INF], tag) for tag in range(3)]
        p.job(scene, rays)
        scene.put_child(chain[1], slot, EMPTY, chain[2], box)
        p.change_tile(scene, chain[1] + slot // 4)
        p.job(scene, rays)
    suite.add(p.c)


def long(suite):
    """A ray that tests some ten thousand triangles, most of them the same ones again, and hits one at the end of its way."""
    eff = state("fp32")
    p = Program("xphmg/trees/long", ROWS, eff)
    box, last = floats(-1, -1, 1, 1, 1, 2), floats(-1, -1, 1.5, 1, 1, 2)
    scene = Scene(eff)
    scene.buffers["triangles"] = [floats(5, 5, 1, 6, 5, 1, 5, 6, 1)] * 64 + [floats(-1, -1, 1.75, 3, -1, 1.75, -1, 3, 1.75)]
    chain = [scene.new_node() for _ in range(52)]
    for n, node in enumerate(chain):
        inner = n + 1 < len(chain)
        scene.put_child(node, 0, NODE if inner else LEAF, chain[n + 1] if inner else scene.new_leaf(64, 1), last)
        for c in range(1, 4):
            scene.put_child(node, c, LEAF, scene.new_leaf(0, 64), box)
    for slope in (0, 0x3DCCCCCD, 0x3DCCCCCD):  # twice: then what was read is known
        p.job(scene, [(floats(-0.5, -0.5, 0) + [0x3DCCCCCD, slope, ONE, 0, INF], 0x55)])
    suite.add(p.c)


def misplaced(suite):
    """The descriptor names a heap at an address where no node can begin, or where there is no memory."""
    rng, eff = seeded("misplaced"), state("fp32")
    p = Program("xphmg/trees/misplaced", f"{ROWS} RT-083", eff)
    for shift in (0, 32, 4, 1 << 39):
        scene = Scene(eff, False, shift)
        scene.buffers["triangles"] = [floats(-1, -1, 1.5, 3, -1, 1.5, -1, 3, 1.5)]
        scene.put_child(scene.new_node(), 0, LEAF, scene.new_leaf(0, 1), floats(-1, -1, 1, 1, 1, 2))
        p.job(scene, some_rays(scene, rng, 3, 0))
    suite.add(p.c)


def queues(suite):
    """Queues that are full, absent, turned; rays that stop a job and stay at its head."""
    rng, eff = seeded("queues"), state("fp32")
    p = Program("xphmg/trees/queues", f"{ROWS} RT-115 RT-116 RT-117 RT-118 RT-119 RT-120 RT-122 RT-123 RT-277 RT-083", eff)
    scene = forest(eff, rng, 16)
    for turn in (0, 3, 11):
        for inexact in (False, True):
            rays = some_rays(scene, rng, 11, 0.2)
            p.job(scene, rays, turn=turn, inexact=inexact)
            p.job(scene, rays, turn=turn, inexact=inexact, hit_room=3)
            p.job(scene, rays, turn=turn, inexact=inexact, miss_room=1)
            p.job(scene, rays, turn=turn, inexact=inexact, hitless=True)
            p.job(scene, rays, turn=turn, inexact=inexact, missless=True)
    for bit in (1, 8, 16):  # NX, DZ, NV
        rays = some_rays(scene, rng, 6, 0) + [(floats(0.5, 0.5, -9, 0, 0, 1) + [0, INF], 1)] + [(floats(0.5, 0.5, -9) + [0x3DCCCCCD, 0x7F800001, ONE, 0, INF], 1)]
        p.job(scene, rays, inexact=False, enabled=bit)
        p.job(scene, rays, inexact=bit != 1, enabled=bit)
    lost = forest(eff, rng, 8)
    lost.put_child(0, 3, LEAF, 0xFFFFFF, floats(-20, -20, -20, -18, -18, -18))  # leaf index of 24 bits: no memory
    scene.tiles[0][0] = (NODE, 0xFFFFFFF0, floats(-8, -8, -8, 8, 8, 8))
    p.change_tile(scene, 0)
    away = [(floats(40, 40, 40, 0.125, 0.25, 1) + [0, INF], 1)] * 2
    for inexact in (False, True):
        p.job(scene, away + some_rays(scene, rng, 3, 0), inexact=inexact)
    suite.add(p.c)


def formats(suite):
    """Other elements, and FP32 that is not rounded to nearest, flushed, scaled or packed."""
    for name in ("fp16", "bf16", "bf16-lite", "int8", "int16", "int32", "e4m3", "e5m2"):
        rng, eff = seeded("job", name), state(name)
        p = Program(f"xphmg/trees/{name}", f"{ROWS} RT-089 RT-091 RT-172 RT-173", eff)
        # the primer is an FP32 box: NX comes from the rays themselves here
        for opts, guard in ((0, False), (ANY_HIT | W_GUARD, True), (PACKED, False)):
            scene = forest(eff, rng, 8)
            p.job(scene, some_rays(scene, rng, 6, 0, guard), opts, inexact=False)
        suite.add(p.c)
    rng = seeded("policies")
    for n, policy in enumerate(({"FP_RMODE": 1}, {"FP_RMODE": 2}, {"FP_RMODE": 3}, {"FP_RMODE2": 1}, {"DENORM_FTZ": 1}, {"NAN_POL": 1}, {"SAT": 1}, {"SAT": 1, "SAT_MODE": 1}, {"ACCW": 1})):
        eff = state("fp32", **policy)
        p = Program(f"xphmg/trees/policy-{n}", f"{ROWS} RT-174 RT-182", eff)
        scene = forest(eff, rng, 10)
        for opts in (0, PACKED):
            p.job(scene, some_rays(scene, rng, 8), opts, inexact=opts == 0 and not {"FP_RMODE", "FP_RMODE2", "DENORM_FTZ"} & set(policy))
        suite.add(p.c)
    eff = state("fp32")
    p = Program("xphmg/trees/guard", f"{ROWS} RT-109 RT-114", eff)
    scene = forest(eff, rng, 10)
    for _ in range(3):
        p.job(scene, some_rays(scene, rng, 8, 0.2, True), W_GUARD)
    suite.add(p.c)


def add(suite):
    for part in (mixed, alone, tiny, changed, shapes, queues, formats):
        part(suite)
