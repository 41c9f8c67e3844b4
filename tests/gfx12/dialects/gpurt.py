"""GPURT (AMDVLK and the Windows driver): metadata, a header of 128 bytes, then the nodes; node IDs count
from the header, so the root's is 0x15. The type field of an instance's children holds a node number."""
import struct

from . import model, nodes, packets

METADATA_BYTES = 256
HEADER_BYTES = 128
ROOT = 0x15
VERSION = 16 << 16 | 5
RTIP_3_1 = 6
TLAS, BLAS = 0, 1
WIDTHS = (30, 31)
LATE_MIDPOINT = 1024 - 29 - 2 * 31


def header(kind, total, primitives, active, descs, geometry_type, offsets, inner, leaves, bounds, rebraid):
    info = kind | 2 << 2 | 2 << 6 | int(rebraid) << 12 | 1 << 15
    return struct.pack("<8I4I3I4I6f3I4I", info, METADATA_BYTES, total, primitives, active, 0, descs, geometry_type,
                       *offsets, inner, 0, leaves, VERSION, 0x11223344, 0x55667788, RTIP_3_1, *bounds[0], *bounds[1],
                       2, 0, total, 0, 0, 0, 0)


def metadata(address, instance_node):
    """`instance_node`: the 64 bytes that an instance of this BLAS begins its boxes with."""
    head = struct.pack("<2I3I", address & 0xFFFFFFFF, address >> 32, METADATA_BYTES, 0, 1)
    return (head + instance_node).ljust(METADATA_BYTES, b"\0")


def instance_child(bounds, origin, exps, number):
    """The node number stands in the type field; a size of 0 means that all children name the same node."""
    if bounds is None:
        return (0x00FFFFFF, 0xFF000FFF, number << 24)
    return nodes.child(bounds, origin, exps, number, 0, careful=True)


def filter_node(boxes, number):
    """The box half of an instance node: up to four bounds before one and the same root."""
    low, high = model.join(*boxes)
    exps = nodes.exponents(low, high)
    slots = [instance_child(boxes[i] if i < len(boxes) else None, low, exps, number) for i in range(4)]
    return struct.pack("<3fI", *low, exps[0] | exps[1] << 8 | exps[2] << 16 | 3 << 28) + \
        b"".join(struct.pack("<3I", *s) for s in slots)


class Blas:
    def __init__(self, geometries, mode, rebraid, split, habits):
        self.geometries, self.mode, self.habits = geometries, mode, habits
        self.procedural = isinstance(geometries[0], model.Boxes)
        self.items = nodes.primitives_of(geometries)
        leaves = [model.Leaf(i.bounds, i) for i in self.items]
        if split and not self.procedural:
            leaves = model.split_leaves(self.items)
        self.tree = model.hierarchy(leaves)
        self.rebraid = rebraid
        self.inner, self.leaves = [], []
        self.encode()

    def whole(self, node):
        return packets.small(4)(node) if self.mode == "batch" and not self.procedural else False

    def encode(self):
        """Inner nodes first, all of them, then the packets; offsets count from the header."""
        order = []
        work = [(self.tree, None, 0)]
        while work:
            node, parent, index = work.pop(0)
            me = len(order)
            root = me == 0 and self.rebraid
            children = model.opened(node, 4 if root else 8, self.whole)
            inner = [c for c in children if isinstance(c, model.Inner) and not self.whole(c)]
            leaves = [c for c in children if c not in inner]
            order.append((node, parent, index, inner, len(order) + 1 + len(work) if inner else 0, leaves))
            work += [(c, me, i) for i, c in enumerate(inner)]
        self.root_boxes = [c.bounds for c in order[0][3] + order[0][5]]
        self.root_children = [(c.bounds, (HEADER_BYTES + 128 * (order[0][4] + i)) >> 7)
                              for i, c in enumerate(order[0][3])] if not order[0][5] else []
        leaf_at = HEADER_BYTES + 128 * len(order)
        for node, parent, index, inner, first, leaves in order:
            origin, exps = node.bounds[0], nodes.exponents(*node.bounds)
            slots = [nodes.child(c.bounds, origin, exps, 5, 1, careful=True) for c in inner]
            start = leaf_at + 128 * len(self.leaves)
            data, kinds = self.leaf_nodes(leaves)
            for c, (kind, size) in zip(leaves, kinds):
                slots.append(nodes.child(c.bounds, origin, exps, kind, size, careful=True))
            self.leaves += data
            up = model.NONE if parent is None else nodes.box_id(HEADER_BYTES + 128 * parent)
            if self.habits and not leaves:
                start = 0xFFFFFFFF  # a box without leaves
            self.inner.append(nodes.box(HEADER_BYTES + 128 * first, start, up, origin, exps, slots, index, self.matrix(slots)))

    def matrix(self, slots):
        """Beside the matrix: from which of the first four boxes each of the others was split."""
        more = sum((i * 7 + len(slots)) % 4 << 2 * i for i in range(max(0, len(slots) - 4)))
        return nodes.NO_MATRIX | (more << 16 if self.habits else 0)

    def leaf_nodes(self, leaves):
        """The nodes of a box's leaves, and (type, size) of each child."""
        if not leaves:
            return [], []
        if self.procedural:
            style = (1, WIDTHS, LATE_MIDPOINT, True) if self.habits else (32, WIDTHS, LATE_MIDPOINT)
            return ([nodes.procedural(c.item, *style) for c in leaves], [(0, 1)] * len(leaves))
        if self.mode != "batch":
            return ([nodes.fixed(c.item, None, WIDTHS, LATE_MIDPOINT) for c in leaves], [(0, 1)] * len(leaves))
        data, starts = packets.pack([packets.pairs_of(packets.items_of(c)) for c in leaves], True, 16, True)
        return data, [(nodes.pair_type(pair), size)
                      for (_, pair), size in zip(starts, packets.sizes(starts, len(data)))]

    def bytes(self, address):
        """`address` is that of the header."""
        leaf_at = HEADER_BYTES + 128 * len(self.inner)
        info_at = leaf_at + 128 * len(self.leaves)
        infos = b"".join(struct.pack("<3I", model.count_of(g) | int(g.opaque) << 29, 0, 0) for g in self.geometries)
        pointers_at = info_at + len(infos)
        tail = infos + bytes(4 * len(self.items))
        total = METADATA_BYTES + info_at + len(tail)
        head = header(BLAS, total, len(self.items), len(self.items), len(self.geometries), int(self.procedural),
                      (HEADER_BYTES, leaf_at, info_at, pointers_at), len(self.inner), len(self.leaves), self.tree.bounds,
                      bool(self.rebraid))
        return metadata(address, filter_node(four(self.root_boxes), 1)) + head + b"".join(self.inner + self.leaves) + tail


def four(boxes):
    """At most four boxes around them all."""
    while len(boxes) > 4:
        boxes = boxes[:-2] + [model.join(boxes[-2], boxes[-1])]
    return boxes


class Placed:
    """An instance, or one of those that stand for a rebraided one: `box` is the part of the BLAS."""

    def __init__(self, index, instance, blas, address, boxes, number):
        self.index, self.instance, self.blas, self.address = index, instance, blas, address
        self.boxes, self.number = boxes, number
        self.bounds = model.join(*(model.placed_bounds(instance.matrix, b) for b in boxes))

    def node(self, parent):
        i = self.instance
        head = struct.pack("<12fQ2I", *(v for row in model.invert(i.matrix) for v in row),
                           nodes.pointer(self.address, i.flags, self.blas.procedural), parent, i.user_data | i.mask << 24)
        return head + filter_node(self.boxes, self.number)

    def side(self):
        i = self.instance
        return struct.pack("<4I12f", self.index, i.custom | i.flags << 24, METADATA_BYTES, 0,
                           *(v for row in i.matrix for v in row))


def parts_of(item, room):
    """The boxes of an instance that a TLAS box shows as children of their own, while it has room for them."""
    if len(item.boxes) < 2 or room < 1:
        return [item.bounds]
    boxes = item.boxes[:room] + ([model.join(*item.boxes[room:])] if len(item.boxes) > room else [])
    return [model.placed_bounds(item.instance.matrix, b) for b in boxes]


def tlas(items, count, rebraid, reuse):
    tree = model.hierarchy([model.Leaf(i.bounds, i) for i in items])
    order, work = [], [(tree, None, 0)]
    while work:
        node, parent, index = work.pop(0)
        children = model.opened(node, 8)
        inner = [c for c in children if isinstance(c, model.Inner)]
        order.append((node, parent, index, inner, len(order) + 1 + len(work) if inner else 0,
                      [c for c in children if isinstance(c, model.Leaf)]))
        work += [(c, len(order) - 1, i) for i, c in enumerate(inner)]
    leaf_at = HEADER_BYTES + 128 * len(order)
    boxes, leaves, sides, pointers = [], [], [], [model.NONE] * len(items)
    for me, (node, parent, index, inner, first, below) in enumerate(order):
        origin, exps = node.bounds[0], nodes.exponents(*node.bounds)
        slots = [nodes.child(c.bounds, origin, exps, 5, 1, 0, mask_of(c), careful=True) for c in inner]
        start = leaf_at + 128 * len(leaves)
        for at, c in enumerate(below):
            parts = parts_of(c.item, 8 - len(slots) - (len(below) - 1 - at) - 1) if reuse else [c.bounds]
            for i, part in enumerate(parts):  # a size of 0: the next child names the same instance
                slots.append(nodes.child(part, origin, exps, 6, int(i == len(parts) - 1), 0, c.item.instance.mask, careful=True))
            pointers[len(leaves)] = leaf_at + 128 * len(leaves) >> 3 | 6
            leaves.append(c.item.node(nodes.box_id(HEADER_BYTES + 128 * me)))
            sides.append(c.item.side())
        up = model.NONE if parent is None else nodes.box_id(HEADER_BYTES + 128 * parent)
        boxes.append(nodes.box(HEADER_BYTES + 128 * first, start, up, origin, exps, slots, index))
    side_at = leaf_at + 128 * len(leaves)
    tail = b"".join(sides) + struct.pack("<%dI" % len(pointers), *pointers)
    total = METADATA_BYTES + side_at + len(tail)
    head = header(TLAS, total, count, count, count, 0, (HEADER_BYTES, leaf_at, side_at, side_at + 64 * len(sides)),
                  len(boxes), len(leaves), tree.bounds, rebraid)
    return head + b"".join(boxes + leaves) + tail


def mask_of(node):
    out = 0
    for leaf in model.leaves_of(node):
        out |= leaf.item.instance.mask
    return out


def scene(blases, instances, mode="batch", address=0x800000000, rebraid=False, split=False, spread=0x20000, habits=False,
          reuse=False):
    """Buffers that begin with the metadata; `base` is the header of the TLAS. `habits`: what its builders leave where
    the unit does not look; `reuse`: several children of a TLAS box name one instance, with a part of its box each."""
    built = [Blas(b, mode, rebraid, split, habits) for b in blases]
    places, at, segments = [], address + (1 << 20), []
    for n, b in enumerate(built):
        data = b.bytes(at + METADATA_BYTES)
        places.append(at + METADATA_BYTES)
        segments.append(model.Segment(at, data, "blas%d.bin" % n))
        at = (at + len(data) + 255) // 256 * 256 + spread
    items = []
    for n, i in enumerate(instances):
        b = built[i.blas]
        parts = b.root_children if rebraid and len(b.root_children) > 1 else [(None, 1)]
        for bounds, number in parts:
            items.append(Placed(n, i, b, places[i.blas], four(b.root_boxes) if bounds is None else [bounds], number))
    top = metadata(address + METADATA_BYTES, b"") + tlas(items, len(instances), rebraid, reuse)
    segments.insert(0, model.Segment(address, top, "tlas.bin"))
    return model.Capture(segments, address + METADATA_BYTES, ROOT, [(p, s.data) for p, s in zip(places, segments[1:])])
