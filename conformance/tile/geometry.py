"""Pictures of the geometry unit: fetch, transformation, light, assembly, clipping, viewport and what is refused."""
import struct

from tile_scene import Scene, encode

NAN, INF = 0x7FC00000, 0x7F800000
UNIT = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]


def number(value):
    return struct.pack("<I", value) if isinstance(value, int) else struct.pack("<f", value)


def corner(position, normal=None, uv=None, color=None, half=False):
    """A GVERTEX; bit patterns stand as integers."""
    out = b"".join(number(float(p) if not isinstance(p, int) or abs(p) < 1000 else p) for p in position)
    if normal is not None:
        out += struct.pack("<3f", *normal)
    if uv is not None:
        out += struct.pack("<2e" if half else "<2f", *uv)
    if color is not None:
        out += struct.pack("<I", color)
    return out


class Mesh(Scene):
    """A picture of vertices: the buffer is filled while the case is described."""

    def vertices(self, name, corners, stride=0, **how):
        """A vertex buffer; members of a GSTATE that fetch it."""
        made = [corner(**c) if isinstance(c, dict) else corner(c) for c in corners]
        size = len(made[0])
        first = corners[0] if isinstance(corners[0], dict) else {}
        attributes = "|".join(flag for flag, key in (("NORMAL", "normal"), ("UV", "uv"), ("COLOR", "color")) if key in first)
        if first.get("half"):
            attributes += "|UV_FP16"
        stride = stride or size
        pad = bytes(self.random.getrandbits(8) for _ in range(stride - size)) if stride > size else b""
        return dict(vbo_base=self.buffer(name, b"".join(m + pad for m in made), **how), stride=stride, attributes=attributes)

    def point(self, spread=1.2, w=1.0, z=(0.0, 1.0)):
        r = self.random
        return [r.uniform(-spread, spread) * w, r.uniform(-spread, spread) * w, r.uniform(*z) * w, w]

    def color(self):
        return self.random.getrandbits(32)


def fetch(suite):
    for seed, (keys, extra) in enumerate((((), 0), (("color",), 0), (("normal", "color"), 8), (("uv", "color"), 12), (("normal", "uv"), 0),
                                          (("normal", "uv", "color"), 4), (("uv", "half"), 0), (("normal", "uv", "half", "color"), 20))):
        rows = "TILE-399 TILE-412 TILE-421 TILE-442" + (" TILE-445" if "color" in keys else "") + (" TILE-443" if "normal" in keys else "") + \
            (" TILE-444" if "uv" in keys else "") + (" TILE-422 TILE-446" if extra else "")
        s = Mesh(f"tile/geometry/fetch-{'-'.join(keys) or 'position'}", rows, depth="D32F")
        corners = []
        for _ in range(6):
            c = dict(position=s.point(), normal=[s.random.uniform(-1, 1) for _ in range(3)], color=s.color(),
                     uv=[s.random.choice((0.0, .5, 1.25, -3.0, 7.5, 0.0001)) for _ in range(2)], half="half" in keys)
            corners.append({k: v for k, v in c.items() if k in keys + ("position",)} | ({"half": True} if "half" in keys else {}))
        g = s.vertices("vertices", corners, stride=extra and 16 + 12 * ("normal" in keys) + (8, 4)["half" in keys] * ("uv" in keys) +
                       4 * ("color" in keys) + extra)
        s.sampler(0, **s.texture("texture", 4, 4, "RGB565"), wrap_u="repeat", wrap_v="repeat")
        s.rstate(flags="TEXTURE|DEPTH" if "uv" in keys else "DEPTH", depth_function="lequal")
        s.gstate(**g, flags="LIGHT" if "normal" in keys else "", light_dir=[.3, .4, .9], light_color=0xFFFFE0C0, ambient=0xFF302010)
        s.gdraw(6)
        suite.add(s)

    s = Mesh("tile/geometry/example-strip", "TILE-405 TILE-438 TILE-417", 8, 8, fill=0)
    g = s.vertices("vertices", [dict(position=(x / 4 - 1, 1 - y / 4, 0, 1), color=0x01020304 * (k + 1)) for k, (x, y) in
                                enumerate(((0, 0), (4, 0), (0, 4), (4, 4), (0, 8), (4, 8)))])
    s.rstate(blend="additive")
    s.gstate(**g, cull="CCW")
    s.gdraw(6, topology="strip")
    s.gdraw(4, topology="strip", flags="FLAT", cull="CW")
    s.gdraw(4, arg2=2, flags="FLAT", vtx_base=1, cull="none")
    suite.add(s)


def indices(suite):
    for wide in (False, True):
        kind = "u32" if wide else "u16"
        s = Mesh(f"tile/geometry/index-{kind}", "TILE-404 TILE-423 TILE-424 TILE-577 TILE-576 TILE-578 TILE-438")
        g = s.vertices("vertices", [dict(position=s.point(1.0), color=s.color()) for _ in range(12)])
        last = 0xFFFFFFFF if wide else 0xFFFF
        order = [0, 1, 2, 3, 2, 1, 4, 5, last, 6, 7, 8, 0, last, last, 3, 5, 7, 9, 2, 10, 11, 1, 4]
        data = struct.pack(f"<{len(order)}{'I' if wide else 'H'}", *order)
        g |= dict(index_base=s.buffer("indices", data), index_type=kind)
        s.rstate(blend="alpha")
        s.gstate(**g)
        s.gdraw(6, flags="INDEXED")
        s.gdraw(5, flags="INDEXED", idx_base=9)
        s.gdraw(4, flags="INDEXED", idx_base=3, vtx_base=2, topology="strip")
        s.gdraw(24, flags="INDEXED|RESTART", topology="strip")
        s.gdraw(24, flags="INDEXED|RESTART|FLAT")
        s.gdraw(3, flags="INDEXED", idx_base=7)  # the restart value is an index like any other: far outside
        s.gdraw(3, vtx_base=9)
        s.gdraw(2, vtx_base=9)
        s.gdraw(3, flags="INDEXED", idx_base=15, vtx_base=0xFFFFFFFF)  # numbers wrap
        suite.add(s)
    s = Mesh("tile/geometry/bad-vertices", "TILE-404 TILE-405 TILE-423", vram=65536)
    g = s.vertices("vertices", [dict(position=s.point(1.0), color=s.color()) for _ in range(8)])
    end = 0x80010000
    s.rstate(blend="additive")
    s.gstate(**(g | dict(index_base=end - 8)))
    s.gdraw(6, flags="INDEXED")     # four indices are there, all zero
    s.gdraw(6, flags="INDEXED", topology="strip")
    s.gdraw(3, flags="INDEXED", idx_base=0xFFFFFFFF)
    s.gstate(**(g | dict(vbo_base=end - 45, stride=20)))  # the third vertex ends one byte too far
    s.gdraw(3)
    s.gdraw(3, topology="strip")
    s.gstate(**(g | dict(vbo_base=0x7FFFFFFC)))
    s.gdraw(3)
    s.gstate(**g)
    s.command("WRITE_MEM", end - 8, payload=[0x00010000, 0xFFFF0002])
    s.gdraw(4, flags="INDEXED", topology="strip")
    s.gdraw(6, flags="INDEXED|RESTART", topology="strip")
    s.observe("descriptors")
    suite.add(s)


def matrices(suite):
    r = Mesh("x", "x").random
    for seed in range(3):
        s = Mesh(f"tile/geometry/transform-{seed}", "TILE-400 TILE-425 TILE-410 TILE-412" + (" TILE-435" if seed else ""), depth="D32F")
        g = s.vertices("vertices", [dict(position=[r.uniform(-1, 1), r.uniform(-1, 1), r.uniform(0, .8), 1.0], color=s.color()) for _ in range(6)])
        s.rstate()
        mvp = [r.uniform(-.2, .2) for _ in range(16)]
        for k, v in ((0, .9), (5, .8), (10, .5), (15, 1.4)):
            mvp[k] += v
        if seed == 2:
            mvp = [1.2, 0.0, .1, 0.0, 0.0, 1.5, 0.0, .1, 0.0, 0.0, 1.1, -.2, 0.0, 0.0, 1.0, .3]
        s.gstate(**g, mvp=mvp, flags="CLIP")
        s.gparam(model=[.8, .1, 0.0, .2, -.1, .9, .05, -.1, .02, 0.0, .7, .15], flags="MODEL" if seed else "")
        s.gdraw(6)
        suite.add(s)
    s = Mesh("tile/geometry/parameters", "TILE-416 TILE-436 TILE-440 TILE-439 TILE-435 TILE-414", 24, 16)
    g = s.vertices("vertices", [dict(position=p, color=c) for p, c in (((-1, 1, 0, 1), 0xFFFFFFFF), ((0, 1, 0, 1), 0x80FF8040), ((-1, -1, 0, 1), 0xC0102030))])
    s.rstate(blend="additive")
    s.gdraw(3)  # no GSTATE yet
    s.gstate(slot=2, **g)
    s.gdraw(3)
    s.gdraw(3, gparam=7)  # none is loaded
    s.gparam(slot=7, material=0x80C0FF20, flags="MATERIAL")
    s.gparam(slot=3, model=[1.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], material=0x01020304, flags="MODEL")
    s.gstate(slot=4, **g, mvp=[-.5, 0.0, 0.0, .3] + UNIT[4:])
    for gs, gp in ((2, 7), (2, 3), (4, 7), (4, 3), (255, 0xFFFF), (2, 0xFFFF), (255, 7), (1, 7), (16, 7), (2, 16), (2, 0xFFFE), (254, 3)):
        s.gdraw(3, gstate=gs, gparam=gp, rstate=0 if gp & 1 else "current")
    s.gdraw(3, rstate=1)
    s.gdraw(3, rstate=16)
    suite.add(s)


def light(suite):
    rows = "TILE-402 TILE-427 TILE-428 TILE-429 TILE-443"
    normals = [(0, 0, 2), (0, .6, .8), (1, 0, 0), (-1, -1, .2), (0, 0, 0), (0, 0, -3), (1e-30, 0, 0), (3e38, 3e38, 1)]

    def scene(name, rows, *fields, material=0, **param):
        s = Mesh(name, rows, 24, 16)
        corners = []
        for k, n in enumerate(normals):
            x, y = k % 4 / 2 - 1, 1 - k // 4
            for dx, dy in ((0, 0), (.5, 0), (0, -1)):
                corners.append(dict(position=(x + dx, y + dy, 0, 1), normal=n, color=0xFFC8C8C8 if k < 6 else 0x40FF2010))
        g = s.vertices("vertices", corners)
        normal_at = s.put(struct.pack("<9f", 0.0, 1.0, 0.0, .3, 0.0, -1.0, 1.0, .2, .1), 4)
        s.rstate(fb_stride=s.stride)
        for k, f in enumerate(fields):
            given = dict(flags="LIGHT|SPEC", light_dir=[0.0, .6, .8], light_color=0xFFFF8000, ambient=0xFF202020) | f
            if given.pop("matrix", False):
                given["normal_ptr"] = normal_at
            s.gstate(slot=k, **g, **given)
            if param or material:
                s.gparam(slot=k, material=material, **param)
            s.gdraw(12, vtx_base=12 * (k % 2), flags="FLAT" if k else "")
        suite.add(s)
    scene("tile/geometry/example-light", rows, {}, {})
    scene("tile/geometry/example-shine", rows + " TILE-403 TILE-437", {}, {}, spec_power=8, spec_color=0xFFFFFFFF)
    scene("tile/geometry/shine", "TILE-403 TILE-437", {}, {"flags": "LIGHT"}, {"flags": "SPEC"}, {"light_dir": [.1, .2, -.9]}, spec_power=1, spec_color=0xFF80FF20)
    scene("tile/geometry/shine-32", "TILE-403 TILE-437", {}, {"light_dir": [0.0, 0.0, -1.0]}, {"light_dir": [.5, .5, .70710677]}, spec_power=32, spec_color=0xFFFFFF20)
    scene("tile/geometry/shine-255", "TILE-437", {}, {"light_dir": [1.0, 2.0, 2.0]}, spec_power=255, spec_color=0xFF404040)
    scene("tile/geometry/shine-off", "TILE-403", {}, {}, spec_power=0, spec_color=0xFFFFFFFF)
    scene("tile/geometry/light-matrix", "TILE-401 TILE-426", {"matrix": True}, {"matrix": True, "light_dir": [.2, -.6, .5]},
          model=[0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    scene("tile/geometry/light-model", "TILE-401 TILE-435 TILE-436", {}, {"light_color": 0x00FFFFFF, "ambient": 0xFF000000},
          material=0xFF80C0FF, flags="MODEL|MATERIAL", model=[.9, .1, 0.0, .1, -.1, .9, .3, 0.0, .2, 0.0, .9, 0.0], spec_power=3, spec_color=0xFF00FF00)
    scene("tile/geometry/light-odd", rows, {"light_dir": [NAN, 0.0, 1.0]}, {"light_dir": [0.0, 0.0, INF]},
          {"light_color": 0xFFFFFFFF, "ambient": 0xFFFFFFFF}, {"flags": ""}, {"ambient": 0xFF000000, "light_dir": [0.0, 3.0, 4.0]},
          spec_power=2, spec_color=0xFF101010)


def clipping(suite):
    g4 = [dict(position=p, uv=t, color=c) for p, t, c in (((0, 0, .5, 1), (0, 0), 0xFFFF0000), ((.5, 0, -.5, 1), (1, 0), 0xFF00FF00),
                                                         ((0, .5, .5, 1), (0, 1), 0xFF0000FF))]
    s = Mesh("tile/geometry/example-g4", "TILE-407 TILE-431", 64, 64, depth="D32F", status=False)
    s.rstate(depth_function="always")
    s.gstate(**s.vertices("vertices", g4), flags="CLIP", viewport_wh=(64, 64))
    s.gdraw(3)
    suite.add(s)

    second = [dict(position=p, color=c) for p, c in (((-.5, -.5, .25, 1), 0xFFFF0000), ((3, -.5, .25, 1), 0xFF00FF00), ((-.5, .75, -.25, 1), 0xFF0000FF))]
    s = Mesh("tile/geometry/guard", "TILE-407 TILE-408", 24, 16, depth="D32F")
    g = s.vertices("vertices", second)
    s.rstate(depth_function="always", blend="alpha")
    for k, guard in enumerate((0.0, 1.0, 4.0, 1.5, 65536.0, 65537.0, .5, -2.0, NAN, INF)):
        s.gstate(**g, flags="CLIP", guard=guard)
        s.gdraw(3)
    wide = s.vertices("wide", [dict(position=[s.random.uniform(-3, 3), s.random.uniform(-3, 3), s.random.uniform(.1, .9), 1.0], color=s.color())
                               for _ in range(12)])
    for guard in (4.0, 2.5):  # cut or not, the rounding of what is left shows it
        s.gstate(**wide, flags="CLIP", guard=guard)
        s.gdraw(12)
    suite.add(s)

    for k, (name, rows) in enumerate((("state", "TILE-431"), ("draw", "TILE-419"))):
        s = Mesh(f"tile/geometry/clip-by-{name}", rows + " TILE-407", 24, 16, depth="D32F", depth_fill=0x7F)
        g = s.vertices("vertices", [dict(position=p, color=s.color()) for p in ((-.8, .9, -.4, 1), (.9, .7, .5, 1), (-.2, -.9, 1.6, 1))])
        s.rstate(depth_function="always", blend="additive")
        for flags, clip in ((("CLIP", 0), ("", 0)) if not k else (("", 1), ("CLIP", 2), ("CLIP", 3), ("", 3))):
            s.gstate(**g, flags=flags)
            s.gdraw(3, clip=clip)
        suite.add(s)

    for seed in range(8):
        rows = "TILE-407 TILE-410 TILE-412" + (" TILE-409" if seed % 2 else "")
        s = Mesh(f"tile/geometry/clip-{seed}", rows, 24, 16, depth="D16")
        corners = [dict(position=s.point(2.5, s.random.uniform(-.6, 2.0), (-.8, 1.8)), uv=(s.random.uniform(-2, 2), s.random.uniform(-2, 2)),
                        color=s.color()) for _ in range(12)]
        g = s.vertices("vertices", corners)
        s.sampler(0, **s.texture("texture", 4, 4), wrap_u="repeat", wrap_v="repeat", filter="bilinear" if seed & 2 else "nearest")
        s.rstate(depth_function="always", flags="DEPTH|TEXTURE" if seed > 3 else "DEPTH", blend=("opaque", "alpha")[seed // 4])
        if seed % 2:
            g["plane_ptr"] = s.put(struct.pack("<4f", *(s.random.uniform(-1, 1) for _ in range(4))), 4)
        s.gstate(**g, flags="CLIP|USER_PLANE" if seed % 2 else "CLIP", guard=(1.0, 1.0, 2.5, 8.0)[seed % 4])
        s.gdraw(12, flags=("", "FLAT", "AFFINE", "")[seed % 4])
        suite.add(s)

    s = Mesh("tile/geometry/user-plane", "TILE-409", 16, 16)
    g = s.vertices("vertices", [dict(position=p, color=0x03050709) for p in ((-1, 1, 0, 1), (1, 1, 0, 1), (0, -1, 0, 1))])
    s.rstate(blend="additive")
    for k, plane in enumerate(((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, -.25), (0.0, 0.0, 0.0, -1.0), (0.0, 0.0, 0.0, 0.0), (-1.0, -.5, 0.0, .3))):
        at = s.put(struct.pack("<4f", *plane), 4)
        s.gstate(**g, plane_ptr=at, flags="CLIP|USER_PLANE")
        s.command("WRITE_MEM", at, payload=[0] * 4)  # it was copied
        s.gdraw(3)
        s.gstate(**g, plane_ptr=at, flags="USER_PLANE")
        s.gdraw(3)
    suite.add(s)

    s = Mesh("tile/geometry/near-far", "TILE-407", 16, 16)  # whole triangles in a plane, and next to it
    s.rstate(blend="additive")
    for k, (z, w) in enumerate(((1.0, 1.0), (1.0 + 2.0 ** -23, 1.0), (2.5, 2.5), (0.0, 1.0), (-0.0, 1.0), (-2.0 ** -149, 1.0))):
        g = s.vertices(f"vertices{k}", [dict(position=(x * w, y * w, z, w), color=0x05030201 << k) for x, y in ((-1, 1), (1, 1), (0, -1))])
        s.gstate(**g, flags="CLIP")
        s.gdraw(3)
        s.gstate(**g)
        s.gdraw(3)
    suite.add(s)

    s = Mesh("tile/geometry/small-w", "TILE-410 TILE-407", 16, 16)
    ws = (1.0, 2.0 ** -20, 2.0 ** -20 * (1 - 2.0 ** -24), 2.0 ** -21, 0.0, -1.0, NAN, INF)
    s.rstate(blend="additive")
    for k, w in enumerate(ws):
        near = w if isinstance(w, float) and 0 < w < 1 else 1.0
        g = s.vertices(f"vertices{k}", [dict(position=(-near if w == near else -1.0, near if w == near else 1.0, 0.0, w), color=0x10204060),
                                        dict(position=(1.0, 1.0, 0.0, 1.0), color=0x01100A03), dict(position=(0.0, -1.0, .5, 1.0), color=0x05030201)])
        s.gstate(**g)
        s.gdraw(3, clip=2)
        s.gdraw(3, clip=1)
    suite.add(s)


def placing(suite):
    for k, (name, rows) in enumerate((("none", "TILE-406 TILE-430"), ("CW", "TILE-406 TILE-430"), ("CCW", "TILE-406 TILE-430"))):
        s = Mesh(f"tile/geometry/cull-{name.lower()}", rows + " TILE-418", 24, 8)
        corners = []
        for n in range(6):
            x = n / 3 - 1
            three = [(x, 1, 0, 1), (x + .33, 1, 0, 1), (x, -1, 0, 1)]
            corners += [dict(position=p, color=0xFF102030 * (n + 1) & 0xFFFFFFFF | 0xFF000000) for p in (three if n % 2 else three[::-1])]
        s.rstate()
        s.gstate(**s.vertices("vertices", corners), cull=name)
        s.gdraw(6)
        for n, cull in enumerate(("state", "CW", "CCW", "none")):
            s.gdraw(3, vtx_base=6 + 3 * n, cull=cull)
        suite.add(s)
    s = Mesh("tile/geometry/viewport", "TILE-411 TILE-432 TILE-434 TILE-371", 24, 16)
    g = s.vertices("vertices", [dict(position=p, color=c) for p, c in (((-1, 1, 0, 1), 0x40FF0000), ((1, 1, 0, 1), 0x4000FF00), ((-1, -1, 0, 1), 0x400000FF))])
    for k, (gv, rv) in enumerate((((4, 2, 10, 9), None), (None, (12, 5, 9, 9)), ((2, 3, 8, 7), (0, 0, 9, 9)), (None, None), ((-5, -3, 33, 21), None),
                                  ((-32768, 0, 65535, 16), None), ((1, 1, 1, 1), None))):
        s.rstate(blend="additive", **(dict(viewport_xy=rv[:2], viewport_wh=rv[2:]) if rv else {}))
        s.gstate(**g, **(dict(viewport_xy=gv[:2], viewport_wh=gv[2:]) if gv else {}))
        s.gdraw(3)
    suite.add(s)
    s = Mesh("tile/geometry/scissor", "TILE-411 TILE-433 TILE-372", 24, 16)
    g = s.vertices("vertices", [dict(position=p, color=0x11223344) for p in ((-1, 1, 0, 1), (3, 1, 0, 1), (-1, -3, 0, 1))])
    for k, (rs, gs) in enumerate(((None, (3, 3, 9, 9)), ((5, 2, 12, 6), None), ((5, 2, 12, 6), (8, -4, 9, 9)), (None, (-9, 9, 300, 2)))):
        s.rstate(blend="additive", flags="SCISSOR" if rs else "", **(dict(scissor_xy=rs[:2], scissor_wh=rs[2:]) if rs else {}))
        s.gstate(**g, flags="SCISSOR" if gs else "", scissor_xy=gs[:2] if gs else (1, 1), scissor_wh=gs[2:] if gs else (1, 1))
        s.gdraw(3)
    suite.add(s)
    s = Mesh("tile/geometry/flags", "TILE-412 TILE-417 TILE-439", 24, 16, depth="D32F")
    corners = [dict(position=s.point(1.0, s.random.uniform(.5, 3)), uv=(s.random.uniform(0, 1), s.random.uniform(0, 1)), color=s.color()) for _ in range(6)]
    g = s.vertices("vertices", corners)
    s.sampler(4, **s.texture("texture", 8, 4, "RGB565"), filter="bilinear")
    for slot, (flags, blend) in enumerate((("DEPTH|TEXTURE|TEX_NORM", "opaque"), ("DEPTH|ZWRITE_OFF", "alpha"), ("TEXTURE", "additive"))):
        s.rstate(slot=slot, flags=flags, blend=blend, sampler=4, const_color=0x12345678)
    s.gstate(**g)
    for slot in range(3):
        s.gdraw(6, rstate=slot, flags="AFFINE" if slot == 1 else "FLAT" if slot == 2 else "")
        s.gdraw(6, rstate=slot, vtx_base=1, topology="strip")
    suite.add(s)


def assisted(suite):
    s = Mesh("tile/geometry/cu-assist", "TILE-413 TILE-420 TILE-441 TILE-465", 24, 16, depth="D32F")
    corners = [dict(position=s.point(1.0, s.random.uniform(.5, 2)), normal=(0, 0, 1), color=s.color()) for _ in range(6)]
    s.rstate()
    s.gstate(**s.vertices("vertices", corners), mvp=[0.0] * 16, flags="LIGHT", light_dir=[0.0, 0.0, 1.0], light_color=0xFF00FF00)
    s.gparam(model=[0.0] * 12, material=0x11111111, flags="MODEL|MATERIAL")
    s.gdraw(3, flags="CU_ASSIST")
    s.gdraw(3, vtx_base=3, arg2=1)
    s.gdraw(3, vtx_base=2)
    suite.add(s)


def refusals(suite):
    s = Mesh("tile/geometry/refused", "TILE-453 TILE-454 TILE-455 TILE-456 TILE-457 TILE-458 TILE-579", 12, 12)
    g = s.vertices("vertices", [dict(position=p, color=0xFF00FF00) for p in ((-1, 1, 0, 1), (1, 1, 0, 1), (-1, -1, 0, 1))])
    state = encode("GSTATE", mvp=UNIT, **g)
    param = encode("GPARAM", material=0x80808080, flags="MATERIAL")
    draw = encode("GDRAW", count=3)
    s.rstate()
    s.command("GDRAW", s.put(draw, 16))
    for at in (4, 32, 60):
        s.command("LOAD_GSTATE", 0, s.put(bytes(at) + state, 64) + at)
    for at in (4, 16, 28):
        s.command("LOAD_GPARAM", 0, s.put(bytes(at) + param, 32) + at)
    s.command("LOAD_GSTATE", 0, 0x8001FFC0)
    s.command("LOAD_GPARAM", 0, 0x80020000)
    s.command("LOAD_GSTATE", 16, s.put(state, 64))
    s.command("LOAD_GPARAM", 99, s.put(param, 32))
    for fields in (dict(normal_ptr=0x80000002), dict(normal_ptr=0x8001FFE0), dict(plane_ptr=0x80000001, flags="USER_PLANE"),
                   dict(plane_ptr=0x7FFFFFFC, flags="USER_PLANE"), dict(normal_ptr=0x10, plane_ptr=3, flags="USER_PLANE"),
                   dict(normal_ptr=7, plane_ptr=0x10, flags="USER_PLANE")):
        s.gstate(slot=1, **g, **fields)
    s.command("GDRAW", s.put(draw, 16))
    s.command("LOAD_GSTATE", 3, s.put(state + b"\xff" * 64, 64))
    s.gstate(slot=4, **g, plane_ptr=1)  # not asked for
    for at in (4, 8, 15):
        s.command("GDRAW", s.put(bytes(at) + draw, 16) + at)
    s.command("GDRAW", 0x8001FFF0)
    s.command("GDRAW", 0)
    for topology in (2, 3, 0x100, 0x80000000):
        s.gdraw(3, topology=topology, gstate=3)
    s.command("GDRAW", s.put(draw + b"\xff" * 24, 16))
    s.command("LOAD_GPARAM", 15, s.put(param + b"\xff" * 32, 32))
    s.gdraw(3, gstate=3, gparam=15)
    s.rstate(slot=1, flags="TEXTURE", sampler=3)
    s.gdraw(3)
    words = list(struct.unpack("<32I", state))
    words[1] |= 0xFFF00000
    words[3] |= 0xFFFFFF00
    s.command("LOAD_GSTATE", 5, s.put(struct.pack("<32I", *words), 64))  # reserved bits
    s.gdraw(3, rstate=0, gparam=15)
    suite.add(s)


def add(suite):
    for part in (fetch, indices, matrices, light, clipping, placing, assisted, refusals):
        part(suite)
