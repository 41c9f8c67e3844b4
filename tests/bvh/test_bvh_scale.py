"""Memory of large images: build, info, check and trace of 2.4 million triangles have at most three times the size of the
image, and 40 MB for the program itself and its threads. The bound is that of 10 million triangles, which take too long here.
Rays and hits, however many, count among those 40 MB."""
import os
import random
import struct
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
OWN_KB = 40000
SANITIZED = sys.argv.pop(1) != "none" if len(sys.argv) > 1 else False
# With it malloc writes to all memory that it gives out, used or not.
PLAIN = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


def peak_kb(*words):
    """Of the process or, where that is more, of the importer that it starts."""
    child = subprocess.Popen([FACET, *words, "--quiet"], stdout=subprocess.DEVNULL, env=PLAIN)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    check_eq(child.returncode, 0, f"{words}")
    return usage.ru_maxrss


def check_bound(path, *words):
    used = peak_kb(*words)
    most = 3 * os.path.getsize(path) // 1024 + OWN_KB
    if not SANITIZED:
        check(used <= most, f"{words[1]}: {used} KB, expected at most {most}")


def write_rays(path, count):
    source = random.Random(4)
    with open(path, "wb") as file:
        for _ in range(count):
            start = [source.uniform(-50, 50), 30, source.uniform(-50, 50)]
            target = [source.uniform(-50, 50), 0, source.uniform(-50, 50)]
            file.write(struct.pack("<8f", *start, 0, *(t - s for t, s in zip(target, start)), 1e30))


@case()
def three_times_the_image_are_enough():
    with tempfile.TemporaryDirectory() as folder:
        scene, image, rays, hits = (os.path.join(folder, name) for name in ("s.glb", "s.gfx12", "rays", "hits"))
        peak_kb("scene", "make", "terrain", "--size", "1100", "-o", scene)
        for quality in ("contract", "high", "fast"):
            check_bound(image, "bvh", "build", scene, "-o", image, "--quality", quality)
        check_bound(image, "bvh", "info", image)
        check_bound(image, "bvh", "check", image)
        write_rays(rays, 50000)
        check_bound(image, "bvh", "trace", image, "--rays", rays, "-o", hits)


@case()
def rays_and_hits_are_not_kept():
    with tempfile.TemporaryDirectory() as folder:
        image, rays, hits = (os.path.join(folder, name) for name in ("s.gfx12", "rays", "hits"))
        peak_kb("bvh", "build", os.path.join(os.environ["FACET_SOURCE"], "examples/gfx12/cube.obj"), "-o", image)
        with open(rays, "wb") as file:
            file.truncate(32 * 3_000_000)  # zeros
        used = peak_kb("bvh", "trace", image, "--rays", rays, "-o", hits, "--threads", "2")
        check_eq(os.path.getsize(hits), 32 * 3_000_000, "hits")
        if not SANITIZED:
            check(used <= OWN_KB, f"{used} KB, expected at most {OWN_KB}")


main("bvh_scale")
