"""Reads the tables of spec/ and checks them; gen_tables.py makes C from the result.

The formats are described in spec/README.md. Every complaint names file and line. What is checked
here is what the generated decoder, assembler, printer and CSR files rely on: masks, fields, operand
kinds, conditions, pairwise disjoint rows, unique addresses and names. Nothing is guessed: an operand
that operands.tsv does not describe, or a field that no reader knows, is an error."""
import fnmatch
import glob
import os
import re
from collections import OrderedDict

import csr_tables
import layout_tables

INSN_FILES = OrderedDict([
    ("xphmg", ["rv64.insn.tsv", "pmask-xmem.insn.tsv", "rt-rsv.insn.tsv", "gfx-mtx.insn.tsv"]),
    ("tile", ["tile.insn.tsv"]),
])
CSR_FILES = OrderedDict([
    ("xphmg", ["rv64.csr.tsv", "cap.csr.tsv", "gfx.csr.tsv", "rt.csr.tsv"]),
    ("tile", ["tile.csr.tsv"]),
])
CSR_WIDTH = {"xphmg": 64, "tile": 32}

INSN_COLUMNS = ["mnemonic", "mask", "match", "syntax", "fields", "semantics"]
OPERAND_COLUMNS = ["isa", "rows", "operand", "kind", "codec", "field", "symbols", "second", "default",
                   "print", "meaning"]
ALIAS_COLUMNS = ["isa", "mnemonic", "operands", "expansion", "note"]
EXTENSION_COLUMNS = ["isa", "file", "rows", "extension", "title"]
CSR_COLUMNS = ["csr", "addr", "field", "bits", "access", "reset", "legal", "needs", "place", "meaning"]
REQUIREMENT_COLUMNS = ["id", "level", "source", "section", "requirement", "observable"]

KINDS = ["xreg", "xreg_c", "freg", "freg_c", "xfreg", "sreg", "tfreg", "vreg", "creg", "uimm", "simm",
         "pcrel", "csr", "enum", "flags", "letters", "pcrel_u", "sp"]
SIGNED_KINDS = ("simm", "pcrel")
SYMBOL_KINDS = ("enum", "flags", "letters")
REGISTER_BITS = {"xreg": 5, "xreg_c": 3, "freg": 5, "freg_c": 3, "xfreg": 5, "sreg": 5, "tfreg": 5,
                 "vreg": 5, "creg": 5, "sp": 0}
CODECS = ["plain", "minus_one", "step", "modulo", "high20"]
PRINTS = {"-": "plain", "hex": "hex", "number": "number"}
ACCESS = ["RO", "RW", "W1C", "WARL", "W1A", "WC"]
LEVELS = ["MUST", "SHOULD", "MAY", "DEF", "DEP"]
RULE_COLUMNS = ["id", "severity", "radv", "gpurt", "hiprt", "requirement", "title", "rule"]
SEVERITIES = ("note", "warning", "error")

FIELD = re.compile(r"([A-Za-z0-9_]+)(?:\.(\d+)_(\d+))?\[(\d+)(?::(\d+))?\](?:!=(\d+(?:,\d+)*))?$")
WORD = re.compile(r"0x[0-9a-fA-F]+$")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")


class Piece:
    def __init__(self, word_lo, width, value_lo):
        self.word_lo, self.width, self.value_lo = word_lo, width, value_lo

    def bits(self):
        return ((1 << self.width) - 1) << self.word_lo


class Operand:
    """One operand of a row, or a field that the syntax does not show."""

    def __init__(self, name):
        self.name = name
        self.pieces = []
        self.forbidden = []  # field values that are not legal
        self.kind, self.codec = "uimm", "plain"
        self.hidden = True
        self.optional = self.keyed = self.brief = False
        self.default = 0
        self.symbols = []
        self.second = None
        self.print = "plain"
        self.meaning = ""

    def word_bits(self):
        bits = 0
        for p in self.pieces:
            bits |= p.bits()
        return bits

    def width(self):
        return max((p.value_lo + p.width for p in self.pieces), default=0)

    def align(self):
        return min((p.value_lo for p in self.pieces), default=0)

    def place(self, value):
        word = 0
        for p in self.pieces:
            word |= ((value >> p.value_lo) & ((1 << p.width) - 1)) << p.word_lo
        return word


class Insn:
    def __init__(self, isa, path, line, cells):
        self.isa, self.path, self.line = isa, path, line
        self.mnemonic = cells["mnemonic"]
        self.syntax, self.fields, self.semantics = cells["syntax"], cells["fields"], cells["semantics"]
        self.mask_text, self.match_text = cells["mask"], cells["match"]
        self.mask = self.match = 0
        self.length = 4
        self.operands, self.items = [], []
        self.suffix = -1
        self.extension = ""
        self.id = -1

    def conditions(self):
        """(mask, value) pairs that a legal word must not equal."""
        out = []
        for o in self.operands:
            for value in o.forbidden:
                out.append((o.word_bits(), o.place(value)))
        return out


class Spec:
    def __init__(self, folder):
        self.folder = folder
        self.findings = []
        self.insns = OrderedDict((isa, []) for isa in INSN_FILES)
        self.aliases = OrderedDict((isa, []) for isa in INSN_FILES)
        self.operand_rules, self.extension_rules = [], []
        self.csrs, self.requirements, self.resolutions, self.documents = [], [], [], []
        self.layouts, self.unit_insns, self.sections, self.rules = [], [], [], []

    def say(self, path, line, what):
        self.findings.append("%s:%d: %s" % (path, line, what))

    def read(self):
        self.read_operand_rules()
        self.read_extension_rules()
        for isa, files in INSN_FILES.items():
            for path in files:
                self.read_insns(isa, path)
            self.finish_insns(isa)
        self.read_unit_insns("gfx12.insn.tsv")
        self.read_aliases()
        for isa, files in CSR_FILES.items():
            for path in files:
                self.read_csrs(isa, path)
        self.check_csr_addresses()
        self.csr_rules = csr_tables.Rules(self)
        self.csr_rules.read()
        self.documents = [r for _, r in self.rows("documents.tsv", layout_tables.DOCUMENT_COLUMNS)]
        self.read_requirements()
        self.read_resolutions()
        self.read_rules("gfx12.rules.tsv")
        self.check_citations()
        self.read_sections()
        self.layouts = layout_tables.read(self)
        return not self.findings

    # -- cells -------------------------------------------------------------------------------------

    def rows(self, path, columns, required=True):
        full = os.path.join(self.folder, path)
        if not os.path.exists(full):
            if required:
                self.say(path, 1, "file is missing")
            return
        with open(full, encoding="utf-8") as f:
            lines = f.read().split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        if not lines or lines[0].split("\t") != columns:
            self.say(path, 1, "header must be: " + " ".join(columns))
            return
        for n, text in enumerate(lines[1:], 2):
            cells = text.split("\t")
            if len(cells) != len(columns):
                self.say(path, n, "%d cells, expected %d" % (len(cells), len(columns)))
                continue
            yield n, dict(zip(columns, cells))

    # -- instruction rows --------------------------------------------------------------------------

    def read_operand_rules(self):
        path = "operands.tsv"
        for n, r in self.rows(path, OPERAND_COLUMNS):
            kind, codec = r["kind"], r["codec"]
            scale = 0
            m = re.match(r"x(2|4|8|16)$", codec)
            if m:
                scale, codec = int(m.group(1)).bit_length() - 1, "plain"
            if r["isa"] not in INSN_FILES:
                self.say(path, n, "unknown isa '%s'" % r["isa"])
                continue
            if kind not in KINDS:
                self.say(path, n, "unknown kind '%s', expected one of %s" % (kind, " ".join(KINDS)))
                continue
            if codec not in CODECS:
                self.say(path, n, "unknown codec '%s', expected one of %s x2 x4 x8 x16"
                         % (codec, " ".join(CODECS)))
                continue
            if r["print"] not in PRINTS:
                self.say(path, n, "unknown print '%s', expected one of %s" % (r["print"], " ".join(PRINTS)))
                continue
            symbols = self.symbols_of(path, n, r["symbols"])
            if (kind in SYMBOL_KINDS) != bool(symbols):
                self.say(path, n, "kind '%s' %s symbols" % (kind, "needs" if not symbols else "takes no"))
                continue
            self.operand_rules.append(dict(
                r, kind=kind, codec=codec, scale=scale, symbols=symbols, line=n, used=False,
                rows=r["rows"].split(), operand=r["operand"].split()))

    def symbols_of(self, path, line, text):
        out = []
        if text == "-":
            return out
        for token in text.split():
            m = re.match(r"([A-Za-z0-9_.]+)=(\d+)$", token)
            if not m:
                self.say(path, line, "cannot read symbol '%s', expected NAME=NUMBER" % token)
                continue
            if any(name.lower() == m.group(1).lower() for name, _ in out):
                self.say(path, line, "symbol '%s' twice" % m.group(1))
            out.append((m.group(1), int(m.group(2))))
        return out

    def read_extension_rules(self):
        for n, r in self.rows("extensions.tsv", EXTENSION_COLUMNS):
            self.extension_rules.append(dict(r, line=n, used=False, rows=r["rows"].split()))

    def extension_titles(self):
        """(name, title) of each extension, by name."""
        return sorted(set((r["extension"], r["title"]) for r in self.extension_rules))

    def read_insns(self, isa, path):
        for n, r in self.rows(path, INSN_COLUMNS):
            row = Insn(isa, path, n, r)
            if self.read_word(row) and self.read_fields(row) and self.read_syntax(row):
                self.check_bits(row)
                self.find_extension(row)
                self.insns[isa].append(row)

    def read_unit_insns(self, path):
        """Instructions of a unit that has no program of its own: words of several dwords, never decoded by table."""
        for n, r in self.rows(path, INSN_COLUMNS):
            mask, match = (int(r[k], 16) if WORD.match(r[k]) else -1 for k in ("mask", "match"))
            dwords, used = (len(r["mask"]) - 2) // 8, 0
            if len(r["mask"]) != len(r["match"]) or len(r["mask"]) not in (18, 26) or mask < 0 or match & ~mask:
                self.say(path, n, "%s: mask and match must be words of 16 or 24 hex digits" % r["mnemonic"])
                continue
            fields = []
            for token in r["fields"].split():
                m = re.match(r"([a-z0-9]+)\[(\d+):(\d+)\]$", token)
                bits = ((2 << int(m.group(2))) - (1 << int(m.group(3)))) if m else 0
                if bits <= 0 or bits >> 32 * dwords or bits & (used | mask):
                    self.say(path, n, "%s: cannot place field '%s'" % (r["mnemonic"], token))
                    break
                used |= bits
                fields.append((m.group(1), int(m.group(2)), int(m.group(3))))
            if used | mask != (1 << 32 * dwords) - 1:
                self.say(path, n, "%s: bits are neither fixed nor a field" % r["mnemonic"])
            self.unit_insns.append(dict(r, path=path, line=n, dwords=dwords, mask=mask, match=match, parts=fields))

    def read_word(self, row):
        for text in (row.mask_text, row.match_text):
            if not WORD.match(text) or len(text) not in (6, 10):
                self.say(row.path, row.line, "%s: '%s' is not a word of 4 or 8 hex digits"
                         % (row.mnemonic, text))
                return False
        if len(row.mask_text) != len(row.match_text):
            self.say(row.path, row.line, "%s: mask and match differ in length" % row.mnemonic)
            return False
        row.length = 2 if len(row.mask_text) == 6 else 4
        row.mask, row.match = int(row.mask_text, 16), int(row.match_text, 16)
        if row.match & ~row.mask:
            self.say(row.path, row.line, "%s: match has bits outside mask" % row.mnemonic)
            return False
        return True

    def read_fields(self, row):
        by_name = OrderedDict()
        for token in row.fields.split():
            if token == "-":
                continue
            m = FIELD.match(token)
            if not m:
                self.say(row.path, row.line, "%s: cannot read field '%s'" % (row.mnemonic, token))
                return False
            name, hi = m.group(1), int(m.group(4))
            lo = int(m.group(5)) if m.group(5) is not None else hi
            if hi >= 8 * row.length or lo > hi:
                self.say(row.path, row.line, "%s: field '%s' lies outside the word" % (row.mnemonic, token))
                return False
            value_lo = 0
            if m.group(2) is not None:
                value_lo = int(m.group(3))
                if int(m.group(2)) - value_lo != hi - lo or int(m.group(2)) > 31:
                    self.say(row.path, row.line, "%s: field '%s': value and word bits differ in number"
                             % (row.mnemonic, token))
                    return False
            elif name in by_name:
                self.say(row.path, row.line, "%s: field '%s' twice" % (row.mnemonic, name))
                return False
            o = by_name.setdefault(name, Operand(name))
            if m.group(6):
                o.forbidden += [int(v) for v in m.group(6).split(",")]
            o.pieces.append(Piece(lo, hi - lo + 1, value_lo))
        row.operands = list(by_name.values())
        return True

    def rule_for(self, row, name):
        for rule in self.operand_rules:
            if rule["isa"] == row.isa and name in rule["operand"] and any(
                    fnmatch.fnmatchcase(row.mnemonic, g) for g in rule["rows"]):
                rule["used"] = True
                return rule
        return None

    def read_syntax(self, row):
        """Puts the operands in the order of the syntax, hidden fields after them."""
        text = row.syntax
        head, _, rest = text.partition(" ")
        m = re.match(r"(.*?)\[([A-Za-z0-9_]+)\]$", head)
        suffix_name = m.group(2) if m else None
        if (m.group(1) if m else head) != row.mnemonic:
            self.say(row.path, row.line, "%s: syntax starts with '%s'" % (row.mnemonic, head))
            return False
        fields = OrderedDict((o.name, o) for o in row.operands)
        shown = []

        def take(name):
            rule = self.rule_for(row, name)
            if rule is None:
                self.say(row.path, row.line, "%s: operands.tsv does not describe operand '%s'"
                         % (row.mnemonic, name))
                return None
            field = name if rule["field"] == "-" else rule["field"]
            if rule["kind"] == "sp":
                fields.setdefault(field, Operand(name))
            if field not in fields:
                self.say(row.path, row.line, "%s: operand '%s' has no field" % (row.mnemonic, name))
                return None
            o = fields[field]
            if not o.hidden:
                self.say(row.path, row.line, "%s: operand '%s' twice" % (row.mnemonic, name))
                return None
            o.name, o.hidden = name, False
            if not self.describe(row, o, rule):
                return None
            shown.append(o)
            return o

        if suffix_name is not None:
            if take(suffix_name) is None:
                return False
            row.suffix = 0
            shown[0].optional = shown[0].brief = True
        for item in [i.strip() for i in rest.split(",")] if rest.strip() else []:
            m = re.match(r"(\[)?([A-Za-z0-9_]+)=([A-Za-z0-9_.]+)(\])?$", item)
            if m and bool(m.group(1)) == bool(m.group(4)):
                o = take(m.group(2))
                if o is None or not self.set_default(row, o, m.group(3)):
                    return False
                o.brief = bool(m.group(1))
                o.keyed = not o.brief
                row.items.append((len(shown) - 1, -1))
                continue
            m = re.match(r"([A-Za-z0-9_]+)?(?:\(([A-Za-z0-9_]+)\))?$", item)
            if not m or not item:
                self.say(row.path, row.line, "%s: cannot read operand '%s'" % (row.mnemonic, item))
                return False
            value = base = -1
            if m.group(1):
                if take(m.group(1)) is None:
                    return False
                value = len(shown) - 1
            if m.group(2):
                if take(m.group(2)) is None:
                    return False
                base = len(shown) - 1
                if shown[base].kind not in REGISTER_BITS:
                    self.say(row.path, row.line, "%s: base '%s' is not a register"
                             % (row.mnemonic, m.group(2)))
                    return False
            row.items.append((value, base))
        hidden = [o for o in row.operands if o.hidden]
        row.operands = shown + hidden
        return True

    def describe(self, row, o, rule):
        o.kind, o.codec, o.symbols = rule["kind"], rule["codec"], rule["symbols"]
        o.print, o.meaning = PRINTS[rule["print"]], rule["meaning"]
        o.second = None if rule["second"] == "-" else rule["second"]
        if rule["scale"]:
            for p in o.pieces:
                p.value_lo += rule["scale"]
        want = REGISTER_BITS.get(o.kind)
        if want is not None and (o.width() != want or o.align() != 0):
            self.say(row.path, row.line, "%s: register operand '%s' has %d bits, expected %d"
                     % (row.mnemonic, o.name, o.width(), want))
            return False
        if o.kind == "csr" and o.width() != 12:
            self.say(row.path, row.line, "%s: csr operand '%s' has %d bits" % (row.mnemonic, o.name, o.width()))
            return False
        covered = 0
        for p in o.pieces:
            bits = ((1 << p.width) - 1) << p.value_lo
            if covered & bits:
                self.say(row.path, row.line, "%s: operand '%s' holds a value bit twice" % (row.mnemonic, o.name))
                return False
            covered |= bits
        if covered != (1 << o.width()) - (1 << o.align()):
            self.say(row.path, row.line, "%s: operand '%s' leaves out value bits" % (row.mnemonic, o.name))
            return False
        for _, value in o.symbols:
            if value >= 1 << o.width():
                self.say("operands.tsv", rule["line"], "a symbol of '%s' does not fit its field" % o.name)
                return False
        if rule["default"] != "-":
            return self.set_default(row, o, rule["default"])
        return True

    def set_default(self, row, o, text):
        o.optional = True
        for name, value in o.symbols:
            if name.lower() == text.lower():
                o.default = value
                return True
        if not re.match(r"\d+$", text) or int(text) >= 1 << o.width():
            self.say(row.path, row.line, "%s: default '%s' of '%s' is not one of its values"
                     % (row.mnemonic, text, o.name))
            return False
        o.default = int(text)
        return True

    def check_bits(self, row):
        used = 0
        for o in row.operands:
            bits = 0
            for p in o.pieces:
                if used & p.bits():
                    self.say(row.path, row.line, "%s: field '%s' overlaps another field" % (row.mnemonic, o.name))
                used |= p.bits()
                bits |= p.bits()
            if bits & row.mask:
                self.say(row.path, row.line, "%s: field '%s' overlaps fixed bits" % (row.mnemonic, o.name))
            for value in o.forbidden:
                if value >= 1 << o.width() or value > 31:
                    self.say(row.path, row.line, "%s: condition !=%d does not fit field '%s'"
                             % (row.mnemonic, value, o.name))
        if len(row.conditions()) > 2:
            self.say(row.path, row.line, "%s: more than two conditions" % row.mnemonic)
        free = ~(row.mask | used) & ((1 << (8 * row.length)) - 1)
        if free:
            self.say(row.path, row.line, "%s: bits 0x%x are neither fixed nor a field" % (row.mnemonic, free))
        if row.isa == "xphmg" and (row.mask & 3 != 3 or (row.match & 3 == 3) != (row.length == 4)):
            self.say(row.path, row.line, "%s: low two bits do not say %d bytes" % (row.mnemonic, row.length))
        if row.isa == "tile" and row.length != 4:
            self.say(row.path, row.line, "%s: tile instructions have 4 bytes" % row.mnemonic)

    def find_extension(self, row):
        for rule in self.extension_rules:
            if (rule["isa"], rule["file"]) == (row.isa, row.path) and any(
                    fnmatch.fnmatchcase(row.mnemonic, g) for g in rule["rows"]):
                rule["used"] = True
                row.extension = rule["extension"]
                return
        self.say(row.path, row.line, "%s: extensions.tsv names no extension for it" % row.mnemonic)

    def finish_insns(self, isa):
        table = self.insns[isa]
        for i, row in enumerate(table):
            row.id = i
        syntaxes = {}
        for i, a in enumerate(table):
            for b in table[i + 1:]:
                # Nearly all pairs differ in a fixed bit; only the rest needs a closer look.
                if not (a.match ^ b.match) & a.mask & b.mask and a.length == b.length and not disjoint(a, b):
                    self.say(b.path, b.line, "%s overlaps %s (%s:%d)" % (b.mnemonic, a.mnemonic, a.path, a.line))
            first = syntaxes.setdefault(a.syntax.lower(), a)
            if first is not a:
                self.say(a.path, a.line, "%s: row twice (%s:%d)" % (a.mnemonic, first.path, first.line))
        for rule in self.operand_rules:
            if rule["isa"] == isa and not rule["used"] and "ign" not in rule["operand"]:
                self.say("operands.tsv", rule["line"], "no row has operand '%s'" % " ".join(rule["operand"]))
        for rule in self.extension_rules:
            if rule["isa"] == isa and not rule["used"]:
                self.say("extensions.tsv", rule["line"], "no row belongs to %s" % rule["extension"])

    # -- aliases -----------------------------------------------------------------------------------

    def read_aliases(self):
        known = {isa: set(r.mnemonic.lower() for r in rows) for isa, rows in self.insns.items()}
        path = "alias.tsv"
        pending = []
        for n, r in self.rows(path, ALIAS_COLUMNS):
            if r["isa"] not in INSN_FILES:
                self.say(path, n, "unknown isa '%s'" % r["isa"])
                continue
            if r["operands"] == "-":
                r["operands"] = ""
            self.aliases[r["isa"]].append(dict(r, line=n))
            pending.append((n, r))
        for isa, rows in self.aliases.items():
            known[isa] |= set(r["mnemonic"].lower() for r in rows)
        for n, r in pending:
            if r["expansion"].startswith("@"):
                continue
            for part in r["expansion"].split("; "):
                head = part.split(" ")[0].lower()
                if head not in known[r["isa"]]:
                    self.say(path, n, "%s: expansion uses unknown mnemonic '%s'" % (r["mnemonic"], head))

    # -- CSRs --------------------------------------------------------------------------------------

    def read_csrs(self, isa, path):
        by_name = OrderedDict()
        for n, r in self.rows(path, CSR_COLUMNS):
            name = r["csr"]
            csr = by_name.get(name)
            if csr is None:
                csr = self.new_csr(isa, path, n, name, r["addr"])
                if csr is None:
                    continue
                by_name[name] = csr
                self.csrs.append(csr)
            elif csr["address"] != r["addr"]:
                self.say(path, n, "%s: address %s, but %s above" % (name, r["addr"], csr["address"]))
            m = re.match(r"(\d+)(?::(\d+))?$", r["bits"])
            if not m:
                self.say(path, n, "%s.%s: cannot read bits '%s'" % (name, r["field"], r["bits"]))
                continue
            hi = int(m.group(1))
            lo = int(m.group(2)) if m.group(2) else hi
            if lo > hi or hi >= csr["width"]:
                self.say(path, n, "%s.%s: bits %s lie outside %d bits" % (name, r["field"], r["bits"], csr["width"]))
                continue
            if r["access"] not in ACCESS:
                self.say(path, n, "%s.%s: unknown access '%s'" % (name, r["field"], r["access"]))
                continue
            bits = ((1 << (hi - lo + 1)) - 1) << lo
            if bits & csr["used"]:
                self.say(path, n, "%s.%s overlaps another field" % (name, r["field"]))
            csr["used"] |= bits
            if any(f["name"].lower() == r["field"].lower() and f["name"].lower() not in ("rsv", "reserved")
                   for f in csr["fields"]):
                self.say(path, n, "%s.%s: field twice" % (name, r["field"]))
            reset = 0
            if re.match(r"(0x[0-9a-fA-F]+|\d+)$", r["reset"]):
                reset = int(r["reset"], 0)
                if reset >> (hi - lo + 1):
                    self.say(path, n, "%s.%s: reset %s does not fit" % (name, r["field"], r["reset"]))
                    reset = 0
            csr["fields"].append(dict(name=r["field"], hi=hi, lo=lo, access=r["access"], reset=reset,
                                      reset_text=r["reset"], meaning=r["meaning"], legal=r["legal"],
                                      needs=r["needs"], place=r["place"], line=n))

    def new_csr(self, isa, path, n, name, address):
        csr = dict(isa=isa, path=path, line=n, name=name, address=address, count=1, stride=1, alias=0,
                   first=0, width=CSR_WIDTH[isa], fields=[], used=0)
        m = re.match(r"(0x[0-9a-fA-F]+)(?:;(0x[0-9a-fA-F]+))?$", address)
        if m:
            csr["number"] = int(m.group(1), 16)
            csr["alias"] = int(m.group(2), 16) if m.group(2) else 0
            return csr
        m = re.match(r"XISEL (0x[0-9a-fA-F]+)$", address)
        if m:
            csr["number"] = int(m.group(1), 16)
            return csr
        m = re.match(r"(?:XISEL )?(0x[0-9a-fA-F]+)\+[a-z]$", address)
        span = re.match(r"[A-Za-z_]+(\d+)\.\.(\d+)$", name)
        if m and span and int(span.group(2)) > int(span.group(1)):
            csr["number"], csr["first"] = int(m.group(1), 16), int(span.group(1))
            csr["count"] = int(span.group(2)) - int(span.group(1)) + 1
            return csr
        m = re.match(r"(0x[0-9a-fA-F]+)\+(\d+)\*n\+(\d+)$", address)
        if m and "[n]" in name:
            csr["number"] = int(m.group(1), 16) + int(m.group(3))
            csr["stride"], csr["count"] = int(m.group(2)), 32
            return csr
        self.say(path, n, "%s: cannot read address '%s'" % (name, address))
        return None

    def check_csr_addresses(self):
        seen = {}
        for csr in self.csrs:
            numbers = [csr["number"] + k * csr["stride"] for k in range(csr["count"])]
            if csr["alias"]:
                numbers.append(csr["alias"])
            for number in numbers:
                other = seen.setdefault((csr["isa"], number), csr)
                if other is not csr:
                    self.say(csr["path"], csr["line"], "%s: address 0x%X is also %s" % (csr["name"], number, other["name"]))
            other = seen.setdefault((csr["isa"], csr["name"].lower()), csr)
            if other is not csr:
                self.say(csr["path"], csr["line"], "%s: CSR also in %s" % (csr["name"], other["path"]))

    # -- prose tables ------------------------------------------------------------------------------

    def files(self, pattern):
        return sorted(os.path.basename(p) for p in glob.glob(os.path.join(self.folder, pattern)))

    def read_requirements(self):
        for path in self.files("*.requirements.tsv"):
            seen = {}
            for n, r in self.rows(path, REQUIREMENT_COLUMNS):
                m = re.match(r"([A-Z0-9]+)-(\d{3})$", r["id"])
                if not m:
                    self.say(path, n, "bad id '%s'" % r["id"])
                    continue
                if r["level"] not in LEVELS:
                    self.say(path, n, "bad level '%s'" % r["level"])
                ids = seen.setdefault(m.group(1), set())
                if int(m.group(2)) in ids:
                    self.say(path, n, "%s twice" % r["id"])
                ids.add(int(m.group(2)))
                self.requirements.append(dict(r, path=path, line=n))
            for area, ids in seen.items():
                if ids != set(range(1, len(ids) + 1)):
                    self.say(path, 1, "%s IDs are not 001..%03d without gaps" % (area, len(ids)))

    def read_rules(self, path):
        """What a validator asks; a column of a driver is `-` where the severity is the rule's own."""
        known = {r["id"] for r in self.requirements}
        for n, r in self.rows(path, RULE_COLUMNS):
            if r["id"] != "V%02d" % (len(self.rules) + 1):
                self.say(path, n, "id '%s', expected V%02d" % (r["id"], len(self.rules) + 1))
            for column in RULE_COLUMNS[1:5]:
                if r[column] not in SEVERITIES and (column == "severity" or r[column] != "-"):
                    self.say(path, n, "bad severity '%s'" % r[column])
            if r["requirement"] not in known:
                self.say(path, n, "there is no requirement %s" % r["requirement"])
            self.rules.append(dict(r, path=path, line=n))

    def read_sections(self):
        """The pages of behaviour by their numbered headings: "rt-semantics.md 8", a part from one heading to the next."""
        for path in ["numeric.md"] + self.files("*-semantics.md"):
            with open(os.path.join(self.folder, path), encoding="utf-8") as f:
                lines = f.read().split("\n")
            current = None
            for n, line in enumerate(lines, 1):
                m = re.match(r"##+ (\d+(?:\.\d+)*)\.? (.*)$", line)
                if m:
                    current = dict(name="%s %s" % (path, m.group(1)), title=m.group(2).strip(), text=[], path=path, line=n)
                    self.sections.append(current)
                elif current is not None:
                    current["text"].append(line)
        for r in self.sections:
            r["text"] = "\n".join(r["text"]).strip("\n")

    def check_citations(self):
        """The resolutions that requirement rows cite are there."""
        known = {r["id"] for r in self.resolutions}
        for r in self.requirements:
            for name in re.findall(r"\bR-[A-Z0-9]+-\d+", "%(source)s %(section)s %(requirement)s %(observable)s" % r):
                if name not in known:
                    self.say(r["path"], r["line"], "%s: there is no resolution %s" % (r["id"], name))

    def read_resolutions(self):
        seen = set()
        for path in self.files("resolutions-*.md"):
            with open(os.path.join(self.folder, path), encoding="utf-8") as f:
                lines = f.read().split("\n")
            current = None
            for n, line in enumerate(lines, 1):
                m = re.match(r"#+ (R-[A-Z0-9]+-\d+)[ :]+(.*)$", line)
                if m:
                    if m.group(1) in seen:
                        self.say(path, n, "%s twice" % m.group(1))
                    seen.add(m.group(1))
                    current = dict(id=m.group(1), title=m.group(2).strip(), text=[], path=path, line=n)
                    self.resolutions.append(current)
                elif line.startswith("#"):
                    current = None
                elif current is not None:
                    current["text"].append(line)
        for r in self.resolutions:
            r["text"] = "\n".join(r["text"]).strip()


def disjoint(a, b):
    """True when no word belongs to both rows: a fixed bit differs, or a condition of one excludes what
    the other fixes."""
    if (a.match ^ b.match) & a.mask & b.mask:
        return True
    for x, y in ((a, b), (b, a)):
        for mask, value in x.conditions():
            # Bits of the condition that x itself leaves free must be fixed by y to the value.
            if y.mask & mask == mask and y.match & mask == value:
                return True
    return False
