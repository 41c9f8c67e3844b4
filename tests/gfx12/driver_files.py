"""What the suites about drivers' structures share: running the program, files, scenes, rays and their answers."""
import json
import os
import struct
import subprocess

from dialects import gpurt, model
from harness import check, check_eq

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples/gfx12/cube.obj")
WHOLE = ((-8, -5, -8), (8, 6, 9))  # around what PLACED shows


def facet(*words):
    return subprocess.run([FACET, "bvh", *map(str, words)], capture_output=True, text=True, timeout=600)


def words_of(capture, folder):
    return [word for text in capture.write(folder) for word in ("--segment", text)]


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def hits_of(folder, rays, *words):
    """(t, geometry, primitive, user data) or None for each ray."""
    source, target = write(folder, "rays.bin", b"".join(struct.pack("<8f", *r) for r in rays)), folder + "/hits.bin"
    result = facet("trace", *words, "--rays", source, "-o", target)
    check_eq(result.returncode, 0, "exit code of trace (%s)" % result.stderr)
    with open(target, "rb") as file:
        data = file.read()
    out = []
    for i in range(len(rays)):
        t, _, _, primitive, geometry, user, _, _ = struct.unpack_from("<3f5I", data, 32 * i)
        out.append(None if primitive == model.NONE else (t, geometry, primitive, user))
    return out


def agrees(world, rays, hits, what):
    wrong = [i for i, ray in enumerate(rays) if not model.closest(world, ray, hits[i])]
    check(not wrong, "%s: %d of %d rays differ from brute force, first %r: %r" % (
        what, len(wrong), len(rays), wrong and rays[wrong[0]], wrong and (hits[wrong[0]], world.hits(rays[wrong[0]])[:3])))
    check(sum(h is not None for h in hits) > len(rays) // 50, what + ": hits")


def metadata(offset):
    return gpurt.METADATA_BYTES + offset


def write_obj(folder, name, triangles):
    lines = ["v %.9g %.9g %.9g" % v for t in triangles for v in t]
    lines += ["f %d %d %d" % (3 * i + 1, 3 * i + 2, 3 * i + 3) for i in range(len(triangles))]
    return write(folder, name, "\n".join(lines).encode() + b"\n")


def written(out, capture):
    """The words that read what `update -o out` wrote, and the bytes."""
    names = [out] + ["%s.0x%x" % (out, s.address) for s in capture.segments[1:]]
    data = []
    for name in names:
        with open(name, "rb") as file:
            data.append(file.read())
    return [w for s, name in zip(capture.segments, names) for w in ("--segment", "%s@0x%x" % (name, s.address))], data


def findings(*words):
    return json.loads(facet("check", *words, "--json").stdout)["findings"]


def updated(folder, driver, capture, scene, *more):
    out = os.path.join(folder, "out")
    result = facet("update", *words_of(capture, folder), "--driver", driver, "--scene", scene, "-o", out, *more)
    check_eq(result.returncode, 0, result.stderr)
    return written(out, capture)


def write_gltf(folder, meshes, placed):
    """Meshes and a node for each instance."""
    data, doc = b"", {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], "meshes": [],
                      "nodes": [{"mesh": i.blas, "matrix": [v for k in range(4) for v in
                                                            [row[k] for row in i.matrix] + [float(k == 3)]]} for i in placed]}
    for mesh in meshes:
        points = [v for t in mesh for v in t]
        low, high = model.around(points)
        doc["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": 12 * len(points)})
        doc["accessors"].append({"bufferView": len(doc["accessors"]), "componentType": 5126, "count": len(points),
                                 "type": "VEC3", "min": list(low), "max": list(high)})
        doc["meshes"].append({"primitives": [{"attributes": {"POSITION": len(doc["meshes"])}}]})
        data += b"".join(struct.pack("<3f", *p) for p in points)
    write(folder, "m.bin", data)
    doc["buffers"] = [{"uri": "m.bin", "byteLength": len(data)}]
    doc["scenes"], doc["scene"] = [{"nodes": list(range(len(placed)))}], 0
    return write(folder, "m.gltf", json.dumps(doc).encode())


def model_file(folder, mesh):
    text = "".join("v %.9g %.9g %.9g\n" % tuple(v) for triangle in mesh for v in triangle)
    text += "".join(f"f {3 * i + 1} {3 * i + 2} {3 * i + 3}\n" for i in range(len(mesh)))
    return write(folder, "s.obj", text.encode())
