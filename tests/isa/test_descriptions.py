"""The generator refuses malformed tables: each case breaks one cell of a copy of spec/ and expects the
file, the line and the reason on standard error, a non-zero exit status and no output."""
import os
import shutil
import subprocess
import sys
import tempfile

from harness import add_case, check, check_eq, main, skip

SOURCE = os.environ["FACET_SOURCE"]
GENERATOR = os.path.join(SOURCE, "tools", "gen_tables.py")


def generate(folder):
    outputs = [os.path.join(folder, "isa_tables.c"), os.path.join(folder, "isa_rows.h")]
    run = subprocess.run([sys.executable, GENERATOR, os.path.join(folder, "spec")] + outputs,
                         capture_output=True, text=True)
    return run, [p for p in outputs if os.path.exists(p)]


def with_copy(change):
    """Runs the generator on a copy of spec/ after change(folder)."""
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec")
        os.mkdir(spec)
        for name in os.listdir(os.path.join(SOURCE, "spec")):
            if name.endswith((".tsv", ".md")):
                shutil.copy(os.path.join(SOURCE, "spec", name), spec)
        change(spec)
        return generate(folder)


def edit(name, row, old, new):
    """Replaces text in the line of `name` that starts with `row`; returns the change and its line."""
    def change(spec):
        path = os.path.join(spec, name)
        with open(path, encoding="utf-8") as f:
            lines = f.read().split("\n")
        at = next(i for i, line in enumerate(lines) if line.startswith(row))
        check(old in lines[at], "%s: %r is not in the line of %r" % (name, old, row))
        lines[at] = lines[at].replace(old, new, 1)
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        change.line = at + 1
    return change


def append(name, text):
    def change(spec):
        path = os.path.join(spec, name)
        with open(path, "a", encoding="utf-8") as f:
            f.write(text + "\n")
        with open(path, encoding="utf-8") as f:
            change.line = f.read().count("\n")
    return change


def refused(name, change, file, reason, below=0):
    """`below`: the complaint stands that many lines below the changed one."""
    def run():
        result, outputs = with_copy(change)
        check_eq(result.returncode, 1, "exit status")
        check_eq(outputs, [], "outputs")
        where = "%s:%d: " % (file, change.line + below)
        found = [line for line in result.stderr.splitlines() if line.startswith(where) and reason in line]
        check(found, "no complaint %r with %r in:\n%s" % (where, reason, result.stderr))
    add_case(name, run)


RT, TILE, RV = "rt-rsv.insn.tsv", "tile.insn.tsv", "rv64.insn.tsv"
BBOX = "rt.bbox\t"


def accepts_the_contract():
    result, outputs = with_copy(lambda spec: None)
    check_eq(result.returncode, 0, "exit status")
    check_eq(len(outputs), 2, "outputs")


add_case("accepts_the_contract", accepts_the_contract)
refused("field_over_fixed_bits", edit(RT, BBOX, "flags[23:20]", "flags[24:20]"), RT, "overlaps fixed bits")
refused("fields_overlap", edit(RT, BBOX, "flags[23:20]", "flags[23:19]"), RT, "overlaps another field")
refused("field_outside_word", edit(RT, BBOX, "flags[23:20]", "flags[33:20]"), RT, "outside the word")
refused("field_outside_half", edit(RV, "c.jr\t", "rs1[11:7]", "rs1[17:13]"), RV, "outside the word")
refused("field_upside_down", edit(RT, BBOX, "flags[23:20]", "flags[20:23]"), RT, "outside the word")
refused("field_unreadable", edit(RT, BBOX, "flags[23:20]", "flags[23..20]"), RT, "cannot read field")
refused("bit_left_open", edit(TILE, "ADDI\t", "simm[31:20]", "simm[30:20]"), TILE, "neither fixed nor a field")
refused("match_outside_mask", edit(RT, BBOX, "0x0000600b", "0x0010600b"), RT, "outside mask")
refused("mask_unreadable", edit(RT, BBOX, "0xff00707f", "0xff00707"), RT, "is not a word")
refused("lengths_differ", edit(RT, BBOX, "0x0000600b", "0x600b"), RT, "differ in length")
refused("low_bits_say_two_bytes", edit(RT, BBOX, "0x0000600b", "0x0000600a"), RT, "low two bits")
refused("rows_overlap", edit(RT, "rt.tri\t", "0x0000700b", "0x0000600b"), RT, "overlaps rt.bbox")
refused("condition_missing", edit(TILE, "SHL\t", "rs2[24:20]!=0", "rs2[24:20]"), TILE, "overlaps SHL", 1)
refused("condition_too_big", edit(TILE, "SHL\t", "!=0", "!=32"), TILE, "does not fit field")
refused("three_conditions", edit(RV, "fadd.s\t", "!=5,6", "!=4,5,6"), RV, "more than two conditions")
refused("row_twice", append(RT, "rt.bbox\t0xff00707f\t0x0000600b\trt.bbox rd, rs1, flags=0\trd[11:7] "
                            "rs1[19:15] flags[23:20]\tagain"), RT, "overlaps rt.bbox")
refused("mnemonic_differs", edit(RT, BBOX, "rt.bbox rd", "rt.box rd"), RT, "syntax starts with")
refused("operand_without_field", edit(RT, BBOX, "rd, rs1, flags=0", "rd, rs1, rs2, flags=0"), RT, "has no field")
refused("operand_unknown", edit(RT, BBOX, "flags=0", "flagz=0"), RT, "does not describe operand 'flagz'")
refused("operand_twice", edit(RT, BBOX, "rd, rs1", "rd, rd"), RT, "twice")
refused("operand_unreadable", edit(RT, BBOX, "rd, rs1", "rd, (rs1"), RT, "cannot read operand")
refused("default_too_big", edit(RT, BBOX, "flags=0", "flags=16"), RT, "is not one of its values")
refused("register_too_narrow", edit(RT, BBOX, "rd[11:7]", "rd[10:7]"), RT, "expected 5")
refused("split_value_bits", edit(RV, "beq\t", "imm.10_5[30:25]", "imm.10_6[30:25]"), RV, "differ in number")
refused("value_bit_twice", edit(RV, "beq\t", "imm.11_11[7]", "imm.12_12[7]"), RV, "holds a value bit twice")
refused("value_bit_missing", edit(RV, "beq\t", "imm.11_11[7]", "imm.13_13[7]"), RV, "leaves out value bits")
refused("cell_missing", edit(RT, BBOX, "\trt.bbox rd", " rt.bbox rd"), RT, "cells, expected 6")
refused("kind_unknown", edit("operands.tsv", "xphmg\trt.bbox", "\tflags\tplain", "\tflagz\tplain"), "operands.tsv",
        "unknown kind 'flagz'")
refused("codec_unknown", edit("operands.tsv", "xphmg\tsvp.one.vlstep\tvl", "minus_one", "minus_two"), "operands.tsv",
        "unknown codec")
refused("print_unknown", edit("operands.tsv", "tile\t*\timm8", "hex", "octal"), "operands.tsv", "unknown print")
refused("symbols_missing", edit("operands.tsv", "xphmg\trt.bbox", "T_CLAMP=1 PRED_ONLY=2 PACK_HINT=4 W_GUARD=8", "-"),
        "operands.tsv", "needs symbols")
refused("symbol_unreadable", edit("operands.tsv", "xphmg\trt.bbox", "T_CLAMP=1", "T_CLAMP"), "operands.tsv",
        "cannot read symbol")
refused("symbol_twice", edit("operands.tsv", "xphmg\trt.bbox", "PRED_ONLY=2", "T_CLAMP=2"), "operands.tsv", "twice")
refused("symbol_too_big", edit("operands.tsv", "xphmg\trt.bbox", "W_GUARD=8", "W_GUARD=16"), "operands.tsv",
        "does not fit its field")
refused("rule_unused", append("operands.tsv", "tile\t*\tnothing\tuimm\tplain\t-\t-\t-\t-\t-\tunused"), "operands.tsv",
        "no row has operand")
refused("alias_unknown", append("alias.tsv", "tile\tFOO\t-\tBAR s0\tnothing"), "alias.tsv", "unknown mnemonic 'bar'")
refused("alias_isa", append("alias.tsv", "gfx13\tFOO\t-\tNOP\tnothing"), "alias.tsv", "unknown isa")
refused("csr_outside", append("tile.csr.tsv", "vstride\t0x005\tMORE\t32\tRW\t0\t-\t-\tcore.r.vstride\tbeyond"), "tile.csr.tsv", "outside 32 bits")
refused("csr_field_overlap", append("tile.csr.tsv", "vstride\t0x005\tMORE\t3\tRW\t0\t-\t-\tcore.r.vstride\tagain"), "tile.csr.tsv",
        "overlaps another field")
refused("csr_address_twice", append("tile.csr.tsv", "other\t0x005\tX\t0\tRW\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv",
        "address 0x5 is also vstride")
refused("csr_address_in_family", append("tile.csr.tsv", "other\t0x408\tX\t0\tRW\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv",
        "is also sampler[n].base")
refused("csr_address_changes", append("tile.csr.tsv", "gfx_token\t0x006\tX\t0\tRW\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv", "above")
refused("csr_access", append("tile.csr.tsv", "other\t0x006\tX\t0\tWO\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv", "unknown access")
refused("csr_bits", append("tile.csr.tsv", "other\t0x006\tX\tlow\tRW\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv", "cannot read bits")
refused("csr_reset", append("tile.csr.tsv", "other\t0x006\tX\t1:0\tRW\t4\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv", "does not fit")
refused("csr_address_unreadable", append("tile.csr.tsv", "other\tsix\tX\t0\tRW\t0\t-\t-\tcore.r.other\tagain"), "tile.csr.tsv",
        "cannot read address")
LAYOUT = "tile.layout.tsv"
BLEND, HEAD = "RSTATE\tblend\t", "RSTATE\t-\t"
refused("layout_overlap", edit(LAYOUT, BLEND, "0x1C", "0x18"), LAYOUT, "RSTATE.blend overlaps depth_format")
refused("layout_outside", edit(LAYOUT, "RSTATE\trect_z\t", "0x3C", "0x40"), LAYOUT, "outside 64 bytes")
refused("layout_twice", edit(LAYOUT, BLEND, "blend", "FLAGS"), LAYOUT, "RSTATE.flags twice", 5)
refused("layout_structure_twice", edit(LAYOUT, "VERTEX\t-\t", "VERTEX", "rstate"), LAYOUT, "structure rstate twice")
refused("layout_head_missing", edit(LAYOUT, BLEND, "RSTATE", "GSTATE"), LAYOUT, "no head row of 'GSTATE'")
refused("layout_head_type", edit(LAYOUT, HEAD, "structure", "u32"), LAYOUT, "expected structure")
refused("layout_alignment", edit(LAYOUT, HEAD, "\t32\t", "\t24\t"), LAYOUT, "neither a power of two")
refused("layout_size", edit(LAYOUT, HEAD, "\t64\t", "\t64*f\t"), LAYOUT, "cannot read '64*f'")
refused("layout_offset", edit(LAYOUT, BLEND, "0x1C", "0x1C+e"), LAYOUT, "cannot read '0x1C+e'")
refused("layout_element", edit(LAYOUT, BLEND, "0x1C", "28+1*e"), LAYOUT, "depends on the element")
refused("layout_bits", edit(LAYOUT, BLEND, "7:0", "0:7"), LAYOUT, "cannot read bits '0:7'")
refused("layout_width", edit(LAYOUT, "RSTATE\tsampler\t", "4:0", "5:0"), LAYOUT, "6 bits, but u5 has 5")
refused("layout_type", edit(LAYOUT, BLEND, "enum", "enun"), LAYOUT, "unknown type 'enun'")
refused("layout_later_type", edit(LAYOUT, "RSTATE\tsampler\t", "4:0\tu5", "-\tVERTEX"), LAYOUT, "comes before its users")
refused("layout_names", edit(LAYOUT, BLEND, "alpha=1", "1"), LAYOUT, "needs names for its values")
refused("layout_value", edit(LAYOUT, BLEND, "alpha=1", "alpha=one"), LAYOUT, "cannot read 'alpha=one'")
refused("layout_value_fits", edit(LAYOUT, BLEND, "alpha=1", "alpha=256"), LAYOUT, "does not fit 8 bits")
refused("layout_value_twice", edit(LAYOUT, BLEND, "alpha=1", "alpha=0"), LAYOUT, "'alpha=0' is said twice")
refused("layout_value_taken", edit(LAYOUT, BLEND, "alpha=1", "count=1"), LAYOUT, "no value can be named")
refused("layout_stand_in", edit(LAYOUT, BLEND, "!BAD_FORMAT", "~none"), LAYOUT, "~none is none of its values")
refused("layout_flag_fits", edit(LAYOUT, "RDRAW\tflags\t", "STATE_COLOR=7", "STATE_COLOR=16"), LAYOUT, "does not fit")
refused("layout_flag_overlap", edit(LAYOUT, "RDRAW\tflags\t", "TEXTURED=1", "TEXTURED=0"), LAYOUT, "overlaps rect")
refused("layout_fixed", edit(LAYOUT, "RDRAW\trect\t", "\t0 !", "\t0 1 !"), LAYOUT, "fixed needs one value")
refused("layout_default", edit(LAYOUT, "RDRAW\tstate_id\t", "\tcurrent\t", "\tnow\t"), LAYOUT, "default 'now'")
refused("layout_default_refused", edit(LAYOUT, "RDRAW\tstate_id\t", "\tcurrent\t", "\t77\t"), LAYOUT, "is refused")
refused("layout_view", edit(LAYOUT, "RRECT\tuv\t", "|31:0", "31:0"), LAYOUT, "RRECT.uv overlaps color")
refused("layout_view_of_nothing", edit(LAYOUT, "RSTATE\tblend\t", "7:0", "|15:8"), LAYOUT, "nothing above has these bits")
refused("layout_source", edit(LAYOUT, HEAD, "R-TILE-69", "R-TILE-999"), LAYOUT, "source 'R-TILE-999'")
refused("layout_keyword", edit(LAYOUT, BLEND, "blend", "signed"), LAYOUT, "'signed' is not a name")
refused("layout_list_of_floats", edit(LAYOUT, "RSTATE\trect_z\t", "f32\t-", "f32\t0..1"), LAYOUT, "takes no list")
CAP = "cap.csr.tsv"
PET = "CAP.PREC.MODE\t0x7D0\tPET\t"
refused("csr_legal_unreadable", edit(CAP, "CAP.XMEM.DOM\t", "ALL=15", "ALL-15"), CAP, "cannot read legal")
refused("csr_legal_name_twice", edit(CAP, PET, "FP32=1", "FP16=1"), CAP, "value FP16 twice")
refused("csr_legal_too_big", edit(CAP, PET, "INT32=5", "INT32=8"), CAP, "does not fit")
refused("csr_legal_reset", edit(CAP, PET, "FP16=0 ", ""), CAP, "becomes 0, which is not legal")
refused("csr_legal_else", edit(CAP, "SVSTATE\t", "else 63", "else 64"), CAP, "becomes 64, which is not legal")
refused("csr_legal_else_unreadable", edit(CAP, "SVSTATE\t", "else 63", "else last"), CAP, "cannot read 'else last'")
refused("csr_legal_limit", edit(CAP, "SVSTATE\t0x7F8\tPBANK", "PMASK_BANKS_M1", "PMASK_BANKS"), CAP, "there is no field")
refused("csr_legal_pair", edit(CAP, "CAP.PREC.MODE\t0x7D0\tFP_RMODE\t", "FP_RMODE2:", "UNS:"), CAP, "above it")
refused("csr_needs_unknown", edit(CAP, "CAP.XMEM.L2CFG\t", "CAP.XMEM.CAP.L2", "CAP.XMEM.CAP.L3"), CAP,
        "there is no field CAP.XMEM.CAP.L3")
refused("csr_needs_state", edit(CAP, "CAP.XMEM.L2CFG\t", "CAP.XMEM.CAP.L2", "CAP.XMEM.L1CFG.LOCK_EN"), CAP,
        "not decided by the configuration")
refused("csr_needs_unreadable", edit(CAP, "CAP.XMEM.L2CFG\t", "CAP.XMEM.CAP.L2", "L2"), CAP, "cannot read needs")
refused("csr_needs_differ", edit("rt.csr.tsv", "RTNODE\t0x7FAA;0x82A\tN8", "CAP.FEAT0.RT_PRESENT!", "-"), "rt.csr.tsv",
        "but the register's first field needs")
refused("csr_place_unreadable", edit(CAP, "CAP.XMEM.DOM\t", "cap.xmem.dom", "somewhere else"), CAP, "cannot read place")
refused("csr_place_differs", edit(CAP, "CAP.XMEM.L2CFG\t0x7E5\tSNC", "cap.xmem.l2cfg", "cap.xmem.l3cfg"), CAP, "above")
refused("csr_place_constant", edit(CAP, "XISEL\t", "cap.xisel", "const"), CAP, "but a field can be written")
refused("csr_view_unknown", edit("gfx.csr.tsv", "GFXWRAP\t", "=GFXCFG.WRAP_DFLT", "=GFXCFG.WRAP"), "gfx.csr.tsv",
        "there is no field GFXCFG.WRAP")
refused("csr_view_width", edit("gfx.csr.tsv", "GFXWRAP\t", "=GFXCFG.WRAP_DFLT", "=GFXCFG.NORM"), "gfx.csr.tsv",
        "another number of bits")
refused("csr_select_unknown", edit("gfx.csr.tsv", "GFXPLN0\t", "[GFXCFG.HISEL]", "[GFXCFG.HIGH]"), "gfx.csr.tsv",
        "there is no field GFXCFG.HIGH")
refused("requirement_twice", append("rt.requirements.tsv", "RT-001\tMUST\ts\t1\tagain\tagain"), "rt.requirements.tsv",
        "RT-001 twice")
refused("requirement_level", append("rt.requirements.tsv", "RT-999\tWILL\ts\t1\tx\tx"), "rt.requirements.tsv", "bad level")
refused("requirement_id", append("rt.requirements.tsv", "RT-1\tMUST\ts\t1\tx\tx"), "rt.requirements.tsv", "bad id")
refused("resolution_twice", append("resolutions-rt.md", "### R-RT-01 Again"), "resolutions-rt.md", "R-RT-01 twice")


def compile_copy(change, sources):
    """Generates from a changed copy of spec/ and compiles sources against it: the messages of the compiler, and the
    functions that the objects ask for."""
    with tempfile.TemporaryDirectory() as folder:
        spec = os.path.join(folder, "spec")
        shutil.copytree(os.path.join(SOURCE, "spec"), spec)
        change(spec)
        for name in ("isa", "contract", "facet"):
            os.mkdir(os.path.join(folder, name))
        commands = [[spec, folder + "/isa_tables.c", folder + "/isa/isa_rows.h"]]
        for isa in ("xphmg", "tile"):
            commands.append(["--csrs", spec, isa] + ["%s/contract/%s_%s.h" % (folder, isa, h) for h in ("csrs", "csr_rules")])
        for unit, header in (("xphmg", "contract/xphmg"), ("gfx12", "contract/gfx12"), ("tile", "facet/tile")):
            commands.append(["--layouts", spec, unit, "%s/%s_layouts.h" % (folder, header)])
        for words in commands:
            run = subprocess.run([sys.executable, GENERATOR] + words, capture_output=True, text=True)
            check_eq(run.returncode, 0, "the generator: " + run.stderr)
        said, wanted = "", set()
        for source in sources:
            target = os.path.join(folder, "object.o")
            run = subprocess.run([COMPILER, "-std=gnu11", "-Wall", "-Werror", "-c", "-o", target, "-I" + folder]
                                 + ["-I" + os.path.join(SOURCE, f) for f in ("src", "include")]
                                 + [os.path.join(SOURCE, "src", source)], capture_output=True, text=True)
            said += run.stderr
            if run.returncode == 0:
                names = subprocess.run(["nm", "-u", target], capture_output=True, text=True).stdout
                wanted |= set(names.split())
        return said, wanted


def without_code(name, change, sources, message=None, function=None):
    def run():
        if COMPILER is None or shutil.which("nm") is None:
            skip("no compiler")
        said, wanted = compile_copy(change, sources)
        if message:
            check(message in said, "the compiler said %r, expected %r" % (said[-2000:], message))
        else:
            check_eq(said, "", "what the compiler said")
        if function:
            check(function in wanted, "nobody asks for %s" % function)
    add_case(name, run)


COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
without_code("a_row_of_rt_without_code_does_not_build",
             append(RT, "rt.new\t0xfff0707f\t0x0100600b\trt.new rd, rs1\trd[11:7] rs1[19:15]\tx[rd] = 0"),
             ["xphmg/rt/rt.c"], "FACET_XPHMG_RT_NEW")
without_code("a_row_of_gfx_without_code_does_not_build",
             append("gfx-mtx.insn.tsv", "GFX.NEW\t0xffffffff\t0x2265b1ab\tGFX.NEW\t-\tnothing"),
             ["xphmg/gfx/gfx.c"], "FACET_XPHMG_GFX_NEW")
without_code("a_row_of_pmask_without_code_does_not_build",
             append("pmask-xmem.insn.tsv", "pmnew\t0xffcfffff\t0xfe00007b\tpmnew pbank\tpbank[21:20]\tnothing"),
             ["xphmg/rsv/pmask.c"], "FACET_XPHMG_PMNEW")
without_code("a_register_of_a_unit_without_code_does_not_link",
             append("rt.csr.tsv", "RTNEW\t0x7FAC;0x82C\tX\t0\tRW\t0\t-\tCAP.FEAT0.RT_PRESENT!\tcode\tnew"),
             ["xphmg/hart/csr_file.c"], None, "facet_hart_csr_write_RTNEW")
without_code("a_register_of_the_tile_machine_without_code_does_not_build",
             append("tile.csr.tsv", "other\t0x006\tX\t0\tRW\t0\t-\t-\tcode\tnew"), ["tile/csr.c"], "write_OTHER")
without_code("a_stored_register_needs_no_code",
             append("rt.csr.tsv", "RTNEW\t0x7FAC;0x82C\tX\t3:0\tWARL\t0\t0..6,15\tCAP.FEAT0.RT_PRESENT!\trt.fresh\tnew"),
             ["xphmg/hart/csr_file.c", "xphmg/units/state.c"])


def missing_file():
    result, outputs = with_copy(lambda spec: os.remove(os.path.join(spec, RT)))
    check_eq((result.returncode, outputs), (1, []), "status and outputs")
    check("rt-rsv.insn.tsv:1: file is missing" in result.stderr, result.stderr)


def wrong_header():
    result, outputs = with_copy(edit(RT, "mnemonic", "syntax", "text"))
    check_eq((result.returncode, outputs), (1, []), "status and outputs")
    check("rt-rsv.insn.tsv:1: header must be" in result.stderr, result.stderr)


def requirement_gap():
    result, outputs = with_copy(append("rt.requirements.tsv", "RT-999\tMUST\ts\t1\tx\tx"))
    check_eq((result.returncode, outputs), (1, []), "status and outputs")
    check("without gaps" in result.stderr, result.stderr)


def check_py_agrees():
    """spec/check.py stands alone, for readers of the contract: it accepts it, and sees an overlap too."""
    for change, status in ((None, 0), (edit(RT, "rt.tri\t", "0x0000700b", "0x0000600b"), 1),
                           (edit(LAYOUT, BLEND, "0x1C", "0x18"), 1), (edit(LAYOUT, BLEND, "7:0", "32:25"), 1),
                           (edit(LAYOUT, "RRECT\tuv\t", "|31:0", "31:0"), 1),
                           (edit(LAYOUT, "RSTATE\trect_z\t", "0x3C", "0x3D"), 1),
                           (edit(CAP, "CAP.XMEM.L2CFG\t", "CAP.XMEM.CAP.L2", "CAP.XMEM.CAP.L3"), 1),
                           (edit(CAP, "CAP.XMEM.DOM\t", "cap.xmem.dom", "somewhere else"), 1)):
        with tempfile.TemporaryDirectory() as folder:
            spec = os.path.join(folder, "spec")
            shutil.copytree(os.path.join(SOURCE, "spec"), spec)
            if change:
                change(spec)
            run = subprocess.run([sys.executable, "check.py"], cwd=spec, capture_output=True, text=True)
            check_eq(run.returncode, status, "check.py: " + run.stdout[-300:])


def spoil(name, row):
    """A byte that is not UTF-8 at the end of the line that starts with `row`."""
    def change(spec):
        path = os.path.join(spec, name)
        with open(path, "rb") as f:
            lines = f.read().split(b"\n")
        at = next(i for i, line in enumerate(lines) if line.startswith(row.encode()))
        lines[at] += b"\xff"
        with open(path, "wb") as f:
            f.write(b"\n".join(lines))
        change.line = at + 1
    return change


def remove(name):
    def change(spec):
        os.remove(os.path.join(spec, name))
    return change


def check_py_says():
    """What check.py finds it says with the file, the line and what was expected, never with a traceback."""
    for change, file, reason in ((remove("cap.csr.tsv"), "cap.csr.tsv", "missing"),
                                 (remove("mtx.requirements.tsv"), "mtx.requirements.tsv", "missing"),
                                 (remove("tile.layout.tsv"), "tile.layout.tsv", "missing"),
                                 (edit(RT, "rt.tri\t", "0x0000700b", "0x0000g00b"), RT, "hexadecimal digits"),
                                 (spoil("rt.csr.tsv", "RT"), "rt.csr.tsv", "0xff is not UTF-8"),
                                 (edit("rt.requirements.tsv", "RT-025\t", "R-RT-02", "R-RT-999"),
                                  "rt.requirements.tsv", "there is no resolution R-RT-999")):
        with tempfile.TemporaryDirectory() as folder:
            spec = os.path.join(folder, "spec")
            shutil.copytree(os.path.join(SOURCE, "spec"), spec)
            change(spec)
            run = subprocess.run([sys.executable, "check.py"], cwd=spec, capture_output=True, text=True)
            where = "%s:%d" % (file, change.line) if hasattr(change, "line") else file
            check_eq((run.returncode, run.stderr), (1, ""), "check.py")
            check(any(line.startswith(where) and reason in line for line in run.stdout.splitlines()),
                  "no %r with %r in: %s" % (where, reason, run.stdout[-400:]))


refused("unknown_resolution", edit("rt.requirements.tsv", "RT-025\t", "R-RT-02", "R-RT-999"),
        "rt.requirements.tsv", "there is no resolution R-RT-999")
for function in (missing_file, wrong_header, requirement_gap, check_py_agrees, check_py_says):
    add_case(function.__name__, function)
main("descriptions")
