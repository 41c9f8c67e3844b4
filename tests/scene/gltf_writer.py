"""A small glTF writer for tests, independent of the one in C."""
import json
import struct
import zlib


def png(width, height, rgb, rows=None):
    """A picture of one colour; `rows` less than the height makes a file that promises too much."""
    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body +
                struct.pack(">I", zlib.crc32(kind + body)))
    rows = height if rows is None else rows
    data = b"".join(b"\0" + bytes(rgb) * width for _ in range(rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


class Gltf:
    """A document under construction: tables, and a binary chunk that accessors are added to."""
    FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
    WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}

    def __init__(self):
        self.bin = b""
        self.json = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}],
                     "nodes": [{"mesh": 0}], "meshes": [], "accessors": [], "bufferViews": [],
                     "buffers": [{"byteLength": 0}]}

    def view(self, data, **more):
        self.bin += b"\0" * (-len(self.bin) % 4)
        self.json["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(self.bin), "byteLength": len(data), **more})
        self.bin += data
        self.json["buffers"][0]["byteLength"] = len(self.bin)
        return len(self.json["bufferViews"]) - 1

    def accessor(self, values, kind, component=5126, **more):
        data = struct.pack(f"<{len(values)}{self.FORMATS[component]}", *values)
        self.json["accessors"].append(
            {"bufferView": self.view(data), "componentType": component,
             "count": len(values) // self.WIDTHS[kind], "type": kind, **more})
        return len(self.json["accessors"]) - 1

    def mesh(self, attributes, **more):
        self.json["meshes"].append({"primitives": [{"attributes": attributes, **more}]})
        return len(self.json["meshes"]) - 1

    def glb(self):
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        data = self.bin + b"\0" * (-len(self.bin) % 4)
        return (struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)) +
                struct.pack("<I4s", len(text), b"JSON") + text +
                struct.pack("<I4s", len(data), b"BIN\0") + data)


TRIANGLE = [0, 0, 0, 1, 0, 0, 0, 1, 0]


def triangle():
    g = Gltf()
    g.mesh({"POSITION": g.accessor(TRIANGLE, "VEC3")},
           indices=g.accessor([0, 1, 2], "SCALAR", 5123))
    return g
