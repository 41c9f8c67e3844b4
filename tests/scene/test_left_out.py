"""Nothing of a scene is lost in silence: every kind of thing that Facet does not use is named by
the commands whose result it would change, and nothing is named for a scene that is wholly used."""
import json
import os
import resource
import struct
import subprocess
import tempfile

from gltf_writer import png, triangle
from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.TemporaryDirectory(prefix="facet_left_out_")
SMALL = ["--size", "8x8", "--spp", "1"]


def path(name):
    return os.path.join(FOLDER.name, name)


def put(name, data):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path(name)


def facet(*words, **more):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600, **more)


def good(*words, **more):
    run = facet(*words, **more)
    check_eq(run.returncode, 0, f"{words}: {run.stderr}")
    return run


def info(file):
    return json.loads(good("scene", "info", file, "--json").stdout)["left_out"]


def lines(run, command, file):
    """What a command names, without the beginning of the lines, all of which must be such lines."""
    start = f"facet {command}: {file}: left out: "
    for line in run.stderr.splitlines():
        check(line.startswith(start), f"{line!r} does not start with {start!r}")
    return [line[len(start):] for line in run.stderr.splitlines()]


def render(file, *options):
    return lines(good("render", file, *SMALL, "-o", path("x.png"), *options), "render", file)


def build(file, *options):
    return lines(good("bvh", "build", file, "-o", path("x.bvh"), *options), "bvh build", file)


def check_named(file, what, look=False, shape=False):
    """The one loss of a scene, in every command that it concerns and in no other."""
    notes = info(file)
    check_eq([n["what"] for n in notes], [what], "scene info --json")
    check_eq((notes[0]["changes_look"], notes[0]["changes_shape"]), (look, shape), f"effects of {what}")
    text = good("scene", "info", file).stdout
    check(f"  left out  {what}" in text, text)
    for said, wanted in ((render(file), look or shape), (build(file), shape),
                         (build(file, "--format", "xphmg4"), shape)):
        check_eq([s[:len(what)] for s in said], [what] if wanted else [], "lines")
    return notes[0]


# ---- glTF: one edit, one note ----

def material(g, **more):
    g.json["materials"] = [{"name": "paint", "pbrMetallicRoughness": {
        "metallicFactor": 0, "roughnessFactor": 1}, **more}]
    g.json["meshes"][0]["primitives"][0]["material"] = 0
    return g.json["materials"][0]


def texture(g, picture=None, **more):
    uv = g.accessor([0, 0, 1, 0, 0, 1], "VEC2")
    g.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = uv
    g.json["images"] = [{"bufferView": g.view(picture or png(1, 1, (9, 9, 9))), "mimeType": "image/png"}]
    g.json["textures"] = [{"source": 0, **more}]
    return {"index": 0}


def primitive(g):
    return g.json["meshes"][0]["primitives"][0]


def in_pbr(g, **more):
    material(g)["pbrMetallicRoughness"].update(more)


def add_line(g):
    g.json["meshes"][0]["name"] = "wire"
    g.json["meshes"][0]["primitives"] += [{"attributes": {"POSITION": 0}, "mode": m} for m in (1, 3)]


def add_animation(g):
    g.json["animations"] = [{"name": "walk", "channels": [], "samplers": []}]


def add_morph(g):
    delta = g.accessor([0] * 9, "VEC3")
    primitive(g)["targets"] = [{"POSITION": delta, "COLOR_0": delta}]
    g.json["meshes"][0]["weights"] = [1]


def instances(g, **attributes):
    g.json["nodes"][0]["extensions"] = {"EXT_mesh_gpu_instancing": {"attributes": {
        "TRANSLATION": g.accessor([0] * 6, "VEC3"), **attributes}}}


def add_light(g, **more):
    g.json["extensions"] = {"KHR_lights_punctual": {"lights": [{"type": "point", **more}]}}
    g.json["nodes"][0]["extensions"] = {"KHR_lights_punctual": {"light": 0}}


def add_flat_camera(g):
    g.json["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
    g.json["nodes"].append({"camera": 0, "scale": [0, 0, 0]})
    g.json["scenes"][0]["nodes"] = [0, 1]


def without_uv(g):
    in_pbr(g, baseColorTexture=texture(g))
    del primitive(g)["attributes"]["TEXCOORD_0"]


KTX2 = b"\xABKTX 20\xBB\r\n\x1A\n" + bytes(64)
WEBP = b"RIFF\x10\0\0\0WEBPVP8 " + bytes(16)

LOOK, SHAPE, BOTH, NOTHING = {"look": True}, {"shape": True}, {"look": True, "shape": True}, {}
GLTF = {
    "normal_texture": (lambda g: material(g, normalTexture=texture(g)), "normal textures", LOOK),
    "occlusion_texture": (lambda g: material(g, occlusionTexture=texture(g)), "occlusion textures", LOOK),
    "metal_texture": (lambda g: in_pbr(g, metallicRoughnessTexture=texture(g)),
                      "metallic-roughness textures", LOOK),
    "smooth": (lambda g: in_pbr(g, roughnessFactor=0.5), "reflections of metallic or smooth materials", LOOK),
    "metal_by_default": (lambda g: material(g).pop("pbrMetallicRoughness"),
                         "reflections of metallic or smooth materials", LOOK),
    "clearcoat": (lambda g: material(g, extensions={"KHR_materials_clearcoat": {}}),
                  "extension KHR_materials_clearcoat", LOOK),
    "unknown_of_material": (lambda g: material(g, sparkle=1), "property sparkle", BOTH),
    "glossiness": (lambda g: material(g, extensions={"KHR_materials_pbrSpecularGlossiness": {
        "specularFactor": [1, 1, 1]}}), "specular colours", LOOK),
    "webp_beside_png": (lambda g: in_pbr(g, baseColorTexture=texture(
        g, extensions={"EXT_texture_webp": {"source": 0}})), "extension EXT_texture_webp", LOOK),
    "ktx_picture": (lambda g: in_pbr(g, baseColorTexture=texture(g, KTX2)), "KTX pictures", LOOK),
    "webp_picture": (lambda g: in_pbr(g, emissiveTexture=0, baseColorTexture=texture(g, WEBP)) or
                     g.json["materials"][0]["pbrMetallicRoughness"].pop("emissiveTexture"),
                     "WebP pictures", LOOK),
    "unknown_of_sampler": (lambda g: (in_pbr(g, baseColorTexture=texture(g, sampler=0)), g.json.update(
        samplers=[{"anisotropy": 4}])), "property anisotropy", LOOK),
    "unknown_of_image": (lambda g: (in_pbr(g, baseColorTexture=texture(g)), g.json["images"][0].update(
        extensions={"ACME_hdr": {}})), "extension ACME_hdr", LOOK),
    "no_coordinates": (without_uv, "textures of meshes without texture coordinates", LOOK),
    "lines": (add_line, "primitives of lines", SHAPE),
    "points": (lambda g: g.json["meshes"][0]["primitives"].append({"attributes": {"POSITION": 0}, "mode": 0}),
               "primitives of points", SHAPE),
    "odd_corners": (lambda g: primitive(g).update(indices=g.accessor([0, 1, 2, 0], "SCALAR", 5123)),
                    "corners at the end of a primitive", SHAPE),
    "animation": (add_animation, "animations", SHAPE),
    "morphed_colours": (add_morph, "morphs of colours and texture coordinates", LOOK),
    "flat_instance": (lambda g: (g.json["nodes"].append({"mesh": 0, "scale": [1, 1, 0]}),
                                 g.json["scenes"][0]["nodes"].append(1)), "instances", SHAPE),
    "flat_camera": (add_flat_camera, "cameras", LOOK),
    "light_without_direction": (lambda g: (add_light(g), g.json["nodes"].append(
        {"scale": [0, 0, 0], **g.json["nodes"][0]}), g.json["nodes"][0].pop("extensions"),
        g.json["nodes"][1].pop("mesh"), g.json["scenes"][0]["nodes"].append(1)), "lights", LOOK),
    "unknown_of_light": (lambda g: add_light(g, size=3), "property size", BOTH),
    "other_scenes": (lambda g: g.json["scenes"].append({"nodes": []}), "scenes", SHAPE),
    "second_colours": (lambda g: primitive(g)["attributes"].update(
        COLOR_1=g.accessor([0] * 9, "VEC3")), "vertex attribute COLOR_1", LOOK),
    "own_attribute": (lambda g: primitive(g)["attributes"].update(
        _HEAT=g.accessor([0] * 3, "SCALAR")), "vertex attribute _HEAT", NOTHING),
    "own_of_instances": (lambda g: instances(g, _ID=0), "property _ID", NOTHING),
    "variants": (lambda g: primitive(g).update(extensions={"KHR_materials_variants": {"mappings": []}}),
                 "extension KHR_materials_variants", LOOK),
    "level_of_detail": (lambda g: g.json["nodes"][0].update(extensions={"MSFT_lod": {"ids": []}}),
                        "extension MSFT_lod", BOTH),
    "declared_only": (lambda g: g.json.update(extensionsUsed=["ACME_magic"]), "extension ACME_magic", BOTH),
    "draco_with_plain_data": (lambda g: (primitive(g).update(
        extensions={"KHR_draco_mesh_compression": {}}), g.json.update(
            extensionsUsed=["KHR_draco_mesh_compression"])), "extension KHR_draco_mesh_compression", NOTHING),
}


def check_gltf(name):
    edit, what, effects = GLTF[name]
    g = triangle()
    edit(g)
    check_named(put(f"{name}.glb", g.glb()), what, **effects)


for row in GLTF:
    add_case(f"gltf_{row}", lambda row=row: check_gltf(row))


@case()
def notes_count_and_name_the_first():
    g = triangle()
    add_line(g)
    note = check_named(put("count.glb", g.glb()), "primitives of lines", shape=True)
    check_eq((note["count"], note["first"]), (2, 'meshes[0].primitives[1] "wire"'), "first of two")
    check_eq(render(path("count.glb")), [
        'primitives of lines (2, first: meshes[0].primitives[1] "wire"): only triangles are read'], "line")


@case()
def required_extensions_are_refused_by_name():
    for name in ("KHR_texture_basisu", "EXT_meshopt_compression", "KHR_draco_mesh_compression",
                 "KHR_materials_transmission", "ACME_magic"):
        g = triangle()
        g.json["extensionsRequired"] = ["KHR_texture_transform", name]
        file = put("required.glb", g.glb())
        for command in (["scene", "info"], ["render", "-o", path("no.png")], ["bvh", "build", "-o", path("no.bvh")]):
            run = facet(*command, file)
            check_eq((run.returncode, run.stdout), (2, ""), f"{command} {name}")
            check(f"{file}: the file requires the extension {name}" in run.stderr, run.stderr)
    check(not os.path.exists(path("no.png")) and not os.path.exists(path("no.bvh")), "a file was written")


@case()
def cameras_are_named_unless_one_is_chosen():
    g = triangle()
    g.json["cameras"] = [{"type": "perspective", "name": n, "perspective": {"yfov": 1, "znear": 0.1}}
                         for n in ("left", "right")]
    g.json["nodes"] += [{"camera": 0, "translation": [0, 0, 3]}, {"camera": 1, "translation": [0, 0, 4]}]
    g.json["scenes"][0]["nodes"] = [0, 1, 2]
    file = put("cameras.glb", g.glb())
    check_eq(render(file), ["cameras (right): camera 0 is used; --camera N chooses"], "two cameras")
    check_eq((render(file, "--camera", "1"), build(file), info(file)), ([], [], []), "one was chosen")


@case()
def machine_tile_names_what_only_it_leaves_out():
    g = triangle()
    use = texture(g, sampler=0)
    g.json["samplers"] = [{"wrapS": 33648}]
    in_pbr(g, baseColorTexture=use)
    g.json["materials"][0].update(emissiveTexture=use, emissiveFactor=[1, 1, 1])
    file = put("tile.glb", g.glb())
    check_eq(render(file), [], "gfx12")
    wanted = ["emissive textures on machine tile", "mirrored textures on machine tile"]
    for machine in ("tile", "all"):
        said = render(file, "--machine", machine)
        check_eq([s.split(" (")[0] for s in said], wanted, machine)
    stats = json.loads(good("render", file, *SMALL, "-m", "tile", "-o", path("x.png"), "--json").stdout)
    check_eq([n["what"] for n in stats["left_out"]], wanted, "JSON")


@case()
def quiet_and_json_print_no_lines():
    g = triangle()
    add_line(g)
    file = put("quiet.glb", g.glb())
    moved = ["bvh", "update", path("q.bvh"), "--scene", file, "-o", path("q2.bvh")]
    tiles = ["bvh", "update", path("q.tiles"), "--scene", file, "-o", path("q2.bvh")]
    for words in (["render", file, *SMALL, "-o", path("q.png")], ["bvh", "build", file, "-o", path("q.bvh")],
                  ["bvh", "build", file, "-o", path("q.tiles"), "--format", "xphmg8"], moved, tiles):
        check("left out: primitives of lines" in good(*words).stderr, f"{words}")
        check_eq(good(*words, "--quiet").stderr, "", f"{words} --quiet")
        run = good(*words, "--json")
        check_eq((run.stderr, [n["what"] for n in json.loads(run.stdout)["left_out"]]),
                 ("", ["primitives of lines"]), f"{words} --json")


@case()
def names_of_the_file_do_not_reach_the_terminal_raw():
    g = triangle()
    g.json["extensionsUsed"] = ["EVIL_\x1b[31m\n"]
    material(g, name="\x1b]0;x\x07", normalTexture=texture(g))
    said = render(put("evil.glb", g.glb()))
    check_eq([s.split(":")[0] for s in said],
             ['normal textures (materials[0] "?]0;x?")', "extension EVIL_?[31m? (extensionsUsed)"], "cleaned")


@case()
def many_kinds_stay_bounded():
    g = triangle()
    g.json["extensionsUsed"] = [f"ACME_{i}" for i in range(3000)]
    notes = info(put("many.glb", g.glb()))
    check_eq((len(notes), notes[-1]["what"], notes[-1]["count"]), (48, "things of other kinds", 3000 - 47), "notes")


# ---- OBJ, PLY, STL ----

CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\n"
FACE = "f 1/1 2/2 3/3\n"
LIBRARY = "newmtl skin\nKd 1 0 0\n"
OBJ = {
    "lines": ("", "l 1 2\nl 2 3\n", "lines", SHAPE),
    "points": ("", "p 1 2\n", "points", SHAPE),
    "curve": ("", "curv 0 1 1 2 3\n", "OBJ statement curv", SHAPE),
    "smoothing": ("", "s 1\n", "smoothing groups", LOOK),
    "no_such_material": ("", "usemtl nosuch\n" + FACE, "materials that no library defines", LOOK),
    "specular": ("Ks 1 1 1\n", "", "reflections of metallic or smooth materials", LOOK),
    "bump": ("map_bump skin.png\n", "", "bump textures", LOOK),
    "opacity_map": ("map_d skin.png\n", "", "opacity textures", LOOK),
    "emissive_map": ("map_Ke skin.png\n", "", "emissive textures", LOOK),
    "option": ("map_Kd -s 2 2 1 skin.png\n", "", "MTL texture option -s", LOOK),
    "statement": ("sparkle 3\n", "", "MTL statement sparkle", LOOK),
    "filter": ("Tf 0.5 1 1\n", "", "transmission colours", LOOK),
    "missing_picture": ("map_Kd gone.png\n", "", "texture gone.png", LOOK),
    "damaged_picture": ("map_Kd a.mtl\n", "", "texture a.mtl", LOOK),
    "short_face": ("", "f 1 2\n", "faces of fewer than three corners", SHAPE),
    "weight": ("", "v 1 2 3 0.5\n", "weights of vertices", SHAPE),
    "metal": ("Pm 1\n", "", "reflections of metallic or smooth materials", LOOK),
    "clearcoat": ("Pc 0.5\n", "", "reflections of metallic or smooth materials", LOOK),
    "normal_map": ("norm skin.png\n", "", "normal textures", LOOK),
    "any_case": ("MAP_BUMP skin.png\n", "", "bump textures", LOOK),
    "halo": ("d -halo 0.5\n", "", "MTL option -halo", LOOK),
    "spectrum": ("Kd spectral a.rfl\n", "", "MTL colours given as spectral", LOOK),
    "four_numbers": ("Kd 0 1 0 1\n", "", "MTL numbers after the third of Kd", LOOK),
    "large_polygon": ("", "".join(f"v {i} {i % 2} 0\n" for i in range(1200)) + "f" + "".join(
        f" {-i}" for i in range(1, 1201)) + "\n", "polygons that are not convex and have more than 1024 corners or need too many looks", SHAPE),
}


def check_obj(name):
    library, statements, what, effects = OBJ[name]
    put(f"{name}/skin.png", png(1, 1, (9, 9, 9)))
    put(f"{name}/a.mtl", LIBRARY + library)
    file = put(f"{name}/a.obj", "mtllib a.mtl\n" + CORNERS + "usemtl skin\n" + FACE + statements)
    check_named(file, what, **effects)


for row in OBJ:
    add_case(f"obj_{row}", lambda row=row: check_obj(row))


@case()
def materials_without_triangles_are_not_named():
    put("unused/a.mtl", LIBRARY + "newmtl  blank and shiny \nKs 1 1 1\n")
    file = put("unused/a.obj", "mtllib a.mtl\n" + CORNERS + "usemtl skin\n" + FACE)
    check_eq(info(file), [], "the shiny one is not used")
    put("unused/a.obj", "mtllib a.mtl\n" + CORNERS + "usemtl blank and shiny\t\n" + FACE)
    check_named(file, "reflections of metallic or smooth materials", look=True)


@case()
def comments_end_names():
    put("comments/skin.png", png(1, 1, (9, 9, 9)))
    put("comments/a.mtl", "newmtl skin # of the fruit\nKd 1 0 0 # red\nmap_Kd skin.png\t# one pixel\nnewmtl no#comment\nKd 0 1 0\n")
    file = put("comments/a.obj", "mtllib a.mtl # beside\n" + CORNERS + "g left # half\nusemtl skin #\n" + FACE
               + "usemtl no#comment\n" + FACE)
    check_eq(info(file), [], "nothing is left out")
    scene = json.loads(good("scene", "info", file, "--json").stdout)
    check_eq([m["name"] for m in scene["materials"]], ["skin", "no#comment"], "materials")
    check_eq(len(scene["textures"]), 1, "textures")


@case()
def a_colour_of_four_numbers_has_the_first_three():
    put("four/a.mtl", "newmtl skin\nKd 0 1 0 0.5\n")
    file = put("four/a.obj", "mtllib a.mtl\n" + CORNERS + "usemtl skin\n" + FACE)
    scene = json.loads(good("scene", "info", file, "--json").stdout)
    check_eq(scene["materials"][0]["base_color"][:3], [0, 1, 0], "colour")
    put("four/a.mtl", "newmtl skin\nKd 0 1 0 green\n")
    check_eq(facet("scene", "info", file).returncode, 2, "a word is no number")


@case()
def missing_libraries_are_named_with_their_path():
    for name in ("sub/gone.mtl", "../up.mtl", "/etc/passwd"):
        file = put("lost/a.obj", f"mtllib {name}\n" + CORNERS + "usemtl skin\n" + FACE)
        note = check_named(file, f"material library {name}", look=True)
        check(note["why"].endswith("; plain materials are used instead"), note["why"])
        scene = json.loads(good("scene", "info", file, "--json").stdout)
        colours = {m["name"]: [round(c, 3) for c in m["base_color"]] for m in scene["materials"]}
        check_eq(colours["skin"], [0.6, 0.6, 0.6, 1], "colour of the plain material")
    check("No such file" in render(put("lost/b.obj", "mtllib b.mtl\n" + CORNERS + FACE))[0], "the reason")


@case()
def files_that_the_host_does_not_give_are_an_error():
    """Not enough descriptors is no property of the scene: the result would be another one."""
    put("host/skin.png", png(1, 1, (9, 9, 9)))
    put("host/a.mtl", LIBRARY + "map_Kd skin.png\n")
    file = put("host/a.obj", "mtllib a.mtl\n" + CORNERS + "usemtl skin\n" + FACE)
    ends = set()
    for most in [*range(4, 12), 64, 66, 68, 256]:
        run = facet("render", file, *SMALL, "-o", path("h.png"), preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (most, most)))
        ends.add(run.returncode)
        check(run.returncode == 2 and run.stderr or run.returncode == 0 and not run.stderr,
              f"{most} descriptors: exit {run.returncode}, {run.stderr!r}")
    check(ends <= {0, 2} and 0 in ends, f"exit codes {ends}")


PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
{}element face 1
property list uchar int vertex_indices
{}end_header
0 0 0 {}
1 0 0 {}
0 1 0 {}
3 0 1 2 {}
{}
"""


@case()
def ply_losses():
    check_named(put("v.ply", PLY.format("property float heat\n", "", 1, 1, 1, "", "")),
                "PLY property heat of element vertex")
    check_named(put("f.ply", PLY.format("", "property uchar red\n", "", "", "", 7, "")),
                "PLY property red of element face", look=True)
    check_named(put("e.ply", PLY.format("", "element edge 1\nproperty int vertex1\n", "", "", "", "", 0)),
                "PLY element edge", shape=True)


    check_named(put("small.ply", PLY.format("", "", "", "", "", "", "").replace("face 1", "face 2")
                    .replace("3 0 1 2 ", "3 0 1 2\n2 0 1")), "faces of fewer than three corners", shape=True)
    put("skin.png", png(1, 1, (9, 9, 9)))
    head = "comment TextureFile skin.png\n"
    textured = PLY.format("property float u\nproperty float v\n", "", *["0 0"] * 3, "", "")
    check_named(put("two.ply", textured.replace("element vertex", head + head + "element vertex")),
                "textures after the first of a PLY", look=True)


def stl(normal=(0, 0, 1), word=0, head=b"", more=b""):
    corners = (0, 0, 0, 1, 0, 0, 0, 1, 0)
    return head.ljust(80, b"\0") + struct.pack("<I12fH", 1, *normal, *corners, word) + more


@case()
def stl_losses():
    """A normal that is zero or that of the corners loses nothing, nor do bytes without the mark of a colour."""
    for whole in (stl(), stl((0, 0, 0)), stl((0, 0.05, 20)), stl(word=0x7FFF), stl(head=b"COLOR=\1\2\3\4")):
        check_eq(info(put("whole.stl", whole)), [], "wholly used")
    check_named(put("c.stl", stl(word=0x801F)), "colours of STL triangles", look=True)
    check_named(put("m.stl", stl(word=0x1F00, head=b"made COLOR=\1\2\3\4")), "colours of STL triangles", look=True)
    check_named(put("n.stl", stl((1, 0, 0))), "normals that are not those of their triangles", look=True)
    check_named(put("b.stl", stl(more=b"\0" * 50)), "bytes after the last triangle")


# ---- nothing is named without need ----

@case()
def scenes_that_are_wholly_used_give_no_notes():
    folders = [os.path.join(SOURCE, "assets"), os.path.join(SOURCE, "examples", "gfx12")]
    scenes = [os.path.join(d, f) for d in folders for f in sorted(os.listdir(d))
              if f.endswith((".glb", ".obj"))]
    check(len(scenes) >= 9, f"{scenes}")
    scenes.append(put("plain.ply", PLY.format("", "", "", "", "", "", "")))
    scenes.append(put("plain.stl", "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
                      "vertex 0 1 0\nendloop\nendfacet\nendsolid x\n"))
    scenes.append(put("plain.glb", triangle().glb()))
    for scene in scenes:
        check_eq((info(scene), render(scene), build(scene)), ([], [], []), scene)


main("left_out")
