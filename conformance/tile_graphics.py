"""Graphics contexts, geometry unit and command queue of the tile machine, written from tile-semantics.md 14, 17, 18 and 19."""
import struct

import tile_raster as raster
from single import add, div, fma, mul, mul8, of_bits, sqrt, sub, u8
from tile_raster import (BAD_ALIGN, BAD_DESC, BAD_FORMAT, BAD_INDEX, BAD_MEM, BAD_SAMPLER, BAD_STATE, MASK, Draw, Refused,
                         RState, Sampler, Vertex, argb, ipair, pair)

SMALLEST_W = 2.0 ** -20
CURRENT = {8: 0xFF, 16: 0xFFFF}


class GState:
    def __init__(self, w, memory):
        self.vbo, self.stride, attributes, self.index_base = w[0], w[1] & 0xFFFF, w[1] >> 16, w[2]
        self.normal, self.uv, self.uv_fp16, self.color = (bool(attributes >> k & 1) for k in range(4))
        self.wide_index, self.cull = w[3] & 1, (0, 1, 2, 0)[w[3] >> 1 & 3]
        self.clip, self.user, self.light, self.spec, self.has_scissor = (bool(w[3] >> k & 1) for k in range(3, 8))
        self.mvp = [of_bits(x) for x in w[4:20]]
        self.light_dir = [of_bits(x) for x in w[21:24]]
        self.light_color, self.ambient = argb(w[24]), argb(w[25])
        guard = of_bits(w[27])
        self.guard = guard if 1 <= guard <= 65536 else 1.0
        self.has_viewport, self.viewport = w[29] != 0, ipair(w[28]) + pair(w[29])
        self.scissor = ipair(w[30]) + pair(w[31])
        self.matrix = self.block(memory, w[20], 9) if w[20] else None
        self.plane = self.block(memory, w[26], 4) if self.user else None

    @staticmethod
    def block(memory, address, count):
        if address % 4:
            raise Refused(BAD_ALIGN)
        if not memory.has(address, 4 * count):
            raise Refused(BAD_MEM)
        return [of_bits(x) for x in memory.words(address, count)]


class GParam:
    def __init__(self, w):
        self.model = [of_bits(x) for x in w[:12]]
        self.material, self.spec_power, self.spec_color = argb(w[12]), w[13] & 255, argb(w[14])
        self.has_model, self.has_material = bool(w[15] & 1), bool(w[15] & 2)


class Corner:
    """A vertex on its way: clip position x, y, z, w and what is interpolated, u, v and R, G, B, A."""

    def __init__(self, values):
        self.values = list(values)

    def recoloured(self, other):
        return Corner(self.values[:6] + other.values[6:])


# ---- vertices (17.1 to 17.4) ----

def row(m, x, y, z, w):
    return fma(m[3], w, fma(m[2], z, fma(m[1], y, mul(m[0], x))))


def dot(a, b):
    return fma(a[2], b[2], fma(a[1], b[1], mul(a[0], b[0])))


def norm(a):
    d = dot(a, a)
    if not d != 0 or d != d:
        return [0.0, 0.0, 0.0]
    s = sqrt(d)
    return [div(c, s) for c in a]


def power(b, p):
    r = 1.0
    while p:
        if p & 1:
            r = mul(r, b)
        b = mul(b, b)
        p >>= 1
    return r


def lit(g, param, base, normal):
    if g.matrix:
        m = [g.matrix[0:3], g.matrix[3:6], g.matrix[6:9]]
    elif param.has_model:
        m = [param.model[0:3], param.model[4:7], param.model[8:11]]
    else:
        m = None
    if m:
        normal = [fma(r[2], normal[2], fma(r[1], normal[1], mul(r[0], normal[0]))) for r in m]
    n = norm(normal)
    nl = dot(n, g.light_dir)
    nl = nl if nl > 0 else 0.0
    out = []
    shine = None
    if g.spec and param.spec_power > 0 and nl > 0:
        x, y, z = g.light_dir
        nh = dot(n, norm([x, y, add(z, 1.0)]))
        shine = power(nh if nh > 0 else 0.0, param.spec_power)
    for k in range(3):
        ac, lc = div(float(g.ambient[k]), 255.0), div(float(g.light_color[k]), 255.0)
        t = mul(float(base[k]), fma(lc, nl, ac))
        if shine is not None:
            t = fma(mul(shine, lc), float(param.spec_color[k]), t)
        out.append(u8(t))
    return (*out, base[3])


def fp16(half):
    return struct.unpack("<e", struct.pack("<H", half))[0]


def vertex(memory, g, param, number, assisted):
    """None when a byte of it is not in VRAM."""
    size = 16 + 12 * g.normal + (4 if g.uv_fp16 else 8) * g.uv + 4 * g.color
    at = g.vbo + number * g.stride & MASK
    if not memory.has(at, size):
        return None
    data = memory.bytes[at - raster.VRAM:at - raster.VRAM + size]
    position = list(struct.unpack_from("<4f", data))
    at, normal, uv, base = 16, [0.0, 0.0, 0.0], [0.0, 0.0], (255, 255, 255, 255)
    if g.normal:
        normal, at = list(struct.unpack_from("<3f", data, at)), at + 12
    if g.uv and g.uv_fp16:
        uv, at = [fp16(h) for h in struct.unpack_from("<2H", data, at)], at + 4
    elif g.uv:
        uv, at = list(struct.unpack_from("<2f", data, at)), at + 8
    if g.color:
        base = argb(struct.unpack_from("<I", data, at)[0])
    if not assisted:
        if param.has_material:
            base = tuple(mul8(base[k], param.material[k]) for k in range(4))
        if g.light and g.normal:
            base = lit(g, param, base, normal)
        if param.has_model:
            position = [row(param.model[4 * r:4 * r + 4], *position) for r in range(3)] + position[3:]
        position = [row(g.mvp[4 * r:4 * r + 4], *position) for r in range(4)]
    return Corner(position + uv + [float(c) for c in base])


# ---- triangles (17.6 to 17.9) ----

def planes(g):
    """Distances, in the order of the contract."""
    k = g.guard
    out = [lambda x, y, z, w: sub(w, SMALLEST_W), lambda x, y, z, w: z, lambda x, y, z, w: sub(w, z),
           lambda x, y, z, w: fma(k, w, x), lambda x, y, z, w: fma(k, w, -x),
           lambda x, y, z, w: fma(k, w, y), lambda x, y, z, w: fma(k, w, -y)]
    if g.user:
        a, b, c, d = g.plane
        out.append(lambda x, y, z, w: fma(d, w, fma(c, z, fma(b, y, mul(a, x)))))
    return out


def clipped(g, corners):
    for distance in planes(g):
        d = [distance(*c.values[:4]) for c in corners]
        kept = []
        for i, c in enumerate(corners):
            n = (i + 1) % len(corners)
            here, there = d[i] >= 0, d[n] >= 0
            if here:
                kept.append(c)
            if here != there:
                inside, outside = (i, n) if here else (n, i)
                t = div(d[inside], sub(d[inside], d[outside]))
                kept.append(Corner(fma(t, sub(o, v), v) for v, o in zip(corners[inside].values, corners[outside].values)))
        if len(kept) < 3:
            return []
        corners = kept
    return corners


def on_screen(c, viewport):
    x, y, z, w, u, v, *color = c.values
    vx, vy, vw, vh = viewport
    r = div(1.0, w)
    half_w, half_h = mul(float(vw), 0.5), mul(float(vh), 0.5)
    return Vertex(fma(mul(x, r), half_w, add(float(vx), half_w)), fma(-mul(y, r), half_h, add(float(vy), half_h)), mul(z, r), w, u, v,
                  color)


# ---- contexts (14) ----

class Context:
    """Of a core or of the command queue."""

    def __init__(self, memory, samplers):
        self.memory, self.samplers = memory, samplers
        self.slots = {"RSTATE": [None] * 16, "GSTATE": [None] * 16, "GPARAM": [None] * 16}
        self.current = {kind: None for kind in self.slots}
        self.setup, self.token, self.reports = None, 0, []

    def descriptor(self, address, size, align):
        address &= MASK
        if address % align:
            raise Refused(BAD_ALIGN)
        if not self.memory.has(address, size):
            raise Refused(BAD_MEM)
        return self.memory.words(address, size // 4)

    def load(self, kind, slot, address):
        size, align = {"RSTATE": (64, 32), "GSTATE": (128, 64), "GPARAM": (64, 32)}[kind]
        words = self.descriptor(address, size, align)
        made = GState(words, self.memory) if kind == "GSTATE" else RState(words) if kind == "RSTATE" else GParam(words)
        self.slots[kind][slot] = made
        self.current[kind] = made

    def slot(self, kind, number, width):
        if number == CURRENT[width]:
            found = self.current[kind]
        else:
            found = self.slots[kind][number] if number < 16 else None
        if found is None:
            raise Refused(BAD_STATE)
        return found

    def block(self, address):
        return raster.block_vertices(self.descriptor(address, 96, 32))

    def sampler(self, index):
        s = Sampler(self.samplers[8 * index:8 * index + 8])
        if not s.good():
            raise Refused(BAD_SAMPLER)
        return s

    def finish(self, draw):
        self.reports += draw.memory_errors[:1]

    def rdraw(self, address, block=0, more=0):
        w = self.descriptor(address, 16, 16)
        head = w[0] | (more & 0xFFFF) << 16
        if head >> 16 & 1:
            raise Refused(BAD_DESC)
        state = self.slot("RSTATE", head & 0xFFFF, 16)
        place = block or w[1]
        if not place and self.setup is None:
            raise Refused(BAD_STATE)
        vertices = self.block(place) if place else self.setup
        draw = self.drawing(state, head)
        if head >> 23 & 1:
            draw.flat = argb(state.const_color)
        elif head >> 21 & 1:
            draw.flat = tuple(int(c) for c in vertices[0].color)
        draw.affine = bool(head >> 22 & 1)
        raster.triangle(self.memory, draw, vertices, self.reports)
        self.finish(draw)

    def drawing(self, state, head):
        rectangles = ([state.viewport] if state.has_viewport else []) + ([state.scissor] if state.has_scissor else [])
        blend = head >> 19 & 3
        draw = Draw(state, blend - 1 if blend else state.blend, state.texture and bool(head >> 17 & 1),
                    state.depth_works() and bool(head >> 18 & 1), rectangles)
        if draw.textured:
            draw.sampler = self.sampler(state.sampler)
        return draw

    def rrect(self, address, slot=None, more=0):
        w = self.descriptor(address, 16, 16)
        head = w[0] | (more & 0xFFFF) << 16
        if not head >> 16 & 1:
            raise Refused(BAD_DESC)
        state = self.slot("RSTATE", slot if slot is not None and slot < 16 else head & 0xFFFF, 16)
        draw = self.drawing(state, head)
        if head >> 23 & 1:
            draw.flat = argb(state.const_color)
        raster.rectangle(self.memory, draw, *ipair(w[1]), *pair(w[2]), w[3], bool(head >> 22 & 1))
        self.finish(draw)

    def gdraw(self, address, assisted=False, strip=False):
        w = self.descriptor(address, 24, 16)
        if w[3] > 1:
            raise Refused(BAD_FORMAT)
        g = self.slot("GSTATE", w[4] & 255, 8)
        state = self.slot("RSTATE", w[4] >> 8 & 255, 8)
        if w[4] >> 16 == 0xFFFF and self.current["GPARAM"] is None:
            param = GParam([0] * 16)
        else:
            param = self.slot("GPARAM", w[4] >> 16, 16)
        flags = w[5]
        viewport = g.viewport if g.has_viewport else state.viewport if state.has_viewport else (0, 0, *state.fb_wh)
        rectangles = [viewport] + ([state.scissor] if state.has_scissor else []) + ([g.scissor] if g.has_scissor else [])
        draw = Draw(state, state.blend, state.texture, state.depth_works(), rectangles)
        if draw.textured:
            draw.sampler = self.sampler(state.sampler)
        draw.affine = bool(flags >> 8 & 1)
        draw.cull = (g.cull, 1, 2, 0)[flags >> 4 & 3]
        clip = (g.clip, True, False, g.clip)[flags >> 6 & 3]
        flat, assisted, strip = bool(flags & 2), assisted or bool(flags & 4), strip or w[3] == 1
        element = []
        for k in range(w[2]):
            corner, restart = self.element(g, param, w, k, flags, assisted)
            if restart:
                element = []
                continue
            element.append(corner)
            n = len(element)
            if n < 3 or (not strip and n % 3):
                continue
            three = element[-3:]
            first = three[0]
            if strip and n % 2 == 0:
                three = [three[1], three[0], three[2]]
            if any(c is None for c in three):
                self.reports.append(BAD_INDEX)
                continue
            if flat:
                three = [c.recoloured(first) for c in three]
            self.one(g, draw, clip, viewport, three)
        self.finish(draw)

    def element(self, g, param, w, k, flags, assisted):
        number = w[0] + k
        if flags & 1:
            size = 4 if g.wide_index else 2
            raw = self.memory.read(g.index_base + (w[1] + k) * size, size)
            if raw is None:
                return None, False
            if flags & 8 and raw == (1 << 8 * size) - 1:
                return None, True
            number = raw + w[0]
        return vertex(self.memory, g, param, number & MASK, assisted), False

    def one(self, g, draw, clip, viewport, corners):
        if clip:
            corners = clipped(g, corners)
        elif any(not c.values[3] >= SMALLEST_W for c in corners):
            return
        points = [on_screen(c, viewport) for c in corners]
        for i in range(1, len(points) - 1):
            raster.triangle(self.memory, draw, [points[0], points[i], points[i + 1]], self.reports)




# ---- the command queue (18, 19) ----

OPCODES = {"NOP": 0, "WRITE_MEM": 1, "READ_MEM": 2, "BARRIER": 0x22, "COPY_BUFFER": 0x23, "WAIT_FENCE": 0x24, "DISPATCH": 0x28,
           "LOAD_SAMPLER": 0x32, "LOAD_GSTATE": 0x40, "LOAD_GPARAM": 0x41, "GDRAW": 0x42, "LOAD_RSTATE": 0x43, "RDRAW": 0x44,
           "RRECT": 0x45}
FLAGS = {"IRQ": 1, "EMIT": 2, "WAIT": 4}
BAD_OPCODE, BAD_ARG, BAD_LENGTH = 0x30, 0x31, 0x32
FAULT, COMMAND, BLOCKED, WAITING = 1, 2, 4, 8
ANSWERS = 16384  # words of READ_MEM that the host has not taken


class Step:
    """A command, or something that the host does. A name that is a number is the opcode of a raw command."""

    def __init__(self, name, args, flags=(), fence=0, payload=None, count=0, effect=None):
        self.name, self.args, self.flags, self.fence, self.payload, self.count, self.effect = \
            name, args, flags, fence, payload, count, effect

    def header(self):
        opcode = self.name if isinstance(self.name, int) else OPCODES[self.name]
        flags = sum(FLAGS[f] for f in self.flags) | (8 if self.payload is not None else 0)
        length = self.count if self.payload is None else len(self.payload)
        return [opcode | flags << 8 | self.fence << 16 | length << 24, *self.args] + list(self.payload or [])

    def json(self):
        a = [f"{x:#x}" if x > 9 else x for x in self.args]
        out = {"command": self.name}
        if self.name == "SIGNAL":
            return out | {"slot": a[0], "value": a[1]}
        if self.name == "DOORBELL":
            return out | {"cores": a[1]}
        if self.name == "REGISTER":
            return out | {"offset": a[0], "value": a[1]}
        named = {
            "NOP": {}, "BARRIER": {}, "WRITE_MEM": {"address": a[0], "words": self.payload},
            "READ_MEM": {"address": a[0], "count": self.count}, "COPY_BUFFER": {"to": a[0], "from": a[1], "count": self.count},
            "WAIT_FENCE": {"slot": a[0], "value": a[1]}, "DISPATCH": {"address": a[0]}, "LOAD_SAMPLER": {"index": a[0], "address": a[1]},
            "RDRAW": {"address": a[0], "vertices": a[1], "arg2": a[2]}, "GDRAW": {"address": a[0]},
            "RRECT": {"address": a[0], "arg2": a[2]} | ({"state": a[1]} if self.args[1] < 16 else {}),
        } | {load: {"slot": a[0], "address": a[1]} for load in ("LOAD_RSTATE", "LOAD_GSTATE", "LOAD_GPARAM")}
        raw = self.name not in named or (self.name == "GDRAW" and (self.args[1] or self.args[2])) or \
            (self.payload is None) == (self.name == "WRITE_MEM") or \
            (self.name == "RRECT" and 16 <= self.args[1] != MASK)
        if raw:
            out = {"command": "RAW", "opcode": self.header()[0] & 255, "args": a}
            out |= {"words": self.payload} if self.payload is not None else {"count": self.count} if self.count else {}
        else:
            out |= named[self.name]
        if self.flags:
            out["flags"] = list(self.flags)
        if self.fence:
            out["fence"] = self.fence
        return out


class Queue:
    """The queue over its memory. A dispatch is what the effect of its step does."""

    def __init__(self, vram, ring, size, slots):
        self.memory = raster.Memory(vram)
        self.samplers = [0] * 256
        self.context = Context(self.memory, self.samplers)
        self.base, self.size, self.completion, self.prod, self.cons = ring, size, slots, 0, 0
        self.status, self.error, self.interrupts, self.fence, self.last = 0, 0, 0, 0, [0] * 256
        self.answers, self.cores, self.state, self.kernel, self.rung = [], [0] * 16, "empty", None, 0
        self.effects = []

    def registers(self):
        return self.status, self.error, self.interrupts, self.fence, self.cons

    # ---- the host ----

    def step(self, step):
        if step.name == "SIGNAL":
            self.memory.write(self.completion + 4 * step.args[0], step.args[1], 4)
        elif step.name == "DOORBELL":
            self.rung |= step.args[1]
        elif step.name == "REGISTER":
            self.register(*step.args[:2])
        else:
            for word in step.header():
                self.memory.write(self.base + self.prod, word, 4)
                self.prod = (self.prod + 4) % self.size
            if step.effect:
                self.effects.append(step.effect)
        self.ring()
        self.work()

    def register(self, offset, value):
        if offset == 0x008:
            self.interrupts &= ~value
        elif offset == 0x014:
            self.error = 0
        elif offset in (0x100, 0x104) and self.state == "empty":
            self.base, self.size = (value, self.size) if offset == 0x100 else (self.base, value)
            self.prod = self.cons = 0
        elif offset == 0x108:
            self.prod = value
        elif offset == 0x12C:
            self.completion = value
        elif offset == 0x130 and self.kernel:
            self.rung = "abort"
        elif offset == 0x140:
            self.rung |= value & 15

    def ring(self):
        if self.kernel:
            return
        good = self.base % 32 == 0 and self.size >= 64 and self.size & self.size - 1 == 0 and self.memory.has(self.base, self.size)
        self.state = "active" if good else "empty"
        if not good:
            self.end_with(BAD_ARG)

    def end_with(self, status):
        self.status = status
        self.error = self.error or status

    # ---- commands ----

    def word(self, offset):
        return self.memory.read(self.base + (offset & self.size - 1), 4)

    def slot_word(self, slot):
        """None where there is none."""
        if self.completion == 0:
            return self.fence
        return None if self.completion % 4 else self.memory.read(self.completion + 4 * slot, 4)

    def work(self):
        while self.state == "active" or self.kernel:
            if self.kernel:
                if not self.continue_kernel():
                    return
                continue
            waiting = self.prod - self.cons & self.size - 1 & ~3
            if waiting == 0:
                self.state = "empty"
                return
            if not self.begin(waiting):
                self.state = "blocked"
                self.interrupts |= BLOCKED
                return

    def begin(self, waiting):
        """False when the command blocks."""
        head = [self.word(self.cons + 4 * k) for k in range(4)] if waiting >= 16 else [0] * 4
        self.flags, self.slot, length = head[0] >> 8 & 255, head[0] >> 16 & 255, head[0] >> 24
        size = 16 + (4 * length if self.flags & 8 else 0)
        if waiting < size:
            self.after = self.cons + waiting & self.size - 1
            self.complete(BAD_LENGTH)
            return True
        self.after = self.cons + size & self.size - 1
        status = 0
        if self.flags & FLAGS["WAIT"]:
            word = self.slot_word(self.slot)
            if word is None:
                status = BAD_ARG
            elif raster.signed(word - max(1, self.last[self.slot])) < 0:
                return False
        if status == 0:
            payload = [self.word(self.cons + 16 + 4 * k) for k in range(length)] if self.flags & 8 else []
            status = self.execute(head[0] & 255, length, payload, *head[1:])
        if status is None:
            return False
        if not self.kernel:
            self.complete(status)
        return True

    def complete(self, status):
        if self.flags & FLAGS["EMIT"]:
            self.fence = self.fence + 1 & MASK
            self.last[self.slot] = self.fence
            at = self.completion + 4 * self.slot
            if self.completion and (self.completion % 4 or not self.memory.has(at, 4)):
                status = status or BAD_ARG
            elif self.completion:
                self.memory.write(at, self.fence, 4)
        if self.flags & FLAGS["IRQ"]:
            self.interrupts |= COMMAND
        self.end_with(status)
        self.cons = self.after

    def reachable(self, address, count):
        """VRAM, IMEM and the sampler table."""
        if address % 4:
            return False
        inside = [(0x30000000, 0x10000), (0x10002000, 0x400)]
        return count == 0 or self.memory.has(address, 4 * count) or \
            any(a <= address and address + 4 * count <= a + s for a, s in inside)

    def load(self, address):
        if 0x10002000 <= address < 0x10002400:
            return self.samplers[(address - 0x10002000) // 4]
        return self.memory.read(address, 4)

    def store(self, address, value):
        if 0x10002000 <= address < 0x10002400:
            self.samplers[(address - 0x10002000) // 4] = value
        else:
            self.memory.write(address, value, 4)

    def execute(self, opcode, length, payload, a, b, c):
        name = {number: name for name, number in OPCODES.items()}.get(opcode)
        if name is None:
            return BAD_OPCODE
        if name in ("NOP", "BARRIER"):
            return 0
        if name == "WRITE_MEM":
            if not self.reachable(a, len(payload)):
                return BAD_ARG
            for k, value in enumerate(payload):
                self.store(a + 4 * k, value)
            return 0
        if name == "READ_MEM":
            if not self.reachable(a, length):
                return BAD_ARG
            if len(self.answers) + length > ANSWERS:
                return None
            self.answers += [self.load(a + 4 * k) for k in range(length)]
            return 0
        if name == "COPY_BUFFER":
            if not self.reachable(a, length) or not self.reachable(b, length):
                return BAD_ARG
            for k in range(length):
                self.store(a + 4 * k, self.load(b + 4 * k))
            return 0
        if name == "WAIT_FENCE":
            word = self.slot_word(a) if a < 256 else None
            if word is None:
                return BAD_ARG
            return 0 if raster.signed(word - b) >= 0 else None
        if name == "LOAD_SAMPLER":
            if a > 31 or b % 32 or not self.reachable(b, 8):
                return BAD_ARG
            self.samplers[8 * a:8 * a + 8] = [self.load(b + 4 * k) for k in range(8)]
            return 0
        if name == "DISPATCH":
            effect = self.effects.pop(0)
            if effect == BAD_ARG:
                return BAD_ARG
            self.kernel = effect(self)
            return 0
        return self.graphics(name, a, b, c)

    def graphics(self, name, a, b, c):
        context = self.context
        context.reports = []
        try:
            if name.startswith("LOAD_"):
                if a > 15:
                    return BAD_ARG
                context.load(name[5:], a, b)
            elif name == "RDRAW":
                context.rdraw(a, b, c)
            elif name == "RRECT":
                context.rrect(a, b if b < 16 else None, c)
            elif b == 0:
                context.gdraw(a, bool(c & 1), bool(c & 2))
            else:
                return self.indirect(a, b, c)
        except Refused as e:
            context.reports.append(e.code)
        return 0x10 + context.reports[0] if context.reports else 0

    def indirect(self, a, b, c):
        if not self.reachable(b, 1):
            return BAD_ARG
        count = self.load(b)
        if count and not self.memory.has(a, 32 * (count - 1) + 24):
            return BAD_ARG
        for k in range(count):
            try:
                self.context.gdraw(a + 32 * k, bool(c & 1), bool(c & 2))
            except Refused as e:
                self.context.reports.append(e.code)
        return 0x10 + self.context.reports[0] if self.context.reports else 0

    # ---- kernels ----

    def continue_kernel(self):
        """Goes on with the generator that stands for a kernel; it yields the mask of doorbells that it waits for."""
        try:
            wanted = next(self.kernel) if self.state != "waiting" else self.waits
        except StopIteration as e:
            return self.kernel_ends(e.value or 0)
        if self.rung == "abort" or self.rung & wanted:
            self.state = "active"
            try:
                wanted = self.kernel.send(self.rung)
            except StopIteration as e:
                return self.kernel_ends(e.value or 0)
        self.waits, self.state = wanted, "waiting"
        self.interrupts |= WAITING
        return False

    def kernel_ends(self, status):
        self.kernel, self.state = None, "active"
        if status:
            self.interrupts |= FAULT
        self.complete(status)
        return True
