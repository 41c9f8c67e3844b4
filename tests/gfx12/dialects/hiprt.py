"""HIPRT: a header of 64 bytes with pointers; box nodes and primitive nodes have a base each, node indices
count nodes, packets keep their number of vertices, and instances hold a plain pointer to a header."""
import struct

from . import model, nodes, packets

HEADER_BYTES = 64
RTIP = 31
UNUSED = (0xFFFFFF, 0xFFFFFF, 0xFFFFFF)


def align(n, to):
    return (n + to - 1) // to * to


def header(boxes, prims, size, references, box_count, prim_count, kind):
    return struct.pack("<3Q5I", boxes, prims, size, references, box_count, prim_count, kind, RTIP).ljust(64, b"\0")


def scene_header(boxes, prims, instances, frames, size, references, count, prim_count, box_count):
    return struct.pack("<5Q6I", boxes, prims, instances, frames, size, references, count, prim_count, box_count, count,
                       RTIP)


def wide(tree, whole):
    """The boxes of the wide tree in order of their index: (node, parent, inner, first, leaves)."""
    order, work = [], [(tree, model.NONE)]
    while work:
        node, parent = work.pop(0)
        children = model.opened(node, 8, whole)
        inner = [c for c in children if isinstance(c, model.Inner) and not whole(c)]
        order.append((node, parent, inner, len(order) + 1 + len(work) if inner else 0,
                      [c for c in children if c not in inner]))
        work += [(c, len(order) - 1) for c in inner]
    return order


def box(first, prims, parent, bounds, slots):
    """`first` and `prims` are indices of nodes, from the base of their kind each."""
    exps = nodes.exponents(*bounds, least=13)
    # The unnamed bits of the struct keep what was in memory before.
    return nodes.box(128 * first, 128 * prims, parent, bounds[0], exps, slots, index=3,
                     matrix=0x06B11700 | nodes.NO_MATRIX, unused=UNUSED)


def child(outer, bounds, kind, size):
    return nodes.child(bounds, outer[0], nodes.exponents(*outer, least=13), kind, size, careful=True)


class Geometry:
    """One list of triangles; HIPRT has no geometry index."""

    def __init__(self, geometries, split):
        assert len(geometries) == 1 and isinstance(geometries[0], model.Geometry)
        items = [nodes.Triangle(t, 0, p, False) for p, t in enumerate(geometries[0].triangles)]
        leaves = model.split_leaves(items) if split else [model.Leaf(i.bounds, i) for i in items]
        self.tree, self.boxes, self.prims = model.hierarchy(leaves), [], []
        for node, parent, inner, first, leaves in wide(self.tree, packets.small(4)):
            start = len(self.prims)
            slots = [child(node.bounds, c.bounds, 5, 1) for c in inner]
            if leaves:
                data, starts = packets.pack([packets.pairs_of(packets.items_of(c)) for c in leaves], False, 15, False,
                                            vertex_count=True, repeat=True)
                for c, (_, pair), size in zip(leaves, starts, packets.sizes(starts, len(data))):
                    slots.append(child(node.bounds, c.bounds, nodes.pair_type(pair), size))
                self.prims += data
            self.boxes.append(box(first, start, parent, node.bounds, slots))

    def bytes(self, address, room=2):
        """`room`: box nodes that were allocated and not used."""
        prims = address + HEADER_BYTES + 128 * (len(self.boxes) + room)
        size = prims + 128 * len(self.prims) - address
        return header(address + HEADER_BYTES, prims, size, len(self.prims), len(self.boxes), len(self.prims), 1) + \
            b"".join(self.boxes) + bytes(128 * room) + b"".join(self.prims)


class Placed:
    def __init__(self, index, instance, geometry, address):
        self.index, self.instance, self.geometry, self.address = index, instance, geometry, address
        self.bounds = model.placed_bounds(instance.matrix, geometry.tree.bounds)

    def node(self):
        i, bounds = self.instance, self.geometry.tree.bounds
        exps = nodes.exponents(*bounds, least=13)
        still, plain = 1 << 26, int(i.matrix == model.identity()) << 27
        head = struct.pack("<12fQ2I3fI", *(v for row in model.invert(i.matrix) for v in row), self.address, i.mask,
                           self.index | 0xFF << 24, *bounds[0],
                           exps[0] | exps[1] << 8 | exps[2] << 16 | still | plain)
        slots = [child(bounds, bounds, 5, 1)] + [UNUSED] * 3
        return head + b"".join(struct.pack("<3I", *s) for s in slots)


def scene(blases, instances, address=0x7F4400000000, split=False, spread=0x4000):
    built = [Geometry(b, split) for b in blases]
    at, segments = align(address + (1 << 20), 64), []
    for n, b in enumerate(built):
        segments.append(model.Segment(at, b.bytes(at), "geometry%d.bin" % n))
        at = align(at + len(segments[-1].data), 64) + spread
    items = [Placed(n, i, built[i.blas], segments[i.blas].address) for n, i in enumerate(instances)]
    tree = model.hierarchy([model.Leaf(i.bounds, i) for i in items])
    boxes, prims = [], []
    for node, parent, inner, first, leaves in wide(tree, lambda inner: False):
        slots = [child(node.bounds, c.bounds, 5, 1) for c in inner]
        slots += [child(node.bounds, c.bounds, 6, 1) for c in leaves]
        boxes.append(box(first, len(prims), parent, node.bounds, slots))
        prims += [c.item.node() for c in leaves]
    box_at = address + HEADER_BYTES
    prim_at = box_at + 128 * len(boxes)
    side_at = prim_at + 128 * len(prims)
    sides = b"".join(struct.pack("<Q4I", segments[i.blas].address, 0, n, 1, 0) for n, i in enumerate(instances))
    size = side_at + len(sides) - address
    top = scene_header(box_at, prim_at, side_at, side_at + len(sides), size, len(prims), len(instances), len(prims),
                       len(boxes)) + b"".join(boxes)
    top += b"".join(prims) + sides
    segments.insert(0, model.Segment(address, top, "scene.bin"))
    return model.Capture(segments, box_at, 5, [(s.address, s.data) for s in segments[1:]])


def geometry(triangles, address=0, split=False):
    """One geometry without a scene, as hiprtSaveGeometry writes it when the pointers begin at `address`."""
    data = Geometry([model.Geometry(triangles)], split).bytes(address)
    return model.Capture([model.Segment(address, data, "geometry.bin")], address + HEADER_BYTES, 5)
