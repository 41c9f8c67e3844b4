"""Ten thousand rays in every dialect and style of image: what the traversal hits, what `bvh why` answers and what its
brute force finds, against a brute force of the scene in double precision (ask_rays.c)."""
import os
import re
import struct
import subprocess
import sys
import tempfile

from dialects import gpurt, hiprt, model, radv
from harness import add_case, check, check_eq, main

ASK = sys.argv.pop(1)
FACET = os.environ["FACET"]
RAYS = model.rays(10000, ((-8, -5, -8), (8, 6, 9)), seed=21)

MIXED = [model.Geometry(model.soup(16)), model.Geometry(model.grid(2), opaque=False)]
PLAIN = [model.Geometry(model.grid(3))]
LONG = [model.Geometry(model.soup(12, seed=5, size=2.5))]
ROUND = [model.Geometry(model.sphere(7, 9, 2.0))]  # an odd number of triangles in many boxes: merged pairs
ZEROS = [model.Geometry(model.flat(4)), model.Geometry(model.soup(9), opaque=False)]
SOLID = [model.Boxes(model.boxes(14)), model.Boxes(model.boxes(5, seed=8), opaque=False)]
ONE = [model.Geometry(model.soup(16) + model.grid(2))]  # HIPRT has one geometry for each structure
PLACED = [model.Instance(0, model.turn(30, 3), user_data=0), model.Instance(1, model.identity(), user_data=1),
          model.Instance(0, model.turn(50, -3, 1, 2, 1.5), user_data=2)]

STYLES = {
    "radv_batch": ("radv", radv, [MIXED, PLAIN], {}),
    "radv_merged_pairs": ("radv", radv, [ROUND, LONG], {}),
    "radv_pair": ("radv", radv, [MIXED, PLAIN], {"mode": "pair", "infos": True}),
    "radv_single": ("radv", radv, [MIXED, ROUND], {"mode": "single", "layout": "2025"}),
    "radv_boxes": ("radv", radv, [SOLID, PLAIN], {}),
    "radv_64_mod_128": ("radv", radv, [PLAIN, LONG], {"layout": "2025", "infos": True, "address": 0x800034000000}),
    "radv_late": ("radv", radv, [ZEROS, PLAIN], {"layout": "late", "stale": 1, "address": 0x8000340000C0}),
    "radv_late_single": ("radv", radv, [MIXED, SOLID], {"layout": "late", "mode": "single", "stale": 2}),
    "gpurt_habits": ("gpurt", gpurt, [ZEROS, PLAIN], {"habits": True, "reuse": True}),
    "gpurt_habits_boxes": ("gpurt", gpurt, [SOLID, PLAIN], {"habits": True, "reuse": True}),
    "gpurt_batch": ("gpurt", gpurt, [MIXED, PLAIN], {}),
    "gpurt_single": ("gpurt", gpurt, [MIXED, ROUND], {"mode": "single"}),
    "gpurt_boxes": ("gpurt", gpurt, [SOLID, PLAIN], {}),
    "gpurt_rebraid": ("gpurt", gpurt, [MIXED, PLAIN], {"rebraid": True}),
    "gpurt_split": ("gpurt", gpurt, [LONG, ROUND], {"rebraid": True, "split": True}),
    "hiprt": ("hiprt", hiprt, [ONE, PLAIN], {}),
    "hiprt_split": ("hiprt", hiprt, [LONG, ROUND], {"split": True}),
    "hiprt_zeros": ("hiprt", hiprt, [[model.Geometry(model.flat(4))], LONG], {"split": True}),
}


def world(blases):
    """The scene as ask_rays.c reads it."""
    out = b""
    for number, i in enumerate(PLACED):
        shapes = [(g, p, shape) for g, geometry in enumerate(blases[i.blas])
                  for p, shape in enumerate(geometry.boxes if isinstance(geometry, model.Boxes) else geometry.triangles)]
        out += struct.pack("<2I12d", number, len(shapes), *(v for row in model.placed_inverse(i.matrix) for v in row))
        for g, p, shape in shapes:
            corners = [v for corner in shape for v in corner]
            out += struct.pack("<3I9f", g, p, int(len(corners) == 6), *(corners + [0.0] * 3)[:9])
    return out


def ask(folder, driver, blases, base, root, words):
    for name, data in (("world", world(blases)), ("rays", b"".join(struct.pack("<8f", *r) for r in RAYS))):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)
    done = subprocess.run([ASK, driver, folder + "/world", folder + "/rays", hex(base), hex(root), *words],
                          capture_output=True, text=True, timeout=600)
    check(done.returncode in (0, 1), "%d %s" % (done.returncode, done.stderr))
    counts = re.findall(r"(\d+) of (\d+) differ", done.stdout)
    hits = int(re.search(r"(\d+) hits", done.stdout).group(1))
    check(hits > 200 and all(int(n) > 100 for _, n in counts), done.stdout)
    check_eq([int(wrong) for wrong, _ in counts], [0, 0, 0, 0], done.stdout)


def style(name):
    driver, make, blases, options = STYLES[name]
    capture = make.scene(blases, PLACED, **options)
    with tempfile.TemporaryDirectory() as folder:
        ask(folder, driver, blases, capture.base, capture.root, capture.write(folder))


for _name, _row in STYLES.items():
    _id = {"radv": "G12-272", "gpurt": "G12-273", "hiprt": "G12-274"}[_row[0]]
    add_case(_name, lambda name=_name: style(name), _id + " G12-293")

main("ask_rays")
