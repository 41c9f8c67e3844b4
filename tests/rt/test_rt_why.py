"""`facet rt why` from outside. The oracles: the worked examples 13.1, 13.2 and 13.5 of
rt-semantics.md, read from the document and put into RT images here; and every step of sections 7, 8
and 11.4 done again in exact fractions, rounded by the few lines below."""
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
INF, NAN, SIGN = 0x7F800000, 0x7FC00000, 0x80000000
MODE_FP32 = 0x300000

with open(os.path.join(SOURCE, "spec", "rt-semantics.md"), encoding="utf-8") as _file:
    SPEC = _file.read()
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, text=True, timeout=600)


def why(image, ray, *words):
    result = facet("rt", "why", "--tiles", image, "--ray", ray, "--json", *words)
    check_eq(result.returncode, 0, result.stderr)
    return json.loads(result.stdout)


def bits(value):
    return int(value["bits"], 16)


def float_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


# ---- binary32 ----

class F32:
    """The primitives of numeric.md 10 in one rounding mode (0 RNE, 1 RTZ, 2 RDN, 3 RUP, 4 RMM)."""

    def __init__(self, mode):
        self.mode = mode

    def up(self, sign, twice, odd):
        """Whether a magnitude grows: twice = the rest against one half (-1, 0, 1; None: no rest)."""
        if twice is None:
            return False
        return {0: twice > 0 or (twice == 0 and odd), 1: False, 2: sign, 3: not sign,
                4: twice >= 0}[self.mode]

    def round(self, x, zero_sign=0):
        if x == 0:
            return zero_sign << 31
        sign, size = x < 0, abs(x)
        e = size.numerator.bit_length() - size.denominator.bit_length()
        e -= Fraction(2) ** e > size
        unit = Fraction(2) ** (max(e, -126) - 23)
        n = size // unit
        rest = size - n * unit
        twice = None if rest == 0 else (2 * rest > unit) - (2 * rest < unit)
        n += self.up(sign, twice, n & 1)
        if n * unit >= Fraction(2) ** 128:
            finite = {1: True, 2: not sign, 3: sign}.get(self.mode, False)
            return int(sign) << 31 | (0x7F7FFFFF if finite else INF)
        if n * unit < Fraction(2) ** -126:
            return int(sign) << 31 | int(n)
        e = (n.bit_length() - 24) if n.bit_length() > 24 else 0
        n, unit = n >> e, unit * 2 ** e
        exponent = (unit.numerator.bit_length() - unit.denominator.bit_length()) + 23 + 127
        return int(sign) << 31 | exponent << 23 | (int(n) & 0x7FFFFF)

    def sum(self, a, b):
        """a + b for (sign, Fraction) pairs of exact values."""
        total = a[1] + b[1]
        zero = a[0] if a[1] == b[1] == 0 and a[0] == b[0] else int(self.mode == 2)
        return self.round(total, zero)

    def add(self, a, b):
        return self.sum(exact(a), exact(b))

    def sub(self, a, b):
        return self.add(a, b ^ SIGN)

    def mul(self, a, b):
        return self.round(value(a) * value(b), (a ^ b) >> 31)

    def div(self, a, b):
        if b & ~SIGN == 0:
            return INF | (a ^ b) & SIGN
        return self.round(value(a) / value(b), (a ^ b) >> 31)

    def fma(self, a, b, c):
        return self.sum(((a ^ b) >> 31, value(a) * value(b)), exact(c))

    def dp2(self, a, b, c, d):
        return self.sum(((a ^ b) >> 31, value(a) * value(b)),
                        ((c ^ d) >> 31 ^ 1, -value(c) * value(d)))


def value(word):
    return Fraction(struct.unpack("<f", struct.pack("<I", word))[0])


def exact(word):
    return word >> 31, value(word)


def key(word):
    """Orders numbers as FMIN and FMAX do: -0 below +0."""
    return -(word & ~SIGN) - 1 if word & SIGN else word


def less(a, b):
    return key(a) < key(b) and (a | b) & ~SIGN != 0


# ---- sections 7 and 8 ----

def check_box(f, ray, tmax, c):
    """The values and the outcome of a child that was tested."""
    low, high = [bits(x) for x in c["min"]], [bits(x) for x in c["max"]]
    if any(less(b, a) for a, b in zip(low, high)):
        check_eq((c["outcome"], c["rule"]), ("miss", "B4"))
        return
    tn, tf = [], []
    for a in range(3):
        o, d, got = ray["o"][a], ray["d"][a], c["axes"][a]
        inv = f.div(0x3F800000, d)
        check_eq(bits(got["inv"]), inv, "inv")
        check_eq(got["parallel"], inv & ~SIGN == INF)
        if got["parallel"]:
            inside = not less(o, low[a]) and not less(high[a], o)
            check_eq(got["inside"], inside)
            tn.append(INF | SIGN if inside else INF)
            tf.append(tn[-1] ^ SIGN)
        else:
            near, far = (high[a], low[a]) if d & SIGN else (low[a], high[a])
            for name, plane, times in (("near", near, tn), ("far", far, tf)):
                distance = f.sub(plane, o)
                check_eq(bits(got[name]), plane, name)
                check_eq(bits(got[name + "_minus_o"]), distance, name + " - o")
                times.append(f.mul(distance, inv))
        check_eq((bits(got["tn"]), bits(got["tf"])), (tn[a], tf[a]), f"axis {a}")
    near, far = max(tn, key=key), min(tf, key=key)
    cn, cf = max(near, ray["tmin"], key=key), min(far, tmax, key=key)
    check_eq([bits(c[n]) for n in ("tn", "tf", "cn", "cf")], [near, far, cn, cf])
    hit = not less(cf, cn)
    check_eq((c["outcome"], c["rule"]), ("hit", "B7") if hit else ("miss", "B6"))


def check_triangle(f, ray, tmax, t, cull=False, eps=0):
    """T3 to T11; returns (t, u, v) of a hit, else None."""
    d, o = ray["d"], ray["o"]

    def ends(rule, outcome="miss"):
        check_eq((t["rule"], t["outcome"]), (rule, outcome))

    if all(x & ~SIGN == 0 for x in d):
        return ends("T3")
    kz = max(range(3), key=lambda a: (d[a] & ~SIGN, -a))
    kx, ky = (kz + 1) % 3, (kz + 2) % 3
    if d[kz] & SIGN:
        kx, ky = ky, kx
    check_eq(t["axes"], ["xyz"[kx], "xyz"[ky], "xyz"[kz]])
    s = [f.div(d[kx], d[kz]), f.div(d[ky], d[kz]), f.div(0x3F800000, d[kz])]
    check_eq([bits(t[n]) for n in ("Sx", "Sy", "Sz")], s)
    x, y, q = [], [], []
    for got in t["vertices"]:
        p = [f.sub(bits(c), o[a]) for a, c in enumerate(got["corner"])]
        x.append(f.fma(s[0] ^ SIGN, p[kz], p[kx]))
        y.append(f.fma(s[1] ^ SIGN, p[kz], p[ky]))
        q.append(p[kz])
        check_eq([bits(c) for c in got["minus_o"]], p)
        check_eq([bits(got[n]) for n in "XYQ"], [x[-1], y[-1], q[-1]])
    e = [f.dp2(x[2], y[1], y[2], x[1]), f.dp2(x[0], y[2], y[0], x[2]),
         f.dp2(x[1], y[0], y[1], x[0])]
    check_eq([bits(t[n]) for n in "UVW"], e)
    below, above = any(value(w) < 0 for w in e), any(value(w) > 0 for w in e)
    if below and (cull or above):
        return ends("T7")
    uv = f.add(e[0], e[1])
    det = f.add(uv, e[2])
    check_eq((bits(t["U_plus_V"]), bits(t["det"])), (uv, det))
    if det & ~SIGN <= eps << 23:
        return ends("T8")
    z = [f.mul(s[2], w) for w in q]
    check_eq([bits(v["Z"]) for v in t["vertices"]], z)
    wz = f.mul(e[2], z[2])
    vz = f.fma(e[1], z[1], wz)
    total = f.fma(e[0], z[0], vz)
    check_eq([bits(t[n]) for n in ("W_times_Z2", "plus_V_times_Z1", "T")], [wz, vz, total])
    at = f.div(total, det)
    at = 0 if at & ~SIGN == 0 else at
    check_eq(bits(t["t"]), at)
    check_eq(t["front"], value(det) > 0)
    if less(at, ray["tmin"]) or less(tmax, at):
        return ends("T10")
    ends("T11", "hit")
    u, v = f.div(e[1] & ~SIGN, det & ~SIGN), f.div(e[2] & ~SIGN, det & ~SIGN)
    check_eq((bits(t["u"]), bits(t["v"])), (u, v))
    return at, u, v


# ---- section 11.4 ----

def check_job(data, mode=0, cull=False, any_hit=False, eps=0):
    """Walks along the events: every value, the order, and the result. Returns the best hit."""
    f = F32(mode)
    ray = {n: [bits(x) for x in data["ray"][n]] for n in "od"}
    ray["tmin"], tm = bits(data["ray"]["tmin"]), bits(data["ray"]["tmax"])
    check(data["complete"] and data["result"]["agrees"], "complete and agreeing")
    stack, best, events = [("node", 0, INF | SIGN)], None, iter(data["events"] + [None])
    event, boxes, tests = next(events), 0, 0
    while stack and not (best and any_hit):
        entry = stack.pop()
        check_eq((event["event"], event["type"], event["index"], bits(event["tn"]),
                  bits(event["tm"]), event["depth"]), ("pop", *entry, tm, len(stack)))
        check_eq(event["entered"], not less(tm, entry[2]))
        entered, event = event["entered"], next(events)
        if not entered:
            continue
        if entry[0] == "node":
            kept = []
            while event["event"] in ("tile", "child"):
                if event["event"] == "child" and event["type"] != "empty":
                    boxes += 1
                    check_box(f, ray, tm, event)
                    if event["outcome"] == "hit":
                        kept.append((key(bits(event["cn"])), event["child"], event))
                event = next(events)
            kept.sort(key=lambda k: (k[0] if k[0] != -1 else 0, k[1]))
            check_eq((event["event"], event["children"]), ("sort", [k[1] for k in kept]))
            event = next(events)
            for _, _, child in reversed(kept):
                stack.append((child["type"], child["index"], bits(child["cn"])))
                check_eq((event["event"], event["type"], event["index"], bits(event["tn"]),
                          event["depth"]), ("push", *stack[-1], len(stack)))
                event = next(events)
            continue
        check_eq(event["event"], "range")
        first, count = event["first"], event["count"]
        event = next(events)
        for k in range(first, first + count):
            tests += 1
            check_eq((event["event"], event["triangle"], bits(event["tmax"])), ("triangle", k, tm))
            hit = check_triangle(f, ray, tm, event, cull, eps)
            better = hit and (best is None or less(hit[0], best[0]) or (k, entry[1]) < best[3:5])
            if better:
                best, tm = (*hit, k, entry[1], event["front"]), hit[0]
            check_eq(bool(hit) and not better, event["choice"].startswith("refused"))
            event = next(events)
            if better and any_hit:
                break
    check_eq(event, None, "an event after the last")
    result = data["result"]
    check_eq((result["hit"], result["boxes"], result["triangles"]), (best is not None, boxes, tests))
    if best:
        check_eq((result["triangle"], result["leaf"], result["front"]), best[3:6])
    return best


# ---- images ----

def image(name, heap, triangles, mode=MODE_FP32, children=4):
    """An RT image of FP32 triangles (docs/rt-images.md)."""
    buffer = b"".join(struct.pack("<9I", *t) for t in triangles)
    heap += bytes(-len(heap) % 64)
    tris = 128 + len(heap)
    origins = tris + len(buffer) + -len(buffer) % 64
    head = struct.pack("<8sIIII6Q2Q4I", b"XPHMGBVH", 1, 128, children, 0, mode, 0, 128, len(heap),
                       tris, len(buffer), origins, 8 * len(triangles), 0, 1, 0, len(triangles))
    data = head + bytes(128 - len(head)) + heap + buffer + bytes(-len(buffer) % 64)
    data += b"".join(struct.pack("<II", 0, k) for k in range(len(triangles)))
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def hex_words(text):
    return [int(w, 16) for w in re.findall(r"\b[0-9a-f]{8}\b", text)]


def examples(section):
    """(name, case, columns) of the table of a section."""
    text = SPEC.split("### " + section)[1].split("###")[0]
    rows = [[c.strip() for c in line.strip("|\n ").split("|")]
            for line in text.splitlines() if line.startswith("| X")]
    return [(r[0], r[1], r[2:]) for r in rows]


MODES = ["RNE", "RTZ", "RDN", "RUP", "RMM"]


def mode_of(text):
    return next((m for m in MODES if re.search(rf"\b{m}\b", text)), "RNE").lower()


def ray_text(words, w=None):
    return " ".join(f"0x{x:08x}" for x in words + ([w] if w is not None else []))


@case("RT-135 RT-139 RT-147 RT-148 RT-149 RT-151")
def the_examples_of_boxes():
    rows = examples("13.1")
    check(len(rows) >= 19, "the table was not found")
    for name, text, (ray, box, hit, near, far, flags) in rows:
        tile = struct.pack("<6I", *hex_words(box)) + bytes(0x70 - 24) + struct.pack("<4I", 0, 0, 0, 2)
        flagged = ["t_clamp"] if "T_CLAMP=1" in text else ["w_guard"] if "W_GUARD" in text else []
        data = why(image("box.tiles", tile, []),
                   ray_text(hex_words(ray), SIGN if flagged == ["w_guard"] else None),
                   "--tile", "0x80", "--rm", mode_of(text), "--flags", ",".join(flagged))
        child = data["children"][0]
        check_eq([int(x, 16) for x in child["registers"]],
                 [int(hit), *hex_words(near), *hex_words(far)], name)
        check_eq(sorted(child["flags"]), sorted([] if flags == "none" else flags.split()), name)
        check_eq([c["rule"] for c in data["children"][1:]], ["B1"] * 3)
        if child["rule"] >= "B4" and "Inf-Inf" not in text:
            wide = {n: [bits(x) for x in data["ray"][n]] for n in "od"}
            wide["tmin"] = bits(data["ray"]["tmin"])
            check_box(F32(MODES.index(mode_of(text).upper())), wide, bits(data["ray"]["tmax"]), child)


@case("RT-155 RT-163 RT-165 RT-166 RT-168")
def the_examples_of_triangles():
    rows = examples("13.2")
    check(len(rows) >= 18, "the table was not found")
    for name, text, (ray, vertices, edges, hit, t, u, v, flags) in rows:
        code = re.search(r"epsilon code (\d+)", text)
        words = (["--eps", code[1]] if code else []) + (
            ["--flags", "cull_back"] if "CULL_BACK=1" in text else [])
        mode = mode_of(text)
        data = why(image("tri.tiles", bytes(128), [hex_words(vertices)]), ray_text(hex_words(ray)),
                   "--triangle", 0, "--rm", mode, *words)
        triangle = data["triangle"]
        check_eq([int(x, 16) for x in triangle["registers"]],
                 [int(hit), *hex_words(t + " " + u + " " + v)], name)
        check_eq(sorted(triangle["flags"]), sorted([] if flags == "none" else flags.split()), name)
        if edges != "-":
            check_eq([bits(triangle[n]) for n in "UVW"], hex_words(edges), name)
            wide = {n: [bits(x) for x in data["ray"][n]] for n in "od"}
            wide["tmin"] = bits(data["ray"]["tmin"])
            check_triangle(F32(MODES.index(mode.upper())), wide, bits(data["ray"]["tmax"]), triangle,
                           "CULL_BACK=1" in text, int(code[1]) if code else 0)


def x24():
    """The heap of 13.5 as the document prints it, and its triangles."""
    text = SPEC.split("### 13.5")[1].split("## 14")[0]
    heap = bytearray(0xA0)
    for at, row in re.findall(r"^(10[0-9a-f]{2}): ((?:[0-9a-f]{2} ){15}[0-9a-f]{2})", text, re.M):
        heap[int(at, 16) - 0x1000:int(at, 16) - 0x1000 + 16] = bytes.fromhex(row)
    corners = re.findall(r"((?:\([-\d,]+\)){3})", text)
    triangles = [[float_bits(float(n)) for n in re.findall(r"-?\d+", c)] for c in corners]
    check_eq(len(triangles), 4, "triangles of X24")
    return image("x24.tiles", bytes(heap), triangles)


@case("RT-275")
def the_example_of_a_job():
    tiles = x24()
    a0 = why(tiles, "0.5 0.5 -3 0 0 1")
    check_eq(check_job(a0), (0x40400000, 0, 0x3F000000, 0, 8, False))
    order = [(e["event"], e.get("index", e.get("triangle"))) for e in a0["events"]
             if e["event"] in ("pop", "push", "triangle")]
    check_eq(order, [("pop", 0), ("push", 9), ("push", 8), ("pop", 8), ("triangle", 0),
                     ("triangle", 1), ("pop", 9)])
    check_eq(a0["events"][-1]["entered"], False)
    check_eq([e["choice"] for e in a0["events"] if e["event"] == "triangle"],
             ["the first hit of the ray",
              "refused: t of the best hit and no lower triangle or leaf index"])
    a1 = why(tiles, "-1.5 0.25 -3 0.125 0 1")
    check_eq(check_job(a1), (0x40C00000, 0x3EA00000, 0x3E800000, 3, 9, False))
    a2 = why(tiles, "5 5 -3 0 0 1")
    check_eq(check_job(a2), None)
    check_eq([e["event"] for e in a2["events"]], ["pop", "tile"] + ["child"] * 4 + ["sort"])
    check_eq(a0["result"]["flags"], ["DZ"])
    check_eq(sum(d["result"]["boxes"] for d in (a0, a1, a2)), 6)
    check_eq(sum(d["result"]["triangles"] for d in (a0, a1, a2)), 4)


@case("RT-264 RT-276")
def options_of_a_job():
    tiles = x24()
    any_hit = why(tiles, "0.5 0.5 -3 0 0 1", "--flags", "any_hit")
    check_eq(check_job(any_hit, any_hit=True)[3], 0)
    check_eq(any_hit["result"]["triangles"], 1)
    culled = why(tiles, "0.5 0.5 -3 0 0 1", "--flags", "cull_back")
    check_eq(check_job(culled, cull=True), None)
    packed = why(tiles, "0.5 0.5 -3 0 0 1", "--flags", "pack_hint")
    check_eq([packed["result"][n] for n in "tuv"], ["0x4200", "0x0", "0x3800"])
    guarded = why(tiles, "0.5 0.5 -3 0 0 1 0 inf 0", "--flags", "w_guard")
    check_eq((guarded["events"], guarded["result"]["hit"], guarded["result"]["nan"]),
             ([], False, False))
    nan = why(tiles, "0.5 nan -3 0 0 1")
    check_eq((nan["events"], nan["result"]["hit"], nan["result"]["nan"]), ([], False, True))
    for code, hit in ((126, True), (127, False)):  # |det| of the nearest triangles is 1
        data = why(tiles, "0.75 0.5 -3 0 0 1", "--eps", code, "--flags", "eps_ctl")
        check_eq(check_job(data, eps=code)[3] == 0, hit)


@case("RT-174 RT-184")
def random_rays_step_by_step():
    rng = random.Random(20260101)
    knot = path("knot.glb")
    check_eq(facet("scene", "make", "knot", "--size", 24, "-o", knot).returncode, 0)
    for number, words in enumerate((["xphmg4"], ["xphmg8"], ["xphmg4", "--ew", 16],
                                    ["xphmg8", "--ew", 16, "--quantized"])):
        tiles = path(f"knot{number}.tiles")
        result = facet("bvh", "build", knot, "-o", tiles, "--format", *words)
        check_eq(result.returncode, 0, result.stderr)
        for k in range(10):
            origin = [rng.uniform(-2, 2) for _ in range(3)]
            target = [rng.uniform(-0.5, 0.5) for _ in range(3)]
            d = [t - o for t, o in zip(target, origin)]
            if k == 0:
                d[rng.randrange(3)] = 0.0
            text = " ".join(f"{x!r}" for x in origin + d)
            if "--quantized" in words:  # the largest element is no infinity
                check_job(why(tiles, text))
            else:
                check_job(why(tiles, text, "--rm", MODES[k % 5].lower()), mode=k % 5)


@case()
def what_is_shown_is_limited():
    tiles = x24()
    data = why(tiles, "0.5 0.5 -3 0 0 1", "--max", 1)
    check_eq(data["complete"], False)
    check_eq(data["result"]["triangle"], 0)
    text = facet("rt", "why", "--tiles", tiles, "--ray", "0.5 0.5 -3 0 0 1", "--max", 2).stdout
    check("... and 1 more entries of the stack" in text, text[-300:])


@case()
def text_has_the_bits_and_the_rows():
    tiles = x24()
    text = facet("rt", "why", "--tiles", tiles, "--ray", "0.5 0.5 -3 0 0 1").stdout
    for wanted in ("pop node 0  tn FF800000 (-inf)  tm 7F800000 (inf)  depth 0  entered",
                   "cn 40400000 (3)", "(B5, RT-148)", "child 2  empty\n      miss: the child is empty (B1, RT-097)",
                   "sort by cn, then by number: child 1, child 0 (11.4, R-RT-35)",
                   "edges        U BF000000 (-0.5)  V 00000000 (0)  W BF000000 (-0.5)  (T6, RT-240)",
                   "hit: tmin <= t <= tmax (T11, RT-163 RT-166)",
                   "hit          triangle 0  instance 0  primitive 0  leaf 8  back  "
                   "t 40400000 (3)  u 00000000 (0)  v 3F000000 (0.5)"):
        check(wanted in text, f"{wanted!r} in\n{text}")


@case()
def bad_input_is_named():
    tiles = x24()
    with open(tiles, "rb") as file:
        good = file.read()
    ray = "0.5 0.5 -3 0 0 1"
    for words, wanted in (
            (["--ray", ray], "expected --tiles FILE"),
            (["--tiles", tiles], "expected --ray"),
            (["--tiles", tiles, "--ray", "1 2 3"], "3 numbers: expected 6"),
            (["--tiles", tiles, "--ray", "1 2 3 4 5 x"], '"x" at character 11'),
            (["--tiles", tiles, "--ray", ray + " 0 1 1"], "9 numbers: expected 6"),
            (["--tiles", tiles, "--ray", ray, "--flags", "t_clamp"], "a job has no such flag"),
            (["--tiles", tiles, "--ray", ray, "--flags", "x"], '"x": expected any_hit'),
            (["--tiles", tiles, "--ray", ray, "--tile", "0x88"], "offset 0x88: not where a tile"),
            (["--tiles", tiles, "--ray", ray, "--tile", "0x1000"], "outside the heap"),
            (["--tiles", tiles, "--ray", ray, "--tile", "0"], "outside the heap"),
            (["--tiles", tiles, "--ray", ray, "--triangle", "4"], "the image has 4"),
            (["--tiles", tiles, "--ray", ray, "--triangle", "1", "--tile", "2"], "one of them"),
            (["--tiles", tiles, "--ray", ray, "--mode", "0x80000"], "--mode: elements are FP16, expected a format"),
            (["--tiles", tiles, "--ray", ray, "--mode", "0x123456789"], "--mode: MODE is 0x123456789"),
            (["--tiles", tiles, "--ray", ray, "--alt", "0x7fffffffffffffff"], "--alt: ALT is 0x7fff"),
            (["--tiles", tiles, "--ray", ray, "--mode", "-1"], "--mode"),
            (["--tiles", path("absent"), "--ray", ray], "absent")):
        result = facet("rt", "why", *words)
        check_eq(result.returncode, 2, f"{words}: {result.stderr}")
        check(wanted in result.stderr, f"{wanted!r} in {result.stderr!r}")
    damage = (
        (0, b"x", "offset 0x0: the magic"),
        (0x80 + 0x70, struct.pack("<I", 99), "a TriRange outside the heap"),  # index of child 0
        (0x80 + 0x7C, struct.pack("<I", 9), "a tile outside the heap"),  # child 0 is a node
        (0x80 + 0x80 + 8, struct.pack("<Q", 64), "the base of a TriRange is 0x40, expected 0"),
        (0x80 + 0x80, struct.pack("<I", 3), "triangle 4, expected one below 4"))
    for at, data, wanted in damage:
        with open(path("bad.tiles"), "wb") as file:
            file.write(good[:at] + data + good[at + len(data):])
        for form in ([], ["--json"]):
            ray = "-1.5 0.25 -3 0.125 0 1" if "outside" in wanted else "0.5 0.5 -3 0 0 1"
            result = facet("rt", "why", "--tiles", path("bad.tiles"), "--ray", ray, *form)
            check_eq(result.returncode, 2, f"{wanted}: {result.stdout[-500:]}")
            check("bad.tiles" in result.stderr and wanted in result.stderr, result.stderr)


@case("RT-128")
def hierarchies_without_end():
    box = struct.pack("<6f", -9, -9, -9, 9, 9, 9)
    tile = box + bytes(0x70 - 24) + struct.pack("<4I", 0, 0, 0, 1)  # its only child is itself
    result = facet("rt", "why", "--tiles", image("loop.tiles", tile, []), "--ray", "0 0 -3 0 0 1",
                   "--max", 3)
    check_eq(result.returncode, 2)
    check("expected a hierarchy without cycles" in result.stderr, result.stderr)
    tile = box * 4 + bytes(0x70 - 96) + struct.pack("<4I", 0, 0, 0, 0x55)  # all four: the stack fills
    result = facet("rt", "why", "--tiles", image("tree.tiles", tile, []), "--ray", "0 0 -3 0 0 1")
    check_eq(result.returncode, 0, result.stderr)
    check("the job ends with EC_BVH" in result.stdout, result.stdout[-300:])


main("rt_why")
