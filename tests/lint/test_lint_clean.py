"""The programs and kernels of guest/ and examples/ break no rule: each one runs under --lint-error. The litmus kernels
race on purpose: those whose cores meet in plain memory must be told so, those that only use atomics must not."""
import glob
import os
import shutil
import stat
import subprocess
import sys
import tempfile

HEADER = os.path.abspath(sys.argv.pop(1))
from harness import add_case, case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.TemporaryDirectory()
ORDERLY = ("atomic-add", "atomic-cas", "atomic-order", "lock")


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
                          cwd=SOURCE)


def is_clean(*words):
    done = facet(*words)
    check("lint:" not in done.stderr, done.stderr)
    check_eq(done.returncode, 0, done.stdout + done.stderr)


def program(path):
    def run():
        if shutil.which("riscv64-unknown-elf-gcc") is None:
            skip("gcc-riscv64-unknown-elf is not installed")
        if not os.path.exists("/usr/lib/picolibc/riscv64-unknown-elf"):
            skip("picolibc-riscv64-unknown-elf is not installed")
        done = subprocess.run(["make", "-s", "-C", os.path.join(SOURCE, "guest"), "OUT=" + FOLDER.name,
                               "INCLUDE=" + os.path.dirname(HEADER), "PROGRAMS=" + path], capture_output=True, text=True)
        check_eq(done.returncode, 0, done.stdout + done.stderr)
        is_clean("run", os.path.join(FOLDER.name, os.path.basename(path)[:-2] + ".elf"), "--lint-error")
    return run


def assembly(path):
    def run():
        elf = os.path.join(FOLDER.name, "example.elf")
        done = facet("as", "--isa", "xphmg", path, "-o", elf)
        check_eq(done.returncode, 0, done.stderr)
        done = facet("run", elf, "--lint")
        check("lint:" not in done.stderr, done.stderr)
    return run


def litmus(path):
    def run():
        for options in (("--sched", "rr:1"), ("--schedule", "1"), ("--schedule", "2")):
            done = facet("tile", "run", path, "--grid", "2x64", "--cores", "3", "--arg", "results=0x80200000",
                         "--lint", *options)
            check_eq(done.returncode, 0, done.stderr)
            if os.path.basename(path)[:-2] in ORDERLY:
                check("lint:" not in done.stderr, done.stderr)
            elif options[0] == "--schedule":
                check("(unpublished:" in done.stderr or "(stale:" in done.stderr, "a race without a word")
            # One after the other there is nothing to race with.
        strong = facet("tile", "run", path, "--grid", "2x64", "--cores", "3", "--arg", "results=0x80200000", "--lint",
                       "--mem", "strong", "--schedule", "1")
        check("lint:" not in strong.stderr, strong.stderr)
    return run


for _path in sorted(glob.glob(os.path.join(SOURCE, "guest", "examples", "*.[cS]"))):
    add_case("program_" + os.path.basename(_path)[:-2], program(_path))
for _path in sorted(glob.glob(os.path.join(SOURCE, "examples", "xphmg", "*.s"))):
    add_case("assembly_" + os.path.basename(_path)[:-2], assembly(_path))
for _path in sorted(glob.glob(os.path.join(SOURCE, "examples", "tile", "litmus", "*.s"))):
    add_case("litmus_" + os.path.basename(_path)[:-2].replace("-", "_"), litmus(_path))


@case()
def tile_examples():
    picture = os.path.join(FOLDER.name, "picture.png")
    is_clean("tile", "run", "examples/tile/fill.s", "--grid", "4x3", "--arg", "target=0x80100000", "--arg", "stride=256",
             "--arg", "color=0xff336699", "--lint-error")
    for name in ("examples/tile/triangle.json", *glob.glob(os.path.join(SOURCE, "guest", "tile", "*.json"))):
        is_clean("tile", "draw", name, "-o", picture, "--lint-error")


@case()
def tile_kernels():
    """All that test_tile_kernels.py does with the kernels, with --lint-error added."""
    wrapper = os.path.join(FOLDER.name, "facet")
    with open(wrapper, "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\ncase "$2" in run|draw) set -- "$@" --lint-error;; esac\n')
        file.write(f'exec "{FACET}" "$@"\n')
    os.chmod(wrapper, os.stat(wrapper).st_mode | stat.S_IXUSR)
    environment = {**os.environ, "FACET": wrapper}
    environment.pop("FACET_TEST_RESULTS", None)
    done = subprocess.run([sys.executable, os.path.join(SOURCE, "tests", "tile", "test_tile_kernels.py")],
                          capture_output=True, text=True, env=environment, timeout=600)
    check_eq(done.returncode, 0, done.stdout + done.stderr)


main("lint_clean")
