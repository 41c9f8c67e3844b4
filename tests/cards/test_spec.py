"""`facet spec`: names, lists, search, JSON, near misses, exit codes; and that every name that stands in the files of
spec/ and in the glossary is answered. The names are read here from the files, not from the program."""
import csv
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]


def spec(*words):
    run = subprocess.run([FACET, "spec"] + list(words), capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


@case()
def a_card_of_each_kind():
    for name, part in (("RT.BBOX", "rt.bbox rd, rs1, flags=0"), ("CAP.PREC.MODE", "APPLY0"),
                       ("CAP.PREC.MODE.ZMODE", "write zero"), ("CAP-137", "DYN_REG_ALLOC"),
                       ("R-CAP-09", "BF16_LITE"), ("0x7D0", "CAP.PREC.MODE"), ("li", "pseudo-instruction"),
                       ("VFMA", "VFMA.F16 vd"), ("VADD", "VADD.I8"), ("APPLY0", "CAP.PREC.MODE.APPLY0"),
                       ("NAN_POL", "R-CAP-03"), ("EARLY_EN", "GFXZCFG"), ("RSTATE", "fb_base"), ("RSTATE.blend", "additive"),
                       ("lane", "one element"), ("XPHMG_CAP 0.1.1", "Numeric Policy"), ("XPHMG_MTX", "MTX.MAD"),
                       ("GFX.SHADE.nc", "23:22"), ("BVHNode4", "child_flags"), ("TextureDesc", "pitch"), ("XPHMG_RT_DESC", "rayq_desc"),
                       ("MEMCTL", "XPHMG_MEMCTL   xphmg structure, 24 bytes"), ("MEMCTL.tier", "R-XM-08"),
                       ("box node", "internal_child_offset"), ("GFX12_BOX_CHILD.max_z", "23:12"),
                       ("image_bvh8_intersect_ray", "vdata[39:32]"), ("rt-semantics 8", "RT.TRI"), ("numeric.md 14", "0x7D0"),
                       ("rt.tri", "rt-semantics.md 8"), ("PACK_HINT", "rt.bbox")):
        code, out, err = spec(name)
        check_eq((code, err), (0, ""), name)
        check(part in out, "%s shows no %r" % (name, part))
        check_eq(spec(name.lower())[1].lower(), out.lower(), "lower case")


@case()
def unknown_names_are_bad_input():
    for name, near in (("rt.bbx", "rt.bbox"), ("CAP.PREC.MOD", "CAP.PREC.MODE"), ("CAP.PREC.MODE.ZMOD", "ZMODE"),
                       ("gfx.smaple", "GFX.SAMPLE"), ("CAP-9999", "CAP-"), ("NAN_POLL", "NAN_POL"), ("RSTATE.blnd", "RSTATE.blend"),
                       ("BVHNode5", "BVHNode4"), ("trianglez", "triangle"), ("VFMM", "did you mean VFMA"),
                       ("CAP.PREC.MODE.ZMOD", "did you mean ZMODE? It has ")):
        code, out, err = spec(name)
        check_eq((code, out), (2, ""), name)
        check(near in err, "%s: %s" % (name, err))
        check_eq(err.count("\n"), 1, "lines")
        check(" RSV" not in err, err)
    for words in ((), ("xyzzyxyzzy",), ("RT.BBOX", "nonsense"), ("--list", "nonsense"), ("--isa", "vax", "ADD"),
                  ("RT.BBOX", "--isa", "tile")):
        code, out, err = spec(*words)
        check_eq((code, out), (2, ""), " ".join(words))
        check(err.startswith("facet spec: "), err)


KINDS = ["instructions", "aliases", "csrs", "fields", "structures", "members", "requirements", "resolutions", "sections",
         "words", "documents", "extensions", "rules"]


@case()
def lists_name_every_row():
    code, out, _ = spec("--list", "--json")
    check_eq(code, 0, "exit status")
    everything = json.loads(out)
    check_eq(list(everything), KINDS, "lists")
    check(len(everything["instructions"]) >= 774, "instructions")
    check(len(everything["requirements"]) >= 2553, "requirements")
    for kind in everything:
        code, out, _ = spec("--list", kind)
        names = [line for line in out.splitlines() if line.startswith("  ")]
        check_eq(len(names), len(everything[kind]), "lines of " + kind)
        groups = {(i["isa"], i["group"]) for i in everything[kind]}
        check_eq(len([line for line in out.splitlines() if line.startswith(kind)]), len(groups), "headings of " + kind)
        code, out, _ = spec("--list", kind, "--json")
        check_eq(json.loads(out), {kind: everything[kind]}, kind)
    tile = json.loads(spec("--list", "instructions", "--isa", "tile", "--json")[1])["instructions"]
    check_eq(len(tile), 386, "tile instructions")
    check(all(i["isa"] == "tile" for i in tile), "other ISAs in the list")
    check("instructions of tile, tile.vector: vector arithmetic\n  VADD.I32" in spec("--list", "instructions")[1], "no groups")


def table(name):
    with open(os.path.join(SOURCE, "spec", name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def tables(pattern):
    return [row for path in sorted(glob.glob(os.path.join(SOURCE, "spec", pattern))) for row in table(path)]


@case()
def rules_are_shown_as_their_table_has_them():
    for row in table("gfx12.rules.tsv"):
        card = json.loads(spec(row["id"], "--json")[1])["cards"][0]
        check_eq((card["kind"], card["title"], card["text"], card["severity"]),
                 ("rule", row["title"], row["rule"], row["severity"]), row["id"])
        check_eq(card["severity_in"], {k: row["severity"] if row[k] == "-" else row[k] for k in ("radv", "gpurt", "hiprt")},
                 row["id"])
        check(row["requirement"] in card["requirements"], row["id"])
    check("error (radv: error, gpurt: error, hiprt: error)" in spec("V12")[1], "severity of V12")


def names_of_the_contract():
    for row in tables("*.insn.tsv"):
        yield row["mnemonic"]
        yield row["mnemonic"].split(".")[0] if row["mnemonic"] != "c.nop" else "c"
        shown = re.findall(r"\w+", row["syntax"])
        yield from (name for name in re.findall(r"(\w+)\[", row["fields"]) if name in shown)
    for row in table("alias.tsv"):
        yield row["mnemonic"]
    for row in table("operands.tsv"):
        yield from (w for w in re.findall(r"([A-Za-z0-9_.]+)=\d+", row["symbols"]))
    for row in tables("*.csr.tsv"):
        yield row["csr"]
        yield "%s.%s" % (row["csr"], row["field"])
        yield row["field"]
        number = re.match(r"0x[0-9A-F]+(?=$|;)", row["addr"])
        if number:
            yield number.group(0)
    for row in tables("*.layout.tsv"):
        yield row["structure"]
        if row["member"] != "-":
            yield "%s.%s" % (row["structure"], row["member"])
            yield row["member"]
    for row in tables("*.csr.tsv"):
        for value in re.findall(r"([A-Za-z]\w*)=", row["legal"]):
            yield value
            yield "%s.%s.%s" % (row["csr"], row["field"], value)
    for row in tables("*.layout.tsv"):
        for value in re.findall(r"([A-Za-z]\w*)=|!(\w+)", row["legal"]):
            yield "".join(value)
            yield "%s.%s.%s" % (row["structure"], row["member"], "".join(value))
    for row in tables("*.requirements.tsv"):
        yield row["id"]
    for path in glob.glob(os.path.join(SOURCE, "spec", "resolutions-*.md")):
        with open(path, encoding="utf-8") as file:
            yield from re.findall(r"^### (R-[A-Z0-9]+-\d+)", file.read(), re.M)
    for path in glob.glob(os.path.join(SOURCE, "spec", "*.md")):
        if re.search(r"numeric|semantics", path):
            with open(path, encoding="utf-8") as file:
                for number in re.findall(r"^##+ (\d+(?:\.\d+)*)\.? ", file.read(), re.M):
                    yield "%s %s" % (os.path.basename(path), number)
    for row in table("documents.tsv"):
        yield row["document"]
        yield row["title"]
    for row in tables("*.rules.tsv"):
        yield row["id"]
    for row in table("extensions.tsv"):
        yield row["extension"]
    with open(os.path.join(SOURCE, "docs", "glossary.md"), encoding="utf-8") as file:
        for words in re.findall(r"^\| ([^|]+) \|", file.read(), re.M)[2:]:
            yield words
            yield from (w.strip() for w in re.split(r"[,()]", words) if w.strip())


@case()
def every_name_is_answered():
    names = sorted(set(names_of_the_contract()))
    check(len(names) > 5000, "%d names" % len(names))
    for start in range(0, len(names), 500):
        some = names[start:start + 500]
        code, out, err = spec("--json", *some)
        check_eq((code, err), (0, ""), "exit status and complaint")
        check(len(json.loads(out)["cards"]) >= len(some), "cards")


@case()
def values_say_what_they_are():
    for name, part in (("RSTATE.blend.alpha", "Value\n  blend = alpha (1)\n"), ("ZWRITE_OFF", "flags: ZWRITE_OFF is bit 3"),
                       ("CAP.PREC.MODE.NAN_POL.zero", "NAN_POL = ZERO (1)"), ("PROPAGATE", "NAN_POL = PROPAGATE (0)"),
                       ("GDRAW.topology.BAD_FORMAT", "topology: any other value is refused with BAD_FORMAT")):
        code, out, err = spec(name)
        check_eq((code, err), (0, ""), name)
        check(part in out, "%s: %s" % (name, out))
    for name in ("RSTATE.blend.", "RSTATE.blend.alph", ".alpha", "RSTATE.flags.alpha", "RSTATE.blend.!BAD_FORMAT"):
        check_eq(spec(name)[0], 2, name)


@case()
def no_output_has_a_hash():
    """Documents go by title: nothing looks like 000_31d2f37a84861bab.txt."""
    for words in (("--list", "all"), ("--list", "all", "--json"), ("RT-052",), ("XPHMG_RT 0.1.1",), ("R-RT-01",)):
        out = spec(*words)[1]
        check(not re.search(r"[0-9a-f]{16}\.txt|00\d_[0-9a-f]{8}", out), "a file's hash in %s" % " ".join(words))
    check("Ray/Geometry Primitives" in spec("RT-052")[1] and "section 5.1" in spec("RT-052")[1], spec("RT-052")[1])


@case()
def search_ranks_names_before_texts():
    code, out, err = spec("--search", "watertight", "--json")
    check_eq((code, err), (0, ""), "exit status")
    hits = json.loads(out)["hits"]
    check_eq(hits[0]["name"], "RTCAP.WATERTIGHT", "first hit")
    check_eq([h["score"] for h in hits], sorted((h["score"] for h in hits), reverse=True), "order")
    kinds = {h["kind"] for h in hits}
    check({"field", "instruction", "requirement", "resolution"} <= kinds, "kinds %s" % kinds)
    for hit in hits:
        card = spec(hit["name"])[1] if hit["kind"] != "document" else "watertight"
        check("watertight" in card.lower(), "%s does not speak of it" % hit["name"])
    both = json.loads(spec("--search", "predicate", "bank", "--json")[1])["hits"]
    one = {h["name"] for h in json.loads(spec("--search", "predicate", "--json")[1])["hits"]}
    check(both and {h["name"] for h in both} <= one, "two words give more than one")
    text = spec("--search", "predicate")[1]
    check("more, all with --json" in text and len(text.splitlines()) == 41, "text of a long answer")
    check_eq({h["isa"] for h in json.loads(spec("--search", "predicate", "--isa", "tile", "--json")[1])["hits"]}, {"tile"}, "isa")
    for words in (("xyzzyxyzzy",), ("predicate", "xyzzyxyzzy"), ("",)):
        code, out, err = spec("--search", *words)
        check_eq((code, out), (2, ""), "nothing found")
        check(err.startswith("facet spec: "), err)


@case()
def cards_show_tests_and_their_results():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "test_one.tsv"), "w") as file:
            file.write("test_one\tgood\tpass\tRT-140 RT-159\ntest_one\trows[3]\tfail\tRT-159\ntest_one\tlater\tskip\tRT-001\n")
        card = json.loads(spec("RT-159", "--results", folder, "--json")[1])["cards"][0]
        check_eq(card["result"], "fail", "result")
        check_eq(card["proof"], [{"suite": "test_one", "case": "good", "result": "pass"},
                                 {"suite": "test_one", "case": "rows[3]", "result": "fail"}], "tests")
        text = spec("RT-159", "--results", folder)[1]
        check("Tests\n  test_one:good pass\n  test_one:rows[3] fail\n" in text, text)
        check("none names this row" in spec("RT-002", "--results", folder)[1], "a row without tests")
        card = json.loads(spec("R-RT-41", "--results", folder, "--json")[1])["cards"][0]
        check_eq([t["result"] for t in card["tests"]["RT-159"]], ["pass", "fail"], "tests of a linked row")
        check("test_one:good pass, test_one:rows[3] fail" in spec("R-RT-41", "--results", folder)[1], "text")
        many = spec("CAP.PREC.MODE", "--results", folder)[1]
        check(re.search(r"0 of \d+ rows pass", many), "the summary of many rows")
        check(re.search(r"^  CAP-195    no test: \w+", many, re.M), "a line per row")
        check(re.search(r"^  RT-159     1 of 2 fail: \w+", spec("rt.tri", "--results", folder)[1], re.M), "a failing row")
        check_eq(spec("RT-159", "--results", folder + "/none")[0], 2, "no such folder")
        with open(os.path.join(folder, "bad.tsv"), "w") as file:
            file.write("suite\tcase\tmaybe\tRT-001\n")
        code, out, err = spec("RT-159", "--results", folder)
        check_eq((code, out), (2, ""), "a bad file")
        check("bad.tsv" in err and "line 1" in err, err)
        alone = os.path.join(folder, "facet")
        shutil.copy(FACET, alone)
        run = subprocess.run([alone, "spec", "RT-159"], capture_output=True, text=True)
        check_eq((run.returncode, run.stderr), (0, ""), "a program without results")
        check("Tests\n  no results here; `make test` writes them\n" in run.stdout, run.stdout)


@case()
def json_is_complete():
    card = json.loads(spec("RT.BBOX", "--json")[1])["cards"][0]
    check_eq((card["mask"], card["match"], card["length"]), ("0xff00707f", "0x0000600b", 4), "encoding")
    flags = card["operands"][2]
    check_eq((flags["name"], flags["second_name"], flags["default"]), ("flags", "imm", 0), "flags")
    check_eq(flags["symbols"], {"T_CLAMP": 1, "PRED_ONLY": 2, "PACK_HINT": 4, "W_GUARD": 8}, "symbols")
    check_eq(flags["pieces"], [{"word_lo": 20, "width": 4, "value_lo": 0}], "pieces")
    check("RT-134" in card["requirements"] and "R-RT-02" in card["resolutions"], "IDs")
    card = json.loads(spec("0x820", "--json")[1])["cards"][0]
    check_eq((card["name"], card["number"], card["second_number"]), ("RTCFG", "0x820", "0x820"), "RTCFG")
    card = json.loads(spec("CAP.PREC.MODE.ZMODE", "--json")[1])["cards"][0]
    check_eq((card["kind"], len(card["fields"]), card["fields"][0]["lo"]), ("field", 1, 3), "ZMODE")
    both = json.loads(spec("beq", "RT-134", "--json")[1])["cards"]
    check_eq([c["kind"] for c in both], ["instruction", "instruction", "requirement"], "kinds")
    check_eq(both[2]["documents"][0]["author"], "Pedro H. M. Garcia", "document")
    card = json.loads(spec("RSTATE.blend", "--json")[1])["cards"][0]
    check_eq((card["kind"], card["members"][0]["offset"], card["align"]), ("member", "0x1C", 32), "RSTATE.blend")
    card = json.loads(spec("VFMA", "--json")[1])["cards"][0]
    check_eq([n["name"] for n in card["names"]], ["VFMA.F16", "VFMA.F8", "VFMA.F32"], "VFMA")


@case()
def a_closed_pipe_is_an_error_not_a_crash():
    with open("/dev/full", "w") as full:
        run = subprocess.run([FACET, "spec", "RT.BBOX"], stdout=full, stderr=subprocess.PIPE, text=True)
    check_eq(run.returncode, 2, "exit status")
    check("cannot write" in run.stderr, run.stderr)


main("spec")
