#!/usr/bin/env python3
"""Makes docs/errata.md from spec/resolutions-*.md: what the authors of the source documents may want to merge.

usage: gen_errata.py SPEC_FOLDER errata.md
       gen_errata.py --check SPEC_FOLDER errata.md     exit status 1 when the page is not what would be made

An entry is a resolution under its document, in the order of the document's sections. The document follows from the
area of the ID, unless the section is written `DOCUMENT: 4.2.1`. The section is what spec/errata.tsv says (`own`: no entry,
the resolution is about Facet's files); else those that the resolution's own text cites, if the requirement rows know them
as sections of that document; else the section of the resolution that it completes. Text of the page comes from the
labelled lines of the resolution; a row of errata.tsv may carry wordings of its own, for an author who has the document and
not Facet's pages. An entry that a later one revises or completes says so first."""
import os
import re
import sys
from collections import OrderedDict, defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from spec_links import area_of
from spec_tables import Spec

DOCUMENT_OF_AREA = {
    "CAP": "XPHMG_CAP 0.1.1", "RT": "XPHMG_RT 0.1.1", "GFX": "XPHMG_GFX 0.1.0", "G12": "GFX12 BVH encoding",
    "TILE": "TinyGPU Instruction Reference (Draft)", "PM": "XPHMG_PMASK 0.1.1", "XM": "XPHMG_XMEM 0.1.1",
    "RSV": "XPHMG_RSV 0.1.1", "MTX": "XPHMG_MTX 0.1.1", "RV": "XPHMG_CAP 0.1.1"}
LABEL = re.compile(r"^(?:- )?\*([A-Z][a-z ]+?):?\*:?\s+", re.M)
LABELS = ["Sources in conflict", "Decision", "Why", "Replaces"]
COLUMNS = ["id", "section", "text", "suggested"]
GENERAL = "The document as a whole"
ID = re.compile(r"R-[A-Z0-9]+-\d+")
# Words that the contract puts after "seed" as after an adjective.
PART_NOUN = (r"(?:C struct|bits?|execution model|form|heading|layout|open point|pseudo|sampler|size|slot|statements?|tables?"
             r"|text|type map|values?|version|wording|words|author)\b")
OWN = "own"  # about Facet's own files and tools: nothing for the authors of a document

HEAD = """# Errata of the source documents

What Facet's contract found contradictory or open in the documents that it is made from, and what it decided: one entry per
resolution, under the document's title, in the order of its sections. *Later* names entries that hold in place of part of this
one, or that add to it; *Text* says what the document has and where the problem lies; *Suggested* is what Facet implements,
worded to stand in the document; *Reason* says why (a page such as `numeric.md` lies in Facet's `spec/`); *Held by* names
requirement rows that state the decision. `facet spec R-CAP-01` shows an entry, `facet coverage --rows CAP-267` the tests of a
row.

This page is made from `spec/resolutions-*.md` by `make errata`; change the resolution, not the page.
"""


class Entry:
    def __init__(self, row):
        self.id, self.title, self.area = row["id"], row["title"], area_of(row["id"])
        self.parts = self.split(row["text"])
        self.document = DOCUMENT_OF_AREA[self.area]
        self.sections, self.held_by = [], []
        self.revised_by, self.completed_by = [], []

    @staticmethod
    def split(text):
        """{label: text} of the labelled lines; a line break is only where the file was wrapped."""
        marks = list(LABEL.finditer(text))
        parts = OrderedDict()
        for m, after in zip(marks, marks[1:] + [None]):
            body = text[m.end():after.start() if after else len(text)]
            parts[m.group(1)] = re.sub(r"\s*\n\s*", " ", body).strip()
        return parts


def known_sections(spec):
    """{document: [sections in the order of the document]}"""
    out = defaultdict(list)
    for r in spec.requirements:
        for document in r["source"].split(", "):
            if r["section"] not in out[document]:
                out[document].append(r["section"])
    return out


def order_of(section, known):
    """Sorts 4.10 after 4.9, and headings in the order of the document."""
    numbers = re.match(r"(\d+(?:\.\d+)*)", section)
    if section == GENERAL:
        return (2, [], 0)
    if numbers:
        return (0, [int(n) for n in numbers.group(1).split(".")], 0)
    return (1, [], known.index(section) if section in known else len(known))


def cited_sections(text, area, known):
    """Numbers of sections, as 4.4.2.1 or as `seed 5`, `section 8`; quoted headings. Those of other documents do not count."""
    own = {"PM": "PMASK", "XM": "XMEM"}.get(area, area)
    text = re.sub(r"(?:upstream )?\b(\w+|`?[\w-]+\.md`?)(?: [Ss]eed)? (?:section )?(\d[\d.]*\d|\d)(?:(?:, |/| and | to )\d[\d.]*)*",
                  lambda m: m.group(0) if m.group(1) in (own, "Seed", "seed", "tables", "section", "example", "of", "in", "and", "rule",
                                                         "against", "from") else "", text)
    numbers = {re.match(r"[\d.]+", s).group(0) for s in known if s[0].isdigit()}
    parents = {n[:i] for n in numbers for i, c in enumerate(n) if c == "."}
    found = []
    for m in re.finditer(r"(?<![\w.])(\d+(?:\.\d+)+)(?![\w.]*\d)", text):
        if m.group(1) in numbers | parents:
            found.append(m.group(1))
    for m in re.finditer(r"(?:[Ss]eed|[Ss]ections?|PMASK|XMEM|RSV|MTX|rule \d of section) (\d+)\b(?!\.\d| bit)", text):
        if m.group(1) in numbers | parents:
            found.append(m.group(1))
    for m in re.finditer(r'"([^"]{4,50})"', text):
        found += [s for s in known if s.lower() == m.group(1).lower()]
    return list(OrderedDict.fromkeys(found))


def place(entries, overrides, known):
    by_id = {e.id: e for e in entries}
    for e in entries:
        sections = known[e.document]
        override = overrides.get(e.id, {}).get("section", "-")
        if override != "-":
            e.sections = override.split("; ")
        else:
            e.sections = cited_sections(e.parts["Sources in conflict"], e.area, sections)
    for e in entries:
        for other in ID.findall(e.parts.get("Replaces", "")):
            if not e.sections and other in by_id and area_of(other) == e.area:
                e.sections = by_id[other].sections
        e.sections = e.sections or [GENERAL]


def link(entries):
    """Later entries as the earlier ones name them: what a *Replaces* line or a sentence `This replaces ...` speaks of is
    revised, what follows `completes` is completed."""
    by_id = {e.id: e for e in entries}
    for e in entries:
        note = re.sub(r"\([^)]*\)", "", e.parts.get("Replaces", ""))
        replaced, _, completed = note.partition("completes ")
        replaced += " ".join(re.findall(r"[Tt]his (?:replaces|revises)[^.]*", e.parts["Decision"]))
        for other in ID.findall("" if note.startswith("nothing") and "replaces" not in replaced else replaced):
            if other in by_id and other != e.id and e.id not in by_id[other].revised_by:
                by_id[other].revised_by.append(e.id)
        for other in ID.findall(completed):
            if other in by_id and e.id not in by_id[other].revised_by + by_id[other].completed_by:
                by_id[other].completed_by.append(e.id)


def plain(text):
    """The words of the contract's pages as the document's author knows them."""
    text = re.sub(r"\b(?:[Tt]he )?(CAP|RT|GFX) seed\b", lambda m: "XPHMG_" + m.group(1), text)
    text = re.sub(r"\bseed 001\b", "XPHMG_CAP", text)
    text = re.sub(r"\b(No|Both|Each|Every|no|both|each|every|an?) seed (%s|instruction\b)" % PART_NOUN,
                  lambda m: ("an" if m.group(1) == "a" and m.group(2)[0] in "aeiou" else m.group(1))
                  + " " + m.group(2) + " of the document", text)
    text = re.sub(r"\b([Ee]ach|[Ee]very|[Nn]o|[Tt]his) seed\b", r"\1 document", text)
    text = re.sub(r"\b[Ss]eed (?=\d)", "section ", text)
    text = re.sub(r"\bSeed (?=\")", "Section ", re.sub(r"\b(?:the )?seed (?=\")", "section ", text))
    text = re.sub(r"\b([Ss])eed silent\b", lambda m: ("The" if m.group(1) == "S" else "the") + " document is silent", text)
    text = re.sub(r"\b(?:[Tt]he )?([Ss])eed (?=%s)" % PART_NOUN,
                  lambda m: ("The" if m.group(0)[0] in "ST" else "the") + " document's ", text)
    text = re.sub(r"\b[Tt]he seed's\b", "the document's", text)
    text = re.sub(r"\bthe seeds\b", "the documents", text)
    text = re.sub(r"\b(?:the )?seed\b", "the document", re.sub(r"\bThe seed\b", "The document", text))
    text = re.sub(r"\b(?:The )?Seed\b", "The document", text)
    return text[:1].upper() + text[1:] if re.match("(section|the document)\\b", text) else text


def later(e, titles):
    """The line that leads from an entry to those that change it; None when it stands as it was decided."""
    said = [word + " " + ", ".join("%s (%s)" % (i, plain(titles[i])) for i in ids)
            for word, ids in (("revised by", e.revised_by), ("completed by", e.completed_by)) if ids]
    return "- *Later:* %s." % "; ".join(said) if said else None


def emit_entry(e, overrides, titles, out):
    where = "" if e.sections == [GENERAL] else ", ".join(e.sections) + ": "
    own = overrides.get(e.id, {})
    out.append("### %s%s (%s)\n" % (where, plain(e.title), e.id))
    if later(e, titles):
        out.append(later(e, titles))
    for label, part in (("Text", "Sources in conflict"), ("Suggested", "Decision")):
        wording = own.get(label.lower(), "-")
        out.append("- *%s:* %s" % (label, plain(e.parts[part] if wording == "-" else wording)))
    out.append("- *Reason:* %s" % plain(e.parts["Why"]))
    for label in e.parts:
        if label not in LABELS:
            out.append("- *%s:* %s" % (label, plain(e.parts[label])))
    if e.held_by:
        out.append("- *Held by:* %s" % " ".join(e.held_by))
    # What an entry itself said earlier does not concern the document's author.
    notes = [n for n in e.parts.get("Replaces", "").split("; ") if ID.search(re.sub(r"\([^)]*\)", "", n))]
    if notes:
        out.append("- *See:* %s" % plain("; ".join(n if n.startswith("completes") else "replaces " + n for n in notes)))
    out.append("")


def make_page(spec):
    entries = [Entry(r) for r in spec.resolutions]
    known = known_sections(spec)
    overrides = {}
    for n, r in spec.rows("errata.tsv", COLUMNS):
        if r["id"] in [e.id for e in entries]:
            overrides[r["id"]] = r
        else:
            spec.say("errata.tsv", n, "%s is not a resolution" % r["id"])
    for e in entries:
        missing = [label for label in LABELS[:3] if label not in e.parts]
        if missing:
            spec.say("resolutions", 1, "%s: no line *%s*" % (e.id, "*, *".join(missing)))
    known_numbers = {d: [s.split(" ")[0] for s in sections] for d, sections in known.items()}
    for r in overrides.values():
        entry = next(e for e in entries if e.id == r["id"])
        for document in known:
            if r["section"].startswith(document + ": "):
                entry.document, r["section"] = r["section"].split(": ", 1)
        document = entry.document
        for section in r["section"].split("; "):
            if section not in known[document] + known_numbers[document] + ["-", OWN] and not section[0].isdigit():
                spec.say("errata.tsv", 1, "%s: %s has no section '%s'" % (r["id"], document, section))
    if spec.findings:
        return None
    for e in entries:
        e.held_by = [r["id"] for r in spec.requirements
                     if re.search(e.id + r"\b", r["requirement"] + r["observable"] + r["section"])]
    entries = [e for e in entries if overrides.get(e.id, {}).get("section") != OWN]
    link(entries)
    titles = {e.id: e.title for e in entries}
    place(entries, overrides, known)
    out = [HEAD]
    for kind, heading in (("source", None), ("sibling", "# Documents that these build on")):
        if heading:
            out.append(heading + "\n")
        for document in spec.documents:
            mine = [e for e in entries if e.document == document["document"]]
            if document["kind"] != kind or not mine:
                continue
            out.append("## %s\n" % document["title"])
            out.append("%s; %d entries.\n" % (document["author"], len(mine)))
            sections = known[document["document"]]
            for e in sorted(mine, key=lambda e: order_of(e.sections[0], sections)):
                emit_entry(e, overrides, titles, out)
    return "\n".join(out)


def main(argv):
    check = len(argv) == 4 and argv[1] == "--check"
    if len(argv) != 3 and not check:
        sys.stderr.write(__doc__ + "\n")
        return 2
    spec = Spec(argv[-2])
    spec.read()
    page = make_page(spec) if not spec.findings else None
    if page is None:
        sys.stderr.write("\n".join(spec.findings) + "\n")
        return 1
    if check:
        with open(argv[-1], encoding="utf-8") as f:
            if f.read() != page:
                sys.stderr.write("%s is not what spec/ makes; run `make errata`\n" % argv[-1])
                return 1
        return 0
    with open(argv[-1], "w", encoding="utf-8") as f:
        f.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
