"""`facet bvh` on what drivers write: structures of RADV, GPURT and HIPRT and captures, made by the encoders of
dialects/, which know nothing of Facet. Rays against brute force, headers shown and judged, bytes kept, and files that
are none of these refused by the name of what they are."""
import json
import math
import os
import struct
import tempfile

from dialects import gpurt, hiprt, model, radv, rra
from driver_files import (CUBE, SOURCE, WHOLE, agrees, facet, findings, hits_of, metadata, words_of, write, write_gltf,
                          write_obj)
from harness import add_case, case, check, check_eq, main, skip

MIXED = [model.Geometry(model.soup(16)), model.Geometry(model.grid(2), opaque=False)]
PLAIN = [model.Geometry(model.grid(3))]
LONG = [model.Geometry(model.soup(12, seed=5, size=2.5))]
ZEROS = [model.Geometry(model.flat(4)), model.Geometry(model.soup(9), opaque=False)]
SOLID = [model.Boxes(model.boxes(11))]
PLACED = [model.Instance(0, model.turn(30, 3), user_data=0, custom=7), model.Instance(1, model.identity(), user_data=1),
          model.Instance(0, model.turn(50, -3, 1, 2, 1.5), user_data=2)]
SINGLE = [[model.Geometry(model.soup(16) + model.grid(2))], PLAIN]  # HIPRT has one geometry for each structure
HIGH = 0xFFFF800034000000  # canonical, as RADV's buffers are

# name: (driver, capture, blases, instances)
DIALECTS = {
    "radv_batch": ("radv", radv.scene([MIXED, PLAIN], PLACED), [MIXED, PLAIN]),
    "radv_pair": ("radv", radv.scene([MIXED, PLAIN], PLACED, mode="pair", infos=True), [MIXED, PLAIN]),
    "radv_single": ("radv", radv.scene([MIXED, PLAIN], PLACED, mode="single", layout="2025"), [MIXED, PLAIN]),
    "radv_high": ("radv", radv.scene([PLAIN, LONG], PLACED, address=HIGH, layout="2025", infos=True),
                  [PLAIN, LONG]),
    "radv_late": ("radv", radv.scene([ZEROS, PLAIN], PLACED, layout="late", stale=1), [ZEROS, PLAIN]),
    "radv_late_single": ("radv", radv.scene([MIXED, ZEROS], PLACED, mode="single", layout="late", infos=True, stale=2),
                         [MIXED, ZEROS]),
    "gpurt_habits": ("gpurt", gpurt.scene([ZEROS, PLAIN], PLACED, habits=True, reuse=True), [ZEROS, PLAIN]),
    "gpurt_habits_split": ("gpurt", gpurt.scene([ZEROS, PLAIN], PLACED, habits=True, rebraid=True, split=True),
                           [ZEROS, PLAIN]),
    "gpurt_batch": ("gpurt", gpurt.scene([MIXED, PLAIN], PLACED), [MIXED, PLAIN]),
    "gpurt_single": ("gpurt", gpurt.scene([MIXED, PLAIN], PLACED, mode="single"), [MIXED, PLAIN]),
    "gpurt_rebraid": ("gpurt", gpurt.scene([MIXED, PLAIN], PLACED, rebraid=True), [MIXED, PLAIN]),
    "gpurt_split": ("gpurt", gpurt.scene([LONG, PLAIN], PLACED, rebraid=True, split=True), [LONG, PLAIN]),
    "hiprt": ("hiprt", hiprt.scene(SINGLE, PLACED), SINGLE),
    "hiprt_split": ("hiprt", hiprt.scene([LONG, PLAIN], PLACED, split=True), [LONG, PLAIN]),
}
CUSTOM = hiprt.scene([SOLID, PLAIN], PLACED)


def rays_equal_brute_force(name):
    driver, capture, blases = DIALECTS[name]
    rays = model.rays(10000 if name in ("radv_batch", "gpurt_rebraid", "hiprt") else 1500, WHOLE)
    with tempfile.TemporaryDirectory() as folder:
        words = words_of(capture, folder)
        hits = hits_of(folder, rays, *words, "--driver", driver)
        agrees(model.World(blases, PLACED), rays, hits, name)
        check_eq(hits_of(folder, rays[:500], *words, "--driver", "auto", "--plain"), hits[:500], "plain")


def no_false_error(name):
    driver, capture, _ = DIALECTS[name]
    with tempfile.TemporaryDirectory() as folder:
        result = facet("check", *words_of(capture, folder), "--driver", driver, "--json")
        found = json.loads(result.stdout)
        check_eq([f for f in found["findings"] if f["severity"] == "error"], [], name)
        check_eq([f for f in found["findings"] if "V32" <= f["rule"] <= "V39"], [], name + ": rules about headers")
        if driver != "hiprt":
            check_eq([f for f in found["findings"] if f["rule"] == "V26"], [], name + ": parents, of rebraided nodes too")
        check(len([f for f in found["findings"] if f["rule"] == "V09"]) <= 1, name + ": boxes that hold nothing, once")
        check_eq(result.returncode, 0, "exit code")


for _name, _row in DIALECTS.items():
    _id = {"radv": "G12-272", "gpurt": "G12-273", "hiprt": "G12-274"}[_row[0]]
    add_case("rays_" + _name, lambda name=_name: rays_equal_brute_force(name), _id)
    add_case("check_" + _name, lambda name=_name: no_false_error(name), _id)


def custom_list():
    """Where the numbers of the custom primitives stand in their geometry."""
    boxes, prims = struct.unpack_from("<2Q", CUSTOM.segments[1].data)
    return prims - boxes + hiprt.HEADER_BYTES


@case("G12-289")
def custom_primitives_are_accepted_and_wrong_ones_told():
    with tempfile.TemporaryDirectory() as folder:
        words = words_of(CUSTOM, folder) + ["--driver", "hiprt"]
        result = facet("check", *words, "--json")
        found = json.loads(result.stdout)["findings"]
        check_eq((result.returncode, [f for f in found if f["severity"] != "note"]), (0, []), "custom primitives")
        rays = model.rays(300, WHOLE)
        source = write(folder, "rays.bin", b"".join(struct.pack("<8f", *r) for r in rays))
        result = facet("trace", *words, "--rays", source, "-o", folder + "/hits.bin")
        check_eq(result.returncode, 1, "a trace that meets some")
        check("custom primitives of HIPRT" in result.stderr, result.stderr)
        scene = write_obj(folder, "m.obj", model.grid(3))
        result = facet("update", *words, "--scene", scene, "-o", folder + "/out")
        check_eq(result.returncode, 2, "their boxes are not there")
        check("custom primitives" in result.stderr, result.stderr)
    header = hiprt.HEADER_BYTES
    cases = [("V35", custom_list(), "<I", lambda v: v + 1), ("V35", custom_list() + 8, "<I", lambda v: 99),
             ("V33", header + 128 + 4, "<I", lambda v: v + (11 << 4)), ("V33", 32, "<I", lambda v: v - 1),
             ("V38", 36, "<I", lambda v: 1), ("V11", header + 128 + 32 + 11, "<B", lambda v: v & 0xF0 | 4)]
    for rule, at, form, change in cases:
        segments = list(CUSTOM.segments)
        data = bytearray(segments[1].data)
        struct.pack_into(form, data, at, change(struct.unpack_from(form, data, at)[0]))
        segments[1] = model.Segment(segments[1].address, bytes(data), segments[1].name)
        with tempfile.TemporaryDirectory() as folder:
            words = words_of(model.Capture(segments, 0, 0), folder)
            result = facet("check", *words, "--driver", "hiprt", "--json")
            rules = [f["rule"] for f in json.loads(result.stdout)["findings"] if f["severity"] == "error"]
            check(rule in rules and result.returncode == 1, "%s at %d: %r" % (rule, at, rules))


def coarser(node, axis, more):
    """A box node with an exponent that is `more` too large, and planes that still hold everything."""
    data = bytearray(node)
    data[24 + axis] += more
    for slot in range((data[27] >> 4) + 1):
        at = 32 + 12 * slot
        child = int.from_bytes(data[at:at + 12], "little")
        for last in (0, 1):
            bit = ({0: 0, 1: 12, 2: 32}, {0: 44, 1: 64, 2: 76})[last][axis]
            value = child >> bit & 0xFFF
            child ^= value << bit
            child |= ((value >> more) if not last else -(-(value + 1) // (1 << more)) - 1) << bit
        data[at:at + 12] = child.to_bytes(12, "little")
    return bytes(data)


@case("G12-290")
def wide_grids_are_told():
    """An exponent that is too large: the boxes below it grow, and nothing is lost. No right image has the finding."""
    for name, (driver, capture, _) in DIALECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            check_eq([f for f in findings(*words_of(capture, folder), "--driver", driver) if f["rule"] == "V52"], [], name)
        data = capture.segments[1].data
        start = {"radv": struct.unpack_from("<I", data)[0], "gpurt": metadata(128), "hiprt": 64}[driver]
        for axis, more in ((0, 2), (1, 1), (2, 3)):
            if data[start + 24 + axis] == 0:
                continue
            wide = data[:start] + coarser(data[start:start + 128], axis, more) + data[start + 128:]
            with tempfile.TemporaryDirectory() as folder:
                found = findings(write(folder, "blas.bin", wide), "--driver", driver)
                mine = [f for f in found if f["rule"] == "V52"]
                check_eq([f for f in found if f["severity"] == "error"], [], name)
                check_eq([f["severity"] for f in mine], ["warning"], "%s axis %d" % (name, axis))
                check(mine and mine[0]["found"].startswith("exponent_" + "xyz"[axis]), mine)


@case("G12-272 G12-273 G12-274")
def structures_alone_are_read_and_their_bytes_kept():
    """A BLAS without its TLAS, and the TLAS alone with --partial; dump --json | encode gives the very file."""
    for name, (driver, capture, _) in DIALECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            capture.write(folder)
            for segment in capture.segments:
                path = os.path.join(folder, segment.name)
                top = segment is capture.segments[0]
                result = facet("check", path, "--driver", driver, *(["--partial"] if top else []))
                check_eq(result.returncode, 0, "%s %s: %s" % (name, segment.name, result.stdout))
                text = facet("dump", path, "--driver", driver, "--json").stdout
                encoded = os.path.join(folder, "encoded")
                check_eq(facet("encode", write(folder, "dump.json", text.encode()), "-o", encoded).returncode, 0, name)
                with open(encoded, "rb") as file:
                    check(file.read() == segment.data, "%s %s: dump and encode change bytes" % (name, segment.name))


@case("G12-272 G12-273 G12-274")
def all_buffers_at_once_keep_their_bytes():
    for name in ("radv_batch", "gpurt_rebraid", "hiprt_split"):
        driver, capture, _ = DIALECTS[name]
        with tempfile.TemporaryDirectory() as folder:
            text = facet("dump", *words_of(capture, folder), "--driver", driver, "--json").stdout
            out = os.path.join(folder, "out")
            check_eq(facet("encode", write(folder, "dump.json", text.encode()), "-o", out).returncode, 0, name)
            for i, segment in enumerate(capture.segments):
                with open(out if i == 0 else "%s.0x%x" % (out, segment.address), "rb") as file:
                    check(file.read() == segment.data, "%s %s" % (name, segment.name))


@case("G12-272 G12-273 G12-274")
def info_shows_the_header():
    expected = {"radv": {"bvh_offset": "0xc0", "geometry_type": 2, "instance_count": 3},
                "gpurt": {"numPrimitives": 3, "rtIpLevel": 6, "offsets.internalNodes": "0x80"},
                "hiprt": {"m_primCount": 3, "m_rtip": 31, "m_boxNodeCount": 1}}
    for name in ("radv_batch", "gpurt_batch", "hiprt"):
        driver, capture, _ = DIALECTS[name]
        with tempfile.TemporaryDirectory() as folder:
            words = words_of(capture, folder)
            told = json.loads(facet("info", *words, "--driver", "auto", "--json").stdout)
            check_eq((told["driver"], told["structure"], len(told["structures"])), (driver, 0, 3), name)
            top = told["structures"][0]
            check_eq((top["kind"], top["address"], int(top["root"], 16)), ("TLAS", hex(capture.base), capture.root), name)
            for field, value in expected[driver].items():
                check_eq(top["header"][field], value, "%s: %s" % (name, field))
            text = facet("info", *words, "--driver", driver).stdout
            check("driver              " + driver in text and "*     0  TLAS" in text, text)
            for field in expected[driver]:
                check("\n  " + field in text, "%s: %s in the text" % (name, field))
            inner = json.loads(facet("info", *words, "--driver", driver, "--structure", 1, "--json").stdout)
            check_eq((inner["structure"], inner["instance_nodes"]), (1, 0), "a BLAS chosen")


@case("G12-272")
def auto_says_what_it_took():
    with tempfile.TemporaryDirectory() as folder:
        for name, (driver, capture, _) in DIALECTS.items():
            result = facet("info", *words_of(capture, folder), "--driver", "auto")
            check("taken for %s: " % driver in result.stderr, name + ": " + result.stderr)
        image = os.path.join(folder, "cube.gfx12")
        facet("build", CUBE, "-o", image)
        result = facet("info", image, "--driver", "auto")
        check_eq(result.returncode, 0, "an image without a header")
        check("taken for an image without one" in result.stderr, result.stderr)
        check_eq(result.stdout, facet("info", image).stdout, "the image stays what it is")
        check_eq(facet("info", image).stderr, "", "no word about an image without a header")
        for driver in ("radv", "gpurt", "hiprt"):
            result = facet("info", image, "--driver", driver)
            check_eq(result.returncode, 2, driver)
            check("no structure of " + driver in result.stderr, result.stderr)
        blas = os.path.join(folder, "blas0.bin")
        write(folder, "blas0.bin", DIALECTS["radv_batch"][1].segments[1].data)
        check("--driver radv reads it" in facet("info", blas).stderr, "a hint without --driver")


@case("G12-273")
def a_gpurt_buffer_may_begin_with_its_header():
    capture = DIALECTS["gpurt_batch"][1]
    cut = model.Capture([model.Segment(s.address + gpurt.METADATA_BYTES, s.data[gpurt.METADATA_BYTES:], s.name)
                         for s in capture.segments], capture.base, capture.root)
    rays = model.rays(300, WHOLE)
    with tempfile.TemporaryDirectory() as folder:
        whole = hits_of(folder, rays, *words_of(capture, folder), "--driver", "gpurt")
        check_eq(hits_of(folder, rays, *words_of(cut, folder), "--driver", "gpurt"), whole, "without metadata")
        check(any(whole), "hits")


@case("G12-272 G12-273")
def structures_that_share_a_buffer_are_found():
    """An application may put all structures into one buffer: only the first begins it."""
    rays = model.rays(300, WHOLE)
    for name, spread in (("radv", 0), ("gpurt", 0)):
        make = {"radv": radv, "gpurt": gpurt}[name]
        apart = make.scene([MIXED, PLAIN], PLACED, address=0x10000000, spread=spread)
        first = apart.segments[0].address
        data = bytearray(max(s.address + len(s.data) for s in apart.segments) - first)
        for s in apart.segments:
            data[s.address - first:s.address - first + len(s.data)] = s.data
        with tempfile.TemporaryDirectory() as folder:
            one = write(folder, "all.bin", bytes(data)) + "@0x%x" % first
            expected = hits_of(folder, rays, *words_of(apart, folder), "--driver", name)
            check_eq(hits_of(folder, rays, "--segment", one, "--driver", name), expected, name)
            told = json.loads(facet("info", "--segment", one, "--driver", name, "--json").stdout)
            check_eq([s["kind"] for s in told["structures"]], ["TLAS", "BLAS", "BLAS"], name)
            result = facet("check", "--segment", one, "--driver", name, "--json")
            findings = json.loads(result.stdout)["findings"]
            check_eq([f for f in findings if f["severity"] == "error" or "V32" <= f["rule"] <= "V39"], [], name)


def damaged(name, segment, at, form, change):
    """The capture with one field of one segment changed."""
    driver, capture, _ = DIALECTS[name]
    segments = list(capture.segments)
    data = bytearray(segments[segment].data)
    struct.pack_into(form, data, at, change(struct.unpack_from(form, data, at)[0]))
    segments[segment] = model.Segment(segments[segment].address, bytes(data), segments[segment].name)
    return driver, model.Capture(segments, capture.base, capture.root)


def instance_of(name):
    """Offset of an instance node in the TLAS: behind the only box."""
    return struct.unpack_from("<I", DIALECTS[name][1].segments[0].data, 0)[0] + 128


@case("G12-276 G12-277 G12-278 G12-279 G12-280 G12-281 G12-282 G12-283")
def wrong_headers_are_found():
    infos = radv.HEADER_BYTES["2026"]
    cases = [
        ("V32", "gpurt_batch", 1, metadata(40), "<I", lambda v: 64),
        ("V32", "gpurt_batch", 1, metadata(36), "<I", lambda v: 1 << 30),
        ("V32", "hiprt", 1, 0, "<Q", lambda v: v + 128),
        ("V33", "gpurt_batch", 1, metadata(12), "<I", lambda v: v - 1),
        ("V33", "gpurt_batch", 1, metadata(48), "<I", lambda v: v - 1),
        ("V33", "gpurt_batch", 1, metadata(56), "<I", lambda v: 1),
        ("V33", "gpurt_batch", 1, metadata(16), "<I", lambda v: v + 1),
        ("V33", "radv_batch", 1, 104, "<Q", lambda v: v - 1),
        ("V33", "radv_batch", 0, 104, "<Q", lambda v: 2),
        ("V34", "radv_batch", 1, 20, "<f", lambda v: v - 0.5),
        ("V34", "gpurt_batch", 1, metadata(80), "<f", lambda v: v + 0.5),
        ("V35", "radv_batch", 1, 92, "<I", lambda v: 1),
        ("V35", "radv_pair", 1, infos, "<I", lambda v: v - 1),
        ("V35", "gpurt_batch", 1, metadata(24), "<I", lambda v: 1),
        ("V36", "radv_batch", 0, instance_of("radv_batch") + 48, "<Q", lambda v: v + 8),
        ("V37", "radv_batch", 1, 48, "<Q", lambda v: v + 4096),
        ("V38", "radv_batch", 1, 88, "<I", lambda v: 1),
        ("V38", "gpurt_batch", 1, metadata(0), "<I", lambda v: v ^ 1),
        ("V39", "radv_batch", 0, instance_of("radv_batch") + 128 + 12, "<f", lambda v: v + 1),
        ("V39", "radv_batch", 0, instance_of("radv_batch") + 128 + 52, "<I", lambda v: 9),
        ("V39", "radv_batch", 0, instance_of("radv_batch") + 128 + 56, "<I", lambda v: v + 64),
        ("V39", "gpurt_batch", 0, metadata(128 + 128 + 3 * 128 + 16), "<f", lambda v: v + 1),
        ("V33", "radv_late", 1, 88, "<Q", lambda v: v - 1),
        ("V34", "radv_late", 1, 20, "<f", lambda v: v - 0.5),
        ("V35", "radv_late", 1, 76, "<I", lambda v: 1),
        ("V35", "radv_late_single", 1, radv.HEADER_BYTES["late"], "<I", lambda v: v - 1),
        ("V36", "radv_late", 0, instance_of("radv_late") + 48, "<Q", lambda v: v + 8),
        ("V37", "radv_late", 1, 32, "<Q", lambda v: v + 4096),
        ("V38", "radv_late", 1, 72, "<I", lambda v: 1),
        ("V39", "radv_late", 0, instance_of("radv_late") + 128 + 56, "<I", lambda v: v + 64),
    ]
    for rule, name, segment, at, form, change in cases:
        driver, capture = damaged(name, segment, at, form, change)
        with tempfile.TemporaryDirectory() as folder:
            result = facet("check", *words_of(capture, folder), "--driver", driver, "--json", "--max", 1000)
            found = json.loads(result.stdout)["findings"]
            mine = [f for f in found if f["rule"] == rule]
            what = "%s of %s at %d" % (rule, name, at)
            check(mine, "%s not found: %r" % (what, [f["rule"] for f in found]))
            check_eq(result.returncode, 0 if rule in ("V37", "V39") and all(f["severity"] != "error" for f in found) else 1,
                     what)
            check(all(f["severity"] == ("warning" if rule in ("V37", "V39") else "error") for f in mine), what)


def reads_zstd(folder):
    """Whether the program was built with libzstd; a test that cannot make compressed chunks says no as well."""
    try:
        path = write(folder, "z.rra", rra.capture(DIALECTS["gpurt_batch"][1], compress=True))
    except OSError:
        return False
    return "without libzstd" not in facet("info", path).stderr


@case("G12-275")
def compressed_captures_can_be_read():
    with tempfile.TemporaryDirectory() as folder:
        if not reads_zstd(folder):
            skip("libzstd is not there")


@case("G12-275")
def captures_give_the_hits_of_their_buffers():
    rays = model.rays(400, WHOLE)
    for name in ("gpurt_batch", "gpurt_rebraid"):
        capture = DIALECTS[name][1]
        with tempfile.TemporaryDirectory() as folder:
            expected = hits_of(folder, rays, *words_of(capture, folder), "--driver", "gpurt")
            for compress, short in ((False, False), (False, True), (True, False), (True, True)):
                if short and name == "gpurt_rebraid":  # RADV has one node for each instance
                    continue
                if compress and not reads_zstd(folder):
                    continue
                path = write(folder, "x.rra", rra.capture(capture, compress=compress, short=short))
                what = "%s, compressed %s, short %s" % (name, compress, short)
                check_eq(hits_of(folder, rays, path), expected, what)
                result = facet("check", path, "--json")
                check_eq(result.returncode, 0, what + ": " + result.stdout)
                told = json.loads(facet("info", path, "--json").stdout)
                check_eq([s["kind"] for s in told["structures"]], ["TLAS", "BLAS", "BLAS"], what)
                check_eq([s["address"] for s in told["structures"]],
                         [hex(s.address + gpurt.METADATA_BYTES) for s in capture.segments], what)
                check_eq([told["structures"][1]["triangles"], told["structures"][0]["instances"]], [24, 3], what)
            one = facet("check", path, "--structure", 2)
            check_eq(one.returncode, 0, "one structure: " + one.stdout)
            every = json.loads(facet("check", path, "--structure", "all", "--json").stdout)["structures"]
            check_eq([(s["structure"], s["errors"]) for s in every], [(0, 0), (1, 0), (2, 0)], "all structures")
            for word in ("3", "-1", "x"):
                check_eq(facet("check", path, "--structure", word).returncode, 2, "--structure " + word)
            check_eq(facet("dump", path, "--structure", "all").returncode, 2, "all of them in a dump")


@case("G12-275 G12-295")
def captures_that_radv_records_give_the_hits_of_their_buffers():
    rays = model.rays(400, WHOLE)
    jumps = 0
    for name in ("radv_batch", "radv_pair", "radv_late", "radv_late_single"):
        _, scene, blases = DIALECTS[name]
        counts = [[len(PLACED)]] + [[len(g.triangles) for g in blas] for blas in blases]
        data = rra.recorded(scene, counts)
        with tempfile.TemporaryDirectory() as folder:
            expected = hits_of(folder, rays, *words_of(scene, folder), "--driver", "radv")
            path = write(folder, "x.rra", data)
            check_eq(hits_of(folder, rays, path), expected, name)
            for word in ("0", "1", "2"):
                result = facet("check", path, "--structure", word, "--json")
                check_eq(result.returncode, 0, name + ": " + result.stdout)
            text = facet("dump", path, "--json")
            check_eq(facet("encode", write(folder, "x.json", text.stdout.encode()), "-o", os.path.join(folder, "y")).returncode,
                     0, "encode")
            with open(os.path.join(folder, "y"), "rb") as file:
                again = file.read()
            nodes = rra.Recorder(scene.segments[0].data).out[128:]
            check_eq(again[128:128 + len(nodes)], bytes(nodes), name + ": a dump has the bytes of the file")
        jumps += sum(b & 0xF0 > 0x10 and b & 15 != 5 for r in scene.segments[1:] for b in rra.Recorder(r.data).types())
    check(jumps > 0, "no child is followed by a gap, so that nothing was tested")


@case("G12-275")
def broken_captures_are_refused():
    scene = DIALECTS["gpurt_batch"][1]
    good = rra.capture(scene)
    index, = struct.unpack_from("<q", good, 16)

    def patched(data, at, form, value):
        out = bytearray(data)
        struct.pack_into(form, out, at, value)
        return bytes(out)
    entry = index + 2 * 64  # the first structure
    cases = [
        (rra.capture(scene, rtip=3), "RTIP 2.0"),
        (rra.capture(scene, rtip=2), "RTIP 1.1"),
        (rra.capture(scene, rtip=4), "RTIP 3.0"),
        (rra.container(rra.information()), "RDF container of something else"),
        (rra.container([]), "RDF container of something else"),
        (good[:40], "index"),
        (patched(good, 8, "<I", 2), "RDF version 2"),
        (patched(good, 16, "<q", len(good)), "index"),
        (patched(good, 24, "<q", -64), "index"),
        (patched(good, entry + 16, "<B", 9), "compression 9"),
        (patched(good, entry + 40, "<q", 1 << 40), "does not lie inside the file"),
        (patched(good, entry + 32, "<q", 20), "expected 28"),
        (patched(good, entry + 16, "<B", 1), "expected 76 to 128 inside"),
        (patched(patched(good, entry + 16, "<B", 1), entry + 56, "<q", 4096), "zstd"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        if reads_zstd(folder):
            packed = rra.capture(scene, compress=True)
            entry = struct.unpack_from("<q", packed, 16)[0] + 2 * 64
            cases += [(patched(packed, entry + 56, "<q", size), "zstd") for size in (1 << 20, 600)]
        for data, word in cases:
            path = write(folder, "x.rra", data)
            for command in ("info", "check", "dump"):
                result = facet(command, path)
                check_eq((result.returncode, result.stdout), (2, ""), "%s of a capture (%s)" % (command, word))
                check(word in result.stderr and "x.rra" in result.stderr, "expected %s in: %s" % (word, result.stderr))


def inactive(segment, top, address):
    """A structure in which nothing is active: GPURT writes its header and leaves the rest as it was."""
    data = bytearray(segment.data[:metadata(gpurt.HEADER_BYTES)] + bytes(0xA5 ^ (7 * i & 0xFF) for i in range(640)))
    struct.pack_into("<Q", data, 0, 0 if top else address + gpurt.METADATA_BYTES)
    struct.pack_into("<I", data, metadata(8), len(data))
    data[metadata(0)] = data[metadata(0)] & 0xFE | (not top)
    for at in (12, 16, 24, 48, 52, 56):  # primitives, active ones, geometries, nodes
        struct.pack_into("<I", data, metadata(at), 0)
    struct.pack_into("<4I", data, metadata(32), 128, 256, 256, 256)
    return model.Segment(address, bytes(data), "%sempty.bin" % ("top" if top else "bottom"))


@case("G12-297")
def structures_in_which_nothing_is_active():
    """Captures of programs have them. Their bytes are judged by no rule, rays start in a TLAS that has something."""
    scene = DIALECTS["gpurt_batch"][1]
    top, bottom = scene.segments[0], scene.segments[1]
    whole = model.Capture([inactive(top, True, 0x700000000)] + scene.segments + [inactive(bottom, False, 0x900000000)],
                          scene.base, scene.root)
    rays = model.rays(50, WHOLE)
    with tempfile.TemporaryDirectory() as folder:
        capture = rra.capture(whole)
        at = capture.index(whole.segments[1].data) - 28  # its flag: the second structure is a TLAS as well
        capture = capture[:at + 24] + b"\0\0\0\0" + capture[at + 28:]
        path = write(folder, "x.rra", capture)
        listed = json.loads(facet("info", path, "--json").stdout)
        check_eq([s["root"] is None for s in listed["structures"]], [True] + [False] * len(scene.segments) + [True])
        check_eq(listed["structure"], 1, "the TLAS that has something")
        result = facet("check", path, "--structure", "all")
        check_eq((result.returncode, " error: " in result.stdout), (0, False), result.stdout)
        check_eq(hits_of(folder, rays, path), hits_of(folder, rays, *words_of(scene, folder), "--driver", "gpurt"))
        for words in ((path, "--structure", "0"), (write(folder, "b.bin", whole.segments[-1].data), "--driver", "gpurt")):
            check_eq(hits_of(folder, rays, *words), [None] * len(rays), "an empty structure")
            result = facet("why", *words, "--ray", "0 0 -9 0 0 1", "--brief")
            check_eq((result.returncode, "hit       nothing" in result.stdout), (0, True), result.stdout + result.stderr)
            for command in (("export", "-o", folder + "/x.obj"), ("render", "-o", folder + "/x.png")):
                result = facet(command[0], *words, *command[1:])
                check_eq((result.returncode, "nothing in it is active" in result.stderr), (2, True), result.stderr)
        result = facet("info", write(folder, "c.gfx12", bytes(1024)), "--root", "0xffffffff")
        check_eq((result.returncode, "4294967294" in result.stderr), (2, True), "no root by hand: " + result.stderr)


def emptied(capture):
    """The first BLAS with nothing active, over the nodes that it had before."""
    data = bytearray(capture.segments[1].data)
    for at in (12, 16, 48, 52, 56):
        struct.pack_into("<I", data, metadata(at), 0)
    empty = model.Segment(capture.segments[1].address, bytes(data), "old.bin")
    return model.Capture([capture.segments[0], empty] + capture.segments[2:], capture.base, capture.root)


@case("G12-299")
def instances_of_nothing_meet_nothing():
    rays = model.rays(1000, WHOLE)
    for name in ("gpurt_batch", "gpurt_rebraid", "gpurt_habits"):
        _, capture, blases = DIALECTS[name]
        rest, left = emptied(capture), model.World([[], blases[1]], PLACED)
        with tempfile.TemporaryDirectory() as folder:
            words = (*words_of(rest, folder), "--driver", "gpurt")
            for words in (words, (write(folder, "x.rra", rra.capture(rest)),)):
                agrees(left, rays, hits_of(folder, rays, *words), name)
                result = facet("check", *words)
                check_eq((result.returncode, " error: " in result.stdout), (0, False), name + result.stdout)
            out = folder + "/back"
            dump = write(folder, "d.json", facet("dump", *words_of(rest, folder), "--driver", "gpurt", "--json").stdout.encode())
            check_eq(facet("encode", dump, "-o", out).returncode, 0, name)
            with open(f"{out}.0x{rest.segments[1].address:x}", "rb") as file:
                check_eq(file.read(), rest.segments[1].data, name + ": a dump has the bytes of the file")


@case("G12-122")
def a_missing_stop_bit_is_told():
    """Without it the range of a child goes on into that of the next: no hit is lost, but tests are."""
    for name in ("radv_single", "radv_pair"):
        scene = DIALECTS[name][1]
        with tempfile.TemporaryDirectory() as folder:
            text = facet("dump", *words_of(scene, folder), "--driver", "radv", "--json").stdout
        leaves = {int(node["address"], 16) for node in json.loads(text)["nodes"] if node["kind"] == "primitive"}
        first = min(at for at in leaves if at + 128 in leaves)
        segments = []
        for segment in scene.segments:
            data = bytearray(segment.data)
            if segment.address <= first < segment.address + len(data):
                data[first - segment.address + 124] ^= 8  # the lowest bit of descriptor 0
            segments.append(model.Segment(segment.address, bytes(data), segment.name))
        capture = model.Capture(segments, 0, 0)
        with tempfile.TemporaryDirectory() as folder:
            found = [f for f in findings(*words_of(capture, folder), "--driver", "radv") if f["rule"] == "V21"]
        check_eq([f["severity"] for f in found], ["warning"], name)
        check("where another begins" in found[0]["found"], found[0]["found"])


@case()
def structures_at_one_address_are_told():
    scene = DIALECTS["gpurt_batch"][1]
    twice = model.Capture(scene.segments + [scene.segments[1]], scene.base, scene.root)
    with tempfile.TemporaryDirectory() as folder:
        result = facet("info", write(folder, "x.rra", rra.capture(twice)), "--json")
        check_eq((result.returncode, json.loads(result.stdout)["left_out"]), (0, 1), "left out")
        check("1 structure left out" in result.stderr, result.stderr)


@case()
def files_that_are_no_images_are_refused_by_name():
    lfs = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    cases = [(b"hello\nworld\n", "notes.gfx12", "text"), (b"\x7fELF\2\1\1" + bytes(200), "a.out", "ELF"),
             (b"\x89PNG\r\n\x1a\n" + bytes(200), "p.png", "PNG"), (b"\xff\xd8\xff\xe0" + bytes(200), "p.jpg", "JPEG"),
             (b"PK\3\4" + bytes(200), "z.zip", "ZIP"), (lfs, "x.rra", "LFS"), (b'{"a": 1}', "x.json", "JSON"),
             (b"AMD_RDF " + bytes(200), "x.rra", "RDF version 0")]
    with tempfile.TemporaryDirectory() as folder:
        for data, name, word in cases:
            path = write(folder, name, data)
            for words in (["check", path], ["info", path], ["dump", path], ["info", path, "--driver", "auto"],
                          ["why", path, "--ray", "0 0 0 0 0 1"], ["diff", path, path]):
                result = facet(*words)
                check_eq((result.returncode, result.stdout), (2, ""), " ".join(words[:1]) + " " + name)
                check(word in result.stderr, "%s of %s: %s" % (words[0], name, result.stderr))
            result = facet("check", *words_of(DIALECTS["radv_batch"][1], folder), "--segment", path + "@0x40", "--driver", "radv")
            check_eq((result.returncode, result.stdout), (2, ""), "as a segment: " + name)
            check(word[:3] in result.stderr and name in result.stderr, result.stderr)


@case()
def scenes_are_built_on_the_fly_where_that_makes_sense():
    ray = "-1 0.25 0.5 1 0.25 0.125"
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "cube.gfx12")
        check_eq(facet("build", CUBE, "-o", image).returncode, 0, "build")
        for words in (["info"], ["why", "--ray", ray, "--json"]):
            made, built = facet(words[0], CUBE, *words[1:]), facet(words[0], image, *words[1:])
            check_eq(made.stdout, built.stdout, words[0])
            check("is a scene; its image is that of facet bvh build" in made.stderr, made.stderr)
        rays = [(-1, .25, .5, 0, 1, .25, .125, math.inf)]
        check_eq(hits_of(folder, rays, CUBE), hits_of(folder, rays, image), "trace")
        for command in ("check", "dump"):
            result = facet(command, CUBE)
            check_eq(result.returncode, 2, command)
            check("build it first: facet bvh build" in result.stderr, result.stderr)


@case("G12-272")
def empty_structures_are_accepted():
    """No primitive is active: the bounds are NaN, and the root has no child and the bounds of nothing, or 0."""
    for layout in radv.HEADER_BYTES:
        for origin, exponent in ((math.inf, 255), (0.0, 0)):
            builder = radv.Builder("batch")
            builder.blocks[0] = struct.pack("<3I3fII", 16, 16, model.NONE, *[origin] * 3, exponent * 0x10101 | 0xF << 28, 0x7F) + \
                struct.pack("<3I", *radv.nodes.UNUSED) * 8
            nothing = model.Leaf(((0.0,) * 3, (0.0,) * 3), None)
            data = bytearray(radv.structure(builder, nothing, 3, 0, 1, 0, 0, layout, [], b""))
            struct.pack_into("<6f", data, 8, *[math.nan] * 6)
            with tempfile.TemporaryDirectory() as folder:
                blas = write(folder, "blas.bin", data)
                result = facet("check", blas, "--driver", "auto", "--json")
                found = json.loads(result.stdout)["findings"]
                check_eq((result.returncode, [f for f in found if f["severity"] == "error"]), (0, []), layout)
                check_eq([f["rule"] for f in found if f["severity"] == "warning"], ["V04"], layout)
                check_eq(hits_of(folder, model.rays(9, WHOLE), blas, "--driver", "radv"), [None] * 9, layout)


@case("G12-272")
def late_headers_are_shown():
    capture = DIALECTS["radv_late_single"][1]
    with tempfile.TemporaryDirectory() as folder:
        told = json.loads(facet("info", *words_of(capture, folder), "--driver", "auto", "--json").stdout)
        check_eq([s["kind"] for s in told["structures"]], ["TLAS", "BLAS", "BLAS"])
        for s, count, geometries in zip(told["structures"], (3, 24, 41), (1, 2, 2)):
            check_eq((s["header"]["primitive_count"], s["header"]["geometry_count"]), (count, geometries), s)
        check_eq(told["structures"][1]["header"]["copy_dispatch_size[1]"], 1)


@case("G12-272 G12-273 G12-274")
def why_tells_what_trace_found():
    for name, (driver, capture, _) in DIALECTS.items():
        with tempfile.TemporaryDirectory() as folder:
            words = words_of(capture, folder) + ["--driver", driver]
            rays = model.rays(200, WHOLE, seed=11)
            hits = hits_of(folder, rays, *words)
            some = [i for i in range(200) if hits[i]][:3] + [i for i in range(200) if not hits[i]][:1]
            for i in some:
                ray = " ".join(repr(v) for v in (*rays[i][:3], *rays[i][4:7]))
                text = facet("why", *words, "--ray=" + ray, "--brief").stdout
                check("agrees with the traversal" in text, "%s: %s" % (name, text))
                check(("primitive %d, geometry %d," % (hits[i][2], hits[i][1]) in text.split("\n")[1]) if hits[i]
                      else "nothing" in text.split("\n")[1], "%s: %r in %s" % (name, hits[i], text))
                if hits[i]:
                    result = facet("why", *words, "--ray=" + ray, "--expect", "%d,%d" % (hits[i][2], hits[i][1]), "--json")
                    answer = json.loads(result.stdout)
                    check_eq((result.returncode, answer["fault"], answer["rejected"]), (0, "none", None), name)
                    # RADV rounds to nearest: a corner may stick out by less than a step.
                    out = answer["triangle_outside"]
                    check(out is None or out["grid_steps"] < 1, "%s: %r" % (name, out))


@case("G12-272")
def links_into_nothing_are_told_by_every_command():
    """A base that is wrong, inside the image too, and a BLAS that is not there: counted, exit code 1."""
    capture = DIALECTS["radv_batch"][1]
    ray, out = ["--ray", "3 4 0.1 0 -1 0"], "out.png"
    with tempfile.TemporaryDirectory() as folder:
        rays = write(folder, "rays.bin", b"".join(struct.pack("<8f", *r) for r in model.rays(100, WHOLE)))
        words = words_of(capture, folder)
        right = words + ["--base", hex(capture.base)]
        wrong = {"128 on": words + ["--base", hex(capture.base + 128)], "64 back": words + ["--base", hex(capture.base - 64)],
                 "no BLAS": words[:4] + ["--driver", "radv"]}
        commands = [["info"], ["dump"], ["dump", "--json"], ["check"], ["why", *ray], ["why", *ray, "--brief"],
                    ["trace", "--rays", rays, "-o", os.path.join(folder, "hits")],
                    ["render", "--size", "16x16", "-o", os.path.join(folder, out)],
                    ["export", "-o", os.path.join(folder, "o.obj")]]
        for command in commands:
            check_eq(facet(*command, *right).returncode, 0, "%s of the right base" % command[0])
            for what, more in wrong.items():
                result = facet(*command, *more)
                if command[0] == "why" and what == "no BLAS":
                    continue  # this ray need not meet it
                check(result.returncode in ((1, 2) if command[0] in ("render", "export") else (1,)), f"{command} {what}: {result}")
                check(result.stderr or command[0] == "check", f"{command} {what}: no word")
        for what, more in wrong.items():  # both sides are the same, and broken
            for how in ((), ("--fields",), ("--builders",)):
                other = [w + "-b" if w.startswith("--") else w for w in more]
                result = facet("diff", *more, *other, *how)
                check_eq(result.returncode, 1, f"diff {what} {how}: {result}")
                check("to nothing, across" in result.stderr, result.stderr)
        # A base that is the instance itself: every link of the image is right, and it is read as a box.
        own = os.path.join(folder, "own.gfx12")
        check_eq(facet("build", CUBE, "-o", own, "--base", "0x10000").returncode, 0, "build")
        for how in ((), ("--brief",), ("--tree",)):
            result = facet("why", own, "--base", "0x10080", "--ray", "0 0 5 0 0 -1", *how)
            check_eq(result.returncode, 1, f"why {how}: {result}")
            check("is --base right" in result.stderr or "across other nodes" in result.stderr, result.stderr)
        custom = os.path.join(folder, "custom")
        os.makedirs(custom)
        for command in ("info", "dump"):
            check_eq(facet(command, *words_of(CUSTOM, custom), "--driver", "hiprt").returncode, 0, "custom primitives are no broken links")


@case()
def builders_of_one_scene_are_compared():
    """The same triangles and instances, whoever built them; where one side lies and what it is made of are its own."""
    meshes = [model.soup(16), model.flat(4)]
    placed = [model.Instance(0, model.turn(30, 3), user_data=0), model.Instance(1, model.identity(), user_data=1),
              model.Instance(0, model.turn(50, -3, 1, 2, 1.5), user_data=2)]
    blases = [[model.Geometry(m)] for m in meshes]
    sides = {"radv": radv.scene(blases, placed, layout="late", stale=1), "gpurt": gpurt.scene(blases, placed, habits=True),
             "gpurt_rebraid": gpurt.scene(blases, placed, rebraid=True, split=True), "hiprt": hiprt.scene(blases, placed)}
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "own.gfx12")
        check_eq(facet("build", write_gltf(folder, meshes, placed), "-o", image).returncode, 0, "build")

        def words(name, suffix):
            part = os.path.join(folder, name)
            os.makedirs(part, exist_ok=True)
            return [w.replace("--segment", "--segment" + suffix) for w in words_of(sides[name], part)]

        def compared(*more):
            result = facet("diff", *more, "--builders", "--json")
            check(result.stdout, result.stderr)
            return result.returncode, json.loads(result.stdout)
        for name in sides:
            driver = name.split("_")[0]
            for more in ([image, *words(name, "-b"), "--driver-b", driver], [*words(name, ""), image, "--driver", "auto"]):
                code, told = compared(*more)
                check_eq((told["same_primitives"], told["same_hits"]), (True, True), name)
                check_eq([told[s]["primitives"] for s in "ab"], [48, 48], name)
                # HIPRT keeps neither opacity nor flags.
                check_eq((code, told["same_instances"], told["other_flags"]), (1, False, 48) if driver == "hiprt" else (0, True, 0), name)
        check_eq(compared(*words("radv", ""), *words("gpurt_rebraid", "-b"), "--driver", "radv", "--driver-b", "gpurt")[0], 0)
        check_eq(facet("diff", *words("radv", ""), *words("radv", "-b"), "--driver", "radv").returncode, 0, "with itself")
        # An instance that is elsewhere, and one that is not there.
        placed[1].matrix = model.move(0.5, 0, 0)
        for one in (gpurt.scene(blases, placed), gpurt.scene(blases, placed[:2])):
            sides["other"] = one
            code, told = compared(image, *words("other", "-b"), "--driver-b", "gpurt")
            check_eq((code, told["same_instances"]), (1, False))
            check_eq(told["other_instances"], 1)
        for more, word in ((["--segment", image + "@0"], "B is missing"), (["--segment-b", image + "@0"], "A is missing"), ([], "A is missing"),
                           ([image, "--segment", image + "@0", "--segment-b", image + "@0"], "part of A or of B"),
                           ([image, image, "--driver-b", "none", "--structure-b", 0], "--structure "),
                           ([image, "--segment-b", image], "@ADDR")):
            result = facet("diff", *more)
            check_eq((result.returncode, result.stdout), (2, ""), more)
            check(word in result.stderr, result.stderr)


@case()
def structures_are_compared():
    with tempfile.TemporaryDirectory() as folder:
        for name in ("radv_pair", "gpurt_batch", "hiprt"):
            driver, capture, _ = DIALECTS[name]
            capture.write(folder)
            path = os.path.join(folder, capture.segments[1].name)
            check_eq(facet("diff", path, path, "--driver", driver).returncode, 0, name + " with itself")


@case()
def the_examples_are_what_the_encoders_write():
    blases = [[model.Geometry(model.grid(3)), model.Geometry(model.soup(3), opaque=False)]]
    placed = [model.Instance(0, model.move(2, 0, 0)), model.Instance(0, model.turn(90, -4), user_data=1)]
    driver = radv.scene(blases, placed[:1], address=0x7F1200000000)
    for name, data in (("radv-tlas.bin", driver.segments[0].data), ("radv-blas.bin", driver.segments[1].data),
                       ("two.rra", rra.capture(gpurt.scene(blases, placed)))):
        with open(os.path.join(SOURCE, "examples/gfx12", name), "rb") as file:
            check(file.read() == data, "examples/gfx12/" + name)


@case()
def options_that_do_not_fit():
    with tempfile.TemporaryDirectory() as folder:
        image = os.path.join(folder, "cube.gfx12")
        facet("build", CUBE, "-o", image)
        for words in (["--driver", "amdvlk"], ["--structure", "0"]):
            check_eq(facet("info", image, *words).returncode, 2, " ".join(words))
        capture = write(folder, "x.rra", rra.capture(DIALECTS["gpurt_batch"][1]))
        result = facet("update", capture, "--scene", CUBE, "-o", os.path.join(folder, "out"))
        check_eq(result.returncode, 2, "update of a capture")
        check("cannot be written" in result.stderr, result.stderr)
        check(not os.path.exists(os.path.join(folder, "out")), "nothing is written")


@case()
def options_that_would_do_nothing_are_refused():
    """With the name of the option, the reason, exit code 2, and nothing written."""
    ray = ["--ray", "0 0 5 0 0 -1"]
    with tempfile.TemporaryDirectory() as folder:
        tiles, image, out = (os.path.join(folder, name) for name in ("cube.tiles", "cube.gfx12", "out"))
        check_eq(facet("build", CUBE, "-o", tiles, "--format", "xphmg4").returncode, 0, "tiles")
        check_eq(facet("build", CUBE, "-o", image).returncode, 0, "image")
        capture = write(folder, "x.rra", rra.capture(DIALECTS["gpurt_batch"][1]))
        segments = words_of(DIALECTS["radv_batch"][1], folder) + ["--driver", "radv"]
        rays = write(folder, "rays.bin", struct.pack("<8f", 0, 0, 5, 0, 0, 0, -1, 9))
        moved = ["--scene", CUBE, "-o", out]
        cases = [[*c, tiles, "--driver", "auto"] for c in (["info"], ["check"], ["dump"])]
        cases += [["info", tiles, "--structure", 0], ["check", tiles, "--tolerance", "4ulp"], ["dump", tiles, "--depth", 1],
                  ["update", tiles, "--driver", "radv", *moved], ["update", tiles, "--mask", 3, *moved],
                  ["diff", tiles, tiles, "--builders"], ["diff", tiles, tiles, "--root-b", 5],
                  ["diff", tiles, tiles, "--driver", "auto"],
                  ["info", capture, "--base", 0x1000], ["check", capture, "--base", 0], ["info", capture, "--driver", "radv"],
                  ["why", capture, "--driver", "hiprt", *ray],
                  ["info", CUBE, "--base", 0x1000], ["why", CUBE, "--root", 5, *ray],
                  ["trace", CUBE, "--base", 64, "--rays", rays, "-o", out], ["info", CUBE, "--structure", 0],
                  ["info", image, "--structure", 0], ["info", image, "--driver", "auto", "--structure", 0],
                  ["info", *segments, "--base", 0x7F1200000040],
                  ["check", image, "--time", 1], ["check", image, "--mask", 3], ["check", image, "--flip"],
                  ["update", image, "--aabbs", rays, "--time", 0, "-o", out], ["build", "--aabbs", rays, "--time", 0, "-o", out],
                  ["why", image, "--eye", "1,2,3", *ray], ["why", image, "--size", "9x9", *ray],
                  ["why", image, "--max", 3, "--brief", *ray], ["why", image, "--max", 3, "--expect", 0, *ray],
                  ["why", image, "--node", 5, "--procedural", "box", *ray], ["why", image, "--brief", "--tree", *ray],
                  ["export", image, "--what", "triangles", "--depth", "1..2", "-o", out + ".obj"]]
        for words in cases:
            result = facet(*words)
            check_eq((result.returncode, result.stdout), (2, ""), " ".join(map(str, words)))
            named = [w for w in map(str, words) if w.startswith("--") and w + " " in result.stderr]
            check(named, "no option is named: %s: %s" % (words, result.stderr))
        check_eq([n for n in os.listdir(folder) if n.startswith("out")], [], "nothing is written")


@case("G12-272")
def base_without_an_image_chooses_the_structure():
    capture = DIALECTS["radv_batch"][1]
    with tempfile.TemporaryDirectory() as folder:
        words = words_of(capture, folder) + ["--driver", "radv"]
        for number, segment in enumerate(capture.segments):
            offset, = struct.unpack_from("<I", segment.data)
            for base in (segment.address, segment.address + offset):
                told = json.loads(facet("info", *words, "--base", hex(base), "--json").stdout)
                check_eq(told["structure"], number, hex(base))


main("drivers")
