"""The ray tracing library of guest/rt on reference scenes: its walk over the tree, its jobs and `facet
rt why`, which has another traversal, find the same hits to the bit; and on machines that lack parts of
RT (RTCAP) the library uses what is there."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HEADER = os.path.abspath(sys.argv.pop(1))
from harness import case, check, check_eq, main, skip

SOURCE, FACET = os.environ["FACET_SOURCE"], os.environ["FACET"]
GUEST = os.path.join(SOURCE, "guest")
SCRATCH = tempfile.TemporaryDirectory()
FULL = 0x3F
NODE4, NODE8, WATERTIGHT, PACK_HINT, EPS_CTL, DESCQ = 1, 2, 4, 8, 16, 32


def facet(*words):
    done = subprocess.run([FACET, *map(str, words)], capture_output=True, text=True, timeout=600,
                          stdin=subprocess.DEVNULL)
    check_eq(done.returncode, 0, f"{words}: {done.stderr}{done.stdout[-300:]}")
    return done.stdout


def program(name="rt_scene"):
    """The ELF file of a C file beside this one."""
    elf = os.path.join(SCRATCH.name, name + ".elf")
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        skip("gcc-riscv64-unknown-elf is not installed")
    if not os.path.exists("/usr/lib/picolibc/riscv64-unknown-elf"):
        skip("picolibc-riscv64-unknown-elf is not installed")
    if not os.path.exists(elf):
        sources = [os.path.join(GUEST, "crt0.S"), os.path.join(GUEST, "trap.c"),
                   os.path.join(SOURCE, "tests", "guest", name + ".c"),
                   *glob.glob(os.path.join(GUEST, "rt", "*.c"))]
        done = subprocess.run(
            ["riscv64-unknown-elf-gcc", "-march=rv64imafdc", "-mabi=lp64d", "-mcmodel=medany",
             "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "--specs=picolibc.specs",
             "--oslib=semihost", "-nostartfiles", "-static", "-T", os.path.join(GUEST, "link.ld"),
             "-I", os.path.dirname(HEADER), "-I", os.path.join(GUEST, "rt"), *sources, "-o", elf,
             "-lm"], capture_output=True, text=True)
        check_eq(done.returncode, 0, done.stderr)
    return elf


def scene(name, width):
    """A folder with scene.tiles, and the path of it."""
    folder = os.path.join(SCRATCH.name, f"{name}{width}")
    tiles = os.path.join(folder, "scene.tiles")
    if not os.path.exists(tiles):
        os.mkdir(folder)
        source = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
        if name != "cube":
            source = os.path.join(folder, "scene.glb")
            facet("scene", "make", name, "--size", {"knot": 64, "boxes": 2}[name], "-o", source)
        facet("bvh", "build", source, "-o", tiles, "--format", f"xphmg{width}", "--reach", 4)
    return folder, tiles


def trace(folder, rtcap=FULL, name="rt_scene"):
    return facet("run", "--config", f"full,rtcap={rtcap:#x}", "--files", folder, program(name))


@case("RT-278")
def the_walk_finds_what_jobs_find():
    for name in ("cube", "knot", "boxes"):
        hits = 0
        for width in (4, 8):
            folder, tiles = scene(name, width)
            lines = trace(folder).splitlines()[1:]
            check_eq(len(lines), 40, "rays")
            for number, line in enumerate(lines):
                ray, rest = line[4:].split(" walk")
                walk, rest = rest.split(" any ")
                any_hit, job = rest.split(" job")
                check_eq(walk, job, f"{name}{width} ray {number}: walk and job")
                check_eq(any_hit, "1" if walk else "0", f"{name}{width} ray {number}: any")
                hits += walk != ""
                if number % 8 == 0:
                    told = json.loads(facet("rt", "why", "--tiles", tiles, "--ray", ray, "--json"))
                    r = told["result"]
                    want = "" if not r["hit"] else " %d %d %08x %08x %08x %d" % (
                        r["triangle"], r["leaf"], *(int(r[n], 16) for n in "tuv"), r["front"])
                    check_eq(walk, want, f"{name}{width} ray {number}: walk and rt why")
        check(10 < hits and (hits < 80 or name == "boxes"), f"{name}: {hits} of 80 rays hit")


@case("RT-126")
def an_entry_of_the_stack():
    folder, _ = scene("cube", 4)
    check_eq(trace(folder).splitlines()[0], "stack entry 12: 0 4 8")


@case("RT-067")
def only_what_rtcap_has_is_used():
    for width in (4, 8):
        folder, _ = scene("knot", width)
        whole = trace(folder)
        for absent in (NODE8, DESCQ, NODE8 | DESCQ, PACK_HINT | EPS_CTL, NODE4, WATERTIGHT, FULL):
            check_eq(trace(folder, FULL & ~absent), whole, f"width {width} without {absent:#x}")


@case()
def trees_that_are_too_deep():
    """With a hit below or without one, in a hurry or with care."""
    folder, _ = scene("cube", 4)
    for rtcap in (FULL, FULL & ~WATERTIGHT, FULL & ~NODE4):
        check_eq(trace(folder, rtcap, "rt_deep"), "255 nodes: 0 0\n256 nodes: -2 -2\n", f"RTCAP {rtcap:#x}")


main("guest_rt")
