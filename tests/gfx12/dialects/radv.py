"""RADV (Mesa's Vulkan driver): every structure is a buffer of its own with a header; the nodes begin at
`bvh_offset`, which is a multiple of 64, and an instance takes 256 bytes. What the driver does not write keeps what the
memory held before; `stale` is the seed of such bytes, None for zeros."""
import random
import struct

from . import model, nodes

TRIANGLES, BOXES, INSTANCES = 0, 1, 2
HEADER_BYTES = {"2026": 136, "2025": 120, "late": 184}
OPAQUE, NOT_OPAQUE = 1, 2


def align(n, to):
    return (n + to - 1) // to * to


def flags_of(items):
    """cull_flags: only opaque, no opaque."""
    kinds = {bool(i.opaque) for i in items}
    return OPAQUE if kinds == {True} else NOT_OPAQUE if kinds == {False} else 0


def header(offset, bounds, flags, end, kind, geometries, instances, primitives, leaf_offsets, layout, shown, build_flags=0):
    size = offset + end
    top = kind == INSTANCES
    serialized = size + align(56 + (8 * primitives if top else 0), 128)
    if layout == "late":  # what is for GFX12 alone comes last
        return struct.pack("<2I6f2Q3IIQ2I3Q4I3I", offset, flags, *bounds[0], *bounds[1], size, serialized,
                           (size + 1023) // 1024, 1, 1, 0, serialized - 56 - (8 * primitives if top else 0), kind,
                           geometries, offset + 128, primitives, instances, leaf_offsets, build_flags, 0 if top else 1, 0,
                           8, 1, 1) + shown
    common = struct.pack("<2I6f3IIQQ3IIQ2I", offset, flags, *bounds[0], *bounds[1], 8, 1, 1, 0, size, serialized,
                         (size + 1023) // 1024, 1, 1, 0, serialized - 56 - (8 * primitives if top else 0), kind,
                         geometries)
    if layout == "2026":
        return common + struct.pack("<3Q4I", offset + 128, primitives, instances, leaf_offsets, build_flags,
                                    0 if top else 1, 0)
    return common + struct.pack("<2Q2I", offset + 128, instances, leaf_offsets, build_flags)


class Builder:
    """Nodes at offsets from bvh_offset; the root is at 0."""

    def __init__(self, mode, stale=None):
        self.mode = mode
        self.old = random.Random(stale) if stale is not None else None
        self.blocks = {}
        self.end = 128
        self.leaf_offsets = {}

    def take(self, count):
        at = self.end
        self.end += 128 * count
        return at

    def before(self, size):
        """What the memory held."""
        return self.old.randbytes(size) if self.old else bytes(size)

    def nowhere(self):
        """The offset of children that a box does not have."""
        return self.old.getrandbits(32) if self.old else self.end

    def bytes(self):
        out = bytearray(self.before(self.end))
        for at, data in self.blocks.items():
            out[at:at + len(data)] = data
        return bytes(out)


def together(node):
    """Two triangles that the encoder puts into one pair."""
    return isinstance(node, model.Inner) and isinstance(node.left, model.Leaf) and isinstance(node.right, model.Leaf)


def items_of(node):
    return [leaf.item for leaf in model.leaves_of(node)]


def batches(pairs):
    """Greedy: the pairs of one box in as few nodes as fit."""
    out = []
    for pair in sorted(pairs, key=lambda p: p[1] is None):
        if out and nodes.fits(out[-1] + [pair], True, 15):
            out[-1].append(pair)
        else:
            out.append([pair])
    return out


def encode_triangles(builder, root):
    boxes = []
    work = [(root, 0, model.NONE)]
    while work:
        node, at, parent = work.pop(0)
        whole = together if builder.mode != "single" else lambda inner: False
        children = model.opened(node, 8, whole)
        inner = [c for c in children if isinstance(c, model.Inner) and not whole(c)]
        leaves = [c for c in children if c not in inner]
        first = builder.take(len(inner)) if inner else builder.end
        for i, c in enumerate(inner):
            work.append((c, first + 128 * i, nodes.box_id(at)))
        boxes.append((node.bounds, at, parent, inner, first, leaves))
    lonely = []
    for box in boxes:
        groups, lone = leaf_groups(builder.mode, box[5])
        if lone:
            lonely.append((box, groups, lone))
        else:
            write_box(builder, box, groups, builder.take(len(groups)), None, None)
    # The retry pass: lone triangles of two boxes share a pair, of which each box holds its own half.
    while lonely:
        (box, groups, lone), other = lonely.pop(0), lonely.pop(0) if lonely else None
        start = builder.take(len(groups) + (len(other[1]) if other else 0))
        shared = builder.take(1)
        if other:
            write_box(builder, other[0], other[1], start + 128 * len(groups), other[2], shared)
            builder.blocks[shared] = merged(other[2], lone)
        else:
            builder.blocks[shared] = nodes.compressed([(lone, None)], [True])
        write_box(builder, box, groups, start, lone, shared)


def leaf_groups(mode, leaves):
    """The pairs of a box by node, each as (pair, bounds), and the triangle that has no partner."""
    pairs = [tuple((items_of(c) + [None])[:2]) for c in leaves]
    if mode != "batch":
        return [[pair] for pair in pairs], None
    groups = batches(pairs)
    if groups and len(groups[-1]) == 1 and groups[-1][0][1] is None:
        return groups[:-1], groups[-1][0][0]
    return groups, None


def write_box(builder, box, groups, start, lone, shared):
    """The box and its primitive nodes from `start` on; `shared` is the node of its lone triangle, which
    the size field of the child before it leads to, or the box's own base when it has no other leaf."""
    bounds, at, parent, inner, first, _ = box
    origin, exps = bounds[0], nodes.exponents(*bounds)
    slots = [nodes.child(c.bounds, origin, exps, 5, 1, flags_of(items_of(c))) for c in inner]
    for i, group in enumerate(groups):
        here = start + 128 * i
        builder.blocks[here] = nodes.compressed(group, [True] * len(group)) if builder.mode == "batch" else \
            with_old(builder, nodes.fixed(*group[0]), group[0][1] is None)
        for pair_at, pair in enumerate(group):
            triangles = [t for t in pair if t]
            size = int(pair_at == len(group) - 1)
            if size and lone and i == len(groups) - 1:
                size = (shared - here) // 128
            slots.append(nodes.child(model.join(*(t.bounds for t in triangles)), origin, exps, nodes.pair_type(pair_at),
                                     size, flags_of(triangles)))
            for t in triangles:
                builder.leaf_offsets[(t.geometry, t.primitive)] = here
    if lone:
        slots.append(nodes.child(lone.bounds, origin, exps, 0, 1, flags_of([lone])))
        builder.leaf_offsets[(lone.geometry, lone.primitive)] = shared
        start = start if groups else shared
    elif not groups and builder.old:
        start = builder.nowhere()
    builder.blocks[at] = nodes.box(first, start, parent, origin, exps, slots)


def with_old(builder, node, lone):
    """A lone triangle's node has dwords that nobody writes, between the indices and the descriptor."""
    return node[:56] + builder.before(124 - 56) + node[124:] if lone and builder.old else node


def merged(first, second):
    """24-bit indices and full vertices, all six of them."""
    return nodes.fixed(first, second, (24, 24))


def encode_boxes(builder, root):
    work = [(root, 0, model.NONE)]
    while work:
        node, at, parent = work.pop(0)
        children = model.opened(node, 8)
        inner = [c for c in children if isinstance(c, model.Inner)]
        leaves = [c for c in children if isinstance(c, model.Leaf)]
        first = builder.take(len(inner)) if inner else builder.end
        start = builder.take(len(leaves)) if leaves else builder.end
        origin, exps = node.bounds[0], nodes.exponents(*node.bounds)
        slots = [nodes.child(c.bounds, origin, exps, 5, 1, flags_of(items_of(c))) for c in inner]
        for i, c in enumerate(inner):
            work.append((c, first + 128 * i, nodes.box_id(at)))
        for i, c in enumerate(leaves):
            builder.blocks[start + 128 * i] = nodes.procedural(c.item)
            builder.leaf_offsets[(c.item.geometry, c.item.primitive)] = start + 128 * i
            slots.append(nodes.child(c.bounds, origin, exps, 0, 1, flags_of([c.item])))
        builder.blocks[at] = nodes.box(first, start, parent, origin, exps, slots)


def shown(bounds, boxes):
    """What an instance of the structure gets: exponents and up to four boxes before the root, by a size of 0."""
    origin, exps = bounds[0], nodes.exponents(*bounds)
    slots = [nodes.child(b, origin, exps, 5, 0) for b in boxes]
    return struct.pack("<I", exps[0] | exps[1] << 8 | exps[2] << 16 | len(slots) - 1 << 28) + \
        b"".join(struct.pack("<3I", *s) for s in slots + [nodes.UNUSED] * (4 - len(slots)))


def structure(builder, root, flags, kind, geometries, instances, primitives, layout, infos, leaf_offsets):
    """The buffer around the nodes; the leaf offsets follow the header, then the nodes at 64 bytes."""
    head = HEADER_BYTES[layout]
    info_bytes = b"".join(struct.pack("<3I", *info) for info in infos)
    offsets_at = head + len(info_bytes)
    offset = align(offsets_at + len(leaf_offsets), 64)
    boxes = shown(root.bounds, [c.bounds for c in model.opened(root, 4)])
    data = header(offset, root.bounds, flags, builder.end, kind, geometries, instances, primitives, offsets_at, layout, boxes)
    assert len(data) == head
    data += info_bytes + leaf_offsets
    # The buffer is larger than what is in it.
    return data + builder.before(offset - len(data)) + builder.bytes() + (builder.before(192) if builder.old else b"")


def blas(geometries, mode="batch", layout="2026", infos=False, leaf_offsets=None, stale=None):
    """Returns the buffer, the bounds, the flags of the root and whether it holds boxes."""
    items = nodes.primitives_of(geometries)
    root = model.hierarchy([model.Leaf(i.bounds, i) for i in items])
    builder = Builder(mode, stale)
    boxes = isinstance(geometries[0], model.Boxes)
    if boxes:
        encode_boxes(builder, root)
    else:
        encode_triangles(builder, root)
    table = b""
    if leaf_offsets if leaf_offsets is not None else mode != "batch":
        table = b"".join(struct.pack("<I", builder.leaf_offsets[(i.geometry, i.primitive)]) for i in items)
    rows = [(model.count_of(g), int(g.opaque), BOXES if boxes else TRIANGLES) for g in geometries] if infos else []
    flags = flags_of(items)
    data = structure(builder, root, flags, BOXES if boxes else TRIANGLES, len(geometries), 0, len(items), layout,
                     rows, table)
    return data, root.bounds, flags, boxes


class Placed:
    def __init__(self, index, instance, bounds, flags, target, blas_data, procedural):
        self.index, self.instance, self.flags, self.target = index, instance, flags, target
        self.blas_bounds, self.blas_data, self.procedural = bounds, blas_data, procedural
        self.bounds = model.placed_bounds(instance.matrix, bounds)


def encode_instance(item, parent, layout, builder):
    i = item.instance
    offset, = struct.unpack_from("<I", item.blas_data, 0)
    link = nodes.pointer(item.target + offset, i.flags, item.procedural)
    low, high = item.blas_bounds
    exps = nodes.exponents(low, high)
    slots = [(4 << 24, 0xFFF << 12 | 0xFF << 24, 0xFFFFFF | 5 << 24 | 1 << 28)] + [nodes.UNUSED] * 3
    node = nodes.instance(model.invert(i.matrix), link, parent, i.user_data, i.mask, low, exps, slots, 1)
    if layout == "late":  # as the header of the BLAS has it
        node = node[:76] + item.blas_data[132:184]
    side = struct.pack("<12f4I", *(v for row in i.matrix for v in row), i.custom, item.index, offset, 136)
    return node + side + builder.before(128 - len(side))


def tlas(items, layout, stale=None):
    root = model.hierarchy([model.Leaf(i.bounds, i) for i in items])
    builder = Builder("instances", stale)
    work = [(root, 0, model.NONE)]
    while work:
        node, at, parent = work.pop(0)
        children = model.opened(node, 8)
        inner = [c for c in children if isinstance(c, model.Inner)]
        leaves = [c for c in children if isinstance(c, model.Leaf)]
        first = builder.take(len(inner)) if inner else builder.end
        start = builder.take(2 * len(leaves)) if leaves else builder.end
        origin, exps = node.bounds[0], nodes.exponents(*node.bounds)

        def promise(c):
            out = 3
            for item in items_of(c):
                out &= item.flags & 3
            return out

        def mask(c):
            out = 0
            for item in items_of(c):
                out |= item.instance.mask
            return out
        slots = [nodes.child(c.bounds, origin, exps, 5, 1, promise(c), mask(c)) for c in inner]
        for i, c in enumerate(inner):
            work.append((c, first + 128 * i, nodes.box_id(at)))
        for i, c in enumerate(leaves):
            builder.blocks[start + 256 * i] = encode_instance(c.item, nodes.box_id(at), layout, builder)
            slots.append(nodes.child(c.bounds, origin, exps, 6, 2, promise(c), c.item.instance.mask))
        builder.blocks[at] = nodes.box(first, start, parent, origin, exps, slots)
    return structure(builder, root, 0, INSTANCES, 1, len(items), len(items), layout, [], b"")


def instance_flags(flags, promise):
    """What forced opacity makes of the promises of the BLAS."""
    if flags & 4:
        return OPAQUE
    if flags & 8:
        return NOT_OPAQUE
    return promise


def scene(blases, instances, mode="batch", address=0x7F1200000000, layout="2026", infos=False, spread=0x10000, stale=None):
    """Every structure in a buffer of its own; buffers begin at multiples of 256."""
    built = [blas(b, mode, layout, infos, stale=stale) for b in blases]
    places, at = [], align(address + (1 << 20), 256)
    for data, *_ in built:
        places.append(at)
        at = align(at + len(data), 256) + spread
    items = [Placed(n, i, built[i.blas][1], instance_flags(i.flags, built[i.blas][2]), places[i.blas], built[i.blas][0],
                    built[i.blas][3]) for n, i in enumerate(instances)]
    top = tlas(items, layout, stale)
    offset, = struct.unpack_from("<I", top, 0)
    segments = [model.Segment(address, top, "tlas.bin")]
    segments += [model.Segment(places[n], b[0], "blas%d.bin" % n) for n, b in enumerate(built)]
    return model.Capture(segments, address + offset, 5, list(zip(places, [b[0] for b in built])))
