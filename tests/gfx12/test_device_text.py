"""The kernels' text by compilers and on a machine that GPUs' ones resemble more than pocl: clang for three kinds of GPU, and
oclgrind, which runs each work item alone and sees races, accesses outside of memory and wrong calls."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
sys.path.insert(0, os.path.join(SOURCE, "tests", "gfx12"))
import device_shim
FOLDER = tempfile.TemporaryDirectory()
OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"


def path(name):
    return os.path.join(FOLDER.name, name)


def run(*words, **environment):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300, env={**os.environ, **environment})


def facet(*words, **environment):
    result = run(FACET, *words, **environment)
    check_eq(result.returncode, 0, f"{words}: {result.stderr}")
    return result


def rays(count):
    rng = random.Random(1)
    with open(path("rays.bin"), "wb") as file:
        for i in range(count):
            o = [rng.uniform(-3, 3) for _ in range(3)]
            d = [rng.uniform(-1, 1) - x for x in o]
            if i % 8 == 0:
                d[i // 8 % 3] = 0.0
            file.write(struct.pack("<8f", *o, 0, *d, 9))


def image(name, *options):
    out = path(f"{name}{''.join(options)}.gfx12")
    facet("scene", "make", name, "--size", {"knot": 16, "instances": 3, "room": 1}[name], "-o", path(f"{name}.glb"), "--quiet")
    facet("bvh", "build", path(f"{name}.glb"), "-o", out, "--quiet", *options)
    return out


@case()
def the_text_is_opencl_1_2_for_other_compilers():
    """As the device's compiler gets it: with shading, and without."""
    if shutil.which("clang") is None:
        skip("no clang")
    environment = {"LD_LIBRARY_PATH": device_shim.made(path("shim")), "SHIM_FEW": "1"}
    if not any(d["exact"] for d in json.loads(facet("devices", "--json", **environment).stdout)):
        skip("no OpenCL device")
    rays(1)
    facet("devices", SHIM_TEXT=path("all.cl"), **environment)
    facet("bvh", "trace", image("knot"), "--rays", path("rays.bin"), "-o", path("hits.bin"), "--device", "opencl:0",
          SHIM_TEXT=path("loop.cl"), **environment)
    check("facet_paths" in open(path("all.cl"), encoding="ascii").read(), "the text that shades")
    for name, doubles in (("all.cl", "+"), ("loop.cl", "-")):
        for target in ("nvptx64-nvidia-nvcl", "amdgcn-amd-amdhsa", "spir64-unknown-unknown", "spir-unknown-unknown"):
            result = run("clang", "-x", "cl", "-cl-std=CL1.2", "-target", target, "-nogpulib", "-fsyntax-only", "-Xclang",
                         "-finclude-default-header", "-Xclang", f"-cl-ext={doubles}cl_khr_fp64", "-Wall", "-Wextra",
                         "-Wpedantic", "-Werror", path(name))
            check_eq((result.returncode, result.stderr), (0, ""), f"{name} for {target}")


def simulated(*words):
    """What a command does on oclgrind's device; a message of oclgrind's is a failure."""
    result = facet(*words, LD_LIBRARY_PATH=device_shim.made(path("shim")), SHIM_FEW="1", OCL_ICD_VENDORS=path("vendors"),
                   OCLGRIND_CHECK_API="1", OCLGRIND_DATA_RACES="1",
                   # It knows no intrinsic functions that inlining brings.
                   OCLGRIND_BUILD_OPTIONS="-cl-opt-disable -Dalways_inline=noinline")
    check_eq(result.stderr, "", f"{words}")
    return result.stdout


@case()
def oclgrind_finds_nothing():
    if not os.path.exists(OCLGRIND):
        skip("no oclgrind")
    os.mkdir(path("vendors"))
    with open(path("vendors/oclgrind.icd"), "w", encoding="ascii") as file:
        file.write(OCLGRIND + "\n")
    text = simulated("devices")
    check("Oclgrind" in text and "those of GFX12" in text and "shaded there" in text, text)
    rays(96)
    for picture, words in ((image("knot", "--obb"), []), (image("instances"), []), (image("room"), ["--device-memory", "64k"])):
        trace = ["bvh", "trace", picture, "--rays", path("rays.bin"), "--stats", "--quiet"]
        want = facet(*trace, "-o", path("cpu.bin")).stdout
        check_eq(simulated(*trace, "-o", path("gpu.bin"), "--device", "opencl:0", *words), want, picture)
        check(open(path("gpu.bin"), "rb").read() == open(path("cpu.bin"), "rb").read(), f"{picture}: hits")
    draw = ["render", path("room.glb"), "--machine", "gfx12", "--size", "12x9", "--spp", 1, "--bounces", 1, "--quiet", "-o"]
    facet(*draw, path("cpu.pfm"))
    simulated(*draw, path("gpu.pfm"), "--device", "opencl:0")
    check(open(path("gpu.pfm"), "rb").read() == open(path("cpu.pfm"), "rb").read(), "a picture")


main("gfx12_device_text")
