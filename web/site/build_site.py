#!/usr/bin/env python3
"""Makes the contract as a static site: a page for every name and row of spec/, the pages of behaviour, the guides of docs/,
and a search that needs no server. Links are relative: the site works from a disk and in any folder of a web server.

usage: build_site.py --facet PROGRAM --tree FOLDER --style FOLDER -o FOLDER [--results FOLDER] [--inspector PAGE.html]
                     [--source-url URL]

  --facet      the program; its `spec --json` is where all facts come from
  --tree       the source tree: spec/ and docs/ for the pages, and nothing else
  --style      the style sheets of the inspector (web/style)
  --results    folder of test results for the program (default: the program's own)
  --inspector  the inspector as one file; it becomes inspector.html, and examples link to it
  --source-url where the files of the tree can be read; files of no page are then linked there

The same tree and program give the same bytes. Every link of the site is checked; one that leads nowhere is an error."""
import argparse
import json
import os
import re
import shutil
import sys
from collections import OrderedDict, defaultdict

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pages
import tries
from check_links import broken_links
from contract import MACHINES, Contract, Failure
from links import Names, Words
from markup import Html, html, joined, tag
from prose import Linker, inline

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; frame-src 'self'; base-uri 'none'; form-action 'self'"
HERE = os.path.dirname(os.path.abspath(__file__))
MENU = [("xphmg", "xphmg/index.html"), ("tile", "tile/index.html"), ("gfx12", "gfx12/index.html"), ("Behaviour", "contract/index.html"),
        ("Requirements", "requirement/index.html"), ("Resolutions", "resolution/index.html"), ("Guides", "guide/index.html"),
        ("Glossary", "glossary.html")]
# Pages of the contract that are no page of behaviour: resolutions have pages of their own.
BEHAVIOUR = ["numeric", "rt-semantics", "gfx-semantics", "tile-semantics", "gfx12-semantics", "README"]
MACHINE_OF_PAGE = {"numeric": "xphmg", "rt-semantics": "xphmg", "gfx-semantics": "xphmg", "tile-semantics": "tile", "gfx12-semantics": "gfx12"}
NOT_A_GUIDE = {"glossary"}  # has a page of its own, from the cards


class Site:
    def __init__(self, contract, tree, source_url=None, inspector=False):
        self.contract, self.tree, self.source_url, self.inspector = contract, tree, source_url, inspector
        self.tries = tries.examples(contract.program, contract.cards["instruction"]) if inspector else {}
        self.plain = Linker()
        self.guides = sorted(f[:-3] for f in os.listdir(os.path.join(tree, "docs")) if f.endswith(".md") and f[:-3] not in NOT_A_GUIDE)
        self.names = Names(contract, BEHAVIOUR)
        self.pictures = set()
        self.entries = []  # of the search
        self.statements = {}

    # -- where things are --------------------------------------------------------------------------

    def machine_of(self, ident):
        area = re.match(r"(?:R-)?([A-Z0-9]+)-", ident).group(1)
        return {"TILE": "tile", "G12": "gfx12"}.get(area, "xphmg")

    def statement(self, card, here):
        """The text of a requirement with its links, which are the same for all pages of a folder."""
        key = os.path.dirname(here), card["id"]
        if key not in self.statements:
            words = Words(self, key[0] + "/*", self.machine_of(card["id"]), self.contract.about[card["id"]])
            self.statements[key] = inline(card["requirement"], words)
        return self.statements[key]

    def contract_file(self, name):
        return "contract/%s.html" % name if name in BEHAVIOUR else None

    def page_of_file(self, path):
        """The page of a file of the tree: a path of the site, a URL, or None."""
        folder, _, name = path.rpartition("/")
        stem = name.removesuffix(".md")
        if folder == "spec" and name.endswith(".md") and stem in BEHAVIOUR:
            return "contract/%s.html" % stem
        if folder == "spec" and stem.startswith("resolutions-"):
            return "resolution/index.html"
        if path in ("spec", "spec/"):
            return "contract/README.html"
        if path == "docs/glossary.md":
            return "glossary.html"
        if folder == "docs" and name.endswith(".md") and stem in self.guides:
            return "guide/%s.html" % stem
        if path == "docs":
            return "guide/README.html"
        if path.startswith("docs/pictures/") and os.path.isfile(os.path.join(self.tree, path)):
            self.pictures.add(path)
            return "guide/pictures/" + name
        if path == "README.md":
            return "index.html"
        return self.source_url.rstrip("/") + "/" + path if self.source_url and not path.startswith("..") else None

    def contract_legal(self, legal):
        """Legal values of a field for people; nothing where there is nothing to say."""
        return "" if legal in ("-", "0") else tag("code", legal)

    def example_link(self, words, card):
        """The example of an instruction in the inspector, ready to step."""
        state = self.tries.get((card["isa"], card.get("match"), card.get("mask")))
        return [" ", tag("a", "Run it step by step", href=words.to("inspector.html") + "#" + state, cls="try")] if state else ""

    # -- a page ------------------------------------------------------------------------------------

    def page(self, path, heading, body, crumbs=(), title=None, wide=False):
        words = Words(self, path)
        up = words.to("index.html") or "index.html"
        root = up[:-len("index.html")]
        menu = MENU + ([("Inspector", "inspector.html")] if self.inspector else [])
        links = [tag("a", name, href=words.to(target) or "#main", aria_current="page" if target == path else None) for name, target in menu]
        trail = tag("nav", joined(" › ", [tag("a", name, href=words.to(target) or "#main") for name, target in crumbs]), cls="crumbs",
                    aria_label="Where this page stands") if crumbs else ""
        top = tag("header", tag("a", "Facet", href=up, cls="brand"), tag("nav", *links, cls="menu", aria_label="Parts of the contract"),
                  tag("form", tag("label", "Search the contract", for_="search", cls="hidden"),
                      Html('<input id="search" name="q" type="search" placeholder="Search  /" autocomplete="off" spellcheck="false" '
                           'role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">'),
                      tag("ul", id="found", role="listbox", aria_label="Found", hidden=""), action=root + "search.html", role="search", cls="search"),
                  tag("button", "Theme", id="theme", type="button", hidden=""), cls="top")
        return Html("<!doctype html>\n" + tag(
            "html", tag("head", Html('<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="%s">\n' % POLICY),
                        Html('<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n'),
                        tag("title", title or heading, " · Facet"), Html('\n<link rel="icon" href="data:,">\n'),
                        Html('<link rel="stylesheet" href="%ssite.css">\n<script src="%ssite.js" defer></script>\n' % (root, root))),
            Html("\n"), tag("body", tag("a", "To the text", href="#main", cls="skip"), top, Html("\n"),
                            tag("main", trail, tag("h1", heading) if heading else "", body, id="main", cls="wide" if wide else None, tabindex="-1"),
                            data_root=root or "./"), lang="en") + "\n")

    # -- everything --------------------------------------------------------------------------------

    def all_pages(self):
        """(path, text) of every page."""
        cards = self.contract.cards
        insns = OrderedDict()
        for c in cards["instruction"] + cards["alias"]:
            insns.setdefault(c["path"], []).append(c)
        for path, found in insns.items():
            yield path, pages.instruction_page(self, path, found)
        fields, members = defaultdict(list), defaultdict(list)
        for c in cards["field"]:
            fields[c["isa"], c["name"]].append(c)
        for c in cards["member"]:
            members[c["isa"], c["name"]].append(c)
        for c in cards["csr"]:
            yield c["path"], pages.csr_page(self, c["path"], c, fields[c["isa"], c["name"]])
        for c in cards["structure"]:
            yield c["path"], pages.structure_page(self, c["path"], c, members[c["isa"], c["name"]])
        areas = OrderedDict()
        for c in cards["requirement"]:
            areas.setdefault(re.match(r"[A-Z0-9]+", c["id"]).group(0), []).append(c)
            yield self.names.ids[c["id"]], pages.requirement_page(self, self.names.ids[c["id"]], c)
        for area, found in areas.items():
            path = "requirement/area-%s.html" % area
            yield path, pages.area_page(self, path, area, found)
        yield "requirement/index.html", pages.requirement_index(self, "requirement/index.html", areas)
        for c in cards["resolution"]:
            yield self.names.ids[c["id"]], pages.resolution_page(self, self.names.ids[c["id"]], c)
        yield "resolution/index.html", pages.resolution_index(self, "resolution/index.html", cards["resolution"])
        yield from pages.suite_pages(self)
        yield "rules.html", pages.rules_page(self, "rules.html", cards["rule"])
        for c in cards["document"]:
            path = "document/%s.html" % pages.file_name(c["name"])
            yield path, pages.document_page(self, path, c)
        yield "document/index.html", pages.document_index(self, "document/index.html", cards["document"])
        yield "glossary.html", pages.glossary_page(self, "glossary.html", cards["word"])
        for machine in MACHINES:
            yield self.machine(machine)
        yield from self.written()
        yield "search.html", self.search_page()
        yield "index.html", self.front(areas)

    def machine(self, machine):
        cards = self.contract.cards
        groups = OrderedDict()
        for c in cards["instruction"]:
            if c["isa"] == machine:
                groups.setdefault(c["extension"], (c["extension_title"], []))[1].append(c)
        of = lambda kind: [c for c in cards[kind] if c["isa"] == machine]
        path = machine + "/index.html"
        return path, pages.machine_page(self, path, machine, groups, of("csr"), of("structure"), of("alias"))

    def written(self):
        """Pages of behaviour and guides."""
        titles = []
        for stem in BEHAVIOUR:
            path, file = "contract/%s.html" % stem, "spec/%s.md" % stem
            text = self.read(file)
            titles.append((path, re.match(r"# (.*)", text).group(1)))
            yield path, pages.written_page(self, path, file, text, MACHINE_OF_PAGE.get(stem), [("behaviour", "contract/index.html")], stem != "README")
        yield "contract/index.html", self.list_of("contract/index.html", "Behaviour to the bit", titles)
        titles = []
        for stem in self.guides:
            path, file = "guide/%s.html" % stem, "docs/%s.md" % stem
            text = self.read(file)
            title = re.match(r"# (.*)", text).group(1)
            titles.append((path, title))
            self.guide_entries(path, title, text)
            yield path, pages.written_page(self, path, file, text, None, [("guides", "guide/index.html")], False)
        yield "guide/index.html", self.list_of("guide/index.html", "Guides", titles)

    def read(self, file):
        with open(os.path.join(self.tree, file), encoding="utf-8") as f:
            return f.read()

    def list_of(self, path, heading, titles):
        words = Words(self, path)
        return self.page(path, heading, tag("ul", *[tag("li", tag("a", re.sub(r"`", "", title), href=words.to(p))) for p, title in titles], cls="plain"))

    def search_page(self):
        return self.page("search.html", "Search", [
            tag("p", "Every word has to occur: in a name, in what it says in a line, or in its text.", cls="subtitle"),
            tag("p", "The search runs in the page and needs JavaScript.", id="state", role="status"), tag("ol", id="results", cls="results")])

    def front(self, areas):
        words = Words(self, "index.html")
        cards = self.contract.cards
        count = lambda kind, machine: len([c for c in cards[kind] if c["isa"] == machine])
        about = [tag("article", tag("h2", tag("a", m, href=words.to(m + "/index.html"))), tag("p", text),
                     tag("p", "%d instructions" % count("instruction", m),
                         ", %d registers" % count("csr", m) if count("csr", m) else "", ", %d structures" % count("structure", m), cls="quiet"), cls="card")
                 for m, text in MACHINES.items()]
        rows = cards["requirement"]
        proved = len([c for c in rows if c["result"] == "pass"])
        more = [("Behaviour to the bit", "contract/index.html", "numbers, rays, textures, both GPUs: the rules as text, with worked examples"),
                ("Requirements", "requirement/index.html", "%d testable statements; a passing test names %d of them" % (len(rows), proved)),
                ("Resolutions", "resolution/index.html", "%d decisions where the source documents contradict themselves or are silent" % len(cards["resolution"])),
                ("Documents", "document/index.html", "what the contract is made from, section by section"),
                ("Rules of the validator", "rules.html", "what a GFX12 image has to fulfil, for each driver"),
                ("Guides", "guide/index.html", "how to run, trace, debug, measure and check")]
        if self.inspector:
            more.insert(0, ("Inspector", "inspector.html", "rays, programs, kernels, textures and numbers, step by step, in this browser"))
        return self.page("index.html", "Three graphics instruction sets, to the bit", [
            tag("p", "What every instruction, register, structure and number means, why, and which test proves it. Press ", tag("kbd", "/"),
                " to search.", cls="lead"),
            tag("div", *about, cls="cards"),
            tag("div", *[tag("article", tag("h2", tag("a", t, href=words.to(p))), tag("p", text), cls="card") for t, p, text in more], cls="cards")])

    # -- search ------------------------------------------------------------------------------------

    def guide_entries(self, path, title, text):
        self.entries.append(["guide", plain(title), path, "", plain(re.sub(r"```.*?```", " ", text, flags=re.S))])

    def index(self):
        """The search's data: [kind, name, path, line, longer text], what `facet spec --search` looks at."""
        entries = []
        for kind, cards in self.contract.cards.items():
            for c in cards:
                name, path, line, text = self.entry(kind, c)
                entries.append([kind, name, path, line, plain(text)])
        return entries + self.entries

    def entry(self, kind, c):
        if kind == "instruction":
            return [c["mnemonic"], c["path"], c["syntax"], c["semantics"]]
        if kind == "alias":
            return [c["mnemonic"], c["path"], "%s: %s" % (c["expansion"], c["note"]), ""]
        if kind == "csr":
            return [c["family"], c["path"], c["address"], ""]
        if kind == "field":
            return ["%s.%s" % (c["family"], c["field"]), c["path"], c["fields"][0]["meaning"], ""]
        if kind == "structure":
            return [c["name"], c["path"], c["meaning"], ""]
        if kind == "member":
            return ["%s.%s" % (c["name"], c["member"]), c["path"], c["members"][0]["meaning"], c["members"][0]["legal"]]
        if kind == "requirement":
            return [c["id"], self.names.ids[c["id"]], c["requirement"], c["observable"]]
        if kind in ("resolution", "rule"):
            return [c["id"], self.names.ids[c["id"]], c["title"], c["text"]]
        if kind == "section":
            return [c["name"], self.names.sections[c["name"]], c["title"], c["page"]]
        if kind == "word":
            return [c["name"], "glossary.html#" + pages.file_name(c["name"].lower()), c["meaning"], ""]
        if kind == "document":
            return [c["name"], "document/%s.html" % pages.file_name(c["name"]), c["title"], ""]
        return [c["name"], "%s/index.html#%s" % (c["isa"], pages.file_name(c["name"])), c["title"], ""]


def plain(text):
    """Markdown as one line of text for the search."""
    text = re.sub(r"`|\*\*|^#+ |^- (?=\*)|(?<![\w*])\*(?=[A-Z][a-z ]+:?\*)|(?<=[a-z:])\*(?=:?\s)", "", text, flags=re.M)
    return re.sub(r"\s+", " ", text).strip()


# -- files -----------------------------------------------------------------------------------------


def flattened(style):
    """The inspector's colours and frame, and the site's own sheet, as one file."""
    out = []
    for path in (os.path.join(style, "tokens.css"), os.path.join(style, "shell.css"), os.path.join(HERE, "site.css")):
        with open(path, encoding="utf-8") as f:
            out.append(f.read())
    return "\n".join(out)


def beside_the_contract(page):
    """The inspector with the mark by which it knows that search.html lies beside it."""
    with open(page, encoding="utf-8", newline="") as f:
        text = f.read()
    if text.count("<title>") < 1:
        raise Failure("%s: is not the inspector's page: it has no title" % page)
    return text.replace("<title>", '<meta name="contract">\n<title>', 1)


def write(folder, path, text):
    target = os.path.join(folder, path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "w", encoding="utf-8", newline="\n") as f:
        f.write(text)


def build(options):
    """Makes the site beside its place and then puts it there, whole."""
    out = os.path.abspath(options.output)
    if os.path.isdir(out) and os.listdir(out) and not os.path.isfile(os.path.join(out, "search-index.js")):
        raise Failure("%s: is not empty and holds no site; choose another folder" % options.output)
    contract = Contract(options.facet, options.results)
    site = Site(contract, options.tree, options.source_url, options.inspector is not None)
    new = out + ".new"
    shutil.rmtree(new, ignore_errors=True)
    os.makedirs(new)
    try:
        count = 0
        for path, text in site.all_pages():
            write(new, path, text)
            count += 1
        for picture in sorted(site.pictures):
            os.makedirs(os.path.join(new, "guide/pictures"), exist_ok=True)
            shutil.copyfile(os.path.join(options.tree, picture), os.path.join(new, "guide/pictures", os.path.basename(picture)))
        write(new, "site.css", flattened(options.style))
        shutil.copyfile(os.path.join(HERE, "site.js"), os.path.join(new, "site.js"))
        data = json.dumps(site.index(), ensure_ascii=False, separators=(",", ":"))
        write(new, "search-index.js", "window.facetIndex = %s;\n" % data.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))
        if options.inspector:
            write(new, "inspector.html", beside_the_contract(options.inspector))
        broken = broken_links(new)
        if broken:
            raise Failure("\n".join(broken[:20] + (["and %d more" % (len(broken) - 20)] if len(broken) > 20 else [])))
        shutil.rmtree(out, ignore_errors=True)
        os.rename(new, out)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return count


def main():
    parser = argparse.ArgumentParser(description="Makes the contract as a static site.")
    parser.add_argument("--facet", required=True)
    parser.add_argument("--tree", required=True)
    parser.add_argument("--style", required=True)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--results")
    parser.add_argument("--inspector")
    parser.add_argument("--source-url")
    options = parser.parse_args()
    try:
        print("%s: %d pages" % (options.output, build(options)))
    except (Failure, OSError) as e:
        print("build_site.py: %s" % e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
