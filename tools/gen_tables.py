#!/usr/bin/env python3
"""Turns spec/ into C: isa_tables.c (the arrays of src/isa/table.h, the decision tables of decode.c, the
mnemonic hash of lookup.c) and isa_rows.h (one enumerator per instruction row); or into two headers on one
instruction set's control and status registers, numbers and fields, and what they hold (csr_tables.py); or into one with the structures that a machine
reads and writes in memory.

usage: gen_tables.py SPEC_FOLDER isa_tables.c isa_rows.h
       gen_tables.py --csrs SPEC_FOLDER xphmg|tile csrs.h csr_rules.h
       gen_tables.py --layouts SPEC_FOLDER xphmg|tile|gfx12 layouts.h
       gen_tables.py --unit-insns SPEC_FOLDER gfx12 insns.h
       gen_tables.py --rules SPEC_FOLDER gfx12 rules.h
       gen_tables.py --check SPEC_FOLDER
       gen_tables.py --files SPEC_FOLDER     the files that are read, one per line
Complaints go to standard error as file:line: text; then nothing is written and the exit status is 1."""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import csr_tables
import decode_tree
import layout_tables
import spec_tables
from spec_tables import Spec

ISA_ENUM = {"xphmg": "FACET_ISA_XPHMG", "tile": "FACET_ISA_TILE"}


def c_string(text):
    if text is None:
        return "NULL"
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return '"' + out.replace("??", "?\\?") + '"'


def c_name(text):
    return "".join(c if c.isalnum() else "_" for c in text).upper()


def c_bool(value):
    return "true" if value else "false"


def enumerators(isa, rows):
    """FACET_XPHMG_RT_BBOX; a second row of one mnemonic gets its last operand's name after it."""
    names = []
    for row in rows:
        name = "FACET_%s_%s" % (isa.upper(), c_name(row.mnemonic))
        if name in names:
            shown = [o.name for o in row.operands if not o.hidden]
            name += "_" + c_name(shown[-1] if shown else str(row.id))
        if name in names:
            raise ValueError("%s:%d: enumerator %s twice" % (row.path, row.line, name))
        names.append(name)
    return names


def extensions(rows):
    return sorted(set(row.extension for row in rows))


def extension_enumerator(isa, name):
    return "FACET_%s_EXT_%s" % (isa.upper(), c_name(name).replace("XPHMG_", ""))


def emit_fields(names, rows, out):
    """Mask and lowest bit of each option of a vendor row: FACET_FIELD_GFX_SAMPLE_PPP and ..._LSB."""
    out.append("/* Options of the vendor rows: where they are in the word. */")
    for name, row in zip(names, rows):
        if not row.extension.startswith("XPHMG"):
            continue
        options = [o for o in row.operands if len(o.pieces) == 1 and "reg" not in o.kind]
        cells = ["FACET_FIELD_%s_%s" % (name.split("_", 2)[2], c_name(o.name)) for o in options]
        if len(set(cells)) != len(cells):
            raise ValueError("%s:%d: two options differ only in case" % (row.path, row.line))
        for cell, o in zip(cells, options):
            piece = o.pieces[0]
            out.append("#define %s 0x%Xu" % (cell, ((1 << piece.width) - 1) << piece.word_lo))
            out.append("#define %s_LSB %d" % (cell, piece.word_lo))
    out.append("")


def emit_row_groups(rows, out):
    """FACET_XPHMG_ROWS_RT(X), and ..._BUT_RT(X) for all others: a switch over the rows of one unit names each of its rows,
    then those of the others, and has no default, so that the compiler finds a row without code."""
    groups = {}
    for name, row in zip(enumerators("xphmg", rows), rows):
        group = extension_enumerator("xphmg", row.extension).split("_")[-1] if row.extension.startswith("XPHMG") else \
            "BASE" if row.length == 4 else "COMPRESSED"
        groups.setdefault(group, []).append(name[len("FACET_XPHMG_"):])
    out.append("/* Rows by unit, the rows of all other units, and the label of a row. */")
    out.append("#define FACET_XPHMG_CASE(name) case FACET_XPHMG_##name:")
    for group, names in groups.items():
        out.append("#define FACET_XPHMG_ROWS_%s(X) \\" % group)
        out.append(" \\\n".join("    X(%s)" % name for name in names))
    vendor = [g for g in groups if g not in ("BASE", "COMPRESSED")]
    out.append("#define FACET_XPHMG_ROWS_VENDOR(X) " + " ".join("FACET_XPHMG_ROWS_%s(X)" % g for g in vendor))
    for group in vendor:
        out.append("#define FACET_XPHMG_ROWS_BUT_%s(X) \\" % group)
        out.append(" \\\n".join("    FACET_XPHMG_ROWS_%s(X)" % other for other in groups if other != group))
    out.append("")


def emit_rows_header(spec, steps, out):
    out.append("/* Made by tools/gen_tables.py from spec/ *.insn.tsv: the numbers of the instruction rows. */")
    out.append("#ifndef FACET_ISA_ROWS_H")
    out.append("#define FACET_ISA_ROWS_H\n")
    out.append("#include <stdint.h>\n")
    for isa, rows in spec.insns.items():
        out.append("enum facet_%s_op {" % isa)
        for name, row in zip(enumerators(isa, rows), rows):
            out.append("    %s, /* %s */" % (name, row.syntax))
        out.append("    FACET_%s_OP_COUNT" % isa.upper())
        out.append("};\n")
        out.append("/* The same names without their prefix: tables and prototypes with one entry per row. */")
        prefix = len("FACET_%s_" % isa.upper())
        out.append("#define FACET_%s_ROWS(X) \\" % isa.upper())
        out.append(" \\\n".join("    X(%s)" % name[prefix:] for name in enumerators(isa, rows)) + "\n")
        out.append("/* Who brings a row; facet_%s_extension[op] for each of them. */" % isa)
        out.append("enum facet_%s_extension {" % isa)
        for name in extensions(rows):
            out.append("    %s," % extension_enumerator(isa, name))
        out.append("};")
        out.append("extern const uint8_t facet_%s_extension[FACET_%s_OP_COUNT];\n" % (isa, isa.upper()))
        emit_fields(enumerators(isa, rows), rows, out)
        if isa == "xphmg":
            emit_row_groups(rows, out)
    out.append("/* Length of every walk through facet_decode_nodes (decode.c). */")
    out.append("#define FACET_DECODE_STEPS %d\n" % max(steps.values()))
    out.append("#endif")


class Interned:
    """Arrays that several rows share are written once."""

    def __init__(self, out, prefix, ctype):
        self.out, self.prefix, self.ctype, self.names = out, prefix, ctype, {}

    def get(self, text):
        if text not in self.names:
            self.names[text] = "%s_%d" % (self.prefix, len(self.names))
            self.out.append("static const %s %s[] = {%s};" % (self.ctype, self.names[text], text))
        return self.names[text]


def emit_extensions(spec, out):
    for isa, rows in spec.insns.items():
        out.append("const uint8_t facet_%s_extension[] = {" % isa)
        out.append("    " + ", ".join(extension_enumerator(isa, row.extension) for row in rows))
        out.append("};")


def name_key(name):
    """facet_name_key of isa/table.h."""
    return int.from_bytes(name.encode("ascii")[:8], "little")


def emit_insns(spec, out):
    pieces = Interned(out, "pieces", "struct facet_piece")
    symbols = Interned(out, "symbols", "struct facet_symbol")
    items = Interned(out, "items", "struct facet_syntax_item")
    operands = Interned(out, "operands", "struct facet_operand")
    for isa, rows in spec.insns.items():
        text = []
        for row in rows:
            cells = []
            for o in row.operands:
                p = "NULL"
                if o.pieces:
                    p = pieces.get(", ".join("{%d, %d, %d}" % (p.word_lo, p.width, p.value_lo) for p in o.pieces))
                s = "NULL"
                if o.symbols:
                    s = symbols.get(", ".join("{%s, %d}" % (c_string(n), v) for n, v in o.symbols) + ", {NULL, 0}")
                forbidden = sum(1 << v for v in set(o.forbidden) - {0})
                cells.append(
                    "{.name = %s, .key = 0x%xu, .kind = FACET_OPERAND_%s, .codec = FACET_CODEC_%s, .piece_count = %d, "
                    ".value_width = %d, .value_align = %d, .hidden = %s, .optional = %s, .keyed = %s, "
                    ".brief = %s, .nonzero = %s, .forbidden = 0x%xu, .default_value = %d, .pieces = %s, "
                    ".symbols = %s, .second_name = %s, .print = FACET_PRINT_%s, .meaning = %s}" % (
                        c_string(o.name), name_key(o.name), o.kind.upper(), o.codec.upper(), len(o.pieces), o.width(), o.align(),
                        c_bool(o.hidden), c_bool(o.optional), c_bool(o.keyed), c_bool(o.brief),
                        c_bool(0 in o.forbidden), forbidden, o.default, p, s, c_string(o.second),
                        o.print.upper(), c_string(o.meaning)))
            keys = [name_key(o.name) for o in row.operands]
            assert len(set(keys)) == len(keys), "%s: operands with the same first eight letters" % row.mnemonic
            op = operands.get(", ".join(cells)) if cells else "NULL"
            it = items.get(", ".join("{%d, %d}" % i for i in row.items)) if row.items else "NULL"
            text.append(
                "    {.mnemonic = %s, .mask = 0x%08xu, .match = 0x%08xu, .length = %d, .operand_count = %d, "
                ".item_count = %d, .suffix = %d, .operands = %s, .items = %s, .syntax = %s, .fields = %s, "
                ".semantics = %s, .extension = %s, .file = %s, .line = %d, .id = %d}," % (
                    c_string(row.mnemonic), row.mask, row.match, row.length, len(row.operands), len(row.items),
                    row.suffix, op, it, c_string(row.syntax), c_string(row.fields), c_string(row.semantics),
                    c_string(row.extension), c_string(row.path), row.line, row.id))
        out.append("static const struct facet_insn_row rows_%s[] = {" % isa)
        out.extend(text)
        out.append("};")
    out.append("const struct facet_insn_row *const facet_isa_rows[FACET_ISA_COUNT] = {%s};"
               % ", ".join("rows_%s" % isa for isa in spec.insns))
    out.append("const size_t facet_isa_row_count[FACET_ISA_COUNT] = {%s};"
               % ", ".join(str(len(r)) for r in spec.insns.values()))
    out.append("const char *const facet_isa_name[FACET_ISA_COUNT] = {%s};"
               % ", ".join(c_string(isa) for isa in spec.insns))


def emit_aliases(spec, out):
    for isa, rows in spec.aliases.items():
        out.append("static const struct facet_alias_row aliases_%s[] = {" % isa)
        for r in rows:
            out.append("    {%s, %s, %s, %s}," % tuple(
                c_string(r[k]) for k in ("mnemonic", "operands", "expansion", "note")))
        out.append("};")
    out.append("const struct facet_alias_row *const facet_isa_aliases[FACET_ISA_COUNT] = {%s};"
               % ", ".join("aliases_%s" % isa for isa in spec.aliases))
    out.append("const size_t facet_isa_alias_count[FACET_ISA_COUNT] = {%s};"
               % ", ".join(str(len(r)) for r in spec.aliases.values()))


def emit_decoder(spec, out):
    """1024 roots per ISA, chosen by opcode (bits 6:0) and funct3 (bits 14:12): nearly all rows fix them."""
    roots, steps = [], {}
    for isa, rows in spec.insns.items():
        trees = [decode_tree.build(rows, 0x707F, key & 0x7F | (key >> 7) << 12, len(rows)) for key in range(1024)]
        steps[isa] = max(decode_tree.depth(t) for t in trees)
        roots += trees
    flat = decode_tree.flatten(roots)
    if len(flat) > 0xFFFF:
        raise ValueError("%d decode nodes do not fit 16 bits" % len(flat))
    out.append("const struct facet_decode_node facet_decode_nodes[] = {")
    for node in flat:
        if node.children:
            (lo1, n1), (lo2, n2) = node.ranges
            # The second range lands above the first: shift right by lo2 - n1 (never negative, lo2 > lo1 + n1).
            out.append("    {%d, 0, %d, %d, 0x%x, 0x%x}," % (
                node.base, lo1, lo2 - n1 if n2 else 0, (1 << n1) - 1, ((1 << n2) - 1) << n1))
        else:
            out.append("    {%d, %d, 0, 0, 0, 0}," % (node.base, node.row))
    out.append("};")
    out.append("const size_t facet_decode_node_count = %d;" % len(flat))
    for isa, rows in spec.insns.items():
        out.append("static const struct facet_decode_leaf leaves_%s[] = {" % isa)
        for row in rows:
            conditions = row.conditions() + [(0, 1)] * (2 - len(row.conditions()))
            out.append("    {0x%08xu, 0x%08xu, {{0x%08xu, 0x%08xu}, {0x%08xu, 0x%08xu}}}," % (
                (row.mask, row.match) + conditions[0] + conditions[1]))
        out.append("    {0, 1, {{0, 1}, {0, 1}}}, /* illegal */")
        out.append("};")
    out.append("const struct facet_decode_leaf *const facet_decode_leaves[FACET_ISA_COUNT] = {%s};"
               % ", ".join("leaves_%s" % isa for isa in spec.insns))
    return len(flat), steps


def fnv(text):
    h = 2166136261
    for c in text.lower().encode():
        h = ((h ^ c) * 16777619) & 0xFFFFFFFF
    return h


def emit_mnemonics(spec, out):
    """Row numbers sorted by hash bucket, rows of one bucket in table order; see facet_isa_find."""
    for isa, rows in spec.insns.items():
        size = 1 << max(4, len(rows).bit_length())
        buckets = [[] for _ in range(size)]
        for row in rows:
            buckets[fnv(row.mnemonic) & (size - 1)].append(row.id)
        first, order = [], []
        for b in buckets:
            first.append(len(order))
            order += b
        first.append(len(order))
        out.append("static const uint16_t hash_first_%s[] = {%s};" % (isa, ", ".join(map(str, first))))
        out.append("static const uint16_t hash_rows_%s[] = {%s};" % (isa, ", ".join(map(str, order or [0]))))
    out.append("const struct facet_mnemonic_hash facet_mnemonic_hashes[FACET_ISA_COUNT] = {")
    for isa, rows in spec.insns.items():
        out.append("    {%du, hash_first_%s, hash_rows_%s}," % ((1 << max(4, len(rows).bit_length())) - 1, isa, isa))
    out.append("};")


def emit_csrs(spec, out):
    for i, csr in enumerate(spec.csrs):
        out.append("static const struct facet_csr_field csr_fields_%d[] = {" % i)
        for f in csr["fields"]:
            out.append("    {%s, %d, %d, FACET_CSR_%s, 0x%xu, %s, %s, %s, %s, %s}," % (
                c_string(f["name"]), f["hi"], f["lo"], f["access"], f["reset"], c_string(f["reset_text"]),
                c_string(f["meaning"]), c_string(f["legal"]), c_string(f["needs"]), c_string(f["place"])))
        out.append("};")
    out.append("const struct facet_csr_row facet_csr_rows[] = {")
    for i, csr in enumerate(spec.csrs):
        out.append("    {.name = %s, .number = 0x%xu, .count = %d, .alias = 0x%xu, .stride = %d, .first = %d, "
                   ".address = %s, .width = %d, .field_count = %d, .fields = csr_fields_%d, .file = %s, .isa = %s, %s}," % (
                       c_string(csr["name"]), csr["number"], csr["count"], csr["alias"], csr["stride"],
                       csr["first"], c_string(csr["address"]), csr["width"], len(csr["fields"]), i,
                       c_string(csr["path"]), ISA_ENUM[csr["isa"]], csr_tables.row_cells(spec, csr)))
    out.append("};")
    csr_tables.emit_numbers(spec, ISA_ENUM, out)
    out.append("const size_t facet_csr_row_count = %d;" % len(spec.csrs))


def emit_csr_header(spec, isa, out):
    """What code needs to speak of a CSR: number, writable bits, reset value; mask and lowest bit of each field."""
    out.append("/* Made by tools/gen_tables.py from spec/ *.csr.tsv: numbers and fields of the %s registers. */" % isa)
    out.append("#ifndef FACET_CONTRACT_%s_CSRS_H" % isa.upper())
    out.append("#define FACET_CONTRACT_%s_CSRS_H\n" % isa.upper())
    out.append("#include <stdint.h>\n")
    for csr in spec.csrs:
        if csr["isa"] != isa:
            continue
        name = csr_tables.identifier(csr["name"])
        out.append("#define FACET_CSR_%s 0x%X" % (name, csr["number"]))
        writable = csr_tables.bits(csr, "RW", "WARL", "W1C", "W1A", "WC")
        out.append("#define FACET_%s_WRITABLE UINT64_C(0x%X)" % (name, writable))
        out.append("#define FACET_%s_RESET UINT64_C(0x%X)" % (name, csr_tables.reset(csr)))
        names = [f["name"] for f in csr["fields"]]
        for f in csr["fields"]:
            if names.count(f["name"]) > 1 or f["name"] == "RSV":  # gaps: nothing refers to them
                continue
            mask = (2 << f["hi"]) - (1 << f["lo"])
            field = "FACET_%s_%s" % (name, csr_tables.identifier(f["name"]))
            out.append("#define %s UINT64_C(0x%X)" % (field, mask))
            out.append("#define %s_LSB %d" % (field, f["lo"]))
    out.append("")
    csr_tables.emit_storage(spec, isa, out)
    out.append("#endif")


def emit_unit_header(spec, out):
    """The GFX12 instructions: mnemonic, fixed words, lowest bit of each field."""
    out.append("/* Made by tools/gen_tables.py from spec/gfx12.insn.tsv: mnemonics, fixed bits and fields. */")
    out.append("#ifndef FACET_CONTRACT_GFX12_INSNS_H")
    out.append("#define FACET_CONTRACT_GFX12_INSNS_H\n")
    for r in spec.unit_insns:
        name = "FACET_GFX12_" + c_name(r["mnemonic"])
        out.append("#define %s %s" % (name, c_string(r["mnemonic"])))
        for part in ("mask", "match"):
            words = ", ".join("0x%08Xu" % (r[part] >> 32 * i & 0xFFFFFFFF) for i in range(r["dwords"]))
            out.append("#define %s_%s {%s}" % (name, part.upper(), words))
        for field, hi, lo in r["parts"]:
            out.append("#define %s_%s_LSB %d" % (name, c_name(field), lo))
    out.append("\n#endif")


def emit_rules(spec, out):
    """The rules of the GFX12 validator, as a list of RULE(id, severities, requirement, title)."""
    out.append("/* Made by tools/gen_tables.py from spec/gfx12.rules.tsv. */")
    out.append("#ifndef FACET_CONTRACT_GFX12_RULES_H")
    out.append("#define FACET_CONTRACT_GFX12_RULES_H\n")
    out.append("#define FACET_GFX12_RULES %d" % len(spec.rules))
    out.append("#define FACET_GFX12_RULE_ROWS(RULE) \\")
    for r in spec.rules:
        severities = ["FACET_GFX12_" + (r[k] if r[k] != "-" else r["severity"]).upper() for k in spec_tables.RULE_COLUMNS[1:5]]
        out.append("    RULE(%s) \\" % ", ".join([c_string(r["id"])] + severities + [c_string(r[k]) for k in ("requirement", "title")]))
    out.append("\n#endif")


def emit_prose(spec, out):
    out.append("const struct facet_requirement_row facet_requirement_rows[] = {")
    for r in spec.requirements:
        out.append("    {%s}," % ", ".join(c_string(r[k]) for k in spec_tables.REQUIREMENT_COLUMNS + ["path"]))
    out.append("};")
    out.append("const size_t facet_requirement_row_count = %d;" % len(spec.requirements))
    out.append("const struct facet_resolution_row facet_resolution_rows[] = {")
    for r in spec.resolutions:
        out.append("    {%s}," % ", ".join(c_string(r[k]) for k in ("id", "title", "text", "path")))
    out.append("};")
    out.append("const size_t facet_resolution_row_count = %d;" % len(spec.resolutions))
    for name, rows in (("requirement", spec.requirements), ("resolution", spec.resolutions)):
        by_id = sorted(range(len(rows)), key=lambda i: rows[i]["id"])
        out.append("const uint16_t facet_%s_order[] = {%s};" % (name, ", ".join(map(str, by_id))))
    titles = spec.extension_titles()
    out.append("const struct facet_extension_row facet_extension_rows[] = {")
    for name, title in titles:
        out.append("    {%s, %s}," % (c_string(name), c_string(title)))
    out.append("};")
    out.append("const size_t facet_extension_row_count = %d;" % len(titles))


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main(argv):
    if len(argv) == 3 and argv[1] == "--files":
        for pattern in ("*.tsv", "*.md"):
            print("\n".join(sorted(glob.glob(os.path.join(argv[2], pattern)))))
        return 0
    if len(argv) == 3 and argv[1] == "--check":
        folder, outputs = argv[2], None
    elif len(argv) == 6 and argv[1] == "--csrs" and argv[3] in ISA_ENUM:
        folder, outputs = argv[2], argv[4:]
    elif len(argv) == 5 and argv[1:4:2] == ["--unit-insns", "gfx12"]:
        folder, outputs = argv[2], argv[4:]
    elif len(argv) == 5 and argv[1:4:2] == ["--rules", "gfx12"]:
        folder, outputs = argv[2], argv[4:]
    elif len(argv) == 5 and argv[1] == "--layouts" and argv[3] in layout_tables.UNITS:
        folder, outputs = argv[2], argv[4:]
    elif len(argv) == 4:
        folder, outputs = argv[1], argv[2:]
    else:
        sys.stderr.write(__doc__ + "\n")
        return 2
    spec = Spec(folder)
    if not spec.read():
        sys.stderr.write("\n".join(spec.findings) + "\n")
        return 1
    tables = ["/* Made by tools/gen_tables.py from spec/. */",
              '#include "isa/decode_tables.h"', '#include "isa/isa_rows.h"', '#include "isa/table.h"\n']
    header = []
    if argv[1] == "--csrs":
        emit_csr_header(spec, argv[3], header)
        write(outputs[0], header)
        rules = []
        csr_tables.emit_rules_header(spec, spec.csr_rules, argv[3], rules)
        write(outputs[1], rules)
        return 0
    if argv[1] == "--unit-insns":
        emit_unit_header(spec, header)
        write(outputs[0], header)
        return 0
    if argv[1] == "--rules":
        emit_rules(spec, header)
        write(outputs[0], header)
        return 0
    if argv[1] == "--layouts":
        layout_tables.emit_header(spec.layouts, argv[3], "FACET_%s_LAYOUTS_H" % argv[3].upper(), header)
        write(outputs[0], header)
        return 0
    try:
        emit_extensions(spec, tables)
        emit_insns(spec, tables)
        nodes, steps = emit_decoder(spec, tables)
        emit_rows_header(spec, steps, header)
    except ValueError as e:
        sys.stderr.write("%s\n" % e)
        return 1
    emit_mnemonics(spec, tables)
    emit_aliases(spec, tables)
    emit_csrs(spec, tables)
    layout_tables.emit_rows(spec.layouts, tables)
    emit_prose(spec, tables)
    if outputs is None:
        for isa, rows in spec.insns.items():
            print("%s: %d instruction rows, %d aliases, %d decode steps"
                  % (isa, len(rows), len(spec.aliases[isa]), steps[isa]))
        print("%d decode nodes, %d CSRs, %d structures, %d requirements, %d resolutions"
              % (nodes, len(spec.csrs), len(spec.layouts), len(spec.requirements), len(spec.resolutions)))
        return 0
    for path, lines in zip(outputs, (tables, header)):
        write(path, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
