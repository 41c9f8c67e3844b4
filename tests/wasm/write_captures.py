"""Writes files that drivers leave behind into a folder, by the encoders of tests/gfx12/dialects, and tells them as JSON:
{"captures": [NAME...], "buffers": {DRIVER: [[FILE, ADDRESS]...]}}.

usage: write_captures.py FOLDER
"""
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


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    of_gpurt, of_radv = gpurt.scene([MIXED, PLAIN], PLACED), radv.scene([MIXED, PLAIN], PLACED)
    captures = {
        "plain.rra": rra.capture(of_gpurt),
        "short.rra": rra.capture(of_gpurt, short=True),
        "packed.rra": rra.capture(of_gpurt, compress=True),
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
