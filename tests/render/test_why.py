"""`facet why`: on every machine the pixel is that of `facet render`, byte for byte, and what is said about it agrees
with the picture's floats, the heat map and `facet bvh why`."""
import json
import os
import random
import struct
import subprocess
import tempfile
import zlib

from harness import add_case, case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp(prefix="facet-why-")
ROOM = os.path.join(SOURCE, "assets/room.glb")
CUBE = os.path.join(SOURCE, "examples/gfx12/cube.obj")
MACHINES = {"gfx12": 4, "xphmg-rt": 1, "xphmg-rt-offload": 1, "xphmg-gfx": 1, "xphmg-gfx-portable": 3, "tile": 3}
SIZE = (64, 36)


def facet(*words, code=0):
    result = subprocess.run([FACET, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, text=True,
                            cwd=FOLDER)
    if "no guest program" in result.stderr:
        skip("no cross compiler")
    check_eq(result.returncode, code, f"exit code ({result.stderr})")
    return result


def floats(name):
    """The rows of a PFM file, from the top."""
    with open(os.path.join(FOLDER, name), "rb") as file:
        kind, size, scale, data = file.read().split(b"\n", 3)
    width, height = map(int, size.split())
    check_eq((kind, float(scale)), (b"PF", -1.0), "little-endian colour")
    values = struct.unpack(f"<{3 * width * height}f", data)
    rows = [values[3 * width * y:3 * width * (y + 1)] for y in range(height)]
    return [[row[3 * x:3 * x + 3] for x in range(width)] for row in reversed(rows)]


def options(machine, spp):
    return ["--machine", machine, "--size", f"{SIZE[0]}x{SIZE[1]}", "--spp", str(spp)]


def why(scene, x, y, how):
    found = json.loads(facet("why", scene, "--pixel", f"{x},{y}", "--json", *how).stdout)
    check_eq(found["pixel"], [x, y], "pixel")
    return found


def bits(value):
    return int(value["bits"], 16)


def word(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def same_pixel(scene, machine, spp, count, choose):
    how = options(machine, spp)
    facet("render", scene, "-o", "out.pfm", "-q", *how)
    facet("render", scene, "-o", "out.png", "-q", *how)
    picture, shown = floats("out.pfm"), png("out.png")
    for _ in range(count):
        x, y = choose.randrange(SIZE[0]), choose.randrange(SIZE[1])
        found = why(scene, x, y, how)
        light = [bits(value) for value in found["light"]]
        exposed = picture[y][x]
        check_eq(tuple(found["rgb"]), shown[y][x], f"bytes of {x},{y}")
        if machine == "tile":
            check_eq(light, [word(value) for value in exposed], f"light of {x},{y}")
            frame(found)
        if machine.startswith("xphmg") and machine != "xphmg-gfx-portable":
            last = {store["channel"]: bits(store["after"]) for store in found["stores"] if store["final"]}
            check_eq([last.get(channel, 0) for channel in ("red", "green", "blue")], light, "what was stored last")
            check(all("fsw" in store["instruction"] or "sb" in store["instruction"] or "sd" in store["instruction"]
                      or "sw" in store["instruction"] for store in found["stores"]), "stores")
            check(all(".c:" in store["place"] or ".S:" in store["place"] for store in found["stores"]), "lines")
        if not machine.startswith("xphmg-gfx") and machine != "tile":
            check_eq(sum(ray["kind"] == "primary" for ray in found["rays"]), spp, "primary rays")


def frame(found):
    """The tile machine's picture is the mean of the frame's pixels, each as its last entry left it; the eye's
    curve of sRGB is that of IEC 61966-2-1."""
    for i, value in enumerate(found["light"]):
        channels = [(int(place["value"], 16) >> 16 - 8 * i & 255) / 255 for place in found["frame"]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        check(abs(sum(linear) / len(linear) - value["value"]) < 1e-5, f"mean of {channels}")
    for place in found["frame"]:
        made = place["made_by"]
        check(made >= 0 and place["history"][made]["after"] == place["value"], "what made it")


def png(name):
    """Rows of (r, g, b) of an 8-bit RGB or RGBA file: a reader of our own."""
    with open(os.path.join(FOLDER, name), "rb") as file:
        data = file.read()
    at, packed, width, height, each = 8, b"", 0, 0, 3
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            each = {2: 3, 6: 4}[color]
            check_eq(depth, 8, "depth")
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(each * width)
    for y in range(height):
        start = y * (each * width + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + each * width])
        for i in range(len(line)):
            a, b = line[i - each] if i >= each else 0, before[i]
            c = before[i - each] if i >= each else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append([tuple(line[each * x:each * x + 3]) for x in range(width)])
    return rows


def machine_case(machine, count):
    def body():
        choose = random.Random(5)
        same_pixel(ROOM, machine, 1, count, choose)
        if machine in ("gfx12", "tile"):  # the others take long with samples
            same_pixel(CUBE, machine, 3, 1, choose)
        if machine == "tile":
            same_pixel(ROOM, machine, 2, 3, choose)

    add_case(f"pixels_of_{machine}", body)


for MACHINE, COUNT in MACHINES.items():
    machine_case(MACHINE, COUNT)


@case()
def rays_are_those_of_bvh_why():
    how = options("gfx12", 1)
    facet("bvh", "build", ROOM, "-o", "room.gfx12", "-q")
    facet("render", ROOM, "-o", "nodes.pfm", "-q", "--heatmap", "nodes", *how)
    heat = floats("nodes.pfm")
    for x, y in ((10, 20), (33, 18)):
        found = why(ROOM, x, y, how)
        ray = found["rays"][0]
        numbers = " ".join(value["bits"] for value in ray["origin"] + ray["direction"])
        other = json.loads(facet("bvh", "why", "room.gfx12", "--ray", numbers, "--flags", "0x10", "--json").stdout)
        check_eq(ray["t"]["bits"], other["result"]["t"]["bits"], "t, by another image of the same scene")
        camera = ["--pixel", f"{x},{y}", "--size", f"{SIZE[0]}x{SIZE[1]}", "--scene", ROOM]
        other = json.loads(facet("bvh", "why", "room.gfx12", *camera, "--flags", "0x10", "--json").stdout)
        check_eq(ray["t"]["bits"], other["result"]["t"]["bits"], "t of the ray that it sends there")
        check_eq({len(found["nodes"]), ray["nodes"], found["heat"]["value"]}, {heat[y][x][0]}, "nodes")


@case()
def jobs_visit_what_they_count():
    """The nodes of a ray are those of `rt why`; RTSTAT counted their tests when another run drew the heat map."""
    for machine in ("xphmg-rt-offload", "xphmg-rt"):
        for x, y in ((10, 30), (32, 18), (40, 8)):
            found = why(ROOM, x, y, options(machine, 1))
            check_eq((found["nodes"][0]["kind"], found["nodes"][0]["index"]), ("node", 0), "the first node")
            if machine == "xphmg-rt-offload":
                check_eq(sum(found["tested"].values()), found["heat"]["value"], f"tests for {x},{y}")
            full = json.loads(facet("why", ROOM, "--pixel", f"{x},{y}", "--full", "--json", *options(machine, 1)).stdout)
            pops = [e for e in full["traversal"] if e["event"] == "pop"]
            check_eq(len(pops), len(found["nodes"]), "entries of the stack")
            tests = [e for e in full["traversal"] if e["event"] == "triangle"]
            check_eq(len(tests), found["tested"]["triangles"], "tests of triangles")


@case()
def a_rasteriser_tells_whose_triangle():
    """Away from edges a ray through the middle of the pixel meets the same triangle."""
    for x, y in ((10, 30), (32, 18), (31, 2), (50, 20)):
        ray = why(ROOM, x, y, options("gfx12", 1))["rays"][0]
        for machine in ("xphmg-gfx", "xphmg-gfx-portable"):
            found = why(ROOM, x, y, options(machine, 1))["fragments"]
            last = [f for f in found if f["final"]]
            check_eq([(f["instance"], f["mesh"], f["triangle"]) for f in last],
                     [(ray["instance"], ray["mesh"], ray["triangle"])], f"{machine} at {x},{y}")
            check("instance" not in found[0] and all("instance" in f for f in found[1:]), "the sky comes first")
            depths = [bits(f["depth"]) for f in found[1:]]
            check_eq(depths, sorted(depths), "each is nearer than the one before")
    sky = why(CUBE, 0, 0, options("xphmg-gfx", 2))["fragments"]
    check_eq([(f["sample"], f["final"], "instance" in f) for f in sky], [(0, True, False), (1, True, False)], "beside the cube")


@case()
def the_hottest_pixel():
    for machine in ("gfx12", "xphmg-rt-offload"):
        how = options(machine, 1)
        facet("render", CUBE, "-o", "heat.pfm", "-q", "--heatmap", "nodes", *how)
        heat = [(-row[x][0], y, x) for y, row in enumerate(floats("heat.pfm")) for x in range(SIZE[0])]
        most, y, x = min(heat)
        found = json.loads(facet("why", CUBE, "--hottest", "--json", *how).stdout)
        check_eq((found["pixel"], found["heat"]["value"]), ([x, y], -most), machine)


@case()
def one_screen():
    for machine in ("gfx12", "tile", "xphmg-rt-offload", "xphmg-gfx"):
        text = facet("why", ROOM, "--pixel", "20,20", *options(machine, 1)).stdout
        check(len(text.splitlines()) <= 24, f"{machine}: {len(text.splitlines())} lines")
        more = facet("why", ROOM, "--pixel", "20,20", "--full", *options(machine, 1)).stdout
        check(len(more.splitlines()) > len(text.splitlines()), f"{machine}: --full")


@case()
def what_is_refused():
    for words, message in ((["--pixel", "64,0"], "expected X,Y from the top left, below 64,36"),
                           (["--pixel", "1"], "expected X,Y"), ([], "expected --pixel X,Y or --hottest"),
                           (["--pixel", "1,1", "--hottest"], "expected --pixel X,Y or --hottest"),
                           (["--hottest", "--machine", "tile"], "--hottest is for machines that trace rays"),
                           (["--pixel", "1,1", "--machine", "all"], "--machine")):
        result = facet("why", CUBE, "--size", "64x36", "--spp", "1", *words, code=2)
        check(message in result.stderr and result.stdout == "", f"{words}: {result.stderr}")
    result = facet("why", "room.gfx12", "--pixel", "1,1", code=2)
    check("facet bvh why --pixel is for a BVH image" in result.stderr, result.stderr)


main("why")
