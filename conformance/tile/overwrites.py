"""Draws that read what they write: vertices, indices and texels in the frame or the depth buffer, buffers that overlap or end with
memory, vertices that are all one. A machine that fetches ahead, or keeps pixels back, must still show what happens in the order of
elements and pixels, as tile_graphics.py does it one by one."""
import struct

from tile.geometry import Mesh, corner

NAMES = ("tile/overwrites",)
VRAM = 131072
END = 0x80000000 + VRAM


def words(data):
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


def poke(s, address, data):
    """Bytes into memory between two draws."""
    w = words(data + bytes(-len(data) % 4))
    for i in range(0, len(w), 200):
        s.command("WRITE_MEM", address + 4 * i, payload=w[i:i + 200])


def some_corners(s, count, spread=1.1, keys=("color",)):
    corners = []
    for _ in range(count):
        c = dict(position=s.point(spread, s.random.choice((1.0, 1.0, 1.5))), color=s.color(), uv=[s.random.uniform(0, 2), s.random.uniform(0, 2)])
        corners.append(corner(**{k: v for k, v in c.items() if k in keys + ("position",)}))
    return corners


def vertices(suite):
    """Triangles over the bytes of vertices that come later."""
    for n in range(6):
        depth, topology, indexed = (None, "D32F", None)[n % 3], ("list", "strip")[n // 3], n in (1, 4)
        s = Mesh(f"tile/overwrites/vertices-{n}", "TILE-399 TILE-404 TILE-405 TILE-421", 32, 24, depth=depth, fill=0)
        corners = some_corners(s, 18)
        size = len(corners[0])
        for where in ("frame", "depth") if depth else ("frame",):
            base = (s.base if where == "frame" else s.depth_base) + s.stride * s.random.randrange(8) + 8
            poke(s, base, b"".join(corners))
            index_base = 0
            if indexed:
                index_base = s.base + s.stride * 20 + 16  # indices lie in the frame too
                poke(s, index_base, struct.pack("<18H", *(s.random.randrange(18) for _ in range(18))))
            s.rstate(blend=("opaque", "additive", "alpha")[n % 3])
            s.gstate(vbo_base=base, stride=size, attributes="COLOR", index_base=index_base, flags="CLIP" if n % 2 else "")
            s.gdraw(18, topology=topology, flags="INDEXED" if indexed else "")
            s.gdraw(12, vtx_base=3, topology=topology, cull=("state", "CW", "CCW")[n % 3])
        suite.add(s)


def many(suite):
    """As many elements as a machine may want to divide, small triangles, now and then one over vertices to come."""
    for n in range(3):
        s = Mesh(f"tile/overwrites/many-{n}", "TILE-399 TILE-405 TILE-421", 48, 32, depth="D16" if n == 1 else None, fill=0)
        out = []
        for k in range(600 if n < 2 else 200):
            x, y, size = s.random.uniform(-1, 1), s.random.uniform(-1, 1), 0.06 if k % 50 else 0.5
            out += [corner((x + dx * size, y + dy * size, s.random.uniform(0, 1), 1.0), color=s.color()) for dx, dy in ((0, 1), (1, -1), (-1, -1))]
        data = b"".join(out)
        at = s.buffer("vertices", data)
        if n == 1:
            at = s.base  # the frame holds the first of them
            poke(s, at, data[:s.stride * 32 // 20 * 20])
            out = out[:s.stride * 32 // 20]
        s.rstate(blend="additive")
        s.gstate(vbo_base=at, stride=20, attributes="COLOR")
        s.gdraw(len(out) // 3 * 3)
        s.gdraw(len(out), topology="strip", vtx_base=1 if n else 0)
        suite.add(s)


def one_vertex(suite):
    """Stride 0, and strides that let vertices overlap."""
    for n, stride in enumerate((0, 4, 8, 12, 16)):
        s = Mesh(f"tile/overwrites/stride-{stride}", "TILE-399 TILE-405 TILE-422 TILE-446", 24, 16, fill=0)
        values = struct.pack("<40f", *(s.random.uniform(-1.2, 1.2) if k % 4 != 3 else 1.0 for k in range(40)))
        at = s.buffer("vertices", values)
        s.rstate(blend="additive")
        for base, count in ((at, 9), (at, 2), (at, 0), (END - 12, 5), (END - 20, 7), (0x7FFFFFF0, 3)):
            s.gstate(vbo_base=base, stride=stride, attributes="COLOR")
            for topology in ("list", "strip"):
                s.gdraw(count, topology=topology, vtx_base=n % 2)
        s.gstate(vbo_base=at, stride=stride, attributes="")
        s.gdraw(12)
        s.gdraw(7, topology="strip", flags="FLAT")
        suite.add(s)


def texels(suite):
    """A texture that is the frame, or begins in it."""
    for n in range(8):
        s = Mesh(f"tile/overwrites/texels-{n}", "TILE-374 TILE-412", 24, 16, depth=("D32F", None)[n % 2], small=n % 4 == 3)
        form = ("ARGB8888", "RGB565", "PAL8", "RGB565")[n % 4]
        size = {"ARGB8888": 4, "RGB565": 2, "PAL8": 1}[form]
        start = s.texture("pattern", 24, 16, "RGB565" if s.small else "ARGB8888")
        s.sampler(1, **start)
        s.sampler(0, base=s.base + (0, 4, s.stride * 3, 8)[n % 4], stride=s.stride, width=s.stride // size // 2, height=8, format=form, wrap_u="repeat", wrap_v="repeat",
                  filter="bilinear" if n > 3 else "nearest")
        s.rstate(flags="TEXTURE", sampler=1)
        s.rectangle(0, 0, 24, 16, state=0)
        s.rstate(flags="TEXTURE|DEPTH" if s.depth else "TEXTURE", sampler=0, blend=("opaque", "alpha", "additive")[n % 3])
        at = s.buffer("vertices", b"".join(some_corners(s, 9, 1.3, ("uv", "color"))))
        s.gstate(vbo_base=at, stride=28, attributes="UV|COLOR")
        s.gdraw(9)
        s.rectangle(1, 1, 20, 12)
        s.triangle(dict(x=1.5, y=1.0, u=0.0, v=0.0), dict(x=22.0, y=3.25, u=1.0, v=0.0), dict(x=4.0, y=15.0, u=0.0, v=1.0))
        suite.add(s)


def ends(suite):
    """Frames and depth buffers that overlap each other or the end of memory."""
    for n, (base, depth_at) in enumerate(((END - 500, None), (END - 24 * 4 * 10 - 4, -3), (None, 0), (None, 24), (0x80000000 - 200, None), (END - 24 * 4 * 8, 96))):
        s = Mesh(f"tile/overwrites/ends-{n}", "TILE-365 TILE-368 TILE-412", 24, 16, depth="D32F", vram=VRAM)
        state = dict(fb_base=base or s.base, depth_function="lequal")
        if depth_at is not None:
            state |= dict(depth_base=((base or s.base) + depth_at) & ~3)
        s.rstate(**state, blend=("opaque", "alpha")[n % 2])
        at = s.buffer("vertices", b"".join(some_corners(s, 12, 1.3)))
        s.gstate(vbo_base=at, stride=20, attributes="COLOR")
        s.gdraw(12)
        s.rectangle(2, 2, 18, 13, color=0x40506070)
        s.triangle(dict(x=-3.0, y=-2.0, z=.25, color=0x30FF0000), dict(x=30.0, y=3.0, z=.5, color=0x3000FF00), dict(x=2.0, y=20.0, z=.75, color=0x300000FF))
        suite.add(s)


def add(suite):
    for part in (vertices, many, one_vertex, texels, ends):
        part(suite)
