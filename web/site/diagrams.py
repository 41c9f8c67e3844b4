"""Drawings of bits as tables: 32 columns for the bits of a line, the highest on the left, each field a cell of its width.

A table needs no picture file, prints, scales with the text, can be selected and is read out field by field."""
from markup import html, tag

COLUMNS = 32
LETTER_BITS = 0.42  # columns that a letter takes when the table is as wide as the page


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
            for left, right in between_fields(top, low, pieces, mask):
                digits = format(match >> right & (1 << (left - right + 1)) - 1, "0%db" % (left - right + 1))
                pieces.append(Piece(left, right, digits, None, "fixed"))
    return pieces


def between_fields(hi, lo, pieces, mask):
    """Opcode and function code are drawn apart where a RISC-V word has their border (bit 7)."""
    return [(hi, 7), (6, lo)] if lo == 0 and hi > 6 and mask & 0x7F == 0x7F else [(hi, lo)]


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


WIDTHS = {"addr": 64, "color": 32, "pair": 32, "ipair": 32, "f8": 8, "f16": 16, "f32": 32, "f64": 64}


def member_pieces(card):
    """[(byte of the line, pieces)] when every member has a fixed place of 512 bytes at most, else None."""
    pieces = []
    for m in card["members"]:
        if m["bits"].startswith("|"):
            continue
        try:
            offset = int(m["offset"], 0)
        except ValueError:
            return None
        if m["bits"] == "-":
            return None
        hi, lo = bit_range(m["bits"])
        pieces.append(Piece(offset * 8 + hi, offset * 8 + lo, m["name"], "#" + m["name"], "field"))
    return pieces


def structure_table(card):
    """Lines of four bytes with their offsets, in the order of memory; None where members have no fixed place."""
    pieces = member_pieces(card)
    try:
        size = int(card["size"].split()[0])
    except ValueError:
        return None
    if not pieces or size > 512 or max(p.hi for p in pieces) >= max(size * 8, 32):
        return None
    lines, at = [], 0
    while at < size:
        line = covering(pieces, at * 8 + COLUMNS - 1, at * 8)
        whole = line[0] if len(line) == 1 else None
        skipped = 0
        if whole and whole.text:  # a member over many lines is drawn once
            member = next(p for p in pieces if p.lo <= at * 8 <= p.hi)
            skipped = (member.hi + 1) // 8 - at - 4 if member.lo % COLUMNS == 0 and (member.hi + 1) % COLUMNS == 0 else 0
        elif whole:
            after = [p.lo // 8 for p in pieces if p.lo >= at * 8]
            skipped = ((min(after) if after else size) - at) // 4 * 4 - 4
        label = "+%d" % at if skipped <= 0 else "+%d..%d" % (at, at + 3 + skipped)
        cells = [tag("td", cell_text(p, p.hi - p.lo + 1) if p.text else "", colspan=p.hi - p.lo + 1,
                     cls=" ".join(filter(None, [p.kind, fit(p.text, p.hi - p.lo + 1)]))) for p in line]
        lines.append(tag("tr", tag("th", label, scope="row"), *cells))
        at += 4 + max(skipped, 0)
    caption = "Bytes in memory: offsets on the left, bit 31 of each line of four bytes first"
    head = tag("tr", tag("th", "byte", scope="col"),
               *[tag("th", str(b), scope="col", colspan=8) for b in (3, 2, 1, 0)], cls="bytes")
    return tag("div", tag("table", tag("caption", caption), tag("thead", head), tag("tbody", *lines), cls="bits memory"),
               cls="scroll", tabindex="0", role="region", aria_label=caption)
