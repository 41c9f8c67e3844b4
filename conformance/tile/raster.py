"""Pictures of the raster unit: coverage, interpolation, depth, blending, textures and what is refused."""
import struct

from tile_scene import Scene, encode, vertex

COLORS = (0xFFFF0000, 0xFF00FF00, 0xFF0000FF)
NAN, INF = 0x7FC00000, 0x7F800000
G1 = ({"x": 1.0, "y": 1.0, "z": .25, "color": COLORS[0]}, {"x": 6.5, "y": 2.0, "z": .5, "u": 8.0, "color": COLORS[1]},
      {"x": 2.25, "y": 7.75, "z": .75, "v": 8.0, "color": COLORS[2]})


def corner(s, low=-4.0, high=28.0, step=None):
    r = s.random
    x, y = r.uniform(low, high), r.uniform(low, high - 8)
    if step:
        x, y = round(x / step) * step, round(y / step) * step
    return {"x": x, "y": y, "z": r.random(), "color": r.getrandbits(32)}


def coverage(suite):
    s = Scene("tile/raster/example-g1", "TILE-359 TILE-379 TILE-380 TILE-381 TILE-385 TILE-390", 8, 8, depth="D16")
    s.rstate()
    s.triangle(*G1, flags="DEPTH")
    suite.add(s)

    s = Scene("tile/raster/fill-rule", "TILE-389 TILE-390", 12, 12, fill=0)
    s.rstate(blend="additive")
    a, b, c, d = ({"x": float(x), "y": float(y), "color": 0x11223344} for x, y in ((0, 0), (4, 0), (0, 4), (4, 4)))
    s.triangle(a, b, c)
    s.triangle(b, d, c)
    h = [{"x": x, "y": y, "color": 0x01010101} for x, y in ((5.5, .5), (8.5, .5), (5.5, 3.5))]
    s.triangle(*h)
    s.triangle(h[0], h[2], h[1])
    for k, (x, y) in enumerate(((6.5, 8.5), (9.5, 8.5), (8.0, 5.5), (8.0, 11.5))):  # around a centre: up, down, left, right
        s.triangle({"x": x, "y": y, "color": 0x03000000}, {"x": 8.5, "y": 8.5, "color": 0x00000300 << k},
                   {"x": 8.5 + (y - 8.5), "y": 8.5 + (x - 8.5), "color": 0x00030000})
    suite.add(s)

    # fans around a point: every pixel belongs to one triangle, whatever the edges' directions
    for name, step in (("half", .5), ("eighth", .125), ("free", None), ("tiny", 1 / 256)):
        s = Scene(f"tile/raster/fan-{name}", "TILE-389 TILE-390 TILE-375", fill=0)
        s.rstate(blend="additive")
        rim = [(0, 0), (12, 0), (24, 0), (24, 8), (24, 16), (12, 16), (0, 16), (0, 8)]
        middle = corner(s, 4, 20, step)
        points = []
        for x, y in rim:
            p = corner(s, 0, 1, step)
            points.append({"x": x + p["x"] - 0.5, "y": y + p["y"], "color": s.random.getrandbits(32)})
        for k in range(8):
            three = [points[k], points[(k + 1) % 8], middle]
            s.triangle(*three[k % 3:], *three[:k % 3])
        suite.add(s)

    for seed in range(6):
        s = Scene(f"tile/raster/triangles-{seed}", "TILE-359 TILE-379 TILE-380 TILE-385 TILE-389 TILE-390", 20, 14)
        s.rstate(blend=("opaque", "alpha", "additive")[seed % 3])
        for _ in range(7):
            s.triangle(*(corner(s, -6, 26, (None, .5, .25, 1.0)[seed % 4]) for _ in range(3)))
        suite.add(s)

    # slivers, points, lines and corners at the limits of the range
    s = Scene("tile/raster/degenerate", "TILE-389 TILE-379 TILE-380", 16, 16)
    s.rstate()
    cases = [((1, 1), (9, 9), (5, 5)), ((2, 2), (2, 2), (9, 3)), ((3.001, 3), (3.0, 3), (3.0005, 9)), ((.5, 12.5), (15.5, 12.5), (8, 12.5078125)),
             ((-32768, 0), (0, 5), (-32768, 9)), ((32767.99, 3), (3, 3), (3, 6)), ((32768.0, 3), (3, 8), (3, 12)), ((0, -32768.1), (9, 1), (1, 1)),
             ((0, -32768), (16, 20), (15, 15)), ((5, 32767.998), (6, 0), (7, 0)), ((9, 32767.996), (10, 0), (12, 0)),
             ((32767.99609375, 9), (3, 9), (3, 11)), ((-32768, 13), (12, 13), (12, 15))]
    for k, three in enumerate(cases):
        s.triangle(*({"x": float(x), "y": float(y), "color": 0xFF000000 | 0x3579B * (k + 1)} for x, y in three))
    for odd in (NAN, INF, INF | 1 << 31):
        s.triangle(vertex(x=odd, color=7), vertex(x=9.0, color=7), vertex(y=9.0, color=7))
        s.triangle(vertex(color=7), vertex(x=9.0, y=odd, color=7), vertex(y=9.0, color=7))
    suite.add(s)

    s = Scene("tile/raster/snapping", "TILE-379 TILE-380", 16, 8, fill=0)
    s.rstate(blend="additive")
    for k, x in enumerate((2.5, 2.498, 2.501, 2.4990234375, 2.501953125, 2.50390625, 2.505859375, 1 / 512, 3 / 512, 5 / 512)):
        y = float(k % 8)
        s.triangle({"x": x, "y": y, "color": 0x01000001}, {"x": x + 7, "y": y, "color": 0x01000100}, {"x": x, "y": y + 1, "color": 0x01010000})
        s.triangle({"x": 16 - y, "y": x, "color": 0x10000001}, {"x": 15 - y, "y": x, "color": 0x10000100}, {"x": 15 - y, "y": x + 5, "color": 0x10010000})
    suite.add(s)


def interpolation(suite):
    s = Scene("tile/raster/example-g5", "TILE-382 TILE-390", 8, 8)
    three = ({"w": 1.0, "color": 0xFF000000}, {"x": 8.0, "w": 4.0, "u": 8.0, "color": 0xFFFFFFFF}, {"y": 8.0, "v": 8.0, "color": 0xFF000000})
    s.rstate()
    s.triangle(*three)
    suite.add(s)
    s = Scene("tile/raster/affine", "TILE-388 TILE-390", 8, 8)
    s.rstate()
    s.triangle(*three, flags="AFFINE")
    suite.add(s)

    for seed in range(4):
        s = Scene(f"tile/raster/perspective-{seed}", "TILE-382 TILE-385 TILE-390", depth="D32F", depth_fill=0x7F)
        s.rstate(depth_function="always")
        for k in range(3):
            three = [corner(s) | {"w": 2.0 ** s.random.uniform(-6, 6)} for _ in range(3)]
            s.triangle(*three, flags="DEPTH" if k else "DEPTH|AFFINE")
        suite.add(s)

    s = Scene("tile/raster/odd-w", "TILE-382", 24, 12)
    s.rstate()
    odd = (0, 0x80000000, NAN, INF, 0xBF800000, 1, 0x7F7FFFFF, 0x00800000)
    for k, w in enumerate(odd):
        x = float(3 * k)
        for row, ws in enumerate(((w, w, w), (0x3F800000, w, 0x3F800000))):
            points = [vertex(x=x, y=6.0 * row, w=ws[0], color=COLORS[0]), vertex(x=x + 3, y=6.0 * row, w=ws[1], color=COLORS[1]),
                      vertex(x=x, y=6.0 * row + 6, w=ws[2], color=COLORS[2])]
            s.triangle(*points)
            s.triangle(*points[::-1], flags="AFFINE" if k % 2 else "")
    suite.add(s)

    s = Scene("tile/raster/colours", "TILE-363 TILE-388 TILE-385")
    s.rstate(const_color=0x80C04020)
    for k, flags in enumerate(("", "FLAT", "STATE_COLOR", "FLAT|STATE_COLOR", "FLAT|AFFINE")):
        three = [corner(s, 0, 24, .5) for _ in range(3)]
        s.triangle(*three, flags=flags)
        s.triangle(*three[::-1], flags=flags, more=0x100)
    s.rectangle(3, 3, 5, 4, color=0x12345678, flags="FLAT")
    s.rectangle(9, 3, 5, 4, color=0x12345678, flags="STATE_COLOR")
    suite.add(s)


def depth(suite):
    functions = ("never", "less", "equal", "lequal", "greater", "notequal", "gequal", "always")
    for form in ("D16", "D32F"):
        for name in functions:
            s = Scene(f"tile/raster/depth-{form.lower()}-{name}", "TILE-376 TILE-377 TILE-370 TILE-381 TILE-389", 16, 12, depth=form)
            s.rstate(depth_function="always", rect_z=.5)
            s.rectangle(0, 0, 16, 12, 0xFF101010, flags="DEPTH")
            s.rstate(slot=1, depth_function=name, rect_z=.5)
            s.rectangle(0, 0, 6, 6, 0xFF202020, flags="DEPTH")
            for k in range(3):
                s.triangle(*(corner(s, -2, 18, .5) | {"z": s.random.choice((0.0, .25, .5, .5000001, .75, 1.0, -1.0, 2.0))} for _ in range(3)),
                           flags="DEPTH" if k < 2 else "")
            suite.add(s)
        s = Scene(f"tile/raster/depth-{form.lower()}-values", "TILE-368 TILE-369 TILE-370 TILE-381", 16, 10, depth=form, pitch=12)
        s.rstate(depth_function="always")
        odd = (0.0, -0.0, 1.0, 1e-30, 0.9999999, 1.5, -3.0, NAN, INF, INF | 1 << 31, 1, 7.6293945e-06, 2.2888184e-05, .49999994)
        for k, z in enumerate(odd):
            x, y = float(k % 7 * 2), float(k // 7 * 4)
            s.triangle(*(vertex(x=x + dx, y=y + dy, z=z, color=0xFF000000 + k) for dx, dy in ((0, 0), (2, 0), (0, 4))), flags="DEPTH")
            s.rstate(slot=2, depth_function="always", rect_z=z)
            s.rectangle(int(x), 8, 2, 2, 0xFF0000FF - k, flags="DEPTH")
        suite.add(s)
    s = Scene("tile/raster/depth-switches", "TILE-376 TILE-388 TILE-363 TILE-368", 16, 10, depth="D16", depth_fill=0x7F)
    kinds = (dict(), dict(flags=""), dict(flags="DEPTH|ZWRITE_OFF"), dict(depth_base=0), dict(depth_format="none"), dict(depth_function="greater"))
    for k, fields in enumerate(kinds):
        s.rstate(slot=k, **({"rect_z": .25} | fields))
    for k in range(6):
        s.rectangle(2 * k, 0, 3, 4, 0xFF001000 * (k + 1), state=k, flags="DEPTH")
        s.rectangle(2 * k, 5, 3, 2, 0xFF000010 * (k + 1), state=k)
        s.triangle({"x": 2.0 * k, "y": 7.0, "color": 0xFFAA0000 + k}, {"x": 2.0 * k + 4, "y": 7.0, "color": 0xFFAA0000}, {"x": 2.0 * k, "y": 10.0},
                   state=k, flags="DEPTH" if k % 2 else "", more=4 if k > 2 else 0)
    suite.add(s)


def blending(suite):
    sources = (0x00000000, 0xFFFFFFFF, 0x804080C0, 0x01FF7F80, 0xFE010203, 0x7F80FF00, 0xFFFF2010, 0x40404040)
    for small in (False, True):
        for mode, row in (("opaque", "373"), ("alpha", "374"), ("additive", "375")):
            name = f"tile/raster/blend-{mode}-{'rgb565' if small else 'argb8888'}"
            s = Scene(name, f"TILE-{row} TILE-367 TILE-359", 16, 16, small=small)
            s.rstate()
            for k, c in enumerate(sources):
                s.rectangle(2 * k, 0, 2, 16, c)
            for k, c in enumerate(sources):
                s.rectangle(0, 2 * k, 16, 2, c, blend=mode)
            s.rstate(slot=1, blend=mode)
            s.triangle(*(corner(s, 0, 16) for _ in range(3)))
            s.triangle(*(corner(s, 0, 16) for _ in range(3)), blend="opaque")
            suite.add(s)
    s = Scene("tile/raster/blend-select", "TILE-388 TILE-363 TILE-373 TILE-374 TILE-375", 16, 16)
    for k, mode in enumerate(("opaque", "alpha", "additive")):
        s.rstate(slot=k, blend=mode)
    for k in range(3):
        for n, mode in enumerate(("state", "opaque", "alpha", "additive")):
            s.rectangle(4 * n, 4 * k, 4, 4, 0x60A05030, state=k, blend=mode)
            s.triangle({"x": 4.0 * n, "y": 4.0 * k, "color": 0x90305070}, {"x": 4.0 * n + 4, "y": 4.0 * k, "color": 0x20FF00FF},
                       {"x": 4.0 * n, "y": 4.0 * k + 3, "color": 0xFF808080}, state=k, blend=mode)
    s.rectangle(0, 12, 8, 4, 0x60A05030, state=0, more=0x10)  # flags of the command: blend alpha
    s.rectangle(8, 12, 8, 4, 0x60A05030, state=0, more=0x18)
    suite.add(s)


def targets(suite):
    s = Scene("tile/raster/two-targets", "TILE-365 TILE-366 TILE-387 TILE-362 TILE-386", 12, 8, pitch=20)
    second = s.buffer("second", size=40 * 8, fill=0x77)
    s.observe("second")
    s.rstate(slot=3)
    s.rstate(slot=9, fb_base=second, fb_stride=40, fb_wh=(9, 7))
    for k in (3, 9):
        s.rectangle(1, 1, 20, 3, 0xFF112233 * k & 0xFFFFFFFF, state=k)
        s.triangle(*(corner(s, -2, 14) for _ in range(3)), state=k)
    s.rectangle(0, 5, 3, 3, 0xFFABCDEF)
    s.rectangle(4, 5, 3, 3, 0xFFFEDCBA, slot=3)
    suite.add(s)

    s = Scene("tile/raster/rectangles", "TILE-575 TILE-364 TILE-359", 16, 12)
    s.rstate()
    for k, r in enumerate(((2, 1, 3, 2), (-3, -2, 6, 4), (14, 9, 9, 9), (6, 3, 0, 5), (6, 3, 5, 0), (-32768, 5, 65535, 1), (5, -32768, 1, 65535),
                           (32767, 1, 9, 9), (7, 7, 1, 1), (8, 11, 8, 65535))):
        s.rectangle(*r, 0xFF000000 | 0x91B7D * (k + 3))
    suite.add(s)

    boxes = {"viewport": [(3, 2, 10, 7), (-4, -3, 9, 9), (20, 10, 9, 9), (0, 0, 65535, 65535), (-32768, 0, 40000, 5)],
             "scissor": [(3, 2, 10, 7), (-4, -3, 9, 9), (20, 10, 9, 9), (5, 5, 0, 3), (-32768, -32768, 40000, 40000)]}
    for kind, row in (("viewport", "371"), ("scissor", "372")):
        s = Scene(f"tile/raster/{kind}", f"TILE-{row}", 16, 12)
        for k, (x, y, w, h) in enumerate(boxes[kind]):
            s.rstate(slot=k, **{f"{kind}_xy": (x, y), f"{kind}_wh": (w, h), "flags": "SCISSOR" if kind == "scissor" else "", "blend": "additive"})
            s.rectangle(0, 0, 16, 12, 0x01020304 << k)
            s.triangle(*(corner(s, -3, 18) for _ in range(3)))
        s.rstate(scissor_xy=(1, 1), scissor_wh=(2, 2), viewport_xy=(9, 9))  # neither is in force
        s.rectangle(6, 6, 9, 2, 0xFF00FFFF)
        suite.add(s)
    s = Scene("tile/raster/viewport-and-scissor", "TILE-371 TILE-372", 16, 12)
    s.rstate(viewport_xy=(2, 1), viewport_wh=(9, 9), scissor_xy=(5, -1), scissor_wh=(11, 7), flags="SCISSOR")
    s.rectangle(-2, -2, 40, 40, 0xFF445566)
    suite.add(s)

    # pixels that are not in memory: the end of VRAM, and what wraps around
    s = Scene("tile/raster/outside", "TILE-365 TILE-366 TILE-368", 16, 12, depth="D16", vram=65536)
    end = 0x80010000
    s.rstate(slot=0, fb_base=end - 40, fb_stride=16, fb_wh=(4, 4))
    s.rectangle(0, 0, 4, 4, 0xFF102030)
    s.command("READ_MEM", end - 64, count=16)
    s.rstate(slot=1, depth_base=end - 20, depth_stride=8)
    s.rectangle(0, 0, 16, 12, 0xFF405060, flags="DEPTH")
    s.command("READ_MEM", end - 64, count=16)
    s.rstate(slot=2, fb_base=0x7FFFFFF8, fb_stride=64)
    s.triangle({"x": 0.0}, {"x": 12.0}, {"y": 3.0}, state=2)
    s.command("READ_MEM", 0x80000000, count=8)
    s.rstate(slot=3, fb_base=s.base + 1, fb_stride=s.stride + 3, fb_wh=(12, 8))  # any byte alignment
    s.rectangle(1, 1, 6, 5, 0x99887766, state=3)
    s.observe("answers")
    suite.add(s)


def textures(suite):
    whole = [{"x": 0.0, "y": 0.0, "u": -2.0, "v": -2.0}, {"x": 24.0, "y": 0.0, "u": 10.0, "v": -1.0}, {"x": 0.0, "y": 16.0, "u": -3.0, "v": 9.0}]
    other = [{"x": 24.0, "y": 0.0, "u": 8.0, "v": 1.0}, {"x": 24.0, "y": 16.0, "u": -5.0, "v": -6.0}, {"x": 0.0, "y": 16.0, "u": 1.5, "v": 12.0}]
    for form in ("RGB565", "ARGB8888", "PAL8"):
        for filter_name in ("nearest", "bilinear"):
            s = Scene(f"tile/raster/texture-{form.lower()}-{filter_name}",
                      "TILE-391 TILE-378 TILE-341 TILE-383 TILE-384 TILE-363", 24, 16)
            image = s.texture("texture", 5, 6, form, pitch=3)
            if form == "PAL8":
                image |= dict(palette_base=s.buffer("palette", bytes(s.random.getrandbits(8) for _ in range(4096))), palette=2)
            s.sampler(7, **image, filter=filter_name, wrap_u="repeat")
            s.sampler(8, **image, filter=filter_name, wrap_v="repeat", swizzle="BGRA")
            s.rstate(flags="TEXTURE", sampler=7)
            s.triangle(*(v | {"color": 0xFFFFFFFF} for v in whole), flags="TEXTURED")
            s.rstate(flags="TEXTURE", sampler=8)
            s.triangle(*(v | {"color": s.random.getrandbits(32)} for v in other), flags="TEXTURED")
            suite.add(s)
    s = Scene("tile/raster/texture-modes", "TILE-391 TILE-363 TILE-378 TILE-388 TILE-382 TILE-383 TILE-384", 24, 16)
    image = s.texture("texture", 4, 4)
    s.sampler(0, **image, filter="bilinear", wrap_u="repeat", wrap_v="repeat", swizzle="RGB1")
    s.sampler(31, **image, swizzle="RRR1", filter=2, wrap_u=3, wrap_v=2)
    s.rstate(slot=0, flags="TEXTURE|TEX_NORM", sampler=0)
    s.rstate(slot=1, flags="TEXTURE|TEX_NORM", sampler=31, blend="alpha")
    s.rstate(slot=2, flags="", sampler=31)
    three = [v | {"w": w, "u": v["u"] / 4, "v": v["v"] / 4, "color": c} for v, w, c in zip(whole, (1.0, 3.0, .5), (0xFF80FF40, 0x80FFFFFF, 0xFFFFFF20))]
    s.triangle(*three, state=0, flags="TEXTURED")
    s.triangle(*three[::-1], state=1, flags="TEXTURED|FLAT|AFFINE")
    s.triangle(*three[1:], three[0] | {"x": 20.0}, state=2, flags="TEXTURED")
    s.triangle(three[0] | {"x": 23.0}, *three[1:], state=1, flags="")
    suite.add(s)

    s = Scene("tile/raster/texture-odd", "TILE-391 TILE-383 TILE-384", 24, 8)
    image = s.texture("texture", 3, 2)
    for k, f in enumerate(("nearest", "bilinear")):
        s.sampler(k, **image, filter=f, wrap_u="repeat")
        s.rstate(slot=k, flags="TEXTURE", sampler=k)
        for n, u in enumerate((NAN, INF, INF | 1 << 31, 3e9, -3e9, 1e-40)):
            x, y = 4.0 * n, 4.0 * k
            s.triangle(*(vertex(x=x + dx, y=y + dy, u=u, v=1.0 + dy / 4, color=0xFFFFFFFF) for dx, dy in ((0, 0), (4, 0), (0, 4))),
                       state=k, flags="TEXTURED")
    suite.add(s)

    s = Scene("tile/raster/blits", "TILE-364 TILE-391", 24, 16)
    image = s.texture("texture", 5, 4, "RGB565", pitch=2)
    s.sampler(3, **image, wrap_u="repeat", filter="bilinear")
    s.rstate(flags="TEXTURE", sampler=3, const_color=0x33445566)
    for k, (x, y, w, h, u, v) in enumerate(((0, 0, 7, 6, 0, 0), (7, 0, 7, 6, -2, -1), (14, 1, 9, 5, 3, 2), (-2, 7, 8, 5, 1, 1))):
        s.rectangle(x, y, w, h, flags="TEXTURED", uv=(u, v))
    for x, y, w, h in ((6, 7, 11, 9), (17, 7, 3, 3), (-3, 12, 9, 7), (18, 11, 10, 4)):
        s.rectangle(x, y, w, h, flags="TEXTURED|STRETCH|STATE_COLOR", uv=(3, 3))
    s.rectangle(20, 7, 3, 3, flags="TEXTURED", uv=(9, 9), blend="additive")
    suite.add(s)

    s = Scene("tile/raster/texel-outside", "TILE-391", 16, 8, vram=65536)
    s.rstate(flags="TEXTURE", sampler=1)
    s.sampler(1, base=0x8000FFF6, stride=4, width=4, height=3, format="ARGB8888")
    s.rectangle(0, 0, 5, 3, flags="TEXTURED", uv=(0, 0))
    s.sampler(1, base=s.base, stride=4, width=4, height=3, format="PAL8", palette_base=0x8000FE00)
    s.rectangle(6, 0, 4, 4, flags="TEXTURED", uv=(0, 0))
    s.triangle({"u": 0.0}, {"x": 16.0, "u": 8.0}, {"y": 8.0, "v": 5.0}, flags="TEXTURED")
    suite.add(s)


def refusals(suite):
    s = Scene("tile/raster/refused-states", "TILE-448 TILE-367 TILE-370 TILE-447", 8, 8)
    good = encode("RSTATE", fb_base=s.base, fb_stride=s.stride, fb_format=1, fb_wh=(8, 8))
    for at in (4, 16, 31):
        s.command("LOAD_RSTATE", 0, s.put(bytes(at % 32) + good, 64) + at)
    s.rectangle(0, 0, 8, 8, 0xFF123456)  # nothing is loaded yet
    for field, values in (("fb_format", (2, 3, 255)), ("depth_format", (3, 4)), ("blend", (3, 4, 0x80))):
        for v in values:
            s.rstate(**{field: v})
    s.command("LOAD_RSTATE", 0, 0x8001FFE0)
    s.command("LOAD_RSTATE", 0, 0x7FFFFFE0)
    s.command("LOAD_RSTATE", 16, s.put(good, 32))
    s.rectangle(0, 0, 8, 8, 0xFF123456)
    s.command("LOAD_RSTATE", 15, s.put(good + b"\xff" * 32, 32))
    s.rectangle(1, 1, 6, 6, 0xFF654321)
    s.command("LOAD_RSTATE", 2, 0x8001FFC0)  # the last 64 bytes of VRAM: all zero, RGB565 of no size
    s.rectangle(0, 0, 8, 8, 0xFFFFFFFF)
    s.rectangle(0, 0, 2, 2, 0xFF0000FF, state=15)
    for word in range(16):  # reserved bits do not matter
        reserved = {2: 0xFFFFFF00, 6: 0xFFFFF800, 7: 0xFFFFFF00, 9: 0xFFFFFFE0, 12: 0xFFFFFFE0}.get(word, 0)
        if reserved:
            words = list(struct.unpack("<16I", good))
            words[word] |= reserved
            s.command("LOAD_RSTATE", 4, s.put(struct.pack("<16I", *words), 32))
            s.rectangle(word % 8, 4, 1, 3, 0xFF00FF00 + word)
    suite.add(s)

    s = Scene("tile/raster/refused-draws", "TILE-452 TILE-450 TILE-451 TILE-449 TILE-388 TILE-387 TILE-459", 12, 12)
    block = b"".join(vertex(x=x, y=y, color=0xFF00FFFF) for x, y in ((0.0, 0.0), (9.0, 0.0), (0.0, 9.0)))
    rect = encode("RRECT", xy=(2, 2), wh=(4, 4), color=0xFFFF00FF)
    tri = encode("RDRAW")
    good = s.put(block + b"\xff" * 32, 32)
    s.command("RDRAW", s.put(tri, 16), good)  # no state
    s.command("RRECT", s.put(rect, 16), 0xFFFFFFFF)
    s.rstate(slot=5)
    s.command("RDRAW", s.put(tri, 16), 0)  # no setup
    for at in (4, 8, 15):
        s.command("RDRAW", s.put(bytes(at) + tri, 16) + at, good)
        s.command("RRECT", s.put(bytes(at) + rect, 16) + at, 0xFFFFFFFF)
    for at in (4, 16, 28):
        s.command("RDRAW", s.put(tri, 16), s.put(bytes(at) + block, 32) + at)
    s.command("RDRAW", 0x80020000, good)
    s.command("RRECT", 0x7FFFFFF0, 0xFFFFFFFF)
    s.command("RDRAW", s.put(tri, 16), 0x8001FFC0)
    s.command("RDRAW", s.put(rect, 16), good)
    s.command("RRECT", s.put(tri, 16), 0xFFFFFFFF)
    s.command("RDRAW", s.put(tri, 16), good, 1)      # flags of the command make it a rectangle
    s.command("RRECT", s.put(tri, 16), 0xFFFFFFFF, 1)  # and here they mend it
    for state in (4, 6, 15, 16, 0xFF, 0xFFFE):
        s.rectangle(0, 0, 9, 9, 0xFF111111, state=state)
        s.triangle(arg1=good, state=state)
    s.command("RRECT", s.put(rect, 16), 4)
    s.command("RRECT", s.put(rect, 16), 16)
    s.command("RDRAW", s.put(tri + b"\xff" * 16, 16), good)
    s.command("RRECT", s.put(rect + b"\xff" * 16, 16), 5)
    s.command("RDRAW", s.put(encode("RDRAW", state_id=5, vtx_ptr=s.put(b"".join(
        vertex(x=x, y=y, color=0xFF77FF00) for x, y in ((12.0, 12.0), (12.0, 5.0), (5.0, 12.0))), 32)), 16), 0)
    suite.add(s)

    s = Scene("tile/raster/refused-samplers", "TILE-391 TILE-378", 8, 8)
    image = s.texture("texture", 4, 4)
    s.rstate(flags="TEXTURE", sampler=2)
    for k, change in enumerate((dict(width=0), dict(height=0), dict(format=3), dict(width=0x10004), dict(height=0x10004), {})):
        s.sampler(2, **(image | change))
        s.rectangle(k, 0, 1, 4, flags="TEXTURED", uv=(0, 0))
        s.rectangle(k, 4, 1, 4, 0xFF000000 + k)
        s.triangle({"x": 0.0}, {"x": 8.0}, {"y": 8.0}, flags="TEXTURED", blend="alpha")
    suite.add(s)


def add(suite):
    for part in (coverage, interpolation, depth, blending, targets, textures, refusals):
        part(suite)
