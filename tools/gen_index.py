#!/usr/bin/env python3
"""Makes contract_index.c (the arrays of src/cards/index.h): every name of the contract with what speaks of it,
the documents and the glossary.

usage: gen_index.py SPEC_FOLDER GLOSSARY.md contract_index.c
Complaints go to standard error as file:line: text; then nothing is written and the exit status is 1."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from gen_tables import c_string, write
from spec_links import Item, Links, area_of, machine_of
from spec_tables import Spec

MACHINE_ENUM = {"xphmg": "FACET_ISA_XPHMG", "tile": "FACET_ISA_TILE", "gfx12": "FACET_ITEM_GFX12", "": "FACET_ITEM_ANY"}


def read_glossary(path):
    """(word, meaning) from the table of the glossary page, links and backquotes taken out."""
    out = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            cells = [c.strip() for c in line.strip().strip("|").split(" | ")]
            if line.startswith("| ") and len(cells) == 2 and cells[0] not in ("word", "---"):
                out.append((cells[0], re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", cells[1]).replace("`", "")))
    return out


def all_items(spec, glossary):
    items = []

    def add(*cells):
        items.append(Item(*cells))

    for isa, rows in spec.insns.items():
        for row in rows:
            add("instruction", isa, row.mnemonic, row.extension, row.syntax, (row.id, 0))
        for i, r in enumerate(spec.aliases[isa]):
            add("alias", isa, r["mnemonic"], "aliases", "%s: %s" % (r["expansion"], r["note"]), (i, 0))
    for i, r in enumerate(spec.unit_insns):
        add("instruction", "gfx12", r["mnemonic"], "gfx12", r["syntax"], (i, 0))
    for c, csr in enumerate(spec.csrs):
        add("csr", csr["isa"], csr["name"], csr["path"].split(".")[0], csr["address"], (c, 0))
        for f, field in enumerate(csr["fields"]):
            add("field", csr["isa"], "%s.%s" % (csr["name"], field["name"]), csr["name"], field["meaning"], (c, f))
    for i, layout in enumerate(spec.layouts):
        add("structure", layout.machine, layout.name, "structures", layout.meaning, (i, 0))
        for k, member in enumerate(layout.members):
            add("member", layout.machine, "%s.%s" % (layout.name, member.name), layout.name, member.cells["meaning"], (i, k))
    for i, r in enumerate(spec.requirements):
        add("requirement", machine_of(r["id"]), r["id"], area_of(r["id"]), r["requirement"], (i, 0))
    for i, r in enumerate(spec.resolutions):
        add("resolution", machine_of(r["id"]), r["id"], area_of(r["id"]), r["title"], (i, 0))
    for i, r in enumerate(spec.sections):
        machine = r["path"].split("-")[0] if r["path"].split("-")[0] in ("tile", "gfx12") else "xphmg"
        add("section", machine, r["name"], r["path"], r["title"], (i, 0))
    for i, (word, meaning) in enumerate(glossary):
        add("word", "", word, "glossary", meaning, (i, 0))
    for i, r in enumerate(spec.documents):
        add("document", "", r["document"], r["kind"], r["title"], (i, 0))
    for i, (name, title) in enumerate(spec.extension_titles()):
        isa = next(r["isa"] for r in spec.extension_rules if r["extension"] == name)
        add("extension", isa, name, "extensions", title, (i, 0))
    for i, r in enumerate(spec.rules):
        add("rule", "gfx12", r["id"], "rules", r["title"], (i, 0))
    return items


def link_rules(spec, items):
    """A rule belongs to the requirement that it protects, and to the rows and resolutions that name it."""
    for item in items:
        if item.kind == "rule":
            name = re.compile(r"\b%s\b" % item.name)
            item.requirements.add(spec.rules[item.key[0]]["requirement"])
            item.requirements |= {r["id"] for r in spec.requirements if name.search(r["requirement"] + r["observable"])}
            item.resolutions |= {r["id"] for r in spec.resolutions if name.search(r["text"])}


class Numbers:
    """Lists of row numbers; equal lists are written once."""

    def __init__(self, out):
        self.out, self.names = out, {}

    def get(self, numbers):
        if not numbers:
            return "NULL"
        text = ", ".join(map(str, numbers))
        if text not in self.names:
            self.names[text] = "n%d" % len(self.names)
            self.out.append("static const uint16_t %s[] = {%s};" % (self.names[text], text))
        return self.names[text]


def emit(spec, glossary, items):
    out = ["/* Made by tools/gen_index.py from spec/ and docs/glossary.md. */", '#include "cards/index.h"\n']
    requirement = {r["id"]: i for i, r in enumerate(spec.requirements)}
    resolution = {r["id"]: i for i, r in enumerate(spec.resolutions)}
    lists, rows = Numbers(out), []
    for item in items:
        a = sorted(requirement[i] for i in item.requirements)
        b = sorted(resolution[i] for i in item.resolutions)
        pages = sorted(item.sections)
        rows.append("    {FACET_ITEM_%s, %s, %d, %d, %s, %s, %s, %d, %d, %d, %s, %s, %s}," % (
            item.kind.upper(), MACHINE_ENUM[item.machine], item.key[0], item.key[1], c_string(item.name),
            c_string(item.group), c_string(item.text), len(a), len(b), len(pages), lists.get(a), lists.get(b), lists.get(pages)))
    out += ["const struct facet_item facet_items[] = {"] + rows + ["};"]
    out.append("const size_t facet_item_count = %d;" % len(items))
    out.append("const struct facet_unit_insn facet_unit_insns[] = {")
    for r in spec.unit_insns:
        words = ["{%s}" % ", ".join("0x%08xu" % (r[k] >> 32 * i & 0xFFFFFFFF) for i in range(3)) for k in ("mask", "match")]
        out.append("    {%s, %s, %s, %s, %s, %s, %d, %s, %d}," % (
            c_string(r["mnemonic"]), c_string(r["syntax"]), c_string(r["fields"]), c_string(r["semantics"]), words[0],
            words[1], r["dwords"], c_string(r["path"]), r["line"]))
    out.append("};")
    out.append("const struct facet_section_row facet_section_rows[] = {")
    for r in spec.sections:
        out.append("    {%s, %s, %s, %s, %d}," % (
            c_string(r["name"]), c_string(r["title"]), c_string(r["text"]), c_string(r["path"]), r["line"]))
    out.append("};")
    out.append("const struct facet_rule_row facet_rule_rows[] = {")
    for r in spec.rules:
        drivers = ", ".join(c_string(r[k] if r[k] != "-" else r["severity"]) for k in ("radv", "gpurt", "hiprt"))
        out.append("    {%s, %s, {%s}, %s, %s, %s}," % (
            c_string(r["id"]), c_string(r["severity"]), drivers, c_string(r["title"]), c_string(r["rule"]), c_string(r["path"])))
    out.append("};")
    out.append("const struct facet_document_row facet_document_rows[] = {")
    for r in spec.documents:
        out.append("    {%s}," % ", ".join(c_string(r[k]) for k in ("document", "title", "author", "kind")))
    out += ["};", "const size_t facet_document_row_count = %d;" % len(spec.documents)]
    return out


def main(argv):
    if len(argv) != 4:
        sys.stderr.write(__doc__ + "\n")
        return 2
    spec = Spec(argv[1])
    if spec.read():
        glossary = read_glossary(argv[2])
        items = all_items(spec, glossary)
        Links(spec, items)
        link_rules(spec, items)
    if spec.findings:
        sys.stderr.write("\n".join(spec.findings) + "\n")
        return 1
    write(argv[3], emit(spec, glossary, items))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
