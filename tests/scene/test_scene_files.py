"""Scene files through the program: the bundled assets, glTF features written here by hand, and
every kind of damage, which must end in a message and exit code 2."""
import base64
import json
import math
import os
import re
import resource
import signal
import struct
import subprocess
import tempfile

from gltf_writer import TRIANGLE, Gltf, png, triangle
from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.TemporaryDirectory(prefix="facet_scene_files_")


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words, data=None):
    return subprocess.run([FACET, *words], input=data, capture_output=True, timeout=600)


def put(name, data):
    with open(path(name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path(name)


def info(file):
    run = facet("scene", "info", file, "--json")
    check(run.returncode == 0, f"{file}: {run.stderr.decode()}")
    return json.loads(run.stdout)


def check_refused(file, message):
    run = facet("scene", "info", file)
    text = run.stderr.decode(errors="replace")
    check_eq(run.returncode, 2, f"exit code ({text.strip()})")
    check(message in text, f"expected {message!r} in {text!r}")
    check(os.path.basename(file) in text, f"the message does not name the file: {text!r}")
    check_eq(run.stdout, b"", "standard output")


# ---- the bundled scenes ----

def recipes():
    with open(os.path.join(SOURCE, "assets", "README.md")) as file:
        return re.findall(r"^facet (scene make .*) -o (assets/\S+)$", file.read(), re.M)


@case()
def bundled_scenes_are_reproducible_and_small():
    found = recipes()
    check(len(found) >= 7, "recipes in assets/README.md")
    for words, target in found:
        run = facet(*words.split(), "-o", path("again.glb"))
        check_eq(run.returncode, 0, words)
        with open(os.path.join(SOURCE, target), "rb") as a, open(path("again.glb"), "rb") as b:
            wanted = a.read()
            check(wanted == b.read(), f"{target} differs from what `{words}` makes")
        check(len(wanted) < 300 * 1024, f"{target} has {len(wanted)} bytes")


def every_asset():
    folder = os.path.join(SOURCE, "assets")
    return sorted(f for f in os.listdir(folder) if f.endswith((".glb", ".gltf", ".obj")))


def check_asset(name):
    scene = info(os.path.join(SOURCE, "assets", name))
    check(scene["triangles"] >= 6, f"{scene['triangles']} triangles")
    check(scene["instanced_triangles"] >= scene["triangles"], "instanced triangles")
    check(all(a < b or (name == "uv.glb" and i == 2)
              for i, (a, b) in enumerate(zip(scene["lo"], scene["hi"]))), "bounds")
    check_eq(scene["warnings"], [], "warnings")
    check(len(scene["cameras"]) >= 1 and len(scene["lights"]) >= 1, "camera and light")


for asset in every_asset():
    add_case(f"asset_{asset.replace('.', '_')}", lambda name=asset: check_asset(name))


@case()
def asset_contents():
    room = info(os.path.join(SOURCE, "assets/room.glb"))
    check_eq(len(room["textures"]), 3, "textures")
    check_eq(room["mirrored_instances"], 18, "mirrored instances")
    check("mask" in [m["alpha"] for m in room["materials"]], "an alpha-tested material")
    check_eq(info(os.path.join(SOURCE, "assets/instances.glb"))["instances"], 1024, "instances")
    crate = info(os.path.join(SOURCE, "assets/crate.obj"))
    check_eq((crate["triangles"], crate["vertices"]), (12, 24), "crate")
    check_eq(crate["materials"][crate["meshes"][0]["material"]]["base_texture"]["texture"], 0, "texture")


@case()
def scenes_from_standard_input():
    with open(os.path.join(SOURCE, "assets/boxes.glb"), "rb") as file:
        run = facet("scene", "info", "-", "--json", data=file.read())
    check_eq(json.loads(run.stdout)["instances"], 8, "instances")
    run = facet("scene", "make", "uv", "-o", "-")
    check_eq(run.stdout[:4], b"glTF", "start of the file")


@case()
def make_refuses_bad_requests():
    for words in (["teapot", "-o", path("x.glb")], ["knot"], ["knot", "-o", path("x.glb"), "--size", "3"],
                  ["knot", "-o", path("x.glb"), "--size", "many"], ["knot", "-o", "/nonexistent/x.glb"]):
        run = facet("scene", "make", *words)
        check_eq(run.returncode, 2, " ".join(words))
        check(run.stderr.startswith(b"facet scene make"), run.stderr.decode())
    check(not os.path.exists(path("x.glb")), "nothing was written")


# ---- glTF features ----

def single(g, name="f.glb"):
    return info(put(name, g.glb()))


@case()
def primitive_modes():
    for mode, count, expected in ((4, 6, 2), (5, 6, 4), (6, 6, 4), (4, 7, 2), (5, 2, 0)):
        g = Gltf()
        g.mesh({"POSITION": g.accessor([float(i * i % 7) for i in range(3 * count)], "VEC3")}, mode=mode)
        if expected == 0:
            check_refused(put("f.glb", g.glb()), "no triangles")
        else:
            check_eq(single(g)["triangles"], expected, f"triangles of mode {mode}")
    g = triangle()
    g.json["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0}, "mode": 1})
    scene = single(g)
    check_eq((scene["triangles"], len(scene["warnings"])), (1, 1), "lines are left out with a warning")


@case()
def index_widths_and_interleaving():
    for component in (5121, 5123, 5125):
        g = Gltf()
        g.mesh({"POSITION": g.accessor(TRIANGLE, "VEC3")},
               indices=g.accessor([2, 1, 0], "SCALAR", component))
        check_eq(single(g)["triangles"], 1, f"component {component}")
    g = Gltf()
    data = b"".join(struct.pack("<3f2f", *TRIANGLE[3 * i:3 * i + 3], 9, 9) for i in range(3))
    view = g.view(data, byteStride=20)
    g.json["accessors"] = [
        {"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"},
        {"bufferView": view, "byteOffset": 12, "componentType": 5126, "count": 3, "type": "VEC2"}]
    g.mesh({"POSITION": 0, "TEXCOORD_0": 1})
    scene = single(g)
    check_eq((scene["lo"], scene["hi"]), ([0, 0, 0], [1, 1, 0]), "bounds")


@case()
def quantized_positions():
    for component, values, scale in ((5123, [0, 0, 0, 65535, 0, 0, 0, 65535, 0], 1),
                                     (5122, [0, 0, 0, 32767, 0, 0, 0, -32768, 0], 1),
                                     (5121, [0, 0, 0, 255, 0, 0, 0, 255, 0], 1),
                                     (5120, [0, 0, 0, 127, 0, 0, 0, -128, 0], 1)):
        g = Gltf()
        g.json["extensionsRequired"] = ["KHR_mesh_quantization"]
        g.mesh({"POSITION": g.accessor(values, "VEC3", component, normalized=True)})
        scene = single(g)
        low = -1.0 if min(values) < 0 else 0.0
        check_eq((scene["lo"], scene["hi"]), ([0, low, 0], [scale, 0 if low else 1, 0]), "normalised")
        g.json["accessors"][0]["normalized"] = False
        check_eq(single(g)["hi"][0], max(values), "not normalised")


@case()
def sparse_and_zero_accessors():
    g = triangle()
    g.json["accessors"][0]["sparse"] = {
        "count": 1, "indices": {"bufferView": g.view(b"\x01"), "componentType": 5121},
        "values": {"bufferView": g.view(struct.pack("<3f", 5, 6, 7))}}
    check_eq(single(g)["hi"], [5, 6, 7], "sparse over data")
    del g.json["accessors"][0]["bufferView"]
    scene = single(g)
    check_eq((scene["lo"], scene["hi"]), ([0, 0, 0], [5, 6, 7]), "sparse over zeros")


@case()
def node_tree_and_matrices():
    g = triangle()
    g.json["scenes"][0]["nodes"] = [1]
    g.json["nodes"] = [{"mesh": 0, "translation": [10, 0, 0]},
                       {"children": [0, 2], "rotation": [0, 0, math.sqrt(0.5), math.sqrt(0.5)]},
                       {"mesh": 0, "scale": [-2, 1, 1]}]
    scene = single(g)
    check_eq((scene["instances"], scene["mirrored_instances"]), (2, 1), "instances")
    check_eq(len(scene["meshes"]), 1, "the mesh is shared")
    # A quarter turn about Z: (x, y) becomes (-y, x).
    check([round(v, 4) for v in scene["lo"] + scene["hi"]] == [-1, -2, 0, 0, 11, 0], f"{scene['lo']} {scene['hi']}")
    g.json["nodes"][2] = {"mesh": 0, "matrix": [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 3, 1]}
    check_eq(round(single(g)["hi"][2], 4), 3, "matrix translation")
    g.json["nodes"][2]["matrix"] = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]
    scene = single(g)
    check_eq((scene["instances"], len(scene["warnings"])), (1, 1), "singular instances are left out")
    del g.json["scenes"], g.json["scene"]
    check_eq(single(g)["instances"], 1, "a file without scenes shows its roots")


@case()
def gpu_instancing():
    g = triangle()
    g.json["nodes"][0]["translation"] = [0, 0, 1]
    g.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {
        "TRANSLATION": g.accessor([0, 0, 0, 10, 0, 0, 0, 10, 0], "VEC3"),
        "ROTATION": g.accessor([0, 0, 0, 127, 0, 0, 127, 0, 0, 0, 0, 127], "VEC4", 5120, normalized=True),
        "SCALE": g.accessor([1, 1, 1, 2, 2, 2, 1, -1, 1], "VEC3")}}}
    scene = single(g)
    check_eq((scene["instances"], scene["mirrored_instances"]), (3, 1), "instances")
    # The second is turned by half a turn and doubled: it reaches from 8 to 10 and down to -2.
    check([round(v, 5) for v in scene["lo"] + scene["hi"]] == [0, -2, 1, 10, 10, 1], f"{scene['lo']} {scene['hi']}")


def textured(g, **info_more):
    g.json["images"] = [{"bufferView": g.view(png(4, 2, (255, 0, 0))), "mimeType": "image/png"}]
    g.json["textures"] = [{"source": 0}]
    g.json["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, **info_more}}}]
    g.json["meshes"][0]["primitives"][0]["material"] = 0
    return g


@case()
def materials_and_samplers():
    g = textured(triangle(), texCoord=3)
    g.json["samplers"] = [{"wrapS": 33071, "wrapT": 33648, "magFilter": 9728, "minFilter": 9985}]
    g.json["textures"][0]["sampler"] = 0
    g.json["materials"][0].update(
        alphaMode="MASK", alphaCutoff=0.25, doubleSided=True, emissiveFactor=[1, 0.5, 0],
        extensions={"KHR_materials_unlit": {}, "KHR_materials_emissive_strength": {"emissiveStrength": 4}})
    g.json["materials"][0]["pbrMetallicRoughness"].update(baseColorFactor=[0.5, 0.25, 1, 0.75], metallicFactor=0.5)
    m = single(g)["materials"][0]
    use = m["base_texture"]
    check_eq((use["uv_set"], use["wrap_u"], use["wrap_v"], use["magnify"], use["minify"]),
             (3, "clamp", "mirror", "nearest", "linear"), "sampler")
    check_eq((m["alpha"], m["alpha_cutoff"], m["double_sided"], m["unlit"]), ("mask", 0.25, True, True), "flags")
    check_eq((m["base_color"], m["emissive"], m["metallic"]), ([0.5, 0.25, 1, 0.75], [4, 2, 0], 0.5), "numbers")


@case()
def texture_transform():
    g = textured(triangle(), extensions={"KHR_texture_transform": {
        "offset": [0.1, 0.2], "rotation": math.pi / 2, "scale": [2, 3], "texCoord": 1}})
    use = single(g)["materials"][0]["base_texture"]
    # (u, v) is scaled to (2u, 3v), turned to (3v, -2u), moved.
    check([round(v, 6) + 0 for v in use["matrix"]] == [0, 3, 0.1, -2, 0, 0.2], f"{use['matrix']}")
    check_eq(use["uv_set"], 1, "UV set")


@case()
def vertex_colours_and_uv_sets():
    g = triangle()
    attributes = g.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["COLOR_0"] = g.accessor([255, 0, 0, 0, 255, 0, 0, 0, 255], "VEC3", 5121, normalized=True)
    attributes["TEXCOORD_0"] = g.accessor([0, 0, 255, 0, 0, 255], "VEC2", 5121, normalized=True)
    attributes["TEXCOORD_1"] = g.accessor([0, 0, 1, 0, 0, 1], "VEC2")
    mesh = single(g)["meshes"][0]
    check_eq((mesh["colors"], mesh["uv_sets"], mesh["normals"]), (True, 2, False), "attributes")


@case()
def cameras_and_lights():
    g = triangle()
    turn = [0, math.sqrt(0.5), 0, math.sqrt(0.5)]
    g.json["scenes"][0]["nodes"] = [0, 1, 2, 3]
    g.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 0.5, "znear": 0.1, "aspectRatio": 2}},
                         {"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 3, "znear": 0, "zfar": 9}}]
    g.json["extensions"] = {"KHR_lights_punctual": {"lights": [
        {"type": "spot", "color": [1, 0.5, 0], "intensity": 7, "range": 20, "spot": {"outerConeAngle": 0.5}}]}}
    g.json["nodes"] += [{"camera": 0, "translation": [1, 2, 3], "scale": [4, 4, 4]}, {"camera": 1},
                        {"rotation": turn, "extensions": {"KHR_lights_punctual": {"light": 0}}}]
    scene = single(g)
    one, two = scene["cameras"]
    check_eq((one["kind"], one["y_fov"], one["aspect"], one["derived"]), ("perspective", 0.5, 2, False), "camera 0")
    check_eq(one["transform"], [1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3], "axes have length 1")
    check_eq((two["kind"], two["x_mag"], two["y_mag"]), ("orthographic", 2, 3), "camera 1")
    light = scene["lights"][0]
    check_eq((light["kind"], light["intensity"], light["range"], light["outer_cone"]), ("spot", 7, 20, 0.5), "light")
    check([round(v, 6) + 0 for v in light["direction"]] == [-1, 0, 0], f"{light['direction']}")


@case()
def skins_rest_in_their_pose():
    g = triangle()
    attributes = g.json["meshes"][0]["primitives"][0]["attributes"]
    attributes["JOINTS_0"] = g.accessor([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], "VEC4", 5121)
    attributes["WEIGHTS_0"] = g.accessor([1, 0, 0, 0, 1, 0, 0, 0, 0.5, 0.5, 0, 0], "VEC4")
    bind = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -1, 1]  # moves by -1 in z
    g.json["skins"] = [{"joints": [1, 2], "inverseBindMatrices": g.accessor(bind + bind, "MAT4")}]
    g.json["nodes"] = [{"mesh": 0, "skin": 0, "translation": [100, 100, 100]},
                       {"children": [2]}, {"translation": [0, 4, 0]}]
    g.json["scenes"][0]["nodes"] = [0, 1]
    scene = single(g)
    # Vertex 1 follows joint 1 (up by 4), vertex 2 half way (up by 2); all move by -1 in z.
    check_eq((scene["lo"], scene["hi"]), ([0, 0, -1], [1, 4, -1]), "bounds in the pose")
    # A second primitive and a second node find the skin read: what it has too much is noted once.
    g.json["skins"][0]["mood"] = 1
    g.json["meshes"][0]["primitives"].append(dict(g.json["meshes"][0]["primitives"][0]))
    g.json["nodes"].append({"mesh": 0, "skin": 0})
    g.json["scenes"][0]["nodes"].append(3)
    notes = single(g)["left_out"]
    moods = [n for n in notes if "mood" in n["what"]]
    check_eq([n["count"] for n in moods], [1], f"{notes}")


@case()
def morph_targets_use_the_default_weights():
    g = triangle()
    g.json["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": g.accessor([0, 0, 4] * 3, "VEC3")}]
    g.json["meshes"][0]["weights"] = [0.5]
    check_eq(single(g)["hi"][2], 2, "weights of the mesh")
    g.json["nodes"][0]["weights"] = [1]
    check_eq(single(g)["hi"][2], 4, "weights of the node")


@case()
def hidden_nodes():
    g = triangle()
    g.json["extensionsRequired"] = ["KHR_node_visibility"]
    g.json["scenes"][0]["nodes"] = [0, 1]
    g.json["nodes"] += [{"children": [2], "extensions": {"KHR_node_visibility": {"visible": False}}}, {"mesh": 0}]
    check_eq(single(g)["instances"], 1, "instances")


@case()
def data_uris():
    g = triangle()
    for rest in range(3):  # none, two and one `=` at the end
        data = base64.b64encode(g.bin[:len(g.bin) // 3 * 3] + b"\0" * rest).decode()
        g.json["buffers"][0]["uri"] = "data:application/gltf-buffer;base64," + data
        check_eq(info(put("d.gltf", json.dumps(g.json)))["triangles"], 1, f"triangles with {data.count('=')} `=`")


@case()
def terminal_escapes_in_names_are_removed():
    g = triangle()
    g.json["meshes"][0]["name"] = "a\u001b[31mb\n"
    run = facet("scene", "info", put("f.glb", g.glb()))
    check(b"\x1b" not in run.stdout and b"a?[31mb?" in run.stdout, repr(run.stdout))


# ---- damage ----

def edit(change):
    def build():
        g = triangle()
        change(g)
        return g.glb()
    return build


def set_in(*keys_and_value):
    *keys, last, value = keys_and_value

    def change(g):
        place = g.json
        for key in keys:
            place = place[key]
        place[last] = value
    return edit(change)


def drop(*keys):
    def change(g):
        place = g.json
        for key in keys[:-1]:
            place = place[key]
        del place[keys[-1]]
    return edit(change)


def with_bin(data):
    def change(g):
        g.bin = data(g.bin)
    return edit(change)


def whole(change):
    return lambda: change(triangle().glb())


def floats(g, index, value):
    offset = g.json["bufferViews"][0]["byteOffset"] + 4 * index
    g.bin = g.bin[:offset] + struct.pack("<f", value) + g.bin[offset + 4:]


def deep_json():
    text = b"[" * 100000
    return (struct.pack("<4sII", b"glTF", 2, 20 + len(text)) + struct.pack("<I4s", len(text), b"JSON") + text)


def bad_picture(data):
    def change(g):
        textured(g)
        g.json["images"][0]["bufferView"] = g.view(data)
    return edit(change)


def missing_picture(g):
    textured(g)
    g.json["images"] = [{"uri": "nowhere.png"}]


def cycle(g):
    g.json["nodes"] = [{"mesh": 0, "children": [1]}, {"children": [0]}]


def instancing(g, count):
    g.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {
        "TRANSLATION": g.accessor([0] * 6, "VEC3"), "SCALE": g.accessor([1] * count, "VEC3")}}}


def attribute(name, values, kind, component=5126):
    def change(g):
        g.json["meshes"][0]["primitives"][0]["attributes"][name] = g.accessor(values, kind, component)
    return edit(change)


def skin(joints, weight_joint):
    def change(g):
        attributes = g.json["meshes"][0]["primitives"][0]["attributes"]
        attributes["JOINTS_0"] = g.accessor([weight_joint, 0, 0, 0] * 3, "VEC4", 5121)
        attributes["WEIGHTS_0"] = g.accessor([1, 0, 0, 0] * 3, "VEC4")
        g.json["skins"] = [{"joints": joints}]
        g.json["nodes"][0]["skin"] = 0
    return edit(change)


def pack_ply(header, body=b""):
    return lambda: header.encode() + body


PLY = ("ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\n"
       "element face {}\nproperty list uchar int vertex_indices\nend_header\n")
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
STL = b"""solid x
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid x
"""
PLY_HEAD = len(PLY.format("binary_little_endian", 3, 1))

DAMAGE = [
    # name, file name, bytes, words in the message
    ("empty_file", "x.glb", lambda: b"", "the file is empty"),
    ("magic_only", "x.glb", lambda: b"glTF", "ends inside the GLB header, at offset 4: expected 12 bytes"),
    ("glb_magic", "x.glb", whole(lambda b: b"glTX" + b[4:]),
     'offset 0: expected 67 6C 54 46 ("glTF", a .glb) or JSON (a .gltf), found 67 6C 54 58'),
    ("gltf_not_json", "x.gltf", lambda: b"\n\x1b]", "offset 0: expected"),
    ("glb_version_1", "x.glb", whole(lambda b: b[:4] + struct.pack("<I", 1) + b[8:]), "offset 4: GLB version 1"),
    ("glb_truncated", "x.glb", whole(lambda b: b[:300]), "truncated: the file ends at offset 300, expected"),
    ("glb_first_chunk", "x.glb", whole(lambda b: b[:16] + b"JSOX" + b[20:]),
     "no JSON chunk: the first one, at offset 12, has type 0x584F534A"),
    ("glb_chunk_too_long", "x.glb", whole(lambda b: b[:12] + struct.pack("<I", 1 << 30) + b[16:]), "only"),
    ("glb_without_json", "x.glb", whole(lambda b: b[:16] + b"JSOX" + b[20:]), "no JSON chunk"),
    ("json_garbage", "x.gltf", lambda: b'{"asset": {', "JSON"),
    ("json_wrong_root", "x.gltf", lambda: b"[1, 2]", "not an object"),
    ("json_nested_too_deep", "x.glb", deep_json, "JSON"),
    ("json_duplicate_key", "x.gltf", lambda: b'{"asset":{"version":"2.0"},"asset":{}}', "uplicate"),
    ("json_not_utf8", "x.gltf", lambda: b'{"asset":{"version":"\xff"}}', "JSON"),
    ("version_1", "x.glb", set_in("asset", "version", "1.0"), 'asset.version is "1.0"'),
    ("min_version", "x.glb", set_in("asset", "minVersion", "2.9"), "minVersion"),
    ("no_asset", "x.glb", drop("asset"), "asset.version"),
    ("unknown_required_extension", "x.glb", set_in("extensionsRequired", ["ACME_magic"]), "ACME_magic"),
    ("table_is_no_array", "x.glb", set_in("meshes", {}), "meshes: expected an array"),
    ("item_is_no_object", "x.glb", set_in("nodes", [7]), "nodes[0]: expected an object"),
    ("scene_out_of_range", "x.glb", set_in("scene", 5), "scene is 5"),
    ("node_out_of_range", "x.glb", set_in("scenes", [{"nodes": [3]}]), "refers to a node"),
    ("node_is_text", "x.glb", set_in("scenes", [{"nodes": ["a"]}]), "refers to a node"),
    ("mesh_out_of_range", "x.glb", set_in("nodes", 0, "mesh", 1), "nodes[0].mesh is 1"),
    ("mesh_negative", "x.glb", set_in("nodes", 0, "mesh", -1), "nodes[0].mesh is -1"),
    ("accessor_out_of_range", "x.glb",
     set_in("meshes", 0, "primitives", 0, "indices", 99), "indices is 99"),
    ("material_out_of_range", "x.glb",
     set_in("meshes", 0, "primitives", 0, "material", 0), "material is 0"),
    ("primitive_is_no_object", "x.glb", set_in("meshes", 0, "primitives", 0, 3), "expected an object"),
    ("mode_unknown", "x.glb", set_in("meshes", 0, "primitives", 0, "mode", 9), "mode"),
    ("no_position", "x.glb", set_in("meshes", 0, "primitives", 0, "attributes", {}), "no POSITION"),
    ("cyclic_nodes", "x.glb", edit(cycle), "reached twice"),
    ("node_with_two_parents", "x.glb", set_in("scenes", [{"nodes": [0, 0]}]), "reached twice"),
    ("index_out_of_range", "x.glb",
     with_bin(lambda b: b[:36] + struct.pack("<3H", 0, 1, 3) + b[42:]), "refers to vertex 3, but there are 3"),
    ("nan_vertex", "x.glb", edit(lambda g: floats(g, 4, math.nan)), "position of vertex 1 is not finite"),
    ("infinite_vertex", "x.glb", edit(lambda g: floats(g, 8, math.inf)), "vertex 2 is not finite"),
    ("huge_vertices", "x.glb", edit(lambda g: (floats(g, 3, 3e38), floats(g, 0, -3e38),
                                              g.json["nodes"][0].update(scale=[9, 1, 1]))), "larger than"),
    ("count_absurd", "x.glb", set_in("accessors", 0, "count", 4000000000), "count is 4000000000"),
    ("count_too_large_for_view", "x.glb", set_in("accessors", 0, "count", 4), "end at byte 48"),
    ("count_zero", "x.glb", set_in("accessors", 0, "count", 0), "count is 0"),
    ("count_fraction", "x.glb", set_in("accessors", 0, "count", 2.5), "whole number"),
    ("zero_accessor_absurd", "x.glb",
     edit(lambda g: (g.json["accessors"][0].pop("bufferView"), g.json["accessors"][0].update(count=10**8))), "no bufferView"),
    ("component_type_unknown", "x.glb", set_in("accessors", 0, "componentType", 5124), "componentType is 5124"),
    ("type_unknown", "x.glb", set_in("accessors", 0, "type", "VEC9"), 'type is "VEC9"'),
    ("position_of_two", "x.glb", set_in("accessors", 0, "type", "VEC2"), "2 components"),
    ("indices_are_floats", "x.glb", set_in("accessors", 1, "componentType", 5126), "unsigned integers"),
    ("stride_too_small", "x.glb", set_in("bufferViews", 0, "byteStride", 4), "stride"),
    ("view_beyond_buffer", "x.glb", set_in("bufferViews", 0, "byteLength", 5000), "ends at byte 5000"),
    ("view_offset_huge", "x.glb", set_in("bufferViews", 0, "byteOffset", 2**60), "byteOffset"),
    ("buffer_longer_than_data", "x.glb", set_in("buffers", 0, "byteLength", 4096), "byteLength says 4096"),
    ("buffer_missing", "x.glb", set_in("buffers", 0, "uri", "nowhere.bin"), "nowhere.bin: No such file"),
    ("buffer_without_chunk", "x.gltf", lambda: json.dumps(triangle().json).encode(), "no binary chunk"),
    ("buffer_bad_base64", "x.glb", set_in("buffers", 0, "uri", "data:;base64,AA$A"), "base64"),
    ("buffers_absent", "x.glb", drop("buffers"), "which has 0"),
    ("attribute_count_differs", "x.glb", attribute("NORMAL", [0, 0, 1] * 2, "VEC3"), "NORMAL has 2 elements"),
    ("sparse_index_out_of_range", "x.glb",
     edit(lambda g: g.json["accessors"][0].update(sparse={
         "count": 1, "indices": {"bufferView": g.view(b"\x07"), "componentType": 5121},
         "values": {"bufferView": g.view(b"\0" * 12)}})), "replaces element 7 of 3"),
    ("sparse_index_type", "x.glb",
     edit(lambda g: g.json["accessors"][0].update(sparse={
         "count": 1, "indices": {"bufferView": g.view(b"\x01"), "componentType": 5126},
         "values": {"bufferView": g.view(b"\0" * 12)}})),
     ".sparse: count 1, index type 5126: expected 1..3 and 5121, 5123 or 5125"),
    ("instancing_counts_differ", "x.glb", edit(lambda g: instancing(g, 9)), "EXT_mesh_gpu_instancing"),
    ("instancing_nan", "x.glb",
     edit(lambda g: g.json["nodes"][0].update(extensions={"EXT_mesh_gpu_instancing": {"attributes": {
         "TRANSLATION": g.accessor([math.nan] * 3, "VEC3")}}})), "no finite matrix"),
    ("matrix_too_short", "x.glb", set_in("nodes", 0, "matrix", [1, 2, 3]), "array of 16 numbers"),
    ("matrix_overflows", "x.glb", set_in("nodes", 0, "scale", [1e308, 1e308, 1e308]), "larger than a 32-bit float"),
    ("skin_joint_missing", "x.glb", skin([9], 0), "is not a node"),
    ("skin_joint_out_of_range", "x.glb", skin([0], 4), "refers to joint 4 of 1"),
    ("picture_damaged", "x.glb", bad_picture(png(4, 4, (1, 2, 3))[:-20]), "damaged PNG"),
    ("picture_unknown", "x.glb", bad_picture(b"GIF89a" + b"\0" * 20), "neither PNG nor JPEG"),
    ("picture_too_large", "x.glb", bad_picture(png(30000, 30000, (0, 0, 0), 1)), "picture of 30000 x 30000"),
    ("picture_bomb", "x.glb", bad_picture(png(16000, 16000, (0, 0, 0), 1)), "damaged PNG"),
    ("picture_missing", "x.glb", edit(missing_picture), "nowhere.png"),
    ("camera_without_lens", "x.glb",
     edit(lambda g: (g.json.update(cameras=[{"type": "perspective"}]), g.json["nodes"][0].update(camera=0))), "cameras[0]"),
    ("camera_angle_zero", "x.glb",
     edit(lambda g: (g.json.update(cameras=[{"type": "perspective", "perspective": {"yfov": 0, "znear": 1}}]),
                     g.json["nodes"][0].update(camera=0))), "yfov"),
    ("light_missing", "x.glb",
     set_in("nodes", 0, "extensions", {"KHR_lights_punctual": {"light": 2}}), "refers to a light"),
    ("nothing_to_show", "x.glb", set_in("scenes", [{"nodes": []}]), "no triangles"),
    ("no_nodes_at_all", "x.gltf", lambda: b'{"asset":{"version":"2.0"}}', "no triangles"),
    ("obj_empty", "x.obj", lambda: b"", "the file is empty"),
    ("obj_garbage", "x.obj", lambda: bytes(range(256)) * 4, "no triangles"),
    ("obj_only_vertices", "x.obj", lambda: b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no triangles"),
    ("obj_index_out_of_range", "x.obj", lambda: OBJ + b"f 1 2 99\n", "line 4: f: v 99 is out of range: the file has 3"),
    ("obj_uv_out_of_range", "x.obj", lambda: OBJ + b"vt 0 0\nf 1/1 2/1 3/2\n", "line 5: f: vt 2 is out of range"),
    ("obj_normal_out_of_range", "x.obj", lambda: OBJ + b"\nf 1//1 2//1 3//1\n", "line 5: f: vn 1 is out of range"),
    ("obj_index_zero", "x.obj", lambda: OBJ + b"f 0 1 2\n", "line 4: f: expected corners such as 1, 1/2"),
    ("obj_index_before_the_first", "x.obj", lambda: OBJ + b"f -4 -2 -1\n", 'found "-4"'),
    ("obj_index_absurd", "x.obj", lambda: OBJ + b"f 1 2 18446744073709551617\n", "line 4: f: expected corners"),
    ("obj_index_of_four", "x.obj", lambda: OBJ + b"f 1/1/1/1 2 3\n", "line 4: f: expected corners"),
    ("obj_index_is_text", "x.obj", lambda: OBJ + b"f 1 2 \\\n x\n", 'line 5: f: expected corners'),
    ("obj_nan", "x.obj", lambda: b"# c\nv nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 'line 2: v: expected 3 numbers, 4 with a weight, or 6 with a colour, found "nan"'),
    ("obj_huge", "x.obj", lambda: b"v 1e39 0 0\n", 'found "1e39"'),
    ("obj_two_numbers", "x.obj", lambda: b"v 1 2\n", "line 1: v: expected 3 numbers, 4 with a weight, or 6 with a colour, found the end of the line"),
    ("obj_five_numbers", "x.obj", lambda: b"v 1 2 3 4 5\n", "line 1: v: expected 3 numbers"),
    ("obj_short_normal", "x.obj", lambda: b"vn 1 2\n", "line 1: vn: expected 3 numbers"),
    ("obj_long_uv", "x.obj", lambda: b"vt 1 2 3 4\n", 'line 1: vt: expected 1 to 3 numbers, found "4"'),
    ("ply_no_header_end", "x.ply", lambda: b"ply\nformat ascii 1.0\nelement vertex 3\n", "no end_header: expected it before offset 38"),
    ("ply_truncated", "x.ply", pack_ply(PLY.format("binary_little_endian", 3, 1), b"\0" * 20),
     f"truncated: the PLY file ends at offset {PLY_HEAD + 20}, expected 4 more bytes of vertex 2 of 3"),
    ("ply_truncated_list", "x.ply", pack_ply(PLY.format("binary_big_endian", 3, 2),
                                            b"\0" * 36 + b"\3" + b"\0" * 12 + b"\3" + b"\0" * 7),
     "expected 5 more bytes of face 2 of 2"),
    ("ply_missing_list", "x.ply", pack_ply(PLY.format("binary_little_endian", 3, 2), b"\0" * 36 + b"\3" + b"\0" * 12),
     "expected 1 more byte of face 2 of 2"),
    ("ply_truncated_text", "x.ply", pack_ply(PLY.format("ascii", 3, 2), b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
     "expected face 2 of 2"),
    ("ply_truncated_row", "x.ply", pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 0 0\n0 1"), "expected vertex 3 of 3"),
    ("ply_no_length", "x.ply", pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 0 0\n0 1 0\nx 0 1 2\n"),
     "face 1: expected the length of a list"),
    ("ply_negative_length", "x.ply",
     pack_ply(PLY.format("binary_little_endian", 3, 1).replace("uchar", "char"), b"\0" * 36 + b"\x80" + b"\0" * 12),
     f"offset {PLY_HEAD - 1 + 36}: face 1: expected the length of a list"),
    ("ply_absurd_count", "x.ply", pack_ply(PLY.format("binary_little_endian", 4000000000, 1), b"\0" * 64),
     "more bytes of vertex 6 of 4000000000"),
    ("ply_index_out_of_range", "x.ply",
     pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 0 0\n0 1 0\n3 0 1 77\n"), "face 1 refers to vertex 77, but there are 3"),
    ("ply_index_negative", "x.ply",
     pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n"), "face 1 refers to vertex -1, but there are 3"),
    ("ply_index_not_whole", "x.ply",
     pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n"),
     'line 13: face 1: expected the number of a vertex, found "1.5"'),
    ("ply_strip_not_whole", "x.ply",
     pack_ply(PLY.format("ascii", 3, 1).replace("face", "tristrips"), b"0 0 0\n1 0 0\n0 1 0\n4 0 1 2 99999999999\n"),
     'line 13: tristrips 1: expected the number of a vertex, found "99999999999"'),
    ("ply_ends_with_its_header", "x.ply", lambda: PLY.format("ascii", 3, 1).encode()[:-1],
     "truncated: the PLY file ends at offset %d, expected vertex 1 of 3" % (len(PLY.format("ascii", 3, 1)) - 1)),
    ("ply_word", "x.ply", pack_ply(PLY.format("ascii", 3, 1), b"0 0 0\n1 zero 0\n"),
     'line 11: vertex 2: expected a number, found "zero"'),
    ("ply_type", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("float z", "real z")),
     'line 6: expected list or the type of a property, such as float, found "real"'),
    ("ply_list_type", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("uchar", "float")),
     "line 8: expected the type of a list's length"),
    ("ply_count", "x.ply", pack_ply(PLY.format("ascii", -3, 1)), 'line 3: expected the number of items, found "-3"'),
    ("ply_form", "x.ply", pack_ply(PLY.format("binary", 3, 1)), "line 2: expected ascii, binary_little_endian or"),
    ("ply_no_form", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("format ascii 1.0\n", "")), "expected a line `format`"),
    ("ply_keyword", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("element face", "elements face")),
     'line 7: expected format, element, property, comment, obj_info or end_header, found "elements"'),
    ("ply_property_first", "x.ply", pack_ply("ply\nformat ascii 1.0\nproperty float x\nend_header\n"),
     "line 3: expected an element before its properties"),
    ("ply_no_z", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("float z", "float w")), "expected vertices with x, y and z"),
    ("ply_corner_uvs", "x.ply", pack_ply(PLY.format("ascii", 3, 1).replace("end_", "property list uchar float texcoord\nend_"),
                                        b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2 4 0 0 1 0\n"),
     "face 1: expected 6 texture coordinates, two for each corner, found 4"),
    ("ply_nan", "x.ply", pack_ply(PLY.format("binary_little_endian", 3, 1),
                                 struct.pack("<9f", *([math.nan] * 9)) + b"\3" + struct.pack("<3i", 0, 1, 2)), "position of vertex 0 is not finite"),
    ("stl_truncated", "x.stl", lambda: b"\0" * 80 + struct.pack("<I", 1000) + b"\0" * 50,
     "truncated: the STL file ends at offset 134, expected 50084 bytes (84 and 50 for each of 1000 triangles)"),
    ("stl_absurd_count", "x.stl", lambda: b"\0" * 80 + struct.pack("<I", 0xFFFFFFFF) + b"\0" * 100,
     "truncated: the STL file ends at offset 184, expected 214748364834 bytes"),
    ("stl_no_facets", "x.stl", lambda: b"solid empty\nendsolid empty\n", "no triangles"),
    ("stl_header_only", "x.stl", lambda: b"\0" * 30, "the file ends at offset 30, inside the header of 84 bytes"),
    ("stl_text_cut", "x.stl", lambda: STL[:-40], "expected"),
    ("stl_text_keyword", "x.stl", lambda: STL.replace(b"endloop", b"vertex 1 2 3\nendloop"),
     'line 7: expected endloop, found "vertex"'),
    ("stl_text_number", "x.stl", lambda: STL.replace(b"1 0 0", b"1 nan 0"), 'line 5: expected a number, found "nan"'),
    ("stl_text_no_end", "x.stl", lambda: STL.replace(b"endsolid x", b""), "expected facet or endsolid, found the end of the file"),
    ("stl_text_after_its_end", "x.stl", lambda: STL + b"facet", 'line 10: expected solid, found "facet"'),
    ("stl_nan", "x.stl", lambda: b"\0" * 80 + struct.pack("<I", 1) + struct.pack("<12f", *([math.nan] * 12)) + b"\0\0", "position of vertex 0 is not finite"),
]

for name, file, build, words in DAMAGE:
    add_case(f"damaged_{name}", lambda f=file, b=build, w=words: check_refused(put(f, b()), w))


@case()
def whole_ply_files_of_every_form_are_read():
    points = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0]
    text = b"0 0 0\n1 0 0\n0 1 0\n1 1 0\n3 0 1 2\n3 1 3 2\n"
    def binary(order):
        return struct.pack(order + "12f", *points) + struct.pack(order + "B3iB3i", 3, 0, 1, 2, 3, 1, 3, 2)
    head = PLY.replace("element vertex", "comment a note\nelement vertex")
    extra = head.replace("end_header", "element edge 1\nproperty list ushort double w\nend_header")
    for name, data in (("text", head.format("ascii", 4, 2).encode() + text),
                       ("text_without_newline", head.format("ascii", 4, 2).encode() + text[:-1]),
                       ("little", head.format("binary_little_endian", 4, 2).encode() + binary("<")),
                       ("big", head.format("binary_big_endian", 4, 2).encode() + binary(">")),
                       ("more", extra.format("binary_little_endian", 4, 2).encode() + binary("<")
                        + struct.pack("<H2d", 2, 1, 2)),
                       ("returns", head.format("ascii", 4, 2).replace("\n", "\r\n").encode()
                        + text.replace(b"\n", b"\r\n"))):
        run = facet("scene", "info", put(name + ".ply", data), "--json")
        check_eq(run.returncode, 0, f"{name}: {run.stderr.decode()}")
        check_eq(json.loads(run.stdout)["triangles"], 2, f"triangles of {name}")


@case()
def every_truncation_of_a_ply_is_refused():
    data = (PLY.format("binary_little_endian", 4, 2).encode() + bytes(48)
            + struct.pack("<B3iB3i", 3, 0, 1, 2, 3, 1, 3, 2))
    for size in range(PLY_HEAD, len(data), 5):
        check_refused(put("cut.ply", data[:size]), f"ends at offset {size}, expected")


@case()
def every_truncation_of_a_glb_is_refused():
    whole_file = textured(triangle()).glb()
    for size in range(0, len(whole_file), 37):
        check_refused(put("cut.glb", whole_file[:size]), "")


@case()
def flipped_bytes_never_crash():
    """Any exit code but a crash's; what loads is sane."""
    seed = 12345
    original = textured(triangle()).glb()
    for _ in range(150):
        data = bytearray(original)
        for _ in range(3):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
            data[(seed >> 33) % len(data)] = (seed >> 20) & 255
        run = facet("scene", "info", put("flip.glb", bytes(data)))
        check(run.returncode in (0, 2), f"exit code {run.returncode}: {run.stderr.decode(errors='replace')}")
        check(b"crashed" not in run.stderr, run.stderr.decode(errors="replace"))


# ---- pictures ----

@case()
def compare_pictures():
    red, other = png(4, 2, (255, 0, 0)), png(4, 2, (250, 0, 0))
    a, b, small = put("a.png", red), put("b.png", other), put("c.png", png(3, 2, (255, 0, 0)))
    check_eq(facet("image", "compare", a, a).returncode, 0, "equal")
    run = facet("image", "compare", a, b, "--json", "--heatmap", path("heat.png"))
    check_eq(run.returncode, 1, "different")
    result = json.loads(run.stdout)
    check_eq((result["differing"], result["max_difference"], result["first"]["x"]), (8, 5, 0), "result")
    check(abs(result["psnr_db"] - 10 * math.log10(255**2 / (25 / 4))) < 1e-9, f"{result['psnr_db']}")
    with open(path("heat.png"), "rb") as file:
        check_eq(file.read(4), b"\x89PNG", "heat map")
    for bad in ((a, small), (a, path("missing.png")), (a, put("bad.png", red[:40]))):
        run = facet("image", "compare", *bad, "--heatmap", path("never.png"))
        check_eq(run.returncode, 2, f"{bad}")
        check(run.stderr.startswith(b"facet image compare: "), run.stderr.decode())
    check(not os.path.exists(path("never.png")), "nothing half-written")


@case()
def limits_of_the_user_are_kept_and_no_hindrance():
    """A limit below that of the confined importer: it cannot be raised, and need not be."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (50, 50))

    run = subprocess.run([FACET, "scene", "info", os.path.join(SOURCE, "assets/boxes.glb")],
                         capture_output=True, timeout=600, preexec_fn=limit)
    check_eq((run.returncode, run.stderr), (0, b""), "result")


def with_descriptors(count, *words):
    """The program where at most `count` descriptors may be open."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))

    return subprocess.run([FACET, *words], capture_output=True, timeout=600, preexec_fn=limit, text=True)


@case()
def imports_need_few_descriptors():
    for count in (64, 16, 10):
        for name in ("crate.obj", "boxes.glb"):
            run = with_descriptors(count, "scene", "info", os.path.join(SOURCE, "assets", name))
            check_eq((run.returncode, run.stderr), (0, ""), f"{name} with {count} descriptors")


@case()
def accessors_that_ask_for_far_more_than_the_file_holds():
    """Zeros cost a file nothing: one accessor of them is held down, and so are all of them together."""
    def zeros(count, targets):
        g = Gltf()
        g.json["accessors"].append({"componentType": 5126, "count": count, "type": "VEC3"})
        g.mesh({"POSITION": 0}, indices=g.accessor([0, 1, 2], "SCALAR", 5123), targets=[{"POSITION": 0}] * targets)
        g.json["meshes"][0]["weights"] = [1] * targets
        return put("zeros.glb", g.glb())

    check_refused(zeros((1 << 22) + 1, 0), "has no bufferView and 4194305 elements: expected at most 4194304")
    # Of 2^31 elements each of these counts 32 times: 63 reads are 2^30 + 2^29 + ... + 2^25, one more is too many.
    check_eq(facet("scene", "info", zeros(1 << 20, 62)).returncode, 0, "62 targets and the mesh")
    check_refused(zeros(1 << 20, 63), "accessors[0]: more than 2147483648 elements of accessors are read")


@case()
def pictures_are_decoded_in_a_process_of_their_own():
    """Where no process can be confined nothing is decoded, whichever command wants a picture."""
    crate = os.path.join(SOURCE, "assets/crate.png")
    put("crate.png", open(crate, "rb").read())
    listed = put("list.json", json.dumps({"buffers": {"frame": {"image": "crate.png"}}, "commands": [],
                                          "frame": {"base": "frame", "width": 8, "height": 8}}))
    for words in (("image", "compare", crate, crate), ("gfx", "why", "--image", crate, "--u", "0", "--v", "0"),
                  ("tile", "draw", listed, "-o", path("listed.png"))):
        run = with_descriptors(5, *words)
        check_eq(run.returncode, 2, words[0])
        check("this host cannot confine the picture's decoder: limiting its files failed" in run.stderr, run.stderr)
        run = with_descriptors(16, *words)
        check_eq((run.returncode, run.stderr), (0, ""), words[0])


@case()
def a_caller_that_ignores_its_children_changes_nothing():
    """Whoever ignores SIGCHLD passes that on, and a child that has ended is gone at once."""
    def ignore():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5))

    run = subprocess.run([FACET, "scene", "info", os.path.join(SOURCE, "assets/boxes.glb")],
                         capture_output=True, timeout=600, preexec_fn=ignore, text=True)
    check_eq(run.returncode, 2, "exit code")
    check("limiting its files failed" in run.stderr, run.stderr)


@case()
def no_importer_needs_the_runtime_of_another_language():
    """What the loader maps for an import is C: no library that takes scenes apart, no C++ behind one."""
    run = subprocess.run([FACET, "scene", "info", os.path.join(SOURCE, "assets/crate.obj")], capture_output=True,
                         timeout=600, env=dict(os.environ, LD_DEBUG="files"), text=True)
    check_eq(run.returncode, 0, run.stderr[-300:])
    check("libpng" in run.stderr, "the loader says nothing here")
    check("libstdc++" not in run.stderr, "the C++ runtime was loaded")


main("scene_files")
