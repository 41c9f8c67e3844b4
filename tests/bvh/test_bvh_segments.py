"""Images in pieces (--segment) and at any address: an image of several structures is cut at their starts, each part is
moved to an address of its own, and every command must say of the parts what it says of the whole."""
import json
import os
import random
import struct
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
HIGH = 0xFFFF << 48
NODE = 128
TLAS = 0x7F1234000140  # 64 modulo 128


def facet(*words):
    return subprocess.run([FACET, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def run(*words, code=0):
    result = facet(*words)
    check_eq(result.returncode, code, f"{words}: {result.stderr.decode()} {result.stdout.decode()[:2000]}")
    return result.stdout


def check_refused(result, *words):
    check_eq(result.returncode, 2, f"exit code, {result.stderr}")
    for word in words:
        check(word in result.stderr.decode(), f"{word!r} is not in {result.stderr!r}")
    check_eq(result.stdout, b"", "standard output")


def instances(image):
    """Offsets of the instance nodes of the TLAS at offset 0: children of type 6, found from the bytes."""
    found, ahead = [], [0]
    while ahead:
        at = ahead.pop()
        inner, leaves = struct.unpack_from("<II", image, at)
        count = (image[at + 27] >> 4) + 1
        for slot in range(count):
            dword = struct.unpack_from("<I", image, at + 32 + 12 * slot + 8)[0]
            kind, size = dword >> 24 & 15, dword >> 28
            if kind == 5:
                ahead.append(inner * 8)
                inner += size * 16
            else:
                check_eq(kind, 6, "type of a child of the TLAS")
                found.append(leaves * 8)
                leaves += size * 16
    return sorted(set(found))


class Parts:
    """tlas.bin, blas0.bin, ... of an image, moved apart."""

    def __init__(self, folder, seed=1, canonical=True, ordered=False):
        source = random.Random(seed)
        scene = os.path.join(folder, "scene.glb")
        self.whole = os.path.join(folder, "whole.gfx12")
        run("scene", "make", "instances", "--size", "3", "-o", scene)
        run("bvh", "build", scene, "-o", self.whole, "--quiet")
        image = bytearray(read(self.whole))
        nodes = instances(image)
        starts = sorted({(struct.unpack_from("<Q", image, at + 48)[0] & (1 << 45) - 1) * 8 for at in nodes})
        check(len(starts) == 3, f"{len(starts)} bottom levels")
        places = [(source.randrange(1, 1 << 41) << 6 | 1 << 47) & (1 << 48) - 1 for _ in starts]
        self.address = dict(zip(starts, sorted(places) if ordered else places))
        for at in nodes:
            pointer = struct.unpack_from("<Q", image, at + 48)[0]
            start = (pointer & (1 << 45) - 1) * 8
            pointer = pointer >> 45 << 45 | self.address[start] // 8
            struct.pack_into("<Q", image, at + 48, pointer)
        self.tlas = os.path.join(folder, "tlas.bin")
        write(self.tlas, image[:starts[0]])
        self.paths, self.segments = {self.tlas: TLAS}, []
        for number, start in enumerate(starts):
            path = os.path.join(folder, f"blas{number}.bin")
            write(path, image[start:(starts + [len(image)])[number + 1]])
            address = self.address[start] | (HIGH if canonical else 0)
            self.paths[path] = address
            self.segments += ["--segment", f"{path}@0x{address:x}"]
        self.all = ["--segment", f"{self.tlas}@0x{TLAS:x}", *self.segments]
        self.rays = os.path.join(folder, "rays.bin")
        boxes = json.loads(run("bvh", "dump", self.whole, "--json"))["nodes"][0]["decoded"]["children"]
        low, high = ([pick(box[side][k] for box in boxes) for k in range(3)] for side, pick in (("lo", min), ("hi", max)))
        rays = b""
        for _ in range(3000):  # from around the scene to somewhere in it
            target = [source.uniform(low[k], high[k]) for k in range(3)]
            start = [t + source.uniform(-9, 9) for t in target]
            rays += struct.pack("<8f", *start, 0, *(t - s for t, s in zip(target, start)), 1e30)
        write(self.rays, rays)


@case("G12-269")
def parts_answer_like_the_whole():
    with tempfile.TemporaryDirectory() as folder:
        for canonical in (True, False):
            parts = Parts(folder, canonical=canonical)
            out = [os.path.join(folder, name) for name in ("a.hits", "b.hits", "c.hits")]
            stats = run("bvh", "trace", parts.whole, "--rays", parts.rays, "-o", out[0], "--json")
            info = run("bvh", "info", parts.whole, "--json")
            checked = run("bvh", "check", parts.whole, "--json")
            for form in (parts.all, [parts.tlas, "--base", f"0x{TLAS:x}", *parts.segments]):
                check_eq(run("bvh", "info", *form, "--json"), info, "figures")
                check_eq(json.loads(run("bvh", "check", *form, "--json")), json.loads(checked), "findings")
                check_eq(run("bvh", "trace", *form, "--rays", parts.rays, "-o", out[1], "--json"), stats, "counts")
                check(read(out[0]) == read(out[1]), "hits")
                run("bvh", "trace", *form, "--rays", parts.rays, "-o", out[2], "--plain")
                check(read(out[0]) == read(out[2]), "hits the plain way")
            check(json.loads(stats)["hits"] > 100, f"{stats}")


@case()
def segments_in_any_order_start_where_base_says():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        want = run("bvh", "info", parts.whole, "--json")
        form = [*parts.segments, "--segment", f"{parts.tlas}@0x{TLAS:x}"]
        check(run("bvh", "info", *form, "--json") != want, "rays start in the first segment")
        check_eq(run("bvh", "info", *form, "--base", f"0x{TLAS:x}", "--json"), want, "--base")


@case()
def a_part_of_a_file_is_a_segment():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        paste = os.path.join(folder, "paste.bin")
        data, words = b"\xEE" * 100, []
        for path, address in parts.paths.items():
            words += ["--segment", f"{paste}@0x{address:x}+{len(data)}:0x{len(read(path)):x}"]
            data += read(path) + b"\xEE" * 60
        write(paste, data)
        check_eq(run("bvh", "info", *words, "--json"), run("bvh", "info", parts.whole, "--json"), "figures")


@case()
def findings_name_file_offset_and_address():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        path = list(parts.paths)[2]
        data = bytearray(read(path))
        data[12:16] = struct.pack("<I", 0x7FC00000)  # the origin of its root is a NaN: V08
        write(path, data)
        address = parts.paths[path] & (1 << 48) - 1
        text = run("bvh", "check", *parts.all, code=1).decode()
        check(f"blas1.bin+0xc (address 0x{address + 12:x})  V08" in text, text)
        finding = next(f for f in json.loads(run("bvh", "check", *parts.all, "--json", code=1))["findings"]
                       if f["rule"] == "V08")
        check_eq((finding["file"], int(finding["file_offset"], 0), int(finding["address"], 0)),
                 (path, 12, address + 12), "place")


@case()
def a_missing_segment_is_named_by_its_address():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        address = parts.paths[list(parts.paths)[1]] & (1 << 48) - 1
        text = run("bvh", "check", "--segment", f"{parts.tlas}@0x{TLAS:x}", *parts.segments[2:], code=1).decode()
        check(f"the BLAS at address 0x{address:x} lies outside the image" in text, text)


@case()
def an_update_writes_every_segment():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder, ordered=True)  # meshes belong to bottom levels in the order of their addresses
        scene, out = os.path.join(folder, "scene.glb"), os.path.join(folder, "new.bin")
        run("bvh", "update", *parts.all, "--scene", scene, "-o", out)
        for path, address in list(parts.paths.items())[1:]:
            check(read(f"{out}.0x{address & (1 << 48) - 1:x}") == read(path), "nothing moved")
        check(read(out) == read(parts.tlas), "the top level")
        check_refused(facet("bvh", "update", *parts.all, "--scene", scene, "-o", "-"), "segments")


@case("G12-269")
def dump_and_encode_give_the_segments_back():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        odd = os.path.join(folder, "odd.bin")  # a piece that is no whole number of units, and one that nothing names
        write(odd, bytes(range(100)))
        words = [*parts.all, "--segment", f"{odd}@0x40", "--segment", f"{odd}@0x100+3:70"]
        text, out = os.path.join(folder, "all.json"), os.path.join(folder, "new.bin")
        write(text, run("bvh", "dump", *words, "--json"))
        head = json.loads(read(text))
        want = sorted([(a & (1 << 48) - 1, len(read(p))) for p, a in parts.paths.items()] + [(0x40, 100), (0x100, 70)])
        check_eq([(int(s["address"], 0), s["size"]) for s in head["segments"]], want, "segments")
        for node in head["nodes"]:
            check("address" in node or node["kind"] == "raw", f"{node}"[:200])
        run("bvh", "encode", text, "-o", out)
        check(read(out) == read(parts.tlas), "the segment that rays start in")
        for path, address in list(parts.paths.items())[1:]:
            check(read(f"{out}.0x{address & (1 << 48) - 1:x}") == read(path), path)
        check(read(out + ".0x40") == bytes(range(100)) and read(out + ".0x100") == bytes(range(3, 73)), "odd pieces")
        check_refused(facet("bvh", "encode", text, "-o", "-"), "segments")
        one = os.path.join(folder, "one.json")  # one segment is one file
        write(one, run("bvh", "dump", "--segment", f"{odd}@0x40", "--json", code=1))
        run("bvh", "encode", one, "-o", out)
        check(read(out) == bytes(range(100)), "one segment")
        for old, new in (('"address":"0x40","size"', '"address":"0x41","size"'), ('"size":100}', '"size":101}'),
                         ('"segments":[{', '"segments":[{"address":"0x80","size":64},{')):
            write(one + "2", read(one).replace(old.encode(), new.encode(), 1))
            check(read(one + "2") != read(one), old)
            check_refused(facet("bvh", "encode", one + "2", "-o", out), "one.json2")


def below(nodes, start, depth):
    """Offsets of the nodes at most `depth` below one, from the IDs of the dump alone."""
    by_address = {int(n.get("address", n["offset"]), 0): n for n in nodes if n["kind"] != "raw"}
    found, level = set(), {start}
    for _ in range(depth + 1):
        found |= level
        after = set()
        for address, base in level:
            node = by_address[address]
            if node["kind"] == "instance":
                base = (int(node["fields"]["bvh_addr"], 0) & (1 << 45) - 1) * 8
            for child in node.get("decoded", {}).get("children", []):
                name = int(child["id"], 0)
                at = base + (name & ~15) * 8
                after.add((at, base))
                pair = (name & 3) | (name & 8) >> 1
                while name & 7 <= 3 and not by_address[at]["pairs"][pair]["prim_range_stop"]:
                    pair += 1
                    if pair == len(by_address[at]["pairs"]):
                        at, pair = at + NODE, 0
                        after.add((at, base))
        level = after - found
    return {address for address, _ in found}


@case()
def a_dump_can_be_a_part():
    with tempfile.TemporaryDirectory() as folder:
        parts = Parts(folder)
        whole = json.loads(run("bvh", "dump", *parts.all, "--json"))
        blas = sorted(parts.address.values())

        def shown(*more):
            told = json.loads(run("bvh", "dump", *parts.all, "--json", *more))
            check_eq(told["part"], True, "part")
            check(all(node in whole["nodes"] for node in told["nodes"]), f"{more}: other nodes")
            return {int(n.get("address", n["offset"]), 0) for n in told["nodes"]}

        for depth in (0, 1, 2, 5):
            check_eq(shown("--depth", str(depth)), below(whole["nodes"], (TLAS, TLAS), depth), f"depth {depth}")
            for number, base in enumerate(blas):
                check_eq(shown("--blas", str(number), "--depth", str(depth)), below(whole["nodes"], (base, base), depth),
                         f"BLAS {number}, depth {depth}")
        for number, base in enumerate(blas):
            check_eq(shown("--blas", str(number)), below(whole["nodes"], (base, base), 99), f"BLAS {number}")
        for node in [n for n in whole["nodes"] if n["kind"] == "instance"][:3]:
            want = below(whole["nodes"], (int(node["address"], 0), TLAS), 99)
            for name in (node["offset"], node["address"]):
                check_eq(shown("--node", name), want, f"node {name}")
        text = run("bvh", "dump", *parts.all, "--blas", "1", "--depth", "0").decode()
        check(f"address 0x{blas[1]:x}  box  00000005" in text and text.count("box") == 1, text)
        check_refused(facet("bvh", "dump", *parts.all, "--blas", "3"), "3")
        check_refused(facet("bvh", "dump", *parts.all, "--node", "0x20"), "0x20")
        check_refused(facet("bvh", "dump", *parts.all, "--node", "0x7f0000000000"), "0x7f0000000000")
        check_refused(facet("bvh", "dump", *parts.all, "--node", "0", "--blas", "0"), "--blas")
        path = os.path.join(folder, "part.json")
        write(path, run("bvh", "dump", *parts.all, "--json", "--depth", "1"))
        check_refused(facet("bvh", "encode", path, "-o", os.path.join(folder, "x")), "part")


@case()
def bad_segments_are_refused():
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "a.bin")
        write(image, bytes(256))
        other = os.path.join(folder, "b.bin")
        write(other, bytes(256))
        rest = ["--segment", f"{image}@0x1000"]
        for word in (image, "@0x40", image + "@", image + "@x", image + "@0x41", image + "@0x1000000000000",
                     image + "@0x7fff800000000000", image + "@0xfffe800000000000", image + "@-64", image + "@0x40+",
                     image + "@0x40+0:", image + "@0x40+0:0", image + "@0x40:64", image + "@0x40+0:64z",
                     image + "@0x10000000000000000"):
            check_refused(facet("bvh", "info", "--segment", word), word)
            check_refused(facet("bvh", "check", *rest, "--segment", word), word)
        check_refused(facet("bvh", "info", "--segment", image + "@0x40+256:1"), image)
        check_refused(facet("bvh", "info", "--segment", image + "@0x40+0:257"), image)
        check_refused(facet("bvh", "info", "--segment", image + "@0xffffffffffffff80"), image, "48")
        check_refused(facet("bvh", "info", "--segment", folder + "/none.bin@0x40"), "none.bin")
        check_refused(facet("bvh", "info"), "IMAGE")
        for address in ("0x1000", "0x10c0", "0xf40"):
            check_refused(facet("bvh", "check", *rest, "--segment", f"{other}@{address}"), "overlap", image, other)
        check_refused(facet("bvh", "check", image, "--base", "0x10c0", *rest[:1], f"{other}@0x1000"), image, other)
        for base in ("0x20", "0x1000000000000", "0x8000800000000000"):
            check_refused(facet("bvh", "check", image, "--base", base), base)
        run("bvh", "dump", *rest, "--segment", f"{other}@0x1100", code=1)  # neighbours; their bytes are no nodes
        rays = os.path.join(folder, "rays.bin")
        write(rays, bytes(32))
        before = read(other)
        check_refused(facet("bvh", "trace", *rest, "--segment", f"{other}@0x2000", "--rays", rays, "-o", other), other)
        check(read(other) == before, "a segment was replaced")


@case()
def build_takes_multiples_of_64_and_canonical_addresses():
    with tempfile.TemporaryDirectory() as folder:
        scene, image = os.path.join(folder, "s.glb"), os.path.join(folder, "s.gfx12")
        run("scene", "make", "instances", "--size", "2", "-o", scene)
        for base in ("0xffff800034000140", "0x800034000140", "0x40"):
            run("bvh", "build", scene, "--base", base, "-o", image, "--quiet")
            run("bvh", "check", image, "--base", base)
            text = run("bvh", "check", image, code=1).decode()  # at the wrong address
            check(base == "0x40" or "the BLAS at address 0x80003400" in text, text)
        check_refused(facet("bvh", "build", scene, "--base", "0x20", "-o", image), "64")


main("bvh_segments")
