"""The pages of the site: one function for each kind, from cards to HTML."""
import re
from collections import OrderedDict, defaultdict

import diagrams
from contract import MACHINES
from links import Words, file_name
from markup import Html, html, joined, tag
from markup import table as plain_table
from prose import Renderer, inline

RESULTS = {"pass": "passes", "fail": "fails", "skip": "skipped", "none": "no result"}
OPEN_ROWS = 60  # longer lists of rows are closed at first


def result_badge(result, count=None):
    text = RESULTS.get(result, result)
    return tag("span", text if not count else "%s · %d" % (text, count), cls="badge " + result)


def section(title, ident, *body):
    return tag("section", tag("h2", title, " ", tag("a", "#", href="#" + ident, cls="anchor", aria_label="link to this section"),
                              id=ident), *body)


def facts(*pairs):
    """A list of what there is to say in a word or two; empty values are left out."""
    return tag("dl", *[tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs if value not in (None, "", "-")],
               cls="facts")


def common(site, words, card, skip=()):
    """What every card ends with: behaviour, rows, decisions, places."""
    out = []
    pages = [p for p in card["pages"] if p["name"] in site.names.sections]
    if pages and "pages" not in skip:
        out.append(section("Behaviour", "behaviour", tag("ul", *[
            tag("li", tag("a", p["name"].replace(".md", ""), " ", p["title"], href=words.to(site.names.sections[p["name"]])))
            for p in pages])))
    if card["requirements"]:
        out.append(section("Requirements (%d)" % len(card["requirements"]), "requirements",
                           requirement_rows(site, words, card["requirements"])))
        if card["kind"] in ("instruction", "alias", "csr", "structure"):
            out.append(tests(site, words, card["requirements"]))
    if card["resolutions"]:
        out.append(section("Resolutions (%d)" % len(card["resolutions"]), "resolutions",
                           resolution_rows(site, words, card["resolutions"])))
    out.append(places(site, words, card))
    return out


def tests(site, words, idents):
    """How many of the rows have tests, and which suites these are in."""
    cards = [site.contract.requirement[i] for i in idents if i in site.contract.requirement]
    proven = [c for c in cards if c["proof"]]
    suites = defaultdict(list)
    for c in proven:
        for p in c["proof"]:
            suites[p["suite"]].append((c["id"], p["case"], p["result"]))
    rows = [[tag("a", tag("code", suite), href=words.to("suite/%s.html" % file_name(suite))), str(len({case for _, case, _ in found})),
             str(len({ident for ident, _, _ in found})), result_badge(worst(r for _, _, r in found))] for suite, found in sorted(suites.items())]
    text = tag("p", "%d of these %d rows are named by a test with a result; %d pass." % (
        len(proven), len(cards), sum(c["result"] == "pass" for c in proven)))
    return section("Tests", "tests", text, plain_table(["suite", "cases", "rows", "result"], rows, cls="numbers", caption="Tests") if rows else "")


def closed(rows, title):
    """A long list can be opened; print opens it by itself (site.js)."""
    return tag("details", tag("summary", title), rows) if title else rows


def requirement_rows(site, words, idents):
    cards = [site.contract.requirement[i] for i in idents if i in site.contract.requirement]
    rows = []
    for c in cards:
        proof = len(c["proof"])
        rows.append([tag("a", c["id"], href=words.to(site.names.ids[c["id"]])), site.statement(c, words.here), result_badge(c["result"], proof)])
    body = plain_table(["row", "statement", "tests"], rows, cls="rows", caption="Requirements")
    return closed(body, "%d rows" % len(rows) if len(rows) > OPEN_ROWS else None)


def resolution_rows(site, words, idents):
    cards = [site.contract.resolution[i] for i in idents if i in site.contract.resolution]
    rows = [[tag("a", c["id"], href=words.to(site.names.ids[c["id"]])), inline(c["title"], site.plain)] for c in cards]
    body = plain_table(["decision", "about"], rows, cls="rows", caption="Resolutions")
    return closed(body, "%d decisions" % len(rows) if len(rows) > OPEN_ROWS else None)


PLACES = OrderedDict([("rows", "Row"), ("rules", "Rule"), ("code", "Code"), ("tests", "Tests"), ("pages", "Explained in"),
                      ("commands", "Shown by")])


def places(site, words, card):
    lines = []
    for key, title in PLACES.items():
        entries = card.get("places", {}).get(key, [])
        if entries:
            lines.append(tag("dt", title))
            lines += [tag("dd", place(site, words, key, p)) for p in entries]
    return section("Places in the tree", "places", tag("dl", *lines, cls="places")) if lines else ""


def place(site, words, key, p):
    path = site.page_of_file(p["file"])
    at = p["file"] + (":%d" % p["line"] if p["line"] > 1 else "")
    name = tag("code", at)
    if key == "rules" and path:
        found = site.names.find(p["symbol"].split(" ")[0]) or site.names.sections.get(
            "%s %s" % (p["file"].rsplit("/", 1)[-1], p["symbol"].split(" ")[0]))
        path = found or path
    if path:
        url = words.to_target(path, "L%d" % p["line"] if re.match(r"[a-z]+:", path) and p["line"] > 1 else "")
        name = tag("a", name, href=url) if url else name
    return [name, " " if p["symbol"] else "", p["symbol"]]


def names_list(site, words, cards):
    """Links to cards, by kind, each once."""
    by_kind = OrderedDict()
    for c in cards:
        if c["kind"] in ("requirement", "resolution", "rule"):
            name, path = c["id"], site.names.ids[c["id"]]
        else:
            name, path = c.get("mnemonic") or c.get("family") or c["name"], c["path"]
            part = c.get("field") if c["kind"] == "field" else c.get("member") if c["kind"] == "member" else None
            name += "." + part if part else ""
        by_kind.setdefault(TITLES[c["kind"]], OrderedDict())[name] = path
    return tag("dl", *[[tag("dt", kind), tag("dd", joined(" ", [
        tag("a", tag("code", n), href=words.to(p) or "#") for n, p in names.items()]))]
        for kind, names in by_kind.items()], cls="names") if by_kind else ""


TITLES = {"instruction": "Instructions", "alias": "Pseudo-instructions", "csr": "Registers", "field": "Fields", "structure": "Structures",
          "member": "Members", "requirement": "Requirements", "resolution": "Resolutions", "rule": "Rules of the validator"}


# -- instructions ----------------------------------------------------------------------------------


def instruction_page(site, path, cards):
    """All rows of a mnemonic, and the pseudo-instructions that are written with it."""
    rows = [c for c in cards if c["kind"] == "instruction"]
    aliases = [c for c in cards if c["kind"] == "alias"]
    first = (rows or aliases)[0]
    words = Words(site, path, first["isa"], [first])
    body = []
    for i, c in enumerate(rows):
        body += instruction_row(site, words, c, "" if i == 0 else "-%d" % (i + 1), len(rows) > 1)
    if aliases:
        body.append(section("Pseudo-instructions" if rows else "Expansions", "expansions", plain_table(
            ["written", "stands for", "note"],
            [[tag("code", c["syntax"]), words_code(words, c["expansion"]) if c["expansion"] != "@li"
              else "the shortest sequence that loads the constant", c["note"]]
             for c in aliases], caption="Pseudo-instructions")))
    group = first["extension"] if rows else "aliases"
    title = first["extension_title"] if rows else "pseudo-instruction"
    return site.page(path, first["mnemonic"], [
        tag("p", Html(""), group if rows else "", " · " if rows else "", title, cls="subtitle"), body, common(site, words, first)],
        crumbs=[(first["isa"], first["isa"] + "/index.html"),
                (group, "%s/index.html#%s" % (first["isa"], file_name(group)))])


def words_code(words, text):
    return tag("code", words.words(text))


def instruction_row(site, words, c, suffix, several):
    """Encoding, syntax, fields, semantics of one row."""
    operands = []
    for o in c.get("operands", []):
        symbols = joined(", ", [tag("code", "%s=%d" % kv) for kv in o["symbols"].items()])
        notes = [o["meaning"]] + (["default %s" % o["default"]] if o["optional"] else []) \
            + (["also called %s" % o["second_name"]] if o["second_name"] else []) \
            + (["not " + ", ".join(str(v) for v in o["forbidden"])] if o["forbidden"] else []) \
            + (["stored as %s" % o["codec"].replace("_", " ")] if o["codec"] != "plain" else []) \
            + ([] if o["written"] else ["not written: 0 in the word, ignored by the machine"])
        operands.append([tag("code", o["name"]), o["bits"], "; ".join(n for n in notes if n), symbols])
    bits = c["length"] * 8
    shown = [diagrams.bit_table(diagrams.instruction_pieces(c), bits, "Encoding of %s, %d bits" % (c["mnemonic"], bits))]
    if suffix:  # anchors of a page stand once
        shown = [Html(re.sub(r'href="#([^"]+)"', lambda m: 'href="#%s%s"' % (m.group(1), suffix), shown[0]))]
    if operands:
        columns = 4 if any(row[3] for row in operands) else 3
        shown.append(plain_table(["field", "bits", "meaning", "names of values"][:columns], [row[:columns] for row in operands], caption="Fields",
                                 ids=[o["name"] + suffix for o in c["operands"]]))
    run = site.example_link(words, c)
    shown += [tag("h3", "What it does"), tag("pre", tag("code", words.words(c["semantics"])), cls="semantics", tabindex="0"),
              facts(("Legal", c.get("legal")), ("Match", tag("code", "(word & %s) == %s" % (c["mask"], c["match"])))),
              tag("p", "Example: ", tag("code", c["example"]["text"]), " is ", tag("code", c["example"]["word"]), run)
              if c.get("example") else tag("p", "A ray that uses it:", run) if run else ""]
    return [section(Html(tag("code", c["syntax"])), "row" + suffix, *shown)]


# -- registers and structures ----------------------------------------------------------------------


def csr_page(site, path, card, fields):
    words = Words(site, path, card["isa"], [card] + fields)
    by_bits = {(f["field"], f["fields"][0]["bits"]): f for f in fields}
    rows, ids = [], []
    for f in card["fields"]:
        own = by_bits.get((f["name"], f["bits"]))
        links = [tag("a", i, href=words.to(site.names.ids[i])) for i in (own["requirements"] + own["resolutions"] if own else [])
                 if i in site.names.ids]
        notes = [inline(f["meaning"], words)]
        legal = site.contract_legal(f["legal"])
        if legal:
            notes.append([" ", tag("span", "Values: ", legal, ".", cls="quiet")])
        if f["needs"] != "-":
            notes.append([" ", tag("span", "Needs ", words.words(f["needs"]), ".", cls="quiet")])
        if links:
            notes.append(tag("details", tag("summary", naming(len(links))), joined(" ", links), cls="small"))
        rows.append([f["bits"], tag("code", f["name"]), tag("abbr", f["access"], title=ACCESS[f["access"]]), tag("code", f["reset"]), notes])
        ids.append(diagrams.field_anchor(f, card))
    address = card["address"] + (" and %s" % card["second_number"] if card["second_number"] else "")
    body = [facts(("Number", tag("code", address)), ("Registers", card["count"] if card["count"] > 1 else None),
                  ("Width", "%d bits" % card["width"]), ("Reset", tag("code", card["reset"]))),
            section("Bits", "bits", diagrams.bit_table(diagrams.csr_pieces(card), card["width"], "Bits of " + card["family"])),
            section("Fields", "fields", plain_table(["bits", "field", "access", "reset", "meaning"], rows, ids=ids, cls="fields",
                                                    caption="Fields of " + card["family"]))]
    return site.page(path, card["family"], [tag("p", "%s register" % card["isa"], cls="subtitle"), body, common(site, words, card)],
                     crumbs=[(card["isa"], card["isa"] + "/index.html"), ("registers", card["isa"] + "/index.html#registers")])


def naming(count):
    return "1 row names it" if count == 1 else "%d rows name it" % count


ACCESS = {"RO": "read only: writes are ignored", "RW": "stores what is written", "WARL": "stores a legal value", "W1C": "clears bits written as one",
          "WC": "becomes 0 by any write", "W1A": "a one applies what the register holds or stages; reads 0"}


def structure_page(site, path, card, members):
    words = Words(site, path, card["isa"], [card] + members)
    by_name = {m["member"]: m for m in members}
    rows = []
    for m in card["members"]:
        own = by_name.get(m["name"])
        links = [tag("a", i, href=words.to(site.names.ids[i])) for i in (own["requirements"] + own["resolutions"] if own else [])
                 if i in site.names.ids]
        legal = site.contract_legal(m["legal"])
        notes = [inline(m["meaning"], words)] + ([[" ", tag("span", "Values: ", legal, ".", cls="quiet")]] if legal else [])
        if m["default"] != "-":
            notes.append([" ", tag("span", "Left out: ", tag("code", m["default"]), ".", cls="quiet")])
        if links:
            notes.append(tag("details", tag("summary", naming(len(links))), joined(" ", links), cls="small"))
        rows.append([tag("code", m["offset"]), m["bits"].lstrip("|"), tag("code", m["name"]), words.words(m["type"]), notes])
    note = tag("p", "Drawn for elements of %d bytes (FP32)." % diagrams.ELEMENT, cls="quiet") if diagrams.depends_on_elements(card) else ""
    drawing = diagrams.structure_table(card, diagrams.structure_sizes(site.contract.cards["structure"]))
    body = [tag("p", inline(card["meaning"], words)),
            facts(("Size", card["size"]), ("Aligned to", card["align"] or "an element"), ("Defined in", inline(card["defined"], words))),
            section("In memory", "memory", note, drawing) if drawing else "",
            section("Members", "members", plain_table(["offset", "bits", "member", "type", "meaning"], rows, cls="fields",
                                                      ids=[m["name"] for m in card["members"]], caption="Members of " + card["name"]))]
    return site.page(path, card["name"], [tag("p", "%s structure in memory" % card["isa"], cls="subtitle"), body, common(site, words, card)],
                     crumbs=[(card["isa"], card["isa"] + "/index.html"), ("structures", card["isa"] + "/index.html#structures")])


# -- rows ------------------------------------------------------------------------------------------


def requirement_page(site, path, card):
    about = site.contract.about[card["id"]]
    words = Words(site, path, site.machine_of(card["id"]), about)
    documents = joined(", ", [tag("a", d["title"], href=words.to("document/%s.html" % file_name(d["name"])))
                              for d in card["documents"]]) or card["source"]
    proof = [[tag("a", tag("code", p["suite"]), href=words.to("suite/%s.html" % file_name(p["suite"]))),
              tag("code", p["case"]), result_badge(p["result"])] for p in card["proof"]]
    area = re.match(r"[A-Z0-9]+", card["id"]).group(0)
    body = [tag("p", inline(card["requirement"], words), cls="statement"),
            facts(("Level", tag("abbr", card["level"], title=LEVELS[card["level"]])), ("Document", documents), ("Section", card["section"]),
                  ("Last result", result_badge(card["result"]))),
            section("What a test observes", "observable", tag("p", inline(card["observable"], words))),
            section("Tests that prove it", "tests", plain_table(["suite", "case", "result"], proof, caption="Tests") if proof
                    else tag("p", "No result of a test names this row.", cls="quiet"))]
    if about:
        body.append(section("About", "about", names_list(site, words, about)))
    return site.page(path, card["id"], [tag("p", "requirement", cls="subtitle"), body, common(site, words, card)],
                     crumbs=[("requirements", "requirement/index.html"), (area, "requirement/area-%s.html" % area)])


LEVELS = {"MUST": "an implementation has to", "SHOULD": "an implementation is meant to", "MAY": "an implementation can",
          "DEF": "a definition", "DEP": "taken from a sibling document"}


def resolution_page(site, path, card):
    about = site.contract.about[card["id"]]
    words = Words(site, path, site.machine_of(card["id"]), about, base="spec")
    area = re.match(r"R-([A-Z0-9]+)", card["id"]).group(1)
    cited = [r for r in site.contract.cards["resolution"] if card["id"] in r["resolutions"]]
    body = [tag("h2", inline(card["title"], words), cls="lead"),
            tag("div", Renderer(words, 2).blocks(labelled_lines(card["text"])), cls="decision")]
    if about:
        body.append(section("About", "about", names_list(site, words, about)))
    others = [r["id"] for r in cited if r["id"] not in card["resolutions"]]
    return site.page(path, card["id"], [tag("p", "resolution", cls="subtitle"), body, common(site, words, card),
                                        section("Named by", "named", resolution_rows(site, words, others)) if others else ""],
                     crumbs=[("resolutions", "resolution/index.html"), (area, "resolution/index.html#" + area)],
                     title="%s %s" % (card["id"], card["title"]))


def labelled_lines(text):
    """Each `*Decision*:` line is a paragraph of its own, whether or not it is written as an item."""
    lines = []
    for line in text.split("\n"):
        if re.match(r"\*[A-Z][a-z ]+:?\*", line) and lines and lines[-1].strip():
            lines.append("")
        lines.append(line)
    return lines


# -- lists -----------------------------------------------------------------------------------------


def machine_page(site, path, machine, groups, csrs, structures, aliases):
    words = Words(site, path, machine)
    body = [tag("p", MACHINES[machine], cls="subtitle")]
    contents = [(name, "%s: %s" % (name, title)) for name, (title, _) in groups.items()]
    contents += [("aliases", "Pseudo-instructions")] if aliases else []
    contents += [("registers", "Registers")] if csrs else []
    contents += [("structures", "Structures in memory")] if structures else []
    body.append(tag("nav", tag("ul", *[tag("li", tag("a", text, href="#" + file_name(i))) for i, text in contents]), cls="contents",
                    aria_label="On this page"))
    for name, (title, cards) in groups.items():
        rows = [[tag("a", tag("code", c["mnemonic"]), href=words.to(c["path"])), tag("code", c["syntax"].partition(" ")[2]),
                 tag("span", c["semantics"], cls="cut")] for c in cards]
        body.append(section("%s: %s" % (name, title), file_name(name),
                            plain_table(["instruction", "operands", "what it does"], rows, cls="list", caption=name)))
    if aliases:
        rows = [[tag("a", tag("code", c["mnemonic"]), href=words.to(c["path"])), tag("code", c["operands"].replace("-", "")), c["note"]]
                for c in aliases]
        body.append(section("Pseudo-instructions", "aliases", plain_table(["written", "operands", "meaning"], rows, caption="Pseudo-instructions")))
    if csrs:
        rows = [[tag("a", tag("code", c["family"]), href=words.to(c["path"])), tag("code", c["address"]), tag("code", c["reset"]),
                 joined(" ", [tag("a", f["name"], href=words.to(c["path"]) + "#" + diagrams.field_anchor(f, c))
                              for f in c["fields"] if not f["name"].startswith("RSV")])] for c in csrs]
        body.append(section("Registers", "registers", plain_table(["register", "number", "reset", "fields"], rows, caption="Registers")))
    if structures:
        rows = [[tag("a", tag("code", c["name"]), href=words.to(c["path"])), c["size"], inline(c["meaning"], words)] for c in structures]
        body.append(section("Structures in memory", "structures", plain_table(["structure", "size", "meaning"], rows, caption="Structures")))
    return site.page(path, machine, body)


def area_page(site, path, area, cards):
    """Rows of an area, in the order of its table, under the sections of their documents."""
    words = Words(site, path)
    parts = OrderedDict()
    for c in cards:
        parts.setdefault((c["source"], c["section"]), []).append(c["id"])
    body = [tag("p", "%d requirement rows" % len(cards), cls="subtitle")]
    for (source, number), idents in parts.items():
        body += [tag("h2", source, ", ", number, id="part-%s" % idents[0]),
                 requirement_rows(site, words, idents)]
    return site.page(path, area, body, crumbs=[("requirements", "requirement/index.html")])


def requirement_index(site, path, areas):
    words = Words(site, path)
    rows = []
    for area, cards in areas.items():
        count = defaultdict(int)
        for c in cards:
            count[c["result"]] += 1
        rows.append([tag("a", area, href=words.to("requirement/area-%s.html" % area)), len(cards)] + [count[r] or "" for r in RESULTS])
    return site.page(path, "Requirements", [
        tag("p", "Every testable statement of the source documents is a row with an ID; every test names the rows that it proves.",
            cls="subtitle"),
        plain_table(["area", "rows"] + list(RESULTS.values()), [[row[0]] + [str(c) for c in row[1:]] for row in rows],
                    cls="numbers", caption="Requirements by area"),
        tag("p", tag("a", "Suites of tests and what they prove", href=words.to("suite/index.html")))])


def resolution_index(site, path, cards):
    words = Words(site, path)
    areas = OrderedDict()
    for c in cards:
        areas.setdefault(re.match(r"R-([A-Z0-9]+)", c["id"]).group(1), []).append(c["id"])
    body = [tag("p", "Where the source documents contradict themselves or say nothing, a resolution decides, and says why.", cls="subtitle"),
            tag("nav", tag("ul", *[tag("li", tag("a", "%s (%d)" % (a, len(ids)), href="#" + a)) for a, ids in areas.items()]), cls="contents",
                aria_label="On this page")]
    for area, idents in areas.items():
        rows = [[tag("a", i, href=words.to(site.names.ids[i])), inline(site.contract.resolution[i]["title"], site.plain)] for i in idents]
        body.append(section(area, area, plain_table(["decision", "about"], rows, cls="rows", caption="Resolutions of " + area)))
    return site.page(path, "Resolutions", body)


def suite_pages(site):
    """What every suite of tests proves: the links of requirements to their tests, turned round."""
    suites = defaultdict(lambda: defaultdict(list))
    for c in site.contract.cards["requirement"]:
        for p in c["proof"]:
            suites[p["suite"]][re.sub(r"\[[A-Z0-9, -]+\]$", "", p["case"])].append((c["id"], p["result"]))
    for suite, cases in sorted(suites.items()):
        path = "suite/%s.html" % file_name(suite)
        words = Words(site, path)
        rows = [[tag("code", case), joined(" ", [tag("a", i, href=words.to(site.names.ids[i])) for i, _ in sorted(set(found))]),
                 result_badge(worst(r for _, r in found))] for case, found in sorted(cases.items())]
        yield path, site.page(path, suite, [tag("p", "suite of tests: the requirement rows that its cases prove", cls="subtitle"),
                                            plain_table(["case", "rows", "result"], rows, caption="Cases of " + suite)],
                              crumbs=[("requirements", "requirement/index.html"), ("suites", "suite/index.html")])
    path = "suite/index.html"
    words = Words(site, path)
    rows = [[tag("a", tag("code", s), href=words.to("suite/%s.html" % file_name(s))), str(len(cases)),
             str(len({i for found in cases.values() for i, _ in found})),
             result_badge(worst(r for found in cases.values() for _, r in found))] for s, cases in sorted(suites.items())]
    text = "" if suites else tag("p", "The site was made without results of tests.")
    yield path, site.page(path, "Suites of tests", [text, plain_table(["suite", "cases", "rows", "result"], rows, cls="numbers", caption="Suites")],
                          crumbs=[("requirements", "requirement/index.html")])


def worst(results):
    found = set(results)
    return next((r for r in ("fail", "skip", "none", "pass") if r in found), "none")


def rules_page(site, path, cards):
    words = Words(site, path, "gfx12")
    rows = [[tag("code", c["id"]), c["severity"], [tag("strong", inline(c["title"], words)), tag("br"), inline(c["text"], words)],
             joined(" ", [tag("a", i, href=words.to(site.names.ids[i])) for i in c["requirements"] + c["resolutions"]])] for c in cards]
    return site.page(path, "Rules of the validator", [
        tag("p", "What ", tag("code", "facet bvh check"), " asks of a GFX12 image.", cls="subtitle"),
        plain_table(["rule", "severity", "what it asks", "from"], rows, ids=[c["id"] for c in cards], cls="rows", caption="Rules")],
        crumbs=[("gfx12", "gfx12/index.html")])


def document_page(site, path, card):
    words = Words(site, path)
    rows = [[number, joined(" ", [tag("a", i, href=words.to(site.names.ids[i])) for i in idents.split()])]
            for number, idents in card["sections"].items()]
    return site.page(path, card["name"], [
        tag("p", card["title"], cls="subtitle"), facts(("Author", card["author"]), ("Relation", card["relation"])),
        plain_table(["section", "requirement rows"], rows, caption="Sections") if rows else ""],
        crumbs=[("documents", "document/index.html")])


def document_index(site, path, cards):
    words = Words(site, path)
    rows = [[tag("a", c["name"], href=words.to("document/%s.html" % file_name(c["name"]))), c["title"], c["author"], c["relation"]]
            for c in cards]
    return site.page(path, "Documents", [tag("p", "What the contract is made from.", cls="subtitle"),
                                         plain_table(["name", "title", "author", "relation"], rows, caption="Documents")])


def glossary_page(site, path, cards):
    words = Words(site, path, base="docs")
    rows = [[tag("strong", c["name"]), inline(c["meaning"], words)] for c in cards]
    return site.page(path, "Glossary", [plain_table(["word", "meaning"], rows, ids=[file_name(c["name"].lower()) for c in cards], caption="Glossary")])


# -- written pages ---------------------------------------------------------------------------------


def written_page(site, path, file, text, machine, crumbs, numbered):
    """A Markdown file of the tree; pages of behaviour say beside each section which names and rows it is about."""
    words = Words(site, path, machine, base=file.rpartition("/")[0] or ".")
    words.numbered = numbered
    renderer = Renderer(words, 1)
    body = renderer.blocks(text.split("\n"))
    if numbered:
        body = with_margins(site, words, file, body)
    heads = [(level, i, h) for level, i, h in renderer.headings if 2 <= level <= 3]
    title = re.sub(r"<[^>]+>", "", next((h for level, _, h in renderer.headings if level == 1), file))
    contents = tag("nav", tag("ul", *[tag("li", tag("a", h, href="#" + i), cls="deep" if level == 3 else None) for level, i, h in heads]),
                   cls="contents side", aria_label="On this page") if len(heads) > 2 else ""
    return site.page(path, Html(""), [contents, tag("div", body, cls="prose")], crumbs=crumbs, title=title, wide=bool(contents))


def with_margins(site, words, file, body):
    """After the heading of every section: the cards and rows that name it."""
    def after(m):
        name = "%s %s" % (file.rpartition("/")[2], m.group(2)[1:])
        about = site.contract.about.get(name, [])
        if not about:
            return m.group(0)
        return m.group(0) + tag("details", tag("summary", "%d names and rows lead here" % len({id(c) for c in about})),
                                names_list(site, words, about), cls="leads small")

    return Html(re.sub(r'<h([2-6]) id="(s[0-9.]+|s[A-Z])">.*?</h\1>', after, body, flags=re.S))
