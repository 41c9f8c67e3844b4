"""What the encoders share: binary32, scenes, a plain binary hierarchy, rays and the brute force."""
import math
import random
import struct
from dataclasses import dataclass, field

NONE = 0xFFFFFFFF


def f32(x):
    """The nearest binary32. Sums and products of two binary32 in double round the same way."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bits(x):
    return struct.unpack("<I", struct.pack("<f", x))[0]


def of_bits(word):
    return struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]


@dataclass
class Geometry:
    triangles: list
    opaque: bool = True


@dataclass
class Boxes:
    """Procedural geometry: (low, high) corners."""
    boxes: list
    opaque: bool = True


def count_of(geometry):
    return len(geometry.boxes if isinstance(geometry, Boxes) else geometry.triangles)


@dataclass
class Instance:
    blas: int
    matrix: list  # object to world, 3 rows of 4
    mask: int = 0xFF
    user_data: int = 0  # 24 bits: offset in the shader table
    custom: int = 0  # 24 bits: the application's instance ID
    flags: int = 0  # VkGeometryInstanceFlags: 1 cull disable, 2 flip, 4 opaque, 8 not opaque


@dataclass
class Segment:
    address: int
    data: bytes
    name: str


@dataclass
class Capture:
    segments: list
    base: int
    root: int
    blases: list = field(default_factory=list)  # (address of the structure, its data)

    def write(self, folder):
        words = []
        for segment in self.segments:
            path = "%s/%s" % (folder, segment.name)
            with open(path, "wb") as file:
                file.write(segment.data)
            words.append("%s@0x%x" % (path, segment.address))
        return words


# ---- scenes ----


def vertex(x, y, z):
    return (f32(x), f32(y), f32(z))


def sphere(rows, columns, radius=1.0):
    def at(i, j):
        a, b = math.pi * i / rows, 2 * math.pi * (j % columns) / columns
        return vertex(radius * math.sin(a) * math.cos(b), radius * math.cos(a), radius * math.sin(a) * math.sin(b))
    out = []
    for i in range(rows):
        for j in range(columns):
            a, b, c, d = at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)
            if i != 0:
                out.append((a, b, d))
            if i != rows - 1:
                out.append((a, d, c))
    return out


def grid(n, seed=1):
    chance = random.Random(seed)
    height = [[chance.random() / 2 for _ in range(n + 1)] for _ in range(n + 1)]

    def at(i, j):
        return vertex(i, height[i][j], j)
    return [t for i in range(n) for j in range(n)
            for t in ((at(i, j), at(i, j + 1), at(i + 1, j)), (at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)))]


def flat(n):
    """A level square around the origin whose zeros have either sign."""
    def at(i, j, odd):
        return tuple(-v if v == 0 and odd else v for v in vertex(i - n // 2, 0, j - n // 2))
    out = []
    for i in range(n):
        for j in range(n):
            a, b, c, d = (at(i + k // 2, j + k % 2, (i + j) % 2) for k in range(4))
            out += [(a, b, c), (c, b, d)]
    return out


def soup(n, seed=2, size=0.5):
    chance = random.Random(seed)
    out = []
    for _ in range(n):
        corner = [chance.uniform(-4, 4) for _ in range(3)]
        out.append(tuple(vertex(*(c + chance.uniform(-size, size) for c in corner)) for _ in range(3)))
    return out


def boxes(n, seed=3):
    chance = random.Random(seed)
    out = []
    for _ in range(n):
        low = vertex(*(chance.uniform(-3, 3) for _ in range(3)))
        out.append((low, vertex(*(v + chance.uniform(0.1, 0.6) for v in low))))
    return out


def identity():
    return [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]


def move(x, y, z):
    m = identity()
    m[0][3], m[1][3], m[2][3] = f32(x), f32(y), f32(z)
    return m


def turn(degrees, x=0.0, y=0.0, z=0.0, scale=1.0):
    c, s = scale * math.cos(math.radians(degrees)), scale * math.sin(math.radians(degrees))
    rows = [[c, 0.0, s, x], [0.0, scale, 0.0, y], [-s, 0.0, c, z]]
    return [[f32(v) for v in row] for row in rows]


def invert(m):
    """World to object in binary32, from a double inverse."""
    a = [row[:3] for row in m]
    det = sum(a[0][i] * (a[1][(i + 1) % 3] * a[2][(i + 2) % 3] - a[1][(i + 2) % 3] * a[2][(i + 1) % 3])
              for i in range(3))
    inv = [[(a[(j + 1) % 3][(i + 1) % 3] * a[(j + 2) % 3][(i + 2) % 3]
             - a[(j + 1) % 3][(i + 2) % 3] * a[(j + 2) % 3][(i + 1) % 3]) / det for j in range(3)] for i in range(3)]
    return [[f32(v) + 0.0 for v in inv[i]] + [f32(-sum(inv[i][j] * m[j][3] for j in range(3))) + 0.0]
            for i in range(3)]


def placed(m, p):
    return tuple(sum(m[i][j] * p[j] for j in range(3)) + m[i][3] for i in range(3))


# ---- bounds ----


def around(points):
    points = list(points)
    return (tuple(min(p[k] for p in points) for k in range(3)), tuple(max(p[k] for p in points) for k in range(3)))


def join(*bounds):
    return around([b[0] for b in bounds] + [b[1] for b in bounds])


def outward(bounds):
    """Of doubles: the smallest binary32 bounds around them."""
    def down(x):
        y = f32(x)
        if y <= x:
            return y
        return of_bits(0x80000001 if y == 0 else bits(y) + (-1 if y > 0 else 1))

    def up(x):
        return -down(-x)
    return (tuple(down(v) for v in bounds[0]), tuple(up(v) for v in bounds[1]))


def placed_bounds(m, bounds):
    corners = [(bounds[i & 1][0], bounds[i >> 1 & 1][1], bounds[i >> 2 & 1][2]) for i in range(8)]
    return outward(around(placed(m, c) for c in corners))


def area(b):
    x, y, z = (b[1][k] - b[0][k] for k in range(3))
    return x * y + y * z + z * x


# ---- the hierarchy: a binary tree by halves of the longest axis ----


@dataclass
class Leaf:
    bounds: tuple
    item: object


@dataclass
class Inner:
    bounds: tuple
    left: object
    right: object


def hierarchy(leaves):
    if len(leaves) == 1:
        return leaves[0]
    total = join(*(leaf.bounds for leaf in leaves))
    axis = max(range(3), key=lambda k: total[1][k] - total[0][k])
    ordered = sorted(leaves, key=lambda leaf: leaf.bounds[0][axis] + leaf.bounds[1][axis])
    half = len(ordered) // 2
    left, right = hierarchy(ordered[:half]), hierarchy(ordered[half:])
    return Inner(join(left.bounds, right.bounds), left, right)


def opened(node, most=8, whole=lambda inner: False):
    """Up to `most` children of a wide node: the inner child of the largest surface is opened first.
    A child for which `whole` holds stays closed: it becomes a leaf of several primitives."""
    children = [node.left, node.right] if isinstance(node, Inner) else [node]
    while len(children) < most:
        inner = [c for c in children if isinstance(c, Inner) and not whole(c)]
        if not inner:
            break
        widest = max(inner, key=lambda c: area(c.bounds))
        at = children.index(widest)
        children[at:at + 1] = [widest.left, widest.right]
    return children


def leaves_of(node):
    if isinstance(node, Leaf):
        return [node]
    return leaves_of(node.left) + leaves_of(node.right)


def halves(triangle, bounds):
    """Spatial split: the bounds of both parts of a triangle, cut in the middle of its longest axis."""
    axis = max(range(3), key=lambda k: bounds[1][k] - bounds[0][k])
    plane = f32((bounds[0][axis] + bounds[1][axis]) / 2)
    parts = ([], [])
    for i in range(3):
        a, b = triangle[i], triangle[(i + 1) % 3]
        for side, inside in enumerate((a[axis] <= plane, a[axis] >= plane)):
            if inside:
                parts[side].append(a)
        if (a[axis] - plane) * (b[axis] - plane) < 0:
            t = (plane - a[axis]) / (b[axis] - a[axis])
            cut = tuple(plane if k == axis else a[k] + t * (b[k] - a[k]) for k in range(3))
            parts[0].append(cut)
            parts[1].append(cut)
    return [outward(around(part)) for part in parts]


def split_leaves(items, share=0.25):
    """A leaf for every item; the largest triangles get two, with a cut box each."""
    order = sorted(items, key=lambda i: -area(i.bounds))
    large = set(map(id, order[:max(1, int(share * len(items)))]))
    out = []
    for item in items:
        cuts = halves(item.corners, item.bounds) if id(item) in large else [item.bounds]
        out += [Leaf(cut, item) for cut in cuts]
    return out


# ---- rays and the brute force ----


def rays(count, bounds, seed=9):
    """Rays from around the bounds to points in them: (origin, tmin, direction, tmax) as bvh trace reads."""
    chance = random.Random(seed)
    centre = [(bounds[0][k] + bounds[1][k]) / 2 for k in range(3)]
    reach = max(bounds[1][k] - bounds[0][k] for k in range(3))
    out = []
    for _ in range(count):
        origin = [c + chance.uniform(-1, 1) * reach for c in centre]
        target = [chance.uniform(bounds[0][k], bounds[1][k]) for k in range(3)]
        out.append((*(f32(v) for v in origin), 0.0, *(f32(t - o) for t, o in zip(target, origin)), math.inf))
    return out


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def crossing(origin, direction, triangle):
    """t, u, v in double precision, or None."""
    a, b, c = triangle
    e1, e2 = sub(b, a), sub(c, a)
    p = cross(direction, e2)
    det = dot(e1, p)
    if det == 0:
        return None
    s = sub(origin, a)
    u = dot(s, p) / det
    if u < 0 or u > 1:
        return None
    q = cross(s, e1)
    v = dot(direction, q) / det
    if v < 0 or u + v > 1:
        return None
    return dot(e2, q) / det, u, v


class World:
    """All triangles of a scene, each instance's with its own rays."""

    def __init__(self, blases, instances):
        self.instances = [(number, placed_inverse(i.matrix), [
            (tri, g, p, around(tri)) for g, geometry in enumerate(blases[i.blas]) if isinstance(geometry, Geometry)
            for p, tri in enumerate(geometry.triangles)]) for number, i in enumerate(instances)]

    def hits(self, ray, slack=0.0):
        """Every (t, instance, geometry, primitive, distance from the nearest edge) along the ray."""
        out = []
        for number, inverse, triangles in self.instances:
            origin = placed(inverse, ray[:3])
            direction = tuple(sum(inverse[i][j] * ray[4 + j] for j in range(3)) for i in range(3))
            for tri, g, p, _ in triangles:
                found = crossing(origin, direction, tri)
                if found is not None and ray[3] <= found[0] <= ray[7]:
                    out.append((found[0], number, g, p, min(found[1], found[2], 1 - found[1] - found[2])))
        return sorted(out)


def placed_inverse(m):
    a = [row[:3] for row in m]
    det = sum(a[0][i] * (a[1][(i + 1) % 3] * a[2][(i + 2) % 3] - a[1][(i + 2) % 3] * a[2][(i + 1) % 3])
              for i in range(3))
    inv = [[(a[(j + 1) % 3][(i + 1) % 3] * a[(j + 2) % 3][(i + 2) % 3]
             - a[(j + 1) % 3][(i + 2) % 3] * a[(j + 2) % 3][(i + 1) % 3]) / det for j in range(3)] for i in range(3)]
    return [inv[i] + [-sum(inv[i][j] * m[j][3] for j in range(3))] for i in range(3)]


def closest(world, ray, hit, edge=1e-4):
    """Whether `hit` (t, geometry, primitive, instance index; None: a miss) is what brute force says. Rays
    that pass within `edge` of an edge, or meet two triangles at nearly one distance, may go either way."""
    found = world.hits(ray)
    if hit is None:
        return all(h[4] < edge for h in found)
    t, g, p, number = hit
    near = [h for h in found if h[0] < t - 1e-4 * max(1.0, abs(t)) and h[4] >= edge]
    same = [h for h in found if h[1:4] == (number, g, p) and abs(h[0] - t) <= 1e-3 * max(1.0, abs(t))]
    return not near and (bool(same) or any(h[4] < edge for h in found) or not found)
