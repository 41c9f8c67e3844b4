"""Images as GPURT lays them out, whole and rebraided: every command that follows rays finds what brute force finds."""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from dialects import gpurt, model  # noqa: E402
from harness import case, check, check_eq, main  # noqa: E402

FACET = os.environ["FACET"]


def run(*words, code=0):
    result = subprocess.run([FACET, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
    check_eq(result.returncode, code, f"{words}: {result.stderr.decode()} {result.stdout.decode()[:2000]}")
    return result.stdout


def world():
    blases = [[model.Geometry(model.sphere(9, 12))], [model.Geometry(model.grid(7)), model.Geometry(model.sphere(4, 6))]]
    instances = [model.Instance(0, model.move(3, 0, 0)), model.Instance(1, model.turn(30)),
                 model.Instance(0, model.turn(70)), model.Instance(1, model.move(-2, 1, 1), user_data=9)]
    return blases, instances


class Dump:
    def __init__(self, folder, count=400, **how):
        blases, instances = world()
        self.capture = gpurt.scene(blases, instances, **how)
        self.words = ["--base", f"0x{self.capture.base:x}", "--root", f"0x{self.capture.root:x}"]
        for segment in self.capture.write(folder):
            self.words += ["--segment", segment]
        self.scene = model.World(blases, instances)
        self.rays = model.rays(count, ((-3, -2, -2), (4, 2, 2)))
        self.file, self.out = os.path.join(folder, "rays.bin"), os.path.join(folder, "hits.bin")
        with open(self.file, "wb") as file:
            for ray in self.rays:
                file.write(struct.pack("<8f", *ray))

    def trace(self, *more):
        run("bvh", "trace", *self.words, "--rays", self.file, "-o", self.out, *more)
        with open(self.out, "rb") as file:
            return file.read()


MODES = [{"mode": "batch"}, {"mode": "single"}, {"mode": "batch", "rebraid": True}, {"mode": "single", "rebraid": True},
         {"mode": "batch", "split": True}, {"mode": "single", "split": True, "rebraid": True}]


@case("G12-284")
def rays_hit_what_brute_force_hits():
    for how in MODES:
        with tempfile.TemporaryDirectory() as folder:
            dump = Dump(folder, **how)
            hits = dump.trace()
            check(hits == dump.trace("--plain"), f"{how}: the plain way")
            check(hits == dump.trace("--profile", "gpurt"), f"{how}: profile gpurt")
            found = 0
            for i, ray in enumerate(dump.rays):
                t, _, _, primitive, geometry, _, instance, flags = struct.unpack_from("<3f5I", hits, 32 * i)
                known = dump.scene.hits(ray)
                found += flags & 1
                if not flags & 1:
                    check(all(h[4] < 1e-4 for h in known), f"{how}: ray {i} misses {known}")
                else:
                    check(any(abs(h[0] - t) < 1e-3 * max(1, t) and h[2:4] == (geometry, primitive) for h in known) or
                          any(h[4] < 1e-4 for h in known), f"{how}: ray {i} hits {primitive} at {t}: {known}")
            check(found > 100, f"{how}: {found} hits")


@case("G12-284")
def figures_and_explanations_follow_the_numbers():
    blases, _ = world()
    triangles = sum(len(g.triangles) for b in blases for g in b)
    for how in MODES[:4]:
        with tempfile.TemporaryDirectory() as folder:
            dump = Dump(folder, count=8, **how)
            info = json.loads(run("bvh", "info", *dump.words, "--json"))
            check_eq((info["triangles"], info["bottom_levels"]), (triangles, 2), f"{how}: triangles and BLASes")
            hits = dump.trace()
            for i, ray in enumerate(dump.rays):
                numbers = [v for k, v in enumerate(ray) if k not in (3, 7)] + [ray[3], ray[7]]
                told = json.loads(run("bvh", "why", *dump.words, "--json", "--ray", " ".join(map(str, numbers))))
                flags, = struct.unpack_from("<I", hits, 32 * i + 28)
                check_eq(told["result"]["found"], bool(flags & 1), f"{how}: ray {i}: {told['result']}")


@case("G12-284")
def the_machine_follows_the_numbers():
    for how in MODES[:4]:
        with tempfile.TemporaryDirectory() as folder:
            dump = Dump(folder, count=8, spread=256, **how)
            base = dump.capture.base  # the machine has one base: that of the image, here the TLAS's header
            image = bytearray(max(s.address + len(s.data) for s in dump.capture.segments) - base)
            for s in dump.capture.segments:
                at = s.address - base
                image[max(at, 0):at + len(s.data)] = s.data[max(-at, 0):]
            path = os.path.join(folder, "paste.bin")
            with open(path, "wb") as file:
                file.write(image)
            hits = dump.trace()
            for i, ray in enumerate(dump.rays):
                t, _, _, primitive, _, _, _, flags = struct.unpack_from("<3f5I", hits, 32 * i)
                text = " ".join(str(v) for k, v in enumerate(ray) if k not in (3, 7))
                told = json.loads(run("gfx12", "run", path, *dump.words[:4], "--ray", text, "--json"))
                hit = told["lanes"][0]["hit"]
                check_eq(hit is not None, bool(flags & 1), f"{how}: ray {i} {told}")
                check(hit is None or hit["primitive"] == primitive, f"{how}: ray {i}: {hit}, expected {primitive}")


main("gpurt_roots")
