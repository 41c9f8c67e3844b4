"""Where every name of the contract has its page, and which words of a text lead there."""
import os
import re
from collections import defaultdict

import prose
from contract import Failure
from diagrams import field_anchor
from markup import Html, html, tag

# What may be a link in running text: IDs, and names with dots, underscores or capitals.
WORD = re.compile(r"R-[A-Z0-9]+-\d+|[A-Za-z_][A-Za-z0-9_]*(?:\[n\])?(?:\.[A-Za-z0-9_]+)*(?:-\d{3}(?!\d))?")
FOLDERS = {"instruction": "insn", "alias": "insn", "csr": "csr", "field": "csr", "structure": "structure", "member": "structure"}


def file_name(name):
    """A name as part of a URL and of a path: letters, digits, dots, dashes."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name.replace("[n]", "-n"))


class Names:
    """Every card's path in the site, relative to its root."""

    def __init__(self, contract, files_of_sections):
        self.paths = {}             # file -> what stands there, in lower case: some disks know no other
        self.by_name = defaultdict(dict)  # machine -> lower-case name -> {path}
        self.sections = {}          # "numeric.md 5" -> path
        self.ids = {}
        self.files = files_of_sections
        registers = {(c["isa"], c["name"]): c for c in contract.cards["csr"]}
        for kind, folder in FOLDERS.items():
            for card in contract.cards[kind]:
                part = card["member"] if kind == "member" else None
                if kind == "field":
                    register = registers[card["isa"], card["name"]]
                    card["family"] = register["family"]
                    part = field_anchor(card["fields"][0], register)
                self.add(card, folder, part)
        for kind, folder in (("requirement", "requirement"), ("resolution", "resolution")):
            for card in contract.cards[kind]:
                self.ids[card["id"]] = self.claim("%s/%s.html" % (folder, card["id"]), card["id"])
        for card in contract.cards["rule"]:
            self.ids[card["id"]] = "rules.html#" + card["id"]
        for card in contract.cards["section"]:
            file, _, number = card["name"].partition(" ")
            self.sections[card["name"]] = "contract/%s.html#s%s" % (file.removesuffix(".md"), number)
        for card in contract.cards["extension"]:
            self.by_name[card["isa"]].setdefault(card["name"].lower(), set()).add(
                "%s/index.html#%s" % (card["isa"], file_name(card["name"])))

    def claim(self, path, what):
        other = self.paths.setdefault(path.lower(), what)
        if other.lower() != what.lower():
            raise Failure("%s and %s would have one page, %s" % (other, what, path))
        return path

    def add(self, card, folder, part):
        """A part of a register or structure is a place in the page of the whole."""
        machine = card["isa"]
        name = card.get("mnemonic") or card["name"]
        whole = card.get("family", name)
        path = self.claim("%s/%s/%s.html" % (machine, folder, file_name(whole.lower() if folder == "insn" else whole)),
                          "%s %s %s" % (machine, folder, whole))
        dot = ""
        if part:
            path += "#" + part
            dot = "." + (card.get("field") or part)
        card["path"] = path
        for n in {name, whole}:
            self.by_name[machine].setdefault((n + dot).lower(), set()).add(path)

    def find(self, name, machine=None):
        """The one path of a name, else None; a name that several machines have needs its machine."""
        if name in self.ids:
            return self.ids[name]
        if name in self.sections:
            return self.sections[name]
        found = set()
        for m in ([machine] if machine else list(self.by_name)):
            found |= self.by_name[m].get(name.lower(), set())
        return found.pop() if len(found) == 1 else None


class Words(prose.Linker):
    """Links of one page: from `here`, in texts about one machine, to names and to what the text is known to be about."""

    def __init__(self, site, here, machine=None, about=(), base=None):
        self.site, self.here, self.machine = site, here, machine
        self.base = base or os.path.dirname(here)  # of Markdown links: the folder of the file in the tree
        self.short = self.short_names(about)
        self.numbered = None  # of a page of behaviour: its sections

    def to(self, path):
        """A path of the site as seen from here; a page needs no link to itself."""
        file, _, anchor = path.partition("#")
        if file == self.here:
            return "#" + anchor if anchor else None
        url = os.path.relpath(file, os.path.dirname(self.here) or ".")
        return url + ("#" + anchor if anchor else "")

    @staticmethod
    def short_names(about):
        """Ends of the names of what a text is about (`MODE.PET`, `PET`), where they stand for one thing only."""
        found = defaultdict(set)
        for card in about:
            if "path" not in card:
                continue
            name = card.get("mnemonic") or card.get("family") or card["name"]
            part = card.get("field") or card.get("member") if card["kind"] in ("field", "member") else None
            names = [name + "." + part, part] if part else [name]
            if card["kind"] == "csr":
                bits = name.split(".")
                names = [".".join(bits[i:]) for i in range(len(bits))]
            elif part and "." in name:
                names += [".".join(name.split(".")[i:] + [part]) for i in range(1, len(name.split(".")))]
            for n in names:
                found[n].add(card["path"])
        return {n: paths.pop() for n, paths in found.items() if len(paths) == 1}

    def path_of(self, word, sure):
        """Words of a sentence are names only if they look like names, or the text is about that name."""
        if word in self.site.names.ids:
            return self.site.names.ids[word]
        if word in self.short and (sure or re.search(r"[A-Z_.0-9]", word) and len(word) > 1):
            return self.short[word]
        looks = sure or ("." in word or "_" in word) and len(word) > 3
        return self.site.names.find(word, self.machine) if looks else None

    def words(self, text):
        out, at = [], 0
        for m in WORD.finditer(text):
            path = self.path_of(m.group(0), False)
            url = self.to(path) if path else None
            if url:
                out += [html(text[at:m.start()]), tag("a", m.group(0), href=url)]
                at = m.end()
        return Html("".join(out) + html(text[at:]))

    def code(self, text):
        path = self.path_of(re.sub(r"=.*|\(.*| .*", "", text) if self.path_of(text, True) is None else text, True)
        return self.to(path) if path else None

    def section(self, file, number):
        path = self.site.names.sections.get("%s.md %s" % (file, number)) or self.site.contract_file(file)
        return self.to(path) if path else None

    def target(self, url):
        if re.match(r"[a-z]+:", url):
            return url
        file, _, anchor = url.partition("#")
        if not file:
            return "#" + anchor
        path = self.site.page_of_file(os.path.normpath(os.path.join(self.base, file)))
        return self.to_target(path, anchor) if path else None

    def to_target(self, path, anchor):
        if re.match(r"[a-z]+:", path):
            return path + ("#" + anchor if anchor else "")
        return self.to(path + ("#" + anchor if anchor else ""))

    def anchor(self, level, text):
        """Sections of the pages of behaviour are known by their numbers."""
        m = re.match(r"(?:Appendix )?([0-9]+(?:\.[0-9]+)*|[A-Z])[. ]", text) if self.numbered else None
        return "s" + m.group(1) if m and level > 1 else prose.slug(text)
