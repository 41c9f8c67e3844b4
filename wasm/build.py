#!/usr/bin/env python3
"""Writes the Ninja file that makes the page's C code: the sources of libfacet, as a native build folder lists them, compiled
by clang for wasm32-wasi, and the page's own files.

usage: wasm/build.py NATIVE OUT [FLAG...]

`ninja -C OUT` makes OUT/facet.wasm; `ninja -C OUT conform.wasm` the program for conformance suites, `ninja -C OUT native.wasm`
tests of the native program of what has vectors (tests/wasm). FLAGs are added for the compiler, such as -mno-simd128.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG, LINKER_FOLDER = "clang-14", "/usr/lib/llvm-14/bin"

# Files of libfacet that need threads, terminals or files: wasm/ has what takes their place.
REPLACED = {f"src/base/{name}.c" for name in ("pool", "progress", "new_file", "side_file", "file")}
# What the page needs besides: scenes but what starts a process, writes or makes them; pictures; command lists.
SCENES = sorted(str(path.relative_to(ROOT)) for folder in ("src/scene", "src/scene/gltf", "src/shade", "src/render", "src/render/device")
                for path in (ROOT / folder).glob("*.c") if path.name not in ("import.c", "wire.c", "make.c", "shapes.c", "glb.c"))
RASTERISER = [f"guest/gfx/{name}.c" for name in ("bucket", "mesh", "raster", "shade", "unit_portable")]
PICTURES = [*SCENES, *RASTERISER, "src/report/pixel.c", "src/report/pixel_ask.c", "src/image/color.c", "src/image/text.c",
            "src/image/compare.c"]
LISTS = ["src/json/number.c", "src/image/image.c", *(f"src/tile_list/{name}.c" for name in ("list", "play", "pixel", "buffers", "commands", "desc"))]
TIMING = [f"src/timing/{name}.c" for name in ("cache", "collect", "engine", "model", "report")]
# The program for conformance suites has these, and of wasm/ what is no export of the page.
CONFORM = ["src/conform/facet.c", "src/conform/list.c", "src/documents/tile_case.c", "src/documents/tile_case_run.c",
           "src/documents/gfx12_vectors.c", "src/json/reader.c", "tests/wasm/conform.c"]
NATIVE = ["tests/harness.c", *(f"tests/gfx12/{name}.c" for name in ("test_fast", "worlds", "common")),
          *(f"tests/tile/{name}.c" for name in ("test_tile_vector", "kernel", "record")), "wasm/files.c", "src/image/image.c"]
SHARED = ["wasm/pool.c", "wasm/reserve.c", "wasm/progress.c", "wasm/pictures.c", "wasm/json/values.c", "wasm/page.c"]

# Operations of a block of the hart call the next one in tail position.
TAIL_CALLS = "src/xphmg/hart/block"

# The programs for the hart that draw pictures, as the native build embeds them.
GUESTS = ["guest/render/guest_elf.h", "guest/gfx/gfx_elf.h"]

INCLUDES = ["wasm/include", "wasm/json", ".", "src", "include", "tests"]
COMPILE = ["--target=wasm32-wasi", "-nostdlibinc", "-isystem", "/usr/include/wasm32-wasi", "-include", "base/alloc.h",
           "-O2", "-flto", "-std=gnu11", "-ffp-contract=off", "-fno-fast-math", "-mbulk-memory", "-msimd128", "-ftls-model=local-exec",
           "-fvisibility=hidden", "-Wall", "-Werror=implicit-function-declaration", "-Wno-unknown-attributes",
           "-Wno-ignored-attributes", "-Wno-unused-function"]
LINK = ["--target=wasm32-wasi", f"-B{LINKER_FOLDER}", "-Wl,--strip-all", "-Wl,--gc-sections", "-Wl,-z,stack-size=1048576",
        "-Wl,--max-memory=2147483648", "-Wl,--export=__stack_pointer", "-Wl,--export-table"]
REACTOR = ["-mexec-model=reactor", "-Wl,--no-entry"]

RULES = """ninja_required_version = 1.5
rule cc
  command = {clang} {compile} $extra -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = CC $in
rule link
  command = {clang} {link} $model @$out.rsp -o $out
  rspfile = $out.rsp
  rspfile_content = $in
  description = LINK $out
"""


def targets(native: pathlib.Path) -> list[dict]:
    return json.loads((native / "meson-info/intro-targets.json").read_text())


def library_sources(native: pathlib.Path) -> list[pathlib.Path]:
    """Files of the tree, and those that the native build makes."""
    names: list[str] = []
    for target in targets(native):
        if target["type"] == "static library" and target["name"] in ("facet", "numbers"):
            for group in target["target_sources"]:
                names += group.get("sources", []) + group.get("generated_sources", [])
    return [pathlib.Path(name) for name in names if name.endswith(".c")]


def make_tables(native: pathlib.Path) -> None:
    """What the native build makes from spec/ for the library, and the programs for the hart."""
    rooms = tuple(str(native / room) for room in ("include/facet/", "src/contract/", "src/isa/", "src/gfx12/", "src/render/", *GUESTS))
    made = [name for target in targets(native) if target["type"] == "custom" for name in target["filename"] if name.startswith(rooms)]
    subprocess.run(["ninja", "-C", str(native), *(str(pathlib.Path(name).relative_to(native)) for name in made)], check=True,
                   stdout=subprocess.DEVNULL)


def object_of(path: pathlib.Path, native: pathlib.Path) -> str:
    return f"obj/{path.relative_to(native if path.is_relative_to(native) else ROOT)}.o"


def ninja_file(native: pathlib.Path, flags: list[str]) -> str:
    library = [path for path in library_sources(native) if path.is_relative_to(native) or str(path.relative_to(ROOT)) not in REPLACED]
    page = [ROOT / name for name in PICTURES + LISTS + TIMING] + sorted((ROOT / "wasm").glob("**/*.c"))
    conform = [ROOT / name for name in CONFORM + LISTS + SHARED] + [ROOT / "wasm/fmaf.c"]
    tests = [ROOT / name for name in NATIVE + SHARED] + [ROOT / "wasm/fmaf.c"]
    includes = [f"-I{ROOT / name}" for name in INCLUDES] + [f"-I{native / name}" for name in (".", "src", "include", "guest/render", "guest/gfx")]
    lines = [RULES.format(clang=CLANG, compile=" ".join(COMPILE + includes + flags), link=" ".join(LINK))]
    for path in dict.fromkeys(library + page + conform + tests):
        lines.append(f"build {object_of(path, native)}: cc {path}")
        if str(path).startswith(str(ROOT / TAIL_CALLS)):
            lines.append("  extra = -mtail-call")
    for name, files, model in (("facet.wasm", page, REACTOR), ("conform.wasm", conform, []), ("native.wasm", tests, [])):
        lines.append(f"build {name}: link {' '.join(object_of(path, native) for path in library + files)}")
        lines.append(f"  model = {' '.join(model)}")
    return "\n".join([*lines, "default facet.wasm", ""])


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    native, out = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    make_tables(native)
    (out / "build.ninja").write_text(ninja_file(native, sys.argv[3:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
