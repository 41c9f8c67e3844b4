"""Leaves of several pairs, as GPURT and HIPRT write them: all pairs of a box's leaves one after another in
128-byte packets, ranges that end with a stop bit and may go on in the next packet."""
from . import model, nodes


def small(most):
    """Whether a subtree becomes one leaf: at most so many primitives."""
    return lambda inner: len(model.leaves_of(inner)) <= most


def items_of(node):
    """The distinct primitives below; a split one can be there twice."""
    return list({id(leaf.item): leaf.item for leaf in model.leaves_of(node)}.values())


def pairs_of(items):
    return [tuple((items[i:i + 2] + [None])[:2]) for i in range(0, len(items), 2)]


def pack(ranges, prefix, most_vertices, geometry_ids, **style):
    """Returns the packets and, for each range, (packet, pair)."""
    packets, starts = [[]], []
    for pairs in ranges:
        for i, pair in enumerate(pairs):
            row = (pair, i == len(pairs) - 1)
            if packets[-1] and not nodes.fits([p for p, _ in packets[-1]] + [pair], prefix, most_vertices, geometry_ids,
                                              style.get("apart", False)):
                packets.append([])
            if i == 0:
                starts.append((len(packets) - 1, len(packets[-1])))
            packets[-1].append(row)
    data = [nodes.compressed([p for p, _ in packet], [stop for _, stop in packet], prefix, late=True, **style)
            for packet in packets]
    return data, starts


def sizes(starts, count):
    """How many packets to go on from each range to the next."""
    ends = [packet for packet, _ in starts[1:]] + [count]
    return [end - packet for (packet, _), end in zip(starts, ends)]
