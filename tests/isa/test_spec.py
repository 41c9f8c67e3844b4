"""`facet spec`: names, lists, JSON, near misses, exit codes."""
import json
import os
import subprocess

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]


def spec(*words):
    run = subprocess.run([FACET, "spec"] + list(words), capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


@case()
def a_card_of_each_kind():
    for name, part in (("RT.BBOX", "rt.bbox rd, rs1, flags=0"), ("CAP.PREC.MODE", "APPLY0"),
                       ("CAP.PREC.MODE.ZMODE", "write zero"), ("CAP-137", "DYN_REG_ALLOC"),
                       ("R-CAP-09", "BF16_LITE"), ("0x7D0", "CAP.PREC.MODE"), ("li", "pseudo-instruction")):
        code, out, err = spec(name)
        check_eq((code, err), (0, ""), name)
        check(part in out, "%s shows no %r" % (name, part))
        check_eq(spec(name.lower())[1], out if not name.startswith("0x") else spec(name)[1], "lower case")


@case()
def unknown_names_are_bad_input():
    for name, near in (("rt.bbx", "rt.bbox"), ("CAP.PREC.MOD", "CAP.PREC.MODE"), ("CAP.PREC.MODE.ZMOD", "ZMODE"),
                       ("gfx.smaple", "GFX.SAMPLE"), ("CAP-9999", "CAP-")):
        code, out, err = spec(name)
        check_eq((code, out), (2, ""), name)
        check(near in err, "%s: %s" % (name, err))
        check_eq(err.count("\n"), 1, "lines")
    for words in ((), ("xyzzyxyzzy",), ("RT.BBOX", "nonsense"), ("--list", "nonsense"), ("--isa", "vax", "ADD"),
                  ("RT.BBOX", "--isa", "tile")):
        code, out, err = spec(*words)
        check_eq((code, out), (2, ""), " ".join(words))
        check(err.startswith("facet spec: "), err)


@case()
def lists_name_every_row():
    code, out, _ = spec("--list", "--json")
    check_eq(code, 0, "exit status")
    everything = json.loads(out)
    check_eq(sorted(everything), ["csrs", "instructions", "requirements", "resolutions"], "lists")
    check_eq(len(everything["instructions"]), 774, "instructions")
    check(len(everything["requirements"]) >= 2553, "requirements")
    for kind in everything:
        code, out, _ = spec("--list", kind)
        check_eq(len(out.splitlines()), len(everything[kind]), "lines of " + kind)
        code, out, _ = spec("--list", kind, "--json")
        check_eq(json.loads(out), {kind: everything[kind]}, kind)
    tile = json.loads(spec("--list", "instructions", "--isa", "tile", "--json")[1])["instructions"]
    check_eq(len(tile), 386, "tile instructions")
    check(all(i["isa"] == "tile" for i in tile), "other ISAs in the list")


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


@case()
def a_closed_pipe_is_an_error_not_a_crash():
    with open("/dev/full", "w") as full:
        run = subprocess.run([FACET, "spec", "RT.BBOX"], stdout=full, stderr=subprocess.PIPE, text=True)
    check_eq(run.returncode, 2, "exit status")
    check("cannot write" in run.stderr, run.stderr)


main("spec")
