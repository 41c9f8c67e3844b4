#!/usr/bin/env python3
"""Makes places.c (the arrays of src/cards/places.h): where the tree speaks of each name of the contract.

usage: gen_places.py SOURCE_FOLDER places.c places.d -- COMPILER [ARGUMENTS]

Nothing here is written down twice, so nothing can grow old: rows are found in spec/, and what is made from them has known
names in C (`FACET_XPHMG_RT_TRI`, `facet_tile_x_ADD`, `facet_hart_csr_read_CAP_PREC_MODE`, `facet_tile_rstate_blend`), which are
looked up in src/. Handlers whose names macros put together are seen through the compiler's preprocessor. Comments count
where they name an instruction, a section of a page of behaviour or a resolution. Tests are found by the row IDs that they
name, pages of docs/ by the names in their text. An instruction or register without code, and a function or page that this
script names and the tree does not have, is an error: file:line: text on standard error, nothing is written, exit status 1.
places.d lists what was read."""
import glob
import os
import re
import subprocess
import sys
from collections import defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from c_scan import CFile, PythonFile, expanded
from csr_tables import identifier
from gen_index import all_items, read_glossary
from gen_tables import c_name, c_string, enumerators, write
from spec_tables import Spec

# Functions that execute rows or answer for registers; what a row has beyond them is found by its names.
BASE = "facet_hart_execute"
CSR_DOORS = {"xphmg": ("facet_hart_csr_read", "facet_hart_csr_write"), "tile": ("facet_tile_csr_peek", "facet_tile_csr_poke")}
CSR_FUNCTIONS = {"xphmg": ("facet_hart_csr_read_%s", "facet_hart_csr_write_%s"), "tile": ("read_%s", "write_%s")}
UNIT_OF_EXTENSION = re.compile(r"case FACET_XPHMG_EXT_(\w+):\s*return (\w+)\(")
INSTRUCTION = re.compile(r'(?<=["n /])[A-Za-z][\w.]*\b')  # where a line of a program can begin
PROGRAMS, FEW = ("tests/xphmg/", "tests/tile/", "tests/raster/", "tests/gfx12/", "tests/isa/"), 3
BASE_TABLE, BASE_TESTS = "rv64.insn.tsv", "/hart/"
TILE_HANDLER = "facet_tile_x_"

# What explains an extension, a machine or a kind of item: a page and, where there is one, the command that shows each step.
RT, GFX = ("rt-why.md", "facet rt why"), ("gfx.md", "facet gfx why")
EXPLAINED = {
    "XPHMG_RT": RT, "RT": RT, "rt.csr.tsv": RT, "rt-semantics.md": RT,
    "XPHMG_GFX": GFX, "GFX": GFX, "gfx.csr.tsv": GFX, "gfx-semantics.md": GFX, "gfx12": ("gfx12.md", "facet bvh why"),
    "tile": ("tile.md", "facet tile run --trace"), "xphmg": ("run.md", "facet run --trace"),
}
UNEXPLAINED = re.compile(r"/(errata|glossary|commands|spec|tour|architecture|README|how-to-.*)\.md$")  # name things in passing
NO_PROOF = ("tests/cards/", "tests/docs/", "tests/fuzz/")  # what names rows only as examples
BESIDE = ("src/lint/", "src/render/", "src/documents/", "src/doors/", "src/debug/")  # users of the machines: last in a list
KINDS = ("row", "code", "test", "page", "command")

REQUIREMENT = re.compile(r"\b[A-Z][A-Z0-9]*-\d{3}\b")
RESOLUTION = re.compile(r"\bR-[A-Z0-9]+-\d+\b")
NUMBERS = r"(\d[\d.]*\d|\d)((?:(?:, | and |, and | to )(?:\d[\d.]*\d|\d))*)"
CITED = (re.compile(r"\b(\w+-semantics|numeric)\.md,?(?: sections?)? " + NUMBERS),
         re.compile(r"\bsections? " + NUMBERS + r"(?: step \d+)? (?:and \d[\d.]* )?of (\w+-semantics|numeric)\.md"))
DOTTED = re.compile(r"[A-Za-z]\w*(?:\.\w+)+|[A-Za-z]\w*_\w+")
SIGN = re.compile(r"_|[a-z][A-Z]")  # what no word of a sentence has: XPHMG_MEMCTL, RayRecord
MACHINE_FOLDERS = ("src/xphmg", "src/tile", "src/gfx12")


class Tree:
    """The files of the source folder, and which were read."""

    def __init__(self, folder):
        self.folder, self.read, self.c = folder, [], {}

    def text(self, path):
        with open(os.path.join(self.folder, path), encoding="utf-8") as f:
            self.read.append(path)
            return f.read()

    def files(self, under, *endings):
        found = glob.glob(os.path.join(self.folder, under, "**"), recursive=True)
        self.read += [os.path.relpath(p, self.folder) for p in found if p.endswith("meson.build")]  # names every new file
        return sorted(os.path.relpath(p, self.folder) for p in found if p.endswith(endings))

    def c_files(self, under):
        for path in self.files(under, ".c", ".h", ".inc"):
            if path not in self.c:
                self.c[path] = CFile(path, self.text(path))
            yield self.c[path]


class Places:
    """(kind, file, line, symbol) by item; a definition counts once for each item."""

    def __init__(self, items):
        self.of = {item: [] for item in items}

    def add(self, item, kind, path, line, symbol, first=False):
        here = self.of[item]
        if all((kind, path, symbol) != (k, p, s) for k, p, _, s in here):
            here.insert(0 if first else len(here), (kind, path, line, symbol))

    def has(self, item, kind):
        return any(k == kind for k, _, _, _ in self.of[item])


class Finder:
    def __init__(self, tree, spec, items, compiler):
        self.tree, self.spec, self.items, self.compiler = tree, spec, items, compiler
        self.places, self.findings = Places(items), []
        self.named = defaultdict(list)     # names in C -> items
        self.comment = defaultdict(list)   # names in comments, small letters -> items
        self.parts = {}                    # BOX_NODE in lists of fields F -> facet_gfx12_box_node
        self.by_name = defaultdict(list)
        self.definitions, self.lines, self.lost = {}, {}, set()
        for item in items:
            self.by_name[item.name].append(item)

    def find(self):
        self.name_items()
        for item in self.items:
            path, line = self.row(item)
            title = "%s %s" % (item.name.split()[-1], item.text) if item.kind == "section" else item.name
            self.places.add(item, "row", path, line, title)
        self.scan_code()
        self.scan_expanded()
        self.add_doors()
        self.inherit()
        self.drop_heads()
        self.scan_tests()
        self.scan_pages()
        self.explain()
        self.check()

    def say(self, path, line, what):
        self.findings.append("%s:%d: %s" % (path, line, what))

    def row(self, item):
        """File and line of what the item stands for."""
        i, part = item.key
        if item.kind == "instruction" and item.machine != "gfx12":
            row = self.spec.insns[item.machine][i]
            return "spec/" + row.path, row.line
        if item.kind in ("structure", "member"):
            layout = self.spec.layouts[i]
            return "spec/" + layout.path, layout.line if item.kind == "structure" else layout.members[part].line
        if item.kind == "word":
            return "docs/glossary.md", self.line_of("docs/glossary.md", "| %s |" % item.name)
        if item.kind in ("document", "extension"):
            path = "spec/%ss.tsv" % item.kind
            return path, self.line_of(path, item.name)
        rows = {"instruction": self.spec.unit_insns, "csr": self.spec.csrs, "field": self.spec.csrs,
                "alias": self.spec.aliases.get(item.machine), "requirement": self.spec.requirements,
                "resolution": self.spec.resolutions, "section": self.spec.sections, "rule": self.spec.rules}
        row = rows[item.kind][i]
        return "spec/" + row.get("path", "alias.tsv"), (row["fields"][part] if item.kind == "field" else row)["line"]

    def line_of(self, path, text):
        if path not in self.lines:
            self.lines[path] = self.tree.text(path).split("\n")
        return next(n for n, line in enumerate(self.lines[path], 1) if text in line)

    # -- names ----------------------------------------------------------------------------------------

    def name_items(self):
        numbers = {isa: enumerators(isa, rows) for isa, rows in self.spec.insns.items()}
        for item in self.items:
            i, part = item.key
            if item.kind == "instruction":
                self.comment[item.name.lower()].append(item)
                if item.machine == "xphmg":
                    self.named[numbers["xphmg"][i]].append(item)
                elif item.machine == "tile":
                    self.named[TILE_HANDLER + numbers["tile"][i][len("FACET_TILE_"):]].append(item)
                else:
                    self.named["FACET_GFX12_" + c_name(item.name)].append(item)
            elif item.kind == "csr":
                csr = self.spec.csrs[i]
                self.named["FACET_CSR_" + identifier(csr["name"])].append(item)
                for function in CSR_FUNCTIONS[item.machine] if csr["kind"] in ("code", "window") else ():
                    self.named[function % csr["where"]].append(item)
            elif item.kind == "field":
                csr = self.spec.csrs[i]
                self.named["FACET_%s_%s" % (identifier(csr["name"]), identifier(csr["fields"][part]["name"]))].append(item)
            elif item.kind in ("structure", "member"):
                layout = self.spec.layouts[i]
                name = layout.prefix() + ("_" + layout.members[part].name.lower() if item.kind == "member" else "")
                self.named[name].append(item)
                if item.kind == "structure":
                    self.parts[layout.prefix().split("_", 2)[2].upper()] = layout.prefix()
                if item.kind == "structure" and SIGN.search(item.name):
                    self.comment[item.name.lower()].append(item)

    def items_of(self, word):
        """The items that a name in C belongs to: FACET_GFX12_X_MATCH to X, facet_tile_rstate_set_blend to RSTATE.blend."""
        word = self.parts.get(word, word)
        while word.count("_") > 1:
            found = self.named.get(word) or self.named.get(re.sub("_set_", "_", word.lower()))
            if found:
                return found
            word = word.rsplit("_", 1)[0]
        return self.named.get(word, ())

    # -- code -----------------------------------------------------------------------------------------

    def scan_code(self):
        cache = {}
        for c in self.tree.c_files("src"):
            if c.path.startswith("src/cards/"):
                continue
            comments = iter(c.comments + [(len(c.text), len(c.text))])
            comment = next(comments)
            for name in c.names if c.path.endswith(".c") else ():
                self.definitions.setdefault(name, c)
            for m in re.finditer(r"\b(?:(?:facet|FACET)_|read_|write_)\w+|(?<=\(F, )\w+", c.text):
                while comment[1] <= m.start():
                    comment = next(comments)
                if comment[0] <= m.start():
                    continue
                word = m.group()
                if word not in cache:
                    cache[word] = self.items_of(word)
                for item in cache[word]:
                    line = c.line_at(m.start())
                    if item.machine in c.path or not c.path.startswith(MACHINE_FOLDERS):
                        self.places.add(item, "code", c.path, line, c.symbol_at(line))
            for begin, end in c.comments:
                self.read_comment(c, begin, re.sub(r"\s*\n[ *]*", " ", c.text[begin:end]))

    def read_comment(self, c, begin, text):
        found = []
        for word in DOTTED.findall(text) + re.findall(r"\b[A-Z][a-z]+[A-Z]\w*|\bBVHNode\d", text):
            found += self.comment.get(word.lower(), [])
        for word in RESOLUTION.findall(text):
            found += self.by_name.get(word, [])
        for pattern in CITED:
            for m in pattern.finditer(text):
                page = next(g for g in m.groups() if g and g.endswith(("semantics", "numeric")))
                for number in re.findall(r"\d[\d.]*\d|\d", " ".join(g for g in m.groups() if g and g != page)):
                    found += self.section(page, number)
        for item in found:
            if item.machine in c.path or not c.path.startswith(MACHINE_FOLDERS):
                line, symbol = c.line_at(begin), c.comment_symbol(begin)
                defines = line == 1 and text.lower().startswith("/* " + item.name.lower())
                self.places.add(item, "code", c.path, line, symbol, first=defines)

    def section(self, page, number):
        """The section, or the one that it is part of."""
        while number:
            items = self.by_name.get("%s.md %s" % (page, number))
            if items:
                return items
            number = number.rpartition(".")[0]
        return []

    def scan_expanded(self):
        """Rows that macros name: handlers of the tile machine, and the lines of .def files in the executor of base rows."""
        for c in list(self.tree.c.values()):
            if not c.path.endswith(".c") or ("FACET_TILE_OP(" not in c.text and BASE not in c.names):
                continue
            run = subprocess.run(self.compiler + ["-E", os.path.join(self.tree.folder, c.path)], capture_output=True, text=True)
            if run.returncode != 0:
                self.say(c.path, 1, "the preprocessor says: " + run.stderr.strip())
            for path, line, row in expanded(run.stdout):
                path = os.path.relpath(path, self.tree.folder)
                if path.endswith(".def"):
                    self.tree.read.append(path)
                    for word in re.findall(r"\bFACET_XPHMG_\w+", row):
                        for item in self.named.get(word, ()):
                            self.places.add(item, "code", path, line, BASE, first=True)
                elif path == c.path:
                    for word in re.findall(r"\b%s\w+(?= *\()" % TILE_HANDLER, row):
                        for item in self.named.get(word, ()):
                            self.places.add(item, "code", path, line, word, first=True)

    def add_door(self, item, name):
        c = self.definitions.get(name)
        if c is None:
            if name not in self.lost:
                self.lost.add(name)
                self.say("tools/gen_places.py", 1, "src/ defines no %s (for %s)" % (name, item.name))
            return
        here = self.places.of[item]
        own = next((p for p in here if p[0] == "code" and p[3] == name), None)
        if own:
            here.remove(own)
        self.places.add(item, "code", *(own[1:] if own else (c.path, c.definition(name), name)), first=True)

    def add_doors(self):
        units = dict(m.groups() for c in self.tree.c.values() for m in UNIT_OF_EXTENSION.finditer(c.text))
        for item in self.items:
            if item.kind == "instruction" and item.machine == "xphmg":
                row = self.spec.insns["xphmg"][item.key[0]]
                vendor = row.extension.startswith("XPHMG_")
                if vendor:
                    extension = row.extension[len("XPHMG_"):]
                    self.add_door(item, units.get(extension, "unit of %s" % extension))
                elif row.length == 4 and not any(p[1].endswith(".def") for p in self.places.of[item]):
                    self.add_door(item, BASE)
            elif item.kind == "csr":
                for name in reversed(CSR_DOORS[item.machine]):
                    if self.spec.csrs[item.key[0]]["kind"] not in ("code", "window"):
                        self.add_door(item, name)

    def drop_heads(self):
        """The head of a file says nothing where a definition in it is known, and that of a header little where code is."""
        for item, here in self.places.of.items():
            known = {path for kind, path, _, symbol in here if kind == "code" and symbol}
            code = any(kind == "code" and path.endswith((".c", ".def")) for kind, path, _, _ in here)
            self.places.of[item] = [p for p in here if p[0] != "code" or p[3] or
                                    not (p[1] in known or code and p[1].endswith(".h"))]

    def inherit(self):
        """A field or member that no code names is handled with its register or structure, and a structure with its members; an
        alias with its instructions."""
        whole = {(i.kind, i.machine, i.key[0]): i for i in self.items if i.kind in ("csr", "structure")}
        insns = {(i.machine, i.name.lower()): i for i in self.items if i.kind == "instruction"}
        for item in self.items:
            if item.kind in ("field", "member"):
                owner = whole["csr" if item.kind == "field" else "structure", item.machine, item.key[0]]
                for place in self.places.of[item]:
                    if place[0] == "code":
                        self.places.add(owner, *place)
        for item in self.items:
            parents = []
            if item.kind in ("field", "member") and not self.places.has(item, "code"):
                parents = [whole["csr" if item.kind == "field" else "structure", item.machine, item.key[0]]]
            elif item.kind == "alias":
                words = self.spec.aliases[item.machine][item.key[0]]["expansion"].split("; ")
                parents = [insns[item.machine, w.split()[0].lower()] for w in words if (item.machine, w.split()[0].lower()) in insns]
            for parent in parents:
                for kind, path, line, symbol in self.places.of[parent]:
                    if kind == "code":
                        self.places.add(item, kind, path, line, symbol)

    # -- tests and pages ------------------------------------------------------------------------------

    def scan_tests(self):
        """Row IDs; programs that hold an instruction, a few of them; and for base rows, which have no IDs, their table."""
        base = [i for i in self.items if i.kind == "instruction" and i.machine == "xphmg" and not i.group.startswith("XPHMG_")]
        names = dict(self.by_name)
        names[BASE_TABLE] = base
        words = re.compile("|".join((RESOLUTION.pattern, REQUIREMENT.pattern, re.escape(BASE_TABLE))))
        rows = {i.name.lower(): [i] for i in self.items if i.kind == "instruction" and SIGN.search(i.name.replace(".", "_"))}
        rows.update((i.name, [i]) for i in self.items if i.kind == "instruction" and i.machine == "tile")
        families = defaultdict(list)
        for item in self.items:
            if item.kind == "instruction":
                families[item.name.split(".")[0]].append(item)
        for path in self.tree.files("tests", ".c", ".h", ".py"):
            if path.startswith(NO_PROOF):
                continue
            c = self.test_file(path)
            for m in words.finditer(c.text):
                for item in names.get(m.group(), ()):
                    self.add_test(c, m.start(), item)
            for m in INSTRUCTION.finditer(c.text) if path.startswith(PROGRAMS) else ():
                known = rows.get(m.group()) or rows.get(m.group().lower()) or []
                if c.text[m.end():m.end() + 2] == ".%":  # "VSEL.%s v3, v1, v2"
                    known = families.get(m.group(), [])
                if BASE_TESTS in path and not known:
                    known = [i for i in base if i.name == m.group()]
                for item in known:
                    if sum(p[0] == "test" for p in self.places.of[item]) < FEW:
                        self.add_test(c, m.start(), item)

    def add_test(self, c, offset, item):
        line = c.line_at(offset)
        self.places.add(item, "test", c.path, line, c.symbol_at(line) or c.comment_symbol(offset))

    def test_file(self, path):
        kind = PythonFile if path.endswith(".py") else CFile
        return kind(path, self.tree.text(path))

    def scan_pages(self):
        """Names with a dot or an underline anywhere in the text of a page, other names where they are set as code."""
        names = defaultdict(list)
        for item in self.items:
            if item.kind not in ("word", "document", "section", "requirement"):
                names[item.name if re.fullmatch(r"\w+", item.name) and "_" not in item.name else item.name.lower()].append(item)
        for path in self.tree.files("docs", ".md"):
            if UNEXPLAINED.search(path):
                continue
            heading, seen = "", set()
            for n, line in enumerate(self.tree.text(path).split("\n"), 1):
                if line.startswith("#"):
                    heading = line.lstrip("# ").replace("`", "")
                code = [w for span in re.findall(r"`([^`]+)`", line) for w in re.findall(r"\w+", span)]
                for word in [w.lower() for w in DOTTED.findall(line)] + RESOLUTION.findall(line) + code:
                    for item in names.get(word, ()):
                        if (item, path) not in seen:
                            seen.add((item, path))
                            self.places.add(item, "page", path, n, heading)

    def explain(self):
        for item in self.items:
            group = self.spec.csrs[item.key[0]]["path"] if item.kind in ("csr", "field") else item.group
            page, command = EXPLAINED.get(group) or EXPLAINED.get(item.machine, (None, None))
            if page:
                own = [p for p in self.places.of[item] if p[:2] == ("page", "docs/" + page)]
                for place in own:
                    self.places.of[item].remove(place)
                self.places.add(item, *(own or [("page", "docs/" + page, 1, "")])[0], first=True)
                self.places.add(item, "command", "docs/" + page, 1, command)

    def check(self):
        for item in self.items:
            if item.kind in ("instruction", "csr", "field") and not self.places.has(item, "code"):
                self.say(*self.row(item), "src/ has no code for %s %s" % (item.kind, item.name))
        for page, _ in EXPLAINED.values():
            if not os.path.exists(os.path.join(self.tree.folder, "docs", page)):
                self.say("tools/gen_places.py", 1, "there is no docs/%s" % page)


class Texts:
    """Strings behind each other; each once."""

    def __init__(self):
        self.at, self.size = {}, 0

    def get(self, text):
        if text not in self.at:
            self.at[text] = self.size
            self.size += len(text.encode()) + 1
        return self.at[text]


def order(place):
    kind, path, _, _ = place
    return KINDS.index(kind), kind == "code" and path.startswith(BESIDE)


def emit(items, places):
    """Numbers instead of pointers: nothing has to be relocated when the program starts."""
    texts, rows, numbers, parts = Texts(), {}, [], []
    for item in items:
        here = sorted(places.of[item], key=order)
        parts.append("    {%d, %d}," % (len(numbers), len(here)))
        numbers += [rows.setdefault(place, len(rows)) for place in here]
    lines = ["    {FACET_AT_%s, %d, %d, %d}," % (kind.upper(), line, texts.get(path), texts.get(symbol))
             for kind, path, line, symbol in rows]
    out = ["/* Made by tools/gen_places.py from spec/, src/, tests/ and docs/. */", '#include "cards/places.h"\n']
    out += ["const char facet_place_text[] ="] + ["    %s" % (c_string(t)[:-1] + '\\0"') for t in texts.at] + ["    ;"]
    out += ["const struct facet_place facet_places[] = {"] + lines + ["};"]
    out += ["const uint32_t facet_place_numbers[] = {", ", ".join(map(str, numbers)), "};"]
    return out + ["const struct facet_item_places facet_item_places[] = {"] + parts + ["};"]


def main(argv):
    if len(argv) < 6 or argv[4] != "--":
        sys.stderr.write(__doc__ + "\n")
        return 2
    tree = Tree(argv[1])
    spec = Spec(os.path.join(argv[1], "spec"))
    if spec.read():
        items = all_items(spec, read_glossary(os.path.join(argv[1], "docs/glossary.md")))
        finder = Finder(tree, spec, items, argv[5:])
        finder.find()
        spec.findings += finder.findings
    if spec.findings:
        sys.stderr.write("\n".join(spec.findings) + "\n")
        return 1
    write(argv[2], emit(items, finder.places))
    files = sorted(os.path.join(tree.folder, p) for p in set(tree.read))
    write(argv[3], ["%s: %s" % (argv[2], " ".join(p.replace(" ", "\\ ") for p in files))])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
