"""`facet bvh diff` of images that different builders made, and of images that only lie elsewhere."""
import json
import os
import random
import struct
import subprocess
import tempfile
from fractions import Fraction
from itertools import combinations

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
KNOT = os.path.join(SOURCE, "assets", "knot.glb")
INSTANCES = os.path.join(SOURCE, "assets", "instances.glb")
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, "bvh", *map(str, words)], capture_output=True, text=True, timeout=600)


def build(scene, name, *words):
    result = facet("build", scene, "-o", path(name), "--quiet", *words)
    check_eq(result.returncode, 0, result.stderr)
    return path(name)


def diff(a, b, *words, code=0):
    result = facet("diff", a, b, "--json", *words)
    check_eq(result.returncode, code, result.stdout + result.stderr)
    return json.loads(result.stdout)


@case()
def the_same_geometry():
    for scene in (KNOT, INSTANCES):
        a, b = build(scene, "a.gfx12", "--quality", "fast"), build(scene, "b.gfx12", "--quality", "contract")
        report = diff(a, b)
        check_eq((report["same_primitives"], report["same_instances"], report["same_hits"]), (True, True, True))
        for side, image in (("a", a), ("b", b)):
            info = json.loads(facet("info", image, "--json").stdout)
            for key in ("bytes", "box_nodes", "primitive_nodes", "instance_nodes", "bottom_levels", "triangles",
                        "max_depth", "sah_cost", "nodes_by_depth", "box_nodes_by_children"):
                check_eq(report[side][key], info[key], f"{key} of {image}")
            check_eq(report[side]["primitives"], info["triangles"], "primitives")
        check(report["a"]["bytes"] != report["b"]["bytes"] and report["rays"] == 20000, "two different trees")
    text = facet("diff", a, b).stdout
    check("The trees have different shapes" in text and "same primitives: yes" in text and "B / A" in text, text)
    check("fields" not in text, text)
    check(diff(a, b, "--fields", code=1)["differences"] > 0, "field by field on request")


@case()
def the_same_rays():
    dice = random.Random(4)
    with open(path("rays.bin"), "wb") as file:
        for _ in range(500):
            o = [dice.uniform(-3, 3) for _ in range(3)]
            file.write(struct.pack("<8f", *o, 0, *[dice.uniform(-1, 1) - x for x in o], 1e9))
    a, b = build(KNOT, "a.gfx12", "--quality", "fast"), build(KNOT, "b.gfx12", "--quality", "high")
    report = diff(a, b, "--rays", path("rays.bin"))
    for side, image in (("a", a), ("b", b)):
        trace = json.loads(facet("trace", image, "--rays", path("rays.bin"), "-o", path("hits.bin"), "--json").stdout)
        check_eq(report[side]["hits"], trace["hits"])
        for key, name in (("nodes_per_ray", "steps"), ("boxes_per_ray", "box_nodes"), ("pairs_per_ray", "primitive_nodes")):
            check(abs(report[side][key] - trace[name] / 500) < 1e-9, key)
    check_eq(report["rays"], 500)


@case()
def overlap_of_siblings():
    """The mean over the two box nodes of a cube; the upper one has one child."""
    image = build(CUBE, "cube.gfx12", "--quality", "contract")
    node = json.loads(facet("why", image, "--bvh", "0x100", "--node", "5", "--ray", "0 0 0 1 1 1", "--json").stdout)

    def number(x):
        return Fraction(struct.unpack("<f", struct.pack("<I", int(x["bits"], 16)))[0])

    boxes = [([number(x) for x in c["lo"]], [number(x) for x in c["hi"]]) for c in node["children"]]
    check_eq(len(boxes), 6)

    def area(d):
        return d[0] * d[1] + d[1] * d[2] + d[2] * d[0]

    shared = Fraction(0)
    for (lo, hi), (low, high) in combinations(boxes, 2):
        d = [min(hi[k], high[k]) - max(lo[k], low[k]) for k in range(3)]
        shared += area(d) if min(d) >= 0 else 0
    whole = area([max(b[1][k] for b in boxes) - min(b[0][k] for b in boxes) for k in range(3)])
    report = diff(image, image, "--builders")
    check(shared > 0 and abs(report["a"]["overlap"] - float(shared / whole / 2)) < 1e-12, report["a"]["overlap"])


@case()
def one_triangle_is_another():
    a = build(KNOT, "a.gfx12", "--quality", "fast")
    build(KNOT, "b.gfx12", "--quality", "high")
    with open(path("b.gfx12"), "rb") as file:
        data = bytearray(file.read())
    hit = json.loads(facet("why", path("b.gfx12"), "--pixel", "52,45", "--size", "160x90", "--brief", "--json").stdout)["hit"]
    place = json.loads(facet("why", path("b.gfx12"), "--pixel", "52,45", "--size", "160x90", "--expect",
                             hit["primitive"], "--json").stdout)["path"][-1]
    # Swap two vertex indices of the triangle: another winding. tri1 has them at bits 3 and 7, tri0 at 17 and 21.
    first = 8 * int(place["offset"], 16) + 1024 - 29 * (place["pair"] + 1) + (3 if place["triangle"] == 1 else 17)
    whole = int.from_bytes(data, "little")
    x, y = whole >> first & 15, whole >> first + 4 & 15
    whole ^= (x ^ y) << first | (x ^ y) << first + 4
    with open(path("b.gfx12"), "wb") as file:
        file.write(whole.to_bytes(len(data), "little"))
    report = diff(a, path("b.gfx12"), code=1)
    check_eq((report["same_primitives"], report["a"]["only_here"], report["b"]["only_here"]), (False, 1, 1))
    check_eq({(s["only_in"], s["primitive"]) for s in report["strays"]},
             {("a", hit["primitive"]), ("b", hit["primitive"])})
    check("only in A: primitive %d" % hit["primitive"] in facet("diff", a, path("b.gfx12")).stdout, "text")


@case()
def where_it_lies_is_no_difference():
    a = build(INSTANCES, "a.gfx12")
    b = build(INSTANCES, "b.gfx12", "--base", "0x7f0000000000")
    check_eq(diff(a, b, "--base-b", "0x7f0000000000")["differences"], 0)
    check_eq(diff(b, a, "--base", "0x7f0000000000", "--base-b", "0x0")["differences"], 0)
    check(facet("diff", a, b).returncode == 1, "with a wrong base the bottom levels are not found")
    report = diff(a, b, "--base-b", "0x7f0000000000", "--builders")
    check_eq((report["same_primitives"], report["same_instances"], report["same_hits"]), (True, True, True))
    # An instance that names another bottom level does differ.
    two = path("two.obj")
    with open(two, "w", encoding="utf-8") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 5\nv 1 0 5\nv 0 1 5\no one\nf 1 2 3\no two\nf 4 5 6\n")
    image = build(two, "two.gfx12")
    with open(image, "rb") as file:
        data = bytearray(file.read())
    check_eq(data[0x80 + 48:0x80 + 54] == data[0x100 + 48:0x100 + 54], False, "two instances, two bottom levels")
    data[0x80 + 48:0x80 + 54] = data[0x100 + 48:0x100 + 54]
    with open(path("one.gfx12"), "wb") as file:
        file.write(data)
    report = diff(image, path("one.gfx12"), "--fields", code=1)
    check("bvh_pointer" in {d["field"] for d in report["list"]} or
          any("pointer" in d["field"] or "addr" in d["field"] for d in report["list"]), report)


@case()
def questions_that_do_not_fit():
    a = build(CUBE, "cube.gfx12")
    for words, message in ((("--fields", "--builders"), "two comparisons"), (("--fields", "--rays", "x"), "two comparisons"),
                           (("--base-b", "1"), "--base-b"), (("--root-b", "x"), "--root-b"),
                           (("--builders", "--rays", path("none.bin")), "none.bin")):
        result = facet("diff", a, a, *words)
        check_eq((result.returncode, result.stdout), (2, ""), words)
        check(message in result.stderr, result.stderr)


main("gfx12_builders")
