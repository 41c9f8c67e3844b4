"""HIPRT: a header of 64 bytes with pointers; box nodes and primitive nodes have a base each, node indices
count nodes, packets keep their number of vertices, which only the triangles of a pair share, and instances hold a plain
pointer to a header."""
import math
import struct

from . import model, nodes, packets

HEADER_BYTES = 64
RTIP = 31
CUSTOM = 7  # type of a child that the program's own function tests
UNUSED = (0xFFFFFF, 0xFFFFFF, 0xFFFFFF)


def align(n, to):
    return (n + to - 1) // to * to


def header(boxes, prims, size, references, box_count, prim_count, kind):
    return struct.pack("<3Q5I", boxes, prims, size, references, box_count, prim_count, kind, RTIP).ljust(64, b"\0")


def scene_header(boxes, prims, instances, frames, size, references, count, prim_count, box_count, frame_count):
    return struct.pack("<5Q6I", boxes, prims, instances, frames, size, references, count, prim_count, box_count,
                       frame_count, RTIP)


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
    """One list of triangles or of boxes; HIPRT has no geometry index."""

    def __init__(self, geometries, split):
        assert len(geometries) == 1
        self.custom = isinstance(geometries[0], model.Boxes)
        if self.custom:
            self.encode_custom(geometries[0].boxes)
        else:
            self.encode_triangles(geometries, split)

    def encode_custom(self, boxes):
        """The leaves are numbers of four bytes, in a list of their own."""
        self.tree, self.boxes, self.prims, self.root_boxes = \
            model.hierarchy([model.Leaf(b, n) for n, b in enumerate(boxes)]), [], [], None
        for node, parent, inner, first, leaves in wide(self.tree, lambda inner: False):
            self.root_boxes = self.root_boxes or [c.bounds for c in inner + leaves]
            slots = [child(node.bounds, c.bounds, 5, 1) for c in inner]
            slots += [child(node.bounds, c.bounds, CUSTOM, 1) for c in leaves]
            self.boxes.append(box(first, len(self.prims), parent, node.bounds, slots))
            self.prims += [struct.pack("<I", c.item) for c in leaves]

    def encode_triangles(self, geometries, split):
        items = [nodes.Triangle(t, 0, p, False) for p, t in enumerate(geometries[0].triangles)]
        leaves = model.split_leaves(items) if split else [model.Leaf(i.bounds, i) for i in items]
        self.tree, self.boxes, self.prims, self.root_boxes = model.hierarchy(leaves), [], [], None
        for node, parent, inner, first, leaves in wide(self.tree, packets.small(4)):
            start = len(self.prims)
            self.root_boxes = self.root_boxes or [c.bounds for c in inner + leaves]
            slots = [child(node.bounds, c.bounds, 5, 1) for c in inner]
            if leaves:
                data, starts = packets.pack([packets.pairs_of(packets.items_of(c)) for c in leaves], False, 15, False,
                                            vertex_count=True, repeat=True, apart=True)
                for c, (_, pair), size in zip(leaves, starts, packets.sizes(starts, len(data))):
                    slots.append(child(node.bounds, c.bounds, nodes.pair_type(pair), size))
                self.prims += data
            self.boxes.append(box(first, start, parent, node.bounds, slots))

    def bytes(self, address, room=2):
        """`room`: box nodes that were allocated and not used."""
        prims = address + HEADER_BYTES + 128 * (len(self.boxes) + room)
        size = prims + sum(map(len, self.prims)) - address
        return header(address + HEADER_BYTES, prims, size, len(self.prims), len(self.boxes), len(self.prims),
                      0 if self.custom else 1) + \
            b"".join(self.boxes) + bytes(128 * room) + b"".join(self.prims)


def four(boxes):
    """At most four boxes around them all: the two with the smallest common surface are joined."""
    boxes = list(boxes)
    while len(boxes) > 4:
        i, j = min(((i, j) for i in range(len(boxes)) for j in range(i + 1, len(boxes))),
                   key=lambda pair: model.area(model.join(boxes[pair[0]], boxes[pair[1]])))
        boxes[i] = model.join(boxes[i], boxes[j])
        boxes[j] = boxes[-1]
        boxes.pop()
    return boxes


def way(instance):
    """The matrices of its frames."""
    return [instance.matrix] + getattr(instance, "later", [])


def moving(instance, *later):
    instance.later = list(later)
    return instance


class Placed:
    def __init__(self, index, instance, geometry, address):
        self.index, self.instance, self.geometry, self.address = index, instance, geometry, address
        self.bounds = model.join(*(model.placed_bounds(m, geometry.tree.bounds) for m in way(instance)))

    def node(self, first_frame):
        """Every box stands before the root, with a size of 1 each. What moves has its frames instead of a matrix."""
        i, boxes = self.instance, four(self.geometry.root_boxes)
        bounds = model.join(*boxes)
        exps = nodes.exponents(*bounds, least=13)
        still = len(way(i)) == 1
        flags = int(still) << 26 | int(still and i.matrix == model.identity()) << 27 | len(boxes) - 1 << 28
        place = struct.pack("<12f", *(v for row in model.invert(i.matrix) for v in row)) if still else \
            struct.pack("<2I", first_frame, len(way(i))).ljust(48, b"\0")
        head = place + struct.pack("<Q2I3fI", self.address, i.mask, self.index | 0xFF << 24, *bounds[0],
                                   exps[0] | exps[1] << 8 | exps[2] << 16 | flags)
        slots = [child(bounds, b, 5, 1) for b in boxes]
        return head + b"".join(struct.pack("<3I", *s) for s in slots + [UNUSED] * (4 - len(slots)))


def frame(matrix, as_matrix, time=0.0):
    """64 bytes of m_frames: object to world as it is, or rotation, scale, shear, translation. What model.turn
    makes is a rotation around y and one scale."""
    if as_matrix:
        return struct.pack("<13f", *(v for row in matrix for v in row), time).ljust(64, b"\0")
    scale = math.hypot(matrix[0][0], matrix[2][0])
    half = math.atan2(matrix[0][2], matrix[0][0]) / 2
    return struct.pack("<14f", 0, math.sin(half), 0, math.cos(half), scale, scale, scale, 0, 0, 0,
                       *(row[3] for row in matrix), time).ljust(64, b"\0")


def scene(blases, instances, address=0x7F4400000000, split=False, spread=0x4000, matrix_frames=False):
    built = [Geometry(b, split) for b in blases]
    at, segments = align(address + (1 << 20), 64), []
    for n, b in enumerate(built):
        segments.append(model.Segment(at, b.bytes(at), "geometry%d.bin" % n))
        at = align(at + len(segments[-1].data), 64) + spread
    items = [Placed(n, i, built[i.blas], segments[i.blas].address) for n, i in enumerate(instances)]
    tree = model.hierarchy([model.Leaf(i.bounds, i) for i in items])
    starts = [sum(len(way(i)) for i in instances[:n]) for n in range(len(instances))]
    boxes, prims = [], []
    for node, parent, inner, first, leaves in wide(tree, lambda inner: False):
        slots = [child(node.bounds, c.bounds, 5, 1) for c in inner]
        slots += [child(node.bounds, c.bounds, 6, 1) for c in leaves]
        boxes.append(box(first, len(prims), parent, node.bounds, slots))
        prims += [c.item.node(starts[c.item.index]) for c in leaves]
    box_at = address + HEADER_BYTES
    prim_at = box_at + 128 * len(boxes)
    side_at = prim_at + 128 * len(prims)
    sides = b"".join(struct.pack("<2IQ", starts[n], len(way(i)), segments[i.blas].address) for n, i in enumerate(instances))
    sides = sides.ljust(align(len(sides), 64), b"\0")
    frames = b"".join(frame(m, matrix_frames, k / 4) for i in instances for k, m in enumerate(way(i)))
    size = side_at + len(sides) + len(frames) - address
    top = scene_header(box_at, prim_at, side_at, side_at + len(sides), size, len(prims), len(instances), len(prims),
                       len(boxes), len(frames) // 64) + b"".join(boxes)
    top += b"".join(prims) + sides + frames
    segments.insert(0, model.Segment(address, top, "scene.bin"))
    return model.Capture(segments, box_at, 5, [(s.address, s.data) for s in segments[1:]])


def geometry(triangles, address=0, split=False):
    """One geometry without a scene, as hiprtSaveGeometry writes it when the pointers begin at `address`."""
    data = Geometry([model.Geometry(triangles)], split).bytes(address)
    return model.Capture([model.Segment(address, data, "geometry.bin")], address + HEADER_BYTES, 5)
