"""`--device` and `facet devices` from outside: six scenes on every device that is there, with the bytes, figures, messages
and exit codes of the processor; images and rays that are streamed; devices that are missing, fail or compute wrongly."""
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy as np

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "scene"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "gfx12"))
import device_shim
from gltf_writer import Gltf
FOLDER = tempfile.TemporaryDirectory()
BOUNDS = {}  # of what is in an image
# Of each scene. FACET_DEVICE_RAYS asks for more, such as 16_700_000 on a GPU.
RAYS = int(os.environ.get("FACET_DEVICE_RAYS") or (1_700_000 if os.environ.get("FACET_TEST_LONG") else 170_000))


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words, **environment):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, text=True, timeout=900,
                          env={**os.environ, **environment})


def devices():
    """Numbers of those that give the bits; skips the case when there is none."""
    listed = json.loads(facet("devices", "--json").stdout)
    numbers = [i for i, d in enumerate(listed) if d["exact"]]
    if not numbers:
        skip("no OpenCL device")
    return numbers


def built(name, *words):
    image = path(name + ".gfx12")
    if not os.path.exists(image):
        result = facet("bvh", "build", *words, "-o", image, "--quiet")
        check_eq(result.returncode, 0, result.stderr)
    return image


def made(name, size, *options):
    scene = path(f"{name}.glb")
    if not os.path.exists(scene):
        check_eq(facet("scene", "make", name, "--size", size, "-o", scene, "--quiet").returncode, 0, name)
    image = built(name + "".join(options), scene, *options)
    info = json.loads(facet("scene", "info", scene, "--json").stdout)
    BOUNDS[image] = info["lo"], info["hi"]
    return image


def write_rays(image, count, seed):
    """Rays at and around the image: half of them from outside to a point inside, half from inside anywhere."""
    lo, hi = BOUNDS[image]
    rng = np.random.default_rng(seed)
    with open(path("rays.bin"), "wb") as file:
        for first in range(0, count, 1 << 20):
            n = min(count - first, 1 << 20)
            rays = np.zeros((n, 8), "<f4")
            origin, direction = rng.uniform(lo, hi, (n, 3)), rng.normal(size=(n, 3))
            zeros = np.arange(0, n, 16)
            direction[zeros, rng.integers(3, size=len(zeros))] = 0
            origin[::2] -= 2 * math.dist(lo, hi) * direction[::2]
            rays[:, :3], rays[:, 4:7], rays[:, 7] = origin, direction, math.inf
            rays[::5, 3], rays[::5, 7] = rng.random(len(rays[::5])), 2 * rng.random(len(rays[::5]))
            file.write(rays.tobytes())


def flags(hits):
    return np.frombuffer(hits, "<u4")[7::8]


def outcome(image, *options, **environment):
    """All that a run leaves."""
    for name in ("hits.bin", "list.jsonl"):
        if os.path.exists(path(name)):
            os.remove(path(name))
    result = facet("bvh", "trace", image, "--rays", path("rays.bin"), "-o", path("hits.bin"), "--quiet", *options,
                   **environment)
    files = []
    for name in ("hits.bin", "list.jsonl"):
        files.append(open(path(name), "rb").read() if os.path.exists(path(name)) else None)
    return result.returncode, result.stdout, result.stderr, *files


def same(image, *options, on=()):
    want = outcome(image, *options)
    for number in devices():
        got = outcome(image, *options, "--device", f"opencl:{number}", *on)
        check_eq(got[:3], want[:3], f"exit code and output of device {number} with {options}")
        check(got[3:] == want[3:], f"device {number} with {options}: other bytes")
    return want


SCENES = {
    "terrain": lambda: made("terrain", 120),
    "knot": lambda: made("knot", 160),
    "instances": lambda: made("instances", 24),
    "room": lambda: made("room", 2),
    "obb": lambda: made("knot", 160, "--obb"),
}


def hostile():
    """The field of instances with bits flipped: cycles are cut off by --max-steps, the rest is met as it is."""
    image = path("hostile.gfx12")
    with open(made("instances", 24), "rb") as file:
        data = bytearray(file.read())
    rng = random.Random(20)
    for _ in range(len(data) // 400):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    with open(image, "wb") as file:
        file.write(data)
    return image


@case()
def six_scenes_have_the_bits():
    devices()
    for seed, (name, make) in enumerate(SCENES.items()):
        image = make()
        write_rays(image, RAYS, seed)
        code, text, _, hits, _ = same(image, "--stats", "--json")
        check_eq(code, 0, name)
        found = int((flags(hits) & 1).sum())
        check(found > RAYS // 10, f"{name}: {found} hits")
        check(json.loads(text)["hits"] == found, f"{name}: figures {text}")
    write_rays(made("instances", 24), RAYS, 99)
    image = hostile()
    code, text, errors, hits, _ = same(image, "--stats", "--json", "--max-steps", 1 << 20)
    check(code == 1 and "outside the image" in errors, f"hostile: exit code {code}: {errors}")
    check_eq(same(image, "--max-steps", 8)[0], 2, "a limit that some rays reach")


@case()
def options_mean_the_same():
    devices()
    write_rays(made("instances", 24), 5000, 7)
    for options in (["--any-hit"], ["--flags", "0x10"], ["--flags", "0x2C1"], ["--mask", "0"], ["--mask", "3"],
                    ["--profile", "gpurt"], ["--profile", "gpurt", "--flags", "0x28"], ["--max-steps", "3"]):
        same(made("instances", 24), "--stats", *options)


def made_boxes():
    rng = random.Random(3)
    boxes = []
    for _ in range(300):
        at = [rng.uniform(-3, 3) for _ in range(3)]
        boxes.append({"min": at, "max": [x + rng.uniform(0, .5) for x in at]})
    with open(path("boxes.json"), "w", encoding="utf-8") as file:
        json.dump({"aabbs": boxes}, file)
    image = built("boxes", "--aabbs", path("boxes.json"))
    BOUNDS[image] = [-3] * 3, [3.5] * 3
    return image


@case()
def procedural_primitives():
    devices()
    image = made_boxes()
    write_rays(image, 3000, 4)
    same(image, "--stats")
    code, _, _, hits, _ = same(image, "--stats", "--procedural", "box")
    check((flags(hits) & 4).any(), "procedural hits")
    listed = same(image, "--stats", "--procedural", "candidates", "--candidates", path("list.jsonl"))[4]
    check(len(listed.splitlines()) > 100, "candidates")


@case()
def images_and_rays_are_streamed():
    devices()
    image = made("terrain", 120)
    write_rays(image, 3000, 5)
    check(os.path.getsize(image) > 1 << 19, "size of the image")
    same(image, "--stats", on=["--device-memory", "256k"])
    write_rays(made("instances", 24), 3000, 6)
    same(hostile(), "--stats", on=["--device-memory", "64k"])


@case()
def fetches_outside_the_image():
    devices()
    image = made("instances", 24)
    with open(image, "rb") as file:
        data = file.read()
    with open(path("short.gfx12"), "wb") as file:
        file.write(data[:len(data) // 2 // 64 * 64])
    write_rays(image, 3000, 8)
    code, _, errors, _, _ = same(path("short.gfx12"), "--stats")
    check_eq(code, 1, "exit code")
    check("outside the image" in errors, errors)


@case()
def parts_on_different_devices_join():
    """Five units: more than a device has at a time."""
    number = devices()[0]
    image = made("knot", 160)
    write_rays(image, 300_000, 9)
    want = outcome(image, "--stats")
    trace = ["bvh", "trace", image, "--rays", path("rays.bin"), "--stats"]
    for part, device in ((1, "cpu"), (2, "cpu"), (1, f"opencl:{number}")):
        name = path(f"part{part}")
        old = open(name, "rb").read() if os.path.exists(name) else None
        result = facet(*trace, "-o", name, "--part", f"{part}/2", "--device", device)
        check_eq(result.returncode, 0, result.stderr)
        check(old is None or open(name, "rb").read() == old, "bytes of a part")
    result = facet("join", path("part1"), path("part2"), "-o", path("joined.bin"))
    check_eq((result.returncode, result.stdout), (0, want[1]), result.stderr)
    check(open(path("joined.bin"), "rb").read() == want[3], "joined bytes")
    for _ in range(2):  # by the device, and out of the journal
        check_eq(outcome(image, "--stats", "--resume", path("units"), "--device", f"opencl:{number}"), want, "with a journal")


@case()
def a_late_ray_that_fails_leaves_nothing():
    """Of two units that a device has together."""
    devices()
    image = made("knot", 160)
    write_rays(image, 100_000, 15)
    data = np.fromfile(path("rays.bin"), "<f4").reshape(-1, 8)
    data[:, :3], data[:, 4:7] = 1e6, 1  # away from it
    data[90_001::5000, :3], data[90_001::5000, 4:7] = np.array(BOUNDS[image][0]) - 1, np.array(BOUNDS[image][1]) - BOUNDS[image][0] + 2
    data.tofile(path("rays.bin"))
    code, text, errors, hits, _ = same(image, "--stats", "--max-steps", 2)
    check_eq((code, text, hits), (2, "", None), errors)
    check("ray 90001: traversal stopped after 2 nodes" in errors, errors)


@case()
def mistakes_are_refused():
    image = made("knot", 160)
    write_rays(image, 10, 10)
    for words, complaint in ((["--device", "opencl:x"], "expected cpu, gpu or opencl:N"),
                             (["--device", "cuda"], "expected cpu, gpu or opencl:N"),
                             (["--device", "opencl:99"], "there is no device opencl:99"),
                             (["--fallback", "cpu"], "needs --device"),
                             (["--device", "cpu", "--device-memory", "1G"], "needs --device"),
                             (["--device", "gpu", "--device-memory", "1k"], "expected 16k or more"),
                             (["--device", "opencl:0", "--plain"], "for the processor"),
                             (["--device", "opencl:0", "--stack", "8"], "for the processor")):
        code, text, errors, hits, _ = outcome(image, *words)
        check_eq(code, 2, f"{words}: {errors}")
        check(complaint in errors and errors.count("\n") == 1, f"{words}: {errors}")
        check(hits is None and text == "", f"{words}: something was written")


@case()
def without_devices_the_processor_is_there():
    image = made("knot", 160)
    write_rays(image, 1000, 11)
    none = {"OCL_ICD_VENDORS": path("no-such-folder"), "OCL_ICD_FILENAMES": ""}
    os.makedirs(path("no-such-folder"), exist_ok=True)
    check(facet("devices", **none).stdout.startswith("no devices: "), "facet devices")
    check_eq(json.loads(facet("devices", "--json", **none).stdout), [], "facet devices --json")
    want = outcome(image, "--stats")
    code, _, errors, hits, _ = outcome(image, "--device", "gpu", **none)
    check_eq((code, hits), (2, None), errors)
    code, text, errors, hits, _ = outcome(image, "--device", "gpu", "--fallback", "cpu", "--stats", **none)
    check_eq((code, text), (0, want[1]), errors)
    check("the processor traces instead" in errors and hits == want[3], errors)


def drawn(*words, scene=None, size="150x90", **environment):
    """Bytes of a picture of the room, its counters, and what is told."""
    if scene is None:
        made("room", 2)
        scene = path("room.glb")
    for name in ("picture.pfm", "picture.json"):
        if os.path.exists(path(name)):
            os.remove(path(name))
    result = facet("render", scene, "--size", size, "--quiet", "-o", path("picture.pfm"), "--stats",
                   path("picture.json"), *words, **environment)
    if result.returncode != 0:
        check(not os.path.exists(path("picture.pfm")), "a picture of a failed run")
        return result.returncode, None, None, result.stderr
    with open(path("picture.json"), encoding="utf-8") as file:
        stats = json.load(file)
    with open(path("picture.pfm"), "rb") as file:
        return 0, file.read(), stats["rays"], result.stderr


@case()
def pictures_have_the_bytes():
    numbers = devices()
    for words in (["--spp", 4], ["--spp", 2, "--bounces", 3], ["--spp", 1, "--heatmap", "nodes"],
                  ["--spp", 1, "--heatmap", "triangles", "--profile", "gpurt"], ["--spp", 2, "--no-shadows", "--ao-rays", 3],
                  ["--spp", 3, "--no-ao", "--seed", 5]):
        want = drawn(*words)
        check_eq(want[0], 0, f"{words}: {want[3]}")
        for number in numbers:
            check(drawn(*words, "--device", f"opencl:{number}") == want, f"device {number}: {words}")
        check(drawn(*words, "--device", f"opencl:{numbers[0]}", "--device-memory", "100k", "--threads", 3) == want,
              f"rays there, shading here: {words}")
        check(drawn(*words, "--device", f"opencl:{numbers[0]}", "--device-memory", "2M") == want, f"in pieces: {words}")


def picture_file(rng, width, height):
    """A PNG of random colours and opacities."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes(rng.randrange(256) for _ in range(4 * width)) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def some_texture(g, rng):
    place = {"offset": [rng.uniform(-1, 1), rng.uniform(-1, 1)], "rotation": rng.uniform(0, 6), "scale": [rng.uniform(.5, 3), 2]}
    use = {"index": rng.randrange(len(g.json["textures"])), "texCoord": rng.randrange(2)}
    return {**use, "extensions": {"KHR_texture_transform": place}} if rng.random() < .5 else use


def some_material(g, rng):
    m = {"pbrMetallicRoughness": {"baseColorFactor": [rng.uniform(.2, 1) for _ in range(4)],
                                  "metallicFactor": rng.choice([0, 1]), "roughnessFactor": rng.choice([0.1, .9])},
         "alphaMode": rng.choice(["OPAQUE", "MASK", "BLEND"]), "doubleSided": rng.random() < .5}
    if rng.random() < .7:
        m["pbrMetallicRoughness"]["baseColorTexture"] = some_texture(g, rng)
    if rng.random() < .4:
        m["emissiveFactor"] = [rng.random() for _ in range(3)]
        m["extensions"] = {"KHR_materials_emissive_strength": {"emissiveStrength": rng.uniform(.5, 9)}}
        if rng.random() < .5:
            m["emissiveTexture"] = some_texture(g, rng)
    elif rng.random() < .2:
        m["extensions"] = {"KHR_materials_unlit": {}}
    if m["alphaMode"] == "MASK":
        m["alphaCutoff"] = rng.uniform(.3, .7)
    return m


def some_mesh(g, rng, material):
    count = 60
    attributes = {"POSITION": g.accessor([rng.uniform(-1, 1) for _ in range(3 * count)], "VEC3",
                                         min=[-1, -1, -1], max=[1, 1, 1])}
    if rng.random() < .5:
        normals = []
        for _ in range(count):
            n = [rng.gauss(0, 1) for _ in range(3)]
            normals += [x / math.hypot(*n) for x in n]
        attributes["NORMAL"] = g.accessor(normals, "VEC3")
    if rng.random() < .5:
        attributes["COLOR_0"] = g.accessor([rng.uniform(.3, 1) for _ in range(4 * count)], "VEC4")
    for k in range(2):
        if rng.random() < .9:
            attributes[f"TEXCOORD_{k}"] = g.accessor([rng.uniform(-2, 3) for _ in range(2 * count)], "VEC2")
    return g.mesh(attributes, indices=g.accessor([rng.randrange(count) for _ in range(3 * 40)], "SCALAR", 5125),
                  material=material)


def some_light(rng):
    light = {"type": rng.choice(["point", "spot", "directional"]), "color": [rng.random() for _ in range(3)],
             "intensity": rng.uniform(1, 30)}
    if light["type"] == "directional":
        light["intensity"] /= 10
    elif rng.random() < .5:
        light["range"] = rng.uniform(2, 12)
    if light["type"] == "spot":
        light["spot"] = {"innerConeAngle": .2, "outerConeAngle": rng.uniform(.3, 1.2)}
    return light


def anything(name, seed, lights, camera):
    """A scene of everything that shading knows, at random."""
    rng = random.Random(seed)
    g = Gltf()
    g.json["images"] = [{"bufferView": g.view(picture_file(rng, *size)), "mimeType": "image/png"}
                        for size in ((7, 5), (16, 16), (1, 3))]
    g.json["samplers"] = [{"magFilter": rng.choice([9728, 9729]), "wrapS": rng.choice([10497, 33071, 33648]),
                           "wrapT": rng.choice([10497, 33071, 33648])} for _ in range(6)]
    g.json["textures"] = [{"source": i % 3, "sampler": i} for i in range(6)]
    g.json["materials"] = [some_material(g, rng) for _ in range(12)]
    for i in range(12):
        some_mesh(g, rng, i)
    g.json["nodes"] = [{"mesh": rng.randrange(12), "translation": [rng.uniform(-3, 3) for _ in range(3)],
                        "scale": [rng.choice([-1, 1]) * rng.uniform(.3, 1.5) for _ in range(3)]} for _ in range(30)]
    g.json["cameras"] = [camera]
    g.json["nodes"].append({"camera": 0, "translation": [0.5, 0.25, 9]})
    if lights != 0:
        g.json["extensionsUsed"] = ["KHR_lights_punctual"]
        g.json["extensions"] = {"KHR_lights_punctual": {"lights": [some_light(rng) for _ in range(lights)]}}
        for i in range(lights):
            turn = [rng.gauss(0, 1) for _ in range(4)]
            g.json["nodes"].append({"translation": [rng.uniform(-4, 4) for _ in range(3)],
                                    "rotation": [x / math.hypot(*turn) for x in turn],
                                    "extensions": {"KHR_lights_punctual": {"light": i}}})
    g.json["scenes"] = [{"nodes": list(range(len(g.json["nodes"])))}]
    with open(path(name), "wb") as file:
        file.write(g.glb())
    return path(name)


WIDE = {"type": "perspective", "perspective": {"yfov": .9, "znear": .1}}
FLAT = {"type": "orthographic", "orthographic": {"xmag": 4, "ymag": 3, "znear": .5, "zfar": 11}}


@case()
def everything_that_shades_has_the_bytes():
    """Textures, cut-outs, blending, mirrors, lamps, many lights of all kinds, both cameras."""
    numbers = devices()
    for seed, (lights, camera, size) in enumerate(((0, WIDE, "67x45"), (3, FLAT, "33x97"), (12, WIDE, "64x64"), (0, FLAT, "29x23"))):
        scene = anything(f"anything{seed}.glb", seed, lights, camera)
        for words in (["--spp", 3], ["--spp", 2, "--bounces", 4], ["--spp", 1, "--bounces", 2, "--no-shadows"]):
            want = drawn(*words, scene=scene, size=size)
            check_eq(want[0], 0, f"{words}: {want[3]}")
            check(want[2]["primary"]["hits"] > 0, f"scene {seed}: nothing is hit")
            for number in numbers:
                got = drawn(*words, "--device", f"opencl:{number}", scene=scene, size=size)
                check_eq((got[0], got[2:]), (0, want[2:]), f"scene {seed}, device {number}: {words}")
                check(got[1] == want[1], f"scene {seed}, device {number}: {words}: other pixels")


@case()
def parts_and_threads_of_a_picture_on_devices():
    number = devices()[0]
    made("room", 2)
    want = drawn("--spp", 2)
    for part, device in ((1, "cpu"), (2, f"opencl:{number}"), (3, f"opencl:{number}")):
        result = facet("render", path("room.glb"), "--size", "150x90", "--spp", 2, "--quiet", "-o", path(f"picture{part}"),
                       "--part", f"{part}/3", "--device", device)
        check_eq(result.returncode, 0, result.stderr)
    result = facet("join", *(path(f"picture{k}") for k in (1, 2, 3)), "-o", path("joined.pfm"), "--stats", path("joined.json"))
    check_eq(result.returncode, 0, result.stderr)
    check(open(path("joined.pfm"), "rb").read() == want[1], "joined bytes")


@case()
def pictures_of_others_are_refused():
    for words, complaint in ((["--machine", "tile"], "--device is for machine gfx12"), (["--plain"], "for the processor"),
                             (["--machine", "all"], "is for a scene on one machine")):
        code, _, _, errors = drawn("--device", "opencl:0", *words)
        check(code == 2 and complaint in errors, f"{words}: {errors}")


def seen(image, *words, **environment):
    """Bytes of a picture of an image, and what is printed."""
    if os.path.exists(path("seen.pfm")):
        os.remove(path("seen.pfm"))
    result = facet("bvh", "render", image, "--size", "90x70", "-o", path("seen.pfm"), "--json", *words, **environment)
    drawn_bytes = open(path("seen.pfm"), "rb").read() if os.path.exists(path("seen.pfm")) else None
    return result.returncode, drawn_bytes, result.stdout, result.stderr


@case()
def pictures_of_images_have_the_bytes():
    boxes = made_boxes()
    for image, *words in ((made("knot", 160),), (made("instances", 24), "--aov", "normal"), (made("room", 2), "--aov", "depth"),
                          (made("instances", 24), "--heatmap", "nodes"), (made("terrain", 120), "--heatmap", "triangles"),
                          (boxes, "--procedural", "box", "--aov", "ids"), (boxes, "--procedural", "candidates")):
        want = seen(image, *words)
        check(want[0] == 0 and want[1] is not None, str(want))
        for number in devices():
            check(seen(image, *words, "--device", f"opencl:{number}", "--device-memory", "1M", "-q") == want[:3] + ("",),
                  f"device {number}: {words}")
    code, picture, _, errors = seen(made("knot", 160), "--device", "opencl:0", "--plain")
    check((code, picture) == (2, None) and "for the processor" in errors, errors)


@case()
def builders_are_compared_with_the_same_figures():
    a, b = made("terrain", 120), made("terrain", 120, "--quality=fast")
    write_rays(a, 20_000, 14)
    words = ["bvh", "diff", a, b, "--builders", "--rays", path("rays.bin"), "--json"]
    want = facet(*words)
    check("nodes_per_ray" in want.stdout and want.returncode < 2, want.stderr)
    for number in devices():
        got = facet(*words, "--device", f"opencl:{number}")
        check_eq((got.returncode, got.stdout, got.stderr), (want.returncode, want.stdout, want.stderr), f"device {number}")
    refused = facet("bvh", "diff", a, b, "--fields", "--device", "opencl:0")
    check(refused.returncode == 2 and "ask for one" in refused.stderr, refused.stderr)
    lost = lost_at("facet_fast facet_trace", 2)
    for more, status, told in (([], 2, "the device is lost"), (["--fallback", "cpu"], want.returncode, "the processor traces instead")):
        got = facet(*words, "--device", f"opencl:{devices()[0]}", *more, **lost)
        check(got.returncode == status and told in got.stderr, got.stderr)
        check_eq(got.stdout, want.stdout if more else "", "what is printed")


def shim():
    return device_shim.made(path("shim"))


def lost_at(kernels, runs, late=None):
    """Environment of a device that is lost at this run of any of these kernels; `late`: when nobody waits for it any more."""
    return {"LD_LIBRARY_PATH": shim(), "SHIM_LOSES": kernels, "SHIM_RUNS": str(runs), **({"SHIM_LATE": late} if late else {})}


@case()
def a_lost_device_is_an_error_or_the_processor_goes_on():
    number = devices()[0]
    image = made("knot", 160)
    write_rays(image, 30_000, 12)
    want = outcome(image, "--stats")
    for kernels, runs, late, what in (("facet_fast facet_trace", 2, None, "OpenCL: facet_"),
                                      ("facet_fast", 2, "event", "OpenCL: facet_fast"),
                                      ("facet_fast facet_trace", 2, "read", "OpenCL: clEnqueueReadBuffer"),
                                      ("facet_gather", 1, "event", "OpenCL: facet_gather"),
                                      ("facet_pack", 1, "event", "OpenCL: facet_pack"),
                                      ("facet_hits", 2, None, "OpenCL: facet_hits"),
                                      ("facet_hits", 2, "event", "OpenCL: facet_hits"),
                                      ("facet_sums", 1, "event", "OpenCL: facet_sums"),
                                      ("facet_sums", 1, "read", "OpenCL: clEnqueueReadBuffer")):
        lost = lost_at(kernels, runs, late)
        words = ["--device", f"opencl:{number}", "--device-memory", "8M", "--stats"]
        code, _, errors, hits, _ = outcome(image, *words, **lost)
        check_eq((code, hits), (2, None), errors)
        check(what in errors and "the device is lost" in errors and errors.count("\n") == 1, f"{kernels} {late}: {errors}")
        code, text, errors, hits, _ = outcome(image, *words, "--fallback", "cpu", **lost)
        check_eq((code, text), (0, want[1]), errors)
        check("the device is lost" in errors and "the processor traces instead" in errors and hits == want[3], errors)


@case()
def a_device_that_is_lost_in_a_picture():
    number = devices()[0]
    want = drawn("--spp", 2)
    for kernels, runs, *late in (("facet_fast facet_trace", 2), ("facet_paths", 1), ("facet_paths", 20), ("facet_gather", 5),
                                 ("facet_paths", 20, "event"), ("facet_gather", 5, "read")):
        lost = lost_at(kernels, runs, *late)
        words = ["--spp", 2, "--device", f"opencl:{number}", "--device-memory", "4M"]
        code, _, _, errors = drawn(*words, **lost)
        check(code == 2 and "the device is lost" in errors, f"{kernels} {runs}: {errors}")
        code, picture, rays, errors = drawn(*words, "--fallback", "cpu", **lost)
        check((code, picture, rays) == want[:3], f"{kernels} {runs}: exit code {code}, or another picture")
        check("the processor traces instead" in errors and errors.count("\n") == 1, errors)


@case()
def a_device_that_shades_with_other_bits_only_traces():
    number = devices()[0]
    want = drawn("--spp", 2, "--bounces", 2)
    for wrong in ("float worse(float a) { return nextafter(sqrt(a), 0.0f); }\n#undef sqrt\n#define sqrt worse\n",
                  "#define double float\n"):
        environment = {"LD_LIBRARY_PATH": shim(), "SHIM_PREFIX": wrong}
        listed = json.loads(facet("devices", "--json", **environment).stdout)[number]
        check(listed["exact"] and not listed["shades"] and listed["no_shading"], str(listed))
        check("shaded by the processor: " in facet("devices", **environment).stdout, "facet devices")
        got = drawn("--spp", 2, "--bounces", 2, "--device", f"opencl:{number}", **environment)
        check(got[:3] == want[:3], wrong)  # what is told is pocl's count of errors


@case()
def a_device_with_other_bits_is_refused():
    number = devices()[0]
    image = made("knot", 160)
    write_rays(image, 1000, 13)
    for wrong in ("float twice(float a, float b, float c) { return a * b + c; }\n#define fma twice\n",
                  "float flush(uint a) { float f = as_float(a); return fabs(f) < 0x1p-126f ? 0.0f : f; }\n"
                  "#undef as_float\n#define as_float(a) flush(as_uint(a))\n",
                  "float more(float a, float b) { a = fmax(a, b); return fabs(a) < 0x1p-126f ? 0.0f : a; }\n"
                  "#define fmax more\n",
                  "float less(float a, float b) { return a < b ? a : b; }\n#define fmin less\n"):
        environment = {"LD_LIBRARY_PATH": shim(), "SHIM_PREFIX": "#pragma OPENCL FP_CONTRACT OFF\n" + wrong}
        code, _, errors, hits, _ = outcome(image, "--device", f"opencl:{number}", **environment)
        check_eq((code, hits), (2, None), errors)
        check("cannot give the bits of GFX12" in errors, errors)
        listed = json.loads(facet("devices", "--json", **environment).stdout)[number]
        check(not listed["exact"] and "cannot give the bits" in listed["refusal"], str(listed))


main("gfx12_device_cli")
