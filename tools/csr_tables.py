"""What the columns legal, needs and place of spec/*.csr.tsv say: read and checked here, and turned into C.

For each instruction set one header with the registers' storage (FACET_STORE_...), the values that they take
(facet_visible_..., facet_legal_...) and one line per register for the table that the machine reads and writes
them by (FACET_XPHMG_CSRS). A register with place `code` or `window` is there with the names of its functions:
without them the program does not link. The grammar of the cells is in spec/README.md, section *CSR rows*."""
import re

VALUE = re.compile(r"(\d+)(?:\.\.(\d+))?$")
NAMED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(\d+)$")
LIMIT = re.compile(r"0\.\.([A-Z][A-Za-z0-9_.]*\.[A-Za-z0-9_]+)$")
PATH = re.compile(r"([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*)(?:\[([^\]]+)\])?$")
PLAIN = re.compile(r"(const|none|xisel|(?:code|window)(?: ([a-z][a-z0-9_]*))?)$")
SET_BITS = 64  # values of a set are bits of one word


def identifier(name):
    """CAP.PREC.MODE is CAP_PREC_MODE in C; a family ZPTAB0..31 goes by the name of its first register."""
    return re.sub(r"[^A-Z0-9]", "_", re.sub(r"\.\.\d+$", "", name).upper())


def mask_of(field):
    return (2 << field["hi"]) - (1 << field["lo"])


class Legal:
    """Values of a field: `values` (None: all that fit), `limit` (register, field) or None, what an illegal one becomes."""

    def __init__(self):
        self.values, self.limit, self.other, self.keeps = None, None, 0, False
        self.joined = None  # a field whose bits are above those of this one
        self.names = []


def read_legal(text, field):
    """Returns (Legal, None) or (None, complaint)."""
    legal = Legal()
    if text == "-":
        return legal, None
    words = text.split(" ")
    if len(words) > 2 and words[-2] == "else":
        if words[-1] == "old":
            legal.keeps = True
        elif words[-1].isdigit():
            legal.other = int(words[-1])
        else:
            return None, "cannot read 'else %s'" % words[-1]
        words = words[:-2]
    if ":" in words[0]:
        legal.joined, _, own = words[0].partition(":")
        if own != field["name"] or len(words) == 1:
            return None, "cannot read legal '%s'" % text
        words = words[1:]
    m = LIMIT.match(words[0])
    if m and len(words) == 1:
        legal.limit = tuple(m.group(1).rsplit(".", 1))
        return legal, None
    legal.values = set()
    for word in words:
        m = NAMED.match(word)
        if m:
            if m.group(1) in [n for n, _ in legal.names]:
                return None, "value %s twice" % m.group(1)
            legal.names.append((m.group(1), int(m.group(2))))
            legal.values.add(int(m.group(2)))
            continue
        for part in word.split(",") if len(words) == 1 else [""]:
            m = VALUE.match(part)
            if not m:
                return None, "cannot read legal '%s'" % text
            legal.values.update(range(int(m.group(1)), int(m.group(2) or m.group(1)) + 1))
    if not legal.values:
        return None, "legal '%s' has no values" % text
    return legal, None


def read_needs(text):
    """(features as (register, field), unit or None, for M-mode only), or None when the text cannot be read."""
    features, unit, machine = [], None, False
    for word in [] if text == "-" else text.split("+"):
        name, mark = (word[:-1], True) if word.endswith("!") else (word, False)
        if name == "M" and mark:
            machine = True
        elif "." not in name or (mark and unit):
            return None
        elif mark:
            unit = tuple(name.rsplit(".", 1))
        else:
            features.append(tuple(name.rsplit(".", 1)))
    return features, unit, machine


class Rules:
    """Reads the three cells of every field into csr["fields"][i] and what they come to into the csr."""

    def __init__(self, spec):
        self.spec = spec
        self.by_name = {(c["isa"], c["name"]): c for c in spec.csrs}

    def say(self, csr, field, what):
        self.spec.say(csr["path"], field["line"], "%s.%s: %s" % (csr["name"], field["name"], what))

    def field(self, isa, ref):
        csr = self.by_name.get((isa, ref[0]))
        return csr, next((f for f in csr["fields"] if f["name"] == ref[1]), None) if csr else None

    def read(self):
        for csr in self.spec.csrs:
            csr.update(unit=None, machine=False, views=[], kind=None, where=None)
            for f in csr["fields"]:
                self.read_field(csr, f)
        if not self.spec.findings:
            for csr in self.spec.csrs:
                self.finish(csr)

    def read_field(self, csr, f):
        f["rule"], complaint = read_legal(f["legal"], f)
        if complaint:
            self.say(csr, f, complaint)
            return
        needs = read_needs(f["needs"])
        if needs is None:
            self.say(csr, f, "cannot read needs '%s'" % f["needs"])
            return
        f["features"], f["unit"], f["machine"] = needs
        f["view"] = tuple(f["place"][1:].rsplit(".", 1)) if re.match(r"=.+\..+$", f["place"]) else None
        if not f["view"] and not PLAIN.match(f["place"]) and not PATH.match(f["place"]):
            self.say(csr, f, "cannot read place '%s'" % f["place"])

    def finish(self, csr):
        for f in csr["fields"]:
            self.check_legal(csr, f)
            for ref in f["features"] + ([f["unit"]] if f["unit"] else []):
                self.check_feature(csr, f, ref, 1)
            if (f["unit"], f["machine"]) != (csr["fields"][0]["unit"], csr["fields"][0]["machine"]):
                self.say(csr, f, "needs %s, but the register's first field needs %s"
                         % (f["needs"], csr["fields"][0]["needs"]))
        csr["unit"], csr["machine"] = csr["fields"][0]["unit"], csr["fields"][0]["machine"]
        self.find_place(csr)

    def check_feature(self, csr, f, ref, bits):
        owner, feature = self.field(csr["isa"], ref)
        if feature is None:
            self.say(csr, f, "there is no field %s.%s" % ref)
        elif not feature["place"].startswith("config."):
            self.say(csr, f, "%s.%s is not decided by the configuration" % ref)
        elif bits and feature["hi"] - feature["lo"] + 1 != bits:
            self.say(csr, f, "%s.%s is not one bit" % ref)

    def check_legal(self, csr, f):
        rule, width = f["rule"], f["hi"] - f["lo"] + 1
        if rule.joined:
            _, above = self.field(csr["isa"], (csr["name"], rule.joined))
            if above is None or above["lo"] <= f["hi"]:
                self.say(csr, f, "no field '%s' above it" % rule.joined)
                return
            rule.mask = mask_of(f) | mask_of(above)
            rule.above = above
            width += above["hi"] - above["lo"] + 1
        else:
            rule.mask, rule.above = mask_of(f), None
        if rule.limit:
            self.check_feature(csr, f, rule.limit, 0)
        if rule.values is None:
            return
        if max(rule.values) >> width or max(rule.values) >= SET_BITS or rule.other >> width:
            self.say(csr, f, "legal '%s' does not fit" % f["legal"])
        elif not rule.keeps and rule.other not in rule.values:
            self.say(csr, f, "an illegal value becomes %d, which is not legal" % rule.other)
        elif f["reset"] not in rule.values:
            self.say(csr, f, "reset %s is not legal" % f["reset_text"])

    def find_place(self, csr):
        """One place for the whole register; fields that are views, and constant ones beside them, apart."""
        for f in csr["fields"]:
            if f["view"]:
                self.find_view(csr, f)
            elif csr["kind"] is None or (csr["kind"] == "const" and csr["views"]):
                self.set_place(csr, f)
            elif f["place"] != csr["place"] and f["place"] != "const":
                self.say(csr, f, "place %s, but %s above" % (f["place"], csr["place"]))
        if csr["kind"] in (None, "const") and csr["views"]:
            csr["kind"] = "view"

    def set_place(self, csr, f):
        csr["place"] = f["place"]
        if PLAIN.match(f["place"]):
            csr["kind"], _, csr["where"] = f["place"].partition(" ")
            if csr["kind"] in ("code", "window"):
                csr["where"] = (csr["where"] or identifier(csr["name"])).upper()
        else:
            path, index = PATH.match(f["place"]).groups()
            csr["kind"], csr["where"], csr["select"] = "store", f["place"], None
            if path.startswith("config."):
                csr["kind"] = "config"
            elif index and not index.isdigit():
                csr["where"], csr["select"] = path, self.field(csr["isa"], tuple(index.rsplit(".", 1)))
                if csr["select"][1] is None:
                    self.say(csr, f, "there is no field %s" % index)
        if csr["kind"] in ("const", "config") and any(
                x["access"] != "RO" and x["rule"].values != {0} and not x["view"] for x in csr["fields"]):
            self.say(csr, f, "place %s, but a field can be written" % f["place"])

    def find_view(self, csr, f):
        target, field = self.field(csr["isa"], f["view"])
        if field is None:
            self.say(csr, f, "there is no field %s.%s" % f["view"])
        elif field["hi"] - field["lo"] != f["hi"] - f["lo"]:
            self.say(csr, f, "%s.%s has another number of bits" % f["view"])
        elif field["view"]:
            self.say(csr, f, "%s.%s is a view itself" % f["view"])
        else:
            shift = f["lo"] - field["lo"]
            for view in csr["views"]:  # neighbours that move together are one piece
                if view["target"] is target and view["shift"] == shift:
                    view["mask"] |= mask_of(f)
                    return
            csr["views"].append(dict(target=target, shift=shift, mask=mask_of(f)))


# ---- masks by access kind ----


def bits(csr, *kinds):
    """Bits of the fields with these access kinds, without those that can only be 0."""
    return sum(mask_of(f) for f in csr["fields"] if f["access"] in kinds and f["rule"].values != {0})


def writable(csr):
    return bits(csr, "RW", "WARL")


def reset(csr):
    return sum(f["reset"] << f["lo"] for f in csr["fields"])


# ---- C ----


def config_registers(spec, isa):
    return [c for c in spec.csrs if c["isa"] == isa and c["kind"] == "config"]


def word(member):
    return "FACET_CONFIG_%s" % member.split(".")[-1].upper()


def emit_storage(spec, isa, out):
    """FACET_STORE_RT: the members of the unit rt that are registers; FACET_MEMBER_RTCFG: the name of one."""
    ctype = "uint64_t" if isa == "xphmg" else "uint32_t"
    groups = {}
    for csr in spec.csrs:
        if csr["isa"] == isa and csr["kind"] in ("store", "config") and not csr["where"].endswith("]"):
            group, _, member = csr["where"].rpartition(".")
            count = csr["count"] if csr["count"] > 1 else 1 << csr["select"][1]["hi"] - csr["select"][1]["lo"] + 1 \
                if csr.get("select") else 0
            groups.setdefault(group, []).append("%s %s%s" % (ctype, member, "[%d]" % count if count else ""))
            out.append("#define FACET_MEMBER_%s %s" % (identifier(csr["name"]), member))
    out.append("")
    for group, members in groups.items():
        out.append("#define FACET_STORE_%s %s" % (identifier(group), "; ".join(members)))
    out.append("")
    if config_registers(spec, isa):
        out.append("/* The same registers of a configuration as an array of words. */")
        out.append("enum {")
        out.extend("    %s," % word(c["where"]) for c in config_registers(spec, isa))
        out.append("    FACET_CONFIG_WORDS\n};\n")


def feature_bits(rules, isa, refs):
    """C conditions: one per configuration register, true when a feature is absent."""
    masks = {}
    for ref in refs:
        csr, field = rules.field(isa, ref)
        masks[word(csr["where"])] = masks.get(word(csr["where"]), 0) | mask_of(field)
    return " || ".join("(config[%s] & 0x%X) != 0x%X" % (w, m, m) for w, m in masks.items())


def emit_visible(rules, csr, out):
    isa, name = csr["isa"], identifier(csr["name"])
    all_bits = sum(mask_of(f) for f in csr["fields"] if f["rule"].values != {0})
    absent = {}
    for f in csr["fields"]:
        if f["features"]:
            condition = feature_bits(rules, isa, f["features"])
            absent[condition] = absent.get(condition, 0) | mask_of(f)
    lines = ["    if (%s) {\n        bits &= ~UINT64_C(0x%X);\n    }" % item for item in absent.items()]
    if csr["unit"]:
        lines.append("    if (%s) {\n        bits = 0;\n    }" % feature_bits(rules, isa, [csr["unit"]]))
    out.append("static inline uint64_t facet_visible_%s(const uint64_t *config)" % name)
    out.append("{\n    uint64_t bits = UINT64_C(0x%X);\n" % all_bits)
    out.extend(lines or ["    (void)config;"])
    out.append("    return bits;\n}\n")


def field_value(rule, f):
    low = "(value >> %d & 0x%X)" % (f["lo"], (mask_of(f) >> f["lo"]))
    if not rule.above:
        return low
    above = rule.above
    return "(%s | (value >> %d & 0x%X) << %d)" % (
        low, above["lo"], mask_of(above) >> above["lo"], f["hi"] - f["lo"] + 1)


def emit_legal(rules, csr, out):
    name, checks = identifier(csr["name"]), []
    for f in csr["fields"]:
        rule, value = f["rule"], field_value(f["rule"], f)
        width = bin(rule.mask).count("1")
        if f["access"] not in ("RW", "WARL") or rule.values == {0} or (rule.limit is None and (
                rule.values is None or len(rule.values) == 1 << width)):
            continue
        if rule.limit:
            owner, field = rules.field(csr["isa"], rule.limit)
            test = "%s > ((config[%s] & facet_visible_%s(config)) >> %d & 0x%X)" % (
                value, word(owner["where"]), identifier(owner["name"]), field["lo"], mask_of(field) >> field["lo"])
        else:
            test = "(UINT64_C(0x%X) >> %s & 1) == 0" % (sum(1 << v for v in rule.values), value)
            if width > 6:
                test = "%s > 63 || %s" % (value, test)
        other = "old & UINT64_C(0x%X)" % rule.mask if rule.keeps else "UINT64_C(0x%X)" % (rule.other << f["lo"])
        checks.append("    if (%s) {\n        value = (value & ~UINT64_C(0x%X)) | (%s);\n    }" % (test, rule.mask, other))
    out.append("static inline uint64_t facet_legal_%s(const uint64_t *config, uint64_t old, uint64_t value)" % name)
    out.append("{\n    (void)old;")
    out.append("    value &= UINT64_C(0x%X);" % writable(csr))
    out.extend(checks)
    out.append("    return value & facet_visible_%s(config);\n}\n" % name)


def table_line(spec, rules, csr):
    """NAME, row, root of the state, kind and where, unit that must be present, M-mode only."""
    where = csr["where"] or "0"
    if csr["isa"] == "tile":
        root = "MACHINE" if where.startswith("machine.") else "CORE"
    else:
        root = "HART" if csr["path"] == "rv64.csr.tsv" else "UNITS"
    where = re.sub(r"^(hart|core|machine|config)\.", "", where)
    kind = csr["kind"].upper()
    if kind == "STORE" and csr.get("select"):
        kind = "BANKED"
    elif kind == "STORE" and csr["count"] > 1:
        kind = "FAMILY"
    if kind in ("CODE", "WINDOW") and not bits(csr, "RW", "WARL", "W1C", "WC", "W1A"):
        kind += "_RO"
    unit = "0, 0"
    if csr["unit"]:
        owner, field = rules.field(csr["isa"], csr["unit"])
        unit = "%s, UINT64_C(0x%X)" % (word(owner["where"]), mask_of(field))
    return "X(%s, %d, %s, %s, %s, %s, %d)" % (
        identifier(csr["name"]), spec.csrs.index(csr), root, kind, where, unit, csr["machine"])


def emit_rules_header(spec, rules, isa, out):
    own = [c for c in spec.csrs if c["isa"] == isa]
    first = config_registers(spec, isa)
    out.append("/* Made by tools/gen_tables.py from spec/ *.csr.tsv: what the %s registers hold, and where. */" % isa)
    out.append("#ifndef FACET_CONTRACT_%s_CSR_RULES_H" % isa.upper())
    out.append("#define FACET_CONTRACT_%s_CSR_RULES_H\n" % isa.upper())
    out.append('#include "contract/%s_csrs.h"\n' % isa)
    out.append("/* facet_visible: bits that exist with the features of a configuration. facet_legal: what a write of RW and")
    out.append(" * WARL fields stores, from the old and the written value. */")
    for csr in first + [c for c in own if c not in first]:
        emit_visible(rules, csr, out)
        emit_legal(rules, csr, out)
    out.append("/* One line per register: X(name, row, root, kind, where, word and bits of its unit, M-mode only). */")
    out.append("#define FACET_%s_CSR_FIRST %d" % (isa.upper(), spec.csrs.index(own[0])))
    out.append("#define FACET_%s_CSRS(X) \\" % isa.upper())
    out.append(" \\\n".join("    " + table_line(spec, rules, c) for c in own) + "\n")
    out.append("#endif")


PLACES = {"store": "STORE", "config": "CONFIG", "const": "CONST", "code": "CODE", "window": "WINDOW", "view": "VIEW",
          "none": "NONE", "xisel": "XISEL"}


def row_cells(spec, csr):
    """The members of struct facet_csr_row that come from these columns."""
    views = ", ".join("{UINT64_C(0x%X), %d, %d}" % (v["mask"], v["shift"], spec.csrs.index(v["target"]))
                      for v in csr["views"])
    select = csr.get("select") or (None, None)
    return (".place = FACET_PLACE_%s, .reset = UINT64_C(0x%X), .writable = UINT64_C(0x%X), .w1c = UINT64_C(0x%X), "
            ".wc = UINT64_C(0x%X), .w1a = UINT64_C(0x%X), .view_count = %d, .views = %s, .select_row = %d, "
            ".select_mask = UINT64_C(0x%X)" % (
                PLACES[csr["kind"]], reset(csr), writable(csr), bits(csr, "W1C"), bits(csr, "WC"), bits(csr, "W1A"),
                len(csr["views"]), "(const struct facet_csr_view[]){%s}" % views if views else "NULL",
                spec.csrs.index(select[0]) if select[0] else 0, mask_of(select[1]) if select[1] else 0))


def emit_numbers(spec, isas, out):
    """CSR number -> row in two steps: a page for the upper bits, in it row + 1 for the lower eight."""
    pages, first = [[0] * 256], {}
    for isa in isas:
        first[isa] = [0] * 256
        for i, csr in enumerate(spec.csrs):
            if csr["isa"] != isa:
                continue
            numbers = [csr["number"] + k * csr["stride"] for k in range(csr["count"])]
            for number in numbers + ([csr["alias"]] if csr["alias"] else []):
                if not first[isa][number >> 8]:
                    first[isa][number >> 8] = len(pages)
                    pages.append([0] * 256)
                pages[first[isa][number >> 8]][number & 255] = i + 1
    out.append("const uint16_t facet_csr_pages[][256] = {")
    out.extend("    {%s}," % ", ".join(map(str, page)) for page in pages)
    out.append("};")
    out.append("const uint8_t facet_csr_page[FACET_ISA_COUNT][256] = {")
    out.extend("    {%s}," % ", ".join(map(str, first[isa])) for isa in isas)
    out.append("};")
