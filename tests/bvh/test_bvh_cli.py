"""The `facet bvh` commands from outside: what they print, write and refuse."""
import json
import os
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
CUBE = os.path.join(SOURCE, "examples/gfx12/cube.obj")
MOVED = os.path.join(SOURCE, "examples/gfx12/cube-moved.obj")
BOXES = os.path.join(SOURCE, "examples/gfx12/boxes.json")


def facet(*words, **more):
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([FACET, *words], stderr=subprocess.PIPE, timeout=600, **more)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def build(folder, *more, scene=CUBE, name="cube.gfx12"):
    path = os.path.join(folder, name)
    words = ["bvh", "build"] + ([scene] if scene else []) + ["-o", path, "--quiet", *more]
    result = facet(*words)
    check_eq(result.returncode, 0, f"exit code of {words}: {result.stderr}")
    return path, result.stdout.decode()


def check_refused(result, *words):
    check_eq(result.returncode, 2, f"exit code, {result.stderr}")
    for word in words:
        check(word in result.stderr.decode(), f"{word!r} is not in {result.stderr!r}")


@case()
def the_bottom_level_of_the_cube_is_example_12():
    with tempfile.TemporaryDirectory() as folder:
        path, text = build(folder)
        image = read(path)
        check_eq(len(image), 512, "size")
        words = [int.from_bytes(image[256 + 4 * i:260 + 4 * i], "little") for i in range(64)]
        check_eq(words[:8], [0, 0x10, 0xFFFFFFFF, 0, 0, 0, 0x507F7F7F, 0x7F], "head of the BLAS root")
        check_eq(words[8:11], [0x05000000, 0xFFFFF000, 0x00000FFF], "child 0")
        check("SAH cost" in text and "build time" in text, text)


@case()
def threads_and_quality_are_accepted_and_checked():
    with tempfile.TemporaryDirectory() as folder:
        one = read(build(folder, "--threads", "1")[0])
        four = read(build(folder, "--threads", "4")[0])
        check(one == four, "the bytes depend on the number of threads")
        for more in (["--quality", "high"], ["--obb"], ["--prim-range", "16"], ["--base", "0x10000"]):
            path, _ = build(folder, *more)
            base = ["--base", "0x10000"] if "--base" in more else []
            result = facet("bvh", "check", path, *base)
            check_eq(result.returncode, 0, result.stdout.decode())
        output = os.path.join(folder, "none")
        check_refused(facet("bvh", "build", CUBE, "-o", output, "--quality", "best"), "best")
        check_refused(facet("bvh", "build", CUBE, "-o", output, "--prim-range", "17"), "prim-range")
        check_refused(facet("bvh", "build", CUBE, "-o", output, "--base", "100"), "64")
        check_refused(facet("bvh", "build", CUBE), "-o")
        check_refused(facet("bvh", "build", "-o", output), "scene")
        check_refused(facet("bvh", "build", folder + "/nothing.glb", "-o", output), "nothing.glb")
        check(not os.path.exists(output), "a refused build left a file")


def check_kept(path, *words):
    """The command would replace the file: it is refused, and the file is as before."""
    before = read(path)
    check_refused(facet(*words), "choose another output")
    check(read(path) == before, f"{words} replaced {path}")


@case()
def no_command_replaces_its_input():
    with tempfile.TemporaryDirectory() as folder:
        scene, boxes, link = (os.path.join(folder, name) for name in ("a.obj", "b.json", "link.obj"))
        write(scene, read(CUBE))
        write(boxes, read(BOXES))
        os.symlink(scene, link)
        for output in (scene, os.path.join(folder, ".", "a.obj"), link):
            check_kept(scene, "bvh", "build", scene, "-o", output)
        check_kept(boxes, "bvh", "build", "--aabbs", boxes, "-o", boxes)
        check_kept(boxes, "bvh", "build", scene, "--aabbs", boxes, "-o", boxes)
        image = build(folder)[0]
        check_kept(scene, "bvh", "update", image, "--scene", scene, "-o", scene)
        check_eq(facet("bvh", "update", image, "--scene", scene, "-o", image).returncode, 0,
                 "an image may be updated in place")
        rays = os.path.join(folder, "rays.bin")
        write(rays, bytes(32))
        check_kept(rays, "bvh", "trace", image, "--rays", rays, "-o", rays)
        check_kept(image, "bvh", "trace", image, "--rays", rays, "-o", image)
        text = os.path.join(folder, "cube.json")
        write(text, facet("bvh", "dump", image, "--json").stdout)
        check_kept(text, "bvh", "encode", text, "-o", text)
        check_eq(facet("bvh", "encode", text, "-o", image).returncode, 0, "another name")


@case()
def summaries_are_json_on_demand():
    with tempfile.TemporaryDirectory() as folder:
        path, text = build(folder, "--json")
        built = json.loads(text)
        info = json.loads(facet("bvh", "info", path, "--json").stdout)
        for key in ("nodes", "bytes", "triangles", "sah_cost", "max_depth", "bytes_per_triangle"):
            check_eq(built[key], info[key], key)
        check_eq(info["triangles"], 12, "triangles")
        check_eq(info["box_nodes_by_children"][6], 1, "box nodes with six children")
        check(b"Box nodes by children" in facet("bvh", "info", path).stdout, "no histogram")


@case()
def boxes_come_from_a_file():
    with tempfile.TemporaryDirectory() as folder:
        path, text = build(folder, "--aabbs", BOXES, "--json", scene=None)
        check_eq(json.loads(text)["boxes"], 3, "boxes")
        check_eq(facet("bvh", "check", path).returncode, 0, "exit code of check")
        bad = os.path.join(folder, "bad.json")
        for content, word in ((b"{}", "aabbs"), (b'{"aabbs":[{"min":[1,2],"max":[1,2,3]}]}', "box 0"),
                              (b'{"aabbs":[{"min":[1,2,9],"max":[1,2,3]}]}', "min.z"), (b"[", "bad.json")):
            write(bad, content)
            check_refused(facet("bvh", "build", "--aabbs", bad, "-o", path), word)


@case()
def damage_is_found_and_named():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder)
        image = bytearray(read(path))
        image[256 + 28] = 110
        write(path, image)
        result = facet("bvh", "check", path)
        check_eq(result.returncode, 1, "exit code")
        check(b"0x0000011c  V06  G12-194  error" in result.stdout, result.stdout)
        report = json.loads(facet("bvh", "check", path, "--json").stdout)
        check_eq(report["errors"], 1, "errors")
        check_eq(report["findings"][0]["rule"], "V06", "rule")
        check_eq(report["findings"][0]["offset"], "0x11c", "offset")
        check_refused(facet("bvh", "check", os.path.join(folder, "nothing")), "nothing")
        for content in (b"", b"\xff", os.urandom(1000)):
            write(path, content)
            check_eq(facet("bvh", "check", path).returncode, 1, f"exit code for {len(content)} bytes")


@case()
def a_raw_dump_is_read_with_base_and_root():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--base", "0x80000000")
        write(path, b"\xcd" * 128 + read(path)[128:128] + read(path))
        result = facet("bvh", "check", path, "--base", "0x7fffff80", "--root", "0x15")
        # The tree starts one node later, so IDs relative to the base are off by one node.
        check_eq(result.returncode, 1, "exit code with shifted IDs")
        write(path, read(path)[128:])
        check_eq(facet("bvh", "check", path, "--base", "0x80000000").returncode, 0, "exit code")
        blas = facet("bvh", "check", path, "--base", "0x80000000", "--root", "0x25", "--json").stdout
        check(json.loads(blas)["reached"] < 4, "the BLAS alone has fewer nodes")


@case()
def text_goes_back_to_the_same_bytes():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--aabbs", BOXES)
        text = facet("bvh", "dump", path, "--json").stdout
        json.loads(text)
        name = os.path.join(folder, "nodes.json")
        again = os.path.join(folder, "again")
        for content in (read(path), os.urandom(700), b""):
            write(path, content)
            write(name, facet("bvh", "dump", path, "--json").stdout)
            result = facet("bvh", "encode", name, "-o", again)
            check_eq(result.returncode, 0, result.stderr.decode())
            check(read(again) == content, "encode gave other bytes")
        write(name, text.replace(b'"kind":"box"', b'"kind":"bax"', 1))
        check_refused(facet("bvh", "encode", name, "-o", again + "2"), "line 2", "bax")
        check(not os.path.exists(again + "2"), "a refused file was written")
        check(b"instance" in facet("bvh", "dump", build(folder)[0]).stdout, "no listing")


@case()
def update_refits_and_diff_sees_it():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder)
        moved = os.path.join(folder, "moved")
        same = os.path.join(folder, "same")
        check_eq(facet("bvh", "update", path, "--scene", CUBE, "-o", same).returncode, 0, "update")
        check(read(same) == read(path), "a refit to the same scene changed bytes")
        check_eq(facet("bvh", "diff", path, same).returncode, 0, "diff of equal images")
        result = facet("bvh", "update", path, "--scene", MOVED, "-o", moved, "--json")
        check(json.loads(result.stdout)["sah_after"] > 0, "no cost")
        check_eq(facet("bvh", "check", moved).returncode, 0, "check of the refitted image")
        result = facet("bvh", "diff", path, moved, "--max", "1")
        check_eq(result.returncode, 1, "diff of different images")
        check(b"more" in result.stdout, result.stdout)
        report = json.loads(facet("bvh", "diff", path, moved, "--json").stdout)
        check(report["differences"] > 3 and report["list"][0]["field"] == "origin_x", report)
        check_refused(facet("bvh", "update", path, "--aabbs", BOXES, "-o", moved), "scene")
        check_refused(facet("bvh", "update", path, "-o", moved), "--scene")


@case("RT-091 RT-092")
def tile_images_are_built_checked_and_listed():
    with tempfile.TemporaryDirectory() as folder:
        for form, mode in (("--ew 32", 0x300000), ("--ew 16", 0x80000), ("--ew 8 --quantized", None)):
            for width in ("xphmg4", "xphmg8"):
                words = ("--format", width, *form.split())
                path, text = build(folder, *words, name="cube.tiles")
                image = read(path)
                check_eq(image[:8], b"XPHMGBVH", "magic")
                found = int.from_bytes(image[24:32], "little")
                if mode is not None:
                    check_eq(found, mode, f"MODE of {form}")
                else:  # PET INT8, EW 8, Q, ZP_EN 1
                    check_eq(found & 0xFFFFC030, 0x604020, f"MODE of {form}")
                check("triangles           12" in text, text)
                check_eq(read(build(folder, *words, "--threads", "3", name="three.tiles")[0]), image, "3 threads")
                found = facet("bvh", "check", path, "--json")
                check_eq(found.returncode, 0, f"check: {found.stdout}")
                check_eq(json.loads(found.stdout)["findings"], [], "findings")
                info = json.loads(facet("bvh", "info", path, "--json").stdout)
                check_eq((info["format"], info["triangles"]), (width, 12), "info")
                dump = json.loads(facet("bvh", "dump", path, "--json").stdout)
                seen = [t["primitive"] for p in dump["places"] if p["kind"] == "leaf" for t in p["triangles"]]
                check_eq(sorted(seen), list(range(12)), "every triangle once")


@case()
def tile_images_go_to_json_and_back():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--format", "xphmg8", "--ew", "16", name="cube.tiles")
        text = facet("bvh", "dump", path, "--json").stdout
        json_path, again = os.path.join(folder, "cube.json"), os.path.join(folder, "again.tiles")
        write(json_path, text)
        done = facet("bvh", "encode", json_path, "-o", again)
        check_eq((done.returncode, done.stderr), (0, b""))
        check_eq(read(again), read(path), "bytes")
        done = facet("bvh", "diff", path, again)
        check_eq((done.returncode, done.stdout), (0, b""))
        write(json_path, text.replace(b'"count": 2', b'"count": 1', 1))
        check_eq(facet("bvh", "encode", json_path, "-o", again).returncode, 0)
        done = facet("bvh", "diff", path, again)
        check_eq((done.returncode, done.stdout), (1, b"0x00000100  count: 0x2, 0x1\n"))
        found = json.loads(facet("bvh", "diff", path, again, "--json").stdout)
        check_eq(found, {"differences": 1, "list": [{"offset_a": "0x100", "offset_b": "0x100",
                                                      "field": "count", "a": "0x2", "b": "0x1"}]})
        write(json_path, text.replace(b'"leaf"', b'"lief"', 1))
        check_refused(facet("bvh", "encode", json_path, "-o", again), "cube.json", "expected")
        other, _ = build(folder, name="cube.gfx12")
        check_refused(facet("bvh", "diff", path, other), "cube.tiles", "expected two of them")
        check_refused(facet("bvh", "diff", other, path), "cube.tiles", "expected two of them")
        write(again, read(path)[:90])
        check_refused(facet("bvh", "diff", path, again), "again.tiles", "expected at least 0x80")


@case("RT-097")
def damaged_tile_images_are_named_by_rule_and_offset():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--format", "xphmg4", name="cube.tiles")
        image = bytearray(read(path))
        image[128 + 124] |= 3
        write(path, image)
        found = facet("bvh", "check", path)
        check_eq(found.returncode, 1, "exit code")
        check("0x000000fc  T05  RT-097  error" in found.stdout.decode(), found.stdout)
        write(path, image[:100])
        check_eq(facet("bvh", "check", path).returncode, 1, "exit code of a stump")
        check_refused(facet("bvh", "info", path), "cube.tiles", "expected at least 0x80")
        check_refused(facet("bvh", "dump", path), "cube.tiles", "expected at least 0x80")


@case()
def tile_options_are_checked():
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "x.tiles")
        for words, complaint in (("--format xphmg4 --obb", "--obb is for"),
                                 ("--format xphmg4 --ew 64", "64"),
                                 ("--format xphmg4 --element fp16 --quantized", "expected an integer"),
                                 ("--format xphmg4 --element fp16 --ew 8", "needs --ew 16"),
                                 ("--ew 16", "needs --format"),
                                 ("--format xphmg4 --element fp64", "expected fp32"),
                                 ("--format xphmg4 --element int2", "INT2")):
            check_refused(facet("bvh", "build", CUBE, "-o", out, *words.split()), complaint)
            check(not os.path.exists(out), f"{words} left a file")


@case()
def tile_images_are_not_taken_for_others():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--format", "xphmg4", name="cube.tiles")
        out = os.path.join(folder, "out")
        for words in (("info", path, "--base", "0x1000"), ("check", path, "--root", "5"), ("check", path, "--partial"),
                      ("dump", path, "--root", "5"), ("diff", path, path, "--base", "0")):
            check_refused(facet("bvh", *words), "is for GFX12 images", "cube.tiles")
        for words in (("trace", path, "--rays", path, "-o", out), ("why", path, "--ray", "0 0 0 1 1 1")):
            found = facet("bvh", *words)
            check_refused(found, "cube.tiles is a BVH image of XPHMG_RT", "expected a GFX12 image")
            check_eq(found.stdout, b"", "standard output")
        check(not os.path.exists(out), "a file of hits is left")
        write(path, read(path)[:100])
        found = facet("bvh", "check", path)
        check_eq(found.stdout.split(b"\n")[0], b"0x00000000  T01  header  error: the size of the file is 0x64, "
                                               b"expected at least 0x80, the header")


@case()
def tile_images_are_refitted():
    with tempfile.TemporaryDirectory() as folder:
        path, _ = build(folder, "--format", "xphmg8", name="cube.tiles")
        image, out, scene = read(path), os.path.join(folder, "out.tiles"), os.path.join(folder, "other.obj")
        done = facet("bvh", "update", path, "--scene", CUBE, "-o", out)
        check_eq((done.returncode, done.stdout), (0, b"SAH cost  5.00 before, 5.00 after\n"))
        check(read(out) == image, "unmoved geometry gives other bytes")
        done = facet("bvh", "update", path, "--scene", MOVED, "-o", out, "--json")
        report = json.loads(done.stdout)
        check_eq((done.returncode, report["bytes"]), (0, len(image)))
        check(report["sah_after"] > report["sah_before"] > 1 and report["growth"] > 2**-20, report)
        check_eq(facet("bvh", "check", out).returncode, 0, "check")
        new = json.loads(facet("bvh", "dump", out, "--json").stdout)
        rebuilt = json.loads(facet("bvh", "dump", build(folder, "--format", "xphmg8", scene=MOVED)[0], "--json").stdout)
        corners = [{t["primitive"]: t["corners"] for p in x["places"] if p["kind"] == "leaf" for t in p["triangles"]}
                   for x in (new, rebuilt)]
        check_eq(corners[0], corners[1], "corners")
        check_eq(facet("bvh", "update", path, "--scene", MOVED, "-o", path).returncode, 0, "in place")
        check(read(path) == read(out), "in place the bytes are others")
        os.remove(out)
        with open(CUBE, encoding="utf-8") as file:
            text = file.read()
        for change, complaint in ((text.rsplit("f ", 1)[0], "instance 0, triangle 11, which the scene does not have"),
                                  (text + "\nf 1 2 8\n", "instance 0, triangle 12 of the scene is not in the image")):
            write(scene, change.encode())
            check_refused(facet("bvh", "update", path, "--scene", scene, "-o", out), "cube.tiles: ", complaint)
        for words, complaint in (("--aabbs " + BOXES, "--aabbs is for GFX12"), ("--base 0x1000", "--base is for"),
                                 ("--reach -1", "--reach"), ("--scene /nowhere.obj", "/nowhere.obj")):
            check_refused(facet("bvh", "update", path, "--scene", CUBE, "-o", out, *words.split()), complaint)
        check_refused(facet("bvh", "update", build(folder)[0], "--scene", CUBE, "-o", out, "--reach", "5"),
                      "--reach is for BVH images")
        write(path, image[:252] + bytes([image[252] | 3]) + image[253:])
        check_refused(facet("bvh", "update", path, "--scene", CUBE, "-o", out), "cube.tiles: the image is malformed")
        check(not os.path.exists(out), "a file is left")


@case()
def scenes_that_do_not_fit_are_named():
    with tempfile.TemporaryDirectory() as folder:
        scene, out = os.path.join(folder, "far.obj"), os.path.join(folder, "x.tiles")
        write(scene, b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 70000\nf 1 2 3\nf 1 2 4\n")
        check_refused(facet("bvh", "build", scene, "-o", out, "--format", "xphmg4", "--ew", "16"),
                      "far.obj: instance 0, triangle 1: a corner", "FP16")
        check_refused(facet("bvh", "build", CUBE, "-o", out, "--format", "xphmg4", "--ew", "16", "--reach", "1e30"),
                      "cube.obj: instance 0, triangle 0: its box grown by", "FP16")
        check(not os.path.exists(out), "a file is left")


main("bvh_cli")
