"""The structures of spec/ *.layout.tsv in C. The oracle is a second reading of the rows, here: the bits of a
member taken out of one long integer. The generated accessors must agree with it, on the tables of the contract and
on a table made to be awkward; and one more row in a copy of the contract must be enough to be seen everywhere."""
import json
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main, skip

SOURCE = os.environ["FACET_SOURCE"]
BUILD = os.path.dirname(os.environ["FACET"])
GENERATOR = os.path.join(SOURCE, "tools", "gen_tables.py")
UNITS = {"tile": 4, "gfx12": 4, "xphmg": 1}
HEAD = "structure\tmember\toffset\tbits\ttype\tlegal\tdefault\tmeaning\tsource\n"

# Numbers over word borders, signed fields, packed arrays, structures in structures, views, elements.
AWKWARD = """
INNER\t-\t8\t4\tstructure\t-\t-\tinside\tnumeric.md
INNER\tlow\t0\t4:0\tu5\t-\t-\ta number\t-
INNER\tsigned_one\t0\t40:29\ti12\t-\t-\tover a word border\t-
INNER\trest\t5\t23:1\tu23\t-\t-\tnot at a byte\t-
OUTER\t-\t64\t8\tstructure\t-\t-\toutside\tnumeric.md
OUTER\tkind\t0\t3:0\tenum\tA=2 B=3 C=9 ~C\tA\ta stand-in\t-
OUTER\tflags\t0\t31:4\tflags\tX=0 Y=27\t-\tthe ends\t-
OUTER\tlimit\t4\t15:0\tu16\t1..4 6 40..65535 !WHY\t6\tthree ranges\t-
OUTER\tsame\t4\t|31:0\tu32\t-\t-\tthe whole word\t-
OUTER\tlong_one\t0x08\t63:0\taddr\t-\t-\t64 bits\t-
OUTER\tpacked\t16\t58:3\tu7[8]\t-\t-\tseven bits each\t-
OUTER\tinner\t24\t-\tINNER[3]\t-\t-\tthree of them\t-
OUTER\thalves\t48\t-\tipair\t-\t-\tsigned\t-
OUTER\treal\t52\t31:0\tf32\t-\t-2.5\ta number\t-
OUTER\tnegative\t56\t31:0\ti32\t-\t-\twhole\t-
OUTER\tone\t60\t7:0\tfixed\t5 !WHY\t-\talways five\t-
"""
ELASTIC = """
BOX\t-\t2*e\t1\tstructure\t-\t-\ta box\tnumeric.md
BOX\tlo\t0\t-\telement\t-\t-\tlow\t-
BOX\thi\t1*e\t-\telement\t-\t-\thigh\t-
NODE\t-\t8+8*e\t4\tstructure\t-\t-\ta node\tnumeric.md
NODE\tbox\t0\t-\tBOX[4]\t-\t-\tboxes\t-
NODE\tid\t8*e\t63:0\tu32[2]\t-\t-\tbehind the boxes\t-
"""


def run(*command, **more):
    result = subprocess.run(command, capture_output=True, text=True, **more)
    check_eq(result.returncode, 0, " ".join(command)[:80] + ": " + result.stderr[-2000:])
    return result.stdout


class Copy:
    """A copy of spec/ in a folder of its own, with the generated header of each machine."""

    def __enter__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.spec = os.path.join(self.folder, "spec")
        shutil.copytree(os.path.join(SOURCE, "spec"), self.spec)
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def write(self, name, text):
        with open(os.path.join(self.spec, name), "w", encoding="utf-8") as f:
            f.write(HEAD + text.lstrip("\n"))

    def header(self, machine):
        path = os.path.join(self.folder, machine + "_layouts.h")
        run(sys.executable, GENERATOR, "--layouts", self.spec, machine, path)
        with open(path, encoding="utf-8") as f:
            return f.read()

    def program(self, name, text, *more):
        source = os.path.join(self.folder, name + ".c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        exe = os.path.join(self.folder, name)
        run("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", self.folder, "-o", exe, source, *more)
        return run(exe)

    def rows(self, machine):
        """structure -> (bytes, members) by an own reading; structures that depend on the element are left out."""
        out = {}
        for name in sorted(os.listdir(self.spec)):
            if not name.endswith(".layout.tsv") or re.split("[-.]", name)[0] != machine:
                continue
            with open(os.path.join(self.spec, name), encoding="utf-8") as f:
                for line in f.read().splitlines()[1:]:
                    cells = line.split("\t")
                    if cells[1] == "-":
                        out[cells[0]] = (None if re.search("[e/]", cells[2]) else int(cells[2], 0), [])
                    else:
                        out[cells[0]][1].append(cells)
        return {name: row for name, row in out.items() if row[0] is not None}


WIDTHS = {"f16": 16, "f32": 32, "color": 32, "pair": 32, "ipair": 32}


def places(cells):
    """(first bit, width) of each element of a member; None for a structure."""
    base, count = re.match(r"(\w+)(?:\[(\d+)\])?$", cells[4]).groups()
    count = int(count or 1)
    if base[0].isupper():
        return None
    bits = re.match(r"\|?(\d+)(?::(\d+))?$", cells[3])
    if bits:
        lo, width = int(bits.group(2) or bits.group(1)), 0
        width = int(bits.group(1)) - lo + 1
    else:
        lo, width = 0, count * (WIDTHS.get(base) or int(base[1:]))
    first, each = 8 * int(cells[2], 0) + lo, width // count
    return [(first + each * i, each) for i in range(count)]


def meaning(cells, value, width):
    """What a getter says of the bits: named flags, sign, the value that stands in for those without meaning."""
    tokens = cells[5].split()
    if cells[4] == "flags":
        return value & sum(1 << int(t.split("=")[1], 0) for t in tokens)
    if re.match(r"i\d", cells[4]) and value >> (width - 1):
        return value - (1 << width)
    if tokens[-1].startswith("~"):
        known = dict(t.split("=") for t in tokens[:-1])
        if value not in [int(v, 0) for v in known.values()]:
            return int(known[tokens[-1][1:]], 0)
    return value


def prefix(machine, name):
    words = re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("([A-Z]+)([A-Z][a-z])", r"\1_\2", name)).lower()
    return "facet_%s_%s" % (machine, re.sub("^%s_" % machine, "", words))


def literal(data, unit):
    words = [int.from_bytes(data[i:i + unit], "little") for i in range(0, len(data), unit)]
    return "{%s}" % ", ".join("0x%Xu" % w for w in words)


def compare(copy, machine, seed):
    """Getters and setters of all members on random bytes; pack after unpack; against the rows."""
    rng, unit, body, expected = random.Random(seed), UNITS[machine], [], []
    copy.header(machine)
    for name, (size, members) in copy.rows(machine).items():
        size += -size % unit
        data = bytes(rng.randrange(256) for _ in range(size))
        number, p = int.from_bytes(data, "little"), prefix(machine, name)
        body.append("{ static const uint%d_t d[] = %s; (void)d;" % (8 * unit, literal(data, unit)))
        for cells in members:
            for i, (first, width) in enumerate(places(cells) or []):
                index = ", %d" % i if "[" in cells[4] else ""
                body.append('printf("%%lld\\n", (long long)%s_%s(d%s));' % (p, cells[1], index))
                value = meaning(cells, number >> first & ((1 << width) - 1), width)
                expected.append(value - (1 << 64) if value >> 63 == 1 else value)
                put, mask = rng.getrandbits(width), (1 << width) - 1
                if cells[4] == "flags":
                    mask = meaning(cells, mask, width)
                changed = number & ~(mask << first) | (put & mask) << first
                cast = "(int64_t)" if cells[4][0] == "i" and cells[4][1].isdigit() else ""
                body.append("{ uint%d_t c[%d]; memcpy(c, d, sizeof c);" % (8 * unit, size // unit))
                body.append("%s_set_%s(c%s, %sUINT64_C(0x%X)); show(c, sizeof c / sizeof c[0]); }"
                            % (p, cells[1], index, cast, put))
                expected.append(changed.to_bytes(size, "little").hex())
        body.append("}")
    out = copy.program("compare_" + machine, """#include "%s_layouts.h"
#include <stdio.h>
static void show(const uint%d_t *c, unsigned count)
{
    for (unsigned i = 0; i < count * %d; i++) {
        printf("%%02x", (unsigned)(c[i / %d] >> 8 * (i %% %d) & 255));
    }
    printf("\\n");
}
int main(void)
{
%s
return 0;
}
""" % (machine, 8 * unit, unit, unit, unit, "\n".join(body)), "-Wno-unused-function").splitlines()
    check_eq(len(out), len(expected), "lines")
    for got, want in zip(out, expected):
        check_eq(got, str(want), "accessor")
    return len(expected)


@case("")
def accessors_agree_with_the_rows():
    with Copy() as copy:
        counts = {machine: compare(copy, machine, 7) for machine in UNITS}
        check(counts["tile"] > 400, "accessors tried: %r" % counts)


@case("")
def accessors_of_an_awkward_table():
    for machine in UNITS:
        with Copy() as copy:
            copy.write(machine + "-awkward.layout.tsv", AWKWARD)
            compare(copy, machine, 11)


@case("")
def defaults_packing_and_legal_values():
    """pack after unpack keeps what rows name and clears the rest; legal looks at refused values alone."""
    with Copy() as copy:
        copy.write("gfx12-awkward.layout.tsv", AWKWARD)
        copy.header("gfx12")
        out = copy.program("pack", """#include "gfx12_layouts.h"
#include <stdio.h>
int main(void)
{
    struct facet_gfx12_outer_fields s = facet_gfx12_outer_default(), t;
    uint32_t words[16], again[16], all[16];

    facet_gfx12_outer_pack(&s, words);
    printf("%x %x %x %x %d\\n", words[0], words[1], words[13], words[15], facet_gfx12_outer_legal(words));
    memset(all, 0xFF, sizeof all);
    facet_gfx12_outer_unpack(all, &t);
    facet_gfx12_outer_pack(&t, again);
    for (int i = 0; i < 16; i++) {
        printf("%x ", again[i]);
    }
    printf("%d\\n", facet_gfx12_outer_legal(again));
    for (unsigned v = 0; v < 50; v++) {
        facet_gfx12_outer_set_limit(words, v);
        if (facet_gfx12_outer_limit_legal(words) && facet_gfx12_outer_legal(words)) {
            printf("%u ", v);
        }
    }
    facet_gfx12_outer_set_limit(words, 6);
    facet_gfx12_outer_set_one(words, 4);
    printf("%d %d\\n", facet_gfx12_outer_one_legal(words), facet_gfx12_outer_legal(words));
    printf("%d %d %u %u\\n", facet_gfx12_outer_halves_first(all), facet_gfx12_outer_kind(all) ==
           FACET_GFX12_OUTER_KIND_C, FACET_GFX12_OUTER_INNER_COUNT, FACET_GFX12_OUTER_FLAGS_Y >> 27);
    return 0;
}
""").splitlines()
        named = [0xFFFFFFFF] * 16
        named[0] = 1 << 31 | 1 << 4 | 9  # flags Y and X; kind: 15 means C
        named[1] = 0xFFFF
        named[4], named[5] = 0xFFFFFFF8, 0x07FFFFFF
        named[6] = named[8] = named[10] = 0xE000001F
        named[15] = 5
        check_eq(out[0], "2 6 c0200000 5 1", "defaults")
        check_eq([int(w, 16) for w in out[1].split()[:-1]], named, "what the rows name of all ones")
        check_eq(out[1].split()[-1], "1", "all ones, the fixed member written, are legal")
        check_eq(out[2], "1 2 3 4 6 40 41 42 43 44 45 46 47 48 49 0 0", "legal values")
        check_eq(out[3], "-1 1 3 1", "halves, stand-in, constants")


@case("")
def structures_that_depend_on_the_element():
    with Copy() as copy:
        copy.write("xphmg-elastic.layout.tsv", ELASTIC)
        copy.header("xphmg")
        out = copy.program("elastic", """#include "xphmg_layouts.h"
#include <stdio.h>
int main(void)
{
    for (unsigned e = 1; e <= 8; e *= 2) {
        printf("%u %u %u ", FACET_XPHMG_NODE_SIZE(e), FACET_XPHMG_NODE_ID_AT(e), FACET_XPHMG_BOX_HI_AT(e));
    }
    return 0;
}
""")
        check_eq(out.split(), "16 8 1 24 16 2 40 32 4 72 64 8".split(), "sizes and places")


@case("")
def headers_compile_alone():
    with Copy() as copy:
        for machine in UNITS:
            copy.header(machine)
            path = os.path.join(copy.folder, machine + "_layouts.h")
            for compiler, words in (("gcc", ["-std=c11", "-x", "c"]), ("clang", ["-std=c11", "-x", "c"]),
                                    ("g++", ["-std=c++17", "-x", "c++"]), ("clang++", ["-std=c++17", "-x", "c++"])):
                if shutil.which(compiler) is not None:
                    run(compiler, *words, "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only",
                        "-Wno-pragma-once-outside-header", "-Wno-unused-function", path)


def add_rows(copy):
    """A new member of RSTATE and a new value of its blend: one row, one word."""
    path = os.path.join(copy.spec, "tile.layout.tsv")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    at = text.index("RSTATE\tconst_color")
    text = text[:at] + "RSTATE\ttint\t0x1C\t23:8\tu16\t-\t0x1234\ta new member\t-\n" + text[at:]
    check("additive=2 !BAD_FORMAT" in text, "the row of RSTATE.blend")
    text = text.replace("additive=2 !BAD_FORMAT", "additive=2 multiply=5 !BAD_FORMAT")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    run(sys.executable, os.path.join(copy.spec, "check.py"))


@case("")
def one_row_is_seen_by_a_driver():
    with Copy() as copy:
        add_rows(copy)
        copy.header("tile")
        out = copy.program("driver", """#include "tile_layouts.h"
#include <stdio.h>
int main(void)
{
    struct facet_tile_rstate_fields s = facet_tile_rstate_default();
    uint32_t words[FACET_TILE_RSTATE_WORDS];

    s.blend = FACET_TILE_RSTATE_BLEND_MULTIPLY;
    facet_tile_rstate_pack(&s, words);
    printf("%x %x %d ", words[7], facet_tile_rstate_tint(words), facet_tile_rstate_legal(words));
    facet_tile_rstate_set_blend(words, 4);
    printf("%d\\n", facet_tile_rstate_legal(words));
    return 0;
}
""")
        check_eq(out, "123405 1234 1 0\n", "the driver's structure")


def relink(copy):
    """The program `facet` with the tables of the copy: its link line with two more objects in front, whose
    symbols count before those of the library."""
    tables, index = (os.path.join(copy.folder, name) for name in ("isa_tables.c", "contract_index.c"))
    run(sys.executable, GENERATOR, copy.spec, tables, os.path.join(copy.folder, "isa_rows.h"))
    run(sys.executable, os.path.join(SOURCE, "tools", "gen_index.py"), copy.spec,
        os.path.join(SOURCE, "docs", "glossary.md"), index)
    for path in (tables, index):
        run("cc", "-std=gnu11", "-c", "-I", os.path.join(SOURCE, "src"), "-I", os.path.join(BUILD, "src"), "-I",
            os.path.join(SOURCE, "include"), "-o", path + ".o", path)
    line = shlex.split(run("ninja", "-C", BUILD, "-t", "commands", "facet").splitlines()[-1])
    facet, at = os.path.join(copy.folder, "facet"), line.index("-o")
    run(*line[:at + 1], facet, tables + ".o", index + ".o", *line[at + 2:], cwd=BUILD)
    return facet


@case("")
def one_row_is_seen_by_the_program():
    """Assembler, command lists and cards know the new member and the new value; nothing else was changed."""
    if shutil.which("ninja") is None:
        skip("no ninja")
    with Copy() as copy:
        add_rows(copy)
        facet = relink(copy)
        source = os.path.join(copy.folder, "a.s")
        with open(source, "w", encoding="utf-8") as f:
            f.write("LW s1, RSTATE.tint(s2)\nADDI s1, s0, RSTATE.blend.multiply\n")
        run(facet, "as", "--isa", "tile", source, "-o", source + ".elf")
        text = run(facet, "dis", "--isa", "tile", source + ".elf")
        check("LW s1, 28(s2)" in text and "ADDI s1, s0, 5" in text, text)
        for fields, complaint in (({"tint": 65536}, "tint: expected a number from 0 to 65535"),
                                  ({"tint": 7, "blend": "x"}, "expected one of: opaque alpha additive multiply")):
            path = os.path.join(copy.folder, "list.json")
            with open(path, "w", encoding="utf-8") as f:
                json.dump({"buffers": {"frame": {"size": 256}}, "frame": {"base": "frame", "width": 8, "height": 8},
                           "commands": [{"command": "LOAD_RSTATE", "descriptor": fields}]}, f)
            done = subprocess.run([facet, "tile", "draw", path, "-o", path + ".png"], capture_output=True, text=True)
            check(done.returncode == 2 and complaint in done.stderr, done.stderr)
        card = run(facet, "spec", "RSTATE.tint")
        check("a new member" in card, card)
        check("multiply" in run(facet, "spec", "RSTATE.blend"), "the card of RSTATE.blend")


@case("")
def one_row_is_seen_by_guest_programs():
    """A member, a value of a member and a legal value of a CSR field are in xphmg.h; nothing else was changed."""
    with Copy() as copy:
        for name, old, new in (("xphmg.layout.tsv", "TextureDesc\tstride2\t", "TextureDesc\tmip\t57\t7:0\tu8\t-\t-\tnew\t-\n"
                                "TextureDesc\tstride2\t"), ("xphmg.layout.tsv", "ACCEL=6 ALL=15", "ACCEL=6 NPU=9 ALL=15"),
                               ("cap.csr.tsv", "ACCEL=6 ALL=15", "ACCEL=6 NPU=9 ALL=15")):
            path = os.path.join(copy.spec, name)
            with open(path, encoding="utf-8") as f:
                text = f.read()
            check(old in text, old)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace(old, new, 1))
        header = os.path.join(copy.folder, "xphmg.h")
        run(sys.executable, os.path.join(SOURCE, "tools", "gen_guest_header.py"), copy.spec, header, header[:-1] + "inc")
        with open(header, encoding="utf-8") as f:
            text = f.read()
        for part in ("uint8_t mip; /* new */", "struct xphmg_texture_desc, mip) == 57", "XPHMG_MEMCTL_DOM_NPU 9",
                     "XPHMG_CAP_XMEM_DOM_DOM_NPU 9"):
            check(part in text, "xphmg.h has no " + part)


@case("")
def a_value_without_code_does_not_compile():
    """The unchanged table compiles; with one more opcode, blend or texel format, the file that has the code does not."""
    for old, new, path, word in (("", "", "src/tile/queue_exec.c", None), ("", "", "src/raster/context.c", None),
                                 ("RRECT=0x45", "RRECT=0x45 RSTRIP=0x46", "src/tile/queue_exec.c", "RUN_RSTRIP"),
                                 ("additive=2", "additive=2 multiply=3", "src/raster/context.c", "blend"),
                                 ("PAL8=2", "PAL8=2 PAL4=3", "src/raster/context.c", "decode")):
        with Copy() as copy:
            rows = os.path.join(copy.spec, "tile.layout.tsv")
            with open(rows, encoding="utf-8") as f:
                text = f.read()
            with open(rows, "w", encoding="utf-8") as f:
                f.write(text.replace(old, new, 1) if old else text)
            os.mkdir(os.path.join(copy.folder, "facet"))
            run(sys.executable, GENERATOR, "--layouts", copy.spec, "tile",
                os.path.join(copy.folder, "facet", "tile_layouts.h"))
            folders = (copy.folder, os.path.join(SOURCE, "include"), os.path.join(SOURCE, "src"),
                       os.path.join(BUILD, "src"))
            done = subprocess.run(["cc", "-std=gnu11", "-fsyntax-only", *("-I" + folder for folder in folders),
                                   os.path.join(SOURCE, path)], capture_output=True, text=True)
            check_eq(done.returncode == 0, word is None, path + ": " + done.stderr[-1000:])
            check(word is None or word in done.stderr, done.stderr)


main("layouts")
