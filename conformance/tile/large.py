"""Draws with more in them: meshes whose corners are used again, colours in every product, triangles far larger than the frame, rows of many
pixels in every state, and buffers that a draw reads and writes at once."""
import struct

from tile.geometry import Mesh
from tile_scene import Scene


def mesh(s, name, columns, rows, spread=0.0):
    """A grid of corners over the frame; indices of its triangles."""
    corners = []
    for y in range(rows + 1):
        for x in range(columns + 1):
            place = (2 * x / columns - 1 + s.random.uniform(-spread, spread), 1 - 2 * y / rows + s.random.uniform(-spread, spread), s.random.uniform(0, 1), 1.0)
            corners.append(dict(position=place, color=s.color() | 0xFF000000))
    return s.vertices(name, corners)


def grid(columns, rows, s):
    order = []
    for y in range(rows):
        for x in range(columns):
            a = y * (columns + 1) + x
            b, c, d = a + 1, a + columns + 1, a + columns + 2
            order += (a, b, c, b, d, c) if s.random.random() < .5 else (c, a, b, d, c, b)
    return order


def meshes(suite):
    for columns, rows in ((9, 7), (15, 9)):
        s = Mesh(f"tile/large/mesh-{columns}-{rows}", "TILE-404 TILE-423 TILE-424 TILE-438", depth="D32F", room=0x4000)
        order = grid(columns, rows, s)
        indices = s.buffer("indices", struct.pack(f"<{len(order)}H", *order))
        for k in range(3):  # the same numbers name other corners each time
            g = mesh(s, f"vertices{k}", columns, rows, .04 * k)
            s.rstate(depth_function="lequal", blend=("opaque", "alpha", "additive")[k])
            s.gstate(**g, index_base=indices, index_type="u16")
            s.gdraw(30, idx_base=len(order) - 54, flags="INDEXED")
            s.gdraw(len(order), flags=("INDEXED", "INDEXED|FLAT", "INDEXED")[k])
        suite.add(s)


def products(suite):
    """A colour for each pixel, by a material: every triangle covers one."""
    s = Mesh("tile/large/materials", "TILE-436 TILE-440 TILE-445", 24, 16, room=0x4000, vram=262144)
    for k in range(4):
        corners = []
        for y in range(16):
            for x in range(24):
                color = s.color()
                corners += [dict(position=(2 * (x + dx) / 24 - 1, 1 - 2 * (y + dy) / 16, 0, 1), color=color) for dx, dy in ((0, 0), (2, 0), (0, 2))]
        s.rstate(blend="additive", viewport_xy=(0, 0), viewport_wh=(24, 16))
        s.gstate(**s.vertices(f"vertices{k}", corners))
        s.gparam(slot=k, material=s.color() | 0x01010101, flags="MATERIAL")
        s.gdraw(len(corners), flags="FLAT", gparam=k)
    suite.add(s)


def far(suite):
    """Triangles that reach far beyond the frame, with textures that change from pixel to pixel."""
    for seed in range(4):
        s = Scene(f"tile/large/far-{seed}", "TILE-379 TILE-380 TILE-381 TILE-385", 40, 12, depth="D32F")
        s.sampler(0, **s.texture("texture", 16, 16), wrap_u="repeat", wrap_v="clamp" if seed & 1 else "repeat", filter="bilinear" if seed & 2 else "nearest")
        for n in range(4):
            r = s.random
            size = r.choice((3000, 12000, 30000))
            corners = [dict(x=x + r.uniform(-9, 9), y=y + r.uniform(-9, 9), z=r.random(), u=u * size + r.uniform(-1, 1), v=v * size, color=r.getrandbits(32))
                       for x, y, u, v in ((-size, -size, -1.1, .7), (size, -size, 1.3, .2), (0, size, .1, -1.2))]
            s.rstate(depth_function=("always", "lequal")[n & 1], flags=("DEPTH|TEXTURE", "DEPTH")[n == 2], blend=("opaque", "additive", "alpha")[n % 3])
            s.triangle(*corners[n % 3:], *corners[:n % 3], flags=("DEPTH|TEXTURED", "DEPTH")[n == 2])
        suite.add(s)


def states(suite):
    """Long rows in every kind of state: formats of frame, depth and texture, blends, filters."""
    forms = ("ARGB8888", "RGB565", "PAL8")
    for n in range(9):
        s = Scene(f"tile/large/rows-{n}", "TILE-359 TILE-379 TILE-380 TILE-385 TILE-390", 45, 9, small=n % 4 == 3, depth=("D16", "D32F", None)[n % 3])
        fields = s.texture("texture", 8, 8, forms[n % 3] if n % 3 < 2 else "ARGB8888")
        s.sampler(0, **fields, wrap_u=("clamp", "repeat")[n & 1], wrap_v=("clamp", "repeat")[n >> 1 & 1], filter=("nearest", "bilinear")[n >> 1 & 1])
        for k in range(3):
            flags = "|".join((["DEPTH"] if s.depth else []) + (["TEXTURE"] if (n + k) % 3 else []))
            s.rstate(flags=flags, blend=("opaque", "alpha", "additive")[(n + k) // 2 % 3], depth_function=("always", "less", "gequal")[k]) if s.depth else \
                s.rstate(flags=flags, blend=("opaque", "alpha", "additive")[(n + k) // 2 % 3])
            r = s.random
            s.triangle(*(dict(x=x + r.uniform(-3, 3), y=y + r.uniform(-3, 3), z=r.random(), w=r.uniform(.5, 2), u=r.uniform(-1, 9), v=r.uniform(-1, 9), color=r.getrandbits(32))
                         for x, y in ((-4, -3), (60, 0), (9, 16))), flags=flags.replace("TEXTURE", "TEXTURED"))
        suite.add(s)


def feedback(suite):
    """Corners that lie in the frame: a triangle changes those of the ones behind it."""
    s = Mesh("tile/large/feedback", "TILE-404 TILE-359", 24, 16, fill=0, depth="D32F")
    for k in range(5):
        x = -1 + .4 * k
        for row, place in enumerate(((x, 1, 0, 1), (x + .9, 1, 0, 1), (x, -1, 0, 1))):
            corner = struct.pack("<4fI", *place, s.color())
            at = s.base + s.stride * (3 * k + row)
            s.command("WRITE_MEM", at, payload=list(struct.unpack("<5I", corner)))
    s.rstate(depth_function="always", blend="additive")
    s.gstate(vbo_base=s.base, stride=s.stride, attributes="COLOR")
    s.gdraw(15)
    s.gdraw(9, topology="strip")
    suite.add(s)


def beyond(suite):
    """A depth buffer whose last rows are outside of memory; the frame is not."""
    for depth, size in (("D16", 2), ("D32F", 4)):
        s = Scene(f"tile/large/depth-beyond-{depth.lower()}", "TILE-359 TILE-379", 24, 16, depth=depth, vram=131072)
        end = 0x80020000
        for first in (3, 9, 15):
            s.rstate(depth_base=end - 128 * first - 40, depth_stride=128, depth_function="always", blend="additive")
            s.triangle({"x": -2.0, "y": -1.0, "color": 0x10203040}, {"x": 40.0, "y": 0.0, "color": 0x01020304}, {"x": 3.0, "y": 30.0, "color": 0x00102030}, flags="DEPTH")
        suite.add(s)


def add(suite):
    for part in (meshes, products, far, states, feedback, beyond):
        part(suite)
