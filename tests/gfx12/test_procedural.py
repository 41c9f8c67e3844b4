"""Procedural primitives without a shader: `bvh trace --procedural`, `bvh why` of procedural nodes. Boxes are met here in
double precision, one by one."""
import json
import math
import os
import random
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.TemporaryDirectory()
NONE = 0xFFFFFFFF


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, "bvh", *map(str, words)], capture_output=True, text=True, timeout=600)


def build(boxes):
    with open(path("boxes.json"), "w", encoding="utf-8") as file:
        json.dump({"aabbs": [{"min": b[0], "max": b[1]} for b in boxes]}, file)
    result = facet("build", "--aabbs", path("boxes.json"), "-o", path("boxes.gfx12"), "--quiet")
    check_eq(result.returncode, 0, result.stderr)


def trace(rays, *words):
    with open(path("rays.bin"), "wb") as file:
        for o, d, t_min, t_max in rays:
            file.write(struct.pack("<8f", *o, t_min, *d, t_max))
    result = facet("trace", path("boxes.gfx12"), "--rays", path("rays.bin"), "-o", path("hits.bin"), *words)
    check_eq(result.returncode, 0, result.stderr)
    with open(path("hits.bin"), "rb") as file:
        data = file.read()
    return [struct.unpack_from("<3f5I", data, 32 * i) for i in range(len(rays))]


def span(o, d, box):
    near, far = -math.inf, math.inf
    for k in range(3):
        a, b = (box[0][k] - o[k]) / d[k], (box[1][k] - o[k]) / d[k]
        near, far = max(near, min(a, b)), min(far, max(a, b))
    return near, far


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def world(seed, count, rays):
    dice = random.Random(seed)

    def number(lo, hi):
        return single(dice.uniform(lo, hi))

    boxes = []
    for _ in range(count):
        at = [number(-4, 4) for _ in range(3)]
        boxes.append((at, [single(x + dice.uniform(0.1, 1.5)) for x in at]))
    lines = []
    for _ in range(rays):
        origin = [number(-5, 5) for _ in range(3)]
        lines.append((origin, [single(dice.uniform(-4, 5) - x) or 0.5 for x in origin],
                      dice.choice([0.0, 0.0, number(0, 0.5)]), dice.choice([math.inf, number(0.5, 3)])))
    return boxes, lines


def nearest(o, d, t_min, t_max, boxes):
    """Distance and number of the closest box (R-G12-91), and whether a rounding could change it."""
    best, doubt = (math.inf, None), False
    for i, box in enumerate(boxes):
        near, far = span(o, d, box)
        doubt |= abs(near - far) < 1e-4 or min(abs(far), abs(near - t_min), abs(far - t_min), abs(near - t_max),
                                              abs(far - t_max)) < 1e-4
        t = near if near > t_min else far
        if max(near, 0) <= far and t_min < t < t_max:
            doubt |= abs(t - best[0]) < 1e-4
            best = min(best, (t, i))
    return best, doubt


@case()
def the_box_is_the_shape():
    boxes, rays = world(1, 60, 3000)
    build(boxes)
    hits = trace(rays, "--procedural", "box")
    check_eq(trace(rays, "--procedural", "box", "--plain"), hits, "the plain way")
    sure = inside = 0
    for ray, hit in zip(rays, hits):
        (t, number), doubt = nearest(*ray, boxes)
        if doubt:
            continue
        sure += 1
        inside += number is not None and not span(ray[0], ray[1], boxes[number])[0] > ray[2]
        if number is None:
            check_eq((hit[3], hit[7]), (NONE, 0), "a miss")
        else:
            check_eq((hit[3], hit[7] & 5, hit[1], hit[2]), (number, 5, 0, 0), "box, hit and procedural, u, v")
            check(abs(hit[0] - t) < 1e-4 * max(1, t), f"t {hit[0]}, expected {t}")
    check(sure > 2500 and inside > 50, f"{sure} rays, {inside} that leave their box")
    check_eq({h[7] for h in trace(rays)}, {0}, "without the option none is hit")


@case()
def candidates_are_listed():
    boxes, rays = world(2, 40, 300)
    build(boxes)
    hits = trace(rays, "--procedural", "candidates", "--candidates", path("list.jsonl"))
    check_eq({h[7] for h in hits}, {0}, "candidates are no hits")
    with open(path("list.jsonl"), encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    check_eq([r["ray"] for r in rows], sorted(r["ray"] for r in rows), "in the order of the rays")
    listed = {(r["ray"], r["primitive"]): r for r in rows}
    check_eq(len(listed), len(rows), "each once")
    for i, (o, d, _, t_max) in enumerate(rays):
        for k, box in enumerate(boxes):
            near, far = span(o, d, box)
            if max(near, 0) + 1e-3 < min(far, t_max):
                row = listed.get((i, k))
                check(row is not None, f"ray {i} meets box {k}")
                check(abs(row["enter"] - near) < 1e-3 and abs(row["leave"] - far) < 1e-3, f"{row}: {near} {far}")
    check(len(rows) > 100, "candidates")


@case()
def why_of_a_procedural_node():
    build([([0, 0, 0], [1, 1, 1]), ([4, 0, 0], [5, 1, 1])])
    ray = "-1 0.5 0.5 1 0.001 0.001"
    text = facet("why", path("boxes.gfx12"), "--ray", ray).stdout
    check("nan" not in text and "procedural" in text, text)
    steps = json.loads(facet("why", path("boxes.gfx12"), "--ray", ray, "--json").stdout)["steps"]
    second = [s["triangles"][1] for s in steps if s["kind"] == "primitive"]
    check(second and all(t["absent"] and "t" not in t and "vertices" not in t for t in second), second)
    answer = facet("why", path("boxes.gfx12"), "--ray", ray, "--expect", "0", "--json")
    check_eq((answer.returncode, json.loads(answer.stdout)["rejected"]["by"]), (1, "shader"))
    answer = facet("why", path("boxes.gfx12"), "--ray", ray, "--expect", "0", "--procedural", "box", "--json")
    answer = (answer.returncode, json.loads(answer.stdout))
    check_eq((answer[0], answer[1]["fault"], answer[1]["hit"]["t"], answer[1]["brute"]["agrees"]), (0, "none", 1.0, True))
    answer = json.loads(facet("why", path("boxes.gfx12"), "--ray", ray, "--expect", "1", "--procedural", "box",
                              "--json").stdout)
    check_eq((answer["fault"], answer["triangle"]["t"]), ("nearer", 5.0))


def pfm(name):
    with open(path(name), "rb") as file:
        head, size, scale, data = file.read().split(b"\n", 3)
    check_eq((head, float(scale)), (b"PF", -1.0), name)
    width, height = map(int, size.split())
    rows = [struct.unpack_from(f"<{3 * width}f", data, 12 * width * y) for y in range(height)]
    return [row[::3] for row in rows[::-1]]  # from the top, one channel


@case()
def a_picture_of_the_candidates():
    """A pixel counts the boxes that the ray of its middle meets, which a list of all boxes says too."""
    boxes, _ = world(7, 60, 0)
    build(boxes)
    size, eye = (24, 18), (0.0, 0.0, 20.0)
    camera = ("--size", "%dx%d" % size, "--eye", ",".join(map(str, eye)), "--look-at", "0,0,0", "--fov", "45")
    run = facet("render", path("boxes.gfx12"), "-o", path("c.pfm"), "--procedural", "candidates", "--json", *camera)
    check_eq(run.returncode, 0, run.stderr)
    picture, total, some = pfm("c.pfm"), 0, 0
    half = math.tan(math.radians(45) / 2)
    for y in range(size[1]):
        for x in range(size[0]):
            d = ((2 * (x + 0.5) / size[0] - 1) * half * size[0] / size[1], (1 - 2 * (y + 0.5) / size[1]) * half, -1.0)
            met = sure = 0
            for box in boxes:
                near, far = span(eye, d, box)
                wide_near, wide_far = span(eye, d, ([c - 0.01 for c in box[0]], [c + 0.01 for c in box[1]]))
                met += max(wide_near, 0) <= wide_far
                sure += max(near, 0) <= far
            check(sure <= picture[y][x] <= met, f"pixel {x},{y}: {picture[y][x]} of {sure} to {met}")
            total += picture[y][x]
            some += picture[y][x] > 0
    report = json.loads(run.stdout)
    check_eq((report["candidates"], report["hits"]), (total, 0))
    check(20 < some < size[0] * size[1], f"{some} pixels")
    run = subprocess.run([FACET, "render", path("boxes.gfx12"), "-o", path("c.png"), "--procedural", "candidates",
                          *camera], capture_output=True, text=True, timeout=600)
    check(run.returncode == 0 and f", {int(total)} procedural candidates" in run.stdout, run.stdout)
    run = facet("render", path("boxes.gfx12"), "-o", path("d.pfm"), "--procedural", "candidates", "--plain", *camera)
    check_eq((run.returncode, pfm("d.pfm")), (0, picture), "the plain way")
    for words in (("--aov", "ids"), ("--heatmap", "nodes")):
        run = facet("render", path("boxes.gfx12"), "-o", path("no.png"), "--procedural", "candidates", *words)
        check(run.returncode == 2 and "a picture of its own" in run.stderr, run.stderr)
        check(not os.path.exists(path("no.png")), "nothing is written")


@case()
def options_that_do_not_fit():
    build([([0, 0, 0], [1, 1, 1])])
    with open(path("rays.bin"), "wb") as file:
        file.write(struct.pack("<8f", -1, .5, .5, 0, 1, 0, 0, math.inf))
    rows = ((["--procedural", "candidates"], "belong together"),
            (["--candidates", path("x")], "belong together"),
            (["--procedural", "box", "--candidates", path("x")], "belong together"),
            (["--procedural", "shape"], "--procedural"),
            (["--procedural", "candidates", "--candidates", path("rays.bin")], "the file of rays"),
            (["--procedural", "candidates", "--candidates", path("new.bin")], "the file of hits"))
    for words, message in rows:
        result = facet("trace", path("boxes.gfx12"), "--rays", path("rays.bin"), "-o", path("new.bin"), *words)
        check_eq(result.returncode, 2, words)
        check(message in result.stderr and not os.path.exists(path("new.bin")), result.stderr)


main("gfx12_procedural")
