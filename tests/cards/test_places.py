"""The places of a card: every instruction and register has its row, rule, code, test and explanation; every place exists;
and the build refuses a tree in which one of them is gone."""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from harness import case, check, check_eq, main

FACET, SOURCE = os.environ["FACET"], os.environ["FACET_SOURCE"]
BUILD = os.path.dirname(os.path.abspath(FACET))
STEPS = ("rows", "rules", "code", "tests", "pages", "commands")


def spec(*words):
    run = subprocess.run([FACET, "spec", *words], capture_output=True, text=True)
    check_eq((run.returncode, run.stderr), (0, ""), " ".join(words[:3]))
    return run.stdout


def cards(kind):
    names = sorted({i["name"] for i in json.loads(spec("--list", kind, "--json"))[kind]})
    for start in range(0, len(names), 300):
        for card in json.loads(spec("--json", *names[start:start + 300]))["cards"]:
            if card["kind"] == kind[:-1]:
                yield card.get("mnemonic") or card.get("name") or card["id"], card


_lines = {}


def lines_of(path):
    if path not in _lines:
        full = os.path.join(SOURCE, path)
        check(not path.startswith("/") and os.path.isfile(full), "there is no %s" % path)
        with open(full, encoding="utf-8") as file:
            _lines[path] = file.read().split("\n")
    return _lines[path]


@case()
def every_instruction_has_all_its_places():
    seen = collections.Counter()
    for name, card in cards("instructions"):
        seen[card["isa"]] += 1
        for step in STEPS:
            check(card["places"][step], "%s %s has no %s" % (card["isa"], name, step))
        check(all(p["file"].startswith("src/") for p in card["places"]["code"]), "%s: %s" % (name, card["places"]["code"]))
        check(all(p["file"].startswith("tests/") for p in card["places"]["tests"]), name)
    check(seen["xphmg"] >= 390 and seen["tile"] >= 386 and seen["gfx12"] == 4, "instructions: %s" % seen)


@case()
def registers_and_their_fields_have_code():
    for kind in ("csrs", "fields"):
        for name, card in cards(kind):
            for step in ("rows", "rules", "code", "pages"):
                check(card["places"][step], "%s has no %s" % (name, step))


def names_it(place):
    """The line, or the file where the symbol is defined elsewhere, shows what the place says."""
    text, symbol = lines_of(place["file"]), place["symbol"]
    if symbol.startswith("facet_tile_x_"):  # a macro makes the name: ATOMIC(AND, ...) makes facet_tile_x_AAND_L
        parts = symbol[len("facet_tile_x_"):].split("_")
        return any(p in text[place["line"] - 1] or p[1:] in text[place["line"] - 1] for p in parts if len(p) > 1)
    if place["file"].endswith(".def"):
        return symbol == "facet_hart_execute"
    return any(symbol in line for line in text)


@case()
def every_place_exists():
    checked = set()
    for kind in ("instructions", "csrs", "structures", "resolutions", "sections", "words", "extensions"):
        for name, card in cards(kind):
            for step in STEPS[:-1]:
                for place in card["places"][step]:
                    key = (step, place["file"], place["line"], place["symbol"])
                    if key in checked:
                        continue
                    checked.add(key)
                    check(1 <= place["line"] <= len(lines_of(place["file"])), "%s: %s" % (name, place))
                    if step in ("code", "tests"):
                        check(names_it(place), "%s: %s does not show there" % (name, place))
    check(len(checked) > 3000, "%d places" % len(checked))


@case()
def the_first_place_is_the_one_that_executes():
    for isa, name, path, symbol in (
            ("xphmg", "rt.tri", "src/xphmg/rt/rt.c", "facet_xphmg_rt_execute"), ("xphmg", "add", "src/xphmg/hart/alu.def", "facet_hart_execute"),
            ("xphmg", "fadd.h", "src/xphmg/hart/fp.def", "facet_hart_execute"), ("tile", "ADD", "src/tile/exec_int.c", "facet_tile_x_ADD"),
            ("tile", "VFMA.F8", "src/tile/exec_vec_fp.c", "facet_tile_x_VFMA_F8"),
            ("gfx12", "image_bvh8_intersect_ray", "src/gfx12/intersect8.c", ""),
            ("xphmg", "CAP.PREC.MODE", "src/xphmg/cap/csr.c", "facet_hart_csr_read_CAP_PREC_MODE")):
        place = json.loads(spec("--json", "--isa", isa, name))["cards"][0]["places"]["code"][0]
        check_eq((place["file"], place["symbol"]), (path, symbol), name)
    line = next(n for n, l in enumerate(lines_of("src/xphmg/hart/alu.def"), 1) if l.startswith("ALU_RR(ADD,"))
    check_eq(json.loads(spec("--json", "--isa", "xphmg", "add"))["cards"][0]["places"]["code"][0]["line"], line, "line of add")


@case()
def text_shows_the_walk():
    text = spec("rt.tri")
    walk = text[text.index("\nPlaces\n"):]
    for part in (r"encoding +spec/rt-rsv\.insn\.tsv:\d+ rt\.tri", r"rule +spec/rt-semantics\.md:\d+ ", r"8 RT\.TRI",
                 r"code +src/xphmg/rt/rt\.c:\d+ facet_xphmg_rt_execute", r"src/rt/triangle\.c", r"test +tests/\S+\.c:\d+ \w+",
                 r"explained +docs/rt-why\.md:\d+", r"shown by +`facet rt why`"):
        check(re.search(part, walk), "no %s in %s" % (part, walk))
    check("more with --json" in walk, "many tests")


def generate(folder):
    includes = ["-I" + os.path.join(root, part) for root in (folder, BUILD) for part in ("src", "include")]
    compiler = os.environ.get("CC", "cc").split()
    return subprocess.run([sys.executable, os.path.join(SOURCE, "tools/gen_places.py"), folder, os.path.join(folder, "out.c"),
                           os.path.join(folder, "out.d"), "--", *compiler, *includes], capture_output=True, text=True)


@case()
def a_place_that_is_gone_stops_the_build():
    with tempfile.TemporaryDirectory() as folder:
        for part in ("spec", "docs", "tests", "include"):
            os.symlink(os.path.join(SOURCE, part), os.path.join(folder, part))
        shutil.copytree(os.path.join(SOURCE, "src"), os.path.join(folder, "src"))
        missing = (("src/xphmg/rt/rt.c", "facet_xphmg_rt_execute(", "facet_xphmg_rt_obey(", "src/ defines no facet_xphmg_rt_execute (for rt.bbox)"),
                   ("src/tile/exec_int.c", "SATURATING(ADD,", "SATURATING(PLUS,", "src/ has no code for instruction ADD"))
        for path, old, new, _ in missing:
            full = os.path.join(folder, path)
            with open(full, encoding="utf-8") as file:
                whole = file.read()
            check(old in whole, "%s has no %s" % (path, old))
            with open(full, "w", encoding="utf-8") as file:
                file.write(whole.replace(old, new))
        run = generate(folder)
        check_eq(run.returncode, 1, "exit status")
        for _, _, _, complaint in missing:
            check(complaint in run.stderr, run.stderr)
        check(len(run.stderr.splitlines()) <= 4, run.stderr)
        check(not os.path.exists(os.path.join(folder, "out.c")), "something was written")


main("places")
