"""glTF animations through the program: node channels, skins and morph targets at a moment, against
values worked out here with quaternions and weighted sums, read from updatable BVH images by a
decoder of their nodes that is written here too."""
import json
import math
import base64
import os
import struct
import subprocess
import tempfile

from gltf_writer import TRIANGLE, Gltf, png
from harness import case, check, check_eq, main
from raw_image import read_image

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory(prefix="facet_animation_")
TIMES = (-1.0, 0.0, 0.25, 0.5, 0.9, 1.0, 1.3, 2.0, 2.999, 3.0, 7.5)


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, timeout=600)


def write(name, g):
    with open(path(name), "wb") as file:
        file.write(g.glb())
    return path(name)


# ---- what an image holds ----

def solve(m, v):
    """x with m x = v, by Cramer's rule."""
    def det(a):
        return sum(a[0][i] * (a[1][(i + 1) % 3] * a[2][(i + 2) % 3] - a[1][(i + 2) % 3] * a[2][(i + 1) % 3])
                   for i in range(3))
    return [det([[v[r] if c == k else m[r][c] for c in range(3)] for r in range(3)]) / det(m) for k in range(3)]


def triangles(file, *words):
    """World positions of the triangles of a scene with one instance per mesh, by primitive."""
    image = path("scene.gfx12")
    run = facet("bvh", "build", file, "-o", image, "--allow-update", *words)
    check_eq((run.returncode, run.stderr.decode()), (0, ""), f"build {words}")
    check_eq(facet("bvh", "check", image).returncode, 0, "check")
    return image_triangles(image)


def image_triangles(image):
    found, places = read_image(image)
    check_eq((len(places), len(found)), (1, 1), "instances, BLASes")
    m = places[0]["matrix"]
    return [[solve([m[0:3], m[4:7], m[8:11]], [p[k] - m[4 * k + 3] for k in range(3)]) for p in t["corners"]]
            for t in sorted(next(iter(found.values())), key=lambda t: t["primitive"])]


def check_near(found, wanted, what):
    for a, b in zip(sum(found, []), sum(wanted, []), strict=True):
        check(all(abs(x - y) <= 2e-6 * (1 + abs(y)) for x, y in zip(a, b, strict=True)), f"{what}: {a}, not {b}")


# ---- quaternions ----

def q_mul(a, b):
    (ax, ay, az, aw), (bx, by, bz, bw) = a, b
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def q_turn(q, v):
    n = math.sqrt(sum(c * c for c in q))
    q = [c / n for c in q]
    return q_mul(q_mul(q, (*v, 0)), (-q[0], -q[1], -q[2], q[3]))[:3]


def q_power(q, t):
    """The rotation of q (length 1) by t of its angle."""
    angle, length = math.acos(max(-1, min(1, q[3]))), math.sqrt(sum(c * c for c in q[:3]))
    scale = math.sin(angle * t) / length if length > 1e-12 else 0
    return (*(c * scale for c in q[:3]), math.cos(angle * t))


def slerp(a, b, t):
    """a (a^-1 b)^t, by the shorter way round: another formulation than that of appendix C."""
    if sum(x * y for x, y in zip(a, b)) < 0:
        b = [-c for c in b]
    return q_mul(a, q_power(q_mul((-a[0], -a[1], -a[2], a[3]), b), t))


def unit(*q):
    n = math.sqrt(sum(c * c for c in q))
    return [c / n for c in q]


def place(v, t=(0, 0, 0), r=(0, 0, 0, 1), s=(1, 1, 1)):
    return [a + b for a, b in zip(q_turn(r, [a * b for a, b in zip(v, s)]), t)]


# ---- channels ----

KEYS = [0.0, 1.0, 3.0]
MOVES = [[0, 0, 0], [4, -1, 2], [-3, 5, 1]]
TURNS = [unit(0, 0, 0, 1), unit(0.3, 0.4, -0.5, 0.2), unit(-0.6, 0.1, 0.7, -0.4)]  # the last two: dot < 0
SIZES = [[1, 1, 1], [2, 0.5, 1.5], [0.75, 3, 1]]


def segment(time):
    """Keyframe and fraction; past the ends, the end."""
    if time <= KEYS[0]:
        return 0, 0.0
    if time >= KEYS[-1]:
        return len(KEYS) - 1, 0.0
    k = max(i for i, key in enumerate(KEYS) if key <= time)
    return k, (time - KEYS[k]) / (KEYS[k + 1] - KEYS[k])


def linear(values, time, mix=None):
    k, u = segment(time)
    if u == 0:
        return values[k]
    return mix(values[k], values[k + 1], u) if mix else [(1 - u) * a + u * b
                                                       for a, b in zip(values[k], values[k + 1])]


def step(values, time):
    return values[segment(time)[0]]


def hermite(rows, time):
    """Cubic pieces by their four Bezier points, not by Hermite's polynomials."""
    k, u = segment(time)
    if u == 0:
        return rows[3 * k + 1]
    third = (KEYS[k + 1] - KEYS[k]) / 3
    p0, p3 = rows[3 * k + 1], rows[3 * k + 4]
    p1 = [a + third * b for a, b in zip(p0, rows[3 * k + 2])]
    p2 = [a - third * b for a, b in zip(p3, rows[3 * k + 3])]

    def mix(a, b):
        return [(1 - u) * x + u * y for x, y in zip(a, b)]
    q0, q1, q2 = mix(p0, p1), mix(p1, p2), mix(p2, p3)
    return mix(mix(q0, q1), mix(q1, q2))


def flat(rows):
    return [value for one in rows for value in one]


def add_channel(g, node, target, kind, values, how="LINEAR", component=5126, animation=0, keys=None, **more):
    one = g.json.setdefault("animations", [])
    while len(one) <= animation:
        one.append({"channels": [], "samplers": []})
    one[animation]["samplers"].append({"input": g.accessor(keys or KEYS, "SCALAR"), "interpolation": how,
                                       "output": g.accessor(values, kind, component, **more)})
    one[animation]["channels"].append({"sampler": len(one[animation]["samplers"]) - 1,
                                       "target": {"node": node, "path": target}})


def triangle_scene():
    g = Gltf()
    g.mesh({"POSITION": g.accessor(TRIANGLE, "VEC3")})
    return g


CORNERS = [TRIANGLE[0:3], TRIANGLE[3:6], TRIANGLE[6:9]]


@case()
def channels_move_nodes():
    tangents = [[(i * 7 % 5 - 2) / 3 + k / 4 for k in range(3)] for i in range(9)]
    moves = [MOVES[i // 3] if i % 3 == 1 else tangents[i] for i in range(9)]
    turns = [TURNS[i // 3] if i % 3 == 1 else [*tangents[i], 0.25] for i in range(9)]
    forms = {
        "LINEAR": (MOVES, TURNS, SIZES, linear, lambda v, t: linear(v, t, slerp)),
        "STEP": (MOVES, TURNS, SIZES, step, step),
        "CUBICSPLINE": (moves, turns, None, hermite, hermite),
    }
    for how, (t_rows, r_rows, s_rows, at, turn) in forms.items():
        g = triangle_scene()
        add_channel(g, 0, "translation", "VEC3", flat(t_rows), how)
        add_channel(g, 0, "rotation", "VEC4", flat(r_rows), how)
        if s_rows:
            add_channel(g, 0, "scale", "VEC3", flat(s_rows), how)
        file = write(f"{how}.glb", g)
        for time in TIMES:
            size = at(s_rows, time) if s_rows else (1, 1, 1)
            wanted = [[place(v, at(t_rows, time), turn(r_rows, time), size) for v in CORNERS]]
            check_near(triangles(file, "--time", time), wanted, f"{how} at {time}")


@case()
def parents_and_rest_values_count():
    g = triangle_scene()
    g.json["nodes"] = [{"children": [1], "translation": [1, 2, 3], "rotation": TURNS[1]},
                       {"mesh": 0, "scale": [2, 3, 4], "translation": [9, 9, 9]}]
    add_channel(g, 0, "rotation", "VEC4", flat(TURNS))
    add_channel(g, 1, "translation", "VEC3", flat(MOVES), "STEP")
    file = write("tree.glb", g)
    for time in TIMES:
        inner = [place(v, step(MOVES, time), s=(2, 3, 4)) for v in CORNERS]
        wanted = [[place(v, (1, 2, 3), linear(TURNS, time, slerp)) for v in inner]]
        check_near(triangles(file, "--time", time), wanted, f"tree at {time}")
    rest = [[place(place(v, (9, 9, 9), s=(2, 3, 4)), (1, 2, 3), TURNS[1]) for v in CORNERS]]
    run = facet("bvh", "build", file, "-o", path("rest.gfx12"), "--allow-update")
    check(b"left out: animations" in run.stderr and b"--time" in run.stderr, run.stderr)
    check_near(image_triangles(path("rest.gfx12")), rest, "rest pose")


@case()
def animations_are_chosen_by_name_or_number():
    g = triangle_scene()
    add_channel(g, 0, "translation", "VEC3", flat(MOVES))
    add_channel(g, 0, "scale", "VEC3", flat(SIZES), animation=1)
    g.json["animations"][1]["name"] = "grow"
    file = write("two.glb", g)
    moved = [[place(v, MOVES[1]) for v in CORNERS]]
    grown = [[place(v, s=SIZES[1]) for v in CORNERS]]
    check_near(triangles(file, "--time", 1), moved, "the first")
    check_near(triangles(file, "--time", 1, "--animation", 0), moved, "number 0")
    check_near(triangles(file, "--time", 1, "--animation", 1), grown, "number 1")
    check_near(triangles(file, "--time", 1, "--animation", "grow"), grown, "by name")
    for words, message in ((("--time", "1", "--animation", "shrink"), "no animation \"shrink\""),
                           (("--animation", "2"), "number below 2"), (("--time", "soon"), "--time soon"),
                           (("--time", "nan"), "--time nan")):
        run = facet("bvh", "build", file, "-o", path("no.gfx12"), *words)
        check_eq((run.returncode, os.path.exists(path("no.gfx12"))), (2, False), words)
        check(message in run.stderr.decode(), run.stderr)


@case()
def normalized_integers_are_values():
    g = triangle_scene()
    turns = [[round(32767 * c) for c in q] for q in TURNS]
    add_channel(g, 0, "rotation", "VEC4", flat(turns), component=5122, normalized=True)
    file = write("short.glb", g)
    for time in (0.5, 1, 2.5):
        real = [[max(c / 32767, -1) for c in q] for q in turns]
        wanted = linear(real, time, lambda a, b, u: slerp(unit(*a), unit(*b), u))
        found = triangles(file, "--time", time)
        check(all(abs(x - y) < 2e-4 for a, b in zip(found[0], [place(v, r=wanted) for v in CORNERS])
                  for x, y in zip(a, b)), f"{found} at {time}")


# ---- skins and morph targets ----

@case()
def skins_bend_with_their_joints():
    g = Gltf()
    points = [[0, 0, 0], [0, 1, 0], [1, 0, 0], [0, 2, 1]]
    weights = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.25, 0.75, 0, 0], [0, 1, 0, 0]]
    joints = [[0, 1, 0, 0]] * 4
    bind = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 1]]
    g.mesh({"POSITION": g.accessor(flat(points), "VEC3"),
            "JOINTS_0": g.accessor(flat(joints), "VEC4", 5121),
            "WEIGHTS_0": g.accessor([round(255 * w) for w in flat(weights)], "VEC4", 5121, normalized=True)},
           indices=g.accessor([0, 1, 2, 1, 2, 3], "SCALAR", 5123))
    g.json["scenes"] = [{"nodes": [0, 1]}]
    g.json["nodes"] = [{"mesh": 0, "skin": 0, "translation": [50, 0, 0]},
                       {"children": [2], "translation": [0.5, 0, 0]}, {"translation": [0, 1, 0]}]
    g.json["skins"] = [{"joints": [1, 2], "inverseBindMatrices": g.accessor(flat(bind), "MAT4")}]
    add_channel(g, 1, "translation", "VEC3", flat(MOVES))
    add_channel(g, 2, "rotation", "VEC4", flat(TURNS))
    file = write("skin.glb", g)
    stored = [[round(255 * w) / 255 for w in row] for row in weights]
    for time in TIMES:
        def posed(i):
            v, turn, root = points[i], linear(TURNS, time, slerp), linear(MOVES, time)
            both = [place(v, root), place(place([v[0], v[1] - 1, v[2]], (0, 1, 0), turn), root)]
            return [sum(w * p[k] for w, p in zip(stored[i], both)) for k in range(3)]
        wanted = [[posed(i) for i in row] for row in ((0, 1, 2), (1, 2, 3))]
        check_near(triangles(file, "--time", time), wanted, f"skin at {time}")


@case()
def weights_blend_morph_targets():
    rows = [[0, 0], [1, 0.5], [-0.5, 2]]
    deltas = [[0, 0, 1, 0, 2, 0, 3, 0, 0], [0, 0, 0, 0, 0, 4, 0, 0, 0]]
    for how in ("LINEAR", "STEP", "CUBICSPLINE"):
        g = triangle_scene()
        whole = g.accessor(deltas[0], "VEC3")
        g.json["accessors"].append({  # all zero but vertex 1
            "componentType": 5126, "count": 3, "type": "VEC3",
            "sparse": {"count": 1, "indices": {"bufferView": g.view(struct.pack("<H", 1)), "componentType": 5123},
                       "values": {"bufferView": g.view(struct.pack("<3f", 0, 0, 4))}}})
        g.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": whole},
                                                           {"POSITION": len(g.json["accessors"]) - 1}]
        g.json["meshes"][0]["weights"] = [1, 1]
        values = rows if how != "CUBICSPLINE" else [r if p == 1 else [p, -p] for r in rows for p in range(3)]
        add_channel(g, 0, "weights", "SCALAR", flat(values), how)
        file = write("morph.glb", g)
        for time in TIMES:
            now = {"LINEAR": linear, "STEP": step, "CUBICSPLINE": hermite}[how](values, time)
            wanted = [[[v[k] + sum(w * d[3 * i + k] for w, d in zip(now, deltas)) for k in range(3)]
                       for i, v in enumerate(CORNERS)]]
            check_near(triangles(file, "--time", time), wanted, f"{how} at {time}")


# ---- the commands ----

@case()
def updates_follow_an_animation():
    g = triangle_scene()
    add_channel(g, 0, "rotation", "VEC4", flat(TURNS))
    add_channel(g, 0, "scale", "VEC3", flat(SIZES))
    file, image, later = write("walk.glb", g), path("walk.gfx12"), path("later.gfx12")
    check_eq(facet("bvh", "build", file, "-o", image, "--allow-update", "--quiet").returncode, 0, "build")
    for time in TIMES:
        run = facet("bvh", "update", image, "--scene", file, "--time", time, "-o", later, "--json")
        check_eq(run.returncode, 0, run.stderr)
        report = json.loads(run.stdout)
        check(abs(report["sah_growth"] - (report["sah_after"] / report["sah_before"] - 1)) < 1e-9, report)
        check_eq(facet("bvh", "check", later, "--scene", file, "--time", time).returncode, 0, f"check at {time}")
        check_eq(facet("bvh", "check", later, "--scene", file, "--time", 0.123).returncode, 1, "another time")
        check_near(image_triangles(later), triangles(file, "--time", time), f"update to {time}")
    pictures = []
    for time in (0, 1):
        run = facet("render", file, "-o", path("p.png"), "--size", "32x32", "--spp", "1", "--quiet", "--time", time)
        check_eq(run.returncode, 0, run.stderr)
        with open(path("p.png"), "rb") as picture:
            pictures.append(picture.read())
    check(pictures[0] != pictures[1], "the picture does not move")
    bounds = [json.loads(facet("scene", "info", file, "--json", "--time", t).stdout)["hi"] for t in (0, 1)]
    check(bounds[0] != bounds[1], bounds)


@case()
def only_gltf_has_animations():
    with open(path("t.obj"), "w") as file:
        file.write("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    run = facet("bvh", "build", path("t.obj"), "-o", path("no.gfx12"), "--time", "1")
    check_eq(run.returncode, 2, "OBJ")
    check(b"t.obj: only glTF files have animations" in run.stderr, run.stderr)
    run = facet("bvh", "build", write("still.glb", triangle_scene()), "-o", path("no.gfx12"), "--time", "1")
    check(run.returncode == 2 and b"still.glb: the file has no animations" in run.stderr, run.stderr)


def damage(change, message):
    g = triangle_scene()
    add_channel(g, 0, "translation", "VEC3", flat(MOVES))
    change(g, g.json["animations"][0])
    run = facet("bvh", "build", write("bad.glb", g), "-o", path("bad.gfx12"), "--time", "1")
    text = run.stderr.decode()
    check_eq((run.returncode, os.path.exists(path("bad.gfx12"))), (2, False), f"{message}: {text}")
    check("bad.glb" in text and message in text, f"expected {message!r} in {text!r}")


@case()
def damaged_animations_are_refused():
    def twice(g, a):
        a["channels"].append(dict(a["channels"][0]))

    def output(kind, values, **more):
        def change(g, a):
            a["samplers"][0]["output"] = g.accessor(values, kind, **more)
        return change

    def times(*keys):
        def change(g, a):
            a["samplers"][0]["input"] = g.accessor(keys, "SCALAR")
        return change

    def put(where, key, value):
        return lambda g, a: {"sampler": a["samplers"][0], "channel": a["channels"][0], "animation": a,
                             "target": a["channels"][0]["target"], "node": g.json["nodes"][0],
                             "root": g.json}[where].update({key: value})
    damage(twice, "has a channel already")
    damage(output("VEC4", [0] * 12), "expected VEC3")
    damage(output("VEC3", [0] * 6), "2 values for 3 keyframes; expected 3")
    damage(output("VEC3", [0] * 8 + [math.inf]), "not finite")
    damage(times(0, 2, 2), "keyframe 2 is at 2 s")
    damage(times(-1, 2, 3), "keyframe 0 is at -1 s")
    damage(times(0, math.nan, 3), "keyframe 1")
    damage(put("sampler", "interpolation", "BOUNCE"), "\"BOUNCE\"")
    damage(put("sampler", "input", 99), "expected an index into accessors")
    damage(put("sampler", "output", None), "accessors")
    damage(put("channel", "sampler", 1), "channels[0].sampler: expected a number below 1")
    damage(put("channel", "target", 3), "expected an object")
    damage(put("target", "node", 5), "expected an index into nodes")
    damage(put("target", "path", "weights"), "no morph targets")
    damage(put("animation", "channels", [7]), "channels[0]: expected an object")
    damage(put("animation", "samplers", {}), "expected an array")
    damage(put("root", "animations", [1]), "animations[0]: expected an object")
    damage(put("node", "matrix", [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "an animation cannot move it")


@case()
def unknown_targets_are_left_out():
    g = triangle_scene()
    add_channel(g, 0, "translation", "VEC3", flat(MOVES))
    g.json["animations"][0]["channels"].append({"sampler": 0, "target": {"path": "pointer"}})
    run = facet("bvh", "build", write("pointer.glb", g), "-o", path("p.gfx12"), "--time", "1")
    check_eq(run.returncode, 0, run.stderr)
    check(b"left out: animation channels (animations[0].channels[1])" in run.stderr, run.stderr)


# ---- what building does not need ----

@case()
def building_needs_no_pictures():
    g = triangle_scene()
    g.json["images"] = [{"uri": "nowhere.png"}]
    g.json["textures"] = [{"source": 0}]
    g.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    g.json["meshes"][0]["primitives"][0]["material"] = 0
    file = write("no-picture.glb", g)
    check_near(triangles(file), [CORNERS], "without the picture")
    run = facet("render", file, "-o", path("p.png"), "--size", "8x8")
    check(run.returncode == 2 and b"nowhere.png" in run.stderr, run.stderr)
    g = triangle_scene()
    g.json["images"] = [{"bufferView": g.view(png(4, 4, (1, 2, 3))[:40]), "mimeType": "image/png"}]
    g.json["textures"] = [{"source": 0}]
    g.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    g.json["meshes"][0]["primitives"][0]["material"] = 0
    check_near(triangles(write("half-picture.glb", g)), [CORNERS], "with half a picture")


@case()
def vertices_that_are_nan_make_triangles_inactive():
    g = Gltf()
    points = [0, 0, 0, 1, 0, 0, 0, 1, 0, math.nan, 1, 0, 1, 1, 1]
    g.mesh({"POSITION": g.accessor(points, "VEC3")}, indices=g.accessor(
        [0, 1, 2, 3, 1, 2, 0, 3, 2, 0, 1, 3, 1, 4, 2], "SCALAR", 5123))
    file = write("inactive.glb", g)
    found = image_of(file, "--allow-update")
    check_eq((found["triangles"], found["inactive"]), (2, 3), "triangles, inactive")
    check_eq(triangles(file), [[points[0:3], points[3:6], points[6:9]], [points[3:6], points[12:15], points[6:9]]])
    run = facet("render", file, "-o", path("p.png"), "--size", "8x8")
    check(run.returncode == 2 and b"vertex 3 is not finite" in run.stderr, run.stderr)
    for bad in (math.inf, -math.inf):
        g.bin = g.bin.replace(struct.pack("<f", math.nan), struct.pack("<f", bad))
        run = facet("bvh", "build", write("infinite.glb", g), "-o", path("no.gfx12"))
        check(run.returncode == 2 and b"infinite.glb: the scene is larger" in run.stderr, run.stderr)
        g.bin = g.bin.replace(struct.pack("<f", bad), struct.pack("<f", math.nan))


@case()
def check_knows_inactive_triangles():
    """Any corner that is NaN makes a triangle inactive, and with its scene an image has no gaps in its numbers."""
    g = Gltf()
    points = [0, 0, 0, 1, 0, 0, 0, 1, 0, math.nan, 1, 0, 1, 1, 1]
    g.mesh({"POSITION": g.accessor(points, "VEC3")}, indices=g.accessor(
        [0, 1, 2, 3, 1, 2, 0, 3, 2, 0, 1, 3, 1, 4, 2], "SCALAR", 5123))
    file, image = write("gaps.glb", g), path("gaps.gfx12")
    for words in ((), ("--allow-update",), ("--quality", "contract")):
        check_eq(facet("bvh", "build", file, "-o", image, *words).returncode, 0, words)
        run = facet("bvh", "check", image, "--scene", file)
        check(run.returncode == 0 and b"0 errors, 0 warnings" in run.stdout, f"{words}: {run.stdout}")
        check(b"V41" in facet("bvh", "check", image).stdout, "without the scene there are gaps")
    # One that the scene has and the image lacks is found as before.
    g.bin = g.bin.replace(struct.pack("<f", math.nan), struct.pack("<f", 5))
    run = facet("bvh", "check", image, "--scene", write("whole.glb", g))
    check(run.returncode == 1 and b"3 triangles (1, 2, 3): of the scene, not in the image" in run.stdout, run.stdout)


@case()
def instances_that_vanish_and_come_back():
    """A scale of 0 hides an instance: an updatable image keeps it, out of sight, wherever it begins."""
    g = triangle_scene()
    g.mesh({"POSITION": g.accessor([c + 2 for c in TRIANGLE], "VEC3")})
    g.json["nodes"] = [{"mesh": 0}, {"mesh": 1, "translation": [7, 0, 0]}, {"mesh": 0, "translation": [0, 5, 0]}]
    g.json["scenes"] = [{"nodes": [0, 1, 2]}]
    add_channel(g, 1, "scale", "VEC3", [1, 1, 1, 0, 0, 0, 2, 1, 3])
    file, image, moved = write("vanish.glb", g), path("vanish.gfx12"), path("moved.gfx12")

    def masks(name):
        triangles, places = read_image(name)
        check_eq(sorted(len(t) for t in triangles.values()), [1, 1], "triangles")
        return [(p["user_data"], p["mask"]) for p in sorted(places, key=lambda p: p["user_data"])]

    def judged(name, time):
        run = facet("bvh", "check", name, "--scene", file, "--time", time)
        check(run.returncode == 0 and b"0 errors" in run.stdout, run.stdout)

    for start in (0, 1, 3):
        check_eq(facet("bvh", "build", file, "-o", image, "--allow-update", "--time", start, "-q").returncode, 0)
        judged(image, start)
        for time in (0, 0.5, 1, 2, 1, 3):
            run = facet("bvh", "update", image, "--scene", file, "--time", time, "-o", moved)
            check_eq(run.returncode, 0, run.stderr)
            check_eq(b"flattens" in run.stderr, time == 1, run.stderr)
            check_eq(masks(moved), [(0, 255), (1, 0 if time == 1 else 255), (2, 255)], f"{start} to {time}")
            judged(moved, time)
            ray = f"{7 + 2.25 / 2**20} {2.25 / 2**20} 60 0 0 -1"  # where it would be
            hit = json.loads(facet("bvh", "why", moved, "--brief", "--json", "--ray", ray).stdout)["hit"]
            check(hit is None, f"a ray meets what is not there: {hit}")
        run = facet("bvh", "check", moved, "--scene", file, "--time", 1)  # it is there at 3 s
        check(run.returncode == 1 and b"V51" in run.stdout, run.stdout)
    # Other images leave it out, under the same numbers, and can be updated as long as it is away.
    small, still = path("small.gfx12"), path("still.gfx12")
    check_eq(image_of(file, "--time", 1)["flat_instances"], 1)
    os.replace(path("scene.gfx12"), small)
    judged(small, 1)
    check_eq([p["user_data"] for p in sorted(json_instances(small), key=lambda p: p["user_data"])], [0, 2])
    check_eq(facet("bvh", "update", small, "--scene", file, "--time", 1, "-o", still).returncode, 0)
    run = facet("bvh", "update", small, "--scene", file, "--time", 0, "-o", path("no.gfx12"))
    check(run.returncode == 2 and b"1 BLASes, the scene 2" in run.stderr, run.stderr)
    # A scene of nothing else has an image only for updates.
    g.json["scenes"] = [{"nodes": [1]}]
    run = facet("bvh", "build", write("alone.glb", g), "-o", path("no.gfx12"), "--time", 1)
    check(run.returncode == 2 and b"flattened to nothing" in run.stderr, run.stderr)
    check(not os.path.exists(path("no.gfx12")), "nothing is written")
    check_eq(facet("bvh", "build", path("alone.glb"), "-o", image, "--time", 1, "--allow-update").returncode, 0)
    check_eq(facet("bvh", "update", image, "--scene", path("alone.glb"), "--time", 2, "-o", moved).returncode, 0)


@case()
def meshes_are_the_same_at_every_moment():
    """A mesh of two nodes, one of which is morphed: in the rest pose, by one animation and by another."""
    g = triangle_scene()
    g.json["nodes"] = [{"mesh": 0}, {"mesh": 0, "translation": [3, 0, 0]}, {"mesh": 0, "translation": [0, 3, 0]}]
    g.json["scenes"] = [{"nodes": [0, 1, 2]}]
    g.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": g.accessor([0, 0, 1, 0, 0, 2, 0, 0, 3], "VEC3")}]
    add_channel(g, 0, "translation", "VEC3", flat(MOVES))
    add_channel(g, 1, "weights", "SCALAR", [0, 1, 2], animation=1)
    file, image, moved = write("shared.glb", g), path("shared.gfx12"), path("moved.gfx12")
    poses = [(), ("--time", 1), ("--time", 1, "--animation", 1)]
    for first in poses:
        check_eq(facet("bvh", "build", file, "-o", image, "--allow-update", "-q", *first).returncode, 0, first)
        for second in poses:
            run = facet("bvh", "update", image, "--scene", file, "-o", moved, *second)
            check_eq(run.returncode, 0, f"{first} to {second}: {run.stderr}")
            check_eq(facet("bvh", "check", moved, "--scene", file, *second).returncode, 0, f"{first} to {second}")
            found, places = read_image(moved)
            heights = {p["user_data"]: max(c[2] for c in found[p["blas"]][0]["corners"]) for p in places}
            check_eq(heights, {0: 0, 1: 3 if len(second) == 4 else 0, 2: 0}, f"{first} to {second}")


def json_instances(image):
    name = path("instances.json")
    check_eq(facet("bvh", "export", image, "-o", name, "--what", "instances").returncode, 0)
    with open(name, encoding="utf-8") as file:
        return json.load(file)["instances"]


def image_of(file, *words):
    run = facet("bvh", "build", file, "-o", path("scene.gfx12"), "--json", *words)
    check_eq(run.returncode, 0, run.stderr)
    return json.loads(run.stdout)


@case()
def joints_that_are_hidden_or_apart():
    """Hidden joints still move what hangs on them; joints outside the scene have no place at all."""
    data = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + bytes(12) + struct.pack("<12f", *([1, 0, 0, 0] * 3))
    for hidden, roots in ((False, [0, 1]), (True, [0, 1]), (False, [0])):
        joint = {"translation": [5, 0, 0]}
        if hidden:
            joint["extensions"] = {"KHR_node_visibility": {"visible": False}}
        g = {"asset": {"version": "2.0"}, "extensionsUsed": ["KHR_node_visibility"],
             "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}],
             "bufferViews": [{"buffer": 0, "byteOffset": a, "byteLength": n} for a, n in ((0, 36), (36, 12), (48, 48))],
             "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                           {"bufferView": 1, "componentType": 5121, "count": 3, "type": "VEC4"},
                           {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4"}],
             "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2}}]}],
             "skins": [{"joints": [1]}], "nodes": [{"mesh": 0, "skin": 0}, joint], "scenes": [{"nodes": roots}], "scene": 0}
        with open(path("joint.gltf"), "w", encoding="utf-8") as file:
            json.dump(g, file)
        done = subprocess.run([FACET, "scene", "info", path("joint.gltf")], capture_output=True, text=True, timeout=60)
        if len(roots) == 1:
            check_eq(done.returncode, 2, done.stdout)
            check("nodes[1], is not in the scene" in done.stderr, done.stderr)
        else:
            check("bounds 5 0 0 to 6 1 0" in done.stdout, done.stdout)


main("animation")
