"""`facet gfx12 intersect` from outside: reports, exit codes, and files that are not what they should
be. Also: the public header compiles alone, as C11 and as C++17."""
import copy
import json
import os
import random
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
SILICON = os.path.join(SOURCE, "spec", "gfx12-silicon.json")

with open(SILICON, encoding="utf-8") as _file:
    PUBLISHED = json.load(_file)


def facet(*words, text=None):
    return subprocess.run([FACET, "gfx12", "intersect", *words], input=text, capture_output=True,
                          text=True, timeout=600)


def run_cases(cases, *words):
    return facet("--vectors", "-", *words, text=json.dumps({"cases": cases}))


def published(name):
    return copy.deepcopy(next(c for c in PUBLISHED["cases"] if c["name"] == name))


@case("G12-229 G12-230 G12-231 G12-232 G12-233 G12-234")
def published_cases_pass():
    result = facet("--vectors", SILICON)
    check_eq(result.returncode, 0, "exit code")
    check_eq(result.stdout.splitlines()[-1], "13 cases: 13 passed, 0 failed")
    check_eq(result.stdout.count("pass  "), 13, "passes")
    data = json.loads(facet("--vectors", SILICON, "--json").stdout)
    check_eq((data["total"], data["passed"], data["failed"]), (13, 13, 0))
    for got, want in zip(data["cases"], PUBLISHED["cases"]):
        check_eq(got["name"], want["name"])
        check_eq([int(v, 16) for v in got["v"]], [int(v, 16) for v in want["expected"]])


@case("G12-207 G12-215 G12-218")
def the_other_profile_differs_where_triangles_are_missed():
    result = facet("--vectors", SILICON, "--profile", "gpurt")
    check_eq(result.returncode, 1, "exit code")
    failed = [line.split()[1].rstrip(":") for line in result.stdout.splitlines()
              if line.startswith("FAIL")]
    check_eq(failed, ["tri-first-hit", "tri-last-pair-single", "box8-triangles-first", "tri-back-side", "tri-second-hit",
                      "tri-both-missed"])
    one = published("box8-triangles-first")
    one["profile"] = "silicon"  # the case decides, not the option
    check_eq(run_cases([one], "--profile", "gpurt").returncode, 0, "exit code")


@case()
def first_difference_is_named():
    one = published("box8-all-hit")
    one["expected"][2] = "0x36"
    one["expected"][5] = 0
    result = run_cases([one])
    check_eq(result.returncode, 1, "exit code")
    check("dword 2 (v2) is 00000035, expected 00000036" in result.stdout, result.stdout)
    data = json.loads(run_cases([one], "--json").stdout)
    got = data["cases"][0]
    check_eq((got["pass"], got["index"], got["dword"], got["expected"], got["got"]),
             (False, 2, "v2", "0x36", "0x35"))


@case("G12-291")
def a_descriptor_that_the_card_may_not_answer_is_told():
    one = published("box8-all-hit")
    one["resource"][1] = "0x80000000"  # without sort_triangles_first
    result = run_cases([one])
    check_eq(result.returncode, 0, "boxes alone have the same order")
    check("box8-all-hit: bit 52" in result.stderr and "R-G12-118" in result.stderr, result.stderr)
    check_eq(run_cases([one], "--profile", "gpurt").stderr, "", "another profile")
    check_eq(run_cases([published("box8-all-hit")]).stderr, "", "the bit is set")


def instance_case():
    one = published("box8-all-hit")
    one.update(
        node=[0x3F000000, 0, 0, 0xC0000000, 0, 0x3F000000, 0, 0x3E800000, 0, 0, 0x40000000,
              0x3F800000, 0x4000, 0x82000000, 5, 0x3C00BEEF, 0xBF800000, 0xBF800000, 0xBF800000,
              0x00808080, 0, 0xFFFFF000, 0x15FFFFFF] + [0xFFFFFFFF, 0xFFF, 0] * 3,
        node_pointer=6, origin=[0x40800000, 0xBF000000, 0x40400000],
        direction=[0x3E800000, 0x3E000000, 0xBF800000], ray_extent="0x7f800000",
        resource=["0", "0x80100000", "0xffffffff", "0x81e803ff"], bvh_base="0x0440000000000000",
        expected=[0xFFFFFFFF, 0xFFFFFFFF, 0x4000, 0x86400000, 0xFFFFFFFF, 0xFFFFFFFF, 0xBEEF,
                  0xFFFFFF05, 0xFFFFFFFF, 0xFFFFFFFF],
        expected_origin=[0, 0, "0x40e00000"],
        expected_direction=["0x3e000000", "0x3d800000", "0xc0000000"])
    return one


@case("G12-240 G12-241")
def instance_rays_are_checked():
    one = instance_case()
    result = run_cases([one])
    check_eq(result.returncode, 0, result.stdout + result.stderr)
    one["bvh_base"] = "0x0440000000001000"  # the node follows the base pointer
    check_eq(run_cases([one]).returncode, 0, "exit code")
    for alone in ("expected_origin", "expected_direction"):  # each of the two may be left out
        check_eq(run_cases([{key: value for key, value in one.items() if key != alone}]).returncode, 0, f"without {alone}")
    one["expected_direction"][1] = 0
    result = run_cases([one])
    check_eq(result.returncode, 1, "exit code")
    check("dword 14 (direction.y) is 3D800000, expected 00000000" in result.stdout, result.stdout)


@case("G12-108")
def opaque_sense_is_an_option_of_the_case():
    one = published("tri-first-hit")
    one["resource"][3] = "0x81e803ff"  # pointer_flags
    bits = []
    for sense in ("hw", "seed"):
        one["opaque_sense"] = sense
        data = json.loads(run_cases([one], "--json").stdout)
        bits.append(int(data["cases"][0]["v"][2], 16) >> 31)
    check_eq(bits, [1, 0], "opacity bits of a triangle that is not opaque")


def check_refused(result, *words):
    check_eq(result.returncode, 2, "exit code")
    check_eq(result.stdout, "", "standard output")
    for word in words:
        check(word in result.stderr, f"{word!r} is not in {result.stderr!r}")


@case()
def malformed_files_are_refused():
    good = published("box8-all-hit")

    def without(key):
        one = copy.deepcopy(good)
        del one[key]
        return one

    def changed(**members):
        one = copy.deepcopy(good)
        one.update(members)
        return one

    for key in ("node", "node_pointer", "resource", "ray_extent", "instance_mask", "origin",
                "direction", "expected"):
        check_refused(run_cases([good, without(key)]), "case 1", "box8-all-hit", f"cases[1].{key}")
        check_refused(run_cases([changed(**{key: None})]), f"cases[0].{key}")
    check_refused(run_cases([without("name")]), "cases[0].name")
    check_refused(run_cases([changed(node=good["node"][:31])]), "array of 32")
    check_refused(run_cases([changed(node=good["node"][:31] + ["0x100000000"])]), "node[31]")
    check_refused(run_cases([changed(origin=[0, -1, 0])]), "cases[0].origin[1]")
    check_refused(run_cases([changed(origin=[0, 0.5, 0])]), "cases[0].origin[1]")
    check_refused(run_cases([changed(origin=[0, "0xg", 0])]), "cases[0].origin[1]")
    check_refused(run_cases([changed(profile="fast")]), "silicon", "gpurt")
    check_refused(run_cases([changed(opaque_sense=1)]), "opaque_sense")
    check_refused(run_cases([changed(bvh_base="0x10000000000000000")]), "bvh_base")
    check_refused(run_cases([changed(expected_origin=[1])]), "expected_origin")
    check_refused(run_cases([changed(expected_orgin=[1, 2, 3])]), "expected_orgin")
    check_refused(run_cases([7]), "cases[0]")
    check_refused(run_cases({}), "cases")
    check_refused(facet("--vectors", "-", text="[]"), "cases")
    check_refused(facet("--vectors", "-", text='{"cases": ['), "-:1:11")
    check_refused(facet("--vectors", "-", text=""), "-")
    check_refused(facet("--vectors", "/no/such/file.json"), "/no/such/file.json")
    check_refused(facet(), "--vectors")
    check_refused(facet("--vectors", SILICON, "--profile", "fast"), "fast")
    for comment in (None, 7, ["x"], {"x": 1}):
        check_refused(run_cases([changed(comment=comment)]), "cases[0].comment", "a string")
    check_eq(run_cases([]).returncode, 0, "no case at all")
    check_eq(run_cases([changed(comment="x")]).returncode, 0, "a comment is allowed")


@case()
def base_pointers_of_64_bits_are_integers_too():
    one = instance_case()

    def reply(value, space=" ", tail="", words=("--json",)):
        one["bvh_base"] = "BASE"
        text = json.dumps({"cases": [one]}, separators=(",", ":"))
        text = text.replace('"bvh_base":"BASE"', f'"bvh_base"{space}:{space}{value}') + tail
        return facet("--vectors", "-", *words, text=text), len(text)

    # The largest pointer of 63 bits, and beyond: flags of a base pointer live up there.
    for value in (2**63 - 1, 2**63, 2**63 + 0x123456, 10**19 - 1, 10**19, 2**64 - 1,
                  0x8100_0000_0000_0000):
        wanted = reply(f'"{value:#x}"')[0]
        check(wanted.returncode in (0, 1), wanted.stderr)
        for space in ("", " ", "\t", "\r\n"):
            got = reply(value, space)[0]
            check_eq((got.returncode, got.stdout), (wanted.returncode, wanted.stdout), f"{value}")
    # The bits arrive: an instance hands the flags of the ray's base on, to v3.
    replies = {reply(value)[0].stdout for value in (0, 2**63 | 2**54, 2**64 - 1)}
    check_eq(len(replies), 3, "different replies")
    # What is not such a number is refused as before, and columns count what the user wrote.
    for value in (2**64, 10**20, -1, -2**63 - 1, "9223372036854775808.5", "09223372036854775808",
                  "9223372036854775808e0"):
        check_refused(reply(value)[0], "-")
    for value in (2**63, 2**64 - 1):
        result, length = reply(value, tail="}")
        check_refused(result, f"-:1:{length}:")
    text = json.dumps({"cases": [one]}).replace('"name": "box8-all-hit"', f'"name": {2**63}')
    check_refused(facet("--vectors", "-", text=text), "too big")
    text = json.dumps({"cases": [one]}).replace('"BASE"', str(2**64 - 1))
    quoted = json.dumps(f'"bvh_base": {2**63}')  # inside a name it is only text
    text = text.replace('"box8-all-hit"', quoted)
    data = json.loads(facet("--vectors", "-", "--json", text=text).stdout)
    check_eq(data["cases"][0]["name"], json.loads(quoted))


@case()
def names_do_not_reach_the_terminal_raw():
    one = published("box8-all-hit")
    one["name"] = "a\x1b[2J\n\x7f\u009bé\t"
    shown = "a\\u001b[2J\\u000a\\u007f\\u009bé\\u0009"
    check_eq(run_cases([one]).stdout.splitlines()[0], f"pass  {shown}")
    one["expected"][0] = "0x12345678"
    check(run_cases([one]).stdout.startswith(f"FAIL  {shown}: dword 0"), "the failing case")
    check_eq(json.loads(run_cases([one], "--json").stdout)["cases"][0]["name"], one["name"])
    one["expected"] = []
    check_refused(run_cases([one]), shown, "cases[0].expected")


@case()
def mangled_files_never_crash():
    random.seed(12)
    with open(SILICON, encoding="utf-8") as file:
        text = file.read()
    for _ in range(60):
        mangled = list(text)
        for _ in range(random.randrange(1, 6)):
            at = random.randrange(len(mangled))
            mangled[at] = random.choice(['"', "[", "{", "9", "-", ",", "\x00", "f", "x", "é", ""])
        result = facet("--vectors", "-", text="".join(mangled))
        check(result.returncode in (0, 1, 2), f"exit code {result.returncode}: {result.stderr}")


@case()
def header_compiles_alone():
    for compiler, words in (("gcc", ["-std=c11", "-x", "c"]), ("clang", ["-std=c11", "-x", "c"]),
                            ("g++", ["-std=c++17", "-x", "c++"]),
                            ("clang++", ["-std=c++17", "-x", "c++"])):
        if shutil.which(compiler) is None:
            continue
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "alone.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write("#include <facet/gfx12.h>\nint main(void) { return 0; }\n")
            result = subprocess.run([compiler, *words, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                                     "-I", os.path.join(SOURCE, "include"), "-fsyntax-only",
                                     source], capture_output=True, text=True, timeout=600)
            check_eq(result.returncode, 0, f"{compiler}: {result.stderr}")
    if shutil.which("gcc") is None:
        skip("no compiler")


main("gfx12_cli")
