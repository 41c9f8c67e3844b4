"""Nothing silent: rays that look for nodes outside the image, for types that name no node, or run through a range without
an end are counted by `bvh trace` and `bvh why`, on every path, and make the exit code 1."""
import json
import math
import os
import random
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
CUBE = os.path.join(os.environ["FACET_SOURCE"], "examples/gfx12/cube.obj")
KEYS = ("outside", "no_type", "endless_ranges")


def facet(*words):
    return subprocess.run([FACET, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Image:
    def __init__(self, folder):
        scene, self.path = os.path.join(folder, "s.glb"), os.path.join(folder, "s.gfx12")
        for words in (["scene", "make", "instances", "--size", "3", "-o", scene],
                      ["bvh", "build", scene, "-o", self.path, "--quiet", "--base", "0x40000"]):
            check_eq(facet(*words).returncode, 0, f"{words}")
        with open(self.path, "rb") as file:
            self.bytes = bytearray(file.read())
        self.nodes = json.loads(facet("bvh", "dump", self.path, "--base", "0x40000", "--json").stdout)["nodes"]
        boxes = self.nodes[0]["decoded"]["children"]
        low, high = ([pick(b[side][k] for b in boxes) for k in range(3)] for side, pick in (("lo", min), ("hi", max)))
        source, self.rays = random.Random(3), []
        for _ in range(24):
            target = [source.uniform(low[k], high[k]) for k in range(3)]
            start = [t + source.uniform(-9, 9) for t in target]
            self.rays.append(struct.unpack("<8f", struct.pack("<8f", *start, 0, *(t - s for t, s in zip(target, start)),
                                                              1e30)))
        self.file, self.out = os.path.join(folder, "rays.bin"), os.path.join(folder, "hits.bin")
        write(self.file, b"".join(struct.pack("<8f", *r) for r in self.rays))

    def offsets(self, kind):
        return [int(n["offset"], 0) for n in self.nodes if n["kind"] == kind]

    def told_by_why(self, base, across):
        """The same counts, from the explanations of the rays: nodes that are none, by how they were come to. With --base nodes
        that lie across each other are told whatever the ray meets."""
        counts, first = dict.fromkeys(KEYS, 0), {}
        for number, r in enumerate(self.rays):
            text = " ".join(repr(v) for v in (*r[:3], *r[4:7], r[3], r[7]))
            result = facet("bvh", "why", self.path, "--base", base, "--ray", text, "--json", "--max", "1000000")
            steps, lost = json.loads(result.stdout)["steps"], 0
            for before, step in zip([None, *steps], steps):
                if step.get("no_node") is None:
                    continue
                ranged = before is not None and before["kind"] == "primitive" and not step["popped"]
                key = "endless_ranges" if ranged else "outside" if "outside" in step["no_node"] else "no_type"
                counts[key] += 1
                lost += 1
                first.setdefault(key, (number, int(step["address"], 0)))
            check_eq(result.returncode, 1 if lost or across else 0, f"exit code of why, ray {number}")
        return counts, first

    def check(self, want, base="0x40000"):
        write(self.path, self.bytes)
        # With a wrong base no instance leads into the image; elsewhere the roots of levels are damaged.
        counts, first = self.told_by_why(base, base != "0x40000" or want in (["endless_ranges"], ["no_type"]))
        check(all((counts[k] > 0) == (k in want) for k in KEYS), f"{counts}, expected {want}")
        for more in ([], ["--plain"], ["--threads", "3"], ["--stack", "16"]):
            result = facet("bvh", "trace", self.path, "--base", base, "--rays", self.file, "-o", self.out, "--json", *more)
            told = json.loads(result.stdout)
            check_eq(result.returncode, 1 if want else 0, f"exit code of trace {more}: {result.stderr}")
            check_eq({k: told[k] for k in KEYS}, counts, f"counts of trace {more}")
            check_eq({k: (e["ray"], int(e["address"], 0)) for k, e in told["examples"].items()}, first, "examples")
            check_eq(len(result.stderr.splitlines()), len(want), f"{result.stderr}")
            for key, (ray, address) in first.items():
                check(f"by ray {ray}" in result.stderr.decode() and f"0x{address:x}" in result.stderr.decode(),
                      f"{result.stderr}")


@case()
def a_sound_image_loses_nothing():
    with tempfile.TemporaryDirectory() as folder:
        Image(folder).check([])


@case()
def a_wrong_base_and_a_cut_image_are_told():
    with tempfile.TemporaryDirectory() as folder:
        image = Image(folder)
        image.check(["outside"], base="0x7f0000000000")
        last = max(int(n["offset"], 0) for n in image.nodes if n["kind"] == "box")  # the last BLAS and others
        del image.bytes[last // 3 * 2 // 128 * 128:]
        image.check(["outside"])


@case()
def a_wrong_base_inside_the_image_is_told():
    """Whatever the ray meets: the instances do not lead to roots."""
    with tempfile.TemporaryDirectory() as folder:
        image = Image(folder)
        for off in (0x40, 0x80, 0x100, 0x180, 0x200, 0x280, 0x400):
            base = hex(0x40000 - off)
            for words in (["--brief"], ["--json"], ["--expect", "0"]):
                result = facet("bvh", "why", image.path, "--base", base, "--ray", "900 900 900 1 1 1", *words)
                check_eq(result.returncode, 1, f"why {words} from {base}: {result.stderr}")
                check(words[0] == "--expect" or b"is --base right?" in result.stderr, f"{base}: {result.stderr}")
        result = facet("bvh", "why", image.path, "--base", "0x40000", "--ray", "900 900 900 1 1 1", "--brief")
        check_eq((result.returncode, result.stderr), (0, b""), "the right base")


@case()
def every_wrong_base_of_a_small_image_is_told():
    """Where the bytes in between look like nodes, too: a box at half of one, an instance that leads to itself."""
    with tempfile.TemporaryDirectory() as folder:
        image, rays = folder + "/cube.gfx12", folder + "/rays.bin"
        check_eq(facet("bvh", "build", CUBE, "-o", image, "--base", "0x80", "--quiet").returncode, 0)
        with open(rays, "wb") as file:
            file.write(struct.pack("<8f", -1, .25, .5, 0, 1, .25, .125, math.inf))
        for base in range(0, 0x240, 0x40):
            for words in (["why", image, "--ray", "-1 0.25 0.5 1 0.25 0.125", "--brief"], ["info", image],
                          ["trace", image, "--rays", rays, "-o", folder + "/hits.bin"]):
                result = facet("bvh", *words, "--base", hex(base))
                check_eq((result.returncode == 0, result.stderr == b""), (base == 0x80,) * 2,
                         f"{words[0]} from {base:#x}: {result.stderr}")


@case()
def types_that_name_no_node_are_told():
    with tempfile.TemporaryDirectory() as folder:
        image = Image(folder)
        for at in image.offsets("box"):
            if at != 0:
                image.bytes[at + 32 + 11] = image.bytes[at + 32 + 11] & 0xF0 | 7  # the type of child 0
        image.check(["no_type"])


@case()
def ranges_without_an_end_are_told():
    with tempfile.TemporaryDirectory() as folder:
        image = Image(folder)
        for at in image.offsets("primitive"):
            count = (image.bytes[at + 3] >> 4 & 7) + 1
            for pair in range(8):  # no pair of any node stops, and the last node is that of the image
                bit = 1024 - 29 * (pair + 1)
                image.bytes[at + bit // 8] &= ~(1 << bit % 8) & 0xFF if pair < count else 0xFF
        image.check(["endless_ranges"])


main("bvh_lost")
