"""`facet render --machine xphmg-gfx` from outside: the hart's picture of bundled scenes beside that of plain C and that
of rays, by `facet image compare`; statistics, threads, refusals."""
import json
import os
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp(prefix="facet-render-gfx-")
HART, PLAIN = "xphmg-gfx", "xphmg-gfx-portable"


def facet(*words):
    return subprocess.run([FACET, *words], capture_output=True, text=True, timeout=600)


def path(name):
    return os.path.join(FOLDER, name)


def asset(name):
    return os.path.join(SOURCE, "assets", name)


def render(scene, name, machine, *words, size="80x50"):
    """The path of a new picture."""
    done = facet("render", asset(scene), "-o", path(name), "--size", size, "--spp", "1", "--machine", machine,
                 "--quiet", *words)
    if "no guest program" in done.stderr:
        skip("facet was built without the RISC-V compiler")
    check_eq(done.returncode, 0, "exit code (%s)" % done.stderr)
    return path(name)


@case()
def hart_and_plain_c_draw_the_same_pixels():
    for scene, words in (("room.glb", ()), ("uv.glb", ("--spp", "2")), ("crate.obj", ("--camera", "frame"))):
        pictures = [render(scene, m + ".png", m, *words) for m in (HART, PLAIN)]
        done = facet("image", "compare", *pictures)
        check_eq((done.returncode, done.stdout), (0, "same: 4000 pixels\n"), scene)


@case()
def the_picture_is_that_of_rays():
    """Up to the grade and pixels at edges; a picture of something else is far below 20 dB."""
    for scene, least in (("room.glb", 27), ("knot.glb", 27), ("uv.glb", 33)):
        rays = render(scene, "rays.png", "gfx12", "--no-shadows", "--no-ao", size="160x90")
        done = facet("image", "compare", rays, render(scene, "plain.png", PLAIN, size="160x90"), "--json",
                     "--heatmap", path("heat.png"))
        told = json.loads(done.stdout)
        check(told["psnr_db"] > least, "%s: %.2f dB" % (scene, told["psnr_db"]))
        check(0 < told["max_difference"] < 256 and told["first"]["a"] != told["first"]["b"], "%r" % told)
        check(os.path.getsize(path("heat.png")) > 100, "no heat map")
    other = facet("image", "compare", rays, render("knot.glb", "plain.png", PLAIN, size="160x90"), "--json")
    check(json.loads(other.stdout)["psnr_db"] < 20, "another scene looks the same")


@case()
def threads_do_not_change_the_file():
    files = []
    for threads in ("1", "3"):
        with open(render("room.glb", "t.pfm", HART, "--threads", threads, size="70x40"), "rb") as f:
            files.append(f.read())
    check(files[0] == files[1], "the pictures differ")


@case()
def statistics_and_words():
    render("uv.glb", "s.png", HART, "--stats", path("s.json"))
    with open(path("s.json")) as f:
        told = json.load(f)
    check_eq(told["machine"], HART, "machine")
    check_eq(told["rays"]["primary"]["rays"], 0, "rays")
    check(told["guest_instructions"] > 80 * 50 * 10, "instructions")
    check("bvh" not in told, "there is no acceleration structure")
    done = facet("render", asset("uv.glb"), "-o", path("s.png"), "--size=8x8", "--machine", HART)
    check("million instructions on" in done.stdout and "rays" not in done.stdout, done.stdout)


@case()
def what_needs_rays_is_refused():
    for option, value in (("heatmap", "nodes"), ("heat-max", "5"), ("bounces", "1"), ("ao-rays", "2"),
                          ("ao-distance", "1"), ("quality", "fast"), ("profile", "gpurt")):
        for machine in (HART, PLAIN):
            done = facet("render", asset("uv.glb"), "-o", path("no.png"), "--machine", machine, "--" + option, value)
            check_eq(done.returncode, 2, "exit code with --" + option)
            check("--" + option in done.stderr and machine in done.stderr, done.stderr)
            check(not os.path.exists(path("no.png")), "a file was written")


try:
    main("render_gfx_cli")
finally:
    shutil.rmtree(FOLDER, ignore_errors=True)
