"""Writes files that drivers leave behind into a folder, by the encoders of tests/gfx12/dialects, and tells them as JSON:
{"captures": [NAME...], "buffers": {DRIVER: [[FILE, ADDRESS]...]}}.

usage: write_captures.py FOLDER
"""
import ctypes
import ctypes.util
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "gfx12"))
from dialects import gpurt, hiprt, model, radv, rra  # noqa: E402

MIXED = [model.Geometry(model.soup(16)), model.Geometry(model.grid(2), opaque=False)]
PLAIN = [model.Geometry(model.grid(3))]
SINGLE = [[model.Geometry(model.soup(16) + model.grid(2))], PLAIN]  # HIPRT has one geometry for each structure
PLACED = [model.Instance(0, model.turn(30, 3), user_data=0, custom=7), model.Instance(1, model.identity(), user_data=1)]
HIGH = 0xFFFF800034000000  # canonical, as RADV's buffers are


def squeeze_well(data: bytes) -> bytes:
    """As rra.squeeze, at level 19 and with a checksum."""
    lib = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    lib.ZSTD_createCCtx.restype = ctypes.c_void_p
    lib.ZSTD_compressBound.restype = lib.ZSTD_compress2.restype = ctypes.c_size_t
    context = ctypes.c_void_p(lib.ZSTD_createCCtx())
    for parameter, value in ((100, 19), (201, 1)):
        lib.ZSTD_CCtx_setParameter(context, parameter, value)
    room = ctypes.create_string_buffer(lib.ZSTD_compressBound(ctypes.c_size_t(len(data))))
    size = lib.ZSTD_compress2(context, room, ctypes.c_size_t(len(room)), data, ctypes.c_size_t(len(data)))
    lib.ZSTD_freeCCtx(context)
    return room.raw[:size]


def packed_well() -> bytes:
    """Structures of some size: many blocks' worth of sequences, repeated offsets, four streams of literals."""
    large = [[model.Geometry(model.grid(60))], [model.Geometry(model.soup(1500))]]
    squeeze, rra.squeeze = rra.squeeze, squeeze_well
    try:
        return rra.capture(gpurt.scene(large, PLACED), compress=True)
    finally:
        rra.squeeze = squeeze


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    of_gpurt, of_radv = gpurt.scene([MIXED, PLAIN], PLACED), radv.scene([MIXED, PLAIN], PLACED)
    captures = {
        "plain.rra": rra.capture(of_gpurt),
        "short.rra": rra.capture(of_gpurt, short=True),
        "packed.rra": rra.capture(of_gpurt, compress=True),
        "well.rra": packed_well(),
        "recorded.rra": rra.recorded(of_radv, [[len(PLACED)], [16, 8], [18]]),
    }
    for name, data in captures.items():
        (folder / name).write_bytes(data)
    scenes = {"radv": radv.scene([MIXED, PLAIN], PLACED, address=HIGH), "gpurt": of_gpurt, "hiprt": hiprt.scene(SINGLE, PLACED)}
    buffers = {}
    for driver, scene in scenes.items():
        buffers[driver] = []
        for number, segment in enumerate(scene.segments):
            name = f"{driver}-{number}.bin"
            (folder / name).write_bytes(segment.data)
            buffers[driver].append([name, hex(segment.address)])
    print(json.dumps({"captures": sorted(captures), "buffers": buffers}))


main()
