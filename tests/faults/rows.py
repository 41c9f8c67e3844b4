"""The command lines that tests/faults tries, one or more for each command of the program, and the files that they need.

A row is a line of words as a shell would split it. Its options:
    stdin    what the command reads
    times    its output shows times or speeds: numbers count for nothing there
    port     the command listens for a debugger, which says `stdin` and then hears everything
    answer   output by which the command tells its client about the fault
    told     exit code of a guest program that was told about the fault by its machine
    loose    files that belong to that guest: what is in them after a fault is its business
"""
import json
import os
import shlex
import shutil
import struct
import subprocess

RAY = '"-1 0.25 0.5 1 0.25 0.125"'
TILE = "--grid 1x1 --arg target=0x80100000 --arg stride=256 --arg color=1"
# Shows one pixel of its own code in the framebuffer and ends through the finisher (docs/run.md).
FRAME = """_start: li t0, 0x11000000
li t1, 1
sw t1, 8(t0)
sw t1, 12(t0)
sw t1, 16(t0)
la t1, _start
sd t1, 24(t0)
li t0, 0x100000
li t1, 0x5555
sw t1, 0(t0)
j .
"""
# Copies standard input to the console until it ends.
ECHO = """_start: la s0, block
next: li a0, 7
li a1, 0
call semihost
li t0, -1
beq a0, t0, done
sb a0, 0(s0)
mv a1, s0
li a0, 3
call semihost
j next
done: la a1, ending
li a0, 0x20
call semihost
j .
.align 4
semihost: .word 0x01f01013
.word 0x00100073
.word 0x40705013
ret
.data
.align 3
ending: .dword 0x20026, 0
block: .dword 0
"""
# Copies in.txt to out.txt; exit code 7 when the machine refuses one of the calls.
COPY = """_start: la a1, open_in
li a0, 1
call semihost
blt a0, x0, told
mv s0, a0
la a1, open_out
li a0, 1
call semihost
blt a0, x0, told
mv s1, a0
la s2, block
sd s0, 0(s2)
la t0, text
sd t0, 8(s2)
li t0, 16
sd t0, 16(s2)
mv a1, s2
li a0, 6
call semihost
bne a0, x0, told
sd s1, 0(s2)
mv a1, s2
li a0, 5
call semihost
bne a0, x0, told
sd s1, 0(s2)
mv a1, s2
li a0, 2
call semihost
bne a0, x0, told
la a1, ending
j leave
told: la a1, refused
leave: li a0, 0x20
call semihost
j .
.align 4
semihost: .word 0x01f01013
.word 0x00100073
.word 0x40705013
ret
.data
.align 3
ending: .dword 0x20026, 0
refused: .dword 0x20026, 7
open_in: .dword name_in, 0, 6
open_out: .dword name_out, 4, 7
block: .dword 0, 0, 0
text: .dword 0, 0
name_in: .string "in.txt"
name_out: .string "out.txt"
"""
# A scene with files beside it: numbers, a PNG and a JPEG picture.
GLTF = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
    "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, "emissiveTexture": {"index": 1}}],
    "textures": [{"source": 0}, {"source": 1}], "images": [{"uri": "crate.png"}, {"uri": "small.jpg"}],
    "buffers": [{"uri": "triangle.bin", "byteLength": 60}],
    "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
                   "min": [0, 0, 0], "max": [1, 1, 0]},
                  {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC2"}],
}
# A command list with files beside it.
FILES_LIST = {
    "buffers": {"frame": {"size": 1024}, "raw": {"file": "raw.bin"}, "picture": {"image": "crate.png"}},
    "frame": {"base": "frame", "width": 16, "height": 16},
    "commands": [{"command": "READ_MEM", "address": "raw", "count": 4}, {"command": "READ_MEM", "address": "picture", "count": 1}],
}


def packets(*texts):
    return b"".join(b"$%s#%02x" % (text.encode(), sum(text.encode()) & 255) for text in texts)


SESSION = packets("qSupported:multiprocess+", "?", "g", "m80000000,10", "qXfer:features:read:target.xml:0,400",
                  "Z0,80000004,4", "vCont;c", "z0,80000004,4", "s", "bs", "qRcmd,68656c70", "D")
REFUSED = b"$E01"

ROWS = [
    ("as fill.s --isa tile -o out.elf --listing out.lst", {}),
    ("as include.s --isa tile -I folder -o out.elf --json", {}),
    ("as hello.s --isa xphmg --format hex -o -", {}),
    ("as hello.s --isa xphmg -o there.elf", {}),
    ("as - --isa tile -o out.elf", {"stdin": b"x: ADDI s1, s1, 5\nBNE s1, s0, x\nEXIT\n"}),
    ("dis fill.elf -o out.s", {}),
    ("dis hello.elf --json", {}),
    ("dis --isa xphmg --hex 00a50533 4501 --json", {}),
    ("run hello.elf --trace out.jsonl", {}),
    ("run hello.elf AAA BBB --json --dump-state", {"times": True}),
    ("run hello.elf --harts 3 --trace - --trace-format spike", {}),
    ("run frame.elf --framebuffer out.png", {}),
    ("run signature.elf --signature out.sig --dump-memory begin_signature..end_signature=out.hex", {}),
    ("run frame.elf --cover out.json --dump-memory _start.._start+8=out.bin", {}),
    ("run hello.elf --trace out.jsonl.gz", {}),
    ("run hello.elf --trace out.vcd --trace-format vcd", {}),
    ("run hello.elf --trace out.json --trace-format perfetto", {}),
    ("run hello.elf --trace out.jsonl.zst", {}),
    ("run frame.elf --lint", {}),
    ("run --lint-rules --json", {}),
    ("run mistakes.elf --lint --json", {"times": True}),
    ("run mistakes.elf --check-order --json", {"times": True}),
    ("run echo.elf", {"stdin": b"one\ntwo\n"}),
    ("run copy.elf --files folder", {"told": 7, "loose": ["folder/out.txt"]}),
    ("run --resume hello.snap --trace out.jsonl", {}),
    ("snapshot hello.elf AAA BBB --steps 2 -o out.snap", {}),
    ("snapshot --resume hello.snap --steps 2 -o out.snap", {}),
    ("snapshot --info hello.snap", {}),
    ("snapshot --info hello.snap --json", {}),
    ("gdb hello.elf --stdio", {"stdin": SESSION, "answer": REFUSED}),
    ("gdb --resume hello.snap --stdio", {"stdin": SESSION, "answer": REFUSED}),
    ("gdb --machine tile fill.elf --grid 1x1 --stdio", {"stdin": SESSION, "answer": REFUSED}),
    (f"gdb --machine gfx12 cube.gfx12 --ray {RAY} --stdio -q", {"stdin": SESSION, "answer": REFUSED}),
    ("gdb hello.elf --port 0", {"stdin": SESSION, "port": True, "answer": REFUSED}),
    ("scene make knot --size 16 -o out.glb", {}),
    ("scene info cube.obj", {}),
    ("scene info cube.obj --json", {}),
    ("scene info crate.obj --json", {}),
    ("scene info triangle.gltf --json", {}),
    ("scene info triangle.ply", {}),
    ("scene info triangle.stl", {}),
    ("scene info uv.glb --json", {}),
    ("render cube.obj --size 8x8 --spp 1 --threads 2 -o out.png --stats out.json", {"times": True}),
    ("render uv.glb --size 8x8 --spp 1 --bounces 1 -o out.pfm --json", {"times": True}),
    ("bvh render cube.gfx12 --size 8x8 -o out.png", {"times": True}),
    ("render cube.gfx12 --size 8x8 --aov ids -o out.png", {"times": True}),
    ("render cube.gfx12 --size 8x8 --aov depth -o out.pfm --json", {"times": True}),
    ("bvh why cube.gfx12 --pixel 1,1 --size 8x8 --scene cube.obj --brief", {}),
    ("render crate.obj --size 8x8 --spp 1 -o out.png", {"times": True}),
    ("render triangle.gltf --size 8x8 --spp 1 -o out.png", {"times": True}),
    ("render knot.glb --size 8x8 --spp 1 --heatmap nodes -o out.png", {"times": True}),
    ("render knot.glb --size 8x8 --spp 1 --machine xphmg-rt-offload -o out.png", {"times": True}),
    ("render knot.glb --size 8x8 --spp 1 --machine xphmg-gfx -o out.exr", {"times": True}),
    ("render knot.glb --size 8x8 --spp 1 --machine tile -o out.png", {"times": True}),
    ("render knot.glb --size 8x8 --spp 1 --machine all -o out.png", {"times": True}),
    ("why knot.glb --pixel 4,4 --size 8x8 --spp 1 --full", {}),
    ("why knot.glb --hottest --size 8x8 --spp 1 --json --threads 2", {}),
    ("why knot.glb --pixel 4,4 --size 8x8 --spp 1 --machine xphmg-gfx", {}),
    ("why knot.glb --pixel 4,4 --size 8x8 --spp 1 --machine tile --json", {}),
    ("image compare crate.png pixel.png --heatmap out.png", {}),
    ("image compare crate.png pixel.png --json", {}),
    ("bvh build cube.obj -o out.gfx12", {"times": True}),
    ("bvh build knot.glb --threads 2 -o there.gfx12 --json", {"times": True}),
    ("bvh build cube.obj --format xphmg8 -o out.tiles", {"times": True}),
    ("bvh build --aabbs boxes.json -o out.gfx12", {"times": True}),
    ("bvh update cube.gfx12 --scene moved.obj -o out.gfx12", {"times": True}),
    ("bvh update cube.tiles --scene moved.obj -o out.tiles --json", {"times": True}),
    ("bvh update boxes.gfx12 --aabbs boxes.json -o out.gfx12 --json", {"times": True}),
    ("bvh info cube.gfx12", {}),
    ("bvh info cube.tiles --json", {}),
    ("bvh info cube.gfx12 --json", {}),
    ("bvh check cube.gfx12", {}),
    ("bvh check cube.tiles --json", {}),
    ("bvh dump cube.gfx12", {}),
    ("bvh dump cube.gfx12 --json", {}),
    ("bvh encode cube.json -o out.gfx12", {}),
    ("bvh diff cube.gfx12 moved.gfx12", {}),
    ("bvh diff cube.gfx12 moved.gfx12 --json", {}),
    ("bvh diff cube.gfx12 --segment-b moved.gfx12@0x0", {}),
    ("bvh trace cube.gfx12 --rays rays.bin -o out.bin", {"times": True}),
    ("bvh trace cube.gfx12 --rays rays.bin -o out.bin --json", {"times": True}),
    ("bvh diff cube.gfx12 cube.gfx12 --builders --rays rays.bin", {"times": True}),
    ("bvh export cube.gfx12 -o out.glb", {}),
    ("bvh export cube.gfx12 -o out.obj --what boxes,instances", {}),
    ("bvh export cube.gfx12 -o out.json", {}),
    ("bvh diff cube.gfx12 cube.gfx12 --builders --json", {"times": True}),
    ("bvh trace boxes.gfx12 --rays rays.bin -o out.bin --procedural candidates --candidates out.jsonl", {"times": True}),
    ("view cube.gfx12 -o out.html", {}),
    ("view hello.s -o out.html", {}),
    (f"bvh why cube.gfx12 --ray {RAY}", {}),
    (f"bvh why cube.gfx12 --ray {RAY} --json", {}),
    (f"bvh why cube.gfx12 --ray {RAY} --expect 8", {}),
    (f"bvh why cube.gfx12 --ray {RAY} --expect 8 --json", {}),
    (f"bvh why cube.gfx12 --ray {RAY} --brief", {}),
    (f"rt why --tiles cube.tiles --ray {RAY}", {}),
    (f"rt why --tiles cube.tiles --ray {RAY} --json", {}),
    ("gfx why --image crate.png --u 0.5 --v 0.5 --json", {}),
    ("gfx why --raw raw.bin --format UNORM8_RGBA --width 2 --height 2 --u 0.5 --v 0.5", {}),
    ("gfx12 intersect --vectors cases.json", {}),
    ("gfx12 intersect --vectors cases.json --json", {}),
    (f"gfx12 run cube.gfx12 --ray {RAY} --save out.ray --trace out.jsonl", {}),
    (f"gfx12 run cube.gfx12 --ray {RAY} --resume ray.state --json", {}),
    (f"gfx12 run cube.gfx12 --ray {RAY} --program one-node.s --dump-state", {}),
    (f"tile run fill.s {TILE} --in 0x80200000=raw.bin --out target,64=out.raw --save out.tile --trace out.jsonl", {}),
    (f"tile run fill.s {TILE} --resume fill.tile --json", {}),
    (f"tile run fill.s {TILE} --cover out.json", {}),
    ("tile run include.s -I folder", {}),
    ("tile test k1", {}),
    ("tile test k1 --json", {}),
    ("tile draw triangle.json -o out.png", {}),
    ("tile draw triangle.json -o out.png --steps 9 --json", {}),
    ("tile draw files.json -o out.png --lint --trace out.jsonl", {}),
    ("tile why 3,3 triangle.json --full", {}),
    ("tile why 3,3 triangle.json --json", {}),
    ("tile draw triangle.json --threads 2 -o out.png --json", {}),
    ("run frame.elf --profile-out out.json", {}),
    ("run hello.elf --timing model.timing", {}),
    (f"tile run fill.s {TILE} --timing model.timing", {}),
    ("tile draw triangle.json -o out.png --timing default --json", {}),
    ("timing show model.timing", {}),
    (f"tile run fill.s {TILE} --profile-out out.json", {}),
    ("tile draw triangle.json -o out.png --profile-out out.json", {}),
    ("run frame.elf --profile-out out.json --profile-calls", {}),
    ("render cube.obj --machine xphmg-rt-offload --size 16x8 --spp 1 -o out.png --profile-out out.json", {"times": True}),
    ("profile show profile.json", {}),
    ("profile show draws.json", {}),
    ("profile show profile.json --folded", {}),
    ("profile show profile.json --json", {}),
    ("cover merge hello.json hello.json -o out.json", {}),
    ("cover report hello.json --missing --html out.html", {}),
    ("cover report hello.json --json", {}),
    ("conform --suite suite --junit out.xml --html out.html --threads 1", {}),
    ("conform --suite suite --json --threads 2", {}),
    ("conform --suite suite --rows --missing --area TILE", {}),
    ("conform --suite suite --part 1/2 -o out.part --threads 1", {}),
    ("join suite.part --html out.html", {}),
    ("fuzz xphmg --count 2 --length 8 --threads 1 -o cases", {}),
    ("fuzz gfx12 --count 2 --length 4 --threads 2 --json", {}),
    ("fuzz tile --count 2 --length 8 --emit -o cases", {}),
    ("coverage --results results", {}),
    ("coverage --rows RT-001 --results results --json", {}),
    ("spec RT-001 --results results", {}),
    ("spec rt.bbox --json", {}),
    ("spec --search ray box --json", {}),
    ("spec --list csrs", {}),
    ("bench num --seconds 0.001 --json", {"times": True}),
    ("bench --list", {}),
    ("help as", {}),
    ("man", {}),
    ("completion bash", {}),
    ("devices --json", {}),
    ("version --json", {}),
    ("--version", {}),
]


def make_inputs(facet, source, folder):
    """Fills `folder` with what the rows read."""
    def copy(name, new):
        shutil.copy(os.path.join(source, name), os.path.join(folder, new))

    def write(name, data):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(data)

    def run(line):
        result = subprocess.run([facet, *shlex.split(line)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True)
        if result.returncode not in (0, 1):
            raise RuntimeError(f"facet {line}: {result.stderr.decode()}")
        return result.stdout

    copy("examples/tile/fill.s", "fill.s")
    copy("examples/tile/triangle.json", "triangle.json")
    copy("examples/xphmg/hello.s", "hello.s")
    copy("examples/xphmg/signature.s", "signature.s")
    copy("examples/gfx12/cube.obj", "cube.obj")
    copy("examples/gfx12/one-node.s", "one-node.s")
    copy("examples/gfx12/cube-moved.obj", "moved.obj")
    copy("assets/crate.png", "crate.png")
    copy("assets/crate.obj", "crate.obj")
    copy("assets/crate.mtl", "crate.mtl")
    copy("tests/fuzz/corpus/image/small.jpg", "small.jpg")
    copy("examples/lint/mistakes.s", "mistakes.s")
    copy("spec/gfx12-silicon.json", "cases.json")
    shutil.copytree(os.path.join(source, "examples/tile/k1"), os.path.join(folder, "k1"))
    shutil.copytree(os.path.join(source, "examples/conform"), os.path.join(folder, "suite"))
    for name in ("folder", "results", "no-opencl"):
        os.mkdir(os.path.join(folder, name))
    write("no-opencl/libOpenCL.so.1", b"no library")
    write("folder/part.s", b"EXIT\n")
    write("folder/in.txt", b"sixteen bytes...")
    write("include.s", b'.include "part.s"\n')
    write("results/test_x.tsv", b"test_x\ta\tpass\tRT-001\n")
    write("boxes.json", b'{"aabbs": [{"min": [0, 0, 0], "max": [1, 1, 1]}]}')
    write("raw.bin", bytes(range(16)))
    write("files.json", json.dumps(FILES_LIST).encode())
    write("triangle.bin", struct.pack("<15f", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1))
    write("triangle.gltf", json.dumps(GLTF).encode())
    write("triangle.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
          b"property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
          b"0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    write("triangle.stl", b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n"
          b"endloop\nendfacet\nendsolid x\n")
    write("rays.bin", bytes(32))
    for name, text in (("frame", FRAME), ("echo", ECHO), ("copy", COPY)):
        write(f"{name}.s", text.encode())
        run(f"as {name}.s --isa xphmg -o {name}.elf")
    run("as fill.s --isa tile -o fill.elf")
    run("as mistakes.s --isa xphmg -o mistakes.elf")
    run("as hello.s --isa xphmg -o hello.elf")
    run("as signature.s --isa xphmg -o signature.elf")
    run("snapshot hello.elf --steps 1 -o hello.snap -q")
    run("run hello.elf --cover hello.json")
    run("run hello.elf --profile-out profile.json")
    write("model.timing", b"tile.issue = 2\nxphmg.issue = 2\n")
    run("tile draw triangle.json -o triangle.png --profile-out draws.json")
    run("conform --suite suite --part 1/1 -o suite.part")
    run(f"tile run fill.s {TILE} --steps 3 --save fill.tile")
    run("scene make knot --size 16 -o knot.glb")
    run("scene make uv -o uv.glb")
    run("bvh build cube.obj -o cube.gfx12")
    run(f"gfx12 run cube.gfx12 --ray {RAY} --steps 3 --save ray.state")
    run("bvh build --aabbs boxes.json -o boxes.gfx12")
    run("bvh build moved.obj -o moved.gfx12")
    run("bvh build cube.obj --format xphmg8 -o cube.tiles")
    run("render uv.glb --size 64x64 --spp 1 -o pixel.png -q")
    write("cube.json", run("bvh dump cube.gfx12 --json"))
    write("there.elf", b"what stood here before")
    write("there.gfx12", b"what stood here before")


def commands_of(facet):
    """The commands that `facet --help` lists."""
    text = subprocess.run([facet, "--help"], capture_output=True, text=True, check=True).stdout
    lines = text.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    return [line[2:].split("  ")[0] for line in lines]
