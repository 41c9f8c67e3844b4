"""`facet as` and `facet dis` for gfx12, beside LLVM's assembler where there is one that knows these
instructions; and `facet gfx12 intersect` on cases of the dual and the stack instructions."""
import copy
import json
import os
import random
import re
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main, skip

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
FOLDER = tempfile.TemporaryDirectory()

with open(os.path.join(SOURCE, "examples/gfx12/instructions.json"), encoding="utf-8") as _file:
    CASES = json.load(_file)["cases"]


def facet(*words, text=None, code=0):
    done = subprocess.run([FACET, *words], input=text, capture_output=True, text=True, timeout=600)
    check_eq(done.returncode, code, f"facet {' '.join(words)} said {done.stderr}; exit code")
    return done


def assemble(text):
    return facet("as", "-", "--isa", "gfx12", text=text).stdout.split()


def disassemble(words):
    return facet("dis", "--isa", "gfx12", "--hex", "-", text=" ".join(words)).stdout.splitlines()


def registers(rng, bank, count):
    step = 4 if bank == "s" else 1
    first = rng.randrange(0, (101 if bank == "s" else 257 - count), step)
    return f"{bank}{first}" if count == 1 else f"{bank}[{first}:{first + count - 1}]"


def random_line(rng):
    """As LLVM writes it."""
    kind = rng.randrange(5)
    v = [registers(rng, "v", n) for n in (10, 2, 2, 3, 3, 1, 2)]
    if kind < 2:
        name = ("image_bvh8_intersect_ray", "image_bvh_dual_intersect_ray")[kind]
        return f"{name} {v[0]}, [{v[1]}, {v[2]}, {v[3]}, {v[4]}, {v[5 + kind]}], {registers(rng, 's', 4)}"
    name, results, wide = (("ds_bvh_stack_push8_pop1_rtn_b32", 1, 8), ("ds_bvh_stack_push8_pop2_rtn_b64", 2, 8),
                           ("ds_bvh_stack_push4_pop1_rtn_b32", 1, 4))[kind - 2]
    offset = rng.choice((0, 1, 255, 256, 528, 65535, rng.randrange(65536)))
    return (f"{name} {registers(rng, 'v', results)}, {registers(rng, 'v', 1)}, {registers(rng, 'v', 1)}, "
            f"{registers(rng, 'v', wide)}" + (f" offset:{offset}" if offset else ""))


def llvm():
    for version in range(30, 19, -1):
        for name in (f"llvm-mc-{version}", f"/usr/lib/llvm-{version}/bin/llvm-mc"):
            if shutil.which(name):
                return [name, "-triple=amdgcn", "-mcpu=gfx1200"]
    skip("no llvm-mc of version 20 or later: the package llvm-22 has one")
    return None


@case()
def words_and_text_are_those_of_llvm():
    tool = llvm()
    rng = random.Random(16)
    lines = [random_line(rng) for _ in range(400)]
    done = subprocess.run([*tool, "-show-encoding"], input="\n".join(lines), capture_output=True, text=True,
                          timeout=600)
    check_eq(done.returncode, 0, done.stderr)
    theirs = []
    for encoding in re.findall(r"encoding: \[([^\]]*)\]", done.stdout):
        octets = [int(x, 16) for x in encoding.split(",")]
        theirs += ["%08x" % int.from_bytes(bytes(octets[i:i + 4]), "little") for i in range(0, len(octets), 4)]
    ours = assemble("\n".join(lines))
    check_eq(ours, theirs, "words")
    check_eq(disassemble(ours), lines, "text")
    again = subprocess.run([*tool, "-show-encoding"], input="\n".join(disassemble(ours)), capture_output=True,
                           text=True, timeout=600)
    check_eq((again.returncode, again.stdout), (0, done.stdout), "what LLVM makes of our text")


@case()
def text_and_words_come_back():
    rng = random.Random(2)
    lines = [random_line(rng) for _ in range(500)]
    words = assemble("\n".join(lines))
    check_eq(disassemble(words), lines)
    # Bits at random: what is no instruction is a dword, and all of it assembles to the same words.
    noise = ["%08x" % rng.choice((0xD3E04010, 0xD3E00010, 0xDB840210, rng.getrandbits(32))) for _ in range(3000)]
    check_eq(assemble("\n".join(disassemble(noise))), noise)


@case("G12-294")
def what_lies_beyond_the_contract():
    """Descriptors end with s103, and the four-wide stack instruction has words and text."""
    line = "image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[%d:%d]"
    words = assemble(line % (100, 103))
    check_eq(disassemble(words), [line % (100, 103)], "the last descriptor")
    for first in (104, 105, 106):
        done = facet("as", "-", "--isa", "gfx12", text=line % (first, first + 3), code=2)
        check("s105" in done.stderr, done.stderr)
    beyond = [words[0], "%08x" % (int(words[1], 16) & ~(0x7F << 9) | 104 << 9), words[2]]
    check_eq(disassemble(beyond), [".long 0x" + w for w in beyond], "s[104:107]")
    between = [words[0], "%08x" % (int(words[1], 16) & ~(0x7F << 9) | 6 << 9), words[2]]
    check_eq(disassemble(between), [".long 0x" + w for w in between], "s[6:9]")
    # Words of LLVM's own tests (gfx12_asm_ds.s).
    for line, words in (("v1, v0, v1, v[2:5]", ["db800000", "01020100"]),
                        ("v255, v254, v253, v[249:252] offset:65535", ["db80ffff", "fff9fdfe"])):
        line = "ds_bvh_stack_push4_pop1_rtn_b32 " + line
        check_eq((assemble(line), disassemble(words)), (words, [line]), line)
    check_eq(disassemble(["db800000", "01fd0100"]), [".long 0xdb800000", ".long 0x01fd0100"], "v[253:256]")
    done = facet("as", "-", "--isa", "gfx12", text="ds_bvh_stack_push4_pop1_rtn_b32 v1, v0, v1, v[2:9]", code=2)
    check("-:1:45: error: expected v register range of 4" in done.stderr, done.stderr)


@case("G12-294")
def the_four_wide_stack_instruction_is_not_executed():
    image, program = (os.path.join(FOLDER.name, name) for name in ("cube.gfx12", "four.s"))
    facet("bvh", "build", os.path.join(SOURCE, "examples/gfx12/cube.obj"), "-o", image)
    with open(program, "w", encoding="utf-8") as file:
        file.write("ds_bvh_stack_push4_pop1_rtn_b32 v50, v22, v21, v[30:33]\n")
    done = facet("gfx12", "run", image, "--ray", "0 0 0 1 0 0", "--program", program, code=1)
    check("0xdb800000" in done.stdout + done.stderr, done.stdout + done.stderr)


@case()
def both_ways_to_write_the_offsets():
    head = "ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7]"
    check_eq(assemble(f"{head}, 16, 2 # fields\n{head} offset:528 ; one number\n{head} offset:0x210 // same\n"),
             ["db840210", "14001516"] * 3)
    check_eq(assemble(f"{head}\n  .LONG 0x7e000280, 7\n"), ["db840000", "14001516", "7e000280", "00000007"])


@case()
def files_of_words_and_bytes():
    text = os.path.join(SOURCE, "examples/gfx12/one-node.s")
    names = {form: os.path.join(FOLDER.name, "one." + form) for form in ("hex", "bin")}
    for form, name in names.items():
        facet("as", text, "--isa", "gfx12", "--format", form, "-o", name)
    lines = [facet("dis", "--isa", "gfx12", name).stdout for name in names.values()]
    check_eq(lines[0], lines[1])
    check_eq(len(lines[0].splitlines()), 2)
    data = json.loads(facet("dis", "--isa", "gfx12", names["bin"], "--json").stdout)
    check_eq([(d["offset"], d["size"], d["row"]) for d in data],
             [("0x0", 12, "image_bvh8_intersect_ray"), ("0xc", 8, "ds_bvh_stack_push8_pop1_rtn_b32")])
    with open(names["bin"], "ab") as file:
        file.write(b"x")
    check("whole dwords" in facet("dis", "--isa", "gfx12", names["bin"], code=2).stderr, "odd size")


@case()
def bad_text_is_told_with_its_place():
    done = facet("as", "-", "--isa", "gfx12", code=2, text="\nimage_bvh8_intersect_ray v[0:8]\n.long 1, y\n")
    check("-:2:26: error: expected v register range of 10" in done.stderr, done.stderr)
    check("-:3:10: error: expected dwords" in done.stderr, done.stderr)
    check_eq(done.stdout, "")
    for words, message in ((("--format", "elf"), "no executables"), (("--base", "0"), "does not go with"),
                           (("-D", "A=1"), "does not go with")):
        check(message in facet("as", "-", "--isa", "gfx12", *words, text="", code=2).stderr, message)
    data = json.loads(facet("as", "-", "--isa", "gfx12", "--json", "-o", os.path.join(FOLDER.name, "x"), code=2,
                            text="v_nop\n").stdout)
    check_eq((data["ok"], data["errors"][0]["line"]), (False, 1))
    check(not os.path.exists(os.path.join(FOLDER.name, "x")), "nothing is written")
    for text, column in (("ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7] offset:65536", 62),
                         ("ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7] offset 1", 62),
                         ("ds_bvh_stack_push8_pop1_rtn_b32 v20, v22, v21, v[0:7] gds", 55),
                         ("image_bvh8_intersect_ray v[0:9], [v[0:1], v[11:12], v[3:5], v[6:8], v9], s[2:5]", 74)):
        check(f"-:1:{column}:" in facet("as", "-", "--isa", "gfx12", text=text, code=2).stderr, text)


# ---- vector files ----

def intersect(cases, *words, code=0):
    return facet("gfx12", "intersect", "--vectors", "-", *words, text=json.dumps({"cases": cases}), code=code)


def one(name):
    return copy.deepcopy(next(c for c in CASES if c["name"] == name))


@case("G12-002 G12-245")
def cases_of_the_contract_pass():
    data = json.loads(intersect(CASES, "--json").stdout)
    check_eq((data["total"], data["failed"]), (len(CASES), 0))
    for got, want in zip(data["cases"], CASES):
        key = "v" if "node" in want else "result"
        check_eq([int(v, 16) for v in got[key]], [int(v, 16) for v in want["expected"]], want["name"])


@case()
def differences_of_stack_cases_are_named():
    for change, words in ((("expected", ["0x1"]), "dword 0 (result) is 00000105, expected 00000001"),
                          (("expected_address", 7), "dword 2 (address) is 00200842, expected 00000007"),
                          (("expected_lds", [0] * 64 + [3]), "dword 80 (lds[64]) is 00000125, expected 00000003"),
                          (("expected_lds", [0] * 64 + ["0x125"] + [0] * 31 + ["0x115"] + [0] * 31 + ["0x105"] +
                            [0] * 100 + [9]), "(lds[229]) is 00000000, expected 00000009")):
        item = one("stack-push-three")
        item[change[0]] = change[1]
        done = intersect([item], code=1)
        check(words in done.stdout, done.stdout)
    item = one("stack-two-boxes")
    item["expected"][1] = 4
    check("dword 1 (result 2) is 00000115" in intersect([item], code=1).stdout, "second result")


@case()
def lds_ends_where_the_case_says():
    item = one("stack-push-three")
    item["lds"] = item["lds"][:100]  # entries 0 and 1 only: the third push is lost and reads as 0
    item["expected"] = [0]
    item["expected_lds"] = item["expected_lds"][:100]
    intersect([item])


@case()
def members_belong_to_their_instruction():
    for name, change, words in (
            ("stack-push-three", {"node_pointer": 5}, ".node_pointer: a member of cases of another"),
            ("dual-triangle-hit", {"node_pointer": 5}, ".node_pointer: a member of cases of another"),
            ("dual-triangle-hit", {"node_pointers": [1]}, ".node_pointers: expected an array of 2"),
            ("dual-triangle-hit", {"node": [0] * 17}, ".node: expected an array of 16 to 4096"),
            ("stack-push-three", {"data": [0] * 7}, ".data: expected an array of 8"),
            ("stack-push-three", {"offset0": 256}, ".offset0: expected a number from 0 to 255"),
            ("stack-push-three", {"expected": [1, 2]}, ".expected: expected an array of 1"),
            ("stack-push-three", {"comment": 4}, ".comment: expected a string"),
            ("stack-push-three", {"lds": [0] * 16385}, ".lds: expected an array of 0 to 16384"),
            ("stack-push-three", {"instruction": "s_nop"}, ".instruction: expected the name"),
            ("stack-push-three", {"instruction": 3}, ".instruction: expected the name"),
            ("stack-push-three", {"colour": 3}, ".colour: unknown member")):
        item = one(name)
        item.update(change)
        done = intersect([item], code=2)
        check(words in done.stderr and done.stdout == "", done.stderr)


main("gfx12_isa")
