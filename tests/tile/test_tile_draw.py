"""`facet tile draw` from outside: pictures worked by hand, the same picture from every way in, fences and
hosts, and lists that must be refused with the command and the field."""
import json
import os
import re
import struct
import subprocess
import tempfile
import zlib

from harness import add_case, case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()


def path(name):
    return os.path.join(FOLDER, name)


def draw(commands, buffers=None, frame=None, machine=None, extra=(), name="list.json", out="out.png", observe=None):
    data = {"buffers": buffers if buffers is not None else {"frame": {"size": 256}},
            "frame": frame if frame is not None else {"base": "frame", "width": 8, "height": 8},
            "commands": commands}
    if machine is not None:
        data["machine"] = machine
    if observe is not None:
        data["observe"] = observe
    with open(path(name), "w") as file:
        json.dump(data, file)
    if os.path.exists(path(out)):
        os.remove(path(out))
    return subprocess.run([FACET, "tile", "draw", path(name), "-o", path(out), *extra], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)


def pixels(out="out.png"):
    """Rows of (r, g, b): a PNG reader of our own, for 8-bit RGB."""
    with open(path(out), "rb") as file:
        data = file.read()
    at, packed, width = 8, b"", 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            check_eq((depth, color), (8, 2), "depth and colour type")
        if kind == b"IDAT":
            packed += body
        at += 12 + size
    raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(len(line)):
            a, b = line[i - 3] if i >= 3 else 0, before[i]
            c = before[i - 3] if i >= 3 else 0
            p = a + b - c
            paeth = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = bytes(line)
        rows.append([tuple(line[3 * x:3 * x + 3]) for x in range(width)])
    return rows


RSTATE = {"command": "LOAD_RSTATE", "descriptor": {
    "fb_base": "frame", "fb_stride": 32, "fb_format": "ARGB8888", "fb_wh": [8, 8]}}


def rect(x, y, w, h, color, **more):
    return {"command": "RRECT", "descriptor": {"xy": [x, y], "wh": [w, h], "color": color}, **more}


@case()
def rectangles():
    done = draw([RSTATE, rect(0, 0, 8, 8, "#102030"), rect(-2, 6, 4, 100, "#ff0000")])
    check_eq(done.returncode, 0, done.stderr)
    for y, row in enumerate(pixels()):
        for x, pixel in enumerate(row):
            check_eq(pixel, (255, 0, 0) if x < 2 and y >= 6 else (0x10, 0x20, 0x30), f"pixel {x},{y}")


@case()
def worked_triangle_and_fill_rule():
    corner = [{"x": 1, "y": 1, "z": 0.25, "color": "#ff0000"}, {"x": 6.5, "y": 2, "z": 0.5, "color": "#00ff00"},
              {"x": 2.25, "y": 7.75, "z": 0.75, "color": "#0000ff"}]
    for commands in ([RSTATE, {"command": "RDRAW", "descriptor": {}, "triangle": corner}],
                     [RSTATE, {"command": "RSETUP", "triangle": corner}, {"command": "RDRAW", "descriptor": {}}]):
        done = draw(commands)
        check_eq(done.returncode, 0, done.stdout + done.stderr)
        rows = pixels()
        covered = {1: range(1, 4), 2: range(1, 6), 3: range(1, 5), 4: range(2, 5), 5: range(2, 4), 6: range(2, 3)}
        for y in range(8):
            for x in range(8):
                check_eq(rows[y][x] != (0, 0, 0), x in covered.get(y, ()), f"pixel {x},{y} is covered")
        check_eq(rows[3][3], (77, 98, 80), "spec 20.3")
        check_eq(rows[5][2], (58, 32, 165), "spec 20.3")


@case()
def blend_and_rgb565():
    frame = {"base": "frame", "width": 8, "height": 8, "format": "RGB565"}
    state = {"command": "LOAD_RSTATE", "descriptor": {"fb_base": "frame", "fb_stride": 16, "fb_format": "RGB565",
                                                      "fb_wh": [8, 8], "blend": "alpha"}}
    done = draw([state, rect(0, 0, 8, 8, "#ffff2010"), rect(0, 0, 8, 8, "#804080c0")], frame=frame)
    check_eq(done.returncode, 0, done.stderr)
    word = 0x9A8D  # spec 20.5: the stored result; the picture expands it
    # destination is 565 already: its red 255, green 0x20, blue 0x10 are exact there
    check_eq(pixels()[0][0], ((word >> 11) << 3 | word >> 13, (word >> 5 & 63) << 2 | word >> 9 & 3,
                              (word & 31) << 3 | word >> 2 & 7))


@case()
def textures_from_lists():
    commands = [{"command": "LOAD_RSTATE", "descriptor": {
        "fb_base": "frame", "fb_stride": 32, "fb_format": "ARGB8888", "fb_wh": [8, 8], "sampler": 31, "flags": ["TEXTURE"]}},
        {"command": "LOAD_SAMPLER", "index": 31, "descriptor": {
            "base": "texels", "stride": 8, "width": 2, "height": 2, "format": "ARGB8888", "wrap_u": "repeat"}},
        {"command": "RRECT", "descriptor": {"xy": [0, 0], "wh": [8, 8], "flags": ["TEXTURED"], "uv": [0, 0]}}]
    colors = ["#ff0000", "#00ff00", "#0000ff", "#ffffff"]
    done = draw(commands, buffers={"frame": {"size": 256}, "texels": {"u32": colors}})
    check_eq(done.returncode, 0, done.stderr)
    want = [[(255, 0, 0), (0, 255, 0)], [(0, 0, 255), (255, 255, 255)]]
    for y, row in enumerate(pixels()):
        for x, pixel in enumerate(row):
            check_eq(pixel, want[min(y, 1)][x % 2], f"texel {x},{y}")


@case("TILE-463")
def geometry_with_indices_fences_and_arrays():
    quad = {"vertices": [{"position": [x, y, 0], "color": c} for x, y, c in
                         ((-1, 1, "#ff0000"), (0, 1, "#ff0000"), (-1, 0, "#ff0000"), (0, 0, "#ff0000"))]}
    gstate = {"command": "LOAD_GSTATE", "descriptor": {
        "vbo_base": "quad", "stride": 20, "attributes": ["COLOR"], "index_base": "order", "index_type": "u16",
        "mvp": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}}
    buffers = {"frame": {"size": 256}, "quad": quad, "order": {"u16": [0, 1, 2, 2, 1, 3]}}
    listed = {"count": 6, "flags": ["INDEXED"]}
    ways = [[{"command": "GDRAW", "descriptor": listed}],
            [{"command": "GDRAW", "descriptor": {"count": 4, "topology": "strip"}}],
            [{"command": "GDRAW", "descriptor": {"count": 4}, "strip": True}],
            [{"command": "GDRAW", "descriptors": [dict(listed, count=3), dict(listed, count=3, idx_base=3)],
              "flags": ["EMIT"], "fence": 5}, {"command": "NOP", "flags": ["WAIT"], "fence": 5}]]
    for way in ways:
        done = draw([RSTATE, gstate] + way, buffers=buffers)
        check_eq(done.returncode, 0, done.stdout + done.stderr)
        for y, row in enumerate(pixels()):
            for x, pixel in enumerate(row):
                check_eq(pixel != (0, 0, 0), x < 4 and y < 4, f"pixel {x},{y} of {way}")


@case("TILE-492")
def kernels_signals_and_answers():
    buffers = {"frame": {"size": 256}, "args": {"u32": ["frame+4"]},
               "kernel": {"code": ["CSRR s1, 0xC02", "LW s2, 0(s1)", "ADDI s3, s0, 1", "CSRW 0x008, s3", "WFI",
                                   "MOVI s4, 0x00c0ffee", "SW s4, 0(s2)", "EXIT"]}}
    commands = [
        {"command": "NOP", "flags": ["WAIT"], "fence": 9},
        {"command": "DISPATCH", "descriptor": {"pc": "kernel", "grid": [1, 1], "arg_base": "args", "arg_size": 4}},
        {"command": "READ_MEM", "address": "frame", "count": 2},
        {"command": "WRITE_MEM", "address": "frame", "words": ["#123456"]},
        {"command": "COPY_BUFFER", "to": "frame+8", "from": "frame+4", "count": 1},
        {"command": "SIGNAL", "slot": 9}, {"command": "DOORBELL", "cores": 1}]
    done = draw(commands, buffers=buffers, extra=["--json"])
    check_eq(done.returncode, 0, done.stderr)
    report = json.loads(done.stdout)
    check_eq(report["reads"], [{"command": 2, "words": ["0x0", "0xc0ffee"]}])
    check_eq(report["instructions"], 9)  # MOVI is two
    check_eq([c["status"] for c in report["commands"]], [0] * 5)
    check_eq(pixels()[0][:3], [(0x12, 0x34, 0x56), (0xC0, 0xFF, 0xEE), (0xC0, 0xFF, 0xEE)])
    for left_out, words in ((5, "commands[0] (NOP): it waits for a fence"), (6, "commands[1] (DISPATCH): its kernel waits")):
        done = draw(commands[:left_out] + commands[left_out + 1:], buffers=buffers)
        check_eq(done.returncode, 2)
        check(words in done.stderr, done.stderr)
        check(not os.path.exists(path("out.png")), "a picture was written")


@case()
def kernels_include_what_lies_beside_the_list():
    with open(path("color.inc"), "w") as file:
        file.write("MOVI s4, 0x00c0ffee\n")
    kernel = {"code": ["CSRR s1, arg_base", "LW s2, 0(s1)", '.include "color.inc"', "SW s4, 0(s2)", "EXIT"]}
    commands = [{"command": "DISPATCH", "descriptor": {"pc": "kernel", "grid": [1, 1], "arg_base": "args", "arg_size": 4}}]
    done = draw(commands, buffers={"frame": {"size": 256}, "args": {"u32": ["frame"]}, "kernel": kernel})
    check_eq(done.returncode, 0, done.stdout + done.stderr)
    check_eq(pixels()[0][0], (0xC0, 0xFF, 0xEE))
    kernel["code"][2] = '.include "../color.inc"'
    done = draw(commands, buffers={"frame": {"size": 256}, "args": {"u32": ["frame"]}, "kernel": kernel})
    check_eq(done.returncode, 2)
    check("../color.inc: only plain files in the same folder or below it" in done.stderr, done.stderr)


@case()
def faults_are_told():
    kernel = {"code": ["LW s1, 0(s0)", "EXIT"]}
    commands = [{"command": "DISPATCH", "flags": ["EMIT"], "descriptor": {"pc": "kernel", "grid": [1, 1]}},
                {"command": "RRECT", "descriptor": {"wh": [1, 1]}}]
    done = draw(commands, buffers={"frame": {"size": 256}, "kernel": kernel})
    check_eq(done.returncode, 1)
    lines = done.stdout.splitlines()
    check(lines[0].startswith("commands[0] (DISPATCH): status 0x24, "), lines[0])
    check(lines[1].startswith("core 0: load fault (cause 4) at pc 0x") and
          lines[1].endswith(" buffers.kernel.code:1, address 0x00000000: LW s1, 0(s0)"), lines[1])
    check("commands[1] (RRECT): status 0x13, graphics error BAD_STATE" in lines, done.stdout)
    check(os.path.exists(path("out.png")), "no picture")


@case()
def faults_say_who_wrote_what_they_read():
    kernel = {"code": ["first: ADDI s1, s0, 0x10", "ADDI s2, s0, 7", "SHLI s1, s1, 4", "loop: ADDI s2, s2, -1", "BNE s2, s0, loop", "SW s2, 4(s1)"]}
    commands = [{"command": "DISPATCH", "descriptor": {"pc": "ok", "grid": [4, 1]}},
                {"command": "DISPATCH", "descriptor": {"pc": "kernel", "grid": [1, 1], "core_mask": 2}}]
    buffers = {"frame": {"size": 256}, "ok": {"code": ["ADDI s1, s0, 3", "EXIT"]}, "kernel": kernel}
    done = draw(commands, buffers=buffers)
    check_eq(done.returncode, 1)
    check(re.search(r"core 1: store fault \(cause \d\) at pc 0x[0-9a-f]{8} <loop\+8> buffers.kernel.code:6, address 0x00000104: SW s2, 4\(s1\)\n",
                    done.stdout), done.stdout)
    for line in (r"  s1 = 0x00000100, written at 0x[0-9a-f]{8} <first\+8> buffers.kernel.code:3: SHLI s1, s1, 4\n",
                 r"  s2 = 0x00000000, written at 0x[0-9a-f]{8} <loop> buffers.kernel.code:4: ADDI s2, s2, -1\n", r"  status = 0x[0-9a-f]{8}.* MEMF"):
        check(re.search(line, done.stdout), done.stdout)
    fault = json.loads(draw(commands, extra=["--json"], buffers=buffers).stdout)["commands"][1]["faults"][0]
    check_eq((fault["core"], fault["file"], fault["line"], fault["symbol"], fault["offset"]), (1, "buffers.kernel.code", 6, "loop", 8))
    check_eq({r["name"]: r["written"]["line"] for r in fault["registers"]}, {"s1": 3, "s2": 4})
    check_eq({r["name"]: r["written"]["steps_ago"] for r in fault["registers"]}["s2"], 2, "ADDI, BNE, the fault")


@case()
def traces_have_steps_and_commands():
    """A rectangle, a kernel of three instructions on one tile, a rectangle: the commands stand where they ended."""
    commands = [RSTATE, rect(0, 0, 8, 8, "#ff0000"), {"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [1, 1]}},
                rect(0, 0, 4, 4, "#00ff00")]
    buffers = {"frame": {"size": 256}, "k": {"code": ["ADDI s1, s0, 5", "ADDI s2, s1, 1", "EXIT"]}}
    plain = draw(commands, buffers, out="plain.png")
    check_eq(plain.returncode, 0, plain.stderr)
    done = draw(commands, buffers, extra=["--trace", path("t.jsonl")])
    check_eq((done.returncode, done.stdout), (0, plain.stdout.replace("plain.png", "out.png")), done.stderr)
    with open(path("t.jsonl")) as file:
        lines = [json.loads(line) for line in file][1:]
    told = [[c["what"] for c in line["changes"] if c.get("unit") == "queue"] for line in lines]
    names = [c["command"] for c in commands]
    at = names.index("DISPATCH")
    check_eq([line.get("insn") for line in lines], ["ADDI s1, s0, 5", "ADDI s2, s1, 1", "EXIT", None])
    check_eq(told, [names[:at], [], [], names[at:]])
    done = draw(commands, buffers, extra=["--trace", path("t.json"), "--trace-format", "perfetto"])
    with open(path("t.json")) as file:
        events = json.load(file)["traceEvents"]
    queue = [e for e in events if e.get("cat") == "queue"]
    check_eq([e["name"] for e in queue], names)
    check_eq([(e["ts"], e["dur"]) for e in queue], [(0, 0)] * at + [(0, 3)] + [(3, 0)] * (len(names) - at - 1), "steps of each command")
    tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    check_eq(({tracks[e["tid"]] for e in queue}, 0 in tracks, len(tracks)), ({"queue"}, False, 9), "tracks")
    done = draw(commands, buffers, extra=["--trace", "-", "--trace-from", "1", "--trace-count", "1"])
    check_eq([json.loads(line).get("step") for line in done.stdout.splitlines()[1:]], [1], "what --trace - prints")
    check("out.png: 8 x 8 pixels" in done.stderr, done.stderr)
    for words, why in ((["--trace", path("list.json")], "is the command list"), (["--trace", path("out.png")], "is the picture"),
                       (["--trace", "-", "--json"], "standard output"), (["--trace-count", "1"], "need --trace")):
        done = draw(commands, buffers, extra=words)
        check(done.returncode == 2 and why in done.stderr and not os.path.exists(path("out.png")), done.stderr)


@case()
def kernels_are_stopped_and_told():
    """What came before the DISPATCH is in the picture, what comes behind it not."""
    commands = [RSTATE, rect(0, 0, 8, 8, "#ff0000"), {"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [1, 1]}},
                rect(0, 0, 8, 8, "#00ff00")]
    buffers = {"frame": {"size": 256}, "k": {"code": ["ADDI s1, s0, 5", "ADDI s2, s1, 1", "here: ADD s3, s1, s2", "EXIT"]}}
    red = draw([RSTATE, rect(0, 0, 8, 8, "#ff0000")])
    red = re.search(r"hash (0x[0-9a-f]{16})", red.stdout).group(1)
    for words in (["--break", "here"], ["--steps", "2"]):
        done = draw(commands, buffers, extra=words)
        check_eq(done.returncode, 0, done.stderr)
        for part in ("commands[2] (DISPATCH) is not complete\n", "core 0 ", "<here> buffers.k.code:3: ADD s3, s1, s2\n", "  s1 = 0x00000005, written at ", "  s2 = 0x00000006, written at ", ": ADDI s2, s1, 1\n", f"hash {red}"):
            check(part in done.stdout, f"{part!r} is not in\n{done.stdout}")
        told = json.loads(draw(commands, buffers, extra=[*words, "--json"]).stdout)
        check_eq([c["status"] for c in told["commands"]], [0, 0, None, None])
        stopped = told["stopped"]
        check_eq((stopped["command"], stopped["core"], stopped["line"], stopped["instruction"]), (2, 0, 3, "ADD s3, s1, s2"))
        check_eq([(r["name"], r["value"], r["written"]["line"]) for r in stopped["registers"]], [("s1", "0x00000005", 1), ("s2", "0x00000006", 2)])
    whole = draw(commands, buffers)
    check_eq(draw(commands, buffers, extra=["--steps", "5"]).stdout, whole.stdout, "a limit that is not reached")
    for words, why in ((["--break", "there"], "expected a multiple of 4 or a symbol"), (["--break", "0x80000001"], "expected a multiple of 4"),
                       (["--steps", "0"], "expected")):
        done = draw(commands, buffers, extra=words)
        check(done.returncode == 2 and why in done.stderr and not os.path.exists(path("out.png")), done.stderr)


@case()
def what_units_refuse_a_kernel_is_told():
    """An RSTATE from no memory, twice, on core 1 alone; the next dispatch refuses nothing."""
    code = ["CSRR s9, core_id", "BEQ s9, s0, end", "LUI s1, 0x10000", "RSTATE s2, 0(s1)", "RSTATE s2, 0(s1)", "end: EXIT"]
    commands = [{"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [2, 1], "core_mask": 3}},
                {"command": "DISPATCH", "descriptor": {"pc": "k", "grid": [1, 1], "core_mask": 1}}]
    buffers = {"frame": {"size": 256}, "k": {"code": code}}
    done = draw(commands, buffers)
    check_eq((done.returncode, done.stdout.splitlines()[:-1]),
             (0, ["commands[0] (DISPATCH): its kernel went on behind what was refused", "core 1: graphics error BAD_MEM, 2 times (gerror = 0x00000202)"]))
    told = json.loads(draw(commands, buffers, extra=["--json"]).stdout)["commands"]
    check_eq([c.get("graphics_errors") for c in told], [[{"core": 1, "first": "graphics error BAD_MEM", "count": 2}], None])
    with open(path("k.s"), "w") as file:
        file.write("\n".join(code) + "\n")
    run = subprocess.run([FACET, "tile", "run", path("k.s"), "--grid", "2x1", "--cores", "3"], capture_output=True, text=True)
    check_eq((run.returncode, run.stdout.splitlines()[-2]), (0, "core 1: graphics error BAD_MEM, 2 times (gerror = 0x00000202)"), run.stderr)


@case()
def expected_pictures():
    done = draw([RSTATE, rect(0, 0, 8, 8, "#336699")])
    hash = re.search(r"hash (0x[0-9a-f]{16})", done.stdout).group(1)
    check_eq(draw([RSTATE, rect(0, 0, 8, 8, "#336699")], extra=["--expect", hash]).returncode, 0)
    done = draw([RSTATE, rect(0, 0, 8, 8, "#336699")], extra=["--expect", "0x1"])
    check(done.returncode == 1 and f"the hash is {hash}, expected 0x0000000000000001" in done.stderr, done.stderr)
    check_eq(draw([RSTATE, rect(0, 0, 8, 8, "#336699")], extra=["--expect", "red"]).returncode, 2)


@case()
def files_and_pictures():
    draw([RSTATE, rect(0, 0, 8, 8, "#336699"), rect(1, 1, 2, 2, "#ffcc00")], out="texture.png")
    with open(path("data.bin"), "wb") as file:
        file.write(struct.pack("<2I", 0x00112233, 0x00445566))
    with open(path("kernel.s"), "w") as file:
        file.write("EXIT\n")
    buffers = {"frame": {"image": "texture.png"}, "data": {"file": "data.bin"}, "kernel": {"assembly": "kernel.s"}}
    commands = [{"command": "COPY_BUFFER", "to": "frame", "from": "data", "count": 2},
                {"command": "DISPATCH", "descriptor": {"pc": "kernel", "grid": [1, 1]}}]
    done = draw(commands, buffers=buffers)
    check_eq(done.returncode, 0, done.stderr)
    rows = pixels()
    check_eq(rows[0][:3], [(0x11, 0x22, 0x33), (0x44, 0x55, 0x66), (0x33, 0x66, 0x99)])
    check_eq(rows[2][2], (255, 204, 0))


@case()
def names_stay_in_the_folder():
    """A list is data: what it names is looked for beside it and below, through no link, and is a plain file."""
    os.makedirs(path("inner/below"), exist_ok=True)
    for name in ("outside.bin", "inner/below/good.bin"):
        with open(path(name), "wb") as file:
            file.write(b"\x01\x02\x03\x04")
    os.symlink(path("outside.bin"), path("inner/link.bin"))
    os.symlink(path("inner/below"), path("inner/linked"))
    os.mkfifo(path("inner/fifo"))
    absolute = path("inner/below/good.bin")
    rule = "only plain files in the same folder or below it are read"
    for kind in ("file", "image", "assembly"):
        for name, words in ((absolute, rule), ("/etc/passwd", rule), ("../outside.bin", rule), ("below/../../outside.bin", rule),
                            ("link.bin", rule), ("linked/good.bin", rule), ("fifo", "not a regular file"),
                            ("below", "not a regular file"), ("none.bin", "No such file"), ("-", "No such file"),
                            ("/dev/zero", rule)):
            done = draw([], buffers={"frame": {"size": 256}, "b": {kind: name}}, name="inner/list.json")
            check_eq(done.returncode, 2, name)
            check(f"inner/list.json: buffers.b.{kind}: {name}: " in done.stderr and words in done.stderr, done.stderr)
            check(not os.path.exists(path("out.png")), "a picture was written")
    code = {"code": ['.include "link.bin"', "EXIT"]}
    done = draw([], buffers={"frame": {"size": 256}, "b": code}, name="inner/list.json")
    check_eq(done.returncode, 2)
    check("buffers.b.code: " in done.stderr and "link.bin: " + rule in done.stderr, done.stderr)
    for name in ("below/good.bin", "./below//good.bin"):
        done = draw([], buffers={"frame": {"size": 256}, "b": {"file": name}}, name="inner/list.json")
        check_eq(done.returncode, 0, done.stderr)


@case()
def a_list_from_standard_input_names_no_files():
    with open(path("here.bin"), "wb") as file:
        file.write(b"1234")
    for member, code in (({"file": "here.bin"}, 2), ({"code": ["EXIT"]}, 0), ({"code": ['.include "here.bin"']}, 2)):
        text = json.dumps({"buffers": {"frame": {"size": 256}, "b": member},
                           "frame": {"base": "frame", "width": 8, "height": 8}, "commands": []})
        done = subprocess.run([FACET, "tile", "draw", "-", "-o", path("out.png")], input=text, capture_output=True,
                              text=True, timeout=600, cwd=FOLDER)
        check_eq(done.returncode, code, done.stderr)
        check(code == 0 or "buffers.b." in done.stderr and "no f" in done.stderr, done.stderr)


def refused(words, *arguments, **named):
    def run():
        done = draw(*arguments, **named)
        check_eq(done.returncode, 2, done.stdout)
        check(words in done.stderr, done.stderr)
        check(not os.path.exists(path("out.png")), "a picture was written")
    return run


@case()
def numbers_by_name():
    """A number whose row names a value takes the name: state_id "current", not a slot that was never loaded."""
    for state, code in (("current", 0), (0, 0), (0xFFFF, 0), (3, 1)):
        done = draw([RSTATE, {"command": "RRECT", "descriptor": {"state_id": state, "wh": [1, 1], "color": "#ffffff"}}])
        check_eq(done.returncode, code, done.stderr)
    done = draw([RSTATE, {"command": "RRECT", "descriptor": {"state_id": "last"}}])
    check_eq(done.returncode, 2, done.stdout)
    check("state_id: expected a number from 0 to 65535" in done.stderr, done.stderr)


BIG = {"frame": {"size": 256}, "big": {"size": 65536}}
for _n, (_words, _commands, _named) in enumerate([
        ("commands[0].command: expected one of: NOP", [{"command": "DRAW"}], {}),
        ("commands[0].command: expected one of", [5], {}),
        ("commands[1] (NOP).colour: expected one of the members", [{"command": "NOP"}, {"command": "NOP", "colour": 1}], {}),
        ("commands[0] (SIGNAL).flags: expected one of the members", [{"command": "SIGNAL", "flags": ["EMIT"]}], {}),
        ("commands[0] (NOP).flags: expected a list of: IRQ EMIT WAIT", [{"command": "NOP", "flags": ["PAYLOAD"]}], {}),
        ("commands[0] (NOP).fence: expected a number from 0 to 255", [{"command": "NOP", "fence": 256}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.fb_format: expected one of: RGB565 ARGB8888",
         [{"command": "LOAD_RSTATE", "descriptor": {"fb_format": "PAL8"}}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.width: expected one of the fields: fb_base",
         [{"command": "LOAD_RSTATE", "descriptor": {"width": 8}}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.sampler: expected a number from 0 to 31",
         [{"command": "LOAD_RSTATE", "descriptor": {"sampler": 32}}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.fb_base: expected an address, or the name of a buffer",
         [{"command": "LOAD_RSTATE", "descriptor": {"fb_base": "colour"}}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.fb_base: expected a number after the +",
         [{"command": "LOAD_RSTATE", "descriptor": {"fb_base": "frame+x"}}], {}),
        ("commands[0] (LOAD_RSTATE).descriptor.flags: expected a list of: SCISSOR",
         [{"command": "LOAD_RSTATE", "descriptor": {"flags": ["-"]}}], {}),
        ("commands[0] (LOAD_GSTATE).descriptor.mvp: expected a list of 16 numbers",
         [{"command": "LOAD_GSTATE", "descriptor": {"mvp": [1, 2]}}], {}),
        ("commands[0] (RRECT): expected either \"descriptor\" or \"address\"", [{"command": "RRECT"}], {}),
        ("commands[0] (RRECT).descriptor.xy: expected two numbers", [{"command": "RRECT", "descriptor": {"xy": [1]}}], {}),
        ("commands[0] (RRECT).descriptor.color: expected a colour", [rect(0, 0, 1, 1, "#12345")], {}),
        ("commands[0] (RSETUP).triangle: expected three vertices", [{"command": "RSETUP", "triangle": []}], {}),
        ("commands[0] (GDRAW).descriptors[1].count: expected a number",
         [{"command": "GDRAW", "descriptors": [{}, {"count": "x"}]}], {}),
        ("commands[0] (WRITE_MEM).words: expected a list of up to 255", [{"command": "WRITE_MEM", "words": [1] * 256}], {}),
        ("commands[0] (RAW): expected up to three numbers as \"args\"", [{"command": "RAW", "opcode": 0, "args": [1, 2, 3, 4]}], {}),
        ("commands[0] (RAW).opcode: expected a number from 0 to 255", [{"command": "RAW", "opcode": 256}], {}),
        ("commands[0] (REGISTER): expected a multiple of 4", [{"command": "REGISTER", "offset": 6}], {}),
        ("commands[0] (REGISTER).offset: expected a number from 0 to 4092", [{"command": "REGISTER", "offset": 4096}], {}),
        ("observe: expected a list", [], {"observe": "status"}),
        ("observe[1]: expected the name of a buffer, or one of: status", [], {"observe": ["status", "depth"]}),
        ("buffers.a: expected one of: size", [], {"buffers": {"a": {}}}),
        ("buffers.a: expected one source of data", [], {"buffers": {"a": {"u8": [], "u32": []}}}),
        ("buffers.a.u8[1]: expected a number that fits", [], {"buffers": {"a": {"u8": [255, 256]}}}),
        ("buffers.a: expected a \"size\" that holds the data", [], {"buffers": {"a": {"u8": [1, 2], "size": 1}}}),
        ("buffers.a.vertices[1]: expected the same attributes", [],
         {"buffers": {"a": {"vertices": [{"position": [0, 0, 0]}, {"position": [0, 0, 0], "uv": [0, 0]}]}}}),
        ("buffers.a.code:", [], {"buffers": {"a": {"code": ["NONSENSE s1"]}}}),
        ("buffers.a.file:", [], {"buffers": {"a": {"file": "nowhere.bin"}}}),
        ("buffers.a.file: an empty name, expected that of a file", [], {"buffers": {"a": {"file": ""}}}),
        ("buffers.big: expected less: 65536 bytes do not fit", [], {"buffers": BIG, "machine": {"vram": 65536}}),
        ("machine.vram: expected a multiple of 4096", [], {"machine": {"vram": 5000}}),
        ("frame.width: expected a number from 1 to 8192", [], {"frame": {"base": "frame", "height": 1}}),
        ("frame: expected a picture that lies in VRAM", [], {"frame": {"base": 0, "width": 1, "height": 1}}),
        ("frame.hight: expected one of the members", [], {"frame": {"base": "frame", "width": 1, "hight": 1}})]):
    add_case(f"refused_{_n}", refused(_words, _commands, **_named))


@case()
def bad_command_lines():
    def run(*words):
        return subprocess.run([FACET, "tile", "draw", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=600)
    draw([RSTATE])
    check_eq(run(path("list.json")).returncode, 2)
    check("-o FILE is required" in run(path("list.json")).stderr, "no -o")
    check_eq(run(path("list.json"), "-o", path("list.json")).returncode, 2)
    check_eq(run(path("none.json"), "-o", path("x.png")).returncode, 2)
    with open(path("cut.json"), "w") as file:
        file.write('{"frame": ')
    done = run(path("cut.json"), "-o", path("x.png"))
    check_eq(done.returncode, 2)
    check("cut.json:1" in done.stderr, done.stderr)


main("tile_draw")
