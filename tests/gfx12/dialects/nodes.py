"""The 128 bytes of a node, bit by bit: boxes, instances and primitives."""
import math
import struct

from . import model

UNUSED = (0xFFFFFFFF, 0x00000FFF, 0)
NO_MATRIX = 0x7F


class Bits:
    """1024 bits that are written once each."""

    def __init__(self):
        self.value = 0

    def put(self, at, width, data):
        assert 0 <= at and at + width <= 1024 and 0 <= data < 1 << width, (at, width, data)
        self.value |= data << at

    def bytes(self):
        return self.value.to_bytes(128, "little")


def pair_type(pair):
    return pair & 3 | (pair & 4) << 1


def width(word):
    return word.bit_length()


# ---- boxes ----


def exponents(low, high, least=0):
    """Powers of two that are no smaller than the widths, as biased exponents."""
    out = []
    for k in range(3):
        e = (model.bits(model.f32(high[k] - low[k])) + 0x7FFFFF) >> 23
        if e != 0:
            e = max(e, least)
            # The subtraction may have rounded down: the grid must still reach the upper corner.
            while low[k] + math.ldexp(1.0, e - 127) < high[k]:
                e += 1
        out.append(e)
    return out


def planes(bounds, origin, exps, careful):
    """Six 12-bit planes. Drivers subtract in binary32, to nearest; `careful` ones round outward."""
    low, high = [], []
    for k in range(3):
        if exps[k] == 0:
            low.append(0)
            high.append(0xFFF)
            continue
        step = math.ldexp(1.0, exps[k] - 127 - 12)
        a, b = bounds[0][k] - origin[k], bounds[1][k] - origin[k]
        if not careful:
            a, b = model.f32(a), model.f32(b)
        low.append(min(max(math.floor(a / step), 0), 0xFFF))
        high.append(min(max(math.ceil(b / step) - 1, 0), 0xFFF))
    return low, high


def child(bounds, origin, exps, kind, size, flags=0, mask=0xFF, careful=False):
    low, high = planes(bounds, origin, exps, careful)
    return (low[0] | low[1] << 12 | flags << 24, low[2] | high[0] << 12 | mask << 24,
            high[1] | high[2] << 12 | kind << 24 | size << 28)


def box(inner, prims, parent, origin, exps, children, index=0, matrix=NO_MATRIX, unused=UNUSED, count=None):
    """`inner` and `prims` are byte offsets of the first children; IDs count eighths of bytes."""
    words = [inner >> 3, prims >> 3, parent, *(model.bits(v) for v in origin),
             exps[0] | exps[1] << 8 | exps[2] << 16 | index << 25 | ((count or len(children)) - 1 & 15) << 28, matrix]
    for slot in range(8):
        words.extend(children[slot] if slot < len(children) else unused)
    return struct.pack("<32I", *words)


def box_id(offset):
    return offset >> 3 | 5


# ---- instances ----

FLAG_BITS = {1: 56, 2: 57, 4: 54, 8: 55}  # VkGeometryInstanceFlags -> bits of the pointer
SKIP_TRIANGLES, SKIP_BOXES = 1 << 62, 1 << 63


def pointer(address, flags, procedural):
    out = (address & (1 << 48) - 1) >> 3
    for flag, at in FLAG_BITS.items():
        if flags & flag:
            out |= 1 << at
    if procedural:
        out |= 1 << FLAG_BITS[1]
    return out | (SKIP_TRIANGLES if procedural else SKIP_BOXES)


def instance(matrix, link, parent, user_data, mask, origin, exps, children, count):
    head = struct.pack("<12fQ2I3fI", *(v for row in matrix for v in row), link, parent, user_data | mask << 24,
                       *origin, exps[0] | exps[1] << 8 | exps[2] << 16 | count - 1 << 28)
    return head + b"".join(struct.pack("<3I", *c) for c in children)


# ---- primitives ----


class Triangle:
    def __init__(self, corners, geometry, primitive, opaque):
        self.corners, self.geometry, self.primitive, self.opaque = corners, geometry, primitive, opaque
        self.bounds = model.around(corners)


class Procedural:
    def __init__(self, bounds, geometry, primitive, opaque):
        self.bounds, self.geometry, self.primitive, self.opaque = bounds, geometry, primitive, opaque


def primitives_of(geometries):
    """All primitives of a BLAS with their numbers."""
    out = []
    for g, geometry in enumerate(geometries):
        kind, shapes = (Procedural, geometry.boxes) if isinstance(geometry, model.Boxes) else (Triangle, geometry.triangles)
        out += [kind(shape, g, p, geometry.opaque) for p, shape in enumerate(shapes)]
    return out


def vertices_of(pairs, apart=False):
    """The distinct vertices, in the order of their first use; a zero of either sign is one. `apart`: pairs share none."""
    out, first = [], 0
    for pair in pairs:
        for triangle in pair:
            for corner in triangle.corners if triangle else ():
                if corner not in out[first:]:
                    out.append(corner)
        first = len(out) if apart else 0
    return out


def layout(pairs, prefix, geometry_ids=True, apart=False):
    """Widths of a compressed node that holds the pairs: a dictionary, with "bits" as the total."""
    corners = vertices_of(pairs, apart)
    words = [[model.bits(c[k]) for c in corners] for k in range(3)]
    out = {"corners": corners, "tz": 0, "payload": [32, 32, 32]}
    if prefix:
        union = 0
        for axis in words:
            for word in axis:
                union |= word
        out["tz"] = min((union & -union).bit_length() - 1 if union else 31, 31)
        for k in range(3):
            differ = 0
            for word in words[k]:
                differ |= word ^ words[k][0]
            out["payload"][k] = max(1, width(differ) - out["tz"])
    out["prefix"] = [32 - out["tz"] - p for p in out["payload"]]
    triangles = [t or pair[0] for pair in pairs for t in pair]
    geometry = [t.geometry for t in triangles] if geometry_ids else [0]
    primitive = [t.primitive for t in triangles]
    even = lambda n: n + n % 2
    differ_g = differ_p = 0
    for g in geometry:
        differ_g |= g ^ geometry[0]
    for p in primitive:
        differ_p |= p ^ primitive[0]
    out["geometry"] = (even(width(geometry[0])), even(width(differ_g)))
    out["primitive"] = (width(primitive[0]), width(differ_p))
    n = 2 * len(pairs) - 1
    out["vertex_end"] = 52 + sum(out["prefix"]) + len(corners) * sum(out["payload"])
    out["geometry_bits"] = out["geometry"][0] + n * out["geometry"][1]
    out["primitive_bits"] = out["primitive"][0] + n * out["primitive"][1]
    out["bits"] = out["vertex_end"] + out["geometry_bits"] + out["primitive_bits"] + 29 * len(pairs)
    return out


def fits(pairs, prefix, most_vertices, geometry_ids=True, apart=False):
    plan = layout(pairs, prefix, geometry_ids, apart)
    return len(pairs) <= 8 and len(plan["corners"]) <= most_vertices and plan["bits"] <= 1024


def descriptor(stop, first, second, indices):
    """29 bits; `indices` are those of the first and, or None, the second triangle."""
    one, two = indices
    out = int(stop) | int(second.opaque if second else 0) << 2 | int(first.opaque) << 16
    for k in range(3):
        out |= one[k] << 17 + 4 * k
        out |= (two[k] if two else 0) << 3 + 4 * k
    return out


def write_head(node, plan, pairs, midpoint, geometry_half):
    for k in range(3):
        node.put(5 * k, 5, plan["payload"][k] - 1)
    node.put(15, 5, plan["tz"])
    node.put(20, 4, geometry_half[0])
    node.put(24, 4, geometry_half[1])
    node.put(28, 3, len(pairs) - 1)
    node.put(32, 5, plan["primitive"][0])
    node.put(37, 5, plan["primitive"][1])
    node.put(42, 10, midpoint)


def compressed(pairs, stops, prefix=True, late=False, vertex_count=False, repeat=False, apart=False):
    """A node of up to eight pairs. `late`: the indices end where the descriptors begin (GPURT, HIPRT)
    instead of following the vertices (RADV). `vertex_count`: HIPRT keeps the number of vertices where the
    hardware keeps the width of geometry indices. `repeat`: an absent second triangle repeats the first."""
    plan = layout(pairs, prefix, not vertex_count, apart)
    assert plan["bits"] <= 1024
    node = Bits()
    corners, shown = plan["corners"], plan["payload"]
    midpoint = plan["vertex_end"] + plan["geometry_bits"]
    if late:
        midpoint = 1024 - 29 * len(pairs) - plan["primitive_bits"]
    half = (len(corners) - 1, 0) if vertex_count else (plan["geometry"][0] // 2, plan["geometry"][1] // 2)
    write_head(node, plan, pairs, midpoint, half)
    at = 52
    for k in range(3):
        if plan["prefix"][k]:
            node.put(at, plan["prefix"][k], model.bits(corners[0][k]) >> plan["tz"] + shown[k])
        at += plan["prefix"][k]
    for corner in corners:
        for k in range(3):
            node.put(at, shown[k], model.bits(corner[k]) >> plan["tz"] & (1 << shown[k]) - 1)
            at += shown[k]
    triangles = [t or pair[0] for pair in pairs for t in pair]
    if not vertex_count:
        base, payload = plan["geometry"]
        node.put(midpoint - base, base, triangles[0].geometry)
        for i in range(1, len(triangles)):
            node.put(midpoint - base - i * payload, payload, triangles[i].geometry & (1 << payload) - 1)
    base, payload = plan["primitive"]
    node.put(midpoint, base, triangles[0].primitive)
    for i in range(1, len(triangles)):
        node.put(midpoint + base + (i - 1) * payload, payload, triangles[i].primitive & (1 << payload) - 1)
    for i, (first, second) in enumerate(pairs):
        since = len(vertices_of(pairs[:i], True)) if apart else 0
        one = [corners.index(c, since) for c in first.corners]
        two = [corners.index(c, since) for c in second.corners] if second else one if repeat else None
        node.put(1024 - 29 * (i + 1), 29, descriptor(stops[i], first, second, (one, two)))
    return node.bytes()


def write_fixed(node, vertex_bits, widths, midpoint):
    """Head of a node of one pair with fixed widths: (geometry, primitive) index bits."""
    for k in range(3):
        node.put(5 * k, 5, vertex_bits - 1)
    node.put(20, 4, widths[0] // 2)
    node.put(24, 4, widths[0] // 2)
    node.put(32, 5, widths[1])
    node.put(37, 5, widths[1])
    node.put(42, 10, midpoint)


def write_corners(node, corners):
    for i, corner in enumerate(corners):
        for k in range(3):
            node.put(52 + 32 * (3 * i + k), 32, model.bits(corner[k]))


# A lone triangle or box of RADV has its indices at fixed places, so that an update finds them.
LONE_MIDPOINT = (8 + 9 * 4) * 8 + 32


def fixed(first, second=None, widths=(28, 28), midpoint=None):
    """Full vertices and fixed widths, so that an update can move them."""
    node = Bits()
    if midpoint is None:
        midpoint = 52 + 2 * 9 * 32 + 2 * widths[0] if second else LONE_MIDPOINT
    write_fixed(node, 32, widths, midpoint)
    write_corners(node, first.corners + (second.corners if second else ()))
    node.put(midpoint - widths[0], widths[0], first.geometry)
    node.put(midpoint, widths[1], first.primitive)
    if second:
        node.put(midpoint - 2 * widths[0], widths[0], second.geometry)
        node.put(midpoint + widths[1], widths[1], second.primitive)
    node.put(1024 - 29, 29, descriptor(True, first, second, ((0, 1, 2), (3, 4, 5) if second else None)))
    return node.bytes()


def procedural(item, vertex_bits=1, widths=(28, 28), midpoint=LONE_MIDPOINT, behind=False):
    """A box stands where the first two vertices would; the descriptor's indices are 15, 15, 0. `behind`: as GPURT
    builds them, at dword 5 behind a vertex 0 that is the origin, with the indices 15, 15, 15."""
    node = Bits()
    write_fixed(node, vertex_bits, widths, midpoint)
    if behind:
        for i, value in enumerate(item.bounds[0] + item.bounds[1]):
            node.put(160 + 32 * i, 32, model.bits(value))
    else:
        write_corners(node, item.bounds)
    node.put(midpoint - widths[0], widths[0], item.geometry)
    node.put(midpoint, widths[1], item.primitive)
    node.put(1024 - 29, 29, 1 | int(item.opaque) << 16 | 15 << 17 | 15 << 21 | (15 << 25 if behind else 0))
    return node.bytes()
