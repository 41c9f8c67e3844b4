"""A glTF mesh of several primitives is one bottom-level structure of several geometries; `extras.facet` and
options say what rays meet there. Read from images by a decoder that is written for the tests."""
import json
import os
import subprocess
import tempfile

from gltf_writer import Gltf
from harness import case, check, check_eq, main
from raw_image import read_image

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory(prefix="facet_geometries_")
FORCE_OPAQUE, FORCE_NON_OPAQUE, NO_CULL, FLIP, SKIP_PROCEDURAL = 1, 2, 4, 8, 512


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, timeout=600)


def write(g, name="scene.glb"):
    with open(path(name), "wb") as file:
        file.write(g.glb())
    return path(name)


def fan(x, y, count):
    """`count` triangles around a point, all different."""
    points = [[x, y, 0]] + [[x + 1 + i / 8, y + i / 4, i / 16] for i in range(count + 1)]
    return points, [(0, i + 1, i + 2) for i in range(count)]


# Triangles, the primitive's extras, the material, and what must come of it: (opaque, double-sided).
PARTS = [
    (3, None, None, (1, 0)),
    (1, {"opaque": False}, None, (0, 0)),
    (4, {"cullDisable": True}, None, (1, 1)),
    (2, {"opaque": True, "cullDisable": False}, {"alphaMode": "BLEND", "doubleSided": True}, (1, 0)),
    (5, None, {"alphaMode": "MASK", "doubleSided": True}, (0, 1)),
]


def parts_scene(nodes, parts=None, mesh_extras=None):
    g = Gltf()
    g.json["materials"], primitives, wanted = [], [], {}
    for number, (count, extras, material, (opaque, both)) in enumerate(parts or PARTS):
        points, rows = fan(3 * number, number, count)
        one = {"attributes": {"POSITION": g.accessor([c for p in points for c in p], "VEC3")},
               "indices": g.accessor([c for r in rows for c in r], "SCALAR", 5123)}
        if extras is not None:
            one["extras"] = {"facet": extras, "other": 1}
        if material is not None:
            one["material"] = len(g.json["materials"])
            g.json["materials"].append(material)
        primitives.append(one)
        wanted.update({(number, i): ([points[c] for c in row], opaque, both) for i, row in enumerate(rows)})
    g.json["meshes"] = [{"primitives": primitives}]
    if mesh_extras is not None:
        g.json["meshes"][0]["extras"] = {"facet": mesh_extras}
    g.json["nodes"], g.json["scenes"] = nodes, [{"nodes": list(range(len(nodes)))}]
    return g, wanted


def build(file, *words):
    run = facet("bvh", "build", file, "-o", path("scene.gfx12"), "--allow-update", "--json", *words)
    check_eq(run.returncode, 0, run.stderr)
    check_eq(facet("bvh", "check", path("scene.gfx12")).returncode, 0, "check")
    return json.loads(run.stdout), *read_image(path("scene.gfx12"))


def seen(triangles):
    found = {(t["geometry"], t["primitive"]): (t["corners"], t["opaque"], t["double_sided"]) for t in triangles}
    check_eq(len(found), len(triangles), "every triangle once")
    return found


@case()
def primitives_are_geometries_of_one_blas():
    g, wanted = parts_scene([{"mesh": 0}, {"mesh": 0, "translation": [0, 9, 0]}])
    report, triangles, instances = build(write(g))
    check_eq((report["bottom_levels"], report["triangles"], len(instances)), (1, 15, 2), "BLASes, triangles, instances")
    check_eq(seen(next(iter(triangles.values()))), wanted, "triangles")
    # The number of the first of an object's instances in the scene.
    check_eq(sorted((i["user_data"], i["mask"], i["flags"]) for i in instances),
             [(0, 255, SKIP_PROCEDURAL), (5, 255, SKIP_PROCEDURAL)], "instances")
    for quality in ("fast", "high", "contract"):  # compressed nodes
        run = facet("bvh", "build", write(g), "-o", path("packed.gfx12"), "--quality", quality, "--json")
        check_eq(json.loads(run.stdout)["bottom_levels"], 1, quality)
        check_eq(facet("bvh", "check", path("packed.gfx12")).returncode, 0, quality)


@case()
def primitives_that_are_not_triangles_keep_their_number():
    g, wanted = parts_scene([{"mesh": 0}])
    primitives = g.json["meshes"][0]["primitives"]
    primitives.insert(0, {"attributes": dict(primitives[0]["attributes"]), "mode": 0})
    primitives.insert(2, {"attributes": dict(primitives[0]["attributes"]), "mode": 1})
    numbers = [1, 3, 4, 5, 6]
    report, triangles, _ = build(write(g))
    check_eq(report["bottom_levels"], 1, "BLASes")
    check_eq(seen(next(iter(triangles.values()))), {(numbers[g], p): v for (g, p), v in wanted.items()}, "triangles")
    check_eq(facet("bvh", "update", path("scene.gfx12"), "--scene", write(g), "-o", path("same.gfx12"),
                   "--quiet").returncode, 0, "update")
    with open(path("scene.gfx12"), "rb") as a, open(path("same.gfx12"), "rb") as b:
        check(a.read() == b.read(), "an update to the same scene changed bytes")


@case()
def a_mesh_speaks_for_its_primitives():
    parts = [(2, None, None, (0, 1)), (2, {"opaque": True}, None, (1, 1)), (2, {"cullDisable": False}, None, (0, 0))]
    g, wanted = parts_scene([{"mesh": 0}], parts, {"opaque": False, "cullDisable": True})
    check_eq(seen(next(iter(build(write(g))[1].values()))), wanted, "triangles")


@case()
def nodes_say_what_rays_meet():
    rows = [({"mask": 3, "userData": 7}, (7, 3, 0)), ({"opaque": True}, (5, 255, FORCE_OPAQUE)),
            ({"opaque": False, "mask": 0}, (10, 0, FORCE_NON_OPAQUE)), ({"cullDisable": True}, (15, 255, NO_CULL)),
            ({"flip": True, "userData": 0xFFFFFF}, (0xFFFFFF, 255, FLIP)),
            ({"flip": False, "cullDisable": False}, (25, 255, 0)), (None, (30, 255, 0))]
    nodes = [{"mesh": 0, "translation": [0, 20 * i, 0], **({"extras": {"facet": e}} if e is not None else {})}
             for i, (e, _) in enumerate(rows)]
    g, _ = parts_scene(nodes)
    report, _, instances = build(write(g))
    check_eq(report["bottom_levels"], 1, "BLASes")
    by_place = sorted((-i["matrix"][7], (i["user_data"], i["mask"], i["flags"] & ~SKIP_PROCEDURAL)) for i in instances)
    check_eq([i for _, i in by_place], [wanted for _, wanted in rows], "instances")


@case()
def placements_of_a_node_share_what_it_says():
    g, wanted = parts_scene([{"mesh": 0, "extras": {"facet": {"mask": 9}}, "extensions": {"EXT_mesh_gpu_instancing": {
        "attributes": {}}}}])
    g.json["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"]["TRANSLATION"] = g.accessor(
        [0, 0, 0, 0, 30, 0, 0, 60, 0], "VEC3")
    report, triangles, instances = build(write(g))
    check_eq((report["bottom_levels"], [i["mask"] for i in instances]), (1, [9] * 3), "BLASes, masks")
    check_eq(sorted(i["user_data"] for i in instances), [0, 5, 10], "user data")
    check_eq(seen(next(iter(triangles.values()))), wanted, "triangles")


@case()
def options_go_before_the_scene():
    g, wanted = parts_scene([{"mesh": 0, "extras": {"facet": {"mask": 3, "userData": 7, "opaque": True}}}])
    file = write(g)

    def all_flags(*words):
        _, triangles, instances = build(file, *words)
        found = seen(next(iter(triangles.values())))
        check_eq({k: v[0] for k, v in found.items()}, {k: v[0] for k, v in wanted.items()}, "corners")
        one = instances[0]
        return ({v[1] for v in found.values()}, {v[2] for v in found.values()},
                (one["user_data"], one["mask"], one["flags"] & ~SKIP_PROCEDURAL))
    check_eq(all_flags(), ({0, 1}, {0, 1}, (7, 3, FORCE_OPAQUE)), "none")
    check_eq(all_flags("--opaque", "yes", "--cull-disable", "no"), ({1}, {0}, (7, 3, FORCE_OPAQUE)), "geometries")
    check_eq(all_flags("--opaque", "no", "--cull-disable", "yes"), ({0}, {1}, (7, 3, FORCE_OPAQUE)), "geometries")
    check_eq(all_flags("--force-opaque", "no", "--flip", "--mask", "0x80", "--user-data", "12"),
             ({0, 1}, {0, 1}, (12, 0x80, FORCE_NON_OPAQUE | FLIP)), "instances")
    # An update rewrites them too.
    for words in ((), ("--mask", "5", "--opaque", "no", "--user-data", "4")):
        check_eq(facet("bvh", "update", path("scene.gfx12"), "--scene", file, "-o", path("u.gfx12"), *words).returncode, 0)
        triangles, instances = read_image(path("u.gfx12"))
        check_eq((instances[0]["mask"], instances[0]["user_data"]), (5, 4) if words else (3, 7), "updated")
        check_eq({v[1] for v in seen(next(iter(triangles.values()))).values()}, {0} if words else {0, 1}, "opacity")
        run = facet("bvh", "check", path("u.gfx12"), "--scene", file, *words)
        check_eq(run.returncode, 0, run.stdout)
        check_eq(facet("bvh", "check", path("u.gfx12"), "--scene", file, "--mask", "6", "--opaque", "yes",
                       "--user-data", "3").returncode, 1, "other words")
    with open(path("boxes.json"), "w") as boxes:
        boxes.write('{"aabbs": [{"min": [0, 0, 0], "max": [1, 1, 1]}]}')
    run = facet("bvh", "build", "--aabbs", path("boxes.json"), "-o", path("b.gfx12"), "--mask", "6", "--user-data", "8")
    check_eq(run.returncode, 0, run.stderr)
    text = facet("bvh", "dump", path("b.gfx12")).stdout.decode()
    check("user data 0x000008  mask 0x06" in text, text)


@case()
def bad_values_are_refused():
    def damage(message, primitive=None, node=None, mesh=None, words=()):
        g, _ = parts_scene([{"mesh": 0, "extras": {"facet": node}} if node is not None else {"mesh": 0}],
                           [(1, primitive, None, (1, 0))], mesh)
        run = facet("bvh", "build", write(g, "bad.glb"), "-o", path("no.gfx12"), *words)
        text = run.stderr.decode()
        check_eq((run.returncode, os.path.exists(path("no.gfx12"))), (2, False), text)
        check(message in text, f"expected {message!r} in {text!r}")
    damage("bad.glb: meshes[0].primitives[0].extras.facet.opaque: expected true or false", primitive={"opaque": 1})
    damage("meshes[0].primitives[0].extras.facet.mask is unknown: expected opaque or cullDisable", primitive={"mask": 1})
    damage("meshes[0].extras.facet.flip is unknown", mesh={"flip": True})
    damage("meshes[0].extras.facet: expected an object", mesh=[])
    damage("nodes[0].extras.facet.mask: expected a whole number in 0..255", node={"mask": 256})
    damage("nodes[0].extras.facet.userData: expected a whole number in 0..16777215", node={"userData": -1})
    damage("nodes[0].extras.facet.userData", node={"userData": 1.5})
    damage("nodes[0].extras.facet.invisible is unknown", node={"invisible": True})
    damage("--mask 256: expected a number from 0 to 255", words=("--mask", "256"))
    damage("--user-data 0x1000000: expected", words=("--user-data", "0x1000000"))
    damage("--opaque", words=("--opaque", "perhaps"))


@case()
def pictures_do_not_change():
    plain, _ = parts_scene([{"mesh": 0}], [(c, None, m, f) for c, _, m, f in PARTS])
    told, _ = parts_scene([{"mesh": 0, "extras": {"facet": {"mask": 0, "userData": 99, "flip": True}}}])
    pictures = []
    for g in (plain, told):
        run = facet("render", write(g), "-o", path("p.png"), "--size", "40x24", "--spp", "1", "--quiet")
        check_eq(run.returncode, 0, run.stderr)
        with open(path("p.png"), "rb") as file:
            pictures.append(file.read())
    check(pictures[0] == pictures[1], "extras changed the picture")


main("geometries")
