"""Profiles of kernels against a trace of the same run, of draws against a small rasteriser in exact numbers, and of RT jobs
against the same job made another way."""
import collections
import json
import os
import random
import shutil
import subprocess
import tempfile
from fractions import Fraction

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
FOLDER = tempfile.mkdtemp()

# Hot enough for host code: loads and stores of every region, masks of 4, 8 and 16 lanes, atomics, a branch that is taken now and then.
KERNEL = """
start:  CSRRS s5, arg_base, s0
        LW    s6, 0(s5)
        CSRRS s7, sm_base, s0
        CSRRS s8, tile_offset, s0
        LUI   s14, 0x10002
        ADDI  s4, s0, 200
loop:   LW    s10, 4(s6)
        SH    s10, 2(s7)
        LBU   s11, 3(s7)
        VLD.V v1, 0(s6)
        VST.V v1, 16(s7)
        VLDX16 v2, (s7), v0
        VSTX  v2, (s6), v0
        VSELD.I32 v3, v1, s4
        VSEL.I16 v7, v1, v4
        VSELD.I8 v5, v1, s4
        VLD.C v6, c1(s0)
        ANDI  s9, s4, 7
        BNE   s9, s0, skip
        AADD  s12, s4, (s6), rlx
        SW    s4, 0(s14)
skip:   ADDI  s4, s4, -1
        BNE   s4, s0, loop
        EXIT
"""


def path(name):
    return os.path.join(FOLDER, name)


def facet(*words, code=0):
    done = subprocess.run([FACET, *words], capture_output=True, text=True, cwd=FOLDER, stdin=subprocess.DEVNULL)
    check_eq(done.returncode, code, done.stderr)
    return done.stdout


def read(name):
    with open(path(name), encoding="utf-8") as file:
        return json.load(file)


def write(name, text):
    with open(path(name), "w", encoding="utf-8") as file:
        file.write(text)


def kernel(*options):
    return facet("tile", "run", "kernel.s", "--grid", "3x2", "--shared", "4096", "--const", "0x80200000,64", "--arg", "data=0x80100000",
                 "--out", "data,64=out.raw", "--json", *options)


def region(address):
    return ("scratch" if 0x8000 <= address < 0x10000 else "sampler" if 0x10002000 <= address < 0x10002400
            else "imem" if 0x30000000 <= address < 0x30010000 else "global")


def lanes(insn, mask):
    width = {"I32": 4, "I16": 8, "I8": 16}[insn.split()[0].split(".")[1]]
    return bin(mask & ((1 << width) - 1)).count("1"), width


def traced(*options):
    """(core, pc, word) to [times, active, lanes], and accesses by class and size."""
    kernel("--trace", "trace.jsonl", *options)
    rows, memory = collections.defaultdict(lambda: [0, 0, 0]), collections.Counter()
    mask = [0] * 4
    with open(path("trace.jsonl"), encoding="utf-8") as file:
        for line in file.readlines()[1:]:
            event = json.loads(line)
            core, name = event["core"], event["insn"].split()[0]
            row = rows[core, int(event["pc"], 0), int(event["word"], 0)]
            row[0] += 1
            if name.startswith("VSEL"):
                active, width = lanes(event["insn"], mask[core])
                row[1] += active
                row[2] += width
            for change in event.get("changes", ()):
                if change.get("reg") == "s4":
                    mask[core] = int(change["new"], 0)
                kind = "load" if "load" in change else "store" if "store" in change else None
                if kind is None or (kind == "store" and name.startswith("AADD")):
                    continue
                kind, place = "atomic" if name.startswith("AADD") else kind, region(int(change.get("load", change.get("store")), 0))
                memory["constant" if name.startswith("VLD.C") else place, kind, change["size"]] += 1
    return {key: tuple(row) for key, row in rows.items()}, dict(memory)


def found(name="out.json"):
    profile = read(name)
    rows = {(row["core"], int(row["pc"], 0), int(row["word"], 0)): (row["count"], row.get("active", 0), row.get("lanes", 0))
            for row in profile["instructions"]}
    memory = {(*name.split(), int(size)): times for name, sizes in profile["memory"].items() for size, times in sizes.items()}
    return rows, memory


@case()
def kernels_are_counted_as_in_a_trace():
    write("kernel.s", KERNEL)
    for sched in ((), ("--sched", "rr:3"), ("--sched", "rnd:5"), ("--mem", "strong")):
        expected = traced(*sched)
        check_eq(len([row for row in expected[0].values() if row[2] != 0]), 12)  # three instructions on four cores
        plain = kernel(*sched)
        for options in ((), ("--plain",), ("--host-code", "1"), ("--host-code", "0"), ("--steps", "100000"), ("--trace", "t.jsonl")):
            check_eq(kernel("--profile-out", "out.json", *sched, *options), plain, (sched, options))
            rows, memory = found()
            check_eq(memory, expected[1], (sched, options))
            check(rows == expected[0], (sched, options))


@case()
def views_of_a_kernel():
    shown = json.loads(facet("profile", "show", "out.json", "--json"))
    rows, _ = found()
    check_eq(shown["divergence"]["lanes"], sum(row[2] for row in rows.values()))
    check_eq(shown["divergence"]["active"], sum(row[1] for row in rows.values()))
    idle = [place["lanes"] - place["active"] for place in shown["divergence"]["places"]]
    check_eq(idle, sorted(idle, reverse=True))
    check_eq(shown["balance"]["largest"], max(row["count"] for row in shown["cores"]))
    folded = facet("profile", "show", "out.json", "--folded").splitlines()
    check(folded[0].startswith("kernel.s;start;kernel.s:2 "), folded[0])
    check_eq(sum(int(line.rsplit(" ", 1)[1]) for line in folded), sum(row[0] for row in rows.values()))


# ---- draws ----

WIDTH, HEIGHT = 64, 32


class Model:
    """What draws count, by the contract, with flat depths: exact in rationals."""

    def __init__(self):
        self.depth = {}
        self.counts = collections.Counter()

    @staticmethod
    def covered(corners):
        """Pixels whose centre a triangle covers, with the rule for top and left edges."""
        (ax, ay), (bx, by), (cx, cy) = corners
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area < 0:
            (bx, by), (cx, cy) = (cx, cy), (bx, by)
        edges = (((bx, by), (cx, cy)), ((cx, cy), (ax, ay)), ((ax, ay), (bx, by)))
        for y in range(HEIGHT):
            for x in range(WIDTH):
                px, py, inside = x + Fraction(1, 2), y + Fraction(1, 2), True
                for (ux, uy), (vx, vy) in edges:
                    e = (vx - ux) * (py - uy) - (vy - uy) * (px - ux)
                    first = vy < uy or (vy == uy and vx > ux)
                    inside = inside and (e > 0 or (e == 0 and first))
                if inside:
                    yield x, y

    def pixels(self, pixels, z, blends=False, texels=0):
        count = self.counts
        for at in pixels:
            count["pixels"] += 1
            if z is not None:
                count["z_tested"] += 1
                if not z < self.depth.get(at, 2):
                    count["z_failed"] += 1
                    continue
                self.depth[at] = z
            count["written"] += 1
            count["blended"] += blends
            count["texels"] += texels

    def triangle(self, corners, z, culls=False, **how):
        count, outside = self.counts, [sum(1 for x, _ in corners if x > WIDTH)]
        count["triangles"] += 1
        if outside[0] == 3:
            count["outside"] += 1
            return
        parts = 1
        if outside[0] != 0:
            count["clipped"] += 1
            parts = 3 - outside[0]  # one corner outside makes four of them, two make three
        (ax, ay), (bx, by), (cx, cy) = corners
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        count["parts"] += parts
        centres = [max(v) - Fraction(1, 2) >= -(-(min(v) - Fraction(1, 2)) // 1) for v in zip(*corners)]
        outcome = ("degenerate" if area == 0 else "culled" if culls and area > 0 else "rasterised" if all(centres) else "missed")
        count[outcome] += parts
        if outcome == "rasterised":
            self.pixels(self.covered(corners), z, **how)


def vertex(corner, z):
    x, y = corner
    return {"position": [float(x / 32 - 1), float(1 - y / 16), float(z)]}


def random_triangles(count):
    rnd = random.Random(7)
    for _ in range(count):
        x, y, size = rnd.randrange(0, 220), rnd.randrange(0, 100), rnd.choice((8, 28))
        corners = [(Fraction(x + rnd.randrange(size), 4), Fraction(y + rnd.randrange(size), 4)) for _ in range(3)]
        yield corners, Fraction(rnd.randrange(1, 8), 8)


SPECIAL = [([(60, 4), (68, 4), (60, 12)], Fraction(1, 16)),    # cut: one corner outside
           ([(60, 20), (68, 20), (68, 28)], Fraction(1, 16)),  # ... two
           ([(70, 4), (80, 4), (70, 12)], Fraction(1, 16)),    # outside
           ([(4, 4), (8, 8), (12, 12)], Fraction(1, 16)),      # a line
           ([(10, 10), (Fraction(41, 4), 10), (10, Fraction(41, 4))], Fraction(1, 16))]  # between pixel centres


def draw_list():
    triangles = [(list(map(lambda c: (Fraction(c[0]), Fraction(c[1])), corners)), z) for corners, z in SPECIAL] + list(random_triangles(60))
    vertices = [vertex(corner, z) for corners, z in triangles for corner in corners]
    state = {"fb_base": "frame", "fb_stride": 4 * WIDTH, "fb_format": "ARGB8888", "fb_wh": [WIDTH, HEIGHT], "depth_base": "depth",
             "depth_stride": 4 * WIDTH, "depth_format": "D32F", "depth_function": "less", "sampler": 3, "rect_z": 0.5}
    geometry = {"vbo_base": "corners", "stride": 16, "flags": ["CLIP"], "mvp": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
                "index_base": "strip", "index_type": "u16"}
    words = ["frame", 4 * WIDTH, 1, HEIGHT << 16 | WIDTH] + [0] * 12
    return triangles, {
        "buffers": {
            "frame": {"size": 4 * WIDTH * HEIGHT}, "depth": {"size": 4 * WIDTH * HEIGHT, "fill": 255}, "corners": {"vertices": vertices},
            "strip": {"u16": [0, 1, 2, 5, 65535, 6, 7, 8, 60000]}, "texels": {"u32": [1, 2, 3, 4]}, "state": {"u32": words},
            "rect": {"u32": [0x1FFFF, 5 << 16 | 2, 4 << 16 | 3, "#ffffff"]}, "args": {"u32": ["state", "rect"]},
            "code": {"code": ["paint: CSRRS s5, arg_base, s0", "LW s6, 0(s5)", "LW s7, 4(s5)", "RSTATE s8, 0(s6)", "RRECT s9, 0(s7)",
                              "ADDI s3, s0, 3", "TEX2D.B.I32 v1, v0, s3", "EXIT"]}},
        "frame": {"base": "frame", "width": WIDTH, "height": HEIGHT},
        "commands": [
            {"command": "LOAD_SAMPLER", "index": 3, "descriptor": {"base": "texels", "stride": 8, "width": 2, "height": 2,
                                                                    "format": "ARGB8888", "filter": "bilinear"}},
            {"command": "LOAD_RSTATE", "slot": 0, "descriptor": {**state, "flags": ["DEPTH"]}},
            {"command": "LOAD_GSTATE", "descriptor": {**geometry, "cull": "CW"}},
            {"command": "RRECT", "descriptor": {"xy": [2, 3], "wh": [70, 8], "color": 1}},
            {"command": "SIGNAL", "slot": 9},
            {"command": "RRECT", "descriptor": {"xy": [1, 1], "wh": [9, 20], "color": 1, "flags": ["DEPTH"]}},
            {"command": "GDRAW", "descriptor": {"count": len(vertices)}},
            {"command": "LOAD_RSTATE", "slot": 0, "descriptor": {**state, "flags": ["DEPTH", "TEXTURE"], "blend": "alpha"}},
            {"command": "LOAD_GSTATE", "descriptor": {**geometry, "cull": "none"}},
            {"command": "GDRAW", "descriptor": {"count": 9, "topology": "strip", "flags": ["INDEXED", "RESTART"]}},
            {"command": "RDRAW", "descriptor": {"flags": ["TEXTURED", "DEPTH"]}, "triangle": [
                {"x": 5, "y": 5, "z": 0.03125, "color": "#ffffff"}, {"x": 40, "y": 5, "z": 0.03125, "color": "#ffffff"},
                {"x": 5, "y": 30, "z": 0.03125, "color": "#ffffff"}]},
            {"command": "DISPATCH", "descriptor": {"pc": "code", "grid": [2, 1], "arg_base": "args", "arg_size": 8}}]}


def counted(model, **more):
    return {**{name: 0 for name in ("elements", "vertices", "triangles", "bad_index", "outside", "clipped", "parts", "out_of_range",
                                    "degenerate", "culled", "missed", "rasterised", "pixels", "z_tested", "z_failed", "blended", "written",
                                    "texels")}, **model.counts, **more}


def expected_draws(triangles):
    """Per draw, in order; depth goes from one to the next."""
    model, draws = Model(), []

    def close(what, command, **more):
        draws.append({"draw": what, "command": command, **counted(model, **more)})
        model.counts.clear()

    model.pixels([(x, y) for x in range(2, 64) for y in range(3, 11)], None)
    close("rrect", 3)
    model.pixels([(x, y) for x in range(1, 10) for y in range(1, 21)], Fraction(1, 2))
    close("rrect", 5)
    for corners, z in triangles:
        model.triangle(corners, z, culls=True)
    close("gdraw", 6, elements=3 * len(triangles), vertices=3 * len(triangles))
    flat = [corner for corners, _ in triangles for corner in corners]
    # 0 1 2, 2 1 5, a new strip with 6 7 8, and one with an index outside memory.
    for corners in ((0, 1, 2), (2, 1, 5)):
        model.triangle([flat[i] for i in corners], Fraction(1, 16), blends=True, texels=4)
    model.triangle([flat[i] for i in (6, 7, 8)], Fraction(1, 16), blends=True, texels=4)
    model.counts["triangles"] += 1
    model.counts["bad_index"] += 1
    close("gdraw", 9, elements=9, vertices=7)
    model.triangle([(Fraction(5), Fraction(5)), (Fraction(40), Fraction(5)), (Fraction(5), Fraction(30))], Fraction(1, 32), blends=True,
                   texels=4)
    close("rdraw", 10)
    return draws


@case()
def draws_are_counted_as_by_exact_numbers():
    triangles, commands = draw_list()
    commands["machine"] = {"vram": 65536}
    write("list.json", json.dumps(commands))
    expected = expected_draws(triangles)
    check(min(expected[2][name] for name in ("outside", "clipped", "degenerate", "culled", "missed", "z_failed")) > 0, expected[2])
    before = facet("tile", "draw", "list.json", "-o", "a.png", code=1)
    for options in ((), ("--plain",), ("--threads", "3")):
        after = facet("tile", "draw", "list.json", "-o", "b.png", "--profile-out", "draws.json", *options, code=1)
        check_eq(after.replace("b.png", "a.png"), before)
        profile = read("draws.json")
        queue = [draw for draw in profile["draws"] if "command" in draw]
        for mine, theirs in zip(expected, queue):
            check_eq(theirs, mine, options)
        check_eq(len(queue), len(expected))
        cores = [{key: draw[key] for key in ("draw", "core", "pixels", "written")} for draw in profile["draws"] if "core" in draw]
        check_eq(cores, [{"draw": "rrect", "core": core, "pixels": 12, "written": 12} for core in (0, 1)])
        memory = {name: sum(int(size) * times for size, times in sizes.items()) for name, sizes in profile["memory"].items()}
        written = sum(draw["written"] for draw in profile["draws"])
        blended = sum(draw["blended"] for draw in profile["draws"])
        tested = sum(draw["z_tested"] for draw in profile["draws"])
        failed = sum(draw["z_failed"] for draw in profile["draws"])
        check_eq({name: memory[name] for name in memory if name.split()[0] not in ("global",)},
                 {"color store": 4 * written, "color load": 4 * blended, "depth load": 4 * tested, "depth store": 4 * (tested - failed),
                  "vertex load": 16 * sum(draw["vertices"] for draw in profile["draws"]), "index load": 2 * 9,
                  "texel load": 4 * (sum(draw["texels"] for draw in profile["draws"]) + 2 * 4)}, options)
        check_eq({row["kernel"] for row in profile["instructions"]}, {"code"})
    text = facet("profile", "show", "draws.json")
    check("command 6 gdraw" in text and "z_failed" in text, text)


@case()
def draws_of_many_triangles_do_not_depend_on_threads():
    scene = os.path.join(os.environ["FACET_SOURCE"], "assets/terrain.glb")
    seen = []
    for options in (("--threads", "1"), ("--threads", "4"), ("--plain", "--threads", "1")):
        facet("render", scene, "--size", "96x54", "--spp", "1", "--machine", "tile", "-o", "x.png", "--profile-out", "many.json", *options)
        seen.append({key: read("many.json")[key] for key in ("draws", "memory")})
    check(seen[0] == seen[1], "threads")
    check(seen[0] == seen[2], "plain")
    check(max(draw["elements"] for draw in seen[0]["draws"]) > 2 * 2304, "large enough for several threads")
    for draw in seen[0]["draws"]:
        check_eq(draw["parts"], sum(draw[name] for name in ("out_of_range", "degenerate", "culled", "missed", "rasterised")))
        check(draw["triangles"] <= draw["parts"] + draw["outside"] + draw["bad_index"], draw)


# ---- rays ----


@case()
def rays_of_a_picture():
    scene = os.path.join(os.environ["FACET_SOURCE"], "assets/boxes.glb")
    words = ("render", scene, "--size", "40x24", "--spp", "1")
    pictures, jobs = {}, {}
    for machine in ("gfx12", "xphmg-rt", "xphmg-rt-offload", "tile"):
        for options in ((), ("--plain",), ("--threads", "2")):
            if machine == "xphmg-rt" and options == ("--plain",):
                continue  # slow
            name = machine + ".json"
            before = pictures.get(machine)
            facet(*words, "--machine", machine, "-o", "plain.png", *options)
            facet(*words, "--machine", machine, "-o", "counted.png", "--profile-out", name, *options)
            with open(path("plain.png"), "rb") as one, open(path("counted.png"), "rb") as two:
                pictures[machine] = one.read()
                check(two.read() == pictures[machine] and before in (None, pictures[machine]), (machine, options))
            profile = read(name)
            if machine == "xphmg-rt-offload":
                jobs[options] = profile["counters"]["RT jobs"]
                kinds = [value for key, value in profile["counters"].items() if key.endswith(" rays")]
                # The program counts its own tests by RTSTAT.
                check_eq(jobs[options]["box tests"], sum(kind["box nodes"] for kind in kinds))
                check_eq(jobs[options]["triangle tests"], sum(kind["primitive nodes"] for kind in kinds))
                cache = profile["counters"]["decoded BVH"]
                quick = cache["node hits"] + cache["node misses"]  # the first rays, which raise NX, read no decoded nodes
                check(quick == 0 if options == ("--plain",) else jobs[options]["nodes"] - 40 < quick <= jobs[options]["nodes"], cache)
            if machine.startswith("xphmg"):
                total = json.loads(facet(*words, "--machine", machine, "-o", "plain.png", "--json", *options))["guest_instructions"]
                check_eq(profile["retired"], total)
    check_eq(jobs[()], jobs["--plain",])
    check_eq(jobs[()], jobs["--threads", "2"])
    for machine in ("xphmg-gfx-portable", "all"):
        facet(*words, "--machine", machine, "-o", "x.png", "--profile-out", "x.json", code=2)


@case()
def lanes_of_the_hart_do_not_depend_on_the_way():
    scene = os.path.join(os.environ["FACET_SOURCE"], "assets/uv.glb")
    seen = []
    for options in ((), ("--plain",)):
        facet("render", scene, "--size", "32x16", "--spp", "1", "--machine", "xphmg-gfx", "-o", "x.png", "--profile-out", "gfx.json", *options)
        seen.append({(row["pc"], row["word"]): (row["count"], row["active"], row["lanes"]) for row in read("gfx.json")["instructions"]
                     if "lanes" in row})
    check_eq(seen[0], seen[1])
    check(all(active <= all_lanes and all_lanes % 64 == 0 for _, active, all_lanes in seen[0].values()) and seen[0], seen[0])


@case()
def wrong_sections_are_refused():
    good = read("draws.json")
    first = good["instructions"][0]
    for change, word in (({"counters": 3}, "counters"), ({"counters": {"rays": {"hits": -1}}}, "counters"), ({"draws": {}}, "draws"),
                         ({"draws": [{"pixels": 1.5}]}, "draws"), ({"draws": [4]}, "draws"), ({"machine": "gfx12"}, "instructions"),
                         ({"instructions": [{**first, "lanes": 3, "active": 4}]}, "instructions[0].lanes"),
                         ({"instructions": [{**first, "kernel": 3}]}, "instructions[0].kernel")):
        write("wrong.json", json.dumps({**good, **change}))
        done = subprocess.run([FACET, "profile", "show", "wrong.json"], capture_output=True, text=True, cwd=FOLDER)
        check_eq(done.returncode, 2, word)
        check("wrong.json: " + word in done.stderr, done.stderr)
    for words in (("tile", "draw", "list.json", "-o", "x.png", "--profile-out", "list.json"),
                  ("tile", "draw", "list.json", "-o", "x.png", "--profile-out", "x.png"),
                  ("tile", "run", "kernel.s", "--profile-out", "kernel.s"), ("tile", "run", "kernel.s", "--profile-out", "-")):
        facet(*words, code=2)


try:
    main("profile_tile")
finally:
    shutil.rmtree(FOLDER)
