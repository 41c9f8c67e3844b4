"""The same bits on every host: each command line that tests/faults knows, and some with more arithmetic in
them, once with the program of this machine (FACET_NATIVE) and once with the one that was built for another
processor, under its emulator. What they print, write and return must be the same.

Arguments: the library that lets an importer start without seccomp (no_seccomp.c), then parts of case names.
"""
import filecmp
import os
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

SOURCE = os.environ["FACET_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests/faults"))

from harness import add_case, check, check_eq, main  # noqa: E402
from rows import ROWS, make_inputs  # noqa: E402

if not os.path.isfile(os.environ.get("FACET_NATIVE", "")):
    sys.exit("hosts: FACET_NATIVE names no file; expected the program of this machine, as `make arm64` does")
FOLDER = tempfile.TemporaryDirectory()
INPUTS = os.path.join(FOLDER.name, "inputs")
# Copies, without the results of tests beside them, which `facet spec` would show.
NATIVE = [shutil.copy(os.environ["FACET_NATIVE"], os.path.join(FOLDER.name, "facet"))]
EMULATED = shlex.split(os.environ["MESON_EXE_WRAPPER"]) + [
    shutil.copy(os.environ["FACET"], os.path.join(FOLDER.name, "facet-emulated"))]
PRELOAD = os.path.abspath(sys.argv.pop(1))

MACHINES = ["gfx12", "xphmg-rt", "xphmg-rt-offload", "xphmg-gfx", "xphmg-gfx-portable", "tile"]
TIMES = {"times": True}
MORE_ROWS = [
    *((f"render room.glb --machine {machine} --size 40x24 --spp 1 -o out.png", TIMES) for machine in MACHINES),
    *((f"render uv.glb --machine {machine} --size 24x16 --spp 1 -o out.pfm", TIMES) for machine in MACHINES),
    ("render room.glb --size 16x12 --spp 2 --bounces 2 -o out.exr", TIMES),
    ("render knot.glb --size 32x24 --spp 2 --profile gpurt -o out.png", TIMES),
    ("render turned.gltf --size 16x16 --spp 1 --camera frame -o out.pfm", TIMES),
    ("bvh build room.glb --quality fast -o out.gfx12", TIMES),
    ("bvh build room.glb --quality high --obb -o out.gfx12", TIMES),
    ("bvh build knot.glb --format xphmg4 --ew 16 -o out.tiles", TIMES),
    ("bvh build knot.glb --format xphmg8 --ew 8 --quantized -o out.tiles", TIMES),
    ("bvh trace knot.gfx12 --rays odd.bin -o out.bin", TIMES),
    ("bvh trace knot.gfx12 --rays odd.bin --any-hit -o out.bin", TIMES),
    ("bvh trace knot.gfx12 --rays odd.bin --profile gpurt -o out.bin", TIMES),
    ("bvh trace cube.gfx12 --rays odd.bin -o out.bin", TIMES),
    *((f'{command} --ray "{ray}" --json', {})
      for command in ("bvh why cube.gfx12", "rt why --tiles cube.tiles")
      for ray in ("0 0 0 0 0 1", "0 -0.0 0.5 1 -0.0 0", "inf 0 0 1 1 1", "0.5 0.5 -1 1e-45 1e38 1", "nan 0 0 1 1 1")),
]


def left_out(line, options):
    """Waits for a debugger, measures or names this very processor, paints times into its picture, or opens files
    for a guest, with a call (openat2) that qemu does not have."""
    return ("port" in options or line.startswith(("bench num", "devices", "version")) or "--machine all" in line or
            "--files" in line)


def odd_rays(count):
    """Rays from all around, a third of their numbers special ones: zeros, infinities, NaNs, subnormal and huge."""
    numbers = random.Random(12)
    special = [0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F812345, 0x00000001,
               0x80700000, 0x7F7FFFFF, 0xFF000000, 0x3F800000, 0xBF800000]

    def number(low, high, odd):
        if numbers.random() < odd:
            return struct.pack("<I", numbers.choice(special))
        return struct.pack("<f", numbers.uniform(low, high))

    rays = b""
    for i in range(count):
        odd = 0.3 if i % 2 else 0.0
        rays += b"".join(number(-2, 2, odd) for _ in range(3)) + number(0, 0.1, odd / 2)
        rays += b"".join(number(-1, 1, odd) for _ in range(3)) + number(1, 100, odd / 2)
    return rays


def more_inputs(folder):
    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    shutil.copy(os.path.join(SOURCE, "assets/room.glb"), folder)
    write("odd.bin", odd_rays(1500))
    with open(os.path.join(folder, "triangle.gltf"), encoding="utf-8") as file:
        text = file.read()
    # A texture that is turned: sine and cosine.
    write("turned.gltf", text.replace('{"index": 0}', '{"index": 0, "extensions": {"KHR_texture_transform": '
                                      '{"rotation": 0.7, "offset": [0.1, 0.2]}}}', 1).encode())
    subprocess.run([*NATIVE, "bvh", "build", "knot.glb", "-o", "knot.gfx12", "-q"], cwd=folder, check=True,
                   stdout=subprocess.DEVNULL)


def plain(data, options):
    """Where times are shown: without the numbers, and without the progress of what takes long."""
    if "times" not in options:
        return data
    data = re.sub(rb"^[a-z ]+: +[0-9]+ (% \(|[a-z]+ in ).*\n", b"", data, flags=re.M)
    return re.sub(rb"[0-9.]+(e[-+]?[0-9]+)?", b"#", data)


def run(program, line, options, folder):
    shutil.copytree(INPUTS, folder, symlinks=True)
    env = dict(os.environ, QEMU_SET_ENV="LD_PRELOAD=" + PRELOAD)
    result = subprocess.run([*program, *shlex.split(line)], cwd=folder, env=env, input=options.get("stdin", b""),
                            capture_output=True, timeout=600)
    return {"exit code": result.returncode, "standard output": plain(result.stdout, options),
            "standard error": plain(result.stderr, options)}


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder)
                  for where, _, names in os.walk(folder) for name in names)


def same_files(native, emulated, options):
    check_eq(files_below(emulated), files_below(native), "files that are there")
    for name in files_below(native):
        ours, theirs = os.path.join(native, name), os.path.join(emulated, name)
        if name == "out.json" and "times" in options:
            with open(ours, "rb") as first, open(theirs, "rb") as second:
                check_eq(plain(second.read(), options), plain(first.read(), options), name)
        else:
            check(filecmp.cmp(ours, theirs, shallow=False), f"{name} has other bytes")


def compare(line, options):
    with tempfile.TemporaryDirectory() as folder:
        native, emulated = os.path.join(folder, "native"), os.path.join(folder, "emulated")
        expected = run(NATIVE, line, options, native)
        got = run(EMULATED, line, options, emulated)
        for what, value in expected.items():
            check_eq(got[what], value, what)
        same_files(native, emulated, options)


os.mkdir(INPUTS)
make_inputs(NATIVE[0], SOURCE, INPUTS)
more_inputs(INPUTS)
for _line, _options in ROWS + MORE_ROWS:
    if not left_out(_line, _options):
        add_case(_line, lambda line=_line, options=_options: compare(line, options))
main("hosts")
