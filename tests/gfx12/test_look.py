"""Pictures of BVH images and the rays of their pixels. The rays are computed here from the definition of the camera,
and met with the triangles in double precision."""
import json
import math
import os
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
KNOT = os.path.join(SOURCE, "assets", "knot.glb")
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, text=True, timeout=600)


def good(*words):
    result = facet(*words)
    check_eq(result.returncode, 0, result.stderr)
    return result.stdout


def pfm(name):
    """Rows from top to bottom, of triples."""
    with open(path(name), "rb") as file:
        data = file.read()
    kind, size, scale, body = data.split(b"\n", 3)
    check_eq((kind, float(scale) < 0), (b"PF", True), "header")
    width, height = map(int, size.split())
    numbers = struct.unpack("<%df" % (3 * width * height), body)
    rows = [[numbers[3 * (y * width + x):][:3] for x in range(width)] for y in range(height)]
    return rows[::-1]


def cube_depth(o, d):
    """Where the ray meets the unit cube first, and whether it misses an edge clearly."""
    near, far = -math.inf, math.inf
    for k in range(3):
        if d[k] == 0:
            if not 0 < o[k] < 1:
                return math.inf
            continue
        a, b = sorted(((0 - o[k]) / d[k], (1 - o[k]) / d[k]))
        near, far = max(near, a), min(far, b)
    return None if abs(near - far) < 1e-3 else near if near < far else math.inf


@case()
def depths_are_those_of_the_camera():
    good("bvh", "build", CUBE, "-o", path("cube.gfx12"), "--quiet")
    eye, size = (0.5, 2.5, 4.0), (40, 24)
    good("render", path("cube.gfx12"), "--size", "40x24", "--eye", "0.5,2.5,4", "--look-at", "0.5,0.5,0.5", "--fov",
         "60", "--aov", "depth", "-o", path("depth.pfm"), "--quiet")
    rows = pfm("depth.pfm")
    back = [0, 2.0 / math.hypot(2, 3.5), 3.5 / math.hypot(2, 3.5)]
    right, up = [1, 0, 0], [0, back[2], -back[1]]
    half = math.tan(math.radians(30))
    seen = 0
    for y in range(size[1]):
        for x in range(size[0]):
            r = (2 * (x + 0.5) / size[0] - 1) * half * size[0] / size[1]
            u = (1 - 2 * (y + 0.5) / size[1]) * half
            d = [right[k] * r + up[k] * u - back[k] for k in range(3)]
            want = cube_depth(eye, d)
            if want is None:
                continue
            got = rows[y][x][0]
            check(got == want or abs(got - want) < 1e-4, f"pixel {x},{y}: {got}, expected {want}")
            seen += want != math.inf
    check(seen > 30, f"{seen} pixels of the cube")
    answer = json.loads(good("bvh", "why", path("cube.gfx12"), "--pixel", "20,12", "--size", "40x24", "--eye",
                             "0.5,2.5,4", "--look-at", "0.5 0.5 0.5", "--fov", "60", "--brief", "--json"))
    check(abs(answer["hit"]["t"] - rows[12][20][0]) < 1e-6, "the ray of a pixel")


@case()
def a_pixel_of_the_picture_of_a_scene():
    """The picture of a scene and the image of `bvh build` have the same rays and the same tree: as many nodes."""
    good("bvh", "build", KNOT, "-o", path("knot.gfx12"), "--quality", "high", "--quiet")
    good("render", KNOT, "--size", "32x18", "--spp", "1", "--heatmap", "nodes", "-o", path("heat.pfm"), "--quiet")
    rows = pfm("heat.pfm")
    pixels = [(x, y) for y in range(0, 18, 3) for x in range(0, 32, 3)]
    for x, y in pixels:
        result = facet("bvh", "why", path("knot.gfx12"), "--pixel", f"{x},{y}", "--size", "32x18", "--scene", KNOT,
                       "--flags", "0x10", "--brief", "--json")
        check_eq(json.loads(result.stdout)["nodes"], int(rows[y][x][0]), f"nodes of pixel {x},{y}")
    check(len({rows[y][x][0] for x, y in pixels}) > 5, "pixels differ")


@case()
def every_picture():
    good("bvh", "build", KNOT, "-o", path("knot.gfx12"), "--quiet")
    hits = set()
    pictures = set()
    for words in ((), ("--aov", "normal"), ("--aov", "depth"), ("--aov", "ids"), ("--aov", "heat"),
                  ("--heatmap", "triangles")):
        name = "p%d.png" % len(pictures)
        told = json.loads(good("render", path("knot.gfx12"), "--size", "64x36", "-o", path(name), "--json", *words))
        hits.add((told["rays"], told["hits"], told["nodes"]))
        with open(path(name), "rb") as file:
            pictures.add(file.read())
        good("bvh", "render", path("knot.gfx12"), "--size", "64x36", "-o", path("plain.png"), "--quiet", "--plain",
             "--threads", "1", *words)
        with open(path("plain.png"), "rb") as file:
            check(file.read() in pictures, f"the plain way, one thread: {words}")
    check_eq((len(pictures), len(hits)), (6, 1), "six pictures by the same rays")
    good("render", path("knot.gfx12"), "--size", "64x36", "--aov", "normal", "-o", path("n.pfm"), "--quiet")
    lengths = [math.dist((0.5, 0.5, 0.5), p) for row in pfm("n.pfm") for p in row if p[0] > 0.02]
    check(lengths and all(abs(n - 0.5) < 1e-4 for n in lengths), "normals have length 1")
    with open(path("b.json"), "w", encoding="utf-8") as file:
        json.dump({"aabbs": [{"min": [0, 0, 0], "max": [1, 1, 1]}]}, file)
    good("bvh", "build", "--aabbs", path("b.json"), "-o", path("b.gfx12"), "--quiet")
    for words, seen in (((), False), (("--procedural", "box"), True)):
        told = json.loads(good("render", path("b.gfx12"), "--size", "20x20", "-o", path("b.png"), "--json", *words))
        check_eq(told["hits"] > 40, seen, "procedural boxes")


@case()
def what_does_not_fit_is_refused():
    good("bvh", "build", CUBE, "-o", path("cube.gfx12"), "--quiet")
    with open(path("zero.gfx12"), "wb") as file:
        file.write(bytes(0))
    with open(path("short.gfx12"), "wb") as file:
        file.write(bytes(64))
    image = path("cube.gfx12")
    for words, message in (
            ((image, "--spp", "4"), "--spp is for scenes"), ((image, "--no-ao"), "--no-ao is for scenes"),
            ((image, "--camera", "0"), "has no cameras"), ((image, "--machine", "tile"), "--machine gfx12"),
            ((image, "--aov", "ids", "--heatmap", "nodes"), "two pictures"), ((image, "--eye", "1,2"), "--eye is '1,2'"),
            ((image, "--heat-max", "3"), "--heat-max is for colours of counts"), ((CUBE, "--heat-max", "3"), "for --heatmap"),
            ((image, "--eye", "0,0,0", "--look-at", "0,0,0"), "no direction"), ((image, "--fov", "180"), "--fov"),
            ((image, "--up", "a,b,c"), "--up is 'a,b,c'"), ((image, "--size", "0x4"), "--size"),
            ((path("zero.gfx12"),), "zero.gfx12"), ((path("short.gfx12"),), "short.gfx12"), ((path("none.gfx12"),), "none.gfx12"),
            ((CUBE, "--aov", "ids"), "--aov is for BVH images"), ((CUBE, "--flags", "1"), "--flags is for BVH images")):
        result = facet("render", *words, "-o", path("new.png"))
        check_eq((result.returncode, result.stdout), (2, ""), words)
        check(message in result.stderr and not os.path.exists(path("new.png")), result.stderr)
    for words, message in (
            (("--pixel", "1280,0"), "below 1280x720"), (("--pixel", "1"), "expected X,Y"), (("--pixel", "a,b"), "expected X,Y"),
            (("--pixel", "1,2", "--ray", "0 0 0 1 1 1"), "expected --ray, or --pixel"),
            (("--pixel", "1,2", "--camera", "1"), "a camera of a scene"),
            (("--pixel", "1,2", "--scene", CUBE, "--camera", "7"), "--camera"),
            (("--ray", "0 0 0 1 1 1", "--scene", CUBE), "expected --ray, or --pixel")):
        result = facet("bvh", "why", image, *words)
        check_eq((result.returncode, result.stdout), (2, ""), words)
        check(message in result.stderr, result.stderr)


@case()
def a_wrong_base_is_told():
    good("bvh", "build", CUBE, "-o", path("cube.gfx12"), "-q")
    for base in ("0x1000", "0x40"):
        for words in (("render", path("cube.gfx12"), "-o", path("x.png"), "--size", "8x8"),
                      ("bvh", "export", path("cube.gfx12"), "-o", path("x.glb"))):
            result = facet(*words, "--base", base)
            check_eq(result.returncode, 1, result.stderr)
            check("leads to nothing" in result.stderr, result.stderr)
            check_eq(facet(*words).returncode, 0, "as it was built")
    with open(path("ray.bin"), "wb") as file:
        file.write(struct.pack("<8f", 0, 0, 0, 0, 1, 1, 1, 9))
    result = facet("bvh", "trace", path("cube.gfx12"), "--rays", path("ray.bin"), "-o", path("h.bin"), "--base", "0x80")
    check_eq(result.returncode, 1, result.stderr)


main("gfx12_look")
