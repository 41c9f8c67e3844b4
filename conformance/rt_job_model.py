"""Jobs of XPHMG_RT: a hierarchy with its bytes, rays through it, the queues, as rt-semantics.md 5 and 11 number them.

A job computes on what the scene means, not on bytes; the program gets the bytes. RT.BBOX and RT.TRI of a child and of a triangle are
those of rt_model.py.
"""
from rt_model import HIT, INF, PACK_HINT, SIGN, T_CLAMP, Lane

EMPTY, NODE, LEAF = 0, 1, 2
CULL_BACK, PACKED, EPS_CTL, ANY_HIT, NODE8, W_GUARD = 1, 4, 8, 16, 32, 64  # opts of a descriptor
FAULT, QUEUE, QFULL, BVH, NUMERIC = 3, 4, 5, 6, 7
STACK = 256


class Scene:
    """tiles: {index: four children (type, index, box)}, ranges: {index: (first, count, base)} with the name of a buffer or None;
    buffers: {name: triangles of nine elements}, of which "triangles" is tri_buf. What is in none of them is no memory. `shift` is how far
    from the heap the descriptor says that it is: where no node can be read, unless it is 0."""

    def __init__(self, eff, node8=False, shift=0):
        self.shift = shift
        self.eff, self.node8 = eff, node8
        self.tiles, self.ranges, self.buffers, self.rest = {}, {}, {"triangles": []}, 0
        boxes = len(eff.array([0] * 24))
        self.tile_bytes = 64 * ((boxes + 16 + 63) // 64)
        self.size = 0  # of the heap, in bytes

    def room(self, size, align):
        at = (self.size + align - 1) // align * align
        self.size = at + size
        return at // align

    def new_node(self):
        """The index of a node behind all that there is."""
        index = self.room(self.tile_bytes * (2 if self.node8 else 1), self.tile_bytes)
        for half in range(2 if self.node8 else 1):
            self.tiles[index + half] = [(EMPTY, 0, None)] * 4
        return index

    def new_leaf(self, first, count, base=None):
        index = self.room(16, 16)
        self.ranges[index] = (first, count, base)
        return index

    def put_child(self, node, child, kind, index, box):
        self.tiles[node + child // 4][child % 4] = (kind, index, box)

    # ---- bytes ----

    def tile(self, index):
        children = self.tiles[index]
        data = self.eff.array([x for _, _, box in children for x in (box or [0] * 6)])
        out = bytearray(data + bytes(self.tile_bytes - len(data)))
        flags = children[3][1] << 8
        for c, (kind, at, _) in enumerate(children):
            flags |= kind << 2 * c
            if c < 3:
                out[len(out) - 16 + 4 * c:len(out) - 12 + 4 * c] = at.to_bytes(4, "little")
        out[-4:] = flags.to_bytes(4, "little")
        return bytes(out)

    def range(self, index):
        first, count, _ = self.ranges[index]
        return first.to_bytes(4, "little") + count.to_bytes(4, "little") + bytes(8)

    def heap(self):
        out = bytearray(self.size)
        for index in self.tiles:
            out[index * self.tile_bytes:(index + 1) * self.tile_bytes] = self.tile(index)
        for index in self.ranges:
            out[index * 16:index * 16 + 16] = self.range(index)
        return bytes(out)

    def buffer(self, name):
        return self.eff.array([x for t in self.buffers[name] for x in t])


class Stop(Exception):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


class Job:
    """What a job does to three queues; `boxes`, `tests` and `flags` are what RTSTAT and EXC.ST gain."""

    def __init__(self, scene, opts=0, epsilon=0):
        self.scene, self.opts, self.epsilon = scene, opts, epsilon
        self.boxes = self.tests = self.flags = self.error = 0
        self.done, self.hits, self.misses = 0, [], []

    def run(self, rays, hit_room, miss_room, enabled=0):
        """rays: (elements, tag); rooms: entries until the queue is full, None without a queue. `done` rays leave the queue."""
        try:
            for elements, tag in rays:
                self.ray(elements, tag, hit_room, miss_room, enabled)
                self.done += 1
        except Stop as stop:
            self.error = stop.code

    def ray(self, elements, tag, hit_room, miss_room, enabled):
        lane = Lane(self.scene.eff)
        wide = lane.widen(elements[:8], (0, 1, 2, 0, 1, 2, 3, 3))
        strange = lane.nan(*wide)
        best = None
        w = lane.eff.widen(elements[8], 3) if self.opts & W_GUARD else INF
        if w & ~SIGN == 0:
            strange = False
        elif strange or lane.nan(w):
            strange = True
        else:
            best = self.trace(lane, elements, wide[7])
        entry = self.hit(lane, tag, best) if best else tag.to_bytes(8, "little") + bytes([strange, 0, 0, 0, 0, 0, 0, 0])
        self.flags |= lane.flags()
        if lane.flags() & enabled:
            raise Stop(NUMERIC)
        queue, room = (self.hits, hit_room) if best else (self.misses, miss_room)
        if room is not None:
            if len(queue) == room:
                raise Stop(QFULL)
            queue.append(entry)

    def trace(self, lane, elements, tm):
        best, stack, scene = None, [(NODE, 0, INF | SIGN)], self.scene
        while stack:
            kind, index, near = stack.pop()
            if lane.below(tm, near):
                continue
            if kind == NODE:
                kept = []
                for half in range(2 if scene.node8 else 1):
                    if scene.shift or index + half not in scene.tiles:
                        raise Stop(FAULT)
                    for c, (child, at, box) in enumerate(scene.tiles[index + half]):
                        if child not in (NODE, LEAF):
                            continue
                        self.boxes += 1
                        verdict, values = lane.bbox(elements, box, T_CLAMP, tm)
                        if verdict == HIT:
                            kept.append((lane.f.key(values[0])[0], 4 * half + c, (child, at, values[0])))
                for _, _, entry in sorted(kept, reverse=True):
                    if len(stack) == STACK:
                        raise Stop(BVH)
                    stack.append(entry)
                continue
            if index not in scene.ranges:
                raise Stop(FAULT)
            first, count, base = scene.ranges[index]
            triangles = scene.buffers[base or "triangles"]
            for k in range(count):
                p = first + k & 0xFFFFFFFF
                if p >= len(triangles):
                    raise Stop(FAULT)
                self.tests += 1
                verdict, values = lane.triangle(elements, triangles[p], self.opts & CULL_BACK, self.epsilon, tm)
                if verdict != HIT:
                    continue
                t = values[0]
                if best is None or lane.below(t, best[0]) or not lane.below(best[0], t) and (p, index) < best[3:5]:
                    best, tm = (*values, p, index, lane.front), t
                    if self.opts & ANY_HIT:
                        return best
        return best

    def hit(self, lane, tag, best):
        eff = self.scene.eff
        width, size = eff.container() // 8, 64 if eff.container() == 64 else 32
        t, u, v, triangle, leaf, front = best
        values = lane.results(HIT, [t, u, v], True, self.opts & PACK_HINT)
        entry = bytearray(tag.to_bytes(8, "little") + triangle.to_bytes(4, "little") + leaf.to_bytes(4, "little") + bytes(size - 16))
        if self.opts & PACK_HINT:
            entry[16:22] = (values[0] & (1 << 48) - 1).to_bytes(6, "little")
        else:
            for k, x in enumerate(values[1:]):
                entry[16 + k * width:16 + (k + 1) * width] = (x & (1 << eff.container()) - 1).to_bytes(width, "little")
        entry[size - 4] = int(front)
        return bytes(entry)
