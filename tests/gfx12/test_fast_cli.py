"""`facet bvh trace` and `facet bvh why` from outside: records, options, exit codes, bad files. The
values of `why` are computed again here, from the bytes of the image and rounding by struct."""
import json
import math
import os
import random
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples", "gfx12", "cube.obj")
NONE = 0xFFFFFFFF
INF = float("inf")
FOLDER = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(FOLDER.name, name)


def facet(*words, stdin=None):
    return subprocess.run([FACET, "bvh", *words], input=stdin, capture_output=True, timeout=120)


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)
    return path(name)


def build(name, *words, scene=CUBE):
    result = facet("build", scene, "-o", path(name), *words)
    check_eq(result.returncode, 0, "exit code of build")
    return path(name)


def ray_bytes(rays):
    return b"".join(struct.pack("<8f", *r) for r in rays)


def trace(image, rays, *words):
    rays = write("rays.bin", ray_bytes(rays))
    result = facet("trace", image, "--rays", rays, "-o", path("hits.bin"), *words)
    check_eq(result.returncode, 0, result.stderr)
    with open(path("hits.bin"), "rb") as file:
        data = file.read()
    return [struct.unpack("<3f5I", data[i:i + 32]) for i in range(0, len(data), 32)], result


def cube_faces(origin, direction):
    """Entry and exit of the unit cube, in binary64."""
    lo, hi = -INF, INF
    for o, d in zip(origin, direction):
        if d == 0:
            if not 0 <= o <= 1:
                return None
            continue
        a, b = (0 - o) / d, (1 - o) / d
        lo, hi = max(lo, min(a, b)), min(hi, max(a, b))
    return (lo, hi) if lo <= hi else None


@case("G12-252")
def a_cube_is_hit_where_it_is():
    image = build("cube.gfx12")
    random.seed(7)
    rays = []
    for _ in range(3000):
        o = [random.uniform(-3, 4) for _ in range(3)]
        rays.append((*o, 0, *[random.uniform(0, 1) - c for c in o], INF))
    hits, _ = trace(image, rays)
    check_eq(len(hits), len(rays), "records")
    for r, h in zip(rays, hits):
        faces = cube_faces(r[0:3], r[4:7])
        t = None if faces is None or faces[1] < 0 else faces[0] if faces[0] > 0 else faces[1]
        if faces is not None and faces[1] - faces[0] < 1e-3:
            continue  # grazing: binary32 may see it otherwise
        if t is None:
            check_eq((h[0], h[3], h[4], h[5], h[6], h[7]), (INF, NONE, NONE, NONE, NONE, 0))
        else:
            check(abs(h[0] - t) < 1e-5 * max(1, t), f"t {h[0]}, expected {t}")
            check(h[3] < 12 and h[4] == 0 and h[5] == 0 and h[6] == 0x16, f"record {h}")
            inside = all(0 < c < 1 for c in r[0:3])
            check_eq(h[7], 3 if inside else 1, "hit and back face")


@case()
def every_path_and_thread_count_gives_the_same_file():
    image = build("cube.gfx12")
    random.seed(3)
    rays = [[random.uniform(-2, 2) for _ in range(8)] for _ in range(5000)]
    want = None
    for words in (["--path", "reference"], ["--path", "portable"], ["--threads", "1"],
                  ["--threads", "2"], ["--threads", "4", "--stats"], ["--json"]):
        trace(image, rays, *words)
        with open(path("hits.bin"), "rb") as file:
            got = file.read()
        want = want or got
        check(got == want, f"hits differ with {words}")


@case()
def options_reach_the_rays():
    image = build("cube.gfx12")
    through = [(-1, 0.3, 0.4, 0, 1, 0.01, 0.02, INF)]
    near, _ = trace(image, through)
    check(abs(near[0][0] - 1) < 1e-6 and near[0][7] == 1, f"front: {near}")
    behind, _ = trace(image, [(-1, 0.3, 0.4, 1.5, 1, 0.01, 0.02, INF)])
    check(abs(behind[0][0] - 2) < 1e-6 and behind[0][7] == 3, f"tmin: {behind}")
    short, _ = trace(image, [(-1, 0.3, 0.4, 0, 1, 0.01, 0.02, 0.5)])
    check_eq((short[0][0], short[0][7]), (0.5, 0), "tmax")
    check_eq(trace(image, through, "--mask", "0")[0][0][7], 0, "mask")
    check_eq(trace(image, through, "--flags", "0x100")[0][0][7], 0, "triangles skipped")
    check_eq(trace(image, through, "--flags", "0x40")[0][0][7], 0, "opaque culled")
    check_eq(trace(image, through, "--any-hit")[0][0][7] & 1, 1, "any hit")


@case()
def statistics():
    image = build("cube.gfx12")
    rays = [(-1, 0.25, 0.5, 0, 1, 0.25, 0.125, INF), (2, 2, 2, 0, 1, 0, 0, INF)]
    _, result = trace(image, rays, "--json", "--threads", "1")
    data = json.loads(result.stdout)
    check_eq((data["rays"], data["hits"], data["threads"]), (2, 1, 1))
    # The first ray: TLAS root, instance, BLAS root, two pairs; the second: the TLAS root.
    check_eq((data["steps"], data["box_nodes"], data["pairs"], data["instance_nodes"]),
             (6, 3, 2, 1))
    check_eq(data["triangle_tests"], 4)
    _, result = trace(image, rays, "--stats")
    check(b"box nodes     3" in result.stdout, result.stdout)


@case()
def bad_input_is_refused():
    image = build("cube.gfx12")
    rays = write("rays.bin", ray_bytes([(0, 0, 0, 0, 1, 0, 0, 1)]))

    def refused(*words, message, stdin=None):
        if os.path.exists(path("out.bin")):
            os.remove(path("out.bin"))
        result = facet("trace", *words, stdin=stdin)
        check_eq(result.returncode, 2, f"exit code of {words}")
        check(message in result.stderr.decode(), f"{words}: {result.stderr.decode()}")
        check(not os.path.exists(path("out.bin")), "something was written")

    for size in (1, 31, 33, 100):
        cut = write("cut.bin", b"\0" * size)
        refused(image, "--rays", cut, "-o", path("out.bin"), message="records of 32 bytes")
    refused(image, "--rays", path("absent"), "-o", path("out.bin"), message="absent")
    refused(path("absent"), "--rays", rays, "-o", path("out.bin"), message="absent")
    refused(image, "--rays", rays, message="-o FILE")
    refused(image, "-o", path("out.bin"), message="--rays FILE")
    refused(image, "--rays", rays, "-o", path("out.bin"), "--mask", "256", message="mask")
    refused(image, "--rays", rays, "-o", path("no", ) + "/such/folder", message="")
    result = facet("trace", image, "--rays", write("empty.bin", b""), "-o", path("out.bin"))
    check_eq(result.returncode, 0, "no rays")
    check_eq(os.path.getsize(path("out.bin")), 0, "size")


@case()
def any_bytes_end():
    """Damaged and random images: an answer or exit code 2, never a crash or a long wait."""
    with open(build("cube.gfx12"), "rb") as file:
        good = file.read()
    random.seed(11)
    rays = write("rays.bin", ray_bytes(
        [[random.uniform(-2, 2) for _ in range(8)] for _ in range(200)]))
    for n in range(60):
        data = bytearray(good)
        if n % 3 == 0:
            data = bytearray(random.randbytes(random.choice([0, 5, 128, 640, 1000])))
        for _ in range(n % 7):
            if data:
                data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        result = facet("trace", write("bad.gfx12", bytes(data)), "--rays", rays, "-o",
                       path("hits.bin"), "--max-steps", "5000")
        check(result.returncode in (0, 2), f"exit code {result.returncode}")
    # A root that names itself: the limit is reached and said.
    loop = bytearray(128)
    struct.pack_into("<8I", loop, 0, 0, 0, 0, 0, 0, 0, 0x007F7F7F, 0x7F)
    struct.pack_into("<3I", loop, 32, 0, 0xFFFFF000, 0x05FFFFFF)
    inside = write("inside.bin", ray_bytes([(0.5, 0.5, -1, 0, 0, 0, 1, INF)] * 3000))
    result = facet("trace", write("loop.gfx12", bytes(loop)), "--rays", inside, "-o",
                   path("hits.bin"))
    check_eq(result.returncode, 2, "exit code")
    check(b"ray 0: traversal stopped after 65536 nodes" in result.stderr, result.stderr)


@case()
def other_base_and_root():
    with open(build("plain.gfx12"), "rb") as file:
        plain = file.read()
    rays = [(-1, 0.3, 0.4, 0, 1, 0.01, 0.02, INF)]
    want, _ = trace(path("plain.gfx12"), rays)
    moved = build("moved.gfx12", "--base", "0x100000")
    got, _ = trace(moved, rays, "--base", "0x100000")
    check_eq(got, want, "hits at another base")
    # The bottom level by itself starts at byte 256 (ID 0x25).
    check_eq(len(plain), 512)
    below = write("below.gfx12", plain[256:])
    got, _ = trace(below, rays)
    check_eq((got[0][0], got[0][3], got[0][5], got[0][6]), (want[0][0], want[0][3], NONE, NONE))
    behind = write("behind.gfx12", bytes(256) + plain)
    result = facet("trace", behind, "--rays", path("rays.bin"), "-o", path("hits.bin"),
                   "--root", "0x25")
    check_eq(result.returncode, 0, "exit code")


# ---- why ----

def f32(x):
    """Rounds binary64 to binary32; one operation on binary32 values is then correctly rounded."""
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def value(real):
    return struct.unpack("<f", struct.pack("<I", int(real["bits"], 16)))[0]


def values(vector):
    return [value(x) for x in vector]


def why(image, ray, *words):
    result = facet("why", image, "--ray", ray, "--json", *words)
    check_eq(result.returncode, 0, result.stderr)
    return json.loads(result.stdout)


def check_slot(visit, slot):
    origin = values(visit.get("turned_origin") or visit.get("object_origin") or visit["origin"])
    inverse = values(visit["inverse"])
    near, far = [], []
    for k, axis in enumerate(slot["axes"]):
        lo, hi = value(slot["lo"][k]), value(slot["hi"][k])
        check_eq(value(axis["lo_minus_origin"]), f32(lo - origin[k]))
        check_eq(value(axis["hi_minus_origin"]), f32(hi - origin[k]))
        check_eq(value(axis["a"]), f32(value(axis["lo_minus_origin"]) * inverse[k]))
        check_eq(value(axis["b"]), f32(value(axis["hi_minus_origin"]) * inverse[k]))
        check_eq(axis["near"], "a" if inverse[k] >= 0 else "b")
        pair = [value(axis["a"]), value(axis["b"])]
        near.append(pair[0] if axis["near"] == "a" else pair[1])
        far.append(pair[1] if axis["near"] == "a" else pair[0])
    check_eq(value(slot["min_t"]), max(max(near), 0))
    check_eq(value(slot["max_t"]), min(min(far), value(visit["extent"])))
    check_eq(slot["hit"], value(slot["min_t"]) <= value(slot["max_t_grown"]))


def cross(a, b):
    return [f32(f32(a[(k + 1) % 3] * b[(k + 2) % 3]) - f32(a[(k + 2) % 3] * b[(k + 1) % 3]))
            for k in range(3)]


def dot(a, b):
    return f32(f32(f32(a[0] * b[0]) + f32(a[1] * b[1])) + f32(a[2] * b[2]))


def check_triangle(visit, tri):
    o, d = values(visit["origin"]), values(visit["direction"])
    v0, v1, v2 = (values(c) for c in tri["corners"])
    e1 = [f32(a - b) for a, b in zip(v1, v0)]
    e2 = [f32(a - b) for a, b in zip(v2, v0)]
    e3 = [f32(a - b) for a, b in zip(o, v0)]
    s1, s2 = cross(d, e2), cross(e3, e1)
    for name, want in (("e1", e1), ("e2", e2), ("e3", e3), ("s1", s1), ("s2", s2)):
        check_eq(values(tri[name]), want, name)
    for name, want in (("tn", dot(e2, s2)), ("det", dot(s1, e1)), ("un", dot(e3, s1)),
                       ("vn", dot(d, s2))):
        check_eq(value(tri[name]), want, name)
    if value(tri["det"]) != 0:
        check_eq(value(tri["t"]), f32(value(tri["tn"]) / value(tri["det"])), "t")
        check_eq(value(tri["u"]), f32(value(tri["un"]) / value(tri["det"])), "u")
        check_eq(value(tri["v"]), f32(value(tri["vn"]) / value(tri["det"])), "v")


@case("G12-195 G12-199")
def why_shows_the_arithmetic():
    image = build("cube.gfx12")
    slots = triangles = 0
    for text in ("-1 0.25 0.5 1 0.25 0.125 0 inf", "0.5 0.3 4 0.125 0.0625 -1 0 5",
                 "3 3 3 -1 -0.9375 -1.0625 0.5 100"):
        data = why(image, text)
        for visit in data["visits"]:
            for slot in visit.get("children", []):
                check_slot(visit, slot)
                slots += 1
            for tri in visit.get("triangles", []):
                check_triangle(visit, tri)
                triangles += 1
        numbers = [float(x) for x in text.split()]
        ray = [*numbers[0:3], numbers[6], *numbers[3:6], numbers[7]]
        hits, _ = trace(image, [ray])
        check(data["hit"]["found"] and value(data["hit"]["t"]) == hits[0][0], "the same hit")
        check_eq(data["hit"]["primitive"], hits[0][3])
    check(slots > 15 and triangles >= 6, f"{slots} slots, {triangles} triangles")


@case()
def why_as_text_and_for_one_node():
    image = build("cube.gfx12")
    ray = "-1 0.25 0.5 1 0.25 0.125 0 inf"
    text = facet("why", image, "--ray", ray).stdout.decode()
    for word in ("step 1: box node 00000005", "instance node 00000016", "primitive node 00000012",
                 "lo - o = ", "det ", "push      RETURN", "pop ", "committed: ",
                 "hit: primitive 8 of geometry 0", "3F800000 (1)"):
        check(word in text, f"{word!r} is not in the text")
    data = why(image, ray, "--node", "0x12")
    check_eq((data["visited"], len(data["visits"])), (True, 1))
    data = why(image, ray, "--node", "0x10")
    check_eq((data["visited"], len(data["visits"])), (False, 1))
    same = why(image, "#BF800000 #3E800000 0.5 0x1p0 0.25 0.125")
    check_eq(same["hit"], why(image, ray)["hit"], "bits and hexadecimal floats")


@case()
def why_refuses_bad_rays():
    image = build("cube.gfx12")
    for ray in ("", "1 2 3", "1 2 3 4 5 6 7", "1 2 3 4 5 6 7 8 9", "a b c d e f", "1 2 3 4 5 #xyz"):
        result = facet("why", image, "--ray", ray)
        check_eq(result.returncode, 2, f"exit code for {ray!r}")
        check(b"expected six or eight numbers" in result.stderr, result.stderr)
    check_eq(facet("why", image).returncode, 2, "no ray")


main("fast_cli")
