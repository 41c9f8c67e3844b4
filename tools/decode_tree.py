"""Builds the decision tables of facet_isa_decode from instruction rows.

A node picks an entry by two bit ranges of the word; a leaf names the only row that can own the word.
Every walk has the same number of steps (a leaf leads to itself), so decoding has no branch that
depends on the word. The leaf's mask, match and conditions are compared at the end."""


class Node:
    """Entry number = base + ((word >> shift1) & mask1) + ((word >> shift2) & mask2)."""

    def __init__(self):
        self.row = 0  # leaf: the row, or the number after the last one for illegal
        self.ranges = None  # inner: ((lo1, width1), (lo2, width2))
        self.children = []
        self.base = 0


MAX_BITS = 7  # a node has at most 128 entries: together they stay near the cache


def can_own(row, known, value):
    """false when the known bits exclude the row."""
    if (row.match ^ value) & row.mask & known:
        return False
    for mask, bad in row.conditions():
        if known & mask == mask and value & mask == bad:
            return False
    return True


def bit_weights(rows, known):
    """For every bit how many rows it tells from the others: 0 when it tells none."""
    weights = []
    for bit in range(32):
        b = 1 << bit
        if known & b or any(r.length == 2 and bit >= 16 for r in rows):
            weights.append(0)
            continue
        ones = sum(1 for r in rows if r.mask & b and r.match & b)
        zeros = sum(1 for r in rows if r.mask & b and not r.match & b)
        # A condition on the bit separates a row from one that fixes it (SHL and ABS).
        conditional = sum(1 for r in rows if any(mask & b for mask, _ in r.conditions()))
        weights.append(min(ones, zeros) * 2 if ones and zeros else min(ones + zeros, conditional))
    return weights


def best_ranges(weights):
    """Two bit ranges with the most weight, at most MAX_BITS together."""
    runs = []
    for lo in range(32):
        for width in range(1, MAX_BITS + 1):
            part = weights[lo:lo + width]
            if len(part) == width and part[0] and part[-1]:
                runs.append((sum(part) - width * 0.25, lo, width))
    best, chosen = 0, None
    for i, (wa, la, na) in enumerate(runs):
        if wa > best:
            best, chosen = wa, ((la, na), (0, 0))
        for wb, lb, nb in runs[i + 1:]:
            if na + nb <= MAX_BITS and la + na < lb and wa + wb > best:
                best, chosen = wa + wb, ((la, na), (lb, nb))
    return chosen


def build(rows, known, value, illegal):
    node = Node()
    rows = [r for r in rows if can_own(r, known, value)]
    if len(rows) <= 1:
        node.row = rows[0].id if rows else illegal
        return node
    node.ranges = best_ranges(bit_weights(rows, known))
    if node.ranges is None:
        raise ValueError("no bit tells %s apart" % ", ".join(r.mnemonic for r in rows))
    (lo1, n1), (lo2, n2) = node.ranges
    mask = (((1 << n1) - 1) << lo1) | (((1 << n2) - 1) << lo2)
    for index in range(1 << (n1 + n2)):
        part = ((index & ((1 << n1) - 1)) << lo1) | ((index >> n1) << lo2)
        node.children.append(build(rows, known | mask, (value & ~mask) | part, illegal))
    return node


def depth(node):
    return 1 + max(depth(c) for c in node.children) if node.children else 0


def flatten(roots):
    """Numbers all nodes so that the entries of one node follow each other. Returns the list."""
    flat = list(roots)
    i = 0
    shared = {}
    while i < len(flat):
        node = flat[i]
        if node.children:
            key = shape(node)
            if key in shared:
                node.base = shared[key]
            else:
                node.base = shared[key] = len(flat)
                flat.extend(node.children)
        else:
            node.base = i
        i += 1
    return flat


def shape(node):
    """Equal for nodes that decide alike: their entries are stored once."""
    if not node.children:
        return node.row
    if not hasattr(node, "key"):
        node.key = (node.ranges, tuple(shape(c) for c in node.children))
    return node.key
