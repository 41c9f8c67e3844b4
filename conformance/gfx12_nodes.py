"""Nodes and rays for vectors of GFX12, written down field by field (gfx12-semantics.md 2 to 8), and the model's answer to them."""
import gfx12_model as model
from gfx12_case import Case
from gfx12_model import INF, INVALID, Unit, bits_of, resource

UNUSED = (0xFFFFFFFF, 0x00000FFF, 0)


def child(low, high, flags=0, mask=0xFF, kind=5, size=1, unused=0):
    return (low[0] | low[1] << 12 | flags << 24 | unused << 28, low[2] | high[0] << 12 | mask << 24,
            high[1] | high[2] << 12 | kind << 24 | size << 28)


def box(children, origin=(0, 0, 0), exponents=(127, 127, 127), internal=0x100, primitive=0x200, obb=0x7F, count=None, parent=INVALID,
        spare=0):
    """`origin` as bits; the count is that of the children unless it is given."""
    count = len(children) - 1 if count is None else count
    words = [internal, primitive, parent, *origin, exponents[0] | exponents[1] << 8 | exponents[2] << 16 | spare << 24 | count << 28,
             obb]
    for c in list(children) + [UNUSED] * (8 - len(children)):
        words += c
    return words


def descriptor(tri0, tri1=(0, 0, 0), stop=1, opaque=(1, 0), double=(0, 0)):
    d = stop | double[1] << 1 | opaque[1] << 2 | double[0] << 15 | opaque[0] << 16
    for first, v in ((3, tri1), (17, tri0)):
        d |= v[0] << first | v[1] << first + 4 | v[2] << first + 8
    return d


def primitive(vertices, pairs, bits=(32, 32, 32), zeros=0, geometry=(0, 0, ()), index=(0, 0, ()), middle=None, prefix=None):
    """`vertices`: triples of FP32 bits that prefixes and widths can hold; `geometry` and `index`: bits of the base, bits of a payload,
    values as they are stored, the base first. Returns the 32 dwords."""
    node, at = 0, 52

    def put(where, value):
        nonlocal node
        node |= value << where
    prefix_bits = [32 - zeros - b for b in bits]
    for k, (field, value) in enumerate(zip((0, 5, 10), bits)):
        put(field, value - 1)
        shared = (vertices[0][k] >> 32 - prefix_bits[k]) if prefix_bits[k] else 0
        put(at, shared if prefix is None else prefix[k])
        at += prefix_bits[k]
    put(15, zeros)
    for v in vertices:
        for k in range(3):
            put(at, v[k] >> zeros & (1 << bits[k]) - 1)
            at += bits[k]
    gab, gpb, g = geometry
    pab, ppb, p = index
    put(20, gab // 2), put(24, gpb // 2), put(28, len(pairs) - 1), put(32, pab), put(37, ppb)
    middle = 1024 - 29 * len(pairs) - (2 * len(pairs) - 1) * ppb - pab if middle is None else middle
    put(42, middle)
    for t, value in enumerate(g):
        put(middle - gab - t * gpb, value)
    for t, value in enumerate(p):
        put(middle if t == 0 else middle + pab + (t - 1) * ppb, value)
    for n, d in enumerate(pairs):
        put(1024 - 29 * (n + 1), d)
    return [node >> 32 * i & INVALID for i in range(32)]


def instance(matrix, children, pointer=0x4000, user=0xBEEF, mask=0xFF, origin=(0, 0, 0), exponents=(127, 127, 127), count=None, spare=0,
             parent=0):
    count = len(children) - 1 if count is None else count
    words = [w for row in matrix for w in row] + [pointer & INVALID, pointer >> 32, parent, user | mask << 24, *origin,
                                                  exponents[0] | exponents[1] << 8 | exponents[2] << 16 | spare << 24 | count << 28]
    for c in list(children) + [UNUSED] * (4 - len(children)):
        words += c
    return words


def ray(node, origin, direction, pointer=5, extent=INF, mask=0xFF, flags=0, address=0, **fields):
    """A vector; origin, direction and extent as bits. `fields` are those of the descriptor, `profile` and `opaque_sense`."""
    options = {k: fields.pop(k) for k in ("profile", "opaque_sense") if k in fields}
    if flags or address:
        options["bvh_base"] = flags << 54 | address // 8
    return {"name": "", "node": list(node), "node_pointer": pointer, "resource": resource(**fields), "ray_extent": extent,
            "instance_mask": mask, "origin": list(origin), "direction": list(direction)} | options


def dual(node, pointers, origin, direction, **fields):
    v = ray(node, origin, direction, 0, **{"compressed": 0} | fields)
    del v["node_pointer"]
    return v | {"instruction": "image_bvh_dual_intersect_ray", "node_pointers": list(pointers)}


def named(name, vector):
    return vector | {"name": name}


def nears(vector):
    """min_t of the children of a box node that the ray meets."""
    unit, out = Unit(vector | {"ray_extent": INF}), []
    unit.slab, slab = lambda *a: (out.append(slab(*a)), out[-1])[1], unit.slab
    unit.intersect8(vector["node_pointer"])
    return [s.near for s in out if s.id != INVALID]


def pinned(name, vector):
    """The nearest plane to the last bit: a ray that just reaches it, and one that ends an ulp before."""
    found = nears(vector)
    if not found:
        return [named(name, vector)]
    near = min(found)
    return [named(f"{name}, extent {t:#010x}", vector | {"ray_extent": t}) for t in ([near, near - 1] if near else [0])]


def case(suite, name, rows, vectors):
    suite.add(Case("gfx12/" + name, rows, "exact", [model.answer(v) for v in vectors]))


def b(*values):
    return bits_of(*values)
