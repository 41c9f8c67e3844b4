"""`facet bvh why --expect` and `--brief` from outside: images with one field changed, by its bit position in
section 4, 7 or 8 of gfx12-semantics.md, and the answer that names it. The expected hits are computed here, from
the triangles of the scene in double precision."""
import json
import os
import re
import random
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
FOLDER = tempfile.TemporaryDirectory()
RAY = "-1 0.25 0.5 1 0.25 0.125"  # example 12: enters the cube through primitive 8 at t 1, leaves through 10 at t 2


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, "bvh", *map(str, words)], capture_output=True, text=True, timeout=600)


def built(name, scene, *options):
    result = facet("build", scene, "-o", path(name), "--quiet", *options)
    check_eq(result.returncode, 0, result.stderr)
    with open(path(name), "rb") as file:
        return bytearray(file.read())


def stored(data, name="damaged.gfx12"):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def why(image, expect, *words, ray=RAY, code=1):
    result = facet("why", image, "--ray", ray, "--expect", expect, "--json", *words)
    check_eq(result.returncode, code, result.stderr + result.stdout)
    return json.loads(result.stdout)


def lines(image, expect, *words, ray=RAY):
    text = facet("why", image, "--ray", ray, "--expect", expect, *words).stdout
    check_eq(len(text.splitlines()), 5, text)
    return text


def bits(data, at, lsb, width, value=None):
    """Bits of the dword at byte `at`; sets them when there is a value."""
    word, = struct.unpack_from("<I", data, at)
    mask = (1 << width) - 1
    if value is not None:
        struct.pack_into("<I", data, at, word & ~(mask << lsb) | (value & mask) << lsb)
    return word >> lsb & mask


def child(slot):
    """Byte of child `slot` of a box node: min_x 12, min_y 12, cull_flags 4 | min_z 12, max_x 12, cull_mask 8 | ..."""
    return 32 + 12 * slot


def cube():
    return built("cube.gfx12", CUBE, "--quality", "contract")


BLAS = 0x100  # root of the cube's only bottom level; its primitive node follows


@case()
def a_hit_is_told():
    cube()
    data = why(path("cube.gfx12"), "8", code=0)
    check_eq((data["as_expected"], data["fault"], data["rejected"], data["hit"]["primitive"]), (True, "none", None, 8))
    check_eq([(s["kind"], s["id"], s["offset"]) for s in data["path"]],
             [("box", "0x5", "0x0"), ("instance", "0x16", "0x80"), ("box", "0x5", "0x100"),
              ("primitive", "0x12", "0x180")])
    check_eq((data["path"][3]["pair"], data["path"][3]["triangle"]), (2, 0))
    check_eq(data["brute"]["agrees"], True)
    for expect in ("8,0", "8,0,0"):
        check_eq(why(path("cube.gfx12"), expect, code=0)["as_expected"], True)
    moved = built("moved.gfx12", CUBE, "--quality", "contract", "--base", "0x7f0000000000")
    data = why(stored(moved), "8", "--base", "0x7f0000000000", code=0)
    check_eq([s["address"] for s in data["path"]],
             ["0x7f0000000000", "0x7f0000000080", "0x7f0000000100", "0x7f0000000180"])
    check("(address 0x7f0000000100)" in lines(path("damaged.gfx12"), "8", "--base", "0x7f0000000000"), "address")


@case()
def a_plane_moved_inwards():
    data = cube()
    at = BLAS + child(2)  # the side x = 0 with primitives 8 and 9; the ray meets it at y 1/2, z 5/8
    check_eq(bits(data, at, 12, 12), 0, "min_y")
    bits(data, at, 12, 12, 3072)  # y from 3/4
    answer = why(stored(data), "8")
    check_eq((answer["fault"], answer["rejected"]["step"], answer["rejected"]["by"]), ("box", 2, "box"))
    out = answer["hit_point_outside"]
    check_eq((out["axis"], out["side"], out["amount"], out["grid_steps"]), ("y", "below", 0.25, 1024.0))
    # y = 1/4 + t/4 reaches 3/4 at t 2; the box ends on x at 2^-12, t = 1 + 2^-12
    check_eq(answer["rejected"]["gap_t"], 2.0 - (1.0 + 2.0 ** -12))
    check_eq((answer["triangle"]["hit_by_itself"], answer["triangle"]["t"]), (True, 1.0))
    check_eq((answer["brute"]["agrees"], answer["brute"]["hit"]["primitive"], answer["hit"]["primitive"]), (False, 8, 10))
    check_eq((answer["triangle_outside"]["axis"], answer["triangle_outside"]["amount"]), ("y", 0.75))
    text = lines(path("damaged.gfx12"), "8")
    check("fault     box: the triangle itself is hit at t 1" in text and "DISAGREES" in text, text)
    check("1024 steps of the grid" in text, text)


@case()
def a_wrong_exponent():
    data = cube()
    exponent = bits(data, BLAS + 24, 8, 8)
    bits(data, BLAS + 24, 8, 8, exponent - 2)  # y: a quarter of the grid
    answer = why(stored(data), "8")
    check_eq((answer["fault"], answer["hit_point_outside"]["axis"], answer["hit_point_outside"]["side"]), ("box", "y", "above"))


@case()
def masks():
    data = cube()
    bits(data, BLAS + child(2) + 4, 24, 8, 0)
    answer = why(stored(data), "8")
    check_eq((answer["fault"], answer["blame"], answer["rejected"]["step"]), ("mask", "image", 2))
    data = cube()
    mask_at = 0x80 + 60  # user data 24 bits, mask
    check_eq(bits(data, mask_at, 24, 8), 0xFF, "mask of the instance")
    bits(data, mask_at, 24, 8, 0x0F)
    answer = why(stored(data), "8", "--mask", "0xF0")
    check_eq((answer["fault"], answer["blame"], answer["rejected"]["by"]), ("mask", "ray", "cull"))
    check("(0xf0) have no bit in common" in lines(path("damaged.gfx12"), "8", "--mask", "0xF0"), "text")


@case()
def flags():
    data = cube()
    bits(data, BLAS + child(2), 24, 4, 8)  # only procedural: a lie
    answer = why(stored(data), "8", "--flags", "0x200")
    check_eq((answer["fault"], answer["blame"], answer["path"][2]["cull"]), ("flags", "image", "SKIP_PROCEDURAL"))
    data = cube()
    bit = 1024 - 29 * 4 + 15  # pair 3: tri0_double_sided
    check(data[0x180 + bit // 8] >> bit % 8 & 1, "a triangle of an .obj file has two sides")
    data[0x180 + bit // 8] ^= 1 << bit % 8
    answer = why(stored(data), "10", "--flags", "0x10", ray=RAY + " 1.5 inf")
    check_eq((answer["fault"], answer["blame"], answer["triangle"]["cull"]), ("flags", "ray", "CULL_BACK_FACING"))
    check_eq((answer["rejected"]["step"], answer["path"][3]["verdict"]), (3, "cull"))
    answer = why(path("cube.gfx12"), "8", "--flags", "0x40")  # CULL_OPAQUE, at the first box
    check_eq((answer["fault"], answer["blame"], answer["rejected"]["step"]), ("flags", "ray", 0))


@case()
def a_stop_bit_too_early():
    def stop_bit(pair):
        return 1024 - 29 * (pair + 1)

    image = built("leaf.gfx12", CUBE, "--quality", "contract", "--prim-range", "16")
    answer = why(path("leaf.gfx12"), "8", code=0)
    node, pair = int(answer["path"][-1]["offset"], 16), answer["path"][-1]["pair"]
    check(pair > 0, "the triangle is not the first of its range")
    bit = stop_bit(pair - 1)
    image[node + bit // 8] |= 1 << bit % 8
    answer = why(stored(image), "8")
    check_eq((answer["fault"], answer["rejected"]["by"], answer["triangle"]["hit_by_itself"]), ("range", "range", True))
    check("stops at pair %d of the node at 0x%x" % (pair - 1, node) in lines(path("damaged.gfx12"), "8"), "text")


@case()
def the_ray():
    cube()
    image = path("cube.gfx12")
    answer = why(image, "8", ray=RAY + " 0 0.5")
    check_eq((answer["fault"], answer["hit"]), ("ray", None))
    check("not between 0 and 0.5" in lines(image, "8", ray=RAY + " 0 0.5"), "text")
    answer = why(image, "8", ray=RAY + " 1 inf")
    check_eq((answer["fault"], answer["rejected"]["by"]), ("ray", "interval"))
    answer = why(image, "9")  # the other half of the square
    check_eq((answer["fault"], answer["rejected"]["by"], answer["triangle"]["miss"], answer["triangle"]["outside"]),
             ("ray", "triangle", "not v >= 0", 0.125))
    answer = why(image, "10")
    check_eq((answer["fault"], answer["triangle"]["t"], answer["hit"]["t"]), ("nearer", 2.0, 1.0))
    answer = why(image, "8", ray="-1 5 0.5 1 0.25 0.125")
    check_eq((answer["fault"], answer["rejected"]["step"]), ("ray", 0))


@case()
def a_matrix_that_moves_the_triangle_away():
    data = cube()
    struct.pack_into("<f", data, 0x80 + 4 * 7, 3.0)  # y of the translation
    answer = why(stored(data), "8")
    check_eq((answer["fault"], answer["triangle_outside"]["axis"], answer["triangle_outside"]["side"]),
             ("transform", "y", "below"))
    check(abs(answer["triangle_outside"]["amount"] - 3.0) < 1e-3, "amount")


@case()
def what_is_not_there():
    cube()
    answer = why(path("cube.gfx12"), "12")
    check_eq((answer["present"], answer["fault"], answer["path"]), (False, "absent", []))
    check_eq((answer["image"]["triangles"], answer["image"]["primitives"]), (12, [0, 11]))
    check("12 triangles, 0 procedural boxes, primitives 0 to 11, geometry 0, instance 0" in
          lines(path("cube.gfx12"), "12"), "text")
    for expect in ("8,1", "8,0,1"):
        check_eq(why(path("cube.gfx12"), expect)["present"], False)
    # A child less: the blocks of the lost subtree are found.
    grid = path("grid.obj")
    with open(grid, "w", encoding="utf-8") as file:
        for i in range(33 * 33):
            file.write("v %d %d %d\n" % (i % 33, i // 33, i * 7 % 5))
        for i in range(32 * 32):
            a = i // 32 * 33 + i % 32 + 1
            file.write("f %d %d %d\nf %d %d %d\n" % (a, a + 1, a + 33, a + 1, a + 34, a + 33))
    data = built("grid.gfx12", grid, "--quality", "contract")
    root = 0x100
    count = bits(data, root + 24, 28, 4)
    bits(data, root + 24, 28, 4, count - 1)
    image = stored(data)
    lost = [n for n in range(0, 2048, 97) if not why(image, n, ray="50 50 9 0 0 -1", code=1)["present"]]
    check(lost, "some triangle is lost")
    answer = why(image, lost[0], ray="50 50 9 0 0 -1")
    check_eq(answer["fault"], "lost")
    check(int(answer["lost_at"], 16) % 128 == 0, "offset of the block")


@case()
def several_copies_and_instances():
    random.seed(3)
    scene = path("two.gltf")
    points = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0)
    with open(path("two.bin"), "wb") as file:
        file.write(points)
    with open(scene, "w", encoding="utf-8") as file:
        json.dump({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
                   "nodes": [{"mesh": 0}, {"mesh": 0, "translation": [4, 0, 0]}],
                   "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
                   "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                                  "min": [0, 0, 0], "max": [1, 1, 0]}],
                   "bufferViews": [{"buffer": 0, "byteLength": 36}],
                   "buffers": [{"uri": "two.bin", "byteLength": 36}]}, file)
    built("two.gfx12", scene)
    ray = "4.25 0.25 1 0 0 -1"
    check_eq(why(path("two.gfx12"), "0", ray=ray, code=0)["hit"]["instance"], 1)
    check_eq(why(path("two.gfx12"), "0,0,1", ray=ray, code=0)["paths"], 1)
    answer = why(path("two.gfx12"), "0,0,0", ray=ray)
    check_eq((answer["fault"], answer["rejected"]["step"], answer["hit"]["instance"]), ("ray", 0, 1))
    answer = why(path("two.gfx12"), "0", ray="4.25 7 1 0 0 -1")
    check_eq((answer["paths"], answer["fault"]), (2, "ray"))


@case()
def trees_and_short_answers():
    cube()
    text = lines(path("cube.gfx12"), "9")
    check_eq([line.split()[0] for line in text.splitlines()], ["path", "rejected", "fault", "hit", "brute"])
    tree = facet("why", path("cube.gfx12"), "--ray", RAY, "--expect", "9", "--tree")
    check_eq(tree.returncode, 1)
    rows = tree.stdout.splitlines()
    check_eq([len(r) - len(r.lstrip()) for r in rows[:4]], [0, 2, 4, 6])
    check_eq([("REJECTED" in r, "passed" in r) for r in rows[:4]], [(False, True)] * 3 + [(True, False)])
    brief = facet("why", path("cube.gfx12"), "--ray", RAY, "--brief")
    check_eq((brief.returncode, len(brief.stdout.splitlines())), (0, 5), brief.stdout)
    check("hit       primitive 8, geometry 0, instance 0 at t 1" in brief.stdout, brief.stdout)
    data = cube()
    bits(data, BLAS + child(2) + 4, 24, 8, 0)
    answer = facet("why", stored(data), "--ray", RAY, "--brief", "--json")
    check_eq(answer.returncode, 1, "the traversal and all triangles one by one differ")
    answer = json.loads(answer.stdout)
    check_eq((answer["brute"]["agrees"], answer["hit"]["primitive"], answer["brute"]["hit"]["primitive"]), (False, 10, 8))


@case()
def the_traversal_as_a_tree():
    """The nodes are those of the whole explanation, in order, each below the one that named it."""
    image, nodes, hits, deepest = path("room.gfx12"), 0, 0, 0
    room = os.path.join(SOURCE, "assets/room.glb")
    built("room.gfx12", room)
    for pixel in ("3,3", "20,11", "31,17", "8,15", "25,6", "16,9"):
        ray = ("--pixel", pixel, "--size", "32x18", "--scene", room)
        whole = json.loads(facet("why", image, *ray, "--json", "--max", "100000").stdout)
        check_eq(json.loads(facet("why", image, *ray, "--json", "--tree", "--max", "100000").stdout), whole, "JSON")
        tree = facet("why", image, *ray, "--tree", "--max", "100000")
        check_eq(tree.returncode, 0, tree.stderr)
        *rows, last = tree.stdout.splitlines()
        check_eq([(r.split()[0], int(r.split()[1], 16), int(r.split()[3], 16)) for r in rows],
                 [(s["kind"], int(s["node"], 16), int(s["image_offset"], 16)) for s in whole["steps"]], pixel)
        above = []  # the path to the line: indent, what the node names
        for row, step in zip(rows, whole["steps"]):
            indent, kind = len(row) - len(row.lstrip()), step["kind"]
            while above and above[-1][0] >= indent:
                above.pop()
            check_eq(indent, above[-1][0] + 2 if above else 0, row)
            check(not above or step["node"] in above[-1][1], f"{row.strip()} is not named by the node above it")
            deepest = max(deepest, indent)
            if kind == "primitive":
                above[-1][1].append(step["next"])  # the range goes on beside it
                hits += row.count("HIT at t")
                check_eq(row.count("HIT at t"), sum(c["committed"] for c in step["candidates"]), row)
            else:
                above.append((indent, [*step["pushes"], step["next"]]))
            if kind == "box":
                met = [n for n in [step["next"], *step["pushes"][::-1]] if n not in (None, "0xffffffff")]
                check(f"  {len(met)} of {len(step['children'])} children met" in row, f"{row}: {met}")
                told = [step["children"][int(k)]["id"] for k in re.findall(r"(\d+) at t", row)]
                check_eq(told, met, f"nearest first: {row}")
        nodes += len(rows)
        result = whole["result"]
        check_eq("nothing" not in last, result["found"], last)
    check(nodes > 40 and hits > 3 and deepest >= 8, f"{nodes} nodes, {hits} hits, depth {deepest}")
    cube()
    some = facet("why", path("cube.gfx12"), "--ray", RAY, "--tree", "--max", "2").stdout.splitlines()
    check_eq((len(some), some[2]), (4, "... and 3 more nodes"))
    some = facet("why", path("cube.gfx12"), "--ray", RAY, "--tree", "--mask", "0").stdout.splitlines()
    check_eq(some[0], "box 0x00000005 at 0x0  0 of 1 children met; 1 culled")


@case()
def bad_questions():
    cube()
    image = path("cube.gfx12")
    for words, message in (
            (("--expect", "x"), "--expect is 'x'; expected PRIM"),
            (("--expect", ""), "expected PRIM"),
            (("--expect", "1,"), "expected PRIM"),
            (("--expect", "1,2,3,4"), "expected PRIM"),
            (("--expect", "-1"), "expected PRIM"),
            (("--expect", "4294967296"), "expected PRIM"),
            (("--expect", "1", "--brief"), "different questions"),
            (("--expect", "1", "--node", "5"), "different questions"),
            (("--brief", "--tree"), "--tree is a form"),
            (("--node", "5", "--tree"), "--tree is a form"),
            (("--tree", "--root", "0x1005"), "is not a node of the image"),
            (("--expect", "1", "--root", "0x1005"), "is not a node of the image")):
        result = facet("why", image, "--ray", RAY, *words)
        check_eq((result.returncode, result.stdout), (2, ""), words)
        check(message in result.stderr, result.stderr)


main("gfx12_why_expect")
