"""Texture and raster units of the tile machine, written from tile-semantics.md 11, 15 and 16: slow, exact, a pixel at a time.

`Unit` is the fixed-function part over a VRAM; what a draw complains about is a list of error codes, in order.
"""
import math
import struct

from single import add, bits, div, f32, floor_i, fma, mul, mul8, of_bits, sub, u8

VRAM = 0x80000000
BAD_ALIGN, BAD_MEM, BAD_STATE, BAD_FORMAT, BAD_DESC, BAD_INDEX, RANGE, BAD_SAMPLER = range(1, 9)
MASK = 0xFFFFFFFF


class Refused(Exception):
    """A graphics instruction that fails as a whole; code is what it reports."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def signed(x, width=32):
    x &= (1 << width) - 1
    return x - (x >> (width - 1) << width)


def pair(word):
    return word & 0xFFFF, word >> 16


def ipair(word):
    return signed(word, 16), signed(word >> 16, 16)


def argb(word):
    """Components R, G, B, A."""
    return word >> 16 & 255, word >> 8 & 255, word & 255, word >> 24


class Memory:
    """VRAM; what lies outside reads as None."""

    def __init__(self, size):
        self.bytes = bytearray(size)

    def has(self, address, size):
        at = (address & MASK) - VRAM
        return at >= 0 and at + size <= len(self.bytes)

    def read(self, address, size):
        address &= MASK
        if not self.has(address, size):
            return None
        return int.from_bytes(self.bytes[address - VRAM:address - VRAM + size], "little")

    def write(self, address, value, size):
        at = (address & MASK) - VRAM
        self.bytes[at:at + size] = value.to_bytes(size, "little")

    def words(self, address, count):
        at = (address & MASK) - VRAM
        return list(struct.unpack_from(f"<{count}I", self.bytes, at))


# ---- textures (11) ----

class Sampler:
    def __init__(self, words):
        self.base, self.stride = words[0], words[1]
        self.width, self.height = words[2] & 0xFFFF, words[3] & 0xFFFF
        self.format, self.palette, self.swizzle = words[4] & 3, words[4] >> 2 & 3, words[4] >> 4 & 3
        self.wrap_u, self.wrap_v = words[5] & 3, words[5] >> 2 & 3
        self.bilinear = words[6] & 3 == 1
        self.palette_base = words[7]

    def good(self):
        return self.width != 0 and self.height != 0 and self.format != 3


def wrapped(coordinate, size, mode):
    return coordinate % size if mode == 1 else min(max(coordinate, 0), size - 1)


def expand565(t):
    r, g, b = t >> 11, t >> 5 & 63, t & 31
    return r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2, 255


def fetch(memory, address, size, errors):
    """Little-endian; bytes outside read as 0 and count as an error."""
    if memory.has(address, size):
        return memory.read(address, size)
    value = 0
    for i in range(size):
        byte = memory.read(address + i, 1)
        if byte is None:
            errors.append(BAD_MEM)
            byte = 0
        value |= byte << 8 * i
    return value


def texel(memory, s, column, row, errors):
    u, v = wrapped(column, s.width, s.wrap_u), wrapped(row, s.height, s.wrap_v)
    line = s.base + v * s.stride
    if s.format == 0:
        r, g, b, a = expand565(fetch(memory, line + 2 * u, 2, errors))
    elif s.format == 1:
        r, g, b, a = argb(fetch(memory, line + 4 * u, 4, errors))
    else:
        index = fetch(memory, line + u, 1, errors)
        r, g, b, a = argb(fetch(memory, s.palette_base + 1024 * s.palette + 4 * index, 4, errors))
    return ((r, g, b, a), (b, g, r, a), (r, g, b, 255), (r, r, r, 255))[s.swizzle]


def filtered(memory, s, x256, y256, errors):
    """Four neighbours around a position in 1/256 texel."""
    x, y = x256 - 128, y256 - 128
    i, j, fx, fy = x >> 8, y >> 8, x & 255, y & 255
    c = [texel(memory, s, i + dx, j + dy, errors) for dy in (0, 1) for dx in (0, 1)]
    return tuple(((c[0][k] * (256 - fx) + c[1][k] * fx) * (256 - fy) + (c[2][k] * (256 - fx) + c[3][k] * fx) * fy + 32768) >> 16
                 for k in range(4))


# ---- states and vertices (15) ----

class RState:
    def __init__(self, w):
        self.fb_base, self.fb_stride, self.fb_format, self.fb_wh = w[0], w[1], w[2] & 255, pair(w[3])
        self.depth_base, self.depth_stride = w[4], w[5]
        self.depth_format, self.function = w[6] & 255, w[6] >> 8 & 7
        self.blend, self.const_color, self.sampler = w[7] & 255, w[8], w[9] & 31
        self.scissor = ipair(w[10]) + pair(w[11])
        self.has_scissor, self.texture, self.depth, self.zwrite_off, self.tex_norm = (bool(w[12] >> k & 1) for k in range(5))
        self.has_viewport = w[14] != 0
        self.viewport = ipair(w[13]) + pair(w[14])
        self.rect_z = of_bits(w[15])
        if self.fb_format > 1 or self.depth_format > 2 or self.blend > 2:
            raise Refused(BAD_FORMAT)

    def depth_works(self):
        return self.depth and self.depth_base != 0 and self.depth_format != 0


class Vertex:
    """Screen position, depth, w, texture coordinates and colour, floats all."""

    def __init__(self, x, y, z, w, u, v, color, w_bits=None):
        self.x, self.y, self.z, self.w, self.u, self.v, self.color = x, y, z, w, u, v, color
        self.w_bits = bits(w) if w_bits is None else w_bits


def block_vertices(words):
    out = []
    for i in range(3):
        w = words[8 * i:8 * i + 8]
        out.append(Vertex(*(of_bits(x) for x in w[:6]), tuple(float(c) for c in argb(w[6])), w[3]))
    return out


class Draw:
    """What the pixels of a draw have in common."""

    def __init__(self, state, blend, textured, depth, rectangles):
        self.state, self.blend, self.textured, self.depth = state, blend, textured, depth
        left, top, right, bottom = 0, 0, *state.fb_wh
        for x, y, w, h in rectangles:
            left, top, right, bottom = max(left, x), max(top, y), min(right, x + w), min(bottom, y + h)
        self.clip = left, top, right, bottom
        self.sampler = None
        self.affine = False
        self.flat = None  # one colour R, G, B, A for all pixels
        self.cull = 0     # 1: clockwise triangles, 2: the others
        self.memory_errors = []


def clamp_depth(z):
    return 0.0 if not z > 0 else min(z, 1.0)


def quantised(z, depth_format):
    return floor_i(add(mul(z, 65535.0), 0.5)) if depth_format == 1 else bits(z)


PASSES = (lambda a, b: False, lambda a, b: a < b, lambda a, b: a == b, lambda a, b: a <= b,
          lambda a, b: a > b, lambda a, b: a != b, lambda a, b: a >= b, lambda a, b: True)


def blended(mode, s, d):
    if mode == 1:
        a = s[3]
        return tuple((s[k] * a + d[k] * (255 - a) + 127) // 255 for k in range(3)) + ((255 * a + d[3] * (255 - a) + 127) // 255,)
    if mode == 2:
        return tuple(min(255, s[k] + d[k]) for k in range(4))
    return s


def pixel(memory, draw, x, y, z, color):
    """One covered pixel; color() gives the source colour when it is asked for."""
    st = draw.state
    size = 4 if st.fb_format == 1 else 2
    at = st.fb_base + y * st.fb_stride + x * size & MASK
    zat, zsize = 0, 0
    if draw.depth:
        zsize = 2 if st.depth_format == 1 else 4
        zat = st.depth_base + y * st.depth_stride + x * zsize & MASK
    if not memory.has(at, size) or (draw.depth and not memory.has(zat, zsize)):
        draw.memory_errors.append(BAD_MEM)
        return
    if draw.depth:
        zq = quantised(z, st.depth_format)
        if not PASSES[st.function](zq, memory.read(zat, zsize)):
            return
        if not st.zwrite_off:
            memory.write(zat, zq, zsize)
    source = color()
    old = memory.read(at, size)
    r, g, b, a = blended(draw.blend, source, argb(old) if size == 4 else expand565(old))
    memory.write(at, a << 24 | r << 16 | g << 8 | b if size == 4 else r >> 3 << 11 | g >> 2 << 5 | b >> 3, size)


def snapped(x):
    """In 1/256 pixel, None outside the range."""
    if not math.isfinite(x):
        return None
    n = round(x * 256)
    return n if -2**23 <= n < 2**23 else None


def between(b1, b2, a0, a1, a2):
    return fma(b2, sub(a2, a0), fma(b1, sub(a1, a0), a0))


def triangle(memory, draw, vertices, reports):
    """16.3 to 16.7. Reports what drops the triangle."""
    points = [(snapped(v.x), snapped(v.y)) for v in vertices]
    if any(c is None for p in points for c in p):
        reports.append(RANGE)
        return
    (x0, y0), (x1, y1), (x2, y2) = points
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0 or (draw.cull == 1 and area > 0) or (draw.cull == 2 and area < 0):
        return
    v = list(vertices)
    if area < 0:
        area = -area
        v[1], v[2] = v[2], v[1]
        points[1], points[2] = points[2], points[1]
    perspective = not draw.affine and len({p.w_bits for p in v}) > 1
    if perspective:
        if any(not (p.w > 0 and math.isfinite(p.w)) for p in v):
            reports.append(RANGE)
            return
        q = [div(1.0, p.w) for p in v]
    edges = [(points[(k + 1) % 3], points[(k + 2) % 3]) for k in range(3)]
    inverse = div(1.0, f32(float(area)))
    left, top, right, bottom = draw.clip
    left = max(left, (min(p[0] for p in points) - 128) // 256)
    right = min(right, max(p[0] for p in points) // 256 + 1)
    top = max(top, (min(p[1] for p in points) - 128) // 256)
    bottom = min(bottom, max(p[1] for p in points) // 256 + 1)
    for j in range(top, bottom):
        for i in range(left, right):
            px, py = 256 * i + 128, 256 * j + 128
            e = []
            for (ax, ay), (bx, by) in edges:
                value = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
                if value < 0 or (value == 0 and not (by < ay or (by == ay and bx > ax))):
                    break
                e.append(f32(float(value)))
            if len(e) < 3:
                continue
            l1, l2 = mul(e[1], inverse), mul(e[2], inverse)
            b1, b2 = l1, l2
            if perspective:
                p = [mul(e[k], q[k]) for k in range(3)]
                total = add(add(p[0], p[1]), p[2])
                b1, b2 = div(p[1], total), div(p[2], total)
            z = clamp_depth(between(l1, l2, v[0].z, v[1].z, v[2].z)) if draw.depth else 0.0

            def color(b1=b1, b2=b2):
                c = draw.flat or tuple(u8(between(b1, b2, *(w.color[k] for w in v))) for k in range(4))
                if not draw.textured:
                    return c
                u, t = (between(b1, b2, *(getattr(w, name) for w in v)) for name in "uv")
                s = draw.sampler
                if draw.state.tex_norm:
                    u, t = mul(u, float(s.width)), mul(t, float(s.height))
                if s.bilinear:
                    found = filtered(memory, s, floor_i(mul(u, 256.0)), floor_i(mul(t, 256.0)), draw.memory_errors)
                else:
                    found = texel(memory, s, floor_i(u), floor_i(t), draw.memory_errors)
                return tuple(mul8(found[k], c[k]) for k in range(4))
            pixel(memory, draw, i, j, z, color)


def rectangle(memory, draw, x, y, w, h, word, stretch):
    """16.8. `word`: the colour or the first texel."""
    left, top, right, bottom = draw.clip
    z = clamp_depth(draw.state.rect_z)
    s = draw.sampler
    u0, v0 = ipair(word)
    for j in range(max(top, y), min(bottom, y + h)):
        for i in range(max(left, x), min(right, x + w)):
            def color(i=i, j=j):
                if not draw.textured:
                    return draw.flat or argb(word)
                if stretch:
                    return texel(memory, s, (2 * (i - x) + 1) * s.width // (2 * w), (2 * (j - y) + 1) * s.height // (2 * h),
                                 draw.memory_errors)
                return texel(memory, s, u0 + i - x, v0 + j - y, draw.memory_errors)
            pixel(memory, draw, i, j, z, color)
