"""`--plain` from outside: on every machine and command it gives the same bytes as the fast way, and where the build
knows (asserts; src/base/ways.h) no fast way is taken, while without it every one of them is taken somewhere here."""
import os
import platform
import random
import re
import struct
import subprocess
import tempfile

from harness import add_case, case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
WAYS = os.path.join(FOLDER, "ways")
seen = set()  # fast ways that runs without --plain took


def path(name):
    return os.path.join(FOLDER, name)


def source(*names):
    return os.path.join(SOURCE, *names)


def facet(*words, data=None):
    return subprocess.run([FACET, *words], input=data, stdin=None if data is not None else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600,
                          env={**os.environ, "FACET_FAST_WAYS": WAYS})


def made(*words):
    done = facet(*words)
    check_eq(done.returncode, 0, f"exit code of {words}: {done.stderr!r}")


def ways():
    """What the last run took; None when the build does not know."""
    if not os.path.exists(WAYS):
        return None
    with open(WAYS, encoding="utf-8") as file:
        return set(file.read().split())


def read(name):
    with open(path(name), "rb") as file:
        return file.read()


TIMES = re.compile(rb'^ *"(seconds|mips)": .*$', re.MULTILINE)


def both(words, out=None, expected=(), code=0, data=None, prints=True):
    """Runs the command twice: what it writes to `out` and, unless it prints times, what it prints is the same."""
    results = []
    for plain in ([], ["--plain"]):
        if os.path.exists(WAYS):
            os.remove(WAYS)
        done = facet(*words, *plain, data=data)
        check_eq(done.returncode, code, f"exit code of {words} {plain}: {done.stderr!r}")
        results.append((TIMES.sub(b"", done.stdout) if prints else b"", read(out) if out else b""))
        taken = ways()
        if taken is None:
            continue
        if plain:
            check_eq(taken, set(), f"fast ways of {words} --plain")
        else:
            missing = set(expected) - taken if platform.machine() == "x86_64" else set()
            check_eq(missing, set(), f"fast ways that {words} does not take")
            seen.update(taken)
    check(results[0] == results[1], f"--plain changes what {words} says")


# ---- the hart ----

FP = ("fadd.s fsub.s fmul.s fdiv.s fadd.d fsub.d fmul.d fdiv.d fmin.s fmax.d fadd.h fmul.h fdiv.h".split(),
      "fmadd.s fmsub.s fnmsub.s fnmadd.s fmadd.d fmsub.d fnmsub.d fnmadd.d".split(),
      "fsqrt.s fsqrt.d fcvt.s.d fcvt.d.s".split())
MODES = ("rne", "rtz", "rdn", "rup", "rmm", "dyn", "dyn", "dyn", "dyn")


def random_bits(draw):
    """Numbers near 1 for the most part, anything else sometimes."""
    single = struct.unpack("<I", struct.pack("<f", draw.uniform(-4, 4)))[0]
    double = struct.unpack("<Q", struct.pack("<d", draw.uniform(-4, 4)))[0]
    return draw.choice((double, double, 0xFFFFFFFF00000000 | single, 0xFFFFFFFF00000000 | single,
                        0xFFFFFFFFFFFF0000 | draw.getrandbits(16), draw.getrandbits(64)))


def random_program(seed):
    draw = random.Random(seed)
    lines = ["_start: li t0, 0x6000", "csrs mstatus, t0", "la t1, data", "li t2, 200"]
    lines += [f"fld f{i}, {8 * i}(t1)" for i in range(32)] + ["again:"]
    for _ in range(35):  # with the rest less than a block, which then loops to its own beginning
        rows = draw.choice(FP)
        name = draw.choice(rows)
        registers = [f"f{draw.randrange(32)}" for _ in range({0: 3, 1: 4, 2: 2}[FP.index(rows)])]
        mode = [] if name.startswith(("fmin", "fmax")) or name == "fcvt.d.s" else [draw.choice(MODES)]
        lines.append(f"{name} " + ", ".join(registers + mode))
        if draw.randrange(4) == 0:
            lines.append(f"fld f{draw.randrange(32)}, {8 * draw.randrange(32)}(t1)")
        if draw.randrange(8) == 0:
            lines.append(f"fsd f{draw.randrange(32)}, {8 * draw.randrange(32)}(t1)")
    lines += ["addi t2, t2, -1", "beqz t2, out", "j again", "out: li t0, 0x5555", "li t1, 0x100000", "sw t0, 0(t1)",
              "j .", ".balign 4096", "data:"] + [f".dword {random_bits(draw):#x}" for _ in range(32)]
    with open(path(f"random{seed}.s"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    made("as", "--isa", "xphmg", path(f"random{seed}.s"), "-o", path(f"random{seed}.elf"))
    return path(f"random{seed}.elf")


@case()
def seeded_programs_of_floating_point():
    for seed in range(24):
        both(["run", random_program(seed), "--dump-state", "--json"],
             expected=("HART_BLOCKS", "HART_HOST_CODE", "MEM_WINDOW"))


@case()
def no_cache_is_another_name():
    program = random_program(100)
    for command in (["run", program], ["snapshot", program, "--steps", "300", "-o", path("named.snap")]):
        check_eq(facet(*command, "--no-cache").returncode, 0, "exit code")
        check(not ways(), f"{command} --no-cache took {ways()}")


@case()
def no_host_code_leaves_the_blocks():
    program = random_program(102)
    results = [facet("run", program, "--dump-state", *words).stdout for words in ([], ["--host-code", "0"])]
    check(results[0] == results[1], "--host-code 0 changes what a program does")
    if ways() is not None:
        check("HART_BLOCKS" in ways() and "HART_HOST_CODE" not in ways(), f"--host-code 0 took {ways()}")


@case()
def snapshots_are_the_same_files():
    program = random_program(101)
    both(["snapshot", program, "--steps", "400", "-o", path("whole.snap")], out="whole.snap",
         expected=("HART_BLOCKS",))
    both(["run", "--resume", path("whole.snap"), "--dump-state", "--json"], expected=("HART_BLOCKS",))


@case()
def a_lane_program():
    made("as", "--isa", "xphmg", source("examples/xphmg/boxtest.s"), "-o", path("boxtest.elf"))
    both(["run", path("boxtest.elf"), "--dump-state", "--json"], code=2, expected=("HART_MEMO", "NUM_STAYS"))


SAMPLES = """_start: li t0, 0x8000000000300000 # FP32
 csrw CAP.PREC.MODE, t0
 li t0, 0x50043 # EN, CONVERT_EN, NORM, AMEM, DMEM
 csrw GFXCFG, t0
 la t0, texels
 csrw GFXTEXBASE, t0
 li t0, 4
 csrw GFXTEXPITCH, t0
 csrw GFXTEXFMT, t0 # UNORM16_R
 li t0, 0x200000002
 csrw GFXTEXWH, t0
 la x10, uv
 la x16, colour
 GFX.SAMPLE x16, x10, m=1
 ld s2, 0(x16)
 ld s3, 8(x16)
 li t0, 0x5555
 li t1, 0x100000
 sw t0, 0(t1)
 j .
 .balign 8
texels: .dword 0x1234ffff80000001
uv: .dword 0x3f0000003ecccccd
colour: .dword 0, 0
"""


@case()
def samples_of_a_format_without_a_kernel_of_its_own():
    with open(path("samples.s"), "w", encoding="utf-8") as file:
        file.write(SAMPLES)
    made("as", "--isa", "xphmg", path("samples.s"), "-o", path("samples.elf"))
    both(["run", path("samples.elf"), "--dump-state", "--json"], expected=("GFX_BLOCK",))


def packet(text):
    return f"${text}#{sum(text.encode()) % 256:02x}".encode()


@case()
def under_a_debugger():
    both(["gdb", "--stdio", random_program(102)], data=b"+" + packet("c") + b"+", expected=("HART_BLOCKS",))
    both(["gdb", "--stdio", "--machine", "tile", source("guest/tile/mandelbrot.s"), *MANDELBROT],
         data=b"+" + packet("c") + b"+", expected=("TILE_SIMD",))


# ---- tile ----

MANDELBROT = ["--grid", "2x1", "--arg", "target=0x80200000", "--arg", "stride=128", "--arg", "x0=-2.0",
              "--arg", "y0=-1.0", "--arg", "step=0.09375", "--arg", "limit=40"]


@case()
def kernels():
    both(["tile", "run", source("guest/tile/mandelbrot.s"), *MANDELBROT, "--out", f"target,2048={path('kernel.raw')}"],
         out="kernel.raw", expected=("TILE_AHEAD", "TILE_HOST_CODE", "TILE_SIMD"))
    both(["tile", "test", source("examples/tile/k1")])


@case()
def drawings():
    both(["tile", "draw", source("examples/tile/triangle.json"), "-o", path("draw.png")], out="draw.png",
         expected=("RASTER_SPAN", "RASTER_VERTEX", "RASTER_CLEAR"))


# ---- rays of GFX12 ----

def cube():
    if not os.path.exists(path("cube.gfx12")):
        made("bvh", "build", source("examples/gfx12/cube.obj"), "-o", path("cube.gfx12"))
    return path("cube.gfx12")


@case()
def rays():
    draw = random.Random(7)
    with open(path("rays.bin"), "wb") as file:
        for _ in range(500):
            file.write(struct.pack("<8f", *(draw.uniform(-3, 3) for _ in range(3)), 0,
                                   *(draw.uniform(-1, 1) for _ in range(3)), 100))
    both(["bvh", "trace", cube(), "--rays", path("rays.bin"), "-o", path("hits.bin"), "--stats"], out="hits.bin",
         expected=("GFX12_DECODED",))


@case()
def steps_of_rays():
    both(["gfx12", "run", cube(), "--ray", "-1 0.25 0.5 1 0.25 0.125", "--dump-state", "--json"])


# ---- pictures ----

PICTURES = {
    "gfx12": ("GFX12_DECODED",),
    "xphmg-rt": ("HART_BLOCKS", "HART_HOST_FLOAT", "RT_HOST", "RT_LANES"),
    "xphmg-rt-offload": ("RT_DECODED",),
    "xphmg-gfx": ("GFX_SPAN", "GFX_LANES", "NUM_HOST"),
    "xphmg-gfx-portable": (),
    "tile": ("RASTER_SPAN", "RASTER_VERTEX"),
}


def picture(machine):
    def draw():
        name = "crate.png" if machine == "tile" else "crate.pfm"
        words = ["render", source("assets/crate.obj"), "--machine", machine, "--size", "16x12", "--spp", "1", "-q", "-o",
                 path(name)]
        if b"no guest program" in facet(*words).stderr:
            skip("no programs for the hart in this build")
        both(words, out=name, expected=PICTURES[machine], prints=False)
    return draw


for name in PICTURES:
    add_case("picture_of_" + name.replace("-", "_"), picture(name))


@case()
def every_fast_way_was_taken_by_a_run_without_it():
    if not seen:
        skip("this build does not know its fast ways")
    if platform.machine() != "x86_64":
        skip("some fast ways are for x86-64 alone")
    with open(source("src/base/ways.h"), encoding="utf-8") as file:
        names = set(re.findall(r"^    WAY\((\w+)\)", file.read(), re.MULTILINE))
    check(len(names) > 10, "the list of ways was not found")
    check_eq(names - seen, set(), "fast ways that nothing here takes")


main("plain")
