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
