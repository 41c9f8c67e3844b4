"""Which requirement and resolution rows speak of which name of the contract: the links of the cards.

A text touches an item when it names it. What counts as naming, per kind of item:

  instruction   its mnemonic; its family (`xmem.ldg`, `VADD`, `MULH*`); inside the texts of its own
                extension also what follows the first dot (`SHADE`, `HZ.BUILD`); a symbol of an
                operand (`CULL_BACK`)
                (GFX12: the mnemonic, or the function by which the semantics call it)
  CSR           its name with or without leading parts (`PREC.MODE`, `MODE`), its address, one of
                its fields
  field         CSR.FIELD, the bits of it (`MODE[35:34]`), the bare name where it stands for few fields or where the
                text names the register as well
  structure     its name, with or without the machine's (`XPHMG_MEMCTL`, `MEMCTL`; of GFX12 also in words: `box node`), or
                one of its members
  member        STRUCTURE.member; the bare name where it cannot be a word of a sentence, or where the text names
                the structure as well (of structures that share the name, those that the text names, if any);
                both also when their row cites the resolution as its source

Names that are words of any sentence (`and`, `EN`, `status`) need their first part. A text belongs to a
machine and an area (the letters of its ID) and speaks only of items of that machine. The observable of a
requirement names things only to set the stage: they count when its statement names nothing at all. Where a text speaks
of an item without naming anything of it, a row of spec/touches.tsv says so, in place of what its observable names.
Nothing else makes a link. Sections of the semantics pages belong to what their headings name and to the rows that they cite."""
import re
from collections import defaultdict

MACHINES = {"TILE": "tile", "G12": "gfx12"}

# Last parts of CSR names, and fields, that sentences use for something else.
CSR_NOT_ALONE = set("ID RT CAP EN ST FP8 TEX IMG ALU RSV0 LDS SAMP REG WAVE CUR SUP ALIGN FLAGS PARAMS EVENTS DOM".split())
FIELD_NOT_ALONE = set(
    "NV OF NX DZ UF ID EN RT MODE FMT IDX W H X Y Z V N C Q L1 L2 LDS FP16 FP32 BF16 FP8 INT4 INT2 INT8 INT16 INT32 E4M3 E5M2 "
    "BF16_LITE BASE COUNT STRIDE DATA VALUE ADDR BYTES SCALE PITCH TIME FIRST FENCE TRAP CAUSE CODE CMP PC RM SEL VALID WORD "
    "WIDTH HEIGHT LEVEL LEVELS RANGE NODE TOKEN SIGNED UNSIGNED BUSY NORM PROFILE MAJOR MINOR PATCH DIM DICT GRAN LEN LIM EPS "
    "FILTER ERR ILL COMPOSITE PREFETCH COMPRESS PLANAR BANK CLASS XDMA RSV RSVD BLK STEPV MEMF GS".split())
CSR_SENTENCE_WORDS = set("status config cycle time csr".split())
BASE_CSR = "rv64.csr.tsv"

# Files whose texts may use the short names of an extension.
AREA_OF_EXTENSION = {"XPHMG_GFX": "GFX", "XPHMG_MTX": "MTX", "XPHMG_RT": "RT", "XPHMG_RSV": "RSV",
                     "XPHMG_PMASK": "PM", "XPHMG_XMEM": "XM"}
AREAS_OF_CSR_FILE = {"gfx.csr.tsv": ("GFX", "MTX"), "rt.csr.tsv": ("RT",)}  # others: every area of the machine
FIRST_WORDS = set("rt gfx mtx xmem xlds xswz c bp xsubmit xfence".split())

ID = re.compile(r"R-[A-Z0-9]+-\d+|\b[A-Z0-9]+-\d{3}\b")
TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9n:]+\])?(?:\.(?:[A-Za-z0-9_]+\*?|\*)(?:\[[0-9n:]+\])?)*\*?")


def area_of(ident):
    return re.match(r"(?:R-)?([A-Z0-9]+)-", ident).group(1)


def machine_of(ident):
    return MACHINES.get(area_of(ident), "xphmg")


class Item:
    """A name that has a card. `key` finds its row: (index in its table, index of the part)."""

    def __init__(self, kind, machine, name, group, text, key):
        self.kind, self.machine, self.name, self.group, self.text, self.key = kind, machine, name, group, text, key
        self.requirements, self.resolutions = set(), set()
        self.sections = set()  # numbers of the pages' sections whose headings name it


# -- words of a text -------------------------------------------------------------------------------


def expand(text):
    """Short forms written out: A.{x,y}, A/B with a common start, NAME0..3."""
    def braces(m):
        return " ".join(m.group(1) + part.strip() for part in m.group(2).split(","))

    def slashes(m):
        parts = m.group(0).split("/")
        head = parts[0].rsplit(".", 1)[0]
        return " ".join(parts + [head + "." + p for p in parts[1:] if "." not in p])

    def span(m):
        lo, hi = int(m.group(2)), int(m.group(3))
        if not lo < hi < lo + 64:
            return m.group(0)
        return " ".join("%s%d" % (m.group(1), i) for i in range(lo, hi + 1))

    text = re.sub(r"([A-Za-z0-9_.]+\.)\{([^}]*)\}", braces, text)
    text = re.sub(r"\b[A-Za-z][A-Za-z0-9_]*\.[A-Za-z0-9_.]*[A-Za-z0-9_](?:/[A-Za-z][A-Za-z0-9_.]*)+", slashes, text)
    return re.sub(r"\b([A-Za-z_]+)(\d+)\.\.(?:\1)?(\d+)\b", span, text)


class Text:
    """One requirement or resolution row as the words that it uses."""

    def __init__(self, ident, strong, weak=""):
        self.id, self.area, self.machine = ident, area_of(ident), machine_of(ident)
        self.parts = [(self.split(t), self.addresses(t), t.lower()) for t in (strong, weak) if t]
        self.ids = set(ID.findall(strong + " " + weak)) - {ident}

    @staticmethod
    def split(text):
        """{name: set of (hi, lo)}; a name without bits has none."""
        words = defaultdict(set)
        for m in TOKEN.finditer(expand(text)):
            word = m.group(0)
            bits = re.search(r"\[(\d+)(?::(\d+))?\]$", word)
            if bits:
                word = word[:bits.start()]
                words[word].add((int(bits.group(1)), int(bits.group(2) or bits.group(1))))
            words[re.sub(r"\[\d+\]", "[n]", word)]
        return words

    @staticmethod
    def addresses(text):
        numbers = set()
        for m in re.finditer(r"\b0x([0-9A-Fa-f]{3,4})(?:\s*(?:\.\.|-|to)\s*0x([0-9A-Fa-f]{3,4}))?\b", text):
            lo = int(m.group(1), 16)
            hi = int(m.group(2), 16) if m.group(2) else lo
            numbers.update(range(lo, min(hi, lo + 255) + 1))
        return numbers


# -- what names an item ----------------------------------------------------------------------------


class Names:
    """Words to items: `any` counts in all texts of the machine, `area[A]` only in texts of that area."""

    def __init__(self):
        self.any, self.area = defaultdict(set), defaultdict(lambda: defaultdict(set))
        self.family, self.area_family = defaultdict(set), defaultdict(set)  # starts of mnemonics
        self.bits = defaultdict(list)      # CSR word -> (hi, lo, field item)
        self.numbers = defaultdict(set)
        self.together = defaultdict(lambda: defaultdict(set))  # word -> word: both must be there
        self.bare = defaultdict(set)       # members by their names alone
        self.phrases = defaultdict(set)    # several words, in small letters
        self.prefixes = defaultdict(set)   # for words that end with *

    def of(self, text, parts=2):
        """What the first of its parts that names anything names."""
        for words, numbers, whole in text.parts[:parts]:
            found = self.in_words(text, words)
            for phrase, items in self.phrases.items():
                if phrase in whole:
                    found |= items
            if text.machine == "xphmg":
                for number in numbers:
                    found |= self.numbers.get(number, set())
            found |= self.bare_members(words, {i.key[0] for i in found if i.kind == "structure"})
            if found:
                return found
        return set()

    def bare_members(self, words, structures):
        found = set()
        for word in words:
            here = self.bare.get(word, set())
            found |= {i for i in here if i.key[0] in structures} or here
        return found

    def in_words(self, text, words):
        found = set()
        fold = (lambda w: w) if text.machine == "tile" else (lambda w: w.lower())
        for word, bits in words.items():
            for key in {word, "~" + fold(word)} | ({"~" + word.upper()} if "." in word else set()):
                found |= self.any.get(key, set()) | self.area[text.area].get(key, set())
            if word.endswith("*") and len(word) > 3:
                for name, items in self.prefixes.items():
                    if name.startswith(fold(word[:-1]).rstrip(".")):
                        found |= items
            for second, items in self.together[word].items() if word in self.together else ():
                if second in words:
                    found |= items
            for hi, lo in bits:
                found |= {field for h, l, field in self.bits.get(word, []) if l <= hi and h >= lo}
        return found


def name_insn(names, item, row):
    """`~` marks mnemonics: they compare without case, except on the tile machine."""
    full = row.mnemonic if row.isa == "tile" else row.mnemonic.lower()
    parts = full.split(".")
    base = row.path.startswith("rv64.")
    if base and len(parts) == 1 and not full.startswith("csrr"):
        return  # `and`, `or`, `fence`
    names.any["~" + full].add(item)
    names.prefixes[full].add(item)
    if base:
        return
    for n in range(1, len(parts)):
        family = ".".join(parts[:n])
        if n > 1 or family not in FIRST_WORDS:
            names.family["~" + family].add(item)
    area = AREA_OF_EXTENSION.get(row.extension)
    if area and len(parts) > 1:
        names.area[area][".".join(parts[1:]).upper()].add(item)
        for n in range(2, len(parts)):
            names.area_family[(area, ".".join(parts[1:n]).upper())].add(item)
        if len(parts[-1]) > 3 and parts[-1].isalpha():
            names.area[area][parts[-1].upper()].add(item)
    for o in row.operands:
        for symbol, _ in o.symbols:
            if area and len(symbol) > 3 and symbol.isupper() and "_" in symbol:
                names.area[area][symbol].add(item)


def name_csr(names, item, csr, fields):
    tile = csr["isa"] == "tile"
    name = re.sub(r"\d+\.\.\d+$", "", csr["name"])
    parts = name.split(".")
    shorts = {name} if tile else {".".join(parts[n:]) for n in range(len(parts))}
    alone = {s for s in shorts if s not in CSR_NOT_ALONE and s not in CSR_SENTENCE_WORDS and len(s) > 2}
    for s in alone:
        names.any[s].add(item)
        if csr["count"] > 1 and "[" not in s:
            for k in range(csr["first"], csr["first"] + csr["count"]):
                names.any["%s%d" % (s, k)].add(item)
    for k in range(csr["count"]):
        names.numbers[csr["number"] + k * csr["stride"]].add(item)
    if csr["alias"]:
        names.numbers[csr["alias"]].add(item)
    for field, f in zip(fields, csr["fields"]):
        if f["name"].lower() in ("rsv", "reserved"):
            continue
        for s in shorts if len(parts) < 2 or tile else {x for x in shorts if x not in ("RT", "CAP")}:
            names.any["%s.%s" % (s, f["name"])] |= {field, item}
            names.bits[s].append((f["hi"], f["lo"], field))
        for s in alone | ({name} if tile else set()):
            for bare in {f["name"]} | ({f["name"].lower()} if "_" in f["name"] else set()):
                names.together[s][bare].add(field)


def name_bare_fields(names, spec, fields):
    """A field by its name alone, where at most three registers of the area's tables have it."""
    by_name = defaultdict(list)
    for (c, _), item in fields.items():
        csr = spec.csrs[c]
        by_name[(csr["isa"], item.name.rsplit(".", 1)[1])].append((csr, item))
    for (isa, bare), found in by_name.items():
        if bare in FIELD_NOT_ALONE or not bare.isupper() and "_" not in bare or len(bare) < 2:
            continue
        for areas in {AREAS_OF_CSR_FILE.get(csr["path"]) for csr, _ in found if csr["path"] != BASE_CSR}:
            here = [item for csr, item in found if AREAS_OF_CSR_FILE.get(csr["path"]) == areas]
            if len(here) <= 3:
                for table in [names.area[a] for a in areas] if areas else [names.any]:
                    table[bare] |= set(here)


def name_structure(names, item, members):
    """Queue is a word of a sentence; BVHNode4, TriRange and RSTATE are not."""
    short = re.sub("^%s_" % item.machine, "", item.name, flags=re.I)
    for name in {item.name, short}:
        if re.search(r".[A-Z0-9_]", name):
            names.any[name].add(item)
    if item.machine == "gfx12" and "_" in short:
        names.phrases[short.lower().replace("_", " ")].add(item)
    for member in members:
        bare = member.name.split(".", 1)[1]
        names.any[member.name].add(member)
        names.any["%s.%s" % (short, bare)].add(member)
        if "_" in bare:
            names.bare[bare].add(member)
        else:
            for name in (item.name, short):
                names.together[name][bare].add(member)


# -- links -----------------------------------------------------------------------------------------


class Links:
    """Sets item.requirements and item.resolutions (IDs) of every item."""

    def __init__(self, spec, items):
        self.spec, self.items = spec, items
        self.by_key = {(i.kind, i.machine) + i.key: i for i in items}
        self.fields = {i.key: i for i in items if i.kind == "field"}
        self.names = {m: Names() for m in ("xphmg", "tile", "gfx12")}
        self.name_all()
        self.touched = {}
        self.texts = [Text(r["id"], "%s (%s)" % (r["requirement"], r["section"]), r["observable"]) for r in spec.requirements]
        self.texts += [Text(r["id"], r["title"] + "\n" + r["text"]) for r in spec.resolutions]
        spoken_for = self.read_rows()
        for text in self.texts:
            parts = 1 if text.id in spoken_for else 2
            self.touched[text.id] = self.closed(self.names[text.machine].of(text, parts))
        self.direct = {ident: set(found) for ident, found in self.touched.items()}
        self.read_sources()
        self.read_touches()
        for ident, found in self.touched.items():
            for item in found:
                (item.resolutions if ident.startswith("R-") else item.requirements).add(ident)
        self.link_rows()
        self.link_sections()

    def name_all(self):
        spec = self.spec
        for item in self.items:
            names = self.names.get(item.machine)
            if item.kind == "instruction" and item.machine != "gfx12":
                name_insn(names, item, spec.insns[item.machine][item.key[0]])
            elif item.kind == "instruction":
                call = spec.unit_insns[item.key[0]]["semantics"].split("(")[0]
                for word in (item.name, call):
                    names.any["~" + word].add(item)
                    names.prefixes[word].add(item)
            elif item.kind == "alias" and (item.machine == "tile" and len(item.name) > 1 or "." in item.name):
                names.any["~" + (item.name if item.machine == "tile" else item.name.lower())].add(item)
            elif item.kind == "csr":
                csr = spec.csrs[item.key[0]]
                name_csr(names, item, csr, [self.fields[(item.key[0], f)] for f in range(len(csr["fields"]))])
            elif item.kind == "structure":
                name_structure(names, item, [i for i in self.items if i.kind == "member" and i.key[0] == item.key[0]])
        for isa in ("xphmg", "tile"):
            names = self.names[isa]
            name_bare_fields(names, spec, {k: i for k, i in self.fields.items() if i.machine == isa})
            for family, items in names.family.items():
                # xmem.ldg stands for its rows; GFX.SAMPLE is a row, and GFX.SAMPLE.GATH another.
                if isa == "tile" or family not in names.any:
                    names.any[family] |= items
            for (area, family), items in names.area_family.items():
                if family not in names.area[area]:
                    names.area[area][family] |= items

    def closed(self, found):
        """A field touches its register, a member its structure."""
        more = set(found)
        for item in found:
            if item.kind in ("field", "member"):
                more.add(self.by_key[("csr" if item.kind == "field" else "structure", item.machine, item.key[0], 0)])
        return more

    def read_sources(self):
        for item in self.items:
            if item.kind in ("structure", "member"):
                layout = self.spec.layouts[item.key[0]]
                source = layout.source if item.kind == "structure" else layout.members[item.key[1]].cells["source"]
                for ident in ID.findall(source):
                    if ident in self.touched:
                        self.touched[ident] |= self.closed({item})

    def read_rows(self):
        """The rows of touches.tsv as (line, IDs, pattern texts, whole section); returns the IDs that have a row of their own.

        A row speaks of one requirement or resolution, of a span of them (`TILE-373..375`), or of all requirements of a
        section (`DOCUMENT: 7.1`) that name no instruction or structure themselves."""
        spec = self.spec
        known = {r["id"] for r in spec.requirements} | {r["id"] for r in spec.resolutions}
        self.rows, own = [], set()
        for n, r in spec.rows("touches.tsv", ["id", "touches"]):
            document, _, section = r["id"].rpartition(": ")
            span = re.match(r"((?:R-)?[A-Z0-9]+-)(\d+)\.\.(\d+)$", r["id"])
            if document:
                idents = [q["id"] for q in spec.requirements
                          if document in q["source"].split(", ") and q["section"] == section]
            elif span:
                idents = ["%s%0*d" % (span.group(1), len(span.group(2)), i)
                          for i in range(int(span.group(2)), int(span.group(3)) + 1)]
            else:
                idents = [r["id"]]
            if not idents or not known.issuperset(idents):
                spec.say("touches.tsv", n, "%s is not a requirement, resolution or section" % r["id"])
                continue
            self.rows.append((n, idents, r["touches"].split(), bool(document)))
            own.update(() if document else idents)
        return own

    def read_touches(self):
        for n, idents, patterns, section in sorted(self.rows, key=lambda row: row[3]):  # rows of their own first
            found = set()
            for pattern in patterns:
                regex = re.compile(re.escape(pattern).replace(r"\*", ".*") + "$", re.I)
                here = {i for i in self.items if i.machine == machine_of(idents[0]) and regex.match(i.name)}
                found |= here
                if not here:
                    self.spec.say("touches.tsv", n, "%s: nothing is called '%s'" % (idents[0], pattern))
            for ident in idents:
                if not section or not any(i.kind in ("instruction", "structure") for i in self.touched[ident]):
                    self.touched[ident] |= self.closed(found)

    def link_rows(self):
        """Requirement and resolution rows among themselves: who cites whom, and who speaks of the same few things."""
        rows = {i.name: i for i in self.items if i.kind in ("requirement", "resolution")}
        fine = {ident: {i for i in found if i.kind != "csr" or not any(
                    f.kind == "field" and f.key[0] == i.key[0] and f.machine == i.machine for f in found)}
                for ident, found in self.direct.items()}
        users = defaultdict(set)
        for ident, found in fine.items():
            if ident.startswith("R-"):
                for item in found:
                    users[item].add(ident)
        for text in self.texts:
            me = rows[text.id]
            related = {i for i in text.ids if i in rows}
            if not text.id.startswith("R-"):
                for item in fine[text.id]:
                    if len(users[item]) <= 12:
                        related |= users[item]
            for other in related:
                for a, b in ((me, rows[other]), (rows[other], me)):
                    (a.resolutions if b.kind == "resolution" else a.requirements).add(b.name)

    def link_sections(self):
        """A heading names what its section is about; a section cites rows by their IDs."""
        areas = {"numeric.md": "CAP", "rt-semantics.md": "RT", "gfx-semantics.md": "GFX", "tile-semantics.md": "TILE",
                 "gfx12-semantics.md": "G12"}
        rows = {i.name: i for i in self.items if i.kind in ("requirement", "resolution")}
        for item in [i for i in self.items if i.kind == "section"]:
            section = self.spec.sections[item.key[0]]
            heading = Text("%s-000" % areas[section["path"]], section["title"])
            for found in self.names[item.machine].of(heading) if item.machine in self.names else ():
                found.sections.add(item.key[0])
            for ident in set(ID.findall(section["title"] + "\n" + section["text"])) & set(rows):
                (item.resolutions if rows[ident].kind == "resolution" else item.requirements).add(ident)
                rows[ident].sections.add(item.key[0])
