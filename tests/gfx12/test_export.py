"""`facet bvh export`: triangles come back bit for bit, boxes are those of section 5.2, decoded again here from the bytes
of the image."""
import json
import os
import struct
import subprocess
import tempfile
from fractions import Fraction

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
FOLDER = tempfile.TemporaryDirectory()


def asset(name):
    return os.path.join(SOURCE, "assets", name + ".glb")


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, "bvh", *map(str, words)], capture_output=True, text=True, timeout=600)


def good(*words):
    result = facet(*words)
    check_eq(result.returncode, 0, result.stderr)
    return result.stdout


def build(scene, name, *words):
    good("build", scene, "-o", path(name), "--quiet", *words)
    return path(name)


def exported(image, *words):
    good("export", image, "-o", path("out.json"), "--quiet", *words)
    with open(path("out.json"), encoding="utf-8") as file:
        return json.load(file)


def glb(name):
    """The document and a function from an accessor to its tuples."""
    with open(path(name), "rb") as file:
        data = file.read()
    magic, version, size, length, kind = struct.unpack_from("<5I", data)
    check_eq((magic, version, size, kind), (0x46546C67, 2, len(data), 0x4E4F534A), "header")
    document = json.loads(data[20:20 + length])
    binary, kind = struct.unpack_from("<2I", data, 20 + length)
    check_eq((kind, 28 + length + binary), (0x004E4942, len(data)), "binary part")

    def read(number):
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        form, width = {5126: ("f", 3), 5125: ("I", 1)}[accessor["componentType"]]
        check_eq(view["byteLength"], 4 * width * accessor["count"], "length of the view")
        flat = struct.unpack_from("<%d%s" % (width * accessor["count"], form), data, 28 + length + view["byteOffset"])
        return [flat[i:i + width] if width > 1 else flat[i] for i in range(0, len(flat), width)]

    return document, read


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


@case()
def triangles_come_back():
    for name in ("knot", "instances", "room"):
        image = build(asset(name), "a.gfx12")
        for kind in ("glb",) + (("obj",) if name == "knot" else ()):
            good("export", image, "-o", path("again." + kind), "--what", "triangles", "--quiet")
            again = build(path("again." + kind), "b.gfx12")
            report = json.loads(facet("diff", image, again, "--builders", "--json").stdout)
            if kind == "glb":
                check_eq((report["same_primitives"], report["same_hits"]), (True, True), name)
            else:  # an .obj file says nothing about sides
                check_eq((report["a"]["primitives"], report["same_hits"]), (report["b"]["primitives"], True), name)
            check_eq(report["a"]["triangles"], report["b"]["triangles"], name)


@case()
def triangles_are_those_of_the_scene():
    points, faces = [], []
    with open(CUBE, encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[:1] == ["v"]:
                points.append([single(float(x)) for x in words[1:4]])
            elif words[:1] == ["f"]:
                corners = [int(w.split("/")[0]) - 1 for w in words[1:]]
                faces += [[points[c] for c in (corners[0], corners[i], corners[i + 1])] for i in range(1, len(corners) - 1)]
    image = build(CUBE, "cube.gfx12")
    data = exported(image)
    check_eq([t["primitive"] for t in data["triangles"]], list(range(len(faces))))
    for t, face in zip(data["triangles"], faces):
        turns = [face[i:] + face[:i] for i in range(3)]
        check([[single(x) for x in v] for v in t["vertices"]] in turns, f"{t['vertices']}: {face}")
    good("export", image, "-o", path("cube.glb"), "--quiet")
    document, read = glb("cube.glb")
    of_file = [read(p["attributes"]["POSITION"]) for m in document["meshes"] for p in m["primitives"] if p["mode"] == 4]
    check_eq(of_file, [[tuple(single(x) for x in v) for t in data["triangles"] for v in t["vertices"]]])
    check_eq(len(data["instances"]), 1)
    check_eq((data["instances"][0]["user_data"], data["instances"][0]["shows"], data["top"]), (0, 1, 0))


def plane(origin, exponent, number):
    """Section 5.2."""
    offset = Fraction(number) * Fraction(2) ** (exponent - 139) if exponent else 0
    return single(float(Fraction(origin) + offset))


@case()
def boxes_are_decoded():
    for name, words in (("knot", ()), ("instances", ()), ("knot", ("--quality", "contract"))):
        image = build(asset(name), "a.gfx12", *words)
        with open(image, "rb") as file:
            data = file.read()
        boxes = exported(image, "--what", "boxes")["boxes"]
        info = json.loads(good("info", image, "--json"))
        children = sum(i * n for i, n in enumerate(info["box_nodes_by_children"]))
        check_eq(len(boxes), children, "as many as children of box nodes")
        for box in boxes:
            at = int(box["node"], 16)
            origin = struct.unpack_from("<3f", data, at + 12)
            exponents = data[at + 24:at + 27]
            a, b, c = struct.unpack_from("<3I", data, at + 32 + 12 * box["child"])
            low = (a & 0xFFF, a >> 12 & 0xFFF, b & 0xFFF)
            high = (b >> 12 & 0xFFF, c & 0xFFF, c >> 12 & 0xFFF)
            for k in range(3):
                check_eq(single(box["lo"][k]), plane(origin[k], exponents[k], low[k]), "lo")
                check_eq(single(box["hi"][k]), plane(origin[k], exponents[k], high[k] + 1), "hi")


@case()
def depths_and_colours():
    image = build(asset("knot"), "a.gfx12")
    boxes = exported(image, "--what", "boxes")["boxes"]
    depths = sorted({b["depth"] for b in boxes})
    # The root has 0, the instance 1; the root of the bottom level, 2, is in no box node but in the instance.
    check_eq(depths, [1] + list(range(3, max(depths) + 1)))
    some = exported(image, "--what", "boxes", "--depth", "2..4")["boxes"]
    check_eq(some, [b for b in boxes if 2 <= b["depth"] <= 4])
    check_eq(exported(image, "--what", "boxes", "--depth", "3")["boxes"], [b for b in boxes if b["depth"] == 3])
    check_eq(exported(image, "--what", "boxes", "--depth", "3..")["boxes"], [b for b in boxes if b["depth"] >= 3])
    good("export", image, "-o", path("b.glb"), "--what", "boxes", "--quiet")
    document, read = glb("b.glb")
    seen = {}
    for mesh in document["meshes"]:
        for p in mesh["primitives"]:
            check_eq(p["mode"], 1, "lines")
            material = document["materials"][p["material"]]
            corners, edges = read(p["attributes"]["POSITION"]), read(p["indices"])
            check_eq(len(edges), 3 * len(corners), "twelve edges of eight corners")
            depth = int(material["name"].split()[1])
            colour = tuple(material["pbrMetallicRoughness"]["baseColorFactor"])
            seen.setdefault(colour, set()).add(depth)
            want = [b for b in boxes if b["depth"] == depth and mesh["name"] == "level at 0x%x" % (0 if b["level"] == 0 else 256)]
            check_eq(len(corners), 8 * len(want), "boxes of a depth")
            for i, box in enumerate(want):
                lo, hi = ([single(x) for x in box[n]] for n in ("lo", "hi"))
                for c in range(8):
                    check_eq(corners[8 * i + c], tuple(hi[k] if c >> k & 1 else lo[k] for k in range(3)))
    check_eq((len(seen), all(len(d) == 1 for d in seen.values())), (len(depths), True), "a colour for each depth")


@case()
def oriented_boxes_and_procedural_ones():
    image = build(asset("knot"), "a.gfx12", "--obb")
    turned = [b for b in exported(image, "--what", "boxes")["boxes"] if "obb" in b]
    check(turned, "oriented boxes")
    good("export", image, "-o", path("b.obj"), "--what", "boxes,triangles,instances", "--quiet")
    with open(path("b.obj"), encoding="utf-8") as file:
        text = file.read()
    check_eq((text.count("\nl "), text.count("\nf ")), (12 * (len(exported(image)["boxes"]) + 1), 4096))
    with open(path("boxes.json"), "w", encoding="utf-8") as file:
        json.dump({"aabbs": [{"min": [0, 1, 2], "max": [3, 4, 5], "primitive": 77}]}, file)
    good("build", "--aabbs", path("boxes.json"), "-o", path("p.gfx12"), "--quiet")
    found = [b for b in exported(path("p.gfx12"))["boxes"] if "primitive" in b]
    check_eq([(b["primitive"], b["lo"], b["hi"]) for b in found], [(77, [0, 1, 2], [3, 4, 5])])


@case()
def instances_in_instances():
    """A chain of levels, each with one instance of the next, that double the size of what they show."""
    with open(build(CUBE, "cube.gfx12", "--quality", "contract"), "rb") as file:
        cube = file.read()
    check_eq(struct.unpack_from("<Q", cube, 0x80 + 48)[0] & (1 << 45) - 1, 0x100 // 8, "the BLAS of the instance")
    for levels in (1, 2, 8, 9, 12):
        image = b""
        for i in range(levels):
            block = bytearray(cube[:0x100])
            for k in (0, 5, 10):  # world_to_object
                struct.pack_into("<f", block, 0x80 + 4 * k, 0.5)
            pointer = struct.unpack_from("<Q", block, 0x80 + 48)[0] >> 45 << 45 | (i + 1) * 0x100 // 8
            struct.pack_into("<Q", block, 0x80 + 48, pointer)
            image += block
        with open(path("nested.gfx12"), "wb") as file:
            file.write(image + cube[0x100:])
        result = facet("export", path("nested.gfx12"), "-o", path("nested.json"))
        check_eq(result.returncode, 0, result.stderr)
        with open(path("nested.json"), encoding="utf-8") as file:
            stored = json.load(file)
        check_eq((len(stored["levels"]), len(stored["instances"]), len(stored["triangles"])), (levels + 1, levels, 12))
        for form in ("obj", "glb"):
            name = path(f"nested{levels}.{form}")
            result = facet("export", path("nested.gfx12"), "-o", name)
            if levels > 8:
                check_eq((result.returncode, os.path.exists(name)), (2, False), f"{levels} levels as {form}")
                check("nested more than 8 deep" in result.stderr, result.stderr)
                continue
            check_eq(result.returncode, 0, result.stderr)
            shown = subprocess.run([FACET, "scene", "info", name], capture_output=True, text=True, timeout=600).stdout
            check(f"bounds 0 0 0 to {2 ** levels} {2 ** levels} {2 ** levels}" in shown, f"{levels} as {form}: {shown}")
            check("12 triangles" in shown, f"{levels} as {form}: {shown}")


@case()
def bad_requests():
    image = build(CUBE, "cube.gfx12")
    for words, message in (((), "expected -o FILE"), (("-o", path("x.png")), ".glb, .obj or .json"),
                           (("-o", path("x.glb"), "--what", "boxes,"), "--what"), (("-o", path("x.glb"), "--what", "box"), "--what"),
                           (("-o", path("x.glb"), "--depth", "4..2"), "--depth"), (("-o", path("x.glb"), "--depth", "a"), "--depth"),
                           (("-o", path("x.glb"), "--depth", "1...2"), "--depth"), (("-o", path("x.glb"), "--depth", ""), "--depth"),
                           (("-o", path("x.glb"), "--root", "0x1005"), "is not a node of the image")):
        result = facet("export", image, *words)
        check_eq((result.returncode, result.stdout), (2, ""), words)
        check(message in result.stderr and not os.path.exists(path("x.glb")), result.stderr)


main("gfx12_export")
