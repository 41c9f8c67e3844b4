#!/usr/bin/env python3
"""Writes the Ninja file that makes facet.wasm: the sources of libfacet, as a native build folder lists them, with clang for
wasm32-wasi, and the page's own files.

usage: wasm/build.py NATIVE OUT
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CLANG, LINKER_FOLDER = "clang-14", "/usr/lib/llvm-14/bin"

# Files of libfacet that need threads, terminals, signals or memory maps: wasm/ has its own of the same name.
REPLACED = {"src/base/pool.c", "src/base/progress.c", "src/base/new_file.c", "src/base/side_file.c", "src/base/file.c"}

# What the page needs of libfacet-scene and the program: pictures, command lists.
EXTRA = ["src/render/bvh_view.c", "src/render/heat.c", "src/render/develop.c", "src/shade/camera.c", "src/scene/frame.c", "src/scene/matrix.c", "src/image/image.c", "src/image/color.c",
         "src/image/text.c", "src/image/compare.c", "src/json/number.c",
         "src/tile_list/list.c", "src/tile_list/play.c", "src/tile_list/buffers.c", "src/tile_list/commands.c", "src/tile_list/desc.c"]

# Operations of a block call the next one in tail position.
TAIL_CALLS = "src/xphmg/hart/block"

COMMON = ["--target=wasm32-wasi", "-O2", "-std=gnu11", "-ffp-contract=off", "-fno-fast-math", "-mbulk-memory",
          "-fvisibility=hidden", "-ftls-model=local-exec", "-nostdlibinc", "-isystem", "/usr/include/wasm32-wasi", "-include", "base/alloc.h", "-D_WASI_EMULATED_SIGNAL", "-Wall", "-Werror=implicit-function-declaration",
          "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Wno-unused-function"]
LINK = ["--target=wasm32-wasi", f"-B{LINKER_FOLDER}", "-mexec-model=reactor", "-Wl,--strip-all", "-Wl,--gc-sections",
        "-Wl,-z,stack-size=1048576", "-Wl,--max-memory=2147483648", "-Wl,--no-entry", "-Wl,--export=__stack_pointer", "-Wl,--export-table"]


def library_sources(native: pathlib.Path) -> tuple[list[str], list[str]]:
    """Files of the tree, and those that the native build makes."""
    targets = json.loads((native / "meson-info/intro-targets.json").read_text())
    sources, made = [], []
    for target in targets:
        if target["type"] == "static library" and target["name"] in ("facet", "numbers"):
            for group in target["target_sources"]:
                sources += group.get("sources", [])
                made += group.get("generated_sources", [])
    return ([str(pathlib.Path(name).relative_to(ROOT)) for name in sources if name.endswith(".c")],
            [name for name in made if name.endswith(".c")])


def generated_files(native: pathlib.Path) -> list[str]:
    """Tables and headers that the native build makes from spec/ for the library."""
    rooms = tuple(str(native / room) for room in ("include/facet/", "src/contract/", "src/isa/"))
    targets = json.loads((native / "meson-info/intro-targets.json").read_text())
    return [name for target in targets if target["type"] == "custom" for name in target["filename"] if name.startswith(rooms)]


def main() -> None:
    native, out = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
    sources, made = library_sources(native)
    chosen = [name for name in sources if name not in REPLACED] + EXTRA
    chosen += [str(name.relative_to(ROOT)) for name in sorted((ROOT / "wasm").glob("**/*.c"))]
    includes = [ROOT / "wasm/include", ROOT / "wasm/json", ROOT, ROOT / "src", ROOT / "include", native, native / "src", native / "include"]
    flags = COMMON + [f"-I{folder}" for folder in includes]
    for name in (LEVEL.split() if (LEVEL := " ".join(sys.argv[3:])) else []):
        flags.append(name)
    lines = ["ninja_required_version = 1.5",
             f"common = {' '.join(flags)}",
             f"rule cc\n  command = {CLANG} $common $extra -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n  description = CC $in",
             f"rule link\n  command = {CLANG} {' '.join(LINK)} @$out.rsp -o $out\n  rspfile = $out.rsp\n  rspfile_content = $in\n  description = LINK $out"]
    objects = []
    for name in chosen + made:
        path = pathlib.Path(name)
        inside = path.relative_to(native) if path.is_absolute() else path
        objects.append(f"obj/{inside}.o")
        lines.append(f"build {objects[-1]}: cc {path if path.is_absolute() else ROOT / path}")
        if name.startswith(TAIL_CALLS):
            lines.append("  extra = -mtail-call")
    lines.append(f"build facet.wasm: link {' '.join(objects)}\ndefault facet.wasm\n")
    out.mkdir(parents=True, exist_ok=True)
    subprocess.run(["ninja", "-C", str(native), *(str(pathlib.Path(name).relative_to(native)) for name in generated_files(native))],
                   check=True, stdout=subprocess.DEVNULL)
    (out / "build.ninja").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
