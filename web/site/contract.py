"""The contract as cards: what `facet spec --json` says about every name, and the links between them turned round."""
import json
import subprocess
from collections import OrderedDict, defaultdict

# Kinds of `facet spec --list`, and the kind that their cards have.
KINDS = OrderedDict([
    ("instructions", "instruction"), ("aliases", "alias"), ("csrs", "csr"), ("fields", "field"),
    ("structures", "structure"), ("members", "member"), ("requirements", "requirement"),
    ("resolutions", "resolution"), ("sections", "section"), ("words", "word"), ("documents", "document"),
    ("extensions", "extension"), ("rules", "rule")])
MACHINES = OrderedDict([
    ("xphmg", "a RISC-V hart (RV64) with vendor units for vectors, matrices, textures and rays"),
    ("tile", "a GPU of four SIMD cores that works tile by tile, with raster and geometry units"),
    ("gfx12", "AMD's ray instructions over BVH8 nodes")])
AT_A_TIME = 200  # names in one call of the program


class Failure(Exception):
    """What the person who builds the site has to be told."""


def identity(card):
    """What makes a card of its kind one and the same."""
    kind = card["kind"]
    name = card.get("id") or card.get("mnemonic") or card["name"]
    part = {"field": "field", "member": "member"}.get(kind)
    if kind == "field":
        # Registers may have two fields of one name (RSV); their bits tell them apart.
        return kind, card["isa"], name, card["field"], card["fields"][0]["bits"]
    if kind == "instruction":
        return kind, card["isa"], name, card["match"], card["mask"]
    if kind == "alias":
        return kind, card["isa"], name, card["operands"]
    return kind, card.get("isa", ""), name, card[part] if part else ""


class Contract:
    def __init__(self, program, results=None):
        self.program, self.results = program, results
        listing = self.ask(["spec", "--list"])
        self.listing = {k: listing[k] for k in KINDS if k in listing}
        missing = set(KINDS) - set(self.listing)
        if missing:
            raise Failure("%s spec --list --json has no %s" % (program, ", ".join(sorted(missing))))
        self.cards = OrderedDict((kind, self.read(group, kind)) for group, kind in KINDS.items())
        # The card of a family of registers has the name of the first; the list has that of the family.
        for entry, card in zip(self.listing["csrs"], self.cards["csr"], strict=True):
            card["family"] = entry["name"]
        for card in self.cards["requirement"]:  # null where there are no results of tests at all
            card["proof"] = card.get("proof") or []
            card["result"] = card.get("result") or "none"
        self.turn_round()

    def ask(self, arguments):
        command = [self.program] + arguments + ["--json"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as e:
            raise Failure("%s: %s" % (self.program, e.strerror)) from e
        if done.returncode != 0:
            raise Failure("%s: exit code %d: %s" % (" ".join(command[:4]), done.returncode, done.stderr.strip()[:300]))
        try:
            return json.loads(done.stdout)
        except ValueError as e:
            raise Failure("%s: the answer is not JSON: %s" % (" ".join(command[:4]), e)) from e

    def read(self, group, kind):
        """All cards of a kind in the order of the tables."""
        found = OrderedDict()
        by_machine = defaultdict(OrderedDict)
        for entry in self.listing[group]:
            by_machine[entry["isa"]][entry["name"]] = None
        for isa, names in by_machine.items():
            names = list(names)
            for at in range(0, len(names), AT_A_TIME):
                arguments = ["spec"] + names[at:at + AT_A_TIME] + (["--isa", isa] if isa else [])
                arguments += ["--results", self.results] if self.results else []
                for card in self.ask(arguments)["cards"]:
                    if card["kind"] == kind:
                        found.setdefault(identity(card), card)
        if len(found) < len({(e["isa"], e["name"]) for e in self.listing[group]}):
            raise Failure("%s has cards for %d of %d names of the kind %s"
                          % (self.program, len(found), len(self.listing[group]), group))
        return list(found.values())

    def turn_round(self):
        """A card names its rows and sections; here every row and section gets the cards that name it."""
        self.about = defaultdict(list)      # ID or section -> cards of things that it is about
        self.cited_by = defaultdict(list)   # resolution -> IDs of rows whose cards name it
        for kind in ("instruction", "alias", "csr", "field", "structure", "member"):
            for card in self.cards[kind]:
                for ident in card["requirements"] + card["resolutions"]:
                    self.about[ident].append(card)
                for page in card["pages"]:
                    self.about[page["name"]].append(card)
        for card in self.cards["requirement"] + self.cards["resolution"]:
            for page in card["pages"]:
                self.about[page["name"]].append(card)
        for card in self.cards["rule"]:
            for ident in card["requirements"] + card["resolutions"]:
                self.about[ident].append(card)
        self.requirement = {c["id"]: c for c in self.cards["requirement"]}
        self.resolution = {c["id"]: c for c in self.cards["resolution"]}
