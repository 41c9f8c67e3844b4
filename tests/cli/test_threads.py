"""Commands that share their work among threads give the same bytes on one thread and on four. Under the thread
sanitizer this is also the test that they do so without races (.ci/run)."""
import os
import struct
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
SCENE = os.path.join(SOURCE, "assets/boxes.glb")
RAY = struct.Struct("<8f")  # origin, nearest, direction, farthest


def facet(*words):
    result = subprocess.run([FACET, *map(str, words)], capture_output=True, timeout=600)
    check_eq(result.returncode, 0, "exit code of %s (%s)" % (" ".join(map(str, words)), result.stderr.decode()))
    return result.stdout


def outputs(folder, command, option, name):
    """The file that the command writes, on one thread and on four."""
    files = []
    for threads in (1, 4):
        path = os.path.join(folder, "%d-%s" % (threads, name))
        facet(*command, option, threads, "-o", path)
        with open(path, "rb") as f:
            files.append(f.read())
    check(len(files[0]) > 0, "nothing was written")
    check(files[0] == files[1], "one thread and four threads do not write the same bytes")
    return path


def renders(machine):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            outputs(folder, ["render", SCENE, "--machine", machine, "--size", "40x30", "--spp", 2, "--quiet"],
                    "--threads", "picture.png")
    return test


for name in ("gfx12", "tile", "xphmg-rt", "xphmg-rt-offload", "xphmg-gfx", "xphmg-gfx-portable"):
    add_case("render_" + name.replace("-", "_"), renders(name))


def builds(quality):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            outputs(folder, ["bvh", "build", SCENE, "--quality", quality, "--quiet"], "--threads", "scene.gfx12")
    return test


for name in ("contract", "fast", "high"):
    add_case("bvh_build_" + name, builds(name))


@case()
def bvh_trace():
    with tempfile.TemporaryDirectory() as folder:
        image = outputs(folder, ["bvh", "build", SCENE, "--quiet"], "--threads", "scene.gfx12")
        rays = os.path.join(folder, "rays.bin")
        with open(rays, "wb") as f:
            for i in range(5000):
                f.write(RAY.pack(0.01 * (i % 70) - 0.3, 0.01 * (i // 70) + 0.2, 5, 0, 0.0001 * i - 0.2, 0.01, -1, 1e30))
        outputs(folder, ["bvh", "trace", image, "--rays", rays], "--threads", "hits.bin")


@case()
def tile_draw():
    with tempfile.TemporaryDirectory() as folder:
        outputs(folder, ["tile", "draw", os.path.join(SOURCE, "examples/tile/triangle.json")], "--threads", "picture.png")


main("threads")
