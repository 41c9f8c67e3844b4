"""RT.BBOX and RT.TRI over lanes of RSV: several children, several rays, several triangles in one instruction, by rt_model.py for each lane
and rt-semantics.md 2.3, 6 and 9 for where it reads and writes.

Each runs with the sticky flags down and then again with those of the first time up; now and then the next one has the same ray with
another interval, because a machine may keep what it has made of a ray. x12 to x27 are seen afterwards, with P0, a bank, EXC.ST, STAT and RTSTAT.
"""
import rt_model
from effective import state
from hart import Case
from hart_numbers import CLEAR, FLAGS, seeded
from rt_model import CULL_BACK, EPS_CTL, HIT, PACK_HINT, PRED_ONLY, T_CLAMP, W_GUARD, Lane
from xphmg.rays import bbox_tests, some_box, tri_tests

NAMES = ("xphmg/packets",)
FIRST, LAST, POINTERS = 12, 27, 8  # result registers; registers that point to rays
ROWS = "RT-147 RT-188 RT-189 RT-191 RT-214"


class Packet:
    """One instruction over lanes: what stands in memory, how the windows lie, what comes of it."""

    def __init__(self, c, eff, rng):
        self.c, self.eff, self.random = c, eff, rng
        self.boxes = self.tests = 0
        self.ray = None

    def again(self, elements):
        """The first ray, now and then that of the time before with this one's interval."""
        if self.ray and self.random.random() < 0.3:
            elements[0] = self.ray[:6] + elements[0][6:]
        self.ray = elements[0]

    def table(self, data):
        name = f"packet_{len(self.c.tables)}"
        self.c.table(name, data)
        return name

    def tiles(self, children, kinds, node8):
        """Tiles side by side: their bytes."""
        out = b""
        for half in range(2 if node8 else 1):
            data = self.eff.array([x for box in children[4 * half:4 * half + 4] for x in box])
            size = 64 * ((len(data) + 16 + 63) // 64)
            flags = sum(kind << 2 * c for c, kind in enumerate(kinds[4 * half:4 * half + 4]))
            out += data + bytes(size - 4 - len(data)) + flags.to_bytes(4, "little")
        return out

    def windows(self, a_step, d_base, d_step, vl, bank):
        """SV CSRs: rays from x8 on, results from d_base on."""
        return (f"li t0, {1 << 63 | (a_step & 255) << 8 | POINTERS:#x}\n csrw 0x7f9, t0\n li t0, {1 << 63 | (d_step & 255) << 8 | d_base:#x}\n csrw 0x7fb, t0\n "
                f"li t0, {vl - 1 | bank << 10:#x}\n csrw 0x7f8, t0")

    def run(self, name, lanes, slots, before, text, mask, bank, d_base, d_step, zmode, title, scalar=False):
        """`lanes`: for each (counted, verdict, result registers, flags) or None when it is masked."""
        c, step = self.c, len(lanes) * d_step if d_step else 1
        registers = {r: 0x0101010101010101 * r for r in range(FIRST, LAST + 1)}
        after, flags, hits, p0 = dict(registers), 0, 0, 0
        for i, lane in enumerate(lanes):
            if lane:
                flags |= lane[3]
                hits |= int(lane[1] == HIT) << i
            for k in range(slots):
                if lane or zmode:
                    r = d_base + i * d_step + k * step & 31
                    assert r in registers, (d_base, d_step, i, k)
                    after[r] = lane[2][k] if lane else 0
        p0 = hits & 1 if lanes[0] else 0
        banked = hits | mask & ~((1 << len(lanes)) - 1) if bank else mask
        c.asm(f"{self.eff.setup()}\n {before}")
        for turn in range(2):
            self.boxes += sum(bool(x and x[0]) for x in lanes) if name == "bbox" else 0
            self.tests += sum(bool(x and x[0]) for x in lanes) if name == "tri" else 0
            how = f"{title}, {('first', 'second')[turn]} time"
            if not turn:
                c.asm(CLEAR)
            c.asm(f"li t0, {mask:#x}\n pmlow.wr 1, t0\n srli t0, t0, 32\n pmhigh.wr 1, t0\n pmclr 2")
            c.asm(f"li t0, {registers[FIRST]:#x}\n li t1, {0x0101010101010101:#x}")
            c.asm("\n ".join(f"mv x{r}, t0\n add t0, t0, t1" for r in range(FIRST, LAST + 1)))
            if not lanes[0]:
                c.asm("pmmov.p0 x29")  # kept
            c.asm(("" if scalar else "svon.one\n ") + text)
            c.asm("pmmov.p0 t0\n pmlow.rd 1, t1\n csrr t2, 0x7d4\n csrr x28, 0x7d2" + ("" if lanes[0] else "\n sub t0, t0, x29"))
            c.observe("t0", p0, f"P0 of {how}")
            c.observe("t1", banked & 0xFFFFFFFF, f"bank 1 of {how}")
            c.observe("t2", flags & FLAGS, f"EXC.ST of {how}")
            c.observe("x28", self.eff.stat(flags), f"STAT of {how}")
            for r in sorted(registers):
                c.observe(f"x{r}", after[r], f"x{r} of {how}")
            c.csrr("0x821", self.boxes << 8 | self.tests << 36, f"RTSTAT of {how}")

    def place(self, vl, slots):
        """(base, step) of results that fit."""
        room = LAST - FIRST + 1
        fitting = [(FIRST + at, step) for step in (1, 2) for at in range(room) if at + (slots * vl - 1) * step < room]
        fitting += [(LAST - at, -1) for at in range(room) if at + slots * vl <= room]
        fitting += [(FIRST + at, 0) for at in range(room) if at + slots <= room]
        return self.random.choice(fitting)

    def mask_of(self, vl, bank):
        return self.random.getrandbits(64) if bank else (1 << 64) - 1

    # ---- boxes ----

    def bbox(self, vl, flags, node8, rays, bank=0, zmode=0, heap=False, scalar=False):
        eff, rng = self.eff, self.random
        nc = 8 if node8 else 4
        first = rng.randrange(nc) if rays > 1 or rng.random() < 0.3 else rng.randrange(max(1, nc - vl + 1))
        tests = bbox_tests(eff, rng, nc, 0.05, guard=bool(flags & W_GUARD))
        children = [box if rng.random() < 0.9 else some_box(eff, rng, 0.3) for _, box in tests]
        kinds = [rng.choice((1, 2, 2, 1, 1, 2, 0, 3)) for _ in range(nc)]
        elements = [tests[k % nc][0] for k in range(max(rays, 1))]
        self.again(elements)
        mask = self.mask_of(vl, bank)
        packed, lanes = flags & PACK_HINT, []
        for i in range(vl):
            p = first + i
            child, ray = p % nc, elements[p // nc if rays > 1 else 0]
            if bank and not mask >> i & 1:
                lanes.append(None)
                continue
            lane = Lane(eff)
            empty = kinds[child] not in (1, 2)
            verdict, values = lane.bbox(ray, None if empty else children[child], flags)
            out = [] if flags & PRED_ONLY else lane.results(verdict, values, False, packed)
            lanes.append((not empty, verdict, out, lane.flags()))
        slots = 0 if flags & PRED_ONLY else 1 if packed else 3
        base, step = (FIRST, 1) if scalar else self.place(vl, max(slots, 1))
        tile = self.table(self.tiles(children, kinds, node8))
        ray_names = [self.table(eff.array(ray)) for ray in elements]
        size = len(self.tiles(children, kinds, False))
        node = f"la t1, {tile}\n addi t1, t1, {first | (8 if node8 else 0)}\n csrw 0x82a, t1"
        if heap:  # by index
            node = f"la t1, {tile}\n li t0, {3 * size}\n sub t1, t1, t0\n csrw 0x823, t1\n li t0, {3 << 6 | 1 << 4 | first | (8 if node8 else 0):#x}\n csrw 0x82a, t0"
        before = "\n ".join(f"la x{POINTERS + k}, {name}" for k, name in enumerate(ray_names)) + "\n " + node + "\n " + \
            self.windows(1 if rays > 1 else 0, base, step, vl, bank)
        self.run("bbox", lanes, slots, before, f"rt.bbox x{FIRST}, x{POINTERS}, flags={flags}", mask, bank, base, step, zmode,
                 f"{vl} lanes, flags {flags}, {'node8' if node8 else 'node4'}, {rays} rays, first {first}, results from x{base} by {step}, bank {bank}", scalar)

    # ---- triangles ----

    def tri(self, vl, flags, rays, bank=0, zmode=0, heap=False, code=0, scalar=False):
        eff, rng = self.eff, self.random
        offset, count, start = rng.randrange(3), rng.randrange(1, 12), rng.randrange(4)
        # triangles that one ray meets now and then: a few rays' own, shuffled
        tests = tri_tests(eff, rng, start + count, 0.05)
        triangles = [corners for _, corners in tests]
        elements = [tests[min(start + offset, len(tests) - 1)][0]] if rays == 1 else [tests[k % len(tests)][0] for k in range(vl)]
        if rays == 1:
            for k in range(0, len(triangles), 2):  # the one that the ray is for, again and turned round
                t = triangles[min(start + offset, len(tests) - 1)]
                triangles[k] = t if k % 4 else t[3:6] + t[:3] + t[6:]
        self.again(elements)
        mask, packed, lanes = self.mask_of(vl, bank), flags & PACK_HINT, []
        for i in range(vl):
            if bank and not mask >> i & 1:
                lanes.append(None)
                continue
            k = offset + (i if rays == 1 else 0)
            lane = Lane(eff)
            corners = triangles[start + k] if k < count else None
            verdict, values = lane.triangle(elements[0 if rays == 1 else i], corners, flags, code)
            out = [] if flags & PRED_ONLY else lane.results(verdict, values, True, packed)
            lanes.append((corners is not None, verdict, out, lane.flags()))
        slots = 0 if flags & PRED_ONLY else 1 if packed else 4
        base, step = (FIRST, 1) if scalar else self.place(vl, max(slots, 1))
        buffer = self.table(eff.array([x for t in triangles for x in t]))
        triangle_range = self.table(start.to_bytes(4, "little") + count.to_bytes(4, "little") + bytes(8))
        names = [self.table(eff.array(ray)) for ray in elements]
        node = f"la t1, {triangle_range}\n la t0, {buffer}\n sd t0, 8(t1)\n "
        if heap:
            node += f"addi t1, t1, -80\n csrw 0x823, t1\n li t0, {5 << 4 | 1 << 3 | offset:#x}\n csrw 0x82b, t0"
        else:
            node += f"addi t1, t1, {offset}\n csrw 0x82b, t1"
        node += f"\n li t0, {code << 8 if not flags & EPS_CTL else 0x4000:#x}\n csrw 0x820, t0\n li t0, {code if flags & EPS_CTL else 0x7f:#x}\n csrw 0x827, t0"
        before = "\n ".join(f"la x{POINTERS + k}, {name}" for k, name in enumerate(names)) + "\n " + node + "\n " + \
            self.windows(0 if rays == 1 else 1, base, step, vl, bank)
        self.run("tri", lanes, slots, before, f"rt.tri x{FIRST}, x{POINTERS}, flags={flags}", mask, bank, base, step, zmode,
                 f"{vl} lanes, flags {flags}, {rays} rays, {count} triangles from {start}, offset {offset}, results from x{base} by {step}, bank {bank}", scalar)

    def three(self, tests):
        """RT.TRI of one ray against its own triangle in the middle of two others, for each of three tests."""
        for k, (ray, _) in enumerate(tests):
            order = [tests[k - 2][1], tests[k][1], tests[k - 1][1]]
            lanes = []
            for corners in order:
                lane = Lane(self.eff)
                verdict, values = lane.triangle(ray, corners, 0, 0)
                lanes.append((True, verdict, lane.results(verdict, values, True, 0), lane.flags()))
            base, step = self.place(3, 4)
            buffer, name = self.table(self.eff.array([x for t in order for x in t])), self.table(self.eff.array(ray))
            around = self.table(bytes(4) + (3).to_bytes(4, "little") + bytes(8))
            before = f"la x{POINTERS}, {name}\n la t1, {around}\n la t0, {buffer}\n sd t0, 8(t1)\n csrw 0x82b, t1\n " + self.windows(0, base, step, 3, 0)
            self.run("tri", lanes, 4, before, f"rt.tri x{FIRST}, x{POINTERS}", (1 << 64) - 1, 0, base, step, 0, f"triangles of ray {k}, results from x{base} by {step}")


def boxes(suite):
    for n, flags in enumerate((0, 0, T_CLAMP, PACK_HINT, PRED_ONLY, W_GUARD)):
        rng = seeded("packets", "boxes", n)
        p = Packet(Case(f"xphmg/packets/boxes-{n}", f"{ROWS} RT-143 RT-106 RT-107 RT-052"), state("fp32"), rng)
        for k in range(14):
            vl = rng.choice((4, 4, 1, 2, 3, 4, 5))
            many = rng.random() < 0.25
            p.bbox(vl, flags, rng.random() < 0.4, 3 if many else 1, bank=int(k % 4 == 3), heap=rng.random() < 0.3)
            p.bbox(1, flags, rng.random() < 0.4, 1, scalar=True)
        suite.add(p.c)


def triangles(suite):
    for n, flags in enumerate((0, 0, CULL_BACK, PACK_HINT, PRED_ONLY, EPS_CTL)):
        rng = seeded("packets", "triangles", n)
        p = Packet(Case(f"xphmg/packets/triangles-{n}", f"{ROWS} RT-101 RT-102 RT-161"), state("fp32"), rng)
        for k in range(14):
            vl = rng.choice((4, 4, 1, 2, 3))
            p.tri(vl, flags, 3 if rng.random() < 0.25 else 1, bank=int(k % 4 == 3), heap=rng.random() < 0.3, code=rng.choice((0, 110, 128)))
            p.tri(1, flags, 1, code=rng.choice((0, 110)), scalar=True)
        suite.add(p.c)


def policies(suite):
    for n, (name, policy) in enumerate((("fp32", {"FP_RMODE": 1}), ("fp32", {"DENORM_FTZ": 1}), ("fp32", {"NAN_POL": 1}), ("fp32", {"SAT": 1}), ("fp32", {"ZMODE": 1}),
                                        ("fp16", {}), ("int16", {"ZMODE": 1}), ("bf16", {}), ("e5m2", {}))):
        rng, eff = seeded("packets", "policy", n), state(name, **policy)
        p = Packet(Case(f"xphmg/packets/policy-{n}", f"{ROWS} RT-172 RT-173 RT-192"), eff, rng)
        for k in range(6):
            p.bbox(4, (0, T_CLAMP)[k & 1], k % 3 == 2, 1, bank=k & 1, zmode=policy.get("ZMODE", 0))
            p.tri(3, 0, 1, bank=k & 1, zmode=policy.get("ZMODE", 0))
        suite.add(p.c)


def add(suite):
    for part in (boxes, triangles, policies):
        part(suite)
