"""The contract as a site (web/site): a page for every name and row, no link that leads nowhere, drawings that agree with the tables.

What the pages show is read back from their HTML and compared with the rows of spec/ as they stand in the files: the tables
are read here anew, not by the generator. The search and the look are tested in a browser (tests/web)."""
import csv
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser

from harness import case, check, check_eq, main

FACET = os.environ["FACET"]
SOURCE = os.environ["FACET_SOURCE"]
SITE = os.path.join(SOURCE, "web/site")
sys.path.insert(0, SITE)
import diagrams
import prose
from check_links import broken_links, scan

WORK = tempfile.TemporaryDirectory()
TREE = os.path.join(WORK.name, "tree")  # what the site is made from, as it is now: somebody may be writing
for _folder in ("spec", "docs"):
    shutil.copytree(os.path.join(SOURCE, _folder), os.path.join(TREE, _folder))


def build(out, tree=TREE, **options):
    command = [sys.executable, os.path.join(SITE, "build_site.py"), "--facet", options.pop("facet", FACET), "--tree", tree,
               "--style", os.path.join(SOURCE, "web/style"), "-o", out]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), value]
    return subprocess.run(command, capture_output=True, text=True, check=False)


_made = {}


def site():
    """The site with results of tests, made once."""
    if not _made:
        results = os.path.join(WORK.name, "results")
        os.makedirs(results)
        with open(os.path.join(results, "test_rt.tsv"), "w", encoding="utf-8") as f:
            f.write("test_rt\tslab\tpass\tRT-134 RT-135\ntest_rt\tflags[2]\tfail\tRT-135\n")
        out = os.path.join(WORK.name, "site")
        done = build(out, results=results)
        check_eq((done.returncode, done.stderr), (0, ""), "exit code and messages")
        _made.update(out=out, results=results)
    return _made["out"]


def page(path):
    with open(os.path.join(site(), path), encoding="utf-8") as f:
        return f.read()


class Tables(HTMLParser):
    """Tables of a page: lists of rows of (tag, class, colspan, text); texts without markup."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.open = [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "table":
            self.tables.append((a.get("class") or "", []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.open = [tag, a.get("class") or "", int(a.get("colspan") or 1), "", a.get("id")]
            self.tables[-1][1][-1].append(self.open)

    def handle_data(self, data):
        if self.open is not None:
            self.open[3] += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.open = None

    def of(self, kind):
        return [rows for cls, rows in self.tables if cls == kind]


def rows_of(name):
    with open(os.path.join(TREE, "spec", name), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, delimiter="\t", quoting=csv.QUOTE_NONE))


def drawn_bits(rows):
    """The cells of a drawing as one list from the highest bit: (text, class) for each bit, and the numbers above."""
    bits = []
    for numbers, cells in zip(rows[0::2], rows[1::2]):
        check_eq([c[2] for c in numbers], [c[2] for c in cells], "widths above and below")
        for number, cell in zip(numbers, cells):
            if "outside" in cell[1]:
                continue
            bits += [(cell[3], cell[1])] * cell[2]
    return bits


@case()
def every_name_has_a_page_that_is_reached():
    pages = scan(site())
    reached, waiting = set(), ["index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        for link in pages[path].links:
            if not re.match(r"[a-z]+:", link):
                file = link.partition("#")[0]
                waiting.append(os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path)
    check_eq(sorted(set(pages) - reached), [], "pages that no link leads to")
    for table, folder in (("rt.requirements.tsv", "requirement"), ("tile.requirements.tsv", "requirement")):
        for row in rows_of(table):
            check("%s/%s.html" % (folder, row["id"]) in pages, "no page for %s" % row["id"])
    ids = set(re.findall(r"^### (R-[A-Z0-9]+-\d+) ", open(os.path.join(TREE, "spec/resolutions-cap.md"), encoding="utf-8").read(), re.M))
    check(len(ids) > 50, "resolutions are not found")
    for ident in ids:
        check("resolution/%s.html" % ident in pages, "no page for %s" % ident)
    for table, machine in (("rv64.csr.tsv", "xphmg"), ("cap.csr.tsv", "xphmg"), ("tile.csr.tsv", "tile")):
        for row in rows_of(table):
            path = "%s/csr/%s.html" % (machine, re.sub(r"[^A-Za-z0-9._-]", "_", row["csr"].replace("[n]", "-n")))
            check(path in pages, "no page for %s" % row["csr"])
            own = pages[path].ids
            check(row["field"] in own or any(i.startswith(row["field"] + "-") for i in own), "%s has no place for %s" % (path, row["field"]))


@case()
def no_link_leads_nowhere():
    check_eq(broken_links(site()), [])


@case()
def drawings_of_instructions_are_their_masks():
    """Digits of a drawing are the match bits, names are the fields; all of it from the cells of the table."""
    looked = 0
    for table, machine in (("rv64.insn.tsv", "xphmg"), ("rt-rsv.insn.tsv", "xphmg"), ("tile.insn.tsv", "tile"), ("gfx12.insn.tsv", "gfx12")):
        for row in rows_of(table):
            mask, match = int(row["mask"], 16), int(row["match"], 16)
            width = len(row["mask"]) * 4 - 8
            text = page("%s/insn/%s.html" % (machine, re.sub(r"[^a-z0-9._-]", "_", row["mnemonic"].lower())))
            found = []
            for rows in Tables(text).of("bits"):
                bits = drawn_bits(rows)
                check_eq(len(bits), width, "%s: bits drawn" % row["mnemonic"])
                digits, fields, at = "", set(), width
                for cells in rows[1::2]:
                    for _, kind, span, what, _ in cells:
                        if kind == "outside":
                            continue
                        at -= span
                        fixed = kind.startswith("fixed")
                        digits += what if fixed else "-" * span
                        if not fixed:
                            fields.add((at + span - 1, at))
                ones = int(digits.replace("0", "1").replace("-", "0"), 2)
                found.append((ones, int(digits.replace("-", "0"), 2), fields))
            fields = {(int(hi), int(lo or hi)) for hi, lo in re.findall(r"\[(\d+)(?::(\d+))?\]", row["fields"])}
            check((mask, match, fields) in found, "%s: %s is drawn" % (row["mnemonic"], found))
            looked += 1
    check(looked > 600, "only %d rows" % looked)


@case()
def drawings_of_registers_are_their_rows():
    registers = {}
    for table in ("rv64.csr.tsv", "cap.csr.tsv", "rt.csr.tsv", "gfx.csr.tsv"):
        for row in rows_of(table):
            registers.setdefault(row["csr"], []).append(row)
    for name, rows in registers.items():
        expected = [""] * 64
        for row in rows:
            hi, _, lo = row["bits"].partition(":")
            for bit in range(int(lo or hi), int(hi) + 1):
                expected[63 - bit] = "" if row["field"].startswith("RSV") and row["access"] == "RO" else row["field"]
        drawing = Tables(page("xphmg/csr/%s.html" % name)).of("bits")
        check_eq([what for what, _ in drawn_bits(drawing[0])], expected, name)


@case()
def drawings_of_structures_fill_their_lines():
    for machine, name, lines in (("gfx12", "GFX12_BOX_NODE", 9), ("tile", "RSTATE", 16), ("xphmg", "RayRecord", 4)):
        rows = Tables(page("%s/structure/%s.html" % (machine, name))).of("bits memory")[0]
        check_eq(len(rows), lines + 1, "%s: lines" % name)
        for row in rows[1:]:
            check_eq(sum(c[2] for c in row[1:]), 32, "%s: bits of the line %s" % (name, row[0][3]))
    # A structure that depends on the element format is drawn for FP32: direction begins at 3 * 4.
    rows = Tables(page("xphmg/structure/RayRecord.html")).of("bits memory")[0]
    check_eq([(r[0][3], r[1][3]) for r in rows[1:]],
             [("+0..11", "origin"), ("+12..23", "direction"), ("+24", "tmin"), ("+28", "tmax")])


@case()
def results_of_tests_stand_at_their_rows():
    text = page("requirement/RT-135.html")
    check("flags[2]" in text and 'class="badge fail"' in text, "RT-135 does not show its failed test")
    check('href="../suite/test_rt.html"' in text, "RT-135 does not lead to the suite")
    suite = page("suite/test_rt.html")
    check('href="../requirement/RT-134.html"' in suite and 'href="../requirement/RT-135.html"' in suite, "the suite leads to no rows")
    check("no result" in page("requirement/RT-136.html"), "RT-136 has a result?")


@case()
def an_instruction_says_how_well_it_is_tested():
    text = page("xphmg/insn/rt.bbox.html").partition('id="tests"')[2].partition("</section>")[0]
    rows = page("xphmg/insn/rt.bbox.html").partition('id="requirements"')[2].partition("</section>")[0]
    about = len(set(re.findall(r'requirement/([A-Z0-9-]+)\.html">\1', rows)))
    check("2 of these %d rows are named by a test with a result; 1 pass." % about in text, text[:400])
    check('href="../../suite/test_rt.html"' in text and 'class="badge fail"' in text, "rt.bbox does not lead to its failing suite")
    check(page("requirement/RT-135.html").count('id="tests"') == 1, "RT-135 has its tests twice")


@case()
def links_go_both_ways():
    check('href="../../requirement/RT-135.html"' in page("xphmg/insn/rt.bbox.html"), "rt.bbox does not lead to RT-135")
    for row in ("requirement/RT-135", "resolution/R-RT-02"):
        about = page(row + ".html").partition('id="about"')[2].partition("</section>")[0]
        check('href="../xphmg/insn/rt.bbox.html"' in about, "%s does not lead back" % row)
    check('href="../../contract/rt-semantics.html#s7"' in page("xphmg/insn/rt.bbox.html"), "rt.bbox does not lead to its rule")
    section = page("contract/rt-semantics.html").split('id="s7"')[1].split('id="s8"')[0]
    check('href="../xphmg/insn/rt.bbox.html"' in section, "the rule does not lead back")


@case()
def pages_ask_nothing_of_a_network():
    for path, found in scan(site()).items():
        for link in found.links:
            check(not re.match(r"(https?:)?//", link) or path.startswith(("guide/", "contract/")), "%s links to %s" % (path, link))
        text = page(path)
        check("Content-Security-Policy" in text and " style=" not in text, "%s: no policy, or a style of its own" % path)
        check(not re.search(r"<script(?! src=)", text), "%s has a script in it" % path)


@case()
def the_same_bytes_twice():
    def sums(folder):
        out = {}
        for at, _, files in os.walk(folder):
            for name in files:
                with open(os.path.join(at, name), "rb") as f:
                    out[os.path.relpath(os.path.join(at, name), folder)] = hashlib.sha256(f.read()).digest()
        return out

    before = sums(site())
    done = build(site(), results=_made["results"])  # in place of the old one
    check_eq((done.returncode, done.stderr), (0, ""), "exit code and messages")
    check_eq(sums(site()) == before, True, "the same bytes")


@case()
def what_cannot_be_built_is_refused():
    done = build(os.path.join(WORK.name, "none"), facet="/nowhere/facet")
    check_eq(done.returncode, 2, "exit code")
    check("/nowhere/facet: No such file" in done.stderr, done.stderr)
    foreign = os.path.join(WORK.name, "foreign")
    os.makedirs(foreign)
    with open(os.path.join(foreign, "letter.txt"), "w", encoding="utf-8") as f:
        f.write("keep me")
    done = build(foreign)
    check_eq(done.returncode, 2, "exit code")
    check("holds no site" in done.stderr and os.listdir(foreign) == ["letter.txt"], done.stderr)


@case()
def a_link_that_leads_nowhere_stops_the_build():
    tree = os.path.join(WORK.name, "other")
    shutil.copytree(TREE, tree)
    with open(os.path.join(tree, "docs/tour.md"), "a", encoding="utf-8") as f:
        f.write("\n[gone](glossary.md#no-such-word)\n")
    out = os.path.join(WORK.name, "broken")
    done = build(out, tree)
    check_eq(done.returncode, 2, "exit code, with %s," % done.stderr[-500:])
    check("guide/tour.html: ../glossary.html#no-such-word: no such place in glossary.html" in done.stderr, done.stderr)
    check(not os.path.exists(out) and not os.path.exists(out + ".new"), "something is left")


@case()
def markdown():
    for text, expected in (
            ("# A *b*", '<h1 id="a-b">A <em>b</em> <a href="#a-b" class="anchor" aria-label="link to this section">#</a></h1>'),
            ("one\ntwo\n\nthree", "<p>one\ntwo</p>\n<p>three</p>"),
            ("4*e and 16+4*e, `a*b*c` **bold**", "<p>4*e and 16+4*e, <code>a*b*c</code> <strong>bold</strong></p>"),
            ("- a\n  more\n- b\n  - c\n\nafter", "<ul><li>a\nmore</li><li><p>b</p>\n<ul><li>c</li></ul></li></ul>\n<p>after</p>"),
            ("2. x\n3. y", '<ol start="2"><li>x</li><li>y</li></ol>'),
            ("```c\na < b\n```", '<pre tabindex="0" class="language-c"><code>a &lt; b</code></pre>'),
            ("[x](y.html) <script>", '<p><a href="y.html">x</a> &lt;script&gt;</p>'),
            ("<code>&#124;</code> R&D", "<p><code>&#124;</code> R&amp;D</p>")):
        check_eq(prose.render(text), expected, repr(text))
    table = prose.render("| a | b |\n| --- | --- |\n| `x \\| y` | 1 |\nafter")
    check("<td><code>x | y</code></td><td>1</td></tr></tbody>" in table and table.endswith("<p>after</p>"), table)


@case()
def bits_of_a_line_have_no_gap():
    pieces = diagrams.covering([diagrams.Piece(40, 20, "wide"), diagrams.Piece(7, 4, "low")], 31, 0)
    check_eq([(p.hi, p.lo, p.text) for p in pieces], [(31, 20, "wide"), (19, 8, ""), (7, 4, "low"), (3, 0, "")])


main("site")
