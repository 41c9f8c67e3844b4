"""--timing of `facet run`, `tile run` and `tile draw`: it changes nothing, its counts are those that the picture shows, and cycles that can be worked
out by hand. Then files that are wrong."""
import json
import os
import subprocess
import tempfile
import zlib

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
FILL = [os.path.join(SOURCE, "examples/tile/fill.s"), "--grid", "4x3", "--arg", "target=0x80100000", "--arg", "stride=256", "--arg", "color=7"]


def facet(*words, code=0):
    done = subprocess.run([FACET, *words], capture_output=True, text=True, cwd=FOLDER, stdin=subprocess.DEVNULL)
    check_eq(done.returncode, code, done.stderr)
    return done


def write(name, text):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
        file.write(text)


def read(name):
    with open(os.path.join(FOLDER, name), "rb") as file:
        return file.read()


def timing(*words, model="default", code=0):
    return json.loads(facet(*words, "--timing", model, "--json", code=code).stdout)["timing"]


def without(text):
    result = json.loads(text)
    result.pop("timing", None)
    return result


def pixels(name):
    """The words of a PNG without filters other than those that need only the row before."""
    data, at, packed = read(name), 8, b""
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IHDR":
            width, height, channels = (int.from_bytes(data[at + 8:at + 12], "big"), int.from_bytes(data[at + 12:at + 16], "big"),
                                       {2: 3, 6: 4}[data[at + 17]])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(width * channels)
    for y in range(height):
        line = bytearray(raw[y * (width * channels + 1) + 1:(y + 1) * (width * channels + 1)])
        kind = raw[y * (width * channels + 1)]
        for x in range(len(line)):
            left = line[x - channels] if x >= channels else 0
            corner = before[x - channels] if x >= channels else 0
            guess = left + before[x] - corner
            paeth = min((abs(guess - left), 0, left), (abs(guess - before[x]), 1, before[x]), (abs(guess - corner), 2, corner))[2]
            line[x] = (line[x] + (0, left, before[x], (left + before[x]) // 2, paeth)[kind]) & 255
        rows += [bytes(line[x:x + 3]) for x in range(0, len(line), channels)]
        before = line
    return rows


@case("")
def a_kernel_does_the_same_with_and_without():
    facet("tile", "run", *FILL, "--out", "target,12288=plain.raw", "--trace", "plain.jsonl", "--save", "plain.state", "--cover", "plain.cover")
    facet("tile", "run", *FILL, "--out", "target,12288=timed.raw", "--trace", "timed.jsonl", "--save", "timed.state", "--cover", "timed.cover",
          "--timing", "default")
    for kind in ("raw", "jsonl", "state", "cover"):
        check(read(f"plain.{kind}") == read(f"timed.{kind}"), kind)
    plain, timed = facet("tile", "run", *FILL, "--json"), facet("tile", "run", *FILL, "--json", "--timing", "default")
    check_eq(without(timed.stdout), without(plain.stdout))
    # With lint, which listens to the same unit, too.
    plain, timed = facet("tile", "run", *FILL, "--json", "--lint"), facet("tile", "run", *FILL, "--json", "--lint", "--timing", "default")
    check_eq(without(timed.stdout), without(plain.stdout))
    check_eq(json.loads(timed.stdout)["timing"], timing("tile", "run", *FILL))


def a_list(commands, extra=None, size=64):
    frame = {"buffers": {"frame": {"size": 4 * size * size}, **(extra or {})}, "frame": {"base": "frame", "width": size, "height": size},
             "commands": [{"command": "LOAD_RSTATE", "descriptor": {"fb_base": "frame", "fb_format": "ARGB8888", "fb_stride": 4 * size, "fb_wh": [size, size]}}] + commands}
    write("list.json", json.dumps(frame))


@case("")
def a_list_does_the_same_with_and_without():
    for name in ("examples/tile/triangle.json", "guest/tile/vertex.json"):
        path = os.path.join(SOURCE, name)
        plain = facet("tile", "draw", path, "-o", "a.png", "--json").stdout
        timed = [facet("tile", "draw", path, "-o", "b.png", "--json", "--timing", "default", "--threads", threads).stdout for threads in ("1", "2")]
        check_eq(timed[0], timed[1])
        check_eq({**without(timed[0]), "output": 0}, {**without(plain), "output": 0})
        check(read("a.png") == read("b.png"), name)


@case("")
def a_program_does_the_same_with_and_without():
    facet("as", "--isa", "xphmg", os.path.join(SOURCE, "examples/xphmg/ticket.s"), "-o", "ticket.elf")
    for jobs in ("now", "late:3"):
        facet("run", "ticket.elf", "--jobs", jobs, "--trace", "plain.jsonl", code=56)
        done = facet("run", "ticket.elf", "--jobs", jobs, "--trace", "timed.jsonl", "--timing", "default", code=56)
        check(read("plain.jsonl") == read("timed.jsonl"), jobs)
        check("an estimate" in done.stderr, done.stderr)
        check_eq(done.stdout, "")


@case("")
def a_draw_counts_the_pixels_of_its_picture():
    corners = [{"x": 3, "y": 5, "color": "#ff0000"}, {"x": 50, "y": 11, "color": "#ff0000"}, {"x": 20, "y": 60, "color": "#ff0000"}]
    a_list([{"command": "RRECT", "descriptor": {"xy": [0, 0], "wh": [16, 10], "color": "#00ff00"}},
            {"command": "RDRAW", "descriptor": {}, "triangle": corners}, {"command": "NOP"}])
    write("slow.timing", "tile.pixels = 0.1\ntile.command = 7\ntile.memory_latency = 100\n")
    parts = timing("tile", "draw", "list.json", "-o", "out.png", model="slow.timing")["parts"]
    check_eq([part["command"] for part in parts], ["LOAD_RSTATE", "RRECT", "RDRAW", "NOP"])
    check_eq([part["index"] for part in parts], [0, 1, 2, 3])
    red = sum(pixel == b"\xff\0\0" for pixel in pixels("out.png"))
    check_eq(parts[1]["pixels"], 16 * 10)
    check_eq(parts[2]["pixels"], red)
    check_eq((parts[2]["triangles"], parts[2]["vertices"], parts[2]["texels"]), (1, 0, 0))
    for part in parts[1:3]:  # bound by the raster unit: ten cycles for each pixel
        check_eq(part["limit"], "pixels")
        check_eq(part["cycles"], 10 * part["pixels"] + 100 + 7)
    check_eq(parts[3]["cycles"], 7)


@case("")
def depth_that_fails_is_a_pixel_that_is_tested():
    rect = {"command": "RRECT", "descriptor": {"wh": [8, 8], "flags": ["DEPTH"]}}
    a_list([{"command": "LOAD_RSTATE", "descriptor": {"fb_base": "frame", "fb_format": "ARGB8888", "fb_stride": 256, "fb_wh": [64, 64], "depth_base": "depth",
                                                      "depth_stride": 128, "depth_format": "D16", "depth_function": "less", "rect_z": 0.5,
                                                      "flags": ["DEPTH"]}},
            rect, rect], {"depth": {"size": 8192, "fill": 255}})
    parts = timing("tile", "draw", "list.json", "-o", "out.png")["parts"]
    check_eq([part["pixels"] for part in parts[2:]], [64, 64])
    # The first one reads eight rows of depth and its descriptor, and writes eight rows of each surface; the second fails everywhere.
    check_eq([part["lines"] for part in parts[2:]], [8 + 1 + 8 + 8, 8])


def loop(insn, count):
    """Cycles of a program with the instruction `count` times."""
    write("chain.s", f"_start: li a1, 3\n .rept {count}\n {insn}\n .endr\n li t0, 0x5555\n li t1, 0x100000\n sw t0, 0(t1)\n j .\n")
    facet("as", "--isa", "xphmg", "chain.s", "-o", "chain.elf")
    return timing("run", "chain.elf", model="hart.timing")["cycles"]


@case("")
def chains_on_the_hart_take_their_latency():
    write("hart.timing", "xphmg.multiply = 5 2 0\nxphmg.divide = 9 7 1\nxphmg.integer = 2 1 0\n")
    for insn, each in (("addi a0, a0, 1", 2), ("addi a0, a1, 1", 2), ("mul a0, a0, a1", 5), ("mul zero, a1, a1", 2), ("div zero, a1, a1", 9),
                       ("c.addi a0, 1", 2), ("addi zero, a1, 1", 1)):
        check_eq(loop(insn, 30) - loop(insn, 10), 20 * each, insn)


@case("")
def units_of_the_hart_have_their_time():
    facet("as", "--isa", "xphmg", os.path.join(SOURCE, "examples/xphmg/boxtest.s"), "-o", "box.elf")
    before = 0
    for latency in (1, 12, 100, 1000):
        write("rt.timing", f"xphmg.rt = {latency} 4 4\n")
        found = timing("run", "box.elf", model="rt.timing", code=2)
        check(found["cycles"] >= before, f"{latency}")
        before = found["cycles"]
        check("rt" in found["parts"][0]["cores"][0]["units"], "units")
    check(before > 1000, "the last one")


@case("")
def what_is_shown_is_the_default():
    shown = facet("timing", "show").stdout
    write("shown.timing", shown)
    check_eq(facet("timing", "show", "shown.timing").stdout, shown)
    check_eq(timing("tile", "run", *FILL, model="shown.timing"), timing("tile", "run", *FILL))
    check(all(len(line) <= 80 for line in shown.splitlines()), "wide lines")
    write("one.timing", "tile.issue = 5\n")
    other = facet("timing", "show", "one.timing").stdout
    check_eq([line.split()[:3] for line in other.splitlines() if line not in shown.splitlines()], [["tile.issue", "=", "5"]])
    check(timing("tile", "run", *FILL, model="one.timing")["cycles"] > timing("tile", "run", *FILL)["cycles"], "slower")
    text = facet("tile", "run", *FILL, "--timing", "default").stdout
    check("timing, an estimate: " in text and timing("tile", "run", *FILL)["estimate"] is True, "labelled")


@case("")
def wrong_files_are_refused():
    write("wrong.timing", "tile.issue = 1\ntile.scalar = 1 1\n")
    facet("as", "--isa", "xphmg", os.path.join(SOURCE, "examples/xphmg/hello.s"), "-o", "hello.elf")
    for words in (["tile", "run", *FILL, "--timing"], ["tile", "draw", os.path.join(SOURCE, "examples/tile/triangle.json"), "-o", "no.png", "--timing"],
                  ["run", "hello.elf", "--timing"], ["timing", "show"]):
        done = facet(*words, "wrong.timing", code=2)
        check("wrong.timing:2: tile.scalar: expected depth from 0 to 64" in done.stderr, done.stderr)
        check_eq(done.stdout, "")
        check("nowhere.timing" in facet(*words, "nowhere.timing", code=2).stderr, "missing file")
    check(not os.path.exists(os.path.join(FOLDER, "no.png")), "no picture")
    # No output takes the place of the model.
    write("good.timing", "tile.issue = 2\n")
    for words in (["tile", "run", *FILL, "--out", "target,4=good.timing"], ["tile", "run", *FILL, "--trace", "good.timing"],
                  ["tile", "draw", os.path.join(SOURCE, "examples/tile/triangle.json"), "-o", "good.timing"],
                  ["run", "hello.elf", "--trace", "good.timing"], ["run", "hello.elf", "--profile-out", "good.timing"]):
        facet(*words, "--timing", "good.timing", code=2)
        check(read("good.timing") == b"tile.issue = 2\n", " ".join(words))


if __name__ == "__main__":
    main("timing_cli")
