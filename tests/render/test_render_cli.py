"""`facet render` from outside: files, statistics, thread counts, refusals that write nothing."""
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
FOLDER = tempfile.mkdtemp(prefix="facet-render-")
SCENE = os.path.join(FOLDER, "scene.glb")


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, timeout=600)


def path(name):
    return os.path.join(FOLDER, name)


def render(name, *words):
    """Renders the scene to a new file and returns its bytes."""
    result = facet("render", SCENE, "-o", path(name), "--size", "90x50", "--quiet", *words)
    check_eq(result.returncode, 0, f"exit code ({result.stderr.decode()})")
    with open(path(name), "rb") as file:
        return file.read()


def refused(word, *words, output="no.png", scene=SCENE):
    """The command fails with exit code 2, says `word`, and leaves no file behind."""
    before = sorted(os.listdir(FOLDER))
    result = facet("render", scene, "-o", path(output), "--size=8x8", *words)
    check_eq(result.returncode, 2, "exit code")
    check_eq(result.stdout, b"", "standard output")
    check(word in result.stderr.decode(), f"{word!r} is not in {result.stderr!r}")
    check_eq(sorted(os.listdir(FOLDER)), before, "files")


def pfm(data):
    """(width, height, rows of RGB triples, top row first)"""
    kind, size, scale, rest = data.split(b"\n", 3)
    width, height = map(int, size.split())
    check(kind == b"PF" and float(scale) < 0, "not a little-endian colour PFM")
    check_eq(len(rest), 12 * width * height, "bytes of pixels")
    values = struct.unpack(f"<{3 * width * height}f", rest)
    rows = [[values[3 * (y * width + x):][:3] for x in range(width)] for y in range(height)]
    return width, height, rows[::-1]


@case()
def thread_count_does_not_change_the_file():
    for ending in ("png", "pfm", "exr"):
        files = [render(f"t{n}.{ending}", "--spp", "2", "--threads", str(n)) for n in (1, 2, 4)]
        check(files[0] == files[1] == files[2], f"{ending} files differ between thread counts")


@case()
def endings_choose_the_format():
    check_eq(render("a.png", "--spp", "1")[:8], b"\x89PNG\r\n\x1a\n", "signature")
    check_eq(render("a.exr", "--spp", "1")[:4], b"\x76\x2f\x31\x01", "signature")
    width, height, rows = pfm(render("a.pfm", "--spp", "1"))
    check_eq((width, height, len(rows)), (90, 50, 50), "size")
    result = facet("render", SCENE, "-o", "-", "--size", "90x50", "--spp", "1", "--quiet")
    check_eq(result.stdout, render("a.png", "--spp", "1"), "standard output")


@case()
def statistics_say_what_happened():
    render("s.png", "--spp", "2", "--threads", "2", "--stats", path("s.json"))
    with open(path("s.json"), encoding="utf-8") as file:
        stats = json.load(file)
    check_eq([stats[k] for k in ("machine", "width", "height", "spp")], ["gfx12", 90, 50, 2])
    check_eq(stats["rays"]["primary"]["rays"], 90 * 50 * 2, "primary rays")
    check_eq(stats["rays"]["ambient"]["rays"] <= stats["rays"]["primary"]["hits"], True)
    check(stats["rays"]["shadow"]["rays"] > 0 and stats["mrays_per_second"] > 0, "no shadow rays")
    for cost in stats["rays"].values():
        check_eq(cost["nodes"],
                 cost["box_nodes"] + cost["instance_nodes"] + cost["primitive_nodes"], "nodes")
    check_eq(sorted(stats["seconds"]), ["build", "import", "render", "write"], "phases")
    check(stats["bvh"]["triangles"] > 0, "no triangles in the acceleration structure")
    result = facet("render", SCENE, "-o", path("s2.png"), "--size", "90x50", "--spp", "2",
                   "--quiet", "--json", "--threads", "1")
    again = json.loads(result.stdout)
    check_eq(again["image_hash"], stats["image_hash"], "image hash")
    check_eq(again["rays"], stats["rays"], "rays")
    render("s3.png", "--spp", "2", "--seed", "1", "--stats", path("s.json"))
    with open(path("s.json"), encoding="utf-8") as file:
        check(json.load(file)["image_hash"] != stats["image_hash"], "another seed, the same hash")


@case()
def switches_switch():
    plain = render("p.pfm", "--spp", "1")
    for words in (["--no-shadows"], ["--no-ao"], ["--ao-distance", "0.01"], ["--camera", "frame"],
                  ["--ao-rays", "4"]):
        check(render("q.pfm", "--spp", "1", *words) != plain, f"{words} change nothing")
    for words in (["--exposure", "2"], ["--tone", "clamp"]):
        check_eq(render("q.pfm", "--spp", "1", *words), plain, f"linear picture with {words}")
        check(render("q.png", "--spp", "1", *words) != render("r.png", "--spp", "1"),
              f"{words} change nothing")
    result = facet("render", SCENE, "-o", path("n.png"), "--size", "90x50", "--spp", "1",
                   "--no-shadows", "--no-ao", "--quiet", "--json")
    rays = json.loads(result.stdout)["rays"]
    check_eq(rays["shadow"]["rays"] + rays["ambient"]["rays"], 0, "other rays")


@case()
def heat_map_holds_the_counts():
    words = ["--spp", "1", "--heatmap", "nodes", "--stats", path("h.json")]
    _, _, rows = pfm(render("h.pfm", *words))
    with open(path("h.json"), encoding="utf-8") as file:
        stats = json.load(file)
    counts = [pixel for row in rows for pixel in row]
    check(all(p[0] == p[1] == p[2] == int(p[0]) for p in counts), "counts are not whole and grey")
    check_eq(sum(int(p[0]) for p in counts), stats["rays"]["primary"]["nodes"], "nodes")
    words[3] = "triangles"
    _, _, rows = pfm(render("h.pfm", *words))
    check_eq(sum(int(p[0]) for row in rows for p in row),
             stats["rays"]["primary"]["primitive_nodes"], "triangle pairs")
    check(render("h1.png", *words) != render("h2.png", *words, "--heat-max", "1000"),
          "--heat-max changes nothing")


@case()
def bad_requests_are_refused():
    refused("gfx12", "--machine", "gfx13")
    refused("WIDTHxHEIGHT", "--size", "100")
    for size in ("0x5", "5x0", "-5x5", "5x5x5", "99999x5", "5 x5", "x", "5x", "40000x10"):
        refused("--size", "--size", size)
    refused("--spp", "--spp", "0")
    refused("--spp", "--spp", "65537")
    refused("--threads", "--threads", "1025")
    refused("--threads", "--threads", "-1")
    refused("--camera", "--camera", "7")
    refused("--camera", "--camera", "first")
    refused("--exposure", "--exposure", "nan")
    refused("--heatmap", "--heatmap", "boxes")
    refused(".png", output="picture.jpg")
    refused("missing.glb", scene=path("missing.glb"))
    refused("folder", output="no-folder/x.png")
    os.mkdir(path("x.png"))
    refused("is a folder", output="x.png")
    os.rmdir(path("x.png"))
    with open(path("broken.glb"), "wb") as file:
        file.write(open(SCENE, "rb").read()[:100])
    refused("broken.glb", scene=path("broken.glb"))
    with open(path("text.glb"), "wb") as file:
        file.write(b"hello")
    refused("text.glb", scene=path("text.glb"))
    check_eq(facet("render", SCENE).returncode, 2, "exit code without -o")
    result = facet("render", SCENE, "-o", "-", "--json", "--size", "8x8")
    check_eq((result.returncode, result.stdout), (2, b""), "two outputs on one stream")


@case()
def no_output_replaces_another_file():
    refused("the picture", "--stats", path("no.png"))
    os.symlink(SCENE, path("scene.png"))
    before = open(SCENE, "rb").read()
    refused("the scene", output="scene.png")
    refused("the scene", "--stats", SCENE)
    check(open(SCENE, "rb").read() == before, "the scene was replaced")
    refused("standard output", "--stats", "-", "--json")
    os.unlink(path("scene.png"))


@case()
def unwritable_statistics_leave_no_picture():
    refused("folder", "--stats", path("no-folder/s.json"))


def has_guest():
    result = facet("render", SCENE, "-o", path("probe.png"), "--size", "1x1", "--spp", "1", "--machine", "xphmg-rt")
    if b"no guest program" in result.stderr:
        skip("facet was built without the RISC-V compiler")


def small(name, *words):
    return render(name, "--size", "50x36", "--spp", "1", *words)


@case()
def the_hart_draws_what_gfx12_draws():
    """The same picture up to rounding at edges, though nothing but the shading source is shared."""
    has_guest()
    for words in ((), ("--bounces", "2"), ("--no-shadows", "--no-ao"), ("--camera", "frame", "--ao-rays", "2")):
        rows = [pfm(small(f"{m}.pfm", "--machine", m, *words))[2] for m in ("gfx12", "xphmg-rt-offload")]
        close = sum(all(abs(p - q) <= 1e-3 * (1 + abs(p)) for p, q in zip(a, b))
                    for r, s in zip(*rows) for a, b in zip(r, s))
        check(close >= 0.97 * 50 * 36, f"{words}: only {close} of {50 * 36} pixels agree")


@case()
def instructions_and_jobs_draw_the_same_bytes():
    has_guest()
    for words in ((), ("--bounces", "2", "--seed", "5")):
        files = [small(f"{m}.pfm", "--machine", m, *words) for m in ("xphmg-rt", "xphmg-rt-offload")]
        check(files[0] == files[1], f"{words}: the pictures differ")
    check(small("n.pfm", "--machine", "xphmg-rt", "--threads", "3") == small("m.pfm", "--machine", "xphmg-rt"),
          "threads change the picture")


@case()
def heat_maps_count_tests():
    """The library asks once more which side of the triangle was hit; jobs know it."""
    has_guest()
    rows = [pfm(small(f"{m}.pfm", "--machine", m, "--heatmap", "triangles"))[2]
            for m in ("xphmg-rt", "xphmg-rt-offload")]
    more = [a[0] - b[0] for r, s in zip(*rows) for a, b in zip(r, s)]
    check(min(more) >= 0 and max(more) <= 6 and more.count(1) > len(more) / 2, f"{sorted(set(more))}")
    check(sum(pixel[0] for row in rows[1] for pixel in row) > len(more), "hardly a test was counted")


@case()
def statistics_of_the_hart():
    has_guest()
    result = facet("render", SCENE, "-o", path("s.png"), "--size=33x40", "--spp=2", "--machine=xphmg-rt", "--json")
    told = json.loads(result.stdout)
    check_eq(told["machine"], "xphmg-rt", "machine")
    check_eq(told["rays"]["primary"]["rays"], 33 * 40 * 2, "primary rays")
    check(told["guest_instructions"] > 33 * 40 * 2 * 100, "instructions")
    cost = told["rays"]["shadow"]
    check(cost["nodes"] == cost["box_nodes"] + cost["primitive_nodes"] > cost["rays"] > 0, f"{cost}")
    check(told["bvh"]["format"] == "xphmg4" and told["bvh"]["nodes"] > 100, f"{told['bvh']}")
    refused("is for gfx12", "--machine", "xphmg-rt", "--profile", "gpurt")
    refused("is for gfx12", "--machine", "xphmg-rt-offload", "--quality", "fast")
    refused("xphmg-rt-offload", "--machine", "xphmg")
    refused("--bounces", "--bounces", "17")


@case()
def paths_bring_light_around_corners():
    """More bounces never darken a picture, and the first ones light what no lamp reaches."""
    sums = []
    for bounces in (1, 2, 4):
        rows = pfm(render("b.pfm", "--spp", "4", "--bounces", str(bounces)))[2]
        sums.append(sum(sum(pixel) for row in rows for pixel in row))
    check(sums[0] < sums[1] < sums[2], f"light {sums}")


@case()
def the_tile_gpu_draws_what_gfx12_sees():
    """Not the same light, but the same things in the same places: where one picture has an edge, the
    other has one; and colours without light agree."""
    plain = path("plain.obj")
    with open(path("plain.mtl"), "w") as file:
        file.write("newmtl a\nKd 0.8 0.1 0.1\nnewmtl b\nKd 0.1 0.2 0.9\n")
    with open(plain, "w") as file:
        file.write("mtllib plain.mtl\nv -1 -1 0\nv 1 -1 0\nv 0 1 0\nv -0.5 -0.9 0.5\nv 0.9 -0.2 0.5\nv 0 0.6 0.5\n"
                   "usemtl a\nf 1 2 3\nusemtl b\nf 4 5 6\n")
    rows = []
    for machine in ("gfx12", "tile"):
        result = facet("render", plain, "-o", path("p.pfm"), "--size=120x80", "--spp=1", "--no-ao", "--no-shadows",
                       "--machine", machine)
        check_eq(result.returncode, 0, result.stderr.decode())
        with open(path("p.pfm"), "rb") as file:
            rows.append(pfm(file.read())[2])

    def kind(pixel):
        """Sky, red or blue by the strongest channel."""
        if pixel[0] > 2 * pixel[2]:
            return "a"
        return "b" if pixel[2] > 2.5 * pixel[0] else "sky"
    same = sum(kind(a) == kind(b) for r, s in zip(*rows) for a, b in zip(r, s))
    kinds = {kind(a) for r in rows[1] for a in r}
    check_eq(kinds, {"a", "b", "sky"}, "what the tile picture shows")
    check(same >= 0.99 * 120 * 80, f"only {same} of {120 * 80} pixels show the same thing")


@case()
def the_tile_gpu_draws_every_kind_of_scene():
    """Sun or lamps, textures, cut-outs, many instances: something is drawn, the same on any threads."""
    source = os.environ["FACET_SOURCE"]
    for name in ("room.glb", "boxes.glb", "uv.glb", "crate.obj", "terrain.glb"):
        files, told = [], []
        for threads in ("1", "3"):
            result = facet("render", os.path.join(source, "assets", name), "-o", path("k.png"), "--size=96x54",
                           "--spp=4", "--machine=tile", "--json", "--threads", threads)
            check_eq(result.returncode, 0, f"{name}: {result.stderr.decode()}")
            told.append(json.loads(result.stdout))
            with open(path("k.png"), "rb") as file:
                files.append(file.read())
        check(files[0] == files[1], f"{name}: threads change the picture")
        check(told[0]["triangles"] > 0 and told[0]["commands"] > 5, f"{name}: {told[0]}")
    refused("trace rays", "--machine", "tile", "--heatmap", "nodes")


@case()
def glowing_surfaces_on_the_tile_gpu():
    """With the unit's light (a sun) a second, adding draw."""
    with open(path("glow.mtl"), "w") as file:
        file.write("newmtl a\nKd 0.2 0.2 0.2\nKe 0.5 0.1 0\nnewmtl b\nKd 0.2 0.2 0.2\n")
    with open(path("glow.obj"), "w") as file:
        file.write("mtllib glow.mtl\nv -1 -1 0\nv 1 -1 0\nv 0 1 0\nv 1.2 -1 0\nv 3 -1 0\nv 2 1 0\n"
                   "usemtl a\nf 1 2 3\nusemtl b\nf 4 5 6\n")
    result = facet("render", path("glow.obj"), "-o", path("g.pfm"), "--size=200x120", "--spp=1", "--machine=tile",
                   "--json")
    check_eq(result.returncode, 0, result.stderr.decode())
    check_eq(json.loads(result.stdout)["triangles"], 6, "triangles: two sides each, and the glow")
    with open(path("g.pfm"), "rb") as file:
        rows = pfm(file.read())[2]
    glow, plain = rows[60][84], rows[70][120]
    check(glow[0] > 2 * plain[0] and glow[0] > 2 * glow[2], f"{glow} glows beside {plain}")
    check(abs(plain[0] - plain[2]) < 0.05, f"{plain} is grey")


@case()
def all_machines_on_one_sheet():
    result = facet("render", SCENE, "-o", path("sheet.png"), "--size=40x24", "--spp=1", "--machine=all", "--json")
    check_eq(result.returncode, 0, result.stderr.decode())
    told = json.loads(result.stdout)
    names = [one["machine"] for one in told]
    listed = facet("render", "--help").stdout.decode().split("Machine options:")[1]
    offered = re.search(r"--machine (\S+)", re.sub(r"\|\n +", "|", listed)).group(1).split("|")
    check_eq(sorted(names + ["all"]), sorted(offered), "machines in the help and on the sheet")
    check(names[0] == "gfx12" and "tile" in names and len(names) >= 4, f"{names}")
    for one in told:
        check("image_hash" in one or "no guest program" in one["error"], f"{one}")
    with open(path("sheet.png"), "rb") as file:
        width, height = struct.unpack(">II", file.read()[16:24])
    columns = next(n for n in range(1, 10) if n * n >= len(names))
    check_eq((width, height), (columns * 52 + 12, -(-len(names) // columns) * (24 + 52) + 40 + 12), "size of the sheet")
    again = facet("render", SCENE, "-o", path("again.png"), "--size=40x24", "--spp=1", "--machine=all", "--threads=1")
    check_eq(again.returncode, 0, again.stderr.decode())
    with open(path("sheet.png"), "rb") as one, open(path("again.png"), "rb") as two:
        check(one.read() == two.read(), "a sheet depends on the threads, or on the time that drawing took")
    refused(".png", "--machine", "all", output="no.pfm")
    refused("do not fit on one sheet", "--machine", "all", "--size=32768x8")


try:
    check_eq(facet("scene", "make", "room", "--size", "1", "-o", SCENE).returncode, 0, "scene make")
    main("render_cli")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
