"""A decoder of updatable GFX12 images (spec/gfx12-semantics.md 7 and 8) for tests, independent of the one in C."""
import json
import os
import struct
import subprocess

from harness import check_eq


def bits(node, at, width):
    return int.from_bytes(node, "little") >> at & ((1 << width) - 1)


def floats(words):
    return [struct.unpack("<f", struct.pack("<I", word))[0] for word in words]


def join(base, base_bits, own, own_bits):
    return own if own_bits >= base_bits else own | base >> own_bits << own_bits


def node_triangles(node):
    """The triangles of a primitive node of whole floats."""
    pairs, mid = bits(node, 28, 3) + 1, bits(node, 42, 10)
    gab, gpb, pab, ppb = 2 * bits(node, 20, 4), 2 * bits(node, 24, 4), bits(node, 32, 5), bits(node, 37, 5)
    check_eq(bits(node, 0, 20), 0x7FFF, "widths of an updatable node")
    for t in range(2 * pairs):
        at = 1024 - 29 * (t // 2 + 1) + (1 if t % 2 else 15)
        numbers = bits(node, at + 2, 12)
        if t % 2 and numbers == 0:
            continue
        geometry, primitive = bits(node, mid - gab, gab), bits(node, mid, pab)
        if t:
            geometry = join(geometry, gab, bits(node, mid - gab - t * gpb, gpb), gpb)
            primitive = join(primitive, pab, bits(node, mid + pab + (t - 1) * ppb, ppb), ppb)
        yield {"geometry": geometry, "primitive": primitive, "double_sided": bits(node, at, 1),
               "opaque": bits(node, at + 1, 1),
               "corners": [floats([bits(node, 52 + 96 * (numbers >> 4 * c & 15) + 32 * k, 32) for k in range(3)])
                           for c in range(3)]}


def read_image(path):
    """Triangles by the address of their BLAS, and instances."""
    dump = subprocess.run([os.environ["FACET"], "bvh", "dump", path, "--json"], capture_output=True, timeout=600)
    check_eq(dump.returncode, 0, dump.stderr)
    with open(path, "rb") as file:
        data = file.read()
    instances, triangles, nodes = [], {}, json.loads(dump.stdout)["nodes"]
    for node in nodes:
        at = int(node["offset"], 16)
        block = data[at:at + 128]
        if node["kind"] == "instance":
            pointer = bits(block, 384, 64)
            instances.append({"blas": (pointer & ((1 << 45) - 1)) * 8, "flags": pointer >> 54,
                              "user_data": bits(block, 480, 24), "mask": bits(block, 504, 8),
                              "matrix": floats([bits(block, 32 * i, 32) for i in range(12)])})
    starts = sorted({i["blas"] for i in instances})
    for node in nodes:
        at = int(node["offset"], 16)
        if node["kind"] == "primitive":
            blas = max(start for start in starts if start <= at)
            triangles.setdefault(blas, []).extend(node_triangles(data[at:at + 128]))
    return triangles, instances
