"""`facet bvh trace` from outside: worked example 12, rays against every triangle of a small mesh in
double precision, thread counts, flags, files of many rays and pipes, and files that are no rays or no images."""
import json
import math
import os
import random
import struct
import subprocess
import tempfile
import time

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples/gfx12/cube.obj")
NONE = 0xFFFFFFFF


def facet(*words):
    return subprocess.run([FACET, *map(str, words)], capture_output=True, text=True, timeout=600)


def trace(folder, image, rays, *options):
    source, target = os.path.join(folder, "rays.bin"), os.path.join(folder, "hits.bin")
    with open(source, "wb") as f:
        for ray in rays:
            f.write(struct.pack("<8f", *ray))
    result = facet("bvh", "trace", image, "--rays", source, "-o", target, *options)
    check_eq(result.returncode, 0, "exit code (%s)" % result.stderr)
    with open(target, "rb") as f:
        data = f.read()
    check_eq(len(data), 32 * len(rays), "bytes of hits")
    return [struct.unpack_from("<3f5I", data, 32 * i) for i in range(len(rays))], result.stdout


def built(folder, scene, *options):
    image = os.path.join(folder, "scene.gfx12")
    check_eq(facet("bvh", "build", scene, "-o", image, "--quiet", *options).returncode, 0, "build")
    return image


# Origin and direction of worked example 12; the cube of the example lies in a TLAS of its own here.
EXAMPLE = (-1, .25, .5, 0, 1, .25, .125, math.inf)


@case()
def the_ray_of_worked_example_12():
    with tempfile.TemporaryDirectory() as folder:
        image = built(folder, CUBE)
        (hit, miss), text = trace(folder, image, [EXAMPLE, (9, 9, 9, 0, 1, 0, 0, math.inf)], "--stats")
        check_eq(hit[:5], (1.0, .125, .5, 8, 0), "t, u, v, primitive, geometry")
        check_eq(hit[5], 0, "user data of the instance")
        check_eq(hit[7], 1, "flags: hit, front")
        check_eq(miss, (math.inf, 0, 0, NONE, NONE, NONE, NONE, 0), "a miss")
        check("2, 1 hit\n" in text, "figures: " + text)


@case("G12-296")
def an_instance_below_an_instance():
    """The cube of example 12 at half the size below a second TLAS: its ray hits at the same t from half as far away."""
    with tempfile.TemporaryDirectory() as folder:
        with open(built(folder, CUBE, "--quality", "contract"), "rb") as f:
            cube = f.read()
        outer = bytearray(cube[:0x100])
        for k in (0, 5, 10):  # world_to_object
            struct.pack_into("<f", outer, 0x80 + 4 * k, 2.0)
        pointer, = struct.unpack_from("<Q", outer, 0x80 + 48)
        struct.pack_into("<Q", outer, 0x80 + 48, pointer >> 45 << 45 | 0x100 // 8)
        inner = bytearray(cube)
        pointer, = struct.unpack_from("<Q", inner, 0x80 + 48)
        struct.pack_into("<Q", inner, 0x80 + 48, pointer >> 45 << 45 | 0x200 // 8)
        image = os.path.join(folder, "nested.gfx12")
        with open(image, "wb") as f:
            f.write(outer + inner)
        ray = tuple(x / 2 for x in EXAMPLE[:3]) + (0,) + tuple(x / 2 for x in EXAMPLE[4:7]) + (math.inf,)
        for options in ((), ("--plain",)):
            (hit,), _ = trace(folder, image, [ray], *options)
            check_eq(hit[:5], (1.0, .125, .5, 8, 0), "t, u, v, primitive, geometry")
        why = facet("bvh", "why", image, "--ray", " ".join(map(str, ray[:3] + ray[4:7])), "--expect", "8")
        check_eq(why.returncode, 0, why.stdout)
        found = json.loads(facet("bvh", "check", image, "--json").stdout)["findings"]
        check_eq([f["severity"] for f in found if f["rule"] == "V53"], ["warning"], "instances below instances")
        result = facet("bvh", "trace", image, "--rays", os.path.join(folder, "rays.bin"), "-o", os.path.join(folder, "x"),
                       "--stack", "16")
        check_eq(result.returncode, 1, "a short stack")
        check("1 instance lies below instances" in result.stderr, result.stderr)
        for words, told in (([image], True), ([built(folder, CUBE)], False)):
            result = facet("gfx12", "run", *words, "--ray", " ".join(map(str, ray[:3] + ray[4:7])))
            check_eq(("1 instance lies below instances" in result.stderr, result.returncode), (told, 0), result.stderr)


def triangle_test(o, d, a, b, c):
    e1 = [b[k] - a[k] for k in range(3)]
    e2 = [c[k] - a[k] for k in range(3)]
    e3 = [o[k] - a[k] for k in range(3)]
    cross = lambda p, q: [p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]]
    dot = lambda p, q: sum(x * y for x, y in zip(p, q))
    s1, s2 = cross(d, e2), cross(e3, e1)
    det = dot(s1, e1)
    if det == 0:
        return None
    t, u, v = dot(e2, s2) / det, dot(e3, s1) / det, dot(d, s2) / det
    if min(u, v, 1 - u - v) < 0 or t <= 0:
        return None
    return t, min(u, v, 1 - u - v)


@case()
def closest_hits_are_those_of_every_triangle_tested():
    rng = random.Random(5)
    number = lambda: struct.unpack("<f", struct.pack("<f", rng.uniform(-1, 1)))[0]
    points = [[number() for _ in range(3)] for _ in range(120)]
    faces = [[3 * i, 3 * i + 1, 3 * i + 2] for i in range(40)]
    with tempfile.TemporaryDirectory() as folder:
        scene = os.path.join(folder, "soup.obj")
        with open(scene, "w") as f:
            f.writelines("v %.9g %.9g %.9g\n" % tuple(p) for p in points)
            f.writelines("f %d %d %d\n" % tuple(i + 1 for i in face) for face in faces)
        for quality in ("contract", "fast", "high"):
            image = built(folder, scene, "--quality", quality)
            rays = [[number() * 3 for _ in range(3)] + [0] + [number() for _ in range(3)] + [math.inf]
                    for _ in range(500)]
            hits, _ = trace(folder, image, rays)
            found = 0
            for ray, hit in zip(rays, hits):
                tests = [(triangle_test(ray[:3], ray[4:7], *(points[i] for i in face)), n)
                         for n, face in enumerate(faces)]
                best = min(((r[0], r[1], n) for r, n in tests if r), default=None)
                if best is None:
                    check_eq(hit[7] & 1, 0, "hit of a ray that meets nothing")
                elif best[1] > 1e-5:  # not at an edge
                    found += 1
                    check_eq(hit[3], best[2], "primitive")
                    check(abs(hit[0] - best[0]) <= 1e-5 * (1 + best[0]), "t %r, expected %r" % (hit[0], best[0]))
            check(found > 20, "rays that hit: %d" % found)


@case()
def threads_interval_any_hit_flags_and_mask():
    with tempfile.TemporaryDirectory() as folder:
        image = built(folder, CUBE)
        rng = random.Random(6)
        rays = [[rng.uniform(-1, 2) for _ in range(3)] + [0] + [rng.uniform(-1, 1) for _ in range(3)] + [math.inf]
                for _ in range(3000)]
        alone, _ = trace(folder, image, rays, "--threads", 1)
        check_eq(trace(folder, image, rays, "--threads", 4)[0], alone, "hits of four threads")
        some, _ = trace(folder, image, rays, "--any-hit")
        check_eq([h[7] & 1 for h in some], [h[7] & 1 for h in alone], "which rays hit at all")
        ray = list(EXAMPLE)
        ray[3] = 1.5  # behind the first face: the hit is the far one
        check_eq(trace(folder, image, [ray])[0][0][0], 2.0, "t with tmin 1.5")
        ray[3], ray[7] = 0, .5
        check_eq(trace(folder, image, [ray])[0][0][7], 0, "flags with tmax 0.5")
        check_eq(trace(folder, image, [EXAMPLE], "--mask", 0)[0][0][7], 0, "flags with mask 0")
        check_eq(trace(folder, image, [EXAMPLE], "--flags", "0x100")[0][0][7], 0, "triangles skipped")
        _, text = trace(folder, image, [EXAMPLE], "--json")
        check_eq(json.loads(text)["hits"], 1, "hits in the JSON")


UNIT = 65536  # rays that are traced together


def written(path, data):
    with open(path, "wb") as f:
        f.write(data)
    return path


def read(path):
    with open(path, "rb") as f:
        return f.read()


def around(count):
    """Rays to a cube and past it."""
    rng = random.Random(8)
    return b"".join(struct.pack("<8f", rng.uniform(-1, 2), rng.uniform(-1, 2), -3, 0, rng.uniform(-.1, .1), .01, 1, 99)
                    for _ in range(count))


@case()
def files_of_many_rays():
    """Several units and a part of one: the hits of small files, in order, whatever the way in and out."""
    with tempfile.TemporaryDirectory() as folder:
        image, source, target = built(folder, CUBE), os.path.join(folder, "rays"), os.path.join(folder, "hits")
        data = around(2 * UNIT + 12345)
        words = ["bvh", "trace", image, "--stats", "--quiet"]
        hits, sums = b"", {"hits": 0, "steps": 0}
        for at in range(0, len(data), 32 * 50000):
            told = json.loads(facet(*words, "--json", "--rays", written(source, data[at:at + 32 * 50000]), "-o", target).stdout)
            hits += read(target)
            sums = {key: value + told[key] for key, value in sums.items()}
        check(UNIT // 4 < sums["hits"] < 2 * UNIT, f"figures {sums}")
        written(source, data)
        for threads in (1, 2, 3):
            told = json.loads(facet(*words, "--json", "--rays", source, "-o", target, "--threads", threads).stdout)
            check_eq({key: told[key] for key in sums}, sums, f"figures of {threads} threads")
            check(read(target) == hits, f"hits of {threads} threads")
        piped = subprocess.run([FACET, "bvh", "trace", image, "--rays", "-", "-o", "-"], input=data, capture_output=True, timeout=600)
        check(piped.returncode == 0 and piped.stdout == hits, f"pipes: {piped.stderr}")
        os.mkfifo(target + ".fifo")
        with open(target, "wb") as copy, subprocess.Popen(["cat", target + ".fifo"], stdout=copy):
            check_eq(facet(*words, "--rays", source, "-o", target + ".fifo").returncode, 0, "into a pipe with a name")
        check(read(target) == hits, "hits of the pipe")
        for k in (1, 2):
            check_eq(facet(*words, "--rays", source, "-o", f"{target}.{k}", "--part", f"{k}/2").returncode, 0, "part")
        check_eq(facet("join", target + ".1", target + ".2", "-o", target + ".joined").returncode, 0, "join")
        check(read(target + ".joined") == hits, "joined hits")
        for _ in range(2):
            check_eq(facet(*words, "--rays", source, "-o", target, "--resume", target + ".units").returncode, 0, "resume")
            check(read(target) == hits, "resumed hits")


@case()
def a_late_failure_leaves_nothing():
    """Rays beside the cube visit one node; one in the last unit, and one more after it, need others."""
    with tempfile.TemporaryDirectory() as folder:
        image, source, target = built(folder, CUBE), os.path.join(folder, "rays"), os.path.join(folder, "hits")
        miss, hit = struct.pack("<8f", 9, 9, 9, 0, 1, 0, 0, 9), struct.pack("<8f", *EXAMPLE)
        late = 2 * UNIT + 321
        data = miss * late + hit + miss * 5 + hit
        words = ["bvh", "trace", image, "--quiet", "--max-steps", 1]
        written(source, data)
        before = sorted(os.listdir(folder)) + ["hits"]
        for old in (None, b"old"):
            if old is not None:
                written(target, old)
            for threads in (1, 2):
                result = facet(*words, "--rays", source, "-o", target, "--threads", threads)
                check_eq((result.returncode, result.stdout), (2, ""), result.stderr)
                check(f"bvh trace: ray {late}: traversal stopped after 1 nodes" in result.stderr, result.stderr)
            check(set(os.listdir(folder)) <= set(before), f"left behind: {os.listdir(folder)}")
            check(old is None or read(target) == old, "the old file")
        piped = subprocess.run([FACET, *map(str, words), "--rays", source, "-o", "-"], capture_output=True, timeout=600)
        check_eq((piped.returncode, piped.stdout), (2, b""), "standard output")
        written(source, data + bytes(7))
        for rays in (source, "-"):
            with open(source, "rb") as f:
                result = subprocess.run([FACET, "bvh", "trace", image, "--rays", rays, "-o", target], stdin=f,
                                        capture_output=True, text=True, timeout=600)
            check_eq(result.returncode, 2, result.stderr)
            check(f"{rays}: {len(data) + 7} bytes; expected rays of 32 bytes, the last one at offset {len(data)} is cut off"
                  in result.stderr, result.stderr)
        check_eq(read(target), b"old", "the old file")


@case()
def rays_have_no_limit_of_size():
    """1.1 GiB of zeros, of which the file system stores none: the first ray fails, not the file."""
    with tempfile.TemporaryDirectory() as folder:
        image, source = built(folder, CUBE), written(os.path.join(folder, "rays"), b"")
        os.truncate(source, 9 * 2**27)
        result = facet("bvh", "trace", image, "--rays", source, "-o", os.path.join(folder, "hits"), "--max-steps", 1)
        check_eq(result.returncode, 2, result.stderr)
        check("ray 0: traversal stopped" in result.stderr, result.stderr)


def tracing(words, source):
    """A process that has rays open."""
    child = subprocess.Popen([FACET, *words], stderr=subprocess.PIPE, text=True)
    folder, began = f"/proc/{child.pid}/fd", time.monotonic()
    while time.monotonic() < began + 60 and child.poll() is None:
        for name in os.listdir(folder):
            try:
                if os.readlink(os.path.join(folder, name)) == source:
                    return child
            except FileNotFoundError:
                continue  # closed meanwhile
        time.sleep(.001)
    child.kill()
    check(False, "no rays were opened: " + child.communicate()[1])


@case()
def rays_that_change_meanwhile_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        image, source, target = built(folder, CUBE), os.path.join(folder, "rays"), os.path.join(folder, "hits")
        for size in (32 * 1000, 0, 32 * 50_000_001):
            written(source, b"")
            os.truncate(source, 32 * 50_000_000)  # many seconds
            child = tracing(["bvh", "trace", image, "--rays", source, "-o", target, "--plain", "--threads", "1", "--quiet"], source)
            os.truncate(source, size)
            errors = child.communicate(timeout=60)[1]
            check_eq(child.returncode, 2, errors)
            check_eq(errors, f"facet bvh trace: {source}: was changed while it was read\n", "the message")
            check_eq(sorted(os.listdir(folder)), ["rays", "scene.gfx12"], "files")


@case()
def bad_files_are_refused_and_nothing_is_written():
    with tempfile.TemporaryDirectory() as folder:
        image, target = built(folder, CUBE), os.path.join(folder, "out.bin")
        rays = os.path.join(folder, "rays")
        with open(rays, "wb") as f:
            f.write(bytes(33))
        result = facet("bvh", "trace", image, "--rays", rays, "-o", target)
        check_eq(result.returncode, 2, "exit code")
        check("offset 32" in result.stderr, result.stderr)
        for words in ((image, "--rays", rays + "x", "-o", target), (image, "-o", target),
                      (image, "--rays", rays), (rays + "y", "--rays", rays, "-o", target)):
            check_eq(facet("bvh", "trace", *words).returncode, 2, "exit code of %r" % (words,))
        check(not os.path.exists(target), "a file was written")


@case()
def damaged_images_end():
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        with open(built(folder, CUBE), "rb") as f:
            good = f.read()
        rays = os.path.join(folder, "rays.bin")
        with open(rays, "wb") as f:
            f.write(struct.pack("<8f", *EXAMPLE) * 50)
        for n in range(40):
            data = bytearray(good)
            for _ in range(1 + n % 20):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path = os.path.join(folder, "bad.gfx12")
            with open(path, "wb") as f:
                f.write(data)
            result = facet("bvh", "trace", path, "--rays", rays, "-o", rays + ".out", "--max-steps", 100000)
            check(result.returncode in (0, 1, 2), "exit code %d" % result.returncode)


def soup(folder, triangles):
    """Triangles in one another's way, so that stacks get deep."""
    rng = random.Random(11)
    path = os.path.join(folder, "soup.obj")
    with open(path, "w", encoding="utf-8") as f:
        for _ in range(triangles):
            middle = [rng.uniform(-1, 1) for _ in range(3)]
            for _ in range(3):
                f.write("v %f %f %f\n" % tuple(x + rng.gauss(0, .3) for x in middle))
        for i in range(triangles):
            f.write(f"f {3 * i + 1} {3 * i + 2} {3 * i + 3}\n")
    return path


@case("G12-264")
def a_short_stack_walks_back_to_the_same_hits():
    rng = random.Random(3)
    rays = [[rng.uniform(-2, 2) for _ in range(3)] + [0] + [rng.gauss(0, 1) for _ in range(3)] + [math.inf]
            for _ in range(2000)]
    with tempfile.TemporaryDirectory() as folder:
        image = built(folder, soup(folder, 600))
        want, _ = trace(folder, image, rays)
        check(sum(hit[7] & 1 for hit in want) > 500, "enough hits")
        walks = []
        for entries in (8, 9, 16, 31):
            for threads in (1, 3):
                hits, text = trace(folder, image, rays, "--stack", entries, "--threads", threads, "--json")
                data = json.loads(text)
                check_eq(hits, want, f"{entries} entries")
                check_eq((data["lost_walks"], data["stack_pushes"]), (0, 0))
            walks.append(data["walk_backs"])
        check(walks[0] > walks[1] > walks[2] >= walks[3] and walks[0] > 1000, f"walks back: {walks}")
        _, text = trace(folder, image, rays[:1], "--stack", 8, "--stats")
        check("stack            8 entries, " in text, text)


@case()
def a_walk_back_without_a_parent_is_told():
    rng = random.Random(3)
    rays = [[rng.uniform(-2, 2) for _ in range(3)] + [0] + [rng.gauss(0, 1) for _ in range(3)] + [math.inf]
            for _ in range(200)]
    with tempfile.TemporaryDirectory() as folder:
        image = built(folder, soup(folder, 600))
        walk = json.loads(facet("bvh", "dump", image, "--json").stdout)
        with open(image, "rb") as f:
            good = bytearray(f.read())
        for node in walk["nodes"]:
            if node["kind"] == "box":
                offset = int(node["offset"], 16)
                good[offset + 8:offset + 12] = b"\xff\xff\xff\xff"
        broken = os.path.join(folder, "broken.gfx12")
        with open(broken, "wb") as f:
            f.write(good)
        source = os.path.join(folder, "rays.bin")
        with open(source, "wb") as f:
            for ray in rays:
                f.write(struct.pack("<8f", *ray))
        done = facet("bvh", "trace", broken, "--rays", source, "-o", os.path.join(folder, "hits.bin"),
                     "--stack", 8, "--json")
        check_eq(done.returncode, 1, "exit code")
        check(json.loads(done.stdout)["lost_walks"] > 10, done.stdout)
        check("names no box as its parent" in done.stderr, done.stderr)
        done = facet("bvh", "trace", broken, "--rays", source, "-o", os.path.join(folder, "hits.bin"))
        check_eq(done.returncode, 0, "without --stack parents do not matter")


@case()
def stacks_of_other_sizes_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        image = built(folder, CUBE)
        for entries in ("7", "32", "x"):
            done = facet("bvh", "trace", image, "--rays", image, "-o", os.path.join(folder, "h"), "--stack", entries)
            check_eq(done.returncode, 2, entries)
            check("--stack" in done.stderr and "8 to 31" in done.stderr, done.stderr)


main("bvh_trace")
