"""`facet tile why`: the value is that of the picture, every reason for a pixel is provoked by a small list and
named, and coverage and depth agree with a model of a few lines here."""
import json
import os
import random
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
FOLDER = tempfile.mkdtemp()
SIDE = 16
IDENTITY = [float(i % 5 == 0) for i in range(16)]


def run(*words):
    return subprocess.run([FACET, "tile", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600, cwd=FOLDER)


def write(commands, buffers=None, format="ARGB8888"):
    size = SIDE * SIDE * (2 if format == "RGB565" else 4)
    data = {"buffers": {"frame": {"size": size}, "depth": {"size": 2 * SIDE * SIDE, "fill": 255}, **(buffers or {})},
            "frame": {"base": "frame", "width": SIDE, "height": SIDE, "format": format}, "commands": commands}
    with open(os.path.join(FOLDER, "list.json"), "w") as file:
        json.dump(data, file)
    return "list.json"


def why(x, y, name="list.json"):
    result = run("why", f"{x},{y}", name, "--json")
    check_eq((result.returncode, result.stderr), (0, ""), "exit code and complaints")
    return json.loads(result.stdout)


def say(x, y, *more):
    result = run("why", f"{x},{y}", "list.json", *more)
    check_eq((result.returncode, result.stderr), (0, ""), "exit code and complaints")
    return result.stdout


def state(**more):
    fields = {"fb_base": "frame", "fb_stride": 4 * SIDE, "fb_format": "ARGB8888", "fb_wh": [SIDE, SIDE], "depth_base": "depth",
              "depth_stride": 2 * SIDE, "depth_format": "D16", "depth_function": "less"}
    fields.update(more)
    return {"command": "LOAD_RSTATE", "descriptor": fields}


def triangle(points, color="#ff0000", flags=(), **more):
    corners = [{"x": p[0], "y": p[1], "z": p[2] if len(p) > 2 else 0.5, "color": color} for p in points]
    return {"command": "RDRAW", "descriptor": {"flags": list(flags), **more}, "triangle": corners}


def geometry(points, **draw):
    """A triangle in clip space through the geometry unit."""
    buffers = {"corners": {"vertices": [{"position": p, "color": "#00ff00"} for p in points]}}
    gstate = {"vbo_base": "corners", "stride": 20, "attributes": ["COLOR"], "mvp": IDENTITY}
    gstate.update(draw.pop("gstate", {}))
    return buffers, [{"command": "LOAD_GSTATE", "descriptor": gstate},
                     {"command": "GDRAW", "descriptor": {"count": len(points), **draw}}]


def rectangle(xy=(0, 0), wh=(SIDE, SIDE), color="#0000ff", **more):
    return {"command": "RRECT", "descriptor": {"xy": list(xy), "wh": list(wh), "color": color, **more}}


def fates(entry):
    return {key: count for key, count in entry["triangles"].items() if count}


HALF = [(0, 0), (SIDE, 0), (0, SIDE)]


def bits(value):
    return int(value, 16)


# ---- reasons -----------------------------------------------------------------------------------


@case()
def an_edge_and_how_far():
    write([state(), triangle(HALF)])
    entry, = why(12, 12)["history"]
    check_eq(fates(entry), {"edge": 1}, "fate")
    fact, = entry["facts"]
    check_eq([edge["inside"] for edge in fact["edges"]].count(False), 1, "edges that refuse it")
    # the diagonal x + y = 16 from the centre (12.5, 12.5)
    check(abs(fact["miss"]["value"] - 9 / 2 ** .5) < 1e-4, f"distance {fact['miss']}")
    check("not covered: triangle 0 6.36 pixels outside edge 0" in say(12, 12), "in words")
    check("made by    nothing" in say(12, 12), "nobody made it")


@case()
def the_top_left_rule():
    # The diagonal goes through centres: the lower right half has them, since its edge is a left one.
    write([state(), triangle([(.5, .5), (15.5, .5), (.5, 15.5)]), triangle([(15.5, .5), (15.5, 15.5), (.5, 15.5)])])
    first, second = why(7, 8)["history"]
    check_eq((fates(first), fates(second)), ({"rule": 1}, {"written": 1}), "fates")
    zero = [edge for edge in first["facts"][0]["edges"] if edge["value"] == 0]
    check_eq([(edge["top_left"], edge["inside"]) for edge in zero], [(False, False)], "the edge")
    check("on edge 0, neither top nor left" in say(7, 8), "in words")


@case()
def the_depth_test():
    near, far = [(x, y, .25) for x, y in HALF], [(x, y, .75) for x, y in HALF]
    write([state(flags=["DEPTH"]), triangle(near, flags=["DEPTH"]), triangle(far, "#00ff00", flags=["DEPTH"])])
    first, second = why(3, 3)["history"]
    check_eq((fates(first), fates(second)), ({"written": 1}, {"depth": 1}), "fates")
    depth = second["facts"][0]["depth"]
    check_eq((bits(depth["value"]), depth["function"], bits(depth["stored"]), depth["passes"], depth["written"]),
             (int(.75 * 65535 + .5), "<", int(.25 * 65535 + .5), False, False), "comparison")
    check("refused by the depth test, depth 0xbfff < 0x4000" in say(3, 3), "in words")


@case()
def rectangles_that_cut():
    scissor = dict(flags=["SCISSOR"], scissor_xy=[0, 0], scissor_wh=[2, 2])
    for commands, names in (([state(**scissor), triangle(HALF)], ["scissor"]),
                            ([state(**scissor), rectangle()], ["scissor"]),
                            ([state(viewport_xy=[8, 8], viewport_wh=[8, 8]), triangle(HALF)], ["viewport"]),
                            ([state(), rectangle((8, 0), (8, 8))], ["rectangle"]),
                            ([state(**scissor), rectangle((8, 0), (8, 8))], ["scissor", "rectangle"])):
        write(commands)
        entry, = why(4, 3)["history"]
        check_eq(fates(entry), {"outside": 1}, "fate")
        check_eq([cut["by"] for cut in entry["cuts"] if cut["outside"]], names, "cuts")
        check(f"outside the {' and '.join(names)}" in say(4, 3), f"in words: {names}")


@case()
def scissor_and_viewport_of_a_draw():
    points = [(-1, 1, .5), (1, 1, .5), (-1, -1, .5)]
    for gstate, name in (({"flags": ["SCISSOR"], "scissor_xy": [0, 0], "scissor_wh": [2, 2]}, "GSTATE scissor"),
                         ({"viewport_xy": [-8, 0], "viewport_wh": [12, 16]}, "viewport")):
        buffers, commands = geometry(points + [(3, 1, .5), (3, -1, .5), (1, 1, .5)], gstate=gstate)
        write([state(), *commands], buffers)
        entry, = why(12, 2)["history"]
        check_eq(entry["triangles"]["outside"], 1, "fate")
        check_eq([cut["by"] for cut in entry["cuts"] if cut["outside"]], [name], "cuts")
        check(f"outside the {name}" in say(12, 2), "in words")


@case()
def culled_triangles():
    clockwise = [(-1, 1, .5), (1, 1, .5), (-1, -1, .5)]
    for cull, points, fate in (("CW", clockwise, "culled"), ("CCW", clockwise, "written"),
                               ("CCW", clockwise[::-1], "culled"), ("none", clockwise[::-1], "written")):
        buffers, commands = geometry(points, gstate={"cull": cull})
        write([state(), *commands], buffers)
        entry, = why(4, 3)["history"]
        check_eq(fates(entry), {fate: 1}, f"cull {cull}")
        check(fate == "written" or "covered, but culled" in say(4, 3), "in words")
        # ... but nothing is culled where nothing is covered
        check_eq(fates(why(14, 14)["history"][0]), {"edge": 1}, f"beside it, cull {cull}")


@case()
def clipped_triangles():
    # z from -1 at the left to 1 at the right: the near plane cuts the left half off
    points = [(-1, 1, -1), (1, 1, 1), (1, -1, 1), (-1, 1, -1), (1, -1, 1), (-1, -1, -1)]
    buffers, commands = geometry(points, gstate={"flags": ["CLIP"]})
    write([state(), *commands], buffers)
    left, right = why(2, 8)["history"][0], why(12, 8)["history"][0]
    check_eq((left["triangles"]["clipped"], left["writes"]), (1, False), "left")
    check_eq([fact["planes"] for fact in left["facts"]], [["near"]], "plane")
    check_eq((right["triangles"]["written"], right["triangles"]["clipped"]), (1, 0), "right")
    check_eq([fact["part"] for fact in right["facts"]], [True], "a part of a triangle")
    check("clipped away, plane near" in say(2, 8), "in words")
    # wholly behind the near plane
    buffers, commands = geometry([(-1, 1, -1), (1, 1, -1), (-1, -1, -1)], gstate={"flags": ["CLIP"]})
    write([state(), *commands], buffers)
    check_eq(fates(why(2, 2)["history"][0]), {"clipped": 1}, "all of it")


@case()
def triangles_that_are_none():
    for points, fate in (([(1, 1), (9, 9), (5, 5)], "empty"), ([(1, 1), (40000, 1), (1, 9)], "range"),
                         ([(3.6, 3.6), (4.4, 3.6), (4.4, 4.4)], "empty")):
        write([state(), triangle(points)])
        check_eq(fates(why(3, 3)["history"][0]), {fate: 1}, f"{points}")
    buffers, commands = geometry([(-1, 1, .5, 1), (1, 1, .5, 1), (-1, -1, .5, -1)])
    for vertex in buffers["corners"]["vertices"]:
        vertex["position"] = list(vertex["position"])
    write([state(), *commands], buffers)
    check_eq(fates(why(3, 3)["history"][0]), {"behind": 1}, "w below 0")
    buffers, commands = geometry([(-1, 1, .5), (1, 1, .5), (-1, -1, .5)], vtx_base=0x01000000)
    write([state(), *commands], buffers)
    check_eq(fates(why(3, 3)["history"][0]), {"index": 1}, "vertices outside VRAM")


@case()
def depth_outside_memory():
    write([state(flags=["DEPTH"], depth_base=0x1000), triangle(HALF, flags=["DEPTH"])])
    entry, = why(3, 3)["history"]
    check_eq((fates(entry), entry["writes"]), ({"memory": 1}, False), "fate")


@case()
def alpha_and_what_it_blends():
    write([state(blend="alpha"), rectangle(color="#ff804020", blend="opaque"), triangle(HALF, "#00ffffff"),
           triangle(HALF, "#80102030")])
    base, clear, half = why(3, 3)["history"]
    check_eq((clear["writes"], clear["before"], clear["after"]), (True, base["after"], base["after"]), "alpha 0")
    blend = half["facts"][0]["blend"]
    source, destination, result = (bits(blend[key]) for key in ("source", "destination", "result"))
    check_eq((source, destination), (0x80102030, 0xFF804020), "inputs")
    channels = [((source >> s & 255 if s < 24 else 255) * 128 + (destination >> s & 255) * 127 + 127) // 255
                for s in (0, 8, 16, 24)]
    check_eq(result, sum(c << 8 * i for i, c in enumerate(channels)), "result")
    text = say(3, 3)
    check("blended alpha 0x00ffffff, which changes nothing" in text, "alpha 0 in words")
    check(text.count("; changed by commands[3] RDRAW") == 1, "changed, not overwritten")


@case()
def texels_by_their_addresses():
    texels = {"texels": {"u32": ["#ff0000", "#00ff00", "#0000ff", "#ffffff"]}}
    sampler = {"command": "LOAD_SAMPLER", "index": 3, "descriptor": {"base": "texels", "stride": 8, "width": 2, "height": 2,
                                                                    "format": "ARGB8888", "filter": "bilinear"}}
    corners = [{"x": x, "y": y, "u": x / 8, "v": y / 8, "color": "#ffffff"} for x, y in HALF]
    write([state(flags=["TEXTURE"], sampler=3), sampler,
           {"command": "RDRAW", "descriptor": {"flags": ["TEXTURED"]}, "triangle": corners}], texels)
    fact, = why(5, 7)["history"][0]["facts"]
    taps = fact["texture"]["taps"]
    first = bits(taps[0]["address"])
    check_eq([bits(tap["address"]) - first for tap in taps], [0, 4, 8, 12], "four texels")
    check_eq([bits(tap["bits"]) for tap in taps], [0xFFFF0000, 0xFF00FF00, 0xFF0000FF, 0xFFFFFFFF], "their bits")
    # coordinates are (x + .5) / 8: in 1/256 texel, from the middle of the first one
    fx, fy = (int((5 + .5) / 8 * 256) - 128) & 255, (int((7 + .5) / 8 * 256) - 128) & 255
    check_eq(fact["texture"]["filter"], "bilinear", "filter")
    mixed = 0
    for shift in (0, 8, 16, 24):
        c = [bits(tap["bits"]) >> shift & 255 for tap in taps]
        upper, lower = c[0] * (256 - fx) + c[1] * fx, c[2] * (256 - fx) + c[3] * fx
        mixed |= (upper * (256 - fy) + lower * fy + 32768) >> 16 << shift
    check_eq(bits(fact["texture"]["texel"]), mixed, "the mixture")


@case()
def what_other_commands_write():
    kernel = {"code": ["CSRR s1, arg_base", "LW s2, 0(s1)", "MOVI s3, 0x123456", "store: SW s3, 0(s2)", "EXIT"]}
    args = {"u32": [f"frame+{4 * (3 * SIDE + 3):#x}"]}
    write([state(), rectangle(), {"command": "WRITE_MEM", "address": args["u32"][0], "words": ["0x00abcdef"]},
           {"command": "COPY_BUFFER", "to": args["u32"][0], "from": "frame", "count": 1},
           {"command": "DISPATCH", "descriptor": {"pc": "kernel", "grid": [1, 1], "arg_base": "args", "arg_size": 4}}],
          {"kernel": kernel, "args": args})
    found = why(3, 3)
    check_eq([(entry["kind"], bits(entry["after"])) for entry in found["history"]],
             [("draw", 0xFF0000FF), ("write", 0xABCDEF), ("write", 0xFF0000FF), ("store", 0x123456)], "history")
    check_eq((bits(found["value"]), found["made_by"]), (0x123456, 3), "value")
    check_eq([entry.get("over") for entry in found["history"]], [1, 2, 3, None], "overwritten by")
    text = say(3, 3)
    for words in ("overwritten by commands[2] WRITE_MEM", "<store>", "SW s3, 0(s2)", "made by    commands[4] DISPATCH"):
        check(words in text, words)
    check_eq(why(4, 3)["made_by"], 0, "its neighbour")


@case()
def words_that_are_no_pixel():
    write([state(), rectangle()])
    for text in ("16,0", "0,16", "1", "1,2,3", "-1,0", "a,b", "1 2", ""):
        result = run("why", text, "list.json") if text != "-1,0" else run("why", "--", text, "list.json")
        check_eq((result.returncode, result.stdout), (2, ""), f"exit code for '{text}'")
        check("expected X,Y from the top left, below 16,16" in result.stderr, result.stderr)


# ---- values and models -------------------------------------------------------------------------


def covered(points, x, y):
    """Edge functions in 1/256 pixel, as a student would write them: top and left edges are inside."""
    p = [(round(a[0] * 256), round(a[1] * 256)) for a in points]
    area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1])
    if area == 0:
        return "empty"
    if area < 0:
        p[1], p[2] = p[2], p[1]
    at, worst = (256 * x + 128, 256 * y + 128), "written"
    for i in range(3):
        (ax, ay), (bx, by) = p[i], p[(i + 1) % 3]
        value = (bx - ax) * (at[1] - ay) - (by - ay) * (at[0] - ax)
        top_left = by < ay or (by == ay and bx > ax)
        if value < 0:
            return "edge"
        if value == 0 and not top_left:
            worst = "rule"
    return worst


@case()
def random_triangles_and_a_model():
    choose = random.Random(7)
    for step in (1, .5, .125, 1 / 256):
        commands, shapes = [state(flags=["DEPTH"])], []
        for k in range(24):
            z = choose.randrange(1, 9) / 8
            points = [(choose.randrange(int(-4 / step), int(20 / step)) * step,
                       choose.randrange(int(-4 / step), int(20 / step)) * step, z) for _ in range(3)]
            color = choose.getrandbits(24) | 0xFF000000
            commands.append(triangle(points, f"#{color:08x}", flags=["DEPTH"]))
            shapes.append((points, z, color))
        write(commands)
        for _ in range(6):
            x, y, depth, value = choose.randrange(SIDE), choose.randrange(SIDE), 0xFFFF, 0
            found = why(x, y)
            for entry, (points, z, color) in zip(found["history"], shapes):
                fate, z16 = covered(points, x, y), int(z * 65535 + .5)
                if fate == "written":
                    if z16 < depth:
                        depth, value = z16, color
                    else:
                        fate = "depth"
                seen = fates(entry)
                if fate in ("edge", "empty"):  # a triangle may lie between all centres
                    check(seen in ({"edge": 1}, {"empty": 1}), f"{points} at {x},{y}: {seen}")
                else:
                    check_eq(seen, {fate: 1}, f"{points} at {x},{y}")
            check_eq(bits(found["value"]), value, f"value at {x},{y}")
            check_eq(len(found["history"]), len(shapes), "draws")


def draw_words(name, pixels, size):
    """The bits of pixels, read by READ_MEM commands added to the list's end."""
    with open(name) as file:
        data = json.load(file)
    for x, y in pixels:
        stride = data["frame"].get("stride", data["frame"]["width"] * size)
        data["commands"].append({"command": "READ_MEM", "address": f"{data['frame']['base']}+{(y * stride + x * size) & ~3:#x}",
                                 "count": 1})
    with open(os.path.join(FOLDER, "why-read.json"), "w") as file:
        json.dump(data, file)
    result = run("draw", "why-read.json", "-o", "out.png", "--json")
    check(result.returncode in (0, 1), result.stderr)
    words = [int(read["words"][0], 16) for read in json.loads(result.stdout)["reads"][-len(pixels):]]
    return [word >> 16 * (x & 1) & 0xFFFF if size == 2 else word for word, (x, _) in zip(words, pixels)]


@case()
def values_are_those_of_the_picture():
    choose = random.Random(11)
    lists = []
    with open(os.path.join(SOURCE, "examples/tile/triangle.json")) as file:
        lists.append((json.load(file), 4))
    for format in ("ARGB8888", "RGB565"):
        size = 2 if format == "RGB565" else 4
        for blend in ("opaque", "alpha", "additive"):
            commands = [state(fb_format=format, fb_stride=size * SIDE, blend=blend, flags=["DEPTH"])]
            for k in range(12):
                points = [(choose.uniform(-4, 20), choose.uniform(-4, 20), choose.random()) for _ in range(3)]
                commands.append(triangle(points, f"#{choose.getrandbits(32):08x}", flags=["DEPTH"] if k % 2 else []))
                if k % 5 == 4:
                    commands.append(rectangle((choose.randrange(8), 3), (8, 8), f"#{choose.getrandbits(32):08x}"))
            write(commands, format=format)
            with open(os.path.join(FOLDER, "list.json")) as file:
                lists.append((json.load(file), size))
    for data, size in lists:
        name = os.path.join(FOLDER, "values.json")
        with open(name, "w") as file:
            json.dump(data, file)
        pixels = [(choose.randrange(data["frame"]["width"]), choose.randrange(data["frame"]["height"])) for _ in range(5)]
        for (x, y), word in zip(pixels, draw_words(name, pixels, size)):
            found = why(x, y, "values.json")
            check_eq(bits(found["value"]), word, f"value at {x},{y}")
            made = found["made_by"]
            check_eq(bits(found["history"][made]["after"]) if made >= 0 else 0, word, f"what made {x},{y}")
            at = 0
            for entry in found["history"]:  # one step begins where the one before ended
                if entry["writes"]:
                    check_eq(bits(entry["before"]), at, "before")
                    at = bits(entry["after"])


main("tile_why")
