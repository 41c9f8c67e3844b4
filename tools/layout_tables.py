"""Reads spec/ *.layout.tsv, checks them, and makes C from them.

The format is described in spec/README.md. gen_tables.py calls read() with its Spec, then emit_rows() for the
run-time table of src/isa/table.h and emit_header() for the accessors of one machine. A row is the only statement
of a member: its place, its values, what a driver gets when it leaves it out."""
import glob
import os
import re
import struct
from collections import OrderedDict

COLUMNS = ["structure", "member", "offset", "bits", "type", "legal", "default", "meaning", "source"]
DOCUMENT_COLUMNS = ["document", "title", "author", "kind"]
# What the accessors of a machine work on: 32-bit words in the order of their addresses, or bytes.
UNITS = OrderedDict([("xphmg", 8), ("tile", 32), ("gfx12", 32)])
ELEMENT_BYTES = (1, 2, 4, 8)
WIDTHS = {"f8": 8, "f16": 16, "f32": 32, "f64": 64, "color": 32, "pair": 32, "ipair": 32}
KINDS = {"f8": "FLOAT", "f16": "FLOAT", "f32": "FLOAT", "f64": "FLOAT", "color": "COLOR", "pair": "PAIR",
         "ipair": "IPAIR", "addr": "ADDRESS", "enum": "ENUM", "flags": "FLAGS", "fixed": "FIXED",
         "element": "ELEMENT"}
# Names that a C or C++ program could not speak.
TAKEN = set("""alignas alignof and asm auto bool break case catch char class const continue default delete do double
else enum explicit export extern false float for friend goto if inline int long mutable namespace new not operator or
private protected public register restrict return short signed sizeof static struct switch template this throw true
try typedef typeid typename union unsigned using virtual void volatile while xor""".split())
# What constants of a member end in, besides those of its values.
SUFFIXES = ("AT", "LSB", "BITS", "COUNT", "VALUES")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
NUMBER = r"(?:0x[0-9A-Fa-f]+|\d+)"
PLACE = re.compile(r"(%s)(?:\+(\d+)\*e)?$|(?:(\d+)\*)?e$" % NUMBER)
PLACES = re.compile(r"%s(?:/%s){3}$" % (NUMBER, NUMBER))


class Place:
    """A count of bytes, for each width of an element."""

    def __init__(self, *values):
        self.values = values
        self.fixed, self.elastic = values[0], len(set(values)) > 1

    def at(self, e):
        return self.values[ELEMENT_BYTES.index(e)] if self.elastic else self.fixed


class Member:
    def __init__(self, line, cells):
        self.line, self.name, self.cells = line, cells["member"], cells
        self.place = None
        self.lo = self.width = 0  # bits from the place; all elements of an array together
        self.view = False         # another reading of bits that a member above names
        self.type, self.kind, self.count = cells["type"], "", 1
        self.nested = None
        self.values = []          # (name or None, first, last)
        self.refusal = self.stand_in = None
        self.preset = 0

    def each(self):
        return self.width // self.count

    def mask(self):
        """The bits of an element that are the member's: flags own those that they name."""
        if self.kind == "FLAGS":
            return sum(1 << v[1] for v in self.values)
        return (1 << self.each()) - 1

    def first_bit(self):
        return 8 * self.place.fixed + self.lo

    def elastic(self):
        return self.kind == "ELEMENT" or self.place.elastic or bool(self.nested and self.nested.elastic())


def snake(name):
    """RSTATE is rstate in C, BVHNode4 bvh_node4."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class Structure:
    def __init__(self, machine, path, line, cells):
        self.machine, self.path, self.line, self.name = machine, path, line, cells["structure"]
        self.meaning, self.source = cells["meaning"], cells["source"]
        self.size, self.align = None, 0
        self.members = []

    def elastic(self):
        return self.size.elastic

    def prefix(self):
        name = re.sub("^%s_" % self.machine, "", snake(self.name))
        return "facet_%s_%s" % (self.machine, name)


# -- reading ------------------------------------------------------------------------------------------


class Reader:
    def __init__(self, spec):
        self.spec, self.by_name, self.out = spec, {}, []
        self.documents = [r["document"] for _, r in spec.rows("documents.tsv", DOCUMENT_COLUMNS)]
        self.resolutions = [r["id"] for r in spec.resolutions]

    def read(self):
        for full in sorted(glob.glob(os.path.join(self.spec.folder, "*.layout.tsv"))):
            self.read_file(os.path.basename(full))
        return self.out

    def read_file(self, path):
        machine = re.split(r"[-.]", path)[0]
        if machine not in UNITS:
            self.spec.say(path, 1, "the name starts with no machine: %s" % " ".join(UNITS))
            return
        current = None
        for n, r in self.spec.rows(path, COLUMNS):
            self.path, self.line = path, n
            self.check_source(r["source"], r["member"] == "-")
            if r["member"] == "-":
                current = self.read_head(machine, path, n, r)
            elif current is None or current.name != r["structure"]:
                self.say("no head row of '%s' right above" % r["structure"])
            else:
                self.read_member(current, r)

    def say(self, what):
        self.spec.say(self.path, self.line, what)

    def check_source(self, text, head):
        """`tile-semantics.md 15.1; DOCUMENT: section; R-TILE-69`; of a member `-`: where the head says."""
        for part in [] if text == "-" and not head else text.split("; "):
            page = re.match(r"([a-z0-9-]+\.md)(?: .+)?$", part)
            if page and os.path.exists(os.path.join(self.spec.folder, page.group(1))):
                continue
            if part not in self.resolutions and part.split(": ")[0] not in self.documents:
                self.say("source '%s' is not a page of the contract, document of documents.tsv or resolution" % part)

    def place(self, text):
        if PLACES.match(text):
            return Place(*(int(v, 0) for v in text.split("/")))
        m = PLACE.match(text)
        if not m:
            self.say("cannot read '%s', expected bytes: 16, 0x10, 4*e, 16+4*e or 32/32/64/128" % text)
            return None
        fixed, step = (0, int(m.group(3) or 1)) if m.group(1) is None else (int(m.group(1), 0), int(m.group(2) or 0))
        return Place(*(fixed + step * e for e in ELEMENT_BYTES))

    def read_head(self, machine, path, n, r):
        s = Structure(machine, path, n, r)
        s.size = self.place(r["offset"])
        if not NAME.match(s.name):
            self.say("'%s' is not a name" % s.name)
        elif s.name.lower() in self.by_name:
            self.say("structure %s twice" % s.name)
        elif r["type"] != "structure":
            self.say("%s: the head row has type '%s', expected structure" % (s.name, r["type"]))
        elif not self.read_align(s, r["bits"]):
            self.say("%s: alignment '%s' is neither a power of two nor e" % (s.name, r["bits"]))
        elif s.size is not None and s.size.at(1) == 0:
            self.say("%s: no bytes" % s.name)
        elif s.size is not None:
            self.by_name[s.name.lower()] = s
            self.out.append(s)
            return s
        return None

    def read_align(self, s, text):
        s.align = 0 if text == "e" else int(text, 0) if re.match(NUMBER + "$", text) else -1
        return text == "e" or (s.align > 0 and s.align & (s.align - 1) == 0)

    def read_member(self, s, r):
        m = Member(self.line, r)
        m.place = self.place(r["offset"])
        if not NAME.match(m.name) or m.name in TAKEN:
            self.say("%s: '%s' is not a name for a member" % (s.name, m.name))
        elif any(o.name.lower() == m.name.lower() for o in s.members):
            self.say("%s.%s twice" % (s.name, m.name))
        elif m.place is not None and self.read_type(s, m) and self.read_legal(s, m) and self.read_default(s, m):
            if self.check_room(s, m):
                s.members.append(m)

    def read_type(self, s, m):
        text = re.match(r"([A-Za-z0-9_]+)(?:\[(\d+)\])?$", m.type)
        if not text:
            self.say("%s.%s: cannot read type '%s'" % (s.name, m.name, m.type))
            return False
        base, m.count = text.group(1), int(text.group(2) or 1)
        number = re.match(r"([ui])(\d+)$", base)
        natural = WIDTHS.get(base)
        if number:
            m.kind, natural = {"u": "UINT", "i": "INT"}[number.group(1)], int(number.group(2))
        elif base in KINDS:
            m.kind = KINDS[base]
        elif base.lower() in self.by_name:
            m.kind, m.nested = "STRUCTURE", self.by_name[base.lower()]
            natural = 8 * m.nested.size.fixed
        else:
            self.say("%s.%s: unknown type '%s'; a structure comes before its users" % (s.name, m.name, base))
            return False
        return self.read_bits(s, m, natural)

    def read_bits(self, s, m, natural):
        text = m.cells["bits"]
        m.view = text.startswith("|")
        text = text.lstrip("|")
        if m.kind == "ELEMENT" or (m.nested and m.nested.elastic()):
            if text != "-":
                self.say("%s.%s: bits '%s', expected -: the element says them" % (s.name, m.name, text))
            return text == "-"
        bits = re.match(r"(\d+)(?::(\d+))?$", text)
        if text == "-" and natural is not None:
            m.width = natural * m.count
        elif bits and int(bits.group(1)) >= int(bits.group(2) or bits.group(1)):
            m.lo = int(bits.group(2) or bits.group(1))
            m.width = int(bits.group(1)) - m.lo + 1
        else:
            self.say("%s.%s: cannot read bits '%s'" % (s.name, m.name, text))
            return False
        if natural is not None and m.width != natural * m.count:
            self.say("%s.%s: %d bits, but %s has %d" % (s.name, m.name, m.width, m.type, natural * m.count))
            return False
        if m.width % m.count or (not m.nested and m.each() > 64):
            self.say("%s.%s: %d bits for %d elements" % (s.name, m.name, m.width, m.count))
            return False
        return True

    def read_legal(self, s, m):
        """Fills values, refusal and stand_in from `NAME=2 4 8..15 !REASON` or `... ~NAME`."""
        text, tokens = m.cells["legal"], []
        top = (1 << m.each()) - 1 if m.width else 0
        if text != "-":
            tokens = text.split()
        for token in tokens:
            one = re.match(r"(?:([A-Za-z0-9_]+)=)?(%s)(?:\.\.(%s))?$" % (NUMBER, NUMBER), token)
            if token[0] in "!~" and token is tokens[-1] and NAME.match(token[1:]) and m.values and m.kind != "FLAGS":
                m.refusal, m.stand_in = (token[1:], None) if token[0] == "!" else (None, token[1:])
                continue
            if not one or (one.group(1) and one.group(3)):
                self.say("%s.%s: cannot read '%s', expected NAME=1, 1, 1..3, at the end !REASON or ~NAME"
                         % (s.name, m.name, token))
                return False
            first = int(one.group(2), 0)
            last = int(one.group(3) or one.group(2), 0)
            if last < first or last > (m.width - 1 if m.kind == "FLAGS" else top):
                self.say("%s.%s: '%s' does not fit %d bits" % (s.name, m.name, token, m.each()))
                return False
            if any((name and one.group(1) and name.lower() == one.group(1).lower()) or (first <= b and a <= last)
                   for name, a, b in m.values):
                self.say("%s.%s: '%s' is said twice" % (s.name, m.name, token))
                return False
            m.values.append((one.group(1), first, last))
        return self.check_legal(s, m)

    def check_legal(self, s, m):
        named = [v for v in m.values if v[0]]
        if m.kind in ("ENUM", "FLAGS") and len(named) != len(m.values) or (m.kind in ("ENUM", "FLAGS") and not named):
            self.say("%s.%s: %s needs names for its values" % (s.name, m.name, m.type))
        elif any(v[0].upper() in SUFFIXES for v in named):
            self.say("%s.%s: no value can be named %s" % (s.name, m.name, ", ".join(SUFFIXES)))
        elif m.stand_in and m.stand_in not in [v[0] for v in named]:
            self.say("%s.%s: ~%s is none of its values" % (s.name, m.name, m.stand_in))
        elif m.kind == "FIXED" and (len(m.values) != 1 or m.values[0][1] != m.values[0][2]):
            self.say("%s.%s: fixed needs one value" % (s.name, m.name))
        elif m.values and (m.count > 1 or m.kind in ("STRUCTURE", "ELEMENT", "FLOAT", "PAIR", "IPAIR")):
            self.say("%s.%s: %s takes no list of values" % (s.name, m.name, m.type))
        else:
            return True
        return False

    def read_default(self, s, m):
        text = m.cells["default"]
        named = {v[0].lower(): v[1] for v in m.values if v[0]}
        if m.kind == "FIXED":
            m.preset = m.values[0][1]
        if text == "-":
            return True
        if m.count == 1 and m.type == "f32" and re.match(r"-?\d+\.\d+$", text):
            m.preset = struct.unpack("<I", struct.pack("<f", float(text)))[0]
        elif m.count == 1 and m.kind not in ("STRUCTURE", "ELEMENT") and text.lower() in named:
            m.preset = named[text.lower()]
        elif m.count == 1 and m.width and re.match(NUMBER + "$", text) and int(text, 0) >> m.width == 0:
            m.preset = int(text, 0)
        else:
            self.say("%s.%s: default '%s' is not one of its values" % (s.name, m.name, text))
            return False
        if m.kind != "FLAGS" and m.refusal and not any(a <= m.preset <= b for _, a, b in m.values):
            self.say("%s.%s: default '%s' is refused" % (s.name, m.name, text))
            return False
        return True

    def spans(self, m, e):
        """The bits of the structure that a member owns."""
        first = 8 * m.place.at(e) + m.lo
        if m.kind == "FLAGS":
            return m.mask() << first
        width = m.width
        if m.kind == "ELEMENT":
            width = 8 * e * m.count
        elif m.nested and m.nested.elastic():
            width = 8 * m.nested.size.at(e) * m.count
        return ((1 << width) - 1) << first

    def check_room(self, s, m):
        if m.elastic() and not s.elastic():
            self.say("%s.%s depends on the element, the size of %s does not" % (s.name, m.name, s.name))
            return False
        for e in ELEMENT_BYTES if s.elastic() else ELEMENT_BYTES[:1]:
            bits = self.spans(m, e)
            if bits >> (8 * s.size.at(e)):
                self.say("%s.%s lies outside %d bytes" % (s.name, m.name, s.size.at(e)))
                return False
            others = [o.name for o in s.members if not o.view and self.spans(o, e) & bits]
            if others and not m.view:
                self.say("%s.%s overlaps %s" % (s.name, m.name, others[0]))
                return False
            if m.view and not others:
                self.say("%s.%s: nothing above has these bits" % (s.name, m.name))
                return False
        if m.nested and not m.elastic() and m.first_bit() % UNITS[s.machine]:
            self.say("%s.%s: a structure starts with a whole word" % (s.name, m.name))
            return False
        return True


def read(spec):
    return Reader(spec).read()


# -- the run-time table -------------------------------------------------------------------------------


def c_string(text):
    if text is None:
        return "NULL"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?") + '"'


def by_element(place):
    """The four values of a place that follows the element; NULL for one that does not."""
    return "(const uint32_t[]){%s}" % ", ".join(map(str, place.values)) if place.elastic else "NULL"


def emit_rows(structures, out):
    for i, s in enumerate(structures):
        for k, m in enumerate(s.members):
            if m.values:
                out.append("static const struct facet_layout_value layout_values_%d_%d[] = {" % (i, k))
                out += ["    {%s, %du, %du}," % (c_string(v[0]), v[1], v[2]) for v in m.values]
                out.append("};")
        out.append("static const struct facet_layout_member layout_members_%d[] = {" % i)
        for k, m in enumerate(s.members):
            values = "layout_values_%d_%d" % (i, k) if m.values else "NULL"
            out.append("    {.name = %s, .offset = %d, .by_element = %s, .lo = %d, .width = %d, .count = %d, "
                       ".type = FACET_LAYOUT_%s, .view = %s, .value_count = %d, .values = %s, .refusal = %s, "
                       ".stand_in = %s, .preset = %dull, .structure = %s, .cells = {%s}, .line = %d}," % (
                           c_string(m.name), m.place.fixed, by_element(m.place), m.lo, m.each(), m.count, m.kind,
                           "true" if m.view else "false", len(m.values), values, c_string(m.refusal),
                           c_string(m.stand_in), m.preset, c_string(m.nested.name if m.nested else None),
                           ", ".join(c_string(m.cells[c]) for c in COLUMNS[2:]), m.line))
        out.append("    {.name = NULL}};" if not s.members else "};")
    out.append("const struct facet_layout_row facet_layout_rows[] = {")
    for i, s in enumerate(structures):
        out.append("    {.name = %s, .machine = %s, .size = %d, .by_element = %s, .align = %d, .member_count = %d, "
                   ".members = layout_members_%d, .meaning = %s, .source = %s, .file = %s, .line = %d}," % (
                       c_string(s.name), c_string(s.machine), s.size.fixed, by_element(s.size), s.align,
                       len(s.members), i, c_string(s.meaning), c_string(s.source), c_string(s.path), s.line))
    out.append("    {.name = NULL}};")
    out.append("const size_t facet_layout_row_count = %d;" % len(structures))


# -- the accessors ------------------------------------------------------------------------------------

# One place for bits that cross a word; `unit` bits in each element of `data`.
HELPERS = """#ifndef FACET_LAYOUT_REQUIRE
/* A value must fit its member, an index its array. Compiled with FACET_ASSERTS, a program is stopped
 * where it breaks this; without, the bits that do not fit are lost. */
#ifdef FACET_ASSERTS
#include <assert.h>
#define FACET_LAYOUT_REQUIRE(condition) assert(condition)
#else
#define FACET_LAYOUT_REQUIRE(condition) ((void)0)
#endif
#endif

#ifndef FACET_LAYOUT_%(unit)d
#define FACET_LAYOUT_%(unit)d
/* `width` bits (up to 64) from bit `at` of little-endian %(what)s. */
static inline uint64_t facet_layout_get%(unit)d(const uint%(unit)d_t *data, uint32_t at, uint32_t width)
{
    uint64_t value = 0;
    uint32_t done = 0;

    while (done < width) {
        const uint32_t shift = (at + done) %% %(unit)d;

        value |= (uint64_t)data[(at + done) / %(unit)d] >> shift << done;
        done += %(unit)d - shift;
    }
    return width < 64 ? value & ((UINT64_C(1) << width) - 1) : value;
}

static inline void
facet_layout_set%(unit)d(uint%(unit)d_t *data, uint32_t at, uint32_t width, uint64_t value)
{
    uint32_t done = 0;

    while (done < width) {
        const uint32_t shift = (at + done) %% %(unit)d;
        const uint32_t room = %(unit)d - shift, take = width - done < room ? width - done : room;
        const uint%(unit)d_t mask = (uint%(unit)d_t)(((UINT64_C(1) << take) - 1) << shift);
        uint%(unit)d_t *word = &data[(at + done) / %(unit)d];

        *word = (uint%(unit)d_t)((*word & (uint%(unit)d_t)~mask) | ((value >> done << shift) & mask));
        done += take;
    }
}
#endif
"""


class Header:
    """The accessors of one machine's structures: constants, get, set, legal, and a C structure with pack and unpack."""

    def __init__(self, machine, structures, guard, out):
        self.machine, self.unit, self.out = machine, UNITS[machine], out
        self.structures = [s for s in structures if s.machine == machine]
        self.guard = guard
        self.data = "words" if self.unit == 32 else "bytes"

    def line(self, text, *cells):
        self.out.append(text % cells if cells else text)

    def emit(self):
        self.line("/* Made by tools/gen_tables.py from spec/%s*.layout.tsv: the structures in memory of the %s machine."
                  % (self.machine, self.machine))
        self.line(" * A structure lies in %s." % (
            "32-bit words in the order of their addresses" if self.unit == 32 else "bytes"))
        self.line(" * get and set speak of one member; pack makes the whole from a C structure, unpack the reverse;")
        self.line(" * legal says whether no member has a value that the machine refuses. */")
        self.line("#ifndef %s", self.guard)
        self.line("#define %s\n", self.guard)
        self.line("#include <stdbool.h>\n#include <stdint.h>\n#include <string.h>\n")
        self.line("#ifdef __cplusplus\nextern \"C\" {\n#endif\n")
        self.out.append(HELPERS % dict(unit=self.unit, what=self.data))
        for s in self.structures:
            self.structure(s)
        self.line("#ifdef __cplusplus\n}\n#endif\n")
        self.line("#endif")

    def structure(self, s):
        low, high = s.prefix(), s.prefix().upper()
        self.line("/* ---- %s: %s (%s) ---- */\n" % (s.name, s.meaning, s.source))
        if s.align:
            self.line("#define %s_ALIGN %du", high, s.align)
        self.place(high + "_SIZE", s.size)
        if self.unit == 32 and not s.elastic():
            self.line("#define %s_WORDS %du", high, (s.size.fixed + 3) // 4)
        for m in s.members:
            self.constants(high, m)
        self.line("")
        if s.elastic():
            return
        for m in s.members:
            if not m.nested:
                self.accessors(low, m)
        self.legal(s, low)
        self.packing(s, low, high)

    def place(self, name, place):
        if place.elastic:
            self.line("#define %s(e) ((e) == 1 ? %du : (e) == 2 ? %du : (e) == 4 ? %du : %du)", name, *place.values)
        else:
            self.line("#define %s %du", name, place.fixed)

    def constants(self, high, m):
        name = "%s_%s" % (high, m.name.upper())
        self.place(name + "_AT", m.place)
        if m.width:
            self.line("#define %s_LSB %d", name, m.lo)
            self.line("#define %s_BITS %d", name, m.each())
        if m.count > 1:
            self.line("#define %s_COUNT %d", name, m.count)
        for value in m.values:
            if value[0]:
                number = 1 << value[1] if m.kind == "FLAGS" else value[1]
                text = "UINT64_C(0x%X)" % number if number >> 32 else "0x%Xu" % number if number > 9 else "%du" % number
                self.line("#define %s_%s %s", name, value[0].upper(), text)
        if m.kind == "ENUM":
            self.line("#define %s_VALUES(X) %s", name, " ".join("X(%s)" % v[0].upper() for v in m.values))

    def c_type(self, m):
        bits = 64 if m.each() > 32 else 32
        return "%sint%d_t" % ("" if m.kind == "INT" else "u", bits)

    def member(self, m, base):
        """(type, declarator) of a member of the C structure."""
        array = "[%d]" % m.count if m.count > 1 else ""
        if m.nested:
            return "struct %s_fields" % m.nested.prefix(), m.name + array
        if m.type.startswith("f32"):
            return "float", m.name + array
        if m.kind in ("PAIR", "IPAIR"):
            return "%sint16_t" % ("u" if m.kind == "PAIR" else ""), m.name + array + "[2]"
        width = next(w for w in (8, 16, 32, 64) if m.each() <= w)
        if m.kind == "FLAGS":
            width = max(width, 32)
        return "%sint%d_t" % ("" if m.kind == "INT" else "u", width), m.name + array

    def whole(self, m):
        """The element is one whole part of one word."""
        at = m.first_bit()
        return self.unit == 32 and at // 32 == (at + m.each() - 1) // 32 and (m.count == 1 or m.each() == 32)

    def read(self, m):
        at, width, index = m.first_bit(), m.each(), ""
        if self.whole(m):
            text = "words[%d%s]" % (at // 32, " + i" if m.count > 1 else "")
            text += " >> %d" % (at % 32) if at % 32 else ""
            return text + (" & 0x%Xu" % m.mask() if m.mask() < 0xFFFFFFFF >> at % 32 else "")
        if m.count > 1:
            index = " + %du * i" % width
        text = "facet_layout_get%d(%s, %du%s, %du)" % (self.unit, self.data, at, index, width)
        return text if m.mask() == (1 << width) - 1 else "(%s & UINT64_C(0x%X))" % (text, m.mask())

    def accessors(self, low, m):
        ctype, const = self.c_type(m), "const uint%d_t *%s" % (self.unit, self.data)
        index = ", uint32_t i" if m.count > 1 else ""
        value = self.read(m)
        self.line("/* %s */" % m.cells["meaning"])
        self.line("static inline %s %s_%s(%s%s)\n{", ctype, low, m.name, const, index)
        if m.kind == "INT":
            top = self.c_type(m)[3:5]
            self.line("    const u%s value = (u%s)(%s);\n" % (ctype, ctype, value))
            self.line("    return (%s)(value ^ UINT%s_C(0x%X)) - (%s)UINT%s_C(0x%X);" % (
                ctype, top, 1 << m.each() - 1, ctype, top, 1 << m.each() - 1) if m.each() not in (32, 64) else
                "    return (%s)value;" % ctype)
        elif m.stand_in:
            other = next(v[1] for v in m.values if v[0] == m.stand_in)
            self.line("    const %s value = (%s)(%s);\n" % (ctype, ctype, value))
            self.line("    return %s ? value : %du;" % (self.among(m), other))
        else:
            self.line("    return %s;" % (value if value.startswith("words") else "(%s)%s" % (ctype, value)))
        self.line("}")
        if m.kind in ("PAIR", "IPAIR") and m.count == 1:
            self.halves(low, m, const)
        self.setter(low, m, ctype, index)

    def halves(self, low, m, const):
        for half, shift in (("first", 0), ("second", 16)):
            ctype = "uint32_t" if m.kind == "PAIR" else "int32_t"
            cast = "" if m.kind == "PAIR" else "(int16_t)"
            self.line("static inline %s %s_%s_%s(%s)\n{", ctype, low, m.name, half, const)
            self.line("    return %s(%s_%s(%s) >> %d & 0xFFFFu);\n}" % (cast, low, m.name, self.data, shift))

    def setter(self, low, m, ctype, index):
        at, width = m.first_bit(), m.each()
        self.line("static inline void %s_set_%s(uint%d_t *%s%s, %s value)\n{", low, m.name, self.unit, self.data, index,
                  ctype)
        self.promise(m)
        if self.whole(m) and m.mask() == 0xFFFFFFFF:
            cast = "(uint32_t)" if m.kind == "INT" else ""
            self.line("    words[%d%s] = %svalue;\n}\n" % (at // 32, " + i" if m.count > 1 else "", cast))
            return
        if self.whole(m):
            mask = m.mask() << at % 32
            self.line("    words[%d] = (words[%d] & 0x%Xu) | ((uint32_t)value << %d & 0x%Xu);\n}\n" % (
                at // 32, at // 32, ~mask & 0xFFFFFFFF, at % 32, mask))
            return
        step, value = " + %du * i" % width if m.count > 1 else "", "(uint64_t)value"
        if m.mask() != (1 << width) - 1:
            value = "(facet_layout_get%d(%s, %du, %du) & ~UINT64_C(0x%X)) | (value & UINT64_C(0x%X))" % (
                self.unit, self.data, at, width, m.mask(), m.mask())
        self.line("    facet_layout_set%d(%s, %du%s, %du, %s);\n}\n" % (
            self.unit, self.data, at, step, width, value))

    def promise(self, m):
        """What a setter asks of its caller."""
        bits, top = 64 if m.each() > 32 else 32, 1 << m.each() - 1
        if m.count > 1:
            self.line("    FACET_LAYOUT_REQUIRE(i < %d);" % m.count)
        if m.kind == "INT" and m.each() < bits:
            self.line("    FACET_LAYOUT_REQUIRE(value >= -INT%d_C(0x%X) && value < INT%d_C(0x%X));" % (bits, top, bits, top))
        elif m.mask() != (1 << bits) - 1:
            self.line("    FACET_LAYOUT_REQUIRE((value & ~UINT%d_C(0x%X)) == 0);" % (bits, m.mask()))

    def among(self, m):
        """A condition on `value`: one of the legal ones. Neighbours become one range."""
        ranges = []
        for _, a, b in sorted(m.values, key=lambda v: v[1]):
            if ranges and ranges[-1][1] + 1 == a:
                ranges[-1][1] = b
            else:
                ranges.append([a, b])
        top = (1 << m.each()) - 1
        parts = []
        for a, b in ranges:
            if a == b:
                parts.append("value == %du" % a)
            elif a == 0:
                parts.append("value <= %du" % b)
            else:
                parts.append("value >= %du" % a if b == top else "(value >= %du && value <= %du)" % (a, b))
        return parts[0] if len(parts) == 1 else "(%s)" % " || ".join(parts)

    def legal(self, s, low):
        checked = [m for m in s.members if m.refusal]
        const = "const uint%d_t *%s" % (self.unit, self.data)
        for m in checked:
            self.line("/* %s; anything else: %s */" % (m.cells["legal"].rsplit(" ", 1)[0], m.refusal))
            self.line("static inline bool %s_%s_legal(%s)\n{", low, m.name, const)
            self.line("    const %s value = %s_%s(%s);\n" % (self.c_type(m), low, m.name, self.data))
            self.line("    return %s;\n}\n" % self.among(m))
        terms = ["%s_%s_legal(%s)" % (low, m.name, self.data) for m in checked]
        for m in s.members:
            if m.nested and not m.view:
                at = m.first_bit() // self.unit
                each = m.each() // self.unit
                terms += ["%s_legal(%s + %d)" % (m.nested.prefix(), self.data, at + each * i) for i in range(m.count)]
        self.line("static inline bool %s_legal(%s)\n{", low, const)
        if not terms:
            self.line("    (void)%s;" % self.data)
        self.line("    return %s;\n}\n" % (" &&\n           ".join(terms) or "true"))

    def packing(self, s, low, high):
        shown = [m for m in s.members if not m.view and m.kind != "FIXED"]
        self.line("struct %s_fields {", low)
        for m in shown:
            self.line("    %s %s; /* %s */" % (self.member(m, low) + (m.cells["meaning"],)))
        self.line("};\n")
        if any(m.preset for m in shown):
            self.line("/* What a driver gets that says nothing: zeros but for these. */")
            self.line("static inline struct %s_fields %s_default(void)\n{", low, low)
            self.line("    struct %s_fields s;\n", low)
            self.line("    memset(&s, 0, sizeof s);")
            for m in shown:
                if m.preset:
                    self.line("    s.%s = %s;" % (m.name, self.preset(m)))
            self.line("    return s;\n}\n")
        self.pack(s, shown, low)
        self.unpack(shown, low)

    def preset(self, m):
        if m.type == "f32":
            return repr(struct.unpack("<f", struct.pack("<I", m.preset))[0]) + "f"
        return "0x%Xu" % m.preset

    def pack(self, s, shown, low):
        self.line("static inline void %s_pack(const struct %s_fields *s, uint%d_t *%s)\n{", low, low, self.unit, self.data)
        self.line("    memset(%s, 0, %d);" % (self.data, (8 * s.size.fixed + self.unit - 1) // self.unit * self.unit // 8))
        for m in s.members:
            if m.kind == "FIXED":
                self.line("    %s_set_%s(%s, %du);" % (low, m.name, self.data, m.preset))
        for m in shown:
            self.each(m, "pack", low)
        self.line("}\n")

    def unpack(self, shown, low):
        self.line("static inline void %s_unpack(const uint%d_t *%s, struct %s_fields *s)\n{", low, self.unit, self.data, low)
        if not shown:
            self.line("    (void)s;\n    (void)%s;" % self.data)
        for m in shown:
            self.each(m, "unpack", low)
        self.line("}\n")

    def each(self, m, way, low):
        """One member in pack or unpack; an array goes through a loop."""
        pad, index, slot = "    ", "", "s->" + m.name
        if m.count > 1:
            self.line("    for (uint32_t i = 0; i < %d; i++) {" % m.count)
            pad, index, slot = "        ", ", i", slot + "[i]"
        self.out += [pad + text for text in self.one(m, way, low, index, slot)]
        if m.count > 1:
            self.line("    }")

    def one(self, m, way, low, index, slot):
        ctype = self.member(m, low)[0]
        if m.nested:
            at = m.first_bit() // self.unit
            where = "%s + %d%s" % (self.data, at, " + %d * i" % (m.each() // self.unit) if m.count > 1 else "")
            cells = (m.nested.prefix(),) + (("&" + slot, where) if way == "pack" else (where, "&" + slot))
            return ["%s_%s(%s, %s);" % (cells[0], way, cells[1], cells[2])]
        get, put = "%s_%s(%s%s)" % (low, m.name, self.data, index), "%s_set_%s(%s%s, " % (low, m.name, self.data, index)
        if ctype == "float":
            copy = "memcpy(&bits, &%s, sizeof bits);" if way == "pack" else "memcpy(&%s, &bits, sizeof bits);"
            body = ["uint32_t bits%s;" % ("" if way == "pack" else " = " + get), "", copy % slot]
            return ["{"] + ["    " + t if t else "" for t in body + ([put + "bits);"] if way == "pack" else [])] + ["}"]
        if m.kind in ("PAIR", "IPAIR"):
            if way == "pack":
                return ["%s(uint32_t)(uint16_t)%s[0] | (uint32_t)(uint16_t)%s[1] << 16);" % (put, slot, slot)]
            return ["%s[%d] = (%s)(%s >> %d & 0xFFFFu);" % (slot, k, ctype, get, 16 * k) for k in (0, 1)]
        if way == "pack":
            return ["%s%s);" % (put, slot)]
        return ["%s = (%s)%s;" % (slot, ctype, get)]


def emit_header(structures, machine, guard, out):
    Header(machine, structures, guard, out).emit()
