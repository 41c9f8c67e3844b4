"""`facet bvh check --scene`: images of Facet and of the drivers' encoders (dialects/) have no errors against the scene
that they were made from; of each, more than thirty kinds of damage are found. Fields are written here bit by bit, from the
drawings of sections 4, 7 and 8."""
import json
import os
import struct
import subprocess
import sys
import tempfile

from harness import add_case, case, check, check_eq, main

sys.path.insert(0, os.path.join(os.environ["FACET_SOURCE"], "tests/gfx12"))
from dialects import gpurt, hiprt, model, radv

FACET = os.environ["FACET"]
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, "bvh", *words], capture_output=True, text=True, timeout=600)


# ---- the scene, as glTF and for the encoders ----

MESHES = [model.sphere(6, 9), model.grid(5), model.soup(40)]
WORLD = [(0, model.move(3, 0, 0)), (1, model.turn(30)), (2, model.turn(70, 1, 2, 3)), (2, model.move(-9, 0, 1))]


def write_gltf(name, meshes, world):
    data, views, accessors = b"", [], []
    for mesh in meshes:
        part = b"".join(struct.pack("<3f", *corner) for triangle in mesh for corner in triangle)
        columns = list(zip(*(corner for triangle in mesh for corner in triangle)))
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(part)})
        accessors.append({"bufferView": len(views) - 1, "componentType": 5126, "count": 3 * len(mesh), "type": "VEC3",
                          "min": [min(c) for c in columns], "max": [max(c) for c in columns]})
        data += part
    nodes = [{"mesh": mesh, "matrix": [m[r][c] if r < 3 else float(c == 3) for c in range(4) for r in range(4)]}
             for mesh, m in world]
    with open(path(name + ".bin"), "wb") as file:
        file.write(data)
    with open(path(name), "w", encoding="utf-8") as file:
        json.dump({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": list(range(len(nodes)))}],
                   "nodes": nodes, "accessors": accessors, "bufferViews": views,
                   "meshes": [{"primitives": [{"attributes": {"POSITION": i}}]} for i in range(len(meshes))],
                   "buffers": [{"uri": name + ".bin", "byteLength": len(data)}]}, file)
    return path(name)


SCENE = write_gltf("scene.gltf", MESHES, WORLD)


class Image:
    """Bytes in one piece, and where its nodes are."""

    def __init__(self, data, base=0, root=5):
        self.data, self.base, self.root = bytearray(data), base, root
        self.nodes = {"box": [], "instance": [], "primitive": []}
        self.write("walk.img")
        listing = facet("dump", path("walk.img"), "--json", *self.options())
        check_eq(listing.returncode, 0, listing.stderr)
        for node in json.loads(listing.stdout)["nodes"]:
            if node["kind"] in self.nodes:
                self.nodes[node["kind"]].append(int(node["offset"], 16))
        # Boxes of a TLAS have instances for children, those with leaves have primitives.
        self.leaf_boxes = [b for b in self.nodes["box"] if self.child(b, 0, "type") not in (5, 6)]
        self.top = next(b for b in self.nodes["box"] if self.child(b, 0, "type") == 6)

    def options(self):
        return ["--base", hex(self.base), "--root", hex(self.root)]

    def write(self, name):
        with open(path(name), "wb") as file:
            file.write(self.data)

    def source(self, name):
        return [path(name)]

    def copy(self):
        other = type(self).__new__(type(self))
        other.__dict__ = dict(self.__dict__, data=bytearray(self.data))
        return other

    def get(self, at, bit, width):
        return int.from_bytes(self.data[at:at + 128], "little") >> bit & ((1 << width) - 1)

    def set(self, at, bit, width, value):
        word = int.from_bytes(self.data[at:at + 128], "little")
        mask = ((1 << width) - 1) << bit
        self.data[at:at + 128] = (word & ~mask | (value << bit) & mask).to_bytes(128, "little")

    def add(self, at, bit, width, by):
        self.set(at, bit, width, self.get(at, bit, width) + by)

    CHILD = {"min_x": (0, 12), "min_y": (12, 12), "flags": (24, 4), "min_z": (32, 12), "max_x": (44, 12), "mask": (56, 8),
             "max_y": (64, 12), "max_z": (76, 12), "type": (88, 4), "size": (92, 4)}

    def child(self, at, slot, field, first=256):
        bit, width = self.CHILD[field]
        return self.get(at, first + 96 * slot + bit, width)

    def set_child(self, at, slot, field, value, first=256):
        bit, width = self.CHILD[field]
        self.set(at, first + 96 * slot + bit, width, value)

    def count(self, box):
        return self.get(box, 220, 4) + 1


def built(*options):
    result = facet("build", SCENE, "-o", path("built.gfx12"), *options)
    check_eq(result.returncode, 0, result.stderr)
    with open(path("built.gfx12"), "rb") as file:
        return Image(file.read())


def one_piece(capture):
    """The buffers of a driver from the base of the first on, gaps as zeros."""
    end = max(s.address + len(s.data) for s in capture.segments)
    data = bytearray(-(-(end - capture.base) // 64) * 64)
    for s in capture.segments:
        cut = max(0, capture.base - s.address)
        at = s.address + cut - capture.base
        data[at:at + len(s.data) - cut] = s.data[cut:]
    return Image(data, capture.base, capture.root)


class Hiprt(Image):
    """Buffers of HIPRT one after another; its nodes are where the headers say."""

    def __init__(self, capture):
        self.segments, self.data, self.nodes = [], bytearray(), {"box": [], "instance": [], "primitive": []}
        for n, s in enumerate(capture.segments):
            at = len(self.data)
            boxes, prims = struct.unpack_from("<2Q", s.data)
            count = struct.unpack_from("<I", s.data, 52 if n == 0 else 28)[0]
            leaves = struct.unpack_from("<I", s.data, 48 if n == 0 else 32)[0]
            self.nodes["box"] += [at + 64 + 128 * i for i in range(count)]
            self.nodes["primitive" if n else "instance"] += [at + 64 + prims - boxes + 128 * i for i in range(leaves)]
            self.segments.append((s.address, at, at + len(s.data)))
            self.data += s.data
        self.leaf_boxes = [b for b in self.nodes["box"] if self.child(b, 0, "type") not in (5, 6)]
        self.top = next(b for b in self.nodes["box"] if self.child(b, 0, "type") == 6)

    def write(self, name):
        for address, begin, end in self.segments:
            with open(path("%s.0x%x" % (name, address)), "wb") as file:
                file.write(self.data[begin:end])

    def source(self, name):
        return [w for address, _, _ in self.segments for w in ("--segment", "%s.0x%x@0x%x" % (path(name), address, address))]

    def options(self):
        return ["--driver", "hiprt"]


def driven(module, **options):
    blases = [[model.Geometry(mesh)] for mesh in MESHES]
    return one_piece(module.scene(blases, [model.Instance(b, m) for b, m in WORLD], **options))


RIGHT = {
    "fast": lambda: built(), "high": lambda: built("--quality", "high"), "contract": lambda: built("--quality", "contract"),
    "obb": lambda: built("--obb"),
    "radv_batch": lambda: driven(radv, mode="batch"), "radv_pair": lambda: driven(radv, mode="pair"),
    "radv_single": lambda: driven(radv, mode="single"),
    "radv_late": lambda: driven(radv, layout="late", stale=3), "gpurt_habits": lambda: driven(gpurt, habits=True, reuse=True),
    "hiprt": lambda: Hiprt(hiprt.scene([[model.Geometry(mesh)] for mesh in MESHES], [model.Instance(b, m) for b, m in WORLD])),
    "hiprt_split": lambda: Hiprt(hiprt.scene([[model.Geometry(mesh)] for mesh in MESHES],
                                             [model.Instance(b, m) for b, m in WORLD], split=True)),
    "gpurt_batch": lambda: driven(gpurt, mode="batch"), "gpurt_single": lambda: driven(gpurt, mode="single"),
    "gpurt_split": lambda: driven(gpurt, mode="batch", split=True),
    "gpurt_rebraid": lambda: driven(gpurt, mode="batch", rebraid=True),
    "gpurt_rebraid_split": lambda: driven(gpurt, mode="single", rebraid=True, split=True),
}
MADE = {}


def right(name):
    if name not in MADE:
        MADE[name] = RIGHT[name]()
    return MADE[name].copy()


def judged(image, *options):
    image.write("judged.img")
    result = facet("check", *image.source("judged.img"), "--scene", SCENE, "--json", *image.options(), *options)
    check(result.returncode in (0, 1), f"exit {result.returncode}: {result.stderr}")
    return result.returncode, json.loads(result.stdout)


def say(report):
    return "; ".join(f"{f['rule']} {f['severity']}: {f['found']}" for f in report["findings"] if f["severity"] != "note")


@case("G12-286")
def right_images_have_no_errors():
    for name in RIGHT:
        code, report = judged(right(name))
        check_eq(code, 0, f"{name}: {say(report)}")
        check_eq(report["errors"], 0, name)


@case("G12-286")
def structures_of_drivers_have_no_errors():
    """Read by their headers, each buffer at its own address."""
    blases = [[model.Geometry(mesh)] for mesh in MESHES]
    world = [model.Instance(b, m) for b, m in WORLD]
    for name, capture in (("radv", radv.scene(blases, world)), ("gpurt", gpurt.scene(blases, world)),
                          ("gpurt", gpurt.scene(blases, world, rebraid=True, split=True)),
                          ("hiprt", hiprt.scene(blases, world)), ("hiprt", hiprt.scene(blases, world, split=True))):
        words = [word for piece in capture.write(FOLDER.name) for word in ("--segment", piece)]
        result = facet("check", "--driver", name, *words, "--scene", SCENE)
        check_eq(result.returncode, 0, f"{name}: {result.stdout}{result.stderr}")


@case("G12-270")
def cuts_between_rebraided_instances_are_no_holes():
    """A triangle of two instance nodes ends in each where the encoder's planes happen to be."""
    meshes = [model.grid(5) + model.soup(21), model.soup(60), model.soup(150)]
    for mesh in meshes:
        for world in ([model.identity()], [model.turn(30), model.move(3, 1, 0)]):
            capture = gpurt.scene([[model.Geometry(mesh)]], [model.Instance(0, m) for m in world], rebraid=True, split=True)
            words = [word for piece in capture.write(FOLDER.name) for word in ("--segment", piece)]
            result = facet("check", "--driver", "gpurt", *words)
            check_eq(result.returncode, 0, result.stdout + result.stderr)


@case("G12-286")
def boxes_are_those_of_their_file():
    boxes = os.path.join(os.environ["FACET_SOURCE"], "examples/gfx12/boxes.json")
    check_eq(facet("build", "--aabbs", boxes, "-o", path("boxes.gfx12"), "-q").returncode, 0)
    result = facet("check", path("boxes.gfx12"), "--aabbs", boxes)
    check_eq(result.returncode, 0, result.stdout)


@case("G12-286")
def a_blas_alone_is_compared():
    one = write_gltf("one.gltf", MESHES[:1], [(0, model.identity())])
    alone = radv.scene([[model.Geometry(MESHES[0])]], [model.Instance(0, model.identity())]).segments[1]
    data = alone.data[struct.unpack_from("<I", alone.data)[0]:]
    with open(path("alone.img"), "wb") as file:
        file.write(data + bytes(-len(data) % 64))
    result = facet("check", path("alone.img"), "--scene", one)
    check_eq(result.returncode, 0, result.stdout + result.stderr)
    result = facet("check", path("alone.img"), "--scene", write_gltf("other.gltf", MESHES[1:2], [(0, model.identity())]))
    check_eq(result.returncode, 1, result.stdout + result.stderr)
    check("V45" in result.stdout, result.stdout)


# ---- damages ----

DAMAGES = {}


def damage(rules):
    def add(function):
        DAMAGES[function.__name__] = (function, set(rules.split()))
        return function
    return add


def tight_child(i):
    """A leaf child with a plane that a triangle touches: x of the most extreme child of a leaf box."""
    box = i.leaf_boxes[len(i.leaf_boxes) // 2]
    slot = max(range(i.count(box)), key=lambda s: i.child(box, s, "max_x"))
    return box, slot


@damage("V12")
def plane_shrunk(i):
    box, slot = tight_child(i)
    i.set_child(box, slot, "max_x", i.child(box, slot, "max_x") - 1)


@damage("V12")
def plane_raised(i):
    box = i.leaf_boxes[0]
    slot = min(range(i.count(box)), key=lambda s: i.child(box, s, "min_z"))
    i.set_child(box, slot, "min_z", i.child(box, slot, "min_z") + 1)


@damage("V12 V25")
def exponent_smaller(i):
    i.add(i.leaf_boxes[0], 192, 8, -1)


@damage("V12 V44")
def exponent_larger(i):
    box = i.leaf_boxes[0]
    i.add(box, 200, 8, 1)


@damage("V01 V02 V12 V14 V45")
def primitive_offset(i):
    i.add(i.leaf_boxes[0], 32, 32, 16)


@damage("V12 V01 V02 V14 V18 V45")
def node_size(i):
    box = next(b for b in i.leaf_boxes if i.count(b) > 1)
    i.set_child(box, 0, "size", i.child(box, 0, "size") + 1)


@damage("V12 V20")
def stop_bit(i):
    for node in i.nodes["primitive"]:
        for pair in range(i.get(node, 28, 3) + 1):
            i.set(node, 1024 - 29 * (pair + 1), 1, 0)


@damage("V02 V11 V45 V49 V03")
def pointer_unit(i):
    i.add(i.nodes["instance"][0], 8 * 48, 54, 64 // 8)


@damage("V22 V36")
def pointer_low_bits(i):
    i.add(i.nodes["instance"][0], 8 * 48, 3, 1)


@damage("V13")
def blas_mask(i):
    i.set_child(i.leaf_boxes[0], 0, "mask", 0)


@damage("V13")
def tlas_mask(i):
    i.set_child(i.top, 0, "mask", 0x0F)


@damage("V13")
def false_promise(i):
    i.set_child(i.leaf_boxes[0], 0, "flags", 1 | 2)  # nothing is both


@damage("V12 V06")
def matrix_index(i):
    i.set(i.leaf_boxes[0], 224, 7, 20 if i.get(i.leaf_boxes[0], 224, 7) != 20 else 60)


@damage("V05")
def matrix_junk(i):
    i.set(i.leaf_boxes[0], 232, 8, 0x5A)


@damage("V08")
def nan_origin(i):
    i.set(i.leaf_boxes[0], 96, 32, 0x7FC00000)


@damage("V12")
def other_origin(i):
    box = i.leaf_boxes[0]
    i.set(box, 128, 32, model.bits(model.f32(model.of_bits(i.get(box, 128, 32)) + 1000)))


@damage("V12 V47 V15 V17 V18")
def vertex_bits(i):
    i.add(i.nodes["primitive"][0], 0, 5, -1)


@damage("V12 V47 V15 V17 V18")
def trailing_zeros(i):
    i.add(i.nodes["primitive"][0], 15, 5, 1)


@damage("V18 V46 V47 V45")
def midpoint(i):
    i.add(i.nodes["primitive"][0], 42, 10, -1)


@damage("V12")
def boxes_swapped(i):
    box = next(b for b in i.leaf_boxes if i.count(b) > 1)
    planes = [f for f in i.CHILD if f.startswith("m") and f != "mask"]
    a, b = [i.child(box, 0, f) for f in planes], [i.child(box, 1, f) for f in planes]
    for f, x, y in zip(planes, a, b):
        i.set_child(box, 0, f, y)
        i.set_child(box, 1, f, x)


@damage("V25")
def instance_exponent(i):
    i.add(i.nodes["instance"][0], 8 * 76, 8, -2)


@damage("V12 V50")
def translation_sign(i):
    node = next(n for n in i.nodes["instance"] if i.get(n, 96, 32))
    i.set(node, 96 + 31, 1, 1 - i.get(node, 96 + 31, 1))


@damage("V50 V49")
def matrix_scaled(i):
    node = i.nodes["instance"][0]
    for k in range(12):
        value = model.of_bits(i.get(node, 32 * k, 32))
        i.set(node, 32 * k, 32, model.bits(model.f32(1.5 * value)))


@damage("V51")
def instance_mask_zero(i):
    i.set(i.nodes["instance"][0], 8 * 63, 8, 0)


@damage("V45")
def child_lost(i):
    box = next(b for b in i.leaf_boxes if i.count(b) > 1)
    i.add(box, 220, 4, -1)


@damage("V45")
def child_lost_and_cleaned(i):
    box = next(b for b in i.leaf_boxes if i.count(b) > 1)
    slot = i.count(box) - 1
    i.set(box, 256 + 96 * slot, 96, 0x00000000_00000FFF_FFFFFFFF)
    i.add(box, 220, 4, -1)


@damage("V49 V45")
def instance_lost(i):
    i.add(i.top, 220, 4, -1)


@damage("V45 V46 V47 V02 V03 V11")
def other_blas(i):
    nodes = i.nodes["instance"]
    pointers = {i.get(n, 8 * 48, 64) for n in nodes}
    own = i.get(nodes[0], 8 * 48, 64)
    i.set(nodes[0], 8 * 48, 64, next(p for p in sorted(pointers) if p != own))


def pair_node(i):
    """A primitive node that has two triangles in pair 0, or the first one."""
    return next((n for n in i.nodes["primitive"] if i.get(n, 1024 - 29 + 3, 12) != 0), i.nodes["primitive"][0])


@damage("V47")
def winding_flipped(i):
    node, at = pair_node(i), 1024 - 29
    a, b = i.get(node, at + 17, 4), i.get(node, at + 21, 4)
    i.set(node, at + 17, 4, b)
    i.set(node, at + 21, 4, a)


@damage("V48 V13")
def opacity(i):
    node, at = pair_node(i), 1024 - 29
    i.set(node, at + 16, 1, 1 - i.get(node, at + 16, 1))


@damage("V48")
def sidedness(i):
    node, at = pair_node(i), 1024 - 29
    i.set(node, at + 15, 1, 1 - i.get(node, at + 15, 1))


@damage("V45 V46 V47")
def primitive_index(i):
    """Triangle 0 of a node gets another name, often one that exists."""
    node = next(n for n in i.nodes["primitive"] if i.get(n, 32, 5))
    i.set(node, i.get(node, 42, 10), 1, 1 - i.get(node, i.get(node, 42, 10), 1))


@damage("V46 V45 V17 V18")
def geometry_index(i):
    node = pair_node(i)
    if i.get(node, 20, 4) == 0:
        i.add(node, 20, 4, 1)
        i.set(node, i.get(node, 42, 10) - 2, 1, 1)
    else:
        bit = i.get(node, 42, 10) - 2 * i.get(node, 20, 4)
        i.set(node, bit, 1, 1 - i.get(node, bit, 1))


@damage("V47 V12")
def vertex_moved(i):
    """The lowest bit of x of the first vertex."""
    node = pair_node(i)
    bit = 52 + sum(32 - i.get(node, 15, 5) - i.get(node, 5 * k, 5) - 1 for k in range(3))
    i.set(node, bit, 1, 1 - i.get(node, bit, 1))


@damage("V11 V02 V14 V45")
def child_type(i):
    i.set_child(i.leaf_boxes[0], 0, "type", 4)


@damage("V02 V45 V11 V03")
def inner_offset(i):
    box = next(b for b in i.nodes["box"] if i.child(b, 0, "type") == 5)
    i.add(box, 0, 32, 16)


# Only where the user data numbers the instances.
@damage("V51")
def user_data(i):
    i.add(i.nodes["instance"][0], 8 * 60, 24, 5)


@damage("V51 V13")
def instance_flags(i):
    i.set(i.nodes["instance"][0], 8 * 48 + 54, 1, 1)


FACET_ONLY = {"user_data", "instance_flags", "sidedness"}
# What is no damage there: the encoder rounds planes outwards by more than this, or every node has such a field.
NO_DAMAGE = {
    "exponent_larger": set(RIGHT), "trailing_zeros": set(), "vertex_moved": set(),
}


# HIPRT keeps other things in these bits, or nothing that a scene could say.
HIPRT = {"matrix_junk", "geometry_index", "opacity"}


def find_damages(name):
    def run():
        found = 0
        for kind, (apply, rules) in DAMAGES.items():
            image = right(name)
            if kind in FACET_ONLY and name not in ("fast", "high", "contract"):
                continue
            if name in NO_DAMAGE.get(kind, ()) or (kind in HIPRT and name.startswith("hiprt")):
                continue
            apply(image)
            if image.data == MADE[name].data:
                continue
            code, report = judged(image)
            errors = {f["rule"] for f in report["findings"] if f["severity"] == "error"}
            check(code == 1 and errors & rules, f"{name}, {kind}: expected one of {sorted(rules)}, found {say(report)[:600]}")
            found += 1
        check(found >= 30, f"{found} kinds of damage")
    return run


for _name in ("fast", "high", "contract", "radv_batch", "radv_pair", "radv_single", "gpurt_batch", "gpurt_single", "gpurt_split",
              "gpurt_rebraid", "radv_late", "gpurt_habits", "hiprt", "hiprt_split"):
    add_case("damages_are_found_in_" + _name, find_damages(_name), "G12-286")

main("gfx12_judge")
