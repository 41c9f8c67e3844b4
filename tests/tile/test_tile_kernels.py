"""The kernels of guest/tile, run by `facet tile run` and `facet tile draw`. What they leave in memory is
computed here a second time, from what the head of each kernel promises, and must be equal bit for bit: FP32 by
exact fractions, everything else with Python's integers. Kernels that share memory between cores also run under
other schedules."""
import json
import os
import random
import shutil
import struct
import subprocess
import tempfile
from fractions import Fraction
from math import isqrt

from harness import case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
KERNELS = os.path.join(SOURCE, "guest", "tile")
FOLDER = tempfile.mkdtemp()
ORDERS = ([], ["--schedule", "5"], ["--schedule", "77", "--poison"], ["--sched", "rr:40", "--plain"],
          ["--mem", "strong"], ["--cores", "0x5"])


def facet(*words):
    return subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", timeout=600)


def put(name, data):
    path = os.path.join(FOLDER, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def words(*values):
    return struct.pack(f"<{len(values)}I", *[v & 0xFFFFFFFF for v in values])


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


def dispatch(kernel, grid, args, out, length, *options):
    """Runs guest/tile/KERNEL.s; args = [(name, number, text or bytes)]; the bytes at argument `out` afterwards."""
    line = ["tile", "run", os.path.join(KERNELS, kernel + ".s"), "--grid", grid]
    for name, value in args:
        if isinstance(value, bytes):
            value = "@" + put(name, value)
        line += ["--arg", f"{name}={value}"]
    result = os.path.join(FOLDER, "result")
    done = facet(*line, "--out", f"{out},{length}={result}", *options)
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    with open(result, "rb") as file:
        return file.read()


def same(got, expected, what, width=None):
    """Compares two buffers of words and names the first that differs, as pixel where there is a width."""
    check_eq(len(got), len(expected), what)
    for i in range(0, len(got), 4):
        if got[i:i + 4] != expected[i:i + 4]:
            where = f"word {i // 4}" if width is None else f"pixel {i // 4 % width},{i // 4 // width}"
            check(False, f"{what}: {where} is 0x{struct.unpack('<I', got[i:i + 4])[0]:08x}, "
                  f"expected 0x{struct.unpack('<I', expected[i:i + 4])[0]:08x}")


def picture(seed, pixels):
    source = random.Random(seed)
    return [source.getrandbits(32) for _ in range(pixels)]


def channels(color):
    return [color >> 16 & 255, color >> 8 & 255, color & 255, color >> 24]


# ---- FP32 by exact fractions ----

def f32(x):
    """The FP32 nearest to an exact value, ties to even, as a Fraction; values here are normal and in range."""
    x = Fraction(x)
    if x == 0:
        return x
    magnitude, exponent = abs(x), 0
    while magnitude >= 2:
        magnitude, exponent = magnitude / 2, exponent + 1
    while magnitude < 1:
        magnitude, exponent = magnitude * 2, exponent - 1
    check(-126 <= exponent < 128, f"{float(x)} is not a normal FP32 number")
    scale = Fraction(2) ** (exponent - 23)
    return round(x / scale) * scale  # round() of a Fraction goes to even


def fma(a, b, c):
    return f32(a * b + c)


def dot(a, b):
    total = f32(a[0] * b[0])
    for x, y in zip(a[1:], b[1:]):
        total = fma(x, y, total)
    return total


def rsqrt(x):
    """1 / sqrt(x) correctly rounded: 200 bits are far more than a tie could hide in."""
    scaled = Fraction(1, 1) / x * Fraction(4) ** 200
    return f32(Fraction(isqrt(scaled.numerator // scaled.denominator), 2 ** 200))


def exact(*values):
    return [f32(Fraction(v)) for v in values]


# ---- pictures ----

@case("TILE-464")
def fill():
    width, height = 48, 32
    for x0, y0, x1, y1 in ((5, 3, 43, 30), (16, 16, 17, 17), (-9, -9, 99, 99), (20, 0, 20, 32), (31, 15, 33, 17)):
        old = picture(1, width * height)
        got = dispatch("fill", "3x2", [("target", words(*old)), ("stride", width * 4), ("x0", x0), ("y0", y0),
                                       ("x1", x1), ("y1", y1), ("color", "0xff8040c0")],
                       "target", width * height * 4, "--poison")
        for y in range(max(y0, 0), min(y1, height)):
            for x in range(max(x0, 0), min(x1, width)):
                old[y * width + x] = 0xFF8040C0
        same(got, words(*old), f"rectangle {x0},{y0} {x1},{y1}", width)


def sums_of(sprites, width, height):
    sums = [0] * (4 * width * height)
    for x0, y0, size, color in sprites:
        r, g, b, a = channels(color)
        for y in range(max(y0, 0), min(y0 + size, height)):
            for x in range(max(x0, 0), min(x0 + size, width)):
                for lane, value in enumerate((r * a, g * a, b * a, a)):
                    sums[4 * (y * width + x) + lane] += value
    return sums


@case("TILE-542 TILE-312")
def blend_with_vatom():
    width, height = 32, 32
    source = random.Random(3)
    sprites = [(source.randrange(-8, 30), source.randrange(-8, 30), source.randrange(1, 20),
                source.getrandbits(24) | source.randrange(20, 120) << 24) for _ in range(13)]
    sprites += [(40, 3, 9, 0xFFFFFFFF), (3, -9, 9, 0xFFFFFFFF), (8, 8, 12, 0xC8FF9060)]
    sums = sums_of(sprites, width, height)
    check(max(sums[3::4]) > 255, "some pixels have more than full coverage")
    check(0 in sums[3::4], "some pixels have none")
    for order in ORDERS:
        got = dispatch("blend", f"{len(sprites)}x1",
                       [("sprites", b"".join(words(*s) for s in sprites)), ("accum", bytes(16 * width * height)),
                        ("width", width), ("height", height)], "accum", 16 * width * height, *order)
        same(got, words(*sums), f"sums with {order}")
    back = picture(4, width * height)
    expected = []
    for i, color in enumerate(back):
        left = max(0, 255 - sums[4 * i + 3])
        r, g, b = ((min(sums[4 * i + c], 65025) + left * channels(color)[c] + 127) // 255 for c in range(3))
        expected.append(0xFF000000 | r << 16 | g << 8 | b)
    got = dispatch("resolve", "2x2", [("accum", words(*sums)), ("target", words(*back)), ("width", width)],
                   "target", 4 * width * height, "--poison")
    same(got, words(*expected), "picture", width)


@case("TILE-542 TILE-315")
def points_with_atomic_depth():
    width, height = 24, 16
    source = random.Random(5)
    points = [(source.randrange(width), source.randrange(height), source.randrange(32768),
               source.getrandbits(16)) for _ in range(508)]
    points[1] = points[0][:2] + (0, 77)  # the same pixel twice in one vector
    expected = [0x7FFFFFFF] * (width * height)
    for x, y, depth, color in points:
        old = expected[y * width + x]
        if old == 0x7FFFFFFF or (depth, color) < (old >> 16, old & 0xFFFF):
            expected[y * width + x] = depth << 16 | color
    check_eq(expected[points[0][1] * width + points[0][0]], 77)
    for order in ORDERS:
        got = dispatch("points", "32x1", [("points", b"".join(words(*p) for p in points)), ("count", len(points)),
                                          ("buffer", words(*[0x7FFFFFFF] * (width * height))), ("width", width)],
                       "buffer", 4 * width * height, *order)
        same(got, words(*expected), f"points with {order}", width)


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


@case()
def mandelbrot():
    width, height, limit = 32, 16, 40
    x0, y0, step = single(-2.0), single(-0.75), single(0.09375)
    expected = []
    for py in range(height):
        for px in range(width):
            # One operation in double precision rounded to single is the single operation: 53 >= 2*24 + 2.
            cx, cy = single(single(px * step) + x0), single(single(py * step) + y0)
            zx = zy = 0.0
            count = 0
            while count < limit:
                xx, yy = single(zx * zx), single(zy * zy)
                if single(xx + yy) > 4:
                    break
                xy = single(zx * zy)
                zy = single(single(xy + xy) + cy)
                zx = single(single(xx - yy) + cx)
                count += 1
            expected.append(0xFF000000 | (0 if count == limit else count * 0x050B13 & 0xFFFFFF))
    got = dispatch("mandelbrot", "2x1", [("target", "0x80100000"), ("stride", 4 * width), ("x0", "-2.0"),
                                         ("y0", "-0.75"), ("step", "0.09375"), ("limit", limit)],
                   "target", 4 * width * height, "--poison")
    same(got, words(*expected), "picture", width)
    check(len(set(expected)) > 10 and 0xFF000000 in expected, "the picture shows the set and its border")


@case("TILE-464")
def matrix_transform():
    source = random.Random(6)
    count = 37
    matrix = [[single(source.uniform(-3, 3)) for _ in range(4)] for _ in range(4)]
    vectors = [[single(source.uniform(-50, 50)) for _ in range(4)] for _ in range(count)]
    place = put("matrix", floats(*sum(matrix, [])))
    got = dispatch("transform", "3x1", [("in", floats(*sum(vectors, []))), ("out", "0x80200000"), ("count", count)],
                   "out", 16 * count + 16, "--in", f"0x80300000={place}", "--const", "0x80300000,64")
    expected = [float(dot(exact(*row), exact(*vector))) for vector in vectors for row in matrix]
    same(got, floats(*expected, 0, 0, 0, 0), "vectors; the one behind the last is not written")


@case()
def bilinear_upscale():
    width, height, target_width, target_height = 7, 5, 32, 16
    step_x, step_y = (width << 16) // target_width, (height << 16) // target_height
    texels = picture(7, width * height)
    expected = []
    for y in range(target_height):
        for x in range(target_width):
            at = [((2 * p + 1) * step >> 9) - 128 for p, step in ((x, step_x), (y, step_y))]
            fx, fy = at[0] & 255, at[1] & 255
            columns = [min(max((at[0] >> 8) + k, 0), width - 1) for k in (0, 1)]
            rows = [min(max((at[1] >> 8) + k, 0), height - 1) for k in (0, 1)]
            corners = [[channels(texels[r * width + c]) for c in columns] for r in rows]
            red, green, blue, alpha = (
                ((corners[0][0][k] * (256 - fx) + corners[0][1][k] * fx) * (256 - fy)
                 + (corners[1][0][k] * (256 - fx) + corners[1][1][k] * fx) * fy + 32768) >> 16 for k in range(4))
            expected.append(alpha << 24 | red << 16 | green << 8 | blue)
    got = dispatch("upscale", "2x1", [("source", words(*texels)), ("width", width), ("height", height),
                                      ("pitch", width * 4), ("target", "0x80200000"), ("stride", 4 * target_width),
                                      ("step_x", step_x), ("step_y", step_y)],
                   "target", 4 * target_width * target_height, "--poison")
    same(got, words(*expected), "picture", target_width)


@case("TILE-315 TILE-316")
def histogram_with_atomics():
    width, height = 64, 32
    pixels = picture(8, width * height)
    pixels[:200] = [0xFF808080] * 200  # many of one bin, in one vector and in several tiles
    bins = [1000 + i for i in range(256)]
    expected = list(bins)
    for color in pixels:
        r, g, b, _ = channels(color)
        expected[(77 * r + 150 * g + 29 * b) >> 8] += 1
    for order in ORDERS:
        got = dispatch("histogram", "4x2", [("picture", words(*pixels)), ("stride", 4 * width),
                                            ("bins", words(*bins))], "bins", 1024, "--shared", "1024", *order)
        same(got, words(*expected), f"bins with {order}")


@case("TILE-542")
def deferred_shading():
    width, height = 48, 32
    source = random.Random(9)
    domes = [(source.randrange(-4, width + 4), source.randrange(-4, height + 4), source.randrange(2, 14),
              source.randrange(1000), source.getrandbits(24)) for _ in range(20)]
    lights = [(source.randrange(width), source.randrange(height), source.randrange(6, 30) ** 2,
               source.getrandbits(24)) for _ in range(6)]
    lights.append((2000, 2000, 25, 0xFFFFFF))  # reaches no tile
    scales = [255 * 65536 // light[2] for light in lights]
    back = picture(10, width * height)
    expected = list(back)
    for y in range(height):
        for x in range(width):
            found = []
            for number, (cx, cy, radius, depth, _) in enumerate(domes):
                distance = (x - cx) ** 2 + (y - cy) ** 2
                if distance <= radius * radius:
                    found.append((depth * 256 + (distance >> 4), number))
            if not found:
                continue
            shade = [32, 32, 32]
            for (lx, ly, reach, color), scale in zip(lights, scales):
                distance = (x - lx) ** 2 + (y - ly) ** 2
                if distance < reach:
                    strength = 255 - (distance * scale >> 16)
                    shade = [s + (c * strength >> 8) for s, c in zip(shade, channels(color))]
            albedo = channels(domes[min(found)[1]][4])
            r, g, b = (a * min(s, 255) // 255 for a, s in zip(albedo, shade))
            expected[y * width + x] = 0xFF000000 | r << 16 | g << 8 | b
    check(100 < sum(e == b for e, b in zip(expected, back)) < 800, "the picture shows domes and background")
    for order in ORDERS[:3]:
        got = dispatch("deferred", "3x2", [("target", words(*back)), ("stride", 4 * width),
                                           ("domes", b"".join(words(*d, 0, 0, 0) for d in domes)),
                                           ("count", len(domes)),
                                           ("lights", b"".join(words(*light) for light in lights)),
                                           ("scales", words(*scales)), ("number", len(lights))],
                       "target", 4 * width * height, "--shared", "2048", *order)
        same(got, words(*expected), f"picture with {order}", width)


# ---- the vertex kernel ----

LIGHT = exact(0, single(0.6), single(0.8), 0)
LIGHT_COLOR, AMBIENT = exact(1, 1, single(0.8)), exact(*[single(0.2)] * 3)
IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


class Mesh:
    """Random vertices, the argument block, and what vertex.s must make of them."""

    def __init__(self, normals, seed=11, count=19, stride=None):
        source = random.Random(seed)
        self.normals, self.count = normals, count
        self.stride = stride or (40 if normals else 28)
        self.items = []
        for _ in range(count):
            position = [single(source.uniform(-2, 2)) for _ in range(3)] + [1.0]
            normal = [single(source.uniform(-1, 1)) for _ in range(3)]
            uv = [single(source.random()), single(source.random())]
            self.items.append((position, normal, uv, source.getrandbits(32)))
        self.mvp, self.normal, self.model, self.material = IDENTITY, None, None, None
        self.light, self.out = False, 0x80200000

    def pack(self, items):
        data = b""
        for position, normal, uv, color in items:
            one = floats(*position) + (floats(*normal) if self.normals else b"") + floats(*uv) + words(color)
            data += one + bytes(self.stride - len(one))
        return data

    def run(self, *options, count=None):
        flags = (self.model is not None) | (self.material is not None) << 1
        param = floats(*(self.model or IDENTITY[:12])) + words(self.material or 0, 0, 0, flags)
        args = [("in_vbo", self.pack(self.items)), ("out_vbo", self.out),
                ("count", self.count if count is None else count), ("stride", self.stride),
                ("mvp_ptr", floats(*self.mvp)), ("normal_ptr", 0 if self.normal is None else floats(*self.normal)),
                ("param_ptr", param), ("flags", self.normals | self.light << 1)]
        return dispatch("vertex", f"{(self.count + 15) // 16}x1", args, "out_vbo", self.stride * self.count, *options)

    def color_of(self, normal, color):
        base = channels(color)
        if self.material is not None:
            base = [(a * b + 127) // 255 for a, b in zip(base, channels(self.material))]
        if self.normals:
            size = rsqrt(dot(normal, normal))
            n = [f32(x * size) for x in normal]
            facing = max(Fraction(0), dot(n, LIGHT))
            for k in range(3):
                lit = f32(base[k] * fma(LIGHT_COLOR[k], facing, AMBIENT[k]))
                base[k] = min(255, int(f32(lit + Fraction(1, 2))))
        return base[3] << 24 | base[0] << 16 | base[1] << 8 | base[2]

    def expected(self):
        items = []
        for position, normal, uv, color in self.items:
            p, n = exact(*position), exact(*normal, 0)
            if self.model is not None:
                p = [dot(exact(*self.model[4 * r:4 * r + 4]), p) for r in range(3)] + [p[3]]
            p = [dot(exact(*self.mvp[4 * r:4 * r + 4]), p) for r in range(4)]
            if self.normal is not None:
                n = [dot(exact(*self.normal[3 * r:3 * r + 3], 0), n) for r in range(3)] + [Fraction(0)]
            items.append(([float(x) for x in p], [float(x) for x in n[:3]], uv,
                          self.color_of(n, color) if self.light else color))
        return self.pack(items)

    def verify(self, what, *options):
        got = self.run(*options)
        same(got, self.expected(), what)
        return got


def matrix(seed, count):
    source = random.Random(seed)
    return [single(source.uniform(-2, 2)) for _ in range(count)]


@case("TILE-467 TILE-468 TILE-469 TILE-470 TILE-471 TILE-476 TILE-477")
def vertex_positions_and_block():
    mesh = Mesh(True)
    mesh.mvp = [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]
    got = mesh.verify("doubled")
    first = struct.unpack("<4f", got[:16])
    check_eq(first, tuple(2 * x for x in mesh.items[0][0][:3]) + (1.0,))
    mesh.out = 0x80340000
    check_eq(mesh.run(), got, "the output appears at the new address")
    mesh.mvp, mesh.model = matrix(12, 16), matrix(13, 12)
    mesh.verify("mvp * model", "--poison")
    partial = mesh.run(count=2)
    same(partial[:80], mesh.expected()[:80], "two vertices")
    check_eq(partial[80:], bytes(len(partial) - 80), "vertex 2 and later are not written")
    wide = Mesh(True, stride=48)
    wide.mvp = mesh.mvp
    wide.verify("stride 48")


@case("TILE-472")
def vertex_normals():
    mesh = Mesh(True)
    got = mesh.verify("copied normals")
    mesh.normal = [-1, 0, 0, 0, 1, 0, 0, 0, 1]
    turned = mesh.verify("normals with -x")
    for i in range(mesh.count):
        before, after = (struct.unpack_from("<3f", data, 40 * i + 16) for data in (got, turned))
        check_eq(after, (-before[0], before[1], before[2]), f"normal {i}")
    mesh.normal = matrix(14, 9)
    mesh.verify("normals through a matrix", "--poison")


@case("TILE-473")
def vertex_material():
    mesh = Mesh(True)
    mesh.light = True
    results = set()
    for material in (None, 0xFFFFFFFF, 0xFF0080FF, 0x40FF2010):
        mesh.material = material
        results.add(mesh.verify(f"material {material}"))
    check_eq(len(results), 3, "white is no material; the others change the lit colour")


@case("TILE-474")
def vertex_layouts():
    for normals, offset in ((True, 28), (False, 16)):
        mesh = Mesh(normals, stride=48)
        got = mesh.verify(f"layout with normals {normals}")
        check_eq(struct.unpack_from("<2f", got, offset), tuple(mesh.items[0][2]))
        mesh.light, mesh.material = True, 0xFF80C0FF
        mesh.verify(f"lit, with normals {normals}")


@case("TILE-475")
def vertex_light():
    mesh = Mesh(True, count=40)
    mesh.normal = matrix(15, 9)
    plain = mesh.verify("vertex colours")
    mesh.light = True
    lit = mesh.verify("lit colours", "--schedule", "9")
    colors = [[struct.unpack_from("<I", data, 40 * i + 36)[0] for i in range(mesh.count)] for data in (plain, lit)]
    check_eq(colors[0], [item[3] for item in mesh.items])
    check(all(a >> 24 == b >> 24 for a, b in zip(*colors)), "alpha is kept")
    check(sum(a != b for a, b in zip(*colors)) > 30, "the light changes colours")


@case("TILE-461 TILE-465")
def vertex_feeds_gdraw():
    """The list of guest/tile draws through the kernel; the geometry unit alone gives the same picture."""
    path = os.path.join(KERNELS, "vertex.json")
    with open(path) as file:
        text = json.load(file)
    check(any(c["command"] == "GDRAW" and c.get("cu_assist") for c in text["commands"]), "CU_ASSIST is used")
    out = os.path.join(FOLDER, "frame.png")
    done = facet("tile", "draw", path, "-o", out)
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    by_kernel = done.stdout.rsplit("hash ", 1)[1]
    text["commands"] = [c for c in text["commands"] if c["command"] != "DISPATCH"]
    for command in text["commands"]:
        if command["command"] == "LOAD_GSTATE":
            command["descriptor"]["vbo_base"] = "cube"
        if command["command"] == "GDRAW":
            for name in ("cu_assist", "flags", "fence"):
                del command[name]
    text["buffers"].pop("kernel")
    put("unit.json", json.dumps(text).encode())
    done = facet("tile", "draw", os.path.join(FOLDER, "unit.json"), "-o", out)
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    check_eq(done.stdout.rsplit("hash ", 1)[1], by_kernel, "hash of the picture without the kernel")


try:
    main("tile_kernels")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
