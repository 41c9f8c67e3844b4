"""Drawings of bits as tables: 32 columns for the bits of a line, the highest on the left, each field a cell of its width.

A table needs no picture file, prints, scales with the text, can be selected and is read out field by field."""
import re

from markup import html, tag

COLUMNS = 32
MOST_BITS = 2048 * 8  # of a structure that is drawn
LABEL_COLUMNS = 3  # for the offsets of a drawing of memory
LETTER_BITS = 0.30  # columns that a letter takes when the table is as wide as the page


class Piece:
    """Bits hi..lo of the whole, with what stands there; fixed bits have text without a link."""

    def __init__(self, hi, lo, text, url=None, kind=""):
        self.hi, self.lo, self.text, self.url, self.kind = hi, lo, text, url, kind


def bit_table(pieces, width, caption):
    """A line of 32 bits after the other, from the highest; bits that no piece has are drawn as reserved."""
    lines = []
    for top in range(width - 1 - (width - 1) % COLUMNS + COLUMNS - 1, 0, -COLUMNS):
        lines += line_of_bits([p for p in covering(pieces, top, top - COLUMNS + 1)], top, width)
    return tag("div", tag("table", tag("caption", caption), tag("tbody", *lines), cls="bits"), cls="scroll",
               tabindex="0", role="region", aria_label=caption)


def covering(pieces, top, low):
    """The pieces of a line from the left, cut where the line ends, gaps filled."""
    at, out = top, []
    for p in sorted(pieces, key=lambda p: -p.hi):
        hi, lo = min(p.hi, top), max(p.lo, low)
        if hi < lo:
            continue
        if at > hi:
            out.append(Piece(at, hi + 1, "", kind="reserved"))
        out.append(Piece(hi, lo, p.text, p.url, p.kind))
        at = lo - 1
    if at >= low:
        out.append(Piece(at, low, "", kind="reserved"))
    return out


def line_of_bits(pieces, top, width):
    """Two rows: the numbers of the first and last bit of every piece, and the pieces."""
    numbers, cells = [], []
    for p in pieces:
        span = p.hi - p.lo + 1
        outside = p.lo >= width
        if outside:
            numbers.append(tag("td", colspan=span, cls="outside"))
            cells.append(tag("td", colspan=span, cls="outside"))
            continue
        label = [tag("span", str(p.hi))] + ([tag("span", str(p.lo))] if span > 1 else [])
        numbers.append(tag("th", *label, colspan=span, scope="col"))
        cells.append(tag("td", cell_text(p, span), colspan=span, cls=" ".join(filter(None, [p.kind, fit(p.text, span)])) or None))
    return [tag("tr", *numbers, cls="numbers"), tag("tr", *cells)]


def fit(text, span):
    """Names that are wider than their field are turned."""
    return "turned" if len(text) * LETTER_BITS > span else ""


def cell_text(piece, span):
    if piece.url:
        return tag("a", piece.text, href=piece.url)
    if piece.kind == "fixed" and span > 1 and len(piece.text) == span:
        return tag("span", *[tag("i", c) for c in piece.text], cls="fixed-bits")
    return html(piece.text)


def bit_range(bits):
    """(hi, lo) of "31:0", "5" or "|7:4"."""
    hi, _, lo = bits.lstrip("|").partition(":")
    return int(hi), int(lo or hi)


def runs(bits):
    """[(hi, lo)] of the runs of ones, from the highest."""
    out, at = [], bits.bit_length() - 1
    while at >= 0:
        if bits >> at & 1:
            hi = at
            while at >= 0 and bits >> at & 1:
                at -= 1
            out.append((hi, at + 1))
        else:
            at -= 1
    return out


def instruction_pieces(card):
    """Fixed bits as digits, fields by name; pieces of a split immediate say which bits of it they hold."""
    mask, match = int(card["mask"], 16), int(card["match"], 16)
    pieces = []
    for operand in card.get("operands", []):
        for p in operand["pieces"]:
            text = operand["name"]
            if len(operand["pieces"]) > 1:
                hi, lo = p["value_lo"] + p["width"] - 1, p["value_lo"]
                text += "[%d]" % hi if hi == lo else "[%d:%d]" % (hi, lo)
            pieces.append(Piece(p["word_lo"] + p["width"] - 1, p["word_lo"], text, "#" + operand["name"], "field"))
    if "bits" in card:  # gfx12: the fields as text
        for field in card["bits"].split():
            name, _, rest = field.partition("[")
            hi, lo = bit_range(rest.rstrip("]").split("]")[0])
            pieces.append(Piece(hi, lo, name, None, "field"))
    named = {b for p in pieces for b in range(p.lo, p.hi + 1)}
    for hi, lo in runs(mask & ~sum(1 << b for b in named)):
        for line in range(hi // COLUMNS, lo // COLUMNS - 1, -1):  # a line of 32 bits has pieces of its own
            top, low = min(hi, line * COLUMNS + COLUMNS - 1), max(lo, line * COLUMNS)
            for left, right in between_codes(top, low, card):
                digits = format(match >> right & (1 << (left - right + 1)) - 1, "0%db" % (left - right + 1))
                pieces.append(Piece(left, right, digits, None, "fixed"))
    return pieces


def between_codes(hi, lo, card):
    """Where fixed bits meet the opcode of a 32-bit RISC-V or tile word, a border is drawn."""
    return [(hi, 7), (6, lo)] if card["length"] == 4 and lo == 0 and hi > 6 else [(hi, lo)]


def csr_pieces(card):
    out = []
    for f in card["fields"]:
        reserved = f["name"].startswith("RSV") and f["access"] == "RO"
        out.append(Piece(f["hi"], f["lo"], f["name"] if not reserved else "", None if reserved else "#" + field_anchor(f, card),
                         "reserved" if reserved else "field"))
    return out


def field_anchor(field, card):
    """Fields of one name in a register (RSV) are told apart by their bits."""
    same = [f for f in card["fields"] if f["name"] == field["name"]]
    return field["name"] if len(same) == 1 else "%s-%d" % (field["name"], field["lo"])


BITS = {"addr": 64, "color": 32, "pair": 32, "ipair": 32}
ELEMENT = 4  # bytes of an element in drawings: FP32, the format that most programs use


def type_bits(kind, sizes):
    """Bits of a type of the layout rows, or None."""
    name, _, count = kind.rstrip("]").partition("[")
    digits = name[1:] if name[:1] in "uif" and name[1:].isdigit() else ""
    bits = int(digits) if digits else ELEMENT * 8 if name == "element" else BITS.get(name) or sizes.get(name)
    return bits and bits * int(count or 1)


def offset_bytes(text):
    """Bytes of an offset; where it depends on the element format, those for ELEMENT: `12`, `16+2*e`, `48/48/112/240`."""
    choices = text.split("/")
    if len(choices) == 4:
        return int(choices[2], 0)
    m = re.match(r"(?:(\d+)\+)?(\d+)\*e$", text)
    return int(m.group(1) or 0) + int(m.group(2)) * ELEMENT if m else int(text, 0)


def depends_on_elements(card):
    return "," in card["size"] or any(not re.match(r"[0-9a-fA-Fx]+$", m["offset"]) or m["type"].startswith("element")
                                      for m in card["members"])


def member_pieces(card, sizes):
    """Members from the lowest bit, without other views of the same bits; None where a type has no known size."""
    pieces = []
    for m in card["members"]:
        if m["bits"].startswith("|"):
            continue
        bits = type_bits(m["type"], sizes) if m["bits"] == "-" else None
        if m["bits"] == "-" and bits is None:
            return None
        hi, lo = (bits - 1, 0) if bits else bit_range(m["bits"])
        offset = offset_bytes(m["offset"]) * 8
        pieces.append(Piece(offset + hi, offset + lo, m["name"], "#" + m["name"], "field"))
    return sorted(pieces, key=lambda p: p.lo)


def structure_sizes(cards):
    """Bits of every structure; of one that depends on the element format, those for ELEMENT."""
    out = {}
    for c in cards:
        numbers = re.findall(r"\d+", c["size"].partition(" bytes")[0])
        out[c["name"]] = int(numbers[2 if len(numbers) == 4 else 0]) * 8
    return out


def structure_table(card, sizes):
    """Lines of four bytes with their offsets, in the order of memory; None where members have no fixed place.

    Lines that belong to one member, or to none, are drawn as one."""
    pieces, bits = member_pieces(card, sizes), sizes.get(card["name"])
    if not pieces or bits > MOST_BITS or pieces[-1].hi >= max(bits, COLUMNS):
        return None
    lines, at = [], 0
    while at < max(bits, COLUMNS):
        line, after = covering(pieces, at + COLUMNS - 1, at), at + COLUMNS
        if len(line) == 1:
            ends = [p.hi + 1 for p in pieces if p.lo <= at <= p.hi] or [p.lo for p in pieces if p.lo > at] or [bits]
            after = max(after, ends[0] // COLUMNS * COLUMNS)
        label = "+%d" % (at // 8) if after == at + COLUMNS else "+%d..%d" % (at // 8, after // 8 - 1)
        cells = [tag("td", cell_text(p, p.hi - p.lo + 1) if p.text else "", colspan=p.hi - p.lo + 1,
                     cls=" ".join(filter(None, [p.kind, fit(p.text, p.hi - p.lo + 1)]))) for p in line]
        lines.append(tag("tr", tag("th", label, scope="row", colspan=LABEL_COLUMNS), *cells))
        at = after
    caption = "Bytes in memory: offsets on the left, bit 31 of each line of four bytes first" \
        + ("; elements of %d bytes" % ELEMENT if depends_on_elements(card) else "")
    head = tag("tr", tag("th", "byte", scope="col", colspan=LABEL_COLUMNS),
               *[tag("th", str(b), scope="col", colspan=8) for b in (3, 2, 1, 0)], cls="bytes")
    return tag("div", tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *lines), cls="bits memory"),
               cls="scroll", tabindex="0", role="region", aria_label=caption)
