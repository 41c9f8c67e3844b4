"""`facet bvh why` from outside. The oracle is example 12 of gfx12-semantics.md: its two nodes, ray and
registers are read from the document, and the sums of 9.2 and 9.4 are done again here in exact
fractions (every value of the example is exact in binary32)."""
import json
import os
import random
import re
import struct
import subprocess
import tempfile
from fractions import Fraction

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
RAY = "-1 0.25 0.5 1 0.25 0.125"
BITS = "0xBF800000 0x3E800000 0x3F000000 0x3F800000,0x3E800000,0x3E000000"

with open(os.path.join(SOURCE, "spec", "gfx12-semantics.md"), encoding="utf-8") as _file:
    EXAMPLE = _file.read().split("### Example 12")[1].split("### Example 13")[0]
WORDS = [int(w, 16) for row in re.findall(r"^[0-7]0: (.*)$", EXAMPLE, re.M) for w in row.split()]
VISITS = [(int(n, 16), [int(w, 16) for w in v.split()])
          for n, v in re.findall(r"^node (\w{8}) -> ((?:[0-9A-F]{8} ?){10})$", EXAMPLE, re.M)]
FOLDER = tempfile.TemporaryDirectory()
IMAGE = os.path.join(FOLDER.name, "example12.gfx12")
with open(IMAGE, "wb") as _file:
    _file.write(struct.pack("<64I", *WORDS))


def facet(*words):
    return subprocess.run([FACET, "bvh", *words], capture_output=True, text=True, timeout=600)


def why(image, *words, ray=RAY):
    result = facet("why", image, "--ray", ray, "--json", *words)
    check_eq(result.returncode, 0, result.stderr)
    return json.loads(result.stdout)


def bits(x):
    return int(x["bits"], 16)


def exact(x):
    return Fraction(struct.unpack("<f", struct.pack("<I", bits(x)))[0])


def registers(step):
    return [int(v, 16) for v in step["v"]]


def check_step(step):
    """Recomputed hits equal the registers."""
    v = registers(step)
    if step["kind"] == "box":
        places = {c["place"]: int(c["slot"], 16) for c in step["children"]}
        for place, slot in places.items():
            check_eq(v[place], slot, f"v{place}")
        for c in step["children"]:
            visible = c["hit"] and c["cull"] == "visible" and not c["duplicate"]
            check_eq(int(c["slot"], 16), int(c["id"], 16) if visible else 0xFFFFFFFF)
    elif step["kind"] == "primitive":
        for k, t in enumerate(step["triangles"]):
            if not t["procedural"]:
                hit = t["hit"] and t["cull"] == "visible"
                check_eq(v[4 * k], bits(t["t"]) if hit else 0x7F800000, f"v{4 * k}")


@case()
def the_worked_example():
    check_eq(len(WORDS), 64, "dwords")
    check_eq(len(VISITS), 3, "visits")
    for ray in (RAY, BITS):
        data = why(IMAGE, "--base", "0x40000", ray=ray)
        check(data["complete"], "complete")
        check_eq([(int(s["node"], 16), registers(s)) for s in data["steps"]], VISITS)
        for step in data["steps"]:
            check_step(step)
        hit = data["result"]
        check_eq((bits(hit["t"]), bits(hit["u"]), bits(hit["v"]), hit["primitive"],
                  hit["geometry"], hit["backface"], hit["instance"]),
                 (0x3F800000, 0x3E000000, 0x3F000000, 8, 0, False, None))


@case()
def boxes_are_explained():
    step = why(IMAGE, "--base", "0x40000")["steps"][0]
    o, d = [Fraction(-1), Fraction(1, 4), Fraction(1, 2)], [1, Fraction(1, 4), Fraction(1, 8)]
    check_eq([exact(x) for x in step["grid_origin"]], [0, 0, 0])
    check_eq(step["grid_exponent"], [127, 127, 127])
    check_eq(len(step["children"]), 6)
    for i, c in enumerate(step["children"]):
        a, b, e = WORDS[8 + 3 * i:11 + 3 * i]
        check_eq(c["q_min"], [a & 0xFFF, a >> 12 & 0xFFF, b & 0xFFF])
        check_eq(c["q_max"], [b >> 12 & 0xFFF, e & 0xFFF, e >> 12 & 0xFFF])
        lo = [Fraction(q, 4096) for q in c["q_min"]]
        hi = [Fraction(q + 1, 4096) for q in c["q_max"]]
        near = [(x - y) / z for x, y, z in zip(lo, o, d)]
        far = [(x - y) / z for x, y, z in zip(hi, o, d)]
        for name, want in (("lo", lo), ("hi", hi), ("near", near), ("far", far),
                           ("lo_minus_o", [x - y for x, y in zip(lo, o)]),
                           ("hi_minus_o", [x - y for x, y in zip(hi, o)])):
            check_eq([exact(x) for x in c[name]], want, f"{name} of child {i}")
        for name, want in (("A", max(near)), ("B", min(far)), ("min_t", max(max(near), 0)),
                           ("max_t", min(far)), ("key", max(max(near), 0))):
            check_eq(exact(c[name]), want, f"{name} of child {i}")
        check_eq(c["hit"], max(max(near), 0) <= min(far))
    check_eq([c["place"] for c in step["children"]][2:4], [0, 1])
    check_eq((step["pushes"], step["next"]), (["0x13"], "0x12"))


@case()
def triangles_are_explained():
    steps = why(IMAGE, "--base", "0x40000")["steps"]
    hit, miss = steps[1]["triangles"]
    check_eq([[exact(x) for x in v] for v in hit["vertices"]], [[0, 0, 0], [0, 0, 1], [0, 1, 1]])
    for name, want in (("e1", (0, 0, 1)), ("e2", (0, 1, 1)), ("e3", (-1, .25, .5)),
                       ("s1", (.125, -1, 1)), ("s2", (.25, 1, 0))):
        check_eq([exact(x) for x in hit[name]], [Fraction(x) for x in want], name)
    check_eq([exact(hit[n]) for n in ("tn", "det", "un", "vn", "t", "u", "v")],
             [1, 1, .125, .5, 1, .125, .5])
    check_eq((hit["hit"], hit["miss"], miss["hit"], miss["miss"]),
             (True, None, False, "not v >= 0"))
    check_eq(steps[1]["candidates"][0],
             {"triangle": 0, "committed": True, "reason": "t_min < t < t_cur"})
    check_eq((bits(steps[1]["t_before"]), bits(steps[1]["t_after"])), (0x7F800000, 0x3F800000))
    check_eq([c["reason"] for c in steps[2]["candidates"]], ["not t < t_cur"] * 2)
    check_eq(steps[2]["popped"], True)


@case()
def interval_flags_and_mask():
    base = ("--base", "0x40000")
    data = why(IMAGE, *base, ray=RAY + " 1 inf")
    check_eq(data["steps"][1]["candidates"][0]["reason"], "not t_min < t")
    check_eq((data["result"]["primitive"], data["result"]["backface"]), (10, True))
    data = why(IMAGE, *base, "--flags", "4")
    check_eq((data["steps"][-1]["stop"], len(data["steps"]), data["result"]["primitive"]),
             (True, 2, 8))
    for words, rule in ((("--mask", "0"), "mask"), (("--flags", "0x40"), "CULL_OPAQUE"),
                        (("--flags", "0x100"), "SKIP_TRIANGLES"),
                        (("--flags", "0x82"), "CULL_NON_OPAQUE")):
        data = why(IMAGE, *base, *words)
        check_eq({c["cull"] for c in data["steps"][0]["children"]}, {rule})
        check_eq((len(data["steps"]), data["result"]["found"]), (1, False))
    one = why(IMAGE, *base, "--node", "0x12", "--flags", "0x40")
    check_eq([t["cull"] for t in one["triangles"]], ["CULL_OPAQUE"] * 2)
    check_eq(registers(one)[0], 0x7F800000)


def nans(value, name=""):
    """The name and bits of every NaN that was computed."""
    if isinstance(value, dict):
        if value.get("value") == "nan" and "bits" in value:
            return [(name, bits(value))]
        return [nan for key, part in value.items() if key not in ("ray", "slab_origin", "slab_direction")
                for nan in nans(part, key)]
    return [nan for part in value for nan in nans(part, name)] if isinstance(value, list) else []


@case()
def a_nan_has_the_bits_of_the_contract():
    """Section 1 rule 3, whatever this host's own NaN looks like: a product of 0 and infinity, sums and products
    with a NaN that has a payload, edges of a triangle from an infinite origin."""
    seen = set()
    for ray in ("0 0 0 0 0 1", "0 0 0 -0 1 0", "0x7F812345 0 0 1 1 1", "0 0 0 1 0xFFC54321 1", "inf 0 0 1 1 1",
                "-inf inf 0.5 1 -1 0"):
        for node, _ in VISITS:
            for name, value in nans(why(IMAGE, "--base", "0x40000", "--node", hex(node), ray=ray)):
                seen.add(name)
                check(value == 0x7FC00000 or (name in "tuv" and value == 0xFFC00000), f"{ray}: {name} is {value:#x}")
    check({"lo_minus_o", "near", "s1", "s2", "tn", "t"} <= seen, f"NaNs in {sorted(seen)}")


@case()
def one_node():
    for node, v in VISITS:
        one = why(IMAGE, "--base", "0x40000", "--node", hex(node))
        check_eq(registers(one), v)
        check_step(one)
    text = facet("why", IMAGE, "--ray", RAY, "--node", "0x12").stdout
    check("tn 3F800000 (1)  det 3F800000 (1)  un 3E000000 (0.125)" in text, text)
    check("miss: not v >= 0  (9.4)" in text, text)
    check("v 3F800000 3E000000 3F000000 00000010" in text, text)


@case()
def through_an_instance():
    cube = os.path.join(FOLDER.name, "cube.gfx12")
    obj = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
    check_eq(facet("build", obj, "-o", cube, "--quality", "contract", "--quiet").returncode, 0)
    data = why(cube)
    steps = data["steps"]
    check_eq([s["kind"] for s in steps], ["box", "instance", "box", "primitive", "primitive"])
    check_eq((steps[1]["pushes"], steps[1]["next"], steps[1]["cull"]), (["RETURN"], "0x5", "visible"))
    check_eq((bits(data["result"]["t"]), data["result"]["primitive"], data["result"]["instance"]),
             (0x3F800000, 8, "0x16"))
    bvh = int(steps[2]["base"], 16) * 8 & (1 << 48) - 1
    one = why(cube, "--bvh", hex(bvh), "--node", "5")
    check_eq(registers(one), VISITS[0][1])
    text = facet("why", cube, "--ray", RAY).stdout
    check("4: primitive node 00000013  popped  offset 0x80" in text, text)
    check(text.splitlines()[-1].startswith("hit          t 3F800000 (1)"), text[-300:])
    listed = why(cube, "--max", "2")
    check_eq((len(listed["steps"]), listed["complete"], listed["result"]["primitive"]), (2, False, 8))


@case()
def any_image_and_ray_is_explained():
    dice = random.Random(12)
    path = os.path.join(FOLDER.name, "mutated.gfx12")
    with open(os.path.join(FOLDER.name, "cube.gfx12"), "rb") as file:
        original = file.read()
    for turn in range(60):
        data = bytearray(original)
        for _ in range(turn // 4):
            data[dice.randrange(len(data))] = dice.randrange(256)
        with open(path, "wb") as file:
            file.write(data)
        numbers = [f"{dice.uniform(-1, 2):.3f}" for _ in range(6)]
        if turn % 5 == 0:
            numbers[dice.randrange(6)] = dice.choice(["nan", "inf", "-inf", "0", "-0", "0x7FC00001"])
        result = facet("why", path, "--ray", " ".join(numbers), "--json", "--max", "50", "--flags",
                       str(dice.choice([0, dice.randrange(1024)])), "--profile",
                       dice.choice(["silicon", "gpurt"]))
        check(result.returncode == 0 or "traversal st" in result.stderr, result.stderr)
        report = json.loads(result.stdout)
        for step in report["steps"]:
            check_step(step)


@case()
def cycles_end():
    path = os.path.join(FOLDER.name, "cycle.gfx12")
    words = WORDS[:32]
    words[6] = 0x007F7F7F  # one child: the node itself
    words[8:11] = [0, 0xFFFFF000, 0x15FFFFFF]
    with open(path, "wb") as file:
        file.write(struct.pack("<32I", *words))
    result = facet("why", path, "--ray", RAY, "--max", "3")
    check_eq(result.returncode, 2, "exit code")
    check("traversal stopped after 1048576 nodes" in result.stderr, result.stderr)
    check("... and 1048573 more nodes" in result.stdout, result.stdout[-200:])


@case()
def bad_input_is_refused():
    for words, message in (
            ((IMAGE,), "expected --ray"),
            ((IMAGE, "--ray", "1 2 3"), "3 numbers: expected 6"),
            ((IMAGE, "--ray", "1 2 3 4 5 6 7"), "7 numbers"),
            ((IMAGE, "--ray", "1 2 3 4 5 6 7 8 9"), "9 numbers"),
            ((IMAGE, "--ray", "1 2 x 4 5 6"), "\"x 4 5 6\" at character 5"),
            ((IMAGE, "--ray", "1 2 3 4 5 6e99"), "expected a number"),
            ((IMAGE, "--ray", "1 2 3 4 5 0x100000000"), "expected a number"),
            ((IMAGE, "--ray", "1 2 3 4 5 6mm"), "expected a number"),
            ((IMAGE, "--ray", RAY, "--node", "7"), "names no node"),
            ((IMAGE, "--ray", RAY, "--node", "0xFFFFFFFF"), "names no node"),
            ((IMAGE, "--ray", RAY, "--node", "0x1005"), "outside the image"),
            ((IMAGE, "--ray", RAY, "--node", "five"), "--node"),
            ((IMAGE, "--ray", RAY, "--root", "0x25"), "is not a node of the image"),
            ((IMAGE, "--ray", RAY, "--mask", "256"), "--mask"),
            ((IMAGE, "--ray", RAY, "--profile", "gfx9"), "--profile"),
            ((IMAGE + ".none", "--ray", RAY), "example12.gfx12.none")):
        result = facet("why", *words)
        check_eq(result.returncode, 2, f"exit code of {words[1:]}")
        check_eq(result.stdout, "", "output")
        check(message in result.stderr, result.stderr)


main("gfx12_why")
