"""Captures of the Radeon Raytracing Analyzer: an RDF container with a chunk for every structure. Also as
RADV writes them, whose header of a structure has 120 bytes before the nodes instead of 128."""
import ctypes
import ctypes.util
import struct

from . import gpurt, model

MAGIC = b"AMD_RDF "


def squeeze(data):
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress.restype = ctypes.c_size_t
    lib.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    lib.ZSTD_compress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = ctypes.create_string_buffer(lib.ZSTD_compressBound(len(data)))
    size = lib.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:size]


def container(chunks, compress=False, version=3, magic=MAGIC):
    """`chunks`: (identifier, version, header, data)."""
    body, index = b"", b""
    for name, chunk_version, head, data in chunks:
        stored = squeeze(data) if compress else data
        at = 32 + len(body)
        index += struct.pack("<16sB3xI5q", name.encode(), int(compress), chunk_version, at, len(head), at + len(head),
                             len(stored), len(data) if compress else 0)
        body += head + stored
    return struct.pack("<8s2I2q", magic, version, 0, 32 + len(body), len(index)) + body + index


def information():
    api = struct.pack("<I2H", 3, 1, 3)
    asic = bytearray(568)
    struct.pack_into("<2I", asic, 40, 0x7550, 0xC0)
    asic[144:144 + 20] = b"AMD Radeon RX 9070\0\0"
    return [("ApiInfo", 1, b"", api), ("AsicInfo", 1, b"", bytes(asic))]


def capture(scene, compress=False, rtip=None, version=gpurt.VERSION, name="RawAccelStruct", short=False):
    """The bytes of a capture of gpurt.scene(...). `short`: as RADV writes it."""
    chunks = information()
    for segment in scene.segments:
        data = bytearray(segment.data)
        blas = segment is not scene.segments[0]
        offset, size = gpurt.METADATA_BYTES, gpurt.HEADER_BYTES
        if rtip is not None:
            struct.pack_into("<I", data, offset + 72, rtip)
        if short:
            # 128 bytes of metadata, of which 12 are used, and a header without its last eight bytes.
            struct.pack_into("<I", data, offset + 4, 128)
            data = bytes(data[:12]).ljust(128, b"\0") + data[offset:offset + 120] + data[offset + 128:]
            offset, size = 128, 120
        address = segment.address + (gpurt.METADATA_BYTES - 128 if short else 0)
        head = struct.pack("<2I5I", address & 0xFFFFFFFF, address >> 32, 0, 12, offset, size, int(blas))
        chunks.append((name, version, head, bytes(data)))
    return container(chunks, compress)


class Recorder:
    """A structure of RADV in the form in which RADV records it: box nodes, then leaves, one after another in the order of a
    walk; a leaf that two boxes share is there twice, instances lose what stands beside them to a table at the end."""
    def __init__(self, data):
        self.offset, = struct.unpack_from("<I", data, 0)
        self.nodes, self.boxes, self.leaves, self.side = data[self.offset:], 0, 0, b""
        self.count(0)
        self.out = bytearray(128 * (1 + self.boxes + self.leaves))
        self.next_box, self.next_leaf = 256, 128 * (1 + self.boxes)
        self.copy(0, 128, 0xFFFFFFFF)

    def children(self, at):
        inner, leaf, exponents = struct.unpack_from("<2I16xI", self.nodes, at)
        inner, leaf = inner << 3, leaf << 3
        for i in range(1 + (exponents >> 28) if exponents >> 28 != 15 else 0):
            last, = struct.unpack_from("<I", self.nodes, at + 40 + 12 * i)
            kind, size = last >> 24 & 15, last >> 28
            yield i, kind, inner if kind == 5 else leaf
            inner, leaf = (inner + 128 * size, leaf) if kind == 5 else (inner, leaf + 128 * size)

    def count(self, at):
        self.boxes += 1
        for _, kind, child in self.children(at):
            self.leaves += kind in (0, 6)
            if kind == 5:
                self.count(child)

    def copy(self, at, to, parent):
        self.out[to:to + 128] = self.nodes[at:at + 128]
        struct.pack_into("<3I", self.out, to, self.next_box >> 3, self.next_leaf >> 3, parent)
        box, leaf = self.next_box, self.next_leaf
        self.next_box += 128 * sum(kind == 5 for _, kind, _ in self.children(at))
        self.next_leaf += 128 * sum(kind in (0, 6) for _, kind, _ in self.children(at))
        for i, kind, child in self.children(at):
            if kind == 5:
                self.copy(child, box, to >> 3 | 5)
                box += 128
            elif kind in (0, 6):
                self.out[leaf:leaf + 128] = self.nodes[child:child + 128]
                if kind == 6:
                    self.instance(child, leaf, to >> 3 | 5)
                    self.out[to + 43 + 12 * i] = 0x16
                leaf += 128

    def types(self):
        """Type and size of every child of a box as recorded."""
        for at in range(128, 128 * (1 + self.boxes), 128):
            count = self.out[at + 27] >> 4
            yield from (self.out[at + 43 + 12 * i] for i in range(1 + count if count != 15 else 0))

    def instance(self, at, to, parent):
        custom, index, offset = struct.unpack_from("<3I", self.nodes, at + 128 + 48)
        link, = struct.unpack_from("<Q", self.nodes, at + 48)
        struct.pack_into("<QI", self.out, to + 48, link - (offset >> 3) + (128 >> 3), parent)
        self.side += struct.pack("<4I", index, custom, 12, 0) + self.nodes[at + 128:at + 176]


def recorded(scene, counts, compress=False):
    """The capture that RADV makes of radv.scene(...); `counts`: for each of its structures, the primitives of each geometry."""
    chunks = information()
    for number, (segment, geometries) in enumerate(zip(scene.segments, counts)):
        r, count = Recorder(segment.data), sum(geometries)
        first = 128 * (1 + r.boxes)
        end = first + 128 * r.leaves
        head = struct.pack("<16IQI44x", int(number != 0), 128, len(r.out) + 120, count, count, 0, len(geometries),
                           0 if number else 2, 128,
                           first, end, end + len(r.side), r.boxes, 0, count, 8 << 16, 0, 5)
        va = segment.address & 0xFFFFFFFFFFFF
        tail = r.side if number == 0 else b"".join(struct.pack("<3I", n, 0, 0) for n in geometries)
        data = struct.pack("<QI116x", va, len(r.out)) + head + bytes(r.out[128:]) + tail
        chunks.append(("RawAccelStruct", 0xF0005, struct.pack("<Q5I", va, 0, 12, 128, 120, int(number != 0)), data))
    return container(chunks, compress)
